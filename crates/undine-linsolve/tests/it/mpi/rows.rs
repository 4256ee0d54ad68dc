//! Rows over processes: copies are refreshed, sums agree, and CG reaches the solution of one process.

use super::passes;
use crate::systems::{laplacian, laplacian_matrix, noise};
use std::error::Error;
use std::sync::Arc;
use undine_core::process::Processes;
use undine_linsolve::krylov::cg;
use undine_linsolve::precondition::Jacobi;
use undine_linsolve::{Csr, Matrix, Rows, Stop};

#[test]
fn cg_over_processes_finds_the_solution_of_one() {
    passes("rows");
}

/// The rows of a whole matrix that this process owns, if they are cut evenly.
pub fn share(
    processes: &Arc<dyn Processes>,
    whole: &Csr<f64>,
) -> Result<(Matrix, std::ops::Range<usize>), Box<dyn Error>> {
    let cut = |rank: usize| whole.rows() * rank / processes.count();
    let own = cut(processes.rank())..cut(processes.rank() + 1);
    let is_foreign = |column: &u32| !own.contains(&(*column as usize));
    let mut foreign: Vec<u64> = own
        .clone()
        .flat_map(|row| whole.row(row).0.iter().copied().filter(is_foreign).map(u64::from))
        .collect();
    foreign.sort_unstable();
    foreign.dedup();
    let rows = Rows::distributed(Arc::clone(processes), own.len(), &foreign)?;
    let place = |column: u32| match foreign.binary_search(&u64::from(column)) {
        Ok(copy) => own.len() + copy,
        Err(_) => column as usize - own.start,
    };
    let triplets = own.clone().flat_map(|row| {
        let (columns, values) = whole.row(row);
        let entry = move |(&column, &value): (&u32, &f64)| (row - own.start, place(column), value);
        columns.iter().zip(values).map(entry).collect::<Vec<_>>()
    });
    let csr = Csr::from_triplets(rows.local(), rows.stored(), triplets)?;
    let own = cut(processes.rank())..cut(processes.rank() + 1);
    Ok((Matrix::new(rows, csr)?, own))
}

pub fn rows(processes: &Arc<dyn Processes>) -> Result<(), Box<dyn Error>> {
    let whole = laplacian(9);
    let b = noise(whole.rows(), 5);
    let alone = laplacian_matrix(9);
    let mut wanted = vec![0.0; b.len()];
    let stop = Stop::relative(1e-10);
    let on_one = cg(&alone, &mut Jacobi::new(&alone)?, &b, &mut wanted, &stop)?;

    let (matrix, own) = share(processes, &whole)?;
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
