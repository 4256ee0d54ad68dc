//! What the tests of whole steps have in common: small scenes of air, and looks at it.

use std::collections::BTreeMap;
use std::sync::Arc;
use undine_core::glam::DVec3;
use undine_core::memory::MemoryBudget;
use undine_core::{DiscreteVolume, GridDomain, Handle};
use undine_geometry::{Pose, Shape};
use undine_schema::setup::{Behavior, Group};
use undine_sim::input::{Data, Geometry};
use undine_sim::offers::FluidField;
use undine_sim::timeline::Substeps;
use undine_sim::{BehaviorKind, SimError, Simulation, Timeline};

/// Every Behavior that these tests use.
pub fn kinds() -> Vec<BehaviorKind> {
    [undine_gas::BEHAVIORS, undine_fluid::BEHAVIORS, undine_actions::BEHAVIORS].concat()
}

/// A scene of air, made piece by piece.
#[derive(Default)]
pub struct Scene {
    inputs: BTreeMap<String, Arc<Data>>,
    setup: Group,
}

impl Scene {
    /// Adds a Behavior.
    pub fn with(mut self, behavior: Behavior) -> Self {
        self.setup = self.setup.with(behavior);
        self
    }

    /// Adds a solid as an input.
    pub fn with_input(self, name: &str, solid: Shape) -> Self {
        self.with_data(name, Data::new(Geometry::Shape(Arc::new(solid))))
    }

    /// Adds an input.
    pub fn with_data(mut self, name: &str, data: Data) -> Self {
        self.inputs.insert(name.to_owned(), Arc::new(data));
        self
    }

    /// Adds a solid that air flows around.
    pub fn with_wall(self, name: &str, data: Data) -> Self {
        let collider =
            Behavior::new(&undine_actions::collider::DECLARATION).named(name).set("input", name);
        self.with_data(name, data).with(collider)
    }

    /// Adds `pressure`.
    pub fn under_pressure(self) -> Self {
        self.with(Behavior::new(&undine_fluid::pressure::DECLARATION))
    }

    /// Adds `gravity`.
    pub fn under_gravity(self) -> Self {
        self.with(Behavior::new(&undine_actions::gravity::DECLARATION))
    }

    /// Adds `walls`.
    pub fn within_walls(self) -> Self {
        self.with(Behavior::new(&undine_fluid::walls::DECLARATION))
    }

    /// What comes of it, or why nothing does.
    pub fn try_simulation(self, timeline: Timeline) -> Result<Simulation, SimError> {
        self.try_within(timeline, MemoryBudget::unlimited())
    }

    /// The same with so much memory.
    pub fn try_within(
        self,
        timeline: Timeline,
        memory: MemoryBudget,
    ) -> Result<Simulation, SimError> {
        Simulation::new(&self.setup, &kinds(), timeline, Arc::new(self.inputs), memory)
    }

    /// The simulation of it.
    pub fn simulation(self, timeline: Timeline) -> Simulation {
        self.try_simulation(timeline).unwrap()
    }
}

/// The Behavior `air`, with this voxel size [m].
pub fn air(voxel: f64) -> Behavior {
    Behavior::new(&undine_gas::air::DECLARATION).named("air").set("voxel", voxel)
}

/// A stamp of an input.
pub fn stamp(input: &str) -> Behavior {
    Behavior::new(&undine_gas::stamp::DECLARATION).set("input", input)
}

/// A box between two corners [m].
pub fn cuboid(min: DVec3, max: DVec3) -> Shape {
    let pose = Pose { translation: 0.5 * (min + max), ..Pose::IDENTITY };
    Shape::cuboid(0.5 * (max - min)).unwrap().moved(&pose).unwrap()
}

/// A ball [m].
pub fn ball(centre: DVec3, radius: f64) -> Shape {
    let pose = Pose { translation: centre, ..Pose::IDENTITY };
    Shape::sphere(radius).unwrap().moved(&pose).unwrap()
}

/// A shape as data.
pub fn data(solid: Shape) -> Data {
    Data::new(Geometry::Shape(Arc::new(solid)))
}

/// A timeline of so many frames a second, with so many substeps in each.
pub fn fixed(fps: f64, substeps: u32) -> Timeline {
    Timeline { fps, substeps: Substeps::Fixed(substeps), ..Timeline::default() }
}

/// A timeline whose substeps cross at most `cfl` voxels.
pub fn adaptive(fps: f64, cfl: f64) -> Timeline {
    let substeps = Substeps::Adaptive { least: 1, most: 1000, cfl };
    Timeline { fps, substeps, ..Timeline::default() }
}

/// The air of a simulation.
pub struct Look<'s> {
    pub domain: &'s GridDomain,
    pub volume: &'s DiscreteVolume,
    pub field: FluidField,
}

impl<'s> Look<'s> {
    pub fn at(simulation: &'s Simulation) -> Self {
        let world = &simulation.world;
        let entry = world.objects.iter().find(|entry| entry.offers.fluid.is_some()).unwrap();
        let field = entry.offers.fluid.unwrap();
        Self { domain: &world.domains[entry.domain], volume: &world.volumes[field.volume], field }
    }

    /// At what the air carries along, which may have finer voxels.
    pub fn at_cargo(simulation: &'s Simulation) -> Self {
        let world = &simulation.world;
        let entry = world.objects.iter().find(|entry| entry.offers.fluid.is_some()).unwrap();
        let field = entry.offers.fluid.unwrap();
        let grid = field.cargo(entry.domain);
        Self { domain: &world.domains[grid.domain], volume: &world.volumes[grid.volume], field }
    }

    pub fn channel(&self, name: &str) -> Handle<f32> {
        self.volume.handle(name).unwrap()
    }

    /// Calls `visit` with the centre [m] and the value of each cell.
    pub fn each(&self, name: &str, mut visit: impl FnMut(DVec3, f64)) {
        let column = self.volume.column(self.channel(name)).unwrap();
        let frame = self.domain.frame();
        for (slot, bucket) in self.volume.topology().buckets().iter().enumerate() {
            for (n, value) in column.chunk(slot as u32).iter().enumerate() {
                let cell = DVec3::new((n >> 6) as f64, (n >> 3 & 7) as f64, (n & 7) as f64);
                let at = frame.corner(*bucket) + (cell + 0.5) * frame.voxel_size(0);
                visit(at, f64::from(*value));
            }
        }
    }

    /// The sum of a channel over cells times their volume.
    pub fn total(&self, name: &str) -> f64 {
        let mut sum = 0.0;
        self.each(name, |_, value| sum += value);
        sum * self.domain.frame().voxel_size(0).powi(3)
    }

    /// The mean place of a channel [m].
    pub fn middle(&self, name: &str) -> DVec3 {
        let (mut sum, mut moment) = (0.0, DVec3::ZERO);
        self.each(name, |at, value| {
            sum += value;
            moment += value * at;
        });
        moment / sum
    }

    /// The largest divergence of a cell with a pressure, times the step: what it gains of its volume.
    pub fn divergence(&self, step: f64) -> f64 {
        let voxel = self.domain.frame().voxel_size(0);
        let (volume, field) = (self.volume, &self.field);
        let found = undine_core::Accessor::new("divergence", self.domain)
            .over(volume.topology())
            .map(
                (
                    volume.own(field.cells.words),
                    field.velocity.faces.map(|face| volume.around(face, 1)),
                    field.walls.area.faces.map(|face| volume.around(face, 1)),
                    field.walls.velocity.faces.map(|face| volume.around(face, 1)),
                ),
                |_, (cells, velocity, area, wall)| {
                    let mut most = 0.0_f64;
                    for n in 0..512_usize {
                        if cells[n >> 6] >> (n & 63) & 1 == 0 {
                            continue;
                        }
                        let at = [n >> 6, n >> 3 & 7, n & 7].map(|c| c as i32);
                        let mut out = 0.0;
                        for axis in 0..3 {
                            let flux = |by: i32| {
                                let mut c = at;
                                c[axis] += by;
                                let [x, y, z] = c;
                                let a = f64::from(area[axis].at(x, y, z));
                                a * f64::from(velocity[axis].at(x, y, z))
                                    + (1.0 - a) * f64::from(wall[axis].at(x, y, z))
                            };
                            out += flux(1) - flux(0);
                        }
                        most = most.max(out.abs());
                    }
                    most
                },
            )
            .unwrap();
        found.into_iter().fold(0.0, f64::max) * step / voxel
    }
}

/// Simulates so many frames.
pub fn frames(simulation: &mut Simulation, count: usize) {
    for _ in 0..count {
        simulation.advance_frame(&mut (), |_, _| Ok(())).unwrap();
    }
}
