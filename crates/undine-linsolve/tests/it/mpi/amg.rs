//! Smoothed-aggregation multigrid over processes: the solution of one, in hardly more iterations.

use super::passes;
use crate::systems::{laplacian, noise, share};
use std::error::Error;
use std::sync::Arc;
use undine_core::process::Processes;
use undine_linsolve::amg::{Amg, Cycle, NearNullSpace, Settings, Smoother};
use undine_linsolve::gallery::{Held, elasticity, neumann};
use undine_linsolve::krylov::{cg, flexible_cg};
use undine_linsolve::{Csr, Matrix, Report, Stop};

#[test]
fn multigrid_over_processes_finds_the_solution_of_one() {
    passes("amg");
}

#[test]
fn elasticity_over_processes_finds_the_solution_of_one() {
    passes("amg elasticity");
}

fn solve(matrix: &Matrix, settings: &Settings, b: &[f64], x: &mut [f64]) -> Report {
    let mut amg = Amg::new(matrix, settings).unwrap();
    let solver = if settings.cycle == Cycle::K { flexible_cg } else { cg };
    let report = solver(matrix, &mut amg, b, x, &Stop::relative(1e-9)).unwrap();
    assert!(report.converged(), "{report}");
    report
}

/// Solves alone and together, and compares.
fn compare(
    processes: &Arc<dyn Processes>,
    whole: Csr<f64>,
    alone: &Settings,
    together: &Settings,
) -> Result<(), Box<dyn Error>> {
    let (part, own) = share(processes, &whole);
    let part = part.recognise_constants()?;
    let one = Matrix::single(whole)?.recognise_constants()?;
    let mut b = noise(one.csr().rows(), 3);
    use undine_linsolve::Operator;
    one.project(&mut b)?;
    let mut wanted = vec![0.0; b.len()];
    let on_one = solve(&one, alone, &b, &mut wanted);
    one.project(&mut wanted)?;
    let mut x = vec![0.0; own.len()];
    let report = solve(&part, together, &b[own.clone()], &mut x);
    part.project(&mut x)?;
    let allowed = (1.2 * on_one.iterations as f64).ceil() as usize + 1;
    assert!(report.iterations <= allowed, "{report}; alone {on_one}");
    let size = wanted.iter().fold(0.0_f64, |size, x| size.max(x.abs()));
    let error = x.iter().zip(&wanted[own]).map(|(x, y)| (x - y).abs()).fold(0.0, f64::max);
    assert!(error < 1e-6 * size, "{error:e} of {size:e}");
    Ok(())
}

pub fn amg(processes: &Arc<dyn Processes>) -> Result<(), Box<dyn Error>> {
    for smoother in [Smoother::GaussSeidel, Smoother::Chebyshev(2), Smoother::Spai0] {
        // Levels are gathered step by step, or at once.
        for rows_per_process in [1, 100, 4096] {
            let settings =
                Settings { smoother, rows_per_process, coarse_rows: 40, ..Settings::default() };
            compare(processes, laplacian(20), &settings, &settings)?;
        }
        let settings = Settings { smoother, coarse_rows: 40, ..Settings::default() };
        compare(processes, neumann([16; 3])?, &settings, &settings)?;
        let settings = Settings { cycle: Cycle::K, ..settings };
        compare(processes, laplacian(16), &settings, &settings)?;
    }
    Ok(())
}

pub fn elastic(processes: &Arc<dyn Processes>) -> Result<(), Box<dyn Error>> {
    let elastic = elasticity([12, 6, 6], 0.3, Held::OneFace)?;
    let whole = elastic.matrix;
    // Cut between nodes, as nodes stay together.
    let nodes = whole.rows() / 3;
    let own = {
        let cut = |rank: usize| whole.rows() * rank / processes.count();
        cut(processes.rank())..cut(processes.rank() + 1)
    };
    assert!(nodes % processes.count() == 0 && own.start % 3 == 0, "nodes are cut evenly");
    let settings = |range: std::ops::Range<usize>| Settings {
        near_null_space: NearNullSpace::Vectors(
            elastic.modes.iter().map(|mode| mode[range.clone()].to_vec()).collect(),
        ),
        coarse_rows: 60,
        rows_per_process: 100,
        ..Settings::with_nodes(3)
    };
    let (alone, together) = (settings(0..whole.rows()), settings(own));
    compare(processes, whole, &alone, &together)
}
