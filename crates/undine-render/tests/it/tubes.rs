//! Curves as tubes: how thick, how far, and how they are lit.

use crate::stage::{at, from_above, picture, same_on_any_threads};
use undine_core::glam::{DVec3, Vec3};
use undine_core::mesh::Strands;
use undine_render::shot::{Colouring, Curves, Light, Places, Radii, Subject};

fn tube<'a>(points: &'a [DVec3], strands: &'a Strands, radius: f32) -> Subject<'a> {
    Subject::Curves(Curves {
        positions: Places::World(points),
        strands,
        radii: Radii::Same(radius),
        velocities: None,
        values: None,
        colouring: Colouring::Plain(Vec3::splat(0.5)),
        hair: false,
    })
}

fn one(points: &[DVec3]) -> Strands {
    Strands::open(vec![0, points.len() as u32]).unwrap()
}

const ALONG_X: [DVec3; 3] = [DVec3::new(-9.0, 0.0, 0.0), DVec3::ZERO, DVec3::new(9.0, 0.0, 0.0)];

#[test]
fn a_tube_is_as_thick_as_twice_its_radius_and_a_radius_nearer_in_the_middle() {
    let strands = one(&ALONG_X);
    let image = picture(&from_above(vec![tube(&ALONG_X, &strands, 0.25)], 1.0), 101, 16);
    let column: f32 = (0..101).map(|y| image.light[y * 101 + 30].w).sum();
    assert!((column - 0.5 * 50.5).abs() < 0.5, "{column} pixels");
    assert!((image.depth[50 * 101 + 30] - 49.75).abs() < 1e-3);
}

/// A tenth of a pixel thick: it covers a tenth of the pixels along it.
#[test]
fn a_tube_thinner_than_a_pixel_covers_what_it_is_thick() {
    let points: Vec<_> = (0..40)
        .flat_map(|n| [-1.0, 1.0].map(|x| DVec3::new(x, 0.0, 0.045 * f64::from(n) - 0.9)))
        .collect();
    let strands = Strands::open((0..=40).map(|n| 2 * n).collect()).unwrap();
    for part in [0.1f32, 0.5, 1.5] {
        // 100 pixels are a metre.
        let image = picture(&from_above(vec![tube(&points, &strands, 0.005 * part)], 1.0), 200, 32);
        let column: f32 = (0..200).map(|y| image.light[y * 200 + 90].w).sum();
        let wanted = 40.0 * part;
        assert!((column - wanted).abs() < 0.08 * wanted + 0.5, "{column} of {wanted} pixels");
    }
}

/// A tube along x has the normals of a circle: light is as their cosine to a sun straight above.
#[test]
fn a_tube_is_lit_as_a_cylinder() {
    let strands = one(&ALONG_X);
    let mut shot = from_above(vec![tube(&ALONG_X, &strands, 0.8)], 1.0);
    shot.light = Light {
        sun: Vec3::Y,
        sun_radius: 0.0,
        sun_colour: Vec3::splat(std::f32::consts::PI),
        sky: 0.0,
        ..Light::default()
    };
    let image = picture(&shot, 201, 1);
    for aside in [0.3f32, 0.5, 0.7] {
        let y = (100.5 + 100.5 * 0.8 * aside) as usize;
        let found = at(&image, 40, y).x;
        let wanted = 0.5 * (1.0 - aside * aside).sqrt();
        assert!((found - wanted).abs() < 0.05, "{found} against {wanted}");
    }
}

#[test]
fn bad_curves_make_a_picture() {
    let points = [DVec3::ZERO, DVec3::NAN, DVec3::X, DVec3::X, DVec3::Y * 100.0, DVec3::INFINITY];
    for offsets in [vec![], vec![0, 0, 1, 6], vec![0, 6], vec![0, 3, 900]] {
        let strands = Strands::open(offsets).unwrap();
        for radius in [0.0, 0.1, 1e20] {
            let image = picture(&from_above(vec![tube(&points, &strands, radius)], 1.0), 30, 2);
            assert!(image.light.iter().all(|light| light.is_finite()));
        }
    }
}

#[test]
fn a_closed_curve_has_no_gap() {
    let points: Vec<_> = (0..12)
        .map(|n| {
            let angle = f64::from(n) * std::f64::consts::TAU / 12.0;
            DVec3::new(0.8 * angle.cos(), 0.0, 0.8 * angle.sin())
        })
        .collect();
    let strands = Strands::new(vec![0, 12], vec![true]).unwrap();
    let image = picture(&from_above(vec![tube(&points, &strands, 0.08)], 1.0), 200, 1);
    for degrees in 0..360 {
        let (sin, cos) = f64::from(degrees).to_radians().sin_cos();
        let (x, y) = ((100.0 + 78.0 * cos) as usize, (100.0 + 78.0 * sin) as usize);
        assert_eq!(image.light[y * 200 + x].w, 1.0, "{degrees}°");
    }
}

#[test]
fn curves_are_the_same_on_any_number_of_threads() {
    let points: Vec<_> = (0..3000)
        .map(|n| {
            let f = f64::from(n);
            DVec3::new((f * 0.07).sin(), 0.1 * (f * 0.3).sin(), (f * 0.013).cos())
        })
        .collect();
    let strands = Strands::open((0..=300).map(|n| 10 * n).collect()).unwrap();
    same_on_any_threads(&from_above(vec![tube(&points, &strands, 0.004)], 1.2));
}
