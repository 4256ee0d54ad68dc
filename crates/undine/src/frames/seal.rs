//! What the scene over a cache says of itself at its end, in comments: the checksums of the files beside it, and of all that stands above.
//!
//! The manifest cannot say it, because the scene is written after that, when a frame is whole.

use std::collections::BTreeMap;

/// How a line begins that tells a checksum.
const MARK: &str = "# crc32 ";

/// What the last line tells the checksum of.
const ALL: &str = "all above";

/// What a scene says of itself.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Seal {
    /// Nothing, as those of older versions.
    Missing,
    /// It is what it was; the checksums of files beside it, by name.
    Whole(BTreeMap<String, u32>),
    /// It is not what it was.
    Broken,
}

/// A scene with the checksums of files beside it, and its own.
pub(super) fn sealed(mut text: String, beside: &BTreeMap<String, u32>) -> String {
    for (name, crc32) in beside {
        text += &line(*crc32, name);
    }
    let own = crc32fast::hash(text.as_bytes());
    text + &line(own, ALL)
}

fn line(crc32: u32, of: &str) -> String {
    format!("{MARK}{crc32:08x} {of}\n")
}

/// What a scene says of itself.
pub(super) fn of(text: &str) -> Seal {
    let last = text.lines().next_back().unwrap_or_default();
    if !text.contains(MARK) && !last.starts_with('#') {
        return Seal::Missing;
    }
    let start = text.trim_end_matches('\n').rfind('\n').map_or(0, |at| at + 1);
    let (above, last) = text.split_at(start);
    if last != line(crc32fast::hash(above.as_bytes()), ALL) {
        return Seal::Broken;
    }
    let beside = above.lines().filter_map(|line| line.strip_prefix(MARK)).filter_map(|line| {
        let (crc32, name) = line.split_once(' ')?;
        Some((name.to_owned(), u32::from_str_radix(crc32, 16).ok()?))
    });
    Seal::Whole(beside.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    const SCENE: &str = "#usda 1.0\n(\n    endTimeCode = 24\n)\n\ndef Xform \"balls\"\n{\n}\n";

    #[test]
    fn a_scene_that_is_sealed_knows_what_is_beside_it() {
        let beside = BTreeMap::from([("a.usda".to_owned(), 7), ("b c.usdc".to_owned(), u32::MAX)]);
        assert_eq!(of(&sealed(SCENE.to_owned(), &beside)), Seal::Whole(beside));
        assert_eq!(of(SCENE), Seal::Missing);
        assert_eq!(of(""), Seal::Missing);
    }

    #[test]
    fn a_bit_that_flips_breaks_the_seal() {
        let one = BTreeMap::from([("a.usda".to_owned(), 7)]);
        for beside in [BTreeMap::new(), one] {
            let text = sealed(SCENE.to_owned(), &beside);
            let mark = text.rfind('#').unwrap();
            for bit in 0..8 * text.len() {
                let mut bytes = text.clone().into_bytes();
                bytes[bit / 8] ^= 1 << (bit % 8);
                // What is no text, or has something else in place of the sign of a comment, cannot be read as a scene.
                let Ok(flipped) = std::str::from_utf8(&bytes) else { continue };
                let is_whole = bit / 8 != mark && of(flipped) != Seal::Broken;
                assert!(!is_whole, "bit {bit}:\n{flipped}");
            }
        }
    }
}
