//! What tests of rods share: strands along a line, and setups of them.

use crate::scene::Run;
use std::sync::Arc;
use undine_core::glam::DVec3;
use undine_core::mesh::{Curves, Strands};
use undine_schema::setup::{Behavior, Group};
use undine_sim::Simulation;
use undine_sim::input::{Data, Geometry};

/// Curves through these points.
pub fn curves(strands: &[Vec<DVec3>]) -> Data {
    let mut offsets = vec![0];
    for strand in strands {
        offsets.push(offsets[offsets.len() - 1] + strand.len() as u32);
    }
    let curves = Curves::new("curves", strands.concat(), Strands::open(offsets).unwrap()).unwrap();
    Data::new(Geometry::Curves(Arc::new(curves)))
}

/// A straight strand of `edges` edges.
pub fn straight(from: DVec3, to: DVec3, edges: usize) -> Vec<DVec3> {
    (0..=edges).map(|n| from.lerp(to, n as f64 / edges as f64)).collect()
}

/// A rod of length 1 m along x.
pub fn clamped(edges: usize) -> Vec<DVec3> {
    straight(DVec3::ZERO, DVec3::X, edges)
}

/// The same curves, the first axes of their cross-sections looking along these vectors.
pub fn with_axes(data: &Data, axes: Vec<DVec3>) -> Data {
    with_vectors(data, "N", axes)
}

/// The same curves with a channel of vectors.
pub fn with_vectors(data: &Data, name: &str, vectors: Vec<DVec3>) -> Data {
    let mut cloud = data.cloud().unwrap().into_owned();
    cloud.vectors.insert(name.to_owned(), vectors);
    data.with_cloud(cloud).unwrap()
}

/// The same curves with a channel of numbers.
pub fn with_numbers(data: &Data, name: &str, numbers: Vec<f64>) -> Data {
    let mut cloud = data.cloud().unwrap().into_owned();
    cloud.numbers.insert(name.to_owned(), numbers);
    data.with_cloud(cloud).unwrap()
}

/// A rod of a circular cross-section.
pub fn rod() -> Behavior {
    Behavior::new(&undine_solid::curves::object::DECLARATION).named("rod").set("input", "rod")
}

pub fn stretching() -> Behavior {
    Behavior::new(&undine_solid::curves::stretching::DECLARATION)
}

pub fn bending() -> Behavior {
    Behavior::new(&undine_solid::curves::bending::DECLARATION)
}

pub fn twisting() -> Behavior {
    Behavior::new(&undine_solid::curves::twisting::DECLARATION)
}

pub fn gravity() -> Behavior {
    Behavior::new(&undine_actions::gravity::DECLARATION)
}

/// The rod with all that makes it one.
pub fn elastic(rod: Behavior) -> Group {
    Group::default().with(rod).with(stretching()).with(bending()).with(twisting())
}

/// Steps so long that a step ends at rest.
pub fn at_rest(setup: &Group, data: Data) -> Simulation {
    Run { substeps: 1, iterations: 60 }.with_frame(1.0).of(setup, vec![("rod", data)])
}
