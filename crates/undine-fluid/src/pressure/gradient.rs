//! What pressure does to the velocity: u ← u − Δt/ρ·∇p on every open face of a liquid cell.
//!
//! Towards air the pressure falls to that of the surface within the fraction θ of a cell (ghost fluid: Gibou et al. 2002; Enright
//! et al. 2003), with the θ of the matrix, so that what is left of the divergence is what the solver left. A face without an open
//! part takes the velocity of its wall.

use super::flux::pressure as surface_pressure;
use super::layers::{Bits, bits, chunk, is_on, lower, lower_bits, ones, step};
use undine_core::access::VoxelNeighbourhood;
use undine_core::volume::MacHandle;
use undine_core::{Accessor, DiscreteVolume, GridDomain, Handle};
use undine_linsolve::pressure::{fraction, inverse_of_mean, is_open};
use undine_sim::Result;
use undine_sim::offers::FluidField;

/// How pressure acts on faces.
#[derive(Debug, Clone, Copy)]
pub struct Gradient {
    /// Δt/Δx [s/m].
    pub step: f32,
    /// One over the density where that is the same everywhere [m³/kg].
    pub inverse_density: Option<f32>,
    /// The same by face, where what is inside of the fluid makes it differ.
    pub by_face: Option<MacHandle>,
    /// The smallest θ.
    pub smallest: f32,
    /// The channel of curvatures [1/m] and the surface tension [N/m], where there is one.
    pub jump: Option<(Handle<f32>, f32)>,
    /// Whether walls do not pull: what leaves one keeps its velocity where nothing presses it back.
    pub non_stick: bool,
}

impl Gradient {
    /// Takes the gradient of the pressure out of the velocity.
    pub fn subtract(
        &self,
        domain: &GridDomain,
        volume: &DiscreteVolume,
        field: &FluidField,
    ) -> Result<()> {
        let own = |faces: [Handle<f32>; 3]| faces.map(|face| volume.own(face));
        let density = match self.inverse_density {
            Some(_) => None,
            None => Some(volume.around(field.density, 1)),
        };
        let kernel = (
            (volume.around(field.cells.words, 1), volume.around(field.pressure, 1)),
            (field.distance.map(|distance| volume.around(distance, 1)), density),
            self.jump.map(|(curvature, _)| volume.around(curvature, 1)),
            (
                own(field.walls.area.faces),
                own(field.walls.velocity.faces),
                self.by_face.map(|mac| own(mac.faces)),
            ),
            field.velocity.faces.map(|face| volume.write(face)),
        );
        let task = "subtract the pressure gradient";
        Accessor::new(task, domain).over(volume.topology()).level(0).run(
            kernel,
            |_,
             (
                (cells, pressure),
                (distance, density),
                curvature,
                (area, wall, by_face),
                velocity,
            )| {
                let here = bits(cells.chunk());
                for (axis, velocity) in velocity.into_iter().enumerate() {
                    let (x, y, z) = step(axis, -1);
                    let below = lower_bits(axis, &here, &bits(cells.neighbour(x, y, z)));
                    let touched: Bits = std::array::from_fn(|n| here[n] | below[n]);
                    if touched == [0; 8] {
                        continue;
                    }
                    let p = pressure.chunk();
                    let p_below = lower(axis, p, pressure.neighbour(x, y, z));
                    let (area, wall) = (area[axis], wall[axis]);

                    // Far from surfaces and walls.
                    let inside = (0..8).all(|n| here[n] & below[n] == u64::MAX);
                    if let Some(inverse_density) = self.inverse_density
                        && inside
                        && by_face.is_none()
                        && area.iter().all(|&area| area == 1.0)
                    {
                        let c = self.step * inverse_density;
                        for ((u, p), p_below) in velocity.iter_mut().zip(p).zip(&p_below) {
                            *u -= c * (p - p_below);
                        }
                        continue;
                    }

                    let with_below = |values: VoxelNeighbourhood<'_, f32>| {
                        let own = chunk(values.chunk());
                        (own, lower(axis, &own, values.neighbour(x, y, z)))
                    };
                    let phi = distance.map(with_below);
                    let rho = density.map(with_below);
                    let kappa = curvature.map(with_below);
                    let tension = self.jump.map_or(0.0, |(_, tension)| tension);
                    for n in ones(&touched) {
                        let wet = [is_on(&below, n), is_on(&here, n)];
                        if !is_open(area[n]) {
                            let presses = match wet {
                                [_, true] => p[n] > 0.0 || velocity[n] <= wall[n],
                                [_, false] => p_below[n] > 0.0 || velocity[n] >= wall[n],
                            };
                            if presses || !self.non_stick {
                                velocity[n] = wall[n];
                            }
                            continue;
                        }
                        // The pressure falls to that of the surface within θ.
                        let (mut theta, mut pressures) = (1.0, [p_below[n], p[n]]);
                        if let Some((above, below)) = &phi
                            && wet[0] != wet[1]
                        {
                            let (inside, outside) =
                                if wet[0] { (below, above) } else { (above, below) };
                            theta = fraction(inside[n], outside[n], self.smallest);
                            let (k_in, k_out) = match &kappa {
                                Some((above, below)) if wet[0] => (below[n], above[n]),
                                Some((above, below)) => (above[n], below[n]),
                                None => (0.0, 0.0),
                            };
                            pressures[usize::from(wet[0])] =
                                surface_pressure(tension, theta, k_in, k_out);
                        }
                        let inverse_density = match (&rho, self.inverse_density) {
                            _ if by_face.is_some() => by_face.map_or(0.0, |of| of[axis][n]),
                            (Some((above, below)), _) => inverse_of_mean([
                                wet[0].then_some(below[n]),
                                wet[1].then_some(above[n]),
                            ]),
                            (None, constant) => constant.unwrap_or(0.0),
                        };
                        let slope = (pressures[1] - pressures[0]) / theta;
                        velocity[n] -= self.step * inverse_density * slope;
                    }
                }
            },
        )?;
        Ok(())
    }
}
