//! A scene: everything a run needs to know, from the text of one file and those it includes.

use crate::address::{self, Given};
use crate::catalogue::{Catalogue, suggestion};
use crate::check::Check;
use crate::diagnostic::{Diagnostic, Place, Report, Source};
use crate::document::{Atom, Element, Scalar};
use crate::include::{self, Files};
use crate::output::{OUTPUT, Output};
use crate::render::{self, Render};
use crate::settings::{SETUP, Settings};
use crate::tree::Tree;
use crate::{syntax, template};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use undine_schema::setup::{self, Group};
use undine_schema::{Declaration, Parameter, Value};

/// A scene that can run.
#[derive(Debug, Clone)]
pub struct Scene {
    /// How the whole run goes.
    pub settings: Settings,
    /// Data that is prepared for Behaviors, in the order of the file.
    pub inputs: Vec<Input>,
    /// The tree of Groups and Behaviors.
    pub root: Group,
    /// What is written; one that writes everything, if the scene says nothing.
    pub outputs: Vec<Output>,
    /// What pictures show; none, if the scene says nothing.
    pub renders: Vec<Render>,
    /// Parameters that have a name to be set by.
    pub exposes: Vec<Expose>,
    /// What may not be what was meant.
    pub warnings: Report,
    /// The folder that files are relative to.
    pub folder: PathBuf,
    /// Every file it was read from, the scene first.
    pub files: Vec<PathBuf>,
    /// Where each node (`wind/inflow`, `input/groom/scatter`) and each parameter (`wind/inflow.velocity`) stands.
    pub places: BTreeMap<String, Place>,
    start: Place,
}

/// Data that Behaviors take by name.
#[derive(Debug, Clone)]
pub struct Input {
    /// Its name, with the path of the Group that it stands in.
    pub name: String,
    /// Whether it is taken out: it then has no data.
    pub disabled: bool,
    /// Sources and filters, in order: each filter works on what the ones before it made.
    pub nodes: Vec<GraphNode>,
    /// Values for the input as a whole, by the names of channels.
    pub attributes: BTreeMap<String, Attribute>,
}

/// A value for an input as a whole.
#[derive(Debug, Clone)]
pub struct Attribute {
    /// In SI.
    pub value: Value,
    /// Where it stands.
    pub place: Place,
}

/// A source or a filter.
#[derive(Debug, Clone)]
pub struct GraphNode {
    /// Its path, for messages: `input/block/box`.
    pub path: String,
    /// What it is.
    pub declaration: &'static Declaration,
    /// Whether it takes part.
    pub disabled: bool,
    /// What it sets.
    pub settings: setup::Settings,
    /// Nodes that it works on by itself.
    pub children: Vec<GraphNode>,
}

/// A parameter that can be set by a name.
#[derive(Debug, Clone)]
pub struct Expose {
    /// The name.
    pub name: String,
    /// The path of the parameter.
    pub path: String,
    /// The parameter.
    pub parameter: &'static Parameter,
    /// Where that is said.
    pub place: Place,
}

impl Scene {
    /// Reads a scene; `overrides` are names or paths with values as they are typed behind `--set`.
    pub fn load(
        path: &Path,
        catalogue: &Catalogue,
        overrides: &[(String, String)],
    ) -> Result<Self, Report> {
        let name = path.display().to_string();
        let bytes = include::read(path).map_err(|error| {
            let mut report = Report::default();
            let place = Place { source: Source::new(&name, ""), span: 0..0 };
            report.add(Diagnostic::error(
                &place,
                format!("cannot read `{name}`: {}", include::reason(&error)),
            ));
            report
        })?;
        Self::read(path, syntax::text(&name, bytes)?, catalogue, overrides)
    }

    /// The same from a text that stands for the file `path`, which need not exist.
    pub fn parse(
        path: &Path,
        text: &str,
        catalogue: &Catalogue,
        overrides: &[(String, String)],
    ) -> Result<Self, Report> {
        let source = syntax::text(&path.display().to_string(), text.as_bytes().to_vec())?;
        Self::read(path, source, catalogue, overrides)
    }

    fn read(
        path: &Path,
        source: Source,
        catalogue: &Catalogue,
        overrides: &[(String, String)],
    ) -> Result<Self, Report> {
        let mut report = Report::default();
        let start = Place { source: source.clone(), span: 0..0 };

        // From texts to one tree of nodes.
        let mut files = Files::new(path, &mut report);
        let elements = files.elements(&source);
        let (incomplete, files) = (files.incomplete, files.read);
        let mut elements = template::expand(elements, catalogue, incomplete, &mut report);
        if incomplete && elements.is_empty() {
            return Err(report);
        }
        override_all(&mut elements, overrides, catalogue, &mut report);

        // From nodes to what they mean. Keys need to know when frames are, so `setup` comes first.
        let mut places = BTreeMap::new();
        let name = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or("scene");
        let settings =
            settings(&elements, name, catalogue, &start, incomplete, &mut places, &mut report);
        let mut tree = Tree {
            catalogue,
            settings: &settings,
            places: &mut places,
            inputs: Vec::new(),
            report: &mut report,
        };
        let mut root = tree.root(&elements);
        let mut outputs: Vec<Output> = elements
            .iter()
            .filter(|element| element.name == "output")
            .enumerate()
            .map(|(n, element)| output(&mut tree, element, n))
            .collect();
        let mut renders: Vec<Render> = elements
            .iter()
            .filter(|element| element.name == "render")
            .enumerate()
            .map(|(n, element)| render::render(&mut tree, element, n))
            .collect();
        let mut inputs = tree.inputs;
        if outputs.is_empty() {
            outputs.push(Output::plain());
        }
        one_folder(&mut outputs, &places, &mut report);
        render::each_has_its_name(&renders, &places, &mut report);

        // What names something else, and what is missing; not where a file is missing that may hold it.
        let mut exposes = Vec::new();
        exposes_are_whole(&elements, &mut report);
        if !incomplete {
            let mut check =
                Check { catalogue, places: &places, report: &mut report, start: &start };
            check.bounds(&settings, &mut root, &inputs);
            check.names(&mut root, &mut inputs, &mut outputs, &mut renders);
            check.unused_inputs(&root, &inputs);
            exposes = check.exposes(&root, address::exposed(&elements, ""), &inputs);
        }
        if report.has_errors() {
            return Err(report);
        }
        let folder = path.parent().map_or_else(PathBuf::new, Path::to_owned);
        Ok(Self {
            settings,
            inputs,
            root,
            outputs,
            renders,
            exposes,
            warnings: report,
            folder,
            files,
            places,
            start,
        })
    }

    /// The input of this name.
    pub fn input(&self, name: &str) -> Option<&Input> {
        self.inputs.iter().find(|input| input.name == name)
    }

    /// Where a path stands: the parameter, or else the nearest node around it, or else the start of the scene.
    pub fn place(&self, path: &str) -> &Place {
        let mut path = path;
        loop {
            if let Some(place) = self.places.get(path) {
                return place;
            }
            match path.rfind(['/', '.']) {
                Some(end) => path = &path[..end],
                None => return &self.start,
            }
        }
    }

    /// An error about a path, which later stages find out.
    pub fn diagnose(
        &self,
        path: &str,
        message: impl Into<String>,
        help: impl Into<String>,
    ) -> Diagnostic {
        Diagnostic::error(self.place(path), message).help(help)
    }
}

/// The longest name of a scene [bytes]: a file is called so, with an extension, and no system takes names of more than 255.
const LONGEST_NAME: usize = 150;

/// What `setup` says; defaults, where it says nothing that can be read.
fn settings(
    elements: &[Element],
    name: &str,
    catalogue: &Catalogue,
    start: &Place,
    incomplete: bool,
    places: &mut BTreeMap<String, Place>,
    report: &mut Report,
) -> Settings {
    let plain = Settings::plain(name);
    let mut setups = elements.iter().filter(|element| element.name == "setup");
    let Some(element) = setups.next() else {
        if !incomplete {
            report.add(
                Diagnostic::error(start, "the scene has no `setup`")
                    .help(format!("write setup \"{name}\" frames=96 in its first line")),
            );
        }
        return plain;
    };
    for again in setups {
        report.add(
            Diagnostic::error(&again.place, "a scene has one `setup`")
                .label("again here")
                .also(&element.place, "first here")
                .help(
                    "keep one of them; a file that is included with as=\"name\" may have its own",
                ),
        );
    }
    let name = match element.arguments.as_slice() {
        [] => name,
        [only] if only.text().is_some() => only.text().unwrap_or(name),
        [.., stray] => {
            report.add(
                Diagnostic::error(&stray.place, "`setup` takes one name, and values with names")
                    .help("write setup \"dam-break\" fps=24 frames=96"),
            );
            name
        }
    };
    if name.len() > LONGEST_NAME {
        let place = element.arguments.first().map_or(&element.place, |argument| &argument.place);
        let what = format!(
            "the name of a scene has at most {LONGEST_NAME} letters: files are called by it"
        );
        report.add(Diagnostic::error(place, what).help("write a shorter one"));
    }
    places.insert("setup".to_owned(), element.header());
    let errors = report.errors();
    let mut tree = Tree { catalogue, settings: &plain, places, inputs: Vec::new(), report };
    let set = tree.settings_of(element, &SETUP, "setup", |_| false).0;
    if report.errors() == errors {
        Check { catalogue, places, report, start }.missing_of("setup", &SETUP, &set);
    }
    let frames = places.get("setup.frames").unwrap_or(start).clone();
    Settings::new(name, &set, &frames).unwrap_or_else(|error| {
        report.add(error);
        plain
    })
}

fn output(tree: &mut Tree<'_>, element: &Element, n: usize) -> Output {
    if let Some(stray) = element.arguments.first() {
        tree.report.add(
            Diagnostic::error(&stray.place, "this value of `output` has no name")
                .help(format!("write output dir={}", stray.place.text())),
        );
    }
    let path = format!("output{n}");
    tree.places.insert(path.clone(), element.header());
    let set = tree.settings_of(element, &OUTPUT, &path, |_| false).0;
    Output::new(&set).unwrap_or_else(|fault| {
        let place = tree.places.get(&format!("{path}.rename")).cloned();
        let error = Diagnostic::error(&place.unwrap_or_else(|| element.header()), fault);
        tree.report.add(error.help("write for example rename=\"v=velocity pscale=radius\""));
        Output::plain()
    })
}

/// One cache belongs to one run: where one `output` names its folder, it holds for all, and another is an error.
fn one_folder(outputs: &mut [Output], places: &BTreeMap<String, Place>, report: &mut Report) {
    let said = |n: usize| places.get(&format!("output{n}.dir"));
    let Some((first, place)) = (0..outputs.len()).find_map(|n| Some((n, said(n)?))) else { return };
    let dir = outputs[first].dir.clone();
    for (n, output) in outputs.iter_mut().enumerate() {
        if let Some(again) = said(n).filter(|_| output.dir != dir) {
            let message = format!("all outputs of a scene go to one folder: `{dir}`");
            report.add(
                Diagnostic::error(again, message)
                    .label("another here")
                    .also(place, "first here")
                    .help("remove this `dir`, or give it the same"),
            );
        }
        output.dir.clone_from(&dir);
    }
}

/// Says which `expose` is not whole.
fn exposes_are_whole(elements: &[Element], report: &mut Report) {
    for element in elements {
        if element.name == "group" {
            exposes_are_whole(&element.children, report);
        }
        let named = matches!(element.arguments.as_slice(), [name] if name.text().is_some_and(|name| !name.contains(['=', '.'])));
        let path = element.property("path").is_some_and(|path| path.value.text().is_some());
        if element.name == "expose" && !(named && path) {
            report.add(
                Diagnostic::error(&element.header(), "an expose has a name and a path")
                    .help("write expose \"wind-speed\" path=\"wind/inflow.velocity\""),
            );
        }
        for property in
            element.properties.iter().filter(|p| element.name == "expose" && p.name != "path")
        {
            report.add(
                Diagnostic::error(&property.place, format!("an expose has no `{}`", property.name))
                    .help("write expose \"wind-speed\" path=\"wind/inflow.velocity\""),
            );
        }
    }
}

/// Applies what was typed behind `--set`.
fn override_all(
    elements: &mut Vec<Element>,
    overrides: &[(String, String)],
    catalogue: &Catalogue,
    report: &mut Report,
) {
    let exposed = address::exposed(elements, "");
    for (name, typed) in overrides {
        // Shown as it would be typed.
        let source = Source::new("--set", format!("{name}={typed:?}"));
        let whole = source.text().len();
        let named = Place { source: source.clone(), span: 0..name.len() };
        let value = Place { source, span: name.len() + 1..whole };
        let path = match exposed.iter().find(|exposed| exposed.name == *name) {
            Some(exposed) => exposed.path.clone(),
            None if name.contains('.') => name.clone(),
            None => {
                let help = match exposed.len() {
                    0 => "the scene exposes nothing; write a path: --set wind/inflow.velocity=…"
                        .to_owned(),
                    _ => suggestion(
                        name,
                        exposed.iter().map(|exposed| exposed.name.as_str()),
                        "exposed are",
                    ),
                };
                report.add(
                    Diagnostic::error(&named, format!("the scene exposes no `{name}`")).help(help),
                );
                continue;
            }
        };
        // A scene that says nothing of its output has one all the same.
        let has_output = elements.iter().any(|element| element.name == "output");
        if path.starts_with("output.") && !has_output {
            elements.push(Element::new("output", &named));
        }
        let has_render = elements.iter().any(|element| element.name == "render");
        if path.starts_with("render.") && !has_render {
            elements.push(Element::new("render", &named));
        }
        let given = Given::Value(named.clone(), Atom { scalar: typed_scalar(typed), place: value });
        if let Err(error) = address::set(elements, &path, given, &named, catalogue) {
            report.add(error);
        }
    }
}

/// The value that somebody typed, where quotes are the shell's.
fn typed_scalar(typed: &str) -> Scalar {
    match typed {
        "#true" | "true" => Scalar::Flag(true),
        "#false" | "false" => Scalar::Flag(false),
        _ => match (typed.parse::<i64>(), typed.parse::<f64>()) {
            (Ok(whole), _) => Scalar::Integer(whole.into()),
            (_, Ok(number)) if number.is_finite() => Scalar::Float(number),
            _ => Scalar::Text(typed.to_owned()),
        },
    }
}
