//! Meshes that become level sets: every distance and every side against trying all triangles.

use crate::solids::domain;
use undine_core::glam::{DVec3, IVec3, Vec3};
use undine_core::volume::Resolution;
use undine_core::{Bucket, ChannelSpec, Frame, GridDomain, MemoryBudget};
use undine_geometry::Inside;
use undine_geometry::levelset::{Extent, LevelSet};
use undine_geometry::triangle::closest_point;
use undine_geometry::winding::{Rule, winding_number};
use undine_geometry::{Triangles, gallery, random};

/// The narrow band of a mesh, its inside by winding number.
fn band(mesh: &Triangles, voxel: f64) -> LevelSet {
    LevelSet::of_mesh("mesh", &domain(voxel), mesh, Extent::NARROW, Inside::default()).unwrap()
}

/// The distance to the nearest of all triangles [m].
fn brute_distance(mesh: &Triangles, origin: DVec3, at: DVec3) -> f64 {
    let from = |corner: DVec3| corner - origin - at;
    let squared =
        |corners: [DVec3; 3]| closest_point(corners.map(from), DVec3::ZERO).point.length_squared();
    mesh.iter().map(squared).fold(f64::INFINITY, f64::min).sqrt()
}

/// Every `stride`-th voxel of the level set: where it is, from the Domain's origin [m], and its distance [m].
fn voxels(set: &LevelSet, stride: usize) -> Vec<(DVec3, f32)> {
    let column = set.column().unwrap();
    let topology = set.topology();
    let all = (0..topology.local() as u32).flat_map(|slot| {
        let first = topology.bucket(slot).coord.as_dvec3() * 8.0;
        let chunk = column.chunk(slot).to_vec();
        chunk.into_iter().enumerate().map(move |(place, distance)| {
            let [x, y, z] = Resolution::R8.coords(place).map(|n| n as f64 + 0.5);
            (first + DVec3::new(x, y, z), distance)
        })
    });
    all.step_by(stride).map(|(place, distance)| (place * set.voxel_size(), distance)).collect()
}

/// Compares every `stride`-th voxel with trying all triangles: distances to the bit, and sides where they are settled.
fn check(name: &str, mesh: &Triangles, set: &LevelSet, stride: usize) {
    let origin = set.domain().frame().origin();
    let mut inside = 0;
    for (at, found) in voxels(set, stride) {
        let wanted = (brute_distance(mesh, origin, at) as f32).min(set.width());
        assert_eq!(found.abs(), wanted, "{name} at {at}");
        let winding = winding_number(mesh, at + origin);
        if (winding - 0.5).abs() > 0.05 && f64::from(wanted) > 1e-9 * set.voxel_size() {
            assert_eq!(found < 0.0, winding > 0.5, "{name} at {at}: winding {winding}, {found}");
        }
        inside += usize::from(found < 0.0);
    }
    assert!(inside > 0, "{name} has an inside");
}

/// Buckets without voxels around a mesh are farther away than the band is wide, and know their side.
fn check_beyond(name: &str, mesh: &Triangles, set: &LevelSet) {
    let frame = *set.domain().frame();
    let bounds = mesh.bounds().unwrap();
    let wanted = set.domain().buckets_in_box(bounds.min - 0.2, bounds.max + 0.2, 0).unwrap();
    let column = set.column().unwrap();
    let sampler = set.sampler(&column);
    let missing = wanted.buckets().filter(|&bucket| set.topology().slot(bucket).is_none());
    for bucket in missing {
        for n in [0, 7 * 73, 3 * 73, 7, 7 * 8, 7 * 64] {
            let [x, y, z] = Resolution::R8.coords(n).map(|n| n as f64 + 0.5);
            let at = frame.corner(bucket) - frame.origin() + DVec3::new(x, y, z) * set.voxel_size();
            let distance = brute_distance(mesh, frame.origin(), at);
            assert!(distance as f32 >= set.width(), "{name}: {bucket:?} is missing, {distance}");
            let inside = winding_number(mesh, at + frame.origin()) > 0.5;
            assert_eq!(sampler.at(at + frame.origin()) < 0.0, inside, "{name}: {bucket:?}");
        }
    }
}

fn moved(mesh: &Triangles, by: DVec3) -> Triangles {
    let positions = mesh.positions().iter().map(|position| *position + by).collect();
    Triangles::new(positions, mesh.indices().to_vec()).unwrap()
}

/// Several meshes as one.
fn together(meshes: &[Triangles]) -> Triangles {
    let (mut positions, mut triangles) = (Vec::new(), Vec::new());
    for mesh in meshes {
        let first = positions.len() as u32;
        positions.extend_from_slice(mesh.positions());
        triangles.extend(mesh.indices().iter().map(|corners| corners.map(|n| n + first)));
    }
    Triangles::new(positions, triangles).unwrap()
}

/// The same seen from the other side.
fn inverted(mesh: &Triangles) -> Triangles {
    let triangles = mesh.indices().iter().map(|&[a, b, c]| [a, c, b]).collect();
    Triangles::new(mesh.positions().to_vec(), triangles).unwrap()
}

#[test]
fn made_meshes_have_the_distances_and_sides_of_trying_all_triangles() {
    let cases = [
        ("box", gallery::cuboid(DVec3::new(0.5, 0.4, 0.3)), 0.06),
        ("torus", gallery::torus(0.4, 0.17, 24, 12), 0.05),
        ("knot", gallery::knot(0.065, 60, 6), 0.045),
        ("bunny", gallery::bunny(2), 0.05),
        ("hull", gallery::hull(40).unwrap(), 0.08),
        // Faces in the planes of voxel centres.
        ("aligned box", gallery::cuboid(DVec3::splat(0.3125)), 0.125),
    ];
    for (name, mesh, voxel) in cases {
        let set = band(&mesh, voxel);
        check(name, &mesh, &set, 3);
        check_beyond(name, &mesh, &set);
    }
}

#[test]
fn triangles_smaller_than_voxels_have_them_too() {
    let mesh = gallery::bunny(5);
    check("fine bunny", &mesh, &band(&mesh, 0.04), 97);
    let mesh = gallery::torus(0.4, 0.1, 300, 60);
    check("fine torus", &mesh, &band(&mesh, 0.03), 211);
}

#[test]
fn far_from_the_origin_the_same_is_found() {
    // 10 km away, on a lattice whose origin is there: the same bytes.
    let mesh = gallery::cuboid(DVec3::new(0.5, 0.375, 0.25));
    let far = DVec3::new(10_240.0, -10_240.0, 5_120.0);
    let frame = Frame::new(far, 0.0625).unwrap();
    let there = GridDomain::new("far", frame);
    let mesh_there = moved(&mesh, far);
    let here = band(&mesh, 0.0625);
    let set =
        LevelSet::of_mesh("far", &there, &mesh_there, Extent::NARROW, Inside::default()).unwrap();
    assert_eq!(voxels(&here, 1), voxels(&set, 1));
    // 10 km from the origin of the lattice, to the rounding of positions.
    let set = band(&mesh_there, 0.0625);
    check("box, 10 km away", &mesh_there, &set, 5);
}

#[test]
fn a_mesh_moved_by_whole_voxels_has_the_same_bits() {
    let mesh = gallery::knot(0.065, 80, 8);
    // Positions that are exact wherever they are moved.
    let positions = mesh.positions().iter().map(|p| (*p * 4096.0).round() / 4096.0).collect();
    let mesh = Triangles::new(positions, mesh.indices().to_vec()).unwrap();
    let voxel = 1.0 / 32.0;
    let set = band(&mesh, voxel);
    let step = IVec3::new(3, -5, 13);
    let other = band(&moved(&mesh, step.as_dvec3() * voxel), voxel);
    let column = other.column().unwrap();
    let sampler = other.sampler(&column);
    for (at, distance) in voxels(&set, 1) {
        let voxel = (at / set.voxel_size()).floor().as_ivec3() + step;
        let bucket = Bucket::at(0, voxel >> 3);
        let found = match other.topology().slot(bucket) {
            Some(slot) => sampler.voxel(slot, voxel & 7),
            None if other.beyond().is_inside(bucket) => -other.width(),
            None => other.width(),
        };
        assert_eq!(found.to_bits(), distance.to_bits(), "{at}");
    }
}

#[test]
fn threads_do_not_change_a_bit() {
    let mesh = gallery::bunny(4);
    let made = [1, 2, 7].map(|threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let set = pool.install(|| band(&mesh, 0.03));
        (set.topology().all().clone(), voxels(&set, 1))
    });
    assert!(made[0] == made[1] && made[1] == made[2]);
}

#[test]
fn triangles_of_every_kind_have_the_distance_of_trying_them_all() {
    for seed in 0..6 {
        let number = |n: u64| random::unit(seed, n);
        let point = |n: u64| DVec3::new(number(3 * n), number(3 * n + 1), number(3 * n + 2));
        let mut positions = Vec::new();
        for n in 0..60 {
            let at = point(4 * n);
            // From far below a voxel to the whole scene, some thin, some without area.
            let size = 10.0_f64.powf(-4.0 * number(1000 + n));
            let [u, v] = [1, 2].map(|k| (point(4 * n + k) - 0.5) * size);
            let thin = [1.0, 1e-2, 1e-5, 1e-9, 0.0][n as usize % 5];
            positions.extend([at, at + u, at + 0.7 * u + thin * v]);
        }
        let mut triangles: Vec<[u32; 3]> = (0..60).map(|n| [3 * n, 3 * n + 1, 3 * n + 2]).collect();
        // Duplicates, points, and one inside out.
        triangles.extend([triangles[0], triangles[0], [5, 5, 5], [6, 6, 7], [2, 1, 0]]);
        let mesh = Triangles::new(positions, triangles).unwrap();
        let set = band(&mesh, 0.07);
        for (at, found) in voxels(&set, 1) {
            let wanted = (brute_distance(&mesh, DVec3::ZERO, at) as f32).min(set.width());
            assert_eq!(found.abs(), wanted, "seed {seed} at {at}");
        }
    }
}

#[test]
fn meshes_that_overlap_are_united_and_shells_against_each_other_are_hollow() {
    let ball = |at: f64, radius: f64| moved(&gallery::sphere(radius, 3), DVec3::new(at, 0.0, 0.0));
    let voxel = 0.04;
    let sign = |set: &LevelSet, at: f64| {
        let column = set.column().unwrap();
        set.sampler(&column).at(DVec3::new(at, 0.003, 0.002)) < 0.0
    };
    let united = together(&[ball(0.0, 0.5), ball(0.4, 0.5)]);
    let set = band(&united, voxel);
    check("united", &united, &set, 29);
    assert!(sign(&set, 0.2) && sign(&set, 0.45) && sign(&set, 0.85) && !sign(&set, 1.0));

    let twice = together(&[ball(0.0, 0.5), ball(0.0, 0.5)]);
    check("twice", &twice, &band(&twice, voxel), 29);

    let hollow = together(&[ball(0.0, 0.7), inverted(&ball(0.0, 0.4))]);
    let set = band(&hollow, voxel);
    check("hollow", &hollow, &set, 29);
    assert!(!sign(&set, 0.0) && sign(&set, 0.55) && !sign(&set, 0.8));

    // Turned inside out, a closed mesh bounds nothing, or what it bounded, as one likes.
    let (mesh, other) = (ball(0.0, 0.5), inverted(&ball(0.0, 0.5)));
    assert!(voxels(&band(&other, voxel), 1).iter().all(|(_, distance)| *distance > 0.0));
    let either = Inside::Winding(Rule::NonZero);
    let other = LevelSet::of_mesh("other", &domain(voxel), &other, Extent::NARROW, either).unwrap();
    assert_eq!(voxels(&band(&mesh, voxel), 1), voxels(&other, 1));
}

#[test]
fn a_mesh_with_a_hole_keeps_its_inside_and_a_sheet_has_none() {
    let whole = gallery::sphere(0.5, 3);
    let kept =
        (0..whole.len()).filter(|&n| whole.corners(n)[0].z < 0.4).map(|n| whole.indices()[n]);
    let open = Triangles::new(whole.positions().to_vec(), kept.collect()).unwrap();
    let set = band(&open, 0.04);
    check("open ball", &open, &set, 17);

    let sheet = gallery::sheet([1.0, 1.0], [7, 7]);
    let set = band(&sheet, 0.05);
    for (at, found) in voxels(&set, 1) {
        assert!(found > 0.0, "{at}: {found}");
    }
}

#[test]
fn a_sheet_with_a_thickness_is_a_plate() {
    let sheet = gallery::sheet([1.0, 0.8], [5, 4]);
    for thickness in [0.1, 0.6] {
        let inside = Inside::Thickness(thickness);
        let set =
            LevelSet::of_mesh("plate", &domain(0.05), &sheet, Extent::NARROW, inside).unwrap();
        for (at, found) in voxels(&set, 1) {
            let wanted = brute_distance(&sheet, DVec3::ZERO, at) - 0.5 * thickness;
            assert_eq!(found, (wanted as f32).clamp(-set.width(), set.width()), "{at}");
        }
        let column = set.column().unwrap();
        let sampler = set.sampler(&column);
        assert!(sampler.at(DVec3::new(0.02, 0.01, 0.01)) < 0.0);
        assert!(sampler.at(DVec3::new(0.02, 0.01, 0.5 * thickness + 0.02)) > 0.0);
    }
}

#[test]
fn a_full_level_set_is_exact_everywhere() {
    let mesh = gallery::torus(0.4, 0.15, 20, 10);
    let extent = Extent::Full(2.0);
    let set = LevelSet::of_mesh("full", &domain(0.06), &mesh, extent, Inside::default()).unwrap();
    let bounds = mesh.bounds().unwrap();
    let wanted = set.domain().buckets_in_box(bounds.min - 0.12, bounds.max + 0.12, 0).unwrap();
    assert_eq!(*set.topology().all(), wanted);
    check("full torus", &mesh, &set, 5);
    let mesh = gallery::bunny(4);
    let set = LevelSet::of_mesh("full", &domain(0.06), &mesh, extent, Inside::default()).unwrap();
    check("full bunny", &mesh, &set, 53);
}

#[test]
fn distances_of_a_sphere_converge_and_have_gradients_of_length_one() {
    let mut worst = Vec::new();
    for levels in [2, 3, 4] {
        let set = band(&gallery::sphere(1.0, levels), 0.05);
        let error = |(at, found): &(DVec3, f32)| {
            let wanted = (at.length() - 1.0) as f32;
            if found.abs() < set.width() { f64::from((found - wanted).abs()) } else { 0.0 }
        };
        worst.push(voxels(&set, 1).iter().map(error).fold(0.0, f64::max));
        let voxel = set.voxel_size() as f32;
        let width = set.width();
        let mut set = set;
        set.update("look at gradients", 1, |_, tile, to| {
            for (place, to) in to.iter_mut().enumerate() {
                let [x, y, z] = Resolution::R8.coords(place).map(|n| n as i32);
                let at = |x: i32, y: i32, z: i32| tile.values()[tile.index(x, y, z)];
                let around = [
                    [at(x - 1, y, z), at(x + 1, y, z)],
                    [at(x, y - 1, z), at(x, y + 1, z)],
                    [at(x, y, z - 1), at(x, y, z + 1)],
                ];
                *to = width;
                if around.as_flattened().iter().all(|distance| distance.abs() < width) {
                    let steps = around.map(|[low, high]| (high - low) / (2.0 * voxel));
                    let length = Vec3::from_array(steps).length();
                    assert!((length - 1.0).abs() < 0.05, "{length}");
                }
            }
        })
        .unwrap();
    }
    // Four times the triangles are a quarter as far from the sphere.
    assert!(worst[0] > 3.5 * worst[1] && worst[1] > 3.5 * worst[2] && worst[2] < 3e-3, "{worst:?}");
}

#[test]
fn memory_grows_with_the_area() {
    let mesh = gallery::knot(0.065, 100, 8);
    let buckets = [0.02, 0.01, 0.005].map(|voxel| band(&mesh, voxel).topology().local() as f64);
    assert!(buckets[2] / buckets[1] < 4.4 && buckets[1] / buckets[0] < 4.4, "{buckets:?}");
    assert!(buckets[2] / buckets[1] > 2.5, "{buckets:?}");
}

#[test]
fn voxels_take_on_what_the_nearest_point_carries() {
    let mesh = gallery::bunny(3);
    let (mut set, closest) = LevelSet::of_mesh_with_closest(
        "bunny",
        &domain(0.04),
        &mesh,
        Extent::NARROW,
        Inside::default(),
    )
    .unwrap();
    // A mesh that carries its own positions shows where the nearest points are.
    let position = ChannelSpec::new("nearest", DVec3::INFINITY).unit("m");
    let nearest = closest.carry(&mut set, &mesh, &position, mesh.positions()).unwrap();
    let turning: Vec<Vec3> =
        mesh.positions().iter().map(|p| DVec3::Z.cross(*p).as_vec3()).collect();
    let velocity = ChannelSpec::new("velocity", Vec3::ZERO).unit("m/s");
    let velocity = closest.carry(&mut set, &mesh, &velocity, &turning).unwrap();
    let heat: Vec<f32> = mesh.positions().iter().map(|p| p.x as f32).collect();
    let heat = closest.carry(&mut set, &mesh, &ChannelSpec::new("heat", 0.0), &heat).unwrap();
    let numbers: Vec<u32> = (0..mesh.len() as u32).collect();
    let part = ChannelSpec::new("part", u32::MAX);
    let part = closest.carry_of_triangles(&mut set, &part, &numbers).unwrap();

    let column = set.column().unwrap();
    let volume = set.volume();
    let (nearest, velocity, heat, part) = (
        volume.column(nearest).unwrap(),
        volume.column(velocity).unwrap(),
        volume.column(heat).unwrap(),
        volume.column(part).unwrap(),
    );
    let mut seen = 0;
    for slot in 0..set.topology().local() as u32 {
        let corner = set.domain().frame().corner(set.topology().bucket(slot));
        for place in 0..512 {
            let distance = column.chunk(slot)[place];
            let on = nearest.chunk(slot)[place];
            if distance.abs() >= set.width() {
                assert!(closest.at(slot, place).is_none());
                assert_eq!(part.chunk(slot)[place], u32::MAX);
                continue;
            }
            let (triangle, [u, v, w]) = closest.at(slot, place).unwrap();
            assert_eq!(part.chunk(slot)[place], triangle);
            let [a, b, c] = mesh.corners(triangle as usize);
            let found = f64::from(u) * a + f64::from(v) * b + f64::from(w) * c;
            assert!(found.distance(on) < 1e-6);
            let [x, y, z] = Resolution::R8.coords(place).map(|n| n as f64 + 0.5);
            let at = corner + DVec3::new(x, y, z) * set.voxel_size();
            assert!((on.distance(at) - f64::from(distance.abs())).abs() < 1e-6);
            assert!((DVec3::Z.cross(on).as_vec3() - velocity.chunk(slot)[place]).length() < 1e-6);
            assert!((on.x as f32 - heat.chunk(slot)[place]).abs() < 1e-6);
            seen += 1;
        }
    }
    assert!(seen > 1000);
    drop((column, nearest, velocity, heat, part));

    let few = closest.carry(&mut set, &mesh, &ChannelSpec::new("few", 0.0_f32), &[1.0]);
    assert!(few.unwrap_err().to_string().contains("1 entries"));
    set.cover(&set.topology().all().dilate(1).unwrap()).unwrap();
    let values = vec![0.0_f32; mesh.positions().len()];
    let late = closest.carry(&mut set, &mesh, &ChannelSpec::new("late", 0.0_f32), &values);
    assert!(late.unwrap_err().to_string().contains("with which it was made"));
}

#[test]
fn what_has_no_level_set_is_refused_with_numbers() {
    let of = |mesh: &Triangles, domain: &GridDomain, extent: Extent, inside: Inside| {
        LevelSet::of_mesh("mesh", domain, mesh, extent, inside).unwrap_err().to_string()
    };
    let nothing = Triangles::new(vec![DVec3::ZERO], vec![]).unwrap();
    let refused = of(&nothing, &domain(0.1), Extent::NARROW, Inside::default());
    assert!(refused.contains("a mesh is empty"), "{refused}");

    let mesh = gallery::cuboid(DVec3::ONE);
    for odd in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        for (extent, inside) in [
            (Extent::Band(odd), Inside::default()),
            (Extent::Full(odd), Inside::default()),
            (Extent::NARROW, Inside::Thickness(odd)),
        ] {
            let refused = of(&mesh, &domain(0.1), extent, inside);
            assert!(refused.contains("must be positive"), "{refused}");
        }
    }
    let tight = domain(1e-5).with_budget(MemoryBudget::new(10_000_000));
    for extent in [Extent::NARROW, Extent::Full(1.0)] {
        let refused = of(&mesh, &tight, extent, Inside::default());
        assert!(refused.contains("10.0 MB"), "{refused}");
    }
    let many = gallery::sphere(1.0, 5);
    let tight = domain(0.1).with_budget(MemoryBudget::new(100_000));
    let refused = of(&many, &tight, Extent::NARROW, Inside::default());
    assert!(refused.contains("100.0 kB"), "{refused}");
    // Farther out than Buckets have numbers.
    for scale in [1e9, 1e300] {
        let huge = gallery::cuboid(DVec3::splat(scale));
        of(&huge, &domain(0.1), Extent::NARROW, Inside::default());
    }
}
