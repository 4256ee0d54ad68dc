//! What is wrong with a matrix, named by row and value.

use undine_linsolve::gallery::{half_full, neumann, saddle};
use undine_linsolve::{Csr, SolveError};

fn two_by_two(a: f64, b: f64, c: f64, d: f64) -> Csr<f64> {
    Csr::from_triplets(2, 2, [(0, 0, a), (0, 1, b), (1, 0, c), (1, 1, d)]).unwrap()
}

#[test]
fn a_positive_definite_matrix_passes_and_so_does_a_semidefinite_one() {
    half_full(8).unwrap().matrix.check_spd_hints(1e-12, "CG").unwrap();
    neumann([3; 3]).unwrap().check_spd_hints(1e-12, "CG").unwrap();
}

#[test]
fn what_is_plainly_not_positive_definite_is_named() {
    let error = saddle(3, 0.0).unwrap().check_spd_hints(1e-12, "IC(0)").unwrap_err();
    let wanted = "the diagonal of row 12 is 0, but IC(0) needs it positive";
    assert_eq!(error.to_string(), wanted);
    let error = two_by_two(1.0, 2.0, 2.0, 1.0).check_spd_hints(0.0, "CG").unwrap_err();
    assert_eq!(error, SolveError::NotPositive { row: 0, column: 1, value: 2.0, limit: 1.0 });
    let error = two_by_two(1.0, 0.5, 0.0, 1.0).check_spd_hints(1e-6, "CG").unwrap_err();
    assert!(matches!(error, SolveError::NotSymmetric { row: 0, column: 1, .. }), "{error}");
}

#[test]
fn a_rounded_zero_is_no_want_of_symmetry() {
    let matrix = two_by_two(1.0, 1e-17, -1e-17, 1.0);
    matrix.check_symmetric(1e-12).unwrap();
    assert!(matrix.check_symmetric(0.0).is_err());
}
