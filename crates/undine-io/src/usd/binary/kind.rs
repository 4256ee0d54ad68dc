//! What a value is, and the eight bytes that stand for it.

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

/// What the components of a value are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scalar {
    Int,
    Half,
    Float,
    Double,
}

/// What a kind that is a tuple of numbers has: components, how many, and whether they are the rows of a matrix.
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
        Some(match name.strip_suffix("[]").unwrap_or(name) {
            "bool" => Self::Bool,
            "uchar" => Self::UChar,
            "int" => Self::Int,
            "uint" => Self::UInt,
            "int64" => Self::Int64,
            "uint64" => Self::UInt64,
            "half" => Self::Half,
            "float" => Self::Float,
            "double" => Self::Double,
            "timecode" => Self::TimeCode,
            "string" => Self::String,
            "token" => Self::Token,
            "asset" => Self::Asset,
            "pathExpression" => Self::PathExpression,
            "int2" => Self::Vec2i,
            "int3" => Self::Vec3i,
            "int4" => Self::Vec4i,
            "half2" | "texCoord2h" => Self::Vec2h,
            "half3" | "point3h" | "normal3h" | "vector3h" | "color3h" | "texCoord3h" => Self::Vec3h,
            "half4" | "color4h" => Self::Vec4h,
            "float2" | "texCoord2f" => Self::Vec2f,
            "float3" | "point3f" | "normal3f" | "vector3f" | "color3f" | "texCoord3f" => {
                Self::Vec3f
            }
            "float4" | "color4f" => Self::Vec4f,
            "double2" | "texCoord2d" => Self::Vec2d,
            "double3" | "point3d" | "normal3d" | "vector3d" | "color3d" | "texCoord3d" => {
                Self::Vec3d
            }
            "double4" | "color4d" => Self::Vec4d,
            "quath" => Self::Quath,
            "quatf" => Self::Quatf,
            "quatd" => Self::Quatd,
            "matrix2d" => Self::Matrix2d,
            "matrix3d" => Self::Matrix3d,
            "matrix4d" | "frame4d" => Self::Matrix4d,
            _ => return None,
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
