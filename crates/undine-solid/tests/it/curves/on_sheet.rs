//! Strands whose roots are attached: to a sheet that bends, to all that is in range, and to what they come upon.

use super::scene::{bending, curves, elastic, rod, straight, stretching, twisting};
use crate::scene::{Run, frames, store, vectors};
use std::collections::BTreeSet;
use std::f64::consts::PI;
use std::sync::Arc;
use undine_core::glam::{DMat3, DVec3};
use undine_core::memory::MemoryBudget;
use undine_core::mesh::{Polygons, Surface};
use undine_geometry::random::unit;
use undine_schema::setup::{Behavior, Group};
use undine_sim::elements::ElementSet;
use undine_sim::input::{Data, Geometry, Inputs};
use undine_sim::newton::NewtonSettings;
use undine_sim::timeline::Substeps;
use undine_sim::{Result, Simulation, Timeline};

fn attachment(emission: &str) -> Behavior {
    Behavior::new(&undine_actions::attachment::DECLARATION)
        .set("to", "skin")
        .set("emission", emission)
        .set("normal-stiffness", 1e4)
        .set("tangent-stiffness", 1e4)
}

fn skin() -> Behavior {
    Behavior::new(&undine_actions::anchors::DECLARATION).named("skin").set("input", "skin")
}

/// A sheet of 5 by 5 vertices, 1 m wide, and strands that stand on those within its rim. In a second it is rolled up about z to a curvature of
/// 1/m, slowly to begin with and to end with, and the rest of it with it.
struct Sheet;

const ACROSS: usize = 5;
const TALL: f64 = 0.2;

impl Sheet {
    /// Where a vertex is at a time [s], and the direction that is up there.
    fn place(n: usize, time: f64) -> (DVec3, DVec3) {
        let [x, z] = [n / ACROSS, n % ACROSS].map(|k| k as f64 / (ACROSS - 1) as f64 - 0.5);
        let curvature = 0.5 - 0.5 * (PI * time.clamp(0.0, 1.0)).cos();
        let angle = curvature * x;
        let (along, up) = match curvature {
            0.0 => (x, 0.0),
            k => (angle.sin() / k, (1.0 - angle.cos()) / k),
        };
        (DVec3::new(along, up, z), DVec3::new(-angle.sin(), angle.cos(), 0.0))
    }

    /// Vertices within the rim, whose normals are those of the roll: their neighbours lie on both sides alike.
    fn within() -> Vec<usize> {
        let inner =
            |n: &usize| [n / ACROSS, n % ACROSS].iter().all(|k| (1..ACROSS - 1).contains(k));
        (0..ACROSS * ACROSS).filter(inner).collect()
    }
}

impl Inputs for Sheet {
    fn data(&self, name: &str, time: f64) -> Result<Arc<Data>> {
        if name == "rod" {
            let strand = |n: usize| {
                let (root, up) = Self::place(n, 0.0);
                straight(root, root + TALL * up, 8)
            };
            return Ok(Arc::new(curves(
                &Self::within().into_iter().map(strand).collect::<Vec<_>>(),
            )));
        }
        let places = (0..ACROSS * ACROSS).map(|n| Self::place(n, time).0).collect();
        let squares = (0..ACROSS - 1).flat_map(|i| (0..ACROSS - 1).map(move |j| [i, j]));
        let quads = squares.map(|[i, j]| {
            let at = |i: usize, j: usize| (ACROSS * i + j) as u32;
            [at(i, j), at(i, j + 1), at(i + 1, j + 1), at(i + 1, j)]
        });
        let triangles = quads.flat_map(|[a, b, c, d]| [[a, b, c], [a, c, d]]).collect();
        let surface = Surface::new("sheet", places, Polygons::triangles(triangles)?)?;
        Ok(Arc::new(Data { geometry: Geometry::Surface(Arc::new(surface)), ..Data::default() }))
    }

    fn changes(&self, name: &str) -> bool {
        name == "skin"
    }
}

/// A sheet and strands that stand on the middles of its triangles.
struct Between;

impl Between {
    /// The corners of the triangles that strands stand on: one of each square within the rim.
    fn corners() -> Vec<[usize; 3]> {
        let at = |i: usize, j: usize| ACROSS * i + j;
        let squares = (1..ACROSS - 2).flat_map(|i| (1..ACROSS - 2).map(move |j| [i, j]));
        squares.map(|[i, j]| [at(i, j), at(i, j + 1), at(i + 1, j + 1)]).collect()
    }

    /// The middle of a triangle at a time [s], its normal and its first edge.
    fn middle(corners: [usize; 3], time: f64) -> [DVec3; 3] {
        let [a, b, c] = corners.map(|n| Sheet::place(n, time).0);
        [(a + b + c) / 3.0, (b - a).cross(c - a).normalize(), (b - a).normalize()]
    }
}

impl Inputs for Between {
    fn data(&self, name: &str, time: f64) -> Result<Arc<Data>> {
        let strand = |corners: [usize; 3]| {
            let [root, up, _] = Self::middle(corners, 0.0);
            straight(root, root + TALL * up, 8)
        };
        match name {
            "rod" => {
                Ok(Arc::new(curves(&Self::corners().into_iter().map(strand).collect::<Vec<_>>())))
            }
            _ => Sheet.data(name, time),
        }
    }

    fn changes(&self, name: &str) -> bool {
        Sheet.changes(name)
    }
}

/// Roots between the vertices of a coarse sheet go where its triangles do, and turn as those do. A strand of 0.6 g pulls at its root with
/// some mN, which is 10⁻¹² m of 10⁹ N/m, and turns it with 0.1 mN m, which is 10⁻⁷ of 10³ J; ten times as much is allowed for its own swing.
#[test]
fn roots_between_vertices_follow_the_triangles_that_they_stand_on() {
    let weld = attachment("pair")
        .set("normal-stiffness", 1e9)
        .set("tangent-stiffness", 1e9)
        .set("orientation-stiffness", [1e3; 3]);
    let rod = rod().set("radius", 1e-3).set("density", 1000.0).set("youngs", 1e9);
    let setup = elastic(rod).with(skin()).with(weld);
    let kinds = [undine_solid::BEHAVIORS, undine_actions::BEHAVIORS].concat();
    let timeline = Timeline {
        fps: 24.0,
        substeps: Substeps::Fixed(8),
        newton: NewtonSettings { iterations: 4, ..NewtonSettings::default() },
        ..Timeline::default()
    };
    let budget = MemoryBudget::unlimited();
    let mut simulation =
        Simulation::new(&setup, &kinds, timeline, Arc::new(Between), budget).unwrap();
    let start = turned(&simulation);
    for frame in 1..=20 {
        frames(&mut simulation, 1);
        let (places, now) = (vectors(&simulation, "rod", "position"), turned(&simulation));
        for (strand, corners) in Between::corners().into_iter().enumerate() {
            let frame_at = |time: f64| {
                let [_, up, along] = Between::middle(corners, time);
                DMat3::from_cols(up, along, up.cross(along))
            };
            let time = f64::from(frame) / 24.0;
            let off = places[9 * strand].distance(Between::middle(corners, time)[0]);
            assert!(off < 1e-11, "frame {frame}: root {strand} is off by {off:e} m");
            let wanted = frame_at(time) * frame_at(0.0).transpose() * start[9 * strand];
            let off = now[9 * strand] - wanted;
            let off = off.to_cols_array().into_iter().fold(0.0, |most: f64, x| most.max(x.abs()));
            assert!(off < 1e-6, "frame {frame}: root {strand} is turned by {off:e} rad");
        }
    }
}

/// A strand of 0.6 g swings with the sheet, whose rim is 0.5 m from the middle and goes up by 0.12 m in a second: by about 1 m/s². It pulls
/// at its root with 1 mN and turns it with 0.1 mN m. With 10⁴ N/m and 1 J that is 0.1 µm and 0.1 mrad; ten times as much is allowed for its own swing.
///
/// Frames of the sheet look along the first edge from each vertex. Where that is a diagonal, the roll turns it about the normal, since it shortens what
/// lies across its axis by θ²/6, θ being the angle between two vertices: by up to θ²/12 = 0.0052.
#[test]
fn roots_follow_a_sheet_that_bends_and_turn_with_it() {
    let weld = attachment("pair").set("on", "points").set("orientation-stiffness", [1.0; 3]);
    let rod = rod().set("radius", 1e-3).set("density", 1000.0).set("youngs", 1e9);
    let setup = Group::default()
        .with(rod)
        .with(skin())
        .with(stretching())
        .with(bending().set("damping-time", 0.01))
        .with(twisting().set("damping-time", 0.01))
        .with(weld);
    let kinds = [undine_solid::BEHAVIORS, undine_actions::BEHAVIORS].concat();
    let timeline = Timeline {
        fps: 24.0,
        substeps: Substeps::Fixed(8),
        newton: NewtonSettings { iterations: 3, ..NewtonSettings::default() },
        ..Timeline::default()
    };
    let budget = MemoryBudget::unlimited();
    let mut simulation =
        Simulation::new(&setup, &kinds, timeline, Arc::new(Sheet), budget).unwrap();
    let start = turned(&simulation);
    let mut turns = 0.0_f64;
    for frame in 1..=30 {
        frames(&mut simulation, 1);
        let places = vectors(&simulation, "rod", "position");
        let now = turned(&simulation);
        for (strand, n) in Sheet::within().into_iter().enumerate() {
            let (root, up) = Sheet::place(n, f64::from(frame) / 24.0);
            let off = places[9 * strand].distance(root);
            assert!(off < 1e-6, "frame {frame}: root {strand} is off by {off} m");
            // The strand goes about z as the sheet does, and its frame hardly about itself.
            let turn = DMat3::from_rotation_z(-up.x.atan2(up.y)) * start[9 * strand];
            let off = now[9 * strand].x_axis.distance(turn.x_axis);
            assert!(off < 1e-3, "frame {frame}: strand {strand} is off by {off} rad");
            let off = now[9 * strand].y_axis.distance(turn.y_axis);
            assert!(off < 0.0053 + 1e-3, "frame {frame}: strand {strand} turns by {off} rad");
            turns = turns.max(up.x.abs());
        }
    }
    assert!(turns > 0.2, "the sheet turns by {turns} rad");
}

/// Frames of edges.
fn turned(simulation: &Simulation) -> Vec<DMat3> {
    let points = store(simulation, "rod");
    points.column(points.handle::<DMat3>("frame").unwrap()).unwrap().to_vec()
}

/// The elements of the attachment.
fn joints(simulation: &Simulation) -> &ElementSet {
    let mut all = simulation.world.elements.iter();
    all.find(|(_, elements)| elements.handle::<f64>("axis-1-x").is_ok()).unwrap().1
}

/// `range` holds each pair of points that are within range of each other once, and no other.
#[test]
fn all_pairs_in_range_are_held_and_no_other() {
    let place = |n: u64| 0.3 * DVec3::new(unit(n, 0), unit(n, 1), unit(n, 2));
    let anchors: Vec<DVec3> = (0..60).map(place).collect();
    let strands: Vec<Vec<DVec3>> = (60..66)
        .map(|n| straight(place(n), place(n) + 0.1 * DVec3::new(1.0, 0.3, -0.2), 10))
        .collect();
    let range = 0.05;
    let mut wanted = BTreeSet::new();
    for (a, x) in strands.concat().iter().enumerate() {
        let near = anchors.iter().enumerate().filter(|(_, y)| x.distance(**y) <= range);
        wanted.extend(near.map(|(b, _)| (a, b)));
    }
    assert!((20..600).contains(&wanted.len()), "{} pairs", wanted.len());
    let tie = attachment("range").set("range", range);
    let setup = elastic(rod().set("radius", 1e-3)).with(skin()).with(tie);
    let inputs = vec![("rod", curves(&strands)), ("skin", Data::points(anchors))];
    let mut simulation = Run::default().of(&setup, inputs);
    frames(&mut simulation, 1);
    let ids = |label: &str| {
        let points = store(&simulation, label);
        points.column(points.id()).unwrap().to_vec()
    };
    let (own, others) = (ids("rod"), ids("skin"));
    let joints = joints(&simulation);
    let [of, to] = ["point-0", "point-1"]
        .map(|name| joints.column(joints.handle::<u64>(name).unwrap()).unwrap().to_vec());
    let place = |ids: &[u64], id: u64| ids.iter().position(|own| *own == id).unwrap();
    let found: Vec<_> =
        of.iter().zip(&to).map(|(a, b)| (place(&own, *a), place(&others, *b))).collect();
    assert_eq!(found.len(), wanted.len());
    assert_eq!(found.into_iter().collect::<BTreeSet<_>>(), wanted);
}

/// A strand that flies past points is caught by the first that it comes within reach of, if it looks in every step, and else by none.
///
/// It weighs 1.3 g: k Δt²/m is 800 for a step of 1/96 s, so that the step that finds the pair takes all but a thousandth of the speed of its end.
#[test]
fn what_comes_within_reach_is_caught_in_every_step() {
    let flight = |every_step: bool| {
        let tie = attachment("closest").set("range", 0.05).set("every-step", every_step);
        let flying =
            rod().set("radius", 1e-3).set("density", 1000.0).set("velocity", [1.0, 0.0, 0.0]);
        let setup = elastic(flying).with(skin()).with(tie);
        let strand = straight(DVec3::new(-0.3, 0.0, 0.0), DVec3::new(-0.3, 0.4, 0.0), 2);
        // One on its way, the others beside it.
        let points = vec![DVec3::X * 0.03, DVec3::new(0.0, -0.3, 0.0), DVec3::new(0.2, 0.1, 0.3)];
        let inputs = vec![("rod", curves(&[strand])), ("skin", Data::points(points))];
        let mut simulation = Run { substeps: 4, iterations: 4 }.of(&setup, inputs);
        let mut held = Vec::new();
        for _ in 0..16 {
            frames(&mut simulation, 1);
            held.push((joints(&simulation).len(), vectors(&simulation, "rod", "position")[0].x));
        }
        (held, vectors(&simulation, "rod", "v")[0].x)
    };
    let (held, speed) = flight(true);
    // It is there after 0.28 s: between frame 6 and 7.
    for (n, (count, x)) in held.iter().enumerate() {
        assert_eq!(*count, usize::from(n >= 6), "frame {}: at {x} m", n + 1);
        let wanted = -0.3 + (n + 1) as f64 / 24.0;
        assert!(n >= 6 || (x - wanted).abs() < 1e-12, "frame {}: at {x} m", n + 1);
        assert!(n < 6 || (x + 0.02).abs() < 0.012, "frame {}: at {x} m", n + 1);
    }
    assert!(speed.abs() < 0.1, "{speed} m/s");
    let (held, speed) = flight(false);
    assert!(held.iter().all(|(count, _)| *count == 0));
    assert_eq!(speed, 1.0);
}
