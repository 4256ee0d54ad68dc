//! One quantity is gathered along the ways of a step.

use super::ways::{Cells, Reach};
use super::{Far, Flow, Scheme, Scratch, VOXELS, Ways};
use crate::extend::bits::shifted_up;
use crate::nearby::{Around, AroundHere, AroundWide, MARGIN, WIDE};
use crate::pressure::layers::{chunk, lower, step};
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
    pub reach: Reach,
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
        match self.reach {
            Reach::Here => self.carry_within(what, through, MARGIN, AroundHere::default),
            Reach::Wide => self.carry_within(what, through, WIDE, AroundWide::default),
        }
    }

    fn carry_within<const M: usize, const W: usize>(
        &self,
        what: Quantity,
        through: Scratch,
        margin: usize,
        around: fn() -> Around<M, W>,
    ) -> Result<()> {
        let work = self.work(what)?;
        let lost = self.fetch(what, through, &work, margin, around)?;
        Far { flow: self.flow, scratch: self.scratch }.fetch(&lost, what, self.ways, through)?;
        match self.flow.scheme {
            Scheme::SemiLagrangian => self.take(what.0, through.carried),
            Scheme::MacCormack => self.correct(what, through, &work, margin, around),
            Scheme::Bfecc => {
                self.put_right(what, through, &work, margin, around)?;
                self.fetch_corrected(what, through, &work, margin, around)
            }
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
    fn fetch<const M: usize, const W: usize>(
        &self,
        (of, axis): Quantity,
        through: Scratch,
        work: &[Work],
        margin: usize,
        around: fn() -> Around<M, W>,
    ) -> Result<Cells> {
        let scratch = self.scratch;
        let access = (
            self.flow.volume.around(of, margin as u8),
            self.ways.back.map(|way| scratch.around(way, 1)),
            [through.carried, through.least, through.most].map(|channel| scratch.write(channel)),
            self.flow.only.map(|(marks, cells)| marks.around(cells, 1)),
        );
        let all_lost = Mutex::new(Cells::new());
        self.flow.accessor("carry along").run_with(
            access,
            around,
            |tile, here, (values, ways, [carried, least, most], only)| {
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
                tile.load(&values);
                let from = starts(&ways, axis);
                let mut lost = Vec::new();
                for n in 0..VOXELS {
                    let found = tile.at_with_bounds(place(n) + from.at(n)).unwrap_or_else(|| {
                        lost.push(n as u16);
                        [0.0; 3]
                    });
                    [carried[n], least[n], most[n]] = found;
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
    fn correct<const M: usize, const W: usize>(
        &self,
        (of, axis): Quantity,
        through: Scratch,
        work: &[Work],
        margin: usize,
        around: fn() -> Around<M, W>,
    ) -> Result<()> {
        let scratch = self.scratch;
        let access = (
            scratch.around(through.carried, margin as u8),
            self.ways.forth.map(|way| scratch.around(way, 1)),
            [through.least, through.most].map(|channel| scratch.own(channel)),
            self.flow.volume.write(of),
        );
        self.flow.accessor("correct what was carried").run_with(
            access,
            around,
            |tile, here, (carried, ways, [least, most], values)| {
                if work[here.slot as usize] != Work::Carry {
                    return;
                }
                tile.load(&carried);
                let (to, carried) = (starts(&ways, axis), carried.chunk());
                for n in 0..VOXELS {
                    // What leads too far is not put right.
                    let back = tile.at(place(n) + to.at(n)).unwrap_or(values[n]);
                    let better = carried[n] + 0.5 * (values[n] - back);
                    // Beside what was not carried there is nothing to compare with.
                    let better = if better.is_nan() { carried[n] } else { better };
                    let bounded = better.max(least[n]).min(most[n]);
                    values[n] = if carried[n].is_nan() { values[n] } else { bounded };
                }
            },
        )?;
        Ok(())
    }

    /// φ + ½(φ − Aᴿφ̂), for BFECC.
    fn put_right<const M: usize, const W: usize>(
        &self,
        (of, axis): Quantity,
        through: Scratch,
        work: &[Work],
        margin: usize,
        around: fn() -> Around<M, W>,
    ) -> Result<()> {
        let scratch = self.scratch;
        let access = (
            scratch.around(through.carried, margin as u8),
            self.ways.forth.map(|way| scratch.around(way, 1)),
            self.flow.volume.own(of),
            scratch.write(through.corrected),
        );
        self.flow.accessor("put right what is carried").run_with(
            access,
            around,
            |tile, here, (carried, ways, values, corrected)| {
                if work[here.slot as usize] != Work::Carry {
                    return corrected.copy_from_slice(values);
                }
                tile.load(&carried);
                let to = starts(&ways, axis);
                for n in 0..VOXELS {
                    let back = tile.at(place(n) + to.at(n)).unwrap_or(values[n]);
                    corrected[n] = values[n] + 0.5 * (values[n] - back);
                }
            },
        )?;
        Ok(())
    }

    /// φ ← A of what was put right, within bounds.
    fn fetch_corrected<const M: usize, const W: usize>(
        &self,
        (of, axis): Quantity,
        through: Scratch,
        work: &[Work],
        margin: usize,
        around: fn() -> Around<M, W>,
    ) -> Result<()> {
        let scratch = self.scratch;
        let access = (
            scratch.around(through.corrected, margin as u8),
            self.ways.back.map(|way| scratch.around(way, 1)),
            [through.carried, through.least, through.most].map(|channel| scratch.own(channel)),
            self.flow.volume.write(of),
        );
        self.flow.accessor("carry what was put right").run_with(
            access,
            around,
            |tile, here, (corrected, ways, [carried, least, most], values)| {
                if work[here.slot as usize] != Work::Carry {
                    return;
                }
                tile.load(&corrected);
                let from = starts(&ways, axis);
                for n in 0..VOXELS {
                    let found = tile.at(place(n) + from.at(n)).unwrap_or(carried[n]);
                    let found = if found.is_nan() { carried[n] } else { found };
                    let bounded = found.max(least[n]).min(most[n]);
                    values[n] = if carried[n].is_nan() { values[n] } else { bounded };
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

/// The ways of the samples of a Bucket [voxels].
pub struct Starts([[f32; VOXELS]; 3]);

impl Starts {
    #[inline(always)]
    pub fn at(&self, n: usize) -> Vec3 {
        Vec3::new(self.0[0][n], self.0[1][n], self.0[2][n])
    }
}

/// The ways of cells, or of their lower faces across an axis: the means of those of both sides, and at the edge of all Buckets those
/// of the one side there is.
#[inline(always)]
pub fn starts(ways: &[VoxelNeighbourhood<'_, f32>; 3], axis: Option<usize>) -> Starts {
    let mut own = ways.map(|way| chunk(way.chunk()));
    let Some(axis) = axis else { return Starts(own) };
    let (x, y, z) = step(axis, -1);
    for (own, way) in own.iter_mut().zip(ways) {
        let below = lower(axis, own, way.neighbour(x, y, z));
        if way.exists(x, y, z) {
            for (own, below) in own.iter_mut().zip(&below) {
                *own = 0.5 * (*own + below);
            }
            continue;
        }
        let stride = [64, 8, 1][axis];
        for n in (0..VOXELS).filter(|n| (n / stride) & 7 > 0) {
            own[n] = 0.5 * (way.chunk()[n] + below[n]);
        }
    }
    Starts(own)
}

/// The cells that are marked, or the faces across an axis beside them.
fn wanted(cells: &VoxelNeighbourhood<'_, u64>, axis: Option<usize>) -> Mask<[u64; 8]> {
    let below = axis.map_or([0; 8], |axis| shifted_up(cells, axis));
    Mask(std::array::from_fn(|x| cells.chunk()[x] | below[x]))
}

/// A sample of a Bucket, from its first one.
#[inline(always)]
fn place(n: usize) -> Vec3 {
    Vec3::new((n >> 6) as f32, (n >> 3 & 7) as f32, (n & 7) as f32)
}
