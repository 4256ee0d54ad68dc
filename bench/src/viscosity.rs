//! The coupled vector system of implicit variational viscosity (Batty & Bridson 2008), set-up and solve: SA-AMG against
//! incomplete Cholesky.

use crate::Result;
use crate::harness::{Benchmark, Context, Outcome};
use crate::poisson::converged;
use crate::report::Value;
use undine_linsolve::amg::{Amg, NearNullSpace, Settings};
use undine_linsolve::gallery::{Walls, viscosity};
use undine_linsolve::krylov::cg;
use undine_linsolve::precondition::IncompleteCholesky;
use undine_linsolve::{Matrix, Preconditioner, Report, Stop};

/// The `viscosity` benchmark.
pub const BENCHMARK: Benchmark = Benchmark {
    name: "viscosity",
    doc: "implicit viscosity in a half-full box of SIZE³ cells to 1e-6, set-up and solve: SA-AMG, and IC(0); one unknown is one unit",
    default_size: 64,
    peers: &[],
    run,
};

/// Δt μ / (ρ Δx²): honey, close up.
const STRENGTH: f64 = 300.0;

fn run(context: &Context) -> Result<Outcome> {
    let honey = viscosity(context.size, STRENGTH, Walls::Stick)?;
    let matrix = Matrix::single(honey.matrix)?;
    // Shifts of the whole liquid: coarse levels keep its three components apart.
    let shifts = honey.modes.into_iter().take(3).collect();
    let settings =
        Settings { near_null_space: NearNullSpace::Vectors(shifts), ..Settings::default() };
    let solve = |preconditioner: &mut dyn Preconditioner, x: &mut Vec<f64>| -> Result<Report> {
        x.fill(0.0);
        converged(cg(&matrix, preconditioner, &honey.b, x, &Stop::relative(1e-6))?)
    };
    let unknowns = honey.b.len() as u64;
    let mut state = (vec![0.0; honey.b.len()], 0);
    let amg = context.work("unknowns", unknowns).measure(
        &mut state,
        |(x, iterations)| {
            let report = solve(&mut Amg::new(&matrix, &settings)?, x)?;
            *iterations = report.iterations;
            Ok(())
        },
        |(x, _), hash| hash.write(x),
    )?;
    let iterations = state.1;
    let cholesky = context.work("unknowns", unknowns).measure(
        &mut state,
        |(x, iterations)| {
            let report = solve(&mut IncompleteCholesky::plain(&matrix)?, x)?;
            *iterations = report.iterations;
            Ok(())
        },
        |(x, _), hash| hash.write(x),
    )?;
    let vs_cholesky = cholesky.seconds / amg.seconds;
    Ok(Outcome::new(amg)
        .also("ic", cholesky)
        .with("unknowns", Value::Count(unknowns))
        .with("iterations", Value::Count(iterations as u64))
        .with("ic_iterations", Value::Count(state.1 as u64))
        .with("vs_ic", Value::Number(vs_cholesky)))
}
