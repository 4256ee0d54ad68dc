//! Keeps the number of particles in the cells under the surface within bounds, without changing mass or momentum.
//!
//! A cell with too few splits its heaviest particles; an empty one is given parts of particles of the fullest cell next to it.
//! Parts are halves, so that a mass is shared out to its last bit, and move with the velocity v + G(x − x̄): that of the whole, with
//! the gradient G of the grid's about their middle x̄, so that their momentum is that of the whole. In a cell with too many the
//! lightest are merged with those next to them. Near the surface nothing changes: no drop comes or goes. Of a cell that Objects inside of
//! the liquid take a part of, bounds are those of the rest.

use undine_core::access::{Pad, VoxelNeighbourhood};
use undine_core::domain::{Slot, SlotMap};
use undine_core::glam::{IVec3, Vec3};
use undine_core::volume::{Interpolation, MacSampler, MaskHandle, Sampler, VoxelShape};
use undine_core::{Accessor, ChannelSpec, DiscreteVolume, GridDomain, Handle, ParticleSystem};
use undine_geometry::random;
use undine_sim::Result;
use undine_sim::offers::{Coupling, FluidField, FluidParticles, Interior};

/// Which cells have too few and too many particles, and what is known of the liquid.
#[derive(Debug, Clone, Copy)]
pub struct Reseed {
    /// The liquid on the grid.
    pub field: FluidField,
    /// Its particles, with velocities `v`.
    pub particles: FluidParticles,
    /// How many particles cells have, on the same grid: [`add_channel`].
    pub count: Handle<u32>,
    /// The fewest particles in a cell.
    pub least: u32,
    /// The most particles in a cell.
    pub most: u32,
    /// The mass of a particle to begin with [kg]; no part gets less than [`LIGHTEST`] of it.
    pub rest_mass: f32,
    /// How long particles have moved since the surface was found [s].
    pub moved_for: f64,
    /// The faces whose velocity means something, by axis; all, where nobody says. Where particles have gone beyond those, nobody knows
    /// how deep they are, and their numbers stay.
    pub known: Option<[MaskHandle; 3]>,
    /// Makes random numbers, with the ids of particles.
    pub seed: u64,
}

/// What was done on this process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Reseeded {
    /// Particles that are new.
    pub added: usize,
    /// Particles that went.
    pub removed: usize,
}

/// No part is lighter than this share of the mass to begin with.
pub const LIGHTEST: f32 = 1.0 / 16.0;

/// How far under the surface numbers of particles are kept, in voxels.
pub const DEPTH: f32 = 1.5;

/// The name of the channel with the number of particles of cells.
pub const COUNT: &str = "count";

/// Adds the channel for numbers of particles to the volume of a liquid.
pub fn add_channel(volume: &mut DiscreteVolume) -> Result<Handle<u32>> {
    let count = ChannelSpec::new(COUNT, 0_u32).internal().transient();
    Ok(volume.add_channel(&count, VoxelShape::CELLS)?)
}

impl Reseed {
    /// Brings numbers of particles within bounds. Particles must be sorted into their Buckets. Reads distances and velocities of the
    /// grid, and writes its channel [`COUNT`]. Collective.
    pub fn run(
        &self,
        domain: &GridDomain,
        volume: &DiscreteVolume,
        particles: &mut ParticleSystem,
    ) -> Result<Reseeded> {
        self.count(domain, volume, particles)?;
        let plans = self.plan(domain, volume, particles)?;
        let wants = [
            plans.iter().any(|plan| !plan.splits.is_empty()),
            plans.iter().any(|plan| !plan.merges.is_empty()),
        ];
        let anybody = domain.processes().all_gather(&wants.map(u8::from))?;
        let anybody = [0, 1].map(|n| anybody.iter().any(|wants| wants[n] != 0));
        let before = particles.topology().clone();
        let mut done = Reseeded::default();
        if anybody[0] {
            done.added = self.split(domain, particles, &plans)?;
        }
        if anybody[1] {
            // New particles came behind the others, in Buckets that may be new.
            let slots = SlotMap::between(&before, particles.topology());
            done.removed = self.merge(particles, &plans, &slots)?;
        }
        Ok(done)
    }

    fn count(
        &self,
        domain: &GridDomain,
        volume: &DiscreteVolume,
        particles: &ParticleSystem,
    ) -> Result<()> {
        let per_metre = 1.0 / domain.frame().voxel_size(0) as f32;
        Accessor::new("count particles", domain).over(volume.topology()).run(
            (
                particles.own(particles.position()),
                self.field.interior.map(|interior| volume.own(interior.parts)),
                volume.write(self.count),
            ),
            |_, (position, interior, count)| {
                count.fill(0);
                // What a cell holds itself needs no particles.
                for (count, &parts) in count.iter_mut().zip(interior.into_iter().flatten()) {
                    *count = if parts >= Interior::FULL / 16 { self.least } else { 0 };
                }
                for &offset in position {
                    count[cell_of(offset, per_metre)] += 1;
                }
            },
        )?;
        Ok(())
    }

    fn plan(
        &self,
        domain: &GridDomain,
        volume: &DiscreteVolume,
        particles: &ParticleSystem,
    ) -> Result<Vec<Plan>> {
        // What samplers read is refreshed before, because nobody declares how far they reach.
        let [fx, fy, fz] = self.field.velocity.faces;
        for face in [fx, fy, fz] {
            volume.refresh(domain, face)?;
        }
        let distance = self.field.distance;
        for handle in distance.iter().chain([&self.field.walls.distance]) {
            volume.refresh(domain, *handle)?;
        }
        let (u, v, w) = (volume.column(fx)?, volume.column(fy)?, volume.column(fz)?);
        let topology = volume.topology();
        let distance = distance.map(|handle| volume.column(handle)).transpose()?;
        let wall = volume.column(self.field.walls.distance)?;
        let linear = Interpolation::Linear;
        let fields = Fields {
            velocity: MacSampler::new([&u, &v, &w], topology, linear)?,
            distance: distance.as_deref().map(|column| Sampler::new(column, topology, linear)),
            wall: Sampler::new(&wall, topology, linear),
            voxel: domain.frame().voxel_size(0) as f32,
            moved_for: self.moved_for as f32,
            lightest: LIGHTEST * self.rest_mass,
        };
        let access = (
            (particles.own(particles.position()), particles.own(particles.id())),
            (particles.own(self.particles.mass), particles.own(self.particles.velocity)),
            (
                volume.around(self.count, 2),
                Coupling::taken(volume).map(|taken| volume.around(taken, 2)),
                self.known.map(|known| known.map(|mask| volume.around(mask.words, 2))),
            ),
        );
        Ok(Accessor::new("plan new particles", domain).over(particles.topology()).map(
            access,
            |here, ((position, id), (mass, velocity), (count, taken, known))| {
                // What has left the grid is not under its surface.
                let Some(slot) = topology.slot(here.bucket) else { return Plan::default() };
                let is_deep = |cell: IVec3| {
                    known.as_ref().is_none_or(|known| is_known(known, cell))
                        && fields.is_deep(slot, cell)
                };
                let wants = self.wants(is_deep, &count, taken.as_ref());
                if wants.is_empty() {
                    return Plan::default();
                }
                let own = Own { position, velocity, mass, id };
                InBucket::new(self, &fields, slot, own).plan(&wants)
            },
        )?)
    }

    /// What the cells of a Bucket, and empty ones next to it, want of its particles.
    fn wants(
        &self,
        is_deep: impl Fn(IVec3) -> bool,
        count: &VoxelNeighbourhood<'_, u32>,
        taken: Option<&VoxelNeighbourhood<'_, f32>>,
    ) -> Wants {
        let mut wants = Wants::default();
        let mut tile = count.tile(Pad::both(2));
        count.load(&mut tile);
        let count = |cell: IVec3| tile.values()[tile.index(cell.x, cell.y, cell.z)];
        let bounds = |cell: IVec3| match taken {
            Some(taken) => self.bounds(taken.at(cell.x, cell.y, cell.z)),
            None => [self.least, self.most],
        };
        for cell in (0..512).map(place_of) {
            let (here, [least, most]) = (count(cell), bounds(cell));
            let is_fine = (least..=most).contains(&here);
            if here > 0 && !is_fine && is_deep(cell) {
                match here < least {
                    true => wants.filled.push((cell, cell, least - here)),
                    false => wants.crowded.push((cell, most)),
                }
            }
        }
        // Whoever is the fullest around an empty cell fills it, in which Bucket ever the cell is.
        for cell in (0..512).map(place_of).chain(rim()) {
            let [least, _] = bounds(cell);
            if count(cell) > 0 || least == 0 {
                continue;
            }
            let fullest = FACES
                .iter()
                .map(|face| cell + *face)
                .reduce(|best, next| if count(next) > count(best) { next } else { best });
            let donor = fullest.filter(|donor| is_own(*donor) && count(*donor) > 0);
            if let Some(donor) = donor.filter(|_| is_deep(cell)) {
                wants.filled.push((donor, cell, least));
            }
        }
        wants
    }

    /// The fewest and the most particles of a cell of which this part is taken.
    fn bounds(&self, taken: f32) -> [u32; 2] {
        let left = (1.0 - taken).max(0.0);
        let [least, most] = [self.least, self.most].map(|n| (left * n as f32).round() as u32);
        [least, most.max(least + 1)]
    }

    fn split(
        &self,
        domain: &GridDomain,
        particles: &mut ParticleSystem,
        plans: &[Plan],
    ) -> Result<usize> {
        {
            let mut velocity = particles.column_mut(self.particles.velocity)?;
            let mut radius = particles.column_mut(self.particles.radius)?;
            for (slot, plan) in plans.iter().enumerate() {
                for split in &plan.splits {
                    let place = split.place as usize;
                    velocity.chunk_mut(slot as Slot)[place] = split.velocity;
                    radius.chunk_mut(slot as Slot)[place] *= (split.parts as f32).cbrt().recip();
                }
            }
        }
        let parts: Vec<Vec<(u32, u32)>> = plans
            .iter()
            .map(|plan| plan.splits.iter().map(|split| (split.place, split.parts)).collect())
            .collect();
        let made = particles.split(domain, &parts, |batch| {
            let children = || plans.iter().flat_map(|plan| &plan.children);
            let offsets = batch.offsets_mut().iter_mut();
            offsets.zip(children()).for_each(|(offset, child)| *offset = child.offset);
            let velocities = batch.values_mut::<Vec3>("v")?.iter_mut();
            velocities.zip(children()).for_each(|(velocity, child)| *velocity = child.velocity);
            Ok(())
        })?;
        Ok(made)
    }

    fn merge(
        &self,
        particles: &mut ParticleSystem,
        plans: &[Plan],
        slots: &SlotMap,
    ) -> Result<usize> {
        let mut groups = vec![Vec::new(); particles.topology().local()];
        {
            let mut radius = particles.column_mut(self.particles.radius)?;
            for (slot, plan) in plans.iter().enumerate() {
                let slot = slots.get(slot as Slot);
                let radius = radius.chunk_mut(slot);
                for group in &plan.merges {
                    // However radii combine, it is that of a ball of the volume of all.
                    let volume: f32 =
                        group.iter().map(|&place| radius[place as usize].powi(3)).sum();
                    group.iter().for_each(|&place| radius[place as usize] = volume.cbrt());
                }
                groups[slot as usize].clone_from(&plan.merges);
            }
        }
        Ok(particles.merge(&groups)?)
    }
}

/// The cell of a Bucket that an offset lies in, by its number.
#[inline]
fn cell_of(offset: Vec3, per_metre: f32) -> usize {
    let cell = (offset * per_metre).clamp(Vec3::ZERO, Vec3::splat(7.0));
    (cell.x as usize) << 6 | (cell.y as usize) << 3 | cell.z as usize
}

fn place_of(cell: usize) -> IVec3 {
    IVec3::new((cell >> 6) as i32, (cell >> 3 & 7) as i32, (cell & 7) as i32)
}

/// Whether the velocity around a cell means something, with its slopes.
fn is_known(known: &[VoxelNeighbourhood<'_, u64>; 3], cell: IVec3) -> bool {
    let mut around =
        (-1..2).flat_map(|x| (-1..2).flat_map(move |y| (-1..2).map(move |z| [x, y, z])));
    let is_known = |[i, j, k]: [i32; 3]| {
        let [x, y, z] = [cell.x + i, cell.y + j, cell.z + k];
        let bit = |words: &[u64]| words[(x & 7) as usize] >> (8 * (y & 7) + (z & 7)) & 1 != 0;
        known.iter().all(|known| bit(known.neighbour(x >> 3, y >> 3, z >> 3)))
    };
    around.all(is_known)
}

/// The cells around a Bucket.
fn rim() -> impl Iterator<Item = IVec3> {
    let all =
        (-1..9).flat_map(|x| (-1..9).flat_map(move |y| (-1..9).map(move |z| IVec3::new(x, y, z))));
    all.filter(|cell| !is_own(*cell))
}

fn is_own(cell: IVec3) -> bool {
    cell.cmpge(IVec3::ZERO).all() && cell.cmplt(IVec3::splat(8)).all()
}

/// Which cells are out of bounds.
#[derive(Debug, Default)]
struct Wants {
    /// Cells that are given parts of the particles of a cell of the Bucket: that one, the cell, and how many.
    filled: Vec<(IVec3, IVec3, u32)>,
    /// Cells with too many, and how many they may have.
    crowded: Vec<(IVec3, u32)>,
}

impl Wants {
    fn is_empty(&self) -> bool {
        self.filled.is_empty() && self.crowded.is_empty()
    }
}

/// What is done in a Bucket.
#[derive(Debug, Clone, Default)]
struct Plan {
    /// By place.
    splits: Vec<Split>,
    /// The new ones of each split, one after the other.
    children: Vec<Child>,
    merges: Vec<Vec<u32>>,
}

#[derive(Debug, Clone, Copy)]
struct Split {
    place: u32,
    parts: u32,
    /// The velocity of the part that stays [m/s].
    velocity: Vec3,
}

#[derive(Debug, Clone, Copy)]
struct Child {
    offset: Vec3,
    velocity: Vec3,
}

/// What is known of the liquid anywhere.
struct Fields<'a> {
    velocity: MacSampler<'a>,
    distance: Option<Sampler<'a, f32>>,
    wall: Sampler<'a, f32>,
    voxel: f32,
    moved_for: f32,
    /// The least mass of a part [kg].
    lightest: f32,
}

impl Fields<'_> {
    /// Whether a cell of a Bucket, or next to it, lies deep in the liquid and outside of walls.
    fn is_deep(&self, slot: Slot, cell: IVec3) -> bool {
        let middle = (cell.as_vec3() + 0.5) * self.voxel;
        if self.wall.at(slot, middle) < 0.0 {
            return false;
        }
        let Some(distance) = &self.distance else { return true };
        // The surface was found where what is here was then.
        let then = middle - self.moved_for * self.velocity.at(slot, middle);
        distance.at(slot, then) < -DEPTH * self.voxel
    }
}

/// The particles of a Bucket.
#[derive(Clone, Copy)]
struct Own<'a> {
    position: &'a [Vec3],
    velocity: &'a [Vec3],
    mass: &'a [f32],
    id: &'a [u64],
}

/// A Bucket whose numbers of particles are brought within bounds.
struct InBucket<'a> {
    rules: &'a Reseed,
    fields: &'a Fields<'a>,
    slot: Slot,
    own: Own<'a>,
    /// Places by cell, and where each cell begins.
    places: Vec<u32>,
    starts: [u32; 513],
    /// Into how many parts each particle is split, 1 for none.
    parts: Vec<u32>,
    /// New particles so far: what they are split from, and where they go.
    born: Vec<(u32, IVec3)>,
}

/// Places tried for each new particle; the one farthest from others is taken.
const TRIES: u64 = 8;

/// Towards the cells that share a face.
const FACES: [IVec3; 6] = [IVec3::NEG_X, IVec3::X, IVec3::NEG_Y, IVec3::Y, IVec3::NEG_Z, IVec3::Z];

impl<'a> InBucket<'a> {
    fn new(rules: &'a Reseed, fields: &'a Fields<'a>, slot: Slot, own: Own<'a>) -> Self {
        let per_metre = 1.0 / fields.voxel;
        let mut starts = [0_u32; 513];
        for &offset in own.position {
            starts[cell_of(offset, per_metre) + 1] += 1;
        }
        for cell in 0..512 {
            starts[cell + 1] += starts[cell];
        }
        let (mut next, mut places) = (starts, vec![0; own.position.len()]);
        for (place, &offset) in own.position.iter().enumerate() {
            let next = &mut next[cell_of(offset, per_metre)];
            places[*next as usize] = place as u32;
            *next += 1;
        }
        let parts = vec![1; own.position.len()];
        Self { rules, fields, slot, own, places, starts, parts, born: Vec::new() }
    }

    /// The places of the particles of an own cell.
    fn of_cell(&self, cell: IVec3) -> &[u32] {
        let cell = (cell.x << 6 | cell.y << 3 | cell.z) as usize;
        &self.places[self.starts[cell] as usize..self.starts[cell + 1] as usize]
    }

    fn plan(mut self, wants: &Wants) -> Plan {
        for &(from, into, wanted) in &wants.filled {
            self.fill(from, into, wanted);
        }
        let merges =
            wants.crowded.iter().flat_map(|&(cell, most)| self.pairs(cell, most)).collect();
        self.place_children(merges)
    }

    /// Splits the heaviest particles of a cell, until there are so many new ones for another.
    fn fill(&mut self, from: IVec3, into: IVec3, wanted: u32) {
        let own = self.own;
        let share =
            |parts: &[u32], place: u32| own.mass[place as usize] / parts[place as usize] as f32;
        let mut made = 0;
        while made < wanted {
            let heavier = |a: u32, b: u32| {
                let (of_a, of_b) = (share(&self.parts, a), share(&self.parts, b));
                let is_older = own.id[b as usize] < own.id[a as usize];
                if of_b > of_a || (of_b == of_a && is_older) { b } else { a }
            };
            let Some(place) = self.of_cell(from).iter().copied().reduce(heavier) else { return };
            let half = 0.5 * share(&self.parts, place);
            if half.is_nan() || half < self.fields.lightest {
                return;
            }
            let parts = self.parts[place as usize];
            self.born.extend(std::iter::repeat_n((place, into), parts as usize));
            self.parts[place as usize] = 2 * parts;
            made += parts;
        }
    }

    /// The lightest of a crowded cell, each with the one next to it.
    fn pairs(&self, cell: IVec3, most: u32) -> Vec<Vec<u32>> {
        let own = self.own;
        let mut free: Vec<u32> = self.of_cell(cell).to_vec();
        let surplus = free.len().saturating_sub(most as usize);
        free.retain(|&place| self.parts[place as usize] == 1);
        free.sort_by(|&a, &b| {
            let by_mass = own.mass[a as usize].total_cmp(&own.mass[b as usize]);
            by_mass.then(own.id[a as usize].cmp(&own.id[b as usize]))
        });
        let mut pairs = Vec::new();
        while pairs.len() < surplus && free.len() > 1 {
            let lightest = free.remove(0);
            let way = |place: u32| {
                own.position[place as usize].distance_squared(own.position[lightest as usize])
            };
            let nearest = (0..free.len())
                .reduce(|best, next| if way(free[next]) < way(free[best]) { next } else { best });
            pairs.extend(nearest.map(|nearest| vec![lightest, free.remove(nearest)]));
        }
        pairs
    }

    /// Gives new particles their places and velocities.
    fn place_children(mut self, merges: Vec<Vec<u32>>) -> Plan {
        let mut born = std::mem::take(&mut self.born);
        born.sort_by_key(|(place, _)| *place);
        let mut plan = Plan { merges, ..Plan::default() };
        // Where new ones are already, and in which cell.
        let mut taken: Vec<(IVec3, Vec3)> = Vec::new();
        for family in born.chunk_by(|a, b| a.0 == b.0) {
            let parent = family[0].0 as usize;
            let (start, first) = (self.own.position[parent], plan.children.len());
            for (n, &(_, cell)) in family.iter().enumerate() {
                let offset = self.free_place(parent, n as u64, cell, &taken);
                taken.push((cell, offset));
                plan.children.push(Child { offset, velocity: Vec3::ZERO });
            }
            let children = &mut plan.children[first..];
            let parts = children.len() as u32 + 1;
            // v + G(x − x̄): the mean of the parts is the velocity of the whole.
            let sum = children.iter().fold(start, |sum, child| sum + child.offset);
            let middle = sum / parts as f32;
            let gradient = self.fields.velocity.gradient(self.slot, start);
            let velocity = |at: Vec3| self.own.velocity[parent] + gradient * (at - middle);
            children.iter_mut().for_each(|child| child.velocity = velocity(child.offset));
            let split = Split { place: parent as u32, parts, velocity: velocity(start) };
            plan.splits.push(split);
        }
        plan
    }

    /// A place in a cell far from other particles there, outside of walls.
    fn free_place(&self, parent: usize, n: u64, cell: IVec3, taken: &[(IVec3, Vec3)]) -> Vec3 {
        let seed = random::bits(self.rules.seed, self.own.id[parent]);
        let voxel = self.fields.voxel;
        let old: &[u32] = if is_own(cell) { self.of_cell(cell) } else { &[] };
        let score = |at: Vec3| {
            let wall = self.fields.wall.at(self.slot, at);
            if wall <= 0.0 {
                return wall;
            }
            let old = old.iter().map(|&place| self.own.position[place as usize]);
            let new = taken.iter().filter(|(other, _)| *other == cell).map(|(_, offset)| *offset);
            old.chain(new).map(|other| at.distance(other)).fold(voxel, f32::min)
        };
        let place = |attempt: u64| {
            let draw = |axis: u64| random::unit(seed, 3 * (TRIES * n + attempt) + axis) as f32;
            (cell.as_vec3() + Vec3::new(draw(0), draw(1), draw(2))) * voxel
        };
        let tried = (0..TRIES).map(place).map(|at| (score(at), at));
        let best = tried.reduce(|best, next| if next.0 > best.0 { next } else { best });
        best.map_or(self.own.position[parent], |(_, at)| at)
    }
}
