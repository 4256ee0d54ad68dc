//! Hair with contacts, set-up and solve: every rod factored by itself, and CG for what ties them together.

use crate::Result;
use crate::harness::{Benchmark, Context, Outcome};
use crate::machine::peak_bytes_of;
use crate::peers::{Definiteness, PARDISO, System};
use crate::poisson::converged;
use crate::report::Value;
use std::time::Instant;
use undine_linsolve::amg::{Amg, NearNullSpace, Settings};
use undine_linsolve::gallery::{RodsSetup, rods};
use undine_linsolve::krylov::cg;
use undine_linsolve::manybodies::{Blocks, manybodies_solve};
use undine_linsolve::{Matrix, Report, Stop};

/// The `manybodies` benchmark.
pub const BENCHMARK: Benchmark = Benchmark {
    name: "manybodies",
    doc: "rods with one contact per two vertices, about SIZE unknowns, to 1e-6, set-up and solve; one unknown is one unit",
    default_size: 300_000,
    peers: &[],
    run,
};

/// ‖b − A·x‖ / ‖b‖ to reach.
const TOLERANCE: f64 = 1e-6;

fn run(context: &Context) -> Result<Outcome> {
    let hair = rods(&RodsSetup::of_unknowns(context.size))?;
    let modes = hair.modes();
    let matrix = Matrix::single(hair.matrix)?;
    let blocks = Blocks::ranges(&hair.blocks);
    let unknowns = hair.b.len() as u64;
    let stop = Stop::relative(TOLERANCE);

    let mut state = (vec![0.0; hair.b.len()], None);
    let solve = |(x, report): &mut (Vec<f64>, Option<Report>)| {
        x.fill(0.0);
        *report = Some(converged(manybodies_solve(&matrix, &blocks, &hair.b, x, &stop)?)?);
        Ok(())
    };
    let bytes = peak_bytes_of(|| solve(&mut state))?;
    let measured = context
        .work("unknowns", unknowns)
        .measure(&mut state, solve, |(x, _), hash| hash.write(x))?
        .mem_bytes(bytes);
    let iterations = state.1.map_or(0, |report| report.iterations as u64);

    // Once is enough: its ratio is far from the mark.
    let mut x = vec![0.0; hair.b.len()];
    let settings =
        Settings { near_null_space: NearNullSpace::Vectors(modes), ..Settings::with_nodes(4) };
    let started = Instant::now();
    let report = cg(&matrix, &mut Amg::new(&matrix, &settings)?, &hair.b, &mut x, &stop)?;
    let amg_seconds = started.elapsed().as_secs_f64();
    println!("  SA-AMG: {report}");

    let csr = matrix.csr();
    let system = System {
        indptr: csr.starts(),
        indices: csr.indices(),
        data: csr.values(),
        rhs: &hair.b,
        definiteness: Definiteness::Positive,
        tolerance: TOLERANCE,
    };
    let peers = context.solve_with(&[PARDISO], &system);
    let vs_amg = amg_seconds / measured.seconds;
    Ok(Outcome::new(measured.against(&peers))
        .with("unknowns", Value::Count(unknowns))
        .with("iterations", Value::Count(iterations))
        .with("amg_seconds", Value::Number(amg_seconds))
        .with("amg_iterations", Value::Count(report.iterations as u64))
        .with("amg_residual", Value::Number(report.residual))
        .with("vs_amg", Value::Number(vs_amg)))
}
