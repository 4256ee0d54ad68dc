//! Crates that lie, end early, or make much of little: always an error with its place, never a panic, a hang or a flood.

use crate::usd_layers::every_type;
use std::path::Path;
use undine_io::usd::binary;
use undine_io::usd::layer::{Attribute, Layer, Prim, Value};

fn parse(bytes: &[u8]) -> undine_io::Result<Layer> {
    binary::parse(bytes, Path::new("bad.usdc"))
}

fn refusal(bytes: &[u8]) -> String {
    let refused = parse(bytes).unwrap_err().to_string();
    assert!(refused.contains("bad.usdc, byte "), "{refused}");
    refused
}

/// Small crates by Pixar's library, of versions without and with compression, and one of ours.
fn corpus() -> Vec<Vec<u8>> {
    let read = |name| std::fs::read(Path::new("tests/corpus/usdc").join(name)).unwrap();
    let mut crates: Vec<Vec<u8>> =
        ["all-0.1.0.usdc", "all-0.8.0.usdc", "new-0.12.0.usdc"].map(read).into();
    let prim = Prim {
        name: "A".into(),
        attributes: vec![Attribute {
            name: "a".into(),
            type_name: "double".into(),
            samples: vec![(1.0, Value::Double(0.1)), (2.0, Value::Block)],
            ..Attribute::default()
        }],
        ..Prim::default()
    };
    crates.push(binary::encode(&Layer { prims: vec![prim], ..Layer::default() }).unwrap());
    crates
}

/// A number that looks random and is always the same.
fn hash(seed: u64) -> u64 {
    let mixed = (seed ^ seed >> 29).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let mixed = (mixed ^ mixed >> 32).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    mixed ^ mixed >> 31
}

#[test]
fn what_is_no_crate_is_refused() {
    assert!(refusal(b"").contains("no USD crate"));
    assert!(refusal(b"#usda 1.0\n").contains("no USD crate"));
    assert!(refusal(b"PXR-USDC").contains("no USD crate"));
    let mut bytes = binary::encode(&every_type()).unwrap();
    bytes[9] = 17;
    assert!(refusal(&bytes).contains("version 0.17.0; versions 0.0.1 to 0.16 are read"));
    bytes[8..11].fill(0);
    assert!(refusal(&bytes).contains("version 0.0.0"));
}

#[test]
fn a_crate_cut_anywhere_is_refused() {
    for bytes in corpus() {
        for length in 0..bytes.len() {
            refusal(&bytes[..length]);
        }
    }
}

/// Flips bits, and puts the numbers there that break things, one to three at a time.
#[test]
fn a_damaged_crate_is_read_or_refused() {
    const BAD: [u64; 8] =
        [0, 1, u64::MAX, 1 << 63, u32::MAX as u64, 1 << 47, i32::MAX as u64, (1 << 40) + 1];
    let (mut read, mut refused) = (0, 0);
    for (number, whole) in corpus().into_iter().enumerate() {
        for case in 0..6000 {
            let random = |i: u64| hash(case * 64 + i + ((number as u64) << 40));
            let mut bytes = whole.clone();
            for change in 0..1 + random(0) % 3 {
                let random = |i: u64| random(change * 8 + i + 1);
                let place = random(1) as usize % bytes.len();
                match random(2) % 3 {
                    0 => bytes[place] ^= 1 << (random(3) % 8),
                    1 => bytes[place] = random(3) as u8,
                    _ => {
                        let bad = BAD[random(3) as usize % BAD.len()].to_le_bytes();
                        let length = [4, 8][random(4) as usize % 2].min(bytes.len() - place);
                        bytes[place..place + length].copy_from_slice(&bad[..length]);
                    }
                }
            }
            match parse(&bytes) {
                // What is read can be walked, compared and dropped.
                Ok(layer) => read += usize::from(layer == layer.clone()),
                Err(_) => refused += 1,
            }
        }
    }
    assert!(read > 1000 && refused > 1000, "{read} read, {refused} refused");
}

/// A crate of version 0.1, which is not compressed, from its parts.
#[derive(Default)]
struct Parts {
    values: Vec<u8>,
    fields: Vec<(u32, u64)>,
    field_sets: Vec<u32>,
    /// Index, token, bits, and where the sibling is.
    paths: Vec<(u32, u32, u32)>,
    path_count: Option<u64>,
    /// Path, fields, kind.
    specs: Vec<[u32; 3]>,
}

const TOKENS: [&str; 6] = ["", "customLayerData", "a", "primChildren", "default", "properties"];
const DICTIONARY: u64 = 31 << 48;

impl Parts {
    fn bytes(&self) -> Vec<u8> {
        let counted = |count: usize, items: Vec<u8>| {
            let mut section = (count as u64).to_le_bytes().to_vec();
            section.extend(items);
            section
        };
        let words: Vec<u8> =
            TOKENS.iter().flat_map(|word| [word.as_bytes(), &[0]].concat()).collect();
        let mut tokens = (TOKENS.len() as u64).to_le_bytes().to_vec();
        tokens.extend(counted(words.len(), words));
        let strings = (0..TOKENS.len() as u32).flat_map(u32::to_le_bytes).collect();
        let fields = self.fields.iter();
        let fields = fields.flat_map(|(name, rep)| {
            [&[0; 4][..], &name.to_le_bytes(), &rep.to_le_bytes()].concat()
        });
        let sets = self.field_sets.iter().flat_map(|field| field.to_le_bytes());
        let paths = self.paths.iter().flat_map(|(index, token, bits)| {
            [index.to_le_bytes(), token.to_le_bytes(), bits.to_le_bytes()].concat()
        });
        let mut path_section =
            self.path_count.unwrap_or(self.paths.len() as u64).to_le_bytes().to_vec();
        path_section.extend(paths);
        let specs = self.specs.iter().flatten().flat_map(|number| number.to_le_bytes());
        let sections = [
            ("TOKENS", tokens),
            ("STRINGS", counted(TOKENS.len(), strings)),
            ("FIELDS", counted(self.fields.len(), fields.collect())),
            ("FIELDSETS", counted(self.field_sets.len(), sets.collect())),
            ("PATHS", path_section),
            ("SPECS", counted(self.specs.len(), specs.collect())),
        ];
        let mut bytes = b"PXR-USDC\x00\x01\x00\x00\x00\x00\x00\x00".to_vec();
        bytes.resize(88, 0);
        bytes.extend(&self.values);
        let mut contents = (sections.len() as u64).to_le_bytes().to_vec();
        for (name, section) in sections {
            let mut padded = name.as_bytes().to_vec();
            padded.resize(16, 0);
            contents.extend(padded);
            contents.extend((bytes.len() as u64).to_le_bytes());
            contents.extend((section.len() as u64).to_le_bytes());
            bytes.extend(section);
        }
        let place = bytes.len() as u64;
        bytes[16..24].copy_from_slice(&place.to_le_bytes());
        bytes.extend(contents);
        bytes
    }

    /// A layer that has one field, `customLayerData`, of this value.
    fn with(rep: u64, values: Vec<u8>) -> Self {
        Self {
            values,
            fields: vec![(1, rep)],
            field_sets: vec![0, u32::MAX],
            paths: vec![(0, 0, 0)],
            specs: vec![[0, 0, 7]],
            ..Self::default()
        }
    }
}

/// An entry `a` of a dictionary, whose rep follows at once.
fn entry(rep: u64) -> Vec<u8> {
    [&2_u32.to_le_bytes()[..], &8_u64.to_le_bytes(), &rep.to_le_bytes()].concat()
}

#[test]
fn a_dictionary_in_itself_is_refused() {
    let mut values = 1_u64.to_le_bytes().to_vec();
    values.extend(entry(DICTIONARY | 88));
    let refused = refusal(&Parts::with(DICTIONARY | 88, values).bytes());
    assert!(refused.contains("nested too deeply"), "{refused}");
}

/// Each dictionary has two entries that are the next one: thirty of them would be a billion.
#[test]
fn dictionaries_that_double_are_refused() {
    let mut values = Vec::new();
    for level in 0..30 {
        let next =
            if level == 29 { 1 << 62 | 3 << 48 } else { DICTIONARY | (88 + (level + 1) * 48) };
        values.extend(2_u64.to_le_bytes());
        values.extend(entry(next));
        values.extend(entry(next));
    }
    let refused = refusal(&Parts::with(DICTIONARY | 88, values).bytes());
    assert!(refused.contains("make far more"), "{refused}");
}

/// A thousand fields that are all the same megabyte.
#[test]
fn an_array_pointed_to_often_is_refused() {
    let mut values = [1_u32.to_le_bytes(), (1_u32 << 20).to_le_bytes()].concat();
    values.resize(8 + (1 << 20), 1);
    let array = 1 << 63 | 2 << 48 | 88;
    let mut parts = Parts::with(array, values);
    parts.field_sets = vec![0; 1000];
    parts.field_sets.push(u32::MAX);
    let refused = refusal(&parts.bytes());
    assert!(refused.contains("make far more"), "{refused}");
    // A few are no harm.
    parts.field_sets = vec![0, 0, 0, u32::MAX];
    parse(&parts.bytes()).unwrap();
}

#[test]
fn arrays_longer_than_the_file_are_refused() {
    for kind in 1..=30 {
        for count in [u32::MAX, 1 << 31, 100_000] {
            let values = [1_u32.to_le_bytes(), count.to_le_bytes()].concat();
            let refused = refusal(&Parts::with(1 << 63 | kind << 48 | 88, values).bytes());
            assert!(refused.contains("the file has"), "{kind}: {refused}");
        }
    }
    let beyond = 1 << 63 | 8 << 48 | 1 << 40;
    assert!(refusal(&Parts::with(beyond, vec![]).bytes()).contains("is said to be at byte"));
}

#[test]
fn broken_trees_of_paths_are_refused() {
    const CHILD: u32 = 1;
    const SIBLING: u32 = 2;
    let with = |paths: &[(u32, u32, u32)]| {
        let mut parts = Parts::with(1 << 62 | 3 << 48, vec![]);
        parts.paths = paths.to_vec();
        refusal(&parts.bytes())
    };
    for (paths, word) in [
        (vec![(5, 0, 0)], "index that is not there"),
        (vec![(0, 99, 0)], "its token is not there"),
        (vec![(0, 0, CHILD), (0, 2, 0)], "the same index"),
        (vec![(0, 0, SIBLING), (1, 2, 0)], "the root has siblings"),
    ] {
        let refused = with(&paths);
        assert!(refused.contains(word), "{refused}");
    }
    let deep: Vec<_> = (0..1000).map(|i| (i, 2, if i < 999 { CHILD } else { 0 })).collect();
    assert!(with(&deep).contains("too deep"));
    let mut many = Parts::with(1 << 62 | 3 << 48, vec![]);
    for count in [1 << 60, 100_000] {
        many.path_count = Some(count);
        let refused = refusal(&many.bytes());
        assert!(refused.contains(&format!("{count} paths; the file lists")), "{refused}");
    }
}

/// A thousand bytes with a count of four million would take a hundred megabytes.
#[test]
fn more_paths_than_a_compressed_crate_lists_are_refused() {
    let number =
        |bytes: &[u8], at: usize| u64::from_le_bytes(*bytes[at..].first_chunk().unwrap()) as usize;
    for bytes in &mut corpus()[1..] {
        let contents = number(bytes, 16);
        let entries = (0..number(bytes, contents)).map(|n| contents + 8 + 32 * n);
        let entry = entries.into_iter().find(|&at| bytes[at..].starts_with(b"PATHS\0"));
        let section = number(bytes, entry.unwrap() + 16);
        bytes[section..section + 8].copy_from_slice(&4_150_000_u64.to_le_bytes());
        let refused = refusal(bytes);
        assert!(refused.contains("4150000 paths; the file lists"), "{refused}");
    }
}

/// A prim that lists itself and its parent again and again is there once.
#[test]
fn children_named_twice_are_there_once() {
    let names = |names: &[u32]| {
        let mut block = (names.len() as u64).to_le_bytes().to_vec();
        names.iter().for_each(|name| block.extend(name.to_le_bytes()));
        block
    };
    let parts = Parts {
        values: names(&[2; 50]),
        fields: vec![(3, 41 << 48 | 88)],
        field_sets: vec![0, u32::MAX],
        paths: vec![(0, 0, 1), (1, 2, 1), (2, 2, 0)],
        specs: vec![[0, 0, 7], [1, 0, 6], [2, 0, 6], [1, 0, 6]],
        ..Parts::default()
    };
    let layer = parse(&parts.bytes()).unwrap();
    assert_eq!(layer.prims.len(), 1);
    assert_eq!(layer.prims[0].children.len(), 1);
    assert_eq!(layer.prims[0].children[0].children.len(), 0);
}
