//! Iterations as systems grow: what makes a multigrid method one.

use super::pressure;
use crate::page::Case;
use crate::verdict::Verdict;
use std::error::Error;
use undine_linsolve::amg::{Amg, NearNullSpace, Settings};
use undine_linsolve::gallery::{Held, elasticity, half_full, noise};
use undine_linsolve::krylov::cg;
use undine_linsolve::matrix::NullSpace;
use undine_linsolve::{Csr, Matrix, Operator, Report, Stop};

/// The case of multigrid on Buckets.
pub const PRESSURE: Case = Case {
    name: "linsolve-pressure-growth",
    doc: "Multigrid on Buckets, half-full box with a wavy surface, to 1e-6: iterations from 64³ to 192³ cells grow by at most 1.15.",
    run: pressure_growth,
};

/// The case of SA-AMG.
pub const MULTIGRID: Case = Case {
    name: "linsolve-amg-growth",
    doc: "SA-AMG on the same box: iterations from 64³ to 192³ cells grow by at most 1.5.",
    run: amg_growth,
};

/// The case of unconstrained elasticity.
pub const ELASTICITY: Case = Case {
    name: "linsolve-rigid-motions",
    doc: "SA-AMG on an elastic block that nothing holds, whose null space are the six rigid motions: as the block grows from 8³ to 24³ elements, iterations grow by at most 1.5; held at one face, it takes no fewer.",
    run: rigid_motions,
};

fn pressure_growth() -> Verdict {
    grows("cells along an edge", [64, 128, 192], 1.15, |n| Ok(pressure(n)?.1))
}

fn amg_growth() -> Verdict {
    grows("cells along an edge", [64, 128, 192], 1.5, |n| {
        let system = half_full(n)?;
        let matrix = Matrix::single(system.matrix)?;
        solve(&matrix, &Settings::default(), &system.b)
    })
}

fn rigid_motions() -> Verdict {
    let free = |n: usize| {
        let block = elasticity([n; 3], 0.3, Held::Nothing)?;
        let modes = NearNullSpace::Vectors(block.modes.clone());
        let matrix = Matrix::single(block.matrix)?;
        let null_space = NullSpace::new(matrix.rows(), block.modes)?;
        let matrix = matrix.with_null_space(null_space);
        let settings = Settings { near_null_space: modes, ..Settings::with_nodes(3) };
        let mut b = some(matrix.csr());
        matrix.project(&mut b)?;
        solve(&matrix, &settings, &b)
    };
    let held = || -> Result<Report, Box<dyn Error>> {
        let block = elasticity([24; 3], 0.3, Held::OneFace)?;
        let modes = NearNullSpace::Vectors(block.modes);
        let matrix = Matrix::single(block.matrix)?;
        let settings = Settings { near_null_space: modes, ..Settings::with_nodes(3) };
        solve(&matrix, &settings, &some(matrix.csr()))
    };
    let verdict = grows("elements along an edge", [8, 16, 24], 1.5, free);
    match (free(24), held()) {
        (Ok(free), Ok(held)) => verdict.at_most(
            "iterations of the free block, times those of the held one",
            free.iterations as f64 / held.iterations as f64,
            1.2,
        ),
        (Err(why), _) | (_, Err(why)) => Verdict::broken(why),
    }
}

/// Solves at three sizes, and compares the iterations of the last with those of the first.
fn grows(
    what: &str,
    sizes: [usize; 3],
    limit: f64,
    solve: impl Fn(usize) -> Result<Report, Box<dyn Error>>,
) -> Verdict {
    let mut verdict = Verdict::new();
    let mut iterations = Vec::new();
    for size in sizes {
        let report = match solve(size) {
            Ok(report) => report,
            Err(why) => return Verdict::broken(why),
        };
        let name = format!("residual at {size} {what}, after {} iterations", report.iterations);
        verdict = verdict.at_most(&name, report.residual, 1e-6);
        iterations.push(report.iterations as f64);
    }
    verdict.at_most("growth of iterations", iterations[2] / iterations[0], limit)
}

fn solve(matrix: &Matrix, settings: &Settings, b: &[f64]) -> Result<Report, Box<dyn Error>> {
    let mut x = vec![0.0; b.len()];
    Ok(cg(matrix, &mut Amg::new(matrix, settings)?, b, &mut x, &Stop::default())?)
}

fn some(matrix: &Csr<f64>) -> Vec<f64> {
    (0..matrix.rows() as u64).map(|n| noise(7, n)).collect()
}
