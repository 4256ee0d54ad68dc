//! What OpenVDB wrote is what is read.

use std::io::{Cursor, Read, Seek, SeekFrom};
use std::sync::atomic::{AtomicU64, Ordering};

use undine_vdb::{
    Bounds, Class, Codec, Compression, Content, Entry, File, Grid, Kind, LeafMask, Level, MaskBit,
    Tile, Transform, Tree, Value, VdbError, tree::voxel, write,
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

#[test]
fn files_of_earlier_versions_are_read_the_same() {
    for (name, bytes) in [("tiles", TILES), ("blosc", BLOSC), ("zip", ZIP), ("stream", STREAM)] {
        let mut file = open(bytes);
        for version in [222, 223] {
            let mut earlier = bytes.to_vec();
            earlier[8] = version;
            let mut earlier = open(&earlier);
            assert_eq!(earlier.version(), u32::from(version));
            assert_eq!(earlier.grids(), file.grids(), "{name}");
            assert_eq!(earlier.warnings().len(), file.warnings().len(), "{name}");
            for index in 0..file.grids().len() {
                let (a, b) = (earlier.grid(index).unwrap(), file.grid(index).unwrap());
                assert_eq!(a, b, "{name}, grid {index}, version {version}");
            }
        }
    }
}

/// A file of version 225 with a grid of true half floats: an active root tile, and a leaf with two active voxels whose
/// others hold `inactive`.
fn file_of_halves(background: f32, tile: f32, active: [f32; 2], inactive: f32) -> Vec<u8> {
    let half = |value: f32| half::f16::from_f32(value).to_le_bytes();
    let put = |bytes: &mut Vec<u8>, text: &str| {
        bytes.extend((text.len() as u32).to_le_bytes());
        bytes.extend(text.as_bytes());
    };
    let mut bytes = 0x5644_4220i64.to_le_bytes().to_vec();
    bytes.extend([225u32, 12, 0].iter().flat_map(|number| number.to_le_bytes()));
    bytes.push(1);
    bytes.extend([b'0'; 36]);
    bytes.extend([0u32, 1].iter().flat_map(|number| number.to_le_bytes()));
    put(&mut bytes, "density");
    put(&mut bytes, "Tree_half_5_4_3");
    put(&mut bytes, "");

    // Active values alone, no metadata, a transform; one buffer, the background, one root tile and one child.
    let mut tree = vec![2, 0, 0, 0, 0, 0, 0, 0];
    put(&mut tree, "UniformScaleMap");
    tree.extend([1.0f64; 15].iter().flat_map(|number| number.to_le_bytes()));
    tree.extend(1u32.to_le_bytes());
    tree.extend(half(background));
    tree.extend([1u32, 1, 4096, 0, 0].iter().flat_map(|number| number.to_le_bytes()));
    tree.extend(half(tile));
    tree.push(1);
    tree.extend([0; 12]);
    // The first slot of either node has a child, and all others the background.
    for slots in [32_768, 4096] {
        tree.push(1);
        tree.extend(vec![0; 2 * slots / 8 - 1]);
        tree.push(0);
    }
    let mask = LeafMask::of(|voxel| voxel == 3 || voxel == 500);
    let mask: Vec<u8> = mask.0.iter().flat_map(|word| word.to_le_bytes()).collect();
    tree.extend(&mask);
    let mut block = mask;
    block.push(2);
    block.extend(half(inactive));
    block.extend(active.map(half).as_flattened());

    let begin = bytes.len() + 24;
    let blocks = begin + tree.len();
    let end = blocks + block.len();
    [begin, blocks, end].iter().for_each(|&at| bytes.extend((at as i64).to_le_bytes()));
    bytes.extend(tree);
    bytes.extend(block);
    bytes
}

#[test]
fn true_half_floats_of_version_225_are_read_as_floats() {
    let bytes = file_of_halves(0.25, -3.5, [1.5, 65_504.0], -0.125);
    let mut file = open(&bytes);
    assert_eq!(file.version(), 225);
    assert!(file.warnings().is_empty());
    let grid = file.grid(0).unwrap();
    assert_eq!((grid.name.as_str(), grid.saved_as_half), ("density", true));
    let mut wanted = Tree::new(0.25);
    let (origin, level) = ([4096, 0, 0], Level::Upper);
    wanted.tiles.push(Tile { origin, level, value: -3.5, active: true });
    let mut values = [-0.125; 512];
    (values[3], values[500]) = (1.5, 65_504.0);
    wanted.leaves.push([0; 3], LeafMask::of(|voxel| voxel == 3 || voxel == 500), &values);
    assert_eq!(grid.content, Content::Float(wanted));
    let all = Bounds { min: [0; 3], max: [8191, 4095, 4095] };
    assert_eq!(file.bounds(0).unwrap(), Some(all));
}

/// Counts the bytes that are read.
struct Counted<'a> {
    bytes: Cursor<&'a [u8]>,
    read: &'a AtomicU64,
}

impl Read for Counted<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let read = self.bytes.read(buffer)?;
        self.read.fetch_add(read as u64, Ordering::Relaxed);
        Ok(read)
    }
}

impl Seek for Counted<'_> {
    fn seek(&mut self, to: SeekFrom) -> std::io::Result<u64> {
        self.bytes.seek(to)
    }
}

#[test]
fn of_many_grids_only_the_one_that_is_asked_for_is_read() {
    let grid = |number: i32| {
        let mut tree = Tree::new(0);
        for leaf in 0..64 {
            tree.leaves.push([0, 0, 8 * leaf], LeafMask::ALL, &[number; 512]);
        }
        let (name, metadata) = (format!("grid {number}"), Default::default());
        let (class, transform, saved_as_half) = (Class::Unknown, Transform::default(), false);
        Grid { name, class, transform, saved_as_half, metadata, content: Content::Int32(tree) }
    };
    let plain = Compression { codec: Codec::None, active_mask: true };
    let encoded: Vec<_> =
        (0..20).map(|number| write::encode_grid(&grid(number), plain).unwrap()).collect();
    let mut bytes = Vec::new();
    write::write(&mut bytes, &Default::default(), &encoded).unwrap();

    let read = AtomicU64::new(0);
    let mut file = File::new(Counted { bytes: Cursor::new(&bytes), read: &read }).unwrap();
    let heads = read.swap(0, Ordering::Relaxed);
    assert!(heads < bytes.len() as u64 / 3, "{heads} bytes of {} for the heads", bytes.len());
    assert_eq!(file.grid(13).unwrap(), grid(13));
    let range = file.grids()[13].bytes.clone();
    let whole = read.swap(0, Ordering::Relaxed);
    assert!(whole <= range.end - range.start, "{whole} bytes for a grid of {range:?}");
    file.bounds(13).unwrap();
    assert_eq!(read.load(Ordering::Relaxed), 0);
}
