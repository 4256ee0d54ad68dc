//! Operators: Actions that are neither Forces nor Constraints. They keep mass and momentum themselves (Loki, §6.4).

use crate::behavior::{Behavior, Ingest};
use crate::coupling::Coupling;
use crate::error::Result;
use crate::offers::{ObjectId, Skin};
use crate::task::{Hosted, Moment, Tasks, Worker};
use crate::world::World;

/// An Action that does anything: moves particles between Groups, keeps them out of colliders, guides them.
pub trait Operator: Send + Sized + 'static {
    /// Makes the Action on the Objects of its scope; `None` if nothing in it can be acted on.
    fn create(ingest: &mut Ingest<'_>, scope: &[ObjectId]) -> Result<Option<Self>>;

    /// Takes the values of this moment.
    fn update(&mut self, _ingest: &mut Ingest<'_>) -> Result<()> {
        Ok(())
    }

    /// Lists its Tasks.
    fn tasks(&self, on: &mut Tasks<Self>);

    /// Looks at where everything begins, and changes nothing: refuses what its first step would refuse.
    fn look_at_start(&mut self, _world: &World, _now: &Moment) -> Result<()> {
        Ok(())
    }

    /// The Objects that it brings something into between two times [s], and how fast that is at most when it comes [m/s]: steps are as short as that
    /// needs before any of it is there. `None` of what never brings anything.
    fn brings(&self, _times: [f64; 2]) -> Option<Vec<(ObjectId, f64)>> {
        None
    }

    /// What it adds to the coupled system, if anything.
    fn coupling(&mut self) -> Option<&mut dyn Coupling> {
        None
    }

    /// The mesh that it has written with every frame, if any.
    fn skin(&self) -> Option<&Skin> {
        None
    }
}

/// "Particles bounce."
pub(crate) struct OperatorBehavior<O> {
    action: Option<Hosted<O>>,
}

impl<O: Operator> OperatorBehavior<O> {
    pub fn new() -> Self {
        Self { action: None }
    }
}

impl<O: Operator> Behavior for OperatorBehavior<O> {
    fn ingest(&mut self, _: &mut Ingest<'_>) -> Result<()> {
        Ok(())
    }

    fn bind(&mut self, ingest: &mut Ingest<'_>, scope: &[ObjectId]) -> Result<()> {
        self.action = O::create(ingest, scope)?.map(Hosted::new);
        if let Some(action) = &mut self.action {
            action.host(O::tasks);
        }
        Ok(())
    }

    fn update(&mut self, ingest: &mut Ingest<'_>) -> Result<()> {
        self.action.as_mut().map_or(Ok(()), |action| action.it.update(ingest))
    }

    fn look_at_start(&mut self, world: &World, now: &Moment) -> Result<()> {
        self.action.as_mut().map_or(Ok(()), |action| action.it.look_at_start(world, now))
    }

    fn brings(&self, times: [f64; 2]) -> Option<Vec<(ObjectId, f64)>> {
        self.action.as_ref().and_then(|action| action.it.brings(times))
    }

    fn coupling(&mut self) -> Option<&mut dyn Coupling> {
        self.action.as_mut().and_then(|action| action.it.coupling())
    }

    fn skin(&self) -> Option<&Skin> {
        self.action.as_ref().and_then(|action| action.it.skin())
    }

    fn workers(&mut self) -> Vec<&mut dyn Worker> {
        self.action.iter_mut().map(|action| action as &mut dyn Worker).collect()
    }
}
