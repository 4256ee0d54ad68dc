//! Processes: how the parts of a distributed run talk to each other.
//!
//! One trait, [`Processes`], with two implementations: [`Single`], the embedded process, which costs nothing, and MPI
//! behind the cargo feature `mpi`. A program gets whichever fits from [`launch`]. What travels is bytes in
//! [`Parcel`]s; Buckets, halos and particles are packed by those who own them.
//!
//! Every process runs the same program and makes the same sequence of calls (they are *collective*): an operation that
//! only some of them reach never ends. Code that may fail on one process alone therefore settles its outcome with
//! [`all_agree`](trait.Processes.html#method.all_agree) before it changes anything.
//!
//! The same holds for calls that send nothing but change what copies of foreign Buckets must be refreshed: writing a
//! column outside of a kernel, deleting or merging particles, following a Topology. They are made on all processes
//! alike, with nothing to do where there is nothing.
//!
//! A distributed run is an ordinary one whose Domain knows its processes. Heat spreads, on however many there are:
//!
//! ```
//! use glam::DVec3;
//! use std::{process::ExitCode, sync::Arc};
//! use undine_core::volume::{DiscreteVolume, VoxelShape};
//! use undine_core::{Accessor, ChannelSpec, Frame, GridDomain, Partition, Processes, Result, launch};
//!
//! fn main() -> ExitCode {
//!     launch(run) // alone, or as one of those that `mpirun` started
//! }
//!
//! fn run(processes: Arc<dyn Processes>) -> Result<()> {
//!     let frame = Frame::new(DVec3::ZERO, 0.1)?;
//!     let even = Partition::even(frame, processes.count());
//!     let mut domain = GridDomain::distributed("block", frame, processes, Arc::new(even));
//!     domain.set_buckets(&domain.buckets_in_box(DVec3::ZERO, DVec3::splat(3.0), 0)?)?;
//!     domain.repartition(Arc::new(domain.balance(|_bucket| 1.0)?))?;
//!
//!     let mut block = DiscreteVolume::new("block", &domain);
//!     let mut now = block.add_channel(&ChannelSpec::new("heat", 0.0_f32), VoxelShape::CELLS)?;
//!     let mut next = block.add_channel(&ChannelSpec::new("heat, next", 0.0_f32), VoxelShape::CELLS)?;
//!     block.column_mut(now)?.fill(1.0); // cold outside, where there is no Bucket
//!     for _step in 0..10 {
//!         let access = (block.around(now, 1), block.write(next));
//!         Accessor::new("spread heat", &domain).over(block.topology()).run(access, |_here, (now, next)| {
//!             for (n, next) in next.iter_mut().enumerate() {
//!                 let (x, y, z) = (n as i32 >> 6, n as i32 >> 3 & 7, n as i32 & 7);
//!                 let along_x = now.at(x - 1, y, z) + now.at(x + 1, y, z);
//!                 let along_y = now.at(x, y - 1, z) + now.at(x, y + 1, z);
//!                 let along_z = now.at(x, y, z - 1) + now.at(x, y, z + 1);
//!                 *next = 0.1 * (along_x + along_y + along_z) + 0.4 * now.at(x, y, z);
//!             }
//!         })?;
//!         (now, next) = (next, now);
//!     }
//!     let sum = |heat: &[f32]| heat.iter().map(|&heat| f64::from(heat)).sum::<f64>();
//!     let left = Accessor::new("heat left", &domain)
//!         .over(block.topology())
//!         .reduce(block.own(now), |_here, heat| sum(heat), |a, b| a + b)?; // the same on every process
//!     assert!(left.is_some_and(|left| left < 64.0 * 512.0));
//!     Ok(())
//! }
//! ```
//!
//! Each process names the Buckets that it wants, and all get the union; here all want the same. Once Buckets differ in
//! work, `balance` with real weights and `repartition`, and then `migrate` every store.

mod launch;
#[cfg(feature = "mpi")]
mod mpi;
mod reduce;
mod single;

pub use launch::{launch, launch_with_code};
pub use single::Single;

use crate::error::{CoreError, Result};
use std::fmt;

/// One message: bytes for a process, or from it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Parcel {
    /// The rank of the process that it goes to, or came from.
    pub process: usize,
    /// What is sent.
    pub bytes: Vec<u8>,
}

/// The processes of a run, seen from one of them.
///
/// Calls may come from any thread, but the order of calls must be the same on every process.
pub trait Processes: Send + Sync + fmt::Debug {
    /// The number of this process, from 0.
    fn rank(&self) -> usize;

    /// How many processes there are.
    fn count(&self) -> usize;

    /// Starts to send `outgoing` and to receive `incoming` (process, exact number of bytes), without waiting.
    ///
    /// Both sides know in advance what travels: the n-th parcel from a to b meets the n-th entry for a in b's `incoming`.
    /// Every process makes its starts in the same order, also those in which it has nothing to send or to receive.
    /// Several may be under way at once and be finished in any order. A parcel to oneself is delivered like any other.
    fn start(&self, outgoing: Vec<Parcel>, incoming: &[(usize, usize)]) -> Result<Pending>;

    /// Gives `values[i]` to process i, and returns what each process gave to this one, in order of rank.
    fn all_to_all(&self, values: &[u64]) -> Result<Vec<u64>>;

    /// Everyone's bytes, in order of rank. Their lengths may differ.
    fn all_gather(&self, bytes: &[u8]) -> Result<Vec<Vec<u8>>>;

    /// Returns when every process has come here.
    fn barrier(&self) -> Result<()>;

    /// Ends every process, with a message that names this one.
    fn abort(&self, message: &str) -> !;

    /// Sends at most one parcel to each process and returns exactly those that were sent to this one, sorted by source.
    ///
    /// Nobody knows beforehand who sends what: the sizes are agreed on first. If the parcels of one process cannot be
    /// sent (a rank that does not exist, two for the same process), every process gets an error and none a parcel.
    fn exchange(&self, outgoing: Vec<Parcel>) -> Result<Vec<Parcel>> {
        // One more than the length, so that an empty parcel differs from none.
        const REFUSED: u64 = u64::MAX;
        let mut sizes = vec![0; self.count()];
        let checked = check_destinations(&outgoing, self.count());
        match checked {
            Ok(()) => outgoing
                .iter()
                .for_each(|parcel| sizes[parcel.process] = parcel.bytes.len() as u64 + 1),
            Err(_) => sizes.fill(REFUSED),
        }
        let announced = self.all_to_all(&sizes)?;
        checked?;
        if let Some(process) = announced.iter().position(|&size| size == REFUSED) {
            let why = "its parcels for an exchange were refused".into();
            return Err(CoreError::OnProcess { process, count: self.count(), why });
        }
        let incoming: Vec<(usize, usize)> = (0..self.count())
            .filter_map(|process| {
                Some((process, usize::try_from(announced[process].checked_sub(1)?).ok()?))
            })
            .collect();
        self.start(outgoing, &incoming)?.finish()
    }
}

/// Parcels under way, from [`Processes::start`].
///
/// Dropping it waits as [`finish`](Pending::finish) does and throws the parcels away: the other processes have started
/// their side, and memory that the transport is still writing must not be freed.
#[must_use = "parcels arrive when the transfer is finished"]
pub struct Pending(State);

enum State {
    Done(Vec<Parcel>),
    #[cfg_attr(
        not(feature = "mpi"),
        expect(dead_code, reason = "the embedded process delivers at once")
    )]
    UnderWay(Box<dyn Transfer>),
}

/// A transfer that is not over yet; it owns the memory that the transport reads and writes. Its drop waits.
trait Transfer: Send {
    /// Waits, and returns what was received in the order in which it was asked for.
    fn finish(self: Box<Self>) -> Result<Vec<Parcel>>;
}

impl Pending {
    /// Waits for the parcels, and returns them sorted by source; those of one source in the order sent.
    pub fn finish(self) -> Result<Vec<Parcel>> {
        let mut parcels = match self.0 {
            State::Done(parcels) => parcels,
            State::UnderWay(transfer) => transfer.finish()?,
        };
        parcels.sort_by_key(|parcel| parcel.process);
        Ok(parcels)
    }
}

impl fmt::Debug for Pending {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            State::Done(parcels) => f.debug_tuple("Pending").field(parcels).finish(),
            State::UnderWay(_) => f.write_str("Pending(under way)"),
        }
    }
}

/// How a process is named in every message. Ranks count from 0.
fn name_of(rank: usize, count: usize) -> String {
    format!("process {rank} of {count}")
}

/// That each parcel goes to one of `count` processes, and no two to the same.
fn check_destinations(outgoing: &[Parcel], count: usize) -> Result<()> {
    let mut taken = vec![false; if outgoing.is_empty() { 0 } else { count }];
    for parcel in outgoing {
        check_rank("the process that a parcel goes to", parcel.process, count)?;
        if std::mem::replace(&mut taken[parcel.process], true) {
            return Err(CoreError::BadValue {
                what: format!("the number of parcels in an exchange to process {}", parcel.process),
                found: "two or more".into(),
                wanted: "at most one",
            });
        }
    }
    Ok(())
}

fn check_rank(what: &str, process: usize, count: usize) -> Result<()> {
    if process < count {
        return Ok(());
    }
    Err(CoreError::BadIndex { what: what.into(), index: process as u64, count: count as u64 })
}

/// That every process in a [`Processes::start`] exists, and that the parcels from `rank` to itself are those it expects.
fn check_start(
    rank: usize,
    count: usize,
    outgoing: &[Parcel],
    incoming: &[(usize, usize)],
) -> Result<()> {
    for parcel in outgoing {
        check_rank("the process that a parcel goes to", parcel.process, count)?;
    }
    for &(process, _) in incoming {
        check_rank("the process that a parcel comes from", process, count)?;
    }
    let mut sent =
        outgoing.iter().filter(|parcel| parcel.process == rank).map(|parcel| parcel.bytes.len());
    let mut expected =
        incoming.iter().filter(|(process, _)| *process == rank).map(|&(_, bytes)| bytes);
    loop {
        let (found, wanted) = match (sent.next(), expected.next()) {
            (None, None) => return Ok(()),
            (Some(found), Some(wanted)) if found == wanted => continue,
            pair => pair,
        };
        let say = |bytes: Option<usize>| {
            bytes.map_or("no parcel".into(), |bytes| format!("{bytes} bytes"))
        };
        return Err(CoreError::Communication {
            what: "start",
            why: format!("process {rank} sends itself {}, but expects {}", say(found), say(wanted)),
        });
    }
}
