//! A patch: up to eight small triangles that lie side by side, or one that is large or thin.
//!
//! The eight are laid out a component per row, so that one place is compared with all of them at once, in `f32`. Around
//! them lies a disc, tilted as they are: of a smooth surface of many small triangles, only the one or two patches
//! below a place have a disc that is as near as the surface is.

use crate::triangle::closest_point;
use crate::triangles::Triangles;
use undine_core::glam::{DVec3, Vec3};

/// Triangles that are compared at once.
pub(super) const LANES: usize = 8;

/// Beyond this size [voxels] a triangle is alone in its patch and measured in `f64`.
const LARGE: f64 = 16.0;
/// And so it is if twice its area is less than this part of its longest side squared.
const THIN: f64 = 1e-3;
/// And if its longest side is less than this [voxels], so that squares stay far from zero in `f32`.
const TINY: f64 = 1e-6;

/// A mesh in voxels: lengths are divided by the width of a voxel, and counted from the Domain's origin.
pub(super) struct Scaled<'m> {
    pub mesh: &'m Triangles,
    pub origin: DVec3,
    pub voxel: f64,
    pub per_voxel: f64,
}

impl Scaled<'_> {
    /// The corners of a triangle [m], from the Domain's origin.
    #[inline]
    pub fn metres(&self, triangle: u32) -> [DVec3; 3] {
        self.mesh.corners(triangle as usize).map(|corner| corner - self.origin)
    }

    /// The corners of a triangle [voxels].
    #[inline]
    pub fn corners(&self, triangle: u32) -> [DVec3; 3] {
        self.metres(triangle).map(|corner| corner * self.per_voxel)
    }
}

/// One number of each of eight triangles.
pub(super) type Row = [f32; LANES];

/// Eight triangles [voxels], from the point of their patch. Where there are fewer, the last is repeated.
#[derive(Clone, Copy)]
#[repr(C, align(32))]
pub(super) struct Eight {
    /// The first corners.
    a: [Row; 3],
    /// From the first to the second corners, and to the third.
    ab: [Row; 3],
    ac: [Row; 3],
    /// Products of these with a place from the first corner are its weights of the second and third corners.
    to_b: [Row; 3],
    to_c: [Row; 3],
    /// One over the squared lengths of ab, ac and bc.
    per: [Row; 3],
}

/// Up to eight triangles around a point of theirs.
#[derive(Debug, Clone, Copy)]
pub(super) struct Patch {
    /// A point of a triangle of the patch [voxels].
    pub point: DVec3,
    /// Roughly the normal of the triangles, of length 1.
    pub normal: Vec3,
    /// How far the triangles reach from the point against the normal and along it [voxels].
    pub height: [f32; 2],
    /// How far they reach from the point across the normal [voxels].
    pub across: f32,
    /// The first triangle's place in the order of the tree.
    pub first: u32,
    /// How many there are.
    pub count: u32,
    /// Where the eight are; [`ALONE`] if the triangle is alone.
    pub eight: u32,
}

/// Instead of the place of eight triangles: this one is measured in `f64`.
pub(super) const ALONE: u32 = u32::MAX;

/// Whether a triangle [voxels] may be measured in `f32` together with others.
pub(super) fn is_handy([a, b, c]: [DVec3; 3]) -> bool {
    let size = (a.max(b).max(c) - a.min(b).min(c)).max_element();
    let (ab, ac, bc) = (b - a, c - a, c - b);
    let longest = ab.length_squared().max(ac.length_squared()).max(bc.length_squared());
    size <= LARGE && longest >= TINY * TINY && ab.cross(ac).length() >= THIN * longest
}

impl Patch {
    /// The patch of triangles with these corners [voxels], which begin at `first` of the order.
    pub fn new(triangles: &[[DVec3; 3]], first: u32, eight: u32) -> Self {
        let corners = || triangles.iter().copied();
        let (low, high) = corners()
            .flatten()
            .fold((DVec3::INFINITY, DVec3::NEG_INFINITY), |(low, high), corner| {
                (low.min(corner), high.max(corner))
            });
        let middle = 0.5 * (low + high);
        let point = corners()
            .flat_map(|[a, b, c]| [a, b, c, (a + b + c) / 3.0])
            .min_by(|a, b| a.distance_squared(middle).total_cmp(&b.distance_squared(middle)))
            .unwrap_or(middle);
        let sum: DVec3 = corners().map(|[a, b, c]| (b - a).cross(c - a)).sum();
        let normal = sum.try_normalize().unwrap_or(DVec3::Z).as_vec3();
        let exact = normal.as_dvec3();

        let (mut low, mut high, mut across) = (0.0_f64, 0.0_f64, 0.0_f64);
        for corner in corners().flatten() {
            let arm = corner - point;
            let along = arm.dot(exact);
            low = low.min(along);
            high = high.max(along);
            across = across.max((arm - along * exact).length());
        }
        // Wider by more than any rounding of what is computed from it.
        let slack = 1e-5 * (1.0 + across + high - low);
        Self {
            point,
            normal,
            height: [(low - slack) as f32, (high + slack) as f32],
            across: (across + slack) as f32,
            first,
            count: triangles.len() as u32,
            eight,
        }
    }

    /// How far any triangle of it reaches from its point, at most [voxels].
    pub fn radius(&self) -> f64 {
        let height = f64::from(self.height[1]).max(-f64::from(self.height[0]));
        height.hypot(f64::from(self.across))
    }

    /// What the distance [voxels] from a place [voxels] to the triangles is at least.
    pub fn at_least(&self, at: DVec3) -> f64 {
        let arm = at - self.point;
        let along = arm.dot(self.normal.as_dvec3());
        let across = (arm.length_squared() - along * along).max(0.0).sqrt();
        let [low, high] = self.height.map(f64::from);
        let gap = (low - along).max(along - high).max(0.0);
        let beside = (across - f64::from(self.across)).max(0.0);
        // The normal has length 1 in f32 only, which moves length between the two.
        (gap * gap + beside * beside).sqrt() * (1.0 - 1e-6)
    }
}

/// The distance [voxels] from a place to one triangle, in `f64`.
pub(super) fn distance(corners: [DVec3; 3], at: DVec3) -> f64 {
    closest_point(corners.map(|corner| corner - at), DVec3::ZERO).point.length()
}

impl Eight {
    /// The triangles with these corners [voxels], seen from the point of their patch. All of them are handy.
    pub fn new(triangles: &[[DVec3; 3]], point: DVec3) -> Self {
        let zero = [[0.0; LANES]; 3];
        let mut eight = Self { a: zero, ab: zero, ac: zero, to_b: zero, to_c: zero, per: zero };
        for lane in 0..LANES {
            let [a, b, c] = triangles[lane.min(triangles.len() - 1)];
            let (ab, ac) = (b - a, c - a);
            let normal = ab.cross(ac);
            let area = normal.length_squared();
            let vectors = [
                (&mut eight.a, a - point),
                (&mut eight.ab, ab),
                (&mut eight.ac, ac),
                (&mut eight.to_b, ac.cross(normal) / area),
                (&mut eight.to_c, normal.cross(ab) / area),
                (
                    &mut eight.per,
                    DVec3::new(ab.length_squared(), ac.length_squared(), (c - b).length_squared())
                        .recip(),
                ),
            ];
            for (rows, vector) in vectors {
                for (row, value) in rows.iter_mut().zip(vector.to_array()) {
                    row[lane] = value as f32;
                }
            }
        }
        eight
    }

    /// The squared distances [voxels²] from a place, given from the point of the patch, to the eight triangles.
    #[inline(always)]
    pub fn distances_squared(&self, at: [f32; 3]) -> Row {
        let mut found = [0.0; LANES];
        for n in 0..LANES {
            let of = |rows: &[Row; 3]| [rows[0][n], rows[1][n], rows[2][n]];
            let (ab, ac) = (of(&self.ab), of(&self.ac));
            let ap = minus(at, of(&self.a));
            // The nearest place of an edge: a part of it from one end, clamped to it.
            let to_edge = |from: [f32; 3], along: [f32; 3], per: f32| {
                let t = dot(from, along) * per;
                let t = if t > 0.0 { t } else { 0.0 };
                let t = if t < 1.0 { t } else { 1.0 };
                let rest = minus(from, times(along, t));
                dot(rest, rest)
            };
            let on_ab = to_edge(ap, ab, self.per[0][n]);
            let on_ac = to_edge(ap, ac, self.per[1][n]);
            let on_bc = to_edge(minus(ap, ab), minus(ac, ab), self.per[2][n]);
            let least = if on_ab < on_ac { on_ab } else { on_ac };
            let least = if on_bc < least { on_bc } else { least };
            // Over the inside it is the foot on the plane.
            let (v, w) = (dot(ap, of(&self.to_b)), dot(ap, of(&self.to_c)));
            let rest = minus(minus(ap, times(ab, v)), times(ac, w));
            let on_face = dot(rest, rest);
            let inside = (v > 0.0) & (w > 0.0) & (v + w < 1.0);
            found[n] = if inside { on_face } else { least };
        }
        found
    }
}

#[inline(always)]
fn minus(a: [f32; 3], b: [f32; 3]) -> [f32; 3] {
    [a[0] - b[0], a[1] - b[1], a[2] - b[2]]
}

#[inline(always)]
fn times(a: [f32; 3], s: f32) -> [f32; 3] {
    [a[0] * s, a[1] * s, a[2] * s]
}

#[inline(always)]
fn dot(a: [f32; 3], b: [f32; 3]) -> f32 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random;

    /// Eight triangles about a voxel wide, some of them as thin as a patch takes, around a place.
    fn triangles(seed: u64) -> [[DVec3; 3]; LANES] {
        let point =
            |n: u64| DVec3::from_array([0, 1, 2].map(|k| random::unit(seed, 3 * n + k) - 0.5));
        std::array::from_fn(|n| {
            let n = 4 * n as u64;
            let (a, u, v) = (point(n) * 2.0 + 5.0, point(n + 1), point(n + 2));
            let thin = 10.0_f64.powf(-2.0 * random::unit(seed, 900 + n));
            [a, a + u, a + 0.5 * u + thin * v]
        })
    }

    #[test]
    fn eight_distances_at_once_are_those_of_one_triangle_each_and_never_below_the_bound() {
        let mut seen = 0;
        for seed in 0..400 {
            let triangles = triangles(seed);
            if !triangles.iter().all(|corners| is_handy(*corners)) {
                continue;
            }
            let patch = Patch::new(&triangles, 0, 0);
            let eight = Eight::new(&triangles, patch.point);
            for n in 0..50 {
                let place = [1000, 1001, 1002].map(|k| random::unit(seed, k + 3 * n));
                let at = DVec3::from_array(place) * 12.0 - 1.0;
                let arm = (at - patch.point).as_vec3().to_array();
                for (found, corners) in eight.distances_squared(arm).into_iter().zip(triangles) {
                    let exact = distance(corners, at);
                    let error = (f64::from(found).sqrt() - exact).abs();
                    assert!(error < 1e-5, "{error} of {exact}");
                    assert!(patch.at_least(at) <= exact, "{} of {exact}", patch.at_least(at));
                    seen += 1;
                }
            }
        }
        assert!(seen > 10_000, "{seen}");
    }
}
