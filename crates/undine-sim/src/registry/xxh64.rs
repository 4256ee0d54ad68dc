//! XXH64, a fast hash of 64 bits (Yann Collet, *xxHash fast digest algorithm*, specification 0.2.0).
//!
//! It serves to notice that something differs, not to keep somebody from making it so. Each bit of the input reaches every bit
//! of the result, and one core hashes about as fast as memory delivers.

const PRIMES: [u64; 5] = [
    0x9E37_79B1_85EB_CA87,
    0xC2B2_AE3D_27D4_EB4F,
    0x1656_67B1_9E37_79F9,
    0x85EB_CA77_C2B2_AE63,
    0x27D4_EB2F_1656_67C5,
];

/// The hash of some bytes.
pub fn xxh64(bytes: &[u8], seed: u64) -> u64 {
    let [p1, p2, p3, p4, p5] = PRIMES;
    let (stripes, rest) = bytes.as_chunks::<32>();

    // Four sums side by side, eight bytes of each stripe to every one.
    let mut hash = if stripes.is_empty() {
        seed.wrapping_add(p5)
    } else {
        let mut sums = [
            seed.wrapping_add(p1).wrapping_add(p2),
            seed.wrapping_add(p2),
            seed,
            seed.wrapping_sub(p1),
        ];
        for stripe in stripes {
            let (lanes, _) = stripe.as_chunks::<8>();
            for (sum, lane) in sums.iter_mut().zip(lanes) {
                *sum = round(*sum, u64::from_le_bytes(*lane));
            }
        }
        let [a, b, c, d] = sums;
        let whole = a
            .rotate_left(1)
            .wrapping_add(b.rotate_left(7))
            .wrapping_add(c.rotate_left(12))
            .wrapping_add(d.rotate_left(18));
        sums.iter()
            .fold(whole, |hash, &sum| (hash ^ round(0, sum)).wrapping_mul(p1).wrapping_add(p4))
    };
    hash = hash.wrapping_add(bytes.len() as u64);

    // What is left, by eights, by fours, and one by one.
    let (eights, rest) = rest.as_chunks::<8>();
    for eight in eights {
        hash ^= round(0, u64::from_le_bytes(*eight));
        hash = hash.rotate_left(27).wrapping_mul(p1).wrapping_add(p4);
    }
    let (fours, rest) = rest.as_chunks::<4>();
    for four in fours {
        hash ^= u64::from(u32::from_le_bytes(*four)).wrapping_mul(p1);
        hash = hash.rotate_left(23).wrapping_mul(p2).wrapping_add(p3);
    }
    for &byte in rest {
        hash ^= u64::from(byte).wrapping_mul(p5);
        hash = hash.rotate_left(11).wrapping_mul(p1);
    }

    // Avalanche.
    hash = (hash ^ hash >> 33).wrapping_mul(p2);
    hash = (hash ^ hash >> 29).wrapping_mul(p3);
    hash ^ hash >> 32
}

#[inline]
fn round(sum: u64, lane: u64) -> u64 {
    let [p1, p2, ..] = PRIMES;
    sum.wrapping_add(lane.wrapping_mul(p2)).rotate_left(31).wrapping_mul(p1)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The reference implementation's own check: bytes from a generator, at lengths that take every path.
    #[test]
    fn hashes_are_those_of_the_reference_implementation() {
        const PRIME32: u64 = 2_654_435_761;
        let mut state = PRIME32;
        let mut bytes = [0_u8; 222];
        for byte in &mut bytes {
            *byte = (state >> 56) as u8;
            state = state.wrapping_mul(11_400_714_785_074_694_797);
        }
        for (len, seed, hash) in [
            (0, 0, 0xEF46_DB37_51D8_E999),
            (0, PRIME32, 0xAC75_FDA2_929B_17EF),
            (1, 0, 0xE934_A84A_DB05_2768),
            (1, PRIME32, 0x5014_6076_43A9_B4C3),
            (4, 0, 0x9136_A0DC_A574_57EE),
            (14, 0, 0x8282_DCC4_994E_35C8),
            (14, PRIME32, 0xC3BD_6BF6_3DEB_6DF0),
            (222, 0, 0xB641_AE8C_B691_C174),
            (222, PRIME32, 0x20CB_8AB7_AE10_C14A),
        ] {
            assert_eq!(xxh64(&bytes[..len], seed), hash, "{len} bytes, seed {seed}");
        }
        assert_eq!(xxh64(b"abc", 0), 0x44BC_2CF5_AD77_0999);
    }
}
