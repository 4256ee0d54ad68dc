//! Filters between meshes, points and voxels: `to-distance`, `scatter`, `rasterise`.

use super::{Call, Fault, room};
use rayon::prelude::*;
use std::sync::Arc;
use undine_core::glam::{DVec3, Vec3};
use undine_core::mesh::Bounds;
use undine_core::volume::VoxelShape;
use undine_core::{Accessor, ChannelSpec, Element, Frame, GridDomain};
use undine_geometry::levelset::{Extent, LevelSet};
use undine_geometry::sampling::{
    Sampling, SurfacePoint, sample_surface, sample_surface_poisson, sample_volume_jittered,
    sample_volume_poisson,
};
use undine_geometry::{Bvh, Inside, Nearest, Solid, Triangles, random};
use undine_schema::{Declaration, Dimension, Kind, Parameter, Type};
use undine_sim::input::{Data, Geometry, PointCloud};

const VOXEL: Parameter = Parameter::number("voxel", Dimension::LENGTH, 0.05, "the side of a voxel")
    .positive()
    .resolution();
const BAND: Parameter = Parameter::number(
    "band",
    Dimension::NONE,
    3.0,
    "how many voxels of distances there are on either side of the surface",
)
.between(1.5, 64.0)
.advanced();
const FILL: Parameter =
    Parameter::flag("fill", false, "whether there are voxels everywhere inside").advanced();

pub(super) static TO_DISTANCE: Declaration = Declaration {
    name: "to-distance",
    kind: Kind::Filter,
    doc: "Turns a surface or a solid into signed distances on voxels",
    about: "Holes are closed by the winding number. An open sheet needs a thickness. What moves as a whole goes on doing so.",
    parameters: &[
        VOXEL,
        Parameter::number(
            "thickness",
            Dimension::LENGTH,
            0.0,
            "that of a sheet without inside; nothing for what is closed",
        )
        .positive()
        .optional(),
        BAND,
        FILL,
    ],
    example: "to-distance voxel=\"2 cm\"",
};

pub(super) static SCATTER: Declaration = Declaration {
    name: "scatter",
    kind: Kind::Filter,
    doc: "Fills a volume or covers a surface with points",
    about: "Points on a surface take on its channels and its normal `N`; points in what moves have its velocity `v`. The same seed gives the same \
            points.",
    parameters: &[
        Parameter::choice(
            "on",
            &[("volume", "inside of it"), ("surface", "on its triangles")],
            "where the points are",
        ),
        Parameter::choice(
            "method",
            &[
                ("jittered", "one in each cell of a grid, at random"),
                ("poisson", "at random, but none nearer to another than the spacing"),
                ("uniform", "a count of points, at random and apart from each other"),
            ],
            "how they are spread",
        )
        .optional(),
        Parameter::number("spacing", Dimension::LENGTH, 0.1, "from one point to the next")
            .positive()
            .resolution()
            .optional(),
        Parameter::integer("count", 0, "how many points there are")
            .between(0.0, 67_108_864.0)
            .optional(),
        Parameter::integer("seed", 0, "other seeds give other points"),
    ],
    example: "scatter spacing=\"2 cm\"",
};

pub(super) static RASTERISE: Declaration = Declaration {
    name: "rasterise",
    kind: Kind::Filter,
    doc: "Writes channels of points or of a surface into voxels",
    about: "Each voxel takes what the nearest place of the surface, or the nearest point, holds. Distances are to the surface, or to balls around \
            the points.",
    parameters: &[
        VOXEL,
        Parameter::new(
            "channels",
            Type::Text,
            "their names, with blanks between them; by default all",
        )
        .optional(),
        Parameter::number(
            "radius",
            Dimension::LENGTH,
            0.1,
            "of the balls around points; by default two voxels",
        )
        .positive()
        .optional(),
        BAND,
        FILL,
    ],
    example: "rasterise voxel=\"5 cm\" channels=\"v temperature\"",
};

pub(super) fn to_distance(call: &Call<'_>) -> Result<Data, Fault> {
    let (domain, extent) = lattice(call)?;
    let inside = match call.given.optional_number("thickness")? {
        Some(thickness) => Inside::Thickness(thickness),
        None => Inside::default(),
    };
    let set = match &call.data.geometry {
        Geometry::Surface(surface) => {
            let triangles = Triangles::of_surface(surface)?;
            LevelSet::of_mesh("to-distance", &domain, &triangles, extent, inside)?
        }
        Geometry::Shape(shape) => LevelSet::of_solid("to-distance", &domain, &**shape, extent)?,
        _ => {
            let wanted = "a surface or a solid";
            return Err(Fault::WrongData { found: call.data.noun(), wanted });
        }
    };
    Ok(Data { geometry: Geometry::LevelSet(Arc::new(set)), ..Data::clone(&call.data) })
}

fn lattice(call: &Call<'_>) -> Result<(GridDomain, Extent), Fault> {
    let frame = Frame::new(DVec3::ZERO, call.given.number("voxel")?)?;
    let domain = GridDomain::new(call.given.declaration.name, frame)
        .with_budget(call.context().budget.clone());
    let band = call.given.number("band")?;
    let extent = if call.given.flag("fill")? { Extent::Full(band) } else { Extent::Band(band) };
    Ok((domain, extent))
}

pub(super) fn scatter(call: &Call<'_>) -> Result<Data, Fault> {
    let given = &call.given;
    let spacing = given.optional_number("spacing")?;
    let count = given.optional_integer("count")?.map(|count| count as usize);
    let is_volume = given.text("on")? == "volume";
    let usual = match (count, is_volume) {
        (Some(_), _) => "uniform",
        (None, true) => "jittered",
        (None, false) => "poisson",
    };
    let method = given.optional_text("method")?.unwrap_or_else(|| usual.to_owned());
    let (most, each) = room::most_points(call, &method, is_volume);
    let most = if method == "uniform" { Sampling::default().most } else { most };
    let sampling = Sampling { seed: given.seed()?, most };
    let too_many = |why| room::too_many(call, why, each);
    let need_spacing = || {
        spacing.ok_or_else(|| {
            Fault::parameter("spacing", "not given", format!("`{method}` points need one"))
        })
    };
    let need_count =
        || count.ok_or_else(|| Fault::parameter("count", "not given", "`uniform` points need one"));
    let cloud =
        if is_volume {
            let solid = call.data.solid(call.time)?;
            let positions =
                match method.as_str() {
                    "jittered" => sample_volume_jittered(&solid, need_spacing()?, sampling)
                        .map_err(too_many)?,
                    "poisson" => sample_volume_poisson(&solid, need_spacing()?, sampling)
                        .map_err(too_many)?,
                    _ => uniform(&solid, need_count()?, sampling)?,
                };
            let mut cloud = PointCloud { positions, ..PointCloud::default() };
            if let Some(motion) = &call.data.motion {
                let (pose, twist) = (motion.pose(call.time), motion.twist(call.time));
                let arms = cloud.positions.iter().map(|&at| at - pose.translation);
                let moving: Vec<DVec3> = arms.map(|arm| twist.at(arm)).collect();
                cloud.add_velocity(&moving);
            }
            cloud
        } else {
            let rest = call.data_at_rest()?;
            let Geometry::Surface(surface) = &rest.geometry else {
                let wanted = "a surface; give the source form=\"surface\"";
                return Err(Fault::WrongData { found: rest.noun(), wanted });
            };
            let triangles = Triangles::of_surface(surface)?;
            let points = match method.as_str() {
                "uniform" => sample_surface(&triangles, need_count()?, sampling)?,
                "poisson" => sample_surface_poisson(&triangles, need_spacing()?, sampling)
                    .map_err(too_many)?,
                _ => {
                    return Err(Fault::parameter(
                        "method",
                        "`jittered`",
                        "cells are in a volume; use poisson or uniform on a surface",
                    ));
                }
            };
            let vertices = rest.cloud()?;
            carried(&points, &triangles, &vertices)
        };
    let mut cloud = cloud;
    cloud.numbers.insert("id".to_owned(), (0..cloud.positions.len()).map(|n| n as f64).collect());
    let attributes = call.data.attributes.clone();
    Ok(Data { geometry: Geometry::Points(cloud), attributes, motion: None })
}

/// Points with what the vertices of their triangle hold, and its normal.
fn carried(points: &[SurfacePoint], mesh: &Triangles, vertices: &PointCloud) -> PointCloud {
    let corners = |point: &SurfacePoint| {
        let vertices = mesh.indices()[point.triangle as usize].map(|vertex| vertex as usize);
        vertices.into_iter().zip(point.weights)
    };
    let numbers =
        vertices.numbers.iter().filter(|(name, _)| *name != "id").map(|(name, values)| {
            let value =
                |point| corners(point).map(|(vertex, weight)| weight * values[vertex]).sum();
            (name.clone(), points.iter().map(value).collect())
        });
    let vectors = vertices.vectors.iter().map(|(name, values)| {
        let value = |point| corners(point).map(|(vertex, weight)| weight * values[vertex]).sum();
        (name.clone(), points.iter().map(value).collect())
    });
    let mut cloud = PointCloud {
        positions: points.iter().map(|point| point.point).collect(),
        numbers: numbers.collect(),
        vectors: vectors.collect(),
        edges: Vec::new(),
    };
    let normal = |point: &SurfacePoint| {
        let [a, b, c] = mesh.corners(point.triangle as usize);
        (b - a).cross(c - a).normalize_or_zero()
    };
    cloud.vectors.insert("N".to_owned(), points.iter().map(normal).collect());
    cloud
}

/// So many points inside of a solid, each independent of the others: the first of an endless list that lie inside.
fn uniform(
    solid: &(dyn Solid + Send),
    count: usize,
    sampling: Sampling,
) -> Result<Vec<DVec3>, Fault> {
    /// Less than one in so many inside: it is no volume.
    const RAREST: u64 = 100_000;
    const ROUND: u64 = 1 << 14;
    let Some(bounds) = solid.bounds() else {
        return Err(Fault::parameter(
            "on",
            "`volume`",
            "a solid without end cannot be filled with a count of points",
        ));
    };
    let mut points = Vec::with_capacity(count + ROUND as usize);
    let mut tried = 0_u64;
    while points.len() < count {
        let draw = |n: u64| {
            let unit = |axis| random::unit(sampling.seed, 3 * n + axis);
            let at = bounds.min + bounds.size() * DVec3::new(unit(0), unit(1), unit(2));
            (solid.distance(at) < 0.0).then_some(at)
        };
        let round: Vec<DVec3> = (tried..tried + ROUND).into_par_iter().filter_map(draw).collect();
        points.extend(round);
        tried += ROUND;
        if tried / RAREST > points.len() as u64 {
            return Err(Fault::parameter(
                "count",
                count,
                "hardly anything of its box is inside; use a spacing",
            ));
        }
    }
    points.truncate(count);
    Ok(points)
}

pub(super) fn rasterise(call: &Call<'_>) -> Result<Data, Fault> {
    let (domain, extent) = lattice(call)?;
    let cloud = call.data.cloud()?.into_owned();
    let (mut set, bvh) = match &call.data.geometry {
        Geometry::Surface(surface) => {
            let triangles = Triangles::of_surface(surface)?;
            let inside = Inside::default();
            let set = LevelSet::of_mesh("rasterise", &domain, &triangles, extent, inside)?;
            (set, Bvh::new(triangles)?)
        }
        Geometry::Points(points) if !points.positions.is_empty() => {
            let radius = match call.given.optional_number("radius")? {
                Some(radius) => radius,
                None => 2.0 * domain.frame().voxel_size(0),
            };
            // A triangle whose corners are one point is that point.
            let count = u32::try_from(points.positions.len())
                .map_err(|_| Fault::parameter("channels", "on too many points", "at most 2³²"))?;
            let triangles = (0..count).map(|n| [n; 3]).collect();
            let bvh = Bvh::new(Triangles::new(points.positions.clone(), triangles)?)?;
            let balls = Balls { bvh, radius };
            let set = LevelSet::of_solid("rasterise", &domain, &balls, extent)?;
            (set, balls.bvh)
        }
        _ => {
            let wanted = "points or a surface";
            return Err(Fault::WrongData { found: call.data.noun(), wanted });
        }
    };
    let wanted = call.given.optional_text("channels")?;
    let all = cloud.numbers.keys().chain(cloud.vectors.keys()).cloned();
    let names: Vec<String> = match wanted {
        Some(text) => text.split_whitespace().map(str::to_owned).collect(),
        None => all.filter(|name| name != "id").collect(),
    };
    for name in names {
        if let Some(values) = cloud.numbers.get(&name) {
            let values: Vec<f32> = values.iter().map(|&value| value as f32).collect();
            fill(
                &mut set,
                &bvh,
                &name,
                0.0,
                |corner| values[corner],
                |sum, weight, value| sum + weight * value,
            )?;
        } else if let Some(values) = cloud.vectors.get(&name) {
            let values: Vec<Vec3> = values.iter().map(|value| value.as_vec3()).collect();
            fill(
                &mut set,
                &bvh,
                &name,
                Vec3::ZERO,
                |corner| values[corner],
                |sum, weight, value| sum + weight * value,
            )?;
        } else {
            return Err(Fault::parameter(
                "channels",
                format!("`{name}`"),
                "there is no such channel",
            ));
        }
    }
    Ok(Data { geometry: Geometry::LevelSet(Arc::new(set)), ..Data::clone(&call.data) })
}

/// Gives each voxel what the corners of the nearest triangle hold, weighted.
fn fill<T: Element>(
    set: &mut LevelSet,
    bvh: &Bvh,
    name: &str,
    zero: T,
    value: impl Fn(usize) -> T + Sync,
    add: impl Fn(T, f32, T) -> T + Sync,
) -> Result<(), Fault> {
    let handle = set.volume_mut().add_channel(&ChannelSpec::new(name, zero), VoxelShape::CELLS)?;
    let (frame, voxel) = (*set.domain().frame(), set.voxel_size());
    let resolution = VoxelShape::CELLS.resolution;
    let accessor = Accessor::new("rasterise", set.domain()).over(set.topology());
    accessor.run(set.volume().write(handle), |here, to| {
        let corner = frame.corner(here.bucket);
        for (place, to) in to.iter_mut().enumerate() {
            let [x, y, z] = resolution.coords(place).map(|n| n as f64 + 0.5);
            let Some(closest) = bvh.closest(corner + voxel * DVec3::new(x, y, z)) else { continue };
            let vertices = bvh.triangles().indices()[closest.triangle as usize];
            *to = vertices.iter().zip(closest.weights).fold(zero, |sum, (&vertex, weight)| {
                add(sum, weight as f32, value(vertex as usize))
            });
        }
    })?;
    Ok(())
}

/// Balls of one radius [m] around points.
#[derive(Debug)]
struct Balls {
    bvh: Bvh,
    radius: f64,
}

impl Solid for Balls {
    fn distance(&self, at: DVec3) -> f64 {
        self.bvh
            .closest(at)
            .map_or(f64::INFINITY, |near| near.distance_squared.sqrt() - self.radius)
    }

    fn nearest(&self, at: DVec3) -> Nearest {
        let centre = self.bvh.closest(at).map_or(at, |near| near.point);
        let normal = (at - centre).try_normalize().unwrap_or(DVec3::Z);
        let distance = at.distance(centre) - self.radius;
        Nearest { point: centre + self.radius * normal, normal, distance }
    }

    fn bounds(&self) -> Option<Bounds> {
        let Bounds { min, max } = self.bvh.triangles().bounds()?;
        Some(Bounds { min: min - self.radius, max: max + self.radius })
    }
}
