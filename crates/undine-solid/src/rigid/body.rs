//! The RigidBody Object: bodies that fly, spin and are pulled, each by itself until a Constraint couples it to others.
//!
//! A step begins with free flight: x̃ = xⁿ + Δt vⁿ, and R̃ is the orientation after torque-free spin ([`spin`](super::spin()),
//! gyroscopic term included). Bodies that nothing couples take their forces there, Δv = (1/Δt)(m/Δt² − ∂f/∂x)⁻¹ f, and move
//! by the mean of their velocities, so that a thrown body follows its parabola exactly and its angular momentum L stays as it
//! is to the bit.
//!
//! Coupled ones go where the system says, by backward Euler: x = xⁿ + Δt v. The system minimises the inertia
//! ½ θ·Ĩθ/Δt² with θ = log(R R̃ᵀ), whose torque is −J⁻ᵀ Ĩ θ/Δt²; at its minimum this balances the torque of all Constraints, so
//! that L = Lⁿ + J⁻ᵀ Ĩ θ/Δt is exactly Lⁿ plus Δt times that torque. Linear momentum is kept to rounding. Forces act where the
//! step ends, so that the angular momentum of a spinning pair decays by a share of first order in Δt, as it does for points.
//!
//! Bodies that a fluid may carry go where its pressure says, in the same way: x = xⁿ + Δt v, as the fluid around them does, and L
//! by the turn that the pressure has added.

use super::boundary::{BYTES_ON_MESH, BYTES_ON_SOLID};
use super::inertia::Inertia;
use super::pieces::{Piece, Start};
use super::spin::spin;
use crate::error::SolidError;
use rayon::prelude::*;
use std::sync::Arc;
use undine_core::ChannelSpec;
use undine_core::Handle;
use undine_core::glam::{DMat3, DQuat, DVec3};
use undine_core::particles::TopologicalParticles;
use undine_geometry::collider::Collider;
use undine_geometry::sampling::Sampling;
use undine_geometry::{GeometryError, Inside, MeshSolid, Motion, Pose, Triangles, Twist};
use undine_schema::{Declaration, Dimension, Kind, Parameter, Type};
use undine_sim::action::force::implicit_kick;
use undine_sim::input::{Data, Geometry, PointCloud};
use undine_sim::newton::rotation::{left_jacobian_inverse, turn_between};
use undine_sim::offers::{
    Bodies, BodyLooks, Dofs, Embedded, Kinematic, Looks, Material, OnBodies, PieceLooks,
    SolidBodies, Topological,
};
use undine_sim::{
    Budget, Courant, Id, Ingest, Moment, Object, ObjectId, Offers, Result, SimError, Stage,
    StoreId, Tasks, World,
};

/// "There are rigid bodies."
pub const DECLARATION: Declaration = Declaration {
    name: "rigid-body",
    kind: Kind::Object,
    doc: "Rigid bodies that fly and spin",
    about: "Every connected piece of a closed surface becomes a body, and so does a shape; points become a body each, of the \
            shape that `shape` names. Mass and inertia are those of the solid. Forces push it; `springs` and `attachment` hold \
            it by its boundary particles. With `kinematic` it moves as its input does, whatever pulls at it. A frame has the \
            centres with `orient` (from the input's axes) and `pivot` (the centre in the input): a point p of the input is at \
            P + orient (p − pivot); and the boundary particles.",
    parameters: &[
        Parameter::new("input", Type::Input, "a closed surface, a shape, or points"),
        Parameter::new("shape", Type::Input, "what stands at each point of the input").optional(),
        Parameter::number("density", Dimension::DENSITY, 1000.0, "density of what it is made of")
            .positive()
            .usually(0.1, 25_000.0)
            .varies_by("density"),
        Parameter::vector(
            "velocity",
            Dimension::VELOCITY,
            [0.0; 3],
            "velocity of the centre to begin with, besides that of the input",
        )
        .varies_by("v"),
        Parameter::vector(
            "spin",
            Dimension::ANGULAR_VELOCITY,
            [0.0; 3],
            "angular velocity to begin with, besides that of the input",
        )
        .varies_by("w"),
        Parameter::flag("kinematic", false, "moves as its input does, whatever pulls at it"),
        Parameter::flag("pieces", true, "connected pieces of a surface are bodies of their own"),
        Parameter::number(
            "spacing",
            Dimension::LENGTH,
            0.1,
            "distance of boundary particles, by which bodies are held, and those touch that are not shapes; without it, a shape has them at tenths of its size, and a \
             surface is held by its vertices and touches between them too, at tenths of its size or its thickness, with a thousand or so at \
             most: edges that cross go into each other by half of that",
        )
        .positive()
        .resolution()
        .optional(),
        Parameter::number(
            "voxel",
            Dimension::LENGTH,
            0.1,
            "size of voxels: boundary particles are found by cubes of eight",
        )
        .positive()
        .usually(1e-4, 100.0)
        .resolution()
        .advanced(),
    ],
    example: "rigid-body \"crate\" input=\"box\" density=\"500 kg/m3\" spin=\"0 3 0 rad/s\"",
};

/// Rigid bodies of one Behavior.
pub struct RigidBody {
    id: ObjectId,
    on: OnBodies,
    /// Angular momentum about the centre, in the world's directions [kg m²/s].
    momentum: Handle<DVec3>,
    extra: Extra,
    /// How the scene moves them, if it does.
    led_by: Option<Motion>,
}

/// Channels that others do not need.
#[derive(Clone, Copy)]
struct Extra {
    /// The turn from the input's axes to the principal ones.
    principal: Handle<DQuat>,
    /// The turn from the input's axes to the world.
    orient: Handle<DQuat>,
    /// Where the centre is in the input [m].
    pivot: Handle<DVec3>,
    /// Where the centre would be if its input did not move [m].
    home: Handle<DVec3>,
    /// Velocity of boundary particles [m/s].
    velocity: Handle<DVec3>,
    /// Between which others boundary particles stand.
    between: [Handle<u32>; 3],
}

impl Object for RigidBody {
    fn create(ingest: &mut Ingest<'_>) -> Result<Vec<Self>> {
        let data = ingest.data("input")?;
        if data.is_empty() {
            return Ok(Vec::new());
        }
        let setup = Setup::of(ingest, &data)?;
        if setup.pieces.is_empty() || setup.places.positions.is_empty() {
            return Ok(Vec::new());
        }
        let domain = ingest.values().number("voxel")?;
        let domain = ingest.world.domain(domain)?;
        let bodies = TopologicalParticles::new(ingest.path, &ingest.world.domains[domain])?;
        let bodies = ingest.world.points.add(bodies);
        let label = format!("{} boundary", ingest.path);
        let boundary = TopologicalParticles::new(label, &ingest.world.domains[domain])?;
        let boundary = ingest.world.points.add(boundary);
        let mut object = add_channels(ingest.world, bodies, boundary)?;
        let motion = data.motion.clone();
        object.fill(ingest, domain, &setup, motion.as_ref())?;
        if ingest.values().flag("kinematic")? {
            let name = ingest.values().text("input")?;
            if motion.is_none() && ingest.inputs.changes(&name) {
                return Err(SimError::setup(
                    ingest.path,
                    format!("the input `{name}` does not move as a rigid whole, and a body does"),
                    "move it by `transform`, or take it as the input of a `collider`",
                ));
            }
            object.led_by = Some(motion.map_or_else(|| Motion::still(Pose::IDENTITY), Ok)?);
        }
        let pieces = setup.pieces.iter().map(|piece| piece.looks.clone()).collect();
        let offers = object.offers(pieces)?;
        object.id = ingest.offer(domain, data.attributes.clone(), offers);
        object.place_boundary(ingest.world)?;
        object.locate(ingest.world)?;
        Ok(vec![object])
    }

    fn id(&self) -> ObjectId {
        self.id
    }

    fn tasks(&self, on: &mut Tasks<Self>) {
        let (bodies, boundary) = (self.store(), StoreId::from(self.on.points));
        let key = |name| bodies.channel(name);
        let pose = || [key("position"), key("orientation")];
        let placed = || boundary.channels(["position", "frame", "v"]);
        if self.led_by.is_some() {
            on.task(Stage::Predict, "follow the input", Self::follow)
                .reads(bodies.channels(["home", "principal", "inertia"]))
                .writes(pose())
                .writes(bodies.channels(["v", "orient", "angular-momentum"]))
                .writes(placed());
        } else {
            on.task(Stage::Predict, "fly freely", Self::fly)
                .reads(bodies.channels(["v", "angular-momentum", "inertia", "mass"]))
                .writes(pose())
                .writes(bodies.channels(["flight", "free-turn"]));
            on.task(Stage::Embed, "place boundary particles", Self::embed)
                .reads(pose())
                .reads(bodies.channels(["v", "angular-momentum", "inertia"]))
                .writes(placed());
            on.task(Stage::ClearForces, "clear forces", Self::clear_forces)
                .writes(bodies.channels(["force", "force-slope"]));
            // · Stage::AddForces        gravity, fields; and drag, at AddDrag   Forces
            // · Stage::SolveSolids      springs, attachment, collision       Constraints
            on.task(Stage::SolveAlone, "take forces", Self::take_forces)
                .reads(bodies.channels(["force", "force-slope", "mass", "flight", "free-turn"]))
                .writes(bodies.channels(["v", "position", "orientation"]));
            on.task(Stage::Advance, "move and spin", Self::advance)
                .reads(bodies.channels(["flight", "free-turn", "inertia", "principal", "v"]))
                .writes(bodies.channels(["position", "angular-momentum", "orient"]))
                .reads([key("orientation")])
                .writes(placed());
        }
        on.task(Stage::Rebucket, "find Buckets", Self::find_buckets)
            .reads([key("position"), boundary.channel("position")]);
    }

    /// Kinematic bodies have none: what moves them is not simulated.
    fn longest_step(&self, world: &World, courant: &Courant) -> Result<f64> {
        let points = &world.points[self.on.points];
        let fastest = points.column(self.extra.velocity)?;
        let speed = fastest.iter().fold(0.0, |most: f64, v| most.max(v.length()));
        let voxel = world.domains[world.object(self.id).domain].frame().voxel_size(0);
        let own = Courant {
            acceleration: if self.led_by.is_some() { 0.0 } else { courant.acceleration },
            ..*courant
        };
        Ok(own.longest_step(speed, voxel))
    }

    fn budget(&self, world: &World) -> Result<Budget> {
        if self.led_by.is_some() {
            return Ok(Budget::default());
        }
        let points = self.bodies(world);
        let (position, velocity) =
            (points.column(points.position())?, points.column(self.on.bodies.centres.velocity)?);
        let (mass, momentum) =
            (points.column(self.on.bodies.centres.mass)?, points.column(self.momentum)?);
        let (turn, inertia) =
            (points.column(self.on.bodies.orientation)?, points.column(self.on.bodies.inertia)?);
        let body = |n: usize| {
            let own = turn[n].inverse() * momentum[n];
            let mut budget = Budget::of_point(mass[n], position[n], velocity[n]);
            budget.angular_momentum += momentum[n];
            budget.kinetic_energy += 0.5 * (own * own / inertia[n]).element_sum();
            budget
        };
        Ok((0..points.len()).fold(Budget::default(), |sum, n| sum + body(n)))
    }

    fn output(&self) -> Vec<(Option<&'static str>, StoreId)> {
        vec![(None, self.store()), (Some("boundary"), self.on.points.into())]
    }
}

/// What bodies are made of and where.
struct Setup {
    pieces: Vec<Piece>,
    /// A body of each piece for each of these.
    places: PointCloud,
    density: Vec<f64>,
    velocity: Vec<DVec3>,
    spin: Vec<DVec3>,
}

impl Setup {
    fn of(ingest: &Ingest<'_>, data: &Data) -> Result<Self> {
        let instances = matches!(data.geometry, Geometry::Points(_));
        let shape: Option<Arc<Data>> = ingest.optional_data("shape")?;
        let places = match &data.geometry {
            Geometry::Points(cloud) => cloud.clone(),
            _ => PointCloud { positions: vec![DVec3::ZERO], ..PointCloud::default() },
        };
        let solid = match (&shape, instances) {
            (Some(shape), true) => shape,
            (None, false) => data,
            (None, true) => {
                let help = "name a shape or a surface with `shape`";
                return Err(ingest.bad("input", "points have no extent", help));
            }
            (Some(_), false) => {
                let help = "leave it out, or give points as `input`";
                return Err(ingest.bad("shape", "only points have a shape of their own", help));
            }
        };
        let parameter = if instances { "shape" } else { "input" };
        let bad = |why: SolidError| {
            let help = "give a closed surface that looks outwards, or a bounded shape";
            ingest.bad(parameter, why.to_string(), help)
        };
        let values = ingest.values().of_object(&data.attributes);
        let spacing = values.optional_number("spacing")?;
        let pieces = match &solid.geometry {
            Geometry::Empty => Vec::new(),
            Geometry::Shape(shape) => {
                let (sampling, room) = (sampling(ingest, BYTES_ON_SOLID), BYTES_ON_SOLID);
                let piece = Piece::of_shape(shape, spacing, sampling);
                vec![piece.map_err(|why| too_many(ingest, why, room).unwrap_or_else(bad))?]
            }
            Geometry::Surface(surface) => {
                let (sampling, room) = (sampling(ingest, BYTES_ON_MESH), BYTES_ON_MESH);
                let split = values.flag("pieces")?;
                let pieces = Piece::of_surface(surface, split, spacing, sampling);
                pieces.map_err(|why| too_many(ingest, why, room).unwrap_or_else(bad))?
            }
            _ => {
                let what = "a rigid body is made of a closed surface or a shape";
                return Err(ingest.bad(parameter, what, "make a surface of it first"));
            }
        };
        let (density, velocity) =
            (values.each_number("density", &places)?, values.each_vector("velocity", &places)?);
        let spin = values.each_vector("spin", &places)?;
        Ok(Self { pieces, places, density, velocity, spin })
    }
}

/// As many boundary particles as there is room for, where finding each of them takes so much [bytes].
fn sampling(ingest: &Ingest<'_>, each: u64) -> Sampling {
    let room = usize::try_from(ingest.world.budget.free() / each).unwrap_or(usize::MAX);
    let usual = Sampling::default();
    Sampling { most: room.min(usual.most), ..usual }
}

/// Too many boundary particles as an error of memory, if that is what they do not fit into; what else is wrong is given back.
fn too_many(ingest: &Ingest<'_>, why: SolidError, each: u64) -> Result<SimError, SolidError> {
    let SolidError::Geometry(GeometryError::TooMany { found, .. }) = &why else { return Err(why) };
    let what = format!("a body with {found} boundary particles or more");
    match ingest.world.budget.check(&what, found.saturating_mul(each)) {
        Err(over) => Ok(SimError::no_room(format!("{}.spacing", ingest.path), over)),
        Ok(()) => Err(why),
    }
}

fn add_channels(
    world: &mut World,
    bodies: Id<TopologicalParticles>,
    boundary: Id<TopologicalParticles>,
) -> Result<RigidBody> {
    let vector = |name: &'static str| ChannelSpec::new(name, DVec3::ZERO);
    let number = |name: &'static str| ChannelSpec::new(name, 0.0_f64);
    let turn = |name: &'static str| ChannelSpec::new(name, DQuat::IDENTITY);
    let matrix = |name: &'static str| ChannelSpec::new(name, DMat3::ZERO);
    let points = &mut world.points[bodies];
    let centres = Topological {
        points: bodies,
        velocity: points.add_channel(&vector("v").unit("m/s"))?,
        mass: points.add_channel(&number("mass").unit("kg"))?,
        radius: points.add_channel(&number("pscale").unit("m"))?,
        force: points.add_channel(&vector("force").unit("N").transient())?,
        stiffness: points.add_channel(&matrix("force-slope").unit("N/m").transient())?,
    };
    let on = Bodies {
        centres,
        orientation: points.add_channel(&turn("orientation").internal())?,
        inertia: points.add_channel(&vector("inertia").unit("kg m2").internal())?,
        flight: points.add_channel(&vector("flight").unit("m").transient())?,
        free_turn: points.add_channel(&turn("free-turn").transient())?,
    };
    let momentum = points.add_channel(&vector("angular-momentum").unit("kg m2/s"))?;
    let (principal, orient) =
        (points.add_channel(&turn("principal").internal())?, points.add_channel(&turn("orient"))?);
    let (pivot, home) = (
        points.add_channel(&vector("pivot").unit("m"))?,
        points.add_channel(&vector("home").unit("m").internal())?,
    );
    let points = &mut world.points[boundary];
    let velocity = points.add_channel(&vector("v").unit("m/s"))?;
    let on = OnBodies {
        points: boundary,
        bodies: on,
        body: points.add_channel(&ChannelSpec::new("body", 0_u32))?,
        rest: points.add_channel(&vector("rest").unit("m").internal())?,
        // Constraints look at it before it is made again.
        frame: points.add_channel(&ChannelSpec::new("frame", DMat3::IDENTITY))?,
    };
    let mut corner =
        |name: &'static str| points.add_channel(&ChannelSpec::new(name, 0_u32).internal());
    let between = [corner("between-0")?, corner("between-1")?, corner("between-2")?];
    let extra = Extra { principal, orient, pivot, home, velocity, between };
    Ok(RigidBody { id: ObjectId(usize::MAX), on, momentum, extra, led_by: None })
}

/// What a body takes while it is put where it begins, beside its channels [bytes].
const BYTES_OF_START: u64 = 224;
/// What a boundary particle takes while it is put where it begins, beside its channels [bytes].
const BYTES_OF_POINT: u64 = 96;

impl RigidBody {
    fn store(&self) -> StoreId {
        self.on.bodies.centres.points.into()
    }

    fn bodies<'w>(&self, world: &'w World) -> &'w TopologicalParticles {
        &world.points[self.on.bodies.centres.points]
    }

    fn offers(&self, pieces: Arc<[PieceLooks]>) -> Result<Offers> {
        let OnBodies { points, bodies, frame, .. } = self.on;
        let form = |piece: &PieceLooks| -> Result<Collider> {
            Ok(match piece {
                PieceLooks::Shape(shape) => Collider::solid(shape.clone()),
                PieceLooks::Mesh(mesh) => {
                    Collider::mesh(MeshSolid::new(Triangles::clone(mesh), Inside::default())?)
                }
            })
        };
        let features = |piece: &PieceLooks| match piece {
            PieceLooks::Shape(shape) => shape.features(),
            PieceLooks::Mesh(_) => None,
        };
        let solids = Some(SolidBodies {
            bodies,
            momentum: self.momentum,
            orient: self.extra.orient,
            principal: self.extra.principal,
            pivot: self.extra.pivot,
            forms: pieces.iter().map(form).collect::<Result<_>>()?,
            features: pieces.iter().map(features).collect(),
            kinematic: self.led_by.is_some(),
        });
        let looks = Some(Looks::Bodies(BodyLooks {
            points: bodies.centres.points,
            orient: self.extra.orient,
            pivot: self.extra.pivot,
            velocity: bodies.centres.velocity,
            momentum: self.momentum,
            inertia: bodies.inertia,
            orientation: bodies.orientation,
            pieces,
            kinematic: self.led_by.is_some(),
        }));
        Ok(match self.led_by {
            Some(_) => Offers {
                boundary: Some(Embedded::Kinematic(Kinematic { points, frame })),
                between: Some(self.extra.between),
                solids,
                looks,
                ..Offers::default()
            },
            None => Offers {
                material: Some(Material::Topological(bodies.centres)),
                dofs: Some(Dofs::Bodies(bodies)),
                boundary: Some(Embedded::OnBodies(self.on)),
                between: Some(self.extra.between),
                solids,
                looks,
                ..Offers::default()
            },
        })
    }

    /// Puts bodies where they begin, with their boundary particles, if all of that fits into memory.
    fn fill(
        &mut self,
        ingest: &mut Ingest<'_>,
        domain: Id<undine_core::GridDomain>,
        setup: &Setup,
        motion: Option<&Motion>,
    ) -> Result<()> {
        let pose = motion.map_or(Pose::IDENTITY, |motion| motion.pose(ingest.time));
        let twist = motion.map_or(Twist::default(), |motion| motion.twist(ingest.time));
        // The whole is bounded before anything of it is made.
        let per_place: usize = setup.pieces.iter().map(|piece| piece.boundary.len()).sum();
        let places = setup.places.positions.len();
        if per_place.checked_mul(places).is_none_or(|all| all > u32::MAX as usize) {
            let what = format!("{places} bodies of {per_place} boundary particles are too many");
            return Err(ingest.bad("spacing", what, "give a larger spacing"));
        }
        let channels = |points: Id<TopologicalParticles>| -> u64 {
            let infos = ingest.world.points[points].channels().infos();
            infos.map(|info| info.element.bytes() as u64).sum()
        };
        let each = places as u64 * (channels(self.on.bodies.centres.points) + BYTES_OF_START);
        let boundary = (places * per_place) as u64 * (channels(self.on.points) + BYTES_OF_POINT);
        let what = format!("{places} bodies with {} boundary particles", places * per_place);
        ingest.world.budget.check(&what, each * setup.pieces.len() as u64 + boundary)?;
        let mut starts = Vec::new();
        for (place, &at) in setup.places.positions.iter().enumerate() {
            for piece in &setup.pieces {
                let here = Pose { translation: pose.to_world(at), ..pose };
                let start = piece.start(setup.density[place], &here).map_err(|why| {
                    let help = "give a closed surface that looks outwards, and a density";
                    ingest.bad("input", why.to_string(), help)
                })?;
                starts.push((place, at, piece, start));
            }
        }
        let world = &mut *ingest.world;
        // Every process has all bodies, and moves them alike.
        let domain = &world.domains[domain].alone();
        let centres: Vec<DVec3> = starts.iter().map(|(.., start)| start.centre).collect();
        let points = &mut world.points[self.on.bodies.centres.points];
        points.append(domain, &centres)?;
        let Bodies { centres, orientation, inertia, .. } = self.on.bodies;
        let mut velocity = points.column_mut(centres.velocity)?;
        let (mut mass, mut radius) =
            (points.column_mut(centres.mass)?, points.column_mut(centres.radius)?);
        let (mut orientation, mut inertia) =
            (points.column_mut(orientation)?, points.column_mut(inertia)?);
        let mut momentum = points.column_mut(self.momentum)?;
        let (mut principal, mut orient) =
            (points.column_mut(self.extra.principal)?, points.column_mut(self.extra.orient)?);
        let (mut pivot, mut home) =
            (points.column_mut(self.extra.pivot)?, points.column_mut(self.extra.home)?);
        for (n, (place, at, piece, start)) in starts.iter().enumerate() {
            let Start { centre, moments, orientation: turn, .. } = *start;
            let spin = setup.spin[*place] + twist.angular;
            velocity[n] = setup.velocity[*place] + twist.at(centre - pose.translation);
            momentum[n] = turn * ((turn.inverse() * spin) * moments);
            (mass[n], radius[n], inertia[n]) = (start.mass, start.radius, moments);
            (orientation[n], principal[n]) = (turn, start.principal);
            orient[n] = pose.rotation;
            (pivot[n], home[n]) = (piece.solid.centre, *at + piece.solid.centre);
        }
        drop((velocity, mass, radius, orientation, inertia, momentum));
        drop((principal, orient, pivot, home));

        let count: usize = starts.iter().map(|(_, _, piece, _)| piece.boundary.len()).sum();
        let (mut bodies, mut rests) = (Vec::with_capacity(count), Vec::with_capacity(count));
        let mut between: Vec<[u32; 3]> = Vec::with_capacity(count);
        let mut positions = Vec::with_capacity(count);
        for (n, (_, _, piece, start)) in starts.iter().enumerate() {
            let back = start.principal.inverse();
            let first = bodies.len() as u32;
            let own = (0..piece.held_by() as u32).map(|vertex| [vertex; 3]);
            let corners = own.chain(piece.added.iter().copied());
            between.extend(corners.map(|corners| corners.map(|corner| first + corner)));
            for offset in &piece.boundary {
                let rest = back * *offset;
                bodies.push(n as u32);
                rests.push(rest);
                positions.push(start.centre + start.orientation * rest);
            }
        }
        let points = &mut world.points[self.on.points];
        points.append(domain, &positions)?;
        points.column_mut(self.on.body)?.copy_from_slice(&bodies);
        points.column_mut(self.on.rest)?.copy_from_slice(&rests);
        for (k, handle) in self.extra.between.into_iter().enumerate() {
            let corners: Vec<u32> = between.iter().map(|corners| corners[k]).collect();
            points.column_mut(handle)?.copy_from_slice(&corners);
        }
        Ok(())
    }

    /// Moves kinematic bodies to where their input is at the end of the step.
    fn follow(&mut self, world: &mut World, now: &Moment) -> Result<()> {
        let Some(motion) = &self.led_by else { return Ok(()) };
        let end = now.time + now.step;
        let (pose, twist) = (motion.pose(end), motion.twist_before(end));
        let points = self.bodies(world);
        let home = points.column(self.extra.home)?;
        let principal = points.column(self.extra.principal)?;
        let mut position = points.column_mut(points.position())?;
        let mut velocity = points.column_mut(self.on.bodies.centres.velocity)?;
        let mut orientation = points.column_mut(self.on.bodies.orientation)?;
        let mut orient = points.column_mut(self.extra.orient)?;
        let mut momentum = points.column_mut(self.momentum)?;
        let inertia = points.column(self.on.bodies.inertia)?;
        for n in 0..points.len() {
            position[n] = pose.to_world(home[n]);
            velocity[n] = twist.at(position[n] - pose.translation);
            let turn = (pose.rotation * principal[n]).normalize();
            (orientation[n], orient[n]) = (turn, pose.rotation);
            momentum[n] = turn * ((turn.inverse() * twist.angular) * inertia[n]);
        }
        drop((position, velocity, orientation, orient, momentum));
        self.place_boundary(world)
    }

    /// x̃ = xⁿ + Δt vⁿ, and R̃ after torque-free spin: where the Newton loop begins.
    fn fly(&mut self, world: &mut World, now: &Moment) -> Result<()> {
        let Bodies { centres, orientation, inertia, flight, free_turn } = self.on.bodies;
        let points = self.bodies(world);
        let (velocity, mass) = (points.column(centres.velocity)?, points.column(centres.mass)?);
        let (momentum, inertia) = (points.column(self.momentum)?, points.column(inertia)?);
        let mut position = points.column_mut(points.position())?;
        let mut orientation = points.column_mut(orientation)?;
        let (mut flight, mut free_turn) =
            (points.column_mut(flight)?, points.column_mut(free_turn)?);
        let poses = position.par_iter_mut().zip(orientation.par_iter_mut());
        let free = flight.par_iter_mut().zip(free_turn.par_iter_mut());
        poses.zip(free).enumerate().try_for_each(|(n, ((x, turn), (flight, free_turn)))| {
            let body = Inertia::new(mass[n], DVec3::ZERO, inertia[n], DQuat::IDENTITY);
            let body = body.map_err(|why| {
                let help = "its channels `mass` and `inertia` are not those of a body";
                SimError::setup(points.label(), format!("body {n}: {why}"), help)
            })?;
            *x += now.step * velocity[n];
            *turn = spin(&body, *turn, momentum[n], now.step);
            (*flight, *free_turn) = (*x, *turn);
            Ok(())
        })
    }

    fn embed(&mut self, world: &mut World, _: &Moment) -> Result<()> {
        self.place_boundary(world)
    }

    /// Puts boundary particles where their bodies have them.
    fn place_boundary(&self, world: &World) -> Result<()> {
        let (bodies, points) = (self.bodies(world), &world.points[self.on.points]);
        let (centre, turn) =
            (bodies.column(bodies.position())?, bodies.column(self.on.bodies.orientation)?);
        let (velocity, momentum) =
            (bodies.column(self.on.bodies.centres.velocity)?, bodies.column(self.momentum)?);
        let inertia = bodies.column(self.on.bodies.inertia)?;
        let spins: Vec<DVec3> = (0..bodies.len())
            .map(|n| turn[n] * ((turn[n].inverse() * momentum[n]) / inertia[n]))
            .collect();
        let frames: Vec<DMat3> = turn.iter().map(|turn| DMat3::from_quat(*turn)).collect();
        let (body, rest) = (points.column(self.on.body)?, points.column(self.on.rest)?);
        let mut position = points.column_mut(points.position())?;
        let mut frame = points.column_mut(self.on.frame)?;
        let mut moves = points.column_mut(self.extra.velocity)?;
        let placed = position.par_iter_mut().zip(frame.par_iter_mut()).zip(moves.par_iter_mut());
        placed.enumerate().for_each(|(n, ((x, frame), v))| {
            let body = body[n] as usize;
            let arm = frames[body] * rest[n];
            *x = centre[body] + arm;
            *frame = frames[body];
            *v = velocity[body] + spins[body].cross(arm);
        });
        Ok(())
    }

    fn clear_forces(&mut self, world: &mut World, _: &Moment) -> Result<()> {
        let points = self.bodies(world);
        points.column_mut(self.on.bodies.centres.force)?.fill(DVec3::ZERO);
        points.column_mut(self.on.bodies.centres.stiffness)?.fill(DMat3::ZERO);
        Ok(())
    }

    /// One Newton iteration of each body, where nothing couples them to others.
    fn take_forces(&mut self, world: &mut World, now: &Moment) -> Result<()> {
        if world.object(self.id).coupled {
            return Ok(());
        }
        let Bodies { centres, orientation, flight, free_turn, .. } = self.on.bodies;
        let points = self.bodies(world);
        // Forces act on centres: what turned it, a fluid gave in the iteration before, and gives anew.
        let free = points.column(free_turn)?;
        points.column_mut(orientation)?.copy_from_slice(&free[..points.len()]);
        drop(free);
        let (force, stiffness) = (points.column(centres.force)?, points.column(centres.stiffness)?);
        let (mass, flight) = (points.column(centres.mass)?, points.column(flight)?);
        let mut velocity = points.column_mut(centres.velocity)?;
        let mut position = points.column_mut(points.position())?;
        let mut largest = 0.0_f64;
        for n in 0..points.len() {
            // v − vⁿ is (x − x̃)/Δt.
            let gained = (position[n] - flight[n]) / now.step;
            let left = force[n] - mass[n] * gained / now.step;
            let kick = implicit_kick(left, stiffness[n], mass[n], now.step);
            velocity[n] += kick;
            position[n] += now.step * kick;
            largest = largest.max(kick.length());
        }
        drop((force, stiffness, mass, flight, velocity, position));
        // What a fluid carries has not settled before the fluid has said so.
        if !world.object(self.id).swims {
            world.largest_change = world.largest_change.max(largest);
        }
        Ok(())
    }

    fn advance(&mut self, world: &mut World, now: &Moment) -> Result<()> {
        let driven = world.object(self.id).coupled || world.object(self.id).swims;
        let Bodies { orientation, inertia, flight, free_turn, .. } = self.on.bodies;
        let points = self.bodies(world);
        let (turn, free) = (points.column(orientation)?, points.column(free_turn)?);
        let (inertia, flight) = (points.column(inertia)?, points.column(flight)?);
        let principal = points.column(self.extra.principal)?;
        let mut position = points.column_mut(points.position())?;
        let mut momentum = points.column_mut(self.momentum)?;
        let mut orient = points.column_mut(self.extra.orient)?;
        for n in 0..points.len() {
            if driven {
                let theta = turn_between(free[n], turn[n]);
                let turning = free[n] * ((free[n].inverse() * theta) * inertia[n]);
                momentum[n] += left_jacobian_inverse(theta).transpose() * turning / now.step;
            } else {
                // xⁿ + ½ Δt (vⁿ + v), since x̃ is xⁿ + Δt vⁿ and x is xⁿ + Δt v.
                position[n] = 0.5 * (position[n] + flight[n]);
            }
            orient[n] = (turn[n] * principal[n].inverse()).normalize();
        }
        drop((position, momentum, orient));
        self.place_boundary(world)
    }

    fn find_buckets(&mut self, world: &mut World, _: &Moment) -> Result<()> {
        self.locate(world)
    }

    /// Finds out in which Buckets centres and boundary particles are.
    fn locate(&self, world: &mut World) -> Result<()> {
        let domain = &world.domains[world.object(self.id).domain].alone();
        world.points[self.on.bodies.centres.points].locate(domain)?;
        Ok(world.points[self.on.points].locate(domain)?)
    }
}
