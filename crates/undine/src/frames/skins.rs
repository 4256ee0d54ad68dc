//! Surfaces of particles as meshes: what a `surface` has written with every frame.
//!
//! Of several processes, the first has all particles and makes the mesh alone: it is the same on any number of them.

use super::{Content, FrameError, Moment, StageFile, names, points, renamed};
use crate::prepare;
use crate::surface::{SurfaceError, surface};
use undine_core::glam::{DVec3, Vec3};
use undine_core::mesh::Polygons;
use undine_core::volume::VoxelShape;
use undine_core::{Accessor, MemoryBudget};
use undine_geometry::surfacing::Recipe;
use undine_geometry::{LevelSet, Triangles};
use undine_io::gather::{Order, gather};
use undine_io::{Channels, Faces, Format, Geometry, Points, Precision, Values, WriteOptions};
use undine_scene::{Output, Scene};
use undine_sim::input::{Data, Geometry as Form};
use undine_sim::offers::{Interior, Skin};
use undine_sim::{ObjectId, SimError, Simulation, World};

/// Whether an output is the first that writes an Object that a mesh is made of.
pub(super) fn is_written(
    skin: &Skin,
    output: usize,
    scene: &Scene,
    simulation: &Simulation,
) -> bool {
    let writes = |output: &Output| {
        let objects = prepare::objects_of(output, simulation);
        objects.is_none_or(|objects| skin.of.iter().any(|id| objects.contains(id)))
    };
    scene.outputs.iter().position(writes) == Some(output)
}

/// The file of a mesh at a moment; on the first process. Collective.
pub(super) fn content(
    simulation: &Simulation,
    (path, skin): (&str, &Skin),
    output: &Output,
    moment: &Moment<'_>,
    stage: &mut StageFile,
) -> Result<Option<Content>, FrameError> {
    let Some(mut mesh) = mesh(simulation, (path, skin), moment.time)? else { return Ok(None) };
    let is_wanted = |name: &str| {
        output.channels.is_empty() || name == "N" || output.channels.iter().any(|it| it == name)
    };
    mesh.points.channels.retain(|name, _| is_wanted(name));
    let names = names(output);
    let up = output.up.unwrap_or(moment.settings.up);
    let metadata = moment.metadata(up);
    // Writers turn from y up.
    mesh.points = moment.settings.up.points_from_file(mesh.points);
    mesh.points = renamed(mesh.points, &names);
    Ok(Some(match output.format {
        // OpenVDB has no place for a mesh.
        Format::Ply | Format::Vdb => {
            mesh.points = up.points_to_file(&mesh.points).into_owned();
            let precision = Precision::Double;
            let options = WriteOptions { precision, metadata, ..WriteOptions::default() };
            Content::Ply(Box::new(mesh), options)
        }
        _ => Content::Usd(stage.clip(&prepare::stem_of_skin(path), &mesh, &metadata, moment)?),
    }))
}

/// The mesh at a time [s], with all that its particles carry; on the first process. Collective.
pub(crate) fn mesh(
    simulation: &Simulation,
    (path, skin): (&str, &Skin),
    time: f64,
) -> Result<Option<Geometry>, FrameError> {
    let world = &simulation.world;
    let mut all = Points::default();
    let mut recipe = skin.recipe;
    for (n, id) in skin.of.iter().enumerate() {
        let Some(more) = particles(world, *id)? else { continue };
        all = if n == 0 { more } else { joined(all, more) };
    }
    sized(&mut all, &mut recipe);
    for id in &skin.of {
        let Some(more) = interior(world, *id, recipe.scale())? else { continue };
        all = filled(all, more);
    }
    if world.processes().rank() > 0 {
        return Ok(None);
    }
    if all.positions.is_empty() {
        all.channels.insert("N".to_owned(), Values::Vec3(Vec::new()));
        all.channels.remove("pscale");
        let faces = Faces { polygons: Polygons::triangles(Vec::new())?, channels: Channels::new() };
        return Ok(Some(Geometry { points: all, faces: Some(faces), curves: None }));
    }
    let filters = skin.filters.as_ref().map(|name| {
        move |set: LevelSet| -> Result<LevelSet, SimError> {
            let data = Data { geometry: Form::LevelSet(set.into()), ..Data::default() };
            let made = simulation.inputs().filtered(name, data, time)?;
            match std::sync::Arc::try_unwrap(made).map(|data| data.geometry) {
                Ok(Form::LevelSet(set)) => std::sync::Arc::try_unwrap(set)
                    .or_else(|set| set.with_width(f64::from(set.width())))
                    .map_err(SimError::from),
                _ => Err(SimError::setup(
                    path,
                    "its filters made no level set of it",
                    "take them out",
                )),
            }
        }
    });
    let filters = filters.as_ref().map(|filters| filters as crate::surface::Filters<'_>);
    let made = surface(&all, &recipe, filters, budget(world));
    made.map(Some).map_err(|why| match why {
        SurfaceError::Filter(why) => FrameError::Shapes(why),
        why => {
            let help = "change its `radius`, `scale` or `voxel`";
            FrameError::Shapes(SimError::setup(path, why.to_string(), help))
        }
    })
}

/// The mesh at a time [s], as triangles; on the first process. Collective.
pub(crate) fn triangles(
    simulation: &Simulation,
    skin: (&str, &Skin),
    time: f64,
) -> Result<Option<Triangles>, FrameError> {
    let Some(mesh) = mesh(simulation, skin, time)? else { return Ok(None) };
    let polygons = mesh.faces.as_ref().and_then(|faces| faces.polygons.as_triangles());
    let triangles = polygons.unwrap_or_default().to_vec();
    let made = Triangles::new(mesh.points.positions, triangles);
    made.map(Some).map_err(|why| FrameError::Shapes(why.into()))
}

fn budget(world: &World) -> MemoryBudget {
    let domain = world.domains.iter().next();
    domain.map_or_else(MemoryBudget::unlimited, |(_, domain)| domain.budget().clone())
}

/// The particles of an Object; on the first process. Collective.
fn particles(world: &World, id: ObjectId) -> Result<Option<Points>, FrameError> {
    let Some(particles) = world.object(id).offers.particles() else { return Ok(None) };
    let all = Output { channels: Vec::new(), ..Output::default() };
    points::of_all_particles(world, &world.particles[particles], &all)
}

/// Gives every particle its radius as a channel, and chooses voxels by them: what fills an interior is larger, and no measure.
fn sized(points: &mut Points, recipe: &mut Recipe) {
    recipe.scale = Some(recipe.scale());
    if let Some(radius) = recipe.radius.take() {
        let radii = vec![radius; points.positions.len()];
        points.channels.insert("pscale".to_owned(), Values::F64(radii));
    }
    let radii = points.channels.get("pscale").and_then(Values::numbers).unwrap_or_default();
    let mean = recipe.scale() * radii.iter().sum::<f64>() / radii.len().max(1) as f64;
    if recipe.voxel.is_none() && mean > 0.0 {
        recipe.voxel = Some(Recipe::VOXEL * mean);
    }
}

/// What of a liquid no particles carry, as one for each cell that is at least an eighth full of it, so large that they leave no gaps at
/// this scale; on the first process. Collective.
fn interior(world: &World, id: ObjectId, scale: f64) -> Result<Option<Points>, FrameError> {
    let offers = &world.object(id).offers;
    let Some((field, interior)) = offers.fluid.and_then(|field| Some((field, field.interior?)))
    else {
        return Ok(None);
    };
    let volume = &world.volumes[field.volume];
    let frame = *volume.topology().frame();
    let Some(domain) = world.domain_with(&frame) else { return Ok(None) };
    let voxel = frame.voxel_size(0);
    let resolution = VoxelShape::CELLS.resolution;
    let access = (volume.own(interior.parts), field.velocity.faces.map(|face| volume.own(face)));
    let accessor = Accessor::new("find the interior", domain).over(volume.topology());
    let found = accessor.map(access, |here, (parts, [x, y, z])| {
        let corner = frame.corner(here.bucket);
        let full = (0..parts.len()).filter(|&n| parts[n] >= Interior::FULL / 8);
        let cell = |n: usize| {
            let [i, j, k] = resolution.coords(n).map(|n| n as f64 + 0.5);
            // At its lower faces: as deep as this, no vertex asks.
            (corner + voxel * DVec3::new(i, j, k), Vec3::new(x[n], y[n], z[n]))
        };
        full.map(cell).collect::<Vec<_>>()
    })?;
    let (positions, velocities): (Vec<DVec3>, Vec<Vec3>) = found.into_iter().flatten().unzip();
    let radii = vec![voxel / scale; positions.len()];
    let mut points = Points { positions, ..Points::default() };
    points.channels.insert("pscale".to_owned(), Values::F64(radii));
    points.channels.insert("v".to_owned(), Values::Vec3(velocities));
    Ok(gather(&**world.processes(), &points, Order::Buckets)?)
}

/// Both, with the channels that both have.
fn joined(one: Points, other: Points) -> Points {
    let mut channels = Channels::new();
    for (name, values) in &one.channels {
        if let Some(values) = other.channels.get(name).and_then(|more| chained(values, more)) {
            channels.insert(name.clone(), values);
        }
    }
    Points { positions: [one.positions, other.positions].concat(), channels }
}

/// Both, with the channels of the first; what the second has not is nothing.
fn filled(one: Points, mut other: Points) -> Points {
    let nothing = vec![0.0; other.positions.len()];
    let radii =
        |points: &Points| points.channels.get("pscale")?.numbers().map(|it| it.into_owned());
    let both = radii(&one).zip(radii(&other)).map(|(one, other)| [one, other].concat());
    for (name, values) in &one.channels {
        let is_there = other.channels.get(name).is_some_and(|more| chained(values, more).is_some());
        if !is_there {
            let nothing = match values {
                Values::F32(_) => Values::F32(vec![0.0; nothing.len()]),
                Values::F64(_) => Values::F64(nothing.clone()),
                Values::I32(_) => Values::I32(vec![0; nothing.len()]),
                Values::U32(_) => Values::U32(vec![0; nothing.len()]),
                Values::U64(_) => Values::U64(vec![0; nothing.len()]),
                Values::Vec3(_) => Values::Vec3(vec![Vec3::ZERO; nothing.len()]),
                Values::DVec3(_) => Values::DVec3(vec![DVec3::ZERO; nothing.len()]),
            };
            other.channels.insert(name.clone(), nothing);
        }
    }
    let mut points = joined(one, other);
    points.channels.extend(both.map(|radii| ("pscale".to_owned(), Values::F64(radii))));
    points
}

fn chained(one: &Values, other: &Values) -> Option<Values> {
    fn chain<T: Copy>(one: &[T], other: &[T]) -> Vec<T> {
        [one, other].concat()
    }
    Some(match (one, other) {
        (Values::F32(one), Values::F32(other)) => Values::F32(chain(one, other)),
        (Values::F64(one), Values::F64(other)) => Values::F64(chain(one, other)),
        (Values::I32(one), Values::I32(other)) => Values::I32(chain(one, other)),
        (Values::U32(one), Values::U32(other)) => Values::U32(chain(one, other)),
        (Values::U64(one), Values::U64(other)) => Values::U64(chain(one, other)),
        (Values::Vec3(one), Values::Vec3(other)) => Values::Vec3(chain(one, other)),
        (Values::DVec3(one), Values::DVec3(other)) => Values::DVec3(chain(one, other)),
        _ => return None,
    })
}
