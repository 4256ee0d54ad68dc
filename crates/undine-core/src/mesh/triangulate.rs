//! Polygons into triangles: a fan for a convex one, ear clipping for any other (Meisters 1975).

use super::measure::{self, polygon_vector_area};
use super::surface::{Polygons, Surface};
use crate::error::Result;
use glam::{DVec2, DVec3};
use rayon::prelude::*;
use std::borrow::Cow;

/// The triangles of a Surface: n − 2 for each polygon of n corners, face after face.
#[derive(Debug, Clone)]
pub struct Triangulation<'a> {
    triangles: Cow<'a, [[u32; 3]]>,
    /// The face of each triangle; empty if all faces are triangles.
    faces: Vec<u32>,
}

impl Triangulation<'_> {
    /// The vertices of each triangle, turning as their face does.
    pub fn triangles(&self) -> &[[u32; 3]] {
        &self.triangles
    }

    /// The face that a triangle is part of.
    pub fn face(&self, triangle: usize) -> usize {
        self.faces.get(triangle).map_or(triangle, |&face| face as usize)
    }
}

impl Surface {
    /// The triangles of all faces; nothing is copied if all faces are triangles.
    ///
    /// A face should be simple and nearly planar. Of one that is not, some triangles overlap or
    /// are turned over, but there are always n − 2 of them, and they have the face's boundary. The
    /// time for a concave face grows with its corners times its reflex corners, at worst times its
    /// corners once more.
    pub fn triangulate(&self) -> Result<Triangulation<'_>> {
        let faces = self.connectivity();
        if let Some(triangles) = faces.as_triangles() {
            return Ok(Triangulation { triangles: Cow::Borrowed(triangles), faces: Vec::new() });
        }
        let positions = self.positions()?;
        let (triangles, of): (Vec<_>, Vec<_>) = (0..faces.len())
            .into_par_iter()
            .with_min_len(measure::GRAIN)
            .flat_map_iter(|face| {
                let triangles = triangulate_face(faces, face, &positions);
                triangles.into_iter().map(move |triangle| (triangle, face as u32))
            })
            .unzip();
        Ok(Triangulation { triangles: Cow::Owned(triangles), faces: of })
    }
}

fn triangulate_face(faces: &Polygons, face: usize, positions: &[DVec3]) -> Vec<[u32; 3]> {
    let corners = faces.face(face);
    if let &[a, b, c] = corners {
        return vec![[a, b, c]];
    }
    let flat = flatten(corners, positions);
    let places = if is_strictly_convex(&flat) { fan(flat.len()) } else { clip_ears(&flat) };
    places.into_iter().map(|places| places.map(|place| corners[place])).collect()
}

/// The polygon seen along its normal, so that it turns to the left.
fn flatten(corners: &[u32], positions: &[DVec3]) -> Vec<DVec2> {
    // Dropping the axis along which the normal is longest keeps shapes well enough, and rounds nothing.
    let normal = polygon_vector_area(corners, positions);
    let size = normal.abs();
    let pick = |point: DVec3| {
        if size.x > size.y && size.x > size.z {
            DVec2::new(point.y * normal.x.signum(), point.z)
        } else if size.y > size.z {
            DVec2::new(point.z * normal.y.signum(), point.x)
        } else {
            DVec2::new(point.x * normal.z.signum(), point.y)
        }
    };
    let origin = positions[corners[0] as usize];
    corners.iter().map(|&vertex| pick(positions[vertex as usize] - origin)).collect()
}

fn fan(corners: usize) -> Vec<[usize; 3]> {
    (1..corners - 1).map(|place| [0, place, place + 1]).collect()
}

/// Twice the signed area of a triangle: positive if it turns to the left.
fn turn(a: DVec2, b: DVec2, c: DVec2) -> f64 {
    (b - a).perp_dot(c - a)
}

/// Whether every triangle of a fan turns to the left, and so does every corner.
fn is_strictly_convex(flat: &[DVec2]) -> bool {
    let count = flat.len();
    let corner = |place| turn(flat[place], flat[(place + 1) % count], flat[(place + 2) % count]);
    let spoke = |place: usize| turn(flat[0], flat[place], flat[place + 1]);
    (0..count).all(|place| corner(place) > 0.0) && (1..count - 1).all(|place| spoke(place) > 0.0)
}

/// Cuts off one ear after the other: a corner that turns to the left, whose triangle holds no other.
fn clip_ears(flat: &[DVec2]) -> Vec<[usize; 3]> {
    let count = flat.len();
    let mut next: Vec<usize> = (1..count).chain([0]).collect();
    let mut previous: Vec<usize> = [count - 1].into_iter().chain(0..count - 1).collect();
    let turns_left = |p: usize, c: usize, n: usize| turn(flat[p], flat[c], flat[n]) > 0.0;
    // Only corners that do not turn to the left can lie in an ear; corners never become reflex later.
    let mut reflex: Vec<usize> =
        (0..count).filter(|&c| !turns_left(previous[c], c, next[c])).collect();

    let mut triangles = Vec::with_capacity(count - 2);
    let mut corner = 0;
    let mut tried = 0;
    let mut crosses_itself = false;
    while triangles.len() + 3 < count {
        let (p, n) = (previous[corner], next[corner]);
        let [a, b, c] = [flat[p], flat[corner], flat[n]];
        let holds = |&other: &usize| {
            let point = flat[other];
            let is_corner = point == a || point == b || point == c;
            !is_corner
                && turn(a, b, point) >= 0.0
                && turn(b, c, point) >= 0.0
                && turn(c, a, point) >= 0.0
        };
        // A polygon that crosses itself may have no ear at all. There is no right answer then, and no
        // use in searching on for every triangle: cut the rest where we are.
        crosses_itself |= tried == count - triangles.len();
        if crosses_itself || turn(a, b, c) > 0.0 && !reflex.iter().any(holds) {
            triangles.push([p, corner, n]);
            (next[p], previous[n]) = (n, p);
            reflex.retain(|&other| {
                let beside = other == p || other == n;
                other != corner && !(beside && turns_left(previous[other], other, next[other]))
            });
            tried = 0;
        } else {
            tried += 1;
        }
        corner = n;
    }
    triangles.push([previous[corner], corner, next[corner]]);
    triangles
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn area(flat: &[DVec2], triangles: &[[usize; 3]]) -> (f64, f64) {
        let areas = triangles.iter().map(|&[a, b, c]| turn(flat[a], flat[b], flat[c]) / 2.0);
        (areas.clone().sum(), areas.fold(f64::INFINITY, f64::min))
    }

    fn points(list: &[(f64, f64)]) -> Vec<DVec2> {
        list.iter().map(|&(x, y)| DVec2::new(x, y)).collect()
    }

    #[test]
    fn a_concave_polygon_is_cut_without_overlap() {
        let l = points(&[(0., 0.), (2., 0.), (2., 1.), (1., 1.), (1., 2.), (0., 2.)]);
        let (sum, least) = area(&l, &clip_ears(&l));
        assert_eq!(sum, 3.0);
        assert!(least > 0.0);
    }

    #[test]
    fn corners_on_a_straight_side_make_no_flat_triangles() {
        let square = points(&[(0., 0.), (1., 0.), (2., 0.), (2., 2.), (0., 2.), (0., 1.)]);
        assert!(!is_strictly_convex(&square));
        let (sum, least) = area(&square, &clip_ears(&square));
        assert_eq!(sum, 4.0);
        assert!(least > 0.0);
    }

    #[test]
    fn a_pentagram_ends_with_three_triangles() {
        let star: Vec<_> = (0..5)
            .map(|i| DVec2::from_angle(f64::from(i) * 4.0 / 5.0 * std::f64::consts::PI))
            .collect();
        assert!(!is_strictly_convex(&star));
        assert_eq!(clip_ears(&star).len(), 3);
        assert_eq!(clip_ears(&[DVec2::NAN; 7]).len(), 5);
        assert_eq!(clip_ears(&[DVec2::ZERO; 4]).len(), 2);
    }

    #[test]
    fn a_face_in_any_plane_keeps_its_orientation() {
        let l = [(0., 0.), (2., 0.), (2., 1.), (1., 1.), (1., 2.), (0., 2.)];
        for place in [
            |x, y| DVec3::new(x, y, 0.0),
            |x, y| DVec3::new(0.0, x, y),
            |x, y| DVec3::new(y, 0.0, x),
            |x, y| DVec3::new(y, x, 1.0),
            |x, y| DVec3::new(2.0, y, x),
            |x, y| DVec3::new(x, x + y, y),
        ] {
            let positions: Vec<_> = l.iter().map(|&(x, y)| place(x, y)).collect();
            let faces = Polygons::from_faces(&[[0, 1, 2, 3, 4, 5]]).unwrap();
            let surface = Surface::new("l", positions.clone(), faces).unwrap();
            let normal = surface.face_vector_areas().unwrap()[0];
            let triangulation = surface.triangulate().unwrap();
            let parts =
                triangulation.triangles().iter().map(|t| polygon_vector_area(t, &positions));
            assert!(parts.clone().all(|part| part.dot(normal) > 0.0));
            assert!(parts.sum::<DVec3>().distance(normal) < 1e-12);
            assert!((0..4).all(|triangle| triangulation.face(triangle) == 0));
        }
    }

    proptest! {
        /// Any polygon that is star-shaped about the origin is simple.
        #[test]
        fn triangles_of_a_simple_polygon_cover_it_once(radii in prop::collection::vec(0.1..1.0_f64, 4..40)) {
            let step = std::f64::consts::TAU / radii.len() as f64;
            let flat: Vec<_> = (0..).zip(&radii).map(|(i, r)| DVec2::from_angle(step * f64::from(i)) * *r).collect();
            let whole: f64 = (0..flat.len()).map(|i| flat[i].perp_dot(flat[(i + 1) % flat.len()]) / 2.0).sum();
            let triangles = clip_ears(&flat);
            prop_assert_eq!(triangles.len(), flat.len() - 2);
            let (sum, least) = area(&flat, &triangles);
            prop_assert!((sum - whole).abs() < 1e-12);
            prop_assert!(least >= -1e-15);
        }
    }
}
