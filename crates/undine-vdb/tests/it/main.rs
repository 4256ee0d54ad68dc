//! Tests of files as a whole.

#[cfg(any(feature = "peer-openvdb", feature = "peer-python"))]
mod peer;
