//! The program `undine` as people and farms use it.

mod commands;
mod disk_kill;
mod documents;
mod examples;
mod files;
mod hair;
mod hair_kill;
mod hair_scenes;
mod kill;
mod liquids;
mod mpi;
mod pictures;
mod program;
mod resume;
mod surface;
mod terminal;
mod told;
