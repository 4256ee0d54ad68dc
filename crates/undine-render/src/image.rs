//! A picture in memory: linear light, and for each pixel how far away and how fast is what it shows.

use crate::error::{RenderError, Result};
use undine_core::glam::{Vec3, Vec4};

/// No picture has more pixels: the buffers of one take up to 80 bytes for each, 5 GB in all.
pub const MOST_PIXELS: usize = 1 << 26;

/// How many pixels a picture has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Size {
    /// Pixels across.
    pub width: usize,
    /// Pixels down.
    pub height: usize,
}

impl Size {
    /// Checks that there is something to see, and room for it.
    pub fn new(width: usize, height: usize) -> Result<Self> {
        let refused = |why: &str| RenderError::Size { width, height, why: why.to_owned() };
        if width == 0 || height == 0 {
            return Err(refused("it needs at least one pixel each way, such as 1280x720"));
        }
        match width.checked_mul(height) {
            Some(pixels) if pixels <= MOST_PIXELS => Ok(Self { width, height }),
            _ => Err(refused("it may have at most 67 million pixels, such as 8192x8192")),
        }
    }

    /// How many pixels there are.
    pub fn pixels(self) -> usize {
        self.width * self.height
    }
}

/// A picture: rows from the top down, pixels from the left.
#[derive(Debug, Clone, PartialEq)]
pub struct Image {
    /// How many pixels it has.
    pub size: Size,
    /// Light of each pixel, linear in the primaries of sRGB, not yet exposed; `w` is how much of the pixel is covered (0 to 1),
    /// which the light is multiplied with already.
    pub light: Vec<Vec4>,
    /// How far in front of the camera the nearest thing in the middle of each pixel is, along the view's axis [m]; infinite where
    /// there is none.
    pub depth: Vec<f32>,
    /// How fast that moves, in the world [m/s].
    pub velocity: Vec<Vec3>,
}

impl Image {
    /// A picture of nothing.
    pub fn empty(size: Size) -> Self {
        let pixels = size.pixels();
        Self {
            size,
            light: vec![Vec4::ZERO; pixels],
            depth: vec![f32::INFINITY; pixels],
            velocity: vec![Vec3::ZERO; pixels],
        }
    }
}

/// A picture to look at: bytes of sRGB with alpha that is not multiplied in, rows from the top down.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Display {
    /// How many pixels it has.
    pub size: Size,
    /// Red, green, blue and alpha of each pixel.
    pub pixels: Vec<[u8; 4]>,
}

impl Display {
    /// Whether it has as many pixels as its size says.
    pub fn is_whole(&self) -> bool {
        self.size.width > 0 && self.pixels.len() == self.size.pixels()
    }
}
