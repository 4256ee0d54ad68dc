//! What can be wrong with an input, and with which node of it.

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
        /// Why.
        fault: Box<Fault>,
    },
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
