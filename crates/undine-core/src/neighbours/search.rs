//! Visiting the neighbours of every particle.

use super::candidates::Candidates;
use super::cells::{Cells, Sorted};
use super::hits::{Hits, Near, Target};
use super::neighbour::Neighbour;
use super::patch::Patch;
use crate::access::{Access, Accessor, Here};
use crate::domain::{Bucket, GridDomain, Slot};
use crate::error::{CoreError, Result};
use crate::particles::ParticleSystem;
use glam::Vec3;
use rayon::prelude::*;

/// A search for the neighbours of the particles of one system, among themselves or those of another.
///
/// Every use of it is collective.
pub struct Neighbours<'s> {
    pub(super) task: &'static str,
    pub(super) domain: &'s GridDomain,
    pub(super) particles: &'s ParticleSystem,
    pub(super) others: &'s ParticleSystem,
    cells: Cells,
    reach: f32,
}

/// What a thread needs to search.
#[derive(Debug, Default)]
struct Scratch {
    patch: Patch,
    own: Sorted,
    candidates: Candidates,
    hits: Hits,
}

impl<'s> Neighbours<'s> {
    /// A search for all within `radius` [m] of each particle, itself excepted; messages call it `task`.
    ///
    /// The radius may be as large as a Bucket at most.
    pub fn new(
        task: &'static str,
        domain: &'s GridDomain,
        particles: &'s ParticleSystem,
        radius: f64,
    ) -> Result<Self> {
        let frame = particles.topology().frame();
        if !(radius > 0.0 && radius.is_finite()) {
            return Err(CoreError::BadLength {
                what: "the radius of a neighbour search",
                found: radius,
            });
        }
        let bucket = frame.bucket_size(0);
        if radius > bucket {
            return Err(CoreError::BadValue {
                what: format!("the radius of neighbour search `{task}`"),
                found: format!("{radius} m in Buckets of {bucket} m"),
                wanted: "at most the width of a Bucket; a Domain of larger voxels has larger Buckets",
            });
        }
        let (cells, reach) = Cells::new(bucket, radius);
        Ok(Self { task, domain, particles, others: particles, cells, reach })
    }

    /// The same search, among the particles of another system of the same Domain.
    pub fn among(self, others: &'s ParticleSystem) -> Self {
        Self { others, ..self }
    }

    /// The distance [m] up to which particles are neighbours: the radius, or up to a millionth of a
    /// Bucket less where a whole number of radii fits into a Bucket.
    pub fn reach(&self) -> f32 {
        self.reach
    }

    /// Calls `kernel` with each particle and its neighbours: where it is, what was declared, the particle's
    /// place in the Bucket being visited, and the neighbours.
    ///
    /// Bucket after Bucket, but in no promised order within one. Neighbours' channels are declared with
    /// [`ParticleSystem::around`], the particle's own with [`ParticleSystem::own`] or
    /// [`ParticleSystem::write`]. Particles must be in their Buckets: rebucketize after moving them.
    pub fn for_each<A: Access>(
        &self,
        access: A,
        kernel: impl for<'v> Fn(Here<'v>, &mut A::View<'v>, usize, Near<'_>) + Sync,
    ) -> Result<()> {
        self.each_bucket(access, |here, mut views, mut search| {
            search.each(|place, near| kernel(here, &mut views, place, near));
        })
    }

    /// Calls `kernel` once for each Bucket, to go through its particles and their neighbours.
    pub(super) fn each_bucket<A: Access>(
        &self,
        access: A,
        kernel: impl for<'v> Fn(Here<'v>, A::View<'v>, BucketSearch<'_>) + Sync,
    ) -> Result<()> {
        let same = self.particles.channels().id() == self.others.channels().id();
        let around = self.others.around(self.others.position());
        // Whether the others can be seen from here may differ between processes: claim them once before
        // anybody starts.
        let prepared = around
            .claim(self.task, self.particles.topology())
            .map(drop)
            .and_then(|()| sort_all(self.task, &self.cells, self.particles))
            .and_then(|own| match same {
                true => Ok((own, None)),
                false => Ok((own, Some(sort_all(self.task, &self.cells, self.others)?))),
            });
        let (own_sorted, others_sorted) = self.domain.processes().all_agree(prepared)?;
        let near_sorted = others_sorted.as_ref().unwrap_or(&own_sorted);
        let positions = (self.particles.own(self.particles.position()), around);

        Accessor::new(self.task, self.domain).over(self.particles.topology()).run_with(
            (positions, access),
            Scratch::default,
            |scratch, here, ((own, near), views)| {
                let Scratch { patch, own: own_scratch, candidates, hits } = scratch;
                if !own.is_empty() {
                    patch.gather(&self.cells, &near, |slot| kept(near_sorted, slot));
                }
                let by_cell = match kept(&own_sorted, here.slot) {
                    Some(sorted) => sorted,
                    None => {
                        own_scratch.sort(&self.cells, own);
                        own_scratch
                    }
                };
                let search = BucketSearch {
                    cells: &self.cells,
                    reach2: self.reach * self.reach,
                    among_themselves: same,
                    own,
                    by_cell,
                    patch,
                    candidates,
                    hits,
                };
                kernel(here, views, search);
            },
        )
    }
}

/// The search in one Bucket, ready to run.
pub(super) struct BucketSearch<'b> {
    cells: &'b Cells,
    reach2: f32,
    among_themselves: bool,
    /// Offsets of the Bucket's particles, and their order by cell.
    own: &'b [Vec3],
    by_cell: &'b Sorted,
    patch: &'b Patch,
    candidates: &'b mut Candidates,
    hits: &'b mut Hits,
}

impl BucketSearch<'_> {
    /// How many particles the Bucket has.
    pub fn len(&self) -> usize {
        self.own.len()
    }

    /// Calls `visit` with the place of each particle and its neighbours, cell by cell.
    pub fn each(&mut self, mut visit: impl FnMut(usize, Near<'_>)) {
        if self.own.is_empty() {
            return;
        }
        let edge = self.cells.edge;
        for x in 0..edge {
            for y in 0..edge {
                for z in 0..edge {
                    let places = self.by_cell.cell(self.cells.index([x, y, z]));
                    if places.is_empty() {
                        continue;
                    }
                    let in_patch = [x + 1, y + 1, z + 1];
                    let first = self.candidates.collect(self.patch, in_patch, self.cells.bucket);
                    let blocks = self.candidates.blocks();
                    for (n, &place) in places.iter().enumerate() {
                        let particle = self.own[place as usize];
                        let itself = if self.among_themselves { first + n } else { usize::MAX };
                        let target = Target { particle, reach2: self.reach2, itself };
                        visit(place as usize, self.hits.find(&blocks, target));
                    }
                }
            }
        }
    }
}

fn kept(sorted: &[Option<Sorted>], slot: Slot) -> Option<&Sorted> {
    sorted.get(slot as usize)?.as_ref()
}

/// The particles of each local Bucket by cell, where that is worth keeping. Refuses particles that are not
/// in their Bucket.
fn sort_all(
    task: &'static str,
    cells: &Cells,
    particles: &ParticleSystem,
) -> Result<Vec<Option<Sorted>>> {
    let positions = particles.channels().read(particles.position(), task)?;
    let topology = particles.topology();
    let sort = |slot: usize| {
        let offsets = positions.chunk(slot as Slot);
        let inside = |offset: &Vec3| {
            (offset.cmpge(Vec3::ZERO) & offset.cmplt(Vec3::splat(cells.bucket))).all()
        };
        if let Some(place) = offsets.iter().position(|offset| !inside(offset)) {
            return Err(astray(
                particles,
                topology.bucket(slot as Slot),
                slot,
                place,
                offsets[place],
            ));
        }
        if offsets.len() > Neighbour::MAX_PLACES {
            return Err(CoreError::BadIndex {
                what: format!("the number of particles of {} in one Bucket", particles.label()),
                index: offsets.len() as u64,
                count: Neighbour::MAX_PLACES as u64,
            });
        }
        Ok(Sorted::worth_keeping(cells, offsets))
    };
    let sorted: Vec<Result<Option<Sorted>>> =
        (0..topology.local()).into_par_iter().with_min_len(4).map(sort).collect();
    // One after the other, so that of several bad particles always the same one is named.
    sorted.into_iter().collect()
}

/// The error for a particle that is not in its Bucket.
fn astray(
    particles: &ParticleSystem,
    bucket: Bucket,
    slot: usize,
    place: usize,
    offset: Vec3,
) -> CoreError {
    let id = particles.channels().read(particles.id(), "neighbour search");
    let who = match id {
        Ok(ids) => format!("id {}", ids.chunk(slot as Slot)[place]),
        Err(_) => format!("place {place}"),
    };
    let what = format!("the particle of {} with {who} in {bucket:?}", particles.label());
    if !offset.is_finite() {
        return CoreError::NotFinite { what, position: offset.as_dvec3() };
    }
    CoreError::BadValue {
        what,
        found: format!("at {offset} m from its corner"),
        wanted: "inside the Bucket; rebucketize after particles have moved",
    }
}
