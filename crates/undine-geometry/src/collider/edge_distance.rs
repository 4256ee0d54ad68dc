//! An edge that moves, against what knows nothing but its distance: when does any of it first come near?
//!
//! Parts of the edge during parts of the time are cells of a square. Distances change no faster than places do: the one in the middle of a cell tells
//! how near anything of the cell can be, and what is far away is ruled out by a single one. A cell that may be near is cut in two, and what comes
//! first is looked at first. That is conservative advancement (Mirtich 1996), along the edge as well as in time.

use super::advance::{NEARER, TOUCH};
use super::edge::{EdgeWay, ROOTED};
use undine_core::glam::DVec3;

/// How early a touch may be found, as a part of the separation.
const EARLY: f64 = 0.25;

/// How exactly it is known how near an edge begins, as a part of its radius.
const EXACT: f64 = 0.1;

/// More distances than an edge asks for that comes near once. One that goes along a surface much farther than it is thick may need more; then the
/// first time is the answer of which nothing is known, which is never too late.
const MOST_DISTANCES: usize = 1 << 12;

/// More cells than wait while one is cut that is a million times as large as the least.
const MOST_CELLS: usize = 64;

/// A touch of an edge: when, and which part of it, from 0 to 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct When {
    pub time: f64,
    pub part: f64,
}

/// When any of an edge first comes within its radius of a surface, and how near it may come on the next leg [m]. `steepness` is how much faster
/// than itself the distance may change: 1 for true distances.
///
/// What touches from the start may slide along and leave, and what begins inside, or grows out of the surface, touches nothing.
pub(super) fn first_contact(
    way: &EdgeWay,
    steepness: f64,
    distance: impl Fn(DVec3) -> f64,
) -> (Option<When>, Option<f64>) {
    let field = Field { way, steepness, distance };
    let look = field.look(&Cell::ALL);
    if look.least() > (1.0 + 2.0 * TOUCH) * way.radius {
        return (None, Some(way.kept.unwrap_or(way.radius)));
    }
    let separation = way.kept.unwrap_or_else(|| field.separation());
    if separation <= 1e-6 * way.radius {
        return (None, Some(separation));
    }
    (field.first_within(separation), Some(separation))
}

/// A part of an edge during a part of the time.
#[derive(Debug, Clone, Copy)]
struct Cell {
    times: [f64; 2],
    parts: [f64; 2],
}

impl Cell {
    const ALL: Self = Self { times: [0.0, 1.0], parts: [0.0, 1.0] };
    const START: Self = Self { times: [0.0, 0.0], parts: [0.0, 1.0] };

    fn middle(&self) -> When {
        When { time: middle(self.times), part: middle(self.parts) }
    }

    /// Both halves across its longer side, first the one that is looked at first.
    fn cut(&self, look: &Look) -> [Self; 2] {
        let When { time, part } = self.middle();
        match look.over_time >= look.along {
            true => [
                Self { times: [self.times[0], time], ..*self },
                Self { times: [time, self.times[1]], ..*self },
            ],
            false => [
                Self { parts: [self.parts[0], part], ..*self },
                Self { parts: [part, self.parts[1]], ..*self },
            ],
        }
    }
}

fn middle([low, high]: [f64; 2]) -> f64 {
    0.5 * (low + high)
}

/// What is known of a cell [m].
struct Look {
    /// In its middle.
    distance: f64,
    /// By how much distances may differ from that, because it moves, and because it is long.
    over_time: f64,
    along: f64,
}

impl Look {
    /// How near any of it can be [m].
    fn least(&self) -> f64 {
        self.distance - self.over_time - self.along
    }
}

/// Cells that wait to be looked at, the next one last.
struct Waiting {
    cells: [Cell; MOST_CELLS],
    count: usize,
}

impl Waiting {
    fn new(first: Cell) -> Self {
        Self { cells: [first; MOST_CELLS], count: 1 }
    }

    fn next(&mut self) -> Option<Cell> {
        self.count = self.count.checked_sub(1)?;
        Some(self.cells[self.count])
    }

    fn is_full(&self) -> bool {
        self.count + 2 > MOST_CELLS
    }

    fn push(&mut self, [first, second]: [Cell; 2]) {
        self.cells[self.count] = second;
        self.cells[self.count + 1] = first;
        self.count += 2;
    }

    fn all(&self) -> &[Cell] {
        &self.cells[..self.count]
    }
}

/// Distances along the way of an edge.
struct Field<'a, D> {
    way: &'a EdgeWay,
    steepness: f64,
    distance: D,
}

impl<D: Fn(DVec3) -> f64> Field<'_, D> {
    fn look(&self, cell: &Cell) -> Look {
        let EdgeWay { from, to, .. } = self.way;
        let When { time, part } = cell.middle();
        let [a, b] = [0, 1].map(|end| from[end].lerp(to[end], time));
        let speed = |part: f64| (to[0] - from[0]).lerp(to[1] - from[1], part).length();
        let fastest = speed(cell.parts[0]).max(speed(cell.parts[1]));
        let half = |[low, high]: [f64; 2]| 0.5 * self.steepness * (high - low);
        Look {
            distance: (self.distance)(a.lerp(b, part)),
            over_time: half(cell.times) * fastest,
            along: half(cell.parts) * a.distance(b),
        }
    }

    /// How near the edge may come [m]: to its radius, unless it is there already.
    fn separation(&self) -> f64 {
        let EdgeWay { from, radius, .. } = *self.way;
        let mut nearest = (self.distance)(from[0]).min((self.distance)(from[1]));
        if nearest < ROOTED * radius {
            return 0.0;
        }
        let (near, exact) = ((1.0 + 2.0 * TOUCH) * radius, EXACT * radius);
        let mut waiting = Waiting::new(Cell::START);
        for _ in 0..MOST_DISTANCES {
            let Some(cell) = waiting.next() else { break };
            let look = self.look(&cell);
            nearest = nearest.min(look.distance);
            if look.least() < near.min(nearest - exact) && !waiting.is_full() {
                waiting.push(cell.cut(&look));
            }
        }
        let least = nearest - exact;
        if least >= near { radius } else { NEARER * least.max(0.0) }
    }

    /// When it first comes within a distance [m] that it begins beyond.
    fn first_within(&self, separation: f64) -> Option<When> {
        let mut first: Option<When> = None;
        let mut waiting = Waiting::new(Cell::ALL);
        for _ in 0..MOST_DISTANCES {
            let Some(cell) = waiting.next() else { return first };
            if first.is_some_and(|first| first.time <= cell.times[0]) {
                continue;
            }
            let look = self.look(&cell);
            // A distance that is no number rules out nothing and finds nothing.
            if look.least() > separation || look.least().is_nan() {
                continue;
            }
            match look.over_time + look.along <= EARLY * separation || waiting.is_full() {
                true => first = Some(When { time: cell.times[0], ..cell.middle() }),
                false => waiting.push(cell.cut(&look)),
            }
        }
        let unknown =
            waiting.all().iter().map(|cell| When { time: cell.times[0], ..cell.middle() });
        unknown.chain(first).min_by(|one, other| one.time.total_cmp(&other.time))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::unit;
    use std::cell::Cell as Counter;

    fn way(from: [[f64; 3]; 2], to: [[f64; 3]; 2], radius: f64) -> EdgeWay {
        EdgeWay { from: from.map(DVec3::from), to: to.map(DVec3::from), radius, kept: None }
    }

    fn place(way: &EdgeWay, when: When) -> DVec3 {
        let [a, b] = [0, 1].map(|end| way.from[end].lerp(way.to[end], when.time));
        a.lerp(b, when.part)
    }

    /// A cylinder about an axis along z.
    fn rod(x: f64, radius: f64) -> impl Fn(DVec3) -> f64 {
        move |at| (at.x - x).hypot(at.y) - radius
    }

    /// One end stays and the other goes from y = 1 to y = −1: the line through both is |y|/2√(1 + y²) from where the axis of the rod is.
    #[test]
    fn an_edge_that_turns_touches_a_rod_when_it_should() {
        for (thick, radius) in [(0.1, 0.01), (1e-3, 0.01), (1e-3, 1e-3), (0.0, 1e-4)] {
            let way = way([[0.0; 3], [1.0, 1.0, 0.3]], [[0.0; 3], [1.0, -1.0, 0.3]], radius);
            let time = |gap: f64| {
                let y = gap / (0.25 - gap * gap).sqrt();
                0.5 * (1.0 - y)
            };
            let (found, kept) = first_contact(&way, 1.0, rod(0.5, thick));
            let found = found.unwrap();
            assert_eq!(kept, Some(radius));
            assert!(found.time <= time(thick + radius), "{thick} {radius}: late, {found:?}");
            assert!(found.time >= time(thick + 1.5 * radius), "{thick} {radius}: early, {found:?}");
            assert!((found.part - 0.5).abs() < 0.5 * (thick + 2.0 * radius) + 0.03, "{found:?}");
        }
    }

    #[test]
    fn what_is_far_away_is_ruled_out_by_a_single_distance() {
        let asked = Counter::new(0);
        let distance = |at: DVec3| {
            asked.set(asked.get() + 1);
            rod(0.0, 0.1)(at)
        };
        let far = way([[3.0, 0.0, 0.0], [4.0, 0.0, 1.0]], [[3.0, 1.0, 0.0], [4.0, 2.0, 1.0]], 0.01);
        assert_eq!(first_contact(&far, 1.0, distance), (None, Some(0.01)));
        assert_eq!(asked.get(), 1);
    }

    /// A brush over all times and parts finds nothing nearer before a touch, and nothing near where there is none.
    #[test]
    fn an_edge_touches_a_ball_when_its_points_do_and_not_later() {
        let ball = |at: DVec3| at.length() - 0.5;
        let radius = 0.02;
        let (mut hits, mut misses) = (0, 0);
        for n in 0..400 {
            let point = |k: u64| {
                DVec3::new(unit(k, n), unit(k + 1, n), unit(k + 2, n)) * 4.0 - DVec3::splat(2.0)
            };
            let way = EdgeWay {
                from: [point(1), point(4)],
                to: [point(7), point(10)],
                radius,
                kept: None,
            };
            let least = |time: f64| {
                let at = |part: u32| place(&way, When { time, part: f64::from(part) / 200.0 });
                (0..=200).map(|part| ball(at(part))).fold(f64::INFINITY, f64::min)
            };
            if least(0.0) < 1.2 * radius {
                continue;
            }
            let found = first_contact(&way, 1.0, ball).0;
            let end = found.map_or(1.0, |found| found.time);
            let before = (0..=200).map(|k| least(end * f64::from(k) / 200.0));
            assert!(before.fold(f64::INFINITY, f64::min) >= radius, "{n}: {found:?}");
            match found {
                Some(found) => {
                    hits += 1;
                    let gap = ball(place(&way, found));
                    assert!((radius..1.5 * radius).contains(&gap), "{n}: {gap}");
                }
                None => misses += 1,
            }
        }
        assert!(hits > 50 && misses > 50, "{hits} hits, {misses} misses");
    }

    #[test]
    fn what_touches_may_slide_and_leave_and_what_begins_inside_touches_nothing() {
        let floor = |at: DVec3| at.y;
        let level = |y: f64| [[0.0, y, 0.0], [1.0, y, 0.0]];
        let found =
            |from: f64, to: f64| first_contact(&way(level(from), level(to), 0.01), 1.0, floor);
        assert_eq!(found(0.009, 0.009).0, None);
        assert_eq!(found(0.009, 0.5).0, None);
        assert!(found(0.009, -0.5).0.is_some());
        assert_eq!(found(-0.1, -0.2), (None, Some(0.0)));
        // Out of the floor, as hair does.
        let rooted = way([[0.0; 3], [0.0, 1.0, 0.0]], [[0.0; 3], [1.0, -0.1, 0.0]], 0.01);
        assert_eq!(first_contact(&rooted, 1.0, floor), (None, Some(0.0)));
    }

    /// Whatever is pressed never gets through, also if it begins nearer each time.
    #[test]
    fn an_edge_that_is_pressed_again_and_again_stays_on_its_side() {
        let mut y = 0.009;
        for _ in 0..30 {
            let level = |y: f64| [[0.0, y, 0.0], [0.05, y, 0.0]];
            let press = way(level(y), level(-1.0), 0.01);
            match first_contact(&press, 1.0, |at| at.y).0 {
                Some(found) => y = place(&press, found).y,
                // So near that it is taken to grow out of it.
                None => break,
            }
            assert!(y > 0.0);
        }
        assert!(y < 0.0025, "{y}");
    }

    #[test]
    fn work_is_bounded_and_what_it_leaves_open_is_not_missed() {
        let asked = Counter::new(0);
        let distance = |at: DVec3| {
            asked.set(asked.get() + 1);
            at.y.min((at.x - 0.9).hypot(at.y - 2e-5) - 1e-5)
        };
        // It slides for a hundred thousand of its radii, and against a wire.
        let level = |x: f64| [[x, 2e-5, 0.0], [x + 0.01, 2e-5, 1.0]];
        let long = way(level(0.0), level(1.0), 1e-5);
        let found = first_contact(&long, 1.0, distance).0.unwrap();
        assert!(asked.get() < 2 * MOST_DISTANCES + 4, "{} distances", asked.get());
        assert!(found.time < 0.9, "{found:?}");
    }
}
