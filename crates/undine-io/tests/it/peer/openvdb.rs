//! What the real OpenVDB makes of our volumes: places in the world, staggered velocities, the inside of a surface.

use crate::vdb_volume::{cube, domain, fill, sphere};
use std::collections::BTreeMap;
use std::sync::Arc;
use undine_core::ChannelSpec;
use undine_core::Single;
use undine_core::glam::DVec3;
use undine_core::volume::{DiscreteVolume, Resolution, VoxelShape};
use undine_io::FileMetadata;
use undine_io::vdb::{ChannelGrid, VdbFile, VolumeOptions};

fn numbers(words: &[String]) -> Vec<f64> {
    words.iter().map(|word| word.parse().expect("a number")).collect()
}

#[test]
fn openvdb_finds_volumes_where_they_are() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("volumes.vdb");
    let metadata = FileMetadata { fps: Some(24.0), ..FileMetadata::default() };
    let mut file = VdbFile::new(Arc::new(Single), metadata);
    let options = VolumeOptions::default();

    let middle = DVec3::new(7.0, 0.0, 0.0);
    let (ball, surface) = sphere(middle, 1.5, Resolution::R8, 0.05);
    file.add_channel(&ball, &surface, &ChannelGrid::customary("surface"), &options).unwrap();

    let gas = domain(DVec3::new(-3.0, 100.0, 0.5), 0.2, cube(0, 0, 2));
    let mut volume = DiscreteVolume::new("gas", &gas);
    let flow = |at: DVec3| DVec3::new(at.x + at.y, at.z, at.y - at.x);
    let mac = volume.add_mac("velocity", "m/s", Resolution::R8).unwrap();
    for (axis, face) in mac.faces.into_iter().enumerate() {
        fill(&volume, face, |at| flow(at)[axis] as f32);
    }
    let spec = ChannelSpec::new("temperature", 0.0_f32);
    volume.add_channel(&spec, VoxelShape::CELLS.with_resolution(Resolution::R16)).unwrap();
    for channel in ["velocity", "temperature"] {
        file.add_channel(&gas, &volume, &ChannelGrid::customary(channel), &options).unwrap();
    }
    file.save(&path).unwrap();

    let said = peers::openvdb("tests/peer/volume.py", [path.display().to_string()]);
    let mut facts: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for line in said.lines() {
        let mut words = line.split_whitespace().map(str::to_owned);
        let mut name = words.next().unwrap();
        if ["grid", "unit"].contains(&name.as_str()) {
            name = format!("{name} {}", words.next().unwrap());
        }
        facts.insert(name, words.collect());
    }

    // Classes, types, units, and the world position of the middle of voxel (1, 2, 3).
    let index = DVec3::new(1.0, 2.0, 3.0);
    for (name, class, kind, unit, corner, size) in [
        ("surface", "level-set", "float", "m", middle, 0.05),
        ("vel", "staggered", "vec3s", "m/s", DVec3::new(-3.0, 100.0, 0.5), 0.2),
        ("temperature", "unknown", "float", "K", DVec3::new(-3.0, 100.0, 0.5), 0.1),
    ] {
        let grid = &facts[&format!("grid {name}")];
        assert_eq!(grid[..2], [class, kind], "{said}");
        assert_eq!(facts[&format!("unit {name}")], [unit]);
        let world = DVec3::from_slice(&numbers(&grid[2..]));
        assert!(world.distance(corner + (index + 0.5) * size) < 1e-9, "{name} {world}");
    }

    // Each component is half a voxel below the middle along its own axis.
    let at = DVec3::new(-3.0, 100.0, 0.5) + (index + 0.5) * 0.2;
    let value = numbers(&facts["value"]);
    for (axis, shift) in [DVec3::X, DVec3::Y, DVec3::Z].into_iter().enumerate() {
        let wanted = flow(at - 0.1 * shift)[axis];
        assert!((value[axis] - wanted).abs() < 1e-4, "{value:?}");
    }
    assert_eq!(facts["vector"], ["contravariant-relative"]);

    // Every voxel inside the sphere is inside, and no other; the polygons are on it.
    let voxels = || (-48..48).map(f64::from);
    let is_inside = |x: f64, y: f64, z: f64| (DVec3::new(x, y, z) + 0.5).length() * 0.05 < 1.5;
    let inside =
        voxels().flat_map(|x| voxels().flat_map(move |y| voxels().map(move |z| (x, y, z))));
    let inside = inside.filter(|&(x, y, z)| is_inside(x, y, z)).count();
    assert_eq!(facts["inside"], [inside.to_string()]);
    let band = numbers(&facts["band"]);
    assert!((band[0] - 0.15).abs() < 1e-6 && band[0] == band[1], "{band:?}");
    let corners = numbers(&facts["corners"]);
    assert!(corners[0] > 1000.0 && corners[1] < 0.1 * 0.05, "{corners:?}");

    let printed = peers::vdb_print(["-l".to_owned(), path.display().to_string()]);
    assert!(printed.contains("surface") && printed.contains("staggered"), "{printed}");
}
