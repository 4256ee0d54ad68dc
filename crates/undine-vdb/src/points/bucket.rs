//! Puts points into voxels: by the order of a file, and within a voxel in the order in which they came.

use super::{Attribute, POSITION, PointTree, Stored};
use crate::error::{Result, VdbError};
use crate::mask::LeafMask;
use crate::transform::Transform;
use crate::tree::{FileOrder, Leaves, Tree, VOXELS, voxel};
use rayon::prelude::*;

/// How many points a voxel should hold: enough that a leaf compresses well, few enough that a search finds few others.
pub const POINTS_A_VOXEL: f64 = 10.0;

/// How many points a thread takes at a time.
const SHARE: usize = 1 << 14;

impl PointTree {
    /// Points at these places [m], with attributes in the same order, in the voxels of this transform.
    ///
    /// Points of one voxel stay in the order in which they came. The attribute `P` is made here.
    pub fn from_points(
        transform: &Transform,
        positions: &[[f64; 3]],
        attributes: Vec<Attribute>,
    ) -> Result<Self> {
        attributes.iter().try_for_each(|attribute| attribute.check(positions.len()))?;
        let to_voxels = ToVoxels::new(transform)?;
        let leaf_keys = leaf_keys(positions, &to_voxels)?;
        let keys = sorted_keys(positions, &to_voxels, &leaf_keys);
        let leaves = leaves_of(&keys, &leaf_keys);

        let order: Vec<u32> = keys.par_iter().map(|key| *key as u32).collect();
        drop(keys);
        let local = |&point: &u32| to_voxels.split(positions[point as usize]).1;
        let local: Vec<[f32; 3]> = order.par_iter().with_min_len(SHARE).map(local).collect();
        let position = Attribute::new(POSITION, local).stored(Stored::Whole);
        let others = attributes.into_iter().map(|attribute| Attribute {
            values: attribute.values.gathered(&order, attribute.stride as usize),
            ..attribute
        });
        let tree = Self {
            voxels: Tree { background: 0, tiles: Vec::new(), leaves },
            attributes: std::iter::once(position).chain(others).collect(),
            ..Self::default()
        };
        tree.check()?;
        Ok(tree)
    }
}

/// From the world to voxels.
struct ToVoxels {
    rows: [[f64; 3]; 3],
    origin: [f64; 3],
}

impl ToVoxels {
    fn new(transform: &Transform) -> Result<Self> {
        let [a, b, c, origin] = transform.rows.map(|[x, y, z, _]| [x, y, z]);
        let cross = |u: [f64; 3], v: [f64; 3]| {
            [u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]]
        };
        let (bc, ca, ab) = (cross(b, c), cross(c, a), cross(a, b));
        let volume: f64 = (0..3).map(|i| a[i] * bc[i]).sum();
        let rows = [0, 1, 2].map(|i| [bc[i] / volume, ca[i] / volume, ab[i] / volume]);
        if rows.iter().flatten().chain(&origin).all(|number| number.is_finite()) {
            return Ok(Self { rows, origin });
        }
        let found = format!("voxels of the sides {:?} m", transform.voxel_size());
        Err(VdbError::Points { found, wanted: "points need voxels with a volume".into() })
    }

    /// A place among the voxels.
    fn place(&self, world: [f64; 3]) -> [f64; 3] {
        let [x, y, z] = [0, 1, 2].map(|c| world[c] - self.origin[c]);
        let rows = &self.rows;
        [0, 1, 2].map(|c| x * rows[0][c] + y * rows[1][c] + z * rows[2][c])
    }

    /// The voxel that a place of the world falls in, and where it is from its centre.
    fn split(&self, world: [f64; 3]) -> ([i32; 3], [f32; 3]) {
        let place = self.place(world);
        let centre = place.map(|c| (c + 0.5).floor());
        // Rounding must not carry a point out of its voxel.
        let local = [0, 1, 2].map(|c| ((place[c] - centre[c]) as f32).clamp(-0.5, BELOW_HALF));
        (centre.map(|c| c as i32), local)
    }
}

/// The greatest number below ½.
const BELOW_HALF: f32 = 0.5f32.next_down();

/// A leaf in the order of a file: the root's entry (3 × 20 bits, counted from the least), slots of the upper (15 bits) and of the
/// lower node (12 bits).
type LeafKey = u128;

fn leaf_key(at: [i32; 3]) -> LeafKey {
    let FileOrder { root, upper, lower } = FileOrder::of(at);
    let [x, y, z] = root.map(|c| ((c >> 12) + (1 << 19)) as u128);
    x << 67 | y << 47 | z << 27 | u128::from(upper) << 12 | u128::from(lower)
}

/// The least corner of a leaf.
fn origin(key: LeafKey) -> [i32; 3] {
    let bits = |shift: u32, count: u32| (key >> shift) as i32 & ((1 << count) - 1);
    let root = [67, 47, 27].map(|shift| (bits(shift, 20) - (1 << 19)) << 12);
    let upper = [22, 17, 12].map(|shift| bits(shift, 5) << 7);
    let lower = [8, 4, 0].map(|shift| bits(shift, 4) << 3);
    [0, 1, 2].map(|c| root[c] + upper[c] + lower[c])
}

/// The leaves that came up last with their numbers, each at its slot in the lower node: neighbours have different ones.
struct Recent(Vec<(LeafKey, u64)>);

impl Default for Recent {
    fn default() -> Self {
        Self(vec![(LeafKey::MAX, 0); 4096])
    }
}

impl Recent {
    fn at(&mut self, key: LeafKey) -> &mut (LeafKey, u64) {
        &mut self.0[key as usize & 4095]
    }
}

/// How many leaves can be told apart beside a point and a voxel in 64 bits; their voxels alone would take 16 GiB.
const MOST_LEAVES: usize = 1 << 23;

/// The leaves that hold points, in order.
fn leaf_keys(positions: &[[f64; 3]], to_voxels: &ToVoxels) -> Result<Vec<LeafKey>> {
    let wrong =
        |found: String, wanted: &str| Err(VdbError::Points { found, wanted: wanted.to_string() });
    if positions.len() > u32::MAX as usize {
        let found = format!("{} points", positions.len());
        return wrong(found, "a grid of points has at most 4294967295");
    }
    // A tree reaches as far as its corners are 32-bit integers.
    let is_inside = |position: &[f64; 3]| {
        to_voxels.place(*position).iter().all(|c| c.abs() < f64::from(i32::MAX) - 4096.0)
    };
    let keys_of = |recent: &mut Recent, positions: &[[f64; 3]]| {
        let mut keys = Vec::new();
        for position in positions {
            if !is_inside(position) {
                return None;
            }
            let key = leaf_key(to_voxels.split(*position).0);
            let (last, _) = recent.at(key);
            if *last != key {
                *last = key;
                keys.push(key);
            }
        }
        Some(keys)
    };
    let keys: Option<Vec<Vec<LeafKey>>> =
        positions.par_chunks(SHARE).map_init(Recent::default, keys_of).collect();
    let Some(keys) = keys else {
        let outside = positions.iter().position(|position| !is_inside(position)).unwrap_or(0);
        let found = format!("point {outside} at {:?} m", positions[outside]);
        return wrong(found, "places must be finite and within 2³¹ voxels of the origin");
    };
    let mut keys = keys.concat();
    keys.par_sort_unstable();
    keys.dedup();
    if keys.len() > MOST_LEAVES {
        let found = format!("points in {} cubes of 8³ voxels", keys.len());
        return wrong(found, "such scattered points need larger voxels");
    }
    Ok(keys)
}

/// The points in the order of a file, each as one number: which leaf (23 bits), which voxel of it (9 bits), which point (32).
fn sorted_keys(positions: &[[f64; 3]], to_voxels: &ToVoxels, leaves: &[LeafKey]) -> Vec<u64> {
    let mut keys = vec![0; positions.len()];
    let shares = keys.par_chunks_mut(SHARE).zip(positions.par_chunks(SHARE)).enumerate();
    shares.for_each_init(Recent::default, |recent, (share, (keys, positions))| {
        for ((key, position), point) in keys.iter_mut().zip(positions).zip(share * SHARE..) {
            let (at, _) = to_voxels.split(*position);
            let wanted = leaf_key(at);
            let (last, leaf) = recent.at(wanted);
            if *last != wanted {
                *last = wanted;
                *leaf = leaves.partition_point(|other| *other < wanted) as u64;
            }
            *key = *leaf << 41 | (voxel(at) as u64) << 32 | point as u64;
        }
    });
    // Points that were written before come in order again.
    if !keys.par_windows(2).all(|two| two[0] <= two[1]) {
        keys.par_sort_unstable();
    }
    keys
}

/// The leaves of points in the order of a file.
fn leaves_of(keys: &[u64], leaf_keys: &[LeafKey]) -> Leaves<u32> {
    let starts: Vec<usize> = (0..=leaf_keys.len())
        .into_par_iter()
        .map(|leaf| keys.partition_point(|key| key >> 41 < leaf as u64))
        .collect();
    let mut leaves = Leaves {
        origins: leaf_keys.iter().map(|&key| origin(key)).collect(),
        masks: vec![LeafMask::NONE; leaf_keys.len()],
        values: vec![0; leaf_keys.len() * VOXELS],
    };
    leaves
        .values
        .par_chunks_exact_mut(VOXELS)
        .zip(&mut leaves.masks)
        .zip(starts.par_windows(2))
        .for_each(|((ends, mask), range)| {
            for key in &keys[range[0]..range[1]] {
                ends[(key >> 32) as usize % VOXELS] += 1;
            }
            *mask = LeafMask::of(|voxel| ends[voxel] > 0);
            let mut end = 0;
            for count in ends {
                end += *count;
                *count = end;
            }
        });
    leaves
}

/// The side of voxels [m] of which those with points hold [`POINTS_A_VOXEL`] each, or nearly, for points that have no grid.
///
/// Points that fill their box would need the side ∛(volume · wanted / count); points on surfaces or curves leave most of its
/// voxels empty, and the side shrinks until the fullness of the others is as wanted. That fullness is measured on a share of the
/// voxels, chosen by a hash of where they are.
pub fn voxel_size_for(positions: &[[f64; 3]]) -> f64 {
    let Some((min, max)) = bounds(positions) else { return 1.0 };
    let extent = [0, 1, 2].map(|c| max[c] - min[c]);
    let longest = extent.into_iter().fold(0.0, f64::max);
    // The index of a voxel must be a 32-bit integer with room to spare.
    let farthest = min.iter().chain(&max).fold(0.0f64, |far, c| far.max(c.abs()));
    let least = farthest / f64::from(1 << 30);
    if longest <= 0.0 || !longest.is_finite() {
        return if least > 1.0 { least } else { 1.0 };
    }

    let count = positions.len() as f64;
    let volume: f64 = extent.iter().map(|side| side.max(longest * 1e-6)).product();
    let mut size = (volume * POINTS_A_VOXEL / count).cbrt().min(longest).max(least);
    for _ in 0..16 {
        let fullness = points_a_voxel(positions, min, size);
        if fullness < 1.25 * POINTS_A_VOXEL || size <= least {
            break;
        }
        // On a volume this is the answer; on a surface or curve a step towards it that does not go too far.
        size = (size * (POINTS_A_VOXEL / fullness).cbrt()).max(least);
    }
    size
}

/// The box around the finite points.
fn bounds(positions: &[[f64; 3]]) -> Option<([f64; 3], [f64; 3])> {
    let is_finite = |position: &&[f64; 3]| position.iter().all(|c| c.is_finite());
    let finite = positions.par_iter().with_min_len(SHARE).filter(is_finite);
    finite.map(|&position| (position, position)).reduce_with(|a, b| {
        ([0, 1, 2].map(|c| a.0[c].min(b.0[c])), [0, 1, 2].map(|c| a.1[c].max(b.1[c])))
    })
}

/// How many points the voxels with points hold, on the mean over one voxel of 32 or, if those are few, over all.
fn points_a_voxel(positions: &[[f64; 3]], min: [f64; 3], size: f64) -> f64 {
    let mean = |share: u64| {
        let hash = |position: &[f64; 3]| {
            let at = [0, 1, 2].map(|c| ((position[c] - min[c]) / size).floor() as i64 as u64);
            let mixed = at.iter().fold(0u64, |mixed, c| {
                let mixed = (mixed ^ c).wrapping_mul(0x9e37_79b9_7f4a_7c15);
                mixed ^ mixed >> 29
            });
            (mixed.is_multiple_of(share)).then_some(mixed)
        };
        let mut voxels: Vec<u64> =
            positions.par_iter().with_min_len(SHARE).filter_map(hash).collect();
        let points = voxels.len();
        voxels.par_sort_unstable();
        voxels.dedup();
        (points as f64 / voxels.len().max(1) as f64, voxels.len())
    };
    let (fullness, voxels) = mean(32);
    if voxels >= 1000 { fullness } else { mean(1).0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::points::Column;

    /// Numbers from 0 to 1 that look random.
    fn noise(index: usize) -> f64 {
        let mut x = (index as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        x = (x ^ x >> 31).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        (x >> 11) as f64 / (1u64 << 53) as f64
    }

    fn cloud(count: usize, extent: f64) -> Vec<[f64; 3]> {
        (0..count).map(|i| [0, 1, 2].map(|c| (noise(3 * i + c) - 0.5) * extent)).collect()
    }

    #[test]
    fn points_come_to_their_voxels_in_the_order_of_a_file() {
        let positions = cloud(5000, 10_000.0);
        let ids: Vec<i32> = (0..5000).collect();
        let transform = Transform::uniform(0.5, [3.0, -2.0, 0.25]);
        let points =
            PointTree::from_points(&transform, &positions, vec![Attribute::new("id", ids)])
                .unwrap();
        assert_eq!(points.len(), 5000);
        assert_eq!(points.voxels.active_voxels() as usize, {
            let mut voxels: Vec<_> = positions
                .iter()
                .map(|p| [0, 1, 2].map(|c| ((p[c] - transform.rows[3][c]) / 0.5).round() as i64))
                .collect();
            voxels.sort_unstable();
            voxels.dedup();
            voxels.len()
        });
        let origins = &points.voxels.leaves.origins;
        assert!(origins.windows(2).all(|two| FileOrder::of(two[0]) < FileOrder::of(two[1])));
        assert!(origins.iter().flatten().all(|c| c % 8 == 0));

        let world = points.world_positions(&transform).unwrap();
        let Column::Int32(ids) = &points.attribute("id").unwrap().values else { panic!() };
        for (place, &id) in world.iter().zip(ids) {
            let wanted = positions[id as usize];
            assert!((0..3).all(|c| (place[c] - wanted[c]).abs() < 1e-7), "{place:?} {wanted:?}");
        }
    }

    #[test]
    fn points_of_one_voxel_keep_their_order() {
        let positions = [[0.1; 3], [9.0; 3], [-0.1; 3], [0.3; 3]];
        let ids = Attribute::new("id", vec![0i32, 1, 2, 3]);
        let transform = Transform::default();
        let points = PointTree::from_points(&transform, &positions, vec![ids]).unwrap();
        assert_eq!(points.attribute("id").unwrap().values, Column::Int32(vec![0, 2, 3, 1]));
        assert_eq!(points.starts(), [0, 3, 4]);
        assert_eq!(points.voxels.leaves.values[..2], [3, 3]);
        assert_eq!(points.voxels.leaves.masks[1].iter().collect::<Vec<_>>(), [1 << 6 | 1 << 3 | 1]);
    }

    #[test]
    fn a_point_between_voxels_belongs_to_the_upper() {
        let transform = Transform::default();
        let positions = [[0.5, -0.5, 0.499_999_999_9]];
        let points = PointTree::from_points(&transform, &positions, vec![]).unwrap();
        let Column::Vec3s(local) = &points.attributes[0].values else { panic!() };
        assert_eq!(local[0], [-0.5, -0.5, BELOW_HALF]);
        assert!(points.voxels.leaves.masks[0].is_on(1 << 6));
    }

    #[test]
    fn a_turned_and_stretched_transform_holds_points() {
        let mut transform = Transform::scaled([0.5, 0.25, 2.0], [1.0, 2.0, 3.0]);
        transform.rows[0] = [0.3, 0.4, 0.0, 0.0];
        transform.rows[1] = [-0.2, 0.15, 0.1, 0.0];
        let positions = cloud(100, 20.0);
        let points = PointTree::from_points(&transform, &positions, vec![]).unwrap();
        let mut world = points.world_positions(&transform).unwrap();
        let mut wanted = positions.clone();
        world.sort_by(|a, b| a[0].total_cmp(&b[0]));
        wanted.sort_by(|a, b| a[0].total_cmp(&b[0]));
        let apart = |(a, b): (&[f64; 3], &[f64; 3])| (0..3).map(|c| (a[c] - b[c]).abs()).sum();
        assert!(world.iter().zip(&wanted).map(apart).fold(0.0, f64::max) < 1e-6);
    }

    #[test]
    fn what_has_no_place_is_refused() {
        let from = |transform: Transform, at: f64| {
            PointTree::from_points(&transform, &[[0.0; 3], [0.0, at, 0.0]], vec![])
        };
        for bad in [f64::NAN, f64::INFINITY, 1e300, -2147483648.0] {
            let error = from(Transform::default(), bad).unwrap_err().to_string();
            assert!(error.contains("point 1"), "{error}");
        }
        assert!(from(Transform::uniform(0.0, [0.0; 3]), 0.0).is_err());
        assert!(from(Transform::uniform(f64::NAN, [0.0; 3]), 0.0).is_err());
        assert!(from(Transform::default(), 2147479000.0).is_ok());
        assert!(from(Transform::default(), -2147479000.0).is_ok());
    }

    #[test]
    fn no_points_make_no_leaves() {
        let points = PointTree::from_points(&Transform::default(), &[], vec![]).unwrap();
        assert!(points.is_empty() && points.voxels.leaves.origins.is_empty());
        assert_eq!(points.world_positions(&Transform::default()), Some(vec![]));
    }

    #[test]
    fn the_side_of_voxels_follows_from_how_dense_points_are() {
        let fullness = |positions: &[[f64; 3]]| {
            let transform = Transform::uniform(voxel_size_for(positions), [0.0; 3]);
            let points = PointTree::from_points(&transform, positions, vec![]).unwrap();
            points.len() as f64 / points.voxels.active_voxels() as f64
        };
        let volume = cloud(100_000, 7.0);
        let surface: Vec<_> = volume.iter().map(|&[x, y, _]| [x, y, 0.1 * (x * y).sin()]).collect();
        let line: Vec<_> = volume.iter().map(|&[x, _, _]| [x, 2.0 * x, x.cos()]).collect();
        for (name, positions) in [("volume", volume), ("surface", surface), ("line", line)] {
            let found = fullness(&positions);
            assert!((7.0..16.0).contains(&found), "{name}: {found}");
        }
        assert_eq!(voxel_size_for(&[]), 1.0);
        assert_eq!(voxel_size_for(&[[3.0; 3]; 100]), 1.0);
        assert!(voxel_size_for(&[[0.0; 3], [f64::NAN; 3], [1e300; 3]]).is_finite());
    }
}
