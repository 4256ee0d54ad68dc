//! Volumes and points through files of their own, and back.

use crate::vdb_volume::{cube, domain, fill, sphere, two_levels};
use std::io::Cursor;
use std::sync::Arc;
use undine_core::glam::{DVec3, Vec3};
use undine_core::volume::{DiscreteVolume, Resolution, VoxelShape};
use undine_core::{ChannelSpec, GridDomain, MemoryBudget, ParticleSystem, Single};
use undine_io::gather::Order;
use undine_io::particles::{batch_of_points, points_of_particles};
use undine_io::vdb::{
    ChannelGrid, PointOptions, ReadOptions, VdbFile, VolumeOptions, VolumeSampler, points_grid,
    points_of_grid, volume_of_grids,
};
use undine_io::{FileMetadata, Names, Points, UpAxis, Values};
use undine_vdb::{
    Class, Content, Entry, File, Grid, LeafMask, Level, Metadata, Tile, Transform, Tree, VOXELS,
};

fn metadata(up: UpAxis) -> FileMetadata {
    FileMetadata {
        fps: Some(24.0),
        time: Some(1.5),
        frame: Some(36),
        up,
        ..FileMetadata::default()
    }
}

fn written(file: &VdbFile) -> File<Cursor<Vec<u8>>> {
    let mut bytes = Vec::new();
    file.write(&mut bytes).unwrap();
    File::new(Cursor::new(bytes)).unwrap()
}

fn all(file: &mut File<Cursor<Vec<u8>>>) -> Vec<Grid> {
    (0..file.grids().len()).map(|grid| file.grid(grid).unwrap()).collect()
}

/// The bytes of a volume's channels, Bucket after Bucket.
fn contents(volume: &mut DiscreteVolume) -> Vec<(String, Vec<u8>)> {
    let topology = volume.topology().clone();
    let mut contents: Vec<_> = volume
        .columns_mut()
        .map(|(info, column)| {
            let slots = 0..topology.local() as u32;
            (info.name.clone(), slots.flat_map(|slot| column.read_chunk(slot).to_vec()).collect())
        })
        .collect();
    contents.sort();
    contents
}

/// Smoke with a staggered velocity.
fn smoke(origin: DVec3) -> (GridDomain, DiscreteVolume) {
    let domain = domain(origin, 0.125, cube(0, -1, 2));
    let mut volume = DiscreteVolume::new("smoke", &domain);
    let spec = ChannelSpec::new("temperature", 293.0_f32).unit("K");
    let heat = volume.add_channel(&spec, VoxelShape::CELLS).unwrap();
    fill(&volume, heat, |at| 300.0 + (at - origin).x as f32);
    let mac = volume.add_mac("velocity", "m/s", Resolution::R8).unwrap();
    for (axis, face) in mac.faces.into_iter().enumerate() {
        fill(&volume, face, |at| ((at - origin)[axis] * (axis + 1) as f64) as f32);
    }
    (domain, volume)
}

#[test]
fn a_volume_returns_from_a_file_to_the_last_bit() {
    for origin in [DVec3::ZERO, DVec3::new(1e6, -2e5, 0.5)] {
        let (domain, mut volume) = smoke(origin);
        let mut file = VdbFile::new(Arc::new(Single), metadata(UpAxis::Y));
        for channel in ["temperature", "velocity"] {
            let channel = ChannelGrid::customary(channel);
            file.add_channel(&domain, &volume, &channel, &VolumeOptions::default()).unwrap();
        }
        let mut file = written(&file);
        assert_eq!(FileMetadata::of_vdb(file.metadata()), metadata(UpAxis::Y));
        let grids = all(&mut file);
        assert_eq!(grids[1].class, Class::Staggered);
        assert_eq!(grids[0].metadata["unit"], Entry::String("K".into()));
        assert!(grids.iter().all(|grid| grid.metadata.contains_key("creator")));
        let (found, mut back) = volume_of_grids("back", &grids, &ReadOptions::default()).unwrap();
        assert_eq!(found.topology().all(), domain.topology().all());
        assert!(found.frame().origin().distance(origin) < 1e-9);
        assert_eq!(contents(&mut back), contents(&mut volume));
        let heat = back.handle::<f32>("temperature").unwrap();
        assert_eq!(back.channels().info(heat).unwrap().unit, "K");
        assert_eq!(back.column(heat).unwrap().background(), 293.0);
    }
}

#[test]
fn several_levels_return_as_one_channel() {
    let (domain, mut volume) = two_levels(DVec3::new(3.0, 0.0, 0.0), |at| 10.0 + at.x);
    let mut file = VdbFile::new(Arc::new(Single), metadata(UpAxis::Y));
    let channel = ChannelGrid::customary("density");
    file.add_channel(&domain, &volume, &channel, &VolumeOptions::default()).unwrap();
    let grids = all(&mut written(&file));
    let (found, mut back) = volume_of_grids("back", &grids, &ReadOptions::default()).unwrap();
    assert_eq!(found.topology().all(), domain.topology().all());
    assert_eq!(contents(&mut back), contents(&mut volume));
}

#[test]
fn with_z_up_a_volume_returns_if_the_reader_is_told() {
    let (domain, mut volume) = smoke(DVec3::new(1.0, 2.0, 3.0));
    volume.remove_mac("velocity").unwrap();
    let wind = volume.add_channel(&ChannelSpec::new("wind", Vec3::Y), VoxelShape::CELLS).unwrap();
    fill(&volume, wind, |at| at.as_vec3());
    let mut file = VdbFile::new(Arc::new(Single), metadata(UpAxis::Z));
    for channel in ["temperature", "wind"] {
        let channel = ChannelGrid::customary(channel);
        file.add_channel(&domain, &volume, &channel, &VolumeOptions::default()).unwrap();
    }
    let mut file = written(&file);
    let up = FileMetadata::of_vdb(file.metadata()).up;
    let grids = all(&mut file);
    let (found, mut back) =
        volume_of_grids("back", &grids, &ReadOptions { up, ..ReadOptions::default() }).unwrap();
    assert!(found.frame().origin().distance(DVec3::new(1.0, 2.0, 3.0)) < 1e-12);
    assert_eq!(contents(&mut back), contents(&mut volume));
    let error = volume_of_grids("back", &grids, &ReadOptions::default()).unwrap_err().to_string();
    assert!(error.contains("temperature") && error.contains("which axis points up"), "{error}");
}

fn grid(name: &str, transform: Transform, tree: Tree<f32>) -> Grid {
    let content = Content::Float(tree);
    let (class, metadata) = (Class::FogVolume, Metadata::new());
    Grid { name: name.into(), class, transform, saved_as_half: false, metadata, content }
}

fn one_leaf(origin: [i32; 3]) -> Tree<f32> {
    let mut tree = Tree::new(0.0);
    tree.leaves.push(origin, LeafMask::ALL, &[1.0; VOXELS]);
    tree
}

#[test]
fn active_tiles_become_buckets_as_far_as_allowed() {
    let mut tree = one_leaf([0, 0, 0]);
    let tile = |origin, level, active| Tile { origin, level, value: 2.0, active };
    tree.tiles.push(tile([8, 0, 0], Level::Leaf, true));
    tree.tiles.push(tile([128, 0, 0], Level::Lower, true));
    tree.tiles.push(tile([4096, 0, 0], Level::Upper, false));
    let grids = [grid("density", Transform::uniform(0.1, [0.0; 3]), tree)];
    let (domain, volume) = volume_of_grids("fog", &grids, &ReadOptions::default()).unwrap();
    assert_eq!(domain.topology().local(), 2 + 16 * 16 * 16);
    let density = volume.handle::<f32>("density").unwrap();
    let column = volume.column(density).unwrap();
    let twos =
        (0..domain.topology().local() as u32).filter(|&slot| column.chunk(slot) == [2.0; VOXELS]);
    assert_eq!(twos.count(), 1 + 16 * 16 * 16);

    let few = ReadOptions { most_tile_buckets: 4096, ..ReadOptions::default() };
    let error = volume_of_grids("fog", &grids, &few).unwrap_err().to_string();
    assert!(error.contains("4097 Buckets") && error.contains("at most 4096"), "{error}");
    let mut huge = one_leaf([0, 0, 0]);
    huge.tiles.push(tile([4096, 0, 0], Level::Upper, true));
    let grids = [grid("density", Transform::default(), huge)];
    assert!(volume_of_grids("fog", &grids, &ReadOptions::default()).is_err());
}

#[test]
fn buckets_are_charged_to_the_budget_before_they_are_made() {
    let mut tree = one_leaf([0, 0, 0]);
    let (origin, level) = ([128, 0, 0], Level::Lower);
    tree.tiles.push(Tile { origin, level, value: 2.0, active: true });
    let grids = [grid("density", Transform::uniform(0.1, [0.0; 3]), tree)];
    let budget = MemoryBudget::new(10_000);
    let error = volume_of_grids("fog", &grids, &ReadOptions { budget, ..ReadOptions::default() });
    let error = error.unwrap_err().to_string();
    assert!(error.contains("the list of 4097 Buckets of grids needs"), "{error}");

    // Three tiles of a file of some kilobytes are more than is made unasked, and the message says what to do.
    let mut many = one_leaf([0, 0, 0]);
    let tiles =
        [128, 256, 384].map(|x| Tile { origin: [x, 0, 0], level, value: 2.0, active: true });
    many.tiles.extend(tiles);
    let grids = [grid("density", Transform::uniform(0.1, [0.0; 3]), many)];
    let error = volume_of_grids("fog", &grids, &ReadOptions::default()).unwrap_err().to_string();
    assert!(error.contains("raise `most_tile_buckets`"), "{error}");
}

#[test]
fn the_number_of_a_name_is_a_level_only_if_there_is_such_a_level() {
    // As a level, 255 beyond 1 would be 256, of which eight bits are the level 0 of the third grid.
    let sized = |name: &str, size: f64| {
        grid(name, Transform::uniform(size, [0.5 * size; 3]), one_leaf([0, 0, 0]))
    };
    let grids = [sized("b", 0.1), sized("a", 0.2), sized("a_255", 0.1)];
    let (_, volume) = volume_of_grids("fog", &grids, &ReadOptions::default()).unwrap();
    for name in ["a", "b", "a_255"] {
        volume.handle::<f32>(name).unwrap();
    }
}

#[test]
fn a_grid_far_out_moves_the_origin_of_its_domain() {
    let far = 1 << 28;
    let grids = [grid("density", Transform::uniform(0.5, [0.25; 3]), one_leaf([far, -far, 0]))];
    let (domain, volume) = volume_of_grids("fog", &grids, &ReadOptions::default()).unwrap();
    let bucket = volume.topology().bucket(0);
    let wanted = DVec3::new(f64::from(far), -f64::from(far), 0.0) * 0.5;
    assert_eq!(domain.frame().corner(bucket), wanted);
    // Two that are farther apart than a Domain reaches.
    let mut tree = one_leaf([far, 0, 0]);
    tree.leaves.push([-far, 0, 0], LeafMask::ALL, &[1.0; VOXELS]);
    let grids = [grid("density", Transform::default(), tree)];
    assert!(volume_of_grids("fog", &grids, &ReadOptions::default()).is_err());
}

#[test]
fn what_is_no_volume_is_refused_with_what_would_do() {
    let refused = |grids: &[Grid]| {
        volume_of_grids("fog", grids, &ReadOptions::default()).map(|_| ()).unwrap_err().to_string()
    };
    let flat = Transform::scaled([0.1, 0.2, 0.1], [0.0; 3]);
    let error = refused(&[grid("density", flat, one_leaf([0, 0, 0]))]);
    assert!(error.contains("`density`") && error.contains("sample the grid"), "{error}");
    for odd in [f64::NAN, f64::INFINITY, 0.0, -0.1, 1e-300, 1e300] {
        refused(&[grid("density", Transform::uniform(odd, [0.0; 3]), one_leaf([0, 0, 0]))]);
    }
    let place = |size, at| Transform::uniform(size, [at + 0.5 * size; 3]);
    let pair =
        |other| [grid("a", place(0.1, 0.0), one_leaf([0; 3])), grid("b", other, one_leaf([0; 3]))];
    assert!(refused(&pair(place(0.15, 0.0))).contains("do not fit among"));
    assert!(refused(&pair(place(0.1, 0.05))).contains("do not fit among"));
    let (_, both) =
        volume_of_grids("both", &pair(place(0.1, 1.6)), &ReadOptions::default()).unwrap();
    assert_eq!(both.topology().local(), 2);
    let twins = [
        grid("a", place(0.1, 0.0), one_leaf([0; 3])),
        grid("a", place(0.1, 0.0), one_leaf([0; 3])),
    ];
    assert!(refused(&twins).contains("another grid is the channel `a`"));
    let cloud = points_grid("p", &cloud(5), &PointOptions::default()).unwrap();
    assert!(refused(&[cloud]).contains("read it as points"));
}

/// Points with all kinds of channels.
fn cloud(count: u64) -> Points {
    let positions = (0..count)
        .map(|n| DVec3::new(n as f64 * 0.37 % 1.0, n as f64 * 0.61 % 1.0, n as f64 * 0.83 % 1.0))
        .map(|at| at * 3.0 + DVec3::new(1e4, -20.0, 3.0))
        .collect();
    let mut points = Points { positions, ..Points::default() };
    let each = || 0..count;
    let mut insert = |name: &str, values| points.channels.insert(name.into(), values);
    insert("velocity", Values::Vec3(each().map(|n| Vec3::new(n as f32, 1.0, -2.0)).collect()));
    insert("pscale", Values::F32(each().map(|n| n as f32 * 0.01).collect()));
    insert("id", Values::U64(each().map(|n| n * 1_000_003).collect()));
    insert("mass", Values::F64(each().map(|n| n as f64).collect()));
    insert("kind", Values::I32(each().map(|n| n as i32 - 3).collect()));
    insert("Cd", Values::Vec3(each().map(|n| Vec3::new(0.1, 0.2, n as f32)).collect()));
    points
}

#[test]
fn points_return_under_their_customary_names() {
    for up in [UpAxis::Y, UpAxis::Z] {
        let points = cloud(1000);
        let mut file = VdbFile::new(Arc::new(Single), metadata(up));
        file.add_points("spray", &points, Order::Buckets, &PointOptions::default()).unwrap();
        let mut file = written(&file);
        let grid = file.grid_named("spray").unwrap();
        let Content::Points(tree) = &grid.content else { panic!() };
        let mut names: Vec<&str> = tree.attributes.iter().map(|a| a.name.as_str()).collect();
        names.sort_unstable();
        assert_eq!(names, ["Cd", "P", "id", "kind", "mass", "pscale", "v"]);
        assert_eq!(grid.metadata["unit:v"], Entry::String("m/s".into()));
        let found = points_of_grid(&grid, &Names::default().rename("velocity", "v"), up).unwrap();
        let found = undine_io::gather::gather(&Single, &found, Order::Ids).unwrap().unwrap();
        assert_eq!(found.channels, points.channels);
        for (found, wanted) in found.positions.iter().zip(&points.positions) {
            assert!(found.distance(*wanted) < 1e-6, "{found} {wanted}");
        }
    }
}

#[test]
fn particles_return_from_a_file() {
    let domain = domain(DVec3::ZERO, 0.5, []);
    let spray = || {
        let mut spray = ParticleSystem::new("spray", &domain).unwrap();
        spray.add_channel(&ChannelSpec::new("velocity", Vec3::ZERO)).unwrap();
        spray.add_channel(&ChannelSpec::new("pscale", 0.0_f32)).unwrap();
        spray.add_channel(&ChannelSpec::new("mass", 0.0_f64)).unwrap();
        spray.add_channel(&ChannelSpec::new("kind", 0_i32)).unwrap();
        spray
    };
    let mut before = spray();
    let batch = batch_of_points(&before, &cloud(500)).unwrap();
    before.append(&domain, batch).unwrap();
    let points = points_of_particles(&before, |_| true).unwrap();
    assert_eq!(points.channels.len(), 5);
    let grid = points_grid("spray", &points, &PointOptions::default()).unwrap();
    let found =
        points_of_grid(&grid, &Names::default().rename("velocity", "v"), UpAxis::Y).unwrap();
    let found = undine_io::gather::gather(&Single, &found, Order::Ids).unwrap().unwrap();
    let mut after = spray();
    let batch = batch_of_points(&after, &found).unwrap();
    after.append(&domain, batch).unwrap();
    let found = points_of_particles(&after, |_| true).unwrap();
    assert_eq!(found.channels, points.channels);
    let error = found.positions.iter().zip(&points.positions).map(|(a, b)| a.distance(*b));
    assert!(error.fold(0.0, f64::max) < 1e-5);
}

#[test]
fn bad_points_are_refused_by_number() {
    let mut points = cloud(10);
    points.positions[7].y = f64::NAN;
    let error = points_grid("p", &points, &PointOptions::default()).unwrap_err().to_string();
    assert!(error.contains("point 7 of `p`"), "{error}");
    let mut points = cloud(2);
    points.channels.insert("id".into(), Values::U64(vec![0, u64::MAX]));
    assert!(points_grid("p", &points, &PointOptions::default()).is_err());
    assert!(points_grid("p", &Points::default(), &PointOptions::default()).is_ok());
}

#[test]
fn a_surface_from_a_file_reads_inside_everywhere() {
    let (domain, volume) = sphere(DVec3::ZERO, 1.5, Resolution::R8, 0.05);
    let mut file = VdbFile::new(Arc::new(Single), metadata(UpAxis::Y));
    let channel = ChannelGrid::customary("surface");
    let options = VolumeOptions { saved_as_half: true, ..VolumeOptions::default() };
    file.add_channel(&domain, &volume, &channel, &options).unwrap();
    let grid = written(&file).grid_named("surface").unwrap();
    let Content::Float(tree) = &grid.content else { panic!() };
    let sampler = VolumeSampler::new(tree, &grid.transform).unwrap();
    for x in -40..40 {
        for y in -40..40 {
            for z in -40..40 {
                let at = DVec3::from_array(grid.transform.world([x, y, z].map(f64::from)));
                let inside = at.length() < 1.5 - 0.01;
                let outside = at.length() > 1.5 + 0.01;
                let value = sampler.voxel([x, y, z]);
                assert!(!inside || value < 0.0, "{at} {value}");
                assert!(!outside || value > 0.0, "{at} {value}");
            }
        }
    }
}
