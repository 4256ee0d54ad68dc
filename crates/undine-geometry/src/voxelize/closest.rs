//! What the nearest point of a mesh carries: velocities, colours, temperatures, any channel of its vertices or triangles.

use super::measure::{FAR, Foot};
use crate::error::{GeometryError, Result};
use crate::levelset::{LevelSet, VOXELS};
use crate::triangles::Triangles;
use std::sync::Arc;
use undine_core::domain::Slot;
use undine_core::volume::{Blend, Real, VoxelShape};
use undine_core::{Accessor, ChannelSpec, CoreError, Element, Handle, Topology};

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
    /// The triangle that is nearest to a voxel, by the local slot of its Bucket and its place there, and the weights of its
    /// corners at the nearest point; `None` beyond the band.
    pub fn at(&self, slot: Slot, voxel: usize) -> Option<(u32, [f32; 3])> {
        let foot = self.feet.get(slot as usize)?.get(voxel).filter(|foot| foot.triangle != FAR)?;
        let [v, w] = foot.weights;
        Some((foot.triangle, [1.0 - v - w, v, w]))
    }

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
        wanted("the values at the vertices of a mesh", values.len(), self.vertices)?;
        let vertices = mesh.positions().len();
        wanted("the vertices of a mesh whose nearest points are known", vertices, self.vertices)?;
        let triangles = "the triangles of a mesh whose nearest points are known";
        wanted(triangles, mesh.len(), self.triangles)?;
        self.fill(set, spec, |foot| {
            let [a, b, c] =
                mesh.indices()[foot.triangle as usize].map(|vertex| values[vertex as usize]);
            let [v, w] = foot.weights.map(f64::from);
            let weight = T::Real::of;
            a.scaled(weight(1.0 - v - w)).plus(b.scaled(weight(v))).plus(c.scaled(weight(w)))
        })
    }

    /// As [`carry`](Self::carry), with a value of each triangle, of any type: a material, a part, an id.
    pub fn carry_of_triangles<T: Element>(
        &self,
        set: &mut LevelSet,
        spec: &ChannelSpec<T>,
        values: &[T],
    ) -> Result<Handle<T>> {
        wanted("the values of the triangles of a mesh", values.len(), self.triangles)?;
        self.fill(set, spec, |foot| values[foot.triangle as usize])
    }

    /// Adds a channel to the level set, with what `value` makes of the nearest points.
    fn fill<T: Element>(
        &self,
        set: &mut LevelSet,
        spec: &ChannelSpec<T>,
        value: impl Fn(&Foot) -> T + Sync,
    ) -> Result<Handle<T>> {
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
                if foot.triangle != FAR {
                    *to = value(foot);
                }
            }
        })?;
        Ok(handle)
    }
}

fn wanted(what: &'static str, found: usize, wanted: usize) -> Result<()> {
    if found == wanted { Ok(()) } else { Err(GeometryError::WrongLength { what, found, wanted }) }
}
