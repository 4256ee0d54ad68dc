//! Matrix Market files (Boisvert, Pozo & Remington, NISTIR 5935): the text format in which others publish matrices.
//!
//! Read are coordinate and array files of real, integer and pattern entries, general, symmetric and skew-symmetric; complex
//! and Hermitian ones are refused by name. What comes from outside may be damaged or hostile: memory is taken for what the
//! file holds, never for what its header claims, and every refusal names the line and what would be right.

use super::Csr;
use super::csr::check_count;
use crate::error::{Result, SolveError};
use crate::real::Real;
use std::fmt::Write;
use std::path::Path;

/// Reads a matrix from a file.
pub fn read_matrix(path: &Path) -> Result<Csr<f64>> {
    parse_matrix(&bytes_of(path)?).map_err(|error| in_file(path, error))
}

/// Reads a vector from a file: a matrix of one column, as right-hand sides are published.
pub fn read_vector(path: &Path) -> Result<Vec<f64>> {
    parse_vector(&bytes_of(path)?).map_err(|error| in_file(path, error))
}

/// The matrix in the text of a file. Entries of the same place are added in the order of their lines.
pub fn parse_matrix(text: &[u8]) -> Result<Csr<f64>> {
    let File { header, rows, columns, entries, .. } = parse(text)?;
    // Each row costs memory even if it is empty; a matrix mostly of empty rows is a mistake, or meant to exhaust us.
    if rows > text.len() {
        let why = format!("claims {rows} rows, more than the file has bytes; most would be empty");
        return Err(SolveError::BadFile { line: header, why });
    }
    Csr::from_triplets(rows, columns, entries)
}

/// The vector in the text of a file: a matrix of one column.
pub fn parse_vector(text: &[u8]) -> Result<Vec<f64>> {
    let file = parse(text)?;
    let refuse = |why: String| Err(SolveError::BadFile { line: file.header, why });
    if file.columns != 1 {
        return refuse(format!("has {} columns, but a vector has 1", file.columns));
    }
    if file.rows > text.len() {
        let why = format!("claims {} rows, more than the file has bytes", file.rows);
        return refuse(why);
    }
    let mut vector = vec![0.0; file.rows];
    for &(row, _, value) in &file.entries {
        vector[row] += value;
    }
    Ok(vector)
}

/// How a matrix is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Written {
    /// Every entry.
    General,
    /// The entries on and below the diagonal, of a matrix that equals its transpose.
    Symmetric,
}

/// The text of a file with a matrix; what is read back is the same to the last bit. Refuses to leave out entries that
/// are not mirrored.
pub fn matrix_text<T: Real>(matrix: &Csr<T>, written: Written) -> Result<String> {
    let (rows, columns) = (matrix.rows(), matrix.columns());
    let is_kept = |row: usize, column: u32| written == Written::General || column as usize <= row;
    if written == Written::Symmetric {
        if rows != columns {
            return Err(SolveError::NotSquare { rows, columns });
        }
        matrix.check_symmetric(0.0)?;
    }
    let kept = |row: usize| matrix.row(row).0.iter().filter(move |&&c| is_kept(row, c)).count();
    let entries: usize = (0..rows).map(kept).sum();
    let symmetry = if written == Written::Symmetric { "symmetric" } else { "general" };
    let mut text = format!("%%MatrixMarket matrix coordinate real {symmetry}\n");
    text.push_str(&format!("{rows} {columns} {entries}\n"));
    for row in 0..rows {
        let (columns, values) = matrix.row(row);
        for (&column, value) in columns.iter().zip(values).filter(|(c, _)| is_kept(row, **c)) {
            // Writing to memory cannot fail. `{:e}` is the shortest text that reads back the same.
            let _ = writeln!(text, "{} {} {:e}", row + 1, column + 1, value.to_f64());
        }
    }
    Ok(text)
}

/// The text of a file with a vector, as an array of one column.
pub fn vector_text(vector: &[f64]) -> String {
    let mut text = format!("%%MatrixMarket matrix array real general\n{} 1\n", vector.len());
    for value in vector {
        // Writing to memory cannot fail.
        let _ = writeln!(text, "{value:e}");
    }
    text
}

/// What a file holds; mirrored entries are in it, zeros of arrays are not.
struct File {
    /// The line with the sizes.
    header: usize,
    rows: usize,
    columns: usize,
    entries: Vec<(usize, usize, f64)>,
}

#[derive(Clone, Copy, PartialEq)]
enum Symmetry {
    General,
    Symmetric,
    Skew,
}

#[derive(Clone, Copy)]
struct Banner {
    is_array: bool,
    is_pattern: bool,
    is_integer: bool,
    symmetry: Symmetry,
}

fn parse(text: &[u8]) -> Result<File> {
    let mut lines = Lines { rest: text, number: 0 };
    let banner = Banner::parse(lines.next_any().unwrap_or_default())?;
    let (header, sizes) = lines.expect("the line with the sizes")?;
    let wanted = if banner.is_array { "`rows columns`" } else { "`rows columns entries`" };
    let sizes = whole_numbers(sizes, header, wanted)?;
    let (rows, columns, entries) = match (&sizes[..], banner.is_array) {
        (&[rows, columns], true) => (rows, columns, None),
        (&[rows, columns, entries], false) => (rows, columns, Some(entries)),
        _ => return bad(header, format!("has {} numbers, but must be {wanted}", sizes.len())),
    };
    check_count("the number of rows of a matrix", rows)?;
    check_count("the number of columns of a matrix", columns)?;
    if banner.symmetry != Symmetry::General && rows != columns {
        return bad(header, format!("says {rows} × {columns}, but a symmetric matrix is square"));
    }
    let entries = match entries {
        Some(count) => coordinates(&mut lines, banner, rows, columns, count)?,
        None => array(&mut lines, banner, rows, columns)?,
    };
    if let Some((line, found)) = lines.next_full() {
        return bad(line, format!("has `{}` behind the last entry", shown(found)));
    }
    Ok(File { header, rows, columns, entries })
}

impl Banner {
    /// Reads `%%MatrixMarket matrix coordinate real general`, in any case.
    fn parse(line: &[u8]) -> Result<Self> {
        let text = String::from_utf8_lossy(line).to_ascii_lowercase();
        let words: Vec<&str> = text.split_whitespace().collect();
        let [banner, object, format, field, symmetry] = words[..] else {
            let why = format!(
                "is `{}`, but must be `%%MatrixMarket matrix FORMAT FIELD SYMMETRY`",
                shown(line)
            );
            return bad(1, why);
        };
        let refuse = |what: &str, found: &str, wanted: &str| {
            bad(1, format!("says the {what} is `{found}`, but must say {wanted}"))
        };
        if banner != "%%matrixmarket" {
            return bad(1, format!("begins with `{}`, not with `%%MatrixMarket`", shown(line)));
        }
        if object != "matrix" {
            return refuse("object", object, "`matrix`");
        }
        let is_array = match format {
            "coordinate" => false,
            "array" => true,
            _ => return refuse("format", format, "`coordinate` or `array`"),
        };
        let (is_integer, is_pattern) = match field {
            "real" | "double" => (false, false),
            "integer" => (true, false),
            "pattern" => (false, true),
            "complex" => return bad(1, "says `complex`; complex matrices are not read".into()),
            _ => return refuse("field", field, "`real`, `integer` or `pattern`"),
        };
        let symmetry = match symmetry {
            "general" => Symmetry::General,
            "symmetric" => Symmetry::Symmetric,
            "skew-symmetric" => Symmetry::Skew,
            "hermitian" => return bad(1, "says `hermitian`; complex matrices are not read".into()),
            _ => return refuse("symmetry", symmetry, "`general`, `symmetric` or `skew-symmetric`"),
        };
        if is_array && is_pattern {
            return bad(1, "says `array pattern`, but an array has values".into());
        }
        Ok(Self { is_array, is_pattern, is_integer, symmetry })
    }
}

/// Lines of `row column value`.
fn coordinates(
    lines: &mut Lines<'_>,
    banner: Banner,
    rows: usize,
    columns: usize,
    count: usize,
) -> Result<Vec<(usize, usize, f64)>> {
    let mirrors = if banner.symmetry == Symmetry::General { 1 } else { 2 };
    // The shortest entry is `1 1` and a line's end.
    let mut entries = Vec::with_capacity(mirrors * count.min(lines.rest.len() / 4 + 1));
    let (wanted, words_wanted) =
        if banner.is_pattern { ("`row column`", 2) } else { ("`row column value`", 3) };
    for n in 0..count {
        let Some((line, found)) = lines.next_full() else {
            let why =
                format!("is behind the last, but {} of {count} entries are missing", count - n);
            return bad(lines.number + 1, why);
        };
        let mut words = words(found);
        let words: [Option<&[u8]>; 4] = std::array::from_fn(|_| words.next());
        let (Some(row), Some(column), true) =
            (words[0], words[1], words.iter().flatten().count() == words_wanted)
        else {
            return bad(line, format!("is `{}`, but must be {wanted}", shown(found)));
        };
        let index = |word: &[u8], what: &str, end: usize| match whole_number(word) {
            Some(index) if (1..=end).contains(&index) => Ok(index - 1),
            _ => bad(line, format!("has {what} `{}`, but must have 1 … {end}", shown(word))),
        };
        let row = index(row, "row", rows)?;
        let column = index(column, "column", columns)?;
        let value = match words[2] {
            Some(word) => value(word, line, banner.is_integer)?,
            None => 1.0,
        };
        match banner.symmetry {
            Symmetry::Symmetric if row < column => {
                return bad(line, above_diagonal(row, column, "on and below"));
            }
            Symmetry::Skew if row <= column => {
                return bad(line, above_diagonal(row, column, "below"));
            }
            _ => entries.push((row, column, value)),
        }
        match banner.symmetry {
            Symmetry::Symmetric if row != column => entries.push((column, row, value)),
            Symmetry::Skew => entries.push((column, row, -value)),
            _ => {}
        }
    }
    Ok(entries)
}

/// One value after another, column after column; of symmetric matrices those on and below the diagonal.
fn array(
    lines: &mut Lines<'_>,
    banner: Banner,
    rows: usize,
    columns: usize,
) -> Result<Vec<(usize, usize, f64)>> {
    let mut entries = Vec::new();
    for column in 0..columns {
        let first = match banner.symmetry {
            Symmetry::General => 0,
            Symmetry::Symmetric => column,
            Symmetry::Skew => column + 1,
        };
        for row in first..rows {
            let Some((line, found)) = lines.next_full() else {
                let why = format!(
                    "is behind the last, but the value of row {} and column {} is missing",
                    row + 1,
                    column + 1
                );
                return bad(lines.number + 1, why);
            };
            let value = value(found, line, banner.is_integer)?;
            // A zero of an array is no entry: most of a sparse matrix would be.
            if value == 0.0 {
                continue;
            }
            entries.push((row, column, value));
            match banner.symmetry {
                Symmetry::Symmetric if row != column => entries.push((column, row, value)),
                Symmetry::Skew => entries.push((column, row, -value)),
                _ => {}
            }
        }
        // A column without values costs a turn of the loop and no line; without rows there is nothing to read at all.
        if rows == 0 {
            break;
        }
    }
    Ok(entries)
}

/// The lines of a text, counted from 1.
struct Lines<'a> {
    rest: &'a [u8],
    number: usize,
}

impl<'a> Lines<'a> {
    /// The next line without what surrounds it, `\r` included.
    fn next_any(&mut self) -> Option<&'a [u8]> {
        if self.rest.is_empty() {
            return None;
        }
        self.number += 1;
        let end = self.rest.iter().position(|&byte| byte == b'\n');
        let (line, rest) = match end {
            Some(end) => (&self.rest[..end], &self.rest[end + 1..]),
            None => (self.rest, &[][..]),
        };
        self.rest = rest;
        Some(line.trim_ascii())
    }

    /// The next line that is neither blank nor a comment.
    fn next_full(&mut self) -> Option<(usize, &'a [u8])> {
        loop {
            let line = self.next_any()?;
            if !line.is_empty() && line[0] != b'%' {
                return Some((self.number, line));
            }
        }
    }

    fn expect(&mut self, what: &str) -> Result<(usize, &'a [u8])> {
        match self.next_full() {
            Some(line) => Ok(line),
            None => bad(self.number + 1, format!("is behind the last, but {what} is missing")),
        }
    }
}

fn words(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty())
}

fn whole_numbers(line: &[u8], number: usize, wanted: &str) -> Result<Vec<usize>> {
    // No line of sizes has more than three; a fourth is enough to see that there are too many.
    words(line)
        .take(4)
        .map(|word| match whole_number(word) {
            Some(found) => Ok(found),
            None => bad(number, format!("has `{}`, but must be {wanted}", shown(word))),
        })
        .collect()
}

fn whole_number(word: &[u8]) -> Option<usize> {
    std::str::from_utf8(word).ok()?.parse().ok()
}

/// A finite number; the exponent may be Fortran's `D`.
fn value(word: &[u8], line: usize, is_integer: bool) -> Result<f64> {
    let wanted = if is_integer { "a whole number" } else { "a finite number" };
    let text = std::str::from_utf8(word).unwrap_or("");
    let number = if is_integer {
        text.parse::<i64>().ok().map(|number| number as f64)
    } else {
        text.parse::<f64>().or_else(|_| text.replace(['D', 'd'], "e").parse()).ok()
    };
    match number.filter(|number| number.is_finite()) {
        Some(number) => Ok(number),
        None => bad(line, format!("has the value `{}`, but must have {wanted}", shown(word))),
    }
}

fn above_diagonal(row: usize, column: usize, where_: &str) -> String {
    let (row, column) = (row + 1, column + 1);
    format!("has entry ({row}, {column}), but a symmetric file holds those {where_} the diagonal")
}

/// The beginning of what was found, fit for a message.
fn shown(bytes: &[u8]) -> String {
    let start = &bytes[..bytes.len().min(40)];
    let text: String =
        String::from_utf8_lossy(start).chars().flat_map(char::escape_debug).collect();
    if start.len() < bytes.len() { format!("{text}…") } else { text }
}

fn bad<T>(line: usize, why: String) -> Result<T> {
    Err(SolveError::BadFile { line, why })
}

fn bytes_of(path: &Path) -> Result<Vec<u8>> {
    std::fs::read(path).map_err(|error| SolveError::NotReadable {
        path: path.display().to_string(),
        why: error.to_string(),
    })
}

fn in_file(path: &Path, error: SolveError) -> SolveError {
    SolveError::NotReadable { path: path.display().to_string(), why: error.to_string() }
}
