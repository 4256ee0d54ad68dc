//! Volumes, against what the equation of transfer says.

use crate::stage::spheres;
use undine_core::glam::{DMat3, DVec3, IVec3, Vec3};
use undine_render::shot::{
    Appearance, Camera, Chunk, Colouring, Ground, Light, Shot, Subject, Volume,
};
use undine_render::{Image, Quality, Size, render};

/// A slab that is 4 cubes of 8 voxels thick along z and 12 wide, in cubes of this side.
fn places(side: usize) -> Vec<IVec3> {
    let (wide, thick) = (96 / side as i32, 32 / side as i32);
    let across = (-wide / 2..wide / 2).flat_map(|x| (-wide / 2..wide / 2).map(move |y| (x, y)));
    across.flat_map(|(x, y)| (0..thick).map(move |z| IVec3::new(x, y, z))).collect()
}

fn slab<'a>(side: usize, voxel: f64, density: &'a [f32]) -> Volume<'a> {
    let chunk = |place| Chunk { place, density, temperature: None, values: None };
    let chunks = places(side).into_iter().map(chunk).collect();
    Volume { side, ..Volume::smoke(DVec3::new(0.0, 0.0, -16.0 * voxel), voxel, chunks) }
}

fn shot<'a>(subjects: Vec<Subject<'a>>, eye: DVec3, light: Light) -> Shot<'a> {
    let camera = Camera::new(eye, DVec3::ZERO, DVec3::Y, 0.02).unwrap();
    Shot { subjects, camera, light, grounds: Vec::new(), shutter: 0.0 }
}

fn middle(shot: &Shot<'_>, passes: usize) -> [f32; 4] {
    let image = render(shot, Size::new(5, 5).unwrap(), Quality { passes }).unwrap();
    image.light[12].to_array()
}

const NIGHT: Light = Light {
    sun: Vec3::Z,
    sun_radius: 0.0,
    sun_colour: Vec3::ZERO,
    sky: 0.0,
    horizon: Vec3::ZERO,
    zenith: Vec3::ZERO,
    up: Vec3::Y,
};

#[test]
fn a_slab_takes_away_what_beer_and_lambert_say_at_any_angle_and_size_of_cube() {
    for side in [2, 4, 8, 16] {
        let whole = vec![1.0; side * side * side];
        for density in [&whole[..], &[1.0]] {
            for (angle, extinction) in [(0.0_f64, 0.5_f32), (0.5, 1.0), (0.9, 2.0)] {
                let volume = Volume { extinction, ..slab(side, 0.03125, density) };
                let eye = 3.0 * DVec3::new(angle.sin(), 0.0, angle.cos());
                let wanted = (-extinction / angle.cos() as f32).exp();
                for passes in [1, 8] {
                    let shot = shot(vec![Subject::Volume(volume.clone())], eye, NIGHT);
                    let behind = 1.0 - middle(&shot, passes)[3];
                    let off = (behind - wanted).abs();
                    assert!(off < 1e-3, "{side} {angle} {passes}: {behind} {wanted}");
                }
            }
        }
    }
}

#[test]
fn a_thin_slab_scatters_the_sun_as_a_single_scattering_does() {
    let light = Light { sun: Vec3::new(0.6, 0.0, 0.8), sun_colour: Vec3::ONE, ..NIGHT };
    let albedo = Vec3::new(0.9, 0.5, 0.2);
    let (forward, extinction) = (0.4, 0.2_f32);
    let appearance = Appearance::Smoke { albedo, forward, multiple: 0.0, glow: 0.0 };
    let volume = Volume { extinction, appearance, ..slab(8, 0.03125, &[1.0]) };
    let shot = shot(vec![Subject::Volume(volume)], DVec3::Z * 3.0, light);
    let [r, g, b, _] = middle(&shot, 8);
    // The sun and the eye are on the same side: light goes in by 0.8 and comes out straight.
    let cosine = -0.8_f32;
    let phase = (1.0 - forward * forward)
        / (4.0 * std::f32::consts::PI)
        / (1.0 + forward * forward - 2.0 * forward * cosine).powf(1.5);
    let both = 1.0 + 1.0 / 0.8;
    let wanted = phase * (1.0 - (-extinction * both).exp()) / both;
    for (found, albedo) in [(r, albedo.x), (g, albedo.y), (b, albedo.z)] {
        assert!((found / (wanted * albedo) - 1.0).abs() < 0.01, "{found} {}", wanted * albedo);
    }
}

#[test]
fn the_ground_below_a_slab_has_as_much_sun_as_the_slab_lets_through() {
    let light = Light { sun: Vec3::new(0.3, 0.0, 1.0).normalize(), sun_colour: Vec3::ONE, ..NIGHT };
    let black = Appearance::Smoke { albedo: Vec3::ZERO, forward: 0.0, multiple: 0.0, glow: 0.0 };
    let volume = Volume { appearance: black, ..slab(8, 0.03125, &[1.0]) };
    let ground = Ground { point: DVec3::Z * -1.5, normal: Vec3::Z };
    // From below the slab.
    let camera = Camera::new(DVec3::Z * -0.8, DVec3::Z * -1.5, DVec3::Y, 0.02).unwrap();
    let lit = |subjects| {
        let shot = Shot { subjects, camera, light, grounds: vec![ground], shutter: 0.0 };
        middle(&shot, 1)[0]
    };
    let part = lit(vec![Subject::Volume(volume)]) / lit(Vec::new());
    let wanted = (-1.0 / light.sun.z).exp();
    assert!((part - wanted).abs() < 5e-3, "{part} {wanted}");
}

#[test]
fn the_camera_inside_of_a_slab_sees_the_half_in_front_of_it() {
    let shot = Shot {
        camera: Camera::new(DVec3::ZERO, DVec3::NEG_Z, DVec3::Y, 0.02).unwrap(),
        ..shot(vec![Subject::Volume(slab(8, 0.03125, &[1.0]))], DVec3::Z, NIGHT)
    };
    assert!((1.0 - middle(&shot, 8)[3] - (-0.5_f32).exp()).abs() < 1e-3);
}

#[test]
fn volumes_that_overlap_take_away_the_product_whatever_their_voxels() {
    let subjects = vec![
        Subject::Volume(slab(8, 0.03125, &[1.0])),
        Subject::Volume(Volume { extinction: 0.5, ..slab(4, 0.015_625, &[1.0]) }),
    ];
    let behind = 1.0 - middle(&shot(subjects, DVec3::Z * 3.0, NIGHT), 8)[3];
    assert!((behind - (-1.25_f32).exp()).abs() < 1e-3, "{behind}");
}

/// A ball of distances with cubes all around its surface.
fn ball(radius: f32) -> Vec<(IVec3, Vec<f32>)> {
    let cubes =
        (-3..3).flat_map(|x| (-3..3).flat_map(move |y| (-3..3).map(move |z| IVec3::new(x, y, z))));
    cubes
        .map(|place| {
            let values = (0..512).map(|n| {
                let own = IVec3::new(n >> 6, n >> 3 & 7, n & 7);
                ((8 * place + own).as_vec3() + 0.5).length() - radius
            });
            (place, values.collect())
        })
        .collect()
}

#[test]
fn the_isosurface_of_a_ball_is_where_it_is_and_looks_outwards() {
    let cubes = ball(16.0);
    let chunks = cubes
        .iter()
        .map(|(place, values)| Chunk {
            place: *place,
            density: values,
            temperature: None,
            values: None,
        })
        .collect();
    let appearance =
        Appearance::Surface { level: 0.0, colouring: Colouring::Plain(Vec3::splat(0.5)) };
    let volume = Volume { background: 3.0, appearance, ..Volume::smoke(DVec3::ZERO, 1.0, chunks) };
    let light = Light { sun: Vec3::Z, sun_colour: Vec3::ONE, ..NIGHT };
    let shot = Shot {
        camera: Camera::new(DVec3::Z * 60.0, DVec3::ZERO, DVec3::Y, 0.6).unwrap(),
        ..shot(vec![Subject::Volume(volume)], DVec3::Z * 60.0, light)
    };
    let side = 101;
    let of = |shot: &Shot<'_>| -> Image {
        render(shot, Size::new(side, side).unwrap(), Quality { passes: 1 }).unwrap()
    };
    let image = of(&shot);
    // A sphere of the same size has the same light.
    let places = [DVec3::ZERO];
    let sphere = of(&Shot { subjects: vec![spheres(&places, 16.0)], ..shot });
    let scale = 0.5 * side as f64 / 0.3_f64.tan();
    for (x, y) in [(50, 50), (60, 50), (50, 70), (70, 65)] {
        let aside = DVec3::new(x as f64 - 50.0, 50.0 - y as f64, 0.0) / scale;
        let direction = aside - DVec3::Z;
        let (a, b) = (direction.length_squared(), 60.0 * DVec3::Z.dot(direction));
        let depth = (-b - (b * b - a * (3600.0 - 256.0)).sqrt()) / a;
        let n = y * side + x;
        // Linear interpolation of a distance bends inwards by 1/(8 r) of a voxel.
        assert!((f64::from(image.depth[n]) - depth).abs() < 2e-2, "{} {depth}", image.depth[n]);
        let (light, wanted) = (image.light[n].x, sphere.light[n].x);
        assert!((light - wanted).abs() < 4e-3, "{light} {wanted}");
    }
}

#[test]
fn voxels_that_are_no_numbers_and_volumes_of_nothing_still_give_a_picture() {
    for bad in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, -1.0, f32::MAX] {
        let mut values = vec![0.5; 512];
        values[77] = bad;
        values[511] = bad;
        for density in [&values[..], &[bad]] {
            let hot =
                Chunk { place: IVec3::ZERO, density, temperature: Some(density), values: None };
            let volume = Volume {
                appearance: Appearance::FIRE,
                ..Volume::smoke(DVec3::splat(-0.5), 0.125, vec![hot])
            };
            let shot = shot(vec![Subject::Volume(volume)], DVec3::Z * 3.0, Light::default());
            assert!(middle(&shot, 3).iter().all(|part| part.is_finite()), "{bad}");
        }
    }
    let nothing = Volume::smoke(DVec3::ZERO, 1.0, Vec::new());
    assert_eq!(middle(&shot(vec![Subject::Volume(nothing)], DVec3::Z, NIGHT), 2)[3], 0.0);
}

#[test]
fn cubes_a_thousand_million_apart_are_both_seen() {
    let far = 1_000_000_000;
    let chunk =
        |z| Chunk { place: IVec3::new(0, 0, z), density: &[1.0], temperature: None, values: None };
    let volume = Volume::smoke(DVec3::new(-4.0, -4.0, 0.0), 1.0, vec![chunk(0), chunk(-far)]);
    let volume = Volume { extinction: 0.05, ..volume };
    let camera = Camera::new(DVec3::Z * 20.0, DVec3::ZERO, DVec3::Y, 1e-2).unwrap();
    let shot = Shot { camera, ..shot(vec![Subject::Volume(volume)], DVec3::Z, NIGHT) };
    let image = render(&shot, Size::new(1, 1).unwrap(), Quality { passes: 1 }).unwrap();
    let behind = 1.0 - image.light[0].w;
    assert!((behind - (-0.8_f32).exp()).abs() < 1e-2, "{behind}");
}

#[test]
fn a_volume_that_cannot_be_is_an_error_that_says_what_would_be_right() {
    let volume = slab(8, 0.03125, &[1.0]);
    let refused = |volume: Volume<'_>| {
        let shot = shot(vec![Subject::Volume(volume)], DVec3::Z, NIGHT);
        render(&shot, Size::new(1, 1).unwrap(), Quality::PREVIEW).unwrap_err().to_string()
    };
    assert!(refused(Volume { side: 7, ..volume.clone() }).contains("2, 4, 8 or 16"));
    assert!(refused(Volume { edges: DMat3::ZERO, ..volume.clone() }).contains("neither flat"));
    assert!(refused(Volume { extinction: f32::NAN, ..volume.clone() }).contains("finite"));
    let chunks = vec![Chunk { place: IVec3::ZERO, density: &[], temperature: None, values: None }];
    assert!(refused(Volume { chunks, ..volume }).contains("512 or one"));
}

#[test]
fn smoke_is_the_same_on_any_number_of_threads() {
    let cubes = ball(12.0);
    let dense: Vec<(IVec3, Vec<f32>)> = cubes
        .into_iter()
        .map(|(place, values)| (place, values.iter().map(|d| (-d * 0.2).clamp(0.0, 1.0)).collect()))
        .collect();
    let on = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let chunks = dense
                .iter()
                .map(|(place, values)| Chunk {
                    place: *place,
                    density: values,
                    temperature: None,
                    values: None,
                })
                .collect();
            let volume = Volume::smoke(DVec3::ZERO, 1.0, chunks);
            let camera = Camera::new(DVec3::Z * 60.0, DVec3::ZERO, DVec3::Y, 0.6).unwrap();
            let ground = Ground { point: DVec3::Y * -14.0, normal: Vec3::Y };
            let subjects = vec![Subject::Volume(volume)];
            let light = Light::default();
            let shot = Shot { subjects, camera, light, grounds: vec![ground], shutter: 0.0 };
            render(&shot, Size::new(80, 60).unwrap(), Quality { passes: 3 }).unwrap()
        })
    };
    let one = on(1);
    for threads in [2, 3, 7] {
        assert_eq!(one, on(threads), "{threads} threads");
    }
}
