//! Preconditioners: what they invert exactly, what they refuse, and what they gain.

use crate::dense;
use crate::systems::{
    distance, from_dense, laplacian_matrix, noise, same_on_any_threads, solve_dense,
};
use proptest::prelude::*;
use undine_linsolve::krylov::cg;
use undine_linsolve::precondition::{BlockJacobi, IncompleteCholesky, Jacobi};
use undine_linsolve::{
    Csr, Matrix, Operator, Preconditioner, SolveError, Stop, operator::Identity,
};

#[test]
fn incomplete_cholesky_of_a_tridiagonal_matrix_is_exact() {
    let size = 900;
    let off: Vec<f64> = noise(size, 1);
    let triplets = (0..size).flat_map(|row| {
        let last = row + 1 == size;
        let neighbours = [(row, row + 1, off[row]), (row + 1, row, off[row])];
        let neighbours = neighbours.into_iter().filter(move |_| !last);
        neighbours.chain([(row, row, 2.2)])
    });
    let matrix = Matrix::single(Csr::from_triplets(size, size, triplets).unwrap()).unwrap();
    let b = noise(size, 2);
    for factor in [IncompleteCholesky::plain, IncompleteCholesky::modified] {
        let mut helper = factor(&matrix).unwrap();
        assert_eq!((helper.shift(), helper.replaced()), (0.0, 0));
        let mut x = vec![0.0; size];
        let report = cg(&matrix, &mut helper, &b, &mut x, &Stop::relative(1e-6)).unwrap();
        assert_eq!(report.iterations, 1, "{report}");
    }
}

#[test]
fn each_preconditioner_of_poisson_beats_the_one_before() {
    let matrix = laplacian_matrix(40);
    let b = noise(64_000, 3);
    let mut jacobi = Jacobi::new(&matrix).unwrap();
    let mut lines = BlockJacobi::new(&matrix, &BlockJacobi::uniform(64_000, 20)).unwrap();
    let mut plain = IncompleteCholesky::plain(&matrix).unwrap();
    let mut modified = IncompleteCholesky::modified(&matrix).unwrap();
    let helpers: [&mut dyn Preconditioner; 4] =
        [&mut jacobi, &mut lines, &mut plain, &mut modified];
    let iterations = helpers.map(|helper| {
        let mut x = vec![0.0; b.len()];
        let report = cg(&matrix, helper, &b, &mut x, &Stop::relative(1e-8)).unwrap();
        assert!(report.converged(), "{report}");
        report.iterations
    });
    assert!(iterations.windows(2).all(|pair| 20 * pair[1] < 19 * pair[0]), "{iterations:?}");
}

#[test]
fn incomplete_cholesky_with_all_the_pattern_it_needs_is_cholesky() {
    let dense = definite(9, 4);
    let matrix = from_dense(9, &dense);
    let b = noise(9, 5);
    for factor in [IncompleteCholesky::plain, IncompleteCholesky::modified] {
        let mut z = [0.0; 9];
        factor(&matrix).unwrap().apply(&b, &mut z).unwrap();
        let wanted = solve_dense(&dense, &b).unwrap();
        assert!(
            distance(&z, &wanted) < 1e-5 * wanted.iter().fold(1.0, |m, w| f64::max(m, w.abs()))
        );
    }
}

#[test]
fn a_factorisation_that_breaks_down_shifts_its_diagonal_and_says_so() {
    // Positive definite, but not after the fill is dropped (Kershaw 1978).
    let dense =
        [3.0, -2.0, 0.0, 2.0, -2.0, 3.0, -2.0, 0.0, 0.0, -2.0, 3.0, -2.0, 2.0, 0.0, -2.0, 3.0];
    let matrix = from_dense(4, &dense);
    let mut helper = IncompleteCholesky::plain(&matrix).unwrap();
    assert!(helper.shift() > 0.0 && helper.name().contains("shifted"), "{}", helper.name());
    let b = noise(4, 6);
    let mut x = [0.0; 4];
    let report = cg(&matrix, &mut helper, &b, &mut x, &Stop::relative(1e-10)).unwrap();
    assert!(report.converged(), "{report}");
    assert!(distance(&x, &solve_dense(&dense, &b).unwrap()) < 1e-8);

    let mut helper = IncompleteCholesky::modified(&matrix).unwrap();
    assert!(helper.name().contains(&format!("{} pivots replaced", helper.replaced())));
    let report = cg(&matrix, &mut helper, &b, &mut [0.0; 4], &Stop::relative(1e-10)).unwrap();
    assert!(report.converged(), "{report}");
}

#[test]
fn what_cannot_be_factored_is_refused_by_row() {
    let bad = from_dense(2, &[1.0, 0.0, 0.0, -2.0]);
    for factor in [IncompleteCholesky::plain, IncompleteCholesky::modified] {
        let error = factor(&bad).unwrap_err();
        assert!(matches!(error, SolveError::BadDiagonal { row: 1, value: -2.0, .. }), "{error}");
        let lopsided = from_dense(2, &[1.0, 0.5, 0.4, 1.0]);
        assert!(matches!(factor(&lopsided).unwrap_err(), SolveError::NotSymmetric { row: 0, .. }));
    }
    assert!(matches!(Jacobi::new(&bad).unwrap_err(), SolveError::BadDiagonal { row: 1, .. }));
    let singular = from_dense(3, &[1.0, 0.0, 0.0, 0.0, 1.0, 2.0, 0.0, 2.0, 4.0]);
    let error = BlockJacobi::general(&singular, &[0, 1, 3]).unwrap_err();
    assert!(
        error.to_string().contains("block 1 cannot be factored: the pivot of row 2"),
        "{error}"
    );
    for starts in [&[0_u32, 2][..], &[1, 3], &[0, 2, 2, 3], &[]] {
        assert!(matches!(BlockJacobi::new(&singular, starts), Err(SolveError::BadValue { .. })));
    }
}

#[test]
fn stored_zeros_change_nothing() {
    let triplets = [(0, 0, 2.0), (0, 2, 0.0), (1, 1, 3.0), (1, 2, 1.0), (2, 1, 1.0), (2, 2, 2.0)];
    let matrix = Matrix::single(Csr::from_triplets(3, 3, triplets).unwrap()).unwrap();
    let mut z = [0.0; 3];
    IncompleteCholesky::plain(&matrix).unwrap().apply(&[2.0, 4.0, 3.0], &mut z).unwrap();
    assert!(distance(&z, &[1.0, 1.0, 1.0]) < 1e-6);
}

#[test]
fn blocks_of_different_sizes_are_inverted_exactly() {
    let dense = definite(10, 7);
    let starts = [0_u32, 1, 4, 10];
    let block = |row: usize| starts.iter().filter(|&&start| start as usize <= row).count();
    let diagonal: Vec<f64> =
        (0..100).map(|n| if block(n / 10) == block(n % 10) { dense[n] } else { 0.0 }).collect();
    let r = noise(10, 8);
    let wanted = solve_dense(&diagonal, &r).unwrap();
    let matrix = from_dense(10, &dense);
    for make in [BlockJacobi::new, BlockJacobi::general] {
        let mut z = [0.0; 10];
        let mut helper = make(&matrix, &starts).unwrap();
        helper.apply(&r, &mut z).unwrap();
        assert!(distance(&z, &wanted) < 1e-10);
        assert!(helper.shifted().is_empty());
    }
}

#[test]
fn a_block_that_is_not_definite_is_shifted_and_named() {
    let matrix = from_dense(
        4,
        &[1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 2.0, 0.0, 0.0, 2.0, 1.0],
    );
    let mut helper = BlockJacobi::new(&matrix, &[0, 2, 4]).unwrap();
    assert_eq!(helper.shifted(), [1]);
    assert_eq!(helper.name(), "block Jacobi, 1 of 2 blocks shifted");
    let mut z = [0.0; 4];
    for r in [[0.0, 0.0, 1.0, -1.0], [0.0, 0.0, 1.0, 1.0], [1.0, -2.0, 0.3, 0.1]] {
        helper.apply(&r, &mut z).unwrap();
        assert!(r.iter().zip(&z).map(|(r, z)| r * z).sum::<f64>() > 0.0, "definite now");
    }
}

#[test]
fn factors_and_solves_have_the_same_bits_on_any_number_of_threads() {
    let matrix = laplacian_matrix(36);
    let r = noise(36 * 36 * 36, 9);
    for factor in [IncompleteCholesky::plain, IncompleteCholesky::modified] {
        same_on_any_threads(|| {
            let mut z = vec![0.0; r.len()];
            factor(&matrix).unwrap().apply(&r, &mut z).unwrap();
            z.iter().map(|z| z.to_bits()).collect::<Vec<_>>()
        });
    }
    let starts = BlockJacobi::uniform(r.len(), 3);
    same_on_any_threads(|| {
        let mut z = vec![0.0; r.len()];
        BlockJacobi::new(&matrix, &starts).unwrap().apply(&r, &mut z).unwrap();
        z.iter().map(|z| z.to_bits()).collect::<Vec<_>>()
    });
}

proptest! {
    #[test]
    fn incomplete_factors_are_symmetric_and_positive(seed in 0_u64..500, n in 2_usize..5) {
        let matrix = laplacian_matrix(n);
        let size = matrix.rows().local();
        let mut values = dense::dense(matrix.csr()).concat();
        let bumps = noise(size, seed);
        (0..size).for_each(|row| values[row * size + row] += bumps[row].abs());
        let matrix = from_dense(size, &values);
        let (r, s) = (noise(size, seed + 1), noise(size, seed + 2));
        for factor in [IncompleteCholesky::plain, IncompleteCholesky::modified] {
            let mut helper = factor(&matrix).unwrap();
            let (mut zr, mut zs) = (vec![0.0; size], vec![0.0; size]);
            helper.apply(&r, &mut zr).unwrap();
            helper.apply(&s, &mut zs).unwrap();
            let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
            prop_assert!((dot(&s, &zr) - dot(&r, &zs)).abs() < 1e-10);
            prop_assert!(dot(&r, &zr) > 0.0);
        }
    }

    #[test]
    fn any_helper_leads_cg_to_the_dense_solution(seed in 0_u64..500, size in 2_usize..16) {
        let dense = definite(size, seed);
        let matrix = from_dense(size, &dense);
        let b = noise(size, seed + 1);
        let wanted = solve_dense(&dense, &b).unwrap();
        let helpers: [Box<dyn Preconditioner>; 5] = [
            Box::new(Identity),
            Box::new(Jacobi::new(&matrix).unwrap()),
            Box::new(BlockJacobi::new(&matrix, &BlockJacobi::uniform(size, 3)).unwrap()),
            Box::new(IncompleteCholesky::plain(&matrix).unwrap()),
            Box::new(IncompleteCholesky::modified(&matrix).unwrap()),
        ];
        for mut helper in helpers {
            let mut x = vec![0.0; size];
            let report = cg(&matrix, &mut *helper, &b, &mut x, &Stop::relative(1e-11)).unwrap();
            prop_assert!(report.converged(), "{}", report);
            prop_assert!(distance(&x, &wanted) < 1e-7, "{}", report);
        }
    }
}

/// A dense positive definite matrix: G·Gᵀ and some more on the diagonal.
fn definite(size: usize, seed: u64) -> Vec<f64> {
    let g = noise(size * size, seed);
    let product =
        |i: usize, j: usize| (0..size).map(|k| g[i * size + k] * g[j * size + k]).sum::<f64>();
    (0..size * size)
        .map(|n| (n / size, n % size))
        .map(|(i, j)| product(i, j) + if i == j { 0.3 } else { 0.0 })
        .collect()
}
