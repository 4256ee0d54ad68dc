//! Places on the surfaces of Objects: the closest one to a point, and where it is when the surface has moved on.
//!
//! A surface is what an Object offers as one: triangles between its boundary particles, the forms of its bodies, or a collider. A place
//! on triangles that move by themselves is Σ wᵢ xᵢ of their corners, with the frame of the triangle; one on what moves as a whole is fixed
//! to it.

use crate::action::constraint::Places;
use crate::constraint::Placed;
use crate::coupling;
use crate::error::{Result, SimError};
use crate::newton::Pose;
use crate::offers::{ObjectId, Offers, SolidBodies};
use crate::world::World;
use undine_core::glam::{DQuat, DVec3};
use undine_core::mesh::Bounds;
use undine_geometry::bvh::Bvh;
use undine_geometry::collider::Collider;
use undine_geometry::triangle::{frame, has_area};
use undine_geometry::{Pose as Whereabouts, Triangles};

/// A place on the surface of an Object, that moves with it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Place {
    /// On a triangle.
    Between {
        /// Its corners: ids of boundary particles, or numbers of a collider's vertices.
        corners: [u64; 3],
        /// Their weights, which sum to 1.
        weights: [f64; 3],
    },
    /// On what moves as a whole.
    Fixed {
        /// Which of several bodies.
        body: u64,
        /// Where on it [m]: from its centre along its principal axes, or in the coordinates of a collider.
        offset: DVec3,
    },
}

/// The place of a surface that is the closest to a point.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Closest {
    /// The place.
    pub place: Place,
    /// Where it is now.
    pub at: Placed,
    /// How far from the point [m].
    pub distance: f64,
}

impl Place {
    /// Of parts that move by themselves, the one that it is on.
    pub fn part(&self) -> u64 {
        match self {
            Self::Between { .. } => 0,
            Self::Fixed { body, .. } => *body,
        }
    }
}

/// Whether an Object that offers this has a surface.
pub fn is_offered(offers: &Offers) -> bool {
    offers.triangles.as_ref().is_some_and(|triangles| !triangles.is_empty())
        || offers.solids.is_some()
        || offers.collider.is_some()
}

/// The surface of an Object, where it is now.
pub struct Surface<'a> {
    form: Form<'a>,
}

enum Form<'a> {
    /// Triangles, with the names of their corners, and how many others were left out.
    Mesh { tree: Bvh, corners: Vec<[u64; 3]>, flat: usize },
    /// Bodies.
    Bodies { forms: &'a [Collider], bodies: Vec<Body> },
    /// What a collider is, if it is no mesh, moved as a whole.
    Whole { form: &'a Collider, pose: Whereabouts },
}

/// A body where it is now.
struct Body {
    pose: Pose,
    /// From the axes of its form to the principal ones.
    principal: DQuat,
    /// Where its centre is in the form [m].
    pivot: DVec3,
    /// A box around its form, in the form's coordinates.
    bounds: Option<Bounds>,
}

impl<'a> Surface<'a> {
    /// The surface of an Object at a time [s], which is that of the World; none if it offers none, or there is nothing of it now.
    pub fn of(world: &'a World, object: ObjectId, time: f64) -> Result<Option<Self>> {
        let entry = world.object(object);
        let Offers { boundary, triangles, solids, collider, .. } = &entry.offers;
        let form = if let (Some(boundary), Some(triangles)) = (boundary, triangles)
            && !triangles.is_empty()
        {
            let ids = coupling::ids(world, boundary)?;
            let by_id = Places::of(&ids);
            let number = |triangle: &[u64; 3]| -> Option<[u32; 3]> {
                let [a, b, c] = triangle.map(|id| by_id.get(id));
                Some([a?, b?, c?])
            };
            let indices = triangles.iter().filter_map(number).collect();
            let mesh = Triangles::new(coupling::places(world, boundary, 0.0)?, indices)?;
            Form::of_mesh(mesh, &entry.path, |vertex| ids[vertex as usize])?
        } else if let Some(solids) = solids {
            Form::Bodies { forms: &solids.forms, bodies: Body::all(world, solids)? }
        } else if let Some(form) = collider.and_then(|collider| world.colliders[collider].as_ref())
        {
            match form.mesh_at(time)? {
                Some(mesh) => Form::of_mesh(mesh, &entry.path, u64::from)?,
                None if form.has_surface() => Form::Whole { form, pose: form.pose(time) },
                None => {
                    let what = "this is a level set, which has no triangles to be attached to";
                    let help = "make a surface of its input, or attach to `anchors`";
                    return Err(SimError::setup(&entry.path, what, help));
                }
            }
        } else {
            return Ok(None);
        };
        Ok(Some(Self { form }))
    }

    /// The closest place to a point [m] that is no farther than `within` [m] and not on the part `but`.
    pub fn closest(&self, at: DVec3, within: f64, but: Option<u64>) -> Option<Closest> {
        let mut closest: Option<Closest> = None;
        for part in 0..self.parts() {
            let within = closest.map_or(within, |closest| closest.distance);
            if but != Some(part as u64)
                && let Some(found) = self.closest_on(part, at, within)
                && closest.is_none_or(|closest| found.distance < closest.distance)
            {
                closest = Some(found);
            }
        }
        closest
    }

    /// The closest place on each part that moves by itself, but for the part `but`, of those that are no farther than `within` [m].
    pub fn closest_of_each(
        &self,
        at: DVec3,
        within: f64,
        but: Option<u64>,
    ) -> impl Iterator<Item = Closest> {
        let parts = (0..self.parts()).filter(move |part| but != Some(*part as u64));
        parts.filter_map(move |part| self.closest_on(part, at, within))
    }

    /// How many triangles have no area, so that nothing is attached to them.
    pub fn flat_triangles(&self) -> usize {
        match self.form {
            Form::Mesh { flat, .. } => flat,
            Form::Bodies { .. } | Form::Whole { .. } => 0,
        }
    }

    /// How many parts of it move by themselves.
    fn parts(&self) -> usize {
        match &self.form {
            Form::Bodies { bodies, .. } => bodies.len(),
            Form::Mesh { .. } | Form::Whole { .. } => 1,
        }
    }

    fn closest_on(&self, part: usize, at: DVec3, within: f64) -> Option<Closest> {
        let found = match &self.form {
            Form::Mesh { tree, corners, .. } => {
                let closest = tree.closest_within(at, within)?;
                let (triangle, weights) = (closest.triangle as usize, closest.weights);
                let place = Place::Between { corners: corners[triangle], weights };
                let at = between(tree.triangles().corners(triangle), weights);
                (place, at)
            }
            Form::Bodies { forms, bodies } => bodies[part].closest(part, forms, at, within)?,
            Form::Whole { form, pose } => {
                let offset = form.closest(pose.to_local(at), within)?;
                let place = Place::Fixed { body: 0, offset };
                (place, Placed { x: pose.to_world(offset), frame: pose.matrix() })
            }
        };
        let (place, placed) = found;
        Some(Closest { place, at: placed, distance: placed.x.distance(at) })
    }
}

impl Form<'_> {
    /// Triangles without an area have no frame, and are left out.
    fn of_mesh(mesh: Triangles, path: &str, name: impl Fn(u32) -> u64) -> Result<Self> {
        let (positions, mut indices) = mesh.into_parts();
        let all = indices.len();
        indices.retain(|triangle| has_area(triangle.map(|corner| positions[corner as usize])));
        if indices.is_empty() {
            let what = format!("none of its {all} triangles has an area to be attached to");
            let help = "give a surface, or attach to its points with `on=\"points\"`";
            return Err(SimError::setup(path, what, help));
        }
        let flat = all - indices.len();
        let corners = indices.iter().map(|triangle| triangle.map(&name)).collect();
        Ok(Self::Mesh { tree: Bvh::new(Triangles::new(positions, indices)?)?, corners, flat })
    }
}

impl Body {
    fn all(world: &World, solids: &SolidBodies) -> Result<Vec<Self>> {
        let points = &world.points[solids.bodies.centres.points];
        let (principal, pivot) = (points.column(solids.principal)?, points.column(solids.pivot)?);
        let body = |(n, pose): (usize, Pose)| Self {
            pose,
            principal: principal[n],
            pivot: pivot[n],
            bounds: solids.forms[n % solids.forms.len()].bounds(),
        };
        let poses = coupling::poses(world, &solids.bodies)?;
        Ok(poses.into_iter().enumerate().map(body).collect())
    }

    fn closest(
        &self,
        number: usize,
        forms: &[Collider],
        at: DVec3,
        within: f64,
    ) -> Option<(Place, Placed)> {
        let arm = self.pose.rotation.transpose() * (at - self.pose.centre);
        let local = self.principal * arm + self.pivot;
        if self.bounds.is_some_and(|Bounds { min, max }| {
            (local - local.clamp(min, max)).length_squared() > within * within
        }) {
            return None;
        }
        let point = forms[number % forms.len()].closest(local, within)?;
        let offset = self.principal.inverse() * (point - self.pivot);
        Some((Place::Fixed { body: number as u64, offset }, fixed(&self.pose, offset)))
    }
}

/// Where places on the surface of an Object are at a time [s], which is that of the World; none where there is nothing of it any more.
pub fn placed(
    world: &World,
    object: ObjectId,
    places: &[Place],
    time: f64,
) -> Result<Vec<Option<Placed>>> {
    let Offers { boundary, triangles, solids, collider, .. } = &world.object(object).offers;
    if let (Some(boundary), Some(_)) = (boundary, triangles) {
        let by_id = Places::of(&coupling::ids(world, boundary)?);
        let vertices = coupling::places(world, boundary, 0.0)?;
        let at = |id: u64| Some(vertices[by_id.get(id)? as usize]);
        return Ok(places.iter().map(|place| on_corners(place, at)).collect());
    }
    if let Some(solids) = solids {
        let poses = coupling::poses(world, &solids.bodies)?;
        let on_body = |place: &Place| match place {
            Place::Fixed { body, offset } => Some(fixed(poses.get(*body as usize)?, *offset)),
            Place::Between { .. } => None,
        };
        return Ok(places.iter().map(on_body).collect());
    }
    let Some(form) = collider.and_then(|collider| world.colliders[collider].as_ref()) else {
        return Ok(vec![None; places.len()]);
    };
    let (mesh, pose) = (form.mesh_at(time)?, form.pose(time));
    let on_collider = |place: &Place| match (place, &mesh) {
        (Place::Fixed { offset, .. }, None) => {
            Some(Placed { x: pose.to_world(*offset), frame: pose.matrix() })
        }
        (place, Some(mesh)) => {
            on_corners(place, |vertex| mesh.positions().get(vertex as usize).copied())
        }
        (Place::Between { .. }, None) => None,
    };
    Ok(places.iter().map(on_collider).collect())
}

/// A place that is fixed to a body.
pub fn fixed(pose: &Pose, offset: DVec3) -> Placed {
    Placed { x: pose.centre + pose.rotation * offset, frame: pose.rotation }
}

fn on_corners(place: &Place, at: impl Fn(u64) -> Option<DVec3>) -> Option<Placed> {
    let Place::Between { corners, weights } = place else { return None };
    let [a, b, c] = corners.map(at);
    Some(between([a?, b?, c?], *weights))
}

/// The place of a triangle that has these weights, with the triangle's frame.
fn between(corners: [DVec3; 3], [u, v, w]: [f64; 3]) -> Placed {
    let [a, b, c] = corners;
    Placed { x: u * a + v * b + w * c, frame: frame(corners) }
}
