//! Why a checkpoint could not be written or read.

use crate::registry::StoreKind;
use std::io;
use undine_core::CoreError;

/// Why a checkpoint could not be written or read.
#[derive(Debug, thiserror::Error)]
pub enum CheckpointError {
    /// The file could not be read or written.
    #[error("the checkpoint could not be {what}: {source}")]
    Io {
        /// `read` or `written`.
        what: &'static str,
        /// The system's reason.
        source: io::Error,
    },
    /// Something else than a checkpoint.
    #[error("this is no checkpoint of Undine: it does not begin like one")]
    NotACheckpoint,
    /// Written on a machine that stores numbers the other way round.
    #[error("the checkpoint was written on a {found} machine, and this one is {wanted}")]
    ByteOrder {
        /// The machine that wrote it.
        found: &'static str,
        /// This machine.
        wanted: &'static str,
    },
    /// A format version that cannot be read.
    #[error(
        "the checkpoint has format version {found}, but this build reads versions {oldest} to {newest}; {}",
        if .found > .newest { "use a newer build" } else { "begin again, or use the build that wrote it" }
    )]
    Version {
        /// The version of the file.
        found: u32,
        /// The oldest version that can be brought up to date.
        oldest: u32,
        /// The version that is written.
        newest: u32,
    },
    /// An older version that could not be brought up to date.
    #[error("the checkpoint could not be brought from format version {from} to {to}: {why}")]
    Migration {
        /// The version before the step that failed.
        from: u32,
        /// The version after it.
        to: u32,
        /// What was wrong.
        why: String,
    },
    /// The file is shorter or longer than it says.
    #[error("the checkpoint has {found} bytes, but must have {wanted}: it was cut off or added to")]
    Length {
        /// Bytes that there are.
        found: u64,
        /// Bytes that there should be.
        wanted: u64,
    },
    /// Bytes that are not those that were written.
    #[error(
        "the checkpoint is damaged in its {part}: the checksum is {found:08x}, but must be {wanted:08x}"
    )]
    Damaged {
        /// Which part of the file.
        part: String,
        /// The checksum of what is there.
        found: u32,
        /// The checksum that was written.
        wanted: u32,
    },
    /// Whole, but it makes no sense.
    #[error("the directory of the checkpoint makes no sense: {why}")]
    Malformed {
        /// What is wrong.
        why: String,
    },
    /// Another scene or another build.
    #[error("the checkpoint belongs to {what} `{found}`, but this is `{wanted}`")]
    Identity {
        /// `scene` or `build`.
        what: &'static str,
        /// As the file says.
        found: String,
        /// As it is now.
        wanted: String,
    },
    /// Two stores of one kind with the same label.
    #[error("there are two stores called {kind} `{label}`; a checkpoint could not tell them apart")]
    DuplicateStore {
        /// Their kind.
        kind: StoreKind,
        /// Their label.
        label: String,
    },
    /// A store that the file does not have.
    #[error("the checkpoint has no {kind} `{label}`; the scene has changed since it was written")]
    MissingStore {
        /// The kind of the store.
        kind: StoreKind,
        /// Its label.
        label: String,
    },
    /// A store that is only in the file.
    #[error("the checkpoint has a {kind} `{label}`, but the scene has none such now")]
    UnknownStore {
        /// The kind of the store.
        kind: StoreKind,
        /// Its label.
        label: String,
    },
    /// A store that cannot become what the file says.
    #[error("{what} of {store} is {found} in the checkpoint, but must be {wanted}")]
    StoreDiffers {
        /// The store's label.
        store: String,
        /// What differs.
        what: String,
        /// As the file says.
        found: String,
        /// As it is now.
        wanted: String,
    },
    /// A channel that the file does not have.
    #[error("the checkpoint has no channel `{channel}` of {store}; it has {known}")]
    MissingChannel {
        /// The store's label.
        store: String,
        /// The channel.
        channel: String,
        /// The names that it does have, joined for reading.
        known: String,
    },
    /// A channel that is another one in the file.
    #[error(
        "the {what} of channel `{channel}` of {store} is {found} in the checkpoint, but must be {wanted}"
    )]
    ChannelDiffers {
        /// The store's label.
        store: String,
        /// The channel.
        channel: String,
        /// What differs, for example `unit`.
        what: &'static str,
        /// As the file says.
        found: String,
        /// As it is now.
        wanted: String,
    },
    /// A store refused: a channel is in use, or memory is short.
    #[error(transparent)]
    Store(#[from] CoreError),
}

impl CheckpointError {
    pub(super) fn read(source: io::Error) -> Self {
        Self::Io { what: "read", source }
    }

    pub(super) fn written(source: io::Error) -> Self {
        Self::Io { what: "written", source }
    }

    pub(super) fn malformed(why: impl Into<String>) -> Self {
        Self::Malformed { why: why.into() }
    }
}
