//! What solids and air exchange in a step: a probe looks at both sides after the air has taken up what solids gave it, before pressure and before
//! air carries itself along.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::Arc;
use undine_core::glam::DVec3;
use undine_core::memory::MemoryBudget;
use undine_schema::setup::{Behavior, Group};
use undine_schema::{Declaration, Kind};
use undine_sim::input::Data;
use undine_sim::newton::NewtonSettings;
use undine_sim::offers::{Dofs, FluidField, ObjectId, Topological};
use undine_sim::timeline::Substeps;
use undine_sim::{
    BehaviorKind, Ingest, Moment, Operator, Result, Simulation, Stage, Tasks, Timeline, World,
};

/// The density of the air [kg/m³].
pub const AIR: f64 = 1.204;

/// What the last steps did, in their last iteration.
#[derive(Debug, Clone, Copy, Default)]
pub struct Exchanged {
    /// The impulse on all solids [kg m/s].
    pub solids: DVec3,
    /// The impulse on the air [kg m/s].
    pub air: DVec3,
}

thread_local! {
    /// Tasks run on the thread that advances a Simulation.
    static STEPS: RefCell<Vec<Exchanged>> = const { RefCell::new(Vec::new()) };
}

static PROBE: Declaration = Declaration {
    name: "probe",
    kind: Kind::Operator,
    doc: "Writes down what solids and air exchange",
    about: "",
    parameters: &[],
    example: "",
};

struct Probe {
    solids: Topological,
    air: (ObjectId, FluidField),
    before: DVec3,
}

impl Operator for Probe {
    fn create(ingest: &mut Ingest<'_>, scope: &[ObjectId]) -> Result<Option<Self>> {
        let offers = |object: ObjectId| &ingest.world.object(object).offers;
        let solids = scope.iter().find_map(|&object| match offers(object).dofs? {
            Dofs::Bodies(on) => Some(on.centres),
            Dofs::Rods(on) => Some(on.vertices),
            Dofs::Particles(_) => None,
        });
        let air = scope.iter().find_map(|&object| Some((object, offers(object).fluid?)));
        Ok(solids.zip(air).map(|(solids, air)| Self { solids, air, before: DVec3::ZERO }))
    }

    fn tasks(&self, on: &mut Tasks<Self>) {
        let points = undine_sim::StoreId::from(self.solids.points);
        let grid = undine_sim::StoreId::from(self.air.1.volume);
        on.task(Stage::GroupEnter, "look before", Self::look_before)
            .reads(points.channels(["v", "mass"]));
        on.task(Stage::KeepFluids, "look after", Self::look_after)
            .reads(points.channels(["v", "mass"]))
            .reads(grid.channels(["v", "v-before"]));
    }
}

impl Probe {
    /// Momentum of all solids [kg m/s].
    fn momentum(&self, world: &World) -> Result<DVec3> {
        let points = &world.points[self.solids.points];
        let (v, mass) = (points.column(self.solids.velocity)?, points.column(self.solids.mass)?);
        Ok(v.iter().zip(mass.iter()).map(|(v, m)| *m * *v).sum())
    }

    fn look_before(&mut self, world: &mut World, _: &Moment) -> Result<()> {
        self.before = self.momentum(world)?;
        Ok(())
    }

    fn look_after(&mut self, world: &mut World, now: &Moment) -> Result<()> {
        let (object, field) = self.air;
        let volume = &world.volumes[field.volume];
        let cell = world.domains[world.object(object).domain].frame().voxel_size(0).powi(3);
        let mut air = DVec3::ZERO;
        for axis in 0..3 {
            let after = volume.column(field.velocity.faces[axis])?;
            let before = volume.column(field.velocity_before.faces[axis])?;
            for slot in 0..volume.topology().local() as u32 {
                let faces = after.chunk(slot).iter().zip(before.chunk(slot));
                air[axis] += faces.map(|(u, was)| f64::from(*u) - f64::from(*was)).sum::<f64>();
            }
        }
        let step = Exchanged { solids: self.momentum(world)? - self.before, air: AIR * cell * air };
        STEPS.with_borrow_mut(|steps| {
            if now.iteration > 0 {
                steps.pop();
            }
            steps.push(step);
        });
        Ok(())
    }
}

/// A simulation of so many steps, each of one length [s] with so many Newton iterations; and what was exchanged in each.
pub fn exchanged(
    setup: Group,
    inputs: BTreeMap<String, Arc<Data>>,
    (step, iterations): (f64, usize),
    more: &[BehaviorKind],
    steps: usize,
) -> (Simulation, Vec<Exchanged>) {
    let setup = setup.with(Behavior::new(&PROBE));
    let kinds =
        [&undine::behaviors(), &[BehaviorKind::operator::<Probe>(&PROBE)][..], more].concat();
    let timeline = Timeline {
        fps: 1.0 / step,
        substeps: Substeps::Fixed(1),
        newton: NewtonSettings { iterations, tolerance: 0.0, ..NewtonSettings::default() },
        ..Timeline::default()
    };
    let budget = MemoryBudget::unlimited();
    let mut simulation =
        Simulation::new(&setup, &kinds, timeline, Arc::new(inputs), budget).unwrap();
    STEPS.take();
    for _ in 0..steps {
        simulation.advance_frame(&mut (), |_, _| Ok(())).unwrap();
    }
    (simulation, STEPS.take())
}

/// How much of what two places [m] do to the faces across an axis they do to the same ones: Σ w(a) w(b), with linear weights among voxels of
/// this size [m]. Faces lie on multiples of it along their axis, and half between them along the others.
pub fn shared(a: DVec3, b: DVec3, axis: usize, voxel: f64) -> f64 {
    let hat = |x: f64| (1.0 - x.abs()).max(0.0);
    let along = |other: usize| {
        let shift = if other == axis { 0.0 } else { 0.5 };
        let (a, b) = (a[other] / voxel - shift, b[other] / voxel - shift);
        let first = a.floor();
        hat(a - first) * hat(b - first) + hat(a - first - 1.0) * hat(b - first - 1.0)
    };
    along(0) * along(1) * along(2)
}
