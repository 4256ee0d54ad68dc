//! The scene over a cache, `NAME.usda`: a small USD file that shows all frames that are whole as one animation.
//!
//! It is made from what the cache lists and is written anew after each frame, so that it can be opened while a run goes on.

use super::seal::{self, Seal};
use super::shapes::{ShapesFile, is_stem};
use super::{FrameError, Moment};
use crate::cache::{Cache, FrameEntry, Manifest};
use std::collections::{BTreeMap, BTreeSet};
use std::io::ErrorKind;
use std::path::Path;
use undine_core::glam::DVec3;
use undine_io::usd::geometry::{Form, layer, origin_for};
use undine_io::usd::layer::{Array, Layer, Value};
use undine_io::usd::stage::{self, Stage, StageOutput, VolumeField};
use undine_io::usd::{self, binary, text};
use undine_io::{FileMetadata, Geometry, IoError, UpAxis};
use undine_scene::Scene;
use undine_vdb::{Class, File, Kind};

/// What is known of an output whose frames are USD.
#[derive(Debug, Clone)]
struct Clip {
    /// A frame, for what it declares.
    frame: Layer,
    /// What positions are relative to [m]: the same in all frames, chosen in the first that has any.
    origin: Option<DVec3>,
}

/// The scene over a cache.
#[derive(Debug, Default)]
pub struct StageFile {
    /// The colliders and bodies that are shown in it.
    pub(super) shapes: Option<ShapesFile>,
    clips: BTreeMap<String, Clip>,
    volumes: BTreeMap<String, Vec<VolumeField>>,
}

impl StageFile {
    /// Knows what the frames of a cache that are there already have said. With `shapes`, colliders and bodies are shown, too.
    pub fn of(cache: &Cache, shapes: Option<ShapesFile>) -> Result<Self, FrameError> {
        let mut this = Self { shapes, ..Self::default() };
        for entry in cache.frames() {
            for (stem, extension, name) in files(entry) {
                match extension {
                    "usdc" if is_stem(stem) => {}
                    "usdc" if this.is_news(stem, entry, cache) => {
                        let clip = read_clip(&cache.path(name))?;
                        this.know(stem, clip);
                    }
                    "vdb" => this.know_fields(stem, read_fields(&cache.path(name))?),
                    _ => {}
                }
            }
        }
        Ok(this)
    }

    /// One that knows of no frames, for colliders and bodies in files that nobody keeps.
    pub(crate) fn without_frames(shapes: ShapesFile) -> Self {
        Self { shapes: Some(shapes), ..Self::default() }
    }

    /// Whether a frame may say what is not known: until one has points, and the last, after what was written has changed.
    fn is_news(&self, stem: &str, entry: &FrameEntry, cache: &Cache) -> bool {
        let is_last = cache.frames().last() == Some(entry);
        is_last || self.clips.get(stem).is_none_or(|clip| clip.origin.is_none())
    }

    /// Adds what a frame declares to what is known of its output.
    fn know(&mut self, stem: &str, clip: Clip) {
        let Some(known) = self.clips.get_mut(stem) else {
            self.clips.insert(stem.to_owned(), clip);
            return;
        };
        known.origin = known.origin.or(clip.origin);
        for (prim, other) in known.frame.prims.iter_mut().zip(clip.frame.prims) {
            for attribute in other.attributes {
                if prim.attribute(&attribute.name).is_none() {
                    prim.attributes.push(attribute);
                }
            }
        }
    }

    /// Adds the grids of a frame to those that are known of its output.
    fn know_fields(&mut self, stem: &str, fields: Vec<VolumeField>) {
        let known = self.volumes.entry(stem.to_owned()).or_default();
        for field in fields {
            if !known.iter().any(|other| other.name == field.name) {
                known.push(field);
            }
        }
    }

    /// The bytes of a frame of points or curves, which is a clip of the scene.
    pub(super) fn clip(
        &mut self,
        stem: &str,
        geometry: &Geometry,
        metadata: &FileMetadata,
        moment: &Moment<'_>,
    ) -> Result<Vec<u8>, FrameError> {
        let points = &geometry.points;
        let known = self.clips.get(stem).and_then(|clip| clip.origin);
        let chosen = || (!points.positions.is_empty()).then(|| origin_for(&points.positions));
        let origin = known.or_else(chosen);
        let form = Form {
            name: stem.to_owned(),
            time: Some(moment.id.number()),
            origin: origin.unwrap_or_default(),
            metadata: metadata.clone(),
            ..Form::default()
        };
        let frame = layer(geometry, &form)?;
        let bytes = binary::encode(&frame)?;
        // Of a frame nothing stays but what it declares.
        self.know(stem, Clip { frame: declared(frame), origin });
        Ok(bytes)
    }

    /// Writes the scene over all frames that are whole; nothing, where nothing could be seen in it.
    pub fn write(&mut self, cache: &Cache, scene: &Scene) -> Result<(), FrameError> {
        let mut frames: BTreeMap<(&str, &str), Vec<(f64, String)>> = BTreeMap::new();
        for entry in cache.frames() {
            for (stem, extension, name) in files(entry) {
                let listed = frames.entry((stem, extension)).or_default();
                listed.push((entry.frame.number(), name.to_owned()));
            }
        }
        if cache.frames().is_empty() {
            return Ok(());
        }
        let mut outputs = Vec::new();
        let mut manifests = Vec::new();
        let mut beside = BTreeMap::new();
        if let Some(shapes) = &mut self.shapes {
            shapes.write(cache)?;
            beside.extend(shapes.files().map(|(name, bytes)| (name, crc32fast::hash(bytes))));
            for (name, layer, manifest) in shapes.roots() {
                let moved = frames.iter().find(|(key, _)| **key == (name, "usdc"));
                let moved = moved.map(|(_, frames)| frames.clone()).unwrap_or_default();
                outputs.push(StageOutput::of_shapes(name, layer, &manifest, moved));
            }
        }
        for ((stem, extension), frames) in frames {
            let output = match extension {
                "usdc" if is_stem(stem) => continue,
                "usdc" => {
                    let Some(clip) = self.clips.get(stem) else { continue };
                    let manifest = format!("{stem}.clips.usda");
                    let output = StageOutput::of_clips(stem, &clip.frame, &manifest, frames)?;
                    manifests.push((manifest, stage::manifest(&output)));
                    output
                }
                "vdb" => {
                    if let Some((_, name)) = frames.last() {
                        self.know_fields(stem, read_fields(&cache.path(name))?);
                    }
                    match self.volumes.get(stem) {
                        Some(fields) if !fields.is_empty() => {
                            StageOutput::of_volume(stem, fields.clone(), frames)
                        }
                        _ => continue,
                    }
                }
                _ => continue,
            };
            outputs.push(output);
        }
        if outputs.is_empty() {
            return Ok(());
        }
        let settings = &scene.settings;
        let up = scene.outputs.first().and_then(|output| output.up).unwrap_or(settings.up);
        let last = cache.frames().last().map_or(settings.first, |entry| entry.frame.frame());
        let stage = Stage {
            name: settings.name.clone(),
            first: settings.first as f64,
            last: last as f64,
            outputs,
            metadata: FileMetadata { fps: Some(settings.fps), up, ..FileMetadata::default() },
        };
        for (name, manifest) in manifests {
            if let Some(manifest) = manifest {
                let text = text::write(&manifest)?;
                cache.write_sidecar(&name, text.as_bytes())?;
                beside.insert(name, crc32fast::hash(text.as_bytes()));
            }
        }
        let root = seal::sealed(text::write(&stage::layer(&stage)?)?, &beside);
        Ok(cache.write_sidecar(&file_name(&settings.name), root.as_bytes())?)
    }
}

/// The name of the scene over a cache.
pub fn file_name(name: &str) -> String {
    format!("{}.usda", undine_io::usd::geometry::identifier(name))
}

/// What is wrong with the scene over a cache, and with the files of that cache that it refers to beside the frames: each missing,
/// cut short or altered. A run writes them again.
pub fn faults_of_stage(folder: &Path, manifest: &Manifest) -> Vec<String> {
    let Some(name) = manifest.scene.get("setup.name").map(file_name) else { return Vec::new() };
    loop {
        let text = std::fs::read(folder.join(&name));
        let faults = faults_of_root(folder, manifest, &name, &text);
        // A run that writes here meanwhile writes what the scene refers to before the scene itself.
        let is_news = || std::fs::read(folder.join(&name)).ok() != text.as_ref().ok().cloned();
        if faults.is_empty() || !is_news() {
            return faults;
        }
    }
}

fn faults_of_root(
    folder: &Path,
    manifest: &Manifest,
    name: &str,
    text: &std::io::Result<Vec<u8>>,
) -> Vec<String> {
    let text = match text {
        Ok(text) => text,
        // Frames of other formats are in no scene.
        Err(why) if why.kind() == ErrorKind::NotFound && !is_shown(manifest) => return Vec::new(),
        Err(why) => return vec![fault_of_reading(name, why)],
    };
    let damaged = || vec![format!("{name} is damaged")];
    if !is_whole_layer(text, name) {
        return damaged();
    }
    let Ok(text) = std::str::from_utf8(text) else { return damaged() };
    // One of an older version says nothing of how it was.
    let beside = match seal::of(text) {
        Seal::Missing => BTreeMap::new(),
        Seal::Whole(beside) => beside,
        Seal::Broken => return damaged(),
    };
    // Names of files stand between signs of `@`; those of frames are in the manifest.
    let named: BTreeSet<&str> = text
        .split('@')
        .filter_map(|name| name.strip_prefix("./"))
        .filter(|name| name.ends_with(".clips.usda") || name.ends_with(".shapes.usdc"))
        .collect();
    let fault = |name: &str| fault_of_layer(folder, name, beside.get(name).copied());
    named.into_iter().filter_map(fault).collect()
}

/// Whether frames are in a format that the scene over them shows for sure.
fn is_shown(manifest: &Manifest) -> bool {
    manifest.frames.iter().flat_map(files).any(|(_, extension, _)| extension == "usdc")
}

/// Why a layer beside the frames is not whole, or not what it was, where its checksum is known; nothing if it is.
fn fault_of_layer(folder: &Path, name: &str, crc32: Option<u32>) -> Option<String> {
    let bytes = match std::fs::read(folder.join(name)) {
        Ok(bytes) => bytes,
        Err(why) => return Some(fault_of_reading(name, &why)),
    };
    let is_whole = match crc32 {
        Some(crc32) => crc32fast::hash(&bytes) == crc32,
        None => is_whole_layer(&bytes, name),
    };
    (!is_whole).then(|| format!("{name} is damaged"))
}

/// Whether a layer can be read, and has something in it, as all have that a run writes.
fn is_whole_layer(bytes: &[u8], name: &str) -> bool {
    usd::parse(bytes, Path::new(name)).is_ok_and(|layer| !layer.prims.is_empty())
}

fn fault_of_reading(name: &str, why: &std::io::Error) -> String {
    match why.kind() {
        ErrorKind::NotFound => format!("{name} is missing"),
        _ => format!("{name} cannot be read: {why}"),
    }
}

/// The files of a frame: the output, the extension, and the name.
fn files(entry: &FrameEntry) -> impl Iterator<Item = (&str, &str, &str)> {
    let number = format!(".{}.", entry.frame);
    entry.files.iter().filter_map(move |file| {
        let (stem, extension) = file.name.rsplit_once(number.as_str())?;
        Some((stem, extension, file.name.as_str()))
    })
}

fn read_clip(path: &Path) -> Result<Clip, FrameError> {
    let bytes =
        std::fs::read(path).map_err(|source| IoError::Read { file: path.to_owned(), source })?;
    let frame = binary::parse(&bytes, path)?;
    let prim = frame.prims.first();
    let is_empty = prim
        .and_then(|prim| prim.attribute("points"))
        .and_then(|points| points.held_at(f64::MAX))
        .is_none_or(
            |value| matches!(value, Value::Array(Array::Float(values, _)) if values.is_empty()),
        );
    let up = match frame.fields.get("upAxis") {
        Some(Value::Token(word)) => UpAxis::of_word(word).unwrap_or_default(),
        _ => UpAxis::Y,
    };
    let translate = prim.and_then(|prim| prim.attribute("xformOp:translate"));
    let origin = match translate.and_then(|attribute| attribute.default.as_ref()) {
        Some(Value::DoubleVec(origin)) if origin.len() == 3 => {
            up.from_file(DVec3::new(origin[0], origin[1], origin[2]))
        }
        _ => DVec3::ZERO,
    };
    Ok(Clip { origin: (!is_empty).then_some(origin), frame: declared(frame) })
}

/// A frame without its samples.
fn declared(mut frame: Layer) -> Layer {
    for prim in &mut frame.prims {
        prim.attributes.iter_mut().for_each(|attribute| attribute.samples.clear());
    }
    frame
}

/// The grids of a file that USD shows as a volume: none of points.
fn read_fields(path: &Path) -> Result<Vec<VolumeField>, FrameError> {
    let file = File::open(path).map_err(IoError::from)?;
    let field = |kind: Kind| match kind {
        Kind::Float => Some(("float", false)),
        Kind::Double => Some(("double", false)),
        Kind::Int32 => Some(("int", false)),
        Kind::Int64 => Some(("int64", false)),
        Kind::Bool => Some(("bool", false)),
        Kind::Mask => Some(("mask", false)),
        Kind::Vec3s => Some(("float3", true)),
        Kind::Vec3d => Some(("double3", true)),
        Kind::Vec3i => Some(("int3", true)),
        Kind::Points => None,
    };
    let grids = file.grids().iter();
    Ok(grids
        .filter_map(|grid| {
            let (data_type, is_vector) = field(grid.kind)?;
            let class = match grid.class {
                Class::LevelSet => "levelSet",
                Class::FogVolume => "fogVolume",
                Class::Staggered => "staggered",
                Class::Unknown => "unknown",
            };
            Some(VolumeField {
                class: class.to_owned(),
                name: grid.name.clone(),
                data_type: data_type.to_owned(),
                is_vector,
            })
        })
        .collect())
}
