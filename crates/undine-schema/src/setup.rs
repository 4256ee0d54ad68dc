//! The Solver Setup as data: a tree of Groups and Behaviors with what their parameters are set to.
//!
//! A scene file is parsed into it, Python will build it, and the pipeline runs it. It says what, never when.

use crate::declaration::Declaration;
use crate::value::{Setting, Value};
use std::collections::BTreeMap;

/// What a node sets, by the names of parameters.
pub type Settings = BTreeMap<String, Setting>;

/// A Group: gives scope to what it holds, and values to what is set nowhere nearer.
#[derive(Debug, Clone, Default)]
pub struct Group {
    /// Its name; empty for the root.
    pub name: String,
    /// Whether it takes part.
    pub disabled: bool,
    /// What it sets for all Behaviors below it.
    pub settings: Settings,
    /// What it holds, in the order of the file.
    pub children: Vec<Node>,
}

/// A Behavior: "there is hair", "gravity".
#[derive(Debug, Clone)]
pub struct Behavior {
    /// Its name, unique in its Group; by default what it is.
    pub name: String,
    /// What it is.
    pub declaration: &'static Declaration,
    /// Whether it takes part.
    pub disabled: bool,
    /// What it sets.
    pub settings: Settings,
}

/// A child of a Group.
#[derive(Debug, Clone)]
pub enum Node {
    /// A Group.
    Group(Group),
    /// A Behavior.
    Behavior(Behavior),
}

impl Node {
    /// Its name.
    pub fn name(&self) -> &str {
        match self {
            Self::Group(group) => &group.name,
            Self::Behavior(behavior) => &behavior.name,
        }
    }
}

/// Where a parameter's value comes from, the narrowest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Origin {
    /// A channel of the input, element by element.
    Element,
    /// The input as a whole.
    Object,
    /// The Behavior itself.
    Behavior,
    /// The nearest Group that sets it.
    Group,
    /// Its declaration.
    Default,
}

/// The settings that reach a Behavior: its own, and those of the Groups around it.
#[derive(Debug, Clone)]
pub struct Scope {
    /// What the Behavior is.
    pub declaration: &'static Declaration,
    /// Its own settings, then those of its Groups from the nearest to the root.
    pub levels: Vec<Settings>,
}

impl Scope {
    /// What a parameter is set to, and where. `object` is what the Object's input says as a whole, by the parameter's channel.
    pub fn setting(&self, name: &str, object: Option<&Value>) -> Option<(Setting, Origin)> {
        let parameter = self.declaration.parameter(name)?;
        if let Some(value) = object {
            return Some((Setting::Constant(value.clone()), Origin::Object));
        }
        let set = self.levels.iter().enumerate().find_map(|(n, level)| {
            let origin = if n == 0 { Origin::Behavior } else { Origin::Group };
            level.get(name).map(|setting| (setting.clone(), origin))
        });
        set.or_else(|| Some((Setting::Constant(parameter.fallback.value()?), Origin::Default)))
    }
}
