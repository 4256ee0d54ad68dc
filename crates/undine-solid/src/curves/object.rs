//! The Curves Object: strands of hair and other rods, in `f64`, each by itself until a Constraint couples its vertices.
//!
//! A step begins with free flight: x̃ = xⁿ + Δt vⁿ for vertices, θ̃ = Δt ωⁿ for the turns of edges about themselves, and frames
//! carried along to the tangents there (time-parallel transport; Bergou et al. 2010). Coupled vertices go where the system says,
//! by backward Euler: x = xⁿ + Δt v, ω = θ/Δt; without a Constraint, they follow their parabolas. What the scene holds is
//! where its input is at the end of the step, and no unknown.

use super::strands::{self, Start};
use rayon::prelude::*;
use std::sync::Arc;
use undine_core::glam::{DMat3, DQuat, DVec3};
use undine_core::particles::TopologicalParticles;
use undine_core::{ChannelSpec, Handle};
use undine_geometry::Motion;
use undine_schema::{Declaration, Dimension, Kind, Parameter, Type};
use undine_sim::action::force::implicit_kick;
use undine_sim::input::{Data, Geometry, PointCloud};
use undine_sim::newton::rod::transported;
use undine_sim::newton::shape::Rods as Held;
use undine_sim::offers::{AtRest, Dofs, Embedded, Looks, Material, Rods, StrandLooks, Topological};
use undine_sim::{
    Budget, Courant, Id, Ingest, Moment, Object, ObjectId, Offers, Result, SimError, Stage,
    StoreId, Tasks, World,
};

/// "There are curves."
pub const DECLARATION: Declaration = Declaration {
    name: "curves",
    kind: Kind::Object,
    doc: "Strands of hair, fur, wire or rope: elastic rods",
    about: "Every curve of the input becomes a rod of an elliptic cross-section, as it is in the input when it is at rest. Forces \
            push its vertices; `stretching`, `bending` and `twisting` make it a rod; `attachment` and collisions hold it by its \
            vertices. Roots may be held as the input moves. Vectors `N` on vertices of the input say where the first axis of \
            cross-sections looks. Vectors `rest` on them are the places of vertices in another shape, which they are at rest in instead: lengths, \
            masses and natural curvature are of that shape, wherever it is as a whole. Its first edge is carried to where it begins by the \
            least turn. The twist is that of the input, but where a closed curve closes. `sag-free` looks for a shape by itself.",
    parameters: &[
        Parameter::new("input", Type::Input, "curves"),
        Parameter::number(
            "density",
            Dimension::DENSITY,
            1300.0,
            "density of what they are made of",
        )
        .positive()
        .usually(1.0, 25_000.0)
        .varies_by("density"),
        Parameter::number(
            "radius",
            Dimension::LENGTH,
            40e-6,
            "half the thickness, along the first axis of the cross-section; contacts take it for round, so let this be the \
             larger half",
        )
        .positive()
        .usually(1e-6, 1.0)
        .varies_by("pscale"),
        Parameter::number(
            "flatness",
            Dimension::NONE,
            1.0,
            "radius along the second axis of the cross-section by the one along the first",
        )
        .positive()
        .usually(0.01, 100.0)
        .varies_by("flatness"),
        Parameter::number("youngs", Dimension::PRESSURE, 4e9, "Young's modulus")
            .positive()
            .usually(1e3, 1e12)
            .varies_by("youngs"),
        Parameter::number(
            "shear",
            Dimension::PRESSURE,
            1.5e9,
            "shear modulus; without it that of a Poisson's ratio of 0.35",
        )
        .positive()
        .usually(1e3, 1e12)
        .varies_by("shear")
        .optional(),
        Parameter::choice(
            "roots",
            &[
                ("free", "the scene holds nothing"),
                ("pinned", "the first vertex is where the input has it"),
                (
                    "clamped",
                    "the first vertex is where the input has it, and the strand leaves it in the direction of the first edge there, and does not turn",
                ),
            ],
            "how the beginnings of curves are held",
        ),
        Parameter::flag(
            "sag-free",
            false,
            "shapes at rest are chosen such that curves hang as they are in the input",
        ),
        Parameter::vector(
            "velocity",
            Dimension::VELOCITY,
            [0.0; 3],
            "velocity to begin with, besides that of the input",
        )
        .varies_by("v"),
        Parameter::number(
            "voxel",
            Dimension::LENGTH,
            0.1,
            "size of voxels: vertices are found by cubes of eight",
        )
        .positive()
        .usually(1e-4, 100.0)
        .resolution()
        .advanced(),
    ],
    example: "curves \"strands\" input=\"groom\" radius=\"40 um\" youngs=\"4 GPa\" roots=\"clamped\"",
};

/// A step in which sound goes along this many edges leaves nothing of weight in double precision.
const MOST_EDGES_OF_SOUND: f64 = 1e7;

/// Curves of one Behavior.
pub struct CurvesObject {
    id: ObjectId,
    on: Rods,
    extra: Extra,
    /// The vertices that the scene holds.
    held: Vec<u32>,
    led: Led,
    /// The fastest that sound goes along an edge [1/s].
    sound: f64,
}

/// Channels that others do not need.
#[derive(Clone, Copy)]
struct Extra {
    /// How fast edges turn about themselves [rad/s].
    spin: Handle<f64>,
    along: Handle<DVec3>,
}

/// Where the scene has what it holds, at the end of the step.
#[derive(Default)]
struct Led {
    /// A place for each held vertex [m], and the direction in which the strand leaves it; none where they stay.
    roots: Vec<[DVec3; 2]>,
    /// How the input turns during the step, if it moves as a rigid whole.
    turn: Option<DQuat>,
}

/// What a vertex takes with its channels and those of its edge, while it is put where it begins [bytes].
const BYTES_EACH: u64 = 512;

impl Object for CurvesObject {
    fn create(ingest: &mut Ingest<'_>) -> Result<Vec<Self>> {
        let data = ingest.data("input")?;
        if data.is_empty() {
            return Ok(Vec::new());
        }
        let data = data.at(ingest.time)?;
        let Geometry::Curves(curves) = &data.geometry else {
            let what = format!("this input is {}", data.noun());
            return Err(ingest.bad("input", what, "give curves, such as those of `strands`"));
        };
        ingest.check_room("vertices of curves", data.elements(), BYTES_EACH)?;
        let cloud = data.cloud()?;
        let values = ingest.values().of_object(&data.attributes);
        let start = Start::of(ingest, values, curves, &cloud)?;
        let domain = ingest.values().number("voxel")?;
        let domain = ingest.world.domain(domain)?;
        strands::check_reach(ingest, curves.connectivity(), &start.positions, domain)?;
        let points = TopologicalParticles::new(ingest.path, &ingest.world.domains[domain])?;
        let points = ingest.world.points.add(points);
        let mut object = add_channels(ingest.world, points)?;
        object.fill(ingest.world, domain, &start)?;
        object.fill_at_rest(&mut ingest.world.points[points], &start)?;
        take_channels(&mut ingest.world.points[points], &cloud)?;
        let strands = Arc::new(curves.connectivity().clone());
        let ids = ingest.world.points[points].column(ingest.world.points[points].id())?.to_vec();
        let edges =
            start.edges.iter().map(|edge| edge.map(|vertex| ids[vertex as usize])).collect();
        let offers = Offers {
            material: Some(Material::Topological(object.on.vertices)),
            dofs: Some(Dofs::Rods(object.on)),
            boundary: Some(Embedded::OnRods(object.on)),
            edges: Some(edges),
            rods: Some(object.extra.along),
            looks: Some(Looks::Strands(StrandLooks { points, strands })),
            ..Offers::default()
        };
        object.id = ingest.offer(domain, data.attributes.clone(), offers);
        object.locate(ingest.world)?;
        ingest.world.objects[object.id.0].begins_at_rest = ingest.values().flag("sag-free")?;
        Ok(vec![object])
    }

    fn update(&mut self, ingest: &mut Ingest<'_>) -> Result<()> {
        self.led = Led::default();
        if self.held.is_empty() {
            return Ok(());
        }
        let data = ingest.data("input")?;
        let name = ingest.values().text("input")?;
        if let Some(motion) = &data.motion {
            self.led.turn = Some(turn_between(motion, ingest.since, ingest.time));
        } else if !ingest.inputs.changes(&name) {
            return Ok(());
        }
        self.led.roots = self.roots(&data, ingest)?;
        Ok(())
    }

    fn id(&self) -> ObjectId {
        self.id
    }

    fn tasks(&self, on: &mut Tasks<Self>) {
        let points = self.store();
        let key = |name| points.channel(name);
        let shape = || points.channels(["edge-start", "edge-end", "held"]);
        on.task(Stage::Predict, "fly freely", Self::fly)
            .reads(shape())
            .reads([key("spin")])
            .writes(points.channels(["position", "frame", "v", "flight", "twist", "free-twist"]));
        on.task(Stage::Embed, "find directions", Self::find_directions)
            .reads(shape())
            .reads([key("position")])
            .writes([key("along")]);
        on.task(Stage::ClearForces, "clear forces", Self::clear_forces)
            .writes(points.channels(["force", "force-slope"]));
        // · Stage::AddForces        gravity, fields; and drag, at AddDrag          Forces
        // · Stage::SolveSolids      stretching, bending, twisting, attachment      Constraints
        on.task(Stage::SolveAlone, "take forces", Self::take_forces)
            .reads(points.channels(["force", "force-slope", "mass", "flight", "held"]))
            .writes(points.channels(["v", "position"]));
        on.task(Stage::Advance, "move", Self::advance)
            .reads(shape())
            .reads(points.channels(["flight", "twist"]))
            .writes(points.channels(["position", "frame", "spin"]));
        on.task(Stage::Rebucket, "find Buckets", Self::find_buckets).reads([key("position")]);
    }

    fn longest_step(&self, world: &World, courant: &Courant) -> Result<f64> {
        let fastest = self.points(world).column(self.on.vertices.velocity)?;
        let speed = fastest.iter().fold(0.0, |most: f64, v| most.max(v.length()));
        let voxel = world.domains[world.object(self.id).domain].frame().voxel_size(0);
        Ok(courant.longest_step(speed, voxel))
    }

    fn budget(&self, world: &World) -> Result<Budget> {
        let points = self.points(world);
        let (position, velocity) =
            (points.column(points.position())?, points.column(self.on.vertices.velocity)?);
        let (mass, spin) = (points.column(self.on.vertices.mass)?, points.column(self.extra.spin)?);
        let (moment, frame) = (points.column(self.on.moment)?, points.column(self.on.frame)?);
        let start = points.column(self.on.edge[0])?;
        let end = points.column(self.on.edge[1])?;
        let vertex = |n: usize| {
            let mut budget = Budget::of_point(mass[n], position[n], velocity[n]);
            if has_edge(&start, &end, n) {
                let edge = start[n] as usize;
                budget.angular_momentum += frame[n].x_axis * (moment[edge] * spin[edge]);
                budget.kinetic_energy += 0.5 * moment[edge] * spin[edge] * spin[edge];
            }
            budget
        };
        Ok((0..points.len()).fold(Budget::default(), |sum, n| sum + vertex(n)))
    }

    fn output(&self) -> Vec<(Option<&'static str>, StoreId)> {
        vec![(None, self.store())]
    }
}

/// Whether a vertex carries the frame of an edge that no vertex before it carries.
fn has_edge(start: &[u32], end: &[u32], vertex: usize) -> bool {
    let edge = |n: usize| [start[n], end[n]];
    let [a, b] = edge(vertex);
    a != b && (vertex == 0 || edge(vertex) != edge(vertex - 1))
}

/// The rotation of a rigid motion from one time to another.
fn turn_between(motion: &Motion, since: f64, time: f64) -> DQuat {
    motion.pose(time).rotation * motion.pose(since).rotation.inverse()
}

fn add_channels(world: &mut World, id: Id<TopologicalParticles>) -> Result<CurvesObject> {
    let vector = |name: &'static str| ChannelSpec::new(name, DVec3::ZERO);
    let number = |name: &'static str| ChannelSpec::new(name, 0.0_f64);
    let matrix = |name: &'static str| ChannelSpec::new(name, DMat3::ZERO);
    let whole = |name: &'static str| ChannelSpec::new(name, 0_u32);
    let points = &mut world.points[id];
    let along = points.add_channel(&vector("along").unit("m").transient())?;
    let vertices = Topological {
        points: id,
        velocity: points.add_channel(&vector("v").unit("m/s"))?,
        mass: points.add_channel(&number("mass").unit("kg"))?,
        radius: points.add_channel(&number("ball-radius").unit("m").internal())?,
        force: points.add_channel(&vector("force").unit("N").transient())?,
        stiffness: points.add_channel(&matrix("force-slope").unit("N/m").transient())?,
    };
    let on = Rods {
        vertices,
        edge: [
            points.add_channel(&whole("edge-start").internal())?,
            points.add_channel(&whole("edge-end").internal())?,
        ],
        strand: points.add_channel(&whole("strand"))?,
        held: points.add_channel(&whole("held").internal())?,
        frame: points.add_channel(&ChannelSpec::new("frame", DMat3::IDENTITY).internal())?,
        flight: points.add_channel(&vector("flight").unit("m").transient())?,
        twist: points.add_channel(&number("twist").unit("rad").transient())?,
        free_twist: points.add_channel(&number("free-twist").unit("rad").transient())?,
        moment: points.add_channel(&number("moment").unit("kg m2").internal())?,
        thickness: points.add_channel(&number("pscale").unit("m"))?,
        at_rest: None,
    };
    let extra =
        Extra { spin: points.add_channel(&number("spin").unit("rad/s").internal())?, along };
    for (name, unit) in MATERIAL {
        points.add_channel(&number(name).unit(unit).internal())?;
    }
    Ok(CurvesObject {
        id: ObjectId(usize::MAX),
        on,
        extra,
        held: Vec::new(),
        led: Led::default(),
        sound: 0.0,
    })
}

/// Takes on whatever else the input knows of vertices, such as what a parameter of a Constraint varies by. Where cross-sections look is in
/// their frames.
fn take_channels(points: &mut TopologicalParticles, cloud: &PointCloud) -> Result<()> {
    let is_known = |points: &TopologicalParticles, name: &str| {
        name == "N" || points.channels().infos().any(|info| info.name == name)
    };
    for (name, values) in &cloud.numbers {
        if !is_known(points, name) {
            let handle = points.add_channel(&ChannelSpec::new(name.clone(), 0.0_f64))?;
            points.column_mut(handle)?.copy_from_slice(values);
        }
    }
    for (name, values) in &cloud.vectors {
        if !is_known(points, name) {
            let handle = points.add_channel(&ChannelSpec::new(name.clone(), DVec3::ZERO))?;
            points.column_mut(handle)?.copy_from_slice(values);
        }
    }
    Ok(())
}

/// What Constraints take from vertices and edges.
const MATERIAL: [(&str, &str); 5] = [
    ("stretch-stiffness", "N"),
    ("bend-stiffness-1", "N m2"),
    ("bend-stiffness-2", "N m2"),
    ("twist-stiffness", "N m2"),
    ("edge-length", "m"),
];

/// Vertices that one task works on.
const VERTICES_PER_TASK: usize = 2048;

impl CurvesObject {
    fn store(&self) -> StoreId {
        self.on.vertices.points.into()
    }

    fn points<'w>(&self, world: &'w World) -> &'w TopologicalParticles {
        &world.points[self.on.vertices.points]
    }

    /// Puts vertices where they begin. Every process has all of them, and moves them alike.
    fn fill(
        &mut self,
        world: &mut World,
        domain: Id<undine_core::GridDomain>,
        start: &Start,
    ) -> Result<()> {
        let domain = &world.domains[domain].alone();
        let points = &mut world.points[self.on.vertices.points];
        points.append(domain, &start.positions)?;
        let material =
            [&start.stretch, &start.bend[0], &start.bend[1], &start.twist, &start.length];
        for ((name, _), values) in MATERIAL.iter().zip(material) {
            let handle = points.handle::<f64>(name)?;
            points.column_mut(handle)?.copy_from_slice(values);
        }
        let Rods { vertices, edge, strand, held, frame, moment, thickness, .. } = self.on;
        points.column_mut(vertices.velocity)?.copy_from_slice(&start.velocities);
        points.column_mut(vertices.mass)?.copy_from_slice(&start.mass);
        points.column_mut(vertices.radius)?.copy_from_slice(&start.ball);
        points.column_mut(thickness)?.copy_from_slice(&start.thickness);
        points.column_mut(moment)?.copy_from_slice(&start.moment);
        points.column_mut(strand)?.copy_from_slice(&start.strand);
        points.column_mut(held)?.copy_from_slice(&start.held);
        points.column_mut(frame)?.copy_from_slice(&start.frame);
        for (n, handle) in edge.into_iter().enumerate() {
            let ends: Vec<u32> = start.edge.iter().map(|edge| edge[n]).collect();
            points.column_mut(handle)?.copy_from_slice(&ends);
        }
        let is_held = |&vertex: &u32| start.held[vertex as usize] & Held::PLACE != 0;
        self.held = (0..start.held.len() as u32).filter(is_held).collect();
        // EA/L over the mass of an edge, ρAL.
        let sound = |(&[a, b], length): (&[u32; 2], &f64)| {
            let (a, b) = (a as usize, b as usize);
            let stiffness = 0.5 * (start.stretch[a] + start.stretch[b]) / length;
            (stiffness / (0.5 * (start.mass[a] + start.mass[b]))).sqrt()
        };
        self.sound = start.edges.iter().zip(&start.lengths).map(sound).fold(0.0, f64::max);
        Ok(())
    }

    /// Takes on a shape at rest, if it is not that which they begin in.
    fn fill_at_rest(&mut self, points: &mut TopologicalParticles, start: &Start) -> Result<()> {
        let Some(rest) = &start.at_rest else { return Ok(()) };
        let place = points.add_channel(&ChannelSpec::new("rest", DVec3::ZERO).unit("m"))?;
        let frame = ChannelSpec::new("rest-frame", DMat3::IDENTITY).internal();
        let frame = points.add_channel(&frame)?;
        points.column_mut(place)?.copy_from_slice(&rest.places);
        points.column_mut(frame)?.copy_from_slice(&rest.frame);
        self.on.at_rest = Some(AtRest { place, frame });
        Ok(())
    }

    /// Where the input has held vertices, and in which direction from there the next ones.
    fn roots(&self, data: &Data, ingest: &Ingest<'_>) -> Result<Vec<[DVec3; 2]>> {
        let cloud = data.cloud()?;
        let count = ingest.world.points[self.on.vertices.points].len();
        if cloud.positions.len() != count {
            let what = format!("it has {} vertices now, and had {count}", cloud.positions.len());
            return Err(ingest.bad("input", what, "give curves whose vertices stay the same"));
        }
        let pose = data.pose(ingest.time);
        let place = |vertex: usize| pose.to_world(cloud.positions[vertex]);
        // A root is never the last vertex of a strand.
        let root = |&vertex: &u32| {
            let [root, next] = [0, 1].map(|n| place(vertex as usize + n));
            [root, (next - root).normalize_or_zero()]
        };
        Ok(self.held.iter().map(root).collect())
    }

    /// x̃ = xⁿ + Δt vⁿ and θ̃ = Δt ωⁿ: where the Newton loop begins.
    fn fly(&mut self, world: &mut World, now: &Moment) -> Result<()> {
        let points = self.points(world);
        if self.sound.is_nan() || self.sound * now.step > MOST_EDGES_OF_SOUND {
            let what = format!(
                "sound would go along {:.1e} edges in a step of {} s, which leaves nothing of weight in double precision",
                self.sound * now.step,
                now.step
            );
            let help = "lower `youngs`, take shorter steps, or give curves of longer edges";
            return Err(SimError::setup(points.label(), what, help));
        }
        let held = points.column(self.on.held)?;
        let spin = points.column(self.extra.spin)?;
        let mut position = points.column_mut(points.position())?;
        let mut velocity = points.column_mut(self.on.vertices.velocity)?;
        let mut flight = points.column_mut(self.on.flight)?;
        let mut twist = points.column_mut(self.on.twist)?;
        let mut free = points.column_mut(self.on.free_twist)?;
        let moving = position.par_iter_mut().zip(velocity.par_iter_mut());
        moving.enumerate().for_each(|(n, (x, v))| match held[n] & Held::PLACE {
            0 => *x += now.step * *v,
            _ => *v = DVec3::ZERO,
        });
        let (start, end) = (points.column(self.on.edge[0])?, points.column(self.on.edge[1])?);
        let mut frame = points.column_mut(self.on.frame)?;
        for (&vertex, &[place, tangent]) in self.held.iter().zip(&self.led.roots) {
            let vertex = vertex as usize;
            velocity[vertex] = (place - position[vertex]) / now.step;
            position[vertex] = place;
            if start[vertex] == end[vertex] {
                let turn = self.led.turn.map_or(DMat3::IDENTITY, DMat3::from_quat);
                let turned = turn * frame[vertex];
                frame[vertex] =
                    transported(turned, tangent.try_normalize().unwrap_or(turned.x_axis), 0.0);
            }
        }
        drop((start, end, frame));
        flight.par_iter_mut().zip(position.par_iter()).for_each(|(flight, x)| *flight = *x);
        twist.par_iter_mut().zip(free.par_iter_mut()).enumerate().for_each(|(n, (twist, free))| {
            *twist = now.step * spin[n];
            *free = *twist;
        });
        self.carry_frames(points, &position, |edge| twist[edge])
    }

    /// Carries frames along to where edges are now, turned by an angle [rad] each; those of no edge stay.
    fn carry_frames(
        &self,
        points: &TopologicalParticles,
        position: &[DVec3],
        twist: impl Fn(usize) -> f64 + Sync,
    ) -> Result<()> {
        let (start, end) = (points.column(self.on.edge[0])?, points.column(self.on.edge[1])?);
        let mut frame = points.column_mut(self.on.frame)?;
        frame.par_iter_mut().enumerate().for_each(|(n, frame)| {
            let (a, b) = (start[n] as usize, end[n] as usize);
            if a == b {
                return;
            }
            let tangent = (position[b] - position[a]).normalize_or(frame.x_axis);
            *frame = transported(*frame, tangent, twist(a));
        });
        Ok(())
    }

    /// The piece of a strand that each vertex stands for.
    fn find_directions(&mut self, world: &mut World, _: &Moment) -> Result<()> {
        let points = self.points(world);
        let position = points.column(points.position())?;
        let (start, end) = (points.column(self.on.edge[0])?, points.column(self.on.edge[1])?);
        let mut along = points.column_mut(self.extra.along)?;
        along.fill(DVec3::ZERO);
        for n in (0..points.len()).filter(|&n| has_edge(&start, &end, n)) {
            let (a, b) = (start[n] as usize, end[n] as usize);
            let half = 0.5 * (position[b] - position[a]);
            along[a] += half;
            along[b] += half;
        }
        Ok(())
    }

    fn clear_forces(&mut self, world: &mut World, _: &Moment) -> Result<()> {
        let points = self.points(world);
        let mut force = points.column_mut(self.on.vertices.force)?;
        let mut stiffness = points.column_mut(self.on.vertices.stiffness)?;
        force.par_chunks_mut(VERTICES_PER_TASK).for_each(|force| force.fill(DVec3::ZERO));
        stiffness.par_chunks_mut(VERTICES_PER_TASK).for_each(|k| k.fill(DMat3::ZERO));
        Ok(())
    }

    /// One Newton iteration of each vertex, where nothing couples them.
    fn take_forces(&mut self, world: &mut World, now: &Moment) -> Result<()> {
        if world.object(self.id).coupled {
            return Ok(());
        }
        let points = self.points(world);
        let Topological { force, stiffness, mass, velocity, .. } = self.on.vertices;
        let (force, stiffness) = (points.column(force)?, points.column(stiffness)?);
        let (mass, flight) = (points.column(mass)?, points.column(self.on.flight)?);
        let held = points.column(self.on.held)?;
        let mut velocity = points.column_mut(velocity)?;
        let mut position = points.column_mut(points.position())?;
        let mut largest = 0.0_f64;
        for n in (0..points.len()).filter(|&n| held[n] & Held::PLACE == 0) {
            let gained = (position[n] - flight[n]) / now.step;
            let left = force[n] - mass[n] * gained / now.step;
            let kick = implicit_kick(left, stiffness[n], mass[n], now.step);
            velocity[n] += kick;
            position[n] += now.step * kick;
            largest = largest.max(kick.length());
        }
        drop((force, stiffness, mass, flight, held, velocity, position));
        world.largest_change = world.largest_change.max(largest);
        Ok(())
    }

    fn advance(&mut self, world: &mut World, now: &Moment) -> Result<()> {
        let coupled = world.object(self.id).coupled;
        let points = self.points(world);
        if coupled {
            let twist = points.column(self.on.twist)?;
            let mut spin = points.column_mut(self.extra.spin)?;
            spin.iter_mut().zip(twist.iter()).for_each(|(spin, twist)| *spin = twist / now.step);
            return Ok(());
        }
        // xⁿ + ½ Δt (vⁿ + v), since x̃ is xⁿ + Δt vⁿ and x is xⁿ + Δt v.
        let flight = points.column(self.on.flight)?;
        let mut position = points.column_mut(points.position())?;
        position.iter_mut().zip(flight.iter()).for_each(|(x, flight)| *x = 0.5 * (*x + *flight));
        self.carry_frames(points, &position, |_| 0.0)
    }

    fn find_buckets(&mut self, world: &mut World, _: &Moment) -> Result<()> {
        self.locate(world)
    }

    fn locate(&self, world: &mut World) -> Result<()> {
        let domain = &world.domains[world.object(self.id).domain].alone();
        Ok(world.points[self.on.vertices.points].locate(domain)?)
    }
}
