//! The mass properties of shapes where there is a closed form.

use super::build::are_apart;
use super::{Frustum, Kind, Shape, profile};
use crate::mass::MassProperties;
use std::f64::consts::PI;
use undine_core::glam::{DMat3, DVec2, DVec3};

impl Shape {
    /// Volume, centre and inertia, if there is a closed form: for all bounded primitives, boxes with rounded edges,
    /// shells whose inner surface has one, parts whose boxes are apart, and all these turned, moved and scaled.
    pub fn mass_properties(&self) -> Option<MassProperties> {
        match &self.kind {
            Kind::Cuboid { half } => Some(rounded_cuboid(*half, 0.0)),
            Kind::Sphere { radius } => Some(capsule(*radius, 0.0)),
            Kind::Capsule { radius, half } => Some(capsule(*radius, *half)),
            Kind::Frustum(frustum) => Some(truncated_cone(frustum)),
            Kind::Torus { major, minor } => Some(torus(*major, *minor)),
            Kind::Hull(hull) => Some(hull.mass_properties()),
            Kind::Revolved(profile) => Some(profile.mass_properties()),
            Kind::Offset { of, by } => match of.kind {
                Kind::Cuboid { half } if *by > 0.0 => Some(rounded_cuboid(half, *by)),
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
            Kind::HalfSpace { .. } | Kind::Inverted(_) | Kind::Union { .. } => None,
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

fn truncated_cone(frustum: &Frustum) -> MassProperties {
    let Frustum { bottom, top, half, .. } = *frustum;
    profile::revolved(&[
        DVec2::new(0.0, -half),
        DVec2::new(bottom, -half),
        DVec2::new(top, half),
        DVec2::new(0.0, half),
    ])
}
