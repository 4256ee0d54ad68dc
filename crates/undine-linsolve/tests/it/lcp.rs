//! Bounded systems: against all active sets tried one after the other, and against each other.

use crate::dense::{product, smallest_scaled_pivot};
use crate::systems::{
    distance, from_dense, laplacian_matrix, noise, same_on_any_threads, share, solve_dense,
};
use crate::threads::on_processes;
use proptest::prelude::*;
use undine_linsolve::gallery::{BoundedSystem, dam_break, neumann};
use undine_linsolve::krylov::{bicgstab, cg, minres};
use undine_linsolve::lcp::{Bounds, Coloured, LcpReport, pgs, predictor_corrector};
use undine_linsolve::precondition::{IncompleteCholesky, Jacobi};
use undine_linsolve::{
    Csr, Matrix, Operator, Outcome, Preconditioner, Result, Rows, SolveError, Stop,
    operator::Identity,
};

const INFINITY: f64 = f64::INFINITY;

/// Both methods from the same guess.
fn both(
    matrix: &Matrix,
    b: &[f64],
    bounds: (&[f64], &[f64]),
    guess: &[f64],
    relative: f64,
) -> [(Vec<f64>, LcpReport); 2] {
    let system = Coloured::new(matrix).unwrap();
    let bounds = Bounds::new(matrix.rows(), bounds.0, bounds.1).unwrap();
    let stop = Stop { iterations: 200_000, ..Stop::relative(relative) };
    let mut jacobi = Jacobi::new(matrix).unwrap();
    let (mut x, mut y) = (guess.to_vec(), guess.to_vec());
    let slow = pgs(&system, b, &bounds, &mut x, &stop).unwrap();
    let fast = predictor_corrector(&system, &mut jacobi, b, &bounds, &mut y, &stop).unwrap();
    [(x, slow), (y, fast)]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]
    #[test]
    fn tiny_systems_have_the_solution_that_trying_all_active_sets_finds(
        size in 1_usize..6,
        seed in 0_u64..100_000,
        open in 0_u32..1024,
        shift in 0.1_f64..2.0,
    ) {
        let g = noise(size * size, seed);
        let product = |i: usize, j: usize| (0..size).map(|k| g[i * size + k] * g[j * size + k]).sum::<f64>();
        let dense: Vec<f64> = (0..size * size)
            .map(|n| product(n / size, n % size) + if n / size == n % size { shift } else { 0.0 })
            .collect();
        let b = noise(size, seed + 1);
        let (mut lower, mut upper) = (noise(size, seed + 2), noise(size, seed + 3));
        for row in 0..size {
            let (l, u) = (lower[row].min(upper[row]), lower[row].max(upper[row]));
            lower[row] = if open >> row & 1 == 1 { -INFINITY } else { l };
            upper[row] = if open >> (row + 5) & 1 == 1 { INFINITY } else { u };
            if (seed + row as u64).is_multiple_of(7) && l.is_finite() {
                lower[row] = u;
                upper[row] = u;
            }
        }
        let wanted = try_all(&dense, &b, &lower, &upper).expect("a positive definite system has a solution");
        let matrix = from_dense(size, &dense);
        for (x, report) in both(&matrix, &b, (&lower, &upper), &noise(size, seed + 4), 1e-11) {
            prop_assert!(report.converged(), "{}", report);
            prop_assert!(distance(&x, &wanted) < 1e-8, "{:?} {:?} {}", x, wanted, report);
        }
    }
}

/// The solution of a bounded system by trying every row free, at its lower and at its upper bound.
fn try_all(a: &[f64], b: &[f64], lower: &[f64], upper: &[f64]) -> Option<Vec<f64>> {
    let size = b.len();
    let whole: Vec<Vec<f64>> = a.chunks(size).map(<[f64]>::to_vec).collect();
    (0..3_usize.pow(size as u32)).find_map(|code| {
        let state = |row: usize| code / 3_usize.pow(row as u32) % 3;
        let (mut rows, mut right) = (a.to_vec(), b.to_vec());
        for row in (0..size).filter(|&row| state(row) > 0) {
            let bound = if state(row) == 1 { lower[row] } else { upper[row] };
            if !bound.is_finite() {
                return None;
            }
            (0..size).for_each(|c| rows[row * size + c] = f64::from(u8::from(c == row)));
            right[row] = bound;
        }
        let x = solve_dense(&rows, &right)?;
        let ax = product(&whole, &x);
        let solved = (0..size).all(|row| {
            let w = ax[row] - b[row];
            let inside = x[row] >= lower[row] - 1e-10 && x[row] <= upper[row] + 1e-10;
            let is_fixed = lower[row] == upper[row];
            inside
                && match state(row) {
                    0 => true,
                    1 => is_fixed || w >= -1e-10,
                    _ => is_fixed || w <= 1e-10,
                }
        });
        solved.then_some(x)
    })
}

/// A string under a load f, u(0) = u(1) = 0, comes to lie on a floor at −δ. Left of the floor u = f/2·(x − a)² − δ with
/// a = √(2δ/f); second differences are exact on it when a is a node.
#[test]
fn a_string_lies_on_the_floor_where_it_should() {
    let (nodes, touches) = (199_usize, 60);
    let h = 1.0 / (nodes + 1) as f64;
    let (f, a) = (8.0, touches as f64 * h);
    let depth = 0.5 * f * a * a;
    let triplets = (0..nodes).flat_map(|row: usize| {
        let sides = [(row, row.wrapping_sub(1), -1.0), (row, row + 1, -1.0)];
        sides.into_iter().filter(move |&(_, c, _)| c < nodes).chain([(row, row, 2.0)])
    });
    let matrix = Matrix::single(Csr::from_triplets(nodes, nodes, triplets).unwrap()).unwrap();
    let b = vec![-f * h * h; nodes];
    let bounds = (vec![-depth; nodes], vec![INFINITY; nodes]);
    let exact: Vec<f64> = (1..=nodes)
        .map(|n| (n as f64 * h).min(1.0 - n as f64 * h))
        .map(|x| 0.5 * f * (a - x).max(0.0).powi(2) - depth)
        .collect();
    for (x, report) in both(&matrix, &b, (&bounds.0, &bounds.1), &vec![0.0; nodes], 1e-9) {
        assert!(report.converged(), "{report}");
        assert!(distance(&x, &exact) < 1e-6, "{report}");
        assert_eq!(report.at_lower, (nodes + 2 - 2 * touches) as u64, "{report}");
        assert_eq!(report.at_upper, 0);
    }
}

#[test]
fn bounds_that_hold_everywhere_or_nowhere_are_no_special_case() {
    let matrix = laplacian_matrix(5);
    let b = noise(125, 1);
    let wide = (vec![-100.0; 125], vec![100.0; 125]);
    let mut free = vec![0.0; 125];
    let report = cg(&matrix, &mut Identity, &b, &mut free, &Stop::relative(1e-12)).unwrap();
    assert!(report.converged());
    for (x, report) in both(&matrix, &b, (&wide.0, &wide.1), &[0.0; 125], 1e-10) {
        assert!(report.converged() && distance(&x, &free) < 1e-8, "{report}");
        assert_eq!((report.at_lower, report.at_upper), (0, 0));
    }
    let open = (vec![-INFINITY; 125], vec![INFINITY; 125]);
    for (x, report) in both(&matrix, &b, (&open.0, &open.1), &[0.0; 125], 1e-10) {
        assert!(report.converged() && distance(&x, &free) < 1e-8, "{report}");
    }
    let ceiling = (vec![-INFINITY; 125], vec![0.25; 125]);
    let pushed = vec![100.0; 125];
    for (x, report) in both(&matrix, &pushed, (&ceiling.0, &ceiling.1), &[0.0; 125], 1e-10) {
        assert!(report.converged() && x == [0.25; 125], "{report}");
        assert_eq!((report.at_lower, report.at_upper), (0, 125));
    }
    let fixed = noise(125, 2);
    for (x, report) in both(&matrix, &b, (&fixed, &fixed), &[0.0; 125], 1e-10) {
        assert!(report.converged() && x == fixed, "{report}");
    }
}

#[test]
fn a_right_hand_side_of_zero_gives_the_admissible_zero() {
    let matrix = laplacian_matrix(3);
    let (lower, upper) = (vec![-1.0; 27], vec![INFINITY; 27]);
    for (x, report) in both(&matrix, &[0.0; 27], (&lower, &upper), &noise(27, 3), 1e-8) {
        assert!(report.converged() && x == [0.0; 27], "{report}");
    }
}

#[test]
fn both_methods_agree_on_a_dam_that_breaks() {
    let BoundedSystem { matrix, b, lower, upper } = dam_break(16).unwrap();
    let matrix = Matrix::single(matrix).unwrap();
    let [(slow, by_sweeps), (fast, report)] =
        both(&matrix, &b, (&lower, &upper), &vec![0.0; b.len()], 1e-8);
    assert!(by_sweeps.converged() && report.converged(), "{by_sweeps}\n{report}");
    assert!(distance(&slow, &fast) < 1e-5);
    assert_eq!(by_sweeps.at_lower, report.at_lower);
    let bounded = lower.iter().filter(|lower| lower.is_finite()).count() as u64;
    assert!(
        report.at_lower > bounded / 10 && report.at_lower < bounded / 2,
        "part of the walls suck: {report}"
    );
    assert!(report.report.iterations <= 10 && report.krylov_iterations < 150, "{report}");
    assert!(by_sweeps.sweeps > 20 * report.sweeps, "{by_sweeps}");
}

#[test]
fn rounds_hardly_grow_with_the_size_of_the_dam() {
    let rounds = [8, 16, 32].map(|n| {
        let BoundedSystem { matrix, b, lower, upper } = dam_break(n).unwrap();
        let matrix = Matrix::single(matrix).unwrap();
        let system = Coloured::new(&matrix).unwrap();
        let bounds = Bounds::new(matrix.rows(), &lower, &upper).unwrap();
        let mut helper = IncompleteCholesky::modified(&matrix).unwrap();
        let mut x = vec![0.0; b.len()];
        let report =
            predictor_corrector(&system, &mut helper, &b, &bounds, &mut x, &Stop::relative(1e-8))
                .unwrap();
        assert!(report.converged(), "{report}");
        report.report.iterations
    });
    assert!(rounds.into_iter().all(|rounds| rounds <= 12), "{rounds:?}");
}

#[test]
fn a_warm_start_saves_the_prediction_and_most_rounds() {
    let BoundedSystem { matrix, mut b, lower, upper } = dam_break(16).unwrap();
    let matrix = Matrix::single(matrix).unwrap();
    let zeros = vec![0.0; b.len()];
    let [_, (before, cold)] = both(&matrix, &b, (&lower, &upper), &zeros, 1e-6);
    b.iter_mut().zip(noise(zeros.len(), 6)).for_each(|(b, noise)| *b += 1e-3 * noise);
    let [(slow, _), (fast, warm)] = both(&matrix, &b, (&lower, &upper), &before, 1e-6);
    assert!(warm.converged() && distance(&slow, &fast) < 1e-3, "{warm}");
    assert!(warm.report.iterations < cold.report.iterations, "{warm}\n{cold}");
    assert!(warm.krylov_iterations < cold.krylov_iterations, "{warm}\n{cold}");
}

#[test]
fn a_dam_that_breaks_is_a_definite_system_of_its_own_size() {
    let BoundedSystem { matrix, b, lower, upper } = dam_break(8).unwrap();
    matrix.check_symmetric(0.0).unwrap();
    assert!(smallest_scaled_pivot(&matrix) > 0.0);
    assert_eq!([matrix.rows(), b.len(), lower.len(), upper.len()], [4 * 6 * 8; 4]);
    let inside = lower.iter().filter(|lower| lower.is_infinite()).count();
    assert_eq!(inside, 3 * 5 * 6, "all but the cells at four walls");
    assert!(dam_break(3).unwrap_err().to_string().contains("at least 4"));
}

#[test]
fn a_closed_box_is_singular_but_its_bounds_make_it_solvable() {
    // Sinks only: without bounds there is no solution, with them the pressure falls until it may fall no more.
    let matrix = Matrix::single(neumann([4, 4, 4]).unwrap()).unwrap();
    let b: Vec<f64> = noise(64, 4).iter().map(|b| b - 0.2).collect();
    let [(slow, by_sweeps), (fast, report)] =
        both(&matrix, &b, (&[0.0; 64], &[INFINITY; 64]), &[1.0; 64], 1e-9);
    assert!(by_sweeps.converged() && report.converged(), "{by_sweeps}\n{report}");
    assert!(distance(&slow, &fast) < 1e-6, "{report}");
}

#[test]
fn bounds_that_leave_no_room_are_refused_by_row() {
    let rows = Rows::single(3);
    let cases = [
        (2.0, 1.0),
        (f64::NAN, 1.0),
        (0.0, f64::NAN),
        (INFINITY, INFINITY),
        (-INFINITY, -INFINITY),
    ];
    for (low, high) in cases {
        let (mut lower, mut upper) = ([0.0; 3], [1.0; 3]);
        (lower[1], upper[1]) = (low, high);
        let error = Bounds::new(&rows, &lower, &upper).unwrap_err();
        assert!(
            error.to_string().starts_with(&format!("the range of row 1 is {low} to {high}")),
            "{error}"
        );
    }
    let error = Bounds::new(&rows, &[0.0; 2], &[1.0; 3]).unwrap_err();
    assert!(matches!(error, SolveError::WrongLength { found: 2, wanted: 3, .. }));
    let bad = from_dense(2, &[1.0, 0.0, 0.0, 0.0]);
    assert!(matches!(Coloured::new(&bad).unwrap_err(), SolveError::BadDiagonal { row: 1, .. }));
}

#[test]
fn failures_are_named_and_leave_an_admissible_iterate() {
    let BoundedSystem { matrix, b, lower, upper } = dam_break(12).unwrap();
    let matrix = Matrix::single(matrix).unwrap();
    let system = Coloured::new(&matrix).unwrap();
    let bounds = Bounds::new(matrix.rows(), &lower, &upper).unwrap();
    let admissible = |x: &[f64]| x.iter().zip(&lower).all(|(x, lower)| x.is_finite() && x >= lower);

    let stop = Stop { iterations: 15, ..Stop::relative(1e-10) };
    let mut x = vec![-1.0; b.len()];
    let report = pgs(&system, &b, &bounds, &mut x, &stop).unwrap();
    assert_eq!((report.report.outcome, report.sweeps), (Outcome::IterationLimit, 15));
    assert!(admissible(&x) && report.report.residual < 0.5, "{report}");
    let mut x = vec![-1.0; b.len()];
    let report = predictor_corrector(&system, &mut Identity, &b, &bounds, &mut x, &stop).unwrap();
    assert_eq!(report.report.outcome, Outcome::IterationLimit, "{report}");
    assert!(admissible(&x) && report.report.residual < 0.5, "{report}");

    let mut x = vec![0.0; b.len()];
    let report = predictor_corrector(&system, &mut Hostile, &b, &bounds, &mut x, &stop).unwrap();
    assert!(matches!(report.report.outcome, Outcome::NotFinite(_)), "{report}");
    assert!(admissible(&x));

    let mut bad = b.clone();
    bad[7] = f64::NAN;
    let error = pgs(&system, &bad, &bounds, &mut x, &stop).unwrap_err();
    assert!(matches!(error, SolveError::VectorNotFinite { row: 7, .. }), "{error}");
}

struct Hostile;

impl Preconditioner for Hostile {
    fn name(&self) -> String {
        "hostile".into()
    }

    fn apply(&mut self, _: &[f64], z: &mut [f64]) -> Result<()> {
        z.fill(f64::NAN);
        Ok(())
    }

    fn bytes(&self) -> u64 {
        0
    }
}

#[test]
fn bounded_systems_give_the_same_bits_on_any_number_of_threads() {
    let BoundedSystem { matrix, b, lower, upper } = dam_break(40).unwrap();
    let matrix = Matrix::single(matrix).unwrap();
    let found = same_on_any_threads(|| {
        let system = Coloured::new(&matrix).unwrap();
        let bounds = Bounds::new(matrix.rows(), &lower, &upper).unwrap();
        let mut helper = IncompleteCholesky::modified(&matrix).unwrap();
        let stop = Stop { iterations: 100, ..Stop::relative(1e-5) };
        let (mut x, mut y) = (vec![0.0; b.len()], vec![0.0; b.len()]);
        let fast = predictor_corrector(&system, &mut helper, &b, &bounds, &mut x, &stop).unwrap();
        let slow = pgs(&system, &b, &bounds, &mut y, &stop).unwrap();
        assert!(fast.converged() && !slow.converged(), "{fast}\n{slow}");
        x.iter().chain(&y).map(|x| x.to_bits()).collect::<Vec<_>>()
    });
    assert_eq!(found.len(), 2 * b.len());
}

#[test]
fn several_processes_find_the_same_solution() {
    let BoundedSystem { matrix: whole, b, lower, upper } = dam_break(16).unwrap();
    let single = Matrix::single(whole.clone()).unwrap();
    let [_, (wanted, alone)] = both(&single, &b, (&lower, &upper), &vec![0.0; b.len()], 1e-9);
    for count in [2, 3, 4] {
        let found = on_processes(count, |processes| {
            let (matrix, own) = share(&processes, &whole);
            let system = Coloured::new(&matrix).unwrap();
            let bounds =
                Bounds::new(matrix.rows(), &lower[own.clone()], &upper[own.clone()]).unwrap();
            let mut helper = Jacobi::new(&matrix).unwrap();
            let (mut x, mut y) = (vec![0.0; own.len()], vec![0.0; own.len()]);
            let stop = Stop::relative(1e-9);
            let fast =
                predictor_corrector(&system, &mut helper, &b[own.clone()], &bounds, &mut x, &stop)
                    .unwrap();
            let slow = pgs(&system, &b[own], &bounds, &mut y, &stop).unwrap();
            assert!(fast.converged() && slow.converged(), "{fast}\n{slow}");
            assert_eq!((fast.at_lower, slow.at_lower), (alone.at_lower, alone.at_lower));
            assert!(distance(&x, &y) < 1e-5);
            assert!(5 * fast.krylov_iterations < 6 * alone.krylov_iterations, "{fast}\n{alone}");
            x
        });
        assert!(distance(&found.concat(), &wanted) < 1e-6, "{count} processes");
    }
}

#[test]
fn methods_and_factors_work_across_processes() {
    let whole = crate::systems::laplacian(12);
    let b = noise(whole.rows(), 5);
    let mut wanted = vec![0.0; b.len()];
    let single = Matrix::single(whole.clone()).unwrap();
    let mut helper = IncompleteCholesky::plain(&single).unwrap();
    let alone = cg(&single, &mut helper, &b, &mut wanted, &Stop::relative(1e-10)).unwrap();
    for count in [2, 3] {
        for solve in [cg, minres, bicgstab] {
            let found = on_processes(count, |processes| {
                let (matrix, own) = share(&processes, &whole);
                let mut helper = IncompleteCholesky::plain(&matrix).unwrap();
                let mut x = vec![0.0; own.len()];
                let report =
                    solve(&matrix, &mut helper, &b[own], &mut x, &Stop::relative(1e-10)).unwrap();
                assert!(report.converged(), "{report}");
                assert!(report.iterations < 2 * alone.iterations, "{report}");
                x
            });
            assert!(distance(&found.concat(), &wanted) < 1e-7);
        }
    }
}
