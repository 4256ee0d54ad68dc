//! From where a Shot is seen: a pinhole camera, and how to make it show a box whole.

use crate::error::{RenderError, Result};
use undine_core::glam::DVec3;
use undine_core::mesh::Bounds;

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

    /// To the right, up, and forward in the picture; of length 1.
    pub fn axes(&self) -> [DVec3; 3] {
        let forward = (self.target - self.eye).normalize();
        let right = forward.cross(self.up).normalize();
        [right, right.cross(forward), forward]
    }
}
