//! zlib streams.

use crate::error::{Result, VdbError};
use flate2::{Compress, Compression, Decompress, FlushCompress, FlushDecompress, Status};

/// Expands zlib streams.
#[derive(Debug)]
pub struct Decoder(Decompress);

impl Default for Decoder {
    fn default() -> Self {
        Self(Decompress::new(true))
    }
}

impl Decoder {
    /// Fills `out` from a stream, which is at `offset` of the file.
    pub fn stream(&mut self, stream: &[u8], out: &mut [u8], offset: u64) -> Result<()> {
        self.0.reset(true);
        let wanted = out.len() as u64;
        let found = match self.0.decompress(stream, out, FlushDecompress::Finish) {
            Ok(Status::StreamEnd) if self.0.total_out() == wanted => return Ok(()),
            Ok(_) => "a zlib stream that is too long or ends too early".to_owned(),
            Err(error) => format!("a zlib stream with an error: {error}"),
        };
        let wanted = format!("it expands to {wanted} bytes");
        Err(VdbError::Malformed { offset, found, wanted })
    }
}

/// Makes zlib streams.
#[derive(Debug)]
pub struct Encoder(Compress);

impl Default for Encoder {
    fn default() -> Self {
        Self(Compress::new(Compression::default(), true))
    }
}

impl Encoder {
    /// Appends the stream of a payload; where that would not be smaller than the payload appends nothing and says so.
    pub fn stream(&mut self, payload: &[u8], out: &mut Vec<u8>) -> bool {
        self.0.reset();
        let start = out.len();
        // One byte less than the payload is all the room there is: a stream that does not end in it is not smaller.
        out.resize(start + payload.len().saturating_sub(1), 0);
        let result = self.0.compress(payload, &mut out[start..], FlushCompress::Finish);
        let is_smaller = matches!(result, Ok(Status::StreamEnd));
        out.truncate(start + if is_smaller { self.0.total_out() as usize } else { 0 });
        is_smaller
    }
}
