//! Particles bump into colliders: nothing ends inside of one, and nothing passes through, however thin it is and however fast.
//!
//! Each particle is a ball that is swept from where the step began to where it would end ([`sweep_with`]). Between touches it
//! flies with the mean acceleration of the step, so that it meets a surface with the speed that it has there, and not with what
//! gravity would have given it behind. A touch takes its speed towards the surface and gives back `restitution` of it;
//! Coulomb friction takes μ times that impulse along the surface. What would fall back within the same step stays in contact:
//! the surface then bears what presses on it, with friction. All of it is relative to the surface, which may move and turn.

use crate::begins::{self, Beginnings};
use crate::contact::{Manner, Touching};
use undine_core::Accessor;
use undine_core::glam::DVec3;
use undine_geometry::collider::{Collider, ColliderStep, Impact, sweep_with};
use undine_schema::{Declaration, Dimension, Kind, Parameter, Type};
use undine_sim::coupling::Coupling;
use undine_sim::offers::{Material, Spatial};
use undine_sim::world::ChannelKey;
use undine_sim::{Id, Ingest, Moment, ObjectId, Operator, Result, Stage, StoreId, Tasks, World};

/// "Things bump into colliders."
pub const DECLARATION: Declaration = Declaration {
    name: "collision",
    kind: Kind::Operator,
    doc: "Keeps things out of colliders and of each other, with friction and bounces",
    about: "Everything in its scope against every collider and rigid body in its scope. Particles are balls of their radius; \
            rigid bodies of shapes touch exactly, with their corners, edges and rims, all others with boundary \
            particles. All are followed on their whole way, so that nothing gets through \
            a sheet, however fast it is. What rests stays where it is: friction is Coulomb's, neither smoothed nor delayed. \
            Colliders may move, turn and deform.",
    parameters: &[
        Parameter::number(
            "restitution",
            Dimension::NONE,
            0.0,
            "what is left of the speed of an impact after it; 1 bounces for ever",
        )
        .between(0.0, 1.0),
        Parameter::number(
            "friction",
            Dimension::NONE,
            0.3,
            "coefficient of Coulomb friction; without it, that of each collider, and 0.3 between bodies",
        )
        .not_negative()
        .usually(0.0, 2.0)
        .optional(),
        Parameter::choice(
            "response",
            &[
                ("hard", "nothing gives way: forces fulfil Coulomb's law exactly"),
                ("penalty", "stiff springs where things overlap; soft, and cheap where many touch"),
            ],
            "what holds bodies apart that touch",
        ),
        Parameter::number(
            "stiffness",
            Dimension::SURFACE_TENSION,
            1e5,
            "of penalties, at each boundary particle: its part of a weight sinks in by as much as this gives way; for hair, about 1 N/m",
        )
        .positive()
        .usually(1.0, 1e9)
        .advanced(),
        Parameter::flag(
            "each-other",
            true,
            "whether strands touch each other, and not only colliders and bodies; without it, dense hair takes a fraction of the time",
        ),
        Parameter::new(
            "against",
            Type::Target,
            "colliders to be kept out of, beside those in its scope",
        )
        .optional(),
    ],
    example: "collision restitution=0.4",
};

/// Keeps particles out of colliders.
pub struct Collision {
    on: Vec<(ObjectId, Spatial)>,
    colliders: Vec<Id<Option<Collider>>>,
    /// Boundary particles.
    touching: Option<Touching>,
    /// What those look at.
    looks_at: Vec<ChannelKey>,
    beginnings: Beginnings,
    restitution: f64,
    friction: Option<f64>,
}

impl Operator for Collision {
    fn create(ingest: &mut Ingest<'_>, scope: &[ObjectId]) -> Result<Option<Self>> {
        let mut all = scope.to_vec();
        if let Some(path) = ingest.values().optional_text("against")? {
            let others = (ingest.targets)(&path);
            all.extend(others.into_iter().filter(|object| !scope.contains(object)));
        }
        let world = &*ingest.world;
        let offers = |id: &ObjectId| &world.object(*id).offers;
        let spatial = |id: &ObjectId| match offers(id).material {
            Some(Material::Spatial(spatial)) => Some((*id, spatial)),
            _ => None,
        };
        let mut on: Vec<_> = scope.iter().filter_map(spatial).collect();
        let colliders: Vec<_> = all.iter().filter_map(|id| offers(id).collider).collect();
        if colliders.is_empty() {
            on.clear();
        }
        let touching = Touching::new(ingest, scope, &all)?;
        if on.is_empty() && touching.is_none() {
            return Ok(None);
        }
        let looks_at = touching.as_ref().map_or(Vec::new(), |t| t.reads(ingest.world));
        let beginnings = Beginnings::new(ingest.world, scope, &all);
        let mut collision = Self {
            on,
            colliders,
            touching,
            looks_at,
            beginnings,
            restitution: 0.0,
            friction: None,
        };
        collision.update(ingest)?;
        if collision.touching.as_ref().is_some_and(Touching::swallows_bounces) {
            tracing::warn!(
                "`{}`: nothing that touches by `response=\"penalty\"` bounces: its `restitution` counts for particles alone, and springs take the energy \
                 of an impact, the more of it the longer the step; leave `response` away where things are to bounce",
                ingest.path
            );
        }
        Ok(Some(collision))
    }

    fn update(&mut self, ingest: &mut Ingest<'_>) -> Result<()> {
        self.restitution = ingest.values().number("restitution")?;
        self.friction = ingest.values().optional_number("friction")?;
        if let Some(touching) = &mut self.touching {
            let values = ingest.values();
            let penalty = values.text("response")? == "penalty";
            let stiffness = values.number("stiffness")?;
            touching.manner = Manner {
                restitution: self.restitution,
                friction: self.friction,
                stiffness: penalty.then_some(stiffness),
                each_other: values.flag("each-other")?,
            };
        }
        Ok(())
    }

    fn tasks(&self, on: &mut Tasks<Self>) {
        if let Some(touching) = &self.touching {
            let looks = || self.looks_at.iter().cloned();
            let own = || [touching.memory().everything()];
            let bodies = || touching.movable().map(|(_, on)| on);
            let centres = |names| {
                bodies().flat_map(move |on| {
                    StoreId::from(on.bodies.centres.points).channels::<3>(names)
                })
            };
            // Springs part by themselves what overlaps.
            let is_hard = touching.manner.stiffness.is_none();
            if is_hard && bodies().next().is_some() {
                let boundary = bodies()
                    .flat_map(|on| StoreId::from(on.points).channels(["position", "frame"]));
                on.task(Stage::Part, "part what overlaps", Self::part)
                    .reads(own())
                    .writes(centres(["position", "orientation", "orient"]))
                    .writes(boundary);
            }
            on.task(Stage::ChoosePoints, "look where contacts begin", Self::begin)
                .reads(looks())
                .reads(own());
            // · Stage::SolveSolids      contacts are found and solved      with all that is coupled
            if is_hard && bodies().next().is_some() {
                on.task(Stage::KeepFluids, "let go of what swims", Self::let_go).writes(centres([
                    "position",
                    "orientation",
                    "v",
                ]));
                // · Stage::SolvePressure   what fluids do to bodies       pressure
                on.task(Stage::Extend, "hold what swims", Self::hold).writes(centres([
                    "position",
                    "orientation",
                    "v",
                ]));
            }
            on.task(Stage::Remember, "remember contacts", Self::remember)
                .reads(looks())
                .writes(own());
        }
        if self.on.is_empty() {
            return;
        }
        let stores = || self.on.iter().map(|(_, spatial)| StoreId::from(spatial.particles));
        on.task(Stage::Collide, "keep out of colliders", Self::collide)
            .reads(stores().flat_map(|store| store.channels(["position-before", "v-before"])))
            .reads(stores().map(|store| store.channel("pscale")))
            .writes(stores().flat_map(|store| store.channels(["position", "v"])));
    }

    fn look_at_start(&mut self, world: &World, now: &Moment) -> Result<()> {
        let is_first = now.count == 0;
        let touching = self.touching.as_mut().filter(|_| is_first);
        touching.map_or(Ok(()), |touching| touching.check(world, now))
    }

    fn coupling(&mut self) -> Option<&mut dyn Coupling> {
        self.touching.as_mut().map(|touching| touching as &mut dyn Coupling)
    }
}

impl Collision {
    fn begin(&mut self, world: &mut World, now: &Moment) -> Result<()> {
        if let Some(touching) = &mut self.touching {
            if now.count == 0 {
                touching.check(world, now)?;
            }
            touching.begin(world)?;
        }
        if now.count > 0 {
            return Ok(());
        }
        if let Some(touching) = &self.touching
            && let Some(overlaps) = touching.overlapping_edges(world, now)?
        {
            begins::tell_overlaps(world, &overlaps);
        }
        let is_hard = self.touching.as_ref().is_none_or(|t| t.manner.stiffness.is_none());
        self.beginnings.tell(world, now, is_hard)
    }

    fn part(&mut self, world: &mut World, now: &Moment) -> Result<()> {
        self.touching.as_mut().map_or(Ok(()), |touching| touching.part(world, now))
    }

    fn let_go(&mut self, world: &mut World, now: &Moment) -> Result<()> {
        self.touching.as_ref().map_or(Ok(()), |touching| touching.let_go(world, now))
    }

    fn hold(&mut self, world: &mut World, now: &Moment) -> Result<()> {
        self.touching.as_mut().map_or(Ok(()), |touching| touching.hold(world, now))
    }

    fn remember(&mut self, world: &mut World, _: &Moment) -> Result<()> {
        self.touching.as_mut().map_or(Ok(()), |touching| touching.remember(world))
    }

    fn collide(&mut self, world: &mut World, now: &Moment) -> Result<()> {
        let colliders: Vec<Collider> = self
            .colliders
            .iter()
            .filter_map(|id| world.colliders[*id].clone())
            .map(|collider| match self.friction {
                Some(friction) => collider.with_friction(friction),
                None => Ok(collider),
            })
            .collect::<Result<_, _>>()?;
        let steps: Vec<ColliderStep<'_>> = colliders
            .iter()
            .map(|collider| collider.during(now.time, now.time + now.step))
            .collect::<Result<_, _>>()?;
        for (object, spatial) in &self.on {
            self.collide_one(world, *object, spatial, &steps, now.step)?;
        }
        Ok(())
    }

    fn collide_one(
        &self,
        world: &World,
        object: ObjectId,
        on: &Spatial,
        steps: &[ColliderStep<'_>],
        step: f64,
    ) -> Result<()> {
        let particles = &world.particles[on.particles];
        let domain = &world.domains[world.object(object).domain];
        // Coordinates are rounded by this much; a ball has to be larger for its surface to mean anything.
        let least = 8.0 * f64::from(f32::EPSILON) * domain.frame().bucket_size(0);
        let kernel = (
            (particles.own(on.position_before), particles.own(on.velocity_before)),
            (particles.own(on.radius), particles.write(particles.position())),
            particles.write(on.velocity),
        );
        let outcomes = Accessor::new("keep out of colliders", domain)
            .over(particles.topology())
            .map(kernel, |here, ((start, start_velocity), (radius, position), velocity)| {
                let corner = domain.frame().corner(here.bucket);
                for n in 0..position.len() {
                    let (from, to) =
                        (corner + start[n].as_dvec3(), corner + position[n].as_dvec3());
                    let radius = f64::from(radius[n]).max(least);
                    let meets = |collider: &ColliderStep<'_>| collider.may_meet(from, to, radius);
                    if !steps.iter().any(meets) {
                        continue;
                    }
                    let (v0, v1) = (start_velocity[n].as_dvec3(), velocity[n].as_dvec3());
                    let mut flight = Flight::new(from, v0, v1, step, self.restitution);
                    let to = flight.begin(steps, to, radius);
                    let swept = sweep_with(steps, from, to, radius, |number, impact, _| {
                        flight.touch(number, impact)
                    })?;
                    if !flight.has_touched {
                        continue;
                    }
                    let ended = match swept.last {
                        Some((_, last)) if swept.is_pressed() => last.velocity,
                        _ => flight.velocity_at_the_end(steps, swept.position),
                    };
                    position[n] = (swept.position - corner).as_vec3();
                    velocity[n] = ended.as_vec3();
                }
                Ok::<(), undine_geometry::GeometryError>(())
            })?;
        Ok(outcomes.into_iter().collect::<Result<(), _>>()?)
    }
}

/// What rests on a surface is kept this part of its radius above it, so that the next step finds it outside and not in it.
const LIFT: f64 = 0.03;
/// What is so near, as a part of its radius, is in contact when a step begins.
const NEAR: f64 = 0.04;

/// How a particle flies through a step, from touch to touch: with a constant acceleration.
struct Flight {
    /// Where it was last set off [m].
    start: DVec3,
    /// How fast, then [m/s].
    velocity: DVec3,
    /// [m/s²]
    acceleration: DVec3,
    /// How long it is from there to the end of the step [s].
    left: f64,
    /// The part of the step that was over.
    begun: f64,
    restitution: f64,
    /// What it rests on, and how fast it slides along it at the end [m/s].
    rests: Option<(usize, DVec3)>,
    /// How far it still has to go to be clear of the surfaces that it touched [m].
    owed: DVec3,
    has_touched: bool,
}

impl Flight {
    /// From a velocity to another one [m/s] in a step [s].
    fn new(start: DVec3, before: DVec3, after: DVec3, step: f64, restitution: f64) -> Self {
        let acceleration = (after - before) / step;
        Self {
            start,
            velocity: before,
            acceleration,
            left: step,
            begun: 0.0,
            restitution,
            rests: None,
            owed: DVec3::ZERO,
            has_touched: false,
        }
    }

    /// Begins a step that would end at `to` [m] in contact with what it rests on; where the step ends then.
    fn begin(&mut self, steps: &[ColliderStep<'_>], to: DVec3, radius: f64) -> DVec3 {
        let mut target = to;
        for (number, step) in steps.iter().enumerate() {
            let reach = (1.0 + NEAR) * radius;
            let Some(impact) = step.touched_at_start(self.start, reach, radius) else { continue };
            // What leaves is let go. What rests has no speed across the surface, up to rounding.
            let relative = self.velocity - impact.velocity;
            let rounding = 1e-6 * (relative.length() + self.left * self.acceleration.length());
            if relative.dot(impact.normal) <= rounding {
                let way = self.touch(number, &impact);
                let apart = (impact.radius - impact.distance).max(0.0) * impact.normal;
                target = impact.carried + apart + way;
            }
        }
        target
    }

    /// Touches a surface; where to it would go from there until the end of the step, relative to the surface [m], once it has
    /// its radius for a distance.
    fn touch(&mut self, number: usize, impact: &Impact) -> DVec3 {
        let (n, wall, friction) = (impact.normal, impact.velocity, impact.friction);
        let behind = self.reach(impact) + self.owed;
        self.has_touched = true;

        // What it has at the surface, and what presses it there from now on.
        let relative = self.velocity - wall;
        let pressing = (-self.acceleration.dot(n)).max(0.0) * self.left;
        let towards = (-relative.dot(n)).max(0.0);
        let along = relative - relative.dot(n) * n;
        let bounce = self.restitution * towards;
        let away = relative.dot(n).max(bounce);

        let way = if 2.0 * away > pressing {
            let free = slowed(along, friction * (towards + bounce)) + away * n;
            self.velocity = wall + free;
            self.rests = None;
            free * self.left + 0.5 * self.left * self.left * self.acceleration
        } else {
            // It stays: the surface takes all that presses, and friction slows what is along.
            let along = slowed(along, friction * towards);
            let pull = self.acceleration - self.acceleration.dot(n) * n;
            let end = slowed(along + self.left * pull, friction * pressing);
            let slows = friction * pressing > 0.0 && end == DVec3::ZERO;
            let part = if slows { (along.length() / (friction * pressing)).min(1.0) } else { 1.0 };
            self.velocity = wall + along;
            self.acceleration =
                if self.left > 0.0 { (end - along) / self.left } else { DVec3::ZERO };
            self.rests = Some((number, end));
            0.5 * self.left * part * (along + end)
        };
        let clear = LIFT * impact.radius - (impact.distance - impact.radius).max(0.0);
        let lift = (clear - way.dot(n)).max(0.0) * n;
        self.owed += lift + (impact.radius - impact.distance).max(0.0) * n;
        behind + way + lift
    }

    /// Flies on to a touch; how far it is behind then, along the surface [m].
    fn reach(&mut self, impact: &Impact) -> DVec3 {
        let (n, wall) = (impact.normal, impact.velocity);
        let part = (impact.time - self.begun) / (1.0 - self.begun);
        let part = if part.is_finite() { part.clamp(0.0, 1.0) } else { 0.0 };
        let by_chord = self.left * part;
        let paid = part * self.owed;
        self.owed -= paid;
        // The sweep goes by the chord of the way. Along the normal, the time at which a flight with constant
        // acceleration is there follows from v² = v₀² + 2as.
        let way = impact.position - self.start - paid - by_chord * wall;
        let gone = way.dot(n);
        let speed = (self.velocity - wall).dot(n);
        let square = speed * speed + 2.0 * self.acceleration.dot(n) * gone;
        let mean = 0.5 * (speed - square.max(0.0).sqrt());
        let took = if mean < 0.0 { (gone / mean).clamp(0.0, self.left) } else { by_chord };
        let flown = took * (self.velocity - wall + 0.5 * took * self.acceleration);
        let behind = flown - way;
        self.velocity += took * self.acceleration;
        self.left -= took;
        self.start = impact.position;
        self.begun = impact.time;
        behind - behind.dot(n) * n
    }

    /// The velocity at the end of the step [m/s], where it is at a place [m].
    fn velocity_at_the_end(&self, steps: &[ColliderStep<'_>], at: DVec3) -> DVec3 {
        match self.rests {
            // What turns has carried it to where the surface has another velocity.
            Some((number, along)) if steps[number].moves() => steps[number].velocity(at) + along,
            _ => self.velocity + self.left * self.acceleration,
        }
    }
}

/// A velocity [m/s] after friction has taken as much of it as it could [m/s].
fn slowed(velocity: DVec3, by: f64) -> DVec3 {
    let speed = velocity.length();
    if speed > by { velocity * (1.0 - by / speed) } else { DVec3::ZERO }
}
