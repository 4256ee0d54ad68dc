//! Lines: as wide as asked for, at any distance, hidden by what is nearer.

use crate::stage::{at, from_above, picture, same_on_any_threads, spheres};
use undine_core::glam::{DVec3, Vec3};
use undine_core::mesh::Bounds;
use undine_render::overlay::{self, BucketBox, BucketColour};
use undine_render::shot::{Lines, Subject};

const RED: Vec3 = Vec3::X;

fn line(ends: [DVec3; 2], width: f32) -> Subject<'static> {
    Subject::Lines(Lines { ends: vec![ends], colours: vec![RED], width })
}

#[test]
fn a_line_is_as_many_pixels_wide_as_asked_for_however_far_away() {
    for (width, high) in [(1.0f32, 0.0), (3.0, 0.0), (3.0, -40.0), (6.5, 20.0)] {
        let ends = [DVec3::new(-90.0, high, 0.1), DVec3::new(90.0, high, 0.1)];
        let image = picture(&from_above(vec![line(ends, width)], 1.0), 101, 32);
        let column: f32 = (0..101).map(|y| image.light[y * 101 + 50].w).sum();
        assert!((column - width).abs() < 0.25, "{column} pixels of {width}");
    }
}

#[test]
fn a_line_has_its_own_colour_and_is_hidden_by_what_is_nearer() {
    let middle = [DVec3::ZERO];
    let through = [DVec3::X * -2.0, DVec3::X * 2.0];
    let shot = from_above(vec![line(through, 3.0), spheres(&middle, 0.3)], 1.0);
    let image = picture(&shot, 101, 4);
    assert!((at(&image, 5, 50) - RED).abs().max_element() < 1e-5);
    assert!((at(&image, 50, 50) - RED).abs().max_element() > 0.2);
}

#[test]
fn a_bucket_is_twelve_edges_coloured_by_level_or_by_process() {
    let bounds = Bounds { min: DVec3::ZERO, max: DVec3::ONE };
    let boxes = [(0, 1), (1, 1)].map(|(level, process)| BucketBox { bounds, level, process });
    let by_level = overlay::buckets(&boxes, BucketColour::Level, 1.0);
    assert_eq!((by_level.ends.len(), by_level.colours.len()), (24, 24));
    assert!(by_level.ends.iter().all(|[a, b]| a.distance(*b) == 1.0));
    assert_ne!(by_level.colours[0], by_level.colours[12]);
    let by_process = overlay::buckets(&boxes, BucketColour::Process, 1.0);
    assert_eq!(by_process.colours[0], by_process.colours[12]);
}

#[test]
fn lines_through_the_camera_or_from_nowhere_make_a_picture() {
    let ends = vec![
        [DVec3::Y * 100.0, DVec3::new(0.3, -1.0, 0.0)],
        [DVec3::NAN, DVec3::ZERO],
        [DVec3::INFINITY, DVec3::ZERO],
        [DVec3::ZERO, DVec3::ZERO],
        [DVec3::X * 1e300, DVec3::ZERO],
    ];
    for width in [f32::NAN, 0.0, -1.0, f32::INFINITY, 2.0] {
        let lines = Lines { ends: ends.clone(), colours: Vec::new(), width };
        let image = picture(&from_above(vec![Subject::Lines(lines)], 1.0), 30, 2);
        assert!(image.light.iter().all(|light| light.is_finite()), "{width}");
    }
}

#[test]
fn lines_are_the_same_on_any_number_of_threads() {
    let ends: Vec<_> = (0..400)
        .map(|n| {
            let at = |f: f64| DVec3::new((f * 0.7).sin(), 0.1 * (f * 0.3).sin(), (f * 1.3).cos());
            [at(f64::from(n)), at(f64::from(n) + 2.0)]
        })
        .collect();
    let colours = (0..400).map(|n| Vec3::splat(n as f32 / 400.0)).collect();
    let lines = Lines { ends, colours, width: 2.0 };
    same_on_any_threads(&from_above(vec![Subject::Lines(lines)], 1.2));
}
