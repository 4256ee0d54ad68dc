//! Between particles and cells: near the surface particles carry the liquid, far from it cells hold it.
//!
//! Near is a matter of cells, not of distances: within the width of the band of one that is open and not liquid. In a layer beyond, of
//! [`BETWEEN`] cells, nothing changes hands, so that what moves a little to and fro is not made and unmade in each step.

use crate::rows::{PAD, Rows};
use crate::seed::radius_of;
use undine_core::glam::{Mat3, Vec3};
use undine_core::volume::{DiscreteVolume, Interpolation, MacSampler, Resolution, Sampler};
use undine_core::{Accessor, Bucket, GridDomain, Handle, ParticleSystem};
use undine_geometry::random;
use undine_sim::Result;
use undine_sim::offers::{FluidField, FluidParticles, Interior};

/// How many cells there are from those that make particles to those that take them in.
pub const BETWEEN: u32 = 1;

/// No cell holds more than this, in full cells, without making particles of it.
const MOST: u32 = 8 * Interior::FULL;

/// What changes hands, and how.
#[derive(Debug, Clone, Copy)]
pub struct Exchange {
    /// The liquid on the grid.
    pub field: FluidField,
    /// What its cells hold.
    pub interior: Interior,
    /// Its particles.
    pub carried: FluidParticles,
    /// Whether they carry a gradient, in a channel `affine`.
    pub affine: bool,
    /// The width of the band [cells].
    pub width: u32,
    /// How many particles a full cell makes.
    pub per_cell: u32,
    /// Density at rest [kg/m³].
    pub density: f64,
    /// Makes random numbers.
    pub seed: u64,
}

/// A particle that a cell makes.
struct Made {
    bucket: Bucket,
    offset: Vec3,
    velocity: Vec3,
    affine: Mat3,
    mass: f32,
}

impl Exchange {
    /// Lets cells and particles exchange what they have. The surface has been found, and `v-before` holds on all faces of
    /// liquid. Collective.
    pub fn run(
        &self,
        domain: &GridDomain,
        volume: &DiscreteVolume,
        particles: &mut ParticleSystem,
    ) -> Result<()> {
        let mut marks = DiscreteVolume::on("band", domain, volume.topology().clone());
        let mut mask = |name: &str| marks.add_mask(name, Resolution::R8).map(|mask| mask.words);
        let [one, other] = [mask("one")?, mask("other")?];
        self.mark_air(domain, volume, (&marks, one))?;
        let (near, free) = widen(domain, &marks, [one, other], self.width)?;
        let made = self.make(domain, volume, particles, (&marks, near))?;
        self.sweep_up(domain, volume, particles, (&marks, near))?;
        let (far, _) = widen(domain, &marks, [near, free], BETWEEN)?;
        let taken = self.take(domain, volume, particles, (&marks, far))?;

        let wants = [taken.iter().any(|taken| !taken.is_empty()), !made.is_empty()];
        let anybody = domain.processes().all_gather(&wants.map(u8::from))?;
        let anybody = [0, 1].map(|n| anybody.iter().any(|wants| wants[n] != 0));
        if anybody[0] {
            particles.delete(&taken)?;
        }
        if anybody[1] {
            self.append(domain, particles, &made)?;
        }
        Ok(())
    }

    /// Lets particles take all that cells hold. Collective.
    pub fn release(
        &self,
        domain: &GridDomain,
        volume: &DiscreteVolume,
        particles: &mut ParticleSystem,
    ) -> Result<()> {
        let mut marks = DiscreteVolume::on("band", domain, volume.topology().clone());
        let all = marks.add_mask("all", Resolution::R8)?.words;
        marks.column_mut(all)?.fill(u64::MAX);
        let made = self.make(domain, volume, particles, (&marks, all))?;
        self.sweep_up(domain, volume, particles, (&marks, all))?;
        let any = domain.processes().all_gather(&[u8::from(!made.is_empty())])?;
        match any.iter().flatten().any(|any| *any != 0) {
            true => self.append(domain, particles, &made),
            false => Ok(()),
        }
    }

    /// Marks cells that are open, and not liquid.
    fn mark_air(
        &self,
        domain: &GridDomain,
        volume: &DiscreteVolume,
        (marks, air): (&DiscreteVolume, Handle<u64>),
    ) -> Result<()> {
        let access = (
            volume.own(self.field.cells.words),
            volume.own(self.field.walls.volume),
            marks.write(air),
        );
        Accessor::new("mark air", domain).over(volume.topology()).run(
            access,
            |_, (cells, open, air)| {
                for (x, air) in air.iter_mut().enumerate() {
                    let open = open[x << 6..][..64].iter().enumerate();
                    let open = open.fold(0, |word, (n, &open)| word | u64::from(open != 0.0) << n);
                    *air = open & !cells[x];
                }
            },
        )?;
        Ok(())
    }

    /// Takes the mass of particles in liquid cells that are far from the surface; their places, by slot.
    fn take(
        &self,
        domain: &GridDomain,
        volume: &DiscreteVolume,
        particles: &ParticleSystem,
        (marks, near): (&DiscreteVolume, Handle<u64>),
    ) -> Result<Vec<Vec<u32>>> {
        let per_voxel = 1.0 / domain.frame().voxel_size(0) as f32;
        let per_part = 1.0 / self.interior.part;
        let access = (
            (particles.own(particles.position()), particles.own(self.carried.mass)),
            (volume.own(self.field.cells.words), marks.own(near)),
            volume.write(self.interior.parts),
        );
        Ok(Accessor::new("take particles in", domain).over(particles.topology()).map(
            access,
            |_, ((position, mass), (cells, near), parts)| -> Vec<u32> {
                let far: [u64; 8] = std::array::from_fn(|x| cells[x] & !near[x]);
                if far == [0; 8] {
                    return Vec::new();
                }
                let mut taken = Vec::new();
                for (place, (position, &mass)) in position.iter().zip(mass).enumerate() {
                    let n = cell_of(*position * per_voxel);
                    let more = (f64::from(mass) * per_part).round() as u32;
                    let fits = more > 0 && more < MOST && parts[n] < MOST - more;
                    if far[n >> 6] >> (n & 63) & 1 != 0 && fits {
                        parts[n] += more;
                        taken.push(place as u32);
                    }
                }
                taken
            },
        )?)
    }

    /// What is too little to make a particle of, in cells near the surface, goes to a particle in the cell, or to the nearest one in
    /// the Bucket. Left alone it would spread from cell to cell, into the air in the end, where it would look like drops.
    fn sweep_up(
        &self,
        domain: &GridDomain,
        volume: &DiscreteVolume,
        particles: &ParticleSystem,
        (marks, near): (&DiscreteVolume, Handle<u64>),
    ) -> Result<()> {
        let per_voxel = 1.0 / domain.frame().voxel_size(0) as f32;
        let least = self.least();
        let access = (
            (particles.own(particles.position()), particles.write(self.carried.mass)),
            marks.own(near),
            volume.write(self.interior.parts),
        );
        Accessor::new("sweep up crumbs", domain).over(particles.topology()).run(
            access,
            |_, ((position, mass), near, parts)| {
                let is_near = |n: usize| near[n >> 6] >> (n & 63) & 1 != 0;
                let is_crumb = |n: usize, parts: u32| parts > 0 && parts <= least && is_near(n);
                if !parts.iter().enumerate().any(|(n, &parts)| is_crumb(n, parts)) {
                    return;
                }
                let mut in_cell = [None; 512];
                for (place, position) in position.iter().enumerate() {
                    in_cell[cell_of(*position * per_voxel)] = Some(place);
                }
                for (n, parts) in parts.iter_mut().enumerate() {
                    if !is_crumb(n, *parts) {
                        continue;
                    }
                    let centre = Vec3::new((n >> 6) as f32, (n >> 3 & 7) as f32, (n & 7) as f32);
                    let away = |at: &Vec3| (*at * per_voxel - centre - 0.5).length_squared();
                    let nearest = || {
                        (0..position.len())
                            .min_by(|&a, &b| away(&position[a]).total_cmp(&away(&position[b])))
                    };
                    if let Some(nearest) = in_cell[n].or_else(nearest) {
                        mass[nearest] += (f64::from(*parts) * self.interior.part) as f32;
                        *parts = 0;
                    }
                }
            },
        )?;
        Ok(())
    }

    /// What of a cell is too little for a particle.
    fn least(&self) -> u32 {
        Interior::FULL / self.per_cell.max(1) / 2
    }

    /// Takes the mass out of cells near the surface, and of those that a solid has come over, and says what particles it makes.
    fn make(
        &self,
        domain: &GridDomain,
        volume: &DiscreteVolume,
        particles: &ParticleSystem,
        (marks, near): (&DiscreteVolume, Handle<u64>),
    ) -> Result<Vec<Made>> {
        let [fx, fy, fz] = self.field.velocity_before.faces;
        for face in [fx, fy, fz, self.field.walls.distance] {
            volume.refresh(domain, face)?;
        }
        let (u, v, w) = (volume.column(fx)?, volume.column(fy)?, volume.column(fz)?);
        let wall = volume.column(self.field.walls.distance)?;
        let (topology, linear) = (volume.topology(), Interpolation::Linear);
        let velocity = MacSampler::new([&u, &v, &w], topology, linear)?;
        let wall = Sampler::new(&wall, topology, linear);

        let voxel = domain.frame().voxel_size(0) as f32;
        let (each, least) = (Interior::FULL / self.per_cell.max(1), self.least());
        let access = (
            particles.own(particles.position()),
            (volume.own(self.field.walls.volume), marks.own(near)),
            volume.write(self.interior.parts),
        );
        let made = Accessor::new("make particles", domain).over(topology).map(
            access,
            |here, (position, (open, near), parts)| -> Vec<Made> {
                let gives = |n: usize, parts: u32| {
                    let is_near = near[n >> 6] >> (n & 63) & 1 != 0;
                    parts > least && (is_near || open[n] == 0.0 || parts > MOST / 2)
                };
                if !parts.iter().enumerate().any(|(n, &parts)| gives(n, parts)) {
                    return Vec::new();
                }
                let octants = octants(position, 1.0 / voxel);
                let seed = random::bits(self.seed, hash(here.bucket));
                let mut made = Vec::new();
                for (n, parts) in parts.iter_mut().enumerate() {
                    if !gives(n, *parts) {
                        continue;
                    }
                    let count = ((*parts + each / 2) / each).clamp(1, 8 * self.per_cell.max(1));
                    let cell = Cell { n, octants: octants[n], seed };
                    for k in 0..count {
                        // As whole parts, so that the sum is what it was.
                        let share = *parts / count + u32::from(k < *parts % count);
                        let is_free = |at: Vec3| wall.at(here.slot, at * voxel) > 0.0;
                        let offset = cell.place(k, is_free) * voxel;
                        let (velocity, affine) = velocity.value_and_gradient(here.slot, offset);
                        let mass = (f64::from(share) * self.interior.part) as f32;
                        made.push(Made { bucket: here.bucket, offset, velocity, affine, mass });
                    }
                    *parts = 0;
                }
                made
            },
        )?;
        Ok(made.into_iter().flatten().collect())
    }

    fn append(
        &self,
        domain: &GridDomain,
        particles: &mut ParticleSystem,
        made: &[Made],
    ) -> Result<()> {
        let offsets: Vec<Vec3> = made.iter().map(|made| made.offset).collect();
        let buckets = made.iter().map(|made| made.bucket).collect();
        let mut batch = particles.batch_in(buckets, &offsets)?;
        batch.set("v", &made.iter().map(|made| made.velocity).collect::<Vec<Vec3>>())?;
        batch.set("mass", &made.iter().map(|made| made.mass).collect::<Vec<f32>>())?;
        let radius = |made: &Made| radius_of(f64::from(made.mass) / self.density) as f32;
        batch.set("pscale", &made.iter().map(radius).collect::<Vec<f32>>())?;
        if self.affine {
            batch.set("affine", &made.iter().map(|made| made.affine).collect::<Vec<Mat3>>())?;
        }
        particles.append(domain, batch)?;
        Ok(())
    }
}

/// Widens a mask by so many cells, to and fro between two; the one that has the result, and the other one.
fn widen(
    domain: &GridDomain,
    marks: &DiscreteVolume,
    [mut from, mut to]: [Handle<u64>; 2],
    cells: u32,
) -> Result<(Handle<u64>, Handle<u64>)> {
    let mut rest = cells;
    while rest > 0 {
        let now = rest.min(PAD as u32);
        Accessor::new("widen", domain).over(marks.topology()).run(
            (marks.around(from, 8), marks.write(to)),
            |_, (from, to)| {
                let chunks = (0..27).map(|n| from.neighbour(n / 9 - 1, n / 3 % 3 - 1, n % 3 - 1));
                let [mut any, mut all] = [0, u64::MAX];
                for word in chunks.flatten() {
                    any |= word;
                    all &= word;
                }
                match (any, all) {
                    (0, _) => to.fill(0),
                    (_, u64::MAX) => to.fill(u64::MAX),
                    _ => Rows::load(&from).dilate(now).store(to),
                }
            },
        )?;
        rest -= now;
        std::mem::swap(&mut from, &mut to);
    }
    Ok((from, to))
}

/// The number of the cell of a place in a Bucket [voxels].
#[inline]
fn cell_of(place: Vec3) -> usize {
    let [x, y, z] = place.to_array().map(|c| (c as i32).clamp(0, 7) as usize);
    x << 6 | y << 3 | z
}

/// Which eighths of cells have particles, a bit for each.
fn octants(position: &[Vec3], per_voxel: f32) -> [u8; 512] {
    let mut octants = [0; 512];
    for position in position {
        let place = *position * per_voxel;
        let within = place - place.floor();
        let [x, y, z] = within.to_array().map(|c| u32::from(c >= 0.5));
        octants[cell_of(place)] |= 1 << (x << 2 | y << 1 | z);
    }
    octants
}

fn hash(bucket: Bucket) -> u64 {
    bucket.coord.to_array().iter().fold(0, |sum, &c| random::bits(sum, c as u64))
}

/// A cell that makes particles.
struct Cell {
    n: usize,
    octants: u8,
    seed: u64,
}

impl Cell {
    /// Places tried for each new particle, so that it is not in a wall.
    const TRIES: u64 = 4;

    /// The place of the k-th new particle [voxels]: at random in an eighth of the cell that is empty, as long as there are any.
    fn place(&self, k: u32, is_free: impl Fn(Vec3) -> bool) -> Vec3 {
        let first = random::bits(self.seed, self.n as u64) as u32;
        let turned = (0..8).map(|n| (n + first) & 7);
        let full = |octant: &u32| self.octants >> octant & 1 != 0;
        let mut order: [u32; 8] = [0; 8];
        let empty_first = turned.clone().filter(|n| !full(n)).chain(turned.filter(full));
        order.iter_mut().zip(empty_first).for_each(|(to, octant)| *to = octant);
        let octant = order[k as usize & 7];

        let corner = [self.n >> 6, self.n >> 3 & 7, self.n & 7].map(|c| c as f32);
        let half = [octant >> 2, octant >> 1 & 1, octant & 1].map(|c| 0.5 * c as f32);
        let place = |attempt: u64| {
            let number = (u64::from(k) * Self::TRIES + attempt) << 9 | self.n as u64;
            let draw = |axis: u64| 0.5 * random::unit(self.seed, 3 * number + axis + 512) as f32;
            Vec3::from_array(corner) + Vec3::from_array(half) + Vec3::new(draw(0), draw(1), draw(2))
        };
        (0..Self::TRIES).map(place).find(|at| is_free(*at)).unwrap_or_else(|| place(0))
    }
}
