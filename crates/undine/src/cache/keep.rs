//! Which checkpoints are written, and which are kept.

use serde::{Deserialize, Serialize};

use super::manifest::CheckpointEntry;

/// How often checkpoints are written and how many stay.
///
/// More than one, so that a run can go on from an older one if the last is damaged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Keep {
    /// A checkpoint at the end of every frame that is a multiple of this.
    pub every: u32,
    /// How many of the last checkpoints stay.
    pub last: u32,
}

impl Default for Keep {
    fn default() -> Keep {
        Keep { every: 1, last: 2 }
    }
}

impl Keep {
    /// Whether a frame ends with a checkpoint. The last frame of the range always does, so that the range may grow.
    ///
    /// Counted from frame 0, not from where a run began, so that a resumed run writes the same ones.
    pub fn due(&self, frame: i64, last_frame: i64) -> bool {
        frame == last_frame || frame.rem_euclid(i64::from(self.every.max(1))) == 0
    }

    /// Takes those out of the list that need not stay.
    pub(super) fn prune(&self, checkpoints: &mut Vec<CheckpointEntry>) -> Vec<CheckpointEntry> {
        let stay = (self.last.max(1) as usize).min(checkpoints.len());
        let gone = checkpoints.len() - stay;
        checkpoints.drain(..gone).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checkpoints_are_due_at_multiples_and_at_the_end() {
        let due = |every, frames: std::ops::RangeInclusive<i64>| -> Vec<i64> {
            let end = *frames.end();
            frames.filter(|&frame| Keep { every, last: 1 }.due(frame, end)).collect()
        };
        assert_eq!(due(5, 1001..=1012), [1005, 1010, 1012]);
        assert_eq!(due(3, -4..=4), [-3, 0, 3, 4]);
        assert_eq!(due(1, 1..=3), [1, 2, 3]);
        assert_eq!(due(0, 1..=3), [1, 2, 3]);
    }
}
