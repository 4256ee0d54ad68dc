//! At the contact line, where air is beside a liquid along a wall, the pressure may push but not pull: where it would, air comes in
//! between, and the liquid separates from the wall, as behind a sharp edge.
//!
//! Of 0 ≤ p ⟂ outflow ≥ 0 (Batty, Bertails and Bridson 2007, §5) this is an active set that is followed from step to step
//! (Hintermüller, Ito and Kunisch 2003): a cell in which the pressure was negative is let go and has that of the air, as long as more
//! flows out of it than into it. Which cells these are is kept as their negative pressure.

use super::layers::{Bits, chunk, ones, step, upper};
use undine_core::access::VoxelNeighbourhood;
use undine_core::{Accessor, DiscreteVolume, GridDomain, Handle};
use undine_linsolve::pressure::is_open;
use undine_sim::Result;
use undine_sim::offers::FluidField;

/// What a cell that is let go keeps as its pressure is so small a part of what flows out of it [Pa s/m] that only its sign is seen.
const MARK: f32 = 1e-6;

/// How many open faces away the air of the contact line may be. Along a plate of four voxels, air that is looked for two faces away does
/// not come up.
const NEAR: u8 = 3;

/// Takes cells at the contact line out of the liquid in which the pressure pulled in the step before.
pub fn let_go(domain: &GridDomain, volume: &DiscreteVolume, field: &FluidField) -> Result<()> {
    let Some(distance) = field.distance else { return Ok(()) };
    let kernel = (
        (volume.own(field.pressure), volume.around(distance, NEAR)),
        field.walls.area.faces.map(|face| volume.around(face, NEAR)),
        volume.write(field.cells.words),
    );
    Accessor::new("let go of walls", domain).over(volume.topology()).level(0).run(
        kernel,
        |_, ((pressure, distance), area, cells)| {
            let around = Around { distance, area };
            for (x, cells) in cells.iter_mut().enumerate() {
                let pulled: u64 = (0..64).map(|n| u64::from(pressure[x << 6 | n] < 0.0) << n).sum();
                for n in ones(&[*cells & pulled, 0, 0, 0, 0, 0, 0, 0]) {
                    let at = [x as i32, (n >> 3) as i32, (n & 7) as i32];
                    if around.is_along_wall(at) && around.has_air_within(NEAR, at) {
                        *cells &= !(1 << n);
                    }
                }
            }
        },
    )?;
    Ok(())
}

/// What a kernel sees of walls and of the surface.
struct Around<'v> {
    distance: VoxelNeighbourhood<'v, f32>,
    area: [VoxelNeighbourhood<'v, f32>; 3],
}

impl Around<'_> {
    /// The cells beside one, with what is open of the faces between.
    fn beside(&self, at: [i32; 3]) -> impl Iterator<Item = ([i32; 3], f32)> {
        (0..3).flat_map(move |axis| {
            let [mut below, mut above] = [at, at];
            (below[axis], above[axis]) = (at[axis] - 1, at[axis] + 1);
            let open = |[x, y, z]: [i32; 3]| self.area[axis].at(x, y, z);
            [(below, open(at)), (above, open(above))]
        })
    }

    fn is_along_wall(&self, at: [i32; 3]) -> bool {
        self.beside(at).any(|(_, open)| open < 1.0)
    }

    /// Whether air is at most so many open faces away: around the edge of a plate it comes from there.
    fn has_air_within(&self, faces: u8, at: [i32; 3]) -> bool {
        let is_air = |[x, y, z]: [i32; 3]| self.distance.at(x, y, z) >= 0.0;
        let beside = |(_, open): &([i32; 3], f32)| is_open(*open);
        let farther = |to| faces > 1 && self.has_air_within(faces - 1, to);
        self.beside(at).filter(beside).any(|(to, _)| is_air(to) || farther(to))
    }
}

/// Keeps which cells stay let go: those from which more flows than into them.
pub fn keep(domain: &GridDomain, volume: &DiscreteVolume, field: &FluidField) -> Result<()> {
    let Some(distance) = field.distance else { return Ok(()) };
    let around = |faces: [Handle<f32>; 3]| faces.map(|face| volume.around(face, 1));
    let kernel = (
        (volume.own(field.cells.words), volume.own(distance), volume.own(field.walls.volume)),
        (around(field.velocity.faces), around(field.walls.area.faces)),
        volume.write(field.pressure),
    );
    Accessor::new("keep what is let go", domain).over(volume.topology()).level(0).run(
        kernel,
        |_, ((cells, distance, open), (velocity, area), pressure)| {
            let free: Bits = std::array::from_fn(|x| {
                let inside = |n: usize| distance[n] < 0.0 && open[n] != 0.0;
                // With `non-stick`, cells of the liquid are at their bound.
                let free = |n: usize| cells[x] >> (n & 63) & 1 == 0 || pressure[n] == 0.0;
                let is_free = |n: usize| inside(x << 6 | n) && free(x << 6 | n);
                (0..64).map(|n| u64::from(is_free(n)) << n).sum::<u64>()
            });
            if free == [0; 8] {
                return;
            }
            let mut out = [0.0; 512];
            for axis in 0..3 {
                let (x, y, z) = step(axis, 1);
                let faces = |own: &[f32], next: &[f32]| (chunk(own), upper(axis, own, next));
                let (u, u_up) = faces(velocity[axis].chunk(), velocity[axis].neighbour(x, y, z));
                let (a, a_up) = faces(area[axis].chunk(), area[axis].neighbour(x, y, z));
                for n in ones(&free) {
                    out[n] += a_up[n] * u_up[n] - a[n] * u[n];
                }
            }
            for n in ones(&free).filter(|&n| out[n] > 0.0) {
                pressure[n] = -MARK * out[n];
            }
        },
    )?;
    Ok(())
}
