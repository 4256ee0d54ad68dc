//! Transfers between particles and the faces of a MAC grid: PIC, FLIP (Zhu and Bridson 2005; Jones,
//! §2.3) and APIC (Jiang et al. 2015), with linear or quadratic kernels.
//!
//! - [`particles_to_mac`] adds the particles' momentum and mass to the faces around them;
//! - [`momentum_to_velocity`] divides one by the other;
//! - [`mac_to_particles`] gives the grid's velocity back to the particles.
//!
//! Each component of velocity lives on faces of its own, and has its own weights. With `x_i` the place
//! of a face, `x_p` that of a particle, `w_i` the kernel's weight and `c_a` the gradient of component
//! `a` (a row of the affine matrix C [1/s]):
//!
//! ```text
//! to grid       m_i  += w_i m_p
//!               mv_i += w_i m_p (v_a + c_a · (x_i − x_p))
//! to particles  v_a   = Σ w_i u_i
//!               c_a   = 4/Δx² Σ w_i u_i (x_i − x_p)   quadratic kernels
//!               c_a   = Σ ∇w_i u_i                    linear kernels
//! ```
//!
//! Positions are offsets from the corner of a Bucket, so that results do not depend on where in the
//! world a Bucket lies. Values are not looked at: a NaN in a velocity or mass, which is the caller's
//! to prevent, spreads to the faces around it, and one voxel further along z.

mod check;
mod eight;
mod stencil;
mod to_grid;
mod to_particles;

pub use to_grid::{Carried, Mass, momentum_to_velocity, particles_to_mac};
pub use to_particles::{Method, mac_to_particles};

/// How a particle's weight is spread over the faces around it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Kernel {
    /// Two faces along each axis: the tent function.
    Linear,
    /// Three faces along each axis: the quadratic B-spline.
    #[default]
    Quadratic,
}
