//! Meshes of triangles, lit on both sides, smooth where they bend a little and sharp where they bend a lot.

use super::fill::Raster;
use super::normals::VertexNormals;
use super::primitives::{Hit, Primitives};
use super::target::Target;
use super::view::{Ray, View};
use crate::error::{RenderError, Result};
use crate::image::Size;
use crate::shot::{Finish, Mesh, Places};
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::sync::Arc;
use undine_core::glam::{DMat3, DVec3, Mat3, Vec3};

/// How many triangles a thread takes at once.
const PIECE: usize = 1 << 12;

/// The cosine of 20°, half of the sharpest edge that is surely smooth: across one the vertex's normal is as far from either triangle.
const SMOOTH: f32 = 0.939_692_6;

/// The cosine of 30°: a vertex whose normal is farther from that of a triangle does not change it.
const SHARP: f32 = 0.866_025_4;

/// A mesh of triangles.
pub(crate) struct Triangles<'a> {
    mesh: &'a Mesh<'a>,
    /// Those of the vertices, if they were not given.
    normals: Option<Arc<VertexNormals>>,
    /// Turns a normal of the mesh's own coordinates into the world, if they are not the world's.
    turning: Option<Mat3>,
    /// Whether being placed turns it inside out.
    is_mirrored: bool,
}

/// The normals of meshes that are shown several times, by where their data is.
#[derive(Default)]
pub(crate) struct Known(BTreeMap<[usize; 4], Arc<VertexNormals>>);

impl Known {
    fn normals(&mut self, mesh: &Mesh<'_>) -> Arc<VertexNormals> {
        let (positions, corner) = match mesh.positions {
            Places::Offsets { offsets, .. } => (offsets.as_ptr() as usize, 0),
            Places::World(places) => (places.as_ptr() as usize, 1),
        };
        let key = [positions, corner, mesh.triangles.as_ptr() as usize, mesh.triangles.len()];
        let made = || Arc::new(VertexNormals::of(mesh.positions, &mesh.triangles));
        Arc::clone(self.0.entry(key).or_insert_with(made))
    }
}

impl<'a> Triangles<'a> {
    /// Checks that every triangle has its vertices, and every vertex its channels.
    pub fn of(mesh: &'a Mesh<'a>, known: &mut Known) -> Result<Self> {
        let vertices = mesh.positions.len();
        let last = mesh.triangles.par_iter().map(|corners| corners.iter().max()).max().flatten();
        let asked = |what: &str, found: String| {
            let wanted = format!("the mesh has {vertices} vertices");
            Err(RenderError::Asked { what: what.into(), found, wanted })
        };
        if let Some(last) = last.filter(|last| **last as usize >= vertices) {
            return asked("the last vertex of a triangle", format!("number {last}"));
        }
        let lengths = [
            ("the number of normals of a mesh", mesh.normals.map(|normals| normals.len())),
            ("the number of velocities of a mesh", mesh.velocities.map(|all| all.len())),
            ("the number of values of a mesh", mesh.values.map(|values| values.len())),
        ];
        for (what, length) in lengths {
            if let Some(length) = length.filter(|length| *length != vertices) {
                return asked(what, length.to_string());
            }
        }
        let is_computed = mesh.smooth && mesh.normals.is_none();
        let placed = mesh.placed.map_or(DMat3::IDENTITY, |(turned, _)| turned);
        let determinant = placed.determinant();
        // The cofactors: the inverse transposed, also of what has no inverse.
        let cofactors = DMat3::from_cols(
            placed.y_axis.cross(placed.z_axis),
            placed.z_axis.cross(placed.x_axis),
            placed.x_axis.cross(placed.y_axis),
        );
        let scale =
            cofactors.to_cols_array().into_iter().fold(0.0f64, |most, part| most.max(part.abs()));
        Ok(Self {
            mesh,
            normals: is_computed.then(|| known.normals(mesh)),
            turning: mesh
                .placed
                .map(|_| (cofactors * if scale > 0.0 { 1.0 / scale } else { 1.0 }).as_mat3()),
            is_mirrored: determinant < 0.0,
        })
    }

    /// Hands out the pixels of all triangles: x, y, depth, number, and whether a front is seen.
    pub fn scan<P>(&self, view: &View, moment: f32, size: Size, put: &P)
    where
        P: Fn(usize, usize, f32, u32, bool) + Sync,
    {
        let raster = Raster::new(view, size);
        let placed = self.placed(moment);
        self.mesh.triangles.par_chunks(PIECE).enumerate().for_each(|(piece, triangles)| {
            for (n, triangle) in triangles.iter().enumerate() {
                // Written out, because closures over arrays are not always inlined.
                let [a, b, c] = *triangle;
                let turned = [
                    view.turned(self.place(a as usize, view, moment, &placed)),
                    view.turned(self.place(b as usize, view, moment, &placed)),
                    view.turned(self.place(c as usize, view, moment, &placed)),
                ];
                let number = (piece * PIECE + n) as u32;
                raster.triangle(turned, &|x, y, depth, is_front| {
                    put(x, y, depth, number, is_front != self.is_mirrored);
                });
            }
        });
    }

    /// What its coordinates are turned by at a moment, and then moved by [m].
    fn placed(&self, moment: f32) -> Option<(DMat3, DVec3)> {
        let placed = self.mesh.placed;
        match self.mesh.turning {
            Some(turning) if moment != 0.0 => {
                let (further, along) = turning.until(f64::from(moment));
                let (turned, moved) = placed.unwrap_or((DMat3::IDENTITY, DVec3::ZERO));
                Some((further * turned, further * moved + along))
            }
            _ => placed,
        }
    }

    /// Where a vertex is at a moment, seen from the eye.
    #[inline(always)]
    fn place(&self, n: usize, view: &View, moment: f32, placed: &Option<(DMat3, DVec3)>) -> Vec3 {
        let place = match placed {
            None => self.mesh.positions.from_eye(n, view.eye),
            Some((turned, moved)) => {
                (*turned * self.mesh.positions.at(n) + (*moved - view.eye)).as_vec3()
            }
        };
        match self.mesh.velocities {
            Some(velocities) if moment != 0.0 => place + moment * velocities.at(n),
            _ => place,
        }
    }

    /// Which way it looks at a point of a triangle, given by the weights of its vertices; turned as the triangle, which looks along `face`.
    #[inline(always)]
    fn normal(&self, triangle: [usize; 3], weights: Vec3, face: Vec3, moment: f32) -> Vec3 {
        // Written out, because closures over arrays are not always inlined.
        let [a, b, c] = triangle;
        // Normals are those of the middle of the shutter's time: back to where the face was then, and with it again.
        let further = match self.mesh.turning {
            Some(turning) if moment != 0.0 && self.mesh.smooth => {
                turning.until(f64::from(moment)).0.as_mat3()
            }
            _ => return self.normal_at_rest([a, b, c], weights, face),
        };
        further * self.normal_at_rest([a, b, c], weights, further.transpose() * face)
    }

    /// The same, for a mesh where it is in the middle of the shutter's time.
    #[inline(always)]
    fn normal_at_rest(&self, triangle: [usize; 3], weights: Vec3, face: Vec3) -> Vec3 {
        let [a, b, c] = triangle;
        let corners = match (&self.normals, self.mesh.normals) {
            _ if !self.mesh.smooth => return face,
            (_, Some(given)) => [
                self.along_face(given.at(a).normalize_or_zero(), face),
                self.along_face(given.at(b).normalize_or_zero(), face),
                self.along_face(given.at(c).normalize_or_zero(), face),
            ],
            (Some(normals), _) => [
                smoothed(self.along_face(normals.at(a), face), face),
                smoothed(self.along_face(normals.at(b), face), face),
                smoothed(self.along_face(normals.at(c), face), face),
            ],
            (None, None) => return face,
        };
        let [a, b, c] = corners;
        (weights.x * a + weights.y * b + weights.z * c).normalize_or(face)
    }

    /// A normal of length 1 in the world, on the side of the face; the face's own if it is 0.
    #[inline(always)]
    fn along_face(&self, normal: Vec3, face: Vec3) -> Vec3 {
        let normal = match &self.turning {
            Some(turning) => (*turning * normal).normalize_or_zero(),
            None => normal,
        };
        let normal = if normal == Vec3::ZERO { face } else { normal };
        if normal.dot(face) < 0.0 { -normal } else { normal }
    }
}

/// The normal of a vertex as a triangle takes it: its own where the edge is sharp.
#[inline(always)]
fn smoothed(normal: Vec3, face: Vec3) -> Vec3 {
    let smooth = ((normal.dot(face) - SHARP) / (SMOOTH - SHARP)).clamp(0.0, 1.0);
    face.lerp(normal, smooth)
}

impl Primitives for Triangles<'_> {
    fn len(&self) -> usize {
        self.mesh.triangles.len()
    }

    fn draw<T: Target>(&self, view: &View, moment: f32, first: u32, target: &T) {
        let is_room = self.mesh.finish == Finish::Room;
        self.scan(view, moment, target.size(), &|x, y, depth, triangle, is_front| {
            if is_front || !is_room {
                target.put(x, y, depth, first + triangle);
            }
        });
    }

    fn hit(&self, primitive: usize, view: &View, moment: f32, ray: &Ray) -> Hit {
        let [a, b, c] = self.mesh.triangles[primitive];
        let triangle = [a as usize, b as usize, c as usize];
        let placed = self.placed(moment);
        let a = self.place(triangle[0], view, moment, &placed).as_dvec3();
        let b = self.place(triangle[1], view, moment, &placed).as_dvec3();
        let c = self.place(triangle[2], view, moment, &placed).as_dvec3();
        let (to_b, to_c) = (b - a, c - a);
        // Scaled first, so that the squares of what is small are not lost in 32 bits.
        let across = to_b.cross(to_c);
        let scale = 1.0 / across.abs().max_element();
        let face = (scale * across).as_vec3().normalize_or(-view.forward);
        let exact = weights(a, to_b, to_c, ray);
        let weights = exact.as_vec3();
        // The side that is seen is the one that is lit.
        let face = if face.dot(ray.direction) > 0.0 { -face } else { face };
        let towards = -ray.direction.normalize();
        let normal = self.normal(triangle, weights, face, moment);
        // A smooth normal may look away from the eye near the outline; there it is turned back until it is seen edge-on.
        let hidden = normal.dot(towards);
        let normal = match hidden < 0.0 {
            true => (normal - 1.001 * hidden * towards).normalize_or(face),
            false => normal,
        };
        let mixed = |of: &dyn Fn(usize) -> f32| {
            weights.dot(Vec3::new(of(triangle[0]), of(triangle[1]), of(triangle[2])))
        };
        let value = self.mesh.values.map(|values| mixed(&|n| values.at(n)));
        let velocity = self.mesh.velocities.map_or(Vec3::ZERO, |velocities| {
            let [a, b, c] = triangle.map(|n| velocities.at(n));
            weights.x * a + weights.y * b + weights.z * c
        });
        let velocity = velocity
            + self.mesh.turning.map_or(Vec3::ZERO, |turning| {
                let at = view.eye + exact.x * a + exact.y * b + exact.z * c;
                (turning.velocity + turning.spin.cross(at - turning.about)).as_vec3()
            });
        let place = exact.x * a + exact.y * b + exact.z * c;
        Hit {
            depth: place.dot(view.forward.as_dvec3()) as f32,
            normal,
            colour: self.mesh.colouring.of(value),
            velocity,
            tangent: None,
            is_lit: true,
        }
    }
}

/// The weights of the corners where a line of sight meets a triangle; if it misses by a little, at a point of the triangle nearby. Of 64
/// bits, because a triangle may be a million times larger than what is seen of it.
#[inline(always)]
fn weights(a: DVec3, to_b: DVec3, to_c: DVec3, ray: &Ray) -> DVec3 {
    // Möller & Trumbore 1997.
    let direction = ray.direction.as_dvec3();
    let p = direction.cross(to_c);
    let determinant = to_b.dot(p);
    let from = ray.origin.as_dvec3() - a;
    let q = from.cross(to_b);
    let per = 1.0 / determinant;
    let (u, v) = (from.dot(p) * per, direction.dot(q) * per);
    if !(u.is_finite() && v.is_finite()) {
        return DVec3::splat(1.0 / 3.0);
    }
    let weights = DVec3::new(1.0 - u - v, u, v).clamp(DVec3::ZERO, DVec3::ONE);
    let sum = weights.element_sum();
    if sum > 0.0 { (1.0 / sum) * weights } else { DVec3::splat(1.0 / 3.0) }
}
