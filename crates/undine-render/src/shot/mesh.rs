//! A mesh of triangles, and what it is made of.

use super::{Colouring, Numbers, Places, Vectors};
use std::borrow::Cow;
use undine_core::glam::{DMat3, DQuat, DVec3, Vec3};
use undine_core::mesh::Bounds;

/// What the surface of a mesh is like.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Finish {
    /// Of its own colour, a little glossy.
    Solid,
    /// The same, but seen from its front alone: one looks into a room through the wall that is nearer.
    Room,
    /// As water: it mirrors the sky, bends what is behind it, and takes light away by depth.
    Water {
        /// How much of red, green and blue light a metre takes away [1/m].
        absorption: Vec3,
    },
}

/// How a whole thing moves and turns while the shutter is open.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Turning {
    /// What it turns about, in the world [m].
    pub about: DVec3,
    /// How fast that moves [m/s].
    pub velocity: DVec3,
    /// How fast it turns, along the axis that it turns about [rad/s].
    pub spin: DVec3,
}

impl Turning {
    /// The turn until a moment [s], which is exact however far it goes, and where it leaves the origin of the world [m].
    pub fn until(&self, moment: f64) -> (DMat3, DVec3) {
        let turned = DMat3::from_quat(DQuat::from_scaled_axis(moment * self.spin));
        (turned, self.about - turned * self.about + moment * self.velocity)
    }
}

/// A mesh of triangles.
#[derive(Debug, Clone)]
pub struct Mesh<'a> {
    /// Where its vertices are, in its own coordinates.
    pub positions: Places<'a>,
    /// The vertices of each triangle; each is less than there are vertices.
    pub triangles: Cow<'a, [[u32; 3]]>,
    /// What its coordinates are turned and scaled by, and then moved by [m].
    pub placed: Option<(DMat3, DVec3)>,
    /// Normals of the vertices; from the triangles, if not given.
    pub normals: Option<Vectors<'a>>,
    /// Whether it looks smooth across edges of less than 40°, or each triangle is flat.
    pub smooth: bool,
    /// How fast its vertices are [m/s].
    pub velocities: Option<Vectors<'a>>,
    /// How it moves as a whole, besides.
    pub turning: Option<Turning>,
    /// What colours its vertices.
    pub values: Option<Numbers<'a>>,
    /// What colours it.
    pub colouring: Colouring,
    /// What its surface is like.
    pub finish: Finish,
}

impl Mesh<'_> {
    /// A vertex in the world [m].
    pub fn vertex(&self, n: usize) -> DVec3 {
        let own = self.positions.at(n);
        self.placed.map_or(own, |(turned, moved)| turned * own + moved)
    }

    /// The box around its vertices.
    pub fn bounds(&self) -> Option<Bounds> {
        match self.placed {
            None => self.positions.bounds(),
            Some(_) => super::bounds_of((0..self.positions.len()).map(|n| self.vertex(n))),
        }
    }
}
