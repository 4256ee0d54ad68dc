//! Particles that are carried around by a MAC velocity.

use crate::page::Case;
use crate::verdict::Verdict;
use std::f64::consts::TAU;
use undine_core::glam::{DVec3, Vec3};
use undine_core::volume::{Axis, Interpolation, MacSampler, Resolution};
use undine_core::{Accessor, DiscreteVolume, Frame, GridDomain, ParticleSystem, Result};

/// The case for the step.
pub const ROTATION: Case = Case {
    name: "core-rotation",
    doc: "In solid-body rotation a particle comes back to where it was. The velocity is linear, which trilinear sampling \
          keeps exactly, so that the error is that of the step: Ralston's method is of third order.",
    run: rotation,
};

/// The case for the voxel.
pub const WHIRL: Case = Case {
    name: "core-whirl",
    doc: "In a whirl whose speed falls with the radius particles keep their radius. With steps so small that they do \
          not count, the error is that of sampling: second order in the voxel for the trilinear kernel.",
    run: whirl,
};

fn rotation() -> Verdict {
    let solid = |x: DVec3| DVec3::new(-x.y, x.x, 0.0) * TAU;
    let errors: Result<Vec<f64>> = [40, 80, 160]
        .map(|steps| carry(solid, 0.05, steps).map(|moved| moved.away))
        .into_iter()
        .collect();
    match errors {
        Err(why) => Verdict::broken(why),
        Ok(error) => Verdict::new()
            .at_most("distance after one turn in 160 steps [m]", error[2], 1e-3)
            .at_least("order from 40 to 80 steps", (error[0] / error[1]).log2(), 2.8)
            .at_least("order from 80 to 160 steps", (error[1] / error[2]).log2(), 2.6),
    }
}

fn whirl() -> Verdict {
    let flow = |x: DVec3| DVec3::new(-x.y, x.x, 0.0) * TAU / (0.3 + x.x * x.x + x.y * x.y);
    let errors: Result<Vec<f64>> = [0.1, 0.05, 0.025]
        .map(|voxel| carry(flow, voxel, 1500).map(|moved| moved.radius))
        .into_iter()
        .collect();
    match errors {
        Err(why) => Verdict::broken(why),
        Ok(error) => Verdict::new()
            .at_most("change of radius at 2.5 cm voxels [m]", error[2], 2e-3)
            .at_least("order from 10 to 5 cm", (error[0] / error[1]).log2(), 1.7)
            .at_least("order from 5 to 2.5 cm", (error[1] / error[2]).log2(), 1.7),
    }
}

/// How far particles are from where they should be.
struct Moved {
    /// The largest distance from the start [m].
    away: f64,
    /// The largest change of the distance from the axis [m].
    radius: f64,
}

/// Carries particles through one second of a steady flow [m/s], on Buckets that follow them.
fn carry(flow: impl Fn(DVec3) -> DVec3 + Sync, voxel: f64, steps: usize) -> Result<Moved> {
    let mut domain = GridDomain::new("dish", Frame::new(DVec3::ZERO, voxel)?);
    let mut water = DiscreteVolume::new("water", &domain);
    let velocity = water.add_mac("velocity", "m/s", Resolution::R8)?;
    let mut particles = ParticleSystem::new("dye", &domain)?;
    let starts: Vec<DVec3> = (0..24)
        .map(|n| {
            let angle = TAU * f64::from(n) / 24.0;
            DVec3::new(angle.cos(), angle.sin(), 0.3) * (0.3 + 0.02 * f64::from(n))
        })
        .collect();
    particles.append(&domain, particles.batch(&starts)?)?;
    let dt = 1.0 / steps as f32;
    for _ in 0..steps {
        domain.add(&particles.topology().all().dilate(1)?)?;
        water.follow(domain.topology())?;
        for axis in Axis::ALL {
            let faces = velocity.faces[axis.index()];
            let place = water.column(faces)?.shape().centring.offset();
            Accessor::new("set the flow", &domain).run(water.write(faces), |here, faces| {
                let corner = here.topology.frame().corner(here.bucket);
                for (n, face) in faces.iter_mut().enumerate() {
                    let cell =
                        Vec3::new((n >> 6) as f32, (n >> 3 & 7) as f32, (n & 7) as f32) + place;
                    *face = flow(corner + cell.as_dvec3() * voxel)[axis.index()] as f32;
                }
            })?;
        }
        let faces = [
            water.column(velocity.faces[0])?,
            water.column(velocity.faces[1])?,
            water.column(velocity.faces[2])?,
        ];
        let sampler = MacSampler::new(
            [&faces[0], &faces[1], &faces[2]],
            water.topology(),
            Interpolation::Linear,
        )?;
        Accessor::new("carry", &domain).over(particles.topology()).run(
            particles.write(particles.position()),
            |here, positions| {
                let Some(slot) = water.topology().slot(here.bucket) else { return };
                for x in positions {
                    let k1 = sampler.at(slot, *x);
                    let k2 = sampler.at(slot, *x + 0.5 * dt * k1);
                    let k3 = sampler.at(slot, *x + 0.75 * dt * k2);
                    *x += dt / 9.0 * (2.0 * k1 + 3.0 * k2 + 4.0 * k3);
                }
            },
        )?;
        particles.rebucketize(&domain)?;
    }
    let ids = particles.column(particles.id())?;
    let ids = (0..particles.topology().local() as u32).flat_map(|slot| ids.chunk(slot));
    let mut moved = Moved { away: 0.0, radius: 0.0 };
    for (&id, end) in ids.zip(particles.world_positions()?) {
        let start = starts[id as usize];
        moved.away = moved.away.max(start.distance(end));
        moved.radius =
            moved.radius.max((start.truncate().length() - end.truncate().length()).abs());
    }
    Ok(moved)
}
