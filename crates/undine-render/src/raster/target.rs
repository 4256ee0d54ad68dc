//! What primitives are drawn into: the nearest of each pixel stays, whatever the order in which they come.
//!
//! Depth and primitive are one number, the depth in its upper half. The least of all that are put is the same in any order, so that
//! threads need not agree on one (a visibility buffer: Burns & Hunt, *The visibility buffer*, 2013).

use crate::image::Size;
use rayon::prelude::*;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};

/// Takes what is drawn.
pub(crate) trait Target: Sync {
    /// How many pixels it has.
    fn size(&self) -> Size;

    /// Draws a primitive at a depth, more than 0 [m], into a pixel that there is.
    fn put(&self, x: usize, y: usize, depth: f32, primitive: u32);
}

/// The number of no primitive.
pub(crate) const NONE: u32 = u32::MAX;

/// The nearest primitive of each pixel.
pub(crate) struct Visibility {
    size: Size,
    cells: Vec<AtomicU64>,
}

impl Visibility {
    /// Of nothing.
    pub fn new(size: Size) -> Self {
        Self { size, cells: (0..size.pixels()).map(|_| AtomicU64::new(u64::MAX)).collect() }
    }

    /// Forgets all.
    pub fn clear(&mut self) {
        self.cells.iter_mut().for_each(|cell| *cell.get_mut() = u64::MAX);
    }

    /// The depth [m] and the primitive of a pixel; [`NONE`] if there is none.
    #[inline(always)]
    pub fn at(&self, x: usize, y: usize) -> (f32, u32) {
        let cell = self.cells[y * self.size.width + x].load(Relaxed);
        (f32::from_bits((cell >> 32) as u32), cell as u32)
    }
}

impl Target for Visibility {
    fn size(&self) -> Size {
        self.size
    }

    #[inline(always)]
    fn put(&self, x: usize, y: usize, depth: f32, primitive: u32) {
        let cell = &self.cells[y * self.size.width + x];
        // Positive numbers are in the order of their bits.
        let found = u64::from(depth.to_bits()) << 32 | u64::from(primitive);
        if found < cell.load(Relaxed) {
            cell.fetch_min(found, Relaxed);
        }
    }
}

/// How far away the nearest primitive of each pixel is.
pub(crate) struct DepthMap {
    size: Size,
    cells: Vec<AtomicU32>,
}

impl DepthMap {
    /// Of nothing.
    pub fn new(size: Size) -> Self {
        let far = f32::INFINITY.to_bits();
        Self { size, cells: (0..size.pixels()).map(|_| AtomicU32::new(far)).collect() }
    }

    /// Forgets all, and has another size from now on, of no more pixels than at first.
    pub fn clear(&mut self, size: Size) {
        self.size = size;
        let far = f32::INFINITY.to_bits();
        let cells = &mut self.cells[..size.pixels()];
        cells.par_chunks_mut(1 << 16).for_each(|cells| {
            cells.iter_mut().for_each(|cell| *cell.get_mut() = far);
        });
    }

    /// The depth in a pixel [m]; infinite if there is nothing, or no such pixel.
    #[inline(always)]
    pub fn at(&self, x: i32, y: i32) -> f32 {
        let Size { width, height } = self.size;
        let (x, y) = (x as usize, y as usize);
        if x >= width || y >= height {
            return f32::INFINITY;
        }
        f32::from_bits(self.cells[y * width + x].load(Relaxed))
    }
}

impl Target for DepthMap {
    fn size(&self) -> Size {
        self.size
    }

    #[inline(always)]
    fn put(&self, x: usize, y: usize, depth: f32, _primitive: u32) {
        let cell = &self.cells[y * self.size.width + x];
        let found = depth.to_bits();
        if found < cell.load(Relaxed) {
            cell.fetch_min(found, Relaxed);
        }
    }
}
