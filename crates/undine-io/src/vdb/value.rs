//! The element types of channels, and the types of values that grids have for them.

use crate::names::UpAxis;
use undine_core::Element;
use undine_core::glam::{DVec3, IVec3, Vec3};
use undine_vdb::{Content, MaskBit, Tree, Value};

/// A type of value that a grid of voxels may have, with what volumes ask of it.
pub trait GridValue: Value {
    /// Whether it has a direction.
    const IS_VECTOR: bool = false;
    /// Whether a signed distance can be of it.
    const IS_DISTANCE: bool = false;

    /// What a threshold is compared with: the number itself, or the length of a vector.
    fn size(self) -> f64;

    /// The value of this number, in every component.
    fn of(number: f64) -> Self;

    /// A tree of it, as what a grid holds.
    fn content(tree: Tree<Self>) -> Content;

    /// The mean with weights that add up to 1; of values that have none, that of the largest weight.
    fn mean(values: &[Self; 8], weights: &[f64; 8]) -> Self {
        let heavier =
            |best: usize, next: usize| if weights[next] > weights[best] { next } else { best };
        values[(1..8).fold(0, heavier)]
    }

    /// A vector of a simulation as a file has it, where this axis points up; anything else as it is.
    fn to_file(self, _up: UpAxis) -> Self {
        self
    }

    /// A vector of a file as a simulation has it, where this axis points up; anything else as it is.
    fn of_file(self, _up: UpAxis) -> Self {
        self
    }
}

macro_rules! real {
    ($type:ty, $kind:ident) => {
        impl GridValue for $type {
            const IS_DISTANCE: bool = true;
            fn content(tree: Tree<Self>) -> Content {
                Content::$kind(tree)
            }
            fn size(self) -> f64 {
                f64::from(self)
            }
            fn of(number: f64) -> Self {
                number as $type
            }
            fn mean(values: &[Self; 8], weights: &[f64; 8]) -> Self {
                let terms = values.iter().zip(weights);
                terms.map(|(&value, weight)| f64::from(value) * weight).sum::<f64>() as $type
            }
        }
    };
}
real!(f32, Float);
real!(f64, Double);

macro_rules! vector {
    ($real:ty, $kind:ident) => {
        impl GridValue for [$real; 3] {
            const IS_VECTOR: bool = true;
            fn content(tree: Tree<Self>) -> Content {
                Content::$kind(tree)
            }
            fn size(self) -> f64 {
                DVec3::from_array(self.map(f64::from)).length()
            }
            fn of(number: f64) -> Self {
                [number as $real; 3]
            }
            fn mean(values: &[Self; 8], weights: &[f64; 8]) -> Self {
                [0, 1, 2].map(|c| <$real>::mean(&values.map(|value| value[c]), weights))
            }
            fn to_file(self, up: UpAxis) -> Self {
                up.to_file(DVec3::from_array(self.map(f64::from))).to_array().map(|c| c as $real)
            }
            fn of_file(self, up: UpAxis) -> Self {
                up.from_file(DVec3::from_array(self.map(f64::from))).to_array().map(|c| c as $real)
            }
        }
    };
}
vector!(f32, Vec3s);
vector!(f64, Vec3d);

impl GridValue for i32 {
    fn content(tree: Tree<Self>) -> Content {
        Content::Int32(tree)
    }
    fn size(self) -> f64 {
        f64::from(self)
    }
    fn of(number: f64) -> Self {
        number as Self
    }
}

impl GridValue for i64 {
    fn content(tree: Tree<Self>) -> Content {
        Content::Int64(tree)
    }
    fn size(self) -> f64 {
        self as f64
    }
    fn of(number: f64) -> Self {
        number as Self
    }
}

impl GridValue for [i32; 3] {
    fn content(tree: Tree<Self>) -> Content {
        Content::Vec3i(tree)
    }
    fn size(self) -> f64 {
        DVec3::from_array(self.map(f64::from)).length()
    }
    fn of(number: f64) -> Self {
        [number as i32; 3]
    }
}

impl GridValue for bool {
    fn content(tree: Tree<Self>) -> Content {
        Content::Bool(tree)
    }
    fn size(self) -> f64 {
        f64::from(u8::from(self))
    }
    fn of(number: f64) -> Self {
        number != 0.0
    }
}

impl GridValue for MaskBit {
    fn content(tree: Tree<Self>) -> Content {
        Content::Mask(tree)
    }
    fn size(self) -> f64 {
        self.0.size()
    }
    fn of(number: f64) -> Self {
        Self(number != 0.0)
    }
}

/// An element type that a grid has a type of values for.
pub trait VoxelValue: Element {
    /// The grid's type of values.
    type Stored: GridValue;

    /// As the grid has it.
    fn stored(self) -> Self::Stored;

    /// As the channel has it; a whole number beyond its range becomes the nearest within.
    fn restored(stored: Self::Stored) -> Self;

    /// Voxels as values of a grid where they are the same bytes: so a chunk *is* a leaf's buffer.
    fn view(voxels: &[Self]) -> Option<&[Self::Stored]>;
}

macro_rules! same_bytes {
    ($type:ty, $stored:ty, |$value:ident| $to:expr, |$from:ident| $back:expr) => {
        impl VoxelValue for $type {
            type Stored = $stored;
            fn stored(self) -> $stored {
                let $value = self;
                $to
            }
            fn restored($from: $stored) -> Self {
                $back
            }
            fn view(voxels: &[Self]) -> Option<&[$stored]> {
                Some(bytemuck::cast_slice(voxels))
            }
        }
    };
}
same_bytes!(f32, f32, |value| value, |stored| stored);
same_bytes!(f64, f64, |value| value, |stored| stored);
same_bytes!(i32, i32, |value| value, |stored| stored);
same_bytes!(Vec3, [f32; 3], |value| value.to_array(), |stored| Self::from_array(stored));
same_bytes!(DVec3, [f64; 3], |value| value.to_array(), |stored| Self::from_array(stored));
same_bytes!(IVec3, [i32; 3], |value| value.to_array(), |stored| Self::from_array(stored));

impl VoxelValue for u32 {
    // The smallest signed type that has room for it: grids have no unsigned ones.
    type Stored = i64;
    fn stored(self) -> i64 {
        i64::from(self)
    }
    fn restored(stored: i64) -> Self {
        stored.clamp(0, i64::from(Self::MAX)) as Self
    }
    fn view(_voxels: &[Self]) -> Option<&[i64]> {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chunk_of_vectors_is_a_buffer_of_a_leaf() {
        let voxels = [Vec3::new(1.0, 2.0, 3.0), Vec3::ZERO];
        let view = Vec3::view(&voxels).unwrap();
        assert_eq!(view, [[1.0, 2.0, 3.0], [0.0; 3]]);
        assert_eq!(view.as_ptr().cast::<u8>(), voxels.as_ptr().cast::<u8>());
        assert!(u32::view(&[7]).is_none());
        assert_eq!(u32::restored(7_u32.stored()), 7);
        assert_eq!(u32::restored(-1), 0);
    }

    #[test]
    fn means_are_of_numbers_and_choices_of_whole_numbers() {
        let weights = [0.25, 0.0, 0.0, 0.75, 0.0, 0.0, 0.0, 0.0];
        assert_eq!(f32::mean(&[1.0, 9.0, 9.0, 5.0, 9.0, 9.0, 9.0, 9.0], &weights), 4.0);
        assert_eq!(i32::mean(&[1, 9, 9, 5, 9, 9, 9, 9], &weights), 5);
    }
}
