//! LZ4 blocks, written: Yann Collet's LZ4 block format, by the greedy search of its fast mode.
//!
//! Blosc compresses every leaf as four streams of at most 512 bytes, each a block of its own. To clear a table of hashes for
//! each would cost more than the search, so the table is kept: places are numbered on from block to block, and what a block
//! finds that was numbered before its own start is not there for it. The bytes are those that a clear table would give.

/// The shortest match.
const MIN_MATCH: usize = 4;
/// A match begins at least so far from the end of the block,
const LAST_MATCH: usize = 12;
/// and ends at least so far from it.
const LAST_LITERALS: usize = 5;
/// How far back a match may lie.
const MAX_DISTANCE: usize = 65_535;
/// After so many misses (as a power of two) the search looks at every second place, then at every third, …
const PATIENCE: u32 = 4;
/// How long the table is (as a power of two).
const TABLE: u32 = 12;

/// Compresses blocks.
#[derive(Debug)]
pub struct Compressor {
    /// By hash of four bytes, the number of the place where they were last seen.
    table: Box<[u32; 1 << TABLE]>,
    /// The number of the first place of the next block; 0 is the number of no place.
    base: u32,
}

impl Default for Compressor {
    fn default() -> Self {
        Self { table: Box::new([0; 1 << TABLE]), base: 1 }
    }
}

fn four(bytes: &[u8], at: usize) -> u32 {
    bytes[at..].first_chunk().map_or(0, |four| u32::from_le_bytes(*four))
}

/// How many bytes from `there` on are those from `here` on, before `end`.
fn common(bytes: &[u8], mut there: usize, here: usize, end: usize) -> usize {
    let mut at = here;
    while at + 8 <= end {
        let eight = |at: usize| bytes[at..].first_chunk().map_or(0, |b| u64::from_le_bytes(*b));
        let difference = eight(at) ^ eight(there);
        if difference != 0 {
            return at - here + difference.trailing_zeros() as usize / 8;
        }
        (at, there) = (at + 8, there + 8);
    }
    while at < end && bytes[at] == bytes[there] {
        (at, there) = (at + 1, there + 1);
    }
    at - here
}

/// What has been written of a block.
struct Output<'a> {
    bytes: &'a mut [u8],
    len: usize,
}

impl Output<'_> {
    /// One sequence: the literals from `anchor` to `start` of the input, and a match. `None` if there is no room for it.
    fn sequence(
        &mut self,
        input: &[u8],
        [anchor, start]: [usize; 2],
        distance: usize,
        length: usize,
    ) -> Option<()> {
        let (literals, more) = (start - anchor, length - MIN_MATCH);
        if literals < 15 && more < 15 {
            // Most are short. Then 16 bytes are copied whatever their number is, if there is room for so many.
            let from = input[anchor..].first_chunk::<16>();
            let to = self.bytes.get_mut(self.len..).and_then(|room| room.first_chunk_mut::<19>());
            if let (Some(from), Some(to)) = (from, to) {
                to[0] = (literals << 4 | more) as u8;
                to[1..17].copy_from_slice(from);
                to[1 + literals..3 + literals].copy_from_slice(&(distance as u16).to_le_bytes());
                self.len += 3 + literals;
                return Some(());
            }
        }
        self.literals(&input[anchor..start], more)?;
        let to = self.bytes.get_mut(self.len..self.len + 2 + extra(more))?;
        to[..2].copy_from_slice(&(distance as u16).to_le_bytes());
        lengthen(&mut to[2..], more);
        self.len += to.len();
        Some(())
    }

    /// A token and literals. `None` if there is no room for them.
    fn literals(&mut self, literals: &[u8], more: usize) -> Option<()> {
        let start = 1 + extra(literals.len());
        let to = self.bytes.get_mut(self.len..self.len + start + literals.len())?;
        to[0] = (literals.len().min(15) << 4 | more.min(15)) as u8;
        lengthen(&mut to[1..start], literals.len());
        to[start..].copy_from_slice(literals);
        self.len += to.len();
        Some(())
    }
}

/// How many bytes the part of a length takes that does not fit in the token.
fn extra(length: usize) -> usize {
    if length < 15 { 0 } else { (length - 15) / 255 + 1 }
}

/// Writes the part of a length that does not fit in the token to the bytes that it takes.
fn lengthen(to: &mut [u8], length: usize) {
    if let [to @ .., last] = to {
        to.fill(255);
        *last = (length - 15 - 255 * to.len()) as u8;
    }
}

impl Compressor {
    /// Writes a block to the start of `out` and says how long it is; `None` if it does not fit or is of 2 GiB or more.
    pub fn block(&mut self, input: &[u8], out: &mut [u8]) -> Option<usize> {
        i32::try_from(input.len()).ok()?;
        let mut output = Output { bytes: out, len: 0 };
        let mut anchor = 0;
        if input.len() > LAST_MATCH {
            let base = self.places(input.len());
            let table = &mut *self.table;
            let slot = |four: u32| (four.wrapping_mul(2_654_435_761) >> (32 - TABLE)) as usize;
            let last = input.len() - LAST_MATCH;
            let end = input.len() - LAST_LITERALS;
            table[slot(four(input, 0))] = base;
            let mut at = 1;
            let mut misses = 1 << PATIENCE;
            while at <= last {
                let here = four(input, at);
                let found = &mut table[slot(here)];
                let candidate = found.wrapping_sub(base) as usize;
                *found = base + at as u32;
                let is_near = candidate < at && at - candidate <= MAX_DISTANCE;
                if !is_near || four(input, candidate) != here {
                    at += misses >> PATIENCE;
                    misses += 1;
                    continue;
                }
                let mut back = 0;
                while at - back > anchor
                    && candidate > back
                    && input[at - back - 1] == input[candidate - back - 1]
                {
                    back += 1;
                }
                let ahead = common(input, candidate + MIN_MATCH, at + MIN_MATCH, end);
                let length = back + MIN_MATCH + ahead;
                output.sequence(input, [anchor, at - back], at - candidate, length)?;
                at += MIN_MATCH + ahead;
                anchor = at;
                misses = 1 << PATIENCE;
                if at <= last {
                    table[slot(four(input, at - 2))] = base + at as u32 - 2;
                }
            }
        }
        output.literals(&input[anchor..], 0)?;
        Some(output.len)
    }

    /// Numbers for the places of a block of this length: that of the first.
    fn places(&mut self, length: usize) -> u32 {
        let length = u32::try_from(length).unwrap_or(u32::MAX);
        if self.base.checked_add(length).is_none() {
            self.table.fill(0);
            self.base = 1;
        }
        let base = self.base;
        self.base = base.saturating_add(length);
        base
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn returns(compressor: &mut Compressor, input: &[u8]) -> usize {
        let mut out = vec![0; input.len() + input.len() / 255 + 16];
        let length = compressor.block(input, &mut out).unwrap();
        let mut back = vec![0; input.len()];
        assert_eq!(
            lz4_flex::block::decompress_into(&out[..length], &mut back).unwrap(),
            input.len()
        );
        assert_eq!(back, input);
        // A room that is just large enough serves, and one that is smaller is refused.
        let mut exact = vec![0; length];
        assert_eq!(compressor.block(input, &mut exact), Some(length));
        assert_eq!(exact, out[..length], "an earlier block shows");
        assert_eq!(compressor.block(input, &mut exact[1..]), None);
        length
    }

    #[test]
    fn blocks_return_from_another_decoder() {
        let mut compressor = Compressor::default();
        for length in (0..80).chain([127, 128, 511, 512, 513, 4096, 70_000, 300_000]) {
            let noise = |n: u32| (n.wrapping_mul(2_654_435_761) ^ n >> 3).wrapping_mul(97) >> 24;
            returns(&mut compressor, &vec![7; length]);
            let slow: Vec<u8> = (0..length).map(|n| (n / 9) as u8).collect();
            returns(&mut compressor, &slow);
            let random: Vec<u8> = (0..length as u32).map(|n| noise(n) as u8).collect();
            returns(&mut compressor, &random);
            let mixed: Vec<u8> = (0..length as u32).map(|n| (noise(n / 40) & 3) as u8).collect();
            returns(&mut compressor, &mixed);
        }
    }

    #[test]
    fn a_run_takes_next_to_nothing() {
        assert!(returns(&mut Compressor::default(), &[0; 512]) <= 12);
    }

    #[test]
    fn numbers_of_places_start_again_before_they_overflow() {
        let mut compressor = Compressor { base: u32::MAX - 700, ..Compressor::default() };
        let input: Vec<u8> = (0..512).map(|n| (n % 50) as u8).collect();
        let mut first = vec![0; 512];
        let length = Compressor::default().block(&input, &mut first).unwrap();
        for _ in 0..4 {
            let mut out = vec![0; 512];
            assert_eq!(compressor.block(&input, &mut out), Some(length));
            assert_eq!(out, first);
        }
        assert!(compressor.base < 10_000);
    }
}
