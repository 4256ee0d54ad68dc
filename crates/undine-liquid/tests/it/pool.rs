//! A liquid at rest, made by hand: particles eight to a cell wherever a rule says so, and the grid around them.

use std::collections::BTreeMap;
use undine_core::glam::{DVec3, Vec3};
use undine_core::volume::{DiscreteVolume, Interpolation, MacHandle, MacSampler, Resolution};
use undine_core::{Accessor, ChannelSpec, Frame, GridDomain, MemoryBudget, ParticleSystem};
use undine_fluid::field::{Fluid, add_channels};
use undine_geometry::random::unit;
use undine_liquid::surface;
use undine_sim::offers::{Coupling, FluidField, FluidParticles};
use undine_sim::{Id, World};

/// The width of a voxel [m]; places in tests are in voxels.
pub const VOXEL: f64 = 0.05;

/// The density of the liquid at rest [kg/m³].
pub const DENSITY: f32 = 1000.0;

/// The distance from the walls of a tank, open above, with a floor and sides at `low` and sides at `high`: negative in the solid.
pub fn tank(at: DVec3, low: f64, high: f64) -> f64 {
    let sides = (at - low).min(DVec3::new(high, high, f64::INFINITY) - at);
    let beyond = sides.min(DVec3::ZERO).length();
    if beyond > 0.0 { -beyond } else { sides.min_element() }
}

/// A liquid at rest.
pub struct Pool {
    world: World,
    domain: GridDomain,
    particles: Id<ParticleSystem>,
    volume: Id<DiscreteVolume>,
    pub field: FluidField,
    pub shift: MacHandle,
}

impl Pool {
    /// Eight particles to a cell where `is_liquid` holds, within a box in voxels; `jitter` 1 spreads each over its eighth.
    pub fn new(
        low: [i32; 3],
        high: [i32; 3],
        jitter: f64,
        seed: u64,
        is_liquid: impl Fn(DVec3) -> bool,
    ) -> Self {
        let mut places = Vec::new();
        let mut number = 0;
        for x in 2 * low[0]..2 * high[0] {
            for y in 2 * low[1]..2 * high[1] {
                for z in 2 * low[2]..2 * high[2] {
                    let mut random = || {
                        number += 1;
                        jitter * (unit(seed, number) - 0.5)
                    };
                    let jitter = DVec3::new(random(), random(), random());
                    let place = (DVec3::new(x.into(), y.into(), z.into()) + 0.5 + jitter) / 2.0;
                    places.extend(is_liquid(place).then_some(place));
                }
            }
        }
        Self::of_places(&places)
    }

    /// Particles of an eighth of a cell each at places in voxels.
    pub fn of_places(places: &[DVec3]) -> Self {
        let mut world = World::new(MemoryBudget::unlimited());
        let mut domain = GridDomain::new("pool", Frame::new(DVec3::ZERO, VOXEL).unwrap());
        let mut store = ParticleSystem::new("water", &domain).unwrap();
        let vector = |name: &'static str| ChannelSpec::new(name, Vec3::ZERO);
        let eighth = DENSITY * (VOXEL * VOXEL * VOXEL / 8.0) as f32;
        let velocity = store.add_channel(&vector("v")).unwrap();
        let position_before = store.add_channel(&vector("before")).unwrap();
        let mass = store.add_channel(&ChannelSpec::new("mass", eighth)).unwrap();
        let radius = store.add_channel(&ChannelSpec::new("pscale", 0.0_f32)).unwrap();
        let metres: Vec<DVec3> = places.iter().map(|place| *place * VOXEL).collect();
        let batch = store.batch(&metres).unwrap();
        store.append(&domain, batch).unwrap();

        domain.set_buckets(&store.topology().all().dilate(1).unwrap()).unwrap();
        let volume = world.volumes.add(DiscreteVolume::new("grid", &domain));
        let particles = world.particles.add(store);
        let carried = FluidParticles { particles, velocity, position_before, mass, radius };
        let fluid = Fluid { density: DENSITY, has_surface: true, particles: Some(carried) };
        let store = &mut world.volumes[volume];
        let field = add_channels(store, volume, VOXEL, fluid).unwrap();
        let shift = store.add_mac("shift", "m", Resolution::R8).unwrap();
        Self { world, domain, particles, volume, field, shift }
    }

    pub fn domain(&self) -> &GridDomain {
        &self.domain
    }

    pub fn particles(&self) -> &ParticleSystem {
        &self.world.particles[self.particles]
    }

    pub fn particles_mut(&mut self) -> &mut ParticleSystem {
        &mut self.world.particles[self.particles]
    }

    pub fn volume(&self) -> &DiscreteVolume {
        &self.world.volumes[self.volume]
    }

    pub fn find_surface(&self) {
        surface::find(&self.domain, self.particles(), self.volume(), &self.field).unwrap();
    }

    /// Solids, by their signed distance [voxels].
    pub fn wall(&self, distance: impl Fn(DVec3) -> f64 + Sync) {
        let (volume, walls) = (self.volume(), self.field.walls);
        let frame = *self.domain.frame();
        let open = move |place: DVec3, corners: usize| {
            let cells =
                DVec3::from_array([4, 2, 1].map(|bit| f64::from(u8::from(corners & bit != 0))));
            distance(place + cells)
        };
        let access = (
            walls.area.faces.map(|face| volume.write(face)),
            volume.write(walls.volume),
            volume.write(walls.distance),
        );
        Accessor::new("wall", &self.domain)
            .over(volume.topology())
            .run(access, |here, (areas, cells, distances)| {
                let first = frame.corner(here.bucket) / VOXEL;
                let mut areas = areas;
                for n in 0..512 {
                    let cell =
                        first + DVec3::from_array([n >> 6, n >> 3 & 7, n & 7].map(|c| c as f64));
                    let corners: [f64; 8] = std::array::from_fn(|corner| open(cell, corner));
                    cells[n] = undine_geometry::fractions::open_volume(corners) as f32;
                    distances[n] = (open(cell + 0.5, 0) * VOXEL) as f32;
                    let faces = [[0, 1, 3, 2], [0, 1, 5, 4], [0, 2, 6, 4]];
                    for (area, face) in areas.iter_mut().zip(faces) {
                        let corners = face.map(|corner| corners[corner]);
                        area[n] = undine_geometry::fractions::open_area(corners) as f32;
                    }
                }
            })
            .unwrap();
    }

    /// What is inside of the liquid, by the part that it takes of cells with these centres [voxels].
    pub fn take(&mut self, part: impl Fn(DVec3) -> f64 + Sync) {
        let taken = Coupling::add_taken(&mut self.world.volumes[self.volume]).unwrap();
        let (volume, frame) = (self.volume(), *self.domain.frame());
        Accessor::new("take", &self.domain)
            .over(volume.topology())
            .run(volume.write(taken), |here, taken| {
                let first = frame.corner(here.bucket) / VOXEL;
                for (n, taken) in taken.iter_mut().enumerate() {
                    let cell = DVec3::from_array([n >> 6, n >> 3 & 7, n & 7].map(|c| c as f64));
                    *taken = part(first + cell + 0.5) as f32;
                }
            })
            .unwrap();
    }

    /// Calls `visit` with each cell's centre [voxels], its distance to the surface [voxels] and whether it is liquid.
    pub fn each_cell(&self, mut visit: impl FnMut(DVec3, f64, bool)) {
        let distance = self.volume().column(self.field.distance.unwrap()).unwrap();
        let cells = self.volume().column(self.field.cells.words).unwrap();
        for (slot, bucket) in self.volume().topology().buckets().iter().enumerate() {
            let (distance, cells) = (distance.chunk(slot as u32), cells.chunk(slot as u32));
            for n in 0..512 {
                let cell = (bucket.coord * 8).as_dvec3()
                    + DVec3::from_array([n >> 6, n >> 3 & 7, n & 7].map(|c| c as f64 + 0.5));
                let liquid = cells[n >> 6] >> (n & 63) & 1 != 0;
                visit(cell, f64::from(distance[n]) / VOXEL, liquid);
            }
        }
    }

    /// Where the distance changes its sign along z [voxels], for each column of cells by x and y.
    pub fn heights(&self) -> BTreeMap<[i32; 2], Vec<f64>> {
        let mut columns: BTreeMap<[i32; 2], Vec<(f64, f64)>> = BTreeMap::new();
        self.each_cell(|cell, distance, _| {
            let place = [cell.x, cell.y].map(|c| c.floor() as i32);
            columns.entry(place).or_default().push((cell.z, distance));
        });
        let crossings = |mut column: Vec<(f64, f64)>| {
            column.sort_by(|a, b| a.0.total_cmp(&b.0));
            let pairs = column.windows(2).filter(|pair| (pair[0].1 < 0.0) != (pair[1].1 < 0.0));
            pairs.map(|pair| pair[0].0 + pair[0].1 / (pair[0].1 - pair[1].1)).collect()
        };
        columns.into_iter().map(|(place, column)| (place, crossings(column))).collect()
    }

    /// Where the particles are [voxels].
    pub fn places(&self) -> Vec<DVec3> {
        let metres = self.particles().world_positions().unwrap();
        metres.into_iter().map(|at| at / VOXEL).collect()
    }

    /// The root of the mean square of shifts at particles, and the largest [voxels].
    pub fn shifts(&self) -> (f64, f64) {
        let shifts = self.shifts_at_particles();
        let squares: f64 = shifts.iter().map(|shift| shift.length_squared()).sum();
        let most = shifts.iter().map(|shift| shift.length()).fold(0.0, f64::max);
        ((squares / shifts.len() as f64).sqrt(), most)
    }

    /// The same liquid with its particles displaced.
    pub fn moved(&self) -> Self {
        let shifts = self.shifts_at_particles();
        let places: Vec<DVec3> =
            self.places().iter().zip(shifts).map(|(at, shift)| *at + shift).collect();
        Self::of_places(&places)
    }

    /// The displacement at each particle [voxels].
    pub fn shifts_at_particles(&self) -> Vec<DVec3> {
        let volume = self.volume();
        let points = self.particles().world_positions().unwrap();
        let [x, y, z] = self.shift.faces.map(|face| volume.column(face).unwrap());
        let sampler =
            MacSampler::new([&x, &y, &z], volume.topology(), Interpolation::Linear).unwrap();
        points
            .iter()
            .map(|point| {
                let (slot, offset) = sampler.locate(*point).unwrap();
                sampler.at(slot, offset).as_dvec3() / VOXEL
            })
            .collect()
    }

    /// Bytes of distances, mask and shifts.
    pub fn bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        self.each_cell(|_, distance, liquid| {
            bytes.extend(distance.to_le_bytes());
            bytes.push(u8::from(liquid));
        });
        let shifts = self.shift.faces.map(|face| self.volume().column(face).unwrap());
        for slot in 0..self.volume().topology().stored() {
            let values = shifts.iter().flat_map(|shift| shift.chunk(slot as u32));
            bytes.extend(values.flat_map(|value| value.to_le_bytes()));
        }
        bytes
    }
}
