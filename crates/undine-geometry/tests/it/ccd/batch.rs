//! Many pairs at once.
