//! The drag of a fluid on a piece of a thin rod, by the way that it lies in the flow.
//!
//! What blows across a rod is resisted as if nothing blew along it (the independence principle of swept cylinders): with the
//! velocity u_n across, f_n = −½ ρ C_n d l |u_n| u_n. For C_n there is one formula from creeping flow to
//! Re = 2·10⁵ (Sucker and Brauer 1975). What blows along it rubs: with half the resistance of the way across where flow creeps (slender
//! bodies, Cox 1970), and with C_t = 5.4 Re^(−1/2) in a laminar boundary layer (Taylor 1952), whichever is less.

use super::law::{Medium, Resistance};
use undine_core::glam::{DMat3, DVec3};

/// A piece of a thin rod.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Piece {
    /// From its one end to the other [m].
    pub along: DVec3,
    /// The radius of its cross-section [m].
    pub radius: f64,
}

impl Piece {
    /// A piece that lies so [m] and has the volume of a ball of this radius [m]; none of one without length.
    pub fn of_volume(along: DVec3, ball: f64) -> Option<Self> {
        let length = along.length();
        (length > 0.0).then(|| Self { along, radius: (4.0 / 3.0 * ball.powi(3) / length).sqrt() })
    }

    /// The matrix K [N s/m] of its drag f = −K u at a velocity u relative to the fluid [m/s]: symmetric and positive definite.
    pub fn resistance(&self, medium: &Medium, relative: DVec3) -> DMat3 {
        let Parts { along, normal, tangential, .. } = self.parts(medium, relative);
        let along = outer(along);
        (DMat3::IDENTITY - along) * normal.coefficient + along * tangential.coefficient
    }

    /// How much steeper than K its drag is there, ∂(K u)/∂u − K [N s/m], but for one part: symmetric, and with K positive definite.
    ///
    /// With u_n across and u_t along, ψ = d ln k / d ln |u| of both and û = u/|u|, it is ψ_n k_n û_n û_nᵀ + ψ_t k_t (û·t)² t tᵀ. What is left out is
    /// how friction along the rod rises with the flow across it, which no symmetric matrix can have. That costs Newton's method nothing
    /// but one iteration: the drag across does not depend on u_t, so it converges quadratically, and the friction after it.
    pub fn steeper(&self, medium: &Medium, relative: DVec3) -> DMat3 {
        let Parts { along, across, normal, tangential } = self.parts(medium, relative);
        let part = relative.dot(along) / relative.length().max(f64::MIN_POSITIVE);
        outer(across.normalize_or_zero()) * (normal.slope * normal.coefficient)
            + outer(along) * (tangential.slope * tangential.coefficient * part * part)
    }

    fn parts(&self, medium: &Medium, relative: DVec3) -> Parts {
        let length = self.along.length();
        let along = self.along / length;
        let across = relative - relative.dot(along) * along;
        let diameter = 2.0 * self.radius;
        let reynolds = |speed: f64| medium.density() * speed * diameter / medium.viscosity();
        // ½ ρ C d l |u| is ½ μ (C Re) l, which has a limit where nothing moves.
        let of = |product: f64| 0.5 * medium.viscosity() * product * length;
        let normal = reynolds(across.length());
        let normal = Resistance {
            coefficient: of(across_times_reynolds(normal)),
            slope: slope_across(normal),
        };
        let speed = reynolds(relative.length());
        let creeping = Resistance {
            coefficient: 0.5 * of(across_times_reynolds(speed)),
            slope: slope_across(speed),
        };
        let rubbing = Resistance { coefficient: of(TAYLOR * speed.sqrt()), slope: 0.5 };
        let creeps = speed < 1.0 || creeping.coefficient < rubbing.coefficient;
        let tangential = if creeps { creeping } else { rubbing };
        Parts { along, across, normal, tangential }
    }
}

/// A flow past a piece of a rod.
struct Parts {
    /// The way of the rod.
    along: DVec3,
    /// What of the velocity is across it [m/s].
    across: DVec3,
    /// What resists that, by its own speed.
    normal: Resistance,
    /// What resists the rest, by the speed of all.
    tangential: Resistance,
}

/// v vᵀ.
fn outer(v: DVec3) -> DMat3 {
    DMat3::from_cols(v * v.x, v * v.y, v * v.z)
}

/// Taylor's coefficient of friction along a smooth rod.
const TAYLOR: f64 = 5.4;

/// The least Reynolds number that the formula was fitted to. Below it drag is in proportion to speed.
const LEAST: f64 = 1e-4;

/// C_n(Re) Re of the flow across a cylinder (Sucker and Brauer 1975).
fn across_times_reynolds(reynolds: f64) -> f64 {
    let re = reynolds.max(LEAST);
    let drag =
        1.18 + 6.8 * re.powf(-0.89) + 1.96 / re.sqrt() - 4e-4 * re / (1.0 + 3.64e-7 * re * re);
    // With the drag coefficient held where creep begins, C Re is that of the least Reynolds number there.
    drag * re
}

/// d ln(C_n Re) / d ln Re.
fn slope_across(reynolds: f64) -> f64 {
    if reynolds <= LEAST {
        return 0.0;
    }
    let re = reynolds;
    let bent = 1.0 + 3.64e-7 * re * re;
    let rise = 1.18 * re + 0.11 * 6.8 * re.powf(0.11) + 0.5 * 1.96 * re.sqrt()
        - 2.0 * 4e-4 * re * re / (bent * bent);
    rise / across_times_reynolds(re)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn piece() -> Piece {
        Piece { along: DVec3::new(0.0, 0.01, 0.0), radius: 40e-6 }
    }

    /// The measured curve of a cylinder: Wieselsberger's C_d at a few Reynolds numbers, to 10 %.
    #[test]
    fn across_it_has_the_measured_coefficients() {
        for (reynolds, wanted) in [(0.1, 59.0), (1.0, 10.0), (10.0, 2.8), (100.0, 1.5), (1e4, 1.15)]
        {
            let found = across_times_reynolds(reynolds) / reynolds;
            assert!((found / wanted - 1.0_f64).abs() < 0.1, "{reynolds}: {found} {wanted}");
        }
    }

    #[test]
    fn what_creeps_is_resisted_twice_as_much_across_as_along() {
        let slow = piece().resistance(&Medium::AIR, DVec3::new(1e-7, 1e-7, 0.0));
        assert!((slow.x_axis.x / slow.y_axis.y - 2.0).abs() < 1e-9);
        let fast = piece().resistance(&Medium::AIR, DVec3::new(100.0, 100.0, 0.0));
        assert!(fast.x_axis.x > 2.0 * fast.y_axis.y && fast.y_axis.y > 0.0);
    }

    #[test]
    fn the_drag_across_is_that_of_its_coefficient_whatever_blows_along() {
        let (medium, piece) = (Medium::AIR, piece());
        for speed in [0.1, 3.0, 40.0] {
            for along in [0.0, 7.0] {
                let relative = DVec3::new(0.0, along, speed);
                let force = -(piece.resistance(&medium, relative) * relative).z;
                let reynolds = medium.density() * speed * 80e-6 / medium.viscosity();
                let coefficient = across_times_reynolds(reynolds) / reynolds;
                let wanted = -0.5 * medium.density() * coefficient * 80e-6 * 0.01 * speed * speed;
                assert!((force / wanted - 1.0).abs() < 1e-12, "{force} {wanted}");
            }
        }
    }

    /// By differences: of the force across the rod by both velocities, and of that along it by the velocity along it. Not at Re = 1e-4, where
    /// creep begins, nor where friction changes from one law to the other: there the slope jumps.
    #[test]
    fn it_is_steeper_as_differences_say_and_positive() {
        let (medium, piece, way) = (Medium::AIR, piece(), DVec3::Y);
        for speed in [1e-6, 1e-3, 0.05, 1.0, 7.0, 20.0, 300.0, 9e3] {
            for turn in [0.0_f64, 0.3, 0.8, 1.5] {
                let flow = speed * DVec3::new(0.6 * turn.cos(), turn.sin(), 0.8 * turn.cos());
                let k = piece.resistance(&medium, flow);
                let found = k + piece.steeper(&medium, flow);
                let force = |flow: DVec3| piece.resistance(&medium, flow) * flow;
                let (scale, small) = (k.x_axis.x, 1e-5 * speed);
                for (axis, by) in DVec3::AXES.into_iter().enumerate() {
                    let slope =
                        (force(flow + small * by) - force(flow - small * by)) / (2.0 * small);
                    let mut off = (found.col(axis) - slope).abs();
                    if axis != 1 {
                        // What the flow across does to friction along is left out.
                        off -= off.dot(way) * way;
                    }
                    assert!(off.max_element() < 1e-8 * scale, "{flow} {axis}: {found} {slope}");
                }
                let least = |way: DVec3| way.dot(found * way) / way.length_squared();
                let ways = [flow, way, flow.cross(way), DVec3::new(1.0, -2.0, 0.5)];
                assert!(
                    ways.into_iter().filter(|way| *way != DVec3::ZERO).all(|way| least(way) > 0.0)
                );
                assert_eq!(found, found.transpose());
            }
        }
        assert_eq!(piece.steeper(&medium, DVec3::ZERO), DMat3::ZERO);
    }

    /// The drag across rises with the speed at any Reynolds number, so that its slope is positive: d ln(C Re²)/d ln Re > 0.
    #[test]
    fn drag_across_rises_with_speed_at_any_reynolds_number() {
        for n in -60..=60 {
            let reynolds = 10_f64.powf(f64::from(n) / 10.0);
            assert!(slope_across(reynolds) > -0.2, "{reynolds}: {}", slope_across(reynolds));
        }
    }

    #[test]
    fn it_turns_with_the_rod() {
        let turn = DMat3::from_rotation_x(0.7) * DMat3::from_rotation_z(1.1);
        let relative = DVec3::new(2.0, -1.0, 0.3);
        let plain = piece().resistance(&Medium::AIR, relative);
        let turned = Piece { along: turn * piece().along, ..piece() };
        let found = turned.resistance(&Medium::AIR, turn * relative);
        let wanted = turn * plain * turn.transpose();
        assert!((found - wanted).to_cols_array().iter().all(|d| d.abs() < 1e-12 * plain.x_axis.x));
    }

    #[test]
    fn a_piece_has_the_volume_of_its_ball() {
        let piece = Piece::of_volume(DVec3::new(0.0, 0.0, 0.02), 1e-3).unwrap();
        let volume = std::f64::consts::PI * piece.radius.powi(2) * 0.02;
        assert!((volume / (4.0 / 3.0 * std::f64::consts::PI * 1e-9) - 1.0).abs() < 1e-12);
        assert_eq!(Piece::of_volume(DVec3::ZERO, 1e-3), None);
    }
}
