//! One contact with Coulomb friction, solved exactly.
//!
//! Given how the contact's displacement follows from its force, u = W r + b, it finds the r that fulfils Signorini's and Coulomb's
//! laws to rounding: the contact opens (r = 0, u_N ≥ 0), or sticks (u = 0, |r_T| ≤ μ r_N), or slides (u_N = 0, r_T of size μ r_N
//! against u_T). Which one it is is found by trying them in turn (Daviet, Bertails-Descoubes & Boissieux 2011, *A hybrid iterative solver
//! for robustly capturing Coulomb friction in hair dynamics*, §4.2; Bonnefon & Daviet 2011, *Quartic formulation of Coulomb 3D
//! frictional contact*).
//!
//! Sliding means u_T = −α r_T for some α > 0, so that (W + α P) r = −b with P = diag(0, 1, 1), and |r_T| = μ r_N: a quartic in α. With the
//! tangents along the principal axes of W_TT its terms come out as small products, and the root is bracketed: above the
//! largest α where r_N changes its sign, μ r_N − |r_T| grows from below zero to above it. Where W does not couple normal and tangents,
//! as for a point by itself, the root has a closed form (Daviet 2020, *Simple and scalable frictional contacts for thin nodal
//! objects*, §4.1).

use undine_core::glam::{DMat2, DMat3, DVec2, DVec3, Vec3Swizzles};

/// Most steps of the search for the root: each at least halves what is left.
const MOST_STEPS: usize = 100;

/// The law of a contact, with all that follows from W alone: to be made once and solved often.
#[derive(Debug, Clone, Copy, Default)]
pub struct Law {
    inverse: DMat3,
    friction: f64,
    /// W_NN, the principal axes of W_TT, and along them W_TT and W_NT.
    a: f64,
    axes: DMat2,
    d: DVec2,
    c: DVec2,
    /// Whether W does not couple normal and tangents, and both tangents are alike.
    is_by_itself: bool,
}

impl Law {
    /// Of a contact that gives way by `w` [m/N], symmetric and positive definite, in the frame of normal and two tangents. With a friction of
    /// infinity it never slides.
    pub fn new(w: &DMat3, friction: f64) -> Self {
        let (d1, d2, off) = (w.y_axis.y, w.z_axis.z, 0.5 * (w.y_axis.z + w.z_axis.y));
        let turn = DVec2::from_angle(0.5 * (2.0 * off).atan2(d1 - d2));
        let axes = DMat2::from_cols(turn, turn.perp());
        let (mean, half) = (0.5 * (d1 + d2), (0.25 * (d1 - d2) * (d1 - d2) + off * off).sqrt());
        let d = DVec2::new(mean + half, mean - half);
        let c = axes.transpose() * w.x_axis.yz();
        let is_by_itself = c == DVec2::ZERO && half == 0.0;
        Self { inverse: w.inverse(), friction, a: w.x_axis.x, axes, d, c, is_by_itself }
    }

    /// The force [N] where the contact would be displaced by `b` [m] without it.
    pub fn solve(&self, b: DVec3) -> DVec3 {
        if b.x >= 0.0 {
            return DVec3::ZERO;
        }
        if self.friction == 0.0 {
            return DVec3::new(-b.x / self.a, 0.0, 0.0);
        }
        let stick = -(self.inverse * b);
        if stick.x >= 0.0 && stick.yz().length() <= self.friction * stick.x {
            return stick;
        }
        self.slide(b)
    }

    /// The force of a contact that slides.
    fn slide(&self, b: DVec3) -> DVec3 {
        let Self { friction, a, axes, d, c, .. } = *self;
        let (bn, bt) = (b.x, axes.transpose() * b.yz());

        // A point by itself.
        if self.is_by_itself {
            let rn = -bn / a;
            let along = b.yz().normalize_or_zero() * (-friction * rn);
            return DVec3::new(rn, along.x, along.y);
        }

        // N, whose sign is that of r_N, and the two numerators of r_T; both over the same positive denominator.
        let normal = |alpha: f64| {
            let e = d + alpha;
            -bn * e.x * e.y + c.x * bt.x * e.y + c.y * bt.y * e.x
        };
        let cross = c.x * bt.y - c.y * bt.x;
        let tangents = |alpha: f64| {
            let e = d + alpha;
            DVec2::new(
                e.y * (a * bt.x - bn * c.x) + c.y * cross,
                e.x * (a * bt.y - bn * c.y) - c.x * cross,
            )
        };
        let excess = |alpha: f64| friction * normal(alpha) - tangents(alpha).length();

        let mut low = last_change_of_sign(-bn, d, c * bt);
        let mut high = low + d.x;
        while excess(high) < 0.0 && high.is_finite() {
            low = high;
            high *= 4.0;
        }
        let alpha = root(excess, low, high);

        let e = d + alpha;
        let denominator = a * e.x * e.y - c.x * c.x * e.y - c.y * c.y * e.x;
        let rn = (normal(alpha) / denominator).max(0.0);
        // Of the direction alone, so that the force is on the cone to rounding.
        let rt = -tangents(alpha);
        let along = axes * (rt.normalize_or_zero() * (friction * rn));
        DVec3::new(rn, along.x, along.y)
    }
}

/// The largest α ≥ 0 where k (d₁ + α)(d₂ + α) + p₁ (d₂ + α) + p₂ (d₁ + α) is zero, k being positive; 0 if there is none.
fn last_change_of_sign(k: f64, d: DVec2, p: DVec2) -> f64 {
    let linear = k * (d.x + d.y) + p.x + p.y;
    let constant = k * d.x * d.y + p.x * d.y + p.y * d.x;
    let square = linear * linear - 4.0 * k * constant;
    if square < 0.0 {
        return 0.0;
    }
    // Without cancellation, whichever sign the linear term has.
    let q = -0.5 * (linear + linear.signum() * square.sqrt());
    let other = if q == 0.0 { 0.0 } else { constant / q };
    (q / k).max(other).max(0.0)
}

/// Where a function that is negative at `low` and positive at `high` is zero: regula falsi with Illinois' halving, bisection where that
/// is slow.
fn root(f: impl Fn(f64) -> f64, mut low: f64, mut high: f64) -> f64 {
    let (mut below, mut above) = (f(low), f(high));
    if below >= 0.0 {
        return low;
    }
    let mut side = 0;
    for step in 0..MOST_STEPS {
        let width = high - low;
        if width <= 2.0 * f64::EPSILON * high {
            break;
        }
        let falsi = low - below * width / (above - below);
        let middle = if step % 4 == 3 || !(falsi > low && falsi < high) {
            0.5 * (low + high)
        } else {
            falsi
        };
        let value = f(middle);
        if value < 0.0 {
            (low, below) = (middle, value);
            if side == -1 {
                above *= 0.5;
            }
            side = -1;
        } else {
            (high, above) = (middle, value);
            if value == 0.0 {
                return middle;
            }
            if side == 1 {
                below *= 0.5;
            }
            side = 1;
        }
    }
    high
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The force of a contact that is solved once.
    fn solve(w: &DMat3, b: DVec3, friction: f64) -> DVec3 {
        Law::new(w, friction).solve(b)
    }

    /// Numbers from −1 to 1 that do not repeat soon.
    struct Numbers(u64);

    impl Numbers {
        fn next(&mut self) -> f64 {
            self.0 = self
                .0
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (self.0 >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
        }

        fn vector(&mut self) -> DVec3 {
            DVec3::new(self.next(), self.next(), self.next())
        }
    }

    /// How far a force is from fulfilling the laws, relative to the magnitudes that meet.
    fn fault(w: &DMat3, b: DVec3, friction: f64, r: DVec3) -> f64 {
        let u = *w * r + b;
        let scale = b.length() + (*w * r).length();
        let force = r.length().max(f64::MIN_POSITIVE);
        let slip = u.yz().length();
        let mut worst = (-u.x / scale).max(-r.x / force).max((u.x * r.x).abs() / (scale * force));
        worst = worst.max((r.yz().length() - friction * r.x) / force);
        // Where it slides, friction is at its limit and straight against it.
        if slip > 1e-9 * scale && r.x > 0.0 {
            let wanted = -u.yz() / slip * (friction * r.x);
            worst = worst.max((r.yz() - wanted).length() * slip / (force * scale));
        }
        worst
    }

    /// Well coupled, nearly singular, isotropic, heavily coupled: whatever a contact may meet.
    #[test]
    fn the_laws_hold_to_rounding_for_any_contact() {
        let mut numbers = Numbers(7);
        let mut kinds = [0; 3];
        for n in 0..40_000 {
            let thin = if n % 3 == 0 { 1e-4 } else { 0.3 };
            let root = DMat3::from_cols(numbers.vector(), numbers.vector(), numbers.vector());
            let mut w = root * root.transpose() + DMat3::from_diagonal(DVec3::splat(thin));
            if n % 5 == 0 {
                w = DMat3::from_diagonal(DVec3::new(1.0, 0.4, 0.4));
            }
            let b = numbers.vector() - DVec3::X * 0.3;
            let friction = [0.0, 0.1, 0.5, 1.0, 3.0][n % 5 % 4 + n % 2] * 1.0;
            let r = solve(&w, b, friction);
            let found = fault(&w, b, friction, r);
            assert!(found < 1e-8, "{found:e} for {w} {b} {friction}: {r}");
            let u = w * r + b;
            let kind = if r == DVec3::ZERO { 0 } else { 1 + usize::from(u.yz().length() > 1e-9) };
            kinds[kind] += 1;
        }
        assert!(kinds.iter().all(|&count| count > 3000), "{kinds:?}");
    }

    #[test]
    fn a_point_by_itself_slides_by_the_closed_form() {
        let w = DMat3::from_diagonal(DVec3::splat(0.25));
        let r = solve(&w, DVec3::new(-1.0, 3.0, 4.0), 0.5);
        assert!((r - DVec3::new(4.0, -1.2, -1.6)).length() < 1e-12, "{r}");
        assert_eq!(solve(&w, DVec3::new(0.0, 3.0, 4.0), 0.5), DVec3::ZERO);
        let held = solve(&w, DVec3::new(-1.0, 0.3, 0.4), f64::INFINITY);
        assert!((held - DVec3::new(4.0, -1.2, -1.6)).length() < 1e-12, "{held}");
    }
}
