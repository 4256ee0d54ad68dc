//! Damaged files: whatever is done to one, reading it gives a typed error that names a place in it, or grids, and takes memory
//! in proportion to its size.

use std::io::Cursor;

use undine_vdb::{
    Bounds, Class, Compression, Content, File, Grid, LeafMask, Metadata, Transform, Tree, VdbError,
    write,
};

use crate::counting::peak_of;

const CORPUS: [(&str, &[u8]); 5] = [
    ("tiles", include_bytes!("../corpus/tiles.vdb")),
    ("blosc", include_bytes!("../corpus/blosc.vdb")),
    ("zip", include_bytes!("../corpus/zip.vdb")),
    ("points", include_bytes!("../corpus/points.vdb")),
    ("stream", include_bytes!("../corpus/stream.vdb")),
];

/// Reads all that there is in these bytes, in every way, and holds on to nothing.
fn read(bytes: &[u8]) -> Result<(), VdbError> {
    let mut file = File::new(Cursor::new(bytes))?;
    let within = Bounds { min: [-5000, 0, 1], max: [3, 5, 5000] };
    let mut first = Ok(());
    for index in 0..file.grids().len() {
        let results = [
            file.grid(index).map(drop),
            file.grid_within(index, within).map(drop),
            file.bounds(index).map(drop),
        ];
        for result in results {
            first = first.and(result);
        }
    }
    first
}

/// Reads damaged bytes and checks what comes of it.
fn endure(bytes: &[u8], damage: impl Fn() -> String) -> bool {
    let (result, peak) = peak_of(|| read(bytes));
    // The shortest leaf takes 129 bytes of a file and 512 values of up to 24 bytes; a lower inner node 1.1 kB, and as 4096
    // tiles of 48 bytes 200 kB. An upper inner node's values may take 1.5 MB at a time: it needs 8 kB of masks alone.
    let limit = match bytes.len() {
        0..8192 => 64 * bytes.len() + 100_000,
        length => 300 * length + 4_000_000,
    };
    assert!(peak <= limit, "{}: {peak} bytes of memory for a file of {}", damage(), bytes.len());
    let offset = match &result {
        Ok(()) => return true,
        Err(VdbError::Malformed { offset, .. }) => *offset,
        Err(VdbError::Truncated { offset, .. }) => *offset,
        Err(VdbError::Unsupported { offset, .. }) => *offset,
        Err(error) => panic!("{}: {error}", damage()),
    };
    assert!(offset <= bytes.len() as u64, "{}: an error at {offset}", damage());
    false
}

/// Runs on one thread, whose memory is then all that is taken.
fn alone(work: impl FnOnce() + Send) {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("a thread");
    pool.install(work);
}

/// Numbers that look like chance, the same in every run (SplitMix64).
struct Chance(u64);

impl Chance {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut bits = self.0;
        bits = (bits ^ bits >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        bits = (bits ^ bits >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((bits ^ bits >> 31) % bound.max(1) as u64) as usize
    }
}

/// Places in a file where damage is likely to tell: all but the inside of long runs of zeros.
fn telling(bytes: &[u8]) -> Vec<usize> {
    let near =
        |at: usize| bytes[at.saturating_sub(9)..bytes.len().min(at + 9)].iter().any(|&b| b != 0);
    (0..bytes.len()).filter(|&at| near(at)).collect()
}

#[test]
fn the_files_are_whole() {
    for (name, bytes) in CORPUS {
        read(bytes).unwrap_or_else(|error| panic!("{name}: {error}"));
    }
}

#[test]
fn a_file_cut_anywhere_is_an_error_or_gives_its_first_grids() {
    alone(|| {
        for (name, bytes) in CORPUS {
            let whole = File::new(Cursor::new(bytes)).expect(name).grids().len();
            for length in 0..bytes.len() {
                let cut = &bytes[..length];
                endure(cut, || format!("{name} cut at {length}"));
                if let Ok(file) = File::new(Cursor::new(cut)) {
                    assert!(file.grids().len() < whole, "{name} cut at {length}");
                    assert!(!file.warnings().is_empty(), "{name} cut at {length}");
                }
            }
        }
    });
}

#[test]
fn flipped_bits_are_endured() {
    alone(|| {
        let mut refused = 0;
        for (name, bytes) in CORPUS {
            let mut bytes = bytes.to_vec();
            for at in telling(&bytes) {
                for bit in [0, 3, 7] {
                    bytes[at] ^= 1 << bit;
                    let is_read = endure(&bytes, || format!("{name} with bit {bit} of byte {at}"));
                    refused += usize::from(!is_read);
                    bytes[at] ^= 1 << bit;
                }
            }
        }
        assert!(refused > 1000, "{refused}");
    });
}

#[test]
fn absurd_counts_and_offsets_are_endured() {
    alone(|| {
        for (name, bytes) in CORPUS {
            let mut damaged = bytes.to_vec();
            for at in telling(bytes) {
                for (absurd, length) in
                    [(i64::MAX, 8), (i64::MIN, 8), (-1, 4), (0x7FFF_FFFF, 4), (1 << 20, 4)]
                {
                    let end = bytes.len().min(at + length);
                    damaged[at..end].copy_from_slice(&absurd.to_le_bytes()[..end - at]);
                    endure(&damaged, || format!("{name} with {absurd:#x} at {at}, {length} bytes"));
                    damaged[at..end].copy_from_slice(&bytes[at..end]);
                }
            }
        }
    });
}

#[test]
fn offsets_that_point_elsewhere_in_the_file_are_endured() {
    alone(|| {
        let (name, bytes) = CORPUS[0];
        // Every field that holds an offset, set to the place of every other such field: grids in grids, and circles.
        let holds_offset = |at: &usize| {
            let field = bytes[*at..].first_chunk().map(|bytes| i64::from_le_bytes(*bytes));
            field.is_some_and(|offset| (100..=bytes.len() as i64).contains(&offset))
        };
        let fields: Vec<usize> = (0..bytes.len()).filter(holds_offset).collect();
        assert!(fields.len() > 30, "{}", fields.len());
        for &at in &fields {
            for &to in &fields {
                let mut bytes = bytes.to_vec();
                bytes[at..at + 8].copy_from_slice(&(to as i64 - 40).to_le_bytes());
                endure(&bytes, || format!("{name} with the offset at {at} leading to {to}"));
            }
        }
    });
}

#[test]
fn spliced_files_are_endured() {
    alone(|| {
        let mut chance = Chance(7);
        for case in 0..4000 {
            let mut bytes = CORPUS[chance.below(CORPUS.len())].1.to_vec();
            for _ in 0..=chance.below(4) {
                let other = CORPUS[chance.below(CORPUS.len())].1;
                let from = chance.below(other.len());
                let piece = &other[from..other.len().min(from + 1 + chance.below(300))];
                let at = chance.below(bytes.len());
                match chance.below(3) {
                    0 => drop(bytes.splice(at..at, piece.iter().copied())),
                    1 => drop(bytes.drain(at..bytes.len().min(at + piece.len()))),
                    _ => {
                        let end = bytes.len().min(at + piece.len());
                        bytes[at..end].copy_from_slice(&piece[..end - at]);
                    }
                }
            }
            endure(&bytes, || format!("splice {case}"));
        }
    });
}

#[test]
fn noise_in_place_of_chunks_and_masks_is_endured() {
    alone(|| {
        let mut chance = Chance(11);
        for case in 0..4000 {
            let mut bytes = CORPUS[chance.below(CORPUS.len())].1.to_vec();
            for _ in 0..=chance.below(8) {
                let at = chance.below(bytes.len());
                let end = bytes.len().min(at + 1 + chance.below(40));
                bytes[at..end].iter_mut().for_each(|byte| *byte = chance.below(256) as u8);
            }
            endure(&bytes, || format!("noise {case}"));
        }
    });
}

/// A file of one grid with so many lower inner nodes, each of nothing but 4096 inactive tiles that are not the background.
fn tiles(nodes: usize) -> Vec<u8> {
    let put = |bytes: &mut Vec<u8>, text: &str| {
        bytes.extend((text.len() as u32).to_le_bytes());
        bytes.extend(text.as_bytes());
    };
    // Active values alone, no metadata, a transform; one buffer, a background of zeros, no root tile and one child.
    let mut grid = vec![2, 0, 0, 0, 0, 0, 0, 0];
    put(&mut grid, "UniformScaleMap");
    grid.extend([1.0f64; 15].iter().flat_map(|number| number.to_le_bytes()));
    grid.extend(1u32.to_le_bytes());
    grid.extend([0; 24]);
    grid.extend([0u32, 1, 0, 0, 0].iter().flat_map(|number| number.to_le_bytes()));
    let mut inactive = vec![2];
    inactive.extend([1.0f64, 2.0, 3.0].iter().flat_map(|number| number.to_le_bytes()));
    grid.extend((0..4096).map(|byte| if 8 * byte < nodes { 0xFF } else { 0 }));
    grid.extend([0; 4096]);
    grid.extend(&inactive);
    for _ in 0..nodes {
        grid.extend([0; 1024]);
        grid.extend(&inactive);
    }

    let mut bytes = 0x5644_4220i64.to_le_bytes().to_vec();
    bytes.extend([224u32, 10, 0].iter().flat_map(|number| number.to_le_bytes()));
    bytes.push(1);
    bytes.extend([b'0'; 36]);
    bytes.extend([0u32, 1].iter().flat_map(|number| number.to_le_bytes()));
    put(&mut bytes, "tiles");
    put(&mut bytes, "Tree_vec3d_5_4_3");
    put(&mut bytes, "");
    let begin = bytes.len() + 24;
    let end = begin + grid.len();
    [begin, end, end].iter().for_each(|&at| bytes.extend((at as i64).to_le_bytes()));
    bytes.extend(grid);
    bytes
}

#[test]
fn tiles_are_read_and_encoded_with_no_allocation_for_each() {
    alone(|| {
        let (bytes, count) = (tiles(96), 32_768 - 96 + 96 * 4096);
        let (encoded, peak) = peak_of(|| {
            let mut file = File::new(Cursor::new(&bytes)).expect("a whole file");
            let grid = file.grid(0).expect("a whole grid");
            write::encode_grid(&grid, Compression::default()).expect("a grid")
        });
        assert_eq!(encoded.tiles.len(), count);
        // A tile of three `f64` takes 40 bytes as it is read, as much encoded, and 24 among the items of the topology.
        assert!(peak < 110 * count + 4_000_000, "{peak} bytes of memory for {count} tiles");
    });
}

/// A file of one grid of so many leaves with one active voxel each, and of so many more grids that share its tree.
fn shared(leaves: i32, instances: i32) -> Vec<u8> {
    let mut tree = Tree::new([0.0; 3]);
    for leaf in 0..leaves {
        tree.leaves.push([0, 0, 8 * leaf], LeafMask::of(|voxel| voxel == 0), &[[0.0; 3]; 512]);
    }
    let (name, metadata) = ("tree".to_owned(), Metadata::new());
    let (class, transform, saved_as_half) = (Class::Unknown, Transform::default(), false);
    let content = Content::Vec3d(tree);
    let grid = Grid { name, class, transform, saved_as_half, metadata, content };
    let encoded = write::encode_grid(&grid, Compression::default()).expect("a grid");
    let mut bytes = Vec::new();
    write::write(&mut bytes, &Metadata::new(), &[encoded]).expect("memory");

    // The count of grids follows sign, versions, switch, uuid and an empty count of metadata.
    bytes[61..65].copy_from_slice(&(1 + instances).to_le_bytes());
    let put = |bytes: &mut Vec<u8>, text: &str| {
        bytes.extend((text.len() as u32).to_le_bytes());
        bytes.extend(text.as_bytes());
    };
    for number in 0..instances {
        put(&mut bytes, &format!("instance {number}"));
        put(&mut bytes, "Tree_vec3d_5_4_3");
        put(&mut bytes, "tree");
        // No compression, no metadata, and a transform.
        let mut head = vec![0; 8];
        put(&mut head, "UniformScaleMap");
        head.extend([1.0f64; 15].iter().flat_map(|number| number.to_le_bytes()));
        let begin = bytes.len() + 24;
        let end = begin + head.len();
        [begin, end, end].iter().for_each(|&at| bytes.extend((at as i64).to_le_bytes()));
        bytes.extend(head);
    }
    bytes
}

#[test]
fn grids_that_share_a_tree_take_no_more_than_is_allowed_together() {
    alone(|| {
        let bytes = shared(500, 3000);
        assert!(bytes.len() < 1_000_000, "{}", bytes.len());
        let read_all = |file: &mut File<Cursor<&[u8]>>| {
            (0..file.grids().len()).map(|index| file.grid(index)).collect::<Vec<_>>()
        };
        let ((), peak) = peak_of(|| {
            let mut file = File::new(Cursor::new(bytes.as_slice())).expect("a whole file");
            assert_eq!((file.grids().len(), file.warnings().len()), (3001, 0));
            let kept = read_all(&mut file);
            let read = kept.iter().filter(|grid| grid.is_ok()).count();
            assert!((40..60).contains(&read), "{read}");
            for (index, refused) in kept.iter().enumerate().skip(read) {
                let start = file.grids()[index].bytes.start;
                match refused {
                    Err(VdbError::TooManyInstances { offset, grid, .. }) => {
                        assert_eq!((*offset, grid), (start, &file.grids()[index].name));
                    }
                    other => panic!("{:?}", other.as_ref().map(|grid| &grid.name)),
                }
            }
            // What was read may be read again, and what is allowed may be changed.
            file.grid(1).expect("the first instance");
            file.grid(3000).expect_err("one too many");
            file.allow_instances(u64::MAX);
            file.grid(3000).expect("an instance");
        });
        assert!(peak < 300_000_000 + 64 * bytes.len(), "{peak}");
    });
}
