//! Constraints: energies ½ Cᵀ S C over a few embedded particles, written once and used on every Object.
//!
//! Follows *Loki: A Unified Multiphysics Simulation Framework*, §6.3, whose energy and Rayleigh potential lack the usual ½:
//! with it, S of a spring is its stiffness. A [`Constraint`] says what C, its gradient and S are for one element. Where the
//! particles hang on degrees of freedom ([`newton::shape`](crate::newton::shape)), whether the rows are stiff or get Lagrange
//! multipliers ([`newton::element`](crate::newton::element)), [`damping`] and friction ([`dahl`]) are not its concern.
//!
//! A new Constraint is tried by [`harness::check_constraint`].

pub mod dahl;
pub mod damping;
pub mod harness;
pub mod project;

use undine_core::glam::{DMat3, DVec3};

/// An embedded particle where it is now.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Placed {
    /// World position [m].
    pub x: DVec3,
    /// The affine frame F: what has become of the material's unit vectors around the particle.
    pub frame: DMat3,
}

impl Placed {
    /// A particle whose frame is that of the world.
    pub fn at(x: DVec3) -> Self {
        Self { x, frame: DMat3::IDENTITY }
    }
}

/// The M rows of a Constraint on N particles: C and its gradient.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rows<const M: usize, const N: usize> {
    /// C.
    pub value: [f64; M],
    /// ∂C/∂x by row and particle.
    pub by_position: [[DVec3; N]; M],
    /// ∂C/∂F by row and particle, each entry where that of F is. Read only if [`Constraint::FRAMES`].
    pub by_frame: [[DMat3; N]; M],
}

impl<const M: usize, const N: usize> Rows<M, N> {
    /// All zero.
    pub const ZERO: Self = Self {
        value: [0.0; M],
        by_position: [[DVec3::ZERO; N]; M],
        by_frame: [[DMat3::ZERO; N]; M],
    };
}

/// The scaling matrix S of an element: the stiffness of its rows.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Scaling<const M: usize> {
    /// Rows that do not know of each other. An infinite entry is a hard row; only compliance mode can have it.
    Diagonal([f64; M]),
    /// Any symmetric positive semi-definite matrix.
    Full([[f64; M]; M]),
}

impl<const M: usize> Scaling<M> {
    /// S·c.
    #[inline]
    pub fn times(&self, c: &[f64; M]) -> [f64; M] {
        match self {
            Self::Diagonal(s) => std::array::from_fn(|m| s[m] * c[m]),
            Self::Full(s) => {
                std::array::from_fn(|m| s[m].iter().zip(c).fold(0.0, |sum, (s, c)| sum + s * c))
            }
        }
    }

    /// The entry of a row on the diagonal.
    #[inline]
    pub fn diagonal(&self, row: usize) -> f64 {
        match self {
            Self::Diagonal(s) => s[row],
            Self::Full(s) => s[row][row],
        }
    }

    /// Whether a row is hard: infinitely stiff.
    #[inline]
    pub fn is_hard(&self, row: usize) -> bool {
        matches!(self, Self::Diagonal(s) if s[row] == f64::INFINITY)
    }
}

/// The derivatives of a Constraint by one of its parameters, for inverse dynamics.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ByParameter<const M: usize> {
    /// ∂C/∂p.
    pub value: [f64; M],
    /// ∂S/∂p, if the scaling depends on the parameter.
    pub scaling: Option<Scaling<M>>,
}

/// The sums Σ wₘ ∂²Cₘ/∂xₐ∂x_b by pair of particles.
pub type Curvature<const N: usize> = [[DMat3; N]; N];

/// M functions C of N embedded particles, with the energy ½ Cᵀ S C.
///
/// Where a function has no derivative, such as the length of a spring without any, its gradient is zero: then nothing
/// pushes, and nothing that is not a number comes out. Elements do not know of each other, and calls run on all threads.
pub trait Constraint<const M: usize, const N: usize>: Sync {
    /// What an element keeps: rest values, its stiffness.
    type Element: Copy + Send + Sync;

    /// Whether the rows depend on the particles' frames.
    const FRAMES: bool = false;

    /// How many parameters have derivatives ([`Self::by_parameter`]).
    const PARAMETERS: usize = 0;

    /// How many of the first parameters are rest values, which inverse dynamics may choose.
    const REST_PARAMETERS: usize = 0;

    /// C and its gradient.
    fn evaluate(&self, element: &Self::Element, at: &[Placed; N]) -> Rows<M, N>;

    /// S.
    fn scaling(&self, element: &Self::Element) -> Scaling<M>;

    /// Σ wₘ ∂²Cₘ/∂x∂x for the given weights. Without it the energy's matrix is ∇Cᵀ S ∇C alone, which suffices for rows that
    /// are nearly linear and for small forces.
    fn curvature(
        &self,
        element: &Self::Element,
        at: &[Placed; N],
        weights: &[f64; M],
    ) -> Option<Curvature<N>> {
        let _ = (element, at, weights);
        None
    }

    /// What is left of the curvature when ∇Cᵀ S ∇C and it together are made positive semi-definite, where that has a closed form; else it
    /// is found by eigenvalues, which takes many times as long.
    fn convex_curvature(
        &self,
        element: &Self::Element,
        at: &[Placed; N],
        weights: &[f64; M],
    ) -> Option<Curvature<N>> {
        let _ = (element, at, weights);
        None
    }

    /// A parameter of an element, to be read or set; none beyond [`Self::PARAMETERS`].
    fn parameter<'a>(
        &self,
        element: &'a mut Self::Element,
        parameter: usize,
    ) -> Option<&'a mut f64> {
        let _ = (element, parameter);
        None
    }

    /// Within which bounds inverse dynamics may choose a parameter of an element that is as it began.
    fn bounds(&self, element: &Self::Element, parameter: usize) -> [f64; 2] {
        let _ = (element, parameter);
        [f64::NEG_INFINITY, f64::INFINITY]
    }

    /// The derivatives by a parameter. Parameters are rest values or stiffnesses: ∇C does not depend on them, so that
    /// ∂f/∂p = −∇Cᵀ (S ∂C/∂p + ∂S/∂p C).
    fn by_parameter(
        &self,
        element: &Self::Element,
        at: &[Placed; N],
        parameter: usize,
    ) -> Option<ByParameter<M>> {
        let _ = (element, at, parameter);
        None
    }
}
