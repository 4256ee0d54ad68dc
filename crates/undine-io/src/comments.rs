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
        Format::Stl => return of_stl(head),
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

/// What the first line of a text or the first 80 bytes of a binary file say.
fn of_stl(head: &[u8]) -> FileMetadata {
    let is_text =
        head.trim_ascii_start().get(..5).is_some_and(|w| w.eq_ignore_ascii_case(b"solid"));
    let line = head.trim_ascii_start().split(|&byte| byte == b'\n').next().unwrap_or_default();
    FileMetadata::of_header(if is_text { line } else { &head[..head.len().min(80)] })
}
