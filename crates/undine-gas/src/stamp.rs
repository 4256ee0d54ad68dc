//! Emission by stamping: in every step, cells and faces inside of a solid are given values.
//!
//! A cell that the solid covers in part takes on that part of the value: c = ½ − d/Δx, between 0 and 1, of the signed distance d at
//! its centre. The fluid gets the Buckets that it needs for that.

use crate::air::{bounded_solid, touched};
use std::sync::Arc;
use undine_core::glam::DVec3;
use undine_core::{Accessor, Frame, Handle};
use undine_geometry::{Pose, Solid, Twist};
use undine_schema::{Declaration, Dimension, Kind, Parameter, Setting, Type, Value};
use undine_sim::offers::{FineGrid, FluidField};
use undine_sim::{
    Ingest, Moment, ObjectId, Operator, Result, SimError, Stage, StoreId, Tasks, World,
};

/// "Smoke comes from here."
pub const DECLARATION: Declaration = Declaration {
    name: "stamp",
    kind: Kind::Operator,
    doc: "Brings smoke, heat and wind into air wherever a solid is",
    about: "In every step, what is inside of the input gets these values, in every fluid without particles in its scope. What the input \
            says of itself as a whole (`set` on a shape) goes to the channel of that name: `density`, `temperature`, `dye`. \
            There is no need for air around it: a `volume` gets the Buckets that it needs.",
    parameters: &[
        Parameter::new("input", Type::Input, "where it comes from: a shape, surface or level set"),
        Parameter::number("density", Dimension::NONE, 1.0, "density of smoke")
            .not_negative()
            .usually(0.0, 100.0)
            .varies_by("density"),
        Parameter::number(
            "temperature",
            Dimension::TEMPERATURE,
            293.15,
            "temperature; without it, as it is",
        )
        .positive()
        .usually(100.0, 5000.0)
        .varies_by("temperature")
        .optional(),
        Parameter::vector(
            "velocity",
            Dimension::VELOCITY,
            [0.0; 3],
            "velocity; without it, as it is",
        )
        .usually(-100.0, 100.0)
        .optional(),
        Parameter::number(
            "inherit",
            Dimension::NONE,
            1.0,
            "how much of the velocity of a moving input is added to `velocity`",
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
    ],
    example: "stamp input=\"ember\" temperature=\"600 K\"",
};

/// Brings smoke, heat and wind.
pub struct Stamp {
    path: String,
    on: Vec<On>,
    /// Nothing, while the input is empty.
    solid: Option<Arc<dyn Solid + Send>>,
    /// Its velocity [m/s], and the motion of the solid that is added to it.
    velocity: Option<(DVec3, Option<(Pose, Twist)>)>,
    wind: Option<Setting>,
    is_active: bool,
    active: Option<Setting>,
    window: [f64; 2],
    /// Whether it was looked whether it touches anything.
    is_checked: bool,
}

/// A fluid, and what its channels are given.
struct On {
    object: ObjectId,
    field: FluidField,
    /// Where its channels of numbers are.
    cargo: FineGrid,
    values: Vec<(Handle<f32>, f32)>,
}

impl Operator for Stamp {
    fn create(ingest: &mut Ingest<'_>, scope: &[ObjectId]) -> Result<Option<Self>> {
        let fluid = |object: &ObjectId| {
            let entry = ingest.world.object(*object);
            let field = entry.offers.fluid?;
            let cargo = field.cargo(entry.domain);
            let on = On { object: *object, field, cargo, values: Vec::new() };
            field.particles.is_none().then_some(on)
        };
        let on: Vec<On> = scope.iter().filter_map(fluid).collect();
        if on.is_empty() {
            tracing::warn!(
                "{}: there is no fluid without particles in its scope, so that nothing comes; put it into the Group of a `volume`",
                ingest.path
            );
            return Ok(None);
        }
        let mut stamp = Self {
            path: ingest.path.to_owned(),
            on,
            solid: None,
            velocity: None,
            wind: None,
            is_active: true,
            active: None,
            window: [f64::NEG_INFINITY, f64::INFINITY],
            is_checked: false,
        };
        stamp.update(ingest)?;
        Ok(Some(stamp))
    }

    fn update(&mut self, ingest: &mut Ingest<'_>) -> Result<()> {
        let data = ingest.data("input")?;
        let values = ingest.values().of_object(&data.attributes);
        self.solid = bounded_solid(ingest, "input", self.solid.take())?;
        self.is_active = values.flag("active")?;
        self.window = [
            values.optional_number("start")?.unwrap_or(f64::NEG_INFINITY),
            values.optional_number("end")?.unwrap_or(f64::INFINITY),
        ];
        if self.window[0] > self.window[1] {
            let [start, end] = self.window;
            let what = format!("it ends at {end} s, before it begins at {start} s");
            return Err(ingest.bad("end", what, "let it end later, or begin earlier"));
        }
        let inherit = values.number("inherit")?;
        let motion = data.motion.as_ref().filter(|_| inherit != 0.0).map(|motion| {
            let Twist { linear, angular } = motion.twist(ingest.time);
            let twist = Twist { linear: inherit * linear, angular: inherit * angular };
            (motion.pose(ingest.time), twist)
        });
        self.velocity = values.optional_vector("velocity")?.map(|velocity| (velocity, motion));
        let setting = |name: &str| ingest.scope.setting(name, None).map(|(setting, _)| setting);
        (self.wind, self.active) = (setting("velocity"), setting("active"));
        for on in &mut self.on {
            let volume = &ingest.world.volumes[on.cargo.volume];
            let handle = |name: &str| volume.handle::<f32>(name).ok();
            on.values.clear();
            on.values.extend(handle("density").zip(Some(values.number("density")? as f32)));
            let temperature = values.optional_number("temperature")?.map(|t| t as f32);
            on.values.extend(handle("temperature").zip(temperature));
            for (name, value) in &data.attributes {
                let number = match value {
                    Value::Number(number) => *number,
                    Value::Integer(number) => *number as f64,
                    _ => continue,
                };
                if !["density", "temperature"].contains(&name.as_str()) {
                    on.values.extend(handle(name).zip(Some(number as f32)));
                }
            }
        }
        Ok(())
    }

    fn brings(&self, times: [f64; 2]) -> Option<Vec<(ObjectId, f64)>> {
        let [from, to] = times.map(|time| time.clamp(self.window[0], self.window[1]));
        let is_active = self.active.as_ref().is_none_or(|active| active.is_ever(from, to));
        let Some((_, motion)) = self.velocity.filter(|_| from < to && is_active) else {
            return Some(Vec::new());
        };
        let bounds = self.solid.as_ref().and_then(|solid| solid.bounds());
        let carried = motion.zip(bounds).map_or(0.0, |((pose, twist), bounds)| {
            let speed = |at: DVec3| twist.at(at - pose.translation).length();
            bounds.corners().into_iter().map(speed).fold(0.0, f64::max)
        });
        let speed = self.wind.as_ref().map_or(0.0, |wind| wind.largest(from, to)) + carried;
        let comes = self.solid.is_some();
        Some(self.on.iter().filter(|_| comes).map(|on| (on.object, speed)).collect())
    }

    fn tasks(&self, on: &mut Tasks<Self>) {
        let mut stores: Vec<StoreId> = self
            .on
            .iter()
            .flat_map(|on| [on.field.volume, on.cargo.volume])
            .map(Into::into)
            .collect();
        stores.sort_unstable();
        stores.dedup();
        // Several may do this in turn.
        on.task(Stage::GroupEnter, "stamp", Self::stamp)
            .accumulates(stores.iter().map(|store| store.everything()));
    }
}

impl Stamp {
    fn stamp(&mut self, world: &mut World, now: &Moment) -> Result<()> {
        let end = now.time + now.step;
        let flows = self.is_active && self.window[0] <= end && now.time < self.window[1];
        let Some(solid) = self.solid.clone().filter(|_| flows) else { return Ok(()) };
        for on in &self.on {
            let own = FineGrid { volume: on.field.volume, domain: world.object(on.object).domain };
            let grids = [Some(own), on.field.fine];
            for FineGrid { volume, domain } in grids.into_iter().flatten() {
                let domain = &world.domains[domain];
                let wanted = touched(domain, &*solid)?;
                let volume = &mut world.volumes[volume];
                let all = volume.topology().all().union(&wanted);
                if all != *volume.topology().all() {
                    let topology = domain.subset(&all)?;
                    volume.follow(&topology)?;
                }
            }
            let covered = on.fill(world, &*solid, self.velocity)?;
            if covered == 0.0 && !self.is_checked {
                let voxel = world.domains[world.object(on.object).domain].frame().voxel_size(0);
                let what = format!(
                    "it touches no cell of `{}`, whose voxels are {voxel} m wide",
                    world.object(on.object).path
                );
                let help = "make it larger than a voxel, or the voxels smaller";
                return Err(SimError::setup(format!("{}.input", self.path), what, help));
            }
        }
        self.is_checked = true;
        Ok(())
    }
}

impl On {
    /// Gives cells and faces inside of a solid their values; how many cells it covers. Collective.
    fn fill(
        &self,
        world: &World,
        solid: &dyn Solid,
        velocity: Option<(DVec3, Option<(Pose, Twist)>)>,
    ) -> Result<f64> {
        let domain = &world.domains[self.cargo.domain];
        let volume = &world.volumes[self.cargo.volume];
        let cover = Cover::new(solid, domain.frame());
        let accessor = Accessor::new("stamp", domain).over(volume.topology());
        // Any channel will do to visit its Buckets.
        let any = match self.field.fine {
            Some(_) => volume.handle::<f32>("density")?,
            None => self.field.density,
        };
        let shares: Vec<Vec<f32>> = accessor.map(volume.own(any), |here, _| {
            let corner = domain.frame().corner(here.bucket);
            let share = |n: usize| cover.at(corner + cover.voxel * (place(n) + 0.5));
            if cover.is_near(corner) { (0..512).map(share).collect() } else { Vec::new() }
        })?;
        for (channel, wanted) in &self.values {
            accessor.run(volume.write(*channel), |here, values| {
                for (value, share) in values.iter_mut().zip(&shares[here.slot as usize]) {
                    *value += share * (wanted - *value);
                }
            })?;
        }
        if let Some((flow, motion)) = velocity {
            let domain = &world.domains[world.object(self.object).domain];
            let volume = &world.volumes[self.field.volume];
            let cover = Cover::new(solid, domain.frame());
            let through = |at: DVec3| {
                let carried = motion.map(|(pose, twist)| twist.at(at - pose.translation));
                flow + carried.unwrap_or(DVec3::ZERO)
            };
            let faces = self.field.velocity.faces.map(|face| volume.write(face));
            let accessor = Accessor::new("stamp", domain).over(volume.topology());
            accessor.run(faces, |here, faces| {
                let corner = domain.frame().corner(here.bucket);
                if !cover.is_near(corner) {
                    return;
                }
                for (axis, faces) in faces.into_iter().enumerate() {
                    let middle = DVec3::splat(0.5) - 0.5 * DVec3::AXES[axis];
                    for (n, face) in faces.iter_mut().enumerate() {
                        let at = corner + cover.voxel * (place(n) + middle);
                        *face += cover.at(at) * (through(at)[axis] as f32 - *face);
                    }
                }
            })?;
        }
        let covered = shares.iter().flatten().map(|share| f64::from(*share)).sum::<f64>();
        let mut sums = [covered];
        domain.processes().all_sum_f64s(&mut sums)?;
        Ok(sums[0])
    }
}

/// How much of voxels a solid covers.
struct Cover<'a> {
    solid: &'a dyn Solid,
    /// The size of voxels [m].
    voxel: f64,
}

impl<'a> Cover<'a> {
    fn new(solid: &'a dyn Solid, frame: &Frame) -> Self {
        Self { solid, voxel: frame.voxel_size(0) }
    }

    /// The share of a voxel around a place.
    fn at(&self, at: DVec3) -> f32 {
        (0.5 - self.solid.distance(at) / self.voxel).clamp(0.0, 1.0) as f32
    }

    /// Whether the Bucket with this corner can have any of it.
    fn is_near(&self, corner: DVec3) -> bool {
        let reach = self.voxel * (0.5 + 0.5 * 3.0_f64.sqrt() * 9.0);
        self.solid.distance(corner + 4.0 * self.voxel) <= reach
    }
}

/// The first corner of a voxel, from that of its Bucket [voxels].
fn place(n: usize) -> DVec3 {
    DVec3::new((n >> 6) as f64, (n >> 3 & 7) as f64, (n & 7) as f64)
}
