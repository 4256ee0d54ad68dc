//! The data graph: sources, filters, laziness, and what is refused.

mod animate;
mod filters;
mod flow;
mod lazy;
mod sources;
mod transform;

use std::collections::BTreeMap;
use undine_scene::graph::{Context, Graph, NODES};
use undine_scene::{GraphNode, Input};
use undine_schema::setup::Settings;
use undine_schema::{Interpolation, Key, Keys, Setting, Value};

pub fn number(value: f64) -> Setting {
    Value::Number(value).into()
}

pub fn vector(x: f64, y: f64, z: f64) -> Setting {
    Value::Vector([x, y, z]).into()
}

pub fn whole(value: i64) -> Setting {
    Value::Integer(value).into()
}

pub fn text(value: &str) -> Setting {
    Value::Text(value.to_owned()).into()
}

pub fn keyed(keys: &[(f64, [f64; 3])], interpolation: Interpolation) -> Setting {
    let keys = keys.iter().map(|&(time, value)| Key { time, value: Value::Vector(value) });
    Setting::Keyed(Keys::new(keys.collect(), interpolation).unwrap())
}

pub fn node(name: &str, settings: &[(&str, Setting)]) -> GraphNode {
    let found = NODES.iter().find(|node| node.declaration.name == name);
    let settings: Settings =
        settings.iter().map(|(name, setting)| ((*name).to_owned(), setting.clone())).collect();
    GraphNode {
        path: format!("input/{name}"),
        declaration: found.unwrap_or_else(|| panic!("no node {name}")).declaration,
        disabled: false,
        settings,
        children: Vec::new(),
    }
}

pub fn input(name: &str, nodes: Vec<GraphNode>) -> Input {
    Input { name: name.to_owned(), disabled: false, nodes, attributes: BTreeMap::new() }
}

pub fn graph(nodes: Vec<GraphNode>) -> Graph {
    Graph::new(vec![input("it", nodes)], Context::default()).unwrap()
}
