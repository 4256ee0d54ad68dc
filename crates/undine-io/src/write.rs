//! Writing a file of the format that its name ends with, whole or not at all.

use crate::error::{IoError, Result};
use crate::format::Format;
use crate::table::{Faces, Precision};
use crate::usd::geometry::Form;
use crate::whole::write_whole;
use crate::{Geometry, glb, obj, ply, stl, usd};
use std::io::Write;
use std::path::Path;

/// How a file is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct WriteOptions {
    /// With how many digits positions are written, where the format has a choice.
    pub precision: Precision,
    /// As text, where the format has a choice.
    pub as_text: bool,
}

/// Writes points or a mesh into a file of the format that its name ends with. A file is replaced whole or not at all.
pub fn write(path: &Path, geometry: &Geometry, options: WriteOptions) -> Result<()> {
    let format = Format::of(path)?;
    let name = path.file_stem().map(|stem| stem.to_string_lossy()).unwrap_or_default();
    write_whole(path, |out| encode(out, format, &name, geometry, options))
}

/// As [`write`], to anything that takes bytes. `name` is what formats that name their meshes call it.
pub fn encode(
    out: &mut dyn Write,
    format: Format,
    name: &str,
    geometry: &Geometry,
    options: WriteOptions,
) -> Result<()> {
    let WriteOptions { precision, as_text } = options;
    match format {
        Format::Ply => ply::write_geometry(out, geometry, ply::Style { precision, as_text }),
        Format::Obj => obj::write(out, geometry, precision),
        Format::Stl => stl::write(out, &geometry.points, faces(geometry)?, as_text),
        Format::Glb => glb::write(out, name, geometry),
        Format::Usda | Format::Usdc | Format::Usd => {
            let origin = usd::geometry::origin_for(&geometry.points.positions);
            let form = Form { name: name.to_owned(), precision, origin, ..Form::default() };
            let layer = usd::geometry::layer(geometry, &form)?;
            if format == Format::Usda {
                out.write_all(usd::text::write(&layer)?.as_bytes())?;
            } else {
                out.write_all(&usd::binary::encode(&layer)?)?;
            }
            Ok(())
        }
        Format::Vdb => Err(IoError::Unwritable {
            what: format!("`{name}`"),
            found: format!("points and meshes are not written as {format} here"),
            wanted: "use .ply, .obj, .stl, .glb, .usda or .usdc".to_owned(),
        }),
    }
}

/// What a format has no place for, in words; nothing if all is kept.
pub fn left_out(geometry: &Geometry, format: Format) -> Vec<String> {
    let Geometry { points, faces, curves } = geometry;
    let has_faces = faces.as_ref().is_some_and(|faces| !faces.polygons.is_empty());
    let kept: &[&str] = match format {
        Format::Obj if has_faces => &["N", "Cd"],
        Format::Obj => &["Cd"],
        Format::Stl => &[],
        Format::Usda | Format::Usdc | Format::Usd => return Vec::new(),
        _ => return of_faces_and_curves(geometry, format),
    };
    let channels = points.channels.keys().filter(|name| !kept.contains(&name.as_str()));
    let mut left: Vec<String> = channels.map(|name| format!("channel {name}")).collect();
    if has_faces && curves.as_ref().is_some_and(|curves| !curves.strands.is_empty()) {
        left.push("the curves beside faces".to_owned());
    }
    left.extend(of_faces_and_curves(geometry, format));
    left
}

fn of_faces_and_curves(geometry: &Geometry, format: Format) -> Vec<String> {
    let faces = geometry.faces.iter().flat_map(|faces| faces.channels.keys());
    let faces = faces.filter(|_| format != Format::Ply);
    let curves = geometry.curves.iter().flat_map(|curves| curves.channels.keys());
    faces
        .map(|name| format!("channel {name} of faces"))
        .chain(curves.map(|name| format!("channel {name} of curves")))
        .collect()
}

fn faces(geometry: &Geometry) -> Result<&Faces> {
    geometry.faces.as_ref().ok_or_else(|| IoError::Unwritable {
        what: "a file without faces".to_owned(),
        found: "STL holds triangles alone".to_owned(),
        wanted: "write points and curves as .ply, .obj or .glb".to_owned(),
    })
}
