//! Frames on disk.

use undine_io::{IoError, Pattern};

#[test]
fn frames_on_disk_are_listed_and_a_missing_one_names_its_neighbours() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["a.0001.ply", "a.0002.ply", "a.0010.ply", "a.12345.ply", "a.012.ply", "b.0003.ply"]
    {
        std::fs::write(folder.path().join(name), "").unwrap();
    }
    let pattern = Pattern::new("a.####.ply", folder.path()).unwrap();
    assert_eq!(pattern.frames().unwrap(), [1, 2, 10, 12345]);
    assert!(pattern.find(10).unwrap().ends_with("a.0010.ply"));
    for (frame, words) in [
        (5, "a.0005.ply is not there: the nearest of 4 frames are 2 and 10"),
        (-1, "the first of 4 frames is 1"),
        (20000, "the last of 4 frames is 12345"),
    ] {
        let refused = pattern.find(frame).unwrap_err().to_string();
        assert!(refused.contains(words), "{refused}");
    }
    let none = Pattern::new("c.$F.ply", folder.path()).unwrap();
    assert!(none.find(1).unwrap_err().to_string().contains("no file of this pattern exists"));
    let single = Pattern::new("c.ply", folder.path()).unwrap();
    assert!(matches!(single.find(1), Err(IoError::Read { .. })));
    assert!(!single.is_numbered() && single.frames().unwrap().is_empty());
}

#[test]
fn a_format_that_is_unknown_is_refused_by_name() {
    let refused = undine_io::read(std::path::Path::new("a.abc")).unwrap_err().to_string();
    assert!(refused.contains("a.abc is of an unknown format"), "{refused}");
}
