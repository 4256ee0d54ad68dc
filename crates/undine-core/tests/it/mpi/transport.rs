//! Parcels: what is sent arrives, whole, once, and in order.

use super::{passes, passes_with};
use std::{error::Error, path::PathBuf, sync::Arc, thread, time::Duration};
use undine_core::{
    CoreError,
    process::{Parcel, Processes},
};

#[test]
fn an_exchange_delivers_exactly_what_was_sent() {
    passes("exchange");
}

#[test]
fn messages_longer_than_mpi_can_count_travel_in_pieces() {
    passes_with("exchange", &[("UNDINE_MPI_CHUNK", "1000")]);
    passes_with("gather", &[("UNDINE_MPI_CHUNK", "1000")]);
}

/// The parcel that the model sends from one process to another in a round: often none, sometimes empty or large.
fn modelled(round: u64, from: usize, to: usize) -> Option<Vec<u8>> {
    let dice = hash(round << 32 | (from as u64) << 16 | to as u64);
    let length = match dice % 8 {
        0..4 => return None,
        4 => 0,
        5 => 3_000_000 + dice as usize / 8 % 1000,
        _ => dice as usize / 8 % 5000,
    };
    Some((0..length as u64).map(|i| (dice ^ i.wrapping_mul(dice | 1) >> 7) as u8).collect())
}

/// A well mixed function of a number (splitmix64).
fn hash(number: u64) -> u64 {
    let mut mixed = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ mixed >> 31
}

/// What the model sends from this process, or to it.
fn modelled_parcels(
    round: u64,
    count: usize,
    ends: impl Fn(usize) -> (usize, usize),
) -> Vec<Parcel> {
    let parcel = |process| {
        let (from, to) = ends(process);
        modelled(round, from, to).map(|bytes| Parcel { process, bytes })
    };
    (0..count).filter_map(parcel).collect()
}

fn outgoing(round: u64, processes: &dyn Processes) -> Vec<Parcel> {
    modelled_parcels(round, processes.count(), |other| (processes.rank(), other))
}

fn expected(round: u64, processes: &dyn Processes) -> Vec<Parcel> {
    modelled_parcels(round, processes.count(), |other| (other, processes.rank()))
}

fn sizes(parcels: &[Parcel]) -> Vec<(usize, usize)> {
    parcels.iter().map(|parcel| (parcel.process, parcel.bytes.len())).collect()
}

pub fn exchange(processes: &Arc<dyn Processes>) -> Result<(), Box<dyn Error>> {
    for round in 0..24 {
        let mut sent = outgoing(round, &**processes);
        sent.reverse();
        assert_eq!(processes.exchange(sent)?, expected(round, &**processes), "round {round}");
    }
    assert_eq!(processes.exchange(Vec::new())?, []);
    Ok(())
}

#[test]
fn a_refused_exchange_is_an_error_on_every_process() {
    passes("exchange_refused");
}

pub fn exchange_refused(processes: &Arc<dyn Processes>) -> Result<(), Box<dyn Error>> {
    let last = processes.count() - 1;
    let to = |process| Parcel { process, bytes: vec![1] };
    let sent =
        if processes.rank() == last { vec![to(0), to(processes.count())] } else { vec![to(last)] };
    let error = processes.exchange(sent).unwrap_err();
    if processes.rank() == last {
        assert!(matches!(error, CoreError::BadIndex { .. }), "{error}");
    } else {
        assert!(
            matches!(error, CoreError::OnProcess { process, .. } if process == last),
            "{error}"
        );
    }
    // Nothing of it is left behind.
    exchange(processes)
}

#[test]
fn two_transfers_under_way_finish_in_any_order() {
    passes("overlap");
}

pub fn overlap(processes: &Arc<dyn Processes>) -> Result<(), Box<dyn Error>> {
    let start = |round| {
        processes.start(outgoing(round, &**processes), &sizes(&expected(round, &**processes)))
    };
    for round in (0..20).step_by(2) {
        let (first, second) = (start(round)?, start(round + 1)?);
        // A reduction in between disturbs nobody.
        assert_eq!(processes.all_sum_u64(1)?, processes.count() as u64);
        assert_eq!(second.finish()?, expected(round + 1, &**processes), "round {}", round + 1);
        assert_eq!(first.finish()?, expected(round, &**processes), "round {round}");
    }
    Ok(())
}

#[test]
fn several_parcels_between_two_processes_keep_their_order() {
    passes("several_to_one");
}

pub fn several_to_one(processes: &Arc<dyn Processes>) -> Result<(), Box<dyn Error>> {
    let lengths = [5, 0, 200_000, 1, 5];
    let parcels: Vec<Parcel> = (0..processes.count())
        .flat_map(|process| {
            lengths
                .iter()
                .enumerate()
                .map(move |(i, &n)| Parcel { process, bytes: vec![i as u8; n] })
        })
        .collect();
    let received = processes.start(parcels.clone(), &sizes(&parcels))?.finish()?;
    assert_eq!(received, parcels);
    Ok(())
}

#[test]
fn a_dropped_transfer_leaves_nothing_behind() {
    passes("drop_pending");
}

pub fn drop_pending(processes: &Arc<dyn Processes>) -> Result<(), Box<dyn Error>> {
    for round in 0..10 {
        let pending = processes
            .start(outgoing(round, &**processes), &sizes(&expected(round, &**processes)))?;
        if hash(round + processes.rank() as u64).is_multiple_of(2) {
            drop(pending);
        } else {
            assert_eq!(pending.finish()?, expected(round, &**processes));
        }
    }
    exchange(processes)
}

#[test]
fn a_parcel_of_another_length_than_expected_is_an_error() {
    passes("wrong_length");
}

pub fn wrong_length(processes: &Arc<dyn Processes>) -> Result<(), Box<dyn Error>> {
    let (count, rank) = (processes.count(), processes.rank());
    if count == 1 {
        return Ok(());
    }
    let (next, previous) = ((rank + 1) % count, (rank + count - 1) % count);
    for (sent, wanted) in [(10, 20), (20, 10), (2_000_000, 3_000_000)] {
        let parcel = Parcel { process: next, bytes: vec![0; sent] };
        let error = processes.start(vec![parcel], &[(previous, wanted)])?.finish().unwrap_err();
        assert!(matches!(error, CoreError::Communication { .. }), "{error}");
        if sent < wanted {
            let message =
                format!("process {previous} sent {sent} bytes, but {wanted} were expected");
            assert!(error.to_string().ends_with(&message), "{error}");
        }
    }
    exchange(processes)
}

#[test]
fn more_starts_than_there_are_tags_do_not_mix() {
    passes("many_starts");
}

pub fn many_starts(processes: &Arc<dyn Processes>) -> Result<(), Box<dyn Error>> {
    let (count, rank) = (processes.count(), processes.rank());
    // Starts without parcels take a tag, too; go close to the largest, and pass it with some under way.
    for _ in 0..32_700 {
        assert_eq!(processes.start(Vec::new(), &[])?.finish()?, []);
    }
    let (next, previous) = ((rank + 1) % count, (rank + count - 1) % count);
    let start = |i: u32| {
        let bytes = i.to_ne_bytes().to_vec();
        processes.start(vec![Parcel { process: next, bytes }], &[(previous, 4)])
    };
    let under_way = (0..200).map(start).collect::<Result<Vec<_>, _>>()?;
    for (i, pending) in under_way.into_iter().enumerate().rev() {
        assert_eq!(pending.finish()?[0].bytes, (i as u32).to_ne_bytes());
    }
    Ok(())
}

#[test]
fn parcels_travel_from_any_thread() {
    passes("other_threads");
}

pub fn other_threads(processes: &Arc<dyn Processes>) -> Result<(), Box<dyn Error>> {
    for round in 0..10 {
        let start = || {
            processes.start(outgoing(round, &**processes), &sizes(&expected(round, &**processes)))
        };
        let pending = thread::scope(|scope| scope.spawn(start).join()).expect("no panic")?;
        let finish = move || pending.finish();
        let received = thread::scope(|scope| scope.spawn(finish).join()).expect("no panic")?;
        assert_eq!(received, expected(round, &**processes));
    }
    Ok(())
}

#[test]
fn large_parcels_move_while_the_receiver_computes() {
    passes("progress");
}

/// Even processes finish at once; odd ones finish only when their partner is through, without a call in between.
pub fn progress(processes: &Arc<dyn Processes>) -> Result<(), Box<dyn Error>> {
    let (count, rank) = (processes.count(), processes.rank());
    let partner = rank ^ 1;
    let id = processes.all_max_u64(std::process::id().into())?;
    let sign_of =
        |rank| PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("through-{id}-{rank}"));
    let bytes = 3_000_000;
    let (parcels, incoming) = match partner < count {
        true => (
            vec![Parcel { process: partner, bytes: vec![rank as u8; bytes] }],
            vec![(partner, bytes)],
        ),
        false => (Vec::new(), Vec::new()),
    };
    let pending = processes.start(parcels, &incoming)?;
    if rank % 2 == 1 {
        while !sign_of(partner).exists() {
            thread::sleep(Duration::from_millis(1));
        }
        std::fs::remove_file(sign_of(partner))?;
    }
    let received = pending.finish()?;
    assert!(received.iter().all(|parcel| parcel.bytes == vec![partner as u8; bytes]));
    if rank % 2 == 0 && partner < count {
        std::fs::write(sign_of(rank), "")?;
    }
    Ok(())
}

#[test]
fn bytes_of_different_lengths_are_gathered_in_order() {
    passes("gather");
}

pub fn gather(processes: &Arc<dyn Processes>) -> Result<(), Box<dyn Error>> {
    // Around what fits into the first message, and far beyond it.
    for base in [0_usize, 1, 54, 57, 1000, 300_000] {
        for varies in [0, 1, 7] {
            let bytes = |rank: usize| vec![rank as u8 + 1; base + varies * rank];
            let wanted: Vec<Vec<u8>> = (0..processes.count()).map(bytes).collect();
            assert_eq!(processes.all_gather(&bytes(processes.rank()))?, wanted);
        }
    }
    let values = vec![processes.rank() as f64; processes.rank()];
    let wanted: Vec<Vec<f64>> =
        (0..processes.count()).map(|rank| vec![rank as f64; rank]).collect();
    assert_eq!(processes.all_gather_values(&values)?, wanted);
    processes.barrier()?;
    Ok(())
}
