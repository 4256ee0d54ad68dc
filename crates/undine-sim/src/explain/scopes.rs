//! Scopes: which Behavior acts on which Object, and which values reach it from where.

use super::plain::{padded, shown, widest, wrapped};
use crate::offers::{ObjectId, Offers};
use crate::simulation::Simulation;
use crate::task::Use;
use crate::tree::BehaviorEntry;
use crate::world::{StoreId, World};
use undine_schema::display::{spell, spell_vector};
use undine_schema::{Kind, Parameter, Setting, Type, Value};

/// Longer lists of Objects are broken.
const WIDTH: usize = 90;

/// Scopes in words.
pub(super) fn text(simulation: &Simulation) -> String {
    let mut text = "SCOPES: who acts on what, and values other than the defaults\n".to_owned();
    let (tree, world) = (simulation.tree(), &simulation.world);
    let taking_part =
        || tree.behaviors.iter().enumerate().filter(|(_, one)| one.left_out.is_none());
    let paths: Vec<String> = taking_part().map(|(_, entry)| shown(&entry.path)).collect();
    if paths.is_empty() {
        text.push_str("\n  nothing takes part\n");
    }
    let width = widest(paths.iter().map(String::as_str)) + 2;
    for ((behavior, entry), path) in taking_part().zip(&paths) {
        let reached = Reached::of(simulation, behavior);
        let mut lead = format!("\n  {}", padded(path, width));
        for (verb, objects) in reached.sentences(entry) {
            let names: Vec<String> =
                objects.iter().map(|id| shown(&world.object(*id).path)).collect();
            let verb = if names.is_empty() { verb.to_owned() } else { format!("{verb} ") };
            for (n, line) in wrapped(&names, WIDTH).iter().enumerate() {
                let verb = if n == 0 { verb.clone() } else { " ".repeat(verb.chars().count()) };
                text.push_str(&format!("{lead}{verb}{line}\n"));
                lead = " ".repeat(width + 2);
            }
        }
        let values = values(simulation, entry, &reached);
        let names = widest(values.iter().map(|value| value.name));
        let spelt = widest(values.iter().map(|value| value.spelt.as_str()));
        for Reaching { name, spelt: value, origin } in &values {
            let (name, value) = (padded(name, names), padded(value, spelt));
            text.push_str(&format!("{}{name} = {value}  {origin}\n", " ".repeat(width + 4)));
        }
    }
    text
}

/// The Objects that a Behavior has to do with, by what its Tasks declare.
pub(super) struct Reached {
    /// Those it makes.
    makes: Vec<ObjectId>,
    /// Those it changes.
    acts_on: Vec<ObjectId>,
    /// Those it only looks at.
    looks_at: Vec<ObjectId>,
}

impl Reached {
    pub fn of(simulation: &Simulation, behavior: usize) -> Self {
        let entry = &simulation.tree().behaviors[behavior];
        let makes = entry.made.clone();
        if entry.scope.declaration.kind == Kind::Object {
            return Self { makes, acts_on: Vec::new(), looks_at: Vec::new() };
        }
        let tasks =
            || simulation.schedule().entries().iter().filter(|one| one.behavior == behavior);
        let touches = |id: &ObjectId, changes: bool| {
            let stores = stores(&simulation.world.object(*id).offers);
            tasks()
                .flat_map(|task| &task.declared.access)
                .any(|(key, how)| (!changes || *how != Use::Read) && stores.contains(&key.store))
        };
        // Meshes are made when a frame is written, by no Task.
        let skinned = entry.behavior.skin().map_or(&[][..], |skin| &skin.of);
        // What a Constraint does to its points is done by the solve, in whose name it only fills its rows.
        let by_solve = entry.scope.declaration.kind == Kind::Constraint;
        let all = (0..simulation.world.objects.len()).map(ObjectId);
        let (acts_on, others) = all.partition::<Vec<_>, _>(|id| touches(id, !by_solve));
        Self {
            makes,
            acts_on,
            looks_at: others
                .into_iter()
                .filter(|id| touches(id, false) || skinned.contains(id))
                .collect(),
        }
    }

    /// What there is to say, at least one thing.
    fn sentences(&self, entry: &BehaviorEntry) -> Vec<(&'static str, &[ObjectId])> {
        if entry.scope.declaration.kind == Kind::Object {
            return match self.makes[..] {
                [_] => vec![("is simulated", &[])],
                _ => vec![("is simulated, in several Objects", &[])],
            };
        }
        let all = [("acts on", &self.acts_on[..]), ("looks at", &self.looks_at[..])];
        let some: Vec<_> = all.into_iter().filter(|(_, objects)| !objects.is_empty()).collect();
        if some.is_empty() { vec![("touches no Object", &[])] } else { some }
    }
}

/// The stores in which an Object offers something.
fn stores(offers: &Offers) -> Vec<StoreId> {
    let fluid = offers.fluid.map(|fluid| fluid.volume.into());
    let fine = offers.fluid.and_then(|fluid| fluid.fine).map(|grid| grid.volume.into());
    let port = offers.port.map(|port| port.particles.particles.into());
    let all = [
        offers.material.map(|material| material.store()),
        offers.dofs.map(|dofs| dofs.store()),
        offers.boundary.map(|boundary| boundary.store()),
        fluid,
        fine,
        port,
    ];
    all.into_iter().flatten().collect()
}

/// A value that is not the default.
struct Reaching {
    name: &'static str,
    spelt: String,
    origin: String,
}

/// Values other than the defaults, the narrowest first.
fn values(simulation: &Simulation, entry: &BehaviorEntry, reached: &Reached) -> Vec<Reaching> {
    let world = &simulation.world;
    let objects = || [&reached.makes, &reached.acts_on].into_iter().flatten();
    let mut values = Vec::new();
    for parameter in entry.scope.declaration.parameters {
        let name = parameter.name;
        if let Some(channel) = parameter.channel {
            // An Object's own channels are its state, and no longer tell what its input had.
            for id in objects().filter(|_| entry.made.is_empty()) {
                let material = world.object(*id).offers.material;
                if material.is_some_and(|material| has_channel(world, material.store(), channel)) {
                    let origin = format!("of each element of {}", shown(&world.object(*id).path));
                    values.push(Reaching { name, spelt: format!("channel `{channel}`"), origin });
                }
            }
            for id in objects() {
                if let Some(value) = world.object(*id).attributes.get(channel) {
                    let origin = format!("of the input of {}", shown(&world.object(*id).path));
                    values.push(Reaching { name, spelt: spell_value(value, parameter), origin });
                }
            }
        }
        let set = entry.scope.levels.iter().position(|level| level.contains_key(name));
        let Some((level, setting)) = set.and_then(|n| Some((n, entry.scope.levels[n].get(name)?)))
        else {
            continue;
        };
        let default = parameter.fallback.value().map(Setting::Constant);
        if default.as_ref() != Some(setting) {
            let origin = origin(simulation, entry, level);
            values.push(Reaching { name, spelt: spell_setting(setting, parameter), origin });
        }
    }
    values
}

/// Where a setting stands: 0 is the Behavior itself, then the Groups around it.
fn origin(simulation: &Simulation, entry: &BehaviorEntry, level: usize) -> String {
    let groups = &simulation.tree().groups;
    let Some(up) = level.checked_sub(1) else { return "set here".to_owned() };
    let around = std::iter::successors(Some(entry.group), |group| groups[*group].parent);
    match around.map(|group| groups[group].path.as_str()).nth(up) {
        Some("") | None => "set for the whole setup".to_owned(),
        Some(path) => format!("set on Group {}", shown(path)),
    }
}

fn has_channel(world: &World, store: StoreId, channel: &str) -> bool {
    let names: Vec<&str> = match store {
        StoreId::Particles(id) => {
            world.particles[id].channels().infos().map(|info| info.name.as_str()).collect()
        }
        StoreId::Points(id) => {
            world.points[id].channels().infos().map(|info| info.name.as_str()).collect()
        }
        StoreId::Volume(id) => {
            world.volumes[id].channels().infos().map(|info| info.name.as_str()).collect()
        }
        StoreId::Elements(id) => {
            world.elements[id].channels().infos().map(|info| info.name.as_str()).collect()
        }
    };
    names.contains(&channel)
}

fn spell_setting(setting: &Setting, parameter: &Parameter) -> String {
    let Setting::Keyed(keys) = setting else {
        return spell_value(&setting.at(0.0), parameter);
    };
    let list = keys.keys();
    let (Some(first), Some(last)) = (list.first(), list.last()) else { return String::new() };
    let [from, to] = [first, last].map(|key| spell_value(&key.value, parameter));
    let words = undine_schema::Interpolation::WORDS;
    let way =
        words.iter().find(|(_, way)| *way == keys.interpolation()).map_or("", |(word, _)| word);
    let [begin, end] = [first, last].map(|key| spell(key.time, undine_schema::Dimension::TIME));
    match list.len() {
        1 => format!("{from}, by one key"),
        count => format!("{from} … {to}, by {count} {way} keys from {begin} to {end}"),
    }
}

fn spell_value(value: &Value, parameter: &Parameter) -> String {
    match (value, parameter.takes) {
        (Value::Number(number), Type::Number(dimension)) => spell(*number, dimension),
        (Value::Vector(vector), Type::Vector(dimension)) => spell_vector(*vector, dimension),
        (Value::Text(text), _) => format!("\"{}\"", shown(text)),
        _ => value.to_string(),
    }
}
