//! The colours of a picture: what its points are coloured by and over which range, and what colour bodies and colliders have.

use super::contents::{ColourBy, Contents, Role};
use rayon::prelude::*;
use undine_core::glam::Vec3;
use undine_render::shot::{Appearance, Numbers};

/// Points of no channel, linear.
pub const POINTS: Vec3 = Vec3::new(0.06, 0.28, 0.60);

/// Hair: dark, against the pale sky and ground.
pub const HAIR: Vec3 = Vec3::new(0.085, 0.038, 0.017);

/// How much of the light that it takes away smoke scatters: dark against sky and ground, which are pale.
pub const SMOKE: Vec3 = Vec3::new(0.34, 0.31, 0.29);

/// Surfaces of files.
pub const SURFACE: Vec3 = Vec3::new(0.42, 0.46, 0.50);

/// Pale, so that nobody takes them for what the picture is about.
const COLLIDER: Vec3 = Vec3::new(0.52, 0.50, 0.46);

/// Warm, against the blue of water and sky.
const BODIES: [Vec3; 6] = [
    Vec3::new(0.72, 0.25, 0.07),
    Vec3::new(0.78, 0.44, 0.10),
    Vec3::new(0.55, 0.10, 0.06),
    Vec3::new(0.80, 0.58, 0.24),
    Vec3::new(0.46, 0.20, 0.10),
    Vec3::new(0.70, 0.16, 0.14),
];

/// The colour of a surface, linear.
pub fn of(role: Role) -> Vec3 {
    match role {
        Role::Collider => COLLIDER,
        Role::Surface => SURFACE,
        // Neighbours in a row differ, and each keeps its own in every frame.
        Role::Body(n) => BODIES[n % BODIES.len()] * (1.0 - 0.12 * ((n / BODIES.len()) % 3) as f32),
    }
}

/// What smoke, or fire, looks like in a picture.
pub fn appearance(glows: bool) -> Appearance {
    let glow = if glows { 1.0 } else { 0.0 };
    Appearance::Smoke { albedo: SMOKE, forward: 0.35, multiple: 1.0, glow }
}

/// The numbers at both ends of the map: all but the lowest and highest hundredth of what there is, rounded outwards to 1, 2 or 5 times a
/// power of ten, so that it seldom changes from frame to frame; speeds begin at 0. Nothing, if nothing has the channel.
pub fn range(contents: &Contents<'_>, by: ColourBy<'_>) -> Option<[f32; 2]> {
    let [low, high] = spread(contents)?;
    Some(rounded([if by == ColourBy::Speed { 0.0 } else { low }, high]))
}

/// Both hundredths of all values.
fn spread(contents: &Contents<'_>) -> Option<[f32; 2]> {
    let points = contents.clouds.iter().flat_map(|cloud| &cloud.chunks).filter_map(|c| c.values);
    let curves = contents.curves.iter().filter_map(|curves| curves.values);
    let solids = contents.solids.iter().filter_map(|solid| solid.values);
    let columns: Vec<Numbers<'_>> = points.chain(curves).chain(solids).collect();
    let groups = columns.len().div_ceil(16).max(1);
    // Counts come out the same in any order.
    let counts = columns.par_chunks(groups).map(counted).reduce_with(|mut all, some| {
        all.iter_mut().zip(some).for_each(|(all, some)| *all += some);
        all
    })?;
    let all: u64 = counts.iter().sum();
    let at = |rank: u64| {
        let mut before = 0;
        counts.iter().position(|count| {
            before += count;
            before > rank
        })
    };
    let low = at(all / 100)?;
    let high = at(all - 1 - all / 100)?;
    Some([value(low as u32), value(high as u32 + 1)])
}

/// How many values there are of each upper half of a number's bits: numbers within 1 % of each other count as one.
fn counted(columns: &[Numbers<'_>]) -> Vec<u64> {
    let mut counts = vec![0; 1 << 16];
    for column in columns {
        for n in 0..column.len() {
            let number = column.at(n);
            if number.is_finite() {
                counts[(key(number) >> 16) as usize] += 1;
            }
        }
    }
    counts
}

/// The bits of a number such that larger numbers have larger ones.
fn key(number: f32) -> u32 {
    let bits = (number + 0.0).to_bits();
    if bits >> 31 == 1 { !bits } else { bits | 1 << 31 }
}

/// The least number with this upper half of its key.
fn value(upper: u32) -> f32 {
    let key = upper.min(0xffff) << 16;
    f32::from_bits(if key >> 31 == 1 { key & !(1 << 31) } else { !key })
}

/// Both ends rounded outwards, and never the same.
pub fn rounded([low, high]: [f32; 2]) -> [f32; 2] {
    let up = |number: f32| {
        let size = number.abs().clamp(1e-6, 1e30);
        let ten = 10f32.powf(size.log10().floor());
        let part = size / ten * (1.0 - 1e-3);
        match part {
            part if part <= 1.0 => ten,
            part if part <= 2.0 => 2.0 * ten,
            part if part <= 5.0 => 5.0 * ten,
            _ => 10.0 * ten,
        }
    };
    let high_end = if high > 1e-6 { up(high) } else { 0.0 };
    let low_end = if low < -1e-6 { -up(low) } else { 0.0 };
    match (low_end, high_end) {
        (0.0, 0.0) => [0.0, 1.0],
        // Far from zero, against what they spread over, zero is of no use.
        _ if low > 0.5 * high && low > 0.0 => {
            let step = up((high - low).max(1e-3 * high));
            [(low / step).floor() * step, (high / step).ceil() * step]
        }
        ends => [ends.0, ends.1],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::preview::contents::Cloud;
    use undine_core::glam::DVec3;
    use undine_render::shot::{Places, PointChunk, Radii};

    #[test]
    fn keys_of_numbers_are_in_their_order() {
        let numbers = [f32::MIN, -2.0, -1.0, -1e-30, 0.0, 1e-30, 1.0, 2.0, f32::MAX];
        assert!(numbers.windows(2).all(|pair| key(pair[0]) < key(pair[1])));
        for number in numbers {
            let found = value(key(number) >> 16);
            assert!((found - number).abs() <= 0.01 * number.abs(), "{number} {found}");
        }
    }

    #[test]
    fn ranges_are_round_and_hold_what_they_are_of() {
        assert_eq!(rounded([0.0, 3.7]), [0.0, 5.0]);
        assert_eq!(rounded([0.0, 0.0]), [0.0, 1.0]);
        assert_eq!(rounded([-0.3, 12.0]), [-0.5, 20.0]);
        let [low, high] = rounded([293.0, 295.5]);
        assert!(low <= 293.0 && high >= 295.5 && high - low <= 10.0, "{low} {high}");
    }

    #[test]
    fn a_few_wild_values_do_not_stretch_the_range() {
        let mut values: Vec<f32> = (0..1000).map(|n| n as f32 / 1000.0).collect();
        values[3] = 1e9;
        values[4] = f32::NAN;
        let places = vec![DVec3::ZERO; values.len()];
        let chunk = PointChunk {
            positions: Places::World(&places),
            radii: Radii::Same(1.0),
            velocities: None,
            values: Some(Numbers::F32(&values)),
        };
        let cloud = Cloud { chunks: vec![chunk], is_sized: true, is_valued: true };
        let contents = Contents { clouds: vec![cloud], ..Contents::default() };
        assert_eq!(range(&contents, ColourBy::Speed), Some([0.0, 1.0]));
        assert_eq!(range(&Contents::default(), ColourBy::Speed), None);
    }
}
