//! Frames, substeps, and where they end.

use crate::toy::{self, PULL, balls, node};
use std::sync::{Arc, Mutex};
use undine_schema::setup::Group;
use undine_sim::newton::NewtonSettings;
use undine_sim::report::{Observer, SubstepReport};
use undine_sim::timeline::Substeps;
use undine_sim::{Moment, SimError, Simulation, Stage, Timeline};

fn falling(timeline: Timeline, longest_step: f64) -> Simulation {
    let setup = Group::default()
        .with(Group::new("g").with(balls("b", "one").set("longest-step", longest_step)))
        .with(node(&PULL, "pull"));
    toy::simulation(&setup, timeline).unwrap()
}

/// Every moment at which a substep begins.
fn moments(simulation: &mut Simulation) -> Arc<Mutex<Vec<Moment>>> {
    let moments = Arc::new(Mutex::new(Vec::new()));
    let list = moments.clone();
    let note = move |_: &mut undine_sim::World, now: &Moment| {
        list.lock().unwrap().push(*now);
        Ok(())
    };
    simulation.add_kernel(Stage::BeginSubstep, "note the moment", note).unwrap();
    moments
}

#[test]
fn frames_count_from_any_first_one_and_time_from_zero() {
    let timeline = Timeline { first: 1001, last: 1003, ..Timeline::default() };
    let mut simulation = falling(timeline, 0.0);
    let moments = moments(&mut simulation);
    assert_eq!(simulation.clock().frame, 1001);
    toy::run(&mut simulation, 2).unwrap();
    assert_eq!(simulation.clock().frame, 1003);
    let moments = moments.lock().unwrap();
    let times: Vec<(i64, f64)> = moments.iter().map(|now| (now.frame, now.time)).collect();
    assert_eq!(times, [(1002, 0.0), (1003, 1.0 / 24.0)]);
}

#[test]
fn a_preroll_comes_before_time_zero() {
    let timeline = Timeline { first: 1001, preroll: 3, ..Timeline::default() };
    let mut simulation = falling(timeline, 0.0);
    let moments = moments(&mut simulation);
    assert_eq!(simulation.clock().frame, 998);
    toy::run(&mut simulation, 4).unwrap();
    let moments = moments.lock().unwrap();
    assert_eq!(moments[0].time, -3.0 / 24.0);
    assert_eq!(moments.iter().map(|now| now.frame).collect::<Vec<_>>(), [999, 1000, 1001, 1002]);
    assert_eq!(moments[3].time, 0.0);
}

#[test]
fn slow_motion_takes_shorter_steps() {
    let timeline = Timeline { time_scale: 0.25, fps: 25.0, ..Timeline::default() };
    let mut simulation = falling(timeline, 0.0);
    toy::run(&mut simulation, 100).unwrap();
    // A second of simulated time in four of film.
    let v = toy::velocities(&simulation.world, "g/b")[0].y;
    assert!((v + 10.0).abs() < 1e-4, "{v}");
}

#[test]
fn fixed_substeps_divide_a_frame_evenly() {
    for count in [1, 3, 7, 10] {
        let substeps = Substeps::Fixed(count);
        // Objects are not asked.
        let mut simulation = falling(Timeline { substeps, ..Timeline::default() }, 1e-9);
        let moments = moments(&mut simulation);
        toy::run(&mut simulation, 2).unwrap();
        let moments = moments.lock().unwrap();
        assert_eq!(moments.len() as u32, 2 * count);
        for (n, now) in moments.iter().enumerate() {
            let step = 1.0 / 24.0 / f64::from(count);
            assert!((now.step - step).abs() < 1e-15 && now.count == n as u64);
            assert_eq!(now.substep, n as u32 % count);
        }
        assert_eq!(moments[count as usize].time, 1.0 / 24.0);
    }
}

#[test]
fn adaptive_substeps_follow_objects_and_end_exactly_with_the_frame() {
    let frame = 1.0 / 24.0;
    for (longest, wanted) in [
        (0.0, 2),
        (frame, 2),
        (frame / 2.0, 2),
        (frame / 4.5, 6),
        (frame / 6.0, 6),
        (frame / 8.0, 8),
    ] {
        let substeps = Substeps::Adaptive { least: 2, most: 20, cfl: 1.0 };
        let mut simulation = falling(Timeline { substeps, ..Timeline::default() }, longest);
        let moments = moments(&mut simulation);
        toy::run(&mut simulation, 3).unwrap();
        let moments = moments.lock().unwrap();
        assert_eq!(moments.len(), 3 * wanted, "steps of {longest} s");
        for (n, now) in moments.iter().enumerate() {
            assert!((now.step - frame / wanted as f64).abs() < 1e-14, "even steps");
            if n % wanted == 0 {
                let begin = simulation.timeline().time(now.frame - 1);
                assert_eq!(now.time.to_bits(), begin.to_bits(), "a frame begins at its time");
            }
        }
        // Together the steps are as long as the time that passed.
        let v = toy::velocities(&simulation.world, "g/b")[0].y;
        assert!((v + 10.0 * 3.0 * frame).abs() < 1e-5, "{v}");
    }
}

#[test]
fn too_many_substeps_are_an_error_that_names_who_asks() {
    let substeps = Substeps::Adaptive { least: 1, most: 50, cfl: 1.0 };
    let mut simulation = falling(Timeline { substeps, ..Timeline::default() }, 1e-6);
    let error = toy::run(&mut simulation, 1).unwrap_err();
    let SimError::TooManySubsteps { wanted, most: 50, object, step } = error.cause() else {
        panic!("{error}")
    };
    assert!(*wanted > 41_666.0 && object == "g/b" && *step == 1e-6, "{error}");
}

#[test]
fn steps_of_no_length_are_refused() {
    let substeps = Substeps::Adaptive { least: 1, most: 50, cfl: 1.0 };
    let timeline = Timeline { substeps, ..Timeline::default() };
    for longest in [0.0, -0.0, -1.0, f64::NAN, f64::NEG_INFINITY, f64::MIN_POSITIVE] {
        let refused = timeline.next_step(0.1, longest, "it");
        assert!(matches!(refused, Err(SimError::TooManySubsteps { .. })), "{longest}: {refused:?}");
    }
    assert_eq!(timeline.next_step(0.1, f64::INFINITY, "it").unwrap(), 0.1);
}

#[test]
fn moments_between_frames_are_written_in_order() {
    let substeps = Substeps::Fixed(3);
    let timeline = Timeline { substeps, outputs_per_frame: 4, ..Timeline::default() };
    let mut simulation = falling(timeline, 0.0);
    let mut written = Vec::new();
    let write = |simulation: &mut Simulation, output: u32| {
        written.push((output, toy::velocities(&simulation.world, "g/b")[0].y));
        Ok(())
    };
    simulation.advance_frame(&mut (), write).unwrap();
    assert_eq!(written.iter().map(|(output, _)| *output).collect::<Vec<_>>(), [0, 1, 2, 3]);
    for (output, v) in written {
        let time = f64::from(output + 1) / 4.0 / 24.0;
        assert!((v + 10.0 * time).abs() < 1e-6, "output {output}: {v}");
    }
}

/// Stops after so many substeps.
struct Impatient {
    left: u32,
    seen: Vec<(u32, u32)>,
}

impl Observer for Impatient {
    fn substep(&mut self, report: &SubstepReport) {
        self.left -= 1;
        self.seen.push((report.substep, report.iterations));
    }

    fn should_stop(&self) -> bool {
        self.left == 0
    }
}

#[test]
fn an_observer_interrupts_after_a_whole_substep() {
    let timeline = Timeline { substeps: Substeps::Fixed(5), ..Timeline::default() };
    let mut simulation = falling(timeline, 0.0);
    let mut observer = Impatient { left: 3, seen: Vec::new() };
    let error = simulation.advance_frame(&mut observer, |_, _| panic!("no frame")).unwrap_err();
    assert!(matches!(error, SimError::Interrupted), "{error}");
    assert_eq!(observer.seen, [(0, 1), (1, 1), (2, 1)]);
    // The frame does not count as made.
    assert_eq!(simulation.clock().frame, 1);
}

/// Writes down how long each substep was, and why.
#[derive(Default)]
struct Reasons(Vec<(f64, f64, Option<String>)>);

impl Observer for Reasons {
    fn substep(&mut self, report: &SubstepReport) {
        self.0.push((report.step, report.cfl, report.asked_by.clone()));
    }
}

#[test]
fn a_substep_tells_its_courant_number_and_who_asked_for_it() {
    let adaptive = Substeps::Adaptive { least: 1, most: 100, cfl: 2.0 };
    let mut simulation = falling(Timeline { substeps: adaptive, ..Timeline::default() }, 0.01);
    let mut reasons = Reasons::default();
    simulation.advance_frame(&mut reasons, |_, _| Ok(())).unwrap();
    // A frame of 1/24 s in steps of at most 10 ms: five of 1/120 s, each 5/6 of what two voxels allow.
    assert_eq!(reasons.0.len(), 5);
    for (step, cfl, asked_by) in &reasons.0 {
        assert!((step - 1.0 / 120.0).abs() < 1e-12 && (cfl - 2.0 / 1.2).abs() < 1e-9);
        assert_eq!(asked_by.as_deref(), Some("g/b"));
    }
    let fixed = Timeline { substeps: Substeps::Fixed(2), ..Timeline::default() };
    let mut reasons = Reasons::default();
    falling(fixed, 0.01).advance_frame(&mut reasons, |_, _| Ok(())).unwrap();
    // Nobody asked; and half a frame is more than twice what one voxel allows.
    let wanted = (1.0 / 48.0) / 0.01;
    assert!(reasons.0.iter().all(|(_, cfl, by)| (cfl - wanted).abs() < 1e-9 && by.is_none()));
}

#[test]
fn newton_iterations_end_when_nothing_changes() {
    let newton = NewtonSettings { iterations: 5, ..NewtonSettings::default() };
    let mut simulation = falling(Timeline { newton, ..Timeline::default() }, 0.0);
    let mut observer = Impatient { left: 9, seen: Vec::new() };
    simulation.advance_frame(&mut observer, |_, _| Ok(())).unwrap();
    // Toys tell of no change, and are taken at their word.
    assert_eq!(observer.seen, [(0, 1)]);
    let stir = |world: &mut undine_sim::World, now: &Moment| {
        world.largest_change = if now.iteration < 2 { 1.0 } else { 0.0 };
        Ok(())
    };
    simulation.add_kernel(Stage::BeginIteration, "stir", stir).unwrap();
    let mut observer = Impatient { left: 9, seen: Vec::new() };
    simulation.advance_frame(&mut observer, |_, _| Ok(())).unwrap();
    assert_eq!(observer.seen, [(0, 3)]);
}
