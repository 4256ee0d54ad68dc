//! Texts of others in messages: a word or a text without end is cut, so that people find what is said about it.

use std::borrow::Cow;
use std::fmt::Write;

/// The longest word that is kept whole [letters]: paths are among them.
const LONGEST_WORD: usize = 300;
/// How much of a longer one is kept in front, and at its end [letters].
const KEPT: [usize; 2] = [60, 20];
/// The longest text [letters].
const LONGEST: usize = 10_000;

/// The text with what is too long in it cut.
pub fn cut(text: &str) -> Cow<'_, str> {
    let is_long = |word: &str| word.len() > LONGEST_WORD && word.chars().count() > LONGEST_WORD;
    if text.len() <= LONGEST_WORD || !(text.len() > LONGEST || text.split(' ').any(is_long)) {
        return Cow::Borrowed(text);
    }
    let mut kept = String::new();
    for word in text.split_inclusive(char::is_whitespace) {
        match is_long(word) {
            true => cut_word(word, &mut kept),
            false => kept += word,
        }
        if kept.len() > LONGEST {
            let _ = write!(kept, "… ({} letters in all)", text.chars().count());
            break;
        }
    }
    Cow::Owned(kept)
}

fn cut_word(word: &str, kept: &mut String) {
    let count = word.chars().count();
    let [front, end] = KEPT;
    kept.extend(word.chars().take(front));
    let _ = write!(kept, "…({} letters)…", count - front - end);
    kept.extend(word.chars().skip(count - end));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_people_can_read_stays_as_it_is() {
        let text = "there is no file `/shots/a/b.ply`\n".repeat(100);
        assert!(matches!(cut(&text), Cow::Borrowed(same) if same == text));
        assert_eq!(cut(&"é".repeat(LONGEST_WORD)), "é".repeat(LONGEST_WORD));
    }

    #[test]
    fn words_and_texts_without_end_are_cut() {
        let word = format!("`{}` is no number", "é".repeat(6_000_000));
        let found = cut(&word);
        assert!(found.ends_with("é` is no number") && found.contains("letters"), "{found}");
        assert!(found.chars().count() < 200, "{}", found.len());
        let found = cut(&"some words ".repeat(1_000_000)).into_owned();
        assert!(found.len() < LONGEST + 100 && found.ends_with("(11000000 letters in all)"));
    }
}
