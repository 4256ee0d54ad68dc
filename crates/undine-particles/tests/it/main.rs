//! Particles that fly, held against the closed forms of their motion.

mod flight;
