//! The light of what is hot: Planck's law, seen by the eyes of the CIE's standard observer of 1931.
//!
//! The observer's table is that of CIE 15, every 10 nm: fits by lobes miss the deep red that embers shine in. Colour is that of the
//! law; brightness is that of all radiation, T⁴, which rises far less steeply than what is visible of it, so that embers and flames are
//! seen in one picture.

use undine_core::glam::Vec3;

/// The hottest that is told apart [K].
const HOTTEST: f32 = 5000.0;

/// How many temperatures there are in the table.
const STEPS: usize = 512;

/// Begins to glow [K].
const DARK: f32 = 800.0;

/// Has a light of 1 [K].
const BRIGHT: f32 = 1500.0;

/// Light by temperature.
pub(crate) struct Blackbody {
    light: Vec<Vec3>,
}

impl Blackbody {
    /// The table.
    pub fn new() -> Self {
        let light = (0..=STEPS).map(|n| glow(HOTTEST * n as f32 / STEPS as f32)).collect();
        Self { light }
    }

    /// The light of a temperature [K], linear.
    #[inline(always)]
    pub fn at(&self, temperature: f32) -> Vec3 {
        let at = (temperature * (STEPS as f32 / HOTTEST)).max(0.0).min(STEPS as f32 - 0.001);
        let n = at as usize;
        self.light[n].lerp(self.light[n + 1], at - n as f32)
    }
}

/// The light of a temperature [K], linear in the primaries of sRGB.
fn glow(temperature: f32) -> Vec3 {
    if temperature <= DARK {
        return Vec3::ZERO;
    }
    let [x, y, z] = tristimulus(f64::from(temperature)).map(|part| part as f32);
    let xyz = Vec3::new(x, y, z) / y;
    let colour = Vec3::new(
        xyz.dot(Vec3::new(3.240_97, -1.537_383, -0.498_611)),
        xyz.dot(Vec3::new(-0.969_244, 1.875_968, 0.041_555)),
        xyz.dot(Vec3::new(0.055_63, -0.203_977, 1.056_972)),
    );
    // What sRGB cannot show is the nearest that it can.
    let colour = colour.max(Vec3::ZERO);
    let luminance = colour.dot(Vec3::new(0.2126, 0.7152, 0.0722));
    let begins = ((temperature - DARK) / 300.0).min(1.0);
    let begins = begins * begins * (3.0 - 2.0 * begins);
    colour / luminance * begins * (temperature / BRIGHT).powi(4)
}

/// X, Y and Z of a black body, up to a factor.
fn tristimulus(temperature: f64) -> [f64; 3] {
    let mut sum = [0.0; 3];
    for (n, seen) in OBSERVER.iter().enumerate() {
        let power = planck((380.0 + 10.0 * n as f64) * 1e-9, temperature);
        for (sum, part) in sum.iter_mut().zip(seen) {
            *sum += power * part;
        }
    }
    sum
}

/// How much a black body shines at a wavelength [m], up to a factor.
fn planck(wavelength: f64, temperature: f64) -> f64 {
    // h c / k [m K].
    const SECOND_RADIATION_CONSTANT: f64 = 1.438_776_877e-2;
    let power = SECOND_RADIATION_CONSTANT / (wavelength * temperature);
    // In units of 560 nm, so that nothing leaves the range of numbers.
    (wavelength / 560e-9).powi(-5) / power.exp_m1()
}

/// The colour matching functions from 380 nm, every 10 nm.
const OBSERVER: [[f64; 3]; 40] = [
    [0.0014, 0.0, 0.0065],
    [0.0042, 0.0001, 0.0201],
    [0.0143, 0.0004, 0.0679],
    [0.0435, 0.0012, 0.2074],
    [0.1344, 0.004, 0.6456],
    [0.2839, 0.0116, 1.3856],
    [0.3483, 0.023, 1.7471],
    [0.3362, 0.038, 1.7721],
    [0.2908, 0.06, 1.6692],
    [0.1954, 0.091, 1.2876],
    [0.0956, 0.139, 0.813],
    [0.032, 0.208, 0.4652],
    [0.0049, 0.323, 0.272],
    [0.0093, 0.503, 0.1582],
    [0.0633, 0.71, 0.0782],
    [0.1655, 0.862, 0.0422],
    [0.2904, 0.954, 0.0203],
    [0.4334, 0.995, 0.0087],
    [0.5945, 0.995, 0.0039],
    [0.7621, 0.952, 0.0021],
    [0.9163, 0.87, 0.0017],
    [1.0263, 0.757, 0.0011],
    [1.0622, 0.631, 0.0008],
    [1.0026, 0.503, 0.0003],
    [0.8544, 0.381, 0.0002],
    [0.6424, 0.265, 0.0],
    [0.4479, 0.175, 0.0],
    [0.2835, 0.107, 0.0],
    [0.1649, 0.061, 0.0],
    [0.0874, 0.032, 0.0],
    [0.0468, 0.017, 0.0],
    [0.0227, 0.0082, 0.0],
    [0.0114, 0.0041, 0.0],
    [0.0058, 0.0021, 0.0],
    [0.0029, 0.001, 0.0],
    [0.0014, 0.0005, 0.0],
    [0.0007, 0.0002, 0.0],
    [0.0003, 0.0001, 0.0],
    [0.0002, 0.0001, 0.0],
    [0.0001, 0.0, 0.0],
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chromaticities_are_those_of_the_planckian_locus() {
        let known = [(1000.0, 0.6528, 0.3444), (3000.0, 0.4369, 0.4041), (6504.0, 0.3135, 0.3237)];
        for (temperature, x, y) in known {
            let [a, b, c] = tristimulus(temperature);
            let sum = a + b + c;
            let found = (a / sum, b / sum);
            let off = ((found.0 - x).powi(2) + (found.1 - y).powi(2)).sqrt();
            assert!(off < 1e-3, "{temperature} K: {found:?}");
        }
    }

    #[test]
    fn embers_are_red_flames_are_yellow_and_brightness_is_bounded() {
        let table = Blackbody::new();
        assert_eq!(table.at(700.0), Vec3::ZERO);
        let ember = table.at(1000.0);
        assert!(ember.x > 4.0 * ember.y && ember.z < 0.01 * ember.x);
        let flame = table.at(2500.0);
        assert!(flame.x > flame.y && flame.y > flame.z && flame.y > 0.35 * flame.x);
        for temperature in [f32::NAN, f32::INFINITY, -5.0, 1e9] {
            assert!(table.at(temperature).is_finite());
        }
        assert!(table.at(1e9).max_element() < 300.0);
    }
}
