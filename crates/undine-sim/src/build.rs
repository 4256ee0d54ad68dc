//! From a Solver Setup to a Simulation: Objects are ingested in the order in which they depend on each other, Actions are
//! bound to the Objects in their scope, and whatever depends on something disabled or empty is left out
//! (Loki, §7.3: one setup serves many scenes).

use crate::anchor::anchor;
use crate::behavior::{BehaviorKind, Ingest};
use crate::error::{Result, SimError};
use crate::input::Inputs;
use crate::offers::ObjectId;
use crate::schedule::{Entry, Schedule};
use crate::tree::{Target, Tree};
use crate::world::World;
use undine_schema::Kind;
use undine_schema::setup::Group;

/// Ingests every Behavior of a setup at a time [s].
pub(crate) fn build(
    setup: &Group,
    kinds: &[BehaviorKind],
    inputs: &dyn Inputs,
    world: &mut World,
    time: f64,
) -> Result<(Tree, Schedule)> {
    let mut tree = Tree::new(setup, kinds)?;
    let order = objects_in_order(&tree)?;
    world.begin_at(anchor(&tree, inputs, time));
    for behavior in order {
        ingest(&mut tree, behavior, inputs, world, time, None)?;
    }
    for behavior in 0..tree.behaviors.len() {
        let entry = &tree.behaviors[behavior];
        if entry.scope.declaration.kind != Kind::Object {
            let scope = tree.objects_in(entry.group);
            ingest(&mut tree, behavior, inputs, world, time, Some(scope))?;
        }
    }
    let schedule = schedule(&mut tree, world)?;
    Ok((tree, schedule))
}

/// Object Behaviors, those that others name as targets first.
fn objects_in_order(tree: &Tree) -> Result<Vec<usize>> {
    #[derive(Clone, Copy, PartialEq)]
    enum Mark {
        New,
        Open,
        Done,
    }
    fn visit(
        tree: &Tree,
        behavior: usize,
        marks: &mut [Mark],
        order: &mut Vec<usize>,
    ) -> Result<()> {
        let entry = &tree.behaviors[behavior];
        if entry.scope.declaration.kind != Kind::Object || marks[behavior] == Mark::Done {
            return Ok(());
        }
        if marks[behavior] == Mark::Open {
            let what = "depends on itself, by way of what its parameters name";
            return Err(SimError::setup(&entry.path, what, "name something else"));
        }
        marks[behavior] = Mark::Open;
        for (parameter, path) in entry.targets() {
            match find(tree, behavior, parameter, &path)? {
                Target::Behavior(other) => visit(tree, other, marks, order)?,
                Target::Group(group) => {
                    // A Group that holds this Behavior means the others in it.
                    for other in 0..tree.behaviors.len() {
                        let inside = tree.within(tree.behaviors[other].group, group);
                        if inside && other != behavior {
                            visit(tree, other, marks, order)?;
                        }
                    }
                }
            }
        }
        marks[behavior] = Mark::Done;
        order.push(behavior);
        Ok(())
    }
    let mut marks = vec![Mark::New; tree.behaviors.len()];
    let mut order = Vec::new();
    for behavior in 0..tree.behaviors.len() {
        visit(tree, behavior, &mut marks, &mut order)?;
    }
    Ok(order)
}

fn find(tree: &Tree, behavior: usize, parameter: &str, path: &str) -> Result<Target> {
    let entry = &tree.behaviors[behavior];
    tree.find(entry.group, path).ok_or_else(|| {
        let what = format!("there is nothing called `{path}`");
        let help = "name an Object's Behavior or a Group, as a path from here or from the root";
        SimError::setup(format!("{}.{parameter}", entry.path), what, help)
    })
}

/// Lets a Behavior ingest; with a scope, lets it bind its Action to that.
fn ingest(
    tree: &mut Tree,
    behavior: usize,
    inputs: &dyn Inputs,
    world: &mut World,
    time: f64,
    scope: Option<Vec<ObjectId>>,
) -> Result<()> {
    if tree.behaviors[behavior].left_out.is_some() {
        return Ok(());
    }
    let targets: Vec<_> = tree.behaviors[behavior].targets().collect();
    for (parameter, path) in targets {
        let target = find(tree, behavior, parameter, &path)?;
        if let Some(reason) = tree.missing(target)
            && !tree.behaviors[behavior].does_without(parameter)
        {
            tree.behaviors[behavior].left_out =
                Some(format!("it depends on what is not there: {reason}"));
            return Ok(());
        }
    }
    // The Behavior is taken out, so that it can look at the rest of the tree.
    let (path, own_scope) =
        (tree.behaviors[behavior].path.clone(), tree.behaviors[behavior].scope.clone());
    let mut taken = std::mem::replace(&mut tree.behaviors[behavior].behavior, Box::new(Absent));
    let group = tree.behaviors[behavior].group;
    let before = world.objects.len();
    let by_path =
        |path: &str| tree.find(group, path).map_or(Vec::new(), |found| tree.objects_of(found));
    let mut context = Ingest {
        path: &path,
        scope: &own_scope,
        time,
        since: time,
        inputs,
        world,
        targets: &by_path,
    };
    let outcome = match &scope {
        None => taken.ingest(&mut context),
        Some(scope) => taken.bind(&mut context, scope),
    };
    let nothing = taken.workers().is_empty();
    let entry = &mut tree.behaviors[behavior];
    entry.behavior = taken;
    outcome.map_err(|why| why.of_setup(&entry.path))?;
    entry.made = (before..world.objects.len()).map(ObjectId).collect();
    if nothing {
        entry.left_out = Some(match scope {
            None => "there is nothing in its input".to_owned(),
            Some(_) => "there is nothing in its scope that it acts on".to_owned(),
        });
    } else if let Some(scope) = scope {
        entry.acts_on = scope;
    }
    Ok(())
}

/// Stands in for a Behavior while it ingests.
struct Absent;

impl crate::behavior::Behavior for Absent {
    fn ingest(&mut self, _: &mut Ingest<'_>) -> Result<()> {
        Ok(())
    }

    fn bind(&mut self, _: &mut Ingest<'_>, _: &[ObjectId]) -> Result<()> {
        Ok(())
    }

    fn update(&mut self, _: &mut Ingest<'_>) -> Result<()> {
        Ok(())
    }

    fn workers(&mut self) -> Vec<&mut dyn crate::task::Worker> {
        Vec::new()
    }
}

/// Brings a Behavior up to date with the values of the end of a step, given its times [s].
pub(crate) fn update(
    tree: &mut Tree,
    behavior: usize,
    inputs: &dyn Inputs,
    world: &mut World,
    [since, time]: [f64; 2],
) -> Result<()> {
    let mut taken = std::mem::replace(&mut tree.behaviors[behavior].behavior, Box::new(Absent));
    let entry = &tree.behaviors[behavior];
    let by_path = |path: &str| {
        tree.find(entry.group, path).map_or(Vec::new(), |found| tree.objects_of(found))
    };
    let mut context = Ingest {
        path: &entry.path,
        scope: &entry.scope,
        time,
        since,
        inputs,
        world,
        targets: &by_path,
    };
    let outcome = taken.update(&mut context);
    tree.behaviors[behavior].behavior = taken;
    outcome
}

fn schedule(tree: &mut Tree, world: &World) -> Result<Schedule> {
    let mut entries = Vec::new();
    for (behavior, entry) in tree.behaviors.iter_mut().enumerate() {
        if entry.left_out.is_some() {
            continue;
        }
        let is_action = entry.scope.declaration.kind != Kind::Object;
        for (worker, tasks) in entry.behavior.workers().into_iter().enumerate() {
            for (task, declared) in tasks.tasks().iter().enumerate() {
                let (owner, declared) = (entry.path.clone(), declared.clone());
                let entry_of_task = Entry { behavior, worker, task, owner, declared };
                entries.push(((entry.group, is_action), entry_of_task));
            }
        }
    }
    // Behaviors of a Group stand together, in the order of Groups; among them, Objects come before Actions.
    let mut sorted = Vec::new();
    while let Some(((group, _), _)) = entries.first() {
        let group = *group;
        let (mut here, rest): (Vec<_>, Vec<_>) =
            entries.into_iter().partition(|((of, _), _)| *of == group);
        here.sort_by_key(|((_, is_action), _)| *is_action);
        sorted.extend(here.into_iter().map(|(_, entry)| entry));
        entries = rest;
    }
    Schedule::new(sorted, world)
}
