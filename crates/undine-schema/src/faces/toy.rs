//! Declarations that the tests of all faces share: a toy with every type of parameter, and odd ones.

use crate::declaration::{Declaration, Kind};
use crate::dimension::Dimension;
use crate::parameter::{Parameter, Type};

/// A ball with a parameter of every type.
pub const BALL: Declaration = Declaration {
    name: "ball",
    kind: Kind::Object,
    doc: "A ball that bounces",
    about: "Follows Hertz, *On the contact of elastic solids* (1882),\nfor slow impacts.\n\nNot for:\n- fast impacts\n- balls that break",
    parameters: &[
        Parameter::new("input", Type::Input, "where it is at the start"),
        Parameter::number("radius", Dimension::LENGTH, 0.02, "its radius")
            .positive()
            .usually(1e-3, 1.0)
            .varies_by("pscale"),
        Parameter::vector("velocity", Dimension::VELOCITY, [4.0, 0.0, 0.0], "how it moves"),
        Parameter::number("viscosity", Dimension::DYNAMIC_VISCOSITY, 0.001, "of what is in it")
            .not_negative(),
        Parameter::choice(
            "skin",
            &[("rubber", "gives way"), ("steel", "does not | ever")],
            "what it is made of",
        ),
        Parameter::integer("seams", 2, "how many seams").between(0.0, 12.0).advanced(),
        Parameter::flag("hollow", false, "whether there is nothing inside").advanced(),
        Parameter::new("label", Type::Text, "what is printed on it").optional().advanced(),
        Parameter::new("picture", Type::File, "what is painted on it").optional().advanced(),
        Parameter::new("rests-on", Type::Target, "what it lies on").optional().advanced(),
    ],
    example: "ball \"red\" input=\"balls\" radius=\"4 cm\"",
};

/// Nothing that can be left out is there.
pub const BARE: Declaration = Declaration {
    name: "bare",
    kind: Kind::Force,
    doc: "Does nothing",
    about: "",
    parameters: &[],
    example: "",
};

/// Long words and lines, and letters that mean something to Markdown and JSON.
pub const ODD: Declaration = Declaration {
    name: "a-name-so-long-that-no-column-of-any-help-page-was-ever-made-for-it",
    kind: Kind::Operator,
    doc: "Solves u* = u + <b> | with a \"quote\", a \\ and one_two_three; a line that goes on and on and on, well beyond the width of every terminal",
    about: "https://example.org/a/very/long/address/that/must/stay/whole/so/that/it/can/be/copied/and/opened",
    parameters: &[
        Parameter::number(
            "another-name-so-long-that-it-leaves-no-room-for-the-others",
            Dimension::THERMAL_CONDUCTIVITY,
            1.0 / 3.0,
            "| a * b <c> `d|e` \\ and a doc line that goes on and on and on, well beyond the width of every terminal",
        )
        .between(1e-300, 1e300)
        .usually(1e-3, 1e3)
        .varies_by("k|k"),
        Parameter::number("end", Dimension::of(-7, 2, 5), -1e-17, "x").advanced(),
        Parameter::vector("axis", Dimension::NONE, [0.0, 0.1, -0.0], "y").advanced(),
    ],
    example: "// ```\na-name 1\n",
};

/// All of them, in no order.
pub const ALL: &[&Declaration] = &[&ODD, &BALL, &BARE];
