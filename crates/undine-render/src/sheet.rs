//! A whole run at a glance: few frames, evenly chosen, as one picture.

use crate::canvas::{Area, Canvas, Lettering, Pen, capital_height, resized, shortened};
use crate::colour::Ink;
use crate::error::{RenderError, Result};
use crate::image::{Display, Size};

const GROUND: Ink = [24, 25, 28, 255];
const EDGE: Ink = [255, 255, 255, 26];
const SHADOW: Ink = [0, 0, 0, 110];
const TEXT: Ink = [236, 238, 240, 255];
const FAINT: Ink = [150, 155, 162, 255];

/// A frame that a sheet may show.
pub struct SheetFrame {
    /// What is written under it, such as its number.
    pub label: String,
    /// The picture.
    pub display: Display,
}

/// How a sheet is laid out.
#[derive(Debug, Clone, PartialEq)]
pub struct Sheet {
    /// What is written above, such as the name of the scene.
    pub title: String,
    /// What is written beside it, such as `240 frames at 24 fps`.
    pub note: String,
    /// How many frames are in a row.
    pub columns: usize,
    /// How many frames are shown at most; of more, these are chosen evenly, with the first and the last.
    pub most: usize,
    /// How wide the sheet is \[px\].
    pub width: usize,
}

impl Default for Sheet {
    fn default() -> Self {
        Self { title: String::new(), note: String::new(), columns: 4, most: 16, width: 1280 }
    }
}

impl Sheet {
    /// Which of `count` frames are shown: evenly chosen, the first and the last among them. Draw no others.
    pub fn chosen(&self, count: usize) -> Vec<usize> {
        let shown = self.most.max(1).min(count);
        let spread = |n: usize| match shown {
            1 => count - 1,
            _ => (n * (count - 1) + (shown - 1) / 2) / (shown - 1),
        };
        (0..shown).map(spread).collect()
    }

    /// The sheet of frames that may have different sizes; the first says which shape they get.
    pub fn of(&self, frames: &[SheetFrame]) -> Result<Display> {
        let Some(first) = frames.first() else {
            return Err(RenderError::Asked {
                what: "a contact sheet".into(),
                found: "without frames".into(),
                wanted: "it needs at least one".into(),
            });
        };
        let chosen = self.chosen(frames.len());
        let columns = self.columns.clamp(1, chosen.len());
        let rows = chosen.len().div_ceil(columns);
        // Gaps and letters grow with the sheet, slower than it does.
        let gap = (10.0 + self.width as f32 / 160.0).round() as usize;
        let size = (9.0 + self.width as f32 / 320.0).round();
        let Some(cell) = self.width.checked_sub(gap * (columns + 1)).map(|room| room / columns)
        else {
            return Err(self.too_narrow(columns));
        };
        let tall = (cell * first.display.size.height).div_ceil(first.display.size.width.max(1));
        let cell = Size::new(cell, tall.max(1)).map_err(|_| self.too_narrow(columns))?;
        let label = (2.6 * size).round() as usize;
        let head =
            if self.title.is_empty() { gap } else { gap * 2 + (2.2 * size).round() as usize };
        let size_of_all = Size::new(self.width, head + rows * (cell.height + label) + gap / 2)?;
        let mut canvas = Canvas::new(size_of_all, GROUND)?;
        if !self.title.is_empty() {
            self.draw_title(&mut canvas, gap as f32, size);
        }
        // What is left over of the width goes to both sides.
        let used = columns * cell.width + (columns - 1) * gap;
        let left = (self.width - used) / 2;
        for (n, &index) in chosen.iter().enumerate() {
            let x = left + n % columns * (cell.width + gap);
            let y = head + n / columns * (cell.height + label);
            draw_frame(&mut canvas, &frames[index], cell, [x, y], size);
        }
        Ok(canvas.finished())
    }

    /// The title in bold, what is beside it, and a fine line under both.
    fn draw_title(&self, canvas: &mut Canvas, gap: f32, size: f32) {
        let strong = Lettering::new((1.5 * size).round(), TEXT).bold();
        let plain = Lettering::new(size, FAINT).right();
        let foot = gap + capital_height(strong.size) + 0.2 * size;
        let (left, right) = (gap, self.width as f32 - gap);
        let room = right - left - plain.width_of(&self.note) - 2.0 * gap;
        canvas.text([left, foot], &shortened(&self.title, strong.size, room), &strong);
        canvas.text([right, foot], &self.note, &plain);
        let line = (foot + 0.75 * size).round() + 0.5;
        canvas.line([left, line], [right, line], &Pen::new(EDGE, 1.0));
    }

    fn too_narrow(&self, columns: usize) -> RenderError {
        RenderError::Asked {
            what: "the width of a contact sheet".into(),
            found: format!("{} pixels", self.width),
            wanted: format!("{columns} columns need at least {}", 120 * columns),
        }
    }
}

/// A frame, fitted into its cell, with a soft shadow, a fine edge, and its label.
fn draw_frame(canvas: &mut Canvas, frame: &SheetFrame, cell: Size, [x, y]: [usize; 2], size: f32) {
    let [width, height] = [frame.display.size.width, frame.display.size.height].map(|n| n.max(1));
    let scale = (cell.width as f32 / width as f32).min(cell.height as f32 / height as f32);
    let fitted = |side: usize, most: usize| ((side as f32 * scale).round() as usize).clamp(1, most);
    let shown = Size { width: fitted(width, cell.width), height: fitted(height, cell.height) };
    let (across, down) = (x + (cell.width - shown.width) / 2, y + (cell.height - shown.height) / 2);
    let area = Area::new(across as f32, down as f32, shown.width as f32, shown.height as f32);
    canvas.shadow(area, 0.6 * size, SHADOW);
    canvas.place(&resized(&frame.display, shown), [across as i64, down as i64]);
    canvas.outline(area.grown(-0.5), 0.0, &Pen::new(EDGE, 1.0));
    let foot = (y + cell.height) as f32 + 0.6 * size + capital_height(size);
    let label = shortened(&frame.label, size, cell.width as f32);
    canvas.text([x as f32, foot], &label, &Lettering::new(size, FAINT));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_are_chosen_evenly_with_the_first_and_the_last() {
        let sheet = Sheet { most: 5, ..Sheet::default() };
        assert_eq!(sheet.chosen(9), [0, 2, 4, 6, 8]);
        assert_eq!(sheet.chosen(3), [0, 1, 2]);
        assert!(sheet.chosen(0).is_empty());
        assert_eq!(Sheet { most: 1, ..sheet.clone() }.chosen(9), [8]);
        for count in 5..400 {
            let chosen = sheet.chosen(count);
            assert_eq!((chosen[0], chosen[4], chosen.len()), (0, count - 1, 5));
            let steps: Vec<usize> = chosen.windows(2).map(|pair| pair[1] - pair[0]).collect();
            assert!(steps.iter().max().unwrap() - steps.iter().min().unwrap() <= 1, "{chosen:?}");
        }
    }
}
