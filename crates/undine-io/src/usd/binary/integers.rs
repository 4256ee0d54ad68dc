//! Lists of integers, as a crate packs them before LZ4.
//!
//! Each integer becomes the difference to the one before. The difference that occurs most stands first; then come two bits
//! for each integer, the lowest ones of a byte first: 0 for that difference, or 1, 2, 3 for one that follows in a small, a
//! medium or the full number of bytes (1, 2, 4 for 32-bit integers and 2, 4, 8 for 64-bit ones).

use super::lz4;

/// An integer that can be packed: `i32` or `i64`. Unsigned ones are packed as the signed ones of the same bits.
pub trait Packed: Copy + Ord + bytemuck::Pod {
    /// How many bytes it has.
    const WIDTH: usize;
    fn minus(self, other: Self) -> Self;
    fn plus(self, other: Self) -> Self;
    fn wide(self) -> i64;
    fn narrow(wide: i64) -> Self;
}

impl Packed for i32 {
    const WIDTH: usize = 4;
    fn minus(self, other: Self) -> Self {
        self.wrapping_sub(other)
    }
    fn plus(self, other: Self) -> Self {
        self.wrapping_add(other)
    }
    fn wide(self) -> i64 {
        self.into()
    }
    fn narrow(wide: i64) -> Self {
        wide as Self
    }
}

impl Packed for i64 {
    const WIDTH: usize = 8;
    fn minus(self, other: Self) -> Self {
        self.wrapping_sub(other)
    }
    fn plus(self, other: Self) -> Self {
        self.wrapping_add(other)
    }
    fn wide(self) -> i64 {
        self
    }
    fn narrow(wide: i64) -> Self {
        wide
    }
}

/// Packs and compresses.
pub fn compress<T: Packed>(values: &[T]) -> Vec<u8> {
    lz4::compress(&pack(values))
}

/// How many bytes are needed at most before LZ4 to pack so many integers.
pub fn packed_length<T: Packed>(count: usize) -> Option<usize> {
    count.checked_mul(T::WIDTH)?.checked_add(count.div_ceil(4) + T::WIDTH)
}

/// The fewest compressed bytes that can hold so many integers: two bits for each, 255 bytes of them in one.
pub fn fewest_bytes(count: usize) -> usize {
    count.div_ceil(4).div_ceil(lz4::most(1))
}

/// Takes apart what [`compress`] made of `count` integers; `None` if it is not that.
///
/// The caller has checked `count` against [`fewest_bytes`].
pub fn decompress<T: Packed>(bytes: &[u8], count: usize) -> Option<Vec<T>> {
    if count == 0 {
        return Some(Vec::new());
    }
    let limit = packed_length::<T>(count)?.min(lz4::most(bytes.len()));
    unpack(&lz4::decompress(bytes, limit)?, count)
}

/// The difference of each integer to the one before.
fn differences<T: Packed>(values: &[T]) -> impl Iterator<Item = T> {
    let before = std::iter::once(T::narrow(0)).chain(values.iter().copied());
    values.iter().zip(before).map(|(value, before)| value.minus(before))
}

/// The difference that occurs most, or of several such the largest.
///
/// Of a long list one difference in so many is counted: another choice would make the result larger, not wrong.
fn commonest<T: Packed>(values: &[T]) -> T {
    const COUNTED: usize = 1 << 16;
    let stride = values.len().div_ceil(COUNTED).max(1);
    let mut counted: Vec<T> = differences(values).step_by(stride).collect();
    counted.sort_unstable();
    let runs = counted.chunk_by(|a, b| a == b);
    runs.max_by_key(|run| run.len()).map_or(T::narrow(0), |run| run[0])
}

fn pack<T: Packed>(values: &[T]) -> Vec<u8> {
    if values.is_empty() {
        return Vec::new();
    }
    let common = commonest(values);
    let codes = T::WIDTH;
    // Eight bytes are always written and as many kept as the code says, so there is room for eight more at the end.
    let most = packed_length::<T>(values.len()).expect("the list is in memory");
    let mut out = vec![0; most + 8];
    out[..codes].copy_from_slice(bytemuck::bytes_of(&common));
    let mut end = codes + values.len().div_ceil(4);
    for (i, difference) in differences(values).enumerate() {
        let wide = difference.wide();
        let bits = 64 - (wide ^ (wide >> 63)).leading_zeros() as usize + 1;
        let code = if difference == common {
            0
        } else if bits <= 2 * T::WIDTH {
            1
        } else if bits <= 4 * T::WIDTH {
            2
        } else {
            3
        };
        out[codes + i / 4] |= code << (2 * (i % 4));
        out[end..end + 8].copy_from_slice(&wide.to_le_bytes());
        end += length_of::<T>(code);
    }
    out.truncate(end);
    out
}

/// How many bytes follow for this code.
fn length_of<T: Packed>(code: u8) -> usize {
    match code {
        0 => 0,
        1 => T::WIDTH / 4,
        2 => T::WIDTH / 2,
        _ => T::WIDTH,
    }
}

fn unpack<T: Packed>(bytes: &[u8], count: usize) -> Option<Vec<T>> {
    let (common, rest) = bytes.split_at_checked(T::WIDTH)?;
    let common: T = bytemuck::pod_read_unaligned(common);
    let (codes, mut rest) = rest.split_at_checked(count.div_ceil(4))?;
    let mut values = Vec::with_capacity(count);
    let mut value = T::narrow(0);
    for i in 0..count {
        let code = codes[i / 4] >> (2 * (i % 4)) & 3;
        let difference = if code == 0 {
            common
        } else {
            let length = length_of::<T>(code);
            let (bytes, after) = rest.split_at_checked(length)?;
            // Eight bytes at once are faster, where there are so many.
            let wide = rest.first_chunk().copied().unwrap_or_else(|| {
                let mut wide = [0; 8];
                wide[..length].copy_from_slice(bytes);
                wide
            });
            rest = after;
            let unused = 64 - 8 * length as u32;
            T::narrow(i64::from_le_bytes(wide) << unused >> unused)
        };
        value = value.plus(difference);
        values.push(value);
    }
    Some(values)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The example in the text of the format: seven integers in twelve bytes.
    #[test]
    fn the_differences_are_coded_by_their_length() {
        let packed = pack(&[123_i32, 124, 125, 100_125, 100_125, 100_126, 100_126]);
        let mut expected = vec![1, 0, 0, 0, 0b11_00_00_01, 0b01_00_01, 123];
        expected.extend(100_000_i32.to_le_bytes());
        expected.extend([0, 0]);
        assert_eq!(packed, expected);
    }

    #[test]
    fn every_list_comes_back() {
        let hash = |i: i64| i.wrapping_mul(0x2545_F491_4F6C_DD1D).rotate_left(29);
        for count in [0, 1, 2, 3, 4, 5, 15, 16, 17, 1000, 70_001] {
            let wide: Vec<i64> = (0..count).map(|i| hash(i) >> (hash(i + 7) & 63)).collect();
            assert_eq!(decompress::<i64>(&compress(&wide), wide.len()).unwrap(), wide);
            let narrow: Vec<i32> = wide.iter().map(|&v| (v >> 32 >> (v & 31)) as i32).collect();
            assert_eq!(decompress::<i32>(&compress(&narrow), narrow.len()).unwrap(), narrow);
        }
        let edges = [i64::MIN, i64::MAX, 0, -1, 1, i64::MIN, i64::MIN, -32768, 32767, 65534, 0];
        assert_eq!(decompress::<i64>(&compress(&edges), edges.len()).unwrap(), edges);
        let edges = [i32::MIN, i32::MAX, 0, -1, 1, i32::MIN, -128, -256, -384, -257, 0, 127, 255];
        assert_eq!(decompress::<i32>(&compress(&edges), edges.len()).unwrap(), edges);
    }

    #[test]
    fn equal_steps_take_two_bits_and_hardly_those() {
        let ids: Vec<i64> = (0..1_000_000).collect();
        let packed = compress(&ids);
        assert!(packed.len() < 1100, "{}", packed.len());
        assert!(packed.len() >= fewest_bytes(ids.len()));
    }

    #[test]
    fn a_torn_list_is_refused() {
        let values: Vec<i32> = (0..100).map(|i| i * i * i).collect();
        let packed = pack(&values);
        for length in 0..packed.len() {
            assert!(unpack::<i32>(&packed[..length], 100).is_none(), "{length}");
        }
    }
}
