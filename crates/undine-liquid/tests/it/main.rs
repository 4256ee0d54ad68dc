//! Tests of liquids.

mod pool;
mod reseed;
mod scene;
mod seed;
mod surface;
mod whole_step;
