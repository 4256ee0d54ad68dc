//! The broad phase against all pairs.

use super::cases::Dice;
use undine_core::glam::DVec3;
use undine_core::mesh::Bounds;
use undine_core::{CoreError, Frame, MemoryBudget};
use undine_geometry::GeometryError;
use undine_geometry::ccd::broad::{
    edge_edge_between, edge_edge_candidates, overlapping, overlapping_self,
    point_triangle_candidates, swept_boxes, swept_sphere_boxes,
};
use undine_geometry::ccd::{Gap, MovingVertices, mix, sphere_sphere};

fn overlap(a: &Bounds, b: &Bounds) -> bool {
    a.min.cmple(b.max).all() && b.min.cmple(a.max).all()
}

/// Boxes of sizes from `least` to `most`, evenly over orders of magnitude, in a cube of 2 m; some of them on a grid, so
/// that they touch exactly, some of them without extent.
fn boxes(seed: u64, count: u64, [least, most]: [f64; 2]) -> Vec<Bounds> {
    let make = |n| {
        let mut dice = Dice::new(seed, n);
        let size = least * (most / least).powf(dice.unit());
        match n % 4 {
            0 => {
                let min = dice.whole(4) * 0.25;
                Bounds { min, max: min + (dice.whole(1) + 1.0) * 0.25 }
            }
            1 => {
                let min = dice.vector();
                Bounds { min, max: min }
            }
            _ => {
                let min = dice.vector();
                Bounds { min, max: min + size * (dice.vector() * 0.5 + 0.5) }
            }
        }
    };
    (0..count).map(make).collect()
}

#[test]
fn each_overlapping_pair_is_found_exactly_once() {
    let budget = MemoryBudget::unlimited();
    for (voxel, sizes) in
        [(0.01, [0.01, 0.2]), (0.0001, [0.001, 1.5]), (0.2, [1e-5, 0.5]), (30.0, [0.01, 0.1])]
    {
        for origin in [DVec3::ZERO, DVec3::new(0.37, -5.0, 11.3)] {
            let frame = Frame::new(origin, voxel).unwrap();
            let (first, second) = (boxes(1, 700, sizes), boxes(2, 900, [sizes[0] * 0.1, sizes[1]]));
            let all = |a: &[Bounds], b: &[Bounds], keep: fn(usize, usize) -> bool| {
                let mut pairs = Vec::new();
                for (i, one) in a.iter().enumerate() {
                    let others = b.iter().enumerate().filter(|&(_, other)| overlap(one, other));
                    pairs.extend(
                        others.filter(|&(j, _)| keep(i, j)).map(|(j, _)| [i as u32, j as u32]),
                    );
                }
                pairs
            };
            let mut found =
                overlapping(frame, &first, &second, &budget, |a, b| Some([a, b])).unwrap();
            found.sort_unstable();
            assert_eq!(found, all(&first, &second, |_, _| true));
            let mut found = overlapping_self(frame, &first, &budget, |a, b| Some([a, b])).unwrap();
            found.sort_unstable();
            assert_eq!(found, all(&first, &first, |a, b| a < b));
            assert!(found.len() > 300, "{}", found.len());
        }
    }
}

#[test]
fn candidates_of_meshes_are_those_of_all_pairs_without_common_vertices() {
    let (gap, budget) = (Gap::new(2e-3, 1e-6).unwrap(), MemoryBudget::unlimited());
    let far = DVec3::new(1e4, 2e4, -1e4);
    let sheets = mix::passing_sheets(9, far, 5);
    let motion = sheets.motion().unwrap();
    let frame = Frame::new(far, 0.004).unwrap();
    let points: Vec<u32> = (0..sheets.start.len() as u32).collect();
    let singles: Vec<[u32; 1]> = points.iter().map(|&p| [p]).collect();
    let point_boxes = swept_boxes(motion, &singles, gap).unwrap();
    let triangle_boxes = swept_boxes(motion, &sheets.triangles, gap).unwrap();
    let edge_boxes = swept_boxes(motion, &sheets.edges, gap).unwrap();

    let mut wanted = Vec::new();
    for (&point, a) in points.iter().zip(&point_boxes) {
        for (triangle, b) in sheets.triangles.iter().zip(&triangle_boxes) {
            if overlap(a, b) && !triangle.contains(&point) {
                wanted.push([point, triangle[0], triangle[1], triangle[2]]);
            }
        }
    }
    let mut found =
        point_triangle_candidates(frame, motion, &points, &sheets.triangles, gap, &budget).unwrap();
    found.sort_unstable();
    wanted.sort_unstable();
    assert_eq!(found, wanted);

    let mut wanted = Vec::new();
    for (i, &[a, b]) in sheets.edges.iter().enumerate() {
        for (j, &[c, d]) in sheets.edges.iter().enumerate().skip(i + 1) {
            if overlap(&edge_boxes[i], &edge_boxes[j])
                && ![c, d].contains(&a)
                && ![c, d].contains(&b)
            {
                wanted.push([a, b, c, d]);
            }
        }
    }
    let mut found = edge_edge_candidates(frame, motion, &sheets.edges, gap, &budget).unwrap();
    let (first, second) = sheets.edges.split_at(sheets.edges.len() / 2);
    let between = edge_edge_between(frame, motion, first, second, gap, &budget).unwrap();
    assert!(!between.is_empty() && between.iter().all(|pair| found.contains(pair)));
    found.sort_unstable();
    wanted.sort_unstable();
    assert_eq!(found, wanted);
}

#[test]
fn spheres_that_meet_have_boxes_that_overlap() {
    let mut dice = Dice::new(8, 0);
    let start: Vec<DVec3> = (0..200).map(|_| dice.vector()).collect();
    let end: Vec<DVec3> = start.iter().map(|&x| x + 0.3 * dice.vector()).collect();
    let radii: Vec<f64> = (0..200).map(|_| 0.1 * dice.unit()).collect();
    let (motion, gap) = (MovingVertices::new(&start, &end).unwrap(), Gap::new(0.01, 0.0).unwrap());
    let boxes = swept_sphere_boxes(motion, &radii, gap).unwrap();
    let mut met = 0;
    for i in 0..200 {
        for j in 0..i {
            let (x, y) = ([start[i], start[j]], [end[i], end[j]]);
            let contact = sphere_sphere([radii[i], radii[j]], x, y, gap).unwrap();
            met += u32::from(contact.is_some());
            assert!(contact.is_none() || overlap(&boxes[i], &boxes[j]));
        }
    }
    assert!(met > 50);
    assert!(swept_sphere_boxes(motion, &radii[1..], gap).is_err());
    assert!(swept_sphere_boxes(motion, &[f64::NAN; 200], gap).is_err());
}

#[test]
fn bad_boxes_and_too_many_pairs_are_refused() {
    let (frame, budget) = (Frame::new(DVec3::ZERO, 0.1).unwrap(), MemoryBudget::unlimited());
    let pairs = |boxes: &[Bounds], budget: &MemoryBudget| {
        overlapping_self(frame, boxes, budget, |a, b| Some([a, b]))
    };
    let unit = Bounds { min: DVec3::ZERO, max: DVec3::ONE };
    assert_eq!(pairs(&[], &budget).unwrap(), Vec::<[u32; 2]>::new());
    for bad in [
        Bounds { min: DVec3::ONE, max: DVec3::ZERO },
        Bounds { min: DVec3::NAN, max: DVec3::ONE },
        Bounds { min: DVec3::ZERO, max: DVec3::INFINITY },
    ] {
        assert!(matches!(
            pairs(&[unit, bad], &budget),
            Err(GeometryError::BadBox { number: 1, .. })
        ));
    }
    let far = Bounds { min: DVec3::splat(1e9), max: DVec3::splat(1e9) };
    assert!(matches!(
        pairs(&[far], &budget),
        Err(GeometryError::Core(CoreError::OutOfRange { .. }))
    ));
    let wide = Bounds { min: DVec3::splat(-2e5), max: DVec3::splat(2e5) };
    assert!(matches!(pairs(&[wide], &budget), Err(GeometryError::BadParameter { .. })));
    // A thousand boxes at one place are half a million pairs.
    let crowd = vec![unit; 1000];
    assert_eq!(pairs(&crowd, &budget).unwrap().len(), 499_500);
    let error = pairs(&crowd, &MemoryBudget::new(1_000_000)).unwrap_err();
    assert!(matches!(error, GeometryError::Core(CoreError::OverBudget { .. })), "{error}");
    // And a hundred thousand more than there is memory for, which is not even tried.
    let error = pairs(&vec![unit; 100_000], &MemoryBudget::new(50_000_000)).unwrap_err();
    assert!(error.to_string().contains("candidate pairs"), "{error}");
}
