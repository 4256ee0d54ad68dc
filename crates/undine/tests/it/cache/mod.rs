//! The cache: whole frames only, whatever happens.

mod faults;
mod hostile;
mod kill;
mod resume;

use std::io::{Read, Write};
use std::path::Path;
use std::sync::Arc;

use undine::cache::faults::FaultyDisk;
use undine::cache::{
    Cache, CacheError, Choice, Disk, FrameId, Keep, LOCK, SceneRecord, Start, TEMPORARY,
};

/// Where the caches on a disk in memory lie.
const FOLDER: &str = "/shots/cache";

/// A scene as the cache sees it.
fn scene(wind: &str) -> SceneRecord {
    [("hair/strands.density", "1300 kg/m3"), ("wind/inflow.velocity", wind)].into_iter().collect()
}

/// A run stands for a simulation: its state is a number that each step of time hashes, and its files are made of it.
#[derive(Clone)]
struct Run {
    scene: SceneRecord,
    keep: Keep,
    choice: Choice,
    first: i64,
    last: i64,
    /// Moments per frame that are written.
    parts: u32,
    /// Length of the files [bytes].
    length: usize,
}

impl Default for Run {
    fn default() -> Run {
        let keep = Keep { every: 2, last: 2 };
        Run {
            scene: scene("4 0 0 m/s"),
            keep,
            choice: Choice::default(),
            first: 1001,
            last: 1005,
            parts: 2,
            length: 100,
        }
    }
}

impl Run {
    fn open(&self, disk: Arc<dyn Disk>, folder: &Path) -> Result<(Cache, Start), CacheError> {
        Cache::open_on(disk, folder, &self.scene, self.keep, self.choice)
    }

    /// Opens or resumes a cache and runs to the last frame.
    fn go(&self, disk: Arc<dyn Disk>, folder: &Path) -> Result<Start, CacheError> {
        let (mut cache, start) = self.open(disk, folder)?;
        let mut statistics = cache.frame_lines("stats.jsonl")?;
        let mut state = 7_u64;
        if let Some((frame, mut reader)) = cache.read_checkpoint()? {
            assert_eq!(start.after, Some(frame));
            let mut bytes = Vec::new();
            reader.read_to_end(&mut bytes).expect("a checkpoint that was verified");
            state = u64::from_le_bytes(bytes[..8].try_into().expect("eight bytes"));
        }
        // The first frame is the initial state; each later one begins with the moments on the way to it.
        for frame in start.after.map_or(self.first, |after| after + 1)..=self.last {
            for part in 1..=self.parts {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(frame as u64);
                let id =
                    FrameId::between(frame - 1, part, self.parts).unwrap_or(FrameId::whole(frame));
                if frame > self.first || id.is_whole() {
                    self.write_frame(&mut cache, id, state)?;
                }
            }
            statistics.push(&format!("{{\"frame\":{frame},\"state\":{state}}}"))?;
            if self.keep.due(frame, self.last) {
                cache.checkpoint(frame, |file| put(file, &state.to_le_bytes()))?;
            }
        }
        Ok(start)
    }

    fn write_frame(&self, cache: &mut Cache, id: FrameId, state: u64) -> Result<(), CacheError> {
        let mut frame = cache.begin_frame(id)?;
        let bytes: Vec<u8> = (0..self.length).map(|i| (state >> (i % 57)) as u8).collect();
        frame.file("liquid.ply", |file| put(file, &bytes))?;
        if id.is_whole() {
            frame.file("spray.bgeo.sc", |file| put(file, &bytes[..self.length / 2]))?;
        }
        frame.finish()
    }
}

/// Writes in two pieces; errors of the disk are the cache's to tell.
fn put(file: &mut dyn Write, bytes: &[u8]) -> Result<(), CacheError> {
    let (front, back) = bytes.split_at(bytes.len() / 2);
    let _ = file.write_all(front).and_then(|()| file.write_all(back));
    Ok(())
}

/// The files that a run must leave the same: all but lock and sidecars.
fn compared(disk: &FaultyDisk) -> std::collections::BTreeMap<String, Vec<u8>> {
    let mut files = disk.files();
    files.retain(|name, _| name != LOCK && name != "stats.jsonl");
    files
}

/// Checks that what the manifest lists is whole.
fn assert_listed_is_whole(disk: &FaultyDisk) {
    let files = disk.files();
    let Some(manifest) =
        undine::cache::read_manifest_on(Arc::new(disk.clone()), Path::new(FOLDER)).unwrap()
    else {
        return;
    };
    for entry in manifest.files() {
        let bytes = files
            .get(&entry.name)
            .unwrap_or_else(|| panic!("{} is listed and missing", entry.name));
        assert_eq!(bytes.len() as u64, entry.length, "{}", entry.name);
        assert_eq!(crc32fast::hash(bytes), entry.crc32, "{}", entry.name);
    }
}

/// Checks that every file of these outputs is listed, and nothing is left under way.
fn assert_only_listed_remains(disk: &FaultyDisk, outputs: &[&str]) {
    let manifest =
        undine::cache::read_manifest_on(Arc::new(disk.clone()), Path::new(FOLDER)).unwrap();
    let listed: Vec<_> = manifest
        .iter()
        .flat_map(|manifest| manifest.files())
        .map(|entry| entry.name.as_str())
        .collect();
    for name in disk.files().keys() {
        assert!(!name.starts_with(TEMPORARY), "{name} is left");
        let ours = outputs.iter().any(|output| name.starts_with(output));
        assert!(!ours || listed.contains(&name.as_str()), "{name} is there and not listed");
    }
}

/// The outputs whose files are frames.
const FRAMES: &[&str] = &["liquid", "spray"];
/// All that a finished run must list.
const ALL: &[&str] = &["liquid", "spray", "checkpoint"];
