//! What a picture shows, and from where: a [`Shot`] of Subjects, whose data is borrowed.

mod camera;
mod colouring;
mod curves;
mod from_grids;
mod light;
mod mesh;
mod places;
mod points;
mod volume;

pub use camera::{Camera, Framing};
pub use colouring::{Colouring, Numbers};
pub use curves::Curves;
pub use light::Light;
pub use mesh::{Finish, Mesh, Turning};
pub use places::{Places, Vectors};
pub use points::{PointChunk, Points, Radii};
pub use volume::{Appearance, Chunk, Volume};

use crate::error::{RenderError, Result};
use rayon::prelude::*;
use undine_core::glam::{DVec3, Vec3};
use undine_core::mesh::Bounds;

/// One thing in a picture.
#[derive(Debug, Clone)]
pub enum Subject<'a> {
    /// Points, as shaded spheres.
    Points(Points<'a>),
    /// Points, as flat discs of their colour that light does not change.
    Splats(Points<'a>),
    /// A mesh of triangles.
    Mesh(Mesh<'a>),
    /// Curves, as shaded tubes.
    Curves(Curves<'a>),
    /// A volume of smoke or fire.
    Volume(Volume<'a>),
    /// Thin lines, the same width however far away.
    Lines(Lines),
}

/// Thin lines, not lit: boxes of Buckets, axes.
#[derive(Debug, Clone, Default)]
pub struct Lines {
    /// Both ends of each, in the world [m].
    pub ends: Vec<[DVec3; 2]>,
    /// The colour of each, linear.
    pub colours: Vec<Vec3>,
    /// How wide they are \[pixels\].
    pub width: f32,
}

/// A plane that things stand on.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ground {
    /// A point of it [m].
    pub point: DVec3,
    /// Which way it looks, of length 1.
    pub normal: Vec3,
}

/// What a picture shows.
#[derive(Debug, Clone)]
pub struct Shot<'a> {
    /// What there is.
    pub subjects: Vec<Subject<'a>>,
    /// From where it is seen.
    pub camera: Camera,
    /// What lights it.
    pub light: Light,
    /// What it stands on, if anything. Infinite planes are grounds, too.
    pub grounds: Vec<Ground>,
    /// How long the shutter is open [s]; 0 for none of the blur of motion. The frame is the middle of it.
    pub shutter: f32,
}

impl Subject<'_> {
    /// The box around what is finite of it; none if nothing is.
    pub fn bounds(&self) -> Option<Bounds> {
        match self {
            Self::Points(points) | Self::Splats(points) => {
                points.bounds().map(|bounds| self.thickened(bounds))
            }
            Self::Mesh(mesh) => mesh.bounds(),
            Self::Curves(curves) => curves.positions.bounds().map(|bounds| self.thickened(bounds)),
            Self::Volume(volume) => volume.bounds(),
            Self::Lines(lines) => bounds_of(lines.ends.iter().flatten().copied()),
        }
    }

    /// Checks that each point and each point of a curve has all its channels.
    pub(crate) fn check(&self) -> Result<()> {
        match self {
            Self::Points(points) | Self::Splats(points) => {
                points.chunks.iter().try_for_each(|of| {
                    let (count, radii) = (of.positions.len(), of.radii);
                    fits("points", count, radii, of.velocities, of.values)
                })
            }
            Self::Curves(of) => {
                fits("points of curves", of.positions.len(), of.radii, of.velocities, of.values)
            }
            Self::Mesh(_) | Self::Volume(_) | Self::Lines(_) => Ok(()),
        }
    }

    /// A box around the middles of spheres or tubes, made as much larger as the thickest of them is thick.
    fn thickened(&self, bounds: Bounds) -> Bounds {
        let radius = match self {
            Self::Points(points) | Self::Splats(points) => {
                let largest = points.chunks.par_iter().map(|chunk| chunk.radii.largest());
                largest.reduce(|| 0.0, f32::max)
            }
            Self::Curves(curves) => curves.radii.largest(),
            _ => 0.0,
        };
        let more = DVec3::splat(f64::from(radius));
        Bounds { min: bounds.min - more, max: bounds.max + more }
    }
}

/// Refuses channels that are longer or shorter than the positions of their points.
fn fits(
    what: &str,
    count: usize,
    radii: Radii<'_>,
    velocities: Option<Vectors<'_>>,
    values: Option<Numbers<'_>>,
) -> Result<()> {
    let radii = match radii {
        Radii::Same(_) => None,
        Radii::Each(radii) => Some(radii.len()),
    };
    let velocities = velocities.map(|velocities| velocities.len());
    let lengths =
        [("radii", radii), ("velocities", velocities), ("values", values.map(|all| all.len()))];
    let misfit = lengths.into_iter().find(|(_, length)| length.is_some_and(|n| n != count));
    match misfit {
        None => Ok(()),
        Some((channel, length)) => Err(RenderError::Asked {
            what: format!("the number of {channel} of {what}"),
            found: length.unwrap_or(0).to_string(),
            wanted: format!("there are {count} positions"),
        }),
    }
}

/// The box around all Subjects; none if there is nothing to see.
pub fn bounds(subjects: &[Subject<'_>]) -> Option<Bounds> {
    subjects.iter().filter_map(Subject::bounds).reduce(Bounds::union)
}

/// The box around most of some places, without the outermost 0.25 % along each axis, so that a few stray ones do not make all others
/// small in a picture. Of many it looks at an even choice.
pub fn most_of(chunks: &[Places<'_>]) -> Option<Bounds> {
    const MOST: usize = 1 << 16;
    const OUTSIDE: usize = 400;
    let count: usize = chunks.iter().map(Places::len).sum();
    let step = count.div_ceil(MOST).max(1);
    let mut places = Vec::with_capacity(count / step + 1);
    let mut skipped = 0;
    for chunk in chunks {
        places.extend((skipped..chunk.len()).step_by(step).map(|n| chunk.at(n)));
        // The next chunk goes on where this one's last step leads to.
        skipped = match chunk.len() > skipped {
            true => (step - (chunk.len() - skipped) % step) % step,
            false => skipped - chunk.len(),
        };
    }
    places.retain(|place| place.is_finite());
    let outside = places.len() / OUTSIDE;
    let last = places.len().checked_sub(1)? - outside;
    let mut ends = |axis: usize| {
        let by_axis = |a: &DVec3, b: &DVec3| a[axis].total_cmp(&b[axis]);
        let low = places.select_nth_unstable_by(outside, by_axis).1[axis];
        (low, places.select_nth_unstable_by(last, by_axis).1[axis])
    };
    let (x, y, z) = (ends(0), ends(1), ends(2));
    Some(Bounds { min: DVec3::new(x.0, y.0, z.0), max: DVec3::new(x.1, y.1, z.1) })
}

/// The box around those places that are some.
pub(crate) fn bounds_of(places: impl Iterator<Item = DVec3>) -> Option<Bounds> {
    Bounds::around(places.filter(|place| place.is_finite()))
}
