//! How a scene says that there is air.

use undine_core::glam::DVec3;
use undine_fluid::carry::{Scheme, Traces};
use undine_schema::{Declaration, Dimension, Kind, Parameter, Type};
use undine_sim::{Ingest, Result};

/// "There is air."
pub const DECLARATION: Declaration = Declaration {
    name: "volume",
    kind: Kind::Object,
    doc: "Air, with smoke and heat in it, on a grid of cells that is where it is wanted",
    about: "It fills whole Buckets of 8 x 8 x 8 cells: those that `input` touches, those around the Objects that `around` names, and \
            those that have smoke, heat or any of `channels`, each with `padding` more around them; they come and go as these move. Beyond them is \
            still air, or a wind of `velocity`, and what flows out is gone: solids are what bounds it, through `walls`. `pressure` \
            keeps its volume, `gravity` lifts what is warmer than `ambient` and pulls down what is heavy with smoke, and `stamp` \
            brings smoke, heat and wind. A frame has `density` (of smoke), `temperature`, `vel` and the channels it was \
            asked for; with `fine-smoke`, velocity and pressure are in a file `NAME.flow` of their own.",
    parameters: &[
        Parameter::new(
            "input",
            Type::Input,
            "where there is air all the time: a shape, surface or level set",
        )
        .optional(),
        Parameter::new(
            "around",
            Type::Target,
            "Objects around which there is air, wherever they are; they may be disabled, where there is an `input`",
        )
        .optional()
        .or("input"),
        Parameter::new("within", Type::Input, "beyond this solid there is never air").optional(),
        Parameter::integer("padding", 1, "how many Buckets there are around what they follow")
            .between(0.0, 64.0),
        Parameter::number(
            "threshold",
            Dimension::NONE,
            1e-3,
            "smoke of less than this density is not followed, nor less of any of `channels`",
        )
        .positive()
        .usually(1e-6, 1.0)
        .advanced(),
        Parameter::number(
            "threshold-heat",
            Dimension::TEMPERATURE,
            1.0,
            "what differs from the ambient temperature by less than this is not followed",
        )
        .positive()
        .usually(1e-3, 100.0)
        .advanced(),
        Parameter::number("voxel", Dimension::LENGTH, 0.02, "size of cells")
            .positive()
            .usually(1e-4, 10.0)
            .resolution(),
        Parameter::flag(
            "fine-smoke",
            false,
            "smoke, heat and what else is carried along have voxels of half the size: 8 x 8 x 8 of them to 4 x 4 x 4 cells",
        ),
        Parameter::number("density", Dimension::DENSITY, 1.204, "density of the air itself")
            .positive()
            .usually(0.01, 100.0),
        Parameter::vector(
            "velocity",
            Dimension::VELOCITY,
            [0.0; 3],
            "velocity to begin with, and of all that surrounds it",
        )
        .usually(-100.0, 100.0),
        Parameter::number(
            "ambient",
            Dimension::TEMPERATURE,
            293.15,
            "temperature to begin with, and of all that surrounds it",
        )
        .positive()
        .usually(100.0, 3000.0),
        Parameter::number(
            "smoke-weight",
            Dimension::NONE,
            0.0,
            "how much heavier smoke of density 1 makes air, as a share of the air's own weight",
        )
        .between(-1.0, 1e3)
        .usually(-1.0, 10.0),
        Parameter::choice(
            "advection",
            &[
                ("maccormack", "second order, in two passes"),
                ("bfecc", "second order and sharper, in three passes"),
                ("semi-lagrangian", "first order: smooth, and fast"),
            ],
            "how the flow carries itself and what is in it",
        ),
        Parameter::choice(
            "traces",
            &[
                ("rk3", "third order, by Ralston"),
                ("rk2", "second order: by the velocity half-way"),
            ],
            "how ways through the flow are found",
        )
        .advanced(),
        Parameter::flag(
            "reflection",
            false,
            "mirrors the velocity at every other pressure solve, which keeps more of the motion",
        ),
        Parameter::new(
            "channels",
            Type::Text,
            "names of more channels that are carried along, with spaces between them",
        )
        .optional(),
    ],
    example: "volume \"air\" voxel=\"2 cm\" around=\"strands\" padding=3",
};

/// What the scene says of how air is simulated; where it is says `region`.
#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    /// Size of cells [m].
    pub voxel: f64,
    /// Whether what is carried along has voxels of half the size.
    pub fine: bool,
    /// Density of the air itself [kg/m³].
    pub density: f64,
    /// Velocity to begin with, and of the surroundings [m/s].
    pub wind: DVec3,
    /// Temperature to begin with, and of the surroundings [K].
    pub ambient: f64,
    /// How much heavier smoke of density 1 makes air, as a share of its weight.
    pub smoke_weight: f64,
    /// How quantities are carried.
    pub scheme: Scheme,
    /// How ways are found.
    pub traces: Traces,
    /// Whether every other projection mirrors the velocity.
    pub reflects: bool,
    /// Buckets around what is followed.
    pub padding: u32,
    /// The least density of smoke that is followed.
    pub threshold: f64,
    /// The least difference of temperature that is followed [K].
    pub threshold_heat: f64,
}

impl Settings {
    /// Those of a Behavior.
    pub fn of(ingest: &Ingest<'_>) -> Result<Self> {
        let values = ingest.values();
        Ok(Self {
            voxel: values.number("voxel")?,
            fine: values.flag("fine-smoke")?,
            density: values.number("density")?,
            wind: values.vector("velocity")?,
            ambient: values.number("ambient")?,
            smoke_weight: values.number("smoke-weight")?,
            scheme: match values.text("advection")?.as_str() {
                "semi-lagrangian" => Scheme::SemiLagrangian,
                "bfecc" => Scheme::Bfecc,
                _ => Scheme::MacCormack,
            },
            traces: match values.text("traces")?.as_str() {
                "rk2" => Traces::Rk2,
                _ => Traces::Rk3,
            },
            reflects: values.flag("reflection")?,
            padding: values.integer("padding")? as u32,
            threshold: values.number("threshold")?,
            threshold_heat: values.number("threshold-heat")?,
        })
    }
}
