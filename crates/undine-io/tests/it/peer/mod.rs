//! What the real programs make of our files.

mod usd;
