//! Random numbers from stable ids: the n-th number of a seed is always the same, whoever asks first.

/// A number evenly spread over 0 .. 1, by seed and number (SplitMix64 of Steele, Lea and Flood 2014).
#[inline]
pub fn unit(seed: u64, number: u64) -> f64 {
    (bits(seed, number) >> 11) as f64 * (1.0 / (1_u64 << 53) as f64)
}

/// 64 random bits, by seed and number.
#[inline]
pub fn bits(seed: u64, number: u64) -> u64 {
    // The seed is mixed once by itself, so that (seed, n + 1) and (seed + 1, n) have nothing in common.
    mix(mix(seed.wrapping_add(GOLDEN)).wrapping_add(number.wrapping_mul(GOLDEN)))
}

const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

#[inline]
fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_evenly_spread() {
        let count = 100_000;
        let mean = (0..count).map(|n| unit(7, n)).sum::<f64>() / count as f64;
        let variance = (0..count).map(|n| (unit(7, n) - 0.5).powi(2)).sum::<f64>() / count as f64;
        assert!((mean - 0.5).abs() < 0.005 && (variance - 1.0 / 12.0).abs() < 0.001);
        let pairs = (0..count).map(|n| (unit(7, n) - 0.5) * (unit(8, n) - 0.5)).sum::<f64>();
        assert!((pairs / count as f64).abs() < 0.001);
    }
}
