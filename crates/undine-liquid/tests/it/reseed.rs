//! Cells under the surface keep their number of particles; mass and momentum stay.

use std::collections::{BTreeMap, BTreeSet};
use undine_core::domain::Slot;
use undine_core::glam::{DVec3, IVec3, Vec3};
use undine_core::volume::DiscreteVolume;
use undine_core::{ChannelSpec, Combine, Frame, GridDomain, Handle, MemoryBudget, ParticleSystem};
use undine_fluid::field::{Fluid, add_channels};
use undine_fluid::fill::{Fill, Room, fill};
use undine_geometry::{Pose, Shape, random};
use undine_liquid::reseed::{Reseed, Reseeded, add_channel};
use undine_sim::World;
use undine_sim::offers::FluidParticles;

const VOXEL: f64 = 0.1;
/// The liquid reaches from cell 0 to here along each axis, and its surface is up there along y.
const CELLS: i32 = 24;
const REST_MASS: f32 = 0.125;

struct Tank {
    world: World,
    domain: GridDomain,
    rules: Reseed,
    salt: Handle<f32>,
}

type Counts = BTreeMap<[i32; 3], usize>;

impl Tank {
    /// Full of liquid, eight to a cell, but for particles that `keep` refuses; `more` come on top.
    fn new(keep: impl Fn(IVec3, usize) -> bool, more: &[DVec3]) -> Self {
        let mut world = World::new(MemoryBudget::unlimited());
        let mut domain = GridDomain::new("tank", Frame::new(DVec3::ZERO, VOXEL).unwrap());
        let size = f64::from(CELLS) * VOXEL;
        let middle = Pose::at(DVec3::splat(0.5 * size));
        let cube = Shape::cuboid(DVec3::splat(0.5 * size)).unwrap().moved(&middle).unwrap();
        let budget = MemoryBudget::unlimited();
        let room = Room { budget: &budget, bytes_each: 100 };
        let filled = fill(&cube, domain.frame(), &Fill::default(), room).unwrap();
        let mut seen: Counts = BTreeMap::new();
        let mut places = Vec::new();
        for (bucket, offset) in filled.buckets.iter().zip(&filled.offsets) {
            let cell = bucket.coord * 8 + (*offset / VOXEL as f32).floor().as_ivec3();
            let count = seen.entry(cell.to_array()).or_default();
            if keep(cell, *count) {
                places.push(domain.frame().world(*bucket, *offset));
            }
            *count += 1;
        }
        places.extend(more);

        let mut store = ParticleSystem::new("water", &domain).unwrap();
        let vector = |name: &'static str| ChannelSpec::new(name, Vec3::ZERO);
        let number = |name: &'static str| ChannelSpec::new(name, 0.0_f32);
        let velocity = store.add_channel(&vector("v").combine(Combine::Mean)).unwrap();
        let position_before = store.add_channel(&vector("position-before")).unwrap();
        let mass = store.add_channel(&number("mass").combine(Combine::Sum)).unwrap();
        let radius = store.add_channel(&number("pscale").combine(Combine::Max)).unwrap();
        let salt = store.add_channel(&number("salt").combine(Combine::Mean)).unwrap();
        let mut batch = store.batch(&places).unwrap();
        let count = places.len();
        let noise = |n: u64| (random::unit(3, n) - 0.5) as f32;
        let speeds: Vec<Vec3> = (0..count as u64)
            .map(|n| Vec3::new(noise(3 * n), 1.0 + noise(3 * n + 1), noise(3 * n + 2)))
            .collect();
        batch.set("v", &speeds).unwrap();
        let masses: Vec<f32> =
            (0..count as u64).map(|n| REST_MASS * (1.0 + 0.2 * noise(n))).collect();
        batch.set("mass", &masses).unwrap();
        batch.set("pscale", &vec![0.03_f32; count]).unwrap();
        batch.set("salt", &(0..count).map(|n| n as f32).collect::<Vec<_>>()).unwrap();
        store.append(&domain, batch).unwrap();

        let buckets = store.topology().all().dilate(1).unwrap();
        domain.set_buckets(&buckets).unwrap();
        let mut volume = DiscreteVolume::new("water", &domain);
        let particles = world.particles.add(store);
        let particles = FluidParticles { particles, velocity, position_before, mass, radius };
        let fluid = Fluid { density: 1000.0, has_surface: true, particles: Some(particles) };
        let id = world.volumes.add(DiscreteVolume::new("nothing", &domain));
        let field = add_channels(&mut volume, id, VOXEL, fluid).unwrap();
        let count = add_channel(&mut volume).unwrap();
        world.volumes[id] = volume;
        let rules = Reseed {
            field,
            particles,
            count,
            least: 3,
            most: 12,
            rest_mass: REST_MASS,
            moved_for: 0.0,
            known: None,
            seed: 11,
        };
        let tank = Self { world, domain, rules, salt };
        tank.set_distance(distance_to_box);
        tank
    }

    fn volume(&self) -> &DiscreteVolume {
        &self.world.volumes[self.rules.field.volume]
    }

    fn particles(&self) -> &ParticleSystem {
        &self.world.particles[self.rules.particles.particles]
    }

    fn set_distance(&self, distance: impl Fn(DVec3) -> f32) {
        let volume = self.volume();
        let mut column = volume.column_mut(self.rules.field.distance.unwrap()).unwrap();
        for slot in 0..volume.topology().local() as Slot {
            let corner = self.domain.frame().corner(volume.topology().bucket(slot));
            for (n, value) in column.chunk_mut(slot).iter_mut().enumerate() {
                let cell = DVec3::new((n >> 6) as f64, (n >> 3 & 7) as f64, (n & 7) as f64);
                let reach = 3.0 * VOXEL as f32;
                *value = distance(corner + (cell + 0.5) * VOXEL).clamp(-reach, reach);
            }
        }
    }

    fn run(&mut self) -> Reseeded {
        let Self { world, domain, rules, .. } = self;
        let volume = &world.volumes[rules.field.volume];
        rules.run(domain, volume, &mut world.particles[rules.particles.particles]).unwrap()
    }

    fn counts(&self) -> Counts {
        let mut counts = BTreeMap::new();
        for at in self.particles().world_positions().unwrap() {
            *counts.entry((at / VOXEL).floor().as_ivec3().to_array()).or_default() += 1;
        }
        counts
    }

    /// Mass, momentum and salt, and the cube of radii.
    fn totals(&self) -> (f64, DVec3, f64, f64) {
        let particles = self.particles();
        let (mass, velocity, radius, salt) = (
            particles.column(self.rules.particles.mass).unwrap(),
            particles.column(self.rules.particles.velocity).unwrap(),
            particles.column(self.rules.particles.radius).unwrap(),
            particles.column(self.salt).unwrap(),
        );
        let mut totals = (0.0, DVec3::ZERO, 0.0, 0.0);
        for slot in 0..particles.topology().local() as Slot {
            for (n, &m) in mass.chunk(slot).iter().enumerate() {
                let m = f64::from(m);
                totals.0 += m;
                totals.1 += m * velocity.chunk(slot)[n].as_dvec3();
                totals.2 += m * f64::from(salt.chunk(slot)[n]);
                totals.3 += f64::from(radius.chunk(slot)[n]).powi(3);
            }
        }
        totals
    }

    fn by_id(&self) -> BTreeMap<u64, DVec3> {
        let particles = self.particles();
        let ids = particles.column(particles.id()).unwrap();
        let local = 0..particles.topology().local() as Slot;
        let ids = local.flat_map(|slot| ids.chunk(slot).to_vec());
        ids.zip(particles.world_positions().unwrap()).collect()
    }
}

/// The liquid's surface is a fifth of a voxel within the cells that it fills.
fn distance_to_box(at: DVec3) -> f32 {
    let half = 0.5 * f64::from(CELLS) * VOXEL;
    ((at - half).abs().max_element() - half + 0.2 * VOXEL) as f32
}

/// Whether a cell lies deeper than numbers are kept.
fn is_deep(cell: [i32; 3]) -> bool {
    cell.iter().all(|&c| (2..CELLS - 2).contains(&c))
}

fn assert_kept(before: (f64, DVec3, f64, f64), after: (f64, DVec3, f64, f64)) {
    assert!((after.0 / before.0 - 1.0).abs() < 1e-6, "mass {} {}", before.0, after.0);
    assert!((after.1 - before.1).length() < 1e-6 * before.0, "momentum {} {}", before.1, after.1);
    assert!((after.2 / before.2 - 1.0).abs() < 1e-6, "salt {} {}", before.2, after.2);
    assert!((after.3 / before.3 - 1.0).abs() < 1e-5, "volume {} {}", before.3, after.3);
}

/// Every third cell has no particle, one or two.
fn sparse(cell: IVec3, n: usize) -> bool {
    let kind = (cell.x + 5 * cell.y + 7 * cell.z).rem_euclid(9);
    kind > 2 || n < kind as usize
}

#[test]
fn thin_and_empty_cells_are_filled_under_the_surface_and_nowhere_else() {
    let mut tank = Tank::new(sparse, &[]);
    let (before, counts, places) = (tank.totals(), tank.counts(), tank.by_id());
    let done = tank.run();
    assert!(done.added > 1000 && done.removed == 0, "{done:?}");
    assert_kept(before, tank.totals());
    let after = tank.counts();
    for x in 0..CELLS {
        for y in 0..CELLS {
            for z in 0..CELLS {
                let cell = [x, y, z];
                let (had, has) = (counts.get(&cell), after.get(&cell));
                let (had, has) = (had.copied().unwrap_or(0), has.copied().unwrap_or(0));
                if is_deep(cell) {
                    assert!(has >= 3 && has >= had, "{cell:?}: {had} {has}");
                } else {
                    assert_eq!(has, had, "{cell:?}");
                }
            }
        }
    }
    assert_eq!(after.values().sum::<usize>(), places.len() + done.added);
    // Those that were there are where they were, under their ids.
    let now = tank.by_id();
    assert!(places.iter().all(|(id, at)| now[id] == *at));
    assert_eq!(now.len(), places.len() + done.added);
    let nothing_more = tank.run();
    assert_eq!(nothing_more, Reseeded::default());
}

#[test]
fn crowded_cells_lose_particles_under_the_surface_and_nowhere_else() {
    let more: Vec<DVec3> = (0..60_000)
        .map(|n| {
            let draw = |k: u64| random::unit(9, 3 * n + k) * f64::from(CELLS) * VOXEL;
            DVec3::new(draw(0), draw(1), draw(2))
        })
        .collect();
    let mut tank = Tank::new(|_, _| true, &more);
    let (before, counts) = (tank.totals(), tank.counts());
    assert!(counts.values().any(|&count| count > 18));
    let ids: BTreeSet<u64> = tank.by_id().into_keys().collect();
    let done = tank.run();
    assert!(done.removed > 1000 && done.added == 0, "{done:?}");
    assert_kept(before, tank.totals());
    for (cell, has) in tank.counts() {
        if is_deep(cell) {
            // Means of places stay in their cells.
            assert_eq!(has, counts[&cell].min(12), "{cell:?}");
        } else {
            assert_eq!(has, counts[&cell], "{cell:?}");
        }
    }
    assert!(tank.by_id().keys().all(|id| ids.contains(id)));
}

#[test]
fn parts_move_with_the_velocity_of_the_grid_around_the_whole() {
    let mut tank = Tank::new(|cell, n| cell != IVec3::splat(11) || n < 1, &[]);
    // A shear: u = 2 y.
    let volume = tank.volume();
    let mut u = volume.column_mut(tank.rules.field.velocity.faces[0]).unwrap();
    for slot in 0..volume.topology().local() as Slot {
        let corner = tank.domain.frame().corner(volume.topology().bucket(slot));
        for (n, value) in u.chunk_mut(slot).iter_mut().enumerate() {
            *value = (2.0 * (corner.y + ((n >> 3 & 7) as f64 + 0.5) * VOXEL)) as f32;
        }
    }
    drop(u);
    let before = tank.by_id();
    let momentum = tank.totals().1;
    assert_eq!(tank.run(), Reseeded { added: 3, removed: 0 });
    assert!((tank.totals().1 - momentum).length() < 1e-4);
    let particles = tank.particles();
    let (ids, velocity) = (
        particles.column(particles.id()).unwrap(),
        particles.column(tank.rules.particles.velocity).unwrap(),
    );
    let now = tank.by_id();
    let family: Vec<(DVec3, DVec3)> = (0..particles.topology().local() as Slot)
        .flat_map(|slot| {
            let both = ids.chunk(slot).iter().zip(velocity.chunk(slot));
            both.map(|(id, v)| (*id, *v)).collect::<Vec<_>>()
        })
        .filter(|(id, _)| {
            let is_new = !before.contains_key(id);
            is_new || (now[id] / VOXEL).floor().as_ivec3() == IVec3::splat(11)
        })
        .map(|(id, v)| (now[&id], v.as_dvec3()))
        .collect();
    assert_eq!(family.len(), 4);
    for (at, v) in &family {
        let wanted = 2.0 * (at.y - family[0].0.y) * DVec3::X;
        assert!((*v - family[0].1 - wanted).length() < 1e-4);
    }
}

#[test]
fn walls_keep_their_inside_free_of_new_particles() {
    let mut tank = Tank::new(|cell, n| cell.x > 9 || n < 1, &[]);
    let volume = tank.volume();
    let mut wall = volume.column_mut(tank.rules.field.walls.distance).unwrap();
    // All below x = 4.75 cells is wall.
    for slot in 0..volume.topology().local() as Slot {
        let corner = tank.domain.frame().corner(volume.topology().bucket(slot));
        for (n, value) in wall.chunk_mut(slot).iter_mut().enumerate() {
            *value = (corner.x + ((n >> 6) as f64 + 0.5 - 4.75) * VOXEL) as f32;
        }
    }
    drop(wall);
    let before = tank.by_id();
    tank.run();
    let new: Vec<DVec3> = tank
        .by_id()
        .into_iter()
        .filter(|(id, _)| !before.contains_key(id))
        .map(|(_, at)| at)
        .collect();
    assert!(new.len() > 1000);
    assert!(
        new.iter().all(|at| at.x > 4.75 * VOXEL),
        "{:?}",
        new.iter().map(|at| at.x).fold(9.0, f64::min)
    );
}

#[test]
fn a_surface_that_has_moved_on_is_followed() {
    // The surface was found 0.4 s ago; since then all of it went up by 4 cells, at 1 m/s.
    let mut tank = Tank::new(sparse, &[]);
    tank.set_distance(|at| distance_to_box(at + 4.0 * VOXEL * DVec3::Y));
    let volume = tank.volume();
    let mut v = volume.column_mut(tank.rules.field.velocity.faces[1]).unwrap();
    for slot in 0..volume.topology().local() as Slot {
        v.chunk_mut(slot).fill(1.0);
    }
    drop(v);
    let before = tank.counts();
    tank.rules.moved_for = 0.4;
    tank.run();
    let after = tank.counts();
    let of = |counts: &Counts, cell: [i32; 3]| counts.get(&cell).copied().unwrap_or(0);
    for y in 0..CELLS {
        let level =
            |counts: &Counts| (2..CELLS - 2).map(|x| of(counts, [x, y, 12])).collect::<Vec<_>>();
        match is_deep([9, y, 9]) {
            true => assert!(level(&after).iter().all(|&count| count >= 3), "{y}"),
            false => assert_eq!(level(&after), level(&before), "{y}"),
        }
    }
}

#[test]
fn what_is_too_light_is_not_split_for_ever() {
    let mut tank = Tank::new(|cell, n| cell.x < 12 || n < 1, &[]);
    tank.rules.rest_mass = 100.0 * REST_MASS;
    assert_eq!(tank.run(), Reseeded::default());
}

#[test]
fn the_number_of_threads_changes_nothing() {
    let run = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let more: Vec<DVec3> = (0..9000)
                .map(|n| {
                    DVec3::splat(0.5)
                        + DVec3::new(random::unit(1, n), random::unit(2, n), random::unit(4, n))
                })
                .collect();
            let mut tank = Tank::new(sparse, &more);
            let done = tank.run();
            assert!(done.added > 0 && done.removed > 0);
            let bits = |at: DVec3| at.to_array().map(f64::to_bits);
            tank.by_id().into_iter().map(|(id, at)| (id, bits(at))).collect::<Vec<_>>()
        })
    };
    assert!(run(1) == run(4));
}
