//! Names at the ends of series, moved apart where they would lie upon each other.

/// Places near the wanted ones, in the same order from top to bottom, at least `apart` from each other, and between `low` and
/// `high` as far as there is room: the least squares solution, by pooling neighbours that touch (isotonic regression).
pub(super) fn moved_apart(wanted: &[f64], apart: f64, low: f64, high: f64) -> Vec<f64> {
    let mut order: Vec<usize> = (0..wanted.len()).collect();
    order.sort_by(|a, b| wanted[*a].total_cmp(&wanted[*b]).then(a.cmp(b)));
    // Without the distances between them, places only have to be in order.
    let free: Vec<f64> =
        order.iter().enumerate().map(|(n, i)| wanted[*i] - n as f64 * apart).collect();
    let mut pools: Vec<(f64, usize)> = Vec::new();
    for place in free {
        let mut pool = (place, 1);
        while let Some((mean, count)) = pools.last().copied().filter(|last| last.0 > pool.0) {
            pools.pop();
            let all = count + pool.1;
            pool = ((mean * count as f64 + pool.0 * pool.1 as f64) / all as f64, all);
        }
        pools.push(pool);
    }
    let highest = high - (wanted.len().saturating_sub(1)) as f64 * apart;
    let flat = pools.into_iter().flat_map(|(mean, count)| std::iter::repeat_n(mean, count));
    let mut places = vec![0.0; wanted.len()];
    for (n, (place, index)) in flat.zip(&order).enumerate() {
        // Where there is no room for all, the first stay within.
        places[*index] = place.min(highest).max(low) + n as f64 * apart;
    }
    places
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_have_room_stay_where_they_are() {
        assert_eq!(moved_apart(&[10.0, 50.0, 30.0], 14.0, 0.0, 100.0), [10.0, 50.0, 30.0]);
        assert!(moved_apart(&[], 14.0, 0.0, 100.0).is_empty());
    }

    #[test]
    fn names_that_touch_part_evenly_and_stay_within() {
        assert_eq!(moved_apart(&[50.0, 50.0], 14.0, 0.0, 100.0), [43.0, 57.0]);
        let crowd = moved_apart(&[99.0, 98.0, 97.0, 2.0], 14.0, 0.0, 100.0);
        assert_eq!(crowd, [100.0, 86.0, 72.0, 2.0]);
        let full = moved_apart(&[5.0; 20], 14.0, 0.0, 100.0);
        assert!(full.windows(2).all(|pair| pair[1] - pair[0] >= 13.9) && full[0] == 0.0);
    }
}
