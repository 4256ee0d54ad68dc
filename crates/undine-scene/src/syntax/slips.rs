//! What is said about each usual slip: what is wrong, and what to write instead.

use super::token::{Slip, is_forbidden};

/// What to say about a slip.
pub struct Said {
    /// How many of its first bytes to underline; all of them, if `None`.
    pub bytes: Option<usize>,
    /// What is wrong.
    pub message: String,
    /// What to write instead.
    pub help: String,
}

/// What to say about a slip in `text`, which stands behind `name=` if there is a name.
pub fn said(slip: Slip, text: &str, name: Option<&str>) -> Said {
    let write = |value: &str| match name {
        Some(name) => format!("write {name}={value}"),
        None => format!("write {value}"),
    };
    let quoted = || write(&format!("\"{text}\""));
    let short = shortened(text);
    let all = |message: &str, help: String| Said { bytes: None, message: message.to_owned(), help };
    let first = |bytes, message: &str, help: &str| Said {
        bytes: Some(bytes),
        ..all(message, help.to_owned())
    };
    match slip {
        Slip::BareKeyword => {
            let help = match (text, name) {
                ("null", Some(name)) => format!("leave `{name}` out to get its default"),
                _ => {
                    format!("{}, or \"{text}\" if you mean the word", write(&format!("#{text}")))
                }
            };
            all(&format!("`{text}` needs a `#` before it in KDL 2"), help)
        }
        Slip::NumberWithUnit => all("a number with something behind it stands in quotes", quoted()),
        Slip::NoDigitBeforePoint => {
            all("a number needs a digit before its point", write(&text.replacen('.', "0.", 1)))
        }
        Slip::NoDigitBehindPoint => {
            all("a number needs a digit behind its point", write(&format!("{text}0")))
        }
        Slip::MalformedNumber => {
            let condition = if name.is_some() { "" } else { " if it is a text" };
            let message = format!("`{short}` begins like a number, but is none");
            all(&message, quoted() + condition)
        }
        Slip::NeedsQuotes => all(&format!("`{short}` needs quotes"), quoted()),
        Slip::UnknownKeyword => {
            let help = "there are #true, #false and #null; another text stands in quotes";
            all(&format!("`{short}` is no word of KDL"), help.to_owned())
        }
        Slip::RawString1 => {
            let raw = match text.strip_prefix("r\"") {
                Some(rest) => format!("#\"{rest}#"),
                None => text.trim_start_matches('r').to_owned(),
            };
            all("this is a raw string of KDL 1", write(&raw))
        }
        Slip::UnclosedString => all(
            "this string is not closed in its line",
            "put a `\"` behind it; a text of several lines begins with `\"\"\"` and a line break"
                .to_owned(),
        ),
        Slip::UnclosedLines => first(
            3,
            "this `\"\"\"` is never closed",
            "put `\"\"\"` in a line of its own behind the text",
        ),
        Slip::MisalignedLines => first(
            3,
            "the lines of this text are not aligned",
            "`\"\"\"` stands alone behind the first and in the last line, \
             and every line is indented at least like the last",
        ),
        Slip::BadEscape => all(
            "a `\\` in this string is followed by something it does not escape",
            "in a path write `/`; otherwise `\\\\` for a backslash itself, \
             or a raw string: #\"C:\\frames\"#"
                .to_owned(),
        ),
        Slip::UnclosedComment => first(2, "this comment is never closed", "put `*/` behind it"),
        Slip::DeepComment => {
            first(2, "these comments are nested too deep", "use one `/*` and one `*/`")
        }
        Slip::StrayBackslash => all(
            "a `\\` outside of quotes stands at the end of a line only",
            "it lets a node go on in the next line; put a text with `\\` in quotes".to_owned(),
        ),
        Slip::Forbidden => {
            let found = text.chars().find(|&c| is_forbidden(c)).unwrap_or_default();
            let message = format!("a scene may not hold the character U+{:04X}", u32::from(found));
            all(&message, "remove it; some editors show it as nothing".to_owned())
        }
    }
}

/// The start of a long text.
pub fn shortened(text: &str) -> String {
    match text.char_indices().nth(40) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
