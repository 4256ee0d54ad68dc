//! What is wrong with a scene, and where: a message, the text it is about underlined, and what would be right.

use crate::excerpt::Lines;
use miette::{GraphicalReportHandler, GraphicalTheme, LabeledSpan, NamedSource, SourceCode};
use std::borrow::Cow;
use std::fmt::{self, Display, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use undine_schema::cut;

/// A text that was read, and what messages call it. Cheap to clone.
#[derive(Clone)]
pub struct Source(Arc<Text>);

struct Text {
    named: NamedSource<String>,
    folder: PathBuf,
}

impl Source {
    /// A text under a name, such as the path of its file.
    pub fn new(name: impl AsRef<str>, text: impl Into<String>) -> Self {
        let named = NamedSource::new(name, text.into());
        Self(Arc::new(Text { named, folder: PathBuf::new() }))
    }

    /// The same text, written in a file of this folder, which is relative to the folder of the scene.
    pub fn within(self, folder: impl Into<PathBuf>) -> Self {
        let named = NamedSource::new(self.name(), self.text().to_owned());
        Self(Arc::new(Text { named, folder: folder.into() }))
    }

    /// The folder of its file, relative to the folder of the scene.
    pub fn folder(&self) -> &Path {
        &self.0.folder
    }

    /// What messages call it.
    pub fn name(&self) -> &str {
        self.0.named.name()
    }

    /// The text.
    pub fn text(&self) -> &str {
        self.0.named.inner()
    }

    /// The line of a byte, counted from one.
    pub fn line(&self, at: usize) -> usize {
        let before = &self.text().as_bytes()[..at.min(self.text().len())];
        1 + before.iter().filter(|&&byte| byte == b'\n').count()
    }

    pub(crate) fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl fmt::Debug for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Source({})", self.name())
    }
}

/// Where something stands: a source and the bytes in it.
#[derive(Debug, Clone)]
pub struct Place {
    /// The text.
    pub source: Source,
    /// The bytes.
    pub span: Range<usize>,
}

impl Place {
    /// The text that stands there.
    pub fn text(&self) -> &str {
        self.source.text().get(self.span.clone()).unwrap_or_default()
    }

    /// From the start of this place to the end of another in the same source.
    pub fn to(&self, end: &Self) -> Self {
        let span = self.span.start..end.span.end.max(self.span.end);
        Self { source: self.source.clone(), span }
    }

    /// As `file:line`, for messages that name a second place.
    pub fn line(&self) -> String {
        format!("{}:{}", self.source.name(), self.source.line(self.span.start))
    }
}

/// How bad it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Severity {
    /// The scene can run, but may not be what was meant.
    Warning,
    /// The scene cannot run.
    Error,
}

/// One thing that is wrong.
#[derive(Debug, Clone)]
pub struct Diagnostic {
    /// How bad it is.
    pub severity: Severity,
    /// What is wrong, without a full stop.
    pub message: String,
    /// What would be right.
    pub help: Option<String>,
    /// The text it is about.
    pub place: Place,
    /// What to say at that text; may be empty.
    pub label: Box<str>,
    /// Other places that belong to it, with what to say there.
    pub others: Vec<(Place, String)>,
}

impl Diagnostic {
    /// An error at a place.
    pub fn error(place: &Place, message: impl Into<String>) -> Self {
        Self {
            severity: Severity::Error,
            message: kept(message.into()),
            help: None,
            place: place.clone(),
            label: Box::default(),
            others: Vec::new(),
        }
    }

    /// A warning at a place.
    pub fn warning(place: &Place, message: impl Into<String>) -> Self {
        Self { severity: Severity::Warning, ..Self::error(place, message) }
    }

    /// With what would be right.
    pub fn help(mut self, help: impl Into<String>) -> Self {
        let help = kept(help.into());
        self.help = (!help.is_empty()).then_some(help);
        self
    }

    /// With words under the text.
    pub fn label(mut self, label: impl Into<String>) -> Self {
        self.label = kept(label.into()).into_boxed_str();
        self
    }

    /// With another place that belongs to it.
    pub fn also(mut self, place: &Place, label: impl Into<String>) -> Self {
        self.others.push((place.clone(), kept(label.into())));
        self
    }

    /// The same with lines cut that are longer than anybody writes, about what it is about; nothing if there are none.
    fn with_lines_cut(&self) -> Option<Self> {
        let source = &self.place.source;
        let others = self.others.iter().map(|(place, _)| place);
        let places = std::iter::once(&self.place).chain(others);
        let places = places.filter(|place| place.source.is(source)).map(|place| place.span.start);
        let (lines, text) = Lines::cut(source.text(), places)?;
        let shorter = Source::new(source.name(), text).within(source.folder());
        let moved = |place: &Place| match place.source.is(source) {
            true => Place {
                source: shorter.clone(),
                span: lines.moved(place.span.start)..lines.moved(place.span.end),
            },
            false => place.clone(),
        };
        let others = self.others.iter().map(|(place, label)| (moved(place), label.clone()));
        Some(Self { place: moved(&self.place), others: others.collect(), ..self.clone() })
    }

    /// As lines of plain text of this width, with the text underlined.
    pub fn render(&self, width: usize) -> String {
        let handler = GraphicalReportHandler::new_themed(GraphicalTheme::unicode_nocolor());
        let mut text = String::new();
        if let Some(shorter) = self.with_lines_cut() {
            return shorter.render(width);
        }
        // A handler fails on a span beyond its source alone, which a place never is; the words are what must not get lost.
        if handler.with_width(width).with_links(false).render_report(&mut text, self).is_err() {
            text = format!("{}\n  {}\n", self.message, self.place.line());
        }
        text
    }
}

/// A message without what nobody can read.
fn kept(text: String) -> String {
    let shorter = match cut(&text) {
        Cow::Borrowed(_) => None,
        Cow::Owned(shorter) => Some(shorter),
    };
    shorter.unwrap_or(text)
}

impl Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Diagnostic {}

impl miette::Diagnostic for Diagnostic {
    fn severity(&self) -> Option<miette::Severity> {
        Some(match self.severity {
            Severity::Warning => miette::Severity::Warning,
            Severity::Error => miette::Severity::Error,
        })
    }

    fn help<'a>(&'a self) -> Option<Box<dyn Display + 'a>> {
        // A label can only stand in the source of its message: other sources are named in the help.
        let mut help = self.help.clone().unwrap_or_default();
        for (place, label) in self.others.iter().filter(|(p, _)| !p.source.is(&self.place.source)) {
            let separator = if help.is_empty() { "" } else { "\n" };
            let _ = write!(help, "{separator}{label}: {}", place.line());
        }
        (!help.is_empty()).then(|| Box::new(help) as Box<dyn Display>)
    }

    fn source_code(&self) -> Option<&dyn SourceCode> {
        Some(&self.place.source.0.named)
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        let label = |place: &Place, words: &str| {
            let words = (!words.is_empty()).then(|| words.to_owned());
            LabeledSpan::new(words, place.span.start, place.span.len())
        };
        let main = std::iter::once(label(&self.place, &self.label));
        let others = self
            .others
            .iter()
            .filter(|(place, _)| place.source.is(&self.place.source))
            .map(move |(place, words)| label(place, words));
        Some(Box::new(main.chain(others)))
    }
}

/// Everything that is wrong with a scene, in the order it was found; each place and message once.
#[derive(Debug, Clone, Default)]
pub struct Report {
    diagnostics: Vec<Diagnostic>,
    left_out: usize,
}

/// Nobody reads more than this at once; the rest is counted.
const MOST: usize = 100;

impl Report {
    /// Adds a diagnostic, unless the same one is there: what a template says is found at each of its uses.
    pub fn add(&mut self, diagnostic: Diagnostic) {
        let same = |other: &Diagnostic| {
            other.message == diagnostic.message
                && other.place.span == diagnostic.place.span
                && other.place.source.is(&diagnostic.place.source)
        };
        if self.diagnostics.len() >= MOST {
            self.left_out += 1;
        } else if !self.diagnostics.iter().any(same) {
            self.diagnostics.push(diagnostic);
        }
    }

    /// Whether something is said about exactly this place.
    pub fn speaks_of(&self, place: &Place) -> bool {
        let same = |found: &Diagnostic| {
            found.place.span == place.span && found.place.source.is(&place.source)
        };
        self.diagnostics.iter().any(same)
    }

    /// What is wrong, the first found first.
    pub fn diagnostics(&self) -> &[Diagnostic] {
        &self.diagnostics
    }

    /// How many more were found than are kept.
    pub fn left_out(&self) -> usize {
        self.left_out
    }

    /// Whether nothing keeps the scene from running.
    pub fn has_errors(&self) -> bool {
        self.diagnostics.iter().any(|found| found.severity == Severity::Error)
    }

    /// The warnings alone.
    pub fn warnings(&self) -> impl Iterator<Item = &Diagnostic> {
        self.diagnostics.iter().filter(|found| found.severity == Severity::Warning)
    }

    /// How many errors there are.
    pub fn errors(&self) -> usize {
        self.diagnostics.iter().filter(|found| found.severity == Severity::Error).count()
    }

    /// As lines of plain text of this width.
    pub fn render(&self, width: usize) -> String {
        let mut text: String =
            self.diagnostics.iter().map(|found| found.render(width) + "\n").collect();
        if self.left_out > 0 {
            let _ = writeln!(text, "and {} more", self.left_out);
        }
        text
    }
}

impl Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.errors(), self.diagnostics.first()) {
            (1, Some(first)) => write!(f, "{}", first.message),
            (errors, Some(first)) => {
                write!(f, "{} (and {} more)", first.message, errors.max(1) - 1)
            }
            (_, None) => write!(f, "nothing is wrong"),
        }
    }
}

impl std::error::Error for Report {}
