//! What is written is read again, whoever has encoded it, and what cannot be read is not written.

use crate::grids::{all, float, grid, leaf};
use proptest::prelude::*;
use std::io::Cursor;
use undine_vdb::codec::Codec;
use undine_vdb::write::{
    Compression, EncodedGrid, GridParts, encode, encode_grid, write, write_file,
};
use undine_vdb::{
    Class, Content, Entry, File, Grid, LeafMask, Level, Metadata, Tile, Transform, Tree, VdbError,
};

fn bytes(grids: &[EncodedGrid]) -> Vec<u8> {
    let mut bytes = Vec::new();
    write(&mut bytes, &Metadata::new(), grids).unwrap();
    bytes
}

fn encoded(grid: &Grid) -> EncodedGrid {
    encode_grid(grid, Compression::default()).unwrap()
}

#[test]
fn grids_of_every_kind_return_from_every_compression() {
    for codec in [Codec::None, Codec::Zip, Codec::Blosc] {
        for active_mask in [false, true] {
            for half in [false, true] {
                let grids = all(half);
                let compression = Compression { codec, active_mask };
                let encode = |grid| encode_grid(grid, compression).unwrap();
                let bytes = bytes(&grids.iter().map(encode).collect::<Vec<_>>());
                let mut file = File::new(Cursor::new(bytes)).unwrap();
                assert!(file.warnings().is_empty());
                assert_eq!(file.version(), 224);
                for (index, grid) in grids.iter().enumerate() {
                    let head = file.grids()[index].clone();
                    assert_eq!(head.compression, compression.for_class(grid.class));
                    let back = file.grid(index).unwrap();
                    assert_eq!(&back, grid, "{compression:?}, half {half}");
                }
            }
        }
    }
}

#[test]
fn statistics_say_where_the_active_voxels_are() {
    let mut tree = Tree::new(0.0f32);
    tree.leaves.push([-8, 0, 16], LeafMask::of(|voxel| voxel == 511 || voxel == 64), &leaf(3));
    let tile = |origin, active| Tile { origin, level: Level::Leaf, value: 1.0, active };
    tree.tiles.push(tile([0, 0, 8], true));
    tree.tiles.push(tile([0, 0, 800], false));
    let grids = [grid("some", Content::Float(tree)), float("none", Tree::new(1.0))];
    let file = File::new(Cursor::new(bytes(&grids.each_ref().map(encoded)))).unwrap();
    let [some, none] = file.grids() else { panic!("two grids") };
    let bounds = some.bounds.unwrap();
    assert_eq!((bounds.min, bounds.max), ([-7, 0, 8], [7, 7, 23]));
    assert_eq!(some.active_voxels, Some(514));
    assert_eq!(none.active_voxels, Some(0));
}

#[test]
fn equal_and_empty_names_are_told_apart() {
    let grids = ["a", "", "b", "a", ""].map(|name| float(name, Tree::new(1.0)));
    let bytes = bytes(&grids.each_ref().map(encoded));
    for unique in ["\x03\0\0\0a\x1e0", "\x03\0\0\0a\x1e1", "\x02\0\0\0\x1e0", "\x02\0\0\0\x1e1"] {
        let count = bytes.windows(unique.len()).filter(|found| *found == unique.as_bytes()).count();
        assert_eq!(count, 1, "{unique:?}");
    }
    let mut file = File::new(Cursor::new(bytes)).unwrap();
    for (index, grid) in grids.iter().enumerate() {
        assert_eq!(&file.grid(index).unwrap(), grid);
    }
}

#[test]
fn the_same_content_is_the_same_file_and_another_has_another_name() {
    let uuid = |grids: &[Grid]| {
        let bytes = bytes(&grids.iter().map(encoded).collect::<Vec<_>>());
        File::new(Cursor::new(bytes)).unwrap().uuid().to_owned()
    };
    let grids = all(false);
    assert_eq!(uuid(&grids), uuid(&grids));
    assert!(uuid(&[]) != uuid(&grids) && uuid(&grids[1..]) != uuid(&grids));
    let (mut renamed, mut revalued) = (grids.clone(), grids.clone());
    renamed[0].name.push('x');
    let Content::Float(tree) = &mut revalued[0].content else { panic!("the first is float") };
    tree.leaves.values[0] += 1.0;
    assert!(uuid(&renamed) != uuid(&grids) && uuid(&revalued) != uuid(&grids));
    let groups: Vec<_> = uuid(&grids).split('-').map(str::len).collect();
    assert_eq!(groups, [8, 4, 4, 4, 12]);
}

/// A grid cut into this many pieces, leaf by leaf and tile by tile in turn.
fn pieces(whole: &Grid, count: usize) -> Vec<EncodedGrid> {
    let Content::Float(tree) = &whole.content else { panic!("a float grid") };
    let piece = |part: usize| {
        let mut piece = Tree::new(tree.background);
        for index in (part..tree.leaves.origins.len()).step_by(count).rev() {
            let values = tree.leaves.values[index * 512..].first_chunk().unwrap();
            piece.leaves.push(tree.leaves.origins[index], tree.leaves.masks[index], values);
        }
        piece.tiles = tree.tiles.iter().copied().skip(part).step_by(count).collect();
        encoded(&Grid { content: Content::Float(piece), ..whole.clone() })
    };
    (0..count).rev().map(piece).collect()
}

/// A grid of some thousand leaves with tiles between them.
fn large() -> Grid {
    let mut tree = Tree::new(0.5f32);
    for n in 0..1500 {
        let origin = [n % 10 * 8, n / 10 % 10 * 8, n / 100 * 64 - 512];
        match n % 7 {
            0 => tree.tiles.push(Tile { origin, level: Level::Leaf, value: 2.0, active: true }),
            _ => tree.leaves.push(origin, LeafMask::of(|v| v as i32 % 7 != n % 7), &leaf(n as u32)),
        }
    }
    float("large", tree)
}

#[test]
fn pieces_of_any_number_of_processes_join_to_the_same_bytes() {
    let whole = large();
    let wanted = bytes(&[encoded(&whole)]);
    for count in [1, 2, 3, 10] {
        let sent = pieces(&whole, count).iter().map(EncodedGrid::to_bytes).collect::<Vec<_>>();
        let received = sent.iter().map(|bytes| EncodedGrid::from_bytes(bytes).unwrap()).collect();
        let joined = EncodedGrid::join(received).unwrap();
        assert!(bytes(&[joined]) == wanted, "{count} pieces");
    }
}

#[test]
fn the_number_of_threads_does_not_show() {
    let whole = large();
    let by = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| bytes(&[encoded(&whole)]))
    };
    assert!(by(1) == by(2) && by(1) == by(5));
}

#[test]
fn pieces_that_do_not_fit_together_are_refused() {
    let whole = large();
    let parts = pieces(&whole, 2);
    let refused = |parts: Vec<EncodedGrid>, word: &str| {
        let error = EncodedGrid::join(parts).unwrap_err();
        assert!(matches!(error, VdbError::Unwritable { .. }));
        assert!(error.to_string().contains(word), "{error}");
    };
    refused(vec![], "no piece");
    refused(vec![parts[0].clone(), parts[1].clone(), parts[0].clone()], "covered");
    let others = [
        (Grid { name: "other".to_owned(), ..whole.clone() }, "name"),
        (Grid { class: Class::FogVolume, ..whole.clone() }, "class"),
        (Grid { transform: Transform::uniform(2.0, [0.0; 3]), ..whole.clone() }, "transform"),
        (Grid { saved_as_half: true, ..whole.clone() }, "half"),
        (float("large", Tree::new(0.25)), "background"),
        (grid("large", Content::Int32(Tree::new(0))), "type"),
    ];
    for (other, word) in others {
        refused(vec![parts[0].clone(), encoded(&other)], word);
    }
    let raw = encode_grid(&whole, Compression::NONE).unwrap();
    refused(vec![parts[0].clone(), raw], "compression");
}

proptest! {
    #[test]
    fn damaged_pieces_are_refused_or_written(
        flips in proptest::collection::vec((any::<usize>(), any::<u8>()), 1..4),
        cut in proptest::option::of(any::<usize>()),
    ) {
        let mut tree = Tree::new(0.5f32);
        tree.leaves.push([0; 3], LeafMask::ALL, &leaf(1));
        tree.leaves.push([0, 0, 8], LeafMask::NONE, &leaf(2));
        tree.tiles.push(Tile { origin: [0, 8, 0], level: Level::Leaf, value: 2.0, active: true });
        let mut sent = encoded(&float("piece", tree)).to_bytes();
        for (at, byte) in flips {
            let length = sent.len();
            sent[at % length] ^= byte;
        }
        sent.truncate(cut.map_or(usize::MAX, |cut| cut % (sent.len() + 1)));
        if let Ok(piece) = EncodedGrid::from_bytes(&sent) {
            let mut out = Vec::new();
            let _ = write(&mut out, &Metadata::new(), &[piece]);
        }
    }
}

#[test]
fn grids_that_the_format_cannot_hold_are_refused() {
    let refused = |grid: &Grid, word: &str| {
        let error = encode_grid(grid, Compression::default()).unwrap_err();
        assert!(matches!(error, VdbError::Unwritable { .. }), "{error}");
        assert!(error.to_string().contains(word), "{error}");
    };
    let one = |origin| {
        let mut tree = Tree::new(0.0);
        tree.leaves.push(origin, LeafMask::ALL, &leaf(1));
        tree
    };
    let tile = |origin, level| Tile { origin, level, value: 1.0, active: true };
    refused(&float("", one([0, 4, 0])), "multiples of 8");
    let mut twice = one([0; 3]);
    twice.leaves.push([0; 3], LeafMask::NONE, &leaf(2));
    refused(&float("", twice), "covered");
    for level in [Level::Leaf, Level::Lower, Level::Upper] {
        let mut covered = one([0; 3]);
        covered.tiles.push(tile([0; 3], level));
        refused(&float("", covered), "covered");
        let mut askew = Tree::new(0.0);
        askew.tiles.push(tile([0, 0, level.side() / 2], level));
        refused(&float("", askew), "multiples of");
    }
    let mut short = one([0; 3]);
    short.leaves.values.pop();
    refused(&float("", short), "512 values");
    refused(&float("a\0b", Tree::new(0.0)), "control character");
    refused(&float("a\x1eb", Tree::new(0.0)), "control character");
    refused(&float(&"a".repeat(70_000), Tree::new(0.0)), "70000 bytes");
    let mut flat = float("flat", Tree::new(0.0));
    flat.transform.rows[1][1] = 0.0;
    refused(&flat, "no side of a voxel is 0");
    let mut nameless = float("", Tree::new(0.0));
    nameless.metadata.insert(String::new(), Entry::Bool(true));
    refused(&nameless, "no name");
}

#[test]
fn metadata_cannot_speak_for_the_file() {
    let mut lying = float("true", Tree::new(0.0));
    for name in ["name", "class", "file_voxel_count", "is_saved_as_half_float"] {
        lying.metadata.insert(name.to_owned(), Entry::String("level set".to_owned()));
    }
    let mut file = File::new(Cursor::new(bytes(&[encoded(&lying)]))).unwrap();
    assert_eq!(file.grid(0).unwrap(), float("true", Tree::new(0.0)));
    assert_eq!(file.grids()[0].active_voxels, Some(0));
}

#[test]
fn tiles_that_say_no_more_than_the_background_are_left_out() {
    let mut tree = Tree::new(0.25f32);
    let tile = |origin, value| Tile { origin, level: Level::Lower, value, active: false };
    tree.tiles = vec![tile([0; 3], 0.25), tile([0, 0, 128], 0.5)];
    let metadata = Metadata::new();
    let parts = GridParts {
        name: "tiles",
        class: Class::Unknown,
        transform: Transform::default(),
        saved_as_half: false,
        metadata: &metadata,
        background: tree.background,
        tiles: &tree.tiles,
        leaves: &tree.leaves,
    };
    let encoded = encode(&parts, Compression::default()).unwrap();
    let origins: Vec<_> = encoded.tiles.iter().map(|tile| tile.origin).collect();
    assert_eq!(origins, [[0, 0, 128]]);
}

#[test]
fn a_file_gets_its_name_only_when_it_is_whole() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("frame.vdb");
    let listed = || {
        let entries = std::fs::read_dir(folder.path()).unwrap();
        entries.map(|entry| entry.unwrap().file_name()).collect::<Vec<_>>()
    };
    let good = [encoded(&large())];
    write_file(&path, &Metadata::new(), &good, true).unwrap();
    let first = std::fs::read(&path).unwrap();
    assert!(first == bytes(&good));
    assert_eq!(listed(), ["frame.vdb"]);

    // One whose tree is found out as broken in the midst of it.
    let mut broken = good[0].clone();
    broken.origins[1] = broken.origins[0];
    let error = write_file(&path, &Metadata::new(), &[good[0].clone(), broken], false).unwrap_err();
    assert!(matches!(error, VdbError::Unwritable { .. }), "{error}");
    assert_eq!(listed(), ["frame.vdb"]);
    assert!(std::fs::read(&path).unwrap() == first);

    let nowhere = folder.path().join("no/such/frame.vdb");
    let error = write_file(&nowhere, &Metadata::new(), &good, false).unwrap_err();
    assert!(matches!(error, VdbError::Save { .. }), "{error}");
    assert!(error.to_string().contains("frame.vdb"), "{error}");
    // A folder cannot be replaced by a file.
    let taken = folder.path().join("taken");
    std::fs::create_dir(&taken).unwrap();
    write_file(&taken, &Metadata::new(), &good, false).unwrap_err();
    let mut there = listed();
    there.sort();
    assert_eq!(there, ["frame.vdb", "taken"]);
}
