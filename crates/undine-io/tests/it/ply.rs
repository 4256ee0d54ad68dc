//! PLY files that are as they should be.

use crate::shapes::{corners, cube, curves, spray};
use proptest::prelude::*;
use std::path::Path;
use undine_core::glam::{DVec3, Vec3};
use undine_core::mesh::Polygons;
use undine_io::ply::{self, Precision};
use undine_io::{Channels, Faces, FileMetadata, Points, Values};

fn parse(bytes: &[u8]) -> undine_io::Geometry {
    ply::parse(bytes, Path::new("test.ply")).unwrap()
}

/// Two points and a triangle with a flag, put together by hand, in either byte order.
fn by_hand(order: &str) -> Vec<u8> {
    let mut bytes = format!(
        "ply\r\nformat binary_{order}_endian 1.0\r\ncomment by hand\r\nelement vertex 3\r\nproperty float x\nproperty float y\nproperty float z\nproperty uchar flag\nproperty double mass\nproperty float vx\nproperty float vy\nproperty float vz\nelement face 1\nproperty list uchar short vertex_index\nproperty short kind\nelement other 1\nproperty list uchar int things\nend_header\n"
    )
    .into_bytes();
    let big = order == "big";
    let mut put = |value: &[u8]| {
        let mut value = value.to_vec();
        if big {
            value.reverse();
        }
        bytes.extend(value);
    };
    for n in 0..3_u8 {
        put(&f32::from(n).to_le_bytes());
        put(&0.5_f32.to_le_bytes());
        put(&(-1.0_f32).to_le_bytes());
        put(&[n]);
        put(&(0.1 * f64::from(n)).to_le_bytes());
        for axis in 0..3_u8 {
            put(&f32::from(10 * n + axis).to_le_bytes());
        }
    }
    put(&[3]);
    for vertex in [2_i16, 1, 0] {
        put(&vertex.to_le_bytes());
    }
    put(&(-7_i16).to_le_bytes());
    put(&[2]);
    put(&1_i32.to_le_bytes());
    put(&2_i32.to_le_bytes());
    bytes
}

#[test]
fn a_file_written_by_hand_is_read_in_both_byte_orders() {
    for order in ["little", "big"] {
        let geometry = parse(&by_hand(order));
        let points = &geometry.points;
        assert_eq!(points.positions[2], DVec3::new(2.0, 0.5, -1.0));
        assert_eq!(points.channels["flag"], Values::U32(vec![0, 1, 2]));
        assert_eq!(points.channels["mass"], Values::F64(vec![0.0, 0.1, 0.2]));
        let velocities = vec![
            Vec3::new(0.0, 1.0, 2.0),
            Vec3::new(10.0, 11.0, 12.0),
            Vec3::new(20.0, 21.0, 22.0),
        ];
        assert_eq!(points.channels["v"], Values::Vec3(velocities));
        assert_eq!(points.channels.len(), 3);
        let faces = geometry.faces.unwrap();
        assert_eq!(faces.polygons.face(0), [2, 1, 0]);
        assert_eq!(faces.channels["kind"], Values::I32(vec![-7]));
    }
}

#[test]
fn a_text_is_read() {
    let text = "ply\nformat ascii 1.0\nelement vertex 2\nproperty double x\nproperty double y\nproperty double z\nproperty float nx\nproperty float ny\nproperty float nz\nend_header\n0 0.125 -1e3 0 0 1\n\n1 2\n3 1 0 0";
    let points = parse(text.as_bytes()).points;
    assert_eq!(points.positions, [DVec3::new(0.0, 0.125, -1e3), DVec3::new(1.0, 2.0, 3.0)]);
    assert_eq!(points.channels["N"], Values::Vec3(vec![Vec3::Z, Vec3::X]));
}

fn vectors() -> impl Strategy<Value = DVec3> {
    prop::array::uniform3(-1e12..1e12_f64).prop_map(DVec3::from_array)
}

proptest! {
    #[test]
    fn what_is_written_is_read_back_to_the_bit(
        positions in prop::collection::vec(vectors(), 3..40),
        seed: u64,
    ) {
        let count = positions.len();
        let bits = |n: usize| seed.rotate_left(n as u32 % 64) ^ n as u64;
        let mut channels = Channels::new();
        channels.insert("id".into(), Values::U64((0..count).map(bits).collect()));
        channels.insert("count".into(), Values::U32((0..count).map(|n| bits(n) as u32).collect()));
        channels.insert("age".into(), Values::I32((0..count).map(|n| bits(n) as i32).collect()));
        channels.insert("mass".into(), Values::F64(positions.iter().map(|p| p.x).collect()));
        channels.insert("pscale".into(), Values::F32(positions.iter().map(|p| p.y as f32).collect()));
        channels.insert("v".into(), Values::Vec3(positions.iter().map(|p| p.as_vec3()).collect()));
        channels.insert("N".into(), Values::DVec3(positions.clone()));
        let points = Points { positions, channels };
        let corners: Vec<u32> = (0..count as u32).chain([0, 1, 2]).collect();
        let polygons = Polygons::from_counts(&[count as u32, 3], corners).unwrap();
        let kinds = Channels::from([("kind".to_owned(), Values::I32(vec![3, -4]))]);
        let faces = Faces { polygons, channels: kinds };

        let mut bytes = Vec::new();
        ply::write(&mut bytes, &points, Some(&faces), Precision::Double).unwrap();
        let again = parse(&bytes);
        prop_assert_eq!(&again.points, &points);
        let read = again.faces.unwrap();
        prop_assert_eq!(read.polygons.corners(), faces.polygons.corners());
        prop_assert_eq!(&read.channels, &faces.channels);

        // In single precision, positions are rounded once, and writing again changes no byte.
        let mut once = Vec::new();
        ply::write(&mut once, &points, None, Precision::Single).unwrap();
        let rounded = parse(&once).points;
        prop_assert_eq!(rounded.positions[0], points.positions[0].as_vec3().as_dvec3());
        let mut twice = Vec::new();
        ply::write(&mut twice, &rounded, None, Precision::Single).unwrap();
        prop_assert_eq!(once, twice);
    }
}

#[test]
fn channels_that_a_file_cannot_give_back_are_not_written() {
    let points = |name: &str, values: Values| Points {
        positions: vec![DVec3::ZERO],
        channels: Channels::from([
            (name.to_owned(), values),
            ("vx".to_owned(), Values::F32(vec![0.0])),
        ]),
    };
    for (points, word) in [
        (points("two words", Values::F32(vec![1.0])), "one word"),
        (points("", Values::F32(vec![1.0])), "one word"),
        (points("x", Values::F32(vec![1.0])), "another channel is called `x`"),
        (points("v", Values::Vec3(vec![Vec3::ONE])), "another channel is called `vx`"),
        (points("mass", Values::F32(vec![1.0, 2.0])), "2 values for 1 elements"),
    ] {
        let refused = ply::write(&mut Vec::new(), &points, None, Precision::Single).unwrap_err();
        assert!(refused.to_string().contains(word), "{refused}");
    }
}

#[test]
fn texts_curves_and_colours_are_written_and_read_back() {
    for as_text in [false, true] {
        for geometry in [cube(), curves(), spray(30)] {
            let style = ply::Style { precision: Precision::Double, as_text };
            let mut bytes = Vec::new();
            ply::write_geometry(&mut bytes, &geometry, style, &FileMetadata::default()).unwrap();
            assert_eq!(
                std::str::from_utf8(&bytes).is_ok_and(|text| text.contains("ascii")),
                as_text
            );
            let again = parse(&bytes);
            assert_eq!(again.points, geometry.points);
            assert_eq!(corners(&again), corners(&geometry));
            let strands = |g: &undine_io::Geometry| g.curves.as_ref().map(|c| c.strands.clone());
            assert_eq!(strands(&again), strands(&geometry));
        }
    }
}

#[test]
fn colours_are_bytes_where_nothing_is_lost() {
    let header = |colour: Vec3| {
        let mut points = spray(1).points;
        points.channels.insert("Cd".to_owned(), Values::Vec3(vec![colour]));
        points.channels.insert("Alpha".to_owned(), Values::F32(vec![1.0]));
        let mut bytes = Vec::new();
        ply::write(&mut bytes, &points, None, Precision::Single).unwrap();
        assert_eq!(parse(&bytes).points.channels["Cd"], points.channels["Cd"]);
        assert_eq!(parse(&bytes).points.channels["Alpha"], points.channels["Alpha"]);
        String::from_utf8_lossy(&bytes).into_owned()
    };
    let bytes = header(Vec3::new(1.0, 0.0, 128.0 / 255.0));
    assert!(bytes.contains("property uchar red\nproperty uchar green\nproperty uchar blue\n"));
    assert!(bytes.contains("property uchar alpha"));
    for colour in [Vec3::new(0.5, 0.0, 0.0), Vec3::new(7.0, 0.0, 0.0), Vec3::new(0.0, -1.0, -0.0)] {
        assert!(header(colour).contains("property float red"), "{colour}");
    }
}

#[test]
fn strips_and_colours_of_scanners_are_read() {
    let text = "ply\nformat ascii 1.0\nelement vertex 6\nproperty float x\nproperty float y\nproperty float z\nproperty uchar diffuse_red\nproperty uchar diffuse_green\nproperty uchar diffuse_blue\nproperty float u\nproperty float v\nelement tristrips 1\nproperty list int int vertex_indices\nend_header\n0 0 0 255 0 51 0 1\n1 0 0 255 0 51 0 1\n0 1 0 255 0 51 0 1\n1 1 0 255 0 51 0 1\n0 2 0 255 0 51 0 1\n1 2 0 255 0 51 0 1\n9 0 1 2 3 -1 2 3 4 -1\n";
    let geometry = parse(text.as_bytes());
    assert_eq!(corners(&geometry), [[0, 1, 2], [2, 1, 3], [2, 3, 4]]);
    let channels = &geometry.points.channels;
    assert_eq!(channels["Cd"], Values::Vec3(vec![Vec3::new(1.0, 0.0, 0.2); 6]));
    assert_eq!(channels.keys().collect::<Vec<_>>(), ["Cd", "texture_u", "texture_v"]);
    let bad = text.replace("2 3 4 -1", "2 3 6 -1");
    let refused = ply::parse(bad.as_bytes(), Path::new("bad.ply")).unwrap_err().to_string();
    assert!(refused.contains("a strip has the vertex 6"), "{refused}");
}

#[test]
fn edges_without_faces_are_curves() {
    let text = "ply\nformat ascii 1.0\nelement vertex 3\nproperty float x\nproperty float y\nproperty float z\nelement edge 2\nproperty int vertex1\nproperty int vertex2\nend_header\n0 0 0\n1 0 0\n2 0 0\n2 1\n1 0\n";
    let geometry = parse(text.as_bytes());
    assert_eq!(geometry.curves.unwrap().strands.vertices(0), 0..3);
    assert_eq!(geometry.points.positions[0].x, 2.0);
    let bad = text.replace("\n1 0\n", "\n1 3\n");
    let refused = ply::parse(bad.as_bytes(), Path::new("bad.ply")).unwrap_err().to_string();
    assert!(refused.contains("an edge has the vertex 3"), "{refused}");
}
