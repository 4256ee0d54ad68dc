//! Constraints, their damping and their projection.

use crate::springs::{Distance, Joint, Spring, Weld};
use undine_core::glam::DVec3;
use undine_sim::constraint::Placed;
use undine_sim::constraint::harness::check_constraint;
use undine_sim::newton::rotation::exp;

fn crooked() -> [Placed; 2] {
    let placed = |x, turn| Placed { x, frame: exp(turn) };
    [
        placed(DVec3::new(0.3, -0.2, 0.9), DVec3::new(0.2, 0.5, -0.1)),
        placed(DVec3::new(-0.4, 0.1, 0.2), DVec3::new(-0.7, 0.1, 0.4)),
    ]
}

#[test]
fn a_spring_passes_all_checks_of_constraints() {
    let spring = Spring { length: 0.7, stiffness: 30.0 };
    check_constraint(&Distance, &spring, &crooked()).unwrap();
}

#[test]
fn a_weld_of_frames_passes_all_checks_of_constraints() {
    let at = crooked();
    let mut joint = Joint::between(&at, [100.0, 3.0]);
    joint.offset += DVec3::new(0.1, 0.0, 0.2);
    check_constraint(&Weld, &joint, &at).unwrap();
}
