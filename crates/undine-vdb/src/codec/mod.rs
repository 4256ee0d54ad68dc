//! Chunks of bytes as a file keeps them: raw, as a zlib stream, or as a Blosc frame over LZ4.
//!
//! Without compression a chunk is its payload. Otherwise it is a signed 64-bit size and that many bytes; a size that is not
//! positive says that the payload itself follows, of that many bytes without the sign.

pub mod blosc;
pub mod lz4;
pub mod shuffle;
pub mod zip;

use crate::error::{Result, VdbError};

/// How chunks are compressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Codec {
    /// Not at all.
    None,
    /// By zlib.
    Zip,
    /// By Blosc with LZ4.
    #[default]
    Blosc,
}

/// Reads chunks; keeps its work space from one to the next.
#[derive(Debug, Default)]
pub struct Decoder {
    blosc: blosc::Decoder,
    zip: zip::Decoder,
}

/// Writes chunks; keeps its work space from one to the next, which never shows in the bytes.
#[derive(Debug, Default)]
pub struct Encoder {
    blosc: blosc::Encoder,
    zip: zip::Encoder,
}

/// The bytes that the size before a compressed chunk takes.
const SIZE: usize = size_of::<i64>();

/// How many bytes a chunk takes that expands to `payload` bytes, itself at the start of `bytes`, which are at `offset` of the
/// file; never more than there are.
pub fn chunk_length(codec: Codec, bytes: &[u8], payload: usize, offset: u64) -> Result<usize> {
    let truncated =
        |what: &str, wanted: u64| VdbError::Truncated { offset, what: what.to_owned(), wanted };
    if codec == Codec::None {
        let there = bytes.len() >= payload;
        return there.then_some(payload).ok_or_else(|| truncated("values", payload as u64));
    }
    let size = bytes.first_chunk().ok_or_else(|| truncated("the size of a chunk", SIZE as u64))?;
    let size = i64::from_le_bytes(*size);
    let length = size.unsigned_abs();
    if size <= 0 && length != payload as u64 {
        return Err(VdbError::Malformed {
            offset,
            found: format!("the size of a chunk is {size}"),
            wanted: format!("if not compressed it has {payload} bytes"),
        });
    }
    if length > (bytes.len() - SIZE) as u64 {
        return Err(truncated("a chunk", length));
    }
    Ok(SIZE + length as usize)
}

impl Decoder {
    /// Fills `out` from the chunk at the start of `bytes`, which are at `offset` of the file, and says how long the chunk is.
    pub fn chunk(
        &mut self,
        codec: Codec,
        bytes: &[u8],
        out: &mut [u8],
        offset: u64,
    ) -> Result<usize> {
        let length = chunk_length(codec, bytes, out.len(), offset)?;
        if codec == Codec::None {
            out.copy_from_slice(&bytes[..length]);
            return Ok(length);
        }
        let (size, body) = bytes[..length].split_at(SIZE);
        let offset = offset + SIZE as u64;
        // A negative size, of a payload that is not compressed, has its highest bit set.
        if body.is_empty() || size[SIZE - 1] & 0x80 != 0 {
            out.copy_from_slice(body);
        } else {
            match codec {
                Codec::Zip => self.zip.stream(body, out, offset)?,
                _ => self.blosc.frame(body, out, offset)?,
            }
        }
        Ok(length)
    }

    /// Fills `out` from a Blosc frame, which is at `offset` of the file and has no size before it.
    pub fn blosc_frame(&mut self, frame: &[u8], out: &mut [u8], offset: u64) -> Result<()> {
        self.blosc.frame(frame, out, offset)
    }
}

impl Encoder {
    /// Appends the chunk of a payload.
    pub fn chunk(&mut self, codec: Codec, payload: &[u8], out: &mut Vec<u8>) {
        if codec == Codec::None {
            out.extend_from_slice(payload);
            return;
        }
        let start = out.len();
        out.extend_from_slice(&[0; SIZE]);
        let is_smaller = match codec {
            Codec::Zip => self.zip.stream(payload, out),
            _ => self.blosc.frame(payload, out),
        };
        let size = if is_smaller {
            (out.len() - start - SIZE) as i64
        } else {
            out.extend_from_slice(payload);
            -(payload.len() as i64)
        };
        out[start..start + SIZE].copy_from_slice(&size.to_le_bytes());
    }

    /// Appends the Blosc frame of a payload, with no size before it; where that would not be smaller than the payload
    /// appends nothing and says so.
    pub fn blosc_frame(&mut self, payload: &[u8], out: &mut Vec<u8>) -> bool {
        self.blosc.frame(payload, out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Bytes with repetitions, as voxels have them.
    fn payload() -> impl Strategy<Value = Vec<u8>> {
        let smooth = (0usize..3000, any::<u32>()).prop_map(|(count, step)| {
            (0..count as u32).flat_map(|n| n.wrapping_mul(step % 1000).to_le_bytes()).collect()
        });
        let noise = proptest::collection::vec(any::<u8>(), 0..5000);
        let same = (any::<u8>(), 0usize..5000).prop_map(|(byte, count)| vec![byte; count]);
        prop_oneof![smooth, noise, same]
    }

    const ALL: [Codec; 3] = [Codec::None, Codec::Zip, Codec::Blosc];

    proptest! {
        #[test]
        fn what_is_encoded_returns(payloads in proptest::collection::vec(payload(), 1..4)) {
            let (mut encoder, mut decoder) = (Encoder::default(), Decoder::default());
            for codec in ALL {
                let mut bytes = Vec::new();
                payloads.iter().for_each(|payload| encoder.chunk(codec, payload, &mut bytes));
                let mut at = 0;
                for payload in &payloads {
                    let mut alone = Vec::new();
                    Encoder::default().chunk(codec, payload, &mut alone);
                    prop_assert!(bytes[at..].starts_with(&alone), "an earlier chunk shows");
                    prop_assert!(alone.len() <= payload.len() + SIZE);

                    let mut back = vec![0; payload.len()];
                    at += decoder.chunk(codec, &bytes[at..], &mut back, 0).unwrap();
                    prop_assert_eq!(&back, payload);
                }
                prop_assert_eq!(at, bytes.len());
            }
        }

        #[test]
        fn damaged_chunks_are_refused_or_give_the_length_that_was_asked(
            payload in payload(),
            flips in proptest::collection::vec((any::<usize>(), any::<u8>()), 0..4),
            cut in any::<usize>(),
            asked in prop_oneof![Just(None), (0usize..6000).prop_map(Some)],
        ) {
            for codec in ALL {
                let mut bytes = Vec::new();
                Encoder::default().chunk(codec, &payload, &mut bytes);
                for &(at, byte) in &flips {
                    // Half of the damage is done to the headers, where it tells most.
                    let range = if at % 2 == 0 { bytes.len() } else { bytes.len().min(48) };
                    if range > 0 {
                        bytes[at / 2 % range] ^= byte;
                    }
                }
                bytes.truncate(if cut % 4 == 0 { cut / 4 % (bytes.len() + 1) } else { bytes.len() });
                let mut out = vec![0; asked.unwrap_or(payload.len())];
                if let Ok(length) = Decoder::default().chunk(codec, &bytes, &mut out, 0) {
                    prop_assert!(length <= bytes.len());
                }
            }
        }
    }

    #[test]
    fn an_empty_payload_is_a_size_of_zero() {
        for codec in [Codec::Zip, Codec::Blosc] {
            let mut bytes = Vec::new();
            Encoder::default().chunk(codec, &[], &mut bytes);
            assert_eq!(bytes, [0; 8]);
            assert_eq!(Decoder::default().chunk(codec, &bytes, &mut [], 0).unwrap(), 8);
        }
    }

    #[test]
    fn a_chunk_that_claims_more_than_there_is_has_been_cut_short() {
        let bytes = i64::MAX.to_le_bytes();
        let error = Decoder::default().chunk(Codec::Blosc, &bytes, &mut [0; 16], 7).unwrap_err();
        assert!(matches!(error, VdbError::Truncated { offset: 7, .. }), "{error}");
        let bytes = i64::MIN.to_le_bytes();
        let error = Decoder::default().chunk(Codec::Zip, &bytes, &mut [0; 16], 7).unwrap_err();
        assert!(matches!(error, VdbError::Malformed { offset: 7, .. }), "{error}");
    }
}
