//! Processes over MPI, through the crate `mpi` and, where its scopes stand in the way of a transfer that outlives a
//! function, through the C interface below it.
//!
//! MPI is initialised as *serialised*: any thread may call it, one at a time, which a mutex sees to. Nothing blocks
//! inside MPI: every operation is started, then tested until it is over, with the mutex free in between and the core
//! given away to others. A thread of its own keeps transfers moving while the program computes (see [`progress`]).

mod flight;
mod library;
mod progress;

use super::{Parcel, Pending, Processes, State, Transfer, check_start, name_of};
use crate::error::{CoreError, Result};
use ::mpi::ffi;
use flight::Flight;
use library::Library;
use progress::{Progress, UnderWay};
use std::{
    ffi::c_int,
    fmt,
    io::Write,
    panic,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError, TryLockError,
        atomic::{AtomicU16, Ordering},
    },
    thread,
    time::Duration,
};

/// The MPI processes of a run. Clones are the same.
#[derive(Clone)]
pub(super) struct Mpi(Arc<Shared>);

/// What an [`Mpi`], its transfers, its progress thread and the panic hook share.
struct Shared {
    rank: usize,
    count: usize,
    /// The largest single message [bytes], the same on every process and at most `c_int::MAX`.
    chunk: usize,
    /// The tag of the next start.
    tag: AtomicU16,
    /// The only way to MPI; `None` after the end.
    library: Mutex<Option<Library>>,
    progress: Progress,
}

/// The largest tag that the standard promises. Tags begin again after it; by then their earlier use is long over, and
/// even if not, MPI keeps messages of the same tag in order.
const TAG_MAX: u16 = 32767;

/// What [`Mpi::all_gather`] sends of every process at once: the length, and so many of the first bytes. Reductions and
/// the success of all fit into it, and so take one operation rather than two.
const INLINE: usize = 56;
const RECORD: usize = size_of::<u64>() + INLINE;

impl Mpi {
    /// Initialises MPI, and sees to it that from now on a panic on any thread ends every process.
    pub fn initialise() -> Result<Mpi> {
        let library = Library::initialise()?;
        let mpi = Mpi(Arc::new(Shared {
            rank: library.rank,
            count: library.count,
            chunk: library.chunk,
            tag: AtomicU16::new(0),
            library: Mutex::new(Some(library)),
            progress: Progress::default(),
        }));
        let (previous, shared) = (panic::take_hook(), Arc::clone(&mpi.0));
        panic::set_hook(Box::new(move |info| {
            previous(info);
            if !::mpi::environment::is_finalized() {
                let place = info.location().map(|at| format!(" at {at}")).unwrap_or_default();
                shared.abort(&format!(
                    "panicked{place}: {}",
                    info.payload_as_str().unwrap_or("(no message)")
                ));
            }
        }));
        Ok(mpi)
    }

    /// Waits for the other processes, and ends MPI; every later call is an error.
    pub fn end(&self) {
        if self.0.progress.is_busy() {
            self.0.abort("a transfer was started but neither finished nor dropped");
        }
        // MPI's own wait for the others, in its finalisation, would burn a core.
        if let Err(error) = self.barrier() {
            self.0.abort(&error.to_string());
        }
        self.0.progress.stop();
        drop(self.0.lock().take());
    }

    /// Ends every process with this code, without a word.
    pub fn abort_with_code(&self, code: u8) -> ! {
        self.0.abort_all(code)
    }

    /// Starts one collective operation, and waits for it.
    ///
    /// # Safety
    /// As for [`Flight::post`].
    unsafe fn collective<B>(
        &self,
        what: &'static str,
        buffers: B,
        start: impl FnOnce(&mut B, ffi::MPI_Comm, *mut ffi::MPI_Request) -> c_int,
    ) -> Result<B> {
        let mut flight = Flight::new(Arc::clone(&self.0), what, buffers);
        // SAFETY: passed on to the caller.
        unsafe { flight.post(None, start)? };
        flight.land()
    }

    /// Everyone's record, one after another.
    fn gather_records(&self, record: [u8; RECORD]) -> Result<Vec<u8>> {
        let buffers = (record.to_vec(), vec![0; RECORD * self.count()]);
        // SAFETY: both buffers are on the heap and of the size that MPI is told: one record, and one per process.
        let (_, all) = unsafe {
            self.collective("all_gather", buffers, |(one, all), comm, request| {
                let (one, all, bytes) =
                    (one.as_ptr().cast(), all.as_mut_ptr().cast(), RECORD as c_int);
                ffi::MPI_Iallgather(
                    one,
                    bytes,
                    ffi::RSMPI_UINT8_T,
                    all,
                    bytes,
                    ffi::RSMPI_UINT8_T,
                    comm,
                    request,
                )
            })?
        };
        Ok(all)
    }

    /// Everyone's bytes, of known lengths whose sum is at most `c_int::MAX`.
    fn gather_by_mpi(&self, bytes: &[u8], lengths: &[usize]) -> Result<Vec<Vec<u8>>> {
        let counts: Vec<c_int> = lengths.iter().map(|&length| length as c_int).collect();
        let mut offset = 0;
        let offsets = counts.iter().map(|&count| {
            offset += count;
            offset - count
        });
        let offsets: Vec<c_int> = offsets.collect();
        let all = vec![0_u8; lengths.iter().sum()];
        let buffers = (bytes.to_vec(), all, counts, offsets);
        // SAFETY: the buffers are on the heap; counts and offsets lie within `all`, and the own count is what is sent.
        let (_, all, ..) = unsafe {
            self.collective("all_gather", buffers, |(one, all, counts, offsets), comm, request| {
                let (length, kind) = (one.len() as c_int, ffi::RSMPI_UINT8_T);
                let (one, all) = (one.as_ptr().cast(), all.as_mut_ptr().cast());
                ffi::MPI_Iallgatherv(
                    one,
                    length,
                    kind,
                    all,
                    counts.as_ptr(),
                    offsets.as_ptr(),
                    kind,
                    comm,
                    request,
                )
            })?
        };
        let mut rest = &all[..];
        Ok(lengths
            .iter()
            .map(|&length| rest.split_off(..length).unwrap_or_default().to_vec())
            .collect())
    }

    /// The same by parcels, for lengths that MPI cannot count.
    fn gather_by_parcels(&self, bytes: &[u8], lengths: &[usize]) -> Result<Vec<Vec<u8>>> {
        let outgoing =
            (0..self.count()).map(|process| Parcel { process, bytes: bytes.to_vec() }).collect();
        let incoming: Vec<(usize, usize)> = lengths.iter().copied().enumerate().collect();
        let parcels = self.start(outgoing, &incoming)?.finish()?;
        Ok(parcels.into_iter().map(|parcel| parcel.bytes).collect())
    }
}

impl Processes for Mpi {
    fn rank(&self) -> usize {
        self.0.rank
    }

    fn count(&self) -> usize {
        self.0.count
    }

    fn start(&self, mut outgoing: Vec<Parcel>, incoming: &[(usize, usize)]) -> Result<Pending> {
        // The tag is taken before anything can fail, so that the processes stay in step.
        let next = |tag| Some(if tag == TAG_MAX { 0 } else { tag + 1 });
        let tag =
            self.0.tag.fetch_update(Ordering::Relaxed, Ordering::Relaxed, next).unwrap_or_default();
        check_start(self.rank(), self.count(), &outgoing, incoming)?;

        // Parcels to oneself are moved to their place.
        let mut own = outgoing.extract_if(.., |parcel| parcel.process == self.rank());
        let mut received = Vec::with_capacity(incoming.len());
        for &(process, bytes) in incoming {
            let new = || Parcel { process, bytes: vec![0; bytes] };
            received.push(if process == self.rank() {
                own.next().unwrap_or_else(new)
            } else {
                new()
            });
        }
        drop(own);

        // Receives are posted first, so that what arrives goes straight to its place. Empty parcels need no message.
        let mut flight = Flight::new(Arc::clone(&self.0), "start", (outgoing, received));
        for (i, &(process, bytes)) in
            incoming.iter().enumerate().filter(|(_, (process, _))| *process != self.rank())
        {
            for (offset, length) in pieces(bytes, self.0.chunk) {
                // SAFETY: the piece lies within the bytes of parcel i, on the heap, which nothing touches until landing.
                unsafe {
                    flight.post(Some((process, length)), |(_, received), comm, request| {
                        let to = received[i].bytes[offset..].as_mut_ptr().cast();
                        let (kind, source) = (ffi::RSMPI_UINT8_T, process as c_int);
                        ffi::MPI_Irecv(to, length as c_int, kind, source, tag.into(), comm, request)
                    })?;
                }
            }
        }
        for (i, process, bytes) in flight.sizes_to_send() {
            for (offset, length) in pieces(bytes, self.0.chunk) {
                // SAFETY: as above, and MPI only reads it.
                unsafe {
                    flight.post(None, |(outgoing, _), comm, request| {
                        let from = outgoing[i].bytes[offset..].as_ptr().cast();
                        let (kind, target) = (ffi::RSMPI_UINT8_T, process as c_int);
                        ffi::MPI_Isend(
                            from,
                            length as c_int,
                            kind,
                            target,
                            tag.into(),
                            comm,
                            request,
                        )
                    })?;
                }
            }
        }
        if flight.is_over() {
            return Ok(Pending(State::Done(flight.land()?.1)));
        }
        Ok(Pending(State::UnderWay(Box::new(ParcelFlight {
            flight,
            _under_way: UnderWay::begin(&self.0),
        }))))
    }

    fn all_to_all(&self, values: &[u64]) -> Result<Vec<u64>> {
        if values.len() != self.count() {
            let what = "a list with a value per process".into();
            return Err(CoreError::WrongLength { what, found: values.len(), wanted: self.count() });
        }
        let buffers = (values.to_vec(), vec![0_u64; self.count()]);
        // SAFETY: both buffers are on the heap and hold one value per process.
        let (_, received) = unsafe {
            self.collective("all_to_all", buffers, |(from, to), comm, request| {
                let (from, to, kind) =
                    (from.as_ptr().cast(), to.as_mut_ptr().cast(), ffi::RSMPI_UINT64_T);
                ffi::MPI_Ialltoall(from, 1, kind, to, 1, kind, comm, request)
            })?
        };
        Ok(received)
    }

    fn all_gather(&self, bytes: &[u8]) -> Result<Vec<Vec<u8>>> {
        let mut record = [0; RECORD];
        let (length, start) = record.split_at_mut(size_of::<u64>());
        length.copy_from_slice(&(bytes.len() as u64).to_ne_bytes());
        let inline = bytes.len().min(INLINE);
        start[..inline].copy_from_slice(&bytes[..inline]);

        let records = self.gather_records(record)?;
        let (records, _) = records.as_chunks::<RECORD>();
        let length_of = |record: &[u8; RECORD]| {
            u64::from_ne_bytes(*record.first_chunk().expect("a record holds one"))
        };
        let lengths: Vec<usize> = records.iter().map(|record| length_of(record) as usize).collect();
        if lengths.iter().all(|&length| length <= INLINE) {
            let bytes_of = |(record, &length): (&[u8; RECORD], _)| {
                record[size_of::<u64>()..][..length].to_vec()
            };
            return Ok(records.iter().zip(&lengths).map(bytes_of).collect());
        }
        match lengths.iter().try_fold(0_usize, |sum, &length| sum.checked_add(length)) {
            Some(total) if total <= self.0.chunk => self.gather_by_mpi(bytes, &lengths),
            _ => self.gather_by_parcels(bytes, &lengths),
        }
    }

    fn barrier(&self) -> Result<()> {
        // SAFETY: a barrier has no buffers.
        unsafe {
            self.collective("barrier", (), |(), comm, request| ffi::MPI_Ibarrier(comm, request))
        }
    }

    fn abort(&self, message: &str) -> ! {
        self.0.abort(message)
    }
}

impl fmt::Debug for Mpi {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Mpi({})", name_of(self.0.rank, self.0.count))
    }
}

/// Parcels under way: those that go out, and those that come in.
struct ParcelFlight {
    // Dropped in this order: the flight waits, and needs the progress thread until it is over.
    flight: Flight<(Vec<Parcel>, Vec<Parcel>)>,
    _under_way: UnderWay,
}

impl Transfer for ParcelFlight {
    fn finish(self: Box<Self>) -> Result<Vec<Parcel>> {
        Ok(self.flight.land()?.1)
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Option<Library>> {
        self.library.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Calls MPI, alone.
    fn with<T>(&self, what: &'static str, call: impl FnOnce(&Library) -> Result<T>) -> Result<T> {
        match self.lock().as_ref() {
            Some(library) => call(library),
            None => Err(CoreError::Communication {
                what,
                why: "the run is over: `launch` has returned".into(),
            }),
        }
    }

    fn abort(&self, message: &str) -> ! {
        // In one piece, lest the lines of several processes mix. There is nobody left to tell if it fails.
        let line = format!("{}: {message}\n", name_of(self.rank, self.count));
        let _ = std::io::stderr().write_all(line.as_bytes());
        self.abort_all(1)
    }

    fn abort_all(&self, code: u8) -> ! {
        // One call at a time, also this one. But a thread that panics inside MPI holds the lock itself: do not insist.
        let mut attempts = 0;
        let _guard = loop {
            match self.library.try_lock() {
                Ok(guard) => break Some(guard),
                Err(TryLockError::Poisoned(error)) => break Some(error.into_inner()),
                Err(TryLockError::WouldBlock) if attempts == 100 => break None,
                Err(TryLockError::WouldBlock) => thread::sleep(Duration::from_millis(10)),
            }
            attempts += 1;
        };
        library::abort_all(code)
    }
}

/// Cuts `bytes` into (offset, length) of at most `chunk` each.
fn pieces(bytes: usize, chunk: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..bytes).step_by(chunk).map(move |offset| (offset, chunk.min(bytes - offset)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_cover_a_message_without_overlap() {
        let cut = |bytes, chunk| pieces(bytes, chunk).collect::<Vec<_>>();
        assert_eq!(cut(0, 4), []);
        assert_eq!(cut(3, 4), [(0, 3)]);
        assert_eq!(cut(8, 4), [(0, 4), (4, 4)]);
        assert_eq!(cut(9, 4), [(0, 4), (4, 4), (8, 1)]);
        let gib = 1 << 30;
        assert_eq!(cut(2 * gib + 5, gib), [(0, gib), (gib, gib), (2 * gib, 5)]);
    }
}
