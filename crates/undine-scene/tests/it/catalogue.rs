//! A catalogue of the size of a small film: enough Behaviors to make every mistake with.

use undine_scene::Catalogue;
use undine_schema::{Declaration, Dimension, Kind, Parameter, Type};

const INPUT: Parameter = Parameter::new("input", Type::Input, "the input to take elements from");
const DENSITY: Parameter =
    Parameter::number("density", Dimension::DENSITY, 1000.0, "mass per volume")
        .positive()
        .varies_by("density");
const STIFFNESS: Parameter = Parameter::number(
    "stiffness",
    Dimension::SURFACE_TENSION,
    100.0,
    "force per length of stretch",
)
.not_negative();

const fn node(
    name: &'static str,
    kind: Kind,
    doc: &'static str,
    parameters: &'static [Parameter],
) -> Declaration {
    Declaration { name, kind, doc, about: "", parameters, example: "" }
}

static DECLARATIONS: &[Declaration] = &[
    node(
        "particles",
        Kind::Object,
        "Loose particles",
        &[
            INPUT,
            Parameter::number("radius", Dimension::LENGTH, 0.01, "half the width of a particle")
                .positive()
                .usually(1e-5, 1.0)
                .varies_by("pscale"),
            DENSITY,
            Parameter::vector("velocity", Dimension::VELOCITY, [0.0; 3], "at the start")
                .varies_by("v"),
        ],
    ),
    node(
        "curves",
        Kind::Object,
        "Hair",
        &[
            INPUT,
            Parameter::number("radius", Dimension::LENGTH, 40e-6, "half the width of a strand")
                .positive()
                .usually(1e-5, 1e-3)
                .varies_by("pscale"),
            DENSITY,
            Parameter::number("youngs", Dimension::PRESSURE, 4e9, "stiffness of the material")
                .positive(),
        ],
    ),
    node(
        "volume",
        Kind::Object,
        "Air or water on a grid",
        &[
            Parameter::number("voxel", Dimension::LENGTH, 0.05, "the width of a voxel")
                .required()
                .positive(),
            Parameter::new("around", Type::Target, "what the volume follows").optional(),
            Parameter::integer("padding", 3, "voxels around it").between(0.0, 100.0),
        ],
    ),
    node(
        "collider",
        Kind::Object,
        "A solid that is not simulated",
        &[
            INPUT,
            Parameter::number("friction", Dimension::NONE, 0.3, "Coulomb's coefficient")
                .between(0.0, 10.0),
        ],
    ),
    node(
        "gravity",
        Kind::Force,
        "Pulls everything down",
        &[Parameter::vector(
            "acceleration",
            Dimension::ACCELERATION,
            [0.0, -9.81, 0.0],
            "the pull",
        )],
    ),
    node(
        "drag",
        Kind::Force,
        "Slows what moves through air",
        &[
            Parameter::number("viscosity", Dimension::DYNAMIC_VISCOSITY, 1.8e-5, "of the air")
                .not_negative(),
            Parameter::choice(
                "law",
                &[
                    ("reynolds", "by Reynolds number"),
                    ("linear", "Stokes' law"),
                    ("quadratic", "Newton's law"),
                ],
                "how drag grows with speed",
            ),
        ],
    ),
    node(
        "springs",
        Kind::Constraint,
        "Holds neighbours at their distance",
        &[
            STIFFNESS,
            Parameter::number("damping", Dimension::TIME, 0.0, "Rayleigh damping").not_negative(),
            Parameter::integer("neighbours", 6, "springs per particle").between(1.0, 64.0),
        ],
    ),
    node(
        "attachment",
        Kind::Constraint,
        "Ties to something else",
        &[
            Parameter::new("to", Type::Target, "what to tie to"),
            Parameter::number("flexibility", Dimension::NONE, 0.0, "0 is rigid, 1 is free")
                .between(0.0, 1.0),
            STIFFNESS,
        ],
    ),
    node(
        "pressure",
        Kind::Operator,
        "Keeps a volume incompressible",
        &[
            Parameter::flag("free-surface", true, "whether there is air around"),
            Parameter::integer("iterations", 100, "most iterations of the solve")
                .between(1.0, 1e6)
                .advanced(),
        ],
    ),
    node(
        "inflow",
        Kind::Operator,
        "Lets air in",
        &[Parameter::vector("velocity", Dimension::VELOCITY, [1.0, 0.0, 0.0], "of what comes in")
            .required()
            .usually(0.0, 300.0)],
    ),
    node(
        "load",
        Kind::Source,
        "Reads a file",
        &[
            Parameter::new("file", Type::File, "the file, or a pattern of files"),
            Parameter::number("unit", Dimension::LENGTH, 1.0, "the length of one unit of the file")
                .positive(),
        ],
    ),
    node(
        "box",
        Kind::Source,
        "A box",
        &[Parameter::vector("size", Dimension::LENGTH, [1.0; 3], "its widths")],
    ),
    node(
        "sphere",
        Kind::Source,
        "A sphere",
        &[Parameter::number("radius", Dimension::LENGTH, 1.0, "half its width").positive()],
    ),
    node(
        "scatter",
        Kind::Filter,
        "Puts points into a shape",
        &[Parameter::integer("count", 1000, "how many").between(1.0, 1e8)],
    ),
    node(
        "transform",
        Kind::Filter,
        "Moves, turns and scales",
        &[
            Parameter::vector("translate", Dimension::LENGTH, [0.0; 3], "moves by this"),
            Parameter::vector(
                "rotate",
                Dimension::ANGLE,
                [0.0; 3],
                "turns by this about x, then y, then z",
            ),
        ],
    ),
    node(
        "merge",
        Kind::Filter,
        "Puts several into one",
        &[Parameter::new("with", Type::Input, "another input").optional()],
    ),
];

/// All of it.
pub fn catalogue() -> Catalogue {
    Catalogue::new(DECLARATIONS)
}

#[test]
fn the_declarations_of_the_tests_have_no_faults() {
    for declaration in DECLARATIONS {
        assert_eq!(undine_schema::declaration::faults(declaration), [""; 0]);
    }
}
