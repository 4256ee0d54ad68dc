//! How a parameter is declared, once: its name, type, unit, default, range and doc line.
//!
//! The scene parser, its errors, `undine help`, the reference and the JSON schema are all made from this.

use crate::dimension::Dimension;
use crate::display;
use crate::value::Value;

/// What kind of value a parameter takes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Type {
    /// A number that measures this.
    Number(Dimension),
    /// Three components that measure this.
    Vector(Dimension),
    /// A whole number.
    Integer,
    /// `#true` or `#false`.
    Flag,
    /// Any text.
    Text,
    /// A file, or a pattern of files with `####` or `$F` in it, relative to the scene.
    File,
    /// One of these words, each with a doc line.
    Choice(&'static [(&'static str, &'static str)]),
    /// The name of an input.
    Input,
    /// The name of an Object's Behavior or of a Group, as a path from here or from the root.
    Target,
}

/// What holds where nobody sets a parameter.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Fallback {
    /// The scene has to say.
    Required,
    /// Nothing: the parameter's doc says what that means.
    Absent,
    /// This number, in SI.
    Number(f64),
    /// These components, in SI.
    Vector([f64; 3]),
    /// This whole number.
    Integer(i64),
    /// This.
    Flag(bool),
    /// This text or choice.
    Text(&'static str),
}

impl Fallback {
    /// As a value; `None` for a parameter that has none.
    pub fn value(&self) -> Option<Value> {
        Some(match *self {
            Self::Required | Self::Absent => return None,
            Self::Number(number) => Value::Number(number),
            Self::Vector(vector) => Value::Vector(vector),
            Self::Integer(whole) => Value::Integer(whole),
            Self::Flag(flag) => Value::Flag(flag),
            Self::Text(text) => Value::Text(text.to_owned()),
        })
    }
}

/// Bounds of a number; of every component, for a vector.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Range {
    /// Not less than this.
    pub least: f64,
    /// Not more than this.
    pub most: f64,
    /// Whether `least` itself is out of range.
    pub above: bool,
}

impl Range {
    /// Every finite number.
    pub const ALL: Self = Self { least: f64::NEG_INFINITY, most: f64::INFINITY, above: false };

    /// Whether a number lies within.
    pub fn contains(&self, number: f64) -> bool {
        number <= self.most && if self.above { number > self.least } else { number >= self.least }
    }

    /// In words, for messages: `greater than 0`, `from 0 to 1`.
    pub fn words(&self) -> String {
        self.words_in(Dimension::NONE)
    }

    /// In words, with bounds as one writes them: `at most 10 cm`, `from 1 mm to 1 m`.
    pub fn words_in(&self, dimension: Dimension) -> String {
        // Zero is the same in every unit of SI.
        let bound = |value: f64| match value {
            0.0 => "0".to_owned(),
            _ => display::spell(value, dimension),
        };
        let (mut least, most) = (bound(self.least), bound(self.most));
        // `from 1 to 20 kg/m3`: a unit that both have is said once.
        if let (Some((number, unit)), Some((_, other))) =
            (least.split_once(' '), most.split_once(' '))
            && unit == other
        {
            least = number.to_owned();
        }
        match (self.least.is_finite(), self.most.is_finite()) {
            (false, false) => "any number".to_owned(),
            (true, false) if self.above => format!("greater than {least}"),
            (true, false) => format!("at least {least}"),
            (false, true) => format!("at most {most}"),
            (true, true) if self.above => format!("greater than {least} and at most {most}"),
            (true, true) => format!("from {least} to {most}"),
        }
    }
}

/// For whom a parameter is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Level {
    /// Everybody meets it.
    Basic,
    /// For those who look for it.
    Advanced,
}

/// A parameter's declaration.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Parameter {
    /// Its name, in scenes and messages.
    pub name: &'static str,
    /// What it is, in one line, without a full stop.
    pub doc: &'static str,
    /// What it takes.
    pub takes: Type,
    /// What holds where nobody sets it.
    pub fallback: Fallback,
    /// What numbers are allowed, in SI.
    pub range: Range,
    /// What numbers one would expect, in SI: `undine check` asks about others.
    pub usual: Option<(f64, f64)>,
    /// The channel by which it may vary from element to element.
    pub channel: Option<&'static str>,
    /// For whom it is.
    pub level: Level,
    /// Whether it is a size of voxels or a spacing: a quick look makes it larger.
    pub resolves: bool,
    /// The parameter that does instead, where what this one names is disabled.
    pub instead: Option<&'static str>,
}

impl Parameter {
    /// A parameter that takes a value of this type, and has to be given.
    pub const fn new(name: &'static str, takes: Type, doc: &'static str) -> Self {
        Self {
            name,
            doc,
            takes,
            fallback: Fallback::Required,
            range: Range::ALL,
            usual: None,
            channel: None,
            level: Level::Basic,
            resolves: false,
            instead: None,
        }
    }

    /// A number that measures `dimension`, with its default in SI.
    pub const fn number(
        name: &'static str,
        dimension: Dimension,
        default: f64,
        doc: &'static str,
    ) -> Self {
        let mut parameter = Self::new(name, Type::Number(dimension), doc);
        parameter.fallback = Fallback::Number(default);
        parameter
    }

    /// Three components that measure `dimension`, with their default in SI.
    pub const fn vector(
        name: &'static str,
        dimension: Dimension,
        default: [f64; 3],
        doc: &'static str,
    ) -> Self {
        let mut parameter = Self::new(name, Type::Vector(dimension), doc);
        parameter.fallback = Fallback::Vector(default);
        parameter
    }

    /// A whole number.
    pub const fn integer(name: &'static str, default: i64, doc: &'static str) -> Self {
        let mut parameter = Self::new(name, Type::Integer, doc);
        parameter.fallback = Fallback::Integer(default);
        parameter
    }

    /// Yes or no.
    pub const fn flag(name: &'static str, default: bool, doc: &'static str) -> Self {
        let mut parameter = Self::new(name, Type::Flag, doc);
        parameter.fallback = Fallback::Flag(default);
        parameter
    }

    /// One of several words, each with a doc line; the first is the default.
    pub const fn choice(
        name: &'static str,
        choices: &'static [(&'static str, &'static str)],
        doc: &'static str,
    ) -> Self {
        let mut parameter = Self::new(name, Type::Choice(choices), doc);
        parameter.fallback = Fallback::Text(choices[0].0);
        parameter
    }

    /// May name what is disabled, if another parameter is given instead: a Behavior then goes on without it, and takes part.
    pub const fn or(mut self, other: &'static str) -> Self {
        self.instead = Some(other);
        self
    }

    /// Need not be given: nothing holds then.
    pub const fn optional(mut self) -> Self {
        self.fallback = Fallback::Absent;
        self
    }

    /// Has to be given.
    pub const fn required(mut self) -> Self {
        self.fallback = Fallback::Required;
        self
    }

    /// Greater than zero.
    pub const fn positive(mut self) -> Self {
        self.range = Range { least: 0.0, most: f64::INFINITY, above: true };
        self
    }

    /// Zero or greater.
    pub const fn not_negative(mut self) -> Self {
        self.range = Range { least: 0.0, most: f64::INFINITY, above: false };
        self
    }

    /// Between bounds, in SI, both allowed.
    pub const fn between(mut self, least: f64, most: f64) -> Self {
        self.range = Range { least, most, above: false };
        self
    }

    /// What one would expect, in SI.
    pub const fn usually(mut self, least: f64, most: f64) -> Self {
        self.usual = Some((least, most));
        self
    }

    /// May vary from element to element, by a channel of this name.
    pub const fn varies_by(mut self, channel: &'static str) -> Self {
        self.channel = Some(channel);
        self
    }

    /// A size of voxels, or a spacing: a quick look makes it larger.
    pub const fn resolution(mut self) -> Self {
        self.resolves = true;
        self
    }

    /// For those who look for it.
    pub const fn advanced(mut self) -> Self {
        self.level = Level::Advanced;
        self
    }

    /// What it measures, if it is made of numbers.
    pub const fn dimension(&self) -> Option<Dimension> {
        match self.takes {
            Type::Number(dimension) | Type::Vector(dimension) => Some(dimension),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_said_in_words() {
        let range = |least, most, above| Range { least, most, above };
        for (range, wanted) in [
            (Range::ALL, "any number"),
            (range(0.0, f64::INFINITY, true), "greater than 0"),
            (range(0.001, f64::INFINITY, false), "at least 1 mm"),
            (range(f64::NEG_INFINITY, 40e-6, false), "at most 40 um"),
            (range(0.0, 0.1, true), "greater than 0 and at most 10 cm"),
            (range(0.01, 1.0, false), "from 1 cm to 1 m"),
            (range(1.5, 8.0, false), "from 1.5 to 8 m"),
        ] {
            assert_eq!(range.words_in(Dimension::LENGTH), wanted);
        }
        assert_eq!(range(0.0, 0.5, false).words(), "from 0 to 0.5");
    }
}
