//! What a value is, and the eight bytes that stand for it.

use crate::usd::type_name::{Scalar, Shape, TypeName};

/// The kinds of values, by their number in the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Kind {
    Bool = 1,
    UChar = 2,
    Int = 3,
    UInt = 4,
    Int64 = 5,
    UInt64 = 6,
    Half = 7,
    Float = 8,
    Double = 9,
    String = 10,
    Token = 11,
    Asset = 12,
    Matrix2d = 13,
    Matrix3d = 14,
    Matrix4d = 15,
    Quatd = 16,
    Quatf = 17,
    Quath = 18,
    Vec2d = 19,
    Vec2f = 20,
    Vec2h = 21,
    Vec2i = 22,
    Vec3d = 23,
    Vec3f = 24,
    Vec3h = 25,
    Vec3i = 26,
    Vec4d = 27,
    Vec4f = 28,
    Vec4h = 29,
    Vec4i = 30,
    Dictionary = 31,
    TokenList = 32,
    StringList = 33,
    PathList = 34,
    ReferenceList = 35,
    IntList = 36,
    Int64List = 37,
    UIntList = 38,
    UInt64List = 39,
    PathVector = 40,
    TokenVector = 41,
    Specifier = 42,
    Permission = 43,
    Variability = 44,
    VariantSelection = 45,
    TimeSamples = 46,
    Payload = 47,
    DoubleVector = 48,
    LayerOffsets = 49,
    StringVector = 50,
    Block = 51,
    Value = 52,
    Unregistered = 53,
    UnregisteredList = 54,
    PayloadList = 55,
    TimeCode = 56,
    PathExpression = 57,
    Relocates = 58,
    Spline = 59,
    AnimationBlock = 60,
}

/// The kinds that a layer keeps by their components: what these are, and how many. Plain ones stand before others.
const TUPLES: [(Kind, Scalar, usize); 23] = [
    (Kind::Int, Scalar::Int, 1),
    (Kind::Vec2i, Scalar::Int, 2),
    (Kind::Vec3i, Scalar::Int, 3),
    (Kind::Vec4i, Scalar::Int, 4),
    (Kind::Half, Scalar::Half, 1),
    (Kind::Vec2h, Scalar::Half, 2),
    (Kind::Vec3h, Scalar::Half, 3),
    (Kind::Vec4h, Scalar::Half, 4),
    (Kind::Quath, Scalar::Half, 4),
    (Kind::Float, Scalar::Float, 1),
    (Kind::Vec2f, Scalar::Float, 2),
    (Kind::Vec3f, Scalar::Float, 3),
    (Kind::Vec4f, Scalar::Float, 4),
    (Kind::Quatf, Scalar::Float, 4),
    (Kind::Double, Scalar::Double, 1),
    (Kind::Vec2d, Scalar::Double, 2),
    (Kind::Vec3d, Scalar::Double, 3),
    (Kind::Vec4d, Scalar::Double, 4),
    (Kind::Quatd, Scalar::Double, 4),
    (Kind::Matrix2d, Scalar::Double, 4),
    (Kind::Matrix3d, Scalar::Double, 9),
    (Kind::Matrix4d, Scalar::Double, 16),
    (Kind::TimeCode, Scalar::Double, 1),
];

impl Kind {
    /// The kind of this number; `None` if there is none that is known.
    pub fn of(number: u8) -> Option<Self> {
        const ALL: [Kind; 60] = [
            Kind::Bool,
            Kind::UChar,
            Kind::Int,
            Kind::UInt,
            Kind::Int64,
            Kind::UInt64,
            Kind::Half,
            Kind::Float,
            Kind::Double,
            Kind::String,
            Kind::Token,
            Kind::Asset,
            Kind::Matrix2d,
            Kind::Matrix3d,
            Kind::Matrix4d,
            Kind::Quatd,
            Kind::Quatf,
            Kind::Quath,
            Kind::Vec2d,
            Kind::Vec2f,
            Kind::Vec2h,
            Kind::Vec2i,
            Kind::Vec3d,
            Kind::Vec3f,
            Kind::Vec3h,
            Kind::Vec3i,
            Kind::Vec4d,
            Kind::Vec4f,
            Kind::Vec4h,
            Kind::Vec4i,
            Kind::Dictionary,
            Kind::TokenList,
            Kind::StringList,
            Kind::PathList,
            Kind::ReferenceList,
            Kind::IntList,
            Kind::Int64List,
            Kind::UIntList,
            Kind::UInt64List,
            Kind::PathVector,
            Kind::TokenVector,
            Kind::Specifier,
            Kind::Permission,
            Kind::Variability,
            Kind::VariantSelection,
            Kind::TimeSamples,
            Kind::Payload,
            Kind::DoubleVector,
            Kind::LayerOffsets,
            Kind::StringVector,
            Kind::Block,
            Kind::Value,
            Kind::Unregistered,
            Kind::UnregisteredList,
            Kind::PayloadList,
            Kind::TimeCode,
            Kind::PathExpression,
            Kind::Relocates,
            Kind::Spline,
            Kind::AnimationBlock,
        ];
        ALL.get(usize::from(number).checked_sub(1)?).copied()
    }

    /// The kind of the elements of an attribute declared with this type: `point3f[]` holds three floats.
    pub fn of_type(name: &str) -> Option<Self> {
        match name.strip_suffix("[]").unwrap_or(name) {
            "timecode" => Some(Self::TimeCode),
            "pathExpression" => Some(Self::PathExpression),
            _ => Self::of_elements(TypeName::parse(name)?),
        }
    }

    /// The same, of a type that is taken apart.
    pub fn of_elements(TypeName { scalar, shape, .. }: TypeName) -> Option<Self> {
        Some(match (scalar, shape) {
            (Scalar::Bool, _) => Self::Bool,
            (Scalar::UChar, _) => Self::UChar,
            (Scalar::UInt, _) => Self::UInt,
            (Scalar::Int64, _) => Self::Int64,
            (Scalar::UInt64, _) => Self::UInt64,
            (Scalar::String, _) => Self::String,
            (Scalar::Token, _) => Self::Token,
            (Scalar::Asset, _) => Self::Asset,
            (Scalar::Half, Shape::Quaternion) => Self::Quath,
            (Scalar::Float, Shape::Quaternion) => Self::Quatf,
            (Scalar::Double, Shape::Quaternion) => Self::Quatd,
            (Scalar::Double, Shape::Matrix(2)) => Self::Matrix2d,
            (scalar, Shape::Matrix(rows)) => return Self::of_tuple(scalar, rows * rows),
            (scalar, Shape::Row(width)) => return Self::of_tuple(scalar, width),
            (Scalar::Int, Shape::Quaternion) => return None,
        })
    }

    /// What its components are and how many, if it is made of numbers that a layer keeps by their components.
    pub fn tuple(self) -> Option<(Scalar, usize)> {
        TUPLES.iter().find(|(kind, ..)| *kind == self).map(|&(_, scalar, width)| (scalar, width))
    }

    /// The plain kind of so many components: a vector, or of nine or sixteen doubles a matrix.
    pub fn of_tuple(scalar: Scalar, width: usize) -> Option<Self> {
        TUPLES.iter().find(|&&(_, s, w)| (s, w) == (scalar, width)).map(|&(kind, ..)| kind)
    }

    /// How many rows it has, if it is a matrix.
    pub fn rows(self) -> Option<usize> {
        match self {
            Self::Matrix2d => Some(2),
            Self::Matrix3d => Some(3),
            Self::Matrix4d => Some(4),
            _ => None,
        }
    }
}

/// The eight bytes that stand for a value: its kind, what form it has, and either itself or where it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Rep(pub u64);

impl Rep {
    const ARRAY: u64 = 1 << 63;
    const INLINED: u64 = 1 << 62;
    const COMPRESSED: u64 = 1 << 61;
    const ARRAY_EDIT: u64 = 1 << 60;
    const PAYLOAD: u64 = (1 << 48) - 1;

    /// Of a value that lies at a byte of the file.
    pub fn at(kind: Kind, byte: usize) -> Self {
        Self(u64::from(kind as u8) << 48 | (byte as u64 & Self::PAYLOAD))
    }

    /// Of a value that is in these four bytes.
    pub fn inlined(kind: Kind, bits: u32) -> Self {
        Self(Self::INLINED | u64::from(kind as u8) << 48 | u64::from(bits))
    }

    /// Of an array that lies at a byte of the file; at zero, of an empty one.
    pub fn array(kind: Kind, byte: usize) -> Self {
        Self(Self::ARRAY | Self::at(kind, byte).0)
    }

    /// Says that the array is compressed.
    pub fn compressed(self) -> Self {
        Self(self.0 | Self::COMPRESSED)
    }

    /// The number of the kind.
    pub fn kind(self) -> u8 {
        (self.0 >> 48) as u8
    }

    /// Where the value is.
    pub fn payload(self) -> u64 {
        self.0 & Self::PAYLOAD
    }

    /// The value itself, if it is inlined.
    pub fn bits(self) -> u32 {
        self.0 as u32
    }

    pub fn is_array(self) -> bool {
        self.0 & Self::ARRAY != 0
    }

    pub fn is_inlined(self) -> bool {
        self.0 & Self::INLINED != 0
    }

    pub fn is_compressed(self) -> bool {
        self.0 & Self::COMPRESSED != 0
    }

    /// Whether it edits an array instead of being one, as versions from 0.14 on can.
    pub fn is_array_edit(self) -> bool {
        self.0 & Self::ARRAY_EDIT != 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_numbers_and_the_kinds_are_one_to_one() {
        for number in 1..=60 {
            assert_eq!(Kind::of(number).unwrap() as u8, number);
        }
        assert_eq!(Kind::of(0), None);
        assert_eq!(Kind::of(61), None);
    }

    #[test]
    fn plain_tuples_are_vectors_and_large_ones_matrices() {
        assert_eq!(Kind::of_tuple(Scalar::Float, 4), Some(Kind::Vec4f));
        assert_eq!(Kind::of_tuple(Scalar::Double, 1), Some(Kind::Double));
        assert_eq!(Kind::of_tuple(Scalar::Double, 16), Some(Kind::Matrix4d));
        assert_eq!(Kind::of_tuple(Scalar::Float, 16), None);
    }
}
