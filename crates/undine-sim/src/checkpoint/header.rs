//! The first 40 bytes of a checkpoint, the same in every version, and what they promise.

use super::error::CheckpointError;

/// The format version that is written.
pub const VERSION: u32 = 1;

/// A byte that no text has, the name, and a line end that transfers as text would change.
const MAGIC: [u8; 8] = *b"\x8bundine\n";

/// How this machine stores the bytes 4, 3, 2, 1 of a number.
const BYTE_ORDER: [u8; 4] = 0x0102_0304_u32.to_ne_bytes();

/// The header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Header {
    pub version: u32,
    /// Bytes of the directory.
    pub directory: u64,
    /// Bytes of all sections with their checksums.
    pub payload: u64,
    pub directory_crc: u32,
}

impl Header {
    /// Bytes of a header.
    pub const LEN: usize = 40;

    pub fn to_bytes(self) -> [u8; Self::LEN] {
        let mut bytes = [0; Self::LEN];
        bytes[..8].copy_from_slice(&MAGIC);
        bytes[8..12].copy_from_slice(&self.version.to_le_bytes());
        bytes[12..16].copy_from_slice(&BYTE_ORDER);
        bytes[16..24].copy_from_slice(&self.directory.to_le_bytes());
        bytes[24..32].copy_from_slice(&self.payload.to_le_bytes());
        bytes[32..36].copy_from_slice(&self.directory_crc.to_le_bytes());
        let crc = crc32fast::hash(&bytes[..36]);
        bytes[36..].copy_from_slice(&crc.to_le_bytes());
        bytes
    }

    pub fn from_bytes(bytes: &[u8; Self::LEN]) -> Result<Self, CheckpointError> {
        let word = |at: usize| u32::from_le_bytes(std::array::from_fn(|n| bytes[at + n]));
        let long = |at: usize| u64::from_le_bytes(std::array::from_fn(|n| bytes[at + n]));
        if bytes[..8] != MAGIC {
            return Err(CheckpointError::NotACheckpoint);
        }
        let (found, wanted) = (crc32fast::hash(&bytes[..36]), word(36));
        if found != wanted {
            return Err(CheckpointError::Damaged { part: "header".into(), found, wanted });
        }
        if bytes[12..16] != BYTE_ORDER {
            let name = |order: &[u8]| if order[0] == 4 { "little-endian" } else { "big-endian" };
            let (found, wanted) = (name(&bytes[12..16]), name(&BYTE_ORDER));
            return Err(CheckpointError::ByteOrder { found, wanted });
        }
        Ok(Self {
            version: word(8),
            directory: long(16),
            payload: long(24),
            directory_crc: word(32),
        })
    }

    /// Bytes of the whole file.
    pub fn file_len(&self) -> u64 {
        (Self::LEN as u64).saturating_add(self.directory).saturating_add(self.payload)
    }
}
