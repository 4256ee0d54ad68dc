//! How a scene says that there is liquid.

use crate::measure::{Asked, WORDS};
use undine_core::transfer::Kernel;
use undine_schema::{Declaration, Dimension, Kind, Parameter, Type};
use undine_sim::{Ingest, Result, SimError};

/// "There is liquid."
pub const DECLARATION: Declaration = Declaration {
    name: "hybrid",
    kind: Kind::Object,
    doc: "Liquid: particles that carry it, on a grid of cells that follows them",
    about: "Its input is filled with particles: a shape, a closed surface or a level set; points are taken as they are. \
            Each step particles give their momentum to the faces of cells, where `gravity` and other Forces act, `viscosity` \
            evens it out and `pressure` keeps volume; then they take the velocity back and move with it. There is no box \
            around it: cells are where particles are, and `walls` makes colliders its walls. A frame has the particles \
            (`P v id age pscale`, channels of the input), and on the grid `surface`, `v` and `pressure`.",
    parameters: &[
        Parameter::new("input", Type::Input, "the liquid to begin with; without it, none").optional(),
        Parameter::vector("velocity", Dimension::VELOCITY, [0.0; 3], "velocity to begin with")
            .varies_by("v"),
        Parameter::number("density", Dimension::DENSITY, 998.2, "density of the liquid")
            .positive()
            .usually(1.0, 25_000.0),
        Parameter::number("voxel", Dimension::LENGTH, 0.02, "size of cells")
            .positive()
            .usually(1e-4, 10.0)
            .resolution(),
        Parameter::choice(
            "transfer",
            &[
                ("apic", "with the velocity's gradient: keeps angular momentum, and is calm"),
                ("flip", "particles keep their own velocity and take its change: lively"),
                ("pic", "particles take the velocity as it is: like syrup"),
            ],
            "how velocity goes from particles to the grid and back",
        ),
        Parameter::number(
            "flip",
            Dimension::NONE,
            0.97,
            "with `transfer=flip`, the share of FLIP; the rest is PIC",
        )
        .between(0.0, 1.0),
        Parameter::choice(
            "kernel",
            &[
                ("quadratic", "three faces along each axis: smooth"),
                ("linear", "two faces along each axis: sharper, and faster"),
            ],
            "how a particle is spread over the faces around it",
        )
        .advanced(),
        Parameter::choice(
            "advection",
            &[
                ("rk2", "second order: by the velocity half-way"),
                ("rk3", "third order, by Ralston"),
            ],
            "how particles follow the velocity of the grid",
        )
        .advanced(),
        Parameter::choice(
            "seeding",
            &[
                ("jittered", "at random within equal parts of a cell"),
                ("poisson", "at random, none close to another"),
                ("lattice", "in the middle of equal parts of a cell"),
            ],
            "how the input is filled with particles",
        )
        .advanced(),
        Parameter::integer("per-axis", 2, "particles along the edge of a cell: 2 is 8 in a cell")
            .between(1.0, 8.0)
            .advanced(),
        Parameter::new(
            "band",
            Type::Integer,
            "how many cells below the surface have particles; deeper inside cells hold the liquid; without it, particles are everywhere",
        )
        .optional()
        .between(2.0, 64.0),
        Parameter::flag("reseed", true, "keeps the number of particles in cells within bounds")
            .advanced(),
        Parameter::integer("least", 3, "fewest particles in a cell under the surface")
            .between(1.0, 64.0)
            .advanced(),
        Parameter::integer("most", 16, "most particles in a cell under the surface")
            .between(2.0, 512.0)
            .advanced(),
        Parameter::flag("keep-volume", true, "moves particles apart where they are too dense")
            .advanced(),
        Parameter::new(
            "measure",
            Type::Text,
            "more channels for particles: of `pressure-gradient distance neighbours vorticity affine` those that are wanted",
        )
        .optional()
        .advanced(),
    ],
    example: "hybrid \"water\" input=\"column\" voxel=\"2 cm\"",
};

/// How velocity goes to the grid and back.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Transfer {
    /// With the velocity's gradient (Jiang et al. 2015).
    Apic,
    /// A blend of FLIP, by this share, and PIC (Jones, equation 2.20).
    Flip(f32),
    /// The grid's velocity as it is.
    Pic,
}

/// How particles follow the velocity of the grid.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Advection {
    /// The midpoint rule.
    Rk2,
    /// Ralston's third-order method.
    Rk3,
}

/// What the scene says of how a liquid is simulated; of what it is made says [`crate::seed`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Settings {
    /// Rest density [kg/m³].
    pub density: f64,
    /// Size of cells [m].
    pub voxel: f64,
    /// Particles along the edge of a cell.
    pub per_axis: u32,
    /// To the grid and back.
    pub transfer: Transfer,
    /// How a particle is spread over faces.
    pub kernel: Kernel,
    /// How particles move.
    pub advection: Advection,
    /// The fewest and the most particles in a cell, where it is kept within bounds.
    pub reseed: Option<[u32; 2]>,
    /// Whether particles that are too dense are moved apart.
    pub keeps_volume: bool,
    /// The width of the band below the surface that has particles, in cells; none where they are everywhere.
    pub band: Option<u32>,
    /// What is measured at particles.
    pub asked: Asked,
}

impl Settings {
    /// Those of a Behavior.
    pub fn of(ingest: &Ingest<'_>) -> Result<Self> {
        let values = ingest.values();
        let whole = |name| Ok::<u32, SimError>(values.integer(name)? as u32);
        let bounds = [whole("least")?, whole("most")?];
        if bounds[0] >= bounds[1] {
            let what = format!("`least` is {} and `most` is {}", bounds[0], bounds[1]);
            return Err(ingest.bad("least", what, "let `most` be larger, at best twice as large"));
        }
        Ok(Self {
            density: values.number("density")?,
            voxel: values.number("voxel")?,
            per_axis: whole("per-axis")?,
            transfer: match values.text("transfer")?.as_str() {
                "flip" => Transfer::Flip(values.number("flip")? as f32),
                "pic" => Transfer::Pic,
                _ => Transfer::Apic,
            },
            kernel: match values.text("kernel")?.as_str() {
                "linear" => Kernel::Linear,
                _ => Kernel::Quadratic,
            },
            advection: match values.text("advection")?.as_str() {
                "rk3" => Advection::Rk3,
                _ => Advection::Rk2,
            },
            reseed: values.flag("reseed")?.then_some(bounds),
            keeps_volume: values.flag("keep-volume")?,
            band: values.optional_number("band")?.map(|cells| cells as u32),
            asked: asked(ingest)?,
        })
    }

    /// The mass of a particle, where cells have as many as they begin with [kg].
    pub fn mass_each(&self) -> f64 {
        self.density * (self.voxel / f64::from(self.per_axis)).powi(3)
    }
}

/// What a scene wants to be measured at particles.
fn asked(ingest: &Ingest<'_>) -> Result<Asked> {
    let values = ingest.values();
    let text = values.optional_text("measure")?.unwrap_or_default();
    let asked = Asked::parse(&text).map_err(|word| {
        let words: Vec<String> =
            WORDS.iter().map(|(word, what)| format!("`{word}`: {what}")).collect();
        let help = format!("words may be, with spaces between them: {}", words.join("; "));
        ingest.bad("measure", format!("`{word}` is nothing that can be measured"), help)
    })?;
    let transfer = values.text("transfer")?;
    if asked.affine && transfer != "apic" {
        let what =
            format!("`affine` is what particles carry with `transfer=apic`, not with {transfer}");
        return Err(ingest.bad("measure", what, "leave `affine` out, or use `transfer=apic`"));
    }
    Ok(asked)
}
