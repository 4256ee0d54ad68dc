//! Tests of liquids.

mod band;
mod density;
mod guide;
mod hybrid_dam;
mod hybrid_rest;
mod hybrid_same;
mod hybrid_slosh;
mod hybrid_spin;
mod hybrid_step_size;
mod hybrid_tension;
mod hybrid_walls;
mod measure;
mod pool;
mod reseed;
mod scene;
mod seed;
mod source;
mod surface;
mod swarm;
mod walls;
mod whole_step;
