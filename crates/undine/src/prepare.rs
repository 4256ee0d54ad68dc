//! From a scene to a Simulation: the timeline, the data graph, the memory that may be used.

use crate::behaviors::behaviors;
use crate::cache::SceneRecord;
use crate::frames;
use crate::run::{RunError, cache_folder};
use std::io::ErrorKind;
use std::path::Path;
use std::sync::Arc;
use undine_core::memory::MemoryBudget;
use undine_core::process::{Processes, Single};
use undine_io::UpAxis;
use undine_io::usd::geometry::identifier;
use undine_scene::graph::{Context, Graph};
use undine_scene::{GraphNode, Output, Scene, USUAL_CFL};
use undine_schema::setup::{self, Group, Node};
use undine_schema::{Declaration, Setting, Type, Value};
use undine_sim::newton::NewtonSettings;
use undine_sim::timeline::Substeps;
use undine_sim::{ObjectId, SimError, Simulation, StoreId, Timeline};

/// The frames and steps of a scene.
pub fn timeline(scene: &Scene) -> Timeline {
    let settings = &scene.settings;
    let whole = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
    let least = whole(settings.substeps.unwrap_or(1).max(1));
    let most = whole(settings.max_substeps).max(least);
    Timeline {
        fps: settings.fps,
        first: settings.first,
        last: settings.last,
        preroll: u32::try_from(settings.preroll).unwrap_or(0),
        time_scale: settings.time_scale,
        substeps: match (settings.cfl, settings.substeps) {
            (Some(cfl), _) => Substeps::Adaptive { least, most, cfl },
            (None, Some(_)) => Substeps::Fixed(least),
            (None, None) => Substeps::Automatic { most, cfl: USUAL_CFL },
        },
        outputs_per_frame: scene
            .outputs
            .iter()
            .map(|output| whole(output.per_frame))
            .max()
            .unwrap_or(1),
        seed: settings.seed,
        newton: NewtonSettings {
            iterations: settings.newton_iterations.max(1),
            ..NewtonSettings::default()
        },
    }
}

/// A scene at work, with everything at its first frame.
pub fn simulation(scene: &Scene, budget: MemoryBudget) -> Result<Simulation, RunError> {
    distributed(scene, budget, Arc::new(Single))
}

/// The same on several processes: each reads the scene and its inputs, and keeps its part. Collective.
pub fn distributed(
    scene: &Scene,
    budget: MemoryBudget,
    processes: Arc<dyn Processes>,
) -> Result<Simulation, RunError> {
    check_folder(scene).map_err(|why| RunError::setup(scene, why))?;
    let graph = Graph::new(scene.inputs.clone(), Context::of(scene, budget.clone()))
        .map_err(|why| RunError::setup(scene, why.into_sim()))?;
    let (kinds, timeline, inputs) = (behaviors(), timeline(scene), Arc::new(graph));
    let simulation =
        Simulation::distributed(&scene.root, &kinds, timeline, inputs, budget, processes)
            .map_err(|why| RunError::setup(scene, why))?;
    check_names(&simulation).map_err(|why| RunError::setup(scene, why))?;
    check_outputs(scene, &simulation).map_err(|why| RunError::setup(scene, why))?;
    Ok(simulation)
}

/// Refuses a folder for frames that is something else, or lies in it.
fn check_folder(scene: &Scene) -> undine_sim::Result<()> {
    let folder = cache_folder(scene);
    if let Some(link) = folder.ancestors().find(|path| path.is_symlink() && !path.exists()) {
        let (fault, help) = fault_of_link(link);
        let what = format!("frames cannot go to {}: {fault}", folder.display());
        return Err(SimError::setup("output0.dir", what, help));
    }
    let there = folder.ancestors().find(|path| path.exists());
    match there.filter(|path| !path.is_dir()) {
        None => Ok(()),
        Some(file) => Err(SimError::setup(
            "output0.dir",
            format!("frames cannot go to {}: {} is no folder", folder.display(), file.display()),
            "name a folder; it is made if it is not there",
        )),
    }
}

/// What is wrong with a link that leads to nothing, and what would be right.
fn fault_of_link(link: &Path) -> (String, String) {
    let name = link.display();
    let target = std::fs::read_link(link).unwrap_or_default();
    let remove = format!("remove the link {name}, and a folder is made in its place");
    let (fault, help) = match link.metadata() {
        Err(why) if why.kind() != ErrorKind::NotFound => {
            (format!("which cannot be followed: {why}"), remove)
        }
        _ => ("which is not there".to_owned(), format!("make that folder; or {remove}")),
    };
    (format!("{name} is a link to {}, {fault}", target.display()), help)
}

/// What the files of a store of an Object are called, before the frame's number.
pub fn stem(path: &str, suffix: Option<&str>) -> String {
    let stem = path.replace('/', "-");
    match suffix {
        Some(suffix) => format!("{stem}-{suffix}"),
        None => stem,
    }
}

/// What the files of a mesh are called that a `surface` asks for, before the frame's number: `water-surface`, or with a name of its own
/// `water-surface-skin`.
pub fn stem_of_skin(path: &str) -> String {
    let (group, name) = path.rsplit_once('/').unwrap_or(("", path));
    let words = [group, SURFACE, if name == SURFACE { "" } else { name }];
    let words: Vec<&str> = words.into_iter().filter(|word| !word.is_empty()).collect();
    stem(&words.join("/"), None)
}

/// Whether files called so hold a mesh of particles that files called otherwise hold: those of its Group.
pub fn is_skin_of(stem: &str, other: &str) -> bool {
    let words: Vec<&str> = stem.split('-').collect();
    let Some(at) = words.iter().rposition(|word| *word == SURFACE) else { return false };
    let others: Vec<&str> = other.split('-').collect();
    stem != other && others.starts_with(&words[..at])
}

/// What a surface is called that has no name of its own.
const SURFACE: &str = "surface";

/// The Objects that an output writes; `None` for all.
pub fn objects_of(output: &Output, simulation: &Simulation) -> Option<Vec<ObjectId>> {
    objects_below(output.of.as_deref(), simulation)
}

/// The Objects at or below a path of the setup; `None` for all.
pub fn objects_below(path: Option<&str>, simulation: &Simulation) -> Option<Vec<ObjectId>> {
    let target = simulation.tree().find(0, path?);
    Some(target.map_or_else(Vec::new, |target| simulation.tree().objects_of(target)))
}

/// Refuses an Object that two outputs write, since both would go into one file; what one stage cannot show; volumes turned from
/// z to y up; and channels that nothing has.
fn check_outputs(scene: &Scene, simulation: &Simulation) -> undine_sim::Result<()> {
    let ups = scene.outputs.iter().map(|output| output.up.unwrap_or(scene.settings.up));
    if let Some(n) = ups.clone().position(|up| Some(up) != ups.clone().next()) {
        return Err(SimError::setup(
            format!("output{n}"),
            "another output has another axis up, and one stage shows the files of both",
            "give all of them the same `up`",
        ));
    }
    for (n, output) in scene.outputs.iter().enumerate() {
        check_channels(n, output, simulation)?;
    }
    for (path, object) in simulation.objects() {
        let is_volume = |store: &(_, StoreId)| matches!(store.1, StoreId::Volume(_));
        let has_volume = object.output().iter().any(is_volume);
        let turns = |output: &Output| {
            scene.settings.up == UpAxis::Z && output.up == Some(UpAxis::Y) && has_volume
        };
        if let Some(n) = scene.outputs.iter().position(turns) {
            return Err(SimError::setup(
                format!("output{n}.up"),
                format!("the volumes of `{path}` cannot be turned from z to y up"),
                "leave `up` of the output away, or let y point up in the scene",
            ));
        }
        let writes = |output: &Output| {
            objects_of(output, simulation).is_none_or(|objects| objects.contains(&object.id()))
        };
        let writers: Vec<usize> =
            (0..scene.outputs.len()).filter(|&n| writes(&scene.outputs[n])).collect();
        if let [_, again, ..] = writers[..] {
            return Err(SimError::setup(
                format!("output{again}"),
                format!("`{path}` is written by another output already"),
                "say with `of` which Object or Group each output writes, or keep one of them",
            ));
        }
    }
    Ok(())
}

/// Refuses names of channels that nothing has that is written, and new names that are taken.
fn check_channels(n: usize, output: &Output, simulation: &Simulation) -> undine_sim::Result<()> {
    let there = frames::channels(simulation, output);
    let listed = || there.iter().map(String::as_str).collect::<Vec<_>>().join(", ");
    let wrong = |parameter: &str, what: String, right: String| {
        Err(SimError::setup(format!("output{n}.{parameter}"), what, right))
    };
    // Without Objects, or before any is made, there is nothing to hold names against.
    if there.is_empty() {
        return Ok(());
    }
    if let Some(name) = output.channels.iter().find(|name| *name != "P" && !there.contains(*name)) {
        let what = format!("nothing that is written has a channel `{name}`");
        return wrong("channels", what, format!("there are {}", listed()));
    }
    for (own, new) in &output.renamed {
        if !there.contains(own) {
            let what = format!("nothing that is written has a channel `{own}`");
            return wrong("rename", what, format!("there are {}", listed()));
        }
        let is_free = !there.contains(new) || output.renamed.iter().any(|(other, _)| other == new);
        if !is_free || new == "P" {
            let what = format!("`{own}` cannot be called `{new}`, which is another channel");
            return wrong("rename", what, "give it a name that is free".to_owned());
        }
    }
    Ok(())
}

/// The longest name of an Object with its Groups [bytes]: its files are called so, with frame and extension, and no name of the cache
/// has more than 200.
const LONGEST_STEM: usize = 160;

/// Refuses Objects whose files would have one name, or one that no file can have, before there is any work to lose.
fn check_names(simulation: &Simulation) -> undine_sim::Result<()> {
    let mut taken = std::collections::BTreeMap::new();
    let objects = simulation.objects().map(|(path, object)| {
        let stores = object.output().into_iter();
        (path, stores.map(|(suffix, _)| stem(path, suffix)).collect::<Vec<_>>())
    });
    let skins = simulation.skins().map(|(path, _)| (path, vec![stem_of_skin(path)]));
    for (path, names) in objects.chain(skins) {
        for name in names {
            let is_plain = |c: char| c.is_alphanumeric() || "-_. ".contains(c);
            if !name.chars().all(is_plain) || name.starts_with('.') || name.len() > LONGEST_STEM {
                let what = format!("`{name}` is no good name for a file");
                let help = format!(
                    "use letters, digits, hyphens and underscores, {LONGEST_STEM} at most with those of its Groups"
                );
                return Err(SimError::setup(path, what, help));
            }
            // As USD calls it, which knows no hyphens; and some disks know no capitals.
            let key = identifier(&name).to_lowercase();
            if frames::is_of_shapes(&key.replace('_', "-")) {
                let what = format!("its files `{name}.####` would be those of shapes");
                return Err(SimError::setup(path, what, "give it another name"));
            }
            if let Some(other) = taken.insert(key, path) {
                let what = format!("its files `{name}.####` would be those of `{other}`, too");
                return Err(SimError::setup(path, what, "give one of them another name"));
            }
        }
    }
    Ok(())
}

/// Makes every voxel and spacing `1 / quality` times as large, for a quick look, which has a cache of its own.
pub fn scale_resolution(scene: &mut Scene, quality: f64) {
    if quality == 1.0 {
        return;
    }
    for output in &mut scene.outputs {
        output.dir = format!("{}-quality-{quality}", output.dir.trim_end_matches('/'));
    }
    scale_group(&mut scene.root, quality);
    for input in &mut scene.inputs {
        input.nodes.iter_mut().for_each(|node| scale_node(node, quality));
    }
}

fn scale_group(group: &mut Group, quality: f64) {
    for child in &mut group.children {
        match child {
            Node::Group(group) => scale_group(group, quality),
            Node::Behavior(behavior) => {
                scale(behavior.declaration, &mut behavior.settings, quality)
            }
        }
    }
}

fn scale_node(node: &mut GraphNode, quality: f64) {
    scale(node.declaration, &mut node.settings, quality);
    node.children.iter_mut().for_each(|child| scale_node(child, quality));
}

fn scale(declaration: &Declaration, settings: &mut setup::Settings, quality: f64) {
    for parameter in declaration.parameters.iter().filter(|parameter| parameter.resolves) {
        let set = settings.get(parameter.name).map(|setting| setting.at(0.0));
        if let Some(Value::Number(size)) = set.or_else(|| parameter.fallback.value()) {
            let scaled = Setting::from(size / quality);
            settings.insert(parameter.name.to_owned(), scaled);
        }
    }
}

/// Everything a result depends on, as text by path, so that a changed scene is noticed with what differs. The last frame is
/// not among it: a run may grow.
pub fn record(scene: &Scene) -> Result<SceneRecord, RunError> {
    let mut record = SceneRecord::default();
    let settings = &scene.settings;
    for (name, value) in [
        ("name", settings.name.clone()),
        ("fps", format!("{}", settings.fps)),
        ("first", format!("{}", settings.first)),
        ("preroll", format!("{}", settings.preroll)),
        ("time-scale", format!("{}", settings.time_scale)),
        ("substeps", settings.substeps.map_or("as fluids need".into(), |count| count.to_string())),
        ("cfl", format!("{:?}", settings.cfl)),
        ("max-substeps", format!("{}", settings.max_substeps)),
        ("newton-iterations", format!("{}", settings.newton_iterations)),
        ("seed", format!("{}", settings.seed)),
        ("up", format!("{:?}", settings.up)),
    ] {
        record.set(format!("setup.{name}"), value);
    }
    for (n, output) in scene.outputs.iter().enumerate() {
        record.set(format!("output-{n}.of"), format!("{:?}", output.of));
        record.set(format!("output-{n}.channels"), output.channels.join(" "));
        for (name, value) in [
            ("every", output.every.to_string()),
            ("per-frame", output.per_frame.to_string()),
            ("format", output.format.to_string()),
            ("up", format!("{:?}", output.up)),
            ("rename", format!("{:?}", output.renamed)),
            ("shapes", output.shapes.to_string()),
            ("half", output.half.to_string()),
            ("codec", format!("{:?}", output.codec)),
            ("to-finest", output.to_finest.to_string()),
        ] {
            record.set(format!("output-{n}.{name}"), value);
        }
    }
    record_group(&mut record, "", &scene.root);
    for input in &scene.inputs {
        let path = format!("input/{}", input.name);
        record.set(format!("{path}.disabled"), input.disabled.to_string());
        for (name, attribute) in &input.attributes {
            record.set(format!("{path}.attribute.{name}"), attribute.value.to_string());
        }
        for node in &input.nodes {
            record_node(&mut record, &scene.folder, node)?;
        }
    }
    Ok(record)
}

fn record_group(record: &mut SceneRecord, path: &str, group: &Group) {
    record_settings(record, path, &group.settings);
    if group.disabled {
        record.set(format!("{path}.disabled"), "#true");
    }
    for (n, child) in group.children.iter().enumerate() {
        let path = if path.is_empty() {
            child.name().to_owned()
        } else {
            format!("{path}/{}", child.name())
        };
        match child {
            Node::Group(group) => record_group(record, &path, group),
            Node::Behavior(behavior) => {
                // Where it stands among its siblings is part of the order of evaluation.
                record.set(path.clone(), format!("{} {n}", behavior.declaration.name));
                if behavior.disabled {
                    record.set(format!("{path}.disabled"), "#true");
                }
                record_settings(record, &path, &behavior.settings);
            }
        }
    }
}

fn record_settings(record: &mut SceneRecord, path: &str, settings: &setup::Settings) {
    for (name, setting) in settings {
        let value = match setting {
            Setting::Constant(value) => value.to_string(),
            Setting::Keyed(keys) => {
                let key = |key: &undine_schema::Key| format!("{} s: {}", key.time, key.value);
                let keys_text: Vec<String> = keys.keys().iter().map(key).collect();
                format!("{:?} {}", keys.interpolation(), keys_text.join(", "))
            }
        };
        record.set(format!("{path}.{name}"), value);
    }
}

fn record_node(record: &mut SceneRecord, folder: &Path, node: &GraphNode) -> Result<(), RunError> {
    record.set(node.path.clone(), node.declaration.name);
    if node.disabled {
        record.set(format!("{}.disabled", node.path), "#true");
    }
    record_settings(record, &node.path, &node.settings);
    for parameter in node.declaration.parameters.iter().filter(|p| p.takes == Type::File) {
        if let Some(Value::Text(file)) = node.settings.get(parameter.name).map(|set| set.at(0.0)) {
            // A file that holds other data is another scene; of a sequence, only its name is looked at.
            let path = folder.join(&file);
            if let Ok(sum) = checksum(&path) {
                record.set(
                    format!("{}.{}.checksum", node.path, parameter.name),
                    format!("{sum:08x}"),
                );
            }
        }
    }
    node.children.iter().try_for_each(|child| record_node(record, folder, child))
}

fn checksum(path: &Path) -> std::io::Result<u32> {
    let mut file = std::fs::File::open(path)?;
    let mut sum = crc32fast::Hasher::new();
    let mut buffer = vec![0; 1 << 16];
    loop {
        match std::io::Read::read(&mut file, &mut buffer)? {
            0 => return Ok(sum.finalize()),
            read => sum.update(&buffer[..read]),
        }
    }
}
