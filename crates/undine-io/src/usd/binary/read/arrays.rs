//! Arrays: plain ones are copied, compressed ones taken apart.

use super::super::kind::{Kind, Rep};
use super::super::{SMALLEST_COMPRESSED, integers};
use super::Crate;
use super::cursor::Cursor;
use crate::error::Result;
use crate::usd::layer::{Array, Value};
use crate::usd::type_name::Scalar;
use bytemuck::Pod;
use half::f16;
use half::slice::HalfFloatSliceExt;

impl<'a> Crate<'a> {
    /// The array that a rep stands for; `None` if a layer has no place for such.
    pub fn array(&mut self, rep: Rep, kind: Kind) -> Result<Option<Value>> {
        // An empty array is at no place.
        let mut cursor = None;
        if rep.payload() != 0 {
            let mut start = self.cursor(rep.payload())?;
            if !self.is_from(5) {
                // The number of dimensions, which is always one.
                start.u32()?;
            }
            cursor = Some(start);
        }
        let is_compressed = rep.is_compressed();
        let cursor = cursor.as_mut();
        Ok(Some(Value::Array(match kind {
            Kind::Bool => {
                let bytes = self.plain::<u8>(cursor, 1)?;
                Array::Bool(bytes.into_iter().map(|byte| byte != 0).collect())
            }
            Kind::UChar => Array::UChar(self.plain(cursor, 1)?),
            Kind::Int => Array::Int(self.whole::<i32>(cursor, is_compressed)?, 1),
            Kind::UInt => {
                Array::UInt(bytemuck::cast_vec(self.whole::<i32>(cursor, is_compressed)?))
            }
            Kind::Int64 => Array::Int64(self.whole(cursor, is_compressed)?),
            Kind::UInt64 => {
                Array::UInt64(bytemuck::cast_vec(self.whole::<i64>(cursor, is_compressed)?))
            }
            Kind::Half => {
                let halfs =
                    self.fractions(cursor, is_compressed, |int| f16::from_f32(int as f32))?;
                Array::Half(self.widened(rep.payload(), &halfs)?, 1)
            }
            Kind::Float => {
                Array::Float(self.fractions(cursor, is_compressed, |int| int as f32)?, 1)
            }
            Kind::Double => Array::Double(self.fractions(cursor, is_compressed, f64::from)?, 1),
            Kind::String | Kind::PathExpression => Array::String(self.strings(cursor)?),
            Kind::Asset => Array::Asset(self.strings(cursor)?),
            Kind::Token => {
                let at = rep.payload();
                let words = self.plain::<u32>(cursor, 1)?;
                let words = words.into_iter().map(|word| self.owned_token(at, word));
                Array::Token(words.collect::<Result<_>>()?)
            }
            _ => match kind.tuple() {
                Some((Scalar::Half, width)) => {
                    let halfs = self.plain::<f16>(cursor, width)?;
                    Array::Half(self.widened(rep.payload(), &halfs)?, width)
                }
                Some((Scalar::Float, width)) => Array::Float(self.plain(cursor, width)?, width),
                Some((Scalar::Double, width)) => Array::Double(self.plain(cursor, width)?, width),
                Some((_, width)) => Array::Int(self.plain(cursor, width)?, width),
                None => return Ok(None),
            },
        })))
    }

    /// The number of elements, of which each takes so many bytes.
    fn length(&self, cursor: &mut Cursor<'a>, each: usize) -> Result<usize> {
        let at = cursor.at();
        let count = if self.is_from(7) { cursor.u64()? } else { cursor.u32()?.into() };
        cursor.check(at, count, each)
    }

    /// An array as it stands there, each element of so many numbers.
    fn plain<T: Pod>(&mut self, cursor: Option<&mut Cursor<'a>>, width: usize) -> Result<Vec<T>> {
        let Some(cursor) = cursor else { return Ok(Vec::new()) };
        let count = self.length(cursor, size_of::<T>() * width)?;
        self.copied(cursor, count * width)
    }

    fn copied<T: Pod>(&mut self, cursor: &mut Cursor<'a>, count: usize) -> Result<Vec<T>> {
        let at = cursor.at();
        let bytes = cursor.take(size_of::<T>() * count)?;
        self.make(at, bytes.len())?;
        Ok(bytemuck::pod_collect_to_vec(bytes))
    }

    /// An array of integers, compressed or not.
    fn whole<T: integers::Packed>(
        &mut self,
        cursor: Option<&mut Cursor<'a>>,
        is_compressed: bool,
    ) -> Result<Vec<T>> {
        match cursor {
            Some(cursor) if is_compressed && self.is_from(5) => {
                let count = self.length(cursor, 0)?;
                if count < SMALLEST_COMPRESSED {
                    return self.copied(cursor, count);
                }
                self.integers(cursor, count as u64)
            }
            cursor => self.plain(cursor, 1),
        }
    }

    /// An array of fractions: as they are, as integers, or as indices into a table of the few that there are.
    fn fractions<T: Pod>(
        &mut self,
        cursor: Option<&mut Cursor<'a>>,
        is_compressed: bool,
        of_integer: impl Fn(i32) -> T,
    ) -> Result<Vec<T>> {
        let cursor = match cursor {
            Some(cursor) if is_compressed && self.is_from(6) => cursor,
            cursor => return self.plain(cursor, 1),
        };
        let count = self.length(cursor, 0)?;
        if count < SMALLEST_COMPRESSED {
            return self.copied(cursor, count);
        }
        let at = cursor.at();
        match cursor.u8()? {
            b'i' => {
                let integers = self.integers(cursor, count as u64)?;
                self.make(at, size_of::<T>() * integers.len())?;
                Ok(integers.into_iter().map(of_integer).collect())
            }
            b't' => {
                let size = cursor.u32()?;
                cursor.check(at, size.into(), size_of::<T>())?;
                let table: Vec<T> = self.copied(cursor, size as usize)?;
                let indices = self.integers::<i32>(cursor, count as u64)?;
                self.make(at, size_of::<T>() * indices.len())?;
                let found = indices.iter().map(|&index| table.get(index as u32 as usize).copied());
                found.collect::<Option<_>>().ok_or_else(|| {
                    let wanted = format!("the table has {size} numbers");
                    self.error(at, "an index is beyond its table", &wanted)
                })
            }
            code => {
                let wanted = "numbers are coded as `i` or `t`";
                Err(self.error(at, format!("code {}", (code as char).escape_default()), wanted))
            }
        }
    }

    fn widened(&mut self, at: u64, halfs: &[f16]) -> Result<Vec<f32>> {
        self.make(at, 4 * halfs.len())?;
        let mut wide = vec![0.0; halfs.len()];
        halfs.convert_to_f32_slice(&mut wide);
        Ok(wide)
    }

    fn strings(&mut self, cursor: Option<&mut Cursor<'a>>) -> Result<Vec<String>> {
        let at = cursor.as_ref().map_or(0, |cursor| cursor.at());
        let indices = self.plain::<u32>(cursor, 1)?;
        indices.into_iter().map(|index| self.owned_string(at, index)).collect()
    }
}
