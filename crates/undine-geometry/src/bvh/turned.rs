//! Boxes that lie along the surface, for distances.
//!
//! A box along the axes reaches beyond a slanted patch of a surface by about the patch's size s. From a distance d
//! everything within √(2ds) of the nearest point then looks near enough to be asked: a hundred leaves where one would
//! do. A box turned along the patch's normal is as thin as the patch is flat, and leaves few (after the oriented boxes
//! of Gottschalk, Lin & Manocha 1996, turned by normals instead of covariances).

use super::frame::{Frame, round_up};
use super::leaf::Leaf;
use super::node::{Cell, Child, Lanes, WIDTH};
use undine_core::glam::{DMat3, DVec3, Vec3};

/// The turned boxes of a node's eight children, with what lies under them.
#[derive(Debug, Clone)]
#[repr(align(64))]
pub(super) struct Turned {
    /// The directions of the boxes' sides.
    axes: [[Lanes; 3]; 3],
    centre: [Lanes; 3],
    /// Half of the sides' lengths; below zero where there is no child.
    half: [Lanes; 3],
    pub(super) children: [Child; WIDTH],
}

impl Turned {
    pub(super) const EMPTY: Self = Self {
        axes: [[[0.0; WIDTH]; 3]; 3],
        centre: [[0.0; WIDTH]; 3],
        half: [[f32::NEG_INFINITY; WIDTH]; 3],
        children: [Child::NONE; WIDTH],
    };

    /// The error of a distance from a point `at`, in the tree's coordinates: of the point and the centre, which are
    /// rounded, of the axes, whose lengths and angles are, and of the sums.
    #[inline(always)]
    pub(super) fn error(at: Vec3) -> f32 {
        1e-6 * (2.0 + at.x.abs() + at.y.abs() + at.z.abs())
    }

    /// The squared distances of the boxes from a point `at` in the tree's coordinates.
    #[inline(always)]
    pub(super) fn distances_squared(&self, at: Vec3) -> Lanes {
        let mut found = [0.0; WIDTH];
        for lane in 0..WIDTH {
            let x = at.x - self.centre[0][lane];
            let y = at.y - self.centre[1][lane];
            let z = at.z - self.centre[2][lane];
            let mut sum = 0.0;
            for side in 0..3 {
                let [u, v, w] = &self.axes[side];
                let along = u[lane] * x + v[lane] * y + w[lane] * z;
                let outside = along.abs() - self.half[side][lane];
                let outside = if outside > 0.0 { outside } else { 0.0 };
                sum += outside * outside;
            }
            found[lane] = sum;
        }
        found
    }

    /// Fits the box of a child around its `leaves`, turned along `normal` unless `cell`, the box along the axes, has
    /// the lesser surface.
    pub(super) fn fit(
        &mut self,
        slot: usize,
        leaves: &[Leaf],
        cell: &Cell,
        normal: DVec3,
        frame: &Frame,
    ) {
        let upright = Side::along_the_axes(cell);
        let side = match normal.try_normalize() {
            Some(normal) => {
                let turned = Side::along(normal, leaves, cell, frame);
                if turned.half_area() < upright.half_area() { turned } else { upright }
            }
            None => upright,
        };
        for axis in 0..3 {
            for (lanes, component) in self.axes[axis].iter_mut().zip(side.axes[axis].to_array()) {
                lanes[slot] = component;
            }
            self.centre[axis][slot] = side.centre[axis];
            self.half[axis][slot] = side.half[axis];
        }
    }
}

/// One turned box.
struct Side {
    axes: [Vec3; 3],
    centre: Vec3,
    half: [f32; 3],
}

impl Side {
    fn along_the_axes(cell: &Cell) -> Self {
        let middle = |axis: usize| 0.5 * (cell.low[axis] + cell.high[axis]);
        let centre = Vec3::new(middle(0), middle(1), middle(2));
        let half = |axis: usize| {
            let [low, high, middle] =
                [cell.low[axis], cell.high[axis], centre[axis]].map(f64::from);
            round_up((high - middle).max(middle - low))
        };
        Self { axes: [Vec3::X, Vec3::Y, Vec3::Z], centre, half: [half(0), half(1), half(2)] }
    }

    fn along(normal: DVec3, leaves: &[Leaf], cell: &Cell, frame: &Frame) -> Self {
        let (first, second) = normal.any_orthonormal_pair();
        // The rounded axes are the axes: what is measured along them has no error from them.
        let axes = [first, second, normal].map(DVec3::as_vec3);
        let turn =
            DMat3::from_cols_array_2d(&axes.map(|axis| axis.as_dvec3().to_array())).transpose();
        let middle = |axis: usize| 0.5 * (f64::from(cell.low[axis]) + f64::from(cell.high[axis]));
        let middle = DVec3::new(middle(0), middle(1), middle(2));
        let (low, high) = leaves
            .iter()
            .map(|leaf| leaf.extent(&axes, &turn, middle))
            .fold((DVec3::INFINITY, DVec3::NEG_INFINITY), |(low, high), (from, to)| {
                (low.min(from), high.max(to))
            });
        let centre = (middle + turn.transpose() * (0.5 * (low + high))).as_vec3();
        let shift = turn * (middle - centre.as_dvec3());
        let half = (high + shift).max(-(low + shift)) + frame.margin;
        Self { axes, centre, half: half.to_array().map(round_up) }
    }

    fn half_area(&self) -> f32 {
        let [x, y, z] = self.half;
        x * y + y * z + z * x
    }
}
