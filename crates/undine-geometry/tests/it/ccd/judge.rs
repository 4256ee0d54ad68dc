//! What the queries are held against: distances at one time by brute force, and many times.

use undine_core::glam::DVec3;

/// A pair of moving primitives, with its distance at a time by brute force.
#[derive(Debug, Clone, Copy)]
pub enum Kind {
    PointTriangle,
    EdgeEdge,
}

/// Four moving vertices.
#[derive(Debug, Clone, Copy)]
pub struct Case {
    pub start: [DVec3; 4],
    pub end: [DVec3; 4],
}

impl Case {
    /// Vertices at a time, relative to the first, so that far from the origin nothing is lost.
    pub fn at(&self, t: f64) -> [DVec3; 4] {
        std::array::from_fn(|k| {
            let (a, b) = (self.start[k] - self.start[0], self.end[k] - self.end[0]);
            a * (1.0 - t) + b * t
        })
    }

    /// The extent of the pair and of its relative motion.
    pub fn extent(&self) -> f64 {
        let far = |t| self.at(t).iter().fold(0.0_f64, |most, x| most.max(x.length()));
        far(0.0).max(far(1.0))
    }

    pub fn distance(&self, kind: Kind, t: f64) -> f64 {
        let x = self.at(t);
        match kind {
            Kind::PointTriangle => point_triangle(x[0], [x[1], x[2], x[3]]),
            Kind::EdgeEdge => edge_edge([x[0], x[1]], [x[2], x[3]]),
        }
    }

    /// A time at which the distance is at most `separation`, and before which none was found: by samples, by the least
    /// distance between samples, and by halving before the first. If there is none, the least distance found.
    pub fn first_within(&self, kind: Kind, separation: f64, samples: u32) -> Result<f64, f64> {
        let time = |n: u32| f64::from(n) / f64::from(samples);
        let all: Vec<f64> = (0..=samples).map(|n| self.distance(kind, time(n))).collect();
        let mut least = f64::INFINITY;
        for n in 0..=samples {
            let here = all[n as usize];
            least = least.min(here);
            let (before, after) = (n.saturating_sub(1), (n + 1).min(samples));
            let mut within = (here <= separation).then_some(time(n));
            // A dip between samples: thirds are halved towards the least.
            if within.is_none() && here <= all[before as usize] && here <= all[after as usize] {
                let (mut low, mut high) = (time(before), time(after));
                for _ in 0..85 {
                    let (a, b) = (low + (high - low) / 3.0, high - (high - low) / 3.0);
                    let (da, db) = (self.distance(kind, a), self.distance(kind, b));
                    least = least.min(da).min(db);
                    for (t, d) in [(a, da), (b, db)] {
                        if d <= separation && within.is_none_or(|w| t < w) {
                            within = Some(t);
                        }
                    }
                    if da <= db { high = b } else { low = a }
                }
            }
            if let Some(mut late) = within {
                let mut early = time(before);
                for _ in 0..50 {
                    let middle = 0.5 * (early + late);
                    if self.distance(kind, middle) <= separation {
                        late = middle
                    } else {
                        early = middle
                    }
                }
                return Ok(late);
            }
        }
        Err(least)
    }
}

fn point_segment(p: DVec3, [a, b]: [DVec3; 2]) -> f64 {
    let e = b - a;
    let t = if e == DVec3::ZERO { 0.0 } else { ((p - a).dot(e) / e.dot(e)).clamp(0.0, 1.0) };
    // The parameter is rounded where the point is far along; what matters is the distance.
    (p - a - e * t).length()
}

pub fn point_triangle(p: DVec3, [a, b, c]: [DVec3; 3]) -> f64 {
    let mut least =
        point_segment(p, [a, b]).min(point_segment(p, [b, c])).min(point_segment(p, [c, a]));
    let n = (b - a).cross(c - a);
    let longest = (b - a).length().max((c - a).length());
    if n.length() > 1e-11 * longest * longest {
        // Weights by the areas opposite to the corners. The distance is taken to the point that they give, which lies in
        // the triangle whatever rounding did to them: it is never too small.
        let area = |from: DVec3, to: DVec3| (from - p).cross(to - p).dot(n) / n.dot(n);
        let [u, v, w] = [area(b, c), area(c, a), area(a, b)];
        if u >= 0.0 && v >= 0.0 && w >= 0.0 {
            let sum = u + v + w;
            least = least
                .min(((p - a) * (u / sum) + (p - b) * (v / sum) + (p - c) * (w / sum)).length());
        }
    }
    least
}

pub fn edge_edge([a, b]: [DVec3; 2], [c, d]: [DVec3; 2]) -> f64 {
    let ends = [
        point_segment(a, [c, d]),
        point_segment(b, [c, d]),
        point_segment(c, [a, b]),
        point_segment(d, [a, b]),
    ];
    let mut least = ends.into_iter().fold(f64::INFINITY, f64::min);
    let (u, v) = (b - a, d - c);
    let n = u.cross(v);
    if n.length() > 1e-11 * u.length() * v.length() {
        // Where each edge crosses the plane through the other and the common normal.
        let s = (c - a).cross(v).dot(n) / n.dot(n);
        let t = (c - a).cross(u).dot(n) / n.dot(n);
        if (0.0..=1.0).contains(&s) && (0.0..=1.0).contains(&t) {
            least = least.min((a * (1.0 - s) + b * s - c * (1.0 - t) - d * t).length());
        }
    }
    least
}
