//! The pipeline: World, timeline, Stages, Tasks, Objects, Actions, the Newton loop and checkpoints.
//!
//! A Solver Setup says what there is; [`Simulation`] says when it is computed. To add a phenomenon, write one [`Object`] or
//! one Action ([`Force`], [`Operator`]) with its declaration; scheduling, threads, scopes and files are the framework's.
//! [`stage`] has every moment of the timeline on one page.

pub mod action;
mod anchor;
pub mod arena;
pub mod audit;
mod balance;
pub mod behavior;
pub mod budget;
mod build;
pub mod checkpoint;
pub mod constraint;
pub mod coupling;
pub mod elements;
pub mod error;
pub mod explain;
pub mod input;
pub mod newton;
pub mod object;
pub mod offers;
pub mod registry;
pub mod report;
pub mod rest;
mod roots;
pub mod schedule;
pub mod simulation;
mod solver;
pub mod stage;
mod stirring;
pub mod surface;
pub mod task;
pub mod timeline;
pub mod tree;
pub mod values;
pub mod world;

pub use action::constraint::Bond;
pub use action::force::{Drive, Force, Point, Push};
pub use action::operator::Operator;
pub use arena::{Arena, Id};
pub use behavior::{BehaviorKind, Ingest};
pub use budget::Budget;
pub use error::{Result, SimError};
pub use object::Object;
pub use offers::{ObjectId, Offers};
pub use simulation::Simulation;
pub use stage::Stage;
pub use task::{Moment, Tasks};
pub use timeline::{Courant, Timeline};
pub use values::Values;
pub use world::{StoreId, World};
