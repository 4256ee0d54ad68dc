//! Reductions: the same bits on every process, and one outcome for all.

use super::passes;
use std::{error::Error, sync::Arc};
use undine_core::{CoreError, process::Processes};

#[test]
fn sums_have_the_same_bits_on_every_process() {
    passes("sums");
}

pub fn sums(processes: &Arc<dyn Processes>) -> Result<(), Box<dyn Error>> {
    // Their sum depends on the order in which they are added.
    let partial = |rank: usize| [0.1, 1e16, -1e16, 0.3][rank % 4] * 1.1;
    let in_order = (1..processes.count()).fold(partial(0), |sum, rank| sum + partial(rank));
    let sum = processes.all_sum_f64(partial(processes.rank()))?;
    assert_eq!(sum.to_bits(), in_order.to_bits());
    assert!(
        processes
            .all_gather_values(&[sum])?
            .iter()
            .all(|other| other[0].to_bits() == sum.to_bits())
    );

    let mut several = [partial(processes.rank()), -0.0, 1.0];
    processes.all_sum_f64s(&mut several)?;
    assert_eq!(
        several.map(f64::to_bits),
        [in_order, -0.0, processes.count() as f64].map(f64::to_bits)
    );

    assert_eq!(processes.all_sum_u64(1 << 40)?, (processes.count() as u64) << 40);
    if processes.count() > 1 {
        assert!(matches!(processes.all_sum_u64(u64::MAX), Err(CoreError::BadValue { .. })));
        let mut uneven = vec![0.0; processes.rank()];
        assert!(matches!(processes.all_sum_f64s(&mut uneven), Err(CoreError::WrongLength { .. })));
    }
    Ok(())
}

#[test]
fn extremes_are_those_of_all_and_show_every_nan() {
    passes("extremes");
}

pub fn extremes(processes: &Arc<dyn Processes>) -> Result<(), Box<dyn Error>> {
    let (rank, last) = (processes.rank(), processes.count() - 1);
    assert_eq!(processes.all_max_f64(-(rank as f64))?, 0.0);
    assert_eq!(processes.all_min_f64(-(rank as f64))?, -(last as f64));
    assert_eq!(processes.all_max_u64(rank as u64)?, last as u64);
    assert_eq!(processes.all_min_u64(7 + rank as u64)?, 7);
    for hidden in 0..=last {
        let value = if rank == hidden { f64::NAN } else { 1.0 };
        assert!(processes.all_max_f64(value)?.is_nan());
        assert!(processes.all_min_f64(value)?.is_nan());
        assert!(processes.any(rank == hidden)?);
    }
    assert!(!processes.any(false)?);
    Ok(())
}

#[test]
fn an_error_on_one_process_is_the_same_error_on_all() {
    passes("agree");
}

pub fn agree(processes: &Arc<dyn Processes>) -> Result<(), Box<dyn Error>> {
    let (count, rank) = (processes.count(), processes.rank());
    assert_eq!(processes.all_agree(Ok(rank))?, rank);
    for failing in 0..count {
        // Longer than what travels with the first message.
        let what =
            format!("a particle with a very long name that has lost its way on process {failing}");
        let error = |index| CoreError::BadIndex { what: what.clone(), index, count: 3 };
        // All from here on fail; the lowest rank is told.
        let outcome = if rank >= failing { Err(error(rank as u64)) } else { Ok(()) };
        let found = processes.all_agree(outcome).unwrap_err();
        if count == 1 {
            assert_eq!(found, error(0));
        } else {
            assert_eq!(
                found.to_string(),
                format!("process {failing} of {count}: {}", error(failing as u64))
            );
        }
    }
    Ok(())
}
