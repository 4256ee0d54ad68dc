//! Arrays: numbers as they are in memory, integers compressed, and texts by their indices.

use super::super::kind::{Kind, Rep};
use super::super::{SMALLEST_COMPRESSED, integers};
use super::tables::align;
use super::values::is;
use super::{Writer, counted, mismatch};
use crate::error::Result;
use crate::usd::layer::{Array, Value};
use crate::usd::type_name::Scalar;
use half::f16;
use half::slice::HalfFloatSliceExt;

impl<'a> Writer<'a> {
    /// Writes an array whose elements are of a kind. `what` names it in errors.
    pub fn array(
        &mut self,
        array: &'a Array,
        kind: Kind,
        value: &Value,
        what: &str,
    ) -> Result<Rep> {
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
            Array::Float(values, 1) if kind == Kind::Float => {
                let bits: &[u32] = bytemuck::cast_slice(values);
                let content = bytemuck::cast_slice(values);
                tables.store_large(kind, content, || {
                    tabled(out, kind, bits).unwrap_or_else(|| plain(out, kind, content, bits.len()))
                })
            }
            Array::Double(values, 1) if kind == Kind::Double => {
                let bits: &[u64] = bytemuck::cast_slice(values);
                let content = bytemuck::cast_slice(values);
                tables.store_large(kind, content, || {
                    tabled(out, kind, bits).unwrap_or_else(|| plain(out, kind, content, bits.len()))
                })
            }
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

/// Writes an array of few different numbers, such as one radius for all points, as a table and indices into it.
///
/// Numbers are the same if their bits are. An array of many different ones is seen after as many of its elements.
fn tabled<T: bytemuck::Pod + PartialEq>(out: &mut Vec<u8>, kind: Kind, bits: &[T]) -> Option<Rep> {
    const LARGEST: usize = 16;
    if bits.len() < 4 * LARGEST {
        return None;
    }
    let mut table: Vec<T> = Vec::with_capacity(LARGEST);
    let mut indices: Vec<i32> = Vec::new();
    for number in bits {
        let known = table.iter().position(|other| other == number);
        let index = known.unwrap_or_else(|| {
            table.push(*number);
            table.len() - 1
        });
        if table.len() > LARGEST {
            return None;
        }
        indices.push(index as i32);
    }
    let rep = Rep::array(kind, align(out)).compressed();
    let packed = integers::compress(&indices);
    out.extend((bits.len() as u64).to_le_bytes());
    out.push(b't');
    out.extend((table.len() as u32).to_le_bytes());
    out.extend_from_slice(bytemuck::cast_slice(&table));
    out.extend((packed.len() as u64).to_le_bytes());
    out.extend(packed);
    Some(rep)
}

/// The kind of the elements of an array if nothing says more: four numbers are a vector, not a quaternion.
pub fn kind_of_array(array: &Array) -> Option<Kind> {
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

/// Whether the elements of an array are of this kind.
fn fits(array: &Array, kind: Kind) -> bool {
    let natural = kind_of_array(array);
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
