//! Patterns of numbered files: `splash.####.ply`, `splash.$F.ply`, `splash.$F4.ply`, or one file for all frames.
//!
//! The sign of a negative frame takes the place of a digit, as in a cache: `####` of −2 is `-002`. Frames are whole: files of frames
//! between them, such as `splash.0001.5.ply`, belong to no pattern.

use crate::error::{IoError, Result};
use std::path::{Path, PathBuf};

/// A file for each frame, or one for all of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pattern {
    folder: PathBuf,
    /// What stands before the number in the file's name.
    before: String,
    /// The least digits of the number; `None` if the name has none.
    digits: Option<usize>,
    /// What stands behind it.
    after: String,
}

/// More digits than these are a slip of the hand.
const MOST_DIGITS: usize = 12;

impl Pattern {
    /// Reads a pattern, relative to a folder.
    pub fn new(text: &str, folder: &Path) -> Result<Self> {
        let refused = |fault| IoError::BadPattern { pattern: text.to_owned(), fault };
        let path = folder.join(text);
        let (Some(name), Some(folder)) = (path.file_name(), path.parent()) else {
            return Err(refused("it names no file"));
        };
        let name = name.to_str().ok_or_else(|| refused("its name is no text"))?;
        let is_numbered = |text: &str| text.contains('#') || text.contains("$F");
        if folder.components().any(|part| is_numbered(&part.as_os_str().to_string_lossy())) {
            return Err(refused(
                "the number of the frame belongs into the file's name, not a folder's",
            ));
        }
        let (before, digits, after) = match (name.find('#'), name.find("$F")) {
            (None, None) => (name, None, ""),
            (Some(_), Some(_)) => return Err(refused("it has both #### and $F")),
            (Some(start), None) => {
                let rest = name[start..].trim_start_matches('#');
                (&name[..start], Some(name.len() - start - rest.len()), rest)
            }
            (None, Some(start)) => {
                let rest = &name[start + 2..];
                let after = rest.trim_start_matches(|c: char| c.is_ascii_digit());
                let digits = &rest[..rest.len() - after.len()];
                let digits = if digits.is_empty() { Ok(1) } else { digits.parse() };
                (&name[..start], Some(digits.unwrap_or(usize::MAX)), after)
            }
        };
        if is_numbered(after) {
            return Err(refused("it has a second place for the number of the frame"));
        }
        if digits.is_some_and(|digits| digits > MOST_DIGITS) {
            return Err(refused("a frame has twelve digits at most"));
        }
        let (folder, before) = (folder.to_owned(), before.to_owned());
        Ok(Self { folder, before, digits, after: after.to_owned() })
    }

    /// Whether there is a file for each frame.
    pub fn is_numbered(&self) -> bool {
        self.digits.is_some()
    }

    /// The pattern itself, such as `splash.####.ply`, for what is said of all its files.
    pub fn path(&self) -> PathBuf {
        let number = "#".repeat(self.digits.unwrap_or(0));
        self.folder.join(format!("{}{number}{}", self.before, self.after))
    }

    /// The file of a frame, whether it is there or not.
    pub fn file(&self, frame: i64) -> PathBuf {
        self.folder.join(self.name(frame))
    }

    /// What all frames are called alike: the file's name without its ending, and without the number and what sets it off.
    pub fn stem(&self) -> String {
        let name = match self.digits {
            None => self.before.clone(),
            Some(_) => {
                let before = self.before.trim_end_matches(['.', '_', '-', ' ']);
                // The ending is cut off below, so there has to be one.
                if before.is_empty() {
                    self.after.trim_start_matches(['.', '_', '-', ' ']).to_owned()
                } else {
                    format!("{before}{}", self.after)
                }
            }
        };
        match name.rsplit_once('.') {
            Some((stem, _)) if !stem.is_empty() => stem.to_owned(),
            _ => "frame".to_owned(),
        }
    }

    /// The frames for which there are files, ascending; none if the pattern is not numbered.
    pub fn frames(&self) -> Result<Vec<i64>> {
        if !self.is_numbered() {
            return Ok(Vec::new());
        }
        let failed = |source| IoError::Read { file: self.folder.clone(), source };
        let mut frames = Vec::new();
        let here = if self.folder.as_os_str().is_empty() { Path::new(".") } else { &self.folder };
        for entry in std::fs::read_dir(here).map_err(failed)? {
            let name = entry.map_err(failed)?.file_name();
            frames.extend(name.to_str().and_then(|name| self.frame_of(name)));
        }
        frames.sort_unstable();
        Ok(frames)
    }

    /// The file of a frame, which is there.
    pub fn find(&self, frame: i64) -> Result<PathBuf> {
        let file = self.file(frame);
        if file.is_file() {
            return Ok(file);
        }
        if !self.is_numbered() {
            let source = std::io::ErrorKind::NotFound.into();
            return Err(IoError::Read { file, source });
        }
        let nearest = self.nearest_in_words(frame)?;
        Err(IoError::MissingFrame { file, frame, nearest })
    }

    fn nearest_in_words(&self, frame: i64) -> Result<String> {
        let frames = self.frames()?;
        let after = frames.partition_point(|&found| found < frame);
        let count = frames.len();
        Ok(match (after.checked_sub(1).map(|n| frames[n]), frames.get(after)) {
            (None, None) => "no file of this pattern exists".to_owned(),
            (Some(last), None) => format!("the last of {count} frames is {last}"),
            (None, Some(first)) => format!("the first of {count} frames is {first}"),
            (Some(a), Some(b)) => format!("the nearest of {count} frames are {a} and {b}"),
        })
    }

    fn name(&self, frame: i64) -> String {
        match self.digits {
            None => self.before.clone(),
            Some(digits) => format!("{}{frame:0digits$}{}", self.before, self.after),
        }
    }

    /// The frame of a file, if its name is exactly that of one.
    fn frame_of(&self, name: &str) -> Option<i64> {
        let number = name.strip_prefix(self.before.as_str())?.strip_suffix(self.after.as_str())?;
        let frame = number.parse().ok()?;
        (self.name(frame) == name).then_some(frame)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(pattern: &str, frame: i64) -> String {
        Pattern::new(pattern, Path::new("")).unwrap().file(frame).display().to_string()
    }

    #[test]
    fn frames_have_the_digits_that_the_pattern_asks_for() {
        assert_eq!(name("splash.####.ply", 7), "splash.0007.ply");
        assert_eq!(name("splash.####.ply", 12345), "splash.12345.ply");
        assert_eq!(name("splash.$F.ply", 7), "splash.7.ply");
        assert_eq!(name("cache/splash$F4.ply", 1001), "cache/splash1001.ply");
        assert_eq!(name("splash.$F4.ply", -3), "splash.-003.ply");
        assert_eq!(name("splash.####.ply", -2), "splash.-002.ply");
        assert_eq!(name("splash.ply", 7), "splash.ply");
    }

    #[test]
    fn a_pattern_is_told_as_such() {
        for (text, told) in [
            ("a/splash.####.ply", "a/splash.####.ply"),
            ("splash.$F2.ply", "splash.##.ply"),
            ("splash.ply", "splash.ply"),
        ] {
            let path = Pattern::new(text, Path::new("")).unwrap().path();
            assert_eq!(path.display().to_string(), told);
        }
    }

    #[test]
    fn all_frames_have_one_stem() {
        for (pattern, stem) in [
            ("splash.####.ply", "splash"),
            ("cache/splash_$F4.usdc", "splash"),
            ("splash.v2.####.ply", "splash.v2"),
            ("splash.####.fine.ply", "splash.fine"),
            ("splash.ply", "splash"),
            ("####.ply", "frame"),
            ("####.water.ply", "water"),
        ] {
            assert_eq!(Pattern::new(pattern, Path::new("")).unwrap().stem(), stem);
        }
    }

    #[test]
    fn what_is_no_pattern_is_refused() {
        for (pattern, word) in [
            ("a.##.b.##.ply", "second"),
            ("a.##.$F.ply", "both"),
            ("####/a.ply", "folder"),
            ("$F99.ply", "twelve"),
            ("$F99999999999999999999999.ply", "twelve"),
            ("..", "no file"),
        ] {
            let refused = Pattern::new(pattern, Path::new("")).unwrap_err().to_string();
            assert!(refused.contains(word), "{pattern}: {refused}");
        }
    }
}
