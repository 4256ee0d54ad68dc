//! USD, Pixar's Universal Scene Description: layers as text (`.usda`) and as binary (`.usdc`), and the geometry in them.

pub mod binary;
pub mod geometry;
pub mod layer;
pub mod stage;
pub mod text;
pub mod type_name;
