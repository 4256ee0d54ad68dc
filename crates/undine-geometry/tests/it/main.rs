//! The tests of geometry, as one program.

mod bvh;
mod bvh_near;
mod ccd;
mod collider;
mod collider_edges;
mod collider_hostile;
mod deforming;
mod forms;
mod fractions;
mod gallery;
mod levelset;
mod levelset_advect;
mod levelset_bits;
mod levelset_extrapolate;
mod levelset_redistance;
mod levelset_tools;
mod mesh_decimate;
mod mesh_mass;
mod mesh_refine;
mod mesh_repair;
mod mesh_sampling;
mod mesh_weld;
mod motion;
#[cfg(feature = "mpi")]
mod mpi;
mod shapes;
mod solids;
mod surfacing;
mod tet;
mod thin_walls;
mod voxelize;
mod winding;
