//! Undine as a library: every Behavior, and running, resuming and caching a setup.
//!
//! [`mod@behaviors`] lists what there is; [`prepare`] makes a Simulation of a scene, and [`mod@advice`] says what that lacks; [`run`](mod@run) makes its frames and writes
//! them into a [`cache`], whole or not at all; [`report`] shows what it did. [`shapes`] says what colliders and bodies look like;
//! [`mod@surface`] makes meshes of points.

pub mod advice;
pub mod behaviors;
pub mod cache;
pub mod estimate;
pub mod frames;
pub mod prepare;
pub mod preview;
pub mod report;
pub mod run;
pub mod shapes;
pub mod surface;
pub mod view;

pub use behaviors::{behaviors, catalogue, declarations};
pub use run::{ExitCode, Listener, Options, RunError, run};
