//! Metadata of a file or a grid: a count, then names, types and values with their lengths.

use crate::error::Result;
use crate::metadata::{Entry, Metadata};
use crate::read::cursor::Cursor;

/// Reads metadata. Types whose names begin with `__` only help OpenVDB to seek, and are left out.
pub(crate) fn read_metadata(cursor: &mut Cursor<'_>) -> Result<Metadata> {
    let count = cursor.u32("a count of metadata")?;
    let mut metadata = Metadata::new();
    for _ in 0..count {
        let name = cursor.string("a name of metadata")?;
        let kind = cursor.string("a type of metadata")?;
        let length = cursor.u32("a length of metadata")?;
        let bytes = cursor.take_long(u64::from(length), "a value of metadata")?;
        if kind.starts_with("__") {
            continue;
        }
        let entry = entry_of(&kind, bytes).ok_or_else(|| {
            let found = format!("the metadata `{name}` of type `{kind}` has {length} bytes");
            cursor.malformed_before(bytes.len(), found, "this type has another length")
        })?;
        metadata.insert(name, entry);
    }
    Ok(metadata)
}

/// A value of this type; none if it does not have the length of the type.
fn entry_of(kind: &str, bytes: &[u8]) -> Option<Entry> {
    Some(match kind {
        "bool" => Entry::Bool(<[u8; 1]>::try_from(bytes).ok()?[0] != 0),
        "int32" => Entry::Int32(i32::from_le_bytes(bytes.try_into().ok()?)),
        "int64" => Entry::Int64(i64::from_le_bytes(bytes.try_into().ok()?)),
        "float" => Entry::Float(f32::from_le_bytes(bytes.try_into().ok()?)),
        "double" => Entry::Double(f64::from_le_bytes(bytes.try_into().ok()?)),
        "string" => Entry::String(String::from_utf8_lossy(bytes).into_owned()),
        "vec2i" => Entry::Vec2i(components(bytes, i32::from_le_bytes)?),
        "vec2s" => Entry::Vec2s(components(bytes, f32::from_le_bytes)?),
        "vec2d" => Entry::Vec2d(components(bytes, f64::from_le_bytes)?),
        "vec3i" => Entry::Vec3i(components(bytes, i32::from_le_bytes)?),
        "vec3s" => Entry::Vec3s(components(bytes, f32::from_le_bytes)?),
        "vec3d" => Entry::Vec3d(components(bytes, f64::from_le_bytes)?),
        "vec4i" => Entry::Vec4i(components(bytes, i32::from_le_bytes)?),
        "vec4s" => Entry::Vec4s(components(bytes, f32::from_le_bytes)?),
        "vec4d" => Entry::Vec4d(components(bytes, f64::from_le_bytes)?),
        "mat4s" => Entry::Mat4s(components(bytes, f32::from_le_bytes)?),
        "mat4d" => Entry::Mat4d(components(bytes, f64::from_le_bytes)?),
        _ => Entry::Other { kind: kind.to_owned(), bytes: bytes.to_vec() },
    })
}

/// `N` components of `B` bytes each, and nothing more.
fn components<C, const N: usize, const B: usize>(
    bytes: &[u8],
    of: impl Fn([u8; B]) -> C,
) -> Option<[C; N]> {
    let (parts, rest) = bytes.as_chunks::<B>();
    let parts: &[[u8; B]; N] = parts.try_into().ok()?;
    rest.is_empty().then(|| parts.map(of))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::VdbError;

    fn put(bytes: &mut Vec<u8>, text: &[u8]) {
        bytes.extend((text.len() as u32).to_le_bytes());
        bytes.extend(text);
    }

    fn metadata(entries: &[(&str, &str, &[u8])]) -> Vec<u8> {
        let mut bytes = (entries.len() as u32).to_le_bytes().to_vec();
        for (name, kind, value) in entries {
            put(&mut bytes, name.as_bytes());
            put(&mut bytes, kind.as_bytes());
            put(&mut bytes, value);
        }
        bytes
    }

    #[test]
    fn known_types_are_values_and_others_are_kept_as_bytes() {
        let bytes = metadata(&[
            ("a", "vec3i", bytemuck::bytes_of(&[1i32.to_le(), (-2i32).to_le(), 3i32.to_le()])),
            ("b", "string", b"fog volume"),
            ("c", "half", &[1, 2]),
            ("d", "__delayedload", &[1, 2, 3]),
            ("e", "bool", &[1]),
        ]);
        let mut cursor = Cursor::new(&bytes, 0);
        let read = read_metadata(&mut cursor).unwrap();
        assert_eq!(cursor.left(), 0);
        assert_eq!(read.len(), 4);
        assert_eq!(read["a"], Entry::Vec3i([1, -2, 3]));
        assert_eq!(read["b"], Entry::String("fog volume".into()));
        assert_eq!(read["c"], Entry::Other { kind: "half".into(), bytes: vec![1, 2] });
        assert_eq!(read["e"], Entry::Bool(true));
    }

    #[test]
    fn a_value_of_the_wrong_length_is_named() {
        let bytes = metadata(&[("size", "vec3d", &[0; 23])]);
        let error = read_metadata(&mut Cursor::new(&bytes, 1000)).unwrap_err();
        assert!(matches!(error, VdbError::Malformed { offset: 1025, .. }), "{error}");
        assert!(error.to_string().contains("`size` of type `vec3d` has 23 bytes"), "{error}");
    }
}
