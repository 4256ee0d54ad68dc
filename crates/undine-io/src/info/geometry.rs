//! Points, meshes and curves.

use super::part::{ChannelInfo, Part, Range};
use crate::Geometry;
use crate::table::{Channels, Values};
use undine_core::mesh::Bounds;

/// What points with faces or curves are.
pub(super) fn part(geometry: &Geometry) -> Part {
    let Geometry { points, faces, curves } = geometry;
    let mut counts = vec![("points", points.positions.len() as u64)];
    let mut channels = of(&points.channels, "points");
    let mut memory = 24 * points.positions.len() as u64 + bytes(&points.channels);
    let mut kind = "points";
    if let Some(faces) = faces {
        kind = "mesh";
        let polygons = &faces.polygons;
        counts.push(("faces", polygons.len() as u64));
        counts.push(("corners", polygons.corners().len() as u64));
        channels.extend(of(&faces.channels, "faces"));
        // Corners, and where each face begins unless all are triangles.
        let offsets = if polygons.as_triangles().is_some() { 0 } else { polygons.len() as u64 + 1 };
        memory += 4 * (polygons.corners().len() as u64 + offsets) + bytes(&faces.channels);
    }
    if let Some(curves) = curves {
        kind = if faces.is_some() { kind } else { "curves" };
        counts.push(("curves", curves.strands.len() as u64));
        channels.extend(of(&curves.channels, "curves"));
        memory += 8 * (curves.strands.len() as u64 + 1) + bytes(&curves.channels);
    }
    Part {
        kind: kind.to_owned(),
        counts,
        bounds: Bounds::around(points.positions.iter().copied()),
        channels,
        memory: Some(memory),
        ..Part::default()
    }
}

fn of(channels: &Channels, on: &'static str) -> Vec<ChannelInfo> {
    let info = |(name, values): (&String, &Values)| {
        let (range, not_finite) = match values.vectors() {
            Some(vectors) => Range::of(vectors.iter().flat_map(|v| v.to_array()), 3),
            None => Range::of(values.numbers().unwrap_or_default().iter().copied(), 1),
        };
        ChannelInfo { name: name.clone(), on, kind: word(values).to_owned(), range, not_finite }
    };
    channels.iter().map(info).collect()
}

fn word(values: &Values) -> &'static str {
    match values {
        Values::F32(_) => "float",
        Values::F64(_) => "double",
        Values::I32(_) => "int32",
        Values::U32(_) => "uint32",
        Values::U64(_) => "uint64",
        Values::Vec3(_) => "vec3s",
        Values::DVec3(_) => "vec3d",
    }
}

fn bytes(channels: &Channels) -> u64 {
    let size = |values: &Values| match values {
        Values::F32(_) | Values::I32(_) | Values::U32(_) => 4,
        Values::F64(_) | Values::U64(_) => 8,
        Values::Vec3(_) => 12,
        Values::DVec3(_) => 24,
    };
    channels.values().map(|values| size(values) * values.len() as u64).sum()
}
