//! The surface of a liquid, from particles, against planes, spheres, sheets, drops and walls. Lengths are in voxels.

use crate::pool::{self, Pool};
use undine_core::glam::DVec3;
use undine_geometry::random::unit;

/// The mean of some errors, and the root of their mean square around it.
fn spread(errors: &[f64]) -> (f64, f64) {
    let count = errors.len() as f64;
    let mean = errors.iter().sum::<f64>() / count;
    (mean, (errors.iter().map(|error| (error - mean).powi(2)).sum::<f64>() / count).sqrt())
}

/// How far the middle of a box of particles below a plane is from its ends.
const MARGIN: i32 = 5;

#[test]
fn a_level_surface_is_flat_and_where_it_should_be_at_every_height() {
    for n in 0..10 {
        let h = 0.1 * f64::from(n);
        let pool = Pool::new([-8, -8, -12], [24, 24, 12], 1.0, n as u64, |at| at.z < h);
        pool.find_surface();
        let middle = -8 + MARGIN..24 - MARGIN;
        let mut errors = Vec::new();
        for ([x, y], heights) in pool.heights() {
            if middle.contains(&x) && middle.contains(&y) {
                let top: Vec<f64> = heights.into_iter().filter(|height| *height > -8.0).collect();
                assert_eq!(top.len(), 1, "surfaces at {x}, {y}: {top:?}");
                errors.push(top[0] - h);
            }
        }
        let (mean, noise) = spread(&errors);
        assert!(mean.abs() < 0.03 && noise < 0.06, "at {h}: off by {mean}, noise {noise}");
    }
}

#[test]
fn a_tilted_surface_is_where_it_should_be_and_its_distance_is_one() {
    for n in 0..6 {
        let along = |k: u64| 2.0 * unit(7, 3 * n + k) - 1.0;
        let normal = DVec3::new(along(0), along(1), along(2)).normalize();
        let offset = unit(8, n);
        let pool = Pool::new([-12; 3], [12; 3], 1.0, n, |at| normal.dot(at) < offset);
        pool.find_surface();
        let mut errors = Vec::new();
        let mut deep = Vec::new();
        pool.each_cell(|cell, distance, _| {
            let exact = normal.dot(cell) - offset;
            if cell.abs().max_element() < 7.0 {
                match exact.abs() {
                    0.0..1.0 => errors.push(distance - exact),
                    1.0..2.5 => deep.push(distance - exact),
                    _ => {}
                }
            }
        });
        let (mean, noise) = spread(&errors);
        assert!(mean.abs() < 0.03 && noise < 0.07, "{normal}: off by {mean}, noise {noise}");
        // Noise does not grow with the distance: its gradient is one.
        let (mean, noise) = spread(&deep);
        assert!(mean.abs() < 0.06 && noise < 0.08, "{normal}: off by {mean}, noise {noise} far");
    }
}

#[test]
fn a_ball_has_its_radius_the_better_the_larger_it_is() {
    // Of second order: the error in voxels falls as the radius in voxels grows.
    for (radius, tolerance) in [(3.0, 0.22), (6.0, 0.11), (12.0, 0.055)] {
        let reach = radius as i32 + 1;
        let centre = DVec3::new(0.3, -0.4, 0.1);
        let inside = |at: DVec3| at.distance(centre) < radius;
        let pool = Pool::new([-reach; 3], [reach; 3], 1.0, 5, inside);
        pool.find_surface();
        let mut errors = Vec::new();
        pool.each_cell(|cell, distance, _| {
            let exact = cell.distance(centre) - radius;
            if exact.abs() < 1.0 {
                errors.push(distance - exact);
            }
        });
        let (mean, noise) = spread(&errors);
        assert!(mean.abs() < tolerance && noise < 0.08, "{radius}: off by {mean}, noise {noise}");
    }
}

#[test]
fn particles_at_random_leave_no_bubbles_in_a_liquid() {
    // Eight to a cell on average, but any number: as evenly spread as chance has it.
    let places: Vec<DVec3> = (0..8 * 20_u64.pow(3))
        .map(|n| 20.0 * DVec3::new(unit(1, 3 * n), unit(1, 3 * n + 1), unit(1, 3 * n + 2)))
        .collect();
    let pool = Pool::of_places(&places);
    pool.find_surface();
    pool.each_cell(|cell, distance, liquid| {
        let depth = (cell - 10.0).abs().max_element() - 10.0;
        if depth < -1.5 {
            assert!(liquid && distance < -0.9, "{cell}: {distance}");
        }
        assert!(depth < 1.0 || !liquid, "{cell}");
    });
}

#[test]
fn a_sheet_thinner_than_a_voxel_has_no_holes() {
    for n in 0..8 {
        let z = f64::from(n) / 8.0;
        let pool = Pool::new([0, 0, 0], [16, 16, 1], 1.0, 3, |_| true);
        let flat: Vec<DVec3> = pool.places().iter().map(|at| at.with_z(z + 0.1 * at.z)).collect();
        let pool = Pool::of_places(&flat);
        pool.find_surface();
        let mut liquid_at = [[0; 16]; 16];
        pool.each_cell(|cell, _, liquid| {
            let [x, y] = [cell.x, cell.y].map(|c| c.floor() as usize);
            if (0.0..16.0).contains(&cell.x) && (0.0..16.0).contains(&cell.y) {
                liquid_at[x][y] += i32::from(liquid);
            }
        });
        let inside = liquid_at[1..15].iter().flat_map(|row| &row[1..15]);
        assert!(inside.copied().all(|count| (1..=2).contains(&count)), "{z}: {liquid_at:?}");
    }
}

#[test]
fn a_lone_particle_has_its_cell_and_no_other() {
    for n in 0..200 {
        let place = 16.0 * DVec3::new(unit(1, 3 * n), unit(1, 3 * n + 1), unit(1, 3 * n + 2)) - 8.0;
        let pool = Pool::of_places(&[place]);
        pool.find_surface();
        let mut cells = Vec::new();
        pool.each_cell(|cell, _, liquid| cells.extend(liquid.then_some(cell)));
        assert_eq!(cells, [place.floor() + 0.5], "{place}");
    }
}

#[test]
fn surfaces_that_face_each_other_stay_apart() {
    for n in 0..8 {
        // At half a voxel too, and between any two cells.
        let middle = f64::from(n) / 8.0;
        for half in [0.6, 0.8, 1.0, 1.4] {
            let gap = |at: DVec3| (at.z - middle).abs() < half;
            let pool = Pool::new([0, 0, -8], [12, 12, 9], 1.0, n as u64, |at| !gap(at));
            pool.find_surface();
            let (mut air, mut all) = (0, 0);
            pool.each_cell(|cell, _, liquid| {
                let within = (2.0..10.0).contains(&cell.x) && (2.0..10.0).contains(&cell.y);
                if within && (cell.z - middle).abs() < half - 0.4 {
                    all += 1;
                    air += i32::from(!liquid);
                }
            });
            assert!(air as f64 >= 0.97 * all as f64, "{half} around {middle}: {air} of {all}");
        }
    }
}

/// The distance from a tank whose walls do not lie on faces of cells.
fn tank(at: DVec3) -> f64 {
    pool::tank(at, 0.3, 20.0)
}

#[test]
fn a_tank_has_one_surface_from_wall_to_wall() {
    let pool = Pool::new([0, 0, 0], [20, 20, 20], 1.0, 1, |at| at.z < 13.2 && tank(at) > 0.0);
    pool.wall(tank);
    pool.find_surface();
    let mut beside_wall = Vec::new();
    for ([x, y], heights) in pool.heights() {
        if tank(DVec3::new(f64::from(x) + 0.5, f64::from(y) + 0.5, 10.0)) > -2.0 {
            assert_eq!(heights.len(), 1, "surfaces at {x}, {y}: {heights:?}");
            if [0, 19].contains(&x) {
                beside_wall.push(heights[0] - 13.2);
            }
            assert!((heights[0] - 13.2).abs() < 0.4, "at {x}, {y}: {heights:?}");
        }
    }
    let (mean, _) = spread(&beside_wall);
    assert!(mean.abs() < 0.05, "off by {mean} at the wall");
    pool.each_cell(|cell, distance, liquid| {
        let wall = tank(cell);
        if cell.z < 9.0 && wall > -2.0 {
            assert!(distance < -2.99, "{cell}: {distance}");
        }
        assert!(!(cell.z < 12.0 && wall > -0.4) || liquid, "{cell} is open and below the surface");
        assert!(wall > -0.9 || !liquid, "{cell} is solid");
        assert!(cell.z < 15.0 || !liquid, "{cell} is in the air");
    });
}

#[test]
fn a_slope_under_water_is_no_surface() {
    let normal = DVec3::new(-0.6, 0.0, 0.8);
    let slope = |at: DVec3| normal.dot(at) + 4.0;
    let pool = Pool::new([0, 0, -10], [16, 16, 12], 1.0, 2, |at| at.z < 7.6 && slope(at) > 0.0);
    pool.wall(slope);
    pool.find_surface();
    pool.each_cell(|cell, distance, liquid| {
        let depth = cell.z - 7.6;
        let inside = (3.0..13.0).contains(&cell.x) && (3.0..13.0).contains(&cell.y);
        if inside && depth < -3.5 && slope(cell) > -0.3 {
            assert!(distance < -2.0 && liquid, "{cell}: {distance}");
        }
        if inside && slope(cell) > 0.0 && depth.abs() < 1.0 {
            assert!((distance - depth).abs() < 0.35, "{cell}: {distance} for {depth}");
        }
    });
}

#[test]
fn a_dry_wall_is_no_liquid() {
    let pool = Pool::new([0, 0, 0], [20, 20, 6], 1.0, 1, |at| at.z < 5.0 && tank(at) > 0.0);
    pool.wall(tank);
    pool.find_surface();
    pool.each_cell(|cell, distance, liquid| {
        let dry = cell.z > 6.5 && tank(cell) > -2.0;
        assert!(!dry || !liquid && distance > 0.5, "{cell}: {distance}");
    });
}

#[test]
fn any_number_of_threads_finds_the_same_bytes() {
    let run = |threads: usize| {
        let threads = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        threads.install(|| {
            let wave = |at: DVec3| at.z < 10.0 + 2.0 * (0.4 * at.x).sin() && tank(at) > 0.0;
            let pool = Pool::new([0, 0, 0], [20, 20, 20], 1.0, 1, wave);
            pool.wall(tank);
            pool.find_surface();
            pool.bytes()
        })
    };
    assert!(run(1) == run(3));
}

#[test]
fn without_particles_there_is_no_liquid() {
    let pool = Pool::of_places(&[]);
    pool.find_surface();
    pool.each_cell(|cell, _, liquid| assert!(!liquid, "{cell}"));
}
