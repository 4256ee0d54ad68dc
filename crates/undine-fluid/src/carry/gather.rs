//! One quantity is gathered along the ways of a step.

use super::ways::{Cells, Reach};
use super::{Far, Flow, Scheme, Scratch, VOXELS, Ways};
use crate::nearby::{Around, AroundHere, AroundWide, MARGIN, WIDE};
use crate::pressure::layers::{chunk, lower, step};
use std::sync::Mutex;
use undine_core::access::VoxelNeighbourhood;
use undine_core::domain::{NONE, Slot};
use undine_core::glam::Vec3;
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
        let idle = self.idle(what.0)?;
        let lost = self.fetch(what, through, &idle, margin, around)?;
        Far { flow: self.flow, scratch: self.scratch }.fetch(&lost, what, self.ways, through)?;
        match self.flow.scheme {
            Scheme::SemiLagrangian => self.take(what.0, through.carried),
            Scheme::MacCormack => self.correct(what, through, &idle, margin, around),
            Scheme::Bfecc => {
                self.put_right(what, through, margin, around)?;
                self.fetch_corrected(what, through, margin, around)
            }
        }
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
        idle: &[bool],
        margin: usize,
        around: fn() -> Around<M, W>,
    ) -> Result<Cells> {
        let scratch = self.scratch;
        let access = (
            self.flow.volume.around(of, margin as u8),
            self.ways.back.map(|way| scratch.around(way, 1)),
            [through.carried, through.least, through.most].map(|channel| scratch.write(channel)),
        );
        let all_lost = Mutex::new(Cells::new());
        self.flow.accessor("carry along").run_with(
            access,
            around,
            |tile, here, (values, ways, [carried, least, most])| {
                if idle[here.slot as usize] {
                    for to in [carried, least, most] {
                        to.copy_from_slice(values.chunk());
                    }
                    return;
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
        idle: &[bool],
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
                if idle[here.slot as usize] {
                    return;
                }
                tile.load(&carried);
                let (to, carried) = (starts(&ways, axis), carried.chunk());
                for n in 0..VOXELS {
                    // What leads too far is not put right.
                    let back = tile.at(place(n) + to.at(n)).unwrap_or(values[n]);
                    let better = carried[n] + 0.5 * (values[n] - back);
                    values[n] = better.max(least[n]).min(most[n]);
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
            |tile, _, (carried, ways, values, corrected)| {
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
            |tile, _, (corrected, ways, [carried, least, most], values)| {
                tile.load(&corrected);
                let from = starts(&ways, axis);
                for n in 0..VOXELS {
                    let found = tile.at(place(n) + from.at(n)).unwrap_or(carried[n]);
                    values[n] = found.max(least[n]).min(most[n]);
                }
            },
        )?;
        Ok(())
    }

    fn take(&self, of: Handle<f32>, carried: Handle<f32>) -> Result<()> {
        let access = (self.scratch.own(carried), self.flow.volume.write(of));
        self.flow.accessor("take what was carried").run(access, |_, (carried, values)| {
            values.copy_from_slice(carried);
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

/// A sample of a Bucket, from its first one.
#[inline(always)]
fn place(n: usize) -> Vec3 {
    Vec3::new((n >> 6) as f32, (n >> 3 & 7) as f32, (n & 7) as f32)
}
