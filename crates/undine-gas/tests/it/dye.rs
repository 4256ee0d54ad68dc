//! Channels that a scene names: they come, are carried and are kept as smoke is.

use crate::scene::{Look, Scene, adaptive, air, ball, data, fixed, frames, stamp};
use std::io::Cursor;
use undine_core::glam::DVec3;
use undine_fluid::confinement;
use undine_schema::Value;
use undine_schema::setup::Behavior;
use undine_sim::Simulation;
use undine_sim::checkpoint::{Identity, State, load, save};
use undine_sim::input::Data;
use undine_sim::registry::digests;

/// How dense what is stamped is; no power of two, so that rounding would show.
const DENSE: f64 = 0.7;

/// A ball that is dyed as a whole.
fn dyed(centre: DVec3, radius: f64, dye: f64) -> Data {
    let mut data = data(ball(centre, radius));
    data.attributes.insert("dye".to_owned(), Value::Number(dye));
    data
}

/// Dyed smoke that rises against a ball.
fn plume(fine: bool) -> Simulation {
    Scene::default()
        .with_data("ember", dyed(DVec3::ZERO, 0.15, DENSE))
        .with_wall("ball", data(ball(DVec3::new(0.03, 0.45, 0.0), 0.15)))
        .with(
            air(0.05).set("channels", "dye").set("fine-smoke", fine).set("advection", "maccormack"),
        )
        .with(stamp("ember").set("density", DENSE).set("temperature", 500.0))
        .with(Behavior::new(&confinement::DECLARATION))
        .within_walls()
        .under_pressure()
        .under_gravity()
        .simulation(adaptive(24.0, 2.0))
}

/// The bits of a channel, cell by cell.
fn bits(simulation: &Simulation, channel: &str) -> Vec<u64> {
    let mut found = Vec::new();
    Look::at_cargo(simulation).each(channel, |_, value| found.push(value.to_bits()));
    found
}

/// Dye and smoke begin alike outside, are stamped alike and go the same ways: so they stay the same numbers.
#[test]
fn dye_that_is_stamped_like_smoke_has_its_bits() {
    for fine in [false, true] {
        let mut simulation = plume(fine);
        simulation.audited(true);
        frames(&mut simulation, 1);
        simulation.audited(false);
        frames(&mut simulation, 7);
        let look = Look::at_cargo(&simulation);
        let risen = look.middle("dye").y;
        assert!(risen > 0.02, "it goes up by {risen} m");
        assert!(look.total("dye") > DENSE * 0.014, "{} m³", look.total("dye"));
        assert!(bits(&simulation, "dye") == bits(&simulation, "density"), "fine: {fine}");
    }
}

/// What is in the checkpoint is all that the rest of the run needs.
#[test]
fn dyed_air_that_pauses_goes_on_to_the_same_bytes() {
    for fine in [false, true] {
        let kept = |simulation: &Simulation| {
            let mut all = digests(&simulation.world).unwrap();
            all.iter_mut().for_each(|store| store.channels.retain(|channel| channel.checkpoint));
            all
        };
        let mut whole = plume(fine);
        frames(&mut whole, 2);
        let identity = Identity { build: "test".into(), scene: "dye".into() };
        let state = State { frame: 3, time: 0.0, step: 0, values: Default::default() };
        let mut bytes = Vec::new();
        save(&identity, &state, &whole.world, &mut bytes).unwrap();
        let clock = whole.clock();
        frames(&mut whole, 3);

        let mut paused = plume(fine);
        load(Some(&identity), &mut paused.world, &mut Cursor::new(&bytes)).unwrap();
        paused.set_clock(clock);
        frames(&mut paused, 3);
        assert_eq!(kept(&paused), kept(&whole));
        assert!(bits(&paused, "dye") == bits(&paused, "density"), "fine: {fine}");
    }
}

/// Air is where dye is as it is where smoke is: without any smoke, dye goes with the wind out of the Buckets that it began in. A dye may
/// be less than none.
#[test]
fn air_follows_dye_without_smoke() {
    for (dye, fine) in [(0.5, false), (-0.5, false), (0.5, true)] {
        let mut simulation = Scene::default()
            .with_data("puff", dyed(DVec3::splat(0.4), 0.2, dye))
            .with(
                air(0.1)
                    .set("velocity", [4.8, 0.0, 0.0])
                    .set("channels", "heat dye")
                    .set("fine-smoke", fine),
            )
            .with(stamp("puff").set("density", 0.0).set("end", 1e-6))
            .under_pressure()
            .simulation(fixed(24.0, 1));
        frames(&mut simulation, 13);
        let look = Look::at_cargo(&simulation);
        // 13 frames of 0.2 m.
        let at = look.middle("dye");
        assert!((at - DVec3::new(3.0, 0.4, 0.4)).length() < 0.02, "{at}");
        assert_eq!(look.total("heat"), 0.0);
    }
}
