//! Objects: what is simulated through time. An Object lists its Tasks, and offers what Actions may act on.

use crate::arena::Id;
use crate::behavior::{Behavior, Ingest};
use crate::budget::Budget;
use crate::error::Result;
use crate::offers::ObjectId;
use crate::task::{Hosted, Tasks, Worker};
use crate::timeline::Courant;
use crate::world::{StoreId, World};
use undine_core::DiscreteVolume;

/// Something simulated through time.
pub trait Object: Send + Sized + 'static {
    /// Makes the Objects that the scene asks for, and enters them into the World ([`Ingest::offer`]). Nothing to simulate
    /// makes no Object: whatever depends on it is then left out.
    fn create(ingest: &mut Ingest<'_>) -> Result<Vec<Self>>;

    /// Takes the values of this moment, where parameters are animated.
    fn update(&mut self, _ingest: &mut Ingest<'_>) -> Result<()> {
        Ok(())
    }

    /// Its place in the World.
    fn id(&self) -> ObjectId;

    /// Lists its Tasks, in the order of a step.
    fn tasks(&self, on: &mut Tasks<Self>);

    /// What it has of mass, momentum and energy: all of it, on every process ([`Budget::of_all`]).
    fn budget(&self, world: &World) -> Result<Budget>;

    /// The longest step it can take [s], where nothing may go farther than the Courant number allows.
    fn longest_step(&self, _world: &World, _courant: &Courant) -> Result<f64> {
        Ok(f64::INFINITY)
    }

    /// Which stores go into a frame's files, and under which names; `None` is the Object's own name.
    fn output(&self) -> Vec<(Option<&'static str>, StoreId)>;

    /// Channels that files and pictures have in place of those of the same names of one of its volumes, found for the moment that
    /// they show: those of a step may be of its beginning, or go on where nothing is to be seen. Collective.
    fn shown(&self, _world: &World, _of: Id<DiscreteVolume>) -> Result<Option<DiscreteVolume>> {
        Ok(None)
    }
}

/// An Object whose type is not known.
pub trait AnyObject {
    /// Its place in the World.
    fn id(&self) -> ObjectId;

    /// What it has of mass, momentum and energy.
    fn budget(&self, world: &World) -> Result<Budget>;

    /// The longest step it can take [s], where nothing may go farther than the Courant number allows.
    fn longest_step(&self, world: &World, courant: &Courant) -> Result<f64>;

    /// Which stores go into a frame's files, and under which names.
    fn output(&self) -> Vec<(Option<&'static str>, StoreId)>;

    /// What files and pictures have in place of channels of one of its volumes. Collective.
    fn shown(&self, world: &World, of: Id<DiscreteVolume>) -> Result<Option<DiscreteVolume>>;
}

impl<O: Object> AnyObject for Hosted<O> {
    fn id(&self) -> ObjectId {
        self.it.id()
    }

    fn budget(&self, world: &World) -> Result<Budget> {
        self.it.budget(world)
    }

    fn longest_step(&self, world: &World, courant: &Courant) -> Result<f64> {
        self.it.longest_step(world, courant)
    }

    fn output(&self) -> Vec<(Option<&'static str>, StoreId)> {
        self.it.output()
    }

    fn shown(&self, world: &World, of: Id<DiscreteVolume>) -> Result<Option<DiscreteVolume>> {
        self.it.shown(world, of)
    }
}

/// "There is …".
pub(crate) struct ObjectBehavior<O> {
    objects: Vec<Hosted<O>>,
}

impl<O: Object> ObjectBehavior<O> {
    pub fn new() -> Self {
        Self { objects: Vec::new() }
    }
}

impl<O: Object> Behavior for ObjectBehavior<O> {
    fn ingest(&mut self, ingest: &mut Ingest<'_>) -> Result<()> {
        self.objects = O::create(ingest)?.into_iter().map(Hosted::new).collect();
        self.objects.iter_mut().for_each(|object| object.host(O::tasks));
        Ok(())
    }

    fn bind(&mut self, _: &mut Ingest<'_>, _: &[ObjectId]) -> Result<()> {
        Ok(())
    }

    fn update(&mut self, ingest: &mut Ingest<'_>) -> Result<()> {
        self.objects.iter_mut().try_for_each(|object| object.it.update(ingest))
    }

    fn workers(&mut self) -> Vec<&mut dyn Worker> {
        self.objects.iter_mut().map(|object| object as &mut dyn Worker).collect()
    }

    fn objects(&self) -> Vec<&dyn AnyObject> {
        self.objects.iter().map(|object| object as &dyn AnyObject).collect()
    }
}
