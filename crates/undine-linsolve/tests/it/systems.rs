//! Small systems that many tests share.

use undine_linsolve::{Csr, Matrix};

/// The 7-point Laplacian of an n³ box with zero around it.
pub fn laplacian(n: usize) -> Csr<f64> {
    let place = |x: usize, y: usize, z: usize| (x * n + y) * n + z;
    let mut triplets = Vec::new();
    for (x, y, z) in (0..n * n * n).map(|i| (i / (n * n), i / n % n, i % n)) {
        let here = place(x, y, z);
        triplets.push((here, here, 6.0));
        for (dx, dy, dz) in [(1, 0, 0), (0, 1, 0), (0, 0, 1)] {
            if x + dx < n && y + dy < n && z + dz < n {
                let there = place(x + dx, y + dy, z + dz);
                triplets.extend([(here, there, -1.0), (there, here, -1.0)]);
            }
        }
    }
    Csr::from_triplets(n * n * n, n * n * n, triplets).unwrap()
}

/// The same, to solve with.
pub fn laplacian_matrix(n: usize) -> Matrix {
    Matrix::single(laplacian(n)).unwrap()
}

/// Numbers between −1 and 1 that look random and are always the same.
pub fn noise(count: usize, seed: u64) -> Vec<f64> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(1);
    (0..count)
        .map(|_| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
        })
        .collect()
}
