//! Smooth noise (Perlin 2002), and sums of it that look like clouds.

use undine_core::glam::{IVec3, Vec3};

/// From about −1 to 1, and 0 at each whole place.
pub fn noise(at: Vec3) -> f32 {
    let whole = at.floor();
    let part = at - whole;
    let share = part * part * part * (part * (part * 6.0 - 15.0) + 10.0);
    let corner = |x: i32, y: i32, z: i32| {
        let offset = IVec3::new(x, y, z);
        slope(whole.as_ivec3() + offset).dot(part - offset.as_vec3())
    };
    let mix = |a: f32, b: f32, share: f32| a + share * (b - a);
    let along_x = |y, z| mix(corner(0, y, z), corner(1, y, z), share.x);
    let along_y = |z| mix(along_x(0, z), along_x(1, z), share.y);
    mix(along_y(0), along_y(1), share.z)
}

/// Noise that is turned up where it is negative, again and again in finer steps: round heaps with creases between them.
pub fn billows(at: Vec3, octaves: usize) -> f32 {
    let (mut sum, mut share, mut at) = (0.0, 1.0, at);
    for _ in 0..octaves {
        sum += share * noise(at).abs();
        share *= 0.55;
        at = 2.03 * at + Vec3::new(3.1, 1.7, 5.3);
    }
    sum
}

/// A place, moved by noise.
pub fn warped(at: Vec3, finer: f32, by: f32) -> Vec3 {
    let moved = [11.0, 37.0, 71.0].map(|offset| noise(finer * at + offset));
    at + by * Vec3::from_array(moved)
}

/// From 0 to 1 while `x` does, without edges.
pub fn smooth_step(x: f32) -> f32 {
    let x = x.clamp(0.0, 1.0);
    x * x * (3.0 - 2.0 * x)
}

/// The slope of the noise at a whole place.
fn slope(at: IVec3) -> Vec3 {
    let [x, y, z] = at.as_uvec3().to_array();
    let mut hash =
        x.wrapping_mul(0x8da6_b343) ^ y.wrapping_mul(0xd816_3841) ^ z.wrapping_mul(0xcb1a_b31f);
    for (shift, factor) in [(15, 0x2c1b_3c6d), (12, 0x297a_2d39)] {
        hash = (hash ^ hash >> shift).wrapping_mul(factor);
    }
    hash ^= hash >> 15;
    Vec3::from_array([0, 10, 20].map(|shift| (hash >> shift & 1023) as f32 / 511.5 - 1.0))
}
