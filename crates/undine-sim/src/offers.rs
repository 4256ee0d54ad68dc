//! What Objects offer. An Action is written against offers, never against a kind of Object; an Object that does not offer
//! what an Action needs is simply not in its scope. Offers are data: ids and handles.

use crate::arena::Id;
use crate::world::StoreId;
use std::sync::Arc;
use undine_core::glam::{DMat3, DQuat, DVec3, Mat3, Vec3};
use undine_core::mesh::Strands;
use undine_core::particles::TopologicalParticles;
use undine_core::volume::{MacHandle, MaskHandle, Resolution, VoxelShape};
use undine_core::{ChannelSpec, DiscreteVolume, GridDomain, Handle, ParticleSystem};
use undine_geometry::collider::Collider;
use undine_geometry::shape::Features;
use undine_geometry::surfacing::Recipe;
use undine_geometry::{Shape, Triangles};

/// An Object of the World.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct ObjectId(pub usize);

/// What an Object offers; every offer is optional.
#[derive(Debug, Clone, Default)]
pub struct Offers {
    /// Particles that carry its mass: what Forces act on.
    pub material: Option<Material>,
    /// Unknowns of the coupled system.
    pub dofs: Option<Dofs>,
    /// Particles on its boundary: what is attached and collides.
    pub boundary: Option<Embedded>,
    /// A velocity on voxels.
    pub fluid: Option<FluidField>,
    /// Something to bump into.
    pub collider: Option<Id<Option<Collider>>>,
    /// Rigid bodies with an inside: what fluids flow around, and carry.
    pub solids: Option<SolidBodies>,
    /// For each boundary particle, the numbers of those of the same body that it stands between, if it was added so that the body touches there
    /// too, and nothing is held by it; of all others its own number.
    pub between: Option<[Handle<u32>; 3]>,
    /// Pairs of boundary particles that belong together, by ids.
    pub edges: Option<Arc<[[u64; 2]]>>,
    /// Triangles between boundary particles, by ids: a surface that things are attached to anywhere on, and that moves as they do.
    pub triangles: Option<Arc<[[u64; 3]]>>,
    /// The pieces of thin rods that its material particles stand for, each from end to end [m]; none where they are balls.
    pub rods: Option<Handle<DVec3>>,
    /// Particles that may leave for another Group, or come from one.
    pub port: Option<Port>,
    /// What is to be seen of it, where that is more than points.
    pub looks: Option<Looks>,
}

impl Offers {
    /// Its particles in spatial order, whatever they are to it.
    pub fn particles(&self) -> Option<Id<ParticleSystem>> {
        let port = self.port.map(|port| port.particles.particles);
        let fluid = || Some(self.fluid?.particles?.particles);
        let material = || match self.material? {
            Material::Spatial(spatial) => Some(spatial.particles),
            Material::Topological(_) => None,
        };
        port.or_else(fluid).or_else(material)
    }
}

/// A mesh that is made of the particles of Objects whenever a frame is written. Nothing that is simulated depends on it.
#[derive(Debug, Clone, PartialEq)]
pub struct Skin {
    /// The Objects, all of which have particles.
    pub of: Vec<ObjectId>,
    /// How they become a mesh.
    pub recipe: Recipe,
    /// The input whose filters change distances before they become a mesh.
    pub filters: Option<String>,
}

/// Particles that carry mass, with the sums that Forces add to.
#[derive(Debug, Clone, Copy)]
pub enum Material {
    /// In spatial order, in `f32`.
    Spatial(Spatial),
    /// In the order of a mesh, in `f64`.
    Topological(Topological),
}

/// Mass particles in spatial order. During a step their positions stay those at its start, and `velocity` is the iterate.
#[derive(Debug, Clone, Copy)]
pub struct Spatial {
    /// The store.
    pub particles: Id<ParticleSystem>,
    /// Velocity [m/s].
    pub velocity: Handle<Vec3>,
    /// Velocity at the start of the substep [m/s].
    pub velocity_before: Handle<Vec3>,
    /// Position at the start of the substep, from the corner of the Bucket where it is now [m].
    pub position_before: Handle<Vec3>,
    /// Mass [kg].
    pub mass: Handle<f32>,
    /// Radius [m].
    pub radius: Handle<f32>,
    /// Sum of forces [N].
    pub force: Handle<Vec3>,
    /// Sum of −∂f/∂x, drag included as −∂f/∂v / Δt [N/m].
    pub stiffness: Handle<Mat3>,
}

/// Mass particles in the order of a mesh. During a step `position` and `velocity` are the iterate.
#[derive(Debug, Clone, Copy)]
pub struct Topological {
    /// The store.
    pub points: Id<TopologicalParticles>,
    /// Velocity [m/s].
    pub velocity: Handle<DVec3>,
    /// Mass [kg].
    pub mass: Handle<f64>,
    /// Radius of a ball of the same volume [m].
    pub radius: Handle<f64>,
    /// Sum of forces [N].
    pub force: Handle<DVec3>,
    /// Sum of −∂f/∂x, drag included as −∂f/∂v / Δt [N/m].
    pub stiffness: Handle<DMat3>,
}

/// Unknowns of the coupled system.
#[derive(Debug, Clone, Copy)]
pub enum Dofs {
    /// A place for each particle in spatial order.
    Particles(Spatial),
    /// A place and an orientation for each body.
    Bodies(Bodies),
    /// A place for each vertex of rods, and a turn for each edge.
    Rods(Rods),
}

/// Rods: strands of vertices, whose edges carry a frame. The turn of an edge stands at the vertex where it begins, and means nothing at the
/// last vertex of a strand. What it is made of stands with its frame.
#[derive(Debug, Clone, Copy)]
pub struct Rods {
    /// The vertices, strand after strand, with mass and forces.
    pub vertices: Topological,
    /// The ends of the edge whose frame a vertex carries. Mostly it begins at the vertex, but for the last of a strand, which has that of the vertex
    /// before it. Where the scene holds how a strand leaves its root, the root has a frame of its own, of an edge from itself to itself, and every
    /// other vertex has that of the edge which ends there.
    pub edge: [Handle<u32>; 2],
    /// The strand of each vertex.
    pub strand: Handle<u32>,
    /// What the scene holds of a vertex: see [`Rods`](crate::newton::shape::Rods).
    pub held: Handle<u32>,
    /// The frame of the vertex's edge: tangent, and the two axes of its cross-section.
    pub frame: Handle<DMat3>,
    /// Where a vertex would be without forces [m].
    pub flight: Handle<DVec3>,
    /// How far an edge has turned about itself in this step [rad].
    pub twist: Handle<f64>,
    /// How far it would have turned without torques [rad].
    pub free_twist: Handle<f64>,
    /// Moment of inertia of an edge about itself [kg m²].
    pub moment: Handle<f64>,
    /// Radius of the rod [m].
    pub thickness: Handle<f64>,
    /// The shape at rest, where it is not that which the rods began in.
    pub at_rest: Option<AtRest>,
}

/// The shape of rods at rest, wherever it is as a whole.
#[derive(Debug, Clone, Copy)]
pub struct AtRest {
    /// The places of vertices [m].
    pub place: Handle<DVec3>,
    /// The frames of their edges.
    pub frame: Handle<DMat3>,
}

/// Rigid bodies: the places of their centres, and their orientations.
#[derive(Debug, Clone, Copy)]
pub struct Bodies {
    /// Their centres, with mass and forces.
    pub centres: Topological,
    /// Orientation: from principal axes to the world.
    pub orientation: Handle<DQuat>,
    /// Principal moments of inertia [kg m²].
    pub inertia: Handle<DVec3>,
    /// Where the centre would be without forces [m].
    pub flight: Handle<DVec3>,
    /// What the orientation would be without torques.
    pub free_turn: Handle<DQuat>,
}

/// Rigid bodies as solids.
#[derive(Debug, Clone)]
pub struct SolidBodies {
    /// The bodies.
    pub bodies: Bodies,
    /// Angular momentum about the centre, in the world's directions [kg m²/s]; that of the start of the step, until it is taken.
    pub momentum: Handle<DVec3>,
    /// The turn from the axes of a form to the world, where the last step ended.
    pub orient: Handle<DQuat>,
    /// The turn from the axes of a form to the principal ones, of which `orientation` tells.
    pub principal: Handle<DQuat>,
    /// Where the centre is in the form [m]: its point p is at centre + orient (p − pivot).
    pub pivot: Handle<DVec3>,
    /// What they are like: body n has form n, from the first again after the last.
    pub forms: Arc<[Collider]>,
    /// What they touch with, form by form; none where boundary particles have to do.
    pub features: Arc<[Option<Features>]>,
    /// Whether the scene moves them, whatever pushes.
    pub kinematic: bool,
}

/// Particles that hang on degrees of freedom, with a position and, if they have one, an affine frame.
#[derive(Debug, Clone, Copy)]
pub enum Embedded {
    /// The degrees of freedom themselves.
    Particles(Spatial),
    /// Fixed to bodies.
    OnBodies(OnBodies),
    /// Vertices of rods, with the frames of edges.
    OnRods(Rods),
    /// Moved by the scene, whatever pulls at them.
    Kinematic(Kinematic),
}

/// Particles fixed to bodies.
#[derive(Debug, Clone, Copy)]
pub struct OnBodies {
    /// The store of the particles.
    pub points: Id<TopologicalParticles>,
    /// The bodies.
    pub bodies: Bodies,
    /// Which body it is fixed to.
    pub body: Handle<u32>,
    /// Where on the body, along its principal axes [m].
    pub rest: Handle<DVec3>,
    /// The frame F: the orientation of the body.
    pub frame: Handle<DMat3>,
}

/// Particles that the scene moves.
#[derive(Debug, Clone, Copy)]
pub struct Kinematic {
    /// The store of the particles.
    pub points: Id<TopologicalParticles>,
    /// The frame F.
    pub frame: Handle<DMat3>,
}

/// The velocity field of a fluid on a MAC grid of 8³ cells to a Bucket, with what solids leave open of it.
#[derive(Debug, Clone, Copy)]
pub struct FluidField {
    /// The store.
    pub volume: Id<DiscreteVolume>,
    /// Velocity on faces [m/s]: the iterate. Where there is no fluid it means something only within reach of one, after
    /// [`Stage::Extend`](crate::Stage::Extend).
    pub velocity: MacHandle,
    /// Velocity on faces at the start of the substep [m/s]: what each Newton iteration begins with.
    pub velocity_before: MacHandle,
    /// Density [kg/m³].
    pub density: Handle<f32>,
    /// Mass at faces [kg], where it is known better than by the density: what a velocity times it is momentum.
    pub face_mass: Option<MacHandle>,
    /// How much of an acceleration that everything has alike acts on a cell, where a fluid is surrounded by its like: the
    /// pressure of the surroundings carries all but (ρ − ρ₀)/ρ₀ of it. None where all of it acts.
    pub weight: Option<Handle<f32>>,
    /// Which cells hold fluid, from [`Stage::FindSurface`](crate::Stage::FindSurface) on.
    pub cells: MaskHandle,
    /// Pressure [Pa], kept from step to step as a first guess.
    pub pressure: Handle<f32>,
    /// Signed distance to the surface of a liquid at cell centres [m], negative inside; none where a fluid fills all there is.
    pub distance: Option<Handle<f32>>,
    /// What solids leave open.
    pub walls: Walls,
    /// The particles that carry the fluid, where it has some.
    pub particles: Option<FluidParticles>,
    /// What of it no particles carry, where it has such an interior.
    pub interior: Option<Interior>,
    /// Where numbers lie that it carries along, such as smoke, if that is not beside its velocity.
    pub fine: Option<FineGrid>,
}

/// A grid of finer voxels than those of a fluid's velocity, in Buckets of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FineGrid {
    /// The store.
    pub volume: Id<DiscreteVolume>,
    /// Its Domain.
    pub domain: Id<GridDomain>,
}

impl FluidField {
    /// Where numbers lie that it carries along: the finer grid, or its own, whose Domain is given.
    pub fn cargo(&self, domain: Id<GridDomain>) -> FineGrid {
        self.fine.unwrap_or(FineGrid { volume: self.volume, domain })
    }
}

/// The interior of a liquid: mass that cells hold themselves, beside what particles carry. It is counted in equal parts, as whole
/// numbers, so that none is lost or made when it flows from cell to cell.
#[derive(Debug, Clone, Copy)]
pub struct Interior {
    /// How many parts each cell holds.
    pub parts: Handle<u32>,
    /// The mass of a part [kg].
    pub part: f64,
}

impl Interior {
    /// How many parts fill a cell at the density at rest.
    pub const FULL: u32 = 1 << 23;
}

/// What Objects inside of a fluid do to it, on its faces: sums that Actions add to once solids are solved, in every Newton
/// iteration, and that pressure takes into its equations and clears.
///
/// With the share α of the volume that is solid, its density ρ_s and velocity u_s, the fluid's ρ_f and u_f, and drag D per volume:
/// (1−α)ρ_f(u_f−u_f*) = −Δt(1−α)∇p + ΔtD(u_s−u_f) and αρ_s(u_s−u_s*) = −Δtα∇p − ΔtD(u_s−u_f).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Coupling {
    /// α.
    pub share: MacHandle,
    /// αρ_s [kg/m³]. Where it is zero there is no solid; one that a fluid should not move has a million times as much.
    pub mass: MacHandle,
    /// αρ_s·u_s*, across the face [kg/(m² s)].
    pub momentum: MacHandle,
    /// D [kg/(m³ s)], for what leaves its drag to the pressure. `coupled-drag` does not: solids that are solved by themselves have taken theirs
    /// before, and would not get what pressure finds.
    pub drag: MacHandle,
}

impl Coupling {
    /// The names of the channels, by its fields.
    pub const CHANNELS: [&'static str; 4] =
        ["solid-share", "solid-mass", "solid-momentum", "solid-drag"];

    /// Adds the channels to a fluid; all that adds to them adds to the same ones.
    pub fn add(volume: &mut DiscreteVolume) -> crate::Result<Self> {
        if let Some(known) = Self::of(volume) {
            return Ok(known);
        }
        for (name, unit) in Self::CHANNELS.into_iter().zip(["1", "kg/m3", "kg/(m2 s)", "kg/(m3 s)"])
        {
            let spec = ChannelSpec::new(name, 0.0_f32).unit(unit).internal().transient();
            volume.add_mac_channel(&spec, Resolution::R8)?;
        }
        let [share, mass, momentum, drag] = Self::CHANNELS.map(|name| volume.mac(name));
        Ok(Self { share: share?, mass: mass?, momentum: momentum?, drag: drag? })
    }

    /// No more of a cell or face than this is solid: what nothing gets through is a wall, and no mixture.
    pub const FULLEST: f32 = 0.99;

    /// The name of the channel with the part of each cell that is taken where a step begins, each point being shared out to the
    /// eight cells whose centres it lies between. Particles of a fluid have only the rest for themselves.
    pub const TAKEN: &'static str = "solid-volume";

    /// Adds that channel to a fluid that particles carry. The fluid clears it before solids are cut out of its cells.
    pub fn add_taken(volume: &mut DiscreteVolume) -> crate::Result<Handle<f32>> {
        match Self::taken(volume) {
            Some(known) => Ok(known),
            None => {
                let spec = ChannelSpec::new(Self::TAKEN, 0.0_f32).internal().transient();
                Ok(volume.add_channel(&spec, VoxelShape::CELLS)?)
            }
        }
    }

    /// That channel, where something takes room in the fluid.
    pub fn taken(volume: &DiscreteVolume) -> Option<Handle<f32>> {
        volume.handle(Self::TAKEN).ok()
    }

    /// The channels of a fluid that something acts on.
    pub fn of(volume: &DiscreteVolume) -> Option<Self> {
        let [share, mass, momentum, drag] = Self::CHANNELS.map(|name| volume.mac(name).ok());
        Some(Self { share: share?, mass: mass?, momentum: momentum?, drag: drag? })
    }
}

/// What solids leave open of the cells of a fluid, and how they move.
#[derive(Debug, Clone, Copy)]
pub struct Walls {
    /// How much of each face is open, from 0 to 1; 1 where nothing is said.
    pub area: MacHandle,
    /// How much of each cell is open, from 0 to 1.
    pub volume: Handle<f32>,
    /// Velocity of the nearest solid at faces near one, along the face's normal [m/s].
    pub velocity: MacHandle,
    /// Signed distance to the nearest solid at cell centres [m], negative inside of it; [`Walls::FAR`] voxels where none is near.
    pub distance: Handle<f32>,
}

impl Walls {
    /// How far from solids distances are told, in voxels.
    pub const FAR: f32 = 8.0;
}

/// Particles that carry a fluid: the grid gives them their velocities.
#[derive(Debug, Clone, Copy)]
pub struct FluidParticles {
    /// The store.
    pub particles: Id<ParticleSystem>,
    /// Velocity [m/s].
    pub velocity: Handle<Vec3>,
    /// Position at the start of the substep, from the corner of the Bucket where it is now [m].
    pub position_before: Handle<Vec3>,
    /// Mass [kg].
    pub mass: Handle<f32>,
    /// Radius of a ball of its volume [m].
    pub radius: Handle<f32>,
}

/// Particles that may go from Group to Group, with their mass and momentum.
#[derive(Debug, Clone, Copy)]
pub struct Port {
    /// What goes.
    pub particles: Spatial,
}

/// What an Object looks like, for pictures and files. Nothing that is simulated depends on it.
#[derive(Debug, Clone)]
pub enum Looks {
    /// Like an input of the scene, as that is at a time and where it is then.
    Input(String),
    /// Like bodies that are turned and moved.
    Bodies(BodyLooks),
    /// Like strands.
    Strands(StrandLooks),
}

/// What strands look like.
#[derive(Debug, Clone)]
pub struct StrandLooks {
    /// Their vertices.
    pub points: Id<TopologicalParticles>,
    /// Which vertices are of which strand.
    pub strands: Arc<Strands>,
}

/// What bodies look like.
#[derive(Debug, Clone)]
pub struct BodyLooks {
    /// Their centres.
    pub points: Id<TopologicalParticles>,
    /// The turn from the axes of a piece to the world.
    pub orient: Handle<DQuat>,
    /// Where the centre is in the piece [m]: its point p is at centre + orient (p − pivot).
    pub pivot: Handle<DVec3>,
    /// How fast their centres are [m/s].
    pub velocity: Handle<DVec3>,
    /// Their angular momentum [kg m²/s].
    pub momentum: Handle<DVec3>,
    /// Their moments of inertia [kg m²], about axes that are turned into the world by `orientation`.
    pub inertia: Handle<DVec3>,
    /// The turn from the axes of their inertia to the world.
    pub orientation: Handle<DQuat>,
    /// What they are made of: body n is like piece n, from the first again after the last.
    pub pieces: Arc<[PieceLooks]>,
    /// Whether the scene moves them, whatever pulls at them.
    pub kinematic: bool,
}

/// What a piece of solid looks like, in its own coordinates.
#[derive(Debug, Clone, PartialEq)]
pub enum PieceLooks {
    /// Like a solid by formulas.
    Shape(Arc<Shape>),
    /// Like triangles.
    Mesh(Arc<Triangles>),
}

impl Material {
    /// The store.
    pub fn store(&self) -> StoreId {
        match self {
            Self::Spatial(spatial) => spatial.particles.into(),
            Self::Topological(topological) => topological.points.into(),
        }
    }
}

impl Embedded {
    /// The store.
    pub fn store(&self) -> StoreId {
        match self {
            Self::Particles(spatial) => spatial.particles.into(),
            Self::OnBodies(on) => on.points.into(),
            Self::OnRods(rods) => rods.vertices.points.into(),
            Self::Kinematic(kinematic) => kinematic.points.into(),
        }
    }

    /// What they hang on that has mass. Of what the scene moves there is none: nothing can push it.
    pub fn material(&self) -> Option<Material> {
        match *self {
            Self::Particles(on) => Some(Material::Spatial(on)),
            Self::OnBodies(on) => Some(Material::Topological(on.bodies.centres)),
            Self::OnRods(on) => Some(Material::Topological(on.vertices)),
            Self::Kinematic(_) => None,
        }
    }
}

impl Dofs {
    /// The store.
    pub fn store(&self) -> StoreId {
        match self {
            Self::Particles(spatial) => spatial.particles.into(),
            Self::Bodies(bodies) => bodies.centres.points.into(),
            Self::Rods(rods) => rods.vertices.points.into(),
        }
    }
}
