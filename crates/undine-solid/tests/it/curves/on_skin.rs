//! Strands on a mesh that deforms, as hair on skin does: they stay outside, go along with it, and grow out of it.

use super::scene::{bending, curves, gravity, rod, straight, stretching, twisting};
use crate::contact::{collider, collision, forces_and_normals};
use crate::same_bytes;
use crate::scene::{Run, frames, vectors};
use std::f64::consts::{PI, TAU};
use std::sync::Arc;
use undine_core::glam::{DQuat, DVec3};
use undine_core::memory::MemoryBudget;
use undine_geometry::{Inside, MeshSolid, Motion, Pose, Solid, Triangles, Twist, gallery};
use undine_schema::setup::{Behavior, Group};
use undine_sim::input::{Data, Geometry, Inputs};
use undine_sim::newton::NewtonSettings;
use undine_sim::timeline::Substeps;
use undine_sim::{Result, Simulation, Timeline};

/// Of strands [m].
const RADIUS: f64 = 0.1e-3;

/// Where a vertex of the skin is at a time [s].
type Place = dyn Fn(DVec3, f64) -> DVec3 + Send + Sync;

/// Strands, and a mesh whose vertices go where they are told.
struct Skin {
    strands: Data,
    rest: Triangles,
    place: Box<Place>,
}

impl Skin {
    fn new(
        strands: &[Vec<DVec3>],
        rest: Triangles,
        place: impl Fn(DVec3, f64) -> DVec3 + Send + Sync + 'static,
    ) -> Arc<Self> {
        Arc::new(Self { strands: curves(strands), rest, place: Box::new(place) })
    }

    fn at(&self, time: f64) -> Triangles {
        self.rest.clone().mapped(|at| (self.place)(at, time))
    }
}

impl Inputs for Skin {
    fn data(&self, name: &str, time: f64) -> Result<Arc<Data>> {
        if name == "rod" {
            return Ok(Arc::new(self.strands.clone()));
        }
        let surface = self.at(time).into_surface("skin")?;
        Ok(Arc::new(Data::new(Geometry::Surface(Arc::new(surface)))))
    }

    fn changes(&self, name: &str) -> bool {
        name == "skin"
    }
}

fn strands() -> Behavior {
    rod().set("radius", RADIUS).set("youngs", 1e8)
}

/// Hair whose vibrations die away, and the skin.
fn hair(strands: Behavior, collider: Behavior, response: &str) -> Group {
    Group::default()
        .with(strands)
        .with(stretching().set("damping-time", 0.002))
        .with(bending().set("damping-time", 0.002))
        .with(twisting().set("damping-time", 0.002))
        .with(collider)
        .with(collision().set("friction", 0.5).set("response", response).set("stiffness", 1.0))
        .with(gravity())
}

/// Two substeps of 1/48 s a frame, one Newton iteration each.
fn run(setup: &Group, skin: &Arc<Skin>) -> Simulation {
    let kinds = [undine_solid::BEHAVIORS, undine_actions::BEHAVIORS].concat();
    let timeline = Timeline {
        fps: 24.0,
        substeps: Substeps::Fixed(2),
        newton: NewtonSettings { iterations: 1, tolerance: 1e-13, ..NewtonSettings::default() },
        ..Timeline::default()
    };
    Simulation::new(setup, &kinds, timeline, skin.clone(), MemoryBudget::unlimited()).unwrap()
}

/// How far the nearest vertex of strands of `count` vertices is from a mesh, and the nearest point of an edge [m].
fn nearest(mesh: &MeshSolid, places: &[DVec3], count: usize) -> [f64; 2] {
    let least = |least: f64, at: DVec3| least.min(mesh.distance(at));
    let vertex = places.iter().copied().fold(f64::INFINITY, least);
    let along = |ends: &[DVec3]| {
        (0..=20).map(|k| ends[0].lerp(ends[1], f64::from(k) / 20.0)).fold(f64::INFINITY, least)
    };
    let edges = places.chunks(count).flat_map(|strand| strand.windows(2));
    [vertex, edges.map(along).fold(f64::INFINITY, f64::min)]
}

/// The radius of the sphere [m] at rest.
const SPHERE: f64 = 0.1;

/// The sphere grows and shrinks by a tenth, three times a second: its surface is as fast as 0.19 m/s, and slows down by 3.6 m/s², a third of
/// gravity, so that it pushes what rests on it and never leaves it.
fn breath(time: f64) -> f64 {
    1.0 + 0.1 * (TAU * 3.0 * time).sin()
}

fn breathing(strands: &[Vec<DVec3>]) -> Arc<Skin> {
    Skin::new(strands, gallery::sphere(SPHERE, 4), |at, time| at * breath(time))
}

/// Strands of edges of 1 cm, one across the other, above the top of the sphere.
fn across(count: usize) -> Vec<Vec<DVec3>> {
    let strand = |n: usize| {
        let (x, z) = (0.012 * (n % 3) as f64 - 0.012, 0.012 * (n / 3) as f64 - 0.012);
        let way = DQuat::from_rotation_y(0.9 * n as f64) * DVec3::X * 0.06;
        let middle = DVec3::new(x, 0.105 + 0.002 * n as f64, z);
        straight(middle - way, middle + way, 12)
    };
    (0..count).map(strand).collect()
}

/// How high the facets of a mesh with edges of up to s rise over its ridges where it has a radius of curvature R: s²/8R [m].
///
/// Vertices of hair are off by no more than half of their radius: else a step would have broken their law. So are edges where they are deepest;
/// they may have come to be deepest elsewhere while their contacts were solved for, by the height of facets.
fn facets(mesh: &Triangles, curvature: f64) -> f64 {
    let edges = mesh.iter().flat_map(|[a, b, c]| [a.distance(b), b.distance(c), c.distance(a)]);
    0.125 * edges.fold(0.0, f64::max).powi(2) / curvature
}

/// So many strands on the breathing sphere, whose contacts give way by some length [m].
fn stays_on_a_breathing_sphere(response: &str, count: usize, gives: f64) {
    let facet = facets(&gallery::sphere(SPHERE, 4), SPHERE);
    let skin = breathing(&across(count));
    let mut simulation = run(&hair(strands(), collider("skin"), response), &skin);
    for frame in 1..=7 {
        frames(&mut simulation, 1);
        let places = vectors(&simulation, "rod", "position");
        let time = f64::from(frame) / 24.0;
        let mesh = MeshSolid::new(skin.at(time), Inside::default()).unwrap();
        let [vertex, edge] = nearest(&mesh, &places, 13);
        assert!(vertex > 0.5 * RADIUS - gives, "{response}, frame {frame}: {vertex:e} m");
        assert!(edge > 0.5 * RADIUS - gives - facet, "{response}, frame {frame}: {edge:e} m");
        // What rests on it is not faster across it than what gravity makes in a step.
        let rate = 0.1 * TAU * 3.0 * (TAU * 3.0 * time).cos() / breath(time);
        for (at, v) in places.iter().zip(vectors(&simulation, "rod", "v")) {
            let off = (v - rate * *at).dot(at.normalize());
            let rests = frame > 6 && mesh.distance(*at) < (1.0 + 1e-3) * RADIUS;
            assert!(!rests || off.abs() < 9.81 / 48.0, "{response}, frame {frame}: {off} m/s");
        }
    }
}

#[test]
fn hair_stays_on_a_sphere_that_breathes() {
    stays_on_a_breathing_sphere("hard", 9, 0.0);
}

/// A spring of 1 N/m gives way to the weight of a vertex, 4 µN, by as many µm.
#[test]
fn hair_on_springs_stays_on_a_sphere_that_breathes() {
    stays_on_a_breathing_sphere("penalty", 4, 4e-6);
}

/// Straight ways of vertices are those of a steady motion, so that only rounding differs.
#[test]
fn a_mesh_whose_vertices_move_together_is_one_that_moves_as_a_whole() {
    for response in ["hard", "penalty"] {
        let velocity = DVec3::new(0.15, 0.25, 0.0);
        let rest = gallery::sphere(SPHERE, 3);
        let skin = Skin::new(&across(4), rest.clone(), move |at, time| at + time * velocity);
        let setup = hair(strands(), collider("skin"), response);
        let mut deforming = run(&setup, &skin);
        let twist = Twist { linear: velocity, angular: DVec3::ZERO };
        let whole = Data {
            geometry: Geometry::Surface(Arc::new(rest.into_surface("skin").unwrap())),
            motion: Some(Motion::steady(Pose::IDENTITY, twist).unwrap()),
            ..Data::default()
        };
        let inputs = vec![("rod", curves(&across(4))), ("skin", whole)];
        let mut moved = Run { substeps: 2, iterations: 1 }.of(&setup, inputs);
        for frame in 1..=6 {
            frames(&mut deforming, 1);
            frames(&mut moved, 1);
            let [one, other] =
                [&deforming, &moved].map(|simulation| vectors(simulation, "rod", "position"));
            let apart = one.iter().zip(&other).map(|(a, b)| a.distance(*b)).fold(0.0, f64::max);
            assert!(apart < 1e-9, "{response}, frame {frame}: {apart:e} m apart");
        }
    }
}

/// A sheet is stretched along x and lifted. What lies across it is as fast as the surface where it lies: it has slipped as long as friction took to
/// make it so, by v²/2μg, and half a step more.
#[test]
fn hair_goes_along_with_a_sheet_that_is_stretched_and_lifted() {
    let (rate, up, thick) = (0.8, 0.05, 2e-3);
    for response in ["hard", "penalty"] {
        let place =
            move |at: DVec3, time: f64| DVec3::new(at.x * (1.0 + rate * time), up * time, -at.y);
        let begins = [-0.1, -0.03, 0.04, 0.1];
        let height = 0.5 * thick + RADIUS;
        let lie =
            begins.map(|x| straight(DVec3::new(x, height, -0.05), DVec3::new(x, height, 0.05), 8));
        let skin = Skin::new(&lie, gallery::sheet([0.3, 0.3], [12, 12]), place);
        let mut simulation =
            run(&hair(strands(), collider("skin").set("thickness", thick), response), &skin);
        frames(&mut simulation, 12);
        let places = vectors(&simulation, "rod", "position");
        let velocities = vectors(&simulation, "rod", "v");
        for (n, (at, v)) in places.iter().zip(&velocities).enumerate() {
            let begin = begins[n / 9];
            let wanted = begin * (1.0 + 0.5 * rate);
            let speed = (rate * begin).abs();
            let slipped = speed * speed / (2.0 * 0.5 * 9.81) + 0.5 * speed / 48.0;
            assert!((at.x - wanted).abs() < slipped, "{response}: {at}, not at {wanted}");
            // The weight of a vertex, 5 µN, presses a spring of 1 N/m by 5 µm.
            let sinks = if response == "hard" { 1e-6 } else { 6e-6 };
            assert!((at.y - height - 0.5 * up).abs() < sinks, "{response}: {at}");
            let wanted = DVec3::new(rate * at.x / (1.0 + 0.5 * rate), up, 0.0);
            assert!(v.distance(wanted) < 1e-3 * wanted.length(), "{response}: {v}, not {wanted}");
        }
    }
}

/// A bump z = h exp(−r²/w²) rises out of a sheet below strands that lie on it, to 3 cm in a quarter of a second; the radius of its curvature is
/// w²/2h, where it is strongest.
#[test]
fn hair_is_lifted_by_a_bump() {
    let (thick, high, wide) = (1e-3, 0.03, 0.08);
    let sheet = gallery::sheet([0.2, 0.2], [40, 40]);
    let facet = facets(&sheet, 0.5 * wide * wide / high);
    for (response, gives) in [("hard", 0.0), ("penalty", 6e-6)] {
        let place = move |at: DVec3, time: f64| {
            let part = 0.5 - 0.5 * (PI * (4.0 * time).clamp(0.0, 1.0)).cos();
            let far = at.truncate().length_squared() / (wide * wide);
            DVec3::new(at.x, high * part * (-far).exp(), -at.y)
        };
        let height = 0.5 * thick + RADIUS;
        let lie = [-0.01, 0.005, 0.02]
            .map(|x| straight(DVec3::new(x, height, -0.06), DVec3::new(x, height, 0.06), 12));
        let skin = Skin::new(&lie, sheet.clone(), place);
        let mut simulation =
            run(&hair(strands(), collider("skin").set("thickness", thick), response), &skin);
        for frame in 1..=10 {
            frames(&mut simulation, 1);
            let places = vectors(&simulation, "rod", "position");
            let mesh = MeshSolid::new(skin.at(f64::from(frame) / 24.0), Inside::Thickness(thick));
            let [vertex, edge] = nearest(&mesh.unwrap(), &places, 13);
            assert!(vertex > 0.5 * RADIUS - gives, "{response}, frame {frame}: {vertex:e} m");
            assert!(edge > 0.5 * RADIUS - gives - facet, "{response}, frame {frame}: {edge:e} m");
        }
        let highest = vectors(&simulation, "rod", "position").iter().fold(0.0, |y, at| at.y.max(y));
        assert!(highest > high, "{response}: {highest} m");
    }
}

#[test]
fn hair_on_a_mesh_that_deforms_has_the_same_bytes_on_more_threads() {
    let begin = || run(&hair(strands(), collider("skin"), "hard"), &breathing(&across(4)));
    let end = |threads| same_bytes::on_threads(threads, 3, begin);
    assert!(end(1) == end(3), "threads do not show");
}

/// Strands that stand on vertices of a sphere, or begin below them, by some depth [m]; and which vertices those are.
fn rooted(sphere: &Triangles, deep: f64) -> (Vec<usize>, Vec<Vec<DVec3>>) {
    let all = sphere.positions();
    let towards = |way: DVec3| {
        let along = |n: &usize| all[*n].dot(way);
        (0..all.len()).max_by(|a, b| along(a).total_cmp(&along(b))).unwrap()
    };
    let ways = [DVec3::Y, DVec3::new(1.0, 0.5, 0.0), DVec3::new(-0.3, 0.2, 1.0), DVec3::Z];
    let roots = ways.map(towards).to_vec();
    let strand = |n: &usize| {
        let out = all[*n].normalize();
        straight(all[*n] - deep * out, all[*n] + 0.06 * out, 8)
    };
    let strands = roots.iter().map(strand).collect();
    (roots, strands)
}

/// A strand weighs 24 µN, and what breathes makes a third more of it: an attachment of 10⁴ N/m gives way to that by 3 nm. Contacts of roots with
/// the skin carry no more than the strands weigh; a root that was pushed out of it, by its radius, would be with 1 N.
#[test]
fn roots_stay_on_the_skin_that_they_are_attached_to() {
    let sphere = gallery::sphere(SPHERE, 4);
    for deep in [0.0, 1e-3] {
        let (roots, stand) = rooted(&sphere, deep);
        let skin = breathing(&stand);
        let scalp = Behavior::new(&undine_actions::anchors::DECLARATION);
        let weld = Behavior::new(&undine_actions::attachment::DECLARATION)
            .set("to", "scalp")
            .set("on", "points")
            .set("emission", "pair")
            .set("normal-stiffness", 1e4)
            .set("tangent-stiffness", 1e4)
            .set("orientation-stiffness", [1e-3; 3]);
        let setup = hair(strands(), collider("skin"), "hard")
            .with(scalp.named("scalp").set("input", "skin"))
            .with(weld);
        let mut simulation = run(&setup, &skin);
        for frame in 1..=12 {
            frames(&mut simulation, 1);
            let places = vectors(&simulation, "rod", "position");
            let mesh = skin.at(f64::from(frame) / 24.0);
            for (n, root) in roots.iter().enumerate() {
                let on = mesh.positions()[*root];
                let off = places[9 * n].distance(on - deep * on.normalize());
                assert!(off < 1e-8, "{deep} m deep, frame {frame}: off by {off:e} m");
            }
            let forces = forces_and_normals(&simulation);
            let most = forces.iter().map(|[force, _]| force.length()).fold(0.0, f64::max);
            assert!(most < 1e-4, "{deep} m deep, frame {frame}: {most:e} N");
        }
    }
}

/// Roots that the scene holds go wherever it says, also through skin: nobody can hold them off it, and strands need not be held back for them. In two
/// frames, while the skin grows over the root, the tip falls by gt²/2, which is 3.4 cm.
#[test]
fn roots_that_the_scene_holds_below_the_skin_do_not_hold_strands_back() {
    let skin = breathing(&[straight(DVec3::X * 0.095, DVec3::X * 0.255, 10)]);
    let clamped = strands().set("roots", "clamped");
    let mut simulation = run(&hair(clamped, collider("skin"), "hard"), &skin);
    frames(&mut simulation, 2);
    let tip = vectors(&simulation, "rod", "position")[10];
    // It falls freely, but for the first steps of backward Euler and for being bent.
    assert!(tip.y < -0.02, "{tip}");
}
