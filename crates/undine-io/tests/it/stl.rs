//! STL files, binary and text, good and bad.

use crate::shapes::{corners, cube};
use proptest::prelude::*;
use std::path::Path;
use undine_core::glam::DVec3;
use undine_core::mesh::Surface;
use undine_io::{FileMetadata, Geometry, IoError, stl};

fn parse(bytes: &[u8]) -> Result<Geometry, IoError> {
    stl::parse(bytes, Path::new("test.stl"))
}

fn written(as_text: bool) -> Vec<u8> {
    let Geometry { points, faces, .. } = cube();
    let mut bytes = Vec::new();
    stl::write(&mut bytes, &points, &faces.unwrap(), as_text, &FileMetadata::default()).unwrap();
    bytes
}

#[test]
fn a_cube_returns_welded_and_closed_from_binary_and_text() {
    for as_text in [false, true] {
        let read = parse(&written(as_text)).unwrap();
        assert_eq!(read.points.positions.len(), 8);
        assert_eq!(corners(&read).len(), 12);
        let polygons = read.faces.unwrap().polygons;
        let surface = Surface::new("cube", read.points.positions, polygons).unwrap();
        assert!((surface.volume().unwrap() - 8.0).abs() < 1e-12);
    }
    assert_eq!(written(false).len(), 84 + 50 * 12);
}

#[test]
fn normals_point_outward() {
    let bytes = written(false);
    let number = |at: usize| f32::from_le_bytes(bytes[at..at + 4].try_into().unwrap());
    for triangle in 0..12 {
        let vector = |n: usize| [0, 1, 2].map(|a| number(84 + 50 * triangle + 12 * n + 4 * a));
        let (normal, corner) = (vector(0), vector(1));
        let outward = normal[0] * corner[0] + normal[1] * (corner[1] - 1.0) + normal[2] * corner[2];
        assert!((outward - 1.0).abs() < 1e-6, "{normal:?} at {corner:?}");
    }
}

#[test]
fn a_binary_file_that_begins_like_a_text_is_binary() {
    let mut bytes = written(false);
    bytes[..10].copy_from_slice(b"solid cube");
    assert_eq!(corners(&parse(&bytes).unwrap()).len(), 12);
}

#[test]
fn texts_of_other_programs_are_read() {
    let text = "  SOLID two parts\r\n FACET NORMAL 0 0 1\n  outer loop\n   vertex 0 0 -0.0\n vertex 1e0 0 0\n\tvertex 0 1.0000000001 0\n endloop\n endfacet\nendsolid two\n\nsolid\nfacet normal nan nan nan\nouter loop\nvertex 0 0 0\nvertex 0 0 0\nvertex 1 0 0\nendloop\nendfacet\nendsolid\n";
    let read = parse(text.as_bytes()).unwrap();
    assert_eq!(corners(&read), [[0, 1, 2], [0, 0, 1]]);
    assert_eq!(read.points.positions[2], DVec3::new(0.0, 1.000_000_000_1, 0.0));
}

#[test]
fn what_is_no_stl_is_refused_with_its_place() {
    let text = |middle: &str| format!("solid a\nfacet normal 0 0 1\nouter loop\n{middle}");
    for (bytes, words) in [
        (Vec::new(), "byte 0: the file has 0 bytes"),
        (b"hello".to_vec(), "does not begin with `solid`"),
        (vec![255; 84], "byte 80: 4294967295 triangles take"),
        (text("vertex 0 0\n").into(), "line 4: `vertex 0 0` is no vertex"),
        (text("vertex 0 0 x\n").into(), "line 4: `vertex 0 0 x` is no vertex"),
        (text("vertex 0 0 inf\n").into(), "line 4: a vertex is at 0 0 inf"),
        (text("endloop\n").into(), "line 4: a facet has 0 vertices"),
        (text("vertex 0 0 0\n".repeat(4).as_str()).into(), "line 7: a facet has a fourth vertex"),
        (text("facet\n").into(), "line 4: `facet` does not belong here; within a loop"),
        (b"solid a\nvertex 1 2 3\n".to_vec(), "line 2: `vertex 1 2 3` does not belong here"),
        (b"solid a\n".to_vec(), "does not end with `endsolid`"),
    ] {
        let refused = parse(&bytes).unwrap_err().to_string();
        assert!(refused.contains(words) && refused.contains("test.stl"), "{words}: {refused}");
    }
    let mut bytes = written(false);
    bytes[84 + 50 + 12..][..4].copy_from_slice(&f32::NAN.to_le_bytes());
    assert!(parse(&bytes).unwrap_err().to_string().contains("byte 146: a vertex is at NaN"));
}

#[test]
fn every_cut_is_noticed() {
    for as_text in [false, true] {
        let good = written(as_text);
        // The last words of a text are a name that nobody needs.
        let end = if as_text { good.len() - " undine\n".len() } else { good.len() };
        for end in 0..end {
            assert!(parse(&good[..end]).is_err(), "cut at {end}");
        }
    }
}

proptest! {
    #[test]
    fn no_change_of_bytes_is_too_strange(as_text: bool, place: usize, byte: u8, tail in 0_usize..60) {
        let mut bytes = written(as_text);
        let place = place % bytes.len();
        bytes[place] = byte;
        bytes.truncate(bytes.len() - tail);
        let _ = parse(&bytes);
    }
}
