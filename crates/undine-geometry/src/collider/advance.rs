//! Moving a sphere towards something that knows its distance: conservative advancement, step by step as far as nothing
//! can be (Mirtich 1996; Hart 1996).

use undine_core::glam::DVec3;

/// A way that a sphere goes, from time 0 to time 1.
#[derive(Debug, Clone, Copy)]
pub(super) struct Way {
    pub from: DVec3,
    pub to: DVec3,
    /// Of the sphere [m].
    pub radius: f64,
}

impl Way {
    /// Where the centre is at a time.
    pub fn at(&self, time: f64) -> DVec3 {
        self.from.lerp(self.to, time)
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
pub(super) fn separation(start: f64, radius: f64) -> f64 {
    // After a contact it is there, or short of it by the touch.
    if start < (1.0 + 2.0 * TOUCH) * radius { NEARER * start } else { radius }
}

/// More steps than any way needs but one that grazes; then the time reached is the answer, which is never too late.
const MOST_STEPS: usize = 4096;

/// When the centre first comes within its radius of the surface. `steepness` is how much faster than itself the
/// distance may change along a way: 1 for true distances.
///
/// What begins inside is stopped at once if it goes deeper, and else is free.
pub(super) fn first_contact(
    way: Way,
    steepness: f64,
    distance: impl Fn(DVec3) -> f64,
) -> Option<f64> {
    let (length, start) = (way.length(), distance(way.from));
    if start <= 0.0 {
        return (distance(way.to) < start).then_some(0.0);
    }
    let separation = separation(start, way.radius);
    let touch = TOUCH * separation;
    let (mut gone, mut free) = (0.0, start - separation);
    for _ in 0..MOST_STEPS {
        if free <= touch {
            break;
        }
        gone += free / steepness;
        if gone.is_nan() || gone >= length {
            return None;
        }
        free = distance(way.at(gone / length)) - separation;
    }
    Some((gone / length).clamp(0.0, 1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A wall of thickness `2 half` in the plane x = 0.
    fn wall(half: f64) -> impl Fn(DVec3) -> f64 {
        move |at| at.x.abs() - half
    }

    fn way(from: [f64; 3], to: [f64; 3], radius: f64) -> Way {
        Way { from: from.into(), to: to.into(), radius }
    }

    #[test]
    fn a_sphere_stops_at_a_wall_however_thin_and_however_fast_it_is() {
        for half in [0.1, 1e-3, 1e-9, 0.0] {
            for speed in [1.0, 100.0, 1e6] {
                let way = way([-0.5, 0.0, 0.0], [speed, speed, 0.0], 0.01);
                let time = first_contact(way, 1.0, wall(half)).unwrap();
                let gap = -way.at(time).x - half;
                assert!((0.01..0.010_11).contains(&gap), "{half} {speed}: {gap}");
            }
        }
    }

    #[test]
    fn what_touches_may_slide_and_leave_but_never_gets_through() {
        let slide = way([-0.01, 0.0, 0.0], [-0.01, 5.0, 0.0], 0.02);
        assert_eq!(first_contact(slide, 1.0, wall(0.0)), None);
        let leave = way([-0.01, 0.0, 0.0], [-3.0, 5.0, 0.0], 0.02);
        assert_eq!(first_contact(leave, 1.0, wall(0.0)), None);
        let mut x = -0.01;
        for _ in 0..50 {
            let press = way([x, 0.0, 0.0], [1.0, 0.0, 0.0], 0.02);
            x = press.at(first_contact(press, 1.0, wall(0.0)).unwrap()).x;
            assert!(x < 0.0);
        }
    }

    #[test]
    fn what_is_inside_is_held_back_only_from_going_deeper() {
        let deeper = way([-0.05, 0.0, 0.0], [0.0, 0.0, 0.0], 0.01);
        assert_eq!(first_contact(deeper, 1.0, wall(0.1)), Some(0.0));
        let out = way([-0.05, 0.0, 0.0], [-0.3, 0.0, 0.0], 0.01);
        assert_eq!(first_contact(out, 1.0, wall(0.1)), None);
    }

    #[test]
    fn a_way_of_no_length_touches_nothing_that_it_did_not_touch() {
        assert_eq!(first_contact(way([1.0; 3], [1.0; 3], 0.1), 1.0, wall(0.0)), None);
        assert_eq!(first_contact(way([f64::NAN; 3], [1.0; 3], 0.1), 1.0, wall(0.0)), None);
    }
}
