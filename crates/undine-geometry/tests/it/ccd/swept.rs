//! Spheres, segments and points against triangles.

use super::cases::Dice;
use super::judge::{Case, Kind};
use undine_core::glam::DVec3;
use undine_geometry::ccd::{
    Gap, edge_edge, point_triangle, segment_triangle, sphere_triangle, swept_sphere,
};
use undine_geometry::gallery;

#[test]
fn a_sphere_meets_a_triangle_where_its_centre_comes_within_the_radius() {
    let mut met = 0;
    for n in 0..20_000 {
        let mut dice = Dice::new(31, n);
        let case = super::cases::anywhere(&mut dice);
        let (radius, gap) = (0.2 * dice.unit(), Gap::new(0.01, 1e-7).unwrap());
        let found = sphere_triangle(radius, case.start, case.end, gap).unwrap();
        match case.first_within(Kind::PointTriangle, radius + 0.01, 32) {
            Ok(time) => {
                let contact = found.expect("a sphere that comes near is found");
                assert!(contact.time <= time);
                assert!(contact.time == 0.0 || (contact.distance - 0.01).abs() < 2e-7);
                met += 1;
            }
            Err(least) => assert!(found.is_none() || least < radius + 0.0101),
        }
    }
    assert!(met > 2_000);
    assert!(sphere_triangle(f64::NAN, [DVec3::X; 4], [DVec3::X; 4], Gap::default()).is_err());
}

#[test]
fn nothing_tunnels_through_a_sheet() {
    // Points and spheres from one side of a sheet to the other: through faces, edges and vertices, fast and slow.
    let sheet = gallery::sheet([1.0, 1.0], [6, 6]);
    let gap = Gap::new(0.0, 0.0).unwrap();
    for n in 0..3_000 {
        let mut dice = Dice::new(37, n);
        let through = match n % 3 {
            0 => sheet.positions()[n as usize % 49],
            1 => (dice.whole(3) / 6.0 + DVec3::X * 0.3 * dice.unit())
                .clamp(DVec3::splat(-0.5), DVec3::splat(0.5)),
            _ => dice.vector() * 0.5,
        } * DVec3::new(1.0, 1.0, 0.0);
        let way = dice.vector() * 10.0_f64.powf(6.0 * dice.unit() - 3.0);
        let part = dice.unit();
        let (from, to) = (through - way * part, through + way * (1.0 - part));
        let tiny = if n % 2 == 0 { 0.0 } else { 1e-3 * dice.unit() };
        let first = |radius: f64| {
            let times = sheet.iter().filter_map(|corners| {
                swept_sphere(radius, from, to, corners, gap).unwrap().map(|contact| contact.time)
            });
            times.min_by(f64::total_cmp)
        };
        let time = first(tiny).unwrap_or_else(|| panic!("{n}: {from} to {to} through {through}"));
        assert!(time <= part * (1.0 + 1e-9) + 1e-12, "{n}: {time} > {part}");
    }
}

#[test]
fn a_segment_meets_a_triangle_with_the_first_of_its_parts() {
    let mut met = [0; 2];
    for n in 0..30_000 {
        let mut dice = Dice::new(41, n);
        let whole = n % 3 == 0;
        let mut vertex = || if whole { dice.whole(2) } else { dice.vector() };
        let start = [(); 5].map(|()| vertex());
        let end = [(); 5].map(|()| vertex());
        let gap = Gap::new(0.05, 1e-7).unwrap();
        let found = segment_triangle(start, end, gap).unwrap();
        // Ends against the triangle, the segment against edges, and both ends on different sides at the start.
        let pick = |numbers: [usize; 4]| [start, end].map(|x| numbers.map(|k| x[k]));
        let mut times = Vec::new();
        for numbers in [[0, 2, 3, 4], [1, 2, 3, 4]] {
            let [start, end] = pick(numbers);
            times.extend(point_triangle(start, end, gap).unwrap().map(|contact| contact.time));
        }
        for numbers in [[0, 1, 2, 3], [0, 1, 3, 4], [0, 1, 4, 2]] {
            let [start, end] = pick(numbers);
            times.extend(edge_edge(start, end, gap).unwrap().map(|contact| contact.time));
        }
        let [a, b, c] = [start[2], start[3], start[4]];
        let side = |x: DVec3, y: DVec3, z: DVec3, w: DVec3| (y - x).cross(z - x).dot(w - x);
        let (p, q) = (start[0], start[1]);
        let turns = [side(p, q, a, b), side(p, q, b, c), side(p, q, c, a)];
        let pierced = side(a, b, c, p) * side(a, b, c, q) < 0.0
            && (turns.iter().all(|&t| t > 0.0) || turns.iter().all(|&t| t < 0.0));
        if pierced {
            met[0] += 1;
            assert_eq!(found.unwrap().time, 0.0);
            continue;
        }
        match (times.into_iter().min_by(f64::total_cmp), found) {
            (None, None) => {}
            (Some(time), Some(contact)) => {
                met[1] += 1;
                // Both are at most a tolerance early, and how much time that is depends on how they touch.
                let at = |t: f64, x: usize| start[x].lerp(end[x], t);
                let gap_at: DVec3 = (0..5).map(|k| at(contact.time, k) * contact.weights[k]).sum();
                assert!((gap_at.length() - contact.distance).abs() < 1e-9);
                assert!(contact.distance <= 0.05 + 1.1e-7, "{n}: {contact:?}");
                assert!((contact.time - time).abs() < 2e-3, "{n}: {time} {contact:?}");
            }
            (time, contact) => {
                // Within the tolerance either answer is right.
                let least = contact.map_or(0.05, |contact| contact.distance);
                assert!(least > 0.05, "{n}: {time:?} {contact:?}");
            }
        }
    }
    assert!(met[0] > 500 && met[1] > 5_000, "{met:?}");
}

#[test]
fn cases_are_checked_against_their_own_distances() {
    // The judge itself, where distances are known.
    let [o, x, y, z] = [DVec3::ZERO, DVec3::X, DVec3::Y, DVec3::Z];
    let still = |v: [DVec3; 4]| Case { start: v, end: v };
    assert_eq!(still([z * 2.0, o, x, y]).distance(Kind::PointTriangle, 0.3), 2.0);
    assert_eq!(still([-x, o, x, y]).distance(Kind::PointTriangle, 0.3), 1.0);
    assert_eq!(still([-x, x, y + z, z - y]).distance(Kind::EdgeEdge, 0.3), 1.0);
    assert_eq!(still([o, x, y, y + x]).distance(Kind::EdgeEdge, 0.3), 1.0);
}
