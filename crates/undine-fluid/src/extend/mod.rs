//! Velocities go on beyond the fluid: into the air, as far as particles may go in a step, and into walls.
//!
//! Layer by layer, a face without a velocity takes the mean of its neighbours that have one (Bridson, *Fluid Simulation for
//! Computer Graphics*, §6.4, of the second edition). A pass reads only what was known before it, so that no order shows. What
//! is on the other side of a wall thinner than a voxel is no neighbour. In walls only what leads along them goes on
//! (`constrain`).
//!
//! Where particles brought a velocity to a face in a wall, it is its change in the step that goes on, and not the velocity itself: at
//! the rim of a liquid that spins in a drum, the mean of what is further in would be slower each time. At a surface the mean
//! keeps the motion of single particles from being taken for that of the liquid.
//!
//! However far velocities go on, something may be faster. So it is told up to where they mean something ([`extend_change`]), and
//! whoever follows the flow knows where to go on by itself.

pub(crate) mod bits;
mod cells;
mod constrain;

pub use cells::extend_cells;

use crate::second_order::Brought;
use bits::{FULL, Padded, shifted_up};
use undine_core::access::VoxelNeighbourhood;
use undine_core::volume::{MacHandle, Mask, MaskHandle, Resolution};
use undine_core::{Accessor, DiscreteVolume, GridDomain};
use undine_sim::Result;
use undine_sim::offers::FluidField;

/// Where walls leave less than this part of a face open, next to nothing flows through it, whatever its velocity is. At the surface no
/// pressure answers to that, and over a small part of a cell it would be of any size: there it is that of the faces around.
const NARROW: f32 = 0.01;

/// How far behind thin walls velocities go on [voxels]: the reach of a kernel.
const BEHIND: u32 = 2;

/// Extends the velocity of a fluid by `voxels` beyond the faces of its cells. Faces farther away keep what they have.
pub fn extend(
    domain: &GridDomain,
    volume: &DiscreteVolume,
    field: &FluidField,
    voxels: u32,
) -> Result<()> {
    extend_from(domain, volume, field, None, (voxels, None), true)
}

/// The same for a fluid whose velocity particles have brought: where they did within walls, its change in the step goes on.
///
/// Masks of the same volume, by axis, are told which faces mean something now: those that were solved for, those that were reached,
/// and those that particles brought a velocity to, which keep it.
pub fn extend_change(
    domain: &GridDomain,
    volume: &DiscreteVolume,
    field: &FluidField,
    brought: Brought,
    voxels: u32,
    tell: Option<[MaskHandle; 3]>,
) -> Result<()> {
    extend_from(domain, volume, field, Some(brought), (voxels, tell), true)
}

/// The same for a displacement on faces [m]: along walls as a velocity goes, but walls that move do not displace.
pub fn extend_displacement(
    domain: &GridDomain,
    volume: &DiscreteVolume,
    field: &FluidField,
    displacement: MacHandle,
    voxels: u32,
) -> Result<()> {
    let field = FluidField { velocity: displacement, ..*field };
    extend_from(domain, volume, &field, None, (voxels, None), false)
}

fn extend_from(
    domain: &GridDomain,
    volume: &DiscreteVolume,
    field: &FluidField,
    brought: Option<Brought>,
    (voxels, tell): (u32, Option<[MaskHandle; 3]>),
    walls_move: bool,
) -> Result<()> {
    let mut masks = DiscreteVolume::on("extension", domain, volume.topology().clone());
    let known = Known::new(&mut masks)?;
    let extension = Extension { domain, volume, field, brought, masks: &masks, known, walls_move };
    let has_thin_walls = extension.find_solved()?;
    for _ in 0..voxels {
        if !extension.add_layer(Through::of(has_thin_walls))? {
            break;
        }
    }
    if has_thin_walls {
        for _ in 0..BEHIND {
            extension.add_layer(Through::ThinWalls)?;
        }
    }
    constrain::constrain(&extension)?;
    tell.map_or(Ok(()), |to| extension.tell(to))
}

/// What is known of faces, by axis.
#[derive(Debug, Clone, Copy)]
struct Known {
    /// Have the velocity that was solved for: they touch a cell of the fluid, and are open; at the surface, more than narrowly.
    solved: [MaskHandle; 3],
    /// Have a velocity by now.
    reached: [MaskHandle; 3],
    /// Closed by a wall between two cells that are both open.
    walled: [MaskHandle; 3],
}

impl Known {
    fn new(masks: &mut DiscreteVolume) -> Result<Self> {
        let mut add = |name: &str| {
            let [x, y, z] = ["x", "y", "z"]
                .map(|axis| masks.add_mask(&format!("{name}.{axis}"), Resolution::R8));
            Ok::<_, undine_core::CoreError>([x?, y?, z?])
        };
        Ok(Self { solved: add("solved")?, reached: add("reached")?, walled: add("walled")? })
    }
}

/// A velocity that is being extended.
struct Extension<'a> {
    domain: &'a GridDomain,
    volume: &'a DiscreteVolume,
    field: &'a FluidField,
    /// What it was at the start of the step, where particles brought it.
    brought: Option<Brought>,
    /// A store of masks on the same Buckets.
    masks: &'a DiscreteVolume,
    known: Known,
    /// Whether what is extended takes on how walls move.
    walls_move: bool,
}

/// Where a layer may go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Through {
    /// Everywhere: there are no thin walls.
    Everything,
    /// Not through thin walls.
    Openings,
    /// Through thin walls, too, but only to faces that particles give to: where there is no fluid behind a wall, what reaches
    /// through it meets the fluid on its own side.
    ThinWalls,
}

impl Through {
    fn of(has_thin_walls: bool) -> Self {
        if has_thin_walls { Self::Openings } else { Self::Everything }
    }
}

/// New values of faces of a Bucket: axis, place and velocity [m/s].
type Values = Vec<(u8, u16, f32)>;

impl Extension<'_> {
    fn accessor(&self, task: &'static str) -> Accessor {
        Accessor::new(task, self.domain).over(self.volume.topology())
    }

    /// Finds the faces whose velocity was solved for, and those that thin walls close; whether there are any of those.
    fn find_solved(&self) -> Result<bool> {
        let (volume, masks, walls) = (self.volume, self.masks, self.field.walls);
        let kernel = (
            volume.around(self.field.cells.words, 1),
            walls.area.faces.map(|face| volume.own(face)),
            volume.around(walls.volume, 1),
            [self.known.solved, self.known.reached, self.known.walled]
                .map(|of| of.map(|mask| masks.write(mask.words))),
        );
        let any = self.accessor("find solved faces").reduce(
            kernel,
            |_, (cells, area, open, [solved, reached, walled])| {
                let mut has_thin_walls = false;
                // What is not measured, and so negative, is open.
                let has_room = bits::where_not_zero(open.chunk());
                for (axis, ((solved, reached), walled)) in
                    solved.into_iter().zip(reached).zip(walled).enumerate()
                {
                    let is_open = bits::positive(area[axis]);
                    let is_wide = bits::at_least(area[axis], NARROW);
                    let below = shifted_up(&cells, axis);
                    for (x, (solved, reached)) in solved.iter_mut().zip(reached).enumerate() {
                        let [below, above] = [below[x], cells.chunk()[x]];
                        *solved = below & above & is_open[x] | (below | above) & is_wide[x];
                        *reached = *solved;
                    }
                    let mut back = [0; 3];
                    back[axis] = 1;
                    let closed: [u64; 8] = std::array::from_fn(|x| has_room[x] & !is_open[x]);
                    for n in Mask(closed).ones() {
                        let [x, y, z] = Resolution::R8.coords(n).map(|c| c as i32);
                        let both = open.at(x - back[0], y - back[1], z - back[2]) != 0.0;
                        Mask(&mut walled[..]).set(n, both);
                        has_thin_walls |= both;
                    }
                }
                u8::from(has_thin_walls)
            },
            u8::max,
        )?;
        Ok(any.unwrap_or(0) > 0)
    }

    /// Sets the bits of the faces whose velocity means something.
    fn tell(&self, to: [MaskHandle; 3]) -> Result<()> {
        let (volume, masks) = (self.volume, self.masks);
        let access = (
            self.known.reached.map(|mask| masks.own(mask.words)),
            self.brought.map(|brought| brought.mass.faces.map(|face| volume.own(face))),
            to.map(|mask| volume.write(mask.words)),
        );
        self.accessor("tell what is known").run(access, |_, (reached, mass, to)| {
            for (axis, (to, reached)) in to.into_iter().zip(reached).enumerate() {
                to.copy_from_slice(reached);
                if let Some(mass) = &mass {
                    let met = bits::positive(mass[axis]);
                    to.iter_mut().zip(met).for_each(|(to, met)| *to |= met);
                }
            }
        })?;
        Ok(())
    }

    /// Gives a velocity to the faces next to those that have one; whether there were any.
    fn add_layer(&self, through: Through) -> Result<bool> {
        let (volume, masks, known) = (self.volume, self.masks, &self.known);
        let accessor = self.accessor("extend velocities");
        let around = |of: [MaskHandle; 3]| of.map(|mask| masks.around(mask.words, 1));
        let layers = accessor.map(
            (
                around(known.reached),
                (through == Through::Openings).then(|| around(known.walled)),
                self.field.velocity.faces.map(|face| volume.around(face, 1)),
                self.brought.map(|brought| {
                    let both = [brought.velocity, brought.mass];
                    let area = self.field.walls.area;
                    (
                        both.map(|of| of.faces.map(|face| volume.around(face, 1))),
                        area.faces.map(|face| volume.own(face)),
                    )
                }),
            ),
            |_, (reached, walled, velocity, brought)| {
                let mut layer = Values::new();
                let walled = walled.map(|walled| walled.map(|walled| Padded::load(&walled)));
                for axis in 0..3 {
                    if is_idle(&reached[axis]) {
                        continue;
                    }
                    let links = Links::new(axis, &Padded::load(&reached[axis]), walled.as_ref());
                    links.each_new(|n, from| {
                        let velocity = &velocity[axis];
                        let is_met = |mass: &VoxelNeighbourhood<'_, f32>| mass.chunk()[n] > 0.0;
                        let met =
                            brought.as_ref().is_some_and(|([_, mass], _)| is_met(&mass[axis]));
                        if through == Through::ThinWalls && !met {
                            return;
                        }
                        let value = match &brought {
                            Some(([before, mass], area)) if area[axis][n] <= 0.0 => {
                                changed(velocity, &before[axis], &mass[axis], n, from)
                            }
                            _ => None,
                        };
                        let value = value.unwrap_or_else(|| mean(velocity, n, from));
                        layer.push((axis as u8, n as u16, value));
                    });
                }
                layer
            },
        )?;
        let any = layers.iter().any(|layer| !layer.is_empty());
        let any = self.domain.processes().all_gather(&[u8::from(any)])?.concat().contains(&1);
        if any {
            let reached = known.reached.map(|mask| masks.write(mask.words));
            let velocity = self.field.velocity.faces.map(|face| volume.write(face));
            accessor.run((reached, velocity), |here, (reached, velocity)| {
                for &(axis, n, value) in &layers[here.slot as usize] {
                    velocity[axis as usize][n as usize] = value;
                    Mask(&mut reached[axis as usize][..]).set(n as usize, true);
                }
            })?;
        }
        Ok(any)
    }
}

/// Whether nothing can be reached in a Bucket: all of it has been, or nothing next to it.
fn is_idle(reached: &VoxelNeighbourhood<'_, u64>) -> bool {
    let all = |words: &[u64], of: u64| words.iter().all(|word| *word == of);
    if all(reached.chunk(), u64::MAX) {
        return true;
    }
    let beside = [(-1, 0, 0), (1, 0, 0), (0, -1, 0), (0, 1, 0), (0, 0, -1), (0, 0, 1)];
    all(reached.chunk(), 0) && beside.iter().all(|&(x, y, z)| all(reached.neighbour(x, y, z), 0))
}

/// Which neighbours a face has to take a velocity from, by their direction.
const STEPS: [[i32; 3]; 6] = [[-1, 0, 0], [1, 0, 0], [0, -1, 0], [0, 1, 0], [0, 0, -1], [0, 0, 1]];

/// For the faces of a Bucket across one axis: which of them are new, and from where they are reached.
struct Links {
    /// By row.
    new: [u16; 64],
    /// Which of the faces in a row have a neighbour in each direction to take from.
    from: [[u16; 6]; 64],
}

impl Links {
    fn new(axis: usize, reached: &Padded, walled: Option<&[Padded; 3]>) -> Self {
        // A face in a thin wall takes from both sides, and gives to none.
        let gives = match walled {
            Some(walled) => reached.without(&walled[axis]),
            None => reached.clone(),
        };
        let mut links = Self { new: [0; 64], from: [[0; 6]; 64] };
        for row in 0..64 {
            let (x, y) = ((row >> 3) as i32, (row & 7) as i32);
            let missing = !reached.row(x, y, 0) & FULL;
            if missing == 0 {
                continue;
            }
            let mut any = 0;
            for (step, from) in STEPS.iter().zip(&mut links.from[row]) {
                let mut open = gives.row(x + step[0], y + step[1], step[2]) & missing;
                if let Some(walled) = walled {
                    open &= !between(walled, axis, [x, y], *step);
                }
                (*from, any) = (open, any | open);
            }
            links.new[row] = any;
        }
        links
    }

    /// Calls `act` with the place of each new face, and the directions that it is reached from.
    fn each_new(&self, mut act: impl FnMut(usize, u8)) {
        for (row, &new) in self.new.iter().enumerate() {
            let mut left = new;
            while left != 0 {
                let z = left.trailing_zeros() as usize;
                let has = |from: &u16| u8::from(from >> z & 1 != 0);
                let from = self.from[row].iter().rev().fold(0, |all, from| all << 1 | has(from));
                act(row << 3 | z, from);
                left &= left - 1;
            }
        }
    }
}

/// Where a thin wall lies between faces across `axis` in a row and their neighbours in a direction.
fn between(walled: &[Padded; 3], axis: usize, [x, y]: [i32; 2], step: [i32; 3]) -> u16 {
    let along = if step[0] != 0 {
        0
    } else if step[1] != 0 {
        1
    } else {
        2
    };
    if along == axis {
        // From face to face across its own axis it stays within a cell; walls between cells are the faces themselves.
        return 0;
    }
    // To a neighbour at the side, it is through the faces between the two cells on either side of the face.
    let up = step.map(|c| c.max(0));
    let mut back = [0; 3];
    back[axis] = 1;
    let at = |off: [i32; 3]| walled[along].row(x + off[0], y + off[1], off[2]);
    at(up) | at([up[0] - back[0], up[1] - back[1], up[2] - back[2]])
}

/// The mean of a face's neighbours in some directions.
fn mean(velocity: &VoxelNeighbourhood<'_, f32>, n: usize, from: u8) -> f32 {
    let [x, y, z] = Resolution::R8.coords(n).map(|c| c as i32);
    let mut sum = 0.0;
    for (direction, step) in STEPS.iter().enumerate() {
        if from >> direction & 1 != 0 {
            sum += velocity.at(x + step[0], y + step[1], z + step[2]);
        }
    }
    sum / from.count_ones() as f32
}

/// What particles brought to a face, changed by the mean of how its neighbours in some directions changed; `None` where they
/// brought nothing to it or to those.
fn changed(
    velocity: &VoxelNeighbourhood<'_, f32>,
    before: &VoxelNeighbourhood<'_, f32>,
    mass: &VoxelNeighbourhood<'_, f32>,
    n: usize,
    from: u8,
) -> Option<f32> {
    if mass.chunk()[n] <= 0.0 {
        return None;
    }
    let [x, y, z] = Resolution::R8.coords(n).map(|c| c as i32);
    let (mut sum, mut count) = (0.0, 0.0);
    for (direction, step) in STEPS.iter().enumerate() {
        let [x, y, z] = [x + step[0], y + step[1], z + step[2]];
        if from >> direction & 1 != 0 && mass.at(x, y, z) > 0.0 {
            sum += velocity.at(x, y, z) - before.at(x, y, z);
            count += 1.0;
        }
    }
    (count > 0.0).then(|| before.chunk()[n] + sum / count)
}
