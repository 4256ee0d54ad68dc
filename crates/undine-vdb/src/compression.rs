//! How a grid is compressed.

use crate::codec::Codec;
use crate::grid::Class;

/// How a grid is compressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Compression {
    /// How chunks of values are.
    pub codec: Codec,
    /// Whether inactive values that are all alike, or of two sorts, are left out.
    pub active_mask: bool,
}

impl Default for Compression {
    /// As OpenVDB does by default.
    fn default() -> Self {
        Self { codec: Codec::Blosc, active_mask: true }
    }
}

impl Compression {
    /// Nothing at all.
    pub const NONE: Self = Self { codec: Codec::None, active_mask: false };

    /// The flags for it in a file.
    pub fn flags(self) -> u32 {
        let codec = match self.codec {
            Codec::None => 0,
            Codec::Zip => 1,
            Codec::Blosc => 4,
        };
        codec | if self.active_mask { 2 } else { 0 }
    }

    /// Of the flags in a file; where they say both zlib and Blosc it is Blosc.
    pub fn of_flags(flags: u32) -> Self {
        let codec = match flags & 5 {
            0 => Codec::None,
            1 => Codec::Zip,
            _ => Codec::Blosc,
        };
        Self { codec, active_mask: flags & 2 != 0 }
    }

    /// The word for it in a file's metadata.
    pub fn word(self) -> String {
        let codec = match self.codec {
            Codec::None => None,
            Codec::Zip => Some("zip"),
            Codec::Blosc => Some("blosc"),
        };
        let words: Vec<_> =
            codec.into_iter().chain(self.active_mask.then_some("active values")).collect();
        if words.is_empty() { "none".to_owned() } else { words.join(" + ") }
    }

    /// What of it a grid of this class has: as with OpenVDB, level sets and fog volumes are never compressed by zlib.
    pub fn for_class(self, class: Class) -> Self {
        match (self.codec, class) {
            (Codec::Zip, Class::LevelSet | Class::FogVolume) => Self { codec: Codec::None, ..self },
            _ => self,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_and_words_are_those_of_openvdb() {
        let all = [(0, "none"), (1, "zip"), (2, "active values"), (3, "zip + active values")];
        for (flags, word) in all.into_iter().chain([(4, "blosc"), (6, "blosc + active values")]) {
            assert_eq!(Compression::of_flags(flags).flags(), flags);
            assert_eq!(Compression::of_flags(flags).word(), word);
        }
        assert_eq!(Compression::of_flags(7), Compression::default());
        let zip = Compression::of_flags(3);
        assert_eq!(zip.for_class(Class::LevelSet).flags(), 2);
        assert_eq!(zip.for_class(Class::Staggered).flags(), 3);
    }
}
