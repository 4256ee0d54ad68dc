//! Validation: cases too long for a test, each of which says what must be true and by how much it is.
//!
//! A [`Case`] runs and returns a [`Verdict`] made of figures, each with what was found and what was wanted. Cases of one
//! subject form a [`Page`], which the program writes to `docs/validation/` with date, commit and machine.
//!
//! To add a case, write a function in the module of its subject under [`cases`], and a line in that module's `CASES`.
//! To add a subject, add a module, and a line in [`cases::PAGES`].

pub mod cases;
pub mod clock;
pub mod machine;
pub mod page;
pub mod verdict;

pub use page::{Case, Page};
pub use verdict::{Figure, Verdict};
