//! Rows over processes: copies are refreshed, sums agree, and CG reaches the solution of one process.

use super::passes;
use crate::systems::{laplacian, laplacian_matrix, noise, share};
use std::error::Error;
use std::sync::Arc;
use undine_core::process::Processes;
use undine_linsolve::Stop;
use undine_linsolve::krylov::cg;
use undine_linsolve::precondition::Jacobi;

#[test]
fn cg_over_processes_finds_the_solution_of_one() {
    passes("rows");
}

pub fn rows(processes: &Arc<dyn Processes>) -> Result<(), Box<dyn Error>> {
    let whole = laplacian(9);
    let b = noise(whole.rows(), 5);
    let alone = laplacian_matrix(9);
    let mut wanted = vec![0.0; b.len()];
    let stop = Stop::relative(1e-10);
    let on_one = cg(&alone, &mut Jacobi::new(&alone)?, &b, &mut wanted, &stop)?;

    let (matrix, own) = share(processes, &whole);
    let numbers = matrix.shared_rows().numbers()?;
    assert!(numbers.iter().all(|&number| number < b.len() as u64), "all copies are refreshed");
    let mut x = vec![0.0; own.len()];
    let report = cg(&matrix, &mut Jacobi::new(&matrix)?, &b[own.clone()], &mut x, &stop)?;
    assert!(report.converged(), "{report}");
    assert!(report.iterations.abs_diff(on_one.iterations) <= 2);
    let error = x.iter().zip(&wanted[own]).map(|(x, y)| (x - y).abs()).fold(0.0, f64::max);
    assert!(error < 1e-8, "{error}");
    Ok(())
}
