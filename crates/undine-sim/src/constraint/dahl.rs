//! Dahl friction for any Constraint: hysteresis that does not depend on speed (P. R. Dahl 1968, *A solid friction model*; for
//! cloth Miguel et al. 2013, *Modeling and estimation of internal friction in cloth*; with C in place of strain, Loki §6.3).
//!
//! Each row carries a friction force F between steps. While C moves in one direction, s = ±1, F tends to s·F_c as
//! dF/dC = (F_c − s·F)/ℓ. Over a step that has the closed form
//!
//! F(C) = s F_c + (Fⁿ − s F_c) exp(−|C − Cⁿ|/ℓ),   s = sign(C − Cⁿ),
//!
//! which never decreases in C. So it is the derivative of a convex potential, which joins the energy of the step. Since the
//! form is exact, a path costs the same in one step as in many.

/// Dahl friction of a row.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Dahl {
    /// The friction limit F_c, in the unit of the row's force S·C; for a spring [N]. 0 for no friction.
    pub limit: f64,
    /// The transition length ℓ, in the unit of C: after a turn of direction, friction comes within 1/e of its limit over it.
    pub length: f64,
}

/// What friction does in a row.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Friction {
    /// The friction force, against which C moves on.
    pub force: f64,
    /// Its derivative by C, never negative.
    pub stiffness: f64,
    /// ∫ F dC over the step so far: potential of the step, in the unit of force times C.
    pub potential: f64,
}

impl Dahl {
    /// The friction after C has changed by `change` within a step that began with the friction force `before`.
    ///
    /// At rest, where the two directions have different derivatives, the larger is given: a step that assumes it does not
    /// overshoot.
    #[inline]
    pub fn after(&self, before: f64, change: f64) -> Friction {
        let Self { limit, length } = *self;
        if limit <= 0.0 {
            return Friction { force: 0.0, stiffness: 0.0, potential: 0.0 };
        }
        let before = before.clamp(-limit, limit);
        if change == 0.0 {
            let stiffness = (limit + before.abs()) / length;
            return Friction { force: before, stiffness, potential: 0.0 };
        }
        let s = change.signum();
        let path = change.abs() / length;
        let decay = (-path).exp();
        Friction {
            force: s * limit + (before - s * limit) * decay,
            stiffness: (limit - s * before) / length * decay,
            // 1 − exp(−path), without cancellation for small steps.
            potential: limit * change.abs() - (limit - s * before) * length * -(-path).exp_m1(),
        }
    }
}
