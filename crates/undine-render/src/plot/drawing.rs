//! What a plot comes to: shapes at their places, with roles instead of colours.

/// Shapes in the order in which they are drawn, `y` downwards.
#[derive(Debug, Clone, PartialEq)]
pub struct Drawing {
    /// How wide and high it is.
    pub size: [f64; 2],
    /// The heading.
    pub title: String,
    /// What it shows, in a sentence.
    pub about: String,
    /// Left, top, right and bottom of what lies within the axes.
    pub within: [f64; 4],
    /// What the left and right edges of that stand for.
    pub x: [f64; 2],
    /// What is drawn.
    pub shapes: Vec<Shape>,
}

/// What a colour is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// What everything is drawn on.
    Ground,
    /// Words to be read first.
    Ink,
    /// Words to be read afterwards.
    Muted,
    /// Lines to measure by.
    Grid,
    /// The line that values stand on.
    Axis,
    /// What went wrong.
    Alarm,
    /// What is gathered from many.
    Other,
    /// A series, by its place in the palette.
    Series(usize),
}

/// What of a text is at its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Anchor {
    /// Where it begins.
    Start,
    /// Its middle.
    Middle,
    /// Where it ends.
    End,
}

/// One thing that is drawn.
#[derive(Debug, Clone, PartialEq)]
pub enum Shape {
    /// A line through places.
    Line {
        /// The places, all finite.
        points: Vec<[f64; 2]>,
        /// Its colour.
        role: Role,
        /// How thick it is.
        width: f64,
        /// Whether it is dashed.
        dashed: bool,
    },
    /// A filled polygon.
    Polygon {
        /// Its corners, all finite.
        points: Vec<[f64; 2]>,
        /// Its colour.
        role: Role,
    },
    /// A filled circle.
    Disc {
        /// Its centre.
        at: [f64; 2],
        /// Its radius.
        radius: f64,
        /// Its colour.
        role: Role,
    },
    /// A line of text, with its foot at a place.
    Text {
        /// The place.
        at: [f64; 2],
        /// The text.
        text: String,
        /// How high letters are.
        size: f64,
        /// Its colour.
        role: Role,
        /// What of it is at the place.
        anchor: Anchor,
        /// Whether it is bold.
        bold: bool,
    },
}
