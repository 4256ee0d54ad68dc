//! Scene files: from text to a Solver Setup, with errors that point at the line; and the data graph.
//!
//! A scene is a KDL 2 document. [`Scene::load`] reads it with all that it includes, holds every value against its
//! declaration in a [`Catalogue`], and gives either a [`Scene`] or a [`Report`] of everything that is wrong, in one run:
//! [`syntax`] finds slips of the language, [`mod@include`] and [`template`] put one tree of nodes together, [`tree`] and
//! [`inputs`] read values, [`check`] looks up names. A [`graph`] of its inputs prepares data for Behaviors.
//!
//! Beside that, [`fn@format`] lays a text out, and [`rewrite`] changes a value and nothing else.

pub mod address;
pub mod catalogue;
pub mod check;
pub mod diagnostic;
pub mod document;
mod excerpt;
pub mod format;
pub mod graph;
pub mod include;
pub mod inputs;
pub mod keys;
pub mod output;
pub mod render;
pub mod rewrite;
pub mod scene;
pub mod settings;
pub mod syntax;
pub mod template;
pub mod tree;
pub mod values;
pub mod words;

pub use catalogue::Catalogue;
pub use diagnostic::{Diagnostic, Place, Report, Severity, Source};
pub use format::format;
pub use output::{OUTPUT, Output};
pub use render::{RENDER, Render};
pub use scene::{Attribute, Expose, GraphNode, Input, Scene};
pub use settings::{SETUP, Settings, USUAL_CFL};
