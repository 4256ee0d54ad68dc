//! The schedule: which Task runs when, and that no two of one Stage get into each other's way.
//!
//! The order is that of Algorithm 1 of Loki (§5.2.2): for each Stage, for each Group, Objects and then Actions; Groups depth
//! first, children before parents, in the order of the file.

use crate::error::{Result, SimError};
use crate::stage::Stage;
use crate::task::{Task, Use};
use crate::world::{ChannelKey, World};

/// A Task and whose it is.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    /// Which Behavior, in the order of evaluation.
    pub behavior: usize,
    /// Which of its Objects and Actions.
    pub worker: usize,
    /// Which of the Tasks of that one.
    pub task: usize,
    /// The path of the Behavior.
    pub owner: String,
    /// What it declares.
    pub declared: Task,
}

/// All Tasks, in the order in which they run within each Stage.
#[derive(Debug, Clone, Default)]
pub struct Schedule {
    entries: Vec<Entry>,
}

impl Schedule {
    /// Sorts Tasks by Stage; those of one Stage stay in the order of evaluation that they come in. Refuses those that do not
    /// go together.
    pub fn new(mut entries: Vec<Entry>, world: &World) -> Result<Self> {
        // Stable: within a Stage the order of evaluation stays.
        entries.sort_by_key(|entry| entry.declared.stage);
        let schedule = Self { entries };
        schedule.check(world)?;
        Ok(schedule)
    }

    /// The Tasks of a Stage, in order.
    pub fn at(&self, stage: Stage) -> &[Entry] {
        let from = self.entries.partition_point(|entry| entry.declared.stage < stage);
        let to = self.entries.partition_point(|entry| entry.declared.stage <= stage);
        &self.entries[from..to]
    }

    /// All Tasks, in order.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// Two Tasks of one Stage may not touch a channel that one of them writes, unless both accumulate.
    fn check(&self, world: &World) -> Result<()> {
        let user_facing = |entry: &&Entry| entry.declared.stage.is_user_facing();
        if let Some(entry) = self.entries.iter().find(user_facing) {
            return Err(SimError::UserFacing {
                owner: entry.owner.clone(),
                task: entry.declared.name,
                stage: entry.declared.stage,
            });
        }
        for (stage, ..) in Stage::TABLE {
            let mut used: Vec<(&ChannelKey, Use, &Entry)> = Vec::new();
            for entry in self.at(*stage) {
                let before = used.len();
                for (key, how) in &entry.declared.access {
                    let clash = used[..before]
                        .iter()
                        .find(|(other, use_of, _)| other.meets(key) && !use_of.goes_with(*how));
                    if let Some((_, other, by)) = clash {
                        let name = |entry: &Entry, how: Use| {
                            (entry.owner.clone(), entry.declared.name, how)
                        };
                        return Err(SimError::Conflict {
                            stage: *stage,
                            channel: key.name(world),
                            tasks: Box::new([name(by, *other), name(entry, *how)]),
                        });
                    }
                    used.push((key, *how, entry));
                }
            }
        }
        Ok(())
    }
}
