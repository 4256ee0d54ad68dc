//! Attributes of points: a name, a column of values over all points, and how a file keeps them.

use super::element::Element;
use super::stored::Stored;
use crate::error::{Result, VdbError};
use rayon::prelude::*;
use std::sync::{Mutex, PoisonError};

/// What every point has under one name.
#[derive(Debug, Clone, PartialEq)]
pub struct Attribute {
    /// Its name: letters, digits, `_`, `|` and `:`.
    pub name: String,
    /// The values of all points, each `stride` of them, in the order of the points.
    pub values: Column,
    /// How many values each point has: 1, or more for an array at each point.
    pub stride: u32,
    /// How a file keeps them.
    pub stored: Stored,
    /// Whether programs that show attributes pass over it.
    pub hidden: bool,
}

impl Attribute {
    /// One value a point, kept whole.
    pub fn new(name: impl Into<String>, values: impl Into<Column>) -> Self {
        let (name, values) = (name.into(), values.into());
        Self { name, values, stride: 1, stored: Stored::Whole, hidden: false }
    }

    /// The same, kept in this way.
    pub fn stored(mut self, stored: Stored) -> Self {
        self.stored = stored;
        self
    }

    /// The same, with this many values a point.
    pub fn strided(mut self, stride: u32) -> Self {
        self.stride = stride;
        self
    }

    /// Refuses what a file cannot hold for this many points.
    pub(super) fn check(&self, points: usize) -> Result<()> {
        let wrong = |found: String, wanted: &str| {
            Err(VdbError::Points { found, wanted: wanted.to_string() })
        };
        let Self { name, values, stride, stored, .. } = self;
        check_name(name)?;
        if *stride == 0 || points.checked_mul(*stride as usize) != Some(values.len()) {
            let found = format!(
                "`{name}` has {} values for {points} points of {stride} each",
                values.len()
            );
            return wrong(found, "each point needs as many values as the stride says, at least 1");
        }
        if !values.may_be(*stored) {
            let found = format!("`{name}` of type {} kept as {}", values.word(), stored.word());
            return wrong(found, "fewer bits are for float and vec3s alone, directions for vec3s");
        }
        if let Column::String(strings) = values
            && let Some(index) =
                strings.indices.iter().find(|&&i| i as usize >= strings.table.len())
        {
            let found = format!("`{name}` has string {index} of {}", strings.table.len());
            return wrong(found, "each index must be one into the table");
        }
        Ok(())
    }
}

/// Refuses a name that OpenVDB does not read.
pub(super) fn check_name(name: &str) -> Result<()> {
    let is_fit = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '|' | ':');
    if !name.is_empty() && name.chars().all(is_fit) {
        return Ok(());
    }
    let found = format!("the name {name:?}");
    Err(VdbError::Points { found, wanted: "letters, digits, `_`, `|` and `:` make a name".into() })
}

/// The values of an attribute, by type. Matrices have their rows one after another.
#[derive(Debug, Clone, PartialEq)]
pub enum Column {
    /// `f32`.
    Float(Vec<f32>),
    /// `f64`.
    Double(Vec<f64>),
    /// `i8`.
    Int8(Vec<i8>),
    /// `i16`.
    Int16(Vec<i16>),
    /// `i32`.
    Int32(Vec<i32>),
    /// `i64`.
    Int64(Vec<i64>),
    /// `bool`.
    Bool(Vec<bool>),
    /// `[f32; 3]`.
    Vec3s(Vec<[f32; 3]>),
    /// `[f64; 3]`.
    Vec3d(Vec<[f64; 3]>),
    /// `[i32; 3]`.
    Vec3i(Vec<[i32; 3]>),
    /// 3 × 3 `f32`.
    Mat3s(Vec<[f32; 9]>),
    /// 3 × 3 `f64`.
    Mat3d(Vec<[f64; 9]>),
    /// 4 × 4 `f32`.
    Mat4s(Vec<[f32; 16]>),
    /// 4 × 4 `f64`.
    Mat4d(Vec<[f64; 16]>),
    /// Quaternions of `f32`: x, y, z, w.
    Quats(Vec<[f32; 4]>),
    /// Quaternions of `f64`: x, y, z, w.
    Quatd(Vec<[f64; 4]>),
    /// Text.
    String(Strings),
}

/// Texts, each once, and which of them each value is.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Strings {
    /// The texts.
    pub table: Vec<String>,
    /// Which text each value is.
    pub indices: Vec<u32>,
}

/// The same expression for the vector inside a column, whatever its type; for texts the one of their indices.
macro_rules! with_values {
    ($column:expr, $values:ident => $then:expr) => {
        match $column {
            $crate::points::Column::Float($values) => $then,
            $crate::points::Column::Double($values) => $then,
            $crate::points::Column::Int8($values) => $then,
            $crate::points::Column::Int16($values) => $then,
            $crate::points::Column::Int32($values) => $then,
            $crate::points::Column::Int64($values) => $then,
            $crate::points::Column::Bool($values) => $then,
            $crate::points::Column::Vec3s($values) => $then,
            $crate::points::Column::Vec3d($values) => $then,
            $crate::points::Column::Vec3i($values) => $then,
            $crate::points::Column::Mat3s($values) => $then,
            $crate::points::Column::Mat3d($values) => $then,
            $crate::points::Column::Mat4s($values) => $then,
            $crate::points::Column::Mat4d($values) => $then,
            $crate::points::Column::Quats($values) => $then,
            $crate::points::Column::Quatd($values) => $then,
            $crate::points::Column::String($crate::points::Strings {
                indices: $values, ..
            }) => $then,
        }
    };
}
pub(super) use with_values;

impl Column {
    /// How many values it has.
    pub fn len(&self) -> usize {
        with_values!(self, values => values.len())
    }

    /// How much memory its values take, texts included [bytes].
    pub(super) fn memory(&self) -> u64 {
        let values = with_values!(self, values => size_of_val(values.as_slice()));
        let texts: usize = match self {
            Self::String(strings) => {
                strings.table.iter().map(|text| size_of::<String>() + text.len()).sum()
            }
            _ => 0,
        };
        (values + texts) as u64
    }

    /// Whether it has none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The word for its type in a file.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Float(_) => "float",
            Self::Double(_) => "double",
            Self::Int8(_) => "int8",
            Self::Int16(_) => "int16",
            Self::Int32(_) => "int32",
            Self::Int64(_) => "int64",
            Self::Bool(_) => "bool",
            Self::Vec3s(_) => "vec3s",
            Self::Vec3d(_) => "vec3d",
            Self::Vec3i(_) => "vec3i",
            Self::Mat3s(_) => "mat3s",
            Self::Mat3d(_) => "mat3d",
            Self::Mat4s(_) => "mat4s",
            Self::Mat4d(_) => "mat4d",
            Self::Quats(_) => "quats",
            Self::Quatd(_) => "quatd",
            Self::String(_) => "uint32",
        }
    }

    /// A column without values, of the type of this word.
    pub(super) fn of_word(word: &str) -> Option<Self> {
        Some(match word {
            "float" => Self::Float(Vec::new()),
            "double" => Self::Double(Vec::new()),
            "int8" => Self::Int8(Vec::new()),
            "int16" => Self::Int16(Vec::new()),
            "int32" => Self::Int32(Vec::new()),
            "int64" => Self::Int64(Vec::new()),
            "bool" => Self::Bool(Vec::new()),
            "vec3s" => Self::Vec3s(Vec::new()),
            "vec3d" => Self::Vec3d(Vec::new()),
            "vec3i" => Self::Vec3i(Vec::new()),
            "mat3s" => Self::Mat3s(Vec::new()),
            "mat3d" => Self::Mat3d(Vec::new()),
            "mat4s" => Self::Mat4s(Vec::new()),
            "mat4d" => Self::Mat4d(Vec::new()),
            "quats" => Self::Quats(Vec::new()),
            "quatd" => Self::Quatd(Vec::new()),
            _ => return None,
        })
    }

    /// Whether OpenVDB has a codec for this type and way of keeping it.
    pub fn may_be(&self, stored: Stored) -> bool {
        use Stored::{Centred8, Centred16, Direction, Half, Unit8, Unit16, Whole};
        match stored {
            Whole => true,
            Half | Unit8 | Unit16 => matches!(self, Self::Float(_) | Self::Vec3s(_)),
            Centred8 | Centred16 | Direction => matches!(self, Self::Vec3s(_)),
        }
    }

    /// How long a value is in memory [bytes].
    pub(super) fn value_size(&self) -> usize {
        fn size<T>(_: &[T]) -> usize {
            size_of::<T>()
        }
        with_values!(self, values => size(values))
    }

    /// The values of the points in this order.
    pub(super) fn gathered(mut self, order: &[u32], stride: usize) -> Self {
        with_values!(&mut self, values => *values = gather(values, order, stride));
        self
    }
}

/// How many points a thread takes at a time.
const SHARE: usize = 1 << 14;

fn gather<T: Element>(values: &[T], order: &[u32], stride: usize) -> Vec<T> {
    if stride == 0 {
        return Vec::new();
    }
    let mut gathered = vec![T::default(); order.len() * stride];
    let parts: Vec<Mutex<&mut [T]>> = gathered.chunks_mut(SHARE * stride).map(Mutex::new).collect();
    each_part(parts.len(), &|part| {
        // No two threads have the same part, so that none waits.
        let mut targets = parts[part].lock().unwrap_or_else(PoisonError::into_inner);
        let points = order[part * SHARE..].iter().map(|&point| point as usize);
        match stride {
            1 => targets.iter_mut().zip(points).for_each(|(to, point)| *to = values[point]),
            _ => targets.chunks_exact_mut(stride).zip(points).for_each(|(to, point)| {
                to.copy_from_slice(&values[point * stride..(point + 1) * stride]);
            }),
        }
    });
    drop(parts);
    gathered
}

/// Has threads do this many parts of a work. It is not generic: the machine code of a parallel loop is large, and each type
/// of column would have one of its own.
fn each_part(count: usize, work: &(dyn Fn(usize) + Sync)) {
    (0..count).into_par_iter().for_each(work);
}

macro_rules! from_vectors {
    ($($type:ty => $variant:ident),+ $(,)?) => {$(
        impl From<Vec<$type>> for Column {
            fn from(values: Vec<$type>) -> Self {
                Self::$variant(values)
            }
        }
    )+};
}
from_vectors!(
    f32 => Float,
    f64 => Double,
    i8 => Int8,
    i16 => Int16,
    i32 => Int32,
    i64 => Int64,
    bool => Bool,
    [f32; 3] => Vec3s,
    [f64; 3] => Vec3d,
    [i32; 3] => Vec3i,
    [f32; 9] => Mat3s,
    [f64; 9] => Mat3d,
    [f32; 16] => Mat4s,
    [f64; 16] => Mat4d,
    [f32; 4] => Quats,
    [f64; 4] => Quatd,
);

impl From<Strings> for Column {
    fn from(strings: Strings) -> Self {
        Self::String(strings)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_column_follows_an_order() {
        let column = Column::from(vec![1, 2, 3, 4, 5, 6]).gathered(&[2, 0], 2);
        assert_eq!(column, Column::Int32(vec![5, 6, 1, 2]));
        let column = Column::from(vec![1.0f32, 2.0, 3.0]).gathered(&[1, 0], 1);
        assert_eq!(column, Column::Float(vec![2.0, 1.0]));
    }

    #[test]
    fn what_a_file_cannot_hold_is_refused() {
        let fit = Attribute::new("v", vec![[0f32; 3]; 2]);
        assert!(fit.check(2).is_ok());
        assert!(fit.clone().stored(Stored::Direction).check(2).is_ok());
        assert!(fit.check(3).is_err());
        assert!(fit.clone().strided(0).check(2).is_err());
        assert!(Attribute::new("a b", vec![0f32]).check(1).is_err());
        assert!(Attribute::new("", vec![0f32]).check(1).is_err());
        assert!(Attribute::new("n", vec![0f64]).stored(Stored::Half).check(1).is_err());
        let strings = Strings { table: vec![String::new()], indices: vec![1] };
        assert!(Attribute::new("s", strings).check(1).is_err());
    }

    #[test]
    fn types_are_found_by_their_words() {
        for word in ["float", "int8", "vec3d", "mat4s", "quatd", "bool"] {
            assert_eq!(Column::of_word(word).unwrap().word(), word);
        }
        assert_eq!(Column::of_word("vec2s"), None);
    }
}
