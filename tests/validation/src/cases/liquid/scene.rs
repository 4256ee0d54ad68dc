//! Scenes of water in tanks, and looks at them.

use std::collections::BTreeMap;
use std::sync::Arc;
use undine_core::glam::DVec3;
use undine_core::memory::MemoryBudget;
use undine_geometry::{Pose, Shape};
use undine_schema::setup::{Behavior, Group};
use undine_sim::input::{Data, Geometry};
use undine_sim::timeline::Substeps;
use undine_sim::{Result, Simulation, Timeline};

/// A box between two corners [m].
pub fn cuboid(min: DVec3, max: DVec3) -> Shape {
    let pose = Pose { translation: 0.5 * (min + max), ..Pose::IDENTITY };
    Shape::cuboid(0.5 * (max - min)).and_then(|shape| shape.moved(&pose)).expect("a box has room")
}

/// Water under gravity, between walls. Frames are so many a second, and substeps cross at most two voxels.
pub fn water(water: Shape, walls: Vec<Shape>, voxel: f64, fps: f64) -> Result<Simulation> {
    let data = |shape| Arc::new(Data::new(Geometry::Shape(Arc::new(shape))));
    let mut inputs = BTreeMap::from([("water".to_owned(), data(water))]);
    let node = |declaration, name: &str| Behavior::new(declaration).named(name).set("input", name);
    let mut setup = Group::default()
        .with(node(&undine_liquid::hybrid::DECLARATION, "water").set("voxel", voxel));
    for (n, wall) in walls.into_iter().enumerate() {
        let name = format!("wall {n}");
        setup = setup.with(node(&undine_actions::collider::DECLARATION, &name));
        inputs.insert(name, data(wall));
    }
    let setup = setup
        .with(Behavior::new(&undine_fluid::walls::DECLARATION))
        .with(Behavior::new(&undine_fluid::pressure::DECLARATION))
        .with(Behavior::new(&undine_actions::gravity::DECLARATION));
    let kinds =
        [undine_liquid::BEHAVIORS, undine_fluid::BEHAVIORS, undine_actions::BEHAVIORS].concat();
    let substeps = Substeps::Adaptive { least: 1, most: 1000, cfl: 2.0 };
    let timeline = Timeline { fps, substeps, ..Timeline::default() };
    Simulation::new(&setup, &kinds, timeline, Arc::new(inputs), MemoryBudget::unlimited())
}

/// A liquid cell.
#[derive(Debug, Clone, Copy)]
pub struct Cell {
    /// Its centre [m].
    pub centre: DVec3,
    /// How much of it lies below the surface.
    pub part: f64,
    /// [Pa]
    pub pressure: f64,
}

/// The liquid cells, at the end of the last substep's solve.
pub fn cells(simulation: &Simulation) -> Vec<Cell> {
    let world = &simulation.world;
    let object = world.objects.iter().find(|object| object.offers.fluid.is_some());
    let Some((object, field)) = object.and_then(|object| Some((object, object.offers.fluid?)))
    else {
        return Vec::new();
    };
    let (domain, volume) = (&world.domains[object.domain], &world.volumes[field.volume]);
    let frame = domain.frame();
    let voxel = frame.voxel_size(0);
    let distance = field.distance.and_then(|distance| volume.column(distance).ok());
    let (Some(distance), Ok(words), Ok(pressure)) =
        (distance, volume.column(field.cells.words), volume.column(field.pressure))
    else {
        return Vec::new();
    };
    let mut found = Vec::new();
    for (slot, bucket) in volume.topology().buckets().iter().enumerate() {
        let slot = slot as u32;
        for n in (0..512).filter(|n| words.chunk(slot)[n >> 6] >> (n & 63) & 1 != 0) {
            let cell = DVec3::from_array([n >> 6, n >> 3 & 7, n & 7].map(|c| c as f64 + 0.5));
            let part = (0.5 - f64::from(distance.chunk(slot)[n]) / voxel).clamp(0.0, 1.0);
            let pressure = f64::from(pressure.chunk(slot)[n]);
            found.push(Cell { centre: frame.corner(*bucket) + voxel * cell, part, pressure });
        }
    }
    found
}
