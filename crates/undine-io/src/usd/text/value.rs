//! Values of attributes and metadata: numbers, strings, tuples, arrays, dictionaries.

use super::cursor::Cursor;
use crate::error::Result;
use crate::usd::layer::{Array, Fields, Value};
use crate::usd::type_name::{Scalar, Shape, TypeName};
use std::str::FromStr;

impl Cursor<'_> {
    /// A value of this type, or `None`.
    pub(super) fn value(&mut self, of: TypeName) -> Result<Value> {
        if self.eat_word("None") || self.eat_word("AnimationBlock") {
            return Ok(Value::Block);
        }
        if of.is_array {
            return Ok(Value::Array(self.array(of)?));
        }
        let width = of.width();
        if width == 1 {
            return Ok(match of.scalar {
                Scalar::Bool => Value::Bool(self.bool()?),
                Scalar::UChar => Value::UChar(self.parsed()?),
                Scalar::Int => Value::Int(self.parsed()?),
                Scalar::UInt => Value::UInt(self.parsed()?),
                Scalar::Int64 => Value::Int64(self.parsed()?),
                Scalar::UInt64 => Value::UInt64(self.parsed()?),
                Scalar::Half => Value::Half(self.parsed()?),
                Scalar::Float => Value::Float(self.parsed()?),
                Scalar::Double => Value::Double(self.parsed()?),
                Scalar::String => Value::String(self.string()?),
                Scalar::Token => Value::Token(self.string()?),
                Scalar::Asset => Value::Asset(self.asset()?),
            });
        }
        let shape = of.shape;
        Ok(match of.scalar {
            Scalar::Int => Value::IntVec(self.one(shape)?),
            Scalar::Half => Value::HalfVec(self.one(shape)?),
            Scalar::Float => Value::FloatVec(self.one(shape)?),
            _ => Value::DoubleVec(self.one(shape)?),
        })
    }

    fn array(&mut self, of: TypeName) -> Result<Array> {
        let width = of.width();
        let shape = of.shape;
        Ok(match of.scalar {
            Scalar::Bool => Array::Bool(self.each(Self::bool)?),
            Scalar::UChar => Array::UChar(self.each(Self::parsed)?),
            Scalar::Int => Array::Int(self.tuples(shape)?, width),
            Scalar::UInt => Array::UInt(self.each(Self::parsed)?),
            Scalar::Int64 => Array::Int64(self.each(Self::parsed)?),
            Scalar::UInt64 => Array::UInt64(self.each(Self::parsed)?),
            Scalar::Half => Array::Half(self.tuples(shape)?, width),
            Scalar::Float => Array::Float(self.tuples(shape)?, width),
            Scalar::Double => Array::Double(self.tuples(shape)?, width),
            Scalar::String => Array::String(self.each(Self::string)?),
            Scalar::Token => Array::Token(self.each(Self::string)?),
            Scalar::Asset => Array::Asset(self.each(Self::asset)?),
        })
    }

    fn each<T>(&mut self, mut entry: impl FnMut(&mut Self) -> Result<T>) -> Result<Vec<T>> {
        let mut values = Vec::new();
        self.expect(b'[', "before an array")?;
        self.list(b']', "behind an array", |text| {
            values.push(entry(text)?);
            Ok(())
        })?;
        Ok(values)
    }

    fn tuples<T: FromStr>(&mut self, shape: Shape) -> Result<Vec<T>> {
        let mut values = Vec::new();
        self.expect(b'[', "before an array")?;
        self.list(b']', "behind an array", |text| text.element(shape, &mut values))?;
        Ok(values)
    }

    fn one<T: FromStr>(&mut self, shape: Shape) -> Result<Vec<T>> {
        let mut values = Vec::new();
        self.element(shape, &mut values)?;
        Ok(values)
    }

    /// One element: a number, a tuple of them, or a tuple of tuples.
    fn element<T: FromStr>(&mut self, shape: Shape, values: &mut Vec<T>) -> Result<()> {
        match shape {
            Shape::Row(1) => values.push(self.parsed()?),
            Shape::Row(width) => self.row(width, values)?,
            Shape::Quaternion => {
                let first = values.len();
                self.row(4, values)?;
                values[first..].rotate_left(1);
            }
            Shape::Matrix(rows) => {
                self.expect(b'(', "before a matrix")?;
                for row in 0..rows {
                    if row > 0 {
                        self.expect(b',', "between the rows of a matrix")?;
                    }
                    self.row(rows, values)?;
                }
                self.eat(b',');
                self.expect(b')', "behind a matrix")?;
            }
        }
        Ok(())
    }

    fn row<T: FromStr>(&mut self, width: usize, values: &mut Vec<T>) -> Result<()> {
        self.expect(b'(', "before a tuple")?;
        for component in 0..width {
            if component > 0 {
                self.expect(b',', "between the numbers of a tuple")?;
            }
            values.push(self.parsed()?);
        }
        self.eat(b',');
        self.expect(b')', &format!("behind a tuple of {width}"))
    }

    pub(super) fn parsed<T: FromStr>(&mut self) -> Result<T> {
        let text = self.number()?;
        text.parse().map_err(|_| {
            let kind = std::any::type_name::<T>();
            let bits = kind.trim_start_matches(char::is_alphabetic);
            let wanted = match &kind[..1] {
                "f" => format!("expected a number of {bits} bits"),
                "u" => format!("expected a whole number of {bits} bits, from 0 on"),
                _ => format!("expected a whole number of {bits} bits"),
            };
            self.refused(format!("`{text}` is no such number"), wanted)
        })
    }

    pub(super) fn bool(&mut self) -> Result<bool> {
        match self.word_with(b"").to_ascii_lowercase().as_str() {
            "true" | "yes" | "on" | "1" => Ok(true),
            "false" | "no" | "off" | "0" => Ok(false),
            other => Err(self.refused(format!("`{other}` is no truth"), "expected true or false")),
        }
    }

    /// A dictionary: values with their types and names. `passed_over` takes what has an unknown type.
    pub(super) fn dictionary(&mut self, passed_over: &mut Vec<String>) -> Result<Fields> {
        self.expect(b'{', "before a dictionary")?;
        let mut fields = Fields::new();
        self.deeper(|text| {
            while !text.eat(b'}') {
                let kind = text.type_name()?;
                let name = if text.is_at_string() {
                    text.string()?
                } else {
                    match text.word_with(b":") {
                        none if none.is_empty() => {
                            return Err(text.unexpected("expected the name of an entry, or `}`"));
                        }
                        name => name.into_owned(),
                    }
                };
                text.expect(b'=', "behind the name of an entry")?;
                let value = match TypeName::parse(&kind) {
                    _ if kind == "dictionary" => Value::Dictionary(text.dictionary(passed_over)?),
                    Some(of) => text.value(of)?,
                    None => {
                        let line = text.line();
                        passed_over.push(format!("line {line}: `{name}`, of type `{kind}`"));
                        text.skip_value()?;
                        text.eat(b',');
                        continue;
                    }
                };
                fields.insert(name, value);
                text.eat(b',');
            }
            Ok(())
        })?;
        Ok(fields)
    }

    /// The name of a type, with `[]` if it is one of arrays.
    pub(super) fn type_name(&mut self) -> Result<String> {
        let mut name = self.word_with(b":").into_owned();
        if name.is_empty() {
            return Err(self.unexpected("expected the name of a type, or the end"));
        }
        if self.eat(b'[') {
            self.expect(b']', "behind the `[` of an array's type")?;
            name += "[]";
        }
        Ok(name)
    }
}
