//! Cuts lines and polygons to where they can be seen, before they are drawn: whatever places are asked for, the drawing that
//! follows works with numbers that it can represent. Lines after Liang & Barsky (1984), polygons after Sutherland & Hodgman (1974).

/// The edges of a part of the plane: left, top, right and bottom.
pub type Bounds = [f64; 4];

/// The parts of a line through points that lie within bounds. It is broken where a point is not finite.
pub fn polyline(points: &[[f32; 2]], bounds: Bounds) -> Vec<Vec<[f32; 2]>> {
    let mut runs: Vec<Vec<[f32; 2]>> = Vec::new();
    let mut joined = false;
    for pair in points.windows(2) {
        let [from, to] = [pair[0], pair[1]].map(|point| point.map(f64::from));
        let Some([first, last]) = segment(from, to, bounds) else {
            joined = false;
            continue;
        };
        let parts =
            |t: f64| within([0, 1].map(|axis| from[axis] + t * (to[axis] - from[axis])), bounds);
        match runs.last_mut().filter(|_| joined && first == 0.0) {
            Some(run) => run.push(parts(last)),
            None => runs.push(vec![parts(first), parts(last)]),
        }
        joined = last == 1.0;
    }
    runs
}

/// Which part of a segment lies within bounds, as shares of its length.
fn segment(from: [f64; 2], to: [f64; 2], bounds: Bounds) -> Option<[f64; 2]> {
    if from.iter().chain(&to).any(|x| !x.is_finite()) {
        return None;
    }
    let (mut first, mut last) = (0.0_f64, 1.0_f64);
    for axis in 0..2 {
        let step = to[axis] - from[axis];
        let [low, high] = [bounds[axis] - from[axis], bounds[axis + 2] - from[axis]];
        if step == 0.0 {
            if low > 0.0 || high < 0.0 {
                return None;
            }
            continue;
        }
        let (enters, leaves) = if step > 0.0 { (low, high) } else { (high, low) };
        first = first.max(enters / step);
        last = last.min(leaves / step);
    }
    (first <= last).then_some([first, last])
}

/// The part of a polygon that lies within bounds. Corners that are not finite are left out.
pub fn polygon(corners: &[[f32; 2]], bounds: Bounds) -> Vec<[f32; 2]> {
    let mut kept: Vec<[f64; 2]> = corners
        .iter()
        .map(|corner| corner.map(f64::from))
        .filter(|corner| corner.iter().all(|x| x.is_finite()))
        .collect();
    for (edge, &limit) in bounds.iter().enumerate() {
        let (axis, sign) = (edge % 2, if edge < 2 { 1.0 } else { -1.0 });
        let inside = |corner: &[f64; 2]| (corner[axis] - limit) * sign;
        let whole = std::mem::take(&mut kept);
        for (n, corner) in whole.iter().enumerate() {
            let before = &whole[(n + whole.len() - 1) % whole.len()];
            let (here, there) = (inside(corner), inside(before));
            if (here >= 0.0) != (there >= 0.0) {
                let t = there / (there - here);
                kept.push([0, 1].map(|axis| before[axis] + t * (corner[axis] - before[axis])));
            }
            if here >= 0.0 {
                kept.push(*corner);
            }
        }
    }
    kept.into_iter().map(|corner| within(corner, bounds)).collect()
}

/// A place that was found between two others, as it is drawn. Where those are farther away than numbers have digits, rounding has led anywhere.
fn within([x, y]: [f64; 2], [left, top, right, bottom]: Bounds) -> [f32; 2] {
    [x.clamp(left, right) as f32, y.clamp(top, bottom) as f32]
}

#[cfg(test)]
mod tests {
    use super::*;

    const BOUNDS: Bounds = [0.0, 0.0, 10.0, 10.0];

    #[test]
    fn a_line_is_cut_where_it_leaves_and_enters() {
        let runs =
            polyline(&[[-10.0, 5.0], [5.0, 5.0], [5.0, 30.0], [8.0, 30.0], [8.0, 0.0]], BOUNDS);
        assert_eq!(
            runs,
            [vec![[0.0, 5.0], [5.0, 5.0], [5.0, 10.0]], vec![[8.0, 10.0], [8.0, 0.0]]]
        );
    }

    #[test]
    fn a_line_is_broken_where_there_is_no_number() {
        let runs =
            polyline(&[[1.0, 1.0], [2.0, 2.0], [f32::NAN, 3.0], [4.0, 4.0], [5.0, 5.0]], BOUNDS);
        assert_eq!(runs.len(), 2);
    }

    #[test]
    fn places_as_far_as_numbers_go_are_cut() {
        let far = f32::MAX;
        let runs = polyline(&[[-far, -far], [far, far]], BOUNDS);
        assert!(runs.iter().flatten().flatten().all(|x| (-1.0..=11.0).contains(x)), "{runs:?}");
        let whole = polygon(&[[-far, -far], [far, -far], [far, far], [-far, far]], BOUNDS);
        assert!(whole.iter().flatten().all(|x| (0.0..=10.0).contains(x)), "{whole:?}");
        assert_eq!(whole.len(), 4);
        // Of one side as long as this the other's digits are lost.
        let (low, high) = (-1.206_204_1e27, 1.034_621e33);
        let long = polygon(&[[0.0, low], [7.2, low], [7.2, high], [0.0, high]], BOUNDS);
        assert!(long.iter().flatten().all(|x| (0.0..=10.0).contains(x)), "{long:?}");
        let runs = polyline(&[[3.0, low], [4.0, high]], BOUNDS);
        assert!(runs.iter().flatten().flatten().all(|x| (0.0..=10.0).contains(x)), "{runs:?}");
    }

    #[test]
    fn a_polygon_outside_is_nothing() {
        assert!(polygon(&[[20.0, 1.0], [30.0, 1.0], [30.0, 5.0]], BOUNDS).is_empty());
        assert!(polygon(&[], BOUNDS).is_empty());
    }
}
