//! What a run will take, judged by its first frame and the room that its first step makes; and what of it cannot be judged by that, and
//! why.

use crate::cache::{FrameId, Keep};
use crate::frames::{self, ShapesFile, StageFile};
use crate::run::RunError;
use undine_scene::Scene;
use undine_sim::checkpoint::{self, Identity, State};
use undine_sim::schedule::Entry;
use undine_sim::task::Use;
use undine_sim::timeline::Substeps;
use undine_sim::world::ChannelKey;
use undine_sim::{Simulation, Stage, StoreId, registry};

/// What a run takes, as far as its beginning tells.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Estimate {
    /// Frames to write.
    pub frames: u64,
    /// Substeps of all frames, as fast as things are now.
    pub substeps: u64,
    /// Whether there will be so many, whatever becomes fast.
    pub substeps_are_known: bool,
    /// Particles to begin with.
    pub particles: u64,
    /// What the channels take in the first frame.
    pub memory: Guess,
    /// The same in the last frame.
    pub memory_at_last: Guess,
    /// What the files of the first frame take [bytes].
    pub frame: u64,
    /// What the files of the last frame take.
    pub frame_at_last: Guess,
    /// What all frames and the checkpoints that stay take.
    pub disk: Guess,
    /// Why the run would stop at once, if a frame takes more substeps than may be.
    pub too_many: Option<TooMany>,
}

/// What is known of what is to come.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Guess {
    /// About so much [bytes]: more than half of it, and less than twice.
    About(u64),
    /// Nobody knows before it is simulated: why.
    Unknown(String),
}

impl Guess {
    fn unless(why: &Option<String>, bytes: u64) -> Self {
        why.clone().map_or(Self::About(bytes), Self::Unknown)
    }
}

/// A frame that takes more substeps than the setup allows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TooMany {
    /// How many it would take.
    pub wanted: u64,
    /// How many may be.
    pub most: u32,
    /// Which Object asks for such short steps.
    pub object: String,
}

/// Looks at a Simulation that has not begun, and makes the room of its first step. One that does not fit into its memory budget is
/// refused, as a run would be.
pub fn estimate(scene: &Scene, simulation: &mut Simulation) -> Result<Estimate, RunError> {
    let timeline = simulation.timeline().clone();
    let frames = (i128::from(timeline.last) - i128::from(timeline.first) + 1).max(0) as u64;
    let (per_frame, too_many) = substeps(simulation)?;
    let particles = simulation.world.particles.iter();
    let particles = particles.map(|(_, particles)| particles.len() as u64).sum();
    let frame = frame(scene, simulation)?;

    simulation.look_at_start().map_err(RunError::stopped)?;
    simulation.make_room().map_err(RunError::stopped)?;
    let memory = memory(simulation)?;
    let checkpoint = checkpoint(simulation)?;
    let keep = Keep {
        every: scene.settings.checkpoint_every.map_or(u32::MAX, whole),
        last: scene.settings.checkpoint_keep.map_or(u32::MAX, whole),
    };
    let due = frames / u64::from(keep.every.max(1)) + 1;
    let kept = due.min(u64::from(keep.last)).min(frames);
    let grows = grows(simulation);
    let all = frames * u64::from(timeline.outputs_per_frame.max(1)) * frame + kept * checkpoint;
    let steps = frames.saturating_sub(1) + u64::from(timeline.preroll);
    Ok(Estimate {
        frames,
        substeps: (steps as f64 * per_frame) as u64,
        substeps_are_known: matches!(timeline.substeps, Substeps::Fixed(_)),
        particles,
        memory: Guess::unless(&grows.at_once, memory),
        memory_at_last: Guess::unless(&grows.memory, memory),
        frame,
        frame_at_last: Guess::unless(&grows.files, frame),
        disk: Guess::unless(&grows.files, all),
        too_many,
    })
}

fn whole(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

/// The substeps of a frame, as fast as things are now; and why that would stop the run, if it would.
fn substeps(simulation: &Simulation) -> Result<(f64, Option<TooMany>), RunError> {
    let timeline = simulation.timeline();
    match timeline.substeps {
        Substeps::Fixed(count) => Ok((f64::from(count), None)),
        Substeps::Adaptive { least, most, .. } => {
            let (longest, object) = simulation.longest_step().map_err(RunError::stopped)?;
            let wanted = (timeline.frame_time() / longest).ceil().max(f64::from(least));
            let is_much = wanted > f64::from(most);
            let too_many = is_much.then_some(TooMany { wanted: wanted as u64, most, object });
            Ok((wanted, too_many))
        }
        Substeps::Automatic { most, .. } => {
            let (longest, _) = simulation.longest_step().map_err(RunError::stopped)?;
            let pieces = f64::from(timeline.pieces());
            let wanted = (timeline.frame_time() / longest).ceil().max(pieces);
            Ok((wanted.min(f64::from(most).max(pieces)), None))
        }
    }
}

/// What the files of the first frame take [bytes].
fn frame(scene: &Scene, simulation: &Simulation) -> Result<u64, RunError> {
    let over = |why: undine_core::CoreError| RunError::stopped(why.into());
    // Its tables are made beside the channels, and then its bytes.
    let tables = 2 * memory(simulation)?;
    simulation
        .world
        .budget
        .check("the files of a frame while they are written", tables)
        .map_err(over)?;
    let mut frame = Counted(0);
    let first = FrameId::whole(simulation.timeline().first);
    let shapes = ShapesFile::of(scene, simulation)?;
    let stage = &mut StageFile::without_frames(shapes);
    frames::each_file(scene, simulation, first, stage, |_, content| content.write(&mut frame))?;
    Ok(frame.0)
}

/// What all channels take [bytes].
fn memory(simulation: &Simulation) -> Result<u64, RunError> {
    let stores = registry::memory(&simulation.world);
    let stores = stores.map_err(|why| RunError::stopped(why.into()))?;
    Ok(stores.iter().map(|store| store.total.total()).sum())
}

/// What a checkpoint takes [bytes].
fn checkpoint(simulation: &Simulation) -> Result<u64, RunError> {
    let identity = Identity { build: String::new(), scene: String::new() };
    let mut counted = Counted(0);
    checkpoint::save(&identity, &State::default(), &simulation.world, &mut counted)?;
    Ok(counted.0)
}

/// Why nobody knows what the last frame takes; nothing, where it takes what the first does.
struct Grows {
    /// In the first step already.
    at_once: Option<String>,
    memory: Option<String>,
    files: Option<String>,
}

/// What [`grows`] passes over: strays alone, of which there are few.
const OF_STRAYS: [&str; 3] =
    ["take out of walls", "end what walls have swallowed", "keep particles within bounds"];

/// Looks for what makes more or less of something: Tasks that declare all of a store, since they bring or take whole elements of it; volumes,
/// which are compressed; and meshes of particles.
fn grows(simulation: &Simulation) -> Grows {
    let changes = |entry: &&Entry, what: fn(&StoreId) -> bool| {
        let is_all = |key: &ChannelKey| key.channel == ChannelKey::EVERYTHING && what(&key.store);
        let declared = &entry.declared;
        // Sorting brings and takes nothing.
        declared.stage != Stage::Rebucket
            && !OF_STRAYS.contains(&declared.name)
            && declared.access.iter().any(|(key, how)| *how != Use::Read && is_all(key))
    };
    let entries = || simulation.schedule().entries().iter();
    let particles = entries()
        .find(|entry| changes(entry, |store| matches!(store, StoreId::Particles(_))))
        .map(|entry| {
            format!("`{}` brings or takes particles (\"{}\")", entry.owner, entry.declared.name)
        });
    let voxels = entries()
        .filter(|entry| entry.declared.stage == Stage::UpdateTopology)
        .find(|entry| changes(entry, |store| matches!(store, StoreId::Volume(_))))
        .map(|entry| format!("the voxels of `{}` go where it goes", entry.owner));
    let mut outputs = simulation.objects();
    let volume = outputs.find(|(_, object)| {
        object.output().iter().any(|(_, store)| matches!(store, StoreId::Volume(_)))
    });
    let volume = volume.map(|(path, _)| format!("the voxels of `{path}` are compressed"));
    let skin = simulation.skins().next();
    let skin = skin.map(|(path, _)| format!("the mesh `{path}` grows and shrinks"));
    // What comes at the end of the first step finds no voxels that were there before.
    let is_empty = simulation.world.volumes.iter().any(|(_, all)| all.topology().all().is_empty());
    Grows {
        at_once: particles.clone().filter(|_| is_empty),
        memory: particles.clone().or(voxels),
        files: particles.or(volume).or(skin),
    }
}

/// Counts bytes instead of writing them.
struct Counted(u64);

impl std::io::Write for Counted {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0 += bytes.len() as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}
