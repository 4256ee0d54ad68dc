//! A system restricted to its free rows, the others held where they are: P·A·P, and P·M⁻¹·P to precondition it.

use crate::error::Result;
use crate::operator::{Operator, Preconditioner};
use crate::rows::Rows;
use crate::vector;

/// P·A·P for vectors that are zero on rows that are not free: then P need not be applied before A.
pub(super) struct Restricted<'a> {
    pub operator: &'a dyn Operator,
    pub free: &'a [bool],
    /// Whether all rows of all processes are free.
    pub all_free: bool,
}

impl Operator for Restricted<'_> {
    fn rows(&self) -> &Rows {
        self.operator.rows()
    }

    fn apply(&self, x: &mut [f64], y: &mut [f64]) -> Result<()> {
        self.operator.apply(x, y)?;
        self.mask(y);
        Ok(())
    }

    fn apply_dot(&self, x: &mut [f64], y: &mut [f64]) -> Result<f64> {
        let product = self.operator.apply_dot(x, y)?;
        self.mask(y);
        Ok(product)
    }

    fn is_singular(&self) -> bool {
        // One row that is held takes a null space away, or makes it unknown; CG copes with either.
        self.all_free && self.operator.is_singular()
    }

    fn project(&self, x: &mut [f64]) -> Result<()> {
        self.operator.project(x)
    }

    fn bytes(&self) -> u64 {
        self.operator.bytes() + self.free.len() as u64
    }
}

impl Restricted<'_> {
    fn mask(&self, y: &mut [f64]) {
        if !self.all_free {
            mask(self.free, y);
        }
    }
}

/// P·M⁻¹·P for residuals that are zero on rows that are not free.
pub(super) struct Masked<'a> {
    pub preconditioner: &'a mut dyn Preconditioner,
    pub free: &'a [bool],
}

impl Preconditioner for Masked<'_> {
    fn name(&self) -> String {
        self.preconditioner.name()
    }

    fn apply(&mut self, r: &[f64], z: &mut [f64]) -> Result<()> {
        self.preconditioner.apply(r, z)?;
        mask(self.free, z);
        Ok(())
    }

    fn bytes(&self) -> u64 {
        self.preconditioner.bytes()
    }
}

/// Zero on rows that are not free.
pub(super) fn mask(free: &[bool], y: &mut [f64]) {
    vector::for_chunks(y, |start, y| {
        for (y, &free) in y.iter_mut().zip(&free[start..]) {
            *y = if free { *y } else { 0.0 };
        }
    });
}
