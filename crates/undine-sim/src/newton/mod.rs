//! The Newton loop's numerics: backward Euler as a minimisation, on plain arrays.
//!
//! A step of Δt finds the state x that makes
//!
//! Φ(x) = ½ (x − x̃)ᵀ M (x − x̃)/Δt² + E(x) + Δt · dissipation − work of the Forces
//!
//! smallest, x̃ being where inertia alone would take it (Martin et al. 2011, *Example-based elastic materials*; Loki §6.2–6.5).
//! Unknowns come in *nodes* ([`unknowns`]): 3 of a point, 3 + 3 of a rigid body, 1 of a scalar such as a twist. Embedded
//! particles hang on them by their [`shape`]. Constraints ([`element`]) and Forces ([`force`]) fill element gradients and
//! matrices through it, [`system`] adds those up and finds the Newton step, and [`iterate`](mod@iterate) repeats that to
//! convergence with a line search.

mod apart;
mod border;
mod cluster;
pub mod contact;
mod coordinates;
pub mod coulomb;
mod downhill;
pub mod element;
pub mod equilibrium;
pub mod error;
pub mod force;
pub mod inverse;
mod island;
pub mod iterate;
mod linear;
mod local;
mod parts;
mod response;
pub mod rod;
pub mod rotation;
mod saddle;
pub mod shape;
mod share;
mod sweep;
pub mod system;
pub mod term;
pub mod touch;
pub mod unknowns;

pub use contact::{Contact, ContactEnd, Contacts};
pub use element::{ConstraintTerm, Damping, Mode, Values};
pub use equilibrium::Equilibrium;
pub use error::NewtonError;
pub use force::ForceTerm;
pub use iterate::{
    Linearised, Merit, NewtonOutcome, NewtonReport, NewtonSettings, Problem, iterate,
};
pub use shape::{Embedded, Pose, Shape, Weights};
pub use sweep::SPREAD;
pub use system::{Iterate, Solved, System, SystemSettings};
pub use term::Term;
pub use touch::{TouchReport, TouchSettings, settle};
pub use unknowns::{Inertia, Kind, Unknowns};
