//! A Simulation as benchmarks see it: how long a frame takes, how much there is, and the hash of its state.

use crate::Result;
use crate::hash::StableHash;
use std::time::Instant;
use undine_sim::report::{Observer, SubstepReport};
use undine_sim::{Simulation, registry};

/// What contacts took, as an observer of frames.
#[derive(Debug, Default, Clone, Copy)]
pub struct Swept {
    /// Contacts of the largest solve.
    pub contacts: usize,
    /// Sweeps of all solves.
    pub sweeps: usize,
    /// Visits of a contact in a sweep.
    pub visits: usize,
}

impl Observer for Swept {
    fn substep(&mut self, substep: &SubstepReport) {
        for solve in substep.solves.iter().filter(|solve| solve.system == "contacts") {
            self.contacts = self.contacts.max(solve.unknowns);
            self.sweeps += solve.iterations;
            self.visits += solve.iterations * solve.unknowns;
        }
    }
}

/// Simulates a frame, and tells how long it took [s].
pub fn frame(simulation: &mut Simulation, observer: &mut dyn Observer) -> Result<f64> {
    let began = Instant::now();
    simulation.advance_frame(observer, |_, _| Ok(()))?;
    Ok(began.elapsed().as_secs_f64())
}

/// How many voxels its volumes have.
pub fn voxels(simulation: &Simulation) -> u64 {
    let volumes = simulation.world.volumes.iter();
    volumes.map(|(_, volume)| 512 * volume.topology().local() as u64).sum()
}

/// The hash of all that is kept from frame to frame.
pub fn hash(simulation: &Simulation) -> Result<u64> {
    let mut hash = StableHash::default();
    for store in registry::digests(&simulation.world)? {
        let kept = store.channels.iter().filter(|channel| channel.checkpoint);
        kept.for_each(|channel| hash.write(&[channel.digest]));
    }
    Ok(hash.finish())
}
