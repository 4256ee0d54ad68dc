//! Through the real OpenVDB: what it writes we read, and what we write it reads, with the same values, active voxels,
//! tiles, places and metadata.

use super::describe;
use std::{fs, path::Path};
use tempfile::TempDir;
use undine_vdb::{File, Grid};

/// Every grid of a file, of which nothing may be wrong.
fn read(path: &Path) -> Vec<Grid> {
    let mut file = File::open(path).expect("a .vdb file");
    assert!(file.warnings().is_empty(), "{}", file.warnings()[0]);
    (0..file.grids().len()).map(|index| file.grid(index).expect("a whole grid")).collect()
}

fn folder() -> TempDir {
    tempfile::tempdir().expect("a folder")
}

#[test]
fn what_openvdb_writes_is_read_as_it_reads_it() {
    let folder = folder();
    let path = folder.path().join("made.vdb");
    peers::openvdb("tests/peer/make.py", [&path]);
    let wanted = describe::of_script(&peers::openvdb("tests/peer/describe.py", [&path]));
    let of_file = describe::file(File::open(&path).expect("a .vdb file").metadata());
    let found = [of_file.clone(), describe::grids(&read(&path))].concat();
    describe::assert_same(&found, &wanted);

    // The same grids again in OpenVDB's other ways to compress them. Its tool keeps no metadata of the file.
    for codec in ["none", "zip", "active", "blosc"] {
        let again = folder.path().join(codec).with_extension("vdb");
        peers::vdb_tool([
            "-read".as_ref(),
            path.as_os_str(),
            "-write".as_ref(),
            again.as_os_str(),
            format!("codec={codec}").as_ref(),
        ]);
        describe::assert_same(&describe::grids(&read(&again)), &wanted[of_file.len()..]);
    }

    // And as a stream, which nobody can go back in: it says nowhere where a grid begins.
    let words = "-read \"$0\" -write stdout.vdb > \"$1\"";
    let stream = folder.path().join("stream.vdb");
    let status = std::process::Command::new("sh")
        .args([
            "-c".as_ref(),
            format!("vdb_tool {words}").as_ref(),
            path.as_os_str(),
            stream.as_os_str(),
        ])
        .stderr(std::process::Stdio::null())
        .status();
    assert!(status.is_ok_and(|status| status.success()));
    describe::assert_same(&describe::grids(&read(&stream)), &wanted[of_file.len()..]);
    assert!(fs::metadata(&stream).is_ok_and(|file| file.len() > 100_000));
}
