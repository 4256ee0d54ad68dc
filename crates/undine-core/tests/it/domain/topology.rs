//! Neighbour tables, subsets and what travels, compared with brute force.

use super::*;
use std::collections::BTreeMap;
use undine_core::domain::{NONE, Slot, SlotMap, direction, offset_towards};
use undine_core::{BucketKey, Partition, Topology};

/// Whether two Buckets are near enough that a kernel on one may read the other: on the same level or
/// the next, touching or overlapping.
fn reach(a: Cell, b: Cell) -> bool {
    let (fine, coarse) = if a.0 <= b.0 { (a, b) } else { (b, a) };
    let width = match coarse.0 - fine.0 {
        0 => 1,
        1 => 2,
        _ => return false,
    };
    (0..3).all(|axis| {
        let (fine, low) = (fine.1[axis], coarse.1[axis] * width);
        fine >= low - 1 && fine <= low + width
    })
}

/// Checks the tables of one process against a search among the stored Buckets.
fn check_tables(topology: &Topology) {
    let stored: BTreeMap<Cell, Slot> =
        topology.buckets().iter().zip(0..).map(|(&bucket, slot)| (cell(bucket), slot)).collect();
    assert_eq!(stored.len(), topology.stored());
    let find = |bucket: Bucket| stored.get(&cell(bucket)).copied().unwrap_or(NONE);
    for bucket in topology.all().buckets() {
        assert_eq!(topology.slot(bucket).unwrap_or(NONE), find(bucket));
    }
    for slot in 0..topology.local() as Slot {
        let bucket = topology.bucket(slot);
        for (n, by) in around().enumerate() {
            assert_eq!((direction(by.x, by.y, by.z), offset_towards(n)), (n, by));
            let near = bucket.offset(by);
            assert_eq!(topology.neighbours(slot)[n], find(near), "{bucket:?} {by}");
            assert_eq!(topology.coarser(slot, n), find(near.parent()), "{bucket:?} {by}");
        }
        let several_levels = topology.all().levels().count() > 1;
        match topology.finer(slot) {
            None => assert!(bucket.level == 0 || !several_levels),
            Some(finer) => {
                for (n, &found) in (0..).zip(finer) {
                    let by = IVec3::new(n / 16, n / 4 % 4, n % 4) - 1;
                    let fine = Bucket::at(bucket.level - 1, bucket.coord * 2 + by);
                    assert_eq!(found, find(fine), "{bucket:?} {by}");
                }
                let children = bucket.children().map(find);
                let inner = finer
                    .iter()
                    .enumerate()
                    .filter(|(n, _)| [n / 16, n / 4 % 4, n % 4].iter().all(|c| (1..3).contains(c)));
                assert!(children.eq(inner.map(|(_, &slot)| slot)));
            }
        }
    }
    for level in 0..=20 {
        let range = topology.level(level);
        let own = &topology.buckets()[..topology.local()];
        assert_eq!(range.len(), own.iter().filter(|bucket| bucket.level == level).count());
        assert!(range.into_iter().all(|slot| topology.bucket(slot).level == level));
    }
    check_colours(topology);
}

fn check_colours(topology: &Topology) {
    let mut seen = vec![false; topology.local()];
    for group in topology.colours() {
        for &slot in group {
            assert!(!std::mem::replace(&mut seen[slot as usize], true));
            for (n, other) in topology.neighbours(slot).iter().enumerate() {
                assert!(n == 13 || !group.contains(other), "neighbours of one colour");
            }
        }
    }
    assert!(seen.into_iter().all(|seen| seen));
}

/// Checks what the processes agree on.
fn check_processes(all: &Model, frame: &Frame, cut: &Partition, views: &[Topology]) {
    let owner = |one: Cell| cut.owner(frame, bucket(one));
    for (rank, view) in views.iter().enumerate() {
        let (own, copies) = view.buckets().split_at(view.local());
        assert!(own.iter().map(|bucket| bucket.key()).is_sorted());
        let own: Model = own.iter().copied().map(cell).collect();
        let expected: Model = all.iter().copied().filter(|&one| owner(one) == rank).collect();
        assert_eq!(own, expected, "the local Buckets of process {rank}");

        let near = |one: &Cell| own.iter().any(|&mine| reach(mine, *one));
        let expected: Model =
            all.iter().copied().filter(|one| !own.contains(one) && near(one)).collect();
        let found: Model = copies.iter().copied().map(cell).collect();
        assert_eq!((found.len(), found), (copies.len(), expected), "the copies of process {rank}");

        let mut slots: Vec<Slot> = view.interior().iter().chain(view.boundary()).copied().collect();
        assert!(view.interior().is_sorted() && view.boundary().is_sorted());
        slots.sort_unstable();
        let count = if copies.is_empty() { 0 } else { view.local() };
        assert!(slots.into_iter().eq(0..count as Slot));
        for &slot in view.boundary() {
            let one = cell(view.bucket(slot));
            assert!(copies.iter().any(|&copy| reach(one, cell(copy))));
        }
        for &slot in view.interior() {
            let one = cell(view.bucket(slot));
            assert!(!copies.iter().any(|&copy| reach(one, cell(copy))));
        }

        for (other, peer) in views.iter().enumerate() {
            let sent: Vec<Bucket> = view
                .sends()
                .iter()
                .filter(|(to, _)| *to == other)
                .flat_map(|(_, slots)| slots.iter().map(|&slot| view.bucket(slot)))
                .collect();
            let received: Vec<Bucket> = peer
                .receives()
                .iter()
                .filter(|(from, _)| *from == rank)
                .flat_map(|(_, slots)| slots.clone().map(|slot| peer.bucket(slot)))
                .collect();
            assert_eq!(sent, received, "from process {rank} to process {other}");
        }
        let received: usize = view.receives().iter().map(|(_, slots)| slots.len()).sum();
        assert_eq!(received, view.stored() - view.local());
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn tables_and_subsets_agree_with_brute_force(
        all in some_buckets(300),
        processes in 1..6_usize,
        weights in prop::collection::vec(0.0..3.0_f64, 300),
        same_lattice in any::<bool>(),
    ) {
        let lattice = if same_lattice {
            frame()
        } else {
            Frame::new(DVec3::new(-0.3, 0.7, 2.2), 0.31).unwrap()
        };
        let weights: Vec<(BucketKey, f64)> =
            all.iter().zip(weights).map(|(&one, weight)| (bucket(one).key(), weight)).collect();
        let cut = Partition::balanced(lattice, processes, &weights);
        let views: Vec<Topology> =
            (0..processes).map(|rank| Topology::new(frame(), set(&all), &cut, rank)).collect();
        for view in &views {
            prop_assert_eq!(model(view.all()), all.clone());
            check_tables(view);
        }
        check_processes(&all, &frame(), &cut, &views);
    }

    #[test]
    fn slot_maps_lead_to_the_same_bucket(a in some_buckets(100), b in some_buckets(100)) {
        let cut = Partition::even(frame(), 2);
        let [from, to] = [&a, &b].map(|model| Topology::new(frame(), set(model), &cut, 1));
        let map = SlotMap::between(&from, &to);
        for slot in 0..from.stored() as Slot {
            let bucket = from.bucket(slot);
            let expected = to.buckets().iter().position(|&other| other == bucket);
            prop_assert_eq!(map.get(slot), expected.map_or(NONE, |slot| slot as Slot));
        }
        let same = SlotMap::between(&from, &from);
        prop_assert!(matches!(same, SlotMap::Identity) && same.get(7) == 7);
    }
}

#[test]
fn nothing_lies_beyond_the_ends_of_the_index_range() {
    for level in [0, 1, 14, 15] {
        let limit = Bucket::limit(level);
        let ends: Model = [-limit, limit - 1]
            .iter()
            .flat_map(|&x| [-limit, limit - 1].map(|y| (level, [x, y, 0])))
            .chain([(level.saturating_sub(1), [2 * limit.min(1 << 18) - 1, 0, 0])])
            .collect();
        let whole = Partition::whole(frame());
        check_tables(&Topology::new(frame(), set(&ends), &whole, 0));
    }
}

#[test]
fn topologies_are_the_same_for_any_number_of_threads() {
    let large = a_large_set();
    let weights: Vec<_> = large.keys().iter().map(|&key| (key, 1.0)).collect();
    let cut = Partition::balanced(frame(), 3, &weights);
    on_any_threads(|| {
        let view = Topology::new(frame(), large.clone(), &cut, 1);
        let tables: Vec<_> = (0..view.local() as Slot)
            .map(|slot| {
                let coarser: Vec<_> = (0..27).map(|n| view.coarser(slot, n)).collect();
                (*view.neighbours(slot), coarser, view.finer(slot).copied())
            })
            .collect();
        let lists = (view.sends().to_vec(), view.receives().to_vec());
        let parts = (view.interior().to_vec(), view.boundary().to_vec());
        (tables, lists, parts, view.buckets().to_vec())
    });
}
