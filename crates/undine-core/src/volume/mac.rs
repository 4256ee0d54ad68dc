//! A velocity on the faces of a MAC grid, as one named thing.

use super::shape::{Axis, Resolution, VoxelShape};
use super::store::DiscreteVolume;
use crate::channel::{ChannelSpec, Handle};
use crate::error::Result;

/// The three face channels of a MAC velocity: x on x-faces, y on y-faces, z on z-faces.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MacHandle {
    /// The components, by axis.
    pub faces: [Handle<f32>; 3],
}

impl DiscreteVolume {
    /// Adds a MAC vector channel: `NAME.x`, `NAME.y` and `NAME.z`, zero outside.
    pub fn add_mac(
        &mut self,
        name: &str,
        unit: &'static str,
        resolution: Resolution,
    ) -> Result<MacHandle> {
        self.add_mac_channel(&ChannelSpec::new(name, 0.0_f32).unit(unit), resolution)
    }

    /// Adds a MAC vector channel of which each component is like `spec`, with its own name.
    pub fn add_mac_channel(
        &mut self,
        spec: &ChannelSpec<f32>,
        resolution: Resolution,
    ) -> Result<MacHandle> {
        self.add_mac_with(spec, [spec.default; 3], resolution)
    }

    /// The same with other values where there are no Buckets, by component.
    pub fn add_mac_with(
        &mut self,
        spec: &ChannelSpec<f32>,
        outside: [f32; 3],
        resolution: Resolution,
    ) -> Result<MacHandle> {
        let name = spec.info.name.as_str();
        let specs = Axis::ALL.map(|axis| {
            let mut spec = spec.clone();
            spec.info.name = component(name, axis);
            spec.default = outside[axis.index()];
            spec
        });
        // All three or none.
        for spec in &specs {
            self.channels().check_new(spec)?;
        }
        let mut faces = Vec::with_capacity(3);
        for (axis, spec) in Axis::ALL.into_iter().zip(&specs) {
            match self.add_channel(spec, VoxelShape::faces(axis).with_resolution(resolution)) {
                Ok(handle) => faces.push(handle),
                Err(error) => {
                    for added in &Axis::ALL[..axis.index()] {
                        self.remove_channel(&component(name, *added))?;
                    }
                    return Err(error);
                }
            }
        }
        Ok(MacHandle { faces: [faces[0], faces[1], faces[2]] })
    }

    /// The MAC vector channel of this name.
    pub fn mac(&self, name: &str) -> Result<MacHandle> {
        let [x, y, z] = Axis::ALL.map(|axis| self.handle(&component(name, axis)));
        Ok(MacHandle { faces: [x?, y?, z?] })
    }

    /// Removes a MAC vector channel; its handles are stale from now on.
    pub fn remove_mac(&mut self, name: &str) -> Result<()> {
        // All three or none.
        self.mac(name)?;
        Axis::ALL.into_iter().try_for_each(|axis| self.remove_channel(&component(name, axis)))
    }
}

fn component(name: &str, axis: Axis) -> String {
    format!("{name}.{}", ["x", "y", "z"][axis.index()])
}
