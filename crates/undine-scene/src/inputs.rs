//! Inputs: files, sources and filters that make the data for Behaviors, and values for an input as a whole.

use crate::address::below;
use crate::catalogue::{LOAD, listed, suggestion};
use crate::diagnostic::Diagnostic;
use crate::document::{Atom, Element, Scalar};
use crate::scene::{Attribute, GraphNode, Input};
use crate::tree::{Tree, twice};
use crate::values;
use std::collections::BTreeMap;
use undine_schema::{Kind, Quantity, Type, Value};

impl Tree<'_> {
    /// `input "groom" file="groom.ply" { … }`.
    pub(crate) fn input(&mut self, element: &Element, group: &str) {
        let name = match element.arguments.as_slice() {
            [name] => self.name(name),
            _ => {
                self.report.add(
                    Diagnostic::error(&element.header(), "an input has one name")
                        .help("write input \"groom\" file=\"groom.ply\""),
                );
                None
            }
        };
        let Some(name) = name.map(|name| below(group, &name)) else { return };
        let path = format!("input/{name}");
        if let Some(first) = self.places.insert(path.clone(), element.header()) {
            let error = twice(element, &name, &element.arguments[0].place, &first);
            self.report.add(error);
        }
        let mut input = Input {
            name,
            disabled: self.disabled(element),
            nodes: Vec::new(),
            attributes: BTreeMap::new(),
        };
        let load = self.catalogue.graph_node(LOAD);
        let loads = |name: &str| load.and_then(|load| load.parameter(name)).is_some();
        let given = element.properties.iter().any(|property| property.name != "disabled")
            || element.children.iter().any(|child| {
                loads(&child.name) && self.catalogue.graph_node(&child.name).is_none()
            });
        // Its own properties are those of a file to load.
        let mut own = element.clone();
        own.children
            .retain(|child| loads(&child.name) && self.catalogue.graph_node(&child.name).is_none());
        match load {
            Some(load) if given => {
                let settings = self.settings_of(&own, load, &path, |_| false).0;
                let node = GraphNode {
                    path: path.clone(),
                    declaration: load,
                    disabled: false,
                    settings,
                    children: Vec::new(),
                };
                input.nodes.push(node);
            }
            _ => {}
        }
        for child in element
            .children
            .iter()
            .filter(|child| !own.children.iter().any(|o| o.name == child.name))
        {
            if child.name == "attribute" {
                self.attribute(child, &path, &mut input);
            } else {
                input.nodes.extend(self.graph_node(child, &path, input.nodes.len()));
            }
        }
        if let Some(first) = input.nodes.first() {
            let takes_input = first.declaration.parameters.iter().any(|p| p.takes == Type::Input);
            if first.declaration.kind == Kind::Filter && !takes_input && first.children.is_empty() {
                let place =
                    self.places.get(&first.path).cloned().unwrap_or_else(|| element.place.clone());
                self.report.add(
                    Diagnostic::error(
                        &place,
                        format!("there is nothing to {} yet", first.declaration.name),
                    )
                    .help("a source comes first: a file, or one of the shapes"),
                );
            }
        } else if element.children.iter().all(|child| child.name == "attribute") && !given {
            let sources = self
                .catalogue
                .graph_nodes()
                .filter(|node| node.kind == Kind::Source)
                .map(|node| node.name);
            let sources: Vec<&str> = sources.filter(|name| *name != LOAD).collect();
            self.report.add(
                Diagnostic::error(
                    &element.header(),
                    format!("the input `{}` has no data", input.name),
                )
                .help(format!(
                    "write file=\"groom.ply\", or a source in its block: {}",
                    listed(&sources)
                )),
            );
        }
        self.inputs.push(input);
    }

    /// A source or a filter, the `n`-th of its parent.
    pub(crate) fn graph_node(
        &mut self,
        element: &Element,
        parent: &str,
        n: usize,
    ) -> Option<GraphNode> {
        let Some(declaration) = self.catalogue.graph_node(&element.name) else {
            let name = &element.name;
            if self.catalogue.behavior(name).is_some() {
                self.report.add(
                    Diagnostic::error(
                        &element.place,
                        format!("`{name}` is a Behavior and stands in a Group, not in an input"),
                    )
                    .help("an input holds sources and filters"),
                );
            } else {
                let names = self.catalogue.graph_nodes().map(|node| node.name).chain(["attribute"]);
                let help = suggestion(name, names, "there are");
                self.report.add(
                    Diagnostic::error(
                        &element.place,
                        format!("there is no source or filter `{name}`"),
                    )
                    .help(help),
                );
            }
            return None;
        };
        let name = self.own_name(element, declaration);
        let mut path = format!("{parent}/{name}");
        // The same filter may come twice: later ones are told apart by their number.
        if self.places.contains_key(&path) {
            path = format!("{path}-{}", n + 1);
        }
        self.places.insert(path.clone(), element.header());
        let disabled = self.disabled(element);
        let catalogue = self.catalogue;
        let known = |name: &str| catalogue.graph_node(name).is_some();
        let (settings, kept) = self.settings_of(element, declaration, &path, known);
        let mut children = Vec::new();
        for child in kept {
            children.extend(self.graph_node(child, &path, children.len()));
        }
        Some(GraphNode { path, declaration, disabled, settings, children })
    }

    /// `attribute "density" "500 kg/m3"`.
    fn attribute(&mut self, element: &Element, path: &str, input: &mut Input) {
        let [name, atom] = element.arguments.as_slice() else {
            self.report.add(
                Diagnostic::error(&element.header(), "an attribute has a name and a value")
                    .help("write attribute \"density\" \"500 kg/m3\"; a value of several words stands in quotes"),
            );
            return;
        };
        let Some(name) = self.name(name) else { return };
        let value = match self.catalogue.channel(&name) {
            Some(parameter) => values::single(atom, parameter, &input.name, self.report),
            None => free_value(atom).map_err(|error| self.report.add(error)).ok(),
        };
        let Some(value) = value else { return };
        let path = format!("{path}.{name}");
        if let Some(first) = self.places.insert(path, element.header()) {
            self.report.add(
                Diagnostic::error(
                    &element.header(),
                    format!("the attribute `{name}` is set twice"),
                )
                .label("again here")
                .also(&first, "set here")
                .help("keep one of them"),
            );
        }
        input.attributes.insert(name, Attribute { value, place: element.header() });
    }
}

/// A value that no declaration describes: a quantity, a flag or a text.
fn free_value(atom: &Atom) -> Result<Value, Diagnostic> {
    let wrong = |what: &str| {
        Diagnostic::error(&atom.place, what.to_owned())
            .help("write a value such as \"500 kg/m3\" or \"4 0 0 m/s\"")
    };
    match &atom.scalar {
        Scalar::Integer(whole) => Ok(Value::Number(*whole as f64)),
        Scalar::Float(number) if number.is_finite() => Ok(Value::Number(*number)),
        Scalar::Float(_) | Scalar::Null => Err(wrong("an attribute is a finite value")),
        Scalar::Flag(flag) => Ok(Value::Flag(*flag)),
        Scalar::Text(text) if text.trim_start().starts_with('=') => {
            Err(wrong("expressions are not available in this version"))
        }
        Scalar::Text(text) => match Quantity::parse(text) {
            Ok(quantity) => match quantity.values.as_slice() {
                [one] => Ok(Value::Number(*one)),
                &[x, y, z] => Ok(Value::Vector([x, y, z])),
                _ => Err(wrong("an attribute is one number or three")),
            },
            // A number with a unit that is none is a slip, anything else a text.
            Err(error) if text.trim_start().starts_with(|c: char| c.is_ascii_digit()) => {
                Err(wrong(&error.to_string()))
            }
            Err(_) => Ok(Value::Text(text.clone())),
        },
    }
}
