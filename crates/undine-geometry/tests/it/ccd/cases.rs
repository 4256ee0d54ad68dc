//! Families of moving pairs: easy ones, and those that break root finders.

use super::judge::{Case, Kind};
use undine_core::glam::DVec3;
use undine_geometry::random::{bits, unit};

/// Numbers for one case.
pub struct Dice {
    seed: u64,
    next: u64,
}

impl Dice {
    pub fn new(seed: u64, case: u64) -> Self {
        Self { seed, next: case << 8 }
    }

    /// Evenly from 0 to 1.
    pub fn unit(&mut self) -> f64 {
        self.next += 1;
        unit(self.seed, self.next)
    }

    /// Evenly in a cube from -1 to 1.
    pub fn vector(&mut self) -> DVec3 {
        DVec3::new(self.unit(), self.unit(), self.unit()) * 2.0 - 1.0
    }

    /// A vector of whole numbers from -most to most.
    pub fn whole(&mut self, most: i64) -> DVec3 {
        let mut number = || {
            self.next += 1;
            (bits(self.seed, self.next) % (2 * most as u64 + 1)) as f64 - most as f64
        };
        DVec3::new(number(), number(), number())
    }
}

/// Vertices anywhere in a cube, at both times.
pub fn anywhere(dice: &mut Dice) -> Case {
    Case { start: [(); 4].map(|()| dice.vector()), end: [(); 4].map(|()| dice.vector()) }
}

/// Vertices that move little against their distances, as in most steps of a simulation.
pub fn short_steps(dice: &mut Dice) -> Case {
    let start = [(); 4].map(|()| dice.vector());
    let common = dice.vector();
    Case { start, end: start.map(|x| x + common + 0.2 * dice.vector()) }
}

/// Vertices on a small grid, so that degenerate places are met exactly: no area, no motion, one line, one plane.
pub fn on_a_grid(dice: &mut Dice) -> Case {
    Case { start: [(); 4].map(|()| dice.whole(2)), end: [(); 4].map(|()| dice.whole(2)) }
}

/// Vertices that stay in one plane, which may be tilted.
pub fn in_one_plane(dice: &mut Dice) -> Case {
    let flat = DVec3::new(1.0, 1.0, 0.0);
    let whole = dice.unit() < 0.5;
    let mut point = || flat * if whole { dice.whole(3) } else { dice.vector() };
    let case = Case { start: [(); 4].map(|()| point()), end: [(); 4].map(|()| point()) };
    if dice.unit() < 0.5 {
        return case;
    }
    let (x, y) = (dice.vector(), dice.vector());
    let tilt = |p: DVec3| x * p.x + y * p.y;
    Case { start: case.start.map(tilt), end: case.end.map(tilt) }
}

/// Pairs that meet exactly, but for rounding, at a time that is returned.
pub fn meeting(dice: &mut Dice, kind: Kind) -> (Case, f64) {
    let mut x = [(); 4].map(|()| dice.vector());
    // Long and thin ones among them, and contacts on edges, at corners and at ends.
    if dice.unit() < 0.3 {
        x[2] = x[1] + (x[2] - x[1]) * 10.0_f64.powf(-6.0 * dice.unit());
    }
    if dice.unit() < 0.3 {
        x[3] =
            x[2] + (x[1] - x[2]) * dice.unit() + dice.vector() * 10.0_f64.powf(-9.0 * dice.unit());
    }
    let mut part = || match dice.unit() {
        u if u < 0.1 => 0.0,
        u if u > 0.9 => 1.0,
        u => (u - 0.1) / 0.8,
    };
    let (s, t) = (part(), part());
    match kind {
        Kind::PointTriangle => {
            let (v, w) = (s * t, s * (1.0 - t));
            x[0] = x[1] * (1.0 - v - w) + x[2] * v + x[3] * w;
        }
        // The first edge is moved so that its point at s meets the second's at t.
        Kind::EdgeEdge => {
            let away = x[2].lerp(x[3], t) - x[0].lerp(x[1], s);
            x[0] += away;
            x[1] += away;
        }
    }
    let time = match dice.unit() {
        u if u < 0.1 => 0.0,
        u if u > 0.9 => 1.0,
        u => (u - 0.1) / 0.8,
    };
    let speed = 10.0_f64.powf(2.0 - 6.0 * dice.unit());
    let v = [(); 4].map(|()| dice.vector() * speed);
    let start = std::array::from_fn(|k| x[k] - v[k] * time);
    (Case { start, end: std::array::from_fn(|k| x[k] + v[k] * (1.0 - time)) }, time)
}
