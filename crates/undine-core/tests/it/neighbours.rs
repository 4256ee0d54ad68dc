//! Neighbour search against brute force, from both sides, for any number of threads, at any origin.

use glam::{DVec3, Vec3};
use proptest::prelude::*;
use std::collections::BTreeMap;
use undine_core::domain::direction;
use undine_core::neighbours::Neighbours;
use undine_core::{
    Bucket, ChannelSpec, CoreError, Frame, GridDomain, MemoryBudget, ParticleSystem,
};

const VOXEL: f64 = 0.1;
const WIDTH: f64 = 0.8;

/// A neighbour's id, and bit for bit its offset and the square of its distance.
type Found = (u64, [u32; 3], u32);

pub fn domain() -> GridDomain {
    domain_at(DVec3::ZERO)
}

fn domain_at(origin: DVec3) -> GridDomain {
    GridDomain::new("domain", Frame::new(origin, VOXEL).unwrap())
}

/// Particles at positions relative to the Domain's origin, in Buckets and at offsets that do not depend on it.
pub fn system(label: &str, domain: &GridDomain, points: &[DVec3]) -> ParticleSystem {
    let mut particles = ParticleSystem::new(label, domain).unwrap();
    let at_zero = Frame::new(DVec3::ZERO, VOXEL).unwrap();
    let places: Vec<(Bucket, Vec3)> =
        points.iter().map(|&point| at_zero.locate(point, 0, "a point").unwrap()).collect();
    let centres: Vec<DVec3> =
        places.iter().map(|&(bucket, _)| domain.frame().centre(bucket)).collect();
    let mut batch = particles.batch(&centres).unwrap();
    for (offset, place) in batch.offsets_mut().iter_mut().zip(&places) {
        *offset = place.1;
    }
    particles.append(domain, batch).unwrap();
    particles
}

/// What the search finds: for each id, the neighbours in the order found.
fn search(
    domain: &GridDomain,
    particles: &ParticleSystem,
    others: &ParticleSystem,
    radius: f64,
) -> BTreeMap<u64, Vec<Found>> {
    let all = std::sync::Mutex::new(BTreeMap::new());
    Neighbours::new("test", domain, particles, radius)
        .unwrap()
        .among(others)
        .for_each(
            (particles.own(particles.id()), others.around(others.id())),
            |_, views, i, near| {
                let (own, ids) = &*views;
                let found: Vec<Found> = near
                    .iter()
                    .map(|j| {
                        (
                            ids.of(j.neighbour),
                            j.offset.to_array().map(f32::to_bits),
                            j.distance2.to_bits(),
                        )
                    })
                    .collect();
                assert!(
                    all.lock().unwrap().insert(own[i], found).is_none(),
                    "{} came twice",
                    own[i]
                );
            },
        )
        .unwrap();
    all.into_inner().unwrap()
}

/// The same by testing every pair, by id.
fn brute_force(
    particles: &ParticleSystem,
    others: &ParticleSystem,
    reach: f32,
) -> BTreeMap<u64, Vec<Found>> {
    let same = std::ptr::eq(particles, others);
    let listed = |particles: &ParticleSystem| -> Vec<(u64, Bucket, Vec3)> {
        let (ids, positions) = (
            particles.column(particles.id()).unwrap(),
            particles.column(particles.position()).unwrap(),
        );
        let topology = particles.topology();
        let slots = 0..topology.local() as u32;
        slots
            .flat_map(|slot| {
                let chunk = ids.chunk(slot).iter().zip(positions.chunk(slot));
                chunk.map(move |(&id, &offset)| (id, topology.bucket(slot), offset))
            })
            .collect()
    };
    let (own, others) = (listed(particles), listed(others));
    let near = |&(i, here, x): &(u64, Bucket, Vec3)| {
        let mut found: Vec<Found> = others
            .iter()
            .filter_map(|&(j, there, y)| {
                let step = there.coord - here.coord;
                if step.abs().max_element() > 1 || (same && i == j) {
                    return None;
                }
                let offset = (y - x) + step.as_vec3() * WIDTH as f32;
                let distance2 = offset.x * offset.x + offset.y * offset.y + offset.z * offset.z;
                let bits = (j, offset.to_array().map(f32::to_bits), distance2.to_bits());
                (distance2 <= reach * reach).then_some(bits)
            })
            .collect();
        found.sort_unstable();
        (i, found)
    };
    own.iter().map(near).collect()
}

fn sorted(mut found: BTreeMap<u64, Vec<Found>>) -> BTreeMap<u64, Vec<Found>> {
    found.values_mut().for_each(|found| found.sort_unstable());
    found
}

fn reach(domain: &GridDomain, particles: &ParticleSystem, radius: f64) -> f32 {
    Neighbours::new("test", domain, particles, radius).unwrap().reach()
}

fn assert_same_as_brute_force(points: &[DVec3], radius: f64) {
    let domain = domain();
    let particles = system("particles", &domain, points);
    let found = sorted(search(&domain, &particles, &particles, radius));
    assert_eq!(found, brute_force(&particles, &particles, reach(&domain, &particles, radius)));
}

/// A coordinate that is often on the border of a cell or Bucket, or next to it.
fn coordinate() -> impl Strategy<Value = f64> {
    prop_oneof![
        4 => -1.5..2.5_f64,
        2 => (-32..48_i32).prop_map(|n| f64::from(n) * 0.05),
        1 => (-3..4_i32, -1e-7..1e-7_f64).prop_map(|(n, off)| f64::from(n) * WIDTH + off),
        1 => -0.02..0.02_f64,
    ]
}

fn points(most: usize) -> impl Strategy<Value = Vec<DVec3>> {
    prop::collection::vec(prop::array::uniform3(coordinate()).prop_map(DVec3::from_array), 0..most)
}

fn radius() -> impl Strategy<Value = f64> {
    prop_oneof![
        3 => 0.01..WIDTH,
        2 => (1..20_i32).prop_map(|n| WIDTH / f64::from(n)),
        1 => Just(WIDTH),
        1 => Just(1e-9),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn the_search_finds_what_brute_force_finds(points in points(400), radius in radius()) {
        assert_same_as_brute_force(&points, radius);
    }

    #[test]
    fn the_search_between_two_systems_finds_what_brute_force_finds(
        a in points(120), b in points(120), radius in radius(),
    ) {
        let domain = domain();
        let (a, b) = (system("a", &domain, &a), system("b", &domain, &b));
        let found = sorted(search(&domain, &a, &b, radius));
        prop_assert_eq!(found, brute_force(&a, &b, reach(&domain, &a, radius)));
    }

    #[test]
    fn neighbours_are_the_same_from_both_sides_bit_for_bit(points in points(300), radius in radius()) {
        let domain = domain();
        let particles = system("particles", &domain, &points);
        let found = search(&domain, &particles, &particles, radius);
        for (i, near) in &found {
            for &(j, offset, distance2) in near {
                // Zero has two signs, which both sides may see the same.
                let back = offset.map(|bits| (-f32::from_bits(bits) + 0.0).to_bits());
                let seen = found[&j].iter().any(|other| {
                    other.0 == *i
                        && other.1.map(|bits| (f32::from_bits(bits) + 0.0).to_bits()) == back
                        && other.2 == distance2
                });
                prop_assert!(seen, "{} sees {}, but not the other way round", i, j);
            }
        }
    }

    #[test]
    fn the_search_is_the_same_ten_kilometres_away(points in points(200), radius in radius()) {
        let found = [DVec3::ZERO, DVec3::new(1e4, -1e4, 1e4)].map(|origin| {
            let domain = domain_at(origin);
            let particles = system("particles", &domain, &points);
            search(&domain, &particles, &particles, radius)
        });
        prop_assert_eq!(&found[0], &found[1]);
    }

    #[test]
    fn lists_hold_what_is_visited_in_the_same_order(points in points(200), radius in radius()) {
        let domain = domain();
        let particles = system("particles", &domain, &points);
        let visited = search(&domain, &particles, &particles, radius);
        let lists = Neighbours::new("lists", &domain, &particles, radius).unwrap().lists().unwrap();
        let ids = particles.column(particles.id()).unwrap();
        let topology = particles.topology();
        let mut entries = 0;
        for slot in 0..topology.local() as u32 {
            for (place, id) in ids.chunk(slot).iter().enumerate() {
                let listed: Vec<u64> = lists
                    .of(slot, place)
                    .iter()
                    .map(|j| ids.chunk(topology.neighbours(slot)[j.direction()])[j.place()])
                    .collect();
                let visited: Vec<u64> = visited[id].iter().map(|found| found.0).collect();
                entries += listed.len() as u64;
                prop_assert_eq!(listed, visited);
            }
        }
        prop_assert_eq!(lists.entries(), entries);
        prop_assert_eq!(lists.memory().raw, 4 * entries);
    }
}

/// A repeatable cloud of points in a box.
pub fn cloud(count: usize, size: f64) -> Vec<DVec3> {
    let mut state = 1_u64;
    let mut random = || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 / (1_u64 << 53) as f64 * size
    };
    (0..count).map(|_| DVec3::new(random(), random(), random())).collect()
}

#[test]
fn dense_buckets_give_what_brute_force_gives() {
    for radius in [0.0964, 0.1, 0.2, 0.04] {
        assert_same_as_brute_force(&cloud(6000, 1.2), radius);
    }
}

#[test]
fn a_dense_bucket_beside_a_sparse_one_gives_what_brute_force_gives() {
    let mut points = cloud(3000, WIDTH);
    points.extend(cloud(40, WIDTH).iter().map(|&point| point + DVec3::X * WIDTH));
    points.push(DVec3::new(-0.01, 0.4, 0.4));
    assert_same_as_brute_force(&points, 0.1);
}

#[test]
fn nobody_is_its_own_neighbour_but_whoever_sits_at_the_same_position_is() {
    let domain = domain();
    let points = [DVec3::splat(0.3); 20];
    let particles = system("particles", &domain, &points);
    let found = search(&domain, &particles, &particles, 0.01);
    for (i, near) in &found {
        let ids: Vec<u64> = near.iter().map(|found| found.0).collect();
        let others: Vec<u64> = (0..20).filter(|j| j != i).collect();
        assert_eq!(ids, others);
    }
    let twins = system("twins", &domain, &points);
    assert!(search(&domain, &particles, &twins, 0.01).values().all(|near| near.len() == 20));
}

#[test]
fn particles_around_an_empty_place_of_their_own_system_are_found() {
    let domain = domain();
    let one = system("one", &domain, &[DVec3::new(0.79, 0.4, 0.4)]);
    let other = system("other", &domain, &[DVec3::new(0.81, 0.4, 0.4)]);
    let lists =
        Neighbours::new("lists", &domain, &one, 0.1).unwrap().among(&other).lists().unwrap();
    let [neighbour] = lists.of(0, 0) else { panic!("one neighbour") };
    assert_eq!((neighbour.direction(), neighbour.place()), (direction(1, 0, 0), 0));
}

#[test]
fn none_and_one_particle_have_no_neighbours() {
    let domain = domain();
    for points in [&[][..], &[DVec3::splat(0.1)]] {
        let particles = system("particles", &domain, points);
        let search = Neighbours::new("lists", &domain, &particles, 0.1).unwrap();
        assert_eq!(search.lists().unwrap().entries(), 0);
    }
}

#[test]
fn any_number_of_threads_gives_the_same_bytes_in_the_same_order() {
    let domain = domain();
    let particles = system("particles", &domain, &cloud(8000, 2.0));
    let results = [1, 2, 3, 7].map(|threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| search(&domain, &particles, &particles, 0.15))
    });
    assert!(results[0].values().any(|near| near.len() > 10));
    assert!(results.iter().all(|result| *result == results[0]));
}

#[test]
fn a_radius_that_cannot_be_is_refused_by_its_value() {
    let domain = domain();
    let particles = system("particles", &domain, &[DVec3::ZERO]);
    for radius in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let error = Neighbours::new("test", &domain, &particles, radius).err().unwrap();
        assert!(matches!(error, CoreError::BadLength { .. }));
        assert!(error.to_string().contains(&format!("is {radius},")), "{error}");
    }
    let error = Neighbours::new("test", &domain, &particles, 0.9).err().unwrap();
    assert!(error.to_string().contains("0.9 m in Buckets of 0.8 m"), "{error}");
}

#[test]
fn a_particle_outside_of_its_bucket_is_refused_by_its_id() {
    let domain = domain();
    for (x, message) in [(0.81, "rebucketize"), (-0.01, "rebucketize"), (f32::NAN, "not finite")] {
        let particles = system("spray", &domain, &cloud(5, WIDTH));
        particles.column_mut(particles.position()).unwrap().chunk_mut(0)[3].x = x;
        let error = Neighbours::new("test", &domain, &particles, 0.1)
            .unwrap()
            .for_each((), |_, (), _, _| panic!("nothing may be visited"))
            .unwrap_err()
            .to_string();
        assert!(error.contains("spray with id 3") && error.contains(message), "{error}");
    }
}

#[test]
fn systems_of_different_domains_are_refused() {
    let (here, there) = (domain(), domain_at(DVec3::X));
    let (a, b) = (system("a", &here, &[DVec3::ZERO]), system("b", &there, &[DVec3::ZERO]));
    let search = Neighbours::new("test", &here, &a, 0.1).unwrap().among(&b);
    assert!(matches!(search.lists(), Err(CoreError::BadAccess { .. })));
}

#[test]
fn writing_the_positions_that_are_searched_is_refused() {
    let domain = domain();
    let particles = system("particles", &domain, &[DVec3::ZERO]);
    let error = Neighbours::new("test", &domain, &particles, 0.1)
        .unwrap()
        .for_each(particles.write(particles.position()), |_, _, _, _| {})
        .unwrap_err();
    assert!(matches!(error, CoreError::ChannelBusy { .. }), "{error}");
}

#[test]
fn lists_beyond_the_memory_budget_are_refused_and_give_back_what_they_took() {
    let budget = MemoryBudget::new(200_000);
    let domain = domain().with_budget(budget.clone());
    let particles = system("particles", &domain, &cloud(2000, 1.6));
    let before = budget.used();
    let wide = Neighbours::new("lists", &domain, &particles, 0.6).unwrap();
    assert!(matches!(wide.lists(), Err(CoreError::OverBudget { .. })));
    assert_eq!(budget.used(), before);
    let lists = Neighbours::new("lists", &domain, &particles, 0.05).unwrap().lists().unwrap();
    assert_eq!(budget.used(), before + lists.memory().total());
    drop(lists);
    assert_eq!(budget.used(), before);
}

#[test]
fn a_kernel_writes_its_own_particles_from_channels_of_its_neighbours() {
    let domain = domain();
    let mut particles = system("particles", &domain, &cloud(500, 1.2));
    let weight = particles.add_channel(&ChannelSpec::new("weight", 2.0_f32)).unwrap();
    let sum = particles.add_channel(&ChannelSpec::new("sum", 0.0_f32)).unwrap();
    Neighbours::new("sum", &domain, &particles, 0.2)
        .unwrap()
        .for_each((particles.around(weight), particles.write(sum)), |_, (weight, sum), i, near| {
            sum[i] = near.neighbours().map(|j| weight.of(j)).sum();
        })
        .unwrap();
    let (ids, sums) = (particles.column(particles.id()).unwrap(), particles.column(sum).unwrap());
    let found = search(&domain, &particles, &particles, 0.2);
    for slot in 0..particles.topology().local() as u32 {
        for (id, &sum) in ids.chunk(slot).iter().zip(sums.chunk(slot)) {
            assert_eq!(sum, 2.0 * found[id].len() as f32);
        }
    }
}
