//! What a crate stores once: words, strings, fields, sets of fields, and values.

use super::super::NO_FIELD;
use super::super::kind::{Kind, Rep};
use super::paths::Paths;
use crate::usd::layer::{Array, Layer, Prim, Value};
use std::collections::HashMap;

/// The tables of a crate. The maps are only asked, never walked, so their order does not reach the file.
#[derive(Default)]
pub struct Tables<'a> {
    pub tokens: Vec<&'a str>,
    token_of: HashMap<&'a str, u32>,
    /// Words, by their index.
    pub strings: Vec<u32>,
    string_of: HashMap<u32, u32>,
    pub paths: Paths,
    /// Words and values.
    pub fields: Vec<(u32, Rep)>,
    field_of: HashMap<(u32, Rep), u32>,
    /// Lists of fields, each with [`NO_FIELD`] at its end.
    pub field_sets: Vec<u32>,
    set_of: HashMap<Vec<u32>, u32>,
    /// Path, set of fields, kind of spec.
    pub specs: Vec<[u32; 3]>,
    blocks: HashMap<(Kind, Vec<u8>), Rep>,
    /// Large arrays, by kind, length and a sample: their contents and where they are.
    arrays: HashMap<(Kind, usize, u64), Vec<Stored<'a>>>,
}

/// The content of an array, and what stands for it.
type Stored<'a> = (&'a [u8], Rep);

impl<'a> Tables<'a> {
    /// The index of a word.
    pub fn token(&mut self, word: &'a str) -> u32 {
        *self.token_of.entry(word).or_insert_with(|| {
            self.tokens.push(word);
            self.tokens.len() as u32 - 1
        })
    }

    /// The word of an index.
    pub fn word(&self, token: u32) -> &'a str {
        self.tokens[token as usize]
    }

    /// The index of a string.
    pub fn string(&mut self, text: &'a str) -> u32 {
        let token = self.token(text);
        *self.string_of.entry(token).or_insert_with(|| {
            self.strings.push(token);
            self.strings.len() as u32 - 1
        })
    }

    /// The path of a prim below another, or below the root.
    pub fn child(&mut self, parent: u32, name: &'a str) -> u32 {
        let name = self.token(name);
        self.paths.below(parent, name, false)
    }

    /// The path of a property of a prim.
    pub fn property(&mut self, prim: u32, name: &'a str) -> u32 {
        let name = self.token(name);
        self.paths.below(prim, name, true)
    }

    /// The index of a field.
    pub fn field(&mut self, name: u32, rep: Rep) -> u32 {
        *self.field_of.entry((name, rep)).or_insert_with(|| {
            self.fields.push((name, rep));
            self.fields.len() as u32 - 1
        })
    }

    /// Adds a prim, an attribute, a relationship or the layer itself.
    pub fn add_spec(&mut self, path: u32, kind: u32, fields: &[u32]) {
        let set = match self.set_of.get(fields) {
            Some(&set) => set,
            None => {
                let set = self.field_sets.len() as u32;
                self.field_sets.extend_from_slice(fields);
                self.field_sets.push(NO_FIELD);
                self.set_of.insert(fields.to_vec(), set);
                set
            }
        };
        self.specs.push([path, set, kind]);
    }

    /// Writes a small value, unless the same one is there already.
    pub fn store(&mut self, out: &mut Vec<u8>, kind: Kind, block: Vec<u8>) -> Rep {
        self.store_once(kind, block, |block, kind| {
            let rep = Rep::at(kind, out.len());
            out.extend_from_slice(block);
            rep
        })
    }

    /// Writes an array of indices or of other small things, unless the same one is there already.
    pub fn store_array(&mut self, out: &mut Vec<u8>, kind: Kind, block: Vec<u8>) -> Rep {
        self.store_once(kind, block, |block, kind| {
            let rep = Rep::array(kind, align(out));
            out.extend_from_slice(block);
            rep
        })
    }

    fn store_once(
        &mut self,
        kind: Kind,
        block: Vec<u8>,
        write: impl FnOnce(&[u8], Kind) -> Rep,
    ) -> Rep {
        let key = (kind, block);
        if let Some(&rep) = self.blocks.get(&key) {
            return rep;
        }
        let rep = write(&key.1, kind);
        self.blocks.insert(key, rep);
        rep
    }

    /// Writes a large array by the function, unless the same content was written before.
    ///
    /// The content is not hashed as a whole: a few bytes of it find the arrays that it is then compared with, which end at
    /// the first difference.
    pub fn store_large(
        &mut self,
        kind: Kind,
        content: &'a [u8],
        write: impl FnOnce() -> Rep,
    ) -> Rep {
        let same_sample = self.arrays.entry((kind, content.len(), sample(content))).or_default();
        if let Some(&(_, rep)) = same_sample.iter().find(|(other, _)| *other == content) {
            return rep;
        }
        let rep = write();
        same_sample.push((content, rep));
        rep
    }
}

/// A number that differs for most contents that differ: made from up to 64 places of it.
fn sample(content: &[u8]) -> u64 {
    let stride = (content.len() / 64).max(8);
    let mix = |sum: u64, part: &[u8]| {
        let mut bytes = [0; 8];
        let length = part.len().min(8);
        bytes[..length].copy_from_slice(&part[..length]);
        (sum ^ u64::from_le_bytes(bytes)).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(23)
    };
    content.chunks(stride).fold(0, mix)
}

/// Fills up to a multiple of eight, where programs can use an array in place, and says where that is.
pub fn align(out: &mut Vec<u8>) -> usize {
    out.resize(out.len().next_multiple_of(8), 0);
    out.len()
}

/// About how many bytes the arrays of a layer take, so that the file's bytes are allocated once.
pub fn bytes_of_arrays(layer: &Layer) -> usize {
    layer.prims.iter().map(bytes_of_prim).sum()
}

fn bytes_of_prim(prim: &Prim) -> usize {
    let values = prim.attributes.iter().flat_map(|attribute| {
        attribute.default.iter().chain(attribute.samples.iter().map(|(_, value)| value))
    });
    let own: usize = values
        .map(|value| match value {
            Value::Array(Array::Float(numbers, _)) => 4 * numbers.len() + 16,
            Value::Array(Array::Double(numbers, _)) => 8 * numbers.len() + 16,
            Value::Array(Array::Half(numbers, _)) => 2 * numbers.len() + 16,
            _ => 64,
        })
        .sum();
    own + prim.children.iter().map(bytes_of_prim).sum::<usize>()
}
