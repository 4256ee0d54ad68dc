//! A parsed document: nodes with their values, each with its place in the text.
//!
//! Owned and free of layout, so that includes and templates can put trees together from several texts.

use crate::diagnostic::{Diagnostic, Place, Report, Source};
use crate::syntax::{grammar, token};
use kdl::{KdlDocument, KdlEntry, KdlNode, KdlValue};
use std::ops::Range;

/// A value as it stands in a text.
#[derive(Debug, Clone, PartialEq)]
pub enum Scalar {
    /// A string, or a bare word.
    Text(String),
    /// A whole number.
    Integer(i128),
    /// Any other number, also `#inf` and `#nan`.
    Float(f64),
    /// `#true` or `#false`.
    Flag(bool),
    /// `#null`.
    Null,
}

/// A value and its place.
#[derive(Debug, Clone)]
pub struct Atom {
    /// The value.
    pub scalar: Scalar,
    /// Where it stands.
    pub place: Place,
}

impl Atom {
    /// The text, if it is one.
    pub fn text(&self) -> Option<&str> {
        match &self.scalar {
            Scalar::Text(text) => Some(text),
            _ => None,
        }
    }
}

/// `name=value`.
#[derive(Debug, Clone)]
pub struct Property {
    /// Its name.
    pub name: String,
    /// Where the name stands.
    pub place: Place,
    /// The value.
    pub value: Atom,
}

/// A node.
#[derive(Debug, Clone)]
pub struct Element {
    /// Its name.
    pub name: String,
    /// Where the name stands.
    pub place: Place,
    /// Its arguments.
    pub arguments: Vec<Atom>,
    /// Its properties, each name once.
    pub properties: Vec<Property>,
    /// Its children.
    pub children: Vec<Element>,
    /// Whether it has a block of children, be it empty.
    pub block: bool,
    /// What an `include` that stands for a Group took in.
    pub taken: Option<Vec<Element>>,
}

impl Element {
    /// A node without values, which stands nowhere but is asked for somewhere.
    pub fn new(name: &str, place: &Place) -> Self {
        Self {
            name: name.to_owned(),
            place: place.clone(),
            arguments: Vec::new(),
            properties: Vec::new(),
            children: Vec::new(),
            block: false,
            taken: None,
        }
    }

    /// The property of this name.
    pub fn property(&self, name: &str) -> Option<&Property> {
        self.properties.iter().find(|property| property.name == name)
    }

    /// From its name to its last value, without the children.
    pub fn header(&self) -> Place {
        let values = self.arguments.iter().chain(self.properties.iter().map(|p| &p.value));
        let same = values.filter(|value| value.place.source.name() == self.place.source.name());
        let last = same.max_by_key(|value| value.place.span.end);
        last.map_or_else(|| self.place.clone(), |last| self.place.to(&last.place))
    }

    /// How many nodes it is, with all below it.
    pub fn count(&self) -> usize {
        1 + self.children.iter().map(Self::count).sum::<usize>()
    }
}

/// The nodes of a text, or everything that is wrong with it.
pub fn parse(source: &Source) -> Result<Vec<Element>, Report> {
    let mut report = Report::default();
    let out = grammar::check(source, &token::tokens(source.text()), &mut report);
    if report.has_errors() {
        return Err(report);
    }
    match KdlDocument::parse(&without(source.text(), &out)) {
        Ok(document) => Ok(elements(&document, source)),
        Err(error) => {
            // The grammar lets nothing through that the parser trips over; should it, the first few words are the useful ones.
            for found in error.diagnostics.iter().take(3) {
                let end = source.text().len();
                let start = found.span.offset().min(end);
                let span = start..(start + found.span.len()).min(end);
                let place = Place { source: source.clone(), span };
                report.add(
                    Diagnostic::error(&place, found.to_string())
                        .help(found.help.clone().unwrap_or_default()),
                );
            }
            Err(report)
        }
    }
}

/// The text with spaces for what `/-` takes out: the parser's work on that doubles with each level.
fn without(text: &str, out: &[Range<usize>]) -> String {
    let mut left = String::with_capacity(text.len());
    let mut out: Vec<&Range<usize>> = out.iter().collect();
    out.sort_by_key(|span| (span.start, std::cmp::Reverse(span.end)));
    for span in out {
        // What lies within another is gone already.
        if span.start >= left.len() {
            left.push_str(&text[left.len()..span.start]);
            left.extend(std::iter::repeat_n(' ', span.len()));
        }
    }
    left.push_str(&text[left.len()..]);
    left
}

fn elements(document: &KdlDocument, source: &Source) -> Vec<Element> {
    document.nodes().iter().map(|node| element(node, source)).collect()
}

fn element(node: &KdlNode, source: &Source) -> Element {
    let place = |span: miette::SourceSpan| Place {
        source: source.clone(),
        span: span.offset()..span.offset() + span.len(),
    };
    let mut element = Element {
        children: node.children().map_or_else(Vec::new, |children| elements(children, source)),
        block: node.children().is_some(),
        ..Element::new(node.name().value(), &place(node.name().span()))
    };
    for entry in node.entries() {
        let value =
            Atom { scalar: scalar(entry.value()), place: value_place(entry, place(entry.span())) };
        match entry.name() {
            None => element.arguments.push(value),
            Some(name) => element.properties.push(Property {
                name: name.value().to_owned(),
                place: place(name.span()),
                value,
            }),
        }
    }
    element
}

/// The value of `name=value` has no span of its own: it is the last bytes of the entry.
fn value_place(entry: &KdlEntry, whole: Place) -> Place {
    let bytes = entry.format().map_or(whole.span.len(), |format| format.value_repr.len());
    let span = whole.span.end.saturating_sub(bytes)..whole.span.end;
    Place { span, ..whole }
}

fn scalar(value: &KdlValue) -> Scalar {
    match value {
        KdlValue::String(text) => Scalar::Text(text.clone()),
        KdlValue::Integer(whole) => Scalar::Integer(*whole),
        KdlValue::Float(number) => Scalar::Float(*number),
        KdlValue::Bool(flag) => Scalar::Flag(*flag),
        KdlValue::Null => Scalar::Null,
    }
}
