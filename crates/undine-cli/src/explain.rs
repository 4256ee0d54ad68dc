//! `undine explain`: the tree, the scopes and the schedule of a scene.

use crate::arguments::Explain;
use crate::progress::Working;
use crate::{complain, memory, print, run, scene};
use undine::cache::write_atomically;
use undine::{ExitCode, prepare};
use undine_core::memory::MemoryBudget;

/// Shows what a scene does, in words or as a drawing.
pub fn explain(arguments: &Explain) -> ExitCode {
    let scene = match scene::load(&arguments.scene) {
        Ok(scene) => scene,
        Err(code) => return code,
    };
    let working = Working::begin("preparing the scene", false);
    let budget = memory::default_budget(1).map_or_else(MemoryBudget::unlimited, MemoryBudget::new);
    let simulation = match prepare::simulation(&scene, budget) {
        Ok(simulation) => simulation,
        Err(why) => return run::tell(&why, &scene),
    };
    working.end();
    if let Some(path) = &arguments.svg {
        let drawing = undine_sim::explain::svg(&simulation);
        if let Err(why) = write_atomically(path, drawing.as_bytes()) {
            complain(&why);
            return ExitCode::Disk;
        }
    }
    print(&undine_sim::explain::text(&simulation))
}
