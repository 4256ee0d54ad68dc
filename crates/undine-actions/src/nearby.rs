//! Which points are near to which: a tree of points, halved along their longest extent, for emission of Constraints.
//!
//! Questions are answered by distance, and points at the same distance by their numbers, so that the answer does not depend on
//! how the tree was built.

use undine_core::glam::DVec3;

/// Pairs of points at most that a range makes: more than that is a range that was not meant.
pub const MOST_PAIRS: usize = 1 << 24;

/// Points that are asked for by place. Those that are not finite are never found.
#[derive(Debug, Clone)]
pub struct Nearby<'a> {
    points: &'a [DVec3],
    /// Numbers of points: the middle of each range is its node, and what is left and right of it are its children.
    order: Vec<u32>,
    /// Along which axis each node parts its children.
    axis: Vec<u8>,
}

impl<'a> Nearby<'a> {
    /// Sorts points.
    pub fn new(points: &'a [DVec3]) -> Self {
        let order = (0..points.len() as u32).filter(|&n| points[n as usize].is_finite()).collect();
        let mut tree = Self { points, order, axis: Vec::new() };
        tree.axis = vec![0; tree.order.len()];
        tree.sort(0, tree.order.len());
        tree
    }

    fn sort(&mut self, from: usize, to: usize) {
        if to - from < 2 {
            return;
        }
        let at = |n: &u32| self.points[*n as usize];
        let start = (DVec3::INFINITY, DVec3::NEG_INFINITY);
        let (least, most) = self.order[from..to]
            .iter()
            .fold(start, |(least, most), n| (least.min(at(n)), most.max(at(n))));
        let size = most - least;
        let axis = (0..3).fold(0, |best, axis| if size[axis] > size[best] { axis } else { best });
        let (middle, points) = (from + (to - from) / 2, self.points);
        self.order[from..to].select_nth_unstable_by(middle - from, |a, b| {
            let (x, y) = (points[*a as usize][axis], points[*b as usize][axis]);
            x.total_cmp(&y).then(a.cmp(b))
        });
        self.axis[middle] = axis as u8;
        self.sort(from, middle);
        self.sort(middle + 1, to);
    }

    /// The nearest point to a place that is not farther than `within` [m] and passes the test: its number and distance [m].
    pub fn closest(
        &self,
        at: DVec3,
        within: f64,
        passes: impl Fn(u32) -> bool,
    ) -> Option<(u32, f64)> {
        let mut best: Option<(u32, f64)> = None;
        let mut ranges = vec![(0, self.order.len())];
        while let Some((from, to)) = ranges.pop() {
            let reach = best.map_or(within, |(_, distance)| distance);
            let Some((middle, near, far)) = self.part(from, to, at, reach) else { continue };
            let point = self.order[middle];
            let distance = self.points[point as usize].distance(at);
            let better = best.is_none_or(|(other, least)| (distance, point) < (least, other));
            if distance <= within && better && passes(point) {
                best = Some((point, distance));
            }
            ranges.extend(far);
            ranges.push(near);
        }
        best
    }

    /// Calls for every point that is not farther from a place than `within` [m], in no order.
    pub fn each_within(&self, at: DVec3, within: f64, mut found: impl FnMut(u32)) {
        let mut ranges = vec![(0, self.order.len())];
        while let Some((from, to)) = ranges.pop() {
            let Some((middle, near, far)) = self.part(from, to, at, within) else { continue };
            if self.points[self.order[middle] as usize].distance(at) <= within {
                found(self.order[middle]);
            }
            ranges.extend(far);
            ranges.push(near);
        }
    }

    /// The node of a range, its child on the side of a place, and the other one if it is within reach.
    #[expect(
        clippy::type_complexity,
        reason = "a node and two ranges, used twice below each other"
    )]
    fn part(
        &self,
        from: usize,
        to: usize,
        at: DVec3,
        reach: f64,
    ) -> Option<(usize, (usize, usize), Option<(usize, usize)>)> {
        if from >= to || at.is_nan() {
            return None;
        }
        let middle = from + (to - from) / 2;
        let axis = usize::from(self.axis[middle]);
        let beyond = at[axis] - self.points[self.order[middle] as usize][axis];
        let (left, right) = ((from, middle), (middle + 1, to));
        let (near, far) = if beyond < 0.0 { (left, right) } else { (right, left) };
        Some((middle, near, (beyond.abs() <= reach).then_some(far)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use undine_geometry::random::unit;

    fn cloud(count: u64, seed: u64) -> Vec<DVec3> {
        let coordinate = |n, axis| (unit(seed, 3 * n + axis) * 8.0).round() / 8.0;
        (0..count).map(|n| DVec3::new(coordinate(n, 0), coordinate(n, 1), unit(seed, n))).collect()
    }

    #[test]
    fn answers_are_those_of_looking_at_every_point() {
        for count in [0, 1, 2, 3, 17, 300] {
            let points = cloud(count, 7);
            let tree = Nearby::new(&points);
            for &at in &cloud(60, 11) {
                let all =
                    points.iter().enumerate().map(|(n, point)| (n as u32, point.distance(at)));
                let within = all.clone().filter(|(_, distance)| *distance <= 0.3);
                let odd = |n: u32| n % 2 == 1;
                let wanted = within
                    .clone()
                    .filter(|(n, _)| odd(*n))
                    .min_by(|a, b| a.1.total_cmp(&b.1).then(a.0.cmp(&b.0)));
                assert_eq!(tree.closest(at, 0.3, odd), wanted);
                let mut found = Vec::new();
                tree.each_within(at, 0.3, |n| found.push(n));
                found.sort_unstable();
                assert_eq!(found, within.map(|(n, _)| n).collect::<Vec<_>>());
            }
        }
    }

    #[test]
    fn points_that_are_nowhere_are_not_found() {
        let points = [DVec3::NAN, DVec3::X, DVec3::INFINITY];
        let tree = Nearby::new(&points);
        assert_eq!(tree.closest(DVec3::ZERO, f64::INFINITY, |_| true), Some((1, 1.0)));
        assert_eq!(tree.closest(DVec3::NAN, 1.0, |_| true), None);
    }
}
