//! What flows into each liquid cell per volume and time: the right-hand side of the pressure equation.
//!
//! Through a face flows the fluid in its open part A and the wall in the rest (Batty, Bertails and Bridson, "A fast variational
//! framework for accurate solid-fluid coupling", 2007): inflow = −Σ ±(A·u + (1−A)·u_wall)/Δx. What moves as one flows through the
//! closed parts of a cell's faces as it does through its own surface in the cell, only inwards, so that this is the flux of a wall
//! that moves through a cut cell.

use super::layers::{Chunk, VOXELS, step, upper};
use undine_core::{Accessor, DiscreteVolume, GridDomain, Handle};
use undine_sim::Result;
use undine_sim::offers::FluidField;

/// Sets a channel to what flows into each liquid cell [1/s]; other cells, and Buckets without liquid, stay as they are.
pub fn inflow(
    domain: &GridDomain,
    volume: &DiscreteVolume,
    field: &FluidField,
    inflow: Handle<f32>,
) -> Result<()> {
    let inverse = 1.0 / domain.frame().voxel_size(0) as f32;
    let around = |faces: [Handle<f32>; 3]| faces.map(|face| volume.around(face, 1));
    let kernel = (
        volume.own(field.cells.words),
        around(field.velocity.faces),
        around(field.walls.area.faces),
        around(field.walls.velocity.faces),
        volume.write(inflow),
    );
    Accessor::new("flux", domain).over(volume.topology()).level(0).run(
        kernel,
        |_, (cells, velocity, area, wall, inflow)| {
            if cells.iter().all(|&word| word == 0) {
                return;
            }
            inflow.fill(0.0);
            for axis in 0..3 {
                let (x, y, z) = step(axis, 1);
                let faces = |own: &[f32], next: &[f32]| (chunk(own), upper(axis, own, next));
                let (u, u_up) = faces(velocity[axis].chunk(), velocity[axis].neighbour(x, y, z));
                let (a, a_up) = faces(area[axis].chunk(), area[axis].neighbour(x, y, z));
                if a.iter().chain(&a_up).all(|&area| area == 1.0) {
                    for n in 0..VOXELS {
                        inflow[n] += inverse * (u[n] - u_up[n]);
                    }
                    continue;
                }
                let (w, w_up) = faces(wall[axis].chunk(), wall[axis].neighbour(x, y, z));
                for n in 0..VOXELS {
                    let below = a[n] * u[n] + (1.0 - a[n]) * w[n];
                    let above = a_up[n] * u_up[n] + (1.0 - a_up[n]) * w_up[n];
                    inflow[n] += inverse * (below - above);
                }
            }
        },
    )?;
    Ok(())
}

fn chunk(values: &[f32]) -> Chunk {
    let mut chunk = [0.0; VOXELS];
    chunk.copy_from_slice(&values[..VOXELS]);
    chunk
}
