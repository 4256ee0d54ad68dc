//! Drawing in two dimensions on a picture to look at: lines, polygons, text, and other pictures. Anti-aliased, by tiny-skia.
//!
//! Places are in pixels from the upper left corner, `y` downwards; the middle of the first pixel is (0.5, 0.5). Whatever is
//! outside is cut off, and what is not a finite number is not drawn.

mod clip;
pub mod glyphs;
pub mod lettering;
pub mod resample;

pub use lettering::{Align, Lettering, capital_height, shortened, width_of};
pub use resample::resized;

use crate::colour::Ink;
use crate::error::{RenderError, Result};
use crate::image::{Display, Size};
use glyphs::Step;
use lettering::SCRIPT_STROKE;
use tiny_skia::{
    FillRule, IntSize, LineCap, LineJoin, Mask, Paint, Path, PathBuilder, Pixmap, Stroke,
    StrokeDash, Transform,
};

/// How far outside of the picture lines are still drawn, so that their ends do not show [px].
const MARGIN: f32 = 64.0;

/// No pen is wider [px].
const WIDEST: f32 = 1024.0;

/// How far handles reach that make a quarter of a circle.
const QUARTER: f32 = 0.552_285;

/// A part of a picture \[px\].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Area {
    /// Its left edge.
    pub x: f32,
    /// Its upper edge.
    pub y: f32,
    /// How wide it is.
    pub width: f32,
    /// How high it is.
    pub height: f32,
}

impl Area {
    /// A part by its left and upper edge, and how wide and high it is.
    pub fn new(x: f32, y: f32, width: f32, height: f32) -> Self {
        Self { x, y, width, height }
    }

    /// Its right edge.
    pub fn right(&self) -> f32 {
        self.x + self.width
    }

    /// Its lower edge.
    pub fn bottom(&self) -> f32 {
        self.y + self.height
    }

    /// The same with edges that are this much further out.
    pub fn grown(&self, by: f32) -> Self {
        Self::new(self.x - by, self.y - by, self.width + 2.0 * by, self.height + 2.0 * by)
    }

    fn corners(&self) -> [[f32; 2]; 4] {
        let (right, bottom) = (self.right(), self.bottom());
        [[self.x, self.y], [right, self.y], [right, bottom], [self.x, bottom]]
    }
}

/// What lines are drawn with: round at ends and corners.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pen {
    /// The colour.
    pub ink: Ink,
    /// How thick lines are \[px\].
    pub width: f32,
    /// How long dashes and the gaps between them are \[px\]; an unbroken line if `None`.
    pub dashes: Option<[f32; 2]>,
}

impl Pen {
    /// A pen for unbroken lines.
    pub fn new(ink: Ink, width: f32) -> Self {
        Self { ink, width, dashes: None }
    }

    /// The same for dashes of a length, with gaps of a length \[px\].
    pub fn dashed(self, dash: f32, gap: f32) -> Self {
        Self { dashes: Some([dash, gap]), ..self }
    }
}

/// A picture that is drawn on.
pub struct Canvas {
    size: Size,
    pixels: Pixmap,
    clip: Option<Mask>,
}

impl Canvas {
    /// A picture of one colour.
    pub fn new(size: Size, ground: Ink) -> Result<Self> {
        Self::on(&Display { size, pixels: vec![ground; size.pixels()] })
    }

    /// A copy of a picture, to be drawn on.
    pub fn on(display: &Display) -> Result<Self> {
        let size = display.size;
        let multiplied = |&[r, g, b, a]: &Ink| {
            let times = |colour: u8| ((u16::from(colour) * u16::from(a) + 127) / 255) as u8;
            [times(r), times(g), times(b), a]
        };
        let bytes = display.pixels.iter().flat_map(multiplied).collect();
        let whole = u32::try_from(size.width).ok().zip(u32::try_from(size.height).ok());
        let pixels = whole
            .and_then(|(width, height)| IntSize::from_wh(width, height))
            .and_then(|size| Pixmap::from_vec(bytes, size))
            .ok_or_else(|| RenderError::Size {
                width: size.width,
                height: size.height,
                why: format!("nothing can be drawn on {} pixels of it", display.pixels.len()),
            })?;
        Ok(Self { size, pixels, clip: None })
    }

    /// What has been drawn.
    pub fn finished(self) -> Display {
        let divided = |pixel: &[u8; 4]| {
            let [r, g, b, a] = *pixel;
            let whole = u16::from(a).max(1);
            let by = |colour: u8| ((u16::from(colour) * 255 + whole / 2) / whole).min(255) as u8;
            [by(r), by(g), by(b), a]
        };
        let pixels = self.pixels.data().as_chunks().0.iter().map(divided).collect();
        Display { size: self.size, pixels }
    }

    /// How large it is.
    pub fn size(&self) -> Size {
        self.size
    }

    /// All of it.
    pub fn area(&self) -> Area {
        Area::new(0.0, 0.0, self.size.width as f32, self.size.height as f32)
    }

    /// Draws within a part of the picture only, such as the curves of a plot within its axes.
    pub fn clipped(&mut self, area: Area, draw: impl FnOnce(&mut Self)) {
        let mask = Mask::new(self.pixels.width(), self.pixels.height()).map(|mut mask| {
            let corners = clip::polygon(&area.corners(), self.bounds());
            if let Some(path) = closed(&corners) {
                mask.fill_path(&path, FillRule::Winding, true, Transform::identity());
            }
            mask
        });
        let outer = std::mem::replace(&mut self.clip, mask);
        draw(self);
        self.clip = outer;
    }

    /// A straight line.
    pub fn line(&mut self, from: [f32; 2], to: [f32; 2], pen: &Pen) {
        self.polyline(&[from, to], pen);
    }

    /// A line through points. It is broken where one is not a finite number.
    pub fn polyline(&mut self, points: &[[f32; 2]], pen: &Pen) {
        let mut path = PathBuilder::new();
        for run in clip::polyline(points, self.bounds()) {
            path.move_to(run[0][0], run[0][1]);
            run[1..].iter().for_each(|&[x, y]| path.line_to(x, y));
        }
        self.stroke(path.finish(), pen);
    }

    /// A filled polygon.
    pub fn polygon(&mut self, corners: &[[f32; 2]], ink: Ink) {
        let corners = clip::polygon(corners, self.bounds());
        self.fill(closed(&corners), ink);
    }

    /// A filled rectangle.
    pub fn rectangle(&mut self, area: Area, ink: Ink) {
        self.polygon(&area.corners(), ink);
    }

    /// A filled rectangle with round corners of a radius \[px\].
    pub fn rounded(&mut self, area: Area, radius: f32, ink: Ink) {
        if radius > 0.0 {
            self.fill(rounded(area, radius), ink);
        } else {
            self.rectangle(area, ink);
        }
    }

    /// The outline of a rectangle with round corners of a radius \[px\], which may be zero.
    pub fn outline(&mut self, area: Area, radius: f32, pen: &Pen) {
        self.stroke(rounded(area, radius.max(0.0)), pen);
    }

    /// A soft shadow of a rectangle, which fades out over a length around its edges \[px\].
    pub fn shadow(&mut self, area: Area, softness: f32, ink: Ink) {
        const LAYERS: u8 = 8;
        let [r, g, b, alpha] = ink;
        for layer in 0..LAYERS {
            let out = softness * (f32::from(layer) + 0.5) / f32::from(LAYERS);
            self.rounded(area.grown(out), out.max(1.0), [r, g, b, alpha / LAYERS]);
        }
    }

    /// A filled circle.
    pub fn disc(&mut self, centre: [f32; 2], radius: f32, ink: Ink) {
        self.fill(circle(centre, radius), ink);
    }

    /// The outline of a circle.
    pub fn circle(&mut self, centre: [f32; 2], radius: f32, pen: &Pen) {
        self.stroke(circle(centre, radius), pen);
    }

    /// A line of text whose foot is at a place.
    pub fn text(&mut self, at: [f32; 2], text: &str, lettering: &Lettering) {
        let stroke = lettering.stroke();
        let written = lettering::path_of(text, at, lettering);
        let pens = [(written.plain, stroke), (written.scripts, stroke * SCRIPT_STROKE)];
        let halo = lettering.halo.map(|halo| (halo, (0.1 * lettering.size).max(1.0)));
        for (ink, around) in halo.into_iter().chain([(lettering.ink, 0.0)]) {
            for (steps, stroke) in &pens {
                self.pen_path(steps, *stroke, around, ink);
            }
        }
    }

    /// The path of a round pen, with a border of a width around it.
    fn pen_path(&mut self, steps: &[Step], stroke: f32, around: f32, ink: Ink) {
        let mut path = PathBuilder::new();
        for step in steps {
            match *step {
                Step::Move([x, y]) => path.move_to(x, y),
                Step::Line([x, y]) => path.line_to(x, y),
                Step::Curve(a, b, [x, y]) => path.cubic_to(a[0], a[1], b[0], b[1], x, y),
                Step::Dot(at) => self.disc(at, 0.62 * stroke + around, ink),
            }
        }
        self.stroke(path.finish(), &Pen::new(ink, stroke + 2.0 * around));
    }

    /// Puts a picture over this one, with its upper left corner at a place.
    pub fn place(&mut self, display: &Display, [left, top]: [i64; 2]) {
        let [width, height] = [self.size.width, self.size.height].map(|n| n as i64);
        let columns = display.size.width.max(1);
        let under = self.pixels.data_mut().as_chunks_mut::<4>().0;
        for (y, row) in (top..).zip(display.pixels.chunks(columns)) {
            for (x, &[r, g, b, a]) in (left..).zip(row) {
                if !(0..width).contains(&x) || !(0..height).contains(&y) {
                    continue;
                }
                let below = &mut under[(y * width + x) as usize];
                let [over, rest] = [u16::from(a), 255 - u16::from(a)];
                for (below, above) in below.iter_mut().zip([r, g, b, 255]) {
                    let sum = u16::from(above) * over + u16::from(*below) * rest;
                    *below = ((sum + 127) / 255) as u8;
                }
            }
        }
    }

    /// Where what is drawn can still be seen.
    fn bounds(&self) -> clip::Bounds {
        let margin = f64::from(MARGIN);
        let [width, height] = [self.size.width, self.size.height].map(|n| n as f64 + margin);
        [-margin, -margin, width, height]
    }

    fn fill(&mut self, path: Option<Path>, ink: Ink) {
        if let Some(path) = path {
            let (rule, still) = (FillRule::Winding, Transform::identity());
            self.pixels.fill_path(&path, &paint(ink), rule, still, self.clip.as_ref());
        }
    }

    fn stroke(&mut self, path: Option<Path>, pen: &Pen) {
        let Some(path) = path.filter(|_| pen.width > 0.0) else { return };
        let stroke = Stroke {
            width: pen.width.min(WIDEST),
            line_cap: if pen.dashes.is_some() { LineCap::Butt } else { LineCap::Round },
            line_join: LineJoin::Round,
            // Shorter dashes than this could not be told from a grey line, but take as long as they are many.
            dash: pen.dashes.and_then(|dashes| {
                StrokeDash::new(dashes.map(|length| length.max(0.5)).to_vec(), 0.0)
            }),
            ..Stroke::default()
        };
        let still = Transform::identity();
        self.pixels.stroke_path(&path, &paint(pen.ink), &stroke, still, self.clip.as_ref());
    }
}

fn paint(ink: Ink) -> Paint<'static> {
    let mut paint = Paint::default();
    paint.set_color_rgba8(ink[0], ink[1], ink[2], ink[3]);
    paint
}

fn closed(corners: &[[f32; 2]]) -> Option<Path> {
    let (first, rest) = corners.split_first()?;
    let mut path = PathBuilder::new();
    path.move_to(first[0], first[1]);
    rest.iter().for_each(|&[x, y]| path.line_to(x, y));
    path.close();
    path.finish()
}

fn circle([x, y]: [f32; 2], radius: f32) -> Option<Path> {
    drawable(&[x, y, radius]).then(|| PathBuilder::from_circle(x, y, radius)).flatten()
}

fn rounded(area: Area, radius: f32) -> Option<Path> {
    let Area { x, y, width, height } = area;
    if !drawable(&[x, y, width, height]) || width <= 0.0 || height <= 0.0 {
        return None;
    }
    let r = radius.min(0.5 * width).min(0.5 * height);
    let (right, bottom, handle) = (area.right(), area.bottom(), r * (1.0 - QUARTER));
    let mut path = PathBuilder::new();
    path.move_to(x + r, y);
    path.line_to(right - r, y);
    path.cubic_to(right - handle, y, right, y + handle, right, y + r);
    path.line_to(right, bottom - r);
    path.cubic_to(right, bottom - handle, right - handle, bottom, right - r, bottom);
    path.line_to(x + r, bottom);
    path.cubic_to(x + handle, bottom, x, bottom - handle, x, bottom - r);
    path.line_to(x, y + r);
    path.cubic_to(x, y + handle, x + handle, y, x + r, y);
    path.close();
    path.finish()
}

/// Whether curves by these numbers can be drawn: they are not cut before.
fn drawable(numbers: &[f32]) -> bool {
    numbers.iter().all(|x| x.abs() <= 1e6)
}
