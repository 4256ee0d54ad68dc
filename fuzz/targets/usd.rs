//! Layers of whatever bytes, text or binary; what is read is written in both ways.

#![no_main]

use libfuzzer_sys::fuzz_target;
use std::path::Path;
use undine_io::usd::{binary, parse, text};

fuzz_target!(|bytes: &[u8]| {
    let Ok(layer) = parse(bytes, Path::new("fuzz.usd")) else { return };
    let _ = text::write(&layer);
    let _ = binary::encode(&layer);
});
