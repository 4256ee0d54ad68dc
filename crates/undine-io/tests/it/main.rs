//! The tests of files, as one program.

mod glb;
mod obj;
mod pattern;
#[cfg(feature = "peer-python")]
mod peer;
mod ply;
mod ply_hostile;
mod shapes;
mod stl;
mod usd_scene;
mod usd_text;
mod vdb_volume;
mod write;
