//! A sink: particles end there.

use crate::criteria::{
    ABOVE, Asked, BELOW, CHANNEL, Criteria, FASTER, INSIDE, OLDER, OUTSIDE, SLOWER, flat,
};
use undine_schema::{Declaration, Kind, Parameter};
use undine_sim::{Ingest, Moment, ObjectId, Operator, Result, Stage, StoreId, Tasks, World};

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
    /// Where it stands in the scene, if it tells what goes.
    tells: Option<String>,
    /// How many have gone of each Object since the run began.
    gone: Vec<u64>,
}

impl Operator for Kill {
    fn create(ingest: &mut Ingest<'_>, scope: &[ObjectId]) -> Result<Option<Self>> {
        let asked = |id: &ObjectId| Some((*id, Asked::of(&ingest.world.object(*id).offers)?));
        let on: Vec<_> = scope.iter().filter_map(asked).collect();
        if on.is_empty() {
            return Ok(None);
        }
        let tells = ingest.values().flag(TELL.name)?.then(|| ingest.path.to_owned());
        let gone = vec![0; on.len()];
        Ok(Some(Self { on, criteria: Criteria::of(ingest)?, tells, gone }))
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
        for ((object, on), gone) in self.on.iter().zip(&mut self.gone) {
            let who = self.criteria.who(world, *object, *on)?;
            // Where anybody goes, on whatever process, all know it.
            if !world.processes().any(who.iter().any(|places| !places.is_empty()))? {
                continue;
            }
            if let Some(path) = &self.tells {
                let mass = world.particles[on.particles].column(on.mass)?;
                let all = flat(&who);
                let kilograms: f64 =
                    all.iter().map(|&(slot, n)| f64::from(mass.chunk(slot)[n as usize])).sum();
                *gone += all.len() as u64;
                if !all.is_empty() {
                    tracing::warn!(
                        "`{path}` has ended {} particles of `{}` of {kilograms:.3e} kg, {gone} since the run began",
                        all.len(),
                        world.object(*object).path,
                    );
                }
            }
            world.particles[on.particles].delete(&who)?;
        }
        Ok(())
    }
}
