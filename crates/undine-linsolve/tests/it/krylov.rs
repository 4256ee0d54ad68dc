//! Krylov solvers on systems whose answer is known.

use crate::systems::{laplacian_matrix, noise};
use undine_linsolve::krylov::{cg, flexible_cg};
use undine_linsolve::precondition::Jacobi;
use undine_linsolve::{Csr, Matrix, Operator, Outcome, SolveError, Stop, operator::Identity};

#[test]
fn cg_finds_the_solution_it_was_given() {
    let matrix = laplacian_matrix(12);
    let mut wanted = noise(matrix.rows().local(), 1);
    let mut b = vec![0.0; wanted.len()];
    matrix.apply(&mut wanted, &mut b).unwrap();
    for solve in [cg, flexible_cg] {
        let mut x = vec![0.0; b.len()];
        let mut jacobi = Jacobi::new(&matrix).unwrap();
        let report = solve(&matrix, &mut jacobi, &b, &mut x, &Stop::relative(1e-12)).unwrap();
        assert!(report.converged(), "{report}");
        assert!(x.iter().zip(&wanted).all(|(x, wanted)| (x - wanted).abs() < 1e-9));
        assert_eq!(report.history.len(), report.iterations + 1);
    }
}

#[test]
fn a_good_first_guess_needs_no_iteration() {
    let matrix = laplacian_matrix(6);
    let mut x = noise(216, 2);
    let mut b = vec![0.0; 216];
    matrix.apply(&mut x, &mut b).unwrap();
    let report = cg(&matrix, &mut Identity, &b, &mut x, &Stop::default()).unwrap();
    assert_eq!((report.iterations, report.outcome), (0, Outcome::Converged));
}

#[test]
fn an_indefinite_matrix_breaks_down_and_is_named() {
    let csr = Csr::from_triplets(2, 2, [(0, 0, 1.0), (1, 1, -1.0)]).unwrap();
    let matrix = Matrix::single(csr).unwrap();
    let mut x = [0.0; 2];
    let report = cg(&matrix, &mut Identity, &[1.0, 2.0], &mut x, &Stop::default()).unwrap();
    let Outcome::Breakdown(why) = report.outcome else { panic!("{report}") };
    assert!(why.contains("not positive definite"));
    assert!(x.iter().all(|x| x.is_finite()));
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
