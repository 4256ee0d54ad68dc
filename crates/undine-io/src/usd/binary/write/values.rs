//! Values: inside the eight bytes that stand for them where they fit, else in the file.

use super::super::kind::{Kind, Rep};
use super::super::{SMALLEST_COMPRESSED, integers};
use super::tables::align;
use super::{Writer, counted, mismatch, unwritable};
use crate::error::Result;
use crate::usd::layer::{Array, Fields, Value};
use crate::usd::type_name::Scalar;
use half::f16;
use half::slice::HalfFloatSliceExt;

/// The deepest dictionary that is written or read.
pub const DEEPEST_DICTIONARY: usize = 64;

impl<'a> Writer<'a> {
    /// Writes a value of a kind, or of the kind that it seems to have. `what` names it in errors.
    pub fn value(&mut self, value: &'a Value, kind: Option<Kind>, what: &str) -> Result<Rep> {
        self.nested(value, kind, what, 0)
    }

    fn nested(
        &mut self,
        value: &'a Value,
        kind: Option<Kind>,
        what: &str,
        depth: usize,
    ) -> Result<Rep> {
        let kind = match kind {
            Some(kind) => kind,
            None => natural(value, what)?,
        };
        match kind {
            Kind::TimeCode => self.version = self.version.max([0, 9, 0]),
            Kind::PathExpression => self.version = self.version.max([0, 10, 0]),
            _ => {}
        }
        Ok(match (value, kind) {
            (Value::Block, _) => Rep::inlined(Kind::Block, 0),
            (&Value::Bool(value), Kind::Bool) => Rep::inlined(kind, value.into()),
            (&Value::UChar(value), Kind::UChar) => Rep::inlined(kind, value.into()),
            (&Value::Int(value), Kind::Int) => Rep::inlined(kind, value as u32),
            (&Value::UInt(value), Kind::UInt) => Rep::inlined(kind, value),
            (&Value::Int64(value), Kind::Int64) => match i32::try_from(value) {
                Ok(small) => Rep::inlined(kind, small as u32),
                Err(_) => self.store(kind, value.to_le_bytes().into()),
            },
            (&Value::UInt64(value), Kind::UInt64) => match u32::try_from(value) {
                Ok(small) => Rep::inlined(kind, small),
                Err(_) => self.store(kind, value.to_le_bytes().into()),
            },
            (&Value::Half(value), Kind::Half) => {
                Rep::inlined(kind, f16::from_f32(value).to_bits().into())
            }
            (&Value::Float(value), Kind::Float) => Rep::inlined(kind, value.to_bits()),
            (&Value::Double(value), Kind::Double) => self.double(value),
            (&Value::Double(value), Kind::TimeCode) => self.store(kind, value.to_le_bytes().into()),
            (Value::String(text), Kind::String) => Rep::inlined(kind, self.tables.string(text)),
            (Value::String(text), Kind::PathExpression) => {
                let text = self.tables.string(text);
                self.store(kind, text.to_le_bytes().into())
            }
            (Value::Token(text), Kind::Token) | (Value::Asset(text), Kind::Asset) => {
                Rep::inlined(kind, self.tables.token(text))
            }
            (Value::IntVec(parts), _) if is(kind, Scalar::Int, parts.len()) => {
                let small = small(kind, parts.iter().map(|&part| i8::try_from(part).ok()));
                small.unwrap_or_else(|| self.store(kind, bytemuck::cast_slice(parts).into()))
            }
            (Value::HalfVec(parts), _) if is(kind, Scalar::Half, parts.len()) => {
                let bits: Vec<u16> =
                    parts.iter().map(|&part| f16::from_f32(part).to_bits()).collect();
                // Two halfs are four bytes, and stand there as they are.
                if kind == Kind::Vec2h {
                    return Ok(Rep::inlined(kind, u32::from(bits[1]) << 16 | u32::from(bits[0])));
                }
                let small = small(kind, parts.iter().map(|&part| whole(part.into())));
                small.unwrap_or_else(|| self.store(kind, bytemuck::cast_slice(&bits).into()))
            }
            (Value::FloatVec(parts), _) if is(kind, Scalar::Float, parts.len()) => {
                let small = small(kind, parts.iter().map(|&part| whole(part.into())));
                small.unwrap_or_else(|| self.store(kind, bytemuck::cast_slice(parts).into()))
            }
            (Value::DoubleVec(parts), _) if is(kind, Scalar::Double, parts.len()) => {
                let small = match kind.rows() {
                    Some(rows) => diagonal(kind, parts, rows),
                    None => small(kind, parts.iter().map(|&part| whole(part))),
                };
                small.unwrap_or_else(|| self.store(kind, bytemuck::cast_slice(parts).into()))
            }
            (Value::Array(array), _) => self.array(array, kind, value, what)?,
            (Value::Dictionary(entries), Kind::Dictionary) => {
                self.dictionary(entries, what, depth)?
            }
            (Value::List(edit), _) => self.list(edit, kind, what)?,
            _ => return Err(mismatch(value, kind, what)),
        })
    }

    /// A double, inlined as a float if it is one.
    pub fn double(&mut self, value: f64) -> Rep {
        let single = value as f32;
        if f64::from(single).to_bits() == value.to_bits() {
            return Rep::inlined(Kind::Double, single.to_bits());
        }
        self.store(Kind::Double, value.to_le_bytes().into())
    }

    pub fn store(&mut self, kind: Kind, block: Vec<u8>) -> Rep {
        self.tables.store(&mut self.out, kind, block)
    }

    /// Values by name. What they need is written before, so that each value follows its name at once.
    fn dictionary(&mut self, entries: &'a Fields, what: &str, depth: usize) -> Result<Rep> {
        if entries.is_empty() {
            return Ok(Rep::inlined(Kind::Dictionary, 0));
        }
        if depth == DEEPEST_DICTIONARY {
            return Err(unwritable(
                format!("`{what}`"),
                format!("it is below {depth} dictionaries"),
                "dictionaries are nested less",
            ));
        }
        let mut block = (entries.len() as u64).to_le_bytes().to_vec();
        for (name, value) in entries {
            let rep = self.nested(value, None, name, depth + 1)?;
            block.extend(self.tables.string(name).to_le_bytes());
            block.extend(AT_ONCE.to_le_bytes());
            block.extend(rep.0.to_le_bytes());
        }
        Ok(self.store(Kind::Dictionary, block))
    }

    /// The times, which are shared by all attributes that have the same, and the values.
    pub fn time_samples(
        &mut self,
        samples: &'a [(f64, Value)],
        kind: Option<Kind>,
        what: &str,
    ) -> Result<Rep> {
        if let Some(pair) = samples.windows(2).find(|pair| !(pair[0].0 < pair[1].0)) {
            return Err(unwritable(
                format!("`{what}`"),
                format!("time {} comes before time {}", pair[0].0, pair[1].0),
                "times ascend",
            ));
        }
        let mut times = (samples.len() as u64).to_le_bytes().to_vec();
        samples.iter().for_each(|(time, _)| times.extend(time.to_le_bytes()));
        let times = self.store(Kind::DoubleVector, times);
        let mut block = AT_ONCE.to_le_bytes().to_vec();
        block.extend(times.0.to_le_bytes());
        block.extend(AT_ONCE.to_le_bytes());
        block.extend((samples.len() as u64).to_le_bytes());
        for (_, value) in samples {
            block.extend(self.value(value, kind, what)?.0.to_le_bytes());
        }
        Ok(self.store(Kind::TimeSamples, block))
    }

    fn array(&mut self, array: &'a Array, kind: Kind, value: &Value, what: &str) -> Result<Rep> {
        let (tables, out) = (&mut self.tables, &mut self.out);
        let whole = |width: usize, scalar, count: usize| {
            is(kind, scalar, width) && count.is_multiple_of(width)
        };
        Ok(match array {
            _ if is_empty(array) && fits(array, kind) => Rep::array(kind, 0),
            Array::Bool(values) if kind == Kind::Bool => {
                let mut block = (values.len() as u64).to_le_bytes().to_vec();
                block.extend(values.iter().map(|&value| u8::from(value)));
                tables.store_array(out, kind, block)
            }
            Array::UChar(values) if kind == Kind::UChar => {
                tables.store_large(kind, values, || plain(out, kind, values, values.len()))
            }
            Array::Int(values, 1) if kind == Kind::Int => {
                let content = bytemuck::cast_slice(values);
                tables.store_large(kind, content, || compressed(out, kind, values, content))
            }
            Array::UInt(values) if kind == Kind::UInt => {
                let content = bytemuck::cast_slice(values);
                let signed: &[i32] = bytemuck::cast_slice(values);
                tables.store_large(kind, content, || compressed(out, kind, signed, content))
            }
            Array::Int64(values) if kind == Kind::Int64 => {
                let content = bytemuck::cast_slice(values);
                tables.store_large(kind, content, || compressed(out, kind, values, content))
            }
            Array::UInt64(values) if kind == Kind::UInt64 => {
                let content = bytemuck::cast_slice(values);
                let signed: &[i64] = bytemuck::cast_slice(values);
                tables.store_large(kind, content, || compressed(out, kind, signed, content))
            }
            Array::Int(values, width) if whole(*width, Scalar::Int, values.len()) => {
                let content = bytemuck::cast_slice(values);
                tables
                    .store_large(kind, content, || plain(out, kind, content, values.len() / width))
            }
            Array::Half(values, width) if whole(*width, Scalar::Half, values.len()) => tables
                .store_large(kind, bytemuck::cast_slice(values), || {
                    let mut bits = vec![f16::ZERO; values.len()];
                    bits.convert_from_f32_slice(values);
                    plain(out, kind, bytemuck::cast_slice(&bits), values.len() / width)
                }),
            Array::Float(values, width) if whole(*width, Scalar::Float, values.len()) => {
                let content = bytemuck::cast_slice(values);
                tables
                    .store_large(kind, content, || plain(out, kind, content, values.len() / width))
            }
            Array::Double(values, width) if whole(*width, Scalar::Double, values.len()) => {
                let content = bytemuck::cast_slice(values);
                tables
                    .store_large(kind, content, || plain(out, kind, content, values.len() / width))
            }
            // An asset is a word where it stands alone, and a string in an array.
            Array::String(texts) | Array::Asset(texts) if fits(array, kind) => {
                let indices: Vec<u32> = texts.iter().map(|text| tables.string(text)).collect();
                tables.store_array(out, kind, counted(&indices))
            }
            Array::Token(texts) if kind == Kind::Token => {
                let indices: Vec<u32> = texts.iter().map(|text| tables.token(text)).collect();
                tables.store_array(out, kind, counted(&indices))
            }
            _ => return Err(mismatch(value, kind, what)),
        })
    }
}

/// How far away a value is from the eight bytes that say so, if it follows them.
const AT_ONCE: i64 = 8;

/// Writes an array as it is.
fn plain(out: &mut Vec<u8>, kind: Kind, content: &[u8], count: usize) -> Rep {
    let rep = Rep::array(kind, align(out));
    out.extend((count as u64).to_le_bytes());
    out.extend_from_slice(content);
    rep
}

/// Writes an array of integers compressed, unless it is short.
fn compressed<T: integers::Packed>(
    out: &mut Vec<u8>,
    kind: Kind,
    values: &[T],
    content: &[u8],
) -> Rep {
    if values.len() < SMALLEST_COMPRESSED {
        return plain(out, kind, content, values.len());
    }
    let rep = Rep::array(kind, align(out)).compressed();
    let packed = integers::compress(values);
    out.extend((values.len() as u64).to_le_bytes());
    out.extend((packed.len() as u64).to_le_bytes());
    out.extend(packed);
    rep
}

/// The kind that a value has if nothing says more: a tuple of four is a vector, not a quaternion.
fn natural(value: &Value, what: &str) -> Result<Kind> {
    let of = |scalar, width| Kind::of_tuple(scalar, width);
    let kind = match value {
        Value::Block => Some(Kind::Block),
        Value::Bool(_) => Some(Kind::Bool),
        Value::UChar(_) => Some(Kind::UChar),
        Value::Int(_) => Some(Kind::Int),
        Value::UInt(_) => Some(Kind::UInt),
        Value::Int64(_) => Some(Kind::Int64),
        Value::UInt64(_) => Some(Kind::UInt64),
        Value::Half(_) => Some(Kind::Half),
        Value::Float(_) => Some(Kind::Float),
        Value::Double(_) => Some(Kind::Double),
        Value::String(_) => Some(Kind::String),
        Value::Token(_) => Some(Kind::Token),
        Value::Asset(_) => Some(Kind::Asset),
        Value::IntVec(parts) => of(Scalar::Int, parts.len()),
        Value::HalfVec(parts) => of(Scalar::Half, parts.len()),
        Value::FloatVec(parts) => of(Scalar::Float, parts.len()),
        Value::DoubleVec(parts) => of(Scalar::Double, parts.len()),
        Value::Array(array) => natural_of_array(array),
        Value::Dictionary(_) => Some(Kind::Dictionary),
        Value::List(edit) => Some(super::metadata::kind_of_list(edit)),
    };
    kind.ok_or_else(|| {
        unwritable(
            format!("`{what}`"),
            "no type has so many components".into(),
            "a vector has 2, 3 or 4, and a matrix 4, 9 or 16",
        )
    })
}

fn natural_of_array(array: &Array) -> Option<Kind> {
    match array {
        Array::Bool(_) => Some(Kind::Bool),
        Array::UChar(_) => Some(Kind::UChar),
        Array::Int(_, width) => Kind::of_tuple(Scalar::Int, *width),
        Array::UInt(_) => Some(Kind::UInt),
        Array::Int64(_) => Some(Kind::Int64),
        Array::UInt64(_) => Some(Kind::UInt64),
        Array::Half(_, width) => Kind::of_tuple(Scalar::Half, *width),
        Array::Float(_, width) => Kind::of_tuple(Scalar::Float, *width),
        Array::Double(_, width) => Kind::of_tuple(Scalar::Double, *width),
        Array::String(_) => Some(Kind::String),
        Array::Token(_) => Some(Kind::Token),
        Array::Asset(_) => Some(Kind::Asset),
    }
}

/// Whether a kind has such components.
fn is(kind: Kind, scalar: Scalar, width: usize) -> bool {
    kind.tuple() == Some((scalar, width))
}

/// Whether the elements of an array are of this kind.
fn fits(array: &Array, kind: Kind) -> bool {
    let natural = natural_of_array(array);
    natural == Some(kind)
        || natural.is_some_and(|natural| natural.tuple() == kind.tuple() && kind.tuple().is_some())
        || (natural == Some(Kind::String) && kind == Kind::PathExpression)
}

fn is_empty(array: &Array) -> bool {
    match array {
        Array::Bool(values) => values.is_empty(),
        Array::UChar(values) => values.is_empty(),
        Array::Int(values, _) => values.is_empty(),
        Array::UInt(values) => values.is_empty(),
        Array::Int64(values) => values.is_empty(),
        Array::UInt64(values) => values.is_empty(),
        Array::Half(values, _) | Array::Float(values, _) => values.is_empty(),
        Array::Double(values, _) => values.is_empty(),
        Array::String(texts) | Array::Token(texts) | Array::Asset(texts) => texts.is_empty(),
    }
}

/// A number as a byte, if it is a whole one from −128 to 127. Minus zero is none.
fn whole(number: f64) -> Option<i8> {
    let byte = number as i8;
    (f64::from(byte).to_bits() == number.to_bits()).then_some(byte)
}

/// A vector whose components all fit into a byte.
fn small(kind: Kind, parts: impl Iterator<Item = Option<i8>>) -> Option<Rep> {
    // A quaternion is never inlined.
    if matches!(kind, Kind::Quath | Kind::Quatf | Kind::Quatd) {
        return None;
    }
    let mut bytes = [0; 4];
    for (byte, part) in bytes.iter_mut().zip(parts) {
        *byte = part? as u8;
    }
    Some(Rep::inlined(kind, u32::from_le_bytes(bytes)))
}

/// A matrix that is zero but on its diagonal, whose elements there fit into a byte.
fn diagonal(kind: Kind, parts: &[f64], rows: usize) -> Option<Rep> {
    let off = |i: usize| i / rows != i % rows;
    if (0..parts.len()).any(|i| off(i) && parts[i].to_bits() != 0) {
        return None;
    }
    small(kind, (0..rows).map(|row| whole(parts[row * (rows + 1)])))
}
