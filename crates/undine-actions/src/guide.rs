//! Guiding: everything in its scope is drawn into a shape, or follows velocities that are given. Art direction, not physics.
//!
//! What is to be followed is a velocity w(x), and a velocity u relaxes to it at a rate k, implicitly: u ← (u + Δt k w)/(1 + Δt k), which
//! is stable for any step. Outside of a shape at distance d, w points to its surface with the speed d/T, so that what is
//! outside comes in about the time T; inside nothing is done.

use crate::field::mask::{self, Mask};
use std::sync::Arc;
use undine_core::Handle;
use undine_core::glam::{DMat3, DVec3, Vec3};
use undine_core::volume::{Interpolation, Sampler};
use undine_geometry::levelset::LevelSet;
use undine_geometry::{Pose, Solid};
use undine_schema::{Declaration, Dimension, Kind, Parameter, Type};
use undine_sim::input::{Geometry, VELOCITY};
use undine_sim::{Force, Ingest, Point, Push, Result};

/// "Go there."
pub const DECLARATION: Declaration = Declaration {
    name: "guide",
    kind: Kind::Force,
    doc: "Draws everything in its scope into a shape, or lets it follow given velocities",
    about: "For art direction: it adds momentum out of nothing. Outside of `input` velocities are drawn towards it; inside of the \
            level set `flow` they follow its channel `v`, which a cache has beside its level sets. How closely is said by `strength`, the rate at which they do. Masks limit \
            it as they limit a `force-field`.",
    parameters: &[
        Parameter::new(
            "input",
            Type::Input,
            "the shape, surface or level set that all is drawn into",
        )
        .optional(),
        Parameter::number(
            "time",
            Dimension::TIME,
            0.5,
            "in about which time what is outside of it comes",
        )
        .positive()
        .usually(0.02, 100.0),
        Parameter::number("speed", Dimension::VELOCITY, 10.0, "how fast at most")
            .positive()
            .usually(0.01, 100.0),
        Parameter::new("flow", Type::Input, "a level set whose velocities `v` are followed")
            .optional(),
        Parameter::number(
            "strength",
            Dimension::FREQUENCY,
            4.0,
            "the rate at which velocities follow; 0 lets them be",
        )
        .not_negative()
        .usually(0.0, 1e3),
        mask::MASK,
        mask::EDGE,
        mask::OUTSIDE,
        mask::WEIGHT,
        mask::START,
        mask::END,
        mask::FADE,
    ],
    example: "guide input=\"statue\" strength=\"8 Hz\"",
};

/// Draws everything to where it is wanted.
pub struct Guide {
    shape: Option<Arc<dyn Solid + Send>>,
    flow: Option<Flow>,
    /// T [s].
    time: f64,
    /// [m/s]
    speed: f64,
    /// k [1/s].
    strength: f64,
    masks: Vec<Mask>,
}

/// Velocities to follow.
struct Flow {
    set: Arc<LevelSet>,
    velocity: Handle<Vec3>,
    pose: Pose,
}

impl Force for Guide {
    const VARIES: &'static [&'static str] = &["weight"];

    fn create(ingest: &mut Ingest<'_>) -> Result<Self> {
        let values = ingest.values();
        let named = |parameter| values.optional_text(parameter);
        if named("input")?.is_none() && named("flow")?.is_none() {
            let what = "it has nothing to guide to";
            let help = "give it a shape by `input`, or velocities by `flow`";
            return Err(ingest.bad("input", what, help));
        }
        Ok(Self {
            shape: ingest.optional_solid("input")?,
            flow: Flow::of(ingest)?,
            time: values.number("time")?,
            speed: values.number("speed")?,
            strength: values.number("strength")?,
            masks: mask::masks(ingest)?,
        })
    }

    fn update(&mut self, ingest: &mut Ingest<'_>) -> Result<()> {
        let is_still = |parameter: &str| -> Result<bool> {
            let Some(name) = ingest.values().optional_text(parameter)? else { return Ok(true) };
            Ok(!ingest.inputs.changes(&name) && ingest.data(parameter)?.motion.is_none())
        };
        // A shape that stays as it is need not be made again.
        let shape = if is_still("input")? { self.shape.take() } else { None };
        let values = ingest.values();
        *self = Self {
            shape: match shape {
                Some(shape) => Some(shape),
                None => ingest.optional_solid("input")?,
            },
            flow: Flow::of(ingest)?,
            time: values.number("time")?,
            speed: values.number("speed")?,
            strength: values.number("strength")?,
            masks: mask::masks(ingest)?,
        };
        Ok(())
    }

    fn evaluate(&self, at: &Point, varying: &[f64]) -> Push {
        let weights = self.masks.iter().map(|mask| mask.at(at.position, at.time).value);
        // A weight below zero would drive velocities apart, ever faster.
        let rate = at.mass * self.strength * weights.product::<f64>() * varying[0].max(0.0);
        let mut push = Push::explicit(DVec3::ZERO);
        if rate == 0.0 {
            return push;
        }
        let flow = self.flow.as_ref().and_then(|flow| flow.at(at.position));
        for wanted in [self.way_in(at.position), flow].into_iter().flatten() {
            push.force += rate * (wanted - at.velocity);
            push.by_velocity -= DMat3::from_diagonal(DVec3::splat(rate));
        }
        push
    }
}

impl Guide {
    /// The velocity that leads into the shape [m/s]; nothing inside of it.
    fn way_in(&self, place: DVec3) -> Option<DVec3> {
        let near = self.shape.as_ref()?.nearest(place);
        let is_outside = near.distance > 0.0 && near.distance.is_finite();
        let speed = (near.distance / self.time).min(self.speed);
        is_outside.then(|| -speed * near.normal)
    }
}

impl Flow {
    /// The velocities that a scene names; none of an input that is empty now.
    fn of(ingest: &Ingest<'_>) -> Result<Option<Self>> {
        let Some(data) = ingest.optional_data("flow")?.filter(|data| !data.is_empty()) else {
            return Ok(None);
        };
        let set = match &data.geometry {
            Geometry::LevelSet(set) => set.clone(),
            _ => {
                let what = format!("it is {}, which has no velocities in its inside", data.noun());
                return Err(ingest.bad("flow", what, "use a level set with a channel `v`"));
            }
        };
        let Ok(velocity) = set.volume().handle(VELOCITY) else {
            let there: Vec<String> =
                set.volume().channels().infos().map(|info| format!("`{}`", info.name)).collect();
            let what = format!("it has no channel `v` of vectors, but {}", there.join(", "));
            return Err(ingest.bad("flow", what, "use a level set with velocities"));
        };
        Ok(Some(Self { set, velocity, pose: data.pose(ingest.time) }))
    }

    /// The velocity at a place [m/s], inside of the level set and up to a voxel from it.
    fn at(&self, place: DVec3) -> Option<DVec3> {
        let place = self.pose.to_local(place);
        let distances = self.set.column().ok()?;
        let distance = self.set.sampler(&distances).distance(place);
        if distance.is_nan() || distance > self.set.voxel_size() {
            return None;
        }
        let velocities = self.set.volume().column(self.velocity).ok()?;
        let sampler = Sampler::new(&velocities, self.set.topology(), Interpolation::Linear);
        let (slot, offset) = sampler.locate(place)?;
        Some(self.pose.rotation * sampler.at(slot, offset).as_dvec3())
    }
}
