//! How fast warm air sets off.
//!
//! By Boussinesq's approximation air of temperature T in a ball of radius R is pushed up by f = (1 − T₀/T) g and has the inertia of what
//! surrounds it. The pressure is the largest there is: of all p that vanish at the open edge it makes ∫|f − ∇p|² least. Around a ball in air
//! without end ∇p is f/3 within and a dipole without, so that the ball sets off with ⅔ f: half of what it displaces is its added mass.
//!
//! An open edge, p = 0, leaves less room for the dipole. With a sphere of radius L for an edge, ∇p within is f/3 (1 − (R/L)³), and the
//! ball sets off with
//!
//! a(L) = (⅔ + ⅓ (R/L)³) f.
//!
//! In a box the mean acceleration, weighed by the force, lies between those of the spheres around it and in it: what it is follows from the
//! least value above, and fewer p are to be had in a smaller room.
//!
//! On the grid the wave f̂(k) of the force has its share 1 − s_y²/|s|² left, s = 2/Δx sin(½kΔx). All three axes share |s|², and a ball on a
//! corner of the grid has the symmetry of a cube, so that the mean of s_y²/|s|² over its waves is ⅓ on a grid as it is without one, but for
//! the mean that brings the weight of cells to faces: it leaves cos²(½k_yΔx) of the waves along y. To first order the share that is left is
//! then larger by
//!
//! ε = ⟨s_y²/|s|²⟩ − ⟨cos² s_y²/|s|²⟩/⟨cos²⟩ = O(k²Δx²)(⟨n_y⁴⟩ − ⟨n_y²⟩²)/4 = k²Δx² (1/5 − 1/9)/4 ≈ 0.022 k²Δx²,
//!
//! which waves of |k|Δx up to π could make 0.1 at the most. The edge of the ball makes waves of |f̂|²k² ~ 1/k²: a share of about 1/(kR) is in
//! those beyond k. Together these are ∫ 0.022 k²Δx²/(k²R) dk up to k = π/Δx: 0.07 Δx/R.

use crate::scene::{Look, Scene, air, ball, cuboid, fixed, frames, stamp};
use undine_core::glam::DVec3;
use undine_fluid::pressure;
use undine_schema::setup::Behavior;
use undine_sim::Simulation;

const AMBIENT: f64 = 293.15;
const WARM: f64 = 350.0;
const GRAVITY: f64 = 9.80665;
/// Radius of the ball, size of cells, and half the width of the room [m].
const RADIUS: f64 = 0.16;
const VOXEL: f64 = 0.02;
const ROOM: f64 = 0.64;
/// A step so short that nothing is carried anywhere [s]: by ½at² at the most, 1e-8 m.
const STEP: f64 = 1e-4;

/// A warm ball in the middle of air, after a first step.
fn ball_of(temperature: f64, under_pressure: bool, fine: bool) -> Simulation {
    let room = cuboid(DVec3::splat(-ROOM + 0.01), DVec3::splat(ROOM - 0.01));
    let mut scene = Scene::default()
        .with_input("ball", ball(DVec3::ZERO, RADIUS))
        .with_input("room", room)
        .with(
            air(VOXEL)
                .set("input", "room")
                .set("within", "room")
                .set("padding", 0_i64)
                .set("ambient", AMBIENT)
                .set("fine-smoke", fine),
        )
        .with(stamp("ball").set("density", 0.0).set("temperature", temperature))
        .under_gravity();
    if under_pressure {
        scene = scene.with(Behavior::new(&pressure::DECLARATION).set("tolerance", 1e-7));
    }
    let mut simulation = scene.simulation(fixed(1.0 / STEP, 1));
    frames(&mut simulation, 1);
    simulation
}

/// The acceleration [m/s²] of faces along y.
fn accelerations(simulation: &Simulation) -> Vec<f64> {
    let look = Look::at(simulation);
    let column = look.volume.column(look.field.velocity.faces[1]).unwrap();
    let buckets = 0..look.volume.topology().local() as u32;
    buckets.flat_map(|slot| column.chunk(slot).to_vec()).map(|u| f64::from(u) / STEP).collect()
}

/// Σ f·a / Σ f·f, and the greatest f [m/s²].
fn set_off(temperature: f64, fine: bool) -> (f64, f64) {
    let pushed = accelerations(&ball_of(temperature, false, fine));
    let free = accelerations(&ball_of(temperature, true, fine));
    assert_eq!(pushed.len(), free.len());
    let (mut done, mut all) = (0.0, 0.0);
    for (f, a) in pushed.iter().zip(&free) {
        done += f * a;
        all += f * f;
    }
    let most = pushed.iter().fold(0.0_f64, |most, f| if f.abs() > most.abs() { *f } else { most });
    (done / all, most)
}

#[test]
fn a_warm_ball_sets_off_with_two_thirds_of_its_lift() {
    for (temperature, fine) in [(WARM, false), (WARM, true), (250.0, false)] {
        let (share, most) = set_off(temperature, fine);
        // The lift itself, by the gas law: up where it is warm, down where it is cold. Weights are f32.
        let lift = (1.0 - AMBIENT / temperature) * GRAVITY;
        assert!((most / lift - 1.0).abs() < 1e-5, "{most} m/s², wanted {lift}");
        // The outermost cells have no pressure of their own, and it vanishes in their middle.
        let edge = ROOM - 0.5 * VOXEL;
        let at = |edge: f64| 2.0 / 3.0 + (RADIUS / edge).powi(3) / 3.0;
        let (least, greatest) = (at(edge * 3.0_f64.sqrt()), at(edge));
        let grid = 0.07 * VOXEL / RADIUS;
        println!("{share} of its lift, between {least} and {greatest}, and up to {grid} more");
        assert!(share > least && share < greatest + grid, "{share} of its lift");
    }
}
