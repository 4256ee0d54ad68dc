//! A level set of several processes as one.

use super::{LevelSet, VOXELS};
use crate::error::Result;
use undine_core::process::Parcel;
use undine_core::{Accessor, BucketKey};

impl LevelSet {
    /// All of it, on the first process, which is alone with it; nothing on others. Channels other than the distance are left behind.
    /// Collective.
    pub fn gathered(&self) -> Result<Option<Self>> {
        let processes = self.domain.processes();
        // All processes know all Buckets.
        let all = self.topology().all();
        let number = |key: BucketKey| all.keys().partition_point(|other| *other < key);
        let mut bytes = Vec::with_capacity(self.topology().local() * (8 + 4 * VOXELS));
        {
            let column = self.column()?;
            for slot in 0..self.topology().local() as u32 {
                let number = number(self.topology().bucket(slot).key()) as u64;
                bytes.extend_from_slice(&number.to_le_bytes());
                column.chunk(slot).iter().for_each(|d| bytes.extend_from_slice(&d.to_le_bytes()));
            }
        }
        let parcels = processes.exchange(vec![Parcel { process: 0, bytes }])?;
        if processes.rank() > 0 {
            return Ok(None);
        }
        let mut chunks: Vec<&[u8]> = vec![&[]; all.len()];
        for parcel in &parcels {
            for chunk in parcel.bytes.chunks_exact(8 + 4 * VOXELS) {
                let (number, distances) = chunk.split_at(8);
                let number = u64::from_le_bytes(number.try_into().unwrap_or_default());
                if let Some(chunk) = chunks.get_mut(number as usize) {
                    *chunk = distances;
                }
            }
        }
        let alone = self.domain.alone();
        let mut whole = Self::empty(self.volume.label(), &alone, f64::from(self.width))?;
        whole.fills_box = self.fills_box;
        whole.cover(all)?;
        let accessor = Accessor::new("take distances", &whole.domain).over(whole.topology());
        accessor.run(whole.volume.write(whole.distance), |here, to| {
            let (from, _) = chunks[number(here.bucket.key())].as_chunks::<4>();
            to.iter_mut().zip(from).for_each(|(to, from)| *to = f32::from_le_bytes(*from));
        })?;
        whole.find_beyond()?;
        Ok(Some(whole))
    }
}
