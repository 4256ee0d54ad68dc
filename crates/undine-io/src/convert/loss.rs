//! What changes on the way from one format to another without being asked for, in words.

use super::ConvertOptions;
use crate::Geometry;
use crate::format::Format;
use crate::table::{Channels, Precision, Values};
use crate::usd::geometry::origin_for;
use undine_core::glam::DVec3;

/// How far a position may move when it is rounded [m].
const TOLERANCE: f64 = 1e-4;

/// The options that mean nothing between these formats.
pub(super) fn without_effect(o: &ConvertOptions, read: Format, written: Format) -> Vec<String> {
    let is_scene = |format| matches!(format, Format::Usda | Format::Usdc | Format::Usd);
    let of_volumes = (read, written) == (Format::Vdb, Format::Vdb);
    let has_text = matches!(written, Format::Ply | Format::Stl);
    let has_double = matches!(written, Format::Ply | Format::Obj) || is_scene(written);
    let asked = [
        (o.half.is_some() && !of_volumes, "--half and --full are for volumes"),
        (o.codec.is_some() && !of_volumes, "--codec is for volumes"),
        (!o.grids.is_empty() && read != Format::Vdb, "--grid chooses from a volume"),
        (o.as_text && !has_text, "--text is for PLY and STL; .usda is text by its name"),
        (o.precision == Precision::Double && !has_double, "--double is for PLY, OBJ and USD"),
        (o.from_up.is_some() && is_scene(read), "--from-up: a scene says which axis points up"),
    ];
    let asked = asked.into_iter().filter(|(is_asked, _)| *is_asked);
    asked.map(|(_, why)| format!("without effect here: {why}")).collect()
}

/// With how many digits positions are written: as asked for, but with all of them if a tenth of a millimetre would be lost and
/// the format has a choice.
pub(super) fn precision(geometry: &Geometry, asked: Precision, format: Format) -> Precision {
    let has_choice = matches!(format, Format::Ply | Format::Obj);
    if has_choice && farthest(geometry, DVec3::ZERO) > TOLERANCE {
        Precision::Double
    } else {
        asked
    }
}

/// By how much positions move when they are rounded to 32 bits from an origin [m].
fn farthest(geometry: &Geometry, origin: DVec3) -> f64 {
    let positions = geometry.points.positions.iter();
    let moved = positions.map(|&place| {
        let local = place - origin;
        (local - local.as_vec3().as_dvec3()).abs().max_element()
    });
    moved.fold(0.0, f64::max)
}

/// What is rounded by a format.
pub(super) fn rounded(geometry: &Geometry, precision: Precision, format: Format) -> Vec<String> {
    let mut notes = Vec::new();
    let is_scene = matches!(format, Format::Usda | Format::Usdc | Format::Usd);
    let origin = if is_scene { origin_for(&geometry.points.positions) } else { DVec3::ZERO };
    let is_single = is_scene || matches!(format, Format::Stl | Format::Glb);
    if is_single && farthest(geometry, origin) > TOLERANCE {
        let moved = 1e3 * farthest(geometry, origin);
        notes.push(format!("{format} has positions of 32 bits: some move by up to {moved:.1} mm"));
    }
    let of_faces = geometry.faces.iter().map(|faces| &faces.channels);
    let of_curves = geometry.curves.iter().map(|curves| &curves.channels);
    let all = [&geometry.points.channels].into_iter().chain(of_faces).chain(of_curves);
    // Those that have names of their own in a scene have a type of their own, too.
    let always = ["v", "N", "pscale"];
    let names: Vec<&str> = all
        .flat_map(lossy)
        .filter(|name| precision == Precision::Single || always.contains(name))
        .collect();
    if !names.is_empty() && (is_scene || format == Format::Glb) {
        let help = match is_scene && names.iter().any(|name| !always.contains(name)) {
            true => "; --double keeps more",
            false => "",
        };
        notes.push(format!("rounded from 64 to 32 bits: channel {}{help}", names.join(", ")));
    }
    notes
}

/// The channels of which 32 bits do not hold all.
fn lossy(channels: &Channels) -> impl Iterator<Item = &str> {
    let is_lossy = |values: &Values| match values {
        Values::F64(values) => values.iter().any(|&value| f64::from(value as f32) != value),
        Values::DVec3(values) => values.iter().any(|value| value.as_vec3().as_dvec3() != *value),
        _ => false,
    };
    channels.iter().filter(move |(_, values)| is_lossy(values)).map(|(name, _)| name.as_str())
}

/// What programs do not show, although it is in the file.
pub(super) fn not_shown(geometry: &Geometry, format: Format) -> Option<String> {
    let loose = loose_points(geometry);
    let is_told = loose > 0 && matches!(format, Format::Glb | Format::Obj);
    is_told.then(|| {
        let what = format!("{loose} points are on no face and no curve");
        format!("{what}: {format} holds them, but programs do not show them")
    })
}

/// How many points lie beside the faces and curves there are; none if there are neither.
pub(crate) fn loose_points(geometry: &Geometry) -> usize {
    let Geometry { points, faces, curves } = geometry;
    let faces = faces.as_ref().filter(|faces| !faces.polygons.is_empty());
    let curves = curves.as_ref().filter(|curves| !curves.strands.is_empty());
    if faces.is_none() && curves.is_none() {
        return 0;
    }
    let mut is_used = vec![false; points.positions.len()];
    let corners = faces.iter().flat_map(|faces| faces.polygons.corners()).map(|&c| c as usize);
    let on_curves = curves.iter().flat_map(|curves| {
        (0..curves.strands.len()).flat_map(|curve| curves.strands.vertices(curve))
    });
    for point in corners.chain(on_curves) {
        if let Some(used) = is_used.get_mut(point) {
            *used = true;
        }
    }
    is_used.iter().filter(|used| !**used).count()
}
