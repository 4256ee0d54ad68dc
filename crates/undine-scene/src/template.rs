//! `template "jet" { … }` and `use "jet" as="left" speed="8 0 0 m/s"`: a Group that is written once.
//!
//! A template is the body of a Group. Its `expose` nodes are what a `use` may set; everything else is as it is written.
//! A `use` becomes a Group of its own name, so that what is inside has a path: `left/inflow`. An `include` with a name does
//! the same with a file, whose `setup`, `output` and `render` are left aside.

use crate::address::{self, Given};
use crate::catalogue::{Catalogue, suggestion};
use crate::diagnostic::{Diagnostic, Report};
use crate::document::{Element, Scalar};
use crate::syntax::grammar::MAX_DEPTH;
use std::collections::BTreeMap;

/// How many nodes templates may grow to.
const MOST_NODES: usize = 200_000;

/// Puts every template where it is used.
pub fn expand(
    elements: Vec<Element>,
    catalogue: &Catalogue,
    incomplete: bool,
    report: &mut Report,
) -> Vec<Element> {
    let mut known: BTreeMap<String, Element> = BTreeMap::new();
    let mut rest = Vec::with_capacity(elements.len());
    for element in elements {
        if element.name != "template" {
            rest.push(element);
            continue;
        }
        let [name] = element.arguments.as_slice() else {
            report.add(
                Diagnostic::error(&element.header(), "a template has one name")
                    .help("write template \"jet\" { … }"),
            );
            continue;
        };
        for property in &element.properties {
            report.add(
                Diagnostic::error(&property.place, format!("a template has no `{}`", property.name))
                    .help("write expose \"name\" path=\"behavior.parameter\" inside it; a `use` can then set it"),
            );
        }
        let name_text = name.text().unwrap_or_default().to_owned();
        if let Some(first) = known.get(&name_text) {
            report.add(
                Diagnostic::error(&name.place, format!("there are two templates `{name_text}`"))
                    .label("again here")
                    .also(&first.arguments[0].place, "first here")
                    .help("give one of them another name"),
            );
            continue;
        }
        known.insert(name_text, element);
    }
    let mut uses =
        Uses { known: &known, catalogue, incomplete, report, chain: Vec::new(), nodes: 0 };
    uses.expand(rest, 0)
}

struct Uses<'a> {
    known: &'a BTreeMap<String, Element>,
    catalogue: &'a Catalogue,
    incomplete: bool,
    report: &'a mut Report,
    /// The templates being put in, from the outermost.
    chain: Vec<String>,
    nodes: usize,
}

impl Uses<'_> {
    fn expand(&mut self, elements: Vec<Element>, depth: usize) -> Vec<Element> {
        let mut expanded = Vec::with_capacity(elements.len());
        for mut element in elements {
            match element.name.as_str() {
                "group" if depth < MAX_DEPTH => {
                    element.children = self.expand(element.children, depth + 1);
                    expanded.push(element);
                }
                "group" | "use" | "include" if depth >= MAX_DEPTH => self.report.add(
                    Diagnostic::error(
                        &element.place,
                        format!("Groups are nested more than {MAX_DEPTH} deep"),
                    )
                    .help("use fewer templates inside templates"),
                ),
                "use" => expanded.extend(self.use_template(&element, depth)),
                "include" => {
                    let taken = element.taken.take().unwrap_or_default();
                    let body = taken.into_iter().filter(|node| {
                        !matches!(node.name.as_str(), "setup" | "output" | "render")
                    });
                    expanded.extend(self.group(&element, body.collect(), depth));
                }
                "template" => self.report.add(
                    Diagnostic::error(&element.header(), "a template stands at the top level")
                        .help("move it out of the Group"),
                ),
                _ => expanded.push(element),
            }
        }
        expanded
    }

    fn use_template(&mut self, element: &Element, depth: usize) -> Option<Element> {
        let name = match element.arguments.as_slice() {
            [name] if name.text().is_some() => name,
            _ => {
                self.report.add(
                    Diagnostic::error(&element.header(), "a use names one template")
                        .help("write use \"jet\" as=\"left\""),
                );
                return None;
            }
        };
        let text = name.text().unwrap_or_default();
        let Some(template) = self.known.get(text) else {
            if !self.incomplete {
                let names = self.known.keys().map(String::as_str);
                let help = match self.known.len() {
                    0 => "there are none; write template \"jet\" { … }, or include the file that has it".to_owned(),
                    _ => suggestion(text, names, "there are"),
                };
                self.report.add(
                    Diagnostic::error(&name.place, format!("there is no template `{text}`"))
                        .help(help),
                );
            }
            return None;
        };
        if self.chain.iter().any(|outer| outer == text) {
            let mut circle = self.chain.clone();
            circle.push(text.to_owned());
            self.report.add(
                Diagnostic::error(&name.place, format!("the template `{text}` uses itself"))
                    .help(circle.join(" uses ")),
            );
            return None;
        }
        self.nodes += template.count();
        if self.nodes > MOST_NODES {
            self.report.add(
                Diagnostic::error(
                    &element.header(),
                    format!("templates grow to more than {MOST_NODES} nodes"),
                )
                .help("use fewer templates inside templates"),
            );
            return None;
        }
        self.chain.push(text.to_owned());
        let group = self.group(element, template.children.clone(), depth);
        self.chain.pop();
        group
    }

    /// A Group in the place of a node, with what the node sets of what the body exposes.
    fn group(&mut self, element: &Element, body: Vec<Element>, depth: usize) -> Option<Element> {
        let mut body = self.expand(body, depth + 1);
        let exposed = address::exposed(&body, "");
        let set = |name: &str| !matches!(name, "as" | "disabled");
        let values = element.properties.iter().filter(|property| set(&property.name));
        let values = values.map(|p| {
            (p.name.clone(), p.place.clone(), Given::Value(p.place.clone(), p.value.clone()))
        });
        let nodes = element.children.iter().map(|child| {
            let given = match child.arguments.as_slice() {
                [value] if !child.block => Given::Value(child.place.clone(), value.clone()),
                _ => Given::Node(child.clone()),
            };
            (child.name.clone(), child.place.clone(), given)
        });
        for (name, place, given) in values.chain(nodes) {
            let found = exposed.iter().find(|exposed| exposed.name == name);
            let done = match found {
                Some(exposed) => {
                    address::set(&mut body, &exposed.path, given, &exposed.place, self.catalogue)
                }
                None if exposed.is_empty() => Err(Diagnostic::error(
                    &place,
                    format!("`{name}` is not exposed"),
                )
                .help(format!(
                    "write expose \"{name}\" path=\"behavior.parameter\" inside the template"
                ))),
                None => Err(Diagnostic::error(&place, format!("`{name}` is not exposed")).help(
                    suggestion(&name, exposed.iter().map(|e| e.name.as_str()), "exposed are"),
                )),
            };
            if let Err(error) = done {
                self.report.add(error);
            }
        }
        let name = match element.property("as") {
            Some(property) => property.value.clone(),
            None => element.arguments.first()?.clone(),
        };
        let Scalar::Text(_) = &name.scalar else {
            self.report
                .add(Diagnostic::error(&name.place, "this is no name").help("write as=\"left\""));
            return None;
        };
        Some(Element {
            name: "group".to_owned(),
            place: element.place.clone(),
            arguments: vec![name],
            properties: element
                .properties
                .iter()
                .filter(|p| p.name == "disabled")
                .cloned()
                .collect(),
            children: body,
            block: true,
            taken: None,
        })
    }
}
