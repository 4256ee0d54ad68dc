//! Smoothed-aggregation multigrid: right answers, few iterations whatever the size, and the same bits on any number of threads.

use crate::systems::{coefficients, laplacian_matrix, noise};
use rayon::ThreadPoolBuilder;
use undine_linsolve::amg::{Amg, Cycle, Grouping, NearNullSpace, Refreshed, Settings, Smoother};
use undine_linsolve::gallery::{
    Held, RodsSetup, elasticity, laplacian, laplacian_27, neumann, rods,
};
use undine_linsolve::krylov::{cg, flexible_cg};
use undine_linsolve::matrix::Nodes;
use undine_linsolve::{
    Csr, Matrix, NullSpace, Operator, Preconditioner, Report, SolveError, Stop, vector,
};

const SMOOTHERS: [Smoother; 3] = [Smoother::GaussSeidel, Smoother::Chebyshev(2), Smoother::Spai0];

fn with_smoother(smoother: Smoother) -> Settings {
    Settings { smoother, ..Settings::default() }
}

/// Solves for a solution that is known, and checks it.
fn solve(matrix: &Matrix, settings: &Settings) -> Report {
    let mut wanted = noise(matrix.rows().local(), 1);
    let mut b = vec![0.0; wanted.len()];
    matrix.apply(&mut wanted, &mut b).unwrap();
    let mut x = vec![0.0; b.len()];
    let mut amg = Amg::new(matrix, settings).unwrap();
    let solver = if settings.cycle == Cycle::K { flexible_cg } else { cg };
    let report = solver(matrix, &mut amg, &b, &mut x, &Stop::relative(1e-10)).unwrap();
    assert!(report.converged(), "{report}");
    let wrong = x.iter().zip(&wanted).map(|(x, wanted)| (x - wanted).abs()).fold(0.0, f64::max);
    assert!(wrong < 1e-6, "off by {wrong:e}: {report}");
    report
}

#[test]
fn every_smoother_and_cycle_finds_the_solution() {
    let matrix = laplacian_matrix(20);
    for smoother in SMOOTHERS {
        let v = solve(&matrix, &with_smoother(smoother));
        let k = solve(&matrix, &Settings { cycle: Cycle::K, ..with_smoother(smoother) });
        assert!(v.iterations <= 24, "{smoother:?}: {v}");
        assert!(k.iterations <= v.iterations, "{smoother:?}: {k}");
        let twice = solve(&matrix, &Settings { sweeps: 2, ..with_smoother(smoother) });
        assert!(twice.iterations < v.iterations, "{smoother:?}: {twice}");
    }
}

#[test]
fn a_small_system_is_solved_directly() {
    let report = solve(&laplacian_matrix(6), &Settings::default());
    assert!(report.iterations <= 3, "{report}");
    assert!(report.preconditioner.contains("1 level,"), "{report}");
}

#[test]
fn the_preconditioner_is_symmetric_and_positive() {
    let matrix = laplacian_matrix(18);
    for smoother in SMOOTHERS {
        for sweeps in [1, 2] {
            let settings = Settings { sweeps, coarse_rows: 20, ..with_smoother(smoother) };
            let mut amg = Amg::new(&matrix, &settings).unwrap();
            let count = matrix.rows().local();
            let (x, y) = (noise(count, 3), noise(count, 4));
            let (mut mx, mut my) = (vec![0.0; count], vec![0.0; count]);
            amg.apply(&x, &mut mx).unwrap();
            amg.apply(&y, &mut my).unwrap();
            let (xmy, ymx) = (vector::dot(&x, &my), vector::dot(&y, &mx));
            // Rounding in f32, measured by the lengths of what is multiplied.
            let scale = (vector::square(&x) * vector::square(&my)).sqrt();
            assert!((xmy - ymx).abs() < 1e-6 * scale, "{smoother:?}: {xmy} and {ymx}");
            assert!(vector::dot(&x, &mx) > 0.0);
        }
    }
}

#[test]
fn iterations_hardly_grow_with_the_size() {
    for smoother in SMOOTHERS {
        let iterations =
            [16, 32, 48].map(|n| solve(&laplacian_matrix(n), &with_smoother(smoother)).iterations);
        assert!(iterations[2] as f64 <= 1.3 * iterations[0] as f64, "{smoother:?}: {iterations:?}");
    }
}

#[test]
fn many_weak_neighbours_are_strong_together() {
    let matrix = Matrix::single(laplacian_27([24; 3]).unwrap()).unwrap();
    let report = solve(&matrix, &Settings::default());
    assert!(report.iterations <= 20, "{report}");
}

#[test]
fn anisotropy_and_jumps_cost_few_iterations() {
    let plain = solve(&laplacian_matrix(24), &Settings::default()).iterations as f64;
    // A thousand times stiffer along one axis.
    let stretched = coefficients(24, |_, axis| if axis == 2 { 1000.0 } else { 1.0 });
    let report = solve(&stretched, &Settings::default());
    assert!(f64::from(report.iterations as u32) <= 2.0 * plain, "{report}, plain {plain}");
    // A checkerboard of 6³ cells with coefficients a thousand apart.
    let jump = |at: [usize; 3]| {
        if at.iter().map(|n| n / 6).sum::<usize>() % 2 == 0 { 1.0 } else { 1000.0 }
    };
    let report = solve(&coefficients(24, |at, _| jump(at)), &Settings::default());
    assert!(f64::from(report.iterations as u32) <= 2.0 * plain, "{report}, plain {plain}");
}

#[test]
fn any_number_of_threads_gives_the_same_bits() {
    // Large enough for every loop to be cut into several tasks.
    let matrix = laplacian_matrix(52);
    let b = noise(matrix.rows().local(), 5);
    for smoother in SMOOTHERS {
        let solutions = [1, 2, 3, 7].map(|threads| {
            let pool = ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| {
                let mut amg = Amg::new(&matrix, &with_smoother(smoother)).unwrap();
                let mut x = vec![0.0; b.len()];
                let report = cg(&matrix, &mut amg, &b, &mut x, &Stop::default()).unwrap();
                assert!(report.converged(), "{report}");
                x.into_iter().map(f64::to_bits).collect::<Vec<_>>()
            })
        });
        assert!(solutions.iter().all(|bits| *bits == solutions[0]), "{smoother:?}");
    }
}

#[test]
fn the_scale_of_matrix_and_right_hand_side_does_not_matter() {
    let plain = coefficients(12, |_, _| 1.0);
    let b = noise(plain.rows().local(), 6);
    let mut reports = Vec::new();
    for (matrix, side) in [(1.0, 1.0), (1e-200, 1.0), (1e200, 1e-60), (1.0, 1e250)] {
        let matrix = coefficients(12, |_, _| matrix);
        let b: Vec<f64> = b.iter().map(|b| b * side).collect();
        let mut amg =
            Amg::new(&matrix, &Settings { coarse_rows: 50, ..Settings::default() }).unwrap();
        let (mut z, n) = (vec![0.0; b.len()], b.len());
        amg.apply(&b, &mut z).unwrap();
        assert!(z.iter().all(|z| z.is_finite()) && z[n / 2] != 0.0);
        reports.push(amg.levels());
    }
    assert!(reports.iter().all(|levels| *levels == reports[0]));
}

#[test]
fn a_diagonal_that_is_not_positive_is_named() {
    for bad in [0.0, -2.0] {
        let entries = (0..9000).map(|n| (n, n, if n >= 4321 { bad } else { 1.0 }));
        let matrix = Matrix::single(Csr::from_triplets(9000, 9000, entries).unwrap()).unwrap();
        let error = Amg::new(&matrix, &Settings::default()).unwrap_err();
        let SolveError::BadDiagonal { row, value, .. } = error else { panic!("{error}") };
        assert_eq!((row, value), (4321, bad));
    }
    let matrix = laplacian_matrix(3);
    let error = Amg::new(&matrix, &Settings { strength: 1.5, ..Settings::default() }).unwrap_err();
    assert!(error.to_string().contains("strength of SA-AMG is 1.5"), "{error}");
    let error = Amg::new(&matrix, &Settings::with_nodes(4)).unwrap_err();
    assert!(error.to_string().contains("the rows of all nodes"), "{error}");
}

#[test]
fn rows_without_neighbours_do_no_harm() {
    let csr = laplacian([14; 3]).unwrap();
    let rows = csr.rows();
    let mut entries = Vec::new();
    for row in 0..rows {
        let (columns, values) = csr.row(row);
        entries.extend(
            columns.iter().zip(values).map(|(&column, &value)| (row, column as usize, value)),
        );
    }
    entries.extend((0..500).map(|n| (rows + n, rows + n, 1.0 + n as f64)));
    let matrix =
        Matrix::single(Csr::from_triplets(rows + 500, rows + 500, entries).unwrap()).unwrap();
    let _report = solve(&matrix, &Settings::default());
}

#[test]
fn closed_walls_are_recognised_and_solved_without_degradation() {
    let open = solve(&laplacian_matrix(24), &Settings::default()).iterations;
    let matrix = Matrix::single(neumann([24; 3]).unwrap()).unwrap().recognise_constants().unwrap();
    assert!(matrix.is_singular());
    assert!(!laplacian_matrix(4).recognise_constants().unwrap().is_singular());
    for smoother in SMOOTHERS {
        // A solution without any constant, which is the one that is found.
        let mut wanted = noise(24 * 24 * 24, 7);
        matrix.project(&mut wanted).unwrap();
        let mut b = vec![0.0; wanted.len()];
        matrix.apply(&mut wanted, &mut b).unwrap();
        let mut x = vec![0.0; b.len()];
        let mut amg = Amg::new(&matrix, &with_smoother(smoother)).unwrap();
        let report = cg(&matrix, &mut amg, &b, &mut x, &Stop::relative(1e-10)).unwrap();
        assert!(report.converged() && report.iterations <= open + 10, "{report}, open {open}");
        assert!(x.iter().zip(&wanted).all(|(x, wanted)| (x - wanted).abs() < 1e-6), "{report}");
    }
}

/// An elastic box with what multigrid and CG should know of it.
fn elastic(elements: [usize; 3], held: Held) -> (Matrix, Settings) {
    let elastic = elasticity(elements, 0.3, held).unwrap();
    let near_null_space = NearNullSpace::rigid_motions(&elastic.positions, 3).unwrap();
    let mut matrix = Matrix::single(elastic.matrix).unwrap();
    if held == Held::Nothing {
        let null_space = NullSpace::new(matrix.rows(), elastic.modes).unwrap();
        matrix = matrix.with_null_space(null_space);
    }
    let settings = Settings { near_null_space, coarse_rows: 200, ..Settings::with_nodes(3) };
    (matrix, settings)
}

#[test]
fn elasticity_needs_no_more_iterations_when_nothing_holds_it() {
    let iterations = [Held::OneFace, Held::Nothing].map(|held| {
        let (matrix, settings) = elastic([14, 10, 10], held);
        let mut wanted = noise(matrix.rows().local(), 8);
        matrix.project(&mut wanted).unwrap();
        let mut b = vec![0.0; wanted.len()];
        matrix.apply(&mut wanted, &mut b).unwrap();
        let mut x = vec![0.0; b.len()];
        let mut amg = Amg::new(&matrix, &settings).unwrap();
        let report = cg(&matrix, &mut amg, &b, &mut x, &Stop::relative(1e-10)).unwrap();
        assert!(report.converged(), "{report}");
        report.iterations
    });
    assert!(iterations[1] <= iterations[0] + 3, "{iterations:?}");
    assert!(iterations[0] <= 40, "{iterations:?}");
}

#[test]
fn rigid_motions_help_elasticity_more_than_constants() {
    let (matrix, with_turns) = elastic([24, 6, 6], Held::OneFace);
    let without = Settings { near_null_space: NearNullSpace::Constant, ..with_turns.clone() };
    let (with_turns, without) = (solve(&matrix, &with_turns), solve(&matrix, &without));
    assert!(with_turns.iterations < without.iterations, "{with_turns}; {without}");
}

#[test]
fn every_smoother_holds_elasticity() {
    let (matrix, settings) = elastic([10, 8, 8], Held::OneFace);
    for smoother in SMOOTHERS {
        let report = solve(&matrix, &Settings { smoother, ..settings.clone() });
        assert!(report.iterations <= 60, "{smoother:?}: {report}");
    }
}

#[test]
fn nodes_of_mixed_sizes_stay_together() {
    let rods = rods(&RodsSetup { rods: 12, ..RodsSetup::default() }).unwrap();
    let matrix = Matrix::single(rods.matrix).unwrap();
    let settings = Settings { coarse_rows: 100, ..Settings::with_nodes(4) };
    let nodes = Nodes::uniform(matrix.rows().local() / 4, 4).unwrap();
    let same = Settings { nodes: Grouping::nodes(&nodes), ..settings.clone() };
    let names = [settings, same].map(|settings| Amg::new(&matrix, &settings).unwrap().name());
    assert_eq!(names[0], names[1]);
}

#[test]
fn a_refreshed_hierarchy_is_as_good_as_a_fresh_one() {
    let matrix = coefficients(20, |_, _| 1.0);
    let mut amg = Amg::new(&matrix, &Settings::default()).unwrap();
    let b = noise(matrix.rows().local(), 9);
    let apply = |amg: &mut Amg| {
        let mut z = vec![0.0; b.len()];
        amg.apply(&b, &mut z).unwrap();
        z
    };
    let before = apply(&mut amg);

    // Hardly another matrix.
    let close = coefficients(20, |at, _| 1.0 + 0.01 * (at[0] % 3) as f64);
    assert_eq!(amg.refresh(&close).unwrap(), Refreshed::Kept);
    assert_eq!(apply(&mut amg), before);

    // Twice as stiff, with the same couplings: the same aggregates, so that all is as if made from the new values.
    let twice = coefficients(20, |_, _| 2.0);
    assert_eq!(amg.refresh(&twice).unwrap(), Refreshed::Values);
    assert_eq!(apply(&mut amg), apply(&mut Amg::new(&twice, &Settings::default()).unwrap()));

    // Another matrix.
    let jump = coefficients(20, |at, _| if at[0] < 10 { 1.0 } else { 50.0 });
    assert_eq!(amg.refresh(&jump).unwrap(), Refreshed::Values);
    let solve = |amg: &mut Amg| {
        cg(&jump, amg, &b, &mut vec![0.0; b.len()], &Stop::default()).unwrap().iterations
    };
    let (refreshed, fresh) =
        (solve(&mut amg), solve(&mut Amg::new(&jump, &Settings::default()).unwrap()));
    assert!(refreshed <= fresh + 3, "{refreshed} and {fresh}");

    // Another pattern.
    assert_eq!(amg.refresh(&laplacian_matrix(9)).unwrap(), Refreshed::Anew);
}
