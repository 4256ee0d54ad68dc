//! What OpenVDB wrote is what is read.

use std::io::Cursor;

use undine_vdb::{
    Bounds, Class, Content, Entry, File, Grid, Kind, LeafMask, Level, MaskBit, Tile, Transform,
    Tree, Value, VdbError, tree::voxel,
};

const TILES: &[u8] = include_bytes!("../corpus/tiles.vdb");
const BLOSC: &[u8] = include_bytes!("../corpus/blosc.vdb");
const ZIP: &[u8] = include_bytes!("../corpus/zip.vdb");
const STREAM: &[u8] = include_bytes!("../corpus/stream.vdb");

fn open(bytes: &[u8]) -> File<Cursor<&[u8]>> {
    File::new(Cursor::new(bytes)).expect("a whole file")
}

/// A tree of the two root tiles that most grids of the files have.
fn two_tiles<T: Value>(background: T, value: T) -> Tree<T> {
    let tile = |origin, active| Tile { origin, level: Level::Upper, value, active };
    let tiles = vec![tile([-4096, 0, 8192], true), tile([4096, 0, 0], false)];
    Tree { tiles, ..Tree::new(background) }
}

#[test]
fn grids_of_every_kind_are_read() {
    let mut file = open(TILES);
    assert_eq!(file.version(), 224);
    assert_eq!(file.library_version(), [10, 0]);
    assert_eq!(file.uuid().len(), 36);
    assert_eq!(file.metadata()["frame"], Entry::Int32(7));
    let wanted = [
        ("same", Content::Float(two_tiles(0.5, 1.0))),
        ("same", Content::Double(two_tiles(0.5, 1.0))),
        // OpenVDB rounds the background to half floats, but no tile of the root.
        ("half", Content::Float(two_tiles(0.1f32.rounded_to_half(), 1.1))),
        ("int32", Content::Int32(two_tiles(1, 2))),
        ("int64", Content::Int64(two_tiles(1, 2))),
        ("bool", Content::Bool(two_tiles(false, true))),
        ("mask", Content::Mask(two_tiles(MaskBit(false), MaskBit(true)))),
        ("turned", Content::Vec3s(two_tiles([0.0; 3], [1.0, 2.0, 3.0]))),
        ("vec3d", Content::Vec3d(two_tiles([0.0; 3], [1.0, 2.0, 3.0]))),
        ("vec3i", Content::Vec3i(two_tiles([0; 3], [1, 2, 3]))),
        ("", Content::Float(Tree::new(3.0))),
        ("shared", Content::Int32(two_tiles(1, 2))),
    ];
    assert_eq!(file.grids().len(), wanted.len());
    for (index, (name, content)) in wanted.into_iter().enumerate() {
        let grid = file.grid(index).expect(name);
        assert_eq!((grid.name.as_str(), &grid.content), (name, &content));
        assert_eq!(grid.saved_as_half, name == "half");
        let box_of_tile = Bounds { min: [-4096, 0, 8192], max: [-1, 4095, 12287] };
        let wanted = (!name.is_empty()).then_some(box_of_tile);
        assert_eq!(file.bounds(index).expect(name), wanted, "{name}");
        assert_eq!(file.grids()[index].kind, grid.content.kind());
    }
}

#[test]
fn grids_that_cannot_be_read_are_named_and_the_others_read() {
    let mut file = open(TILES);
    let warnings: Vec<String> = file.warnings().iter().map(|warning| warning.to_string()).collect();
    assert_eq!(warnings.len(), 2, "{warnings:?}");
    assert!(warnings[0].contains("`points`") && warnings[0].contains("Tree_ptidx32_5_4_3"));
    assert!(warnings[1].contains("`frustum`") && warnings[1].contains("resample"));
    let frustum = file.grid_named("frustum").unwrap_err();
    assert!(matches!(frustum, VdbError::Unsupported { .. }), "{frustum}");
    let absent = file.grid_named("absent").unwrap_err().to_string();
    assert!(absent.contains("`int32`"), "{absent}");
    assert!(matches!(file.grid(99), Err(VdbError::NoSuchGrid { .. })));
}

#[test]
fn a_grid_that_shares_a_tree_has_its_own_transform_and_metadata() {
    let mut file = open(TILES);
    assert_eq!(file.grid_named("int32").unwrap().transform, Transform::default());
    assert_eq!(file.grid_named("shared").unwrap().transform, Transform::uniform(0.25, [0.0; 3]));
    let turned = file.grid_named("turned").unwrap();
    assert_eq!(turned.transform.world([0.0; 3]), [4.0, 5.0, 6.0]);
    assert!(turned.transform.voxel_size().iter().all(|side| (side - 1.0).abs() < 1e-12));
    assert_eq!(turned.metadata["answer"], Entry::Double(42.0));
    assert_eq!(turned.metadata.len(), 1, "{:?}", turned.metadata);
}

/// The leaf of the files: its active voxels, and their values as `a` or `b`.
fn leaf<T: Value>(background: T, a: T, b: T) -> (LeafMask, Vec<T>) {
    let (mut mask, mut values) = (LeafMask::NONE, vec![background; 512]);
    for n in 0..100 {
        let at = voxel([n % 7, n % 5, n % 8]);
        mask.set(at, true);
        values[at] = if n % 3 != 0 { a } else { b };
    }
    values[511] = b;
    (mask, values)
}

fn tree<T: Value>(background: T, a: T, b: T) -> Tree<T> {
    let mut tree = two_tiles(background, a);
    let tile = |z, level, value, active| Tile { origin: [0, 0, z], level, value, active };
    let inner = [tile(64, Level::Leaf, b, true), tile(1024, Level::Lower, a, false)];
    tree.tiles.splice(1..1, inner);
    let (mask, values) = leaf(background, a, b);
    tree.leaves.push([0; 3], mask, values.first_chunk().expect("512 values"));
    tree
}

#[test]
fn leaves_and_tiles_of_every_level_are_read() {
    let mut file = open(BLOSC);
    let surface = file.grid_named("surface").unwrap();
    assert_eq!(surface.class, Class::LevelSet);
    assert_eq!(surface.content, Content::Float(tree(0.5, -0.25, -0.5)));
    let head = &file.grids()[0];
    assert_eq!(head.kind, Kind::Float);
    assert!(head.compression.active_mask);
    assert_eq!(head.bytes.end, BLOSC.len() as u64);
    let Content::Float(tree_read) = &surface.content else { unreachable!() };
    assert_eq!(head.active_voxels, Some(tree_read.active_voxels()));

    let vel = open(ZIP).grid_named("vel").unwrap();
    assert!(vel.saved_as_half);
    let b = [0.1f32, 5.0, 6.0].rounded_to_half();
    assert_eq!(vel.content, Content::Vec3s(tree([0.0; 3], [1.0, 2.0, 3.0], b)));
}

#[test]
fn a_stream_is_read_in_sequence() {
    let mut file = open(STREAM);
    assert_eq!(file.grids().len(), 2);
    assert_eq!(file.grid(0).unwrap().content, Content::Bool(tree(false, true, true)));
    assert_eq!(file.grid(1).unwrap().content, Content::Float(two_tiles(0.5, 1.0)));
    assert_eq!(file.grids()[0].bytes.end, file.grids()[1].bytes.start);
    assert_eq!(file.grids()[1].bytes.end, STREAM.len() as u64);
}

#[test]
fn of_a_box_only_what_meets_it_is_read() {
    let float = |grid: Grid| match grid.content {
        Content::Float(tree) => tree,
        other => panic!("{:?}", other.kind()),
    };
    let mut file = open(BLOSC);
    let whole = float(file.grid(0).unwrap());
    let within = Bounds { min: [1, 0, 2], max: [100, 3, 500] };
    let part = float(file.grid_within(0, within).unwrap());
    assert_eq!(part.leaves.origins, [[0; 3]]);
    assert_eq!(part.tiles, whole.tiles[1..2]);
    for at in 0..512 {
        let (x, y, z) = (at >> 6, at >> 3 & 7, at & 7);
        let is_inside = x >= 1 && y <= 3 && z >= 2;
        assert_eq!(part.leaves.masks[0].is_on(at), is_inside && whole.leaves.masks[0].is_on(at));
        let wanted = if is_inside { whole.leaves.values[at] } else { whole.background };
        assert_eq!(part.leaves.values[at], wanted);
    }
    let nothing = Bounds { min: [9; 3], max: [10; 3] };
    assert_eq!(float(file.grid_within(0, nothing).unwrap()), Tree::new(0.5));
}

#[test]
fn a_leaf_outside_the_box_may_be_damaged() {
    // The last bytes are of the leaf's frame.
    let mut bytes = BLOSC.to_vec();
    let last = bytes.len() - 100;
    bytes[last..].fill(0xA5);
    let mut file = open(&bytes);
    let error = file.grid(0).unwrap_err();
    assert!(matches!(error, VdbError::Malformed { offset, .. } if offset > 9000), "{error}");
    file.grid_within(0, Bounds { min: [8; 3], max: [9; 3] }).unwrap();
    assert!(file.bounds(0).unwrap().is_some());
}

#[test]
fn what_is_no_vdb_file_says_so() {
    let error = |bytes: &[u8]| File::new(Cursor::new(bytes)).unwrap_err();
    assert!(matches!(error(b""), VdbError::Truncated { offset: 0, .. }));
    assert!(matches!(error(b"ply\nformat ascii"), VdbError::Malformed { offset: 0, .. }));
    let mut old = TILES.to_vec();
    old[8] = 221;
    let old = error(&old);
    assert!(matches!(old, VdbError::Unsupported { offset: 8, .. }), "{old}");
    let absent = File::open("no/such/file.vdb").unwrap_err();
    assert!(absent.to_string().contains("no/such/file.vdb"), "{absent}");
}
