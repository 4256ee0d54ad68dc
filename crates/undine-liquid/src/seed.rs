//! The liquid to begin with: particles that fill shapes, closed surfaces and level sets, or points as they are.
//!
//! All particles of a solid have the mass of the volume that each stands for, so that together they have the mass of the solid
//! but for what chance decides at its surface. Where that is more than a percent, each has its part of the solid's mass instead.

use crate::volume::volume;
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::ops::Range;
use undine_core::glam::{DVec3, Vec3};
use undine_core::mesh::Surface;
use undine_core::{Bucket, ChannelSpec, Combine, Frame, GridDomain, MemoryBudget, ParticleSystem};
use undine_fluid::fill::{DeepCells, Fill, Room, Seeding, fill};
use undine_geometry::meshing::weld;
use undine_geometry::winding::{Orientation, orientation};
use undine_geometry::{MassProperties, Triangles, Twist, random};
use undine_sim::input::{Data, Geometry, PointCloud};
use undine_sim::{Ingest, Result, SimError};

/// Particles to begin with, and what they have.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Initial {
    /// The Bucket of each.
    pub buckets: Vec<Bucket>,
    /// Its offset from the Bucket's corner [m].
    pub offsets: Vec<Vec3>,
    /// Velocity [m/s].
    pub velocities: Vec<Vec3>,
    /// Mass [kg].
    pub masses: Vec<f32>,
    /// Channels of numbers that points of the input have beside these.
    pub numbers: BTreeMap<String, Vec<f32>>,
    /// Channels of vectors that points of the input have beside these.
    pub vectors: BTreeMap<String, Vec<Vec3>>,
    /// Where cells are full of liquid that has no particles.
    pub deep: Vec<DeepCells>,
    /// How that moves.
    pub moving: Moving,
}

/// How a solid moves that becomes liquid.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Moving {
    /// Velocity beside the twist [m/s].
    pub velocity: DVec3,
    /// The place that it turns about [m].
    pub about: DVec3,
    /// How it goes on and turns.
    pub twist: Twist,
}

impl Moving {
    /// The velocity at a place [m/s].
    pub fn at(&self, place: DVec3) -> DVec3 {
        self.velocity + self.twist.at(place - self.about)
    }
}

/// What a particle of a liquid takes, with its share of the grid [bytes]: 80 of channels, 25 of the grid at 8 to a cell, and what
/// the steps and the solve need beside.
pub const BYTES_EACH: u64 = 160;

/// So many particles are put into their Buckets at once: few, beside all there are, have to be held twice.
const PORTION: usize = 1 << 17;

/// Channels of points that a liquid has of its own.
const OWN: &[&str] = &[
    "id",
    "source-id",
    "v",
    "mass",
    "pscale",
    "position",
    "position-before",
    "position-rest",
    "step-share",
];

/// The liquid that the input of a Behavior holds at the time of the Ingest; none without an input, and none of an empty one.
///
/// Reads the parameters `input`, `velocity`, `density`, `seeding` and `per-axis`. On several processes each gets its part of
/// the particles, in the order of ranks. Cells of a solid that are
/// farther under its surface than `shell` cells have no particles.
pub fn initial(ingest: &Ingest<'_>, domain: &GridDomain, shell: Option<u32>) -> Result<Initial> {
    let Some(data) = ingest.optional_data("input")? else { return Ok(Initial::default()) };
    if data.is_empty() {
        return Ok(Initial::default());
    }
    let values = ingest.values().of_object(&data.attributes);
    let per_axis = values.integer("per-axis")? as u32;
    let processes = domain.processes();
    let path = ingest.path.bytes().fold(0, |sum, byte| random::bits(sum, u64::from(byte)));
    let fill = Fill {
        per_axis,
        how: match values.text("seeding")?.as_str() {
            "poisson" => Seeding::Poisson,
            "lattice" => Seeding::Lattice,
            _ => Seeding::Jittered,
        },
        seed: path,
        part: [processes.rank(), processes.count()],
        shell,
    };
    let density = values.number("density")?;
    if let Geometry::Points(_) = data.geometry {
        let placed = data.at(ingest.time)?;
        let cloud = &*placed.cloud()?;
        let velocities = values.each_vector("velocity", cloud)?;
        let mass = density * fill.volume_each(domain.frame().voxel_size(0));
        return of_points(cloud, &velocities, mass, domain.frame(), fill.part)
            .map_err(|why| ingest.input_fault("input", why));
    }
    let velocity = values.vector("velocity")?;
    let liquid = Liquid { density, velocity, fill };
    let made = of_solid(&data, ingest.time, &liquid, domain.frame(), domain.budget());
    let mut made =
        made.map_err(|why| why.told_of(|parameter| format!("{}.{parameter}", ingest.path)))?;
    // A process may have none of a small liquid, but not all of them.
    let counts = processes.all_gather(&[u8::from(made.is_empty())])?;
    if counts.iter().all(|none| *none == [1]) {
        let what = "there is no liquid in it: not one particle lies inside";
        return Err(ingest.bad("input", what, "use smaller voxels, or a larger solid"));
    }
    made.keep_volume(&data, ingest.time, &liquid, domain)?;
    Ok(made)
}

/// How far the volume of particles may be from that of their solid, as a part of it.
const OFF: f64 = 0.01;

/// So many particles fill a solid well by chance: what it decides is of the order of the root of their number.
const MANY: u64 = 30_000;

/// What a solid is filled with.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Liquid {
    /// Density [kg/m³].
    pub density: f64,
    /// Velocity beside that of a moving solid [m/s].
    pub velocity: DVec3,
    /// How densely, and where.
    pub fill: Fill,
}

/// Fills the inside of some data at a time [s].
///
/// Refuses what has no inside, no end or nothing in it, a surface that is open or inside out, and more than there is memory for;
/// the path of a refusal is the parameter to change, `input` or `voxel`.
pub fn of_solid(
    data: &Data,
    time: f64,
    liquid: &Liquid,
    frame: &Frame,
    budget: &MemoryBudget,
) -> Result<Initial> {
    if let Geometry::Surface(surface) = &data.geometry {
        check_closed(surface)?;
    }
    let solid = data.solid(time)?;
    let room = Room { budget, bytes_each: BYTES_EACH };
    let filled = fill(&*solid, frame, &liquid.fill, room)?;
    let voxel = frame.voxel_size(0);
    if filled.offsets.is_empty() && liquid.fill.part[1] == 1 {
        let across = solid.bounds().map_or(DVec3::ZERO, |bounds| bounds.size());
        let what = format!(
            "there is no liquid in it: it is {:.3e} by {:.3e} by {:.3e} m large, and not one particle of a voxel of {voxel} m lies inside",
            across.x, across.y, across.z,
        );
        return Err(SimError::setup("input", what, "use smaller voxels, or a larger solid"));
    }
    let mass = liquid.density * filled.volume_each;
    check_mass(mass, || format!("a particle of a voxel of {voxel} m"))?;
    let motion = data.motion.as_ref();
    let moving = Moving {
        velocity: liquid.velocity,
        about: motion.map_or(DVec3::ZERO, |motion| motion.pose(time).translation),
        twist: motion.map_or_else(Twist::default, |motion| motion.twist(time)),
    };
    let velocity =
        |(&bucket, &offset): (&Bucket, &Vec3)| moving.at(frame.world(bucket, offset)).as_vec3();
    let places = filled.buckets.par_iter().zip(&filled.offsets);
    Ok(Initial {
        velocities: places.map(velocity).collect(),
        masses: vec![mass as f32; filled.offsets.len()],
        buckets: filled.buckets,
        offsets: filled.offsets,
        deep: filled.deep,
        moving,
        ..Initial::default()
    })
}

/// Takes points as they are: with their channel `mass`, or else with this mass [kg]. `part` is that of this process, and how many
/// processes there are.
pub fn of_points(
    cloud: &PointCloud,
    velocities: &[DVec3],
    mass: f64,
    frame: &Frame,
    part: [usize; 2],
) -> Result<Initial> {
    let count = cloud.positions.len();
    let [from, to] = [part[0], part[0] + 1].map(|end| count * end / part[1].max(1));
    let here = from..to;
    let place = |n: usize| frame.locate(cloud.positions[n], 0, &format!("point {n} of the input"));
    let places: Vec<(Bucket, Vec3)> = here.clone().map(|n| Ok(place(n)?)).collect::<Result<_>>()?;
    let masses: Vec<f64> = match cloud.numbers.get("mass") {
        Some(masses) => masses[here.clone()].to_vec(),
        None => vec![mass; here.len()],
    };
    for (n, &mass) in here.clone().zip(&masses) {
        check_mass(mass, || format!("point {n} of the input"))?;
    }
    let (buckets, offsets) = places.into_iter().unzip();
    let others = |name: &&String| !OWN.contains(&name.as_str());
    let numbers = cloud.numbers.iter().filter(|(name, _)| others(name)).map(|(name, all)| {
        (name.clone(), all[here.clone()].iter().map(|&number| number as f32).collect())
    });
    let vectors = cloud.vectors.iter().filter(|(name, _)| others(name)).map(|(name, all)| {
        (name.clone(), all[here.clone()].iter().map(|vector| vector.as_vec3()).collect())
    });
    Ok(Initial {
        buckets,
        offsets,
        velocities: velocities[here.clone()].iter().map(|v| v.as_vec3()).collect(),
        masses: masses.iter().map(|&mass| mass as f32).collect(),
        numbers: numbers.collect(),
        vectors: vectors.collect(),
        ..Initial::default()
    })
}

impl Initial {
    /// Gives particles the mass of their solid, if what they stand for is far from its volume. Collective.
    fn keep_volume(
        &mut self,
        data: &Data,
        time: f64,
        liquid: &Liquid,
        domain: &GridDomain,
    ) -> Result<()> {
        let voxel = domain.frame().voxel_size(0);
        let words = self.deep.iter().flat_map(|deep| deep.cells);
        let deep: u64 = words.map(|word| u64::from(word.count_ones())).sum();
        let count = domain.processes().all_sum_u64(self.len() as u64)?;
        let deep = domain.processes().all_sum_u64(deep)? as f64 * voxel.powi(3);
        // A lattice leaves nothing to chance, and may miss half of a layer however many it has.
        let measured = count < MANY || liquid.fill.how == Seeding::Lattice;
        let Some(volume) = volume(data, time, measured)? else { return Ok(()) };
        let filled = count as f64 * liquid.fill.volume_each(voxel);
        let each = liquid.density * (volume - deep) / count as f64;
        let is_near = (filled + deep - volume).abs() <= OFF * volume;
        if !is_near && (each as f32).is_normal() && each > 0.0 {
            self.masses.fill(each as f32);
        }
        Ok(())
    }

    /// How many particles this process begins with.
    pub fn len(&self) -> usize {
        self.offsets.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.offsets.is_empty()
    }

    /// Puts them into a Particle System that has channels `v` and `mass`; channels that only they have are added. `radius`, if
    /// there is a channel `pscale`, is that of a ball of each one's volume at this density [kg/m³]. Their ids. Collective.
    pub fn append_to(
        &self,
        domain: &GridDomain,
        particles: &mut ParticleSystem,
        density: f64,
    ) -> Result<Range<u64>> {
        for name in self.numbers.keys() {
            if !has(particles, name) {
                particles.add_channel(&ChannelSpec::new(name, 0.0_f32).combine(Combine::Mean))?;
            }
        }
        for name in self.vectors.keys() {
            if !has(particles, name) {
                particles
                    .add_channel(&ChannelSpec::new(name, Vec3::ZERO).combine(Combine::Mean))?;
            }
        }
        // On several processes ids go by rank, so that each has to bring all of its own at once.
        let portion = if domain.processes().count() == 1 { PORTION } else { self.len().max(1) };
        let end = |from: usize| self.len().min(from + portion);
        let mut ids = self.append_part(0..end(0), domain, particles, density)?;
        for from in (portion..self.len()).step_by(portion) {
            ids.end = self.append_part(from..end(from), domain, particles, density)?.end;
        }
        Ok(ids)
    }

    fn append_part(
        &self,
        part: Range<usize>,
        domain: &GridDomain,
        particles: &mut ParticleSystem,
        density: f64,
    ) -> Result<Range<u64>> {
        let masses = &self.masses[part.clone()];
        let buckets = self.buckets[part.clone()].to_vec();
        let mut batch = particles.batch_in(buckets, &self.offsets[part.clone()])?;
        batch.set("v", &self.velocities[part.clone()])?;
        batch.set("mass", masses)?;
        if has(particles, "pscale") {
            let radius = |&mass: &f32| radius_of(f64::from(mass) / density) as f32;
            batch.set("pscale", &masses.iter().map(radius).collect::<Vec<f32>>())?;
        }
        for (name, values) in &self.numbers {
            batch.set(name, &values[part.clone()])?;
        }
        for (name, values) in &self.vectors {
            batch.set(name, &values[part.clone()])?;
        }
        Ok(particles.append(domain, batch)?)
    }
}

/// Whether there is a channel of this name.
fn has(particles: &ParticleSystem, name: &str) -> bool {
    particles.channels().infos().any(|info| info.name == name)
}

/// The radius [m] of a ball of a volume [m³].
pub fn radius_of(volume: f64) -> f64 {
    (0.75 / std::f64::consts::PI * volume).cbrt()
}

/// Refuses a mass that is none, also after rounding to what a channel holds.
fn check_mass(mass: f64, whose: impl Fn() -> String) -> Result<()> {
    if mass > 0.0 && (mass as f32).is_normal() {
        return Ok(());
    }
    let what = format!("{} would have a mass of {mass:e} kg", whose());
    let help = "a mass has to be positive: look at `density` and `voxel`, or at the channel `mass`";
    Err(SimError::setup("input", what, help))
}

/// Vertices nearer than this part of the surface's size are one: files often have a corner once for each of its faces.
const WELD: f64 = 1e-7;

/// Refuses a surface that encloses nothing: an open one, and one that is inside out.
fn check_closed(surface: &Surface) -> Result<()> {
    let Some(welded) = welded(surface)? else { return Ok(()) };
    let wrong = |what: String, help: &str| Err(SimError::setup("input", what, help));
    if let Some([a, b]) = open_edge(&welded) {
        let what = format!(
            "this surface has a hole, so that it has no inside to fill: the edge from {a:.4} to {b:.4} m has a face on one side only"
        );
        return wrong(what, "close it, or put `to-distance` after it, which closes holes");
    }
    if orientation(&welded) == Orientation::Inwards {
        let volume = MassProperties::enclosed(welded.iter()).volume;
        let what = format!("this surface is inside out: it encloses {volume:.3e} m³");
        return wrong(what, "turn its faces over, so that they look outwards");
    }
    Ok(())
}

/// An edge [m] of a surface that has a face on one side only, where there is one: it has a hole.
pub fn hole(surface: &Surface) -> Result<Option<[DVec3; 2]>> {
    Ok(welded(surface)?.as_ref().and_then(open_edge))
}

/// The triangles of a surface, with one vertex for each corner; nothing of one that has none.
fn welded(surface: &Surface) -> Result<Option<Triangles>> {
    let triangles = Triangles::of_surface(surface)?;
    let Some(bounds) = triangles.bounds() else { return Ok(None) };
    Ok(Some(weld(&triangles, WELD * bounds.size().max_element())?.mesh))
}

/// The first edge along which not as many triangles run one way as the other.
fn open_edge(mesh: &Triangles) -> Option<[DVec3; 2]> {
    let mut balance: BTreeMap<[u32; 2], i32> = BTreeMap::new();
    for &[a, b, c] in mesh.indices() {
        for [from, to] in [[a, b], [b, c], [c, a]] {
            let (edge, way) = if from < to { ([from, to], 1) } else { ([to, from], -1) };
            *balance.entry(edge).or_default() += way;
        }
    }
    let (edge, _) = balance.into_iter().find(|(_, balance)| *balance != 0)?;
    Some(edge.map(|vertex| mesh.positions()[vertex as usize]))
}
