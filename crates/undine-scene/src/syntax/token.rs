//! The tokens of a KDL 2 document, every byte in exactly one of them.
//!
//! A bare word ends only at white space or punctuation, so that `2cm`, `.5` or `cache/frames` is one token that can be
//! underlined as a whole; whether it is a number, an identifier or a slip is decided here too.

use std::ops::Range;

/// What a token is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// White space on a line.
    Space,
    /// The end of a line.
    Newline,
    /// `// …`, without the end of the line.
    LineComment,
    /// `/* … */`, whole.
    BlockComment,
    /// `/-`.
    SlashDash,
    /// `\` that lets a node go on in the next line, with all up to the end of this line.
    Continuation,
    /// `{`.
    Open,
    /// `}`.
    Close,
    /// `(`.
    OpenType,
    /// `)`.
    CloseType,
    /// `=`.
    Equals,
    /// `;`.
    Semicolon,
    /// A string in quotes, whole.
    Text,
    /// A bare word that is an identifier.
    Identifier,
    /// A number.
    Number,
    /// `#true`, `#false`, `#null`, `#inf`, `#-inf` or `#nan`.
    Keyword,
    /// Something else.
    Bad(Slip),
}

/// What people write where KDL 2 wants something else.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Slip {
    /// `true`, `false`, `null`, `inf`, `-inf`, `nan` without their `#`.
    BareKeyword,
    /// `2cm`: a number that goes on as a word.
    NumberWithUnit,
    /// `.5`, `-.5`.
    NoDigitBeforePoint,
    /// `5.`.
    NoDigitBehindPoint,
    /// `0x`, `1e`, and what else begins like a number.
    MalformedNumber,
    /// A bare word with a character that only a quoted string may have.
    NeedsQuotes,
    /// `#yes`: no keyword.
    UnknownKeyword,
    /// `r"…"`, the raw string of KDL 1.
    RawString1,
    /// A quoted string that passes the end of its line.
    UnclosedString,
    /// `"""` that is never closed.
    UnclosedLines,
    /// `"""` with text on its first or last line, or lines that are indented less than the last.
    MisalignedLines,
    /// `\` in a string before something that it does not escape.
    BadEscape,
    /// `/*` that is never closed.
    UnclosedComment,
    /// `/*` inside `/*`, too deep.
    DeepComment,
    /// `\` outside of strings that is not the last thing of its line.
    StrayBackslash,
    /// A character that a document may not hold.
    Forbidden,
}

/// A token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Token {
    /// What it is.
    pub kind: Kind,
    /// Its bytes.
    pub span: Range<usize>,
}

/// How deep comments may nest.
const MAX_COMMENT_DEPTH: usize = 32;

/// Cuts a text into tokens.
pub fn tokens(text: &str) -> Vec<Token> {
    let mut scanner = Scanner { text, at: 0 };
    // A byte order mark may stand first, and only there.
    if text.starts_with('\u{feff}') {
        scanner.at = '\u{feff}'.len_utf8();
    }
    let mut tokens = Vec::new();
    while scanner.at < text.len() {
        let start = scanner.at;
        let kind = scanner.next();
        debug_assert!(scanner.at > start);
        tokens.push(Token { kind, span: start..scanner.at });
    }
    tokens
}

/// Whether a character ends a line.
pub fn is_newline(c: char) -> bool {
    matches!(c, '\n' | '\r' | '\u{b}' | '\u{c}' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

/// Whether a character is white space within a line.
pub fn is_space(c: char) -> bool {
    matches!(
        c,
        '\t' | ' ' | '\u{a0}' | '\u{1680}' | '\u{2000}'
            ..='\u{200a}' | '\u{202f}' | '\u{205f}' | '\u{3000}'
    )
}

/// Whether no document may hold a character, not even in a string.
pub fn is_forbidden(c: char) -> bool {
    matches!(
        c,
        '\0'..='\u{8}'
            | '\u{e}'..='\u{1f}'
            | '\u{7f}'
            | '\u{200e}'
            | '\u{200f}'
            | '\u{202a}'..='\u{202e}'
            | '\u{2066}'..='\u{2069}'
            | '\u{feff}'
    )
}

struct Scanner<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Scanner<'a> {
    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn skip_while(&mut self, wanted: impl Fn(char) -> bool) {
        let rest = self.rest();
        self.at += rest.find(|c| !wanted(c)).unwrap_or(rest.len());
    }

    /// Takes `prefix` if it is next.
    fn take(&mut self, prefix: &str) -> bool {
        let found = self.rest().starts_with(prefix);
        if found {
            self.at += prefix.len();
        }
        found
    }

    fn next(&mut self) -> Kind {
        let Some(c) = self.peek() else { return Kind::Space };
        let punctuation = match c {
            '{' => Some(Kind::Open),
            '}' => Some(Kind::Close),
            '(' => Some(Kind::OpenType),
            ')' => Some(Kind::CloseType),
            '=' => Some(Kind::Equals),
            ';' => Some(Kind::Semicolon),
            _ => None,
        };
        if let Some(kind) = punctuation {
            self.at += 1;
            return kind;
        }
        if is_space(c) {
            self.skip_while(is_space);
            return Kind::Space;
        }
        if is_newline(c) {
            if !self.take("\r\n") {
                self.at += c.len_utf8();
            }
            return Kind::Newline;
        }
        if is_forbidden(c) {
            self.at += c.len_utf8();
            return Kind::Bad(Slip::Forbidden);
        }
        if self.rest().starts_with("//") {
            self.skip_while(|c| !is_newline(c) && !is_forbidden(c));
            return Kind::LineComment;
        }
        if self.rest().starts_with("/*") {
            return self.block_comment();
        }
        if self.take("/-") {
            return Kind::SlashDash;
        }
        if c == '\\' {
            return self.continuation();
        }
        let hashes = self.rest().bytes().take_while(|&byte| byte == b'#').count();
        if self.rest()[hashes..].starts_with('"') {
            self.at += hashes;
            return self.string(hashes);
        }
        self.word()
    }

    /// A comment, whole; to the end of the text if it is never closed, so that no text is read twice.
    fn block_comment(&mut self) -> Kind {
        let (mut depth, mut deepest, mut forbidden) = (0_usize, 0, false);
        loop {
            if self.take("/*") {
                depth += 1;
                deepest = deepest.max(depth);
            } else if self.take("*/") {
                depth -= 1;
                if depth == 0 && deepest > MAX_COMMENT_DEPTH {
                    return Kind::Bad(Slip::DeepComment);
                } else if depth == 0 {
                    return if forbidden { Kind::Bad(Slip::Forbidden) } else { Kind::BlockComment };
                }
            } else if let Some(c) = self.peek() {
                forbidden |= is_forbidden(c);
                self.at += c.len_utf8();
            } else {
                return Kind::Bad(Slip::UnclosedComment);
            }
        }
    }

    fn continuation(&mut self) -> Kind {
        self.at += 1;
        let behind = self.at;
        loop {
            self.skip_while(is_space);
            if !self.rest().starts_with("/*") {
                break;
            }
            if self.block_comment() != Kind::BlockComment {
                self.at = behind;
                return Kind::Bad(Slip::StrayBackslash);
            }
        }
        if self.rest().starts_with("//") {
            self.skip_while(|c| !is_newline(c) && !is_forbidden(c));
        }
        match self.peek() {
            None => Kind::Continuation,
            Some(c) if is_newline(c) => {
                if !self.take("\r\n") {
                    self.at += c.len_utf8();
                }
                Kind::Continuation
            }
            Some(_) => {
                self.at = behind;
                Kind::Bad(Slip::StrayBackslash)
            }
        }
    }

    /// A string behind its hashes.
    fn string(&mut self, hashes: usize) -> Kind {
        let closing_hashes = "#".repeat(hashes);
        if self.rest().starts_with("\"\"\"") {
            return self.lines(hashes, &closing_hashes);
        }
        self.at += 1;
        let mut slip = None;
        loop {
            let Some(c) = self.peek() else { return Kind::Bad(Slip::UnclosedString) };
            if is_newline(c) {
                return Kind::Bad(Slip::UnclosedString);
            }
            if c == '"' && self.rest()[1..].starts_with(&closing_hashes) {
                self.at += 1 + hashes;
                return slip.map_or(Kind::Text, Kind::Bad);
            }
            if is_forbidden(c) {
                slip = slip.or(Some(Slip::Forbidden));
            }
            self.at += c.len_utf8();
            if c == '\\' && hashes == 0 && !self.escape() {
                slip = slip.or(Some(Slip::BadEscape));
            }
        }
    }

    /// A string over several lines, behind its hashes.
    fn lines(&mut self, hashes: usize, closing_hashes: &str) -> Kind {
        self.at += 3;
        let start = self.at;
        let mut slip = None;
        loop {
            let Some(c) = self.peek() else { return Kind::Bad(Slip::UnclosedLines) };
            if self.rest().starts_with("\"\"\"") && self.rest()[3..].starts_with(closing_hashes) {
                let body = &self.text[start..self.at];
                self.at += 3 + hashes;
                // What `\` joins would have to be joined before lines can be compared: it is left out of such strings.
                if slip.is_none() && !aligned(body) {
                    slip = Some(Slip::MisalignedLines);
                }
                return slip.map_or(Kind::Text, Kind::Bad);
            }
            if is_forbidden(c) {
                slip = slip.or(Some(Slip::Forbidden));
            }
            self.at += c.len_utf8();
            if c == '\\' && hashes == 0 {
                let blank = self.peek().is_none_or(|c| is_space(c) || is_newline(c));
                if blank || !self.escape() {
                    slip = slip.or(Some(Slip::BadEscape));
                }
            }
        }
    }

    /// What follows a `\` in a string; whether it is an escape.
    fn escape(&mut self) -> bool {
        let Some(c) = self.peek() else { return false };
        match c {
            'n' | 'r' | 't' | '\\' | '"' | 'b' | 'f' | 's' => {
                self.at += 1;
                true
            }
            'u' => {
                let Some(behind) = self.rest().strip_prefix("u{") else { return false };
                let count = behind.bytes().take(7).take_while(u8::is_ascii_hexdigit).count();
                let scalar =
                    u32::from_str_radix(&behind[..count], 16).ok().and_then(char::from_u32);
                let whole = count <= 6 && scalar.is_some() && behind[count..].starts_with('}');
                if whole {
                    self.at += "u{}".len() + count;
                }
                whole
            }
            c if is_space(c) || is_newline(c) => {
                self.skip_while(|c| is_space(c) || is_newline(c));
                true
            }
            _ => false,
        }
    }

    fn word(&mut self) -> Kind {
        let start = self.at;
        while let Some(c) = self.peek() {
            let comment = ["//", "/*", "/-"].iter().any(|sign| self.rest().starts_with(sign));
            let punctuation = matches!(c, '{' | '}' | '(' | ')' | '=' | ';' | '"');
            if punctuation || comment || is_space(c) || is_newline(c) || is_forbidden(c) {
                break;
            }
            self.at += c.len_utf8();
        }
        let word = &self.text[start..self.at];
        // KDL 1 wrote raw strings `r"…"` and `r#"…"#`.
        if self.rest().starts_with('"')
            && word.strip_prefix('r').is_some_and(|h| h.bytes().all(|b| b == b'#'))
        {
            self.string(word.len() - 1);
            return Kind::Bad(Slip::RawString1);
        }
        word_kind(word)
    }
}

/// Whether the lines of a `"""` string are: nothing beside the quotes, and every line indented like the last.
fn aligned(body: &str) -> bool {
    let plain = body.replace("\r\n", "\n");
    let lines: Vec<&str> = plain.split(is_newline).collect();
    let [first, middle @ .., last] = lines.as_slice() else { return false };
    let blank = |line: &str| line.chars().all(is_space);
    first.is_empty()
        && blank(last)
        && middle.iter().all(|line| blank(line) || line.starts_with(last))
}

/// What a bare word is.
fn word_kind(word: &str) -> Kind {
    if word.starts_with('#') {
        let known = ["#true", "#false", "#null", "#inf", "#-inf", "#nan"].contains(&word);
        return if known { Kind::Keyword } else { Kind::Bad(Slip::UnknownKeyword) };
    }
    if ["true", "false", "null", "inf", "-inf", "nan"].contains(&word) {
        return Kind::Bad(Slip::BareKeyword);
    }
    let unsigned = word.strip_prefix(['+', '-']).unwrap_or(word);
    let digit = |text: &str| text.starts_with(|c: char| c.is_ascii_digit());
    if digit(unsigned) {
        return number_kind(unsigned);
    }
    if unsigned.strip_prefix('.').is_some_and(digit) {
        return Kind::Bad(Slip::NoDigitBeforePoint);
    }
    if word.contains(['/', '\\', '#', '[', ']']) {
        return Kind::Bad(Slip::NeedsQuotes);
    }
    Kind::Identifier
}

/// What a bare word is that begins with a digit, behind its sign.
fn number_kind(word: &str) -> Kind {
    for (prefix, radix) in [("0x", 16), ("0o", 8), ("0b", 2)] {
        if let Some(digits) = word.strip_prefix(prefix) {
            let good = digits.starts_with(|c: char| c.is_digit(radix))
                && digits.chars().all(|c| c.is_digit(radix) || c == '_');
            // Beyond this many digits no whole number that anybody counts with has room.
            let fits = digits.chars().filter(|&c| c != '_').count()
                <= 30 / (radix as usize).ilog2() as usize * 3;
            return if good && fits { Kind::Number } else { Kind::Bad(Slip::MalformedNumber) };
        }
    }
    let digits = |text: &str| -> usize {
        let starts = text.starts_with(|c: char| c.is_ascii_digit());
        let run = text.find(|c: char| !(c.is_ascii_digit() || c == '_')).unwrap_or(text.len());
        if starts { run } else { 0 }
    };
    let whole = digits(word);
    let mut rest = &word[whole..];
    let mut integer = true;
    if let Some(fraction) = rest.strip_prefix('.') {
        let count = digits(fraction);
        if count == 0 {
            let slip =
                if fraction.is_empty() { Slip::NoDigitBehindPoint } else { Slip::MalformedNumber };
            return Kind::Bad(slip);
        }
        rest = &fraction[count..];
        integer = false;
    }
    if let Some(power) = rest.strip_prefix(['e', 'E']) {
        let unsigned = power.strip_prefix(['+', '-']).unwrap_or(power);
        let count = digits(unsigned);
        if count > 0 {
            rest = &unsigned[count..];
            integer = false;
        }
    }
    match rest {
        // The parser keeps whole numbers in 128 bits.
        "" if integer && whole > 36 => Kind::Bad(Slip::MalformedNumber),
        "" => Kind::Number,
        unit if unit.starts_with(['.', '_', '-', '+']) => Kind::Bad(Slip::MalformedNumber),
        _ => Kind::Bad(Slip::NumberWithUnit),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(text: &str) -> Vec<Kind> {
        tokens(text)
            .into_iter()
            .map(|token| token.kind)
            .filter(|kind| *kind != Kind::Space)
            .collect()
    }

    #[test]
    fn words_are_told_apart() {
        use Kind::{Bad, Identifier, Keyword, Number, Text};
        for (text, kind) in [
            ("groom", Identifier),
            ("coupled-drag", Identifier),
            ("-", Identifier),
            ("-a", Identifier),
            ("Pa·s", Identifier),
            ("12", Number),
            ("-1.5e-3", Number),
            ("1_000", Number),
            ("0xff", Number),
            ("#true", Keyword),
            ("#-inf", Keyword),
            ("\"a \\\" b\"", Text),
            ("#\"a \" b\"#", Text),
            ("\"\"\"\n  a\n  \"\"\"", Text),
            ("true", Bad(Slip::BareKeyword)),
            ("2cm", Bad(Slip::NumberWithUnit)),
            ("4m/s", Bad(Slip::NumberWithUnit)),
            ("1e", Bad(Slip::NumberWithUnit)),
            (".5", Bad(Slip::NoDigitBeforePoint)),
            ("-.5", Bad(Slip::NoDigitBeforePoint)),
            ("5.", Bad(Slip::NoDigitBehindPoint)),
            ("1.2.3", Bad(Slip::MalformedNumber)),
            ("1001-1096", Bad(Slip::MalformedNumber)),
            ("0xzz", Bad(Slip::MalformedNumber)),
            ("#yes", Bad(Slip::UnknownKeyword)),
            ("cache/frames", Bad(Slip::NeedsQuotes)),
            ("r\"a\"", Bad(Slip::RawString1)),
            ("r##\"a\"##", Bad(Slip::RawString1)),
            ("\"a", Bad(Slip::UnclosedString)),
            ("\"\"\"a\"\"\"", Bad(Slip::MisalignedLines)),
            ("\"\"\"\n a", Bad(Slip::UnclosedLines)),
            ("\"C:\\Users\"", Bad(Slip::BadEscape)),
            ("\0", Bad(Slip::Forbidden)),
        ] {
            assert_eq!(kinds(text)[0], kind, "{text}");
        }
    }

    #[test]
    fn comments_nest_and_continuations_end_their_line() {
        assert_eq!(
            kinds("a /* b /* c */ d */ e"),
            [Kind::Identifier, Kind::BlockComment, Kind::Identifier]
        );
        assert_eq!(
            kinds("a \\ // b\n c"),
            [Kind::Identifier, Kind::Continuation, Kind::Identifier]
        );
        assert_eq!(kinds("a \\ b")[1], Kind::Bad(Slip::StrayBackslash));
        assert_eq!(kinds("/* a")[0], Kind::Bad(Slip::UnclosedComment));
        let deep = format!("{}{}", "/*".repeat(100), "*/".repeat(100));
        assert_eq!(kinds(&deep), [Kind::Bad(Slip::DeepComment)]);
    }

    proptest::proptest! {
        #[test]
        fn every_byte_is_in_one_token(text in "[ -~\n\t\u{feff}é·\u{2028}\0]{0,60}") {
            let mut at = if text.starts_with('\u{feff}') { 3 } else { 0 };
            for token in tokens(&text) {
                assert_eq!(token.span.start, at);
                at = token.span.end;
            }
            assert_eq!(at, text.len());
        }
    }
}
