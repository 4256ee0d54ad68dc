//! The pictures of a run. Whatever goes wrong with them is told, and the run goes on.
//!
//! Of several processes, all bring what they have to the first, which draws; so all have to agree on whether there are any.

use super::listener::Listener;
use crate::preview::{PictureError, Preview, Record};
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};
use undine_core::process::Processes;
use undine_scene::Scene;
use undine_sim::Simulation;

/// What takes no longer than this is no reason to say anything.
const SHORT: Duration = Duration::from_secs(1);

/// What helps where pictures take longer than frames.
const SLOW: &str = "`render every=32` draws fewer of them, `samples=2` coarser ones, and `render enabled=#false` none";

/// Draws the pictures of a run, if it has any.
pub(super) struct Pictures {
    preview: Option<Preview>,
    processes: Arc<dyn Processes>,
    took: Duration,
    /// What is still to be told.
    notes: Vec<String>,
    /// What was told: what is wrong with every frame is said once.
    told: BTreeSet<String>,
}

impl Pictures {
    /// Those of a scene whose Simulation is at its very beginning: what they show must not depend on where a run goes on.
    pub fn of(scene: &Scene, simulation: &Simulation, cache: &Path) -> Self {
        let mut this = Self {
            preview: None,
            processes: simulation.world.processes().clone(),
            took: Duration::ZERO,
            notes: Vec::new(),
            told: BTreeSet::new(),
        };
        match Preview::of(scene, simulation, cache) {
            Ok(preview) => this.preview = preview,
            Err(why) => this.wrong(&why),
        }
        let wanted = this.preview.is_some();
        this.agree(wanted);
        this
    }

    /// Whether it is the one that draws.
    fn is_first(&self) -> bool {
        self.processes.rank() == 0
    }

    /// There are pictures only where all processes can have some.
    fn agree(&mut self, here: bool) {
        // An error here ends the run at its next step.
        if self.processes.any(!here).unwrap_or(true) {
            self.preview = None;
        }
    }

    fn wrong(&mut self, why: &PictureError) {
        let note = format!("no picture: {why}");
        if self.told.insert(note.clone()) {
            self.notes.push(note);
        }
    }

    /// The frames after this one follow.
    pub fn begin(&mut self, scene: &Scene, simulation: &Simulation, after: Option<i64>) {
        let Some(preview) = &self.preview else { return };
        let record = Record::of(scene, simulation.timeline().frame_time());
        let begun = if self.is_first() { preview.begin(&record, after) } else { Ok(()) };
        let is_there = begun.is_ok();
        if let Err(why) = begun {
            self.wrong(&why);
        }
        self.agree(is_there);
    }

    /// Draws what is due at a frame.
    pub fn frame(&mut self, simulation: &Simulation, frame: i64) {
        let Some(preview) = &mut self.preview else { return };
        let began = Instant::now();
        let failed = preview.frame(simulation, frame);
        self.took += began.elapsed();
        failed.iter().for_each(|why| self.wrong(why));
    }

    /// How long drawing took since somebody asked; tells what went wrong meanwhile, and once if it took longer than simulating what
    /// was drawn, which took so long.
    pub fn took(&mut self, simulated: Option<Duration>, listener: &mut dyn Listener) -> Duration {
        let took = std::mem::take(&mut self.took);
        if let Some(simulated) = simulated.filter(|simulated| took > SHORT.max(*simulated)) {
            let note = SLOW;
            if self.told.insert(note.to_owned()) {
                let (took, simulated) = (took.as_secs_f64(), simulated.as_secs_f64());
                self.notes.push(format!(
                    "a picture took {took:.1} s, and its frame {simulated:.1} s: {note}"
                ));
            }
        }
        self.notes.drain(..).for_each(|note| listener.note(&note));
        took
    }

    /// How long drawing took since somebody asked.
    pub fn so_far(&self) -> Duration {
        self.took
    }

    /// All frames are there: sums them up, and says where the pictures are.
    pub fn finish(&mut self, listener: &mut dyn Listener) {
        let Some(preview) = self.preview.as_ref().filter(|_| self.is_first()) else { return };
        match preview.finish() {
            Ok(made) => listener.pictures(preview.folder(), &made),
            Err(why) => self.wrong(&why),
        }
        self.took(None, listener);
    }
}
