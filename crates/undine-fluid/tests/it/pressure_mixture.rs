//! Objects inside of a fluid: their share of it, their mass and their drag in the pressure's equations.
//!
//! In a closed box in which solids and fluid are spread evenly, all flux is stopped by a gradient that is the same everywhere, and
//! the equations at a face are those of one face alone: (1−α)u_f + αu_s = 0.

use crate::basin::Basin;
use undine_core::glam::DVec3;
use undine_fluid::field::add_coupling;
use undine_fluid::pressure::Settings;

const VOXEL: f64 = 0.1;
/// Of the fluid [kg/m³].
const DENSITY: f64 = 1000.0;
const STEP: f64 = 0.02;
/// How fast solids are along x, before [m/s].
const FAST: f64 = 0.3;

/// A closed box of fluid within three Buckets.
fn closed() -> Basin {
    let basin = Basin::new(VOXEL, [0; 3], [3; 3]);
    basin.wall(|at| (0.8 - (at - 1.2).abs()).min_element(), |_| DVec3::ZERO);
    basin.pour(|_| -1.0);
    basin
}

fn exact() -> Settings {
    Settings { tolerance: 1e-9, ..Settings::default() }
}

/// The fluid's velocity along x after a solve, with solids of a share, of a mass per volume [kg/m³] and with a drag [kg/(m³ s)]: the
/// largest and the least.
fn after(share: f64, mass: f64, drag: f64) -> [f64; 2] {
    let mut basin = closed();
    let of = add_coupling(&mut basin.volumes[basin.field.volume]).unwrap();
    basin.fill_mac(of.share, |_, _| share);
    basin.fill_mac(of.mass, |_, _| mass);
    basin.fill_mac(of.momentum, |axis, _| if axis == 0 { mass * FAST } else { 0.0 });
    basin.fill_mac(of.drag, |_, _| drag);
    basin.project(&exact(), STEP);
    // A solve takes what acted.
    assert_eq!(basin.face(of.mass, 0, [12, 12, 12]), 0.0);
    let found = |x: i32, y: i32| basin.face(basin.field.velocity, 0, [x, y, 12]);
    let all = (5..20).flat_map(|x| (5..19).map(move |y| (x, y))).map(|(x, y)| found(x, y));
    all.fold([f64::INFINITY, f64::NEG_INFINITY], |[a, b], u| [a.min(u), b.max(u)])
}

fn assert_is(found: [f64; 2], wanted: f64) {
    for u in found {
        assert!((u - wanted).abs() < 2e-5, "{found:?} is not {wanted}");
    }
}

#[test]
fn without_a_solid_it_is_the_fluid_alone() {
    let plain = closed();
    let mut with = closed();
    let of = add_coupling(&mut with.volumes[with.field.volume]).unwrap();
    with.fill_mac(of.drag, |_, _| 1e6);
    let swirl = |axis: usize, at: DVec3| [at.y.sin(), at.x * at.z, at.x.cos()][axis];
    for basin in [&plain, &with] {
        basin.fill_mac(basin.field.velocity, swirl);
        basin.project(&exact(), STEP);
    }
    for (axis, at, ..) in plain.faces() {
        let faces = [&plain, &with].map(|basin| basin.face(basin.field.velocity, axis, at));
        assert_eq!(faces[0], faces[1]);
    }
    // And hardly anything is as good as nothing.
    assert_is(after(1e-9, 1e-6, 0.0), 0.0);
}

#[test]
fn without_drag_both_answer_to_the_same_gradient() {
    // G = α u_s* / ((1−α)/ρ_f + α/ρ_s), and u_f = −G/ρ_f.
    let (share, solid) = (0.3, 1300.0);
    let gradient = share * FAST / ((1.0 - share) / DENSITY + share / solid);
    assert_is(after(share, share * solid, 0.0), -gradient / DENSITY);
}

#[test]
fn infinite_drag_makes_them_one() {
    assert_is(after(0.3, 390.0, 1e12), 0.0);
}

#[test]
fn a_solid_too_heavy_to_move_pushes_the_fluid_aside() {
    for drag in [0.0, 1e4] {
        assert_is(after(0.3, 3e8, drag), -0.3 * FAST / 0.7);
    }
}

#[test]
fn in_a_surface_that_is_free_drag_alone_pulls() {
    // Nothing stops the flux there: (1−α)ρ_f u_f = Δt D (u_s − u_f), and what a uniform pull does is no divergence.
    let mut basin = Basin::new(VOXEL, [0; 3], [3; 3]);
    basin.pour(|at| (at - 1.2).abs().max_element() - 0.8);
    let of = add_coupling(&mut basin.volumes[basin.field.volume]).unwrap();
    let (share, mass, drag) = (0.2, 2e8, 3e4);
    basin.fill_mac(of.share, |_, _| share);
    basin.fill_mac(of.mass, |_, _| mass);
    basin.fill_mac(of.momentum, |axis, _| if axis == 0 { mass * FAST } else { 0.0 });
    basin.fill_mac(of.drag, |_, _| drag);
    basin.project(&exact(), STEP);
    let pull = STEP * drag;
    let wanted = pull * FAST / ((1.0 - share) * DENSITY + pull);
    let found = basin.face(basin.field.velocity, 0, [12, 12, 12]);
    assert!((found - wanted).abs() < 1e-5, "{found} {wanted}");
}
