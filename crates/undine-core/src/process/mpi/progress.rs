//! Progress: keeping transfers moving while the program computes.
//!
//! MPI moves large messages only inside its own calls (Open MPI and MPICH both: the receiver must answer before the bulk
//! is sent). A program that starts a halo, works on interior Buckets and then asks for the halo would find it not begun.
//! So a thread calls MPI now and then, but only while something is under way.

use super::Shared;
use std::{
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    thread::{self, JoinHandle},
    time::Duration,
};

/// How often MPI is called while something is under way: some percent of a core, and little delay.
const PERIOD: Duration = Duration::from_micros(100);

/// The progress thread, asleep unless something is under way.
#[derive(Default)]
pub(super) struct Progress {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    under_way: usize,
    stopped: bool,
    thread: Option<JoinHandle<()>>,
}

impl Progress {
    /// Whether anything is under way.
    pub fn is_busy(&self) -> bool {
        self.lock().under_way > 0
    }

    /// Ends the thread, if there is one.
    pub fn stop(&self) {
        self.lock().stopped = true;
        self.changed.notify_all();
        let thread = self.lock().thread.take();
        // The thread cannot have panicked: that would have ended every process.
        thread.map(JoinHandle::join);
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns when something is under way, or `false` when there never will be.
    fn wait(&self) -> bool {
        let idle = |state: &mut State| state.under_way == 0 && !state.stopped;
        let state =
            self.changed.wait_while(self.lock(), idle).unwrap_or_else(PoisonError::into_inner);
        !state.stopped
    }
}

/// Something is under way for as long as this lives.
pub(super) struct UnderWay(Arc<Shared>);

impl UnderWay {
    /// Wakes the progress thread, or starts it at the first call.
    pub fn begin(shared: &Arc<Shared>) -> UnderWay {
        let mut state = shared.progress.lock();
        state.under_way += 1;
        if state.thread.is_none() && !state.stopped {
            let runner = Arc::clone(shared);
            // Where no thread can be had, transfers move when they are finished, only later.
            state.thread =
                thread::Builder::new().name("undine-mpi".into()).spawn(move || run(&runner)).ok();
        }
        drop(state);
        shared.progress.changed.notify_all();
        UnderWay(Arc::clone(shared))
    }
}

impl Drop for UnderWay {
    fn drop(&mut self) {
        self.0.progress.lock().under_way -= 1;
    }
}

fn run(shared: &Shared) {
    while shared.progress.wait() {
        // If another thread is inside MPI, things move without our help.
        if let Ok(library) = shared.library.try_lock()
            && let Some(library) = library.as_ref()
        {
            library.poke();
        }
        thread::sleep(PERIOD);
    }
}
