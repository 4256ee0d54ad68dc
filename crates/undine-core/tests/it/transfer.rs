//! Transfers between particles and MAC grids: against a naive model in `f64`, and against what must be
//! conserved.

use glam::{DMat3, DVec3, IVec3, Mat3, Vec3};
use proptest::prelude::*;
use std::collections::BTreeMap;
use undine_core::transfer::{
    Carried, Kernel, Mass, Method, mac_to_particles, momentum_to_velocity, particles_to_mac,
};
use undine_core::volume::{MacHandle, Resolution};
use undine_core::{
    Bucket, BucketSet, ChannelSpec, CoreError, DiscreteVolume, Frame, GridDomain, Handle,
    ParticleSystem, Result,
};

const KERNELS: [Kernel; 2] = [Kernel::Linear, Kernel::Quadratic];
/// Eight voxels along a Bucket [m]; a power of two, so that offsets are exact.
const VOXEL: f64 = 0.125;

/// A particle: place [m], velocity [m/s], its gradient [1/s], mass [kg].
#[derive(Debug, Clone, Copy)]
struct Point {
    place: DVec3,
    velocity: Vec3,
    affine: Mat3,
    mass: f32,
}

struct Scene {
    domain: GridDomain,
    particles: ParticleSystem,
    velocity: Handle<Vec3>,
    affine: Handle<Mat3>,
    mass: Handle<f32>,
    volume: DiscreteVolume,
    momentum: MacHandle,
    weight: MacHandle,
    edge: i32,
}

impl Scene {
    /// Particles relative to `origin`, and a volume padded by one Bucket.
    fn new(origin: DVec3, points: &[Point], resolution: Resolution) -> Result<Self> {
        let mut domain = GridDomain::new("liquid", Frame::new(origin, VOXEL)?);
        let mut particles = ParticleSystem::new("water", &domain)?;
        let velocity = particles.add_channel(&ChannelSpec::new("velocity", Vec3::ZERO))?;
        let affine = particles.add_channel(&ChannelSpec::new("affine", Mat3::ZERO))?;
        let mass = particles.add_channel(&ChannelSpec::new("mass", 1.0_f32))?;
        let places: Vec<DVec3> = points.iter().map(|point| origin + point.place).collect();
        let mut batch = particles.batch(&places)?;
        let all = |f: fn(&Point) -> Vec3| points.iter().map(f).collect::<Vec<_>>();
        batch.set("velocity", &all(|point| point.velocity))?;
        batch.set("affine", &points.iter().map(|point| point.affine).collect::<Vec<_>>())?;
        batch.set("mass", &points.iter().map(|point| point.mass).collect::<Vec<_>>())?;
        particles.append(&domain, batch)?;
        domain.set_buckets(&particles.topology().all().dilate(1)?)?;
        let mut volume = DiscreteVolume::new("grid", &domain);
        let momentum = volume.add_mac("momentum", "kg m/s", resolution)?;
        let weight = volume.add_mac("weight", "kg", resolution)?;
        let edge = resolution.edge() as i32;
        Ok(Self { domain, particles, velocity, affine, mass, volume, momentum, weight, edge })
    }

    fn carried(&self) -> Carried {
        Carried {
            velocity: self.velocity,
            affine: Some(self.affine),
            mass: Mass::Channel(self.mass),
        }
    }

    fn to_grid(&self, kernel: Kernel) -> Result<()> {
        let Self { domain, particles, volume, momentum, weight, .. } = self;
        particles_to_mac(domain, particles, self.carried(), volume, *momentum, *weight, kernel)
    }

    /// Divides, and takes velocity and gradient back.
    fn to_particles(&self, kernel: Kernel) -> Result<()> {
        momentum_to_velocity(&self.domain, &self.volume, self.momentum, self.weight)?;
        self.take(Method::Apic { affine: self.affine }, kernel)
    }

    fn take(&self, method: Method, kernel: Kernel) -> Result<()> {
        let Self { domain, particles, volume, momentum, velocity, .. } = self;
        mac_to_particles(domain, volume, *momentum, particles, *velocity, method, kernel)
    }

    /// The width of a voxel of the grid [m].
    fn voxel(&self) -> f64 {
        8.0 * VOXEL / f64::from(self.edge)
    }

    /// The place of a face [m] from the origin.
    fn face(&self, axis: usize, face: IVec3) -> DVec3 {
        let mut at = face.as_dvec3() + 0.5;
        at[axis] -= 0.5;
        at * self.voxel()
    }

    /// Calls `visit` with every face of a channel.
    fn each_face(&self, mac: MacHandle, mut visit: impl FnMut(usize, IVec3, &mut f32)) {
        for axis in 0..3 {
            let mut column = self.volume.column_mut(mac.faces[axis]).unwrap();
            for (slot, bucket) in self.volume.topology().buckets().iter().enumerate() {
                for (n, value) in column.chunk_mut(slot as u32).iter_mut().enumerate() {
                    let (n, edge) = (n as i32, self.edge);
                    let within = IVec3::new(n / (edge * edge), n / edge % edge, n % edge);
                    visit(axis, bucket.coord * edge + within, value);
                }
            }
        }
    }

    /// The values of a channel that are not zero.
    fn faces(&self, mac: MacHandle) -> BTreeMap<(usize, [i32; 3]), f64> {
        let mut faces = BTreeMap::new();
        self.each_face(mac, |axis, face, value| {
            if *value != 0.0 {
                faces.insert((axis, face.to_array()), f64::from(*value));
            }
        });
        faces
    }

    /// What the particles hold now, by id; places [m] from the origin.
    fn points(&self) -> Vec<Point> {
        let places = self.particles.world_positions().unwrap();
        let velocity = self.particles.column(self.velocity).unwrap();
        let affine = self.particles.column(self.affine).unwrap();
        let mass = self.particles.column(self.mass).unwrap();
        let ids = self.particles.column(self.particles.id()).unwrap();
        let mut points = BTreeMap::new();
        let mut places = places.into_iter();
        for slot in 0..self.particles.topology().local() as u32 {
            for (n, id) in ids.chunk(slot).iter().enumerate() {
                let point = Point {
                    place: places.next().unwrap() - self.domain.frame().origin(),
                    velocity: velocity.chunk(slot)[n],
                    affine: affine.chunk(slot)[n],
                    mass: mass.chunk(slot)[n],
                };
                points.insert(*id, point);
            }
        }
        points.into_values().collect()
    }

    /// All bytes that the transfers write.
    fn bits(&self) -> Vec<u32> {
        let mut bits = Vec::new();
        self.each_face(self.momentum, |_, _, value| bits.push(value.to_bits()));
        self.each_face(self.weight, |_, _, value| bits.push(value.to_bits()));
        for point in self.points() {
            bits.extend(point.velocity.to_array().map(f32::to_bits));
            bits.extend(point.affine.to_cols_array().map(f32::to_bits));
        }
        bits
    }
}

/// The faces that a particle meets: axis, face, weight, and way from the particle to the face [m].
fn naive_stencil(
    scene: &Scene,
    place: DVec3,
    axis: usize,
    kernel: Kernel,
) -> Vec<(IVec3, f64, DVec3)> {
    let near = (place / scene.voxel()).floor().as_ivec3();
    let weight = |x: f64| match kernel {
        Kernel::Linear => (1.0 - x.abs()).max(0.0),
        Kernel::Quadratic if x.abs() < 0.5 => 0.75 - x * x,
        Kernel::Quadratic => 0.5 * (1.5 - x.abs()).max(0.0).powi(2),
    };
    let mut faces = Vec::new();
    for x in -2..=2 {
        for y in -2..=2 {
            for z in -2..=2 {
                let face = near + IVec3::new(x, y, z);
                let way = scene.face(axis, face) - place;
                let weight: f64 = (way / scene.voxel()).to_array().map(weight).iter().product();
                if weight > 0.0 {
                    faces.push((face, weight, way));
                }
            }
        }
    }
    faces
}

/// Momentum and mass by face.
type Faces = BTreeMap<(usize, [i32; 3]), (f64, f64)>;

fn naive_to_grid(scene: &Scene, points: &[Point], kernel: Kernel) -> Faces {
    let mut faces = Faces::new();
    for point in points {
        let (v, c, m) = (point.velocity.as_dvec3(), point.affine.as_dmat3(), f64::from(point.mass));
        for axis in 0..3 {
            for (face, weight, way) in naive_stencil(scene, point.place, axis, kernel) {
                let sums = faces.entry((axis, face.to_array())).or_default();
                sums.0 += weight * m * (v[axis] + c.row(axis).dot(way));
                sums.1 += weight * m;
            }
        }
    }
    faces
}

fn assert_near(found: f64, expected: f64, tolerance: f64, what: &str) {
    assert!(
        (found - expected).abs() <= tolerance,
        "{what}: found {found}, expected {expected} ± {tolerance}"
    );
}

fn assert_grid_is(scene: &Scene, expected: &Faces, what: &str) {
    let (momentum, weight) = (scene.faces(scene.momentum), scene.faces(scene.weight));
    let largest = |values: &mut dyn Iterator<Item = f64>| values.fold(1e-30, f64::max);
    let scale_momentum = largest(&mut expected.values().map(|sums| sums.0.abs()));
    let scale_mass = largest(&mut expected.values().map(|sums| sums.1));
    let keys = expected.keys().chain(momentum.keys()).chain(weight.keys());
    for key in keys {
        let (mv, m) = expected.get(key).copied().unwrap_or_default();
        let of = |faces: &BTreeMap<_, f64>| faces.get(key).copied().unwrap_or_default();
        assert_near(of(&momentum), mv, 1e-5 * scale_momentum, &format!("{what}: momentum {key:?}"));
        assert_near(of(&weight), m, 1e-5 * scale_mass, &format!("{what}: mass {key:?}"));
    }
}

fn vector(range: std::ops::Range<f32>) -> impl Strategy<Value = Vec3> {
    prop::array::uniform3(range).prop_map(Vec3::from_array)
}

/// Anywhere in a few Buckets around the origin, often on a border between voxels or Buckets.
fn place() -> impl Strategy<Value = DVec3> {
    let coordinate = prop_oneof![
        3 => -1.6..1.6_f64,
        1 => (-12..=12).prop_map(|n| f64::from(n) * VOXEL),
        1 => (-24..=24).prop_map(|n| f64::from(n) * VOXEL / 2.0),
    ];
    prop::array::uniform3(coordinate).prop_map(DVec3::from_array)
}

fn points(count: std::ops::Range<usize>) -> impl Strategy<Value = Vec<Point>> {
    let affine = prop::array::uniform9(-2.0..2.0_f32).prop_map(|a| Mat3::from_cols_array(&a));
    let point = (place(), vector(-3.0..3.0), affine, 0.1..2.0_f32)
        .prop_map(|(place, velocity, affine, mass)| Point { place, velocity, affine, mass });
    prop::collection::vec(point, count)
}

fn resolution() -> impl Strategy<Value = Resolution> {
    prop::sample::select(vec![Resolution::R4, Resolution::R8, Resolution::R16])
}

/// Some points that are not random, in several Buckets, at places that `f32` holds exactly.
fn exact_points(count: i32) -> Vec<Point> {
    (0..count)
        .map(|n| {
            let mixed = |k: i32| f64::from((n * k) % 4099) / 1024.0 - 1.5;
            let (a, b, c) = (mixed(257) as f32, mixed(911) as f32, mixed(1777) as f32);
            Point {
                place: DVec3::new(mixed(613), mixed(1319), mixed(2081)),
                velocity: Vec3::new(a, b, c),
                affine: Mat3::from_cols_array(&[a, b, c, c, a, b, b, c, a]),
                mass: 0.5 + a.abs(),
            }
        })
        .collect()
}

fn in_pool<R: Send>(threads: usize, work: impl FnOnce() -> R + Send) -> R {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(work)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn the_grid_gets_what_a_naive_model_says(points in points(0..40), resolution in resolution()) {
        for kernel in KERNELS {
            let scene = Scene::new(DVec3::ZERO, &points, resolution).unwrap();
            scene.to_grid(kernel).unwrap();
            let expected = naive_to_grid(&scene, &scene.points(), kernel);
            assert_grid_is(&scene, &expected, &format!("{kernel:?}"));
        }
    }

    #[test]
    fn mass_and_momentum_on_the_grid_are_those_of_the_particles(
        points in points(1..200),
        resolution in resolution(),
    ) {
        for kernel in KERNELS {
            let scene = Scene::new(DVec3::ZERO, &points, resolution).unwrap();
            scene.to_grid(kernel).unwrap();
            let sum = |mac, axis| {
                let faces = scene.faces(mac);
                faces.iter().filter(|face| face.0.0 == axis).map(|face| face.1).sum::<f64>()
            };
            let mass: f64 = points.iter().map(|point| f64::from(point.mass)).sum();
            for axis in 0..3 {
                assert_near(sum(scene.weight, axis), mass, 1e-5 * mass, "mass");
                let of = |point: &Point| f64::from(point.mass * point.velocity[axis]);
                let momentum: f64 = points.iter().map(of).sum();
                assert_near(sum(scene.momentum, axis), momentum, 3e-5 * mass, "momentum");
            }
        }
    }

    #[test]
    fn an_affine_velocity_on_the_grid_is_what_particles_take(
        points in points(1..60),
        resolution in resolution(),
        at_origin in vector(-2.0..2.0),
        columns in prop::array::uniform9(-2.0..2.0_f32),
    ) {
        let gradient = Mat3::from_cols_array(&columns).as_dmat3();
        let field = |place: DVec3| at_origin.as_dvec3() + gradient * place;
        for kernel in KERNELS {
            let scene = Scene::new(DVec3::ZERO, &points, resolution).unwrap();
            scene.each_face(scene.momentum, |axis, face, value| {
                *value = field(scene.face(axis, face))[axis] as f32;
            });
            scene.take(Method::Apic { affine: scene.affine }, kernel).unwrap();
            for point in scene.points() {
                let error = point.velocity.as_dvec3() - field(point.place);
                assert_near(error.abs().max_element(), 0.0, 1e-5, "velocity");
                let error = point.affine.as_dmat3() - gradient;
                let largest = error.to_cols_array().into_iter().fold(0.0, |a: f64, b| a.max(b.abs()));
                assert_near(largest, 0.0, 2e-4, "gradient");
            }
        }
    }

    /// Jiang et al. 2015, §5.3 and its technical document: both transfers conserve linear and angular
    /// momentum, where a particle's own spin is Σ_a D c_a × e_a, with D = Σ w r rᵀ.
    #[test]
    fn apic_conserves_linear_and_angular_momentum(points in points(1..60)) {
        for kernel in KERNELS {
            let scene = Scene::new(DVec3::ZERO, &points, Resolution::R8).unwrap();
            let of_particles = |points: &[Point]| {
                let (mut linear, mut angular) = (DVec3::ZERO, DVec3::ZERO);
                for point in points {
                    let m = f64::from(point.mass);
                    linear += m * point.velocity.as_dvec3();
                    angular += m * point.place.cross(point.velocity.as_dvec3());
                    for axis in 0..3 {
                        let mut spread = DMat3::ZERO;
                        for (_, weight, r) in naive_stencil(&scene, point.place, axis, kernel) {
                            spread += DMat3::from_cols(r * r.x, r * r.y, r * r.z) * weight;
                        }
                        let c = point.affine.as_dmat3().row(axis);
                        angular += m * (spread * c).cross(DVec3::AXES[axis]);
                    }
                }
                (linear, angular)
            };
            let before = of_particles(&scene.points());
            scene.to_grid(kernel).unwrap();
            let (mut linear, mut angular) = (DVec3::ZERO, DVec3::ZERO);
            for ((axis, face), value) in scene.faces(scene.momentum) {
                let momentum = DVec3::AXES[axis] * value;
                linear += momentum;
                angular += scene.face(axis, IVec3::from_array(face)).cross(momentum);
            }
            scene.to_particles(kernel).unwrap();
            let after = of_particles(&scene.points());
            let tolerance = 2e-5 * points.len() as f64;
            for (found, expected, what) in [
                (linear, before.0, "linear momentum on the grid"),
                (angular, before.1, "angular momentum on the grid"),
                (after.0, before.0, "linear momentum on the particles"),
                (after.1, before.1, "angular momentum on the particles"),
            ] {
                let error = (found - expected).abs().max_element();
                assert_near(error, 0.0, tolerance, &format!("{kernel:?}: {what}"));
            }
        }
    }

    /// Jones, equation 2.20.
    #[test]
    fn flip_adds_the_change_on_the_grid(points in points(1..60), blend in 0.0..=1.0_f32) {
        for kernel in KERNELS {
            let mut scene = Scene::new(DVec3::ZERO, &points, Resolution::R8).unwrap();
            let before = scene.volume.add_mac("before", "m/s", Resolution::R8).unwrap();
            let value = |face: IVec3, k: i32| ((face.dot(IVec3::new(7, 5, 3)) * k) % 17) as f32 / 8.0;
            scene.each_face(before, |axis, face, u| *u = value(face, 1 + axis as i32));
            scene.each_face(scene.momentum, |axis, face, u| *u = value(face, 5 + axis as i32));
            let own = scene.points();
            scene.take(Method::Flip { before, blend }, kernel).unwrap();
            for (own, found) in own.iter().zip(scene.points()) {
                for axis in 0..3 {
                    let (mut pic, mut change) = (0.0, 0.0);
                    for (face, weight, _) in naive_stencil(&scene, own.place, axis, kernel) {
                        let (new, old) = (value(face, 5 + axis as i32), value(face, 1 + axis as i32));
                        pic += weight * f64::from(new);
                        change += weight * f64::from(new - old);
                    }
                    let (blend, v) = (f64::from(blend), f64::from(own.velocity[axis]));
                    let expected = (1.0 - blend) * pic + blend * (v + change);
                    assert_near(f64::from(found.velocity[axis]), expected, 1e-5, "velocity");
                }
                prop_assert_eq!(found.affine, own.affine);
            }
        }
    }
}

#[test]
fn particles_on_the_very_borders_of_buckets_lose_nothing() {
    // The largest offset below the width of a Bucket, at which a product may round up to the width.
    for voxel in [VOXEL, 0.1, 0.013, 1.0 / 3.0] {
        for resolution in [Resolution::R4, Resolution::R8, Resolution::R16] {
            let mut scene = Scene::new(DVec3::ZERO, &[], resolution).unwrap();
            scene.domain = GridDomain::new("liquid", Frame::new(DVec3::ZERO, voxel).unwrap());
            let below = ((8.0 * voxel) as f32).next_down();
            let mut particles = ParticleSystem::new("water", &scene.domain).unwrap();
            let velocity = particles.add_channel(&ChannelSpec::new("velocity", Vec3::X)).unwrap();
            let mut batch = particles.batch(&[DVec3::ZERO; 8]).unwrap();
            for (n, offset) in batch.offsets_mut().iter_mut().enumerate() {
                let side = |bit: usize| if n >> bit & 1 == 1 { below } else { 0.0 };
                *offset = Vec3::new(side(0), side(1), side(2));
            }
            particles.append(&scene.domain, batch).unwrap();
            scene.domain.set_buckets(&particles.topology().all().dilate(1).unwrap()).unwrap();
            let mut volume = DiscreteVolume::new("grid", &scene.domain);
            let momentum = volume.add_mac("momentum", "kg m/s", resolution).unwrap();
            let weight = volume.add_mac("weight", "kg", resolution).unwrap();
            let carried = Carried { velocity, affine: None, mass: Mass::Same(0.5) };
            for kernel in KERNELS {
                for face in momentum.faces.into_iter().chain(weight.faces) {
                    volume.column_mut(face).unwrap().fill(0.0);
                }
                particles_to_mac(
                    &scene.domain,
                    &particles,
                    carried,
                    &volume,
                    momentum,
                    weight,
                    kernel,
                )
                .unwrap();
                for face in [momentum.faces[0], weight.faces[0], weight.faces[1], weight.faces[2]] {
                    let column = volume.column(face).unwrap();
                    let chunks =
                        (0..volume.topology().local() as u32).map(|slot| column.chunk(slot));
                    let sum: f64 = chunks.flatten().map(|&value| f64::from(value)).sum();
                    assert_near(sum, 4.0, 1e-5, "mass and momentum");
                }
                momentum_to_velocity(&scene.domain, &volume, momentum, weight).unwrap();
                mac_to_particles(
                    &scene.domain,
                    &volume,
                    momentum,
                    &particles,
                    velocity,
                    Method::Pic,
                    kernel,
                )
                .unwrap();
                let velocity = particles.column(velocity).unwrap();
                for velocity in
                    (0..particles.topology().local() as u32).flat_map(|s| velocity.chunk(s))
                {
                    assert!((*velocity - Vec3::X).abs().max_element() < 1e-5, "{velocity}");
                }
            }
        }
    }
}

#[test]
fn the_same_mass_for_all_is_as_a_channel_of_it() {
    let mut points = exact_points(500);
    points.iter_mut().for_each(|point| point.mass = 0.75);
    for kernel in KERNELS {
        let by_channel = Scene::new(DVec3::ZERO, &points, Resolution::R8).unwrap();
        by_channel.to_grid(kernel).unwrap();
        let same = Scene::new(DVec3::ZERO, &points, Resolution::R8).unwrap();
        let carried = Carried { mass: Mass::Same(0.75), ..same.carried() };
        let Scene { domain, particles, volume, momentum, weight, .. } = &same;
        particles_to_mac(domain, particles, carried, volume, *momentum, *weight, kernel).unwrap();
        assert!(same.bits() == by_channel.bits());
    }
}

#[test]
fn results_are_the_same_bytes_for_any_number_of_threads_and_far_from_the_origin() {
    let points = exact_points(4000);
    for kernel in KERNELS {
        let run = |origin: DVec3, threads: usize| {
            in_pool(threads, || {
                let scene = Scene::new(origin, &points, Resolution::R8).unwrap();
                scene.to_grid(kernel).unwrap();
                scene.to_particles(kernel).unwrap();
                scene.bits()
            })
        };
        let expected = run(DVec3::ZERO, 1);
        for threads in [2, 3, 7] {
            assert!(run(DVec3::ZERO, threads) == expected, "{threads} threads, {kernel:?}");
        }
        assert!(run(DVec3::splat(10_000.0), 2) == expected, "10 km away, {kernel:?}");
    }
}

#[test]
fn without_particles_nothing_happens() {
    let scene = Scene::new(DVec3::ZERO, &[], Resolution::R8).unwrap();
    scene.to_grid(Kernel::Quadratic).unwrap();
    scene.to_particles(Kernel::Quadratic).unwrap();
    assert!(scene.bits().is_empty());
}

#[test]
fn faces_without_mass_have_no_velocity() {
    let scene = Scene::new(DVec3::ZERO, &exact_points(1), Resolution::R8).unwrap();
    scene.each_face(scene.momentum, |_, _, value| *value = 5.0);
    momentum_to_velocity(&scene.domain, &scene.volume, scene.momentum, scene.weight).unwrap();
    assert!(scene.faces(scene.momentum).is_empty());
}

#[test]
fn a_volume_without_a_bucket_of_the_particles_is_an_error_that_names_it() {
    let mut scene = Scene::new(DVec3::ZERO, &exact_points(300), Resolution::R8).unwrap();
    let missing = Bucket::new(1, -1, 0);
    assert!(scene.particles.topology().slot(missing).is_some());
    let fewer = BucketSet::from_buckets([missing]).unwrap();
    scene.domain.remove(&fewer).unwrap();
    scene.volume.follow(scene.domain.topology()).unwrap();
    let before = scene.bits();
    for result in [scene.to_grid(Kernel::Quadratic), scene.take(Method::Pic, Kernel::Linear)] {
        let error = result.unwrap_err();
        assert!(matches!(error, CoreError::BadAccess { .. }), "{error}");
        assert!(error.to_string().contains("IVec3(1, -1, 0)"), "{error}");
    }
    assert!(scene.bits() == before, "a transfer that fails changes nothing");
}

#[test]
fn a_particle_outside_of_its_bucket_is_an_error_that_names_it() {
    for bad in [f32::NAN, f32::INFINITY, -1e-3, 8.0 * VOXEL as f32] {
        let scene = Scene::new(DVec3::ZERO, &exact_points(300), Resolution::R8).unwrap();
        let position = scene.particles.position();
        let id = scene.particles.column(scene.particles.id()).unwrap().chunk(3)[1];
        scene.particles.column_mut(position).unwrap().chunk_mut(3)[1].y = bad;
        let before = scene.bits();
        for result in [scene.to_grid(Kernel::Quadratic), scene.take(Method::Pic, Kernel::Linear)] {
            let message = result.unwrap_err().to_string();
            assert!(message.contains(&format!("particle {id} of water")), "{message}");
            assert!(message.contains("rebucketize first"), "{message}");
        }
        assert!(scene.bits() == before, "a transfer that fails changes nothing");
    }
}

#[test]
fn channels_that_are_no_mac_grid_and_bad_blends_are_refused() {
    let mut scene = Scene::new(DVec3::ZERO, &exact_points(10), Resolution::R8).unwrap();
    let momentum = scene.momentum;
    let [x, y, z] = momentum.faces;
    scene.momentum = MacHandle { faces: [y, x, z] };
    let message = scene.to_grid(Kernel::Quadratic).unwrap_err().to_string();
    assert!(message.contains("on the faces across its axis"), "{message}");

    let coarse = scene.volume.add_mac("coarse", "m/s", Resolution::R4).unwrap();
    scene.momentum = momentum;
    let blend = 0.5;
    let message = scene.take(Method::Flip { before: coarse, blend }, Kernel::Linear).unwrap_err();
    assert!(message.to_string().contains("at the same resolution"), "{message}");

    let tiny = scene.volume.add_mac("tiny", "m/s", Resolution::R2).unwrap();
    scene.momentum = tiny;
    let message = scene.take(Method::Pic, Kernel::Linear).unwrap_err().to_string();
    assert!(message.contains("4, 8 or 16"), "{message}");

    scene.momentum = momentum;
    for blend in [-0.1, 1.1, f32::NAN] {
        let flip = Method::Flip { before: momentum, blend };
        let message = scene.take(flip, Kernel::Linear).unwrap_err().to_string();
        assert!(message.contains("between 0 (PIC) and 1 (FLIP)"), "{message}");
    }
}
