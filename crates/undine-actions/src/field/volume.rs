//! A field sampled from a volume that came from outside.

use super::form::Sample;
use undine_core::Topology;
use undine_core::glam::{DMat3, DVec3, Vec3};
use undine_core::volume::{Interpolation, Sampler, VoxelColumn};

/// Vectors between voxels; zero, or the channel's background, where there are none.
pub struct VolumeField<'a> {
    sampler: Sampler<'a, Vec3>,
    scale: f64,
}

impl<'a> VolumeField<'a> {
    /// Of a channel of vectors, `scale` times. The topology is that of the channel's volume.
    pub fn new(
        column: &'a VoxelColumn<Vec3>,
        topology: &'a Topology,
        interpolation: Interpolation,
        scale: f64,
    ) -> Self {
        Self { sampler: Sampler::new(column, topology, interpolation), scale }
    }

    /// The field at a place [m], and its derivative.
    pub fn at(&self, place: DVec3) -> Sample {
        let (value, [x, y, z]) = self.sampler.value_and_gradient_at_world(place);
        let column = |v: Vec3| v.as_dvec3() * self.scale;
        let jacobian = Some(DMat3::from_cols(column(x), column(y), column(z)));
        Sample { value: value.as_dvec3() * self.scale, jacobian }
    }
}
