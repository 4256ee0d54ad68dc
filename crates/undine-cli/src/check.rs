//! `undine check`: mistakes, and what a run will take, without running.

use crate::arguments::Check;
use crate::{memory, print, run, scene, trace, warnings, width};
use undine::advice::advice;
use undine::estimate::{Estimate, TooMany, estimate};
use undine::{ExitCode, prepare};
use undine_core::memory::MemoryBudget;
use undine_scene::Diagnostic;

/// Checks a scene.
pub fn check(arguments: &Check) -> ExitCode {
    let scene = match scene::load(&arguments.scene) {
        Ok(scene) => scene,
        Err(code) => return code,
    };
    eprint!("{}", scene.warnings.render(width()));
    // What the first frame does not fit into cannot be looked at.
    let free = memory::default_budget(1);
    let budget = free.map_or_else(MemoryBudget::unlimited, MemoryBudget::new);
    // Without a file nothing can go wrong.
    let _ = trace::begin(None);
    let simulation = match prepare::simulation(&scene, budget) {
        Ok(simulation) => simulation,
        Err(why) => return run::tell(&why, &scene),
    };
    eprint!("{}", advice(&scene, &simulation).render(width()));
    warnings::take().iter().for_each(|warning| eprintln!("warning: {warning}"));
    let Estimate { frames, substeps, particles, memory, disk, too_many } =
        match estimate(&scene, &simulation) {
            Ok(estimate) => estimate,
            Err(why) => return run::tell(&why, &scene),
        };
    if let Some(TooMany { wanted, most, object }) = too_many {
        let message = format!("a frame would take {wanted} substeps, and {most} are allowed");
        let help = format!(
            "the run would stop: raise max-substeps, or look for something small or fast in `{object}`"
        );
        let warning = Diagnostic::warning(scene.place("setup.max-substeps"), message).help(help);
        eprint!("{}", warning.render(width()));
    }
    let mut text = format!("{}: nothing is wrong\n", scene.settings.name);
    text += &format!("  frames     {frames}, about {substeps} substeps\n");
    text += &format!("  particles  {particles} to begin with\n");
    text += &format!("  memory     {}\n", bytes(memory));
    text += &format!("  disk       {}\n", bytes(disk));
    if free.is_some_and(|free| memory > free) {
        text += "  warning    that is more than is free; --quality 0.5 gives a quick look\n";
    }
    print(&text)
}

fn bytes(count: u64) -> String {
    match count as f64 {
        b if b < 1e6 => format!("{:.0} kB", (b / 1e3).ceil()),
        b if b < 1e9 => format!("{:.1} MB", b / 1e6),
        b => format!("{:.1} GB", b / 1e9),
    }
}
