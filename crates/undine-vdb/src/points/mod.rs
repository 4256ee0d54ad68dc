//! Points with attributes in the voxels of a tree: OpenVDB's PointDataGrid (Museth et al., OpenVDB Points).
//!
//! A point belongs to the voxel whose centre it is nearest to, and its position `P` counts from that centre in voxels. The
//! points of all leaves are one row, in the order of the leaves and within each of its voxels; an attribute is a column
//! over that row. In a leaf the value of a voxel says where its points end among those of the leaf.

mod array;
mod attribute;
mod bucket;
mod clip;
mod columns;
mod descriptor;
mod element;
mod read;
mod stored;
mod write;

pub(crate) use read::{read_points, skip_points};
pub(crate) use write::encode_points;

pub use attribute::{Attribute, Column, Strings};
pub use bucket::{POINTS_A_VOXEL, voxel_size_for};
pub use stored::Stored;

use crate::error::{Result, VdbError};
use crate::metadata::Metadata;
use crate::transform::Transform;
use crate::tree::{FileOrder, Tree, VOXELS};
use rayon::prelude::*;
use std::collections::BTreeMap;

/// The attribute that says where points are: `[f32; 3]` from the centre of the voxel, −½ to ½ [voxels].
pub const POSITION: &str = "P";

/// Points with attributes.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct PointTree {
    /// Which voxels there are. In a leaf each says where its points end, counted from the first of the leaf.
    pub voxels: Tree<u32>,
    /// The columns over all points, [`POSITION`] among them.
    pub attributes: Vec<Attribute>,
    /// Named sets of points: for each point whether it belongs.
    pub groups: BTreeMap<String, Vec<bool>>,
    /// What else a file says of the attributes, such as `default:` and a name: the value of points that have none.
    pub metadata: Metadata,
}

impl PointTree {
    /// The attribute of this name.
    pub fn attribute(&self, name: &str) -> Option<&Attribute> {
        self.attributes.iter().find(|attribute| attribute.name == name)
    }

    /// How many points there are.
    pub fn len(&self) -> usize {
        self.voxels.leaves.values.chunks_exact(VOXELS).map(|ends| ends[VOXELS - 1] as usize).sum()
    }

    /// Whether there is no point.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How much memory voxels, attributes and groups take [bytes].
    pub fn memory(&self) -> u64 {
        let attributes = self.attributes.iter().map(|attribute| attribute.values.memory());
        let groups = self.groups.values().map(|group| group.len() as u64);
        self.voxels.memory() + attributes.chain(groups).sum::<u64>()
    }

    /// The first point of each leaf, and at last how many there are.
    pub fn starts(&self) -> Vec<usize> {
        let ends = self.voxels.leaves.values.chunks_exact(VOXELS);
        let mut next = 0;
        let starts = ends.map(|ends| {
            let start = next;
            next += ends[VOXELS - 1] as usize;
            start
        });
        let mut starts: Vec<usize> = starts.collect();
        starts.push(next);
        starts
    }

    /// Where the points are in the world [m], if there is a [`POSITION`] for each.
    pub fn world_positions(&self, transform: &Transform) -> Option<Vec<[f64; 3]>> {
        let Column::Vec3s(local) = &self.attribute(POSITION)?.values else { return None };
        let starts = self.starts();
        if local.len() != *starts.last()? {
            return None;
        }
        let mut world = vec![[0.0; 3]; local.len()];
        let leaves = &self.voxels.leaves;
        split_at_all(&mut world, &starts)
            .into_par_iter()
            .zip(&leaves.origins)
            .zip(leaves.values.par_chunks_exact(VOXELS))
            .zip(&starts)
            .for_each(|(((world, origin), ends), &start)| {
                let local = &local[start..start + world.len()];
                let mut first = 0;
                for (voxel, &end) in ends.iter().enumerate() {
                    let corner = [voxel >> 6, voxel >> 3 & 7, voxel & 7];
                    let centre = [0, 1, 2].map(|c| f64::from(origin[c]) + corner[c] as f64);
                    // The ends of a tree that was put together by hand may be in any order.
                    let end = (end as usize).clamp(first, world.len());
                    for point in first..end {
                        let place = [0, 1, 2].map(|c| centre[c] + f64::from(local[point][c]));
                        world[point] = transform.world(place);
                    }
                    first = end;
                }
            });
        Some(world)
    }

    /// Refuses what a file cannot hold.
    pub fn check(&self) -> Result<()> {
        let wrong = |found: String, wanted: &str| {
            Err(VdbError::Points { found, wanted: wanted.to_string() })
        };
        let leaves = &self.voxels.leaves;
        let count = leaves.origins.len();
        if leaves.masks.len() != count || Some(leaves.values.len()) != count.checked_mul(VOXELS) {
            return wrong(
                format!(
                    "{count} origins, {} masks, {} ends",
                    leaves.masks.len(),
                    leaves.values.len()
                ),
                "each leaf needs an origin, a mask and 512 ends",
            );
        }
        if !leaves.origins.is_sorted_by(|a, b| FileOrder::of(*a) < FileOrder::of(*b)) {
            let wanted = "each is once and in the order of a file, which its points follow";
            return wrong("leaves that are not in order".into(), wanted);
        }
        let descends = |ends: &[u32]| ends.windows(2).any(|two| two[0] > two[1]);
        if leaves.values.par_chunks_exact(VOXELS).any(descends) {
            return wrong("a voxel that ends before it begins".into(), "the ends of a leaf ascend");
        }
        let points = self.len();
        self.attributes.iter().try_for_each(|attribute| attribute.check(points))?;
        let mut names: Vec<&str> = self.attributes.iter().map(|a| a.name.as_str()).collect();
        names.sort_unstable();
        if let Some(twice) = names.windows(2).find(|two| two[0] == two[1]) {
            return wrong(
                format!("`{}` twice", twice[0]),
                "each attribute needs a name of its own",
            );
        }
        if let Some(name) = names.iter().find(|name| name.starts_with(GROUP)) {
            return wrong(format!("the attribute `{name}`"), "such names are for sets of points");
        }
        let is_position = |a: &Attribute| matches!(a.values, Column::Vec3s(_)) && a.stride == 1;
        if points > 0 && !self.attribute(POSITION).is_some_and(is_position) {
            return wrong("no attribute `P` of type vec3s".into(), "points need positions");
        }
        for (name, members) in &self.groups {
            attribute::check_name(name)?;
            if members.len() != points {
                let found =
                    format!("`{name}` says of {} points whether they belong", members.len());
                return wrong(found, "it must say so of each point");
            }
        }
        Ok(())
    }
}

/// How the names of the attributes begin that hold the groups in a file, eight in each byte.
const GROUP: &str = "__group";

/// The parts of a slice between these places, which ascend from 0 to its length.
fn split_at_all<'a, T>(mut rest: &'a mut [T], places: &[usize]) -> Vec<&'a mut [T]> {
    let mut parts = Vec::with_capacity(places.len().saturating_sub(1));
    for two in places.windows(2) {
        let (part, after) = rest.split_at_mut(two[1] - two[0]);
        parts.push(part);
        rest = after;
    }
    parts
}
