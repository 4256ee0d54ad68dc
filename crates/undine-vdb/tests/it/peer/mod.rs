//! Files that go through the programs of others: OpenVDB itself, and Blender.

#[cfg(feature = "peer-python")]
mod blender;
mod describe;
mod gallery;
#[cfg(feature = "peer-openvdb")]
mod openvdb;
#[cfg(feature = "peer-openvdb")]
mod points;
