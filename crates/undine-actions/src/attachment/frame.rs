//! The attachment frame A(d, G): the frame G, turned by a share ξ of the least rotation that takes its first axis to d.
//!
//! With g = G₁/|G₁|, n = d/|d| and φ the angle between them, A = R G where R turns by ξφ about m = g × n:
//!
//! R v = v + α m × v + γ m × (m × v),   α = sin(ξφ)/sin φ,   γ = (1 − cos(ξφ))/sin²φ.
//!
//! For d itself this is simpler, since d lies in the plane of the turn: Rᵀd = α |d| g + η d with η = sin((1−ξ)φ)/sin φ. So
//! Aᵀd is Gᵀd for ξ = 0 and (|d|, 0, 0) for ξ = 1, exactly and for every direction of d.
//!
//! All derivatives are by c = cos φ = g·n and m = g × n, which are polynomials of g and n. Near φ = 0 series take over. At
//! φ = π the least rotation is not unique: there a fixed one is taken, and held while derivatives are made.

use undine_core::glam::{DMat3, DQuat, DVec3};

/// Angles below this [rad] use series.
const SMALL: f64 = 0.05;

/// Where sin φ is below this and φ near to π, the turn's axis is taken as fixed.
const OPPOSITE: f64 = 1e-5;

/// A number of the placement: its value and its derivatives.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Slope {
    /// The value.
    pub value: f64,
    /// By d.
    pub by_d: DVec3,
    /// By G, each entry where that of G is.
    pub by_g: DMat3,
}

/// The attachment frame at one placement.
#[derive(Debug, Clone, Copy)]
pub struct AttachmentFrame {
    g: DMat3,
    d: DVec3,
    /// The axis g with 1/|G₁|, and n with 1/|d|.
    axis: DVec3,
    per_axis: f64,
    n: DVec3,
    length: f64,
    turn: Turn,
}

/// The rotation R.
#[derive(Debug, Clone, Copy)]
enum Turn {
    /// By formulas of c and m: α, η and γ with their derivatives by c.
    Least { alpha: [f64; 2], eta: [f64; 2], gamma: [f64; 2] },
    /// Held, since no rotation is the least.
    Held(DMat3),
}

impl AttachmentFrame {
    /// For a displacement d [m], the target's frame G and a flexibility ξ from 0 to 1.
    pub fn new(d: DVec3, g: DMat3, flexibility: f64) -> Self {
        let (axis, size) = (g.x_axis.normalize_or_zero(), g.x_axis.length());
        let (length, n) = (d.length(), d.normalize_or_zero());
        let per_axis = if axis == DVec3::ZERO { 0.0 } else { size.recip() };
        let (sin, cos) = (axis.cross(n).length(), axis.dot(n));
        let x = flexibility;
        let turn = if n == DVec3::ZERO || axis == DVec3::ZERO {
            // Without a direction there is no angle.
            Turn::least(x, 0.0, 0.0)
        } else if sin < OPPOSITE && cos < 0.0 && x > 0.0 && x < 1.0 {
            Turn::Held(about_turn(axis, x))
        } else {
            Turn::least(x, sin.atan2(cos), sin)
        };
        Self { g, d, axis, per_axis, n, length, turn }
    }

    /// Component i of Aᵀd.
    pub fn of_displacement(&self, i: usize) -> Slope {
        let Self { d, axis, n, length, .. } = *self;
        let column = self.g.col(i);
        let (alpha, eta) = match self.turn {
            Turn::Held(turn) => {
                let turned = turn * column;
                let by_g = in_column(i, turn.transpose() * d);
                return Slope { value: turned.dot(d), by_d: turned, by_g };
            }
            Turn::Least { alpha, eta, .. } => (alpha, eta),
        };
        // α |d| (g·Gᵢ) + η (d·Gᵢ).
        let (along, across) = (axis.dot(column), d.dot(column));
        let by_c = alpha[1] * length * along + eta[1] * across;
        let by_axis = alpha[0] * length * column + by_c * n;
        Slope {
            value: alpha[0] * length * along + eta[0] * across,
            by_d: alpha[0] * along * n + eta[0] * column + self.through_n(by_c * axis),
            by_g: in_column(i, alpha[0] * length * axis + eta[0] * d)
                + in_column(0, self.through_axis(by_axis)),
        }
    }

    /// Component i of Aᵀw for a vector w, and its derivative by w, which is Aᵢ.
    pub fn of_vector(&self, i: usize, w: DVec3) -> (Slope, DVec3) {
        let column = self.g.col(i);
        let (alpha, gamma) = match self.turn {
            Turn::Held(turn) => {
                let turned = turn * column;
                let by_g = in_column(i, turn.transpose() * w);
                return (Slope { value: turned.dot(w), by_d: DVec3::ZERO, by_g }, turned);
            }
            Turn::Least { alpha, gamma, .. } => (alpha, gamma),
        };
        let (axis, n) = (self.axis, self.n);
        let m = axis.cross(n);
        let (once, twice) = (m.cross(column), m.cross(m.cross(column)));
        let turned = column + alpha[0] * once + gamma[0] * twice;
        let back = w - alpha[0] * m.cross(w) + gamma[0] * m.cross(m.cross(w));
        let by_c = alpha[1] * w.dot(once) + gamma[1] * w.dot(twice);
        // w·(m × (m × v)) is (m·v)(m·w) − (m·m)(v·w).
        let bend = column * m.dot(w) + w * m.dot(column) - m * (2.0 * w.dot(column));
        let by_m = alpha[0] * column.cross(w) + gamma[0] * bend;
        let slope = Slope {
            value: turned.dot(w),
            by_d: self.through_n(by_c * axis + by_m.cross(axis)),
            by_g: in_column(i, back) + in_column(0, self.through_axis(by_c * n + n.cross(by_m))),
        };
        (slope, turned)
    }

    /// A derivative by n as one by d.
    fn through_n(&self, by_n: DVec3) -> DVec3 {
        let per_length = if self.n == DVec3::ZERO { 0.0 } else { self.length.recip() };
        (by_n - self.n * self.n.dot(by_n)) * per_length
    }

    /// A derivative by g as one by G₁.
    fn through_axis(&self, by_axis: DVec3) -> DVec3 {
        (by_axis - self.axis * self.axis.dot(by_axis)) * self.per_axis
    }
}

impl Turn {
    fn least(x: f64, angle: f64, sin: f64) -> Self {
        Self::Least {
            alpha: ratio_of_sines(x, angle, sin),
            eta: ratio_of_sines(1.0 - x, angle, sin),
            gamma: lack_of_cosine(x, angle),
        }
    }
}

/// sin(xφ)/sin φ and its derivative by cos φ.
fn ratio_of_sines(x: f64, angle: f64, sin: f64) -> [f64; 2] {
    if x == 0.0 || x == 1.0 {
        return [x, 0.0];
    }
    let (p, q) = (1.0 + x, 1.0 - x);
    if angle < SMALL {
        // With sinc: x sinc(xφ)/sinc(φ), and −½pq (sinc(qφ) − sinc(pφ))/(φ² sinc³φ), term by term.
        let square = angle * angle;
        let whole = sinc(square);
        let terms = [6.0, -120.0, 5040.0, -362_880.0].map(f64::recip);
        let (mut sum, mut power, mut pn, mut qn) = (0.0, 1.0, p * p, q * q);
        for term in terms {
            sum += term * power * (pn - qn);
            (power, pn, qn) = (power * square, pn * p * p, qn * q * q);
        }
        return [x * sinc(x * x * square) / whole, -0.5 * p * q * sum / whole.powi(3)];
    }
    // The numerator of the derivative, x cos(xφ) sin φ − sin(xφ) cos φ, as a difference of sines.
    let numerator = 0.5 * (p * (q * angle).sin() - q * (p * angle).sin());
    [(x * angle).sin() / sin, -numerator / sin.powi(3)]
}

/// (1 − cos(xφ))/sin²φ and its derivative by cos φ.
fn lack_of_cosine(x: f64, angle: f64) -> [f64; 2] {
    if x == 0.0 {
        return [0.0, 0.0];
    }
    if x == 1.0 {
        // 1/(1 + cos φ); at φ = π it has no value, and none is used.
        let one = 1.0 + angle.cos();
        return if one > 0.0 { [one.recip(), -one.recip().powi(2)] } else { [0.0, 0.0] };
    }
    // ½ of the square of sin(xφ/2)/sin(φ/2) over the square of cos(φ/2): half angles, in which nothing cancels.
    let half = 0.5 * angle;
    let cos_half = half.cos();
    let [ratio, slope] = ratio_of_sines(x, half, half.sin());
    let square = cos_half * cos_half;
    // d cos(φ/2) / d cos φ = 1/(4 cos(φ/2)).
    let by_cos = slope / (4.0 * cos_half);
    let value = 0.5 * ratio * ratio / square;
    let derivative = ratio * by_cos / square - 0.25 * ratio * ratio / (square * square);
    [value, derivative]
}

/// sin(a)/a from a², for small a.
fn sinc(square: f64) -> f64 {
    1.0 - square / 6.0 * (1.0 - square / 20.0 * (1.0 - square / 42.0 * (1.0 - square / 72.0)))
}

/// A turn by xπ about an axis across the given one.
fn about_turn(axis: DVec3, x: f64) -> DMat3 {
    let across = axis.any_orthonormal_vector();
    DMat3::from_quat(DQuat::from_axis_angle(across, x * std::f64::consts::PI))
}

fn in_column(i: usize, vector: DVec3) -> DMat3 {
    let mut matrix = DMat3::ZERO;
    *matrix.col_mut(i) = vector;
    matrix
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A itself, by rotations alone.
    fn by_rotation(d: DVec3, g: DMat3, x: f64) -> DMat3 {
        let arc = DQuat::from_rotation_arc(g.x_axis.normalize(), d.normalize());
        DMat3::from_quat(DQuat::from_scaled_axis(arc.to_scaled_axis() * x)) * g
    }

    #[test]
    fn it_is_the_frame_turned_by_a_share_of_the_least_rotation() {
        let g = DMat3::from_quat(DQuat::from_scaled_axis(DVec3::new(0.3, -0.8, 0.5)));
        for d in
            [DVec3::new(0.3, 0.1, -0.7), g.x_axis * 2.0 + g.y_axis * 1e-3, -g.x_axis + g.z_axis]
        {
            for x in [0.0, 1e-3, 0.4, 0.5, 1.0] {
                let frame = AttachmentFrame::new(d, g, x);
                let wanted = by_rotation(d, g, x);
                let w = DVec3::new(1.0, 2.0, -3.0);
                for i in 0..3 {
                    let (slope, axis) = frame.of_vector(i, w);
                    assert!(axis.abs_diff_eq(wanted.col(i), 1e-9), "{x} {i}: {axis} {wanted}");
                    assert!((slope.value - axis.dot(w)).abs() < 1e-12);
                    let found = frame.of_displacement(i).value;
                    assert!((found - wanted.col(i).dot(d)).abs() < 1e-9, "{x} {i}: {found}");
                }
            }
        }
    }

    #[test]
    fn a_flexible_frame_sees_the_distance_alone_in_every_direction() {
        for d in [DVec3::X, DVec3::NEG_X, DVec3::new(-1.0, 1e-9, 0.0), DVec3::Y] {
            let frame = AttachmentFrame::new(d, DMat3::IDENTITY, 1.0);
            let seen: [Slope; 3] = std::array::from_fn(|i| frame.of_displacement(i));
            assert_eq!(seen.map(|slope| slope.value), [d.length(), 0.0, 0.0]);
            assert!(seen[0].by_d.abs_diff_eq(d.normalize(), 1e-15));
            assert_eq!(seen[1].by_d, DVec3::ZERO);
            let rest = seen.iter().flat_map(|slope| slope.by_g.to_cols_array());
            assert!(rest.into_iter().all(f64::is_finite));
        }
    }

    #[test]
    fn nothing_is_nan_where_there_is_no_direction_or_no_least_rotation() {
        for d in [DVec3::ZERO, DVec3::NEG_X, DVec3::new(-1.0, 1e-300, 0.0)] {
            for g in [DMat3::IDENTITY, DMat3::ZERO] {
                for x in [0.0, 0.3, 1.0] {
                    let frame = AttachmentFrame::new(d, g, x);
                    for i in 0..3 {
                        let (slope, axis) = frame.of_vector(i, DVec3::ONE);
                        let other = frame.of_displacement(i);
                        for slope in [slope, other] {
                            assert!(slope.value.is_finite() && slope.by_d.is_finite());
                            assert!(slope.by_g.is_finite() && axis.is_finite());
                        }
                    }
                }
            }
        }
    }
}
