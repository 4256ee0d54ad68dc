//! The Particles Object: balls that fly, are pushed by Forces, and are sorted by Buckets.
//!
//! Where no Constraint couples them, each particle takes its forces by itself: Δv = (1/Δt)(m/Δt² − ∂f/∂x)⁻¹ (f − m(v−vⁿ)/Δt),
//! and moves by the mean of its velocities before and after, so that a ball under constant forces follows its parabola
//! exactly. Coupled particles take the velocity that the system gives them, and move by it (backward Euler).

use std::f64::consts::PI;
use std::sync::Arc;
use undine_core::glam::{DMat3, DVec3, Mat3, Vec3};
use undine_core::{Accessor, ChannelSpec, Combine, Handle, ParticleSystem};
use undine_schema::{Declaration, Dimension, Kind, Parameter, Type};
use undine_sim::action::force::implicit_kick;
use undine_sim::input::{Data, Geometry, PointCloud};
use undine_sim::offers::{Dofs, Embedded, Material, Port, Spatial};
use undine_sim::timeline::fastest;
use undine_sim::{
    Budget, Courant, Id, Ingest, Moment, Object, ObjectId, Offers, Result, SimError, Stage,
    StoreId, Tasks, World,
};

/// "There are particles."
pub const DECLARATION: Declaration = Declaration {
    name: "particles",
    kind: Kind::Object,
    doc: "Particles that fly, each a ball with a mass",
    about: "Each point of the input, or vertex of a mesh, becomes a particle, and `springs` follow its edges. Forces push it; \
            `springs` and `attachment` tie it to others; `collision` keeps it out of colliders. Channels of the input travel \
            along; `age` is the time since a particle was born. Without an input there are none until `emit` or \
            `transition` brings some.",
    parameters: &[
        Parameter::new("input", Type::Input, "the points to begin with; without it, none")
            .optional(),
        Parameter::vector("velocity", Dimension::VELOCITY, [0.0; 3], "velocity to begin with")
            .varies_by("v"),
        Parameter::number("radius", Dimension::LENGTH, 1e-3, "radius of a particle")
            .positive()
            .usually(1e-6, 1.0)
            .varies_by("pscale"),
        Parameter::number("density", Dimension::DENSITY, 1000.0, "density of what it is made of")
            .positive()
            .usually(0.1, 25_000.0)
            .varies_by("density"),
        Parameter::number(
            "voxel",
            Dimension::LENGTH,
            0.1,
            "size of voxels: particles are sorted by cubes of eight",
        )
        .positive()
        .usually(1e-4, 100.0)
        .resolution()
        .advanced(),
    ],
    example: "particles \"drops\" input=\"cloud\" radius=\"1 mm\"",
};

/// Particles in spatial order.
pub struct Particles {
    id: ObjectId,
    spatial: Spatial,
    own: Own,
}

/// What a particle takes with its channels, while it is put where it begins [bytes].
const BYTES_EACH: u64 = 224;

impl Object for Particles {
    fn create(ingest: &mut Ingest<'_>) -> Result<Vec<Self>> {
        let data = match ingest.optional_data("input")? {
            Some(data) if data.is_empty() => return Ok(Vec::new()),
            Some(data) => data,
            None => Arc::new(Data::points(Vec::new())),
        };
        if matches!(data.geometry, Geometry::Shape(_) | Geometry::LevelSet(_)) {
            let what = format!("particles begin as points, and this is {}", data.noun());
            return Err(ingest.bad("input", what, "make points of it first, with `scatter`"));
        }
        ingest.check_room("particles", data.elements(), BYTES_EACH)?;
        let placed = data.at(ingest.time)?;
        let cloud = &*placed.cloud()?;
        let values = ingest.values().of_object(&data.attributes);
        let initial = Initial {
            velocity: values.each_vector("velocity", cloud)?,
            radius: values.each_number("radius", cloud)?,
            density: values.each_number("density", cloud)?,
        };
        let domain = values.number("voxel")?;
        let domain = ingest.world.domain(domain)?;
        let particles = ParticleSystem::new(ingest.path, &ingest.world.domains[domain])?;
        let particles = ingest.world.particles.add(particles);
        let (spatial, own) = add_channels(&mut ingest.world.particles[particles], particles)?;
        let first = fill(ingest.world, domain, particles, cloud, &initial)?;
        let id = |place: u32| first + u64::from(place);
        let edges = cloud.edges.iter().map(|edge| edge.map(id)).collect();
        let offers = Offers {
            material: Some(Material::Spatial(spatial)),
            dofs: Some(Dofs::Particles(spatial)),
            boundary: Some(Embedded::Particles(spatial)),
            port: Some(Port { particles: spatial }),
            edges: Some(edges),
            ..Offers::default()
        };
        let id = ingest.offer(domain, data.attributes.clone(), offers);
        Ok(vec![Self { id, spatial, own }])
    }

    fn id(&self) -> ObjectId {
        self.id
    }

    fn tasks(&self, on: &mut Tasks<Self>) {
        let store = StoreId::from(self.spatial.particles);
        let key = |name| store.channel(name);
        on.task(Stage::Predict, "remember the start", Self::remember_the_start)
            .reads([key("v"), key("position")])
            .writes([key("v-before"), key("position-before")]);
        on.task(Stage::ClearForces, "clear forces", Self::clear_forces)
            .writes([key("force"), key("force-slope")]);
        // · Stage::AddForces        gravity, fields                      Forces
        // · Stage::AddDrag          drag, which knows what drives        Forces
        // · Stage::SolveSolids      springs, attachment                  Constraints
        on.task(Stage::SolveAlone, "take forces", Self::take_forces)
            .reads([key("force"), key("force-slope"), key("mass"), key("v-before")])
            .writes([key("v")]);
        on.task(Stage::Advance, "move", Self::advance).reads([key("v"), key("v-before")]).writes([
            key("position"),
            key("position-rest"),
            key("age"),
            key("step-share"),
        ]);
        // · Stage::Collide          bounce off colliders                 Operator
        on.task(Stage::Rebucket, "sort into Buckets", Self::rebucketize)
            .writes([store.everything()]);
    }

    fn budget(&self, world: &World) -> Result<Budget> {
        let Spatial { particles, velocity, mass, .. } = self.spatial;
        let domain = &world.domains[world.object(self.id).domain];
        let own = Budget::of_particles(domain, &world.particles[particles], velocity, mass)?;
        Ok(own.of_all(&**world.processes())?)
    }

    fn longest_step(&self, world: &World, courant: &Courant) -> Result<f64> {
        let particles = &world.particles[self.spatial.particles];
        let domain = &world.domains[world.object(self.id).domain];
        let speed = fastest(domain, particles, self.spatial.velocity)?;
        Ok(courant.longest_step(speed, domain.frame().voxel_size(0)))
    }

    fn output(&self) -> Vec<(Option<&'static str>, StoreId)> {
        vec![(None, self.spatial.particles.into())]
    }
}

/// Channels that are nobody else's.
struct Own {
    /// Time since birth [s].
    age: Handle<f32>,
    /// The part of this step that a particle flies.
    share: Handle<f32>,
    /// What rounding has left out of its position [m].
    left_over: Handle<Vec3>,
}

/// What particles begin with.
struct Initial {
    velocity: Vec<DVec3>,
    radius: Vec<f64>,
    density: Vec<f64>,
}

fn add_channels(particles: &mut ParticleSystem, id: Id<ParticleSystem>) -> Result<(Spatial, Own)> {
    let vector = |name: &'static str| ChannelSpec::new(name, Vec3::ZERO);
    let number = |name: &'static str| ChannelSpec::new(name, 0.0_f32);
    let spatial = Spatial {
        particles: id,
        velocity: particles.add_channel(&vector("v").unit("m/s").combine(Combine::Mean))?,
        mass: particles.add_channel(&number("mass").unit("kg").combine(Combine::Sum))?,
        radius: particles.add_channel(&number("pscale").unit("m").combine(Combine::Max))?,
        velocity_before: particles.add_channel(&vector("v-before").unit("m/s").transient())?,
        position_before: particles.add_channel(&vector("position-before").unit("m").transient())?,
        force: particles.add_channel(&vector("force").unit("N").transient())?,
        stiffness: particles
            .add_channel(&ChannelSpec::new("force-slope", Mat3::ZERO).unit("N/m").transient())?,
    };
    let age = particles.add_channel(&number("age").unit("s").combine(Combine::Max))?;
    // What rounding has left out of a position so far [m], so that short steps of slow particles add up (Kahan 1965).
    let left_over = particles.add_channel(&vector("position-rest").unit("m").internal())?;
    // The part of this step that a particle flies: less than 1 only in the one in which it is born.
    let share = particles.add_channel(&ChannelSpec::new("step-share", 1.0_f32).transient())?;
    Ok((spatial, Own { age, share, left_over }))
}

/// Channels of an input that particles give anew.
const NOT_TAKEN: &[&str] = &["id", "source-id", "step-share", "position-rest"];

/// Refuses masses that are none, also after rounding to what a channel holds.
fn check_masses(masses: &[f64]) -> Result<()> {
    match masses.iter().position(|&mass| !(mass as f32).is_normal() || mass < 0.0) {
        None => Ok(()),
        Some(n) => {
            let what = format!("particle {n} of the input would have a mass of {} kg", masses[n]);
            let help = "a mass has to be positive: look at `radius` and `density`, or at the channels `mass`, `pscale` and `density`";
            Err(SimError::setup("particles", what, help))
        }
    }
}

/// Puts particles at the points of the input, with the channels that it has; the first one's id.
fn fill(
    world: &mut World,
    domain: Id<undine_core::GridDomain>,
    id: Id<ParticleSystem>,
    cloud: &PointCloud,
    initial: &Initial,
) -> Result<u64> {
    let particles = &mut world.particles[id];
    let known = |particles: &ParticleSystem, name: &str| {
        particles.channels().infos().any(|info| info.name == name)
    };
    for name in cloud.numbers.keys() {
        if !known(particles, name) && !NOT_TAKEN.contains(&name.as_str()) {
            particles
                .add_channel(&ChannelSpec::new(name.clone(), 0.0_f32).combine(Combine::Mean))?;
        }
    }
    for name in cloud.vectors.keys() {
        if !known(particles, name) {
            particles
                .add_channel(&ChannelSpec::new(name.clone(), Vec3::ZERO).combine(Combine::Mean))?;
        }
    }
    let mut batch = particles.batch(&cloud.positions)?;
    for (name, values) in &cloud.numbers {
        if name == "mass" {
            check_masses(values)?;
        }
        if !NOT_TAKEN.contains(&name.as_str()) {
            let values: Vec<f32> = values.iter().map(|&value| value as f32).collect();
            batch.set(name, &values)?;
        }
    }
    for (name, values) in &cloud.vectors {
        batch.set(name, &values.iter().map(|value| value.as_vec3()).collect::<Vec<_>>())?;
    }
    let masses = initial.radius.iter().zip(&initial.density);
    let mass = |(radius, density): (&f64, &f64)| (4.0 / 3.0 * PI * radius.powi(3) * density) as f32;
    if !cloud.numbers.contains_key("mass") {
        let masses: Vec<f32> = masses.map(mass).collect();
        check_masses(&masses.iter().map(|&mass| f64::from(mass)).collect::<Vec<_>>())?;
        batch.set("mass", &masses)?;
    }
    batch.set("v", &initial.velocity.iter().map(|value| value.as_vec3()).collect::<Vec<_>>())?;
    batch.set("pscale", &initial.radius.iter().map(|&radius| radius as f32).collect::<Vec<_>>())?;
    // Every process has read the whole input.
    Ok(particles.append_same(&world.domains[domain], batch)?.start)
}

impl Particles {
    fn remember_the_start(&mut self, world: &mut World, _: &Moment) -> Result<()> {
        let Spatial { velocity, velocity_before, position_before, .. } = self.spatial;
        let particles = &world.particles[self.spatial.particles];
        let domain = &world.domains[world.object(self.id).domain];
        Accessor::new("remember the start", domain).over(particles.topology()).run(
            (
                (particles.own(velocity), particles.own(particles.position())),
                (particles.write(velocity_before), particles.write(position_before)),
            ),
            |_, ((velocity, position), (velocity_before, position_before))| {
                velocity_before.copy_from_slice(velocity);
                position_before.copy_from_slice(position);
            },
        )?;
        Ok(())
    }

    fn clear_forces(&mut self, world: &mut World, _: &Moment) -> Result<()> {
        let particles = &world.particles[self.spatial.particles];
        let domain = &world.domains[world.object(self.id).domain];
        Accessor::new("clear forces", domain).over(particles.topology()).run(
            (particles.write(self.spatial.force), particles.write(self.spatial.stiffness)),
            |_, (force, stiffness)| {
                force.fill(Vec3::ZERO);
                stiffness.fill(Mat3::ZERO);
            },
        )?;
        Ok(())
    }

    /// One Newton iteration of each particle that nothing couples to others.
    fn take_forces(&mut self, world: &mut World, now: &Moment) -> Result<()> {
        if world.object(self.id).coupled {
            return Ok(());
        }
        let Spatial { velocity, velocity_before, mass, force, stiffness, .. } = self.spatial;
        let particles = &world.particles[self.spatial.particles];
        let domain = &world.domains[world.object(self.id).domain];
        let largest = Accessor::new("take forces", domain).over(particles.topology()).reduce(
            (
                (particles.own(force), particles.own(stiffness), particles.own(mass)),
                (particles.own(velocity_before), particles.write(velocity)),
            ),
            |_, ((force, stiffness, mass), (before, velocity))| {
                let mut largest = 0.0_f64;
                for n in 0..velocity.len() {
                    let mass = f64::from(mass[n]);
                    let gained = velocity[n].as_dvec3() - before[n].as_dvec3();
                    let left = force[n].as_dvec3() - mass * gained / now.step;
                    let stiffness: DMat3 = stiffness[n].as_dmat3();
                    let kick = implicit_kick(left, stiffness, mass, now.step);
                    velocity[n] += kick.as_vec3();
                    largest = largest.max(kick.length_squared());
                }
                largest
            },
            f64::max,
        )?;
        world.largest_change = world.largest_change.max(largest.unwrap_or(0.0).sqrt());
        Ok(())
    }

    fn advance(&mut self, world: &mut World, now: &Moment) -> Result<()> {
        // By the mean of both velocities, or backward Euler's where the system has used that.
        let step = now.step as f32;
        let after = if world.object(self.id).coupled { 1.0 } else { 0.5 } * step;
        let before = step - after;
        let particles = &world.particles[self.spatial.particles];
        let domain = &world.domains[world.object(self.id).domain];
        Accessor::new("move", domain).over(particles.topology()).run(
            (
                (particles.own(self.spatial.velocity), particles.own(self.spatial.velocity_before)),
                (particles.write(particles.position()), particles.write(self.own.left_over)),
                (particles.write(self.own.age), particles.write(self.own.share)),
            ),
            |_, ((velocity, velocity_before), (position, left_over), (age, share))| {
                for (n, position) in position.iter_mut().enumerate() {
                    let moved = after * velocity[n] + before * velocity_before[n];
                    let wanted = share[n] * moved + left_over[n];
                    let start = *position;
                    *position += wanted;
                    left_over[n] = wanted - (*position - start);
                    age[n] += share[n] * step;
                    share[n] = 1.0;
                }
            },
        )?;
        Ok(())
    }

    fn rebucketize(&mut self, world: &mut World, _: &Moment) -> Result<()> {
        let domain = world.object(self.id).domain;
        world.particles[self.spatial.particles].rebucketize(&world.domains[domain])?;
        Ok(())
    }
}
