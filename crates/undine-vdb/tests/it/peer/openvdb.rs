//! Through the real OpenVDB: what it writes we read, and what we write it reads, with the same values, active voxels,
//! tiles, places and metadata.

use super::{describe, gallery};
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;
use undine_vdb::codec::Codec;
use undine_vdb::write::{Compression, EncodedGrid, encode_grid, write_file};
use undine_vdb::{Bounds, Content, File, Grid};

/// Every grid of a file, of which nothing may be wrong.
pub fn read(path: &Path) -> Vec<Grid> {
    let mut file = File::open(path).expect("a .vdb file");
    assert!(file.warnings().is_empty(), "{}", file.warnings()[0]);
    (0..file.grids().len()).map(|index| file.grid(index).expect("a whole grid")).collect()
}

/// A folder that is gone after the test.
pub fn folder() -> TempDir {
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
        let again = rewritten(&folder, &path, codec);
        describe::assert_same(&describe::grids(&read(&again)), &wanted[of_file.len()..]);
    }

    // And as a stream, which nobody can go back in: it says nowhere where a grid begins.
    let stream = folder.path().join("stream.vdb");
    let script = "vdb_tool -read \"$0\" -write stdout.vdb > \"$1\" 2> /dev/null";
    let status = Command::new("sh").args(["-c", script]).args([&path, &stream]).status();
    assert!(status.is_ok_and(|status| status.success()), "vdb_tool writes a stream");
    assert_eq!(std::fs::read(&stream).expect("a stream")[20], 0, "it has offsets");
    describe::assert_same(&describe::grids(&read(&stream)), &wanted[of_file.len()..]);
}

/// Every way to compress.
pub const COMPRESSIONS: [Compression; 6] = {
    const fn by(codec: Codec, active_mask: bool) -> Compression {
        Compression { codec, active_mask }
    }
    [
        by(Codec::None, false),
        by(Codec::None, true),
        by(Codec::Zip, false),
        by(Codec::Zip, true),
        by(Codec::Blosc, false),
        by(Codec::Blosc, true),
    ]
};

/// Writes grids into a file of this name.
pub fn written(folder: &TempDir, name: &str, grids: &[Grid], compression: Compression) -> PathBuf {
    let path = folder.path().join(name);
    let encode = |grid| encode_grid(grid, compression).expect("a grid that can be written");
    let encoded: Vec<EncodedGrid> = grids.iter().map(encode).collect();
    let file_metadata = gallery::metadata();
    write_file(&path, &file_metadata, &encoded, false).expect("a file");
    path
}

#[test]
fn what_we_write_openvdb_reads() {
    let folder = folder();
    let grids = gallery::for_python();
    let of_file = describe::file(&gallery::metadata());
    let wanted = [of_file, describe::grids(&grids)].concat();
    // It says all that it finds, which takes it a while: the other ways to compress have a test of their own.
    for compression in [COMPRESSIONS[0], COMPRESSIONS[3], COMPRESSIONS[5]] {
        let path = written(&folder, "ours.vdb", &grids, compression);
        let found = describe::of_script(&peers::openvdb("tests/peer/describe.py", [&path]));
        describe::assert_same(&found, &wanted);
    }
}

#[test]
fn grids_of_every_type_return_through_openvdb() {
    let folder = folder();
    let grids = gallery::all_kinds();
    let wanted = describe::grids(&grids);
    for (compression, codec) in
        COMPRESSIONS.into_iter().zip(["blosc", "none", "zip"].iter().cycle())
    {
        let ours = written(&folder, "ours.vdb", &grids, compression);
        describe::assert_same(&describe::grids(&read(&ours)), &wanted);
        let theirs = rewritten(&folder, &ours, codec);
        describe::assert_same(&describe::grids(&read(&theirs)), &wanted);
    }
}

#[test]
fn vdb_print_accepts_every_file_and_counts_as_we_do() {
    let folder = folder();
    let grids = [gallery::all_kinds(), gallery::for_python()].concat();
    for compression in COMPRESSIONS {
        let path = written(&folder, "ours.vdb", &grids, compression);
        let said = peers::vdb_print(["-l".as_ref(), "-m".as_ref(), path.as_os_str()]);
        // Every grid is said to have as many active voxels and leaves as it has, and nothing else is said to have any.
        let mut wanted: Vec<(String, u64)> =
            grids.iter().map(|grid| (grid.name.clone(), active_voxels(grid))).collect();
        let name = |line: &str| line.strip_prefix("Name:").map(|name| name.trim().to_string());
        let count = |line: &str| {
            let count = line.trim().strip_prefix("Number of active voxels:")?;
            count.replace(',', "").trim().parse::<u64>().ok()
        };
        let names = said.lines().filter_map(name);
        let mut found: Vec<(String, u64)> = names.zip(said.lines().filter_map(count)).collect();
        // Grids of one name have a number behind it here.
        found.iter_mut().for_each(|(name, _)| {
            let end = name.find('[').unwrap_or(name.len());
            *name = name[..end].trim().to_string();
        });
        wanted.sort();
        found.sort();
        assert_eq!(found, wanted);
    }
}

#[test]
fn a_box_of_a_grid_is_what_openvdb_has_there() {
    let folder = folder();
    let path = folder.path().join("made.vdb");
    peers::openvdb("tests/peer/make.py", [&path]);
    let within = Bounds { min: [-3, 5, -6], max: [9, 12, 11] };
    let numbers = within.min.iter().chain(&within.max).map(i32::to_string);
    let arguments = [path.display().to_string(), "fog".to_string()].into_iter().chain(numbers);
    let wanted = peers::openvdb("tests/peer/within.py", arguments);

    let mut file = File::open(&path).expect("a .vdb file");
    let fog = file.index_of("fog").expect("the grid");
    assert_eq!(file.bounds(fog).expect("bounds"), file.grids()[fog].bounds);
    let grid = file.grid_within(fog, within).expect("a part of the grid");
    let found = describe::grids([&grid]);
    let is_value = |line: &&String| line.starts_with("value ");
    let found: Vec<String> = found.iter().filter(is_value).cloned().collect();
    describe::assert_same(&found, &wanted.lines().map(str::to_string).collect::<Vec<_>>());
    assert!(found.len() > 500);
}

/// The file again, as OpenVDB writes it.
pub fn rewritten(folder: &TempDir, path: &Path, codec: &str) -> PathBuf {
    let again = folder.path().join(format!("again-{codec}.vdb"));
    let codec = format!("codec={codec}");
    let [read, write] = ["-read", "-write"].map(AsRef::as_ref);
    peers::vdb_tool([read, path.as_os_str(), write, again.as_os_str(), codec.as_ref()]);
    again
}

fn active_voxels(grid: &Grid) -> u64 {
    match &grid.content {
        Content::Float(tree) => tree.active_voxels(),
        Content::Double(tree) => tree.active_voxels(),
        Content::Int32(tree) => tree.active_voxels(),
        Content::Int64(tree) => tree.active_voxels(),
        Content::Bool(tree) => tree.active_voxels(),
        Content::Mask(tree) => tree.active_voxels(),
        Content::Vec3s(tree) => tree.active_voxels(),
        Content::Vec3d(tree) => tree.active_voxels(),
        Content::Vec3i(tree) => tree.active_voxels(),
        Content::Points(points) => points.voxels.active_voxels(),
    }
}
