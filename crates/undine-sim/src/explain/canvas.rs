//! A canvas that is drawn as SVG: shapes, and text whose width is known well enough without a font.

use super::plain::shown;
use std::fmt::Write;

/// A drawing, in pixels.
#[derive(Default)]
pub(super) struct Canvas {
    shapes: String,
}

/// How a shape is painted.
#[derive(Clone, Copy)]
pub(super) struct Paint {
    /// The inside.
    pub fill: &'static str,
    /// How much of it covers what is below, in percent.
    pub cover: u32,
    /// The line around it.
    pub stroke: &'static str,
    /// Whether that line is dashed.
    pub dashed: bool,
}

/// How a text looks.
#[derive(Clone, Copy)]
pub(super) struct Ink {
    /// Height of its letters [px].
    pub size: i64,
    /// Its colour.
    pub colour: &'static str,
    /// More of CSS: `font-weight`, `text-decoration`.
    pub style: &'static str,
}

impl Canvas {
    /// A rectangle with round corners; `about` is said when one points at it.
    pub fn rectangle(&mut self, [x, y, w, h]: [i64; 4], round: i64, paint: Paint, about: &str) {
        let Paint { fill, cover, stroke, dashed } = paint;
        let dash = if dashed { " stroke-dasharray=\"4 3\"" } else { "" };
        let _ = write!(
            self.shapes,
            "<rect x=\"{x}\" y=\"{y}\" width=\"{w}\" height=\"{h}\" rx=\"{round}\" fill=\"{fill}\" \
             fill-opacity=\"{}\" stroke=\"{stroke}\"{dash}",
            f64::from(cover) / 100.0
        );
        match about.is_empty() {
            true => self.shapes.push_str("/>\n"),
            // Here lines may be broken, and nothing else may hide.
            false => {
                let lines: Vec<String> = about.lines().map(escaped).collect();
                let _ = writeln!(self.shapes, "><title>{}</title></rect>", lines.join("\n"));
            }
        }
    }

    /// A line through points, as SVG writes paths.
    pub fn path(&mut self, path: &str, stroke: &str, width: f64) {
        let _ = writeln!(
            self.shapes,
            "<path d=\"{path}\" fill=\"none\" stroke=\"{stroke}\" stroke-width=\"{width}\" \
             stroke-linecap=\"round\" stroke-linejoin=\"round\"/>"
        );
    }

    /// A filled diamond, or the outline of one.
    pub fn diamond(&mut self, [x, y]: [i64; 2], half: i64, colour: &str, filled: bool) {
        let fill = if filled { colour } else { "none" };
        let (left, right, top, bottom) = (x - half, x + half, y - half, y + half);
        let _ = writeln!(
            self.shapes,
            "<path d=\"M{left} {y}L{x} {top}L{right} {y}L{x} {bottom}Z\" fill=\"{fill}\" stroke=\"{colour}\"/>"
        );
    }

    /// A line of text that begins at a point of its base line.
    pub fn text(&mut self, [x, y]: [i64; 2], ink: Ink, text: &str) {
        let Ink { size, colour, style } = ink;
        let style = if style.is_empty() { String::new() } else { format!(" style=\"{style}\"") };
        let _ = writeln!(
            self.shapes,
            "<text x=\"{x}\" y=\"{y}\" font-size=\"{size}\" fill=\"{colour}\"{style}>{}</text>",
            escaped(text)
        );
    }

    /// The whole drawing, as a file of its own.
    pub fn finish(self, [width, height]: [i64; 2], title: &str) -> String {
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
             viewBox=\"0 0 {width} {height}\" role=\"img\" font-family=\"sans-serif\">\n\
             <title>{}</title>\n<rect width=\"{width}\" height=\"{height}\" fill=\"#ffffff\"/>\n{}</svg>\n",
            escaped(title),
            self.shapes
        )
    }
}

/// How wide a text is [px], rather too much than too little: no font is at hand, and every reader has another one.
pub(super) fn width(text: &str, size: i64) -> i64 {
    let hundredths = |c: char| match c {
        'i' | 'j' | 'l' | 't' | 'f' | 'r' | ' ' | '.' | ',' | ':' | ';' | '\'' | '|' | '!'
        | '/' => 40,
        '(' | ')' | '[' | ']' | '-' => 42,
        'm' | 'w' | 'M' | 'W' | '@' | '%' | '…' => 100,
        'A'..='Z' => 74,
        '\u{1100}'.. => 105,
        _ => 63,
    };
    (shown(text).chars().map(hundredths).sum::<i64>() * size + 99) / 100
}

/// A text that is at most so wide [px]: cut, if it is longer.
pub(super) fn cut(text: &str, size: i64, most: i64) -> String {
    let text = shown(text);
    if width(&text, size) <= most {
        return text;
    }
    let mut kept = String::new();
    for c in text.chars() {
        kept.push(c);
        if width(&kept, size) + width("…", size) > most {
            kept.pop();
            break;
        }
    }
    kept + "…"
}

/// A text that means nothing to XML.
fn escaped(text: &str) -> String {
    let mut safe = String::new();
    for c in shown(text).chars() {
        match c {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&#39;"),
            other => safe.push(other),
        }
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_means_nothing_to_xml() {
        let mut canvas = Canvas::default();
        let ink = Ink { size: 12, colour: "#000000", style: "" };
        canvas.text([0, 0], ink, "</text><script>\"'&\u{0}");
        let paint = Paint { fill: "none", cover: 100, stroke: "none", dashed: false };
        canvas.rectangle([0; 4], 0, paint, "</title><a>\nreads x");
        let drawing = canvas.finish([10, 10], "<&>");
        assert!(!drawing.contains("<script") && !drawing.contains("<a>"), "{drawing}");
        assert!(drawing.contains("&lt;/text&gt;&lt;script&gt;&quot;&#39;&amp;\\u{0}"), "{drawing}");
        assert!(drawing.contains("<title>&lt;/title&gt;&lt;a&gt;\nreads x</title>"), "{drawing}");
    }

    #[test]
    fn a_cut_text_fits() {
        for text in
            ["", "gravity", "a very long name that does not fit", "水水水水水水水水水水水水"]
        {
            assert!(width(&cut(text, 12, 90), 12) <= 90, "{text}");
        }
        assert_eq!(cut("gravity", 12, 90), "gravity");
    }
}
