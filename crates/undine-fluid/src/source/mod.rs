//! A source of a fluid that particles carry: a solid out of which a stream comes, with a velocity and at a rate.
//!
//! **The stream.** Particles enter the solid where lines along the stream first meet it (`Inlet`), and cross it with the velocity of
//! the source. In a step of Δt the volume Q Δt comes, with Q the given rate, or speed times the area of the solid's outline, in as
//! many particles as it is worth, at least one. Together they have exactly that volume's mass: nothing is left over to be
//! remembered, so that any steps and any resume make the same stream.
//!
//! **The boundary condition.** For the pressure the cells of the solid are closed: what flows through their faces is given, the
//! velocity of the source, but for faces through which fluid outside would be drawn in, where nothing flows. After the
//! solve the faces are open again and have the velocity of the source, which particles then take.

pub(crate) mod boundary;
mod inlet;

use boundary::Closed;
use inlet::Inlet;
use std::sync::Arc;
use undine_core::glam::{DVec3, Vec3};
use undine_core::{ChannelSpec, Combine, CoreError, ParticleSystem};
use undine_geometry::motion::Motion;
use undine_geometry::{Pose, Solid, Twist, random};
use undine_schema::{Declaration, Dimension, Kind, Parameter, Setting, Type, Value};
use undine_sim::input::Data;
use undine_sim::offers::{FluidField, FluidParticles};
use undine_sim::{
    Ingest, Moment, ObjectId, Operator, Result, SimError, Stage, StoreId, Tasks, World,
};

/// "Here fluid comes in."
pub const DECLARATION: Declaration = Declaration {
    name: "source",
    kind: Kind::Operator,
    doc: "Lets fluid flow out of a solid, at a velocity or at a rate",
    about: "Out of a shape, a closed surface or a level set, into the first fluid with particles in its scope, or into the one \
            named by `into`. What comes in a second is `rate`, or else the area of the solid's outline along `velocity` times \
            the speed. What the input says of itself as a whole (`set` on a shape) becomes a channel of the particles: dye, \
            temperature.",
    parameters: &[
        Parameter::new("input", Type::Input, "where it flows out: a shape, surface or level set"),
        Parameter::vector("velocity", Dimension::VELOCITY, [0.0; 3], "velocity of the stream")
            .required()
            .usually(-100.0, 100.0),
        Parameter::number(
            "rate",
            Dimension::VOLUME_FLOW,
            0.0,
            "how much comes; `velocity` is then but its direction, and its speed follows",
        )
        .not_negative()
        .optional(),
        Parameter::number(
            "inherit",
            Dimension::NONE,
            1.0,
            "how much of the velocity of a moving input the stream gets",
        )
        .between(-10.0, 10.0)
        .advanced(),
        Parameter::flag("active", true, "whether anything comes now"),
        Parameter::number(
            "start",
            Dimension::TIME,
            0.0,
            "when it begins; without it, it always was",
        )
        .optional(),
        Parameter::number("end", Dimension::TIME, 0.0, "when it ends; without it, never")
            .optional(),
        Parameter::integer("per-axis", 2, "particles along the edge of a cell: 2 is 8 in a cell")
            .between(1.0, 8.0)
            .advanced(),
        Parameter::integer("seed", 0, "other seeds make other particles").not_negative().advanced(),
        Parameter::new(
            "into",
            Type::Target,
            "the fluid it flows into; without it, the first in scope",
        )
        .optional(),
    ],
    example: "source input=\"nozzle\" velocity=\"0 -2 0 m/s\"",
};

/// Lets fluid flow out of a solid.
pub struct Source {
    path: String,
    into: Into,
    /// Nothing, while the input is empty.
    stream: Option<Stream>,
    /// Faces that are closed in this Newton loop.
    closed: Closed,
}

/// Where it flows.
#[derive(Debug, Clone, Copy)]
struct Into {
    object: ObjectId,
    field: FluidField,
    particles: FluidParticles,
}

/// The stream of this step.
struct Stream {
    solid: Arc<dyn Solid + Send>,
    inlet: Arc<Inlet>,
    /// Of length 1.
    along: DVec3,
    /// Beside the motion of the solid [m/s]; with a rate, it follows from that.
    speed: f64,
    velocity: Setting,
    rate: Option<Setting>,
    /// The motion of the solid when the step ends, times `inherit`.
    carried: Option<(Pose, Twist)>,
    is_active: bool,
    active: Setting,
    window: [f64; 2],
    per_axis: u32,
    seed: u64,
    channels: Vec<(String, Value)>,
}

impl Operator for Source {
    fn create(ingest: &mut Ingest<'_>, scope: &[ObjectId]) -> Result<Option<Self>> {
        let carried = |object: &ObjectId| {
            let field = ingest.world.object(*object).offers.fluid?;
            Some(Into { object: *object, field, particles: field.particles? })
        };
        let named = ingest.values().optional_text("into")?;
        let into = match &named {
            Some(path) => (ingest.targets)(path).iter().find_map(carried),
            None => scope.iter().find_map(carried),
        };
        let Some(into) = into else {
            if named.is_some() {
                let what = "nothing there is a fluid with particles";
                return Err(ingest.bad("into", what, "name a `hybrid`, or a Group that has one"));
            }
            tracing::warn!(
                "{}: there is no fluid with particles in its scope, so that nothing comes; put it into the Group of a `hybrid`",
                ingest.path
            );
            return Ok(None);
        };
        let stream = Stream::of(ingest, &into, None)?;
        let source = Self { path: ingest.path.to_owned(), into, stream, closed: Closed::default() };
        source.check_room(ingest, scope)?;
        source.add_channels(ingest.world)?;
        Ok(Some(source))
    }

    fn update(&mut self, ingest: &mut Ingest<'_>) -> Result<()> {
        self.stream = Stream::of(ingest, &self.into, self.stream.take())?;
        Ok(())
    }

    fn brings(&self, times: [f64; 2]) -> Option<Vec<(ObjectId, f64)>> {
        let fastest = self.stream.as_ref().and_then(|stream| stream.fastest(times));
        Some(fastest.map(|speed| (self.into.object, speed)).into_iter().collect())
    }

    fn tasks(&self, on: &mut Tasks<Self>) {
        let grid = StoreId::from(self.into.field.volume);
        // Several may do these in turn, each on faces of its own.
        on.task(Stage::Predict, "close a source", Self::close)
            .reads(self.into.field.distance.map(|_| grid.channel("surface")))
            .accumulates(grid.channels(["open", "wall-v"]));
        on.task(Stage::Remember, "open a source", Self::open)
            .accumulates(grid.channels(["open", "wall-v", "v"]));
        // When all have moved, so that what comes in a step follows on what came in the last one.
        on.task(Stage::GroupExit, "flow out of a source", Self::flow)
            .accumulates([StoreId::from(self.into.particles.particles).everything()]);
    }
}

/// No step has more new particles than this.
const MOST: f64 = (1_u64 << 26) as f64;
/// What a new particle takes while it is prepared, with its channels [bytes].
const BYTES_EACH: u64 = 256;
/// Channels that a source gives anyway.
const OWN: &[&str] = &["id", "source-id", "v", "mass", "pscale", "position", "density"];

impl Source {
    /// Refuses a source that lies inside of a collider.
    fn check_room(&self, ingest: &Ingest<'_>, scope: &[ObjectId]) -> Result<()> {
        let Some(stream) = &self.stream else { return Ok(()) };
        let world = &*ingest.world;
        for object in scope {
            let entry = world.object(*object);
            let Some(Some(collider)) = entry.offers.collider.map(|id| &world.colliders[id]) else {
                continue;
            };
            let step = collider.during(ingest.time, ingest.time)?;
            let places = (0..64).filter_map(|n| stream.inlet.place(stream.seed, n));
            if places.map(|at| step.distance(at)).all(|distance| distance < 0.0) {
                let what = format!(
                    "it lies inside of collider `{}`, so that nothing can come",
                    entry.path
                );
                return Err(ingest.bad("input", what, "move it out of there"));
            }
        }
        Ok(())
    }

    /// Makes channels of what the input says of itself, where the fluid has none.
    fn add_channels(&self, world: &mut World) -> Result<()> {
        let particles = &mut world.particles[self.into.particles.particles];
        for (name, value) in self.stream.iter().flat_map(|stream| &stream.channels) {
            if particles.channels().infos().any(|info| info.name == *name) {
                continue;
            }
            match value {
                Value::Vector(_) => {
                    let spec = ChannelSpec::new(name.clone(), Vec3::ZERO).combine(Combine::Mean);
                    particles.add_channel(&spec)?;
                }
                _ => {
                    let spec = ChannelSpec::new(name.clone(), 0.0_f32).combine(Combine::Mean);
                    particles.add_channel(&spec)?;
                }
            }
        }
        Ok(())
    }

    fn close(&mut self, world: &mut World, now: &Moment) -> Result<()> {
        self.closed = Closed::default();
        let Some(stream) = self.stream.as_ref().filter(|stream| stream.flows(now)) else {
            return Ok(());
        };
        let domain = &world.domains[world.object(self.into.object).domain];
        let volume = &world.volumes[self.into.field.volume];
        let velocity = |at: DVec3| stream.velocity(at, now);
        self.closed = Closed::close(domain, volume, &self.into.field, &*stream.solid, &velocity)?;
        Ok(())
    }

    fn open(&mut self, world: &mut World, _: &Moment) -> Result<()> {
        let domain = &world.domains[world.object(self.into.object).domain];
        let closed = std::mem::take(&mut self.closed);
        closed.open(domain, &world.volumes[self.into.field.volume], &self.into.field)
    }

    fn flow(&mut self, world: &mut World, now: &Moment) -> Result<()> {
        let Some(stream) = &self.stream else { return Ok(()) };
        let domain = &world.domains[world.object(self.into.object).domain];
        let volume = &world.volumes[self.into.field.volume];
        let density = f64::from(volume.column(self.into.field.density)?.background());
        let volume = stream.volume(now);
        if volume.is_nan() || volume <= 0.0 {
            return Ok(());
        }
        let each = (domain.frame().voxel_size(0) / f64::from(stream.per_axis)).powi(3);
        // Numbers of particles follow from the time alone, so that places go on as they did.
        let [from, to] =
            [now.time, now.time + now.step].map(|t| (volume / now.step * t / each).floor());
        let count = (to - from).max(1.0);
        if count.is_nan() || count > MOST {
            let what = format!("{count:.0} particles would come in one step");
            let help = "lower the rate or the velocity, or use larger voxels";
            return Err(SimError::setup(format!("{}.rate", self.path), what, help));
        }
        world.budget.check("particles that come in one step", count as u64 * BYTES_EACH)?;
        let (count, first) = (count as u64, from as i64 as u64);
        let speed = stream.speed(now);
        let place = |n: u64| {
            let entry = stream.inlet.place(stream.seed, first.wrapping_add(n))?;
            // Evenly over the step, so that a stream has no gaps: the first has gone the farthest.
            let gone = 1.0 - (n as f64 + 0.5) / count as f64;
            Some(entry + gone * now.step * speed * stream.along)
        };
        // On several processes the first one has all of it, and particles find their way.
        let here = if domain.processes().rank() == 0 { count } else { 0 };
        let places: Option<Vec<DVec3>> = (0..here).map(place).collect();
        let places = places.unwrap_or_default();
        let mass = volume * density / count as f64;
        let particles = &mut world.particles[self.into.particles.particles];
        let batch = stream.batch(particles, &places, (mass, density), now);
        let batch = domain.processes().all_agree(batch)?;
        particles.append(domain, batch)?;
        Ok(())
    }
}

impl Stream {
    /// The stream as parameters say, and as it was before; nothing of an empty input.
    fn of(ingest: &Ingest<'_>, into: &Into, before: Option<Self>) -> Result<Option<Self>> {
        let values = ingest.values();
        let data: Arc<Data> = ingest.data("input")?;
        let velocity = values.vector("velocity")?;
        let rate = match values.optional_number("rate")? {
            Some(_) => ingest.scope.setting("rate", None).map(|(rate, _)| rate),
            None => None,
        };
        let along = velocity.try_normalize();
        let Some(along) = along.or_else(|| rate.is_none().then_some(DVec3::Y)) else {
            let what = "it is nothing, so that nobody knows where the stream goes to";
            return Err(ingest.bad("velocity", what, "give it the direction of the stream"));
        };
        let window = [
            values.optional_number("start")?.unwrap_or(f64::NEG_INFINITY),
            values.optional_number("end")?.unwrap_or(f64::INFINITY),
        ];
        if window[0] > window[1] {
            let what = format!("it ends at {} s, before it begins at {} s", window[1], window[0]);
            return Err(ingest.bad("end", what, "let it end later, or begin earlier"));
        }
        let per_axis = values.integer("per-axis")? as u32;
        // What stays as it is need not be looked at again.
        let is_still = data.motion.is_none() && !ingest.inputs.changes(&values.text("input")?);
        let same = before
            .filter(|before| is_still && before.along == along && before.per_axis == per_axis);
        let (solid, inlet) = match same {
            Some(before) => (before.solid, before.inlet),
            None => match inlet_of(ingest, into, along, per_axis)? {
                Some((solid, inlet)) => (solid, Arc::new(inlet)),
                None => return Ok(None),
            },
        };
        let inherit = values.number("inherit")?;
        let carried = |motion: &Motion| {
            let Twist { linear, angular } = motion.twist(ingest.time);
            let twist = Twist { linear: inherit * linear, angular: inherit * angular };
            (motion.pose(ingest.time), twist)
        };
        let is_channel = |value: &Value| {
            matches!(value, Value::Number(_) | Value::Integer(_) | Value::Vector(_))
        };
        let channels = data.attributes.iter();
        let channels = channels
            .filter(|(name, value)| !OWN.contains(&name.as_str()) && is_channel(value))
            .map(|(name, value)| (name.clone(), value.clone()));
        let setting = |name: &str, usual: Value| {
            ingest.scope.setting(name, None).map_or(Setting::Constant(usual), |(set, _)| set)
        };
        let path = ingest.path.bytes().fold(0, |sum, byte| random::bits(sum, u64::from(byte)));
        Ok(Some(Self {
            solid,
            inlet,
            along,
            speed: velocity.length(),
            velocity: setting("velocity", velocity.to_array().into()),
            rate,
            carried: data.motion.as_ref().map(carried),
            is_active: values.flag("active")?,
            active: setting("active", true.into()),
            window,
            per_axis,
            seed: random::bits(values.integer("seed")? as u64, path),
            channels: channels.collect(),
        }))
    }

    /// The part of a step during which it flows: when it begins and ends [s].
    fn span(&self, now: &Moment) -> Option<[f64; 2]> {
        let [from, to] =
            [now.time, now.time + now.step].map(|time| time.clamp(self.window[0], self.window[1]));
        (self.is_active && to > from).then_some([from, to])
    }

    /// The volume that comes in a step [m³].
    fn volume(&self, now: &Moment) -> f64 {
        let Some([from, to]) = self.span(now) else { return 0.0 };
        match &self.rate {
            Some(rate) => rate.integral(from, to),
            None => self.speed * self.inlet.area * (to - from),
        }
    }

    /// Its speed along itself [m/s], beside the motion of the solid.
    fn speed(&self, now: &Moment) -> f64 {
        match (&self.rate, self.span(now)) {
            (Some(rate), Some([from, to])) => {
                rate.integral(from, to) / (self.inlet.area * (to - from))
            }
            _ => self.speed,
        }
    }

    /// Its largest speed between two times [m/s], with the motion of the solid as it is now; nothing while nothing comes.
    fn fastest(&self, times: [f64; 2]) -> Option<f64> {
        let [from, to] = times.map(|time| time.clamp(self.window[0], self.window[1]));
        if to <= from || !self.active.is_ever(from, to) {
            return None;
        }
        let speed = match &self.rate {
            Some(rate) => rate.largest(from, to) / self.inlet.area,
            None => self.velocity.largest(from, to),
        };
        let carried =
            self.carried.as_ref().zip(self.solid.bounds()).map(|((pose, twist), bounds)| {
                let speed = |at: DVec3| twist.at(at - pose.translation).length();
                bounds.corners().into_iter().map(speed).fold(0.0, f64::max)
            });
        (speed > 0.0).then_some(speed + carried.unwrap_or(0.0))
    }

    fn flows(&self, now: &Moment) -> bool {
        self.volume(now) > 0.0
    }

    /// Its velocity at a place [m/s].
    fn velocity(&self, at: DVec3, now: &Moment) -> DVec3 {
        let carried = self.carried.as_ref();
        let carried = carried.map_or(DVec3::ZERO, |(pose, twist)| twist.at(at - pose.translation));
        self.speed(now) * self.along + carried
    }

    /// New particles at these places [m], with a mass [kg] each, of a fluid of this density [kg/m³].
    fn batch(
        &self,
        particles: &ParticleSystem,
        places: &[DVec3],
        (mass, density): (f64, f64),
        now: &Moment,
    ) -> Result<undine_core::particles::Batch, CoreError> {
        let mut batch = particles.batch(places)?;
        let count = places.len();
        let velocity = |at: &DVec3| self.velocity(*at, now).as_vec3();
        batch.set("v", &places.iter().map(velocity).collect::<Vec<Vec3>>())?;
        batch.set("mass", &vec![mass as f32; count])?;
        let radius = (0.75 / std::f64::consts::PI * mass / density).cbrt();
        batch.set("pscale", &vec![radius as f32; count])?;
        for (name, value) in &self.channels {
            // A channel of another type is not the one that is meant.
            match value {
                Value::Vector(vector) if particles.handle::<Vec3>(name).is_ok() => {
                    batch.set(name, &vec![DVec3::from(*vector).as_vec3(); count])?;
                }
                Value::Number(number) if particles.handle::<f32>(name).is_ok() => {
                    batch.set(name, &vec![*number as f32; count])?;
                }
                Value::Integer(number) if particles.handle::<f32>(name).is_ok() => {
                    batch.set(name, &vec![*number as f32; count])?;
                }
                _ => {}
            }
        }
        Ok(batch)
    }
}

/// The solid that a stream comes from, and where; nothing of an empty input.
fn inlet_of(
    ingest: &Ingest<'_>,
    into: &Into,
    along: DVec3,
    per_axis: u32,
) -> Result<Option<(Arc<dyn Solid + Send>, Inlet)>> {
    let Some(solid) = ingest.optional_solid("input")? else { return Ok(None) };
    let bounds = solid.bounds().filter(|bounds| bounds.size().is_finite());
    let Some(bounds) = bounds else {
        let what = "it has no end, so that there is no end to what comes";
        return Err(ingest.bad("input", what, "intersect it with a box"));
    };
    let domain = ingest.world.object(into.object).domain;
    let voxel = ingest.world.domains[domain].frame().voxel_size(0);
    let inlet = Inlet::new(&*solid, &bounds, along, 0.5 * voxel / f64::from(per_axis));
    if inlet.area == 0.0 {
        let what = "it has no inside that a stream could come from";
        let help =
            "use a solid that is closed, not inside out, and not far thinner than it is wide";
        return Err(ingest.bad("input", what, help));
    }
    Ok(Some((solid, inlet)))
}
