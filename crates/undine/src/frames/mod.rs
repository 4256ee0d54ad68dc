//! What a frame's files hold: each store of an Object in a file of its own, under the customary names of channels.
//!
//! Of several processes, all take part: the first has what all of them have, and it alone writes.

mod points;
mod seal;
mod shapes;
pub(crate) mod skins;
mod stage;

pub use shapes::ShapesFile;
pub use stage::{StageFile, faults_of_stage};

pub(crate) use shapes::is_stem as is_of_shapes;

use crate::cache::{CacheError, FrameId};
use crate::prepare;
use std::collections::BTreeSet;
use std::io::Write;
use std::sync::Arc;
use undine_core::channel::ChannelInfo;
use undine_core::mesh::Strands;
use undine_core::process::{Processes, Single};
use undine_core::{DiscreteVolume, GridDomain};
use undine_io::gather::Order;
use undine_io::vdb::{ChannelGrid, Levels, PointOptions, Sampling, VdbFile, VolumeOptions};
use undine_io::write::encode;
use undine_io::{
    Channels, Curves, FileMetadata, Format, Geometry, IoError, Names, Points, Precision, UpAxis,
    WriteOptions,
};
use undine_scene::{Output, Scene, Settings};
use undine_sim::offers::Looks;
use undine_sim::{Simulation, StoreId, World};
use undine_vdb::{Codec, Compression};

/// Why a frame's file could not be written.
#[derive(Debug, thiserror::Error)]
pub enum FrameError {
    /// In a store.
    #[error(transparent)]
    Core(#[from] undine_core::CoreError),
    /// In the file.
    #[error(transparent)]
    Io(#[from] undine_io::IoError),
    /// In the cache.
    #[error(transparent)]
    Cache(#[from] CacheError),
    /// In what an Object, a collider or a body shows of itself.
    #[error(transparent)]
    Shapes(#[from] undine_sim::SimError),
}

/// A volume of several levels may become so many leaves of 512 voxels of the finest: 8 GB of `f32`.
const MOST_LEAVES: u64 = 4 << 20;

/// A moment of a run, as its files tell of it.
#[derive(Debug, Clone, Copy)]
struct Moment<'a> {
    /// Which it is.
    id: FrameId,
    /// The simulated time [s].
    time: f64,
    /// How the run goes.
    settings: &'a Settings,
}

impl Moment<'_> {
    fn metadata(&self, up: UpAxis) -> FileMetadata {
        FileMetadata {
            fps: Some(self.settings.fps),
            time: Some(self.time),
            frame: Some(self.id.frame()),
            up,
            ..FileMetadata::default()
        }
    }
}

/// What a store's file of a frame holds.
pub enum Content {
    /// Points as PLY, positions to their last digit: a scene may be far from the origin.
    Ply(Box<Geometry>, WriteOptions),
    /// A clip of the scene over all frames.
    Usd(Vec<u8>),
    /// Volumes, or points in voxels.
    Vdb(VdbFile),
}

impl Content {
    /// The ending of the file's name.
    pub fn extension(&self) -> &'static str {
        match self {
            Self::Ply(..) => "ply",
            Self::Usd(_) => "usdc",
            Self::Vdb(_) => "vdb",
        }
    }

    /// Writes the file.
    pub fn write(&self, out: &mut dyn Write) -> Result<(), FrameError> {
        match self {
            Self::Ply(points, options) => encode(out, Format::Ply, "", points, options)?,
            Self::Usd(bytes) => out.write_all(bytes).map_err(IoError::from)?,
            Self::Vdb(file) => file.write(out)?,
        }
        Ok(())
    }
}

/// The channels of everything that an output writes, by the names that stores have for them; the three of a MAC velocity as one.
pub fn channels(simulation: &Simulation, output: &Output) -> BTreeSet<String> {
    let objects = prepare::objects_of(output, simulation);
    let is_written = |id| objects.as_ref().is_none_or(|objects| objects.contains(&id));
    let mut names = BTreeSet::new();
    let all = Output { channels: Vec::new(), ..output.clone() };
    let world = &simulation.world;
    for (_, object) in simulation.objects().filter(|(_, object)| is_written(object.id())) {
        for (_, store) in object.output() {
            let mut add = |info: &ChannelInfo| {
                if is_wanted(info, &all) && info.name != "position" {
                    let (stem, _) = info.name.split_once('.').unwrap_or((&info.name, ""));
                    names.insert(stem.to_owned());
                }
            };
            match store {
                StoreId::Particles(id) => world.particles[id].channels().infos().for_each(&mut add),
                StoreId::Points(id) => world.points[id].channels().infos().for_each(&mut add),
                StoreId::Volume(id) => world.volumes[id].channels().infos().for_each(&mut add),
                StoreId::Elements(_) => {}
            }
        }
    }
    names
}

/// Hands on every file of a moment, by its name without the frame's number; on the first process alone. Collective.
pub fn each_file<E: From<FrameError>>(
    scene: &Scene,
    simulation: &Simulation,
    id: FrameId,
    stage: &mut StageFile,
    mut take: impl FnMut(&str, &Content) -> Result<(), E>,
) -> Result<(), E> {
    let is_first = simulation.world.processes().rank() == 0;
    let time = simulation.timeline().time_at(id.number());
    let moment = Moment { id, time, settings: &scene.settings };
    let is_due =
        |every: usize| (id.frame() - scene.settings.first).rem_euclid(every.max(1) as i64) == 0;
    let outputs = scene.outputs.iter().enumerate();
    for (n, output) in outputs.filter(|(_, output)| is_due(output.every)) {
        let objects = prepare::objects_of(output, simulation);
        let is_written = |id| objects.as_ref().is_none_or(|objects| objects.contains(&id));
        for (path, object) in simulation.objects().filter(|(_, object)| is_written(object.id())) {
            for (suffix, store) in object.output() {
                let stem = prepare::stem(path, suffix);
                let shown = match store {
                    StoreId::Volume(volume) => object.shown(&simulation.world, volume),
                    _ => Ok(None),
                };
                let strands = match &simulation.world.object(object.id()).offers.looks {
                    Some(Looks::Strands(looks)) if StoreId::from(looks.points) == store => {
                        Some(Strands::clone(&looks.strands))
                    }
                    _ => None,
                };
                let kept = Kept { store, shown: shown.map_err(FrameError::from)?, strands };
                let found = content(&simulation.world, (&stem, &kept), output, &moment, stage)?;
                if let Some(content) = found.filter(|_| is_first) {
                    take(&format!("{stem}.{}", content.extension()), &content)?;
                }
            }
        }
        for (path, skin) in simulation.skins() {
            if skins::is_written(skin, n, scene, simulation)
                && let Some(content) =
                    skins::content(simulation, (path, skin), output, &moment, stage)?
            {
                let stem = prepare::stem_of_skin(path);
                take(&format!("{stem}.{}", content.extension()), &content)?;
            }
        }
        let metadata = moment.metadata(output.up.unwrap_or(scene.settings.up));
        if let Some(shapes) = &mut stage.shapes
            && let Some(bytes) = shapes.clip(n, simulation, &metadata, &moment)?
        {
            take(&format!("{}.usdc", shapes::stem(n)), &Content::Usd(bytes))?;
        }
    }
    Ok(())
}

/// What of an Object goes into a file.
struct Kept {
    store: StoreId,
    /// Has channels that are written in place of those of the store.
    shown: Option<DiscreteVolume>,
    /// Which points are of which strand, if it is of strands.
    strands: Option<Strands>,
}

/// What a store's file of a frame holds; nothing, if it has none, and on others than the first process nothing of worth. Collective.
fn content(
    world: &World,
    (stem, kept): (&str, &Kept),
    output: &Output,
    moment: &Moment<'_>,
    stage: &mut StageFile,
) -> Result<Option<Content>, FrameError> {
    let up = output.up.unwrap_or(moment.settings.up);
    let metadata = moment.metadata(up);
    let names = names(output);
    let processes = world.processes();
    let vdb = |processes: &Arc<dyn Processes>, metadata| {
        let active_mask = output.codec != Codec::None;
        let compression = Compression { codec: output.codec, active_mask };
        VdbFile::new(processes.clone(), metadata).compressed(compression)
    };
    let scene_up = moment.settings.up;
    let (found, order) = match kept.store {
        StoreId::Particles(id) => {
            let all = points::of_all_particles(world, &world.particles[id], output)?;
            let Some(all) = all else { return Ok(None) };
            (all, Order::Buckets)
        }
        // Every process has all of them.
        StoreId::Points(_) if processes.rank() > 0 => return Ok(None),
        StoreId::Points(id) => (points::of_points(&world.points[id], output)?, Order::Ids),
        StoreId::Volume(id) => {
            let volume = &world.volumes[id];
            // A volume is made on a Domain of the World.
            let Some(domain) = world.domain_with(volume.topology().frame()) else {
                return Ok(None);
            };
            let options = VolumeOptions {
                names,
                saved_as_half: output.half,
                levels: levels(output),
                ..VolumeOptions::default()
            };
            // From z to y up is refused before a run begins.
            let file = vdb(processes, metadata);
            let file = if up == scene_up { file.upright() } else { file };
            let volumes = (volume, kept.shown.as_ref());
            let file = add_channels(file, domain, volumes, output, &options)?;
            return Ok(Some(Content::Vdb(file)));
        }
        StoreId::Elements(_) => return Ok(None),
    };
    // Writers turn from y up.
    let found = scene_up.points_from_file(found);
    let curves = kept.strands.clone();
    let curves = curves.map(|strands| Curves { strands, channels: Channels::default() });
    Ok(Some(match output.format {
        Format::Vdb => {
            let mut file = vdb(&(Arc::new(Single) as _), metadata);
            file.add_points(
                stem,
                &found,
                order,
                &PointOptions { names, ..PointOptions::default() },
            )?;
            Content::Vdb(file)
        }
        Format::Ply => {
            let points = up.points_to_file(&renamed(found, &names)).into_owned();
            let precision = Precision::Double;
            let options = WriteOptions { precision, metadata, ..WriteOptions::default() };
            Content::Ply(Box::new(Geometry { points, curves, ..Geometry::default() }), options)
        }
        _ => {
            let points = renamed(found, &names);
            let geometry = Geometry { points, curves, ..Geometry::default() };
            Content::Usd(stage.clip(stem, &geometry, &metadata, moment)?)
        }
    }))
}

/// What files call channels.
fn names(output: &Output) -> Names {
    let renamed = output.renamed.iter();
    renamed.fold(Names::default(), |names, (own, new)| names.rename(own.as_str(), new.as_str()))
}

fn levels(output: &Output) -> Levels {
    match output.to_finest {
        false => Levels::Each,
        true => Levels::Finest { sampling: Sampling::Linear, most_leaves: MOST_LEAVES },
    }
}

/// Every channel of a volume that is wanted, as it is shown; the three of a MAC velocity as one.
fn add_channels(
    mut file: VdbFile,
    domain: &GridDomain,
    (volume, shown): (&DiscreteVolume, Option<&DiscreteVolume>),
    output: &Output,
    options: &VolumeOptions,
) -> Result<VdbFile, FrameError> {
    let mut added = BTreeSet::new();
    for info in volume.channels().infos().filter(|info| is_wanted(info, output)) {
        let stem = info.name.split_once('.').map_or(info.name.as_str(), |(stem, _)| stem);
        let channel = if volume.mac(stem).is_ok() { stem } else { info.name.as_str() };
        if added.insert(channel) {
            let has = |shown: &&DiscreteVolume| {
                shown.channels().infos().any(|other| other.name == info.name && !other.internal)
            };
            let from = shown.filter(has).unwrap_or(volume);
            file.add_channel(domain, from, &ChannelGrid::customary(channel), options)?;
        }
    }
    Ok(file)
}

fn is_wanted(info: &ChannelInfo, output: &Output) -> bool {
    let is_named = output.channels.is_empty()
        || output.channels.iter().any(|name| {
            info.name
                .strip_prefix(name.as_str())
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        });
    info.checkpoint && !info.internal && is_named
}

/// Points under the names that the files have for their channels.
fn renamed(mut points: Points, names: &Names) -> Points {
    points.channels = std::mem::take(&mut points.channels)
        .into_iter()
        .map(|(name, values)| (names.of_points(&name).to_owned(), values))
        .collect();
    points
}
