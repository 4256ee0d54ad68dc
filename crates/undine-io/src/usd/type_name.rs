//! The names of types that attributes are declared with, and how the values of each are laid out.

use super::layer::{Array, Value};

/// What one component of a value is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scalar {
    /// `bool`.
    Bool,
    /// `uchar`.
    UChar,
    /// `int`.
    Int,
    /// `uint`.
    UInt,
    /// `int64`.
    Int64,
    /// `uint64`.
    UInt64,
    /// `half`.
    Half,
    /// `float`.
    Float,
    /// `double`, `timecode`.
    Double,
    /// `string`.
    String,
    /// `token`.
    Token,
    /// `asset`.
    Asset,
}

/// How the components of a value stand together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// One after another, so many.
    Row(usize),
    /// Four, of which a text says the real one first and a [`Value`] holds it last.
    Quaternion,
    /// So many rows of as many.
    Matrix(usize),
}

/// What directions and places have to do with the space that they are in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// Nothing.
    None,
    /// It is a place, which moves with its space.
    Point,
    /// It is a difference of places, which turns and stretches with its space.
    Vector,
    /// It is at right angles to a surface.
    Normal,
}

/// A type that attributes have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TypeName {
    /// What one component is.
    pub scalar: Scalar,
    /// How the components stand together.
    pub shape: Shape,
    /// Whether there is any number of them.
    pub is_array: bool,
    /// How they move with their space.
    pub role: Role,
}

impl TypeName {
    /// The type of a name such as `point3f[]`; `None` if it is none of those that values here have.
    pub fn parse(name: &str) -> Option<Self> {
        let element = name.strip_suffix("[]");
        let is_array = element.is_some();
        let element = element.unwrap_or(name);
        let (scalar, shape) =
            scalar(element).map(|scalar| (scalar, Shape::Row(1))).or_else(|| {
                let (scalar, shape) = tuple(element)?;
                Some((scalar, shape))
            })?;
        let role = match element.strip_suffix(['h', 'f', 'd']) {
            Some("point3") => Role::Point,
            Some("vector3") => Role::Vector,
            Some("normal3") => Role::Normal,
            _ => Role::None,
        };
        Some(Self { scalar, shape, is_array, role })
    }

    /// The plainest name of a type that a value can have; `None` if it is no value of an attribute.
    pub fn of(value: &Value) -> Option<&'static str> {
        Some(match value {
            Value::Block | Value::Dictionary(_) | Value::List(_) => return None,
            Value::Bool(_) => "bool",
            Value::UChar(_) => "uchar",
            Value::Int(_) => "int",
            Value::UInt(_) => "uint",
            Value::Int64(_) => "int64",
            Value::UInt64(_) => "uint64",
            Value::Half(_) => "half",
            Value::Float(_) => "float",
            Value::Double(_) => "double",
            Value::String(_) => "string",
            Value::Token(_) => "token",
            Value::Asset(_) => "asset",
            Value::IntVec(values) => *["int2", "int3", "int4"].get(values.len().checked_sub(2)?)?,
            Value::HalfVec(values) => {
                *["half2", "half3", "half4"].get(values.len().checked_sub(2)?)?
            }
            Value::FloatVec(values) => {
                *["float2", "float3", "float4"].get(values.len().checked_sub(2)?)?
            }
            Value::DoubleVec(values) => match values.len() {
                2 => "double2",
                3 => "double3",
                4 => "double4",
                9 => "matrix3d",
                16 => "matrix4d",
                _ => return None,
            },
            Value::Array(array) => match array {
                Array::Bool(_) => "bool[]",
                Array::UChar(_) => "uchar[]",
                Array::Int(_, width) => {
                    *["int[]", "int2[]", "int3[]", "int4[]"].get(width.checked_sub(1)?)?
                }
                Array::UInt(_) => "uint[]",
                Array::Int64(_) => "int64[]",
                Array::UInt64(_) => "uint64[]",
                Array::Half(_, width) => {
                    *["half[]", "half2[]", "half3[]", "half4[]"].get(width.checked_sub(1)?)?
                }
                Array::Float(_, width) => {
                    *["float[]", "float2[]", "float3[]", "float4[]"].get(width.checked_sub(1)?)?
                }
                Array::Double(_, width) => match width {
                    1 => "double[]",
                    2 => "double2[]",
                    3 => "double3[]",
                    4 => "double4[]",
                    9 => "matrix3d[]",
                    16 => "matrix4d[]",
                    _ => return None,
                },
                Array::String(_) => "string[]",
                Array::Token(_) => "token[]",
                Array::Asset(_) => "asset[]",
            },
        })
    }

    /// How many components an element has.
    pub fn width(&self) -> usize {
        match self.shape {
            Shape::Row(width) => width,
            Shape::Quaternion => 4,
            Shape::Matrix(rows) => rows * rows,
        }
    }

    /// Whether a value is of this type. No value at all is of every type.
    pub fn holds(&self, value: &Value) -> bool {
        let (scalar, width, is_array) = match value {
            Value::Block => return true,
            Value::Dictionary(_) | Value::List(_) => return false,
            Value::Bool(_) => (Scalar::Bool, 1, false),
            Value::UChar(_) => (Scalar::UChar, 1, false),
            Value::Int(_) => (Scalar::Int, 1, false),
            Value::UInt(_) => (Scalar::UInt, 1, false),
            Value::Int64(_) => (Scalar::Int64, 1, false),
            Value::UInt64(_) => (Scalar::UInt64, 1, false),
            Value::Half(_) => (Scalar::Half, 1, false),
            Value::Float(_) => (Scalar::Float, 1, false),
            Value::Double(_) => (Scalar::Double, 1, false),
            Value::String(_) => (Scalar::String, 1, false),
            Value::Token(_) => (Scalar::Token, 1, false),
            Value::Asset(_) => (Scalar::Asset, 1, false),
            Value::IntVec(values) => (Scalar::Int, values.len(), false),
            Value::HalfVec(values) => (Scalar::Half, values.len(), false),
            Value::FloatVec(values) => (Scalar::Float, values.len(), false),
            Value::DoubleVec(values) => (Scalar::Double, values.len(), false),
            Value::Array(array) => {
                let (scalar, width) = match array {
                    Array::Bool(_) => (Scalar::Bool, 1),
                    Array::UChar(_) => (Scalar::UChar, 1),
                    Array::Int(_, width) => (Scalar::Int, *width),
                    Array::UInt(_) => (Scalar::UInt, 1),
                    Array::Int64(_) => (Scalar::Int64, 1),
                    Array::UInt64(_) => (Scalar::UInt64, 1),
                    Array::Half(_, width) => (Scalar::Half, *width),
                    Array::Float(_, width) => (Scalar::Float, *width),
                    Array::Double(_, width) => (Scalar::Double, *width),
                    Array::String(_) => (Scalar::String, 1),
                    Array::Token(_) => (Scalar::Token, 1),
                    Array::Asset(_) => (Scalar::Asset, 1),
                };
                (scalar, width, true)
            }
        };
        (scalar, width, is_array) == (self.scalar, self.width(), self.is_array)
    }
}

fn scalar(name: &str) -> Option<Scalar> {
    Some(match name {
        "bool" => Scalar::Bool,
        "uchar" => Scalar::UChar,
        "int" => Scalar::Int,
        "uint" => Scalar::UInt,
        "int64" => Scalar::Int64,
        "uint64" => Scalar::UInt64,
        "half" => Scalar::Half,
        "float" => Scalar::Float,
        "double" | "timecode" => Scalar::Double,
        "string" => Scalar::String,
        "token" => Scalar::Token,
        "asset" => Scalar::Asset,
        _ => return None,
    })
}

fn tuple(name: &str) -> Option<(Scalar, Shape)> {
    // `int3`, `float2`: the name of a component and how many there are.
    let end = name.char_indices().next_back()?.0;
    if let (Some(scalar @ (Scalar::Int | Scalar::Half | Scalar::Float | Scalar::Double)), Ok(width)) =
        (scalar(&name[..end]), name[end..].parse())
        && name != "int64"
        && (2..=4).contains(&width)
    {
        return Some((scalar, Shape::Row(width)));
    }
    // `point3f`, `quatd`: a role and a letter for the component.
    let scalar = match &name[end..] {
        "h" => Scalar::Half,
        "f" => Scalar::Float,
        "d" => Scalar::Double,
        _ => return None,
    };
    let shape = match &name[..end] {
        "point3" | "vector3" | "normal3" | "color3" | "texCoord3" => Shape::Row(3),
        "color4" => Shape::Row(4),
        "texCoord2" => Shape::Row(2),
        "quat" => Shape::Quaternion,
        "matrix2" => Shape::Matrix(2),
        "matrix3" => Shape::Matrix(3),
        "matrix4" | "frame4" => Shape::Matrix(4),
        _ => return None,
    };
    (!matches!(shape, Shape::Matrix(_)) || scalar == Scalar::Double).then_some((scalar, shape))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_say_scalar_shape_role_and_whether_there_are_many() {
        let found = TypeName::parse("point3f[]").unwrap();
        let wanted = TypeName {
            scalar: Scalar::Float,
            shape: Shape::Row(3),
            is_array: true,
            role: Role::Point,
        };
        assert_eq!(found, wanted);
        assert_eq!(TypeName::parse("matrix4d").unwrap().width(), 16);
        assert_eq!(TypeName::parse("quath").unwrap().shape, Shape::Quaternion);
        assert_eq!(TypeName::parse("int64").unwrap().scalar, Scalar::Int64);
        assert_eq!(TypeName::parse("int4[]").unwrap().width(), 4);
        for name in ["", "[]", "int5", "float1", "matrix4f", "opaque", "é", "point3", "quat4f"] {
            assert_eq!(TypeName::parse(name), None, "{name}");
        }
    }

    #[test]
    fn a_value_is_of_the_type_that_it_is_given() {
        for value in [
            Value::Bool(true),
            Value::IntVec(vec![1, 2]),
            Value::DoubleVec(vec![0.0; 16]),
            Value::Array(Array::Half(vec![0.0; 6], 3)),
            Value::Array(Array::Int(vec![], 1)),
        ] {
            let name = TypeName::of(&value).unwrap();
            assert!(TypeName::parse(name).unwrap().holds(&value), "{name}");
        }
        assert!(!TypeName::parse("float").unwrap().holds(&Value::Double(0.0)));
        assert!(TypeName::parse("quatf").unwrap().holds(&Value::FloatVec(vec![0.0; 4])));
    }
}
