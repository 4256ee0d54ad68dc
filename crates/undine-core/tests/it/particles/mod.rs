//! Particle Systems: sequences of operations against a naive model, errors that change nothing, the
//! same bytes for any number of threads and any origin, memory.

mod bytes;
mod model;
mod placed;
mod refusals;
mod reset;
mod sequences;
