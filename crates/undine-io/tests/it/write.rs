//! Files by their names: written whole, and read back.

use crate::shapes::{corners, cube, curves, spray};
use undine_io::write::left_out;
use undine_io::{Format, Pattern, WriteOptions, read, write};

#[test]
fn the_ending_of_a_name_chooses_the_format() {
    let folder = tempfile::tempdir().unwrap();
    for ending in ["ply", "obj", "STL"] {
        let path = folder.path().join(format!("cube.{ending}"));
        write(&path, &cube(), &WriteOptions::default()).unwrap();
        let again = read(&path).unwrap();
        assert_eq!(again.points.positions.len(), 8, "{ending}");
        assert_eq!(corners(&again).len(), if ending == "STL" { 12 } else { 6 });
    }
    let glb = folder.path().join("cube.glb");
    write(&glb, &cube(), &WriteOptions::default()).unwrap();
    assert!(read(&glb).unwrap_err().to_string().contains("glTF is written only"));
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 4);
}

#[test]
fn what_cannot_be_written_leaves_the_file_as_it_was() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("spray.stl");
    std::fs::write(&path, "precious").unwrap();
    let refused = write(&path, &spray(3), &WriteOptions::default()).unwrap_err().to_string();
    assert!(refused.contains("STL holds triangles alone"), "{refused}");
    assert_eq!(std::fs::read(&path).unwrap(), b"precious");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn a_sequence_is_written_and_found_by_its_pattern() {
    let folder = tempfile::tempdir().unwrap();
    let pattern = Pattern::new("splash.####.ply", folder.path()).unwrap();
    for frame in 1..=3 {
        write(&pattern.file(frame), &spray(10 * frame as u32), &WriteOptions::default()).unwrap();
    }
    assert_eq!(pattern.frames().unwrap(), [1, 2, 3]);
    assert_eq!(read(&pattern.find(3).unwrap()).unwrap().points.positions.len(), 30);
}

#[test]
fn what_a_format_has_no_place_for_is_named() {
    assert!(left_out(&cube(), Format::Ply).is_empty() && left_out(&cube(), Format::Glb).is_empty());
    assert_eq!(left_out(&cube(), Format::Obj), ["channel id", "channel v"]);
    assert_eq!(left_out(&curves(), Format::Obj), ["channel width"]);
    assert_eq!(left_out(&cube(), Format::Stl).len(), 4);
}
