//! Paths of nodes and parameters: `wind/inflow.velocity`, and setting what they name.
//!
//! The names of Groups and a Behavior, divided by `/`; behind a `.` the parameter. `setup`, `output` and `input/groom` name
//! the nodes that are not in the tree.

use crate::catalogue::{Catalogue, suggestion};
use crate::diagnostic::{Diagnostic, Place};
use crate::document::{Atom, Element, Property};

/// What a parameter is set to from elsewhere: a value, or a node with keys.
#[derive(Debug, Clone)]
pub enum Given {
    /// `name=value`, and where the name stands.
    Value(Place, Atom),
    /// `name { key … }`.
    Node(Element),
}

/// A name for a parameter, as a scene or a template gives it.
#[derive(Debug, Clone)]
pub struct Exposed {
    /// The name, with the path of the Group that says it.
    pub name: String,
    /// The path of the parameter, from the root.
    pub path: String,
    /// Where the path stands.
    pub place: Place,
}

/// What a node is called: its first argument, or what it is.
pub fn name_of(element: &Element) -> &str {
    match element.name.as_str() {
        "setup" | "output" | "render" => &element.name,
        _ => element.arguments.first().and_then(Atom::text).unwrap_or(&element.name),
    }
}

/// Whether a node stands in the tree of Groups and Behaviors, or holds settings.
fn is_addressed(element: &Element) -> bool {
    !matches!(
        element.name.as_str(),
        "input" | "expose" | "template" | "include" | "use" | "attribute"
    )
}

/// A path joined to the one it is below.
pub fn below(path: &str, name: &str) -> String {
    if path.is_empty() { name.to_owned() } else { format!("{path}/{name}") }
}

/// All names that `expose` gives, in these nodes and the Groups below them.
pub fn exposed(elements: &[Element], path: &str) -> Vec<Exposed> {
    let mut found = Vec::new();
    for element in elements {
        if element.name == "group" {
            found.extend(exposed(&element.children, &below(path, name_of(element))));
        } else if element.name == "expose"
            && let Some(name) = element.arguments.first().and_then(Atom::text)
            && let Some(target) = element.property("path")
            && let Some(to) = target.value.text()
        {
            found.push(Exposed {
                name: below(path, name),
                path: match to.strip_prefix("input/") {
                    Some(input) => format!("input/{}", below(path, input)),
                    None => below(path, to),
                },
                place: target.value.place.clone(),
            });
        }
    }
    found
}

/// Sets the parameter that a path names; `at` is who asks, for errors.
pub fn set(
    elements: &mut [Element],
    path: &str,
    given: Given,
    at: &Place,
    catalogue: &Catalogue,
) -> Result<(), Diagnostic> {
    let Some((nodes, parameter)) =
        path.rsplit_once('.').filter(|(nodes, name)| !nodes.is_empty() && !name.is_empty())
    else {
        return Err(Diagnostic::error(at, format!("`{path}` names no parameter")).help(
            "a path is names of Groups and a Behavior, and a parameter: wind/inflow.velocity",
        ));
    };
    // All outputs go to one folder: that of the first holds for the others, whatever they say.
    if path == "output.dir" {
        for output in elements.iter_mut().filter(|element| element.name == "output") {
            output.properties.retain(|property| property.name != "dir");
            output.children.retain(|child| child.name != "dir");
        }
    }
    let element = match nodes.strip_prefix("input/") {
        Some(input) => find_input(elements, path, input, at)?,
        None => find(elements, path, nodes, at)?,
    };
    // In a Group a child of the parameter's name is a Behavior, if there is one of that name.
    let taken = element.name == "group" && catalogue.behavior(parameter).is_some();
    element.properties.retain(|property| property.name != parameter);
    element.children.retain(|child| taken || child.name != parameter || child.name == "key");
    match given {
        Given::Value(place, value) => {
            element.properties.push(Property { name: parameter.to_owned(), place, value });
        }
        Given::Node(mut node) => {
            node.name = parameter.to_owned();
            element.children.push(node);
            element.block = true;
        }
    }
    Ok(())
}

/// The node at a path of names.
fn find<'e>(
    elements: &'e mut [Element],
    path: &str,
    nodes: &str,
    at: &Place,
) -> Result<&'e mut Element, Diagnostic> {
    let (first, rest) =
        nodes.split_once('/').map_or((nodes, None), |(first, rest)| (first, Some(rest)));
    let found =
        elements.iter().position(|element| is_addressed(element) && name_of(element) == first);
    let Some(found) = found else {
        let names: Vec<&str> =
            elements.iter().filter(|element| is_addressed(element)).map(name_of).collect();
        return Err(missing_node(path, first, &names, at));
    };
    match rest {
        None => Ok(&mut elements[found]),
        Some(rest) => find(&mut elements[found].children, path, rest, at),
    }
}

/// The input at a path of names of Groups, or a node of its graph.
fn find_input<'e>(
    elements: &'e mut [Element],
    path: &str,
    nodes: &str,
    at: &Place,
) -> Result<&'e mut Element, Diagnostic> {
    let (first, rest) =
        nodes.split_once('/').map_or((nodes, None), |(first, rest)| (first, Some(rest)));
    let named = |kind: &str| {
        elements.iter().position(|element| element.name == kind && name_of(element) == first)
    };
    match (named("input"), named("group"), rest) {
        (Some(input), _, None) => Ok(&mut elements[input]),
        (Some(input), _, Some(rest)) => find(&mut elements[input].children, path, rest, at),
        (None, Some(group), Some(rest)) => {
            find_input(&mut elements[group].children, path, rest, at)
        }
        _ => {
            let inputs = elements.iter().filter(|element| element.name == "input");
            Err(missing_node(path, first, &inputs.map(name_of).collect::<Vec<_>>(), at))
        }
    }
}

fn missing_node(path: &str, name: &str, names: &[&str], at: &Place) -> Diagnostic {
    Diagnostic::error(at, format!("`{path}` leads nowhere: there is no `{name}`")).help(suggestion(
        name,
        names.iter().copied(),
        "there are",
    ))
}
