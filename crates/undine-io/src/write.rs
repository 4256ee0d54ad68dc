//! Writing a file of the format that its name ends with, whole or not at all.

use crate::convert::{loose_points, turn};
use crate::error::{IoError, Result};
use crate::format::Format;
use crate::metadata::FileMetadata;
use crate::names::UpAxis;
use crate::table::{Faces, Precision};
use crate::usd::geometry::{Form, origin_for};
use crate::vdb::{PointOptions, points_grid};
use crate::whole::write_whole;
use crate::{Geometry, glb, obj, ply, stl, usd};
use std::borrow::Cow;
use std::io::Write;
use std::path::Path;

/// How a file is written.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct WriteOptions {
    /// With how many digits positions are written, where the format has a choice.
    pub precision: Precision,
    /// As text, where the format has a choice.
    pub as_text: bool,
    /// What the file says of itself. Its axis is that which points up in the tables, too.
    pub metadata: FileMetadata,
}

/// Writes points or a mesh into a file of the format that its name ends with. A file is replaced whole or not at all.
pub fn write(path: &Path, geometry: &Geometry, options: &WriteOptions) -> Result<()> {
    let format = Format::of(path)?;
    let name = path.file_stem().map(|stem| stem.to_string_lossy()).unwrap_or_default();
    write_whole(path, |out| encode(out, format, &name, geometry, options))
}

/// As [`write()`], to anything that takes bytes. `name` is what formats that name their meshes call it.
pub fn encode(
    out: &mut dyn Write,
    format: Format,
    name: &str,
    geometry: &Geometry,
    options: &WriteOptions,
) -> Result<()> {
    let WriteOptions { precision, as_text, ref metadata } = *options;
    let style = ply::Style { precision, as_text };
    match format {
        Format::Ply => ply::write_geometry(out, geometry, style, metadata),
        Format::Obj => obj::write(out, geometry, precision, metadata),
        Format::Stl => stl::write(out, &geometry.points, faces(geometry)?, as_text, metadata),
        Format::Glb => glb::write(out, name, geometry, metadata),
        Format::Usda => {
            let layer = layer(name, geometry, options)?;
            Ok(out.write_all(usd::text::write(&layer)?.as_bytes())?)
        }
        Format::Usdc | Format::Usd => {
            Ok(out.write_all(&usd::binary::encode(&layer(name, geometry, options)?)?)?)
        }
        Format::Vdb => points_in_voxels(out, name, geometry, options),
    }
}

/// A layer of one prim. It takes tables as a simulation has them, and turns them itself.
fn layer(name: &str, geometry: &Geometry, options: &WriteOptions) -> Result<usd::layer::Layer> {
    let WriteOptions { precision, metadata, .. } = options;
    let mut upright = Cow::Borrowed(geometry);
    if metadata.up != UpAxis::Y {
        turn(upright.to_mut(), metadata.up, UpAxis::Y);
    }
    let form = Form {
        name: name.to_owned(),
        time: metadata.frame.map(|frame| frame as f64),
        origin: origin_for(&upright.points.positions),
        precision: *precision,
        metadata: metadata.clone(),
    };
    usd::geometry::layer(&upright, &form)
}

/// Points as a grid of points. Faces and curves have no place there.
fn points_in_voxels(
    out: &mut dyn Write,
    name: &str,
    geometry: &Geometry,
    options: &WriteOptions,
) -> Result<()> {
    if geometry.faces.is_some() || geometry.curves.is_some() {
        return Err(IoError::Unwritable {
            what: format!("`{name}`"),
            found: "a .vdb file holds volumes and points, no faces and no curves".to_owned(),
            wanted: "read them as the input of a scene to make a volume of them".to_owned(),
        });
    }
    let grid = points_grid("points", &geometry.points, &PointOptions::default())?;
    let encoded = undine_vdb::write::encode_grid(&grid, Default::default())?;
    undine_vdb::write::write(out, &options.metadata.to_vdb(), &[encoded]).map_err(|why| match why {
        undine_vdb::VdbError::Io(source) => IoError::Write(source),
        why => why.into(),
    })
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
    let loose = if format == Format::Stl { loose_points(geometry) } else { 0 };
    if loose > 0 {
        left.push(format!("{loose} points on no face"));
    }
    if has_faces && curves.as_ref().is_some_and(|curves| !curves.strands.is_empty()) {
        left.push("the curves beside faces".to_owned());
    }
    left.extend(of_faces_and_curves(geometry, format));
    left
}

fn of_faces_and_curves(geometry: &Geometry, format: Format) -> Vec<String> {
    let faces = geometry.faces.iter().flat_map(|faces| faces.channels.keys());
    let keeps = matches!(format, Format::Ply | Format::Usda | Format::Usdc | Format::Usd);
    let faces = faces.filter(|_| !keeps);
    let curves = geometry.curves.iter().flat_map(|curves| curves.channels.keys());
    let curves = curves.filter(|_| !matches!(format, Format::Usda | Format::Usdc | Format::Usd));
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
