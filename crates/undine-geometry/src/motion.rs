//! Rigid motion over time: still, steady, or through keys, with a velocity that is its exact derivative.
//!
//! Positions between keys follow a line or a cubic Hermite curve with the slopes of Catmull and Rom; rotations turn at a steady rate about one axis
//! (slerp), or follow the cubic curve of unit quaternions of Kim, Kim and Shin (1995), q(s) = q₀ exp(ω₁β₁) exp(ω₂β₂) exp(ω₃β₃),
//! whose factors each turn about a fixed axis, so that its derivative is a formula.

use crate::error::{GeometryError, Result};
use crate::pose::{Pose, Twist};
use std::fmt::Debug;
use std::sync::Arc;
use undine_core::glam::{DQuat, DVec3};

/// A motion that is known by formulas of its own.
pub trait Course: Debug + Send + Sync {
    /// Where it is at a time [s].
    fn pose(&self, time: f64) -> Pose;

    /// The derivative of the pose by time; where it jumps, what follows.
    fn twist(&self, time: f64) -> Twist;

    /// The derivative of the pose by time; where it jumps, what was before.
    fn twist_before(&self, time: f64) -> Twist;

    /// The times [s] strictly between two times at which the twist may jump or turn back, ascending.
    fn turns(&self, from: f64, to: f64) -> Vec<f64>;

    /// What it turns about, as far as that is known: a point of the thing's own coordinates [m].
    fn centre(&self) -> DVec3 {
        DVec3::ZERO
    }
}

/// A course is only like itself.
impl PartialEq for dyn Course {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::addr_eq(self, other)
    }
}

/// Where a rigid thing is at any time.
#[derive(Debug, Clone, PartialEq)]
pub struct Motion {
    path: Path,
    /// The point of the thing's own coordinates that goes along the path [m].
    pivot: DVec3,
}

/// How a motion gets from one key to the next.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Interpolation {
    /// It rests at a key until the next one, and then is there at once.
    Hold,
    /// In a straight line at a steady speed, turning at a steady rate by the shorter way.
    #[default]
    Linear,
    /// On a smooth curve, whose velocities are continuous over the keys.
    Cubic,
}

/// A pose at a time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Key {
    /// When [s].
    pub time: f64,
    /// Where.
    pub pose: Pose,
}

#[derive(Debug, Clone, PartialEq)]
enum Path {
    Still(Pose),
    /// The pose at time 0 and its constant rate.
    Steady(Pose, Twist),
    Keyed {
        interpolation: Interpolation,
        keys: Vec<Key>,
        spans: Vec<Span>,
    },
    Course(Arc<dyn Course>),
}

/// What happens between two keys.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Span {
    /// How long it takes [s].
    length: f64,
    /// The velocity at the first key and at the second [m/s].
    velocities: [DVec3; 2],
    /// The three turns about fixed axes that follow each other [rad], each in the frame that the one before leaves.
    turns: [DVec3; 3],
}

impl Default for Motion {
    /// At rest at the origin.
    fn default() -> Self {
        Self::along(Path::Still(Pose::IDENTITY))
    }
}

impl Motion {
    fn along(path: Path) -> Self {
        Self { path, pivot: DVec3::ZERO }
    }

    /// The same places and velocities, but of this point of the thing's own coordinates [m] rather than of their origin: it is
    /// what goes straight between keys, and what the thing turns about. A body whose coordinates begin far away has to be moved by
    /// a point of its own, such as its centre: its origin would go straight meanwhile, and swing it around.
    pub fn about(self, pivot: DVec3) -> Self {
        Self { pivot, ..self }
    }

    /// At rest.
    pub fn still(pose: Pose) -> Result<Self> {
        Ok(Self::along(Path::Still(checked(pose)?)))
    }

    /// At `pose` at time 0, and moving and spinning at a constant rate at all times, before as after.
    pub fn steady(pose: Pose, twist: Twist) -> Result<Self> {
        for (what, rate) in [
            ("the speed of a motion", twist.linear.length()),
            ("the spin of a motion", twist.angular.length()),
        ] {
            if !rate.is_finite() {
                return Err(GeometryError::BadParameter { what, found: rate, wanted: "finite" });
            }
        }
        Ok(Self::along(Path::Steady(checked(pose)?, twist)))
    }

    /// Through keys in the order of time. Before the first and after the last it rests.
    ///
    /// The velocity of a cubic motion at its first and last key is that of the straight way to their neighbour.
    pub fn keyed(keys: Vec<Key>, interpolation: Interpolation) -> Result<Self> {
        if keys.is_empty() {
            let wanted = "a motion needs at least one";
            return Err(GeometryError::Empty { what: "the list of keys", wanted });
        }
        let mut keys = keys;
        let mut before = f64::NEG_INFINITY;
        for key in &mut keys {
            if !(key.time > before && key.time.is_finite()) {
                let (what, wanted) =
                    ("the time of a key", "finite, and later than that of the key before");
                return Err(GeometryError::BadParameter { what, found: key.time, wanted });
            }
            before = key.time;
            key.pose = checked(key.pose)?;
        }
        let spans = match interpolation {
            Interpolation::Hold => hold_spans(&keys),
            Interpolation::Linear => linear_spans(&keys),
            Interpolation::Cubic => cubic_spans(&keys),
        };
        // Keys can be so near in time and far in space that the way between has no finite speed.
        if let Some(bad) = spans.iter().position(|span| !span.is_finite()) {
            let (what, found) = ("the time between two keys", spans[bad].length);
            let wanted = "long enough for a finite speed";
            return Err(GeometryError::BadParameter { what, found, wanted });
        }
        Ok(Self::along(Path::Keyed { interpolation, keys, spans }))
    }

    /// By formulas of its own, which are trusted to be finite.
    pub fn course(course: Arc<dyn Course>) -> Self {
        Self::along(Path::Course(course))
    }

    /// Whether it is known never to move.
    pub fn is_still(&self) -> bool {
        match &self.path {
            Path::Course(_) => false,
            Path::Still(_) => true,
            Path::Steady(_, twist) => *twist == Twist::default(),
            Path::Keyed { keys, .. } => keys.iter().all(|key| key.pose == keys[0].pose),
        }
    }

    /// Where it is at a time [s].
    pub fn pose(&self, time: f64) -> Pose {
        let Pose { rotation, translation } = self.pose_of_pivot(time);
        Pose { rotation, translation: translation - rotation * self.pivot }
    }

    /// What it turns about, as far as that is known: the point of the thing's own coordinates [m] whose way is straightest.
    pub fn centre(&self) -> DVec3 {
        match &self.path {
            Path::Course(course) => self.pivot + course.centre(),
            Path::Still(_) | Path::Steady(..) | Path::Keyed { .. } => self.pivot,
        }
    }

    /// How it is turned at a time [s], and where it has a point of the thing's own coordinates [m].
    pub fn pose_of(&self, point: DVec3, time: f64) -> Pose {
        let Pose { rotation, translation } = self.pose_of_pivot(time);
        Pose { rotation, translation: translation + rotation * (point - self.pivot) }
    }

    fn pose_of_pivot(&self, time: f64) -> Pose {
        match &self.path {
            Path::Course(course) => course.pose(time),
            Path::Still(pose) => *pose,
            Path::Steady(pose, twist) => Pose {
                rotation: turn(twist.angular * time) * pose.rotation,
                translation: pose.translation + twist.linear * time,
            },
            Path::Keyed { interpolation, keys, spans } => match locate(keys, time) {
                Place::Rest(key) => keys[key].pose,
                Place::Within(span, _) if *interpolation == Interpolation::Hold => keys[span].pose,
                Place::Within(span, s) => {
                    spans[span].pose(&keys[span].pose, &keys[span + 1].pose, s)
                }
            },
        }
    }

    /// How fast it moves at a time [s]: the derivative of the pose. At a key where that jumps, it is what follows.
    pub fn twist(&self, time: f64) -> Twist {
        self.twist_of(DVec3::ZERO, time)
    }

    /// How fast it turns, and how fast it takes a point of the thing's own coordinates [m] with it, at a time [s].
    pub fn twist_of(&self, point: DVec3, time: f64) -> Twist {
        self.of_point(self.twist_of_pivot(time), point, time)
    }

    fn twist_of_pivot(&self, time: f64) -> Twist {
        match &self.path {
            Path::Course(course) => course.twist(time),
            Path::Still(_) => Twist::default(),
            Path::Steady(_, twist) => *twist,
            Path::Keyed { interpolation, keys, spans } => match locate(keys, time) {
                Place::Within(span, s) if *interpolation != Interpolation::Hold => {
                    spans[span].twist(&keys[span].pose, &keys[span + 1].pose, s)
                }
                _ => Twist::default(),
            },
        }
    }

    /// How fast it moved just before a time [s]: at a key where the velocity jumps, what led to it.
    pub fn twist_before(&self, time: f64) -> Twist {
        self.twist_of_before(DVec3::ZERO, time)
    }

    /// [`Self::twist_of`] just before a time [s].
    pub fn twist_of_before(&self, point: DVec3, time: f64) -> Twist {
        self.of_point(self.twist_of_pivot_before(time), point, time)
    }

    /// The rate of a point, given that of the pivot at a time [s].
    fn of_point(&self, twist: Twist, point: DVec3, time: f64) -> Twist {
        if point == self.pivot {
            return twist;
        }
        let arm = self.pose_of_pivot(time).rotation * (point - self.pivot);
        Twist { linear: twist.at(arm), ..twist }
    }

    fn twist_of_pivot_before(&self, time: f64) -> Twist {
        match &self.path {
            Path::Keyed { interpolation, keys, spans } if *interpolation != Interpolation::Hold => {
                let next = keys.partition_point(|key| key.time < time);
                if next == 0 || next == keys.len() {
                    return Twist::default();
                }
                let (from, to) = (&keys[next - 1], &keys[next]);
                let part = (time - from.time) / (to.time - from.time);
                spans[next - 1].twist(&from.pose, &to.pose, part)
            }
            Path::Keyed { .. } => Twist::default(),
            Path::Course(course) => course.twist_before(time),
            Path::Still(_) | Path::Steady(..) => self.twist_of_pivot(time),
        }
    }

    /// The times of the keys [s] strictly between two times: where it may change its direction.
    pub fn turns(&self, from: f64, to: f64) -> impl Iterator<Item = f64> + use<> {
        let times: Vec<f64> = match &self.path {
            Path::Keyed { keys, .. } => keys.iter().map(|key| key.time).collect(),
            Path::Course(course) => course.turns(from, to),
            Path::Still(_) | Path::Steady(..) => Vec::new(),
        };
        times.into_iter().filter(move |&time| from < time && time < to)
    }

    /// The angle [rad] that it turns through between two times [s]: the integral of the size of its spin.
    ///
    /// A cubic motion's is a quadrature, good to about six digits.
    pub fn swept_angle(&self, from: f64, to: f64) -> f64 {
        self.swept(from, to, |time| self.twist_of_pivot(time).angular.length())
    }

    /// The length [m] of the way that a point of the thing's own coordinates [m] goes between two times [s].
    ///
    /// Of what moves steadily without turning it is exact; else it is a quadrature, good to about six digits.
    pub fn swept_length(&self, from: f64, to: f64, point: DVec3) -> f64 {
        self.swept(from, to, |time| self.twist_of(point, time).linear.length())
    }

    /// The integral of a rate by time [s].
    fn swept(&self, from: f64, to: f64, rate: impl Fn(f64) -> f64) -> f64 {
        let forwards = from < to;
        if !forwards {
            return 0.0;
        }
        match &self.path {
            Path::Still(_) => 0.0,
            Path::Steady(..) => rate(0.5 * (from + to)) * (to - from),
            Path::Course(_) => {
                let ends: Vec<f64> =
                    std::iter::once(from).chain(self.turns(from, to)).chain([to]).collect();
                ends.windows(2).map(|ends| quadrature(ends[0], ends[1], &rate)).sum()
            }
            Path::Keyed { keys, .. } => {
                let parts = keys.windows(2).map(|pair| {
                    let (a, b) = (pair[0].time.max(from), pair[1].time.min(to));
                    if a < b { quadrature(a, b, &rate) } else { 0.0 }
                });
                parts.sum()
            }
        }
    }
}

/// Gauss's three points in each of eight parts.
fn quadrature(from: f64, to: f64, rate: impl Fn(f64) -> f64) -> f64 {
    const PARTS: usize = 8;
    let gauss = 0.6_f64.sqrt();
    let width = (to - from) / PARTS as f64;
    let mut sum = 0.0;
    for part in 0..PARTS {
        let middle = from + (part as f64 + 0.5) * width;
        for (node, weight) in [(-gauss, 5.0), (0.0, 8.0), (gauss, 5.0)] {
            sum += weight / 18.0 * width * rate(middle + 0.5 * width * node);
        }
    }
    sum
}

enum Place {
    /// At rest at a key, before the first or after the last.
    Rest(usize),
    /// In the span after a key, this part of it over.
    Within(usize, f64),
}

fn locate(keys: &[Key], time: f64) -> Place {
    let passed = keys.partition_point(|key| key.time <= time);
    if passed == 0 {
        return Place::Rest(0);
    }
    if passed == keys.len() {
        return Place::Rest(passed - 1);
    }
    let (start, end) = (keys[passed - 1].time, keys[passed].time);
    Place::Within(passed - 1, (time - start) / (end - start))
}

impl Span {
    /// The pose at the part `s` of the way.
    fn pose(&self, from: &Pose, to: &Pose, s: f64) -> Pose {
        let [v0, v1] = self.velocities.map(|velocity| velocity * self.length);
        let moved = to.translation - from.translation;
        // Hermite's cubic, as what is added to the start: far from the origin, differences keep their digits.
        let (s2, s3) = (s * s, s * s * s);
        let way = moved * (3.0 * s2 - 2.0 * s3) + v0 * (s - 2.0 * s2 + s3) + v1 * (s3 - s2);
        let [a, b, c] = self.partial_turns(s);
        let rotation = (from.rotation * a * b * c).normalize();
        Pose { rotation, translation: from.translation + way }
    }

    /// The derivative of the pose by time.
    fn twist(&self, from: &Pose, to: &Pose, s: f64) -> Twist {
        let [v0, v1] = self.velocities;
        let mean = (to.translation - from.translation) / self.length;
        let linear = mean * (6.0 * s - 6.0 * s * s)
            + v0 * (1.0 - 4.0 * s + 3.0 * s * s)
            + v1 * (3.0 * s * s - 2.0 * s);
        // Each factor turns at β′ω about its axis, which the factors before it carry along.
        let [a, b, c] = self.partial_turns(s);
        let [first, second, third] = self.turns;
        let rates = [3.0 * (1.0 - s) * (1.0 - s), 6.0 * s * (1.0 - s), 3.0 * s * s];
        let (after_a, after_b) = (from.rotation * a, from.rotation * a * b);
        let angular = after_a * (first * rates[0])
            + after_b * (second * rates[1])
            + after_b * c * (third * rates[2]);
        Twist { linear, angular: angular / self.length }
    }

    /// The three turns as far as they have gone: the cumulative basis of Bézier's cubic.
    fn partial_turns(&self, s: f64) -> [DQuat; 3] {
        let [first, second, third] = self.turns;
        let rest = 1.0 - s;
        [
            turn(first * (1.0 - rest * rest * rest)),
            turn(second * (s * s * (3.0 - 2.0 * s))),
            turn(third * (s * s * s)),
        ]
    }

    fn is_finite(&self) -> bool {
        self.length.is_finite()
            && self.velocities.iter().chain(&self.turns).all(|vector| vector.is_finite())
    }
}

fn hold_spans(keys: &[Key]) -> Vec<Span> {
    let rest = |length| Span { length, velocities: [DVec3::ZERO; 2], turns: [DVec3::ZERO; 3] };
    keys.windows(2).map(|pair| rest(pair[1].time - pair[0].time)).collect()
}

/// The steady motion is the cubic one whose velocity at both ends is the mean.
fn linear_spans(keys: &[Key]) -> Vec<Span> {
    let span = |pair: &[Key]| {
        let (velocity, spin) = mean_rates(&pair[0], &pair[1]);
        Span::between(&pair[0], &pair[1], [velocity; 2], [spin; 2])
    };
    keys.windows(2).map(span).collect()
}

fn cubic_spans(keys: &[Key]) -> Vec<Span> {
    let means: Vec<_> = keys.windows(2).map(|pair| mean_rates(&pair[0], &pair[1])).collect();
    // At a key, the derivative of the parabola through it and its neighbours: the means on both sides, the shorter span
    // weighing more.
    let rates_at = |key: usize| {
        if key == 0 {
            return means[0];
        }
        if key == means.len() {
            return means[key - 1];
        }
        let before = keys[key].time - keys[key - 1].time;
        let after = keys[key + 1].time - keys[key].time;
        let weight = after / (before + after);
        let mix = |a: DVec3, b: DVec3| a * weight + b * (1.0 - weight);
        (mix(means[key - 1].0, means[key].0), mix(means[key - 1].1, means[key].1))
    };
    let span = |first: usize| {
        let ((v0, w0), (v1, w1)) = (rates_at(first), rates_at(first + 1));
        Span::between(&keys[first], &keys[first + 1], [v0, v1], [w0, w1])
    };
    (0..means.len()).map(span).collect()
}

impl Span {
    /// From velocities [m/s], and spins in the thing's own frame [rad/s], at both keys.
    fn between(from: &Key, to: &Key, velocities: [DVec3; 2], spins: [DVec3; 2]) -> Self {
        let length = to.time - from.time;
        let [first, third] = spins.map(|spin| spin * (length / 3.0));
        let whole = from.pose.rotation.inverse() * to.pose.rotation;
        let second = turned_by(turn(-first) * whole * turn(-third));
        Self { length, velocities, turns: [first, second, third] }
    }
}

/// The velocity [m/s] and the spin in the thing's own frame [rad/s] that lead from one key to the other steadily.
fn mean_rates(from: &Key, to: &Key) -> (DVec3, DVec3) {
    let length = to.time - from.time;
    let moved = to.pose.translation - from.pose.translation;
    let turned = turned_by(from.pose.rotation.inverse() * to.pose.rotation);
    (moved / length, turned / length)
}

/// The rotation about the direction of a vector by its length [rad].
fn turn(vector: DVec3) -> DQuat {
    DQuat::from_scaled_axis(vector)
}

/// The shortest such vector of a rotation.
fn turned_by(rotation: DQuat) -> DVec3 {
    // A quaternion and its negative are one rotation; that of positive w turns by less than half a turn.
    let q = if rotation.w < 0.0 { -rotation } else { rotation };
    let axis = DVec3::new(q.x, q.y, q.z);
    let sine = axis.length();
    if sine < 1e-150 {
        return DVec3::ZERO;
    }
    axis * (2.0 * sine.atan2(q.w) / sine)
}

fn checked(pose: Pose) -> Result<Pose> {
    let place = pose.translation.length();
    if !place.is_finite() {
        let (what, wanted) = ("the position of a motion", "finite");
        return Err(GeometryError::BadParameter { what, found: place, wanted });
    }
    let found = pose.rotation.length();
    if !(found > 1e-100 && found.is_finite()) {
        let (what, wanted) = ("the length of a rotation's quaternion", "positive and finite");
        return Err(GeometryError::BadParameter { what, found, wanted });
    }
    Ok(Pose { rotation: pose.rotation.normalize(), ..pose })
}
