//! Where everything of a plot goes.
//!
//! ```text
//!  Heading                                   ── A  ┄┄ B
//!  what the vertical axis counts, and its unit
//!   15 ┬────────────────────────────────────┐
//!      │            the values              │ ● name
//!    0 └────────────────────────────────────┘ ● name
//!      1        10        20        30  frame
//! ```

use super::axis::{Scale, Spanned};
use super::drawing::{Anchor, Drawing, Role, Shape};
use super::labels::moved_apart;
use super::stack::{Piece, stacked};
use super::{Mark, Plot, Series};
use crate::canvas::{shortened, width_of};

/// How high letters are.
const TEXT: f64 = 12.0;
/// How high letters of the heading are.
const HEADING: f64 = 15.0;
/// How far names at the ends of series are apart.
const APART: f64 = 15.0;
/// How wide such names may be, as a share of the plot.
const NAMES: f64 = 0.3;
/// Vertical ticks are about this far apart.
const EVERY_UP: f64 = 44.0;
/// Horizontal ticks are about this far apart.
const EVERY_ALONG: f64 = 64.0;
/// How many notes are written out; of the others there are only marks.
const NOTES: usize = 2;

/// Makes a drawing of a plot, this wide and high.
pub fn layout(plot: &Plot, [width, height]: [f64; 2]) -> Drawing {
    let (width, height) = (width.clamp(160.0, 1e4), height.clamp(120.0, 1e4));
    let (top, bottom) = (46.0, height - 26.0);
    let y = vertical_within(plot, bottom - top);
    let written: Vec<(f64, String)> =
        y.ticks().into_iter().map(|tick| (tick, y.written(tick))).collect();
    let widest = written.iter().fold(0.0, |most: f64, (_, text)| most.max(measured(text)));
    let left = widest + 8.0;
    let names: Vec<(&Series, String)> = plot
        .series
        .iter()
        .filter(|series| is_named(plot, series))
        .map(|series| (series, shortened(&series.name, TEXT as f32, (NAMES * width) as f32)))
        .collect();
    let room = names.iter().fold(0.0, |most: f64, (_, name)| most.max(measured(name)));
    let right = width - if names.is_empty() { 8.0 } else { room + 26.0 };
    let xs = plot.series.iter().flat_map(|series| series.points.iter().map(|point| point[0]));
    let x = Spanned::new(&plot.x, xs, (right - left) / EVERY_ALONG, false);
    let bars = plot.series.iter().any(|series| series.mark == Mark::Bars);
    let mut page = Page {
        within: [left, top, right, bottom],
        x: if bars { with_room_for_bars(plot, x) } else { x },
        y,
        shapes: Vec::new(),
    };
    page.heading(plot, width);
    page.grid(&written);
    page.axis_along(plot);
    page.notes_behind(plot);
    let ends = page.series(plot);
    page.names(&names, &ends, plot);
    page.notes(plot);
    Drawing {
        size: [width, height],
        title: plot.title.clone(),
        about: plot.about.clone(),
        within: page.within,
        x: [page.x.low, page.x.high],
        shapes: page.shapes,
    }
}

/// How wide a text is.
fn measured(text: &str) -> f64 {
    f64::from(width_of(text, TEXT as f32))
}

/// Of two series of the same name only the solid one is named; a series without a name is what the heading says.
fn is_named(plot: &Plot, series: &Series) -> bool {
    let twin = |other: &Series| !other.dashed && other.name == series.name;
    let shown = series.points.iter().any(|[x, y]| x.is_finite() && y.is_finite());
    shown && !series.name.is_empty() && !(series.dashed && plot.series.iter().any(twin))
}

/// The vertical axis of a plot of the usual height.
pub(super) fn vertical(plot: &Plot) -> Spanned {
    vertical_within(plot, super::SIZE[1] - 72.0)
}

fn vertical_within(plot: &Plot, height: f64) -> Spanned {
    let lines = plot.series.iter().filter(|series| !is_stacked(series));
    let values = lines.flat_map(|series| series.points.iter().map(|point| point[1]));
    let stacks = stacks(plot, usize::MAX);
    let tops = stacks.iter().flatten().flat_map(|(_, piece)| piece.map(|piece| piece[1]));
    Spanned::new(&plot.y, values.chain(tops), height / EVERY_UP, true)
}

fn is_stacked(series: &Series) -> bool {
    matches!(series.mark, Mark::Area | Mark::Bars)
}

fn stacks(plot: &Plot, most: usize) -> Vec<Vec<Piece>> {
    let of: Vec<&[[f64; 2]]> =
        plot.series.iter().filter(|s| is_stacked(s)).map(|s| &s.points[..]).collect();
    stacked(&of, most)
}

/// The smallest distance between the places of bars.
fn bar_spacing(plot: &Plot) -> f64 {
    let bars = plot.series.iter().filter(|series| series.mark == Mark::Bars);
    let mut xs: Vec<f64> = bars
        .flat_map(|series| series.points.iter().map(|point| point[0]))
        .filter(|x| x.is_finite())
        .collect();
    xs.sort_by(f64::total_cmp);
    let steps = xs.windows(2).map(|pair| pair[1] - pair[0]).filter(|step| *step > 0.0);
    steps.fold(f64::INFINITY, f64::min).min(1e300)
}

fn with_room_for_bars(plot: &Plot, mut x: Spanned) -> Spanned {
    let spacing = bar_spacing(plot);
    if spacing < 1e300 {
        (x.low, x.high) = (x.low - 0.5 * spacing, x.high + 0.5 * spacing);
    }
    x
}

/// A drawing in the making.
struct Page {
    within: [f64; 4],
    x: Spanned,
    y: Spanned,
    shapes: Vec<Shape>,
}

impl Page {
    /// Where a value lies on the page; nothing for what has no place.
    fn place(&self, x: f64, y: f64) -> Option<[f64; 2]> {
        let [left, top, right, bottom] = self.within;
        let (x, y) = (self.x.share(x)?, self.y.share(y)?.clamp(-1.0, 2.0));
        Some([left + x * (right - left), bottom - y * (bottom - top)])
    }

    fn line(&mut self, from: [f64; 2], to: [f64; 2], role: Role, width: f64) {
        self.shapes.push(Shape::Line { points: vec![from, to], role, width, dashed: false });
    }

    fn text(&mut self, at: [f64; 2], text: &str, role: Role, anchor: Anchor) {
        let text = text.to_owned();
        self.shapes.push(Shape::Text { at, text, size: TEXT, role, anchor, bold: false });
    }

    fn heading(&mut self, plot: &Plot, width: f64) {
        let text = shortened(&plot.title, HEADING as f32, width as f32);
        let (role, anchor) = (Role::Ink, Anchor::Start);
        let size = HEADING;
        self.shapes.push(Shape::Text { at: [0.0, 15.0], text, size, role, anchor, bold: true });
        let (unit, _) = self.y.counted();
        let counted = match (plot.y.label.is_empty(), unit.is_empty()) {
            (_, true) => plot.y.label.clone(),
            (true, false) => unit,
            (false, false) => format!("{}, {unit}", plot.y.label),
        };
        self.text([0.0, 33.0], &counted, Role::Muted, Anchor::Start);
        // Solid and dashed, from the right.
        let mut end = width;
        for (name, dashed) in plot.key.iter().flat_map(|[a, b]| [(b, true), (a, false)]) {
            let name = shortened(name, TEXT as f32, (0.3 * width) as f32);
            self.text([end, 15.0], &name, Role::Muted, Anchor::End);
            end -= measured(&name) + 6.0;
            let points = vec![[end - 26.0, 11.0], [end, 11.0]];
            self.shapes.push(Shape::Line { points, role: Role::Ink, width: 1.5, dashed });
            end -= 26.0 + 16.0;
        }
    }

    fn grid(&mut self, ticks: &[(f64, String)]) {
        let [left, _, right, bottom] = self.within;
        for (tick, text) in ticks {
            let Some([_, y]) = self.place(self.x.low, *tick) else { continue };
            let is_base = *tick == 0.0 || (self.y.scale == Scale::Log && y == bottom);
            let role = if is_base { Role::Axis } else { Role::Grid };
            self.line([left, y], [right, y], role, 1.0);
            self.text([left - 6.0, y + 4.0], text, Role::Muted, Anchor::End);
        }
    }

    fn axis_along(&mut self, plot: &Plot) {
        let [_, _, right, bottom] = self.within;
        let label = shortened(&plot.x.label, TEXT as f32, 120.0);
        let free = right - measured(&label) - 10.0;
        self.text([right, bottom + 18.0], &label, Role::Muted, Anchor::End);
        for tick in self.x.ticks() {
            let Some([x, _]) = self.place(tick, self.y.low) else { continue };
            self.line([x, bottom], [x, bottom + 4.0], Role::Axis, 1.0);
            let text = self.x.written(tick);
            // A number must not run into the label.
            if x + 0.5 * measured(&text) < free {
                self.text([x, bottom + 18.0], &text, Role::Muted, Anchor::Middle);
            }
        }
    }

    /// Draws all series; where each ends.
    fn series(&mut self, plot: &Plot) -> Vec<Option<f64>> {
        let most = (self.within[2] - self.within[0]) as usize;
        let stacks = stacks(plot, most);
        let mut stacks = stacks.iter();
        let spacing = bar_spacing(plot);
        plot.series
            .iter()
            .map(|series| match series.mark {
                Mark::Line => self.curve(series),
                Mark::Points => self.points(series),
                Mark::Area => stacks.next().and_then(|stack| self.area(stack, series)),
                Mark::Bars => stacks.next().and_then(|stack| self.bars(stack, series, spacing)),
            })
            .collect()
    }

    /// A line, broken where there is no value. What stands alone between two gaps is a dot.
    fn curve(&mut self, series: &Series) -> Option<f64> {
        let role = Role::Series(series.colour);
        let places = series.points.iter().map(|[x, y]| self.place(*x, *y));
        let runs = runs(places);
        let end = runs.last()?.last()?[1];
        for run in runs {
            match run[..] {
                [at] => self.shapes.push(Shape::Disc { at, radius: 2.0, role }),
                _ => self.shapes.push(Shape::Line {
                    points: thinned(&run),
                    role,
                    width: 1.75,
                    dashed: series.dashed,
                }),
            }
        }
        Some(end)
    }

    fn points(&mut self, series: &Series) -> Option<f64> {
        let role = Role::Series(series.colour);
        let places = series.points.iter().filter_map(|[x, y]| self.place(*x, *y));
        let places = thinned(&places.collect::<Vec<_>>());
        let end = places.last()?[1];
        self.shapes.extend(places.into_iter().map(|at| Shape::Disc { at, radius: 2.0, role }));
        Some(end)
    }

    fn area(&mut self, stack: &[Piece], series: &Series) -> Option<f64> {
        let pieces = stack.iter().map(|(x, piece)| {
            let [low, high] = (*piece)?;
            Some([self.place(*x, low)?, self.place(*x, high)?])
        });
        let runs = runs(pieces);
        let end = runs.last()?.last().map(|[low, high]| 0.5 * (low[1] + high[1]));
        for run in runs {
            let upper = run.iter().map(|[_, high]| *high);
            let lower = run.iter().rev().map(|[low, _]| *low);
            let points = upper.chain(lower).collect();
            self.shapes.push(Shape::Polygon { points, role: Role::Series(series.colour) });
        }
        end
    }

    fn bars(&mut self, stack: &[Piece], series: &Series, spacing: f64) -> Option<f64> {
        let role = Role::Series(series.colour);
        let [left, _, right, _] = self.within;
        let share = spacing / (self.x.high - self.x.low);
        let half = (0.4 * share * (right - left)).clamp(0.5, 24.0);
        let mut end = None;
        for (x, piece) in stack {
            let Some([low, high]) = *piece else { continue };
            let (Some(low), Some(high)) = (self.place(*x, low), self.place(*x, high)) else {
                continue;
            };
            end = Some(0.5 * (low[1] + high[1]));
            let corners = [
                [low[0] - half, low[1]],
                [low[0] - half, high[1]],
                [high[0] + half, high[1]],
                [high[0] + half, low[1]],
            ];
            self.shapes.push(Shape::Polygon { points: corners.to_vec(), role });
        }
        end
    }

    /// The name of each series at its end, with a thin line where it had to make room.
    fn names(&mut self, names: &[(&Series, String)], ends: &[Option<f64>], plot: &Plot) {
        let [_, top, right, bottom] = self.within;
        let end_of = |series: &Series| {
            let at = plot.series.iter().position(|other| std::ptr::eq(other, series));
            at.and_then(|at| ends[at]).unwrap_or(bottom)
        };
        let wanted: Vec<f64> =
            names.iter().map(|(series, _)| end_of(series).clamp(top, bottom)).collect();
        let places = moved_apart(&wanted, APART, top, bottom - 2.0);
        for (((series, name), from), at) in names.iter().zip(wanted).zip(places) {
            if (from - at).abs() > 1.0 {
                self.line([right + 2.0, from], [right + 8.0, at], Role::Axis, 0.75);
            }
            let role = Role::Series(series.colour);
            self.shapes.push(Shape::Disc { at: [right + 12.0, at], radius: 3.5, role });
            self.text([right + 20.0, at + 4.0], name, Role::Ink, Anchor::Start);
        }
    }

    /// A thin line behind the values for each note.
    fn notes_behind(&mut self, plot: &Plot) {
        let [left, top, right, bottom] = self.within;
        let mut before = f64::NEG_INFINITY;
        for note in &plot.notes {
            let Some([x, _]) = self.place(note.x, self.y.low) else { continue };
            // As many lines as there are columns of dots are enough.
            if (left..=right).contains(&x) && x - before >= 1.0 {
                before = x;
                self.line([x, top], [x, bottom], Role::Alarm, 0.75);
            }
        }
    }

    /// The first few notes in words, above the values.
    fn notes(&mut self, plot: &Plot) {
        let [left, top, right, _] = self.within;
        let mut free = left;
        let mut written = 0;
        for note in &plot.notes {
            let Some([x, _]) = self.place(note.x, self.y.low) else { continue };
            let text = shortened(&note.text, TEXT as f32, (0.5 * (right - left)) as f32);
            let wide = measured(&text);
            let begins = (x + 4.0).min(right - wide);
            if written < NOTES && begins >= free && (left..=right).contains(&x) {
                self.text([begins, top - 3.0], &text, Role::Alarm, Anchor::Start);
                free = begins + wide + 12.0;
                written += 1;
            }
        }
    }
}

/// Parts a row at its gaps.
fn runs<T>(places: impl Iterator<Item = Option<T>>) -> Vec<Vec<T>> {
    let mut runs = Vec::new();
    let mut run = Vec::new();
    for place in places {
        match place {
            Some(place) => run.push(place),
            None => runs.push(std::mem::take(&mut run)),
        }
    }
    runs.push(run);
    runs.retain(|run| !run.is_empty());
    runs
}

/// Of many points in one column of dots the first, the lowest, the highest and the last (Jugel and others 2014, "M4").
fn thinned(points: &[[f64; 2]]) -> Vec<[f64; 2]> {
    let mut kept: Vec<[f64; 2]> = Vec::new();
    for column in points.chunk_by(|a, b| a[0].floor() == b[0].floor()) {
        if column.len() <= 4 {
            kept.extend(column);
            continue;
        }
        let by = |n: &usize, m: &usize| column[*n][1].total_cmp(&column[*m][1]);
        let (low, high) = ((0..column.len()).min_by(by), (0..column.len()).max_by(by));
        let mut chosen = [Some(0), low, high, Some(column.len() - 1)];
        chosen.sort();
        kept.extend(chosen.into_iter().flatten().map(|n| column[n]));
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::super::{Axis, Unit};
    use super::*;

    fn plot(points: Vec<[f64; 2]>, mark: Mark) -> Plot {
        let x = Axis::new("frame", Unit::Number).free();
        let y = Axis::new("time", Unit::Prefixed("s"));
        Plot::new("it", "It", "It goes up", x, y).with("a", mark, points)
    }

    fn lines(drawing: &Drawing) -> Vec<&Vec<[f64; 2]>> {
        let line = |shape| match shape {
            &Shape::Line { ref points, role: Role::Series(_), .. } => Some(points),
            _ => None,
        };
        drawing.shapes.iter().filter_map(line).collect()
    }

    #[test]
    fn values_are_at_their_pixels() {
        // From 1 to 11, and from 0 to the tick above 10 ms.
        let drawing =
            layout(&plot(vec![[1.0, 0.0], [6.0, 5e-3], [11.0, 10e-3]], Mark::Line), [640.0, 300.0]);
        let [left, top, right, bottom] = drawing.within;
        let middle = [0.5 * (left + right), 0.5 * (top + bottom)];
        let line = lines(&drawing)[0];
        for (found, wanted) in line.iter().zip([[left, bottom], middle, [right, top]]) {
            assert!((found[0] - wanted[0]).abs() < 1e-9 && (found[1] - wanted[1]).abs() < 1e-9);
        }
    }

    #[test]
    fn decades_are_equally_far_apart() {
        let mut plot = plot(vec![[0.0, 1e-4], [1.0, 1e-2], [2.0, 1.0]], Mark::Line);
        plot.y = Axis::new("residual", Unit::Plain("")).log();
        let drawing = layout(&plot, [640.0, 300.0]);
        let line = lines(&drawing)[0];
        let [_, top, _, bottom] = drawing.within;
        assert!((line[0][1] - bottom).abs() < 1e-9 && (line[2][1] - top).abs() < 1e-9);
        assert!((line[1][1] - 0.5 * (top + bottom)).abs() < 1e-9);
    }

    #[test]
    fn lines_are_broken_where_there_is_no_value() {
        let gap = f64::NAN;
        let points = [1.0, 2.0, gap, gap, 3.0, gap, 4.0, 5.0, f64::INFINITY];
        let points = points.iter().enumerate().map(|(n, y)| [n as f64, *y]).collect();
        let drawing = layout(&plot(points, Mark::Line), [640.0, 300.0]);
        let lengths: Vec<_> = lines(&drawing).iter().map(|line| line.len()).collect();
        assert_eq!(lengths, [2, 2]);
        // What is alone between two gaps is a dot, besides the one at the name.
        let dots = drawing.shapes.iter().filter(|s| matches!(s, Shape::Disc { .. })).count();
        assert_eq!(dots, 2);
    }

    #[test]
    fn bars_stand_upon_each_other() {
        let a = vec![[1.0, 1.0], [2.0, 2.0]];
        let plot = plot(a.clone(), Mark::Bars).with("b", Mark::Bars, a);
        let drawing = layout(&plot, [640.0, 300.0]);
        let bars: Vec<_> = drawing
            .shapes
            .iter()
            .filter_map(|shape| match shape {
                Shape::Polygon { points, .. } => Some(points),
                _ => None,
            })
            .collect();
        assert_eq!(bars.len(), 4);
        let bottom = drawing.within[3];
        assert!((bars[0][0][1] - bottom).abs() < 1e-9);
        // The second series begins where the first ends, and is as high.
        assert!((bars[2][0][1] - bars[0][1][1]).abs() < 1e-9);
        let height = |bar: &[[f64; 2]]| bar[0][1] - bar[1][1];
        assert!((height(bars[0]) - height(bars[2])).abs() < 1e-9);
        assert!((height(bars[1]) - 2.0 * height(bars[0])).abs() < 1e-9);
    }

    #[test]
    fn of_many_values_the_peaks_are_drawn() {
        let points: Vec<[f64; 2]> =
            (0..200_000).map(|n| [f64::from(n), if n == 77_777 { 9.0 } else { 1.0 }]).collect();
        for mark in [Mark::Line, Mark::Area, Mark::Points, Mark::Bars] {
            let drawing = layout(&plot(points.clone(), mark), [640.0, 300.0]);
            let (mut count, mut highest) = (0, f64::INFINITY);
            for shape in &drawing.shapes {
                let points = match shape {
                    Shape::Line { points, role: Role::Series(_), .. } => points.clone(),
                    Shape::Polygon { points, .. } => points.clone(),
                    Shape::Disc { at, .. } => vec![*at],
                    _ => continue,
                };
                count += points.len();
                highest = points.iter().fold(highest, |most, at| most.min(at[1]));
            }
            assert!(count < 5000, "{mark:?}: {count}");
            let [_, top, _, bottom] = drawing.within;
            assert!((highest - (bottom - 0.9 * (bottom - top))).abs() < 1.0, "{mark:?}: {highest}");
        }
    }

    #[test]
    fn whatever_the_values_every_place_is_finite_and_within() {
        let odd = [f64::NAN, f64::INFINITY, -f64::INFINITY, 0.0, -0.0, 1e308, -1e308, 5e-324];
        for mark in [Mark::Line, Mark::Area, Mark::Points, Mark::Bars] {
            let points = odd.iter().flat_map(|x| odd.iter().map(move |y| [*x, *y])).collect();
            let mut plot = plot(points, mark);
            plot.notes.extend(odd.map(|x| super::super::Note { x, text: "odd".repeat(100) }));
            plot.title = "long ".repeat(100);
            for scale in [Scale::Linear, Scale::Log] {
                plot.y.scale = scale;
                for size in [[640.0, 300.0], [0.0, 0.0], [1e9, f64::MAX]] {
                    for shape in layout(&plot, size).shapes {
                        let places = match shape {
                            Shape::Line { points, .. } | Shape::Polygon { points, .. } => points,
                            Shape::Disc { at, .. } | Shape::Text { at, .. } => vec![at],
                        };
                        assert!(places.iter().flatten().all(|p| p.abs() < 1e5), "{places:?}");
                    }
                }
            }
        }
    }
}
