//! A mesh whose vertices move from frame to frame, in straight lines between.

use crate::error::{GeometryError, Result};
use std::sync::Arc;
use undine_core::glam::DVec3;

/// Positions of the same vertices at several times.
#[derive(Debug, Clone)]
pub struct Deformation {
    /// Ascending [s].
    times: Vec<f64>,
    /// The positions [m] at each of them.
    frames: Vec<Arc<[DVec3]>>,
}

impl Deformation {
    /// Positions [m] by time [s]: at least one frame, times ascending, the same number of finite positions in each.
    ///
    /// Before the first frame and after the last, vertices rest.
    pub fn new(frames: Vec<(f64, Vec<DVec3>)>) -> Result<Self> {
        let Some((_, first)) = frames.first() else {
            return Err(GeometryError::Empty {
                what: "a deformation",
                wanted: "it needs a frame at least",
            });
        };
        let wanted = first.len();
        let mut before = f64::NEG_INFINITY;
        for (time, positions) in &frames {
            if !(time.is_finite() && *time > before) {
                return Err(GeometryError::BadParameter {
                    what: "the time of a frame",
                    found: *time,
                    wanted: "finite, and later than the frame before",
                });
            }
            before = *time;
            let found = positions.len();
            if found != wanted {
                let what = "a frame of a deformation";
                return Err(GeometryError::WrongLength { what, found, wanted });
            }
            if let Some(vertex) = positions.iter().position(|at| !at.is_finite()) {
                let position = positions[vertex];
                return Err(GeometryError::VertexNotFinite { vertex, position });
            }
        }
        let (times, frames) = frames.into_iter().map(|(time, at)| (time, at.into())).unzip();
        Ok(Self { times, frames })
    }

    /// How many vertices there are.
    pub fn vertex_count(&self) -> usize {
        self.frames[0].len()
    }

    /// The positions [m] at a time [s].
    pub fn positions(&self, time: f64) -> Vec<DVec3> {
        let after = self.times.partition_point(|&frame| frame <= time);
        if after == 0 || after == self.times.len() {
            return self.frames[after.saturating_sub(1)].to_vec();
        }
        let [start, end] = [self.times[after - 1], self.times[after]];
        let part = (time - start) / (end - start);
        let pairs = self.frames[after - 1].iter().zip(&*self.frames[after]);
        pairs.map(|(a, b)| a.lerp(*b, part)).collect()
    }

    /// The two frames around a time [s], each with its own time and its positions [m]; at a frame, those that follow. Before the
    /// first frame, after the last, and if there is only one, there are none.
    pub fn around(&self, time: f64) -> Option<[(f64, &[DVec3]); 2]> {
        let after = self.times.partition_point(|&frame| frame <= time);
        let frame = |n: usize| (self.times[n], &*self.frames[n]);
        match after {
            0 => None,
            // The last frame itself belongs to what led to it.
            _ if after == self.times.len() => (after > 1 && self.times[after - 1] == time)
                .then(|| [frame(after - 2), frame(after - 1)]),
            _ => Some([frame(after - 1), frame(after)]),
        }
    }

    /// The velocities [m/s] at a time [s]; at a frame, those that lead to it.
    pub fn velocities(&self, time: f64) -> Vec<DVec3> {
        let after = self.times.partition_point(|&frame| frame < time);
        if after == 0 || after == self.times.len() {
            return vec![DVec3::ZERO; self.vertex_count()];
        }
        let duration = self.times[after] - self.times[after - 1];
        let pairs = self.frames[after - 1].iter().zip(&*self.frames[after]);
        pairs.map(|(a, b)| (*b - *a) / duration).collect()
    }

    /// The frames strictly between two times [s]: where vertices change their direction.
    pub fn turns(&self, start: f64, end: f64) -> impl Iterator<Item = f64> + '_ {
        self.times.iter().copied().filter(move |&time| start < time && time < end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vertices_go_straight_from_frame_to_frame_and_rest_outside() {
        let frames = [0.0, 1.0, 3.0].map(|time| (time, vec![DVec3::splat(time * time)]));
        let deformation = Deformation::new(frames.to_vec()).unwrap();
        for (time, wanted) in
            [(-1.0, 0.0), (0.5, 0.5), (1.0, 1.0), (2.0, 5.0), (3.0, 9.0), (4.0, 9.0)]
        {
            assert_eq!(deformation.positions(time), [DVec3::splat(wanted)], "{time}");
        }
        for (time, wanted) in
            [(-1.0, 0.0), (0.5, 1.0), (1.0, 1.0), (2.0, 4.0), (3.0, 4.0), (4.0, 0.0)]
        {
            assert_eq!(deformation.velocities(time), [DVec3::splat(wanted)], "{time}");
        }
        let times = |time: f64| deformation.around(time).map(|ends| ends.map(|(time, _)| time));
        for (time, wanted) in [
            (-1.0, None),
            (0.0, Some([0.0, 1.0])),
            (1.0, Some([1.0, 3.0])),
            (2.0, Some([1.0, 3.0])),
            (3.0, Some([1.0, 3.0])),
            (4.0, None),
        ] {
            assert_eq!(times(time), wanted, "{time}");
        }
        assert_eq!(deformation.turns(0.0, 3.0).collect::<Vec<_>>(), [1.0]);
    }

    #[test]
    fn frames_that_do_not_fit_are_refused() {
        let frame = |time: f64, count: usize| (time, vec![DVec3::ZERO; count]);
        assert!(Deformation::new(vec![]).is_err());
        assert!(Deformation::new(vec![frame(0.0, 3), frame(0.0, 3)]).is_err());
        assert!(Deformation::new(vec![frame(0.0, 3), frame(1.0, 2)]).is_err());
        assert!(Deformation::new(vec![frame(f64::NAN, 3)]).is_err());
        let bad = Deformation::new(vec![(0.0, vec![DVec3::ZERO, DVec3::NAN])]).unwrap_err();
        assert!(bad.to_string().contains("vertex 1"), "{bad}");
    }
}
