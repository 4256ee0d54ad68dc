//! How different two pictures look: the distance of their colours in Oklab (Ottosson 2020), after a small blur, as an eye has
//! at a distance: noise that moves by a pixel does not count, a moved edge does.

use crate::canvas::{Canvas, Lettering, capital_height};
use crate::colour::{light_of, oklab};
use crate::colour_map::ColourMap;
use crate::error::{RenderError, Result};
use crate::image::{Display, Image, Size};
use crate::legend::{ColourBar, Legend};
use crate::tone::{Background, exposed};
use rayon::prelude::*;
use undine_core::glam::Vec3;

/// Weights of the blur: about a Gaussian of one pixel, by binomials.
const BLUR: [f32; 5] = [1.0 / 16.0, 4.0 / 16.0, 6.0 / 16.0, 4.0 / 16.0, 1.0 / 16.0];

/// Below this nobody sees that two colours are not the same.
pub const VISIBLE: f32 = 0.02;

/// What differences are measured against where a picture is transparent: a middle grey.
const BEHIND: Vec3 = Vec3::splat(0.18);

/// How different two pictures are. Black and white differ by 1.
#[derive(Debug, Clone, PartialEq)]
pub struct Difference {
    /// How many pixels both have.
    pub size: Size,
    /// Of all pixels, the mean.
    pub mean: f32,
    /// Only one pixel in twenty differs by more.
    pub most: f32,
    /// The greatest,
    pub greatest: f32,
    /// and where that is: pixels from the left and from the top.
    pub at: [usize; 2],
    /// What share of the pixels differs visibly.
    pub visible: f32,
    /// The difference of each pixel, rows from the top down.
    pub map: Vec<f32>,
}

impl Difference {
    /// How different two pictures to look at are.
    pub fn of(a: &Display, b: &Display) -> Result<Self> {
        let (one, other) = (a.size, b.size);
        if one != other || !a.is_whole() || !b.is_whole() {
            return Err(RenderError::Asked {
                what: "the second of two pictures to compare".into(),
                found: format!("{}x{} pixels", other.width, other.height),
                wanted: format!("the first is {}x{}", one.width, one.height),
            });
        }
        let [a, b] = [a, b].map(blurred);
        let map: Vec<f32> = a.par_iter().zip(&b).map(|(a, b)| a.distance(*b)).collect();
        let mut sorted = map.clone();
        sorted.par_sort_unstable_by(f32::total_cmp);
        // Rows first and then their sums, so that few rounding errors gather.
        let sum: f64 = map
            .chunks(one.width)
            .map(|row| row.iter().map(|&difference| f64::from(difference)).sum::<f64>())
            .sum();
        let greatest = sorted.last().copied().unwrap_or(0.0);
        let place = map.iter().position(|&difference| difference == greatest).unwrap_or(0);
        let count = map.len().max(1);
        let visible = count - sorted.partition_point(|&difference| difference <= VISIBLE);
        Ok(Self {
            size: one,
            mean: (sum / count as f64) as f32,
            most: sorted.get(count * 19 / 20).copied().unwrap_or(greatest),
            greatest,
            at: [place % one.width, place / one.width],
            visible: visible as f32 / count as f32,
            map,
        })
    }

    /// How different two pictures in linear light are, as they are shown with the same exposure.
    pub fn of_images(a: &Image, b: &Image, stops: f32) -> Result<Self> {
        let [a, b] = [a, b].map(|image| exposed(image, stops, Background::Light(BEHIND)));
        Self::of(&a, &b)
    }

    /// A picture of where they differ: dark where not at all, bright where by `full` or more.
    pub fn view(&self, full: f32) -> Result<Display> {
        let heat = ColourMap::named("inferno")?;
        let full = if full > 0.0 { full } else { self.greatest.max(VISIBLE) };
        let pixels = self.map.par_iter().map(|difference| heat.ink(difference / full)).collect();
        let colours = ColourBar {
            map: heat,
            low: 0.0,
            high: full.into(),
            name: "difference".into(),
            unit: "ΔE Oklab".into(),
        };
        let title = Some(format!("mean {:.4}", self.mean));
        let moment =
            Some(format!("greatest {:.3} at {}, {}", self.greatest, self.at[0], self.at[1]));
        let legend = Legend { title, moment, colours: Some(colours), metres_per_pixel: None };
        legend.on(&Display { size: self.size, pixels })
    }
}

impl std::fmt::Display for Difference {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { mean, most, greatest, at: [x, y], visible, .. } = self;
        let share = 100.0 * visible;
        write!(
            f,
            "mean {mean:.4}, 95 % below {most:.4}, greatest {greatest:.4} at ({x}, {y}), {share:.1} % visible"
        )
    }
}

/// Two pictures and where they differ beside each other, with a name over each.
pub fn side_by_side(a: (&str, &Display), b: (&str, &Display), full: f32) -> Result<Display> {
    let difference = Difference::of(a.1, b.1)?;
    let view = difference.view(full)?;
    let Size { width, height } = a.1.size;
    let text = (8.0 + height.min(width) as f32 / 90.0).clamp(9.0, 48.0).round();
    let (gap, head) = (text as usize, (2.2 * text) as usize);
    let size = Size::new(3 * width + 4 * gap, head + height + gap)?;
    let mut canvas = Canvas::new(size, [24, 25, 28, 255])?;
    let panels = [(a.0, a.1), (b.0, b.1), ("difference", &view)];
    for (n, (name, display)) in panels.into_iter().enumerate() {
        let x = gap + n * (width + gap);
        let foot = 0.5 * (head as f32 + capital_height(text));
        let name = crate::canvas::shortened(name, text, width as f32);
        canvas.text([x as f32, foot], &name, &Lettering::new(text, [236, 238, 240, 255]));
        canvas.place(display, [x as i64, head as i64]);
    }
    Ok(canvas.finished())
}

/// Blurred light of a picture, in Oklab.
fn blurred(display: &Display) -> Vec<Vec3> {
    let Size { width, height } = display.size;
    let light: Vec<Vec3> = display
        .pixels
        .par_iter()
        .map(|&ink| BEHIND.lerp(light_of(ink), f32::from(ink[3]) / 255.0))
        .collect();
    // Outside, the last pixel goes on.
    let inside =
        |place: usize, tap: usize, end: usize| (place + tap).saturating_sub(2).min(end - 1);
    let across: Vec<Vec3> = light
        .par_chunks(width)
        .flat_map_iter(|row| {
            (0..width).map(move |x| (0..5).map(|tap| row[inside(x, tap, width)] * BLUR[tap]).sum())
        })
        .collect();
    (0..height)
        .into_par_iter()
        .flat_map_iter(|y| {
            let across = &across;
            (0..width).map(move |x| {
                let row = |tap: usize| across[inside(y, tap, height) * width + x];
                oklab((0..5).map(|tap| row(tap) * BLUR[tap]).sum())
            })
        })
        .collect()
}
