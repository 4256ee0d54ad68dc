//! Where air is: Buckets that solids touch, around Objects, and where smoke, heat or what else it carries is.

use super::channels::Channels;
use super::declaration::Settings;
use super::fine::parents;
use std::sync::Arc;
use undine_core::glam::DVec3;
use undine_core::mesh::Bounds;
use undine_core::{Accessor, BucketSet, GridDomain};
use undine_geometry::Solid;
use undine_sim::offers::{Embedded, FineGrid, Material, Offers};
use undine_sim::world::ChannelKey;
use undine_sim::{Id, Ingest, Moment, ObjectId, Result, StoreId, World};

/// What the scene says of where air is.
pub struct Region {
    /// Where it is all the time.
    always: Option<Arc<dyn Solid + Send>>,
    /// Beyond which it never is.
    within: Option<Arc<dyn Solid + Send>>,
    /// Objects that it is around.
    around: Vec<ObjectId>,
}

/// What a Bucket takes in tables, while there is nothing in it yet [bytes].
const BYTES_OF_BUCKET: u64 = 160;

/// How far a Bucket's corners are from its centre, in Bucket sizes.
const HALF_DIAGONAL: f64 = 0.866_025_403_784_438_7;

impl Region {
    /// That of a Behavior, at this moment; as it was before, where nothing moves.
    pub fn of(ingest: &Ingest<'_>, before: Option<&Self>) -> Result<Self> {
        let always = bounded_solid(ingest, "input", before.and_then(|it| it.always.clone()))?;
        let within = bounded_solid(ingest, "within", before.and_then(|it| it.within.clone()))?;
        if let Some(before) = before {
            return Ok(Self { always, within, around: before.around.clone() });
        }
        let named = ingest.values().optional_text("around")?;
        let around = match &named {
            Some(path) => (ingest.targets)(path),
            None => Vec::new(),
        };
        let has_place = |object: &ObjectId| has_place(&ingest.world.object(*object).offers);
        let is_disabled = around.is_empty() && always.is_some();
        if named.is_some() && !around.iter().any(has_place) && !is_disabled {
            let what = "nothing there has a place to be around";
            let help = "name an Object with points or a solid: curves, particles, a body, a collider, a liquid";
            return Err(ingest.bad("around", what, help));
        }
        Ok(Self { always, within, around })
    }

    /// Channels that say where Objects are.
    pub fn reads(&self, world: &World) -> Vec<ChannelKey> {
        let stores = self.around.iter().flat_map(|object| stores(&world.object(*object).offers));
        stores.map(|store| store.channel("position")).collect()
    }

    /// The Buckets in which there is air, on all processes, given those that [have what is followed](followed). Collective.
    pub fn buckets(
        &self,
        world: &World,
        domain: &GridDomain,
        channels: &Channels,
        settings: &Settings,
        smoke: &BucketSet,
        now: &Moment,
    ) -> Result<BucketSet> {
        let mut wanted = match channels.fine {
            Some(_) => parents(smoke)?,
            None => smoke.clone(),
        };
        if let Some(solid) = &self.always {
            wanted = wanted.union(&touched(domain, &**solid)?);
        }
        for object in &self.around {
            wanted = wanted.union(&near(world, domain, *object, now)?);
        }
        if !wanted.is_empty() {
            // Buckets around a single one, which are there at least, are too many to list where room is short.
            let wide = 2 * u64::from(settings.padding) + 1;
            let what = format!("air around what is in it, by `padding` {}", settings.padding);
            domain.budget().check(&what, wide.pow(3).saturating_mul(BYTES_OF_BUCKET))?;
        }
        self.limit(domain, wanted.dilate(settings.padding)?)
    }

    /// Buckets without those that are beyond the limit.
    pub fn limit(&self, domain: &GridDomain, buckets: BucketSet) -> Result<BucketSet> {
        match &self.within {
            Some(solid) => Ok(buckets.intersection(&touched(domain, &**solid)?)),
            None => Ok(buckets),
        }
    }
}

/// The solid that a parameter names, which has to end somewhere; the one that it was before, where it does not change.
pub fn bounded_solid(
    ingest: &Ingest<'_>,
    parameter: &str,
    before: Option<Arc<dyn Solid + Send>>,
) -> Result<Option<Arc<dyn Solid + Send>>> {
    let Some(name) = ingest.values().optional_text(parameter)? else { return Ok(None) };
    if before.is_some() && !ingest.inputs.changes(&name) && ingest.data(parameter)?.motion.is_none()
    {
        return Ok(before);
    }
    let solid = ingest.optional_solid(parameter)?;
    if solid.as_ref().is_some_and(|solid| solid.bounds().is_none()) {
        let help = "name a solid with an end: without `invert`, and no plane";
        return Err(ingest.bad(parameter, "it goes on without end", help));
    }
    Ok(solid)
}

/// The Buckets with smoke, heat or what else the scene names, of the grid that has those, on all processes. Collective.
pub fn followed(
    world: &World,
    domain: Id<GridDomain>,
    channels: &Channels,
    settings: &Settings,
) -> Result<BucketSet> {
    let FineGrid { volume, domain } = channels.field.cargo(domain);
    let (volume, domain) = (&world.volumes[volume], &world.domains[domain]);
    let (least, heat) = (settings.threshold as f32, settings.threshold_heat as f32);
    let ambient = volume.column(channels.temperature)?.background();
    let accessor = Accessor::new("find smoke", domain).over(volume.topology());
    let mut found = accessor.map(
        (volume.own(channels.smoke), volume.own(channels.temperature)),
        |here, (smoke, temperature)| {
            let smoke = smoke.iter().fold(0.0_f32, |most, smoke| most.max(*smoke));
            let differs = |most: f32, t: &f32| most.max((t - ambient).abs());
            let is_wanted = smoke >= least || temperature.iter().fold(0.0, differs) >= heat;
            is_wanted.then(|| here.bucket.key())
        },
    )?;
    for named in channels.named() {
        found.extend(accessor.map(volume.own(*named), |here, values| {
            let is_wanted = values.iter().any(|value| value.abs() >= least);
            is_wanted.then(|| here.bucket.key())
        })?);
    }
    let own = BucketSet::from_keys(found.into_iter().flatten().collect());
    Ok(domain.subset(&own)?.all().clone())
}

/// The Buckets that a solid touches.
pub fn touched(domain: &GridDomain, solid: &dyn Solid) -> Result<BucketSet> {
    let Some(bounds) = solid.bounds() else { return Ok(BucketSet::new()) };
    let frame = domain.frame();
    let all = domain.buckets_in_box(bounds.min, bounds.max, 0)?;
    let reach = HALF_DIAGONAL * frame.bucket_size(0);
    let near = all.buckets().filter(|bucket| solid.distance(frame.centre(*bucket)) <= reach);
    Ok(BucketSet::from_buckets(near)?)
}

/// The Buckets that an Object is in. Collective.
fn near(world: &World, domain: &GridDomain, object: ObjectId, now: &Moment) -> Result<BucketSet> {
    let offers = &world.object(object).offers;
    let mut buckets = BucketSet::new();
    let in_box = |bounds: &Bounds| domain.buckets_in_box(bounds.min, bounds.max, 0);
    for store in stores(offers) {
        match store {
            StoreId::Points(id) => {
                let points = &world.points[id];
                let positions: Vec<DVec3> = points.column(points.position())?.to_vec();
                buckets = buckets.union(&domain.buckets_at_points(&positions[..points.len()], 0)?);
            }
            StoreId::Particles(id) => {
                let topology = world.particles[id].topology();
                buckets = buckets.union(&covered(domain, topology)?);
            }
            StoreId::Volume(id) => {
                let topology = world.volumes[id].topology();
                buckets = buckets.union(&covered(domain, topology)?);
            }
            StoreId::Elements(_) => {}
        }
    }
    let collider = offers.collider.and_then(|id| world.colliders[id].as_ref());
    if let Some(collider) = collider
        && let Some(bounds) = collider.during(now.time, now.time + now.step)?.bounds()
    {
        buckets = buckets.union(&in_box(&bounds)?);
    }
    Ok(buckets)
}

/// The Buckets of a Domain that those of another one cover.
fn covered(domain: &GridDomain, topology: &undine_core::Topology) -> Result<BucketSet> {
    let frame = topology.frame();
    if frame == domain.frame() {
        return Ok(topology.all().clone());
    }
    let mut buckets = BucketSet::new();
    for bucket in topology.all().buckets() {
        let (corner, size) = (frame.corner(bucket), frame.bucket_size(bucket.level));
        buckets = buckets.union(&domain.buckets_in_box(corner, corner + size, 0)?);
    }
    Ok(buckets)
}

/// Whether an Object has a place.
fn has_place(offers: &Offers) -> bool {
    offers.collider.is_some() || !stores(offers).is_empty()
}

/// The stores that say where an Object is.
fn stores(offers: &Offers) -> Vec<StoreId> {
    let mut stores: Vec<StoreId> = Vec::new();
    stores.extend(offers.material.as_ref().map(Material::store));
    stores.extend(offers.boundary.as_ref().map(Embedded::store));
    if let Some(fluid) = &offers.fluid {
        stores.push(fluid.particles.map_or(fluid.volume.into(), |on| on.particles.into()));
    }
    stores.sort_unstable();
    stores.dedup();
    stores
}
