//! What a file says of the attributes of points: their types, names and groups (`points/AttributeSet.cc` of OpenVDB).

use crate::error::{Result, VdbError};
use crate::metadata::{Entry, Metadata};
use crate::read::cursor::Cursor;
use crate::read::metadata::read_metadata;
use crate::write::{put_metadata, raw_metadata};
use std::collections::BTreeMap;

/// How the metadata begin that are the texts of string attributes.
const TEXT: &str = "string:";
/// What the codecs are called that have a type of their own.
pub(super) const GROUP_CODEC: &str = "grp";
pub(super) const TEXT_CODEC: &str = "str";

/// The attributes of a leaf, or of all.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Descriptor {
    /// Name, type and codec of each array.
    pub arrays: Vec<ArrayType>,
    /// Where the bit of each group is: `offset / 8` is its array among those of groups, `offset % 8` the bit.
    pub groups: BTreeMap<String, u64>,
    /// Metadata but the texts.
    pub metadata: Metadata,
    /// The texts by number; a string attribute has 0 for the empty one and `number + 1` for these.
    pub texts: BTreeMap<u32, String>,
}

/// What an array holds.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct ArrayType {
    pub name: String,
    pub value: String,
    pub codec: String,
}

impl Descriptor {
    /// Appends it as a file has it.
    pub fn put(&self, bytes: &mut Vec<u8>) -> Result<()> {
        put_count(self.arrays.len(), bytes);
        for array in &self.arrays {
            put_text(&array.value, bytes);
            put_text(&array.codec, bytes);
        }
        let by_name: BTreeMap<&str, usize> =
            self.arrays.iter().enumerate().map(|(at, array)| (array.name.as_str(), at)).collect();
        for (name, at) in by_name {
            put_text(name, bytes);
            put_count(at, bytes);
        }
        put_count(self.groups.len(), bytes);
        for (name, &offset) in &self.groups {
            put_text(name, bytes);
            bytes.extend(offset.to_le_bytes());
        }
        let mut metadata = self.metadata.clone();
        for (number, text) in &self.texts {
            metadata.insert(format!("{TEXT}{number}"), Entry::String(text.clone()));
        }
        let metadata = raw_metadata(&metadata)
            .map_err(|(found, wanted)| VdbError::Points { found, wanted: wanted.to_owned() })?;
        put_metadata(&metadata, bytes);
        Ok(())
    }

    /// Reads one.
    pub fn read(cursor: &mut Cursor<'_>) -> Result<Self> {
        let mut arrays = Vec::new();
        let count = cursor.u64("the number of attributes")?;
        // The cursor ends this early if the file does not have as many.
        for _ in 0..count {
            let value = cursor.string("the type of an attribute")?;
            let codec = cursor.string("the codec of an attribute")?;
            arrays.push(ArrayType { name: String::new(), value, codec });
        }
        for _ in 0..count {
            let offset = cursor.offset();
            let name = cursor.string("the name of an attribute")?;
            let at = cursor.u64("the index of an attribute")?;
            let array = usize::try_from(at).ok().and_then(|at| arrays.get_mut(at));
            let Some(array) = array.filter(|array| array.name.is_empty() && !name.is_empty())
            else {
                return Err(VdbError::Malformed {
                    offset,
                    found: format!("the attribute `{name}` has index {at}"),
                    wanted: format!("{count} attributes have a name and an index each"),
                });
            };
            array.name = name;
        }
        let mut groups = BTreeMap::new();
        for _ in 0..cursor.u64("the number of groups")? {
            let name = cursor.string("the name of a group")?;
            groups.insert(name, cursor.u64("the offset of a group")?);
        }
        let (mut metadata, mut texts) = (Metadata::new(), BTreeMap::new());
        for (name, entry) in read_metadata(cursor)? {
            let number = name.strip_prefix(TEXT).and_then(|number| number.parse().ok());
            match (number, entry) {
                (Some(number), Entry::String(text)) => drop(texts.insert(number, text)),
                (_, entry) => drop(metadata.insert(name, entry)),
            }
        }
        Ok(Self { arrays, groups, metadata, texts })
    }
}

fn put_count(count: usize, bytes: &mut Vec<u8>) {
    bytes.extend((count as u64).to_le_bytes());
}

fn put_text(text: &str, bytes: &mut Vec<u8>) {
    bytes.extend((text.len() as u32).to_le_bytes());
    bytes.extend(text.as_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    fn descriptor() -> Descriptor {
        let array = |name: &str, value: &str, codec: &str| ArrayType {
            name: name.into(),
            value: value.into(),
            codec: codec.into(),
        };
        Descriptor {
            arrays: vec![
                array("P", "vec3s", "fxpt16"),
                array("id", "int32", "null"),
                array("__group", "uint8", GROUP_CODEC),
                array("Cd", "vec3s", "trnc"),
            ],
            groups: BTreeMap::from([("wet".into(), 0), ("dry".into(), 3)]),
            metadata: Metadata::from([("default:id".into(), Entry::Int32(-1))]),
            texts: BTreeMap::from([(0, "a".into()), (11, "b".into())]),
        }
    }

    #[test]
    fn a_descriptor_returns() {
        let mut bytes = Vec::new();
        descriptor().put(&mut bytes).unwrap();
        let mut cursor = Cursor::new(&bytes, 0);
        assert_eq!(Descriptor::read(&mut cursor).unwrap(), descriptor());
        assert_eq!(cursor.left(), 0);
        for cut in 0..bytes.len() {
            assert!(Descriptor::read(&mut Cursor::new(&bytes[..cut], 0)).is_err());
        }
    }

    #[test]
    fn an_attribute_without_a_name_or_with_two_is_refused() {
        let mut bytes = Vec::new();
        descriptor().put(&mut bytes).unwrap();
        let at = bytes.windows(2).position(|two| two == b"Cd").unwrap() + 2;
        for index in [0, 4, u64::MAX] {
            bytes[at..at + 8].copy_from_slice(&index.to_le_bytes());
            let error = Descriptor::read(&mut Cursor::new(&bytes, 0)).unwrap_err();
            assert!(matches!(error, VdbError::Malformed { .. }), "{error}");
        }
    }
}
