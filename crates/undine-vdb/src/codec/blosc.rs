//! Frames of Blosc 1, as OpenVDB uses it: LZ4 over byte-shuffled elements of four bytes.
//!
//! A frame is a header of 16 bytes, the places where its blocks begin, and the blocks. A block is one stream, or one for each
//! byte of an element, each a length and its bytes; a stream as long as what it expands to is that itself. Frames that other
//! programs wrote may have several blocks, elements of any length, zlib in place of LZ4, or be stored.

use crate::codec::lz4::Compressor;
use crate::codec::shuffle::{shuffle, unshuffle};
use crate::codec::zip;
use crate::error::{Result, VdbError};

const HEADER: usize = 16;
/// The version of frames, and of LZ4's in them.
const VERSIONS: [u8; 2] = [2, 1];
const SHUFFLED: u8 = 1;
const STORED: u8 = 2;
const BIT_SHUFFLED: u8 = 4;
const RESERVED: u8 = 8;
const WHOLE: u8 = 16;
const LZ4: u8 = 1;
const ZLIB: u8 = 3;
/// What the codecs of bits 5 to 7 of the flags are called.
const CODECS: [&str; 8] = [
    "BloscLZ",
    "LZ4",
    "Snappy",
    "zlib",
    "Zstandard",
    "the unknown codec 5",
    "the unknown codec 6",
    "the unknown codec 7",
];
/// Longer elements do not make streams of their own,
const MAX_SPLITS: usize = 16;
/// and neither do they where such a stream would be shorter than this; nor are shorter payloads compressed at all.
const MIN_STREAM: usize = 128;
/// The elements of the frames that are written [bytes].
const ELEMENT: usize = 4;

/// Whether blocks of this length have one stream for each byte of an element.
fn splits(block: usize, element: usize) -> bool {
    element <= MAX_SPLITS && block / element >= MIN_STREAM
}

/// What a frame's header says.
struct Header {
    flags: u8,
    element: usize,
    block: usize,
}

fn malformed(offset: u64, found: String, wanted: impl Into<String>) -> VdbError {
    VdbError::Malformed { offset, found, wanted: wanted.into() }
}

/// The `i32` at a place, if it is there and not negative.
fn length_at(frame: &[u8], at: usize) -> Option<usize> {
    let four = frame.get(at..)?.first_chunk()?;
    usize::try_from(i32::from_le_bytes(*four)).ok()
}

/// How many bytes a frame expands to, as its header says: not more than a promise.
pub fn expanded_length(frame: &[u8]) -> Option<usize> {
    (frame.len() >= HEADER).then(|| length_at(frame, 4)).flatten()
}

/// Expands frames.
#[derive(Debug, Default)]
pub struct Decoder {
    /// A block before its bytes are put back in order.
    shuffled: Vec<u8>,
    zip: zip::Decoder,
}

impl Decoder {
    /// Fills `out` from a frame, which is at `offset` of the file.
    pub fn frame(&mut self, frame: &[u8], out: &mut [u8], offset: u64) -> Result<()> {
        let (header, frame) = Header::read(frame, out.len(), offset)?;
        if out.is_empty() {
            return Ok(());
        }
        if header.flags & STORED != 0 {
            let stored = &frame[HEADER..];
            if stored.len() != out.len() {
                let found = format!("a stored Blosc frame of {} bytes", frame.len());
                let wanted = format!("{} bytes and a header of 16", out.len());
                return Err(malformed(offset, found, wanted));
            }
            out.copy_from_slice(stored);
            return Ok(());
        }
        header.refuse_unsupported(offset)?;
        for (index, block) in out.chunks_mut(header.block).enumerate() {
            let start = length_at(frame, HEADER + 4 * index).filter(|&at| at < frame.len());
            let start = start.ok_or_else(|| {
                let found = format!("block {index} of a Blosc frame begins outside of it");
                malformed(offset, found, format!("the frame has {} bytes", frame.len()))
            })?;
            if header.flags & SHUFFLED != 0 && header.element > 1 {
                self.shuffled.resize(header.block, 0);
                let mut shuffled = std::mem::take(&mut self.shuffled);
                let result =
                    self.block(&header, frame, start, &mut shuffled[..block.len()], offset);
                self.shuffled = shuffled;
                result?;
                unshuffle(header.element, &self.shuffled[..block.len()], block);
            } else {
                self.block(&header, frame, start, block, offset)?;
            }
        }
        Ok(())
    }

    /// Expands the streams of one block, which begin at `at` of the frame.
    fn block(
        &mut self,
        header: &Header,
        frame: &[u8],
        mut at: usize,
        block: &mut [u8],
        offset: u64,
    ) -> Result<()> {
        let is_split = header.flags & WHOLE == 0
            && splits(header.block, header.element)
            && block.len() == header.block;
        let streams = if is_split { header.element } else { 1 };
        if !block.len().is_multiple_of(streams) {
            let found = format!("a Blosc block of {} bytes in {streams} streams", block.len());
            return Err(malformed(offset, found, "all streams expand to the same length"));
        }
        for out in block.chunks_exact_mut(block.len() / streams) {
            let here = offset + at as u64;
            let length = length_at(frame, at).filter(|&length| length > 0);
            let stream =
                length.and_then(|length| frame[at + 4..].get(..length)).ok_or_else(|| {
                    let found =
                        "a stream of a Blosc frame is empty or ends outside of it".to_owned();
                    malformed(here, found, format!("the frame has {} bytes", frame.len()))
                })?;
            at += 4 + stream.len();
            if stream.len() == out.len() {
                out.copy_from_slice(stream);
            } else if header.flags >> 5 == ZLIB {
                self.zip.stream(stream, out, here + 4)?;
            } else {
                expand_lz4(stream, out, here + 4)?;
            }
        }
        Ok(())
    }
}

fn expand_lz4(stream: &[u8], out: &mut [u8], offset: u64) -> Result<()> {
    let found = match lz4_flex::block::decompress_into(stream, out) {
        Ok(length) if length == out.len() => return Ok(()),
        Ok(length) => format!("an LZ4 stream that expands to {length} bytes"),
        Err(error) => format!("an LZ4 stream with an error: {error}"),
    };
    Err(malformed(offset, found, format!("it expands to {} bytes", out.len())))
}

impl Header {
    /// Checks the header of a frame that expands to `payload` bytes, and gives the frame as long as it says itself.
    fn read(frame: &[u8], payload: usize, offset: u64) -> Result<(Self, &[u8])> {
        if frame.len() < HEADER {
            let what = "the header of a Blosc frame".to_owned();
            return Err(VdbError::Truncated { offset, what, wanted: HEADER as u64 });
        }
        let [version, _, flags, element] = [frame[0], frame[1], frame[2], frame[3]];
        if version != VERSIONS[0] || flags & RESERVED != 0 {
            return Err(VdbError::Unsupported {
                offset,
                what: format!("a Blosc frame of version {version} with flags {flags:#04x}"),
                wanted: "Blosc 1 writes version 2".to_owned(),
            });
        }
        if length_at(frame, 4) != Some(payload) {
            let found = match length_at(frame, 4) {
                Some(length) => format!("a Blosc frame that expands to {length} bytes"),
                None => "a Blosc frame of negative length".to_owned(),
            };
            return Err(malformed(offset, found, format!("it expands to {payload} bytes")));
        }
        let whole = length_at(frame, 12).filter(|length| (HEADER..=frame.len()).contains(length));
        let whole = whole.ok_or_else(|| {
            let found = "a Blosc frame whose length does not fit in its chunk".to_owned();
            malformed(offset, found, format!("it has at most {} bytes", frame.len()))
        })?;
        let block = length_at(frame, 8).filter(|block| (1..=payload.max(1)).contains(block));
        // A frame of nothing has no blocks, whatever it says of their length.
        let block = if payload == 0 { Some(1) } else { block };
        match block {
            Some(block) if element > 0 => {
                Ok((Self { flags, element: usize::from(element), block }, &frame[..whole]))
            }
            _ => {
                let found =
                    format!("a Blosc frame with elements of {element} bytes and odd blocks");
                let wanted = format!("blocks of 1 to {payload} bytes and elements of 1 to 255");
                Err(malformed(offset, found, wanted))
            }
        }
    }

    fn refuse_unsupported(&self, offset: u64) -> Result<()> {
        let codec = self.flags >> 5;
        let what = if self.flags & BIT_SHUFFLED != 0 {
            "Blosc's bit-shuffle".to_owned()
        } else if codec != LZ4 && codec != ZLIB {
            format!("a Blosc frame compressed by {}", CODECS[usize::from(codec)])
        } else {
            return Ok(());
        };
        let wanted = "OpenVDB writes LZ4 with byte-shuffle".to_owned();
        Err(VdbError::Unsupported { offset, what, wanted })
    }
}

/// Makes frames.
#[derive(Debug, Default)]
pub struct Encoder {
    lz4: Compressor,
    shuffled: Vec<u8>,
}

impl Encoder {
    /// Appends the frame of a payload; where that would not be smaller than the payload appends nothing and says so.
    pub fn frame(&mut self, payload: &[u8], out: &mut Vec<u8>) -> bool {
        let start = out.len();
        if payload.len() < MIN_STREAM || i32::try_from(payload.len()).is_err() {
            return false;
        }
        // One byte less than the payload is all the room there is: a frame that does not end in it is not smaller.
        out.resize(start + payload.len() - 1, 0);
        let length = self.frame_into(payload, &mut out[start..]);
        out.truncate(start + length.unwrap_or(0));
        length.is_some()
    }

    /// Writes a frame to the start of `out` and says how long it is; `None` if it does not fit.
    fn frame_into(&mut self, payload: &[u8], out: &mut [u8]) -> Option<usize> {
        // As Blosc does: blocks are whole elements, so that what is left over behind them is a block of its own.
        let block = payload.len() / ELEMENT * ELEMENT;
        let rest = &payload[block..];
        let streams = if splits(block, ELEMENT) { ELEMENT } else { 1 };
        self.shuffled.resize(block, 0);
        shuffle(ELEMENT, &payload[..block], &mut self.shuffled);

        let starts = if rest.is_empty() { 1 } else { 2 };
        let mut at = HEADER + 4 * starts;
        put(out, HEADER, at)?;
        for stream in self.shuffled.chunks_exact(block / streams) {
            at = put_stream(&mut self.lz4, stream, out, at)?;
        }
        if !rest.is_empty() {
            put(out, HEADER + 4, at)?;
            put(out, at, rest.len())?;
            out.get_mut(at + 4..at + 4 + rest.len())?.copy_from_slice(rest);
            at += 4 + rest.len();
        }

        let flags = SHUFFLED | LZ4 << 5 | if streams == 1 { WHOLE } else { 0 };
        out[..4].copy_from_slice(&[VERSIONS[0], VERSIONS[1], flags, ELEMENT as u8]);
        put(out, 4, payload.len())?;
        put(out, 8, block)?;
        put(out, 12, at)?;
        Some(at)
    }
}

/// Writes a length as Blosc does; `None` if there is no room.
fn put(out: &mut [u8], at: usize, length: usize) -> Option<()> {
    out.get_mut(at..at + 4)?.copy_from_slice(&(length as u32).to_le_bytes());
    Some(())
}

/// Writes a stream and its length, compressed if that is shorter, and says where it ends; `None` if there is no room.
fn put_stream(lz4: &mut Compressor, stream: &[u8], out: &mut [u8], at: usize) -> Option<usize> {
    let room = out.get_mut(at + 4..)?;
    let room_len = room.len();
    let length = match lz4.block(stream, &mut room[..room_len.min(stream.len() - 1)]) {
        Some(length) => length,
        None => {
            room.get_mut(..stream.len())?.copy_from_slice(stream);
            stream.len()
        }
    };
    put(out, at, length)?;
    Some(at + 4 + length)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header(flags: u8, element: u8, payload: usize, block: usize, whole: usize) -> Vec<u8> {
        let mut bytes = vec![2, 1, flags, element];
        [payload, block, whole].iter().for_each(|&n| bytes.extend((n as u32).to_le_bytes()));
        bytes
    }

    fn decode(frame: &[u8], payload: usize) -> Result<Vec<u8>> {
        let mut out = vec![0; payload];
        Decoder::default().frame(frame, &mut out, 100).map(|()| out)
    }

    #[test]
    fn stored_and_empty_frames_are_read() {
        let mut frame = header(SHUFFLED | STORED | LZ4 << 5, 4, 5, 5, 21);
        frame.extend([1, 2, 3, 4, 5]);
        assert_eq!(decode(&frame, 5).unwrap(), [1, 2, 3, 4, 5]);
        assert_eq!(expanded_length(&frame), Some(5));
        assert!(decode(&frame[..20], 5).is_err());
        assert!(decode(&frame, 6).is_err());
        assert!(decode(&header(SHUFFLED | STORED, 4, 0, 0, 16), 0).unwrap().is_empty());
    }

    #[test]
    fn short_blocks_of_old_files_are_read() {
        // Blocks of 256 bytes, each one stream, and a shorter last one, as OpenVDB 3 wrote them.
        let payload: Vec<u8> = (0..700u32).map(|n| (n / 16) as u8).collect();
        let mut frame = header(SHUFFLED | LZ4 << 5, 4, 700, 256, 0);
        frame.resize(16 + 4 * 3, 0);
        for (index, block) in payload.chunks(256).enumerate() {
            let mut shuffled = vec![0; block.len()];
            shuffle(4, block, &mut shuffled);
            let start = frame.len();
            put(&mut frame, 16 + 4 * index, start);
            let stream = lz4_flex::block::compress(&shuffled);
            frame.extend((stream.len() as u32).to_le_bytes());
            frame.extend(stream);
        }
        let whole = frame.len();
        put(&mut frame, 12, whole);
        assert_eq!(decode(&frame, 700).unwrap(), payload);
    }

    #[test]
    fn zlib_in_blosc_is_read() {
        let payload: Vec<u8> = (0..600u32).map(|n| (n % 7) as u8).collect();
        let mut stream = Vec::new();
        assert!(zip::Encoder::default().stream(&payload, &mut stream));
        let mut frame = header(WHOLE | ZLIB << 5, 1, 600, 600, 24 + stream.len());
        frame.extend(20u32.to_le_bytes());
        frame.extend((stream.len() as u32).to_le_bytes());
        frame.extend(stream);
        assert_eq!(decode(&frame, 600).unwrap(), payload);
    }

    #[test]
    fn what_is_not_supported_is_named() {
        for (flags, word) in [
            (0, "BloscLZ"),
            (2 << 5, "Snappy"),
            (4 << 5, "Zstandard"),
            (LZ4 << 5 | BIT_SHUFFLED, "bit-shuffle"),
            (LZ4 << 5 | RESERVED, "flags 0x28"),
        ] {
            let error = decode(&header(flags, 4, 64, 64, 16), 64).unwrap_err();
            assert!(matches!(error, VdbError::Unsupported { offset: 100, .. }), "{error}");
            assert!(error.to_string().contains(word), "{error}");
        }
    }

    #[test]
    fn headers_that_lie_are_refused() {
        let good = (LZ4 << 5, 4, 64, 64, 16);
        for (flags, element, payload, block, whole) in [
            (good.0, 0, 64, 64, 16),
            (good.0, 4, 65, 64, 16),
            (good.0, 4, 64, 0, 16),
            (good.0, 4, 64, 65, 16),
            (good.0, 4, 64, 64, 15),
            (good.0, 4, 64, 64, 17),
            (good.0, 4, usize::MAX, 64, 16),
            // The start of the block is not there.
            good,
        ] {
            let error = decode(&header(flags, element, payload, block, whole), 64).unwrap_err();
            assert!(matches!(error, VdbError::Malformed { .. }), "{error}");
        }
        assert!(matches!(decode(&[2; 15], 64), Err(VdbError::Truncated { .. })));
    }

    #[test]
    fn frames_have_one_stream_for_each_byte_of_an_element() {
        let values: Vec<f32> = (0..512).map(|n| 1.0 + n as f32 * 0.25).collect();
        let mut frame = Vec::new();
        assert!(Encoder::default().frame(bytemuck::cast_slice(&values), &mut frame));
        assert_eq!(frame[..4], [2, 1, SHUFFLED | LZ4 << 5, 4]);
        assert_eq!(length_at(&frame, 12), Some(frame.len()));
        // The lowest bytes are all 0: a stream of a few bytes, which is the first.
        assert!(length_at(&frame, 20).unwrap() < 16);
        let mut short = Vec::new();
        assert!(Encoder::default().frame(bytemuck::cast_slice(&[1.5f32; 64]), &mut short));
        assert_eq!(short[2], SHUFFLED | WHOLE | LZ4 << 5);
    }
}
