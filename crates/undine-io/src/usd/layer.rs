//! A layer as it stands in one file: prims with attributes and relationships, before any composition.
//!
//! Both file formats are ways of writing this down; what a prim means as geometry is said elsewhere.

use std::collections::BTreeMap;

/// Metadata by name, in the order of the names.
///
/// The names are those of the scene description itself, as the binary format spells them; the text has shorter words for a
/// few: `documentation` (`doc`), `inheritPaths` (`inherits`), `variantSetNames` (`variantSets`), `variantSelection` (`variants`).
/// `subLayers` is an array of assets, and `subLayerOffsets`, if there are any, an array of `double2`: offset and scale of each.
pub type Fields = BTreeMap<String, Value>;

/// One file of scene description.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Layer {
    /// Metadata of the whole: `defaultPrim`, `upAxis`, `metersPerUnit`, `timeCodesPerSecond`, …
    pub fields: Fields,
    /// The prims at the top, in order.
    pub prims: Vec<Prim>,
    /// What a reader left out because this model has no place for it, in words: `line 12: variant set …`.
    pub passed_over: Vec<String>,
}

/// Whether a prim is made here.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Specifier {
    /// It is.
    #[default]
    Def,
    /// It is only added to.
    Over,
    /// It is a pattern for others.
    Class,
}

/// A prim: a named thing with properties and children.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Prim {
    /// Its name, an identifier.
    pub name: String,
    /// Whether it is made here.
    pub specifier: Specifier,
    /// Its schema, such as `Mesh`; empty if it has none.
    pub type_name: String,
    /// Its metadata: `kind`, `clips`, `apiSchemas`, …
    pub fields: Fields,
    /// Its attributes, in order.
    pub attributes: Vec<Attribute>,
    /// Its relationships, in order.
    pub relationships: Vec<Relationship>,
    /// The prims below it, in order.
    pub children: Vec<Prim>,
}

/// An attribute: a value, or one at each of several times. Connections to other attributes are not kept.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Attribute {
    /// Its name, with namespaces: `primvars:id`.
    pub name: String,
    /// The type that it is declared with: `point3f[]`.
    pub type_name: String,
    /// Whether it can have one value only.
    pub uniform: bool,
    /// Whether its schema does not know it.
    pub custom: bool,
    /// Its value at all times for which there is no sample.
    pub default: Option<Value>,
    /// Its values at times, in ascending order [time codes].
    pub samples: Vec<(f64, Value)>,
    /// Its metadata: `interpolation`, `elementSize`, …
    pub fields: Fields,
}

/// A relationship: paths of other prims.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Relationship {
    /// Its name: `field:density`.
    pub name: String,
    /// The paths of what it points to, whether they replace a list or are added to one.
    pub targets: Vec<String>,
}

/// A value of metadata or of an attribute.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// Explicitly none.
    Block,
    /// `bool`.
    Bool(bool),
    /// `uchar`.
    UChar(u8),
    /// `int`.
    Int(i32),
    /// `uint`.
    UInt(u32),
    /// `int64`.
    Int64(i64),
    /// `uint64`.
    UInt64(u64),
    /// `half`, widened.
    Half(f32),
    /// `float`.
    Float(f32),
    /// `double`, `timecode`.
    Double(f64),
    /// `string`.
    String(String),
    /// `token`.
    Token(String),
    /// `asset`: the path of a file.
    Asset(String),
    /// `int2`, `int3`, `int4`.
    IntVec(Vec<i32>),
    /// `half2`, `half3`, `half4`, `quath` (imaginary parts, then the real one), widened.
    HalfVec(Vec<f32>),
    /// `float2`, `point3f`, `quatf` (imaginary parts, then the real one), …
    FloatVec(Vec<f32>),
    /// `double2`, `point3d`, `quatd`, `matrix2d`, `matrix3d`, `matrix4d` (rows one after another), …
    DoubleVec(Vec<f64>),
    /// An array of any of these, its elements packed.
    Array(Array),
    /// Values by name.
    Dictionary(Fields),
    /// A list that edits another: `prepend apiSchemas = [...]`, `references = @a@</b>`.
    List(ListOp),
}

/// An array, its elements one after another.
#[derive(Debug, Clone, PartialEq)]
pub enum Array {
    /// `bool[]`.
    Bool(Vec<bool>),
    /// `uchar[]`.
    UChar(Vec<u8>),
    /// `int[]`, or `int2[]` and so on, of this width.
    Int(Vec<i32>, usize),
    /// `uint[]`.
    UInt(Vec<u32>),
    /// `int64[]`.
    Int64(Vec<i64>),
    /// `uint64[]`.
    UInt64(Vec<u64>),
    /// `half[]`, `half3[]`, `quath[]`, …, of this width, widened.
    Half(Vec<f32>, usize),
    /// `float[]`, `point3f[]`, `quatf[]`, …, of this width.
    Float(Vec<f32>, usize),
    /// `double[]`, `point3d[]`, `matrix4d[]`, …, of this width.
    Double(Vec<f64>, usize),
    /// `string[]`.
    String(Vec<String>),
    /// `token[]`.
    Token(Vec<String>),
    /// `asset[]`.
    Asset(Vec<String>),
}

/// An edit of a list.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ListOp {
    /// Replaces the list.
    pub explicit: Option<Vec<ListItem>>,
    /// Put before it.
    pub prepended: Vec<ListItem>,
    /// Put after it.
    pub appended: Vec<ListItem>,
    /// Taken out of it.
    pub deleted: Vec<ListItem>,
}

/// An entry of such a list.
#[derive(Debug, Clone, PartialEq)]
pub enum ListItem {
    /// A token or string.
    Word(String),
    /// A path within the stage.
    Path(String),
    /// A prim of another file, or of this one.
    Reference {
        /// The file; empty for this one.
        asset: String,
        /// The prim; empty for the default one.
        prim: String,
        /// What is added to its times, after scaling [time codes]; usually 0.
        offset: f64,
        /// What its times are multiplied by; usually 1.
        scale: f64,
    },
}

impl Layer {
    /// The prim of a path such as `/World/Splash`.
    pub fn prim(&self, path: &str) -> Option<&Prim> {
        let mut names = path.strip_prefix('/')?.split('/');
        let first = names.next()?;
        let mut prim = self.prims.iter().find(|prim| prim.name == first)?;
        for name in names {
            prim = prim.children.iter().find(|child| child.name == name)?;
        }
        Some(prim)
    }
}

impl Prim {
    /// The attribute of this name.
    pub fn attribute(&self, name: &str) -> Option<&Attribute> {
        self.attributes.iter().find(|attribute| attribute.name == name)
    }
}

impl Attribute {
    /// The value at a time: of the sample at or before it, of the first one before all, or else the default.
    pub fn held_at(&self, time: f64) -> Option<&Value> {
        let after = self.samples.partition_point(|(at, _)| *at <= time);
        let sample = self.samples.get(after.saturating_sub(1)).map(|(_, value)| value);
        sample.or(self.default.as_ref())
    }
}

impl Value {
    /// As one number; `None` if it is none.
    pub fn number(&self) -> Option<f64> {
        Some(match *self {
            Self::UChar(value) => f64::from(value),
            Self::Int(value) => f64::from(value),
            Self::UInt(value) => f64::from(value),
            Self::Int64(value) => value as f64,
            Self::UInt64(value) => value as f64,
            Self::Half(value) | Self::Float(value) => f64::from(value),
            Self::Double(value) => value,
            _ => return None,
        })
    }

    /// As numbers of 64 bits, of a tuple or of one number; `None` if it is something else.
    pub fn numbers(&self) -> Option<Vec<f64>> {
        match self {
            Self::IntVec(values) => Some(values.iter().map(|&value| f64::from(value)).collect()),
            Self::HalfVec(values) | Self::FloatVec(values) => {
                Some(values.iter().map(|&value| f64::from(value)).collect())
            }
            Self::DoubleVec(values) => Some(values.clone()),
            other => other.number().map(|value| vec![value]),
        }
    }

    /// As a text: a string, a token or the path of a file; `None` if it is something else.
    pub fn text(&self) -> Option<&str> {
        match self {
            Self::String(text) | Self::Token(text) | Self::Asset(text) => Some(text),
            _ => None,
        }
    }

    /// The value on the way from this one to another; `None` if they are not as many numbers of one kind.
    pub fn mixed(&self, other: &Self, part: f64) -> Option<Self> {
        let single = |a: &[f32], b: &[f32]| -> Option<Vec<f32>> {
            let mix = |(&a, &b): (&f32, &f32)| a + (b - a) * part as f32;
            (a.len() == b.len()).then(|| a.iter().zip(b).map(mix).collect())
        };
        let double = |a: &[f64], b: &[f64]| -> Option<Vec<f64>> {
            let mix = |(&a, &b): (&f64, &f64)| a + (b - a) * part;
            (a.len() == b.len()).then(|| a.iter().zip(b).map(mix).collect())
        };
        Some(match (self, other) {
            (Self::Half(a), Self::Half(b)) => Self::Half(single(&[*a], &[*b])?[0]),
            (Self::Float(a), Self::Float(b)) => Self::Float(single(&[*a], &[*b])?[0]),
            (Self::Double(a), Self::Double(b)) => Self::Double(double(&[*a], &[*b])?[0]),
            (Self::HalfVec(a), Self::HalfVec(b)) => Self::HalfVec(single(a, b)?),
            (Self::FloatVec(a), Self::FloatVec(b)) => Self::FloatVec(single(a, b)?),
            (Self::DoubleVec(a), Self::DoubleVec(b)) => Self::DoubleVec(double(a, b)?),
            (Self::Array(Array::Half(a, n)), Self::Array(Array::Half(b, m))) if n == m => {
                Self::Array(Array::Half(single(a, b)?, *n))
            }
            (Self::Array(Array::Float(a, n)), Self::Array(Array::Float(b, m))) if n == m => {
                Self::Array(Array::Float(single(a, b)?, *n))
            }
            (Self::Array(Array::Double(a, n)), Self::Array(Array::Double(b, m))) if n == m => {
                Self::Array(Array::Double(double(a, b)?, *n))
            }
            _ => return None,
        })
    }
}
