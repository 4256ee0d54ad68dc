//! Writing a volume at points: each value is spread over the nodes under a kernel, and added.
//!
//! Points are sorted by Bucket, and within a Bucket by their index. The points of each Bucket accumulate into a tile of
//! their own, on all threads; the tiles are then added to the volume in the order of the Buckets. The result therefore
//! depends neither on the number of threads nor on chance.
//!
//! Across levels, splatting is the transpose of [`Sampler`](super::Sampler)'s reading: what falls on a node that exists
//! only on another level goes to the nodes from which that node would be read, with the same weights. These sum to one,
//! so that the sum over all voxels grows by the sum of the values, as long as every node lies in some Bucket.

use super::column::VoxelColumn;
use super::sample::{
    Blend, Kernel, Lattice, Locator, Real, Taps, check_finite, chunk_index, coarser_nodes, cubic,
    finer_nodes, has_ancestor, linear, quadratic,
};
use super::shape::VoxelShape;
use super::store::DiscreteVolume;
use crate::channel::Handle;
use crate::domain::{Bucket, Topology};
use crate::error::{CoreError, Result};
use glam::{DVec3, IVec3, Vec3};
use rayon::prelude::*;

/// Nodes of a tile below the Bucket's own.
const BELOW: i32 = 2;

/// Nodes of a tile along an edge beyond the Bucket's own, on both sides together.
const MARGIN: usize = 5;

/// Tiles that are kept before they are added to the volume.
const TILES: usize = 256;

/// Adds `values` at world positions [m] to a channel, and returns how many points lay in no Bucket and were skipped.
///
/// A value goes to the finest Bucket that contains its point, and around it. Parts that fall where there is no Bucket
/// are lost: pad the Buckets by one where that matters. On several processes this adds to the Buckets that are this
/// process's own.
pub fn splat_points<T: Blend>(
    volume: &DiscreteVolume,
    handle: Handle<T>,
    kernel: Kernel,
    points: &[DVec3],
    values: &[T],
) -> Result<usize> {
    check(volume, points, values)?;
    let mut column = volume.column_mut(handle)?;
    let topology = volume.topology();
    let located = locate_all(topology, points).into_iter().zip(values);
    let (places, values): (Vec<Place>, Vec<T>) =
        located.filter_map(|(place, &value)| Some((place?, value))).unzip();
    let skipped = points.len() - places.len();
    add(&mut column, topology, kernel, &places, &values);
    Ok(skipped)
}

/// Refuses lists that do not fit each other, and what is not finite.
fn check<T: Blend>(volume: &DiscreteVolume, points: &[DVec3], values: &[T]) -> Result<()> {
    if points.len() != values.len() {
        let what = format!("the list of values for a splat into {}", volume.label());
        return Err(CoreError::WrongLength { what, found: values.len(), wanted: points.len() });
    }
    check_finite(volume, "splat", points)?;
    match values.par_iter().position_first(|value| !value.is_finite()) {
        None => Ok(()),
        Some(n) => Err(CoreError::BadValue {
            what: format!("value {n} of a splat into {}", volume.label()),
            found: format!("{:?}", values[n]),
            wanted: "finite",
        }),
    }
}

/// A Bucket, and the offset from its corner [m].
type Place = (Bucket, Vec3);

/// For each point the finest Bucket on any process that contains it, and the offset from its corner.
pub(super) fn locate_all(topology: &Topology, points: &[DVec3]) -> Vec<Option<Place>> {
    let locator = Locator::new(topology);
    points
        .par_iter()
        .map(|&point| locator.find(point, |bucket| exists(topology, bucket).then_some(bucket)))
        .collect()
}

/// Whether any process has this Bucket.
fn exists(topology: &Topology, bucket: Bucket) -> bool {
    topology.slot(bucket).is_some()
        || (topology.stored() < topology.all().len() && topology.all().contains(bucket))
}

/// Adds a value for each place to the Buckets of this process, by Bucket and then by index.
fn add<T: Blend>(
    column: &mut VoxelColumn<T>,
    topology: &Topology,
    kernel: Kernel,
    places: &[Place],
    values: &[T],
) {
    let ranked = places.par_iter().enumerate().map(|(n, place)| (rank_of(place.0), n));
    let mut order: Vec<(u64, usize)> = ranked.collect();
    order.par_sort_unstable();
    let groups: Vec<_> = order.chunk_by(|a, b| a.0 == b.0).collect();
    for groups in groups.chunks(TILES) {
        let tiles: Vec<_> = groups
            .par_iter()
            .map(|group| Tile::of(column, topology, kernel, (places, values), group))
            .collect();
        for tile in &tiles {
            tile.add_to(column, topology);
        }
    }
}

/// A number that sorts Buckets by level, x, y and z: the same order on every process, unlike that of slots, and cheaper
/// to make than a key along the curve.
fn rank_of(bucket: Bucket) -> u64 {
    let [x, y, z] = (bucket.coord + Bucket::limit(0)).to_array().map(|c| c as u64);
    u64::from(bucket.level) << 60 | x << 40 | y << 20 | z
}

/// What the drops of one Bucket add to its nodes and to those around it.
struct Tile<T> {
    bucket: Bucket,
    /// Nodes along an edge.
    width: usize,
    /// The lowest and the highest node that was touched, from the tile's own corner.
    touched: [IVec3; 2],
    nodes: Vec<T>,
}

impl<T: Blend> Tile<T> {
    fn of(
        column: &VoxelColumn<T>,
        topology: &Topology,
        kernel: Kernel,
        (places, values): (&[Place], &[T]),
        group: &[(u64, usize)],
    ) -> Self {
        let shape = column.shape();
        let edge = shape.resolution.edge();
        let width = edge + MARGIN;
        let (bucket, _) = places[group[0].1];
        let lattice = Lattice::<T::Real>::new(topology, shape);
        let mut tile = Self {
            bucket,
            width,
            touched: [IVec3::MAX, IVec3::MIN],
            nodes: vec![T::zeroed(); width.pow(3)],
        };
        for &(_, n) in group {
            let value = values[n];
            let (nodes, _) = lattice.nodes(bucket.level, places[n].1);
            match kernel {
                Kernel::Linear => tile.drop(value, nodes.map(linear)),
                Kernel::Quadratic => tile.drop(value, nodes.map(quadratic)),
                Kernel::Cubic => tile.drop(value, nodes.map(cubic)),
            }
        }
        tile
    }

    fn drop<const W: usize>(&mut self, value: T, taps: [Taps<T::Real, W>; 3]) {
        let first = IVec3::new(taps[0].first, taps[1].first, taps[2].first) + BELOW;
        self.touched[0] = self.touched[0].min(first);
        self.touched[1] = self.touched[1].max(first + (W as i32 - 1));
        let [i, j, k] = first.to_array().map(|first| first as usize);
        for x in 0..W {
            let plane = value.scaled(taps[0].weight[x]);
            for y in 0..W {
                let line = plane.scaled(taps[1].weight[y]);
                let start = ((i + x) * self.width + j + y) * self.width + k;
                for (node, &weight) in self.nodes[start..start + W].iter_mut().zip(&taps[2].weight)
                {
                    *node = node.plus(line.scaled(weight));
                }
            }
        }
    }

    fn add_to(&self, column: &mut VoxelColumn<T>, topology: &Topology) {
        let bits = column.shape().resolution.bits();
        let several_levels = topology.all().levels().nth(1).is_some();
        let corner = (self.bucket.coord << bits as i32) - BELOW;
        let [low, high] = self.touched;
        for x in low.x..=high.x {
            for y in low.y..=high.y {
                // Along z, one Bucket after another.
                let mut z = low.z;
                while z <= high.z {
                    let place = corner + IVec3::new(x, y, z);
                    let left = (1 << bits) - (place.z & ((1 << bits) - 1));
                    let count = left.min(high.z + 1 - z) as usize;
                    let start = (x as usize * self.width + y as usize) * self.width + z as usize;
                    let values = &self.nodes[start..start + count];
                    let bucket = Bucket::at(self.bucket.level, place >> bits as i32);
                    if exists(topology, bucket) {
                        add_row(column, topology, bucket, chunk_index(place, bits), values);
                    } else if several_levels {
                        for (n, &value) in values.iter().enumerate() {
                            let place = place + IVec3::new(0, 0, n as i32);
                            spread(column, topology, self.bucket.level, place, value);
                        }
                    }
                    z += count as i32;
                }
            }
        }
    }
}

/// Adds to voxels that follow each other, if their Bucket is this process's own.
fn add_row<T: Blend>(
    column: &mut VoxelColumn<T>,
    topology: &Topology,
    bucket: Bucket,
    start: usize,
    values: &[T],
) {
    let own = topology.slot(bucket).filter(|&slot| (slot as usize) < topology.local());
    if let Some(slot) = own {
        let row = &mut column.chunk_mut(slot)[start..start + values.len()];
        for (node, &value) in row.iter_mut().zip(values) {
            *node = node.plus(value);
        }
    }
}

/// Adds to a node, or to those on other levels that stand for it: the transpose of reading it.
fn spread<T: Blend>(
    column: &mut VoxelColumn<T>,
    topology: &Topology,
    level: u8,
    place: IVec3,
    value: T,
) {
    let shape = column.shape();
    each_target(topology, shape, level, place, 1.0, &mut |bucket, place, weight| {
        let index = chunk_index(place, shape.resolution.bits());
        add_row(column, topology, bucket, index, &[value.scaled(T::Real::of(weight))]);
    });
}

/// Visits the nodes that exist and stand for one: their Bucket, place and share of `weight`.
fn each_target(
    topology: &Topology,
    shape: VoxelShape,
    level: u8,
    place: IVec3,
    weight: f64,
    visit: &mut impl FnMut(Bucket, IVec3, f64),
) {
    let bucket_of =
        |level, place: IVec3| Bucket::at(level, place >> shape.resolution.bits() as i32);
    let bucket = bucket_of(level, place);
    if exists(topology, bucket) {
        visit(bucket, place, weight);
    } else if has_ancestor(bucket, topology, |bucket| exists(topology, bucket)) {
        for (node, share) in coarser_nodes(shape.centring, place) {
            each_target(topology, shape, level + 1, node, weight * share, visit);
        }
    } else if level > 0 {
        for (node, share) in finer_nodes(shape.centring, place) {
            let finer = bucket_of(level - 1, node);
            if exists(topology, finer) {
                visit(finer, node, weight * share);
            }
        }
    }
}
