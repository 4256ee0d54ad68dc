//! A sink: particles end there.

use crate::criteria::{
    ABOVE, Asked, BELOW, CHANNEL, Criteria, FASTER, INSIDE, OLDER, OUTSIDE, SLOWER, flat,
};
use undine_core::{ChannelSpec, Handle};
use undine_schema::{Declaration, Kind, Parameter};
use undine_sim::elements::ElementSet;
use undine_sim::{Id, Ingest, Moment, ObjectId, Operator, Result, Stage, StoreId, Tasks, World};

/// "Particles end."
pub const DECLARATION: Declaration = Declaration {
    name: "kill",
    kind: Kind::Operator,
    doc: "Ends particles, with their mass and momentum",
    about: "Those in its scope of which all holds that is said here; those that carry a fluid, too.",
    parameters: &[INSIDE, OUTSIDE, FASTER, SLOWER, OLDER, CHANNEL, ABOVE, BELOW, TELL],
    example: "kill outside=\"stage\"",
};

/// Whether it tells what goes.
const TELL: Parameter = Parameter::flag(
    "tell",
    false,
    "says how many have gone whenever some go, and how heavy they are",
)
.advanced();

/// Ends particles.
pub struct Kill {
    on: Vec<(ObjectId, Asked)>,
    criteria: Criteria,
    /// Nothing, where it goes unsaid what goes.
    tells: Option<Teller>,
}

/// Tells how many have gone. The count is in a channel, so that a run that is resumed goes on with it.
struct Teller {
    /// Where the Operator stands in the scene.
    path: String,
    /// An element for each Object.
    store: Id<ElementSet>,
    /// How many of it have gone since the simulation began, on all processes.
    gone: Handle<u64>,
}

impl Operator for Kill {
    fn create(ingest: &mut Ingest<'_>, scope: &[ObjectId]) -> Result<Option<Self>> {
        let asked = |id: &ObjectId| Some((*id, Asked::of(&ingest.world.object(*id).offers)?));
        let on: Vec<_> = scope.iter().filter_map(asked).collect();
        if on.is_empty() {
            return Ok(None);
        }
        let criteria = Criteria::of(ingest)?;
        let tells = match ingest.values().flag(TELL.name)? {
            true => Some(Teller::new(ingest, on.len())?),
            false => None,
        };
        Ok(Some(Self { on, criteria, tells }))
    }

    fn update(&mut self, ingest: &mut Ingest<'_>) -> Result<()> {
        self.criteria = Criteria::of(ingest)?;
        Ok(())
    }

    fn tasks(&self, on: &mut Tasks<Self>) {
        let stores = self.on.iter().map(|(_, on)| StoreId::from(on.particles));
        let counts = self.tells.iter().map(|tells| StoreId::from(tells.store).everything());
        // Several may take particles out at this Stage, in turn.
        on.task(Stage::GroupExit, "end", Self::end)
            .accumulates(stores.map(|store| store.everything()))
            .writes(counts);
    }
}

impl Kill {
    fn end(&mut self, world: &mut World, _: &Moment) -> Result<()> {
        for (n, (object, on)) in self.on.iter().enumerate() {
            let who = self.criteria.who(world, *object, *on)?;
            // Where anybody goes, on whatever process, all know it.
            if !world.processes().any(who.iter().any(|places| !places.is_empty()))? {
                continue;
            }
            if let Some(teller) = &self.tells {
                let mass = world.particles[on.particles].column(on.mass)?;
                let all = flat(&who);
                let kilograms: f64 =
                    all.iter().map(|&(slot, n)| f64::from(mass.chunk(slot)[n as usize])).sum();
                drop(mass);
                teller.tell(world, (n, *object), all.len() as u64, kilograms)?;
            }
            world.particles[on.particles].delete(&who)?;
        }
        Ok(())
    }
}

impl Teller {
    fn new(ingest: &mut Ingest<'_>, objects: usize) -> Result<Self> {
        let mut elements = ElementSet::new(ingest.path);
        elements.resize(objects);
        let gone = elements.add_channel(&ChannelSpec::new("gone", 0_u64))?;
        let store = ingest.world.elements.add(elements);
        Ok(Self { path: ingest.path.to_owned(), store, gone })
    }

    /// Counts those of an Object that go from this process, and has the first say how many go from all. Collective.
    fn tell(
        &self,
        world: &mut World,
        (n, object): (usize, ObjectId),
        own: u64,
        kilograms: f64,
    ) -> Result<()> {
        let processes = world.processes().clone();
        let count = processes.all_sum_u64(own)?;
        let kilograms = processes.all_sum_f64(kilograms)?;
        let mut column = world.elements[self.store].column_mut(self.gone)?;
        column[n] += count;
        let gone = column[n];
        drop(column);
        if processes.rank() == 0 {
            tracing::info!(
                "`{}` has ended {count} particles of `{}` of {kilograms:.3e} kg, {gone} since the simulation began",
                self.path,
                world.object(object).path,
            );
        }
        Ok(())
    }
}
