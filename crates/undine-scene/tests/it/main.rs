//! Scenes as people write them, right and wrong, against a small catalogue.

mod broken;
mod catalogue;
mod formatting;
mod good;
mod graph;
mod hostile;
