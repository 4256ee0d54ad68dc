//! What a stamp gives to the velocity of air.

use crate::scene::{Look, Scene, air, ball, data, fixed, frames, stamp};
use std::sync::{Arc, Mutex};
use undine_core::glam::{DQuat, DVec3};
use undine_geometry::{Motion, Pose, Twist};
use undine_sim::{Moment, Stage, World};

const VOXEL: f64 = 0.05;
const RADIUS: f64 = 0.4;
/// Where the ball is in its input; the input turns about its origin.
const OFFSET: DVec3 = DVec3::new(0.3, -0.1, 0.2);

/// The velocity through a face.
#[derive(Clone, Copy)]
struct Through {
    /// Its middle [m].
    at: DVec3,
    /// The axis that it is across.
    axis: usize,
    /// How fast [m/s].
    speed: f64,
}

/// When each of two substeps ends [s], which is when a stamp takes its input of; and what is at all faces when its velocity [m/s] has just been stamped.
fn stamped(motion: &Motion, velocity: DVec3, inherit: f64) -> Vec<(f64, Vec<Through>)> {
    let mut input = data(ball(OFFSET, RADIUS));
    input.motion = Some(motion.clone());
    let mut simulation = Scene::default()
        .with_data("ball", input)
        .with(air(VOXEL))
        .with(stamp("ball").set("velocity", velocity.to_array()).set("inherit", inherit))
        .simulation(fixed(24.0, 2));
    let found = Arc::new(Mutex::new(Vec::new()));
    let seen = found.clone();
    let look = move |world: &mut World, now: &Moment| {
        let look = Look::within(world);
        let frame = look.domain.frame();
        let mut all = Vec::new();
        for axis in 0..3 {
            let velocity = look.volume.column(look.field.velocity.faces[axis])?;
            for (slot, bucket) in look.volume.topology().buckets().iter().enumerate() {
                for (n, u) in velocity.chunk(slot as u32).iter().enumerate() {
                    let cell = DVec3::new((n >> 6) as f64, (n >> 3 & 7) as f64, (n & 7) as f64);
                    let place = cell + 0.5 - 0.5 * DVec3::AXES[axis];
                    let at = frame.corner(*bucket) + VOXEL * place;
                    all.push(Through { at, axis, speed: f64::from(*u) });
                }
            }
        }
        seen.lock().unwrap().push((now.time + now.step, all));
        Ok(())
    };
    simulation.add_kernel(Stage::BeginIteration, "look at what was stamped", look).unwrap();
    frames(&mut simulation, 1);
    std::mem::take(&mut *found.lock().unwrap())
}

/// A ball that flies and spins about a place beside it gives air v + inherit (V + ω × r), to single precision: to each face that it covers whole, in the
/// first substep and in the second, when it is elsewhere. Of a face that it covers in part it is that part, where air was at rest before.
#[test]
fn air_in_a_stamp_has_its_velocity_and_what_it_inherits() {
    let velocity = DVec3::new(0.5, -2.0, 1.0);
    let twist = Twist { linear: DVec3::new(1.5, 0.25, -0.5), angular: DVec3::new(2.0, -3.0, 5.0) };
    let pose =
        Pose { translation: DVec3::new(0.1, 0.2, -0.3), rotation: DQuat::from_rotation_y(0.4) };
    let motion = Motion::steady(pose, twist).unwrap();
    for inherit in [0.0, 1.0, -0.5] {
        let looks = stamped(&motion, velocity, inherit);
        assert_eq!(looks.len(), 2);
        assert!(looks[1].0 > looks[0].0);
        for (substep, (time, faces)) in looks.into_iter().enumerate() {
            let pose = motion.pose(time);
            let middle = pose.translation + pose.rotation * OFFSET;
            let (mut inside, mut fastest) = (0, 0.0_f64);
            let mut most = 0.0_f64;
            for Through { at, axis, speed } in faces {
                let carried = twist.linear + twist.angular.cross(at - pose.translation);
                let wanted = (velocity + inherit * carried)[axis];
                let covered = (0.5 - (at.distance(middle) - RADIUS) / VOXEL).clamp(0.0, 1.0);
                if covered == 1.0 {
                    inside += 1;
                    fastest = fastest.max(wanted.abs());
                }
                if covered == 1.0 || substep == 0 {
                    most = most.max((speed - covered * wanted).abs());
                }
            }
            println!(
                "{inherit}, substep {substep}: {inside} faces, off by {most} of {fastest} m/s"
            );
            assert!(most < 1e-6 * fastest, "{inherit}: off by {most} of {fastest} m/s");
            // As many as there is room for, on three sorts of faces.
            let room = 4.0 * std::f64::consts::PI * ((RADIUS - 0.5 * VOXEL) / VOXEL).powi(3);
            assert!((f64::from(inside) / room - 1.0).abs() < 0.05, "{inside} {room}");
        }
    }
}
