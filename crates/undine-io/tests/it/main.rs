//! The tests of files, as one program.

mod obj;
mod pattern;
mod ply;
mod ply_hostile;
mod usd_text;
