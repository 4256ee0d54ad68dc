//! In walls, velocities lead along them: what leads across, by the gradient of the distance, is replaced by the wall's own.
//!
//! By the gradient, and not by the closed faces: these are stairs on a slope, and would slow down what slides along it (Batty,
//! Bertails and Bridson 2007, §4.2). Faces that were solved for are left as they are.
//!
//! A liquid may leave a wall that would have to pull to hold it ([`contact_line`](crate::pressure::contact_line)): beside cells that are
//! let go, what leads out of the wall stays, so that a stream separates from the edge of a hole. And at a convex edge the gradient is
//! that of the side where a face lies: a mean of both sides would pull a stream around it.

use super::bits::Padded;
use super::{Extension, Values};
use undine_core::access::{Pad, Tile, VoxelNeighbourhood};
use undine_core::glam::Vec3;
use undine_core::volume::{Mask, Resolution};
use undine_sim::Result;

/// Deeper in walls than so many voxels, no particle feels a velocity.
const DEEPEST: f32 = 3.0;

/// Constrains the faces in walls that a velocity was extended to.
pub fn constrain(extension: &Extension<'_>) -> Result<()> {
    let (volume, masks, known) = (extension.volume, extension.masks, &extension.known);
    let walls = extension.field.walls;
    let velocity = extension.field.velocity;
    // What fills all there is does not leave walls; a displacement that keeps volume closes gaps, and does not open them.
    let leaves = extension.field.distance.is_some() && extension.walls_move;
    let kernel = (
        (
            velocity.faces.map(|face| volume.around(face, 1)),
            walls.velocity.faces.map(|face| volume.around(face, 1)),
            known.reached.map(|mask| masks.around(mask.words, 1)),
            volume.around(walls.distance, 1),
            leaves.then(|| {
                let field = extension.field;
                (volume.around(field.pressure, 1), volume.around(field.cells.words, 1))
            }),
        ),
        walls.area.faces.map(|face| volume.own(face)),
        known.solved.map(|mask| masks.own(mask.words)),
        known.walled.map(|mask| masks.own(mask.words)),
    );
    let voxel = extension.domain.frame().voxel_size(0) as f32;
    let accessor = extension.accessor("keep velocities along walls");
    let changes = accessor.map(
        kernel,
        |_, ((velocity, wall, reached, distance, pressed), area, solved, walled)| {
            let mut changes = Values::new();
            let is_near = distance.chunk().iter().fold(false, |near, d| near | (*d < 2.0 * voxel));
            let extended: [[u64; 8]; 3] = std::array::from_fn(|axis| {
                std::array::from_fn(|x| reached[axis].chunk()[x] & !solved[axis][x])
            });
            if !is_near || extended.as_flattened().iter().all(|word| *word == 0) {
                return changes;
            }
            let around = Around {
                velocity: velocity.map(|faces| padded(&faces)),
                wall: extension.walls_move.then(|| wall.map(|faces| padded(&faces))),
                reached: reached.map(|words| Padded::load(&words)),
                distance: padded(&distance),
                pressed: pressed.map(|(pressure, cells)| (padded(&pressure), Padded::load(&cells))),
                voxel,
            };
            for axis in 0..3 {
                for n in Mask(extended[axis]).ones() {
                    let at = around.place(n);
                    let value = if Mask(walled[axis]).get(n) {
                        Some(around.wall.as_ref().map_or(0.0, |wall| wall[axis].values()[at]))
                    } else {
                        let distance = around.distance_at(axis, at);
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

/// What a kernel sees of velocities by axis, of which faces have one, and of distances: those of a Bucket and next to it.
struct Around {
    velocity: [Tile<f32>; 3],
    /// How walls move, should that count.
    wall: Option<[Tile<f32>; 3]>,
    reached: [Padded; 3],
    distance: Tile<f32>,
    /// The pressure, and where it is solved for, should the fluid be one that leaves walls.
    pressed: Option<(Tile<f32>, Padded)>,
    /// The edge of a voxel [m].
    voxel: f32,
}

/// The voxels of a Bucket and next to it.
fn padded(voxels: &VoxelNeighbourhood<'_, f32>) -> Tile<f32> {
    let mut tile = voxels.tile(Pad::both(1));
    voxels.load(&mut tile);
    tile
}

impl Around {
    /// The place of a voxel in the arrays.
    fn place(&self, n: usize) -> usize {
        let [x, y, z] = Resolution::R8.coords(n).map(|c| c as i32);
        self.distance.index(x, y, z)
    }

    /// From a place to the next one along each axis.
    fn steps(&self) -> [usize; 3] {
        [self.distance.slab(), self.distance.row(), 1]
    }

    /// The distance to the nearest wall at the middle of a face [m].
    fn distance_at(&self, axis: usize, at: usize) -> f32 {
        let distance = self.distance.values();
        0.5 * (distance[at] + distance[at - self.steps()[axis]])
    }

    /// The velocity of a face without what leads across the wall, but with the wall's own; `None` where no way is out.
    fn along_the_wall(&self, axis: usize, n: usize) -> Option<f32> {
        let at = self.place(n);
        let normal = self.out(axis, at).try_normalize()?;
        let counts = self.faces_around(axis, n);
        let mut relative = self.whole(&self.velocity, axis, at, &counts);
        if let Some(wall) = &self.wall {
            relative -= self.whole(wall, axis, at, &counts);
        }
        let across = relative.dot(normal);
        let leaves = across > 0.0 && self.is_let_go(axis, n);
        Some(self.velocity[axis].values()[at] - if leaves { 0.0 } else { across * normal[axis] })
    }

    /// Whether the fluid may leave the wall at a face: one of its cells was let go.
    fn is_let_go(&self, axis: usize, n: usize) -> bool {
        let Some((pressure, cells)) = &self.pressed else { return false };
        let above = Resolution::R8.coords(n).map(|c| c as i32);
        let mut below = above;
        below[axis] -= 1;
        [above, below].into_iter().any(|[x, y, z]| {
            pressure.values()[pressure.index(x, y, z)] < 0.0 && cells.get(x, y, z) == 0
        })
    }

    /// The gradient of the distance at the middle of a face, times a voxel: beside a convex edge, the one of the side where it lies.
    fn out(&self, axis: usize, at: usize) -> Vec3 {
        let (distance, steps) = (self.distance.values(), self.steps());
        let before = at - steps[axis];
        let slope = |along: usize| {
            if along == axis {
                return distance[at] - distance[before];
            }
            let across = |at: usize| {
                let [below, above] = [at - steps[along], at + steps[along]];
                slope_beside(
                    distance[at] - distance[below],
                    distance[above] - distance[at],
                    self.voxel,
                )
            };
            0.5 * (across(at) + across(before))
        };
        Vec3::new(slope(0), slope(1), slope(2))
    }

    /// All components of a velocity at a face: its own, and the mean of the four faces around it across each other axis, of
    /// those that have one.
    fn whole(&self, of: &[Tile<f32>; 3], axis: usize, at: usize, counts: &[[f32; 4]; 3]) -> Vec3 {
        let steps = self.steps();
        let component = |other: usize| {
            let values = of[other].values();
            if other == axis {
                return values[at];
            }
            let before = at - steps[axis];
            let four = [at, at + steps[other], before, before + steps[other]];
            four.iter().zip(&counts[other]).map(|(&at, count)| count * values[at]).sum()
        };
        Vec3::new(component(0), component(1), component(2))
    }

    /// What each of the four faces around one across the other axes counts in their mean: nothing if it has no velocity.
    fn faces_around(&self, axis: usize, n: usize) -> [[f32; 4]; 3] {
        let [x, y, z] = Resolution::R8.coords(n).map(|c| c as i32);
        let [i, j, k] = back(axis);
        std::array::from_fn(|other| {
            let [u, v, w] = back(other);
            let around = [[0, 0, 0], [u, v, w], [-i, -j, -k], [u - i, v - j, w - k]];
            let has = around.map(|[a, b, c]| self.reached[other].get(x + a, y + b, z + c));
            let count = has.iter().sum::<u16>().max(1);
            has.map(|has| f32::from(has) / f32::from(count))
        })
    }
}

/// One along an axis.
fn back(axis: usize) -> [i32; 3] {
    let mut back = [0; 3];
    back[axis] = 1;
    back
}

/// The slope across two voxels: their mean, or by an edge the smaller one, and none where it is turned back. Walls with a smaller radius
/// than two voxels count as an edge.
fn slope_beside(below: f32, above: f32, voxel: f32) -> f32 {
    if above - below < 0.5 * voxel {
        0.5 * (below + above)
    } else if below * above <= 0.0 {
        0.0
    } else {
        below.signum() * below.abs().min(above.abs())
    }
}
