//! Sets of Buckets, the curve they are sorted along, and the Domain that holds one.

use super::*;
use std::sync::Arc;
use undine_core::domain::MAX_LEVEL;
use undine_core::{GridDomain, Topology};

fn dilated(model: &Model, n: i32) -> Model {
    let mut dilated = Model::new();
    for &(level, [x, y, z]) in model {
        for dx in -n..=n {
            for dy in -n..=n {
                dilated.extend((-n..=n).map(|dz| (level, [x + dx, y + dy, z + dz])));
            }
        }
    }
    dilated
}

#[derive(Debug, Clone)]
enum Operation {
    Insert(Cell),
    Remove(Cell),
    Union(Model),
    Intersection(Model),
    Difference(Model),
    Dilate(u32),
    Coarsen(u8),
}

fn operation() -> impl Strategy<Value = Operation> {
    use Operation::*;
    let one = (0..4_u8, prop::array::uniform3(-4..4_i32));
    prop_oneof![
        one.clone().prop_map(Insert),
        one.prop_map(Remove),
        some_buckets(30).prop_map(Union),
        some_buckets(2000).prop_map(Intersection),
        some_buckets(60).prop_map(Difference),
        (0..3_u32).prop_map(Dilate),
        (0..4_u8).prop_map(Coarsen),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn set_algebra_agrees_with_a_plain_set(
        start in some_buckets(40),
        operations in prop::collection::vec(operation(), 1..8),
    ) {
        let (mut ours, mut naive) = (set(&start), start);
        for operation in operations {
            match operation {
                Operation::Insert(one) => {
                    prop_assert_eq!(ours.insert(bucket(one)).unwrap(), naive.insert(one));
                }
                Operation::Remove(one) => {
                    prop_assert_eq!(ours.remove(bucket(one)), naive.remove(&one));
                }
                Operation::Union(other) => {
                    ours = ours.union(&set(&other));
                    naive.extend(other);
                }
                Operation::Intersection(other) => {
                    ours = ours.intersection(&set(&other));
                    naive.retain(|one| other.contains(one));
                }
                Operation::Difference(other) => {
                    ours = ours.difference(&set(&other));
                    naive.retain(|one| !other.contains(one));
                }
                // Small sets only: the naive model is slow.
                Operation::Dilate(n) if naive.len() < 3000 => {
                    ours = ours.dilate(n).unwrap();
                    naive = dilated(&naive, n as i32);
                }
                Operation::Dilate(_) => {}
                Operation::Coarsen(level) => {
                    ours = ours.union(&ours.coarsen(level).unwrap());
                    let coarser: Model = naive.iter().filter(|one| one.0 == level)
                        .map(|one| (level + 1, one.1.map(|c| c.div_euclid(2)))).collect();
                    naive.extend(coarser);
                }
            }
            prop_assert_eq!(ours.len(), naive.len());
            prop_assert_eq!(ours.is_empty(), naive.is_empty());
            prop_assert!(ours.keys().is_sorted_by(|a, b| a < b));
            prop_assert_eq!(&model(&ours), &naive);
            let levels: BTreeSet<u8> = naive.iter().map(|one| one.0).collect();
            prop_assert!(ours.levels().eq(levels.iter().copied()));
            for level in 0..=MAX_LEVEL + 1 {
                let count = naive.iter().filter(|one| one.0 == level).count();
                prop_assert_eq!(ours.level(level).len(), count);
            }
        }
        for one in around().map(|by| (1, by.to_array())) {
            prop_assert_eq!(ours.contains(bucket(one)), naive.contains(&one));
        }
    }

    #[test]
    fn wide_padding_is_padding_by_one_many_times(start in some_buckets(6), n in 0..14_u32) {
        let mut steps = set(&start);
        for _ in 0..n {
            steps = steps.dilate(1).unwrap();
        }
        prop_assert_eq!(set(&start).dilate(n).unwrap(), steps);
    }

    #[test]
    fn a_domain_follows_a_plain_set_through_any_changes(
        steps in prop::collection::vec((0..5_u8, some_buckets(30)), 1..8),
    ) {
        let mut domain = GridDomain::new("tank", frame());
        let mut naive = Model::new();
        for (kind, cells) in steps {
            let before = domain.topology().clone();
            match kind {
                0 => {
                    domain.add(&set(&cells)).unwrap();
                    naive.extend(cells);
                }
                1 => {
                    domain.remove(&set(&cells)).unwrap();
                    naive.retain(|one| !cells.contains(one));
                }
                2 => {
                    domain.dilate(1).unwrap();
                    naive = dilated(&naive, 1);
                }
                3 => {
                    domain.set_buckets(&set(&cells)).unwrap();
                    naive = cells;
                }
                _ => {
                    let part = domain.subset(&set(&cells)).unwrap();
                    prop_assert_eq!(model(part.all()), cells);
                }
            }
            prop_assert_eq!(&model(domain.topology().all()), &naive);
            // Stores follow a Topology by its identity, so that no change must mean the same one.
            let unchanged = before.all() == domain.topology().all();
            prop_assert_eq!(unchanged, Arc::ptr_eq(&before, domain.topology()));
        }
    }

    #[test]
    fn a_box_has_the_buckets_that_it_reaches_into(
        from in prop::array::uniform3(-40..40_i32),
        size in prop::array::uniform3(0..40_i32),
        level in 0..3_u8,
    ) {
        // In eighths of the Bucket's width: numbers without rounding.
        let domain = GridDomain::new("tank", frame());
        let eighth = frame().bucket_size(level) / 8.0;
        let world = |c: [i32; 3]| frame().origin() + IVec3::from_array(c).as_dvec3() * eighth;
        let to: [i32; 3] = std::array::from_fn(|axis| from[axis] + size[axis]);
        let found = domain.buckets_in_box(world(from), world(to), level).unwrap();
        let reaches = |axis: usize, c: i32| {
            let (low, high) = (from[axis], to[axis]);
            if low == high { low >= 8 * c && low < 8 * c + 8 } else { high > 8 * c && low < 8 * c + 8 }
        };
        let mut expected = Model::new();
        for x in (-10..12).filter(|&c| reaches(0, c)) {
            for y in (-10..12).filter(|&c| reaches(1, c)) {
                expected.extend((-10..12).filter(|&c| reaches(2, c)).map(|z| (level, [x, y, z])));
            }
        }
        prop_assert_eq!(model(&found), expected);
    }

    #[test]
    fn points_give_the_buckets_that_they_lie_in(
        points in prop::collection::vec(prop::array::uniform3(-400..400_i32), 0..50),
        level in 0..3_u8,
    ) {
        let domain = GridDomain::new("tank", frame());
        let eighth = frame().bucket_size(level) / 8.0;
        let world: Vec<_> = points.iter()
            .map(|&c| frame().origin() + IVec3::from_array(c).as_dvec3() * eighth).collect();
        let expected: Model =
            points.iter().map(|c| (level, c.map(|c| c.div_euclid(8)))).collect();
        prop_assert_eq!(model(&domain.buckets_at_points(&world, level).unwrap()), expected);
    }

    #[test]
    fn the_same_scene_ten_kilometres_away_has_the_same_buckets_and_offsets(
        points in prop::collection::vec(prop::array::uniform3(-400_000..400_000_i32), 1..50),
        level in 0..4_u8,
    ) {
        let here = Frame::new(DVec3::ZERO, 1.0 / 64.0).unwrap();
        let shift = DVec3::new(10_000.0, -10_000.0, 10_000.0);
        let there = Frame::new(shift, 1.0 / 64.0).unwrap();
        for point in points {
            let point = IVec3::from_array(point).as_dvec3() / 4096.0;
            let (bucket, offset) = here.locate(point, level, "a point").unwrap();
            let (far_bucket, far_offset) = there.locate(point + shift, level, "a point").unwrap();
            prop_assert_eq!(bucket, far_bucket);
            prop_assert_eq!(offset.to_array().map(f32::to_bits), far_offset.to_array().map(f32::to_bits));
            prop_assert_eq!(here.world(bucket, offset) + shift, there.world(bucket, offset));
        }
    }

    #[test]
    fn buckets_that_follow_each_other_in_an_aligned_cube_share_a_face(
        level in 0..=MAX_LEVEL,
        corner in prop::array::uniform3(-0.999..0.999_f64),
        log_side in 1..4_u32,
    ) {
        let side = 1 << log_side;
        let low = (DVec3::from_array(corner) * f64::from(Bucket::limit(level) / side)).floor();
        let low = low.as_ivec3().clamp(IVec3::splat(-Bucket::limit(level) / side), IVec3::splat(Bucket::limit(level) / side - 1)) * side;
        let cube = BucketSet::from_buckets((0..side * side * side).map(|n| {
            Bucket::at(level, low + IVec3::new(n / side / side, n / side % side, n % side))
        })).unwrap();
        let coords: Vec<_> = cube.buckets().map(|bucket| bucket.coord).collect();
        for pair in coords.windows(2) {
            prop_assert_eq!((pair[1] - pair[0]).abs().element_sum(), 1);
        }
        // The curve does not leave the cube in between.
        let first = cube.keys()[0].position();
        let last = cube.keys()[cube.len() - 1].position();
        prop_assert_eq!(last - first, (cube.len() as u64 - 1) << (3 * level));
    }
}

#[test]
fn the_ends_of_the_index_range_have_keys_of_their_own() {
    for level in 0..=MAX_LEVEL {
        let limit = Bucket::limit(level);
        let ends = [-limit, -limit + 1, -1, 0, limit - 2, limit - 1];
        let corners: Model = ends
            .iter()
            .flat_map(|&x| ends.iter().flat_map(move |&y| ends.map(|z| (level, [x, y, z]))))
            .collect();
        assert_eq!(model(&set(&corners)), corners);
        for &one in &corners {
            let key = bucket(one).key();
            assert!(key.level() == level && key.position() < undine_core::BucketKey::END);
        }
    }
}

#[test]
fn sets_and_domains_are_the_same_for_any_number_of_threads() {
    let large = a_large_set();
    on_any_threads(|| {
        let domain = GridDomain::new("tank", frame());
        let inside = domain.buckets_in_box(DVec3::splat(-7.0), DVec3::splat(9.0), 0).unwrap();
        let points: Vec<_> = large.buckets().map(|bucket| frame().centre(bucket)).collect();
        let at_points = domain.buckets_at_points(&points, 1).unwrap();
        (large.dilate(3).unwrap(), large.coarsen(1).unwrap(), inside, at_points)
    });
}

#[test]
fn a_topology_knows_what_it_costs() {
    let large = a_large_set();
    let one_level = BucketSet::from_keys(large.level(1).to_vec());
    let whole = undine_core::Partition::whole(frame());
    let topology = Topology::new(frame(), one_level.clone(), &whole, 0);
    let per_bucket = topology.memory().total() as f64 / one_level.len() as f64;
    assert!((108.0..170.0).contains(&per_bucket), "{per_bucket} bytes per Bucket");
}
