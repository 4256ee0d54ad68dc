//! The order of voxels inside a Bucket: first the red ones, then the black.
//!
//! Voxels are coloured like a chess board. Each has neighbours of the other colour only, so that a Bucket is two *halves*, and
//! a Gauss-Seidel half-sweep reads one and writes the other: no two threads ever touch the same value, and no lane of a
//! vector is wasted. A row of eight voxels along z has four of each colour. The neighbours along x and y of the n-th of them
//! are the n-th of their own rows, whatever the parity: only along z is there a shift.

use crate::real::Real;

/// Voxels of one colour in a Bucket, by x, y, and place along z.
pub type Half<T> = [[[T; 4]; 8]; 8];

/// Voxels of a Bucket.
pub const VOXELS: usize = 512;

/// Voxels of one colour.
pub const HALF: usize = 256;

/// Where a voxel, by its place in a chunk (x slowest, z fastest), lies in the order by colours.
pub const fn place(voxel: usize) -> usize {
    let (x, y, z) = (voxel >> 6, voxel >> 3 & 7, voxel & 7);
    let colour = (x + y + z) & 1;
    colour * HALF + (voxel >> 1)
}

/// The voxel at a place in the order by colours: the inverse of [`place`].
pub const fn voxel(place: usize) -> usize {
    let (colour, half) = (place / HALF, place % HALF);
    let (x, y) = (half >> 5, half >> 2 & 7);
    half << 1 | ((x + y + colour) & 1)
}

/// A half without pressure, for neighbours that do not exist.
pub trait Nothing: Real {
    /// Zeros.
    const NOTHING: &'static Half<Self>;
}

impl Nothing for f32 {
    const NOTHING: &'static Half<f32> = &[[[0.0; 4]; 8]; 8];
}

impl Nothing for f64 {
    const NOTHING: &'static Half<f64> = &[[[0.0; 4]; 8]; 8];
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_and_voxels_are_inverse_and_colours_apart() {
        let mut seen = [false; VOXELS];
        for n in 0..VOXELS {
            assert_eq!(voxel(place(n)), n);
            seen[place(n)] = true;
            let red = (n / 64 + n / 8 % 8 + n % 8).is_multiple_of(2);
            assert_eq!(place(n) < HALF, red);
        }
        assert!(seen.iter().all(|&seen| seen));
    }
}
