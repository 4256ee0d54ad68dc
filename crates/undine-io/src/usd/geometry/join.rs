//! Tables of several prims as one.

use super::read::{Elements, Piece};
use crate::Geometry;
use crate::table::{Channels, Curves, Faces, Points, Values};
use std::collections::BTreeSet;
use undine_core::glam::DVec3;
use undine_core::mesh::{Polygons, Strands};

/// Puts pieces one after another, those with curves first, for curves run through the first points there are.
///
/// A channel that not all of them have is left out, and `notes` says so; but what has no velocity is at rest.
pub(super) fn join(mut pieces: Vec<Piece>, notes: &mut Vec<String>) -> Result<Geometry, String> {
    pieces.sort_by_key(|piece| !matches!(piece.elements, Elements::Curves { .. }));
    let mut positions = Vec::new();
    let (mut counts, mut corners, mut face_channels) = (Vec::new(), Vec::new(), Vec::new());
    let (mut offsets, mut closed, mut curve_channels) = (vec![0_u32], Vec::new(), Vec::new());
    let mut point_channels = Vec::new();
    let (mut has_faces, mut has_curves) = (false, false);
    for piece in pieces {
        let first = u32::try_from(positions.len()).map_err(|_| "it has too many points")?;
        point_channels.push((piece.positions.len(), piece.channels));
        positions.extend(piece.positions);
        u32::try_from(positions.len()).map_err(|_| "it has too many points")?;
        match piece.elements {
            Elements::None => {}
            Elements::Faces { counts: more, corners: at, channels } => {
                has_faces = true;
                face_channels.push((more.len(), channels));
                counts.extend(more);
                corners.extend(at.into_iter().map(|corner| first + corner));
            }
            Elements::Curves { counts: more, closed: all, channels } => {
                has_curves = true;
                curve_channels.push((more.len(), channels));
                closed.extend(more.iter().map(|_| all));
                let mut end = first;
                offsets.extend(more.into_iter().map(|count| {
                    end += count;
                    end
                }));
            }
        }
    }
    let fault = |fault: undine_core::CoreError| fault.to_string();
    let faces = match has_faces {
        true => Some(Faces {
            polygons: Polygons::from_counts(&counts, corners).map_err(fault)?,
            channels: joined(face_channels, notes),
        }),
        false => None,
    };
    let curves = match has_curves {
        true => Some(Curves {
            strands: Strands::new(offsets, closed).map_err(fault)?,
            channels: joined(curve_channels, notes),
        }),
        false => None,
    };
    let channels = joined(point_channels, notes);
    Ok(Geometry { points: Points { positions, channels }, faces, curves })
}

fn joined(pieces: Vec<(usize, Channels)>, notes: &mut Vec<String>) -> Channels {
    let pieces: Vec<_> = match &pieces[..] {
        [_] => pieces,
        // What has no elements has no say.
        _ => pieces.into_iter().filter(|(count, _)| *count > 0).collect(),
    };
    let names: BTreeSet<&String> =
        pieces.iter().flat_map(|(_, channels)| channels.keys()).collect();
    let mut whole = Channels::new();
    for name in names {
        let parts: Option<Vec<Values>> = pieces
            .iter()
            .map(|(count, channels)| match channels.get(name) {
                Some(values) => Some(values.clone()),
                None if name == "v" => Some(Values::DVec3(vec![DVec3::ZERO; *count])),
                None => None,
            })
            .collect();
        match parts.and_then(chained) {
            Some(values) => drop(whole.insert(name.clone(), values)),
            None => notes.push(format!("channel `{name}`, which not all prims have alike")),
        }
    }
    whole
}

/// Values one after another; of several types, those that hold them all. `None` if some are vectors and some are not.
fn chained(parts: Vec<Values>) -> Option<Values> {
    let kind = std::mem::discriminant(parts.first()?);
    if parts.iter().any(|part| std::mem::discriminant(part) != kind) {
        let vectors = parts.iter().map(Values::vectors).collect::<Option<Vec<_>>>();
        if let Some(vectors) = vectors {
            return Some(Values::DVec3(
                vectors.iter().flat_map(|part| part.iter().copied()).collect(),
            ));
        }
        let ids = parts.iter().map(Values::ids).collect::<Option<Vec<_>>>();
        if let Some(ids) = ids {
            return Some(Values::U64(ids.iter().flat_map(|part| part.iter().copied()).collect()));
        }
        let numbers = parts.iter().map(Values::numbers).collect::<Option<Vec<_>>>()?;
        return Some(Values::F64(numbers.iter().flat_map(|part| part.iter().copied()).collect()));
    }
    let mut parts = parts.into_iter();
    let mut whole = parts.next()?;
    for part in parts {
        match (&mut whole, part) {
            (Values::F32(whole), Values::F32(part)) => whole.extend(part),
            (Values::F64(whole), Values::F64(part)) => whole.extend(part),
            (Values::I32(whole), Values::I32(part)) => whole.extend(part),
            (Values::U32(whole), Values::U32(part)) => whole.extend(part),
            (Values::U64(whole), Values::U64(part)) => whole.extend(part),
            (Values::Vec3(whole), Values::Vec3(part)) => whole.extend(part),
            (Values::DVec3(whole), Values::DVec3(part)) => whole.extend(part),
            _ => return None,
        }
    }
    Some(whole)
}
