//! How well tetrahedra are shaped: their dihedral angles and their aspect ratios.

use crate::error::Result;
use rayon::prelude::*;
use undine_core::glam::DVec3;
use undine_core::mesh::Body;

/// The extremes over all tetrahedra of a Body.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Quality {
    /// How many tetrahedra there are.
    pub cells: usize,
    /// The smallest dihedral angle [rad]; π if there are no tetrahedra.
    pub min_dihedral: f64,
    /// The largest dihedral angle [rad]; 0 if there are no tetrahedra.
    pub max_dihedral: f64,
    /// The largest aspect ratio: the longest edge by the inscribed sphere's radius, 1 for a regular tetrahedron.
    pub max_aspect: f64,
    /// The smallest volume of a tetrahedron [m³]; negative if one is inverted, infinite if there are none.
    pub min_volume: f64,
    /// The volume of all [m³].
    pub volume: f64,
}

impl Quality {
    /// Of all tetrahedra of a Body.
    pub fn of(body: &Body) -> Result<Self> {
        let positions = body.positions()?;
        let cells = body.connectivity().cells();
        // Extremes do not depend on the order, so that any number of threads finds the same.
        let none = Self {
            cells: cells.len(),
            min_dihedral: std::f64::consts::PI,
            max_dihedral: 0.0,
            max_aspect: 0.0,
            min_volume: f64::INFINITY,
            volume: body.volume()?,
        };
        let worst = cells
            .par_iter()
            .with_min_len(1024)
            .map(|cell| {
                let corners = cell.map(|vertex| positions[vertex as usize]);
                let angles = dihedral_angles(corners);
                let fold =
                    |pick: fn(f64, f64) -> f64| angles.into_iter().reduce(pick).unwrap_or(0.0);
                Self {
                    min_dihedral: fold(f64::min),
                    max_dihedral: fold(f64::max),
                    max_aspect: aspect_ratio(corners),
                    min_volume: volume(corners),
                    ..none
                }
            })
            .reduce(
                || none,
                |a, b| Self {
                    min_dihedral: a.min_dihedral.min(b.min_dihedral),
                    max_dihedral: a.max_dihedral.max(b.max_dihedral),
                    max_aspect: a.max_aspect.max(b.max_aspect),
                    min_volume: a.min_volume.min(b.min_volume),
                    ..none
                },
            );
        Ok(worst)
    }
}

/// The signed volume of a tetrahedron [m³].
#[inline]
pub(super) fn volume([a, b, c, d]: [DVec3; 4]) -> f64 {
    (b - a).dot((c - a).cross(d - a)) / 6.0
}

/// The angles between the faces at the edges 01, 02, 03, 12, 13, 23 [rad].
///
/// A tetrahedron without volume has angles of 0 and π.
pub fn dihedral_angles([a, b, c, d]: [DVec3; 4]) -> [f64; 6] {
    let at = |p: DVec3, q: DVec3, r: DVec3, s: DVec3| {
        let edge = q - p;
        let [u, v] = [edge.cross(r - p), edge.cross(s - p)];
        // Well conditioned also for angles near 0 and π, where the cosine is not.
        (edge.length() * edge.dot((r - p).cross(s - p))).abs().atan2(u.dot(v))
    };
    [at(a, b, c, d), at(a, c, b, d), at(a, d, b, c), at(b, c, a, d), at(b, d, a, c), at(c, d, a, b)]
}

/// The longest edge by the inscribed sphere's radius, scaled to be 1 for a regular tetrahedron; infinite without
/// volume.
pub fn aspect_ratio([a, b, c, d]: [DVec3; 4]) -> f64 {
    let edges = [b - a, c - a, d - a, c - b, d - b, d - c];
    let longest = edges.iter().map(|edge| edge.length()).fold(0.0, f64::max);
    let area = |p: DVec3, q: DVec3, r: DVec3| 0.5 * (q - p).cross(r - p).length();
    let areas = area(b, c, d) + area(a, c, d) + area(a, b, d) + area(a, b, c);
    // The radius is three volumes by the area. A regular tetrahedron has edges of √24 radii.
    longest * areas / (3.0 * volume([a, b, c, d]).abs() * 24.0_f64.sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_regular_tetrahedron_has_the_angles_that_books_give() {
        let corners = [
            DVec3::new(1.0, 1.0, 1.0),
            DVec3::new(1.0, -1.0, -1.0),
            DVec3::new(-1.0, 1.0, -1.0),
            DVec3::new(-1.0, -1.0, 1.0),
        ];
        for angle in dihedral_angles(corners) {
            assert!((angle - (1.0_f64 / 3.0).acos()).abs() < 1e-14);
        }
        assert!((aspect_ratio(corners) - 1.0).abs() < 1e-14);
    }

    #[test]
    fn the_corner_of_a_cube_has_right_angles_at_its_edges() {
        let angles = dihedral_angles([DVec3::ZERO, DVec3::X, DVec3::Y, DVec3::Z]);
        let diagonal = (1.0_f64 / 3.0_f64.sqrt()).acos();
        for (found, wanted) in
            angles.into_iter().zip([90_f64.to_radians(); 3].into_iter().chain([diagonal; 3]))
        {
            assert!((found - wanted).abs() < 1e-14);
        }
    }
}
