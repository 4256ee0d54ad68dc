//! Pressure systems against matrices and direct knowledge.

use crate::systems::noise;
use crate::tank::{Tank, in_rooms, waves};
use undine_core::glam::DVec3;
use undine_core::volume::VoxelShape;
use undine_core::{Bucket, ChannelSpec};
use undine_linsolve::pressure::{
    InverseDensity, Open, PressureInput, PressureMatrix, PressureSystem, Surface, place, voxel,
};
use undine_linsolve::{Operator, Preconditioner, Stop};

/// A vector over the rows of a system that is zero where there are no equations.
fn some_vector(system: &PressureSystem, matrix: &PressureMatrix, seed: u64) -> Vec<f64> {
    let mut vector = vec![0.0; system.rows().local()];
    matrix.scatter(&noise(matrix.entries.len(), seed), &mut vector);
    vector
}

fn largest_difference(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
}

#[test]
fn system_and_matrix_give_the_same_product() {
    let tank = Tank::new(0, 3, waves(24.0));
    for input in [tank.plain(), tank.cut()] {
        let system = PressureSystem::new(&tank.domain, &input).unwrap();
        let matrix = system.to_csr().unwrap();
        let mut x = some_vector(&system, &matrix, 1);
        let mut y = vec![0.0; x.len()];
        let dot = system.apply_dot(&mut x, &mut y).unwrap();
        let mut gathered = matrix.gather(&x);
        let mut wanted = vec![0.0; gathered.len()];
        matrix.matrix.apply(&mut gathered, &mut wanted).unwrap();
        let largest = wanted.iter().fold(0.0_f64, |max, value| max.max(value.abs()));
        assert!(largest_difference(&matrix.gather(&y), &wanted) < 1e-12 * largest);
        let mut elsewhere = y.clone();
        matrix.scatter(&vec![0.0; wanted.len()], &mut elsewhere);
        assert!(elsewhere.iter().all(|&value| value == 0.0), "nothing where there is no equation");
        let sum: f64 = gathered.iter().zip(&wanted).map(|(x, y)| x * y).sum();
        assert!((dot - sum).abs() < 1e-10 * sum.abs());
    }
}

#[test]
fn the_plain_matrix_is_the_seven_point_laplacian_with_walls_and_air() {
    let tank = Tank::new(-1, 2, |at| at.z - 2.0);
    let system = PressureSystem::new(&tank.domain, &tank.plain()).unwrap();
    let matrix = system.to_csr().unwrap();
    assert_eq!(matrix.entries.len(), 16 * 16 * 10);
    for (row, &entry) in matrix.entries.iter().enumerate() {
        let bucket = system.topology().bucket(entry / 512).coord;
        let voxel = voxel(entry as usize % 512) as i32;
        let cell = [
            bucket.x * 8 + (voxel >> 6),
            bucket.y * 8 + (voxel >> 3 & 7),
            bucket.z * 8 + (voxel & 7),
        ];
        // All six faces count but those in the walls.
        let walls = cell.iter().filter(|&&at| at == -8 || at == 7).count();
        let columns: Vec<_> = {
            let (columns, values) = matrix.matrix.csr().row(row);
            columns.iter().copied().zip(values.iter().copied()).collect()
        };
        let diagonal = columns.iter().find(|&&(column, _)| column as usize == row).unwrap().1;
        assert_eq!(diagonal, 6.0 - walls as f64, "{cell:?}");
        let links = 6 - walls - usize::from(cell[2] == 1);
        assert_eq!(columns.len(), 1 + links);
        assert!(columns.iter().all(|&(column, c)| column as usize == row || c == -1.0));
    }
}

#[test]
fn the_solution_is_that_of_the_matrix() {
    let tank = Tank::new(0, 3, waves(24.0));
    for input in [tank.plain(), tank.cut()] {
        let system = PressureSystem::new(&tank.domain, &input).unwrap();
        let matrix = system.to_csr().unwrap();
        let mut wanted = some_vector(&system, &matrix, 2);
        let mut b = vec![0.0; wanted.len()];
        system.apply(&mut wanted, &mut b).unwrap();
        let mut x = vec![0.0; b.len()];
        let report = system.solve(&b, &mut x, &Stop::relative(1e-12)).unwrap();
        assert!(report.converged() && report.iterations < 20, "{report}");
        assert!(largest_difference(&x, &wanted) < 1e-7, "{}", largest_difference(&x, &wanted));
    }
}

#[test]
fn the_cycle_is_symmetric_and_positive() {
    let tank = Tank::new(-1, 3, waves(20.0));
    for input in [tank.plain(), tank.cut()] {
        let system = PressureSystem::new(&tank.domain, &input).unwrap();
        let matrix = system.to_csr().unwrap();
        let mut multigrid = system.multigrid();
        let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        for seed in 0..4 {
            let (u, v) =
                (some_vector(&system, &matrix, seed), some_vector(&system, &matrix, seed + 9));
            let (mut mu, mut mv) = (vec![0.0; u.len()], vec![0.0; u.len()]);
            multigrid.apply(&u, &mut mu).unwrap();
            multigrid.apply(&v, &mut mv).unwrap();
            let size = (dot(&u, &mu) * dot(&v, &mv)).sqrt();
            assert!(dot(&u, &mu) > 0.0);
            assert!((dot(&v, &mu) - dot(&u, &mv)).abs() < 1e-5 * size);
        }
    }
}

#[test]
fn iterations_hardly_grow_with_size_or_with_cut_cells() {
    let mut iterations = Vec::new();
    for (buckets, cut) in [(2, false), (6, false), (6, true)] {
        let tank = Tank::new(0, buckets, waves(8.0 * f64::from(buckets)));
        let input = if cut { tank.cut() } else { tank.plain() };
        let system = PressureSystem::new(&tank.domain, &input).unwrap();
        let b = some_vector(&system, &system.to_csr().unwrap(), 3);
        let report = system.solve(&b, &mut vec![0.0; b.len()], &Stop::relative(1e-6)).unwrap();
        assert!(report.converged(), "{report}");
        iterations.push(report.iterations);
    }
    assert!(iterations[0] <= 6 && iterations[1] <= 6 && iterations[2] <= 9, "{iterations:?}");
}

#[test]
fn any_number_of_threads_gives_the_same_bits() {
    let tank = Tank::new(0, 5, waves(40.0));
    let input = tank.cut();
    let solve = || {
        let system = PressureSystem::new(&tank.domain, &input).unwrap();
        let b = some_vector(&system, &system.to_csr().unwrap(), 4);
        let mut x = vec![0.0; b.len()];
        let report = system.solve(&b, &mut x, &Stop::default()).unwrap();
        assert!(report.converged());
        x
    };
    let pool = |threads| rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    let one = pool(1).install(solve);
    assert!([2, 3].into_iter().all(|threads| pool(threads).install(solve) == one));
}

#[test]
fn channels_go_in_and_out_by_voxel() {
    let mut tank = Tank::new(0, 2, waves(16.0));
    let spec = ChannelSpec::new("pressure", -1.0_f32);
    let pressure = tank.volume.add_channel(&spec, VoxelShape::CELLS).unwrap();
    let system = PressureSystem::new(&tank.domain, &tank.plain()).unwrap();
    let phi = system.read(&tank.volume, tank.distance).unwrap();
    system.write(&phi, &tank.domain, &tank.volume, pressure).unwrap();
    let (wanted, found) =
        (tank.volume.column(tank.distance).unwrap(), tank.volume.column(pressure).unwrap());
    for slot in tank.volume.topology().level(0) {
        for (wanted, found) in wanted.chunk(slot).iter().zip(found.chunk(slot)) {
            assert_eq!(*found, if *wanted < 0.0 { *wanted } else { -1.0 });
        }
    }
    assert_eq!(place(voxel(77)), 77);
}

#[test]
fn a_tank_without_liquid_has_an_empty_system() {
    let tank = Tank::new(0, 2, |_| 1.0);
    let system = PressureSystem::new(&tank.domain, &tank.plain()).unwrap();
    let report = system.solve(&[], &mut [], &Stop::default()).unwrap();
    assert!(report.converged() && report.iterations == 0);
}

#[test]
fn bad_channels_are_refused_by_face_and_cell() {
    let tank = Tank::new(0, 2, waves(16.0));
    let input = tank.cut();
    let slot = tank.volume.topology().slot(Bucket::new(0, 0, 0)).unwrap();
    let set = |handle, value: f32| {
        tank.volume.column_mut(handle).unwrap().chunk_mut(slot)[64 * 3 + 8 * 2 + 1] = value;
    };
    let message = || PressureSystem::new(&tank.domain, &input).err().unwrap().to_string();
    set(tank.open.faces[1], 1.5);
    assert!(message().contains("open area at the y-face of cell [3, 2, 1]"), "{}", message());
    set(tank.open.faces[1], 1.0);
    set(tank.inverse_density.faces[0], -1.0);
    assert!(message().contains("inverse density at the x-face"), "{}", message());
    set(tank.inverse_density.faces[0], 1.0);
    set(tank.diagonal, f32::NAN);
    assert!(message().contains("diagonal term of cell [3, 2, 1]"), "{}", message());
}

#[test]
fn closed_regions_are_found_and_solved_without_their_constant() {
    let tank = Tank::new(0, 3, in_rooms);
    let input = tank.close_rooms();
    let system = PressureSystem::new(&tank.domain, &input).unwrap();
    assert_eq!(system.closed_regions(), 2);
    assert!(system.is_singular());

    let matrix = system.to_csr().unwrap();
    let b = some_vector(&system, &matrix, 5);
    let mut x = vec![0.0; b.len()];
    let report = system.solve(&b, &mut x, &Stop::relative(1e-9)).unwrap();
    assert!(report.converged() && report.iterations < 20, "{report}");
    assert_eq!(report.notes.iter().filter(|note| note.contains("closed region")).count(), 2);

    // What is left of the right-hand side is one number for each region, and none in the lake.
    let mut ax = vec![0.0; b.len()];
    system.apply(&mut x, &mut ax).unwrap();
    let mut left: Vec<f64> = b.iter().zip(&ax).map(|(b, ax)| b - ax).collect();
    let taken = left.iter().fold(0.0_f64, |max, left| max.max(left.abs()));
    assert!(taken > 1e-4);
    system.project(&mut left).unwrap();
    assert!(left.iter().all(|left| left.abs() < 1e-6));
}

#[test]
fn densities_of_cells_weigh_what_lies_on_both_sides_of_a_face() {
    let tank = Tank::new(0, 2, |at| at.z - 9.3);
    let density = |at: DVec3| 1.0 + 0.2 * at.x + 0.1 * at.y * at.z;
    let is_wet = |at: DVec3| at.z < 9.3 && at.min_element() > 0.0 && at.max_element() < 16.0;
    tank.fill(tank.diagonal, DVec3::splat(0.5), density);
    tank.fill_mac(tank.open, |_, _| 1.0);
    tank.fill_mac(tank.inverse_density, |axis, at| {
        let half = 0.5 * DVec3::AXES[axis];
        let sides = [at - half, at + half];
        let wet: Vec<f64> = sides.into_iter().filter(|at| is_wet(*at)).map(density).collect();
        wet.len() as f64 / wet.iter().sum::<f64>().max(1e-9)
    });
    let matrix = |inverse_density: InverseDensity| {
        let input = PressureInput {
            open: Open::Channel(tank.open),
            inverse_density,
            surface: Surface::Distance { distance: tank.distance, smallest: 0.01 },
            ..tank.plain()
        };
        PressureSystem::new(&tank.domain, &input).unwrap().to_csr().unwrap()
    };
    let [cells, faces] =
        [InverseDensity::OfCells(tank.diagonal), InverseDensity::Channel(tank.inverse_density)]
            .map(matrix);
    assert_eq!(cells.entries, faces.entries);
    for row in 0..cells.entries.len() {
        let [a, b] = [&cells, &faces].map(|matrix| matrix.matrix.csr().row(row));
        assert!(a.0 == b.0 && largest_difference(a.1, b.1) < 1e-5, "{a:?} {b:?}");
    }
    assert_eq!(cells.entries.len(), 16 * 16 * 9);
}
