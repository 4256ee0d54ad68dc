//! Every grid of whatever bytes, whole and in a box.

#![no_main]

use libfuzzer_sys::fuzz_target;
use std::io::Cursor;
use undine_vdb::{Bounds, File};

fuzz_target!(|bytes: &[u8]| {
    let Ok(mut file) = File::new(Cursor::new(bytes)) else { return };
    for index in 0..file.grids().len() {
        let _ = file.grid(index);
        let _ = file.bounds(index);
        let _ = file.grid_within(index, Bounds { min: [-9; 3], max: [9; 3] });
    }
});
