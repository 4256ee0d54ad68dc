//! Points in a fluid, found once: then its faces are read and written there as often as wanted, Bucket by Bucket.
//!
//! A Bucket lists the points in it, which read its faces and those around it from small copies, and its guests, the points beside it
//! whose weights reach over. So each Bucket sums up what falls on its own faces, on any thread, in the order of its lists. Weights are those of
//! linear interpolation. Of several processes, those that own a Bucket that a point reaches are told of it.

use rayon::prelude::*;
use std::sync::Arc;
use undine_core::access::{Pad, Tile};
use undine_core::domain::{Bucket, NONE, Slot, direction};
use undine_core::glam::{DVec3, IVec3, Vec3, Vec4};
use undine_core::process::Parcel;
use undine_core::volume::{MacHandle, Resolution};
use undine_core::{Accessor, CoreError, DiscreteVolume, GridDomain, Handle, Processes, Topology};
use undine_sim::Result;

/// Points in a fluid.
#[derive(Debug, Default)]
pub struct Places {
    /// Whose Buckets the lists are of; none without a point.
    topology: Option<Arc<Topology>>,
    /// How many points this process asks about.
    count: usize,
    /// Who is told of which of them, where there are several processes.
    routes: Option<Routes>,
    /// The points of each Bucket.
    own: Lists,
    /// Points of the Buckets beside it.
    guests: Lists,
    /// For each point that this process was told of, its Bucket and where it stands in the list; [`NONE`] if that is not its own.
    homes: Vec<(Slot, u32)>,
}

/// Who is told of what.
#[derive(Debug)]
struct Routes {
    /// Which points each process is told of.
    told: Vec<Vec<u32>>,
    /// How many each process tells of.
    heard: Vec<usize>,
}

/// For each Bucket some points.
#[derive(Debug, Default)]
struct Lists {
    /// Where the list of a Bucket begins; one more for the end of the last.
    starts: Vec<u32>,
    /// Which points they are, and where, from the corner of the Bucket [voxels].
    points: Vec<(u32, Vec3)>,
}

/// A point in the list of a Bucket.
type Listed = (Slot, u32, Vec3);

/// Where a point is: a Bucket, and the place in it [voxels].
type Place = (Bucket, Vec3);

/// Voxels along a Bucket.
const EDGE: f32 = 8.0;
/// The last place before the next Bucket.
const LAST: f32 = EDGE - 4.0 * f32::EPSILON;

impl Places {
    /// Finds points [m] in a volume. Collective.
    pub fn find(domain: &GridDomain, volume: &DiscreteVolume, points: &[DVec3]) -> Result<Self> {
        let processes = &**domain.processes();
        processes.all_agree(check(volume, points))?;
        let topology = volume.topology();
        let routes = match processes.count() {
            1 => None,
            _ => Some(Routes::of(domain, topology, points)?),
        };
        let heard = routes.as_ref().map(|routes| routes.tell(processes, points)).transpose()?;
        let at = locate(domain, topology, heard.as_deref().unwrap_or(points));
        let is_local = |slot: Slot| (slot as usize) < topology.local();
        let own = || {
            let all = at.iter().enumerate().map(|(n, &(slot, at))| (slot, n as u32, at));
            all.filter(|(slot, ..)| is_local(*slot))
        };
        let guests = || {
            at.iter().enumerate().filter(|(_, (slot, _))| *slot != NONE).flat_map(
                |(n, &(slot, at))| {
                    beside(at).map(move |step| {
                        let guest_of = match is_local(slot) {
                            true => topology.neighbours(slot)[direction(step.x, step.y, step.z)],
                            false => {
                                topology.slot(topology.bucket(slot).offset(step)).unwrap_or(NONE)
                            }
                        };
                        (guest_of, n as u32, at - EDGE * step.as_vec3())
                    })
                },
            )
        };
        let guests = || guests().filter(|(slot, ..)| is_local(*slot));
        let mut homes = vec![(NONE, 0); at.len()];
        let own =
            Lists::of(topology.local(), own, |n, slot, place| homes[n as usize] = (slot, place));
        let guests = Lists::of(topology.local(), guests, |_, _, _| {});
        let topology = Some(topology.clone());
        Ok(Self { topology, count: points.len(), routes, own, guests, homes })
    }

    /// How many points this process asks about.
    pub fn len(&self) -> usize {
        self.count
    }

    /// Whether it asks about none.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Values on faces at all points, in their order; 0 where there is no Bucket. Collective.
    pub fn read<const N: usize>(
        &self,
        domain: &GridDomain,
        volume: &DiscreteVolume,
        macs: [MacHandle; N],
    ) -> Result<Vec<[Vec3; N]>> {
        let Some(topology) = &self.topology else { return Ok(Vec::new()) };
        let near = macs.map(|mac| mac.faces.map(|face| volume.around(face, 1)));
        let work = Accessor::new("read faces at points", domain).over(topology);
        let by_bucket = work.map(near, |here, near| {
            let points = self.own.of_bucket(here.slot);
            if points.is_empty() {
                return Vec::new();
            }
            let copies = near.map(|mac| {
                mac.map(|face| {
                    let mut tile = Tile::new(Resolution::R8, Pad::both(1), 0.0_f32);
                    face.load(&mut tile);
                    tile
                })
            });
            let values = |(_, at): &(u32, Vec3)| {
                let between = [0, 1, 2].map(|axis| Between::faces(axis, *at));
                copies.each_ref().map(|faces| {
                    let value = |axis: usize| between[axis].interpolate(&faces[axis]);
                    Vec3::new(value(0), value(1), value(2))
                })
            };
            points.iter().map(values).collect::<Vec<[Vec3; N]>>()
        })?;
        let value = |&(slot, place): &(Slot, u32)| match slot {
            NONE => [Vec3::ZERO; N],
            slot => by_bucket[slot as usize][place as usize],
        };
        let values: Vec<[Vec3; N]> = self.homes.par_iter().map(value).collect();
        match &self.routes {
            Some(routes) => routes.answer(&**domain.processes(), self.count, &values),
            None => Ok(values),
        }
    }

    /// Adds values of all points to faces around them. What falls where there is no Bucket is lost. Collective.
    pub fn add<const N: usize>(
        &self,
        domain: &GridDomain,
        volume: &DiscreteVolume,
        macs: [MacHandle; N],
        values: &[[Vec3; N]],
    ) -> Result<()> {
        let Some(topology) = &self.topology else { return Ok(()) };
        let heard = match &self.routes {
            Some(routes) => Some(routes.tell(&**domain.processes(), values)?),
            None => None,
        };
        let values = heard.as_deref().unwrap_or(values);
        let faces = macs.map(|mac| mac.faces.map(|face| volume.write(face)));
        Accessor::new("add to faces at points", domain).over(topology).run_with(
            faces,
            Sums::<N>::default,
            |sums, here, mut faces| {
                let lists = [&self.own, &self.guests].map(|lists| lists.of_bucket(here.slot));
                if lists.iter().all(|list| list.is_empty()) {
                    return;
                }
                for axis in 0..3 {
                    sums.clear();
                    for &(n, at) in lists.into_iter().flatten() {
                        let value = values[n as usize].map(|value| value[axis]);
                        sums.add(&Between::faces(axis, at), value);
                    }
                    sums.give(faces.each_mut().map(|mac| &mut *mac[axis]));
                }
            },
        )?;
        Ok(())
    }

    /// Adds a number of each point to the cells whose centres it lies between. What falls where there is no Bucket is lost. Collective.
    pub fn add_to_cells(
        &self,
        domain: &GridDomain,
        volume: &DiscreteVolume,
        cells: Handle<f32>,
        values: &[f32],
    ) -> Result<()> {
        let Some(topology) = &self.topology else { return Ok(()) };
        let heard = match &self.routes {
            Some(routes) => Some(routes.tell(&**domain.processes(), values)?),
            None => None,
        };
        let values = heard.as_deref().unwrap_or(values);
        Accessor::new("add to cells at points", domain).over(topology).run_with(
            volume.write(cells),
            Sums::<1>::default,
            |sums, here, cells| {
                let lists = [&self.own, &self.guests].map(|lists| lists.of_bucket(here.slot));
                if lists.iter().all(|list| list.is_empty()) {
                    return;
                }
                sums.clear();
                for &(n, at) in lists.into_iter().flatten() {
                    sums.add(&Between::cells(at), [values[n as usize]]);
                }
                sums.give([cells]);
            },
        )?;
        Ok(())
    }
}

/// Refuses points that are not finite.
fn check(volume: &DiscreteVolume, points: &[DVec3]) -> undine_core::Result<()> {
    match points.par_iter().position_first(|point| !point.is_finite()) {
        None => Ok(()),
        Some(n) => Err(CoreError::NotFinite {
            what: format!("point {n} in {}", volume.label()),
            position: points[n],
        }),
    }
}

/// Where a point [m] is; nowhere if that is farther than any Bucket.
fn place(domain: &GridDomain, point: DVec3) -> Option<Place> {
    let (bucket, offset) = domain.frame().locate(point, 0, "").ok()?;
    let voxels = offset / domain.frame().voxel_size(0) as f32;
    Some((bucket, voxels.clamp(Vec3::ZERO, Vec3::splat(LAST))))
}

/// In which slots points [m] are, [`NONE`] where no Bucket is stored here, and where in their Buckets [voxels].
fn locate(domain: &GridDomain, topology: &Topology, points: &[DVec3]) -> Vec<(Slot, Vec3)> {
    const PIECE: usize = 1024;
    let mut all = vec![(NONE, Vec3::ZERO); points.len()];
    let pieces = all.par_chunks_mut(PIECE).zip(points.par_chunks(PIECE));
    pieces.for_each(|(all, points)| {
        // Points that follow each other are often in the same Bucket.
        let mut last = None;
        for (found, &point) in all.iter_mut().zip(points) {
            let Some((bucket, at)) = place(domain, point) else { continue };
            let slot = match last {
                Some((known, slot)) if known == bucket => slot,
                _ => topology.slot(bucket).unwrap_or(NONE),
            };
            last = Some((bucket, slot));
            *found = (slot, at);
        }
    });
    all
}

/// Whether any process has a Bucket.
fn exists(topology: &Topology, bucket: Bucket) -> bool {
    topology.slot(bucket).is_some()
        || (topology.stored() < topology.all().len() && topology.all().contains(bucket))
}

/// The steps to the Buckets, but for its own, with faces that weights at a place in a Bucket [voxels] reach.
fn beside(at: Vec3) -> impl Iterator<Item = IVec3> {
    // Along its own axis a face lies at a whole number, and along others half-way to the next.
    let low = at.cmplt(Vec3::splat(0.5));
    let high = at.cmpge(Vec3::splat(EDGE - 1.0));
    let [x, y, z] = [0, 1, 2].map(|axis| -i32::from(low.test(axis))..=i32::from(high.test(axis)));
    x.flat_map(move |x| {
        let z = z.clone();
        y.clone().flat_map(move |y| z.clone().map(move |z| IVec3::new(x, y, z)))
    })
    .filter(|step| *step != IVec3::ZERO)
}

impl Routes {
    /// Tells of points [m] whoever owns a Bucket that they reach. Collective.
    fn of(domain: &GridDomain, topology: &Topology, points: &[DVec3]) -> Result<Self> {
        let processes = &**domain.processes();
        let owners = |point: &DVec3| -> Vec<usize> {
            let Some((bucket, at)) = place(domain, *point).filter(|at| exists(topology, at.0))
            else {
                return Vec::new();
            };
            let reached = std::iter::once(IVec3::ZERO).chain(beside(at));
            let reached = reached.map(|step| bucket.offset(step));
            let mut owners: Vec<usize> = reached
                .filter(|bucket| exists(topology, *bucket))
                .map(|bucket| domain.owner(bucket))
                .collect();
            owners.sort_unstable();
            owners.dedup();
            owners
        };
        let owners: Vec<Vec<usize>> = points.par_iter().map(owners).collect();
        let mut told = vec![Vec::new(); processes.count()];
        for (n, owners) in owners.iter().enumerate() {
            owners.iter().for_each(|&owner| told[owner].push(n as u32));
        }
        let counts: Vec<u64> = told.iter().map(|told| told.len() as u64).collect();
        let heard = processes.all_to_all(&counts)?.into_iter().map(|n| n as usize).collect();
        Ok(Self { told, heard })
    }

    /// Tells something of each point, and returns what is heard, by process. Collective.
    fn tell<T: bytemuck::Pod>(&self, processes: &dyn Processes, of: &[T]) -> Result<Vec<T>> {
        let bundle = |told: &Vec<u32>| -> Vec<T> { told.iter().map(|&n| of[n as usize]).collect() };
        Ok(swap(processes, self.told.iter().map(bundle))?.concat())
    }

    /// Tells what was found for points that were heard of, and returns what is heard of this process's own: of each, one process finds
    /// something and others find 0. Collective.
    fn answer<const N: usize>(
        &self,
        processes: &dyn Processes,
        count: usize,
        found: &[[Vec3; N]],
    ) -> Result<Vec<[Vec3; N]>> {
        let mut found = found.iter().copied();
        let bundles = self.heard.iter().map(|&n| found.by_ref().take(n).collect());
        let bundles: Vec<Vec<[Vec3; N]>> = bundles.collect();
        let mut all = vec![[Vec3::ZERO; N]; count];
        for (told, answers) in self.told.iter().zip(swap(processes, bundles.into_iter())?) {
            for (&n, answer) in told.iter().zip(answers) {
                all[n as usize].iter_mut().zip(answer).for_each(|(sum, more)| *sum += more);
            }
        }
        Ok(all)
    }
}

/// Gives a bundle to each process, and returns what each gave to this one. Collective.
fn swap<T: bytemuck::Pod>(
    processes: &dyn Processes,
    bundles: impl Iterator<Item = Vec<T>>,
) -> Result<Vec<Vec<T>>> {
    let parcels = bundles
        .enumerate()
        .map(|(process, bundle)| Parcel { process, bytes: bytemuck::cast_slice(&bundle).to_vec() });
    let heard = processes.exchange(parcels.collect())?.into_iter();
    Ok(heard.map(|parcel| bytemuck::pod_collect_to_vec(&parcel.bytes)).collect())
}

impl Lists {
    /// Those of so many Buckets, of points that are told twice alike. Calls `put` with each point, its Bucket, and where it stands there.
    fn of<I: Iterator<Item = Listed>>(
        buckets: usize,
        all: impl Fn() -> I,
        mut put: impl FnMut(u32, Slot, u32),
    ) -> Self {
        let mut starts = vec![0; buckets + 1];
        all().for_each(|(slot, ..)| starts[slot as usize + 1] += 1);
        for n in 0..buckets {
            starts[n + 1] += starts[n];
        }
        let mut next = starts.clone();
        let mut points = vec![(0, Vec3::ZERO); starts[buckets] as usize];
        for (slot, n, at) in all() {
            let next = &mut next[slot as usize];
            points[*next as usize] = (n, at);
            put(n, slot, *next - starts[slot as usize]);
            *next += 1;
        }
        Self { starts, points }
    }

    fn of_bucket(&self, slot: Slot) -> &[(u32, Vec3)] {
        let slot = slot as usize;
        &self.points[self.starts[slot] as usize..self.starts[slot + 1] as usize]
    }
}

/// Between which faces, or centres of cells, a place lies.
struct Between {
    /// The one before it, from the first of the Bucket.
    first: [i32; 3],
    /// How far it is from there to the next one, from 0 to 1.
    part: Vec3,
}

/// A number so large that its neighbours are one apart: what is added to it becomes a whole number in its last bits.
const ONE_APART: f32 = 1.5 * (1 << 23) as f32;

/// Faces along a copy with a layer around the Bucket, elements from row to row and from slab to slab, and from the first of eight
/// around a place on, in rows of four; see [`Tile`].
const WIDTH: usize = 10;
const ROW: usize = 12;
const SLAB: usize = WIDTH * ROW;
const WINDOW: usize = SLAB + ROW + 4;

impl Between {
    /// Among the faces across an axis, by a place in the Bucket or a little outside [voxels].
    #[inline(always)]
    fn faces(axis: usize, at: Vec3) -> Self {
        let mut from = at - 0.5;
        from[axis] = at[axis];
        Self::points(from)
    }

    /// Among the centres of cells.
    #[inline(always)]
    fn cells(at: Vec3) -> Self {
        Self::points(at - 0.5)
    }

    /// Among points that are a voxel apart, by how far it is from the first of the Bucket.
    #[inline(always)]
    fn points(from: Vec3) -> Self {
        // Numbers below 0 have other bits.
        let nearest = (from + (EDGE - 0.5)) + ONE_APART;
        let first = nearest.to_array().map(|c| (c.to_bits() & 0xff) as i32 - EDGE as i32);
        Self { first, part: from - (nearest - ONE_APART - EDGE) }
    }

    /// Between the faces of a Bucket and one layer around it: rows along z, four wide though two count, so that they go through as one.
    #[inline(always)]
    fn interpolate(&self, tile: &Tile<f32>) -> f32 {
        let [x, y, z] = self.first.map(|c| (c + 1) as usize);
        let start = (x * WIDTH + y) * ROW + z;
        let found = tile.values().get(start..).and_then(|values| values.first_chunk::<WINDOW>());
        let Some(w) = found else { return 0.0 };
        let along_z = |at: usize| Vec4::from_slice(&w[at..at + 4]);
        let along_x = |at: usize| {
            let (low, high) = (along_z(at), along_z(at + SLAB));
            low + self.part.x * (high - low)
        };
        let (low, high) = (along_x(0), along_x(ROW));
        let across = low + self.part.y * (high - low);
        across.x + self.part.z * (across.y - across.x)
    }
}

/// What falls on the faces across an axis of a Bucket, for some channels, and on a layer around that.
struct Sums<const N: usize>(Vec<[f32; N]>);

/// From the first of eight faces around a place to the last.
const REACH: usize = WIDTH * WIDTH + WIDTH + 2;

impl<const N: usize> Default for Sums<N> {
    fn default() -> Self {
        Self(vec![[0.0; N]; WIDTH.pow(3)])
    }
}

impl<const N: usize> Sums<N> {
    fn clear(&mut self) {
        self.0.fill([0.0; N]);
    }

    /// Adds values between faces, unless none of them is of the Bucket.
    #[inline(always)]
    fn add(&mut self, between: &Between, value: [f32; N]) {
        let Between { first, part } = between;
        if first.iter().any(|c| !(-1..8).contains(c)) {
            return;
        }
        let [x, y, z] = first.map(|c| (c + 1) as usize);
        let start = (x * WIDTH + y) * WIDTH + z;
        let Some(w) = self.0[start..].first_chunk_mut::<REACH>() else { return };
        for (x, along_x) in [(0, 1.0 - part.x), (WIDTH * WIDTH, part.x)] {
            for (y, along_y) in [(0, 1.0 - part.y), (WIDTH, part.y)] {
                for (z, along_z) in [(0, 1.0 - part.z), (1, part.z)] {
                    let weight = along_x * along_y * along_z;
                    for (sum, value) in w[x + y + z].iter_mut().zip(&value) {
                        *sum += weight * value;
                    }
                }
            }
        }
    }

    /// Adds what fell on the Bucket's own faces to them, by channel.
    fn give(&self, mut faces: [&mut [f32]; N]) {
        for row in 0..64 {
            let from = ((row / 8 + 1) * WIDTH + row % 8 + 1) * WIDTH + 1;
            for (z, sums) in self.0[from..from + 8].iter().enumerate() {
                for (faces, sum) in faces.iter_mut().zip(sums) {
                    faces[8 * row + z] += sum;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use undine_core::volume::{Interpolation, Kernel, VoxelShape, sample_velocities, splat_points};
    use undine_core::{BucketSet, ChannelSpec, Frame};

    /// A number from −1 to 1 that looks like chance.
    fn chance(n: u64) -> f64 {
        let mixed = (n + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let mixed = (mixed ^ mixed >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        (mixed >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
    }

    /// Buckets with holes, and values on their faces.
    fn volume() -> (GridDomain, DiscreteVolume, MacHandle) {
        let mut domain = GridDomain::new("air", Frame::new(DVec3::ZERO, 0.1).unwrap());
        let all = (0..64).filter(|n| n % 7 != 3);
        let buckets = all.map(|n| Bucket::at(0, IVec3::new(n / 16, n / 4 % 4, n % 4) - 2));
        domain.set_buckets(&BucketSet::from_buckets(buckets).unwrap()).unwrap();
        let mut volume = DiscreteVolume::new("air", &domain);
        let mac = volume.add_mac("flow", "m/s", Resolution::R8).unwrap();
        for (axis, face) in mac.faces.into_iter().enumerate() {
            let mut column = volume.column_mut(face).unwrap();
            for slot in 0..volume.topology().local() as Slot {
                let values = column.chunk_mut(slot).iter_mut().enumerate();
                values.for_each(|(n, value)| {
                    *value = chance((axis as u64 * 100 + u64::from(slot)) * 512 + n as u64) as f32;
                });
            }
        }
        (domain, volume, mac)
    }

    /// Points in Buckets, in holes, outside, and on the borders between.
    fn points() -> Vec<DVec3> {
        let free = (0..3000)
            .map(|n| 2.0 * DVec3::new(chance(3 * n), chance(3 * n + 1), chance(3 * n + 2)));
        let even =
            (0..125).map(|n| 0.4 * DVec3::new((n / 25) as f64, (n / 5 % 5) as f64, (n % 5) as f64));
        free.chain(even.map(|at| at - 0.8)).chain([DVec3::splat(1e9)]).collect()
    }

    /// Both interpolate between eight values of at most 1 with weights that are rounded a few times: they differ by less than 16 roundings.
    #[test]
    fn faces_are_read_at_points_as_a_sampler_reads_them() {
        let (domain, volume, mac) = volume();
        let points = points();
        let places = Places::find(&domain, &volume, &points).unwrap();
        let found = places.read(&domain, &volume, [mac, mac]).unwrap();
        let mut wanted = vec![Vec3::ZERO; points.len()];
        sample_velocities(&volume, mac, Interpolation::Linear, &points, &mut wanted).unwrap();
        assert_eq!(found.len(), points.len());
        for ((found, wanted), point) in found.into_iter().zip(wanted).zip(points) {
            assert_eq!(found[0], found[1]);
            // Places in a Bucket are rounded too, to 8 voxels of precision.
            assert!(
                (found[0] - wanted).length() < 64.0 * f32::EPSILON,
                "{point} {found:?} {wanted}"
            );
        }
    }

    /// Each face sums up parts of some 20 values of at most 1, in another order, with weights as above.
    #[test]
    fn points_add_to_faces_what_a_splat_adds() {
        let (domain, volume, mac) = volume();
        let (_, other, same) = self::volume();
        let points = points();
        let places = Places::find(&domain, &volume, &points).unwrap();
        let value = |n: usize| Vec3::new(1.0, chance(n as u64) as f32, 0.5);
        let values: Vec<[Vec3; 1]> = (0..points.len()).map(|n| [value(n)]).collect();
        places.add(&domain, &volume, [mac], &values).unwrap();
        for axis in 0..3 {
            let values: Vec<f32> = (0..points.len()).map(|n| value(n)[axis]).collect();
            splat_points(&other, same.faces[axis], Kernel::Linear, &points, &values).unwrap();
            let found = volume.column(mac.faces[axis]).unwrap();
            let wanted = other.column(same.faces[axis]).unwrap();
            for slot in 0..volume.topology().local() as Slot {
                for (found, wanted) in found.chunk(slot).iter().zip(wanted.chunk(slot)) {
                    assert!((found - wanted).abs() < 512.0 * f32::EPSILON, "{found} {wanted}");
                }
            }
        }
    }

    /// The same for cells.
    #[test]
    fn points_add_to_cells_what_a_splat_adds() {
        let (domain, mut volume, _) = volume();
        let number = |name| ChannelSpec::new(name, 0.0_f32);
        let [found, wanted] =
            ["found", "wanted"].map(|name| volume.add_channel(&number(name), VoxelShape::CELLS));
        let (found, wanted) = (found.unwrap(), wanted.unwrap());
        let points = points();
        let values: Vec<f32> = (0..points.len()).map(|n| chance(n as u64) as f32).collect();
        let places = Places::find(&domain, &volume, &points).unwrap();
        places.add_to_cells(&domain, &volume, found, &values).unwrap();
        splat_points(&volume, wanted, Kernel::Linear, &points, &values).unwrap();
        let (found, wanted) = (volume.column(found).unwrap(), volume.column(wanted).unwrap());
        for slot in 0..volume.topology().local() as Slot {
            for (found, wanted) in found.chunk(slot).iter().zip(wanted.chunk(slot)) {
                assert!((found - wanted).abs() < 512.0 * f32::EPSILON, "{found} {wanted}");
            }
        }
    }

    #[test]
    fn copies_of_faces_are_laid_out_as_they_are_read() {
        let tile = Tile::new(Resolution::R8, Pad::both(1), 0.0_f32);
        assert_eq!([tile.width(), tile.row(), tile.slab()], [WIDTH, ROW, SLAB]);
        assert!(tile.index(7, 7, 7) + WINDOW <= tile.values().len());
    }

    #[test]
    fn a_point_that_is_not_finite_is_named() {
        let (domain, volume, _) = volume();
        let points = [DVec3::ZERO, DVec3::new(0.0, f64::NAN, 0.0)];
        let why = Places::find(&domain, &volume, &points).unwrap_err().to_string();
        assert!(why.contains("point 1"), "{why}");
    }

    #[test]
    fn where_there_is_no_point_there_is_nothing_to_do() {
        let (domain, volume, mac) = volume();
        let places = Places::find(&domain, &volume, &[]).unwrap();
        assert!(places.is_empty() && Places::default().is_empty());
        for places in [places, Places::default()] {
            assert!(places.read(&domain, &volume, [mac]).unwrap().is_empty());
            places.add(&domain, &volume, [mac], &[]).unwrap();
        }
    }
}
