//! The types of values that a grid may have, and how each lies in a file: little-endian, packed, or as half floats.

use half::f16;
use std::fmt::Debug;

/// Which type of value a grid has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Kind {
    /// `f32`.
    Float,
    /// `f64`.
    Double,
    /// `i32`.
    Int32,
    /// `i64`.
    Int64,
    /// `bool`.
    Bool,
    /// Nothing but which voxels are active.
    Mask,
    /// `[f32; 3]`.
    Vec3s,
    /// `[f64; 3]`.
    Vec3d,
    /// `[i32; 3]`.
    Vec3i,
    /// Points with attributes.
    Points,
}

impl Kind {
    /// Every kind.
    pub const ALL: [Self; 10] = [
        Self::Float,
        Self::Double,
        Self::Int32,
        Self::Int64,
        Self::Bool,
        Self::Mask,
        Self::Vec3s,
        Self::Vec3d,
        Self::Vec3i,
        Self::Points,
    ];

    /// The word for it in a file's `Tree_float_5_4_3`.
    pub fn word(self) -> &'static str {
        match self {
            Self::Float => "float",
            Self::Double => "double",
            Self::Int32 => "int32",
            Self::Int64 => "int64",
            Self::Bool => "bool",
            Self::Mask => "mask",
            Self::Vec3s => "vec3s",
            Self::Vec3d => "vec3d",
            Self::Vec3i => "vec3i",
            Self::Points => "ptdataidx32",
        }
    }
}

/// A type of value.
pub trait Value: Copy + PartialEq + Debug + Default + Send + Sync + 'static {
    /// Which it is.
    const KIND: Kind;
    /// How long a value is in a file [bytes].
    const SIZE: usize;
    /// How long a value is where the grid is saved as half [bytes]; as `SIZE` for those that are not affected.
    const HALF_SIZE: usize = Self::SIZE;

    /// What the format calls −value: for `bool` its opposite.
    fn negative(self) -> Self;

    /// Appends values as the file holds them.
    fn put(values: &[Self], bytes: &mut Vec<u8>);

    /// Fills values from as many bytes as they take.
    fn get(bytes: &[u8], values: &mut [Self]);

    /// The memory of values that lie in a file as they do in memory: what [`Value::get`] would fill.
    fn bytes_mut(_values: &mut [Self]) -> Option<&mut [u8]> {
        None
    }

    /// As [`Value::put`], rounded to half floats.
    fn put_half(values: &[Self], bytes: &mut Vec<u8>) {
        Self::put(values, bytes);
    }

    /// As [`Value::get`], from half floats.
    fn get_half(bytes: &[u8], values: &mut [Self]) {
        Self::get(bytes, values);
    }

    /// The value that half floats make of it.
    fn rounded_to_half(self) -> Self {
        self
    }
}

/// What the leaves of a mask grid hold: whether the voxel is active, which their mask says as well.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct MaskBit(pub bool);

/// How a component lies in a file.
trait Component: Copy + Default {
    const BYTES: usize;
    fn bytes(self, bytes: &mut Vec<u8>);
    fn of(bytes: &[u8]) -> Self;
    fn half(self) -> f16;
    fn of_half(half: f16) -> Self;
}

macro_rules! component {
    ($type:ty, |$value:ident| $half:expr, |$from:ident| $of:expr) => {
        impl Component for $type {
            const BYTES: usize = size_of::<$type>();
            fn bytes(self, bytes: &mut Vec<u8>) {
                bytes.extend_from_slice(&self.to_le_bytes());
            }
            fn of(bytes: &[u8]) -> Self {
                Self::from_le_bytes(bytes.try_into().unwrap_or_default())
            }
            fn half(self) -> f16 {
                let $value = self;
                $half
            }
            fn of_half($from: f16) -> Self {
                $of
            }
        }
    };
}
component!(f32, |value| f16::from_f32(value), |half| half.to_f32());
// As OpenVDB does: to single precision first.
component!(f64, |value| f16::from_f32(value as f32), |half| half.to_f64());
component!(i32, |value| f16::from_f32(value as f32), |half| half.to_f32() as i32);
component!(u32, |value| f16::from_f32(value as f32), |half| half.to_f32() as u32);
component!(i64, |value| f16::from_f32(value as f32), |half| half.to_f32() as i64);

/// Values of components without gaps are their bytes on little-endian machines; elsewhere they are turned one by one.
macro_rules! plain {
    ($type:ty, $component:ty, $kind:ident, $count:expr, half: $has_half:expr, |$value:ident| $negative:expr) => {
        impl Value for $type {
            const KIND: Kind = Kind::$kind;
            const SIZE: usize = $count * <$component as Component>::BYTES;
            const HALF_SIZE: usize = if $has_half { 2 * $count } else { Self::SIZE };

            fn negative(self) -> Self {
                let $value = self;
                $negative
            }

            fn put(values: &[Self], bytes: &mut Vec<u8>) {
                if cfg!(target_endian = "little") {
                    bytes.extend_from_slice(bytemuck::cast_slice(values));
                } else {
                    let components: &[$component] = bytemuck::cast_slice(values);
                    components.iter().for_each(|component| component.bytes(bytes));
                }
            }

            fn get(bytes: &[u8], values: &mut [Self]) {
                if cfg!(target_endian = "little") {
                    bytemuck::cast_slice_mut(values).copy_from_slice(bytes);
                } else {
                    let components: &mut [$component] = bytemuck::cast_slice_mut(values);
                    let parts = bytes.chunks_exact(<$component as Component>::BYTES);
                    components.iter_mut().zip(parts).for_each(|(c, part)| *c = Component::of(part));
                }
            }

            fn bytes_mut(values: &mut [Self]) -> Option<&mut [u8]> {
                cfg!(target_endian = "little").then(|| bytemuck::cast_slice_mut(values))
            }

            fn put_half(values: &[Self], bytes: &mut Vec<u8>) {
                if !$has_half {
                    return Self::put(values, bytes);
                }
                let components: &[$component] = bytemuck::cast_slice(values);
                bytes
                    .extend(components.iter().flat_map(|component| component.half().to_le_bytes()));
            }

            fn get_half(bytes: &[u8], values: &mut [Self]) {
                if !$has_half {
                    return Self::get(bytes, values);
                }
                let components: &mut [$component] = bytemuck::cast_slice_mut(values);
                for (component, part) in components.iter_mut().zip(bytes.as_chunks::<2>().0) {
                    *component = Component::of_half(f16::from_le_bytes(*part));
                }
            }

            fn rounded_to_half(self) -> Self {
                let mut value = [self];
                if $has_half {
                    let components: &mut [$component] = bytemuck::cast_slice_mut(&mut value);
                    components.iter_mut().for_each(|c| *c = Component::of_half(c.half()));
                }
                value[0]
            }
        }
    };
}
plain!(f32, f32, Float, 1, half: true, |value| -value);
plain!(f64, f64, Double, 1, half: true, |value| -value);
plain!(i32, i32, Int32, 1, half: false, |value| value.wrapping_neg());
// Where the points of a voxel end among those of its leaf.
plain!(u32, u32, Points, 1, half: false, |value| value.wrapping_neg());
plain!(i64, i64, Int64, 1, half: false, |value| value.wrapping_neg());
plain!([f32; 3], f32, Vec3s, 3, half: true, |value| value.map(|c| -c));
plain!([f64; 3], f64, Vec3d, 3, half: true, |value| value.map(|c| -c));
plain!([i32; 3], i32, Vec3i, 3, half: false, |value| value.map(i32::wrapping_neg));

impl Value for bool {
    const KIND: Kind = Kind::Bool;
    const SIZE: usize = 1;

    fn negative(self) -> Self {
        !self
    }

    fn put(values: &[Self], bytes: &mut Vec<u8>) {
        bytes.extend(values.iter().map(|&value| u8::from(value)));
    }

    fn get(bytes: &[u8], values: &mut [Self]) {
        values.iter_mut().zip(bytes).for_each(|(value, &byte)| *value = byte != 0);
    }
}

impl Value for MaskBit {
    const KIND: Kind = Kind::Mask;
    const SIZE: usize = 1;

    fn negative(self) -> Self {
        Self(!self.0)
    }

    fn put(values: &[Self], bytes: &mut Vec<u8>) {
        bytes.extend(values.iter().map(|value| u8::from(value.0)));
    }

    fn get(bytes: &[u8], values: &mut [Self]) {
        values.iter_mut().zip(bytes).for_each(|(value, &byte)| *value = Self(byte != 0));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn returns<T: Value>(values: &[T]) {
        let mut bytes = Vec::new();
        T::put(values, &mut bytes);
        assert_eq!(bytes.len(), values.len() * T::SIZE);
        let mut back = vec![T::default(); values.len()];
        T::get(&bytes, &mut back);
        assert_eq!(back, values);
        if let Some(memory) = T::bytes_mut(&mut back) {
            assert_eq!(memory, bytes);
        }
        bytes.clear();
        T::put_half(values, &mut bytes);
        assert_eq!(bytes.len(), values.len() * T::HALF_SIZE);
        T::get_half(&bytes, &mut back);
        let rounded: Vec<T> = values.iter().map(|value| value.rounded_to_half()).collect();
        assert_eq!(back, rounded);
    }

    #[test]
    fn values_of_every_kind_return_from_bytes() {
        returns(&[0.1f32, -3.0, f32::MAX]);
        returns(&[0.1f64, -3.0]);
        returns(&[i32::MIN, 7]);
        returns(&[i64::MIN, 7]);
        returns(&[u32::MAX, 7]);
        returns(&[true, false]);
        returns(&[MaskBit(true), MaskBit(false)]);
        returns(&[[0.1f32, 2.0, 3.0]; 3]);
        returns(&[[0.1f64, 2.0, 3.0]; 3]);
        returns(&[[1, i32::MIN, 3]; 3]);
    }

    #[test]
    fn halves_have_eleven_bits() {
        assert_eq!(0.1f32.rounded_to_half(), 0.099_975_586);
        assert_eq!(i32::MAX.rounded_to_half(), i32::MAX);
        assert!(!true.negative());
        assert_eq!(i32::MIN.negative(), i32::MIN);
    }
}
