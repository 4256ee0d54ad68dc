//! A sequence of files, summed up.

use super::part::{Part, Range};
use super::{Depth, inspect};
use crate::error::Result;
use crate::format::Format;
use crate::pattern::Pattern;
use undine_core::mesh::Bounds;

/// What is in the files of a pattern.
#[derive(Debug, Clone, PartialEq)]
pub struct SequenceInfo {
    /// The pattern.
    pub pattern: String,
    /// The format of the files.
    pub format: Format,
    /// The frames for which there are files, ascending.
    pub frames: Vec<i64>,
    /// How many frames between the first and the last have no file.
    pub missing: u64,
    /// How long all files are together [bytes].
    pub bytes: u64,
    /// What they hold.
    pub parts: Vec<SequencePart>,
    /// What of them cannot be read, or is strange; each begins with its frame.
    pub warnings: Vec<String>,
    /// How many of the files are damaged, or cannot be read.
    pub damaged: usize,
}

/// A part of the files of a sequence.
#[derive(Debug, Clone, PartialEq)]
pub struct SequencePart {
    /// The part: boxes and ranges are those over all frames, counts those of the first.
    pub part: Part,
    /// The least and the greatest of each count.
    pub counts: Vec<(&'static str, [u64; 2])>,
    /// In how many frames it is.
    pub frames: u64,
}

/// Looks into the files of these frames of a pattern; `done` hears of each. A file that cannot be read is a warning.
pub fn inspect_sequence(
    pattern: &Pattern,
    name: &str,
    frames: Vec<i64>,
    depth: Depth,
    done: &mut dyn FnMut(i64),
) -> Result<SequenceInfo> {
    let format = Format::of(&pattern.file(0))?;
    let span = match (frames.first(), frames.last()) {
        (Some(&first), Some(&last)) => last.abs_diff(first) + 1,
        _ => 0,
    };
    let mut info = SequenceInfo {
        pattern: name.to_owned(),
        format,
        missing: span - frames.len() as u64,
        frames,
        bytes: 0,
        parts: Vec::new(),
        warnings: Vec::new(),
        damaged: 0,
    };
    for n in 0..info.frames.len() {
        let frame = info.frames[n];
        match inspect(&pattern.file(frame), depth) {
            Ok(found) => {
                info.bytes += found.bytes;
                info.damaged += usize::from(found.damaged);
                let warnings = found.warnings.iter().map(|text| format!("frame {frame}: {text}"));
                info.warnings.extend(warnings);
                found.parts.into_iter().for_each(|part| info.add(part));
            }
            Err(why) => {
                info.damaged += 1;
                info.warnings.push(format!("frame {frame}: {why}"));
            }
        }
        done(frame);
    }
    Ok(info)
}

impl SequenceInfo {
    fn add(&mut self, part: Part) {
        let same = |other: &&mut SequencePart| other.part.name == part.name;
        let Some(all) = self.parts.iter_mut().find(same) else {
            let counts = part.counts.iter().map(|&(name, count)| (name, [count; 2])).collect();
            self.parts.push(SequencePart { part, counts, frames: 1 });
            return;
        };
        all.frames += 1;
        for (name, count) in part.counts {
            match all.counts.iter_mut().find(|(found, _)| *found == name) {
                Some((_, [least, most])) => {
                    (*least, *most) = ((*least).min(count), (*most).max(count));
                }
                None => all.counts.push((name, [count; 2])),
            }
        }
        all.part.bounds = both(all.part.bounds, part.bounds, Bounds::union);
        all.part.memory = both(all.part.memory, part.memory, u64::max);
        for channel in part.channels {
            let same = |found: &&mut super::ChannelInfo| {
                (&found.name, found.on, &found.kind) == (&channel.name, channel.on, &channel.kind)
            };
            match all.part.channels.iter_mut().find(same) {
                Some(found) => {
                    let range = found.range.take();
                    found.range = both(range, channel.range, |a, b| Range::union(a, &b));
                    found.not_finite += channel.not_finite;
                }
                None => all.part.channels.push(channel),
            }
        }
    }
}

fn both<T>(a: Option<T>, b: Option<T>, join: impl Fn(T, T) -> T) -> Option<T> {
    match (a, b) {
        (Some(a), Some(b)) => Some(join(a, b)),
        (a, b) => a.or(b),
    }
}
