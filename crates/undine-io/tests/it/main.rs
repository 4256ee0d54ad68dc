//! The tests of files, as one program.

mod convert;
mod convert_told;
mod glb;
mod info;
#[cfg(feature = "mpi")]
mod mpi;
mod obj;
mod pattern;
#[cfg(any(feature = "peer-openvdb", feature = "peer-python"))]
mod peer;
mod ply;
mod ply_hostile;
mod shapes;
mod stl;
mod usd_binary;
mod usd_binary_hostile;
mod usd_layers;
mod usd_scene;
mod usd_text;
mod vdb_file;
mod vdb_volume;
mod write;
