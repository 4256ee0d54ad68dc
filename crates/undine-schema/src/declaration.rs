//! How a Behavior, or another node of a scene, is declared, once: what it is called, what it is, what it takes.

use crate::parameter::{Fallback, Parameter, Type};

/// What a node of a scene is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Kind {
    /// A Behavior that creates Objects.
    Object,
    /// A Behavior that creates a Force.
    Force,
    /// A Behavior that creates a Constraint.
    Constraint,
    /// A Behavior that creates an Operator.
    Operator,
    /// A node of the data graph that makes data from nothing, or from a file.
    Source,
    /// A node of the data graph that changes data.
    Filter,
    /// A node that says how the whole run goes: `setup`, `output`.
    Settings,
}

impl Kind {
    /// What messages call it.
    pub const fn noun(self) -> &'static str {
        match self {
            Self::Object => "Object",
            Self::Force => "Force",
            Self::Constraint => "Constraint",
            Self::Operator => "Operator",
            Self::Source => "source",
            Self::Filter => "filter",
            Self::Settings => "settings",
        }
    }

    /// Whether it stands in the tree of Groups and Behaviors.
    pub const fn is_behavior(self) -> bool {
        matches!(self, Self::Object | Self::Force | Self::Constraint | Self::Operator)
    }
}

/// The declaration of a node.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Declaration {
    /// The word in a scene.
    pub name: &'static str,
    /// What it is.
    pub kind: Kind,
    /// What it does, in one line, without a full stop.
    pub doc: &'static str,
    /// More of it: the model, its source, what it is not good for. May be empty.
    pub about: &'static str,
    /// What it takes, the most important first.
    pub parameters: &'static [Parameter],
    /// A line or two of a scene that use it.
    pub example: &'static str,
}

impl Declaration {
    /// The parameter of this name.
    pub fn parameter(&self, name: &str) -> Option<&'static Parameter> {
        self.parameters.iter().find(|parameter| parameter.name == name)
    }
}

/// What is wrong with a declaration, in words; empty if nothing is. A test holds every declaration against it.
pub fn faults(declaration: &Declaration) -> Vec<String> {
    let mut faults = Vec::new();
    let mut fault = |what: String| faults.push(format!("`{}`: {what}", declaration.name));
    let kebab = |name: &str| {
        !name.is_empty()
            && name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-')
    };
    let one_line = |doc: &str| !doc.is_empty() && !doc.ends_with('.') && !doc.contains('\n');
    if !kebab(declaration.name) {
        fault("a name is lower-case letters, digits and hyphens".to_owned());
    }
    if !one_line(declaration.doc) {
        fault("a doc line is one line without a full stop".to_owned());
    }
    for (n, parameter) in declaration.parameters.iter().enumerate() {
        let name = parameter.name;
        if !kebab(name) || !one_line(parameter.doc) {
            fault(format!("parameter `{name}` has a bad name or doc line"));
        }
        if declaration.parameters[..n].iter().any(|other| other.name == name) {
            fault(format!("parameter `{name}` is declared twice"));
        }
        if !agrees(parameter) {
            fault(format!("the default of `{name}` is not what it takes, or out of its range"));
        }
        if parameter.usual.is_some_and(|(least, most)| {
            least > most || !parameter.range.contains(least) || !parameter.range.contains(most)
        }) {
            fault(format!("what is usual for `{name}` is out of its range"));
        }
    }
    faults
}

/// Nodes that a scene could not tell apart, in words: two Behaviors of one name, two nodes of the data graph, or two settings.
pub fn clashes(declarations: &[&Declaration]) -> Vec<String> {
    let place = |kind: Kind| match kind {
        Kind::Source | Kind::Filter => "the data graph",
        Kind::Settings => "the settings",
        _ => "the tree of Groups and Behaviors",
    };
    let mut clashes = Vec::new();
    for (n, one) in declarations.iter().enumerate() {
        let same =
            |other: &&Declaration| other.name == one.name && place(other.kind) == place(one.kind);
        if declarations[..n].iter().any(same) {
            clashes.push(format!("`{}` is declared twice in {}", one.name, place(one.kind)));
        }
    }
    clashes
}

/// Whether a parameter's default is of its type, and in its range.
fn agrees(parameter: &Parameter) -> bool {
    let within = |number: f64| number.is_finite() && parameter.range.contains(number);
    match (parameter.takes, parameter.fallback) {
        (_, Fallback::Required | Fallback::Absent) => true,
        (Type::Number(_), Fallback::Number(number)) => within(number),
        (Type::Vector(_), Fallback::Vector(vector)) => vector.into_iter().all(within),
        (Type::Integer, Fallback::Integer(whole)) => within(whole as f64),
        (Type::Flag, Fallback::Flag(_)) => true,
        (Type::Choice(choices), Fallback::Text(text)) => {
            choices.iter().any(|(word, _)| *word == text)
        }
        (Type::Text | Type::File | Type::Input | Type::Target, Fallback::Text(_)) => true,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dimension::Dimension;

    const GOOD: Declaration = Declaration {
        name: "gravity",
        kind: Kind::Force,
        doc: "Pulls everything down",
        about: "",
        parameters: &[
            Parameter::vector(
                "acceleration",
                Dimension::ACCELERATION,
                [0.0, -9.81, 0.0],
                "the pull",
            ),
            Parameter::number("scale", Dimension::NONE, 1.0, "how strong")
                .not_negative()
                .usually(0.0, 10.0),
        ],
        example: "gravity",
    };

    #[test]
    fn a_good_declaration_has_no_faults() {
        assert_eq!(faults(&GOOD), [""; 0]);
        assert_eq!(
            GOOD.parameter("scale").map(|scale| scale.dimension()),
            Some(Some(Dimension::NONE))
        );
        assert!(GOOD.parameter("size").is_none());
    }

    #[test]
    fn names_clash_only_where_a_scene_could_mean_both() {
        let filter = Declaration { kind: Kind::Filter, ..GOOD };
        let source = Declaration { kind: Kind::Source, ..GOOD };
        let operator = Declaration { kind: Kind::Operator, ..GOOD };
        assert_eq!(clashes(&[&GOOD, &filter]), [""; 0]);
        assert_eq!(
            clashes(&[&GOOD, &operator]),
            ["`gravity` is declared twice in the tree of Groups and Behaviors"]
        );
        assert_eq!(clashes(&[&source, &GOOD, &filter]).len(), 1);
    }

    #[test]
    fn each_fault_is_found() {
        const SCALE: Parameter =
            Parameter::number("scale", Dimension::NONE, -1.0, "how strong").positive();
        const ODD: Parameter = SCALE.required().usually(-1.0, 2.0);
        for (bad, word) in [
            (Declaration { name: "Gravity!", ..GOOD }, "letters"),
            (Declaration { doc: "Pulls.", ..GOOD }, "full stop"),
            (Declaration { parameters: &[SCALE], ..GOOD }, "default"),
            (Declaration { parameters: &[SCALE, SCALE], ..GOOD }, "twice"),
            (Declaration { parameters: &[ODD], ..GOOD }, "usual"),
        ] {
            assert!(
                faults(&bad).iter().any(|fault| fault.contains(word)),
                "{word}: {:?}",
                faults(&bad)
            );
        }
    }
}
