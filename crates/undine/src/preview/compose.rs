//! From what there is to see and what a `render` asks for to a Shot.

use super::colours;
use super::container;
use super::contents::{Cloud, ColourBy, Contents, Role, Solid};
use super::frame;
use std::borrow::Cow;
use undine_core::glam::{DVec3, Vec3};
use undine_core::mesh::Bounds;
use undine_io::UpAxis;
use undine_render::overlay::{self, BucketColour};
use undine_render::shot::{
    Colouring, Curves, Finish, Ground, Light, Lines, Mesh, Points, Radii, Shot, Subject,
};
use undine_render::{ColourMap, RenderError};
use undine_scene::Render;
use undine_scene::render::{GroundChoice, Overlay};

/// More Buckets than these would be one grey.
const MOST_BOXES: usize = 20_000;

/// Edges of containers and boxes of Buckets are this wide [pixels].
const LINE: f32 = 1.25;

/// The colour of edges.
const EDGES: Vec3 = Vec3::splat(0.12);

/// What is the same in all pictures of a sequence, or was found for this one.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Steady {
    /// The box that is shown.
    pub bounds: Option<Bounds>,
    /// The numbers at both ends of the colour map; nothing, where nothing is coloured by a channel.
    pub range: Option<[f32; 2]>,
    /// Of each collider in turn, whether it is drawn without what would hide its inside.
    pub opened: Vec<bool>,
}

/// When a picture is taken.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Moment {
    /// The frame.
    pub frame: i64,
    /// The simulated time [s].
    pub time: f64,
    /// From a frame to the next [s].
    pub frame_time: f64,
}

/// Of each collider in turn, whether a view of a box opens it at a time [s].
pub fn opened(
    contents: &Contents<'_>,
    render: &Render,
    bounds: Option<Bounds>,
    time: f64,
) -> Result<Vec<bool>, RenderError> {
    let camera = frame::camera(render, bounds, contents.up, time)?;
    Ok(container::opened(contents, camera.eye))
}

/// A Shot of what there is.
pub fn shot<'a>(
    contents: &Contents<'a>,
    render: &Render,
    steady: &Steady,
    moment: &Moment,
) -> Result<Shot<'a>, RenderError> {
    let camera = frame::camera(render, steady.bounds, contents.up, moment.time)?;
    let colouring = match steady.range {
        Some([low, high]) => Colouring::Mapped { map: ColourMap::named(&render.map)?, low, high },
        None => Colouring::Plain(colours::POINTS),
    };
    let mut subjects = Vec::new();
    for cloud in &contents.clouds {
        let points = points(cloud, render, &colouring, steady.bounds);
        subjects.push(match render.splats {
            true => Subject::Splats(points),
            false => Subject::Points(points),
        });
    }
    for curves in &contents.curves {
        let thickness = steady.bounds.map_or(1e-3, |bounds| 1e-3 * bounds.size().length()) as f32;
        // Hair that is much thinner than a pixel would be no more than a haze.
        let seen = |radii: &Radii<'_>| match *radii {
            Radii::Same(radius) => radius >= thickness,
            Radii::Each(radii) => (0..radii.len()).any(|n| radii.at(n) >= thickness),
        };
        let chosen = render.radius.map(|radius| Radii::Same(radius as f32));
        let chosen = chosen.or(curves.radii.filter(seen));
        subjects.push(Subject::Curves(Curves {
            positions: curves.positions,
            strands: curves.strands,
            radii: chosen.unwrap_or(Radii::Same(thickness)),
            velocities: curves.velocities,
            values: curves.values,
            colouring: match curves.values {
                Some(_) => colouring.clone(),
                None => Colouring::Plain(colours::HAIR),
            },
            hair: curves.values.is_none(),
        }));
    }
    let mut lines = Lines { width: LINE, ..Lines::default() };
    let mut opened = steady.opened.iter();
    for solid in &contents.solids {
        let mut mesh = mesh(solid, render, &colouring);
        if solid.role == Role::Collider && opened.next().is_some_and(|opened| *opened) {
            let edges = container::edges(solid);
            mesh.triangles = match mesh.finish {
                // A tank of plain walls is as if of glass; of a round one, which has no edges, the far side is seen.
                Finish::Room if !edges.is_empty() => Cow::default(),
                Finish::Room => mesh.triangles,
                _ => container::without_hiding(solid, camera.eye).into(),
            };
            lines.colours.resize(lines.colours.len() + edges.len(), EDGES);
            lines.ends.extend(edges);
        }
        subjects.push(Subject::Mesh(mesh));
    }
    subjects.extend(contents.volumes.iter().cloned().map(Subject::Volume));
    if !lines.ends.is_empty() {
        subjects.push(Subject::Lines(lines));
    }
    subjects.extend(boxes(contents, render.overlay).map(Subject::Lines));
    Ok(Shot {
        subjects,
        camera,
        light: Light::with_up(frame::upwards(contents.up).as_vec3()),
        grounds: grounds(contents, render.ground, steady.bounds),
        shutter: (render.shutter * moment.frame_time) as f32,
    })
}

/// Points with radii: as asked for, as they have them, or half of how far they are apart.
fn points<'a>(
    cloud: &Cloud<'a>,
    render: &Render,
    colouring: &Colouring,
    bounds: Option<Bounds>,
) -> Points<'a> {
    let mut chunks = cloud.chunks.clone();
    let count: usize = chunks.iter().map(|chunk| chunk.positions.len()).sum();
    let radius = match render.radius {
        Some(radius) => Some(radius as f32),
        None if cloud.is_sized => None,
        None => Some(bounds.map_or(0.01, |bounds| apart(&bounds, count))),
    };
    if let Some(radius) = radius {
        chunks.iter_mut().for_each(|chunk| chunk.radii = Radii::Same(radius));
    }
    let colouring = match cloud.is_valued {
        true => colouring.clone(),
        false => Colouring::Plain(colours::POINTS),
    };
    Points { chunks, colouring }
}

/// Half of how far so many points in a box are from each other, as far as that is known [m].
fn apart(bounds: &Bounds, count: usize) -> f32 {
    let size = bounds.size().max(DVec3::splat(1e-3 * bounds.size().max_element()));
    let half = 0.5 * (size.element_product() / count.max(1) as f64).cbrt();
    half.clamp(1e-3 * size.length(), 0.05 * size.length()).max(1e-6) as f32
}

fn mesh<'a>(solid: &Solid<'a>, render: &Render, colouring: &Colouring) -> Mesh<'a> {
    let is_water = render.water && solid.role == Role::Surface;
    Mesh {
        positions: solid.positions,
        triangles: solid.triangles.clone(),
        placed: solid.placed,
        normals: None,
        smooth: true,
        velocities: solid.velocities,
        turning: solid.turning,
        values: solid.values.filter(|_| !is_water),
        colouring: match solid.values {
            Some(_) => colouring.clone(),
            None => Colouring::Plain(colours::of(solid.role)),
        },
        finish: match solid.role {
            _ if is_water => Finish::Water { absorption: water(solid) },
            Role::Collider if container::is_inside_out(solid) => Finish::Room,
            _ => Finish::Solid,
        },
    }
}

/// How much light a metre of water takes away, by colour [1/m]: as if it were some metres deep, so that a bowl has the colour of the sea.
fn water(solid: &Solid<'_>) -> Vec3 {
    let depth = solid.bounds().map_or(1.0, |bounds| bounds.size().min_element().max(1e-3)) as f32;
    Vec3::new(1.3, 0.42, 0.30) / depth
}

/// What everything stands on.
fn grounds(contents: &Contents<'_>, choice: GroundChoice, bounds: Option<Bounds>) -> Vec<Ground> {
    let up = frame::upwards(contents.up).as_vec3();
    let mut grounds = contents.planes.clone();
    // A wall or a ceiling without end would hide everything behind it.
    grounds.retain(|ground| ground.normal.dot(up) > 0.5);
    let adds = match choice {
        GroundChoice::None => false,
        GroundChoice::Plane => true,
        GroundChoice::Auto => grounds.is_empty(),
    };
    if adds {
        let bounds = bounds.unwrap_or(Bounds { min: DVec3::splat(-0.5), max: DVec3::splat(0.5) });
        let lowest = match contents.up {
            UpAxis::Y => DVec3::new(bounds.centre().x, bounds.min.y, bounds.centre().z),
            UpAxis::Z => DVec3::new(bounds.centre().x, bounds.centre().y, bounds.min.z),
        };
        grounds.push(Ground { point: lowest, normal: up });
    }
    grounds
}

/// The boxes of Buckets, as lines, if they are asked for and not too many.
fn boxes(contents: &Contents<'_>, asked: Overlay) -> Option<Lines> {
    let colour = match asked {
        Overlay::None => return None,
        Overlay::Buckets => BucketColour::Same,
        Overlay::Levels => BucketColour::Level,
        Overlay::Processes => BucketColour::Process,
    };
    let is_seen = (1..=MOST_BOXES).contains(&contents.boxes.len());
    is_seen.then(|| overlay::buckets(&contents.boxes, colour, LINE))
}

/// What colours a picture's points, and whether anything has it.
pub fn coloured<'r>(
    contents: &Contents<'_>,
    render: &'r Render,
) -> Result<ColourBy<'r>, RenderError> {
    let by = ColourBy::of(render.color_by.as_deref());
    match by {
        ColourBy::Channel(name) if !contents.channels.contains(name) && !contents.has_values() => {
            let there: Vec<&str> = contents.channels.iter().map(String::as_str).collect();
            Err(RenderError::Asked {
                what: "the channel to colour by".to_owned(),
                found: format!("`{name}`"),
                wanted: match there.is_empty() {
                    true => "nothing here has channels".to_owned(),
                    false => {
                        let help = undine_scene::catalogue::suggestion(
                            name,
                            there.into_iter(),
                            "there are",
                        );
                        format!("nothing has it: {help}")
                    }
                },
            })
        }
        by => Ok(by),
    }
}
