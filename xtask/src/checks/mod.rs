//! Rules that neither the compiler nor clippy knows. Each check returns its findings; none means it passes.

mod layers;
mod licences;
mod refused;
mod source;
mod spdx;

pub use layers::check as arrows;
pub use licences::check as licences;
pub use source::check as source;
