//! What a Task changes is what it declares to change.

use crate::toy::{self, BRAKE, MEDDLER, POOL, PULL, SWIRL, balls, node};
use undine_schema::setup::Group;
use undine_sim::timeline::Timeline;

#[test]
fn honest_tasks_pass_the_audit() {
    let setup = Group::default()
        .with(balls("b", "many").set("glow", 1.0).set("velocity", [9.0, 0.0, 0.0]))
        .with(node(&POOL, "p"))
        .with(node(&PULL, "pull"))
        .with(node(&BRAKE, "brake"))
        .with(node(&SWIRL, "swirl"))
        .with(node(&MEDDLER, "meddler").set("how", "write"));
    let mut simulation = toy::simulation(&setup, Timeline::default()).unwrap();
    simulation.audited(true);
    toy::run(&mut simulation, 4).unwrap();
}

#[test]
fn a_task_that_writes_what_it_says_it_reads_is_found() {
    let setup = Group::default()
        .with(Group::new("g").with(balls("b", "two")).with(node(&MEDDLER, "m").set("how", "lie")));
    let mut simulation = toy::simulation(&setup, Timeline::default()).unwrap();
    toy::run(&mut simulation, 1).unwrap();
    simulation.audited(true);
    let found = toy::run(&mut simulation, 1).unwrap_err().to_string();
    let wanted = "g/m, \"look at velocities\" at Stage ChoosePoints, frame 3, substep 0: Task \"look at velocities\" of g/m changed \
                  channel g/b.v, which it declares neither to write nor to add to";
    assert_eq!(found, wanted);
}
