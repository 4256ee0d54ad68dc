//! The frames that rods begin with: one is chosen at the root of a strand, and carried along it without a twist (Bishop's frame),
//! unless the input says which way the cross-sections look.

use super::twisting::twist;
use undine_core::glam::{DMat3, DVec3};
use undine_sim::constraint::Placed;
use undine_sim::newton::rod::transported;

/// Frames of edges with these tangents, from the first to the last. Where `first_axes` has vectors across the rod, the first
/// axis of each frame is turned towards them.
pub fn along(tangents: &[DVec3], first_axes: Option<&[DVec3]>) -> Vec<DMat3> {
    let mut frames: Vec<DMat3> = Vec::with_capacity(tangents.len());
    for (n, &tangent) in tangents.iter().enumerate() {
        let carried = match frames.last() {
            Some(before) => transported(*before, tangent, 0.0),
            None => {
                let across = tangent.any_orthonormal_vector();
                DMat3::from_cols(tangent, across, tangent.cross(across))
            }
        };
        let wanted =
            first_axes.map_or(DVec3::ZERO, |axes| axes[n] - tangent * tangent.dot(axes[n]));
        frames.push(match wanted.try_normalize() {
            Some(across) => DMat3::from_cols(tangent, across, tangent.cross(across)),
            None => carried,
        });
    }
    frames
}

/// Frames of the same edges where their tangents are others, turned along the rod as `frames` are: the first is carried there, and the next follow it with the
/// twists that they have.
pub fn elsewhere(frames: &[DMat3], tangents: &[DVec3]) -> Vec<DMat3> {
    let mut found: Vec<DMat3> = Vec::with_capacity(frames.len());
    for (n, &tangent) in tangents.iter().enumerate() {
        found.push(match found.last() {
            None => transported(frames[n], tangent, 0.0),
            Some(before) => {
                let at = [n - 1, n].map(|n| Placed { x: DVec3::ZERO, frame: frames[n] });
                transported(*before, tangent, twist(&at, 0.0))
            }
        });
    }
    found
}

/// A particle with any frame, for tests.
#[cfg(test)]
pub fn placed(seed: u64) -> Placed {
    use undine_core::glam::DQuat;
    use undine_geometry::random::unit;
    let vector = |n: u64| DVec3::new(unit(n, 0), unit(n, 1), unit(n, 2)) * 2.0 - 1.0;
    let turn = DQuat::from_scaled_axis(vector(seed + 1) * 3.0);
    Placed { x: vector(seed), frame: DMat3::from_quat(turn) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_look_where_the_input_says_and_are_carried_where_it_says_nothing() {
        let tangents = [DVec3::X, DVec3::new(0.8, 0.6, 0.0), DVec3::Y];
        let said = [DVec3::Z, DVec3::ZERO, DVec3::new(1.0, 5.0, 0.0)];
        let frames = along(&tangents, Some(&said));
        assert!(frames[0].y_axis.abs_diff_eq(DVec3::Z, 1e-15));
        // About z, which it turns around, nothing changes.
        assert!(frames[1].y_axis.abs_diff_eq(DVec3::Z, 1e-15));
        assert!(frames[2].y_axis.abs_diff_eq(DVec3::X, 1e-15));
        for (frame, tangent) in frames.iter().zip(tangents) {
            assert!(frame.x_axis.abs_diff_eq(tangent, 1e-15));
            assert!((frame.transpose() * *frame).abs_diff_eq(DMat3::IDENTITY, 1e-14));
        }
    }
}
