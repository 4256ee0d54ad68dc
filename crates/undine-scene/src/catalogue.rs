//! Every node that a scene may hold: what the phenomena, the data graph and the settings declare.

use crate::output::OUTPUT;
use crate::render::RENDER;
use crate::settings::SETUP;
use std::collections::BTreeMap;
use undine_schema::{Declaration, Kind, Parameter, spelling};

/// The nodes of the language itself.
pub const KEYWORDS: &[(&str, &str)] = &[
    ("setup", "says how the whole run goes"),
    ("input", "prepares data for Behaviors: a file, or sources and filters"),
    ("group", "holds Behaviors and Groups, and sets parameters for all of them"),
    ("output", "says what is written, and where"),
    ("render", "says what pictures of the run show, and from where"),
    ("expose", "gives a parameter a name that can be set from outside"),
    ("include", "takes in the nodes of another file"),
    ("template", "a Group that is written once and used several times"),
    ("use", "puts a template here, as a Group"),
];

/// The source that an input's own properties belong to: `input "groom" file="groom.ply"`.
pub const LOAD: &str = "load";

/// What nodes there are, by name.
#[derive(Debug, Clone)]
pub struct Catalogue {
    behaviors: BTreeMap<&'static str, &'static Declaration>,
    graph: BTreeMap<&'static str, &'static Declaration>,
}

impl Catalogue {
    /// All Behaviors and nodes of the data graph; `setup`, `output` and `render` are always there.
    pub fn new(declarations: impl IntoIterator<Item = &'static Declaration>) -> Self {
        let (mut behaviors, mut graph) = (BTreeMap::new(), BTreeMap::new());
        for declaration in declarations {
            if declaration.kind.is_behavior() {
                behaviors.insert(declaration.name, declaration);
            } else if matches!(declaration.kind, Kind::Source | Kind::Filter) {
                graph.insert(declaration.name, declaration);
            }
        }
        Self { behaviors, graph }
    }

    /// The Behavior of this name.
    pub fn behavior(&self, name: &str) -> Option<&'static Declaration> {
        self.behaviors.get(name).copied()
    }

    /// The node of the data graph of this name.
    pub fn graph_node(&self, name: &str) -> Option<&'static Declaration> {
        self.graph.get(name).copied()
    }

    /// All Behaviors, by name.
    pub fn behaviors(&self) -> impl Iterator<Item = &'static Declaration> {
        self.behaviors.values().copied()
    }

    /// All nodes of the data graph, by name.
    pub fn graph_nodes(&self) -> impl Iterator<Item = &'static Declaration> {
        self.graph.values().copied()
    }

    /// Everything that is declared: settings, Behaviors, nodes of the data graph.
    pub fn declarations(&self) -> impl Iterator<Item = &'static Declaration> {
        [&SETUP, &OUTPUT, &RENDER].into_iter().chain(self.behaviors()).chain(self.graph_nodes())
    }

    /// The parameter that a channel stands for, if some Behavior has one.
    pub fn channel(&self, channel: &str) -> Option<&'static Parameter> {
        self.behaviors()
            .flat_map(|declaration| declaration.parameters)
            .find(|parameter| parameter.channel == Some(channel))
    }
}

/// `did you mean …?` if something is spelt alike, and else all there is.
pub fn suggestion<'a>(typed: &str, names: impl Iterator<Item = &'a str>, all: &str) -> String {
    let names: Vec<&str> = names.collect();
    let mut alike = spelling::alike(typed, names.iter().copied());
    alike.dedup();
    match alike.as_slice() {
        [] if names.is_empty() => String::new(),
        [] => format!("{all}: {}", listed(&names)),
        [one] => format!("did you mean `{one}`?"),
        [one, two, ..] => format!("did you mean `{one}` or `{two}`?"),
    }
}

/// Names in one line, the first of many.
pub fn listed(names: &[&str]) -> String {
    let mut names = names.to_vec();
    names.sort_unstable();
    names.dedup();
    match names.get(..16).filter(|_| names.len() > 20) {
        Some(first) => format!("{}, … ({} in all)", first.join(", "), names.len()),
        None => names.join(", "),
    }
}
