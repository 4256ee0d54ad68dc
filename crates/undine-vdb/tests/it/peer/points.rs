//! Points through the real OpenVDB, whose Python module does not know them: its tools read and write them.

use super::gallery::{self, Sample};
use super::openvdb::{COMPRESSIONS, folder, read, rewritten, written};
use undine_vdb::points::{Attribute, Column, Stored, Strings};
use undine_vdb::{Content, Entry, Grid, PointTree, Transform};

const COUNT: u64 = 5000;

/// Points in a cube of 4 m around the origin, in voxels of 0.25 m, with an attribute of every type.
fn points() -> (Grid, Vec<[f64; 3]>) {
    fn of<T>(value: impl Fn(u64) -> T) -> Vec<T> {
        (0..COUNT).map(value).collect()
    }
    let transform = Transform::uniform(0.25, [0.125, -3.0, 8.0]);
    let places = of(|number| <[f64; 3]>::sample(number).map(|c| c * 0.5));
    let unit = |number: u64| (f32::sample(number) + 4.0) / 16.0;
    let direction = |number: u64| {
        let v = <[f32; 3]>::sample(number);
        let length = v.iter().map(|c| c * c).sum::<f32>().sqrt();
        v.map(|c| c / length)
    };
    let table = ["", "wet", "dry"].map(str::to_string).into();
    let attributes = vec![
        Attribute::new("v", of(<[f32; 3]>::sample)),
        Attribute::new("id", of(|number| number as i64)),
        Attribute::new("pscale", vec![0.1f32; COUNT as usize]),
        Attribute::new("age", of(f32::sample)).stored(Stored::Half),
        Attribute::new("vhalf", of(<[f32; 3]>::sample)).stored(Stored::Half),
        Attribute::new("fraction8", of(unit)).stored(Stored::Unit8),
        Attribute::new("fraction16", of(unit)).stored(Stored::Unit16),
        Attribute::new("N", of(direction)).stored(Stored::Direction),
        Attribute::new("mass", of(f64::sample)),
        Attribute::new("count", of(i32::sample)),
        Attribute::new("small", of(|number| number as i16)),
        Attribute::new("flag", of(bool::sample)),
        Attribute::new("vd", of(<[f64; 3]>::sample)),
        Attribute::new("vi", of(<[i32; 3]>::sample)),
        Attribute::new(
            "state",
            Column::String(Strings { table, indices: of(|number| number as u32 % 3) }),
        ),
        Attribute::new("weights", of(|number| f32::sample(number / 3)).repeat(3)).strided(3),
    ];
    let mut tree = PointTree::from_points(&transform, &places, attributes).expect("points");
    tree.groups.insert("even".to_string(), of(|number| number % 2 == 0));
    tree.groups.insert("none".to_string(), vec![false; COUNT as usize]);
    let mut grid = gallery::grid("points", Content::Points(tree));
    grid.transform = transform;
    grid.metadata.insert("creator".to_string(), Entry::String("Undine".to_string()));
    (grid, places)
}

#[test]
fn points_with_every_type_of_attribute_return_through_openvdb() {
    let folder = folder();
    // Once through a file, after which codecs of few bits lose no more.
    let (made, _) = points();
    let once = written(&folder, "once.vdb", &[made], COMPRESSIONS[5]);
    let wanted = read(&once);
    for (compression, codec) in
        COMPRESSIONS.into_iter().zip(["blosc", "none", "zip"].iter().cycle())
    {
        let ours = written(&folder, "ours.vdb", &wanted, compression);
        assert!(read(&ours) == wanted, "{compression:?} loses something");
        peers::vdb_print(["-l".as_ref(), "-m".as_ref(), ours.as_os_str()]);
        let theirs = read(&rewritten(&folder, &ours, codec));
        assert!(theirs == wanted, "{compression:?}, then {codec} of OpenVDB, loses something");
    }
}

#[test]
fn openvdb_finds_points_where_they_are() {
    let folder = folder();
    let (grid, places) = points();
    let path = written(&folder, "points.vdb", &[grid], COMPRESSIONS[5]);
    let ply = folder.path().join("points.ply");
    let words = ["-read", "-vdb2points", "-write"].map(std::ffi::OsStr::new);
    peers::vdb_tool([words[0], path.as_os_str(), words[1], words[2], ply.as_os_str()]);

    // A binary PLY of three floats a point.
    let bytes = std::fs::read(&ply).expect("what OpenVDB found");
    let end = b"end_header\n";
    let head = bytes.windows(end.len()).position(|part| part == end).expect("a head") + end.len();
    let floats: &[[u8; 4]] = bytes[head..].as_chunks().0;
    let mut found: Vec<[f32; 3]> =
        floats.as_chunks().0.iter().map(|place| place.map(f32::from_le_bytes)).collect();
    assert_eq!(found.len(), COUNT as usize);
    let mut wanted: Vec<[f32; 3]> = places.iter().map(|place| place.map(|c| c as f32)).collect();
    found.sort_by(|a, b| a.partial_cmp(b).expect("numbers"));
    wanted.sort_by(|a, b| a.partial_cmp(b).expect("numbers"));
    for (found, wanted) in found.iter().zip(&wanted) {
        // A position has 24 bits for half a voxel, and then for the 11 m that a corner is from the origin.
        let error = (0..3).map(|c| (found[c] - wanted[c]).abs()).fold(0.0, f32::max);
        assert!(error < 2e-6, "{found:?} instead of {wanted:?}");
    }
}
