//! Sources of meshes and points: a sheet, a grid of curves, a box of tetrahedra, a few points.

use super::source_shape::{AXIS, upright};
use super::{Call, Fault};
use std::sync::Arc;
use undine_core::glam::{DVec3, UVec3};
use undine_core::mesh::{Body, Curves, Polygons, Strands, Surface, Tetrahedra};
use undine_schema::{Declaration, Dimension, Kind, Parameter, Quantity, Type};
use undine_sim::input::{Data, Geometry};

const CENTRE: Parameter =
    Parameter::vector("centre", Dimension::LENGTH, [0.0; 3], "where its middle is");

/// More vertices than these are asked for by a slip of the hand.
const MOST_VERTICES: u64 = 1 << 28;

pub(super) static SHEET: Declaration = Declaration {
    name: "sheet",
    kind: Kind::Source,
    doc: "An open rectangle of quadrangles: cloth, paper, the surface of a pond",
    about: "",
    parameters: &[
        Parameter::number("width", Dimension::LENGTH, 1.0, "its first side").positive(),
        Parameter::number("depth", Dimension::LENGTH, 1.0, "its second side").positive(),
        Parameter::integer("columns", 10, "quadrangles along its first side").between(1.0, 65536.0),
        Parameter::integer("rows", 10, "quadrangles along its second side").between(1.0, 65536.0),
        AXIS,
        CENTRE,
    ],
    example: "input \"cloth\" { sheet width=\"2 m\" depth=\"1 m\" columns=40 rows=20 }",
};

pub(super) static CURVES: Declaration = Declaration {
    name: "grid-of-curves",
    kind: Kind::Source,
    doc: "Straight curves that stand in rows: a brush, a meadow, a first groom",
    about: "Each curve begins on the plane and grows along the axis.",
    parameters: &[
        Parameter::integer("columns", 10, "curves in a row").between(1.0, 65536.0),
        Parameter::integer("rows", 10, "rows of curves").between(1.0, 65536.0),
        Parameter::number("spacing", Dimension::LENGTH, 0.01, "from one curve to the next")
            .positive(),
        Parameter::number("length", Dimension::LENGTH, 0.1, "of each curve").positive(),
        Parameter::integer("segments", 10, "edges of each curve").between(1.0, 65536.0),
        AXIS,
        CENTRE,
    ],
    example: "input \"brush\" { grid-of-curves columns=20 rows=20 spacing=\"1 mm\" length=\"2 cm\" }",
};

pub(super) static TET_BOX: Declaration = Declaration {
    name: "tet-box",
    kind: Kind::Source,
    doc: "A box of tetrahedra, six in each of its cells",
    about: "Kuhn's division: cells side by side share their diagonals.",
    parameters: &[
        Parameter::vector("size", Dimension::LENGTH, [1.0; 3], "its sides").positive(),
        Parameter::vector("cells", Dimension::NONE, [4.0; 3], "cells along each side")
            .between(1.0, 65536.0),
        CENTRE,
    ],
    example: "input \"jelly\" { tet-box size=\"10 10 10 cm\" cells=\"8 8 8\" }",
};

pub(super) static POINTS: Declaration = Declaration {
    name: "points",
    kind: Kind::Source,
    doc: "A few points, written out",
    about: "",
    parameters: &[Parameter::new(
        "at",
        Type::Text,
        "where they are, one behind the other, with semicolons between them",
    )],
    example: "input \"two\" { points at=\"0 0 0 cm; 0 10 0 cm\" }",
};

pub(super) fn sheet(call: &Call<'_>) -> Result<Data, Fault> {
    let given = &call.given;
    let sides = [given.number("width")?, given.number("depth")?];
    let quads = [given.count("columns")?, given.count("rows")?];
    let [columns, rows] = quads.map(|n| n + 1);
    allow("rows", [columns, rows, 1])?;
    let mut pose = upright(call)?;
    pose.translation = given.vector("centre")?;
    let place = |n: u32, quads: u32, side: f64| (f64::from(n) / f64::from(quads) - 0.5) * side;
    let vertex = |n: u32| {
        let [x, y] = [place(n / rows, quads[0], sides[0]), place(n % rows, quads[1], sides[1])];
        pose.to_world(DVec3::new(x, y, 0.0))
    };
    let positions = (0..columns * rows).map(vertex).collect();
    let first = (0..quads[0]).flat_map(|x| (0..quads[1]).map(move |y| x * rows + y));
    let faces: Vec<[u32; 4]> = first.map(|a| [a, a + rows, a + rows + 1, a + 1]).collect();
    let surface = Surface::new("sheet", positions, Polygons::from_faces(&faces)?)?;
    Ok(Data::new(Geometry::Surface(Arc::new(surface))))
}

pub(super) fn curves(call: &Call<'_>) -> Result<Data, Fault> {
    let given = &call.given;
    let [columns, rows, segments] =
        [given.count("columns")?, given.count("rows")?, given.count("segments")?];
    let vertices = segments + 1;
    allow("segments", [columns, rows, vertices])?;
    let (spacing, length) = (given.number("spacing")?, given.number("length")?);
    let mut pose = upright(call)?;
    pose.translation = given.vector("centre")?;
    let mut positions = Vec::with_capacity((columns * rows * vertices) as usize);
    for column in 0..columns {
        for row in 0..rows {
            let x = spacing * (f64::from(column) - 0.5 * f64::from(columns - 1));
            let y = spacing * (f64::from(row) - 0.5 * f64::from(rows - 1));
            let root = DVec3::new(x, y, 0.0);
            for n in 0..vertices {
                let z = length * f64::from(n) / f64::from(segments);
                positions.push(pose.to_world(root + z * DVec3::Z));
            }
        }
    }
    let offsets = (0..=columns * rows).map(|curve| curve * vertices).collect();
    let curves = Curves::new("curves", positions, Strands::open(offsets)?)?;
    Ok(Data::new(Geometry::Curves(Arc::new(curves))))
}

pub(super) fn tet_box(call: &Call<'_>) -> Result<Data, Fault> {
    let (size, centre) = (call.given.vector("size")?, call.given.vector("centre")?);
    let cells = call.given.vector("cells")?;
    if cells.fract() != DVec3::ZERO {
        return Err(Fault::parameter("cells", cells, "three whole numbers are wanted"));
    }
    let cells = cells.as_uvec3();
    let nodes = cells + 1;
    allow("cells", nodes.to_array())?;
    let at = |node: UVec3| (node.x * nodes.y + node.y) * nodes.z + node.z;
    let mut positions = Vec::with_capacity(nodes.element_product() as usize);
    let mut tetrahedra = Vec::with_capacity(6 * cells.element_product() as usize);
    for node in every(nodes) {
        positions.push(centre + size * (node.as_dvec3() / cells.as_dvec3() - 0.5));
    }
    for cell in every(cells) {
        // Each order of the three axes is a way from the low corner to the high one, and a tetrahedron.
        for (axes, is_even) in ORDERS {
            let [a, b] = [cell + axes[0], cell + axes[0] + axes[1]];
            let [first, second] = if is_even { [a, b] } else { [b, a] };
            tetrahedra.push([cell, first, second, cell + 1].map(at));
        }
    }
    let body = Body::new("tet-box", positions, Tetrahedra::new(tetrahedra))?;
    Ok(Data::new(Geometry::Body(Arc::new(body))))
}

/// The first two steps along axes, and whether the order of axes is even.
const ORDERS: [([UVec3; 2], bool); 6] = [
    ([UVec3::X, UVec3::Y], true),
    ([UVec3::Y, UVec3::Z], true),
    ([UVec3::Z, UVec3::X], true),
    ([UVec3::Y, UVec3::X], false),
    ([UVec3::Z, UVec3::Y], false),
    ([UVec3::X, UVec3::Z], false),
];

fn every(counts: UVec3) -> impl Iterator<Item = UVec3> {
    (0..counts.x).flat_map(move |x| {
        (0..counts.y).flat_map(move |y| (0..counts.z).map(move |z| UVec3::new(x, y, z)))
    })
}

pub(super) fn points(call: &Call<'_>) -> Result<Data, Fault> {
    let text = call.given.text("at")?;
    let mut positions = Vec::new();
    for place in text.split(';').filter(|place| !place.trim().is_empty()) {
        let quantity =
            Quantity::parse(place).and_then(|quantity| quantity.expect::<3>(Dimension::LENGTH));
        let place = quantity.map_err(|why| Fault::Quantity { parameter: "at".to_owned(), why })?;
        positions.push(DVec3::from_array(place));
    }
    Ok(Data::points(positions))
}

fn allow(parameter: &str, counts: [u32; 3]) -> Result<(), Fault> {
    let wanted = counts.iter().fold(1, |product: u64, &n| product.saturating_mul(u64::from(n)));
    if wanted > MOST_VERTICES {
        let most = format!("at most {MOST_VERTICES} vertices are made");
        return Err(Fault::parameter(
            parameter,
            format!("so large that {wanted} vertices are needed"),
            most,
        ));
    }
    Ok(())
}
