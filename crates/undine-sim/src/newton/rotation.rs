//! Rotations by rotation vectors: exp, log, and how log changes (Solà et al. 2018, *A micro Lie theory*, eq. 132–146).
//!
//! A rotation R is turned by a small θ as R ← exp(θ)·R, θ in world axes [rad].

use undine_core::glam::{DMat3, DQuat, DVec3};

/// Angles below this [rad] use series: two terms are exact to rounding.
const SMALL: f64 = 1e-4;

/// The matrix \[v\]× of the cross product: \[v\]×·w = v × w.
#[inline]
pub fn cross(v: DVec3) -> DMat3 {
    DMat3::from_cols(
        DVec3::new(0.0, v.z, -v.y),
        DVec3::new(-v.z, 0.0, v.x),
        DVec3::new(v.y, -v.x, 0.0),
    )
}

/// The matrix a bᵀ.
#[inline]
pub fn outer(a: DVec3, b: DVec3) -> DMat3 {
    DMat3::from_cols(a * b.x, a * b.y, a * b.z)
}

/// The rotation by a vector: its length is the angle [rad].
pub fn exp(theta: DVec3) -> DMat3 {
    DMat3::from_quat(DQuat::from_scaled_axis(theta))
}

/// The rotation vector of a rotation, of length π at most.
pub fn log(rotation: &DMat3) -> DVec3 {
    log_quat(DQuat::from_mat3(rotation))
}

/// The rotation vector that takes one orientation to another, of length π at most; exactly zero if they are the same.
pub fn turn_between(from: DQuat, to: DQuat) -> DVec3 {
    if from == to { DVec3::ZERO } else { log_quat(to * from.inverse()) }
}

fn log_quat(q: DQuat) -> DVec3 {
    let (v, w) = (DVec3::new(q.x, q.y, q.z), q.w);
    // q and −q are the same rotation; the one with w ≥ 0 turns by π at most.
    let (v, w) = if w < 0.0 { (-v, -w) } else { (v, w) };
    let sin = v.length();
    if sin < 0.5 * SMALL {
        // atan(t)/t with t = sin/w.
        let t = sin / w;
        return v * (2.0 / w * (1.0 - t * t / 3.0));
    }
    v * (2.0 * sin.atan2(w) / sin)
}

/// J⁻¹ of the left Jacobian at θ: log(exp(δ)·exp(θ)) = θ + J⁻¹·δ for small δ.
pub fn left_jacobian_inverse(theta: DVec3) -> DMat3 {
    let square = theta.length_squared();
    let angle = square.sqrt();
    // (1 − (θ/2)·cot(θ/2))/θ².
    let factor = if angle < SMALL {
        1.0 / 12.0 + square / 720.0
    } else {
        let half = 0.5 * angle;
        (1.0 - half * half.cos() / half.sin()) / square
    };
    let k = cross(theta);
    DMat3::IDENTITY - k * 0.5 + k * k * factor
}

#[cfg(test)]
mod tests {
    use super::*;

    fn vectors() -> impl Iterator<Item = DVec3> {
        let axis = DVec3::new(0.36, -0.48, 0.8);
        [0.0, 1e-9, 1e-5, 9e-5, 1.1e-4, 0.1, 1.0, 2.0, 3.0, 3.13].into_iter().map(move |a| axis * a)
    }

    #[test]
    fn log_takes_back_what_exp_did() {
        for theta in vectors() {
            let back = log(&exp(theta));
            // Near π, where opposite turns meet, the quaternion's digits are still those of half the angle.
            assert!((back - theta).length() < 1e-14 * (1.0 + theta.length()), "{theta} {back}");
        }
    }

    #[test]
    fn the_left_jacobian_is_how_log_changes() {
        let h = 1e-6;
        for theta in vectors().filter(|theta| theta.length() < 3.1) {
            let inverse = left_jacobian_inverse(theta);
            for axis in [DVec3::X, DVec3::Y, DVec3::Z] {
                let turned = |sign: f64| log(&(exp(axis * (sign * h)) * exp(theta)));
                let wanted = (turned(1.0) - turned(-1.0)) / (2.0 * h);
                assert!((inverse * axis - wanted).length() < 1e-8, "{theta} {axis}");
            }
        }
    }
}
