//! One frame of what lies on the disk, in memory, and as a picture sees it.

use super::error::ViewError;
use super::pieces::{numbers, pieces};
use crate::prepare;
use crate::preview::contents::{
    Cloud, Contents, EXTINCTION, Role, Solid, Strings, called, is_size, is_velocity,
};
use crate::preview::held::{mesh_of_liquid, vectors};
use crate::preview::{ColourBy, colours};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use undine_core::glam::DVec3;
use undine_core::mesh::Surface;
use undine_geometry::form::mesh_of_level_set;
use undine_io::usd::{self, geometry::identifier};
use undine_io::vdb::{ReadOptions, points_of_grid};
use undine_io::{
    FileMetadata, Format, Geometry, IoError, Names, Points, UpAxis, Values, read_file,
};
use undine_render::RenderError;
use undine_render::shot::{Ground, Places, PointChunk, Radii, Vectors, Volume};
use undine_scene::graph;
use undine_vdb::{Class, Content, File, Grid, Transform, Tree};

/// One frame in memory.
#[derive(Debug)]
pub struct Loaded {
    tables: Vec<Table>,
    smoke: Vec<Smoke>,
    planes: Vec<Ground>,
    /// What the files of bodies are called whose shapes are here.
    bodies: BTreeSet<String>,
    /// Whether level sets are the surfaces of liquids.
    liquids: bool,
    up: UpAxis,
}

/// Points, a mesh or curves.
#[derive(Debug)]
struct Table {
    role: Role,
    geometry: Geometry,
    triangles: Vec<[u32; 3]>,
}

/// A grid of density, and one of temperature.
#[derive(Debug)]
struct Smoke {
    density: Tree<f32>,
    temperature: Option<Tree<f32>>,
    transform: Transform,
}

impl Loaded {
    /// Nothing yet, with this axis up.
    pub fn new(up: UpAxis) -> Self {
        Self {
            tables: Vec::new(),
            smoke: Vec::new(),
            planes: Vec::new(),
            bodies: BTreeSet::new(),
            liquids: false,
            up,
        }
    }

    /// The same, where level sets are the surfaces of liquids.
    pub fn of_liquids(self) -> Self {
        Self { liquids: true, ..self }
    }

    /// Adds what a file holds; a USD scene at a time [time codes].
    pub fn add_file(&mut self, path: &Path, time: Option<f64>) -> Result<(), ViewError> {
        match Format::of(path)? {
            Format::Vdb => self.add_grids(path),
            Format::Usd | Format::Usda | Format::Usdc => {
                let (mut each, _) = usd::Scene::open(path)?.read_each(time, None)?;
                // Shapes first: they say which points are of bodies.
                each.sort_by_key(|prim| !prim.words.contains_key("kind"));
                for prim in each {
                    let name = prim.path.rsplit('/').next().unwrap_or_default();
                    let is_of_body = self.bodies.iter().any(|stem| identifier(stem) == name);
                    if prim.words.contains_key("kind") || !is_of_body {
                        self.add_prim(&prim.words, prim.geometry)?;
                    }
                }
                Ok(())
            }
            _ => {
                let read = read_file(path, None)?.in_metres();
                let mut geometry = read.geometry;
                geometry.points = read.metadata.up.points_from_file(geometry.points);
                self.add(Role::Surface, geometry)
            }
        }
    }

    /// Adds the colliders and bodies of the scene over a cache.
    pub fn add_shapes(&mut self, stage: &Path, prim: &str, time: f64) -> Result<(), ViewError> {
        let (each, _) = usd::Scene::open(stage)?.read_each(Some(time), Some(prim))?;
        each.into_iter().try_for_each(|prim| self.add_prim(&prim.words, prim.geometry))
    }

    /// Whether a file of a frame has the points of bodies that are seen by their shapes.
    pub fn shows_bodies_of(&self, file: &Path) -> bool {
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        name.split_once('.').is_some_and(|(stem, _)| self.bodies.contains(stem))
    }

    fn add_prim(
        &mut self,
        words: &BTreeMap<String, String>,
        geometry: Geometry,
    ) -> Result<(), ViewError> {
        let bodies = self.tables.iter().filter(|table| matches!(table.role, Role::Body(_))).count();
        let role = match words.get("kind").map(String::as_str) {
            Some("collider") => Role::Collider,
            Some(_) => Role::Body(bodies),
            None => Role::Surface,
        };
        if let (Role::Body(_), Some(path)) = (role, words.get("path")) {
            // `crates/7` is the seventh body of `crates`, and `crates 2` its second piece.
            let object = path.trim_end_matches(|c: char| c.is_ascii_digit());
            let object = object.strip_suffix(['/', ' ']).unwrap_or(path);
            for path in [path, object] {
                self.bodies.insert(prepare::stem(path, None));
                self.bodies.insert(prepare::stem(path, Some("boundary")));
            }
        }
        self.add(role, geometry)?;
        if words.contains_key("infinite")
            && let Some(table) = self.tables.pop()
        {
            self.planes.extend(plane(&table));
        }
        Ok(())
    }

    /// Adds what was read in metres with Y up.
    fn add(&mut self, role: Role, mut geometry: Geometry) -> Result<(), ViewError> {
        if self.up == UpAxis::Z {
            geometry.points = self.up.points_to_file(&geometry.points).into_owned();
        }
        let faces = geometry.faces.as_ref().filter(|faces| !faces.polygons.is_empty());
        let triangles = match faces {
            None => Vec::new(),
            Some(faces) => {
                let positions = geometry.points.positions.clone();
                let wrong = |why: undine_core::CoreError| IoError::Unreadable {
                    what: "a mesh".to_owned(),
                    found: why.to_string(),
                    wanted: "every corner of a face is one of its vertices".to_owned(),
                };
                let surface = Surface::new("mesh", positions, faces.polygons.clone());
                let surface = surface.map_err(wrong)?;
                surface.triangulate().map_err(wrong)?.triangles().to_vec()
            }
        };
        self.tables.push(Table { role, geometry, triangles });
        Ok(())
    }

    /// Adds the grids of a file: smoke and fire, points, and level sets as surfaces.
    fn add_grids(&mut self, path: &Path) -> Result<(), ViewError> {
        let mut file = File::open(path).map_err(IoError::from)?;
        let up = FileMetadata::of_vdb(file.metadata()).up;
        let mut floats: Vec<Grid> = Vec::new();
        for n in 0..file.grids().len() {
            let head = &file.grids()[n];
            let (class, name) = (head.class, head.name.clone());
            let is_smoke = ["density", "temperature"].contains(&name.as_str());
            let is_points = head.kind == undine_vdb::Kind::Points;
            if !(is_smoke || is_points || class == Class::LevelSet || class == Class::FogVolume) {
                continue;
            }
            let grid = file.grid(n).map_err(IoError::from)?;
            match (&grid.content, class) {
                (Content::Points(_), _) => {
                    let points = points_of_grid(&grid, &Names::default(), up)?;
                    self.add(Role::Surface, Geometry { points, ..Geometry::default() })?;
                }
                (Content::Float(_) | Content::Double(_), Class::LevelSet) => {
                    let options = ReadOptions { up, ..ReadOptions::default() };
                    let set = graph::level_set(&grid, &name, &options)?;
                    let mesh = match self.liquids {
                        true => mesh_of_liquid(&set),
                        false => mesh_of_level_set(&set),
                    };
                    let mesh = mesh.map_err(graph::Fault::from)?;
                    let (positions, triangles) = mesh.into_parts();
                    let points = Points { positions, ..Points::default() };
                    self.add(Role::Surface, Geometry { points, ..Geometry::default() })?;
                    if let Some(table) = self.tables.last_mut() {
                        table.triangles = triangles;
                    }
                }
                (Content::Float(_), _) => floats.push(grid),
                _ => {}
            }
        }
        self.add_smoke(floats)
    }

    /// The density, or else the first fog; with a temperature on the same voxels.
    fn add_smoke(&mut self, mut grids: Vec<Grid>) -> Result<(), ViewError> {
        let named = |grids: &[Grid], name: &str| grids.iter().position(|grid| grid.name == name);
        let fog = |grids: &[Grid]| grids.iter().position(|grid| grid.class == Class::FogVolume);
        let Some(density) = named(&grids, "density").or_else(|| fog(&grids)) else {
            return Ok(());
        };
        let density = grids.swap_remove(density);
        let temperature = named(&grids, "temperature").map(|n| grids.swap_remove(n));
        let temperature = temperature.filter(|grid| grid.transform == density.transform);
        let Content::Float(tree) = density.content else { return Ok(()) };
        let smoke = Smoke {
            transform: density.transform,
            density: tree,
            temperature: temperature.and_then(|grid| match grid.content {
                Content::Float(tree) => Some(tree),
                _ => None,
            }),
        };
        // What cannot be drawn is told here, with its file.
        smoke.volume()?.check()?;
        self.smoke.push(smoke);
        Ok(())
    }

    /// What there is to see.
    pub fn contents(&self, by: ColourBy<'_>) -> Contents<'_> {
        let mut contents =
            Contents { up: self.up, planes: self.planes.clone(), ..Contents::default() };
        for table in &self.tables {
            table.show(by, &mut contents);
        }
        contents.volumes.extend(self.smoke.iter().filter_map(|smoke| smoke.volume().ok()));
        contents
    }

    /// Points that have ids, by table and id.
    pub(super) fn points_by_id(&self) -> BTreeMap<(usize, u64), DVec3> {
        let mut found = BTreeMap::new();
        for (n, table) in self.tables.iter().enumerate() {
            let Some(ids) = table.geometry.points.channels.get("id").and_then(Values::ids) else {
                continue;
            };
            let places = &table.geometry.points.positions;
            found.extend(ids.iter().zip(places).map(|(&id, &place)| ((n, id), place)));
        }
        found
    }
}

impl Table {
    fn show<'a>(&'a self, by: ColourBy<'_>, contents: &mut Contents<'a>) {
        let points = &self.geometry.points;
        let positions = Places::World(&points.positions);
        let find = |wanted: &dyn Fn(&str) -> bool| {
            let mut all = points.channels.iter().filter(|(name, _)| wanted(name));
            all.next().map(|(_, values)| numbers(values))
        };
        let velocities: Option<Vectors<'a>> = find(&is_velocity).and_then(vectors);
        let values = find(&|name| by.is(name));
        let sizes = find(&is_size).map(Radii::Each);
        let is_subject = self.role == Role::Surface;
        if is_subject {
            contents.channels.extend(points.channels.keys().map(|name| called(name)));
        }
        let strands = self.geometry.curves.as_ref().filter(|curves| !curves.strands.is_empty());
        if !self.triangles.is_empty() {
            contents.solids.push(Solid {
                role: self.role,
                positions,
                triangles: self.triangles.as_slice().into(),
                placed: None,
                velocities,
                turning: None,
                // A surface is coloured by what was asked for, and by nothing of its own accord.
                values: values.filter(|_| is_subject && by != ColourBy::Speed),
            });
        } else if let Some(curves) = strands {
            contents.curves.push(Strings {
                positions,
                strands: &curves.strands,
                radii: sizes,
                velocities,
                values: values.filter(|_| by != ColourBy::Speed),
            });
        } else if !positions.is_empty() {
            let (is_sized, is_valued) = (sizes.is_some(), values.is_some());
            let radii = sizes.unwrap_or(Radii::Same(0.0));
            let chunk = PointChunk { positions, radii, velocities, values };
            contents.clouds.push(Cloud { chunks: pieces(chunk), is_sized, is_valued });
        }
    }
}

impl Smoke {
    fn volume(&self) -> Result<Volume<'_>, RenderError> {
        let volume = Volume::of_tree(&self.density, &self.transform, Class::FogVolume)?;
        let volume = match &self.temperature {
            Some(tree) => volume.with_temperature(tree),
            None => volume,
        };
        let appearance = colours::appearance(self.temperature.is_some());
        Ok(Volume { extinction: EXTINCTION, appearance, ..volume })
    }
}

/// A square that stands for a plane without end, as that.
fn plane(table: &Table) -> Option<Ground> {
    let [a, b, c] = table.triangles.first()?.map(|n| table.geometry.points.positions[n as usize]);
    let normal = (b - a).cross(c - a).normalize_or_zero();
    (normal != DVec3::ZERO).then(|| Ground { point: a, normal: normal.as_vec3() })
}
