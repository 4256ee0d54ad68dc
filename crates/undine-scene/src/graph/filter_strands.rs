//! Strands that grow from points: a first groom.

use super::files::add_to_curves;
use super::{Call, Fault};
use std::f64::consts::TAU;
use std::sync::Arc;
use undine_core::glam::{DQuat, DVec3};
use undine_core::mesh::{Curves, Strands};
use undine_geometry::random::unit;
use undine_schema::{Declaration, Dimension, Kind, Parameter};
use undine_sim::input::{Data, Geometry};

/// More vertices than these are asked for by a slip of the hand.
const MOST_VERTICES: u64 = 1 << 28;

pub(super) static STRANDS: Declaration = Declaration {
    name: "strands",
    kind: Kind::Filter,
    doc: "A strand on each point: hair, fur, grass",
    about: "Each strand begins at its point and grows along the normal `N` there, or upwards where points have none. `bend` is \
            added to its direction, the more the nearer to the tip; with a `curl-radius` it winds about its way. All edges \
            of a strand are of one length. Channels of points, such as a `pscale` or `youngs` of each, hold for the whole strand. The \
            same seed gives the same strands.",
    parameters: &[
        Parameter::number("length", Dimension::LENGTH, 0.2, "of each strand").positive(),
        Parameter::integer("segments", 31, "edges of each strand").between(1.0, 65536.0),
        Parameter::vector("bend", Dimension::NONE, [0.0; 3], "what is added to directions at tips"),
        Parameter::number("curl-radius", Dimension::LENGTH, 0.0, "radius of curls").not_negative(),
        Parameter::number("curl-length", Dimension::LENGTH, 0.05, "length of strand in a curl")
            .positive(),
        Parameter::number("variation", Dimension::NONE, 0.0, "share by which lengths differ")
            .between(0.0, 1.0),
        Parameter::vector(
            "towards",
            Dimension::NONE,
            [0.0, 1.0, 0.0],
            "with `within`: a direction",
        ),
        Parameter::number(
            "within",
            Dimension::ANGLE,
            std::f64::consts::PI,
            "only where the normal is within this angle of `towards`",
        )
        .between(0.0, std::f64::consts::PI),
        Parameter::integer("seed", 0, "other seeds give other strands"),
    ],
    example: "strands length=\"20 cm\" segments=31 curl-radius=\"5 mm\"",
};

pub(super) fn strands(call: &Call<'_>) -> Result<Data, Fault> {
    let given = &call.given;
    let Geometry::Points(_) = &call.data.geometry else {
        let wanted = "points, such as those of `scatter on=\"surface\"`";
        return Err(Fault::WrongData { found: call.data.noun(), wanted });
    };
    let cloud = call.data.cloud()?;
    let segments = given.count("segments")?;
    let vertices = cloud.positions.len() as u64 * (u64::from(segments) + 1);
    if vertices > MOST_VERTICES {
        let found = format!("so large that {vertices} vertices are needed");
        let most = format!("at most {MOST_VERTICES} vertices are made");
        return Err(Fault::parameter("segments", found, most));
    }
    let form = Form {
        length: given.number("length")?,
        segments,
        bend: given.vector("bend")?,
        curl_radius: given.number("curl-radius")?,
        curl_length: given.number("curl-length")?,
    };
    let (variation, seed) = (given.number("variation")?, given.seed()?);
    let towards = given.vector("towards")?.normalize_or(DVec3::Y);
    let least = given.number("within")?.cos();
    let up = match call.context().up {
        undine_io::UpAxis::Y => DVec3::Y,
        undine_io::UpAxis::Z => DVec3::Z,
    };
    let normals = cloud.vectors.get("N");
    let mut positions = Vec::new();
    let mut offsets = vec![0];
    let mut roots = Vec::new();
    for (n, &root) in cloud.positions.iter().enumerate() {
        let normal = normals.map_or(up, |normals| normals[n].normalize_or(up));
        if normal.dot(towards) < least {
            continue;
        }
        let id = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(n as u64);
        let share = 1.0 - variation * unit(id, 0);
        form.grow(root, normal, share, TAU * unit(id, 1), &mut positions);
        offsets.push(positions.len() as u32);
        roots.push(n);
    }
    let mut curves = Curves::new("strands", positions, Strands::open(offsets)?)?;
    // A number of a point is none of a vertex; and its normal is where the strand goes, not where its cross-sections look.
    for (name, values) in cloud.numbers.iter().filter(|(name, _)| *name != "id") {
        let own: Vec<f64> = roots.iter().map(|&n| values[n]).collect();
        add_to_curves(&mut curves, name, Some(own.into()), None)?;
    }
    for (name, values) in cloud.vectors.iter().filter(|(name, _)| *name != "N") {
        let own: Vec<DVec3> = roots.iter().map(|&n| values[n]).collect();
        add_to_curves(&mut curves, name, None, Some(own.into()))?;
    }
    let attributes = call.data.attributes.clone();
    let motion = call.data.motion.clone();
    Ok(Data { geometry: Geometry::Curves(Arc::new(curves)), attributes, motion })
}

/// What strands are like.
struct Form {
    length: f64,
    segments: u32,
    bend: DVec3,
    curl_radius: f64,
    curl_length: f64,
}

impl Form {
    /// Adds the vertices of a strand of a share of the length, its curls beginning at an angle [rad].
    fn grow(&self, root: DVec3, normal: DVec3, share: f64, angle: f64, out: &mut Vec<DVec3>) {
        let edge = self.length * share / f64::from(self.segments);
        // A helix of radius r has the length √(c² + (2πr)²) in a turn that advances by c; curls tighter than that are flat.
        let round = TAU * self.curl_radius;
        let (advance, turn) = match self.curl_radius > 0.0 {
            true => {
                let ahead = (self.curl_length * self.curl_length - round * round).max(0.0).sqrt();
                (edge * ahead / self.curl_length, TAU * edge / self.curl_length)
            }
            false => (edge, 0.0),
        };
        // Along the middle line first; curls are wound about it, from radius 0 at the root on.
        let mut frame = DQuat::from_rotation_arc(DVec3::X, normal);
        let mut middle = root;
        let mut last = root;
        out.push(root);
        for n in 1..=self.segments {
            let s = f64::from(n) / f64::from(self.segments);
            let direction = (normal + s * self.bend).normalize_or(normal);
            frame = DQuat::from_rotation_arc(frame * DVec3::X, direction) * frame;
            middle += advance * direction;
            let next = match turn > 0.0 {
                true => {
                    let (sin, cos) = (angle + turn * f64::from(n)).sin_cos();
                    let grown = self.curl_radius * (0.5 * turn * f64::from(n)).min(1.0);
                    let out = frame * DVec3::new(0.0, cos, sin);
                    // All edges have one length, wherever the curl wants the next vertex.
                    let wanted = middle + grown * out - last;
                    last + edge * wanted.normalize_or(direction)
                }
                false => middle,
            };
            out.push(next);
            last = next;
        }
    }
}
