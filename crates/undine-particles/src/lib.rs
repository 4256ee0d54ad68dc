//! Particles that fly through the air.
