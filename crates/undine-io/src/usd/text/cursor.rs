//! Words, strings, paths and brackets of a text, one after another.

use crate::error::{IoError, Place, Result};
use std::borrow::Cow;
use std::cell::Cell;
use std::path::Path;

/// Prims in prims and dictionaries in dictionaries, deeper than any scene and far from the end of the stack.
const MOST_DEPTH: usize = 128;

/// A place in a text.
pub(super) struct Cursor<'a> {
    bytes: &'a [u8],
    at: usize,
    file: &'a Path,
    depth: usize,
    /// The place up to which line ends are counted, and how many there are.
    counted: Cell<(usize, u64)>,
}

impl<'a> Cursor<'a> {
    pub(super) fn new(bytes: &'a [u8], file: &'a Path) -> Self {
        Self { bytes, at: 0, file, depth: 0, counted: Cell::new((0, 0)) }
    }

    /// An error at this place.
    pub(super) fn refused(&self, found: impl Into<String>, wanted: impl Into<String>) -> IoError {
        IoError::Malformed {
            file: self.file.into(),
            place: Place::Line(self.line()),
            found: found.into(),
            wanted: wanted.into(),
        }
    }

    /// An error about what stands next.
    pub(super) fn unexpected(&mut self, wanted: impl Into<String>) -> IoError {
        self.skip_space();
        let rest = &self.bytes[self.at..];
        let line = &rest[..rest.iter().position(|&byte| byte == b'\n').unwrap_or(rest.len())];
        let found = match String::from_utf8_lossy(&line[..line.len().min(40)]).trim() {
            "" if rest.is_empty() => "the file ends".to_owned(),
            shown => format!("`{shown}` stands here"),
        };
        self.refused(found, wanted)
    }

    /// The line of this place, from 1 on. Counted when it is asked for, from where it was asked for last.
    pub(super) fn line(&self) -> u64 {
        let (from, before) = match self.counted.get() {
            (from, _) if from > self.at => (0, 0),
            counted => counted,
        };
        let more = self.bytes[from..self.at].iter().filter(|&&byte| byte == b'\n').count();
        self.counted.set((self.at, before + more as u64));
        before + more as u64 + 1
    }

    /// One level deeper; `inner` reads what is there.
    pub(super) fn deeper<T>(&mut self, inner: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        if self.depth == MOST_DEPTH {
            let found = format!("prims or dictionaries lie in each other {MOST_DEPTH} times");
            return Err(self.refused(found, "a flatter scene"));
        }
        self.depth += 1;
        let read = inner(self);
        self.depth -= 1;
        read
    }

    /// Passes the first line, which names the format, and says it.
    pub(super) fn first_line(&mut self) -> Cow<'a, str> {
        // Some editors put a mark before everything that says that the text is UTF-8.
        self.bytes = self.bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(self.bytes);
        let end = self.bytes.iter().position(|&byte| byte == b'\n').unwrap_or(self.bytes.len());
        self.at = end;
        String::from_utf8_lossy(&self.bytes[..end])
    }

    /// Passes spaces, line ends, separators and comments.
    pub(super) fn skip_space(&mut self) {
        while let Some(&byte) = self.bytes.get(self.at) {
            match byte {
                b' ' | b'\t' | b'\r' | b'\n' | b';' => self.at += 1,
                b'#' => self.skip_line(),
                b'/' if self.bytes.get(self.at + 1) == Some(&b'/') => self.skip_line(),
                b'/' if self.bytes.get(self.at + 1) == Some(&b'*') => {
                    let rest = &self.bytes[self.at + 2..];
                    let end = rest.windows(2).position(|pair| pair == b"*/");
                    self.at = end.map_or(self.bytes.len(), |end| self.at + end + 4);
                }
                _ => break,
            }
        }
    }

    fn skip_line(&mut self) {
        let rest = &self.bytes[self.at..];
        self.at += rest.iter().position(|&byte| byte == b'\n').unwrap_or(rest.len());
    }

    /// What stands next, after spaces; `None` at the end.
    pub(super) fn peek(&mut self) -> Option<u8> {
        self.skip_space();
        self.bytes.get(self.at).copied()
    }

    /// Passes this character if it stands next.
    pub(super) fn eat(&mut self, byte: u8) -> bool {
        let is_next = self.peek() == Some(byte);
        self.at += usize::from(is_next);
        is_next
    }

    /// Passes this character, which has to stand next.
    pub(super) fn expect(&mut self, byte: u8, within: &str) -> Result<()> {
        if self.eat(byte) {
            return Ok(());
        }
        Err(self.unexpected(format!("expected `{}` {within}", char::from(byte))))
    }

    /// A list with commas between its entries, one too many at its end if need be.
    pub(super) fn list(
        &mut self,
        close: u8,
        within: &str,
        mut entry: impl FnMut(&mut Self) -> Result<()>,
    ) -> Result<()> {
        while !self.eat(close) {
            entry(self)?;
            if !self.eat(b',') {
                return self.expect(close, within);
            }
        }
        Ok(())
    }

    /// A word of letters, digits and `also`; empty if none stands here.
    pub(super) fn word_with(&mut self, also: &[u8]) -> Cow<'a, str> {
        self.skip_space();
        let rest = &self.bytes[self.at..];
        let is_part = |byte: &u8| {
            byte.is_ascii_alphanumeric() || *byte == b'_' || !byte.is_ascii() || also.contains(byte)
        };
        let end = rest.iter().position(|byte| !is_part(byte)).unwrap_or(rest.len());
        self.at += end;
        String::from_utf8_lossy(&rest[..end])
    }

    /// A word of letters and digits, which has to stand here.
    pub(super) fn word(&mut self, wanted: &str) -> Result<Cow<'a, str>> {
        let word = self.word_with(b"");
        if word.is_empty() { Err(self.unexpected(wanted)) } else { Ok(word) }
    }

    /// Passes this word if it stands next.
    pub(super) fn eat_word(&mut self, word: &str) -> bool {
        self.skip_space();
        let before = self.at;
        if self.word_with(b":.") == word {
            return true;
        }
        self.at = before;
        false
    }

    /// The characters of a number, or of `inf` and `nan`.
    pub(super) fn number(&mut self) -> Result<&'a str> {
        self.skip_space();
        let rest = &self.bytes[self.at..];
        let is_part =
            |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'+' | b'-');
        let end = rest.iter().position(|byte| !is_part(byte)).unwrap_or(rest.len());
        let Some(text) = std::str::from_utf8(&rest[..end]).ok().filter(|text| !text.is_empty())
        else {
            return Err(self.unexpected("expected a number"));
        };
        self.at += end;
        Ok(text)
    }

    /// Looks at what comes, and stays here.
    pub(super) fn ahead<T>(&mut self, look: impl FnOnce(&mut Self) -> T) -> T {
        let here = self.at;
        let seen = look(self);
        self.at = here;
        seen
    }

    /// Whether a string stands next.
    pub(super) fn is_at_string(&mut self) -> bool {
        matches!(self.peek(), Some(b'"' | b'\''))
    }

    /// A string in quotes of any kind.
    pub(super) fn string(&mut self) -> Result<String> {
        let Some(quote @ (b'"' | b'\'')) = self.peek() else {
            return Err(self.unexpected("expected a string in quotes"));
        };
        let is_long = self.bytes[self.at..].starts_with(&[quote; 3]);
        let start = self.at;
        self.at += if is_long { 3 } else { 1 };
        let mut text = Vec::new();
        loop {
            let rest = &self.bytes[self.at..];
            match rest.first() {
                Some(&byte) if byte == quote && (!is_long || rest.starts_with(&[quote; 3])) => {
                    self.at += if is_long { 3 } else { 1 };
                    return Ok(String::from_utf8_lossy(&text).into_owned());
                }
                Some(b'\\') => self.escape(&mut text),
                Some(b'\n') if !is_long => {
                    return Err(self.refused(
                        "a string has no end on its line",
                        "longer ones stand between three quotes",
                    ));
                }
                Some(&byte) => {
                    text.push(byte);
                    self.at += 1;
                }
                None => {
                    self.at = start;
                    return Err(self.refused(
                        "a string begins here and has no end",
                        "it ends with the quotes that it begins with",
                    ));
                }
            }
        }
    }

    /// What a backslash and the characters behind it stand for.
    fn escape(&mut self, text: &mut Vec<u8>) {
        self.at += 1;
        let Some(&byte) = self.bytes.get(self.at) else { return };
        self.at += 1;
        let digits = |radix: u32, from: usize, most: usize| {
            let rest = &self.bytes[from..];
            let is_digit = |byte: &&u8| char::from(**byte).is_digit(radix);
            let count = rest.iter().take(most).take_while(is_digit).count();
            let value = rest[..count].iter().fold(0, |value, &byte| {
                value * radix + char::from(byte).to_digit(radix).unwrap_or(0)
            });
            (value as u8, from + count)
        };
        let stands_for = match byte {
            b'n' => b'\n',
            b't' => b'\t',
            b'r' => b'\r',
            b'a' => 7,
            b'b' => 8,
            b'v' => 11,
            b'f' => 12,
            b'x' => {
                let (value, end) = digits(16, self.at, 2);
                self.at = end;
                value
            }
            b'0'..=b'7' => {
                let (value, end) = digits(8, self.at - 1, 3);
                self.at = end;
                value
            }
            other => other,
        };
        text.push(stands_for);
    }

    /// The path of a file, between `@` or `@@@`.
    pub(super) fn asset(&mut self) -> Result<String> {
        self.expect(b'@', "before the path of a file")?;
        let start = self.at;
        let rest = &self.bytes[start..];
        let is_long = rest.starts_with(b"@@");
        let end = if is_long {
            self.at += 2;
            end_of_long_asset(&rest[2..]).map(|(end, length)| {
                let text = String::from_utf8_lossy(&rest[2..2 + end]).replace("\\@@@", "@@@");
                (text, 2 + end + length)
            })
        } else {
            rest.iter()
                .position(|&byte| byte == b'@')
                .map(|end| (String::from_utf8_lossy(&rest[..end]).into_owned(), end + 1))
        };
        let Some((text, length)) = end.filter(|(text, _)| !text.contains('\n')) else {
            return Err(self.refused(
                "the path of a file has no end",
                "it ends on its line with the `@` that it begins with",
            ));
        };
        self.at = start + length;
        Ok(text)
    }

    /// A path within the scene, between `<` and `>`.
    pub(super) fn path(&mut self) -> Result<String> {
        self.expect(b'<', "before a path")?;
        let rest = &self.bytes[self.at..];
        let end = rest.iter().position(|&byte| byte == b'>' || byte == b'\n');
        let Some(end) = end.filter(|&end| rest[end] == b'>') else {
            return Err(self.refused("a path has no end", "it ends with `>` on its line"));
        };
        self.at += end + 1;
        Ok(String::from_utf8_lossy(&rest[..end]).into_owned())
    }

    /// Passes one value of whatever kind, with everything in its brackets. Needs no stack.
    pub(super) fn skip_value(&mut self) -> Result<()> {
        let mut depth = 0_usize;
        loop {
            match self.peek() {
                None => return Err(self.unexpected("expected a value")),
                Some(b'"' | b'\'') => drop(self.string()?),
                Some(b'@') => {
                    self.asset()?;
                    // The prim in that file belongs to it.
                    if self.peek() == Some(b'<') {
                        self.path()?;
                    }
                }
                Some(b'<') => drop(self.path()?),
                Some(b'(' | b'[' | b'{') => {
                    depth += 1;
                    self.at += 1;
                }
                Some(b')' | b']' | b'}') if depth > 0 => {
                    depth -= 1;
                    self.at += 1;
                }
                Some(_) if !self.word_with(b"+-.:").is_empty() => {}
                Some(_) if depth > 0 => self.at += 1,
                Some(_) => return Err(self.unexpected("expected a value")),
            }
            if depth == 0 {
                return Ok(());
            }
        }
    }
}

/// Where `@@@` ends a path, and how many characters that takes. One or two more `@` belong to the path.
fn end_of_long_asset(rest: &[u8]) -> Option<(usize, usize)> {
    let mut from = 0;
    loop {
        let end = from + rest[from..].windows(3).position(|three| three == b"@@@")?;
        if end > 0 && rest[end - 1] == b'\\' {
            from = end + 3;
            continue;
        }
        let more = rest[end + 3..].iter().take(2).take_while(|&&byte| byte == b'@').count();
        return Some((end + more, 3));
    }
}
