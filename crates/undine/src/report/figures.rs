//! The plots of one run, or of two in the same axes.

use super::charts::{Chart, charts};
use super::stats::{Frame, History};
use std::collections::BTreeMap;
use undine_render::plot::{Axis, Mark, Note, OTHER, Plot, Series, Unit};

/// So many Stages are told apart; the rest is one.
const STAGES: usize = 6;
/// Stages with a smaller share of the time are not told apart.
const SMALL: f64 = 0.01;
/// Up to so many frames have a bar each; more become areas.
const BARS: usize = 60;

/// Every plot that has something to show: of one run, or of two, the second dashed.
pub fn figures(runs: &[History]) -> Vec<Plot> {
    let mut figures = times(runs);
    figures.push(solves(runs, "iterations", "Iterations of solves", Unit::Count, |of| of[0]));
    figures.push(solves(runs, "residuals", "Residuals of solves", Unit::Plain(""), |of| of[1]));
    figures.extend(charts().iter().map(|chart| lines(runs, chart)));
    let after_momentum = figures.iter().position(|plot| plot.name == "cfl");
    figures.insert(after_momentum.unwrap_or(figures.len()), energy(runs));
    figures.retain(|plot| !plot.is_empty());
    if let [a, b] = runs {
        for plot in figures.iter_mut().filter(|plot| plot.series.iter().any(|s| s.dashed)) {
            plot.key = Some([a.label.clone(), b.label.clone()]);
        }
    }
    figures
}

fn frames() -> Axis {
    Axis::new("frame", Unit::Number).free()
}

/// A series of each run for each quantity. One quantity alone needs no name: the heading says it.
fn lines(runs: &[History], chart: &Chart) -> Plot {
    let quantities: Vec<_> = chart
        .quantities
        .iter()
        .filter(|(_, of)| {
            let mut values = runs.iter().flat_map(|run| run.frames.values().map(of));
            values.any(|value| value.is_finite() && value != 0.0)
        })
        .collect();
    let mut plot = Plot::new(chart.name, chart.title, chart.about, frames(), chart.y.clone());
    for (n, (name, of)) in quantities.iter().enumerate() {
        let name = if quantities.len() == 1 { "" } else { *name };
        add(&mut plot, runs, name, n, |run| run.points(of));
    }
    plot
}

/// Adds a quantity of all runs. Where it is the only one, runs differ by colour, too.
fn add(
    plot: &mut Plot,
    runs: &[History],
    name: &str,
    colour: usize,
    points: impl Fn(&History) -> Vec<[f64; 2]>,
) {
    for (n, run) in runs.iter().enumerate() {
        plot.series.push(Series {
            name: name.to_owned(),
            points: points(run),
            mark: Mark::Line,
            colour: if name.is_empty() { colour + n } else { colour },
            dashed: n == 1,
        });
    }
}

/// Energy, counted from the first frame where it is one of place: where zero lies is nobody's concern.
fn energy(runs: &[History]) -> Plot {
    let y = Axis::new("that of places from the first frame on", Unit::Prefixed("J"));
    let about = "Energy of motion, energy of places, and their sum, in each frame.";
    let mut plot = Plot::new("energy", "Energy", about, frames(), y);
    let of_places = |run: &History| {
        let start = run.frames.values().map(|frame| frame.potential_energy).find(|e| e.is_finite());
        let start = start.unwrap_or(0.0);
        move |frame: &Frame| frame.potential_energy - start
    };
    add(&mut plot, runs, "of motion", 0, |run| run.points(|frame| frame.kinetic_energy));
    let tells = |frame: &Frame| frame.potential_energy.is_finite() && frame.potential_energy != 0.0;
    if runs.iter().any(|run| run.frames.values().any(tells)) {
        add(&mut plot, runs, "of places", 1, |run| run.points(of_places(run)));
        add(&mut plot, runs, "sum", 2, |run| {
            let place = of_places(run);
            run.points(|frame| frame.kinetic_energy + place(frame))
        });
    } else {
        plot.y.label = String::new();
        plot.title = "Energy of motion".to_owned();
        for (n, series) in plot.series.iter_mut().enumerate() {
            (series.name, series.colour) = (String::new(), n);
        }
    }
    plot
}

/// Iterations or residuals of each system, with a note where a solve did not get there.
fn solves(runs: &[History], name: &str, title: &str, unit: Unit, of: fn([f64; 2]) -> f64) -> Plot {
    let residuals = name == "residuals";
    let label = if residuals { "the worst of each frame, relative" } else { "per frame" };
    let y = Axis::new(label, unit);
    let y = if residuals { y.log() } else { y };
    let about = format!("{title}, {label}, of each system.");
    let mut plot = Plot::new(name, title, &about, frames(), y);
    let mut systems: Vec<&String> = runs
        .iter()
        .flat_map(|run| run.frames.values().flat_map(|frame| frame.solves.keys()))
        .collect();
    systems.sort();
    systems.dedup();
    systems.truncate(STAGES);
    for (n, system) in systems.into_iter().enumerate() {
        add(&mut plot, runs, system, n, |run| {
            run.points(|frame| {
                frame.solves.get(system).map_or(f64::NAN, |s| of([s.iterations, s.residual]))
            })
        });
        if residuals {
            add(&mut plot, &runs[..1.min(runs.len())], "wanted", OTHER, |run| {
                run.points(|frame| frame.solves.get(system).map_or(f64::NAN, |s| s.tolerance))
            });
        }
    }
    for run in runs {
        for (number, frame) in &run.frames {
            if let Some((system, _)) = frame.solves.iter().find(|(_, of)| of.failed > 0) {
                let text = format!("frame {number}: {system} did not converge");
                plot.notes.push(Note { x: *number as f64, text });
            }
        }
    }
    plot.notes.sort_by(|a, b| a.x.total_cmp(&b.x));
    plot
}

/// Time per Stage, stacked: a plot for each run, on the same scale and in the same colours.
fn times(runs: &[History]) -> Vec<Plot> {
    let mut totals: BTreeMap<&str, f64> = BTreeMap::new();
    for frame in runs.iter().flat_map(|run| run.frames.values()) {
        for (name, took) in parts(frame) {
            *totals.entry(name).or_default() += took;
        }
    }
    let whole: f64 = totals.values().sum();
    let mut named: Vec<(&str, f64)> = totals.into_iter().collect();
    named.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(b.0)));
    named.retain(|(_, took)| *took > SMALL * whole);
    named.truncate(STAGES);
    let names: Vec<&str> = named.into_iter().map(|(name, _)| name).collect();
    let longest = runs
        .iter()
        .flat_map(|run| run.frames.values())
        .map(|frame| frame.seconds.max(parts(frame).map(|part| part.1).sum()))
        .fold(0.0, f64::max);
    let suffixes: &[&str] = if runs.len() > 1 { &["-a", "-b"] } else { &[""] };
    runs.iter()
        .zip(suffixes)
        .map(|(run, suffix)| {
            let title = match suffix.is_empty() {
                true => "Time per frame, by Stage".to_owned(),
                false => format!("Time per frame, by Stage: {}", run.label),
            };
            let about = "How long each frame took, and which Stages took it.";
            let mut y = Axis::new("", Unit::Prefixed("s"));
            y.reaches = Some([0.0, longest]);
            let mut plot = Plot::new(&format!("time{suffix}"), &title, about, frames(), y);
            let mark = if run.frames.len() <= BARS { Mark::Bars } else { Mark::Area };
            for name in &names {
                let took = |frame: &Frame| parts(frame).find(|part| part.0 == *name).map(|p| p.1);
                let points = run.points(|frame| took(frame).unwrap_or(0.0));
                plot = plot.with(name, mark, points);
            }
            let rest = run.points(|frame| {
                let told: f64 =
                    parts(frame).filter(|(name, _)| names.contains(name)).map(|part| part.1).sum();
                (frame.seconds - told).max(0.0)
            });
            plot = plot.with("other", mark, rest);
            plot.series.iter_mut().last().into_iter().for_each(|series| series.colour = OTHER);
            plot
        })
        .collect()
}

/// What of a frame's time went where.
fn parts(frame: &Frame) -> impl Iterator<Item = (&str, f64)> {
    let stages = frame.stages.iter().map(|(name, took)| (name.as_str(), *took));
    let beside = [("files", frame.writing), ("pictures", frame.pictures)];
    stages.chain(beside).filter(|(_, took)| took.is_finite())
}
