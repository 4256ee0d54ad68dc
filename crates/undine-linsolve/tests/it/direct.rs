//! Direct solves against dense ones, orders of elimination, and what happens to matrices that cannot be factored.

use crate::dense::dense;
use crate::systems::{laplacian, noise, share, solve_dense};
use crate::threads::on_processes;
use proptest::prelude::*;
use rayon::ThreadPoolBuilder;
use undine_linsolve::direct::{Direct, Kind, Ordering, fill, solve_direct};
use undine_linsolve::gallery::hilbert;
use undine_linsolve::krylov::cg;
use undine_linsolve::{Csr, Matrix, Operator, Outcome, SolveError, Stop};

const KINDS: [Kind; 4] = [Kind::Cholesky, Kind::CholeskySingle, Kind::Ldlt, Kind::Lu];

/// The solution by dense elimination: the plain truth to compare with.
pub fn dense_solve(csr: &Csr<f64>, b: &[f64]) -> Vec<f64> {
    solve_dense(&dense(csr).concat(), b).expect("a regular matrix")
}

/// A symmetric matrix of given couplings; dominance makes it positive definite.
fn symmetric(n: usize, couplings: &[(usize, usize, f64)], dominance: f64) -> Csr<f64> {
    let mut triplets: Vec<(usize, usize, f64)> = Vec::new();
    let mut diagonal = vec![dominance; n];
    for &(i, j, value) in couplings {
        let (i, j) = (i % n, j % n);
        if i != j {
            triplets.extend([(i, j, value), (j, i, value)]);
            diagonal[i] += value.abs();
            diagonal[j] += value.abs();
        }
    }
    triplets.extend(diagonal.into_iter().enumerate().map(|(i, value)| (i, i, value)));
    Csr::from_triplets(n, n, triplets).unwrap()
}

fn coordinates(n: usize) -> Vec<[f32; 3]> {
    (0..n * n * n).map(|i| [i / (n * n), i / n % n, i % n].map(|x| x as f32)).collect()
}

/// The 5-point Laplacian of an n² square.
fn square(n: usize) -> Csr<f64> {
    let mut triplets = Vec::new();
    for (x, y) in (0..n * n).map(|i| (i / n, i % n)) {
        let here = x * n + y;
        triplets.push((here, here, 4.0));
        for (dx, dy) in [(1, 0), (0, 1)] {
            if x + dx < n && y + dy < n {
                let there = (x + dx) * n + y + dy;
                triplets.extend([(here, there, -1.0), (there, here, -1.0)]);
            }
        }
    }
    Csr::from_triplets(n * n, n * n, triplets).unwrap()
}

fn assert_close(found: &[f64], wanted: &[f64], tolerance: f64) {
    let size = wanted.iter().fold(0.0_f64, |size, x| size.max(x.abs()));
    for (row, (found, wanted)) in found.iter().zip(wanted).enumerate() {
        assert!((found - wanted).abs() <= tolerance * size, "row {row}: {found}, not {wanted}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn every_kind_finds_what_dense_elimination_finds(
        n in 1_usize..70,
        couplings in prop::collection::vec((0_usize..70, 0_usize..70, -1.0_f64..1.0), 0..220),
        seed in 0_u64..1000,
    ) {
        let csr = symmetric(n, &couplings, 0.5);
        let b = noise(n, seed);
        let wanted = dense_solve(&csr, &b);
        for kind in KINDS {
            for ordering in [Ordering::Automatic, Ordering::Natural, Ordering::Dissection] {
                let mut x = vec![0.0; n];
                let report = Direct::factor(&csr, kind, &ordering).unwrap().solve(&b, &mut x).unwrap();
                prop_assert!(report.converged(), "{report}");
                assert_close(&x, &wanted, 1e-9);
            }
        }
    }

    #[test]
    fn indefinite_and_unsymmetric_systems_are_solved_too(
        n in 2_usize..40,
        couplings in prop::collection::vec((0_usize..40, 0_usize..40, -1.0_f64..1.0), 0..100),
        signs in prop::collection::vec(any::<bool>(), 40),
        seed in 0_u64..1000,
    ) {
        let csr = symmetric(n, &couplings, 0.5);
        let b = noise(n, seed);
        // Rows with their sign turned around: the same answer, no longer symmetric.
        let turned = |row: usize| if signs[row] { -1.0 } else { 1.0 };
        let entries = |f: &dyn Fn(usize, usize) -> f64| {
            let all = (0..n).flat_map(|row| csr.row(row).0.iter().map(move |&c| (row, c as usize)));
            Csr::from_triplets(n, n, all.map(|(r, c)| (r, c, f(r, c)))).unwrap()
        };
        let unsymmetric = entries(&|row, column| turned(row) * csr.get(row, column));
        let wanted = dense_solve(&unsymmetric, &b);
        let mut x = vec![0.0; n];
        let report = solve_direct(&Matrix::single(unsymmetric).unwrap(), &b, &mut x).unwrap();
        prop_assert!(report.converged(), "{report}");
        assert_close(&x, &wanted, 1e-9);

        // Symmetric with a diagonal of either sign.
        let indefinite = entries(&|row, column| {
            if row == column { turned(row) * csr.get(row, row) } else { csr.get(row, column) }
        });
        let wanted = dense_solve(&indefinite, &b);
        let report = solve_direct(&Matrix::single(indefinite).unwrap(), &b, &mut x).unwrap();
        prop_assert!(report.converged(), "{report}");
        assert_close(&x, &wanted, 1e-7);
    }

    #[test]
    fn every_order_has_each_unknown_once(
        n in 0_usize..600,
        couplings in prop::collection::vec((0_usize..600, 0_usize..600, -1.0_f64..1.0), 0..1500),
    ) {
        let csr = if n == 0 {
            Csr::from_triplets(0, 0, []).unwrap()
        } else {
            symmetric(n, &couplings, 0.5)
        };
        let points: Vec<[f32; 3]> =
            noise(3 * n, 5).chunks(3).map(|p| [p[0] as f32, p[1] as f32, p[2] as f32]).collect();
        for ordering in [
            Ordering::Automatic,
            Ordering::Natural,
            Ordering::MinimumDegree,
            Ordering::Dissection,
            Ordering::Geometric(points),
        ] {
            let (mut order, name) = ordering.order(&csr).unwrap();
            order.sort_unstable();
            prop_assert!(order.iter().copied().eq(0..n as u32), "{}", name);
        }
    }
}

#[test]
fn the_fill_that_was_counted_is_the_fill_that_elimination_makes() {
    let csr = laplacian(6);
    for ordering in [Ordering::Natural, Ordering::Dissection, Ordering::MinimumDegree] {
        let (order, _) = ordering.order(&csr).unwrap();
        let n = csr.rows();
        let mut filled = vec![vec![false; n]; n];
        for (i, &row) in order.iter().enumerate() {
            for (j, &column) in order.iter().enumerate() {
                filled[i][j] = csr.get(row as usize, column as usize) != 0.0;
            }
        }
        for k in 0..n {
            for i in (k + 1..n).filter(|&i| filled[i][k]).collect::<Vec<_>>() {
                for j in (k + 1..=i).filter(|&j| filled[j][k]).collect::<Vec<_>>() {
                    filled[i][j] = true;
                }
            }
        }
        let entries: usize = (0..n).map(|i| filled[i][..=i].iter().filter(|&&x| x).count()).sum();
        assert_eq!(fill(&csr, &ordering).unwrap().0, entries as u64, "{ordering:?}");
    }
}

#[test]
fn dissection_beats_minimum_degree_and_both_beat_the_natural_order() {
    let work = |csr: &Csr<f64>, ordering: &Ordering| fill(csr, ordering).unwrap().1;
    let cube = laplacian(24);
    let natural = work(&cube, &Ordering::Natural);
    let degree = work(&cube, &Ordering::MinimumDegree);
    let dissection = work(&cube, &Ordering::Dissection);
    let geometric = work(&cube, &Ordering::Geometric(coordinates(24)));
    assert!(degree < 0.5 * natural, "{degree} of {natural}");
    assert!(dissection < 0.8 * degree, "{dissection} of {degree}");
    assert!(geometric < 0.8 * degree, "{geometric} of {degree}");
    assert!(work(&cube, &Ordering::Automatic) <= degree.min(dissection));

    let plane = square(80);
    let natural = work(&plane, &Ordering::Natural);
    let degree = work(&plane, &Ordering::MinimumDegree);
    let dissection = work(&plane, &Ordering::Dissection);
    assert!(degree < 0.3 * natural && dissection < 0.3 * natural);
    assert!(dissection < 1.2 * degree, "{dissection} of {degree}");
}

#[test]
fn factors_have_the_same_bits_on_any_number_of_threads() {
    // Large enough for subtrees, tiles and chunks to be shared out.
    let csr = laplacian(22);
    let b = noise(csr.rows(), 3);
    for (kind, ordering) in [
        (Kind::Cholesky, Ordering::Dissection),
        (Kind::Cholesky, Ordering::Geometric(coordinates(22))),
        (Kind::CholeskySingle, Ordering::Automatic),
        (Kind::Ldlt, Ordering::MinimumDegree),
        (Kind::Lu, Ordering::Automatic),
    ] {
        let solve = |threads: usize| {
            let pool = ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| {
                let mut x = vec![0.0; b.len()];
                let mut direct = Direct::factor(&csr, kind, &ordering).unwrap();
                let report = direct.solve(&b, &mut x).unwrap();
                assert!(report.converged(), "{report}");
                x.into_iter().map(f64::to_bits).collect::<Vec<_>>()
            })
        };
        let alone = solve(1);
        for threads in [2, 3, 7] {
            assert!(solve(threads) == alone, "{kind:?} on {threads} threads");
        }
    }
}

#[test]
fn a_new_factor_of_the_same_pattern_is_the_factor_made_anew() {
    let csr = laplacian(8);
    let mut other = csr.clone();
    for (n, value) in other.values_mut().iter_mut().enumerate() {
        *value *= if *value > 0.0 { 1.5 + 0.1 * (n % 7) as f64 } else { 1.0 };
    }
    let b = noise(csr.rows(), 4);
    for kind in KINDS {
        let mut kept = Direct::factor(&csr, kind, &Ordering::Dissection).unwrap();
        kept.refactor(&other).unwrap();
        let mut anew = Direct::factor(&other, kind, &Ordering::Dissection).unwrap();
        let (mut x, mut y) = (vec![0.0; b.len()], vec![0.0; b.len()]);
        assert!(kept.solve(&b, &mut x).unwrap().converged());
        assert!(anew.solve(&b, &mut y).unwrap().converged());
        assert_eq!(x, y, "{kind:?}");

        // Another pattern, even another size, is no obstacle.
        kept.refactor(&laplacian(3)).unwrap();
        let mut x = vec![0.0; 27];
        assert!(kept.solve(&noise(27, 5), &mut x).unwrap().converged());
    }
}

#[test]
fn a_factor_preconditions_cg_into_one_step() {
    let matrix = Matrix::single(laplacian(7)).unwrap();
    let b = noise(343, 6);
    let mut direct = Direct::factor(matrix.csr(), Kind::Cholesky, &Ordering::Automatic).unwrap();
    let mut x = vec![0.0; 343];
    let report = cg(&matrix, &mut direct, &b, &mut x, &Stop::relative(1e-10)).unwrap();
    assert!(report.converged() && report.iterations <= 2, "{report}");
}

#[test]
fn a_bad_pivot_is_named_by_its_row() {
    // Row 57 alone is at fault, wherever the order of elimination puts it.
    let mut csr = laplacian(6);
    let at = csr.range(57).start + csr.row(57).0.binary_search(&57).unwrap();
    csr.values_mut()[at] = -5.0;
    for ordering in [Ordering::Natural, Ordering::Dissection, Ordering::MinimumDegree] {
        match Direct::factor(&csr, Kind::Cholesky, &ordering).unwrap_err() {
            SolveError::BadPivot { row, pivot, .. } => {
                assert!(row == 57 && pivot <= -5.0, "row {row}, pivot {pivot}");
            }
            other => panic!("{other}"),
        }
    }
    let mut x = vec![0.0; 216];
    let b = noise(216, 7);
    let report = solve_direct(&Matrix::single(csr).unwrap(), &b, &mut x).unwrap();
    assert!(report.converged() && report.solver.contains("LDL"), "{report}");
    assert!(report.notes.iter().any(|note| note.contains("row 57")), "{report}");
}

#[test]
fn singular_systems_are_named_and_semi_definite_ones_solved() {
    // A row of zeros: no factor of any kind, and the row is said.
    let csr = Csr::from_triplets(3, 3, [(0, 0, 2.0), (2, 2, 1.0), (1, 1, 0.0)]).unwrap();
    for kind in KINDS {
        match Direct::factor(&csr, kind, &Ordering::Natural).unwrap_err() {
            SolveError::BadPivot { row: 1, .. } => {}
            other => panic!("{kind:?}: {other}"),
        }
    }

    // A closed box: constants are free. What can be reached is, what cannot is said.
    let n = 6;
    let open = laplacian(n);
    let mut triplets = Vec::new();
    for row in 0..open.rows() {
        let others = open.row(row).0.iter().filter(|&&column| column as usize != row);
        triplets.push((row, row, others.clone().count() as f64));
        triplets.extend(others.map(|&column| (row, column as usize, -1.0)));
    }
    let closed = Matrix::single(Csr::from_triplets(216, 216, triplets).unwrap()).unwrap();
    let mut b = noise(216, 8);
    let mean = b.iter().sum::<f64>() / 216.0;
    b.iter_mut().for_each(|b| *b -= mean);
    let mut x = vec![0.0; 216];
    let report = solve_direct(&closed, &b, &mut x).unwrap();
    assert!(report.converged(), "{report}");
    assert!(report.notes.iter().any(|note| note.contains("semi-definite")), "{report}");
    b.iter_mut().for_each(|b| *b += 1.0);
    let report = solve_direct(&closed, &b, &mut x).unwrap();
    assert!(!report.converged(), "{report}");
    assert!(x.iter().all(|x| x.is_finite()));
}

#[test]
fn empty_tiny_and_disconnected_systems_are_no_exception() {
    let empty = Csr::from_triplets(0, 0, []).unwrap();
    let one = Csr::from_triplets(1, 1, [(0, 0, 4.0)]).unwrap();
    // 700 pairs that know nothing of each other.
    let pairs =
        symmetric(1400, &(0..700).map(|n| (2 * n, 2 * n + 1, -1.0)).collect::<Vec<_>>(), 1.0);
    for kind in KINDS {
        let mut direct = Direct::factor(&empty, kind, &Ordering::Automatic).unwrap();
        assert!(direct.solve(&[], &mut []).unwrap().converged());
        let mut x = [0.0];
        let mut direct = Direct::factor(&one, kind, &Ordering::Automatic).unwrap();
        assert!(direct.solve(&[2.0], &mut x).unwrap().converged());
        assert_eq!(x, [0.5]);
        for ordering in [Ordering::Automatic, Ordering::Dissection] {
            let b = noise(1400, 9);
            let mut x = vec![0.0; 1400];
            let mut direct = Direct::factor(&pairs, kind, &ordering).unwrap();
            assert!(direct.solve(&b, &mut x).unwrap().converged());
            let mut ax = vec![0.0; 1400];
            pairs.multiply(&x, &mut ax);
            assert_close(&ax, &b, 1e-9);
        }
    }
}

#[test]
fn a_long_chain_does_not_overflow_the_stack() {
    let n = 200_000;
    let chain = symmetric(n, &(1..n).map(|i| (i - 1, i, -1.0)).collect::<Vec<_>>(), 1e-3);
    let b = noise(n, 10);
    let mut x = vec![0.0; n];
    for ordering in [Ordering::Natural, Ordering::Automatic] {
        let mut direct = Direct::factor(&chain, Kind::Cholesky, &ordering).unwrap();
        assert!(direct.solve(&b, &mut x).unwrap().converged());
    }
}

#[test]
fn what_is_no_system_is_refused() {
    let flat = Csr::from_triplets(2, 3, [(0, 0, 1.0)]).unwrap();
    let error = Direct::factor(&flat, Kind::Lu, &Ordering::Automatic).unwrap_err();
    assert_eq!(error, SolveError::NotSquare { rows: 2, columns: 3 });

    let lopsided = Csr::from_triplets(2, 2, [(0, 0, 2.0), (0, 1, 1.0), (1, 1, 2.0)]).unwrap();
    let error = Direct::factor(&lopsided, Kind::Cholesky, &Ordering::Automatic).unwrap_err();
    assert!(matches!(error, SolveError::NotSymmetric { row: 0, column: 1, .. }), "{error}");

    let csr = laplacian(2);
    for order in [vec![0, 1, 2], vec![0, 1, 2, 3, 4, 5, 6, 6], vec![0, 1, 2, 3, 4, 5, 6, 8]] {
        assert!(Direct::factor(&csr, Kind::Cholesky, &Ordering::Given(order)).is_err());
    }
    let nowhere = Ordering::Geometric(vec![[f32::NAN; 3]; 8]);
    assert!(Direct::factor(&csr, Kind::Cholesky, &nowhere).is_err());

    let mut direct = Direct::factor(&csr, Kind::Cholesky, &Ordering::Automatic).unwrap();
    let mut x = vec![0.0; 8];
    assert!(direct.solve(&[1.0; 7], &mut x).is_err());
    let error = direct.solve(&[f64::INFINITY; 8], &mut x).unwrap_err();
    assert!(matches!(error, SolveError::VectorNotFinite { row: 0, .. }), "{error}");
}

#[test]
fn single_precision_reaches_the_same_residual_or_says_that_it_does_not() {
    let csr = laplacian(14);
    let b = noise(csr.rows(), 11);
    let mut x = vec![0.0; b.len()];
    let mut single = Direct::factor(&csr, Kind::CholeskySingle, &Ordering::Automatic).unwrap();
    let report = single.solve(&b, &mut x).unwrap();
    assert!(report.converged() && report.residual < 1e-10, "{report}");

    // Too ill-conditioned for it: refused or reported, never a silent wrong answer.
    let hard = symmetric(2, &[(0, 1, 1.0)], 1e-11);
    if let Ok(mut single) = Direct::factor(&hard, Kind::CholeskySingle, &Ordering::Automatic) {
        let mut x = [0.0; 2];
        let report = single.solve(&[1.0, 0.0], &mut x).unwrap();
        assert!(!report.converged() || report.residual < 1e-9, "{report}");
        assert_ne!(report.outcome, Outcome::IterationLimit);
    }
}

#[test]
fn several_processes_gather_the_system_and_solve_it() {
    let whole = laplacian(6);
    let b = noise(216, 12);
    let mut wanted = vec![0.0; 216];
    let single = Matrix::single(whole.clone()).unwrap();
    assert!(solve_direct(&single, &b, &mut wanted).unwrap().converged());
    for count in [2, 3] {
        let found = on_processes(count, |processes| {
            let (matrix, own) = share(&processes, &whole);
            let mut x = vec![0.0; own.len()];
            let report = solve_direct(&matrix, &b[own], &mut x).unwrap();
            assert!(report.converged(), "{report}");
            x
        });
        assert_eq!(found.concat(), wanted, "{count} processes");
    }
}

#[test]
fn what_a_nearly_singular_matrix_cannot_reach_is_never_called_solved() {
    let hilbert = hilbert(30).unwrap();
    let matrix = Matrix::single(hilbert.clone()).unwrap();
    let mut some = noise(30, 3);
    let mut reachable = vec![0.0; 30];
    matrix.apply(&mut some, &mut reachable).unwrap();
    let mut x = vec![0.0; 30];
    let report = solve_direct(&matrix, &reachable, &mut x).unwrap();
    assert!(report.converged() && report.residual < 1e-9, "{report}");

    // No factor of whatever kind, and no way through them.
    let beyond = noise(30, 4);
    let report = solve_direct(&matrix, &beyond, &mut x).unwrap();
    assert!(!report.converged() && report.residual < 1.01, "{report}");
    assert!(report.notes.iter().any(|note| note.contains("diagonal raised")), "{report}");
    assert!(x.iter().all(|x| x.is_finite()));
    for kind in [Kind::Ldlt, Kind::Lu] {
        let Ok(mut direct) = Direct::factor(&hilbert, kind, &Ordering::Natural) else { continue };
        let report = direct.solve(&beyond, &mut x).unwrap();
        assert!(!report.converged() || report.residual <= 1e-6, "{report}");
    }
}
