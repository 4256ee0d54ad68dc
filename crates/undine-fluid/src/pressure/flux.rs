//! What flows into each liquid cell per volume and time: the right-hand side of the pressure equation.
//!
//! Through a face flows the fluid in its open part A and the wall in the rest (Batty, Bertails and Bridson, "A fast variational
//! framework for accurate solid-fluid coupling", 2007): inflow = −Σ ±(A·u + (1−A)·u_wall)/Δx. What moves as one flows through the
//! closed parts of a cell's faces as it does through its own surface in the cell, only inwards, so that this is the flux of a wall
//! that moves through a cut cell.

use super::layers::{Bits, VOXELS, bits, chunk, lower, lower_bits, ones, step, upper, upper_bits};
use super::project::Fluid;
use undine_core::volume::MacHandle;
use undine_core::{Accessor, Handle};
use undine_linsolve::pressure::{fraction, inverse_of_mean, is_open};
use undine_sim::Result;

/// Sets the fluid's channel to what flows into each liquid cell [1/s]; Buckets without liquid stay as they are.
pub fn inflow(fluid: &Fluid<'_>) -> Result<()> {
    let Fluid { domain, volume, field, inflow, .. } = *fluid;
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

/// The pressure of a surface under tension, as the ghost-fluid method has it: σ·κ where the surface lies.
#[derive(Debug, Clone, Copy)]
pub struct Jump {
    /// κ at cell centres [1/m].
    pub curvature: Handle<f32>,
    /// σ [N/m].
    pub tension: f32,
    /// One over the density where that is the same everywhere [m³/kg].
    pub inverse_density: Option<f32>,
    /// The same by face, where what is inside of the fluid makes it differ.
    pub by_face: Option<MacHandle>,
    /// The smallest θ.
    pub smallest: f32,
    /// Δt/Δx².
    pub scale: f32,
}

impl Jump {
    /// Adds to what flows into cells at the surface what its pressure does: c/θ·σκ for each face to air, c being the face's
    /// coefficient in the matrix.
    pub fn add(&self, fluid: &Fluid<'_>) -> Result<()> {
        let Fluid { domain, volume, field, inflow, .. } = *fluid;
        let Some(distance) = field.distance else { return Ok(()) };
        let around = |faces: [Handle<f32>; 3]| faces.map(|face| volume.around(face, 1));
        let kernel = (
            volume.around(field.cells.words, 1),
            (volume.around(distance, 1), volume.around(self.curvature, 1)),
            (
                around(field.walls.area.faces),
                volume.own(field.density),
                self.by_face.map(|mac| around(mac.faces)),
            ),
            volume.write(inflow),
        );
        Accessor::new("tension", domain).over(volume.topology()).level(0).run(
            kernel,
            |_, (cells, (distance, curvature), (area, density, by_face), inflow)| {
                let here = bits(cells.chunk());
                if here == [0; 8] {
                    return;
                }
                for (axis, area) in area.iter().enumerate() {
                    for up in [false, true] {
                        let (x, y, z) = step(axis, if up { 1 } else { -1 });
                        let beside = match up {
                            true => upper_bits(axis, &here, &bits(cells.neighbour(x, y, z))),
                            false => lower_bits(axis, &here, &bits(cells.neighbour(x, y, z))),
                        };
                        let surface: Bits = std::array::from_fn(|n| here[n] & !beside[n]);
                        if surface == [0; 8] {
                            continue;
                        }
                        let next = |own: &[f32], next: &[f32]| match up {
                            true => upper(axis, own, next),
                            false => lower(axis, own, next),
                        };
                        let (phi, k) = (distance.chunk(), curvature.chunk());
                        let phi_next = next(phi, distance.neighbour(x, y, z));
                        let k_next = next(k, curvature.neighbour(x, y, z));
                        let faces = match up {
                            true => upper(axis, area.chunk(), area.neighbour(x, y, z)),
                            false => chunk(area.chunk()),
                        };
                        let answers = by_face.as_ref().map(|by_face| match up {
                            true => {
                                upper(axis, by_face[axis].chunk(), by_face[axis].neighbour(x, y, z))
                            }
                            false => chunk(by_face[axis].chunk()),
                        });
                        for n in ones(&surface).filter(|&n| is_open(faces[n])) {
                            let theta = fraction(phi[n], phi_next[n], self.smallest);
                            let pressure = pressure(self.tension, theta, k[n], k_next[n]);
                            let inverse_density = match &answers {
                                Some(answers) => answers[n],
                                None => self
                                    .inverse_density
                                    .unwrap_or_else(|| inverse_of_mean([Some(density[n]), None])),
                            };
                            inflow[n] += self.scale * faces[n] * inverse_density * pressure / theta;
                        }
                    }
                }
            },
        )?;
        Ok(())
    }
}

/// The pressure [Pa] where the surface crosses the way between the centre of a liquid cell and that of one of air, at θ of it, by the
/// curvatures at both [1/m].
#[inline]
pub fn pressure(tension: f32, theta: f32, inside: f32, outside: f32) -> f32 {
    tension * (inside + theta * (outside - inside))
}
