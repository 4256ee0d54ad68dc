//! Tests of files as a whole.

mod grids;
mod write;

#[cfg(any(feature = "peer-openvdb", feature = "peer-python"))]
mod peer;
mod counting;
mod hostile;
mod reading;
mod points;
