//! A drawing as SVG: text by hand, which needs nothing from elsewhere, and follows light and dark mode.

use super::drawing::{Anchor, Drawing, Role, Shape};
use super::palette::{ROLES, SERIES, class_and_colours};
use std::fmt::Write;
use std::sync::LazyLock;

/// The style of all plots, which a page that holds several says once.
pub static STYLE: LazyLock<String> = LazyLock::new(|| {
    let mut text = String::from(
        ".plot{font-family:system-ui,-apple-system,'Segoe UI',Roboto,Helvetica,Arial,sans-serif;\
         font-variant-numeric:tabular-nums}\
         .plot .line{fill:none;stroke-linejoin:round;stroke-linecap:round}\
         .plot .dashed{stroke-dasharray:5 4;stroke-linecap:butt}\
         .plot .thin{shape-rendering:crispEdges}",
    );
    let colours = |mode: usize| {
        let mut text = String::new();
        let of_series = SERIES.iter().map(|(class, colours)| (*class, colours[mode]));
        let of_roles = ROLES.iter().map(|(_, class, colours)| (*class, colours[mode]));
        for (class, colour) in of_series.chain(of_roles) {
            // Writing to a string cannot fail.
            let _ = write!(
                text,
                ".plot .{class}{{fill:#{colour:06x}}}.plot .line.{class}{{fill:none;stroke:#{colour:06x}}}"
            );
        }
        text
    };
    text += &colours(0);
    let _ = write!(text, "@media(prefers-color-scheme:dark){{{}}}", colours(1));
    text
});

/// A drawing as a file of its own.
pub fn svg(drawing: &Drawing) -> String {
    let [width, height] = drawing.size;
    let mut text = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    open(
        &mut text,
        drawing,
        &format!(" xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\""),
    );
    let _ = writeln!(text, "<style>{}</style>", *STYLE);
    let _ = writeln!(text, "<rect class=\"ground\" width=\"100%\" height=\"100%\"/>");
    shapes(&mut text, drawing);
    text + "</svg>\n"
}

/// A drawing within a page that has [`STYLE`]; these attributes of its element are put there as they are.
pub fn svg_within_page(drawing: &Drawing, attributes: &str) -> String {
    let mut text = String::new();
    open(&mut text, drawing, &format!(" {attributes}"));
    shapes(&mut text, drawing);
    text + "</svg>\n"
}

fn open(text: &mut String, drawing: &Drawing, attributes: &str) {
    let [width, height] = drawing.size.map(number);
    let _ = writeln!(
        text,
        "<svg class=\"plot\" viewBox=\"0 0 {width} {height}\" role=\"img\"{attributes}>"
    );
    let _ = writeln!(text, "<title>{}</title>", escaped(&drawing.title));
    let _ = writeln!(text, "<desc>{}</desc>", escaped(&drawing.about));
}

fn shapes(text: &mut String, drawing: &Drawing) {
    for shape in &drawing.shapes {
        let class = |role: Role| class_and_colours(role).0;
        let _ = match shape {
            Shape::Line { points, role, width, dashed } => {
                let dashed = if *dashed { " dashed" } else { "" };
                // Grids are sharp, curves are smooth.
                let thin = if *role == Role::Grid || *role == Role::Axis { " thin" } else { "" };
                let (class, width) = (class(*role), number(*width));
                writeln!(
                    text,
                    "<path class=\"line {class}{dashed}{thin}\" stroke-width=\"{width}\" d=\"{}\"/>",
                    path(points)
                )
            }
            Shape::Polygon { points, role } => {
                writeln!(text, "<path class=\"{}\" d=\"{}Z\"/>", class(*role), path(points))
            }
            Shape::Disc { at, radius, role } => {
                let [x, y] = at.map(number);
                writeln!(
                    text,
                    "<circle class=\"{}\" cx=\"{x}\" cy=\"{y}\" r=\"{}\"/>",
                    class(*role),
                    number(*radius)
                )
            }
            Shape::Text { at, text: words, size, role, anchor, bold } => {
                let [x, y] = at.map(number);
                let anchor = match anchor {
                    Anchor::Start => "",
                    Anchor::Middle => " text-anchor=\"middle\"",
                    Anchor::End => " text-anchor=\"end\"",
                };
                let bold = if *bold { " font-weight=\"600\"" } else { "" };
                let (class, size) = (class(*role), number(*size));
                let words = escaped(words);
                writeln!(
                    text,
                    "<text class=\"{class}\" x=\"{x}\" y=\"{y}\" font-size=\"{size}\"{anchor}{bold}>{words}</text>"
                )
            }
        };
    }
}

fn path(points: &[[f64; 2]]) -> String {
    let mut text = String::with_capacity(12 * points.len());
    for (n, at) in points.iter().enumerate() {
        let [x, y] = at.map(number);
        let _ = write!(text, "{}{x} {y}", if n == 0 { "M" } else { "L" });
    }
    text
}

/// A number with at most two digits behind the point, without zeros at the end.
fn number(value: f64) -> String {
    let text = format!("{value:.2}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "-0" { "0".to_owned() } else { text.to_owned() }
}

/// Text as it stands in XML and HTML, also within quotes. What XML cannot hold becomes a sign for it.
pub fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for sign in text.chars() {
        match sign {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            '\t' | '\n' => escaped.push(sign),
            sign if sign.is_control() || matches!(sign, '\u{fffe}' | '\u{ffff}') => {
                escaped.push('\u{fffd}');
            }
            sign => escaped.push(sign),
        }
    }
    escaped
}
