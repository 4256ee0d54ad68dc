//! Tests of fluids on MAC grids.
