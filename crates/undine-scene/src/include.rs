//! `include "file.kdl"`: the nodes of another file, in the place of the node; with `as="name"`, as a Group.
//!
//! Paths are relative to the file that includes. A file may be included several times, but not by itself.

use crate::catalogue::suggestion;
use crate::diagnostic::{Diagnostic, Place, Report, Source};
use crate::document::{self, Element};
use crate::syntax;
use std::io::Read;
use std::path::{Path, PathBuf};

/// How many files a scene may be made of.
const MOST_FILES: usize = 256;
/// How deep includes may nest.
const MOST_DEPTH: usize = 32;

/// The files of a scene, as they are read.
pub struct Files<'a> {
    /// Every file read so far, the scene first.
    pub read: Vec<PathBuf>,
    /// Whether something could not be read, so that names may be missing that are not wrong.
    pub incomplete: bool,
    folder: PathBuf,
    chain: Vec<Step>,
    report: &'a mut Report,
}

/// A file that is being read.
struct Step {
    name: String,
    canonical: PathBuf,
}

impl<'a> Files<'a> {
    /// For a scene of this path.
    pub fn new(scene: &Path, report: &'a mut Report) -> Self {
        let folder = scene.parent().map_or_else(PathBuf::new, Path::to_owned);
        let canonical = scene.canonicalize().unwrap_or_else(|_| scene.to_owned());
        let chain = vec![Step { name: scene.display().to_string(), canonical }];
        Self { read: vec![scene.to_owned()], incomplete: false, folder, chain, report }
    }

    /// The nodes of a text, with all that it includes.
    pub fn elements(&mut self, source: &Source) -> Vec<Element> {
        match document::parse(source) {
            Ok(elements) => self.resolve(elements),
            Err(found) => {
                self.incomplete = true;
                found.diagnostics().iter().for_each(|error| self.report.add(error.clone()));
                Vec::new()
            }
        }
    }

    fn resolve(&mut self, elements: Vec<Element>) -> Vec<Element> {
        let mut resolved = Vec::with_capacity(elements.len());
        for mut element in elements {
            match element.name.as_str() {
                "include" => {
                    let taken = self.include(&element);
                    if element.property("as").is_some() {
                        element.taken = Some(taken);
                        resolved.push(element);
                    } else {
                        self.refuse_properties(&element);
                        resolved.extend(taken);
                    }
                }
                "group" | "template" => {
                    element.children = self.resolve(element.children);
                    resolved.push(element);
                }
                _ => resolved.push(element),
            }
        }
        resolved
    }

    /// Without a name of its own there is no Group to set something on.
    fn refuse_properties(&mut self, element: &Element) {
        let children = element.children.iter().map(|child| &child.place);
        for place in element.properties.iter().map(|property| &property.place).chain(children) {
            self.report.add(
                Diagnostic::error(place, format!("`{}` cannot be set on an include without a name", place.text()))
                    .help("write include \"file.kdl\" as=\"name\" to take the file in as a Group with exposed parameters"),
            );
        }
    }

    fn include(&mut self, element: &Element) -> Vec<Element> {
        let errors = self.report.errors();
        let taken = self.open(element);
        self.incomplete |= self.report.errors() > errors;
        taken
    }

    fn open(&mut self, element: &Element) -> Vec<Element> {
        let [atom] = element.arguments.as_slice() else {
            self.report.add(
                Diagnostic::error(&element.header(), "an include names one file")
                    .help("write include \"wind.kdl\""),
            );
            return Vec::new();
        };
        let Some(name) = atom.text().filter(|name| !name.is_empty()) else {
            self.report.add(
                Diagnostic::error(&atom.place, "this is no file")
                    .help("write include \"wind.kdl\""),
            );
            return Vec::new();
        };
        let relative = atom.place.source.folder().join(name);
        let path = self.folder.join(&relative);
        if self.read.len() >= MOST_FILES || self.chain.len() > MOST_DEPTH {
            self.report
                .add(Diagnostic::error(&atom.place, "too many files are included").help(format!(
                "a scene is made of at most {MOST_FILES} files, nested at most {MOST_DEPTH} deep"
            )));
            return Vec::new();
        }
        let canonical = match path.canonicalize() {
            Ok(canonical) => canonical,
            Err(error) => {
                self.missing(&atom.place, name, &path, &error);
                return Vec::new();
            }
        };
        if let Some(first) = self.chain.iter().position(|step| step.canonical == canonical) {
            let mut circle: Vec<&str> =
                self.chain[first..].iter().map(|step| step.name.as_str()).collect();
            circle.push(circle[0]);
            let circle = circle.join("\nincludes ");
            self.report.add(
                Diagnostic::error(&atom.place, format!("`{name}` includes itself"))
                    .label("closes a circle")
                    .help(format!("remove one of these:\n{circle}")),
            );
            return Vec::new();
        }
        let bytes = match read(&path) {
            Ok(bytes) => bytes,
            Err(error) => {
                self.missing(&atom.place, name, &path, &error);
                return Vec::new();
            }
        };
        self.read.push(path.clone());
        let source = match syntax::text(&path.display().to_string(), bytes) {
            Ok(source) => {
                source.within(relative.parent().map_or_else(PathBuf::new, Path::to_owned))
            }
            Err(found) => {
                found.diagnostics().iter().for_each(|error| self.report.add(error.clone()));
                return Vec::new();
            }
        };
        self.chain.push(Step { name: path.display().to_string(), canonical });
        let elements = self.elements(&source);
        self.chain.pop();
        elements
    }

    /// Says that a file cannot be read, and what else is in its folder.
    fn missing(&mut self, place: &Place, name: &str, path: &Path, error: &std::io::Error) {
        let mut beside: Vec<String> = path
            .parent()
            .map(|folder| if folder.as_os_str().is_empty() { Path::new(".") } else { folder })
            .and_then(|folder| std::fs::read_dir(folder).ok())
            .into_iter()
            .flatten()
            .take(1000)
            .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
            .filter(|name| name.ends_with(".kdl"))
            .collect();
        beside.sort_unstable();
        let file = Path::new(name).file_name().and_then(|file| file.to_str()).unwrap_or(name);
        let help = if error.kind() == std::io::ErrorKind::NotFound {
            suggestion(file, beside.iter().map(String::as_str), "there are")
        } else {
            String::new()
        };
        let why = reason(error);
        self.report
            .add(Diagnostic::error(place, format!("cannot include `{name}`: {why}")).help(help));
    }
}

/// Why a file cannot be read, in words.
pub fn reason(error: &std::io::Error) -> String {
    match error.kind() {
        std::io::ErrorKind::NotFound => "there is no such file".to_owned(),
        std::io::ErrorKind::PermissionDenied => "it may not be read".to_owned(),
        _ => error.to_string(),
    }
}

/// The bytes of a regular file, one more than allowed at most.
pub fn read(path: &Path) -> std::io::Result<Vec<u8>> {
    if !std::fs::metadata(path)?.is_file() {
        return Err(std::io::Error::other("it is no regular file"));
    }
    let mut bytes = Vec::new();
    std::fs::File::open(path)?.take(syntax::MAX_BYTES + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}
