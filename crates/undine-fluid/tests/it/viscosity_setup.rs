//! The Behavior `viscosity` in a setup: what particles say, and what is said of a solve.

use std::collections::BTreeMap;
use std::sync::Arc;
use undine_core::glam::{DVec3, Vec3};
use undine_core::memory::MemoryBudget;
use undine_core::{ChannelSpec, DiscreteVolume, ParticleSystem};
use undine_fluid::field::{Fluid, add_channels};
use undine_fluid::viscosity::DECLARATION as VISCOSITY;
use undine_schema::setup::{Behavior, Group};
use undine_schema::{Declaration, Dimension, Kind, Parameter};
use undine_sim::input::Data;
use undine_sim::offers::FluidParticles;
use undine_sim::report::{Observer, SubstepReport};
use undine_sim::timeline::Substeps;
use undine_sim::{
    BehaviorKind, Budget, Ingest, Object, ObjectId, Offers, Result, Simulation, StoreId, Tasks,
    Timeline, World,
};

const VOXEL: f64 = 0.1;

const TUB: Declaration = Declaration {
    name: "tub",
    kind: Kind::Object,
    doc: "A cube of liquid with two particles in every cell",
    about: "For tests.",
    parameters: &[Parameter::number("thick", Dimension::DYNAMIC_VISCOSITY, 10.0, "of every other")],
    example: "tub",
};

/// A liquid at rest but for a layer that moves. Its particles have masses of 1 and 3 kg, and viscosities of 2 and `thick`.
struct Tub {
    id: ObjectId,
}

impl Object for Tub {
    fn create(ingest: &mut Ingest<'_>) -> Result<Vec<Self>> {
        let thick = ingest.values().number("thick")? as f32;
        let world = &mut *ingest.world;
        let domain = world.domain(VOXEL)?;
        let grid = &mut world.domains[domain];
        let buckets = grid.buckets_in_box(DVec3::splat(-0.1), DVec3::splat(1.0), 0)?;
        grid.set_buckets(&buckets)?;
        let mut particles = ParticleSystem::new(ingest.path, grid)?;
        let number = |name: &'static str| ChannelSpec::new(name, 0.0_f32);
        let vector = |name: &'static str| ChannelSpec::new(name, Vec3::ZERO);
        particles.add_channel(&number("viscosity"))?;
        let (velocity, before) =
            (particles.add_channel(&vector("v"))?, particles.add_channel(&vector("before"))?);
        let (mass, radius) =
            (particles.add_channel(&number("mass"))?, particles.add_channel(&number("pscale"))?);
        let middle = |n: usize| DVec3::new((n >> 6) as f64, (n >> 3 & 7) as f64, (n & 7) as f64);
        let places: Vec<DVec3> =
            (0..1024).map(|n| VOXEL * (middle(n / 2) + 0.3 + 0.4 * (n % 2) as f64)).collect();
        let mut batch = particles.batch(&places)?;
        let pairs = |pair: [f32; 2]| (0..1024).map(|n| pair[n % 2]).collect::<Vec<f32>>();
        batch.set("mass", &pairs([1.0, 3.0]))?;
        batch.set("viscosity", &pairs([2.0, thick]))?;
        particles.append(grid, batch)?;

        let volume = world.volumes.add(DiscreteVolume::new(ingest.path, &world.domains[domain]));
        let particles = world.particles.add(particles);
        let carried = FluidParticles { particles, velocity, position_before: before, mass, radius };
        let fluid = Fluid { density: 1000.0, has_surface: true, particles: Some(carried) };
        let field = add_channels(&mut world.volumes[volume], volume, VOXEL, fluid)?;
        let store = &world.volumes[volume];
        let mut surface = store.column_mut(field.distance.unwrap())?;
        let mut v = store.column_mut(field.velocity.faces[0])?;
        for slot in 0..store.topology().local() as u32 {
            let corner = store.topology().bucket(slot).coord.as_dvec3() * 8.0;
            for n in 0..512 {
                let at = VOXEL * (corner + middle(n) + 0.5);
                surface.chunk_mut(slot)[n] = ((at - 0.4).abs().max_element() - 0.4) as f32;
                v.chunk_mut(slot)[n] = f32::from(u8::from(at.y < 0.4));
            }
        }
        drop((surface, v));
        let offers = Offers { fluid: Some(field), ..Offers::default() };
        Ok(vec![Self { id: ingest.offer(domain, BTreeMap::new(), offers) }])
    }

    fn id(&self) -> ObjectId {
        self.id
    }

    fn tasks(&self, _: &mut Tasks<Self>) {}

    fn budget(&self, _: &World) -> Result<Budget> {
        Ok(Budget::default())
    }

    fn output(&self) -> Vec<(Option<&'static str>, StoreId)> {
        Vec::new()
    }
}

/// Keeps what is said of substeps.
#[derive(Default)]
struct Listener(Vec<SubstepReport>);

impl Observer for Listener {
    fn substep(&mut self, substep: &SubstepReport) {
        self.0.push(substep.clone());
    }
}

fn tub(thick: f64) -> Simulation {
    let setup = Group::default()
        .with(Behavior::new(&TUB).set("thick", thick))
        .with(Behavior::new(&VISCOSITY).set("viscosity", 5.0));
    let kinds = [&[BehaviorKind::object::<Tub>(&TUB)], undine_fluid::BEHAVIORS].concat();
    let timeline = Timeline { substeps: Substeps::Fixed(2), ..Timeline::default() };
    let inputs: BTreeMap<String, Arc<Data>> = BTreeMap::new();
    let budget = MemoryBudget::unlimited();
    let mut simulation =
        Simulation::new(&setup, &kinds, timeline, Arc::new(inputs), budget).unwrap();
    simulation.audited(true);
    simulation
}

#[test]
fn particles_mix_their_viscosities_by_mass() {
    let mut simulation = tub(10.0);
    let mut listener = Listener::default();
    simulation.advance_frame(&mut listener, |_, _| Ok(())).unwrap();
    let volume = simulation.world.volumes.iter().next().unwrap().1;
    let column = volume.column(volume.handle::<f32>("cell-viscosity").unwrap()).unwrap();
    let (mut mixed, mut unknown) = (0, 0);
    for slot in 0..volume.topology().local() as u32 {
        for value in column.chunk(slot) {
            mixed += usize::from(*value == 8.0);
            unknown += usize::from(*value == -1.0);
        }
    }
    assert_eq!(mixed, 512, "(1·2 + 3·10) / 4");
    assert_eq!(mixed + unknown, 512 * volume.topology().local());
    assert_eq!(listener.0.len(), 2);
    for report in &listener.0 {
        let solve = &report.solves[0];
        assert!(solve.system == "viscosity" && solve.converged && solve.iterations > 0);
        assert!(solve.residual <= solve.tolerance && solve.unknowns > 1500, "{solve:?}");
    }
}

#[test]
fn particles_without_a_sensible_viscosity_are_refused_by_number() {
    let said = tub(-3.0).advance_frame(&mut (), |_, _| Ok(())).unwrap_err().to_string();
    assert!(said.contains("`viscosity`") && said.contains("-3 Pa s"), "{said}");
}

#[test]
fn what_it_declares_is_sound() {
    assert_eq!(undine_schema::declaration::faults(&VISCOSITY), Vec::<String>::new());
}
