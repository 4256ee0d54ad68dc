//! All that is opaque in a Shot, as primitives with one number each.

use super::isosurface::Isosurface;
use super::spheres::{Spheres, Turn};
use super::target::Target;
use super::triangles::{Known, Triangles};
use super::tubes::Tubes;
use super::view::{Ray, View};
use crate::error::{RenderError, Result};
use crate::shot::{Appearance, Finish, Lines, Subject};
use undine_core::glam::Vec3;

/// What a kind of Subject tells of its primitives.
pub(crate) trait Primitives: Sync {
    /// How many there are.
    fn len(&self) -> usize;

    /// Draws all as they are at a moment [s from the frame]; the number of the first is `first`.
    fn draw<T: Target>(&self, view: &View, moment: f32, first: u32, target: &T);

    /// Where a line of sight meets one of them that it was seen to meet, or nearly did.
    fn hit(&self, primitive: usize, view: &View, moment: f32, ray: &Ray) -> Hit;
}

/// What a line of sight meets.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Hit {
    /// At which depth [m].
    pub depth: f32,
    /// Which way the surface looks there, of length 1.
    pub normal: Vec3,
    /// Its colour, linear.
    pub colour: Vec3,
    /// How fast it moves [m/s].
    pub velocity: Vec3,
    /// Along the strand, if it scatters light as hair does.
    pub tangent: Option<Vec3>,
    /// Whether light makes it darker or lighter.
    pub is_lit: bool,
}

/// A kind of primitives.
enum Kind<'a> {
    Spheres(Spheres<'a>),
    Tubes(Tubes<'a>),
    Lines(&'a Lines),
    Triangles(Triangles<'a>),
    Isosurface(Isosurface<'a>),
}

/// All that is opaque, with the number of the first primitive of each.
pub(crate) struct Scenery<'a> {
    kinds: Vec<(u32, Kind<'a>)>,
}

impl<'a> Scenery<'a> {
    /// Of what is opaque among some Subjects.
    pub fn of(subjects: &'a [Subject<'a>], known: &mut Known) -> Result<Self> {
        let mut kinds = Vec::new();
        let mut count = 0u64;
        for subject in subjects {
            subject.check()?;
            let kind = match subject {
                Subject::Points(points) => Kind::Spheres(Spheres::of(points, true)),
                Subject::Splats(points) => Kind::Spheres(Spheres::of(points, false)),
                Subject::Curves(curves) => Kind::Tubes(Tubes::of(curves)),
                Subject::Lines(lines) => Kind::Lines(lines),
                Subject::Mesh(mesh) if matches!(mesh.finish, Finish::Solid | Finish::Room) => {
                    Kind::Triangles(Triangles::of(mesh, known)?)
                }
                Subject::Volume(volume) => match &volume.appearance {
                    Appearance::Surface { level, colouring } => {
                        Kind::Isosurface(Isosurface::of(volume, *level, colouring)?)
                    }
                    _ => continue,
                },
                Subject::Mesh(_) => continue,
            };
            kinds.push((count as u32, kind));
            count += match &kinds[kinds.len() - 1].1 {
                Kind::Spheres(spheres) => spheres.len() as u64,
                Kind::Tubes(tubes) => tubes.len() as u64,
                Kind::Lines(lines) => Primitives::len(lines) as u64,
                Kind::Triangles(triangles) => triangles.len() as u64,
                Kind::Isosurface(surface) => surface.len() as u64,
            };
            if count >= u64::from(u32::MAX) {
                return Err(RenderError::TooMany { count, most: u64::from(u32::MAX) - 1 });
            }
        }
        Ok(Self { kinds })
    }

    /// Whether there is nothing.
    pub fn is_empty(&self) -> bool {
        self.kinds.is_empty()
    }

    /// Begins a pass.
    pub fn begin(&mut self, turn: Turn) {
        for (_, kind) in &mut self.kinds {
            if let Kind::Spheres(spheres) = kind {
                spheres.turn = turn;
            }
        }
    }

    /// Draws all.
    pub fn draw<T: Target>(&self, view: &View, moment: f32, target: &T) {
        self.draw_casters(view, moment, target);
        for (first, kind) in &self.kinds {
            if let Kind::Lines(lines) = kind {
                lines.draw(view, moment, *first, target);
            }
        }
    }

    /// Draws all that casts shadows.
    pub fn draw_casters<T: Target>(&self, view: &View, moment: f32, target: &T) {
        for (first, kind) in &self.kinds {
            match kind {
                Kind::Spheres(spheres) => spheres.draw(view, moment, *first, target),
                Kind::Tubes(tubes) => tubes.draw(view, moment, *first, target),
                Kind::Lines(_) => {}
                Kind::Triangles(triangles) => triangles.draw(view, moment, *first, target),
                Kind::Isosurface(surface) => surface.draw(view, moment, *first, target),
            }
        }
    }

    /// What a line of sight meets in a primitive.
    pub fn hit(&self, primitive: u32, view: &View, moment: f32, ray: &Ray) -> Hit {
        let after = self.kinds.partition_point(|(first, _)| *first <= primitive);
        let (first, kind) = &self.kinds[after - 1];
        let primitive = (primitive - first) as usize;
        match kind {
            Kind::Spheres(spheres) => spheres.hit(primitive, view, moment, ray),
            Kind::Tubes(tubes) => tubes.hit(primitive, view, moment, ray),
            Kind::Lines(lines) => lines.hit(primitive, view, moment, ray),
            Kind::Triangles(triangles) => triangles.hit(primitive, view, moment, ray),
            Kind::Isosurface(surface) => surface.hit(primitive, view, moment, ray),
        }
    }
}
