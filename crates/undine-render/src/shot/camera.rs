//! From where a Shot is seen: a pinhole camera, how it moves, and how to make it show a box whole.

use crate::error::{RenderError, Result};
use undine_core::glam::DVec3;
use undine_core::mesh::Bounds;

/// How a camera moves.
#[derive(Debug, Clone, PartialEq)]
pub enum CameraPath {
    /// It stands where everything is seen well.
    Auto {
        /// What is up.
        up: DVec3,
    },
    /// It stands still.
    Fixed(Camera),
    /// It goes around what is seen, as far away as the automatic one is.
    Orbit {
        /// What is up.
        up: DVec3,
        /// What it goes around [m]; the middle of what is seen, if not given.
        target: Option<DVec3>,
        /// How far from the target it is [m]; as far as shows everything at any time, if not given.
        distance: Option<f64>,
        /// How high over the target it is [rad].
        high: f64,
        /// Where it is at the time 0, from ahead to the right [rad].
        start: f64,
        /// How far it goes in each second [rad/s].
        speed: f64,
    },
    /// It goes smoothly from key to key, and stands before the first and after the last.
    Keyed(Vec<CameraKey>),
}

/// Where a camera is at a time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CameraKey {
    /// When [s].
    pub time: f64,
    /// Where.
    pub camera: Camera,
}

impl CameraPath {
    /// The camera at a time [s], if what is seen is in a box.
    pub fn at(&self, time: f64, bounds: &Bounds, aspect: f64) -> Result<Camera> {
        match self {
            Self::Auto { up } => Camera::composed(bounds, *up, aspect),
            Self::Fixed(camera) => {
                Camera::new(camera.eye, camera.target, camera.up, camera.field_of_view)
            }
            Self::Orbit { up, target, distance, high, start, speed } => {
                let up = up.normalize_or(DVec3::Y);
                let [right, ahead] = level_axes(up);
                let seen = rounded(bounds);
                let angle = start + speed * time;
                let flat = angle.cos() * ahead + angle.sin() * right;
                let from = high.sin() * up + high.cos() * flat;
                let field_of_view = 32f64.to_radians();
                // A ball around everything looks the same from all sides, so that nothing breathes while it goes around.
                let half = (0.5 * field_of_view).tan() * aspect.clamp(1e-3, 1.0) * 0.82;
                let radius = 0.5 * seen.size().length();
                let whole = if radius > 0.0 { 0.9 * radius / half.atan().sin() } else { 1.0 };
                let target = target.unwrap_or(seen.centre());
                let eye = target + distance.unwrap_or(whole) * from;
                Camera::new(eye, target, up, field_of_view)
            }
            Self::Keyed(keys) => keyed(keys, time),
        }
    }
}

/// Between the keys around a time: a cubic curve through all of them, flat where there is none before or after (Catmull & Rom 1974).
fn keyed(keys: &[CameraKey], time: f64) -> Result<Camera> {
    let checked =
        |camera: &Camera| Camera::new(camera.eye, camera.target, camera.up, camera.field_of_view);
    let mut keys: Vec<_> = keys.iter().filter(|key| key.time.is_finite()).collect();
    keys.sort_by(|a, b| a.time.total_cmp(&b.time));
    let Some((first, last)) = keys.first().zip(keys.last()) else {
        return Err(RenderError::Asked {
            what: "the camera's path".into(),
            found: "without keys".into(),
            wanted: "it needs at least one, with a time that is a number".into(),
        });
    };
    if time.is_nan() || time <= first.time {
        return checked(&first.camera);
    }
    if time >= last.time {
        return checked(&last.camera);
    }
    let after = keys.partition_point(|key| key.time <= time);
    let (a, b) = (keys[after - 1], keys[after]);
    let extent = b.time - a.time;
    let t = (time - a.time) / extent;
    let slope = |n: usize, of: &dyn Fn(&Camera) -> DVec3| {
        let (before, next) = (n.checked_sub(1).map(|n| keys[n]), keys.get(n + 1));
        match (before, next) {
            (Some(before), Some(next)) if next.time > before.time => {
                (of(&next.camera) - of(&before.camera)) * (extent / (next.time - before.time))
            }
            _ => DVec3::ZERO,
        }
    };
    let between = |of: &dyn Fn(&Camera) -> DVec3| {
        let (p, q) = (of(&a.camera), of(&b.camera));
        let (m, n) = (slope(after - 1, of), slope(after, of));
        let (t2, t3) = (t * t, t * t * t);
        p * (2.0 * t3 - 3.0 * t2 + 1.0)
            + m * (t3 - 2.0 * t2 + t)
            + q * (3.0 * t2 - 2.0 * t3)
            + n * (t3 - t2)
    };
    let eye = between(&|camera| camera.eye);
    let target = between(&|camera| camera.target);
    let up = between(&|camera| camera.up.normalize_or_zero()).normalize_or(a.camera.up);
    let field_of_view = between(&|camera| DVec3::splat(camera.field_of_view)).x;
    Camera::new(eye, target, up, field_of_view)
}

/// To the right and ahead of what stands on the ground: x and z where y is up, x and −y where z is.
fn level_axes(up: DVec3) -> [DVec3; 2] {
    let right = (DVec3::X - DVec3::X.dot(up) * up).normalize_or(up.any_orthonormal_vector());
    [right, right.cross(up)]
}

/// A box around a box whose corners are on a lattice of a sixteenth of its size: the same for boxes that hardly differ.
fn rounded(bounds: &Bounds) -> Bounds {
    let size = bounds.size().max_element();
    if !(size > 0.0 && size.is_finite()) {
        return *bounds;
    }
    let step = (size.log2().ceil() - 5.0).exp2();
    Bounds { min: (bounds.min / step).floor() * step, max: (bounds.max / step).ceil() * step }
}

/// A pinhole camera.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Camera {
    /// Where it is [m].
    pub eye: DVec3,
    /// What is in the middle of the picture [m].
    pub target: DVec3,
    /// What is up in the picture.
    pub up: DVec3,
    /// The angle from the lower to the upper edge of the picture [rad].
    pub field_of_view: f64,
}

/// How a camera is placed that shows a box whole.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Framing {
    /// From the middle of what is seen towards the camera.
    pub from: DVec3,
    /// What is up.
    pub up: DVec3,
    /// The angle from the lower to the upper edge of the picture [rad].
    pub field_of_view: f64,
    /// Width over height of the picture.
    pub aspect: f64,
    /// How much of the picture stays free on each side, as a part of it.
    pub margin: f64,
}

impl Camera {
    /// Checks that it looks somewhere.
    pub fn new(eye: DVec3, target: DVec3, up: DVec3, field_of_view: f64) -> Result<Self> {
        let asked = |what: &str, found: &str, wanted: &str| {
            Err(RenderError::Asked {
                what: what.into(),
                found: found.into(),
                wanted: wanted.into(),
            })
        };
        if !(eye.is_finite() && target.is_finite() && up.is_finite()) {
            return asked("the camera", "nowhere", "its place and its target have to be finite");
        }
        let forward = target - eye;
        if forward.length() < 1e-9 * (1.0 + eye.length()) {
            return asked("the camera's target", "where the camera is", "it has to be elsewhere");
        }
        if forward.normalize().cross(up.normalize_or_zero()).length() < 1e-6 {
            return asked(
                "the camera's direction",
                &format!("along {up}, which is up"),
                "it has to look aside of that: give another `up`",
            );
        }
        if !(field_of_view > 1e-3 && field_of_view < 3.0) {
            let found = format!("{:.1}°", field_of_view.to_degrees());
            return asked(
                "the camera's field of view",
                &found,
                "it has to be between 0.1° and 170°",
            );
        }
        Ok(Self { eye, target, up, field_of_view })
    }

    /// Checks one that was made without [`Camera::new`].
    pub(crate) fn check(&self) -> Result<()> {
        Self::new(self.eye, self.target, self.up, self.field_of_view).map(|_| ())
    }

    /// One that shows all of a box, as close as it can, with the same room left and right of it, and above and below.
    pub fn framing(bounds: &Bounds, framing: &Framing) -> Result<Self> {
        let Framing { from, up, field_of_view, aspect, margin } = *framing;
        if !(bounds.min.is_finite() && bounds.max.is_finite()) {
            return Self::new(DVec3::NAN, DVec3::NAN, up, field_of_view);
        }
        let centre = bounds.centre();
        // Something of no size is looked at from a metre away.
        let radius = match 0.5 * bounds.size().length() {
            radius if radius > 0.0 => radius,
            _ => 0.25,
        };
        let from = from.normalize_or(DVec3::new(0.5, 0.35, 0.8).normalize());
        let camera = Self::new(
            centre + radius.max(1e-8 * centre.length()) * from,
            centre,
            up,
            field_of_view,
        )?;
        let [right, upwards, forward] = camera.axes();
        let free = 1.0 - 2.0 * if margin.is_finite() { margin.clamp(0.0, 0.45) } else { 0.0 };
        let slope_y = (0.5 * field_of_view).tan() * free;
        let slope_x = slope_y * if aspect.is_finite() { aspect.max(1e-3) } else { 1.0 };
        // Each corner has to be inside of the picture's pyramid: for all of them, |x − eye x| ≤ slope (z − eye z). The eye that is
        // furthest ahead touches both sides.
        let fit = |axis: DVec3, slope: f64| {
            let sides = bounds.corners().map(|corner| {
                let at = corner - centre;
                let (x, z) = (at.dot(axis), at.dot(forward));
                (slope * z + x, slope * z - x)
            });
            let least = |(a, b): (f64, f64), (c, d): (f64, f64)| (a.min(c), b.min(d));
            let (low, high) = sides.into_iter().reduce(least).unwrap_or((0.0, 0.0));
            (0.5 * (low - high), (low + high) / (2.0 * slope))
        };
        let ((x, ahead_x), (y, ahead_y)) = (fit(right, slope_x), fit(upwards, slope_y));
        let ahead = ahead_x.min(ahead_y).min(-1e-6 * radius - 1e-8 * centre.length());
        let away = if bounds.size() == DVec3::ZERO { -1.0 } else { ahead };
        let aside = x * right + y * upwards;
        Self::new(centre + aside + away * forward, centre + aside, up, field_of_view)
    }

    /// One that shows a box well: from ahead and from the right, a little from above, with the horizon over it. The same for boxes
    /// that hardly differ, so that it stands still from frame to frame.
    pub fn composed(bounds: &Bounds, up: DVec3, aspect: f64) -> Result<Self> {
        let up = up.normalize_or(DVec3::Y);
        let [right, ahead] = level_axes(up);
        let (high, round) = (22f64.to_radians(), 32f64.to_radians());
        let from = high.sin() * up + high.cos() * (round.cos() * ahead + round.sin() * right);
        let field_of_view = 32f64.to_radians();
        let framing = Framing { from, up, field_of_view, aspect, margin: 0.09 };
        Self::framing(&rounded(bounds), &framing)
    }

    /// To the right, up, and forward in the picture; of length 1.
    pub fn axes(&self) -> [DVec3; 3] {
        let forward = (self.target - self.eye).normalize();
        let right = forward.cross(self.up).normalize();
        [right, right.cross(forward), forward]
    }
}
