//! That the generated systems are what they say.

use crate::dense::{dense, pivots, smallest_scaled_pivot};
use crate::systems::laplacian as laplacian_by_triplets;
use rayon::ThreadPoolBuilder;
use undine_linsolve::gallery::{
    Held, RodsSetup, Walls, anisotropic, convection_diffusion, elasticity, half_full, hilbert,
    jumps, laplacian, laplacian_2d, laplacian_27, neumann, rods, saddle, tridiagonal, viscosity,
};
use undine_linsolve::{Csr, SolveError};

fn times(matrix: &Csr<f64>, x: &[f64]) -> Vec<f64> {
    let mut y = vec![0.0; matrix.rows()];
    matrix.multiply(x, &mut y);
    y
}

fn largest(x: &[f64]) -> f64 {
    x.iter().fold(0.0, |max, x| max.max(x.abs()))
}

#[test]
fn systems_for_conjugate_gradients_are_symmetric_and_positive_definite() {
    let curly = RodsSetup { rods: 4, vertices: 12, curl: 3e-3, ..RodsSetup::default() };
    let systems = [
        ("5 points", laplacian_2d([9, 7])),
        ("7 points", laplacian([5, 4, 6])),
        ("27 points", laplacian_27([5, 4, 3])),
        ("anisotropic", anisotropic([4, 5, 6], [1.0, 100.0, 1e-3])),
        ("jumps", jumps([5, 5, 5], 1e3, 2, 3)),
        ("half full", half_full(8).map(|system| system.matrix)),
        ("elastic", elasticity([3, 2, 2], 0.3, Held::OneFace).map(|system| system.matrix)),
        ("nearly incompressible", elasticity([2; 3], 0.49, Held::OneFace).map(|s| s.matrix)),
        ("viscous", viscosity(6, 100.0, Walls::Stick).map(|system| system.matrix)),
        ("viscous blob", viscosity(6, 100.0, Walls::None).map(|system| system.matrix)),
        ("curly rods", rods(&curly).map(|system| system.matrix)),
        ("straight rods", rods(&RodsSetup { curl: 0.0, ..curly }).map(|system| system.matrix)),
        ("Hilbert", hilbert(6)),
        ("tridiagonal", tridiagonal(20, -1.0, 2.0, -1.0)),
    ];
    for (name, matrix) in systems {
        let matrix = matrix.unwrap();
        matrix.check_symmetric(0.0).unwrap_or_else(|why| panic!("{name}: {why}"));
        let smallest = smallest_scaled_pivot(&matrix);
        assert!(smallest > 1e-9, "{name}: {smallest}");
    }
}

#[test]
fn the_laplacian_made_by_rows_is_the_one_made_by_triplets() {
    assert_eq!(laplacian([6; 3]).unwrap(), laplacian_by_triplets(6));
}

#[test]
fn closed_walls_leave_the_constant_as_null_space() {
    let matrix = neumann([4, 3, 5]).unwrap();
    assert_eq!(largest(&times(&matrix, &vec![1.0; matrix.rows()])), 0.0);
    matrix.check_symmetric(0.0).unwrap();
    let pivots = pivots(dense(&matrix));
    let (last, others) = pivots.split_last().unwrap();
    assert!(others.iter().all(|&pivot| pivot > 0.1) && last.abs() < 1e-12);
}

#[test]
fn rigid_motions_are_the_null_space_of_a_free_elastic_box() {
    let box_ = elasticity([4, 3, 5], 0.3, Held::Nothing).unwrap();
    assert_eq!((box_.positions.len(), box_.modes.len()), (5 * 4 * 6, 6));
    let stiffest = largest(box_.matrix.values());
    for (n, mode) in box_.modes.iter().enumerate() {
        assert!(largest(mode) > 0.5);
        assert!(largest(&times(&box_.matrix, mode)) < 1e-12 * stiffest * largest(mode), "mode {n}");
    }
    // Nothing else is in it: with the six motions penalised, the smallest system is positive definite.
    let cube = elasticity([1; 3], 0.3, Held::Nothing).unwrap();
    let mut filled = dense(&cube.matrix);
    for mode in &cube.modes {
        for (row, a) in filled.iter_mut().zip(mode) {
            row.iter_mut().zip(mode).for_each(|(entry, b)| *entry += a * b);
        }
    }
    assert!(pivots(filled).into_iter().all(|pivot| pivot > 1e-3));
}

#[test]
fn a_stretched_elastic_bar_pulls_back_by_its_modulus() {
    // u = (x, −νy, −νz) is uniaxial tension: E = 1 Pa on 2 m × 3 m pulls with 6 N, and no inner node feels a force.
    let (nu, sizes) = (0.3, [4, 2, 3]);
    let bar = elasticity(sizes, nu, Held::Nothing).unwrap();
    let stretched: Vec<f64> =
        bar.positions.iter().flat_map(|[x, y, z]| [*x, -nu * y, -nu * z]).collect();
    let forces = times(&bar.matrix, &stretched);
    let at = |end: f64| {
        let nodes = bar.positions.iter().zip(forces.chunks(3));
        nodes.filter(|(p, _)| p[0] == end).map(|(_, f)| f[0]).sum::<f64>()
    };
    assert!((at(4.0) - 6.0).abs() < 1e-12 && (at(0.0) + 6.0).abs() < 1e-12);
    let inner =
        bar.positions.iter().zip(forces.chunks(3)).filter(|(p, _)| (1.0..=3.0).contains(&p[0]));
    inner.for_each(|(_, force)| assert!(largest(force) < 1e-12));
}

#[test]
fn rigid_motions_of_a_viscous_blob_cost_no_energy() {
    let blob = viscosity(10, 50.0, Walls::None).unwrap();
    for (n, mode) in blob.modes.iter().enumerate() {
        let mut friction = times(&blob.matrix, mode);
        let inertia = blob.inertia.iter().zip(mode);
        friction.iter_mut().zip(inertia).for_each(|(f, (m, x))| *f -= m * x);
        assert!(
            largest(&friction) < 1e-12 * 50.0 * largest(mode),
            "mode {n}: {}",
            largest(&friction)
        );
    }
    // Shear does cost.
    let shear = |(place, &axis): (&[f64; 3], &u8)| if axis == 0 { place[1] } else { 0.0 };
    let shear: Vec<f64> = blob.positions.iter().zip(&blob.components).map(shear).collect();
    let energy: f64 = times(&blob.matrix, &shear).iter().zip(&shear).map(|(a, x)| a * x).sum();
    let inertia: f64 = blob.inertia.iter().zip(&shear).map(|(m, x)| m * x * x).sum();
    assert!(energy > 2.0 * inertia);
}

#[test]
fn viscosity_couples_the_components_of_velocity() {
    let liquid = viscosity(8, 10.0, Walls::Stick).unwrap();
    let axis = |row: usize| liquid.components[row];
    let coupled = (0..liquid.matrix.rows())
        .filter(|&row| liquid.matrix.row(row).0.iter().any(|&c| axis(c as usize) != axis(row)));
    assert!(coupled.count() > liquid.matrix.rows() / 2);
}

#[test]
fn rods_touch_once_per_two_vertices_and_only_other_rods() {
    let setup = RodsSetup { rods: 9, vertices: 10, ..RodsSetup::default() };
    let touching = rods(&setup).unwrap();
    let alone = rods(&RodsSetup { contact: 0.0, ..setup }).unwrap();
    assert_eq!(touching.blocks.len(), 9);
    assert_eq!(touching.blocks[8], 320..360);
    let foreign = |matrix: &Csr<f64>| {
        let is_foreign = |row: usize| {
            let (columns, values) = matrix.row(row);
            columns.iter().zip(values).any(|(&c, &v)| c as usize / 40 != row / 40 && v != 0.0)
        };
        (0..360).filter(|&row| is_foreign(row)).count()
    };
    assert_eq!(foreign(&alone.matrix), 0);
    assert!(foreign(&touching.matrix) > 180);
    assert!(touching.b.iter().all(|b| b.is_finite()));
    let error = rods(&RodsSetup { radius: -1.0, ..setup }).unwrap_err();
    assert!(error.to_string().contains("the radius of a rod is -1"), "{error}");
}

#[test]
fn rigid_motions_of_rods_meet_nothing_but_inertia_away_from_the_roots() {
    let setup =
        RodsSetup { rods: 3, vertices: 14, curl: 3e-3, contact: 0.0, ..RodsSetup::default() };
    let hair = rods(&setup).unwrap();
    let area = std::f64::consts::PI * setup.radius.powi(2);
    let mass = setup.density * area * setup.segment / setup.time_step.powi(2);
    for mode in hair.modes() {
        let force = times(&hair.matrix, &mode);
        for (row, (force, moved)) in force.iter().zip(&mode).enumerate() {
            let (vertex, component) = (row / 4 % 14, row % 4);
            let inertia = if component < 3 { mass } else { mass * setup.radius.powi(2) / 2.0 };
            let is_held = vertex < 2;
            assert!(is_held || (force - inertia * moved).abs() < 1e-10, "row {row}: {force}");
        }
    }
}

#[test]
fn upwinding_gives_an_unsymmetric_m_matrix() {
    let matrix = convection_diffusion([6, 5, 4], 0.01, [1.0, -2.0, 0.5]).unwrap();
    assert!(matches!(matrix.check_symmetric(1e-6), Err(SolveError::NotSymmetric { .. })));
    for row in 0..matrix.rows() {
        let (columns, values) = matrix.row(row);
        assert!(columns.iter().zip(values).all(|(&c, &v)| (v > 0.0) == (c as usize == row)));
        assert!(values.iter().sum::<f64>() > -1e-12, "diagonally dominant");
    }
}

#[test]
fn the_saddle_has_as_many_negative_eigenvalues_as_cells() {
    let matrix = saddle(5, 0.01).unwrap();
    matrix.check_symmetric(0.0).unwrap();
    let pivots = pivots(dense(&matrix));
    assert_eq!(pivots.iter().filter(|&&pivot| pivot < 0.0).count(), 25);
    let closed = saddle(5, 0.0).unwrap();
    let constant: Vec<f64> = (0..closed.rows()).map(|row| f64::from(u8::from(row >= 40))).collect();
    assert_eq!(largest(&times(&closed, &constant)), 0.0);
}

#[test]
fn generated_systems_are_the_same_on_any_number_of_threads() {
    let on = |threads: usize| {
        let pool = ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let hair = rods(&RodsSetup::of_unknowns(6000)).unwrap();
            let liquid = viscosity(16, 10.0, Walls::Stick).unwrap();
            (hair.matrix, hair.b, liquid.matrix, liquid.b, half_full(20).unwrap().matrix)
        })
    };
    let alone = on(1);
    for threads in [2, 3, 7] {
        assert!(on(threads) == alone, "{threads} threads");
    }
}

#[test]
fn too_many_unknowns_are_refused_and_not_allocated() {
    let error = Csr::<f64>::from_rows(1 << 40, 1, |_, _| {}).unwrap_err();
    assert!(
        error.to_string().contains("the number of rows of a matrix is 1099511627776"),
        "{error}"
    );
    let error =
        Csr::from_rows(2, 2, |row, entries| entries.push((row as u32 + 1, 1.0))).unwrap_err();
    assert!(error.to_string().contains("row 1 of the matrix has column 2"), "{error}");
}
