//! Colour maps: numbers as colours. Each is a smooth curve through few places in Oklab, walked at constant speed, so that equal
//! steps of a number are equal steps of colour (Ottosson 2020; for why that matters, Kovesi 2015, "Good colour maps").

use crate::colour::{Ink, ink_of, light_of_oklab};
use crate::error::{RenderError, Result};
use std::fmt;
use std::sync::LazyLock;
use undine_core::glam::Vec3;

/// How many colours of a map are kept; between them they are mixed.
const KEPT: usize = 512;

/// How many places of a curve its length is measured by.
const MEASURED: usize = 4096;

/// A way to show numbers as colours.
#[derive(Clone, Copy)]
pub struct ColourMap {
    shape: &'static Shape,
    light: &'static [Vec3],
}

/// What a colour map is made of.
struct Shape {
    name: &'static str,
    is_rising: bool,
    /// Places of the curve: lightness, chroma (as parts of 1) and hue [°].
    places: &'static [[f32; 3]],
}

const SHAPES: [Shape; 6] = [
    // Deep water, turquoise, foam.
    Shape {
        name: "water",
        is_rising: true,
        places: &[
            [0.25, 0.10, 263.0],
            [0.43, 0.14, 254.0],
            [0.62, 0.125, 232.0],
            [0.80, 0.11, 205.0],
            [0.92, 0.055, 196.0],
            [0.995, 0.004, 200.0],
        ],
    },
    // In the manner of the customary maps of these names.
    Shape {
        name: "viridis",
        is_rising: true,
        places: &[
            [0.28, 0.13, 318.0],
            [0.44, 0.11, 272.0],
            [0.60, 0.10, 195.0],
            [0.76, 0.17, 146.0],
            [0.92, 0.19, 104.0],
        ],
    },
    Shape {
        name: "inferno",
        is_rising: true,
        places: &[
            [0.03, 0.01, 290.0],
            [0.27, 0.14, 303.0],
            [0.46, 0.18, 358.0],
            [0.63, 0.20, 32.0],
            [0.79, 0.16, 68.0],
            [0.97, 0.09, 107.0],
        ],
    },
    Shape {
        name: "turbo",
        is_rising: false,
        places: &[
            [0.34, 0.13, 290.0],
            [0.58, 0.19, 262.0],
            [0.77, 0.14, 205.0],
            [0.87, 0.21, 146.0],
            [0.88, 0.18, 103.0],
            [0.73, 0.18, 52.0],
            [0.54, 0.20, 31.0],
            [0.36, 0.14, 27.0],
        ],
    },
    Shape { name: "grey", is_rising: true, places: &[[0.0, 0.0, 0.0], [1.0, 0.0, 0.0]] },
    // Two ways from the middle, for numbers of either sign.
    Shape {
        name: "coolwarm",
        is_rising: false,
        places: &[
            [0.45, 0.18, 263.0],
            [0.70, 0.115, 260.0],
            [0.92, 0.0, 0.0],
            [0.70, 0.125, 36.0],
            [0.45, 0.18, 24.0],
        ],
    },
];

impl ColourMap {
    /// The colour of what is not a number: a magenta that no map has.
    pub const NOT_A_NUMBER: Vec3 = Vec3::new(0.8, 0.0, 0.6);

    /// The map of a name.
    pub fn named(name: &str) -> Result<Self> {
        static LIGHT: LazyLock<Vec<Vec<Vec3>>> =
            LazyLock::new(|| SHAPES.iter().map(|shape| walked(shape.places)).collect());
        let found = SHAPES.iter().zip(LIGHT.iter()).find(|(shape, _)| shape.name == name);
        let (shape, light) = found.ok_or_else(|| RenderError::Asked {
            what: "the colour map".into(),
            found: format!("`{name}`"),
            wanted: format!("the maps are {}", Self::names().collect::<Vec<_>>().join(", ")),
        })?;
        Ok(Self { shape, light })
    }

    /// The names of all maps.
    pub fn names() -> impl Iterator<Item = &'static str> {
        SHAPES.iter().map(|shape| shape.name)
    }

    /// Its name.
    pub fn name(&self) -> &'static str {
        self.shape.name
    }

    /// Whether greater numbers are always lighter, so that it also serves without colour.
    pub fn is_rising(&self) -> bool {
        self.shape.is_rising
    }

    /// The linear light of a number: from 0, the one end, to 1, the other. Beyond, that of the end.
    pub fn at(&self, t: f32) -> Vec3 {
        if t.is_nan() {
            return Self::NOT_A_NUMBER;
        }
        let place = t.clamp(0.0, 1.0) * (KEPT - 1) as f32;
        let below = (place as usize).min(KEPT - 2);
        self.light[below].lerp(self.light[below + 1], place - below as f32)
    }

    /// The colour of a number, to draw with.
    pub fn ink(&self, t: f32) -> Ink {
        ink_of(self.at(t))
    }
}

impl Default for ColourMap {
    fn default() -> Self {
        Self::named(SHAPES[0].name).expect("the first map has its own name")
    }
}

impl fmt::Debug for ColourMap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ColourMap({})", self.name())
    }
}

impl PartialEq for ColourMap {
    fn eq(&self, other: &Self) -> bool {
        self.name() == other.name()
    }
}

impl Eq for ColourMap {}

/// Colours along a curve, equally far from each other.
fn walked(places: &[[f32; 3]]) -> Vec<Vec3> {
    let places: Vec<Vec3> = places.iter().map(|&place| within_gamut(place)).collect();
    let curve: Vec<Vec3> =
        (0..=MEASURED).map(|n| between(&places, n as f32 / MEASURED as f32)).collect();
    let mut length = 0.0;
    let lengths: Vec<f32> = std::iter::once(0.0)
        .chain(curve.windows(2).map(|pair| {
            length += pair[0].distance(pair[1]);
            length
        }))
        .collect();
    let kept = |n: usize| {
        let wanted = length * n as f32 / (KEPT - 1) as f32;
        let above = lengths.partition_point(|&length| length < wanted).clamp(1, MEASURED);
        let step = lengths[above] - lengths[above - 1];
        let share = if step > 0.0 { (wanted - lengths[above - 1]) / step } else { 0.0 };
        let lab = curve[above - 1].lerp(curve[above], share.clamp(0.0, 1.0));
        light_of_oklab(lab).clamp(Vec3::ZERO, Vec3::ONE)
    };
    (0..KEPT).map(kept).collect()
}

/// A place in Oklab by lightness, chroma and hue, with less chroma where a screen has no such colour.
fn within_gamut([lightness, chroma, hue]: [f32; 3]) -> Vec3 {
    let (sine, cosine) = hue.to_radians().sin_cos();
    let lab = |chroma: f32| Vec3::new(lightness, chroma * cosine, chroma * sine);
    let is_shown = |lab: Vec3| {
        let light = light_of_oklab(lab);
        light.min_element() >= -1e-4 && light.max_element() <= 1.0 + 1e-4
    };
    let less = (0..=100).map(|n| lab(chroma * (1.0 - n as f32 / 100.0)));
    less.clone().find(|&lab| is_shown(lab)).unwrap_or(lab(0.0))
}

/// A smooth curve through places that rises and falls only where they do: cubic, with the slopes of Fritsch & Butland (1984).
fn between(places: &[Vec3], t: f32) -> Vec3 {
    let pieces = places.len() - 1;
    let piece = ((t * pieces as f32) as usize).min(pieces - 1);
    let x = t * pieces as f32 - piece as f32;
    let step = |n: usize| places[n + 1] - places[n];
    // The harmonic mean of the steps to either side; none where they have different signs.
    let slope = |n: usize| {
        if n == 0 || n == pieces {
            return step(n.min(pieces - 1));
        }
        let (a, b) = (step(n - 1), step(n));
        let mean = 2.0 * a * b / (a + b);
        Vec3::select((a * b).cmpgt(Vec3::ZERO), mean, Vec3::ZERO)
    };
    let (p, q) = (places[piece], places[piece + 1]);
    let (u, v) = (slope(piece), slope(piece + 1));
    let (x2, x3) = (x * x, x * x * x);
    p * (2.0 * x3 - 3.0 * x2 + 1.0)
        + u * (x3 - 2.0 * x2 + x)
        + q * (3.0 * x2 - 2.0 * x3)
        + v * (x3 - x2)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::colour::oklab;
    use undine_core::glam::Vec3Swizzles;

    fn all() -> impl Iterator<Item = ColourMap> {
        ColourMap::names().map(|name| ColourMap::named(name).unwrap())
    }

    fn labs(map: ColourMap) -> Vec<Vec3> {
        (0..=200_u16).map(|n| oklab(map.at(f32::from(n) / 200.0))).collect()
    }

    #[test]
    fn equal_steps_of_a_number_are_equal_steps_of_colour() {
        for map in all() {
            let steps: Vec<f32> =
                labs(map).windows(2).map(|pair| pair[0].distance(pair[1])).collect();
            let mean = steps.iter().sum::<f32>() / steps.len() as f32;
            for (n, step) in steps.iter().enumerate() {
                // What a screen cannot show is cut off, which shortens few steps.
                assert!((0.6..1.3).contains(&(step / mean)), "{map:?} at {n}: {}", step / mean);
            }
        }
    }

    #[test]
    fn lightness_rises_where_promised() {
        for map in all().filter(ColourMap::is_rising) {
            let labs = labs(map);
            assert!(labs.windows(2).all(|pair| pair[1].x > pair[0].x), "{map:?}");
            assert!(labs[200].x - labs[0].x > 0.6, "{map:?}");
        }
        assert_eq!(all().filter(ColourMap::is_rising).count(), 4);
    }

    #[test]
    fn a_diverging_map_is_lightest_in_the_middle_and_as_dark_at_both_ends() {
        let labs = labs(ColourMap::named("coolwarm").unwrap());
        assert!(labs[..=98].windows(2).all(|pair| pair[1].x > pair[0].x));
        assert!(labs[102..].windows(2).all(|pair| pair[1].x < pair[0].x));
        assert!((labs[0].x - labs[200].x).abs() < 0.02);
        assert!(labs[100].yz().length() < 0.02, "{}", labs[100]);
    }

    #[test]
    fn a_name_that_is_not_known_is_answered_with_those_that_are() {
        let said = ColourMap::named("jet").unwrap_err().to_string();
        assert!(
            ColourMap::names().all(|name| said.contains(name)) && said.contains("jet"),
            "{said}"
        );
        assert_eq!(ColourMap::default().name(), "water");
    }

    #[test]
    fn what_is_not_a_number_has_a_colour_of_its_own() {
        for map in all() {
            assert_eq!(map.at(f32::NAN), ColourMap::NOT_A_NUMBER);
            assert_eq!(map.at(f32::INFINITY), map.at(1.0));
            assert_eq!(map.at(f32::NEG_INFINITY), map.at(0.0));
            let nearest = labs(map)
                .into_iter()
                .map(|lab| lab.distance(oklab(ColourMap::NOT_A_NUMBER)))
                .fold(f32::INFINITY, f32::min);
            assert!(nearest > 0.08, "{map:?} comes as near as {nearest}");
        }
    }
}
