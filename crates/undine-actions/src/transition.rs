//! Particles go from Group to Group: out of one Object and into another, with all they have.
//!
//! Mass and velocity are copied bit for bit, so that mass and momentum are the same before and after, to the last bit of each
//! particle. Channels that both have go along, and those that only the new one has begin at their defaults. The new Object
//! gives a new id, in the order of the old ones; the old one is kept in `source-id`.

use crate::criteria::{
    ABOVE, BELOW, CHANNEL, Criteria, FASTER, INSIDE, OLDER, OUTSIDE, SLOWER, flat,
};
use undine_core::ChannelSpec;
use undine_schema::{Declaration, Kind, Parameter, Type};
use undine_sim::offers::Spatial;
use undine_sim::{Ingest, Moment, ObjectId, Operator, Result, Stage, StoreId, Tasks, World};

/// "Particles go over to another Group."
pub const DECLARATION: Declaration = Declaration {
    name: "transition",
    kind: Kind::Operator,
    doc: "Lets particles go over to another Group, with their mass and momentum",
    about: "Those in its scope of which all holds that is said here go to the Object named by `to`. Channels of the same name go \
            along. They get new ids there, and keep the old ones in `source-id`. Where several let the same particle go, \
            the first has it.",
    parameters: &[
        Parameter::new(
            "to",
            Type::Target,
            "where they go: an Object's Behavior, or a Group with one",
        ),
        INSIDE,
        OUTSIDE,
        FASTER,
        SLOWER,
        OLDER,
        CHANNEL,
        ABOVE,
        BELOW,
    ],
    example: "transition to=\"mist\" slower-than=\"20 cm/s\"",
};

/// The channel with the id that a particle had before it came.
pub const SOURCE_ID: &str = "source-id";

/// Lets particles go over.
pub struct Transition {
    from: Vec<(ObjectId, Spatial)>,
    to: (ObjectId, Spatial),
    criteria: Criteria,
}

impl Operator for Transition {
    fn create(ingest: &mut Ingest<'_>, scope: &[ObjectId]) -> Result<Option<Self>> {
        let path = ingest.values().text("to")?;
        let targets = (ingest.targets)(&path);
        let port = |ingest: &Ingest<'_>, id: ObjectId| {
            Some((id, ingest.world.object(id).offers.port?.particles))
        };
        let Some(to) = targets.into_iter().find_map(|id| port(ingest, id)) else {
            let what = format!("nothing in `{path}` takes particles");
            return Err(ingest.bad("to", what, "name `particles`, or a Group that has some"));
        };
        let from: Vec<_> = scope
            .iter()
            .filter_map(|id| port(ingest, *id))
            .filter(|(_, spatial)| spatial.particles != to.1.particles)
            .collect();
        if from.is_empty() {
            return Ok(None);
        }
        let criteria = Criteria::of(ingest)?;
        let store = &mut ingest.world.particles[to.1.particles];
        if store.handle::<u64>(SOURCE_ID).is_err() {
            store.add_channel(&ChannelSpec::new(SOURCE_ID, u64::MAX))?;
        }
        Ok(Some(Self { from, to, criteria }))
    }

    fn update(&mut self, ingest: &mut Ingest<'_>) -> Result<()> {
        self.criteria = Criteria::of(ingest)?;
        Ok(())
    }

    fn tasks(&self, on: &mut Tasks<Self>) {
        let stores = self.from.iter().chain([&self.to]).map(|(_, spatial)| spatial.particles);
        // Several may let particles go at this Stage: each takes some out and adds them elsewhere, in turn.
        on.task(Stage::GroupExit, "go over", Self::go_over)
            .accumulates(stores.map(|store| StoreId::from(store).everything()));
    }
}

impl Transition {
    fn go_over(&mut self, world: &mut World, _: &Moment) -> Result<()> {
        for (object, spatial) in &self.from {
            let who = self.criteria.who(world, *object, (*spatial).into())?;
            if !world.processes().any(who.iter().any(|places| !places.is_empty()))? {
                continue;
            }
            let (to, domain) = (self.to.1.particles, world.object(self.to.0).domain);
            let source = &world.particles[spatial.particles];
            let mut leaving = flat(&who);
            {
                let ids = source.column(source.id())?;
                leaving.sort_by_key(|&(slot, place)| ids.chunk(slot)[place as usize]);
            }
            let mut batch = source.batch_for(&world.particles[to], &leaving)?;
            let ids = batch.parents().to_vec();
            batch.set(SOURCE_ID, &ids)?;
            world.particles[to].append_in_order(&world.domains[domain], batch, &ids)?;
            world.particles[spatial.particles].delete(&who)?;
        }
        Ok(())
    }
}
