//! The file around the grids: header, metadata, and before each grid a descriptor that says where it begins and ends.

use crate::error::{Result, VdbError};
use crate::format::{MAGIC, SEPARATOR, names};
use crate::metadata::{Entry, Metadata};
use crate::value::{Kind, MaskBit, Value};
use crate::write::bytes::{put_i64, put_string, put_u32};
use crate::write::encoded::{EncodedGrid, Head};
use crate::write::metadata::{RawEntry, put_metadata, raw};
use crate::write::statistics::add_statistics;
use crate::write::topology::Topology;
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

const VERSION: u32 = 224;
/// The version of OpenVDB that this follows.
const LIBRARY: [u32; 2] = [10, 0];

/// Writes a file that holds these grids: the same bytes for the same content.
pub fn write(out: &mut dyn Write, file_metadata: &Metadata, grids: &[EncodedGrid]) -> Result<()> {
    let unwritable = |found: String, wanted: &str| VdbError::Unwritable {
        grid: String::new(),
        found,
        wanted: wanted.to_owned(),
    };
    let metadata = raw(file_metadata).map_err(|(found, wanted)| unwritable(found, wanted))?;
    let count = i32::try_from(grids.len())
        .map_err(|_| unwritable(format!("there are {} grids", grids.len()), "a file has fewer"))?;
    let heads = grids.iter().map(head_bytes).collect::<Result<Vec<_>>>()?;

    let mut bytes = Vec::new();
    put_i64(MAGIC, &mut bytes);
    put_u32(VERSION, &mut bytes);
    LIBRARY.iter().for_each(|&number| put_u32(number, &mut bytes));
    bytes.push(1); // Descriptors say where their grids are.
    let mut end = Vec::new();
    put_metadata(&metadata, &mut end);
    end.extend(count.to_le_bytes());
    bytes.extend_from_slice(uuid(&end, &heads, grids).as_bytes());
    bytes.append(&mut end);

    let mut position = 0;
    for ((grid, head), name) in grids.iter().zip(heads).zip(unique_names(grids)) {
        put_string(&name, &mut bytes);
        put_string(&tree_type(&grid.head), &mut bytes);
        put_string("", &mut bytes); // It shares no other grid's tree.
        let runs = grid.buffer_runs();
        let start = position + bytes.len() as i64 + 3 * size_of::<i64>() as i64;
        let block = start + head.len() as i64;
        let end = block + runs.iter().map(|run| run.len() as i64).sum::<i64>();
        [start, block, end].iter().for_each(|&at| put_i64(at, &mut bytes));
        bytes.extend(head);
        out.write_all(&bytes)?;
        for run in runs {
            out.write_all(run)?;
        }
        bytes.clear();
        position = end;
    }
    out.write_all(&bytes)?;
    Ok(())
}

/// Writes a file under a temporary name beside its own and gives it its name when it is whole: whatever happens, there is
/// never a part of a file under that name. `is_synced` has the system put it on the disk before that.
pub fn write_file(
    path: &Path,
    file_metadata: &Metadata,
    grids: &[EncodedGrid],
    is_synced: bool,
) -> Result<()> {
    let failed = |source| VdbError::Save { file: path.to_owned(), source };
    let (mut file, temporary) = Temporary::beside(path).map_err(failed)?;
    write(&mut file, file_metadata, grids).map_err(|error| match error {
        VdbError::Io(source) => failed(source),
        error => error,
    })?;
    if is_synced {
        file.sync_all().map_err(failed)?;
    }
    drop(file);
    temporary.rename(path).map_err(failed)
}

/// A file that is removed unless it gets its name.
struct Temporary(Option<PathBuf>);

impl Temporary {
    fn beside(path: &Path) -> std::io::Result<(File, Self)> {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let name =
            path.file_name().ok_or_else(|| std::io::Error::other("it is no name of a file"))?;
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let mut temporary = std::ffi::OsString::from(".undine-tmp.");
        temporary.push(name);
        temporary.push(format!(".{}-{count}", std::process::id()));
        let temporary = path.with_file_name(temporary);
        Ok((File::create(&temporary)?, Self(Some(temporary))))
    }

    fn rename(mut self, path: &Path) -> std::io::Result<()> {
        if let Some(temporary) = &self.0 {
            fs::rename(temporary, path)?;
            self.0 = None;
        }
        Ok(())
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        if let Some(temporary) = &self.0 {
            // There is no one to tell, and what failed before has been said.
            let _ = fs::remove_file(temporary);
        }
    }
}

/// All of a grid before its buffers: flags, metadata, transform and topology.
fn head_bytes(grid: &EncodedGrid) -> Result<Vec<u8>> {
    let head = &grid.head;
    let topology = grid.topology()?;
    let mut metadata = head.metadata.clone();
    let mut add = |name: &str, entry: Entry| {
        metadata.insert(name.to_owned(), RawEntry::of(&entry));
    };
    if !head.name.is_empty() {
        add(names::NAME, Entry::String(head.name.clone()));
    }
    add(names::CLASS, Entry::String(head.class.word().to_owned()));
    add(names::HALF, Entry::Bool(head.saved_as_half));
    add_statistics(grid, &topology, &mut metadata);

    let mut bytes = Vec::new();
    put_u32(head.compression.flags(), &mut bytes);
    put_metadata(&metadata, &mut bytes);
    bytes.extend_from_slice(&head.transform);
    put_topology(&topology, head, &mut bytes);
    Ok(bytes)
}

fn put_topology(topology: &Topology, head: &Head, bytes: &mut Vec<u8>) {
    fn put<T: Value>(topology: &Topology, head: &Head, bytes: &mut Vec<u8>) {
        topology.put::<T>(head, bytes);
    }
    let put = match head.kind {
        Kind::Float => put::<f32>,
        Kind::Double => put::<f64>,
        Kind::Int32 => put::<i32>,
        Kind::Int64 => put::<i64>,
        Kind::Bool => put::<bool>,
        Kind::Mask => put::<MaskBit>,
        Kind::Vec3s => put::<[f32; 3]>,
        Kind::Vec3d => put::<[f64; 3]>,
        Kind::Vec3i => put::<[i32; 3]>,
        Kind::Points => put::<u32>,
    };
    put(topology, head, bytes);
}

/// Such as `Tree_float_5_4_3_HalfFloat`.
fn tree_type(head: &Head) -> String {
    let half = if head.saved_as_half { "_HalfFloat" } else { "" };
    format!("Tree_{}_5_4_3{half}", head.kind.word())
}

/// The names of grids; those that are empty or not the only ones have a number behind them.
fn unique_names(grids: &[EncodedGrid]) -> Vec<String> {
    let mut counts: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    grids.iter().for_each(|grid| counts.entry(&grid.head.name).or_default().0 += 1);
    let unique = |grid: &EncodedGrid| {
        let name = grid.head.name.as_str();
        match counts.get_mut(name) {
            Some((total, used)) if name.is_empty() || *total > 1 => {
                *used += 1;
                format!("{name}{SEPARATOR}{}", *used - 1)
            }
            _ => name.to_owned(),
        }
    };
    grids.iter().map(unique).collect()
}

/// What tells this file from others: drawn from its content, so that the same content gives the same file.
fn uuid(end: &[u8], heads: &[Vec<u8>], grids: &[EncodedGrid]) -> String {
    let (mut of_heads, mut of_buffers) = (crc32fast::Hasher::new(), crc32fast::Hasher::new());
    let mut length = end.len() as u64;
    of_heads.update(end);
    for (head, grid) in heads.iter().zip(grids) {
        // Names and types are in no head but in the descriptor.
        of_heads.update(grid.head.name.as_bytes());
        of_heads.update(tree_type(&grid.head).as_bytes());
        of_heads.update(head);
        length += head.len() as u64;
        for run in grid.buffer_runs() {
            of_buffers.update(run);
            length += run.len() as u64;
        }
    }
    let sums = u64::from(of_heads.finalize()) << 32 | u64::from(of_buffers.finalize());
    let rest = spread(sums ^ spread(length));
    let digits = format!("{sums:016X}{rest:016X}");
    let cuts = [0, 8, 12, 16, 20, 32];
    cuts.windows(2).map(|cut| &digits[cut[0]..cut[1]]).collect::<Vec<_>>().join("-")
}

/// Spreads the bits of a number over all of them (the finaliser of SplitMix64).
fn spread(number: u64) -> u64 {
    let number = (number ^ number >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let number = (number ^ number >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    number ^ number >> 31
}
