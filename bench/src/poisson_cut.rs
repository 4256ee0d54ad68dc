//! The hard side of pressure: ghost fluid at the surface, fractional cells at a slope and a ball, density jumps of 1000:1.
//! What counts is how many more iterations that takes than the plain box.

use crate::Result;
use crate::harness::{Benchmark, Context, Outcome};
use crate::poisson::converged;
use crate::report::Value;
use crate::tank::Tank;
use std::f64::consts::PI;
use undine_core::glam::{DVec3, IVec3};
use undine_linsolve::amg::{Amg, Settings};
use undine_linsolve::gallery::noise;
use undine_linsolve::krylov::cg;
use undine_linsolve::pressure::{
    InverseDensity, Open, PressureInput, PressureMatrix, PressureSystem, Surface, voxel,
};
use undine_linsolve::{Operator, Report, Stop};

/// The `poisson-cut` benchmark.
pub const BENCHMARK: Benchmark = Benchmark {
    name: "poisson-cut",
    doc: "pressure of SIZE³ cells with ghost fluid, fractional cells and 1000:1 density jumps: multigrid on Buckets, and SA-AMG; one unknown is one unit",
    default_size: 64,
    peers: &[],
    run,
};

fn run(context: &Context) -> Result<Outcome> {
    let size = context.size as f64;
    let distance = |at: DVec3| size * surface(at / size);
    let n = context.size;
    let centre = |cell: usize| {
        DVec3::new((cell / (n * n)) as f64, (cell / n % n) as f64, (cell % n) as f64) + 0.5
    };
    let liquid: Vec<bool> = (0..n.pow(3)).map(|cell| distance(centre(cell)) < 0.0).collect();
    let mut tank = Tank::new(n, &liquid)?;
    let distance = tank.add_cells("distance", distance)?;
    let open = tank.add_faces("open", "", |axis, at| open(axis, at, size))?;
    let inverse_density = tank.add_faces("inverse-density", "m3/kg", |_, at| {
        if is_bubble(at / size) { 1000.0 } else { 1.0 }
    })?;
    let plain = PressureInput::from_mask(&tank.volume, tank.liquid);
    let cut = PressureInput {
        open: Open::Channel(open),
        inverse_density: InverseDensity::Channel(inverse_density),
        surface: Surface::Distance { distance, smallest: 0.01 },
        ..plain
    };

    let plain = Solves::new(&PressureSystem::new(&tank.domain, &plain)?, size)?;
    let pressure = PressureSystem::new(&tank.domain, &cut)?;
    let cuts = Solves::new(&pressure, size)?;
    let stop = Stop::relative(1e-6);
    let matrix = pressure.to_csr()?;
    let (rows, b) = right_hand_side(&pressure, &matrix, size);
    let unknowns = rows.len() as u64;

    let mut x = vec![0.0; b.len()];
    let multigrid = context.work("unknowns", unknowns).measure(
        &mut x,
        |x| {
            x.fill(0.0);
            let pressure = PressureSystem::new(&tank.domain, &cut)?;
            let _ = converged(pressure.solve(&b, x, &stop)?)?;
            Ok(())
        },
        |x, hash| hash.write(x),
    )?;
    let mut x = vec![0.0; rows.len()];
    let amg = context.work("unknowns", unknowns).measure(
        &mut x,
        |x| {
            x.fill(0.0);
            let mut amg = Amg::new(&matrix.matrix, &Settings::default())?;
            let _ = converged(cg(&matrix.matrix, &mut amg, &rows, x, &stop)?)?;
            Ok(())
        },
        |x, hash| hash.write(x),
    )?;
    let ratio = |cut: &Report, plain: &Report| {
        Value::Number(cut.iterations as f64 / plain.iterations as f64)
    };
    Ok(Outcome::new(multigrid)
        .also("amg", amg)
        .with("unknowns", Value::Count(unknowns))
        .with("iterations", Value::Count(cuts.multigrid.iterations as u64))
        .with("plain_iterations", Value::Count(plain.multigrid.iterations as u64))
        .with("vs_plain_iterations", ratio(&cuts.multigrid, &plain.multigrid))
        .with("amg_iterations", Value::Count(cuts.amg.iterations as u64))
        .with("amg_plain_iterations", Value::Count(plain.amg.iterations as u64))
        .with("amg_vs_plain_iterations", ratio(&cuts.amg, &plain.amg)))
}

/// How both solvers fare on one system, with the same kind of right-hand side.
struct Solves {
    multigrid: Report,
    amg: Report,
}

impl Solves {
    fn new(pressure: &PressureSystem, size: f64) -> Result<Self> {
        let matrix = pressure.to_csr()?;
        let (rows, b) = right_hand_side(pressure, &matrix, size);
        let stop = Stop::relative(1e-6);
        let mut x = vec![0.0; b.len()];
        let multigrid = converged(pressure.solve(&b, &mut x, &stop)?)?;
        let mut amg = Amg::new(&matrix.matrix, &Settings::default())?;
        let mut x = vec![0.0; rows.len()];
        let amg = converged(cg(&matrix.matrix, &mut amg, &rows, &mut x, &stop)?)?;
        Ok(Self { multigrid, amg })
    }
}

/// The divergence of `poisson`, smooth and with noise: by row of the matrix, and by entry of the pressure system.
fn right_hand_side(
    pressure: &PressureSystem,
    matrix: &PressureMatrix,
    size: f64,
) -> (Vec<f64>, Vec<f64>) {
    let divergence = |(row, &entry): (usize, &u32)| {
        let corner = pressure.topology().bucket(entry / 512).coord * 8;
        let voxel = voxel(entry as usize % 512) as i32;
        let cell = corner + IVec3::new(voxel >> 6, voxel >> 3 & 7, voxel & 7);
        let at = (cell.as_dvec3() + 0.5) / size;
        let smooth = (2.0 * PI * at.x).sin() * (4.0 * PI * at.y).cos() * (PI * at.z).sin();
        smooth + 0.3 * noise(3, row as u64)
    };
    let rows: Vec<f64> = matrix.entries.iter().enumerate().map(divergence).collect();
    let mut b = vec![0.0; pressure.rows().local()];
    matrix.scatter(&rows, &mut b);
    (rows, b)
}

/// The signed distance to the wavy surface in a unit box, about: negative below, and in a drop above.
fn surface(at: DVec3) -> f64 {
    let height = 0.55 + 0.08 * (12.0 * at.x).sin() * (9.0 * at.y).cos();
    let drop = (at - DVec3::new(0.3, 0.3, 0.85)).length() - 0.09;
    (at.z - height).min(drop)
}

/// Two bubbles of a light fluid, a thousand times thinner than the rest, which are simulated too.
fn is_bubble(at: DVec3) -> bool {
    (at - DVec3::new(0.6, 0.4, 0.25)).length() < 0.12
        || (at - DVec3::new(0.25, 0.7, 0.35)).length() < 0.07
}

/// How much of a face is open: walls of the box, a sloping floor and a ball, as the share of the face outside of them.
fn open(axis: usize, at: DVec3, size: f64) -> f64 {
    if at[axis] == 0.0 || at[axis] == size {
        return 0.0;
    }
    let solid = |at: DVec3| {
        let slope = at.z - 0.12 * at.x - 0.03 * size;
        let ball = (at - DVec3::new(0.7, 0.65, 0.4) * size).length() - 0.11 * size;
        slope.min(ball)
    };
    let (u, v) = (0.25 * DVec3::AXES[(axis + 1) % 3], 0.25 * DVec3::AXES[(axis + 2) % 3]);
    let corners =
        [u + v, u - v, v - u, -u - v].map(|offset| (solid(at + offset) + 0.5).clamp(0.0, 1.0));
    corners.iter().sum::<f64>() / 4.0
}
