//! Constraints as Actions: which points they act on, what they remember in channels, and how the coupled system sees them.
//!
//! A Constraint's mathematics is in [`constraint`](crate::constraint). What is added here is a [`Bond`]: it chooses its points
//! (*emission*), once or in every step, and gives each element its rest state. Elements, rest states, friction and
//! multipliers are channels of an [`ElementSet`], so that a run goes on after a crash as if nothing had been. Parameters that
//! vary from element to element are looked up when a substep begins, so that they follow channels and animated values.

mod batch;
mod bound;
mod ends;
mod on_surface;
mod varying;

use crate::behavior::{Behavior, Ingest};
use crate::constraint::{Constraint, Placed};
use crate::coupling::Coupling;
use crate::elements::ElementSet;
use crate::error::Result;
use crate::offers::{ObjectId, Offers};
use crate::surface;
use crate::task::{Hosted, Moment, Reach, Worker};
use crate::world::World;
use batch::Rows;
use bound::Bound;
use bytemuck::Pod;
pub(crate) use ends::Places;
pub use ends::{Chosen, End, Points, are_rods};
use std::sync::Arc;
use undine_core::ChannelSpec;
use undine_schema::{Dimension, Parameter};

/// How long motion of the rows takes to die away: every Constraint has it.
pub const DAMPING_TIME: Parameter = Parameter::number(
    "damping-time",
    Dimension::TIME,
    0.0,
    "relaxation time of Rayleigh damping: motion dies away within about as long as this",
)
.not_negative()
.usually(0.0, 10.0);

/// The limit of Dahl friction: every Constraint has it.
pub const FRICTION_LIMIT: Parameter = Parameter::number(
    "friction-limit",
    Dimension::FORCE,
    0.0,
    "force of inner friction, which does not depend on speed (Dahl)",
)
.not_negative()
.advanced();

/// The transition length of Dahl friction: every Constraint has it.
pub const FRICTION_LENGTH: Parameter = Parameter::number(
    "friction-length",
    Dimension::LENGTH,
    1e-3,
    "how far it goes after a turn until inner friction is nearly at its limit",
)
.positive()
.advanced();

/// The limit of Dahl friction of [rows that turn](Bond::ROWS_OF_FORCE), for Constraints that have such rows beside others.
pub const TURNING_FRICTION_LIMIT: Parameter = Parameter::number(
    "turning-friction-limit",
    Dimension::ENERGY,
    0.0,
    "torque of inner friction of each direction that is held, which does not depend on speed (Dahl)",
)
.not_negative()
.advanced();

/// The transition length of Dahl friction of rows that turn.
pub const TURNING_FRICTION_LENGTH: Parameter = Parameter::number(
    "turning-friction-length",
    Dimension::ANGLE,
    0.1,
    "how far it turns after a change of direction until inner friction is nearly at its limit",
)
.positive()
.advanced();

/// Stiffness or multipliers: every Constraint has it.
pub const SOLVED_BY: Parameter = Parameter::choice(
    "solved-by",
    &[
        ("stiffness", "forces and their derivatives; for what is soft"),
        ("multipliers", "Lagrange multipliers; for what is stiff"),
    ],
    "how it enters the coupled system",
)
.advanced();

/// A Constraint that chooses its points.
pub trait Bond<const M: usize, const N: usize>:
    Constraint<M, N, Element: Pod> + Send + Sized + 'static
{
    /// The names of the numbers that an element remembers, in order: its rest state.
    const REST: &'static [&'static str];

    /// Parameters that may vary from element to element: their values stand in an element behind its rest state, in this
    /// order. Where points of an element have the parameter's channel, it is the mean of those; else that of the Objects
    /// whose input says so as a whole; else what the scene says.
    const VARIES: &'static [&'static str] = &[];

    /// Channels of its points that an element takes the mean of; they stand behind varying parameters, in this order. Objects
    /// whose boundary particles lack any of them have no elements.
    const MATERIAL: &'static [&'static str] = &[];

    /// How many rows, the first ones, `friction-limit` and `friction-length` are of. The others turn where these move, and have parameters of
    /// their own: a torque is no force.
    const ROWS_OF_FORCE: usize = M;

    /// Whether elements are of an Object's own shape: they are at rest in its [shape at rest](crate::offers::Rods::at_rest), where it has one apart.
    const OF_SHAPE: bool = false;

    /// Whether elements [keep](Self::keep) anything.
    const KEEPS: bool = false;

    /// Whether the last point of an element may be a place on the surface of a target.
    const ON_SURFACES: bool = false;

    /// Makes it from the values of its parameters.
    fn create(ingest: &mut Ingest<'_>) -> Result<Self>;

    /// Takes the values of this moment.
    fn update(&mut self, ingest: &mut Ingest<'_>) -> Result<()> {
        *self = Self::create(ingest)?;
        Ok(())
    }

    /// Whether it can act on an Object that offers this.
    fn suits(_offers: &Offers) -> bool {
        true
    }

    /// Chooses points.
    fn emit(&self, ends: &[End<'_>]) -> Result<Chosen<N>>;

    /// Whether it is sure to choose no points, of Objects that have edges or have none: it takes no part then.
    fn is_idle(&self, _with_edges: bool) -> bool {
        false
    }

    /// Whether it looks at surfaces when it chooses points, if it [can be on them](Self::ON_SURFACES).
    fn looks_at_surfaces(&self) -> bool {
        Self::ON_SURFACES
    }

    /// Whether points are chosen anew in every step.
    fn emits_every_step(&self) -> bool {
        false
    }

    /// The rest state of an element that begins here. What it says of varying parameters is not read.
    fn rest(&self, at: &[Placed; N]) -> Self::Element;

    /// What an element keeps of where a step has ended, beside friction and multipliers; nothing, usually.
    fn keep(&self, _element: &mut Self::Element, _at: &[Placed; N]) {}

    /// Whether any of its rows is hard, so that only multipliers can hold it.
    fn is_hard(&self) -> bool {
        false
    }

    /// How far its elements reach.
    fn reach(&self) -> Reach {
        Reach::Local
    }
}

/// "Springs."
pub(crate) struct ConstraintBehavior<B: Bond<M, N>, const M: usize, const N: usize> {
    action: Option<Hosted<Bound<B, M, N>>>,
}

impl<B: Bond<M, N>, const M: usize, const N: usize> ConstraintBehavior<B, M, N> {
    pub fn new() -> Self {
        Self { action: None }
    }
}

impl<B: Bond<M, N>, const M: usize, const N: usize> Behavior for ConstraintBehavior<B, M, N> {
    fn ingest(&mut self, _: &mut Ingest<'_>) -> Result<()> {
        Ok(())
    }

    fn bind(&mut self, ingest: &mut Ingest<'_>, scope: &[ObjectId]) -> Result<()> {
        let declaration = ingest.scope.declaration;
        let to = declaration.parameter("to").map(|_| ingest.values().optional_text("to"));
        let targets = to.transpose()?.flatten().map_or(Vec::new(), |path| (ingest.targets)(&path));
        let mut ends: Vec<(ObjectId, bool)> =
            scope.iter().map(|object| (*object, targets.contains(object))).collect();
        let outside = targets.iter().filter(|object| !scope.contains(object));
        ends.extend(outside.map(|object| (*object, true)));
        ends.retain(|(object, is_target)| {
            let offers = &ingest.world.object(*object).offers;
            let on_surface = B::ON_SURFACES && *is_target && surface::is_offered(offers);
            (offers.boundary.is_some() || on_surface) && B::suits(offers)
        });
        if ends.is_empty() {
            return Ok(());
        }
        let bond = B::create(ingest)?;
        let edges = |object: &ObjectId| ingest.world.object(*object).offers.edges.as_deref();
        if bond.is_idle(ends.iter().any(|(object, _)| edges(object).is_some_and(|e| !e.is_empty())))
        {
            return Ok(());
        }
        let mut elements = ElementSet::new(ingest.path);
        for n in 0..N {
            elements.add_channel(&ChannelSpec::new(format!("object-{n}"), 0_u32))?;
            elements.add_channel(&ChannelSpec::new(format!("point-{n}"), 0_u64))?;
        }
        if B::ON_SURFACES {
            on_surface::add_channels(&mut elements)?;
        }
        for name in B::REST {
            elements.add_channel(&ChannelSpec::new(*name, 0.0_f64))?;
        }
        for m in 0..M {
            elements.add_channel(&ChannelSpec::new(format!("friction-{m}"), 0.0_f64))?;
            elements.add_channel(&ChannelSpec::new(format!("multiplier-{m}"), 0.0_f64))?;
        }
        for (object, _) in &ends {
            ingest.world.objects[object.0].coupled = true;
        }
        let store = ingest.world.elements.add(elements);
        let damping = Rows::of(&bond, ingest.scope, ingest.time)?;
        let label = declaration.name;
        let scope = Arc::new(ingest.scope.clone());
        let time = ingest.time;
        let bound = Bound { bond, label, scope, store, ends, damping, time, batches: Vec::new() };
        let mut action = Hosted::new(bound);
        let world = &*ingest.world;
        action.host(|bound, on| bound.tasks(on, world));
        self.action = Some(action);
        Ok(())
    }

    fn update(&mut self, ingest: &mut Ingest<'_>) -> Result<()> {
        let Some(action) = &mut self.action else { return Ok(()) };
        action.it.bond.update(ingest)?;
        action.it.damping = Rows::of(&action.it.bond, ingest.scope, ingest.time)?;
        Ok(())
    }

    fn look_at_start(&mut self, world: &World, now: &Moment) -> Result<()> {
        self.action.as_ref().map_or(Ok(()), |action| action.it.look_at_start(world, now))
    }

    fn workers(&mut self) -> Vec<&mut dyn Worker> {
        self.action.iter_mut().map(|action| action as &mut dyn Worker).collect()
    }

    fn coupling(&mut self) -> Option<&mut dyn Coupling> {
        self.action.as_mut().map(|action| &mut action.it as &mut dyn Coupling)
    }

    fn elastic_energy(&self, world: &World) -> Result<f64> {
        self.action.as_ref().map_or(Ok(0.0), |action| action.it.elastic_energy(world))
    }
}

/// Refuses a declared element that is not made of the numbers it names.
pub(crate) const fn check_rest<E>(names: usize) {
    assert!(
        size_of::<E>() == 8 * names,
        "an element is made of exactly the numbers that REST and VARIES name"
    );
}
