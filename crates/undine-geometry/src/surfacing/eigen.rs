//! Eigenvalues and eigenvectors of a symmetric 3 × 3 matrix, by Jacobi's rotations: exact to rounding, also where eigenvalues are
//! equal or zero.

use undine_core::glam::{DMat3, DVec3};

/// The matrix [xx, xy, xz, yy, yz, zz] as eigenvalues, the largest first, and eigenvectors as columns of a rotation or reflection.
pub(crate) fn eigen(symmetric: [f64; 6]) -> (DVec3, DMat3) {
    let [xx, xy, xz, yy, yz, zz] = symmetric;
    let mut a = [[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]];
    let mut v = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
    let scale = xx.abs() + yy.abs() + zz.abs();
    // Quadratic convergence: five sweeps are more than any matrix needs.
    for _ in 0..8 {
        let off = a[0][1].abs() + a[0][2].abs() + a[1][2].abs();
        if off <= 1e-14 * scale {
            break;
        }
        for (p, q) in [(0, 1), (0, 2), (1, 2)] {
            let apq: f64 = a[p][q];
            if apq == 0.0 {
                continue;
            }
            let theta = 0.5 * (a[q][q] - a[p][p]) / apq;
            let t = theta.signum() / (theta.abs() + (theta * theta + 1.0).sqrt());
            let c = 1.0 / (t * t + 1.0).sqrt();
            let s = t * c;
            for row in &mut a {
                let (akp, akq) = (row[p], row[q]);
                row[p] = c * akp - s * akq;
                row[q] = s * akp + c * akq;
            }
            let (of_p, of_q) = (a[p], a[q]);
            a[p] = std::array::from_fn(|k| c * of_p[k] - s * of_q[k]);
            a[q] = std::array::from_fn(|k| s * of_p[k] + c * of_q[k]);
            for row in &mut v {
                let (vp, vq) = (row[p], row[q]);
                row[p] = c * vp - s * vq;
                row[q] = s * vp + c * vq;
            }
        }
    }
    let mut order = [0, 1, 2];
    order.sort_by(|&i, &j| a[j][j].total_cmp(&a[i][i]));
    let column = |n: usize| DVec3::new(v[0][n], v[1][n], v[2][n]);
    let values = DVec3::from_array(order.map(|n| a[n][n]));
    let [x, y, z] = order.map(column);
    (values, DMat3::from_cols(x, y, z))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn vectors_turn_the_matrix_into_its_values(m in prop::array::uniform6(-10.0..10.0_f64), flat in 0..3_usize) {
            // Also of rank one and two.
            let [a, b, c, d, e, f] = m;
            let m = match flat {
                0 => m,
                1 => [a * a, a * b, a * c, b * b, b * c, c * c],
                _ => [a * a + d * d, a * b + d * e, a * c + d * f, b * b + e * e, b * c + e * f, c * c + f * f],
            };
            let (values, vectors) = eigen(m);
            prop_assert!(values.x >= values.y && values.y >= values.z);
            let back = vectors * DMat3::from_diagonal(values) * vectors.transpose();
            let wanted = [back.x_axis.x, back.y_axis.x, back.z_axis.x, back.y_axis.y, back.z_axis.y, back.z_axis.z];
            for (found, wanted) in wanted.iter().zip(m) {
                prop_assert!((found - wanted).abs() < 1e-11 * (1.0 + values.abs().max_element()));
            }
            let unit = vectors.transpose() * vectors - DMat3::IDENTITY;
            prop_assert!(unit.to_cols_array().iter().all(|n| n.abs() < 1e-13));
        }
    }
}
