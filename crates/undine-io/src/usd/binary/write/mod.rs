//! Writing a crate: the values as they come, then the sections, the table of contents and the header.
//!
//! The bytes follow from the layer alone. Large arrays are copied once, from the layer into the file's bytes.

mod arrays;
mod metadata;
mod paths;
mod sections;
mod tables;
mod values;

pub(super) use self::values::DEEPEST_DICTIONARY;

use self::tables::Tables;
use super::kind::{Kind, Rep};
use super::{HEADER, spec};
use crate::error::{IoError, Result};
use crate::usd::layer::{Attribute, Layer, Prim, Relationship, Specifier, Value};

/// The bytes of a `.usdc` file that holds this layer.
pub fn encode(layer: &Layer) -> Result<Vec<u8>> {
    let mut writer = Writer { out: Vec::new(), tables: Tables::default(), version: [0, 8, 0] };
    writer.out.reserve(HEADER + tables::bytes_of_arrays(layer));
    writer.out.resize(HEADER, 0);
    // No property may have the first word, as its path is told apart from a prim's by a minus sign.
    writer.tables.token(";-)");
    let root = writer.tables.paths.root();
    writer.layer(root, layer)?;
    for prim in &layer.prims {
        writer.prim(root, prim, 1)?;
    }
    writer.finish()
}

/// The deepest prim that is written or read: deeper ones are a mistake, and would exhaust the stack of whoever walks them.
pub(super) const DEEPEST: usize = 256;

/// A crate while it is written.
struct Writer<'a> {
    /// The header, and the values so far.
    out: Vec<u8>,
    tables: Tables<'a>,
    version: [u8; 3],
}

/// The fields of one spec.
type FieldList = Vec<u32>;

impl<'a> Writer<'a> {
    fn layer(&mut self, root: u32, layer: &'a Layer) -> Result<()> {
        let mut fields = FieldList::new();
        self.metadata(&mut fields, &layer.fields, "the layer")?;
        if layer.fields.contains_key("subLayers") && !layer.fields.contains_key("subLayerOffsets") {
            let offsets = self.unshifted_layers(&layer.fields["subLayers"])?;
            self.field(&mut fields, "subLayerOffsets", offsets);
        }
        let names = layer.prims.iter().map(|prim| prim.name.as_str());
        self.children(&mut fields, "primChildren", names, "the layer")?;
        self.tables.add_spec(root, spec::LAYER, &fields);
        Ok(())
    }

    fn prim(&mut self, parent: u32, prim: &'a Prim, depth: usize) -> Result<()> {
        let name = identifier(&prim.name, "prim")?;
        if depth > DEEPEST {
            return Err(unwritable(
                format!("prim `{name}`"),
                format!("it is below {DEEPEST} others"),
                "prims are nested less",
            ));
        }
        let path = self.tables.child(parent, name);
        let mut fields = FieldList::new();
        let specifier = match prim.specifier {
            Specifier::Def => 0,
            Specifier::Over => 1,
            Specifier::Class => 2,
        };
        self.field(&mut fields, "specifier", Rep::inlined(Kind::Specifier, specifier));
        if !prim.type_name.is_empty() {
            let type_name = self.tables.token(&prim.type_name);
            self.field(&mut fields, "typeName", Rep::inlined(Kind::Token, type_name));
        }
        self.metadata(&mut fields, &prim.fields, &prim.name)?;
        let attributes = prim.attributes.iter().map(|attribute| attribute.name.as_str());
        let relationships = prim.relationships.iter().map(|relation| relation.name.as_str());
        self.children(&mut fields, "properties", attributes.chain(relationships), name)?;
        let names = prim.children.iter().map(|child| child.name.as_str());
        self.children(&mut fields, "primChildren", names, name)?;
        self.tables.add_spec(path, spec::PRIM, &fields);

        for attribute in &prim.attributes {
            self.attribute(path, attribute)?;
        }
        for relationship in &prim.relationships {
            self.relationship(path, relationship)?;
        }
        for child in &prim.children {
            self.prim(path, child, depth + 1)?;
        }
        Ok(())
    }

    fn attribute(&mut self, prim: u32, attribute: &'a Attribute) -> Result<()> {
        let name = property(&attribute.name)?;
        let path = self.tables.property(prim, name);
        let mut fields = FieldList::new();
        let type_name = self.tables.token(&attribute.type_name);
        self.field(&mut fields, "typeName", Rep::inlined(Kind::Token, type_name));
        self.field(&mut fields, "custom", Rep::inlined(Kind::Bool, attribute.custom.into()));
        let variability = Rep::inlined(Kind::Variability, attribute.uniform.into());
        self.field(&mut fields, "variability", variability);
        self.metadata(&mut fields, &attribute.fields, name)?;

        let kind = Kind::of_type(&attribute.type_name);
        if let Some(value) = &attribute.default {
            let rep = self.value(value, kind, name)?;
            self.field(&mut fields, "default", rep);
        }
        if !attribute.samples.is_empty() {
            let rep = self.time_samples(&attribute.samples, kind, name)?;
            self.field(&mut fields, "timeSamples", rep);
        }
        self.tables.add_spec(path, spec::ATTRIBUTE, &fields);
        Ok(())
    }

    fn relationship(&mut self, prim: u32, relationship: &'a Relationship) -> Result<()> {
        let name = property(&relationship.name)?;
        let path = self.tables.property(prim, name);
        let mut fields = FieldList::new();
        self.field(&mut fields, "custom", Rep::inlined(Kind::Bool, 0));
        self.field(&mut fields, "variability", Rep::inlined(Kind::Variability, 1));
        if !relationship.targets.is_empty() {
            let targets = self.targets(&relationship.targets, name)?;
            self.field(&mut fields, "targetPaths", targets);
        }
        self.tables.add_spec(path, spec::RELATIONSHIP, &fields);
        Ok(())
    }

    /// Adds a field to a list.
    fn field(&mut self, fields: &mut FieldList, name: &'a str, rep: Rep) {
        let name = self.tables.token(name);
        fields.push(self.tables.field(name, rep));
    }

    /// The names of what stands below, if there is any. No two may be equal.
    fn children(
        &mut self,
        fields: &mut FieldList,
        field: &'static str,
        names: impl Iterator<Item = &'a str>,
        what: &str,
    ) -> Result<()> {
        let names: Vec<u32> = names.map(|name| self.tables.token(name)).collect();
        if names.is_empty() {
            return Ok(());
        }
        let mut sorted = names.clone();
        sorted.sort_unstable();
        if let Some(twice) = sorted.windows(2).find(|pair| pair[0] == pair[1]) {
            return Err(unwritable(
                format!("`{}` below {what}", self.tables.word(twice[0])),
                "there are two of this name".into(),
                "names differ",
            ));
        }
        let rep = self.tables.store(&mut self.out, Kind::TokenVector, counted(&names));
        self.field(fields, field, rep);
        Ok(())
    }
}

/// A list of indices with their number before it.
fn counted(indices: &[u32]) -> Vec<u8> {
    let mut block = (indices.len() as u64).to_le_bytes().to_vec();
    block.extend_from_slice(bytemuck::cast_slice(indices));
    block
}

fn unwritable(what: String, found: String, wanted: &str) -> IoError {
    IoError::Unwritable { what, found, wanted: wanted.into() }
}

/// A prim's name: a letter or underscore, then those and digits.
fn identifier<'n>(name: &'n str, what: &str) -> Result<&'n str> {
    let mut letters = name.chars();
    let first = letters.next().is_some_and(|c| c.is_alphabetic() || c == '_');
    if first && letters.all(|c| c.is_alphanumeric() || c == '_') {
        return Ok(name);
    }
    Err(unwritable(
        format!("{what} `{name}`"),
        "that is no name".into(),
        "a name has letters, digits and underscores, and begins with no digit",
    ))
}

/// A property's name: identifiers with colons between them.
fn property(name: &str) -> Result<&str> {
    for part in name.split(':') {
        identifier(part, "property").map_err(|_| {
            unwritable(
                format!("property `{name}`"),
                "that is no name".into(),
                "a name has letters, digits and underscores, and colons between them",
            )
        })?;
    }
    Ok(name)
}

/// What an attribute of this kind should hold.
fn mismatch(value: &Value, kind: Kind, what: &str) -> IoError {
    let mut found = format!("{value:?}");
    if let Some((end, _)) = found.char_indices().nth(60) {
        found.truncate(end);
        found += "…";
    }
    unwritable(format!("`{what}`"), found, &format!("its type takes values of kind {kind:?}"))
}
