//! The directory of a checkpoint: what is in which section.

use super::error::CheckpointError;
use super::state::{Identity, State};
use crate::registry::{Column, StoreKind};
use serde::{Deserialize, Serialize};
use undine_core::glam::DVec3;
use undine_core::volume::{Axis, Centring, Resolution, VoxelShape};
use undine_core::{Combine, ElementType, Frame};

/// The directory.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Directory {
    pub identity: Identity,
    /// How many processes wrote it.
    pub processes: u64,
    pub state: State,
    /// Sets of Buckets, each once, however many stores are on it.
    pub topologies: Vec<TopologyRecord>,
    pub stores: Vec<StoreRecord>,
    /// Bytes of each section without its checksum, in the order of the file.
    pub sections: Vec<u64>,
}

/// The number of a section.
pub(super) type Section = usize;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct TopologyRecord {
    pub frame: FrameRecord,
    /// The Buckets' keys, ascending.
    pub keys: Section,
}

/// A lattice, to the last bit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct FrameRecord {
    origin: [u64; 3],
    voxel_size: u64,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct StoreRecord {
    pub kind: StoreKind,
    pub label: String,
    pub shape: Shape,
    /// By class and name.
    pub channels: Vec<ChannelRecord>,
}

/// What a store is, apart from its channels.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Shape {
    Domain {
        topology: usize,
    },
    /// How many particles each Bucket has, as `u32`.
    Particles {
        topology: usize,
        counts: Section,
        next_id: u64,
    },
    Topological {
        len: u64,
        next_id: u64,
    },
    Volume {
        topology: usize,
    },
    /// The tables of the connectivity, as `u32`.
    Mesh {
        kind: String,
        vertices: u64,
        tables: [Section; 2],
    },
    Flat {
        len: u64,
    },
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct ChannelRecord {
    /// The class of elements, for a mesh.
    pub class: Option<String>,
    pub name: String,
    pub element: String,
    pub unit: String,
    pub combine: String,
    /// The bytes of what new elements hold.
    pub default: Vec<u8>,
    pub voxels: Option<VoxelRecord>,
    pub values: Section,
}

/// How a channel divides a Bucket.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct VoxelRecord {
    pub edge: u8,
    /// 0 cells, 1 to 3 the faces across x, y, z, 4 nodes.
    pub centring: u8,
    /// Bytes of one Bucket.
    pub bucket_bytes: u64,
}

impl FrameRecord {
    pub fn new(frame: &Frame) -> Self {
        Self {
            origin: frame.origin().to_array().map(f64::to_bits),
            voxel_size: frame.voxel_size(0).to_bits(),
        }
    }

    /// For messages.
    pub fn describe(&self) -> String {
        let origin = DVec3::from_array(self.origin.map(f64::from_bits));
        format!("voxels of {} m from {origin}", f64::from_bits(self.voxel_size))
    }
}

impl ChannelRecord {
    pub fn new(column: &Column<'_>, values: Section) -> Self {
        Self {
            class: column.class.map(|class| class.name().to_owned()),
            name: column.info.name.clone(),
            element: column.info.element.name().to_owned(),
            unit: column.info.unit.clone().into_owned(),
            combine: combine_name(column.info.combine).to_owned(),
            default: column.default_bytes().to_vec(),
            voxels: column.voxels().map(|(shape, bytes)| VoxelRecord::new(shape, bytes)),
            values,
        }
    }

    pub fn element(&self) -> Result<ElementType, CheckpointError> {
        ElementType::from_name(&self.element).ok_or_else(|| {
            let why = format!("channel `{}` holds `{}`, which is no type", self.name, self.element);
            CheckpointError::malformed(why)
        })
    }

    pub fn combine(&self) -> Result<Combine, CheckpointError> {
        COMBINES.into_iter().find(|&combine| combine_name(combine) == self.combine).ok_or_else(
            || {
                let (name, combine) = (&self.name, &self.combine);
                let why = format!("channel `{name}` combines by `{combine}`, which is no way to");
                CheckpointError::malformed(why)
            },
        )
    }
}

const COMBINES: [Combine; 5] =
    [Combine::Keep, Combine::Sum, Combine::Mean, Combine::Min, Combine::Max];

const fn combine_name(combine: Combine) -> &'static str {
    match combine {
        Combine::Keep => "keep",
        Combine::Sum => "sum",
        Combine::Mean => "mean",
        Combine::Min => "min",
        Combine::Max => "max",
    }
}

const CENTRINGS: [Centring; 5] = [
    Centring::Cell,
    Centring::Face(Axis::X),
    Centring::Face(Axis::Y),
    Centring::Face(Axis::Z),
    Centring::Node,
];

impl VoxelRecord {
    pub fn new(shape: VoxelShape, bytes: usize) -> Self {
        let centring = CENTRINGS.iter().position(|&centring| centring == shape.centring);
        Self {
            edge: shape.resolution.edge() as u8,
            centring: centring.unwrap_or_default() as u8,
            bucket_bytes: bytes as u64,
        }
    }

    pub fn shape(&self) -> Option<VoxelShape> {
        let resolution = Resolution::new(usize::from(self.edge)).ok()?;
        let centring = *CENTRINGS.get(usize::from(self.centring))?;
        Some(VoxelShape { resolution, centring })
    }
}

impl Directory {
    /// Bytes of all sections with their checksums, if there is such a number.
    pub fn payload(&self) -> Option<u64> {
        self.sections.iter().try_fold(0_u64, |sum, &bytes| sum.checked_add(bytes)?.checked_add(4))
    }

    /// Bytes of a section.
    pub fn section(&self, section: Section) -> Result<u64, CheckpointError> {
        self.sections.get(section).copied().ok_or_else(|| {
            let count = self.sections.len();
            CheckpointError::malformed(format!("section {section} is named, but there are {count}"))
        })
    }
}
