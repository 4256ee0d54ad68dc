//! A text with its longest lines cut, for messages that show where something stands: what is not written by hand may have lines of
//! megabytes.

use std::ops::Range;

/// Longer lines are cut [bytes].
const LONGEST: usize = 1000;
/// What is kept of a line before and behind what is spoken of [bytes].
const KEPT: [usize; 2] = [80, 160];
const CUT: &str = "…";

/// What was kept of each line of a text.
pub(crate) struct Lines {
    /// What was kept, and where it begins now.
    kept: Vec<(Range<usize>, usize)>,
}

impl Lines {
    /// Cuts what is too long, about these bytes of the text; nothing if no line is.
    pub(crate) fn cut(
        text: &str,
        about: impl Iterator<Item = usize> + Clone,
    ) -> Option<(Self, String)> {
        if text.len() <= LONGEST || text.lines().all(|line| line.len() <= LONGEST) {
            return None;
        }
        let (mut kept, mut shorter, mut start) = (Vec::new(), String::new(), 0);
        for line in text.split_inclusive('\n') {
            let (end, begins) = (start + line.len(), shorter.len());
            if line.len() <= LONGEST {
                kept.push((start..end, begins));
                shorter += line;
            } else {
                let middle = about.clone().find(|at| (start..end).contains(at)).unwrap_or(start);
                let from = floor(text, middle.saturating_sub(KEPT[0]).max(start));
                let to = floor(text, (middle + KEPT[1]).min(end));
                shorter += if from > start { CUT } else { "" };
                kept.push((from..to, shorter.len()));
                shorter += text[from..to].trim_end_matches('\n');
                shorter += if to < end { CUT } else { "" };
                shorter.push('\n');
            }
            start = end;
        }
        Some((Self { kept }, shorter))
    }

    /// Where a byte of the text is now, or the nearest that was kept of its line.
    pub(crate) fn moved(&self, at: usize) -> usize {
        let n = self.kept.partition_point(|(range, _)| range.start <= at).saturating_sub(1);
        let Some((range, begins)) = self.kept.get(n) else { return 0 };
        begins + at.clamp(range.start, range.end) - range.start
    }
}

/// The last boundary of letters at or before a byte.
fn floor(text: &str, at: usize) -> usize {
    (0..=at.min(text.len())).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_spoken_of_stays_where_a_line_is_cut() {
        let line = format!("{}HERE{}", "é".repeat(5000), "b".repeat(5000));
        let text = format!("first\n{line}\nlast");
        let at = text.find("HERE").unwrap();
        let (lines, shorter) = Lines::cut(&text, [at].into_iter()).unwrap();
        assert!(shorter.len() < 300, "{shorter}");
        assert_eq!(&shorter[lines.moved(at)..lines.moved(at + 4)], "HERE");
        let last = text.find("last").unwrap();
        assert_eq!(&shorter[lines.moved(last)..], "last");
        assert_eq!(shorter.lines().count(), 3);
        assert!(Lines::cut("short\nlines", [0].into_iter()).is_none());
    }
}
