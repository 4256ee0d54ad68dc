//! Vortices that are given back what they lose.

use crate::basin::Basin;
use undine_core::glam::DVec3;
use undine_fluid::confinement::confine;

/// How fast the middle of the vortex turns [1/s].
const STRONGEST: f64 = 3.0;
/// How wide it is [m].
const WIDTH: f64 = 0.15;

/// The vorticity of a round vortex about z that falls off as a bell does, from its axis on [1/s].
fn vorticity(radius: f64) -> f64 {
    STRONGEST * (-0.5 * (radius / WIDTH).powi(2)).exp()
}

/// Its velocity around the axis [m/s]: r⁻¹∫ωr dr.
fn speed(radius: f64) -> f64 {
    WIDTH.powi(2) * (STRONGEST - vorticity(radius)) / radius.max(1e-9)
}

/// Something of a size around the axis through the middle, as a vector.
fn around(at: DVec3, size: impl Fn(f64) -> f64) -> DVec3 {
    let arm = DVec3::new(at.x - 0.5, at.y - 0.5, 0.0);
    size(arm.length()) * DVec3::Z.cross(arm.normalize_or_zero())
}

/// ε Δt Δx |ω| N×ω with N towards the axis: a kick of ε Δt Δx ω² around it, along with the turn in either sense. The root
/// of the mean square of how far kicks are off, as a part of the largest one; not near the axis, where N turns within a few cells.
fn error(cells: i32, sense: f64) -> f64 {
    let basin = Basin::new(1.0 / f64::from(cells), [0; 3], [cells / 8, cells / 8, 1]);
    basin.pour(|_| -1.0);
    basin.fill_mac(basin.field.velocity_before, |axis, at| sense * around(at, speed)[axis]);
    basin.fill_mac(basin.field.velocity, |_, _| 0.0);
    let kick = 0.4;
    confine(&basin.domain, basin.volume(), &basin.field, kick).unwrap();
    let wanted = |at: DVec3| {
        let size = |radius: f64| f64::from(kick) * basin.voxel * vorticity(radius).powi(2);
        sense * around(at, size)
    };
    let (mut squares, mut count): (f64, f64) = (0.0, 0.0);
    for n in 0..cells * cells {
        // Above and below there is nothing, and the layers beside it do not count.
        let (cell, within) = ([n / cells, n % cells, 4], 4..cells - 4);
        for axis in 0..2 {
            let at = basin.centre(cell) - 0.5 * basin.voxel * DVec3::AXES[axis];
            let radius = (at - DVec3::splat(0.5)).truncate().length();
            if radius < WIDTH || !within.contains(&cell[0]) || !within.contains(&cell[1]) {
                continue;
            }
            let found = basin.face(basin.field.velocity, axis, cell);
            squares += (found - wanted(at)[axis]).powi(2);
            count += 1.0;
        }
    }
    (squares / count).sqrt() / (f64::from(kick) * basin.voxel * STRONGEST.powi(2))
}

#[test]
fn a_round_vortex_is_driven_as_it_turns_with_second_order() {
    for sense in [1.0, -1.0] {
        let [coarse, fine] = [32, 64].map(|cells| error(cells, sense));
        let order = (coarse / fine).log2();
        println!("{coarse:.2e} {fine:.2e}, order {order:.2}");
        // A difference over two cells is off by h²/6 of the third derivative, a mean of two by h²/8 of the second: of a bell of this width at most
        // 3/6 + 1/8 of (h/σ)², twice that for a square.
        let bound = 2.0 * 0.625 / (64.0 * WIDTH).powi(2);
        assert!(fine < bound, "{fine} of {bound}");
        assert!(order > 1.7, "order {order}");
    }
}
