//! What light does at a surface of water and inside: Fresnel, Snell, Beer and Lambert.

use std::f32::consts::PI;
use undine_core::glam::Vec3;

/// How much slower light is in water than in air.
pub(crate) const INDEX: f32 = 1.333;

/// The part of unpolarised light that a surface mirrors, by the cosine of its angle to the normal; `index` is that of the far side over
/// that of the near side.
pub(super) fn mirrored(cosine: f32, index: f32) -> f32 {
    let cosine = cosine.clamp(0.0, 1.0);
    let sine2 = (1.0 - cosine * cosine) / (index * index);
    if sine2 >= 1.0 {
        return 1.0;
    }
    let beyond = (1.0 - sine2).sqrt();
    let across = (cosine - index * beyond) / (cosine + index * beyond);
    let along = (beyond - index * cosine) / (beyond + index * cosine);
    0.5 * (across * across + along * along)
}

/// Where light of a direction goes on behind a surface whose normal looks against it; none if all is mirrored.
pub(super) fn bent(direction: Vec3, normal: Vec3, index: f32) -> Option<Vec3> {
    let cosine = -direction.dot(normal);
    let sine2 = (1.0 - cosine * cosine) / (index * index);
    let beyond = 1.0 - sine2;
    (beyond > 0.0).then(|| {
        (direction / index + (cosine / index - beyond.sqrt()) * normal).normalize_or(direction)
    })
}

/// Where light of a direction is mirrored to.
pub(super) fn reflected(direction: Vec3, normal: Vec3) -> Vec3 {
    direction - 2.0 * direction.dot(normal) * normal
}

/// What a length [m] of water leaves of light.
pub(super) fn left(absorption: Vec3, length: f32) -> Vec3 {
    (-absorption * length.max(0.0)).exp()
}

/// How brightly a rough surface mirrors a small light towards the eye, for a light of 1 from its direction on a surface across it
/// (GGX: Walter et al., *Microfacet models for refraction through rough surfaces*, 2007).
pub(super) fn glint(normal: Vec3, to_eye: Vec3, to_light: Vec3, roughness: f32) -> f32 {
    let (cosine, lit) = (normal.dot(to_eye), normal.dot(to_light));
    if cosine <= 0.0 || lit <= 0.0 {
        return 0.0;
    }
    let half = (to_eye + to_light).normalize_or(normal);
    let alpha2 = roughness.powi(4);
    let around = normal.dot(half).powi(2) * (alpha2 - 1.0) + 1.0;
    let spread = alpha2 / (PI * around * around);
    let shading =
        |cosine: f32| 2.0 * cosine / (cosine + (alpha2 + (1.0 - alpha2) * cosine * cosine).sqrt());
    let mirrored = mirrored(half.dot(to_light), INDEX);
    mirrored * spread * shading(cosine) * shading(lit) / (4.0 * cosine)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn water_mirrors_two_percent_straight_on_and_all_at_a_grazing_angle() {
        let straight = ((INDEX - 1.0) / (INDEX + 1.0)).powi(2);
        assert!((mirrored(1.0, INDEX) - straight).abs() < 1e-6 && (straight - 0.02).abs() < 5e-4);
        assert!((mirrored(1.0, 1.0 / INDEX) - straight).abs() < 1e-6);
        assert!((mirrored(0.0, INDEX) - 1.0).abs() < 1e-6);
        // At Brewster's angle only light across the plane is mirrored: ½ ((n² − 1) / (n² + 1))².
        let brewster = INDEX.atan().cos();
        let expected = 0.5 * ((INDEX * INDEX - 1.0) / (INDEX * INDEX + 1.0)).powi(2);
        assert!((mirrored(brewster, INDEX) - expected).abs() < 1e-6);
    }

    #[test]
    fn all_is_mirrored_from_inside_beyond_the_critical_angle() {
        let critical = (1.0 / INDEX).asin();
        for (angle, is_all) in [(critical - 0.01, false), (critical + 0.01, true)] {
            let direction = Vec3::new(angle.sin(), angle.cos(), 0.0);
            assert_eq!(bent(direction, Vec3::NEG_Y, 1.0 / INDEX).is_none(), is_all);
            assert_eq!(mirrored(angle.cos(), 1.0 / INDEX) == 1.0, is_all);
        }
    }

    #[test]
    fn light_is_bent_as_snell_says() {
        for angle in [0.0, 0.3, 0.9, 1.5f32] {
            let direction = Vec3::new(angle.sin(), -angle.cos(), 0.0);
            let beyond = bent(direction, Vec3::Y, INDEX).unwrap();
            assert!((INDEX * beyond.x - direction.x).abs() < 1e-6 && beyond.y < 0.0);
            assert!((beyond.length() - 1.0).abs() < 1e-6);
        }
    }

    #[test]
    fn a_glint_of_a_rough_surface_sums_to_about_what_a_mirror_gives() {
        // The light mirrored into all directions, from straight above.
        let steps = 400;
        let mut sum = 0.0;
        for n in 0..steps {
            let angle = (n as f32 + 0.5) / steps as f32 * 0.5 * PI;
            let eye = Vec3::new(angle.sin(), angle.cos(), 0.0);
            let ring = 2.0 * PI * angle.sin() * 0.5 * PI / steps as f32;
            sum += glint(Vec3::Y, eye, Vec3::Y, 0.3) * eye.y * ring;
        }
        assert!((sum - mirrored(1.0, INDEX)).abs() < 0.05 * sum, "{sum}");
    }
}
