//! A drawing as a picture, on a canvas.

use super::drawing::{Anchor, Drawing, Role, Shape};
use super::palette::Theme;
use crate::canvas::{Align, Canvas, Lettering, Pen};
use crate::error::Result;
use crate::image::{Display, Size};

/// Room around a drawing that stands alone.
const MARGIN: f64 = 14.0;

/// Draws with `scale` dots to each unit of the drawing.
pub fn picture(drawing: &Drawing, scale: f64, theme: Theme) -> Result<Display> {
    let dots = |length: f64| ((length + 2.0 * MARGIN) * scale).ceil() as usize;
    let size = Size::new(dots(drawing.size[0]), dots(drawing.size[1]))?;
    let mut canvas = Canvas::new(size, theme.ink(Role::Ground))?;
    let place = |at: &[f64; 2]| at.map(|x| ((x + MARGIN) * scale) as f32);
    // A line of the grid fills a row of dots, instead of half of two.
    let sharp = |at: [f32; 2]| at.map(|x| x.floor() + 0.5);
    for shape in &drawing.shapes {
        match shape {
            Shape::Line { points, role, width, dashed } => {
                let mut points: Vec<[f32; 2]> = points.iter().map(place).collect();
                let mut pen = Pen::new(theme.ink(*role), (width * scale) as f32);
                if matches!(role, Role::Grid | Role::Axis) {
                    points = points.into_iter().map(sharp).collect();
                    pen.width = pen.width.floor().max(1.0);
                }
                let (dash, gap) = ((5.0 * scale) as f32, (4.0 * scale) as f32);
                let pen = if *dashed { pen.dashed(dash, gap) } else { pen };
                canvas.polyline(&points, &pen);
            }
            Shape::Polygon { points, role } => {
                let points: Vec<[f32; 2]> = points.iter().map(place).collect();
                canvas.polygon(&points, theme.ink(*role));
            }
            Shape::Disc { at, radius, role } => {
                canvas.disc(place(at), (radius * scale) as f32, theme.ink(*role));
            }
            Shape::Text { at, text, size, role, anchor, bold } => {
                let lettering = Lettering::new((size * scale) as f32, theme.ink(*role));
                let lettering = if *bold { lettering.bold() } else { lettering };
                let align = match anchor {
                    Anchor::Start => Align::Left,
                    Anchor::Middle => Align::Centre,
                    Anchor::End => Align::Right,
                };
                canvas.text(place(at), text, &Lettering { align, ..lettering });
            }
        }
    }
    Ok(canvas.finished())
}
