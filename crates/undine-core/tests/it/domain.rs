//! The Grid Domain against naive models: hash sets of cells, and brute force over all pairs.

mod grading;
mod partition;
mod refusals;
mod sets;
mod topology;

use glam::{DVec3, IVec3};
use proptest::prelude::*;
use std::collections::BTreeSet;
use undine_core::{Bucket, BucketSet, Frame};

/// A Bucket as plain numbers.
type Cell = (u8, [i32; 3]);

/// The naive model of a set of Buckets.
type Model = BTreeSet<Cell>;

fn bucket((level, coord): Cell) -> Bucket {
    Bucket::at(level, IVec3::from_array(coord))
}

fn cell(bucket: Bucket) -> Cell {
    (bucket.level, bucket.coord.to_array())
}

fn set(model: &Model) -> BucketSet {
    BucketSet::from_buckets(model.iter().map(|&cell| bucket(cell))).unwrap()
}

fn model(set: &BucketSet) -> Model {
    set.buckets().map(cell).collect()
}

fn frame() -> Frame {
    Frame::new(DVec3::new(0.5, -0.25, 3.0), 0.125).unwrap()
}

/// The offsets of −1, 0 or 1 per axis, z fastest.
fn around() -> impl Iterator<Item = IVec3> {
    (0..27).map(|n| IVec3::new(n / 9, n / 3 % 3, n % 3) - 1)
}

/// Up to `count` Buckets of levels 0 to 3 in the same small piece of space around the origin.
fn some_buckets(count: usize) -> impl Strategy<Value = Model> {
    let one = (0..4_u8, prop::array::uniform3(-12..12_i32))
        .prop_map(|(level, coord)| (level, coord.map(|c| c >> level)));
    prop::collection::btree_set(one, 0..count)
}

/// What a computation gives on 1, 2, 3 and 7 threads, which must be the same.
fn on_any_threads<T: PartialEq + std::fmt::Debug + Send>(compute: impl Fn() -> T + Sync) {
    let on = |threads: usize| {
        rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(&compute)
    };
    let expected = on(1);
    for threads in [2, 3, 7] {
        assert!(on(threads) == expected, "{threads} threads give another result than one");
    }
}

/// A ball of Buckets with finer ones in the middle: large enough to be cut into pieces by threads.
fn a_large_set() -> BucketSet {
    let ball = |level: u8, radius: i32| {
        (0..(2 * radius).pow(3)).filter_map(move |n| {
            let side = 2 * radius;
            let coord = IVec3::new(n / (side * side), n / side % side, n % side) - radius;
            (coord.length_squared() < radius * radius).then(|| Bucket::at(level, coord))
        })
    };
    BucketSet::from_buckets(ball(0, 9).chain(ball(1, 14)).chain(ball(2, 9))).unwrap()
}
