//! The header: lines of text that say what follows, and how.

use crate::error::{IoError, Place, Result};
use std::path::Path;

/// How the values are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Format {
    Ascii,
    LittleEndian,
    BigEndian,
}

/// The type of a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Scalar {
    I8,
    U8,
    I16,
    U16,
    I32,
    U32,
    F32,
    F64,
}

impl Scalar {
    /// Bytes in a binary file.
    pub fn bytes(self) -> usize {
        match self {
            Self::I8 | Self::U8 => 1,
            Self::I16 | Self::U16 => 2,
            Self::I32 | Self::U32 | Self::F32 => 4,
            Self::F64 => 8,
        }
    }

    fn named(name: &str) -> Option<Self> {
        Some(match name {
            "char" | "int8" => Self::I8,
            "uchar" | "uint8" => Self::U8,
            "short" | "int16" => Self::I16,
            "ushort" | "uint16" => Self::U16,
            "int" | "int32" => Self::I32,
            "uint" | "uint32" => Self::U32,
            "float" | "float32" => Self::F32,
            "double" | "float64" => Self::F64,
            _ => return None,
        })
    }
}

/// A value of every row of an element.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Property {
    pub name: String,
    pub scalar: Scalar,
    /// Of a list, the type of its length.
    pub length: Option<Scalar>,
}

/// Rows of the same properties.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Element {
    pub name: String,
    pub count: u64,
    pub properties: Vec<Property>,
}

/// What a header says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Header {
    pub format: Format,
    pub elements: Vec<Element>,
    /// Where the rows begin.
    pub end: usize,
    /// The line on which they begin.
    pub end_line: u64,
}

/// More than these are no header that anybody wrote.
const MOST_PROPERTIES: usize = 4096;

impl Header {
    /// Reads the lines up to `end_header`.
    pub fn parse(bytes: &[u8], file: &Path) -> Result<Self> {
        let mut lines = Lines { bytes, next: 0, line: 0, file };
        if lines.next_line()?.trim() != "ply" {
            return Err(
                lines.refused("it does not begin with `ply`", "a PLY file's first line is `ply`")
            );
        }
        let mut format = None;
        let mut elements: Vec<Element> = Vec::new();
        let mut properties = 0;
        loop {
            let line = lines.next_line()?;
            let words: Vec<&str> = line.split_ascii_whitespace().collect();
            match words[..] {
                [] | ["comment" | "obj_info", ..] => {}
                ["format", word, "1.0"] => format = Some(lines.format(word)?),
                ["element", name, count] => {
                    let count = count.parse().map_err(|_| {
                        lines.refused(
                            &format!("`{count}` is no count"),
                            "write a whole number from 0 on",
                        )
                    })?;
                    if elements.iter().any(|element| element.name == name) {
                        return Err(lines.refused(
                            &format!("element `{name}` is declared twice"),
                            "declare it once",
                        ));
                    }
                    elements.push(Element { name: name.to_owned(), count, properties: Vec::new() });
                    properties += 1;
                }
                ["property", ref words @ ..] => {
                    let property = lines.property(words)?;
                    let Some(element) = elements.last_mut() else {
                        return Err(lines.refused(
                            "a property stands before any element",
                            "declare an element first",
                        ));
                    };
                    if element.properties.iter().any(|other| other.name == property.name) {
                        let twice = format!("property `{}` is declared twice", property.name);
                        return Err(lines.refused(&twice, "declare it once"));
                    }
                    element.properties.push(property);
                    properties += 1;
                }
                ["end_header"] => break,
                _ => {
                    return Err(lines.refused(
                        &format!("`{}` is no line of a header", line.trim()),
                        "expected `format … 1.0`, `element NAME COUNT`, `property TYPE NAME` or `end_header`",
                    ));
                }
            }
            if properties > MOST_PROPERTIES {
                return Err(lines.refused("there are too many properties", "4096 are allowed"));
            }
        }
        let wanted = "write for example `format binary_little_endian 1.0`";
        let format = format.ok_or_else(|| lines.refused("there is no line `format`", wanted))?;
        Ok(Self { format, elements, end: lines.next, end_line: lines.line + 1 })
    }
}

/// The lines of a header.
struct Lines<'a> {
    bytes: &'a [u8],
    next: usize,
    line: u64,
    file: &'a Path,
}

impl<'a> Lines<'a> {
    fn next_line(&mut self) -> Result<&'a str> {
        const LONGEST: usize = 1 << 16;
        self.line += 1;
        let rest = &self.bytes[self.next..];
        let end = rest.iter().take(LONGEST).position(|&byte| byte == b'\n');
        let Some(end) = end else {
            return Err(self.refused("the header does not end", "its last line is `end_header`"));
        };
        self.next += end + 1;
        std::str::from_utf8(&rest[..end])
            .map_err(|_| self.refused("the header is no text", "its lines are ASCII"))
    }

    fn format(&self, word: &str) -> Result<Format> {
        Ok(match word {
            "ascii" => Format::Ascii,
            "binary_little_endian" => Format::LittleEndian,
            "binary_big_endian" => Format::BigEndian,
            _ => {
                let wanted = "expected ascii, binary_little_endian or binary_big_endian";
                return Err(self.refused(&format!("`{word}` is no format"), wanted));
            }
        })
    }

    fn property(&self, words: &[&str]) -> Result<Property> {
        let scalar = |word: &str| {
            Scalar::named(word).ok_or_else(|| {
                let wanted = "expected char, uchar, short, ushort, int, uint, float or double";
                self.refused(&format!("`{word}` is no type"), wanted)
            })
        };
        match *words {
            ["list", length, item, name] => {
                let length = scalar(length)?;
                if matches!(length, Scalar::F32 | Scalar::F64) {
                    return Err(
                        self.refused("the length of a list is no whole number", "use uchar or int")
                    );
                }
                Ok(Property { name: name.to_owned(), scalar: scalar(item)?, length: Some(length) })
            }
            [kind, name] if kind != "list" => {
                Ok(Property { name: name.to_owned(), scalar: scalar(kind)?, length: None })
            }
            _ => Err(self.refused(
                "a property is not complete",
                "write `property TYPE NAME` or `property list TYPE TYPE NAME`",
            )),
        }
    }

    fn refused(&self, found: &str, wanted: &str) -> IoError {
        let (found, wanted) = (found.to_owned(), wanted.to_owned());
        IoError::Malformed { file: self.file.into(), place: Place::Line(self.line), found, wanted }
    }
}
