//! A sink of a fluid that particles carry: what is inside of a solid goes, all of it or at a rate.
//!
//! At a rate, the deepest go first, and the last one leaves a part of its mass: what goes in a step is exactly the rate's
//! share, and nothing has to be remembered.

use crate::field::INTERIOR;
use crate::sink_cells;
use std::sync::Arc;
use undine_core::domain::Slot;
use undine_core::{Accessor, GridDomain, ParticleSystem};
use undine_geometry::Solid;
use undine_schema::{Declaration, Dimension, Kind, Parameter, Setting, Type};
use undine_sim::offers::{FluidField, FluidParticles};
use undine_sim::{Ingest, Moment, ObjectId, Operator, Result, Stage, StoreId, Tasks, World};

/// "Here fluid goes out."
pub const DECLARATION: Declaration = Declaration {
    name: "sink",
    kind: Kind::Operator,
    doc: "Takes away the fluid inside of a solid, all of it or at a rate",
    about: "Of all fluids with particles in its scope. `kill` ends particles by other criteria, too.",
    parameters: &[
        Parameter::new("input", Type::Input, "where it goes: a shape, surface or level set"),
        Parameter::number(
            "rate",
            Dimension::VOLUME_FLOW,
            0.0,
            "how much goes at most; without it, all that comes",
        )
        .not_negative()
        .optional(),
        Parameter::flag("active", true, "whether anything goes now"),
    ],
    example: "sink input=\"drain\"",
};

/// Takes away fluid.
pub struct Sink {
    path: String,
    on: Vec<(ObjectId, FluidField, FluidParticles)>,
    /// Nothing, while the input is empty.
    solid: Option<Arc<dyn Solid + Send>>,
    rate: Option<Setting>,
    is_active: bool,
}

impl Operator for Sink {
    fn create(ingest: &mut Ingest<'_>, scope: &[ObjectId]) -> Result<Option<Self>> {
        let carried = |object: &ObjectId| {
            let field = ingest.world.object(*object).offers.fluid?;
            Some((*object, field, field.particles?))
        };
        let on: Vec<_> = scope.iter().filter_map(carried).collect();
        if on.is_empty() {
            tracing::warn!(
                "{}: there is no fluid with particles in its scope, so that nothing goes; put it into the Group of a `hybrid`",
                ingest.path
            );
            return Ok(None);
        }
        let path = ingest.path.to_owned();
        let mut sink = Self { path, on, solid: None, rate: None, is_active: true };
        sink.solid = ingest.optional_solid("input")?;
        sink.update(ingest)?;
        Ok(Some(sink))
    }

    fn update(&mut self, ingest: &mut Ingest<'_>) -> Result<()> {
        let values = ingest.values();
        let is_still = ingest.data("input")?.motion.is_none()
            && !ingest.inputs.changes(&values.text("input")?);
        if !is_still {
            self.solid = ingest.optional_solid("input")?;
        }
        self.rate = match values.optional_number("rate")? {
            Some(_) => ingest.scope.setting("rate", None).map(|(rate, _)| rate),
            None => None,
        };
        self.is_active = values.flag("active")?;
        Ok(())
    }

    fn tasks(&self, on: &mut Tasks<Self>) {
        let stores = self.on.iter().map(|(_, _, on)| StoreId::from(on.particles));
        // Several may take particles out at this Stage, in turn.
        let cells = self.on.iter().filter(|(_, field, _)| field.interior.is_some());
        let cells = cells.map(|(_, field, _)| StoreId::from(field.volume).channel(INTERIOR));
        on.task(Stage::GroupExit, "flow into a sink", Self::flow)
            .accumulates(stores.map(|store| store.everything()))
            .accumulates(cells);
    }
}

/// A particle inside.
#[derive(Debug, Clone, Copy)]
struct Inside {
    slot: Slot,
    place: u32,
    distance: f64,
    id: u64,
    /// [kg]
    mass: f64,
}

impl Sink {
    fn flow(&mut self, world: &mut World, now: &Moment) -> Result<()> {
        let Some(solid) = self.solid.clone().filter(|_| self.is_active) else { return Ok(()) };
        for &(object, field, on) in &self.on {
            let domain = &world.domains[world.object(object).domain];
            let density = world.volumes[field.volume].column(field.density)?.background();
            let particles = &mut world.particles[on.particles];
            let mut inside = inside(domain, particles, &on, &*solid)?;
            let volume = &world.volumes[field.volume];
            let held = match field.interior {
                Some(interior) => sink_cells::held(domain, volume, interior, &*solid)?,
                None => 0.0,
            };
            // What all processes have, in the order of their ranks.
            let carried: f64 = inside.iter().map(|particle| particle.mass).sum();
            let mine = carried + held;
            let all = domain.processes().all_gather(&mine.to_ne_bytes())?;
            let all: f64 = all
                .iter()
                .map(|mass| mass.as_slice().try_into().map_or(0.0, f64::from_ne_bytes))
                .sum();
            let mut gone = mine;
            if let Some(rate) = &self.rate {
                let wanted = rate.integral(now.time, now.time + now.step) * f64::from(density);
                if wanted < all {
                    gone = wanted * (mine / all);
                    leave(particles, &on, &mut inside, carried * (wanted / all))?;
                }
            }
            let mut places = vec![Vec::new(); particles.topology().local()];
            inside.iter().for_each(|particle| places[particle.slot as usize].push(particle.place));
            places.iter_mut().for_each(|places| places.sort_unstable());
            particles.delete(&places)?;
            if let Some(interior) = field.interior.filter(|_| held > 0.0) {
                sink_cells::drain(domain, volume, interior, &*solid, gone / mine)?;
            }
            if gone > 0.0 {
                tracing::debug!("{}: {gone:.4e} kg went", self.path);
            }
        }
        Ok(())
    }
}

/// Particles inside of a solid, Bucket after Bucket.
fn inside(
    domain: &GridDomain,
    particles: &ParticleSystem,
    on: &FluidParticles,
    solid: &dyn Solid,
) -> Result<Vec<Inside>> {
    let kernel = (
        particles.own(particles.position()),
        particles.own(particles.id()),
        particles.own(on.mass),
    );
    let found = Accessor::new("choose who goes", domain).over(particles.topology()).map(
        kernel,
        |here, (offset, id, mass)| -> Vec<Inside> {
            let corner = domain.frame().corner(here.bucket);
            let half = 0.5 * domain.frame().bucket_size(0);
            let distance = solid.distance(corner + half);
            if distance.is_nan() || distance >= 3.0_f64.sqrt() * half {
                return Vec::new();
            }
            let ask = |n: usize| {
                let distance = solid.distance(corner + offset[n].as_dvec3());
                let (place, mass) = (n as u32, f64::from(mass[n]));
                let found = Inside { slot: here.slot, place, distance, id: id[n], mass };
                (distance < 0.0).then_some(found)
            };
            (0..offset.len()).filter_map(ask).collect()
        },
    )?;
    Ok(found.into_iter().flatten().collect())
}

/// Keeps only so many of them to go that they have this mass [kg] together; the last one leaves its share and stays.
fn leave(
    particles: &ParticleSystem,
    on: &FluidParticles,
    inside: &mut Vec<Inside>,
    mut wanted: f64,
) -> Result<()> {
    inside.sort_by(|a, b| a.distance.total_cmp(&b.distance).then(a.id.cmp(&b.id)));
    let mut whole = 0;
    while whole < inside.len() && inside[whole].mass <= wanted {
        wanted -= inside[whole].mass;
        whole += 1;
    }
    let mut masses = particles.column_mut(on.mass)?;
    let mut radii = particles.column_mut(on.radius)?;
    if let Some(last) = inside.get(whole).filter(|_| wanted > 0.0) {
        let (slot, place) = (last.slot, last.place as usize);
        let rest = (last.mass - wanted) as f32;
        masses.chunk_mut(slot)[place] = rest;
        radii.chunk_mut(slot)[place] *= (f64::from(rest) / last.mass).cbrt() as f32;
    }
    inside.truncate(whole);
    Ok(())
}
