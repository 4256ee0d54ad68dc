//! All other solvers over processes: the solution of one, in hardly more iterations.

use super::passes;
use crate::systems::{distance, laplacian, noise, share, share_rows};
use std::error::Error;
use std::sync::Arc;
use undine_core::process::Processes;
use undine_linsolve::choose::{Method, System};
use undine_linsolve::gallery::{RodsSetup, convection_diffusion, dam_break, rods, saddle};
use undine_linsolve::lcp::{Bounds, Coloured, predictor_corrector};
use undine_linsolve::manybodies::{Blocks, manybodies_solve};
use undine_linsolve::precondition::IncompleteCholesky;
use undine_linsolve::{Csr, Matrix, Operator, Stop};

#[test]
fn every_solver_over_processes_finds_the_solution_of_one() {
    passes("solvers");
}

pub fn solvers(processes: &Arc<dyn Processes>) -> Result<(), Box<dyn Error>> {
    let field = laplacian(16);
    for method in [Method::Auto, Method::Jacobi, Method::Minres, Method::Direct] {
        compare(processes, &field, method, 1.2)?;
    }
    // Every process factors its own rows only: fewer couplings, more iterations.
    compare(processes, &field, Method::IncompleteCholesky, 1.5)?;
    compare(processes, &convection_diffusion([15; 3], 0.1, [1.0, 0.5, 0.2])?, Method::Auto, 1.2)?;
    compare(processes, &saddle(40, 0.1)?, Method::Auto, 1.2)?;
    fail_safe(processes, &field)?;
    hair(processes)?;
    bounded(processes)
}

/// Solves alone and together, and compares.
fn compare(
    processes: &Arc<dyn Processes>,
    whole: &Csr<f64>,
    method: Method,
    more: f64,
) -> Result<(), Box<dyn Error>> {
    let b = noise(whole.rows(), 4);
    let stop = Stop::relative(1e-9);
    let one = Matrix::single(whole.clone())?;
    let mut wanted = vec![0.0; b.len()];
    let on_one = System::new(&one).solve(method, &b, &mut wanted, &stop)?;
    let (part, own) = share(processes, whole);
    let mut x = vec![0.0; own.len()];
    let report = System::new(&part).solve(method, &b[own.clone()], &mut x, &stop)?;
    assert!(report.converged(), "{report}");
    assert_eq!(report.solver, on_one.solver);
    let allowed = (more * on_one.iterations as f64).ceil() as usize + 1;
    assert!(report.iterations <= allowed, "{report}; alone {on_one}");
    close(&x, &wanted[own], &wanted);
    Ok(())
}

/// What does not converge is gathered and solved directly.
fn fail_safe(processes: &Arc<dyn Processes>, whole: &Csr<f64>) -> Result<(), Box<dyn Error>> {
    let b = noise(whole.rows(), 5);
    let (part, own) = share(processes, whole);
    let mut x = vec![0.0; own.len()];
    let stop = Stop { iterations: 3, ..Stop::relative(1e-9) };
    let report = System::new(&part).solve(Method::Jacobi, &b[own], &mut x, &stop)?;
    assert!(report.converged(), "{report}");
    assert!(report.notes.iter().any(|note| note.contains("solved directly instead")), "{report}");
    Ok(())
}

/// Rods, whole ones on each process, with contacts across processes.
fn hair(processes: &Arc<dyn Processes>) -> Result<(), Box<dyn Error>> {
    let hair = rods(&RodsSetup { rods: 48, vertices: 20, ..RodsSetup::default() })?;
    let stop = Stop::relative(1e-9);
    let one = Matrix::single(hair.matrix.clone())?;
    let mut wanted = vec![0.0; hair.b.len()];
    let all = Blocks::ranges(&hair.blocks);
    let on_one = manybodies_solve(&one, &all, &hair.b, &mut wanted, &stop)?;
    let cut = |rank: usize| hair.blocks.len() * rank / processes.count();
    let mine = &hair.blocks[cut(processes.rank())..cut(processes.rank() + 1)];
    let own = mine[0].start..mine[mine.len() - 1].end;
    let (part, own) = share_rows(processes, &hair.matrix, own);
    let local: Vec<_> = mine.iter().map(|rod| rod.start - own.start..rod.end - own.start).collect();
    let mut x = vec![0.0; own.len()];
    let b = &hair.b[own.clone()];
    let report = manybodies_solve(&part, &Blocks::ranges(&local), b, &mut x, &stop)?;
    assert!(report.converged(), "{report}");
    assert!(report.iterations.abs_diff(on_one.iterations) <= 2, "{report}; alone {on_one}");
    close(&x, &wanted[own], &wanted);
    Ok(())
}

/// A dam break whose walls do not stick.
fn bounded(processes: &Arc<dyn Processes>) -> Result<(), Box<dyn Error>> {
    let dam = dam_break(16)?;
    let stop = Stop::relative(1e-9);
    let solve = |matrix: &Matrix, own: std::ops::Range<usize>| -> Result<_, Box<dyn Error>> {
        let (lower, upper) = (&dam.lower[own.clone()], &dam.upper[own.clone()]);
        let bounds = Bounds::new(matrix.rows(), lower, upper)?;
        let mut cholesky = IncompleteCholesky::plain(matrix)?;
        let mut x = vec![0.0; own.len()];
        let sweeps = Coloured::new(matrix)?;
        let b = &dam.b[own];
        let report = predictor_corrector(&sweeps, &mut cholesky, b, &bounds, &mut x, &stop)?;
        assert!(report.converged(), "{report}");
        Ok((x, report.at_lower))
    };
    let one = Matrix::single(dam.matrix.clone())?;
    let (wanted, at_lower) = solve(&one, 0..dam.b.len())?;
    let (part, own) = share(processes, &dam.matrix);
    let (x, found) = solve(&part, own.clone())?;
    assert_eq!(found, at_lower, "as many rows at their bounds");
    assert!(at_lower > 0);
    close(&x, &wanted[own], &wanted);
    Ok(())
}

fn close(x: &[f64], wanted: &[f64], all: &[f64]) {
    let size = all.iter().fold(0.0_f64, |size, x| size.max(x.abs()));
    assert!(distance(x, wanted) < 1e-6 * size, "{:e} of {size:e}", distance(x, wanted));
}
