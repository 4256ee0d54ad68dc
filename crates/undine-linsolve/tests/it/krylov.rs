//! Krylov solvers on systems whose answer is known.

use crate::dense::dense;
use crate::systems::{
    distance, from_dense, laplacian_matrix, noise, same_on_any_threads, solve_dense,
};
use proptest::prelude::*;
use undine_linsolve::gallery::{convection_diffusion, saddle};
use undine_linsolve::krylov::{bicgstab, cg, flexible_cg, minres};
use undine_linsolve::precondition::{BlockJacobi, IncompleteCholesky, Jacobi};
use undine_linsolve::{
    Csr, Matrix, Operator, Outcome, Preconditioner, Report, Result, Rows, SolveError, Stop,
    operator::Identity, vector,
};

type Solve =
    fn(&dyn Operator, &mut dyn Preconditioner, &[f64], &mut [f64], &Stop) -> Result<Report>;

const ALL: [Solve; 4] = [cg, flexible_cg, minres, bicgstab];

#[test]
fn every_method_finds_the_solution_it_was_given() {
    let matrix = laplacian_matrix(12);
    let mut wanted = noise(matrix.rows().local(), 1);
    let mut b = vec![0.0; wanted.len()];
    matrix.apply(&mut wanted, &mut b).unwrap();
    for solve in ALL {
        let mut x = vec![0.0; b.len()];
        let mut jacobi = Jacobi::new(&matrix).unwrap();
        let report = solve(&matrix, &mut jacobi, &b, &mut x, &Stop::relative(1e-12)).unwrap();
        assert!(report.converged() && report.residual <= 1e-12, "{report}");
        assert!(distance(&x, &wanted) < 1e-9, "{report}");
        assert_eq!(report.history.len(), report.iterations + 1);
    }
}

#[test]
fn a_good_first_guess_needs_no_iteration() {
    let matrix = laplacian_matrix(6);
    let mut wanted = noise(216, 2);
    let mut b = vec![0.0; 216];
    matrix.apply(&mut wanted, &mut b).unwrap();
    for solve in ALL {
        let mut x = wanted.clone();
        let report = solve(&matrix, &mut Identity, &b, &mut x, &Stop::default()).unwrap();
        assert_eq!((report.iterations, report.outcome), (0, Outcome::Converged));
        assert_eq!(x, wanted);
    }
}

#[test]
fn a_right_hand_side_of_zero_gives_zero_whatever_the_guess() {
    let matrix = laplacian_matrix(4);
    for solve in ALL {
        let mut x = noise(64, 3);
        let report = solve(&matrix, &mut Identity, &[0.0; 64], &mut x, &Stop::default()).unwrap();
        assert!(report.converged() && report.residual == 0.0, "{report}");
        assert_eq!(x, [0.0; 64]);
    }
}

#[test]
fn a_right_hand_side_whose_squares_vanish_or_overflow_is_named() {
    let matrix = laplacian_matrix(2);
    for solve in ALL {
        let mut x = [0.0; 8];
        let report = solve(&matrix, &mut Identity, &[1e-200; 8], &mut x, &Stop::default()).unwrap();
        assert!(
            matches!(report.outcome, Outcome::Breakdown(why) if why.contains("small")),
            "{report}"
        );
        let report = solve(&matrix, &mut Identity, &[1e200; 8], &mut x, &Stop::default()).unwrap();
        assert!(
            matches!(report.outcome, Outcome::Breakdown(why) if why.contains("large")),
            "{report}"
        );
    }
}

#[test]
fn the_absolute_limit_stops_on_the_largest_row() {
    let matrix = laplacian_matrix(8);
    let b: Vec<f64> = noise(512, 4).iter().map(|b| 1e5 * b).collect();
    let stop = Stop { relative: 0.0, absolute: 1e-3, ..Stop::default() };
    for solve in ALL {
        let mut x = vec![0.0; 512];
        let report = solve(&matrix, &mut Identity, &b, &mut x, &stop).unwrap();
        assert!(report.converged() && report.largest_residual <= 1e-3, "{report}");
        assert!(report.largest_residual > 1e-6, "no further than asked: {report}");
    }
}

#[test]
fn the_iteration_limit_keeps_the_best_iterate() {
    let matrix = laplacian_matrix(10);
    let b = noise(1000, 5);
    for solve in ALL {
        let stop = Stop { iterations: 7, ..Stop::relative(1e-12) };
        let mut x = vec![0.0; 1000];
        let report = solve(&matrix, &mut Identity, &b, &mut x, &stop).unwrap();
        assert_eq!((report.iterations, report.outcome), (7, Outcome::IterationLimit));
        assert!(
            report.residual < 0.2
                && (report.residual - true_residual(&matrix, &b, &x)).abs() < 1e-12
        );
    }
}

#[test]
fn more_than_rounding_allows_is_asked_for_and_stagnates() {
    let matrix = laplacian_matrix(8);
    let b = noise(512, 6);
    for solve in ALL {
        let mut x = vec![0.0; 512];
        let report = solve(&matrix, &mut Identity, &b, &mut x, &Stop::relative(1e-18)).unwrap();
        assert!(!report.converged() && report.residual < 1e-13, "{report}");
        assert!(report.iterations < 1000, "it does not go on for ever: {report}");
        assert_eq!(report.history.len(), report.iterations + 1);
    }
}

#[test]
fn an_indefinite_matrix_breaks_cg_down_and_is_named() {
    let matrix = from_dense(2, &[1.0, 0.0, 0.0, -1.0]);
    let mut x = [0.0; 2];
    let report = cg(&matrix, &mut Identity, &[1.0, 2.0], &mut x, &Stop::default()).unwrap();
    let Outcome::Breakdown(why) = report.outcome else { panic!("{report}") };
    assert!(why.contains("not positive definite"));
    assert!(x.iter().all(|x| x.is_finite()));
}

#[test]
fn minres_solves_saddle_systems() {
    for n in [2, 5, 12] {
        let matrix = Matrix::single(saddle(n, 0.2).unwrap()).unwrap();
        let b = noise(matrix.rows().local(), 7);
        let mut x = vec![0.0; b.len()];
        let report = minres(&matrix, &mut Identity, &b, &mut x, &Stop::relative(1e-10)).unwrap();
        assert!(report.converged(), "{report}");
        let wanted = solve_dense(&dense(matrix.csr()).concat(), &b).unwrap();
        assert!(distance(&x, &wanted) < 1e-6, "{report}");
        assert!(
            report.history.windows(2).all(|pair| pair[1] <= pair[0] * (1.0 + 1e-9)),
            "monotone"
        );
    }
}

#[test]
fn minres_names_a_preconditioner_that_is_not_definite() {
    let matrix = Matrix::single(saddle(5, 0.2).unwrap()).unwrap();
    let b = noise(matrix.rows().local(), 8);
    let mut x = vec![0.0; b.len()];
    let report = minres(&matrix, &mut Scaled(-1.0), &b, &mut x, &Stop::default()).unwrap();
    assert!(
        matches!(report.outcome, Outcome::Breakdown(why) if why.contains("preconditioner")),
        "{report}"
    );
}

#[test]
fn bicgstab_solves_convection_and_diffusion() {
    for wind in [0.0, 0.5, 10.0] {
        let csr = convection_diffusion([24, 24, 1], 1.0, [wind, 0.0, 0.0]).unwrap();
        let matrix = Matrix::single(csr).unwrap();
        let b = noise(576, 9);
        let starts = BlockJacobi::uniform(576, 24);
        let mut blocks = BlockJacobi::general(&matrix, &starts).unwrap();
        let helpers: [&mut dyn Preconditioner; 2] = [&mut Identity, &mut blocks];
        let iterations = helpers.map(|helper| {
            let mut x = vec![0.0; 576];
            let report = bicgstab(&matrix, helper, &b, &mut x, &Stop::relative(1e-10)).unwrap();
            assert!(report.converged(), "{report}");
            assert!(distance(&x, &solve_dense(&dense(matrix.csr()).concat(), &b).unwrap()) < 1e-6);
            report.iterations
        });
        assert!(iterations[1] < iterations[0], "{iterations:?}");
    }
}

#[test]
fn bicgstab_breaks_down_on_a_rotation_and_says_why() {
    // r·A·r = 0 for every r: the first division is by zero.
    let matrix = from_dense(2, &[0.0, 1.0, -1.0, 0.0]);
    let mut x = [0.0; 2];
    let report = bicgstab(&matrix, &mut Identity, &[1.0, 2.0], &mut x, &Stop::default()).unwrap();
    assert!(
        matches!(report.outcome, Outcome::Breakdown(why) if why.contains("r̂·v = 0")),
        "{report}"
    );
    assert_eq!(x, [0.0; 2], "the best iterate is the first");
}

#[test]
fn bicgstab_names_a_residual_that_its_image_is_orthogonal_to() {
    // After half a step the residual is (0, s, 0), whose image is (s, 0, s).
    let matrix = from_dense(3, &[1.0, 1.0, 0.0, 1.0, 0.0, -1.0, 0.0, 1.0, 1.0]);
    let mut x = [0.0; 3];
    let report =
        bicgstab(&matrix, &mut Identity, &[1.0, 0.0, 0.0], &mut x, &Stop::default()).unwrap();
    assert!(matches!(report.outcome, Outcome::Breakdown(why) if why.contains("ω = 0")), "{report}");
    assert!(report.residual <= 1.0);
}

#[test]
fn a_preconditioner_that_returns_nan_is_named_and_the_guess_survives() {
    let matrix = laplacian_matrix(4);
    let b = noise(64, 10);
    for solve in ALL {
        for bad in [f64::NAN, f64::INFINITY] {
            let mut x = vec![0.5; 64];
            let report = solve(&matrix, &mut Scaled(bad), &b, &mut x, &Stop::default()).unwrap();
            assert!(matches!(report.outcome, Outcome::NotFinite(_)), "{report}");
            assert_eq!(x, [0.5; 64]);
        }
    }
}

#[test]
fn singular_systems_with_a_known_null_space_are_solved_or_called_inconsistent() {
    let ring = Ring::new(200);
    let mut b = noise(200, 11);
    ring.project(&mut b).unwrap();
    for solve in ALL {
        let mut x = vec![0.0; 200];
        let report = solve(&ring, &mut Identity, &b, &mut x, &Stop::relative(1e-9)).unwrap();
        assert!(report.converged(), "{report}");
        assert!(true_residual(&ring, &b, &x) < 1e-8);

        let shifted: Vec<f64> = b.iter().map(|b| b + 1.0).collect();
        let mut x = vec![0.0; 200];
        let report = solve(&ring, &mut Identity, &shifted, &mut x, &Stop::relative(1e-9)).unwrap();
        let Outcome::Inconsistent(share) = report.outcome else { panic!("{report}") };
        let norm = vector::square(&shifted).sqrt();
        assert!((share - 200.0_f64.sqrt() / norm).abs() < 1e-9, "{report}");
        assert!(report.residual < 1e-8, "the reachable part is solved: {report}");
    }
}

#[test]
fn minres_finds_out_by_itself_that_a_system_is_inconsistent() {
    let matrix = Ring::new(100).matrix;
    let mut b = noise(100, 12);
    let mean = b.iter().sum::<f64>() / 100.0;
    b.iter_mut().for_each(|b| *b += 0.5 - mean);
    let mut x = vec![0.0; 100];
    let report = minres(&matrix, &mut Identity, &b, &mut x, &Stop::relative(1e-9)).unwrap();
    let Outcome::Inconsistent(share) = report.outcome else { panic!("{report}") };
    let wanted = 0.5 * 10.0 / vector::square(&b).sqrt();
    assert!((share - wanted).abs() < 1e-6 * wanted, "{report}: {wanted}");
    // Consistent but singular, and nobody says so: converges all the same.
    b.iter_mut().for_each(|b| *b -= 0.5);
    let report = minres(&matrix, &mut Identity, &b, &mut x, &Stop::relative(1e-9)).unwrap();
    assert!(report.converged(), "{report}");
}

#[test]
fn every_method_gives_the_same_bits_on_any_number_of_threads() {
    let matrix = laplacian_matrix(34);
    let b = noise(34 * 34 * 34, 13);
    for solve in ALL {
        let found = same_on_any_threads(|| {
            let mut x = vec![0.0; b.len()];
            let mut helper = IncompleteCholesky::modified(&matrix).unwrap();
            let report = solve(&matrix, &mut helper, &b, &mut x, &Stop::relative(1e-8)).unwrap();
            assert!(report.converged(), "{report}");
            (x.iter().map(|x| x.to_bits()).collect::<Vec<_>>(), report.iterations)
        });
        assert!(found.1 > 3);
    }
}

#[test]
fn bad_right_hand_sides_are_refused_by_row() {
    let matrix = laplacian_matrix(2);
    let mut b = vec![1.0; 8];
    b[5] = f64::NAN;
    let error = cg(&matrix, &mut Identity, &b, &mut [0.0; 8], &Stop::default()).unwrap_err();
    assert!(error.to_string().contains("entry 5 of the right-hand side is NaN"), "{error}");
    let error = cg(&matrix, &mut Identity, &b[..3], &mut [0.0; 8], &Stop::default()).unwrap_err();
    assert_eq!(error, SolveError::WrongLength { what: "the right-hand side", found: 3, wanted: 8 });
}

proptest! {
    #[test]
    fn methods_agree_with_dense_elimination(size in 1_usize..12, seed in 0_u64..1000, shift in 0.5_f64..3.0) {
        let g = noise(size * size, seed);
        let b = noise(size, seed + 1);
        // G·Gᵀ + shift is definite, (G + Gᵀ)/2 with its sign of eigenvalues moved away from zero is not, G + 2·size neither.
        let product = |i: usize, j: usize| (0..size).map(|k| g[i * size + k] * g[j * size + k]).sum::<f64>();
        let spread = |i: usize, j: usize| match i == j {
            true if i.is_multiple_of(2) => shift,
            true => -shift,
            false => 0.0,
        };
        let places = || (0..size * size).map(|n| (n / size, n % size));
        let diagonal = |i: usize, j: usize, value: f64| if i == j { value } else { 0.0 };
        let definite: Vec<f64> = places().map(|(i, j)| product(i, j) + diagonal(i, j, shift)).collect();
        let indefinite: Vec<f64> =
            places().map(|(i, j)| 0.1 * (g[i * size + j] + g[j * size + i]) / size as f64 + spread(i, j)).collect();
        let unsymmetric: Vec<f64> =
            places().map(|(i, j)| g[i * size + j] + diagonal(i, j, 1.0 + size as f64)).collect();
        let cases: [(&[f64], &[Solve]); 3] =
            [(&definite, &ALL), (&indefinite, &[minres]), (&unsymmetric, &[bicgstab])];
        for (dense, methods) in cases {
            let wanted = solve_dense(dense, &b).unwrap();
            let matrix = from_dense(size, dense);
            for solve in methods {
                let mut x = noise(size, seed + 2);
                let report = solve(&matrix, &mut Identity, &b, &mut x, &Stop::relative(1e-10)).unwrap();
                prop_assert!(report.converged(), "{}", report);
                prop_assert!(distance(&x, &wanted) < 1e-7, "{}", report);
            }
        }
    }
}

fn true_residual(operator: &dyn Operator, b: &[f64], x: &[f64]) -> f64 {
    let mut ax = vec![0.0; b.len()];
    operator.apply(&mut x.to_vec(), &mut ax).unwrap();
    let r: Vec<f64> = ax.iter().zip(b).map(|(ax, b)| b - ax).collect();
    (vector::square(&r) / vector::square(b)).sqrt()
}

/// z = factor·r: no preconditioner that one would want.
struct Scaled(f64);

impl Preconditioner for Scaled {
    fn name(&self) -> String {
        format!("{} times", self.0)
    }

    fn apply(&mut self, r: &[f64], z: &mut [f64]) -> Result<()> {
        vector::update(z, r, |_, r| self.0 * r);
        Ok(())
    }

    fn bytes(&self) -> u64 {
        0
    }
}

/// The Laplacian on a ring, singular, which knows its null space: constants.
struct Ring {
    matrix: Matrix,
}

impl Ring {
    fn new(size: usize) -> Self {
        let triplets = (0..size).flat_map(|row| {
            [(row, row, 2.0), (row, (row + 1) % size, -1.0), (row, (row + size - 1) % size, -1.0)]
        });
        Self { matrix: Matrix::single(Csr::from_triplets(size, size, triplets).unwrap()).unwrap() }
    }
}

impl Operator for Ring {
    fn rows(&self) -> &Rows {
        self.matrix.rows()
    }

    fn apply(&self, x: &mut [f64], y: &mut [f64]) -> Result<()> {
        self.matrix.apply(x, y)
    }

    fn is_singular(&self) -> bool {
        true
    }

    fn project(&self, x: &mut [f64]) -> Result<()> {
        let mean = vector::sum(x) / x.len() as f64;
        x.iter_mut().for_each(|x| *x -= mean);
        Ok(())
    }

    fn bytes(&self) -> u64 {
        self.matrix.bytes()
    }
}
