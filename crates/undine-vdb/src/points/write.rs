//! Writes points: what follows a tree's topology, in passes over all leaves (`points/PointDataGrid.h` of OpenVDB).
//!
//! First come the lengths of the voxel buffers, then what the attributes are and how long each leaf's arrays are, then the
//! lengths of pages, then the voxel buffers, and at last the arrays. Arrays are joined to pages of up to 1 MiB that are
//! compressed each by itself; without Blosc they follow one another as they are.

use super::attribute::{Attribute, Column, with_values};
use super::descriptor::{ArrayType, Descriptor, GROUP_CODEC, TEXT_CODEC};
use super::element::Element;
use super::stored::{Stored, centred, direction, truncated, unit};
use super::{GROUP, PointTree};
use crate::codec::{Codec, Encoder};
use crate::error::{Result, VdbError};
use crate::tree::VOXELS;
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::ops::Range;

/// Arrays are joined to pages as long as a page has not more than this [bytes].
pub(super) const PAGE: usize = 1 << 20;
/// The longest array that a page can be.
const LONGEST: usize = i32::MAX as usize;
/// The length of a voxel buffer that is not compressed.
pub(super) const RAW: u16 = u16::MAX;
/// The descriptor that follows is that of all leaves.
pub(super) const SHARED: u8 = 1;
/// Flags of an array: programs pass over it; it has as many values for each point.
pub(super) const HIDDEN: u8 = 2;
pub(super) const CONSTANT_STRIDE: u8 = 8;
/// Flags of how an array lies in the file.
pub(super) const STRIDED: u8 = 1;
pub(super) const UNIFORM: u8 = 2;
pub(super) const PAGED: u8 = 8;
/// What the length of an array counts besides its data [bytes].
pub(super) const ARRAY_HEAD: u64 = 6;

/// The bytes behind the topology, in parts to be written one after another.
pub(crate) fn encode_points(points: &PointTree, codec: Codec) -> Result<Vec<Vec<u8>>> {
    points.check()?;
    let starts = points.starts();
    if starts.len() == 1 {
        // Of no leaves there is nothing to write in any pass.
        return Ok(vec![0u16.to_le_bytes().to_vec()]);
    }
    let (descriptor, arrays) = arrays_of(points);
    let passes = u16::try_from(2 * arrays.len() + 4).map_err(|_| VdbError::Points {
        found: format!("{} attributes", arrays.len()),
        wanted: "a file has at most 32765, eight groups taking one".into(),
    })?;
    let is_paged = codec == Codec::Blosc;
    let plans: Vec<Plan> = arrays.iter().map(|array| Plan::new(array, &starts)).collect();
    if let Some(length) = plans.iter().flat_map(|plan| &plan.lengths).find(|n| **n > LONGEST) {
        return Err(VdbError::Points {
            found: format!("an attribute of {length} bytes in one leaf"),
            wanted: format!("at most {LONGEST}, with smaller voxels"),
        });
    }
    let (sizes, buffers) = voxel_buffers(points);
    let pages = pages_of(&arrays, &plans, &starts, is_paged);

    let mut head = passes.to_le_bytes().to_vec();
    head.extend(sizes.iter().flat_map(|size| size.to_le_bytes()));
    head.push(SHARED);
    descriptor.put(&mut head)?;
    for (leaf, range) in starts.windows(2).enumerate() {
        for (array, plan) in arrays.iter().zip(&plans) {
            put_array_head(array, plan, leaf, range[1] - range[0], is_paged, &mut head);
        }
    }
    for page in &pages {
        head.extend(&page.size);
    }
    Ok([head, buffers].into_iter().chain(pages.into_iter().map(|page| page.payload)).collect())
}

/// What is written as one array a leaf.
struct Array<'a> {
    values: Values<'a>,
    stride: usize,
    hidden: bool,
}

enum Values<'a> {
    Attribute(&'a Attribute),
    /// Numbers of texts.
    Texts(Vec<u32>),
    /// The bits of eight groups.
    Groups(Vec<u8>),
}

/// What all leaves have, in the order of the file.
fn arrays_of(points: &PointTree) -> (Descriptor, Vec<Array<'_>>) {
    let mut descriptor = Descriptor { metadata: points.metadata.clone(), ..Descriptor::default() };
    let mut arrays = Vec::new();
    let mut numbers: BTreeMap<&str, u32> = BTreeMap::from([("", 0)]);
    for attribute in &points.attributes {
        let (codec, values) = match &attribute.values {
            Column::String(strings) => {
                let mut number = |text| {
                    let next = numbers.len() as u32;
                    *numbers.entry(text).or_insert(next)
                };
                let table: Vec<u32> = strings.table.iter().map(|text| number(text)).collect();
                let codes = strings.indices.par_iter().map(|&index| table[index as usize]);
                (TEXT_CODEC, Values::Texts(codes.collect()))
            }
            _ => (attribute.stored.word(), Values::Attribute(attribute)),
        };
        descriptor.arrays.push(ArrayType {
            name: attribute.name.clone(),
            value: attribute.values.word().to_owned(),
            codec: codec.to_owned(),
        });
        let Attribute { stride, hidden, .. } = *attribute;
        arrays.push(Array { values, stride: stride as usize, hidden });
    }
    descriptor.texts = numbers
        .iter()
        .filter_map(|(&text, &number)| Some((number.checked_sub(1)?, text.to_owned())))
        .collect();

    let groups: Vec<(&String, &Vec<bool>)> = points.groups.iter().collect();
    for (at, eight) in groups.chunks(8).enumerate() {
        let bits = |point: usize| {
            let bit = |(bit, (_, members)): (usize, &(&String, &Vec<bool>))| {
                u8::from(members[point]) << bit
            };
            eight.iter().enumerate().map(bit).sum()
        };
        let bytes = (0..points.len()).into_par_iter().map(bits).collect();
        arrays.push(Array { values: Values::Groups(bytes), stride: 1, hidden: false });
        // The names that OpenVDB gives them: `__group`, `__group0`, `__group1`, …
        let number = at.checked_sub(1).map(|number| number.to_string()).unwrap_or_default();
        descriptor.arrays.push(ArrayType {
            name: format!("{GROUP}{number}"),
            value: "uint8".to_owned(),
            codec: GROUP_CODEC.to_owned(),
        });
    }
    let offsets = groups.iter().zip(0..).map(|((name, _), offset)| ((*name).clone(), offset));
    descriptor.groups = offsets.collect();
    (descriptor, arrays)
}

impl Array<'_> {
    /// How long a value is in the file [bytes].
    fn size(&self) -> usize {
        fn whole<T: Element>(_: &[T]) -> usize {
            T::SIZE
        }
        match &self.values {
            Values::Texts(_) => 4,
            Values::Groups(_) => 1,
            Values::Attribute(attribute) => {
                let components = if matches!(attribute.values, Column::Vec3s(_)) { 3 } else { 1 };
                match attribute.stored {
                    Stored::Whole => with_values!(&attribute.values, values => whole(values)),
                    Stored::Half | Stored::Centred16 | Stored::Unit16 => 2 * components,
                    Stored::Centred8 | Stored::Unit8 => components,
                    Stored::Direction => 2,
                }
            }
        }
    }

    /// Whether all values of a range are the same.
    fn is_uniform(&self, range: Range<usize>) -> bool {
        match &self.values {
            Values::Texts(codes) => Element::all_same(&codes[range]),
            Values::Groups(bytes) => Element::all_same(&bytes[range]),
            Values::Attribute(attribute) => {
                with_values!(&attribute.values, values => Element::all_same(&values[range]))
            }
        }
    }

    /// Appends the values of a range.
    fn put(&self, range: Range<usize>, bytes: &mut Vec<u8>) {
        match &self.values {
            Values::Texts(codes) => Element::put(&codes[range], bytes),
            Values::Groups(groups) => Element::put(&groups[range], bytes),
            Values::Attribute(Attribute { values, stored, .. }) => match (values, stored) {
                (Column::Float(values), _) => put_floats(&values[range], *stored, bytes),
                (Column::Vec3s(values), Stored::Direction) => {
                    put_codes(&values[range], direction::encode, bytes);
                }
                (Column::Vec3s(values), _) => {
                    put_floats(values[range].as_flattened(), *stored, bytes);
                }
                (values, _) => {
                    with_values!(values, values => Element::put(&values[range], bytes));
                }
            },
        }
    }
}

fn put_floats(values: &[f32], stored: Stored, bytes: &mut Vec<u8>) {
    match stored {
        // Only vectors are directions.
        Stored::Whole | Stored::Direction => Element::put(values, bytes),
        Stored::Half => put_codes(values, truncated::encode, bytes),
        Stored::Centred8 => put_codes(values, centred::encode8, bytes),
        Stored::Centred16 => put_codes(values, centred::encode16, bytes),
        Stored::Unit8 => put_codes(values, unit::encode8, bytes),
        Stored::Unit16 => put_codes(values, unit::encode16, bytes),
    }
}

fn put_codes<T: Copy, C: Element>(values: &[T], encode: impl Fn(T) -> C, bytes: &mut Vec<u8>) {
    let codes: Vec<C> = values.iter().map(|&value| encode(value)).collect();
    C::put(&codes, bytes);
}

/// How the arrays of one attribute lie in the file.
struct Plan {
    /// Of each leaf, whether one value stands for all.
    uniform: Vec<bool>,
    /// How long the array of each leaf is [bytes].
    lengths: Vec<usize>,
}

impl Plan {
    fn new(array: &Array<'_>, starts: &[usize]) -> Self {
        let (size, stride) = (array.size(), array.stride);
        let plan = |range: &[usize]| {
            // OpenVDB takes an array of no bytes for one of the next page; one value is always some.
            let values = range[0] * stride..range[1] * stride;
            let count = values.len();
            let uniform = array.is_uniform(values);
            (uniform, size * if uniform { 1 } else { count })
        };
        let (uniform, lengths) = starts.par_windows(2).map(plan).unzip();
        Self { uniform, lengths }
    }
}

fn put_array_head(
    array: &Array<'_>,
    plan: &Plan,
    leaf: usize,
    points: usize,
    is_paged: bool,
    bytes: &mut Vec<u8>,
) {
    let is_strided = array.stride != 1;
    let flags = CONSTANT_STRIDE | if array.hidden { HIDDEN } else { 0 };
    let layout = if is_strided { STRIDED } else { 0 }
        | if plan.uniform[leaf] { UNIFORM } else { 0 }
        | if is_paged { PAGED } else { 0 };
    bytes.extend((ARRAY_HEAD + plan.lengths[leaf] as u64).to_le_bytes());
    bytes.extend([flags, layout]);
    bytes.extend((points as u32).to_le_bytes());
    if is_strided {
        bytes.extend((array.stride as u32).to_le_bytes());
    }
}

/// Arrays of consecutive leaves.
struct Page {
    /// What the pass of lengths says of it.
    size: Vec<u8>,
    payload: Vec<u8>,
}

/// The pages of all attributes, one attribute after another.
fn pages_of(arrays: &[Array<'_>], plans: &[Plan], starts: &[usize], is_paged: bool) -> Vec<Page> {
    let mut jobs: Vec<(usize, Range<usize>)> = Vec::new();
    for (array, plan) in plans.iter().enumerate() {
        let (mut first, mut length) = (0, 0);
        for (leaf, &more) in plan.lengths.iter().enumerate() {
            if length + more > PAGE && leaf > first {
                jobs.push((array, first..leaf));
                (first, length) = (leaf, 0);
            }
            length += more;
        }
        jobs.push((array, first..plan.lengths.len()));
    }
    let page = |encoder: &mut Encoder, (array, leaves): (usize, Range<usize>)| {
        let (array, plan) = (&arrays[array], &plans[array]);
        let mut bytes = Vec::with_capacity(plan.lengths[leaves.clone()].iter().sum::<usize>());
        for leaf in leaves {
            let values = starts[leaf] * array.stride..starts[leaf + 1] * array.stride;
            match (plan.uniform[leaf], is_paged) {
                (true, _) if values.is_empty() => bytes.resize(bytes.len() + array.size(), 0),
                (true, _) => array.put(values.start..values.start + 1, &mut bytes),
                (false, true) => array.put(values, &mut bytes),
                (false, false) => {
                    // It is not compressed.
                    bytes.push(0);
                    array.put(values, &mut bytes);
                }
            }
        }
        if is_paged { compressed(bytes, encoder) } else { Page { size: vec![], payload: bytes } }
    };
    jobs.into_par_iter().map_init(Encoder::default, page).collect()
}

/// A page, compressed if that makes it smaller.
fn compressed(bytes: Vec<u8>, encoder: &mut Encoder) -> Page {
    let mut payload = Vec::new();
    if encoder.blosc_frame(&bytes, &mut payload) {
        let sizes = [payload.len() as i32, bytes.len() as i32];
        return Page { size: sizes.iter().flat_map(|size| size.to_le_bytes()).collect(), payload };
    }
    Page { size: (-(bytes.len() as i32)).to_le_bytes().to_vec(), payload: bytes }
}

/// The voxel buffers of all leaves, and how long each is where it is compressed.
fn voxel_buffers(points: &PointTree) -> (Vec<u16>, Vec<u8>) {
    let leaves = &points.voxels.leaves;
    let buffer = |encoder: &mut (Encoder, Vec<u8>), (at, ends): (usize, &[u32])| {
        let (encoder, plain) = encoder;
        plain.clear();
        Element::put(ends, plain);
        let mut bytes = Vec::new();
        bytes.extend(leaves.masks[at].0.iter().flat_map(|word| word.to_le_bytes()));
        let start = bytes.len() + size_of::<u16>();
        bytes.resize(start, 0);
        let size = if encoder.blosc_frame(plain, &mut bytes) {
            (bytes.len() - start) as u16
        } else {
            bytes.extend_from_slice(plain);
            RAW
        };
        bytes[start - 2..start].copy_from_slice(&size.to_le_bytes());
        (size, bytes)
    };
    let buffers: Vec<(u16, Vec<u8>)> = leaves
        .values
        .par_chunks_exact(VOXELS)
        .enumerate()
        .with_min_len(16)
        .map_init(Default::default, buffer)
        .collect();
    let sizes = buffers.iter().map(|(size, _)| *size).collect();
    (sizes, buffers.into_iter().map(|(_, bytes)| bytes).collect::<Vec<_>>().concat())
}
