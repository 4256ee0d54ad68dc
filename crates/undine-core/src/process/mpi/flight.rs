//! Operations under way in MPI, and the memory that MPI reads and writes for them.

use super::{Shared, library};
use crate::{
    error::{CoreError, Result},
    process::Parcel,
};
use ::mpi::ffi;
use std::{ffi::c_int, sync::Arc, thread, time::Duration};

/// The process that a request receives from, and how many bytes; `None` if it does not receive.
pub(super) type Expected = Option<(usize, usize)>;

/// MPI requests, and the buffers that belong to MPI until they are over.
///
/// Dropping it waits. If MPI reports an error, nobody knows what it still writes to: the buffers are then never freed.
pub(super) struct Flight<B> {
    shared: Arc<Shared>,
    what: &'static str,
    /// What is under way, and for a request that receives: from whom, and how many bytes.
    requests: Vec<(ffi::MPI_Request, Expected)>,
    /// `None` once landed or lost.
    buffers: Option<B>,
}

// SAFETY: a request is a name that MPI gave, valid on every thread of the process, and is only used behind the mutex of
// `Shared`. The scenario `parcels_travel_from_any_thread` finishes a transfer on another thread than started it.
unsafe impl<B: Send> Send for Flight<B> {}

impl<B> Flight<B> {
    /// Nothing under way yet. `what` is named in errors.
    pub fn new(shared: Arc<Shared>, what: &'static str, buffers: B) -> Flight<B> {
        Flight { shared, what, requests: Vec::new(), buffers: Some(buffers) }
    }

    /// Starts one operation. If it receives, `expected` says from whom and how many bytes.
    ///
    /// # Safety
    /// `start` must begin a non-blocking operation whose memory is owned by the buffers and does not move when they do
    /// (the heap of a `Vec`, not an array), and must write its request unless it fails.
    pub unsafe fn post(
        &mut self,
        expected: Expected,
        start: impl FnOnce(&mut B, ffi::MPI_Comm, *mut ffi::MPI_Request) -> c_int,
    ) -> Result<()> {
        let Flight { shared, what, requests, buffers, .. } = self;
        let Some(buffers) = buffers else { return Ok(()) };
        let posted = shared.with(what, |library| {
            // SAFETY: a constant of the library.
            let mut request = unsafe { ffi::RSMPI_REQUEST_NULL };
            library::check(what, start(buffers, library.world(), &mut request))?;
            requests.push((request, expected));
            Ok(())
        });
        if posted.is_err() {
            self.lose();
        }
        posted
    }

    /// Whether there is nothing to wait for.
    pub fn is_over(&self) -> bool {
        self.requests.is_empty()
    }

    /// Waits, and gives the buffers back.
    pub fn land(mut self) -> Result<B> {
        self.wait()?;
        self.buffers.take().ok_or_else(|| CoreError::Communication {
            what: self.what,
            why: "the buffers were lost to an earlier error".into(),
        })
    }

    /// Waits for one request after the other: all must end, and a test of any moves all.
    fn wait(&mut self) -> Result<()> {
        let (mut patience, mut short) = (Patience::default(), Ok(()));
        let what = self.what;
        while let Some((mut request, expected)) = self.requests.pop() {
            match self.shared.with(what, |_| library::test(what, &mut request)) {
                Ok(None) => {
                    self.requests.push((request, expected));
                    patience.wait();
                }
                Ok(Some(received)) => short = short.and(check_length(what, received, expected)),
                Err(error) => {
                    self.lose();
                    return Err(error);
                }
            }
        }
        short
    }

    /// Gives up after an error. MPI may still use the buffers, which therefore stay where they are for ever.
    fn lose(&mut self) {
        self.requests.clear();
        std::mem::forget(self.buffers.take());
    }
}

impl Flight<(Vec<Parcel>, Vec<Parcel>)> {
    /// For each parcel to be sent: its index, the process it goes to, its length.
    pub fn sizes_to_send(&self) -> Vec<(usize, usize, usize)> {
        let outgoing = self.buffers.as_ref().map_or(&[][..], |(outgoing, _)| outgoing);
        outgoing
            .iter()
            .enumerate()
            .map(|(i, parcel)| (i, parcel.process, parcel.bytes.len()))
            .collect()
    }
}

impl<B> Drop for Flight<B> {
    fn drop(&mut self) {
        // An error has lost the buffers on purpose; there is nobody to tell.
        let _ = self.wait();
    }
}

/// A message that is too long is an error of MPI's; one that is too short is found here.
fn check_length(what: &'static str, found: usize, expected: Expected) -> Result<()> {
    match expected {
        Some((process, wanted)) if found != wanted => {
            let why = format!("process {process} sent {found} bytes, but {wanted} were expected");
            Err(CoreError::Communication { what, why })
        }
        _ => Ok(()),
    }
}

/// How to wait between two tests: for a short time at hand, afterwards asleep, so that waiting costs no core.
#[derive(Default)]
struct Patience {
    tests: u32,
}

impl Patience {
    /// About the latency of a network [tests]; reductions in a solver end within it when nobody computes.
    const AT_HAND: u32 = 1000;
    /// Long enough to free the core, short against the transfers that take so long.
    const NAP: Duration = Duration::from_micros(30);

    fn wait(&mut self) {
        self.tests += 1;
        if self.tests < Self::AT_HAND { thread::yield_now() } else { thread::sleep(Self::NAP) }
    }
}
