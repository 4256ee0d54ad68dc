//! Colours: between bytes of sRGB and linear light (IEC 61966-2-1, exact in both pieces), and Oklab (Ottosson 2020).

use std::sync::LazyLock;
use undine_core::glam::Vec3;

/// A colour to draw with: red, green, blue of sRGB, and alpha that is not multiplied in.
pub type Ink = [u8; 4];

/// What share of white each primary of sRGB has (ITU-R BT.709).
pub const LUMINANCE: Vec3 = Vec3::new(0.2126, 0.7152, 0.0722);

/// Linear light of a value of sRGB, both 0 to 1; beyond that, mirrored at zero and continued by the same power.
pub fn linear(encoded: f32) -> f32 {
    let value = encoded.abs();
    let light = if value <= 0.04045 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) };
    light.copysign(encoded)
}

/// The value of sRGB of linear light: the inverse of [`linear`].
pub fn encoded(linear: f32) -> f32 {
    let light = linear.abs();
    let value =
        if light <= 0.003_130_8 { light * 12.92 } else { 1.055 * light.powf(1.0 / 2.4) - 0.055 };
    value.copysign(linear)
}

/// Linear light of a byte of sRGB.
pub fn linear_of(byte: u8) -> f32 {
    static TABLE: LazyLock<[f32; 256]> =
        LazyLock::new(|| std::array::from_fn(|byte| linear(byte as f32 / 255.0)));
    TABLE[usize::from(byte)]
}

/// The byte of sRGB that is nearest to linear light; 0 for what is not a number.
pub fn byte_of(linear: f32) -> u8 {
    // A cast keeps within the range of a byte, and makes zero of what is not a number.
    (encoded(linear) * 255.0 + 0.5) as u8
}

/// Linear light of a colour, without its alpha.
pub fn light_of(ink: Ink) -> Vec3 {
    Vec3::new(linear_of(ink[0]), linear_of(ink[1]), linear_of(ink[2]))
}

/// The opaque colour of linear light.
pub fn ink_of(light: Vec3) -> Ink {
    [byte_of(light.x), byte_of(light.y), byte_of(light.z), 255]
}

/// Lightness (0 black to 1 white), green to red, and blue to yellow, of linear light: equal distances look equally far.
pub fn oklab(light: Vec3) -> Vec3 {
    let cone = |r: f32, g: f32, b: f32| light.dot(Vec3::new(r, g, b)).cbrt();
    let l = cone(0.412_221_46, 0.536_332_55, 0.051_445_995);
    let m = cone(0.211_903_5, 0.680_699_5, 0.107_396_96);
    let s = cone(0.088_302_46, 0.281_718_85, 0.629_978_7);
    Vec3::new(
        0.210_454_26 * l + 0.793_617_8 * m - 0.004_072_047 * s,
        1.977_998_5 * l - 2.428_592_2 * m + 0.450_593_7 * s,
        0.025_904_037 * l + 0.782_771_77 * m - 0.808_675_77 * s,
    )
}

/// Linear light of a place in Oklab: the inverse of [`oklab`]. Not every place has a colour that a screen can show: then some
/// of the light is negative, or more than 1.
pub fn light_of_oklab(lab: Vec3) -> Vec3 {
    let cone = |a: f32, b: f32| (lab.x + a * lab.y + b * lab.z).powi(3);
    let l = cone(0.396_337_78, 0.215_803_76);
    let m = cone(-0.105_561_346, -0.063_854_17);
    let s = cone(-0.089_484_18, -1.291_485_5);
    Vec3::new(
        4.076_741_7 * l - 3.307_711_6 * m + 0.230_969_94 * s,
        -1.268_438 * l + 2.609_757_4 * m - 0.341_319_38 * s,
        -0.004_196_086_3 * l - 0.703_418_6 * m + 1.707_614_7 * s,
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_comes_back_from_linear_light() {
        for byte in 0..=255 {
            assert_eq!(byte_of(linear_of(byte)), byte);
        }
        assert_eq!([f32::NAN, -1.0, 2.0, f32::INFINITY].map(byte_of), [0, 0, 255, 255]);
    }

    #[test]
    fn the_two_pieces_of_srgb_meet() {
        // IEC 61966-2-1 rounds its constants such that the pieces meet within 1e-6.
        assert!((linear(0.04045) - linear(0.040_450_1)).abs() < 1e-6);
        assert!((linear(0.5) - 0.214_041_14).abs() < 1e-6);
    }

    #[test]
    fn oklab_of_known_colours_is_as_published() {
        // The primaries as given with the definition: white (1, 0, 0), red (0.628, 0.225, 0.126), blue (0.452, −0.032, −0.312).
        let near = |light: Vec3, lab: Vec3| (oklab(light) - lab).abs().max_element() < 1e-3;
        assert!(near(Vec3::ONE, Vec3::X));
        assert!(near(Vec3::X, Vec3::new(0.628, 0.225, 0.126)));
        assert!(near(Vec3::Z, Vec3::new(0.452, -0.032, -0.312)));
    }

    #[test]
    fn oklab_and_back_is_the_same_light() {
        for n in 0..512_u16 {
            let light = Vec3::new((n % 8).into(), (n / 8 % 8).into(), (n / 64).into()) / 7.0;
            assert!((light_of_oklab(oklab(light)) - light).abs().max_element() < 2e-5, "{light}");
        }
    }
}
