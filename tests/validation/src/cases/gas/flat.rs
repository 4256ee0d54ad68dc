//! Flows in two dimensions: a square of 1 m, one Bucket thick, closed without friction at both ends.

use std::collections::BTreeMap;
use std::sync::Arc;
use undine_core::DiscreteVolume;
use undine_core::GridDomain;
use undine_core::glam::DVec3;
use undine_core::memory::MemoryBudget;
use undine_core::volume::{Interpolation, foreign};
use undine_geometry::{Pose, Shape};
use undine_schema::setup::{Behavior, Group};
use undine_sim::input::{Data, Geometry};
use undine_sim::offers::FluidField;
use undine_sim::timeline::Substeps;
use undine_sim::{Result, Simulation, Timeline};

/// A box between two corners [m].
pub fn cuboid(min: DVec3, max: DVec3) -> Result<Shape> {
    let pose = Pose { translation: 0.5 * (min + max), ..Pose::IDENTITY };
    Ok(Shape::cuboid(0.5 * (max - min))?.moved(&pose)?)
}

/// A shape as data.
pub fn data(shape: Shape) -> Data {
    Data::new(Geometry::Shape(Arc::new(shape)))
}

/// The square with these walls, so many cells across; `set` says what its air is like, and `others` act on it.
pub fn square(
    cells: u32,
    set: impl Fn(Behavior) -> Behavior,
    walls: Vec<(&str, Data)>,
    others: Vec<Behavior>,
    steps_per_second: f64,
) -> Result<Simulation> {
    let of = Behavior::new;
    let voxel = 1.0 / f64::from(cells);
    let around = cuboid(DVec3::new(-0.1, -0.1, 0.0), DVec3::new(1.1, 1.1, 7.9 * voxel))?;
    let air = of(&undine_gas::air::DECLARATION)
        .named("air")
        .set("voxel", voxel)
        .set("input", "around")
        .set("padding", 0_i64);
    let ends = of(&undine_fluid::inflow::DECLARATION)
        .set("velocity", [0.0; 3])
        .set("sides", "all")
        .set("axes", "z");
    let mut inputs = BTreeMap::from([("around".to_owned(), Arc::new(data(around)))]);
    let mut setup = Group::default().with(set(air)).with(ends);
    for (name, wall) in walls {
        inputs.insert(name.to_owned(), Arc::new(wall));
        let collider = of(&undine_actions::collider::DECLARATION).named(name).set("input", name);
        setup = setup.with(collider);
    }
    setup = others.into_iter().fold(setup, Group::with);
    setup = setup
        .with(of(&undine_fluid::walls::DECLARATION))
        .with(of(&undine_fluid::pressure::DECLARATION));
    let kinds =
        [undine_gas::BEHAVIORS, undine_fluid::BEHAVIORS, undine_actions::BEHAVIORS].concat();
    let timeline =
        Timeline { fps: steps_per_second, substeps: Substeps::Fixed(1), ..Timeline::default() };
    Simulation::new(&setup, &kinds, timeline, Arc::new(inputs), MemoryBudget::unlimited())
}

/// Simulates so many frames.
pub fn frames(simulation: &mut Simulation, count: usize) -> Result<()> {
    (0..count).try_for_each(|_| simulation.advance_frame(&mut (), |_, _| Ok(())))
}

/// The air of a simulation.
fn airs(
    simulation: &Simulation,
) -> impl Iterator<Item = (&GridDomain, &DiscreteVolume, FluidField)> {
    let world = &simulation.world;
    world.objects.iter().filter_map(|object| {
        let field = object.offers.fluid?;
        Some((&world.domains[object.domain], &world.volumes[field.volume], field))
    })
}

/// The velocities [m/s] at places [m].
pub fn velocities_at(simulation: &Simulation, places: &[DVec3]) -> Result<Vec<DVec3>> {
    let mut found = vec![DVec3::ZERO; places.len()];
    for (domain, volume, field) in airs(simulation) {
        let how = Interpolation::Linear;
        let all = foreign::sample_velocities(domain, volume, field.velocity, how, places)?;
        found.iter_mut().zip(all).for_each(|(found, u)| *found += u.as_dvec3());
    }
    Ok(found)
}

/// Sets the velocity [m/s] of all faces, by axis and place [m].
pub fn set_velocity(simulation: &Simulation, velocity: impl Fn(usize, DVec3) -> f64) -> Result<()> {
    for (domain, volume, field) in airs(simulation) {
        let frame = domain.frame();
        for axis in 0..3 {
            let mut column = volume.column_mut(field.velocity.faces[axis])?;
            for (slot, bucket) in volume.topology().buckets().iter().enumerate() {
                for (n, face) in column.chunk_mut(slot as u32).iter_mut().enumerate() {
                    let cell = DVec3::new((n >> 6) as f64, (n >> 3 & 7) as f64, (n & 7) as f64);
                    let middle = DVec3::splat(0.5) - 0.5 * DVec3::AXES[axis];
                    let at = frame.corner(*bucket) + (cell + middle) * frame.voxel_size(0);
                    *face = velocity(axis, at) as f32;
                }
            }
        }
    }
    Ok(())
}
