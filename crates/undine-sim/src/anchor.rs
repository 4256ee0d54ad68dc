//! Where the lattices of a World begin: at the scene, not at the origin of its coordinates, so that a scene does not know where it is.
//!
//! Which Bucket something lies in decides the order of sums, ids and random numbers. Counted from the scene itself, all of these are
//! the same wherever it stands, and far away Buckets have small numbers too.
//!
//! The anchor is the lowest corner of the first input that has an end, in the order of evaluation, or its middle if it has no corner there, as a
//! ball has none: of Objects that are solved on voxels, or else of other Objects, or else of Actions. It is rounded down to whole
//! voxels from the origin of coordinates, so that what the scene puts on whole voxels lies on the faces of cells. It follows from the scene
//! alone: a run that is resumed, and each of several processes, finds the same.

use crate::input::{Data, Geometry, Inputs};
use crate::tree::{BehaviorEntry, Tree};
use undine_core::glam::DVec3;
use undine_geometry::Solid;
use undine_schema::{Kind, Level, Type, Value};

/// The anchor of a setup whose inputs are as they are at a time [s].
pub(crate) fn anchor(tree: &Tree, inputs: &dyn Inputs, time: f64) -> DVec3 {
    let at_work = tree.behaviors.iter().filter(|entry| entry.left_out.is_none());
    let is_object = |entry: &&BehaviorEntry| entry.scope.declaration.kind == Kind::Object;
    let (objects, others): (Vec<_>, Vec<_>) = at_work.partition(is_object);
    let is_on_voxels = |entry: &&BehaviorEntry| voxel(entry, time).is_some();
    let (on_voxels, not): (Vec<_>, Vec<_>) = objects.into_iter().partition(is_on_voxels);
    let mut all = on_voxels.iter().chain(&not).chain(&others);
    let place = all.find_map(|entry| place(entry, inputs, time)).unwrap_or(DVec3::ZERO);
    let voxels: Vec<f64> = on_voxels.iter().filter_map(|entry| voxel(entry, time)).collect();
    match common_multiple(&voxels) {
        Some(voxel) => voxel * (place / voxel + ON_FACE).floor(),
        None => place,
    }
}

/// What ends this part of a voxel before a face ends there: rounding decides nothing.
const ON_FACE: f64 = 1e-6;

/// Where what a Behavior takes begins [m]; none of what has no end, and of inputs with which something is wrong: whoever takes them
/// will say so.
fn place(entry: &BehaviorEntry, inputs: &dyn Inputs, time: f64) -> Option<DVec3> {
    let parameters = entry.scope.declaration.parameters.iter();
    let mut named = parameters.filter(|parameter| parameter.takes == Type::Input).filter_map(|p| {
        match entry.scope.setting(p.name, None)?.0.at(time) {
            Value::Text(name) => Some(name),
            _ => None,
        }
    });
    named.find_map(|name| beginning(&inputs.data(&name, time).ok()?.at(time).ok()?, time))
}

/// The lowest corner of some data [m], or its middle if it has no corner there.
fn beginning(data: &Data, time: f64) -> Option<DVec3> {
    let bounds = data.bounds(time)?;
    let near = ON_FACE * bounds.size().max_element();
    let has_corner = match &data.geometry {
        Geometry::Empty | Geometry::LevelSet(_) => false,
        Geometry::Shape(shape) => shape.distance(bounds.min).abs() <= near,
        _ => data.cloud().ok()?.positions.iter().any(|at| at.distance(bounds.min) <= near),
    };
    Some(if has_corner { bounds.min } else { bounds.centre() })
}

/// The size of the voxels that an Object is solved on [m]; none of one that only finds its neighbours by them.
fn voxel(entry: &BehaviorEntry, time: f64) -> Option<f64> {
    let parameter = entry.scope.declaration.parameter("voxel")?;
    match entry.scope.setting(parameter.name, None)?.0.at(time) {
        Value::Number(voxel) if parameter.level == Level::Basic && is_length(voxel) => Some(voxel),
        _ => None,
    }
}

fn is_length(length: f64) -> bool {
    length > 0.0 && length.is_finite()
}

/// Voxels of the largest size that a whole number of those of the other sizes may take to come out even.
const MOST_TO_COME_OUT: u32 = 64;

/// The least length of which all of these are whole parts, or the largest of them where it is not to be found soon.
fn common_multiple(lengths: &[f64]) -> Option<f64> {
    let largest = lengths.iter().copied().reduce(f64::max)?;
    let is_whole = |parts: f64| (parts - parts.round()).abs() < ON_FACE;
    let comes_out = |length: &f64| lengths.iter().all(|part| is_whole(length / part));
    let mut multiples = (1..=MOST_TO_COME_OUT).map(|n| f64::from(n) * largest);
    Some(multiples.find(comes_out).unwrap_or(largest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lattices_of_several_voxels_meet_at_multiples_of_all() {
        assert_eq!(common_multiple(&[]), None);
        assert_eq!(common_multiple(&[0.02]), Some(0.02));
        assert_eq!(common_multiple(&[0.025, 0.1, 0.05]), Some(0.1));
        assert!((common_multiple(&[0.02, 0.05]).unwrap() - 0.1).abs() < 1e-12);
        assert_eq!(common_multiple(&[0.1, 0.1 / std::f64::consts::PI]), Some(0.1));
    }
}
