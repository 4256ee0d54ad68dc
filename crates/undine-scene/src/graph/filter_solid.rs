//! Filters on solids: `subtract`, `intersect`, `hollow` and `invert`, by which a box becomes a tank and a cylinder a glass.

use super::filter_points::other;
use super::{Call, Fault};
use std::sync::Arc;
use undine_core::mesh::Bounds;
use undine_geometry::levelset::Extent;
use undine_geometry::{LevelSet, Pose, Shape};
use undine_schema::{Declaration, Dimension, Kind, Parameter, Type};
use undine_sim::input::{Data, Geometry};

const WITH: Parameter =
    Parameter::new("with", Type::Input, "the other solid; by default what the nodes within make")
        .optional();

const BLEND: Parameter =
    Parameter::number("blend", Dimension::LENGTH, 0.0, "how widely the edge between is rounded")
        .not_negative();

pub(super) static SUBTRACT: Declaration = Declaration {
    name: "subtract",
    kind: Kind::Filter,
    doc: "Takes another solid out of this one",
    about: "Both are solids by formulas, or both level sets of one voxel size, or the other one of a level set is a solid by formulas. A surface becomes a level set by `to-distance`.",
    parameters: &[WITH, BLEND],
    example: "subtract { box size=\"90 100 90 cm\"; transform translate=\"0 10 0 cm\" }",
};

pub(super) static INTERSECT: Declaration = Declaration {
    name: "intersect",
    kind: Kind::Filter,
    doc: "Leaves what this solid and another have in common",
    about: "Both are solids by formulas, or both level sets of one voxel size, or the other one of a level set is a solid by formulas. A surface becomes a level set by `to-distance`.",
    parameters: &[WITH, BLEND],
    example: "intersect { sphere radius=\"30 cm\" }",
};

pub(super) static HOLLOW: Declaration = Declaration {
    name: "hollow",
    kind: Kind::Filter,
    doc: "Leaves a wall of a solid, and nothing inside",
    about: "The wall lies within the solid: from the outside it looks as before.",
    parameters: &[
        Parameter::number("thickness", Dimension::LENGTH, 0.1, "thickness of the wall").positive()
    ],
    example: "hollow thickness=\"5 cm\"",
};

pub(super) static INVERT: Declaration = Declaration {
    name: "invert",
    kind: Kind::Filter,
    doc: "Makes the inside of a solid the outside",
    about: "An inverted box is a tank that nothing leaves: walls without end around a room.",
    parameters: &[],
    example: "input \"tank\" { box size=\"1 1 1 m\"; invert }",
};

pub(super) fn subtract(call: &Call<'_>) -> Result<Data, Fault> {
    let blend = call.given.number("blend")?;
    both(call, |a, b| a.minus(b, blend), |a, b| a.difference(b, blend))
}

pub(super) fn intersect(call: &Call<'_>) -> Result<Data, Fault> {
    let blend = call.given.number("blend")?;
    let shapes = |a, b| Shape::intersection(vec![a, b], blend);
    both(call, shapes, |a, b| a.intersection(b, blend))
}

pub(super) fn hollow(call: &Call<'_>) -> Result<Data, Fault> {
    let thickness = call.given.number("thickness")?;
    one(call, |shape| shape.hollow(thickness))
}

pub(super) fn invert(call: &Call<'_>) -> Result<Data, Fault> {
    one(call, Shape::inverted)
}

/// What becomes of a solid by formulas.
fn one(
    call: &Call<'_>,
    shape: impl FnOnce(Shape) -> undine_geometry::Result<Shape>,
) -> Result<Data, Fault> {
    let mut data = call.data_at_rest()?;
    let Geometry::Shape(of) = &data.geometry else {
        return Err(Fault::WrongData { found: data.noun(), wanted: "a solid by formulas" });
    };
    data.geometry = Geometry::Shape(Arc::new(shape(Shape::clone(of))?));
    Ok(data)
}

/// This solid with another, both by formulas or both level sets.
fn both(
    call: &Call<'_>,
    shapes: impl FnOnce(Shape, Shape) -> undine_geometry::Result<Shape>,
    sets: impl FnOnce(&LevelSet, &LevelSet) -> undine_geometry::Result<LevelSet>,
) -> Result<Data, Fault> {
    let (mut data, other) = (call.data_at_rest()?, other(call)?);
    data.geometry = match (&data.geometry, &other.geometry) {
        (Geometry::Empty, _) => Geometry::Empty,
        (Geometry::Shape(a), Geometry::Shape(b)) => {
            Geometry::Shape(Arc::new(shapes(Shape::clone(a), Shape::clone(b))?))
        }
        (Geometry::LevelSet(a), Geometry::LevelSet(b)) => Geometry::LevelSet(Arc::new(sets(a, b)?)),
        (Geometry::LevelSet(a), Geometry::Shape(b)) => {
            let b = cut_to(a, b)?;
            Geometry::LevelSet(Arc::new(sets(a, &b)?))
        }
        _ => {
            let wanted =
                "two solids by formulas, two level sets, or a level set and a solid by formulas";
            return Err(Fault::WrongData { found: other.noun(), wanted });
        }
    };
    Ok(data)
}

/// The distances to a solid around the voxels of a level set: what lies elsewhere, they do not meet.
fn cut_to(set: &LevelSet, solid: &Shape) -> undine_geometry::Result<LevelSet> {
    let frame = set.domain().frame();
    let boxes = set.topology().all().buckets().map(|bucket| {
        let min = frame.corner(bucket);
        Bounds { min, max: min + frame.bucket_size(0) }
    });
    let Some(around) = boxes.reduce(Bounds::union) else {
        return LevelSet::empty("the other solid", set.domain(), f64::from(set.width()));
    };
    let room = 2.0 * f64::from(set.width());
    let half = 0.5 * around.size() + room;
    let room = Shape::cuboid(half)?.moved(&Pose::at(0.5 * (around.min + around.max)))?;
    let solid = Shape::intersection(vec![solid.clone(), room], 0.0)?;
    let band = f64::from(set.width()) / set.voxel_size();
    LevelSet::of_solid("the other solid", set.domain(), &solid, Extent::Band(band))
}
