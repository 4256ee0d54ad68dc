//! USD, Pixar's Universal Scene Description: layers as text (`.usda`) and as binary (`.usdc`), and the geometry in them.

pub mod binary;
mod clips;
mod compose;
pub mod geometry;
pub mod layer;
mod library;
mod scene;
pub mod shapes;
pub mod stage;
pub mod text;
pub mod type_name;

pub use library::{load, parse};
pub use scene::{Scene, read, time_samples};
