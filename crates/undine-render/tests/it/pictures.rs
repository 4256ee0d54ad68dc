//! Pictures that tests make files of.

use undine_core::glam::{Vec3, Vec4};
use undine_render::{Display, Image, Size};

/// A picture with every kind of change between pixels; `moment` moves a square on it.
pub fn display(width: usize, height: usize, moment: usize) -> Display {
    let size = Size::new(width, height).unwrap();
    let pixel = |n: usize| {
        let (x, y) = (n % width, n / width);
        if (x.wrapping_sub(3 * moment) < 5) && (2..7).contains(&y) {
            return [255, 200, 40, 255];
        }
        [(x * 255 / width) as u8, (y * 255 / height) as u8, (x * y % 251) as u8, 255]
    };
    Display { size, pixels: (0..size.pixels()).map(pixel).collect() }
}

/// Light, depth and velocity that differ from pixel to pixel, and that 16 bits hold.
pub fn image(width: usize, height: usize) -> Image {
    let size = Size::new(width, height).unwrap();
    let mut image = Image::empty(size);
    for n in 0..size.pixels() {
        let (x, y) = ((n % width) as f32, (n / width) as f32);
        image.light[n] = Vec4::new(x / 8.0, y / 8.0, 4.0, 1.0);
        image.velocity[n] = Vec3::new(x, -y, 0.5);
        if n % 3 != 0 {
            image.depth[n] = 10.0 + 1e-4 * n as f32;
        }
    }
    image
}
