//! The broad phase against all pairs.
