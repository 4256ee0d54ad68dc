//! Continuous collision queries against fine sampling in time, with static distances of their own.

mod batch;
mod broad;
mod cases;
mod judge;
mod queries;
mod swept;
