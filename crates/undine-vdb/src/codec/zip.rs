//! zlib streams.

use crate::error::{Result, VdbError};
use flate2::{Compress, Compression, Decompress, FlushCompress, FlushDecompress, Status};

/// Expands zlib streams. Its work space comes with the first one: most files have none.
#[derive(Debug, Default)]
pub struct Decoder(Option<Decompress>);

impl Decoder {
    /// Fills `out` from a stream, which is at `offset` of the file.
    pub fn stream(&mut self, stream: &[u8], out: &mut [u8], offset: u64) -> Result<()> {
        let zlib = self.0.get_or_insert_with(|| Decompress::new(true));
        zlib.reset(true);
        let wanted = out.len() as u64;
        let found = match zlib.decompress(stream, out, FlushDecompress::Finish) {
            Ok(Status::StreamEnd) if zlib.total_out() == wanted => return Ok(()),
            Ok(_) => "a zlib stream that is too long or ends too early".to_owned(),
            Err(error) => format!("a zlib stream with an error: {error}"),
        };
        let wanted = format!("it expands to {wanted} bytes");
        Err(VdbError::Malformed { offset, found, wanted })
    }
}

/// Makes zlib streams. Its work space comes with the first one.
#[derive(Debug, Default)]
pub struct Encoder(Option<Compress>);

impl Encoder {
    /// Appends the stream of a payload; where that would not be smaller than the payload appends nothing and says so.
    pub fn stream(&mut self, payload: &[u8], out: &mut Vec<u8>) -> bool {
        let zlib = self.0.get_or_insert_with(|| Compress::new(Compression::default(), true));
        zlib.reset();
        let start = out.len();
        // One byte less than the payload is all the room there is: a stream that does not end in it is not smaller.
        out.resize(start + payload.len().saturating_sub(1), 0);
        let result = zlib.compress(payload, &mut out[start..], FlushCompress::Finish);
        let is_smaller = matches!(result, Ok(Status::StreamEnd));
        out.truncate(start + if is_smaller { zlib.total_out() as usize } else { 0 });
        is_smaller
    }
}
