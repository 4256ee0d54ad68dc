//! Tools that change level sets: filters, morphology, booleans, resampling, components.

mod booleans;
mod components;
mod filters;
pub mod measure;
mod morphology;
mod resampling;
pub mod same_bits;
