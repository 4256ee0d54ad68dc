//! In walls, velocities lead along them: what leads across, by the gradient of the distance, is replaced by the wall's own.
//!
//! By the gradient, and not by the closed faces: these are stairs on a slope, and would slow down what slides along it (Batty,
//! Bertails and Bridson 2007, §4.2). Faces that were solved for are left as they are.

use super::{Extension, Values};
use undine_core::access::VoxelNeighbourhood;
use undine_core::glam::Vec3;
use undine_core::volume::{Mask, Resolution};
use undine_sim::Result;

/// Deeper in walls than so many voxels, no particle feels a velocity.
const DEEPEST: f32 = 3.0;

/// What a kernel sees of velocities and masks by axis, and of distances.
struct Around<'v> {
    velocity: [VoxelNeighbourhood<'v, f32>; 3],
    wall: [VoxelNeighbourhood<'v, f32>; 3],
    /// What counts of how walls move: all of it or nothing.
    share: f32,
    reached: [VoxelNeighbourhood<'v, u64>; 3],
    distance: VoxelNeighbourhood<'v, f32>,
}

/// Constrains the faces in walls that a velocity was extended to.
pub fn constrain(extension: &Extension<'_>) -> Result<()> {
    let (volume, masks, known) = (extension.volume, extension.masks, &extension.known);
    let walls = extension.field.walls;
    let velocity = extension.field.velocity;
    let kernel = (
        (
            velocity.faces.map(|face| volume.around(face, 1)),
            walls.velocity.faces.map(|face| volume.around(face, 1)),
            known.reached.map(|mask| masks.around(mask.words, 1)),
            volume.around(walls.distance, 1),
        ),
        walls.area.faces.map(|face| volume.own(face)),
        known.solved.map(|mask| masks.own(mask.words)),
        known.walled.map(|mask| masks.own(mask.words)),
    );
    let voxel = extension.domain.frame().voxel_size(0) as f32;
    let accessor = extension.accessor("keep velocities along walls");
    let changes = accessor.map(
        kernel,
        |_, ((velocity, wall, reached, distance), area, solved, walled)| {
            let mut changes = Values::new();
            let near = distance.chunk().iter().any(|distance| *distance < 2.0 * voxel);
            if !near {
                return changes;
            }
            let share = if extension.walls_move { 1.0 } else { 0.0 };
            let around = Around { velocity, wall, share, reached, distance };
            for axis in 0..3 {
                let extended: [u64; 8] =
                    std::array::from_fn(|x| around.reached[axis].chunk()[x] & !solved[axis][x]);
                for n in Mask(extended).ones() {
                    let value = if Mask(walled[axis]).get(n) {
                        Some(share * around.wall[axis].chunk()[n])
                    } else {
                        let distance = around.distance_at(axis, n);
                        let is_in_wall = area[axis][n] <= 0.0 || distance < 0.0;
                        let is_felt = is_in_wall && distance > -DEEPEST * voxel;
                        is_felt.then(|| around.along_the_wall(axis, n)).flatten()
                    };
                    changes.extend(value.map(|value| (axis as u8, n as u16, value)));
                }
            }
            changes
        },
    )?;
    accessor.run(velocity.faces.map(|face| volume.write(face)), |here, velocity| {
        for &(axis, n, value) in &changes[here.slot as usize] {
            velocity[axis as usize][n as usize] = value;
        }
    })?;
    Ok(())
}

impl Around<'_> {
    /// The distance to the nearest wall at the middle of a face [m].
    fn distance_at(&self, axis: usize, n: usize) -> f32 {
        let [x, y, z] = Resolution::R8.coords(n).map(|c| c as i32);
        let [i, j, k] = back(axis);
        0.5 * (self.distance.at(x, y, z) + self.distance.at(x - i, y - j, z - k))
    }

    /// The velocity of a face without what leads across the wall, but with the wall's own; `None` where no way is out.
    fn along_the_wall(&self, axis: usize, n: usize) -> Option<f32> {
        let normal = self.out(axis, n).try_normalize()?;
        let across = (self.whole(&self.velocity, axis, n)
            - self.share * self.whole(&self.wall, axis, n))
        .dot(normal);
        Some(self.velocity[axis].chunk()[n] - across * normal[axis])
    }

    /// The gradient of the distance at the middle of a face, times a voxel.
    fn out(&self, axis: usize, n: usize) -> Vec3 {
        let [x, y, z] = Resolution::R8.coords(n).map(|c| c as i32);
        let [i, j, k] = back(axis);
        let at = |off: [i32; 3]| self.distance.at(x + off[0], y + off[1], z + off[2]);
        let mut gradient = [0.0; 3];
        for (along, slope) in gradient.iter_mut().enumerate() {
            let [u, v, w] = back(along);
            *slope = if along == axis {
                at([0, 0, 0]) - at([-i, -j, -k])
            } else {
                let here = at([u, v, w]) - at([-u, -v, -w]);
                let before = at([u - i, v - j, w - k]) - at([-u - i, -v - j, -w - k]);
                0.25 * (here + before)
            };
        }
        gradient.into()
    }

    /// All components of a velocity at a face: its own, and the mean of the four faces around it across each other axis, of
    /// those that have one.
    fn whole(&self, velocity: &[VoxelNeighbourhood<'_, f32>; 3], axis: usize, n: usize) -> Vec3 {
        let [x, y, z] = Resolution::R8.coords(n).map(|c| c as i32);
        let [i, j, k] = back(axis);
        let mut whole = [0.0; 3];
        for (other, component) in whole.iter_mut().enumerate() {
            if other == axis {
                *component = velocity[axis].chunk()[n];
                continue;
            }
            let [u, v, w] = back(other);
            let (mut sum, mut count) = (0.0, 0.0);
            for [a, b, c] in [[0, 0, 0], [u, v, w], [-i, -j, -k], [u - i, v - j, w - k]] {
                let (a, b, c) = (x + a, y + b, z + c);
                if is_on(&self.reached[other], a, b, c) {
                    sum += velocity[other].at(a, b, c);
                    count += 1.0;
                }
            }
            *component = if count > 0.0 { sum / count } else { 0.0 };
        }
        whole.into()
    }
}

/// One along an axis.
fn back(axis: usize) -> [i32; 3] {
    let mut back = [0; 3];
    back[axis] = 1;
    back
}

/// The bit of a voxel in or next to the Bucket.
fn is_on(mask: &VoxelNeighbourhood<'_, u64>, x: i32, y: i32, z: i32) -> bool {
    let words = mask.neighbour(x >> 3, y >> 3, z >> 3);
    words[(x & 7) as usize] >> ((y & 7) << 3 | z & 7) & 1 != 0
}
