//! Sources of solids by formulas, exact or as a mesh: box, sphere, cylinder, torus, capsule, plane.

use super::{Call, Fault};
use std::f64::consts::{FRAC_PI_2, PI, TAU};
use std::sync::Arc;
use undine_core::glam::{DQuat, DVec3};
use undine_geometry::{Pose, Shape, Triangles, gallery};
use undine_io::UpAxis;
use undine_schema::{Declaration, Dimension, Kind, Parameter};
use undine_sim::input::{Data, Geometry};

const CENTRE: Parameter =
    Parameter::vector("centre", Dimension::LENGTH, [0.0; 3], "where its middle is");
const FORM: Parameter = Parameter::choice(
    "form",
    &[("solid", "exact, by a formula"), ("surface", "a closed mesh of triangles")],
    "what it is made of",
);
const DETAIL: Parameter = Parameter::integer(
    "detail",
    4,
    "how fine a surface is: each more has four times the triangles",
)
.between(0.0, 9.0);
pub(super) const AXIS: Parameter = Parameter::choice(
    "axis",
    &[("up", "the scene's"), ("x", "along x"), ("y", "along y"), ("z", "along z")],
    "along which axis it stands",
);
const RADIUS: Parameter =
    Parameter::number("radius", Dimension::LENGTH, 0.5, "its radius").positive();
const HEIGHT: Parameter =
    Parameter::number("height", Dimension::LENGTH, 1.0, "how high it is").positive();

const fn source(
    name: &'static str,
    doc: &'static str,
    parameters: &'static [Parameter],
    example: &'static str,
) -> Declaration {
    Declaration { name, kind: Kind::Source, doc, about: "", parameters, example }
}

pub(super) static BOX: Declaration = source(
    "box",
    "A box",
    &[Parameter::vector("size", Dimension::LENGTH, [1.0; 3], "its sides").positive(), CENTRE, FORM],
    "input \"crate\" { box size=\"1 0.5 1 m\" }",
);
pub(super) static SPHERE: Declaration = source(
    "sphere",
    "A ball",
    &[RADIUS, CENTRE, FORM, DETAIL],
    "input \"ball\" { sphere radius=\"20 cm\" }",
);
pub(super) static CYLINDER: Declaration = source(
    "cylinder",
    "A cylinder",
    &[RADIUS, HEIGHT, AXIS, CENTRE, FORM, DETAIL],
    "input \"post\" { cylinder radius=\"10 cm\" height=\"2 m\" }",
);
pub(super) static TORUS: Declaration = source(
    "torus",
    "A ring",
    &[
        Parameter::number("ring", Dimension::LENGTH, 0.5, "the radius of the ring's middle line")
            .positive(),
        Parameter::number("tube", Dimension::LENGTH, 0.2, "the radius of the tube").positive(),
        AXIS,
        CENTRE,
        FORM,
        DETAIL,
    ],
    "input \"ring\" { torus ring=\"50 cm\" tube=\"10 cm\" }",
);
pub(super) static CAPSULE: Declaration = source(
    "capsule",
    "A cylinder with round ends",
    &[
        RADIUS,
        Parameter::number(
            "length",
            Dimension::LENGTH,
            1.0,
            "from the middle of one end to that of the other",
        )
        .not_negative(),
        AXIS,
        CENTRE,
        FORM,
        DETAIL,
    ],
    "input \"arm\" { capsule radius=\"5 cm\" length=\"30 cm\" axis=\"x\" }",
);
pub(super) static PLANE: Declaration = source(
    "plane",
    "Everything below a plane: a floor or a wall without end",
    &[
        Parameter::vector(
            "normal",
            Dimension::NONE,
            [0.0; 3],
            "out of it; by default the scene's up",
        )
        .optional(),
        Parameter::vector("centre", Dimension::LENGTH, [0.0; 3], "a point of it"),
    ],
    "input \"floor\" { plane }",
);

pub(super) fn cuboid(call: &Call<'_>) -> Result<Data, Fault> {
    let half = 0.5 * call.given.vector("size")?;
    made(call, Pose::IDENTITY, || Ok(Shape::cuboid(half)?), |_| gallery::cuboid(half))
}

pub(super) fn sphere(call: &Call<'_>) -> Result<Data, Fault> {
    let radius = call.given.number("radius")?;
    let mesh = |detail: u32| gallery::sphere(radius, detail);
    made(call, Pose::IDENTITY, || Ok(Shape::sphere(radius)?), mesh)
}

pub(super) fn cylinder(call: &Call<'_>) -> Result<Data, Fault> {
    let (radius, height) = (call.given.number("radius")?, call.given.number("height")?);
    let half = 0.5 * height;
    let mesh = |detail: u32| turned(&[[radius, -half], [radius, half]], [-half, half], 8 << detail);
    made(call, upright(call)?, || Ok(Shape::cylinder(radius, height)?), mesh)
}

pub(super) fn torus(call: &Call<'_>) -> Result<Data, Fault> {
    let (ring, tube) = (call.given.number("ring")?, call.given.number("tube")?);
    // The formula's bounds hold for the mesh too.
    let shape = Shape::torus(ring, tube)?;
    let mesh = |detail: u32| gallery::torus(ring, tube, 8 << detail, 4 << detail);
    made(call, upright(call)?, || Ok(shape), mesh)
}

pub(super) fn capsule(call: &Call<'_>) -> Result<Data, Fault> {
    let (radius, length) = (call.given.number("radius")?, call.given.number("length")?);
    let half = 0.5 * length;
    let mesh = |detail: u32| {
        let steps = 2 << detail;
        let at = |n: u32, side: f64| {
            let (sin, cos) = (FRAC_PI_2 * f64::from(n) / f64::from(steps)).sin_cos();
            [radius * cos, side * (half + radius * sin)]
        };
        let lower = (0..steps).rev().map(|n| at(n, -1.0));
        // Without a straight part both halves share their widest ring.
        let upper = (u32::from(half == 0.0)..steps).map(|n| at(n, 1.0));
        let rings: Vec<[f64; 2]> = lower.chain(upper).collect();
        turned(&rings, [-half - radius, half + radius], 8 << detail)
    };
    made(call, upright(call)?, || Ok(Shape::capsule(radius, length)?), mesh)
}

pub(super) fn plane(call: &Call<'_>) -> Result<Data, Fault> {
    let normal = match call.given.value("normal")? {
        Some(_) => call.given.vector("normal")?,
        None => up_axis(call.context().up),
    };
    let unit = normal
        .try_normalize()
        .ok_or_else(|| Fault::parameter("normal", normal, "a direction has a length"))?;
    let shape = Shape::half_space(unit, unit.dot(call.given.vector("centre")?))?;
    Ok(Data::new(Geometry::Shape(Arc::new(shape))))
}

/// Turned about its own middle, and put where it belongs.
fn made(
    call: &Call<'_>,
    turn: Pose,
    shape: impl FnOnce() -> Result<Shape, Fault>,
    mesh: impl FnOnce(u32) -> Triangles,
) -> Result<Data, Fault> {
    let pose = Pose { translation: call.given.vector("centre")?, ..turn };
    // Also a surface is only made of lengths that the formula allows.
    let shape = shape()?.moved(&pose)?;
    if call.given.text("form")? == "solid" {
        return Ok(Data::new(Geometry::Shape(Arc::new(shape))));
    }
    let detail = match call.given.declaration.parameter("detail") {
        Some(_) => call.given.count("detail")?,
        None => 0,
    };
    let (positions, triangles) = mesh(detail).into_parts();
    let positions = positions.into_iter().map(|at| pose.to_world(at)).collect();
    let surface =
        Triangles::new(positions, triangles)?.into_surface(call.given.declaration.name)?;
    Ok(Data::new(Geometry::Surface(Arc::new(surface))))
}

/// The direction of an axis.
pub(super) fn up_axis(up: UpAxis) -> DVec3 {
    match up {
        UpAxis::Y => DVec3::Y,
        UpAxis::Z => DVec3::Z,
    }
}

/// The turn from z to the axis that is asked for.
pub(super) fn upright(call: &Call<'_>) -> Result<Pose, Fault> {
    let axis = match call.given.text("axis")?.as_str() {
        "x" => DVec3::X,
        "y" => DVec3::Y,
        "z" => DVec3::Z,
        _ => up_axis(call.context().up),
    };
    // Quarter turns, so that sides stay along axes.
    let rotation = match axis {
        DVec3::X => DQuat::from_rotation_y(0.5 * PI),
        DVec3::Y => DQuat::from_rotation_x(-0.5 * PI),
        _ => DQuat::IDENTITY,
    };
    Ok(Pose { rotation, ..Pose::IDENTITY })
}

/// Rings of [radius, z] about z from low to high, closed by a point at either end.
fn turned(rings: &[[f64; 2]], ends: [f64; 2], around: u32) -> Triangles {
    let mut positions = Vec::new();
    for &[radius, z] in rings {
        for n in 0..around {
            let (sin, cos) = (TAU * f64::from(n) / f64::from(around)).sin_cos();
            positions.push(DVec3::new(radius * cos, radius * sin, z));
        }
    }
    let bottom = positions.len() as u32;
    let top = bottom + 1;
    positions.extend(ends.map(|z| DVec3::new(0.0, 0.0, z)));
    let at = |ring: u32, n: u32| ring * around + n % around;
    let last = rings.len() as u32 - 1;
    let mut triangles = Vec::new();
    for n in 0..around {
        triangles.push([bottom, at(0, n + 1), at(0, n)]);
        triangles.push([top, at(last, n), at(last, n + 1)]);
        for ring in 0..last {
            let [a, b, c, d] = [at(ring, n), at(ring, n + 1), at(ring + 1, n + 1), at(ring + 1, n)];
            triangles.extend([[a, b, c], [a, c, d]]);
        }
    }
    Triangles::new(positions, triangles).expect("rings are finite, and refer to each other")
}
