//! What a user may choose of smoothed-aggregation multigrid, with defaults for pressure-like systems.

use super::grouping::{Grouping, NearNullSpace};
use crate::error::{Result, SolveError};

/// How errors that vary from row to row are taken away on every level.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Smoother {
    /// Gauss-Seidel, forward before and backward after the coarser level. Blocks of neighbouring rows have colours, and
    /// all blocks of a colour are swept at once, so that the order of rows is the same on any number of threads.
    GaussSeidel,
    /// A Chebyshev polynomial of this degree in D⁻¹·A (Adams, Brezina, Hu, Tuminaro 2003).
    Chebyshev(usize),
    /// The diagonal that is nearest to A⁻¹: aᵢᵢ / Σⱼ aᵢⱼ² (Bröker and Grote 2002, SPAI-0). Weakest, cheapest and, for one unknown per
    /// vertex, fastest.
    Spai0,
}

/// How the levels are visited.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cycle {
    /// Once down and once up.
    V,
    /// Two iterations of flexible CG on every coarser level (Notay and Vassilevski 2008). Sturdier and dearer. It is not
    /// quite linear: use it with `flexible_cg`.
    K,
}

/// The settings of [`Amg`](super::Amg).
#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    /// Which rows belong together: the components of one vertex.
    pub nodes: Grouping,
    /// Vectors that the matrix nearly sends to zero; coarse levels reproduce them exactly.
    pub near_null_space: NearNullSpace,
    /// Two nodes are strongly coupled if |aᵢⱼ| > strength · √(aᵢᵢ·aⱼⱼ), and if they are among the strongest of their couplings in any case.
    /// It is halved from level to level.
    pub strength: f64,
    /// What smooths.
    pub smoother: Smoother,
    /// Sweeps of it before and after each visit to the coarser level.
    pub sweeps: usize,
    /// How levels are visited.
    pub cycle: Cycle,
    /// A level with at most this many rows is solved directly.
    pub coarse_rows: usize,
    /// Most levels that are made.
    pub levels: usize,
    /// A coarse level is gathered on as few processes as still give each this many rows.
    pub rows_per_process: usize,
    /// [`Amg::refresh`](super::Amg::refresh) keeps the hierarchy as it is while no row of D⁻¹·(A − A₀) has a sum of magnitudes
    /// above this, where A₀ is the matrix that it was made from.
    pub keep_below: f64,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            nodes: Grouping::single(),
            near_null_space: NearNullSpace::Constant,
            strength: 0.08,
            smoother: Smoother::Spai0,
            sweeps: 1,
            cycle: Cycle::V,
            coarse_rows: 400,
            levels: 20,
            rows_per_process: 4096,
            keep_below: 0.1,
        }
    }
}

impl Settings {
    /// Settings for systems with `size` unknowns at each vertex, such as displacements.
    pub fn with_nodes(size: usize) -> Self {
        Self { nodes: Grouping::of(size), smoother: Smoother::GaussSeidel, ..Self::default() }
    }

    /// Refuses values that make no sense.
    pub(super) fn check(&self) -> Result<()> {
        let bad = |what: &str, found: String, wanted: &'static str| {
            Err(SolveError::BadValue { what: format!("{what} of SA-AMG"), found, wanted })
        };
        if !(0.0..1.0).contains(&self.strength) {
            return bad("the strength", self.strength.to_string(), "at least 0 and below 1");
        }
        if self.sweeps == 0 {
            return bad("the number of sweeps", "0".into(), "at least 1");
        }
        if self.coarse_rows == 0 || self.coarse_rows > 5000 {
            return bad("the size to solve directly", self.coarse_rows.to_string(), "1 to 5000");
        }
        if self.levels == 0 {
            return bad("the number of levels", "0".into(), "at least 1");
        }
        if let Smoother::Chebyshev(degree) = self.smoother
            && !(1..=16).contains(&degree)
        {
            return bad("the degree of Chebyshev smoothing", degree.to_string(), "1 to 16");
        }
        if self.keep_below.is_nan() || self.keep_below < 0.0 {
            return bad("the change to keep", self.keep_below.to_string(), "at least 0");
        }
        Ok(())
    }
}
