//! The cut of space over processes.

use super::*;
use undine_core::domain::MAX_LEVEL;
use undine_core::{BucketKey, GridDomain, Partition};

fn weight() -> impl Strategy<Value = f64> {
    prop_oneof![
        8 => 0.0..10.0_f64,
        1 => Just(0.0),
        1 => prop::sample::select(vec![f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -3.0]),
    ]
}

proptest! {
    #[test]
    fn a_balanced_cut_gives_each_its_share_whatever_the_weights(
        cells in prop::collection::btree_map((0..3_u8, prop::array::uniform3(-5..5_i32)), weight(), 1..150),
        processes in 1..8_usize,
        scale in prop::sample::select(vec![1.0, 1e-310, 1e307]),
    ) {
        let mut weights: Vec<(BucketKey, f64)> =
            cells.iter().map(|(&one, &weight)| (bucket(one).key(), weight * scale)).collect();
        let cut = Partition::balanced(frame(), processes, &weights);
        prop_assert_eq!(cut.processes(), processes);

        // Buckets of different levels that begin at one place cannot be parted.
        let mut places = std::collections::BTreeMap::<u64, (f64, usize)>::new();
        for (&one, &weight) in &cells {
            let owner = cut.owner(&frame(), bucket(one));
            prop_assert!(owner < processes);
            let place = places.entry(bucket(one).key().position()).or_insert((0.0, owner));
            prop_assert_eq!(place.1, owner);
            if weight > 0.0 && weight.is_finite() {
                place.0 += weight;
            }
        }
        prop_assert!(places.values().is_sorted_by_key(|place| place.1), "owners follow the curve");
        let total: f64 = places.values().map(|place| place.0).sum();
        let heaviest = places.values().map(|place| place.0).fold(0.0, f64::max);
        for process in 0..processes {
            let share: f64 =
                places.values().filter(|place| place.1 == process).map(|place| place.0).sum();
            // Subnormal weights are themselves rounded.
            let slack = heaviest + 1e-9 + if scale < 1e-300 { 1e-3 * total } else { 0.0 };
            prop_assert!(total == 0.0 || (share - total / processes as f64).abs() <= slack);
        }

        weights.reverse();
        prop_assert_eq!(Partition::balanced(frame(), processes, &weights), cut);
    }

    #[test]
    fn buckets_of_one_weight_have_owners_of_their_own_if_there_are_enough(
        cells in prop::collection::btree_set(prop::array::uniform3(-9..9_i32), 1..20),
        more in 0..20_usize,
    ) {
        let weights: Vec<_> = cells.iter().map(|&c| (bucket((0, c)).key(), 2.5)).collect();
        let cut = Partition::balanced(frame(), cells.len() + more, &weights);
        let owners: BTreeSet<_> =
            cells.iter().map(|&c| cut.owner(&frame(), bucket((0, c)))).collect();
        prop_assert_eq!(owners.len(), cells.len());
    }

    #[test]
    fn other_lattices_are_cut_at_the_same_places(
        coord in prop::array::uniform3(-200..200_i32),
        processes in 1..9_usize,
        seeds in prop::collection::btree_set(prop::array::uniform3(-40..40_i32), 1..40),
    ) {
        // A lattice four times as fine: its Buckets belong where the coarse ones around them do.
        let fine = Frame::new(frame().origin(), frame().voxel_size(0) / 4.0).unwrap();
        let weights: Vec<_> = seeds.iter().map(|&c| (bucket((0, c)).key(), 1.0)).collect();
        let cut = Partition::balanced(frame(), processes, &weights);
        let one = Bucket::at(0, IVec3::from_array(coord));
        let around = Bucket::at(0, one.coord >> 2);
        prop_assert_eq!(cut.owner(&fine, one), cut.owner(&frame(), around));
    }
}

#[test]
fn an_even_cut_gives_each_the_same_length_of_the_curve() {
    let limit = Bucket::limit(MAX_LEVEL);
    for processes in [1, 2, 3, 5, 8] {
        let cut = Partition::even(frame(), processes);
        let mut counts = vec![0_i32; processes];
        for n in 0..(2 * limit).pow(3) {
            let side = 2 * limit;
            let coord = IVec3::new(n / side / side, n / side % side, n % side) - limit;
            counts[cut.owner(&frame(), Bucket::at(MAX_LEVEL, coord))] += 1;
        }
        let (least, most) = (counts.iter().min().unwrap(), counts.iter().max().unwrap());
        assert!(most - least <= 1, "{counts:?}");
    }
    assert_eq!(Partition::even(frame(), 0).processes(), 1);
}

#[test]
fn without_any_weight_the_cut_is_even() {
    let key = Bucket::new(1, 2, 3).key();
    for weights in [vec![], vec![(key, 0.0)], vec![(key, f64::NAN), (key, -1.0)]] {
        assert_eq!(Partition::balanced(frame(), 4, &weights), Partition::even(frame(), 4));
    }
}

#[test]
fn a_lattice_far_outside_is_owned_by_someone() {
    let cut = Partition::even(frame(), 3);
    for (origin, voxel) in [(1e300, 1.0), (-1e300, 1e-15), (0.0, 1e12)] {
        let far = Frame::new(DVec3::splat(origin), voxel).unwrap();
        let limit = Bucket::limit(0);
        for c in [-limit, 0, limit - 1] {
            assert!(cut.owner(&far, Bucket::new(c, c, c)) < 3);
        }
    }
}

#[test]
fn a_domain_of_one_process_is_balanced_as_a_whole() {
    let mut domain = GridDomain::new("tank", frame());
    domain.add(&a_large_set()).unwrap();
    let cut = domain.balance(|bucket| f64::from(bucket.level)).unwrap();
    assert_eq!(cut, Partition::whole(frame()));
    let before = domain.topology().id();
    domain.repartition(cut.into()).unwrap();
    assert!(domain.topology().id() != before && *domain.topology().all() == a_large_set());
}
