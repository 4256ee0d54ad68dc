//! From format to format.

use crate::info::two_fogs;
use crate::shapes::{corners, cube, curves, spray};
use std::path::Path;
use undine_core::glam::{DVec3, Vec3};
use undine_io::convert::{ConvertOptions, convert, plan};
use undine_io::{
    FileMetadata, Format, Geometry, Pattern, Precision, Result, UpAxis, Values, WriteOptions, read,
    read_with_metadata, write,
};
use undine_vdb::File;
use undine_vdb::codec::Codec;

pub fn run(folder: &Path, from: &str, to: &str, options: &ConvertOptions) -> Result<Vec<String>> {
    let pattern = |name: &str| Pattern::new(name, folder).unwrap();
    let jobs = plan(&pattern(from), &pattern(to), None)?;
    let mut notes = Vec::new();
    for job in &jobs {
        notes.extend(convert(job, options)?);
    }
    Ok(notes)
}

pub fn put(folder: &Path, name: &str, geometry: &Geometry) {
    let options = WriteOptions { precision: Precision::Double, ..WriteOptions::default() };
    write(&folder.join(name), geometry, &options).unwrap();
}

#[test]
fn a_mesh_goes_round_all_formats() {
    let folder = tempfile::tempdir().unwrap();
    put(folder.path(), "0.ply", &cube());
    let ways = [
        ("0.ply", "1.obj"),
        ("1.obj", "2.usda"),
        ("2.usda", "3.usdc"),
        ("3.usdc", "4.ply"),
        ("4.ply", "5.stl"),
        ("5.stl", "6.glb"),
    ];
    for (from, to) in ways {
        run(folder.path(), from, to, &ConvertOptions::default()).unwrap();
    }
    let last = read(&folder.path().join("4.ply")).unwrap();
    assert_eq!(last.points.positions, cube().points.positions);
    assert_eq!(corners(&last), corners(&cube()));
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 7);
}

#[test]
fn points_keep_their_channels_through_voxels_and_scenes() {
    let folder = tempfile::tempdir().unwrap();
    put(folder.path(), "0.ply", &spray(50));
    for (from, to) in [("0.ply", "1.vdb"), ("1.vdb", "2.usdc"), ("2.usdc", "3.ply")] {
        let notes = run(folder.path(), from, to, &ConvertOptions::default()).unwrap();
        assert!(notes.is_empty(), "{notes:?}");
    }
    let points = read(&folder.path().join("3.ply")).unwrap().points;
    let wanted = spray(50).points;
    // Voxels have their own order of points.
    let ids = points.channels["id"].ids().unwrap().into_owned();
    for (n, &id) in ids.iter().enumerate() {
        let (found, place) = (points.positions[n], wanted.positions[id as usize]);
        assert!(found.distance(place) < 1e-5, "{found} {place}");
        let [v, there] = [&points, &wanted].map(|points| points.channels["v"].vectors().unwrap());
        assert!(v[n].distance(there[id as usize]) < 1e-6);
    }
    assert_eq!(ids.len(), 50);
}

#[test]
fn what_has_no_place_is_told() {
    let folder = tempfile::tempdir().unwrap();
    put(folder.path(), "a.ply", &cube());
    let notes = run(folder.path(), "a.ply", "a.obj", &ConvertOptions::default()).unwrap();
    assert_eq!(notes, ["OBJ has no place for channel id, channel v"]);
}

#[test]
fn another_axis_turns_positions_and_vectors_and_back() {
    let folder = tempfile::tempdir().unwrap();
    let mut drop = spray(1);
    drop.points.positions[0] = DVec3::new(1.0, 2.0, 3.0);
    drop.points.channels.insert("v".into(), Values::Vec3(vec![Vec3::Y]));
    for name in ["Cd", "scale"] {
        let values = Values::DVec3(vec![DVec3::new(0.25, 0.5, 1.0)]);
        drop.points.channels.insert(name.into(), values);
    }
    put(folder.path(), "y.ply", &drop);
    let to = |up| ConvertOptions { up: Some(up), ..ConvertOptions::default() };
    run(folder.path(), "y.ply", "z.ply", &to(UpAxis::Z)).unwrap();
    let (z, metadata) = read_with_metadata(&folder.path().join("z.ply")).unwrap();
    assert_eq!(z.points.positions, [DVec3::new(1.0, -3.0, 2.0)]);
    assert_eq!(z.points.channels["v"], Values::Vec3(vec![Vec3::Z]));
    assert_eq!(metadata.up, UpAxis::Z);
    // Colours and scales have no direction.
    for name in ["Cd", "scale"] {
        let kept = z.points.channels[name].vectors().unwrap();
        assert_eq!(kept[0], DVec3::new(0.25, 0.5, 1.0), "{name}");
    }
    // The file says which axis it is, so nothing else need be said.
    run(folder.path(), "z.ply", "back.ply", &to(UpAxis::Y)).unwrap();
    let back = read(&folder.path().join("back.ply")).unwrap();
    assert_eq!(back.points, drop.points);
    let notes = run(folder.path(), "z.ply", "z.glb", &to(UpAxis::Z)).unwrap();
    assert!(notes.iter().any(|note| note.contains("Y up")), "{notes:?}");
}

#[test]
fn channels_get_other_names() {
    let folder = tempfile::tempdir().unwrap();
    put(folder.path(), "a.ply", &spray(3));
    let named = |from: &str, to: &str| ConvertOptions {
        rename: vec![(from.into(), to.into())],
        ..ConvertOptions::default()
    };
    run(folder.path(), "a.ply", "b.ply", &named("pscale", "radius")).unwrap();
    let channels = read(&folder.path().join("b.ply")).unwrap().points.channels;
    assert!(channels.contains_key("radius") && !channels.contains_key("pscale"));
    for (from, to, words) in
        [("scale", "x", "there are: id, pscale, v"), ("v", "id", "there is a channel `id` already")]
    {
        let refused =
            run(folder.path(), "a.ply", "c.ply", &named(from, to)).unwrap_err().to_string();
        assert!(refused.contains(words), "{refused}");
    }
    assert!(!folder.path().join("c.ply").exists());
}

#[test]
fn volumes_get_other_codecs_names_and_axes() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.vdb");
    two_fogs(&path);
    let options = ConvertOptions {
        grids: vec!["density".into()],
        rename: vec![("density".into(), "smoke".into())],
        half: Some(true),
        codec: Some(Codec::None),
        up: Some(UpAxis::Z),
        ..ConvertOptions::default()
    };
    run(folder.path(), "a.vdb", "b.vdb", &options).unwrap();
    let mut old = File::open(&path).unwrap();
    let mut new = File::open(folder.path().join("b.vdb")).unwrap();
    assert_eq!(new.grids().len(), 1);
    let head = new.grids()[0].clone();
    assert_eq!((head.name.as_str(), head.saved_as_half), ("smoke", true));
    assert_eq!(head.compression.codec, Codec::None);
    let [before, after] = [old.grid(0).unwrap(), new.grid(0).unwrap()];
    assert_eq!(before.content, after.content);
    let [[x, y, z], turned] = [&before, &after].map(|grid| grid.transform.world([8.0, 1.0, 2.0]));
    assert_eq!(turned, [x, -z, y]);
    // And back, to the byte but for what was asked for.
    let back = ConvertOptions { up: Some(UpAxis::Y), ..ConvertOptions::default() };
    run(folder.path(), "b.vdb", "c.vdb", &back).unwrap();
    let there = File::open(folder.path().join("c.vdb")).unwrap().grid(0).unwrap();
    assert_eq!(there.transform, before.transform);
    let zipped = ConvertOptions { codec: Some(Codec::Zip), ..ConvertOptions::default() };
    let notes = run(folder.path(), "a.vdb", "e.vdb", &zipped).unwrap();
    assert!(notes[0].contains("`density` is not compressed"), "{notes:?}");
    let none = ConvertOptions { grids: vec!["fire".into()], ..ConvertOptions::default() };
    let refused = run(folder.path(), "a.vdb", "d.vdb", &none).unwrap_err().to_string();
    assert!(refused.contains("density") && refused.contains("a.vdb"), "{refused}");
}

#[test]
fn what_has_no_meaning_is_refused_and_nothing_is_left() {
    let folder = tempfile::tempdir().unwrap();
    two_fogs(&folder.path().join("fog.vdb"));
    put(folder.path(), "cube.ply", &cube());
    put(folder.path(), "lines.ply", &curves());
    put(folder.path(), "cube.glb", &cube());
    for (from, to, words) in [
        ("fog.vdb", "fog.obj", "a surface has to be made of it"),
        ("cube.ply", "cube.vdb", "no faces and no curves"),
        ("lines.ply", "lines.stl", "STL holds triangles alone"),
        ("cube.glb", "other.ply", "glTF is written only"),
        ("cube.ply", "cube.ply", "written over a file that is read"),
        ("cube.ply", "./cube.ply", "written over a file that is read"),
        ("cube.ply", "cube.####.ply", "one file would become many"),
        ("cube.ply", "cube.abc", "unknown format"),
        ("gone.ply", "b.ply", "gone.ply"),
    ] {
        let refused =
            run(folder.path(), from, to, &ConvertOptions::default()).unwrap_err().to_string();
        assert!(refused.contains(words), "{from} to {to}: {refused}");
    }
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 4);
}

#[test]
fn sequences_become_sequences_frame_by_frame() {
    let folder = tempfile::tempdir().unwrap();
    for frame in [8, 9, 11] {
        put(folder.path(), &format!("a.{frame:04}.ply"), &spray(frame));
    }
    let pattern = |name: &str| Pattern::new(name, folder.path()).unwrap();
    let (from, to) = (pattern("a.####.ply"), pattern("b.$F.obj"));
    let jobs = plan(&from, &to, Some((9, 20))).unwrap();
    assert_eq!(jobs.iter().map(|job| job.frame).collect::<Vec<_>>(), [Some(9), Some(11)]);
    jobs.iter().for_each(|job| drop(convert(job, &ConvertOptions::default()).unwrap()));
    assert_eq!(to.frames().unwrap(), [9, 11]);
    let (_, metadata) = read_with_metadata(&to.find(11).unwrap()).unwrap();
    assert_eq!(metadata.frame, Some(11));
    for (to, frames, words) in [
        ("b.ply", None, "many files would become one"),
        ("a.$F4.ply", None, "written over a file that is read"),
        ("b.####.ply", Some((100, 200)), "none of these frames is there; 8 is"),
    ] {
        let refused = plan(&from, &pattern(to), frames).unwrap_err().to_string();
        assert!(refused.contains(words), "{refused}");
    }
    let none = plan(&pattern("c.####.ply"), &pattern("d.####.ply"), None).unwrap_err();
    assert!(none.to_string().contains("no file of this pattern exists"), "{none}");
    assert_eq!(plan(&from, &pattern("one.stl"), Some((9, 9))).unwrap().len(), 1);
}

#[test]
fn the_same_input_gives_the_same_bytes() {
    for format in Format::ALL {
        let bytes = || {
            let mut bytes = Vec::new();
            let geometry = match format {
                Format::Vdb => spray(30),
                _ => cube(),
            };
            let options = WriteOptions { metadata: FileMetadata::default(), ..Default::default() };
            undine_io::write::encode(&mut bytes, format, "thing", &geometry, &options).unwrap();
            bytes
        };
        assert_eq!(bytes(), bytes(), "{format}");
    }
}

#[test]
fn triangles_keep_their_axis_in_binary_and_text() {
    let folder = tempfile::tempdir().unwrap();
    put(folder.path(), "y.ply", &cube());
    for (as_text, name) in [(false, "binary.stl"), (true, "text.stl")] {
        let options = ConvertOptions { as_text, up: Some(UpAxis::Z), ..ConvertOptions::default() };
        run(folder.path(), "y.ply", name, &options).unwrap();
        assert_eq!(read_with_metadata(&folder.path().join(name)).unwrap().1.up, UpAxis::Z);
    }
}

#[test]
fn a_frame_without_points_is_read_as_such() {
    let folder = tempfile::tempdir().unwrap();
    put(folder.path(), "none.ply", &spray(0));
    run(folder.path(), "none.ply", "none.vdb", &ConvertOptions::default()).unwrap();
    run(folder.path(), "none.vdb", "back.ply", &ConvertOptions::default()).unwrap();
    assert!(read(&folder.path().join("back.ply")).unwrap().points.positions.is_empty());
}
