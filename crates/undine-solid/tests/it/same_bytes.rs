//! A run has the same bytes when it goes on from a checkpoint, and on any number of threads: what tests of all kinds of solids ask.

use crate::scene::frames;
use std::io::Cursor;
use undine_sim::Simulation;
use undine_sim::checkpoint::{Identity, State, load, save};
use undine_sim::simulation::Clock;

/// Holds a run of twice as many frames as `half` against one that is resumed in its middle, and against those on one thread and on three.
pub fn check(half: usize, begin: impl Fn() -> Simulation + Sync) {
    let mut whole = begin();
    frames(&mut whole, half);
    let checkpoint = bytes(&whole);
    frames(&mut whole, half);
    let wanted = bytes(&whole);
    let mut resumed = begin();
    let state = load(None, &mut resumed.world, &mut Cursor::new(&checkpoint)).unwrap();
    resumed.set_clock(Clock { frame: state.frame, substeps: state.step });
    assert!(bytes(&resumed) == checkpoint, "what is loaded is what was saved");
    frames(&mut resumed, half);
    assert!(bytes(&resumed) == wanted, "and goes on in the same way");
    for threads in [1, 3] {
        assert!(on_threads(threads, 2 * half, &begin) == wanted, "on {threads} threads");
    }
}

/// The bytes of a run after some frames on a number of threads.
pub fn on_threads(
    threads: usize,
    count: usize,
    begin: impl FnOnce() -> Simulation + Send,
) -> Vec<u8> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    pool.install(|| {
        let mut simulation = begin();
        frames(&mut simulation, count);
        bytes(&simulation)
    })
}

fn bytes(simulation: &Simulation) -> Vec<u8> {
    let clock = simulation.clock();
    let state = State { frame: clock.frame, step: clock.substeps, ..State::default() };
    let mut bytes = Vec::new();
    save(&Identity::default(), &state, &simulation.world, &mut bytes).unwrap();
    bytes
}
