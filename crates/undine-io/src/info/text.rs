//! For people: a file's name, and below it what it holds, in columns.

use super::{ChannelInfo, FileInfo, Part, SequenceInfo};
use std::collections::BTreeMap;
use undine_core::memory::in_words;

impl FileInfo {
    /// As a text, of several lines.
    pub fn text(&self) -> String {
        let mut text =
            format!("{}: {}, {}\n", self.file.display(), self.format, in_words(self.bytes));
        text += &metadata(&self.metadata, "  ");
        for part in &self.parts {
            let counts: Vec<String> = part
                .counts
                .iter()
                .map(|&(name, count)| format!("{} {name}", grouped(count)))
                .collect();
            text += &of_part(part, &counts.join(", "));
        }
        text + &warnings(&self.warnings)
    }
}

impl SequenceInfo {
    /// As a text, of several lines.
    pub fn text(&self) -> String {
        let mut text = format!("{}: {}, {}", self.pattern, self.format, in_words(self.bytes));
        if let (Some(first), Some(last)) = (self.frames.first(), self.frames.last()) {
            text += &format!(", {} frames from {first} to {last}", self.frames.len());
        }
        if self.missing > 0 {
            text += &format!(", {} missing", self.missing);
        }
        text += "\n";
        for all in &self.parts {
            let counts = all.counts.iter().map(|&(name, [least, most])| {
                let span =
                    if least == most { String::new() } else { format!("{} to ", grouped(least)) };
                format!("{span}{} {name}", grouped(most))
            });
            let mut counts = counts.collect::<Vec<_>>().join(", ");
            if all.frames < self.frames.len() as u64 {
                counts += &format!(", in {} frames", all.frames);
            }
            text += &of_part(&all.part, &counts);
        }
        text + &warnings(&self.warnings)
    }
}

fn of_part(part: &Part, counts: &str) -> String {
    let mut title = part.kind.clone();
    if !part.name.is_empty() {
        title = format!("{}: {title}", part.name);
    }
    let mut text = format!("  {title}\n");
    let mut row = |label: &str, value: String| {
        if !value.is_empty() {
            text += &format!("    {label:<8} {value}\n");
        }
    };
    row("holds", counts.to_owned());
    row("kept as", part.storage.clone());
    row(
        "voxel",
        part.voxel_size
            .map(|[x, y, z]| {
                if x == y && y == z {
                    format!("{} m", number(x))
                } else {
                    format!("{} m", list(&[x, y, z]))
                }
            })
            .unwrap_or_default(),
    );
    row("at", part.transform.map(|rows| placed(&rows)).unwrap_or_default());
    row(
        "box",
        part.bounds
            .map(|bounds| {
                let [min, max] = [bounds.min, bounds.max].map(|corner| list(&corner.to_array()));
                format!("{min} to {max} m")
            })
            .unwrap_or_default(),
    );
    row("memory", part.memory.map(in_words).unwrap_or_default());
    text += &metadata(&part.metadata, "    ");
    text + &channels(&part.channels)
}

/// Where the first voxel is, and the whole map where axes are turned.
fn placed(rows: &[[f64; 4]; 4]) -> String {
    let is_turned = (0..3).any(|r| (0..3).any(|c| r != c && rows[r][c] != 0.0));
    let origin = format!("{} m", list(&rows[3][..3]));
    if !is_turned {
        return origin;
    }
    let [x, y, z] = [0, 1, 2].map(|axis| list(&rows[axis][..3]));
    format!("{origin}, axes ({x}) ({y}) ({z})")
}

/// A table: name, what it is on, type, range.
fn channels(channels: &[ChannelInfo]) -> String {
    let range = |channel: &ChannelInfo| match &channel.range {
        Some(range) => format!("{} to {}", list(&range.min), list(&range.max)),
        None => String::new(),
    };
    let rows: Vec<[String; 4]> = channels
        .iter()
        .map(|c| [c.name.clone(), format!("on {}", c.on), c.kind.clone(), range(c)])
        .collect();
    let width = |column: usize| {
        rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0).min(40)
    };
    let widths = [width(0), width(1), width(2)];
    let line = |row: &[String; 4]| {
        let cells = row.iter().zip(widths).map(|(cell, width)| format!("{cell:<width$}"));
        let line = cells.chain([row[3].clone()]).collect::<Vec<_>>().join("  ");
        format!("    {}\n", line.trim_end())
    };
    rows.iter().map(line).collect()
}

fn metadata(metadata: &BTreeMap<String, String>, indent: &str) -> String {
    let width = metadata.keys().map(|name| name.chars().count()).max().unwrap_or(0).min(24);
    let line = |(name, value): (&String, &String)| {
        format!("{indent}{:<width$}  {}\n", plain(name), plain(value))
    };
    metadata.iter().map(line).collect()
}

fn warnings(warnings: &[String]) -> String {
    warnings.iter().map(|warning| format!("  warning: {}\n", plain(warning))).collect()
}

/// A text of a file on one line, without what would move a terminal's cursor, and not without end.
fn plain(text: &str) -> String {
    text.chars().take(200).map(|c| if c.is_control() { ' ' } else { c }).collect()
}

fn list(numbers: &[f64]) -> String {
    numbers.iter().map(|&value| number(value)).collect::<Vec<_>>().join(" ")
}

/// With six digits that count: nobody reads more, and programs read JSON.
fn number(value: f64) -> String {
    let size = value.abs();
    if size != 0.0 && !(1e-4..1e7).contains(&size) {
        let text = format!("{value:.5e}");
        let Some((digits, exponent)) = text.split_once('e') else { return text };
        return format!("{}e{exponent}", trimmed(digits));
    }
    let before = if size < 1.0 { 0 } else { size.log10() as usize + 1 };
    trimmed(&format!("{value:.*}", 6_usize.saturating_sub(before).max(usize::from(size < 1.0) * 6)))
        .to_owned()
}

fn trimmed(digits: &str) -> &str {
    let short = if digits.contains('.') {
        digits.trim_end_matches('0').trim_end_matches('.')
    } else {
        digits
    };
    if short == "-0" { "0" } else { short }
}

/// Digits in groups of three.
fn grouped(count: u64) -> String {
    let digits = count.to_string();
    let groups: Vec<&str> = digits
        .as_bytes()
        .rchunks(3)
        .rev()
        .map(|group| std::str::from_utf8(group).unwrap_or_default())
        .collect();
    groups.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_six_digits_that_count() {
        for (value, text) in [
            (0.0, "0"),
            (-0.0, "0"),
            (1.0, "1"),
            (0.1 + 0.2, "0.3"),
            (1.0 / 3.0, "0.333333"),
            (-1234.56789, "-1234.57"),
            (9_999_999.0, "9999999"),
            (1e7, "1e7"),
            (1.5e-9, "1.5e-9"),
            (f64::NAN, "NaN"),
        ] {
            assert_eq!(number(value), text);
        }
        assert_eq!(grouped(1_204_331), "1 204 331");
        assert_eq!(grouped(7), "7");
        assert_eq!(plain("a\u{1b}[2Jb\n"), "a [2Jb ");
    }
}
