//! Fills the columns of points from the arrays of their leaves.
//!
//! A column is split at the leaves; each page is expanded by some thread and decoded straight into the parts of its leaves.

use super::array::{ArrayHead, Piece, Pieces};
use super::attribute::{Attribute, Column, Strings, with_values};
use super::descriptor::{GROUP_CODEC, TEXT_CODEC};
use super::element::Element;
use super::read::{Budget, Sets};
use super::stored::{Stored, centred, direction, truncated, unit};
use super::{PointTree, split_at_all};
use crate::codec::Decoder;
use crate::error::{Result, VdbError};
use crate::read::cursor::malformed;
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::ops::Range;

/// Fills columns from the arrays of the leaves.
pub(super) struct Columns<'a> {
    pub sets: &'a Sets,
    /// The first point of each leaf, and at last how many there are.
    pub starts: &'a [usize],
    /// By position among the attributes of a leaf.
    pub pieces: &'a [Pieces<'a>],
}

/// What came of an attribute.
enum Found {
    Attribute(Attribute),
    /// It holds groups, which are read by themselves.
    Groups,
    /// What is not known of it.
    Unknown(String),
}

/// Where a column comes from: by descriptor its position among the arrays, if it is there.
type Source = Vec<Option<usize>>;

impl Columns<'_> {
    /// Fills all columns and groups; what cannot be read comes to `unread`.
    pub fn fill(
        &self,
        points: &mut PointTree,
        budget: &mut Budget,
        unread: &mut Vec<(String, VdbError)>,
    ) -> Result<()> {
        for (name, source) in self.sources(budget)? {
            match self.attribute(&name, &source, budget)? {
                Found::Attribute(attribute) => points.attributes.push(attribute),
                Found::Groups => {}
                Found::Unknown(what) => {
                    let wanted = "types and codecs are those that OpenVDB has by itself".to_owned();
                    let offset = self.sets.offset;
                    unread.push((name, VdbError::Unsupported { offset, what, wanted }));
                }
            }
        }
        points.groups = self.groups(budget)?;
        for descriptor in self.sets.descriptors.iter().rev() {
            points.metadata.extend(descriptor.metadata.clone());
        }
        Ok(())
    }

    /// Every attribute with where it is, in the order of the descriptors.
    fn sources(&self, budget: &mut Budget) -> Result<Vec<(String, Source)>> {
        let descriptors = &self.sets.descriptors;
        let mut sources: Vec<(String, Source)> = Vec::new();
        let mut known: BTreeMap<&str, usize> = BTreeMap::new();
        for (which, descriptor) in descriptors.iter().enumerate() {
            for (position, array) in descriptor.arrays.iter().enumerate() {
                let at = *known.entry(&array.name).or_insert(sources.len());
                if at == sources.len() {
                    self.spend_source(budget)?;
                    sources.push((array.name.clone(), vec![None; descriptors.len()]));
                }
                sources[at].1[which] = Some(position);
            }
        }
        Ok(sources)
    }

    /// The heads of the arrays of a source, with their leaves.
    fn heads<'s>(&'s self, source: &'s Source) -> impl Iterator<Item = &'s ArrayHead> + 's {
        let of_leaf = self.sets.of_leaf.iter().enumerate();
        of_leaf.filter_map(|(leaf, &which)| {
            source[which as usize].and_then(|position| self.sets.heads[position].get(leaf))
        })
    }

    /// Reads an attribute, if that is possible.
    fn attribute(&self, name: &str, source: &Source, budget: &mut Budget) -> Result<Found> {
        let descriptors = &self.sets.descriptors;
        let mut types = source.iter().zip(descriptors).filter_map(|(position, descriptor)| {
            position.map(|position| &descriptor.arrays[position])
        });
        let Some(first) = types.next() else { return Ok(Found::Groups) };
        if types.any(|other| (&other.value, &other.codec) != (&first.value, &first.codec)) {
            return Ok(Found::Unknown("a type that changes from leaf to leaf".into()));
        }
        if first.codec == GROUP_CODEC {
            return Ok(Found::Groups);
        }
        let stride = self.heads(source).next().map_or(1, |head| head.stride);
        if self.heads(source).any(|head| head.stride != stride || !head.constant_stride) {
            return Ok(Found::Unknown("a count of values that changes from point to point".into()));
        }
        let is_text = first.codec == TEXT_CODEC && first.value == "uint32";
        let stored = if is_text { Some(Stored::Whole) } else { Stored::of_word(&first.codec) };
        let empty = if is_text {
            Some(Column::String(Strings::default()))
        } else {
            Column::of_word(&first.value)
        };
        let Some((mut values, stored)) =
            empty.zip(stored).filter(|(column, stored)| column.may_be(*stored))
        else {
            let what = format!("the type `{}` with the codec `{}`", first.value, first.codec);
            return Ok(Found::Unknown(what));
        };

        let count = self.points().saturating_mul(stride as usize);
        self.spend(budget, count, values.value_size())?;
        let sweep = Sweep { columns: self, source, stride: stride as usize };
        match (&mut values, stored) {
            (Column::Float(column), _) => {
                let decode =
                    |_, bytes: &[u8], values: &mut [f32]| get_floats(bytes, values, stored);
                sweep.run(column, float_size(stored), decode)?;
            }
            (Column::Vec3s(column), Stored::Direction) => {
                let decode = |_, bytes: &[u8], values: &mut [[f32; 3]]| {
                    get_codes(bytes, values, direction::decode);
                };
                sweep.run(column, 2, decode)?;
            }
            (Column::Vec3s(column), _) => {
                let decode = |_, bytes: &[u8], values: &mut [[f32; 3]]| {
                    get_floats(bytes, values.as_flattened_mut(), stored);
                };
                sweep.run(column, 3 * float_size(stored), decode)?;
            }
            (Column::String(strings), _) => {
                sweep.whole(&mut strings.indices)?;
                self.number_texts(stride as usize, strings, budget)?;
            }
            (column, _) => with_values!(column, values => sweep.whole(values)?),
        }
        let hidden = self.heads(source).next().is_some_and(|head| head.hidden);
        let name = name.to_owned();
        Ok(Found::Attribute(Attribute { name, values, stride, stored, hidden }))
    }

    /// Turns the numbers that the file has for texts into indices of a table of those that are in use.
    fn number_texts(
        &self,
        stride: usize,
        strings: &mut Strings,
        budget: &mut Budget,
    ) -> Result<()> {
        let leaves = || self.sets.of_leaf.iter().zip(self.starts.windows(2));
        let mut used: BTreeMap<(u32, u32), u32> = BTreeMap::new();
        for (&which, range) in leaves() {
            let mut last = None;
            for &code in &strings.indices[range[0] * stride..range[1] * stride] {
                if last != Some(code) {
                    used.insert((which, code), 0);
                    last = Some(code);
                }
            }
        }
        let mut known: BTreeMap<&str, u32> = BTreeMap::new();
        for (&(which, code), index) in &mut used {
            let texts = &self.sets.descriptors[which as usize].texts;
            // Numbers that no text has are as the empty text.
            let text = code.checked_sub(1).and_then(|number| texts.get(&number));
            let text = text.map_or("", String::as_str);
            if !known.contains_key(text) {
                budget.spend(text.len(), 1, self.sets.offset)?;
                known.insert(text, known.len() as u32);
                strings.table.push(text.to_owned());
            }
            *index = known[text];
        }
        for (&which, range) in leaves() {
            for code in &mut strings.indices[range[0] * stride..range[1] * stride] {
                *code = used[&(which, *code)];
            }
        }
        Ok(())
    }

    /// Which points belong to each group.
    fn groups(&self, budget: &mut Budget) -> Result<BTreeMap<String, Vec<bool>>> {
        let descriptors = &self.sets.descriptors;
        // By name the position and the bit for each descriptor.
        let mut sources: BTreeMap<&str, (Source, Vec<u8>)> = BTreeMap::new();
        for (which, descriptor) in descriptors.iter().enumerate() {
            let is_group = |position: &usize| descriptor.arrays[*position].codec == GROUP_CODEC;
            let arrays: Vec<usize> = (0..descriptor.arrays.len()).filter(is_group).collect();
            for (name, offset) in &descriptor.groups {
                let array = usize::try_from(offset / 8).ok().and_then(|at| arrays.get(at));
                let position = *array.ok_or_else(|| {
                    let found = format!("the group `{name}` is bit {offset}");
                    let wanted = format!("there are {} arrays of 8 groups", arrays.len());
                    malformed(self.sets.offset, found, wanted)
                })?;
                if !sources.contains_key(name.as_str()) {
                    self.spend_source(budget)?;
                }
                let none = || (vec![None; descriptors.len()], vec![0; descriptors.len()]);
                let (source, bits) = sources.entry(name).or_insert_with(none);
                source[which] = Some(position);
                bits[which] = (offset % 8) as u8;
            }
        }
        let mut groups = BTreeMap::new();
        for (name, (source, bits)) in sources {
            self.spend(budget, self.points(), 1)?;
            let mut members = Vec::new();
            let decode = |which: u32, bytes: &[u8], members: &mut [bool]| {
                let bit = bits[which as usize];
                for (member, byte) in members.iter_mut().zip(bytes) {
                    *member = byte >> bit & 1 != 0;
                }
            };
            Sweep { columns: self, source: &source, stride: 1 }.run(&mut members, 1, decode)?;
            groups.insert(name.to_owned(), members);
        }
        Ok(groups)
    }

    /// Takes what a source needs from the budget.
    fn spend_source(&self, budget: &mut Budget) -> Result<()> {
        budget.spend(self.sets.descriptors.len(), size_of::<Option<usize>>(), self.sets.offset)
    }

    /// Takes what a column needs from the budget: its values, and work space for each leaf.
    fn spend(&self, budget: &mut Budget, count: usize, size: usize) -> Result<()> {
        budget.spend(self.starts.len(), size_of::<&[u8]>(), self.sets.offset)?;
        budget.spend(count, size, self.sets.offset)
    }

    /// How many points there are.
    fn points(&self) -> usize {
        self.starts.last().copied().unwrap_or(0)
    }
}

/// How long a float is in the file [bytes].
fn float_size(stored: Stored) -> usize {
    match stored {
        Stored::Whole | Stored::Direction => 4,
        Stored::Half | Stored::Centred16 | Stored::Unit16 => 2,
        Stored::Centred8 | Stored::Unit8 => 1,
    }
}

fn get_floats(bytes: &[u8], values: &mut [f32], stored: Stored) {
    match stored {
        // Only vectors are directions.
        Stored::Whole | Stored::Direction => Element::get(bytes, values),
        Stored::Half => get_codes(bytes, values, truncated::decode),
        Stored::Centred8 => get_codes(bytes, values, centred::decode8),
        Stored::Centred16 => get_codes(bytes, values, centred::decode16),
        Stored::Unit8 => get_codes(bytes, values, unit::decode8),
        Stored::Unit16 => get_codes(bytes, values, unit::decode16),
    }
}

fn get_codes<T, C: Element>(bytes: &[u8], values: &mut [T], decode: impl Fn(C) -> T) {
    let mut codes = vec![C::default(); values.len()];
    C::get(bytes, &mut codes);
    values.iter_mut().zip(codes).for_each(|(value, code)| *value = decode(code));
}

/// One column being filled.
#[derive(Clone, Copy)]
struct Sweep<'a> {
    columns: &'a Columns<'a>,
    source: &'a Source,
    stride: usize,
}

impl Sweep<'_> {
    /// Fills a column whose values the file has whole.
    fn whole<T: Element>(self, column: &mut Vec<T>) -> Result<()> {
        self.run(column, T::SIZE, |_, bytes, values| T::get(bytes, values))
    }

    /// Fills a column whose values are `size` bytes each in the file; `decode` also has the leaf's descriptor.
    fn run<T: Element>(
        self,
        column: &mut Vec<T>,
        size: usize,
        decode: impl Fn(u32, &[u8], &mut [T]) + Sync,
    ) -> Result<()> {
        let places: Vec<usize> = self.columns.starts.iter().map(|at| at * self.stride).collect();
        *column = vec![T::default(); places.last().copied().unwrap_or(0)];
        self.check_lengths(&places, size)?;

        // The position is the same in all descriptors but of unusual files.
        let mut positions: Vec<usize> = self.source.iter().copied().flatten().collect();
        positions.sort_unstable();
        positions.dedup();
        for position in positions {
            let pieces = &self.columns.pieces[position].pieces;
            let mut parts = split_at_all(column, &places);
            let (mut rest, mut from) = (parts.as_mut_slice(), 0);
            let mut jobs = Vec::with_capacity(pieces.len());
            for piece in pieces {
                let Range { start, end } = piece.leaves;
                let (part, after) = rest.split_at_mut(start - from).1.split_at_mut(end - start);
                jobs.push((piece, part));
                (rest, from) = (after, end);
            }
            let fill = |scratch: &mut _, (piece, parts): (_, &mut [_])| {
                self.fill_piece(position, piece, parts, size, &decode, scratch)
            };
            jobs.into_par_iter().map_init(Default::default, fill).reduce(|| Ok(()), Result::and)?;
        }
        Ok(())
    }

    /// Refuses arrays of other lengths than their points need.
    fn check_lengths(self, places: &[usize], size: usize) -> Result<()> {
        let sets = self.columns.sets;
        for (leaf, &which) in sets.of_leaf.iter().enumerate() {
            let head =
                self.source[which as usize].and_then(|position| sets.heads[position].get(leaf));
            let Some(head) = head else { continue };
            let values = if head.uniform { 1 } else { places[leaf + 1] - places[leaf] };
            // Only of an array that is compressed by itself is the length another.
            if (head.paged || head.uniform) && head.length != (size * values) as u64 {
                return Err(head.wrong_length(size * values));
            }
        }
        Ok(())
    }

    /// Fills the parts of the column that belong to the leaves of a piece.
    fn fill_piece<T: Element>(
        self,
        position: usize,
        piece: &Piece<'_>,
        parts: &mut [&mut [T]],
        size: usize,
        decode: &impl Fn(u32, &[u8], &mut [T]),
        (decoder, scratch): &mut (Decoder, Vec<u8>),
    ) -> Result<()> {
        let Columns { sets, pieces, .. } = self.columns;
        let which = |leaf: usize| sets.of_leaf[leaf];
        let is_source = |leaf: usize| self.source[which(leaf) as usize] == Some(position);
        if !piece.leaves.clone().any(is_source) {
            return Ok(());
        }
        let mut bytes = piece.expand(decoder, scratch)?;
        for (leaf, part) in piece.leaves.clone().zip(parts) {
            let Some(head) = sets.heads[position].get(leaf) else { continue };
            let length = if pieces[position].paged { head.length as usize } else { bytes.len() };
            let (array, after) = bytes.split_at(length);
            bytes = after;
            if !is_source(leaf) {
                continue;
            }
            // An array by itself may have been filled up before it was compressed.
            let wanted = size * if head.uniform { 1 } else { part.len() };
            let array = array.get(..wanted).ok_or_else(|| head.wrong_length(wanted))?;
            if head.uniform {
                let mut one = [T::default()];
                decode(which(leaf), array, &mut one);
                part.fill(one[0]);
            } else {
                decode(which(leaf), array, part);
            }
        }
        Ok(())
    }
}
