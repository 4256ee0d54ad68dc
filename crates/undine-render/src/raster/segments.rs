//! Straight pieces with round ends, as pixels: what tubes and lines are drawn of.

use super::target::Target;
use super::view::{Ray, View};
use undine_core::glam::{Vec2, Vec3};

/// An end of a segment along the axes of a view [m], and how thick it is there [pixels].
#[derive(Debug, Clone, Copy)]
pub(super) struct End {
    pub turned: Vec3,
    pub radius: f32,
}

/// Draws a segment. The depth in a pixel is that of its middle line less what `nearer` says [m] at a part of its length and at a
/// distance from the middle line, 0 there to 1 at its edge.
#[inline]
pub(super) fn draw<T: Target>(
    view: &View,
    ends: [End; 2],
    primitive: u32,
    target: &T,
    nearer: impl Fn(f32, f32) -> f32,
) {
    let Some((ends, parts)) = in_front(view, ends) else { return };
    let [a, b] = ends;
    let (from, to) = (view.pixel(a.turned), view.pixel(b.turned));
    let widest = a.radius.max(b.radius);
    let size = target.size();
    let limit = Vec2::new(size.width as f32, size.height as f32);
    let (low, high) = (from.min(to) - widest, from.max(to) + widest);
    if !(low.cmplt(limit).all() && high.cmpge(Vec2::ZERO).all() && widest.is_finite()) {
        return;
    }
    let way = to - from;
    let length_squared = way.length_squared().max(1e-12);
    let (rows, last_row) = (low.y.max(0.0) as usize, high.y.min(limit.y - 1.0) as usize);
    // Parts of a length on the picture are not parts of it in space: what is far away is shorter.
    let (wide_a, wide_b) =
        (view.base + view.slope * a.turned.z, view.base + view.slope * b.turned.z);
    for y in rows..=last_row {
        // Only what is close to the part of the segment that is close to this row.
        let middle = y as f32 + 0.5;
        let (mut start, mut end) = (low.x, high.x);
        if way.y.abs() > 1e-6 {
            let part = |y: f32| ((y - from.y) / way.y).clamp(0.0, 1.0);
            let (s, t) = (part(middle - widest), part(middle + widest));
            let (s, t) = (from.x + s * way.x, from.x + t * way.x);
            (start, end) = (s.min(t) - widest, s.max(t) + widest);
        }
        if start >= limit.x || end < 0.0 {
            continue;
        }
        for x in start.max(0.0) as usize..=end.min(limit.x - 1.0) as usize {
            let pixel = Vec2::new(x as f32 + 0.5, middle);
            let shown = ((pixel - from).dot(way) / length_squared).clamp(0.0, 1.0);
            let aside = pixel.distance_squared(from + shown * way);
            let radius = a.radius + shown * (b.radius - a.radius);
            if aside > radius * radius {
                continue;
            }
            let part = shown * wide_a / (wide_b + shown * (wide_a - wide_b));
            let depth = a.turned.z + part * (b.turned.z - a.turned.z);
            let part = parts[0] + part * (parts[1] - parts[0]);
            let depth = depth - nearer(part, (aside.sqrt() / radius).min(1.0));
            target.put(x, y, depth.max(view.near), primitive);
        }
    }
}

/// What is in front of the eye of a segment, and from which to which part of it that is.
#[inline]
fn in_front(view: &View, [a, b]: [End; 2]) -> Option<([End; 2], [f32; 2])> {
    let near = view.near * 1.01;
    if a.turned.is_nan() || b.turned.is_nan() || (a.turned.z <= near && b.turned.z <= near) {
        return None;
    }
    if a.turned.z > near && b.turned.z > near {
        return Some(([a, b], [0.0, 1.0]));
    }
    let part = (near - a.turned.z) / (b.turned.z - a.turned.z);
    // The thickness at the cut is that of the end that stays: at the eye it has no bound.
    let turned = a.turned + part * (b.turned - a.turned);
    Some(match a.turned.z > near {
        true => ([a, End { turned, radius: a.radius }], [0.0, part]),
        false => ([End { turned, radius: b.radius }, b], [part, 1.0]),
    })
}

/// Where a line of sight is closest to a segment: its depth there, and the part of the segment.
#[inline]
pub(super) fn closest(ray: &Ray, from: Vec3, to: Vec3) -> (f32, f32) {
    let way = to - from;
    let away = from - ray.origin;
    let direction = ray.direction.normalize();
    // Across the line of sight, the segment is a line in a plane, and the line of sight its origin.
    let across = |vector: Vec3| vector - vector.dot(direction) * direction;
    let (start, step) = (across(away), across(way));
    let part = (-start.dot(step) / step.length_squared().max(1e-30)).clamp(0.0, 1.0);
    let depth = (away + part * way).dot(direction) / ray.direction.length();
    (depth, part)
}
