//! The schedule in words: Stages between the brackets of the timeline, Tasks in running order, and their channels.

use super::outline::{Line, SOLVE, animated, coupled, how_often, lines};
use super::plain::{padded, shown, widest, wrapped};
use crate::schedule::Entry;
use crate::simulation::Simulation;
use crate::stage::Stage;
use crate::task::{Reach, Use};
use crate::world::{ChannelKey, World};

/// Where lists of channels are broken.
const WIDTH: usize = 88;

/// What a Task that looks everywhere costs.
pub(super) const COST: &str =
    "everywhere: every process fetches it from every other one, each time the Task runs";

/// The schedule in words.
pub(super) fn text(simulation: &Simulation) -> String {
    let mut page = Page::new(simulation);
    for line in lines(simulation) {
        match line {
            Line::Open(pace) => {
                let (often, count) = how_often(pace, simulation.timeline());
                page.line("┌", often, &count);
                page.depth += 1;
            }
            Line::Close => {
                page.depth -= 1;
                page.line("└", "", "");
            }
            Line::Empty(stages) => {
                let names: Vec<String> = stages.iter().map(Stage::to_string).collect();
                for names in wrapped(&names, WIDTH) {
                    page.line("·", &names, "");
                }
            }
            Line::Stage(stage) => page.stage(simulation, stage),
        }
    }
    page.text.push_str("\n  ◆ user-facing Stage   ◇ developer-facing Stage   · no Task\n");
    page.text
}

struct Page {
    text: String,
    depth: usize,
    /// Where the second column begins.
    second: usize,
}

impl Page {
    fn new(simulation: &Simulation) -> Self {
        let tasks = simulation.schedule().entries().iter().map(|entry| entry.declared.name);
        let kernels = simulation.kernels().map(|(_, name)| name);
        let solve = Some(SOLVE).filter(|_| !coupled(simulation).is_empty());
        let second = widest(tasks.chain(kernels).chain(solve)).clamp(20, 40) + 14;
        let text =
            "SCHEDULE: Tasks in the order in which they run, and their channels\n\n".to_owned();
        Self { text, depth: 0, second }
    }

    /// A line behind the brackets it is in: mark, first column, second column.
    fn line(&mut self, mark: &str, first: &str, second: &str) {
        let first = format!("  {}{mark} {first}", "│ ".repeat(self.depth));
        // What is too long for its column moves the next one on.
        let first = if second.is_empty() { first } else { padded(&first, self.second) };
        self.text.push_str(&format!("{first}  {second}\n"));
    }

    fn stage(&mut self, simulation: &Simulation, stage: Stage) {
        let mark = if stage.is_user_facing() { "◆" } else { "◇" };
        self.line(mark, &stage.to_string(), stage.words());
        for (_, name) in simulation.kernels().filter(|(at, _)| *at == stage) {
            self.line(" ", &format!("  {}", shown(name)), "a kernel of the user's own");
        }
        if stage == Stage::BeginSubstep {
            let names: Vec<String> = animated(simulation).into_iter().map(shown).collect();
            self.list("  take animated values", &names);
        }
        for entry in simulation.schedule().at(stage) {
            self.line(" ", &format!("  {}", shown(entry.declared.name)), &shown(&entry.owner));
            for (verb, stores) in uses(entry, &simulation.world) {
                for (n, channels) in stores.iter().enumerate() {
                    let verb = if n == 0 { verb } else { "" };
                    self.list(&format!("      {verb}"), channels);
                }
            }
            if entry.declared.reach == Reach::Everywhere {
                self.line(" ", "      looks", COST);
            }
        }
        let solved = coupled(simulation);
        if stage == Stage::SolveSolids && !solved.is_empty() {
            self.line(" ", &format!("  {SOLVE}"), "the framework");
            self.list("      of", &solved.into_iter().map(shown).collect::<Vec<_>>());
        }
    }

    /// A list in the second column; nothing for an empty one.
    fn list(&mut self, first: &str, items: &[String]) {
        if items.is_empty() {
            return;
        }
        for (n, line) in wrapped(items, WIDTH).iter().enumerate() {
            self.line(" ", if n == 0 { first } else { "" }, line);
        }
    }
}

/// The channels of a Task by how it uses them, store by store: `spray.position`, `.v`, `.mass`.
pub(super) fn uses(entry: &Entry, world: &World) -> Vec<(&'static str, Vec<Vec<String>>)> {
    let all = [(Use::Read, "reads"), (Use::Accumulate, "adds to"), (Use::Write, "writes")];
    let channels = |how: Use| {
        let used = entry.declared.access.iter().filter(|(_, other)| *other == how);
        let keys: Vec<_> = used.map(|(key, _)| key).collect();
        let stores = keys.chunk_by(|one, next| one.store == next.store);
        let named = |(n, key): (usize, &&ChannelKey)| match n {
            0 => shown(&key.name(world)),
            _ => format!(".{}", shown(&key.channel)),
        };
        stores.map(|keys| keys.iter().enumerate().map(named).collect()).collect::<Vec<_>>()
    };
    let listed = all.into_iter().map(|(how, verb)| (verb, channels(how)));
    listed.filter(|(_, channels)| !channels.is_empty()).collect()
}
