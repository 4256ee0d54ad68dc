//! Where few elements make all others dear: the fastest of them rule the step, or those that fly alone take most of the voxels.

use super::FrameReport;
use undine_core::glam::{DVec3, Vec3};
use undine_core::{Handle, ParticleSystem};
use undine_sim::offers::{Material, Offers};
use undine_sim::timeline::Substeps;
use undine_sim::{Id, Simulation};

/// Fewer particles than this have no few among them.
const MANY: usize = 100;
/// One of so many is few.
const FEW: usize = 1000;
/// How many times as fast as all others the fastest are that rule the step.
const FASTER: f64 = 4.0;
/// No more particles than this are in a Bucket of 512 voxels that they have nearly for themselves.
const ALONE: usize = 8;
/// Fewer such Buckets cost little.
const MANY_BUCKETS: usize = 64;

/// What few of this process's particles cost at the end of a frame, in words.
pub fn told(simulation: &Simulation, report: &FrameReport) -> Vec<String> {
    let objects = simulation.world.objects.iter();
    let mut told = Vec::new();
    for object in objects {
        let Some((particles, velocity)) = particles_of(&object.offers) else { continue };
        let store = &simulation.world.particles[particles];
        let rules = report.asked_by.as_ref() == Some(&object.path);
        let is_fluid = object.offers.fluid.is_some();
        let path = &object.path;
        if rules && matches!(simulation.timeline().substeps, Substeps::Adaptive { .. }) {
            told.extend(fastest(store, velocity).map(|what| format!("`{path}`: {what}")));
        }
        if is_fluid {
            told.extend(alone(store).map(|what| format!("`{path}`: {what}")));
        }
    }
    told
}

/// The particles of an Object in spatial order, with their velocities.
fn particles_of(offers: &Offers) -> Option<(Id<ParticleSystem>, Handle<Vec3>)> {
    let of_fluid = || offers.fluid?.particles.map(|on| (on.particles, on.velocity));
    match offers.material {
        Some(Material::Spatial(on)) => Some((on.particles, on.velocity)),
        _ => of_fluid(),
    }
}

/// That a few are much faster than all others.
fn fastest(store: &ParticleSystem, velocity: Handle<Vec3>) -> Option<String> {
    let velocity = store.column(velocity).ok()?;
    let slots = 0..store.topology().local() as u32;
    let mut speeds: Vec<f32> = Vec::with_capacity(store.len());
    slots.for_each(|slot| speeds.extend(velocity.chunk(slot).iter().map(|v| v.length())));
    let few = speeds.len() / FEW + 1;
    if speeds.len() < MANY {
        return None;
    }
    let (at, most) = first_largest(&speeds);
    let mut sorted = speeds.clone();
    let (_, others, _) = sorted.select_nth_unstable_by(few, |a, b| b.total_cmp(a));
    let (most, others) = (f64::from(most), f64::from(*others));
    let limit = FASTER * others;
    if !(others > 0.0 && most > limit) {
        return None;
    }
    let count = speeds.iter().filter(|speed| f64::from(**speed) > limit).count();
    let place = place(store, at)?;
    Some(format!(
        "{count} of {} particles rule the step: the fastest has {most:.3} m/s at {place}, and nearly all others have less than \
         {others:.3} m/s; to let such go, add `kill faster-than=\"{limit:.3} m/s\"`, or give `setup` its `bounds`",
        speeds.len(),
    ))
}

/// That a few have most Buckets nearly for themselves.
fn alone(store: &ParticleSystem) -> Option<String> {
    let positions = store.column(store.position()).ok()?;
    let slots = 0..store.topology().local() as u32;
    let counts: Vec<usize> = slots.map(|slot| positions.chunk(slot).len()).collect();
    let buckets = counts.iter().filter(|count| **count > 0).count();
    let is_alone = |count: &&usize| (1..=ALONE).contains(*count);
    let of_few = counts.iter().filter(is_alone).count();
    let few: usize = counts.iter().filter(is_alone).sum();
    if of_few < MANY_BUCKETS || 2 * of_few < buckets || 100 * few > store.len() {
        return None;
    }
    let places = store.world_positions().ok()?;
    let middle = places.iter().sum::<DVec3>() / places.len().max(1) as f64;
    let far: Vec<f32> = places.iter().map(|at| at.distance_squared(middle) as f32).collect();
    let place = place(store, first_largest(&far).0)?;
    Some(format!(
        "{few} of {} particles fly alone, and take {of_few} of {buckets} Buckets of voxels, the farthest at {place}; to let such go, give \
         `setup` its `bounds`, or add `kill outside=`",
        store.len()
    ))
}

/// The first of the largest numbers, and where it is.
fn first_largest(numbers: &[f32]) -> (usize, f32) {
    let all = numbers.iter().copied().enumerate();
    all.fold((0, f32::NEG_INFINITY), |most, one| if one.1 > most.1 { one } else { most })
}

/// Where a particle is, in words.
fn place(store: &ParticleSystem, n: usize) -> Option<String> {
    let at = *store.world_positions().ok()?.get(n)?;
    Some(format!("({:.3}, {:.3}, {:.3}) m", at.x, at.y, at.z))
}
