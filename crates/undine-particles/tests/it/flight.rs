//! Flight under constant forces.

use crate::scene::{gravity, input, particles, positions, run, simulation, store, timeline};
use undine_core::glam::DVec3;
use undine_schema::setup::Group;
use undine_sim::input::Data;

/// x = x₀ + v₀t + ½gt², for any number of substeps, to what `f32` offsets from Buckets hold.
#[test]
fn a_thrown_ball_follows_its_parabola() {
    let setup =
        Group::default().with(particles().set("velocity", [3.0, 4.0, -1.0])).with(gravity());
    for substeps in [1, 4] {
        let points = Data::points(vec![DVec3::new(0.3, 2.0, 100.0)]);
        let mut simulation = simulation(&setup, input("cloud", points), timeline(substeps));
        run(&mut simulation, 24);
        let position = positions(store(&simulation, 0))[0];
        let wanted = DVec3::new(3.3, 2.0 + 4.0 - 0.5 * 9.80665, 99.0);
        assert!(position.distance(wanted) < 2e-5, "{position} is not {wanted}");
    }
}
