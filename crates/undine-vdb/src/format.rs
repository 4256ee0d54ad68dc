//! What a file is known by, and the names of what it says of a grid: the same for reading and writing.

/// The first eight bytes of every file.
pub(crate) const MAGIC: i64 = 0x5644_4220;
/// Between a grid's name and a number, in the unique name of a grid whose name is empty or not its own.
pub(crate) const SEPARATOR: char = '\u{1e}';

/// The metadata of a grid that the file itself gives a meaning.
pub(crate) mod names {
    /// Its name.
    pub(crate) const NAME: &str = "name";
    /// What its values mean.
    pub(crate) const CLASS: &str = "class";
    /// Whether its values are kept as half floats.
    pub(crate) const HALF: &str = "is_saved_as_half_float";
    /// The least active voxel.
    pub(crate) const LEAST: &str = "file_bbox_min";
    /// The greatest active voxel.
    pub(crate) const GREATEST: &str = "file_bbox_max";
    /// How many voxels are active.
    pub(crate) const VOXELS: &str = "file_voxel_count";
    /// How much memory OpenVDB would take for it.
    pub(crate) const MEMORY: &str = "file_mem_bytes";
    /// How its values are compressed.
    pub(crate) const COMPRESSION: &str = "file_compression";
    /// What helps OpenVDB to read it later.
    pub(crate) const DELAYED: &str = "file_delayed_load";
    /// All of them but the last, which is no one's but OpenVDB's.
    pub(crate) const OWN: [&str; 8] =
        [NAME, CLASS, HALF, LEAST, GREATEST, VOXELS, MEMORY, COMPRESSION];
}
