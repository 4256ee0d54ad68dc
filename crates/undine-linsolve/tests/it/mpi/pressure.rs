//! Pressure over processes: levels that are distributed, levels that are gathered, and regions that several share.

use super::passes;
use crate::tank::{Tank, in_rooms, waves};
use std::error::Error;
use std::sync::Arc;
use undine_core::process::Processes;
use undine_linsolve::pressure::{PressureInput, PressureSystem, voxel};
use undine_linsolve::{Operator, Stop};

#[test]
fn pressure_over_processes_is_that_of_one() {
    passes("pressure");
}

pub fn pressure(processes: &Arc<dyn Processes>) -> Result<(), Box<dyn Error>> {
    // Ten Buckets along each axis make two distributed levels and some that are gathered.
    for size in [2, 5, 10] {
        let waves = || waves(8.0 * f64::from(size));
        let (alone, shared) =
            (Tank::new(0, size, waves()), Tank::shared(Arc::clone(processes), 0, size, waves()));
        compare(&alone, &shared, Tank::plain)?;
        if size < 10 {
            compare(&alone, &shared, Tank::cut)?;
        }
    }
    let (alone, shared) =
        (Tank::new(0, 3, in_rooms), Tank::shared(Arc::clone(processes), 0, 3, in_rooms));
    compare(&alone, &shared, Tank::close_rooms)
}

/// Solves the same system on one process and on all.
fn compare(
    alone: &Tank,
    shared: &Tank,
    input: for<'a> fn(&'a Tank) -> PressureInput<'a>,
) -> Result<(), Box<dyn Error>> {
    let solve = |tank: &Tank| -> Result<_, Box<dyn Error>> {
        let system = PressureSystem::new(&tank.domain, &input(tank))?;
        let b = right_hand_side(&system);
        let mut x = vec![0.0; b.len()];
        let report = system.solve(&b, &mut x, &Stop::relative(1e-9))?;
        assert!(report.converged(), "{report}");
        Ok((system, x, report.iterations))
    };
    let (whole, wanted, on_one) = solve(alone)?;
    let (system, x, iterations) = solve(shared)?;
    assert_eq!(system.closed_regions(), whole.closed_regions());
    assert!(iterations * 5 <= on_one * 6, "{iterations} iterations, {on_one} on one process");
    let largest = wanted.iter().fold(0.0_f64, |max, x| max.max(x.abs()));
    for (n, found) in x.chunks(512).enumerate() {
        let slot = whole.topology().slot(system.topology().bucket(n as u32)).expect("the Bucket");
        let wanted = &wanted[slot as usize * 512..][..512];
        let error = found.iter().zip(wanted).map(|(x, y)| (x - y).abs()).fold(0.0, f64::max);
        assert!(error < 1e-6 * largest, "{error:e} of {largest:e}");
    }

    // The matrix does the same as the system.
    let matrix = system.to_csr()?;
    let mut stored = vec![0.0; system.rows().stored()];
    stored[..x.len()].copy_from_slice(&x);
    let mut y = vec![0.0; x.len()];
    system.apply(&mut stored, &mut y)?;
    let mut column = vec![0.0; matrix.matrix.rows().stored()];
    column[..matrix.entries.len()].copy_from_slice(&matrix.gather(&x));
    let mut wanted = vec![0.0; matrix.entries.len()];
    matrix.matrix.apply(&mut column, &mut wanted)?;
    let difference = |(a, b): (&f64, f64)| (a - b).abs();
    assert!(
        wanted
            .iter()
            .zip(matrix.gather(&y))
            .map(difference)
            .all(|error| error < 1e-9 * largest.max(1.0))
    );
    Ok(())
}

/// Numbers that look random, the same for a cell whoever owns it.
fn right_hand_side(system: &PressureSystem) -> Vec<f64> {
    let mut b = vec![0.0; system.rows().local()];
    for (n, b) in b.chunks_mut(512).enumerate() {
        let corner = system.topology().bucket(n as u32).coord * 8;
        for place in (0..512).filter(|&place| system.has_equation(512 * n + place)) {
            let voxel = voxel(place) as i32;
            let cell =
                [corner.x + (voxel >> 6), corner.y + (voxel >> 3 & 7), corner.z + (voxel & 7)];
            let mix = cell
                .iter()
                .fold(7_u64, |mix, &c| (mix ^ c as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 7);
            b[place] = (mix % 2001) as f64 / 1000.0 - 1.0;
        }
    }
    b
}
