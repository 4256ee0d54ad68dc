//! Shapes: how embedded particles hang on degrees of freedom (Loki §6.1), forwards to place them and backwards to map the
//! gradients and matrices of elements to nodes.
//!
//! | shape | x | F | moves by |
//! |---|---|---|---|
//! | Identity | xᵢ | 1 | δx = δxᵢ |
//! | Rigid | X + R r | R F₀ | δx = δX + δθ × R r, δF_k = δθ × F_k for each column k |
//! | Weights | Σ wⱼ xⱼ | Σ xⱼ gⱼᵀ | δx = Σ wⱼ δxⱼ, δF = Σ δxⱼ gⱼᵀ |
//! | Rods | xᵢ | (t, m₁, m₂) of an edge | δx = δxᵢ, δF_k = δφ × F_k, δφ = t × (δx_b − δx_a)/|e| + t δθ |
//! | Fixed | animated | animated | nothing: kinematic targets have no unknowns |

use super::contact::ContactEnd;
use super::error::{NewtonError, Result};
use super::unknowns::{Kind, Span, Unknowns};
use crate::constraint::Placed;
use rayon::prelude::*;
use undine_core::glam::{DMat3, DVec3};

pub use super::rod::Rods;
use super::rod::{Columns, RodHang};

/// Particles that one task places.
const PARTICLES_PER_TASK: usize = 1024;

/// Where a rigid body is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pose {
    /// The centre of mass X [m].
    pub centre: DVec3,
    /// The rotation R from the body's axes to the world's.
    pub rotation: DMat3,
}

/// How all particles of an embedded particle system hang on the degrees of freedom of its Object.
#[derive(Debug, Clone, PartialEq)]
pub enum Shape {
    /// Particle i is point i.
    Identity,
    /// Each particle rides on a rigid body.
    Rigid {
        /// The body of each particle.
        body: Vec<u32>,
        /// Its position from the centre of mass [m] and its frame F₀, in the body's axes.
        rest: Vec<Placed>,
    },
    /// Each particle is a combination of points.
    Weights(Weights),
    /// Each particle is a vertex of a rod, with the frame of an edge.
    Rods(Rods),
    /// Each particle is where it is said to be.
    Fixed,
}

/// Sparse rows that combine points: for each particle, some points with a weight and a gradient.
#[derive(Debug, Clone, PartialEq)]
pub struct Weights {
    /// Where each particle's entries begin, and one end more.
    starts: Vec<u32>,
    points: Vec<u32>,
    /// w, and the components of g [1/m] behind it.
    weights: Vec<[f64; 4]>,
}

impl Default for Weights {
    fn default() -> Self {
        Self { starts: vec![0], points: Vec::new(), weights: Vec::new() }
    }
}

impl Weights {
    /// No particles yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a particle: points, each with its weight w and its gradient g [1/m] by the material position.
    pub fn add(&mut self, entries: impl IntoIterator<Item = (u32, f64, DVec3)>) {
        for (point, weight, gradient) in entries {
            self.points.push(point);
            self.weights.push([weight, gradient.x, gradient.y, gradient.z]);
        }
        self.starts.push(self.points.len() as u32);
    }

    /// How many particles there are.
    pub fn len(&self) -> usize {
        self.starts.len() - 1
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The points of a particle, and for each its weight and gradient.
    #[inline]
    pub fn of(&self, particle: usize) -> (&[u32], &[[f64; 4]]) {
        let range = self.starts[particle] as usize..self.starts[particle + 1] as usize;
        (&self.points[range.clone()], &self.weights[range])
    }
}

impl Shape {
    /// Puts the particles where the points and bodies of their Object have them; fixed ones stay.
    pub fn place(&self, points: &[DVec3], bodies: &[Pose], placed: &mut [Placed]) -> Result<()> {
        self.check("the particles to place", points.len(), bodies.len(), placed.len())?;
        let place = |particle: usize| match self {
            Self::Identity => Placed::at(points[particle]),
            Self::Rigid { body, rest } => {
                let (pose, rest) = (&bodies[body[particle] as usize], &rest[particle]);
                Placed {
                    x: pose.centre + pose.rotation * rest.x,
                    frame: pose.rotation * rest.frame,
                }
            }
            Self::Weights(weights) => {
                let (near, weights) = weights.of(particle);
                let zero = Placed { x: DVec3::ZERO, frame: DMat3::ZERO };
                near.iter().zip(weights).fold(zero, |sum, (&point, &[w, gx, gy, gz])| {
                    let x = points[point as usize];
                    let frame = DMat3::from_cols(x * gx, x * gy, x * gz);
                    Placed { x: sum.x + x * w, frame: sum.frame + frame }
                })
            }
            // Frames of rods are carried along by whoever moves them.
            Self::Rods(_) | Self::Fixed => Placed::at(DVec3::ZERO),
        };
        if !matches!(self, Self::Fixed | Self::Rods(_)) {
            let chunks = placed.par_chunks_mut(PARTICLES_PER_TASK).enumerate();
            chunks.for_each(|(task, placed)| {
                for (n, placed) in placed.iter_mut().enumerate() {
                    *placed = place(task * PARTICLES_PER_TASK + n);
                }
            });
        }
        Ok(())
    }

    /// Refuses particles that hang on what is not there.
    fn check(&self, of: &str, points: usize, bodies: usize, placed: usize) -> Result<()> {
        let length = |what, found: usize| match found == placed {
            true => Ok(()),
            false => Err(NewtonError::WrongLength { what, of: of.into(), found, wanted: placed }),
        };
        let outside = |what, entries: &[u32], wanted: usize| match entries
            .iter()
            .position(|&entry| entry as usize >= wanted)
        {
            None => Ok(()),
            Some(index) => {
                let found = entries[index] as usize;
                Err(NewtonError::OutOfRange { what, index, of: of.into(), found, wanted })
            }
        };
        match self {
            Self::Identity => length("the points", points),
            Self::Rigid { body, rest } => {
                length("the bodies of particles", body.len())?;
                length("the rest places", rest.len())?;
                outside("the body of particle", body, bodies)
            }
            Self::Weights(weights) => {
                length("the weights", weights.len())?;
                outside("the point of weight", &weights.points, points)
            }
            Self::Rods(rods) => {
                length("the vertices", points)?;
                length("the edges of vertices", rods.edge.len())?;
                length("which vertices are held", rods.held.len())?;
                outside("the edge of vertex", rods.edge.as_flattened(), points)
            }
            Self::Fixed => Ok(()),
        }
    }
}

/// An embedded particle system as elements see it: where its particles are, and what they hang on.
#[derive(Debug, Clone, Copy)]
pub struct Embedded<'a> {
    placed: &'a [Placed],
    shape: &'a Shape,
    bodies: &'a [Pose],
    /// The Object's span, if it has unknowns.
    span: Option<usize>,
    /// Its first node.
    node: usize,
}

impl<'a> Embedded<'a> {
    /// Particles of an Object whose unknowns are a span of the system; `bodies` are its poses, if it has any. Refuses a shape
    /// that does not suit the span or is not of as many particles as are placed.
    pub fn new(
        unknowns: &Unknowns,
        span: usize,
        shape: &'a Shape,
        bodies: &'a [Pose],
        placed: &'a [Placed],
    ) -> Result<Self> {
        let Some(Span { name, kind, count, node, .. }) = unknowns.spans().get(span) else {
            let (found, wanted) = (span, unknowns.spans().len());
            let of = "the system".into();
            let what = "the span of embedded particles";
            return Err(NewtonError::OutOfRange { what, index: 0, of, found, wanted });
        };
        let (points, own) = match (shape, kind) {
            (Shape::Identity | Shape::Weights(_), Kind::Points) => (*count, 0),
            (Shape::Rigid { .. }, Kind::Bodies) => (0, *count),
            (Shape::Rods(_), Kind::Rods) => (*count, 0),
            (Shape::Fixed, _) => (0, 0),
            _ => {
                let found = format!("a shape that hangs on other unknowns, on {name}");
                return Err(NewtonError::NotConnected { found, wanted: format!("{kind:?}") });
            }
        };
        if own > 0 && bodies.len() != own {
            let (what, of, found) = ("the poses", name.clone(), bodies.len());
            return Err(NewtonError::WrongLength { what, of, found, wanted: own });
        }
        shape.check(name, points, own, placed.len())?;
        let span = (*shape != Shape::Fixed).then_some(span);
        Ok(Self { placed, shape, bodies, span, node: *node })
    }

    /// Particles that are animated: they take part in elements, but nothing moves them.
    pub fn fixed(placed: &'a [Placed]) -> Self {
        Self { placed, shape: &Shape::Fixed, bodies: &[], span: None, node: 0 }
    }

    /// Where the particles are.
    pub fn placed(&self) -> &'a [Placed] {
        self.placed
    }

    /// Where the bodies of the Object are, if it has any.
    pub fn bodies(&self) -> &'a [Pose] {
        self.bodies
    }

    /// Other particles that hang on the same unknowns, by a shape that suits those, or are fixed.
    pub fn others(&self, shape: &'a Shape, placed: &'a [Placed]) -> Self {
        match (shape, self.span) {
            (Shape::Fixed, _) | (_, None) => Self::fixed(placed),
            _ => Self { placed, shape, ..*self },
        }
    }

    /// The number of the Object's span; none of fixed particles.
    pub(super) fn span(&self) -> Option<usize> {
        self.span
    }

    /// Whether the particles hang on a span of this size.
    pub(super) fn fits(&self, span: &Span) -> bool {
        match self.shape {
            Shape::Fixed => true,
            Shape::Identity => span.kind == Kind::Points && span.count == self.placed.len(),
            Shape::Rigid { .. } => span.kind == Kind::Bodies && span.count == self.bodies.len(),
            Shape::Weights(_) => span.kind == Kind::Points,
            Shape::Rods(_) => span.kind == Kind::Rods && span.count == self.placed.len(),
        }
    }

    /// The body that a particle of a rigid shape rides on.
    pub(super) fn body(&self, particle: usize) -> usize {
        match self.shape {
            Shape::Rigid { body, .. } => body[particle] as usize,
            _ => 0,
        }
    }

    /// Blocks of 3 coordinates that a particle's motion needs, at most: see [`Hang`].
    pub(super) fn blocks(&self, frames: bool) -> usize {
        match self.shape {
            Shape::Identity | Shape::Fixed => 1,
            Shape::Rigid { .. } => 2,
            Shape::Rods(_) if frames => 2,
            Shape::Weights(_) if frames => 4,
            Shape::Weights(_) | Shape::Rods(_) => 1,
        }
    }

    /// Whether its particles are vertices of rods.
    pub(super) fn is_rods(&self) -> bool {
        matches!(self.shape, Shape::Rods(_))
    }

    /// What a particle hangs on; `frames` says whether its frame matters.
    #[inline(always)]
    pub(super) fn hang(&self, particle: usize, frames: bool) -> Hang<'a> {
        match self.shape {
            Shape::Fixed => Hang::Fixed,
            Shape::Identity => Hang::Point { node: (self.node + particle) as u32 },
            Shape::Rigid { body, .. } => {
                let body = body[particle] as usize;
                Hang::Body {
                    node: (self.node + 2 * body) as u32,
                    lever: self.placed[particle].x - self.bodies[body].centre,
                }
            }
            Shape::Weights(weights) => {
                let (points, weights) = weights.of(particle);
                Hang::Weights { node: self.node as u32, points, weights }
            }
            Shape::Rods(rods) if frames => {
                Hang::Rod(rods.hang(particle, self.node, |vertex| self.placed[vertex].x))
            }
            Shape::Rods(rods) if rods.held[particle] & Rods::PLACE != 0 => Hang::Fixed,
            Shape::Rods(_) => Hang::Point { node: (self.node + 2 * particle) as u32 },
        }
    }

    /// Hands out what the nodes of its particles follow from, piece by piece; false if that is too much.
    pub(super) fn pattern(&self, part: &mut dyn FnMut(&[u32])) -> bool {
        part(&[self.placed.len() as u32, self.node as u32]);
        match self.shape {
            Shape::Fixed => part(&[0]),
            Shape::Identity => part(&[1]),
            Shape::Rigid { body, .. } => {
                part(&[2]);
                part(body);
            }
            Shape::Rods(rods) => {
                part(&[3]);
                part(rods.edge.as_flattened());
                part(&rods.held);
            }
            Shape::Weights(_) => return false,
        }
        true
    }

    /// Whether another one is of the same particles, hung on the same.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        std::ptr::eq(self.shape, other.shape)
            && (self.node, self.placed.len()) == (other.node, other.placed.len())
    }

    /// Hangs a contact on a particle: `weight` of its motion at a place [m], which on a body need not be the particle's own.
    pub fn touch(&self, particle: usize, at: DVec3, weight: f64, ends: &mut Vec<ContactEnd>) {
        match self.shape {
            Shape::Fixed => {}
            Shape::Identity => {
                let node = (self.node + particle) as u32;
                ends.push(ContactEnd { node, lever: None, weight });
            }
            Shape::Rigid { body, .. } => self.touch_body(body[particle] as usize, at, weight, ends),
            Shape::Weights(weights) => {
                let (points, weights) = weights.of(particle);
                for (point, own) in points.iter().zip(weights) {
                    let node = self.node as u32 + point;
                    ends.push(ContactEnd { node, lever: None, weight: weight * own[0] });
                }
            }
            Shape::Rods(rods) if rods.held[particle] & Rods::PLACE != 0 => {}
            Shape::Rods(_) => {
                let node = (self.node + 2 * particle) as u32;
                ends.push(ContactEnd { node, lever: None, weight });
            }
        }
    }

    /// Hangs a contact on a rigid body: `weight` of its motion at a place [m].
    pub fn touch_body(&self, body: usize, at: DVec3, weight: f64, ends: &mut Vec<ContactEnd>) {
        if let Some(pose) = self.bodies.get(body) {
            let node = (self.node + 2 * body) as u32;
            ends.push(ContactEnd { node, lever: Some(at - pose.centre), weight });
        }
    }

    /// Whether particles share nodes only inside of one point or body, so that Forces on them couple nothing.
    pub(super) fn is_local(&self) -> bool {
        !matches!(self.shape, Shape::Weights(_))
    }
}

/// What one particle hangs on, as a map from its nodes to coordinates q in blocks of 3, in which its motion is written:
///
/// - a point: q = δx;
/// - a body: q = (δX, δθ);
/// - weights: q = (δx, δF₀, δF₁, δF₂), or only δx where frames do not matter;
/// - a rod: q = (δx, δφ).
///
/// Each block of q is Σ c·δu over the nodes, c being one number per node and block; but for rods, whose turns are not of that
/// form, so that elements on them are written by rows ([`rod`](super::rod)).
#[derive(Debug, Clone, Copy)]
pub(super) enum Hang<'a> {
    Fixed,
    Point { node: u32 },
    Body { node: u32, lever: DVec3 },
    Weights { node: u32, points: &'a [u32], weights: &'a [[f64; 4]] },
    Rod(RodHang),
}

impl Hang<'_> {
    /// How many nodes it has.
    #[inline]
    pub fn count(&self) -> usize {
        match self {
            Self::Fixed => 0,
            Self::Point { .. } => 1,
            Self::Body { .. } => 2,
            Self::Weights { points, .. } => points.len(),
            Self::Rod(rod) => rod.count(),
        }
    }

    /// A node of its.
    #[inline]
    pub fn node(&self, n: usize) -> u32 {
        match self {
            Self::Fixed => u32::MAX,
            Self::Point { node } => *node,
            Self::Body { node, .. } => node + n as u32,
            Self::Weights { node, points, .. } => node + points[n],
            Self::Rod(rod) => rod.node(n),
        }
    }

    /// What the node's move does to each block of q.
    #[inline]
    pub fn coefficients<const A: usize>(&self, n: usize) -> [f64; A] {
        match self {
            Self::Fixed | Self::Rod(_) => [0.0; A],
            Self::Point { .. } => std::array::from_fn(|a| if a == 0 { 1.0 } else { 0.0 }),
            Self::Body { .. } => std::array::from_fn(|a| if a == n { 1.0 } else { 0.0 }),
            // With two blocks somebody else is a body, and frames do not matter here.
            Self::Weights { weights, .. } => std::array::from_fn(|a| match A {
                4 => weights[n][a],
                _ if a == 0 => weights[n][0],
                _ => 0.0,
            }),
        }
    }

    /// The gradient by q of something with the gradient `by_x` by the position and, if given, `by_frame` by the frame.
    #[inline]
    pub fn pull<const A: usize>(
        &self,
        at: &Placed,
        by_x: DVec3,
        by_frame: Option<&DMat3>,
    ) -> [DVec3; A] {
        let mut q = [DVec3::ZERO; A];
        match self {
            Self::Fixed => {}
            Self::Point { .. } => q[0] = by_x,
            Self::Rod(_) => {
                q[0] = by_x;
                if let (true, Some(by_frame)) = (A > 1, by_frame) {
                    for k in 0..3 {
                        q[1] += at.frame.col(k).cross(by_frame.col(k));
                    }
                }
            }
            Self::Body { lever, .. } => {
                q[0] = by_x;
                if A > 1 {
                    q[1] = lever.cross(by_x);
                    if let Some(by_frame) = by_frame {
                        for k in 0..3 {
                            q[1] += at.frame.col(k).cross(by_frame.col(k));
                        }
                    }
                }
            }
            Self::Weights { .. } => {
                q[0] = by_x;
                if let (4, Some(by_frame)) = (A, by_frame) {
                    for k in 0..3 {
                        q[1 + k] = by_frame.col(k);
                    }
                }
            }
        }
        q
    }

    /// Whether the unknowns of a node are turns [rad], and not moves [m].
    pub fn is_turn(&self, n: usize) -> bool {
        match self {
            Self::Body { .. } => n == 1,
            Self::Rod(rod) => rod.is_turn(n),
            Self::Fixed | Self::Point { .. } | Self::Weights { .. } => false,
        }
    }

    /// The particle, and what it hangs on, after its nodes have moved by `du`, each node's where `columns` has it.
    pub fn after(&self, at: &Placed, columns: &Columns, du: &[f64]) -> (Placed, Self) {
        let moved = |node: u32| DVec3::from_slice(&du[columns.of(node)..][..3]);
        match *self {
            Self::Fixed => (*at, *self),
            Self::Point { node } => (Placed { x: at.x + moved(node), ..*at }, *self),
            Self::Body { node, lever } => {
                let turn = super::rotation::exp(moved(node + 1));
                let turned = turn * lever;
                let x = at.x + moved(node) + (turned - lever);
                (Placed { x, frame: turn * at.frame }, Self::Body { node, lever: turned })
            }
            Self::Weights { node, points, weights } => {
                let mut placed = *at;
                for (point, &[w, gx, gy, gz]) in points.iter().zip(weights) {
                    let moved = moved(node + point);
                    placed.x += moved * w;
                    placed.frame += DMat3::from_cols(moved * gx, moved * gy, moved * gz);
                }
                (placed, *self)
            }
            Self::Rod(rod) => {
                let (placed, rod) = rod.after(at, columns, du);
                (placed, Self::Rod(rod))
            }
        }
    }

    /// What δx is per block of q: the matrix of each block, none beyond the second.
    #[inline]
    pub fn moves<const A: usize>(&self) -> [DMat3; A] {
        let mut blocks = [DMat3::ZERO; A];
        match self {
            Self::Fixed => {}
            Self::Point { .. } | Self::Weights { .. } | Self::Rod(_) => {
                blocks[0] = DMat3::IDENTITY;
            }
            Self::Body { lever, .. } => {
                blocks[0] = DMat3::IDENTITY;
                if A > 1 {
                    blocks[1] = -super::rotation::cross(*lever);
                }
            }
        }
        blocks
    }
}
