//! Direct solves: the sparse Cholesky of a half-full Poisson box, and of a block of elasticity.

use crate::Result;
use crate::harness::{Benchmark, Context, Outcome};
use crate::machine::peak_bytes_of;
use crate::measure::Measured;
use crate::peers::{Definiteness, PARDISO, System};
use crate::poisson::converged;
use crate::report::Value;
use undine_linsolve::Csr;
use undine_linsolve::direct::{Direct, Kind, Ordering};
use undine_linsolve::gallery::{Held, elasticity, half_full};

/// The `direct` benchmark.
pub const BENCHMARK: Benchmark = Benchmark {
    name: "direct",
    doc: "sparse Cholesky, factor and solve: half-full Poisson box of SIZE³ cells, and an elastic block of (SIZE ÷ 2)³ ÷ 2 elements; one unknown is one unit",
    default_size: 64,
    peers: &[],
    run,
};

fn run(context: &Context) -> Result<Outcome> {
    let box_ = half_full(context.size)?;
    let edge = context.size / 2;
    let block = elasticity([edge, edge, (edge / 2).max(1)], 0.3, Held::OneFace)?;
    let load = vec![1.0; block.matrix.rows()];
    let poisson = measure(context, &box_.matrix, &box_.b)?;
    let elastic = measure(context, &block.matrix, &load)?;
    let unknowns = block.matrix.rows() as u64;
    let peers = context.solve_with(&[PARDISO], &system(&box_.matrix, &box_.b));
    let elastic_peers = context.solve_with(&[PARDISO], &system(&block.matrix, &load));
    Ok(Outcome::new(poisson.against(&peers))
        .also("elasticity", elastic.against(&elastic_peers))
        .with("unknowns", Value::Count(box_.b.len() as u64))
        .with("elasticity_unknowns", Value::Count(unknowns)))
}

fn measure(context: &Context, matrix: &Csr<f64>, b: &[f64]) -> Result<Measured> {
    let solve = |x: &mut Vec<f64>| {
        let mut direct = Direct::factor(matrix, Kind::Cholesky, &Ordering::Automatic)?;
        let _ = converged(direct.solve(b, x)?)?;
        Ok(())
    };
    let mut x = vec![0.0; b.len()];
    let bytes = peak_bytes_of(|| solve(&mut x))?;
    let work = context.work("unknowns", b.len() as u64);
    Ok(work.measure(&mut x, solve, |x, hash| hash.write(x))?.mem_bytes(bytes))
}

fn system<'a>(matrix: &'a Csr<f64>, rhs: &'a [f64]) -> System<'a> {
    System {
        indptr: matrix.starts(),
        indices: matrix.indices(),
        data: matrix.values(),
        rhs,
        definiteness: Definiteness::Positive,
        tolerance: 1e-6,
    }
}
