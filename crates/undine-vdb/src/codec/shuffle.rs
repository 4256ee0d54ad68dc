//! Byte-shuffle: the first bytes of all elements, then the second bytes of all, and so on. Neighbouring numbers share their
//! high bytes, which then lie side by side and compress.
//!
//! What is left over behind the last whole element stays as it is.

/// How many elements of four bytes are turned at once.
const LANES: usize = 16;

/// Sorts the bytes of elements of `element` bytes by their place in the element; `from` and `to` are equally long.
pub fn shuffle(element: usize, from: &[u8], to: &mut [u8]) {
    let count = from.len() / element.max(1);
    let (from, tail) = from.split_at(count * element);
    let (to, tail_to) = to.split_at_mut(count * element);
    tail_to.copy_from_slice(tail);
    if element == 4 {
        shuffle_four(from, to);
    } else if count > 0 {
        for (place, plane) in to.chunks_exact_mut(count).enumerate() {
            let bytes = from.iter().skip(place).step_by(element);
            plane.iter_mut().zip(bytes).for_each(|(to, &byte)| *to = byte);
        }
    }
}

/// Puts back what [`shuffle`] has sorted.
pub fn unshuffle(element: usize, from: &[u8], to: &mut [u8]) {
    let count = from.len() / element.max(1);
    let (from, tail) = from.split_at(count * element);
    let (to, tail_to) = to.split_at_mut(count * element);
    tail_to.copy_from_slice(tail);
    if element == 4 {
        unshuffle_four(from, to);
    } else if count > 0 {
        for (place, plane) in from.chunks_exact(count).enumerate() {
            let bytes = to.iter_mut().skip(place).step_by(element);
            bytes.zip(plane).for_each(|(to, &byte)| *to = byte);
        }
    }
}

/// The four planes of equal length that bytes consist of.
fn planes(bytes: &[u8]) -> [&[u8]; 4] {
    let (low, high) = bytes.split_at(bytes.len() / 2);
    let ((a, b), (c, d)) = (low.split_at(low.len() / 2), high.split_at(high.len() / 2));
    [a, b, c, d]
}

fn shuffle_four(from: &[u8], to: &mut [u8]) {
    let count = from.len() / 4;
    let (low, high) = to.split_at_mut(2 * count);
    let ((a, b), (c, d)) = (low.split_at_mut(count), high.split_at_mut(count));
    let mut planes = [a, b, c, d];
    let (blocks, rest) = from.as_chunks::<{ 4 * LANES }>();
    for (index, block) in blocks.iter().enumerate() {
        let words: [u32; LANES] = std::array::from_fn(|lane| {
            u32::from_le_bytes([0, 1, 2, 3].map(|byte| block[4 * lane + byte]))
        });
        for (place, plane) in planes.iter_mut().enumerate() {
            let bytes = words.map(|word| (word >> (8 * place)) as u8);
            plane[index * LANES..][..LANES].copy_from_slice(&bytes);
        }
    }
    let done = blocks.len() * LANES;
    for (index, word) in rest.as_chunks::<4>().0.iter().enumerate() {
        (0..4).for_each(|place| planes[place][done + index] = word[place]);
    }
}

fn unshuffle_four(from: &[u8], to: &mut [u8]) {
    let planes = planes(from);
    let (blocks, rest) = to.as_chunks_mut::<{ 4 * LANES }>();
    let done = blocks.len() * LANES;
    for (index, block) in blocks.iter_mut().enumerate() {
        let [a, b, c, d] = planes.map(|plane| {
            let bytes: &[u8; LANES] = plane[index * LANES..].first_chunk().unwrap_or(&[0; LANES]);
            *bytes
        });
        // Pairs first and then pairs of pairs: each half of this is one instruction of most machines.
        let low: [u16; LANES] = std::array::from_fn(|n| u16::from_le_bytes([a[n], b[n]]));
        let high: [u16; LANES] = std::array::from_fn(|n| u16::from_le_bytes([c[n], d[n]]));
        let words: [u32; LANES] =
            std::array::from_fn(|n| u32::from(low[n]) | u32::from(high[n]) << 16);
        for (word, bytes) in words.iter().zip(block.as_chunks_mut::<4>().0) {
            *bytes = word.to_le_bytes();
        }
    }
    for (index, word) in rest.as_chunks_mut::<4>().0.iter_mut().enumerate() {
        *word = planes.map(|plane| plane[done + index]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shuffled_bytes_lie_by_place_and_return() {
        for element in 1..10 {
            for length in [0, 1, 3, 4, 63, 64, 65, 130, 517, 2048] {
                let bytes: Vec<u8> = (0..length).map(|n| (n * 7 + n / 256) as u8).collect();
                let (mut sorted, mut back) = (vec![0; length], vec![0; length]);
                shuffle(element, &bytes, &mut sorted);
                let count = length / element;
                for (index, &byte) in bytes.iter().enumerate() {
                    let whole = index < count * element;
                    let place = index % element * count + index / element;
                    assert_eq!(sorted[if whole { place } else { index }], byte);
                }
                unshuffle(element, &sorted, &mut back);
                assert_eq!(back, bytes, "{length} bytes in elements of {element}");
            }
        }
    }
}
