//! Plots: one model of what is to be seen, and two faces of it, SVG text and a picture.
//!
//! A [`Plot`] says what there is: axes, series, notes. [`layout`](mod@layout) decides where everything goes, in pixels, and makes a
//! [`Drawing`] of lines, polygons and words with roles instead of colours. The faces only put that down: [`svg`] as text whose
//! colours follow light and dark mode, [`picture`] on a canvas. After Tufte, *The Visual Display of Quantitative Information*:
//! series are named where they end instead of in a legend, the grid is thin, and nothing is drawn that says nothing.

mod axis;
pub mod drawing;
mod labels;
pub mod layout;
mod palette;
mod picture;
mod stack;
mod svg;

pub use axis::{Axis, Scale, Unit};
pub use drawing::{Anchor, Drawing, Role, Shape};
pub use layout::layout;
pub use palette::{OTHER, Theme};
pub use picture::picture;
pub use svg::{STYLE, escaped, svg, svg_within_page};

/// How large a plot is unless somebody wants otherwise, in the units of its text: letters are 12 high.
pub const SIZE: [f64; 2] = [640.0, 300.0];

/// What is to be seen: values over an axis that all series share.
#[derive(Debug, Clone, PartialEq)]
pub struct Plot {
    /// A short name for files and links: `time`.
    pub name: String,
    /// The heading.
    pub title: String,
    /// What it shows, in a sentence, for those who cannot see it.
    pub about: String,
    /// What runs from left to right.
    pub x: Axis,
    /// What runs upwards.
    pub y: Axis,
    /// What is drawn, the first lowest in a stack.
    pub series: Vec<Series>,
    /// What happened where.
    pub notes: Vec<Note>,
    /// What solid and dashed lines mean, where both are there.
    pub key: Option<[String; 2]>,
}

/// Values over the axis, and how they are drawn.
#[derive(Debug, Clone, PartialEq)]
pub struct Series {
    /// Its name, which stands where it ends.
    pub name: String,
    /// Pairs of x and y. Lines are broken, and areas left open, where y is not a finite number.
    pub points: Vec<[f64; 2]>,
    /// How it is drawn.
    pub mark: Mark,
    /// Its place in the palette; [`OTHER`] is grey.
    pub colour: usize,
    /// Whether its line is dashed: the second of two runs.
    pub dashed: bool,
}

/// How a series is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mark {
    /// A line through its points.
    Line,
    /// A dot for each.
    Points,
    /// An area upon those of the series before it.
    Area,
    /// A bar for each point, upon those of the series before it.
    Bars,
}

/// Something that happened at a place of the axis.
#[derive(Debug, Clone, PartialEq)]
pub struct Note {
    /// Where.
    pub x: f64,
    /// What.
    pub text: String,
}

impl Plot {
    /// An empty plot.
    pub fn new(name: &str, title: &str, about: &str, x: Axis, y: Axis) -> Self {
        Self {
            name: name.to_owned(),
            title: title.to_owned(),
            about: about.to_owned(),
            x,
            y,
            series: Vec::new(),
            notes: Vec::new(),
            key: None,
        }
    }

    /// The same with one more series, in the next colour.
    pub fn with(mut self, name: &str, mark: Mark, points: Vec<[f64; 2]>) -> Self {
        let colour = self.series.len();
        let name = name.to_owned();
        self.series.push(Series { name, points, mark, colour, dashed: false });
        self
    }

    /// Whether there is nothing to see: no finite value, or none but zeros.
    pub fn is_empty(&self) -> bool {
        let mut values = self.series.iter().flat_map(|series| &series.points);
        !values.any(|[x, y]| x.is_finite() && y.is_finite() && *y != 0.0)
    }

    /// The unit in which the vertical axis counts, and how much one of it is: (`ms`, 0.001).
    pub fn unit(&self) -> (String, f64) {
        layout::vertical(self).counted()
    }
}
