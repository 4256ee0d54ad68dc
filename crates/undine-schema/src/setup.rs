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

impl Group {
    /// An empty Group.
    pub fn new(name: impl Into<String>) -> Self {
        Self { name: name.into(), ..Self::default() }
    }

    /// It, with one more child.
    pub fn with(mut self, child: impl Into<Node>) -> Self {
        self.children.push(child.into());
        self
    }

    /// It, with a parameter set for all Behaviors below.
    pub fn set(mut self, parameter: &str, setting: impl Into<Setting>) -> Self {
        self.settings.insert(parameter.to_owned(), setting.into());
        self
    }

    /// It, taking no part.
    pub fn disabled(mut self) -> Self {
        self.disabled = true;
        self
    }
}

impl Behavior {
    /// A Behavior that sets nothing, called what it is.
    pub fn new(declaration: &'static Declaration) -> Self {
        let name = declaration.name.to_owned();
        Self { name, declaration, disabled: false, settings: Settings::new() }
    }

    /// It, under another name.
    pub fn named(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        self
    }

    /// It, with a parameter set.
    pub fn set(mut self, parameter: &str, setting: impl Into<Setting>) -> Self {
        self.settings.insert(parameter.to_owned(), setting.into());
        self
    }

    /// It, taking no part.
    pub fn disabled(mut self) -> Self {
        self.disabled = true;
        self
    }
}

impl From<Group> for Node {
    fn from(group: Group) -> Self {
        Self::Group(group)
    }
}

impl From<Behavior> for Node {
    fn from(behavior: Behavior) -> Self {
        Self::Behavior(behavior)
    }
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
