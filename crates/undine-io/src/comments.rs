//! What files of meshes say of themselves: in comments, or in the bytes before the triangles of STL.

use crate::format::Format;
use crate::metadata::FileMetadata;

/// Comments behind so many bytes are not ours.
const FARTHEST: usize = 1 << 16;

/// What a file of these bytes says of itself.
pub(crate) fn metadata(bytes: &[u8], format: Format) -> FileMetadata {
    let head = &bytes[..bytes.len().min(FARTHEST)];
    let mut found = FileMetadata::unknown();
    let mark: &[u8] = match format {
        Format::Ply => b"comment ",
        Format::Obj => b"#",
        Format::Stl => return FileMetadata::of_header(&head[..head.len().min(80)]),
        Format::Glb | Format::Vdb | Format::Usda | Format::Usdc | Format::Usd => return found,
    };
    for line in head.split(|&byte| byte == b'\n') {
        let line = line.trim_ascii();
        if let Some(comment) = line.strip_prefix(mark) {
            found.take_line(&String::from_utf8_lossy(comment));
        }
        if line == b"end_header" || (format == Format::Obj && line.starts_with(b"v ")) {
            break;
        }
    }
    found
}
