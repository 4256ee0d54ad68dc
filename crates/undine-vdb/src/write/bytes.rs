//! How words and numbers lie in a file: little-endian, and words behind their length.

/// Appends a string: its length in bytes and the bytes. Lengths have been checked where names and metadata come in.
pub(super) fn put_string(string: &str, bytes: &mut Vec<u8>) {
    put_u32(string.len() as u32, bytes);
    bytes.extend_from_slice(string.as_bytes());
}

/// Appends a number.
pub(super) fn put_u32(number: u32, bytes: &mut Vec<u8>) {
    bytes.extend_from_slice(&number.to_le_bytes());
}

/// Appends a number.
pub(super) fn put_i64(number: i64, bytes: &mut Vec<u8>) {
    bytes.extend_from_slice(&number.to_le_bytes());
}

/// Appends a coordinate.
pub(super) fn put_coordinate(coordinate: [i32; 3], bytes: &mut Vec<u8>) {
    coordinate.iter().for_each(|number| bytes.extend_from_slice(&number.to_le_bytes()));
}

/// Appends a mask.
pub(super) fn put_mask(words: &[u64], bytes: &mut Vec<u8>) {
    if cfg!(target_endian = "little") {
        bytes.extend_from_slice(bytemuck::cast_slice(words));
    } else {
        words.iter().for_each(|word| bytes.extend_from_slice(&word.to_le_bytes()));
    }
}
