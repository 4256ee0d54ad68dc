//! What a node is given: its settings at a time, or what its declaration says, checked.

use super::Fault;
use undine_core::glam::DVec3;
use undine_schema::setup::Settings;
use undine_schema::{Declaration, Dimension, Quantity, Setting, Type, Value};

/// What a channel holds by custom.
enum Custom {
    Number(Dimension),
    Vector(Dimension),
}

/// What channels of the customary names hold.
const CHANNELS: &[(&str, Custom)] = &[
    ("v", Custom::Vector(Dimension::VELOCITY)),
    ("accel", Custom::Vector(Dimension::ACCELERATION)),
    ("w", Custom::Vector(Dimension::ANGULAR_VELOCITY)),
    ("force", Custom::Vector(Dimension::FORCE)),
    ("N", Custom::Vector(Dimension::NONE)),
    ("mass", Custom::Number(Dimension::MASS)),
    ("pscale", Custom::Number(Dimension::LENGTH)),
    ("density", Custom::Number(Dimension::DENSITY)),
    ("temperature", Custom::Number(Dimension::TEMPERATURE)),
    ("age", Custom::Number(Dimension::TIME)),
    ("life", Custom::Number(Dimension::TIME)),
    ("id", Custom::Number(Dimension::NONE)),
];

/// The settings of a node at a time.
#[derive(Debug, Clone, Copy)]
pub(super) struct Given<'a> {
    pub declaration: &'static Declaration,
    pub settings: &'a Settings,
    /// When [s].
    pub time: f64,
}

impl Given<'_> {
    /// What a parameter is set to over time; `None` where nothing holds.
    pub fn setting(&self, name: &str) -> Option<Setting> {
        self.settings
            .get(name)
            .cloned()
            .or_else(|| self.declaration.parameter(name)?.fallback.value().map(Setting::Constant))
    }

    /// The value at the time, within its range; `None` where nothing holds.
    pub fn value(&self, name: &str) -> Result<Option<Value>, Fault> {
        let Some(setting) = self.setting(name) else { return Ok(None) };
        let value = setting.at(self.time);
        let range = self.declaration.parameter(name).map(|parameter| parameter.range);
        let numbers: Vec<f64> = match &value {
            Value::Integer(whole) => vec![*whole as f64],
            value => value.numbers().unwrap_or_default().to_vec(),
        };
        let is_good =
            |number: &f64| number.is_finite() && range.is_none_or(|range| range.contains(*number));
        match range.filter(|_| !numbers.iter().all(is_good)) {
            Some(range) => {
                Err(Fault::parameter(name, &value, format!("it must be {}", range.words())))
            }
            None => Ok(Some(value)),
        }
    }

    pub fn optional_number(&self, name: &str) -> Result<Option<f64>, Fault> {
        match self.value(name)? {
            None => Ok(None),
            Some(Value::Number(number)) => Ok(Some(number)),
            Some(Value::Integer(whole)) => Ok(Some(whole as f64)),
            Some(other) => Err(Fault::parameter(name, other, "a number is wanted")),
        }
    }

    pub fn number(&self, name: &str) -> Result<f64, Fault> {
        self.optional_number(name)?.ok_or_else(|| self.missing(name))
    }

    pub fn vector(&self, name: &str) -> Result<DVec3, Fault> {
        match self.value(name)? {
            None => Err(self.missing(name)),
            Some(Value::Vector(vector)) => Ok(DVec3::from_array(vector)),
            Some(other) => Err(Fault::parameter(name, other, "three numbers are wanted")),
        }
    }

    pub fn optional_integer(&self, name: &str) -> Result<Option<i64>, Fault> {
        match self.value(name)? {
            None => Ok(None),
            Some(Value::Integer(whole)) => Ok(Some(whole)),
            Some(other) => Err(Fault::parameter(name, other, "a whole number is wanted")),
        }
    }

    /// A whole number that is not negative.
    pub fn count(&self, name: &str) -> Result<u32, Fault> {
        let whole = self.optional_integer(name)?.ok_or_else(|| self.missing(name))?;
        u32::try_from(whole).map_err(|_| Fault::parameter(name, whole, "a count is wanted"))
    }

    /// Other seeds give other random numbers.
    pub fn seed(&self) -> Result<u64, Fault> {
        Ok(self.optional_integer("seed")?.unwrap_or(0) as u64)
    }

    pub fn flag(&self, name: &str) -> Result<bool, Fault> {
        match self.value(name)? {
            Some(Value::Flag(flag)) => Ok(flag),
            other => Err(Fault::parameter(name, words(other), "#true or #false is wanted")),
        }
    }

    pub fn optional_text(&self, name: &str) -> Result<Option<String>, Fault> {
        match self.value(name)? {
            None => Ok(None),
            Some(Value::Text(text)) => {
                let choices = self.declaration.parameter(name).map(|parameter| parameter.takes);
                if let Some(Type::Choice(choices)) = choices
                    && !choices.iter().any(|(word, _)| *word == text)
                {
                    let words: Vec<&str> = choices.iter().map(|(word, _)| *word).collect();
                    let wanted = format!("it must be one of {}", words.join(", "));
                    return Err(Fault::parameter(name, format!("`{text}`"), wanted));
                }
                Ok(Some(text))
            }
            Some(other) => Err(Fault::parameter(name, other, "a text is wanted")),
        }
    }

    pub fn text(&self, name: &str) -> Result<String, Fault> {
        self.optional_text(name)?.ok_or_else(|| self.missing(name))
    }

    /// A text as numbers for a channel, in SI: one or three, and those that it holds by custom, if it has one.
    pub fn optional_quantity(&self, name: &str, channel: &str) -> Result<Option<Value>, Fault> {
        let Some(text) = self.optional_text(name)? else { return Ok(None) };
        let failed = |why| Fault::Quantity { parameter: name.to_owned(), why };
        let quantity = Quantity::parse(&text).map_err(failed)?;
        if let Some((_, custom)) = CHANNELS.iter().find(|(known, _)| *known == channel) {
            let held = match custom {
                Custom::Vector(dimension) => quantity.expect::<3>(*dimension).map(Value::Vector),
                Custom::Number(dimension) => {
                    quantity.expect::<1>(*dimension).map(|[number]| Value::Number(number))
                }
            };
            return held.map(Some).map_err(|why| Fault::Channel {
                parameter: name.to_owned(),
                channel: channel.to_owned(),
                why,
            });
        }
        match quantity.values[..] {
            [number] => Ok(Some(Value::Number(number))),
            [x, y, z] => Ok(Some(Value::Vector([x, y, z]))),
            _ => Err(Fault::parameter(name, format!("`{text}`"), "one number or three are wanted")),
        }
    }

    /// A text of one length or three [m].
    pub fn optional_lengths(&self, name: &str) -> Result<Option<Value>, Fault> {
        let Some(text) = self.optional_text(name)? else { return Ok(None) };
        let failed = |why| Fault::Quantity { parameter: name.to_owned(), why };
        let quantity = Quantity::parse(&text).map_err(failed)?;
        let held = match quantity.values.len() {
            1 => quantity.expect::<1>(Dimension::LENGTH).map(|[number]| Value::Number(number)),
            _ => quantity.expect::<3>(Dimension::LENGTH).map(Value::Vector),
        };
        held.map(Some).map_err(failed)
    }

    /// The length of a unit [m].
    pub fn unit_of_length(&self, name: &str) -> Result<f64, Fault> {
        let text = self.text(name)?;
        let failed = |why| Fault::Quantity { parameter: name.to_owned(), why };
        let one = Quantity::parse(&format!("1 {text}")).map_err(failed)?;
        let [metres] = one.expect::<1>(Dimension::LENGTH).map_err(failed)?;
        if metres.is_nan() || metres <= 0.0 {
            return Err(Fault::parameter(name, text, "a unit of length is wanted"));
        }
        Ok(metres)
    }

    fn missing(&self, name: &str) -> Fault {
        Fault::parameter(name, "not given", "it is needed")
    }
}

fn words(value: Option<Value>) -> String {
    value.map_or_else(|| "not given".to_owned(), |value| value.to_string())
}
