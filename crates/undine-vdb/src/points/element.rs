//! What a column of an attribute is made of, and how its elements lie in a file: packed, little-endian.

/// A type of element, or of what a codec keeps of one.
pub(crate) trait Element: Copy + Default + Send + Sync + 'static {
    /// How long it is in a file [bytes].
    const SIZE: usize;

    /// Appends elements as the file holds them.
    fn put(elements: &[Self], bytes: &mut Vec<u8>);

    /// Fills elements from as many bytes as they take.
    fn get(bytes: &[u8], elements: &mut [Self]);

    /// Whether all are one and the same to the bit, so that one NaN equals another but 0 does not equal −0.
    fn all_same(elements: &[Self]) -> bool;
}

/// Elements of numbers without gaps are their bytes; a machine that is not little-endian turns those of each number.
macro_rules! numbers {
    ($($type:ty => $number:ty),+ $(,)?) => {$(
        impl Element for $type {
            const SIZE: usize = size_of::<$type>();

            fn put(elements: &[Self], bytes: &mut Vec<u8>) {
                let start = bytes.len();
                bytes.extend_from_slice(bytemuck::cast_slice(elements));
                turn::<{ size_of::<$number>() }>(&mut bytes[start..]);
            }

            fn get(bytes: &[u8], elements: &mut [Self]) {
                let target: &mut [u8] = bytemuck::cast_slice_mut(elements);
                target.copy_from_slice(bytes);
                turn::<{ size_of::<$number>() }>(target);
            }

            fn all_same(elements: &[Self]) -> bool {
                let Some(first) = elements.first() else { return true };
                let first: &[u8] = bytemuck::bytes_of(first);
                // The last differs from the first in most columns that are not uniform.
                elements.iter().rev().all(|element| bytemuck::bytes_of(element) == first)
            }
        }
    )+};
}
numbers!(
    f32 => f32,
    f64 => f64,
    i8 => i8,
    i16 => i16,
    i32 => i32,
    i64 => i64,
    u8 => u8,
    u16 => u16,
    u32 => u32,
    [f32; 3] => f32,
    [f64; 3] => f64,
    [i32; 3] => i32,
    [u8; 3] => u8,
    [u16; 3] => u16,
    [f32; 4] => f32,
    [f64; 4] => f64,
    [f32; 9] => f32,
    [f64; 9] => f64,
    [f32; 16] => f32,
    [f64; 16] => f64,
);

impl Element for bool {
    const SIZE: usize = 1;

    fn put(elements: &[Self], bytes: &mut Vec<u8>) {
        bytes.extend(elements.iter().map(|&element| u8::from(element)));
    }

    fn get(bytes: &[u8], elements: &mut [Self]) {
        elements.iter_mut().zip(bytes).for_each(|(element, &byte)| *element = byte != 0);
    }

    fn all_same(elements: &[Self]) -> bool {
        elements.windows(2).all(|two| two[0] == two[1])
    }
}

/// Turns the bytes of each number on a machine that is not little-endian.
fn turn<const SIZE: usize>(bytes: &mut [u8]) {
    if cfg!(target_endian = "big") {
        bytes.as_chunks_mut::<SIZE>().0.iter_mut().for_each(|number| number.reverse());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn returns<T: Element + PartialEq + std::fmt::Debug>(elements: &[T]) {
        let mut bytes = vec![7];
        T::put(elements, &mut bytes);
        assert_eq!(bytes.len(), 1 + elements.len() * T::SIZE);
        let mut back = vec![T::default(); elements.len()];
        T::get(&bytes[1..], &mut back);
        assert_eq!(back, elements);
    }

    #[test]
    fn elements_return_from_bytes() {
        returns(&[1.5f32, -2.0]);
        returns(&[i16::MIN, 3]);
        returns(&[true, false]);
        returns(&[[1.0f64, 2.0, 3.0]; 2]);
        returns(&[[0.5f32; 16]; 2]);
        let mut bytes = Vec::new();
        <[u16; 3]>::put(&[[0x0102, 0x0304, 0x0506]], &mut bytes);
        assert_eq!(bytes, [2, 1, 4, 3, 6, 5]);
    }

    #[test]
    fn sameness_is_by_bits() {
        assert!(f32::all_same(&[f32::NAN; 3]));
        assert!(!f32::all_same(&[0.0, -0.0]));
        assert!(!f32::all_same(&[1.0, 1.0, 2.0, 1.0]));
        assert!(bool::all_same(&[true, true]) && !bool::all_same(&[true, false]));
        assert!(u8::all_same(&[]));
    }
}
