//! The values that reach a Behavior at a time, by the rule of scopes: element > object > Behavior > nearest Group > default.

use crate::error::{Result, SimError};
use crate::input::PointCloud;
use std::collections::BTreeMap;
use undine_core::glam::DVec3;
use undine_schema::Value;
use undine_schema::setup::{Origin, Scope};

/// What the parameters of a Behavior are at a time, for one Object or for none in particular.
#[derive(Debug, Clone, Copy)]
pub struct Values<'a> {
    scope: &'a Scope,
    time: f64,
    attributes: Option<&'a BTreeMap<String, Value>>,
}

impl<'a> Values<'a> {
    /// At a time [s], for no Object in particular.
    pub fn new(scope: &'a Scope, time: f64) -> Self {
        Self { scope, time, attributes: None }
    }

    /// For an Object whose input says this of it as a whole.
    pub fn of_object(self, attributes: &'a BTreeMap<String, Value>) -> Self {
        Self { attributes: Some(attributes), ..self }
    }

    /// The time [s].
    pub fn time(&self) -> f64 {
        self.time
    }

    /// The value of a parameter and where it comes from; `None` where nothing holds.
    pub fn value(&self, name: &str) -> Option<(Value, Origin)> {
        let channel =
            self.scope.declaration.parameter(name).and_then(|parameter| parameter.channel);
        let object = channel.and_then(|channel| self.attributes?.get(channel));
        let (setting, origin) = self.scope.setting(name, object)?;
        Some((setting.at(self.time), origin))
    }

    /// A number, in SI.
    pub fn number(&self, name: &str) -> Result<f64> {
        self.optional_number(name)?.ok_or_else(|| self.undeclared(name))
    }

    /// A number, in SI, where one holds.
    pub fn optional_number(&self, name: &str) -> Result<Option<f64>> {
        match self.value(name) {
            None => Ok(None),
            Some((Value::Number(number), _)) => Ok(Some(number)),
            Some((Value::Integer(whole), _)) => Ok(Some(whole as f64)),
            Some(_) => Err(self.undeclared(name)),
        }
    }

    /// Three components, in SI.
    pub fn vector(&self, name: &str) -> Result<DVec3> {
        self.optional_vector(name)?.ok_or_else(|| self.undeclared(name))
    }

    /// Three components, in SI, where they hold.
    pub fn optional_vector(&self, name: &str) -> Result<Option<DVec3>> {
        match self.value(name) {
            None => Ok(None),
            Some((Value::Vector(vector), _)) => Ok(Some(DVec3::from(vector))),
            Some(_) => Err(self.undeclared(name)),
        }
    }

    /// A whole number.
    pub fn integer(&self, name: &str) -> Result<i64> {
        match self.value(name) {
            Some((Value::Integer(whole), _)) => Ok(whole),
            _ => Err(self.undeclared(name)),
        }
    }

    /// Yes or no.
    pub fn flag(&self, name: &str) -> Result<bool> {
        match self.value(name) {
            Some((Value::Flag(flag), _)) => Ok(flag),
            _ => Err(self.undeclared(name)),
        }
    }

    /// A text, choice or name.
    pub fn text(&self, name: &str) -> Result<String> {
        self.optional_text(name)?.ok_or_else(|| self.undeclared(name))
    }

    /// A text, choice or name, where one holds.
    pub fn optional_text(&self, name: &str) -> Result<Option<String>> {
        match self.value(name) {
            None => Ok(None),
            Some((Value::Text(text), _)) => Ok(Some(text)),
            Some(_) => Err(self.undeclared(name)),
        }
    }

    /// A number for each of these points: from their channel, where they have it.
    pub fn each_number(&self, name: &str, points: &PointCloud) -> Result<Vec<f64>> {
        let Some(values) = self.channel_of(name).and_then(|channel| points.numbers.get(channel))
        else {
            return Ok(vec![self.number(name)?; points.positions.len()]);
        };
        values
            .iter()
            .enumerate()
            .try_for_each(|(n, &value)| self.check(name, n as u64, &[value]))?;
        Ok(values.clone())
    }

    /// A vector for each of these points: from their channel, where they have it.
    pub fn each_vector(&self, name: &str, points: &PointCloud) -> Result<Vec<DVec3>> {
        let Some(values) = self.channel_of(name).and_then(|channel| points.vectors.get(channel))
        else {
            return Ok(vec![self.vector(name)?; points.positions.len()]);
        };
        let check = |(n, value): (usize, &DVec3)| self.check(name, n as u64, &value.to_array());
        values.iter().enumerate().try_for_each(check)?;
        Ok(values.clone())
    }

    /// The channel by which a parameter may vary.
    pub fn channel_of(&self, name: &str) -> Option<&'static str> {
        self.scope.declaration.parameter(name)?.channel
    }

    /// What a channel says is held to the same bounds as what a scene says.
    pub(crate) fn check(&self, name: &str, element: u64, numbers: &[f64]) -> Result<()> {
        let declared = self.scope.declaration.parameter(name);
        let range = declared.map_or(undine_schema::Range::ALL, |parameter| parameter.range);
        if numbers.iter().all(|number| number.is_finite() && range.contains(*number)) {
            return Ok(());
        }
        let channel = self.channel_of(name).unwrap_or(name);
        let what =
            format!("channel `{channel}` of the input holds {numbers:?} at element {element}");
        let help = format!("`{name}` has to be {}", range.words());
        Err(SimError::setup(self.scope.declaration.name, what, help))
    }

    fn undeclared(&self, name: &str) -> SimError {
        SimError::Undeclared { behavior: self.scope.declaration.name, parameter: name.to_owned() }
    }
}
