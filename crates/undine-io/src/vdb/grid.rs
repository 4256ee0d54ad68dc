//! The channels of a Discrete Volume as grids, one per level, or resampled to the finest.
//!
//! The grid of the finest level that a volume has bears the plain name (`density`), so that viewers find it; the next coarser
//! one is `density_1`, then `density_2`. Each holds the voxels of its own Buckets.

use super::leaves::{Active, Making, Masks, Rule, VoxelLeaves};
use super::source::{
    Bits, Centred, Chunks, Leaf, Place, Source, Staggered, leaves_of_all_levels, voxel_size,
};
use super::value::{GridValue, VoxelValue};
use super::write::agree;
use crate::error::{IoError, Result};
use crate::names::{self, Meaning, Names, UpAxis};
use undine_core::domain::Topology;
use undine_core::element::ElementType;
use undine_core::glam::{DVec3, IVec3, Vec3};
use undine_core::volume::{
    Axis, Blend, Interpolation, MacHandle, MacSampler, Resolution, VoxelColumn, VoxelShape,
};
use undine_core::{DiscreteVolume, GridDomain, Handle};
use undine_vdb::{Class, Entry, Grid, LeafSet, Metadata, Tile, Transform, Tree, VOXELS};

/// How volumes become grids.
#[derive(Debug, Clone, PartialEq)]
pub struct VolumeOptions {
    /// What channels are called.
    pub names: Names,
    /// The axis that points up in the file.
    pub up: UpAxis,
    /// Whether the file keeps values as half floats.
    pub saved_as_half: bool,
    /// How far from a surface a level set is kept [voxels].
    pub half_width: f64,
    /// What becomes of several levels.
    pub levels: Levels,
    /// Where the vectors of a MAC velocity lie.
    pub velocity: Velocity,
}

impl Default for VolumeOptions {
    fn default() -> Self {
        Self {
            names: Names::default(),
            up: UpAxis::Y,
            saved_as_half: false,
            half_width: 3.0,
            levels: Levels::Each,
            velocity: Velocity::Staggered,
        }
    }
}

/// What becomes of a volume of several levels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Levels {
    /// A grid for each.
    #[default]
    Each,
    /// One grid at the finest level, coarser ones sampled; refused if it would have more leaves than allowed. Nothing of it is ever in
    /// memory as a whole.
    Finest {
        /// How coarser levels are sampled.
        sampling: Sampling,
        /// So many leaves of 512 voxels are allowed.
        most_leaves: u64,
    },
}

/// How a coarser level is read at finer voxels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Sampling {
    /// Linearly between voxels.
    #[default]
    Linear,
    /// The value of the voxel: for whole numbers the only way.
    Constant,
}

/// Where the vectors of a MAC velocity lie in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Velocity {
    /// Each component on its face, as in the simulation: a grid of class `staggered`. Where Z is up in the file, faces would change
    /// their components; it is then centred.
    #[default]
    Staggered,
    /// In the middle of each voxel, for programs that do not know staggered grids: the means of faces.
    Centred,
}

/// A channel that is to become a grid.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ChannelGrid<'a> {
    /// Its name in the store; of a MAC velocity, without `.x`.
    pub channel: &'a str,
    /// What its values mean.
    pub class: Class,
    /// Which voxels are active.
    pub active: Active<'a>,
}

impl<'a> ChannelGrid<'a> {
    /// As is customary for a channel of this name.
    pub fn customary(channel: &'a str) -> Self {
        let meaning = names::volume(channel).map_or(Meaning::Plain, |known| known.meaning);
        let (class, active) = match meaning {
            Meaning::LevelSet => (Class::LevelSet, Active::Band),
            Meaning::Fog => (Class::FogVolume, Active::NotBackground),
            Meaning::Plain => (Class::Unknown, Active::All),
        };
        Self { channel, class, active }
    }

    /// The same, with other active voxels.
    pub fn active(self, active: Active<'a>) -> Self {
        Self { active, ..self }
    }
}

/// A grid of a level of a channel, whose leaves are the channel's chunks.
pub struct VolumeGrid<'a, V: GridValue> {
    /// Its name in the file.
    pub name: String,
    /// The level of its Buckets.
    pub level: u8,
    /// What its values mean.
    pub class: Class,
    /// Where it is in the world.
    pub transform: Transform,
    /// Whether the file keeps its values as half floats.
    pub saved_as_half: bool,
    /// What else is known of it.
    pub metadata: Metadata,
    /// The value elsewhere.
    pub background: V,
    /// What is inside of a level set without voxels; see [`VoxelLeaves`] for which process has which.
    pub tiles: Vec<Tile<V>>,
    /// The leaves of this process.
    pub leaves: VoxelLeaves<'a, V>,
}

impl<V: GridValue> VolumeGrid<'_, V> {
    /// A copy of all that this process has.
    pub fn to_grid(&self) -> Grid {
        let mut tree = Tree::new(self.background);
        tree.tiles = self.tiles.clone();
        let mut scratch = [V::default(); VOXELS];
        for leaf in 0..self.leaves.len() {
            let values = self.leaves.values(leaf, &mut scratch);
            tree.leaves.push(self.leaves.origin(leaf), self.leaves.mask(leaf), values);
        }
        Grid {
            name: self.name.clone(),
            class: self.class,
            transform: self.transform,
            saved_as_half: self.saved_as_half,
            metadata: self.metadata.clone(),
            content: V::content(tree),
        }
    }
}

/// Takes grids of any type of value.
pub trait GridVisitor {
    /// Takes one.
    fn visit<V: GridValue>(&mut self, grid: &VolumeGrid<'_, V>) -> Result<()>;
}

/// The grids of a channel, finest level first, each handed to the visitor. Collective.
pub fn each_grid(
    domain: &GridDomain,
    volume: &DiscreteVolume,
    channel: &ChannelGrid<'_>,
    options: &VolumeOptions,
    visitor: &mut impl GridVisitor,
) -> Result<()> {
    let making = Maker { domain, volume, channel: *channel, options };
    if let Ok(mac) = volume.mac(channel.channel) {
        return making.mac(mac, visitor);
    }
    if volume.mask(channel.channel).is_ok() {
        return making.mask(visitor);
    }
    let info = volume.channels().infos().find(|info| info.name == channel.channel);
    match info.map(|info| info.element) {
        Some(ElementType::F32) => making.blended::<f32>(visitor),
        Some(ElementType::F64) => making.blended::<f64>(visitor),
        Some(ElementType::Vec3) => making.blended::<Vec3>(visitor),
        Some(ElementType::DVec3) => making.blended::<DVec3>(visitor),
        Some(ElementType::I32) => making.constant::<i32>(visitor),
        Some(ElementType::U32) => making.constant::<u32>(visitor),
        Some(ElementType::IVec3) => making.constant::<IVec3>(visitor),
        Some(other) => Err(making.refused(
            format!("it holds {other}, which no grid can"),
            "f32, f64, i32, u32, vec3, dvec3, ivec3 and masks can be written",
        )),
        // The error that names the channels there are.
        None => Ok(volume.handle::<f32>(channel.channel).map(|_| ())?),
    }
}

/// The grids of a channel as copies: what a small file or a test wants. Collective.
pub fn grids(
    domain: &GridDomain,
    volume: &DiscreteVolume,
    channel: &ChannelGrid<'_>,
    options: &VolumeOptions,
) -> Result<Vec<Grid>> {
    struct Copies(Vec<Grid>);
    impl GridVisitor for Copies {
        fn visit<V: GridValue>(&mut self, grid: &VolumeGrid<'_, V>) -> Result<()> {
            self.0.push(grid.to_grid());
            Ok(())
        }
    }
    let mut copies = Copies(Vec::new());
    each_grid(domain, volume, channel, options, &mut copies)?;
    Ok(copies.0)
}

/// The active voxels of a channel on every level, for [`Active::Like`]. Collective.
pub fn masks(
    domain: &GridDomain,
    volume: &DiscreteVolume,
    channel: &ChannelGrid<'_>,
    options: &VolumeOptions,
) -> Result<Masks> {
    struct Found(Masks);
    impl GridVisitor for Found {
        fn visit<V: GridValue>(&mut self, grid: &VolumeGrid<'_, V>) -> Result<()> {
            self.0.insert(grid.level, &grid.leaves);
            Ok(())
        }
    }
    let mut found = Found(Masks::default());
    each_grid(domain, volume, channel, options, &mut found)?;
    Ok(found.0)
}

/// What makes the grids of a channel.
struct Maker<'a> {
    domain: &'a GridDomain,
    volume: &'a DiscreteVolume,
    channel: ChannelGrid<'a>,
    options: &'a VolumeOptions,
}

impl<'a> Maker<'a> {
    fn topology(&self) -> &'a Topology {
        self.volume.topology()
    }

    /// The levels that grids are made of: each, or the finest alone.
    fn levels(&self) -> Vec<u8> {
        let levels = self.topology().all().levels();
        match self.options.levels {
            Levels::Each => levels.collect(),
            Levels::Finest { .. } => levels.take(1).collect(),
        }
    }

    /// Whether coarser levels are sampled: how, and how many leaves may come of it.
    fn sampling(&self) -> Option<(Sampling, u64)> {
        match self.options.levels {
            Levels::Finest { sampling, most_leaves }
                if self.topology().all().levels().nth(1).is_some() =>
            {
                Some((sampling, most_leaves))
            }
            _ => None,
        }
    }

    fn blended<T: VoxelValue + Blend>(&self, visitor: &mut impl GridVisitor) -> Result<()> {
        let handle = self.volume.handle::<T>(self.channel.channel)?;
        let smooth = matches!(self.sampling(), Some((Sampling::Linear, _)));
        if smooth {
            self.volume.refresh(self.domain, handle)?;
        }
        self.of_channel(handle, visitor, |chunks| if smooth { chunks.smooth() } else { chunks })
    }

    fn constant<T: VoxelValue>(&self, visitor: &mut impl GridVisitor) -> Result<()> {
        let handle = self.volume.handle::<T>(self.channel.channel)?;
        self.of_channel(handle, visitor, |chunks| chunks)
    }

    fn of_channel<T: VoxelValue>(
        &self,
        handle: Handle<T>,
        visitor: &mut impl GridVisitor,
        finish: impl for<'c> Fn(Chunks<'c, T>) -> Chunks<'c, T>,
    ) -> Result<()> {
        let column = self.volume.column(handle)?;
        for level in self.levels() {
            let chunks = Chunks::new(self.domain, self.topology(), &column, level)?;
            let leaves =
                self.leaves(level, column.shape().resolution, || chunks.leaves(self.domain))?;
            let background = column.background().stored();
            let source = Box::new(finish(chunks));
            self.visit(level, column.shape(), background, source, leaves, visitor)?;
        }
        Ok(())
    }

    /// The leaves of a level, or of all at the finest.
    fn leaves(
        &self,
        level: u8,
        resolution: Resolution,
        of_level: impl FnOnce() -> Vec<Leaf>,
    ) -> Result<Vec<Leaf>> {
        let Some((_, most)) = self.sampling() else { return Ok(of_level()) };
        self.check_whole_leaves(resolution, "be resampled to the finest level")?;
        leaves_of_all_levels(&self.name(level), self.topology(), level, resolution, most)
    }

    fn mac(&self, mac: MacHandle, visitor: &mut impl GridVisitor) -> Result<()> {
        let centred = self.options.velocity == Velocity::Centred || self.options.up != UpAxis::Y;
        let smooth = matches!(self.sampling(), Some((Sampling::Linear, _)));
        if centred || smooth {
            mac.faces.into_iter().try_for_each(|face| self.volume.refresh(self.domain, face))?;
        }
        let [x, y, z] = mac.faces.map(|face| self.volume.column(face));
        let (x, y, z) = (x?, y?, z?);
        let faces: [&VoxelColumn<f32>; 3] = [&x, &y, &z];
        let resolution = faces[0].shape().resolution;
        for (axis, face) in Axis::ALL.into_iter().zip(faces) {
            if face.shape() != VoxelShape::faces(axis).with_resolution(resolution) {
                let found = "its components are not on faces of the same voxels".to_owned();
                return Err(self.refused(
                    found,
                    "a MAC velocity has x on x-faces, y on y-faces, z on z-faces",
                ));
            }
        }
        let background = faces.map(|face| face.background());
        let shape = VoxelShape::CELLS.with_resolution(resolution);
        for level in self.levels() {
            let [x, y, z] =
                faces.map(|face| Chunks::new(self.domain, self.topology(), face, level));
            let chunks = [x?, y?, z?];
            let mut leaves = self.leaves(level, resolution, || chunks[0].leaves(self.domain))?;
            let source: Box<dyn Source<[f32; 3]>> = if centred {
                self.check_whole_leaves(resolution, "be centred")?;
                for leaf in &mut leaves {
                    if let Place::Chunk(slot) | Place::Eighth(slot) = leaf.place {
                        leaf.place = Place::Sampled(slot);
                    }
                }
                let sampler = MacSampler::new(faces, self.topology(), Interpolation::Linear)?;
                Box::new(Centred { sampler, topology: self.topology(), resolution, level })
            } else if smooth {
                Box::new(Staggered { faces: chunks.map(Chunks::smooth) })
            } else {
                Box::new(Staggered { faces: chunks })
            };
            let class = if centred { self.channel.class } else { Class::Staggered };
            let of_class = Maker { channel: ChannelGrid { class, ..self.channel }, ..*self };
            of_class.visit(level, shape, background, source, leaves, visitor)?;
        }
        Ok(())
    }

    fn mask(&self, visitor: &mut impl GridVisitor) -> Result<()> {
        let mask = self.volume.mask(self.channel.channel)?;
        let column = self.volume.column(mask.words)?;
        if mask.resolution != Resolution::R8 || self.sampling().is_some() {
            let found = "it is a mask of another resolution, or of several levels".to_owned();
            return Err(self.refused(
                found,
                "a mask of 8 voxels along a Bucket, each level for itself, can be written",
            ));
        }
        for level in self.levels() {
            let slots = self.topology().level(level);
            let leaf = |slot| Leaf {
                origin: (self.topology().bucket(slot).coord * 8).to_array(),
                mask: undine_vdb::LeafMask::NONE,
                place: Place::Chunk(slot),
            };
            let leaves = slots.map(leaf).collect();
            let source = Box::new(Bits { column: &column, value: |on| on });
            self.visit(level, VoxelShape::CELLS, false, source, leaves, visitor)?;
        }
        Ok(())
    }

    fn visit<'s, V: GridValue>(
        &'s self,
        level: u8,
        shape: VoxelShape,
        background: V,
        source: Box<dyn Source<V> + 's>,
        leaves: Vec<Leaf>,
        visitor: &mut impl GridVisitor,
    ) -> Result<()> {
        let size = voxel_size(self.topology(), shape, level);
        let band = self.channel.active == Active::Band;
        let is_wide = self.options.half_width >= 1.0;
        if band && !(V::IS_DISTANCE && is_wide) {
            let found = format!(
                "{:?} in a band of {} voxels is no level set",
                V::KIND,
                self.options.half_width
            );
            return Err(self
                .refused(found, "a level set has numbers, and at least one voxel on either side"));
        }
        let background = if band { V::of(self.options.half_width * size) } else { background };
        let name = self.name(level);
        let rule = Rule { background, active: self.channel.active, level };
        let per_leaf = 8 / shape.resolution.edge().min(8) as i32;
        let up = self.options.up;
        let turn = if names::has_direction(self.channel.channel) { up } else { UpAxis::Y };
        let making = Making { grid: &name, source, leaves, per_leaf, rule, up: turn };
        // Gaps are made tiles of by the first process alone, which alone can fail.
        let processes = &**self.domain.processes();
        let (leaves, tiles) = agree(processes, VoxelLeaves::new(processes, making))?;
        let grid = VolumeGrid {
            name: name.clone(),
            level,
            class: self.channel.class,
            transform: transform(self.topology(), shape, level, up),
            saved_as_half: self.options.saved_as_half,
            metadata: self.metadata::<V>(level),
            background: background.to_file(turn),
            tiles,
            leaves,
        };
        visitor.visit(&grid)
    }

    /// What the grid of a level is called.
    fn name(&self, level: u8) -> String {
        let name = self.options.names.of_volume(self.channel.channel);
        let finest = self.topology().all().levels().next().unwrap_or(level);
        if level == finest { name.to_owned() } else { format!("{name}_{}", level - finest) }
    }

    fn metadata<V: GridValue>(&self, level: u8) -> Metadata {
        let mut metadata = Metadata::new();
        let names = [self.channel.channel.to_owned(), format!("{}.x", self.channel.channel)];
        let given = self.volume.channels().infos().find(|info| names.contains(&info.name));
        let given = given.map(|info| &*info.unit).filter(|unit| !unit.is_empty());
        let customary = names::volume(self.channel.channel).map(|known| known.unit);
        if let Some(unit) = given.or(customary).filter(|unit| !unit.is_empty()) {
            metadata.insert("unit".into(), Entry::String(unit.to_owned()));
            if V::IS_VECTOR && unit == "m/s" {
                // How it turns and grows with the grid, in OpenVDB's words.
                let kind = "contravariant relative".to_owned();
                metadata.insert("vector_type".into(), Entry::String(kind));
            }
        }
        if self.topology().all().levels().nth(1).is_some() {
            metadata.insert("level".into(), Entry::Int32(i32::from(level)));
        }
        metadata
    }

    fn check_whole_leaves(&self, resolution: Resolution, what: &str) -> Result<()> {
        if resolution >= Resolution::R8 {
            return Ok(());
        }
        let found = format!("it has {} voxels along a Bucket", resolution.edge());
        Err(self.refused(found, &format!("8 or 16 are needed to {what}")))
    }

    fn refused(&self, found: String, wanted: &str) -> IoError {
        IoError::Unwritable {
            what: format!("channel `{}` of {}", self.channel.channel, self.volume.label()),
            found,
            wanted: wanted.to_owned(),
        }
    }
}

/// Where the voxels of a channel lie in the world: whole numbers are where its values are, which in cells is the middle.
fn transform(topology: &Topology, shape: VoxelShape, level: u8, up: UpAxis) -> Transform {
    let size = voxel_size(topology, shape, level);
    let first = topology.frame().origin() + shape.centring.offset().as_dvec3() * size;
    turned(&Transform::uniform(size, first.to_array()), |vector| up.to_file(vector))
}

/// A transform with the images of its axes turned.
pub(super) fn turned(transform: &Transform, turn: impl Fn(DVec3) -> DVec3) -> Transform {
    let mut rows = transform.rows;
    for row in &mut rows {
        let [x, y, z] = turn(DVec3::new(row[0], row[1], row[2])).to_array();
        // Without negative zeros.
        *row = [x + 0.0, y + 0.0, z + 0.0, row[3]];
    }
    Transform { rows }
}
