//! Packages that may not enter the tree, not even through others, each with the reason and what to take instead.

/// Name and reason.
pub const REFUSED: &[(&str, &str)] = &[
    (
        "bincode",
        "it is no longer maintained; write bytes with `bytemuck` in a format that is written down",
    ),
    ("cgmath", "it is no longer maintained, and a second set of vector types; `glam` is ours"),
    ("failure", "it is deprecated and unsound; use `thiserror`"),
    (
        "hdf5",
        "it is no longer maintained and fails with current HDF5 libraries; our formats are VDB, USD and PLY",
    ),
    ("libyml", "it is unsound and archived; scene files are KDL, records are JSON"),
    ("memmap", "it is no longer maintained; use `memmap2`"),
    (
        "ply-rs",
        "it is no longer maintained and slow; PLY is a small format, read and written by our own code",
    ),
    ("serde_cbor", "it is no longer maintained; records are JSON"),
    ("serde_yaml", "it is deprecated and archived; scene files are KDL, records are JSON"),
    ("serde_yml", "it is unsound and archived; scene files are KDL, records are JSON"),
];
