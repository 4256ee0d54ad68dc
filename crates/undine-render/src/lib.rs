//! Pictures of points, meshes, volumes and curves, made on the CPU with nothing else installed; and plots.
//!
//! A [`Shot`](shot::Shot) says what a picture shows; [`render`](render()) makes an [`Image`] of it, the average of several passes. A pass draws
//! everything into a buffer of what is nearest in each pixel, and then lights each pixel by itself.

pub mod canvas;
pub mod colour;
pub mod colour_map;
pub mod difference;
pub mod error;
pub mod files;
pub mod image;
pub mod legend;
mod march;
pub mod overlay;
mod pass;
pub mod plot;
mod raster;
mod render;
mod shade;
pub mod sheet;
pub mod shot;
pub mod ticks;
pub mod tone;

pub use canvas::Canvas;
pub use colour_map::ColourMap;
pub use difference::Difference;
pub use error::{RenderError, Result};
pub use image::{Display, Image, Size};
pub use legend::{ColourBar, Legend};
pub use render::{Quality, memory_of_volumes, render};
pub use sheet::{Sheet, SheetFrame};
pub use ticks::Ticks;
pub use tone::{Background, exposed};
