//! Where the unknowns of a system are along a space-filling curve, by which they are shared out among processes: those of a strand where
//! its root is.

use crate::constraint::Placed;
use crate::error::Result;
use crate::newton::unknowns::Span;
use undine_core::Frame;
use undine_core::domain::VOXELS_PER_BUCKET;

/// The place of every group, of spans with where each of their groups is. A step along the curve is a voxel of the Domain, since roots grow
/// closer than Buckets lie. What is beyond the curve comes last.
pub(crate) fn places<'a>(
    frame: &Frame,
    spans: impl Iterator<Item = (&'a Span, &'a [Placed])>,
) -> Result<Vec<u64>> {
    let voxels = Frame::new(frame.origin(), frame.voxel_size(0) / VOXELS_PER_BUCKET as f64)?;
    let along = |placed: &Placed| match voxels.locate(placed.x, 0, "a root") {
        Ok((voxel, _)) => voxel.key().position(),
        Err(_) => u64::MAX,
    };
    let mut places = Vec::new();
    for (span, placed) in spans {
        if span.parts.is_empty() {
            places.extend(placed.iter().map(along));
            continue;
        }
        let ends = span.parts.iter().skip(1).copied().chain([span.count as u32]);
        for (&root, end) in span.parts.iter().zip(ends) {
            let place = placed.get(root as usize).map_or(u64::MAX, along);
            places.extend(std::iter::repeat_n(place, (end - root) as usize));
        }
    }
    Ok(places)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::newton::unknowns::{Kind, Unknowns};
    use undine_core::glam::DVec3;

    #[test]
    fn strands_are_where_their_roots_are() {
        let frame = Frame::new(DVec3::ZERO, 0.01).unwrap();
        let mut unknowns = Unknowns::new();
        unknowns.add("balls", Kind::Points, 2);
        unknowns.add_parts("hair", Kind::Rods, 5, vec![0, 3]);
        let at = |x: f64| Placed::at(DVec3::new(x, 0.005, 0.005));
        let balls = [at(0.005), at(1e9)];
        let hair = [at(0.025), at(5.0), at(9.0), at(0.005), at(0.025)];
        let spans = unknowns.spans().iter().zip([&balls[..], &hair[..]]);
        let places = places(&frame, spans).unwrap();
        assert_eq!(places.len(), 7);
        assert_eq!(places[1], u64::MAX);
        // The second strand grows where the first ball is; the first one two voxels away.
        assert_eq!(places[5..], [places[0]; 2]);
        assert_eq!(places[2..5], [places[2]; 3]);
        assert_ne!(places[2], places[0]);
    }
}
