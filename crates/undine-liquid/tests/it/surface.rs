//! The surface of a liquid, from particles, against planes, spheres, sheets and walls.

use crate::pool::Pool;

/// Mean error and noise of the surface of jittered particles below z = h, away from the ends.
fn plane(h: f64, seed: u64) -> (f64, f64) {
    let pool = Pool::new([-8, -8, -12], [24, 24, 12], 1.0, seed, |at| at.z < h);
    pool.find_surface();
    let mut errors = Vec::new();
    let mut columns = std::collections::BTreeMap::new();
    pool.each_cell(|cell, distance, _| {
        if (-4.0..20.0).contains(&cell.x) && (-4.0..20.0).contains(&cell.y) && cell.z > -8.0 {
            let column: &mut Vec<(f64, f64)> =
                columns.entry((cell.x.floor() as i32, cell.y.floor() as i32)).or_default();
            column.push((cell.z, distance));
        }
    });
    for column in columns.values_mut() {
        column.sort_by(|a, b| a.0.total_cmp(&b.0));
        let crossing: Vec<f64> = column
            .windows(2)
            .filter(|pair| (pair[0].1 < 0.0) != (pair[1].1 < 0.0))
            .map(|pair| pair[0].0 + pair[0].1 / (pair[0].1 - pair[1].1))
            .collect();
        assert_eq!(crossing.len(), 1, "one surface in {column:?}");
        errors.push(crossing[0] - h);
    }
    let mean = errors.iter().sum::<f64>() / errors.len() as f64;
    let noise =
        (errors.iter().map(|e| (e - mean).powi(2)).sum::<f64>() / errors.len() as f64).sqrt();
    (mean, noise)
}

#[test]
fn a_flat_surface_is_flat_and_where_it_should_be_at_every_height() {
    for n in 0..10 {
        let h = 0.1 * f64::from(n);
        let (mean, noise) = plane(h, n as u64);
        println!("{h}: {mean:.4} {noise:.4}");
    }
}

#[test]
fn profile() {
    for h in [0.0, 0.3, 0.6] {
        let pool = Pool::new([-8, -8, -12], [24, 24, 12], 1.0, 3, |at| at.z < h);
        pool.find_surface();
        let mut sums = std::collections::BTreeMap::new();
        pool.each_cell(|cell, distance, _| {
            if (-4.0..20.0).contains(&cell.x) && (-4.0..20.0).contains(&cell.y) && cell.z > -8.0 {
                let e: &mut (f64, f64, f64) = sums.entry(cell.z.floor() as i32).or_default();
                e.0 += 1.0;
                e.1 += distance;
                e.2 += distance * distance;
            }
        });
        for (z, (n, s, ss)) in sums {
            let m = s / n;
            println!("d {:.2}: {:.3} ± {:.3}", z as f64 + 0.5 - h, m, (ss / n - m * m).max(0.0).sqrt());
        }
    }
}
