//! What cannot be surfaced is refused, with the number that is wrong and one that would be right.

use super::sets::*;
use undine_core::glam::DVec3;
use undine_core::{Frame, GridDomain, MemoryBudget};
use undine_geometry::surfacing::{Anisotropy, Particles, Radii, Surfacing};

fn refusal(how: &Surfacing, voxel: f64, particles: &Particles<'_>) -> String {
    match how.surface("surface", &domain(voxel), particles) {
        Ok(_) => panic!("{particles:?} was taken"),
        Err(error) => error.to_string(),
    }
}

#[test]
fn bad_sets_are_refused() {
    let how = Surfacing::default();
    let empty = refusal(&how, 0.1, &all(&[], 0.1));
    assert_eq!(empty, "a set of particles is empty, but a surface needs a particle");
    let nan = refusal(&how, 0.1, &all(&[DVec3::ZERO, DVec3::new(0.0, f64::NAN, 0.0)], 0.1));
    assert!(nan.contains("particle 1"), "{nan}");
    let far = refusal(&how, 0.1, &all(&[DVec3::ZERO, DVec3::splat(1e12)], 0.1));
    assert!(far.contains("particle 1"), "{far}");
    for radius in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let found = refusal(&how, 0.1, &all(&[DVec3::ZERO], radius));
        assert!(found.contains("the radius of particles is"), "{found}");
        let each = Particles {
            positions: &[DVec3::ZERO; 2],
            radii: Radii::Each(&[0.1, radius]),
            velocities: None,
        };
        let found = refusal(&how, 0.1, &each);
        assert!(found.contains("particle 1 has the radius"), "{found}");
    }
    // One that is far too large is told with the voxels that would suit it.
    let huge = Particles {
        positions: &[DVec3::ZERO; 2],
        radii: Radii::Each(&[0.1, 1e6]),
        velocities: None,
    };
    let found = refusal(&how, 0.1, &huge);
    assert!(found.contains("take from 7812.5 m"), "{found}");
    let still = Particles { velocities: Some(&[]), ..all(&[DVec3::ZERO], 0.1) };
    let found = refusal(&how, 0.1, &still);
    assert_eq!(found, "the velocities of particles has 0 entries, but 1 are wanted");
    let short =
        Particles { positions: &[DVec3::ZERO; 2], radii: Radii::Each(&[0.1]), velocities: None };
    let found = refusal(&how, 0.1, &short);
    assert_eq!(found, "the radii of particles has 1 entries, but 2 are wanted");
}

#[test]
fn voxels_that_do_not_suit_are_refused_with_those_that_would() {
    let one = [DVec3::ZERO];
    let found = refusal(&Surfacing::default(), 1e-3, &all(&one, 1.0));
    assert!(found.contains("take from 0.0078125 m to 2 m"), "{found}");
    let found = refusal(&Surfacing::default(), 3.0, &all(&one, 1.0));
    assert!(found.contains("take from 0.0078125 m to 2 m"), "{found}");
    surface(&Surfacing::default(), 1.0 / 128.0, &all(&one, 0.9));

    // In a small budget, larger voxels are offered, and fit.
    let points = sheet(4.0, 0.05, 0.3);
    let run = |voxel: f64| {
        let frame = Frame::new(DVec3::ZERO, voxel).unwrap();
        let domain = GridDomain::new("space", frame).with_budget(MemoryBudget::new(20_000_000));
        Surfacing::default().surface("surface", &domain, &all(&points, 0.05)).map(drop)
    };
    let error = run(0.005).unwrap_err();
    let undine_geometry::GeometryError::VoxelsTooSmall { enough, .. } = error else {
        panic!("{error}")
    };
    assert!(enough > 0.005 && enough < 0.1, "{error}");
    run(enough).unwrap();
}

#[test]
fn bad_settings_are_refused() {
    for settings in [
        Anisotropy { search: 0.5, ..Anisotropy::default() },
        Anisotropy { ratio: f64::NAN, ..Anisotropy::default() },
        Anisotropy { droplet_scale: 0.0, ..Anisotropy::default() },
        Anisotropy { smoothing: 1.5, ..Anisotropy::default() },
        Anisotropy { local: -0.1, ..Anisotropy::default() },
        Anisotropy { trail: -1.0, ..Anisotropy::default() },
    ] {
        let found = refusal(&ellipsoids(settings), 0.1, &all(&[DVec3::ZERO], 0.1));
        assert!(found.contains("must be from"), "{found}");
    }
}

#[test]
fn a_droplet_whose_velocity_is_no_number_stays_round() {
    let velocities = [DVec3::new(f64::NAN, 0.0, 0.0), DVec3::new(0.0, f64::INFINITY, 0.0)];
    let points = [DVec3::ZERO, DVec3::X];
    let settings = Anisotropy { trail: 1.0, ..Anisotropy::default() };
    let particles = Particles { velocities: Some(&velocities), ..all(&points, 0.1) };
    let found = surface(&ellipsoids(settings), 0.03, &particles);
    assert_eq!(parts(&mesh(&found)), 2);
    for e in found.ellipsoids() {
        let [along, across] = [DVec3::X, DVec3::Y].map(|axis| (e.stretch * axis).length());
        assert!((along - across).abs() < 1e-6, "{along} {across}");
    }
}

#[test]
fn one_particle_and_coincident_ones_are_a_droplet() {
    for positions in [vec![DVec3::splat(0.3)], vec![DVec3::splat(0.3); 50]] {
        for how in [spheres(), Surfacing::default()] {
            let mesh = mesh(&surface(&how, 0.02, &all(&positions, 0.1)));
            assert_eq!(parts(&mesh), 1);
            let volume = mass(&mesh).volume;
            assert!(volume > 1e-3 && volume < 4.2e-3, "{how:?}: {volume}");
        }
    }
}
