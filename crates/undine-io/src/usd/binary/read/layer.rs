//! From specs to a layer: prims by the names that their parents list, with their properties.

use super::super::kind::{Kind, Rep};
use super::super::write::DEEPEST;
use super::super::{NO_FIELD, spec};
use super::Crate;
use crate::error::Result;
use crate::usd::layer::{
    Array, Attribute, Fields, Layer, ListItem, Prim, Relationship, Specifier, Value,
};
use std::collections::HashMap;

/// Where the specs are: of each path, and the path of each name below another. Only asked, never walked.
struct Index {
    /// The place in the list of specs; taken out when it is used, so that none is used twice.
    spec_of: Vec<Option<u32>>,
    below: HashMap<(u32, u32, bool), u32>,
    /// The first token with the same text.
    first: Vec<u32>,
}

/// The fields of a spec that are not its metadata.
#[derive(Default)]
struct Structure {
    specifier: Option<u32>,
    type_name: String,
    custom: bool,
    variability: u32,
    default: Option<Rep>,
    samples: Option<Rep>,
    targets: Option<Rep>,
    prims: Vec<u32>,
    properties: Vec<u32>,
}

impl Crate<'_> {
    /// All prims below the root.
    pub fn layer(mut self) -> Result<Layer> {
        let mut index = self.index();
        let mut layer = Layer::default();
        let root = self.paths.root();
        let found = root.and_then(|root| Some((root, index.spec_of[root as usize].take()?)));
        let Some((root, place)) = found else {
            return Err(self.error(0, "the layer itself is missing", "there is a spec of `/`"));
        };
        if self.specs[place as usize][2] != spec::LAYER {
            let found = format!("the spec of `/` is of kind {}", self.specs[place as usize][2]);
            return Err(self.error(0, found, "it is of kind 7"));
        }
        let (structure, mut fields) = self.spec(place, "/")?;
        tidy(&mut fields);
        layer.fields = fields;
        layer.prims = self.prims(&mut index, root, &structure.prims, "", 1)?;
        layer.passed_over = self.passed_over;
        Ok(layer)
    }

    fn index(&self) -> Index {
        let mut spec_of = vec![None; self.paths.count()];
        for (place, spec) in self.specs.iter().enumerate() {
            if let Some(slot) = spec_of.get_mut(spec[0] as usize) {
                slot.get_or_insert(place as u32);
            }
        }
        let mut first_of: HashMap<&str, u32> = HashMap::new();
        let numbered = self.tokens.iter().enumerate();
        let first: Vec<u32> = numbered
            .map(|(number, token)| *first_of.entry(token).or_insert(number as u32))
            .collect();
        let edges = self.paths.edges();
        let below = edges
            .map(|(parent, token, is_property, path)| {
                ((parent, first[token as usize], is_property), path)
            })
            .collect();
        Index { spec_of, below, first }
    }

    /// The prims of these names below a path.
    fn prims(
        &mut self,
        index: &mut Index,
        parent: u32,
        names: &[u32],
        above: &str,
        depth: usize,
    ) -> Result<Vec<Prim>> {
        let mut prims = Vec::new();
        for &name in names {
            let Some((path, place)) = self.spec_below(index, parent, name, false)? else {
                continue;
            };
            if self.specs[place as usize][2] != spec::PRIM {
                continue;
            }
            let name = self.owned_token(0, name)?;
            let here = format!("{above}/{name}");
            if depth > DEEPEST {
                let wanted = format!("prims are nested {DEEPEST} times at most");
                return Err(self.error(0, format!("{here} is too deep"), &wanted));
            }
            self.make(0, size_of::<Prim>())?;
            let (structure, fields) = self.spec(place, &here)?;
            let mut prim = Prim {
                name,
                specifier: match structure.specifier {
                    Some(0) => Specifier::Def,
                    Some(2) => Specifier::Class,
                    _ => Specifier::Over,
                },
                type_name: structure.type_name,
                fields,
                ..Prim::default()
            };
            self.properties(index, path, &structure.properties, &here, &mut prim)?;
            prim.children = self.prims(index, path, &structure.prims, &here, depth + 1)?;
            prims.push(prim);
        }
        Ok(prims)
    }

    fn properties(
        &mut self,
        index: &mut Index,
        prim_path: u32,
        names: &[u32],
        above: &str,
        prim: &mut Prim,
    ) -> Result<()> {
        for &name in names {
            let Some((_, place)) = self.spec_below(index, prim_path, name, true)? else {
                continue;
            };
            let name = self.owned_token(0, name)?;
            let here = format!("{above}.{name}");
            match self.specs[place as usize][2] {
                spec::ATTRIBUTE => {
                    self.make(0, size_of::<Attribute>())?;
                    let (structure, fields) = self.spec(place, &here)?;
                    let mut attribute = Attribute {
                        name,
                        type_name: structure.type_name,
                        uniform: structure.variability != 0,
                        custom: structure.custom,
                        fields,
                        ..Attribute::default()
                    };
                    if let Some(rep) = structure.default {
                        attribute.default = self.value(rep, &here)?;
                    }
                    if let Some(rep) = structure.samples {
                        attribute.samples = self.time_samples(rep, &here)?;
                    }
                    prim.attributes.push(attribute);
                }
                spec::RELATIONSHIP => {
                    let (structure, _) = self.spec(place, &here)?;
                    let targets = match structure.targets {
                        Some(rep) => self.targets(rep, &here)?,
                        None => Vec::new(),
                    };
                    prim.relationships.push(Relationship { name, targets });
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// What the spec of a name below a path is, if there is one that was not used before.
    fn spec_below(
        &self,
        index: &mut Index,
        parent: u32,
        name: u32,
        is_property: bool,
    ) -> Result<Option<(u32, u32)>> {
        self.token(0, name)?;
        let name = index.first[name as usize];
        let path = index.below.get(&(parent, name, is_property)).copied();
        Ok(path.and_then(|path| Some((path, index.spec_of[path as usize].take()?))))
    }

    /// The paths that a relationship points to, whatever list they are in.
    fn targets(&mut self, rep: Rep, what: &str) -> Result<Vec<String>> {
        let Some(Value::List(edit)) = self.value(rep, what)? else {
            let found = format!("the targets of {what} are no list");
            return Err(self.error(rep.payload(), found, "they are a list of paths"));
        };
        let items = edit.explicit.unwrap_or_default().into_iter();
        let items = items.chain(edit.prepended).chain(edit.appended);
        let path = |item| match item {
            ListItem::Path(path) => Some(path),
            _ => None,
        };
        Ok(items.filter_map(path).collect())
    }

    /// The fields of a spec: what makes its structure, and its metadata.
    fn spec(&mut self, place: u32, what: &str) -> Result<(Structure, Fields)> {
        let set = self.specs[place as usize][1] as usize;
        if set > self.field_sets.len() {
            let wanted = format!("there are {}", self.field_sets.len());
            return Err(self.error(0, format!("{what} has fields {set} and so on"), &wanted));
        }
        let mut structure = Structure::default();
        let mut fields = Fields::new();
        for next in set.. {
            let Some(&field) = self.field_sets.get(next).filter(|&&field| field != NO_FIELD) else {
                break;
            };
            let Some(&(name, rep)) = self.fields.get(field as usize) else {
                let wanted = format!("there are {}", self.fields.len());
                return Err(self.error(0, format!("{what} has field {field}"), &wanted));
            };
            let name = self.owned_token(0, name)?;
            self.field(&mut structure, &mut fields, name, rep, what)?;
        }
        Ok((structure, fields))
    }

    fn field(
        &mut self,
        structure: &mut Structure,
        fields: &mut Fields,
        name: String,
        rep: Rep,
        what: &str,
    ) -> Result<()> {
        match name.as_str() {
            "specifier" => structure.specifier = Some(rep.bits()),
            "variability" => structure.variability = rep.bits(),
            "custom" => structure.custom = rep.bits() as u8 != 0,
            "typeName" => {
                // A prim of any type is one of none.
                let name = self.owned_token(0, rep.bits())?;
                structure.type_name = if name == "__AnyType__" { String::new() } else { name };
            }
            "primChildren" => structure.prims = self.token_vector(rep)?,
            "properties" => structure.properties = self.token_vector(rep)?,
            "default" => structure.default = Some(rep),
            "timeSamples" if Kind::of(rep.kind()) == Some(Kind::TimeSamples) => {
                structure.samples = Some(rep);
            }
            "targetPaths" => structure.targets = Some(rep),
            // These say again what others say.
            "targetChildren" | "connectionChildren" | "mapperChildren" | "expressionChildren" => {}
            "variantSetChildren" | "variantChildren" => {
                self.pass_over(format!("{what}: variants"))?;
            }
            "connectionPaths" => self.pass_over(format!("{what}: connections"))?,
            _ => {
                if let Some(value) = self.value(rep, &format!("{name} of {what}"))? {
                    fields.insert(name, value);
                }
            }
        }
        Ok(())
    }
}

/// Makes sublayers assets, as they are, and leaves out their offsets if none is shifted.
fn tidy(fields: &mut Fields) {
    if let Some(Value::Array(array)) = fields.get_mut("subLayers")
        && let Array::String(layers) = array
    {
        *array = Array::Asset(std::mem::take(layers));
    }
    let unshifted = |offsets: &[f64]| offsets.chunks(2).all(|offset| offset == [0.0, 1.0]);
    if let Some(Value::Array(Array::Double(offsets, 2))) = fields.get("subLayerOffsets")
        && unshifted(offsets)
    {
        fields.remove("subLayerOffsets");
    }
}
