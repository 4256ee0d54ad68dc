//! What the nearest point of a mesh carries: velocities, colours, temperatures, any channel of its vertices.

use super::measure::{FAR, Foot};
use crate::error::{GeometryError, Result};
use crate::levelset::{LevelSet, VOXELS};
use crate::triangles::Triangles;
use std::sync::Arc;
use undine_core::volume::VoxelShape;
use undine_core::volume::{Blend, Real};
use undine_core::{Accessor, ChannelSpec, CoreError, Handle, Topology};

/// The nearest point of a mesh to each voxel of a level set that was made of it.
#[derive(Debug)]
pub struct ClosestPoints {
    pub(super) topology: Arc<Topology>,
    /// A Bucket after the other, by local slot.
    pub(super) feet: Vec<Box<[Foot; VOXELS]>>,
    pub(super) vertices: usize,
    pub(super) triangles: usize,
}

impl ClosestPoints {
    /// Adds a channel to the level set that holds, in each voxel within the band, `values` of the mesh's vertices
    /// interpolated at the nearest point; the spec's default beyond it.
    ///
    /// The level set must have the Buckets that it was made with, and `mesh` the triangles.
    pub fn carry<T: Blend>(
        &self,
        set: &mut LevelSet,
        mesh: &Triangles,
        spec: &ChannelSpec<T>,
        values: &[T],
    ) -> Result<Handle<T>> {
        let lengths = [
            ("the values at the vertices of a mesh", values.len(), self.vertices),
            (
                "the vertices of a mesh whose nearest points are known",
                mesh.positions().len(),
                self.vertices,
            ),
            ("the triangles of a mesh whose nearest points are known", mesh.len(), self.triangles),
        ];
        for (what, found, wanted) in lengths {
            if found != wanted {
                return Err(GeometryError::WrongLength { what, found, wanted });
            }
        }
        if set.topology().id() != self.topology.id() {
            return Err(GeometryError::Core(CoreError::BadValue {
                what: format!("the Buckets of {}", set.volume().label()),
                found: "others than those that nearest points are known of".into(),
                wanted: "the Buckets with which it was made",
            }));
        }
        let handle = set.volume_mut().add_channel(spec, VoxelShape::CELLS)?;
        let accessor = Accessor::new("carry values off a mesh", set.domain()).over(set.topology());
        accessor.run(set.volume().write(handle), |here, to| {
            for (to, foot) in to.iter_mut().zip(&self.feet[here.slot as usize][..]) {
                if foot.triangle == FAR {
                    continue;
                }
                let [a, b, c] =
                    mesh.indices()[foot.triangle as usize].map(|vertex| values[vertex as usize]);
                let [v, w] = foot.weights.map(f64::from);
                let weight = T::Real::of;
                *to = a
                    .scaled(weight(1.0 - v - w))
                    .plus(b.scaled(weight(v)))
                    .plus(c.scaled(weight(w)));
            }
        })?;
        Ok(handle)
    }
}
