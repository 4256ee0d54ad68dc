//! Surfaces in given velocities, in which they come back to where they began: Zalesak's slotted disc and LeVeque's
//! deformation of a ball.

use crate::page::Case;
use crate::verdict::Verdict;
use std::f64::consts::PI;
use undine_core::glam::DVec3;
use undine_core::mesh::Bounds;
use undine_core::{Accessor, Frame, GridDomain};
use undine_geometry::levelset::{Advection, Carrier, Extent, LevelSet};
use undine_geometry::{Nearest, Pose, Result, Shape, Solid, gallery};

/// The disc, as a slice of an extruded one.
pub const ZALESAK: Case = Case {
    name: "geometry-zalesak",
    doc: "A slotted disc (Zalesak 1979), here a cylinder 40 long in 100 × 100 voxels, turns once. The \
          volume stays; edges and the slot's corners, sharper than a voxel, are rounded.",
    run: zalesak,
};

/// The ball with a slot.
pub const ZALESAK_SPHERE: Case = Case {
    name: "geometry-zalesak-sphere",
    doc: "A slotted ball (Enright et al. 2002) of radius 15 in 100³ voxels turns once. The \
          volume stays; edges and the slot's corners, sharper than a voxel, are rounded.",
    run: zalesak_sphere,
};

/// The ball that becomes a sheet.
pub const DEFORMATION: Case = Case {
    name: "geometry-deformation",
    doc: "A ball of radius 15 in 100³ voxels is drawn out to a sheet about a voxel thin, and back (LeVeque 1996, Enright et \
          al. 2002). A plain level set is said to lose most of it, one with particles 2 to 3 %.",
    run: deformation,
};

/// A body with a slot: 5 wide, open below, up to 10 above the middle.
#[derive(Debug)]
struct Slotted {
    /// Whether it is a ball; else it is a cylinder along z.
    ball: bool,
}

const MIDDLE: DVec3 = DVec3::new(50.0, 75.0, 50.0);

impl Solid for Slotted {
    fn distance(&self, at: DVec3) -> f64 {
        let at = at - MIDDLE;
        let slot = (at.x.abs() - 2.5).max(at.y - 10.0);
        let whole = if self.ball {
            at.length() - 15.0
        } else {
            (at.x.hypot(at.y) - 15.0).max(at.z.abs() - 20.0)
        };
        whole.max(-slot)
    }

    fn nearest(&self, at: DVec3) -> Nearest {
        Nearest { point: at, normal: DVec3::Z, distance: self.distance(at) }
    }

    fn bounds(&self) -> Option<Bounds> {
        Some(Bounds { min: MIDDLE - 20.0, max: MIDDLE + 20.0 })
    }
}

fn zalesak() -> Verdict {
    // The area of the disc times the length.
    turn(&Slotted { ball: false }, 582.207 * 40.0).unwrap_or_else(Verdict::broken)
}

fn zalesak_sphere() -> Verdict {
    // Slices across y: ∫ (πr² − min(chord, 5 wide)) dy has no short form; summed over y.
    let steps = 20_000;
    let volume: f64 = (0..steps)
        .map(|n| {
            let y = -15.0 + 30.0 * (f64::from(n) + 0.5) / f64::from(steps);
            let radius = (225.0 - y * y).sqrt();
            let half = radius.min(2.5);
            let slot = 2.0
                * (half * (radius * radius - half * half).sqrt()
                    + radius * radius * (half / radius).asin());
            let slice = PI * radius * radius - if y < 10.0 { slot } else { 0.0 };
            slice * 30.0 / f64::from(steps)
        })
        .sum();
    turn(&Slotted { ball: true }, volume).unwrap_or_else(Verdict::broken)
}

/// One turn around the middle of the box.
fn turn(body: &Slotted, exact: f64) -> Result<Verdict> {
    let domain = GridDomain::new("box", Frame::new(DVec3::ZERO, 1.0)?);
    let mut set = LevelSet::of_solid("disc", &domain, body, Extent::NARROW)?;
    set.rebuild()?;
    let start = LevelSet::of_solid("disc at the start", &domain, body, Extent::NARROW)?;
    let velocity = |at: DVec3, _: f64| DVec3::new(50.0 - at.y, at.x - 50.0, 0.0) * PI / 314.0;
    let field = Carrier::Field(&velocity);
    let report = set.advect(field, 0.0, 628.0, &Advection::default())?;
    Ok(Verdict::new()
        .near("volume at the start, of the exact one", report.before.volume / exact, 1.0, 0.01)
        .near("volume after a turn, of that at the start", 1.0 + report.drift(), 1.0, 0.03)
        .near(
            "area after a turn, of that at the start",
            report.after.area / report.before.area,
            1.0,
            0.08,
        )
        .at_most(
            "volume that is elsewhere, of all",
            differing(&start, &set)? / report.before.volume,
            0.06,
        ))
}

fn deformation() -> Verdict {
    deform().unwrap_or_else(Verdict::broken)
}

fn deform() -> Result<Verdict> {
    let ball = Shape::sphere(0.15)?.moved(&Pose::at(DVec3::splat(0.35)))?;
    let domain = GridDomain::new("box", Frame::new(DVec3::ZERO, 0.01)?);
    let mut set = LevelSet::of_solid("ball", &domain, &ball, Extent::NARROW)?;
    let start = LevelSet::of_solid("ball at the start", &domain, &ball, Extent::NARROW)?;
    let field = Carrier::Field(&gallery::deformation);
    let how = Advection::default();
    let there = set.advect(field, 0.0, 1.5, &how)?;
    let back = set.advect(field, 1.5, 3.0, &how)?;
    let lost = 1.0 - back.after.volume / there.before.volume;
    let elsewhere = differing(&start, &set)? / there.before.volume;

    // The same with the volume kept, which is no physics and off by default.
    let mut kept = LevelSet::of_solid("ball", &domain, &ball, Extent::NARROW)?;
    let keep = Advection { keep_volume: true, ..how };
    let mut moved = 0.0;
    for n in 0..12 {
        let [from, to] = [n, n + 1].map(|n| 0.25 * f64::from(n));
        moved += kept.advect(field, from, to, &keep)?.correction.abs();
    }
    let volume = kept.size()?.volume / there.before.volume;
    Ok(Verdict::new()
        .near("volume at the start, of the exact one", there.before.volume / 0.0141372, 1.0, 5e-3)
        .at_least("area when it is thinnest", there.after.area / there.before.area, 3.0)
        .at_most("volume lost when it is thinnest", -there.drift(), 0.1)
        .at_most("volume lost at the end", lost, 0.1)
        .at_most("volume that is elsewhere, of all", elsewhere, 0.2)
        .near("volume at the end if it is kept", volume, 1.0, 5e-3)
        .at_most("by moving the surface, in voxels", moved / 0.01, 0.5))
}

/// Places along a voxel at which two level sets are compared.
const PLACES: usize = 4;

/// The volume where one is inside and the other is not [m³], by 4³ places in each voxel. The centres of voxels alone would
/// count a whole layer of them where a wall lies on centres, as those of the slot do.
fn differing(one: &LevelSet, other: &LevelSet) -> Result<f64> {
    let count = |a: &LevelSet, b: &LevelSet| -> Result<f64> {
        let columns = [a.column()?, b.column()?];
        let [in_a, in_b] = [a.sampler(&columns[0]), b.sampler(&columns[1])];
        let frame = *a.domain().frame();
        let accessor = Accessor::new("compare", a.domain()).over(a.topology());
        let found = accessor.reduce(
            (),
            |here, ()| {
                let place = |n: usize| {
                    let edge = 8 * PLACES;
                    let place = [n / (edge * edge), n / edge % edge, n % edge];
                    let voxels = place.map(|n| (n as f64 + 0.5) / PLACES as f64);
                    frame.corner(here.bucket) + frame.voxel_size(0) * DVec3::from_array(voxels)
                };
                let places = (0..(8 * PLACES).pow(3)).map(place);
                places.filter(|&at| in_a.at(at) < 0.0 && in_b.at(at) >= 0.0).count() as f64
            },
            |a, b| a + b,
        )?;
        let part = (frame.voxel_size(0) / PLACES as f64).powi(3);
        Ok(found.unwrap_or(0.0) * part)
    };
    Ok(count(one, other)? + count(other, one)?)
}
