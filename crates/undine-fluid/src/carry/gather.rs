//! One quantity is gathered along the ways of a step.

use super::ways::Cells;
use super::window::{Extent, REACH, Row, Spots, Window};
use super::{Far, Flow, Scheme, Scratch, VOXELS, Ways};
use crate::extend::bits::shifted_up;
use crate::pressure::layers::{lower, step};
use std::sync::Mutex;
use undine_core::access::VoxelNeighbourhood;
use undine_core::domain::{NONE, Slot};
use undine_core::glam::Vec3;
use undine_core::volume::Mask;
use undine_core::{DiscreteVolume, Handle};
use undine_sim::Result;

/// How quantities are gathered.
pub struct Gather<'a> {
    pub flow: &'a Flow<'a>,
    /// The store of ways and of what is carried.
    pub scratch: &'a DiscreteVolume,
    pub ways: Ways,
    /// Whether no way leads farther than to the next Bucket.
    pub is_near: bool,
}

/// What is carried: a channel, and the axis of its faces, if it is one of them.
pub type Quantity = (Handle<f32>, Option<usize>);

/// What is to be done in a Bucket.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Work {
    /// Something is carried there.
    Carry,
    /// Nothing comes there but what there is everywhere outside.
    Even,
    /// None of its samples is wanted.
    Unwanted,
}

impl Gather<'_> {
    /// Carries a quantity, by way of channels for it. Collective.
    pub fn carry(&self, what: Quantity, through: Scratch) -> Result<()> {
        let work = self.work(what)?;
        let lost = self.fetch(what, through, &work)?;
        Far { flow: self.flow, scratch: self.scratch }.fetch(&lost, what, self.ways, through)?;
        match (self.flow.scheme, through.corrected) {
            (Scheme::SemiLagrangian, _) => self.take(what.0, through.carried),
            (_, Some(corrected)) => {
                self.put_right(what, through, corrected, &work)?;
                self.fetch_corrected(what, through, corrected, &work)
            }
            (_, None) => self.correct(what, through, &work),
        }
    }

    /// What is to be done in each local Bucket.
    fn work(&self, (of, axis): Quantity) -> Result<Vec<Work>> {
        if let Some((marks, cells)) = self.flow.only {
            let work = self.flow.accessor("look for what is wanted");
            return Ok(work.map(marks.around(cells, 1), |_, cells| {
                if wanted(&cells, axis).count() > 0 { Work::Carry } else { Work::Unwanted }
            })?);
        }
        let is_idle = self.idle(of)?.into_iter();
        Ok(is_idle.map(|is_idle| if is_idle { Work::Even } else { Work::Carry }).collect())
    }

    /// Which local Buckets nothing comes to but what there is everywhere outside: they and all around them have nothing else.
    fn idle(&self, of: Handle<f32>) -> Result<Vec<bool>> {
        let (volume, topology) = (self.flow.volume, self.flow.volume.topology());
        let outside = volume.column(of)?.background();
        let even = self
            .flow
            .accessor("look for what is there")
            .map(volume.own(of), |_, values| values.iter().all(|value| *value == outside))?;
        if !self.is_near {
            return Ok(vec![false; even.len()]);
        }
        // Of copies nothing is known.
        let is_even = |slot: &Slot| *slot == NONE || even.get(*slot as usize) == Some(&true);
        let slots = 0..even.len() as Slot;
        Ok(slots.map(|slot| topology.neighbours(slot).iter().all(is_even)).collect())
    }

    /// φ̂ = Aφ, with the bounds of what it was found between; lists where it came from too far away.
    fn fetch(&self, (of, axis): Quantity, through: Scratch, work: &[Work]) -> Result<Cells> {
        let scratch = self.scratch;
        let access = (
            self.flow.volume.around(of, REACH as u8),
            self.ways.back.map(|way| scratch.around(way, 1)),
            [through.carried, through.least, through.most].map(|channel| scratch.write(channel)),
            self.flow.only.map(|(marks, cells)| marks.around(cells, 1)),
        );
        let all_lost = Mutex::new(Cells::new());
        self.flow.accessor("carry along").run_with(
            access,
            Looks::default,
            |looks, here, (values, ways, [carried, least, most], only)| {
                match work[here.slot as usize] {
                    Work::Carry => {}
                    Work::Even => {
                        for to in [carried, least, most] {
                            to.copy_from_slice(values.chunk());
                        }
                        return;
                    }
                    Work::Unwanted => return carried.fill(f32::NAN),
                }
                looks.load(&values, &ways, axis);
                let mut lost = Vec::new();
                for row in 0..ROWS {
                    let spots = looks.spots(row);
                    for (z, n) in (8 * row..8 * row + 8).enumerate() {
                        let found = looks.values.at_with_bounds(&spots, z).unwrap_or_else(|| {
                            lost.push(n as u16);
                            [0.0; 3]
                        });
                        [carried[n], least[n], most[n]] = found;
                    }
                }
                if let Some(cells) = only {
                    let wanted = wanted(&cells, axis);
                    (0..VOXELS).filter(|n| !wanted.get(*n)).for_each(|n| carried[n] = f32::NAN);
                    lost.retain(|n| wanted.get(*n as usize));
                }
                if !lost.is_empty() {
                    let mut all = all_lost.lock().unwrap_or_else(|poison| poison.into_inner());
                    all.push((here.slot, lost));
                }
            },
        )?;
        let mut lost = all_lost.into_inner().unwrap_or_else(|poison| poison.into_inner());
        lost.sort_unstable_by_key(|(slot, _)| *slot);
        Ok(lost)
    }

    /// φ ← φ̂ + ½(φ − Aᴿφ̂), within bounds.
    fn correct(&self, (of, axis): Quantity, through: Scratch, work: &[Work]) -> Result<()> {
        let scratch = self.scratch;
        let access = (
            scratch.around(through.carried, REACH as u8),
            self.ways.forth.map(|way| scratch.around(way, 1)),
            [through.least, through.most].map(|channel| scratch.own(channel)),
            self.flow.volume.write(of),
        );
        self.flow.accessor("correct what was carried").run_with(
            access,
            Looks::default,
            |looks, here, (carried, ways, [least, most], values)| {
                if work[here.slot as usize] != Work::Carry {
                    return;
                }
                looks.load(&carried, &ways, axis);
                let carried = carried.chunk();
                for row in 0..ROWS {
                    let back = looks.values.at(&looks.spots(row));
                    for (back, n) in back.into_iter().zip(8 * row..) {
                        let better = carried[n] + 0.5 * (values[n] - back);
                        // What leads too far is not put right, and beside what was not carried there is nothing to compare with.
                        let better = if better.is_nan() { carried[n] } else { better };
                        let bounded = better.max(least[n]).min(most[n]);
                        values[n] = if carried[n].is_nan() { values[n] } else { bounded };
                    }
                }
            },
        )?;
        Ok(())
    }

    /// φ + ½(φ − Aᴿφ̂), for BFECC.
    fn put_right(
        &self,
        (of, axis): Quantity,
        through: Scratch,
        corrected: Handle<f32>,
        work: &[Work],
    ) -> Result<()> {
        let scratch = self.scratch;
        let access = (
            scratch.around(through.carried, REACH as u8),
            self.ways.forth.map(|way| scratch.around(way, 1)),
            self.flow.volume.own(of),
            scratch.write(corrected),
        );
        self.flow.accessor("put right what is carried").run_with(
            access,
            Looks::default,
            |looks, here, (carried, ways, values, corrected)| {
                if work[here.slot as usize] != Work::Carry {
                    return corrected.copy_from_slice(values);
                }
                looks.load(&carried, &ways, axis);
                for row in 0..ROWS {
                    let spots = looks.spots(row);
                    for (back, n) in looks.values.at(&spots).into_iter().zip(8 * row..) {
                        // What leads too far is not put right, but what was not carried is no number.
                        let back = if spots.reach(n & 7) { back } else { values[n] };
                        corrected[n] = values[n] + 0.5 * (values[n] - back);
                    }
                }
            },
        )?;
        Ok(())
    }

    /// φ ← A of what was put right, within bounds.
    fn fetch_corrected(
        &self,
        (of, axis): Quantity,
        through: Scratch,
        corrected: Handle<f32>,
        work: &[Work],
    ) -> Result<()> {
        let scratch = self.scratch;
        let access = (
            scratch.around(corrected, REACH as u8),
            self.ways.back.map(|way| scratch.around(way, 1)),
            [through.carried, through.least, through.most].map(|channel| scratch.own(channel)),
            self.flow.volume.write(of),
        );
        self.flow.accessor("carry what was put right").run_with(
            access,
            Looks::default,
            |looks, here, (corrected, ways, [carried, least, most], values)| {
                if work[here.slot as usize] != Work::Carry {
                    return;
                }
                looks.load(&corrected, &ways, axis);
                for row in 0..ROWS {
                    let found = looks.values.at(&looks.spots(row));
                    for (found, n) in found.into_iter().zip(8 * row..) {
                        let found = if found.is_nan() { carried[n] } else { found };
                        let bounded = found.max(least[n]).min(most[n]);
                        values[n] = if carried[n].is_nan() { values[n] } else { bounded };
                    }
                }
            },
        )?;
        Ok(())
    }

    fn take(&self, of: Handle<f32>, carried: Handle<f32>) -> Result<()> {
        let access = (self.scratch.own(carried), self.flow.volume.write(of));
        self.flow.accessor("take what was carried").run(access, |_, (carried, values)| {
            for (value, &carried) in values.iter_mut().zip(carried) {
                *value = if carried.is_nan() { *value } else { carried };
            }
        })?;
        Ok(())
    }
}

/// Rows of a Bucket.
const ROWS: usize = VOXELS / 8;

/// What the samples of a Bucket look up: a quantity around it, at the other ends of their ways.
#[derive(Default)]
struct Looks {
    values: Window,
    ways: Starts,
}

impl Looks {
    /// Takes over the ways of cells or of faces across an axis, and the values there.
    fn load(
        &mut self,
        values: &VoxelNeighbourhood<'_, f32>,
        ways: &[VoxelNeighbourhood<'_, f32>; 3],
        axis: Option<usize>,
    ) {
        self.ways.load(ways, axis);
        let bounds = self.ways.0.each_ref().map(bounds);
        let extent = Extent::of(bounds.map(|[least, _]| least), bounds.map(|[_, most]| most));
        self.values.load(values, &extent);
    }

    /// Where the samples of a row look.
    #[inline(always)]
    fn spots(&self, row: usize) -> Spots {
        Spots::of(std::array::from_fn(|axis| -> Row {
            let ways = &self.ways.0[axis];
            std::array::from_fn(|n| [row >> 3, row & 7, n][axis] as f32 + ways[8 * row + n])
        }))
    }
}

/// The least and the largest of the numbers of a Bucket, without what is none.
fn bounds(values: &[f32; VOXELS]) -> [f32; 2] {
    let (mut least, mut most) = ([f32::INFINITY; 8], [f32::NEG_INFINITY; 8]);
    for row in values.as_chunks::<8>().0 {
        for n in 0..8 {
            least[n] = if row[n] < least[n] { row[n] } else { least[n] };
            most[n] = if row[n] > most[n] { row[n] } else { most[n] };
        }
    }
    let least = least.into_iter().fold(f32::INFINITY, f32::min);
    [least, most.into_iter().fold(f32::NEG_INFINITY, f32::max)]
}

/// The ways of the samples of a Bucket [voxels], by axis.
pub struct Starts([[f32; VOXELS]; 3]);

impl Default for Starts {
    fn default() -> Self {
        Self([[0.0; VOXELS]; 3])
    }
}

impl Starts {
    /// Those of cells, or of their lower faces across an axis: the means of those of both sides, and at the edge of all Buckets those of
    /// the one side there is.
    pub fn load(&mut self, ways: &[VoxelNeighbourhood<'_, f32>; 3], axis: Option<usize>) {
        for (to, way) in self.0.iter_mut().zip(ways) {
            let own = &way.chunk()[..VOXELS];
            let Some(axis) = axis else {
                to.copy_from_slice(own);
                continue;
            };
            let (x, y, z) = step(axis, -1);
            *to = lower(axis, own, way.neighbour(x, y, z));
            to.iter_mut().zip(own).for_each(|(to, own)| *to = 0.5 * (own + *to));
            if !way.exists(x, y, z) {
                let stride = [64, 8, 1][axis];
                let first = (0..VOXELS).filter(|n| (n / stride) & 7 == 0);
                first.for_each(|n| to[n] = own[n]);
            }
        }
    }

    /// That of one of them.
    pub fn at(&self, n: usize) -> Vec3 {
        Vec3::new(self.0[0][n], self.0[1][n], self.0[2][n])
    }
}

/// The cells that are marked, or the faces across an axis beside them.
fn wanted(cells: &VoxelNeighbourhood<'_, u64>, axis: Option<usize>) -> Mask<[u64; 8]> {
    let below = axis.map_or([0; 8], |axis| shifted_up(cells, axis));
    Mask(std::array::from_fn(|x| cells.chunk()[x] | below[x]))
}
