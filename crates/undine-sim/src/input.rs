//! Data from outside: what the data graph hands to Behaviors.

use crate::error::{Result, SimError};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;
use undine_core::channel::{ChannelSet, Flat};
use undine_core::glam::{DVec3, Vec3};
use undine_core::mesh::{Body, Bounds, Connectivity, Curves, ElementClass, Mesh, Strands, Surface};
use undine_core::{ChannelSpec, Element, ElementType};
use undine_geometry::levelset::LevelSet;
use undine_geometry::mesh_solid::{Inside, MeshSolid};
use undine_geometry::motion::Motion;
use undine_geometry::shape::Shape;
use undine_geometry::{Collider, Deformation, Nearest, Pose, Solid, Triangles};
use undine_schema::Value;

/// Where Behaviors get their data from.
pub trait Inputs: Send + Sync {
    /// The input of this name, at a time [s].
    fn data(&self, name: &str, time: f64) -> Result<Arc<Data>>;

    /// Whether it is not the same at all times.
    fn changes(&self, name: &str) -> bool;

    /// What the filters of an input that has no source of its own make of some data, at a time [s].
    fn filtered(&self, name: &str, _: Data, _: f64) -> Result<Arc<Data>> {
        let what = format!("there are no filters `{name}`");
        Err(crate::SimError::setup(name, what, "write them into the block of the Behavior"))
    }

    /// Which way is up in the scene: a unit vector.
    fn up(&self) -> DVec3 {
        DVec3::Y
    }
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

/// The channel of velocities [m/s].
pub const VELOCITY: &str = "v";

/// A vector channel that holds no direction of space, and so is not turned with the geometry.
pub const COLOUR: &str = "Cd";

/// The channel of places at rest [m], which are moved, turned and scaled as positions are.
pub const REST: &str = "rest";

impl Data {
    /// Points without channels.
    pub fn points(positions: Vec<DVec3>) -> Self {
        let cloud = PointCloud { positions, ..PointCloud::default() };
        Self { geometry: Geometry::Points(cloud), ..Self::default() }
    }

    /// Geometry that rests, and of which nothing is said as a whole.
    pub fn new(geometry: Geometry) -> Self {
        Self { geometry, ..Self::default() }
    }

    /// Whether there is nothing.
    pub fn is_empty(&self) -> bool {
        match &self.geometry {
            Geometry::LevelSet(_) | Geometry::Shape(_) => false,
            _ => self.elements() == 0,
        }
    }

    /// How many points or vertices there are; a level set and a solid by formulas have none.
    pub fn elements(&self) -> usize {
        match &self.geometry {
            Geometry::Points(cloud) => cloud.positions.len(),
            Geometry::Curves(mesh) => mesh.vertex_count(),
            Geometry::Surface(mesh) => mesh.vertex_count(),
            Geometry::Body(mesh) => mesh.vertex_count(),
            Geometry::Empty | Geometry::LevelSet(_) | Geometry::Shape(_) => 0,
        }
    }

    /// What it is, for messages.
    pub fn noun(&self) -> &'static str {
        match &self.geometry {
            Geometry::Empty => "nothing",
            Geometry::Points(_) => "points",
            Geometry::Curves(_) => "curves",
            Geometry::Surface(_) => "a surface",
            Geometry::Body(_) => "tetrahedra",
            Geometry::LevelSet(_) => "a level set",
            Geometry::Shape(_) => "a solid by formulas",
        }
    }

    /// The points, or the vertices and edges of the mesh, with their channels as numbers and vectors of double precision. What is
    /// known of a curve holds for all of its vertices, unless they know better. A level set and a solid by formulas have none.
    pub fn cloud(&self) -> Result<Cow<'_, PointCloud>> {
        Ok(match &self.geometry {
            Geometry::Points(cloud) => Cow::Borrowed(cloud),
            Geometry::Curves(mesh) => {
                let mut cloud = vertices(mesh, along(mesh.connectivity()))?;
                cloud.spread(mesh)?;
                Cow::Owned(cloud)
            }
            Geometry::Surface(mesh) => {
                Cow::Owned(vertices(mesh, mesh.connectivity().edges().ends().to_vec())?)
            }
            Geometry::Body(mesh) => {
                Cow::Owned(vertices(mesh, mesh.connectivity().edges().ends().to_vec())?)
            }
            Geometry::Empty | Geometry::LevelSet(_) | Geometry::Shape(_) => {
                Cow::Owned(PointCloud::default())
            }
        })
    }

    /// The same geometry, attributes and motion with other points or vertices, as many as before. Channels on other elements than
    /// vertices are left out.
    pub fn with_cloud(&self, cloud: PointCloud) -> Result<Self> {
        let geometry = match &self.geometry {
            Geometry::Points(_) => Geometry::Points(cloud),
            Geometry::Curves(mesh) => Geometry::Curves(Arc::new(replaced(mesh, cloud)?)),
            Geometry::Surface(mesh) => Geometry::Surface(Arc::new(replaced(mesh, cloud)?)),
            Geometry::Body(mesh) => Geometry::Body(Arc::new(replaced(mesh, cloud)?)),
            other => other.clone(),
        };
        Ok(Self { geometry, ..self.clone() })
    }

    /// A channel of numbers on points or vertices.
    pub fn numbers(&self, channel: &str) -> Result<Option<Vec<f64>>> {
        Ok(self.cloud()?.numbers.get(channel).cloned())
    }

    /// A channel of vectors on points or vertices.
    pub fn vectors(&self, channel: &str) -> Result<Option<Vec<DVec3>>> {
        Ok(self.cloud()?.vectors.get(channel).cloned())
    }

    /// Where it is at a time [s], if it moves as a whole.
    pub fn pose(&self, time: f64) -> Pose {
        self.motion.as_ref().map_or(Pose::IDENTITY, |motion| motion.pose(time))
    }

    /// A box that holds it at a time [s]; none where it has no end, and of nothing.
    pub fn bounds(&self, time: f64) -> Option<Bounds> {
        let rest = match &self.geometry {
            Geometry::Empty => None,
            Geometry::Points(cloud) => Bounds::around(cloud.positions.iter().copied()),
            Geometry::Curves(mesh) => mesh.bounds().ok()?,
            Geometry::Surface(mesh) => mesh.bounds().ok()?,
            Geometry::Body(mesh) => mesh.bounds().ok()?,
            Geometry::LevelSet(set) => {
                let column = set.column().ok()?;
                set.sampler(&column).bounds()
            }
            Geometry::Shape(shape) => shape.bounds(),
        };
        let rest = rest.filter(|bounds| bounds.min.is_finite() && bounds.max.is_finite())?;
        let Some(motion) = &self.motion else { return Some(rest) };
        let pose = motion.pose(time);
        Bounds::around(rest.corners().map(|corner| pose.to_world(corner)))
    }

    /// The same at rest where its motion has it at a time [s]; points and vertices get velocities `v`. A level set, which cannot
    /// be turned without loss, keeps its motion.
    pub fn at(&self, time: f64) -> Result<Self> {
        let Some(motion) = &self.motion else { return Ok(self.clone()) };
        let (pose, twist) = (motion.pose(time), motion.twist(time));
        let rest = Self { motion: None, ..self.clone() };
        match &self.geometry {
            Geometry::Empty => Ok(rest),
            Geometry::LevelSet(_) => Ok(self.clone()),
            Geometry::Shape(shape) => {
                let moved = Shape::clone(shape).moved(&pose)?;
                Ok(Self { geometry: Geometry::Shape(Arc::new(moved)), ..rest })
            }
            _ => {
                let mut cloud = rest.cloud()?.into_owned();
                cloud.turn(&pose);
                let arms = cloud.positions.iter().map(|&at| at - pose.translation);
                let moving: Vec<DVec3> = arms.map(|arm| twist.at(arm)).collect();
                cloud.add_velocity(&moving);
                rest.with_cloud(cloud)
            }
        }
    }

    /// The inside of it at a time [s], in the world.
    pub fn solid(&self, time: f64) -> Result<Arc<dyn Solid + Send>> {
        match &self.at(time)?.geometry {
            Geometry::Shape(shape) => Ok(shape.clone()),
            Geometry::Surface(surface) => {
                let triangles = Triangles::of_surface(surface)?;
                Ok(Arc::new(MeshSolid::new(triangles, Inside::default())?))
            }
            Geometry::LevelSet(set) => {
                let (set, pose) = (set.clone(), self.pose(time));
                Ok(Arc::new(PosedLevelSet { set, pose }))
            }
            _ => Err(self.has_no_inside()),
        }
    }

    /// What things bump into at a time [s]. `before`, for a surface that may deform, is the same input where the step began: its
    /// time [s] and data; vertices come straight from there, if they are the same ones. A thickness [m] makes a sheet of a
    /// surface; zero is for closed ones.
    pub fn collider(
        &self,
        time: f64,
        before: Option<(f64, &Self)>,
        thickness: f64,
    ) -> Result<Collider> {
        let inside = if thickness > 0.0 { Inside::Thickness(thickness) } else { Inside::default() };
        let collider = match &self.geometry {
            Geometry::Shape(shape) => Collider::solid(shape.clone()),
            // A level set that deforms says how fast its surface is.
            Geometry::LevelSet(set) => {
                Collider::level_set(set.clone(), set.volume().handle(VELOCITY).ok())?
            }
            Geometry::Surface(surface) => {
                let end = Triangles::of_surface(surface)?;
                let earlier = before.filter(|(since, _)| *since < time);
                let start = match earlier {
                    Some((since, data)) => data.moved_to(&end)?.map(|start| (since, start)),
                    None => None,
                };
                match start {
                    Some((since, start)) => {
                        let frames = [(since, &start), (time, &end)];
                        let frames = frames.map(|(time, mesh)| (time, mesh.positions().to_vec()));
                        let deformation = Deformation::new(frames.to_vec())?;
                        Collider::deforming(MeshSolid::new(start, inside)?, deformation)?
                    }
                    None => Collider::mesh(MeshSolid::new(end, inside)?),
                }
            }
            _ => return Err(self.has_no_inside()),
        };
        Ok(match &self.motion {
            Some(motion) => collider.with_motion(motion.clone()),
            None => collider,
        })
    }

    /// Its triangles, if they are those of `end` elsewhere.
    fn moved_to(&self, end: &Triangles) -> Result<Option<Triangles>> {
        let Geometry::Surface(surface) = &self.geometry else { return Ok(None) };
        let start = Triangles::of_surface(surface)?;
        let (from, to) = (start.positions(), end.positions());
        let same = start.indices() == end.indices() && from.len() == to.len();
        Ok((same && from != to).then_some(start))
    }

    fn has_no_inside(&self) -> SimError {
        let what = format!("this input is {}, which has no inside", self.noun());
        SimError::setup("input", what, "use a solid, a closed surface or a level set")
    }
}

impl PointCloud {
    /// Puts all places elsewhere: positions, and those at [rest](REST).
    pub fn place(&mut self, elsewhere: impl Fn(DVec3) -> DVec3) {
        let at_rest = self.vectors.get_mut(REST).into_iter().flatten();
        self.positions.iter_mut().chain(at_rest).for_each(|at| *at = elsewhere(*at));
    }

    /// Turns and moves all of it: places, and vectors but for [colours](COLOUR).
    pub fn turn(&mut self, pose: &Pose) {
        self.place(|at| pose.to_world(at));
        for (name, vectors) in &mut self.vectors {
            if name != COLOUR && name != REST {
                vectors.iter_mut().for_each(|vector| *vector = pose.rotation * *vector);
            }
        }
    }

    /// Adds to the velocities `v` [m/s], which are zero where there are none yet.
    pub fn add_velocity(&mut self, more: &[DVec3]) {
        let count = self.positions.len();
        let velocities = self.vectors.entry(VELOCITY.to_owned());
        let velocities = velocities.or_insert_with(|| vec![DVec3::ZERO; count]);
        velocities.iter_mut().zip(more).for_each(|(velocity, more)| *velocity += *more);
    }

    /// The stable number of each point: its channel `id`, or else its place.
    pub fn ids(&self) -> Vec<u64> {
        match self.numbers.get("id") {
            Some(ids) => ids.iter().map(|&id| id as u64).collect(),
            None => (0..self.positions.len() as u64).collect(),
        }
    }
}

impl PointCloud {
    /// Takes on what is known of curves, vertex by vertex, where nothing is known of the vertices.
    fn spread(&mut self, curves: &Curves) -> Result<()> {
        let strands = curves.connectivity();
        let mut own = Self::default();
        own.take_channels(curves.channels(ElementClass::Curve)?, |_| true)?;
        let each = || (0..strands.len()).flat_map(|n| strands.vertices(n).map(move |_| n));
        for (name, values) in own.numbers {
            self.numbers.entry(name).or_insert_with(|| each().map(|n| values[n]).collect());
        }
        for (name, values) in own.vectors {
            self.vectors.entry(name).or_insert_with(|| each().map(|n| values[n]).collect());
        }
        Ok(())
    }

    /// Takes on channels of elements, as numbers and vectors of double precision.
    fn take_channels(
        &mut self,
        channels: &ChannelSet<Flat>,
        wanted: impl Fn(&str) -> bool,
    ) -> Result<()> {
        for info in channels.infos().filter(|info| wanted(&info.name)) {
            let name = info.name.to_string();
            let numbers = match info.element {
                ElementType::F64 => Some(values(channels, &name, |value: f64| value)?),
                ElementType::F32 => Some(values(channels, &name, |value: f32| f64::from(value))?),
                ElementType::I32 => Some(values(channels, &name, |value: i32| f64::from(value))?),
                ElementType::U32 => Some(values(channels, &name, |value: u32| f64::from(value))?),
                ElementType::U64 => Some(values(channels, &name, |value: u64| value as f64)?),
                _ => None,
            };
            let vectors = match info.element {
                ElementType::DVec3 => Some(values(channels, &name, |value: DVec3| value)?),
                ElementType::Vec3 => Some(values(channels, &name, |value: Vec3| value.as_dvec3())?),
                _ => None,
            };
            // Matrices and turns are nothing that the graph can change.
            self.numbers.extend(numbers.map(|numbers| (name.clone(), numbers)));
            self.vectors.extend(vectors.map(|vectors| (name.clone(), vectors)));
        }
        Ok(())
    }
}

/// A level set that is turned and moved. Distances are claimed anew for every question: those who ask often use its sampler.
#[derive(Debug)]
struct PosedLevelSet {
    set: Arc<LevelSet>,
    pose: Pose,
}

impl Solid for PosedLevelSet {
    fn distance(&self, at: DVec3) -> f64 {
        // Nobody writes to data that is shared; were it so, there would be nothing to be near to.
        let Ok(column) = self.set.column() else { return f64::INFINITY };
        self.set.sampler(&column).distance(self.pose.to_local(at))
    }

    fn nearest(&self, at: DVec3) -> Nearest {
        let Ok(column) = self.set.column() else {
            return Nearest { point: at, normal: DVec3::Z, distance: f64::INFINITY };
        };
        let near = self.set.sampler(&column).nearest(self.pose.to_local(at));
        Nearest {
            point: self.pose.to_world(near.point),
            normal: self.pose.rotation * near.normal,
            distance: near.distance,
        }
    }

    fn bounds(&self) -> Option<Bounds> {
        let column = self.set.column().ok()?;
        let Bounds { min, max } = self.set.sampler(&column).bounds()?;
        let corner = |n: u8| {
            let pick = |bit: u8, low: f64, high: f64| if n >> bit & 1 == 0 { low } else { high };
            DVec3::new(pick(0, min.x, max.x), pick(1, min.y, max.y), pick(2, min.z, max.z))
        };
        Bounds::around((0..8).map(|n| self.pose.to_world(corner(n))))
    }
}

/// The edges of curves, one after the other.
fn along(strands: &Strands) -> Vec<[u32; 2]> {
    let mut edges = Vec::new();
    for curve in 0..strands.len() {
        let vertices = strands.vertices(curve);
        let (first, last) = (vertices.start as u32, vertices.end as u32);
        edges.extend((first + 1..last).map(|vertex| [vertex - 1, vertex]));
        if strands.is_closed(curve) {
            edges.push([last - 1, first]);
        }
    }
    edges
}

/// The vertices of a mesh with their channels, and these edges between them.
fn vertices<C: Connectivity>(mesh: &Mesh<C>, edges: Vec<[u32; 2]>) -> Result<PointCloud> {
    let mut cloud =
        PointCloud { positions: mesh.positions()?.to_vec(), edges, ..Default::default() };
    let is_channel = |name: &str| name != Mesh::<C>::POSITION;
    cloud.take_channels(mesh.channels(ElementClass::Vertex)?, is_channel)?;
    Ok(cloud)
}

fn values<T: Element, R>(
    channels: &ChannelSet<Flat>,
    name: &str,
    convert: impl Fn(T) -> R,
) -> Result<Vec<R>> {
    let column = channels.read(channels.handle::<T>(name)?, "read an input")?;
    Ok(column.iter().map(|&value| convert(value)).collect())
}

/// A mesh with other vertices.
fn replaced<C: Connectivity + Clone>(mesh: &Mesh<C>, cloud: PointCloud) -> Result<Mesh<C>> {
    let (connectivity, vertex) = (mesh.connectivity().clone(), ElementClass::Vertex);
    let mut mesh = Mesh::new(mesh.name(), cloud.positions, connectivity)?;
    for (name, numbers) in cloud.numbers {
        mesh.add_channel_with(vertex, &ChannelSpec::new(name, 0.0_f64), numbers)?;
    }
    for (name, vectors) in cloud.vectors {
        mesh.add_channel_with(vertex, &ChannelSpec::new(name, DVec3::ZERO), vectors)?;
    }
    Ok(mesh)
}
