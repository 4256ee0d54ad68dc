//! What a parameter holds once it is read: numbers in SI, words, and numbers that change over time.

use std::fmt::{self, Display};

/// One value, in SI.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// A number.
    Number(f64),
    /// Three components.
    Vector([f64; 3]),
    /// A whole number.
    Integer(i64),
    /// Yes or no.
    Flag(bool),
    /// A text, a name, a file or one of several choices.
    Text(String),
}

impl Value {
    /// The numbers of it, if it is made of numbers that can be interpolated.
    pub fn numbers(&self) -> Option<&[f64]> {
        match self {
            Self::Number(number) => Some(std::slice::from_ref(number)),
            Self::Vector(vector) => Some(vector),
            _ => None,
        }
    }
}

impl Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => write!(f, "{number}"),
            Self::Vector([x, y, z]) => write!(f, "{x} {y} {z}"),
            Self::Integer(whole) => write!(f, "{whole}"),
            Self::Flag(flag) => write!(f, "#{flag}"),
            Self::Text(text) => write!(f, "{text:?}"),
        }
    }
}

/// How a keyed value goes from one key to the next.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Interpolation {
    /// Stays until the next key.
    Hold,
    /// In a straight line.
    #[default]
    Linear,
    /// Smoothly through all keys, without passing beyond them (monotone cubic, Fritsch & Carlson 1980).
    Cubic,
}

impl Interpolation {
    /// Every way, with the word that scenes use.
    pub const WORDS: &[(&str, Self)] =
        &[("hold", Self::Hold), ("linear", Self::Linear), ("cubic", Self::Cubic)];
}

/// A value at a time.
#[derive(Debug, Clone, PartialEq)]
pub struct Key {
    /// When [s].
    pub time: f64,
    /// What, in SI.
    pub value: Value,
}

/// Keys in the order of time, at least one, all of one kind.
#[derive(Debug, Clone, PartialEq)]
pub struct Keys {
    keys: Vec<Key>,
    interpolation: Interpolation,
}

/// Why keys are none.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum KeysError {
    /// There is no key.
    #[error("a keyed value needs at least one key")]
    Empty,
    /// A time that is not after the one before.
    #[error(
        "the key at {time} s is not later than the one before it; put keys in the order of time, each time once"
    )]
    NotInOrder {
        /// The time found [s].
        time: f64,
    },
    /// Values of different kinds, or of a kind between which there is nothing.
    #[error("`{value}` cannot be blended with the other keys; use interpolation=\"hold\"")]
    NotBlendable {
        /// The value found.
        value: Value,
    },
}

impl Keys {
    /// Checks and keeps keys.
    pub fn new(keys: Vec<Key>, interpolation: Interpolation) -> Result<Self, KeysError> {
        let first = keys.first().ok_or(KeysError::Empty)?;
        let kind = std::mem::discriminant(&first.value);
        let blends = interpolation != Interpolation::Hold;
        for (n, key) in keys.iter().enumerate() {
            if !key.time.is_finite() || (n > 0 && key.time <= keys[n - 1].time) {
                return Err(KeysError::NotInOrder { time: key.time });
            }
            let other_kind = std::mem::discriminant(&key.value) != kind;
            if other_kind || (blends && key.value.numbers().is_none()) {
                return Err(KeysError::NotBlendable { value: key.value.clone() });
            }
        }
        Ok(Self { keys, interpolation })
    }

    /// The keys, in the order of time.
    pub fn keys(&self) -> &[Key] {
        &self.keys
    }

    /// The way between keys.
    pub fn interpolation(&self) -> Interpolation {
        self.interpolation
    }

    /// The value at a time [s]; before the first key the first value, after the last key the last.
    pub fn at(&self, time: f64) -> Value {
        let after = self.keys.partition_point(|key| key.time <= time);
        if after == 0 || after == self.keys.len() || self.interpolation == Interpolation::Hold {
            return self.keys[after.saturating_sub(1)].value.clone();
        }
        let (from, to) = (&self.keys[after - 1], &self.keys[after]);
        let part = (time - from.time) / (to.time - from.time);
        let component = |n: usize| match self.interpolation {
            Interpolation::Cubic => self.cubic(after - 1, n, part),
            _ => {
                let (a, b) = (number(from, n), number(to, n));
                a + (b - a) * part
            }
        };
        match &from.value {
            Value::Vector(_) => Value::Vector(std::array::from_fn(component)),
            _ => Value::Number(component(0)),
        }
    }

    /// How fast it changes at a time, per second and component: the exact derivative of [`at`](Self::at). Where that jumps, at a
    /// key, it is what follows; zero for what is held, and for what has no numbers.
    pub fn rate(&self, time: f64) -> [f64; 3] {
        self.rate_within(time, self.keys.partition_point(|key| key.time <= time))
    }

    /// As [`rate`](Self::rate), but at a key where it jumps, what led to it.
    pub fn rate_before(&self, time: f64) -> [f64; 3] {
        self.rate_within(time, self.keys.partition_point(|key| key.time < time))
    }

    /// The rate between the keys `after - 1` and `after`.
    fn rate_within(&self, time: f64, after: usize) -> [f64; 3] {
        if after == 0 || after == self.keys.len() || self.interpolation == Interpolation::Hold {
            return [0.0; 3];
        }
        let k = after - 1;
        let width = self.keys[after].time - self.keys[k].time;
        let t = (time - self.keys[k].time) / width;
        let components = self.keys[k].value.numbers().map_or(0, <[f64]>::len);
        std::array::from_fn(|n| {
            if n >= components {
                return 0.0;
            }
            let mean = (number(&self.keys[after], n) - number(&self.keys[k], n)) / width;
            if self.interpolation == Interpolation::Linear {
                return mean;
            }
            mean * (6.0 * t - 6.0 * t * t)
                + self.slope(k, n) * (3.0 * t * t - 4.0 * t + 1.0)
                + self.slope(after, n) * (3.0 * t * t - 2.0 * t)
        })
    }

    /// The cubic Hermite curve between keys `k` and `k + 1` of component `n`.
    fn cubic(&self, k: usize, n: usize, part: f64) -> f64 {
        let width = self.keys[k + 1].time - self.keys[k].time;
        let (a, b) = (number(&self.keys[k], n), number(&self.keys[k + 1], n));
        let (slope_a, slope_b) = (self.slope(k, n) * width, self.slope(k + 1, n) * width);
        let (t, t2, t3) = (part, part * part, part * part * part);
        a * (2.0 * t3 - 3.0 * t2 + 1.0)
            + slope_a * (t3 - 2.0 * t2 + t)
            + b * (3.0 * t2 - 2.0 * t3)
            + slope_b * (t3 - t2)
    }

    /// The slope at a key that keeps the curve monotone between keys: flat at extremes and ends of the keys, and otherwise the
    /// weighted harmonic mean of the two secants.
    fn slope(&self, k: usize, n: usize) -> f64 {
        if k == 0 || k + 1 == self.keys.len() {
            return 0.0;
        }
        let secant = |k: usize| {
            let width = self.keys[k + 1].time - self.keys[k].time;
            ((number(&self.keys[k + 1], n) - number(&self.keys[k], n)) / width, width)
        };
        let ((before, wide_before), (after, wide_after)) = (secant(k - 1), secant(k));
        if before * after <= 0.0 {
            return 0.0;
        }
        let (w1, w2) = (2.0 * wide_after + wide_before, wide_after + 2.0 * wide_before);
        (w1 + w2) / (w1 / before + w2 / after)
    }
}

fn number(key: &Key, n: usize) -> f64 {
    key.value.numbers().map_or(0.0, |numbers| numbers[n])
}

/// What a parameter is set to: one value, or one that changes over time.
#[derive(Debug, Clone, PartialEq)]
pub enum Setting {
    /// The same at all times.
    Constant(Value),
    /// By keys.
    Keyed(Keys),
}

impl Setting {
    /// The value at a time [s].
    pub fn at(&self, time: f64) -> Value {
        match self {
            Self::Constant(value) => value.clone(),
            Self::Keyed(keys) => keys.at(time),
        }
    }

    /// The integral of a number over a span of time [s], exact: backwards it is negative. What is no number has none.
    pub fn integral(&self, from: f64, to: f64) -> f64 {
        let number = |value: Value| value.numbers().map_or(0.0, |numbers| numbers[0]);
        let keys = match self {
            Self::Constant(value) => return number(value.clone()) * (to - from),
            Self::Keyed(keys) => keys,
        };
        if to < from {
            return -self.integral(to, from);
        }
        // Between keys it is a cubic at most, of which two places tell the integral (Gauss and Legendre).
        let inside =
            keys.keys().iter().map(|key| key.time).filter(|time| (from..to).contains(time));
        let ends: Vec<f64> = [from].into_iter().chain(inside).chain([to]).collect();
        let piece = |ends: &[f64]| {
            let (middle, half) = (0.5 * (ends[0] + ends[1]), 0.5 * (ends[1] - ends[0]));
            let reach = half / f64::sqrt(3.0);
            half * (number(keys.at(middle - reach)) + number(keys.at(middle + reach)))
        };
        ends.windows(2).map(piece).sum()
    }

    /// Its values at two times [s] and at all keys between them. Since no way between keys passes beyond them, each of its numbers is least and most at one of
    /// these.
    pub fn between(&self, from: f64, to: f64) -> Vec<Value> {
        let keys = match self {
            Self::Constant(value) => return vec![value.clone()],
            Self::Keyed(keys) => keys,
        };
        let inside = keys.keys().iter().filter(|key| from < key.time && key.time < to);
        let ends = [from, to].map(|time| keys.at(time));
        ends.into_iter().chain(inside.map(|key| key.value.clone())).collect()
    }

    /// The largest size of a number or vector between two times [s]; 0 of what is neither.
    pub fn largest(&self, from: f64, to: f64) -> f64 {
        let size = |value: Value| {
            value.numbers().map_or(0.0, |all| all.iter().map(|n| n * n).sum::<f64>().sqrt())
        };
        self.between(from, to).into_iter().map(size).fold(0.0, f64::max)
    }

    /// Whether a flag is set at any time between two [s].
    pub fn is_ever(&self, from: f64, to: f64) -> bool {
        self.between(from, to).contains(&Value::Flag(true))
    }

    /// Whether it changes over time.
    pub fn is_keyed(&self) -> bool {
        matches!(self, Self::Keyed(_))
    }

    /// Every value it is given, in the order of time.
    pub fn values(&self) -> Vec<&Value> {
        match self {
            Self::Constant(value) => vec![value],
            Self::Keyed(keys) => keys.keys.iter().map(|key| &key.value).collect(),
        }
    }
}

impl<V: Into<Value>> From<V> for Setting {
    fn from(value: V) -> Self {
        Self::Constant(value.into())
    }
}

impl From<Keys> for Setting {
    fn from(keys: Keys) -> Self {
        Self::Keyed(keys)
    }
}

impl From<f64> for Value {
    fn from(number: f64) -> Self {
        Self::Number(number)
    }
}

impl From<i64> for Value {
    fn from(whole: i64) -> Self {
        Self::Integer(whole)
    }
}

impl From<[f64; 3]> for Value {
    fn from(vector: [f64; 3]) -> Self {
        Self::Vector(vector)
    }
}

impl From<bool> for Value {
    fn from(flag: bool) -> Self {
        Self::Flag(flag)
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys(values: &[(f64, f64)], interpolation: Interpolation) -> Keys {
        let keys = values.iter().map(|&(time, value)| Key { time, value: Value::Number(value) });
        Keys::new(keys.collect(), interpolation).unwrap()
    }

    fn at(keys: &Keys, time: f64) -> f64 {
        keys.at(time).numbers().unwrap()[0]
    }

    #[test]
    fn keys_are_met_and_kept_beyond_the_ends() {
        for (_, interpolation) in Interpolation::WORDS {
            let keys = keys(&[(0.0, 1.0), (1.0, 3.0), (4.0, 2.0)], *interpolation);
            for (time, value) in [(-1.0, 1.0), (0.0, 1.0), (1.0, 3.0), (4.0, 2.0), (9.0, 2.0)] {
                assert_eq!(at(&keys, time), value, "{interpolation:?} at {time}");
            }
        }
    }

    #[test]
    fn each_way_between_keys_is_its_own() {
        let points = [(0.0, 0.0), (2.0, 4.0)];
        assert_eq!(at(&keys(&points, Interpolation::Hold), 1.9), 0.0);
        assert_eq!(at(&keys(&points, Interpolation::Linear), 0.5), 1.0);
        // Flat at both ends: the smoothstep.
        assert_eq!(at(&keys(&points, Interpolation::Cubic), 0.5), 4.0 * (3.0 / 16.0 - 2.0 / 64.0));
    }

    #[test]
    fn cubic_keys_never_pass_beyond_their_values() {
        let keys = keys(
            &[(0.0, 0.0), (0.1, 1.0), (3.0, 1.1), (3.2, 9.0), (4.0, 9.0)],
            Interpolation::Cubic,
        );
        let mut last = 0.0;
        for step in 0..=4000 {
            let value = at(&keys, f64::from(step) * 1e-3);
            assert!(value >= last - 1e-12 && value <= 9.0 + 1e-12, "{value} after {last}");
            last = value;
        }
    }

    #[test]
    fn the_rate_is_the_derivative_of_the_value() {
        for (_, way) in Interpolation::WORDS {
            let keys = keys(&[(0.0, 0.0), (1.0, 3.0), (1.5, 4.0), (4.0, 2.0)], *way);
            for step in -5..50 {
                // Off the keys, where the value of held keys jumps.
                let (time, h) = (0.1 * f64::from(step) + 0.03, 1e-6);
                let slope = (at(&keys, time + h) - at(&keys, time - h)) / (2.0 * h);
                let [rate, none, _] = keys.rate(time);
                assert!((rate - slope).abs() < 1e-6, "{way:?} at {time}: {rate}, not {slope}");
                assert_eq!((none, keys.rate_before(time)[0]), (0.0, rate));
            }
        }
        let linear = keys(&[(0.0, 0.0), (1.0, 3.0), (2.0, 4.0)], Interpolation::Linear);
        assert_eq!((linear.rate_before(1.0)[0], linear.rate(1.0)[0]), (3.0, 1.0));
    }

    #[test]
    fn integrals_are_those_of_fine_sums() {
        for (_, interpolation) in Interpolation::WORDS {
            let setting =
                Setting::from(keys(&[(0.0, 1.0), (1.0, 3.0), (4.0, 2.0)], *interpolation));
            let (from, to, count) = (-1.0, 5.5, 650_000);
            let step = (to - from) / f64::from(count);
            let middle = |n: i32| from + (f64::from(n) + 0.5) * step;
            let sum: f64 =
                (0..count).map(|n| setting.at(middle(n)).numbers().unwrap()[0] * step).sum();
            let found = setting.integral(from, to);
            assert!((found - sum).abs() < 1e-4, "{interpolation:?}: {found} is not {sum}");
            assert_eq!(setting.integral(to, from), -found);
            let parts = setting.integral(from, 0.7) + setting.integral(0.7, to);
            assert!((parts - found).abs() < 1e-12);
        }
        assert_eq!(Setting::from(3.0).integral(1.0, 3.0), 6.0);
    }

    #[test]
    fn the_largest_value_between_two_times_is_at_one_of_them_or_at_a_key() {
        for (_, way) in Interpolation::WORDS {
            let setting = Setting::from(keys(&[(0.0, 1.0), (1.0, -3.0), (4.0, 2.0)], *way));
            for (from, to) in [(-1.0, 0.5), (0.2, 0.9), (0.5, 1.5), (1.2, 3.0), (3.0, 9.0)] {
                let at = |n: u32| from + (to - from) * f64::from(n) / 1000.0;
                let sizes = (0..=1000).map(|n| setting.at(at(n)).numbers().unwrap()[0].abs());
                let most = sizes.fold(0.0, f64::max);
                let largest = setting.largest(from, to);
                assert!((largest - most).abs() < 1e-2, "{way:?}, {from} to {to}: {largest}");
            }
        }
        assert_eq!(Setting::from([0.0, -3.0, 4.0]).largest(0.0, 1.0), 5.0);
        let key = |time, flag| Key { time, value: Value::Flag(flag) };
        let flags = vec![key(0.0, false), key(1.0, true), key(2.0, false)];
        let flag = Setting::from(Keys::new(flags, Interpolation::Hold).unwrap());
        let found = [(0.0, 0.9), (0.0, 1.0), (0.0, 3.0), (1.5, 3.0), (2.0, 3.0)];
        assert_eq!(
            found.map(|(from, to)| flag.is_ever(from, to)),
            [false, true, true, true, false]
        );
    }

    #[test]
    fn keys_that_are_none_are_refused() {
        let key = |time, value| Key { time, value };
        let refused = |keys, way| Keys::new(keys, way).unwrap_err();
        assert_eq!(refused(vec![], Interpolation::Hold), KeysError::Empty);
        let twice = vec![key(1.0, Value::Number(0.0)), key(1.0, Value::Number(1.0))];
        assert_eq!(refused(twice, Interpolation::Linear), KeysError::NotInOrder { time: 1.0 });
        let flags = vec![key(0.0, Value::Flag(true)), key(1.0, Value::Flag(false))];
        assert!(matches!(
            refused(flags.clone(), Interpolation::Linear),
            KeysError::NotBlendable { .. }
        ));
        assert!(Keys::new(flags, Interpolation::Hold).is_ok());
    }
}
