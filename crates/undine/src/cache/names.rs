//! How the moments of a run and their files are named.
//!
//! A whole frame's file is `NAME.1001.EXT`: the frame padded to four places as `$F4` in Houdini and `%04d` elsewhere
//! write it, so that frame −5 is `-005`. A moment between frames is named by its fractional frame number, as `$FF` writes
//! it: a quarter after frame 1001 is `NAME.1001.25.EXT`. Fractions are cut, not rounded, after four digits (a third is
//! `.3333`) and come from whole numbers, so that they are the same everywhere; sequences sort by name within a frame.

use std::cmp::Ordering;
use std::fmt;

use serde::{Deserialize, Serialize};

use super::error::CacheError;

/// What the name of every file under way begins with; only such files are ever swept.
pub const TEMPORARY: &str = ".undine-tmp.";
/// The file that lists what is whole.
pub const MANIFEST: &str = "manifest.json";
/// A second manifest, written after the first, for when that is lost.
pub const MANIFEST_COPY: &str = "manifest.copy.json";
/// The file that is locked while a run writes the cache.
pub const LOCK: &str = ".undine-lock";
/// Name and extension of checkpoints: `checkpoint.1001.undine`.
const CHECKPOINT: (&str, &str) = ("checkpoint", "undine");
/// The most moments that a frame may be cut into: any two fractions up to hundredths differ in their first four digits.
const MOST_PARTS: u32 = 100;

/// A moment whose state is written: a frame's end, or a part of the way from it to the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct FrameId {
    frame: i64,
    /// In lowest terms and below one, so that equal moments are equal values.
    part: u32,
    parts: u32,
}

impl FrameId {
    /// The end of a frame.
    pub fn whole(frame: i64) -> FrameId {
        FrameId { frame, part: 0, parts: 1 }
    }

    /// The moment `part / parts` of the way from `frame` to the next one; nothing unless `part < parts <= 100`.
    pub fn between(frame: i64, part: u32, parts: u32) -> Option<FrameId> {
        if part >= parts || parts > MOST_PARTS {
            return None;
        }
        let common = greatest_common_divisor(part, parts);
        Some(FrameId { frame, part: part / common, parts: parts / common })
    }

    /// The frame at or before this moment.
    pub fn frame(self) -> i64 {
        self.frame
    }

    /// The frame's number, with its part between frames.
    pub fn number(self) -> f64 {
        self.frame as f64 + f64::from(self.part) / f64::from(self.parts)
    }

    /// Whether this is a frame's end, not a moment between two frames.
    pub fn is_whole(self) -> bool {
        self.part == 0
    }

    /// The name of this moment's file of the output `liquid.ply`: `liquid.1001.ply`.
    ///
    /// Refuses outputs that are no plain file names, or whose files could be taken for others.
    pub fn file_name(self, output: &str) -> Result<String, CacheError> {
        let (name, extension) = split_output(output)?;
        Ok(format!("{name}.{self}.{extension}"))
    }
}

/// The fractional frame number, padded to four places: `1001`, `1001.25`, `-005`.
impl fmt::Display for FrameId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // A part of the way on from a frame before 0 lies nearer to 0: a quarter after frame -5 is -4.75.
        let (sign, whole, part) = match (self.frame < 0, self.part) {
            (true, 1..) => ("-", self.frame.unsigned_abs() - 1, self.parts - self.part),
            (true, 0) => ("-", self.frame.unsigned_abs(), 0),
            (false, part) => ("", self.frame.unsigned_abs(), part),
        };
        write!(f, "{sign}{whole:0width$}", width = 4 - sign.len())?;
        if part == 0 {
            return Ok(());
        }
        let digits = format!("{:04}", u64::from(part) * 10_000 / u64::from(self.parts));
        write!(f, ".{}", digits.trim_end_matches('0'))
    }
}

impl Ord for FrameId {
    fn cmp(&self, other: &FrameId) -> Ordering {
        self.frame
            .cmp(&other.frame)
            .then_with(|| (self.part * other.parts).cmp(&(other.part * self.parts)))
    }
}

impl PartialOrd for FrameId {
    fn partial_cmp(&self, other: &FrameId) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// The exact text in a manifest: `1001`, or `1001+1/4`.
impl From<FrameId> for String {
    fn from(id: FrameId) -> String {
        match id.part {
            0 => id.frame.to_string(),
            part => format!("{}+{part}/{}", id.frame, id.parts),
        }
    }
}

impl TryFrom<String> for FrameId {
    type Error = String;

    fn try_from(text: String) -> Result<FrameId, String> {
        let parse = || {
            let (frame, fraction) = text.split_once('+').unwrap_or((&text, "0/1"));
            let (part, parts) = fraction.split_once('/')?;
            FrameId::between(frame.parse().ok()?, part.parse().ok()?, parts.parse().ok()?)
        };
        parse().ok_or_else(|| {
            format!("`{text}` is not a frame (`1001`, or `1001+1/4` between frames)")
        })
    }
}

/// What a file name in the cache says by itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Named {
    /// The output that the file belongs to, `liquid.ply`.
    pub output: String,
    /// The frame at or before its moment.
    pub frame: i64,
    /// Whether its moment is a frame's end.
    pub whole: bool,
}

/// Reads `NAME.1001.EXT` or `NAME.1001.25.EXT`; nothing for every other name.
pub(super) fn parse(file: &str) -> Option<Named> {
    let (name, rest) = file.split_once('.')?;
    let (number, mut extension) = rest.split_once('.')?;
    let digits = number.strip_prefix('-').unwrap_or(number);
    if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    let mut frame: i64 = number.parse().ok()?;
    let mut whole = true;
    if let Some((fraction, after)) = extension.split_once('.')
        && !fraction.is_empty()
        && fraction.bytes().all(|b| b.is_ascii_digit())
    {
        extension = after;
        whole = false;
        // -4.75 is a quarter after frame -5.
        if number.starts_with('-') {
            frame = frame.checked_sub(1)?;
        }
    }
    let output = format!("{name}.{extension}");
    split_output(&output).ok()?;
    Some(Named { output, frame, whole })
}

/// The name of the checkpoint at the end of a frame: `checkpoint.1001.undine`.
pub(super) fn checkpoint(frame: i64) -> String {
    format!("{}.{}.{}", CHECKPOINT.0, FrameId::whole(frame), CHECKPOINT.1)
}

/// Whether a file bears the name of a checkpoint.
pub(super) fn is_checkpoint(file: &str) -> bool {
    let middle = file.strip_prefix(CHECKPOINT.0).and_then(|rest| rest.strip_suffix(CHECKPOINT.1));
    middle
        .and_then(|rest| rest.strip_prefix('.')?.strip_suffix('.')?.parse().ok())
        .is_some_and(|frame: i64| checkpoint(frame) == file)
}

/// Whether a name is that of one file in one folder, on every system: no path, nothing hidden, nothing reserved.
pub(super) fn plain(name: &str) -> Result<(), CacheError> {
    let refuse = |why| Err(CacheError::Name { name: name.chars().take(80).collect(), why });
    let odd = |c: char| c.is_control() || r#"/\<>:"|?*"#.contains(c);
    if name.is_empty() || name.len() > 200 {
        return refuse("must have 1 to 200 bytes");
    }
    if name.contains(odd) {
        return refuse(r#"must not contain control characters or any of / \ < > : " | ? *"#);
    }
    if name.starts_with('.') || name.ends_with(['.', ' ']) {
        return refuse("must not begin with a dot, nor end in a dot or a space");
    }
    Ok(())
}

/// Parts `liquid.ply` at its first dot.
fn split_output(output: &str) -> Result<(&str, &str), CacheError> {
    plain(output)?;
    let refuse = |why| Err(CacheError::Name { name: output.to_owned(), why });
    let Some((name, extension)) = output.split_once('.') else {
        return refuse("must have an extension, as `liquid.ply` has");
    };
    // `liquid.1001.25.ply` must have one meaning only.
    if extension.starts_with(|c: char| c.is_ascii_digit() || c == '.') {
        return refuse("must not have an extension that begins with a digit or a dot");
    }
    if (name, extension) == CHECKPOINT {
        return refuse("is the name of checkpoints");
    }
    Ok((name, extension))
}

fn greatest_common_divisor(a: u32, b: u32) -> u32 {
    if b == 0 { a } else { greatest_common_divisor(b, a % b) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(frame: i64, part: u32, parts: u32) -> String {
        FrameId::between(frame, part, parts).unwrap().file_name("liquid.bgeo.sc").unwrap()
    }

    #[test]
    fn files_are_named_by_their_fractional_frame_number() {
        assert_eq!(named(1001, 0, 1), "liquid.1001.bgeo.sc");
        assert_eq!(named(7, 0, 3), "liquid.0007.bgeo.sc");
        assert_eq!(named(123_456, 0, 1), "liquid.123456.bgeo.sc");
        assert_eq!(named(1001, 1, 4), "liquid.1001.25.bgeo.sc");
        assert_eq!(named(1001, 2, 4), "liquid.1001.5.bgeo.sc");
        assert_eq!(named(1001, 1, 3), "liquid.1001.3333.bgeo.sc");
        assert_eq!(named(1001, 1, 100), "liquid.1001.01.bgeo.sc");
        assert_eq!(named(-5, 0, 1), "liquid.-005.bgeo.sc");
        assert_eq!(named(-5, 1, 4), "liquid.-004.75.bgeo.sc");
        assert_eq!(named(-1, 3, 4), "liquid.-000.25.bgeo.sc");
        assert_eq!(named(i64::MIN, 0, 1), "liquid.-9223372036854775808.bgeo.sc");
    }

    #[test]
    fn any_two_moments_of_a_frame_have_two_names_that_sort_as_they_do() {
        let mut moments = Vec::new();
        for parts in 1..=MOST_PARTS {
            moments.extend((0..parts).map(|part| FrameId::between(3, part, parts).unwrap()));
        }
        moments.sort();
        moments.dedup();
        let names: Vec<_> = moments.iter().map(|id| id.to_string()).collect();
        assert!(names.windows(2).all(|pair| pair[0] < pair[1]));
        assert!(FrameId::between(0, 1, 101).is_none() && FrameId::between(0, 2, 2).is_none());
        assert!(FrameId::between(0, 0, 0).is_none());
    }

    #[test]
    fn names_and_manifest_texts_read_back_as_they_were_written() {
        for frame in [-1001, -1, 0, 1, 1001, i64::MAX, i64::MIN + 1] {
            for (part, parts) in [(0, 1), (1, 4), (1, 3), (99, 100)] {
                let id = FrameId::between(frame, part, parts).unwrap();
                let read = parse(&id.file_name("a.ply").unwrap()).unwrap();
                assert_eq!(read, Named { output: "a.ply".into(), frame, whole: part == 0 });
                assert_eq!(FrameId::try_from(String::from(id)).unwrap(), id);
            }
            assert!(is_checkpoint(&checkpoint(frame)));
            assert_eq!(parse(&checkpoint(frame)), None);
        }
        for text in
            ["", "+", "1+", "1+1", "1+1/1", "1+1/0", "1+-1/2", "99999999999999999999", "1.5"]
        {
            assert!(FrameId::try_from(text.to_owned()).is_err(), "{text}");
        }
        for file in [
            "a.ply",
            "a..ply",
            "a.12.",
            "a.12.34",
            "a.x.ply",
            "a.12..ply",
            ".12.ply",
            "a.1.2.3.ply",
            "a.--1.ply",
            "a.+1.ply",
        ] {
            assert_eq!(parse(file), None, "{file}");
        }
        for file in [
            "checkpoint.1.undine",
            "checkpoint.undine",
            "checkpoint.0001.undin",
            "xcheckpoint.0001.undine",
        ] {
            assert!(!is_checkpoint(file), "{file}");
        }
    }

    #[test]
    fn outputs_that_are_no_plain_names_are_refused() {
        let long = "a".repeat(300) + ".ply";
        let bad = [
            "", "a", "a.", ".ply", "../a.ply", "/a.ply", "a\\b.ply", "a.1.ply", "a\0.ply",
            "a.ply ", "a:b.ply", &long,
        ];
        for output in bad {
            assert!(
                matches!(FrameId::whole(1).file_name(output), Err(CacheError::Name { .. })),
                "{output}"
            );
        }
        assert!(FrameId::whole(1).file_name("checkpoint.undine").is_err());
        assert!(FrameId::whole(1).file_name("eau-légère.ply").is_ok());
    }
}
