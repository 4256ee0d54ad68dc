//! What primitives are drawn into: the nearest of each pixel stays, whatever the order in which they come.
//!
//! Depth and primitive are one number, the depth in its upper half. The least of all that are put is the same in any order, so that
//! threads need not agree on one (a visibility buffer: Burns & Hunt, *The visibility buffer*, 2013).

use crate::image::Size;
use rayon::prelude::*;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};
use undine_core::glam::Vec2;

/// Cells that a thread clears at once.
const STRIP: usize = 1 << 16;

/// Takes what is drawn.
pub(crate) trait Target: Sync {
    /// How many pixels it has.
    fn size(&self) -> Size;

    /// Draws a primitive at a depth, more than 0 [m], into a pixel that there is.
    fn put(&self, x: usize, y: usize, depth: f32, primitive: u32);

    /// Whether what is in a pixel is nearer than this [m], so that nothing from there on need be put. May say no if it does not know.
    #[inline(always)]
    fn hides(&self, _x: usize, _y: usize, _depth: f32) -> bool {
        false
    }

    /// Whether a part of many small primitives may stand for all of them: where passes are averaged before anybody looks.
    fn may_thin(&self) -> bool {
        false
    }

    /// Whether it is in all of some pixels.
    fn is_nearer(&self, pixels: &Rectangle, depth: f32) -> bool {
        let row = |y| (pixels.from[0]..pixels.to[0]).all(|x| self.hides(x, y, depth));
        (pixels.from[1]..pixels.to[1]).all(row)
    }
}

/// Some pixels of a picture: columns and rows from the first to before the last.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Rectangle {
    /// The first column and row.
    pub from: [usize; 2],
    /// Those behind the last.
    pub to: [usize; 2],
}

impl Rectangle {
    /// All of a picture.
    pub fn whole(size: Size) -> Self {
        Self { from: [0, 0], to: [size.width, size.height] }
    }

    /// All pixels of a picture that are at least partly between two points of it.
    pub fn around(from: Vec2, to: Vec2, size: Size) -> Self {
        Self {
            // A number that is too large becomes the largest, and what is no number 0.
            from: [from.x as usize, from.y as usize],
            to: [
                (to.x.max(-1.0) + 1.0).min(size.width as f32) as usize,
                (to.y.max(-1.0) + 1.0).min(size.height as f32) as usize,
            ],
        }
    }

    /// All pixels of a picture whose middles are between two points of it.
    #[inline(always)]
    pub fn middles_within(from: Vec2, to: Vec2, size: Size) -> Self {
        // In 32 bits, which the processor turns into whole numbers at once; a picture has less than 2²⁶ pixels a side.
        let whole = |at: f32, most: usize| (at + 0.5).clamp(0.0, most as f32) as u32 as usize;
        Self {
            from: [whole(from.x, size.width), whole(from.y, size.height)],
            to: [whole(to.x, size.width), whole(to.y, size.height)],
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.from[0] >= self.to[0] || self.from[1] >= self.to[1]
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.to[0].saturating_sub(self.from[0]) * self.to[1].saturating_sub(self.from[1])
    }
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
        self.cells
            .par_chunks_mut(STRIP)
            .for_each(|cells| cells.iter_mut().for_each(|cell| *cell.get_mut() = u64::MAX));
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

    #[inline(always)]
    fn hides(&self, x: usize, y: usize, depth: f32) -> bool {
        let cell = self.cells[y * self.size.width + x].load(Relaxed);
        ((cell >> 32) as u32) < depth.to_bits()
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
        cells.par_chunks_mut(STRIP).for_each(|cells| {
            cells.iter_mut().for_each(|cell| *cell.get_mut() = far);
        });
    }

    /// The depth of what is nearest in each square of so many pixels a side [m], along a row of squares whose first row of pixels is given.
    pub fn nearest_of_tiles(&self, y: usize, side: usize) -> Vec<f32> {
        let Size { width, height } = self.size;
        let mut nearest = vec![f32::INFINITY.to_bits(); width.div_ceil(side)];
        for y in y..(y + side).min(height) {
            let row = &self.cells[y * width..(y + 1) * width];
            for (nearest, cells) in nearest.iter_mut().zip(row.chunks(side)) {
                // Positive numbers are in the order of their bits.
                *nearest = cells.iter().fold(*nearest, |least, cell| least.min(cell.load(Relaxed)));
            }
        }
        nearest.into_iter().map(f32::from_bits).collect()
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

    fn may_thin(&self) -> bool {
        true
    }

    #[inline(always)]
    fn put(&self, x: usize, y: usize, depth: f32, _primitive: u32) {
        let cell = &self.cells[y * self.size.width + x];
        let found = depth.to_bits();
        if found < cell.load(Relaxed) {
            cell.fetch_min(found, Relaxed);
        }
    }

    #[inline(always)]
    fn hides(&self, x: usize, y: usize, depth: f32) -> bool {
        self.cells[y * self.size.width + x].load(Relaxed) < depth.to_bits()
    }
}
