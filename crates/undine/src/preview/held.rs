//! A World as a picture sees it: its channels claimed for reading, and lent to what is drawn. Nothing is copied.
//!
//! Of several processes, the first draws: the particles of all are brought there, with what a picture needs of them. Of smoke it
//! would see its own part alone, and so draws none.

use super::colours;
use super::contents::{
    Cloud, ColourBy, Contents, EXTINCTION, Role, Solid, Strings, called, is_size, is_velocity,
};
use crate::frames::{FrameError, skins};
use crate::shapes::{Placed, ShapeKind};
use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;
use undine_core::channel::{ChannelInfo, ChannelRef, ChannelSet, Flat, Layout};
use undine_core::element::ElementType;
use undine_core::glam::{DMat3, DVec3, Vec3};
use undine_core::mesh::{Bounds, Strands};
use undine_core::particles::{ParticleSystem, Particles, TopologicalParticles};
use undine_core::volume::Voxels;
use undine_core::{Bucket, CoreError, DiscreteVolume, Frame};
use undine_geometry::form::mesh_of_level_set;
use undine_geometry::meshing::{Smoothing, smooth};
use undine_geometry::{Form, LevelSet, Triangles, Twist};
use undine_io::gather::{Order, gather};
use undine_io::particles::points_of_particles;
use undine_io::{Points, UpAxis, Values};
use undine_render::overlay::BucketBox;
use undine_render::shot::{Ground, Numbers, Places, PointChunk, Radii, Turning, Vectors, Volume};
use undine_scene::Render;
use undine_sim::object::AnyObject;
use undine_sim::offers::Looks;
use undine_sim::{ObjectId, SimError, Simulation, StoreId, World};

/// A channel of numbers or vectors, claimed for reading.
enum Column<'w, L: Layout> {
    F32(ChannelRef<'w, L, f32>),
    F64(ChannelRef<'w, L, f64>),
    I32(ChannelRef<'w, L, i32>),
    U32(ChannelRef<'w, L, u32>),
    U64(ChannelRef<'w, L, u64>),
    Vec3(ChannelRef<'w, L, Vec3>),
    DVec3(ChannelRef<'w, L, DVec3>),
}

const READER: &str = "a picture";

impl<'w, L: Layout> Column<'w, L> {
    /// Claims a channel; nothing, if it cannot be seen.
    fn open(set: &'w ChannelSet<L>, info: &ChannelInfo) -> Result<Option<Self>, CoreError> {
        let name = &info.name;
        Ok(Some(match info.element {
            ElementType::F32 => Self::F32(set.read(set.handle(name)?, READER)?),
            ElementType::F64 => Self::F64(set.read(set.handle(name)?, READER)?),
            ElementType::I32 => Self::I32(set.read(set.handle(name)?, READER)?),
            ElementType::U32 => Self::U32(set.read(set.handle(name)?, READER)?),
            ElementType::U64 => Self::U64(set.read(set.handle(name)?, READER)?),
            ElementType::Vec3 => Self::Vec3(set.read(set.handle(name)?, READER)?),
            ElementType::DVec3 => Self::DVec3(set.read(set.handle(name)?, READER)?),
            _ => return Ok(None),
        }))
    }

    /// Claims the first channel that is `wanted` and is kept with frames.
    fn find(
        set: &'w ChannelSet<L>,
        wanted: impl Fn(&str) -> bool,
    ) -> Result<Option<Self>, CoreError> {
        let mut infos = set.infos().filter(|info| is_shown(info) && wanted(&info.name));
        infos.next().map_or(Ok(None), |info| Self::open(set, info))
    }
}

impl Column<'_, Particles> {
    fn chunk(&self, slot: u32) -> Numbers<'_> {
        match self {
            Self::F32(column) => Numbers::F32(column.chunk(slot)),
            Self::F64(column) => Numbers::F64(column.chunk(slot)),
            Self::I32(column) => Numbers::I32(column.chunk(slot)),
            Self::U32(column) => Numbers::U32(column.chunk(slot)),
            Self::U64(column) => Numbers::U64(column.chunk(slot)),
            Self::Vec3(column) => Numbers::Vec3(column.chunk(slot)),
            Self::DVec3(column) => Numbers::DVec3(column.chunk(slot)),
        }
    }
}

impl Column<'_, Flat> {
    fn first(&self, count: usize) -> Numbers<'_> {
        match self {
            Self::F32(column) => Numbers::F32(&column[..count]),
            Self::F64(column) => Numbers::F64(&column[..count]),
            Self::I32(column) => Numbers::I32(&column[..count]),
            Self::U32(column) => Numbers::U32(&column[..count]),
            Self::U64(column) => Numbers::U64(&column[..count]),
            Self::Vec3(column) => Numbers::Vec3(&column[..count]),
            Self::DVec3(column) => Numbers::DVec3(&column[..count]),
        }
    }
}

fn is_shown(info: &ChannelInfo) -> bool {
    info.checkpoint && !info.internal
}

/// As vectors, if they are.
pub(crate) fn vectors(numbers: Numbers<'_>) -> Option<Vectors<'_>> {
    match numbers {
        Numbers::Vec3(values) => Some(Vectors::Single(values)),
        Numbers::DVec3(values) => Some(Vectors::Double(values)),
        _ => None,
    }
}

/// The columns of points that a picture needs.
struct Columns<'w, L: Layout, P> {
    positions: P,
    radii: Option<Column<'w, L>>,
    velocities: Option<Column<'w, L>>,
    values: Option<Column<'w, L>>,
}

impl<'w, L: Layout, P> Columns<'w, L, P> {
    fn of(set: &'w ChannelSet<L>, positions: P, by: ColourBy<'_>) -> Result<Self, CoreError> {
        Ok(Self {
            positions,
            radii: Column::find(set, is_size)?,
            velocities: Column::find(set, is_velocity)?,
            values: Column::find(set, |name| by.is(name))?,
        })
    }
}

type Spatial<'w> = Columns<'w, Particles, ChannelRef<'w, Particles, Vec3>>;
type Topological<'w> = Columns<'w, Flat, ChannelRef<'w, Flat, DVec3>>;

struct Smoke<'w> {
    volume: &'w DiscreteVolume,
    density: ChannelRef<'w, Voxels, f32>,
    temperature: Option<ChannelRef<'w, Voxels, f32>>,
}

/// Particles of several processes, on the first.
struct Gathered {
    points: Points,
    radii: Option<String>,
    velocities: Option<String>,
    values: Option<String>,
    boxes: Vec<BucketBox>,
}

/// What a picture asks for.
#[derive(Debug, Clone, Copy)]
pub struct Wanted<'a> {
    /// What it is coloured by.
    pub by: ColourBy<'a>,
    /// Whether liquids are seen by their surfaces.
    pub surfaces: bool,
}

impl<'a> Wanted<'a> {
    /// What a `render` asks for.
    pub fn of(render: &'a Render) -> Self {
        Self { by: ColourBy::of(render.color_by.as_deref()), surfaces: render.water }
    }
}

/// Points that are lent together.
const TOGETHER: usize = 1 << 12;

/// All of a World that a picture shows, claimed for reading.
pub struct Held<'w> {
    gathered: Vec<Gathered>,
    particles: Vec<(&'w ParticleSystem, Spatial<'w>)>,
    points: Vec<(&'w TopologicalParticles, Topological<'w>, Option<Arc<Strands>>)>,
    smoke: Vec<Smoke<'w>>,
    surfaces: Vec<Triangles>,
    shapes: &'w [Placed],
    names: Vec<String>,
    up: UpAxis,
}

impl<'w> Held<'w> {
    /// Claims what some Objects, or all, have to show; liquids by their `surfaces`, or else by their particles. Collective; only the
    /// first process sees all of it.
    pub fn of(
        simulation: &'w Simulation,
        shapes: &'w [Placed],
        of: Option<&[ObjectId]>,
        Wanted { by, surfaces }: Wanted<'_>,
        up: UpAxis,
    ) -> Result<Self, FrameError> {
        let mut held = Self {
            gathered: Vec::new(),
            particles: Vec::new(),
            points: Vec::new(),
            smoke: Vec::new(),
            surfaces: Vec::new(),
            shapes,
            names: Vec::new(),
            up,
        };
        let world = &simulation.world;
        let mut covered = Vec::new();
        if surfaces {
            let is_seen = |id: &ObjectId| of.is_none_or(|of| of.contains(id));
            for (path, skin) in simulation.skins().filter(|(_, skin)| skin.of.iter().all(is_seen)) {
                let time = simulation.timeline().time(simulation.clock().frame);
                held.surfaces.extend(skins::triangles(simulation, (path, skin), time)?);
                covered.extend_from_slice(&skin.of);
            }
        }
        for (_, object) in simulation.objects() {
            if of.is_some_and(|of| !of.contains(&object.id())) || covered.contains(&object.id()) {
                continue;
            }
            // Bodies are seen by their shapes.
            let looks = &world.object(object.id()).offers.looks;
            let has_shapes = matches!(looks, Some(Looks::Bodies(_)));
            let strands = match looks {
                Some(Looks::Strands(looks)) => Some(&looks.strands),
                _ => None,
            };
            // A surface of which this process has a part alone would have holes.
            if surfaces && world.processes().count() == 1 && held.take_surface(world, object)? {
                continue;
            }
            for (_, store) in object.output() {
                match store {
                    StoreId::Particles(id) if world.processes().count() > 1 => {
                        held.gather_particles(world, &world.particles[id], by)?;
                    }
                    StoreId::Particles(id) => held.take_particles(&world.particles[id], by)?,
                    StoreId::Points(id) if !has_shapes => {
                        held.take_points(&world.points[id], strands, by)?
                    }
                    StoreId::Volume(id) if world.processes().count() == 1 => {
                        held.take_volume(&world.volumes[id])?
                    }
                    _ => {}
                }
            }
        }
        Ok(held)
    }

    /// Makes a mesh of the surface that an Object shows; says whether it has one.
    fn take_surface(&mut self, world: &World, object: &dyn AnyObject) -> Result<bool, FrameError> {
        for (_, store) in object.output() {
            let StoreId::Volume(id) = store else { continue };
            let Some(shown) = object.shown(world, id)? else { continue };
            let (Some(domain), Ok(channel)) =
                (world.domain_with(shown.topology().frame()), shown.handle::<f32>("surface"))
            else {
                continue;
            };
            let width = shown.column(channel)?.background().into();
            let set = LevelSet::of_channel("surface", domain, (&shown, channel), width);
            self.surfaces
                .push(set.and_then(|set| mesh_of_level_set(&set)).map_err(SimError::from)?);
            return Ok(true);
        }
        Ok(false)
    }

    fn take_particles(
        &mut self,
        particles: &'w ParticleSystem,
        by: ColourBy<'_>,
    ) -> Result<(), FrameError> {
        let set = particles.channels();
        let positions = set.read(particles.position(), READER)?;
        self.names.extend(set.infos().filter(|info| is_shown(info)).map(|info| called(&info.name)));
        self.particles.push((particles, Columns::of(set, positions, by)?));
        Ok(())
    }

    /// Brings the particles of all processes to the first.
    fn gather_particles(
        &mut self,
        world: &World,
        particles: &ParticleSystem,
        by: ColourBy<'_>,
    ) -> Result<(), FrameError> {
        let infos = || particles.channels().infos().filter(|info| is_shown(info));
        let named = |wanted: &dyn Fn(&str) -> bool| {
            infos().find(|info| wanted(&info.name)).map(|info| info.name.clone())
        };
        let (radii, velocities) = (named(&is_size), named(&is_velocity));
        let values = named(&|name| by.is(name));
        let needed = [&radii, &velocities, &values];
        let own = points_of_particles(particles, |info| {
            needed.into_iter().flatten().any(|name| *name == info.name)
        })?;
        self.names.extend(infos().map(|info| called(&info.name)));
        let all = gather(&**world.processes(), &own, Order::Buckets)?;
        let (topology, frame) = (particles.topology(), particles.topology().frame());
        if let Some((points, domain)) = all.zip(world.domain_with(frame)) {
            let buckets = topology.all().buckets();
            let boxes = buckets.map(|bucket| boxed(frame, bucket, domain.owner(bucket))).collect();
            self.gathered.push(Gathered { points, radii, velocities, values, boxes });
        }
        Ok(())
    }

    fn take_points(
        &mut self,
        points: &'w TopologicalParticles,
        strands: Option<&Arc<Strands>>,
        by: ColourBy<'_>,
    ) -> Result<(), FrameError> {
        // How fast it is would make the ends of hair as pale as the sky; whoever asks for it by name gets it.
        let is_plain = strands.is_some() && by == ColourBy::Speed;
        let by = if is_plain { ColourBy::Nothing } else { by };
        let set = points.channels();
        let positions = set.read(points.position(), READER)?;
        self.names.extend(set.infos().filter(|info| is_shown(info)).map(|info| called(&info.name)));
        self.points.push((points, Columns::of(set, positions, by)?, strands.cloned()));
        Ok(())
    }

    /// Smoke is what has a density, and fire what has a temperature, too.
    fn take_volume(&mut self, volume: &'w DiscreteVolume) -> Result<(), FrameError> {
        let shows = |info: &ChannelInfo| info.name == "density" && is_shown(info);
        if !volume.channels().infos().any(shows) {
            return Ok(());
        }
        let density = volume.handle::<f32>("density")?;
        let temperature = volume.handle::<f32>("temperature").ok();
        let temperature = temperature.map(|handle| volume.column(handle)).transpose()?;
        self.smoke.push(Smoke { volume, density: volume.column(density)?, temperature });
        Ok(())
    }

    /// What there is to see.
    pub fn contents(&self) -> Contents<'_> {
        let mut contents = Contents {
            channels: self.names.iter().filter(|name| *name != "P").cloned().collect(),
            up: self.up,
            ..Contents::default()
        };
        for (particles, columns) in &self.particles {
            let frame = particles.topology().frame();
            let local = &particles.topology().buckets()[..particles.topology().local()];
            let chunks = local.iter().zip(0u32..).map(|(&bucket, slot)| {
                let positions = Places::Offsets {
                    corner: frame.corner(bucket),
                    offsets: columns.positions.chunk(slot),
                };
                lent(positions, |column: &Column<'_, Particles>| column.chunk(slot), columns)
            });
            let chunks = chunks.filter(|chunk| !chunk.positions.is_empty()).collect();
            contents.clouds.push(cloud(chunks, columns));
            contents.boxes.extend(local.iter().map(|&bucket| boxed(frame, bucket, 0)));
        }
        for gathered in &self.gathered {
            contents.clouds.push(gathered.cloud());
            contents.boxes.extend(gathered.boxes.iter().cloned());
        }
        for (points, columns, strands) in &self.points {
            let count = points.len();
            let positions = Places::World(&columns.positions[..count]);
            let chunk = lent(positions, |column: &Column<'_, Flat>| column.first(count), columns);
            let Some(strands) = strands else {
                contents.clouds.push(cloud(vec![chunk], columns));
                continue;
            };
            contents.curves.push(Strings {
                positions,
                strands,
                radii: columns.radii.as_ref().map(|_| chunk.radii),
                velocities: chunk.velocities,
                values: chunk.values,
            });
        }
        contents.volumes.extend(self.smoke.iter().flat_map(volumes));
        contents.solids.extend(self.surfaces.iter().map(|surface| Solid {
            role: Role::Surface,
            positions: Places::World(surface.positions()),
            triangles: surface.indices().into(),
            placed: None,
            velocities: None,
            turning: None,
            values: None,
        }));
        let mut bodies = 0;
        for placed in self.shapes {
            add_shape(&mut contents, placed, &mut bodies);
        }
        contents
    }
}

impl Gathered {
    fn cloud(&self) -> Cloud<'_> {
        let column =
            |name: &Option<String>| name.as_ref().and_then(|name| self.points.channels.get(name));
        let (radii, velocities) = (column(&self.radii), column(&self.velocities));
        let values = column(&self.values);
        let count = self.points.positions.len();
        let chunks = (0..count).step_by(TOGETHER).map(|start| {
            let of = start..count.min(start + TOGETHER);
            PointChunk {
                positions: Places::World(&self.points.positions[of.clone()]),
                radii: radii.map_or(Radii::Same(0.0), |c| Radii::Each(numbers(c, of.clone()))),
                velocities: velocities.and_then(|c| vectors(numbers(c, of.clone()))),
                values: values.map(|c| numbers(c, of.clone())),
            }
        });
        let chunks = chunks.collect();
        Cloud { chunks, is_sized: radii.is_some(), is_valued: values.is_some() }
    }
}

/// The surface of a liquid as a picture has it: without the steps of voxels, which water would mirror many times.
pub(crate) fn mesh_of_liquid(surface: &LevelSet) -> undine_geometry::Result<Triangles> {
    smooth(&mesh_of_level_set(surface)?, Smoothing::default())
}

/// Some values of a table.
fn numbers(values: &Values, of: Range<usize>) -> Numbers<'_> {
    match values {
        Values::F32(values) => Numbers::F32(&values[of]),
        Values::F64(values) => Numbers::F64(&values[of]),
        Values::I32(values) => Numbers::I32(&values[of]),
        Values::U32(values) => Numbers::U32(&values[of]),
        Values::U64(values) => Numbers::U64(&values[of]),
        Values::Vec3(values) => Numbers::Vec3(&values[of]),
        Values::DVec3(values) => Numbers::DVec3(&values[of]),
    }
}

/// The box of a Bucket, and who owns it.
fn boxed(frame: &Frame, bucket: Bucket, process: usize) -> BucketBox {
    let min = frame.corner(bucket);
    let bounds = Bounds { min, max: min + frame.bucket_size(bucket.level) };
    BucketBox { bounds, level: usize::from(bucket.level), process }
}

fn lent<'a, L: Layout, P>(
    positions: Places<'a>,
    of: impl Fn(&'a Column<'a, L>) -> Numbers<'a>,
    columns: &'a Columns<'a, L, P>,
) -> PointChunk<'a> {
    PointChunk {
        positions,
        radii: columns.radii.as_ref().map_or(Radii::Same(0.0), |column| Radii::Each(of(column))),
        velocities: columns.velocities.as_ref().and_then(|column| vectors(of(column))),
        values: columns.values.as_ref().map(&of),
    }
}

fn cloud<'a, L: Layout, P>(chunks: Vec<PointChunk<'a>>, columns: &Columns<'_, L, P>) -> Cloud<'a> {
    Cloud { chunks, is_sized: columns.radii.is_some(), is_valued: columns.values.is_some() }
}

/// The levels of a volume, each by itself.
fn volumes<'a>(smoke: &'a Smoke<'_>) -> impl Iterator<Item = Volume<'a>> {
    let topology = smoke.volume.topology();
    let levels = topology.buckets()[..topology.local()].iter().map(|bucket| bucket.level);
    let levels: BTreeSet<u8> = levels.collect();
    levels.into_iter().map(|level| Volume {
        extinction: EXTINCTION,
        appearance: colours::appearance(smoke.temperature.is_some()),
        ..Volume::of_column(topology, &smoke.density, smoke.temperature.as_deref(), level)
    })
}

fn add_shape<'a>(contents: &mut Contents<'a>, placed: &'a Placed, bodies: &mut usize) {
    let role = match placed.kind {
        ShapeKind::Collider => Role::Collider,
        ShapeKind::Body | ShapeKind::KinematicBody => {
            *bodies += 1;
            Role::Body(*bodies - 1)
        }
    };
    let pose = placed.pose;
    match &*placed.form {
        Form::Mesh(mesh) => contents.solids.push(Solid {
            role,
            positions: Places::World(mesh.positions()),
            triangles: mesh.indices().into(),
            placed: Some((DMat3::from_quat(pose.rotation), pose.translation)),
            velocities: None,
            turning: (placed.twist != Twist::default()).then_some(Turning {
                about: placed.about,
                velocity: placed.twist.linear,
                spin: placed.twist.angular,
            }),
            values: None,
        }),
        Form::Plane { point, normal } => contents.planes.push(Ground {
            point: pose.rotation * *point + pose.translation,
            normal: (pose.rotation * *normal).as_vec3(),
        }),
    }
}
