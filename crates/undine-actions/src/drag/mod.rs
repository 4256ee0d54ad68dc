//! The drag of a fluid on small round things: laws by Reynolds number, their exact derivatives, and an implicit step; and on pieces of
//! thin rods, by the way that they lie in the flow ([`rod`]).
//!
//! Only drag is here. The weight of the displaced fluid is buoyancy, which goes with gravity.
//!
//! As a [`Force`] it resists: it is linearised at the velocity at which backward Euler would end under drag and all that
//! drives, which is known exactly ([`step`]). So one Newton iteration takes what falls to its terminal speed without ever
//! passing it, however long the step is. Of a rod the resistance is that at the velocity which is known, K u with u at the end
//! of the step, as in the first iteration of [`crate::coupled::drag`].

pub mod law;
pub mod rod;
pub mod sphere;
pub mod step;

pub use law::{Body, Drag, Law, Medium, Resistance};
pub use step::{implicit_velocity, settled};

use rod::Piece;
use undine_core::glam::DVec3;
use undine_schema::{Declaration, Dimension, Kind, Parameter};
use undine_sim::action::force::Drive;
use undine_sim::{Force, Ingest, Point, Push, Result};

/// Which law.
pub(crate) const LAW: Parameter = Parameter::choice(
    "law",
    &[
        ("schiller-naumann", "rigid balls, dust, droplets below 1 mm (Schiller and Naumann 1933)"),
        (
            "standard",
            "the standard drag curve of a smooth ball, to the drag crisis and beyond: hail, shot (Clift, Grace and Weber 1978)",
        ),
        (
            "drop",
            "drops of liquid up to 8 mm, which flatten as they fall, as Gunn and Kinzer measured; larger ones break",
        ),
        ("stokes", "only what is small and slow: in proportion to speed"),
        ("newton", "only what is large and fast: with the square of speed"),
        ("styled", "art direction: as `style-strength` and `style-exponent` say, in no air at all"),
    ],
    "how drag depends on size and speed",
);

/// The drag coefficient of law "newton".
pub(crate) const COEFFICIENT: Parameter = Parameter::number(
    "coefficient",
    Dimension::NONE,
    sphere::NEWTON_COEFFICIENT,
    "drag coefficient of law \"newton\"",
)
.not_negative()
.usually(0.01, 3.0)
.advanced();

/// The surface tension of law "drop".
pub(crate) const SURFACE_TENSION: Parameter = Parameter::number(
    "surface-tension",
    Dimension::SURFACE_TENSION,
    0.0728,
    "surface tension in law \"drop\"; the default is water in air",
)
.positive()
.usually(1e-3, 1.0)
.advanced();

/// How strong law "styled" is.
pub(crate) const STYLE_STRENGTH: Parameter = Parameter::number(
    "style-strength",
    Dimension::NONE,
    1e-3,
    "alpha of law \"styled\", du/dt = -(alpha / r^sigma) |u|^(2 - sigma) u, in metres and seconds",
)
.not_negative()
.advanced();

/// Between which laws "styled" is.
pub(crate) const STYLE_EXPONENT: Parameter = Parameter::number(
    "style-exponent",
    Dimension::NONE,
    1.0,
    "sigma of law \"styled\": 1 is like \"newton\", 2 like \"stokes\"",
)
.between(1.0, 2.0)
.advanced();

/// "Drag."
pub const DECLARATION: Declaration = Declaration {
    name: "drag",
    kind: Kind::Force,
    doc: "The air resists what moves through it",
    about: "By Reynolds number, for balls of the radius of each particle (`pscale`); pieces of strands by the way they lie in the wind, \
            whatever the law. Density and viscosity of the air may be \
            set on any Group, so that all that is in it agrees about them; the defaults are air at 20 degC and sea level. \
            Steps may be as long as you like: what falls comes near to its terminal speed and never passes it. \
            Buoyancy is not in it.",
    parameters: &[
        LAW,
        Parameter::vector("wind", Dimension::VELOCITY, [0.0; 3], "velocity of the air")
            .between(-1e4, 1e4)
            .usually(-100.0, 100.0),
        Parameter::number("air-density", Dimension::DENSITY, 1.204, "density of the air")
            .not_negative()
            .usually(0.0, 1100.0)
            .varies_by("air-density"),
        Parameter::number(
            "air-viscosity",
            Dimension::DYNAMIC_VISCOSITY,
            1.81e-5,
            "dynamic viscosity of the air",
        )
        .positive()
        .usually(1e-6, 10.0)
        .varies_by("air-viscosity"),
        COEFFICIENT,
        SURFACE_TENSION,
        STYLE_STRENGTH,
        STYLE_EXPONENT,
    ],
    example: "drag wind=\"4 0 0 m/s\"",
};

/// The drag of air on particles.
pub struct AirDrag {
    law: Law,
    wind: DVec3,
}

impl Force for AirDrag {
    const VARIES: &'static [&'static str] = &["air-density", "air-viscosity"];
    const RESISTS: bool = true;

    fn create(ingest: &mut Ingest<'_>) -> Result<Self> {
        let law = law(ingest)?;
        Ok(Self { law, wind: ingest.values().vector("wind")? })
    }

    fn settles_at(&self, at: &Point, drive: &Drive, varying: &[f64]) -> DVec3 {
        let Ok(air) = Medium::new(varying[0], varying[1]) else { return at.velocity };
        if piece(at).is_some() {
            return at.velocity;
        }
        // (m/Δt + Δt K) u = b − k(|u|) u, where K is the stiffness of what drives. Of K counts what it is along b.
        let free = at.mass / drive.step;
        let stiff = drive.step * drive.stiffness;
        let pull = free * (drive.velocity_before - self.wind)
            + drive.force
            + stiff * (at.velocity - self.wind);
        let along = pull.normalize_or_zero();
        let inertia = free + along.dot(stiff * along);
        let inertia = if inertia > 0.0 { inertia } else { free };
        let before = (drive.velocity_before - self.wind).length();
        self.wind + settled(&self.law, &air, &body(at), inertia, pull, before)
    }

    fn evaluate(&self, at: &Point, varying: &[f64]) -> Push {
        // A channel may hold what no air has; that shows up as no number, which is looked for.
        let Ok(air) = Medium::new(varying[0], varying[1]) else {
            return Push::explicit(DVec3::NAN);
        };
        let relative = at.velocity - self.wind;
        if let Some(piece) = piece(at) {
            // A secant: in one iteration it comes nearer than a step of Newton's method, and which one this is a Force does not know.
            // In more of them it converges linearly.
            let resistance = piece.resistance(&air, relative);
            return Push { by_velocity: -resistance, ..Push::explicit(-(resistance * relative)) };
        }
        let drag = self.law.drag(&air, &body(at), relative);
        Push { by_velocity: drag.jacobian, ..Push::explicit(drag.force) }
    }

    fn acts_on_fluids(&self) -> bool {
        false
    }
}

/// The law that a scene asks for.
pub(crate) fn law(ingest: &Ingest<'_>) -> Result<Law> {
    let values = ingest.values();
    let number = |name: &str| values.number(name);
    let law = match values.text("law")?.as_str() {
        "standard" => Ok(Law::Standard),
        "drop" => Law::drop(number("surface-tension")?),
        "stokes" => Ok(Law::Stokes),
        "newton" => Law::newton(number("coefficient")?),
        "styled" => Law::styled(number("style-strength")?, number("style-exponent")?),
        _ => Ok(Law::SchillerNaumann),
    };
    let help = "stay within what `undine help drag` says";
    law.map_err(|why| ingest.bad("law", why.to_string(), help))
}

/// The piece of a rod that a point stands for, if it does.
fn piece(at: &Point) -> Option<Piece> {
    Piece::of_volume(at.along?, at.radius)
}

fn body(at: &Point) -> Body {
    Body { radius: at.radius, mass: at.mass }
}
