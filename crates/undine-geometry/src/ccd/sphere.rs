//! Two moving spheres: a quadratic, solved without cancellation.

use super::{Gap, check};
use crate::error::{Result, positive};
use undine_core::glam::DVec3;

/// The first contact of two spheres.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SphereContact {
    /// When it is, in 0 .. 1.
    pub time: f64,
    /// From the second centre towards the first, of length 1; against the motion if the centres coincide.
    pub normal: DVec3,
}

/// The first contact of two spheres with these radii [m], whose centres move from `start` to `end` [m].
///
/// With r(t) = r₀ + t d the difference of the centres and ρ the sum of radii and separation, |r(t)| = ρ at
/// t = c / (√(|d|² ρ² - |r₀ × d|²) - r₀·d), c = |r₀|² - ρ². This form of root and discriminant has no differences of
/// nearly equal numbers for spheres that pass close by; what rounding is left is given to ρ, so that the time is never
/// late. A gap's tolerance is not needed.
pub fn sphere_sphere(
    radii: [f64; 2],
    start: [DVec3; 2],
    end: [DVec3; 2],
    gap: Gap,
) -> Result<Option<SphereContact>> {
    check(&start)?;
    check(&end)?;
    let mut sum = gap.separation;
    for radius in radii {
        sum += if radius == 0.0 { 0.0 } else { positive("the radius of a sphere", radius)? };
    }
    let (r, last) = (start[0] - start[1], end[0] - end[1]);
    let d = last - r;
    let extent = r.abs().element_sum().max(last.abs().element_sum()).max(sum);
    let sum = sum + 64.0 * f64::EPSILON * extent;
    // Lengths in units of the extent, so that no square over- or underflows.
    if extent == 0.0 {
        return Ok(Some(SphereContact { time: 0.0, normal: DVec3::Z }));
    }
    let (r, d, sum) = (r / extent, d / extent, sum / extent);

    let c = (r.length() - sum) * (r.length() + sum);
    let b = r.dot(d);
    let time = if c <= 0.0 {
        0.0
    } else {
        let discriminant = d.length_squared() * sum * sum - r.cross(d).length_squared();
        if b >= 0.0 || discriminant < 0.0 {
            return Ok(None);
        }
        c / (discriminant.sqrt() - b)
    };
    if time > 1.0 {
        return Ok(None);
    }
    let at = r + d * time;
    let normal = [at, -d, DVec3::Z].into_iter().find_map(DVec3::try_normalize);
    Ok(Some(SphereContact { time, normal: normal.unwrap_or(DVec3::Z) }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::unit;

    #[test]
    fn two_spheres_meet_where_the_distance_of_their_centres_is_the_sum_of_their_radii() {
        let mut met = 0;
        for n in 0..200_000_u64 {
            let scale = 10.0_f64.powi((n % 13) as i32 - 6);
            let vector = |k: u64| {
                let x = |axis| scale * (2.0 * unit(3, 32 * n + 3 * k + axis) - 1.0);
                DVec3::new(x(0), x(1), x(2))
            };
            let radii = [0.3, 0.4].map(|most| scale * most * unit(4, n));
            let (start, end) = ([vector(0), vector(1)], [vector(2), vector(3)]);
            let found = sphere_sphere(radii, start, end, Gap::default()).unwrap();
            let apart = |t: f64| (start[0] - start[1]).lerp(end[0] - end[1], t).length();
            let sum = radii[0] + radii[1];
            let until = found.map_or(1.0, |contact| contact.time);
            for step in 0..20 {
                let t = until * f64::from(step) / 20.0;
                assert!(apart(t) > sum * (1.0 - 1e-12) || until == 0.0, "{n}");
            }
            if let Some(contact) = found {
                met += 1;
                assert!(apart(contact.time) <= sum + 1e-12 * scale, "{n}");
                assert!(contact.time == 0.0 || apart(contact.time) >= sum, "{n}: late");
            }
        }
        assert!(met > 20_000);
    }

    #[test]
    fn spheres_that_pass_at_the_sum_of_their_radii_touch() {
        let gap = Gap::new(0.0, 0.0).unwrap();
        for scale in [1e-60, 1e-6, 1.0, 1e6, 1e60] {
            let [x, y] = [DVec3::X, DVec3::Y].map(|v| v * scale);
            let touching =
                sphere_sphere([scale, scale], [-4.0 * x, 2.0 * y], [4.0 * x, 2.0 * y], gap);
            let time = touching.unwrap().unwrap().time;
            assert!((time - 0.5).abs() < 1e-6, "{time}");
            let passing = [-4.0 * x, 2.000001 * y];
            let missed =
                sphere_sphere([scale, scale], passing, [4.0 * x, 2.000001 * y], gap).unwrap();
            assert_eq!(missed, None);
        }
        let rest = sphere_sphere([0.0, 0.0], [DVec3::X; 2], [DVec3::X; 2], gap).unwrap().unwrap();
        assert_eq!(rest.time, 0.0);
        assert!(rest.normal.is_normalized());
        assert!(sphere_sphere([f64::NAN, 1.0], [DVec3::X; 2], [DVec3::X; 2], gap).is_err());
        assert!(sphere_sphere([1.0, 1.0], [DVec3::NAN; 2], [DVec3::X; 2], gap).is_err());
    }
}
