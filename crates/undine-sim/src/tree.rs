//! The tree of Groups and Behaviors at work: scopes, targets, and who is left out because of whom.

use crate::behavior::{Behavior, BehaviorKind};
use crate::error::{Result, SimError};
use crate::offers::ObjectId;
use undine_schema::setup::{Group, Node, Scope, Settings};
use undine_schema::{Type, Value};

/// A Group of the tree.
#[derive(Debug, Clone)]
pub struct GroupEntry {
    /// Its path from the root: `hair/curls`; empty for the root.
    pub path: String,
    /// The Group it is in.
    pub parent: Option<usize>,
    /// Whether it, or one around it, is disabled.
    pub disabled: bool,
}

/// A Behavior of the tree.
pub struct BehaviorEntry {
    /// Its path from the root: `hair/stretching`.
    pub path: String,
    /// The Group it is in.
    pub group: usize,
    /// What reaches its parameters.
    pub scope: Scope,
    /// It, at work.
    pub behavior: Box<dyn Behavior>,
    /// Why it takes no part, if it does not.
    pub left_out: Option<String>,
    /// The Objects it made.
    pub made: Vec<ObjectId>,
    /// The Objects it acts on.
    pub acts_on: Vec<ObjectId>,
}

impl BehaviorEntry {
    /// Whether it has an animated parameter, its own or of a Group around it.
    pub fn is_animated(&self) -> bool {
        let declared = self.scope.declaration.parameters.iter();
        declared
            .filter_map(|parameter| self.scope.setting(parameter.name, None))
            .any(|(setting, _)| setting.is_keyed())
    }

    /// Whether it takes part although there is nothing of what this parameter names: another one is given instead.
    pub fn does_without(&self, parameter: &str) -> bool {
        let mut declared = self.scope.declaration.parameters.iter();
        let instead = declared.find(|one| one.name == parameter).and_then(|one| one.instead);
        instead.is_some_and(|other| self.scope.setting(other, None).is_some())
    }

    /// What its parameters name as targets: parameter and path.
    pub fn targets(&self) -> impl Iterator<Item = (&'static str, String)> + '_ {
        let parameters = self.scope.declaration.parameters.iter();
        parameters.filter(|parameter| parameter.takes == Type::Target).filter_map(|parameter| {
            match self.scope.setting(parameter.name, None)?.0.at(0.0) {
                Value::Text(path) => Some((parameter.name, path)),
                _ => None,
            }
        })
    }
}

/// The tree, flat: Behaviors in the order of evaluation.
pub struct Tree {
    /// Groups, parents before children.
    pub groups: Vec<GroupEntry>,
    /// Behaviors: those of child Groups before those of their parents, in the order of the file.
    pub behaviors: Vec<BehaviorEntry>,
}

/// What a path of the setup leads to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Target {
    /// A Group.
    Group(usize),
    /// A Behavior.
    Behavior(usize),
}

impl Tree {
    /// Flattens a setup.
    pub fn new(root: &Group, kinds: &[BehaviorKind]) -> Result<Self> {
        let mut tree = Self { groups: Vec::new(), behaviors: Vec::new() };
        tree.enter(root, None, &[], kinds)?;
        Ok(tree)
    }

    fn enter(
        &mut self,
        group: &Group,
        parent: Option<usize>,
        around: &[Settings],
        kinds: &[BehaviorKind],
    ) -> Result<()> {
        let above = parent.map(|parent| &self.groups[parent]);
        let disabled = group.disabled || above.is_some_and(|above| above.disabled);
        let path = above.map_or(String::new(), |above| join(&above.path, &group.name));
        self.groups.push(GroupEntry { path: path.clone(), parent, disabled });
        let here = self.groups.len() - 1;
        let mut settings = vec![group.settings.clone()];
        settings.extend_from_slice(around);
        for child in &group.children {
            if let Node::Group(child) = child {
                self.enter(child, Some(here), &settings, kinds)?;
            }
        }
        for child in &group.children {
            let Node::Behavior(node) = child else { continue };
            let path = join(&path, &node.name);
            let kind = kinds.iter().find(|kind| kind.declaration.name == node.declaration.name);
            let kind = kind.ok_or_else(|| {
                let what =
                    format!("there is no Behavior `{}` in this build", node.declaration.name);
                SimError::setup(&path, what, "take it out, or use a build that has it")
            })?;
            let mut levels = vec![node.settings.clone()];
            levels.extend_from_slice(&settings);
            let reason = match (node.disabled, disabled) {
                (true, _) => Some("it is disabled".to_owned()),
                (_, true) => Some("its Group is disabled".to_owned()),
                _ => None,
            };
            self.behaviors.push(BehaviorEntry {
                path,
                group: here,
                scope: Scope { declaration: kind.declaration, levels },
                behavior: (kind.create)(),
                left_out: reason,
                made: Vec::new(),
                acts_on: Vec::new(),
            });
        }
        Ok(())
    }

    /// What a path means that is written in Group `from`: looked for there, then in the Groups around it.
    pub fn find(&self, from: usize, path: &str) -> Option<Target> {
        let mut group = Some(from);
        while let Some(here) = group {
            let wanted = join(&self.groups[here].path, path);
            let behavior = self.behaviors.iter().position(|entry| entry.path == wanted);
            if let Some(behavior) = behavior {
                return Some(Target::Behavior(behavior));
            }
            if let Some(found) = self.groups.iter().position(|entry| entry.path == wanted) {
                return Some(Target::Group(found));
            }
            group = self.groups[here].parent;
        }
        None
    }

    /// Whether Group `inner` is `outer` or lies within it.
    pub fn within(&self, inner: usize, outer: usize) -> bool {
        let mut group = Some(inner);
        while let Some(here) = group {
            if here == outer {
                return true;
            }
            group = self.groups[here].parent;
        }
        false
    }

    /// The Objects that a Group holds, in the order of evaluation.
    pub fn objects_in(&self, group: usize) -> Vec<ObjectId> {
        let inside = self.behaviors.iter().filter(|entry| self.within(entry.group, group));
        inside.flat_map(|entry| entry.made.iter().copied()).collect()
    }

    /// The Objects behind a target.
    pub fn objects_of(&self, target: Target) -> Vec<ObjectId> {
        match target {
            Target::Group(group) => self.objects_in(group),
            Target::Behavior(behavior) => self.behaviors[behavior].made.clone(),
        }
    }

    /// Why nothing can be had of a target, if so.
    pub fn missing(&self, target: Target) -> Option<String> {
        match target {
            Target::Group(group) if self.groups[group].disabled => {
                Some(format!("Group `{}` is disabled", self.groups[group].path))
            }
            Target::Group(group) if self.objects_in(group).is_empty() => {
                Some(format!("Group `{}` is empty", self.groups[group].path))
            }
            Target::Behavior(behavior) => {
                let entry = &self.behaviors[behavior];
                let reason = entry.left_out.as_ref()?;
                Some(format!("`{}` takes no part: {reason}", entry.path))
            }
            _ => None,
        }
    }
}

/// A path below another one.
pub fn join(above: &str, name: &str) -> String {
    if above.is_empty() { name.to_owned() } else { format!("{above}/{name}") }
}
