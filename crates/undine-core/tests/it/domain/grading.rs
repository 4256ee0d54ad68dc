//! Graded covers against a model that splits whatever offends, one round after another.

use super::*;
use std::collections::BTreeMap;

/// The finest-level cells of a Bucket, with a margin around it.
fn cells_of((level, coord): Cell, margin: i32) -> impl Iterator<Item = [i32; 3]> {
    let width = (1 << level) + 2 * margin;
    let low = coord.map(|c| (c << level) - margin);
    (0..width * width * width)
        .map(move |n| [low[0] + n / width / width, low[1] + n / width % width, low[2] + n % width])
}

/// By finest-level cell, the finest and the coarsest Bucket that covers it.
fn covers(model: &Model) -> BTreeMap<[i32; 3], (u8, u8)> {
    let mut covers = BTreeMap::new();
    for &one in model {
        for cell in cells_of(one, 0) {
            let levels = covers.entry(cell).or_insert((one.0, one.0));
            *levels = (levels.0.min(one.0), levels.1.max(one.0));
        }
    }
    covers
}

/// The Buckets that overlap a finer one, or touch one more than a level finer.
fn offenders(model: &Model) -> Vec<Cell> {
    let covers = covers(model);
    let finest = |cells: &mut dyn Iterator<Item = [i32; 3]>| {
        cells.filter_map(|cell| covers.get(&cell)).map(|levels| levels.0).min()
    };
    let offends = |&one: &Cell| {
        one.0 > 0
            && (finest(&mut cells_of(one, 0)) < Some(one.0)
                || finest(&mut cells_of(one, 1)) < Some(one.0 - 1))
    };
    model.iter().copied().filter(offends).collect()
}

fn naively_graded(model: &Model) -> Model {
    let mut graded = model.clone();
    loop {
        let split = offenders(&graded);
        if split.is_empty() {
            return graded;
        }
        for one in split {
            graded.remove(&one);
            graded.extend(bucket(one).children().map(cell));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn a_graded_set_is_the_coarsest_graded_cover_of_the_same_space(start in some_buckets(25)) {
        let graded = set(&start).graded();
        prop_assert!(graded.is_graded());
        prop_assert!(offenders(&model(&graded)).is_empty());
        let (before, after) = (covers(&start), covers(&model(&graded)));
        prop_assert!(before.keys().eq(after.keys()), "another space");
        prop_assert!(after.values().all(|levels| levels.0 == levels.1), "Buckets overlap");
        prop_assert!(before.iter().all(|(cell, levels)| after[cell].0 <= levels.0));
        let finest = start.iter().map(|one| one.0).min();
        for &one in start.iter().filter(|one| Some(one.0) == finest) {
            prop_assert!(graded.contains(bucket(one)), "{one:?} was lost");
        }
        prop_assert_eq!(model(&graded), naively_graded(&start));
        prop_assert_eq!(graded.graded(), graded);
    }

    #[test]
    fn graded_is_told_from_not_graded(start in some_buckets(12)) {
        prop_assert_eq!(set(&start).is_graded(), offenders(&start).is_empty());
    }
}

#[test]
fn a_jump_of_two_levels_is_found_across_faces_edges_and_corners() {
    for by in around().filter(|&by| by != IVec3::ZERO) {
        // The coarse Bucket covers 0 .. 4 of the finest level; the fine one lies just outside.
        let outside = |step: i32| match step {
            -1 => -1,
            0 => 2,
            _ => 4,
        };
        let fine = Bucket::at(0, IVec3::new(outside(by.x), outside(by.y), outside(by.z)));
        let coarse = Bucket::at(2, IVec3::ZERO);
        let jump = BucketSet::from_buckets([fine, coarse]).unwrap();
        assert!(!jump.is_graded(), "{by}");
        assert!(jump.graded().len() > 2 && jump.graded().is_graded(), "{by}");
        let apart = BucketSet::from_buckets([fine.offset(by), coarse]).unwrap();
        assert!(apart.is_graded() && apart.graded() == apart, "{by}");
    }
}

#[test]
fn overlapping_levels_are_not_graded() {
    for level in 1..=15 {
        let inside = Bucket::at(0, IVec3::splat(-1));
        let pair = BucketSet::from_buckets([inside, inside.ancestor(level)]).unwrap();
        assert!(!pair.is_graded(), "level {level}");
        let graded = pair.graded();
        assert!(graded.is_graded() && graded.contains(inside), "level {level}");
    }
}

#[test]
fn a_cover_at_the_end_of_the_index_range_is_graded_too() {
    let end = Bucket::limit(0) - 1;
    let fine = Bucket::new(end, end, end);
    let pair =
        BucketSet::from_buckets([fine, Bucket::at(4, (fine.coord >> 4) - IVec3::X)]).unwrap();
    assert!(pair.is_graded());
    let fine = Bucket::new(end - 15, end, end);
    let pair =
        BucketSet::from_buckets([fine, Bucket::at(4, (fine.coord >> 4) - IVec3::X)]).unwrap();
    assert!(!pair.is_graded() && pair.graded().is_graded());
}

#[test]
fn grading_is_the_same_for_any_number_of_threads() {
    let large = a_large_set();
    on_any_threads(|| (large.graded(), large.graded().is_graded(), large.is_graded()));
}
