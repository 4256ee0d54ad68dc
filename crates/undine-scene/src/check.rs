//! What names something else in a scene: inputs, Objects, Groups, exposed parameters; and what has to be set.

use crate::address::{Exposed, below};
use crate::catalogue::{Catalogue, suggestion};
use crate::diagnostic::{Diagnostic, Place, Report};
use crate::output::{OUTPUT, Output};
use crate::render::{RENDER, Render};
use crate::scene::{Expose, GraphNode, Input};
use crate::settings::{SETUP, Settings};
use std::collections::{BTreeMap, BTreeSet};
use undine_schema::setup::{self, Behavior, Group, Node};
use undine_schema::{Declaration, Fallback, Kind, Parameter, Setting, Type, Value};

/// Looks up all that a scene names.
pub struct Check<'a> {
    /// What nodes there are.
    pub catalogue: &'a Catalogue,
    /// Where each node and each parameter stands.
    pub places: &'a BTreeMap<String, Place>,
    /// What is wrong so far.
    pub report: &'a mut Report,
    /// Where the scene begins.
    pub start: &'a Place,
}

/// What a path of the tree leads to.
#[derive(Clone, Copy)]
enum Found {
    Group,
    Behavior(&'static Declaration),
}

impl Check<'_> {
    /// Resolves every name of inputs and targets to a path from the root, and reports what is missing.
    pub fn names(
        &mut self,
        root: &mut Group,
        inputs: &mut [Input],
        outputs: &mut [Output],
        renders: &mut [Render],
    ) {
        let known: Vec<String> = inputs.iter().map(|input| input.name.clone()).collect();
        for input in inputs.iter_mut() {
            let group = input.name.rsplit_once('/').map_or("", |(group, _)| group).to_owned();
            for node in &mut input.nodes {
                self.graph_names(node, &group, &known);
            }
        }
        self.circles(inputs);
        let mut tree = BTreeMap::new();
        index(root, "", &mut tree);
        self.group_names(root, "", &known, &tree);
        self.missing_values(root, "", &mut Vec::new(), inputs);
        for (n, output) in outputs.iter_mut().enumerate() {
            if let Some(of) = &output.of {
                let place = self.place(&format!("output{n}.of"));
                output.of = self.target(of, "", &place, &tree);
            }
        }
        for (n, render) in renders.iter_mut().enumerate() {
            if let Some(of) = &render.of {
                let place = self.place(&format!("render{n}.of"));
                render.of = self.target(of, "", &place, &tree);
            }
        }
    }

    /// Puts what ends outside of `bounds` behind all else in the scene.
    pub fn bounds(&mut self, settings: &Settings, root: &mut Group, inputs: &[Input]) {
        let Some(name) = &settings.bounds else { return };
        let known: Vec<String> = inputs.iter().map(|input| input.name.clone()).collect();
        let place = self.place("setup.bounds");
        let Some(input) = self.input(name, "", &place, &known) else { return };
        let Some(kill) = self.catalogue.behavior("kill") else { return };
        // A node of the scene may be called so.
        let names = ["bounds", "setup-bounds", "bounds-of-setup"];
        let is_free = |name: &&&str| !root.children.iter().any(|child| child.name() == **name);
        let name = names.iter().find(is_free).map_or("bounds", |name| *name);
        let set = [("outside", Value::Text(input)), ("tell", Value::Flag(true))];
        root.children.push(Node::Behavior(Behavior {
            name: name.to_owned(),
            declaration: kill,
            disabled: false,
            settings: set.map(|(name, value)| (name.to_owned(), Setting::Constant(value))).into(),
        }));
    }

    /// Warns of inputs that nothing in the scene names; those of files that it includes may be for others.
    pub fn unused_inputs(&mut self, root: &Group, inputs: &[Input]) {
        // What cannot be read may name some.
        if self.report.has_errors() {
            return;
        }
        let mut named: BTreeSet<&str> = BTreeSet::new();
        inputs.iter().for_each(|input| named.extend(used(&input.nodes)));
        named_by(root, &mut named);
        for input in inputs.iter().filter(|input| !input.disabled) {
            let place = self.place(&format!("input/{}", input.name));
            let is_own = place.source.is(&self.start.source) && !input.name.contains('.');
            if is_own && !named.contains(input.name.as_str()) {
                let what = format!("nothing uses the input `{}`", input.name);
                let help = "name it where it is meant, or take it out";
                self.report.add(Diagnostic::warning(&place, what).help(help));
            }
        }
    }

    fn graph_names(&mut self, node: &mut GraphNode, group: &str, known: &[String]) {
        for parameter in node.declaration.parameters.iter().filter(|p| p.takes == Type::Input) {
            let place = self.place(&format!("{}.{}", node.path, parameter.name));
            rename(&mut node.settings, parameter.name, |name| {
                self.input(name, group, &place, known)
            });
        }
        self.missing_of(&node.path, node.declaration, &node.settings);
        for child in &mut node.children {
            self.graph_names(child, group, known);
        }
    }

    fn group_names(
        &mut self,
        group: &mut Group,
        path: &str,
        known: &[String],
        tree: &BTreeMap<String, Found>,
    ) {
        let mut below_here = Vec::new();
        collect(&group.children, &mut below_here);
        self.setting_names(&mut group.settings, &below_here, path, path, known, tree);
        for node in &mut group.children {
            let child = below(path, node.name());
            match node {
                Node::Group(group) => self.group_names(group, &child, known, tree),
                Node::Behavior(behavior) => {
                    self.setting_names(
                        &mut behavior.settings,
                        &[behavior.declaration],
                        &child,
                        path,
                        known,
                        tree,
                    );
                }
            }
        }
    }

    fn setting_names(
        &mut self,
        settings: &mut setup::Settings,
        declarations: &[&'static Declaration],
        path: &str,
        group: &str,
        known: &[String],
        tree: &BTreeMap<String, Found>,
    ) {
        let names: Vec<String> = settings.keys().cloned().collect();
        for name in names {
            let Some(parameter) =
                declarations.iter().find_map(|declaration| declaration.parameter(&name))
            else {
                continue;
            };
            let place = self.place(&format!("{path}.{name}"));
            match parameter.takes {
                Type::Input => {
                    rename(settings, &name, |input| self.input(input, group, &place, known))
                }
                Type::Target => {
                    rename(settings, &name, |target| self.target(target, group, &place, tree))
                }
                _ => {}
            }
        }
    }

    /// The full name of an input, looked for from a Group outwards.
    fn input(
        &mut self,
        name: &str,
        group: &str,
        place: &Place,
        known: &[String],
    ) -> Option<String> {
        let found =
            outwards(group).map(|group| below(group, name)).find(|full| known.contains(full));
        if found.is_none() {
            // Filters of a Behavior are inputs that nobody else names.
            let known: Vec<&str> =
                known.iter().map(String::as_str).filter(|name| !name.contains('.')).collect();
            let help = match known[..] {
                [] => format!("write input \"{name}\" file=\"…\" at the top level"),
                _ => suggestion(name, known.into_iter(), "there are"),
            };
            self.report
                .add(Diagnostic::error(place, format!("there is no input `{name}`")).help(help));
        }
        found
    }

    /// The path of an Object's Behavior or of a Group, looked for from a Group outwards.
    fn target(
        &mut self,
        name: &str,
        group: &str,
        place: &Place,
        tree: &BTreeMap<String, Found>,
    ) -> Option<String> {
        let found = outwards(group)
            .map(|group| below(group, name))
            .find_map(|path| Some((tree.get(&path)?, path)));
        match found {
            Some((Found::Behavior(declaration), _)) if declaration.kind != Kind::Object => {
                self.report.add(
                    Diagnostic::error(
                        place,
                        format!(
                            "`{name}` is a {}, not an Object or a Group",
                            declaration.kind.noun()
                        ),
                    )
                    .help(self.targets(name, tree)),
                );
                None
            }
            Some((_, path)) => Some(path),
            None => {
                let help = self.targets(name, tree);
                self.report.add(
                    Diagnostic::error(place, format!("there is no Object or Group `{name}`"))
                        .help(help),
                );
                None
            }
        }
    }

    fn targets(&self, name: &str, tree: &BTreeMap<String, Found>) -> String {
        let is_target = |found: &Found| match found {
            Found::Group => true,
            Found::Behavior(declaration) => declaration.kind == Kind::Object,
        };
        let targets =
            tree.iter().filter(|(_, found)| is_target(found)).map(|(path, _)| path.as_str());
        match suggestion(name, targets, "there are") {
            none if none.is_empty() => "the scene has no Object or Group yet".to_owned(),
            some => some,
        }
    }

    /// Inputs that are made from each other.
    fn circles(&mut self, inputs: &[Input]) {
        let uses: BTreeMap<&str, Vec<&str>> =
            inputs.iter().map(|input| (input.name.as_str(), used(&input.nodes))).collect();
        // Remove what uses nothing that is left, until only circles remain, and what hangs on them.
        let mut left: Vec<&str> = uses.keys().copied().collect();
        loop {
            let before = left.len();
            let still = left.clone();
            left.retain(|name| uses[name].iter().any(|other| still.binary_search(other).is_ok()));
            if left.len() == before {
                break;
            }
        }
        if let Some(first) = left.first() {
            let place = self.place(&format!("input/{first}"));
            let mut circle = vec![*first];
            while let Some(next) =
                uses[circle[circle.len() - 1]].iter().find(|next| left.contains(next))
            {
                let closed = circle.contains(next);
                circle.push(next);
                if closed {
                    break;
                }
            }
            self.report.add(
                Diagnostic::error(&place, format!("the input `{first}` is made from itself"))
                    .help(circle.join(" is made from ")),
            );
        }
    }

    /// Parameters that a scene has to set and does not.
    fn missing_values(
        &mut self,
        group: &Group,
        path: &str,
        set: &mut Vec<setup::Settings>,
        inputs: &[Input],
    ) {
        set.push(group.settings.clone());
        for node in &group.children {
            let child = below(path, node.name());
            match node {
                Node::Group(group) => self.missing_values(group, &child, set, inputs),
                Node::Behavior(behavior) => {
                    for parameter in required(behavior.declaration) {
                        let is_set = behavior.settings.contains_key(parameter.name)
                            || set.iter().any(|settings| settings.contains_key(parameter.name));
                        if !is_set && !may_come_from_input(behavior, parameter, inputs) {
                            self.must_be_set(&child, behavior.declaration, parameter);
                        }
                    }
                }
            }
        }
        set.pop();
    }

    /// Parameters of nodes of the graph, `setup` and the like that have to be set.
    pub fn missing_of(
        &mut self,
        path: &str,
        declaration: &'static Declaration,
        settings: &setup::Settings,
    ) {
        for parameter in
            required(declaration).filter(|parameter| !settings.contains_key(parameter.name))
        {
            self.must_be_set(path, declaration, parameter);
        }
    }

    fn must_be_set(&mut self, path: &str, declaration: &Declaration, parameter: &Parameter) {
        // A value that was given and refused has been spoken of, and so has a name that was misspelt.
        let at = |path: &str| self.places.contains_key(&format!("{path}.{}", parameter.name));
        let given = outwards(path).any(at);
        let place = self.place(path);
        let meant = format!("did you mean `{}`", parameter.name);
        let spoken = given
            || self.report.diagnostics().iter().any(|found| {
                found.place.source.name() == place.source.name()
                    && place.span.start <= found.place.span.start
                    && found.place.span.end <= place.span.end
                    && found.help.as_ref().is_some_and(|help| help.starts_with(&meant))
            });
        if !spoken {
            self.report.add(
                Diagnostic::error(
                    &place,
                    format!("`{}` needs `{}`", declaration.name, parameter.name),
                )
                .help(format!(
                    "write {} {} ({})",
                    declaration.name,
                    crate::words::written(parameter),
                    parameter.doc
                )),
            );
        }
    }

    /// Checks that exposed names lead to parameters.
    pub fn exposes(
        &mut self,
        root: &Group,
        exposed: Vec<Exposed>,
        inputs: &[Input],
    ) -> Vec<Expose> {
        let mut tree = BTreeMap::new();
        index(root, "", &mut tree);
        let mut known: BTreeMap<String, Place> = BTreeMap::new();
        let mut exposes = Vec::new();
        for Exposed { name, path, place } in exposed {
            if let Some(first) = known.insert(name.clone(), place.clone()) {
                self.report.add(
                    Diagnostic::error(&place, format!("`{name}` is exposed twice"))
                        .label("again here")
                        .also(&first, "first here")
                        .help("give one of them another name"),
                );
                continue;
            }
            match self.parameter(root, &path, &place, &tree, inputs) {
                Ok(parameter) => exposes.push(Expose { name, path, parameter, place }),
                // The `use` of a template has spoken of it before.
                Err(_) if self.report.speaks_of(&place) => {}
                Err(error) => self.report.add(error),
            }
        }
        exposes
    }

    /// The parameter that a path names.
    fn parameter(
        &self,
        root: &Group,
        path: &str,
        place: &Place,
        tree: &BTreeMap<String, Found>,
        inputs: &[Input],
    ) -> Result<&'static Parameter, Diagnostic> {
        let Some((node, name)) = path.rsplit_once('.') else {
            return Err(Diagnostic::error(place, format!("`{path}` names no parameter")).help(
                "a path is names of Groups and a Behavior, and a parameter: wind/inflow.velocity",
            ));
        };
        let declarations: Vec<&'static Declaration> = match (node, tree.get(node)) {
            ("setup", None) => vec![&SETUP],
            ("output", None) => vec![&OUTPUT],
            ("render", None) => vec![&RENDER],
            (_, Some(Found::Behavior(declaration))) => vec![*declaration],
            (_, Some(Found::Group)) => {
                let mut below_here = Vec::new();
                if let Some(group) = group_at(root, node) {
                    collect(&group.children, &mut below_here);
                }
                below_here
            }
            (_, None) => match graph_node(inputs, node) {
                Some(node) => vec![node.declaration],
                None => {
                    return Err(Diagnostic::error(
                        place,
                        format!("`{path}` leads nowhere: there is no `{node}`"),
                    )
                    .help(suggestion(
                        node,
                        tree.keys().map(String::as_str),
                        "there are",
                    )));
                }
            },
        };
        declarations.iter().find_map(|declaration| declaration.parameter(name)).ok_or_else(|| {
            let names = declarations
                .iter()
                .flat_map(|declaration| declaration.parameters)
                .map(|parameter| parameter.name);
            Diagnostic::error(place, format!("`{node}` has no parameter `{name}`"))
                .help(suggestion(name, names, "it takes"))
        })
    }

    fn place(&self, path: &str) -> Place {
        self.places.get(path).unwrap_or(self.start).clone()
    }
}

/// A Group's path, those around it, and the root.
fn outwards(group: &str) -> impl Iterator<Item = &str> {
    std::iter::successors(Some(group), |path| match path.rsplit_once('/') {
        Some((outer, _)) => Some(outer),
        None => (!path.is_empty()).then_some(""),
    })
}

/// Everything of a tree, by path.
fn index(group: &Group, path: &str, into: &mut BTreeMap<String, Found>) {
    for node in &group.children {
        let child = below(path, node.name());
        match node {
            Node::Group(group) => {
                index(group, &child, into);
                into.insert(child, Found::Group);
            }
            Node::Behavior(behavior) => {
                into.insert(child, Found::Behavior(behavior.declaration));
            }
        }
    }
}

fn collect(nodes: &[Node], into: &mut Vec<&'static Declaration>) {
    for node in nodes {
        match node {
            Node::Group(group) => collect(&group.children, into),
            Node::Behavior(behavior) => into.push(behavior.declaration),
        }
    }
}

fn group_at<'g>(root: &'g Group, path: &str) -> Option<&'g Group> {
    path.split('/').try_fold(root, |group, name| {
        group.children.iter().find_map(|node| match node {
            Node::Group(group) if group.name == name => Some(group),
            _ => None,
        })
    })
}

/// The node of the graph at `input/block` or `input/block/box`.
fn graph_node<'i>(inputs: &'i [Input], path: &str) -> Option<&'i GraphNode> {
    fn within<'i>(nodes: &'i [GraphNode], path: &str) -> Option<&'i GraphNode> {
        nodes.iter().find_map(|node| {
            if node.path == path { Some(node) } else { within(&node.children, path) }
        })
    }
    inputs.iter().find_map(|input| within(&input.nodes, path))
}

/// The inputs that nodes of the graph are made from.
fn used(nodes: &[GraphNode]) -> Vec<&str> {
    let mut names = Vec::new();
    for node in nodes {
        for parameter in
            node.declaration.parameters.iter().filter(|parameter| parameter.takes == Type::Input)
        {
            if let Some(Setting::Constant(Value::Text(name))) = node.settings.get(parameter.name) {
                names.push(name.as_str());
            }
        }
        names.extend(used(&node.children));
    }
    names
}

/// All texts that a Group and what is in it set: names of inputs are among them.
fn named_by<'g>(group: &'g Group, named: &mut BTreeSet<&'g str>) {
    texts_of(&group.settings, named);
    for child in &group.children {
        match child {
            Node::Group(group) => named_by(group, named),
            Node::Behavior(behavior) => texts_of(&behavior.settings, named),
        }
    }
}

fn texts_of<'g>(settings: &'g setup::Settings, named: &mut BTreeSet<&'g str>) {
    for setting in settings.values() {
        match setting {
            Setting::Constant(Value::Text(text)) => {
                named.insert(text);
            }
            Setting::Constant(_) => {}
            Setting::Keyed(keys) => {
                named.extend(keys.keys().iter().filter_map(|key| match &key.value {
                    Value::Text(text) => Some(text.as_str()),
                    _ => None,
                }));
            }
        }
    }
}

fn required(declaration: &'static Declaration) -> impl Iterator<Item = &'static Parameter> {
    declaration.parameters.iter().filter(|parameter| parameter.fallback == Fallback::Required)
}

/// Whether the input of a Behavior may say what the Behavior does not: by an attribute, or a channel of its elements.
fn may_come_from_input(behavior: &Behavior, parameter: &Parameter, inputs: &[Input]) -> bool {
    let has_input = behavior
        .declaration
        .parameters
        .iter()
        .any(|p| p.takes == Type::Input && behavior.settings.contains_key(p.name));
    parameter.channel.is_some() && has_input && !inputs.is_empty()
}

/// Replaces the texts of a setting by what they stand for; those that stand for nothing stay, with an error reported.
fn rename(
    settings: &mut setup::Settings,
    name: &str,
    mut find: impl FnMut(&str) -> Option<String>,
) {
    if let Some(Setting::Constant(Value::Text(text))) = settings.get_mut(name)
        && let Some(found) = find(text)
    {
        *text = found;
    }
}
