//! A source: particles are born on a surface, inside of a solid or at points, at a rate.
//!
//! Nothing is remembered from step to step. How many are born follows from the times at which a step begins and ends, so that
//! after t seconds there are ⌊rate · t⌋, whatever the steps are; and where, how fast and how large from random numbers by the
//! number of the step and of the particle in it.

use std::f64::consts::{PI, TAU};
use std::sync::Arc;
use undine_core::MemoryBudget;
use undine_core::glam::{DVec3, Vec3};
use undine_core::mesh::Bounds;
use undine_geometry::Solid;
use undine_geometry::motion::Motion;
use undine_geometry::random;
use undine_geometry::sampling::{Sampling, sample_surface};
use undine_geometry::triangles::Triangles;
use undine_schema::{Declaration, Dimension, Kind, Parameter, Setting, Type};
use undine_sim::input::Geometry;
use undine_sim::offers::Spatial;
use undine_sim::{
    Ingest, Moment, ObjectId, Operator, Result, SimError, Stage, StoreId, Tasks, World,
};

/// "Particles are born."
pub const DECLARATION: Declaration = Declaration {
    name: "emit",
    kind: Kind::Operator,
    doc: "Lets particles be born, at a rate",
    about: "On an input that is a surface, inside of one that is a shape or a level set, or at its points; into the first \
            Object in its scope that takes particles, or into the one named by `into`.",
    parameters: &[
        Parameter::new("input", Type::Input, "where they are born"),
        Parameter::number("rate", Dimension::FREQUENCY, 100.0, "how many in a second")
            .not_negative()
            .usually(0.0, 1e7),
        Parameter::vector("velocity", Dimension::VELOCITY, [0.0; 3], "velocity at birth")
            .usually(-1e3, 1e3),
        Parameter::number(
            "speed",
            Dimension::VELOCITY,
            0.0,
            "speed at birth away from the surface, beside `velocity`",
        )
        .usually(-1e3, 1e3),
        Parameter::number(
            "jitter",
            Dimension::VELOCITY,
            0.0,
            "a random velocity of up to this is added",
        )
        .not_negative()
        .usually(0.0, 1e3),
        Parameter::number("radius", Dimension::LENGTH, 1e-3, "radius of a particle")
            .positive()
            .usually(1e-6, 1.0),
        Parameter::number(
            "radius-jitter",
            Dimension::NONE,
            0.0,
            "by which part of it radii vary, up and down",
        )
        .between(0.0, 0.99),
        Parameter::number("density", Dimension::DENSITY, 1000.0, "density of what it is made of")
            .positive()
            .usually(0.1, 25_000.0),
        Parameter::number(
            "inherit",
            Dimension::NONE,
            1.0,
            "how much of the velocity of a moving input they get",
        )
        .between(-10.0, 10.0)
        .advanced(),
        Parameter::number(
            "start",
            Dimension::TIME,
            0.0,
            "when it begins; without it, it always was",
        )
        .optional(),
        Parameter::number("end", Dimension::TIME, 0.0, "when it ends; without it, never")
            .optional(),
        Parameter::integer("seed", 0, "other seeds make other particles").not_negative(),
        Parameter::new(
            "into",
            Type::Target,
            "the Object they belong to; without it, the first in scope",
        )
        .optional(),
    ],
    example: "emit input=\"nozzle\" rate=\"5000 Hz\" speed=\"8 m/s\"",
};

/// No step has more births than this.
const MOST_BIRTHS: f64 = (1_u64 << 26) as f64;
/// Places tried inside of a solid's box for each birth; a solid that fills less than a thousandth of it is refused.
const MOST_TRIES: u64 = 1 << 13;

/// Where particles are born.
enum Site {
    Surface(Arc<Triangles>),
    Inside(Arc<dyn Solid + Send>, Bounds),
    Points(Arc<Vec<DVec3>>),
}

/// Lets particles be born.
pub struct Emit {
    path: String,
    into: (ObjectId, Spatial),
    site: Option<Site>,
    motion: Option<Motion>,
    rate: Setting,
    /// `velocity`, `speed` and `jitter`.
    speeds: [Setting; 3],
    velocity: DVec3,
    speed: f64,
    jitter: f64,
    radius: f64,
    radius_jitter: f64,
    density: f64,
    inherit: f64,
    window: [f64; 2],
    seed: u64,
}

impl Operator for Emit {
    fn create(ingest: &mut Ingest<'_>, scope: &[ObjectId]) -> Result<Option<Self>> {
        let port = |id: &ObjectId| Some((*id, ingest.world.object(*id).offers.port?.particles));
        let named = ingest.values().optional_text("into")?;
        let into = match &named {
            Some(path) => (ingest.targets)(path).iter().find_map(port),
            None => scope.iter().find_map(port),
        };
        match into {
            Some(into) => Self::of(ingest, into).map(Some),
            None if named.is_none() => Ok(None),
            None => {
                let what = "nothing there takes particles";
                Err(ingest.bad("into", what, "name `particles`, or a Group that has some"))
            }
        }
    }

    fn update(&mut self, ingest: &mut Ingest<'_>) -> Result<()> {
        *self = Self::of(ingest, self.into)?;
        Ok(())
    }

    fn brings(&self, times: [f64; 2]) -> Option<Vec<(ObjectId, f64)>> {
        let [from, to] = times.map(|time| time.clamp(self.window[0], self.window[1]));
        if self.site.is_none() || from >= to || self.rate.largest(from, to) == 0.0 {
            return Some(Vec::new());
        }
        let own: f64 = self.speeds.iter().map(|setting| setting.largest(from, to)).sum();
        Some(vec![(self.into.0, own + self.carried(from))])
    }

    fn tasks(&self, on: &mut Tasks<Self>) {
        // Several may add particles at this Stage, in turn.
        on.task(Stage::GroupEnter, "be born", Self::be_born)
            .accumulates([StoreId::from(self.into.1.particles).everything()]);
    }
}

/// What a birth takes while it is prepared, with its channels [bytes].
const BYTES_OF_BIRTH: u64 = 256;

/// A particle to be.
struct Birth {
    place: DVec3,
    velocity: DVec3,
    radius: f64,
    /// The part of the step that is left when it is born.
    share: f64,
}

impl Emit {
    fn of(ingest: &Ingest<'_>, into: (ObjectId, Spatial)) -> Result<Self> {
        let values = ingest.values();
        let number = |name: &str| values.number(name);
        let data = ingest.data("input")?;
        let site = match &data.geometry {
            Geometry::Empty => None,
            Geometry::Points(cloud) => Some(Site::Points(Arc::new(cloud.positions.clone()))),
            Geometry::Surface(surface) => {
                Some(Site::Surface(Arc::new(Triangles::of_surface(surface)?)))
            }
            _ => match ingest.optional_solid("input")? {
                None => None,
                Some(solid) => {
                    let bounds = solid.bounds().filter(|bounds| bounds.size().is_finite());
                    let Some(bounds) = bounds else {
                        let what = "it has no end, so that particles would be born anywhere";
                        return Err(ingest.bad("input", what, "intersect it with a box"));
                    };
                    Some(Site::Inside(solid, bounds))
                }
            },
        };
        let window = [
            values.optional_number("start")?.unwrap_or(f64::NEG_INFINITY),
            values.optional_number("end")?.unwrap_or(f64::INFINITY),
        ];
        if window[0] > window[1] {
            let what = format!("it ends at {} s, before it begins at {} s", window[1], window[0]);
            return Err(ingest.bad("end", what, "let it end later, or begin earlier"));
        }
        let setting = |name: &str| {
            let set = ingest.scope.setting(name, None).map(|(set, _)| set);
            set.unwrap_or_else(|| Setting::from(0.0))
        };
        let rate = setting("rate");
        let path_number =
            ingest.path.bytes().fold(0, |sum, byte| random::bits(sum, u64::from(byte)));
        Ok(Self {
            path: ingest.path.to_owned(),
            into,
            site,
            motion: data.motion.clone(),
            rate,
            speeds: ["velocity", "speed", "jitter"].map(setting),
            velocity: values.vector("velocity")?,
            speed: number("speed")?,
            jitter: number("jitter")?,
            radius: number("radius")?,
            radius_jitter: number("radius-jitter")?,
            density: number("density")?,
            inherit: number("inherit")?,
            window,
            seed: random::bits(values.integer("seed")? as u64, path_number),
        })
    }

    /// How fast the places where they are born are at most at a time [m/s], times `inherit`.
    fn carried(&self, time: f64) -> f64 {
        let Some(motion) = &self.motion else { return 0.0 };
        let (pose, twist) = (motion.pose(time), motion.twist(time));
        let places: Vec<DVec3> = match &self.site {
            None => Vec::new(),
            Some(Site::Points(points)) => points.iter().map(|at| pose.to_world(*at)).collect(),
            Some(Site::Surface(mesh)) => {
                let corners = mesh.bounds().into_iter().flat_map(|bounds| bounds.corners());
                corners.map(|at| pose.to_world(at)).collect()
            }
            Some(Site::Inside(_, bounds)) => bounds.corners().to_vec(),
        };
        let speed = |at: DVec3| twist.at(at - pose.translation).length();
        self.inherit.abs() * places.into_iter().map(speed).fold(0.0, f64::max)
    }

    fn be_born(&mut self, world: &mut World, now: &Moment) -> Result<()> {
        let births = self.births(now, &world.budget)?;
        if births.is_empty() {
            return Ok(());
        }
        let each = |value: &dyn Fn(&Birth) -> f32| births.iter().map(value).collect::<Vec<f32>>();
        let (object, spatial) = self.into;
        let domain = world.object(object).domain;
        let particles = &mut world.particles[spatial.particles];
        let places: Vec<DVec3> = births.iter().map(|birth| birth.place).collect();
        let mut batch = particles.batch(&places)?;
        let velocity: Vec<Vec3> = births.iter().map(|birth| birth.velocity.as_vec3()).collect();
        batch.set("v", &velocity)?;
        batch.set("pscale", &each(&|birth| birth.radius as f32))?;
        let mass = 4.0 / 3.0 * PI * self.density;
        batch.set("mass", &each(&|birth| (mass * birth.radius.powi(3)) as f32))?;
        if particles.handle::<f32>("step-share").is_ok() {
            batch.set("step-share", &each(&|birth| birth.share as f32))?;
        }
        // Every process knows of all births.
        particles.append_same(&world.domains[domain], batch)?;
        Ok(())
    }

    /// Who is born in a step.
    fn births(&self, now: &Moment, world_budget: &MemoryBudget) -> Result<Vec<Birth>> {
        let [from, to] = [now.time, now.time + now.step].map(|time| {
            // Counted from where it begins, so that the first is born 1/rate later.
            let begin = if self.window[0].is_finite() { self.window[0] } else { 0.0 };
            let born = self.rate.integral(begin, time.clamp(self.window[0], self.window[1]));
            // A step ends where the next begins but for rounding, which must not matter where a whole number is reached.
            (born + 1e-9 * born.abs().max(1.0)).floor()
        });
        let count = (to - from).max(0.0);
        if count.is_nan() || count > MOST_BIRTHS {
            let what = format!("{count:.0} particles would be born in one step");
            return Err(SimError::setup(format!("{}.rate", self.path), what, "lower the rate"));
        }
        world_budget.check("births of one step", count as u64 * BYTES_OF_BIRTH)?;
        let seed = random::bits(random::bits(now.seed, self.seed), now.count);
        let count = count as usize;
        let Some(places) = self.places(seed, count)? else { return Ok(Vec::new()) };
        let twist =
            self.motion.as_ref().map(|motion| (motion.pose(now.time), motion.twist(now.time)));
        // Places of solids are in the world already; those of meshes and points are where the motion puts them.
        let posed = matches!(self.site, Some(Site::Surface(_) | Site::Points(_)));
        let birth = |(n, (place, normal)): (usize, (DVec3, DVec3))| {
            let draw = |which: u64| random::unit(random::bits(seed, BODY), 8 * n as u64 + which);
            let (mut place, mut normal, mut carried) = (place, normal, DVec3::ZERO);
            if let Some((pose, twist)) = &twist {
                if posed {
                    (place, normal) = (pose.to_world(place), pose.rotation * normal);
                }
                carried = self.inherit * twist.at(place - pose.translation);
            }
            let jitter = self.jitter * in_ball([draw(0), draw(1), draw(2)]);
            let velocity = self.velocity + self.speed * normal + jitter + carried;
            // Born somewhen in the step, so that a stream has no gaps from step to step; from then on it flies, and collides.
            let share = draw(3);
            let radius = self.radius * (1.0 + self.radius_jitter * (2.0 * draw(4) - 1.0));
            Birth { place, velocity, radius, share }
        };
        Ok(places.into_iter().enumerate().map(birth).collect())
    }

    /// Places [m] and outward normals of so many births; `None` if there is nowhere to be born.
    fn places(&self, seed: u64, count: usize) -> Result<Option<Vec<(DVec3, DVec3)>>> {
        let draw = |n: usize, which: u64| random::unit(random::bits(seed, n as u64), which);
        Ok(match &self.site {
            None => None,
            Some(Site::Points(points)) if points.is_empty() => None,
            Some(Site::Surface(mesh)) if mesh.is_empty() => None,
            Some(Site::Points(points)) => {
                let pick = |n| points[(draw(n, 0) * points.len() as f64) as usize];
                Some((0..count).map(|n| (pick(n), DVec3::ZERO)).collect())
            }
            Some(Site::Surface(mesh)) => {
                let sampling = Sampling { seed, ..Sampling::default() };
                let points = sample_surface(mesh, count, sampling)?.into_iter();
                let normal = |triangle: u32| {
                    let [a, b, c] = mesh.corners(triangle as usize);
                    (b - a).cross(c - a).normalize_or_zero()
                };
                Some(points.map(|point| (point.point, normal(point.triangle))).collect())
            }
            Some(Site::Inside(solid, bounds)) => {
                let mut places = Vec::with_capacity(count);
                for n in 0..count {
                    let place = |k: u64| {
                        let [x, y, z] = [0, 1, 2].map(|axis| draw(n, 3 * k + axis));
                        bounds.min + DVec3::new(x, y, z) * bounds.size()
                    };
                    let found = (0..MOST_TRIES).map(place).find(|at| solid.distance(*at) < 0.0);
                    let Some(found) = found else {
                        let what = "it fills almost nothing of the box around it";
                        let help = "give it some volume, or emit from its surface";
                        return Err(SimError::setup(format!("{}.input", self.path), what, help));
                    };
                    let normal =
                        if self.speed == 0.0 { DVec3::ZERO } else { solid.nearest(found).normal };
                    places.push((found, normal));
                }
                Some(places)
            }
        })
    }
}

/// Sets the numbers that make a particle's body apart from those that make its place.
const BODY: u64 = 0x626f_6479;

/// A point evenly spread in the ball of radius 1, from three numbers evenly spread over 0 .. 1.
fn in_ball([a, b, c]: [f64; 3]) -> DVec3 {
    let (z, turn, r) = (2.0 * a - 1.0, TAU * b, c.cbrt());
    let flat = (1.0 - z * z).sqrt();
    r * DVec3::new(flat * turn.cos(), flat * turn.sin(), z)
}
