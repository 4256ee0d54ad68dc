//! Strands that touch colliders and each other, against what Coulomb's law says.

use super::scene::{
    bending, curves, gravity, rod, straight, stretching, twisting, with_numbers, with_vectors,
};
use crate::contact::{collider, collision, forces_and_normals, shape};
use crate::same_bytes;
use crate::scene::{Run, frames, vectors};
use std::sync::Arc;
use undine_core::glam::{DQuat, DVec3};
use undine_core::{Frame, GridDomain};
use undine_geometry::ccd::{Gap, edge_edge};
use undine_geometry::levelset::{Extent, LevelSet};
use undine_geometry::{Pose, Shape, Triangles, gallery};
use undine_schema::setup::{Behavior, Group};
use undine_sim::Simulation;
use undine_sim::input::{Data, Geometry};

const G: f64 = 9.81;

/// Rods whose vibrations die away.
fn damped(rod: Behavior) -> Group {
    Group::default()
        .with(rod)
        .with(stretching().set("damping-time", 0.002))
        .with(bending().set("damping-time", 0.002))
        .with(twisting().set("damping-time", 0.002))
}

/// A string of 1 g/m over a cylinder of 5 cm, and loads of 100 g times `ratio` at its end and of 100 g at its beginning.
fn capstan(ratio: f64, friction: f64, response: &str) -> Simulation {
    let (radius, thick, edges) = (0.05, 0.5e-3, 24_usize);
    let turn = std::f64::consts::PI / edges as f64;
    // Edges touch with their middles.
    let out = (radius + thick) / (0.5 * turn).cos();
    let step = 2.0 * out * (0.5 * turn).sin();
    let mut points = Vec::new();
    for n in (1..=8).rev() {
        points.push(DVec3::new(-out, -step * f64::from(n), 0.0));
    }
    for n in 0..=edges {
        let angle = std::f64::consts::PI - turn * n as f64;
        points.push(out * DVec3::new(angle.cos(), angle.sin(), 0.0));
    }
    for n in 1..=8 {
        points.push(DVec3::new(out, -step * f64::from(n), 0.0));
    }
    let area = std::f64::consts::PI * thick * thick;
    let mut density = vec![1300.0; points.len()];
    let last = points.len() - 1;
    // An end has half of an edge.
    let load = 0.1 / (0.5 * step * area);
    (density[0], density[last]) = (load, ratio * load);
    let string = with_numbers(&curves(&[points]), "density", density);
    let string_like = rod().set("radius", thick).set("youngs", 1e8);
    let cylinder = Shape::cylinder(radius, 1.0).unwrap();
    let setup = damped(string_like)
        .with(collider("cylinder"))
        .with(collision().set("friction", friction).set("response", response).set("stiffness", 1e3))
        .with(gravity());
    Run { substeps: 10, iterations: 2 }
        .of(&setup, vec![("rod", string), ("cylinder", shape(cylinder))])
}

/// Where the load hangs.
fn height(simulation: &Simulation) -> f64 {
    vectors(simulation, "rod", "position").last().unwrap().y
}

/// The capstan: a string around half a cylinder holds up to e^{μπ} times the load at its other end, and beyond it loads fall with
/// (m₂ − m₁e^{μπ})/(m₂ + m₁e^{μπ}) g.
#[test]
fn a_string_on_a_capstan_holds_as_much_as_friction_lets_it() {
    let friction = 0.3;
    let most = (friction * std::f64::consts::PI).exp();
    for response in ["hard", "penalty"] {
        let fallen = |share: f64| {
            let mut simulation = capstan(share * most, friction, response);
            // The string becomes as long as the loads make it.
            let mut heights = vec![height(&simulation)];
            for _ in 0..4 {
                frames(&mut simulation, 3);
                heights.push(height(&simulation));
            }
            [heights[1] - heights[2], heights[2] - heights[3], heights[3] - heights[4]]
        };
        let holds = fallen(0.95);
        assert!(holds[2].abs() < 1e-4, "{response}: {holds:?}");
        let ratio = 1.15;
        let falls = fallen(ratio);
        let acceleration = G * (ratio - 1.0) / (ratio + 1.0);
        let found = (falls[1] - falls[0]) / (0.125 * 0.125);
        assert!(
            (found - acceleration).abs() < 0.1 * acceleration,
            "{response}: {found} of {acceleration}"
        );
    }
}

/// Whether any two edges that no edge joins go through each other on the way.
fn passed(strands: &[usize], from: &[DVec3], to: &[DVec3]) -> Option<[usize; 2]> {
    let mut edges = Vec::new();
    let mut first = 0;
    for &count in strands {
        edges.extend((first..first + count - 1).map(|n| [n, n + 1]));
        first += count;
    }
    let nothing = Gap::new(0.0, 1e-12).unwrap();
    for (n, &[a, b]) in edges.iter().enumerate() {
        for &[c, d] in edges[..n].iter().filter(|edge| edge[1] + 1 < a) {
            let start = [from[a], from[b], from[c], from[d]];
            let end = [to[a], to[b], to[c], to[d]];
            if edge_edge(start, end, nothing).unwrap().is_some() {
                return Some([a, c]);
            }
        }
    }
    None
}

/// Runs so many steps, each of them a frame; nothing passes.
fn never_pass(what: &str, simulation: &mut Simulation, strands: &[usize], steps: usize) {
    let mut before = vectors(simulation, "rod", "position");
    for step in 0..steps {
        frames(simulation, 1);
        let now = vectors(simulation, "rod", "position");
        let found = passed(strands, &before, &now);
        assert!(found.is_none(), "{what}: {found:?} in step {step}");
        before = now;
    }
}

fn thread() -> Behavior {
    rod().set("radius", 0.5e-3).set("youngs", 1e8)
}

/// A strand that is held at one end, and one that falls across it with 2 m/s.
fn across(response: &str) -> (Group, Data) {
    let held = straight(DVec3::new(-0.1, 0.0, 0.003), DVec3::new(0.1, 0.0, 0.003), 12);
    let falls = straight(DVec3::new(0.004, 0.02, -0.1), DVec3::new(0.004, 0.02, 0.1), 12);
    let mut velocity = vec![DVec3::ZERO; 26];
    velocity[13..].fill(DVec3::Y * -2.0);
    let data = curves(&[held, falls]);
    let mut cloud = data.cloud().unwrap().into_owned();
    cloud.vectors.insert("v".to_owned(), velocity);
    let setup = damped(thread())
        .with(collision().set("friction", 0.5).set("response", response))
        .with(gravity());
    (setup, data.with_cloud(cloud).unwrap())
}

#[test]
fn a_strand_that_falls_on_a_strand_does_not_cross_it() {
    for response in ["hard", "penalty"] {
        let (setup, data) = across(response);
        let run = Run { substeps: 1, iterations: 1 }.with_frame(1.0 / 240.0);
        let mut simulation = run.of(&setup, vec![("rod", data)]);
        never_pass(response, &mut simulation, &[13, 13], 120);
    }
}

/// A strand falls on another one that lies across a bar: it stays on it, unless strands are said not to touch each other; then it lies on the bar
/// too.
#[test]
fn strands_may_be_let_through_each_other_and_touch_all_else() {
    let lower = straight(DVec3::new(-0.05, 0.011, 0.0), DVec3::new(0.05, 0.011, 0.0), 10);
    let upper = straight(DVec3::new(-0.05, 0.016, -0.01), DVec3::new(0.05, 0.016, 0.01), 10);
    for each_other in [true, false] {
        let thick = rod().set("radius", 1e-3).set("youngs", 1e9);
        let setup = damped(thick)
            .with(collider("bar"))
            .with(collision().set("friction", 1.0).set("each-other", each_other))
            .with(gravity());
        let bar = shape(Shape::cuboid(DVec3::new(0.2, 0.01, 0.2)).unwrap());
        let strands = curves(&[lower.clone(), upper.clone()]);
        let mut simulation =
            Run { substeps: 4, iterations: 1 }.of(&setup, vec![("rod", strands), ("bar", bar)]);
        frames(&mut simulation, 24);
        let places = vectors(&simulation, "rod", "position");
        let lowest = places.iter().fold(f64::INFINITY, |least, at| least.min(at.y));
        assert!(lowest > 0.0108, "{lowest} m, on the bar");
        let above = places[16].y - places[5].y;
        assert!((above > 1.5e-3) == each_other, "each other {each_other}: {above} m");
    }
}

/// A fan of strands at 30 m/s into strands at rest, in steps of which each takes them as far as they are long.
#[test]
fn fast_strands_never_pass_through_each_other() {
    let (mut strands, mut velocity) = (Vec::new(), Vec::new());
    for n in 0..4 {
        let x = 0.02 * f64::from(n);
        strands.push(straight(DVec3::new(x, 0.0, -0.15), DVec3::new(x + 0.01, 0.001, 0.15), 10));
        velocity.extend([DVec3::ZERO; 11]);
    }
    for n in 0..3 {
        let y = 0.05 + 0.02 * f64::from(n);
        strands.push(straight(
            DVec3::new(-0.1, y, 0.013 * f64::from(n)),
            DVec3::new(0.16, y, 0.03),
            10,
        ));
        velocity.extend([DVec3::new(3.0, -30.0, 1.0); 11]);
    }
    let data = curves(&strands);
    let mut cloud = data.cloud().unwrap().into_owned();
    cloud.vectors.insert("v".to_owned(), velocity);
    let data = data.with_cloud(cloud).unwrap();
    let setup = damped(thread()).with(collision().set("friction", 0.3));
    for steps in [100.0, 400.0] {
        let run = Run { substeps: 1, iterations: 1 }.with_frame(1.0 / steps);
        let mut simulation = run.of(&setup, vec![("rod", data.clone())]);
        let start = simulation.budget().unwrap();
        never_pass(&format!("{steps} steps a second"), &mut simulation, &[11; 7], 40);
        let end = simulation.budget().unwrap();
        let lost = (end.momentum - start.momentum).length() / start.momentum.length();
        assert!(lost < 1e-9, "momentum changes by {lost} of itself");
        assert!(
            end.kinetic_energy < start.kinetic_energy,
            "{} J to {} J",
            start.kinetic_energy,
            end.kinetic_energy
        );
    }
}

/// Hair that falls on a sphere.
fn on_a_sphere(response: &str) -> (Group, Vec<(&'static str, Data)>) {
    let strand = |n: usize| {
        let (x, z) = (0.012 * (n % 3) as f64 - 0.012, 0.012 * (n / 3) as f64 - 0.012);
        let way = DQuat::from_rotation_y(0.9 * n as f64) * DVec3::X * 0.06;
        let middle = DVec3::new(x, 0.105 + 0.002 * n as f64, z);
        straight(middle - way, middle + way, 12)
    };
    let groom = curves(&(0..9).map(strand).collect::<Vec<_>>());
    let hair = rod().set("radius", 0.1e-3).set("youngs", 1e8);
    let setup = damped(hair)
        .with(collider("head"))
        .with(collision().set("friction", 0.5).set("response", response).set("stiffness", 1.0))
        .with(gravity());
    (setup, vec![("rod", groom), ("head", shape(Shape::sphere(0.1).unwrap()))])
}

/// How fast the fastest vertex is [m/s].
fn fastest(simulation: &Simulation) -> f64 {
    vectors(simulation, "rod", "v").iter().fold(0.0, |most, v| most.max(v.length()))
}

/// Hair is at rest from the 30th frame on: in every one of them, not in a lucky one. Gravity makes 0.2 m/s in a substep; a two hundredth of that is left at
/// most, and a fortieth where contacts give way. All forces are on the cone of friction or within.
#[test]
fn hair_on_a_sphere_comes_to_rest() {
    for (response, most) in [("hard", 1e-3), ("penalty", 5e-3)] {
        let (setup, inputs) = on_a_sphere(response);
        let mut simulation = Run { substeps: 2, iterations: 1 }.of(&setup, inputs);
        frames(&mut simulation, 30);
        for frame in 30..60 {
            frames(&mut simulation, 1);
            let speed = fastest(&simulation);
            assert!(speed < most, "{response}: {speed} m/s in frame {frame}");
            for [force, normal] in forces_and_normals(&simulation) {
                let across = force.dot(normal);
                let along = (force - across * normal).length();
                assert!(
                    across > 0.0 && along <= 0.5 * across * (1.0 + 1e-9),
                    "{response}: {force}"
                );
            }
        }
        let places = vectors(&simulation, "rod", "position");
        let deepest = places.iter().fold(f64::INFINITY, |least, at| least.min(at.length()));
        assert!(deepest > 0.1, "{response}: {deepest} m from the centre");
    }
}

/// A ball of a radius of 6 mm and 0.1 g falls on three strands of 1 mm that are held at their ends, where no vertex is within reach of it: it
/// stays on them. They are 4 mm apart, so that it can push itself through only if it stretches them by more than its weight can.
#[test]
fn a_small_ball_stays_on_strands_between_their_vertices() {
    for response in ["hard", "penalty"] {
        let strand = |z: f64| straight(DVec3::new(-0.1, 0.0, z), DVec3::new(0.1, 0.0, z), 10);
        let strands = [-0.004, 0.0, 0.004].map(strand);
        let ends = strands.iter().flat_map(|strand| [strand[0], strand[10]]).collect();
        let ball = Shape::sphere(0.006).unwrap();
        let ball = ball.moved(&Pose::at(DVec3::new(0.01, 0.012, 0.001))).unwrap();
        let hold = Behavior::new(&undine_actions::attachment::DECLARATION)
            .set("to", "ends")
            .set("emission", "range")
            .set("range", 1e-4)
            .set("normal-stiffness", 1e6)
            .set("tangent-stiffness", 1e6);
        let ends_like = Behavior::new(&undine_actions::anchors::DECLARATION);
        let setup = damped(thread())
            .with(ends_like.named("ends").set("input", "ends"))
            .with(hold)
            .with(crate::scene::body("ball").set("density", 100.0))
            .with(collision().set("friction", 0.5).set("response", response).set("stiffness", 1e3))
            .with(gravity());
        let inputs =
            vec![("rod", curves(&strands)), ("ends", Data::points(ends)), ("ball", shape(ball))];
        let mut simulation = Run { substeps: 4, iterations: 2 }.of(&setup, inputs);
        frames(&mut simulation, 48);
        let ball = crate::scene::vector(&simulation, "ball", "position");
        // A strand of EA = 79 N sags by some mm under a gram; without them it would be 20 m deep by now.
        assert!(ball.y > -0.02, "{response}: {ball}");
        let speed = crate::scene::vector(&simulation, "ball", "v").length();
        assert!(speed < 0.05, "{response}: {speed} m/s");
    }
}

/// Needles along z that stand 1 cm beside the origin: of triangles and by a formula, a tenth of a millimetre thick, and a rod of 2 mm in voxels of half a
/// millimetre.
fn needles() -> [(&'static str, Data); 3] {
    let aside = DVec3::X * 0.01;
    let (positions, triangles) = gallery::cuboid(DVec3::new(5e-5, 5e-5, 0.05)).into_parts();
    let positions = positions.into_iter().map(|at| at + aside).collect();
    let mesh = Triangles::new(positions, triangles).unwrap().into_surface("needle").unwrap();
    let along_z =
        |radius: f64| Shape::cylinder(radius, 0.1).unwrap().moved(&Pose::at(aside)).unwrap();
    let domain = GridDomain::new("rod", Frame::new(DVec3::ZERO, 0.0005).unwrap());
    let set = LevelSet::of_solid("rod", &domain, &along_z(1e-3), Extent::Band(4.0)).unwrap();
    [
        ("a mesh", Data::new(Geometry::Surface(Arc::new(mesh)))),
        ("a cylinder", shape(along_z(5e-5))),
        ("a level set", Data::new(Geometry::LevelSet(Arc::new(set)))),
    ]
}

/// A strand at 20 m/s across a needle, in steps that take it past the needle at once, and one that also spins with 200 rad/s, so
/// that what is nearest in the end is not what met the needle: vertices pass beside it, 1 cm away, and edges do not pass.
#[test]
fn a_fast_strand_does_not_pass_a_needle_between_its_vertices() {
    let strand = straight(DVec3::new(-0.1, 0.03, 0.0), DVec3::new(0.1, 0.031, 0.002), 10);
    let setup = damped(thread()).with(collider("needle")).with(collision());
    let axis = [DVec3::new(0.01, 0.0, -0.05), DVec3::new(0.01, 0.0, 0.05)];
    let nothing = Gap::new(0.0, 1e-12).unwrap();
    for (name, needle) in needles() {
        for (spin, steps) in [(0.0, 100.0), (0.0, 400.0), (200.0, 100.0), (200.0, 400.0)] {
            let turns = |at: &DVec3| DVec3::Z.cross(*at - strand[5]) * spin;
            let velocity = strand.iter().map(|at| DVec3::Y * -20.0 + turns(at)).collect();
            let data = with_vectors(&curves(std::slice::from_ref(&strand)), "v", velocity);
            let run = Run { substeps: 1, iterations: 1 }.with_frame(1.0 / steps);
            let mut simulation = run.of(&setup, vec![("rod", data), ("needle", needle.clone())]);
            let mut before = vectors(&simulation, "rod", "position");
            for step in 0..40 {
                frames(&mut simulation, 1);
                let now = vectors(&simulation, "rod", "position");
                for n in 0..10 {
                    let start = [before[n], before[n + 1], axis[0], axis[1]];
                    let end = [now[n], now[n + 1], axis[0], axis[1]];
                    let met = edge_edge(start, end, nothing).unwrap();
                    assert!(
                        met.is_none(),
                        "{name}, {spin} rad/s: edge {n} in step {step} of {steps} a second"
                    );
                }
                before = now;
            }
        }
    }
}

/// A strand that is held at its root passes through a ball beside its centre, with a vertex where it is deepest, by 6 mm. Hard contacts leave
/// it there, and springs push it out.
#[test]
fn a_vertex_that_begins_inside_is_pushed_out_by_springs_alone() {
    let end = |response: &str| {
        let strand = straight(DVec3::new(-0.05, 0.024, 0.0), DVec3::new(0.05, 0.024, 0.0), 8);
        let ball = Shape::sphere(0.03).unwrap();
        let contacts = collision().set("response", response).set("stiffness", 1.0);
        let setup = damped(thread().set("roots", "clamped"))
            .with(collider("ball"))
            .with(contacts.set("friction", 0.0));
        let inputs = vec![("rod", curves(&[strand])), ("ball", shape(ball))];
        let mut simulation = Run { substeps: 4, iterations: 2 }.of(&setup, inputs);
        frames(&mut simulation, 24);
        let places = vectors(&simulation, "rod", "position");
        places.iter().fold(f64::INFINITY, |least, at| least.min(at.length()))
    };
    let hard = end("hard");
    assert!((hard - 0.024).abs() < 1e-9, "{hard} m from the centre");
    let soft = end("penalty");
    assert!(soft > 0.029, "{soft} m from the centre");
}

/// On a level set: no vertex ends inside, and nothing of an edge, up to what voxels of 5 mm make of a sphere of 10 cm, h²/8R.
#[test]
fn hair_on_a_level_set_stays_outside() {
    let (setup, mut inputs) = on_a_sphere("hard");
    let domain = GridDomain::new("head", Frame::new(DVec3::ZERO, 0.005).unwrap());
    let ball = Shape::sphere(0.1).unwrap();
    let set = LevelSet::of_solid("head", &domain, &ball, Extent::Band(4.0)).unwrap();
    inputs[1].1 = Data::new(Geometry::LevelSet(Arc::new(set)));
    let mut simulation = Run { substeps: 2, iterations: 2 }.of(&setup, inputs);
    let least = 0.1 - 2.0 * 0.005 * 0.005 / 0.8;
    for frame in 0..36 {
        frames(&mut simulation, 1);
        let places = vectors(&simulation, "rod", "position");
        let along =
            |edge: &[DVec3]| [0.0, 0.2, 0.4, 0.6, 0.8, 1.0].map(|s| edge[0].lerp(edge[1], s));
        let edges = places.chunks_exact(13).flat_map(|strand| strand.windows(2));
        let deepest = edges.flat_map(along).fold(f64::INFINITY, |least, at| least.min(at.length()));
        assert!(deepest > least, "{deepest} m from the centre in frame {frame}");
    }
    assert!(fastest(&simulation) < 1e-2, "{} m/s", fastest(&simulation));
}

#[test]
fn resumed_hair_in_contact_has_the_same_bytes_and_so_has_that_on_more_threads() {
    for response in ["hard", "penalty"] {
        let (setup, inputs) = on_a_sphere(response);
        same_bytes::check(3, || Run { substeps: 3, iterations: 1 }.of(&setup, inputs.clone()));
    }
}
