//! How often a mesh winds around a place: the inside test that open, doubled and self-intersecting meshes do not
//! confuse (Jacobson, Kavan & Sorkine-Hornung, *Robust inside-outside segmentation using generalized winding numbers*,
//! 2013), and its fast approximation (Barill, Dickson, Schmidt, Levin & Jacobson, *Fast winding numbers for soups and
//! clouds*, 2018).
//!
//! The winding number is the sum of the solid angles under which the triangles are seen, over 4π. It is 1 inside of a
//! closed mesh that looks outwards, 0 outside, −1 inside of one that looks inwards, 2 where two of them overlap, and
//! in the openings of a mesh a smooth passage between. Scaling does not change it.

use crate::bvh::{Branch, Bvh};
use crate::error::{GeometryError, Result};
use crate::triangles::Triangles;
use rayon::prelude::*;
use std::f64::consts::{PI, TAU};
use undine_core::glam::{DMat3, DVec3, Mat3, Vec3};

/// The winding number of a mesh around `at` [m], from all of its triangles in their order.
///
/// At a place on the surface a triangle counts as seen from within its plane: not at all.
pub fn winding_number(mesh: &Triangles, at: DVec3) -> f64 {
    mesh.iter().map(|corners| solid_angle(corners, at)).sum::<f64>() / (2.0 * TAU)
}

/// The solid angle [sr] under which a triangle is seen from `at`, positive from behind (Van Oosterom & Strackee 1983).
pub fn solid_angle(corners: [DVec3; 3], at: DVec3) -> f64 {
    let [a, b, c] = corners.map(|corner| corner - at);
    let [la, lb, lc] = [a.length(), b.length(), c.length()];
    let volume = a.dot(b.cross(c));
    let rest = la * lb * lc + a.dot(b) * lc + b.dot(c) * la + c.dot(a) * lb;
    let half = volume.atan2(rest);
    // Within the triangle's plane, and on its corners, it is seen from neither side.
    if volume == 0.0 || !half.is_finite() { 0.0 } else { 2.0 * half }
}

/// Where the triangles of a mesh look to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Orientation {
    /// The mesh encloses more than it excludes: its volume is positive.
    Outwards,
    /// It is inside out: its volume is negative.
    Inwards,
}

/// Where a mesh looks to: the sign of the volume that its triangles enclose with their middle. Flat meshes look
/// outwards.
pub fn orientation(mesh: &Triangles) -> Orientation {
    let middle = mesh.bounds().map_or(DVec3::ZERO, |bounds| bounds.centre());
    let volume: f64 = mesh
        .iter()
        .map(|corners| corners.map(|corner| corner - middle))
        .map(|[a, b, c]| a.dot(b.cross(c)))
        .sum();
    if volume < 0.0 { Orientation::Inwards } else { Orientation::Outwards }
}

/// What of a mesh counts as its inside.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Rule {
    /// Where the winding number is above ½: inside of meshes that look outwards. A mesh that looks inwards has no
    /// inside but what it encloses counts as a cavity of those around it.
    #[default]
    Positive,
    /// Where the winding number is further from 0 than ½: inside of meshes whichever way they look. A cavity inside
    /// of a mesh must still look the other way.
    NonZero,
}

impl Rule {
    /// Whether a place with this winding number is inside.
    pub fn is_inside(self, winding: f64) -> bool {
        match self {
            Self::Positive => winding > 0.5,
            Self::NonZero => winding.abs() > 0.5,
        }
    }
}

/// The sums over a cluster of triangles that its far field consists of: the Taylor series of Barill et al. (2018),
/// equation 19, with the moments of whole triangles.
#[derive(Debug, Clone, Copy)]
struct Sums {
    /// The area-weighted middle [m].
    middle: DVec3,
    /// No triangle is further from the middle [m].
    radius: f64,
    /// ∫ n dA [m²].
    dipole: DVec3,
    /// ∫ n ⊗ d dA, d being the way from the middle [m³].
    quadrupole: DMat3,
    /// ½ ∫ nᵢ d ⊗ d dA for each component i of the normal [m⁴].
    octupole: [DMat3; 3],
    /// The sum of the areas [m²].
    area: f64,
}

/// The same, as it is kept: moments in units of the radius, for which `f32` is enough.
#[derive(Debug, Clone, Copy)]
struct Cluster {
    middle: DVec3,
    radius: f64,
    dipole: Vec3,
    quadrupole: Mat3,
    octupole: [Mat3; 3],
}

/// A fast winding number of the mesh of a [`Bvh`].
///
/// Clusters of triangles that are further away than `accuracy` times their radius are seen as a dipole, a quadrupole
/// and an octupole, whose error falls with the cube of `accuracy`; with 2, which is the default, the winding number is
/// within 0.003 of the exact one on meshes (0.0003 on average), and with 4 within 0.0002. It takes about 50 bytes per
/// triangle.
#[derive(Debug, Clone)]
pub struct Winding {
    accuracy: f64,
    /// For each node of the tree its own cluster, then for each leaf.
    clusters: Vec<Cluster>,
    nodes: usize,
}

impl Winding {
    /// With the usual accuracy of 2.
    pub fn new(bvh: &Bvh) -> Self {
        Self::sums(bvh, 2.0)
    }

    /// With an accuracy of at least 1.
    pub fn with_accuracy(bvh: &Bvh, accuracy: f64) -> Result<Self> {
        if accuracy >= 1.0 {
            return Ok(Self::sums(bvh, accuracy));
        }
        Err(GeometryError::BadParameter {
            what: "the accuracy of a winding number",
            found: accuracy,
            wanted: "at least 1",
        })
    }

    /// The sums over all clusters, from the leaves up.
    fn sums(bvh: &Bvh, accuracy: f64) -> Self {
        let tree = bvh.tree();
        let nodes = tree.nodes();
        let leaves: Vec<Sums> = (0..tree.leaves())
            .into_par_iter()
            .map(|leaf| of_triangles(bvh.triangles(), tree.triangles(leaf)))
            .collect();
        let mut sums = vec![Sums::NONE; nodes];
        for node in (0..nodes).rev() {
            let parts: Vec<Sums> = tree
                .children(node)
                .map(|child| match child {
                    Branch::Node(node) => sums[node],
                    Branch::Leaf(leaf) => leaves[leaf],
                })
                .collect();
            sums[node] = of_parts(&parts);
        }
        let clusters = sums.par_iter().chain(&leaves).map(Cluster::new).collect();
        Self { accuracy, clusters, nodes }
    }

    /// The winding number around `at` [m] of the mesh of `bvh`, which must be the one that this was made of, not
    /// refitted since. Where `at` is not finite it is 0.
    pub fn number(&self, bvh: &Bvh, at: DVec3) -> f64 {
        if !at.is_finite() || self.nodes == 0 {
            return 0.0;
        }
        let tree = bvh.tree();
        let mut sum = 0.0;
        let mut stack = vec![Branch::Node(0)];
        while let Some(branch) = stack.pop() {
            let cluster = match branch {
                Branch::Node(node) => &self.clusters[node],
                Branch::Leaf(leaf) => &self.clusters[self.nodes + leaf],
            };
            let from = cluster.middle - at;
            let far = self.accuracy * cluster.radius;
            if from.length_squared() > far * far {
                sum += cluster.far_field(from);
                continue;
            }
            match branch {
                Branch::Node(node) => stack.extend(tree.children(node)),
                Branch::Leaf(leaf) => {
                    let triangles = tree.triangles(leaf).iter();
                    sum += triangles
                        .map(|&triangle| {
                            solid_angle(bvh.triangles().corners(triangle as usize), at)
                        })
                        .sum::<f64>();
                }
            }
        }
        sum / (4.0 * PI)
    }
}

impl Cluster {
    fn new(sums: &Sums) -> Self {
        let scale = if sums.radius > 0.0 { 1.0 / sums.radius } else { 0.0 };
        let [one, two, three] = [scale * scale, scale.powi(3), scale.powi(4)];
        Self {
            middle: sums.middle,
            radius: sums.radius,
            dipole: (sums.dipole * one).as_vec3(),
            quadrupole: (sums.quadrupole * two).as_mat3(),
            octupole: sums.octupole.map(|part| (part * three).as_mat3()),
        }
    }

    /// The solid angle [sr] of the cluster, seen from far away, its middle being at `r`: the moments against the
    /// field r/|r|³ and its derivatives, in powers of k = radius/|r|.
    #[inline]
    fn far_field(&self, r: DVec3) -> f64 {
        let distance = r.length();
        let k = (self.radius / distance) as f32;
        let r = (r / distance).as_vec3();
        let q = &self.quadrupole;
        let quadrupole = trace(q) - 3.0 * r.dot(*q * r);
        let [x, y, z] = &self.octupole;
        // Mᵢⱼⱼ rᵢ, Mᵢᵢₖ rₖ and Mᵢⱼₖ rᵢ rⱼ rₖ.
        let traces = trace(x) * r.x + trace(y) * r.y + trace(z) * r.z;
        let across = (x.x_axis + y.y_axis + z.z_axis).dot(r);
        let turned = *x * r * r.x + *y * r * r.y + *z * r * r.z;
        let octupole = 15.0 * turned.dot(r) - 3.0 * (traces + 2.0 * across);
        f64::from(k * k * (self.dipole.dot(r) + k * (quadrupole + k * octupole)))
    }
}

fn trace(matrix: &Mat3) -> f32 {
    matrix.x_axis.x + matrix.y_axis.y + matrix.z_axis.z
}

impl Sums {
    /// Of nothing.
    const NONE: Self = Self {
        middle: DVec3::ZERO,
        radius: 0.0,
        dipole: DVec3::ZERO,
        quadrupole: DMat3::ZERO,
        octupole: [DMat3::ZERO; 3],
        area: 0.0,
    };

    /// The moments around another middle.
    fn add_to(&self, sums: &mut Self) {
        let d = self.middle - sums.middle;
        sums.dipole += self.dipole;
        sums.quadrupole += self.quadrupole + outer(self.dipole, d);
        for (axis, sum) in sums.octupole.iter_mut().enumerate() {
            let first = self.quadrupole.row(axis);
            *sum += self.octupole[axis]
                + 0.5 * (outer(first, d) + outer(d, first))
                + outer(d, d) * (0.5 * self.dipole[axis]);
        }
    }
}

/// The matrix a ⊗ b: its entry in row i and column j is aᵢbⱼ.
fn outer(a: DVec3, b: DVec3) -> DMat3 {
    DMat3::from_cols(a * b.x, a * b.y, a * b.z)
}

fn of_triangles(mesh: &Triangles, triangles: &[u32]) -> Sums {
    let single = |&triangle: &u32| {
        let corners = mesh.corners(triangle as usize);
        let [a, b, c] = corners;
        let dipole = 0.5 * (b - a).cross(c - a);
        let middle = (a + b + c) / 3.0;
        let ways = corners.map(|corner| corner - middle);
        // The mean of d ⊗ d over a triangle is a twelfth of the sum over its corners.
        let spread =
            ways.iter().fold(DMat3::ZERO, |sum, &way| sum + outer(way, way)) * (1.0 / 12.0);
        Sums {
            middle,
            radius: ways.iter().map(|way| way.length()).fold(0.0, f64::max),
            dipole,
            quadrupole: DMat3::ZERO,
            octupole: dipole.to_array().map(|normal| spread * (0.5 * normal)),
            area: dipole.length(),
        }
    };
    of_parts(&triangles.iter().map(single).collect::<Vec<_>>())
}

fn of_parts(parts: &[Sums]) -> Sums {
    let area: f64 = parts.iter().map(|part| part.area).sum();
    let weighted: DVec3 = parts.iter().map(|part| part.middle * part.area).sum();
    let mean = parts.iter().map(|part| part.middle).sum::<DVec3>() / parts.len().max(1) as f64;
    // Without area every middle is as good.
    let middle = if area > 0.0 { weighted / area } else { mean };
    let reach = |part: &Sums| part.middle.distance(middle) + part.radius;
    // Room for the rounding of the sums, so that nothing far is ever near.
    let radius = parts.iter().map(reach).fold(0.0, f64::max) * (1.0 + 1e-9);
    let mut sums = Sums { middle, radius, area, ..Sums::NONE };
    for part in parts {
        part.add_to(&mut sums);
    }
    sums
}
