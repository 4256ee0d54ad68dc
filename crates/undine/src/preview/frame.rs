//! From where a picture is seen: a steady camera around what there is, one that the scene gives, or one that goes around.
//!
//! The camera of a run's pictures depends on its first state alone, so that it stands still, and a picture comes out the same whichever
//! frames were drawn before it.

use super::contents::Contents;
use undine_core::glam::{DQuat, DVec3};
use undine_core::mesh::Bounds;
use undine_io::UpAxis;
use undine_render::RenderError;
use undine_render::shot::{Camera, Framing};
use undine_scene::Render;
use undine_schema::{Setting, Value};

/// A collider that is so many times larger than what the picture is about does not count for the camera.
const LARGE: f64 = 4.0;

/// So many times the size of the first state, and no further, the camera follows what flies away.
const FAR: f64 = 16.0;

/// How much of a picture stays free on each side.
const MARGIN: f64 = 0.04;

/// Towards the camera, where y is up.
const FROM: DVec3 = DVec3::new(0.42, 0.30, 0.86);

/// The box that a picture of a run shows: around the first state, what there is now, and colliders of about that size. It grows in
/// steps, so that the camera stands still for most of a run.
pub fn shown(first: Option<Bounds>, now: &Contents<'_>) -> Option<Bounds> {
    let subject = match (first, now.subject_bounds()) {
        (Some(first), Some(now)) => Some(first.union(near(now, &first))),
        (first, now) => first.or(now),
    };
    let colliders = now.collider_bounds();
    let whole = match (subject, colliders) {
        (Some(subject), Some(colliders)) => {
            let is_alike = largest(&colliders) <= LARGE * largest(&subject);
            if is_alike { subject.union(colliders) } else { subject }
        }
        (subject, colliders) => subject.or(colliders)?,
    };
    Some(stepped(whole))
}

fn largest(bounds: &Bounds) -> f64 {
    bounds.size().max_element()
}

/// What of a box is not far away from another.
fn near(bounds: Bounds, first: &Bounds) -> Bounds {
    let reach = DVec3::splat(FAR * largest(first).max(1e-3));
    let (low, high) = (first.min - reach, first.max + reach);
    Bounds { min: bounds.min.clamp(low, high), max: bounds.max.clamp(low, high) }
}

/// The box with its sides moved outwards to multiples of a quarter of the power of two below its size.
fn stepped(bounds: Bounds) -> Bounds {
    let size = largest(&bounds);
    if !(size > 0.0 && size.is_finite()) {
        return bounds;
    }
    let step = (size.log2().floor() - 2.0).exp2();
    // What lies on a step but for a hair stays there: on a floor, a surface between voxels is now above it and now below.
    let slack = 0.01;
    Bounds {
        min: (bounds.min / step + slack).floor() * step,
        max: (bounds.max / step - slack).ceil() * step,
    }
}

/// Which way is up.
pub fn upwards(up: UpAxis) -> DVec3 {
    match up {
        UpAxis::Y => DVec3::Y,
        UpAxis::Z => DVec3::Z,
    }
}

/// The camera at a time [s] of a picture of a box.
pub fn camera(
    render: &Render,
    bounds: Option<Bounds>,
    up: UpAxis,
    time: f64,
) -> Result<Camera, RenderError> {
    let vector = |setting: &Option<Setting>| match setting.as_ref()?.at(time) {
        Value::Vector(vector) => Some(DVec3::from_array(vector)),
        _ => None,
    };
    let field_of_view = match render.fov.at(time) {
        Value::Number(angle) => angle,
        _ => 0.6,
    };
    let bounds = bounds.unwrap_or(Bounds { min: DVec3::splat(-0.5), max: DVec3::splat(0.5) });
    let target = vector(&render.target);
    let above = upwards(up);
    let angle = if render.orbits { std::f64::consts::TAU * time / render.turn } else { 0.0 };
    let around = DQuat::from_axis_angle(above, angle);
    if let Some(eye) = vector(&render.eye) {
        let target = target.unwrap_or_else(|| bounds.centre());
        return Camera::new(target + around * (eye - target), target, above, field_of_view);
    }
    let from = match up {
        UpAxis::Y => FROM,
        UpAxis::Z => DVec3::new(FROM.x, -FROM.z, FROM.y),
    };
    let [width, height] = render.size;
    let framing = Framing {
        from: around * from,
        up: above,
        field_of_view,
        aspect: width as f64 / height as f64,
        margin: MARGIN,
    };
    let bounds = match target {
        None if render.orbits => upright_cylinder(bounds, above),
        None => bounds,
        // All of the box, around another middle.
        Some(target) => {
            let half = (bounds.min - target).abs().max((bounds.max - target).abs());
            Bounds { min: target - half, max: target + half }
        }
    };
    Camera::framing(&bounds, &framing)
}

/// The box around all that a box sweeps as it is turned: whoever goes around it keeps the same distance.
fn upright_cylinder(bounds: Bounds, above: DVec3) -> Bounds {
    let (centre, half) = (bounds.centre(), 0.5 * bounds.size());
    let high = half * above;
    let wide = (half - high).length();
    let half = high + wide * (DVec3::ONE - above);
    Bounds { min: centre - half, max: centre + half }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cube(low: f64, high: f64) -> Bounds {
        Bounds { min: DVec3::splat(low), max: DVec3::splat(high) }
    }

    #[test]
    fn the_shown_box_grows_in_steps_and_holds_what_it_is_of() {
        let one = stepped(cube(0.01, 1.02));
        assert_eq!(one, cube(0.0, 1.25));
        assert_eq!(stepped(cube(0.1, 1.1 + 1e-9)), one);
        assert_eq!(stepped(one), one);
        assert_eq!(stepped(cube(2.0, 2.0)), cube(2.0, 2.0));
    }

    #[test]
    fn what_flies_away_does_not_take_the_camera_along() {
        let runaway = near(cube(-1e9, 1e9), &cube(0.0, 1.0));
        assert_eq!(runaway, cube(-FAR, 1.0 + FAR));
    }

    #[test]
    fn an_orbit_keeps_its_distance_and_comes_back() {
        let options = [("camera".to_owned(), "orbit".to_owned())];
        let render = Render::default().with_options(&options).unwrap();
        for up in [UpAxis::Y, UpAxis::Z] {
            let at = |time| camera(&render, Some(cube(0.0, 1.0)), up, time).unwrap();
            let (start, quarter, end) = (at(0.0), at(2.5), at(10.0));
            assert!((start.eye - end.eye).length() < 1e-9);
            let distance = |camera: &Camera| (camera.eye - camera.target).length();
            assert!((distance(&start) - distance(&quarter)).abs() < 0.02 * distance(&start));
            assert!((start.eye - quarter.eye).length() > distance(&start));
        }
    }

    /// How far a place is from the middle of the picture, as parts of half its width and height.
    fn aside(camera: &Camera, place: DVec3, aspect: f64) -> [f64; 2] {
        let [right, up, forward] = camera.axes();
        let away = place - camera.eye;
        let half = (0.5 * camera.field_of_view).tan() * away.dot(forward);
        [away.dot(right) / (half * aspect), away.dot(up) / half]
    }

    #[test]
    fn all_is_seen_from_above_whichever_way_is_up_and_all_the_way_around() {
        let shown = Bounds { min: DVec3::new(-2.0, 0.0, -0.3), max: DVec3::new(2.0, 1.0, 0.4) };
        for (way, time) in [("auto", 0.0), ("orbit", 0.0), ("orbit", 1.3), ("orbit", 4.0)] {
            let options = [("camera".to_owned(), way.to_owned())];
            let render = Render::default().with_options(&options).unwrap();
            let [width, height] = render.size;
            for up in [UpAxis::Y, UpAxis::Z] {
                let camera = camera(&render, Some(shown), up, time).unwrap();
                assert!((camera.eye - camera.target).dot(upwards(up)) > 0.0);
                for corner in shown.corners() {
                    let [x, y] = aside(&camera, corner, width as f64 / height as f64);
                    assert!(x.abs() < 1.0 && y.abs() < 1.0, "{way} {up:?}: {x} {y}");
                }
            }
        }
    }
}
