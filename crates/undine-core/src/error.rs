//! What can go wrong in the core, as typed errors that name the thing and say what would be right.

use crate::element::ElementType;
use crate::memory::in_words;
use crate::mesh::MeshFault;
use glam::DVec3;

/// The result of a fallible core operation. An operation that fails changes nothing.
pub type Result<T, E = CoreError> = std::result::Result<T, E>;

/// Every error of the core. Each message says what was found, and what was wanted.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum CoreError {
    /// A length that must be positive and finite is not.
    #[error("{what} is {found}, but must be a positive, finite length in metres")]
    BadLength {
        /// Which length, for example `voxel size`.
        what: &'static str,
        /// The value found [m].
        found: f64,
    },
    /// A position has a NaN or infinite coordinate.
    #[error("{what} is at {position}, which is not finite")]
    NotFinite {
        /// What has the position, for example `particle 17 (id 42)`.
        what: String,
        /// The position as found [m].
        position: DVec3,
    },
    /// A Bucket beyond the index range of a Grid Domain.
    #[error(
        "{what} needs Bucket {coord:?} on level {level}, beyond the index range ±{limit} of that level"
    )]
    OutOfRange {
        /// Who asked for it.
        what: String,
        /// The Bucket coordinate asked for, saturated to 64 bits.
        coord: [i64; 3],
        /// The level asked for.
        level: u8,
        /// The largest magnitude a coordinate may have on that level.
        limit: i64,
    },
    /// A level that a Grid Domain cannot have.
    #[error("level {found} does not exist: levels go from 0 (finest) to {max}")]
    NoSuchLevel {
        /// The level asked for.
        found: u8,
        /// The coarsest level there is.
        max: u8,
    },
    /// An allocation that would pass the memory budget.
    #[error(
        "{what} needs {}, but only {} of the memory budget of {} are left",
        in_words(*wanted), in_words(*free), in_words(*budget)
    )]
    OverBudget {
        /// What would be allocated.
        what: String,
        /// Bytes that the operation needs.
        wanted: u64,
        /// Bytes left in the budget.
        free: u64,
        /// The whole budget in bytes.
        budget: u64,
    },
    /// No channel of that name.
    #[error("{store} has no channel `{channel}`; it has {known}")]
    UnknownChannel {
        /// The store that was asked.
        store: String,
        /// The name asked for.
        channel: String,
        /// The names it does have, joined for reading.
        known: String,
    },
    /// A channel of that name is there already.
    #[error("{store} already has a channel `{channel}`")]
    DuplicateChannel {
        /// The store.
        store: String,
        /// The name.
        channel: String,
    },
    /// A channel holds another type than was asked for.
    #[error("channel `{channel}` of {store} holds {found}, but {wanted} was asked for")]
    WrongType {
        /// The store.
        store: String,
        /// The channel's name.
        channel: String,
        /// The element type that it holds.
        found: ElementType,
        /// The element type asked for.
        wanted: ElementType,
    },
    /// A handle whose channel was removed, or that belongs to another store.
    #[error("a handle of {store} is stale: its channel was removed, or belongs to another store")]
    StaleHandle {
        /// The store that was asked.
        store: String,
    },
    /// Two users of a channel at once, one of them writing.
    #[error(
        "channel `{channel}` of {store} cannot be {wanted} by `{task}`: `{holder}` is using it"
    )]
    ChannelBusy {
        /// The store.
        store: String,
        /// The channel's name.
        channel: String,
        /// `read` or `written`.
        wanted: &'static str,
        /// Who wanted it.
        task: &'static str,
        /// Who has it.
        holder: &'static str,
    },
    /// A channel whose writer panicked: nobody knows which of its values are new.
    #[error(
        "channel `{channel}` of {store} is half written, because `{task}` panicked; remove it and add it again, or go back to a checkpoint"
    )]
    HalfWritten {
        /// The store.
        store: String,
        /// The channel's name.
        channel: String,
        /// Who panicked.
        task: &'static str,
    },
    /// A kernel declared something impossible.
    #[error("kernel `{task}` cannot run: {why}")]
    BadAccess {
        /// The kernel's name.
        task: &'static str,
        /// What is wrong, and what would be right.
        why: String,
    },
    /// A channel of an unsupported shape or a parameter outside its range.
    #[error("{what} is {found}, but must be {wanted}")]
    BadValue {
        /// What has the value.
        what: String,
        /// The value found.
        found: String,
        /// What would be right.
        wanted: &'static str,
    },
    /// An index that points at nothing.
    #[error("{what} is {index}, but there are only {count}")]
    BadIndex {
        /// What the index is.
        what: String,
        /// The index found.
        index: u64,
        /// How many things there are.
        count: u64,
    },
    /// A slice of the wrong length.
    #[error("{what} has {found} values, but {wanted} are needed")]
    WrongLength {
        /// What has the length.
        what: String,
        /// The length found.
        found: usize,
        /// The length needed.
        wanted: usize,
    },
    /// A mesh that is not one.
    #[error("{mesh} is not valid: {fault}")]
    Mesh {
        /// The mesh, for example ``Surface `gate` ``.
        mesh: String,
        /// What is wrong with it.
        fault: MeshFault,
    },
    /// The message passing between processes failed.
    #[error("communication between processes failed in {what}: {why}")]
    Communication {
        /// The operation.
        what: &'static str,
        /// The reason given by the transport.
        why: String,
    },
    /// A collective operation failed because one process did.
    #[error("process {process} of {count}: {why}")]
    OnProcess {
        /// The rank of the process that failed, from 0.
        process: usize,
        /// How many processes there are.
        count: usize,
        /// The message of its error.
        why: String,
    },
}
