//! Numbers that look random and are for ever the same, so that every run of a benchmark has the same data.

use undine_core::glam::DVec3;

/// The odd constant by which SplitMix64 counts: 2⁶⁴ over the golden ratio.
pub const GOLDEN: u64 = 0x9E37_79B9_7F4A_7C15;

/// A random number for each number (SplitMix64).
pub fn scramble(n: u64) -> u64 {
    finish(n.wrapping_add(1).wrapping_mul(GOLDEN))
}

/// A random number in `0..1` for each number.
pub fn unit(n: u64) -> f64 {
    fraction(scramble(n))
}

/// A random point in the unit cube for each number.
pub fn point(n: u64) -> DVec3 {
    let axis = |salt: u64| {
        let step = (n + 1).wrapping_mul(GOLDEN);
        fraction(finish(step.wrapping_add(salt.wrapping_mul(0xD1B5_4A32_D192_ED03))))
    };
    DVec3::new(axis(1), axis(2), axis(3))
}

/// How SplitMix64 mixes the bits of a number.
fn finish(mut x: u64) -> u64 {
    x = (x ^ (x >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    x ^ (x >> 31)
}

/// The upper 53 bits as a number in `0..1`.
fn fraction(bits: u64) -> f64 {
    (bits >> 11) as f64 / (1_u64 << 53) as f64
}
