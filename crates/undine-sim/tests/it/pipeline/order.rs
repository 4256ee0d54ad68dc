//! The order of evaluation is that of Algorithm 1 of Loki, and what would make order matter is refused.

use crate::toy::{self, BRAKE, MEDDLER, PULL, balls, node};
use std::time::Duration;
use undine_schema::setup::Group;
use undine_sim::error::Place;
use undine_sim::report::Observer;
use undine_sim::task::Use;
use undine_sim::{SimError, Stage, Timeline};

/// Writes down which Task ran when.
#[derive(Default)]
struct Log(Vec<(Stage, String)>);

impl Observer for Log {
    fn task(&mut self, place: &Place, _: Duration) {
        self.0.push((place.stage, place.owner.clone()));
    }
}

#[test]
fn children_run_before_parents_in_file_order_and_objects_before_actions() {
    let group = |name: &str| {
        Group::new(name)
            .with(node(&BRAKE, "force"))
            .with(node(&MEDDLER, "operator"))
            .with(balls("first", "one"))
            .with(balls("second", "one"))
    };
    let setup = group("").with(group("a").with(group("inner"))).with(group("b"));
    let mut simulation = toy::simulation(&setup, Timeline::default()).unwrap();
    let mut log = Log::default();
    simulation.advance_frame(&mut log, |_, _| Ok(())).unwrap();
    assert!(log.0.is_sorted_by_key(|(stage, _)| *stage));
    let at = |stage: Stage| -> Vec<&str> {
        log.0.iter().filter(|(at, _)| *at == stage).map(|(_, owner)| owner.as_str()).collect()
    };
    let groups = ["a/inner/", "a/", "b/", ""];
    let of_each = |names: &[&str]| -> Vec<String> {
        groups
            .iter()
            .flat_map(|group| names.iter().map(move |name| format!("{group}{name}")))
            .collect()
    };
    assert_eq!(at(Stage::Predict), of_each(&["first", "first", "second", "second"]));
    assert_eq!(at(Stage::ChoosePoints), of_each(&["operator"]));
    assert_eq!(at(Stage::AddForces), of_each(&["force"]));
    assert_eq!(at(Stage::SolveAlone), of_each(&["first", "second"]));
}

fn meddlers(how: &[&str]) -> Result<undine_sim::Simulation, SimError> {
    let setup = Group::default().with(balls("b", "two"));
    let meddler = |n: usize, how: &str| node(&MEDDLER, &format!("m{n}")).set("how", how);
    let add = |setup: Group, (n, how): (usize, &&str)| setup.with(meddler(n, how));
    toy::simulation(&how.iter().enumerate().fold(setup, add), Timeline::default())
}

#[test]
fn two_tasks_of_a_stage_may_not_touch_what_one_of_them_writes() {
    for (one, other, uses) in [
        ("write", "write", [Use::Write, Use::Write]),
        ("read", "write", [Use::Read, Use::Write]),
        ("write", "read", [Use::Write, Use::Read]),
        ("add", "write", [Use::Accumulate, Use::Write]),
        ("add", "read", [Use::Accumulate, Use::Read]),
    ] {
        let error = meddlers(&[one, other]).err().unwrap();
        let SimError::Conflict { stage, channel, tasks } = &error else { panic!("{error}") };
        assert_eq!((*stage, channel.as_str()), (Stage::ChoosePoints, "b.v"));
        let [use_of_one, use_of_other] = uses;
        let wanted =
            [("m0".to_owned(), "meddle", use_of_one), ("m1".to_owned(), "meddle", use_of_other)];
        assert_eq!(**tasks, wanted);
    }
    let said = meddlers(&["read", "write"]).err().unwrap().to_string();
    let wanted = "at Stage ChoosePoints, Task \"meddle\" of m0 reads channel b.v, and Task \"meddle\" of m1 writes it; \
                  one of them belongs at another Stage";
    assert_eq!(said, wanted);
}

#[test]
fn readers_and_those_who_add_go_together() {
    assert!(meddlers(&["add", "add", "add"]).is_ok());
    assert!(meddlers(&["read", "read", "everywhere"]).is_ok());
    assert!(meddlers(&["write"]).is_ok());
}

#[test]
fn a_task_at_a_user_facing_stage_is_refused() {
    let error = meddlers(&["user-facing"]).err().unwrap();
    let SimError::UserFacing { owner, task, stage } = &error else { panic!("{error}") };
    assert_eq!((owner.as_str(), *task, *stage), ("m0", "step in", Stage::BeginSubstep));
}

#[test]
fn forces_of_one_stage_add_up() {
    let setup = Group::default()
        .with(balls("b", "one"))
        .with(node(&PULL, "down"))
        .with(node(&PULL, "up").set("acceleration", [0.0, 10.0, 0.0]))
        .with(node(&PULL, "aside").set("acceleration", [24.0, 0.0, 0.0]));
    let mut simulation = toy::simulation(&setup, Timeline::default()).unwrap();
    toy::run(&mut simulation, 1).unwrap();
    let v = toy::velocities(&simulation.world, "b")[0];
    assert!((v.x - 1.0).abs() < 1e-6 && v.y.abs() < 1e-6, "{v}");
}
