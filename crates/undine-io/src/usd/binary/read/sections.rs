//! The header, the table of contents and the sections.

use super::super::kind::Rep;
use super::super::{HEADER, MAGIC, SECTIONS, integers, lz4};
use super::cursor::Cursor;
use super::paths::{Entry, Paths};
use super::{Crate, NEWEST, allowance, malformed};
use crate::error::Result;
use std::path::Path;

impl<'a> Crate<'a> {
    /// Reads all but the values.
    pub fn open(bytes: &'a [u8], file: &'a Path) -> Result<Self> {
        let mut header = Cursor::new(bytes, file, 0)?;
        if bytes.len() < HEADER || header.take(8)? != MAGIC {
            let wanted = "a crate begins with PXR-USDC and has at least 88 bytes";
            return Err(malformed(file, 0, "this is no USD crate", wanted));
        }
        let version = header.take(8)?;
        let version = [version[0], version[1], version[2]];
        if version[..2] > NEWEST[..] || version == [0; 3] {
            return Err(malformed(
                file,
                8,
                format!("version {}.{}.{}", version[0], version[1], version[2]),
                &format!("versions 0.0.1 to {}.{} are read", NEWEST[0], NEWEST[1]),
            ));
        }
        let contents = header.u64()?;
        let mut crate_ = Self {
            bytes,
            file,
            version,
            tokens: Vec::new(),
            strings: Vec::new(),
            fields: Vec::new(),
            field_sets: Vec::new(),
            paths: Paths::default(),
            specs: Vec::new(),
            allowance: allowance(bytes.len()),
            passed_over: Vec::new(),
        };
        let [tokens, strings, fields, field_sets, paths, specs] = crate_.sections(contents)?;
        crate_.read_tokens(tokens)?;
        crate_.read_strings(strings)?;
        crate_.read_fields(fields)?;
        crate_.read_field_sets(field_sets)?;
        crate_.read_paths(paths)?;
        crate_.read_specs(specs)?;
        Ok(crate_)
    }

    /// Where the sections begin.
    fn sections(&self, contents: u64) -> Result<[Cursor<'a>; 6]> {
        let mut cursor = self.cursor(contents)?;
        let count = cursor.count(32)?;
        let mut found: [Option<Cursor>; 6] = Default::default();
        for _ in 0..count {
            let name = cursor.take(16)?;
            let length = name.iter().position(|&byte| byte == 0).unwrap_or(16);
            let (start, size) = (cursor.u64()?, cursor.u64()?);
            let known = SECTIONS.iter().position(|section| section.as_bytes() == &name[..length]);
            let Some(known) = known else { continue };
            let section = self.cursor(start)?;
            section.check(cursor.at(), size, 1)?;
            found[known].get_or_insert(section);
        }
        for (section, name) in found.iter().zip(SECTIONS) {
            if section.is_none() {
                return Err(self.error(
                    contents,
                    format!("there is no section {name}"),
                    "six are needed",
                ));
            }
        }
        Ok(found.map(|section| section.expect("all were found")))
    }

    /// Whether the file is of this version or a later one.
    pub fn is_from(&self, minor: u8) -> bool {
        self.version[..2] >= [0, minor][..]
    }

    /// Compressed integers with the length of their bytes before them.
    pub fn integers<T: integers::Packed>(
        &mut self,
        cursor: &mut Cursor<'a>,
        count: u64,
    ) -> Result<Vec<T>> {
        let at = cursor.at();
        let block = cursor.block()?;
        let possible = usize::try_from(count).ok().filter(|&count| {
            integers::fewest_bytes(count) <= block.len()
                && integers::packed_length::<T>(count).is_some()
        });
        let Some(count) = possible else {
            let wanted = "there are fewer than 1020 in a byte";
            return Err(self.error(
                at,
                format!("{count} integers in {} bytes", block.len()),
                wanted,
            ));
        };
        self.make(at, count.saturating_mul(2 * size_of::<T>()))?;
        integers::decompress(block, count).ok_or_else(|| {
            self.error(at, format!("these are not {count} compressed integers"), "they are damaged")
        })
    }

    fn read_tokens(&mut self, mut cursor: Cursor<'a>) -> Result<()> {
        let at = cursor.at();
        let count = cursor.u64()?;
        let words = if self.is_from(4) {
            let length = cursor.u64()?;
            let block = cursor.block()?;
            let Some(length) =
                usize::try_from(length).ok().filter(|&length| length <= lz4::most(block.len()))
            else {
                let wanted = "a byte holds 255 at most";
                let found = format!("{length} bytes of text in {} bytes", block.len());
                return Err(self.error(at, found, wanted));
            };
            self.make(at, length)?;
            let words = lz4::decompress(block, length).filter(|words| words.len() == length);
            words
                .ok_or_else(|| self.error(at, "the tokens do not decompress", "they are damaged"))?
        } else {
            cursor.block()?.to_vec()
        };
        let ends = words.iter().filter(|&&byte| byte == 0).count();
        if ends as u64 != count || words.last().is_some_and(|&byte| byte != 0) {
            let wanted = format!("{count} are declared, and each ends with a zero");
            return Err(self.error(at, format!("there are {ends} tokens"), &wanted));
        }
        self.make(at, words.len() + 32 * ends)?;
        let texts = words[..words.len().saturating_sub(1)].split(|&byte| byte == 0).take(ends);
        self.tokens = texts.map(|text| String::from_utf8_lossy(text).into_owned()).collect();
        Ok(())
    }

    fn read_strings(&mut self, mut cursor: Cursor<'a>) -> Result<()> {
        let count = cursor.count(4)?;
        self.strings = bytemuck::pod_collect_to_vec(cursor.take(4 * count)?);
        Ok(())
    }

    fn read_fields(&mut self, mut cursor: Cursor<'a>) -> Result<()> {
        let at = cursor.at();
        if !self.is_from(4) {
            // Four bytes without meaning stand before each pair.
            let count = cursor.count(16)?;
            for _ in 0..count {
                cursor.u32()?;
                self.fields.push((cursor.u32()?, Rep(cursor.u64()?)));
            }
            return Ok(());
        }
        let count = cursor.u64()?;
        let names = self.integers::<i32>(&mut cursor, count)?;
        let block = cursor.block()?;
        let length = names.len() * 8;
        if length > lz4::most(block.len()) {
            let found = format!("{} values in {} bytes", names.len(), block.len());
            return Err(self.error(at, found, "a byte holds 255 at most"));
        }
        self.make(at, 3 * length)?;
        let reps = lz4::decompress(block, length).filter(|reps| reps.len() == length);
        let reps =
            reps.ok_or_else(|| self.error(at, "the values do not decompress", "they are damaged"))?;
        let reps = reps.chunks_exact(8).map(|rep| Rep(bytemuck::pod_read_unaligned(rep)));
        self.fields = names.into_iter().map(|name| name as u32).zip(reps).collect();
        Ok(())
    }

    fn read_field_sets(&mut self, mut cursor: Cursor<'a>) -> Result<()> {
        self.field_sets = if self.is_from(4) {
            let count = cursor.u64()?;
            bytemuck::cast_vec(self.integers::<i32>(&mut cursor, count)?)
        } else {
            let count = cursor.count(4)?;
            bytemuck::pod_collect_to_vec(cursor.take(4 * count)?)
        };
        Ok(())
    }

    fn read_paths(&mut self, mut cursor: Cursor<'a>) -> Result<()> {
        let at = cursor.at();
        let count = cursor.u64()?;
        if !self.is_from(4) {
            self.paths = self.read_plain_paths(cursor, count)?;
            return Ok(());
        }
        let entries = cursor.u64()?;
        let indices = self.integers::<i32>(&mut cursor, entries)?;
        let tokens = self.integers::<i32>(&mut cursor, entries)?;
        let jumps = self.integers::<i32>(&mut cursor, entries)?;
        let mut paths = self.room_for_paths(at, count, indices.len())?;
        let triples = indices.into_iter().zip(tokens).zip(jumps);
        for (place, ((index, token), jump)) in (0_u64..).zip(triples) {
            let entry = Entry {
                place,
                index: index as u32,
                token: token.unsigned_abs(),
                is_property: token < 0,
                has_child: jump > 0 || jump == -1,
                sibling: (jump >= 0).then(|| place + u64::from(jump.max(1) as u32)),
            };
            self.add_path(&mut paths, at, entry)?;
        }
        self.paths = paths;
        Ok(())
    }

    /// The paths as versions before 0.4 have them: not compressed.
    fn read_plain_paths(&mut self, mut cursor: Cursor<'a>, count: u64) -> Result<Paths> {
        /// The fewest bytes that a path takes.
        const SHORTEST: usize = 12;
        let mut paths = self.room_for_paths(cursor.at(), count, cursor.left() / SHORTEST)?;
        let mut more = count > 0;
        while more {
            let place = cursor.at();
            // Version 0.0.1 has four bytes without meaning before each, and all have three after the bits.
            if self.version == [0, 0, 1] {
                cursor.u32()?;
            }
            let (index, token, bits) = (cursor.u32()?, cursor.u32()?, cursor.u32()?);
            let (has_child, has_sibling) = (bits & 1 != 0, bits & 2 != 0);
            let sibling = match (has_child, has_sibling) {
                (true, true) => Some(cursor.u64()?),
                (false, true) => Some(cursor.at()),
                _ => None,
            };
            let is_property = bits & 4 != 0;
            let entry = Entry { place, index, token, is_property, has_child, sibling };
            more = self.add_path(&mut paths, place, entry)?;
        }
        Ok(paths)
    }

    /// Room for so many indices of paths, of which the file lists so many: a few, such as the empty one, are not in the tree.
    fn room_for_paths(&mut self, at: u64, count: u64, listed: usize) -> Result<Paths> {
        let most = listed.saturating_mul(2).saturating_add(64);
        let Some(count) = usize::try_from(count).ok().filter(|&count| count <= most) else {
            let wanted = format!("the file lists {listed} at most");
            return Err(self.error(at, format!("{count} paths"), &wanted));
        };
        self.make(at, count.saturating_mul(64))?;
        Ok(Paths::new(count))
    }

    /// Adds a path to the tree, and says whether there are more to come.
    fn add_path(&self, paths: &mut Paths, at: u64, entry: Entry) -> Result<bool> {
        let has_token = (entry.token as usize) < self.tokens.len();
        let added = if has_token { paths.add(entry) } else { Err("its token is not there") };
        added.map_err(|fault| {
            self.error(at, format!("the tree of paths is broken: {fault}"), "a tree")
        })
    }

    fn read_specs(&mut self, mut cursor: Cursor<'a>) -> Result<()> {
        if self.is_from(4) {
            let count = cursor.u64()?;
            let paths = self.integers::<i32>(&mut cursor, count)?;
            let sets = self.integers::<i32>(&mut cursor, count)?;
            let kinds = self.integers::<i32>(&mut cursor, count)?;
            let triples = paths.into_iter().zip(sets).zip(kinds);
            self.specs = triples.map(|((p, s), k)| [p as u32, s as u32, k as u32]).collect();
            return Ok(());
        }
        let is_first = self.version == [0, 0, 1];
        let count = cursor.count(if is_first { 16 } else { 12 })?;
        for _ in 0..count {
            if is_first {
                cursor.u32()?;
            }
            self.specs.push([cursor.u32()?, cursor.u32()?, cursor.u32()?]);
        }
        Ok(())
    }
}
