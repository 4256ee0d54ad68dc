//! What is written on a picture: what its colours mean, what it shows, and how large that is. On dark glass in the lower
//! corners, small, and legible on whatever is behind.

use crate::canvas::{Area, Canvas, Lettering, Pen, capital_height, shortened, width_of};
use crate::colour::Ink;
use crate::colour_map::ColourMap;
use crate::error::Result;
use crate::image::{Display, Size};
use crate::ticks::{Ticks, number};

const TEXT: Ink = [244, 246, 248, 255];
const FAINT: Ink = [244, 246, 248, 190];
const GLASS: Ink = [14, 17, 22, 150];
const EDGE: Ink = [255, 255, 255, 90];
const SHADOW: Ink = [0, 0, 0, 60];

/// What the colours of a picture mean.
#[derive(Debug, Clone, PartialEq)]
pub struct ColourBar {
    /// The map.
    pub map: ColourMap,
    /// The number at its beginning.
    pub low: f64,
    /// The number at its end.
    pub high: f64,
    /// What the number is, such as `speed`.
    pub name: String,
    /// Its unit, such as `m/s`; may be empty.
    pub unit: String,
}

/// What is written on a picture. Whatever is `None`, or has no room, is left out.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Legend {
    /// What it shows, such as the name of the scene.
    pub title: Option<String>,
    /// Which moment, such as `frame 48 · 2.000 s`: see [`moment`].
    pub moment: Option<String>,
    /// What its colours mean.
    pub colours: Option<ColourBar>,
    /// How long a pixel is in the middle of the picture [m].
    pub metres_per_pixel: Option<f64>,
}

/// How a moment is written: the frame, and the time [s].
pub fn moment(frame: i64, time: f64) -> String {
    format!("frame {frame} · {time:.3} s")
}

impl Legend {
    /// The picture with this written on it.
    pub fn on(&self, display: &Display) -> Result<Display> {
        let mut canvas = Canvas::on(display)?;
        self.draw(&mut canvas);
        Ok(canvas.finished())
    }

    /// Writes this on a picture.
    pub fn draw(&self, canvas: &mut Canvas) {
        let look = Look::of(canvas.size());
        let mut left = look.gap;
        if let Some(caption) = self.caption() {
            left = draw_caption(canvas, &look, &caption);
        }
        let mut right = look.width - look.gap;
        if let Some(bar) = &self.colours {
            right = draw_colour_bar(canvas, &look, bar, right - left);
        }
        if let Some(length) = self.metres_per_pixel {
            draw_scale(canvas, &look, length, [left, right]);
        }
    }

    fn caption(&self) -> Option<[&str; 2]> {
        let parts = [&self.title, &self.moment].map(|part| part.as_deref().unwrap_or_default());
        parts.iter().any(|part| !part.is_empty()).then_some(parts)
    }
}

/// Sizes that follow the size of the picture [px].
struct Look {
    width: f32,
    height: f32,
    /// The size of text.
    size: f32,
    /// Between panels and the edges of the picture.
    gap: f32,
    /// Between what is on a panel and its edges.
    inside: f32,
}

impl Look {
    fn of(picture: Size) -> Self {
        let [width, height] = [picture.width, picture.height].map(|n| n as f32);
        let size = (7.5 + height.min(width) / 130.0).clamp(9.0, 64.0).round();
        Self { width, height, size, gap: (0.9 * size).round(), inside: (0.6 * size).round() }
    }

    /// A panel that stands on the lower edge, or nothing where it would take too much of the picture.
    fn panel(&self, canvas: &mut Canvas, x: f32, width: f32, height: f32) -> Option<Area> {
        let (width, height) = (width.round(), height.round());
        let y = self.height - self.gap - height;
        let fits = x >= 0.0 && x + width <= self.width && height < 0.4 * self.height;
        let area = fits.then(|| Area::new(x.round(), y, width, height))?;
        canvas.shadow(area, 0.5 * self.size, SHADOW);
        canvas.rounded(area, 0.4 * self.size, GLASS);
        Some(area)
    }

    fn text(&self) -> Lettering {
        Lettering::new(self.size, TEXT)
    }
}

/// The title in bold and the moment beside it, in the lower left. Returns where there is room again.
fn draw_caption(canvas: &mut Canvas, look: &Look, [title, moment]: &[&str; 2]) -> f32 {
    let (strong, plain) = (look.text().bold(), Lettering { ink: FAINT, ..look.text() });
    let room = 0.6 * look.width - 2.0 * (look.gap + look.inside);
    let title =
        shortened(title, look.size, 0.8 * room - width_of(moment, look.size).min(0.5 * room));
    let between = if title.is_empty() || moment.is_empty() { 0.0 } else { 0.8 * look.size };
    let [first, second] = [strong.width_of(&title), plain.width_of(moment)];
    let width = first + between + second + 2.0 * look.inside;
    let height = capital_height(look.size) + 2.0 * look.inside;
    let Some(panel) = look.panel(canvas, look.gap, width, height) else { return look.gap };
    let [x, y] = [panel.x + look.inside, panel.bottom() - look.inside];
    canvas.text([x, y], &title, &strong);
    canvas.text([x + first + between, y], moment, &plain);
    panel.right() + look.gap
}

/// Name and unit over the bar, numbers under it, in the lower right. Returns up to where there is room.
fn draw_colour_bar(canvas: &mut Canvas, look: &Look, bar: &ColourBar, room: f32) -> f32 {
    let right = look.width - look.gap;
    let long = (0.24 * look.width).clamp(11.0 * look.size, 26.0 * look.size).round();
    let ticks = Ticks::within(bar.low, bar.high, (long / (3.2 * look.size)) as usize);
    let small = Lettering { ink: FAINT, size: (0.9 * look.size).round(), ..look.text() };
    let unit = [ticks.factor(), bar.unit.clone()].join(" ").trim().to_owned();
    // The first and last label reach beyond the bar.
    let side = 1.2 * look.size;
    let (thick, tick) = ((0.7 * look.size).round(), (0.25 * look.size).round());
    let capital = capital_height(look.size);
    let below = tick + 0.35 * look.size + capital_height(small.size);
    let height = 2.0 * look.inside + capital + 0.45 * look.size + thick + below;
    let width = long + 2.0 * side;
    if width > room {
        return right;
    }
    let Some(panel) = look.panel(canvas, right - width, width, height) else { return right };
    let top = panel.y + look.inside + capital;
    let strip = Area::new((panel.x + side).round(), (top + 0.45 * look.size).round(), long, thick);
    let name = shortened(&bar.name, look.size, long - width_of(&unit, look.size) - look.size);
    canvas.text([strip.x, top], &name, &look.text().bold());
    canvas.text([strip.right(), top], &unit, &Lettering { ink: FAINT, ..look.text() }.right());
    for x in 0..long as usize {
        let ink = bar.map.ink((x as f32 + 0.5) / long);
        canvas.rectangle(Area::new(strip.x + x as f32, strip.y, 1.0, thick), ink);
    }
    // The dark end of a map would not show on dark glass.
    canvas.outline(strip.grown(0.5), 0.0, &Pen::new(EDGE, 1.0));
    for &value in &ticks.values {
        let share = (value - bar.low) / (bar.high - bar.low);
        let x = strip.x + (share as f32 * long).round().min(long - 1.0);
        canvas.rectangle(Area::new(x, strip.bottom(), 1.0, tick), FAINT);
        let foot = (strip.bottom() + below).round();
        canvas.text([x + 0.5, foot], &ticks.label(value), &small.centred());
    }
    panel.x - look.gap
}

/// A bar of a round length, between the other panels.
fn draw_scale(canvas: &mut Canvas, look: &Look, metres_per_pixel: f64, [left, right]: [f32; 2]) {
    let room = f64::from((0.22 * look.width).min(right - left - 2.0 * look.inside));
    let most = metres_per_pixel * room;
    if !(most > 0.0 && most.is_finite()) {
        return;
    }
    let power = 10_f64.powi(most.log10().floor() as i32);
    let metres = [5.0, 2.0, 1.0].map(|times| times * power).into_iter().find(|&m| m <= most);
    let Some(metres) = metres else { return };
    let long = (metres / metres_per_pixel) as f32;
    let (text, small) = (length(metres), Lettering { ink: FAINT, ..look.text() });
    let width = long.max(small.width_of(&text)) + 2.0 * look.inside;
    let height = 2.0 * look.inside + capital_height(look.size) + 0.6 * look.size;
    if width > right - left || long < look.size {
        return;
    }
    let Some(panel) = look.panel(canvas, left, width, height) else { return };
    let middle = panel.x + 0.5 * panel.width;
    let foot = (panel.bottom() - look.inside).round();
    let (thick, end) = ((0.12 * look.size).max(1.0).round(), (0.35 * look.size).round());
    let begin = (middle - 0.5 * long).round();
    canvas.rectangle(Area::new(begin, foot - thick, long, thick), TEXT);
    for x in [begin, begin + long - thick] {
        canvas.rectangle(Area::new(x, foot - end, thick, end), TEXT);
    }
    let above = foot - (0.6 * look.size).round();
    canvas.text([middle, above], &text, &small.centred());
}

/// How a length is written in the unit that fits it.
fn length(metres: f64) -> String {
    let units = [(1e3, "km"), (1.0, "m"), (1e-2, "cm"), (1e-3, "mm"), (0.0, "µm")];
    let (unit, name) =
        units.into_iter().find(|(unit, _)| metres >= unit * (1.0 - 1e-9)).unwrap_or((1.0, "m"));
    let unit = if unit == 0.0 { 1e-6 } else { unit };
    format!("{} {name}", number(metres / unit))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_are_written_in_the_unit_that_fits() {
        let found = [2000.0, 1.0, 0.5, 0.02, 0.005, 2e-5].map(length);
        assert_eq!(found, ["2 km", "1 m", "50 cm", "2 cm", "5 mm", "20 µm"]);
    }
}
