//! Attachment: any point of any Object held to any point of another, from a mere distance to a weld (Loki: A Unified
//! Multiphysics Simulation Framework, §6.3, *Attachment Constraint*).
//!
//! With d = x_source − x_target and the frames F of both points, the twelve rows are
//!
//! C⁰ = Aᵀd − (L̄, 0, 0) − s̄,   Cᵏ = Aᵀ F_source,(k) − ā_k,   S = diag(k_N, k_T, k_T, β₁·1₃, β₂·1₃, β₃·1₃).
//!
//! The shift s̄ is zero, unless what is held begins in balance: then it and ā are such that the attachment carries what hangs on it.
//!
//! The form of C⁰ presumes that at rest the first axis of A lies along d, which the target's frame knows nothing of. So A is
//! made from G = F_target Q, where Q is fixed when the attachment begins such that G is then orthonormal with its first
//! axis along d. Then A = G at the start whatever ξ is, and C = 0. The flexibility ξ turns A from G to d
//! ([`frame`]): for ξ = 0, A is the target's frame and the place in it is held; for ξ = 1 only the distance is, and k_T is
//! without effect.
//!
//! Points that begin in the same place have no direction: their G is F_target's own, they are held together as for ξ = 0, and
//! as ξ goes to 1, k_T becomes k_N, since then all directions are along d.
//!
//! A target that is a surface is held anywhere on it: on triangles that the scene moves, x_target is Σ wᵢ xᵢ of the corners of one, and F_target
//! the frame of that triangle; on a body both are fixed to the body, which then feels what pulls at it.
//!
//! A single particle's frame is that of the world. Held to a particle with ξ < 1, others keep their direction from it, and
//! their angular momentum goes to the world; all else keeps linear and angular momentum.

pub mod emission;
pub mod frame;

use crate::nearby::MOST_PAIRS;
use bytemuck::{Pod, Zeroable};
use emission::Emission;
use frame::AttachmentFrame;
use undine_core::glam::{DMat3, DQuat, DVec3};
use undine_schema::{Declaration, Dimension, Kind, Parameter, Type};
use undine_sim::action::constraint::{
    Chosen, DAMPING_TIME, End, FRICTION_LENGTH, FRICTION_LIMIT, Points, SOLVED_BY,
    TURNING_FRICTION_LENGTH, TURNING_FRICTION_LIMIT,
};
use undine_sim::constraint::{ByParameter, Constraint, Curvature, Placed, Rows, Scaling};
use undine_sim::input::Geometry;
use undine_sim::task::Reach;
use undine_sim::{Bond, Ingest, Result, SimError};

/// "This is attached to that."
pub const DECLARATION: Declaration = Declaration {
    name: "attachment",
    kind: Kind::Constraint,
    doc: "Holds points of the Objects in scope to points of a target",
    about: "Without flexibility the place in the target's frame is held, with a flexibility of 1 the distance alone. An \
            orientation stiffness also holds how the two are turned to each other. Targets may be simulated or kinematic. \
            One that is a surface (a rigid body, a collider, anchors of a surface) is held where it is the closest, also between its \
            vertices, and turns what it holds as the triangle turns there. \
            A particle has no orientation of its own: what is turned against it, by an orientation stiffness or by a \
            flexibility below 1 where it is the target, is held against the world, which then takes up angular momentum.",
    parameters: &[
        Parameter::new("to", Type::Target, "what they are attached to"),
        Parameter::number(
            "flexibility",
            Dimension::NONE,
            0.0,
            "from holding the place in the target's frame (0) to holding the distance alone (1)",
        )
        .between(0.0, 1.0),
        Parameter::number(
            "normal-stiffness",
            Dimension::SURFACE_TENSION,
            1e4,
            "force per stretch along the displacement",
        )
        .not_negative()
        .usually(1e-6, 1e9)
        .varies_by("normal-stiffness"),
        Parameter::number(
            "tangent-stiffness",
            Dimension::SURFACE_TENSION,
            1e4,
            "force per shift across the displacement",
        )
        .not_negative()
        .usually(1e-6, 1e9)
        .varies_by("tangent-stiffness"),
        Parameter::vector(
            "orientation-stiffness",
            Dimension::ENERGY,
            [0.0; 3],
            "torque per change of direction, of each axis of the source's frame",
        )
        .not_negative()
        .usually(0.0, 1e9),
        Parameter::choice(
            "emission",
            &[
                ("closest", "each point and the closest of the target"),
                ("pair", "each body, strand or particle, by the closest pair of points alone"),
                ("range", "all pairs of points in range; of a surface, one place on each part that moves as one"),
                ("network", "what the channels `source` and `target` of an input say, by ids"),
            ],
            "which points are attached to which",
        ),
        Parameter::number(
            "range",
            Dimension::LENGTH,
            0.1,
            "how near points have to be; without it, any distance will do but for `range`",
        )
        .positive()
        .optional(),
        Parameter::choice(
            "on",
            &[
                ("surface", "the closest place on its triangles, or its shape, where it has some"),
                ("points", "its points alone: vertices and boundary particles"),
            ],
            "where a target is held; a network always names points",
        ),
        Parameter::new("network", Type::Input, "points with the channels `source` and `target`")
            .optional(),
        Parameter::flag("every-step", false, "choose points in every step, not only in the first; pairs that stay the same are held as before, and what a surface holds stays at its place")
            .advanced(),
        Parameter::flag(
            "long-range",
            false,
            "points may be far from each other: costs an exchange of all boundary particles between processes",
        )
        .advanced(),
        DAMPING_TIME,
        FRICTION_LIMIT,
        FRICTION_LENGTH,
        TURNING_FRICTION_LIMIT,
        TURNING_FRICTION_LENGTH,
        SOLVED_BY,
    ],
    example: "attachment to=\"wall\" flexibility=1 emission=\"pair\"",
};

/// Of the coordinates of two places, what is left of them where they are one but for rounding.
const ROUNDING: f64 = 64.0 * f64::EPSILON;

/// Attachments of one Behavior.
#[derive(Debug, Clone, PartialEq)]
pub struct Attachment {
    /// ξ.
    pub flexibility: f64,
    /// β₁, β₂ and β₃ [J].
    pub orientation: DVec3,
    emission: Emission,
    on_surfaces: bool,
    every_step: bool,
    long_range: bool,
    path: String,
}

/// An attachment of two points.
#[derive(Debug, Clone, Copy, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct Joint {
    /// L̄ [m].
    pub length: f64,
    /// Q, column by column.
    pub rest_frame: [f64; 9],
    /// ā₁, ā₂ and ā₃.
    pub rest_axes: [f64; 9],
    /// s̄ [m].
    pub shift: [f64; 3],
    /// k_N [N/m].
    pub normal: f64,
    /// k_T [N/m].
    pub tangent: f64,
}

impl Attachment {
    /// With a flexibility ξ and orientation stiffnesses β [J], each source point to the closest of the target.
    pub fn new(flexibility: f64, orientation: DVec3) -> Self {
        Self {
            flexibility,
            orientation,
            emission: Emission::Closest(f64::INFINITY),
            on_surfaces: true,
            every_step: false,
            long_range: false,
            path: String::new(),
        }
    }

    fn frame(&self, joint: &Joint, at: &[Placed; 2]) -> AttachmentFrame {
        let g = at[1].frame * DMat3::from_cols_array(&joint.rest_frame);
        AttachmentFrame::new(at[0].x - at[1].x, g, self.flexibility_of(joint))
    }

    /// Says that nothing is held, and how far what could be is from what would hold it.
    fn warn_of_nothing(&self, ends: &[End<'_>]) {
        let any = match &self.emission {
            Emission::Network(_) => None,
            _ => Emission::Closest(f64::INFINITY).choose(ends),
        };
        let apart = |n: usize, [a, b]: &Points<2>| {
            let place = |(end, n): (usize, u32)| ends[end].placed[n as usize].x;
            let on_surface = any.as_ref()?.on_surface.get(n).copied().flatten();
            Some(on_surface.map_or_else(|| place(*a).distance(place(*b)), |found| found.distance))
        };
        let pairs = any.iter().flat_map(|any| any.points.iter().enumerate());
        let nearest = pairs.filter_map(|(n, pair)| apart(n, pair)).reduce(f64::min);
        let path = &self.path;
        match nearest {
            Some(nearest) => tracing::warn!(
                "`{path}` holds nothing: the nearest points are {nearest:.3e} m apart; give a larger range, or bring them together"
            ),
            None => tracing::warn!(
                "`{path}` holds nothing: there are no points to hold, or none to hold them by"
            ),
        }
    }

    /// Points that begin in one place have no direction to be flexible about.
    fn flexibility_of(&self, joint: &Joint) -> f64 {
        if joint.length == 0.0 { 0.0 } else { self.flexibility }
    }
}

impl Constraint<12, 2> for Attachment {
    type Element = Joint;
    const FRAMES: bool = true;
    const PARAMETERS: usize = 12;
    const REST_PARAMETERS: usize = 12;

    fn evaluate(&self, joint: &Joint, at: &[Placed; 2]) -> Rows<12, 2> {
        let mut rows = Rows::ZERO;
        let frame = self.frame(joint, at);
        let back = DMat3::from_cols_array(&joint.rest_frame).transpose();
        for i in 0..3 {
            let seen = frame.of_displacement(i);
            let rest = if i == 0 { joint.length } else { 0.0 };
            rows.value[i] = seen.value - rest - joint.shift[i];
            rows.by_position[i] = [seen.by_d, -seen.by_d];
            // G = F Q.
            rows.by_frame[i][1] = seen.by_g * back;
        }
        // Rows without a stiffness are not looked at.
        for k in (0..3).filter(|&k| self.orientation[k] > 0.0) {
            for i in 0..3 {
                let row = 3 + 3 * k + i;
                let (seen, by_axis) = frame.of_vector(i, at[0].frame.col(k));
                rows.value[row] = seen.value - joint.rest_axes[3 * k + i];
                rows.by_position[row] = [seen.by_d, -seen.by_d];
                *rows.by_frame[row][0].col_mut(k) = by_axis;
                rows.by_frame[row][1] = seen.by_g * back;
            }
        }
        rows
    }

    fn scaling(&self, joint: &Joint) -> Scaling<12> {
        let share = if joint.length == 0.0 { self.flexibility } else { 0.0 };
        let tangent = joint.tangent + share * (joint.normal - joint.tangent);
        Scaling::Diagonal(std::array::from_fn(|m| match m {
            0 => joint.normal,
            1 | 2 => tangent,
            _ => self.orientation[m / 3 - 1],
        }))
    }

    fn parameter<'a>(&self, joint: &'a mut Joint, parameter: usize) -> Option<&'a mut f64> {
        joint.shift.iter_mut().chain(&mut joint.rest_axes).nth(parameter)
    }

    /// Each is what its row is less of; but axes that nothing holds are not looked at.
    fn by_parameter(&self, _: &Joint, _: &[Placed; 2], n: usize) -> Option<ByParameter<12>> {
        let mut value = [0.0; 12];
        let is_held = n < 3 || self.orientation.to_array().get(n / 3 - 1).is_some_and(|b| *b > 0.0);
        *value.get_mut(n)? = if is_held { -1.0 } else { 0.0 };
        Some(ByParameter { value, scaling: None })
    }

    /// That of the distance, for ξ = 1; otherwise rows are nearly linear, or their curvature is left to the bodies' turns.
    fn curvature(
        &self,
        joint: &Joint,
        at: &[Placed; 2],
        weights: &[f64; 12],
    ) -> Option<Curvature<2>> {
        if self.flexibility_of(joint) != 1.0 || self.orientation != DVec3::ZERO {
            return None;
        }
        let d = at[0].x - at[1].x;
        let n = d.normalize_or_zero();
        if n == DVec3::ZERO {
            return Some([[DMat3::ZERO; 2]; 2]);
        }
        // Row i is |d| (g·Gᵢ), of which only the first is not zero for an orthonormal G.
        let g = at[1].frame * DMat3::from_cols_array(&joint.rest_frame);
        let axis = g.x_axis.normalize_or_zero();
        let weight: f64 = (0..3).map(|i| weights[i] * axis.dot(g.col(i))).sum();
        let along = DMat3::from_cols(n * n.x, n * n.y, n * n.z);
        let across = (DMat3::IDENTITY - along) * (weight / d.length());
        Some([[across, -across], [-across, across]])
    }
}

impl Bond<12, 2> for Attachment {
    const REST: &'static [&'static str] = &[
        "length", "frame-xx", "frame-xy", "frame-xz", "frame-yx", "frame-yy", "frame-yz",
        "frame-zx", "frame-zy", "frame-zz", "axis-1-x", "axis-1-y", "axis-1-z", "axis-2-x",
        "axis-2-y", "axis-2-z", "axis-3-x", "axis-3-y", "axis-3-z", "shift-1", "shift-2",
        "shift-3",
    ];
    const VARIES: &'static [&'static str] = &["normal-stiffness", "tangent-stiffness"];
    /// The place; orientations are held by torques.
    const ROWS_OF_FORCE: usize = 3;
    const ON_SURFACES: bool = true;

    fn create(ingest: &mut Ingest<'_>) -> Result<Self> {
        let values = ingest.values();
        let range = values.optional_number("range")?;
        let any = range.unwrap_or(f64::INFINITY);
        let emission = match values.text("emission")?.as_str() {
            "pair" => Emission::Pair(any),
            "range" => match range {
                Some(range) => Emission::Range(range),
                None => {
                    let help = "give one, or take another emission";
                    return Err(ingest.bad("range", "all pairs in range need a range", help));
                }
            },
            "network" => network(ingest)?,
            _ => Emission::Closest(any),
        };
        Ok(Self {
            flexibility: values.number("flexibility")?,
            orientation: values.vector("orientation-stiffness")?,
            emission,
            on_surfaces: values.text("on")? == "surface",
            every_step: values.flag("every-step")?,
            long_range: values.flag("long-range")?,
            path: ingest.path.to_owned(),
        })
    }

    fn emit(&self, ends: &[End<'_>]) -> Result<Chosen<2>> {
        let chosen = self.emission.choose(ends).ok_or_else(|| {
            let what = format!("more than {} pairs of points are in range", MOST_PAIRS);
            SimError::setup(format!("{}.range", self.path), what, "give a smaller range")
        })?;
        if chosen.points.is_empty() && !self.every_step {
            self.warn_of_nothing(ends);
        }
        Ok(chosen)
    }

    fn looks_at_surfaces(&self) -> bool {
        self.on_surfaces && !matches!(self.emission, Emission::Network(_))
    }

    fn emits_every_step(&self) -> bool {
        self.every_step
    }

    fn rest(&self, at: &[Placed; 2]) -> Joint {
        let d = at[0].x - at[1].x;
        // What lies on a surface is off it by rounding, which has no direction either.
        let rounding = ROUNDING * at[0].x.length().max(at[1].x.length());
        let n = if d.length() > rounding { d.normalize_or_zero() } else { DVec3::ZERO };
        let length = if n == DVec3::ZERO { 0.0 } else { d.length() };
        // G at the start, as near to the target's frame as its first axis lets it; with a frame that cannot be undone, Q is 1.
        let turned = |frame: DMat3| {
            DMat3::from_quat(DQuat::from_rotation_arc(frame.x_axis.normalize_or(DVec3::X), n))
                * frame
        };
        let target = at[1].frame;
        let rigid = (target.transpose() * target).abs_diff_eq(DMat3::IDENTITY, 1e-6);
        let g = match (n == DVec3::ZERO, rigid) {
            (true, _) => target,
            (false, true) => turned(target),
            (false, false) => turned(DMat3::IDENTITY),
        };
        let back = target.inverse();
        let rest_frame = if back.is_finite() { back * g } else { DMat3::IDENTITY };
        let start = target * rest_frame;
        let rest_axes = start.transpose() * at[0].frame;
        Joint {
            length,
            rest_frame: rest_frame.to_cols_array(),
            rest_axes: rest_axes.to_cols_array(),
            shift: [0.0; 3],
            normal: 0.0,
            tangent: 0.0,
        }
    }

    fn reach(&self) -> Reach {
        if self.long_range { Reach::Everywhere } else { Reach::Local }
    }
}

fn network(ingest: &Ingest<'_>) -> Result<Emission> {
    let help = "name an input of points with the channels `source` and `target` of whole numbers";
    let Some(data) = ingest.optional_data("network")? else {
        return Err(ingest.bad("network", "there is no network to take pairs from", help));
    };
    let pairs = match &data.geometry {
        Geometry::Points(cloud) => Emission::network(cloud),
        _ => None,
    };
    pairs.ok_or_else(|| ingest.bad("network", "this says no pairs of ids", help))
}

#[cfg(test)]
mod tests {
    use super::*;
    use undine_geometry::random::unit;
    use undine_sim::constraint::harness::{Checks, check_constraint, check_constraint_with};

    fn vector(seed: u64) -> DVec3 {
        DVec3::new(unit(seed, 0), unit(seed, 1), unit(seed, 2)) * 2.0 - 1.0
    }

    fn placed(seed: u64) -> Placed {
        let turn = DQuat::from_scaled_axis(vector(seed + 1) * 3.0);
        Placed { x: vector(seed), frame: DMat3::from_quat(turn) }
    }

    fn stiff(joint: Joint) -> Joint {
        Joint { normal: 100.0, tangent: 20.0, ..joint }
    }

    /// Values are zero where an attachment begins, for any flexibility, and derivatives are right anywhere.
    #[test]
    fn rows_begin_at_zero_and_have_exact_gradients() {
        let mut tried = 0;
        for seed in 0..200 {
            for flexibility in [0.0, 0.25, 0.7, 1.0] {
                for orientation in [DVec3::ZERO, DVec3::new(1.0, 2.0, 0.0)] {
                    let attachment = Attachment::new(flexibility, orientation);
                    let start = [placed(10 * seed), placed(10 * seed + 5)];
                    let joint = stiff(attachment.rest(&start));
                    let rows = attachment.evaluate(&joint, &start);
                    assert!(rows.value.iter().all(|c| c.abs() < 1e-14), "{:?}", rows.value);
                    let at = [placed(7777 + 10 * seed), placed(8888 + 10 * seed)];
                    // Differences lose their digits where the frame turns fast; that has a test of its own.
                    let g = at[1].frame * DMat3::from_cols_array(&joint.rest_frame);
                    let d = at[0].x - at[1].x;
                    if d.normalize().dot(g.x_axis) > -0.9 && d.length() > 0.2 {
                        let checks = Checks { tolerance: 1e-6, ..Checks::default() };
                        check_constraint_with(&attachment, &joint, &at, &checks).unwrap();
                        tried += 1;
                    }
                }
            }
        }
        assert!(tried > 1000, "{tried}");
    }

    #[test]
    fn gradients_are_exact_near_the_start_and_near_the_opposite() {
        for angle in [0.0, 1e-9, 1e-3, 0.049, 0.051, 3.1] {
            for flexibility in [0.0, 0.5, 1.0] {
                for orientation in [DVec3::ZERO, DVec3::ONE] {
                    let attachment = Attachment::new(flexibility, orientation);
                    let start = [Placed::at(DVec3::X), Placed::at(DVec3::ZERO)];
                    let joint = stiff(attachment.rest(&start));
                    let there = DVec3::new(f64::cos(angle), f64::sin(angle), 0.0) * 1.3;
                    let at = [Placed { x: there, ..placed(5) }, Placed::at(DVec3::ZERO)];
                    // Near the opposite the frame turns by 1/(π − φ) times what d does: 1 in 24 here.
                    let checks = match angle > 3.0 {
                        true => Checks { tolerance: 1e-4, ..Checks::default() },
                        false => Checks { tolerance: 1e-6, ..Checks::default() },
                    };
                    check_constraint_with(&attachment, &joint, &at, &checks)
                        .unwrap_or_else(|why| panic!("{angle} {flexibility} {orientation}: {why}"));
                }
            }
        }
    }

    #[test]
    fn points_of_one_place_are_held_together_in_all_directions() {
        let attachment = Attachment::new(1.0, DVec3::ZERO);
        let here = placed(3);
        let joint = stiff(attachment.rest(&[here, Placed { x: here.x, ..placed(4) }]));
        assert_eq!(joint.length, 0.0);
        assert_eq!(attachment.scaling(&joint).diagonal(1), 100.0);
        let at = [Placed { x: here.x + vector(9), ..here }, Placed { x: here.x, ..placed(4) }];
        let rows = attachment.evaluate(&joint, &at);
        let energy =
            |m: usize| 0.5 * attachment.scaling(&joint).diagonal(m) * rows.value[m].powi(2);
        let wanted = 50.0 * vector(9).length_squared();
        assert!(((0..3).map(energy).sum::<f64>() - wanted).abs() < 1e-12 * wanted);
        check_constraint(&attachment, &joint, &at).unwrap();
    }

    #[test]
    fn deformed_targets_begin_at_rest_too() {
        let attachment = Attachment::new(0.5, DVec3::ONE);
        let frame = DMat3::from_cols_array(&[1.2, 0.1, 0.0, -0.3, 0.8, 0.1, 0.0, 0.2, 1.1]);
        let start = [placed(2), Placed { frame, ..placed(6) }];
        let joint = stiff(attachment.rest(&start));
        let rows = attachment.evaluate(&joint, &start);
        assert!(rows.value.iter().all(|c| c.abs() < 1e-13), "{:?}", rows.value);
        // A frame of nothing does no harm.
        let flat = [placed(2), Placed { frame: DMat3::ZERO, ..placed(6) }];
        let joint = stiff(attachment.rest(&flat));
        assert!(attachment.evaluate(&joint, &flat).value.iter().all(|c| c.is_finite()));
    }
}
