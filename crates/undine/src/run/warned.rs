//! What a run has been told by those who work in it: each thing is told when it comes up first, and counted from then on.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;

/// Something that was told while a run goes on.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Told {
    /// Something that is most likely wrong.
    Warning(String),
    /// Something that went as it should, and that a person may want to know.
    Note(String),
}

impl Told {
    /// The words of it.
    pub fn text(&self) -> &str {
        match self {
            Self::Warning(text) | Self::Note(text) => text,
        }
    }

    /// The same kind of thing in other words.
    fn with(&self, text: String) -> Self {
        match self {
            Self::Warning(_) => Self::Warning(text),
            Self::Note(_) => Self::Note(text),
        }
    }
}

/// As a line of the log.
impl fmt::Display for Told {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = match self {
            Self::Warning(_) => "warning",
            Self::Note(_) => "note",
        };
        write!(f, "{kind}: {}", in_one_line(self.text()))
    }
}

/// Warnings and notes by what they are about. Those that differ only by numbers are about the same.
#[derive(Debug, Default)]
pub struct Warned {
    about: BTreeMap<Told, Times>,
    /// What is not in the log yet.
    news: Vec<Told>,
}

/// How often something was told.
#[derive(Debug)]
struct Times {
    /// Which of all things it was, counted from the first.
    place: usize,
    count: u64,
    last: Told,
}

impl Warned {
    /// Takes up what was told; whether nothing like it was told before.
    pub fn add(&mut self, told: &Told) -> bool {
        let place = self.about.len();
        let about = told.with(without_numbers(told.text()));
        let times = self.about.entry(about).or_insert_with(|| Times {
            place,
            count: 0,
            last: told.clone(),
        });
        times.count += 1;
        times.last.clone_from(told);
        let is_new = times.count == 1;
        if is_new {
            self.news.push(told.clone());
        }
        is_new
    }

    /// What is new since it was asked last, for the log.
    pub fn take_news(&mut self) -> Vec<Told> {
        std::mem::take(&mut self.news)
    }

    /// What came up more than once, how often, and as it was told last; in the order in which things came up first.
    pub fn again(&self) -> Vec<Told> {
        let mut again: Vec<&Times> = self.about.values().filter(|times| times.count > 1).collect();
        again.sort_by_key(|times| times.place);
        let say = |times: &Times| {
            let last = in_one_line(times.last.text());
            times.last.with(format!("{} times, at last: {last}", times.count))
        };
        again.into_iter().map(say).collect()
    }
}

/// A text of several lines as one.
pub fn in_one_line(text: &str) -> String {
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    lines.collect::<Vec<_>>().join(" ")
}

/// A text with each word that is a number replaced by a sign for it.
fn without_numbers(text: &str) -> String {
    let word = |word: &str| {
        let bare = word.trim_matches(|c: char| !c.is_ascii_alphanumeric() && c != '-');
        let is_number = bare.contains(|c: char| c.is_ascii_digit()) && bare.parse::<f64>().is_ok();
        if is_number { word.replacen(bare, "#", 1) } else { word.to_owned() }
    };
    text.split_whitespace().map(word).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_differs_by_numbers_alone_is_counted() {
        let mut warned = Warned::default();
        let words = |frame: u32, share: &str| {
            format!("frame {frame}: `p2` moved by {share} m,\n  which is far")
        };
        let told = |frame: u32, share: &str| Told::Warning(words(frame, share));
        assert!(warned.add(&told(1, "1.5e-3")));
        assert!(warned.add(&Told::Warning("something else".to_owned())));
        assert!(!warned.add(&told(12, "-20")));
        assert!(!warned.add(&told(13, "0.25")));
        let other = Told::Warning(words(13, "0.25").replace("p2", "p3"));
        assert!(warned.add(&other), "another thing");
        assert!(warned.add(&Told::Note(words(1, "1.5e-3"))), "a note is no warning");
        assert!(!warned.add(&Told::Note(words(2, "1.5e-3"))));
        let lines: Vec<String> = warned.take_news().iter().map(ToString::to_string).collect();
        assert_eq!(lines.len(), 4);
        assert_eq!(lines[0], "warning: frame 1: `p2` moved by 1.5e-3 m, which is far");
        assert_eq!(lines[3], "note: frame 1: `p2` moved by 1.5e-3 m, which is far");
        assert!(warned.take_news().is_empty());
        let again: Vec<String> = warned.again().iter().map(ToString::to_string).collect();
        let counted = [
            "warning: 3 times, at last: frame 13: `p2` moved by 0.25 m, which is far",
            "note: 2 times, at last: frame 2: `p2` moved by 1.5e-3 m, which is far",
        ];
        assert_eq!(again, counted);
    }
}
