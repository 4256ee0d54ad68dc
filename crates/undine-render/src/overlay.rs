//! Lines over what is simulated: the boxes of Buckets, by level or by process, and axes.

use crate::shot::Lines;
use undine_core::glam::{DVec3, Vec3};
use undine_core::mesh::Bounds;

/// A Bucket to draw.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BucketBox {
    /// Where it is [m].
    pub bounds: Bounds,
    /// How many times it was halved or doubled against others.
    pub level: usize,
    /// The process that owns it.
    pub process: usize,
}

/// What the colour of a Bucket's box tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BucketColour {
    /// Nothing: all are alike.
    Same,
    /// Its level.
    Level,
    /// Its process.
    Process,
}

/// Colours that are told apart easily, also by those who see few of them (Okabe & Ito 2008), linear.
const COLOURS: [Vec3; 7] = [
    Vec3::new(0.0, 0.168, 0.445),
    Vec3::new(0.665, 0.112, 0.0),
    Vec3::new(0.0, 0.342, 0.171),
    Vec3::new(0.604, 0.191, 0.386),
    Vec3::new(0.791, 0.347, 0.0),
    Vec3::new(0.093, 0.456, 0.815),
    Vec3::new(0.871, 0.776, 0.054),
];

/// The edges of the boxes of Buckets.
pub fn buckets(boxes: &[BucketBox], colour: BucketColour, width: f32) -> Lines {
    let mut lines = Lines { width, ..Lines::default() };
    for bucket in boxes {
        let number = match colour {
            BucketColour::Same => 0,
            BucketColour::Level => bucket.level,
            BucketColour::Process => bucket.process,
        };
        push_box(&mut lines, &bucket.bounds, COLOURS[number % COLOURS.len()]);
    }
    lines
}

/// Adds the twelve edges of a box.
fn push_box(lines: &mut Lines, bounds: &Bounds, colour: Vec3) {
    let corners = bounds.corners();
    for from in 0..8usize {
        // The bits of a corner's number say which side it is on: an edge changes one of them.
        for bit in [1, 2, 4] {
            if from & bit == 0 {
                lines.ends.push([corners[from], corners[from | bit]]);
                lines.colours.push(colour);
            }
        }
    }
}

/// Axes from a point: x red, y green, z blue.
pub fn axes(origin: DVec3, length: f64, width: f32) -> Lines {
    let axis = |direction: DVec3| [origin, origin + length * direction];
    Lines {
        ends: vec![axis(DVec3::X), axis(DVec3::Y), axis(DVec3::Z)],
        colours: vec![
            Vec3::new(0.7, 0.05, 0.05),
            Vec3::new(0.08, 0.45, 0.06),
            Vec3::new(0.04, 0.14, 0.75),
        ],
        width,
    }
}
