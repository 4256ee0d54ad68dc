//! Moving, turning and scaling, keyed or not, with velocities that are the exact derivative.
//!
//! x ↦ pivot + translate + R S (x − pivot), with R = Rz Ry Rx of the three angles. Its rate is translate′ + ω × R S (x − pivot) +
//! R S′ (x − pivot), with ω = γ′ẑ + Rz β′ŷ + Rz Ry α′x̂.

use super::{Call, Fault};
use std::sync::Arc;
use undine_core::glam::{DQuat, DVec3};
use undine_geometry::{Course, Motion, Pose, Shape, Twist};
use undine_schema::{Declaration, Dimension, Kind, Parameter, Setting};
use undine_sim::input::{Data, Geometry};

pub(super) static TRANSFORM: Declaration = Declaration {
    name: "transform",
    kind: Kind::Filter,
    doc: "Moves, turns and scales, also over time",
    about: "What moves by keys gets velocities that are the exact derivative of its way: solids, level sets and surfaces as a motion of the \
            whole, everything else as a channel `v`. Places `rest` are moved, turned and scaled as positions are. Solids keep their formulas and can only be scaled alike in all directions.",
    parameters: &[
        Parameter::vector(
            "translate",
            Dimension::LENGTH,
            [0.0; 3],
            "how far it is moved, after all else",
        ),
        Parameter::vector(
            "rotate",
            Dimension::ANGLE,
            [0.0; 3],
            "by how much it is turned about x, then y, then z",
        ),
        Parameter::vector(
            "scale",
            Dimension::NONE,
            [1.0; 3],
            "how much larger it becomes, before it is turned",
        )
        .positive(),
        Parameter::vector(
            "pivot",
            Dimension::LENGTH,
            [0.0; 3],
            "what it is turned and scaled about",
        ),
    ],
    example: "transform translate=\"0 2 0 m\" rotate=\"0 45 0 deg\"",
};

pub(super) fn transform(call: &Call<'_>) -> Result<Data, Fault> {
    // Every value is checked at this time; keys are finite, and so is what lies between.
    let given = &call.given;
    let (scale, pivot) = (given.vector("scale")?, given.vector("pivot")?);
    given.vector("translate")?;
    given.vector("rotate")?;
    let [Some(translate), Some(rotate), Some(scaling)] =
        ["translate", "rotate", "scale"].map(|name| given.setting(name))
    else {
        return Err(Fault::parameter("translate", "not given", "it is needed"));
    };
    let is_keyed = translate.is_keyed() || rotate.is_keyed();
    let way = Way { translate, rotate, pivot, before: call.data.motion.clone() };
    let moves = is_keyed || call.data.motion.is_some();

    match &call.data.geometry {
        Geometry::Empty => Ok(Data::clone(&call.data)),
        Geometry::Shape(shape) => {
            let shape = scaled(shape, scale, &scaling, pivot, &call.data)?;
            if moves {
                return Ok(moving(Geometry::Shape(Arc::new(shape)), way, &call.data));
            }
            let shape = shape.moved(&way.pose(call.time))?;
            Ok(Data { geometry: Geometry::Shape(Arc::new(shape)), ..Data::clone(&call.data) })
        }
        Geometry::LevelSet(set) => {
            if scale != DVec3::ONE {
                return Err(Fault::parameter(
                    "scale",
                    scale,
                    "a level set keeps its size; scale what it is made of",
                ));
            }
            Ok(moving(Geometry::LevelSet(set.clone()), way, &call.data))
        }
        Geometry::Surface(surface) if moves && scale == DVec3::ONE && !scaling.is_keyed() => {
            Ok(moving(Geometry::Surface(surface.clone()), way, &call.data))
        }
        _ => placed(call, &way, scale, &scaling),
    }
}

/// The points or vertices where they are at the time, with their velocities.
fn placed(call: &Call<'_>, way: &Way, scale: DVec3, scaling: &Setting) -> Result<Data, Fault> {
    let rest = call.data_at_rest()?;
    let way = Way { before: None, ..way.clone() };
    let (pose, twist) = (way.pose(call.time), way.twist(call.time));
    let growth = rate(scaling, call.time, false);
    let mut cloud = rest.cloud()?.into_owned();
    let mut moving = Vec::with_capacity(cloud.positions.len());
    let grown = |at: DVec3| way.pivot + scale * (at - way.pivot);
    for &at in &cloud.positions {
        let turned = pose.rotation * grown(at);
        moving.push(twist.at(turned) + pose.rotation * (growth * (at - way.pivot)));
    }
    cloud.place(grown);
    for (name, vectors) in &mut cloud.vectors {
        if name == undine_sim::input::VELOCITY {
            vectors.iter_mut().for_each(|velocity| *velocity *= scale);
        }
    }
    cloud.turn(&pose);
    let is_keyed = way.translate.is_keyed() || way.rotate.is_keyed() || scaling.is_keyed();
    if is_keyed {
        cloud.add_velocity(&moving);
    }
    Ok(rest.with_cloud(cloud)?)
}

fn moving(geometry: Geometry, way: Way, before: &Data) -> Data {
    let is_still = !(way.translate.is_keyed() || way.rotate.is_keyed()) && way.before.is_none();
    let motion = match Motion::still(way.pose(0.0)) {
        Ok(motion) if is_still => motion,
        _ => Motion::course(Arc::new(way)),
    };
    Data { geometry, attributes: before.attributes.clone(), motion: Some(motion) }
}

fn scaled(
    shape: &Shape,
    scale: DVec3,
    scaling: &Setting,
    pivot: DVec3,
    data: &Data,
) -> Result<Shape, Fault> {
    if scale == DVec3::ONE && !scaling.is_keyed() {
        return Ok(shape.clone());
    }
    let wanted = "a solid is scaled alike in all directions and at all times, before it moves; use form=\"surface\"";
    if scale != DVec3::splat(scale.x) || scaling.is_keyed() || data.motion.is_some() {
        return Err(Fault::parameter("scale", scale, wanted));
    }
    let shape = shape.clone().moved(&Pose::at(-pivot))?.scaled(scale.x)?;
    Ok(shape.moved(&Pose::at(pivot))?)
}

/// A way through places and angles, after the motion that was there before.
#[derive(Debug, Clone)]
struct Way {
    translate: Setting,
    rotate: Setting,
    pivot: DVec3,
    before: Option<Motion>,
}

impl Way {
    /// The turn at a time, and how fast it turns [rad/s].
    fn turn(&self, time: f64, is_before: bool) -> (DQuat, DVec3) {
        let [x, y, z] = vector(&self.rotate, time).to_array();
        let speed = rate(&self.rotate, time, is_before);
        let about_z = DQuat::from_rotation_z(z);
        let about_y = about_z * DQuat::from_rotation_y(y);
        let spin =
            speed.z * DVec3::Z + about_z * (speed.y * DVec3::Y) + about_y * (speed.x * DVec3::X);
        (about_y * DQuat::from_rotation_x(x), spin)
    }

    fn own_pose(&self, time: f64) -> Pose {
        let (rotation, _) = self.turn(time, false);
        let translation = self.pivot + vector(&self.translate, time) - rotation * self.pivot;
        Pose { rotation, translation }
    }

    fn own_twist(&self, time: f64, is_before: bool) -> Twist {
        let (rotation, angular) = self.turn(time, is_before);
        let linear = rate(&self.translate, time, is_before) - angular.cross(rotation * self.pivot);
        Twist { linear, angular }
    }

    fn whole_twist(&self, time: f64, is_before: bool) -> Twist {
        let own = self.own_twist(time, is_before);
        let Some(before) = &self.before else { return own };
        let inner = if is_before { before.twist_before(time) } else { before.twist(time) };
        let (rotation, _) = self.turn(time, is_before);
        Twist {
            linear: own.at(rotation * before.pose(time).translation) + rotation * inner.linear,
            angular: own.angular + rotation * inner.angular,
        }
    }
}

impl Course for Way {
    fn pose(&self, time: f64) -> Pose {
        let own = self.own_pose(time);
        let Some(before) = &self.before else { return own };
        let inner = before.pose(time);
        Pose {
            rotation: (own.rotation * inner.rotation).normalize(),
            translation: own.to_world(inner.translation),
        }
    }

    fn twist(&self, time: f64) -> Twist {
        self.whole_twist(time, false)
    }

    fn twist_before(&self, time: f64) -> Twist {
        self.whole_twist(time, true)
    }

    fn centre(&self) -> DVec3 {
        self.before.as_ref().map_or(self.pivot, Motion::centre)
    }

    fn turns(&self, from: f64, to: f64) -> Vec<f64> {
        let keys =
            [&self.translate, &self.rotate].into_iter().filter_map(|setting| match setting {
                Setting::Keyed(keys) => Some(keys.keys().iter().map(|key| key.time)),
                Setting::Constant(_) => None,
            });
        let before = self.before.iter().flat_map(|before| before.turns(from, to));
        let mut times: Vec<f64> = keys.flatten().chain(before).collect();
        times.retain(|&time| from < time && time < to);
        times.sort_by(f64::total_cmp);
        times.dedup();
        times
    }
}

fn vector(setting: &Setting, time: f64) -> DVec3 {
    match setting.at(time).numbers() {
        Some(&[x, y, z]) => DVec3::new(x, y, z),
        _ => DVec3::ZERO,
    }
}

fn rate(setting: &Setting, time: f64, is_before: bool) -> DVec3 {
    match setting {
        Setting::Constant(_) => DVec3::ZERO,
        Setting::Keyed(keys) if is_before => keys.rate_before(time).into(),
        Setting::Keyed(keys) => keys.rate(time).into(),
    }
}
