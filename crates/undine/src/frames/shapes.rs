//! Colliders and rigid bodies in the files of a cache: what they look like once, in `NAME.shapes.usdc`, and where they are frame
//! by frame, in files of their own beside the points. Only what moves is in those, so that a still scene has none.

use super::{FrameError, Moment};
use crate::cache::Cache;
use crate::prepare;
use crate::shapes::{Change, Placed, ShapeKind, Shapes};
use std::collections::BTreeMap;
use std::sync::Arc;
use undine_core::glam::{DQuat, DVec3};
use undine_core::mesh::Polygons;
use undine_geometry::{Form, Pose};
use undine_io::usd::geometry::{identifier, origin_for};
use undine_io::usd::layer::{Layer, Value};
use undine_io::usd::shapes::{Moved, Place, ShapePrim, clip, manifest, still, unique_names};
use undine_io::usd::{binary, text};
use undine_io::{Faces, FileMetadata, Geometry, Points, UpAxis};
use undine_scene::{Output, Scene};
use undine_sim::Simulation;

/// A plane without end is shown as a square with sides of twice this [m].
const PLANE: f64 = 100.0;

/// The shapes of a run, as its files have them.
#[derive(Debug)]
pub struct ShapesFile {
    shapes: Shapes,
    /// Those of each output, in the order of the scene's; nothing for one that shows none.
    roots: Vec<Option<Root>>,
    /// The layer of what does not change, and its name.
    layer: (String, Vec<u8>),
    /// Whether that is written.
    is_written: bool,
    axes: Axes,
}

/// The shapes of an output.
#[derive(Debug)]
struct Root {
    /// The name of the prim above them, and of its files.
    name: String,
    /// Which Objects, and the prims of each.
    things: Vec<(usize, Vec<Kept>)>,
    /// The manifest of its clips; nothing, if nothing moves.
    manifest: Option<Vec<u8>>,
}

/// A prim, as far as frames need to know it.
#[derive(Debug)]
struct Kept {
    path: String,
    /// What its points are relative to [m], in its own coordinates.
    origin: DVec3,
}

/// From the axes of the scene to those of the tables, with Y up; writers turn from there.
#[derive(Debug, Clone, Copy)]
struct Axes(UpAxis);

impl Axes {
    fn turned(self, vector: DVec3) -> DVec3 {
        self.0.from_file(vector)
    }

    /// Where a mesh is whose points are relative to an origin.
    fn place(self, pose: &Pose, origin: DVec3) -> Place {
        let axis = self.turned(pose.rotation.xyz());
        Place {
            position: self.turned(pose.to_world(origin)),
            turn: DQuat::from_xyzw(axis.x, axis.y, axis.z, pose.rotation.w),
        }
    }
}

/// The name of the files of an output's shapes, before the frame's number.
pub(super) fn stem(output: usize) -> String {
    if output == 0 { "shapes".to_owned() } else { format!("shapes-{output}") }
}

/// Whether files of this name, before the frame's number, are those of shapes.
pub(crate) fn is_stem(stem: &str) -> bool {
    let rest = stem.strip_prefix("shapes");
    rest.is_some_and(|rest| {
        rest.is_empty() || rest.strip_prefix('-').is_some_and(|n| n.parse::<usize>().is_ok())
    })
}

impl ShapesFile {
    /// Those of a Simulation that has not begun yet: whatever is said of them once does not depend on where a run goes on.
    pub fn of(scene: &Scene, simulation: &Simulation) -> Result<Self, FrameError> {
        let mut shapes = Shapes::of(simulation)?;
        let axes = Axes(scene.settings.up);
        let mut forms = Forms { axes, meshes: Vec::new(), known: BTreeMap::new() };
        let (mut roots, mut layers) = (Vec::new(), Vec::new());
        let time = simulation.timeline().time(simulation.timeline().first);
        for (n, output) in scene.outputs.iter().enumerate() {
            let objects = prepare::objects_of(output, simulation);
            let is_shown =
                |id| output.shapes && objects.as_ref().is_none_or(|all| all.contains(&id));
            let things: Vec<usize> = (0..shapes.things.len())
                .filter(|&thing| is_shown(shapes.things[thing].object))
                .collect();
            let names =
                unique_names(things.iter().map(|&thing| shapes.things[thing].path.as_str()));
            let mut prims = Vec::new();
            let mut root = Root { name: stem(n), things: Vec::new(), manifest: None };
            for (&thing, name) in things.iter().zip(names) {
                let made = forms.prims(&mut shapes, thing, &name, simulation, time)?;
                let kept = made
                    .iter()
                    .map(|(prim, origin)| Kept { path: prim.path.clone(), origin: *origin });
                root.things.push((thing, kept.collect()));
                prims.extend(made.into_iter().map(|(prim, _)| prim));
            }
            if prims.is_empty() {
                roots.push(None);
                continue;
            }
            layers.push((root.name.clone(), prims));
            let metadata = metadata(scene, output);
            let first = root.layer(&mut shapes, simulation, (time, 0.0), axes, &metadata)?;
            root.manifest = first
                .map(|first| text::write(&manifest(&first)))
                .transpose()?
                .map(String::into_bytes);
            roots.push(Some(root));
        }
        let name = format!("{}.shapes.usdc", identifier(&scene.settings.name));
        let mut bytes = Vec::new();
        if let Some(output) = scene.outputs.first().filter(|_| !layers.is_empty()) {
            bytes = binary::encode(&still(&layers, &forms.meshes, &metadata(scene, output))?)?;
        }
        Ok(Self { shapes, roots, layer: (name, bytes), is_written: false, axes })
    }

    /// The bytes of an output's file of a frame; nothing, if nothing of it moves.
    pub(super) fn clip(
        &mut self,
        output: usize,
        simulation: &Simulation,
        metadata: &FileMetadata,
        moment: &Moment<'_>,
    ) -> Result<Option<Vec<u8>>, FrameError> {
        let Some(Some(root)) = self.roots.get(output) else { return Ok(None) };
        let when = (moment.time, moment.id.number());
        let layer = root.layer(&mut self.shapes, simulation, when, self.axes, metadata)?;
        Ok(layer.map(|layer| binary::encode(&layer)).transpose()?)
    }

    /// The outputs that show any, by the names of their files; with the file of what does not change, and that of what moves.
    pub(super) fn roots(&self) -> impl Iterator<Item = (&str, &str, String)> {
        self.roots.iter().flatten().map(|root| {
            let manifest = format!("{}.clips.usda", root.name);
            (root.name.as_str(), self.layer.0.as_str(), manifest)
        })
    }

    /// Writes what does not change, once.
    pub(super) fn write(&mut self, cache: &Cache) -> Result<(), FrameError> {
        if self.is_written || self.layer.1.is_empty() {
            return Ok(());
        }
        for (name, bytes) in self.files() {
            cache.write_sidecar(&name, bytes)?;
        }
        self.is_written = true;
        Ok(())
    }

    /// The files of what does not change, and their bytes.
    pub(super) fn files(&self) -> impl Iterator<Item = (String, &[u8])> {
        let roots = self.roots.iter().flatten();
        let manifests = roots.filter_map(|root| {
            Some((format!("{}.clips.usda", root.name), root.manifest.as_deref()?))
        });
        let layer = (self.layer.0.clone(), &self.layer.1[..]);
        std::iter::once(layer).filter(|(_, bytes)| !bytes.is_empty()).chain(manifests)
    }

    /// The shapes themselves, for pictures.
    pub fn shapes(&mut self) -> &mut Shapes {
        &mut self.shapes
    }
}

fn metadata(scene: &Scene, output: &Output) -> FileMetadata {
    let up = output.up.unwrap_or(scene.settings.up);
    FileMetadata { fps: Some(scene.settings.fps), up, ..FileMetadata::default() }
}

impl Root {
    /// Where everything is that moves, at a time [s] of a frame; nothing, if nothing does.
    fn layer(
        &self,
        shapes: &mut Shapes,
        simulation: &Simulation,
        (time, frame): (f64, f64),
        axes: Axes,
        metadata: &FileMetadata,
    ) -> Result<Option<Layer>, FrameError> {
        let mut places: Vec<(&str, Place, Option<Geometry>)> = Vec::new();
        for (thing, prims) in &self.things {
            let thing = &mut shapes.things[*thing];
            match thing.change {
                Change::Still => {}
                Change::Moves => {
                    for (placed, kept) in thing.at(simulation, time)?.iter().zip(prims) {
                        places.push((&kept.path, axes.place(&placed.pose, kept.origin), None));
                    }
                }
                Change::Deforms => {
                    let placed = thing.at(simulation, time)?;
                    for kept in prims {
                        let pose = placed.first().map_or(Pose::IDENTITY, |placed| placed.pose);
                        let forms = placed.iter().map(|placed| &*placed.form);
                        let form = geometry(forms, kept.origin, axes)?;
                        places.push((&kept.path, axes.place(&pose, kept.origin), Some(form)));
                    }
                }
            }
        }
        if places.is_empty() {
            return Ok(None);
        }
        let moved = places.iter().map(|(path, place, form)| Moved {
            path,
            place: *place,
            form: form.as_ref(),
        });
        Ok(Some(clip(&self.name, &moved.collect::<Vec<_>>(), frame, metadata)?))
    }
}

/// The meshes of all prims, each once.
struct Forms {
    axes: Axes,
    meshes: Vec<Geometry>,
    /// By where a form lies in memory: those that are shared are one.
    known: BTreeMap<*const Form, usize>,
}

impl Forms {
    /// The prims of one Object, each with what its points are relative to.
    fn prims(
        &mut self,
        shapes: &mut Shapes,
        thing: usize,
        name: &str,
        simulation: &Simulation,
        time: f64,
    ) -> Result<Vec<(ShapePrim, DVec3)>, FrameError> {
        let thing = &mut shapes.things[thing];
        let placed = thing.at(simulation, time)?;
        if thing.change == Change::Deforms {
            return Ok(vec![self.deforming(thing.kind, &thing.path, name, &placed)?]);
        }
        let pivots = thing.pivots(simulation)?;
        let word = if thing.kind == ShapeKind::Collider { "part" } else { "body" };
        let mut prims = Vec::with_capacity(placed.len());
        for (n, shape) in placed.iter().enumerate() {
            let origin = match pivots.as_ref().and_then(|pivots| pivots.get(n)) {
                Some(pivot) => *pivot,
                None => origin_of([&*shape.form]),
            };
            let form = self.number(&shape.form, origin)?;
            let path =
                if placed.len() == 1 { name.to_owned() } else { format!("{name}/{word}_{n}") };
            let mut words = words(&shape.name, shape.kind);
            if matches!(*shape.form, Form::Plane { .. }) {
                words.push(("infinite", Value::Bool(true)));
            }
            let place = self.axes.place(&shape.pose, origin);
            prims.push((ShapePrim { path, form, place, words }, origin));
        }
        Ok(prims)
    }

    /// One prim for all of what deforms: how many parts it will have is not known.
    fn deforming(
        &mut self,
        kind: ShapeKind,
        path: &str,
        name: &str,
        placed: &[Placed],
    ) -> Result<(ShapePrim, DVec3), FrameError> {
        let forms = || placed.iter().map(|placed| &*placed.form);
        let origin = origin_of(forms());
        let pose = placed.first().map_or(Pose::IDENTITY, |placed| placed.pose);
        self.meshes.push(geometry(forms(), origin, self.axes)?);
        let prim = ShapePrim {
            path: name.to_owned(),
            form: self.meshes.len() - 1,
            place: self.axes.place(&pose, origin),
            words: words(path, kind),
        };
        Ok((prim, origin))
    }

    /// The number of a form, whose points are relative to an origin.
    fn number(&mut self, form: &Arc<Form>, origin: DVec3) -> Result<usize, FrameError> {
        if let Some(&number) = self.known.get(&Arc::as_ptr(form)) {
            return Ok(number);
        }
        self.meshes.push(geometry([&**form], origin, self.axes)?);
        self.known.insert(Arc::as_ptr(form), self.meshes.len() - 1);
        Ok(self.meshes.len() - 1)
    }
}

fn words(path: &str, kind: ShapeKind) -> Vec<(&'static str, Value)> {
    let kind = match kind {
        ShapeKind::Collider => "collider",
        ShapeKind::Body => "body",
        ShapeKind::KinematicBody => "kinematic-body",
    };
    vec![("path", Value::String(path.to_owned())), ("kind", Value::Token(kind.to_owned()))]
}

/// What points are relative to that lie far from zero [m].
fn origin_of<'a>(forms: impl IntoIterator<Item = &'a Form>) -> DVec3 {
    let mut places = Vec::new();
    for form in forms {
        match form {
            Form::Mesh(mesh) => places.extend_from_slice(mesh.positions()),
            Form::Plane { point, .. } => places.push(*point),
        }
    }
    origin_for(&places)
}

/// Forms as a table of points and faces, relative to an origin; planes as large squares.
fn geometry<'a>(
    forms: impl IntoIterator<Item = &'a Form>,
    origin: DVec3,
    axes: Axes,
) -> Result<Geometry, FrameError> {
    let mut positions: Vec<DVec3> = Vec::new();
    let (mut counts, mut corners) = (Vec::new(), Vec::new());
    for form in forms {
        let first = positions.len() as u32;
        match form {
            Form::Mesh(mesh) => {
                positions.extend_from_slice(mesh.positions());
                counts.extend(mesh.indices().iter().map(|_| 3));
                corners.extend(mesh.indices().iter().flatten().map(|corner| first + corner));
            }
            Form::Plane { point, normal } => {
                let (u, v) = normal.any_orthonormal_pair();
                let corner = |a: f64, b: f64| *point + PLANE * (a * u + b * v);
                positions.extend([
                    corner(-1.0, -1.0),
                    corner(1.0, -1.0),
                    corner(1.0, 1.0),
                    corner(-1.0, 1.0),
                ]);
                counts.push(4);
                corners.extend([first, first + 1, first + 2, first + 3]);
            }
        }
    }
    let turned = positions.iter().map(|at| axes.turned(*at - origin)).collect();
    Ok(Geometry {
        points: Points { positions: turned, ..Points::default() },
        faces: Some(Faces {
            polygons: Polygons::from_counts(&counts, corners)?,
            channels: Default::default(),
        }),
        ..Geometry::default()
    })
}
