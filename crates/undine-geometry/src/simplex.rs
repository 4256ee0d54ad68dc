//! The part of a triangle or a tetrahedron where a linear function is positive: what a surface leaves of it.

/// The part of a triangle where a linear function is positive, given at its corners.
pub(crate) fn positive_in_triangle(mut values: [f64; 3]) -> f64 {
    values.sort_unstable_by(f64::total_cmp);
    let [low, middle, high] = values;
    // The corner that is alone on its side cuts a triangle off, similar along both of its edges.
    let alone = |tip: f64, a: f64, b: f64| (tip / (tip - a)) * (tip / (tip - b));
    match values.iter().filter(|&&value| value > 0.0).count() {
        0 => 0.0,
        1 => alone(high, low, middle),
        2 => 1.0 - alone(low, middle, high),
        _ => 1.0,
    }
}

/// The part of a tetrahedron where a linear function is positive, given at its corners.
pub(crate) fn positive_in_tetrahedron(mut values: [f64; 4]) -> f64 {
    values.sort_unstable_by(f64::total_cmp);
    let [d, c, b, a] = values;
    // How far along an edge from a positive corner the zero is.
    let along = |from: f64, to: f64| from / (from - to);
    match values.iter().filter(|&&value| value > 0.0).count() {
        0 => 0.0,
        1 => along(a, b) * along(a, c) * along(a, d),
        // A wedge between the edges ab and the zeros on ac, ad, bc, bd: three tetrahedra.
        2 => {
            let (ac, ad, bc, bd) = (along(a, c), along(a, d), along(b, c), along(b, d));
            bc * bd + ac * bd * (1.0 - bc) + ac * ad * (1.0 - bd)
        }
        3 => 1.0 - along(d, a) * along(d, b) * along(d, c),
        _ => 1.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::unit;

    #[test]
    fn parts_of_simplices_are_those_that_sampling_counts() {
        for case in 0..200 {
            let values: [f64; 4] = std::array::from_fn(|n| unit(1, 4 * case + n as u64) - 0.5);
            let samples = 20_000;
            let mut positive = [0, 0];
            for n in 0..samples {
                // Differences of sorted numbers are evenly spread weights.
                let mut cuts: [f64; 3] = std::array::from_fn(|k| unit(2 + case, 3 * n + k as u64));
                cuts.sort_unstable_by(f64::total_cmp);
                let weights = [cuts[0], cuts[1] - cuts[0], cuts[2] - cuts[1], 1.0 - cuts[2]];
                let value: f64 = weights.iter().zip(values).map(|(w, v)| w * v).sum();
                positive[1] += i32::from(value > 0.0);
                let mut cuts = [cuts[0] / cuts[2], cuts[1] / cuts[2]];
                cuts.sort_unstable_by(f64::total_cmp);
                let weights = [cuts[0], cuts[1] - cuts[0], 1.0 - cuts[1]];
                let value: f64 = weights.iter().zip(values).map(|(w, v)| w * v).sum();
                positive[0] += i32::from(value > 0.0);
            }
            let counted = positive.map(|count| f64::from(count) / samples as f64);
            let triangle = positive_in_triangle([values[0], values[1], values[2]]);
            assert!((triangle - counted[0]).abs() < 0.02, "{values:?}: {triangle} {counted:?}");
            let tetrahedron = positive_in_tetrahedron(values);
            assert!(
                (tetrahedron - counted[1]).abs() < 0.02,
                "{values:?}: {tetrahedron} {counted:?}"
            );
        }
    }
}
