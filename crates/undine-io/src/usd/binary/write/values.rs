//! Values: inside the eight bytes that stand for them where they fit, else in the file.

use super::super::kind::{Kind, Rep};
use super::arrays::kind_of_array;
use super::{Writer, mismatch, unwritable};
use crate::error::Result;
use crate::usd::layer::{Fields, Value};
use crate::usd::type_name::Scalar;
use half::f16;
use std::cmp::Ordering::Less;

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
        let ascend = |pair: &[(f64, Value)]| pair[0].0.partial_cmp(&pair[1].0) == Some(Less);
        if let Some(pair) = samples.windows(2).find(|pair| !ascend(pair)) {
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
}

/// How far away a value is from the eight bytes that say so, if it follows them.
const AT_ONCE: i64 = 8;

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
        Value::Array(array) => kind_of_array(array),
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

/// Whether a kind has such components.
pub fn is(kind: Kind, scalar: Scalar, width: usize) -> bool {
    kind.tuple() == Some((scalar, width))
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
