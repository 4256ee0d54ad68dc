//! The manifest: what a cache holds, by which scene it was made, and how to tell that it is whole.
//!
//! A frame or checkpoint is in the cache if and only if the manifest lists it and its files have the lengths and checksums
//! given there. The manifest is written whole each time, in a fixed order and without time stamps, so that the same run
//! leaves the same bytes.

use std::collections::BTreeMap;
use std::fmt;
use std::io::{self, Read};

use serde::{Deserialize, Serialize};

use super::error::{CacheError, Doing};
use super::folder::Folder;
use super::keep::Keep;
use super::names::{self, FrameId};

/// What the file says it is.
const FORMAT: &str = "undine cache";
/// The version of the format that is written and read here.
pub const VERSION: u32 = 1;
/// Larger files are not read: a million frames with a file each would fit [bytes].
const LARGEST: u64 = 256 << 20;
/// The Undine that writes.
const UNDINE: &str = env!("CARGO_PKG_VERSION");

/// A scene as far as it decides what a run computes: a flat list of paths and the text of their values.
///
/// The range of frames does not belong in it, since that may grow; the contents of input files do (as a checksum).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct SceneRecord {
    values: BTreeMap<String, String>,
}

impl SceneRecord {
    /// Notes a value; the last one noted under a path counts.
    pub fn set(&mut self, path: impl Into<String>, value: impl Into<String>) {
        self.values.insert(path.into(), value.into());
    }

    /// The value under a path, if one was noted.
    pub fn get(&self, path: &str) -> Option<&str> {
        self.values.get(path).map(String::as_str)
    }

    /// A short name of the scene: equal for equal records, and in practice only for those (FNV-1a, 128 bits).
    pub fn fingerprint(&self) -> String {
        let mut hash = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d_u128;
        for (path, value) in &self.values {
            // Lengths first, so that no two records run together to the same bytes.
            for text in [path, value] {
                for byte in (text.len() as u64).to_le_bytes().into_iter().chain(text.bytes()) {
                    hash = (hash ^ u128::from(byte)).wrapping_mul(0x0100_0000_0000_0000_0000_013b);
                }
            }
        }
        format!("{hash:032x}")
    }

    /// What differs from this record in a later one, sorted by path.
    pub fn differences(&self, later: &SceneRecord) -> Vec<Difference> {
        let paths = self
            .values
            .keys()
            .chain(later.values.keys().filter(|path| !self.values.contains_key(*path)));
        let mut found: Vec<_> = paths
            .map(|path| Difference {
                path: path.clone(),
                before: self.values.get(path).cloned(),
                now: later.values.get(path).cloned(),
            })
            .filter(|difference| difference.before != difference.now)
            .collect();
        found.sort_by(|a, b| a.path.cmp(&b.path));
        found
    }
}

impl<P: Into<String>, V: Into<String>> FromIterator<(P, V)> for SceneRecord {
    fn from_iter<I: IntoIterator<Item = (P, V)>>(values: I) -> SceneRecord {
        SceneRecord {
            values: values.into_iter().map(|(path, value)| (path.into(), value.into())).collect(),
        }
    }
}

/// One value that is not the same in two scenes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Difference {
    /// Where in the scene.
    pub path: String,
    /// What the cache was made with; nothing if it was not there.
    pub before: Option<String>,
    /// What the scene says now; nothing if it is gone.
    pub now: Option<String>,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.before, &self.now) {
            (Some(before), Some(now)) => write!(f, "{}: was {before}, is {now}", self.path),
            (Some(before), None) => write!(f, "{}: was {before}, is gone", self.path),
            (None, now) => {
                write!(f, "{}: is new, {}", self.path, now.as_deref().unwrap_or_default())
            }
        }
    }
}

/// What a cache holds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    format: String,
    version: u32,
    /// The version of Undine that wrote the cache.
    pub undine: String,
    fingerprint: String,
    /// The scene that made it.
    pub scene: SceneRecord,
    /// Which checkpoints are kept.
    pub keep: Keep,
    /// Scenes before this one whose frames were kept.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub earlier: Vec<EarlierScene>,
    /// The moments that are whole, in order.
    pub frames: Vec<FrameEntry>,
    /// The checkpoints that are whole, in order.
    pub checkpoints: Vec<CheckpointEntry>,
    /// Moments that were found damaged, and that a run was told to go on without.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lost: Vec<FrameId>,
    /// Files that are being removed; if a run ends before they are, the next one does it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) leaving: Vec<String>,
}

/// A scene that made the cache's first frames, as what changed after it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EarlierScene {
    /// The last frame that it made.
    pub last: i64,
    /// What was changed then.
    pub differences: Vec<Difference>,
}

/// A moment that is whole.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FrameEntry {
    /// The moment.
    pub frame: FrameId,
    /// Its files, in the order in which they were written.
    pub files: Vec<FileEntry>,
}

/// A checkpoint that is whole.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CheckpointEntry {
    /// The frame at whose end it was taken.
    pub frame: i64,
    /// Its file.
    pub file: FileEntry,
}

/// A file that is whole if it has this length and checksum.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FileEntry {
    /// Its name in the cache's folder.
    pub name: String,
    /// How long it is [bytes].
    pub length: u64,
    /// CRC-32 of its bytes, as eight hexadecimal digits in the file.
    #[serde(with = "hexadecimal")]
    pub crc32: u32,
}

impl Manifest {
    /// The manifest of a cache that is still empty.
    pub(super) fn new(scene: &SceneRecord, keep: Keep) -> Manifest {
        Manifest {
            format: FORMAT.to_owned(),
            version: VERSION,
            undine: UNDINE.to_owned(),
            fingerprint: scene.fingerprint(),
            scene: scene.clone(),
            keep,
            earlier: Vec::new(),
            frames: Vec::new(),
            checkpoints: Vec::new(),
            lost: Vec::new(),
            leaving: Vec::new(),
        }
    }

    /// What differs if this scene goes on with the cache; another Undine counts, since its bytes may differ.
    pub fn differences(&self, scene: &SceneRecord) -> Vec<Difference> {
        let mut found = self.scene.differences(scene);
        if self.undine != UNDINE {
            let (before, now) = (Some(self.undine.clone()), Some(UNDINE.to_owned()));
            found.insert(0, Difference { path: "version of Undine".to_owned(), before, now });
        }
        found
    }

    /// The last moment that is whole.
    pub fn last(&self) -> Option<FrameId> {
        self.frames.last().map(|entry| entry.frame)
    }

    /// Every file that is listed.
    pub fn files(&self) -> impl Iterator<Item = &FileEntry> {
        let frames = self.frames.iter().flat_map(|entry| &entry.files);
        frames.chain(self.checkpoints.iter().map(|entry| &entry.file))
    }

    /// The bytes of the file.
    pub(super) fn to_bytes(&self) -> Vec<u8> {
        let mut bytes =
            serde_json::to_vec_pretty(self).expect("texts, numbers and lists always serialise");
        bytes.push(b'\n');
        bytes
    }

    /// Reads a manifest out of a folder; nothing if it is not there.
    pub(super) fn read(folder: &Folder, name: &str) -> Result<Option<Manifest>, CacheError> {
        let fail = |error| folder.failure(Doing::Read, name, error);
        let path = folder.path.join(name);
        let file = match folder.disk.read(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            file => file.map_err(fail)?,
        };
        let mut bytes = Vec::new();
        file.take(LARGEST + 1).read_to_end(&mut bytes).map_err(fail)?;
        Manifest::parse(&bytes).map(Some).map_err(|fault| match fault {
            Fault::Wrong(why) => CacheError::Manifest { path, why },
            Fault::Version { found, undine } => {
                CacheError::Version { path, found, known: VERSION, undine }
            }
        })
    }

    /// Reads a manifest and believes nothing: what is not exactly as we would have written it is refused.
    fn parse(bytes: &[u8]) -> Result<Manifest, Fault> {
        if bytes.len() as u64 > LARGEST {
            return Err(Fault::Wrong(format!("is larger than {} MiB", LARGEST >> 20)));
        }
        // Only what every version has, so that a later one is told apart from garbage.
        #[derive(Deserialize)]
        struct Head {
            format: String,
            version: u64,
            #[serde(default)]
            undine: String,
        }
        let garbage =
            |error: serde_json::Error| Fault::Wrong(format!("is not a manifest: {error}"));
        let head: Head = serde_json::from_slice(bytes).map_err(garbage)?;
        if head.format != FORMAT {
            return Err(Fault::Wrong(format!("is not a manifest: its format is not `{FORMAT}`")));
        }
        if head.version != u64::from(VERSION) {
            return Err(Fault::Version { found: head.version, undine: head.undine });
        }
        let manifest: Manifest = serde_json::from_slice(bytes).map_err(garbage)?;
        manifest.check().map_err(Fault::Wrong)?;
        Ok(manifest)
    }

    fn check(&self) -> Result<(), String> {
        if self.fingerprint != self.scene.fingerprint() {
            return Err("its scene does not have its fingerprint".to_owned());
        }
        if self.keep.every == 0 || self.keep.last == 0 {
            return Err("it keeps no checkpoints".to_owned());
        }
        if !self.frames.is_sorted_by(|a, b| a.frame < b.frame) {
            return Err("its frames are not in order".to_owned());
        }
        if !self.checkpoints.is_sorted_by(|a, b| a.frame < b.frame) {
            return Err("its checkpoints are not in order".to_owned());
        }
        // A name is what its frame makes it, so that no path leads out of the folder and no file is another's.
        for FrameEntry { frame, files } in &self.frames {
            let mut outputs = std::collections::BTreeSet::new();
            for file in files {
                let output = names::parse(&file.name).map(|named| named.output);
                if output
                    .as_ref()
                    .is_none_or(|o| frame.file_name(o).ok().as_ref() != Some(&file.name))
                {
                    return Err(format!("`{}` is not a file of frame {frame}", short(&file.name)));
                }
                if !outputs.insert(output) {
                    return Err(format!("frame {frame} lists `{}` twice", short(&file.name)));
                }
            }
        }
        for CheckpointEntry { frame, file } in &self.checkpoints {
            if file.name != names::checkpoint(*frame) {
                return Err(format!(
                    "`{}` is not a checkpoint of frame {frame}",
                    short(&file.name)
                ));
            }
        }
        match self
            .leaving
            .iter()
            .find(|name| names::parse(name).is_none() && !names::is_checkpoint(name))
        {
            Some(name) => Err(format!("`{}` is not a file of a cache", short(name))),
            None => Ok(()),
        }
    }
}

/// What is wrong with the bytes of a manifest.
enum Fault {
    Wrong(String),
    Version { found: u64, undine: String },
}

/// The beginning of a text that somebody else wrote.
fn short(text: &str) -> String {
    text.chars().take(80).flat_map(char::escape_debug).collect()
}

mod hexadecimal {
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    pub fn serialize<S: Serializer>(sum: &u32, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(&format!("{sum:08x}"))
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<u32, D::Error> {
        let text = String::deserialize(from)?;
        let eight = text.len() == 8 && text.bytes().all(|b| b.is_ascii_hexdigit());
        let sum = if eight { u32::from_str_radix(&text, 16).ok() } else { None };
        sum.ok_or_else(|| D::Error::custom("a checksum has eight hexadecimal digits"))
    }
}
