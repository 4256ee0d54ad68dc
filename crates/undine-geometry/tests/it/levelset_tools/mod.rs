//! Tools that change level sets: filters, morphology, booleans, resampling, components.

mod booleans;
mod components;
mod filters;
mod hostile;
pub mod measure;
mod morphology;
mod resampling;
pub mod same_bits;
mod shells;
