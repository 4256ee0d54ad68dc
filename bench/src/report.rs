//! The last line of a run, `NAME: key=value key=value …`, and how numbers are written in it.

use std::fmt;

/// A value of the last line.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Value {
    /// A whole number, in full: `mem_bytes=402653184`.
    Count(u64),
    /// A plain number with four significant digits: `seconds=0.01234`, `speedup=1.870`.
    Number(f64),
    /// Something per second, four significant digits and an SI suffix (k, M, G, T): `rate=12.30M`.
    Rate(f64),
    /// A hash, sixteen hexadecimal digits.
    Hash(u64),
}

impl Value {
    /// The value for a table: as in the last line, but a rate without suffix, `1.230e7`.
    pub fn to_csv(self) -> String {
        match self {
            Value::Rate(rate) => format!("{rate:.3e}"),
            other => other.to_string(),
        }
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match *self {
            Value::Count(count) => write!(f, "{count}"),
            Value::Number(number) => f.write_str(&significant(number)),
            Value::Rate(rate) => f.write_str(&with_suffix(rate)),
            Value::Hash(hash) => write!(f, "{hash:016x}"),
        }
    }
}

/// What a run of one benchmark found, in the order of the last line.
#[derive(Debug, Clone, PartialEq)]
pub struct Report {
    /// The benchmark's name.
    pub name: &'static str,
    /// Keys and values in order.
    pub fields: Vec<(String, Value)>,
    /// The machine was not steady while it ran: the figures mean nothing.
    pub void: bool,
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "{}:", self.name)?;
        for (key, value) in &self.fields {
            write!(f, " {key}={value}")?;
        }
        if self.void { f.write_str(" void") } else { Ok(()) }
    }
}

/// Four significant digits, never an exponent: `0.01234`, `1.870`, `12340`.
fn significant(number: f64) -> String {
    if number == 0.0 || !number.is_finite() {
        return number.to_string();
    }
    // Round first, and count digits afterwards: 9.9996 is 10.00, not 10.000.
    let rounded: f64 = format!("{number:.3e}").parse().expect("a formatted float parses");
    let before_point = rounded.abs().log10().floor() as i32;
    format!("{rounded:.*}", (3 - before_point).max(0) as usize)
}

/// Four significant digits and the suffix that leaves one to three of them before the point: `12.30M`.
fn with_suffix(rate: f64) -> String {
    let rounded: f64 = format!("{rate:.3e}").parse().expect("a formatted float parses");
    let (unit, suffix) = match rounded.abs() {
        r if r >= 1e12 => (1e12, "T"),
        r if r >= 1e9 => (1e9, "G"),
        r if r >= 1e6 => (1e6, "M"),
        r if r >= 1e3 => (1e3, "k"),
        _ => (1.0, ""),
    };
    significant(rounded / unit) + suffix
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_numbers_have_four_significant_digits_and_no_exponent() {
        let cases = [
            (0.0, "0"),
            (0.012344, "0.01234"),
            (1.87, "1.870"),
            (9.9996, "10.00"),
            (0.99996, "1.000"),
            (123.45, "123.5"),
            (12344.0, "12340"),
            (1.2344e-7, "0.0000001234"),
            (-2.5, "-2.500"),
            (f64::INFINITY, "inf"),
        ];
        for (number, text) in cases {
            assert_eq!(Value::Number(number).to_string(), text);
        }
    }

    #[test]
    fn rates_have_four_significant_digits_and_a_suffix() {
        let cases = [
            (0.0, "0"),
            (12.3, "12.30"),
            (999.96, "1.000k"),
            (5.9e6, "5.900M"),
            (33.94e9, "33.94G"),
            (2.5e12, "2.500T"),
            (1e15, "1000T"),
            (f64::NAN, "NaN"),
        ];
        for (rate, text) in cases {
            assert_eq!(Value::Rate(rate).to_string(), text);
        }
    }

    #[test]
    fn counts_are_exact_and_hashes_have_all_their_digits() {
        assert_eq!(Value::Count(u64::MAX).to_string(), "18446744073709551615");
        assert_eq!(Value::Hash(0xabc).to_string(), "0000000000000abc");
    }

    #[test]
    fn a_table_holds_rates_without_suffix() {
        assert_eq!(Value::Rate(12.3e6).to_csv(), "1.230e7");
        assert_eq!(Value::Number(1.87).to_csv(), "1.870");
    }

    #[test]
    fn the_last_line_is_name_then_keys_and_void_ends_it() {
        let mut report = Report {
            name: "stencil",
            fields: vec![("size".into(), Value::Count(256)), ("rate".into(), Value::Rate(1.4e9))],
            void: false,
        };
        assert_eq!(report.to_string(), "stencil: size=256 rate=1.400G");
        report.void = true;
        assert_eq!(report.to_string(), "stencil: size=256 rate=1.400G void");
    }
}
