//! A dam break with walls that do not stick: bounded pressure, by prediction and correction and by projected Gauss-Seidel
//! alone.

use crate::Result;
use crate::harness::{Benchmark, Context, Outcome};
use crate::report::Value;
use std::time::Instant;
use undine_linsolve::amg::{Amg, Settings};
use undine_linsolve::gallery::dam_break;
use undine_linsolve::lcp::{Bounds, Coloured, LcpReport, pgs, predictor_corrector};
use undine_linsolve::{Matrix, Operator, Stop};

/// The `lcp` benchmark.
pub const BENCHMARK: Benchmark = Benchmark {
    name: "lcp",
    doc: "dam break with non-stick walls in SIZE³ cells to a complementarity residual of 1e-6, set-up and solve; one unknown is one unit",
    default_size: 64,
    peers: &[],
    run,
};

fn run(context: &Context) -> Result<Outcome> {
    let dam = dam_break(context.size)?;
    let matrix = Matrix::single(dam.matrix)?;
    let bounds = Bounds::new(matrix.rows(), &dam.lower, &dam.upper)?;
    let stop = Stop { iterations: 1_000_000, ..Stop::relative(1e-6) };
    let unknowns = dam.b.len() as u64;

    let mut state = (vec![0.0; dam.b.len()], None);
    let measured = context.work("unknowns", unknowns).measure(
        &mut state,
        |(x, report): &mut (Vec<f64>, Option<LcpReport>)| {
            x.fill(0.0);
            let sweeps = Coloured::new(&matrix)?;
            let mut amg = Amg::new(&matrix, &Settings::default())?;
            *report = Some(predictor_corrector(&sweeps, &mut amg, &dam.b, &bounds, x, &stop)?);
            Ok(())
        },
        |(x, _), hash| hash.write(x),
    )?;
    let report = state.1.filter(LcpReport::converged).ok_or("prediction and correction failed")?;

    // Once is enough: it takes many seconds, and its ratio is far from the mark.
    let mut x = vec![0.0; dam.b.len()];
    let started = Instant::now();
    let alone = pgs(&Coloured::new(&matrix)?, &dam.b, &bounds, &mut x, &stop)?;
    let pgs_seconds = started.elapsed().as_secs_f64();
    if !alone.converged() {
        return Err(alone.to_string().into());
    }
    let vs_pgs = pgs_seconds / measured.seconds;
    Ok(Outcome::new(measured)
        .with("unknowns", Value::Count(unknowns))
        .with("iterations", Value::Count(report.krylov_iterations as u64))
        .with("rounds", Value::Count(report.report.iterations as u64))
        .with("sweeps", Value::Count(report.sweeps as u64))
        .with("at_bound", Value::Count(report.at_lower + report.at_upper))
        .with("pgs_seconds", Value::Number(pgs_seconds))
        .with("pgs_sweeps", Value::Count(alone.sweeps as u64))
        .with("vs_pgs", Value::Number(vs_pgs)))
}
