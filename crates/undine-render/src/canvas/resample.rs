//! Pictures made smaller or larger, in linear light, by the separable filter of Mitchell & Netravali (1988), B = C = 1/3, which
//! is as sharp as can be without rings around edges.

use crate::colour::{byte_of, linear_of};
use crate::image::{Display, Size};
use rayon::prelude::*;
use undine_core::glam::Vec4;

/// How far the filter reaches, in pixels of the coarser picture.
const REACH: f32 = 2.0;

/// A picture with another number of pixels.
pub fn resized(display: &Display, size: Size) -> Display {
    if display.size == size || !display.is_whole() {
        return display.clone();
    }
    let Size { width, height } = display.size;
    let across = taps(width, size.width);
    let down = taps(height, size.height);
    // Rows first: each row of the picture becomes one of the new width.
    let narrowed: Vec<Vec4> = display
        .pixels
        .par_chunks(width)
        .flat_map_iter(|row| {
            let light: Vec<Vec4> = row.iter().copied().map(light).collect();
            across.iter().map(move |tap| tap.sum(|n| light[n]))
        })
        .collect();
    let pixels = down
        .par_iter()
        .flat_map_iter(|tap| {
            let narrowed = &narrowed;
            (0..size.width).map(move |x| ink(tap.sum(|y| narrowed[y * size.width + x])))
        })
        .collect();
    Display { size, pixels }
}

/// Light with alpha multiplied in, so that pixels that cannot be seen do not stain their neighbours.
fn light([r, g, b, a]: [u8; 4]) -> Vec4 {
    let alpha = f32::from(a) / 255.0;
    Vec4::new(linear_of(r), linear_of(g), linear_of(b), 1.0) * alpha
}

fn ink(light: Vec4) -> [u8; 4] {
    let alpha = light.w.clamp(0.0, 1.0);
    let byte = |light: f32| if alpha > 0.0 { byte_of(light / alpha) } else { 0 };
    [byte(light.x), byte(light.y), byte(light.z), (alpha * 255.0 + 0.5) as u8]
}

/// What one pixel of a row is made of: the first one there, and the weights from there on.
struct Tap {
    first: usize,
    weights: Vec<f32>,
}

impl Tap {
    fn sum(&self, value: impl Fn(usize) -> Vec4) -> Vec4 {
        let weighted = |(n, &weight): (usize, &f32)| value(self.first + n) * weight;
        self.weights.iter().enumerate().map(weighted).sum()
    }
}

/// For each of `to` pixels, which of `from` it is made of. Those at the border count for all that are outside.
fn taps(from: usize, to: usize) -> Vec<Tap> {
    let ratio = from as f32 / to as f32;
    let scale = ratio.max(1.0);
    let tap = |n: usize| {
        let centre = (n as f32 + 0.5) * ratio - 0.5;
        let low = (centre - REACH * scale).ceil() as i64;
        let high = (centre + REACH * scale).floor() as i64;
        let inside = |m: i64| m.clamp(0, from as i64 - 1) as usize;
        let first = inside(low);
        let mut weights = vec![0.0; inside(high) - first + 1];
        for m in low..=high {
            weights[inside(m) - first] += mitchell((m as f32 - centre) / scale);
        }
        let sum: f32 = weights.iter().sum();
        weights.iter_mut().for_each(|weight| *weight /= sum);
        Tap { first, weights }
    };
    (0..to).map(tap).collect()
}

/// The filter of Mitchell & Netravali, equation 8 with B = C = 1/3.
fn mitchell(x: f32) -> f32 {
    let x = x.abs();
    if x < 1.0 {
        (7.0 * x * x * x - 12.0 * x * x + 16.0 / 3.0) / 6.0
    } else if x < REACH {
        (-7.0 / 3.0 * x * x * x + 12.0 * x * x - 20.0 * x + 32.0 / 3.0) / 6.0
    } else {
        0.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn size(width: usize, height: usize) -> Size {
        Size::new(width, height).unwrap()
    }

    #[test]
    fn weights_sum_to_one_and_are_symmetric() {
        for (from, to) in [(100, 7), (7, 100), (1, 5), (5, 1), (640, 213)] {
            let taps = taps(from, to);
            for (tap, mirrored) in taps.iter().zip(taps.iter().rev()) {
                assert!((tap.weights.iter().sum::<f32>() - 1.0).abs() < 1e-5);
                let back = mirrored.weights.iter().rev();
                assert!(tap.weights.iter().zip(back).all(|(a, b)| (a - b).abs() < 1e-4));
            }
        }
    }

    #[test]
    fn a_fine_checkerboard_becomes_the_grey_of_half_the_light() {
        let board =
            |n: usize| if (n % 64 + n / 64).is_multiple_of(2) { [255; 4] } else { [0, 0, 0, 255] };
        let display = Display { size: size(64, 64), pixels: (0..64 * 64).map(board).collect() };
        let small = resized(&display, size(8, 8));
        // Half the light of white is 188 in sRGB; a mean of bytes would be 128.
        for pixel in &small.pixels {
            assert!(pixel[0].abs_diff(188) <= 2, "{pixel:?}");
        }
    }

    #[test]
    fn what_cannot_be_seen_does_not_stain() {
        let pixels =
            (0..32 * 32).map(|n| if n % 32 < 16 { [255, 0, 0, 255] } else { [0, 255, 0, 0] });
        let display = Display { size: size(32, 32), pixels: pixels.collect() };
        let small = resized(&display, size(5, 5));
        assert!(small.pixels.iter().all(|pixel| pixel[1] == 0), "{:?}", small.pixels);
    }

    #[test]
    fn one_colour_stays_as_it_is() {
        let display = Display { size: size(13, 9), pixels: vec![[10, 77, 200, 255]; 13 * 9] };
        for to in [size(3, 5), size(40, 40), size(1, 1)] {
            assert!(resized(&display, to).pixels.iter().all(|&pixel| pixel == [10, 77, 200, 255]));
        }
    }
}
