//! Meshes, points and volumes to and from files.
