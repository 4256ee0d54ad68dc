//! Undine core
