//! The pressure of fluids: one type of system for all of them, solved by CG with multigrid on Buckets.

mod coarsest;
mod constants;
mod csr;
mod deflate;
mod drag;
mod exchange;
mod half;
mod held;
mod input;
mod level;
mod multigrid;
mod piece;
mod product;
mod regions;
mod rigid;
mod small;
mod smooth;
mod stencil;
mod sweep;
mod system;
mod tables;

pub use csr::PressureMatrix;
pub use deflate::{Deflated, LIGHT};
pub use drag::{FaceCoupling, FaceResponse, FaceVelocity};
pub use half::{place, voxel};
pub use input::{InverseDensity, Open, PressureInput, Surface, fraction, inverse_of_mean, is_open};
pub use multigrid::Multigrid;
pub use rigid::{Coupled, MOTIONS, Motion, RigidTerm};
pub use system::PressureSystem;
