//! OBJ texts, good and bad.

use crate::shapes::{corners, cube, curves, spray};
use proptest::prelude::*;
use std::path::Path;
use undine_core::glam::{DVec3, Vec3};
use undine_io::{FileMetadata, IoError, Precision, Values, obj};

fn parse(text: &str) -> Result<undine_io::Geometry, IoError> {
    obj::parse(text.as_bytes(), Path::new("test.obj"))
}

#[test]
fn faces_of_any_corners_and_ways_of_counting_are_read() {
    let text = "# a square and a triangle\r\nmtllib x.mtl\nv 0 0 0\nv 1 0 0 1.0\nv 1 1 0\nv 0 1 0\nvn 0 0 1\nvt 0 0\nf 1/1/1 2//1 3 4/1\nv 0 0 2.5e0\nf -1 -5 -4\n";
    let geometry = parse(text).unwrap();
    assert_eq!(geometry.points.positions[4], DVec3::new(0.0, 0.0, 2.5));
    let faces = geometry.faces.unwrap();
    let faces: Vec<&[u32]> = faces.polygons.faces().collect();
    assert_eq!(faces, [&[0, 1, 2, 3][..], &[4, 0, 1][..]]);
}

#[test]
fn what_is_no_obj_is_refused_with_its_line() {
    for (text, word) in [
        ("v 0 0\n", "line 1: `nothing` is no coordinate"),
        ("v 0 0 nan\n", "line 1: `nan`"),
        ("v 0 0 0\nf 1 2 3\n", "line 2: `2` is no corner"),
        ("v 0 0 0\nf 0 0 0\n", "line 2: `0` is no corner"),
        ("v 0 0 0\nf -2 1 1\n", "line 2: `-2` is no corner"),
        ("v 0 0 0\nf 1 1\n", "line 2: a face has 2 corners"),
        ("v 0 0 0\nf 99999999999999999999 1 1\n", "line 2"),
    ] {
        let refused = parse(text).unwrap_err().to_string();
        assert!(refused.contains(word), "{text:?}: {refused}");
    }
}

#[test]
fn normals_and_colours_are_channels_where_each_vertex_has_one() {
    let text = "v 0 0 0 1 0 0\nv 1 0 0 0 1 0\nv 0 1 0 0 0 0.5\nvn 0 0 1\nvn 0 0 1\nvn 1 0 0\nf 1//1 2//2 3//1\n";
    let points = parse(text).unwrap().points;
    assert_eq!(points.channels["N"], Values::Vec3(vec![Vec3::Z; 3]));
    let colours = vec![Vec3::X, Vec3::Y, Vec3::new(0.0, 0.0, 0.5)];
    assert_eq!(points.channels["Cd"], Values::Vec3(colours));
    // An edge that is sharp has several normals, and a vertex without a colour takes those of all.
    let text = format!("{text}v 0 0 2\nf 1//3 2//3 4//3\n");
    assert!(parse(&text).unwrap().points.channels.is_empty());
}

#[test]
fn lines_are_curves_and_long_ones_go_on() {
    let text = "v 0 0 0\nv 1 0 0\nv 2 0 0\nv 3 0 \\\n 5\nl 1 2 \\\n3\nl 3 4 -4 3\n";
    let geometry = parse(text).unwrap();
    assert!(geometry.faces.is_none());
    let curves = geometry.curves.unwrap();
    assert_eq!(curves.strands.len(), 2);
    assert!(curves.strands.is_closed(1));
    let x: Vec<f64> = geometry.points.positions.iter().map(|p| p.x).collect();
    assert_eq!(x, [0.0, 1.0, 2.0, 2.0, 3.0, 0.0]);
    let with_face = parse(&format!("{text}f 1 2 3\n")).unwrap();
    assert!(with_face.curves.is_none() && with_face.points.positions.len() == 4);
    let refused = parse("v 0 \\\n0 \\\n\\\n0\nv a 0 0").unwrap_err().to_string();
    assert!(refused.contains("line 5"), "{refused}");
}

#[test]
fn points_alone_have_no_faces_and_another_file_is_no_obj() {
    let geometry = parse("# spray\nv 1 2 3\np 1\n").unwrap();
    assert!(geometry.faces.is_none() && geometry.curves.is_none());
    assert!(parse("# an empty frame\n").unwrap().points.positions.is_empty());
    assert!(parse("ply\nformat ascii 1.0\n").unwrap_err().to_string().contains("line 1: `ply`"));
    assert!(obj::parse(&[0, 159, 146, 150, 10], Path::new("a.obj")).is_err());
}

#[test]
fn what_is_written_is_read_back() {
    for geometry in [cube(), curves(), spray(20)] {
        let mut bytes = Vec::new();
        obj::write(&mut bytes, &geometry, Precision::Double, &FileMetadata::default()).unwrap();
        let again = obj::parse(&bytes, Path::new("again.obj")).unwrap();
        assert_eq!(again.points.positions, geometry.points.positions);
        assert_eq!(corners(&again), corners(&geometry));
        let strands = |g: &undine_io::Geometry| g.curves.as_ref().map(|c| c.strands.clone());
        assert_eq!(strands(&again), strands(&geometry));
        for name in again.points.channels.keys() {
            assert_eq!(again.points.channels[name], geometry.points.channels[name], "{name}");
        }
    }
    let far = DVec3::new(1.0 / 3.0, -1e300, 1e-300);
    let mut geometry = spray(1);
    geometry.points.positions[0] = far;
    let mut bytes = Vec::new();
    obj::write(&mut bytes, &geometry, Precision::Double, &FileMetadata::default()).unwrap();
    assert_eq!(obj::parse(&bytes, Path::new("far.obj")).unwrap().points.positions, [far]);
    let refused = obj::write(&mut bytes, &geometry, Precision::Single, &FileMetadata::default())
        .unwrap_err()
        .to_string();
    assert!(refused.contains("point 0 is at"), "{refused}");
}

proptest! {
    #[test]
    fn no_change_of_bytes_is_too_strange(place: usize, byte: u8, second: usize) {
        let mut bytes = Vec::new();
        obj::write(&mut bytes, &cube(), Precision::Single, &FileMetadata::default()).unwrap();
        let mut lines = Vec::new();
        obj::write(&mut lines, &curves(), Precision::Single, &FileMetadata::default()).unwrap();
        bytes.extend(lines);
        let (place, second) = (place % bytes.len(), second % bytes.len());
        bytes[place] = byte;
        bytes[second] = b'\\';
        let _ = obj::parse(&bytes, Path::new("strange.obj"));
    }
}
