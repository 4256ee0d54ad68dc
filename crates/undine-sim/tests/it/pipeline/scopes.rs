//! Values come from the narrowest scope, and Actions reach what is in their Group and below.

use crate::toy::{self, BRAKE, PULL, balls, node};
use std::collections::BTreeMap;
use std::sync::Arc;
use undine_core::glam::DVec3;
use undine_schema::setup::{Group, Origin};
use undine_schema::{Setting, Value};
use undine_sim::input::Data;
use undine_sim::{Simulation, Timeline, Values};

/// Levels of scope, the widest first.
#[derive(Clone, Copy, PartialEq, PartialOrd, Debug)]
enum Level {
    Default,
    Outer,
    Nearest,
    Behavior,
    Object,
    Element,
}

const LEVELS: [(Level, f64); 6] = [
    (Level::Default, 0.0),
    (Level::Outer, 2.0),
    (Level::Nearest, 3.0),
    (Level::Behavior, 4.0),
    (Level::Object, 5.0),
    (Level::Element, 6.0),
];

/// A setup in which `parameter` of a Behavior of this kind is set on every level up to `narrowest`.
fn set_up_to(
    narrowest: Level,
    parameter: &str,
    channel: &str,
    force: bool,
) -> (Group, BTreeMap<String, Arc<Data>>) {
    let value = |level: Level| LEVELS.iter().find(|(one, _)| *one == level).unwrap().1;
    let set = |level: Level| (level <= narrowest).then(|| value(level));
    let mut behavior = if force { node(&BRAKE, "it") } else { balls("it", "input") };
    let (mut inner, mut outer) = (Group::new("inner"), Group::new("outer"));
    for (settings, level) in [
        (&mut behavior.settings, Level::Behavior),
        (&mut inner.settings, Level::Nearest),
        (&mut outer.settings, Level::Outer),
    ] {
        if let Some(value) = set(level) {
            settings.insert(parameter.to_owned(), value.into());
        }
    }
    if force {
        inner = inner.with(balls("balls", "input").set("velocity", [1.0, 0.0, 0.0]));
    }
    let attributes: Vec<(&str, f64)> =
        set(Level::Object).map(|v| (channel, v)).into_iter().collect();
    // The elements differ from each other.
    let elements = set(Level::Element).map(|v| (channel, vec![v, v + 1.0]));
    let inputs = toy::input_with(&attributes, elements);
    (Group::default().with(outer.with(inner.with(behavior))), inputs)
}

#[test]
fn the_narrowest_value_of_an_object_wins() {
    for (level, value) in LEVELS {
        let (setup, inputs) = set_up_to(level, "weight", "weight", false);
        let simulation = toy::with_inputs(&setup, Timeline::default(), inputs).unwrap();
        let mass = toy::numbers(&simulation.world, "outer/inner/it", "mass");
        let wanted = match level {
            Level::Default => [1.0, 1.0],
            Level::Element => [value, value + 1.0],
            _ => [value, value],
        };
        assert_eq!(mass, wanted, "{level:?}");
    }
}

/// One step of the brake: v = m / (m + k Δt).
#[test]
fn the_narrowest_value_of_a_varying_force_wins() {
    for (level, value) in LEVELS {
        let (setup, inputs) = set_up_to(level, "strength", "brake", true);
        let mut simulation = toy::with_inputs(&setup, Timeline::default(), inputs).unwrap();
        toy::run(&mut simulation, 1).unwrap();
        let strengths = match level {
            Level::Default => [0.5, 0.5],
            Level::Element => [value, value + 1.0],
            _ => [value, value],
        };
        let velocities = toy::velocities(&simulation.world, "outer/inner/balls");
        for (v, strength) in velocities.iter().zip(strengths) {
            let wanted = DVec3::new(1.0 / (1.0 + strength / 24.0), 0.0, 0.0);
            assert!((*v - wanted).length() < 1e-6, "{level:?}: {v}, wanted {wanted}");
        }
    }
}

#[test]
fn a_value_knows_where_it_comes_from() {
    let origins = [Origin::Default, Origin::Group, Origin::Group, Origin::Behavior, Origin::Object];
    for ((level, value), wanted) in LEVELS.into_iter().zip(origins) {
        let (setup, inputs) = set_up_to(level, "weight", "weight", false);
        let simulation = toy::with_inputs(&setup, Timeline::default(), inputs).unwrap();
        let entry = &simulation.tree().behaviors[0];
        let attributes = &simulation.world.object(entry.made[0]).attributes;
        let values = Values::new(&entry.scope, 0.0).of_object(attributes);
        let value = if level == Level::Default { 1.0 } else { value };
        assert_eq!(values.value("weight"), Some((Value::Number(value), wanted)), "{level:?}");
        if level < Level::Object {
            let setting = Setting::Constant(Value::Number(value));
            assert_eq!(entry.scope.setting("weight", None), Some((setting, wanted)));
        }
    }
}

#[test]
fn a_channel_is_held_to_the_bounds_of_its_parameter() {
    for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let inputs = toy::input_with(&[], Some(("weight", vec![1.0, bad])));
        let setup = Group::default().with(balls("b", "input"));
        let error = toy::with_inputs(&setup, Timeline::default(), inputs).err().unwrap();
        assert!(error.to_string().contains("at element 1"), "{bad}: {error}");
    }
}

/// What fell, by path.
fn fallen(simulation: &mut Simulation) -> Vec<(String, bool)> {
    toy::run(simulation, 1).unwrap();
    let paths: Vec<String> = simulation.objects().map(|(path, _)| path.to_owned()).collect();
    let fell = |path: &String| toy::velocities(&simulation.world, path)[0].y < 0.0;
    paths.iter().map(|path| (path.clone(), fell(path))).collect()
}

#[test]
fn a_force_reaches_its_group_and_what_is_below() {
    let tree = |force_at: &str| {
        let with_force = |group: Group| match group.name == force_at {
            true => group.with(node(&PULL, "pull")),
            false => group,
        };
        let nephew = with_force(Group::new("nephew").with(balls("b", "one")));
        let left = with_force(Group::new("left").with(balls("b", "one")).with(nephew));
        let right = with_force(Group::new("right").with(balls("b", "one")));
        with_force(Group::default().with(left).with(right).with(balls("b", "one")))
    };
    for (force_at, wanted) in [
        ("", [true, true, true, true]),
        ("left", [true, true, false, false]),
        ("nephew", [true, false, false, false]),
        ("right", [false, false, true, false]),
    ] {
        let mut simulation = toy::simulation(&tree(force_at), Timeline::default()).unwrap();
        let paths = ["left/nephew/b", "left/b", "right/b", "b"];
        let wanted: Vec<_> = paths.into_iter().map(str::to_owned).zip(wanted).collect();
        assert_eq!(fallen(&mut simulation), wanted, "a Force in {force_at:?}");
    }
}
