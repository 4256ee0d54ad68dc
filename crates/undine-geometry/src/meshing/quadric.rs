//! Quadrics: the weighted sum of squared distances to planes, as a polynomial of the place.
//!
//! Garland and Heckbert 1997, *Surface simplification using quadric error metrics*, §5: Δ(v) = vᵀA v + 2 bᵀv + c.

use std::ops::Add;
use undine_core::glam::{DMat3, DVec3};

/// A sum of squared distances to planes.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Quadric {
    /// The upper triangle of A, row by row.
    a: [f64; 6],
    b: DVec3,
    c: f64,
    /// The sum of the planes' weights.
    pub weight: f64,
}

impl Quadric {
    /// The squared distance to a plane through `point`, whose `normal` has length 1, times `weight`.
    pub fn plane(point: DVec3, normal: DVec3, weight: f64) -> Self {
        let (n, d) = (normal, -normal.dot(point));
        let a = [n.x * n.x, n.x * n.y, n.x * n.z, n.y * n.y, n.y * n.z, n.z * n.z];
        Self { a: a.map(|a| weight * a), b: weight * d * n, c: weight * d * d, weight }
    }

    /// The sum of squared distances at a place, never below zero.
    pub fn at(&self, place: DVec3) -> f64 {
        (place.dot(self.matrix() * place) + 2.0 * self.b.dot(place) + self.c).max(0.0)
    }

    /// The place of the least sum. Along directions in which the sum hardly changes it stays with `guess`.
    pub fn least(&self, guess: DVec3) -> DVec3 {
        let [xx, _, _, yy, _, zz] = self.a;
        let ridge = 1e-8 * (xx + yy + zz);
        if ridge <= 0.0 || !ridge.is_finite() {
            return guess;
        }
        let [xx, yy, zz] = [xx + ridge, yy + ridge, zz + ridge];
        let [_, xy, xz, _, yz, _] = self.a;
        // (A + εI)(v − guess) = −(A guess + b) by Cholesky's factors L D Lᵀ, whose D the ridge keeps positive.
        let right = -(self.matrix() * guess + self.b);
        let (l10, l20) = (xy / xx, xz / xx);
        let d1 = (yy - l10 * xy).max(ridge);
        let l21 = (yz - l20 * xy) / d1;
        let d2 = (zz - l20 * xz - l21 * l21 * d1).max(ridge);
        let y0 = right.x;
        let y1 = right.y - l10 * y0;
        let y2 = right.z - l20 * y0 - l21 * y1;
        let z = y2 / d2;
        let y = y1 / d1 - l21 * z;
        let x = y0 / xx - l10 * y - l20 * z;
        guess + DVec3::new(x, y, z)
    }

    fn matrix(&self) -> DMat3 {
        let [xx, xy, xz, yy, yz, zz] = self.a;
        DMat3::from_cols_array(&[xx, xy, xz, xy, yy, yz, xz, yz, zz])
    }
}

impl Add for Quadric {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        let a = std::array::from_fn(|n| self.a[n] + other.a[n]);
        Self { a, b: self.b + other.b, c: self.c + other.c, weight: self.weight + other.weight }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_sum_is_where_three_planes_meet() {
        let corner = DVec3::new(0.3, -0.7, 2.0);
        let normals = [DVec3::X, DVec3::new(0.6, 0.8, 0.0), DVec3::new(0.0, 0.6, 0.8)];
        let planes = normals.map(|normal| Quadric::plane(corner, normal, 2.0));
        let all = planes[0] + planes[1] + planes[2];
        assert!(all.least(DVec3::ZERO).distance(corner) < 1e-5);
        assert!(all.at(corner) < 1e-12 && all.weight == 6.0);
        assert!((all.at(corner + DVec3::X) - 2.0 * (1.0 + 0.36)).abs() < 1e-9);
        // With one plane only the distance to it is told; the rest stays as guessed.
        let least = planes[0].least(DVec3::new(5.0, 6.0, 7.0));
        assert!(least.distance(DVec3::new(0.3, 6.0, 7.0)) < 1e-6, "{least}");
        assert_eq!(Quadric::default().least(DVec3::ONE), DVec3::ONE);
    }
}
