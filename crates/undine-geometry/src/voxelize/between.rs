//! The level set of a moving shape between two frames, from those of the frames and the shape's velocity.
//!
//! After *efficient reseeding* of fluxed animated boundaries (section 4.3): where the band lies is found on a coarse
//! lattice that the velocity carries along; the distances in it come from both frames by level-set interpolation
//! (Selle, Fedkiw, Kim, Liu and Rossignac 2008): what is at a place came from somewhere at the first frame and will be
//! somewhere at the second, and its distance is blended from the distances there, and refined near the surface.

use super::deforming::within;
use crate::error::{GeometryError, Result, positive};
use crate::levelset::{DistanceSampler, LevelSet};
use rayon::prelude::*;
use undine_core::domain::{VOXELS_PER_BUCKET, direction};
use undine_core::error::CoreError;
use undine_core::glam::{DVec3, IVec3, Vec3};
use undine_core::mesh::Bounds;
use undine_core::volume::Resolution;
use undine_core::{Accessor, Bucket, BucketSet, GridDomain};

/// Voxels along one of the coarse lattice that finds the band.
const COARSER: i32 = 2;
/// Steps towards the surface after the first.
const STEPS: usize = 2;
/// How often a place at the first frame is guessed anew. Each guess is nearer by the velocity's gradient times the time.
const GUESSES: usize = 6;
/// A Bucket of voxels must not be torn wider than this many voxels.
const WIDEST: f64 = 256.0;

impl LevelSet {
    /// The level set of a shape at a `time` [s] between two frames, from its level sets at both, which are a `duration`
    /// [s] apart and on one lattice, and its `velocity` [m/s] at the first. Collective; each process has for a while
    /// a copy of both level sets.
    ///
    /// What is at a place at the first frame moves along a straight line. At the frames themselves the result is
    /// that frame's level set, made anew from interpolated distances.
    pub fn between(
        label: &str,
        frames: [&Self; 2],
        duration: f64,
        velocity: &(dyn Fn(DVec3) -> DVec3 + Sync),
        time: f64,
    ) -> Result<Self> {
        let duration = positive("the time between two frames", duration)?;
        let time = within(time, duration)?;
        let domain = frames[0].domain();
        if frames[1].domain().frame() != domain.frame() {
            return Err(GeometryError::Core(CoreError::BadValue {
                what: format!("the lattice of {}", frames[1].volume().label()),
                found: "another one than that of the first frame".into(),
                wanted: "the same",
            }));
        }
        let whole = [whole(frames[0])?, whole(frames[1])?];
        let [a, b] = [&whole[0], &whole[1]].map(|(copy, at)| copy.as_ref().unwrap_or(at));
        let columns = [a.column()?, b.column()?];
        let samplers = [a.sampler(&columns[0]), b.sampler(&columns[1])];
        let path = Path { samplers, velocity, duration, time };

        let width = a.width().min(b.width());
        let mut set = Self::empty(label, domain, width.into())?;
        if a.fills_box() && b.fills_box() {
            set = set.filling_box();
        }
        let near = domain.processes().all_agree(near(domain, [a, b], &path))?;
        set.cover(&carried(domain, &near, &path, width))?;
        blend(&set, &path)?;
        set.trim()?;
        Ok(set)
    }
}

/// How places move between the frames.
struct Path<'a> {
    samplers: [DistanceSampler<'a>; 2],
    velocity: &'a (dyn Fn(DVec3) -> DVec3 + Sync),
    duration: f64,
    time: f64,
}

impl Path<'_> {
    /// Where at the first frame something was that is at a place [m] at this time [s], and its velocity [m/s].
    fn origin(&self, at: DVec3, time: f64) -> (DVec3, DVec3) {
        let mut velocity = (self.velocity)(at);
        let mut from = at - time * velocity;
        for _ in 0..GUESSES {
            velocity = (self.velocity)(from);
            from = at - time * velocity;
        }
        (from, velocity)
    }

    /// The distance [m] at a place [m], blended from those at both frames.
    fn distance(&self, at: DVec3) -> f32 {
        self.distance_and_gradient(at).0
    }

    /// The same, and roughly its gradient.
    fn distance_and_gradient(&self, at: DVec3) -> (f32, Vec3) {
        let (from, velocity) = self.origin(at, self.time);
        let (a, to_a) = self.samplers[0].value_and_gradient(from);
        let (b, to_b) = self.samplers[1].value_and_gradient(from + self.duration * velocity);
        let part = (self.time / self.duration) as f32;
        ((1.0 - part) * a + part * b, (1.0 - part) * to_a + part * to_b)
    }

    /// The distance [m] at a place [m], by walking towards the surface. Blended distances are not quite distances, and
    /// are too short where the frames' bands end; but the nearer to the surface the less so, and at it they are right.
    fn refined(&self, at: DVec3) -> f32 {
        let (first, gradient) = self.distance_and_gradient(at);
        let Some(outwards) = gradient.try_normalize() else { return first };
        (0..STEPS)
            .fold(first, |walked, _| walked + self.distance(at - (walked * outwards).as_dvec3()))
    }
}

/// A level set that is whole on this process: a copy if others have parts of it, or else itself.
fn whole(set: &LevelSet) -> Result<(Option<LevelSet>, &LevelSet)> {
    let processes = set.domain().processes();
    if processes.count() == 1 {
        return Ok((None, set));
    }
    let topology = set.topology();
    let column = set.column()?;
    let mine: Vec<f32> =
        (0..topology.local() as u32).flat_map(|slot| column.chunk(slot).to_vec()).collect();
    let keys: Vec<_> =
        topology.buckets()[..topology.local()].iter().map(|bucket| bucket.key()).collect();
    let distances = processes.all_gather_values(&mine)?.concat();
    let keys = processes.all_gather_values(&keys)?.concat();

    let domain = GridDomain::new(set.volume().label(), *set.domain().frame())
        .with_budget(set.domain().budget().clone());
    let mut copy = LevelSet::empty(set.volume().label(), &domain, set.width().into())?;
    copy.cover(&BucketSet::from_keys(keys.clone()))?;
    {
        let mut column = copy.volume().column_mut(copy.distance())?;
        let voxels = VOXELS_PER_BUCKET.pow(3);
        for (key, chunk) in keys.iter().zip(distances.chunks_exact(voxels)) {
            if let Some(slot) = copy.topology().slot(key.bucket()) {
                column.chunk_mut(slot).copy_from_slice(chunk);
            }
        }
    }
    copy.find_beyond()?;
    Ok((Some(copy), set))
}

/// The Buckets into which the bands of both frames are carried, and some more.
fn near(
    domain: &GridDomain,
    frames: [&LevelSet; 2],
    path: &Path,
) -> undine_core::error::Result<BucketSet> {
    let frame = domain.frame();
    let (size, voxel) = (frame.bucket_size(0), frame.voxel_size(0));
    let mut near = BucketSet::new();
    for (set, since) in frames.into_iter().zip([0.0, path.duration]) {
        let buckets: Vec<Bucket> = set.topology().all().buckets().collect();
        let boxes: Vec<undine_core::error::Result<BucketSet>> = buckets
            .into_par_iter()
            .map(|bucket| {
                let place = |n: i32| {
                    let part = IVec3::new(n / 9, n / 3 % 3, n % 3).as_dvec3() * 0.5;
                    let at = frame.corner(bucket) + size * part;
                    let (from, velocity) = path.origin(at, since);
                    from + path.time * velocity
                };
                let bounds = Bounds::around((0..27).map(place)).unwrap_or_else(|| unreachable!());
                let widest = bounds.size().max_element() / voxel;
                if widest.is_nan() || widest > WIDEST {
                    return Err(CoreError::BadValue {
                        what: format!("{bucket:?}, carried by the velocity of a shape"),
                        found: format!("{widest:.1} voxels wide"),
                        wanted: "256 at most; give more frames or a smoother velocity",
                    });
                }
                domain.buckets_in_box(bounds.min - voxel, bounds.max + voxel, 0)
            })
            .collect();
        // The error, if there is one, is that of the first Bucket.
        let boxes = boxes.into_iter().collect::<undine_core::error::Result<Vec<_>>>()?;
        let keys = boxes.iter().flat_map(|found| found.keys()).copied().collect();
        near = near.union(&BucketSet::from_keys(keys));
    }
    Ok(near)
}

/// Those of the Buckets that the band reaches, found on the coarse lattice.
fn carried(domain: &GridDomain, near: &BucketSet, path: &Path, width: f32) -> BucketSet {
    let (frame, last) = (domain.frame(), VOXELS_PER_BUCKET as i32 / COARSER - 1);
    let step = frame.voxel_size(0) * f64::from(COARSER);
    let buckets: Vec<Bucket> = near.buckets().collect();
    let keys: Vec<_> = buckets
        .into_par_iter()
        .flat_map_iter(|bucket| {
            let corner = frame.corner(bucket);
            // A bit per neighbour, and for the Bucket itself.
            let mut reached = 0_u32;
            for n in 0..(last + 1).pow(3) {
                let edge = last + 1;
                let cell = IVec3::new(n / (edge * edge), n / edge % edge, n % edge);
                if path.distance(corner + step * (cell.as_dvec3() + 0.5)).abs() >= width {
                    continue;
                }
                // The band may go on for less than a coarse voxel: into neighbours, if this one is at the border.
                let beside = |n: i32| if n == 0 { -1 } else { i32::from(n == last) };
                let to = IVec3::new(beside(cell.x), beside(cell.y), beside(cell.z));
                for part in 0..8 {
                    let [x, y, z] = [to.x * (part >> 2), to.y * (part >> 1 & 1), to.z * (part & 1)];
                    reached |= 1 << direction(x, y, z);
                }
            }
            let offsets = (0..27).filter(move |towards| reached >> towards & 1 == 1);
            offsets
                .map(move |towards| bucket.offset(undine_core::domain::offset_towards(towards)))
                .filter(|bucket| bucket.is_in_range())
                .map(Bucket::key)
        })
        .collect();
    BucketSet::from_keys(keys)
}

/// Writes the blended distances.
fn blend(set: &LevelSet, path: &Path) -> Result<()> {
    let frame = *set.domain().frame();
    let voxel = frame.voxel_size(0);
    let width = set.width();
    let accessor =
        Accessor::new("blend distances of two frames", set.domain()).over(set.topology());
    Ok(accessor.run(set.volume().write(set.distance()), |here, to| {
        let corner = frame.corner(here.bucket);
        for (place, to) in to.iter_mut().enumerate() {
            let [x, y, z] = Resolution::R8.coords(place).map(|n| n as f64 + 0.5);
            let at = corner + voxel * DVec3::new(x, y, z);
            *to = path.refined(at).clamp(-width, width);
        }
    })?)
}
