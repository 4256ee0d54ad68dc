//! The drag of a fluid on a piece of a thin rod, by the way that it lies in the flow.
//!
//! What blows across a rod is resisted as if nothing blew along it (the independence principle of swept cylinders): with the
//! velocity u_n across, f_n = −½ ρ C_n d l |u_n| u_n. For C_n there is one formula from creeping flow to
//! Re = 2·10⁵ (Sucker and Brauer 1975). What blows along it rubs: with half the resistance of the way across where flow creeps (slender
//! bodies, Cox 1970), and with C_t = 5.4 Re^(−1/2) in a laminar boundary layer (Taylor 1952), whichever is less.

use super::law::Medium;
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
        let length = self.along.length();
        let along = self.along / length;
        let across = relative - relative.dot(along) * along;
        let diameter = 2.0 * self.radius;
        let reynolds = |speed: f64| medium.density() * speed * diameter / medium.viscosity();
        // ½ ρ C d l |u| is ½ μ (C Re) l, which has a limit where nothing moves.
        let of = |product: f64| 0.5 * medium.viscosity() * product * length;
        let normal = of(across_times_reynolds(reynolds(across.length())));
        let speed = relative.length();
        let creeping = 0.5 * of(across_times_reynolds(reynolds(speed)));
        let rubbing = of(TAYLOR * reynolds(speed).sqrt());
        let tangential = if reynolds(speed) < 1.0 { creeping } else { creeping.min(rubbing) };
        let outer = DMat3::from_cols(along * along.x, along * along.y, along * along.z);
        (DMat3::IDENTITY - outer) * normal + outer * tangential
    }
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
