//! What can be wrong with an input, and with which node of it.

use crate::catalogue::suggestion;
use std::io::ErrorKind;
use std::path::Path;
use undine_core::CoreError;
use undine_geometry::GeometryError;
use undine_io::IoError;
use undine_schema::QuantityError;
use undine_sim::SimError;

/// Why an input has no data.
#[derive(Debug, thiserror::Error)]
pub enum GraphError {
    /// No input of that name.
    #[error("{path}{}there is no input `{name}`; there are: {known}", if path.is_empty() { "" } else { ": " })]
    UnknownInput {
        /// The node that names it; empty if nobody did.
        path: String,
        /// The name.
        name: String,
        /// The inputs there are.
        known: String,
    },
    /// Two inputs of one name.
    #[error("there are two inputs `{name}`; give one of them another name")]
    Duplicate {
        /// The name.
        name: String,
    },
    /// An input that needs itself.
    #[error("{path}: input `{}` needs itself: {}", names[0], names.join(" → "))]
    Cycle {
        /// The node that closes the circle.
        path: String,
        /// The way around.
        names: Vec<String>,
    },
    /// Inputs that need each other one after the other, too many.
    #[error("{path}: more than {most} inputs need each other one after the other")]
    TooDeep {
        /// The node that is one too many.
        path: String,
        /// How many there may be.
        most: usize,
    },
    /// A source behind a filter, which could not reach it.
    #[error(
        "{path}: a source stands behind a filter; put sources first, or make another input and `merge` it"
    )]
    SourceAfterFilter {
        /// The source.
        path: String,
    },
    /// Nodes within a node that has no use for them.
    #[error("{path}: no nodes stand within this one; put them before or behind it, or use `merge`")]
    NothingWithin {
        /// The node.
        path: String,
    },
    /// A node that is none of the data graph.
    #[error("{path}: `{name}` is no node of an input")]
    NoSuchNode {
        /// The node.
        path: String,
        /// What it is declared as.
        name: String,
    },
    /// A node could not do its work.
    #[error("{path}: {fault}")]
    Node {
        /// The node.
        path: String,
        /// What it is declared as.
        name: &'static str,
        /// Why.
        fault: Box<Fault>,
    },
}

impl GraphError {
    /// The same for whoever shows it in the scene: the node or parameter it is about, what is wrong, and what would be right.
    pub fn into_sim(self) -> SimError {
        match self {
            Self::UnknownInput { path, name, known } => {
                let help = suggestion(&name, known.split(", "), "there are");
                SimError::setup(path, format!("there is no input `{name}`"), help)
            }
            Self::Duplicate { name } => SimError::setup(
                format!("input/{name}"),
                format!("there are two inputs `{name}`"),
                "give one of them another name",
            ),
            Self::Cycle { path, names } => SimError::setup(
                path,
                format!("the input `{}` is made from itself", names[0]),
                names.join(" is made from "),
            ),
            Self::TooDeep { path, most } => SimError::setup(
                path,
                format!("more than {most} inputs need each other one after the other"),
                "put several filters into one input",
            ),
            Self::SourceAfterFilter { path } => SimError::setup(
                path,
                "a source stands behind a filter",
                "put sources first, or make another input and `merge` it",
            ),
            Self::NothingWithin { path } => SimError::setup(
                path,
                "no nodes stand within this one",
                "put them before or behind it, or use `merge`",
            ),
            Self::NoSuchNode { path, name } => SimError::setup(
                path,
                format!("`{name}` is no node of an input"),
                "`undine help` lists sources and filters",
            ),
            Self::Node { path, name, fault } => fault.into_sim(path, name),
        }
    }
}

/// Why a node could not do its work.
#[derive(Debug, thiserror::Error)]
pub enum Fault {
    /// A file.
    #[error(transparent)]
    Io(#[from] IoError),
    /// A shape, mesh or level set.
    #[error(transparent)]
    Geometry(#[from] GeometryError),
    /// A store.
    #[error(transparent)]
    Core(#[from] CoreError),
    /// Data.
    #[error(transparent)]
    Data(#[from] SimError),
    /// A value with a unit.
    #[error("`{parameter}`: {why}")]
    Quantity {
        /// The parameter.
        parameter: String,
        /// What is wrong.
        why: QuantityError,
    },
    /// A value that is not of the kind that a channel holds.
    #[error("`{parameter}` of channel `{channel}`: {why}")]
    Channel {
        /// The parameter.
        parameter: String,
        /// The channel.
        channel: String,
        /// What is wrong.
        why: QuantityError,
    },
    /// A parameter.
    #[error("`{parameter}` is {found}; {wanted}")]
    Parameter {
        /// The parameter.
        parameter: String,
        /// What it is.
        found: String,
        /// What would be right.
        wanted: String,
    },
    /// Data of another kind than the node works on.
    #[error("it is given {found}, but works on {wanted}")]
    WrongData {
        /// What it is given.
        found: &'static str,
        /// What it works on.
        wanted: &'static str,
    },
    /// Another input.
    #[error(transparent)]
    Other(Box<GraphError>),
}

impl Fault {
    /// As an error at the node of this path and name, or at the parameter that is to blame.
    fn into_sim(self, path: String, name: &str) -> SimError {
        let file = format!("{path}.{FILE}");
        let explained = format!("`undine help {name}` explains its parameters");
        match self {
            // It is the run that has too little memory, not the scene that is wrong.
            Self::Core(why @ CoreError::OverBudget { .. })
            | Self::Data(SimError::Core(why @ CoreError::OverBudget { .. }))
            | Self::Geometry(GeometryError::Core(why @ CoreError::OverBudget { .. })) => {
                SimError::no_room(path, why)
            }
            Self::Data(why @ (SimError::BadSetup { .. } | SimError::NoRoom { .. })) => {
                why.told_of(|_| path)
            }
            Self::Geometry(why @ GeometryError::VoxelsTooSmall { .. }) => {
                SimError::NoRoom { path, what: why.to_string(), help: explained }
            }
            Self::Io(IoError::Read { file: missing, source })
                if source.kind() == ErrorKind::NotFound =>
            {
                let (what, help) = not_there(&missing);
                SimError::setup(file, what, help)
            }
            Self::Io(IoError::MissingFrame { file: missing, nearest, .. }) => {
                SimError::setup(file, format!("there is no file `{}`", missing.display()), nearest)
            }
            Self::Io(why) => SimError::setup(file, why.to_string(), explained),
            Self::Quantity { parameter, why } => {
                SimError::setup(format!("{path}.{parameter}"), why.to_string(), explained)
            }
            Self::Channel { parameter, channel, why } => SimError::setup(
                format!("{path}.{parameter}"),
                format!("channel `{channel}`: {why}"),
                "a channel of another name may hold anything",
            ),
            Self::Parameter { parameter, found, wanted } => SimError::setup(
                format!("{path}.{parameter}"),
                format!("`{parameter}` is {found}"),
                wanted,
            ),
            Self::WrongData { found, wanted } => SimError::setup(
                path,
                format!("`{name}` is given {found}"),
                format!("it works on {wanted}"),
            ),
            Self::Other(why) => why.into_sim(),
            other => SimError::setup(path, other.to_string(), explained),
        }
    }

    /// A parameter that cannot be so.
    pub(super) fn parameter(
        parameter: &str,
        found: impl ToString,
        wanted: impl Into<String>,
    ) -> Self {
        Self::Parameter {
            parameter: parameter.into(),
            found: found.to_string(),
            wanted: wanted.into(),
        }
    }
}

/// The parameter that names a file, of every node that reads one.
const FILE: &str = "file";

/// That a file is not there, and what is there instead.
fn not_there(file: &Path) -> (String, String) {
    /// A folder may hold a show's worth of files; a name that is spelt alike is among the first, or not looked for.
    const LOOKED_AT: usize = 10_000;
    let folder = match file.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    let what = format!("there is no file `{}`", file.display());
    let Ok(entries) = std::fs::read_dir(folder) else {
        return (what, format!("there is no folder `{}` either", folder.display()));
    };
    let names = entries.take(LOOKED_AT).flatten().map(|entry| entry.file_name());
    let mut names: Vec<String> = names
        .filter_map(|name| name.into_string().ok())
        .filter(|name| {
            let end = Path::new(name).extension().and_then(|end| end.to_str());
            end.is_some_and(|end| FORMATS.iter().any(|known| end.eq_ignore_ascii_case(known)))
        })
        .collect();
    names.sort_unstable();
    let wanted = file.file_name().map(|name| name.to_string_lossy()).unwrap_or_default();
    let help = match names.is_empty() {
        true => format!("no PLY or OBJ file is in `{}`", folder.display()),
        false => suggestion(&wanted, names.iter().map(String::as_str), "there are"),
    };
    (what, help)
}

/// How the names of files end that can be read.
const FORMATS: [&str; 2] = ["ply", "obj"];
