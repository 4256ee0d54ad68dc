//! Elements of which weighted sums can be taken: what interpolation and splatting need of a channel's type.
//!
//! Weights have the precision of the element: `f32` channels are blended in `f32`, `f64` channels in `f64`.

use crate::element::Element;
use glam::{DMat3, DMat4, DVec2, DVec3, DVec4, Mat3, Mat4, Vec2, Vec3, Vec4};
use std::ops::{Add, Mul, Neg, Sub};

/// The scalar that weights are made of: `f32` or `f64`.
pub trait Real:
    Element
    + PartialOrd
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Neg<Output = Self>
{
    /// The nearest number of this precision.
    fn of(value: f64) -> Self;
    /// The largest whole number that is not above this one, as an index and as a number.
    ///
    /// NaN and numbers beyond `i32` give an index without meaning, but never a panic.
    fn floor_index(self) -> (i32, Self);
    /// The magnitude.
    fn magnitude(self) -> Self;
}

/// Implemented twice, alike: the methods of `f32` and `f64` have the same names.
macro_rules! real {
    ($($real:ty),*) => {$(
        impl Real for $real {
            #[inline]
            fn of(value: f64) -> Self {
                value as $real
            }
            #[inline]
            fn floor_index(self) -> (i32, Self) {
                // `floor` is a call without SSE4.1; truncation and a correction are not.
                let truncated = self as i32;
                let index = truncated.saturating_sub(i32::from((truncated as $real) > self));
                (index, index as $real)
            }
            #[inline]
            fn magnitude(self) -> Self {
                self.abs()
            }
        }
    )*};
}
real!(f32, f64);

/// An element that can be scaled and added. Integers and rotations cannot be blended.
pub trait Blend: Element {
    /// The scalar of the components, and of the weights.
    type Real: Real;
    /// How many components there are.
    const LANES: usize;

    /// Every component times `weight`.
    fn scaled(self, weight: Self::Real) -> Self;
    /// The component-wise sum.
    fn plus(self, other: Self) -> Self;
    /// The component at a place below [`Self::LANES`].
    fn lane(&self, place: usize) -> Self::Real;
    /// The element with these components.
    fn from_lanes(lane: impl FnMut(usize) -> Self::Real) -> Self;
}

/// The types differ in name, scalar and number of components only.
macro_rules! blend {
    ($($type:ty: $real:ty, $lanes:literal;)*) => {$(
        impl Blend for $type {
            type Real = $real;
            const LANES: usize = $lanes;
            #[inline]
            fn scaled(self, weight: $real) -> Self {
                self * weight
            }
            #[inline]
            fn plus(self, other: Self) -> Self {
                self + other
            }
            #[inline]
            fn lane(&self, place: usize) -> $real {
                bytemuck::cast_ref::<Self, [$real; $lanes]>(self)[place]
            }
            #[inline]
            fn from_lanes(lane: impl FnMut(usize) -> $real) -> Self {
                bytemuck::cast(std::array::from_fn::<$real, $lanes, _>(lane))
            }
        }
    )*};
}

blend! {
    f32: f32, 1;
    f64: f64, 1;
    Vec2: f32, 2;
    Vec3: f32, 3;
    Vec4: f32, 4;
    DVec2: f64, 2;
    DVec3: f64, 3;
    DVec4: f64, 4;
    Mat3: f32, 9;
    Mat4: f32, 16;
    DMat3: f64, 9;
    DMat4: f64, 16;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_floor_of_any_number_is_an_index() {
        for (number, floor) in [(1.5, 1), (-1.5, -2), (-2.0, -2), (0.0, 0), (-0.25, -1)] {
            assert_eq!(number.floor_index().0, floor);
            assert_eq!((number as f32).floor_index().1, floor as f32);
        }
        for odd in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, 1e30, -1e30] {
            odd.floor_index();
        }
    }

    #[test]
    fn lanes_give_the_element_back() {
        let matrix = Mat3::from_cols(Vec3::X, Vec3::new(1.0, 2.0, 3.0), Vec3::Z);
        assert_eq!(Mat3::from_lanes(|lane| matrix.lane(lane)), matrix);
        assert_eq!(DVec2::new(1.0, 2.0).lane(1), 2.0);
    }
}
