//! Air, and what is in it.

mod buoyancy;
mod dye;
mod fine;
mod flow;
mod open;
mod plume;
mod region;
mod same;
mod scene;
mod stamp;
mod wind;
