//! A part of a file, whatever the format.

use std::collections::BTreeMap;
use undine_core::glam::DVec3;
use undine_core::mesh::Bounds;

/// A mesh, a cloud of points, a grid or a prim.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Part {
    /// Its name; empty if the format has none.
    pub name: String,
    /// What it is: `mesh`, `points`, `level set`, `Xform`.
    pub kind: String,
    /// How its values are kept, in words; empty if there is nothing to say.
    pub storage: String,
    /// How many of what there are, in the order in which people ask.
    pub counts: Vec<(&'static str, u64)>,
    /// The box around it in the world [m].
    pub bounds: Option<Bounds>,
    /// Of a grid: from voxels to the world, as rows of a matrix that is multiplied from the right.
    pub transform: Option<[[f64; 4]; 4]>,
    /// Of a grid: the sides of a voxel [m].
    pub voxel_size: Option<[f64; 3]>,
    /// The values that it has.
    pub channels: Vec<ChannelInfo>,
    /// What it takes in memory when it is read [bytes].
    pub memory: Option<u64>,
    /// What the file says of it.
    pub metadata: BTreeMap<String, String>,
}

/// Values of one name.
#[derive(Debug, Clone, PartialEq)]
pub struct ChannelInfo {
    /// Its name.
    pub name: String,
    /// What each value belongs to: `points`, `faces`, `curves`, `voxels` or `prim`.
    pub on: &'static str,
    /// The type of its values.
    pub kind: String,
    /// The least and the greatest, if they are known and there are any.
    pub range: Option<Range>,
    /// How many are no finite numbers; the range is that of the others.
    pub not_finite: u64,
}

/// The least and the greatest of values, component by component.
#[derive(Debug, Clone, PartialEq)]
pub struct Range {
    /// The least, one for each component.
    pub min: Vec<f64>,
    /// The greatest, one for each component.
    pub max: Vec<f64>,
}

impl Range {
    /// Of values of so many components each, and how many of them are not finite.
    pub fn of(values: impl Iterator<Item = f64>, components: usize) -> (Option<Self>, u64) {
        let components = components.max(1);
        let (mut min, mut max) =
            (vec![f64::INFINITY; components], vec![f64::NEG_INFINITY; components]);
        let mut not_finite = 0;
        for (n, value) in values.enumerate() {
            if value.is_finite() {
                let c = n % components;
                min[c] = min[c].min(value);
                max[c] = max[c].max(value);
            } else {
                not_finite += 1;
            }
        }
        let is_known = min.iter().all(|least| least.is_finite());
        (is_known.then_some(Self { min, max }), not_finite)
    }

    /// The range of both.
    pub fn union(self, other: &Self) -> Self {
        let both = |a: &[f64], b: &[f64], pick: fn(f64, f64) -> f64| {
            a.iter().zip(b).map(|(&a, &b)| pick(a, b)).collect()
        };
        Self {
            min: both(&self.min, &other.min, f64::min),
            max: both(&self.max, &other.max, f64::max),
        }
    }
}

/// The box that a linear map makes of another.
pub(super) fn mapped(min: DVec3, max: DVec3, map: impl Fn(DVec3) -> DVec3) -> Option<Bounds> {
    let corner = |n: u32| {
        let pick = |axis: u32| if n >> axis & 1 == 0 { min } else { max };
        DVec3::new(pick(0).x, pick(1).y, pick(2).z)
    };
    Bounds::around((0..8).map(corner).map(map))
}
