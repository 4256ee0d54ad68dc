//! The same bytes for any number of threads, of every solver.

use super::pressure;
use crate::page::Case;
use crate::verdict::Verdict;
use rayon::ThreadPoolBuilder;
use std::error::Error;
use undine_linsolve::choose::{Method, System};
use undine_linsolve::gallery::{RodsSetup, dam_break, half_full, rods, saddle};
use undine_linsolve::lcp::{Bounds, Coloured, predictor_corrector};
use undine_linsolve::manybodies::{Blocks, manybodies_solve};
use undine_linsolve::precondition::IncompleteCholesky;
use undine_linsolve::{Matrix, Operator, Stop};

/// The case.
pub const SAME_BYTES: Case = Case {
    name: "linsolve-same-bytes",
    doc: "Multigrid on Buckets, SA-AMG, incomplete Cholesky, MINRES, manybodies, a bounded system and a direct solve: the same bytes on 1 to 8 threads.",
    run,
};

fn run() -> Verdict {
    let mut verdict = Verdict::new();
    let mut first = None;
    for threads in [1, 2, 3, 5, 8] {
        let found = ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .map_err(|why| why.to_string())
            .and_then(|pool| pool.install(|| hashes().map_err(|why| why.to_string())));
        let found = match found {
            Ok(found) => found,
            Err(why) => return Verdict::broken(why),
        };
        let wanted = first.get_or_insert_with(|| found.clone());
        for ((name, hash), (_, wanted)) in found.iter().zip(wanted.iter()) {
            let name = format!("hash of {name} on {threads} threads");
            verdict = verdict.same(&name, format!("{hash:016x}"), format!("{wanted:016x}"));
        }
    }
    verdict
}

/// A hash of each solver's solution.
fn hashes() -> Result<Vec<(&'static str, u64)>, Box<dyn Error>> {
    let mut hashes = vec![("multigrid", hash(&pressure(64)?.0))];
    let stop = Stop::default();

    let field = half_full(48)?;
    let matrix = Matrix::single(field.matrix)?;
    let mut x = vec![0.0; field.b.len()];
    for (name, method) in [
        ("SA-AMG", Method::SaAmg),
        ("incomplete Cholesky", Method::IncompleteCholesky),
        ("direct", Method::Direct),
    ] {
        x.fill(0.0);
        let _ = System::new(&matrix).solve(method, &field.b, &mut x, &stop)?;
        hashes.push((name, hash(&x)));
    }

    let matrix = Matrix::single(saddle(40, 0.1)?)?;
    let b: Vec<f64> = (0..matrix.rows().local()).map(|n| (n % 7) as f64 - 3.0).collect();
    let mut x = vec![0.0; b.len()];
    let _ = System::new(&matrix).solve(Method::Minres, &b, &mut x, &stop)?;
    hashes.push(("MINRES", hash(&x)));

    let hair = rods(&RodsSetup::of_unknowns(50_000))?;
    let matrix = Matrix::single(hair.matrix)?;
    let mut x = vec![0.0; hair.b.len()];
    let _ = manybodies_solve(&matrix, &Blocks::ranges(&hair.blocks), &hair.b, &mut x, &stop)?;
    hashes.push(("manybodies", hash(&x)));

    let dam = dam_break(40)?;
    let matrix = Matrix::single(dam.matrix)?;
    let bounds = Bounds::new(matrix.rows(), &dam.lower, &dam.upper)?;
    let mut x = vec![0.0; dam.b.len()];
    let mut cholesky = IncompleteCholesky::modified(&matrix)?;
    let sweeps = Coloured::new(&matrix)?;
    let _ = predictor_corrector(&sweeps, &mut cholesky, &dam.b, &bounds, &mut x, &stop)?;
    hashes.push(("bounded", hash(&x)));
    Ok(hashes)
}

/// FNV-1a of the bits.
fn hash(values: &[f64]) -> u64 {
    values.iter().fold(0xcbf2_9ce4_8422_2325, |hash, value| {
        (hash ^ value.to_bits()).wrapping_mul(0x0000_0100_0000_01b3)
    })
}
