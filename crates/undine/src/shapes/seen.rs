//! What an input looked like last, so that nothing is made again that did not change.

use std::sync::Arc;
use undine_geometry::form::mesh_of_level_set;
use undine_geometry::{Detail, Form, Triangles};
use undine_sim::Result;
use undine_sim::input::Geometry;

/// The last geometry, and its forms.
#[derive(Debug, Default)]
pub(super) struct Seen(Option<(Geometry, Vec<Arc<Form>>)>);

impl Seen {
    /// The forms of a geometry; none of what has no inside.
    pub fn forms(&mut self, geometry: &Geometry) -> Result<Vec<Arc<Form>>> {
        if let Some((last, forms)) = &self.0
            && are_same(last, geometry)
        {
            return Ok(forms.clone());
        }
        let forms: Vec<Form> = match geometry {
            Geometry::Shape(shape) => shape.forms(&Detail::default())?,
            Geometry::Surface(surface) => meshed(Triangles::of_surface(surface)?),
            Geometry::LevelSet(set) => meshed(mesh_of_level_set(set)?),
            _ => Vec::new(),
        };
        let forms: Vec<Arc<Form>> = forms.into_iter().map(Arc::new).collect();
        self.0 = Some((geometry.clone(), forms.clone()));
        Ok(forms)
    }
}

fn meshed(mesh: Triangles) -> Vec<Form> {
    if mesh.is_empty() { Vec::new() } else { vec![Form::Mesh(mesh)] }
}

/// Whether two geometries are surely the same.
pub(super) fn are_same(one: &Geometry, other: &Geometry) -> bool {
    match (one, other) {
        (Geometry::Empty, Geometry::Empty) => true,
        (Geometry::Shape(a), Geometry::Shape(b)) => Arc::ptr_eq(a, b) || a == b,
        (Geometry::Surface(a), Geometry::Surface(b)) => Arc::ptr_eq(a, b),
        (Geometry::LevelSet(a), Geometry::LevelSet(b)) => Arc::ptr_eq(a, b),
        _ => false,
    }
}
