//! The checks that every Constraint passes, in one call: `check_constraint(&constraint, &element, &at)`.
//!
//! - ∇C, the curvature and the derivatives by parameters agree with central differences;
//! - rows that do not read frames do not depend on them;
//! - C does not change when all particles move rigidly, so that forces and torques of an element add up to nothing;
//! - S is symmetric and has no negative eigenvalue;
//! - nothing is NaN or infinite.

use super::project::eigen;
use super::{Constraint, Placed, Scaling};
use crate::newton::rotation::exp;
use undine_core::glam::{DMat3, DVec3};

/// What to ask of a Constraint.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Checks {
    /// Whether C stays the same when all particles move rigidly. A Constraint with a fixed place or direction says no.
    pub invariant: bool,
    /// The step of differences, as a share of the element's size.
    pub step: f64,
    /// By how much a derivative may differ from its difference, as a share of the largest of its kind.
    pub tolerance: f64,
}

impl Default for Checks {
    fn default() -> Self {
        Self { invariant: true, step: 1e-5, tolerance: 1e-7 }
    }
}

/// What a Constraint got wrong.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{check} ({place}) is {found}, but must be {wanted} within {tolerance:e}")]
pub struct Fault {
    /// Which check.
    pub check: &'static str,
    /// Of which row, particle, parameter.
    pub place: String,
    /// What the Constraint gave.
    pub found: f64,
    /// What it should have given.
    pub wanted: f64,
    /// The difference that is allowed.
    pub tolerance: f64,
}

/// Checks a Constraint for one element and one placement of its particles, with the usual demands.
pub fn check_constraint<C: Constraint<M, N>, const M: usize, const N: usize>(
    constraint: &C,
    element: &C::Element,
    at: &[Placed; N],
) -> Result<(), Fault> {
    check_constraint_with(constraint, element, at, &Checks::default())
}

/// The same, with demands of one's own.
pub fn check_constraint_with<C: Constraint<M, N>, const M: usize, const N: usize>(
    constraint: &C,
    element: &C::Element,
    at: &[Placed; N],
    checks: &Checks,
) -> Result<(), Fault> {
    let bench = Bench { constraint, element, at, checks, size: size(at) };
    bench.gradient()?;
    bench.curvature()?;
    if checks.invariant {
        bench.rigid_motion()?;
        bench.momentum()?;
    }
    bench.scaling()?;
    bench.parameters()
}

struct Bench<'a, C: Constraint<M, N>, const M: usize, const N: usize> {
    constraint: &'a C,
    element: &'a C::Element,
    at: &'a [Placed; N],
    checks: &'a Checks,
    /// The extent of the particles [m].
    size: f64,
}

impl<C: Constraint<M, N>, const M: usize, const N: usize> Bench<'_, C, M, N> {
    /// ∇C by central differences of C.
    fn gradient(&self) -> Result<(), Fault> {
        let rows = self.constraint.evaluate(self.element, self.at);
        let h = self.checks.step * self.size;
        let slopes = rows.by_position.iter().flatten().map(|g| g.abs().max_element());
        let tolerance = self.tolerance(slopes, h);
        for n in 0..N {
            for axis in 0..3 {
                let values = self.difference(|at, sign| at[n].x[axis] += sign * h);
                for (m, value) in values.iter().enumerate() {
                    let place = || format!("row {m}, particle {n}, axis {axis}");
                    let found = rows.by_position[m][n][axis];
                    expect("∂C/∂x", place, found, value / (2.0 * h), tolerance)?;
                }
            }
        }
        // Frames have entries of about 1.
        let h = self.checks.step;
        let slopes = rows.by_frame.iter().flatten().flat_map(DMat3::to_cols_array).map(f64::abs);
        let tolerance = self.tolerance(slopes, h);
        for n in 0..N {
            for entry in 0..9 {
                let (column, row) = (entry / 3, entry % 3);
                let values =
                    self.difference(|at, sign| at[n].frame.col_mut(column)[row] += sign * h);
                for (m, value) in values.iter().enumerate() {
                    let place = || format!("row {m}, particle {n}, entry ({row}, {column})");
                    let stated = rows.by_frame[m][n].col(column)[row];
                    let found = if C::FRAMES { stated } else { 0.0 };
                    expect("∂C/∂F", place, found, value / (2.0 * h), tolerance)?;
                }
            }
        }
        Ok(())
    }

    /// The curvature by central differences of ∇C, for weights of both signs.
    fn curvature(&self) -> Result<(), Fault> {
        let weights: [f64; M] = std::array::from_fn(|m| (1.0 + 1.7 * m as f64).cos());
        let Some(curvature) = self.constraint.curvature(self.element, self.at, &weights) else {
            return Ok(());
        };
        let h = self.checks.step * self.size;
        let entries = curvature.iter().flatten().flat_map(DMat3::to_cols_array).map(f64::abs);
        let tolerance = self.tolerance(entries, h);
        for b in 0..N {
            for j in 0..3 {
                let gradient = |sign: f64| {
                    let mut at = *self.at;
                    at[b].x[j] += sign * h;
                    self.constraint.evaluate(self.element, &at).by_position
                };
                let (plus, minus) = (gradient(1.0), gradient(-1.0));
                for a in 0..N {
                    let change = |m: usize| (plus[m][a] - minus[m][a]) * weights[m];
                    let wanted = (0..M).fold(DVec3::ZERO, |sum, m| sum + change(m)) / (2.0 * h);
                    for i in 0..3 {
                        let place = || format!("particles {a}, {b}, entry ({i}, {j})");
                        let found = curvature[a][b].col(j)[i];
                        expect("∂²C/∂x∂x", place, found, wanted[i], tolerance)?;
                    }
                }
            }
        }
        Ok(())
    }

    /// C of the particles moved rigidly.
    fn rigid_motion(&self) -> Result<(), Fault> {
        let still = self.constraint.evaluate(self.element, self.at).value;
        let (turn, shift) =
            (exp(DVec3::new(0.3, -0.5, 0.7)), DVec3::new(1.0, -2.0, 0.5) * self.size);
        let moved =
            self.at.map(|placed| Placed { x: turn * placed.x + shift, frame: turn * placed.frame });
        let value = self.constraint.evaluate(self.element, &moved).value;
        let tolerance = self.tolerance(still.iter().map(|c| c.abs()), 1.0);
        for m in 0..M {
            let place = || format!("row {m}");
            expect("C after a rigid motion", place, value[m], still[m], tolerance)?;
        }
        Ok(())
    }

    /// That the forces of each row add up to no force, and to no torque about the first particle.
    fn momentum(&self) -> Result<(), Fault> {
        let rows = self.constraint.evaluate(self.element, self.at);
        let Some(origin) = self.at.first().map(|placed| placed.x) else { return Ok(()) };
        for m in 0..M {
            let (mut force, mut torque, mut scale) = (DVec3::ZERO, DVec3::ZERO, 0.0);
            for n in 0..N {
                let g = rows.by_position[m][n];
                force += g;
                torque += (self.at[n].x - origin).cross(g);
                scale += g.length() * (self.size + self.at[n].x.length());
                if C::FRAMES {
                    for k in 0..3 {
                        let (frame, by) = (self.at[n].frame.col(k), rows.by_frame[m][n].col(k));
                        torque += frame.cross(by);
                        scale += frame.length() * by.length();
                    }
                }
            }
            let tolerance = 1e-13 * scale;
            for axis in 0..3 {
                let place = || format!("row {m}, axis {axis}");
                expect("the sum of forces", place, force[axis], 0.0, tolerance / self.size)?;
                expect("the sum of torques", place, torque[axis], 0.0, tolerance)?;
            }
        }
        Ok(())
    }

    /// That S is symmetric and has no negative eigenvalue.
    fn scaling(&self) -> Result<(), Fault> {
        match self.constraint.scaling(self.element) {
            Scaling::Diagonal(s) => (0..M).try_for_each(|m| {
                let wanted = if s[m] >= 0.0 { s[m] } else { 0.0 };
                let found = if s[m].is_nan() { f64::NAN } else { s[m].min(f64::MAX) };
                let place = || format!("row {m}");
                expect("an eigenvalue of S", place, found, wanted.min(f64::MAX), 0.0)
            }),
            Scaling::Full(s) => {
                let scale = s.iter().flatten().fold(0.0_f64, |scale, s| scale.max(s.abs()));
                for (m, row) in s.iter().enumerate() {
                    for (other, &here) in row.iter().enumerate() {
                        let place = || format!("({m}, {other})");
                        expect("S", place, here, s[other][m], 1e-14 * scale)?;
                    }
                }
                let (values, _) = eigen(&s, M);
                (0..M).try_for_each(|m| {
                    let place = || format!("number {m}");
                    let wanted = values[m].max(0.0);
                    expect("an eigenvalue of S", place, values[m], wanted, 1e-12 * scale)
                })
            }
        }
    }

    /// ∂C/∂p and ∂S/∂p by central differences.
    fn parameters(&self) -> Result<(), Fault> {
        for parameter in 0..C::PARAMETERS {
            let stated = self.constraint.by_parameter(self.element, self.at, parameter);
            let mut element = *self.element;
            let value = self.constraint.parameter(&mut element, parameter).map(|value| *value);
            let (Some(stated), Some(value)) = (stated, value) else {
                let place = || format!("parameter {parameter}");
                return expect("the number of parameters", place, f64::NAN, 0.0, 0.0);
            };
            let h = self.checks.step * value.abs().max(1e-3);
            let with = |sign: f64| {
                let mut element = *self.element;
                if let Some(value) = self.constraint.parameter(&mut element, parameter) {
                    *value += sign * h;
                }
                element
            };
            let (plus, minus) = (with(1.0), with(-1.0));
            let value = |element| self.constraint.evaluate(element, self.at).value;
            let (c_plus, c_minus) = (value(&plus), value(&minus));
            let tolerance = self.tolerance(stated.value.iter().map(|c| c.abs()), h);
            for m in 0..M {
                let place = || format!("row {m}, parameter {parameter}");
                let wanted = (c_plus[m] - c_minus[m]) / (2.0 * h);
                expect("∂C/∂p", place, stated.value[m], wanted, tolerance)?;
            }
            let scaling = |element| self.constraint.scaling(element);
            let (s_plus, s_minus) = (scaling(&plus), scaling(&minus));
            for m in 0..M {
                for other in 0..M {
                    let place = || format!("({m}, {other}), parameter {parameter}");
                    let (p, q) = (entry(&s_plus, m, other), entry(&s_minus, m, other));
                    let wanted = if p == q { 0.0 } else { (p - q) / (2.0 * h) };
                    let found = stated.scaling.as_ref().map_or(0.0, |s| entry(s, m, other));
                    let tolerance = self.checks.tolerance * wanted.abs().max(found.abs());
                    expect("∂S/∂p", place, found, wanted, tolerance + 1e-14 * p.abs() / h)?;
                }
            }
        }
        Ok(())
    }

    /// C at +1 minus C at −1 of a change.
    fn difference(&self, change: impl Fn(&mut [Placed; N], f64)) -> [f64; M] {
        let value = |sign: f64| {
            let mut at = *self.at;
            change(&mut at, sign);
            self.constraint.evaluate(self.element, &at).value
        };
        let (plus, minus) = (value(1.0), value(-1.0));
        std::array::from_fn(|m| plus[m] - minus[m])
    }

    /// What differences over h may be off by: a share of the largest value, and the rounding of positions.
    fn tolerance(&self, values: impl Iterator<Item = f64>, h: f64) -> f64 {
        let largest = values.fold(0.0, f64::max);
        let far = self.at.iter().fold(self.size, |far, placed| far.max(placed.x.length()));
        self.checks.tolerance * largest.max(1e-3) + 1e-14 * (far + 1.0) / h.min(1.0)
    }
}

fn entry<const M: usize>(scaling: &Scaling<M>, row: usize, column: usize) -> f64 {
    match scaling {
        Scaling::Diagonal(s) if row == column => s[row],
        Scaling::Diagonal(_) => 0.0,
        Scaling::Full(s) => s[row][column],
    }
}

/// The extent of some particles; 1 if they are all in one place.
fn size<const N: usize>(at: &[Placed; N]) -> f64 {
    let first = at.first().map_or(DVec3::ZERO, |placed| placed.x);
    let size = at.iter().fold(0.0, |size: f64, placed| size.max(placed.x.distance(first)));
    if size > 0.0 { size } else { 1.0 }
}

/// That two numbers agree; NaN agrees with nothing.
fn expect(
    check: &'static str,
    place: impl Fn() -> String,
    found: f64,
    wanted: f64,
    tolerance: f64,
) -> Result<(), Fault> {
    match (found - wanted).abs() <= tolerance {
        true => Ok(()),
        false => Err(Fault { check, place: place(), found, wanted, tolerance }),
    }
}
