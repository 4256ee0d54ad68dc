//! Plain text that stays in its line and column, whatever is in a name.

/// A name as it can be shown: what would break a line, move the cursor or turn the direction of writing is spelt out.
pub(super) fn shown(name: &str) -> String {
    let hidden = |c: char| {
        // Marks that turn the direction of writing, and spaces of no width.
        let turns = matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}');
        c.is_control()
            || turns
            || matches!(c, '\u{2066}'..='\u{2069}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}')
    };
    let spelt = |c: char| match hidden(c) {
        true => c.escape_default().collect::<String>(),
        false => c.to_string(),
    };
    name.chars().map(spelt).collect()
}

/// A text of at least this width.
pub(super) fn padded(text: &str, width: usize) -> String {
    let missing = width.saturating_sub(text.chars().count());
    format!("{text}{}", " ".repeat(missing))
}

/// The width of the widest.
pub(super) fn widest<'a>(texts: impl IntoIterator<Item = &'a str>) -> usize {
    texts.into_iter().map(|text| text.chars().count()).max().unwrap_or(0)
}

/// A list with commas, broken into lines of at most this width; an item is never broken.
pub(super) fn wrapped(items: &[String], width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for (n, item) in items.iter().enumerate() {
        let item = if n + 1 < items.len() { format!("{item},") } else { item.clone() };
        let last = lines.len() - 1;
        let line = &mut lines[last];
        if line.is_empty() {
            *line = item;
        } else if line.chars().count() + 1 + item.chars().count() <= width {
            line.push(' ');
            line.push_str(&item);
        } else {
            lines.push(item);
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_cannot_break_its_line() {
        assert_eq!(shown("spray/drops"), "spray/drops");
        assert_eq!(shown("été 水"), "été 水");
        assert_eq!(shown("a\nb\u{1b}[31m"), "a\\nb\\u{1b}[31m");
        assert_eq!(shown("a\u{202e}b\u{200b}"), "a\\u{202e}b\\u{200b}");
    }

    #[test]
    fn lists_are_broken_between_items() {
        let items = ["one", "two", "three"].map(str::to_owned);
        assert_eq!(wrapped(&items, 8), ["one,", "two,", "three"]);
        assert_eq!(wrapped(&items, 9), ["one, two,", "three"]);
        assert_eq!(wrapped(&items, 2), ["one,", "two,", "three"]);
        assert_eq!(wrapped(&[], 8), [""]);
    }
}
