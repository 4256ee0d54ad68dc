//! Tests of liquids.

mod density;
mod pool;
mod reseed;
mod scene;
mod seed;
mod source;
mod surface;
mod whole_step;
