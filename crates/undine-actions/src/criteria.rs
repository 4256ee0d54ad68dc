//! Which particles go: by where they are, how fast, how old, and by any channel. All that is said must hold.

use std::sync::Arc;
use undine_core::domain::Slot;
use undine_core::glam::Vec3;
use undine_core::{Accessor, Handle, ParticleSystem};
use undine_geometry::Solid;
use undine_schema::{Dimension, Parameter, Type};
use undine_sim::offers::{FluidParticles, Offers, Spatial};
use undine_sim::{Id, Ingest, ObjectId, Result, World};

/// Inside of something.
pub const INSIDE: Parameter =
    Parameter::new("inside", Type::Input, "those inside of this shape, surface or level set")
        .optional();
/// Outside of something.
pub const OUTSIDE: Parameter =
    Parameter::new("outside", Type::Input, "those outside of this shape, surface or level set")
        .optional();
/// Fast ones.
pub const FASTER: Parameter =
    Parameter::number("faster-than", Dimension::VELOCITY, 0.0, "those faster than this")
        .not_negative()
        .optional();
/// Slow ones.
pub const SLOWER: Parameter =
    Parameter::number("slower-than", Dimension::VELOCITY, 0.0, "those slower than this")
        .not_negative()
        .optional();
/// Old ones.
pub const OLDER: Parameter =
    Parameter::number("older-than", Dimension::TIME, 0.0, "those born longer ago than this")
        .not_negative()
        .optional();
/// By a channel.
pub const CHANNEL: Parameter = Parameter::new(
    "channel",
    Type::Text,
    "a channel of numbers that `above` and `below` are about",
)
.optional();
/// Above a number.
pub const ABOVE: Parameter = Parameter::number(
    "above",
    Dimension::NONE,
    0.0,
    "those whose channel holds more than this, in SI",
)
.optional();
/// Below a number.
pub const BELOW: Parameter = Parameter::number(
    "below",
    Dimension::NONE,
    0.0,
    "those whose channel holds less than this, in SI",
)
.optional();

/// Particles that criteria are asked of.
#[derive(Debug, Clone, Copy)]
pub struct Asked {
    /// The store.
    pub particles: Id<ParticleSystem>,
    /// Velocity [m/s].
    pub velocity: Handle<Vec3>,
    /// Mass [kg].
    pub mass: Handle<f32>,
}

impl Asked {
    /// Those of an Object: its own, or those that carry a fluid.
    pub fn of(offers: &Offers) -> Option<Self> {
        let fluid = || offers.fluid?.particles.map(Self::from);
        offers.port.map(|port| Self::from(port.particles)).or_else(fluid)
    }
}

impl From<Spatial> for Asked {
    fn from(Spatial { particles, velocity, mass, .. }: Spatial) -> Self {
        Self { particles, velocity, mass }
    }
}

impl From<FluidParticles> for Asked {
    fn from(FluidParticles { particles, velocity, mass, .. }: FluidParticles) -> Self {
        Self { particles, velocity, mass }
    }
}

/// Which particles go.
#[derive(Debug, Clone, Default)]
pub struct Criteria {
    inside: Option<Arc<dyn Solid + Send>>,
    outside: Option<Arc<dyn Solid + Send>>,
    faster: Option<f64>,
    slower: Option<f64>,
    older: Option<f64>,
    channel: Option<String>,
    above: Option<f64>,
    below: Option<f64>,
    /// Whether an input that something is to be inside of has nothing in it: then nobody goes.
    nobody: bool,
}

impl Criteria {
    /// As parameters say, at the time of the Ingest.
    pub fn of(ingest: &Ingest<'_>) -> Result<Self> {
        let values = ingest.values();
        let number = |parameter: &Parameter| values.optional_number(parameter.name);
        let inside = ingest.optional_solid(INSIDE.name)?;
        let criteria = Self {
            nobody: inside.is_none() && values.optional_text(INSIDE.name)?.is_some(),
            inside,
            outside: ingest.optional_solid(OUTSIDE.name)?,
            faster: number(&FASTER)?,
            slower: number(&SLOWER)?,
            older: number(&OLDER)?,
            channel: values.optional_text(CHANNEL.name)?,
            above: number(&ABOVE)?,
            below: number(&BELOW)?,
        };
        let by_channel = criteria.above.is_some() || criteria.below.is_some();
        if by_channel != criteria.channel.is_some() {
            let what = "a channel goes with `above` or `below`, and they with a channel";
            return Err(ingest.bad("channel", what, "say both, or neither"));
        }
        let says_something = values.optional_text(INSIDE.name)?.is_some()
            || values.optional_text(OUTSIDE.name)?.is_some()
            || [criteria.faster, criteria.slower, criteria.older].iter().any(Option::is_some)
            || by_channel;
        if !says_something {
            let what = "nothing says which particles go, so that all of them would";
            return Err(ingest.bad("inside", what, "say `inside`, `older-than` or the like"));
        }
        Ok(criteria)
    }

    /// Who goes of these particles: for each local slot, their places, ascending. A channel that they do not have lets nobody go.
    pub fn who(&self, world: &World, object: ObjectId, on: Asked) -> Result<Vec<Vec<u32>>> {
        let particles = &world.particles[on.particles];
        let domain = &world.domains[world.object(object).domain];
        let column = |name: &str| particles.handle::<f32>(name).ok();
        let age = self.older.map(|_| column("age"));
        let channel = self.channel.as_deref().map(column);
        if self.nobody || age == Some(None) || channel == Some(None) {
            return Ok(vec![Vec::new(); particles.topology().local()]);
        }
        // Where nothing is asked of it, any channel will do.
        let any = |handle: Option<Option<Handle<f32>>>| handle.flatten().unwrap_or(on.mass);
        let kernel = (
            (particles.own(particles.position()), particles.own(on.velocity)),
            (particles.own(any(age)), particles.own(any(channel))),
        );
        Ok(Accessor::new("choose who goes", domain).over(particles.topology()).map(
            kernel,
            |here, ((offset, velocity), (age, channel))| -> Vec<u32> {
                let corner = domain.frame().corner(here.bucket);
                let goes = |place: &u32| {
                    let n = *place as usize;
                    let speed = f64::from(velocity[n].length());
                    let (age, value) = (f64::from(age[n]), f64::from(channel[n]));
                    let at = || corner + offset[n].as_dvec3();
                    self.faster.is_none_or(|least| speed > least)
                        && self.slower.is_none_or(|most| speed < most)
                        && self.older.is_none_or(|least| age > least)
                        && self.above.is_none_or(|least| value > least)
                        && self.below.is_none_or(|most| value < most)
                        && self.inside.as_ref().is_none_or(|solid| solid.distance(at()) < 0.0)
                        && self.outside.as_ref().is_none_or(|solid| solid.distance(at()) > 0.0)
                };
                (0..offset.len() as u32).filter(goes).collect()
            },
        )?)
    }
}

/// The same by slot and place.
pub fn flat(who: &[Vec<u32>]) -> Vec<(Slot, u32)> {
    let slots = who.iter().enumerate();
    slots
        .flat_map(|(slot, places)| places.iter().map(move |&place| (slot as Slot, place)))
        .collect()
}
