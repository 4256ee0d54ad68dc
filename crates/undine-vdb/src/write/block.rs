//! Blocks of values: those of a leaf's voxels or of an inner node's slots.
//!
//! A block is a code that says what the inactive values are, what the code leaves open of that, and a chunk of the active
//! values, or of all where the code says so. Inactive values are mostly the background, or ± the background of a level set,
//! and then take nothing or one bit each.

use crate::codec::{Codec, Encoder};
use crate::compression::Compression;
use crate::value::Value;
use crate::write::bytes::put_mask;

/// What the inactive values of a block are.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Inactive<T> {
    /// All the background.
    Background,
    /// All minus the background.
    Minus,
    /// All this.
    One(T),
    /// Minus the background and the background.
    MinusAndBackground,
    /// This and the background.
    OneAndBackground(T),
    /// These two.
    Two(T, T),
    /// More than two: they are stored as active ones are.
    Any,
}

impl<T> Inactive<T> {
    fn code(&self) -> u8 {
        match self {
            Self::Background => 0,
            Self::Minus => 1,
            Self::One(_) => 2,
            Self::MinusAndBackground => 3,
            Self::OneAndBackground(_) => 4,
            Self::Two(..) => 5,
            Self::Any => 6,
        }
    }
}

/// Writes blocks; keeps its work space from one to the next.
#[derive(Debug)]
pub(super) struct Blocks<T> {
    background: T,
    compression: Compression,
    /// Whether values are saved as half floats: such as have any.
    half: bool,
    encoder: Encoder,
    active: Vec<T>,
    payload: Vec<u8>,
    selection: Vec<u64>,
}

impl<T: Value> Blocks<T> {
    pub(super) fn new(background: T, compression: Compression, saved_as_half: bool) -> Self {
        Self {
            background,
            compression,
            half: saved_as_half && T::HALF_SIZE != T::SIZE,
            encoder: Encoder::default(),
            active: Vec::new(),
            payload: Vec::new(),
            selection: Vec::new(),
        }
    }

    /// Appends the block of values, of which some are active and some are not there because a child is in their place.
    pub(super) fn put(
        &mut self,
        values: &[T],
        active: &[u64],
        children: Option<&[u64]>,
        bytes: &mut Vec<u8>,
    ) {
        if !self.compression.active_mask {
            bytes.push(Inactive::<T>::Any.code());
            return self.put_values(values, bytes);
        }
        if active.iter().all(|&word| word == !0) {
            bytes.push(Inactive::<T>::Background.code());
            return self.put_values(values, bytes);
        }
        let inactive = self.inactive(values, active, children);
        bytes.push(inactive.code());
        match inactive {
            Inactive::One(value) | Inactive::OneAndBackground(value) => {
                self.put_whole(value, bytes)
            }
            Inactive::Two(first, second) => {
                self.put_whole(first, bytes);
                self.put_whole(second, bytes);
            }
            _ => {}
        }
        match inactive {
            Inactive::MinusAndBackground | Inactive::OneAndBackground(_) => {
                self.put_selection(values, active, self.background, bytes);
            }
            Inactive::Two(_, second) => self.put_selection(values, active, second, bytes),
            Inactive::Any => return self.put_values(values, bytes),
            _ => {}
        }
        let mut compact = std::mem::take(&mut self.active);
        compact.resize(values.len(), T::default());
        let count = gather(values, active, &mut compact);
        self.put_values(&compact[..count], bytes);
        self.active = compact;
    }

    /// What the inactive values are, as OpenVDB tells it: in the order of the slots, by exact equality.
    fn inactive(&self, values: &[T], active: &[u64], children: Option<&[u64]>) -> Inactive<T> {
        let background = self.background;
        let mut seen: [T; 2] = [background; 2];
        let mut count = 0;
        for (index, (values, &active)) in values.chunks(64).zip(active).enumerate() {
            let mut rest = !active & !children.map_or(0, |words| words[index]);
            while rest != 0 {
                // All that equal the first are passed over at once.
                let value = values[rest.trailing_zeros() as usize];
                let same = equal(values, value);
                // A value that does not even equal itself cannot be selected by its value.
                if same & rest == 0 {
                    return Inactive::Any;
                }
                rest &= !same;
                if seen[..count].contains(&value) {
                    continue;
                }
                if count == 2 {
                    return Inactive::Any;
                }
                seen[count] = value;
                count += 1;
            }
        }
        let minus = background.negative();
        match (count, seen) {
            (0, _) => Inactive::Background,
            (1, [one, _]) if one == background => Inactive::Background,
            (1, [one, _]) if one == minus => Inactive::Minus,
            (1, [one, _]) => Inactive::One(one),
            (_, [a, b]) if a != background && b != background => Inactive::Two(a, b),
            (_, [a, b]) => match if b == background { a } else { b } {
                one if one == minus => Inactive::MinusAndBackground,
                one => Inactive::OneAndBackground(one),
            },
        }
    }

    /// Appends which inactive slots have the value `on`.
    fn put_selection(&mut self, values: &[T], active: &[u64], on: T, bytes: &mut Vec<u8>) {
        self.selection.clear();
        let words = values.chunks(64).zip(active);
        self.selection.extend(words.map(|(values, active)| equal(values, on) & !active));
        put_mask(&self.selection, bytes);
    }

    /// Appends one value at its full length, though rounded where values are saved as half.
    fn put_whole(&self, value: T, bytes: &mut Vec<u8>) {
        T::put(&[if self.half { value.rounded_to_half() } else { value }], bytes);
    }

    /// Appends the chunk of values.
    fn put_values(&mut self, values: &[T], bytes: &mut Vec<u8>) {
        if self.half {
            // OpenVDB writes no chunk at all, not even an empty one.
            if values.is_empty() {
                return;
            }
            self.payload.clear();
            T::put_half(values, &mut self.payload);
        } else if self.compression.codec == Codec::None {
            return T::put(values, bytes);
        } else {
            self.payload.clear();
            T::put(values, &mut self.payload);
        }
        self.encoder.chunk(self.compression.codec, &self.payload, bytes);
    }
}

/// Which of at most 64 values equal one.
fn equal<T: Value>(values: &[T], one: T) -> u64 {
    values.iter().rev().fold(0, |word, &value| word << 1 | u64::from(value == one))
}

/// Puts the active values one behind the other to the start of `to`, which is as long as `values`, and says how many they are.
fn gather<T: Value>(values: &[T], active: &[u64], to: &mut [T]) -> usize {
    let mut count = 0;
    for (values, &word) in values.chunks(64).zip(active) {
        if word == 0 {
            continue;
        }
        let to = &mut to[count..count + values.len()];
        if word == !0 {
            to.copy_from_slice(values);
        } else {
            // Each value is put where the next active one belongs, and stays there if it is one: no branch to guess.
            let mut at = 0;
            for (bit, &value) in values.iter().enumerate() {
                to[at] = value;
                at += (word >> bit & 1) as usize;
            }
        }
        count += word.count_ones() as usize;
    }
    count
}

#[cfg(test)]
mod tests {
    use super::*;

    const RAW: Compression = Compression { codec: Codec::None, active_mask: true };

    /// The block of these values, the first of which are active, without compression.
    fn block(background: f32, values: &[f32; 64], active: u64, half: bool) -> Vec<u8> {
        let mut bytes = Vec::new();
        Blocks::new(background, RAW, half).put(values, &[active], None, &mut bytes);
        bytes
    }

    fn floats(numbers: &[f32]) -> Vec<u8> {
        bytemuck::cast_slice(numbers).to_vec()
    }

    /// Values 1, 2 active; the others as given in turn.
    fn values(inactive: &[f32]) -> [f32; 64] {
        std::array::from_fn(|n| match n {
            0 => 1.0,
            1 => 2.0,
            n => inactive[n % inactive.len()],
        })
    }

    #[test]
    fn the_code_says_what_inactive_values_are() {
        let odd = 0xaaaa_aaaa_aaaa_aaa8u64.to_le_bytes().to_vec();
        let even = 0x5555_5555_5555_5554u64.to_le_bytes().to_vec();
        let cases: [(&[f32], u8, Vec<u8>); 8] = [
            (&[3.0], 0, vec![]),
            (&[-3.0], 1, vec![]),
            (&[5.0], 2, floats(&[5.0])),
            (&[-3.0, 3.0], 3, odd.clone()),
            (&[3.0, -3.0], 3, even.clone()),
            (&[5.0, 3.0], 4, [floats(&[5.0]), odd.clone()].concat()),
            (&[3.0, 5.0], 4, [floats(&[5.0]), even].concat()),
            (&[5.0, 6.0], 5, [floats(&[5.0, 6.0]), odd].concat()),
        ];
        for (inactive, code, extra) in cases {
            let wanted = [vec![code], extra, floats(&[1.0, 2.0])].concat();
            assert_eq!(block(3.0, &values(inactive), 3, false), wanted, "{inactive:?}");
        }
        let many = values(&[5.0, 6.0, 7.0]);
        assert_eq!(block(3.0, &many, 3, false), [vec![6], floats(&many)].concat());
        let unequal = values(&[f32::NAN, 3.0]);
        assert_eq!(block(3.0, &unequal, 3, false), [vec![6], floats(&unequal)].concat());
        assert_eq!(block(3.0, &many, !0, false), [vec![0], floats(&many)].concat());
    }

    #[test]
    fn halves_round_and_an_empty_chunk_of_them_is_not_there() {
        let bytes = block(3.0, &values(&[0.1]), 3, true);
        let rounded = floats(&[0.1f32.rounded_to_half()]);
        assert_eq!(bytes, [vec![2], rounded, vec![0, 0x3c, 0, 0x40]].concat());
        let mut bytes = Vec::new();
        let blosc = Compression { codec: Codec::Blosc, active_mask: true };
        Blocks::new(3.0, blosc, true).put(&[3.0; 64], &[0], None, &mut bytes);
        assert_eq!(bytes, [0]);
        bytes.clear();
        Blocks::new(3.0, blosc, false).put(&[3.0; 64], &[0], None, &mut bytes);
        assert_eq!(bytes, [0; 9]);
        bytes.clear();
        Blocks::new(3, blosc, true).put(&[3; 64], &[0], None, &mut bytes);
        assert_eq!(bytes, [0; 9]);
    }

    #[test]
    fn slots_with_children_do_not_count() {
        let values: [f32; 64] = std::array::from_fn(|n| if n < 10 { n as f32 } else { 3.0 });
        let mut bytes = Vec::new();
        Blocks::new(3.0, RAW, false).put(&values, &[0], Some(&[1023]), &mut bytes);
        assert_eq!(bytes, [0]);
        // Without the active mask all values are there.
        bytes.clear();
        let all = Compression { active_mask: false, ..RAW };
        Blocks::new(3.0, all, false).put(&values, &[0], Some(&[1023]), &mut bytes);
        assert_eq!(bytes, [vec![6], floats(&values)].concat());
    }
}
