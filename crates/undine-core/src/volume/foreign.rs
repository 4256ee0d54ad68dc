//! Points anywhere: reading a volume where other processes own the Buckets.
//!
//! What goes to one process is bundled into one parcel, as Loki does for the ends of traces. Points that this process
//! can answer itself are worked on while the parcels travel. All of it is collective: every process asks, each for its own
//! points, be it none. If one of them cannot, all of them get its error.

use super::mac::MacHandle;
use super::sample::{Blend, Interpolation, MacSampler, Sampler, check_finite};
use super::splat;
use super::store::DiscreteVolume;
use crate::channel::Handle;
use crate::domain::GridDomain;
use crate::error::Result;
use crate::process::{Parcel, Pending, Processes};
use bytemuck::Pod;
use glam::{DVec3, Vec3};
use rayon::prelude::*;

/// The values of a channel at world positions [m], in their order, whichever process owns the Buckets there; the
/// background where nobody has one. Collective.
///
/// A point is answered by the owner of the finest Bucket that contains it. Near the border of its part of space the
/// owner reads its copies of neighbouring Buckets, which are refreshed first if they are stale.
pub fn sample<T: Blend>(
    domain: &GridDomain,
    volume: &DiscreteVolume,
    handle: Handle<T>,
    interpolation: Interpolation,
    points: &[DVec3],
) -> Result<Vec<T>> {
    let claim = || {
        check_finite(volume, "sample", points)?;
        volume.column(handle)
    };
    domain.processes().all_agree(claim().map(drop))?;
    volume.refresh(domain, handle)?;
    let column = volume.column(handle)?;
    let sampler = Sampler::new(&column, volume.topology(), interpolation);
    ask(domain, volume, points, |point| sampler.at_world(point))
}

/// The velocities [m/s] at world positions [m], as [`sample`] gives a channel's values: all three components in one
/// round trip. Collective.
pub fn sample_velocities(
    domain: &GridDomain,
    volume: &DiscreteVolume,
    handle: MacHandle,
    interpolation: Interpolation,
    points: &[DVec3],
) -> Result<Vec<Vec3>> {
    let claim = || {
        check_finite(volume, "sample", points)?;
        let [x, y, z] = handle.faces.map(|face| volume.column(face));
        Ok([x?, y?, z?])
    };
    domain.processes().all_agree(claim().map(drop))?;
    for face in handle.faces {
        volume.refresh(domain, face)?;
    }
    let columns = claim()?;
    let faces = [&*columns[0], &*columns[1], &*columns[2]];
    let sampler = MacSampler::new(faces, volume.topology(), interpolation);
    let sampler = domain.processes().all_agree(sampler)?;
    ask(domain, volume, points, |point| sampler.at_world(point))
}

/// Has each point answered by the process that owns it; in order. One round trip.
fn ask<T: Pod + Send>(
    domain: &GridDomain,
    volume: &DiscreteVolume,
    points: &[DVec3],
    answer: impl Fn(DVec3) -> T + Sync,
) -> Result<Vec<T>> {
    let processes = &**domain.processes();
    let answer_all =
        |points: &[DVec3]| -> Vec<T> { points.par_iter().map(|&point| answer(point)).collect() };
    if processes.count() == 1 {
        return Ok(answer_all(points));
    }
    let (mut mine, mut theirs) = (Vec::new(), vec![Vec::new(); processes.count()]);
    for (n, located) in splat::locate_all(volume.topology(), points).into_iter().enumerate() {
        match located.map(|(bucket, _)| domain.owner(bucket)) {
            Some(owner) if owner != processes.rank() => theirs[owner].push(n),
            _ => mine.push(n),
        }
    }
    let pick = |places: &[usize]| places.iter().map(|&n| points[n]).collect::<Vec<_>>();
    let bundles =
        theirs.iter().map(|places| bytemuck::cast_slice(&pick(places)).to_vec()).collect();
    let questions = Bundles::send(processes, bundles)?;

    let mut values = vec![T::zeroed(); points.len()];
    let mut put = |places: &[usize], answers: Vec<T>| {
        for (&n, value) in places.iter().zip(answers) {
            values[n] = value;
        }
    };
    put(&mine, answer_all(&pick(&mine)));

    let outgoing = questions
        .receive()?
        .into_iter()
        .map(|(process, bytes)| {
            let answers = answer_all(&bytemuck::pod_collect_to_vec(&bytes));
            Parcel { process, bytes: bytemuck::cast_slice(&answers).to_vec() }
        })
        .collect();
    // Everybody knows how many answers come back: no need to announce them.
    let expected = theirs.iter().map(|places| (places.len() * size_of::<T>()) as u64).collect();
    for (process, bytes) in Bundles::start(processes, outgoing, expected)?.receive()? {
        put(&theirs[process], bytemuck::pod_collect_to_vec(&bytes));
    }
    Ok(values)
}

/// Bytes under way, at most one parcel for each process.
struct Bundles {
    pending: Pending,
    /// From whom they come, ascending.
    sources: Vec<usize>,
}

impl Bundles {
    /// Sends `bundles[i]`, unless it is empty, to process i. Collective.
    fn send(processes: &dyn Processes, bundles: Vec<Vec<u8>>) -> Result<Self> {
        let sizes: Vec<u64> = bundles.iter().map(|bytes| bytes.len() as u64).collect();
        let expected = processes.all_to_all(&sizes)?;
        let outgoing = bundles
            .into_iter()
            .enumerate()
            .filter(|(_, bytes)| !bytes.is_empty())
            .map(|(process, bytes)| Parcel { process, bytes })
            .collect();
        Self::start(processes, outgoing, expected)
    }

    /// Sends parcels, and expects so many bytes from each process; none where it is zero.
    fn start(processes: &dyn Processes, outgoing: Vec<Parcel>, expected: Vec<u64>) -> Result<Self> {
        let incoming: Vec<(usize, usize)> = expected
            .into_iter()
            .enumerate()
            .filter(|&(_, bytes)| bytes > 0)
            .map(|(process, bytes)| (process, bytes as usize))
            .collect();
        let pending = processes.start(outgoing, &incoming)?;
        Ok(Self { pending, sources: incoming.into_iter().map(|(process, _)| process).collect() })
    }

    /// Waits for the bytes, by source.
    fn receive(self) -> Result<Vec<(usize, Vec<u8>)>> {
        let bundles = self.pending.finish()?.into_iter().map(|parcel| parcel.bytes);
        Ok(self.sources.into_iter().zip(bundles).collect())
    }
}
