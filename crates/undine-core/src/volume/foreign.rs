//! Points anywhere: reading and writing a volume where other processes own the Buckets.
//!
//! What goes to one process is bundled into one parcel, as Loki does for the ends of traces. Points that this process
//! can answer itself are worked on while the parcels travel. Both operations are collective: every process calls them,
//! each with its own points, be it none. If one of them cannot, all of them get its error, and nothing has changed.

use super::column::VoxelColumn;
use super::mac::MacHandle;
use super::sample::{Blend, Interpolation, Kernel, MacSampler, Sampler, check_finite};
use super::shape::VoxelShape;
use super::splat::{self, Drops, Place};
use super::store::DiscreteVolume;
use crate::channel::Handle;
use crate::domain::{GridDomain, Topology};
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

/// Adds `values` at world positions [m] to a channel, whichever processes own the Buckets there, and returns how many
/// of this process's points lay in no Bucket and were skipped. Collective.
///
/// A value near a border goes to every process that owns nodes under the kernel, and each adds its own part: no copies
/// are written, and all copies are stale afterwards. Values are added by Bucket, then by process, then by index.
pub fn splat<T: Blend>(
    domain: &GridDomain,
    volume: &DiscreteVolume,
    handle: Handle<T>,
    kernel: Kernel,
    points: &[DVec3],
    values: &[T],
) -> Result<usize> {
    splat_all(domain, volume, &[(handle, values)], kernel, points)
}

/// The same for several channels of a volume, each with a value for every point: points are found, sorted and sent once.
/// Collective.
pub fn splat_all<T: Blend>(
    domain: &GridDomain,
    volume: &DiscreteVolume,
    channels: &[(Handle<T>, &[T])],
    kernel: Kernel,
    points: &[DVec3],
) -> Result<usize> {
    let processes = &**domain.processes();
    let claim = |&(handle, values): &(Handle<T>, &[T])| {
        splat::check(volume, points, values)?;
        volume.column_mut(handle)
    };
    let claimed: Result<Vec<_>> = channels.iter().map(claim).collect();
    let mut columns = processes.all_agree(claimed)?;
    let topology = volume.topology();
    let located = splat::locate_all(topology, points);
    let skipped = located.iter().filter(|located| located.is_none()).count();

    let mut shapes: Vec<VoxelShape> = Vec::new();
    for shape in columns.iter().map(|column| column.shape()) {
        if !shapes.contains(&shape) {
            shapes.push(shape);
        }
    }
    let mut routes = routes::<T>(domain, topology, &located, &shapes, kernel);
    let mine = std::mem::take(&mut routes[processes.rank()]);
    // All points, then all values, channel after channel.
    let bundle = |places: &Vec<usize>| {
        let points: Vec<DVec3> = places.iter().map(|&n| points[n]).collect();
        let mut bytes = bytemuck::cast_slice(&points).to_vec();
        for (_, values) in channels {
            let values: Vec<T> = places.iter().map(|&n| values[n]).collect();
            bytes.extend_from_slice(bytemuck::cast_slice(&values));
        }
        bytes
    };
    let travelling = Bundles::send(processes, routes.iter().map(bundle).collect())?;

    let own = Arrived {
        places: mine.iter().map(|&n| located[n]).collect(),
        values: channels
            .iter()
            .map(|(_, values)| mine.iter().map(|&n| values[n]).collect())
            .collect(),
    };
    let mut all = vec![(processes.rank(), own)];
    for (process, bytes) in travelling.receive()? {
        all.push((process, Arrived::of(topology, &bytes, channels.len())));
    }
    all.sort_by_key(|(process, _)| *process);
    let (places, values) =
        Arrived::joined(all.into_iter().map(|(_, arrived)| arrived), channels.len());
    let drops = Drops::new(places);
    let columns: Vec<&mut VoxelColumn<T>> =
        columns.iter_mut().map(|column| &mut **column).collect();
    columns
        .into_par_iter()
        .zip(&values)
        .for_each(|(column, values)| drops.add(column, topology, kernel, values));
    Ok(skipped)
}

/// For each process the points of which it owns a node under the kernel, for a channel of any of these shapes. On one level, a kernel
/// reaches no farther than the neighbouring Buckets, so that away from the border it is this process alone.
fn routes<T: Blend>(
    domain: &GridDomain,
    topology: &Topology,
    located: &[Option<Place>],
    shapes: &[VoxelShape],
    kernel: Kernel,
) -> Vec<Vec<usize>> {
    let (rank, count) = (domain.processes().rank(), domain.processes().count());
    if count == 1 {
        return vec![(0..located.len()).filter(|&n| located[n].is_some()).collect()];
    }
    let one_level = topology.all().levels().nth(1).is_none();
    let mut inner = vec![one_level; topology.local()];
    for &slot in topology.boundary() {
        inner[slot as usize] = false;
    }
    let owners_of = |located: &Option<Place>| {
        let Some(place) = *located else { return Vec::new() };
        let slot = topology.slot(place.0).map_or(usize::MAX, |slot| slot as usize);
        if inner.get(slot) == Some(&true) {
            return vec![rank];
        }
        let mut owners = Vec::new();
        for &shape in shapes {
            splat::each_bucket_under::<T>(topology, shape, kernel, place, &mut |bucket| {
                owners.push(domain.owner(bucket));
            });
        }
        owners.sort_unstable();
        owners.dedup();
        owners
    };
    let owners: Vec<Vec<usize>> = located.par_iter().map(owners_of).collect();
    let mut routes = vec![Vec::new(); count];
    for (n, owners) in owners.iter().enumerate() {
        owners.iter().for_each(|&owner| routes[owner].push(n));
    }
    routes
}

/// What one process has to add: places, if they lie in a Bucket, and a value for each, channel after channel.
struct Arrived<T> {
    places: Vec<Option<Place>>,
    values: Vec<Vec<T>>,
}

impl<T: Blend> Arrived<T> {
    /// What another process has sent.
    fn of(topology: &Topology, bytes: &[u8], channels: usize) -> Self {
        let count = bytes.len() / (size_of::<DVec3>() + channels * size_of::<T>());
        let (points, values) = bytes.split_at(count * size_of::<DVec3>());
        let values = values.chunks_exact((count * size_of::<T>()).max(1));
        Self {
            places: splat::locate_all(topology, &bytemuck::pod_collect_to_vec(points)),
            values: values.map(bytemuck::pod_collect_to_vec).collect(),
        }
    }

    /// One after another, without what lies nowhere.
    fn joined(all: impl Iterator<Item = Self>, channels: usize) -> (Vec<Place>, Vec<Vec<T>>) {
        let (mut places, mut values) = (Vec::new(), vec![Vec::new(); channels]);
        for arrived in all {
            let there = || arrived.places.iter().map(Option::is_some);
            for (values, more) in values.iter_mut().zip(&arrived.values) {
                values.extend(
                    more.iter().zip(there()).filter(|(_, is)| *is).map(|(value, _)| *value),
                );
            }
            places.extend(arrived.places.iter().flatten());
        }
        (places, values)
    }
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
