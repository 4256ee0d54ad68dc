//! Smooth noise over space and time, and turbulence made of it: the same for the same seed, on every machine and thread.
//!
//! Gradient noise (Perlin 2002) in four dimensions, the fourth being time. Turbulence is the curl of three of them (Bridson,
//! Houriham and Nordenstam 2007), so that it has no sources or sinks at all, in octaves.

use crate::error::{Result, in_range, positive};
use undine_core::glam::{DVec3, DVec4};
use undine_geometry::random;

/// The root mean square of [`curl`], measured over a large block of it.
const CURL_RMS: f64 = 1.761;

/// A field that swirls.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Turbulence {
    seed: u64,
    strength: f64,
    size: f64,
    period: f64,
    octaves: u32,
    gain: f64,
    /// The place from which it is counted [m].
    centre: DVec3,
}

impl Turbulence {
    /// Of a root mean square strength, with swirls of a size [m] that live for a period [s]. Each further octave of at most 16 has
    /// half the size, `gain` times the strength, and lives as long as an eddy of its size does in real turbulence (Kolmogorov:
    /// size to the power of 2/3). Kolmogorov's gain is 0.63 for forces, which go with the square of velocities.
    pub fn new(
        seed: u64,
        strength: f64,
        size: f64,
        period: f64,
        (octaves, gain): (u32, f64),
    ) -> Result<Self> {
        let count = f64::from(octaves);
        in_range("the octaves of turbulence", count, (1..=16).contains(&octaves), "from 1 to 16")?;
        in_range("the gain of turbulence", gain, (0.0..=1.0).contains(&gain), "from 0 to 1")?;
        in_range("the strength of turbulence", strength, strength.is_finite(), "finite")?;
        Ok(Self {
            seed,
            strength,
            size: positive("the size of swirls [m]", size)?,
            period: positive("the period of swirls [s]", period)?,
            octaves,
            gain,
            centre: DVec3::ZERO,
        })
    }

    /// The same around a place [m] as it is around the origin without.
    pub fn about(self, centre: DVec3) -> Self {
        Self { centre, ..self }
    }

    /// The field at a place [m] and time [s].
    pub fn at(&self, place: DVec3, time: f64) -> DVec3 {
        let place = place - self.centre;
        let (mut sum, mut squares, mut strength) = (DVec3::ZERO, 0.0, 1.0);
        for octave in 0..self.octaves {
            let finer = f64::from(1_u32 << octave);
            let (x, t) = (place * (finer / self.size), time * finer.cbrt().powi(2) / self.period);
            sum += curl(random::bits(self.seed, u64::from(octave)), x.extend(t)) * strength;
            squares += strength * strength;
            strength *= self.gain;
        }
        sum * (self.strength / (CURL_RMS * f64::sqrt(squares)))
    }
}

/// The curl over x, y and z of three noises.
pub fn curl(seed: u64, at: DVec4) -> DVec3 {
    let [a, b, c] = [0, 1, 2].map(|n| noise(random::bits(seed, n), at).1);
    DVec3::new(c.y - b.z, a.z - c.x, b.x - a.y)
}

/// Noise of mean 0, between −1.5 and 1.5, on a lattice of cells of side 1: its value and gradient.
pub fn noise(seed: u64, at: DVec4) -> (f64, DVec4) {
    let low = at.floor();
    let inside = at - low;
    let cell = low.to_array().map(|x| x as i64);
    // Perlin's fade 6t⁵ − 15t⁴ + 10t³, whose second derivative is continuous, and its slope.
    let fade = inside.to_array().map(|t| t * t * t * (t * (t * 6.0 - 15.0) + 10.0));
    let slope = inside.to_array().map(|t| 30.0 * t * t * (t - 1.0) * (t - 1.0));
    let (mut value, mut gradient) = (0.0, DVec4::ZERO);
    for corner in 0..16 {
        let bits = [0, 1, 2, 3].map(|axis| corner >> axis & 1);
        let [x, y, z, t] = [0, 1, 2, 3].map(|axis| cell[axis].wrapping_add(bits[axis]) as u64);
        let number = random::bits(random::bits(x, y), random::bits(z, t));
        let direction = direction(random::bits(seed, number));
        let dot = direction.dot(inside - DVec4::from_array(bits.map(|bit| bit as f64)));
        let shares = [0, 1, 2, 3].map(|k| if bits[k] == 1 { fade[k] } else { 1.0 - fade[k] });
        let [a, b, c, d] = shares;
        let weight = a * b * c * d;
        let steep = [0, 1, 2, 3].map(|k| if bits[k] == 1 { slope[k] } else { -slope[k] });
        let change = [
            steep[0] * b * c * d,
            a * steep[1] * c * d,
            a * b * steep[2] * d,
            a * b * c * steep[3],
        ];
        value += weight * dot;
        gradient += direction * weight + DVec4::from_array(change) * dot;
    }
    (value, gradient)
}

/// One of Perlin's 32 directions in four dimensions: the middles of a hypercube's edges.
fn direction(bits: u64) -> DVec4 {
    let sign = |bit: u32| if bits >> bit & 1 == 1 { 1.0 } else { -1.0 };
    let mut direction = DVec4::new(sign(0), sign(1), sign(2), sign(3));
    direction[(bits >> 4 & 3) as usize] = 0.0;
    direction
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(n: u64) -> DVec4 {
        DVec4::from_array([0, 1, 2, 3].map(|k| 200.0 * (random::unit(9, 4 * n + k) - 0.5)))
    }

    #[test]
    fn gradients_are_the_derivatives() {
        for n in 0..300 {
            let (at, step) = (place(n), 1e-5);
            let gradient = noise(5, at).1;
            for (axis, unit) in DVec4::AXES.into_iter().enumerate() {
                let change = noise(5, at + unit * step).0 - noise(5, at - unit * step).0;
                assert!((change / (2.0 * step) - gradient[axis]).abs() < 1e-7, "{at}");
            }
        }
    }

    #[test]
    fn noise_has_no_preferred_sign_and_vanishes_on_the_lattice() {
        assert_eq!(noise(3, DVec4::new(4.0, -7.0, 12.0, 0.0)).0, 0.0);
        let mean = (0..20_000).map(|n| noise(3, place(n)).0).sum::<f64>() / 20_000.0;
        assert!(mean.abs() < 0.01, "{mean}");
        assert!((0..20_000).all(|n| noise(3, place(n)).0.abs() < 1.5));
    }

    #[test]
    fn turbulence_has_no_sources() {
        let field = Turbulence::new(1, 2.0, 0.5, 1.0, (3, 0.6)).unwrap();
        for n in 0..200 {
            let at = place(n).truncate() * 0.1;
            let step = 1e-5;
            let change = |axis: DVec3| {
                (field.at(at + axis * step, 0.3) - field.at(at - axis * step, 0.3)) / (2.0 * step)
            };
            let divergence = change(DVec3::X).x + change(DVec3::Y).y + change(DVec3::Z).z;
            let size = change(DVec3::X).length() + change(DVec3::Y).length();
            assert!(divergence.abs() < 1e-5 * (1.0 + size), "{divergence} of {size} at {at}");
        }
    }

    #[test]
    fn turbulence_is_as_strong_as_it_says_and_moves_on() {
        for octaves in [(1, 0.5), (4, 0.63)] {
            let field = Turbulence::new(7, 3.0, 0.5, 2.0, octaves).unwrap();
            let square = |n| field.at(place(n).truncate(), 0.1 * n as f64).length_squared();
            let rms = ((0..20_000).map(square).sum::<f64>() / 20_000.0).sqrt();
            assert!((rms / 3.0 - 1.0).abs() < 0.03, "{rms}");
            let mean =
                (0..20_000).map(|n| field.at(place(n).truncate(), 0.0)).sum::<DVec3>() / 20_000.0;
            assert!(mean.length() < 0.1, "{mean}");
            // Two periods later nothing is left of it.
            let alike =
                |n| field.at(place(n).truncate(), 0.0).dot(field.at(place(n).truncate(), 4.3));
            assert!(((0..20_000).map(alike).sum::<f64>() / 20_000.0).abs() < 0.05 * 9.0);
        }
    }

    #[test]
    fn far_away_and_long_after_it_is_finite() {
        let field = Turbulence::new(7, 3.0, 0.5, 2.0, (2, 0.5)).unwrap();
        for far in [1e6, 1e15, 1e30, 1e200] {
            assert!(field.at(DVec3::splat(far), far).is_finite(), "{far}");
            assert!(field.at(DVec3::splat(-far), -far).is_finite(), "{far}");
        }
        assert!(Turbulence::new(1, 1.0, 0.0, 1.0, (1, 0.5)).is_err());
        assert!(Turbulence::new(1, f64::NAN, 1.0, 1.0, (1, 0.5)).is_err());
        assert!(Turbulence::new(1, 1.0, 1.0, 1.0, (40, 0.5)).is_err());
    }
}
