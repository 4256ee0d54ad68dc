//! A grid: a tree with a name, a class, a place in the world, and metadata.

use crate::metadata::Metadata;
use crate::points::PointTree;
use crate::transform::Transform;
use crate::tree::Tree;
use crate::value::{Kind, MaskBit};

/// What a grid's values mean.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Class {
    /// Nothing in particular.
    #[default]
    Unknown,
    /// Signed distance to a surface [m], negative inside, in a narrow band: beyond it ± the background.
    LevelSet,
    /// A density, 0 outside.
    FogVolume,
    /// Components of a vector on the faces of voxels, each on that of lesser coordinate.
    Staggered,
}

impl Class {
    /// The word for it in a file's metadata.
    pub fn word(self) -> &'static str {
        match self {
            Self::Unknown => "unknown",
            Self::LevelSet => "level set",
            Self::FogVolume => "fog volume",
            Self::Staggered => "staggered",
        }
    }

    /// The class of this word; unknown for any other.
    pub fn of_word(word: &str) -> Self {
        [Self::LevelSet, Self::FogVolume, Self::Staggered]
            .into_iter()
            .find(|class| class.word() == word)
            .unwrap_or_default()
    }
}

/// A grid with all that it holds.
#[derive(Debug, Clone, PartialEq)]
pub struct Grid {
    /// Its name; may be empty, and two grids of a file may share one.
    pub name: String,
    /// What its values mean.
    pub class: Class,
    /// Where it is in the world.
    pub transform: Transform,
    /// Whether a file keeps its values as half floats.
    pub saved_as_half: bool,
    /// All metadata but name, class, half and the statistics that a file keeps.
    pub metadata: Metadata,
    /// The values.
    pub content: Content,
}

/// The values of a grid.
#[derive(Debug, Clone, PartialEq)]
pub enum Content {
    /// `f32`.
    Float(Tree<f32>),
    /// `f64`.
    Double(Tree<f64>),
    /// `i32`.
    Int32(Tree<i32>),
    /// `i64`.
    Int64(Tree<i64>),
    /// `bool`.
    Bool(Tree<bool>),
    /// Nothing but which voxels are active.
    Mask(Tree<MaskBit>),
    /// `[f32; 3]`.
    Vec3s(Tree<[f32; 3]>),
    /// `[f64; 3]`.
    Vec3d(Tree<[f64; 3]>),
    /// `[i32; 3]`.
    Vec3i(Tree<[i32; 3]>),
    /// Points with attributes.
    Points(PointTree),
}

impl Content {
    /// Which type of value it has.
    pub fn kind(&self) -> Kind {
        match self {
            Self::Float(_) => Kind::Float,
            Self::Double(_) => Kind::Double,
            Self::Int32(_) => Kind::Int32,
            Self::Int64(_) => Kind::Int64,
            Self::Bool(_) => Kind::Bool,
            Self::Mask(_) => Kind::Mask,
            Self::Vec3s(_) => Kind::Vec3s,
            Self::Vec3d(_) => Kind::Vec3d,
            Self::Vec3i(_) => Kind::Vec3i,
            Self::Points(_) => Kind::Points,
        }
    }

    /// How much memory its values take [bytes].
    pub fn memory(&self) -> u64 {
        match self {
            Self::Float(tree) => tree.memory(),
            Self::Double(tree) => tree.memory(),
            Self::Int32(tree) => tree.memory(),
            Self::Int64(tree) => tree.memory(),
            Self::Bool(tree) => tree.memory(),
            Self::Mask(tree) => tree.memory(),
            Self::Vec3s(tree) => tree.memory(),
            Self::Vec3d(tree) => tree.memory(),
            Self::Vec3i(tree) => tree.memory(),
            Self::Points(points) => points.memory(),
        }
    }
}
