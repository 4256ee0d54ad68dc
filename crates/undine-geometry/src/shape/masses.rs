//! The mass properties of shapes where there is a closed form.

use super::build::are_apart;
use super::{Frustum, Kind, Shape};
use crate::mass::MassProperties;
use std::f64::consts::{FRAC_PI_2, PI};
use undine_core::glam::{DMat3, DVec2, DVec3};

impl Shape {
    /// Volume, centre and inertia, if there is a closed form: for all bounded primitives, boxes, cylinders and cones with rounded
    /// edges, shells whose inner surface has one, parts whose boxes are apart, and all these turned, moved and scaled.
    pub fn mass_properties(&self) -> Option<MassProperties> {
        match &self.kind {
            Kind::Cuboid { half } => Some(rounded_cuboid(*half, 0.0)),
            Kind::Sphere { radius } => Some(capsule(*radius, 0.0)),
            Kind::Capsule { radius, half } => Some(capsule(*radius, *half)),
            Kind::Frustum(frustum) => Some(rounded_cone(frustum, 0.0)),
            Kind::Torus { major, minor } => Some(torus(*major, *minor)),
            Kind::Hull(hull) => Some(hull.mass_properties()),
            Kind::Revolved(profile) => Some(Revolution::of_polygon(profile.points())),
            Kind::Offset { of, by } if *by > 0.0 => match &of.kind {
                Kind::Cuboid { half } => Some(rounded_cuboid(*half, *by)),
                Kind::Frustum(frustum) => Some(rounded_cone(frustum, *by)),
                _ => None,
            },
            Kind::Union { parts, .. } if parts.len() == 1 => parts[0].mass_properties(),
            Kind::Union { parts, width } if *width == 0.0 && are_apart(parts) => {
                let parts: Option<Vec<_>> = parts.iter().map(Self::mass_properties).collect();
                parts.map(MassProperties::sum)
            }
            Kind::Intersection { parts, .. } if parts.len() == 1 => parts[0].mass_properties(),
            Kind::Intersection { parts, .. } => {
                // Only of a shell is it known that the hole lies inside.
                let [outer, Self { kind: Kind::Inverted(inner), .. }] = &parts[..] else {
                    return None;
                };
                let shell = self.is_exact();
                shell.then_some(())?;
                Some(outer.mass_properties()?.without(&inner.mass_properties()?))
            }
            Kind::Moved { of, pose } => of.mass_properties().map(|mass| mass.moved(pose)),
            Kind::Scaled { of, factor } => of.mass_properties().map(|mass| mass.scaled(*factor)),
            Kind::HalfSpace { .. }
            | Kind::Inverted(_)
            | Kind::Union { .. }
            | Kind::Offset { .. } => None,
        }
    }
}

/// About the origin as centre, from ∫ dx and the diagonal of ∫ x xᵀ dx.
fn centred(volume: f64, squares: DVec3) -> MassProperties {
    let second = DMat3::from_diagonal(squares);
    MassProperties::of_moments(DVec3::ZERO, volume, DVec3::ZERO, second)
}

/// A cuboid grown by r: the cuboid, a plate on each face, a quarter of a cylinder on each edge and an eighth of a sphere on each
/// corner. Plates, quarters and eighths that lie opposite of each other are taken together.
fn rounded_cuboid(half: DVec3, r: f64) -> MassProperties {
    let [a, b, c] = half.to_array();
    let mut volume = 8.0 * a * b * c;
    let mut squares = half * half * (volume / 3.0);
    for axis in 0..3 {
        let (next, last) = ((axis + 1) % 3, (axis + 2) % 3);
        // The two plates on this axis: ∫ x² over a ≤ |x| ≤ a + r.
        let (a, b, c) = (half[axis], half[next], half[last]);
        let plates = 8.0 * r * b * c;
        volume += plates;
        squares[axis] += plates * (a * a + a * r + r * r / 3.0);
        squares[next] += plates * b * b / 3.0;
        squares[last] += plates * c * c / 3.0;
        // The four quarters along this axis. Over a disk, ∫ |u| = 4 r³ / 3 and ∫ u² = π r⁴ / 4.
        let (disk, first, second) = (PI * r * r, 4.0 * r.powi(3) / 3.0, PI * r.powi(4) / 4.0);
        volume += disk * 2.0 * a;
        squares[axis] += disk * 2.0 * a.powi(3) / 3.0;
        for (axis, side) in [(next, b), (last, c)] {
            squares[axis] += 2.0 * a * (disk * side * side + 2.0 * side * first + second);
        }
    }
    // The eight eighths. Over a ball, ∫ |u| = π r⁴ / 2 and ∫ u² = 4 π r⁵ / 15.
    let (ball, first, second) =
        (4.0 / 3.0 * PI * r.powi(3), PI * r.powi(4) / 2.0, 4.0 * PI * r.powi(5) / 15.0);
    volume += ball;
    squares += half * half * ball + half * (2.0 * first) + second;
    centred(volume, squares)
}

/// A cylinder from −h to h and half a ball of radius r at either end.
fn capsule(r: f64, h: f64) -> MassProperties {
    let (disk, ball) = (PI * r * r, 4.0 / 3.0 * PI * r.powi(3));
    let across = disk * 2.0 * h * r * r / 4.0 + ball * r * r / 5.0;
    let along = disk * 2.0 * h.powi(3) / 3.0 + ball * (h * h + 0.75 * h * r + r * r / 5.0);
    centred(disk * 2.0 * h + ball, DVec3::new(across, across, along))
}

fn torus(major: f64, minor: f64) -> MassProperties {
    let volume = 2.0 * PI * PI * major * minor * minor;
    let across = volume * (major * major + 0.75 * minor * minor) / 2.0;
    let along = volume * minor * minor / 4.0;
    centred(volume, DVec3::new(across, across, along))
}

/// A truncated cone grown by r: its section has an arc at each rim.
fn rounded_cone(frustum: &Frustum, r: f64) -> MassProperties {
    let Frustum { bottom, top, half, .. } = *frustum;
    let (low, high) = (DVec2::new(bottom, -half), DVec2::new(top, half));
    let side = frustum.side();
    let mut section = Revolution::from(-half);
    section.line(DVec2::new(0.0, -half - r), low - DVec2::Y * r);
    section.arc(low, r, -FRAC_PI_2, side.to_angle());
    section.line(low + side * r, high + side * r);
    section.arc(high, r, side.to_angle(), FRAC_PI_2);
    section.line(high + DVec2::Y * r, DVec2::new(0.0, half + r));
    section.mass_properties()
}

/// The moments of a solid of revolution about z, from the outline of its section, which has the inside to its left.
///
/// By Green's theorem, ∬ f dA over the section are integrals of polynomials along the outline. What lies on the
/// axis adds nothing.
struct Revolution {
    /// Heights are measured from here [m], so that a solid high up loses no digits.
    base: f64,
    /// ∬ r dA, ∬ r z dA, ∬ r z² dA and ∬ r³ dA.
    sums: [f64; 4],
}

impl Revolution {
    fn from(base: f64) -> Self {
        Self { base, sums: [0.0; 4] }
    }

    /// Of a polygon (r, z) in turn to the left.
    fn of_polygon(points: &[DVec2]) -> MassProperties {
        let mut section = Self::from(points[0].y);
        for (i, &a) in points.iter().enumerate() {
            section.line(a, points[(i + 1) % points.len()]);
        }
        section.mass_properties()
    }

    fn line(&mut self, a: DVec2, b: DVec2) {
        // Three points of Gauss are exact up to the fifth power.
        for (node, weight) in gauss() {
            self.point(a.midpoint(b) + (b - a) * (0.5 * node), weight * (b.y - a.y));
        }
    }

    /// An arc about `centre` between two angles [rad], by so many parts that only rounding is left.
    fn arc(&mut self, centre: DVec2, radius: f64, from: f64, to: f64) {
        const PARTS: usize = 128;
        let width = (to - from) / PARTS as f64;
        for part in 0..PARTS {
            let middle = from + (part as f64 + 0.5) * width;
            for (node, weight) in gauss() {
                let normal = DVec2::from_angle(middle + 0.5 * width * node);
                self.point(centre + normal * radius, weight * width * radius * normal.x);
            }
        }
    }

    /// A point of the outline that stands for a part of it of this rise dz.
    fn point(&mut self, place: DVec2, rise: f64) {
        let (square, z) = (place.x * place.x, place.y - self.base);
        let terms = [square / 2.0, square * z / 2.0, square * z * z / 2.0, square * square / 4.0];
        for (sum, term) in self.sums.iter_mut().zip(terms) {
            *sum += term * rise;
        }
    }

    fn mass_properties(&self) -> MassProperties {
        let [m, mz, mzz, mrr] = self.sums.map(|sum| 2.0 * PI * sum);
        let second = DMat3::from_diagonal(DVec3::new(0.5 * mrr, 0.5 * mrr, mzz));
        MassProperties::of_moments(DVec3::Z * self.base, m, DVec3::Z * mz, second)
    }
}

/// Gauss's three points between −1 and 1, with weights that sum to 1.
fn gauss() -> [(f64, f64); 3] {
    let node = 0.6_f64.sqrt();
    [(-node, 5.0 / 18.0), (0.0, 8.0 / 18.0), (node, 5.0 / 18.0)]
}
