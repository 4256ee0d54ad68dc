//! Drag between strands and the air around them: what the one gains the other loses, and how much the law of rods says.

use crate::exchange::{AIR, Exchanged, exchanged, shared};
use std::collections::BTreeMap;
use std::sync::Arc;
use undine_actions::drag::Medium;
use undine_actions::drag::rod::Piece;
use undine_core::glam::{DMat3, DVec3};
use undine_core::memory::MemoryBudget;
use undine_core::mesh::{Curves, Strands};
use undine_geometry::{Pose, Shape};
use undine_schema::setup::{Behavior, Group};
use undine_sim::input::{Data, Geometry};
use undine_sim::timeline::Substeps;
use undine_sim::{Simulation, Timeline};

/// Strands in the middle of a cube of air of so many metres, and what acts on them.
struct Scene {
    strands: Vec<Vec<DVec3>>,
    rods: Behavior,
    air: Behavior,
    direction: &'static str,
    /// How many times the drag of nature.
    strength: f64,
    with_pressure: bool,
    /// Width of the air [m].
    width: f64,
    /// Length of a step [s].
    step: f64,
    iterations: usize,
}

impl Scene {
    /// The simulation, and the steps that it has made when it has made so many.
    fn after(self, steps: usize) -> (Simulation, Vec<Exchanged>) {
        let mut offsets = vec![0];
        for strand in &self.strands {
            offsets.push(offsets[offsets.len() - 1] + strand.len() as u32);
        }
        let curves = Strands::open(offsets).unwrap();
        let curves = Curves::new("rods", self.strands.concat(), curves).unwrap();
        let room = Shape::cuboid(DVec3::splat(0.5 * self.width)).unwrap();
        let room = room.moved(&Pose::IDENTITY).unwrap();
        let inputs: BTreeMap<String, Arc<Data>> = BTreeMap::from([
            ("rods".to_owned(), Arc::new(Data::new(Geometry::Curves(Arc::new(curves))))),
            ("room".to_owned(), Arc::new(Data::new(Geometry::Shape(Arc::new(room))))),
        ]);
        let drag = Behavior::new(&undine_actions::coupled::drag::DECLARATION);
        let setup = Group::default()
            .with(self.rods.named("rods").set("input", "rods"))
            .with(self.air.named("air").set("input", "room"))
            .with(Behavior::new(&undine_solid::curves::stretching::DECLARATION))
            .with(Behavior::new(&undine_solid::curves::bending::DECLARATION))
            .with(Behavior::new(&undine_solid::curves::twisting::DECLARATION))
            .with(drag.set("direction", self.direction).set("strength", self.strength));
        let setup = match self.with_pressure {
            true => setup
                .with(Behavior::new(&undine_fluid::pressure::DECLARATION))
                .with(Behavior::new(&undine_actions::coupled::buoyancy::DECLARATION)),
            false => setup,
        };
        exchanged(setup, inputs, (self.step, self.iterations), &[], steps)
    }
}

fn curves() -> Behavior {
    Behavior::new(&undine_solid::curves::object::DECLARATION)
}

fn air(voxel: f64) -> Behavior {
    Behavior::new(&undine_gas::air::DECLARATION).set("voxel", voxel).set("density", AIR)
}

/// A channel of vectors of the rods.
fn vectors(simulation: &Simulation, name: &str) -> Vec<DVec3> {
    let (_, points) = simulation.world.points.iter().next().unwrap();
    points.column(points.handle::<DVec3>(name).unwrap()).unwrap().to_vec()
}

/// Forty thin strands of 20 cm that lie every way and fly through still air together.
fn flying(direction: &'static str, iterations: usize) -> Scene {
    let strand = |n: usize| {
        let at = |k: usize| ((n * k) % 97) as f64 / 97.0 - 0.5;
        let way = DVec3::new(at(31), at(53), at(71)).normalize();
        let middle = 0.3 * DVec3::new(at(13), at(29), at(47));
        (0..=12).map(|k| middle + way * (0.2 * (f64::from(k) / 12.0 - 0.5))).collect()
    };
    Scene {
        strands: (1..=40).map(strand).collect(),
        rods: curves().set("radius", 80e-6).set("velocity", [4.0, -2.0, 3.0]),
        air: air(0.05),
        direction,
        strength: 1.0,
        with_pressure: false,
        width: 1.2,
        step: 1.0 / 48.0,
        iterations,
    }
}

/// Forces inside of rods move no momentum of all of them, so that what they lose is what drag takes: to the 1e-5 of single precision, along
/// each axis, in each step, with any number of iterations.
#[test]
fn in_each_step_the_impulse_on_rods_is_minus_that_on_the_air() {
    for iterations in [1, 4] {
        let (_, steps) = flying("both", iterations).after(6);
        assert_eq!(steps.len(), 6);
        for (n, Exchanged { solids: rods, air }) in steps.into_iter().enumerate() {
            let off = (rods + air).abs() / rods.abs();
            println!("{iterations} iterations, step {n}: {rods} {air} {off}");
            assert!(off.max_element() < 1e-5, "{iterations} iterations, step {n}: {rods} {air}");
        }
    }
}

/// The same with a pressure that answers, of which drag knows what it did in the step before; and a hundred times the drag, so that a step
/// brings strands and air to one velocity: nothing is ever faster than what was fastest, and both come to rest in each other.
#[test]
fn it_is_with_pressure_and_a_hundred_times_the_drag() {
    for strength in [1.0, 100.0] {
        let scene = Scene { strength, with_pressure: true, ..flying("both", 1) };
        let (simulation, steps) = scene.after(8);
        for (n, Exchanged { solids: rods, air }) in steps.iter().enumerate() {
            println!("{strength} times, step {n}: {rods} {air}");
            // Beside what was exchanged in the first step: later ones exchange less, and momentum of single precision is rounded as before.
            let off = (*rods + *air).length() / steps[0].solids.length();
            assert!(off < 1e-5, "{strength} times, step {n}: {rods} {air}");
        }
        let fastest = DVec3::new(4.0, -2.0, 3.0).length();
        let speeds = vectors(&simulation, "v").into_iter().map(DVec3::length);
        let most = speeds.fold(0.0, f64::max);
        println!("{strength} times: {most} m/s");
        assert!(most < fastest * (1.0 + 1e-6), "{strength} times: {most} m/s");
    }
}

/// Where only one side notices, the other one keeps its momentum: air every bit of it, and rods that feel nothing what forces inside of
/// them round off.
#[test]
fn one_way_drag_leaves_the_other_side_alone() {
    let (_, steps) = flying("to-solids", 1).after(3);
    for Exchanged { solids: rods, air } in steps {
        assert_eq!(air, DVec3::ZERO);
        assert!(rods.cmple(DVec3::ZERO) == DVec3::new(4.0, -2.0, 3.0).cmpge(DVec3::ZERO), "{rods}");
    }
    let scene = flying("to-fluids", 1);
    let step = scene.step;
    let (places, velocity) = (scene.strands.concat(), DVec3::new(4.0, -2.0, 3.0));
    let along = directions(&scene.strands);
    let (simulation, steps) = scene.after(1);
    let mass: f64 = 40.0 * 0.2 * 1300.0 * std::f64::consts::PI * 80e-6_f64.powi(2);
    assert!(steps[0].solids.length() < 1e-9 * mass * velocity.length(), "{}", steps[0].solids);
    assert!((vectors(&simulation, "v")[7] - velocity).length() < 1e-9 * velocity.length());
    // All of what they would feel at the velocity that they keep, where they fly to; single precision rounds it.
    let places: Vec<DVec3> = places.iter().map(|at| *at + step * velocity).collect();
    let resistances = resistances(&places, &along, 80e-6, velocity, 0.05, step);
    let wanted: DVec3 = resistances.iter().map(|k| step * (*k * velocity)).sum();
    assert!((steps[0].air - wanted).length() < 1e-5 * wanted.length(), "{} {wanted}", steps[0].air);
}

/// The pieces that the vertices of strands stand for [m].
fn directions(strands: &[Vec<DVec3>]) -> Vec<DVec3> {
    let of = |strand: &Vec<DVec3>| {
        let last = strand.len() - 1;
        let piece = |n: usize| 0.5 * (strand[(n + 1).min(last)] - strand[n.saturating_sub(1)]);
        (0..=last).map(piece).collect::<Vec<DVec3>>()
    };
    strands.iter().flat_map(of).collect()
}

/// K̂ = x K(x s) of all vertices [N s/m], from what it is said to be: K of the piece of a rod at the part x of the slip s that is left, which solves
/// x (1 + R K(x s)/K(s)) = 1, and R = Δt ΣK(s)/m with the sum over all that share faces of mass m = ρh³ with linear weights, the largest along the three
/// axes, as is the ratio of K.
fn resistances(
    places: &[DVec3],
    along: &[DVec3],
    radius: f64,
    relative: DVec3,
    voxel: f64,
    step: f64,
) -> Vec<DMat3> {
    let of = |&along: &DVec3| Piece { along, radius }.resistance(&Medium::AIR, relative);
    let plain: Vec<DMat3> = along.iter().map(of).collect();
    let ratio = |n: usize| {
        let sum = |axis: usize| {
            let each = |m: usize| {
                let row = plain[m].row(axis).abs().element_sum();
                step * row * shared(places[n], places[m], axis, voxel)
            };
            (0..places.len()).map(each).sum::<f64>() / (AIR * voxel.powi(3))
        };
        sum(0).max(sum(1)).max(sum(2))
    };
    let rows = |k: &DMat3| DVec3::from([0, 1, 2].map(|axis| k.row(axis).abs().element_sum()));
    let hat = |n: usize| {
        let (ratio, piece) = (ratio(n), Piece { along: along[n], radius });
        let at = |part: f64| piece.resistance(&Medium::AIR, part * relative);
        let (mut low, mut high) = (0.0, 1.0);
        for _ in 0..60 {
            let part: f64 = 0.5 * (low + high);
            let less = (rows(&at(part)) / rows(&plain[n])).max_element();
            *(if part * (1.0 + ratio * less) > 1.0 { &mut high } else { &mut low }) = part;
        }
        at(low) * low
    };
    (0..places.len()).map(hat).collect()
}

/// A rod of steel of 2 mm and 40 cm, clamped, along a wind of 5 m/s, askew in it, and across it (but along no plane of the grid).
///
/// In a step, the air loses Δt Σ K̂ (u_f − u_s), with the wind that blows when the step begins and the rod as it moves when it ends. The
/// last is known: nothing of the rod may be faster than without its clamp, Δt K u_f/m, which is 1e-2 of the wind in the long step, so that
/// u_s is taken to be 0 and half of that (it is held at one end) to be its error. In a short step K̂ is K, but for Δt ΣK/m, and the
/// whole rod is one piece: the law itself.
#[test]
fn a_clamped_rod_takes_out_of_the_wind_what_the_law_of_rods_says() {
    let (radius, length, edges, density) = (1e-3, 0.4, 16, 7850.0);
    let wind = DVec3::new(5.0, 0.0, 0.0);
    for degrees in [0.0_f64, 45.0, 90.0] {
        let turn = degrees.to_radians();
        let way = DVec3::new(turn.cos(), turn.sin() * 0.5_f64.cos(), turn.sin() * 0.5_f64.sin());
        let place = |n: usize| way * (length * (n as f64 / edges as f64 - 0.5)) + 0.013;
        let strand: Vec<DVec3> = (0..=edges).map(place).collect();
        for (voxel, step) in [(0.1, 1.0 / 480.0), (0.025, 1.0 / 24.0)] {
            let scene = Scene {
                strands: vec![strand.clone()],
                rods: curves()
                    .set("radius", radius)
                    .set("density", density)
                    .set("youngs", 2e11)
                    .set("roots", "clamped"),
                air: air(voxel).set("velocity", wind.to_array()),
                direction: "both",
                strength: 1.0,
                with_pressure: false,
                width: 0.8,
                step,
                iterations: 1,
            };
            let (_, steps) = scene.after(1);
            let found = -steps[0].air / step;
            let along = directions(std::slice::from_ref(&strand));
            let hat = resistances(&strand, &along, radius, -wind, voxel, step);
            let wanted: DVec3 = hat.iter().map(|k| *k * wind).sum();
            let whole = Piece { along: length * way, radius }.resistance(&Medium::AIR, -wind);
            let mass = density * std::f64::consts::PI * radius * radius * length;
            let moved = 0.5 * step * (whole * wind).length() / (mass * wind.length());
            let off = (found - wanted).length() / wanted.length();
            let from_law = (found - whole * wind).length() / (whole * wind).length();
            println!("{degrees}° {step}: {found} {wanted}, off {off} of {moved}, {from_law}");
            assert!(off < moved + 2e-4, "{degrees}° {step}: {found} {wanted}");
            if step < 0.01 {
                assert!(from_law < 5e-3, "{degrees}°: {found} {}", whole * wind);
            }
        }
    }
}

/// A straight rod that nothing holds, in a wind of 20 m/s that does not notice it. Each vertex has as much of its mass as of its length, so that it
/// flies as a whole: m (v − v₀) = Δt K(u − v) (u − v). Across the rod that is one equation in one unknown. Along it there is another one, with the
/// drag across known. The left sides rise with v and the right ones fall, so that bisection finds both.
///
/// Newton's method finds them to 1e-9 of the wind, with errors that are squared from one iteration to the next. Secants alone, K of the iterate with u − v
/// after it, would be off by 0.17, 0.12, 0.03 and 0.002 of it after 1, 2, 4 and 8 iterations across the rod: by half as much in each.
#[test]
fn newton_finds_the_implicit_velocity_of_a_rod_in_a_fast_wind() {
    let (radius, length, edges, density, step) = (80e-6, 0.2, 8, 1300.0, 1.0 / 24.0);
    let wind = DVec3::new(20.0, 0.0, 0.0);
    let mass = density * std::f64::consts::PI * radius * radius * length;
    for degrees in [0.0_f64, 45.0, 90.0] {
        let turn = degrees.to_radians();
        let way = DVec3::new(turn.cos(), turn.sin(), 0.0);
        let piece = Piece { along: length * way, radius };
        // Slip along a direction that is left of what the wind began with, which is what drag has not taken yet.
        let settled = |direction: DVec3, other: DVec3| {
            let start = wind.dot(direction);
            let (mut low, mut high) = (0.0, start);
            for _ in 0..200 {
                let middle = 0.5 * (low + high);
                let slip = other + middle * direction;
                let drag = (piece.resistance(&Medium::AIR, -slip) * slip).dot(direction);
                let is_high = step * drag > mass * (start - middle);
                *(if is_high { &mut high } else { &mut low }) = middle;
            }
            0.5 * (low + high)
        };
        let normal = DVec3::new(turn.sin(), -turn.cos(), 0.0);
        let across = settled(normal, DVec3::ZERO) * normal;
        let slip = across + settled(way, across) * way;
        let off = |iterations: usize| {
            let place = |n: usize| way * (length * (n as f64 / edges as f64 - 0.5)) - 0.4;
            let scene = Scene {
                strands: vec![(0..=edges).map(place).collect()],
                rods: curves().set("radius", radius).set("density", density),
                air: air(0.1).set("velocity", wind.to_array()),
                direction: "to-solids",
                strength: 1.0,
                with_pressure: false,
                width: 2.4,
                step,
                iterations,
            };
            let (simulation, _) = scene.after(1);
            let off = |v: DVec3| (v - (wind - slip)).length() / wind.length();
            vectors(&simulation, "v").into_iter().map(off).fold(0.0, f64::max)
        };
        let errors = [1, 2, 4, 8].map(off);
        println!("{degrees}°: slip {slip}, off by {errors:?} after 1, 2, 4 and 8 iterations");
        assert!(errors[2] < 1e-4 && errors[3] < 1e-6, "{degrees}°: {errors:?}");
    }
}

/// `drag` with a wind that is not simulated knows how a rod lies as well. A rod of steel that nothing holds gains Δt K (u − v), where v at the end
/// of the step is less than Δt K u/m, so that Δt/m times the larger of its resistances bounds what is missing: 1e-2. Balls of the same volume would be pushed along the wind, and by another force.
#[test]
fn a_wind_that_is_only_said_pushes_rods_as_the_law_of_rods_says() {
    let (radius, length, edges, density) = (1e-3, 0.4, 16, 7850.0);
    let (wind, step) = (DVec3::new(5.0, 0.0, 0.0), 1.0 / 24.0);
    for degrees in [0.0_f64, 45.0, 90.0] {
        let turn = degrees.to_radians();
        let way = DVec3::new(turn.cos(), turn.sin() * 0.5_f64.cos(), turn.sin() * 0.5_f64.sin());
        let place = |n: usize| way * (length * (n as f64 / edges as f64 - 0.5));
        let rods = curves().set("radius", radius).set("density", density).set("youngs", 2e11);
        let places = (0..=edges).map(place).collect();
        let strands = Strands::open(vec![0, edges as u32 + 1]).unwrap();
        let rod = Curves::new("rods", places, strands).unwrap();
        let inputs: BTreeMap<String, Arc<Data>> = BTreeMap::from([(
            "rods".to_owned(),
            Arc::new(Data::new(Geometry::Curves(Arc::new(rod)))),
        )]);
        let drag = Behavior::new(&undine_actions::drag::DECLARATION).set("wind", wind.to_array());
        let setup = Group::default()
            .with(rods.named("rods").set("input", "rods"))
            .with(Behavior::new(&undine_solid::curves::stretching::DECLARATION))
            .with(Behavior::new(&undine_solid::curves::bending::DECLARATION))
            .with(Behavior::new(&undine_solid::curves::twisting::DECLARATION))
            .with(drag);
        let timeline =
            Timeline { fps: 1.0 / step, substeps: Substeps::Fixed(1), ..Timeline::default() };
        let budget = MemoryBudget::unlimited();
        let kinds = undine::behaviors();
        let mut simulation =
            Simulation::new(&setup, &kinds, timeline, Arc::new(inputs), budget).unwrap();
        simulation.advance_frame(&mut (), |_, _| Ok(())).unwrap();
        let found = simulation.budget().unwrap().momentum / step;
        let whole = Piece { along: length * way, radius }.resistance(&Medium::AIR, -wind);
        let mass = density * std::f64::consts::PI * radius * radius * length;
        let of = |way: DVec3| way.dot(whole * way);
        let moved = step * of(way).max(of(way.any_orthonormal_vector())) / mass * (1.0 + 1e-6);
        let off = (found - whole * wind).length() / (whole * wind).length();
        println!("{degrees}°: {found} {}, off {off} of {moved}", whole * wind);
        assert!(off < moved, "{degrees}°: {found} {}", whole * wind);
    }
}
