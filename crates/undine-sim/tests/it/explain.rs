//! What `undine explain` shows of a setup.

use crate::toy::{self, BRAKE, MEDDLER, POOL, PULL, SWIRL, balls, node};
use std::collections::BTreeMap;
use std::sync::Arc;
use undine_schema::setup::Group;
use undine_schema::{Interpolation, Key, Keys, Value};
use undine_sim::input::{Data, Inputs};
use undine_sim::timeline::Substeps;
use undine_sim::{Result, Simulation, Stage, Timeline, explain};

/// Everything that a page may have to show.
fn scene() -> Simulation {
    let key = |time, y| Key { time, value: Value::Vector([0.0, y, 0.0]) };
    let keys = Keys::new(vec![key(0.0, -9.81), key(2.0, 0.0)], Interpolation::Linear).unwrap();
    let setup = Group::default()
        .set("weight", 2.5)
        .with(
            Group::new("spray")
                .set("strength", 0.25)
                .with(balls("drops", "many").set("velocity", [4.0, 0.0, 0.0]))
                .with(Group::new("mist").with(balls("haze", "two").set("weight", 0.001)))
                .with(node(&BRAKE, "drag"))
                .with(node(&MEDDLER, "look-around").set("how", "everywhere")),
        )
        .with(
            Group::new("water")
                .with(node(&POOL, "basin").set("flow", [0.0, 0.0, 1.0]))
                .with(node(&BRAKE, "thick").set("strength", 12.0)),
        )
        .with(
            Group::new("snow")
                .disabled()
                .with(balls("flakes", "many"))
                .with(node(&SWIRL, "flurry")),
        )
        .with(Group::new("hail").with(balls("stones", "none")).with(node(&SWIRL, "gust")))
        .with(node(&PULL, "gravity").set("acceleration", keys))
        .with(node(&PULL, "to-the-snow").set("toward", "snow"));
    let substeps = Substeps::Adaptive { least: 2, most: 64, cfl: 4.0 };
    let mut simulation =
        toy::simulation(&setup, Timeline { substeps, ..Timeline::default() }).unwrap();
    simulation.add_kernel(Stage::EndSubstep, "paint by speed", |_, _| Ok(())).unwrap();
    simulation
}

/// Kept beside the tests as it is kept beside examples: a change of order, access or scope shows here.
#[test]
fn a_setup_is_explained_in_full() {
    let text = explain::text(&scene());
    assert_eq!(text, include_str!("explain.txt"), "the new text:\n{text}");
}

#[test]
fn an_explanation_is_the_same_every_time() {
    assert_eq!(explain::text(&scene()), explain::text(&scene()));
    assert_eq!(explain::svg(&scene()), explain::svg(&scene()));
}

#[test]
fn nothing_at_all_can_be_explained() {
    let simulation = toy::simulation(&Group::default(), Timeline::default()).unwrap();
    let text = explain::text(&simulation);
    assert!(text.contains("nothing takes part") && text.contains("┌ each frame"), "{text}");
    check_markup(&explain::svg(&simulation));
}

#[test]
fn values_of_inputs_are_told_with_their_origin() {
    let inputs = toy::input_with(&[("weight", 3.0)], Some(("brake", vec![1.0, 2.0])));
    let setup = Group::default().with(balls("b", "input")).with(node(&BRAKE, "slow"));
    let simulation = toy::with_inputs(&setup, Timeline::default(), inputs).unwrap();
    let text = explain::text(&simulation);
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("weight = 3 kg of the input of b"), "{text}");
    assert!(words.contains("strength = channel `brake` of each element of b"), "{text}");
}

/// Inputs that are another at every time.
struct Moving(BTreeMap<String, Arc<Data>>);

impl Inputs for Moving {
    fn data(&self, name: &str, time: f64) -> Result<Arc<Data>> {
        self.0.data(name, time)
    }

    fn changes(&self, name: &str) -> bool {
        name == "two"
    }
}

#[test]
fn inputs_that_change_are_animated_values() {
    let setup = Group::default().with(balls("still", "one")).with(balls("moving", "two"));
    let inputs = Moving(toy::inputs());
    let simulation = toy::with_inputs(&setup, Timeline::default(), inputs).unwrap();
    let text = explain::text(&simulation);
    let line = text.lines().find(|line| line.contains("take animated values")).unwrap();
    assert!(line.ends_with(" moving"), "{line}");
}

#[test]
fn the_drawing_shows_every_task_once() {
    let simulation = scene();
    let drawing = explain::svg(&simulation);
    check_markup(&drawing);
    // Each Task's box says whose it is when one points at it; a kernel and animated values have boxes, too.
    let tasks = simulation.schedule().entries();
    for entry in tasks {
        let about = format!("<title>{}: {}", entry.owner, entry.declared.name);
        let wanted = tasks.iter().filter(|other| {
            other.owner == entry.owner && other.declared.name == entry.declared.name
        });
        assert_eq!(drawing.matches(&about).count(), wanted.count(), "{about}");
    }
    for (stage, ..) in Stage::TABLE {
        assert!(drawing.contains(&format!(">{stage}</text>")), "{stage}");
    }
    for words in ["paint by speed", "take animated values", "each Newton iteration", "left out"] {
        assert!(drawing.contains(words), "{words}");
    }
}

/// Names that try to break out of their place, and more Tasks than fit in a row.
fn hostile_scene() -> Simulation {
    let evil = "</text><script>alert(1)</script>&amp;\"'\u{0}\n\u{202e}\u{1b}[2J";
    let mut setup = Group::new("").with(Group::new(evil).with(balls(evil, "two")));
    for n in 0..60 {
        setup = setup.with(node(&PULL, &format!("{evil}{}", "long ".repeat(n))));
    }
    toy::simulation(&setup, Timeline::default()).unwrap()
}

#[test]
fn hostile_names_stay_names() {
    let simulation = hostile_scene();
    let drawing = explain::svg(&simulation);
    check_markup(&drawing);
    assert!(!drawing.contains("<script"));
    for page in [drawing, explain::text(&simulation)] {
        let hidden = |c: &char| (c.is_control() && *c != '\n') || *c == '\u{202e}';
        assert_eq!(page.chars().find(hidden), None);
    }
}

/// Every tag is closed by its own name, and nothing else looks like a tag.
fn check_markup(text: &str) {
    let mut open: Vec<&str> = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find('<') {
        assert!(!rest[..at].contains('>'), "a stray > in {:?}", &rest[..at]);
        let (tag, after) = rest[at + 1..].split_once('>').expect("a tag that ends");
        assert!(!tag.contains('<') && tag.matches('"').count() % 2 == 0, "{tag:?}");
        if let Some(name) = tag.strip_prefix('/') {
            assert_eq!(open.pop(), Some(name));
        } else if !tag.ends_with('/') {
            open.push(tag.split_whitespace().next().unwrap_or(tag));
        }
        rest = after;
    }
    assert!(open.is_empty() && rest.trim().is_empty(), "{open:?} {rest:?}");
    assert!(text.starts_with("<svg ") && !text.contains("href"), "a file of its own");
}

/// Writes both pages to a folder, to be looked at: `UNDINE_EXPLAIN=/tmp cargo test -p undine-sim explain`.
#[test]
fn pages_can_be_looked_at() {
    let Some(folder) = std::env::var_os("UNDINE_EXPLAIN") else { return };
    let folder = std::path::Path::new(&folder);
    std::fs::write(folder.join("explain.txt"), explain::text(&scene())).unwrap();
    std::fs::write(folder.join("explain.svg"), explain::svg(&scene())).unwrap();
    std::fs::write(folder.join("hostile.svg"), explain::svg(&hostile_scene())).unwrap();
}
