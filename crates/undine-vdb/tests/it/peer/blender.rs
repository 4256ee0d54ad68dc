//! Through the real Blender: it loads sequences of our volumes, and its own nodes find our values in every voxel.

use super::describe::Text;
use super::gallery::{self, Sample};
use std::{collections::BTreeMap, fmt::Write, fs, path::Path};
use undine_vdb::write::{Compression, encode_grid, write_file};
use undine_vdb::{Class, Content, Grid, LeafMask, Leaves, Metadata, Transform, Tree, VOXELS, tree};

/// A grid, and what is to be found in it by place.
type Looked = (Grid, BTreeMap<String, String>);

/// How many frames the sequence has.
const FRAMES: u64 = 3;

/// What Blender says of a frame.
#[derive(Debug, Default, PartialEq)]
struct Said {
    /// Whether it was loaded, and from which file, or what was wrong.
    loaded: String,
    /// The least and the greatest corner of the volume [m].
    corners: [String; 2],
    /// By name: Blender's word for the type, and the images of the axes and of the origin.
    grids: BTreeMap<String, (String, String)>,
    /// By grid and coordinates.
    values: BTreeMap<String, String>,
}

/// Asks Blender about a sequence, and about these voxels of it.
fn ask(first: &Path, frames: u64, voxels: &str) -> Vec<Said> {
    let asked = first.with_extension("txt");
    fs::write(&asked, voxels).expect("a file");
    let [first, asked] = [first, &asked].map(|path| path.display().to_string());
    let answer = peers::python("tests/peer/blender.py", [first, frames.to_string(), asked]);
    let mut frames: Vec<Said> = Vec::new();
    let mut grid = String::new();
    for line in answer.lines() {
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        if word == "frame" {
            let (_, loaded) = rest.split_once(' ').expect("number and state");
            frames.push(Said { loaded: loaded.trim().to_string(), ..Said::default() });
        }
        let Some(frame) = frames.last_mut() else { continue };
        match word {
            "box" => {
                let (least, greatest) = rest.split_once(' ').expect("two corners");
                frame.corners = [least, greatest].map(str::to_string);
            }
            "grid" => {
                let mut words = rest.rsplitn(3, ' ');
                assert_eq!(words.next(), Some("True"), "{line}");
                let kind = words.next().expect("a type").to_string();
                grid = words.next().expect("a name").to_string();
                frame.grids.insert(grid.clone(), (kind, String::new()));
            }
            "matrix" => frame.grids.get_mut(&grid).expect("its grid").1 = rest.to_string(),
            "value" => {
                let (place, value) = rest.rsplit_once(' ').expect("place and value");
                frame.values.insert(place.to_string(), value.to_string());
            }
            _ => {}
        }
    }
    frames
}

fn save(path: &Path, grids: &[Grid]) {
    let encode = |grid| encode_grid(grid, Compression::default()).expect("a grid");
    let encoded: Vec<_> = grids.iter().map(encode).collect();
    write_file(path, &Metadata::new(), &encoded, false).expect("a file");
}

/// What a voxel is in Blender's single precision.
trait InBlender: Sample + Text {
    /// Its word for what it samples.
    const SAMPLED: &'static str;
    /// Its value there.
    fn in_blender(self) -> String;
}

macro_rules! in_blender {
    ($($type:ty: $word:literal, |$value:ident| $text:expr),+) => {
        $(impl InBlender for $type {
            const SAMPLED: &'static str = $word;
            fn in_blender(self) -> String {
                let $value = self;
                $text.text()
            }
        })+
    };
}
in_blender!(
    f32: "FLOAT", |value| value,
    i32: "FLOAT", |value| value as f32,
    bool: "FLOAT", |value| f32::from(u8::from(value)),
    [f32; 3]: "VECTOR", |value| value
);

/// A cloud of 16 by 8 by 24 voxels, all active, other values for each seed.
fn cloud<T: Sample>(seed: u64) -> Tree<T> {
    let mut leaves = Leaves::default();
    for number in 0..6u64 {
        let origin = [number / 3, 0, number % 3].map(|c| c as i32 * 8 - 8);
        let values = std::array::from_fn(|voxel| {
            T::sample(seed * 10_000 + number * VOXELS as u64 + voxel as u64)
        });
        leaves.push(origin, LeafMask::ALL, &values);
    }
    let mut order: Vec<usize> = (0..6).collect();
    order.sort_by_key(|&leaf| undine_vdb::FileOrder::of(leaves.origins[leaf]));
    assert!(order.is_sorted(), "the leaves are made in order");
    Tree { leaves, ..Tree::new(T::default()) }
}

/// Every 17th voxel of a tree, as it is asked for, and what is to be found.
fn some_voxels<T: InBlender>(
    name: &str,
    tree: &Tree<T>,
    asked: &mut String,
) -> BTreeMap<String, String> {
    let mut wanted = BTreeMap::new();
    for (leaf, &origin) in tree.leaves.origins.iter().enumerate() {
        for voxel in (0..VOXELS).step_by(17) {
            let place @ [x, y, z] = gallery::place(origin, voxel);
            let value = tree.leaves.values[leaf * VOXELS + tree::voxel(place)];
            writeln!(asked, "{name} {} {x} {y} {z}", T::SAMPLED).expect("text");
            wanted.insert(format!("{name} {x} {y} {z}"), value.in_blender());
        }
    }
    wanted
}

/// Fails with the first value that differs.
fn assert_same(found: &BTreeMap<String, String>, wanted: &BTreeMap<String, String>) {
    assert_eq!(found.keys().collect::<Vec<_>>(), wanted.keys().collect::<Vec<_>>());
    for (place, wanted) in wanted {
        assert_eq!(&found[place], wanted, "at {place}");
    }
}

#[test]
fn blender_plays_a_sequence_and_finds_every_value() {
    let folder = tempfile::tempdir().expect("a folder");
    let transform = Transform::uniform(0.25, [1.0, 2.0, 3.0]);
    let mut wanted = Vec::new();
    let mut asked = String::new();
    for frame in 1..=FRAMES {
        asked.clear();
        let (density, vel) = (cloud::<f32>(frame), cloud::<[f32; 3]>(frame));
        let mut values = some_voxels("density", &density, &mut asked);
        values.extend(some_voxels("vel", &vel, &mut asked));
        wanted.push(values);
        let grids = [
            Grid { class: Class::FogVolume, ..gallery::grid("density", Content::Float(density)) },
            Grid { class: Class::Staggered, ..gallery::grid("vel", Content::Vec3s(vel)) },
        ]
        .map(|grid| Grid { transform, ..grid });
        save(&folder.path().join(format!("smoke.{frame:04}.vdb")), &grids);
    }

    let said = ask(&folder.path().join("smoke.0001.vdb"), FRAMES, &asked);
    assert_eq!(said.len(), FRAMES as usize);
    let images = [[0.25f32, 0.0, 0.0], [0.0, 0.25, 0.0], [0.0, 0.0, 0.25], [1.0, 2.0, 3.0]];
    let matrix = images.map(|image| image.text()).join(",");
    for (frame, (said, wanted)) in (1..).zip(said.iter().zip(wanted)) {
        assert_eq!(said.loaded, format!("True smoke.{frame:04}.vdb"));
        // From the centre of the first voxel to that of the last: −8 to 7, −8 to −1, −8 to 15.
        let corners = [[-8.0, -8.0, -8.0], [7.0, -1.0, 15.0]].map(|c| transform.world(c).text());
        assert_eq!(said.corners, corners);
        let kinds = [("density", "FLOAT"), ("vel", "VECTOR_FLOAT")];
        let grids =
            kinds.map(|(name, kind)| (name.to_string(), (kind.to_string(), matrix.clone())));
        assert_eq!(said.grids, BTreeMap::from(grids));
        assert_same(&said.values, &wanted);
    }
}

#[test]
fn blender_reads_every_type_of_value() {
    let folder = tempfile::tempdir().expect("a folder");
    let (mut asked, mut wanted, mut grids) = (String::new(), BTreeMap::new(), Vec::new());

    // Its nodes look into these,
    fn add<T: InBlender>(content: fn(Tree<T>) -> Content, asked: &mut String) -> Looked {
        let (name, tree) = (T::KIND.word(), cloud::<T>(1));
        let wanted = some_voxels(name, &tree, asked);
        (gallery::grid(name, content(tree)), wanted)
    }
    for (grid, values) in [
        add(Content::Float, &mut asked),
        add(Content::Int32, &mut asked),
        add(Content::Bool, &mut asked),
        add(Content::Vec3s, &mut asked),
    ] {
        grids.push(grid);
        wanted.extend(values);
    }
    // and the others it loads.
    grids.push(gallery::grid("double", Content::Double(cloud(1))));
    grids.push(gallery::grid("int64", Content::Int64(cloud(1))));
    grids.push(gallery::grid("mask", Content::Mask(cloud(1))));
    grids.push(gallery::grid("vec3d", Content::Vec3d(cloud(1))));
    grids.push(gallery::grid("vec3i", Content::Vec3i(cloud(1))));
    let path = folder.path().join("types.vdb");
    save(&path, &grids);

    let said = ask(&path, 1, &asked);
    assert_eq!(said[0].loaded, "True types.vdb");
    let types = said[0].grids.iter().map(|(name, (kind, _))| (name.as_str(), kind.as_str()));
    assert_eq!(
        types.collect::<Vec<_>>(),
        [
            ("bool", "BOOLEAN"),
            ("double", "DOUBLE"),
            ("float", "FLOAT"),
            ("int32", "INT"),
            ("int64", "INT64"),
            ("mask", "MASK"),
            ("vec3d", "VECTOR_DOUBLE"),
            ("vec3i", "VECTOR_INT"),
            ("vec3s", "VECTOR_FLOAT"),
        ]
    );
    assert_same(&said[0].values, &wanted);
}
