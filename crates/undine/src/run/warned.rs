//! What a run has warned of: each thing is told when it comes up first, and counted from then on.

use std::collections::BTreeMap;

/// Warnings by what they are about. Those that differ only by numbers are about the same.
#[derive(Debug, Default)]
pub struct Warned {
    about: BTreeMap<String, Times>,
    /// What is not in the log yet.
    lines: Vec<String>,
}

/// How often something was warned of.
#[derive(Debug)]
struct Times {
    /// Which of all things it was, counted from the first.
    place: usize,
    count: u64,
    last: String,
}

impl Warned {
    /// Takes up a warning; whether nothing like it was told before.
    pub fn add(&mut self, warning: &str) -> bool {
        let place = self.about.len();
        let times = self.about.entry(without_numbers(warning)).or_insert_with(|| Times {
            place,
            count: 0,
            last: String::new(),
        });
        times.count += 1;
        times.last.clear();
        times.last.push_str(warning);
        let is_new = times.count == 1;
        if is_new {
            self.lines.push(format!("warning: {}", in_one_line(warning)));
        }
        is_new
    }

    /// The lines for the log since it was asked last.
    pub fn take_lines(&mut self) -> Vec<String> {
        std::mem::take(&mut self.lines)
    }

    /// What came up more than once, how often, and as it was told last; in the order in which things came up first.
    pub fn again(&self) -> Vec<String> {
        let mut again: Vec<&Times> = self.about.values().filter(|times| times.count > 1).collect();
        again.sort_by_key(|times| times.place);
        let say =
            |times: &Times| format!("{} times, at last: {}", times.count, in_one_line(&times.last));
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
        let told = |frame: u32, share: &str| {
            format!("frame {frame}: `p2` moved by {share} m,\n  which is far")
        };
        assert!(warned.add(&told(1, "1.5e-3")));
        assert!(warned.add("something else"));
        assert!(!warned.add(&told(12, "-20")));
        assert!(!warned.add(&told(13, "0.25")));
        assert!(warned.add(&told(13, "0.25").replace("p2", "p3")), "another thing");
        let lines = warned.take_lines();
        assert_eq!(lines.len(), 3);
        assert_eq!(lines[0], "warning: frame 1: `p2` moved by 1.5e-3 m, which is far");
        assert!(warned.take_lines().is_empty());
        let again = warned.again();
        assert_eq!(again, ["3 times, at last: frame 13: `p2` moved by 0.25 m, which is far"]);
    }
}
