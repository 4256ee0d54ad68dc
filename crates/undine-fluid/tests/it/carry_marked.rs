//! Velocities that carry themselves along where it is wanted.

use crate::basin::Basin;
use std::f64::consts::TAU;
use undine_core::glam::DVec3;
use undine_fluid::carry::{Cargo, Flow, Scheme, Traces};

const VOXEL: f64 = 1.0 / 32.0;
/// How fast all of it goes along x [m/s].
const SPEED: f64 = 0.7;

/// How high the wave is [m/s]: less than the speed, so that no way leads out of the basin across it.
const HIGH: f64 = 0.5;

/// A wave of velocities across the flow that goes by at the flow's speed: u = (c, a sin 2π(x − ct), 0).
fn wave(axis: usize, at: DVec3, time: f64) -> f64 {
    [SPEED, HIGH * (TAU * (at.x - SPEED * time)).sin(), 0.0][axis]
}

/// The middle of a face [m].
fn middle(axis: usize, at: [i32; 3]) -> DVec3 {
    let [x, y, z] = at.map(f64::from);
    VOXEL * (DVec3::new(x, y, z) + 0.5 - 0.5 * DVec3::AXES[axis])
}

/// The root of the mean square of errors after a step of so many voxels in the marked middle, without this margin of cells, and how
/// many faces outside of it changed.
fn step(scheme: Scheme, voxels: f64, margin: i32) -> (f64, usize) {
    let basin = Basin::new(VOXEL, [0, 0, 0], [4, 4, 4]);
    basin.pour(|at: DVec3| (at - 0.5).abs().max_element() - 0.25);
    let velocity = basin.field.velocity;
    basin.fill_mac(velocity, |axis, at| wave(axis, at, 0.0));
    let time = voxels * VOXEL / SPEED;
    let (domain, volume, traces) = (&basin.domain, basin.volume(), Traces::Rk2);
    let only = Some((volume, basin.field.cells.words));
    let flow = Flow { domain, volume, velocity, step: time, traces, scheme, only };
    flow.carry(&Cargo { velocity: Some(velocity), cells: &[] }).unwrap();
    let (mut squares, mut count, mut changed) = (0.0, 0.0, 0);
    for axis in 0..3 {
        for n in 0..32_i32.pow(3) {
            let at = [n >> 10, n >> 5 & 31, n & 31];
            let found = basin.face(velocity, axis, at);
            let is_within = |margin: i32| {
                (0..3).all(|along| {
                    let last = 24 + i32::from(along == axis);
                    (8 + margin..last - margin).contains(&at[along])
                })
            };
            let place = middle(axis, at);
            if is_within(margin) {
                squares += (found - wave(axis, place, time)).powi(2);
                count += 1.0;
            } else if !is_within(0) {
                changed += usize::from(found as f32 != wave(axis, place, 0.0) as f32);
            }
        }
    }
    ((squares / f64::max(count, 1.0)).sqrt(), changed)
}

#[test]
fn a_wave_goes_with_the_flow_however_long_the_step() {
    // Linear interpolation between samples h apart is off by f(1 − f)/2 (kh)² at the most.
    let bound = 0.125 * HIGH * (TAU * VOXEL).powi(2);
    for voxels in [0.0, 0.4, 1.0, 2.5, 6.3] {
        for scheme in [Scheme::SemiLagrangian, Scheme::MacCormack, Scheme::Bfecc] {
            let (error, changed) = step(scheme, voxels, 0);
            assert!(error < bound, "{scheme:?} {voxels}: {error}");
            assert_eq!(changed, 0, "{scheme:?} {voxels}");
        }
    }
}

#[test]
fn the_correction_is_of_a_higher_order() {
    // At the border of what is carried there is nothing to compare with, and no correction.
    let [first, maccormack, bfecc] = [Scheme::SemiLagrangian, Scheme::MacCormack, Scheme::Bfecc]
        .map(|scheme| step(scheme, 0.4, 2).0);
    assert!(maccormack < 0.5 * first, "{maccormack} {first}");
    assert!(bfecc < 0.5 * first, "{bfecc} {first}");
}
