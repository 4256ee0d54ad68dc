//! A rigid body that keeps apart from other solids: what liquid fills between them is never thinner than a part of a voxel.
//!
//! Where a body lies on a floor, or on another body, real surfaces leave a film, by which the pressure of the surroundings comes
//! under it. So a body is cut out of cells without what is nearer to others than such a film is thick: body − (others ⊕ film).
//! Bodies and all others have nothing in common then, and what they leave open together is 1 − Σ of what each of them closes, be it
//! as thin as it may.

use super::near::meet;
use undine_core::glam::DVec3;
use undine_core::mesh::Bounds;
use undine_geometry::solid::{Nearest, Solid};

/// How thick the film is, in voxels.
const FILM: f64 = 0.05;

/// A body without what is too near to others.
#[derive(Debug)]
pub struct Apart<'a> {
    body: &'a dyn Solid,
    others: Vec<&'a dyn Solid>,
    voxel: f64,
}

impl<'a> Apart<'a> {
    /// A body that keeps apart from others, for cells of a size [m].
    pub fn new(body: &'a dyn Solid, others: Vec<&'a dyn Solid>, voxel: f64) -> Self {
        Self { body, others, voxel }
    }

    /// How far the nearest of the others is [m].
    fn beside(&self, at: DVec3) -> f64 {
        self.others.iter().map(|other| other.distance(at)).fold(f64::INFINITY, f64::min)
    }

    /// Whether a place is in a gap between the body and another solid that is narrower than `width` [m], or so near to it: they
    /// face each other there.
    pub fn is_gap(&self, at: DVec3, width: f64) -> bool {
        let to_body = self.body.distance(at);
        if to_body.is_nan() || to_body.abs() >= width {
            return false;
        }
        self.others.iter().any(|other| {
            let to_other = other.distance(at);
            to_other.abs() < width && to_body + to_other < width && {
                let [one, two] = [self.body.nearest(at), other.nearest(at)];
                one.normal.dot(two.normal) < OPPOSITE
            }
        })
    }
}

/// The cosine of what two walls of a gap have at most between their normals.
const OPPOSITE: f64 = -0.7;

impl Solid for Apart<'_> {
    fn distance(&self, at: DVec3) -> f64 {
        let own = self.body.distance(at);
        if self.others.is_empty() {
            return own;
        }
        let clear = FILM * self.voxel - self.beside(at);
        if clear > own { clear } else { own }
    }

    fn nearest(&self, at: DVec3) -> Nearest {
        self.body.nearest(at)
    }

    fn bounds(&self) -> Option<Bounds> {
        self.body.bounds()
    }

    fn is_wall_between(&self, from: DVec3, to: DVec3) -> bool {
        // In a gap, the way between two centres may lead through the body, and the liquid's around its edge.
        let in_gap = |at| self.beside(at) + self.body.distance(at) < self.voxel;
        if !self.others.is_empty() && (in_gap(from) || in_gap(to)) {
            return false;
        }
        self.body.is_wall_between(from, to)
    }
}

/// Those of some solids, by the boxes around them, that a box and so much around it [m] may meet: what has no bounds is everywhere.
pub fn within<'a, S: Solid>(
    solids: &'a [S],
    bounds: &[Option<Bounds>],
    around: Option<Bounds>,
    reach: f64,
) -> Vec<&'a dyn Solid> {
    let meets = |bounds: &Option<Bounds>| {
        bounds.zip(around).is_none_or(|(one, other)| meet(&one, &other, reach))
    };
    let near = solids.iter().zip(bounds).filter(|(_, bounds)| meets(bounds));
    near.map(|(solid, _)| solid as &dyn Solid).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use undine_core::glam::IVec3;
    use undine_core::{Bucket, Frame};
    use undine_geometry::Shape;
    use undine_geometry::fractions::Cutter;

    #[test]
    fn what_is_open_between_a_body_and_a_floor_is_as_wide_as_the_gap_and_never_less_than_the_film()
    {
        let floor = Shape::plane(DVec3::new(0.0, 1.0, 0.0), DVec3::Y).unwrap();
        for gap in [0.0, -0.3, 1e-9, 0.02, 0.15, 0.5, 0.9] {
            let body = Shape::cuboid(DVec3::splat(2.0)).unwrap();
            let at = DVec3::new(4.0, 3.0 + gap, 4.0);
            let body = body.moved(&undine_geometry::Pose::at(at)).unwrap();
            let apart = Apart::new(&body, vec![&floor], 1.0);
            let cut = |solid: &dyn Solid| {
                let mut area = [[1.0_f32; 512]; 3];
                let [x, y, z] = &mut area;
                let mut cutter = Cutter::new(Frame::new(1.0).unwrap());
                cutter.cut(solid, Bucket::at(0, IVec3::ZERO), [x, y, z], &mut [1.0; 512]);
                area
            };
            let (walls, own) = (cut(&floor), cut(&apart));
            let cell = 4 << 6 | 1 << 3 | 4;
            let open = |axis: usize, n: usize| walls[axis][n] - (1.0 - own[axis][n]);
            let wanted = gap.max(FILM) as f32;
            assert!((open(0, cell) - wanted).abs() < 1e-6, "{gap}: {}", open(0, cell));
            // Below is the floor, alone, and above the body.
            assert_eq!([own[1][cell], own[1][cell + 8]], [1.0, 0.0]);
            assert!(apart.is_gap(DVec3::new(4.5, 1.5, 4.5), 1.5));
            assert!(!apart.is_gap(DVec3::new(4.5, 3.5, 4.5), 1.5));
        }
    }
}
