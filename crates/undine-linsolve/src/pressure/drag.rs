//! Objects that are spread through a fluid, such as hair, cloth or grains: what they do to the pressure at a face.
//!
//! At a face a share α of the volume is solid. With the velocities u_f* and u_s* before the pressure, a drag D per volume and
//! the pressure gradient ∇p,
//!
//! ```text
//! (1−α)·ρ_f·(u_f − u_f*) = −Δt·(1−α)·∇p + Δt·D·(u_s − u_f)
//!     α·ρ_s·(u_s − u_s*) = −Δt·α·∇p     − Δt·D·(u_s − u_f)
//! ```
//!
//! Both velocities are eliminated, and the pressure makes the flux (1−α)·u_f + α·u_s free of divergence.
//!
//! **How.** Let m_f = (1−α)·ρ_f and m_s = α·ρ_s be the masses per volume, ρ = m_f + m_s their sum and φ = m_s/ρ the solid's share
//! of it. The sum of the equations moves the common velocity v = (1−φ)·u_f + φ·u_s, and drag is not in it; each divided by its
//! mass, their difference moves the slip s = u_s − u_f:
//!
//! ```text
//! v = v* − Δt·∇p/ρ
//! s = w·(s* − Δt·(1/ρ_s − 1/ρ_f)·∇p),   w = μ/(μ + Δt·D),   μ = m_f·m_s/ρ
//! ```
//!
//! w in 0 … 1 is what drag leaves of the slip. Back in u_f = v − φ·s and u_s = v + (1−φ)·s, and with φ/ρ_s = α/ρ and
//! (1−φ)/ρ_f = (1−α)/ρ,
//!
//! ```text
//! u_f = (1 − φ·(1−w))·u_f* + φ·(1−w)·u_s*         − Δt·(w/ρ_f + (1−w)/ρ)·∇p
//! u_s = (1−φ)·(1−w)·u_f*   + (φ + (1−φ)·w)·u_s*   − Δt·(w/ρ_s + (1−w)/ρ)·∇p
//! flux: the coefficient of −Δt·∇p is  w·((1−α)/ρ_f + α/ρ_s) + (1−w)/ρ
//! ```
//!
//! Every coefficient is a sum of terms that are not negative: nothing cancels, and the system stays symmetric and positive. Without
//! drag (w = 1) solid and fluid answer side by side; with infinite drag (w = 0) they move as one of density ρ. α = 0 leaves
//! 1/ρ_f. A solid too heavy to move (ρ_s → ∞, so φ = 1 and μ = m_f) is a porous medium: (1−α)²/((1−α)·ρ_f + Δt·D).
//!
//! **Whose drag may be here.** That of solids which get from this solve what it finds, or need nothing, as a porous medium does not. Hair,
//! particles and bodies are solved before, in a system of their own, and have taken their drag there: −Δt·D·w·s* per volume, without the
//! pressure of this step. With D in the matrix as well, the fluid would get another one than they took, by
//!
//! ```text
//! (1−w)·μ·Δt·|1/ρ_s − 1/ρ_f|·|∇p|
//! ```
//!
//! in every step, steady or not, and momentum would come from nowhere: among dense hair (w = 0) nearly all that pressure does to the air.
//! So `coupled-drag` gives the fluid exactly what solids took and leaves D at zero here, and foresees in its own system what pressure will do
//! (`coupled/drag.rs` of `undine-actions`). The share, mass and velocity of solids do enter, by `coupled-buoyancy`.

use crate::error::{Result, SolveError};

/// What meets at a face.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FaceCoupling {
    /// The share α of the volume that is solid, from 0 to 1.
    pub alpha: f64,
    /// The fluid's density ρ_f [kg/m³].
    pub fluid_density: f64,
    /// The density ρ_s of the solid itself [kg/m³]. Infinity keeps it where it is.
    pub solid_density: f64,
    /// Drag D per volume and difference of velocities [kg/(m³·s)]. Infinity glues the two together.
    pub drag: f64,
    /// Δt [s].
    pub time_step: f64,
}

/// What comes out of it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FaceResponse {
    /// The coefficient of −Δt·∇p in the flux (1−α)·u_f + α·u_s [m³/kg]: the inverse density that the pressure system needs. It
    /// is positive, and zero only where there is nothing but a solid that does not move: a wall.
    pub inverse_density: f64,
    /// u_f.
    pub fluid: FaceVelocity,
    /// u_s.
    pub solid: FaceVelocity,
}

/// A velocity after drag and pressure: `from_fluid`·u_f* + `from_solid`·u_s* − Δt·`inverse_density`·∇p.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FaceVelocity {
    /// The share of u_f*.
    pub from_fluid: f64,
    /// The share of u_s*; both shares add up to 1.
    pub from_solid: f64,
    /// The coefficient of −Δt·∇p [m³/kg].
    pub inverse_density: f64,
}

impl FaceCoupling {
    /// Eliminates both velocities.
    ///
    /// Refuses shares outside of 0 … 1, and densities, drags and time steps that are negative or NaN.
    pub fn eliminate(&self) -> Result<FaceResponse> {
        self.check()?;
        let &Self { alpha, fluid_density, solid_density, drag, time_step } = self;
        let beta = 1.0 - alpha;
        let fluid_mass = beta * fluid_density;
        // Nothing of infinite density weighs nothing.
        let solid_mass = if alpha == 0.0 { 0.0 } else { alpha * solid_density };
        let inverse_mass = 1.0 / (fluid_mass + solid_mass);
        // In this form φ is 0 for a solid without mass and 1 for one of infinite mass.
        let phi = 1.0 / (1.0 + fluid_mass / solid_mass);
        let reduced = fluid_mass * phi;
        let slip = match time_step * drag {
            // Without drag, slip stays as it is even if one of the two is not there (μ = 0).
            0.0 => 1.0,
            drag => reduced / (reduced + drag),
        };
        let (stick, one_minus_phi) = (1.0 - slip, 1.0 - phi);
        let answer = |inverse_density: f64| slip * inverse_density + stick * inverse_mass;
        let (fluid, solid) = (1.0 / fluid_density, 1.0 / solid_density);
        Ok(FaceResponse {
            inverse_density: answer(beta * fluid + alpha * solid),
            fluid: FaceVelocity {
                from_fluid: 1.0 - phi * stick,
                from_solid: phi * stick,
                inverse_density: answer(fluid),
            },
            solid: FaceVelocity {
                from_fluid: one_minus_phi * stick,
                from_solid: phi + one_minus_phi * slip,
                inverse_density: answer(solid),
            },
        })
    }

    fn check(&self) -> Result<()> {
        let checks = [
            (
                "the solid's share of a face",
                self.alpha,
                (0.0..=1.0).contains(&self.alpha),
                "from 0 to 1",
            ),
            (
                "the fluid's density",
                self.fluid_density,
                self.fluid_density.is_finite() && self.fluid_density > 0.0,
                "positive and finite",
            ),
            ("the solid's density", self.solid_density, self.solid_density > 0.0, "positive"),
            ("the drag", self.drag, self.drag >= 0.0, "not negative"),
            (
                "the time step",
                self.time_step,
                self.time_step.is_finite() && self.time_step > 0.0,
                "positive and finite",
            ),
        ];
        match checks.into_iter().find(|&(_, _, fine, _)| !fine) {
            None => Ok(()),
            Some((what, found, _, wanted)) => {
                Err(SolveError::BadValue { what: what.into(), found: found.to_string(), wanted })
            }
        }
    }
}

impl FaceVelocity {
    /// The velocity before the pressure acts.
    pub fn before(&self, fluid: f64, solid: f64) -> f64 {
        self.from_fluid * fluid + self.from_solid * solid
    }

    /// The velocity after it; `impulse` is Δt·∇p [Pa·s/m].
    pub fn after(&self, fluid: f64, solid: f64, impulse: f64) -> f64 {
        self.before(fluid, solid) - self.inverse_density * impulse
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const WATER: FaceCoupling = FaceCoupling {
        alpha: 0.3,
        fluid_density: 1000.0,
        solid_density: 1300.0,
        drag: 5e4,
        time_step: 0.01,
    };

    fn near(found: f64, wanted: f64) -> bool {
        (found - wanted).abs() <= 1e-13 * wanted.abs()
    }

    /// u_f and u_s by elimination in the 2×2 system of the two equations as they stand.
    fn by_elimination(face: &FaceCoupling, fluid: f64, solid: f64, gradient: f64) -> [f64; 2] {
        let beta = 1.0 - face.alpha;
        let (m_f, m_s) = (beta * face.fluid_density, face.alpha * face.solid_density);
        let (k, dt) = (face.time_step * face.drag, face.time_step);
        let a = [[m_f + k, -k], [-k, m_s + k]];
        let b = [m_f * fluid - dt * beta * gradient, m_s * solid - dt * face.alpha * gradient];
        let det = a[0][0] * a[1][1] - a[0][1] * a[1][0];
        [(b[0] * a[1][1] - a[0][1] * b[1]) / det, (a[0][0] * b[1] - b[0] * a[1][0]) / det]
    }

    proptest! {
        #[test]
        fn the_equations_hold_and_all_coefficients_are_positive(
            alpha in 0.001_f64..0.999,
            density in 0.5_f64..5000.0,
            solid_density in 0.5_f64..20_000.0,
            // Where the reference itself does not cancel.
            drag in 0.0_f64..1e5,
            time_step in 1e-4_f64..0.1,
            fluid in -3.0_f64..3.0,
            solid in -3.0_f64..3.0,
            gradient in -1e4_f64..1e4,
        ) {
            let face =
                FaceCoupling { alpha, fluid_density: density, solid_density, drag, time_step };
            let response = face.eliminate().unwrap();
            let wanted = by_elimination(&face, fluid, solid, gradient);
            let impulse = time_step * gradient;
            let found =
                [response.fluid, response.solid].map(|v| v.after(fluid, solid, impulse));
            let size = 1.0 + fluid.abs() + solid.abs() + impulse.abs() * (1.0 / density + 1.0 / solid_density);
            prop_assert!((found[0] - wanted[0]).abs() < 1e-8 * size, "{found:?} {wanted:?}");
            prop_assert!((found[1] - wanted[1]).abs() < 1e-8 * size, "{found:?} {wanted:?}");

            // The flux answers as the sum of its parts does.
            let parts = (1.0 - alpha) * response.fluid.inverse_density
                + alpha * response.solid.inverse_density;
            prop_assert!((response.inverse_density - parts).abs() <= 1e-13 * parts);
        }

        #[test]
        fn no_coupling_whatever_gives_a_coefficient_that_is_not_positive(
            alpha in prop::sample::select(vec![0.0, 1e-300, 1e-12, 0.5, 1.0 - 1e-12, 1.0]),
            solid_density in prop::sample::select(vec![1e-9, 1.0, 1e9, 1e300, f64::INFINITY]),
            drag in prop::sample::select(vec![0.0, 1e-300, 1.0, 1e12, 1e300, f64::INFINITY]),
        ) {
            let response = FaceCoupling { alpha, solid_density, drag, ..WATER }.eliminate().unwrap();
            let wall = solid_density >= 1e300 && (alpha == 1.0 || drag >= 1e300);
            prop_assert!(response.inverse_density.is_finite());
            prop_assert!(response.inverse_density > 0.0 || wall, "{response:?}");
            // Between the answers of the two side by side and of the two as one.
            for velocity in [response.fluid, response.solid] {
                prop_assert!((velocity.from_fluid + velocity.from_solid - 1.0).abs() < 1e-14);
                prop_assert!(velocity.from_fluid >= 0.0 && velocity.from_solid >= 0.0);
                prop_assert!(velocity.inverse_density >= 0.0);
            }
        }
    }

    #[test]
    fn without_a_solid_the_coefficient_is_that_of_the_fluid() {
        for drag in [0.0, 3.0, f64::INFINITY] {
            for solid_density in [1.0, 1e5, f64::INFINITY] {
                let face = FaceCoupling { alpha: 0.0, drag, solid_density, ..WATER };
                let response = face.eliminate().unwrap();
                assert!(near(response.inverse_density, 1e-3), "{response:?}");
                assert_eq!(response.fluid.before(2.0, 7.0), 2.0);
            }
        }
        // Something that weighs nothing goes with the fluid if there is drag, and its own way if not.
        let dust = FaceCoupling { alpha: 0.0, ..WATER };
        assert_eq!(dust.eliminate().unwrap().solid.before(2.0, 7.0), 2.0);
        assert_eq!(
            FaceCoupling { drag: 0.0, ..dust }.eliminate().unwrap().solid.before(2.0, 7.0),
            7.0
        );
    }

    #[test]
    fn the_limit_of_few_solids_is_that_of_none() {
        for drag in [0.0, 1.0, 1e9] {
            let few = FaceCoupling { alpha: 1e-13, drag, ..WATER }.eliminate().unwrap();
            assert!((few.inverse_density * 1000.0 - 1.0).abs() < 1e-12);
        }
    }

    #[test]
    fn without_drag_fluid_and_solid_answer_side_by_side() {
        let response = FaceCoupling { drag: 0.0, ..WATER }.eliminate().unwrap();
        assert!(near(response.inverse_density, 0.7 / 1000.0 + 0.3 / 1300.0));
        assert!(near(response.fluid.inverse_density, 1.0 / 1000.0));
        assert!(near(response.solid.inverse_density, 1.0 / 1300.0));
        assert_eq!(response.fluid.before(2.0, 7.0), 2.0);
        assert!(near(response.solid.before(2.0, 7.0), 7.0));
    }

    #[test]
    fn with_infinite_drag_the_mixture_moves_as_one() {
        let mixture = 0.7 * 1000.0 + 0.3 * 1300.0;
        let momentum = 0.7 * 1000.0 * 2.0 + 0.3 * 1300.0 * 7.0;
        for drag in [1e30, f64::INFINITY] {
            let response = FaceCoupling { drag, ..WATER }.eliminate().unwrap();
            for velocity in [response.fluid, response.solid] {
                assert!(near(velocity.inverse_density, 1.0 / mixture));
                assert!(near(velocity.before(2.0, 7.0), momentum / mixture));
            }
            assert!(near(response.inverse_density, 1.0 / mixture));
        }
    }

    /// u_s = u_s* for all pressures. The fluid's equation alone is then
    /// m_f·(u_f − u_f*) = −Δt·(1−α)·∇p + Δt·D·(u_s* − u_f), so that the flux answers by (1−α)²/(m_f + Δt·D).
    #[test]
    fn a_solid_too_heavy_to_move_is_a_porous_medium() {
        let (mass, drag) = (0.7 * 1000.0, 0.01 * 5e4);
        for solid_density in [1e22, f64::INFINITY] {
            let response = FaceCoupling { solid_density, ..WATER }.eliminate().unwrap();
            assert!(near(response.inverse_density, 0.49 / (mass + drag)), "{response:?}");
            assert!(near(response.solid.before(2.0, 7.0), 7.0));
            assert!(response.solid.inverse_density < 1e-20);
            assert!(near(
                response.fluid.before(2.0, 7.0),
                (mass * 2.0 + drag * 7.0) / (mass + drag)
            ));
        }
        // And with drag that nothing gets through, a wall.
        let wall = FaceCoupling { solid_density: f64::INFINITY, drag: f64::INFINITY, ..WATER };
        assert_eq!(wall.eliminate().unwrap().inverse_density, 0.0);
    }

    #[test]
    fn without_a_fluid_the_coefficient_is_that_of_the_solid() {
        for drag in [0.0, 3.0, f64::INFINITY] {
            let response = FaceCoupling { alpha: 1.0, drag, ..WATER }.eliminate().unwrap();
            assert!(near(response.inverse_density, 1.0 / 1300.0), "{response:?}");
            assert!(near(response.solid.before(2.0, 7.0), 7.0));
        }
    }

    #[test]
    fn momentum_is_exchanged_and_not_made() {
        let response = WATER.eliminate().unwrap();
        let momentum = |u_f: f64, u_s: f64| 0.7 * 1000.0 * u_f + 0.3 * 1300.0 * u_s;
        let found = momentum(response.fluid.before(2.0, 7.0), response.solid.before(2.0, 7.0));
        assert!(near(found, momentum(2.0, 7.0)));
        // The pressure acts on the whole volume: Σ m·(1/ρ)·Δt∇p = Δt∇p.
        let answered = momentum(response.fluid.inverse_density, response.solid.inverse_density);
        assert!(near(answered, 1.0));
    }

    /// Why solids that have taken their drag before the pressure have none here.
    #[test]
    fn drag_in_the_matrix_is_another_one_than_solids_took_before() {
        let (u_f, u_s, impulse) = (2.0, 7.0, 30.0);
        let (alpha, m_f, m_s) = (0.3, 0.7 * 1000.0, 0.3 * 1300.0);
        let response = WATER.eliminate().unwrap();
        // What drag gives to the solid: its change of momentum without the part of pressure itself.
        let taken =
            |impulse| m_s * (response.solid.after(u_f, u_s, impulse) - u_s) + alpha * impulse;
        let reduced = m_f * m_s / (m_f + m_s);
        let slip = reduced / (reduced + 0.01 * 5e4);
        assert!(near(taken(0.0), -0.01 * 5e4 * slip * (u_s - u_f)));
        let wanted: f64 = (1.0 - slip) * reduced * (1.0 / 1300.0 - 1.0 / 1000.0) * impulse;
        let off = taken(impulse) - taken(0.0);
        assert!((off - wanted).abs() < 1e-11 * wanted.abs(), "{off} instead of {wanted}");
    }

    #[test]
    fn values_that_cannot_be_are_named() {
        let message = |face: FaceCoupling| face.eliminate().unwrap_err().to_string();
        assert!(
            message(FaceCoupling { alpha: 1.5, ..WATER })
                .contains("solid's share of a face is 1.5")
        );
        assert!(message(FaceCoupling { drag: f64::NAN, ..WATER }).contains("the drag is NaN"));
        assert!(message(FaceCoupling { fluid_density: 0.0, ..WATER }).contains("fluid's density"));
        assert!(message(FaceCoupling { solid_density: -1.0, ..WATER }).contains("solid's density"));
        assert!(message(FaceCoupling { time_step: 0.0, ..WATER }).contains("time step"));
    }
}
