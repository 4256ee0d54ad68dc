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

fn shuffle_four(from: &[u8], to: &mut [u8]) {
    let count = from.len() / 4;
    let (low, high) = to.split_at_mut(2 * count);
    let ((a, b), (c, d)) = (low.split_at_mut(count), high.split_at_mut(count));
    let (blocks, rest) = from.as_chunks::<{ 4 * LANES }>();
    let ((a, a_rest), (b, b_rest)) = (a.as_chunks_mut::<LANES>(), b.as_chunks_mut::<LANES>());
    let ((c, c_rest), (d, d_rest)) = (c.as_chunks_mut::<LANES>(), d.as_chunks_mut::<LANES>());
    for ((((block, a), b), c), d) in blocks.iter().zip(a).zip(b).zip(c).zip(d) {
        let mut words = [0; LANES];
        for (word, bytes) in words.iter_mut().zip(block.as_chunks::<4>().0) {
            *word = u32::from_le_bytes(*bytes);
        }
        // One loop for each place: then every one is a shift and a narrowing of whole vectors.
        a.iter_mut().zip(words).for_each(|(byte, word)| *byte = word as u8);
        b.iter_mut().zip(words).for_each(|(byte, word)| *byte = (word >> 8) as u8);
        c.iter_mut().zip(words).for_each(|(byte, word)| *byte = (word >> 16) as u8);
        d.iter_mut().zip(words).for_each(|(byte, word)| *byte = (word >> 24) as u8);
    }
    let rest = rest.as_chunks::<4>().0.iter();
    for ((((word, a), b), c), d) in rest.zip(a_rest).zip(b_rest).zip(c_rest).zip(d_rest) {
        [*a, *b, *c, *d] = *word;
    }
}

fn unshuffle_four(from: &[u8], to: &mut [u8]) {
    let count = from.len() / 4;
    let (low, high) = from.split_at(2 * count);
    let ((a, b), (c, d)) = (low.split_at(count), high.split_at(count));
    for ((((word, a), b), c), d) in to.as_chunks_mut::<4>().0.iter_mut().zip(a).zip(b).zip(c).zip(d)
    {
        let low = u32::from(*a) | u32::from(*b) << 8;
        let high = u32::from(*c) << 16 | u32::from(*d) << 24;
        *word = (low | high).to_le_bytes();
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
