//! Rigid bodies and deformable solids.
