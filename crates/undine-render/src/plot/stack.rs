//! Series that stand upon each other.

use std::collections::BTreeMap;

/// One value of a stack: where, from where and to where it reaches. Nothing where there is no value.
pub(super) type Piece = (f64, Option<[f64; 2]>);

/// Stacks series: at each x the second begins where the first ends. What is not a finite number or is negative adds nothing,
/// and leaves a gap. At most `most` places are kept, of each neighbourhood the highest: peaks must not be lost.
pub(super) fn stacked(series: &[&[[f64; 2]]], most: usize) -> Vec<Vec<Piece>> {
    let mut columns: BTreeMap<Ordered, Vec<f64>> = BTreeMap::new();
    for (n, points) in series.iter().enumerate() {
        for [x, y] in points.iter().filter(|[x, _]| x.is_finite()) {
            let column = columns.entry(Ordered(*x)).or_insert_with(|| vec![f64::NAN; series.len()]);
            column[n] = if *y >= 0.0 && y.is_finite() { *y } else { f64::NAN };
        }
    }
    let columns: Vec<(f64, Vec<f64>)> = columns.into_iter().map(|(x, ys)| (x.0, ys)).collect();
    let total = |ys: &[f64]| ys.iter().filter(|y| y.is_finite()).sum::<f64>();
    let group = columns.len().div_ceil(most.max(1)).max(1);
    let highest = columns
        .chunks(group)
        .filter_map(|near| near.iter().max_by(|a, b| total(&a.1).total_cmp(&total(&b.1))));
    let mut stacks = vec![Vec::new(); series.len()];
    for (x, ys) in highest {
        let mut base = 0.0;
        for (stack, y) in stacks.iter_mut().zip(ys) {
            let piece = y.is_finite().then(|| [base, base + y]);
            base = piece.map_or(base, |piece| piece[1]);
            stack.push((*x, piece));
        }
    }
    stacks
}

/// A number that can be sorted.
#[derive(Clone, Copy, PartialEq)]
struct Ordered(f64);

impl Eq for Ordered {}

impl PartialOrd for Ordered {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Ordered {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.0.total_cmp(&other.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_series_begins_where_the_one_below_ends() {
        let a = [[1.0, 2.0], [2.0, f64::NAN], [3.0, 1.0]];
        let b = [[1.0, 3.0], [2.0, 4.0]];
        let stacks = stacked(&[&a, &b], 10);
        assert_eq!(stacks[0], [(1.0, Some([0.0, 2.0])), (2.0, None), (3.0, Some([0.0, 1.0]))]);
        assert_eq!(stacks[1], [(1.0, Some([2.0, 5.0])), (2.0, Some([0.0, 4.0])), (3.0, None)]);
    }

    #[test]
    fn of_many_places_the_peaks_stay() {
        let points: Vec<_> =
            (0..1000).map(|n| [f64::from(n), if n == 637 { 9.0 } else { 1.0 }]).collect();
        let stacks = stacked(&[&points], 100);
        assert_eq!(stacks[0].len(), 100);
        assert!(stacks[0].contains(&(637.0, Some([0.0, 9.0]))));
    }
}
