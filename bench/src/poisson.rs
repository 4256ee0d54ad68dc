//! The pressure of a half-full box with a wavy surface, set-up and solve: smoothed aggregation on the matrix, and multigrid
//! on Buckets from the liquid mask.

use crate::Result;
use crate::harness::{Benchmark, Context, Outcome};
use crate::machine::peak_bytes_of;
use crate::peers::{AMGCL, Definiteness, GAMG, HYPRE, PARDISO, PYAMG, SCIPY_CG, System};
use crate::report::Value;
use crate::tank::Tank;
use undine_linsolve::amg::{Amg, Settings};
use undine_linsolve::gallery::{half_full, noise};
use undine_linsolve::krylov::cg;
use undine_linsolve::pressure::{PressureInput, PressureSystem};
use undine_linsolve::{Matrix, Operator, Report, Stop};

/// The `poisson` benchmark.
pub const BENCHMARK: Benchmark = Benchmark {
    name: "poisson",
    doc: "pressure of a half-full box of SIZE³ cells to 1e-6, set-up and solve: SA-AMG, and multigrid on Buckets; one unknown is one unit",
    default_size: 128,
    peers: &[],
    run,
};

/// ‖b − A·x‖ / ‖b‖ to reach.
const TOLERANCE: f64 = 1e-6;

fn run(context: &Context) -> Result<Outcome> {
    let system = half_full(context.size)?;
    let unknowns = system.b.len() as u64;
    let tank = Tank::new(context.size, &system.liquid)?;
    let b_on_buckets = check_same_system(&tank, &system.matrix, &system.b, &system.liquid)?;
    let matrix = Matrix::single(system.matrix)?;
    let stop = Stop::relative(TOLERANCE);

    let mut by_amg = (vec![0.0; system.b.len()], None);
    let solve_amg = |(x, report): &mut (Vec<f64>, Option<Report>)| {
        x.fill(0.0);
        let mut amg = Amg::new(&matrix, &Settings::default())?;
        *report = Some(converged(cg(&matrix, &mut amg, &system.b, x, &stop)?)?);
        Ok(())
    };
    let amg_bytes = peak_bytes_of(|| solve_amg(&mut by_amg))?;
    let amg =
        context
            .work("unknowns", unknowns)
            .measure(&mut by_amg, solve_amg, |(x, _), hash| hash.write(x))?;

    let mut by_multigrid = (vec![0.0; b_on_buckets.len()], None);
    let solve_multigrid = |(x, report): &mut (Vec<f64>, Option<Report>)| {
        x.fill(0.0);
        let input = PressureInput::from_mask(&tank.volume, tank.liquid);
        let pressure = PressureSystem::new(&tank.domain, &input)?;
        *report = Some(converged(pressure.solve(&b_on_buckets, x, &stop)?)?);
        Ok(())
    };
    let multigrid_bytes = peak_bytes_of(|| solve_multigrid(&mut by_multigrid))?;
    let multigrid = context.work("unknowns", unknowns).measure(
        &mut by_multigrid,
        solve_multigrid,
        |(x, _), hash| hash.write(x),
    )?;

    let csr = matrix.csr();
    let system = System {
        indptr: csr.starts(),
        indices: csr.indices(),
        data: csr.values(),
        rhs: &system.b,
        definiteness: Definiteness::Positive,
        tolerance: TOLERANCE,
    };
    let peers = [AMGCL, HYPRE, GAMG, PYAMG, SCIPY_CG, PARDISO.only_if_all_are_wanted()];
    let peers = context.solve_with(&peers, &system);
    let iterations = |report: &Option<Report>| {
        Value::Count(report.as_ref().map_or(0, |report| report.iterations as u64))
    };
    Ok(Outcome::new(amg.mem_bytes(amg_bytes).against(&peers))
        .also("multigrid", multigrid.mem_bytes(multigrid_bytes).against(&peers))
        .with("unknowns", Value::Count(unknowns))
        .with("iterations", iterations(&by_amg.1))
        .with("multigrid_iterations", iterations(&by_multigrid.1)))
}

/// The report, if the solve converged.
pub fn converged(report: Report) -> Result<Report> {
    if report.converged() { Ok(report) } else { Err(report.to_string().into()) }
}

/// Asserts that the Buckets and the matrix are the same system: A·x of both, for some x, to 1e-12. Returns `b` on the Buckets.
fn check_same_system(
    tank: &Tank,
    matrix: &undine_linsolve::Csr<f64>,
    b: &[f64],
    liquid: &[bool],
) -> Result<Vec<f64>> {
    let input = PressureInput::from_mask(&tank.volume, tank.liquid);
    let pressure = PressureSystem::new(&tank.domain, &input)?;
    let cells = tank.entries(pressure.topology());
    let entries: Vec<usize> = liquid
        .iter()
        .zip(cells)
        .filter_map(|(&liquid, entry)| if liquid { entry } else { None })
        .collect();
    let x: Vec<f64> = (0..b.len() as u64).map(|n| noise(2, n)).collect();
    let mut wanted = vec![0.0; b.len()];
    matrix.multiply(&x, &mut wanted);
    let scatter = |values: &[f64]| {
        let mut vector = vec![0.0; pressure.rows().local()];
        entries.iter().zip(values).for_each(|(&entry, &value)| vector[entry] = value);
        vector
    };
    let mut found = vec![0.0; pressure.rows().local()];
    pressure.apply(&mut scatter(&x), &mut found)?;
    let error = entries.iter().zip(&wanted).map(|(&entry, wanted)| (found[entry] - wanted).abs());
    let error = error.fold(0.0, f64::max);
    if entries.len() != b.len() || error > 1e-12 {
        let cells = (entries.len(), b.len());
        return Err(format!("Buckets and matrix differ: {cells:?} cells, A·x by {error:e}").into());
    }
    Ok(scatter(b))
}
