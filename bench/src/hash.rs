//! A hash of results that is the same on every machine, in every build and for ever, so that figures measured years apart
//! can be told to have computed the same thing. It guards against mistakes, not against malice.

use bytemuck::NoUninit;

/// Hashes bytes eight at a time (the multiply and rotate of FxHash), each slice followed by its length.
///
/// FNV-1a over bytes would be as stable, but takes longer than the benchmarks; over words it lets two flipped signs cancel.
#[derive(Debug, Clone)]
pub struct StableHash {
    state: u64,
}

impl Default for StableHash {
    /// The hash of nothing. Begins at a number other than zero, or zeros written first would leave no trace.
    fn default() -> Self {
        StableHash { state: 0x9e37_79b9_7f4a_7c15 }
    }
}

impl StableHash {
    /// Adds the bytes of `values`. Two slices hash differently from the same values in one.
    pub fn write<T: NoUninit>(&mut self, values: &[T]) {
        let bytes: &[u8] = bytemuck::cast_slice(values);
        let (words, tail) = bytes.as_chunks::<8>();
        for &word in words {
            self.add(u64::from_le_bytes(word));
        }
        if !tail.is_empty() {
            let mut word = [0; 8];
            word[..tail.len()].copy_from_slice(tail);
            self.add(u64::from_le_bytes(word));
        }
        self.add(bytes.len() as u64);
    }

    /// The hash of all that was written.
    pub fn finish(&self) -> u64 {
        // The last word has only met the multiplier; spread it over all bits (the finaliser of MurmurHash3).
        let mut h = self.state;
        h = (h ^ (h >> 33)).wrapping_mul(0xff51_afd7_ed55_8ccd);
        h = (h ^ (h >> 33)).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
        h ^ (h >> 33)
    }

    fn add(&mut self, word: u64) {
        self.state = (self.state.rotate_left(5) ^ word).wrapping_mul(0x517c_c1b7_2722_0a95);
    }
}

/// The hash of one slice.
pub fn hash_of<T: NoUninit>(values: &[T]) -> u64 {
    let mut hash = StableHash::default();
    hash.write(values);
    hash.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hash_never_changes() {
        assert_eq!(hash_of::<u8>(&[]), 0xcee3_80d7_532c_4ee4);
        assert_eq!(hash_of(b"undine"), 0x455f_d990_a4df_c3c0);
        assert_eq!(hash_of(&[1.0f32, -2.5, 3.25]), 0x4eea_d21e_f0fc_e222);
    }

    #[test]
    fn the_hash_is_of_the_bytes_whatever_their_type() {
        assert_eq!(hash_of(&[1u64, 2]), hash_of(&[[1u64, 2]]));
    }

    #[test]
    fn flipping_any_one_bit_or_any_two_signs_changes_the_hash() {
        let values = [0.5f32; 16];
        let plain = hash_of(&values);
        for i in 0..16 {
            for bit in 0..32 {
                let mut other = values;
                other[i] = f32::from_bits(other[i].to_bits() ^ (1 << bit));
                assert_ne!(hash_of(&other), plain, "bit {bit} of value {i}");
            }
            for j in 0..i {
                let mut other = values;
                other[i] = -other[i];
                other[j] = -other[j];
                assert_ne!(hash_of(&other), plain, "signs of values {i} and {j}");
            }
        }
    }

    #[test]
    fn where_slices_end_and_zeros_at_the_end_count() {
        let mut split = StableHash::default();
        split.write(&[1u64]);
        split.write(&[2u64]);
        assert_ne!(split.finish(), hash_of(&[1u64, 2]));
        assert_ne!(hash_of(&[1u8, 0]), hash_of(&[1u8]));
        let mut empty_first = StableHash::default();
        empty_first.write::<u8>(&[]);
        empty_first.write(&[1u64]);
        assert_ne!(empty_first.finish(), hash_of(&[1u64]));
    }
}
