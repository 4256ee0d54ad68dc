//! Metadata: typed values by name, in the order of their names.

use std::collections::BTreeMap;

/// Metadata by name.
pub type Metadata = BTreeMap<String, Entry>;

/// A value of metadata.
#[derive(Debug, Clone, PartialEq)]
pub enum Entry {
    /// `bool`.
    Bool(bool),
    /// `int32`.
    Int32(i32),
    /// `int64`.
    Int64(i64),
    /// `float`.
    Float(f32),
    /// `double`.
    Double(f64),
    /// `string`.
    String(String),
    /// `vec2i`.
    Vec2i([i32; 2]),
    /// `vec2s`.
    Vec2s([f32; 2]),
    /// `vec2d`.
    Vec2d([f64; 2]),
    /// `vec3i`.
    Vec3i([i32; 3]),
    /// `vec3s`.
    Vec3s([f32; 3]),
    /// `vec3d`.
    Vec3d([f64; 3]),
    /// `vec4i`.
    Vec4i([i32; 4]),
    /// `vec4s`.
    Vec4s([f32; 4]),
    /// `vec4d`.
    Vec4d([f64; 4]),
    /// `mat4s`, rows one after another.
    Mat4s([f32; 16]),
    /// `mat4d`, rows one after another.
    Mat4d([f64; 16]),
    /// Of a type that is not known here: kept as it is.
    Other {
        /// The type's name.
        kind: String,
        /// The bytes of the value.
        bytes: Vec<u8>,
    },
}
