//! The sections after the values, the table of contents, and the header before all.

use super::super::{MAGIC, SECTIONS, integers, lz4};
use super::{Writer, counted, unwritable};
use crate::error::Result;

impl Writer<'_> {
    /// Ends the file.
    pub fn finish(mut self) -> Result<Vec<u8>> {
        let sections = [
            self.tokens()?,
            counted(&self.tables.strings),
            self.fields(),
            counted_integers(&self.tables.field_sets),
            self.paths(),
            self.specs(),
        ];
        let mut contents = (sections.len() as u64).to_le_bytes().to_vec();
        for (name, section) in SECTIONS.into_iter().zip(sections) {
            let mut padded = [0; 16];
            padded[..name.len()].copy_from_slice(name.as_bytes());
            contents.extend(padded);
            contents.extend((self.out.len() as u64).to_le_bytes());
            contents.extend((section.len() as u64).to_le_bytes());
            self.out.extend(section);
        }
        let at = self.out.len() as u64;
        if at >= 1 << 48 {
            return Err(unwritable(
                "the layer".into(),
                format!("its values take {at} bytes"),
                "a crate has less than 2⁴⁸",
            ));
        }
        self.out.extend(contents);
        self.out[..8].copy_from_slice(MAGIC);
        self.out[8..11].copy_from_slice(&self.version);
        self.out[16..24].copy_from_slice(&at.to_le_bytes());
        Ok(self.out)
    }

    /// All words, each with a zero at its end.
    fn tokens(&self) -> Result<Vec<u8>> {
        let mut words = Vec::new();
        for word in &self.tables.tokens {
            if word.contains('\0') {
                return Err(unwritable(
                    format!("text `{}`", word.escape_debug()),
                    "it has a zero byte".into(),
                    "a zero ends a text",
                ));
            }
            words.extend_from_slice(word.as_bytes());
            words.push(0);
        }
        if !lz4::fits(words.len()) {
            return Err(unwritable(
                "the layer".into(),
                format!("its texts take {} bytes", words.len()),
                "texts take less than 250 GB",
            ));
        }
        let compressed = lz4::compress(&words);
        let mut section = (self.tables.tokens.len() as u64).to_le_bytes().to_vec();
        section.extend((words.len() as u64).to_le_bytes());
        section.extend((compressed.len() as u64).to_le_bytes());
        section.extend(compressed);
        Ok(section)
    }

    fn fields(&self) -> Vec<u8> {
        let fields = &self.tables.fields;
        let names: Vec<u32> = fields.iter().map(|&(name, _)| name).collect();
        let reps: Vec<u64> = fields.iter().map(|(_, rep)| rep.0).collect();
        let mut section = counted_integers(&names);
        let reps = lz4::compress(bytemuck::cast_slice(&reps));
        section.extend((reps.len() as u64).to_le_bytes());
        section.extend(reps);
        section
    }

    fn paths(&self) -> Vec<u8> {
        let tree = self.tables.paths.tree();
        let mut section = (self.tables.paths.count() as u64).to_le_bytes().to_vec();
        section.extend((tree.indices.len() as u64).to_le_bytes());
        for list in [&tree.indices, &tree.tokens, &tree.jumps] {
            add_integers(&mut section, list);
        }
        section
    }

    fn specs(&self) -> Vec<u8> {
        let mut section = (self.tables.specs.len() as u64).to_le_bytes().to_vec();
        for column in 0..3 {
            let list: Vec<i32> = self.tables.specs.iter().map(|spec| spec[column] as i32).collect();
            add_integers(&mut section, &list);
        }
        section
    }
}

/// The number of integers, then the integers.
fn counted_integers(list: &[u32]) -> Vec<u8> {
    let mut section = (list.len() as u64).to_le_bytes().to_vec();
    add_integers(&mut section, bytemuck::cast_slice(list));
    section
}

/// The length of the compressed integers, then those.
fn add_integers(section: &mut Vec<u8>, list: &[i32]) {
    let compressed = integers::compress(list);
    section.extend((compressed.len() as u64).to_le_bytes());
    section.extend(compressed);
}
