//! Laws of drag on a small round body, with their exact derivatives.
//!
//! Every law has the form f = −k(|u|) u, where u is the body's velocity relative to the fluid. With ψ = d ln k / d ln |u| and
//! the direction û of u, its derivative is exactly ∂f/∂v = −k (I + ψ û ûᵀ): symmetric, and negative semidefinite as
//! long as ψ ≥ −1, that is, as long as the force does not fall when the speed rises. A [`Resistance`] is the pair of k and ψ,
//! and nothing in it is divided by the speed. Only in the drag crisis of a smooth sphere, at Re = 3.4 to 4·10⁵, the force falls; there ψ is
//! taken for −1, and a balance has more than one speed, of which [`super::step`] keeps to one.
//!
//! Which law for what:
//!
//! - [`Law::SchillerNaumann`] is the customary one for rigid spheres, dust and droplets below 1 mm.
//! - [`Law::Standard`] is the standard drag curve of a sphere, nearer to measurements from Re = 100 on, to Re = 10⁷ and with the drag crisis: for
//!   what is hard and large or fast, such as hail and shot.
//! - [`Law::Drop`] is for drops of liquid, which flatten as they fall and resist more. Drops of water in air fall with it as
//!   Gunn and Kinzer (1949) measured: to 0.6 % from 2.4 mm on, to 2 % from 0.6 mm on, to 3 % from 0.3 mm on. Below that their
//!   drops are up to 9 % faster than any sphere's law, and than later measurements (Beard 1976), allow.
//! - [`Law::Stokes`] and [`Law::Newton`] are the two limits.
//! - [`Law::Styled`] is for art direction and knows no fluid.

use super::sphere::{self, Excess};
use crate::error::{Result, in_range, not_negative, positive};
use std::f64::consts::PI;
use undine_core::glam::{DMat3, DVec3};

/// A fluid that resists.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Medium {
    density: f64,
    viscosity: f64,
}

impl Medium {
    /// Air at 20 °C and sea level.
    pub const AIR: Self = Self { density: 1.204, viscosity: 1.81e-5 };

    /// Of a density [kg/m³] and a dynamic viscosity [Pa s]. A density of 0 leaves Stokes' drag alone.
    pub fn new(density: f64, viscosity: f64) -> Result<Self> {
        Ok(Self {
            density: not_negative("the density of the fluid that drags [kg/m³]", density)?,
            viscosity: positive("the viscosity of the fluid that drags [Pa s]", viscosity)?,
        })
    }

    /// Its density [kg/m³].
    pub fn density(&self) -> f64 {
        self.density
    }

    /// Its dynamic viscosity [Pa s].
    pub fn viscosity(&self) -> f64 {
        self.viscosity
    }
}

/// What is dragged.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Body {
    /// The radius [m] of the sphere of the same volume.
    pub radius: f64,
    /// The mass [kg].
    pub mass: f64,
}

/// A law of drag.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Law {
    /// f = −6πμr u: slow, small things (Stokes 1851).
    Stokes,
    /// C_d = 24/Re (1 + 0.15 Re^0.687), and 0.44 above Re ≈ 1000 (Schiller and Naumann 1933).
    SchillerNaumann,
    /// f = −½ρ C_d πr² |u| u with one coefficient: fast, large things.
    Newton {
        /// C_d [1].
        coefficient: f64,
    },
    /// The standard drag curve of a smooth rigid sphere (Clift, Grace and Weber 1978).
    Standard,
    /// A drop that flattens; see [`Law::drop`].
    Drop {
        /// The surface tension of the liquid in the fluid [N/m].
        surface_tension: f64,
    },
    /// du/dt = −(α/r^σ) |u|^{2−σ} u, whatever the fluid; see [`Law::styled`].
    Styled {
        /// α [m^(2σ−2) s^(1−σ)].
        strength: f64,
        /// σ [1], from 1 to 2.
        exponent: f64,
    },
}

/// A law at one speed: f = −k u.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Resistance {
    /// k [N s/m].
    pub coefficient: f64,
    /// ψ = d ln k / d ln |u| [1], more than −1.
    pub slope: f64,
}

/// A drag force and how it changes with the body's velocity.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Drag {
    /// f [N].
    pub force: DVec3,
    /// ∂f/∂v [N s/m]: symmetric and negative semidefinite.
    pub jacobian: DMat3,
}

/// The Weber number at which a drop's distortion is 1 in [`Law::Drop`].
const DISTORTED_WEBER: f64 = 14.0;
/// How much larger the drag of a drop of distortion 1 is, less one: that of a disc (Liu, Mather and Reitz 1993).
const DISC: f64 = 2.632;
/// ψ where the force falls: so little above −1 that the derivative of the force is none, and negative after rounding.
const LEVEL: f64 = -1.0 + 1e-12;

impl Law {
    /// Newton's law with a coefficient C_d [1].
    pub fn newton(coefficient: f64) -> Result<Self> {
        Ok(Self::Newton { coefficient: not_negative("the drag coefficient", coefficient)? })
    }

    /// The law of a drop with this surface tension [N/m] (water in air: 0.0728).
    ///
    /// C_d = C_d,sphere (1 + 2.632 y), where the distortion y goes from 0, a sphere, to 1, a disc, as Liu, Mather and Reitz (1993)
    /// propose. They take y from a drop that answers like a spring, which is y = We/24 at rest, and falls up to 7 % slower
    /// than water does. Here y = min((We/14)², 1), with We = ρ|u|²d/σ: the power and the 14 were chosen for Gunn and Kinzer's
    /// measurements. Of Beard's (1976) speeds in air half as dense, which were not used for that, it is within 4 %.
    pub fn drop(surface_tension: f64) -> Result<Self> {
        let surface_tension = positive("the surface tension of a drop [N/m]", surface_tension)?;
        Ok(Self::Drop { surface_tension })
    }

    /// A law for art direction, du/dt = −(α/r^σ) |u|^{2−σ} u (Jones 2018, *Droplets, Splashes and Sprays*, eq. 4.38, whose u^{3−σ}
    /// of a vector is read so). With σ = 1 it is like Newton's law, with σ = 2 like Stokes'; between them it mixes both.
    pub fn styled(strength: f64, exponent: f64) -> Result<Self> {
        let what = "the exponent σ of the radius in styled drag";
        let right = (1.0..=2.0).contains(&exponent);
        Ok(Self::Styled {
            strength: not_negative("the strength of styled drag", strength)?,
            exponent: in_range(what, exponent, right, "from 1 (as Newton) to 2 (as Stokes)")?,
        })
    }

    /// The drag on a body that moves at this velocity [m/s] relative to the fluid.
    pub fn drag(&self, medium: &Medium, body: &Body, relative: DVec3) -> Drag {
        let speed = relative.length();
        let Resistance { coefficient: k, slope } = self.resistance(medium, body, speed);
        // At rest there is no direction, and none is needed: either k or ψ is zero there.
        let along = relative.try_normalize().unwrap_or(DVec3::ZERO);
        let steeper = DMat3::from_cols(along * along.x, along * along.y, along * along.z) * slope;
        Drag { force: relative * -k, jacobian: (DMat3::IDENTITY + steeper) * -k }
    }

    /// k and ψ at a speed [m/s], which is not negative.
    pub fn resistance(&self, medium: &Medium, body: &Body, speed: f64) -> Resistance {
        let Body { radius: r, mass } = *body;
        let stokes = 6.0 * PI * medium.viscosity * r;
        let reynolds = 2.0 * r * medium.density * speed / medium.viscosity;
        let of_sphere =
            |Excess { factor, slope }| Resistance { coefficient: stokes * factor, slope };
        let resistance = match *self {
            Self::Stokes => Resistance { coefficient: stokes, slope: 0.0 },
            Self::SchillerNaumann => of_sphere(sphere::schiller_naumann(reynolds)),
            Self::Standard => of_sphere(sphere::standard(reynolds)),
            Self::Newton { coefficient } => Resistance {
                coefficient: 0.5 * medium.density * coefficient * PI * r * r * speed,
                slope: 1.0,
            },
            Self::Drop { surface_tension } => {
                let weber = 2.0 * r * medium.density * speed * speed / surface_tension;
                let y = (weber / DISTORTED_WEBER).powi(2);
                let Excess { factor, slope } = sphere::blunt(reynolds);
                let (flatter, steeper) = if y < 1.0 {
                    // y grows with the fourth power of the speed.
                    (1.0 + DISC * y, 4.0 * DISC * y / (1.0 + DISC * y))
                } else {
                    (1.0 + DISC, 0.0)
                };
                of_sphere(Excess { factor: factor * flatter, slope: slope + steeper })
            }
            Self::Styled { strength, exponent } => Resistance {
                coefficient: mass * strength * r.powf(-exponent) * speed.powf(2.0 - exponent),
                slope: 2.0 - exponent,
            },
        };
        // Where a force falls with the speed, its derivative is projected to what has no negative stiffness.
        Resistance { slope: resistance.slope.max(LEVEL), ..resistance }
    }

    /// The speeds [m/s] between which the force falls as the speed rises, if there are any.
    pub fn crisis(&self, medium: &Medium, body: &Body) -> Option<[f64; 2]> {
        let per_speed = 2.0 * body.radius * medium.density / medium.viscosity;
        (*self == Self::Standard && per_speed > 0.0)
            .then(|| sphere::CRISIS.map(|reynolds| reynolds / per_speed))
    }
}
