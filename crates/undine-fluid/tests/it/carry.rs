//! Quantities that a flow carries along.

use crate::basin::Basin;
use std::f64::consts::FRAC_PI_2;
use undine_core::glam::{DVec2, DVec3};
use undine_core::volume::VoxelShape;
use undine_core::{ChannelSpec, Handle};
use undine_fluid::carry::{Cargo, Flow, Scheme, Traces};

const SCHEMES: [Scheme; 3] = [Scheme::SemiLagrangian, Scheme::MacCormack, Scheme::Bfecc];

/// A flat basin of so many cells across, with dye in it.
fn basin(cells: i32) -> (Basin, Handle<f32>) {
    let mut basin = Basin::new(1.0 / f64::from(cells), [0; 3], [cells / 8, cells / 8, 1]);
    let volume = &mut basin.volumes[basin.field.volume];
    let dye = volume.add_channel(&ChannelSpec::new("dye", 0.0_f32), VoxelShape::CELLS).unwrap();
    (basin, dye)
}

fn flow(basin: &Basin, step: f64, scheme: Scheme, traces: Traces) -> Flow<'_> {
    let (domain, velocity) = (&basin.domain, basin.field.velocity);
    Flow { domain, volume: basin.volume(), velocity, step, traces, scheme, only: None }
}

/// Everything turns about the middle once a 2π seconds.
fn turning(axis: usize, at: DVec3) -> f64 {
    [0.5 - at.y, at.x - 0.5, 0.0][axis]
}

/// How far what was turned by a quarter is off, by the root of the mean square; and its least and largest value.
fn quarter_turn(scheme: Scheme, cells: i32) -> (f64, [f32; 2]) {
    let (basin, dye) = basin(cells);
    basin.fill_mac(basin.field.velocity, turning);
    let blob = |at: DVec3, x: f64, y: f64| {
        let r2 = (at.x - x).powi(2) + (at.y - y).powi(2);
        (-r2 / (2.0 * 0.09_f64.powi(2))).exp()
    };
    let middle = DVec3::splat(0.5);
    basin.fill(dye, middle, |at| blob(at, 0.7, 0.5));
    let steps = cells / 4;
    let flow = flow(&basin, FRAC_PI_2 / f64::from(steps), scheme, Traces::Rk3);
    for _ in 0..steps {
        flow.carry(&Cargo { velocity: None, cells: &[dye] }).unwrap();
    }
    let (mut sum, mut bounds) = (0.0, [f32::INFINITY, f32::NEG_INFINITY]);
    for x in 0..cells {
        for y in 0..cells {
            let value = basin.value(dye, [x, y, 3]);
            bounds = [bounds[0].min(value), bounds[1].max(value)];
            sum += (f64::from(value) - blob(basin.centre([x, y, 3]), 0.5, 0.7)).powi(2);
        }
    }
    ((sum / f64::from(cells * cells)).sqrt(), bounds)
}

/// A blob that turns with the flow comes back to its form with the order of the scheme, and nothing overshoots.
#[test]
fn each_scheme_has_its_order() {
    for (scheme, order) in SCHEMES.into_iter().zip([0.6, 1.7, 1.7]) {
        let [coarse, fine] = [48, 96].map(|cells| quarter_turn(scheme, cells));
        let found = (coarse.0 / fine.0).log2();
        println!("{scheme:?}: {:.2e} {:.2e}, order {found:.2}", coarse.0, fine.0);
        assert!(found > order, "{scheme:?} has order {found}");
        for [least, most] in [coarse.1, fine.1] {
            assert!(least >= 0.0 && most <= 1.0, "{scheme:?} from {least} to {most}");
        }
    }
    let [first, second] = SCHEMES[..2] else { unreachable!() };
    assert!(quarter_turn(second, 48).0 < 0.5 * quarter_turn(first, 48).0);
}

/// In one step of a turn by θ the way is off by θ³/6 of the radius for the midpoint rule, and by θ⁴/24 for the third-order one.
#[test]
fn traces_have_their_order() {
    let off = |traces: Traces, angle: f64| {
        let (basin, dye) = basin(48);
        basin.fill_mac(basin.field.velocity, turning);
        basin.fill(dye, DVec3::splat(0.5), |at| at.x);
        let flow = flow(&basin, angle, Scheme::SemiLagrangian, traces);
        flow.carry(&Cargo { velocity: None, cells: &[dye] }).unwrap();
        let at = [30, 28, 4];
        let arm = basin.centre(at) - 0.5;
        let wanted = 0.5 + arm.x * angle.cos() + arm.y * angle.sin();
        (f64::from(basin.value(dye, at)) - wanted).abs() / arm.truncate().length()
    };
    for (traces, order) in [(Traces::Rk2, 3.0), (Traces::Rk3, 4.0)] {
        let found = (off(traces, 0.4) / off(traces, 0.2)).log2();
        println!("{traces:?}: {found:.2}");
        assert!((found - order).abs() < 0.35, "{traces:?} has order {found}");
    }
}

/// A shift by whole cells is exact, however far: within the margin, up to the next Bucket and beyond it.
#[test]
fn a_shift_by_whole_cells_is_exact_however_far() {
    for scheme in SCHEMES {
        for voxels in [2, 5, 11, 19] {
            let (basin, dye) = basin(64);
            let speed = 0.8;
            basin.fill_mac(basin.field.velocity, |axis, _| [speed, 0.0, 0.0][axis]);
            let pattern = |at: DVec3| (9.0 * at.x).sin() * (7.0 * at.y).cos();
            basin.fill(dye, DVec3::splat(0.5), pattern);
            let step = f64::from(voxels) * basin.voxel / speed;
            let cargo = Cargo { velocity: Some(basin.field.velocity), cells: &[dye] };
            flow(&basin, step, scheme, Traces::Rk3).carry(&cargo).unwrap();
            // Behind what came from outside all is as it was, so many voxels further.
            for x in 2 * voxels + 9..40 {
                let found = f64::from(basin.value(dye, [x, 20, 4]));
                let wanted = pattern(basin.centre([x - voxels, 20, 4]));
                assert!((found - wanted).abs() < 2e-5, "{scheme:?} {voxels} {x}: {found} {wanted}");
                let u = basin.face(basin.field.velocity, 0, [x, 20, 4]);
                assert!((u - speed).abs() < 1e-6);
            }
        }
    }
}

/// A velocity that carries itself is a shear wave that goes by: u = (c, a sin k(x − ct), 0).
///
/// A look-up s voxels upstream multiplies the wave by g = e^(−ik⌊s⌋)(1 − f + f e^(−ik)), f being the rest of s and k counted by voxels. The
/// schemes follow: g, g + ½(1 − |g|²) and g + ½g(1 − |g|²), kept within the two values that the look-up lies between. So what
/// a step makes of the wave is known to rounding.
#[test]
fn a_velocity_carries_itself() {
    for scheme in SCHEMES {
        for shift in [0.4, 1.3, 5.7] {
            let (basin, _) = basin(64);
            let velocity = basin.field.velocity;
            let (high, number) = (0.2, 25.0);
            let wave = |x: f64| DVec2::from_angle(number * x);
            basin.fill_mac(velocity, |axis, at| [0.5, high * wave(at.x).y, 0.0][axis]);
            let step = shift * basin.voxel / 0.5;
            let cargo = Cargo { velocity: Some(velocity), cells: &[] };
            flow(&basin, step, scheme, Traces::Rk3).carry(&cargo).unwrap();
            let kept = amplification(scheme, shift, number * basin.voxel);
            for x in 24..40 {
                let at = basin.centre([x, 32, 4]).x;
                let upstream = |voxels: f64| high * wave(at - voxels * basin.voxel).y;
                let (one, other) = (upstream(shift.floor()), upstream(shift.floor() + 1.0));
                let wanted = high * wave(at).rotate(kept).y;
                let wanted = wanted.clamp(one.min(other), one.max(other));
                let found = basin.face(velocity, 1, [x, 32, 4]);
                assert!((found - wanted).abs() < 1e-6, "{scheme:?} {shift} {x}: {found} {wanted}");
            }
        }
    }
}

/// What a step that shifts by so many voxels makes of a wave, as a complex number.
fn amplification(scheme: Scheme, shift: f64, wave_number: f64) -> DVec2 {
    let turned = |voxels: f64| DVec2::from_angle(-wave_number * voxels);
    let part = shift.fract();
    let plain = turned(shift.floor()).rotate((1.0 - part) * DVec2::X + part * turned(1.0));
    let lost = 0.5 * (1.0 - plain.length_squared());
    match scheme {
        Scheme::SemiLagrangian => plain,
        Scheme::MacCormack => plain + lost * DVec2::X,
        Scheme::Bfecc => plain + lost * plain,
    }
}
