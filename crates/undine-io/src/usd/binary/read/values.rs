//! Values, from the eight bytes that stand for them.

use super::super::kind::{Kind, Rep};
use super::super::list;
use super::super::write::DEEPEST_DICTIONARY;
use super::Crate;
use super::cursor::Cursor;
use crate::error::Result;
use crate::usd::layer::{Array, Fields, ListItem, ListOp, Value};
use crate::usd::type_name::Scalar;
use half::f16;

impl<'a> Crate<'a> {
    /// The value of a rep. What a layer has no place for is `None`, and noted under the name of what has it.
    pub fn value(&mut self, rep: Rep, what: &str) -> Result<Option<Value>> {
        self.nested(rep, what, 0)
    }

    fn nested(&mut self, rep: Rep, what: &str, depth: usize) -> Result<Option<Value>> {
        let at = rep.payload();
        self.make(at, 64)?;
        // Kinds that are not known here may be newer than this; this one is none in any version.
        if rep.kind() == 0 {
            let found = format!("{what}: a value of no kind");
            return Err(self.error(at, found, "each value has a kind"));
        }
        let Some(kind) = Kind::of(rep.kind()).filter(|_| !rep.is_array_edit()) else {
            let kind = if rep.is_array_edit() { "an edit of an array" } else { "an unknown value" };
            self.pass_over(format!("{what}: {kind} of kind {}", rep.kind()))?;
            return Ok(None);
        };
        if rep.is_array() {
            return self.array(rep, kind);
        }
        let bits = rep.bits();
        Ok(Some(match kind {
            Kind::Bool => Value::Bool(bits as u8 != 0),
            Kind::UChar => Value::UChar(bits as u8),
            Kind::Int => Value::Int(bits as i32),
            Kind::UInt => Value::UInt(bits),
            Kind::Int64 if rep.is_inlined() => Value::Int64((bits as i32).into()),
            Kind::Int64 => Value::Int64(self.cursor(at)?.u64()? as i64),
            Kind::UInt64 if rep.is_inlined() => Value::UInt64(bits.into()),
            Kind::UInt64 => Value::UInt64(self.cursor(at)?.u64()?),
            Kind::Half => Value::Half(f16::from_bits(bits as u16).to_f32()),
            Kind::Float => Value::Float(f32::from_bits(bits)),
            Kind::Double if rep.is_inlined() => Value::Double(f32::from_bits(bits).into()),
            Kind::Double | Kind::TimeCode => Value::Double(self.cursor(at)?.f64()?),
            Kind::String => Value::String(self.owned_string(at, bits)?),
            Kind::PathExpression => {
                let text = self.cursor(at)?.u32()?;
                Value::String(self.owned_string(at, text)?)
            }
            Kind::Token => Value::Token(self.owned_token(at, bits)?),
            Kind::Asset => Value::Asset(self.owned_token(at, bits)?),
            Kind::Dictionary if rep.is_inlined() => Value::Dictionary(Fields::new()),
            Kind::Dictionary => {
                let mut cursor = self.cursor(at)?;
                Value::Dictionary(self.dictionary(&mut cursor, what, depth)?)
            }
            Kind::Value => {
                let mut cursor = self.cursor(at)?;
                return self.elsewhere(&mut cursor, what, depth);
            }
            Kind::Unregistered => {
                let mut cursor = self.cursor(at)?;
                let value = self.elsewhere(&mut cursor, what, depth)?;
                return Ok(value.map(unquoted));
            }
            Kind::TokenList
            | Kind::StringList
            | Kind::PathList
            | Kind::ReferenceList
            | Kind::PayloadList => Value::List(self.list(at, kind, what)?),
            Kind::Payload => {
                let mut cursor = self.cursor(at)?;
                let payload = self.item(&mut cursor, Kind::PayloadList, what)?;
                // An empty one says that there shall be none.
                let is_none = matches!(&payload, ListItem::Reference { asset, prim, .. } if asset.is_empty() && prim.is_empty());
                let explicit = if is_none { vec![] } else { vec![payload] };
                Value::List(ListOp { explicit: Some(explicit), ..ListOp::default() })
            }
            Kind::TokenVector => {
                let words = self.token_vector(rep)?;
                let words = words.into_iter().map(|word| self.owned_token(at, word));
                Value::Array(Array::Token(words.collect::<Result<_>>()?))
            }
            Kind::StringVector => {
                let texts = self.indices(at)?;
                let texts = texts.into_iter().map(|text| self.owned_string(at, text));
                Value::Array(Array::String(texts.collect::<Result<_>>()?))
            }
            Kind::DoubleVector => Value::Array(Array::Double(self.doubles(at, 1)?, 1)),
            Kind::LayerOffsets => Value::Array(Array::Double(self.doubles(at, 2)?, 2)),
            Kind::VariantSelection => {
                let mut cursor = self.cursor(at)?;
                let mut chosen = Fields::new();
                for _ in 0..cursor.count(8)? {
                    let set = self.owned_string(at, cursor.u32()?)?;
                    let variant = self.owned_string(at, cursor.u32()?)?;
                    chosen.insert(set, Value::String(variant));
                }
                Value::Dictionary(chosen)
            }
            Kind::Specifier => named(["def", "over", "class"].get(bits as usize)),
            Kind::Permission => named(["public", "private"].get(bits as usize)),
            Kind::Variability => named(["varying", "uniform"].get(bits as usize)),
            Kind::Block | Kind::AnimationBlock => Value::Block,
            Kind::PathVector
            | Kind::IntList
            | Kind::Int64List
            | Kind::UIntList
            | Kind::UInt64List
            | Kind::UnregisteredList
            | Kind::Relocates
            | Kind::Spline
            | Kind::TimeSamples => {
                self.pass_over(format!("{what}: a value of kind {kind:?}"))?;
                return Ok(None);
            }
            Kind::Vec2h => Value::HalfVec(vec![
                f16::from_bits(bits as u16).to_f32(),
                f16::from_bits((bits >> 16) as u16).to_f32(),
            ]),
            _ => self.tuple(rep, kind)?,
        }))
    }

    /// A vector, a quaternion or a matrix.
    fn tuple(&mut self, rep: Rep, kind: Kind) -> Result<Value> {
        let (scalar, width) = kind.tuple().expect("all other kinds are tuples");
        if rep.is_inlined() {
            let bytes = rep.bits().to_le_bytes().map(|byte| i32::from(byte as i8));
            let mut parts = vec![0; width];
            match kind.rows() {
                Some(rows) => (0..rows).for_each(|row| parts[row * (rows + 1)] = bytes[row]),
                None => parts.copy_from_slice(&bytes[..width]),
            }
            let floats = || parts.iter().map(|&part| part as f32).collect();
            return Ok(match scalar {
                Scalar::Half => Value::HalfVec(floats()),
                Scalar::Float => Value::FloatVec(floats()),
                Scalar::Double => Value::DoubleVec(parts.iter().map(|&part| part.into()).collect()),
                _ => Value::IntVec(parts),
            });
        }
        let mut cursor = self.cursor(rep.payload())?;
        Ok(match scalar {
            Scalar::Half => {
                let halfs: Vec<f16> = bytemuck::pod_collect_to_vec(cursor.take(2 * width)?);
                Value::HalfVec(halfs.into_iter().map(f16::to_f32).collect())
            }
            Scalar::Float => Value::FloatVec(bytemuck::pod_collect_to_vec(cursor.take(4 * width)?)),
            Scalar::Double => {
                Value::DoubleVec(bytemuck::pod_collect_to_vec(cursor.take(8 * width)?))
            }
            _ => Value::IntVec(bytemuck::pod_collect_to_vec(cursor.take(4 * width)?)),
        })
    }

    /// A value whose rep is where the next eight bytes say, and after which the cursor goes on.
    fn elsewhere(
        &mut self,
        cursor: &mut Cursor<'a>,
        what: &str,
        depth: usize,
    ) -> Result<Option<Value>> {
        if depth == DEEPEST_DICTIONARY {
            let wanted = format!("values are nested {DEEPEST_DICTIONARY} times at most");
            return Err(self.error(cursor.at(), format!("{what} is nested too deeply"), &wanted));
        }
        cursor.follow()?;
        let rep = Rep(cursor.u64()?);
        self.nested(rep, what, depth + 1)
    }

    fn dictionary(&mut self, cursor: &mut Cursor<'a>, what: &str, depth: usize) -> Result<Fields> {
        let mut fields = Fields::new();
        for _ in 0..cursor.count(20)? {
            let at = cursor.at();
            let name = self.owned_string(at, cursor.u32()?)?;
            self.make(at, 64)?;
            if let Some(value) = self.elsewhere(cursor, what, depth)? {
                fields.insert(name, value);
            }
        }
        Ok(fields)
    }

    /// Times and values.
    pub fn time_samples(&mut self, rep: Rep, what: &str) -> Result<Vec<(f64, Value)>> {
        let at = rep.payload();
        let mut cursor = self.cursor(at)?;
        cursor.follow()?;
        let times = Rep(cursor.u64()?);
        let Some(Value::Array(Array::Double(times, 1))) = self.value(times, what)? else {
            return Err(self.error(at, format!("{what} has no times"), "times are doubles"));
        };
        if times.iter().any(|time| time.is_nan()) || times.windows(2).any(|t| t[0] >= t[1]) {
            return Err(self.error(
                at,
                format!("the times of {what} do not ascend"),
                "they ascend",
            ));
        }
        cursor.follow()?;
        let count = cursor.count(8)?;
        if count != times.len() {
            let wanted = format!("there are {} times", times.len());
            return Err(self.error(at, format!("{what} has {count} values"), &wanted));
        }
        let mut samples = Vec::with_capacity(count);
        for time in times {
            let rep = Rep(cursor.u64()?);
            if let Some(value) = self.value(rep, what)? {
                samples.push((time, value));
            }
        }
        Ok(samples)
    }

    /// An edit of a list. What was once added is appended; an order is left out.
    fn list(&mut self, at: u64, kind: Kind, what: &str) -> Result<ListOp> {
        let mut cursor = self.cursor(at)?;
        let bits = cursor.u8()?;
        let mut edit = ListOp::default();
        if bits & list::IS_EXPLICIT != 0 {
            edit.explicit = Some(Vec::new());
        }
        if bits & list::EXPLICIT != 0 {
            edit.explicit = Some(self.items(&mut cursor, kind, what)?);
        }
        if bits & list::ADDED != 0 {
            edit.appended = self.items(&mut cursor, kind, what)?;
        }
        if bits & list::PREPENDED != 0 {
            edit.prepended = self.items(&mut cursor, kind, what)?;
        }
        if bits & list::APPENDED != 0 {
            edit.appended.extend(self.items(&mut cursor, kind, what)?);
        }
        if bits & list::DELETED != 0 {
            edit.deleted = self.items(&mut cursor, kind, what)?;
        }
        if bits & list::ORDERED != 0 {
            self.pass_over(format!("{what}: the order of a list"))?;
        }
        Ok(edit)
    }

    fn items(&mut self, cursor: &mut Cursor<'a>, kind: Kind, what: &str) -> Result<Vec<ListItem>> {
        let each = match kind {
            Kind::ReferenceList => 32,
            Kind::PayloadList => 8,
            _ => 4,
        };
        let count = cursor.count(each)?;
        let mut items = Vec::new();
        for _ in 0..count {
            items.push(self.item(cursor, kind, what)?);
        }
        Ok(items)
    }

    fn item(&mut self, cursor: &mut Cursor<'a>, kind: Kind, what: &str) -> Result<ListItem> {
        let at = cursor.at();
        self.make(at, 64)?;
        let index = cursor.u32()?;
        match kind {
            Kind::TokenList => return Ok(ListItem::Word(self.owned_token(at, index)?)),
            Kind::StringList => return Ok(ListItem::Word(self.owned_string(at, index)?)),
            Kind::PathList => return Ok(ListItem::Path(self.path(at, index)?)),
            _ => {}
        }
        let asset = self.owned_string(at, index)?;
        let prim = self.path(at, cursor.u32()?)?;
        let (mut offset, mut scale) = (0.0, 1.0);
        if kind == Kind::ReferenceList || self.is_from(8) {
            (offset, scale) = (cursor.f64()?, cursor.f64()?);
        }
        if kind == Kind::ReferenceList && !self.dictionary(cursor, what, 0)?.is_empty() {
            self.pass_over(format!("{what}: the data of a reference to `{asset}`"))?;
        }
        Ok(ListItem::Reference { asset, prim, offset, scale })
    }

    /// The words of a list of names, by their indices.
    pub fn token_vector(&mut self, rep: Rep) -> Result<Vec<u32>> {
        if Kind::of(rep.kind()) != Some(Kind::TokenVector) {
            let found = format!("a list of names is of kind {}", rep.kind());
            return Err(self.error(rep.payload(), found, "names are tokens"));
        }
        self.indices(rep.payload())
    }

    fn indices(&mut self, at: u64) -> Result<Vec<u32>> {
        let mut cursor = self.cursor(at)?;
        let count = cursor.count(4)?;
        self.make(at, 4 * count)?;
        Ok(bytemuck::pod_collect_to_vec(cursor.take(4 * count)?))
    }

    fn doubles(&mut self, at: u64, width: usize) -> Result<Vec<f64>> {
        let mut cursor = self.cursor(at)?;
        let count = cursor.count(8 * width)? * width;
        self.make(at, 8 * count)?;
        Ok(bytemuck::pod_collect_to_vec(cursor.take(8 * count)?))
    }
}

/// A value of metadata that no schema knows is kept as its text, of which a plain string is what stands between the quotes.
fn unquoted(value: Value) -> Value {
    if let Value::String(text) = &value
        && let Some(inner) = text.strip_prefix('"').and_then(|text| text.strip_suffix('"'))
        && !inner.contains(['"', '\\'])
    {
        return Value::String(inner.to_owned());
    }
    value
}

fn named(word: Option<&&str>) -> Value {
    Value::Token((*word.unwrap_or(&"")).to_owned())
}
