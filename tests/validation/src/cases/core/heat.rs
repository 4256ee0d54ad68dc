//! One explicit step of the heat equation, as the cases that spread heat share it.

use undine_core::access::VoxelNeighbourhood;
use undine_core::volume::Resolution;

/// `next = heat + factor · (sum of the six neighbours − 6 · heat)`, with `factor` = D Δt / Δx².
pub fn step(heat: &VoxelNeighbourhood<'_, f32>, next: &mut [f32], factor: f32) {
    for (place, next) in next.iter_mut().enumerate() {
        let [x, y, z] = Resolution::R8.coords(place).map(|c| c as i32);
        let around = heat.at(x - 1, y, z)
            + heat.at(x + 1, y, z)
            + heat.at(x, y - 1, z)
            + heat.at(x, y + 1, z)
            + heat.at(x, y, z - 1)
            + heat.at(x, y, z + 1);
        *next = heat.at(x, y, z) + factor * (around - 6.0 * heat.at(x, y, z));
    }
}
