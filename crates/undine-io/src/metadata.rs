//! What a file says of itself: who made it, when in the shot it is, and in which units and directions.
//!
//! Every writer takes a [`FileMetadata`] and puts its [entries](FileMetadata::entries) where its format has a place for such: VDB
//! metadata, comments of PLY and OBJ, the header of STL, `extras` of glTF, fields of a USD layer. Every reader returns what it
//! finds of them.

use crate::names::UpAxis;
use undine_vdb::{Entry, Metadata};

/// What a file says of itself.
#[derive(Debug, Clone, PartialEq)]
pub struct FileMetadata {
    /// The program that made it.
    pub creator: String,
    /// Frames per second.
    pub fps: Option<f64>,
    /// The time in the shot [s].
    pub time: Option<f64>,
    /// The number of the frame.
    pub frame: Option<i64>,
    /// How long a unit of length is [m].
    pub metres_per_unit: f64,
    /// The axis that points up.
    pub up: UpAxis,
}

impl Default for FileMetadata {
    /// Made by this version of Undine, in metres, Y up.
    fn default() -> Self {
        Self {
            creator: format!("Undine {}", env!("CARGO_PKG_VERSION")),
            fps: None,
            time: None,
            frame: None,
            metres_per_unit: 1.0,
            up: UpAxis::Y,
        }
    }
}

/// A value among the metadata of a file.
#[derive(Debug, Clone, PartialEq)]
pub enum Datum {
    /// Words.
    Text(String),
    /// A number.
    Number(f64),
    /// A whole number.
    Whole(i64),
}

impl FileMetadata {
    /// Nothing but the creator that a file names, or none: what a reader starts from.
    pub fn unknown() -> Self {
        Self { creator: String::new(), ..Self::default() }
    }

    /// What there is to say, by the name under which a file says it, always in the same order.
    pub fn entries(&self) -> Vec<(&'static str, Datum)> {
        let numbers = [("fps", self.fps), ("time", self.time)];
        let numbers = numbers.into_iter().filter_map(|(name, number)| Some((name, number?)));
        let creator = Some(&self.creator).filter(|creator| !creator.is_empty());
        let mut entries: Vec<_> =
            creator.map(|creator| ("creator", Datum::Text(creator.clone()))).into_iter().collect();
        entries.extend(numbers.map(|(name, number)| (name, Datum::Number(number))));
        entries.extend(self.frame.map(|frame| ("frame", Datum::Whole(frame))));
        entries.push(("metres_per_unit", Datum::Number(self.metres_per_unit)));
        entries.push(("up_axis", Datum::Text(self.up.word().to_owned())));
        entries
    }

    /// Takes over what an entry says; one of another name or type is passed over.
    pub fn take(&mut self, name: &str, datum: &Datum) {
        match (name, datum) {
            ("creator", Datum::Text(text)) => self.creator.clone_from(text),
            ("up_axis", Datum::Text(text)) => self.up = UpAxis::of_word(text).unwrap_or(self.up),
            ("frame", Datum::Whole(frame)) => self.frame = Some(*frame),
            (_, Datum::Whole(whole)) => self.take(name, &Datum::Number(*whole as f64)),
            ("fps", Datum::Number(fps)) if *fps > 0.0 && fps.is_finite() => self.fps = Some(*fps),
            ("time", Datum::Number(time)) if time.is_finite() => self.time = Some(*time),
            ("metres_per_unit", Datum::Number(unit)) if *unit > 0.0 && unit.is_finite() => {
                self.metres_per_unit = *unit;
            }
            _ => {}
        }
    }

    /// The entries as lines of text, for comments: a name, a space and the value.
    pub fn lines(&self) -> Vec<String> {
        let line = |(name, datum): (&str, Datum)| match datum {
            // A line break would end the comment, and what follows would be read as the file's content.
            Datum::Text(text) => {
                format!("{name} {}", text.replace(|c: char| c.is_control(), " ").trim())
            }
            Datum::Number(number) => format!("{name} {number}"),
            Datum::Whole(whole) => format!("{name} {whole}"),
        };
        self.entries().into_iter().map(line).collect()
    }

    /// Takes over what a line of a comment says, if it is one of [`Self::lines`].
    pub fn take_line(&mut self, line: &str) {
        let line = line.trim();
        let Some((name, value)) = line.split_once(' ') else { return };
        let value = value.trim();
        match name {
            "creator" | "up_axis" => self.take(name, &Datum::Text(value.to_owned())),
            "frame" => {
                if let Ok(frame) = value.parse() {
                    self.take(name, &Datum::Whole(frame));
                }
            }
            _ => {
                if let Ok(number) = value.parse() {
                    self.take(name, &Datum::Number(number));
                }
            }
        }
    }

    /// The entries as the metadata of a VDB file.
    pub fn to_vdb(&self) -> Metadata {
        let entry = |datum| match datum {
            Datum::Text(text) => Entry::String(text),
            Datum::Number(number) => Entry::Double(number),
            Datum::Whole(whole) => Entry::Int64(whole),
        };
        let entries = self.entries().into_iter();
        entries.map(|(name, datum)| (name.to_owned(), entry(datum))).collect()
    }

    /// What the metadata of a VDB file or grid says.
    pub fn of_vdb(metadata: &Metadata) -> Self {
        let mut found = Self::unknown();
        for (name, entry) in metadata {
            let datum = match entry {
                Entry::String(text) => Datum::Text(text.clone()),
                Entry::Double(number) => Datum::Number(*number),
                Entry::Float(number) => Datum::Number(f64::from(*number)),
                Entry::Int64(whole) => Datum::Whole(*whole),
                Entry::Int32(whole) => Datum::Whole(i64::from(*whole)),
                _ => continue,
            };
            found.take(name, &datum);
        }
        found
    }

    /// The entries as the object of a JSON file.
    pub fn to_json(&self) -> serde_json::Map<String, serde_json::Value> {
        let value = |datum| match datum {
            Datum::Text(text) => serde_json::Value::from(text),
            Datum::Number(number) => serde_json::Value::from(number),
            Datum::Whole(whole) => serde_json::Value::from(whole),
        };
        let entries = self.entries().into_iter();
        entries.map(|(name, datum)| (name.to_owned(), value(datum))).collect()
    }

    /// What the object of a JSON file says.
    pub fn of_json(object: &serde_json::Map<String, serde_json::Value>) -> Self {
        let mut found = Self::unknown();
        for (name, value) in object {
            let datum = match value {
                serde_json::Value::String(text) => Datum::Text(text.clone()),
                serde_json::Value::Number(number) => match (number.as_i64(), number.as_f64()) {
                    (Some(whole), _) => Datum::Whole(whole),
                    (None, Some(number)) => Datum::Number(number),
                    (None, None) => continue,
                },
                _ => continue,
            };
            found.take(name, &datum);
        }
        found
    }

    /// The lines in one, separated by semicolons, of so many bytes at most: as many as have room. Those come first without which
    /// positions mean nothing.
    pub fn line(&self, most: usize) -> String {
        let mut lines = self.lines();
        let rank = |line: &String| {
            !["up_axis ", "metres_per_unit "].iter().any(|name| line.starts_with(name))
        };
        lines.sort_by_key(rank);
        let mut whole = String::new();
        for line in lines {
            let between = if whole.is_empty() { "" } else { "; " };
            if whole.len() + between.len() + line.len() <= most {
                whole.push_str(between);
                whole.push_str(&line.replace(';', ","));
            }
        }
        whole
    }

    /// [`Self::line`] in a header of so many bytes, filled up with spaces.
    pub fn header<const N: usize>(&self) -> [u8; N] {
        let mut header = [b' '; N];
        let line = self.line(N);
        header[..line.len()].copy_from_slice(line.as_bytes());
        header
    }

    /// What a header says that [`Self::line`] or [`Self::header`] wrote.
    pub fn of_header(header: &[u8]) -> Self {
        let mut found = Self::unknown();
        String::from_utf8_lossy(header).split(';').for_each(|line| found.take_line(line));
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn full() -> FileMetadata {
        FileMetadata {
            fps: Some(23.976),
            time: Some(0.1 + 0.2),
            frame: Some(-7),
            metres_per_unit: 0.01,
            up: UpAxis::Z,
            ..FileMetadata::default()
        }
    }

    #[test]
    fn metadata_returns_from_every_form() {
        for metadata in [full(), FileMetadata::default()] {
            let mut of_lines = FileMetadata::unknown();
            metadata.lines().iter().for_each(|line| of_lines.take_line(line));
            assert_eq!(of_lines, metadata);
            assert_eq!(FileMetadata::of_vdb(&metadata.to_vdb()), metadata);
            assert_eq!(FileMetadata::of_json(&metadata.to_json()), metadata);
            assert_eq!(FileMetadata::of_header(&metadata.header::<200>()), metadata);
        }
    }

    #[test]
    fn a_short_header_has_whole_entries_only() {
        let long = FileMetadata { creator: "a long name ".repeat(9), ..full() };
        let header = long.header::<80>();
        // A text begins with `solid`, a header of ours never.
        assert!(header.starts_with(b"metres_per_unit 0.01; up_axis Z"));
        let found = FileMetadata::of_header(&header);
        assert_eq!((found.up, found.metres_per_unit), (UpAxis::Z, 0.01));
        assert_eq!(found.fps, Some(23.976));
        assert_eq!(found.creator, "");
    }

    #[test]
    fn nonsense_is_passed_over() {
        let mut metadata = FileMetadata::unknown();
        for line in [
            "fps NaN",
            "fps -1",
            "time inf",
            "up_axis W",
            "frame x",
            "",
            "fps",
            "metres_per_unit 0",
        ] {
            metadata.take_line(line);
        }
        assert_eq!(metadata, FileMetadata::unknown());
    }

    #[test]
    fn a_line_betweenin_the_creator_does_not_end_the_comment() {
        let metadata = FileMetadata { creator: "a\nend_header".into(), ..FileMetadata::default() };
        assert!(metadata.lines().iter().all(|line| !line.contains('\n')));
    }
}
