//! The program `undine` as people and farms use it.

mod commands;
mod damage;
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
mod odd;
mod pictures;
mod program;
mod resume;
mod surface;
mod terminal;
mod told;
