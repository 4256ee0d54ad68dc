//! Blocks of bytes, compressed by LZ4 as a crate frames them.
//!
//! The first byte is the number of chunks. Zero means that one LZ4 block follows, to the end; otherwise each chunk has its
//! length before it, as LZ4 takes 2 113 929 216 bytes at once and no more.

/// The longest input of one LZ4 block [bytes].
const LONGEST_BLOCK: usize = 0x7E00_0000;

/// A byte of LZ4 stands for 255 bytes at most: a length that says how often the byte before it is repeated.
const EXPANSION: usize = 255;

/// Compresses.
pub fn compress(bytes: &[u8]) -> Vec<u8> {
    compress_by(bytes, LONGEST_BLOCK)
}

fn compress_by(bytes: &[u8], longest: usize) -> Vec<u8> {
    if bytes.len() <= longest {
        let mut out = vec![0; 1 + lz4_flex::block::get_maximum_output_size(bytes.len())];
        let length = lz4_flex::block::compress_into(bytes, &mut out[1..])
            .expect("the room is what the compressor asks for");
        out.truncate(1 + length);
        return out;
    }
    let mut out = vec![bytes.len().div_ceil(longest) as u8];
    for chunk in bytes.chunks(longest) {
        let block = lz4_flex::block::compress(chunk);
        out.extend((block.len() as i32).to_le_bytes());
        out.extend(block);
    }
    out
}

/// Whether so many bytes can be compressed at all: as many chunks as a byte can count.
pub fn fits(length: usize) -> bool {
    length <= 127 * LONGEST_BLOCK
}

/// How many bytes a compressed block can hold at most.
pub fn most(compressed: usize) -> usize {
    compressed.saturating_mul(EXPANSION)
}

/// Takes the compressed bytes apart into at most `limit` bytes; `None` if they are not what [`compress`] makes.
///
/// The caller has checked `limit` against [`most`], so that no more is allocated than the bytes can hold.
pub fn decompress(bytes: &[u8], limit: usize) -> Option<Vec<u8>> {
    let (&chunks, mut rest) = bytes.split_first()?;
    let mut out = vec![0; limit];
    let mut filled = 0;
    if chunks == 0 {
        filled = lz4_flex::block::decompress_into(rest, &mut out).ok()?;
    }
    for _ in 0..chunks {
        let (length, after) = rest.split_first_chunk::<4>()?;
        let (block, after) = after.split_at_checked(u32::from_le_bytes(*length) as usize)?;
        filled += lz4_flex::block::decompress_into(block, &mut out[filled..]).ok()?;
        rest = after;
    }
    out.truncate(filled);
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_block_and_many_chunks_hold_the_same() {
        let bytes: Vec<u8> = (0..10_000_u32).map(|i| ((i * i) >> 7) as u8).collect();
        for packed in [compress(&bytes), compress_by(&bytes, 999)] {
            assert_eq!(decompress(&packed, bytes.len()).unwrap(), bytes);
            assert!(decompress(&packed, bytes.len() - 1).is_none(), "there is no room");
            assert!(bytes.len() <= most(packed.len()));
        }
        assert_eq!(compress(&bytes)[0], 0);
        assert_eq!(compress_by(&bytes, 999)[0], 11);
    }

    #[test]
    fn the_tightest_block_is_within_the_bound() {
        for length in [0, 1, 1000, 1_000_000] {
            let packed = compress(&vec![7; length]);
            assert!(length <= most(packed.len()), "{length}");
        }
    }

    #[test]
    fn torn_blocks_are_refused() {
        assert!(decompress(&[], 10).is_none());
        assert!(decompress(&[3, 1, 0, 0], 10).is_none());
        assert!(decompress(&[1, 255, 255, 255, 255, 0], 10).is_none());
        assert!(decompress(&[0, 0xF0, 255], 10).is_none());
    }
}
