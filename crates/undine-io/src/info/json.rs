//! For programs. The keys stay as they are; new ones may be added.
//!
//! | key | value |
//! |---|---|
//! | `file`, `format`, `bytes` | the file's name, `ply`, `obj`, `stl`, `vdb`, `usda` or `usdc`, and its length |
//! | `metadata` | what the file says of itself: texts by name |
//! | `warnings` | texts |
//! | `parts` | a list of what follows |
//! | … `name`, `kind`, `storage` | texts; `kind` is `points`, `mesh`, `curves`, a grid's class or a prim's type |
//! | … `counts` | whole numbers by name: `points`, `faces`, `corners`, `curves`, `active voxels`, `leaves`, `tiles`, `time samples` |
//! | … `bounds` | `min` and `max` in metres, or `null` |
//! | … `transform`, `voxel_size` | of a grid: four rows of four, and three sides in metres, or `null` |
//! | … `memory` | bytes when read, or `null` |
//! | … `channels` | a list of `name`, `on`, `type`, `min`, `max` (a number for each component, or `null`), `not_finite` |
//!
//! Of a sequence, `pattern` and `frames` (`first`, `last`, `count`, `missing`) stand in place of `file`; each part says in `frames` in
//! how many it is, and in `counts` the least and the greatest.

use super::{FileInfo, Part, SequenceInfo};
use serde_json::{Map, Value, json};

impl FileInfo {
    /// As an object of JSON.
    pub fn json(&self) -> Value {
        let parts: Vec<Value> = self.parts.iter().map(part).collect();
        json!({
            "file": self.file.display().to_string(),
            "format": self.format.ending(),
            "bytes": self.bytes,
            "metadata": self.metadata,
            "parts": parts,
            "warnings": self.warnings,
        })
    }
}

impl SequenceInfo {
    /// As an object of JSON.
    pub fn json(&self) -> Value {
        let parts = self.parts.iter().map(|all| {
            let mut object = part(&all.part);
            let counts = all.counts.iter().map(|&(name, count)| (name.to_owned(), json!(count)));
            object["counts"] = Value::Object(counts.collect());
            object["frames"] = json!(all.frames);
            object
        });
        json!({
            "pattern": self.pattern,
            "format": self.format.ending(),
            "frames": {
                "first": self.frames.first(),
                "last": self.frames.last(),
                "count": self.frames.len(),
                "missing": self.missing,
            },
            "bytes": self.bytes,
            "parts": parts.collect::<Vec<_>>(),
            "warnings": self.warnings,
        })
    }
}

fn part(part: &Part) -> Value {
    let counts: Map<String, Value> =
        part.counts.iter().map(|&(name, count)| (name.to_owned(), json!(count))).collect();
    let bounds = part
        .bounds
        .map(|bounds| json!({"min": bounds.min.to_array(), "max": bounds.max.to_array()}));
    let channels = part.channels.iter().map(|channel| {
        json!({
            "name": channel.name,
            "on": channel.on,
            "type": channel.kind,
            "min": channel.range.as_ref().map(|range| &range.min),
            "max": channel.range.as_ref().map(|range| &range.max),
            "not_finite": channel.not_finite,
        })
    });
    json!({
        "name": part.name,
        "kind": part.kind,
        "storage": part.storage,
        "counts": counts,
        "bounds": bounds,
        "transform": part.transform,
        "voxel_size": part.voxel_size,
        "memory": part.memory,
        "channels": channels.collect::<Vec<_>>(),
        "metadata": part.metadata,
    })
}
