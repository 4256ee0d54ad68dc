//! The pipeline as a whole, with toys: scopes, who is left out, order, conflicts, time, values, threads, audit.

mod audit;
mod left_out;
mod moments;
mod order;
mod scopes;
mod threads;
mod time;
