//! glTF files, taken apart by hand.

use crate::shapes::{cube, curves, spray};
use serde_json::{Value, json};
use undine_core::glam::DVec3;
use undine_io::{FileMetadata, Geometry, Values, glb};

/// The JSON and the binary chunk of a file, whose lengths and alignment are checked on the way.
fn taken_apart(geometry: &Geometry) -> (Value, Vec<u8>) {
    let mut bytes = Vec::new();
    glb::write(&mut bytes, "thing", geometry, &FileMetadata::default()).unwrap();
    let word = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap()) as usize;
    assert_eq!(&bytes[..4], b"glTF");
    assert_eq!((word(4), word(8)), (2, bytes.len()));
    let json = word(12);
    assert!(&bytes[16..20] == b"JSON" && json % 4 == 0);
    let root: Value = serde_json::from_slice(&bytes[20..20 + json]).unwrap();
    let binary = if bytes.len() > 20 + json {
        assert_eq!(&bytes[24 + json..28 + json], b"BIN\0");
        assert_eq!(word(20 + json), bytes.len() - 28 - json);
        bytes[28 + json..].to_vec()
    } else {
        Vec::new()
    };
    (root, binary)
}

/// The bytes of an accessor.
fn accessor<'a>(root: &Value, binary: &'a [u8], index: &Value) -> &'a [u8] {
    let accessor = &root["accessors"][index.as_u64().unwrap() as usize];
    let view = &root["bufferViews"][accessor["bufferView"].as_u64().unwrap() as usize];
    let number = |name: &str| view[name].as_u64().unwrap() as usize;
    assert_eq!(number("byteOffset") % 4, 0);
    &binary[number("byteOffset")..][..number("byteLength")]
}

fn numbers(root: &Value, binary: &[u8], index: &Value) -> Vec<f32> {
    let bytes = accessor(root, binary, index);
    bytes.as_chunks::<4>().0.iter().map(|&bytes| f32::from_le_bytes(bytes)).collect()
}

#[test]
fn a_mesh_is_triangles_with_normals_colours_and_attributes() {
    let (root, binary) = taken_apart(&cube());
    assert_eq!(root["asset"]["version"], "2.0");
    assert_eq!(root["nodes"][0], json!({"mesh": 0, "name": "thing"}));
    let primitive = &root["meshes"][0]["primitives"][0];
    assert_eq!(primitive["mode"], 4);
    let names: Vec<&String> = primitive["attributes"].as_object().unwrap().keys().collect();
    assert_eq!(names, ["COLOR_0", "NORMAL", "POSITION", "_ID", "_ID_24", "_VX", "_VY", "_VZ"]);
    let position =
        &root["accessors"][primitive["attributes"]["POSITION"].as_u64().unwrap() as usize];
    assert_eq!(position["min"], json!([-1.0, 0.0, -1.0]));
    assert_eq!(position["max"], json!([1.0, 2.0, 1.0]));
    assert_eq!(accessor(&root, &binary, &primitive["indices"]).len(), 12 * 3 * 4);
    let velocity = numbers(&root, &binary, &primitive["attributes"]["_VY"]);
    assert_eq!(velocity, [0.0, 0.0, 4.0, 4.0, 0.0, 0.0, 4.0, 4.0]);
}

#[test]
fn whole_numbers_lose_no_bit() {
    let ids = [0, 1 << 24, (1 << 24) + 1, 0x1234_5678_9abc, u64::MAX, u64::MAX - 1];
    let signed = [0, -1, i32::MIN, i32::MAX, -16_777_217, 16_777_217];
    let mut geometry = spray(6);
    geometry.points.channels.insert("id".to_owned(), Values::U64(ids.to_vec()));
    geometry.points.channels.insert("n".to_owned(), Values::I32(signed.to_vec()));
    let (root, binary) = taken_apart(&geometry);
    let attributes = &root["meshes"][0]["primitives"][0]["attributes"];
    let part = |name: &str| numbers(&root, &binary, &attributes[name]);
    let [low, middle, high] = ["_ID", "_ID_24", "_ID_48"].map(part);
    let [least, most] = ["_N", "_N_24"].map(part);
    for n in 0..6 {
        let id = low[n] as u64 | (middle[n] as u64) << 24 | (high[n] as u64) << 48;
        assert_eq!(id, ids[n]);
        assert_eq!(least[n] as i64 + ((most[n] as i64) << 24), i64::from(signed[n]));
    }
}

#[test]
fn points_are_points_and_curves_are_lines() {
    let (root, binary) = taken_apart(&spray(5));
    let primitive = &root["meshes"][0]["primitives"][0];
    assert!(primitive["mode"] == 0 && primitive.get("indices").is_none());
    let ids = numbers(&root, &binary, &primitive["attributes"]["_ID"]);
    assert_eq!(ids, [0.0, 1.0, 2.0, 3.0, 4.0]);

    let (root, binary) = taken_apart(&curves());
    let primitive = &root["meshes"][0]["primitives"][0];
    assert_eq!(primitive["mode"], 1);
    let ends = accessor(&root, &binary, &primitive["indices"]);
    let ends: Vec<u32> =
        ends.as_chunks::<4>().0.iter().map(|&bytes| u32::from_le_bytes(bytes)).collect();
    assert_eq!(ends, [0, 1, 1, 2, 3, 4, 4, 5, 5, 6, 6, 3]);
}

#[test]
fn nothing_is_a_scene_without_a_mesh() {
    let (root, binary) = taken_apart(&Geometry::default());
    assert!(root.get("meshes").is_none() && root.get("buffers").is_none() && binary.is_empty());
    assert_eq!(root["nodes"], json!([{"name": "thing"}]));
}

#[test]
fn what_single_precision_cannot_say_is_refused() {
    let mut far = spray(2);
    far.points.positions[1] = DVec3::splat(1e39);
    let mut bad = spray(2);
    bad.points.channels.insert("age".to_owned(), Values::F64(vec![0.0, 1e300]));
    let mut twice = spray(2);
    twice.points.channels.insert("Id".to_owned(), Values::F32(vec![0.0; 2]));
    let mut short = spray(2);
    short.points.channels.insert("age".to_owned(), Values::F32(vec![0.0]));
    for (geometry, words) in [
        (far, "point 1 is at"),
        (bad, "channel `age` cannot be written: the value of point 1"),
        (twice, "another channel is called `_ID`"),
        (short, "1 values for 2 points"),
    ] {
        let refused = glb::write(&mut Vec::new(), "thing", &geometry, &FileMetadata::default())
            .unwrap_err()
            .to_string();
        assert!(refused.contains(words), "{refused}");
    }
}
