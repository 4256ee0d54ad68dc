//! Tests of files as a whole.

mod grids;
mod write;

mod counting;
mod hostile;
#[cfg(any(feature = "peer-openvdb", feature = "peer-python"))]
mod peer;
mod points;
mod reading;
