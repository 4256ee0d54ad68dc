//! Points: files of OpenVDB with every type and codec, and round trips of our own.

use std::collections::BTreeMap;
use std::io::Cursor;
use undine_vdb::points::{Attribute, Column, PointTree, Stored, Strings};
use undine_vdb::write::{Compression, encode_grid, write};
use undine_vdb::{Bounds, Class, Content, Entry, File, Grid, Metadata, Transform, VdbError};

/// Compressions as flags: none, zlib and Blosc, each without and with active values only.
const FLAGS: [u32; 6] = [0, 1, 2, 3, 4, 6];

fn grid(transform: Transform, points: PointTree) -> Grid {
    Grid {
        name: "points".into(),
        class: Class::Unknown,
        transform,
        saved_as_half: false,
        metadata: Metadata::new(),
        content: Content::Points(points),
    }
}

fn bytes_of(grid: &Grid, flags: u32) -> Vec<u8> {
    let encoded = encode_grid(grid, Compression::of_flags(flags)).unwrap();
    let mut bytes = Vec::new();
    write(&mut bytes, &Metadata::new(), &[encoded]).unwrap();
    bytes
}

fn read(bytes: &[u8]) -> Result<(Transform, PointTree), VdbError> {
    let mut file = File::new(Cursor::new(bytes))?;
    let grid = file.grid(0)?;
    assert!(file.warnings().is_empty(), "{:?}", file.warnings());
    match grid.content {
        Content::Points(points) => Ok((grid.transform, points)),
        other => panic!("a grid of {:?}", other.kind()),
    }
}

/// Numbers from 0 to 1 that look random.
fn noise(index: usize) -> f64 {
    let mut x = (index as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    x = (x ^ x >> 31).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ x >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    (x >> 11) as f64 / (1u64 << 53) as f64
}

/// Points with an attribute of every type and codec, some of which are uniform in some or in all leaves.
fn every_attribute(count: usize) -> (Transform, PointTree) {
    let positions: Vec<[f64; 3]> =
        (0..count).map(|i| [0, 1, 2].map(|c| 40.0 * noise(3 * i + c) - 20.0)).collect();
    let each = |of: &dyn Fn(usize) -> f64| (0..count).map(of).collect::<Vec<f64>>();
    let float = |of: &dyn Fn(usize) -> f64| each(of).iter().map(|v| *v as f32).collect::<Vec<_>>();
    let vector = |range: [f32; 2]| {
        let component = |i: usize| range[0] + (range[1] - range[0]) * noise(i) as f32;
        (0..count).map(|i| [0, 1, 2].map(|c| component(5 * i + c))).collect::<Vec<[f32; 3]>>()
    };
    let strings = Strings {
        table: ["foam", "", "water", "never"].map(String::from).to_vec(),
        indices: (0..count).map(|i| i as u32 % 3).collect(),
    };
    let attributes = vec![
        Attribute::new("float", float(&|i| i as f64 / 3.0)),
        Attribute::new("half", float(&noise)).stored(Stored::Half),
        Attribute::new("unit8", float(&noise)).stored(Stored::Unit8),
        Attribute::new("unit16", float(&noise)).stored(Stored::Unit16),
        Attribute::new("double", each(&|i| i as f64 / 3.0)),
        Attribute::new("int8", (0..count).map(|i| i as i8).collect::<Vec<_>>()),
        Attribute::new("int16", (0..count).map(|i| -(i as i16)).collect::<Vec<_>>()),
        Attribute::new("id", (0..count as i32).collect::<Vec<_>>()),
        Attribute::new("int64", (0..count).map(|i| -(i as i64) << 32).collect::<Vec<_>>()),
        Attribute::new("bool", (0..count).map(|i| i % 7 == 0).collect::<Vec<_>>()),
        Attribute::new("v", vector([-5.0, 5.0])),
        Attribute::new("v_half", vector([-5.0, 5.0])).stored(Stored::Half),
        Attribute::new("centred8", vector([-0.5, 0.5])).stored(Stored::Centred8),
        Attribute::new("centred16", vector([-0.5, 0.5])).stored(Stored::Centred16),
        Attribute::new("v_unit8", vector([0.0, 1.0])).stored(Stored::Unit8),
        Attribute::new("v_unit16", vector([0.0, 1.0])).stored(Stored::Unit16),
        Attribute::new("N", vector([-1.0, 1.0])).stored(Stored::Direction),
        Attribute::new("vec3d", vec![[0.1f64, 0.2, 0.3]; count]),
        Attribute::new("vec3i", (0..count as i32).map(|i| [i, -i, 7]).collect::<Vec<_>>()),
        Attribute::new("mat3s", (0..count).map(|i| [i as f32; 9]).collect::<Vec<_>>()),
        Attribute::new("mat3d", (0..count).map(|i| [i as f64; 9]).collect::<Vec<_>>()),
        Attribute::new("mat4s", (0..count).map(|i| [i as f32; 16]).collect::<Vec<_>>()),
        Attribute::new("mat4d", (0..count).map(|i| [i as f64; 16]).collect::<Vec<_>>()),
        Attribute::new("quats", vec![[0.0f32, 0.0, 0.0, 1.0]; count]),
        Attribute::new("quatd", (0..count).map(|i| [i as f64; 4]).collect::<Vec<_>>()),
        Attribute::new("label", strings),
        Attribute::new("weights", (0..3 * count).map(|i| i as f32).collect::<Vec<_>>()).strided(3),
        Attribute::new("zeros", vec![0i16; 2 * count]).strided(2),
        Attribute { hidden: true, ..Attribute::new("hidden", vec![f32::NAN; count]) },
    ];
    let transform = Transform::uniform(0.5, [1.0, -2.0, 0.25]);
    let mut points = PointTree::from_points(&transform, &positions, attributes).unwrap();
    let group = |number: usize| (0..count).map(|i| noise(i * 31 + number) < 0.3).collect();
    points.groups = (0..11).map(|number| (format!("group{number}"), group(number))).collect();
    points.groups.insert("all".into(), vec![true; count]);
    points.metadata.insert("default:id".into(), Entry::Int32(-1));
    (transform, points)
}

/// What a codec makes of values, once and for all.
fn rounded(transform: Transform, points: PointTree) -> PointTree {
    read(&bytes_of(&grid(transform, points), 6)).unwrap().1
}

fn as_bits(column: &Column) -> String {
    // NaN is not equal to itself, but its words are.
    format!("{column:?}")
}

fn texts(strings: &Strings) -> Vec<&str> {
    strings.indices.iter().map(|&index| strings.table[index as usize].as_str()).collect()
}

#[test]
fn every_type_returns_by_every_compression() {
    let (transform, points) = every_attribute(3000);
    for flags in FLAGS {
        let bytes = bytes_of(&grid(transform, points.clone()), flags);
        let (its_transform, back) = read(&bytes).unwrap();
        assert_eq!(its_transform, transform);
        assert_eq!(back.voxels, points.voxels, "flags {flags}");
        assert_eq!(back.groups, points.groups, "flags {flags}");
        assert_eq!(back.metadata, points.metadata);
        assert_eq!(back.attributes.len(), points.attributes.len());
        for (attribute, wanted) in back.attributes.iter().zip(&points.attributes) {
            let name = &wanted.name;
            assert_eq!(&attribute.name, name);
            assert_eq!((attribute.stride, attribute.stored), (wanted.stride, wanted.stored));
            assert_eq!(attribute.hidden, wanted.hidden);
            match (&attribute.values, &wanted.values) {
                (Column::String(strings), Column::String(wanted)) => {
                    assert_eq!(texts(strings), texts(wanted));
                    assert_eq!(strings.table, ["", "foam", "water"]);
                }
                (values, wanted_values) if wanted.stored == Stored::Whole => {
                    assert_eq!(as_bits(values), as_bits(wanted_values), "{name}, flags {flags}");
                }
                (values, wanted_values) => {
                    let (found, wanted) = (floats(values), floats(wanted_values));
                    let most = found.iter().zip(&wanted).map(|(a, b)| (a - b).abs());
                    let most = most.fold(0.0, f32::max);
                    assert!(most <= tolerance(name), "{name} is {most} apart");
                }
            }
        }
    }
}

fn floats(column: &Column) -> Vec<f32> {
    match column {
        Column::Float(values) => values.clone(),
        Column::Vec3s(values) => values.as_flattened().to_vec(),
        other => panic!("{other:?}"),
    }
}

fn tolerance(name: &str) -> f32 {
    match name {
        "half" => 1.0 / 4096.0,
        "v_half" => 4.0 / 2048.0,
        "unit8" | "v_unit8" | "centred8" => 0.501 / 255.0,
        // Not of length 1 before: only the codec of the next test tells.
        "N" => 2.0,
        _ => 0.51 / 65535.0,
    }
}

#[test]
fn what_was_read_is_written_again_to_the_bit() {
    let (transform, points) = every_attribute(500);
    let once = rounded(transform, points);
    for flags in FLAGS {
        let bytes = bytes_of(&grid(transform, once.clone()), flags);
        let again = read(&bytes).unwrap().1;
        for (attribute, wanted) in again.attributes.iter().zip(&once.attributes) {
            assert_eq!(as_bits(&attribute.values), as_bits(&wanted.values), "{}", wanted.name);
        }
        assert_eq!(bytes_of(&grid(transform, again), flags), bytes);
    }
}

#[test]
fn bytes_are_the_same_for_any_number_of_threads() {
    let bytes = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let (transform, points) = every_attribute(20_000);
            bytes_of(&grid(transform, points), 6)
        })
    };
    let one = bytes(1);
    assert!(bytes(2) == one && bytes(5) == one);
}

#[test]
fn no_points_and_one_point_return() {
    for positions in [vec![], vec![[-3.5e5, 0.0, 1e6]]] {
        let transform = Transform::uniform(0.1, [0.0; 3]);
        let points = PointTree::from_points(&transform, &positions, vec![]).unwrap();
        for flags in FLAGS {
            let (_, back) = read(&bytes_of(&grid(transform, points.clone()), flags)).unwrap();
            let world = back.world_positions(&transform);
            assert_eq!(back.voxels, points.voxels);
            match positions.first() {
                None => assert!(back.is_empty()),
                Some(at) => {
                    let world = world.unwrap()[0];
                    assert!((0..3).all(|c| (world[c] - at[c]).abs() < 1e-8), "{world:?}");
                }
            }
        }
    }
}

#[test]
fn a_leaf_with_more_than_a_page_of_points_returns() {
    let count = 200_000;
    let positions: Vec<[f64; 3]> =
        (0..count).map(|i| [0, 1, 2].map(|c| 7.0 * noise(3 * i + c))).collect();
    let far = (0..1000).map(|i| [100.0 + i as f64, 0.0, 0.0]);
    let positions: Vec<[f64; 3]> = positions.into_iter().chain(far).collect();
    let ids: Vec<i64> = (0..positions.len() as i64).collect();
    let transform = Transform::default();
    let ids = Attribute::new("id", ids);
    let points = PointTree::from_points(&transform, &positions, vec![ids]).unwrap();
    for flags in [0, 6] {
        let back = read(&bytes_of(&grid(transform, points.clone()), flags)).unwrap().1;
        assert_eq!(back, points);
    }
}

#[test]
fn a_box_of_points_is_read_alone() {
    let (transform, points) = every_attribute(2000);
    let bytes = bytes_of(&grid(transform, points), 6);
    let mut file = File::new(Cursor::new(&bytes)).unwrap();
    let within = Bounds { min: [-30; 3], max: [31; 3] };
    let Content::Points(some) = file.grid_within(0, within).unwrap().content else { panic!() };
    some.check().unwrap();
    assert!((100..1900).contains(&some.len()), "{}", some.len());
    let inside = |world: [f64; 3]| {
        let place = [0, 1, 2].map(|c| ((world[c] - transform.rows[3][c]) / 0.5 + 0.5).floor());
        place.iter().all(|c| (-30.0..=31.0).contains(c))
    };
    assert!(some.world_positions(&transform).unwrap().into_iter().all(inside));
}

#[test]
fn what_a_file_cannot_hold_is_not_written() {
    let (transform, points) = every_attribute(20);
    let refused = |change: &dyn Fn(&mut PointTree), word: &str| {
        let mut points = points.clone();
        change(&mut points);
        let error = encode_grid(&grid(transform, points), Compression::of_flags(6)).unwrap_err();
        assert!(error.to_string().contains(word), "{error}");
    };
    refused(&|points| points.voxels.leaves.values[3] = u32::MAX, "ascend");
    refused(&|points| points.voxels.leaves.masks.truncate(1), "each leaf needs");
    refused(&|points| points.voxels.leaves.origins.reverse(), "order");
    refused(&|points| points.attributes[3].name = "half".into(), "`half` twice");
    refused(&|points| points.attributes[3].name = "__group0".into(), "__group0");
    refused(&|points| drop(points.attributes.remove(0)), "no attribute `P`");
    refused(&|points| drop(points.groups.insert("few".into(), vec![true])), "`few`");
    refused(&|points| points.attributes[1].stride = 2, "`float` has 20 values");
}

/// Files that OpenVDB 10 has written; see their README for how.
mod corpus {
    use super::*;

    fn file(name: &str) -> Vec<u8> {
        std::fs::read(format!("{}/tests/corpus/points/{name}", env!("CARGO_MANIFEST_DIR"))).unwrap()
    }

    /// By name what every point has, from its id; of vectors and matrices all numbers in a row.
    fn wanted(id: i32) -> BTreeMap<&'static str, Vec<f64>> {
        let i = f64::from(id);
        let single = |values: &[f64]| values.iter().map(|v| f64::from(*v as f32)).collect();
        let matrix =
            |count: i32, last: f64| (1..count).map(f64::from).chain([last]).collect::<Vec<f64>>();
        // As OpenVDB computes it, in single precision.
        let f = 0.1f32 * id as f32 - 3.0;
        let [x, y, z] = [(i as f32).sin(), (2.0 * i as f32).cos(), (3.0 * i as f32 + 1.0).sin()];
        let length = (x * x + y * y + z * z).sqrt();
        BTreeMap::from([
            ("id", vec![i]),
            ("f", vec![f64::from(f)]),
            ("f_trnc", vec![f64::from(half::f16::from_f32(f))]),
            ("f_u8", vec![(i % 101.0) / 100.0]),
            ("f_u16", vec![(i % 101.0) / 100.0]),
            ("d", vec![i / 3.0]),
            ("i8", vec![f64::from((id * 7) as i8)]),
            ("i16", vec![f64::from((id * 777) as i16)]),
            ("i64", vec![i * 1_234_567_890_123.0 - 5.0]),
            ("b", vec![f64::from(u8::from(id % 3 == 0))]),
            ("v", single(&[i, -0.5 * i, 1.0 / (i + 1.0)])),
            ("v_trnc", single(&[i, -0.5 * i, 1.0 / (i + 1.0)])),
            ("v_f8", vec![(i % 11.0) / 10.0 - 0.5, 0.1, -0.5]),
            ("v_f16", vec![(i % 11.0) / 10.0 - 0.5, 0.1, 0.5]),
            ("v_u8", vec![(i % 11.0) / 10.0, 0.1, 0.0]),
            ("v_u16", vec![(i % 11.0) / 10.0, 0.1, 1.0]),
            ("N", [x, y, z].map(|c| f64::from(c / length)).to_vec()),
            ("vd", vec![i / 3.0, i / 7.0, -1.0]),
            ("vi", vec![i, -i, 1e6 * i]),
            ("m3", matrix(9, i)),
            ("m3d", matrix(9, i / 3.0)),
            ("m4", matrix(16, i)),
            ("m4d", matrix(16, i / 3.0)),
            ("q", matrix(4, i)),
            ("qd", matrix(4, i / 3.0)),
            ("uniform", vec![2.5]),
            ("weights", [0.0, 1.0, 2.0].map(|s| 0.25 * (3.0 * i + s)).to_vec()),
            ("zeros", vec![0.0, 0.0]),
        ])
    }

    /// How far a codec may be away; OpenVDB cuts off where we round.
    fn tolerance(name: &str) -> f64 {
        match name {
            "f_u8" | "v_f8" | "v_u8" => 1.001 / 255.0,
            "f_u16" | "v_f16" | "v_u16" => 1.001 / 65535.0,
            "v_trnc" => 23.0 / 2048.0,
            "N" => 0.025,
            _ => 0.0,
        }
    }

    fn numbers(values: &Column) -> Vec<f64> {
        let floats = |values: &[f32]| values.iter().map(|&v| f64::from(v)).collect();
        match values {
            Column::Float(values) => floats(values),
            Column::Double(values) => values.clone(),
            Column::Int8(values) => values.iter().map(|&v| f64::from(v)).collect(),
            Column::Int16(values) => values.iter().map(|&v| f64::from(v)).collect(),
            Column::Int32(values) => values.iter().map(|&v| f64::from(v)).collect(),
            Column::Int64(values) => values.iter().map(|&v| v as f64).collect(),
            Column::Bool(values) => values.iter().map(|&v| f64::from(u8::from(v))).collect(),
            Column::Vec3s(values) => floats(values.as_flattened()),
            Column::Vec3d(values) => values.as_flattened().to_vec(),
            Column::Vec3i(values) => values.as_flattened().iter().map(|&v| f64::from(v)).collect(),
            Column::Mat3s(values) => floats(values.as_flattened()),
            Column::Mat3d(values) => values.as_flattened().to_vec(),
            Column::Mat4s(values) => floats(values.as_flattened()),
            Column::Mat4d(values) => values.as_flattened().to_vec(),
            Column::Quats(values) => floats(values.as_flattened()),
            Column::Quatd(values) => values.as_flattened().to_vec(),
            Column::String(_) => panic!("texts are not numbers"),
        }
    }

    /// Compares every value of a file with what was put in; of the attribute `lacking` some leaves have nothing.
    fn check(name: &str, apart: f64, lacking: Option<&str>) {
        let (transform, points) = read(&file(name)).unwrap();
        points.check().unwrap();
        assert_eq!(points.len(), 24, "{name}");
        assert!(points.voxels.leaves.origins.len() > 1, "{name}");
        let Column::Int32(ids) = &points.attribute("id").unwrap().values else { panic!() };

        let world = points.world_positions(&transform).unwrap();
        for (place, &id) in world.iter().zip(ids) {
            let a = id as f32 * 0.7;
            let at =
                [4.0 + 0.8 * a.sin(), 5.0 + 0.8 * (a * 0.3).sin(), 5.0 + 0.8 * (a * 1.3).cos()];
            let is_there = (0..3).all(|c| (place[c] - f64::from(at[c])).abs() <= apart);
            assert!(is_there, "{name}: point {id} is at {place:?}, not at {at:?}");
        }
        let named: Vec<&str> = points.attributes.iter().map(|a| a.name.as_str()).collect();
        assert_eq!(named.len(), wanted(0).len() + 2, "{named:?} and P and label");
        for attribute in &points.attributes {
            let attribute_name = attribute.name.as_str();
            if attribute_name == "P" {
                continue;
            }
            if let Column::String(strings) = &attribute.values {
                for (text, &id) in texts(strings).into_iter().zip(ids) {
                    assert_eq!(text, ["", "water", "foam", "spray"][id as usize % 4], "{name}");
                }
                continue;
            }
            let found = numbers(&attribute.values);
            let mut absent = 0;
            let width = found.len() / 24;
            for (values, &id) in found.chunks(width).zip(ids) {
                let wanted = &wanted(id)[attribute_name];
                let fits = |(a, b): (&f64, &f64)| (a - b).abs() <= tolerance(attribute_name);
                let is_absent = lacking == Some(attribute_name) && values.iter().all(|v| *v == 0.0);
                absent += usize::from(is_absent);
                assert!(
                    is_absent || wanted.len() == width && values.iter().zip(wanted).all(fits),
                    "{name}: `{attribute_name}` of {id} is {values:?}, not {wanted:?}"
                );
            }
            assert_eq!(absent > 0, lacking == Some(attribute_name), "{name}: {attribute_name}");
        }
        assert_eq!(points.groups.len(), 10);
        for (group, members) in &points.groups {
            let number: i32 = group[1..].parse().unwrap();
            for (member, id) in members.iter().zip(ids) {
                assert_eq!(*member, id % (number + 2) == 0, "{name}: {group} of {id}");
            }
        }
    }

    #[test]
    fn pages_of_blosc_are_read() {
        check("blosc.vdb", 1e-6, None);
        let (_, points) = read(&file("blosc.vdb")).unwrap();
        let stored = |name: &str| points.attribute(name).unwrap().stored;
        assert_eq!(
            ["P", "f_trnc", "f_u8", "v_f16", "N"].map(stored),
            [Stored::Whole, Stored::Half, Stored::Unit8, Stored::Centred16, Stored::Direction]
        );
    }

    #[test]
    fn arrays_without_pages_are_read() {
        check("active.vdb", 1e-6, None);
    }

    #[test]
    fn positions_of_fixed_point_are_read() {
        // Half a step of 1/255 of a voxel of 0.25, and a step for that OpenVDB cuts off.
        check("fixed8.vdb", 0.25 / 255.0 + 1e-6, None);
    }

    #[test]
    fn leaves_with_descriptors_of_their_own_are_read() {
        check("own.vdb", 1e-6, Some("f"));
    }

    #[test]
    fn a_file_without_offsets_is_read() {
        check("stream.vdb", 1e-6, None);
    }

    #[test]
    fn what_openvdb_wrote_returns_through_our_writer() {
        for name in ["blosc.vdb", "active.vdb", "fixed8.vdb", "own.vdb"] {
            let (transform, points) = read(&file(name)).unwrap();
            for flags in FLAGS {
                let grid = grid(transform, points.clone());
                let back = read(&bytes_of(&grid, flags)).unwrap().1;
                assert_eq!(back, points, "{name}, flags {flags}");
            }
        }
    }
}

#[test]
fn an_attribute_of_a_type_that_is_not_known_is_passed_over() {
    let (transform, mut points) = every_attribute(300);
    points.attributes.retain(|attribute| ["P", "id", "quats"].contains(&attribute.name.as_str()));
    for flags in [0, 6] {
        let mut bytes = bytes_of(&grid(transform, points.clone()), flags);
        let at = bytes.windows(5).position(|word| word == b"quats").unwrap();
        bytes[at..at + 5].copy_from_slice(b"vec4s");
        let mut file = File::new(Cursor::new(&bytes)).unwrap();
        for _ in 0..2 {
            let Content::Points(some) = file.grid(0).unwrap().content else { panic!() };
            assert_eq!(some.attributes, points.attributes[..2]);
            assert_eq!(some.groups, points.groups);
            assert_eq!(file.warnings().len(), 1);
            let warning = file.warnings()[0].to_string();
            assert!(warning.contains("attribute `quats` of the grid `points`"), "{warning}");
            assert!(warning.contains("`vec4s` with the codec `null`"), "{warning}");
        }
    }
}

/// Damaged files: an error or something that can be written again, and no more memory than a file may ask for.
mod damaged {
    use super::*;

    fn try_all(bytes: &[u8]) {
        let Ok(mut file) = File::new(Cursor::new(bytes)) else { return };
        for index in 0..file.grids().len() {
            let Ok(grid) = file.grid(index) else { continue };
            if let Content::Points(points) = &grid.content {
                points.world_positions(&grid.transform);
                let _ = encode_grid(&grid, Compression::of_flags(0));
            }
        }
    }

    #[test]
    fn a_file_cut_anywhere_is_refused_or_read() {
        let (transform, points) = every_attribute(40);
        let mut points = points;
        points.attributes.retain(|a| ["P", "id", "label", "weights"].contains(&a.name.as_str()));
        for flags in [2, 6] {
            let bytes = bytes_of(&grid(transform, points.clone()), flags);
            // Every byte of the end, which is the points, and some of the topology.
            let near = bytes.len().saturating_sub(3000);
            for cut in (0..near).step_by(97).chain(near..bytes.len()) {
                assert!(read(&bytes[..cut]).is_err(), "cut at {cut} of {}", bytes.len());
            }
        }
    }

    #[test]
    fn flipped_bits_and_numbers_neither_panic_nor_hang() {
        let (transform, points) = every_attribute(60);
        for flags in [0, 2, 6] {
            let whole = bytes_of(&grid(transform, points.clone()), flags);
            let from = whole.len() - whole.len().min(60_000);
            for round in 0..1500 {
                let mut bytes = whole.clone();
                for change in 0..1 + round % 3 {
                    let random = |salt: usize| noise(round * 64 + change * 8 + salt);
                    let at = from + (random(0) * (bytes.len() - from) as f64) as usize;
                    let number = [0u64, 1, 0xff, 0x7fff_ffff, 0xffff_ffff, u64::MAX, 1 << 33, 4096];
                    match (random(1) * 3.0) as u32 {
                        0 => bytes[at] ^= 1 << (random(2) * 8.0) as u32,
                        1 => bytes[at] = (random(2) * 256.0) as u8,
                        _ => {
                            let number = number[(random(2) * 8.0) as usize].to_le_bytes();
                            let width = [1, 2, 4, 8][(random(3) * 4.0) as usize];
                            let width = width.min(bytes.len() - at);
                            bytes[at..at + width].copy_from_slice(&number[..width]);
                        }
                    }
                }
                try_all(&bytes);
            }
        }
    }

    #[test]
    fn a_small_file_cannot_claim_many_points() {
        // All that is uniform takes no bytes for a point: the count alone would say how many there are.
        let positions = vec![[0.0; 3]; 2];
        let transform = Transform::default();
        let matrix = Attribute::new("m", vec![[1.0f64; 16]; 2]);
        let points = PointTree::from_points(&transform, &positions, vec![matrix]).unwrap();
        let whole = bytes_of(&grid(transform, points), 0);
        let mut claims = 0;
        for width in [4, 8] {
            for at in 0..whole.len() - width {
                // Counts and ends of 2 points become many.
                let two = &2u64.to_le_bytes()[..width];
                if &whole[at..at + width] == two {
                    let mut bytes = whole.clone();
                    bytes[at..at + 4].copy_from_slice(&0x4000_0000u32.to_le_bytes());
                    try_all(&bytes);
                    claims += 1;
                }
            }
        }
        assert!(claims > 2);
    }
}
