//! Colliders as walls: what they leave open, how they move, and that nothing gets through.

use crate::swarm::{Scene, moved, particles, run, shape, sheet, volume};
use std::f64::consts::PI;
use undine_core::glam::{DQuat, DVec3};
use undine_core::{DiscreteVolume, Handle};
use undine_geometry::motion::{Interpolation, Key, Motion};
use undine_geometry::pose::{Pose, Twist};
use undine_geometry::random::unit;
use undine_geometry::shape::Shape;
use undine_geometry::solid::Solid;

const FRAME: f64 = 1.0 / 24.0;

/// Particles at rest in every Bucket of a box [m], away from its middle.
fn still(low: f64, high: f64, voxel: f64) -> Vec<(DVec3, DVec3)> {
    let bucket = 8.0 * voxel;
    let count = ((high - low) / bucket).round() as i32;
    let along = |n: i32| low + bucket * (f64::from(n) + 0.5);
    (0..count.pow(3))
        .map(|n| {
            let place = [n / count / count, n / count % count, n % count].map(along);
            (DVec3::from(place), DVec3::ZERO)
        })
        .collect()
}

/// Random particles in a box [m], with random velocities up to a speed [m/s].
fn crowd(count: u64, low: DVec3, high: DVec3, speed: f64) -> Vec<(DVec3, DVec3)> {
    let three = |n: u64, seed| DVec3::from([0, 1, 2].map(|k| unit(seed, 3 * n + k)));
    let one = |n| (low + (high - low) * three(n, 1), speed * (2.0 * three(n, 2) - 1.0));
    (0..count).map(one).collect()
}

fn values(volume: &DiscreteVolume, handle: Handle<f32>) -> Vec<f32> {
    let column = volume.column(handle).unwrap();
    (0..volume.topology().local() as u32).flat_map(|slot| column.chunk(slot).to_vec()).collect()
}

/// Every channel of walls.
fn all(volume: &DiscreteVolume) -> Vec<Vec<f32>> {
    let numbers = ["open-volume", "wall-distance"].map(|name| volume.handle(name).unwrap());
    let faces = ["open", "wall-v"].map(|name| volume.mac(name).unwrap().faces);
    let handles = numbers.into_iter().chain(faces.into_iter().flatten());
    handles.map(|handle| values(volume, handle)).collect()
}

fn bits(channels: &[Vec<f32>]) -> Vec<Vec<u32>> {
    channels.iter().map(|channel| channel.iter().map(|value| value.to_bits()).collect()).collect()
}

/// The centres of cells (axis 3) or of faces, with the values there.
fn with_places(volume: &DiscreteVolume, handle: Handle<f32>, axis: usize) -> Vec<(DVec3, f32)> {
    let column = volume.column(handle).unwrap();
    let frame = volume.topology().frame();
    let mut middle = DVec3::splat(0.5);
    if axis < 3 {
        middle[axis] = 0.0;
    }
    let mut all = Vec::new();
    for slot in 0..volume.topology().local() as u32 {
        let corner = frame.corner(volume.topology().bucket(slot));
        for (n, value) in column.chunk(slot).iter().enumerate() {
            let cell = DVec3::new((n >> 6) as f64, (n >> 3 & 7) as f64, (n & 7) as f64);
            all.push((corner + (cell + middle) * frame.voxel_size(0), *value));
        }
    }
    all
}

/// The closed volume is that of the ball, summed over cells and over the faces across each axis: 4/3 π r³, with an error of
/// second order in the voxel.
#[test]
fn cells_and_faces_lose_what_a_ball_takes() {
    let (voxel, radius) = (0.05, 0.31);
    let ball = shape(Shape::sphere(radius).unwrap());
    let mut simulation = Scene::new(voxel, &still(-0.8, 0.8, voxel)).collider(ball).start(1);
    run(&mut simulation, 1);
    let volume = volume(&simulation);
    let expected = 4.0 / 3.0 * PI * radius.powi(3);
    let faces = volume.mac("open").unwrap().faces;
    for handle in faces.into_iter().chain([volume.handle("open-volume").unwrap()]) {
        let open = values(volume, handle);
        assert!(open.iter().all(|open| (0.0..=1.0).contains(open)));
        let closed: f64 = open.iter().map(|open| 1.0 - f64::from(*open)).sum();
        let found = closed * voxel.powi(3);
        assert!((found / expected - 1.0).abs() < 2.0 * (voxel / radius).powi(2), "{found} m³");
    }
    for (at, distance) in with_places(volume, volume.handle("wall-distance").unwrap(), 3) {
        let expected = (at.length() - radius).min(8.0 * voxel);
        assert!((f64::from(distance) - expected).abs() < 1e-6, "{distance} at {at}");
    }
}

#[test]
fn several_colliders_are_cut_like_one_solid() {
    let voxel = 0.1;
    let one = || Shape::cuboid(DVec3::new(0.33, 0.41, 0.27)).unwrap();
    let pose = Pose { rotation: DQuat::from_rotation_z(0.4), translation: DVec3::splat(0.35) };
    let other = || Shape::sphere(0.4).unwrap().moved(&pose).unwrap();
    let swarm = still(-1.6, 1.6, voxel);
    let mut apart =
        Scene::new(voxel, &swarm).collider(shape(one())).collider(shape(other())).start(1);
    let union = Shape::union(vec![one(), other()], 0.0).unwrap();
    let mut together = Scene::new(voxel, &swarm).collider(shape(union)).start(1);
    run(&mut apart, 1);
    run(&mut together, 1);
    for (apart, together) in all(volume(&apart)).iter().zip(all(volume(&together))) {
        for (a, b) in apart.iter().zip(together) {
            assert!((a - b).abs() < 1e-5, "{a} and {b}");
        }
    }
}

/// What a collider that has come to rest leaves open does not depend on its way there, nor on when a Bucket came.
#[test]
fn what_rests_is_cut_as_if_it_had_always_been_there() {
    let voxel = 0.1;
    let key = |time: f64, x: f64, angle: f64| Key {
        time,
        pose: Pose {
            rotation: DQuat::from_rotation_z(angle),
            translation: DVec3::new(x, 0.1, 0.0),
        },
    };
    let paddle = || shape(Shape::cuboid(DVec3::new(0.06, 0.5, 0.5)).unwrap());
    let keys = vec![key(0.0, -0.7, 0.1), key(3.0 * FRAME, -0.4, 0.5)];
    let keyed = moved(paddle(), Motion::keyed(keys, Interpolation::Linear).unwrap());
    let rests = moved(paddle(), Motion::still(key(0.0, -0.4, 0.5).pose).unwrap());
    let floor = || shape(Shape::half_space(DVec3::Y, -1.0).unwrap());
    // One flies, and brings new Buckets all the time.
    let mut swarm = still(-0.8, 0.8, voxel);
    swarm.push((DVec3::new(1.0, 0.5, 0.5), DVec3::new(9.0, 0.0, 0.0)));
    let start = |wall| Scene::new(voxel, &swarm).collider(wall).collider(floor()).start(2);
    let [mut moving, mut still] = [start(keyed), start(rests)];
    run(&mut moving, 2);
    let velocity = volume(&moving).mac("wall-v").unwrap();
    assert!(values(volume(&moving), velocity.faces[0]).iter().any(|v| *v > 0.5));
    run(&mut moving, 6);
    run(&mut still, 8);
    // The paddle has pushed particles away; compare the Buckets that both have.
    let (one, other) = (volume(&moving), volume(&still));
    let both: Vec<_> = one
        .topology()
        .buckets()
        .iter()
        .filter_map(|bucket| Some((one.topology().slot(*bucket)?, other.topology().slot(*bucket)?)))
        .collect();
    assert!(both.len() > 40);
    for name in ["open-volume", "wall-distance", "open.x", "open.y", "open.z", "wall-v.x"] {
        let [a, b] = [one, other].map(|volume| volume.column(volume.handle::<f32>(name).unwrap()));
        let (a, b) = (a.unwrap(), b.unwrap());
        for &(i, j) in &both {
            assert_eq!(a.chunk(i), b.chunk(j), "{name}");
        }
    }
}

/// At a wall, the velocity is that of a rigid body, v + ω × r; away from it, none.
#[test]
fn faces_near_a_moving_wall_know_its_velocity() {
    let voxel = 0.1;
    let twist = Twist { linear: DVec3::new(0.3, 0.0, -0.2), angular: DVec3::new(0.0, 0.0, 1.5) };
    let motion = Motion::steady(Pose::IDENTITY, twist).unwrap();
    let paddle = moved(shape(Shape::cuboid(DVec3::new(0.1, 0.6, 0.3)).unwrap()), motion.clone());
    let mut simulation = Scene::new(voxel, &still(-1.6, 1.6, voxel)).collider(paddle).start(4);
    run(&mut simulation, 1);
    let volume = volume(&simulation);
    let solid = Shape::cuboid(DVec3::new(0.1, 0.6, 0.3)).unwrap();
    let pose = motion.pose(FRAME);
    let mut checked = 0;
    for (axis, face) in volume.mac("wall-v").unwrap().faces.into_iter().enumerate() {
        for (at, found) in with_places(volume, face, axis) {
            let near = solid.nearest(pose.to_local(at));
            let expected = twist.at(pose.rotation * near.point)[axis];
            if near.distance.abs() < 1.9 * voxel {
                assert!((f64::from(found) - expected).abs() < 1e-5, "{found} at {at}");
                checked += 1;
            } else if near.distance > 2.1 * voxel {
                assert_eq!(found, 0.0);
            }
        }
    }
    assert!(checked > 500);
}

/// A sheet without thickness, anywhere in a cell and across the grid or aslant.
#[test]
fn no_particle_and_no_face_leads_through_a_sheet() {
    let voxel = 0.1;
    for normal in [DVec3::X, DVec3::new(0.2, 1.0, 0.1), DVec3::new(1.0, 1.0, 1.0)] {
        let normal = normal.normalize();
        let at = 0.013 * normal;
        let side = |place: DVec3| (place - at).dot(normal) > 0.0;
        let swarm = crowd(400, DVec3::splat(-0.9), DVec3::splat(0.9), 30.0);
        let mut simulation = Scene::new(voxel, &swarm).collider(sheet(at, normal, 12.0)).start(1);
        run(&mut simulation, 1);
        let volume = volume(&simulation);
        for (axis, face) in volume.mac("open").unwrap().faces.into_iter().enumerate() {
            for (place, open) in with_places(volume, face, axis) {
                let half = 0.5 * voxel * DVec3::AXES[axis];
                if side(place - half) != side(place + half) {
                    assert_eq!(open, 0.0, "{place} is open across {normal}");
                }
            }
        }
        run(&mut simulation, 4);
        let after = particles(&simulation);
        assert_eq!(after.len(), swarm.len());
        for ((before, _), (after, _)) in swarm.iter().zip(after) {
            assert_eq!(side(*before), side(after), "{before} to {after}");
        }
    }
}

/// In free flight nothing is touched, not by a bit; what meets a wall keeps what is along it, and stops across it.
#[test]
fn what_meets_a_wall_slides_along_it_and_what_does_not_goes_on() {
    let voxel = 0.1;
    let floor = || shape(Shape::half_space(DVec3::Y, 0.0).unwrap());
    let (start, v) = (DVec3::new(0.0, 0.33, 0.0), DVec3::new(3.0, -4.0, 1.0));
    let along = Scene::new(voxel, &[(start, v)]).collider(floor()).after(6, 2)[0];
    assert!((along.1 - DVec3::new(3.0, 0.0, 1.0)).length() < 1e-6, "{}", along.1);
    let time = 6.0 * FRAME;
    assert!((along.0.x - 3.0 * time).abs() < 1e-4 && (along.0.z - time).abs() < 1e-4);
    assert!((0.05..0.15).contains(&(along.0.y / voxel)), "{} m above", along.0.y);

    let free = crowd(300, DVec3::splat(0.9), DVec3::splat(2.5), 2.0);
    let alone = shape(Shape::half_space(DVec3::Y, -50.0).unwrap());
    let near = Scene::new(voxel, &free).collider(floor()).after(4, 2);
    let far = Scene::new(voxel, &free).collider(alone).after(4, 2);
    let mut met = 0;
    for (near, far) in near.iter().zip(far) {
        if near.1 == far.1 {
            assert_eq!(near.0, far.0);
        } else {
            met += 1;
        }
    }
    assert!(met < 30, "{met} of 300 have met the floor");
}

/// Coulomb: what is lost along the wall is μ times what is lost across it, as long as there is so much.
#[test]
fn friction_takes_its_part_of_the_impulse_along_the_wall() {
    let floor = || shape(Shape::half_space(DVec3::Y, 0.0).unwrap());
    let start = (DVec3::new(0.0, 0.1, 0.0), DVec3::new(3.0, -4.0, 0.0));
    for (friction, expected) in [(0.0, 3.0), (0.3, 1.8), (2.0, 0.0)] {
        let scene = Scene::new(0.1, &[start]).friction(friction).collider(floor());
        let (_, v) = scene.after(2, 1)[0];
        assert!((v - DVec3::new(expected, 0.0, 0.0)).length() < 1e-5, "{friction}: {v}");
    }
}

#[test]
fn nothing_gets_out_of_a_room_with_corners_however_fast() {
    let voxel = 0.1;
    let half = DVec3::new(0.55, 0.45, 0.65);
    let room = || Shape::cuboid(half).unwrap().inverted().unwrap();
    let swarm = crowd(500, -0.95 * half, 0.95 * half, 60.0);
    let tilted = Pose { rotation: DQuat::from_rotation_z(0.3), translation: DVec3::ZERO };
    let places = swarm.iter().map(|(at, v)| (tilted.to_world(*at), *v)).collect::<Vec<_>>();
    let wall = shape(room().moved(&tilted).unwrap());
    let after = Scene::new(voxel, &places).collider(wall).after(5, 1);
    assert_eq!(after.len(), swarm.len());
    for (at, v) in after {
        let depth = -room().distance(tilted.to_local(at));
        assert!(depth < -0.04 * voxel, "{at} is {depth} m in the wall");
        assert!(v.is_finite());
    }
}

/// A paddle sweeps up what is in its way, at 8 voxels in a step, and gives it its speed.
#[test]
fn a_moving_paddle_takes_along_what_it_meets() {
    let voxel = 0.05;
    let speed = 10.0;
    let start = Pose::at(DVec3::new(-1.0, 0.0, 0.0));
    let twist = Twist { linear: DVec3::new(speed, 0.0, 0.0), angular: DVec3::ZERO };
    for thickness in [0.005, 0.1] {
        let paddle = Shape::cuboid(DVec3::new(thickness, 2.0, 2.0)).unwrap();
        let paddle = moved(shape(paddle), Motion::steady(start, twist).unwrap());
        let swarm = crowd(300, DVec3::new(-0.7, -0.5, -0.5), DVec3::new(0.4, 0.5, 0.5), 0.5);
        let after = Scene::new(voxel, &swarm).collider(paddle).after(4, 1);
        assert_eq!(after.len(), swarm.len());
        let front = -1.0 + 4.0 * FRAME * speed + thickness;
        for (at, v) in after {
            assert!(at.x > front, "{} m behind the paddle", front - at.x);
            assert!(v.x > speed - 1e-3, "{v}");
        }
    }
}

/// A propeller turns by a third of a turn in a step: nothing is left inside of it, and nothing is lost.
#[test]
fn a_turning_blade_keeps_everything_out() {
    let voxel = 0.1;
    let half = DVec3::new(0.04, 0.8, 0.6);
    let spin = Twist { linear: DVec3::ZERO, angular: DVec3::new(0.0, 0.0, 2.0 / FRAME) };
    let motion = Motion::steady(Pose::IDENTITY, spin).unwrap();
    let blade = moved(shape(Shape::cuboid(half).unwrap()), motion.clone());
    let swarm: Vec<_> = crowd(400, DVec3::splat(-0.7), DVec3::splat(0.7), 1.0)
        .into_iter()
        .filter(|(at, _)| at.x.abs() > 0.1)
        .collect();
    let mut simulation = Scene::new(voxel, &swarm).collider(blade).start(1);
    let solid = Shape::cuboid(half).unwrap();
    for frame in 1..=4 {
        run(&mut simulation, 1);
        let pose = motion.pose(f64::from(frame) * FRAME);
        let after = particles(&simulation);
        assert_eq!(after.len(), swarm.len());
        let inside = after.iter().filter(|(at, _)| solid.distance(pose.to_local(*at)) < 0.0);
        assert_eq!(inside.count(), 0);
    }
}

/// A room that is shaken and turned keeps what is in it; it has no end, so that no box tells where it is not.
#[test]
fn a_shaken_room_keeps_everything_in() {
    let voxel = 0.1;
    let half = DVec3::splat(0.6);
    let twist = Twist { linear: DVec3::new(9.0, 1.0, 0.0), angular: DVec3::new(3.0, 0.0, 5.0) };
    let motion = Motion::steady(Pose::IDENTITY, twist).unwrap();
    let room = Shape::cuboid(half).unwrap().inverted().unwrap();
    let swarm = crowd(400, -0.9 * half, 0.9 * half, 3.0);
    let scene = Scene::new(voxel, &swarm).collider(moved(shape(room.clone()), motion.clone()));
    let after = scene.after(6, 2);
    assert_eq!(after.len(), swarm.len());
    let pose = motion.pose(6.0 * FRAME);
    for (at, _) in after {
        assert!(room.distance(pose.to_local(at)) > 0.0, "{at} is in the wall");
    }
}

/// What is in a wall by a hair is pushed out, deeper it ends, with its mass, which the warning tells: pushed out, it would lie at
/// the wall twice as dense.
#[test]
fn what_begins_in_a_wall_is_pushed_out_or_ends() {
    let voxel = 0.1;
    let floor = shape(Shape::half_space(DVec3::Y, 0.0).unwrap());
    let at = |y: f64| (DVec3::new(0.2, y, 0.3), DVec3::ZERO);
    let mut simulation = Scene::new(voxel, &[at(0.3), at(-0.005), at(-0.3), at(-0.009), at(-0.02)])
        .collider(floor)
        .start(1);
    run(&mut simulation, 1);
    let left: Vec<f64> = particles(&simulation).iter().map(|(at, _)| at.y).collect();
    assert_eq!(left.len(), 3);
    assert!((left[0] - 0.3).abs() < 1e-6);
    assert!(left[1..].iter().all(|y| (0.05..0.15).contains(&(y / voxel))), "{left:?}");
}

#[test]
fn any_number_of_threads_gives_the_same_bytes() {
    let results = [1, 3].map(|threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let voxel = 0.1;
            let spin = Twist { linear: DVec3::X, angular: DVec3::new(0.0, 3.0, 5.0) };
            let motion = Motion::steady(Pose::IDENTITY, spin).unwrap();
            let blade = shape(Shape::cuboid(DVec3::new(0.1, 0.6, 0.5)).unwrap());
            let swarm = crowd(2000, DVec3::splat(-1.0), DVec3::splat(1.0), 9.0);
            let floor = shape(Shape::half_space(DVec3::Y, -0.5).unwrap());
            let scene = Scene::new(voxel, &swarm).collider(moved(blade, motion)).collider(floor);
            let mut simulation = scene.start(2);
            run(&mut simulation, 2);
            let places: Vec<_> = particles(&simulation)
                .iter()
                .map(|(at, v)| [*at, *v].map(|v| v.to_array().map(f64::to_bits)))
                .collect();
            (places, bits(&all(volume(&simulation))))
        })
    });
    assert!(results[0] == results[1]);
}
