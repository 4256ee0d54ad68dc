//! The MPI library while it is initialised: its communicators, its errors, and its end.

use crate::error::{CoreError, Result};
use ::mpi::{
    Threading,
    collective::SystemOperation,
    environment::{self, Universe},
    ffi,
    topology::SimpleCommunicator,
    traits::{AsRaw, Communicator, CommunicatorCollectives},
};
use std::ffi::c_int;

/// What may be called while MPI is initialised. Dropping it ends MPI.
pub(super) struct Library {
    pub rank: usize,
    pub count: usize,
    /// The largest single message [bytes], the same on every process.
    pub chunk: usize,
    // Dropped in this order: the communicators before MPI.
    world: SimpleCommunicator,
    quiet: SimpleCommunicator,
    _universe: Universe,
}

// SAFETY: the handles inside are names that MPI gave, valid on every thread of the process. MPI is initialised as
// serialised, and whoever has the `Library` has it alone, behind the mutex of `Shared`; the scenario
// `parcels_travel_from_any_thread` moves it between threads.
unsafe impl Send for Library {}

/// The largest single message, unless the environment says otherwise [bytes]. Far below what `c_int` can count.
const CHUNK: usize = 1 << 30;

impl Library {
    /// Initialises MPI. Collective, also in its refusal.
    pub fn initialise() -> Result<Library> {
        let failed = |why: String| CoreError::Communication { what: "the start of MPI", why };
        let (universe, threading) = environment::initialize_with_threading(Threading::Serialized)
            .ok_or_else(|| failed("it was started already".into()))?;
        if threading < Threading::Serialized {
            return Err(failed("this MPI allows calls from its main thread only".into()));
        }
        // Communicators of our own, so that no other user of MPI in this program can meet our messages.
        let world = universe.world().duplicate();
        let quiet = SimpleCommunicator::self_comm().duplicate();
        for communicator in [&world, &quiet] {
            // SAFETY: a live communicator, and a predefined handler: errors are returned, and become `CoreError`s.
            let code = unsafe {
                ffi::MPI_Comm_set_errhandler(communicator.as_raw(), ffi::RSMPI_ERRORS_RETURN)
            };
            check("the start of MPI", code)?;
        }
        // Nodes may differ in their environment, but a message must be cut in the same way at both ends. A process that
        // cannot read its own says 0, and then all refuse.
        let wanted: u64 = wanted_chunk(std::env::var("UNDINE_MPI_CHUNK").ok().as_deref());
        // Of the same type, which nobody else sees to: MPI writes as many bytes as it reads.
        let mut chunk = 0_u64;
        world.all_reduce_into(&wanted, &mut chunk, SystemOperation::min());
        if chunk == 0 {
            return Err(failed(format!(
                "UNDINE_MPI_CHUNK must be a number of bytes from 1 to {}",
                c_int::MAX
            )));
        }
        let (rank, count) = (world.rank() as usize, world.size() as usize);
        Ok(Library { rank, count, chunk: chunk as usize, world, quiet, _universe: universe })
    }

    /// The communicator of all processes.
    pub fn world(&self) -> ffi::MPI_Comm {
        self.world.as_raw()
    }

    /// Lets MPI move whatever is under way, by looking for a message that nobody sends.
    pub fn poke(&self) {
        let mut found = 0;
        // SAFETY: a live communicator; the flag is written, the status is not wanted. Should it fail, then so will the
        // test for the transfer that this call was for, which reports it.
        unsafe {
            ffi::MPI_Iprobe(0, 0, self.quiet.as_raw(), &mut found, ffi::RSMPI_STATUS_IGNORE);
        }
    }
}

/// The chunk [bytes] that the environment asks for, or 0 if that is none.
fn wanted_chunk(variable: Option<&str>) -> u64 {
    let Some(text) = variable else { return CHUNK as u64 };
    text.trim().parse().ok().filter(|&bytes| bytes <= c_int::MAX as u64).unwrap_or(0)
}

/// An MPI error code as an error with MPI's own text.
pub(super) fn check(what: &'static str, code: c_int) -> Result<()> {
    if code == ffi::MPI_SUCCESS as c_int {
        return Ok(());
    }
    let mut text = [0_u8; ffi::MPI_MAX_ERROR_STRING as usize + 1];
    let mut length = 0;
    // SAFETY: the text has the length that MPI asks for; MPI says how much of it it wrote.
    let told = unsafe { ffi::MPI_Error_string(code, text.as_mut_ptr().cast(), &mut length) };
    let why = match usize::try_from(length) {
        Ok(length) if told == ffi::MPI_SUCCESS as c_int => {
            String::from_utf8_lossy(&text[..length]).into_owned()
        }
        _ => format!("MPI error {code}"),
    };
    Err(CoreError::Communication { what, why })
}

/// Tests whether a request is over; then says how many bytes it received.
pub(super) fn test(what: &'static str, request: &mut ffi::MPI_Request) -> Result<Option<usize>> {
    // SAFETY: a status is a plain C structure of numbers, for which zeros are valid.
    let mut status = unsafe { std::mem::zeroed::<ffi::MPI_Status>() };
    let (mut over, mut bytes) = (0, 0);
    // SAFETY: a request that MPI gave, and places for the flag and the status that it writes.
    check(what, unsafe { ffi::MPI_Test(request, &mut over, &mut status) })?;
    if over == 0 {
        return Ok(None);
    }
    // SAFETY: a status that `MPI_Test` has filled.
    check(what, unsafe { ffi::MPI_Get_count(&status, ffi::RSMPI_UINT8_T, &mut bytes) })?;
    Ok(Some(usize::try_from(bytes).unwrap_or(0)))
}

/// Ends every process with this code.
pub(super) fn abort_all(code: u8) -> ! {
    // SAFETY: MPI is initialised when there is somebody to call this; should it have ended meanwhile, then aborting is
    // an error that ends this process too.
    unsafe { ffi::MPI_Abort(ffi::RSMPI_COMM_WORLD, code.into()) };
    std::process::exit(code.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_chunk_is_a_number_of_bytes_that_mpi_can_count() {
        assert_eq!(wanted_chunk(None), 1 << 30);
        assert_eq!(wanted_chunk(Some(" 4096 ")), 4096);
        assert_eq!(wanted_chunk(Some("2147483648")), 0);
        assert_eq!(wanted_chunk(Some("0")), 0);
        assert_eq!(wanted_chunk(Some("a lot")), 0);
    }
}
