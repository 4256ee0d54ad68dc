//! Sun, sky and shadows, against what geometry says.

use crate::stage::{at, floor, from_above, picture, same_on_any_threads, spheres};
use std::f32::consts::PI;
use undine_core::glam::{DVec3, Vec3};
use undine_render::shot::Light;

/// A sky of one radiance all over, and a sun without width.
fn even(sky: f32, sun_colour: f32) -> Light {
    Light {
        sun: Vec3::new(0.6, 0.8, 0.0),
        sun_radius: 0.0,
        sun_colour: Vec3::splat(sun_colour),
        sky: 1.0,
        horizon: Vec3::splat(sky),
        zenith: Vec3::splat(sky),
        up: Vec3::Y,
    }
}

/// A matte plane under a sky of radiance L has the radiance albedo × L: here against the same ground under sun alone, which has
/// albedo × E cos θ / π.
#[test]
fn the_ground_gives_back_its_share_of_an_even_sky() {
    let ground = |light: Light| {
        let mut shot = from_above(Vec::new(), 0.2);
        (shot.light, shot.grounds) = (light, vec![floor()]);
        at(&picture(&shot, 64, 8), 37, 21).x
    };
    let (sky, sun) = (ground(even(0.7, 0.0)), ground(even(0.0, PI)));
    let glow = ground(Light { sky: 0.0, ..even(0.0, PI) });
    // The air around the sun gives a little; without it only the sun is left.
    assert!(sun > glow);
    let albedo = glow / 0.8;
    assert!((0.3..0.6).contains(&albedo), "{albedo}");
    assert!((sky / 0.7 - albedo).abs() < 0.01 * albedo, "{sky} against {albedo}");
}

/// Lambert's law: light is as the cosine between normal and sun, as far as a little gloss lets it be.
#[test]
fn a_sphere_is_lit_by_the_cosine_of_its_normal_to_the_sun() {
    let middle = [DVec3::ZERO];
    let mut shot = from_above(vec![spheres(&middle, 1.0)], 1.2);
    shot.light = Light { sky: 0.0, ..even(0.0, PI) };
    let image = picture(&shot, 240, 1);
    let brightest = at(&image, 180, 120).x;
    // At a point seen x beside the middle, the normal is (x, √(1 − x²)).
    // Away from where the gloss mirrors the sun, which is at 0.32.
    for x in [-0.8f32, -0.6, -0.4, -0.2] {
        let cos = 0.6 * x + 0.8 * (1.0 - x * x).sqrt();
        let pixel = (120.0 + x * 100.0) as usize;
        let found = at(&image, pixel, 120).x;
        assert!((found - 0.5 * cos).abs() < 0.06, "{found} against {} at {x}", 0.5 * cos);
    }
    let dark = at(&image, 120 - 95, 120).x;
    assert!(dark < 0.1 * brightest, "{dark} of {brightest}");
}

/// A sphere of radius r at the height h shades an ellipse around h tan θ on the side away from the sun.
#[test]
fn a_sphere_throws_its_shadow_where_the_sun_says() {
    let middle = [DVec3::new(0.0, 2.0, 0.0)];
    let mut shot = from_above(vec![spheres(&middle, 0.3)], 3.0);
    (shot.light, shot.grounds) = (Light { sky: 0.0, ..even(0.0, PI) }, vec![floor()]);
    let image = picture(&shot, 300, 4);
    // Against the bare ground, whose grid is not of one colour.
    shot.subjects.clear();
    let bare = picture(&shot, 300, 4);
    // 50 pixels are a metre. The middle of the shadow is at x = −2 · 0.6 / 0.8 = −1.5 m.
    let light = |x: f32, z: f32| {
        let (x, y) = ((150.0 + 50.0 * x) as usize, (150.0 + 50.0 * z) as usize);
        at(&image, x, y).x / at(&bare, x, y).x
    };
    assert!(light(-1.5, 0.0) < 0.02);
    // Half as wide as the sphere across, and 1 / cos θ of that along.
    for (x, z) in [(-1.5, 0.24), (-1.5, -0.24), (-1.5 - 0.31, 0.0), (-1.5 + 0.31, 0.0)] {
        assert!(light(x, z) < 0.1, "no shadow at {x}, {z}");
    }
    for (x, z) in [(-1.5, 0.36), (-1.5, -0.36), (-1.5 - 0.44, 0.0), (-1.5 + 0.44, 0.0)] {
        // A part of the ground has faded into the horizon, which is black here.
        assert!(light(x, z) > 0.6, "shadow at {x}, {z}: {}", light(x, z));
    }
}

#[test]
fn nothing_shades_itself_and_shadows_begin_where_things_stand() {
    let middle = [DVec3::Y * 0.5];
    let mut shot = from_above(vec![spheres(&middle, 0.5)], 1.5);
    (shot.light, shot.grounds) = (Light { sky: 0.0, ..even(0.0, PI) }, vec![floor()]);
    let image = picture(&shot, 300, 1);
    let albedo_light = |x: usize| at(&image, x, 150).x;
    // The lit side of the sphere has no speck of shadow: light changes slowly from pixel to pixel.
    for x in 115..190 {
        let (a, b) = (albedo_light(x), albedo_light(x + 1));
        assert!((a - b).abs() < 0.02 * a.max(b) + 0.03, "{a} beside {b} at {x}");
    }
    // Right of the sphere there is light up to its edge; left of it there is shadow at once.
    let lit = albedo_light(280);
    assert!(albedo_light(203) > 0.7 * lit, "{} of {lit}", albedo_light(203));
    assert!(albedo_light(97) < 0.1 * lit);
}

/// How much pixels differ from those beside them, in the soft shadow that a sphere has from the sky.
fn noise(passes: usize) -> f32 {
    let middle = [DVec3::new(0.0, 0.6, 0.0)];
    let mut shot = from_above(vec![spheres(&middle, 0.5)], 1.5);
    (shot.light, shot.grounds) = (even(1.0, 0.0), vec![floor()]);
    let shaded = picture(&shot, 300, passes);
    // Against the bare ground, whose grid is not of one colour.
    shot.subjects.clear();
    let bare = picture(&shot, 300, passes);
    let light = |x: usize, y: usize| at(&shaded, x, y).x / at(&bare, x, y).x;
    let ring = (0..300 * 300).map(|n| (n % 300, n / 300)).filter(|&(x, y)| {
        let away = (x as f32 - 150.0).hypot(y as f32 - 150.0) / 100.0;
        (0.56..0.9).contains(&away)
    });
    let differences = ring.map(|(x, y)| {
        let around = light(x - 1, y) + light(x + 1, y) + light(x, y - 1) + light(x, y + 1);
        (light(x, y) - 0.25 * around).powi(2)
    });
    let (sum, count) = differences.fold((0.0, 0), |(sum, count), one| (sum + one, count + 1));
    (sum / count as f32).sqrt()
}

#[test]
fn more_passes_have_less_noise_in_their_shadows() {
    let noises = [3, 5, 6, 8, 12].map(noise);
    println!("noise of 3, 5, 6, 8 and 12 passes: {noises:?}");
    assert!(noises.windows(2).all(|pair| pair[1] < pair[0]), "{noises:?}");
}

#[test]
fn a_sun_below_the_ground_lights_nothing() {
    let middle = [DVec3::Y];
    let mut shot = from_above(vec![spheres(&middle, 0.3)], 1.0);
    shot.light = Light { sun: Vec3::new(0.6, -0.8, 0.0), sky: 0.0, ..even(0.0, PI) };
    shot.grounds = vec![floor()];
    let image = picture(&shot, 50, 4);
    assert!(image.light.iter().all(|light| light.truncate().max_element() < 1e-6));
}

#[test]
fn a_light_of_no_numbers_makes_a_picture() {
    let middle = [DVec3::ZERO];
    let mut shot = from_above(vec![spheres(&middle, 0.3)], 1.0);
    shot.grounds = vec![floor()];
    let nan = Vec3::NAN;
    shot.light = Light {
        sun: nan,
        sun_radius: f32::NAN,
        sun_colour: nan,
        sky: f32::INFINITY,
        horizon: nan,
        zenith: nan,
        up: Vec3::ZERO,
    };
    let image = picture(&shot, 50, 2);
    assert!(image.light.iter().all(|light| light.is_finite()));
}

#[test]
fn light_and_shadow_are_the_same_on_any_number_of_threads() {
    let places: Vec<_> = (0..300)
        .map(|n| DVec3::new((f64::from(n) * 0.7).sin(), 0.1, (f64::from(n) * 1.3).cos()))
        .collect();
    let mut shot = from_above(vec![spheres(&places, 0.1)], 1.3);
    shot.grounds = vec![floor()];
    same_on_any_threads(&shot);
}
