//! A layer to text: the same text for the same layer, numbers with the digits that bring them back to the bit.

use super::word_of_field;
use crate::error::{IoError, Result};
use crate::usd::layer::{
    Array, Attribute, Fields, Layer, ListItem, ListOp, Prim, Specifier, Value,
};
use crate::usd::type_name::{Shape, TypeName};
use std::fmt::{Display, LowerExp, Write};

/// Writes a layer as the text of a `.usda` file.
pub fn write(layer: &Layer) -> Result<String> {
    let mut text = Text { out: "#usda 1.0\n".to_owned(), indent: 0 };
    if !layer.fields.is_empty() {
        text.out += "(\n";
        text.fields(&layer.fields)?;
        text.out += ")\n";
    }
    for prim in &layer.prims {
        text.out += "\n";
        text.prim(prim)?;
    }
    Ok(text.out)
}

struct Text {
    out: String,
    indent: usize,
}

impl Text {
    /// Begins a line.
    fn begin(&mut self) {
        for _ in 0..self.indent {
            self.out += "    ";
        }
    }

    /// A whole line.
    fn line(&mut self, text: &str) {
        self.begin();
        self.out += text;
        self.out += "\n";
    }

    fn prim(&mut self, prim: &Prim) -> Result<()> {
        check_name(&prim.name, "prim", false)?;
        self.begin();
        self.out += match prim.specifier {
            Specifier::Def => "def ",
            Specifier::Over => "over ",
            Specifier::Class => "class ",
        };
        if !prim.type_name.is_empty() {
            check_name(&prim.type_name, "type", false)?;
            self.out += &prim.type_name;
            self.out += " ";
        }
        self.string(&prim.name);
        self.metadata(&prim.fields)?;
        self.out += "\n";
        self.line("{");
        self.indent += 1;
        for attribute in &prim.attributes {
            self.attribute(attribute)?;
        }
        for relationship in &prim.relationships {
            check_name(&relationship.name, "relationship", true)?;
            self.begin();
            self.out += "rel ";
            self.out += &relationship.name;
            if let [one] = &relationship.targets[..] {
                self.out += " = ";
                self.path(one)?;
            } else if !relationship.targets.is_empty() {
                self.out += " = ";
                self.list(&relationship.targets, "[", "]", |text, path| text.path(path))?;
            }
            self.out += "\n";
        }
        for (n, child) in prim.children.iter().enumerate() {
            if n > 0 || !prim.attributes.is_empty() || !prim.relationships.is_empty() {
                self.out += "\n";
            }
            self.prim(child)?;
        }
        self.indent -= 1;
        self.line("}");
        Ok(())
    }

    fn attribute(&mut self, attribute: &Attribute) -> Result<()> {
        check_name(&attribute.name, "attribute", true)?;
        let of = TypeName::parse(&attribute.type_name).ok_or_else(|| IoError::Unwritable {
            what: format!("attribute `{}`", attribute.name),
            found: format!("`{}` is no type of values", attribute.type_name),
            wanted: "one such as `float` or `point3f[]`".to_owned(),
        })?;
        let mut head = String::new();
        if attribute.custom {
            head += "custom ";
        }
        if attribute.uniform {
            head += "uniform ";
        }
        head += &attribute.type_name;
        head += " ";
        head += &attribute.name;

        let checked = |value: &Value| match of.holds(value) {
            true => Ok(()),
            false => Err(IoError::Unwritable {
                what: format!("attribute `{}`", attribute.name),
                found: format!("a value of it is no `{}`", attribute.type_name),
                wanted: "values of the type that it is declared with".to_owned(),
            }),
        };
        // Metadata belongs to the declaration, which may be left out only where samples say everything.
        if attribute.default.is_some()
            || !attribute.fields.is_empty()
            || attribute.samples.is_empty()
        {
            self.begin();
            self.out += &head;
            if let Some(value) = &attribute.default {
                checked(value)?;
                self.out += " = ";
                self.value(value, of.shape)?;
            }
            self.metadata(&attribute.fields)?;
            self.out += "\n";
        }
        if !attribute.samples.is_empty() {
            self.line(&format!("{head}.timeSamples = {{"));
            self.indent += 1;
            for (time, value) in &attribute.samples {
                checked(value)?;
                self.begin();
                number(&mut self.out, *time);
                self.out += ": ";
                self.value(value, of.shape)?;
                self.out += ",\n";
            }
            self.indent -= 1;
            self.line("}");
        }
        Ok(())
    }

    /// Metadata in parentheses behind what it belongs to, if there is any.
    fn metadata(&mut self, fields: &Fields) -> Result<()> {
        if fields.is_empty() {
            return Ok(());
        }
        self.out += " (\n";
        self.indent += 1;
        self.fields(fields)?;
        self.indent -= 1;
        self.begin();
        self.out += ")";
        Ok(())
    }

    fn fields(&mut self, fields: &Fields) -> Result<()> {
        let at_the_top = usize::from(self.indent == 0);
        self.indent += at_the_top;
        for (name, value) in fields {
            let word = word_of_field(name);
            match (name.as_str(), value) {
                ("comment", Value::String(comment)) => {
                    self.begin();
                    self.string(comment);
                    self.out += "\n";
                }
                ("subLayers", Value::Array(Array::Asset(files))) => {
                    self.sublayers(files, fields.get("subLayerOffsets"))?;
                }
                ("subLayerOffsets", _) => {}
                (_, Value::List(list)) => self.edits(word, list)?,
                _ => {
                    check_name(word, "field", true)?;
                    self.begin();
                    self.out += word;
                    self.out += " = ";
                    // OpenUSD writes truths of metadata as words and those of attributes as numbers.
                    match value {
                        Value::Bool(value) => self.out += if *value { "true" } else { "false" },
                        value => self.value(value, shape_of(value))?,
                    }
                    self.out += "\n";
                }
            }
        }
        self.indent -= at_the_top;
        Ok(())
    }

    fn sublayers(&mut self, files: &[String], offsets: Option<&Value>) -> Result<()> {
        let offsets: &[f64] = match offsets {
            Some(Value::Array(Array::Double(offsets, 2))) => offsets,
            _ => &[],
        };
        self.line("subLayers = [");
        self.indent += 1;
        for (n, file) in files.iter().enumerate() {
            self.begin();
            self.asset(file)?;
            if let Some(&[offset, scale]) = offsets.get(2 * n..2 * n + 2) {
                self.times(offset, scale);
            }
            self.out += if n + 1 < files.len() { ",\n" } else { "\n" };
        }
        self.indent -= 1;
        self.line("]");
        Ok(())
    }

    fn edits(&mut self, word: &str, list: &ListOp) -> Result<()> {
        check_name(word, "field", true)?;
        for (edit, items) in [
            ("", list.explicit.as_ref()),
            ("delete ", Some(&list.deleted).filter(|items| !items.is_empty())),
            ("prepend ", Some(&list.prepended).filter(|items| !items.is_empty())),
            ("append ", Some(&list.appended).filter(|items| !items.is_empty())),
        ] {
            let Some(items) = items else { continue };
            self.begin();
            self.out += edit;
            self.out += word;
            self.out += " = ";
            if items.is_empty() {
                self.out += "None";
            } else {
                self.list(items, "[", "]", |text, item| text.item(item))?;
            }
            self.out += "\n";
        }
        Ok(())
    }

    fn item(&mut self, item: &ListItem) -> Result<()> {
        match item {
            ListItem::Word(word) => self.string(word),
            ListItem::Path(path) => self.path(path)?,
            ListItem::Reference { asset, prim, offset, scale } => {
                if !asset.is_empty() {
                    self.asset(asset)?;
                }
                if !prim.is_empty() || asset.is_empty() {
                    self.path(prim)?;
                }
                self.times(*offset, *scale);
            }
        }
        Ok(())
    }

    fn times(&mut self, offset: f64, scale: f64) {
        if (offset, scale) == (0.0, 1.0) {
            return;
        }
        self.out += " (offset = ";
        number(&mut self.out, offset);
        self.out += "; scale = ";
        number(&mut self.out, scale);
        self.out += ")";
    }

    fn value(&mut self, value: &Value, shape: Shape) -> Result<()> {
        match value {
            Value::Block => self.out += "None",
            Value::Bool(value) => self.out += if *value { "1" } else { "0" },
            Value::UChar(value) => self.display(value),
            Value::Int(value) => self.display(value),
            Value::UInt(value) => self.display(value),
            Value::Int64(value) => self.display(value),
            Value::UInt64(value) => self.display(value),
            Value::Half(value) | Value::Float(value) => number(&mut self.out, *value),
            Value::Double(value) => number(&mut self.out, *value),
            Value::String(value) | Value::Token(value) => self.string(value),
            Value::Asset(value) => self.asset(value)?,
            Value::IntVec(values) => self.element(values, shape, whole),
            Value::HalfVec(values) | Value::FloatVec(values) => self.element(values, shape, number),
            Value::DoubleVec(values) => self.element(values, shape, number),
            Value::Array(array) => self.array(array, shape)?,
            Value::Dictionary(fields) => self.dictionary(fields)?,
            Value::List(_) => {
                return Err(IoError::Unwritable {
                    what: "a list that edits another".to_owned(),
                    found: "it stands where a value should".to_owned(),
                    wanted: "lists are fields of prims".to_owned(),
                });
            }
        }
        Ok(())
    }

    fn array(&mut self, array: &Array, shape: Shape) -> Result<()> {
        match array {
            Array::Bool(values) => self.list(values, "[", "]", |text, &value| {
                text.out += if value { "1" } else { "0" };
                Ok(())
            }),
            Array::UChar(values) => self.displays(values),
            Array::Int(values, width) => self.elements(values, *width, shape, whole),
            Array::UInt(values) => self.displays(values),
            Array::Int64(values) => self.displays(values),
            Array::UInt64(values) => self.displays(values),
            Array::Half(values, width) | Array::Float(values, width) => {
                self.elements(values, *width, shape, number)
            }
            Array::Double(values, width) => self.elements(values, *width, shape, number),
            Array::String(values) | Array::Token(values) => {
                self.list(values, "[", "]", |text, value| {
                    text.string(value);
                    Ok(())
                })
            }
            Array::Asset(values) => self.list(values, "[", "]", |text, value| text.asset(value)),
        }
    }

    fn displays(&mut self, values: &[impl Display]) -> Result<()> {
        self.list(values, "[", "]", |text, value| {
            text.display(value);
            Ok(())
        })
    }

    fn elements<T: Copy>(
        &mut self,
        values: &[T],
        width: usize,
        shape: Shape,
        put: fn(&mut String, T),
    ) -> Result<()> {
        if width == 0 || !values.len().is_multiple_of(width) {
            return Err(IoError::Unwritable {
                what: "an array".to_owned(),
                found: format!("{} components are no elements of {width}", values.len()),
                wanted: "whole elements".to_owned(),
            });
        }
        let elements: Vec<&[T]> = values.chunks_exact(width).collect();
        self.list(&elements, "[", "]", |text, element| {
            text.element(element, shape, put);
            Ok(())
        })
    }

    /// The components of one element, in the brackets of its shape.
    fn element<T: Copy>(&mut self, values: &[T], shape: Shape, put: fn(&mut String, T)) {
        let mut row = |values: &mut dyn Iterator<Item = T>| {
            self.out += "(";
            for (n, value) in values.enumerate() {
                self.out += if n > 0 { ", " } else { "" };
                put(&mut self.out, value);
            }
            self.out += ")";
        };
        match shape {
            Shape::Row(1) => values.iter().for_each(|&value| put(&mut self.out, value)),
            Shape::Row(_) => row(&mut values.iter().copied()),
            Shape::Quaternion => {
                row(&mut values.iter().copied().cycle().skip(values.len() - 1).take(values.len()));
            }
            Shape::Matrix(rows) => {
                self.out += "(";
                for (n, values) in values.chunks(rows).enumerate() {
                    self.out += if n > 0 { ", " } else { "" };
                    self.element(values, Shape::Row(rows), put);
                }
                self.out += ")";
            }
        }
    }

    fn dictionary(&mut self, fields: &Fields) -> Result<()> {
        self.out += "{\n";
        self.indent += 1;
        for (name, value) in fields {
            self.begin();
            match value {
                Value::Dictionary(_) => self.out += "dictionary",
                value => {
                    self.out += TypeName::of(value).ok_or_else(|| IoError::Unwritable {
                        what: format!("entry `{name}` of a dictionary"),
                        found: "its value has no type".to_owned(),
                        wanted: "a number, a string, an array, or another dictionary".to_owned(),
                    })?;
                }
            }
            self.out += " ";
            if is_name(name) {
                self.out += name;
            } else {
                self.string(name);
            }
            self.out += " = ";
            self.value(value, shape_of(value))?;
            self.out += "\n";
        }
        self.indent -= 1;
        self.begin();
        self.out += "}";
        Ok(())
    }

    fn list<T>(
        &mut self,
        items: &[T],
        open: &str,
        close: &str,
        mut put: impl FnMut(&mut Self, &T) -> Result<()>,
    ) -> Result<()> {
        self.out += open;
        for (n, item) in items.iter().enumerate() {
            self.out += if n > 0 { ", " } else { "" };
            put(self, item)?;
        }
        self.out += close;
        Ok(())
    }

    fn display(&mut self, value: &impl Display) {
        // Writing into a string never fails.
        let _ = write!(self.out, "{value}");
    }

    /// A string on one line, whatever is in it.
    fn string(&mut self, value: &str) {
        self.out += "\"";
        for character in value.chars() {
            match character {
                '"' => self.out += "\\\"",
                '\\' => self.out += "\\\\",
                '\n' => self.out += "\\n",
                '\r' => self.out += "\\r",
                '\t' => self.out += "\\t",
                character if character.is_ascii_control() => {
                    let _ = write!(self.out, "\\x{:02x}", u32::from(character));
                }
                character => self.out.push(character),
            }
        }
        self.out += "\"";
    }

    fn asset(&mut self, path: &str) -> Result<()> {
        if path.chars().any(char::is_control) {
            return Err(IoError::Unwritable {
                what: format!("the path {path:?} of a file"),
                found: "it has characters that are none".to_owned(),
                wanted: "a path that can be printed".to_owned(),
            });
        }
        if path.contains('@') {
            self.out += "@@@";
            self.out += &path.replace("@@@", "\\@@@");
            self.out += "@@@";
        } else {
            self.out += "@";
            self.out += path;
            self.out += "@";
        }
        Ok(())
    }

    fn path(&mut self, path: &str) -> Result<()> {
        if path.chars().any(|c| c.is_control() || matches!(c, '<' | '>' | '"')) {
            return Err(IoError::Unwritable {
                what: format!("the path {path:?}"),
                found: "it has characters that no path has".to_owned(),
                wanted: "one such as /World/Splash".to_owned(),
            });
        }
        self.out += "<";
        self.out += path;
        self.out += ">";
        Ok(())
    }
}

/// The shape of a value of the plainest type that it can have.
fn shape_of(value: &Value) -> Shape {
    TypeName::of(value).and_then(TypeName::parse).map_or(Shape::Row(1), |of| of.shape)
}

fn whole(out: &mut String, value: i32) {
    let _ = write!(out, "{value}");
}

/// The fewest digits that bring a number back, with an exponent where zeros would be many.
fn number<T: Copy + Display + LowerExp + Into<f64>>(out: &mut String, value: T) {
    let wide: f64 = value.into();
    let size = wide.abs();
    let _ = if wide.is_nan() {
        write!(out, "nan")
    } else if wide.is_infinite() {
        write!(out, "{}", if wide > 0.0 { "inf" } else { "-inf" })
    } else if wide == 0.0 {
        // Without a point, a minus before a zero would be lost in whole numbers.
        write!(out, "{}", if wide.is_sign_negative() { "-0.0" } else { "0" })
    } else if (1e-5..1e15).contains(&size) {
        write!(out, "{value}")
    } else {
        write!(out, "{value:e}")
    };
}

/// Whether it is an identifier: a letter or `_`, then letters, digits and `_`.
fn is_name(name: &str) -> bool {
    let mut characters = name.chars();
    characters.next().is_some_and(|c| c.is_alphabetic() || c == '_')
        && characters.all(|c| c.is_alphanumeric() || c == '_')
}

fn check_name(name: &str, what: &str, with_namespaces: bool) -> Result<()> {
    let is_right = if with_namespaces { name.split(':').all(is_name) } else { is_name(name) };
    if is_right {
        return Ok(());
    }
    Err(IoError::Unwritable {
        what: format!("the {what} `{name}`"),
        found: "its name is none that scene description allows".to_owned(),
        wanted: "letters, digits and `_`, with no digit at the beginning".to_owned(),
    })
}
