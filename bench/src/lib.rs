//! Undine's benchmarks, and the harness that runs them: median of five, a memory triad before and after as the
//! yardstick, a hash of every result, and one last line of `key=value` to compare. `README.md` explains the keys.
//!
//! A benchmark is one file with a [`harness::Benchmark`] in it, and one line in [`list::BENCHMARKS`].

pub mod ccd;
pub mod closest;
pub mod dam;
pub mod direct;
pub mod flip_dam;
pub mod flip_scale;
pub mod groom;
pub mod hair;
pub mod harness;
pub mod hash;
pub mod lcp;
pub mod list;
pub mod machine;
pub mod manybodies;
pub mod measure;
pub mod mesh_sdf;
pub mod neighbours;
pub mod particle_flight;
pub mod peers;
pub mod poisson;
pub mod poisson_cut;
pub mod random;
pub mod rebucketize;
pub mod record;
pub mod redistance;
pub mod render_mesh;
pub mod render_points;
pub mod render_volume;
pub mod report;
pub mod simulated;
pub mod smoke;
pub mod stencil;
pub mod surface;
pub mod tank;
pub mod transfer;
pub mod triad;
pub mod vdb_files;
pub mod vdb_read;
pub mod vdb_write;
pub mod viscosity;
pub mod wind;

/// Any error ends a benchmark; only the command line looks at it, to print it.
pub type Result<T, E = Box<dyn std::error::Error + Send + Sync>> = std::result::Result<T, E>;
