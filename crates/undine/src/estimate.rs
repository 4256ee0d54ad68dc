//! What a run will take, judged by its first frame.

use crate::cache::FrameId;
use crate::frames::{self, StageFile};
use crate::run::RunError;
use undine_scene::Scene;
use undine_sim::Simulation;
use undine_sim::registry;
use undine_sim::timeline::Substeps;

/// What a run takes, as far as its first frame tells.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Estimate {
    /// Frames to write.
    pub frames: u64,
    /// Substeps of all frames, as fast as things are now.
    pub substeps: u64,
    /// Particles to begin with.
    pub particles: u64,
    /// What the channels take [bytes].
    pub memory: u64,
    /// What frames and checkpoints take [bytes].
    pub disk: u64,
    /// Why the run would stop at once, if a frame takes more substeps than may be.
    pub too_many: Option<TooMany>,
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

/// Looks at a Simulation that has not begun.
pub fn estimate(scene: &Scene, simulation: &Simulation) -> Result<Estimate, RunError> {
    let world = &simulation.world;
    let timeline = simulation.timeline();
    let frames = (i128::from(timeline.last) - i128::from(timeline.first) + 1).max(0) as u64;
    let memory: u64 = registry::memory(world)
        .map_err(|why| RunError::stopped(why.into()))?
        .iter()
        .map(|store| store.total.total())
        .sum();
    let mut frame = Counted(0);
    let first = FrameId::whole(timeline.first);
    frames::each_file(scene, simulation, first, &mut StageFile::default(), |_, content| {
        content.write(&mut frame)
    })?;
    let mut too_many = None;
    let per_frame = match timeline.substeps {
        Substeps::Fixed(count) => f64::from(count),
        Substeps::Adaptive { least, most, .. } => {
            let (longest, object) = simulation.longest_step().map_err(RunError::stopped)?;
            let wanted = (timeline.frame_time() / longest).ceil().max(f64::from(least));
            if wanted > f64::from(most) {
                too_many = Some(TooMany { wanted: wanted as u64, most, object });
            }
            wanted
        }
        Substeps::Automatic { most, .. } => {
            let (longest, _) = simulation.longest_step().map_err(RunError::stopped)?;
            let pieces = f64::from(timeline.pieces());
            let wanted = (timeline.frame_time() / longest).ceil().max(pieces);
            wanted.min(f64::from(most).max(pieces))
        }
    };
    let steps = frames.saturating_sub(1) + u64::from(timeline.preroll);
    let kept = scene.settings.checkpoint_keep.map_or(frames, |keep| keep as u64).min(frames);
    Ok(Estimate {
        frames,
        substeps: (steps as f64 * per_frame) as u64,
        particles: world.particles.iter().map(|(_, particles)| particles.len() as u64).sum(),
        memory,
        disk: frames * u64::from(timeline.outputs_per_frame) * frame.0 + kept * memory,
        too_many,
    })
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
