//! What shapes look like: triangles with their corners on the surface, planes as planes.
//!
//! What is turned about an axis is a profile of points (r, z), swept around. Parts of a sharp union are shown as they are, one in
//! the other: from outside, that is the union to its last edge. What has no triangles of its own is contoured.

use super::{Kind, Profile, Shape};
use crate::error::Result;
use crate::form::{Detail, Form, mesh_of};
use crate::gallery;
use crate::solid::Solid;
use crate::triangles::Triangles;
use std::collections::BTreeMap;
use std::f64::consts::{FRAC_PI_2, PI, TAU};
use undine_core::glam::{DVec2, DVec3};

impl Shape {
    /// What it looks like: one mesh of all that has an end, and its planes. Of nothing, nothing.
    pub fn forms(&self, detail: &Detail) -> Result<Vec<Form>> {
        let detail = detail.sane();
        let mut mesh = Joined::default();
        let mut forms = Vec::new();
        for form in self.parts(&detail)? {
            match form {
                Form::Mesh(part) => mesh.add(&part),
                plane => forms.push(plane),
            }
        }
        if !mesh.triangles.is_empty() {
            forms.insert(0, Form::Mesh(Triangles::new(mesh.positions, mesh.triangles)?));
        }
        Ok(forms)
    }

    fn parts(&self, detail: &Detail) -> Result<Vec<Form>> {
        let Detail { segments, .. } = *detail;
        let turned = |profile: &[DVec2]| Ok(vec![Form::Mesh(turned_about_z(profile, segments)?)]);
        match &self.kind {
            Kind::Cuboid { half } => Ok(vec![Form::Mesh(gallery::cuboid(*half))]),
            Kind::Sphere { radius } => {
                // A divided icosahedron has about ten edges around, times two for each level beyond the first.
                let levels = (f64::from(segments) / 5.0).log2().round().clamp(1.0, 6.0);
                Ok(vec![Form::Mesh(gallery::sphere(*radius, levels as u32))])
            }
            Kind::Frustum(frustum) => {
                let (low, high) = (-frustum.half, frustum.half);
                turned(&[
                    DVec2::new(0.0, low),
                    DVec2::new(frustum.bottom, low),
                    DVec2::new(frustum.top, high),
                    DVec2::new(0.0, high),
                ])
            }
            Kind::Capsule { radius, half } => {
                let arc = |middle: f64, from: f64| {
                    (0..=segments / 4).map(move |n| {
                        let angle = from + FRAC_PI_2 * f64::from(n) / f64::from(segments / 4);
                        DVec2::new(0.0, middle) + *radius * DVec2::from_angle(angle)
                    })
                };
                turned(&arc(-half, -FRAC_PI_2).chain(arc(*half, 0.0)).collect::<Vec<_>>())
            }
            Kind::Torus { major, minor } => {
                let around = (segments / 2).max(8);
                let point = |n: u32| {
                    let angle = PI + TAU * f64::from(n) / f64::from(around);
                    DVec2::new(*major, 0.0) + *minor * DVec2::from_angle(angle)
                };
                turned(&(0..around).map(point).collect::<Vec<_>>())
            }
            Kind::HalfSpace { normal, offset } => {
                Ok(vec![Form::Plane { point: *normal * *offset, normal: *normal }])
            }
            Kind::Hull(hull) => {
                let mut mesh = Joined::default();
                hull.triangles().for_each(|corners| mesh.add_welded(corners));
                Ok(vec![Form::Mesh(Triangles::new(mesh.positions, mesh.triangles)?)])
            }
            Kind::Revolved(profile) => turned(Profile::points(profile)),
            Kind::Union { parts, width: 0.0 } => {
                let forms: Result<Vec<_>> = parts.iter().map(|part| part.parts(detail)).collect();
                Ok(forms?.concat())
            }
            Kind::Inverted(of) => {
                // Of a room, what parts have in common would be seen.
                let is_whole = !matches!(of.kind, Kind::Union { .. });
                let forms = if is_whole { of.parts(detail)? } else { of.contoured(detail)? };
                Ok(forms.into_iter().map(Form::inverted).collect())
            }
            Kind::Moved { of, pose } => {
                Ok(of.parts(detail)?.into_iter().map(|form| form.moved(pose)).collect())
            }
            Kind::Scaled { of, factor } => {
                let detail = Detail { reach: detail.reach / factor, ..*detail };
                let scaled = |form| match form {
                    Form::Mesh(mesh) => Form::Mesh(mesh.mapped(|at| at * *factor)),
                    Form::Plane { point, normal } => Form::Plane { point: point * *factor, normal },
                };
                Ok(of.parts(&detail)?.into_iter().map(scaled).collect())
            }
            Kind::Offset { .. } | Kind::Union { .. } | Kind::Intersection { .. } => {
                self.contoured(detail)
            }
        }
    }

    fn contoured(&self, detail: &Detail) -> Result<Vec<Form>> {
        Ok(vec![Form::Mesh(mesh_of(self as &dyn Solid, detail)?)])
    }
}

/// Several meshes as one.
#[derive(Default)]
struct Joined {
    positions: Vec<DVec3>,
    triangles: Vec<[u32; 3]>,
    /// The vertices by the bits of their places.
    known: BTreeMap<[u64; 3], u32>,
}

impl Joined {
    fn add(&mut self, mesh: &Triangles) {
        let first = self.positions.len() as u32;
        self.positions.extend_from_slice(mesh.positions());
        self.triangles.extend(mesh.indices().iter().map(|corners| corners.map(|c| first + c)));
    }

    /// A triangle whose corners are one vertex where they are at one place.
    fn add_welded(&mut self, corners: [DVec3; 3]) {
        let positions = &mut self.positions;
        let known = &mut self.known;
        let vertices = corners.map(|at| {
            // Minus zero is no other place than zero.
            let key = (at + DVec3::ZERO).to_array().map(f64::to_bits);
            *known.entry(key).or_insert_with(|| {
                positions.push(at);
                positions.len() as u32 - 1
            })
        });
        self.triangles.push(vertices);
    }
}

/// A closed line of points (r, z) [m] turned about z. The inside lies to the left; edges along the axis are no surface.
fn turned_about_z(profile: &[DVec2], segments: u32) -> Result<Triangles> {
    let mut line: Vec<DVec2> = profile.to_vec();
    // What rounding left beside the axis is on it.
    let size = line.iter().fold(0.0_f64, |most, point| most.max(point.x));
    line.iter_mut().filter(|point| point.x < 1e-14 * size).for_each(|point| point.x = 0.0);
    line.dedup();
    while line.len() > 1 && line.first() == line.last() {
        line.pop();
    }
    let turn = |n: u32| DVec2::from_angle(TAU * f64::from(n) / f64::from(segments));
    let mut positions = Vec::new();
    let mut rings = Vec::with_capacity(line.len());
    for point in &line {
        rings.push(positions.len() as u32);
        let count = if point.x == 0.0 { 1 } else { segments };
        positions.extend((0..count).map(|n| (turn(n) * point.x).extend(point.y)));
    }
    let vertex = |ring: usize, n: u32| match line[ring].x == 0.0 {
        true => rings[ring],
        false => rings[ring] + n % segments,
    };
    let mut triangles = Vec::new();
    for ring in 0..line.len() {
        let next = (ring + 1) % line.len();
        let on_axis = [ring, next].map(|ring| line[ring].x == 0.0);
        for n in 0..segments {
            let [a, b] = [vertex(ring, n), vertex(ring, n + 1)];
            let [d, c] = [vertex(next, n), vertex(next, n + 1)];
            match on_axis {
                [true, true] => {}
                [true, false] => triangles.push([a, c, d]),
                [false, true] => triangles.push([a, b, c]),
                [false, false] => triangles.extend([[a, b, c], [a, c, d]]),
            }
        }
    }
    Triangles::new(positions, triangles)
}
