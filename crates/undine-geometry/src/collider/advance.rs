//! Moving a sphere towards something that knows its distance: conservative advancement, step by step as far as nothing
//! can be (Mirtich 1996; Hart 1996).

use undine_core::glam::DVec3;
use undine_core::mesh::Bounds;

/// A way that a sphere goes, from time 0 to time 1.
#[derive(Debug, Clone, Copy)]
pub(super) struct Way {
    pub from: DVec3,
    pub to: DVec3,
    /// Of the sphere [m].
    pub radius: f64,
    pub before: Before,
}

/// What was before a way.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Before {
    /// Another step: it may begin anywhere.
    Step,
    /// An impact, in the middle of the step.
    Impact,
    /// Another leg of the same way, on which it was to stay this far away [m].
    Leg(f64),
}

/// How a way went: what was found on it, and how near it could come [m], if it was outside.
pub(super) type Gone<T> = (Option<T>, Option<f64>);

impl Way {
    /// Where the centre is at a time.
    pub fn at(&self, time: f64) -> DVec3 {
        self.from.lerp(self.to, time)
    }

    /// The same with a radius of this part of it at least.
    pub fn of_radius(self, part: f64) -> Self {
        Self { radius: self.radius.max(part * self.length()), ..self }
    }

    /// The times between which the centre is in a box; `None` if it never is.
    pub fn within(&self, bounds: &Bounds) -> Option<[f64; 2]> {
        let along = self.to - self.from;
        let (mut first, mut last) = (0.0_f64, 1.0_f64);
        for axis in 0..3 {
            let ends = [bounds.min[axis] - self.from[axis], bounds.max[axis] - self.from[axis]];
            if along[axis] == 0.0 {
                if ends[0] > 0.0 || ends[1] < 0.0 {
                    return None;
                }
                continue;
            }
            let [a, b] = ends.map(|end| end / along[axis]);
            (first, last) = (first.max(a.min(b)), last.min(a.max(b)));
        }
        (first <= last).then_some([first, last])
    }

    /// How far the centre goes [m].
    pub fn length(&self) -> f64 {
        self.from.distance(self.to)
    }
}

/// What begins nearer than its radius is let to slide along: it stops where it would come nearer than this part of
/// where it began. So it never gets through, however often it is moved.
pub(super) const NEARER: f64 = 0.5;

/// How near the contact is found, as a part of the separation.
pub(super) const TOUCH: f64 = 1e-2;

/// How near a sphere may come that begins at a distance [m] from something: to its radius, unless it is there already.
pub(super) fn separation(start: f64, way: Way) -> f64 {
    match way.before {
        Before::Leg(separation) => separation,
        // After a contact it is there, or short of it by the touch.
        _ if start < (1.0 + 2.0 * TOUCH) * way.radius => NEARER * start,
        _ => way.radius,
    }
}

/// More steps than any way needs but one that grazes; then the time reached is the answer, which is never too late.
///
/// What slides at its radius takes steps of half of it, and one that just passes, of a hundredth.
const MOST_STEPS: usize = 1 << 16;

/// When the centre first comes within its radius of the surface. `steepness` is how much faster than itself the
/// distance may change along a way: 1 for true distances.
///
/// What begins inside is stopped at once if it goes deeper, and else is free until it is out.
pub(super) fn first_contact(
    way: Way,
    steepness: f64,
    distance: impl Fn(DVec3) -> f64,
) -> Gone<f64> {
    let (length, mut start) = (way.length(), distance(way.from));
    let mut gone = 0.0;
    if start <= 0.0 && !matches!(way.before, Before::Leg(_)) {
        match way_out(way, start, TOUCH * way.radius, steepness, &distance) {
            WayOut::Deeper => return (Some(0.0), None),
            WayOut::Free => return (None, None),
            WayOut::Out(time, outside) => (gone, start) = (time * length, outside),
        }
    }
    let separation = separation(start, way);
    let touch = TOUCH * separation;
    let mut free = start - separation;
    for _ in 0..MOST_STEPS {
        if free <= touch {
            break;
        }
        gone += free / steepness;
        if gone.is_nan() || gone >= length {
            return (None, Some(separation));
        }
        free = distance(way.at(gone / length)) - separation;
    }
    let time = if length > 0.0 { (gone / length).clamp(0.0, 1.0) } else { 0.0 };
    (Some(time), Some(separation))
}

/// How a way goes on that begins inside.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum WayOut {
    /// It leads deeper, and so nowhere.
    Deeper,
    /// It ends before it is out, or just there.
    Free,
    /// It is out at this time, at this distance [m].
    Out(f64, f64),
}

/// Follows a way that begins inside, at a distance `start` [m] that is not positive, until it is out by more than `slack`
/// [m]. Nothing on it may be deeper than the start by more than that: else what lies just below a surface could leave
/// by the other one.
pub(super) fn way_out(
    way: Way,
    start: f64,
    slack: f64,
    steepness: f64,
    distance: impl Fn(DVec3) -> f64,
) -> WayOut {
    if distance(way.to) < start {
        return WayOut::Deeper;
    }
    let length = way.length();
    let (mut gone, mut here) = (0.0, start);
    for _ in 0..MOST_STEPS {
        // What is inside stays there as far as the surface is away.
        gone += here.abs() / steepness + slack;
        if gone.is_nan() || gone >= length {
            return WayOut::Free;
        }
        here = distance(way.at(gone / length));
        if here < start - slack {
            return WayOut::Deeper;
        }
        if here > slack {
            return WayOut::Out(gone / length, here);
        }
    }
    WayOut::Deeper
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A wall of thickness `2 half` in the plane x = 0.
    fn wall(half: f64) -> impl Fn(DVec3) -> f64 {
        move |at| at.x.abs() - half
    }

    fn way(from: [f64; 3], to: [f64; 3], radius: f64) -> Way {
        Way { from: from.into(), to: to.into(), radius, before: Before::Step }
    }

    #[test]
    fn a_sphere_stops_at_a_wall_however_thin_and_however_fast_it_is() {
        for half in [0.1, 1e-3, 1e-9, 0.0] {
            for speed in [1.0, 100.0, 1e6] {
                let way = way([-0.5, 0.0, 0.0], [speed, speed, 0.0], 0.01);
                let time = first_contact(way, 1.0, wall(half)).0.unwrap();
                let gap = -way.at(time).x - half;
                assert!((0.01..0.010_11).contains(&gap), "{half} {speed}: {gap}");
            }
        }
    }

    #[test]
    fn what_touches_may_slide_and_leave_but_never_gets_through() {
        let slide = way([-0.01, 0.0, 0.0], [-0.01, 5.0, 0.0], 0.02);
        assert_eq!(first_contact(slide, 1.0, wall(0.0)).0, None);
        let leave = way([-0.01, 0.0, 0.0], [-3.0, 5.0, 0.0], 0.02);
        assert_eq!(first_contact(leave, 1.0, wall(0.0)).0, None);
        let mut x = -0.01;
        for _ in 0..50 {
            let press = way([x, 0.0, 0.0], [1.0, 0.0, 0.0], 0.02);
            x = press.at(first_contact(press, 1.0, wall(0.0)).0.unwrap()).x;
            assert!(x < 0.0);
        }
    }

    #[test]
    fn what_is_inside_is_held_back_only_from_going_deeper() {
        let deeper = way([-0.05, 0.0, 0.0], [0.0, 0.0, 0.0], 0.01);
        assert_eq!(first_contact(deeper, 1.0, wall(0.1)).0, Some(0.0));
        let out = way([-0.05, 0.0, 0.0], [-0.3, 0.0, 0.0], 0.01);
        assert_eq!(first_contact(out, 1.0, wall(0.1)).0, None);
    }

    #[test]
    fn a_way_of_no_length_touches_nothing_that_it_did_not_touch() {
        assert_eq!(first_contact(way([1.0; 3], [1.0; 3], 0.1), 1.0, wall(0.0)).0, None);
        assert_eq!(first_contact(way([f64::NAN; 3], [1.0; 3], 0.1), 1.0, wall(0.0)).0, None);
    }
}
