//! Metadata as a file holds it: name, name of the type, length and bytes of each entry, in the order of the names.

use crate::metadata::{Entry, Metadata};
use crate::write::bytes::{put_string, put_u32};
use std::collections::BTreeMap;

/// Values of metadata in the form of a file, by name.
pub type RawMetadata = BTreeMap<String, RawEntry>;

/// A value of metadata in the form of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RawEntry {
    /// The name of its type.
    pub kind: String,
    /// The bytes of the value.
    pub bytes: Vec<u8>,
}

/// The longest name, word or value of metadata that is written [bytes].
pub(super) const LONGEST: usize = 1 << 30;

fn flat<const N: usize, const B: usize, T: Copy>(
    numbers: &[T; N],
    of: fn(T) -> [u8; B],
) -> Vec<u8> {
    numbers.iter().flat_map(|&number| of(number)).collect()
}

impl RawEntry {
    /// Of a value.
    pub fn of(entry: &Entry) -> Self {
        let (ints, floats, doubles) = (i32::to_le_bytes, f32::to_le_bytes, f64::to_le_bytes);
        let (kind, bytes) = match entry {
            Entry::Bool(value) => ("bool", vec![u8::from(*value)]),
            Entry::Int32(value) => ("int32", ints(*value).to_vec()),
            Entry::Int64(value) => ("int64", value.to_le_bytes().to_vec()),
            Entry::Float(value) => ("float", floats(*value).to_vec()),
            Entry::Double(value) => ("double", doubles(*value).to_vec()),
            Entry::String(value) => ("string", value.as_bytes().to_vec()),
            Entry::Vec2i(value) => ("vec2i", flat(value, ints)),
            Entry::Vec2s(value) => ("vec2s", flat(value, floats)),
            Entry::Vec2d(value) => ("vec2d", flat(value, doubles)),
            Entry::Vec3i(value) => ("vec3i", flat(value, ints)),
            Entry::Vec3s(value) => ("vec3s", flat(value, floats)),
            Entry::Vec3d(value) => ("vec3d", flat(value, doubles)),
            Entry::Vec4i(value) => ("vec4i", flat(value, ints)),
            Entry::Vec4s(value) => ("vec4s", flat(value, floats)),
            Entry::Vec4d(value) => ("vec4d", flat(value, doubles)),
            Entry::Mat4s(value) => ("mat4s", flat(value, floats)),
            Entry::Mat4d(value) => ("mat4d", flat(value, doubles)),
            Entry::Other { kind, bytes } => (kind.as_str(), bytes.clone()),
        };
        Self { kind: kind.to_owned(), bytes }
    }
}

/// Metadata in the form of a file, without what only speeds up another program's reading of the file that it came from.
/// Says what is wrong with an entry that cannot be written, and what would be right.
pub fn raw(metadata: &Metadata) -> Result<RawMetadata, (String, &'static str)> {
    let mut all = RawMetadata::new();
    for (name, entry) in metadata {
        if name.is_empty() {
            return Err(("an entry of its metadata has no name".to_owned(), "every entry has one"));
        }
        let raw = RawEntry::of(entry);
        if [name.len(), raw.kind.len(), raw.bytes.len()].iter().any(|&length| length > LONGEST) {
            let start: String = name.chars().take(40).collect();
            return Err((format!("the metadata `{start}` is too long"), "at most 1 GiB"));
        }
        if !raw.kind.starts_with("__") {
            all.insert(name.clone(), raw);
        }
    }
    Ok(all)
}

/// Appends metadata.
pub fn put_metadata(metadata: &RawMetadata, bytes: &mut Vec<u8>) {
    put_u32(metadata.len() as u32, bytes);
    for (name, entry) in metadata {
        put_string(name, bytes);
        put_string(&entry.kind, bytes);
        put_u32(entry.bytes.len() as u32, bytes);
        bytes.extend_from_slice(&entry.bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_is_its_name_type_length_and_bytes() {
        let entries = [
            ("b".to_owned(), Entry::Vec2i([1, -1])),
            ("a".to_owned(), Entry::String("hé".to_owned())),
        ];
        let mut bytes = Vec::new();
        put_metadata(&raw(&Metadata::from(entries)).unwrap(), &mut bytes);
        let wanted = [
            &b"\x02\0\0\0\x01\0\0\0a\x06\0\0\0string\x03\0\0\0h\xc3\xa9"[..],
            b"\x01\0\0\0b\x05\0\0\0vec2i\x08\0\0\0\x01\0\0\0\xff\xff\xff\xff",
        ];
        assert_eq!(bytes, wanted.concat());
    }

    #[test]
    fn what_is_another_programs_own_is_left_out() {
        let other = |kind: &str| Entry::Other { kind: kind.to_owned(), bytes: vec![1, 2] };
        let entries = [
            ("file_delayed_load".to_owned(), other("__delayedload")),
            ("kept".to_owned(), other("quatd")),
        ];
        let raw = raw(&Metadata::from(entries)).unwrap();
        assert_eq!(raw.keys().collect::<Vec<_>>(), ["kept"]);
        assert!(super::raw(&Metadata::from([(String::new(), Entry::Bool(true))])).is_err());
    }
}
