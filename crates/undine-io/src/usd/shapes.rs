//! Meshes that are turned and moved as a whole, over the frames of a cache.
//!
//! What does not change is said once, in one layer: what each mesh looks like, and where it begins. What changes is said frame by
//! frame, in layers that are value clips: for each prim that moves, `xformOp:translate` and `xformOp:orient`; for one that
//! deforms, its points and faces as well. So a frame costs what moves in it, and not what it looks like. Meshes that several
//! prims share lie below a class that nobody sees, and are referred to.

use super::geometry::{Form, constant, identifier, layer, scene_fields, uniform};
use super::layer::{Array, Attribute, Fields, Layer, ListItem, ListOp, Prim, Specifier, Value};
use crate::Geometry;
use crate::error::{IoError, Result};
use crate::metadata::FileMetadata;
use crate::names::UpAxis;
use std::collections::BTreeSet;
use undine_core::glam::{DQuat, DVec3};

/// The prim above the meshes that several prims share.
const FORMS: &str = "forms";

/// A mesh of a scene.
#[derive(Debug, Clone)]
pub struct ShapePrim {
    /// Its name below the root, and that of a prim between, if there is one: `crates/body_7`. Each is made an [`identifier`].
    pub path: String,
    /// Which of the meshes it looks like.
    pub form: usize,
    /// Where it is, or begins.
    pub place: Place,
    /// What else is said of it, under names of our own: attributes `undine:…`.
    pub words: Vec<(&'static str, Value)>,
}

/// Where a mesh is, in metres with Y up.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Place {
    /// Where its origin is [m].
    pub position: DVec3,
    /// How it is turned.
    pub turn: DQuat,
}

/// A prim at a frame.
#[derive(Debug, Clone, Copy)]
pub struct Moved<'a> {
    /// As [`ShapePrim::path`].
    pub path: &'a str,
    /// Where it is.
    pub place: Place,
    /// Its mesh then, if it deforms.
    pub form: Option<&'a Geometry>,
}

/// The layer that says what prims look like: roots by name, each with its prims, and the meshes, which have points and faces.
pub fn still(
    roots: &[(String, Vec<ShapePrim>)],
    forms: &[Geometry],
    metadata: &FileMetadata,
) -> Result<Layer> {
    let mut users = vec![0_usize; forms.len()];
    for prim in roots.iter().flat_map(|(_, prims)| prims) {
        match users.get_mut(prim.form) {
            Some(users) => *users += 1,
            None => return Err(refused(&prim.path, "it looks like a mesh that is not there")),
        }
    }
    let mut shared = Vec::new();
    for (n, form) in forms.iter().enumerate().filter(|(n, _)| users[*n] > 1) {
        let attributes = mesh(form, None, metadata)?;
        shared.push(Prim { name: format!("form_{n}"), attributes, ..mesh_prim() });
    }
    let mut prims = Vec::new();
    for (root, shapes) in roots {
        let mut children = Vec::new();
        for shape in shapes {
            let mut prim = mesh_prim();
            if users[shape.form] > 1 {
                let path = format!("/{FORMS}/form_{}", shape.form);
                prim.fields.insert("references".to_owned(), reference("", &path));
            } else {
                prim.attributes = mesh(&forms[shape.form], None, metadata)?;
            }
            let [position, turn] = placing(shape.place, metadata.up);
            prim.attributes.push(constant("xformOp:translate", "double3", position));
            prim.attributes.push(constant("xformOp:orient", "quatd", turn));
            let order = ["xformOp:translate", "xformOp:orient"].map(str::to_owned).to_vec();
            let order = Value::Array(Array::Token(order));
            prim.attributes.push(uniform("xformOpOrder", "token[]", order));
            for (name, value) in &shape.words {
                let kind = match value {
                    Value::Bool(_) => "bool",
                    Value::Token(_) => "token",
                    Value::String(_) => "string",
                    _ => return Err(refused(&shape.path, "it says what is no word")),
                };
                let said = uniform(&format!("undine:{name}"), kind, value.clone());
                prim.attributes.push(Attribute { custom: true, ..said });
            }
            put(&mut children, &shape.path, prim, Specifier::Def);
        }
        let name = identifier(root);
        prims.push(Prim { name, type_name: "Xform".to_owned(), children, ..Prim::default() });
    }
    let first = prims.first().map_or("", |prim| &prim.name).to_owned();
    if !shared.is_empty() {
        let (name, specifier) = (FORMS.to_owned(), Specifier::Class);
        prims.push(Prim { name, specifier, children: shared, ..Prim::default() });
    }
    Ok(Layer { fields: scene_fields(&first, metadata), prims, passed_over: Vec::new() })
}

/// The layer of a frame: where prims below a root are at a time [time codes, which are frames], and what those look like that deform.
pub fn clip(root: &str, moved: &[Moved<'_>], time: f64, metadata: &FileMetadata) -> Result<Layer> {
    let root = identifier(root);
    let mut children = Vec::new();
    for shape in moved {
        let mut attributes = match shape.form {
            Some(form) => mesh(form, Some(time), metadata)?,
            None => Vec::new(),
        };
        let [position, turn] = placing(shape.place, metadata.up);
        for (name, kind, value) in
            [("xformOp:translate", "double3", position), ("xformOp:orient", "quatd", turn)]
        {
            attributes.push(Attribute {
                name: name.to_owned(),
                type_name: kind.to_owned(),
                samples: vec![(time, value)],
                ..Attribute::default()
            });
        }
        // What does not change is said elsewhere.
        attributes.retain(|attribute| !attribute.samples.is_empty());
        let prim = Prim { attributes, specifier: Specifier::Over, ..Prim::default() };
        put(&mut children, shape.path, prim, Specifier::Over);
    }
    let mut fields = scene_fields(&root, metadata);
    fields.insert("startTimeCode".to_owned(), Value::Double(time));
    fields.insert("endTimeCode".to_owned(), Value::Double(time));
    let prim = Prim { name: root, specifier: Specifier::Over, children, ..Prim::default() };
    Ok(Layer { fields, prims: vec![prim], passed_over: Vec::new() })
}

/// The manifest of clips of which this is one: what it declares, without its values.
pub fn manifest(clip: &Layer) -> Layer {
    let name = clip.prims.first().map_or("", |prim| &prim.name);
    let fields = Fields::from([("defaultPrim".to_owned(), Value::Token(name.to_owned()))]);
    let mut prims = clip.prims.clone();
    prims.iter_mut().for_each(declare);
    Layer { fields, prims, passed_over: Vec::new() }
}

fn declare(prim: &mut Prim) {
    prim.attributes.iter_mut().for_each(|attribute| attribute.samples.clear());
    prim.children.iter_mut().for_each(declare);
}

/// A reference to a prim of a file; of this one, without a name.
pub(super) fn reference(asset: &str, prim: &str) -> Value {
    let (asset, prim) = (asset.to_owned(), prim.to_owned());
    let item = ListItem::Reference { asset, prim, offset: 0.0, scale: 1.0 };
    Value::List(ListOp { prepended: vec![item], ..ListOp::default() })
}

fn mesh_prim() -> Prim {
    Prim { type_name: "Mesh".to_owned(), ..Prim::default() }
}

/// The attributes of a mesh, at a time or at all.
fn mesh(geometry: &Geometry, time: Option<f64>, metadata: &FileMetadata) -> Result<Vec<Attribute>> {
    let form = Form { time, metadata: metadata.clone(), ..Form::default() };
    let layer = layer(geometry, &form)?;
    let prim = layer.prims.into_iter().next().filter(|prim| prim.type_name == "Mesh");
    Ok(prim.ok_or_else(|| refused("a mesh", "it has no faces"))?.attributes)
}

/// Where a prim is, as the file has it.
fn placing(place: Place, up: UpAxis) -> [Value; 2] {
    let position = up.to_file(place.position);
    let axis = up.to_file(place.turn.xyz());
    // Imaginary parts, then the real one.
    let turn = vec![axis.x, axis.y, axis.z, place.turn.w];
    [Value::DoubleVec(position.to_array().to_vec()), Value::DoubleVec(turn)]
}

/// Puts a prim where its path says, below one in between where there is one.
fn put(children: &mut Vec<Prim>, path: &str, prim: Prim, between: Specifier) {
    let (above, name) = match path.split_once('/') {
        Some((above, name)) => (Some(identifier(above)), identifier(name)),
        None => (None, identifier(path)),
    };
    let prim = Prim { name, ..prim };
    let Some(above) = above else {
        children.push(prim);
        return;
    };
    // Prims of one Object come one after the other.
    if children.last().is_none_or(|last| last.name != above) {
        let type_name = if between == Specifier::Def { "Xform" } else { "" }.to_owned();
        children.push(Prim { name: above, specifier: between, type_name, ..Prim::default() });
    }
    if let Some(last) = children.last_mut() {
        last.children.push(prim);
    }
}

/// Names for things with paths of their own, as [`ShapePrim::path`] wants them: no two are the same, also for those who do not
/// tell capitals from others.
pub fn unique_names<'a>(paths: impl IntoIterator<Item = &'a str>) -> Vec<String> {
    let mut taken = BTreeSet::new();
    let mut names = Vec::new();
    for path in paths {
        let plain = identifier(path);
        let mut name = plain.clone();
        let mut n = 1;
        while !taken.insert(name.to_lowercase()) {
            n += 1;
            name = format!("{plain}_{n}");
        }
        names.push(name);
    }
    names
}

fn refused(what: &str, found: &str) -> IoError {
    IoError::Unwritable {
        what: what.to_owned(),
        found: found.to_owned(),
        wanted: "points with faces".to_owned(),
    }
}
