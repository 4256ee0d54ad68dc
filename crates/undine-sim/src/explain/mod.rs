//! What `undine explain` shows: the tree of Groups and Behaviors, who acts on whom and with which values, and which Task
//! runs when, with the channels it uses. As text ([`text`]), and as a drawing ([`svg`]) after Figure 8 of Loki.
//!
//! Both are the same on every machine and in every run, so that they can be kept beside a scene and compared: a change of
//! order, access or scope shows in review.

mod canvas;
mod drawing;
mod outline;
mod plain;
mod schedule;
mod scopes;
mod tree;

pub use drawing::svg;

use crate::simulation::Simulation;

/// A Simulation in words: tree, scopes and schedule.
pub fn text(simulation: &Simulation) -> String {
    let parts = [tree::text(simulation), scopes::text(simulation), schedule::text(simulation)];
    // No line ends in blanks, whatever its columns were padded to.
    parts.join("\n").lines().flat_map(|line| [line.trim_end(), "\n"]).collect()
}
