//! The formats of files, by the endings of their names.

use crate::error::{IoError, Result};
use std::fmt::{self, Display};
use std::path::Path;

/// A format of files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Format {
    /// Stanford's polygons and points.
    Ply,
    /// Wavefront's polygons, lines and points, as text.
    Obj,
    /// Triangles alone.
    Stl,
    /// glTF 2.0 in one binary file.
    Glb,
    /// OpenVDB's volumes and points.
    Vdb,
    /// Universal Scene Description as text.
    Usda,
    /// Universal Scene Description as binary.
    Usdc,
    /// Universal Scene Description as either: read as what it is, written as binary.
    Usd,
}

impl Format {
    /// Every format.
    pub const ALL: [Self; 8] =
        [Self::Ply, Self::Obj, Self::Stl, Self::Glb, Self::Vdb, Self::Usda, Self::Usdc, Self::Usd];

    /// The format that a file's name ends with.
    pub fn of(path: &Path) -> Result<Self> {
        let end = path.extension().map(|end| end.to_string_lossy().to_ascii_lowercase());
        let found = Self::ALL.into_iter().find(|format| Some(format.ending()) == end.as_deref());
        found.ok_or_else(|| IoError::UnknownFormat { file: path.into() })
    }

    /// What its files' names end with, without the dot.
    pub fn ending(self) -> &'static str {
        match self {
            Self::Ply => "ply",
            Self::Obj => "obj",
            Self::Stl => "stl",
            Self::Glb => "glb",
            Self::Vdb => "vdb",
            Self::Usda => "usda",
            Self::Usdc => "usdc",
            Self::Usd => "usd",
        }
    }
}

impl Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Ply => "PLY",
            Self::Obj => "OBJ",
            Self::Stl => "STL",
            Self::Glb => "glTF",
            Self::Vdb => "OpenVDB",
            Self::Usda | Self::Usdc | Self::Usd => "USD",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn endings_are_found_in_any_case_and_others_refused() {
        assert_eq!(Format::of(Path::new("a/b.PLY")).unwrap(), Format::Ply);
        assert_eq!(Format::of(Path::new("a.0001.vdb")).unwrap(), Format::Vdb);
        for name in ["a", "a.abc", "ply", ".ply"] {
            let refused = Format::of(Path::new(name)).unwrap_err().to_string();
            assert!(refused.contains("unknown format") && refused.contains(".glb"), "{refused}");
        }
    }
}
