//! A sink: particles end there.

use crate::criteria::{
    ABOVE, Asked, BELOW, CHANNEL, Criteria, FASTER, INSIDE, OLDER, OUTSIDE, SLOWER,
};
use undine_schema::{Declaration, Kind};
use undine_sim::{Ingest, Moment, ObjectId, Operator, Result, Stage, StoreId, Tasks, World};

/// "Particles end."
pub const DECLARATION: Declaration = Declaration {
    name: "kill",
    kind: Kind::Operator,
    doc: "Ends particles, with their mass and momentum",
    about: "Those in its scope of which all holds that is said here; those that carry a fluid, too.",
    parameters: &[INSIDE, OUTSIDE, FASTER, SLOWER, OLDER, CHANNEL, ABOVE, BELOW],
    example: "kill outside=\"stage\"",
};

/// Ends particles.
pub struct Kill {
    on: Vec<(ObjectId, Asked)>,
    criteria: Criteria,
}

impl Operator for Kill {
    fn create(ingest: &mut Ingest<'_>, scope: &[ObjectId]) -> Result<Option<Self>> {
        let asked = |id: &ObjectId| Some((*id, Asked::of(&ingest.world.object(*id).offers)?));
        let on: Vec<_> = scope.iter().filter_map(asked).collect();
        if on.is_empty() {
            return Ok(None);
        }
        Ok(Some(Self { on, criteria: Criteria::of(ingest)? }))
    }

    fn update(&mut self, ingest: &mut Ingest<'_>) -> Result<()> {
        self.criteria = Criteria::of(ingest)?;
        Ok(())
    }

    fn tasks(&self, on: &mut Tasks<Self>) {
        let stores = self.on.iter().map(|(_, on)| StoreId::from(on.particles));
        // Several may take particles out at this Stage, in turn.
        on.task(Stage::GroupExit, "end", Self::end)
            .accumulates(stores.map(|store| store.everything()));
    }
}

impl Kill {
    fn end(&mut self, world: &mut World, _: &Moment) -> Result<()> {
        for (object, on) in &self.on {
            let who = self.criteria.who(world, *object, *on)?;
            // Where anybody goes, on whatever process, all know it.
            if world.processes().any(who.iter().any(|places| !places.is_empty()))? {
                world.particles[on.particles].delete(&who)?;
            }
        }
        Ok(())
    }
}
