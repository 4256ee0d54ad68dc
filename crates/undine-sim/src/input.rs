//! Data from outside: what the data graph hands to Behaviors.

use crate::error::Result;
use std::collections::BTreeMap;
use std::sync::Arc;
use undine_core::glam::DVec3;
use undine_core::mesh::{Body, Curves, Surface};
use undine_geometry::levelset::LevelSet;
use undine_geometry::motion::Motion;
use undine_geometry::shape::Shape;
use undine_schema::Value;

/// Where Behaviors get their data from.
pub trait Inputs: Send + Sync {
    /// The input of this name, at a time [s].
    fn data(&self, name: &str, time: f64) -> Result<Arc<Data>>;

    /// Whether it is not the same at all times.
    fn changes(&self, name: &str) -> bool;
}

/// No inputs at all.
impl Inputs for () {
    fn data(&self, name: &str, _: f64) -> Result<Arc<Data>> {
        let what = format!("there is no input `{name}`");
        Err(crate::SimError::setup(name, what, "declare it with an `input` node"))
    }

    fn changes(&self, _: &str) -> bool {
        false
    }
}

/// Inputs by name that stay as they are.
impl Inputs for BTreeMap<String, Arc<Data>> {
    fn data(&self, name: &str, time: f64) -> Result<Arc<Data>> {
        self.get(name).map_or_else(|| ().data(name, time), |data| Ok(data.clone()))
    }

    fn changes(&self, _: &str) -> bool {
        false
    }
}

/// Geometry with channels on its elements, and values that hold for it as a whole.
#[derive(Debug, Clone, Default)]
pub struct Data {
    /// What it is.
    pub geometry: Geometry,
    /// What holds for it as a whole, by channel names.
    pub attributes: BTreeMap<String, Value>,
    /// How it moves, if it moves as a rigid whole; the geometry is then at rest.
    pub motion: Option<Motion>,
}

/// A kind of geometry.
#[derive(Debug, Clone, Default)]
pub enum Geometry {
    /// Nothing.
    #[default]
    Empty,
    /// Points.
    Points(PointCloud),
    /// Curves.
    Curves(Arc<Curves>),
    /// A surface of polygons.
    Surface(Arc<Surface>),
    /// Tetrahedra.
    Body(Arc<Body>),
    /// A signed distance on voxels.
    LevelSet(Arc<LevelSet>),
    /// A solid by formulas.
    Shape(Arc<Shape>),
}

/// Points with channels, and edges between them if there are any.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PointCloud {
    /// Where they are [m].
    pub positions: Vec<DVec3>,
    /// Channels of numbers, in SI.
    pub numbers: BTreeMap<String, Vec<f64>>,
    /// Channels of vectors, in SI.
    pub vectors: BTreeMap<String, Vec<DVec3>>,
    /// Pairs of points that belong together.
    pub edges: Vec<[u32; 2]>,
}

impl Data {
    /// Points without channels.
    pub fn points(positions: Vec<DVec3>) -> Self {
        let cloud = PointCloud { positions, ..PointCloud::default() };
        Self { geometry: Geometry::Points(cloud), ..Self::default() }
    }

    /// Whether there is nothing.
    pub fn is_empty(&self) -> bool {
        match &self.geometry {
            Geometry::Empty => true,
            Geometry::Points(cloud) => cloud.positions.is_empty(),
            _ => false,
        }
    }
}
