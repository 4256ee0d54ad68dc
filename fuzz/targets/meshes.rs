//! Points and meshes of whatever bytes: the first byte says the format.

#![no_main]

use libfuzzer_sys::fuzz_target;
use std::path::Path;
use undine_io::{obj, ply, stl};

fuzz_target!(|bytes: &[u8]| {
    let Some((format, bytes)) = bytes.split_first() else { return };
    let file = Path::new("fuzz");
    let _ = match format % 3 {
        0 => ply::parse(bytes, file).is_ok(),
        1 => obj::parse(bytes, file).is_ok(),
        _ => stl::parse(bytes, file).is_ok(),
    };
});
