//! How a channel divides a Bucket into voxels.

use crate::error::{CoreError, Result};
use glam::Vec3;

/// One of the three axes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Axis {
    /// Slowest in memory.
    X,
    /// In between.
    Y,
    /// Fastest in memory.
    Z,
}

impl Axis {
    /// The three axes, x first.
    pub const ALL: [Self; 3] = [Self::X, Self::Y, Self::Z];

    /// 0 for x, 1 for y, 2 for z.
    pub const fn index(self) -> usize {
        self as usize
    }
}

/// Voxels along the edge of a Bucket: 2, 4, 8 or 16.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Resolution {
    /// 2³ voxels in a Bucket.
    R2,
    /// 4³ voxels in a Bucket.
    R4,
    /// 8³ voxels in a Bucket, as in an OpenVDB leaf.
    R8,
    /// 16³ voxels in a Bucket.
    R16,
}

impl Resolution {
    /// The resolution with `n` voxels along an edge.
    pub fn new(n: usize) -> Result<Self> {
        match n {
            2 => Ok(Self::R2),
            4 => Ok(Self::R4),
            8 => Ok(Self::R8),
            16 => Ok(Self::R16),
            _ => Err(CoreError::BadValue {
                what: "the resolution of a channel".into(),
                found: n.to_string(),
                wanted: "2, 4, 8 or 16 voxels along a Bucket",
            }),
        }
    }

    /// Voxels along an edge.
    pub const fn edge(self) -> usize {
        1 << self.bits()
    }

    /// The binary logarithm of [`Self::edge`].
    pub const fn bits(self) -> u32 {
        match self {
            Self::R2 => 1,
            Self::R4 => 2,
            Self::R8 => 3,
            Self::R16 => 4,
        }
    }

    /// Voxels in a Bucket.
    pub const fn voxels(self) -> usize {
        1 << (3 * self.bits())
    }

    /// The coordinates of the voxel at a place in a chunk: the inverse of [`Self::index`].
    pub const fn coords(self, place: usize) -> [usize; 3] {
        let (bits, mask) = (self.bits(), self.edge() - 1);
        [place >> (2 * bits), (place >> bits) & mask, place & mask]
    }

    /// The place of a voxel in its chunk: x slowest, z fastest.
    pub const fn index(self, x: usize, y: usize, z: usize) -> usize {
        (x << (2 * self.bits())) | (y << self.bits()) | z
    }
}

/// Where in its voxel a value lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Centring {
    /// In the middle.
    Cell,
    /// In the middle of the voxel's lower face across an axis.
    Face(Axis),
    /// At the voxel's lower corner.
    Node,
}

impl Centring {
    /// The place of the value in its voxel, in voxels from the lower corner.
    pub const fn offset(self) -> Vec3 {
        match self {
            Self::Cell => Vec3::splat(0.5),
            Self::Face(Axis::X) => Vec3::new(0.0, 0.5, 0.5),
            Self::Face(Axis::Y) => Vec3::new(0.5, 0.0, 0.5),
            Self::Face(Axis::Z) => Vec3::new(0.5, 0.5, 0.0),
            Self::Node => Vec3::ZERO,
        }
    }
}

/// How a channel divides a Bucket, and where in a voxel its values lie.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct VoxelShape {
    /// Voxels along a Bucket.
    pub resolution: Resolution,
    /// Where in a voxel the values lie.
    pub centring: Centring,
}

impl VoxelShape {
    /// 8³ voxels, values in their middle.
    pub const CELLS: Self = Self { resolution: Resolution::R8, centring: Centring::Cell };

    /// 8³ voxels, values on the lower faces across `axis`.
    pub const fn faces(axis: Axis) -> Self {
        Self { resolution: Resolution::R8, centring: Centring::Face(axis) }
    }

    /// 8³ voxels, values at the lower corners.
    pub const NODES: Self = Self { resolution: Resolution::R8, centring: Centring::Node };

    /// The same with another resolution.
    pub const fn with_resolution(self, resolution: Resolution) -> Self {
        Self { resolution, centring: self.centring }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_and_coordinates_are_inverse() {
        for resolution in [Resolution::R2, Resolution::R4, Resolution::R8, Resolution::R16] {
            for place in 0..resolution.voxels() {
                let [x, y, z] = resolution.coords(place);
                assert_eq!(resolution.index(x, y, z), place);
            }
        }
    }
}
