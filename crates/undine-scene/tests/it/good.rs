//! Scenes that are right, and what they mean.

use crate::catalogue::catalogue;
use std::path::Path;
use undine_io::UpAxis;
use undine_scene::{Report, Scene};
use undine_schema::setup::{Behavior, Group, Node};
use undine_schema::{Interpolation, Setting, Value};

pub const HAIR: &str = r#"
/- kdl-version 2
setup "hair-in-the-wind" fps=24 frames="1001-1096" time-scale=0.5 preroll=10 cfl=2 up="z" seed=7
input "groom" file="groom.ply" unit="1 cm" {
    transform translate="0 0 1 m"
    attribute "density" "1.3 g/cm³"
    attribute "label" "a wig"
}
input "block" {
    box size="1 1 1 m"
    scatter count=100
    merge {
        sphere
        box "second" size="10 20 30 cm"
    }
}
group "hair" radius="40 um" {
    curves "strands" input="groom" youngs="4 GPa"
    springs damping=0.01 // gentle
    attachment to="strands" flexibility=0
    group "inner" disabled=#true {
        density "900 kg/m3"
        particles input="block" {
            velocity interpolation="cubic" {
                key "0 s" "4 0 0 m/s"
                key 1049 "8 0 0 m/s"
            }
        }
    }
}
group "wind" {
    volume "air" voxel="2 cm" around="hair/strands" /-padding=9
    pressure
    inflow velocity="4 0 0 km/h"
    /-inflow "again" velocity="no matter"
}
gravity disabled=#true
output dir="cache" channels="P v" every=2
output of="hair" per-frame=4
expose "wind-speed" path="wind/inflow.velocity"
"#;

pub fn parse(text: &str, overrides: &[(&str, &str)]) -> Result<Scene, Report> {
    let overrides: Vec<(String, String)> =
        overrides.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    Scene::parse(Path::new("scene.kdl"), text, &catalogue(), &overrides)
}

fn good(text: &str, overrides: &[(&str, &str)]) -> Scene {
    parse(text, overrides).unwrap_or_else(|report| panic!("{}", report.render(100)))
}

fn group<'g>(group: &'g Group, name: &str) -> &'g Group {
    let found = group.children.iter().find(|node| node.name() == name);
    match found {
        Some(Node::Group(group)) => group,
        _ => panic!("no Group {name}"),
    }
}

fn behavior<'g>(group: &'g Group, name: &str) -> &'g Behavior {
    let found = group.children.iter().find(|node| node.name() == name);
    match found {
        Some(Node::Behavior(behavior)) => behavior,
        _ => panic!("no Behavior {name}"),
    }
}

fn constant(behavior: &Behavior, name: &str) -> Value {
    match &behavior.settings[name] {
        Setting::Constant(value) => value.clone(),
        keyed => panic!("{keyed:?}"),
    }
}

#[test]
fn a_scene_is_read_as_it_is_meant() {
    let scene = good(HAIR, &[]);
    assert_eq!(scene.warnings.diagnostics().len(), 0);
    let settings = &scene.settings;
    assert_eq!(settings.name, "hair-in-the-wind");
    assert_eq!((settings.first, settings.last, settings.preroll), (1001, 1096, 10));
    assert_eq!((settings.cfl, settings.up, settings.seed), (Some(2.0), UpAxis::Z, 7));
    assert_eq!((settings.checkpoint_every, settings.checkpoint_keep), (Some(1), Some(2)));

    let hair = group(&scene.root, "hair");
    let Setting::Constant(Value::Number(radius)) = hair.settings["radius"] else { panic!() };
    assert!((radius / 40e-6 - 1.0).abs() < 1e-15);
    let strands = behavior(hair, "strands");
    assert_eq!(strands.declaration.name, "curves");
    assert_eq!(constant(strands, "youngs"), Value::Number(4e9));
    assert_eq!(constant(behavior(hair, "attachment"), "to"), Value::Text("hair/strands".into()));
    let inner = group(hair, "inner");
    assert!(inner.disabled && !hair.disabled);
    assert_eq!(inner.settings["density"], Setting::Constant(Value::Number(900.0)));
    let wind = group(&scene.root, "wind");
    assert_eq!(wind.children.len(), 3);
    assert!(!behavior(wind, "air").settings.contains_key("padding"));
    assert!(behavior(&scene.root, "gravity").disabled);

    let [all, motion] = scene.outputs.as_slice() else { panic!() };
    assert_eq!((all.dir.as_str(), all.every, all.per_frame), ("cache", 2, 1));
    assert_eq!(all.channels, ["P", "v"]);
    assert_eq!((motion.of.as_deref(), motion.per_frame), (Some("hair"), 4));
    assert_eq!(scene.exposes[0].parameter.name, "velocity");
}

#[test]
fn inputs_are_sources_and_filters_in_order() {
    let scene = good(HAIR, &[]);
    let groom = scene.input("groom").unwrap();
    let names: Vec<&str> = groom.nodes.iter().map(|node| node.declaration.name).collect();
    assert_eq!(names, ["load", "transform"]);
    assert_eq!(groom.nodes[0].settings["file"], Setting::Constant(Value::Text("groom.ply".into())));
    let Value::Number(density) = groom.attributes["density"].value else { panic!() };
    assert!((density - 1300.0).abs() < 1e-9);
    assert_eq!(groom.attributes["label"].value, Value::Text("a wig".into()));
    let block = scene.input("block").unwrap();
    let paths: Vec<&str> = block.nodes.iter().map(|node| node.path.as_str()).collect();
    assert_eq!(paths, ["input/block/box", "input/block/scatter", "input/block/merge"]);
    let merged: Vec<&str> = block.nodes[2].children.iter().map(|node| node.path.as_str()).collect();
    assert_eq!(merged, ["input/block/merge/sphere", "input/block/merge/second"]);
}

#[test]
fn a_key_at_a_frame_is_a_key_at_its_time() {
    let scene = good(HAIR, &[]);
    let particles = behavior(group(group(&scene.root, "hair"), "inner"), "particles");
    let Setting::Keyed(keys) = &particles.settings["velocity"] else { panic!() };
    assert_eq!(keys.interpolation(), Interpolation::Cubic);
    // Frame 1049 is 48 frames behind the first, each of half a 24th of a second.
    let times: Vec<f64> = keys.keys().iter().map(|key| key.time).collect();
    assert_eq!(times, [0.0, 1.0]);
}

#[test]
fn what_is_set_from_outside_is_checked_like_a_line_of_the_file() {
    for name in ["wind-speed", "wind/inflow.velocity"] {
        let scene = good(
            HAIR,
            &[(name, "8 0 0 m/s"), ("setup.fps", "25"), ("input/block/scatter.count", "7")],
        );
        let inflow = behavior(group(&scene.root, "wind"), "inflow");
        assert_eq!(constant(inflow, "velocity"), Value::Vector([8.0, 0.0, 0.0]));
        assert_eq!(scene.settings.fps, 25.0);
        let count = &scene.input("block").unwrap().nodes[1].settings["count"];
        assert_eq!(*count, Setting::Constant(Value::Integer(7)));
        assert_eq!(scene.place("wind/inflow.velocity").source.name(), "--set");
    }
}

#[test]
fn a_place_is_found_for_every_path() {
    let scene = good(HAIR, &[]);
    assert_eq!(scene.place("wind/inflow.velocity").text(), "\"4 0 0 km/h\"");
    assert_eq!(scene.place("wind/inflow").text(), "inflow velocity=\"4 0 0 km/h\"");
    assert_eq!(scene.place("wind/inflow.nothing").text(), "inflow velocity=\"4 0 0 km/h\"");
    assert_eq!(scene.place("input/block/merge/second.size").text(), "\"10 20 30 cm\"");
    assert_eq!(scene.place("elsewhere").span, 0..0);
    let said = scene.diagnose("wind/air.voxel", "too fine", "write 4 cm").render(80);
    assert!(
        said.contains("too fine")
            && said.contains("voxel=\"2 cm\"")
            && said.contains("scene.kdl:32"),
        "{said}"
    );
}

#[test]
fn templates_become_groups_with_paths() {
    let scene = good(
        r#"
        setup frames=2
        template "jet" {
            input "block" { box; }
            inflow velocity="4 0 0 m/s"
            particles input="block"
            expose "speed" path="inflow.velocity"
            expose "size" path="input/block/box.size"
        }
        template "pair" {
            use "jet" as="near"
            use "jet" as="far" speed="1 0 0 m/s"
            expose "near-speed" path="near/inflow.velocity"
        }
        use "jet"
        use "jet" as="left" speed="8 0 0 m/s" size="2 2 2 m" disabled=#true
        use "jet" as="right" { speed { key 1 "1 0 0 m/s"; key 2 "2 0 0 m/s" } }
        use "pair" near-speed="3 0 0 m/s"
        "#,
        &[("left/speed", "9 0 0 m/s")],
    );
    let speed = |path: &str| {
        let inner = path.split('/').fold(&scene.root, |at, name| group(at, name));
        behavior(inner, "inflow").settings["velocity"].at(0.0)
    };
    assert_eq!(speed("jet"), Value::Vector([4.0, 0.0, 0.0]));
    assert_eq!(speed("left"), Value::Vector([9.0, 0.0, 0.0]));
    assert_eq!(speed("right"), Value::Vector([1.0, 0.0, 0.0]));
    assert_eq!(speed("pair/near"), Value::Vector([3.0, 0.0, 0.0]));
    assert_eq!(speed("pair/far"), Value::Vector([1.0, 0.0, 0.0]));
    assert!(group(&scene.root, "left").disabled);
    let particles = behavior(group(&scene.root, "left"), "particles");
    assert_eq!(constant(particles, "input"), Value::Text("left/block".into()));
    let size = &scene.input("left/block").unwrap().nodes[0].settings["size"];
    assert_eq!(*size, Setting::Constant(Value::Vector([2.0; 3])));
}

#[test]
fn files_are_relative_to_the_file_that_names_them() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("parts")).unwrap();
    let part =
        "setup \"part\" frames=5\ninput \"rocks\" file=\"rocks.ply\"\ncollider input=\"rocks\"\n";
    std::fs::write(folder.path().join("parts/part.kdl"), part).unwrap();
    let scene =
        "setup frames=2\ninclude \"parts/part.kdl\" as=\"bed\"\ninput \"own\" file=\"own.ply\"\n";
    let path = folder.path().join("river.kdl");
    std::fs::write(&path, scene).unwrap();
    let scene = Scene::load(&path, &catalogue(), &[]).unwrap();
    let file = |name: &str| scene.input(name).unwrap().nodes[0].settings["file"].at(0.0);
    assert_eq!(file("bed/rocks"), Value::Text("parts/rocks.ply".into()));
    assert_eq!(file("own"), Value::Text("own.ply".into()));
    assert_eq!((scene.settings.name.as_str(), scene.settings.last), ("river", 2));
    assert_eq!(scene.files.len(), 2);
    let collider = behavior(group(&scene.root, "bed"), "collider");
    assert_eq!(constant(collider, "input"), Value::Text("bed/rocks".into()));
}

#[test]
fn all_outputs_have_one_folder_which_may_be_set_from_outside() {
    let dirs = |text: &str, overrides: &[(&str, &str)]| -> Vec<String> {
        good(text, overrides).outputs.into_iter().map(|output| output.dir).collect()
    };
    let two = "setup frames=2\noutput every=2\noutput dir=\"frames\" channels=\"v\"";
    assert_eq!(dirs(two, &[]), ["frames", "frames"]);
    assert_eq!(dirs(two, &[("output.dir", "/tmp/look")]), ["/tmp/look", "/tmp/look"]);
    assert_eq!(dirs("setup frames=2", &[]), ["cache"]);
    assert_eq!(dirs("setup frames=2", &[("output.dir", "look")]), ["look"]);
    assert_eq!(good("setup frames=2", &[("output.every", "3")]).outputs[0].every, 3);
}
