//! A run in a few figures.

use super::stats::{Frame, History};
use undine_core::memory::in_words;
use undine_render::plot::escaped;
use undine_render::ticks::number as short;

/// A run in a few figures; what was not told is NaN or nothing.
#[derive(Debug, Clone, PartialEq)]
pub struct Summary {
    /// How many frames are told of.
    pub frames: usize,
    /// How long they took [s].
    pub seconds: f64,
    /// The slowest frame, how long it took [s], and the Stage that took most of it.
    pub slowest: Option<(i64, f64, Option<String>)>,
    /// Iterations of all solves.
    pub iterations: f64,
    /// How far the mass strays from that of the first frame at most, as a share of it.
    pub mass_drift: f64,
    /// How far the momentum strays from that of the first frame at most [kg m/s].
    pub momentum_drift: f64,
    /// The change of energy from the first frame to the last [J].
    pub energy_change: f64,
    /// The largest energy of motion [J].
    pub largest_kinetic: f64,
    /// The solve that missed or came nearest to missing: frame, system, residual, tolerance.
    pub worst_solve: Option<(i64, String, f64, f64)>,
    /// How many solves did not get there.
    pub failed_solves: usize,
    /// The most that channels took [bytes].
    pub memory: f64,
    /// The most that the process took [bytes].
    pub process_memory: f64,
}

impl Summary {
    /// Of a run.
    pub fn of(history: &History) -> Self {
        let frames = &history.frames;
        let sum = |value: &dyn Fn(&Frame) -> f64| {
            frames.values().map(value).filter(|value| value.is_finite()).sum::<f64>()
        };
        let most =
            |value: &dyn Fn(&Frame) -> f64| frames.values().map(value).fold(f64::NAN, f64::max);
        let slow = frames.iter().filter(|(_, frame)| frame.seconds.is_finite());
        let slowest = slow.max_by(|a, b| a.1.seconds.total_cmp(&b.1.seconds)).map(|(n, frame)| {
            let stages = frame.stages.iter().filter(|(_, took)| took.is_finite());
            let stage = stages.max_by(|a, b| a.1.total_cmp(b.1)).map(|(name, _)| name.clone());
            (*n, frame.seconds, stage)
        });
        let solves = || {
            frames.iter().flat_map(|(n, frame)| frame.solves.iter().map(move |(s, of)| (*n, s, of)))
        };
        // How many times the residual is of what was asked for; without that, the residual itself.
        let missed = |residual: f64, tolerance: f64| {
            if tolerance > 0.0 { residual / tolerance } else { residual }
        };
        let worst_solve = solves()
            .filter(|(_, _, of)| of.residual.is_finite())
            .max_by(|a, b| {
                missed(a.2.residual, a.2.tolerance).total_cmp(&missed(b.2.residual, b.2.tolerance))
            })
            .map(|(n, system, of)| (n, system.clone(), of.residual, of.tolerance));
        let first = frames.values().next();
        let mass = first.map_or(f64::NAN, |frame| frame.mass);
        let momentum = first.map_or([f64::NAN; 3], |frame| frame.momentum);
        let strayed = |frame: &Frame| {
            let by = |n: usize| (frame.momentum[n] - momentum[n]).powi(2);
            (by(0) + by(1) + by(2)).sqrt()
        };
        let energy = |frame: Option<&Frame>| frame.map_or(f64::NAN, Frame::energy);
        Self {
            frames: frames.len(),
            seconds: sum(&|frame| frame.seconds),
            slowest,
            iterations: solves().map(|(_, _, of)| of.iterations).sum(),
            mass_drift: most(&|frame| ((frame.mass - mass) / mass).abs()),
            momentum_drift: most(&strayed),
            energy_change: energy(frames.values().next_back()) - energy(first),
            largest_kinetic: most(&|frame| frame.kinetic_energy),
            worst_solve,
            failed_solves: solves().map(|(_, _, of)| of.failed).sum(),
            memory: most(&|frame| frame.memory),
            process_memory: most(&|frame| frame.process_memory),
        }
    }

    /// As names and values, for reading; what was not told is left out.
    pub fn lines(&self) -> Vec<(&'static str, String)> {
        let mut lines = vec![("frames", self.frames.to_string()), ("time", time(self.seconds))];
        if self.frames > 0 {
            lines.push(("per frame", time(self.seconds / self.frames as f64)));
        }
        if let Some((frame, took, stage)) = &self.slowest {
            let stage = stage.as_ref().map_or(String::new(), |stage| format!(", most in {stage}"));
            lines.push(("slowest frame", format!("{frame}: {}{stage}", time(*took))));
        }
        if self.mass_drift.is_finite() {
            lines.push(("drift of mass", percent(self.mass_drift)));
        }
        if self.momentum_drift.is_finite() {
            lines.push(("change of momentum", format!("{} kg m/s", short(self.momentum_drift))));
        }
        if self.energy_change.is_finite() {
            lines.push(("change of energy", format!("{} J", short(self.energy_change))));
        }
        if let Some((frame, system, residual, tolerance)) = &self.worst_solve {
            let wanted = if tolerance.is_finite() {
                format!(", wanted {}", short(*tolerance))
            } else {
                String::new()
            };
            lines.push((
                "worst solve",
                format!("{system}, frame {frame}: residual {}{wanted}", short(*residual)),
            ));
        }
        if self.failed_solves > 0 {
            lines.push(("not converged", format!("{} solves", self.failed_solves)));
        }
        for (name, bytes) in [("channels", self.memory), ("memory at peak", self.process_memory)] {
            if bytes > 0.0 {
                lines.push((name, memory(bytes)));
            }
        }
        lines
    }
}

/// `12.3 ms`, `4.56 s`, `7 min 5 s`.
pub(super) fn time(seconds: f64) -> String {
    match seconds {
        s if !s.is_finite() => "–".to_owned(),
        s if s >= 120.0 => format!("{:.0} min {:.0} s", (s / 60.0).floor(), (s % 60.0).floor()),
        s if s >= 1.0 => format!("{s:.2} s"),
        s if s >= 1e-3 => format!("{:.1} ms", 1e3 * s),
        s => format!("{:.0} µs", 1e6 * s),
    }
}

fn percent(share: f64) -> String {
    if share == 0.0 { "none".to_owned() } else { format!("{} %", short(100.0 * share)) }
}

/// What nobody told is not shown as a number.
fn memory(bytes: f64) -> String {
    if bytes.is_finite() { in_words(bytes as u64) } else { "–".to_owned() }
}

/// The table of what differs between two runs, as rows of HTML: name, first, second, ratio or difference.
pub(super) fn differences(a: &Summary, b: &Summary) -> String {
    let ratio = |a: f64, b: f64| match b / a {
        ratio if ratio.is_finite() => format!("× {}", short(ratio)),
        _ => "–".to_owned(),
    };
    let per = |s: &Summary| s.seconds / s.frames as f64;
    type Written = fn(f64) -> String;
    let rows: [(&str, [f64; 2], Written); 8] = [
        ("frames", [a.frames as f64, b.frames as f64], |v| format!("{v}")),
        ("time", [a.seconds, b.seconds], time),
        ("time per frame", [per(a), per(b)], time),
        ("iterations of solves", [a.iterations, b.iterations], |v| format!("{v}")),
        ("drift of mass", [a.mass_drift, b.mass_drift], percent),
        ("change of momentum", [a.momentum_drift, b.momentum_drift], |v| short(v) + " kg m/s"),
        ("change of energy", [a.energy_change, b.energy_change], |v| short(v) + " J"),
        ("memory of channels", [a.memory, b.memory], memory),
    ];
    let told = |values: &[f64; 2]| values.iter().any(|value| value.is_finite());
    let shown = rows.into_iter().filter(|(_, values, _)| told(values));
    let cell = |text: &str| format!("<td>{}</td>", escaped(text));
    shown
        .map(|(name, [a, b], written)| {
            let [first, second] = [cell(&written(a)), cell(&written(b))];
            format!("<tr><th>{name}</th>{first}{second}{}</tr>\n", cell(&ratio(a, b)))
        })
        .collect()
}
