//! From linear light to a picture to look at: exposure, a filmic shoulder, and a fixed pattern that hides the steps of bytes.

use crate::colour::{encoded, light_of_oklab, oklab};
use crate::image::{Display, Image};
use rayon::prelude::*;
use undine_core::glam::{Vec3, Vec4Swizzles};

/// Up to here light is shown as it is, so that greys and the colours of a map stay what they are.
const KNEE: f32 = 0.7;

/// How sharply the shoulder bends.
const BEND: f32 = 1.5;

/// How soon light that is brighter than white loses its colour, as film and eyes do.
const BLEACHING: f32 = 0.12;

/// What is seen where a picture shows nothing.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Background {
    /// Nothing: the picture keeps how much of each pixel is covered.
    Transparent,
    /// A linear light, as it is shown: it is not exposed.
    Light(Vec3),
}

/// A picture to look at, of light times 2 to the power of `stops`.
pub fn exposed(image: &Image, stops: f32, background: Background) -> Display {
    let gain = stops.exp2();
    let width = image.size.width.max(1);
    let pixels = image
        .light
        .par_chunks(width)
        .enumerate()
        .flat_map_iter(|(y, row)| {
            row.iter().enumerate().map(move |(x, &light)| {
                let light = light.map(|part| if part.is_finite() { part } else { 0.0 });
                let cover = light.w.clamp(0.0, 1.0);
                let seen = light.xyz() * gain;
                let (shown, alpha) = match background {
                    Background::Light(behind) => (toned(seen) + behind * (1.0 - cover), 1.0),
                    Background::Transparent if cover > 0.0 => (toned(seen / cover), cover),
                    Background::Transparent => (Vec3::ZERO, 0.0),
                };
                bytes(shown, alpha, [x, y])
            })
        })
        .collect();
    Display { size: image.size, pixels }
}

/// The shown light (0 to 1) of exposed light: the brightest primary goes over the shoulder and takes the others along, which
/// keeps the hue; what is brighter than white fades to white along a line of constant hue in Oklab.
pub fn toned(light: Vec3) -> Vec3 {
    let light = light.max(Vec3::ZERO);
    let brightest = light.max_element();
    if brightest <= KNEE {
        return light;
    }
    let shown = shoulder(brightest);
    let scaled = light * (shown / brightest);
    if brightest <= 1.0 {
        return scaled;
    }
    let faded = 1.0 - 1.0 / (1.0 + BLEACHING * (brightest - 1.0));
    let white = Vec3::new(shown.cbrt(), 0.0, 0.0);
    light_of_oklab(oklab(scaled).lerp(white, faded)).clamp(Vec3::ZERO, Vec3::ONE)
}

/// The identity up to the knee, then with the same slope towards 1, which is reached nowhere.
fn shoulder(light: f32) -> f32 {
    if light <= KNEE {
        return light;
    }
    let room = 1.0 - KNEE;
    let t = ((light - KNEE) / room).min(1e6);
    KNEE + room * t / (1.0 + t.powf(BEND)).powf(1.0 / BEND)
}

/// Bytes of sRGB, each of the two nearest as often as it is near, by an ordered pattern (Bayer 1973). A colour that bytes have
/// stays as it is.
fn bytes(light: Vec3, alpha: f32, [x, y]: [usize; 2]) -> [u8; 4] {
    let threshold = (f32::from(bayer(x, y)) + 0.5) / 64.0;
    let byte = |light: f32| {
        let value = encoded(light) * 255.0;
        let nearest = value.round();
        // Rounding errors are not worth a pattern.
        if (value - nearest).abs() < 0.01 { nearest as u8 } else { (value + threshold) as u8 }
    };
    [byte(light.x), byte(light.y), byte(light.z), (alpha * 255.0 + 0.5) as u8]
}

/// The rank of a pixel in Bayer's pattern of 8 × 8: bits of x ⊕ y and y, interleaved and reversed.
fn bayer(x: usize, y: usize) -> u8 {
    let bit = |n: usize| (((x ^ y) >> n & 1) << 1 | (y >> n & 1)) as u8;
    bit(0) << 4 | bit(1) << 2 | bit(2)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::colour::{ink_of, linear_of};
    use crate::colour_map::ColourMap;
    use crate::image::Size;
    use undine_core::glam::Vec4;

    fn one_light(light: Vec4, size: Size) -> Image {
        Image { light: vec![light; size.pixels()], ..Image::empty(size) }
    }

    #[test]
    fn greys_up_to_the_knee_come_out_as_they_are() {
        let size = Size::new(8, 8).unwrap();
        for byte in 0..=215_u8 {
            let image = one_light(Vec3::splat(linear_of(byte)).extend(1.0), size);
            let shown = exposed(&image, 0.0, Background::Transparent);
            assert!(shown.pixels.iter().all(|&pixel| pixel == [byte, byte, byte, 255]), "{byte}");
        }
    }

    #[test]
    fn the_shoulder_rises_without_a_step_and_stays_below_white() {
        let lights: Vec<f32> = (0..1000_u16).map(|n| f32::from(n) / 100.0).collect();
        for pair in lights.windows(2) {
            let [low, high] = [pair[0], pair[1]].map(shoulder);
            assert!(high > low && high - low <= 0.010_01 && high < 1.0, "{pair:?}");
        }
        assert!(shoulder(f32::INFINITY) <= 1.0);
    }

    #[test]
    fn every_rank_of_the_pattern_is_there_once() {
        let mut ranks: Vec<u8> = (0..64).map(|n| bayer(n % 8, n / 8)).collect();
        ranks.sort_unstable();
        assert!(ranks.iter().copied().eq(0..64));
    }

    #[test]
    fn a_light_between_two_bytes_is_shown_by_both_in_its_mean() {
        let size = Size::new(64, 64).unwrap();
        let light = crate::colour::linear(100.25 / 255.0);
        let shown =
            exposed(&one_light(Vec3::splat(light).extend(1.0), size), 0.0, Background::Transparent);
        let mean = shown.pixels.iter().map(|pixel| f64::from(pixel[0])).sum::<f64>() / 4096.0;
        assert!((mean - 100.25).abs() < 0.02, "{mean}");
    }

    #[test]
    fn hues_stay_however_bright_the_light_is() {
        for light in
            [Vec3::new(1.0, 0.3, 0.05), Vec3::new(0.05, 0.2, 1.0), Vec3::new(0.1, 0.9, 0.3)]
        {
            let hue = |light: Vec3| oklab(light).z.atan2(oklab(light).y);
            for gain in [0.5, 1.0, 2.0, 4.0, 8.0] {
                let shown = toned(light * gain);
                // Cutting to what a screen shows may turn a hue by few degrees.
                let turn = (hue(shown) - hue(light)).abs().to_degrees();
                assert!(turn < 4.0, "{light} times {gain}: {turn}°");
            }
            assert!(oklab(toned(light * 1000.0)).x > 0.97);
        }
    }

    #[test]
    fn colours_of_a_map_can_be_told_after_toning() {
        for name in ColourMap::names() {
            let map = ColourMap::named(name).unwrap();
            for n in 0..=20_u8 {
                let light = map.at(f32::from(n) / 20.0);
                let apart = oklab(toned(light)).distance(oklab(light));
                assert!(apart < 0.05, "{name} at {n}: {apart}");
            }
        }
    }

    #[test]
    fn what_is_not_a_number_is_black_and_nothing_is_transparent() {
        let size = Size::new(2, 1).unwrap();
        let mut image = Image::empty(size);
        image.light[0] = Vec4::new(f32::NAN, f32::INFINITY, 0.0, 1.0);
        let shown = exposed(&image, 0.0, Background::Transparent);
        assert_eq!(shown.pixels, [[0, 0, 0, 255], [0; 4]]);
        let behind = Vec3::splat(0.5);
        let shown = exposed(&image, 3.0, Background::Light(behind));
        assert_eq!(shown.pixels[1], ink_of(behind));
    }

    #[test]
    fn one_stop_more_is_twice_the_light() {
        let size = Size::new(8, 8).unwrap();
        let lights = [0.1, 0.2].map(|light| one_light(Vec3::splat(light).extend(1.0), size));
        let [more, twice] = [
            exposed(&lights[0], 1.0, Background::Transparent),
            exposed(&lights[1], 0.0, Background::Transparent),
        ];
        assert_eq!(more, twice);
    }
}
