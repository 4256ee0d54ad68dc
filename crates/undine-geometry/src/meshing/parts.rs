//! Parts of a mesh that do not touch: small ones dropped, small cavities filled.

use super::{Origins, Remeshed, compact};
use crate::error::{GeometryError, Result};
use crate::triangles::Triangles;

/// The mesh without the parts that enclose less than a volume [m³]; cavities count by their size like all else.
pub fn without_parts_below(mesh: &Triangles, volume: f64) -> Result<Remeshed> {
    check("the least volume of a part [m³]", volume)?;
    parts_with(mesh, |found| found.abs() >= volume)
}

/// The mesh without the cavities of less than a volume [m³]: they are filled.
pub fn without_cavities_below(mesh: &Triangles, volume: f64) -> Result<Remeshed> {
    check("the least volume of a cavity [m³]", volume)?;
    // Cavities turn the other way.
    parts_with(mesh, |found| found >= 0.0 || found <= -volume)
}

fn check(what: &'static str, volume: f64) -> Result<()> {
    if volume >= 0.0 && volume.is_finite() {
        return Ok(());
    }
    let wanted = "zero or positive, and finite";
    Err(GeometryError::BadParameter { what, found: volume, wanted })
}

/// The parts whose volume [m³], negative for cavities, is wanted.
fn parts_with(mesh: &Triangles, wanted: impl Fn(f64) -> bool) -> Result<Remeshed> {
    let parts = mesh.clone().into_surface("mesh")?.components();
    let mut volumes = vec![0.0; parts.count()];
    let part_of = |corners: &[u32; 3]| parts.of_vertex()[corners[0] as usize] as usize;
    // About a place of each part itself, so that places far away cost no digits.
    let mut origins = vec![None; parts.count()];
    for corners in mesh.indices() {
        let part = part_of(corners);
        let [a, b, c] = corners.map(|vertex| mesh.positions()[vertex as usize]);
        let origin = *origins[part].get_or_insert(a);
        volumes[part] += (a - origin).dot((b - origin).cross(c - origin)) / 6.0;
    }
    let kept = mesh.indices().iter().copied().zip(0..);
    let kept = kept.filter(|(corners, _)| wanted(volumes[part_of(corners)])).collect();
    compact(mesh.positions(), Origins::identity(mesh.positions().len()), kept)
}
