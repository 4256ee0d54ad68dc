//! What the tests of whole steps have in common: small scenes of air, and looks at it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};
use undine_core::glam::DVec3;
use undine_core::memory::MemoryBudget;
use undine_core::{DiscreteVolume, GridDomain, Handle};
use undine_geometry::{Pose, Shape};
use undine_schema::setup::{Behavior, Group};
use undine_sim::input::{Data, Geometry};
use undine_sim::newton::NewtonSettings;
use undine_sim::offers::FluidField;
use undine_sim::timeline::Substeps;
use undine_sim::{BehaviorKind, Moment, SimError, Simulation, Stage, Timeline, World};

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
        Self::within(&simulation.world)
    }

    pub fn within(world: &'s World) -> Self {
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

    /// The largest divergence of a cell with a pressure [1/s].
    pub fn divergence(&self) -> f64 {
        let of = |(_, out): &([i32; 3], [[f64; 2]; 3])| out.iter().flatten().sum::<f64>().abs();
        self.fluxes().iter().map(of).fold(0.0, f64::max)
    }

    /// The place of every cell with a pressure, and what flows out of it [1/s] through its faces, below and above along each axis, as a
    /// share of its volume.
    pub fn fluxes(&self) -> Vec<([i32; 3], [[f64; 2]; 3])> {
        let voxel = self.domain.frame().voxel_size(0);
        let (volume, field) = (self.volume, &self.field);
        let access = (
            volume.own(field.cells.words),
            field.velocity.faces.map(|face| volume.around(face, 1)),
            field.walls.area.faces.map(|face| volume.around(face, 1)),
            field.walls.velocity.faces.map(|face| volume.around(face, 1)),
        );
        let found = undine_core::Accessor::new("flux", self.domain).over(volume.topology()).map(
            access,
            |here, (cells, velocity, area, wall)| {
                let corner = (here.bucket.coord * 8).to_array();
                let has_pressure = |n: &usize| cells[n >> 6] >> (n & 63) & 1 == 1;
                let through = |n: usize| {
                    let at = [n >> 6, n >> 3 & 7, n & 7].map(|c| c as i32);
                    let place = std::array::from_fn(|axis| corner[axis] + at[axis]);
                    let out = std::array::from_fn(|axis| {
                        [0, 1].map(|by| {
                            let mut c = at;
                            c[axis] += by;
                            let [x, y, z] = c;
                            let [u, a, w] = [&velocity, &area, &wall]
                                .map(|faces| f64::from(faces[axis].at(x, y, z)));
                            f64::from(2 * by - 1) * (a * u + (1.0 - a) * w) / voxel
                        })
                    });
                    (place, out)
                };
                (0..512).filter(has_pressure).map(through).collect::<Vec<_>>()
            },
        );
        found.unwrap().concat()
    }

    /// The largest value of a channel of numbers.
    pub fn largest(&self, channel: Handle<f32>) -> f64 {
        let column = self.volume.column(channel).unwrap();
        let buckets = 0..self.volume.topology().local() as u32;
        let all = buckets.flat_map(|slot| column.chunk(slot).to_vec());
        all.fold(0.0, |most, value| most.max(f64::from(value).abs()))
    }
}

/// What a solve for the pressure left.
#[derive(Debug, Clone, Copy)]
pub struct Left {
    /// ‖∇·u‖ over all cells [1/s].
    pub divergence: f64,
    /// How much that may be [1/s]: what the solver stops at, and rounding.
    pub bound: f64,
    /// How many cells have a pressure.
    pub cells: usize,
    /// What flows into all cells with a pressure and out of them, through their common edge [m³/s].
    pub through: [f64; 2],
}

/// A timeline on which [`watched`] sees what solves have left: of two Newton iterations, the second of which begins after a solve.
pub fn twice(timeline: Timeline) -> Timeline {
    let newton = NewtonSettings { iterations: 2, tolerance: -1.0, ..timeline.newton };
    Timeline { newton, ..timeline }
}

/// Looks at what each solve for the pressure leaves, before the velocity carries itself on.
///
/// A solve ends when ‖∇·u‖ ≤ `tolerance` · ‖∇·u*‖, or when no cell has more than `tolerance`/1000 of its volume too much or too little at the
/// end of the step. Then u = u* − Δt/ρ ∇p is rounded to f32, of ε = 2⁻²⁴: each of the six faces of a cell by ε (|u*| + Δt/(ρΔx)·2|p|),
/// with p rounded itself, and once more by what the sum comes to.
pub fn watched(simulation: &mut Simulation, tolerance: f64) -> Arc<Mutex<Vec<Left>>> {
    let all = Arc::new(Mutex::new(Vec::new()));
    let seen = all.clone();
    let look = move |world: &mut World, now: &Moment| {
        if now.iteration == 0 {
            return Ok(());
        }
        let look = Look::within(world);
        let voxel = look.domain.frame().voxel_size(0);
        let norm = |all: &[f64]| all.iter().map(|d| d * d).sum::<f64>().sqrt();
        let fluxes = look.fluxes();
        let divergences: Vec<f64> =
            fluxes.iter().map(|(_, out)| out.iter().flatten().sum()).collect();
        // What flows in is there for cells with a pressure alone, and for whole Buckets of them.
        let column = look.volume.column(look.channel("inflow")).unwrap();
        let words = look.volume.column(look.field.cells.words).unwrap();
        let mut before = Vec::new();
        for slot in 0..look.volume.topology().local() as u32 {
            let words = words.chunk(slot);
            let inflow = column.chunk(slot).iter().enumerate();
            let of_cells = inflow.filter(|(n, _)| words[n >> 6] >> (n & 63) & 1 == 1);
            before.extend(of_cells.map(|(_, inflow)| f64::from(*inflow)));
        }
        let fastest = look.field.velocity.faces.map(|face| look.largest(face));
        let density = f64::from(look.volume.column(look.field.density).unwrap().background());
        let pressed = now.step / (density * voxel) * 2.0 * look.largest(look.field.pressure);
        let speed = fastest.into_iter().fold(0.0, f64::max);
        let rounding = 6.0 * 2.0_f64.powi(-24) * 2.0 * (speed + 2.0 * pressed) / voxel;
        let root = (before.len() as f64).sqrt();
        let bound =
            (tolerance * norm(&before)).max(root * 1e-3 * tolerance / now.step) + root * rounding;
        // The edge is where there is no cell with a pressure on the other side.
        let places: BTreeSet<[i32; 3]> = fluxes.iter().map(|(place, _)| *place).collect();
        let mut through = [0.0; 2];
        for (place, out) in &fluxes {
            for (axis, side) in (0..3).flat_map(|axis| [(axis, 0), (axis, 1)]) {
                let mut beyond = *place;
                beyond[axis] += 2 * side - 1;
                if !places.contains(&beyond) {
                    let flow = out[axis][side as usize];
                    through[usize::from(flow > 0.0)] += flow.abs() * voxel.powi(3);
                }
            }
        }
        let left = Left { divergence: norm(&divergences), bound, cells: before.len(), through };
        seen.lock().unwrap().push(left);
        Ok(())
    };
    simulation.add_kernel(Stage::BeginIteration, "look at what is left", look).unwrap();
    all
}

/// Simulates so many frames.
pub fn frames(simulation: &mut Simulation, count: usize) {
    for _ in 0..count {
        simulation.advance_frame(&mut (), |_, _| Ok(())).unwrap();
    }
}
