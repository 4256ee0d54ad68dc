//! PLY files that lie, end early, or hold what is no number: always an error with its place, never a panic.

use proptest::prelude::*;
use std::path::Path;
use undine_core::glam::DVec3;
use undine_io::ply::{self, Precision};
use undine_io::{Channels, Points, Values};

const XYZ: &str = "property float x\nproperty float y\nproperty float z\n";

fn refusal(bytes: &[u8]) -> String {
    ply::parse(bytes, Path::new("bad.ply")).unwrap_err().to_string()
}

#[test]
fn a_bad_header_is_refused_with_its_line() {
    for (text, word) in [
        ("", "line 1: the header does not end"),
        ("plx\n", "line 1: it does not begin with `ply`"),
        ("ply\nformat ascii 2.0\n", "line 2: `format ascii 2.0` is no line"),
        ("ply\nformat utf8 1.0\n", "line 2: `utf8` is no format"),
        ("ply\nend_header\n", "there is no line `format`"),
        ("ply\nelement vertex -1\n", "`-1` is no count"),
        ("ply\nproperty float x\n", "a property stands before any element"),
        ("ply\nelement vertex 1\nproperty quad x\n", "line 3: `quad` is no type"),
        ("ply\nelement vertex 1\nproperty float\n", "line 3: a property is not complete"),
        ("ply\nelement vertex 1\nproperty list float int x\n", "length of a list"),
        ("ply\nelement a 1\nelement a 1\n", "declared twice"),
        ("ply\nelement a 1\nproperty int b\nproperty int b\n", "declared twice"),
        ("ply\nformat ascii 1.0\nend_header\n", "there is no element `vertex`"),
        ("ply\nformat ascii 1.0\nelement vertex 0\nend_header\n", "has no x, y and z"),
        ("ply\n\u{ff}\u{fe}", "the header does not end"),
    ] {
        let refused = refusal(text.as_bytes());
        assert!(refused.contains(word) && refused.contains("bad.ply"), "{text:?}: {refused}");
    }
}

#[test]
fn rows_that_are_not_there_are_never_allocated() {
    for format in ["ascii", "binary_little_endian", "binary_big_endian"] {
        let text = format!(
            "ply\nformat {format} 1.0\nelement vertex 18446744073709551615\n{XYZ}end_header\n1 2 3\n"
        );
        let refused = refusal(text.as_bytes());
        assert!(refused.contains("are declared, but"), "{refused}");
    }
    // Elements without properties take no place: they are skipped in no time.
    let text = format!(
        "ply\nformat ascii 1.0\nelement none 18446744073709551615\nelement vertex 1\n{XYZ}end_header\n1 2 3\n"
    );
    assert_eq!(
        ply::parse(text.as_bytes(), Path::new("odd.ply")).unwrap().points.positions,
        [DVec3::new(1.0, 2.0, 3.0)]
    );
}

#[test]
fn huge_lists_and_strange_corners_are_refused() {
    let header = |kind: &str| {
        format!(
            "ply\nformat {kind} 1.0\nelement vertex 1\n{XYZ}element face 1\nproperty list int int vertex_indices\nend_header\n"
        )
    };
    let mut binary = header("binary_little_endian").into_bytes();
    binary.extend([0; 12]);
    for length in [i32::MAX, -1] {
        let mut bytes = binary.clone();
        bytes.extend(length.to_le_bytes());
        bytes.extend([0; 8]);
        let refused = refusal(&bytes);
        assert!(refused.contains("items") && refused.contains("byte"), "{refused}");
    }
    for (face, word) in [
        ("3 0 0 1", "a face has the vertex 1; there are 1"),
        ("3 0 0 -1", "the vertex -1"),
        ("2 0 0", "three corners"),
        ("3 0 0", "line 12: the file ends within its rows"),
        ("3 0 0 0.5", "whole number"),
    ] {
        let text = format!("{}0 0 0\n{face}\n", header("ascii"));
        let refused = refusal(text.as_bytes());
        assert!(refused.contains(word), "{face}: {refused}");
    }
}

#[test]
fn what_is_no_finite_number_is_refused_with_its_place() {
    for word in ["nan", "inf", "-inf", "1e999", "1e40", "ten", "0x10", "1,5"] {
        let text =
            format!("ply\nformat ascii 1.0\nelement vertex 1\n{XYZ}end_header\n0 {word} 0\n");
        let refused = refusal(text.as_bytes());
        assert!(refused.contains("line 8") && refused.contains(word), "{refused}");
    }
    let mut bytes =
        format!("ply\nformat binary_little_endian 1.0\nelement vertex 1\n{XYZ}end_header\n")
            .into_bytes();
    for value in [0.0, f32::NAN, 0.0] {
        bytes.extend(value.to_le_bytes());
    }
    assert!(refusal(&bytes).contains("`y` of vertex 0 is NaN"));
}

fn good() -> Vec<u8> {
    let positions: Vec<DVec3> = (0..20).map(|n| DVec3::splat(f64::from(n))).collect();
    let channels = Channels::from([("id".to_owned(), Values::U64((0..20).collect()))]);
    let mut bytes = Vec::new();
    ply::write(&mut bytes, &Points { positions, channels }, None, Precision::Single).unwrap();
    bytes
}

#[test]
fn every_cut_is_noticed() {
    let good = good();
    for end in 0..good.len() {
        assert!(ply::parse(&good[..end], Path::new("cut.ply")).is_err(), "cut at {end}");
    }
}

proptest! {
    #[test]
    fn no_change_of_bytes_is_too_strange(place in 0_usize..400, byte: u8, tail: u8) {
        let mut bytes = good();
        let place = place % bytes.len();
        bytes[place] = byte;
        bytes.truncate(bytes.len() - usize::from(tail) % 16);
        // Whatever comes out, it comes out.
        let _ = ply::parse(&bytes, Path::new("strange.ply"));
    }
}
