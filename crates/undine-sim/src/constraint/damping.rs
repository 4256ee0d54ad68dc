//! Rayleigh damping for any Constraint: the dissipation ½ τ Ċᵀ S Ċ (Loki §6.3, with the usual ½; Brown et al. 2018, *Accurate
//! dissipative forces in optimization integrators*).
//!
//! Over a step Ċ is (C − Cⁿ)/Δt, Cⁿ being C at the step's start; Δt times the dissipation is the potential
//! ½ (τ/Δt) (C − Cⁿ)ᵀ S (C − Cⁿ), which joins the energy. It depends on C alone, so that rigid motion is not damped.

use super::Scaling;

/// Rayleigh damping of a Constraint during one step.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rayleigh {
    /// The relaxation time τ [s]: without inertia, a stretch dies away as exp(−t/τ). 0 for no damping.
    pub relaxation: f64,
}

impl Rayleigh {
    /// The potential [J] of one element, given C − Cⁿ.
    #[inline]
    pub fn potential<const M: usize>(&self, s: &Scaling<M>, change: &[f64; M], dt: f64) -> f64 {
        let force = s.times(change);
        0.5 * (self.relaxation / dt) * force.iter().zip(change).map(|(f, c)| f * c).sum::<f64>()
    }

    /// The share τ/Δt of S by which rows get stiffer; the rows' force is that share of S·(C − Cⁿ).
    #[inline]
    pub fn share(&self, dt: f64) -> f64 {
        self.relaxation / dt
    }
}
