//! From nodes of a document to the tree of Groups and Behaviors, and to inputs with their graph of data.
//!
//! Every value is read against its parameter here; what names something else is looked up afterwards, in [`crate::check`].

use crate::address::below;
use crate::catalogue::{Catalogue, KEYWORDS, listed, suggestion};
use crate::diagnostic::{Diagnostic, Place, Report};
use crate::document::{Atom, Element, Property, Scalar};
use crate::scene::Input;
use crate::settings::Settings;
use crate::{graph, keys, render, values, words};
use std::collections::BTreeMap;
use undine_schema::setup::{self, Behavior, Group, Node};
use undine_schema::{Declaration, Kind, Parameter, Setting, Value, spelling};

/// The parameter of a Behavior that takes filters in its block.
const FILTERS: &str = "filters";

/// Builds a scene's tree, and keeps the place of everything in it.
pub struct Tree<'a> {
    /// What nodes there are.
    pub catalogue: &'a Catalogue,
    /// What `setup` says, for keys that name frames.
    pub settings: &'a Settings,
    /// Where each node and each parameter stands, by path.
    pub places: &'a mut BTreeMap<String, Place>,
    /// The inputs so far.
    pub inputs: Vec<Input>,
    /// What is wrong so far.
    pub report: &'a mut Report,
}

impl Tree<'_> {
    /// The root Group.
    pub fn root(&mut self, elements: &[Element]) -> Group {
        let (children, settings) = self.body(elements, "", None);
        Group { name: String::new(), disabled: false, settings, children }
    }

    /// What a Group holds and sets. `own` is the Group's node; the root has none.
    fn body(
        &mut self,
        elements: &[Element],
        path: &str,
        own: Option<&Element>,
    ) -> (Vec<Node>, setup::Settings) {
        let mut nodes: Vec<Node> = Vec::new();
        let mut names: BTreeMap<String, Place> = BTreeMap::new();
        let mut others = Vec::new();
        for element in elements {
            let node = match element.name.as_str() {
                "group" => self.group(element, path).map(Node::Group),
                "input" => {
                    self.input(element, path);
                    None
                }
                "expose" | "use" | "include" | "template" => None,
                "setup" | "output" | "render" if own.is_none() => None,
                "setup" | "output" | "render" => {
                    self.report.add(
                        Diagnostic::error(
                            &element.place,
                            format!("`{}` stands at the top level", element.name),
                        )
                        .help("move it out of the Group"),
                    );
                    None
                }
                name => match self.catalogue.behavior(name) {
                    Some(declaration) => {
                        Some(Node::Behavior(self.behavior(element, declaration, path)))
                    }
                    None => {
                        others.push(element);
                        None
                    }
                },
            };
            let Some(node) = node else { continue };
            let place = element.arguments.first().map_or(&element.place, |name| &name.place);
            match names.get(node.name()) {
                Some(first) => self.report.add(twice(element, node.name(), place, first)),
                None => {
                    names.insert(node.name().to_owned(), place.clone());
                }
            }
            nodes.push(node);
        }
        let mut below_here = Vec::new();
        declarations(&nodes, &mut below_here);
        let mut settings = setup::Settings::new();
        let properties = own.map_or(&[][..], |own| own.properties.as_slice());
        for property in properties.iter().filter(|property| property.name != "disabled") {
            self.group_value(property, &below_here, path, &mut settings);
        }
        for element in others {
            self.group_node(element, &below_here, path, &mut settings);
        }
        (nodes, settings)
    }

    fn group(&mut self, element: &Element, path: &str) -> Option<Group> {
        let name = match element.arguments.as_slice() {
            [name] => self.name(name)?,
            [] => {
                self.report.add(
                    Diagnostic::error(&element.place, "a Group has a name")
                        .help("write group \"hair\" { … }"),
                );
                return None;
            }
            [_, stray, ..] => {
                self.report.add(
                    Diagnostic::error(&stray.place, "a Group has one name")
                        .help("what it sets has a name too: radius=\"40 um\""),
                );
                return None;
            }
        };
        let path = below(path, &name);
        self.places.insert(path.clone(), element.header());
        let disabled = self.disabled(element);
        let (children, settings) = self.body(&element.children, &path, Some(element));
        Some(Group { name, disabled, settings, children })
    }

    /// `group "hair" radius="40 um"`.
    fn group_value(
        &mut self,
        property: &Property,
        below_here: &[&'static Declaration],
        path: &str,
        into: &mut setup::Settings,
    ) {
        let parameters = parameters(below_here, &property.name);
        let Some((owner, parameter)) = parameters.first().copied() else {
            self.nobody_takes(&property.name, &property.place, below_here, path);
            return;
        };
        // One value for all of them: it has to suit each.
        for (_, other) in parameters
            .iter()
            .skip(1)
            .filter(|(_, other)| other.takes != parameter.takes || other.range != parameter.range)
        {
            if let Err(error) = values::read(&property.value, other) {
                self.report.add(error);
                return;
            }
        }
        if let Some(value) = values::single(&property.value, parameter, owner.name, self.report) {
            self.places.insert(format!("{path}.{}", property.name), property.value.place.clone());
            into.insert(property.name.clone(), Setting::Constant(value));
        }
    }

    /// A child of a Group that is neither a Group nor a Behavior: a parameter, or a mistake.
    fn group_node(
        &mut self,
        element: &Element,
        below_here: &[&'static Declaration],
        path: &str,
        into: &mut setup::Settings,
    ) {
        let Some((owner, parameter)) = parameters(below_here, &element.name).first().copied()
        else {
            self.unknown_node(element, path);
            return;
        };
        if into.contains_key(&element.name) {
            self.report.add(
                Diagnostic::error(&element.header(), format!("`{}` is set twice", element.name))
                    .help("keep one of them"),
            );
            return;
        }
        self.places.insert(format!("{path}.{}", element.name), element.header());
        let setting = keys::setting(element, parameter, self.settings, owner.name, self.report);
        into.extend(setting.map(|setting| (element.name.clone(), setting)));
    }

    fn nobody_takes(
        &mut self,
        name: &str,
        place: &Place,
        below_here: &[&'static Declaration],
        path: &str,
    ) {
        let here: Vec<&str> =
            below_here.iter().flat_map(|d| d.parameters).map(|parameter| parameter.name).collect();
        let owners: Vec<&str> = self
            .catalogue
            .behaviors()
            .filter(|declaration| declaration.parameter(name).is_some())
            .map(|declaration| declaration.name)
            .collect();
        if below_here.is_empty() && !owners.is_empty() {
            self.report.add(
                Diagnostic::warning(
                    place,
                    format!("`{name}` is set for nothing: the Group `{path}` is empty"),
                )
                .help("it will hold for the Behaviors that are put into the Group"),
            );
            return;
        }
        let help =
            match (name, spelling::alike(name, here.iter().copied()).is_empty(), owners.as_slice())
            {
                ("enabled", ..) => "write disabled=#true to take a Group out".to_owned(),
                (_, true, [owner, ..]) => {
                    format!("`{name}` is a parameter of `{owner}`, which is not in this Group")
                }
                _ => suggestion(name, here.into_iter(), "they take"),
            };
        let message = format!("no Behavior in the Group `{path}` takes `{name}`");
        self.report.add(Diagnostic::error(place, message).help(help));
    }

    fn unknown_node(&mut self, element: &Element, path: &str) {
        let name = element.name.as_str();
        if let Some(graph) = self.catalogue.graph_node(name) {
            self.report.add(
                Diagnostic::error(
                    &element.place,
                    format!("`{name}` is a {} and stands in an input", graph.kind.noun()),
                )
                .help(format!("write input \"name\" {{ {name} … }}")),
            );
            return;
        }
        let owner =
            self.catalogue.behaviors().find(|declaration| declaration.parameter(name).is_some());
        let behaviors = self.catalogue.behaviors().map(|declaration| declaration.name);
        let keywords = KEYWORDS.iter().map(|(word, _)| *word).filter(|word| {
            path.is_empty() || !matches!(*word, "setup" | "output" | "render" | "template")
        });
        let names: Vec<&str> = keywords.chain(behaviors).collect();
        let help = match owner {
            Some(owner) if spelling::alike(name, names.iter().copied()).is_empty() => {
                format!(
                    "`{name}` is a parameter of `{}`: write {} {name}=…",
                    owner.name, owner.name
                )
            }
            _ => suggestion(name, names.into_iter(), "there are"),
        };
        self.report.add(
            Diagnostic::error(&element.place, format!("there is no Behavior `{name}`")).help(help),
        );
    }

    fn behavior(
        &mut self,
        element: &Element,
        declaration: &'static Declaration,
        path: &str,
    ) -> Behavior {
        let name = self.own_name(element, declaration);
        let path = below(path, &name);
        self.places.insert(path.clone(), element.header());
        let disabled = self.disabled(element);
        let takes_filters = declaration.parameter(FILTERS).is_some();
        let catalogue = self.catalogue;
        let is_filter = |name: &str| takes_filters && catalogue.graph_node(name).is_some();
        let (mut settings, filters) = self.settings_of(element, declaration, &path, is_filter);
        if takes_filters {
            self.filters(declaration, &path, &filters, &mut settings);
        }
        Behavior { name, declaration, disabled, settings }
    }

    /// The filters in the block of a Behavior: an input without a source, which has the name of the parameter that takes it.
    fn filters(
        &mut self,
        declaration: &Declaration,
        path: &str,
        filters: &[&Element],
        settings: &mut setup::Settings,
    ) {
        let name = format!("{path}.{FILTERS}");
        if let Some(place) = self.places.get(&name) {
            let error = Diagnostic::error(place, "filters are not named, they are written down");
            let example = format!("write {} {{ soften }}", declaration.name);
            self.report.add(error.help(example));
            return;
        }
        let mut nodes = Vec::new();
        for element in filters {
            let known = self.catalogue.graph_node(&element.name);
            if known.is_some_and(|node| !graph::changes_distances(node)) {
                let what = format!("`{}` does not change distances", element.name);
                let all = self.catalogue.graph_nodes();
                let names: Vec<&str> = all
                    .filter(|node| graph::changes_distances(node))
                    .map(|node| node.name)
                    .collect();
                let help = format!("filters of a `{}` are {}", declaration.name, listed(&names));
                self.report.add(Diagnostic::error(&element.place, what).help(help));
                continue;
            }
            nodes.extend(self.graph_node(element, path, nodes.len()));
        }
        if !nodes.is_empty() {
            settings.insert(FILTERS.to_owned(), Setting::Constant(Value::Text(name.clone())));
            let attributes = BTreeMap::new();
            self.inputs.push(Input { name, disabled: false, nodes, attributes });
        }
    }

    /// The name that a Behavior or a node of the graph is given, by default what it is.
    pub(crate) fn own_name(&mut self, element: &Element, declaration: &Declaration) -> String {
        match element.arguments.as_slice() {
            [] => declaration.name.to_owned(),
            [first, ..] if first.text().is_none() => {
                let help = match declaration.parameters.first() {
                    Some(parameter) => {
                        format!("a value has a name before it: {}", words::written(parameter))
                    }
                    None => format!("`{}` takes no values; remove it", declaration.name),
                };
                self.report.add(
                    Diagnostic::error(
                        &first.place,
                        format!("this value of `{}` has no name", declaration.name),
                    )
                    .help(help),
                );
                declaration.name.to_owned()
            }
            [first, rest @ ..] => {
                if let Some(stray) = rest.first() {
                    self.report.add(
                        Diagnostic::error(&stray.place, format!("`{}` has one name; this is a second", declaration.name))
                            .help("values have names, name=value, and a value of several words stands in quotes"),
                    );
                }
                self.name(first).unwrap_or_else(|| declaration.name.to_owned())
            }
        }
    }

    /// What a node sets of what its declaration takes, and its other children that `keep` wants.
    pub fn settings_of<'e>(
        &mut self,
        element: &'e Element,
        declaration: &'static Declaration,
        path: &str,
        keep: impl Fn(&str) -> bool,
    ) -> (setup::Settings, Vec<&'e Element>) {
        let mut settings = setup::Settings::new();
        for property in element.properties.iter().filter(|property| property.name != "disabled") {
            let Some(parameter) = declaration.parameter(&property.name) else {
                self.unknown_parameter(&property.name, &property.place, declaration);
                continue;
            };
            let atom = plain_frames(&property.value, declaration, parameter);
            self.places.insert(format!("{path}.{}", property.name), property.value.place.clone());
            if let Some(value) = values::single(&atom, parameter, declaration.name, self.report) {
                settings.insert(property.name.clone(), Setting::Constant(value));
            }
        }
        let mut kept = Vec::new();
        for child in &element.children {
            let Some(parameter) = declaration.parameter(&child.name) else {
                if keep(&child.name) {
                    kept.push(child);
                } else {
                    self.unknown_parameter(&child.name, &child.place, declaration);
                }
                continue;
            };
            if let Some(first) = element.property(&child.name) {
                self.report.add(
                    Diagnostic::error(&child.place, format!("`{}` is set twice", child.name))
                        .label("again here")
                        .also(&first.place, "set here")
                        .help("keep one of them"),
                );
            } else if settings.contains_key(&child.name) {
                self.report.add(
                    Diagnostic::error(&child.place, format!("`{}` is set twice", child.name))
                        .help("keep one of them"),
                );
            } else if declaration.kind == Kind::Settings
                && child.block
                && !render::CHANGES.contains(&parameter.name)
            {
                self.report.add(
                    Diagnostic::error(
                        &child.place,
                        format!("`{}` cannot change over time", child.name),
                    )
                    .help("give it one value"),
                );
            } else {
                self.places.insert(format!("{path}.{}", child.name), child.header());
                let of = declaration.name;
                let setting = keys::setting(child, parameter, self.settings, of, self.report);
                settings.extend(setting.map(|setting| (child.name.clone(), setting)));
            }
        }
        (settings, kept)
    }

    fn unknown_parameter(&mut self, name: &str, place: &Place, declaration: &Declaration) {
        let names = || declaration.parameters.iter().map(|parameter| parameter.name);
        let help = match name {
            "enabled" => "write disabled=#true to take it out".to_owned(),
            _ if declaration.parameters.is_empty() => {
                format!("`{}` takes no parameters", declaration.name)
            }
            _ if self.catalogue.behavior(name).is_some()
                && spelling::alike(name, names()).is_empty() =>
            {
                format!(
                    "`{name}` is a Behavior, and stands in a Group beside `{}`, not in it",
                    declaration.name
                )
            }
            _ => suggestion(name, names(), "it takes"),
        };
        let message = format!("`{}` has no parameter `{name}`", declaration.name);
        self.report.add(Diagnostic::error(place, message).help(help));
    }

    pub(crate) fn disabled(&mut self, element: &Element) -> bool {
        let Some(property) = element.property("disabled") else { return false };
        match property.value.scalar {
            Scalar::Flag(flag) => flag,
            _ => {
                self.report.add(
                    Diagnostic::error(&property.value.place, "`disabled` is #true or #false")
                        .help("write disabled=#true"),
                );
                false
            }
        }
    }

    /// A name that can stand in a path.
    pub(crate) fn name(&mut self, atom: &Atom) -> Option<String> {
        let name = atom.text().unwrap_or_default();
        let strange = |c: char| matches!(c, '/' | '.') || c.is_control();
        if name.is_empty() || name.contains(strange) || name.trim() != name {
            self.report.add(
                Diagnostic::error(&atom.place, "this cannot be a name").help(
                    "a name is a word without `/` and `.`, which divide paths: \"left-sleeve\"",
                ),
            );
            return None;
        }
        Some(name.to_owned())
    }
}

/// All kinds of Behaviors below, each once.
fn declarations(nodes: &[Node], into: &mut Vec<&'static Declaration>) {
    for node in nodes {
        match node {
            Node::Group(group) => declarations(&group.children, into),
            Node::Behavior(behavior) => {
                if !into.iter().any(|known| known.name == behavior.declaration.name) {
                    into.push(behavior.declaration);
                }
            }
        }
    }
}

/// The parameters of this name, with who takes them.
fn parameters(
    declarations: &[&'static Declaration],
    name: &str,
) -> Vec<(&'static Declaration, &'static Parameter)> {
    declarations.iter().filter_map(|owner| Some((*owner, owner.parameter(name)?))).collect()
}

pub(crate) fn twice(element: &Element, name: &str, place: &Place, first: &Place) -> Diagnostic {
    let help = match element.arguments.is_empty() {
        true => format!("give it a name of its own: {} \"second-{}\"", element.name, element.name),
        false => "give one of them another name".to_owned(),
    };
    Diagnostic::error(place, format!("there are two nodes `{name}` here"))
        .label("again here")
        .also(first, "first here")
        .help(help)
}

/// `frames=96` stands for the text that a range would be.
fn plain_frames(atom: &Atom, declaration: &Declaration, parameter: &Parameter) -> Atom {
    match &atom.scalar {
        Scalar::Integer(whole)
            if declaration.kind == Kind::Settings && parameter.name == "frames" =>
        {
            Atom { scalar: Scalar::Text(whole.to_string()), place: atom.place.clone() }
        }
        _ => atom.clone(),
    }
}
