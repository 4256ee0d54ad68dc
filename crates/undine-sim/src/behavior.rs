//! Behaviors: what the user declares. A Behavior ingests its inputs, creates and owns Objects and Actions, and keeps them up
//! to date with animated values.
//!
//! Nobody writes a Behavior by hand: an Object, Force, Constraint or Operator with a [`Declaration`] becomes one
//! ([`BehaviorKind::object`], [`BehaviorKind::force`], …).

use crate::action::constraint::{Bond, ConstraintBehavior, check_rest};
use crate::action::force::{Force, ForceBehavior, MOST_VARYING};
use crate::action::operator::{Operator, OperatorBehavior};
use crate::arena::Id;
use crate::coupling::Coupling;
use crate::error::{Result, SimError};
use crate::input::{Data, Inputs};
use crate::object::{Object, ObjectBehavior};
use crate::offers::{ObjectId, Offers, Skin};
use crate::task::{Moment, Worker};
use crate::values::Values;
use crate::world::{ObjectEntry, World};
use std::collections::BTreeMap;
use std::sync::Arc;
use undine_core::GridDomain;
use undine_core::glam::DVec3;
use undine_geometry::Solid;
use undine_schema::setup::Scope;
use undine_schema::{Declaration, Value};

/// A kind of Behavior: what it declares, and how one begins.
#[derive(Clone, Copy)]
pub struct BehaviorKind {
    /// Name, doc line and parameters.
    pub declaration: &'static Declaration,
    /// Makes one that has ingested nothing yet.
    pub create: fn() -> Box<dyn Behavior>,
}

impl BehaviorKind {
    /// The Behavior that creates Objects of this type.
    pub const fn object<O: Object>(declaration: &'static Declaration) -> Self {
        Self { declaration, create: || Box::new(ObjectBehavior::<O>::new()) }
    }

    /// The Behavior that creates a Force of this type.
    pub const fn force<F: Force>(declaration: &'static Declaration) -> Self {
        assert!(F::VARIES.len() <= MOST_VARYING, "more parameters vary than a Force can have");
        Self { declaration, create: || Box::new(ForceBehavior::<F>::new()) }
    }

    /// The Behavior that creates a Constraint of this type.
    pub const fn constraint<B: Bond<M, N>, const M: usize, const N: usize>(
        declaration: &'static Declaration,
    ) -> Self {
        check_rest::<B::Element>(B::REST.len() + B::VARIES.len() + B::MATERIAL.len());
        Self { declaration, create: || Box::new(ConstraintBehavior::<B, M, N>::new()) }
    }

    /// The Behavior that creates an Operator of this type.
    pub const fn operator<O: Operator>(declaration: &'static Declaration) -> Self {
        Self { declaration, create: || Box::new(OperatorBehavior::<O>::new()) }
    }
}

/// A leaf of the Solver Setup at work.
pub trait Behavior: Send {
    /// Creates its Objects from what the scene says; for an Action, nothing yet.
    fn ingest(&mut self, ingest: &mut Ingest<'_>) -> Result<()>;

    /// Creates its Action on these Objects, which are all there are in its scope.
    fn bind(&mut self, ingest: &mut Ingest<'_>, scope: &[ObjectId]) -> Result<()>;

    /// Hands on the values of this moment. Runs when a substep begins.
    fn update(&mut self, ingest: &mut Ingest<'_>) -> Result<()>;

    /// Its Objects and Actions.
    fn workers(&mut self) -> Vec<&mut dyn Worker>;

    /// Looks at where everything begins, and changes nothing: refuses what its first step would refuse.
    fn look_at_start(&mut self, _world: &World, _now: &Moment) -> Result<()> {
        Ok(())
    }

    /// Its Constraint, as the coupled system sees it.
    fn coupling(&mut self) -> Option<&mut dyn Coupling> {
        None
    }

    /// The energy of the places of what it acts on [J], for a Force that has a potential.
    fn potential_energy(&self, _world: &World) -> Result<f64> {
        Ok(0.0)
    }

    /// The energy of a Constraint [J], where its points are now. Collective.
    fn elastic_energy(&self, _world: &World) -> Result<f64> {
        Ok(0.0)
    }

    /// The size of the acceleration that it gives to everything in its scope alike [m/s²], for a Force that does.
    fn acceleration(&self) -> f64 {
        0.0
    }

    /// The Objects that it brings something into between two times [s], and how fast that is at most when it comes [m/s]; `None` of what never
    /// brings anything.
    fn brings(&self, _times: [f64; 2]) -> Option<Vec<(ObjectId, f64)>> {
        None
    }

    /// The mesh that it has written with every frame, if any.
    fn skin(&self) -> Option<&Skin> {
        None
    }

    /// Its Objects, as Objects.
    fn objects(&self) -> Vec<&dyn crate::object::AnyObject> {
        Vec::new()
    }
}

/// What a Behavior finds when it ingests, and when it is brought up to date.
pub struct Ingest<'a> {
    /// Its path in the setup.
    pub path: &'a str,
    /// What its parameters are set to, here and on the Groups around it.
    pub scope: &'a Scope,
    /// The time [s]: that of the end of the step that is about to be made.
    pub time: f64,
    /// When that step begins [s]; the same as `time` when it ingests.
    pub since: f64,
    /// Data from outside.
    pub inputs: &'a dyn Inputs,
    /// All simulated state.
    pub world: &'a mut World,
    /// Objects by the path of the Behavior that made them, for parameters that name a target.
    pub targets: &'a dyn Fn(&str) -> Vec<ObjectId>,
}

impl Ingest<'_> {
    /// The values of its parameters, for no Object in particular.
    pub fn values(&self) -> Values<'_> {
        Values::new(self.scope, self.time)
    }

    /// The data that a parameter names.
    pub fn data(&self, parameter: &str) -> Result<Arc<Data>> {
        let name = self.values().text(parameter)?;
        self.inputs.data(&name, self.time)
    }

    /// The data that a parameter names, where it names one.
    pub fn optional_data(&self, parameter: &str) -> Result<Option<Arc<Data>>> {
        match self.values().optional_text(parameter)? {
            Some(name) => self.inputs.data(&name, self.time).map(Some),
            None => Ok(None),
        }
    }

    /// The inside of the input that a parameter names, at this time; `None` where it names none, or an empty one.
    pub fn optional_solid(&self, parameter: &str) -> Result<Option<Arc<dyn Solid + Send>>> {
        match self.optional_data(parameter)? {
            Some(data) if !data.is_empty() => {
                let wrong = |why: SimError| self.input_fault(parameter, why);
                data.solid(self.time).map(Some).map_err(wrong)
            }
            _ => Ok(None),
        }
    }

    /// What is wrong with the input that a parameter names, told of the parameter.
    pub fn input_fault(&self, parameter: &str, why: SimError) -> SimError {
        why.told_of(|_| format!("{}.{parameter}", self.path))
    }

    /// Refuses elements for which there is no room, before any of them is made: so many, with so many bytes each.
    pub fn check_room(&self, noun: &str, count: usize, each: u64) -> Result<()> {
        let wanted = (count as u64).saturating_mul(each);
        Ok(self.world.budget.check(&format!("{count} {noun}"), wanted)?)
    }

    /// Enters an Object into the World.
    pub fn offer(
        &mut self,
        domain: Id<GridDomain>,
        attributes: BTreeMap<String, Value>,
        offers: Offers,
    ) -> ObjectId {
        self.world.objects.push(ObjectEntry {
            path: self.path.to_owned(),
            offers,
            attributes,
            domain,
            coupled: false,
            swims: false,
            begins_at_rest: false,
            carried: DVec3::ZERO,
        });
        ObjectId(self.world.objects.len() - 1)
    }

    /// The scene says something that does not work.
    pub fn bad(
        &self,
        parameter: &str,
        what: impl Into<String>,
        help: impl Into<String>,
    ) -> SimError {
        SimError::setup(format!("{}.{parameter}", self.path), what, help)
    }
}
