//! The points of a tree that are in a box of voxels.

use super::{Attribute, PointTree};
use crate::tree::{Bounds, Leaves, VOXELS};

impl PointTree {
    /// The points whose voxels are in a box; tiles that meet it are whole.
    pub fn within(self, bounds: Bounds) -> Self {
        let Bounds { min, max } = bounds;
        let starts = self.starts();
        let leaves = &self.voxels.leaves;
        let mut kept = Leaves::default();
        let mut order = Vec::new();
        for (leaf, origin) in leaves.origins.iter().enumerate() {
            let meets = |axis: usize| min[axis] <= origin[axis] + 7 && origin[axis] <= max[axis];
            if !(0..3).all(meets) {
                continue;
            }
            let mut mask = leaves.masks[leaf];
            let (mut ends, mut first, mut count) = ([0; VOXELS], 0, 0);
            for (voxel, end) in leaves.values[leaf * VOXELS..][..VOXELS].iter().enumerate() {
                let at = [voxel >> 6, voxel >> 3 & 7, voxel & 7];
                let is_inside = (0..3).all(|axis| {
                    let c = origin[axis] + at[axis] as i32;
                    min[axis] <= c && c <= max[axis]
                });
                let end = *end.max(&first);
                if is_inside {
                    order.extend((first..end).map(|point| (starts[leaf] + point as usize) as u32));
                    count += end - first;
                } else {
                    mask.set(voxel, false);
                }
                ends[voxel] = count;
                first = end;
            }
            kept.push(*origin, mask, &ends);
        }
        let gathered = |attribute: Attribute| Attribute {
            values: attribute.values.gathered(&order, attribute.stride as usize),
            ..attribute
        };
        let members = |members: Vec<bool>| order.iter().map(|&at| members[at as usize]).collect();
        let mut voxels = self.voxels;
        voxels.leaves = kept;
        voxels.tiles.retain(|tile| {
            let last = tile.level.side() - 1;
            (0..3)
                .all(|axis| min[axis] <= tile.origin[axis] + last && tile.origin[axis] <= max[axis])
        });
        Self {
            voxels,
            attributes: self.attributes.into_iter().map(gathered).collect(),
            groups: self.groups.into_iter().map(|(name, all)| (name, members(all))).collect(),
            metadata: self.metadata,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::points::Column;
    use crate::transform::Transform;

    #[test]
    fn only_points_in_the_box_stay() {
        let positions: Vec<[f64; 3]> = (0..64).map(|i| [f64::from(i) / 2.0, 0.0, 1.0]).collect();
        let ids = Attribute::new("id", (0..128).collect::<Vec<i32>>()).strided(2);
        let points = PointTree::from_points(&Transform::default(), &positions, vec![ids]).unwrap();
        let within = points.clone().within(Bounds { min: [7, 0, 0], max: [17, 0, 2] });
        // Points 13 and 14 are in voxel 7, 33 and 34 in voxel 17.
        let ids = Column::Int32((26..70).collect());
        assert_eq!(within.attribute("id").unwrap().values, ids);
        assert_eq!(within.starts(), [0, 2, 18, 22]);
        assert_eq!(within.voxels.active_voxels(), 11);
        within.check().unwrap();
        assert!(points.within(Bounds { min: [0, 1, 0], max: [9, 9, 9] }).is_empty());
    }
}
