//! Lines of text on a canvas: how they look, how wide they are, and the path of the pen.

use super::glyphs::{CAPITAL, DESCENT, EM, Glyph, SMALL, Step, glyph};
use crate::colour::Ink;

/// How thick strokes of ordinary text are, as a share of the size.
pub const REGULAR: f32 = 0.086;

/// How thick strokes of bold text are, as a share of the size.
pub const BOLD: f32 = 0.125;

/// How thick strokes of superscripts and subscripts are, as a share of those beside them.
pub const SCRIPT_STROKE: f32 = 0.85;

/// Thinner strokes than this look grey instead of thin [px].
const THINNEST: f32 = 1.0;

/// No text is larger [px].
const LARGEST: f32 = 4096.0;

/// What of a line of text is at the place that is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Align {
    /// Its beginning.
    #[default]
    Left,
    /// Its middle.
    Centre,
    /// Its end.
    Right,
}

/// How text looks.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Lettering {
    /// The em: lines stand about 1.3 of it apart, capitals are 0.7 of it high \[px\].
    pub size: f32,
    /// How thick strokes are, as a share of the size: [`REGULAR`], [`BOLD`].
    pub weight: f32,
    /// The colour.
    pub ink: Ink,
    /// What of it is at its place.
    pub align: Align,
    /// Whether it is turned by 90° to read upwards, as beside an axis.
    pub turned: bool,
    /// A second colour around the strokes, which sets the text off from whatever is behind.
    pub halo: Option<Ink>,
}

impl Lettering {
    /// Ordinary text to the right of its place.
    pub fn new(size: f32, ink: Ink) -> Self {
        Self { size, weight: REGULAR, ink, align: Align::Left, turned: false, halo: None }
    }

    /// The same with thick strokes.
    pub fn bold(self) -> Self {
        Self { weight: BOLD, ..self }
    }

    /// The same to either side of its place.
    pub fn centred(self) -> Self {
        Self { align: Align::Centre, ..self }
    }

    /// The same to the left of its place.
    pub fn right(self) -> Self {
        Self { align: Align::Right, ..self }
    }

    /// The same, turned by 90° to read upwards.
    pub fn turned(self) -> Self {
        Self { turned: true, ..self }
    }

    /// The same, set off from what is behind.
    pub fn with_halo(self, halo: Ink) -> Self {
        Self { halo: Some(halo), ..self }
    }

    /// How thick strokes are \[px\].
    pub fn stroke(&self) -> f32 {
        (self.size * self.weight).max(THINNEST)
    }

    /// How wide a line of text is, from where it begins to where more would follow \[px\].
    pub fn width_of(&self, text: &str) -> f32 {
        text.chars().map(|sign| self.advance(&glyph(sign))).sum()
    }

    /// From where a glyph begins to where the next one does [px]: as much further as strokes are thicker than ordinary.
    fn advance(&self, glyph: &Glyph) -> f32 {
        glyph.advance * self.size / EM + self.stroke() - self.size * REGULAR
    }
}

/// How wide a line of ordinary text is, from where it begins to where more would follow \[px\].
pub fn width_of(text: &str, size: f32) -> f32 {
    Lettering::new(size, [0; 4]).width_of(text)
}

/// How high capitals and digits are, strokes included \[px\].
pub fn capital_height(size: f32) -> f32 {
    (CAPITAL * size / EM).round() + (size * REGULAR).max(THINNEST)
}

/// The beginning of a text that is not wider than this \[px\], with `…` for what is left out.
pub fn shortened(text: &str, size: f32, width: f32) -> String {
    if width_of(text, size) <= width {
        return text.to_owned();
    }
    let mut kept: Vec<char> = text.chars().collect();
    while !kept.is_empty() {
        kept.pop();
        let shorter: String = kept.iter().chain(&['…']).collect();
        if width_of(&shorter, size) <= width {
            return shorter;
        }
    }
    String::new()
}

/// The path of the pen for a line of text.
#[derive(Debug, Clone, Default)]
pub struct Written {
    /// What is drawn with strokes of the lettering's width.
    pub plain: Vec<Step>,
    /// Superscripts and subscripts, with strokes of [`SCRIPT_STROKE`] of that.
    pub scripts: Vec<Step>,
}

/// The path of the pen for a line of text whose foot is at a place \[px\], `y` downwards.
pub fn path_of(text: &str, at: [f32; 2], lettering: &Lettering) -> Written {
    let mut written = Written::default();
    let size = lettering.size;
    if !(size > 0.0 && size <= LARGEST && at.iter().all(|x| x.is_finite())) {
        return written;
    }
    let scale = size / EM;
    let mut along = match lettering.align {
        Align::Left => 0.0,
        Align::Centre => -0.5 * lettering.width_of(text),
        Align::Right => -lettering.width_of(text),
    };
    // The foot of the strokes, not the middle of the pen, stands on the line, and the line on an edge of pixels.
    let lift = 0.5 * lettering.stroke();
    let turned = lettering.turned;
    let [x, y] = if turned { [at[0].round(), at[1]] } else { [at[0], at[1].round()] };
    for glyph in text.chars().map(glyph) {
        let advance = lettering.advance(&glyph);
        let begins = along + 0.5 * (advance - glyph.advance * scale) + glyph.left * scale;
        let place = |[u, v]: [f32; 2]| {
            let (u, v) = (begins + u * scale, fitted(v, scale) + lift);
            if turned { [x - v, y - u] } else { [x + u, y - v] }
        };
        let steps = if glyph.is_script { &mut written.scripts } else { &mut written.plain };
        steps.extend(glyph.steps.iter().map(|&step| match step {
            Step::Move(to) => Step::Move(place(to)),
            Step::Line(to) => Step::Line(place(to)),
            Step::Curve(a, b, to) => Step::Curve(place(a), place(b), place(to)),
            Step::Dot(to) => Step::Dot(place(to)),
        }));
        along += advance;
    }
    written
}

/// A height of the grid [units] in pixels, such that the lines where letters begin and end are whole pixels apart: else rows of
/// letters at small sizes look blurred at the top.
fn fitted(height: f32, scale: f32) -> f32 {
    let lines = [-DESCENT, 0.0, SMALL, CAPITAL].map(|line| (line, (line * scale).round()));
    let between = lines.windows(2).find(|pair| height >= pair[0].0 && height <= pair[1].0);
    match between {
        Some(&[(low, below), (high, above)]) => {
            below + (height - low) / (high - low) * (above - below)
        }
        _ if height > CAPITAL => lines[3].1 + (height - CAPITAL) * scale,
        _ => lines[0].1 + (height + DESCENT) * scale,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_width_of_text_is_the_sum_of_its_signs() {
        let [whole, a, b] = ["12 m/s²", "12 m", "/s²"].map(|text| width_of(text, 20.0));
        assert!((whole - a - b).abs() < 1e-4);
        assert!((width_of("speed", 40.0) / width_of("speed", 20.0) - 2.0).abs() < 1e-5);
        assert_eq!(width_of("", 20.0), 0.0);
        assert!(width_of("i", 20.0) < width_of("m", 20.0));
    }

    #[test]
    fn a_shortened_text_fits() {
        let text = "a very long name of a scene";
        let short = shortened(text, 12.0, 80.0);
        assert!(short.ends_with('…') && width_of(&short, 12.0) <= 80.0, "{short}");
        assert_eq!(shortened(text, 12.0, 1e6), text);
        assert_eq!(shortened(text, 12.0, 1.0), "");
    }

    #[test]
    fn lines_of_letters_are_whole_pixels_apart() {
        for size in 8..40_u8 {
            let scale = f32::from(size) / EM;
            for line in [-DESCENT, 0.0, SMALL, CAPITAL] {
                assert_eq!(fitted(line, scale).fract(), 0.0);
            }
            let rising = (-12..45_i8).map(|y| fitted(y.into(), scale));
            assert!(rising.clone().zip(rising.skip(1)).all(|(low, high)| low <= high));
        }
    }

    #[test]
    fn text_of_no_size_or_nowhere_has_no_path() {
        let lettering = Lettering::new(12.0, [0; 4]);
        for size in [0.0, -1.0, f32::NAN, f32::INFINITY, 1e9] {
            assert!(path_of("a", [0.0; 2], &Lettering { size, ..lettering }).plain.is_empty());
        }
        assert!(path_of("a", [f32::NAN, 0.0], &lettering).plain.is_empty());
    }
}
