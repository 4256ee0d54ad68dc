//! The coupled vector system of implicit variational viscosity (Batty & Bridson 2008), set-up and solve: SA-AMG against
//! incomplete Cholesky.

use crate::Result;
use crate::harness::{Benchmark, Context, Outcome};
use crate::poisson::converged;
use crate::report::Value;
use undine_linsolve::amg::{Amg, Grouping, NearNullSpace, Settings};
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

/// Δt μ / (ρ Δx²): caramel of 70 Pa·s in cells of 1 mm and steps of 1/48 s.
const STRENGTH: f64 = 1000.0;

fn run(context: &Context) -> Result<Outcome> {
    let honey = viscosity(context.size, STRENGTH, Walls::Stick)?;
    let matrix = Matrix::single(honey.matrix)?;
    let settings = Settings {
        nodes: Grouping::nodes(&honey.nodes),
        near_null_space: NearNullSpace::Vectors(honey.modes),
        ..Settings::default()
    };
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
    // While the liquid changes little, the hierarchy is kept and only the solve is paid.
    let mut kept = Amg::new(&matrix, &settings)?;
    let again = context.work("unknowns", unknowns).measure(
        &mut state,
        |(x, _)| solve(&mut kept, x).map(|_| ()),
        |(x, _), hash| hash.write(x),
    )?;
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
    let again_vs_cholesky = cholesky.seconds / again.seconds;
    Ok(Outcome::new(amg)
        .also("again", again)
        .also("ic", cholesky)
        .with("unknowns", Value::Count(unknowns))
        .with("iterations", Value::Count(iterations as u64))
        .with("ic_iterations", Value::Count(state.1 as u64))
        .with("vs_ic", Value::Number(vs_cholesky))
        .with("again_vs_ic", Value::Number(again_vs_cholesky)))
}
