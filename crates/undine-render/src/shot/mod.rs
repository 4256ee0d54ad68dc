//! What a picture shows, and from where: a [`Shot`] of Subjects, whose data is borrowed.

mod camera;
mod colouring;
mod curves;
mod light;
mod mesh;
mod places;
mod points;
mod volume;

pub use camera::{Camera, Framing};
pub use colouring::{Colouring, Numbers};
pub use curves::Curves;
pub use light::Light;
pub use mesh::{Finish, Mesh};
pub use places::{Places, Vectors};
pub use points::{PointChunk, Points, Radii};
pub use volume::{Chunk, Volume};

use undine_core::glam::{DVec3, Vec3};
use undine_core::mesh::Bounds;

/// One thing in a picture.
#[derive(Debug, Clone)]
pub enum Subject<'a> {
    /// Points, as shaded spheres.
    Points(Points<'a>),
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
    /// How wide they are [pixels].
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
            Self::Points(points) => points.bounds(),
            Self::Mesh(mesh) => mesh.bounds(),
            Self::Curves(curves) => curves.positions.bounds(),
            Self::Volume(volume) => volume.bounds(),
            Self::Lines(lines) => bounds_of(lines.ends.iter().flatten().copied()),
        }
    }
}

/// The box around all Subjects; none if there is nothing to see.
pub fn bounds(subjects: &[Subject<'_>]) -> Option<Bounds> {
    subjects.iter().filter_map(Subject::bounds).reduce(Bounds::union)
}

/// The box around those places that are some.
pub(crate) fn bounds_of(places: impl Iterator<Item = DVec3>) -> Option<Bounds> {
    Bounds::around(places.filter(|place| place.is_finite()))
}
