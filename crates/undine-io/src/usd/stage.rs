//! The root of a cache: a small scene that shows the files of all frames as one animation, and opens as it is.
//!
//! Each output is a prim below the default one. Points, meshes and curves are shown by *value clips*: at each frame, the
//! attributes are those of that frame's file, so that counts and connections may change. Volumes are shown by the path of
//! each frame's `.vdb`. [Shapes](super::shapes) are referred to, and moved by clips. Only frames that are there are listed; where one is missing, the one before it stays.
//!
//! Clips give values only to attributes that a *manifest* declares, and a prim has only those primvars that are declared
//! where it stands. Both declarations are taken from one frame of the output: [`StageOutput::of_clips`].

use super::geometry::{constant, identifier, scene_fields};
use super::layer::{Array, Attribute, Fields, Layer, Prim, Relationship, Value};
use super::shapes::reference;
use crate::error::{IoError, Result};
use crate::metadata::FileMetadata;
use std::collections::BTreeSet;

/// A cache as a scene.
#[derive(Debug, Clone)]
pub struct Stage {
    /// The name of the default prim; [`identifier`] makes it one.
    pub name: String,
    /// The first frame.
    pub first: f64,
    /// The last frame.
    pub last: f64,
    /// What there is to see.
    pub outputs: Vec<StageOutput>,
    /// What the file says of itself. Its axis is that of all the files that it shows; frames are time codes.
    pub metadata: FileMetadata,
}

/// One output of a cache: a file for each of its frames.
#[derive(Debug, Clone)]
pub struct StageOutput {
    /// The name of the prim; [`identifier`] makes it one.
    pub name: String,
    /// What the files hold.
    pub kind: StageKind,
    /// The frames that are there, and the file of each, relative to the root: `(12.0, "splash.0012.usdc")`. In any order.
    pub frames: Vec<(f64, String)>,
}

/// What the files of an output hold.
#[derive(Debug, Clone)]
pub enum StageKind {
    /// A prim in each of them, as [`layer`](super::geometry::layer) makes it.
    Clips {
        /// The prim in each of them.
        prim: Prim,
        /// The file that [`manifest`] gives the bytes of, relative to the root.
        manifest: String,
    },
    /// Where the prims of a layer are that [`still`](super::shapes::still) made, as [`clip`](super::shapes::clip) puts it down.
    /// There may be no frames: nothing moves then.
    Shapes {
        /// The file of that layer, relative to the root.
        layer: String,
        /// The file that [`manifest`](super::shapes::manifest) gives the bytes of, relative to the root.
        manifest: String,
    },
    /// Grids of OpenVDB.
    Volume {
        /// Their names.
        fields: Vec<VolumeField>,
    },
}

/// A grid of a volume.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VolumeField {
    /// Its name in the file.
    pub name: String,
    /// Its type, as scene description calls it: `half`, `float`, `float3`, `double`, `int`, `int64`, `bool`, `mask`, …
    pub data_type: String,
    /// What it is: `levelSet`, `fogVolume`, `staggered` or `unknown`.
    pub class: String,
    /// Whether it holds vectors of space, such as velocities.
    pub is_vector: bool,
}

impl StageOutput {
    /// An output of which this is one frame, to take the declarations from. Values in it are not used.
    pub fn of_clips(
        name: &str,
        frame: &Layer,
        manifest: &str,
        frames: Vec<(f64, String)>,
    ) -> Result<Self> {
        let prim = frame.prims.first().ok_or_else(|| IoError::Unwritable {
            what: format!("output `{name}`"),
            found: "its frame has no prim".to_owned(),
            wanted: "a frame with points, a mesh or curves".to_owned(),
        })?;
        let prim = declarations(prim);
        let manifest = manifest.to_owned();
        Ok(Self { name: name.to_owned(), kind: StageKind::Clips { prim, manifest }, frames })
    }

    /// The shapes below a root of this name, which is also that of the prim.
    pub fn of_shapes(name: &str, layer: &str, manifest: &str, frames: Vec<(f64, String)>) -> Self {
        let (layer, manifest) = (layer.to_owned(), manifest.to_owned());
        Self { name: name.to_owned(), kind: StageKind::Shapes { layer, manifest }, frames }
    }

    /// A volume of these grids.
    pub fn of_volume(name: &str, fields: Vec<VolumeField>, frames: Vec<(f64, String)>) -> Self {
        Self { name: name.to_owned(), kind: StageKind::Volume { fields }, frames }
    }
}

/// The layer that declares what varies in the files of an output; `None` if they are no clips.
pub fn manifest(output: &StageOutput) -> Option<Layer> {
    let StageKind::Clips { prim, .. } = &output.kind else { return None };
    let varying = |attribute: &&Attribute| attribute.default.is_none();
    let attributes = prim.attributes.iter().filter(varying).cloned().collect();
    let prim = Prim { attributes, ..prim.clone() };
    let name = Value::Token(prim.name.clone());
    let fields = Fields::from([("defaultPrim".to_owned(), name)]);
    Some(Layer { fields, prims: vec![prim], passed_over: Vec::new() })
}

/// The root of a cache. Its files lie where the outputs say, relative to it.
pub fn layer(stage: &Stage) -> Result<Layer> {
    let root = identifier(&stage.name);
    let mut fields = scene_fields(&root, &stage.metadata);
    fields.insert("startTimeCode".to_owned(), Value::Double(stage.first));
    fields.insert("endTimeCode".to_owned(), Value::Double(stage.last));
    let mut names = BTreeSet::new();
    let mut children = Vec::new();
    for output in &stage.outputs {
        let name = identifier(&output.name);
        if !names.insert(name.clone()) {
            return Err(IoError::Unwritable {
                what: format!("output `{}`", output.name),
                found: format!("another one is called `{name}` in the scene"),
                wanted: "give one of them another name".to_owned(),
            });
        }
        let frames = frames_of(output)?;
        children.push(match &output.kind {
            StageKind::Clips { prim, manifest } => {
                let fields = clips(&prim.name, manifest, &frames);
                Prim { name, fields, ..prim.clone() }
            }
            StageKind::Shapes { layer, manifest } => {
                let mut fields = clips(&name, manifest, &frames);
                let there = reference(&anchored(layer), &format!("/{name}"));
                fields.insert("references".to_owned(), there);
                Prim { name, fields, ..Prim::default() }
            }
            StageKind::Volume { fields } => volume(&root, name, fields, &frames)?,
        });
    }
    let prim = Prim { name: root, type_name: "Xform".to_owned(), children, ..Prim::default() };
    Ok(Layer { fields, prims: vec![prim], passed_over: Vec::new() })
}

/// The frames of an output in order, each once.
fn frames_of(output: &StageOutput) -> Result<Vec<(f64, String)>> {
    let mut frames = output.frames.clone();
    frames.sort_by(|a, b| a.0.total_cmp(&b.0));
    let twice = frames.windows(2).find(|pair| pair[0].0 == pair[1].0).map(|pair| pair[0].0);
    let strange = frames.iter().find(|(time, _)| !time.is_finite()).map(|(time, _)| *time);
    match twice.or(strange) {
        None => Ok(frames),
        Some(time) => Err(IoError::Unwritable {
            what: format!("frame {time} of output `{}`", output.name),
            found: if twice.is_some() { "it is there twice" } else { "it is no time" }.to_owned(),
            wanted: "one file for each frame".to_owned(),
        }),
    }
}

/// A prim without values, but for those that clips cannot give: what is uniform, and where it stands.
fn declarations(prim: &Prim) -> Prim {
    let attributes = prim.attributes.iter().map(|attribute| {
        let is_fixed = attribute.uniform || attribute.name.starts_with("xformOp:");
        let default = attribute.default.clone().filter(|_| is_fixed);
        Attribute { default, samples: Vec::new(), ..attribute.clone() }
    });
    Prim {
        name: prim.name.clone(),
        type_name: prim.type_name.clone(),
        attributes: attributes.collect(),
        ..Prim::default()
    }
}

/// The metadata of a prim whose values are those of another in the files of its frames; none without frames.
fn clips(prim: &str, manifest: &str, frames: &[(f64, String)]) -> Fields {
    if frames.is_empty() {
        return Fields::new();
    }
    let files = frames.iter().map(|(_, file)| anchored(file)).collect();
    let active = (0..).zip(frames).flat_map(|(n, (time, _))| [*time, f64::from(n)]).collect();
    let times = frames.iter().flat_map(|(time, _)| [*time, *time]).collect();
    let entries = [
        ("active", Value::Array(Array::Double(active, 2))),
        ("assetPaths", Value::Array(Array::Asset(files))),
        ("manifestAssetPath", Value::Asset(anchored(manifest))),
        ("primPath", Value::String(format!("/{prim}"))),
        ("times", Value::Array(Array::Double(times, 2))),
    ];
    let set: Fields = entries.map(|(name, value)| (name.to_owned(), value)).into();
    let sets = Fields::from([("default".to_owned(), Value::Dictionary(set))]);
    Fields::from([("clips".to_owned(), Value::Dictionary(sets))])
}

fn volume(
    root: &str,
    name: String,
    fields: &[VolumeField],
    frames: &[(f64, String)],
) -> Result<Prim> {
    let file = Attribute {
        name: "filePath".to_owned(),
        type_name: "asset".to_owned(),
        samples: frames.iter().map(|(time, file)| (*time, Value::Asset(anchored(file)))).collect(),
        ..Attribute::default()
    };
    let mut relationships = Vec::new();
    let mut children = Vec::new();
    for field in fields {
        let child = identifier(&field.name);
        if children.iter().any(|other: &Prim| other.name == child) {
            return Err(IoError::Unwritable {
                what: format!("grid `{}` of volume `{name}`", field.name),
                found: format!("another one is called `{child}` in the scene"),
                wanted: "give one of them another name".to_owned(),
            });
        }
        let token = |word: &str| Value::Token(word.to_owned());
        let mut attributes = vec![
            file.clone(),
            constant("fieldName", "token", token(&field.name)),
            constant("fieldIndex", "int", Value::Int(0)),
            constant("fieldDataType", "token", token(&field.data_type)),
            constant("fieldClass", "token", token(&field.class)),
        ];
        if field.is_vector {
            attributes.push(constant("vectorDataRoleHint", "token", token("Vector")));
        }
        relationships.push(Relationship {
            name: format!("field:{child}"),
            targets: vec![format!("/{root}/{name}/{child}")],
        });
        children.push(Prim {
            name: child,
            type_name: "OpenVDBAsset".to_owned(),
            attributes,
            ..Prim::default()
        });
    }
    Ok(Prim { name, type_name: "Volume".to_owned(), relationships, children, ..Prim::default() })
}

/// A path that is looked for next to the root, and nowhere else.
fn anchored(file: &str) -> String {
    let file = file.replace('\\', "/");
    let is_anchored = file.starts_with("./") || file.starts_with("../") || file.starts_with('/');
    if is_anchored { file } else { format!("./{file}") }
}
