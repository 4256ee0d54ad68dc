//! Faces of any number of corners as triangles, for formats that have nothing else.

use crate::error::{IoError, Result};
use crate::table::{Faces, Points};
use undine_core::mesh::Surface;

/// The triangles of all faces, turning as their faces do.
pub(crate) fn triangles(points: &Points, faces: &Faces) -> Result<Vec<[u32; 3]>> {
    let refused = |fault: undine_core::CoreError| IoError::Unwritable {
        what: "a mesh".to_owned(),
        found: fault.to_string(),
        wanted: "every corner of a face is one of its vertices".to_owned(),
    };
    let surface = Surface::new("mesh", points.positions.clone(), faces.polygons.clone());
    let surface = surface.map_err(refused)?;
    Ok(surface.triangulate().map_err(refused)?.triangles().to_vec())
}
