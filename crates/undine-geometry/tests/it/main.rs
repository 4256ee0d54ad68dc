//! The tests of geometry, as one program.

mod fractions;
mod bvh;
mod ccd;
mod gallery;
mod levelset;
mod solids;
mod motion;
mod shapes;
mod mesh_decimate;
mod mesh_refine;
mod mesh_repair;
mod mesh_sampling;
mod mesh_weld;
