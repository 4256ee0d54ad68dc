//! Metadata: fields whose types the format fixes by their names, and lists that edit others.

use super::super::kind::{Kind, Rep};
use super::super::list;
use super::{FieldList, Writer, counted, mismatch};
use crate::error::Result;
use crate::usd::layer::{Array, Fields, ListItem, ListOp, Value};
use crate::usd::text::type_of_field;

/// The kind that a field must have, where that does not follow from its value.
fn kind_of_field(name: &str) -> Option<Kind> {
    Some(match name {
        "apiSchemas" => Kind::TokenList,
        "variantSetNames" | "clipSets" => Kind::StringList,
        "inheritPaths" | "specializes" | "connectionPaths" => Kind::PathList,
        "references" => Kind::ReferenceList,
        "payload" => Kind::PayloadList,
        "subLayers" => Kind::StringVector,
        "subLayerOffsets" => Kind::LayerOffsets,
        "primOrder" | "propertyOrder" => Kind::TokenVector,
        "variantSelection" => Kind::VariantSelection,
        "permission" => Kind::Permission,
        _ => return type_of_field(name).and_then(Kind::of_elements),
    })
}

/// The kind of a list of which only the items are known.
pub fn kind_of_list(edit: &ListOp) -> Kind {
    let items = edit.explicit.iter().flatten();
    let mut items = items.chain(&edit.prepended).chain(&edit.appended).chain(&edit.deleted);
    match items.next() {
        Some(ListItem::Path(_)) => Kind::PathList,
        Some(ListItem::Reference { .. }) => Kind::ReferenceList,
        Some(ListItem::Word(_)) | None => Kind::TokenList,
    }
}

impl<'a> Writer<'a> {
    /// Adds metadata to the fields of a spec.
    pub fn metadata(
        &mut self,
        fields: &mut FieldList,
        metadata: &'a Fields,
        what: &str,
    ) -> Result<()> {
        for (name, value) in metadata {
            let rep = self.metadatum(name, value, &format!("{name} of {what}"))?;
            self.field(fields, name, rep);
        }
        Ok(())
    }

    fn metadatum(&mut self, name: &str, value: &'a Value, what: &str) -> Result<Rep> {
        let Some(kind) = kind_of_field(name) else { return self.value(value, None, what) };
        Ok(match (kind, value) {
            // A text does not say whether `1` is whole, or whether a word is a token.
            (Kind::Double, Value::Int(number)) => self.double(f64::from(*number)),
            (Kind::Double, Value::Float(number)) => self.double(f64::from(*number)),
            (Kind::Token | Kind::Asset, Value::String(text) | Value::Token(text)) => {
                Rep::inlined(kind, self.tables.token(text))
            }
            (Kind::String, Value::Token(text)) => Rep::inlined(kind, self.tables.string(text)),
            (Kind::Permission, Value::Token(word) | Value::String(word)) => {
                Rep::inlined(kind, u32::from(word == "private"))
            }
            (Kind::StringVector, Value::Array(Array::Asset(texts) | Array::String(texts))) => {
                let texts: Vec<u32> = texts.iter().map(|text| self.tables.string(text)).collect();
                self.store(kind, counted(&texts))
            }
            (Kind::TokenVector, Value::Array(Array::Token(words) | Array::String(words))) => {
                let words: Vec<u32> = words.iter().map(|word| self.tables.token(word)).collect();
                self.store(kind, counted(&words))
            }
            (Kind::LayerOffsets, Value::Array(Array::Double(numbers, 2))) => {
                let mut block = (numbers.len() as u64 / 2).to_le_bytes().to_vec();
                block.extend_from_slice(bytemuck::cast_slice(numbers));
                self.store(kind, block)
            }
            (Kind::VariantSelection, Value::Dictionary(entries)) => {
                let mut block = (entries.len() as u64).to_le_bytes().to_vec();
                for (set, variant) in entries {
                    let (Value::String(variant) | Value::Token(variant)) = variant else {
                        return Err(mismatch(variant, Kind::String, what));
                    };
                    block.extend(self.tables.string(set).to_le_bytes());
                    block.extend(self.tables.string(variant).to_le_bytes());
                }
                self.store(kind, block)
            }
            _ => self.value(value, Some(kind), what)?,
        })
    }

    /// The offsets of layers whose times are not shifted.
    pub fn unshifted_layers(&mut self, layers: &Value) -> Result<Rep> {
        let Value::Array(Array::Asset(layers) | Array::String(layers)) = layers else {
            return Err(mismatch(layers, Kind::StringVector, "subLayers"));
        };
        let mut block = (layers.len() as u64).to_le_bytes().to_vec();
        for _ in layers {
            block.extend(0_f64.to_le_bytes());
            block.extend(1_f64.to_le_bytes());
        }
        Ok(self.store(Kind::LayerOffsets, block))
    }

    /// The targets of a relationship, which replace what others say.
    pub fn targets(&mut self, targets: &'a [String], what: &str) -> Result<Rep> {
        let paths = targets.iter().map(|target| self.tables.path(target, what));
        let mut block = vec![list::IS_EXPLICIT | list::EXPLICIT];
        block.extend(counted(&paths.collect::<Result<Vec<_>>>()?));
        Ok(self.store(Kind::PathList, block))
    }

    /// An edit of a list.
    pub fn list(&mut self, edit: &'a ListOp, kind: Kind, what: &str) -> Result<Rep> {
        let mut block = vec![0];
        if let Some(items) = &edit.explicit {
            block[0] |= list::IS_EXPLICIT;
            self.items(&mut block, list::EXPLICIT, items, kind, what)?;
        } else {
            self.items(&mut block, list::PREPENDED, &edit.prepended, kind, what)?;
            self.items(&mut block, list::APPENDED, &edit.appended, kind, what)?;
            self.items(&mut block, list::DELETED, &edit.deleted, kind, what)?;
        }
        Ok(self.store(kind, block))
    }

    fn items(
        &mut self,
        block: &mut Vec<u8>,
        bit: u8,
        items: &'a [ListItem],
        kind: Kind,
        what: &str,
    ) -> Result<()> {
        if items.is_empty() {
            return Ok(());
        }
        block[0] |= bit;
        block.extend((items.len() as u64).to_le_bytes());
        for item in items {
            match (item, kind) {
                (ListItem::Word(word), Kind::TokenList) => {
                    block.extend(self.tables.token(word).to_le_bytes());
                }
                (ListItem::Word(word), Kind::StringList) => {
                    block.extend(self.tables.string(word).to_le_bytes());
                }
                (ListItem::Path(path), Kind::PathList) => {
                    block.extend(self.tables.path(path, what)?.to_le_bytes());
                }
                (
                    ListItem::Reference { asset, prim, offset, scale },
                    Kind::ReferenceList | Kind::PayloadList,
                ) => {
                    block.extend(self.tables.string(asset).to_le_bytes());
                    block.extend(self.tables.path_or_none(prim, what)?.to_le_bytes());
                    block.extend(offset.to_le_bytes());
                    block.extend(scale.to_le_bytes());
                    // A reference can carry a dictionary, a payload can not.
                    if kind == Kind::ReferenceList {
                        block.extend(0_u64.to_le_bytes());
                    }
                }
                _ => {
                    let only = ListOp { explicit: Some(vec![item.clone()]), ..ListOp::default() };
                    return Err(mismatch(&Value::List(only), kind, what));
                }
            }
        }
        Ok(())
    }
}
