//! The timeline as nested brackets with Stages between them: what text and drawing both follow.

use crate::simulation::Simulation;
use crate::stage::{Pace, Stage};
use crate::timeline::{Substeps, Timeline};
use crate::tree::BehaviorEntry;
use undine_schema::{Setting, Type, Value};

/// A line of the timeline.
pub(super) enum Line {
    /// What comes at this pace begins.
    Open(Pace),
    /// A Stage at which something happens.
    Stage(Stage),
    /// Stages in a row at which nothing happens.
    Empty(Vec<Stage>),
    /// What comes at this pace ends.
    Close,
}

/// The timeline, from the first Stage to the last.
pub(super) fn lines(simulation: &Simulation) -> Vec<Line> {
    let mut lines = Vec::new();
    let mut pace = Pace::Run;
    for (stage, next, ..) in Stage::TABLE {
        while pace < *next {
            pace = inner(pace);
            lines.push(Line::Open(pace));
        }
        while pace > *next {
            pace = outer(pace);
            lines.push(Line::Close);
        }
        match lines.last_mut() {
            Some(Line::Empty(stages)) if is_empty(simulation, *stage) => stages.push(*stage),
            _ if is_empty(simulation, *stage) => lines.push(Line::Empty(vec![*stage])),
            _ => lines.push(Line::Stage(*stage)),
        }
    }
    while pace > Pace::Run {
        pace = outer(pace);
        lines.push(Line::Close);
    }
    lines
}

/// Whether nothing happens. User-facing Stages are always shown: they are where a user may step in.
fn is_empty(simulation: &Simulation, stage: Stage) -> bool {
    let solves = stage == Stage::SolveSolids && !coupled(simulation).is_empty();
    !stage.is_user_facing() && !solves && simulation.schedule().at(stage).is_empty()
}

fn inner(pace: Pace) -> Pace {
    match pace {
        Pace::Run => Pace::Frame,
        Pace::Frame => Pace::Substep,
        Pace::Substep | Pace::Newton => Pace::Newton,
    }
}

fn outer(pace: Pace) -> Pace {
    match pace {
        Pace::Run | Pace::Frame => Pace::Run,
        Pace::Substep => Pace::Frame,
        Pace::Newton => Pace::Substep,
    }
}

/// How often what is in a bracket comes, in a word or two, and how many times.
pub(super) fn how_often(pace: Pace, timeline: &Timeline) -> (&'static str, String) {
    match pace {
        Pace::Run => ("once", String::new()),
        Pace::Frame => ("each frame", String::new()),
        Pace::Substep => (
            "each substep",
            match timeline.substeps {
                Substeps::Fixed(_) => format!("{} in a frame", timeline.pieces()),
                Substeps::Adaptive { most, .. } => {
                    format!("{} to {most} in a frame, as Objects ask", timeline.pieces())
                }
                Substeps::Automatic { most, .. } => {
                    format!("{} to {most} in a frame, as fluids ask", timeline.pieces())
                }
            },
        ),
        Pace::Newton => (
            "each Newton iteration",
            match timeline.newton.iterations.max(1) {
                1 => "1 in a substep".to_owned(),
                most => format!("at most {most} in a substep"),
            },
        ),
    }
}

/// The Behaviors whose values or inputs change over time, when a substep begins.
pub(super) fn animated(simulation: &Simulation) -> Vec<&str> {
    let changes = |entry: &&BehaviorEntry| {
        let declared = entry.scope.declaration.parameters.iter();
        let mut inputs = declared.filter(|parameter| parameter.takes == Type::Input);
        entry.is_animated()
            || inputs.any(|parameter| match entry.scope.setting(parameter.name, None) {
                Some((Setting::Constant(Value::Text(name)), _)) => {
                    simulation.inputs().changes(&name)
                }
                _ => false,
            })
    };
    let behaviors = simulation.tree().behaviors.iter();
    let taking_part = behaviors.filter(|entry| entry.left_out.is_none());
    taking_part.filter(changes).map(|entry| entry.path.as_str()).collect()
}

/// What the framework itself does at the Stage where coupled systems are solved.
pub(super) const SOLVE: &str = "solve the coupled system";

/// The Objects that are solved as one system, because Constraints tie them to each other.
pub(super) fn coupled(simulation: &Simulation) -> Vec<&str> {
    let objects = simulation.world.objects.iter();
    objects.filter(|object| object.coupled).map(|object| object.path.as_str()).collect()
}
