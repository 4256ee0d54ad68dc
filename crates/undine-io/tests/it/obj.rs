//! OBJ texts, good and bad.

use std::path::Path;
use undine_core::glam::DVec3;
use undine_io::{IoError, obj};

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
