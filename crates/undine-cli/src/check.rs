//! `undine check`: mistakes, and what a run will take, without running.

use crate::arguments::Check;
use crate::progress::Working;
use crate::render::threads;
use crate::{memory, print, run, scene, trace, warnings, width};
use undine::advice::advice;
use undine::estimate::{Estimate, Guess, TooMany, estimate};
use undine::{ExitCode, prepare};
use undine_core::memory::{MemoryBudget, in_words};
use undine_scene::Diagnostic;

/// Checks a scene.
pub fn check(arguments: &Check) -> ExitCode {
    if let Err(code) = threads(arguments.threads) {
        return code;
    }
    let scene = match scene::load(&arguments.scene) {
        Ok(scene) => scene,
        Err(code) => return code,
    };
    eprint!("{}", scene.warnings.render(width()));
    // What the first frame does not fit into cannot be looked at.
    let free = arguments.memory.or_else(|| memory::default_budget(1));
    let budget = free.map_or_else(MemoryBudget::unlimited, MemoryBudget::new);
    // Without a file nothing can go wrong.
    let _ = trace::begin(None);
    let working = Working::begin("preparing the scene", false);
    let mut simulation = match prepare::simulation(&scene, budget) {
        Ok(simulation) => simulation,
        Err(why) => return run::tell(&why, &scene),
    };
    working.end();
    eprint!("{}", advice(&scene, &simulation).render(width()));
    warnings::take().iter().for_each(|told| eprintln!("{told}"));
    let working = Working::begin("looking at the first frame", false);
    let found = match estimate(&scene, &mut simulation) {
        Ok(found) => found,
        Err(why) => return run::tell(&why, &scene),
    };
    working.end();
    if let Some(TooMany { wanted, most, object }) = &found.too_many {
        let message = format!("a frame would take {wanted} substeps, and {most} are allowed");
        let help = format!(
            "the run would stop: raise max-substeps, or look for something small or fast in `{object}`"
        );
        let warning = Diagnostic::warning(scene.place("setup.max-substeps"), message).help(help);
        eprint!("{}", warning.render(width()));
    }
    let Estimate { frames, substeps, substeps_are_known, particles, frame, memory, .. } =
        found.clone();
    let mut text = format!("{}: nothing is wrong\n", scene.settings.name);
    text += &match substeps_are_known {
        true => format!("  frames     {frames}, {substeps} substeps\n"),
        false => format!(
            "  frames     {frames}\n  substeps   about {substeps} as fast as things begin; how many, their speed decides\n"
        ),
    };
    text += &format!("  particles  {particles} to begin with\n");
    let at_last = |guess: &Guess| match guess {
        Guess::About(count) => format!("about {}", in_words(*count)),
        Guess::Unknown(why) => format!("unknown, because {why}"),
    };
    text += &match &memory {
        Guess::About(first) => format!(
            "  memory     {} in the first frame, at the last {}\n",
            in_words(*first),
            at_last(&found.memory_at_last)
        ),
        unknown => format!("  memory     {}\n", at_last(unknown)),
    };
    text +=
        "             of channels alone; the program and its work take some 50 MB or more beside\n";
    let first = in_words(frame);
    text += &format!(
        "  disk       {first} for the first frame, for the last {}\n",
        at_last(&found.frame_at_last)
    );
    text += &format!(
        "             all frames and checkpoints, without pictures and report: {}\n",
        at_last(&found.disk)
    );
    if let (Guess::About(memory), Some(free)) = (&memory, free)
        && *memory > free
    {
        text += "  warning    that is more than is free; --quality 0.5 gives a quick look\n";
    }
    print(&text)
}
