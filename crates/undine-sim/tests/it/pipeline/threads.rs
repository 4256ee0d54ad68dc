//! The same bytes for any number of threads.

use crate::toy::{self, BRAKE, POOL, PULL, SWIRL, balls, node};
use undine_schema::setup::Group;
use undine_sim::registry::digests;
use undine_sim::timeline::Substeps;
use undine_sim::{SimError, Timeline};

#[test]
fn threads_do_not_change_a_bit() {
    let setup = Group::default()
        .with(balls("b", "many").set("velocity", [3.0, 0.0, 1.0]))
        .with(node(&POOL, "p").set("flow", [0.0, 1.0, 0.0]))
        .with(node(&PULL, "pull"))
        .with(node(&BRAKE, "brake"))
        .with(node(&SWIRL, "swirl").set("strength", 40.0));
    let state = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let timeline = Timeline { substeps: Substeps::Fixed(3), ..Timeline::default() };
            let mut simulation = toy::simulation(&setup, timeline)?;
            let start = digests(&simulation.world)?;
            toy::run(&mut simulation, 5)?;
            Ok::<_, SimError>((start, digests(&simulation.world)?))
        })
        .unwrap()
    };
    let (start, one) = state(1);
    let (_, two) = state(2);
    assert_ne!(start, one);
    assert_eq!(one, two);
}
