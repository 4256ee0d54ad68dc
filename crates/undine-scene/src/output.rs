//! What is written, and where: the node `output`, declared like everything else.

use undine_io::{Format, UpAxis};
use undine_schema::setup;
use undine_schema::{Declaration, Fallback, Kind, Parameter, Type, Value};
use undine_vdb::Codec;

/// The node `output`.
pub const OUTPUT: Declaration = Declaration {
    name: "output",
    kind: Kind::Settings,
    doc: "Says what is written, and where",
    about: "May stand several times, to write parts of a scene in different ways; all go to one folder, which one of them names. \
        Without any, everything is written to `cache` beside the scene.",
    parameters: &[
        Parameter {
            fallback: Fallback::Text("cache"),
            ..Parameter::new("dir", Type::File, "the folder to write to, relative to the scene")
        },
        Parameter::new(
            "of",
            Type::Target,
            "the Object or Group to write; everything, if not given",
        )
        .optional(),
        Parameter::new(
            "channels",
            Type::Text,
            "the channels to write, such as \"P v id\"; all, if not given",
        )
        .optional(),
        Parameter::choice(
            "format",
            &[
                ("usd", "USD, with a stage over all frames that opens as it is"),
                ("ply", "binary PLY, positions in double precision"),
                ("vdb", "OpenVDB points"),
            ],
            "the format of points; volumes are always OpenVDB",
        ),
        Parameter::new(
            "rename",
            Type::Text,
            "other names for channels in the files, such as \"v=velocity pscale=radius\"",
        )
        .optional(),
        Parameter::choice(
            "up",
            &[("scene", "as in the scene"), ("y", "the y axis"), ("z", "the z axis")],
            "which way is up in the files",
        ),
        Parameter::flag("shapes", true, "writes colliders and rigid bodies as meshes that move"),
        Parameter::integer("every", 1, "writes every so many frames").between(1.0, 1e6),
        Parameter::integer(
            "per-frame",
            1,
            "how often a frame is written, evenly spaced in time, for motion between frames",
        )
        .between(1.0, 1000.0)
        .advanced(),
        Parameter::flag("half", false, "keeps the numbers of volumes as half floats").advanced(),
        Parameter::choice(
            "codec",
            &[
                ("blosc", "Blosc with LZ4: fast and small"),
                ("zip", "zlib: smaller, slow"),
                ("none", "none: large, fastest"),
            ],
            "how OpenVDB files are compressed",
        )
        .advanced(),
        Parameter::choice(
            "levels",
            &[
                (
                    "each",
                    "a grid for each level, those beyond the finest as `density_1`, `density_2`",
                ),
                ("finest", "one grid, coarser voxels resampled to the finest"),
            ],
            "how a volume of several levels of voxels is written",
        )
        .advanced(),
    ],
    example: "output dir=\"cache\"",
};

/// What an `output` says.
#[derive(Debug, Clone, PartialEq)]
pub struct Output {
    /// The folder, relative to the scene's.
    pub dir: String,
    /// The path of the Object or Group to write; everything, if `None`.
    pub of: Option<String>,
    /// The channels to write; all, if empty.
    pub channels: Vec<String>,
    /// The format of points.
    pub format: Format,
    /// What files call channels, where that is not their own name.
    pub renamed: Vec<(String, String)>,
    /// Which way is up in the files; as in the scene, if `None`.
    pub up: Option<UpAxis>,
    /// Whether colliders and rigid bodies are written as meshes.
    pub shapes: bool,
    /// Writes every so many frames.
    pub every: usize,
    /// How often each frame is written.
    pub per_frame: usize,
    /// Whether the numbers of volumes are kept as half floats.
    pub half: bool,
    /// How OpenVDB files are compressed.
    pub codec: Codec,
    /// Whether a volume of several levels becomes one grid, of the finest.
    pub to_finest: bool,
}

impl Output {
    /// From what an `output` sets; or what is wrong with its `rename`.
    pub(crate) fn new(set: &setup::Settings) -> Result<Self, String> {
        let value = |name: &str| set.get(name).map(|setting| setting.at(0.0));
        let text = |name: &str| match value(name) {
            Some(Value::Text(text)) => Some(text),
            _ => None,
        };
        let count = |name: &str| match value(name) {
            Some(Value::Integer(whole)) => usize::try_from(whole).unwrap_or(1),
            _ => 1,
        };
        Ok(Self {
            dir: text("dir").unwrap_or_else(|| "cache".to_owned()),
            of: text("of"),
            channels: text("channels")
                .map(|names| names.split_whitespace().map(str::to_owned).collect())
                .unwrap_or_default(),
            format: match text("format").as_deref() {
                Some("ply") => Format::Ply,
                Some("vdb") => Format::Vdb,
                _ => Format::Usdc,
            },
            renamed: renamed(&text("rename").unwrap_or_default())?,
            up: match text("up").as_deref() {
                Some("y") => Some(UpAxis::Y),
                Some("z") => Some(UpAxis::Z),
                _ => None,
            },
            shapes: value("shapes") != Some(Value::Flag(false)),
            every: count("every"),
            per_frame: count("per-frame"),
            half: value("half") == Some(Value::Flag(true)),
            codec: match text("codec").as_deref() {
                Some("zip") => Codec::Zip,
                Some("none") => Codec::None,
                _ => Codec::Blosc,
            },
            to_finest: text("levels").as_deref() == Some("finest"),
        })
    }

    /// What holds where a scene says nothing: everything, to `cache`.
    pub(crate) fn plain() -> Self {
        Self::new(&setup::Settings::new()).expect("defaults are an output")
    }
}

impl Default for Output {
    fn default() -> Self {
        Self::plain()
    }
}

/// The pairs of `v=velocity pscale=radius`, or what is wrong with it.
fn renamed(text: &str) -> Result<Vec<(String, String)>, String> {
    let mut pairs: Vec<(String, String)> = Vec::new();
    for pair in text.split_whitespace() {
        let word = |word: &str| {
            let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
            let is_name = !word.starts_with(|c: char| c.is_ascii_digit() || c == '-');
            (!word.is_empty() && word.len() <= 100 && is_name && word.chars().all(is_plain))
                .then(|| word.to_owned())
        };
        let names = pair.split_once('=').and_then(|(own, new)| word(own).zip(word(new)));
        let Some((own, new)) = names else {
            return Err(format!("`{pair}` is not a channel, = and its new name"));
        };
        if pairs.iter().any(|(other, taken)| *other == own || *taken == new) {
            return Err(format!("`{pair}` names a channel or a new name twice"));
        }
        pairs.push((own, new));
    }
    Ok(pairs)
}

#[cfg(test)]
mod tests {
    use super::*;
    use undine_schema::declaration::faults;

    #[test]
    fn the_declaration_has_no_faults() {
        assert_eq!(faults(&OUTPUT), [""; 0]);
    }

    #[test]
    fn new_names_are_pairs() {
        let pair = |own: &str, new: &str| (own.to_owned(), new.to_owned());
        assert_eq!(
            renamed("v=velocity  pscale=r").unwrap(),
            [pair("v", "velocity"), pair("pscale", "r")]
        );
        assert_eq!(renamed("").unwrap(), []);
        for wrong in ["v", "v=", "=v", "v=a b", "v=a v=b", "v=a w=a", "v=a/b", "v=1a"] {
            assert!(renamed(wrong).is_err(), "{wrong}");
        }
    }
}
