//! Metadata: what stands in parentheses behind a layer's first line, a prim or a property.

use super::cursor::Cursor;
use super::field_of_word;
use crate::error::Result;
use crate::usd::layer::{Array, Fields, ListItem, ListOp, Value};
use crate::usd::type_name::{Scalar, TypeName};

/// What the entries of a list that can be edited are.
#[derive(Clone, Copy)]
enum Item {
    Word,
    Path,
    Reference,
}

/// The types of the fields that scene description defines. A text does not say them.
pub(in crate::usd) fn type_of_field(field: &str) -> Option<TypeName> {
    TypeName::parse(match field {
        "defaultPrim"
        | "upAxis"
        | "kind"
        | "interpolation"
        | "colorSpace"
        | "playbackMode"
        | "connectability"
        | "bindMaterialAs"
        | "renderType"
        | "colorManagementSystem"
        | "outputName"
        | "permission"
        | "prefix"
        | "suffix" => "token",
        "metersPerUnit" | "timeCodesPerSecond" | "framesPerSecond" | "startTimeCode"
        | "endTimeCode" | "kilogramsPerUnit" => "double",
        "elementSize" | "unauthoredValuesIndex" | "framePrecision" => "int",
        "arraySizeConstraint" => "int64",
        "active" | "hidden" | "instanceable" | "autoPlay" | "noLoadHint" | "hasOwnedSubLayers" => {
            "bool"
        }
        "documentation" | "comment" | "displayName" | "displayGroup" | "owner" | "sessionOwner" => {
            "string"
        }
        "colorConfiguration" => "asset",
        "allowedTokens" => "token[]",
        _ => return None,
    })
}

fn item_of_field(field: &str) -> Option<Item> {
    Some(match field {
        "apiSchemas" | "variantSetNames" | "clipSets" => Item::Word,
        "inheritPaths" | "specializes" => Item::Path,
        "references" | "payload" => Item::Reference,
        _ => return None,
    })
}

/// How a statement edits a list.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Edit {
    Replace,
    Prepend,
    Append,
    Delete,
    Reorder,
}

impl Cursor<'_> {
    /// The word before a list that says how it is edited; lists without one are replaced.
    pub(super) fn edit(&mut self) -> Edit {
        for (word, edit) in [
            ("prepend", Edit::Prepend),
            ("append", Edit::Append),
            ("add", Edit::Append),
            ("delete", Edit::Delete),
            ("reorder", Edit::Reorder),
        ] {
            if self.eat_word(word) {
                return edit;
            }
        }
        Edit::Replace
    }

    /// Metadata in parentheses, if any stands here, put into `fields`.
    pub(super) fn metadata(
        &mut self,
        fields: &mut Fields,
        passed_over: &mut Vec<String>,
    ) -> Result<()> {
        if !self.eat(b'(') {
            return Ok(());
        }
        while !self.eat(b')') {
            if self.is_at_string() {
                let comment = self.string()?;
                fields.insert("comment".to_owned(), Value::String(comment));
                continue;
            }
            let edit = self.edit();
            let word = self.word_with(b":").into_owned();
            if word.is_empty() {
                return Err(self.unexpected("expected the name of a field, or `)`"));
            }
            self.expect(b'=', "behind the name of a field")?;
            let field = field_of_word(&word);
            if let Some(item) = item_of_field(field) {
                let items = self.items(item)?;
                let list = fields
                    .entry(field.to_owned())
                    .or_insert_with(|| Value::List(ListOp::default()));
                if let Value::List(list) = list {
                    put(list, edit, items);
                }
            } else if let Some(of) = type_of_field(field) {
                let value = if of.is_array || self.is_at_string() {
                    self.value(of)?
                } else {
                    self.typed_word(of)?
                };
                fields.insert(field.to_owned(), value);
            } else if field == "subLayers" {
                self.sublayers(fields)?;
            } else if let Some(value) = self.untyped(passed_over)? {
                fields.insert(field.to_owned(), value);
            } else {
                passed_over.push(format!("line {}: the field `{word}`", self.line()));
            }
        }
        Ok(())
    }

    /// A value of a field that is no string: a number, a truth, or a bare word such as `private`.
    fn typed_word(&mut self, of: TypeName) -> Result<Value> {
        let is_bare = self.peek().is_some_and(|byte| byte.is_ascii_alphabetic());
        if is_bare && of.scalar == Scalar::Token {
            let word = self.word("expected a word")?;
            return Ok(if word == "None" { Value::Block } else { Value::Token(word.into_owned()) });
        }
        self.value(of)
    }

    /// A value whose type nothing says; `None`, and passed, if it cannot be guessed.
    fn untyped(&mut self, passed_over: &mut Vec<String>) -> Result<Option<Value>> {
        Ok(Some(match self.peek() {
            Some(b'"' | b'\'') => Value::String(self.string()?),
            Some(b'@') => Value::Asset(self.asset()?),
            Some(b'{') if self.is_at_typed_dictionary() => {
                Value::Dictionary(self.dictionary(passed_over)?)
            }
            Some(byte) if byte.is_ascii_digit() || byte == b'-' || byte == b'+' => {
                let text = self.number()?;
                match text.parse() {
                    Ok(whole) => Value::Int(whole),
                    Err(_) => Value::Double(text.parse().map_err(|_| {
                        self.refused(format!("`{text}` is no number"), "expected a value")
                    })?),
                }
            }
            Some(byte) if byte.is_ascii_alphabetic() => {
                match self.word("expected a value")?.as_ref() {
                    "true" => Value::Bool(true),
                    "false" => Value::Bool(false),
                    "None" => Value::Block,
                    word => Value::Token(word.to_owned()),
                }
            }
            _ => {
                self.skip_value()?;
                return Ok(None);
            }
        }))
    }

    /// Whether a dictionary stands here, and no map of paths or times.
    fn is_at_typed_dictionary(&mut self) -> bool {
        self.ahead(|text| {
            text.eat(b'{')
                && matches!(text.peek(), Some(byte) if byte == b'}' || byte.is_ascii_alphabetic())
        })
    }

    fn sublayers(&mut self, fields: &mut Fields) -> Result<()> {
        let (mut files, mut offsets) = (Vec::new(), Vec::new());
        self.expect(b'[', "before the sublayers")?;
        self.list(b']', "behind the sublayers", |text| {
            files.push(text.asset()?);
            offsets.extend(text.times()?);
            Ok(())
        })?;
        if offsets.chunks_exact(2).any(|pair| pair != [0.0, 1.0]) {
            let offsets = Value::Array(Array::Double(offsets, 2));
            fields.insert("subLayerOffsets".to_owned(), offsets);
        }
        fields.insert("subLayers".to_owned(), Value::Array(Array::Asset(files)));
        Ok(())
    }

    /// `(offset = 10; scale = 2)` behind a file: how its times are shifted.
    fn times(&mut self) -> Result<[f64; 2]> {
        let mut times = [0.0, 1.0];
        if !self.eat(b'(') {
            return Ok(times);
        }
        while !self.eat(b')') {
            let word = self.word("expected `offset`, `scale` or `)`")?;
            self.expect(b'=', "behind it")?;
            match word.as_ref() {
                "offset" => times[0] = self.parsed()?,
                "scale" => times[1] = self.parsed()?,
                _ => self.skip_value()?,
            }
            self.eat(b',');
        }
        Ok(times)
    }

    /// The entries of a list: none, one, or several in brackets.
    fn items(&mut self, item: Item) -> Result<Vec<ListItem>> {
        let mut items = Vec::new();
        if self.eat_word("None") {
        } else if self.eat(b'[') {
            self.list(b']', "behind a list", |text| {
                items.push(text.item(item)?);
                Ok(())
            })?;
        } else {
            items.push(self.item(item)?);
        }
        Ok(items)
    }

    fn item(&mut self, item: Item) -> Result<ListItem> {
        Ok(match item {
            Item::Word => ListItem::Word(self.string()?),
            Item::Path => ListItem::Path(self.path()?),
            Item::Reference => {
                let asset = if self.peek() == Some(b'@') { self.asset()? } else { String::new() };
                let has_prim = asset.is_empty() || self.peek() == Some(b'<');
                let prim = if has_prim { self.path()? } else { String::new() };
                let [offset, scale] = self.times()?;
                ListItem::Reference { asset, prim, offset, scale }
            }
        })
    }

    /// Paths of a relationship or connection: none, one, or several in brackets.
    pub(super) fn targets(&mut self) -> Result<Vec<String>> {
        let items = self.items(Item::Path)?;
        let path = |item| match item {
            ListItem::Path(path) => Some(path),
            _ => None,
        };
        Ok(items.into_iter().filter_map(path).collect())
    }
}

/// Edits a list as a statement says.
fn put(list: &mut ListOp, edit: Edit, items: Vec<ListItem>) {
    match edit {
        Edit::Replace => list.explicit = Some(items),
        Edit::Prepend => list.prepended = items,
        Edit::Append => list.appended.extend(items),
        Edit::Delete => list.deleted = items,
        // What is listed does not change, and no list here depends on its order.
        Edit::Reorder => {}
    }
}
