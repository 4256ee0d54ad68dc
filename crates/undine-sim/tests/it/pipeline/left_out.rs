//! A disabled or empty Group takes along whatever depends on it, and nothing else: one setup serves many scenes.

use crate::toy::{self, MEDDLER, PULL, balls, node};
use std::collections::BTreeMap;
use undine_schema::setup::Group;
use undine_sim::{Simulation, Timeline};

/// Who takes no part, and why.
fn left_out(simulation: &Simulation) -> BTreeMap<String, String> {
    let behaviors = simulation.tree().behaviors.iter();
    behaviors.filter_map(|entry| Some((entry.path.clone(), entry.left_out.clone()?))).collect()
}

fn wanted(list: &[(&str, &str)]) -> BTreeMap<String, String> {
    list.iter().map(|(path, why)| ((*path).to_owned(), (*why).to_owned())).collect()
}

#[test]
fn a_disabled_group_takes_its_dependants_along() {
    let snow = Group::new("snow")
        .with(balls("flakes", "two"))
        .with(Group::new("drift").with(balls("heap", "two")).with(node(&PULL, "sink")));
    let setup = Group::default()
        .with(snow.disabled())
        .with(balls("rain", "two"))
        .with(balls("slush", "two").set("near", "snow/flakes"))
        .with(balls("ice", "two").set("near", "slush"))
        .with(node(&PULL, "to-ice").set("toward", "ice"))
        .with(node(&PULL, "to-snow").set("toward", "snow"))
        .with(node(&PULL, "gravity"));
    let mut simulation = toy::simulation(&setup, Timeline::default()).unwrap();
    let chain =
        "it depends on what is not there: `snow/flakes` takes no part: its Group is disabled";
    let longer = format!("it depends on what is not there: `slush` takes no part: {chain}");
    let longest = format!("it depends on what is not there: `ice` takes no part: {longer}");
    assert_eq!(
        left_out(&simulation),
        wanted(&[
            ("snow/flakes", "its Group is disabled"),
            ("snow/drift/heap", "its Group is disabled"),
            ("snow/drift/sink", "its Group is disabled"),
            ("slush", chain),
            ("ice", &longer),
            ("to-ice", &longest),
            ("to-snow", "it depends on what is not there: Group `snow` is disabled"),
        ])
    );
    toy::run(&mut simulation, 1).unwrap();
    let fell = toy::velocities(&simulation.world, "rain")[0].y;
    assert!((fell + 10.0 / 24.0).abs() < 1e-6, "{fell}");
}

#[test]
fn an_empty_group_takes_its_dependants_along() {
    let setup = Group::default()
        .with(Group::new("hail").with(balls("stones", "none")).with(node(&PULL, "own")))
        .with(Group::new("hollow"))
        .with(balls("rain", "two"))
        .with(balls("splash", "two").set("near", "hail"))
        .with(node(&PULL, "to-stones").set("toward", "hail/stones"))
        .with(node(&PULL, "to-hollow").set("toward", "hollow"))
        .with(node(&MEDDLER, "off").disabled())
        .with(node(&PULL, "gravity"));
    let simulation = toy::simulation(&setup, Timeline::default()).unwrap();
    let none = "there is nothing in its input";
    assert_eq!(
        left_out(&simulation),
        wanted(&[
            ("hail/stones", none),
            ("hail/own", "there is nothing in its scope that it acts on"),
            ("splash", "it depends on what is not there: Group `hail` is empty"),
            (
                "to-stones",
                &format!("it depends on what is not there: `hail/stones` takes no part: {none}"),
            ),
            ("to-hollow", "it depends on what is not there: Group `hollow` is empty"),
            ("off", "it is disabled"),
        ])
    );
}

#[test]
fn one_super_setup_serves_three_scenes() {
    let scene = |rain: &str, hail: &str| {
        let weather = |name: &str, input: &str| {
            Group::new(name).with(balls("drops", input)).with(node(&MEDDLER, "wind"))
        };
        let setup = Group::default()
            .with(weather("rain", rain))
            .with(weather("hail", hail))
            .with(balls("dents", "two").set("near", "hail"))
            .with(node(&PULL, "gravity"));
        let mut simulation = toy::simulation(&setup, Timeline::default()).unwrap();
        toy::run(&mut simulation, 1).unwrap();
        let objects: Vec<String> = simulation.objects().map(|(path, _)| path.to_owned()).collect();
        objects.join(" ")
    };
    assert_eq!(scene("two", "two"), "rain/drops hail/drops dents");
    assert_eq!(scene("two", "none"), "rain/drops");
    assert_eq!(scene("none", "two"), "hail/drops dents");
}

#[test]
fn what_names_nothing_and_what_needs_itself_is_refused() {
    let refused = |setup: Group| toy::simulation(&setup, Timeline::default()).err().unwrap();
    let nothing = refused(Group::default().with(balls("b", "two").set("near", "nowhere")));
    assert!(
        nothing.to_string().starts_with("b.near: there is nothing called `nowhere`"),
        "{nothing}"
    );
    let around = Group::default()
        .with(balls("a", "two").set("near", "b"))
        .with(balls("b", "two").set("near", "a"));
    let around = refused(around).to_string();
    assert!(around.starts_with("a: depends on itself"), "{around}");
}
