//! Tests of liquids.
