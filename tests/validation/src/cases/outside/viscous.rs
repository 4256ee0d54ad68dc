//! Balls in oil: one that settles in a cylinder, one that spins in a round tank, and one that spins half under the surface.

use crate::page::Case;
use crate::verdict::Verdict;
use std::collections::BTreeMap;
use std::f64::consts::FRAC_PI_2;
use std::sync::Arc;
use undine_core::glam::{DQuat, DVec3};
use undine_core::memory::MemoryBudget;
use undine_geometry::{Pose, Shape};
use undine_schema::setup::{Behavior, Group};
use undine_sim::input::{Data, Geometry};
use undine_sim::timeline::Substeps;
use undine_sim::{Result, Simulation, Timeline};

/// A ball in a cylinder.
pub const SETTLING: Case = Case {
    name: "outside-viscous-settling",
    doc: "A ball in a cylinder five times as wide settles at Stokes' speed / 1.68 (Haberman & Sayre 1958), at three resolutions, in steps of \
          νΔt = a²/20.",
    run: || settling().unwrap_or_else(Verdict::broken),
};

/// A ball that spins.
pub const SPINNING: Case = Case {
    name: "outside-viscous-spinning",
    doc: "A spinning ball in a round tank of three times its radius slows as ∂ω/∂t = ν(ω'' + 4ω'/r) and the torque 8/3 πμa⁴ω' say, at three \
          resolutions, in steps of νΔt = a²/400.",
    run: || spinning(false).unwrap_or_else(Verdict::broken),
};

/// A ball that spins and floats.
pub const FLOATING: Case = Case {
    name: "outside-viscous-floating",
    doc: "A ball of half the density that floats in the middle of a bowl of three times its radius, and spins, slows as one under the surface \
          does.",
    run: || spinning(true).unwrap_or_else(Verdict::broken),
};

const OIL: f64 = 1000.0;
/// The radius of the ball [m].
const RADIUS: f64 = 0.05;
/// Kinematic viscosity [m²/s].
const NU: f64 = 0.005;
/// Where the ball is [m]: not where the lattice has its planes.
const CENTRE: DVec3 = DVec3::new(0.0031, 0.0017, -0.0023);

/// A ball in a tank.
struct Scene {
    tank: Shape,
    oil: Shape,
    /// Voxels to the radius of the ball.
    cells: f64,
    /// Of the ball [kg/m³].
    density: f64,
    /// About y, to begin with [rad/s].
    spin: f64,
    /// [m/s²]
    gravity: f64,
    /// How long a step is [a²/ν].
    step: f64,
}

impl Scene {
    /// The velocity [m/s] and the spin [rad/s] of the ball after each of some steps.
    fn run(self, steps: usize) -> Result<Vec<[DVec3; 2]>> {
        let ball = Shape::sphere(RADIUS)?.moved(&Pose::at(CENTRE))?;
        let data = |shape| Arc::new(Data::new(Geometry::Shape(Arc::new(shape))));
        let inputs = [("oil", self.oil), ("tank", self.tank.inverted()?), ("ball", ball)];
        let inputs: BTreeMap<String, Arc<Data>> =
            inputs.into_iter().map(|(name, shape)| (name.to_owned(), data(shape))).collect();
        let node =
            |declaration, name: &str| Behavior::new(declaration).named(name).set("input", name);
        let oil = node(&undine_liquid::hybrid::DECLARATION, "oil")
            .set("voxel", RADIUS / self.cells)
            .set("density", OIL);
        let ball = node(&undine_solid::rigid::body::DECLARATION, "ball")
            .set("density", self.density)
            .set("spin", [0.0, self.spin, 0.0]);
        let viscosity = Behavior::new(&undine_fluid::viscosity::DECLARATION);
        let gravity = Behavior::new(&undine_actions::gravity::DECLARATION);
        let setup = Group::default()
            .with(oil)
            .with(ball)
            .with(node(&undine_actions::collider::DECLARATION, "tank"))
            .with(Behavior::new(&undine_fluid::walls::DECLARATION))
            .with(viscosity.set("viscosity", NU * OIL))
            .with(Behavior::new(&undine_fluid::pressure::DECLARATION))
            .with(gravity.set("acceleration", [0.0, -self.gravity, 0.0]));
        let kinds = [
            undine_liquid::BEHAVIORS,
            undine_fluid::BEHAVIORS,
            undine_solid::BEHAVIORS,
            undine_actions::BEHAVIORS,
        ]
        .concat();
        let fps = NU / (self.step * RADIUS * RADIUS);
        let timeline = Timeline { fps, substeps: Substeps::Fixed(1), ..Timeline::default() };
        let budget = MemoryBudget::unlimited();
        let mut simulation = Simulation::new(&setup, &kinds, timeline, Arc::new(inputs), budget)?;
        let mut all = Vec::new();
        for _ in 0..steps {
            simulation.advance_frame(&mut (), |_, _| Ok(()))?;
            let Some((_, ball)) = simulation.world.points.iter().next() else { break };
            let one = |name| Ok::<_, undine_sim::SimError>(ball.column(ball.handle(name)?)?[0]);
            let (v, momentum, inertia): (DVec3, DVec3, DVec3) =
                (one("v")?, one("angular-momentum")?, one("inertia")?);
            // The moments of a ball are the same about all axes.
            all.push([v, momentum / inertia]);
        }
        Ok(all)
    }
}

fn settling() -> Result<Verdict> {
    let (density, gravity, step) = (1.5 * OIL, 0.1, 0.05);
    let stokes = 2.0 / 9.0 * (density / OIL - 1.0) * gravity * RADIUS * RADIUS / NU;
    let upright = Pose { rotation: DQuat::from_rotation_x(FRAC_PI_2), translation: CENTRE };
    let mut verdict = Verdict::new();
    let mut errors = Vec::new();
    for cells in [3.0, 4.5, 6.0] {
        let tank = Shape::cylinder(5.0 * RADIUS, 10.0 * RADIUS)?.moved(&upright)?;
        let oil = tank.clone();
        let scene = Scene { tank, oil, cells, density, spin: 0.0, gravity, step };
        let found = scene.run(80)?;
        let mean = -found[60..].iter().map(|[v, _]| v.y).sum::<f64>() / 20.0;
        let part = 1.68 * mean / stokes;
        errors.push((part - 1.0).abs());
        let name = format!("speed over that of Haberman & Sayre, {cells} voxels to the radius");
        let wanted = if cells == 6.0 { 0.1 } else { 0.3 };
        verdict = verdict.near(&name, part, 1.0, wanted);
    }
    Ok(verdict.figure(
        "errors from coarse to fine",
        format!("{errors:.3?}"),
        "falling",
        errors.windows(2).all(|pair| pair[1] < pair[0]),
    ))
}

fn spinning(floats: bool) -> Result<Verdict> {
    let (step, steps) = (0.0025, 40);
    let exact = radial(step, steps);
    let mut verdict = Verdict::new();
    let mut errors = Vec::new();
    for cells in [4.0, 6.0, 8.0] {
        let tank = Shape::sphere(3.0 * RADIUS)?.moved(&Pose::at(CENTRE))?;
        let (mut oil, mut density, mut gravity) = (tank.clone(), OIL, 0.0);
        if floats {
            let above = Shape::cuboid(DVec3::splat(4.0 * RADIUS))?;
            let above = above.moved(&Pose::at(CENTRE + 4.0 * RADIUS * DVec3::Y))?;
            oil = oil.minus(above, 0.0)?;
            (density, gravity) = (0.5 * OIL, 9.81);
        }
        let found = Scene { tank, oil, cells, density, spin: 2.0, gravity, step }.run(steps)?;
        let parts = found.iter().map(|[_, spin]| 0.5 * spin.y);
        let worst = parts.zip(&exact).map(|(part, exact)| (part / exact - 1.0).abs());
        errors.push(worst.fold(0.0, f64::max));
        let name = format!("largest error of the spin, {cells} voxels to the radius");
        let limit = if cells < 6.0 { 0.1 } else { 0.05 };
        verdict = verdict.at_most(&name, errors[errors.len() - 1], limit);
    }
    Ok(verdict
        .figure("spin that is left", format!("{:.3}", exact[steps - 1]), "what is solved for", true)
        .figure(
            "errors from coarse to fine",
            format!("{errors:.3?}"),
            "falling",
            errors.windows(2).all(|pair| pair[1] < pair[0]),
        ))
}

/// The spin of a ball of the liquid's density over that of the start, at multiples of a time in units of a²/ν, with the liquid at
/// rest to begin with: ω = 0 at r = 3a, and 8/15 πρa⁵ dω/dt = 8/3 πμa⁴ω' at r = a, which is conservative in r⁴ω.
fn radial(step: f64, count: usize) -> Vec<f64> {
    const CELLS: usize = 800;
    const SMALLER: usize = 100;
    let (h, dt) = (2.0 / CELLS as f64, step / SMALLER as f64);
    let radius = |n: usize| 1.0 + n as f64 * h;
    let shell = |n: usize| (radius(n + 1).powi(5) - radius(n).powi(5)) / 5.0;
    let inertia: Vec<f64> = [0.2].into_iter().chain((0..CELLS).map(shell)).collect();
    // Between each and the next; the surfaces of ball and tank are half a shell away.
    let ends = |n: usize| if n == 0 || n == CELLS { 2.0 } else { 1.0 };
    let flux: Vec<f64> = (0..=CELLS).map(|n| ends(n) * radius(n).powi(4) / h).collect();
    let mut spin = vec![0.0; CELLS + 1];
    spin[0] = 1.0;
    let mut all = Vec::new();
    for n in 1..=count * SMALLER {
        let mut eliminated: Vec<[f64; 2]> = Vec::with_capacity(CELLS + 1);
        for (n, (inertia, spin)) in inertia.iter().zip(&spin).enumerate() {
            let before = n.checked_sub(1).map(|n| (dt * flux[n], eliminated[n]));
            let (below, [c, d]) = before.unwrap_or_default();
            let pivot = inertia + below * (1.0 - c) + dt * flux[n];
            eliminated.push([dt * flux[n] / pivot, (inertia * spin + below * d) / pivot]);
        }
        let mut next = 0.0;
        for (spin, [c, d]) in spin.iter_mut().zip(eliminated).rev() {
            next = c * next + d;
            *spin = next;
        }
        if n % SMALLER == 0 {
            all.push(spin[0]);
        }
    }
    all
}
