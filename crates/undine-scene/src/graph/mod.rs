//! The data graph: prepares inputs before the solver, lazily and per time.
//!
//! An input is a list of nodes: first sources, whose data are merged, then filters, each of which changes what the nodes before
//! it made. A node may name another input. Only what is asked for is evaluated: what does not change with time once, the
//! rest once per time. The same graph gives the same data for any number of threads.

mod error;
mod files;
mod filter_distance;
mod filter_noise;
mod filter_points;
mod filter_solid;
mod filter_strands;
mod filter_transform;
mod filter_volume;
mod flow;
mod given;
mod room;
mod source_file;
mod source_mesh;
mod source_shape;

pub use error::{Fault, GraphError};
pub use files::level_set;

use crate::scene::{GraphNode, Input, Scene};
use given::Given;
use room::Takes;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use undine_core::MemoryBudget;
use undine_core::glam::DVec3;
use undine_io::UpAxis;
use undine_schema::{Declaration, Kind, Type, Value};
use undine_sim::input::{Data, Geometry, Inputs};

/// What inputs are prepared for.
#[derive(Debug, Clone)]
pub struct Context {
    /// How long a frame lasts in simulated time [s].
    pub frame_seconds: f64,
    /// The frame at time 0.
    pub first_frame: i64,
    /// What files are relative to.
    pub folder: PathBuf,
    /// Which way is up in the scene.
    pub up: UpAxis,
    /// What inputs may take while they are made.
    pub budget: MemoryBudget,
}

impl Default for Context {
    fn default() -> Self {
        Self {
            frame_seconds: 1.0 / 24.0,
            first_frame: 1,
            folder: PathBuf::new(),
            up: UpAxis::Y,
            budget: MemoryBudget::unlimited(),
        }
    }
}

impl Context {
    /// What a scene says of it.
    pub fn of(scene: &Scene, budget: MemoryBudget) -> Self {
        Self {
            frame_seconds: scene.settings.frame_seconds(),
            first_frame: scene.settings.first,
            folder: scene.folder.clone(),
            up: scene.settings.up,
            budget,
        }
    }
}

/// A kind of node: its declaration, and what it does.
#[derive(Debug)]
pub struct Node {
    /// How it is written.
    pub declaration: &'static Declaration,
    run: fn(&Call<'_>) -> Result<Data, Fault>,
    /// What it takes of memory, which is asked for before it runs.
    takes: fn(&Call<'_>) -> Result<Option<Takes>, Fault>,
    /// Whether what it makes depends on the time even if nothing that it is set to does.
    changes: fn(&GraphNode, &Context) -> bool,
}

/// Every node there is, sources first.
pub const NODES: &[Node] = &[
    node(&source_shape::BOX, source_shape::cuboid).taking(room::shape),
    node(&source_shape::SPHERE, source_shape::sphere).taking(room::shape),
    node(&source_shape::CYLINDER, source_shape::cylinder).taking(room::shape),
    node(&source_shape::TORUS, source_shape::torus).taking(room::shape),
    node(&source_shape::CAPSULE, source_shape::capsule).taking(room::shape),
    node(&source_shape::PLANE, source_shape::plane),
    node(&source_mesh::SHEET, source_mesh::sheet).taking(room::sheet),
    node(&source_mesh::CURVES, source_mesh::curves).taking(room::curves),
    node(&source_mesh::TET_BOX, source_mesh::tet_box).taking(room::tet_box),
    node(&source_mesh::POINTS, source_mesh::points),
    node(&source_file::FROM, source_file::from),
    Node { changes: source_file::follows_frames, ..node(&source_file::LOADED, source_file::load) },
    Node { changes: |_, _| true, ..node(&source_file::ANIMATE, source_file::animate) },
    node(&source_file::INITIAL_STATE, source_file::initial_state),
    node(&filter_transform::TRANSFORM, filter_transform::transform).taking(room::copy),
    node(&filter_points::MERGE, filter_points::merge).taking(room::copy),
    node(&filter_solid::SUBTRACT, filter_solid::subtract),
    node(&filter_solid::INTERSECT, filter_solid::intersect),
    node(&filter_solid::HOLLOW, filter_solid::hollow),
    node(&filter_solid::INVERT, filter_solid::invert),
    node(&filter_volume::TO_DISTANCE, filter_volume::to_distance).taking(room::to_distance),
    node(&filter_distance::SOFTEN, filter_distance::soften),
    node(&filter_distance::DILATE, filter_distance::dilate),
    node(&filter_distance::ERODE, filter_distance::erode),
    node(&filter_distance::OPEN, filter_distance::open),
    node(&filter_distance::CLOSE, filter_distance::close),
    node(&filter_volume::SCATTER, filter_volume::scatter).taking(room::scatter),
    node(&filter_strands::STRANDS, filter_strands::strands).taking(room::strands),
    node(&filter_volume::RASTERISE, filter_volume::rasterise).taking(room::rasterise),
    node(&filter_noise::NOISE, filter_noise::noise).taking(room::copy),
    node(&filter_points::SET, filter_points::set).taking(room::copy),
];

/// Whether a node is a filter that changes distances, and may stand in the block of a Behavior that makes some.
pub(crate) fn changes_distances(declaration: &'static Declaration) -> bool {
    let filters = [
        &filter_distance::SOFTEN,
        &filter_distance::DILATE,
        &filter_distance::ERODE,
        &filter_distance::OPEN,
        &filter_distance::CLOSE,
        &filter_solid::SUBTRACT,
        &filter_solid::INTERSECT,
    ];
    filters.into_iter().any(|filter| std::ptr::eq(filter, declaration))
}

/// Whether a node works on two inputs, of which the nodes within it may make the other one.
fn takes_another(declaration: &'static Declaration) -> bool {
    let two = [&filter_points::MERGE, &filter_solid::SUBTRACT, &filter_solid::INTERSECT];
    two.into_iter().any(|of_two| std::ptr::eq(of_two, declaration))
}

const fn node(
    declaration: &'static Declaration,
    run: fn(&Call<'_>) -> Result<Data, Fault>,
) -> Node {
    Node { declaration, run, takes: room::nothing, changes: |_, _| false }
}

impl Node {
    const fn taking(self, takes: fn(&Call<'_>) -> Result<Option<Takes>, Fault>) -> Self {
        Self { takes, ..self }
    }
}

/// What a node is run with.
struct Call<'a> {
    given: Given<'a>,
    /// What the nodes before it made; nothing for a source.
    data: Arc<Data>,
    /// What the nodes within it made, if there are any.
    within: Option<Arc<Data>>,
    /// When [s].
    time: f64,
    graph: &'a Graph,
    /// The inputs that wait for this one.
    waiting: &'a [&'a str],
}

impl Call<'_> {
    fn context(&self) -> &Context {
        &self.graph.context
    }

    /// The input that a parameter names, at the time.
    fn input(&self, parameter: &str) -> Result<Arc<Data>, Fault> {
        let name = self.given.text(parameter)?;
        self.graph
            .evaluate_within(&name, self.time, self.waiting)
            .map_err(|why| Fault::Other(Box::new(why)))
    }

    /// What the nodes before it made, with nothing left to move.
    fn data_at_rest(&self) -> Result<Data, Fault> {
        Ok(self.data.at(self.time)?)
    }
}

/// So many times of an input are kept: the ends of a step, and the frames around it.
const KEPT_TIMES: usize = 4;

/// The bits of a time [s], and the data of then.
type AtTime = (u64, Arc<Data>);

/// Inputs, and what is known of them already.
#[derive(Debug)]
pub struct Graph {
    inputs: BTreeMap<String, Input>,
    /// Whether each of them is not the same at all times.
    changing: BTreeMap<String, bool>,
    context: Context,
    /// Of each input what its nodes that never change have made.
    still: Mutex<BTreeMap<String, Arc<Data>>>,
    /// Of each input that changes, the last times.
    moving: Mutex<BTreeMap<String, Vec<AtTime>>>,
    files: files::Files,
}

/// Inputs at most that need each other one after the other.
const DEEPEST: usize = 500;

impl Graph {
    /// A graph of these inputs. Names that are not there, names given twice and circles are refused; files are not looked at.
    pub fn new(inputs: Vec<Input>, context: Context) -> Result<Self, GraphError> {
        let mut by_name = BTreeMap::new();
        for mut input in inputs {
            let name = input.name.clone();
            // Whoever names it finds nothing in it, and is left out as with any empty input.
            if input.disabled {
                input.nodes.clear();
                input.attributes.clear();
            }
            if by_name.insert(name.clone(), input).is_some() {
                return Err(GraphError::Duplicate { name });
            }
        }
        let graph = Self {
            inputs: by_name,
            changing: BTreeMap::new(),
            context,
            still: Mutex::default(),
            moving: Mutex::default(),
            files: files::Files::default(),
        };
        let mut done = BTreeSet::new();
        for (name, input) in &graph.inputs {
            if !done.contains(name.as_str()) {
                graph.check(&input.nodes, &mut vec![&input.name], &mut done)?;
                done.insert(name);
            }
        }
        let mut changing = BTreeMap::new();
        for name in graph.inputs.keys() {
            graph.find_changing(name, &mut changing);
        }
        Ok(Self { changing, ..graph })
    }

    /// The inputs, by name.
    pub fn inputs(&self) -> impl Iterator<Item = &Input> {
        self.inputs.values()
    }

    /// The data of an input at a time [s].
    pub fn evaluate(&self, name: &str, time: f64) -> Result<Arc<Data>, GraphError> {
        self.evaluate_within(name, time, &[])
    }

    /// What the filters of an input make of data from elsewhere, at a time [s].
    pub fn filter(&self, name: &str, data: Data, time: f64) -> Result<Arc<Data>, GraphError> {
        let input = self.inputs.get(name).ok_or_else(|| self.unknown("", name))?;
        let mut nodes = input.nodes.iter().filter(|node| !node.disabled);
        nodes.try_fold(Arc::new(data), |data, node| self.step(node, data, time, &[name]))
    }

    /// Whether an input is not the same at all times.
    pub fn changes_with_time(&self, name: &str) -> bool {
        self.changing.get(name).copied().unwrap_or(false)
    }

    /// Finds out whether an input changes, and notes it: many may name the same.
    fn find_changing(&self, name: &str, known: &mut BTreeMap<String, bool>) -> bool {
        if let Some(&changes) = known.get(name) {
            return changes;
        }
        let changes = self.inputs.get(name).is_some_and(|input| {
            let mut nodes = input.nodes.iter().filter(|node| !node.disabled);
            nodes.any(|node| self.node_changes(node, &mut |name| self.find_changing(name, known)))
        });
        known.insert(name.to_owned(), changes);
        changes
    }

    fn evaluate_within(
        &self,
        name: &str,
        time: f64,
        waiting: &[&str],
    ) -> Result<Arc<Data>, GraphError> {
        let input = self.inputs.get(name).ok_or_else(|| self.unknown("", name))?;
        let waiting = [waiting, &[name]].concat();
        let nodes: Vec<&GraphNode> = input.nodes.iter().filter(|node| !node.disabled).collect();
        let first_moving = nodes.iter().position(|node| self.changes(node));
        let still = self.still_part(input, &nodes, first_moving, time, &waiting)?;
        if first_moving.is_none() {
            return Ok(still);
        }
        let key = time.to_bits();
        let known = lock(&self.moving).get(name).and_then(|times| {
            times.iter().find(|(known, _)| *known == key).map(|(_, data)| data.clone())
        });
        if let Some(data) = known {
            return Ok(data);
        }
        let mut data = still;
        for node in &nodes[first_moving.unwrap_or(0)..] {
            data = self.step(node, data, time, &waiting)?;
        }
        let data = finished(data, input);
        let mut moving = lock(&self.moving);
        let times = moving.entry(name.to_owned()).or_default();
        if times.len() == KEPT_TIMES {
            times.remove(0);
        }
        times.push((key, data.clone()));
        Ok(data)
    }

    /// What the nodes before the first that changes make.
    fn still_part(
        &self,
        input: &Input,
        nodes: &[&GraphNode],
        first_moving: Option<usize>,
        time: f64,
        waiting: &[&str],
    ) -> Result<Arc<Data>, GraphError> {
        if let Some(data) = lock(&self.still).get(&input.name) {
            return Ok(data.clone());
        }
        let mut data = Arc::new(Data::default());
        for node in &nodes[..first_moving.unwrap_or(nodes.len())] {
            data = self.step(node, data, time, waiting)?;
        }
        if first_moving.is_none() {
            data = finished(data, input);
        }
        lock(&self.still).insert(input.name.clone(), data.clone());
        Ok(data)
    }

    /// One node: a filter on the data, or a source beside it.
    fn step(
        &self,
        spec: &GraphNode,
        data: Arc<Data>,
        time: f64,
        waiting: &[&str],
    ) -> Result<Arc<Data>, GraphError> {
        let failed = |fault: Fault| match fault {
            // What went wrong in another input has its own place.
            Fault::Other(error) => *error,
            fault => GraphError::Node {
                path: spec.path.clone(),
                name: spec.declaration.name,
                fault: Box::new(fault),
            },
        };
        let kind = kind_of(spec)?;
        let is_source = spec.declaration.kind == Kind::Source;
        let is_empty = matches!(data.geometry, Geometry::Empty);
        // Of nothing, a filter makes nothing; only `merge` brings data of its own.
        if is_empty && !is_source && !std::ptr::eq(spec.declaration, &filter_points::MERGE) {
            return Ok(data);
        }
        let before = if is_source { Arc::new(Data::default()) } else { data.clone() };
        let given = Given { declaration: spec.declaration, settings: &spec.settings, time };
        let within = self.within(spec, time, waiting)?;
        let call = Call { given, data: before, within, time, graph: self, waiting };
        if let Some(Takes { what, bytes }) = (kind.takes)(&call).map_err(failed)? {
            self.context.budget.check(&what, bytes).map_err(|why| failed(why.into()))?;
        }
        let made = (kind.run)(&call).map_err(failed)?;
        if !is_source || is_empty {
            return Ok(Arc::new(made));
        }
        let both = filter_points::merged(&data.at(time).map_err(|why| failed(why.into()))?, &made);
        Ok(Arc::new(both.map_err(failed)?))
    }

    /// What the nodes within a node make together.
    fn within(
        &self,
        spec: &GraphNode,
        time: f64,
        waiting: &[&str],
    ) -> Result<Option<Arc<Data>>, GraphError> {
        let mut data = None;
        for child in spec.children.iter().filter(|child| !child.disabled) {
            let before = data.unwrap_or_else(|| Arc::new(Data::default()));
            data = Some(self.step(child, before, time, waiting)?);
        }
        Ok(data)
    }

    fn changes(&self, node: &GraphNode) -> bool {
        self.node_changes(node, &mut |name| self.changes_with_time(name))
    }

    fn node_changes(&self, node: &GraphNode, input: &mut dyn FnMut(&str) -> bool) -> bool {
        let by_itself = kind_of(node).is_ok_and(|kind| (kind.changes)(node, &self.context));
        by_itself
            || node.settings.values().any(|setting| setting.is_keyed())
            || named_inputs(node).iter().any(|name| input(name))
            || node.children.iter().any(|child| !child.disabled && self.node_changes(child, input))
    }

    /// Whether all inputs that nodes need are there, and none of them needs in turn one of those that wait.
    fn check<'a>(
        &'a self,
        nodes: &'a [GraphNode],
        waiting: &mut Vec<&'a str>,
        done: &mut BTreeSet<&'a str>,
    ) -> Result<(), GraphError> {
        let mut filtered = false;
        for node in nodes.iter().filter(|node| !node.disabled) {
            kind_of(node)?;
            let is_source = node.declaration.kind == Kind::Source;
            if is_source && filtered {
                return Err(GraphError::SourceAfterFilter { path: node.path.clone() });
            }
            filtered |= !is_source;
            if !node.children.is_empty() && !takes_another(node.declaration) {
                return Err(GraphError::NothingWithin { path: node.path.clone() });
            }
            self.check(&node.children, waiting, done)?;
            for name in named_inputs(node) {
                let Some((name, other)) = self.inputs.get_key_value(&name) else {
                    return Err(self.unknown(&node.path, &name));
                };
                waiting.push(name);
                if waiting.len() > DEEPEST {
                    return Err(GraphError::TooDeep { path: node.path.clone(), most: DEEPEST });
                }
                if waiting[..waiting.len() - 1].contains(&name.as_str()) {
                    let names = waiting.iter().map(|&name| name.to_owned()).collect();
                    return Err(GraphError::Cycle { path: node.path.clone(), names });
                }
                // What was found sound once is not looked at again: many may name the same.
                if !done.contains(name.as_str()) {
                    self.check(&other.nodes, waiting, done)?;
                    done.insert(name);
                }
                waiting.pop();
            }
        }
        Ok(())
    }

    fn unknown(&self, path: &str, name: &str) -> GraphError {
        let known: Vec<&str> = self.inputs.keys().map(String::as_str).collect();
        GraphError::UnknownInput { path: path.into(), name: name.into(), known: known.join(", ") }
    }
}

impl Inputs for Graph {
    fn data(&self, name: &str, time: f64) -> undine_sim::Result<Arc<Data>> {
        self.evaluate(name, time).map_err(GraphError::into_sim)
    }

    fn changes(&self, name: &str) -> bool {
        self.changes_with_time(name)
    }

    fn filtered(&self, name: &str, data: Data, time: f64) -> undine_sim::Result<Arc<Data>> {
        self.filter(name, data, time).map_err(GraphError::into_sim)
    }

    fn up(&self) -> DVec3 {
        match self.context.up {
            UpAxis::Y => DVec3::Y,
            UpAxis::Z => DVec3::Z,
        }
    }
}

fn finished(data: Arc<Data>, input: &Input) -> Arc<Data> {
    if input.attributes.is_empty() {
        return data;
    }
    let mut data = Data::clone(&data);
    let said = input.attributes.iter().map(|(name, said)| (name.clone(), said.value.clone()));
    data.attributes.extend(said);
    Arc::new(data)
}

fn kind_of(spec: &GraphNode) -> Result<&'static Node, GraphError> {
    let found = NODES.iter().find(|node| std::ptr::eq(node.declaration, spec.declaration));
    found.ok_or_else(|| GraphError::NoSuchNode {
        path: spec.path.clone(),
        name: spec.declaration.name.to_owned(),
    })
}

/// The inputs that a node names.
fn named_inputs(node: &GraphNode) -> Vec<String> {
    let named = node.declaration.parameters.iter().filter(|given| given.takes == Type::Input);
    let values = named.filter_map(|parameter| node.settings.get(parameter.name));
    let texts = values.flat_map(|setting| setting.values()).filter_map(|value| match value {
        Value::Text(text) => Some(text.clone()),
        _ => None,
    });
    texts.collect()
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    // What is kept is whole at any time: a panic elsewhere does not spoil it.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
