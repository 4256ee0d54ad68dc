//! How a file keeps an attribute: whole, or by a codec with fewer bits (`points/AttributeArray.h` of OpenVDB).
//!
//! Encoding rounds to the nearest code where OpenVDB cuts off: half the error, and a code that was read is written again.

use half::f16;

/// How a file keeps the values of an attribute.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Stored {
    /// Every bit (`null`).
    #[default]
    Whole,
    /// Numbers as half floats (`trnc`).
    Half,
    /// Numbers between −½ and ½ in 8 bits (`fxpt8`).
    Centred8,
    /// Numbers between −½ and ½ in 16 bits (`fxpt16`).
    Centred16,
    /// Numbers between 0 and 1 in 8 bits (`ufxpt8`).
    Unit8,
    /// Numbers between 0 and 1 in 16 bits (`ufxpt16`).
    Unit16,
    /// Vectors of length 1 in 16 bits (`uvec`).
    Direction,
}

impl Stored {
    /// Every way.
    pub const ALL: [Self; 7] = [
        Self::Whole,
        Self::Half,
        Self::Centred8,
        Self::Centred16,
        Self::Unit8,
        Self::Unit16,
        Self::Direction,
    ];

    /// The word for it in a file.
    pub fn word(self) -> &'static str {
        match self {
            Self::Whole => "null",
            Self::Half => "trnc",
            Self::Centred8 => "fxpt8",
            Self::Centred16 => "fxpt16",
            Self::Unit8 => "ufxpt8",
            Self::Unit16 => "ufxpt16",
            Self::Direction => "uvec",
        }
    }

    /// The way of this word.
    pub fn of_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|stored| stored.word() == word)
    }
}

/// A number as the bits of a half float, or back.
pub(crate) mod truncated {
    use super::f16;

    pub fn encode(value: f32) -> u16 {
        f16::from_f32(value).to_bits()
    }

    pub fn decode(code: u16) -> f32 {
        f16::from_bits(code).to_f32()
    }
}

/// A number between 0 and 1 as a share of the greatest code; what is outside becomes the nearest, and NaN 0.
pub(crate) mod unit {
    pub fn encode8(value: f32) -> u8 {
        (value.clamp(0.0, 1.0) * 255.0 + 0.5) as u8
    }

    pub fn decode8(code: u8) -> f32 {
        f32::from(code) / 255.0
    }

    pub fn encode16(value: f32) -> u16 {
        (value.clamp(0.0, 1.0) * 65535.0 + 0.5) as u16
    }

    pub fn decode16(code: u16) -> f32 {
        f32::from(code) / 65535.0
    }
}

/// As [`unit`], of the number plus ½.
pub(crate) mod centred {
    use super::unit;

    pub fn encode8(value: f32) -> u8 {
        unit::encode8(value + 0.5)
    }

    pub fn decode8(code: u8) -> f32 {
        unit::decode8(code) - 0.5
    }

    pub fn encode16(value: f32) -> u16 {
        unit::encode16(value + 0.5)
    }

    pub fn decode16(code: u16) -> f32 {
        unit::decode16(code) - 0.5
    }
}

/// A direction by where it meets the octahedron |x| + |y| + |z| = 126: the signs in bits 15 to 13, |x| in 6 bits and |y| in 7.
///
/// |x| has no room above 63; such a direction is mirrored to 127 − |x| and 127 − |y|, whose sum no other has.
pub(crate) mod direction {
    const SIGNS: [u16; 3] = [0x8000, 0x4000, 0x2000];

    pub fn encode(value: [f32; 3]) -> u16 {
        let size = value.map(f32::abs);
        let sum: f32 = size.iter().sum();
        let is_direction = sum.is_finite() && sum > 0.0;
        if !is_direction {
            return 0;
        }
        let [x, y, _] = size.map(|c| (c / sum * 126.0 + 0.5) as u16);
        let y = y.min(126 - x);
        let (x, y) = if x > 63 { (127 - x, 127 - y) } else { (x, y) };
        let negative = |axis: usize| if value[axis] < 0.0 { SIGNS[axis] } else { 0 };
        negative(0) | negative(1) | negative(2) | x << 7 | y
    }

    pub fn decode(code: u16) -> [f32; 3] {
        let (x, y) = (code >> 7 & 63, code & 127);
        let (x, y) = if x + y > 126 { (127 - x, 127 - y) } else { (x, y) };
        // No writer makes a sum of 127.
        let size = [x, y, 126u16.saturating_sub(x + y)].map(f32::from);
        let length = size.iter().map(|c| c * c).sum::<f32>().sqrt();
        [0, 1, 2].map(|axis| {
            let sign = if code & SIGNS[axis] == 0 { 1.0 } else { -1.0 };
            sign * size[axis] / length
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_those_of_the_format() {
        let words = ["null", "trnc", "fxpt8", "fxpt16", "ufxpt8", "ufxpt16", "uvec"];
        assert_eq!(Stored::ALL.map(Stored::word), words);
        assert!(words.iter().all(|word| Stored::of_word(word).unwrap().word() == *word));
        assert_eq!(Stored::of_word("grp"), None);
    }

    #[test]
    fn a_code_that_was_read_is_written_again() {
        for code in 0..=u8::MAX {
            assert_eq!(unit::encode8(unit::decode8(code)), code);
            assert_eq!(centred::encode8(centred::decode8(code)), code);
        }
        for code in 0..=u16::MAX {
            assert_eq!(unit::encode16(unit::decode16(code)), code);
            assert_eq!(centred::encode16(centred::decode16(code)), code);
            if !f16::from_bits(code).is_nan() {
                assert_eq!(truncated::encode(truncated::decode(code)), code);
            }
        }
    }

    #[test]
    fn fixed_point_spans_its_range() {
        assert_eq!([0.0, 1.0, -3.0, 3.0, f32::NAN].map(unit::encode8), [0, 255, 0, 255, 0]);
        assert_eq!([-0.5, 0.5, -3.0, f32::INFINITY].map(centred::encode16), [0, 65535, 0, 65535]);
        assert_eq!([0, 255].map(centred::decode8), [-0.5, 0.5]);
        assert_eq!(unit::decode16(13107), 0.2);
        assert!((unit::decode8(unit::encode8(0.3)) - 0.3).abs() <= 0.5 / 255.0 + 1e-6);
    }

    #[test]
    fn directions_return_to_within_a_degree() {
        for i in 0..2000 {
            let (a, z) = (i as f32 * 2.4, i as f32 / 999.5 - 1.0);
            let r = (1.0 - z * z).max(0.0).sqrt();
            let value = [r * a.cos(), r * a.sin(), z];
            let back = direction::decode(direction::encode(value));
            let apart = [0, 1, 2].map(|c| back[c] - value[c]).map(|d| d * d).iter().sum::<f32>();
            assert!(apart.sqrt() < 0.0175, "{value:?} became {back:?}");
        }
        assert_eq!(direction::decode(direction::encode([0.0, -3.0, 0.0])), [0.0, -1.0, 0.0]);
        assert_eq!(direction::encode([1.0, 0.0, 0.0]), 1 << 7 | 127);
        assert_eq!([[0.0; 3], [f32::NAN; 3], [f32::INFINITY; 3]].map(direction::encode), [0; 3]);
    }

    #[test]
    fn a_direction_that_was_read_is_written_again() {
        for code in 0..=u16::MAX {
            let value = direction::decode(code);
            if (code >> 7 & 63) + (code & 127) != 127 {
                assert_eq!(direction::decode(direction::encode(value)), value, "code {code:#06x}");
            }
            assert!(value.iter().all(|c| c.is_finite()));
        }
    }
}
