//! Layers, prims and properties.

use super::cursor::Cursor;
use super::metadata::Edit;
use crate::error::Result;
use crate::usd::layer::{Attribute, Layer, Prim, Relationship, Specifier, Value};
use crate::usd::type_name::TypeName;
use std::collections::BTreeMap;
use std::path::Path;

/// Reads a layer from the bytes of a `.usda` file. `file` is what errors call it.
pub fn parse(bytes: &[u8], file: &Path) -> Result<Layer> {
    let mut text = Cursor::new(bytes, file);
    let first = text.first_line();
    if !["#usda ", "#sdf "].iter().any(|word| first.starts_with(word)) {
        let shown: String = first.chars().take(40).collect();
        let found = format!("it begins with `{}`", shown.trim());
        return Err(Cursor::new(bytes, file).refused(found, "a layer begins with `#usda 1.0`"));
    }
    let mut layer = Layer::default();
    let mut passed_over = Vec::new();
    text.metadata(&mut layer.fields, &mut passed_over)?;
    let mut names = BTreeMap::new();
    while text.peek().is_some() {
        if text.eat_word("reorder") {
            text.reorder()?;
            continue;
        }
        let Some(prim) = text.prim(&mut passed_over)? else {
            return Err(text.unexpected("expected `def`, `over`, `class`, or the end of the file"));
        };
        add_prim(&text, &mut layer.prims, &mut names, prim)?;
    }
    layer.passed_over = passed_over;
    Ok(layer)
}

/// Where each name of a prim's properties and children is.
#[derive(Default)]
struct Names {
    attributes: BTreeMap<String, usize>,
    relationships: BTreeMap<String, usize>,
    children: BTreeMap<String, usize>,
}

impl Cursor<'_> {
    /// A prim, if one begins here.
    fn prim(&mut self, passed_over: &mut Vec<String>) -> Result<Option<Prim>> {
        let specifier = if self.eat_word("def") {
            Specifier::Def
        } else if self.eat_word("over") {
            Specifier::Over
        } else if self.eat_word("class") {
            Specifier::Class
        } else {
            return Ok(None);
        };
        let mut prim = Prim { specifier, ..Prim::default() };
        if !self.is_at_string() {
            prim.type_name = self.word_with(b":").into_owned();
        }
        prim.name = self.string()?;
        if prim.name.is_empty() || prim.name.contains(['/', '.', '<', '>']) {
            let found = format!("`{}` is no name of a prim", prim.name);
            return Err(self.refused(found, "a name has letters, digits and `_`"));
        }
        self.metadata(&mut prim.fields, passed_over)?;
        self.expect(b'{', &format!("before what is in `{}`", prim.name))?;
        self.deeper(|text| {
            let mut names = Names::default();
            while !text.eat(b'}') {
                text.statement(&mut prim, &mut names, passed_over)?;
            }
            Ok(())
        })?;
        Ok(Some(prim))
    }

    /// One statement of a prim: a child, a property, a variant set or an order.
    fn statement(
        &mut self,
        prim: &mut Prim,
        names: &mut Names,
        passed_over: &mut Vec<String>,
    ) -> Result<()> {
        if let Some(child) = self.prim(passed_over)? {
            return add_prim(self, &mut prim.children, &mut names.children, child);
        }
        if self.eat_word("variantSet") {
            let line = self.line();
            let name = self.string()?;
            passed_over.push(format!("line {line}: variant set `{name}` of prim `{}`", prim.name));
            self.expect(b'=', "behind the name of a variant set")?;
            return self.skip_value();
        }
        let edit = self.edit();
        if edit == Edit::Reorder && (self.eat_word("nameChildren") || self.eat_word("properties")) {
            self.expect(b'=', "before an order")?;
            return self.skip_value();
        }
        let custom = self.eat_word("custom");
        let uniform = self.eat_word("uniform");
        // `varying` and `config` say nothing that is kept.
        if !uniform && !self.eat_word("varying") {
            self.eat_word("config");
        }
        if self.eat_word("rel") {
            return self.relationship(prim, names, edit, passed_over);
        }
        let kind = self.type_name()?;
        let (name, part) = self.property_name()?;
        let at = *names.attributes.entry(name.clone()).or_insert_with(|| {
            prim.attributes.push(Attribute {
                name: name.clone(),
                type_name: kind.clone(),
                ..Attribute::default()
            });
            prim.attributes.len() - 1
        });
        let attribute = &mut prim.attributes[at];
        attribute.custom |= custom;
        attribute.uniform |= uniform;
        if self.eat(b'=') {
            let of = TypeName::parse(&kind);
            match (part.as_str(), of) {
                ("connect", _) => drop(self.targets()?),
                ("" | "default", Some(of)) => attribute.default = Some(self.value(of)?),
                ("timeSamples", Some(of)) => attribute.samples = self.samples(of)?,
                _ => {
                    let line = self.line();
                    passed_over.push(format!("line {line}: the {kind} `{name}`"));
                    self.skip_value()?;
                }
            }
        }
        self.metadata(&mut prim.attributes[at].fields, passed_over)
    }

    fn relationship(
        &mut self,
        prim: &mut Prim,
        names: &mut Names,
        edit: Edit,
        passed_over: &mut Vec<String>,
    ) -> Result<()> {
        let (name, _) = self.property_name()?;
        let at = *names.relationships.entry(name.clone()).or_insert_with(|| {
            prim.relationships.push(Relationship { name, targets: Vec::new() });
            prim.relationships.len() - 1
        });
        if self.eat(b'=') {
            let targets = self.targets()?;
            let kept = &mut prim.relationships[at].targets;
            match edit {
                Edit::Replace => *kept = targets,
                Edit::Prepend => drop(kept.splice(0..0, targets)),
                Edit::Append => kept.extend(targets),
                Edit::Delete | Edit::Reorder => {}
            }
        }
        // No metadata of a relationship has a meaning here.
        self.metadata(&mut Default::default(), passed_over)
    }

    /// The name of a property, and what of it is meant: `timeSamples`, `connect`, or nothing.
    fn property_name(&mut self) -> Result<(String, String)> {
        let whole = self.word_with(b":.").into_owned();
        let (name, part) = whole.split_once('.').unwrap_or((&whole, ""));
        if name.is_empty() {
            return Err(self.unexpected("expected the name of a property"));
        }
        Ok((name.to_owned(), part.to_owned()))
    }

    /// Values at times, which are put into order; of two at one time the later one counts.
    fn samples(&mut self, of: TypeName) -> Result<Vec<(f64, Value)>> {
        let mut samples: Vec<(f64, Value)> = Vec::new();
        self.expect(b'{', "before samples")?;
        self.list(b'}', "behind samples", |text| {
            let time: f64 = text.parsed()?;
            if !time.is_finite() {
                return Err(text.refused(format!("{time} is no time"), "a finite number"));
            }
            text.expect(b':', "between a time and its value")?;
            let value = text.value(of)?;
            samples.push((time, value));
            Ok(())
        })?;
        samples.sort_by(|a, b| a.0.total_cmp(&b.0));
        samples.reverse();
        samples.dedup_by(|next, kept| next.0 == kept.0);
        samples.reverse();
        Ok(samples)
    }

    /// `rootPrims = [...]` behind `reorder`.
    fn reorder(&mut self) -> Result<()> {
        self.word("expected `rootPrims`")?;
        self.expect(b'=', "before an order")?;
        self.skip_value()
    }
}

fn add_prim(
    text: &Cursor<'_>,
    prims: &mut Vec<Prim>,
    names: &mut BTreeMap<String, usize>,
    prim: Prim,
) -> Result<()> {
    if names.insert(prim.name.clone(), prims.len()).is_some() {
        let found = format!("there are two prims `{}` side by side", prim.name);
        return Err(text.refused(found, "give one of them another name"));
    }
    prims.push(prim);
    Ok(())
}
