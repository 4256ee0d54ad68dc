//! Cases of `undine-core`: what nature says of its kernels, and the same bytes on more threads, processes and kills
//! than the tests have time for.
//!
//! A case is a function that returns a verdict of figures, and a line in [`CASES`]:
//!
//! ```
//! use validation::{Case, Verdict};
//!
//! const FALL: Case = Case {
//!     name: "free-fall",
//!     doc: "A body falls ½gt² (Galilei 1638), here summed by the midpoint rule, which is exact for it.",
//!     run: free_fall,
//! };
//!
//! fn free_fall() -> Verdict {
//!     let (g, steps) = (9.81, 1000);
//!     let dt = 2.0 / steps as f64;
//!     let depth: f64 = (0..steps).map(|step| g * (step as f64 + 0.5) * dt * dt).sum();
//!     Verdict::new().near("depth after 2 s [m]", depth, 0.5 * g * 4.0, 1e-9)
//! }
//!
//! assert!(FALL.execute().verdict.passed);
//! ```

mod diffusion;
mod heat;
mod processes;
mod rotation;
mod same_bytes;

pub use processes::child;

use crate::page::Case;

/// The cases, in the order in which they run.
pub const CASES: &[Case] = &[
    diffusion::DIFFUSION,
    rotation::ROTATION,
    rotation::WHIRL,
    same_bytes::SAME_BYTES,
    processes::PROCESSES,
    processes::KILLS,
];
