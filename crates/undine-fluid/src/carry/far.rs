//! Ways that lead farther than a Bucket's surroundings: whoever owns the places on them is asked, all of them at once.

use super::gather::{Quantity, Starts};
use super::ways::Cells;
use super::{Flow, Scratch, Traces, Ways};
use undine_core::domain::{Bucket, Slot};
use undine_core::glam::{DVec3, Vec3};
use undine_core::volume::{Interpolation, foreign};
use undine_core::{Accessor, DiscreteVolume, Handle};
use undine_sim::Result;

/// What ways lead far through.
pub struct Far<'a> {
    pub flow: &'a Flow<'a>,
    /// The store of ways and of what is carried.
    pub scratch: &'a DiscreteVolume,
}

impl Far<'_> {
    /// Finds the ways that end in some cells, backwards. Collective.
    pub fn find_ways(&self, lost: &Cells, back: [Handle<f32>; 3]) -> Result<()> {
        if self.is_idle(lost)? {
            return Ok(());
        }
        let flow = self.flow;
        let starts = self.places(lost, DVec3::splat(0.5));
        let at = |places: &[DVec3]| -> Result<Vec<Vec3>> {
            let how = Interpolation::Linear;
            let (domain, volume) = (flow.domain, flow.volume);
            Ok(foreign::sample_velocities(domain, volume, flow.velocity, how, places)?)
        };
        let moved = |by: f64, along: &[Vec3]| -> Vec<DVec3> {
            let time = -by * flow.step;
            starts.iter().zip(along).map(|(start, v)| start + time * v.as_dvec3()).collect()
        };
        let here = at(&starts)?;
        let half_way = at(&moved(0.5, &here))?;
        let step = -flow.per_voxel();
        let ways: Vec<Vec3> = match flow.traces {
            Traces::Rk2 => half_way.iter().map(|&v| step * v).collect(),
            Traces::Rk3 => {
                let later = at(&moved(0.75, &half_way))?;
                let sum = |n: usize| {
                    (2.0 / 9.0) * here[n] + (1.0 / 3.0) * half_way[n] + (4.0 / 9.0) * later[n]
                };
                (0..starts.len()).map(|n| step * sum(n)).collect()
            }
        };
        for (axis, channel) in back.into_iter().enumerate() {
            self.put(lost, channel, |n| ways[n][axis])?;
        }
        Ok(())
    }

    /// Fetches what came to some samples from far away; there is nothing to put right there. Collective.
    pub fn fetch(
        &self,
        lost: &Cells,
        (of, axis): Quantity,
        ways: Ways,
        through: Scratch,
    ) -> Result<()> {
        if self.is_idle(lost)? {
            return Ok(());
        }
        let flow = self.flow;
        let mut centre = DVec3::splat(0.5);
        if let Some(axis) = axis {
            centre[axis] = 0.0;
        }
        let voxel = flow.domain.frame().voxel_size(0);
        let mut places = self.places(lost, centre);
        let ways = Accessor::new("far ways", flow.domain).over(flow.volume.topology()).map(
            ways.back.map(|way| self.scratch.around(way, 1)),
            |here, ways| match lost.binary_search_by_key(&here.slot, |(slot, _)| *slot) {
                Ok(found) => {
                    let mut starts = Starts::default();
                    starts.load(&ways, axis);
                    lost[found].1.iter().map(|&n| starts.at(n as usize)).collect()
                }
                Err(_) => Vec::new(),
            },
        )?;
        for (place, way) in places.iter_mut().zip(ways.into_iter().flatten()) {
            *place += voxel * way.as_dvec3();
        }
        let how = Interpolation::Linear;
        let values = foreign::sample(flow.domain, flow.volume, of, how, &places)?;
        for channel in [through.carried, through.least, through.most] {
            self.put(lost, channel, |n| values[n])?;
        }
        Ok(())
    }

    /// Whether no process has lost anything. Collective.
    fn is_idle(&self, lost: &Cells) -> Result<bool> {
        let any = [u8::from(!lost.is_empty())];
        Ok(!self.flow.domain.processes().all_gather(&any)?.concat().contains(&1))
    }

    /// Where samples of cells are [m], in their order.
    fn places(&self, lost: &Cells, centre: DVec3) -> Vec<DVec3> {
        let frame = self.flow.domain.frame();
        let topology = self.flow.volume.topology();
        let place = |bucket: Bucket, n: u16| {
            let cell = DVec3::new((n >> 6).into(), (n >> 3 & 7).into(), (n & 7).into());
            frame.corner(bucket) + (cell + centre) * frame.voxel_size(0)
        };
        let of = |(slot, cells): &(Slot, Vec<u16>)| {
            let bucket = topology.bucket(*slot);
            cells.iter().map(move |&n| place(bucket, n)).collect::<Vec<_>>()
        };
        lost.iter().flat_map(of).collect()
    }

    /// Writes values to a channel of the scratch store, by their order.
    fn put(&self, lost: &Cells, channel: Handle<f32>, value: impl Fn(usize) -> f32) -> Result<()> {
        let mut column = self.scratch.column_mut(channel)?;
        let mut number = 0;
        for (slot, cells) in lost {
            let chunk = column.chunk_mut(*slot);
            for &n in cells {
                chunk[n as usize] = value(number);
                number += 1;
            }
        }
        Ok(())
    }
}
