//! Meshes of triangles, against what geometry says.
