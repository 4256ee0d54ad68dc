//! Hard rows: B δu = −C by Lagrange multipliers, in the symmetric indefinite system
//!
//! ( A  Bᵀ ) ( δu )   (  f  )
//! ( B  0  ) ( −λ ) = ( −C  ).
//!
//! Rows and columns are scaled by the diagonal of A and of B diag(A)⁻¹ Bᵀ, so that stiffness and step size do not decide what
//! counts as a zero pivot. It is factored as L·D·Lᵀ in an order that eliminates each multiplier right after the last of the
//! unknowns it holds: since A is positive definite, its pivot is then never zero but for rows that say the same twice. Those,
//! and large systems, are for MINRES.

use super::error::Result;
use super::system::SystemSettings;
use undine_core::glam::DVec3;
use undine_linsolve::direct::{Direct, Kind, Ordering};
use undine_linsolve::krylov::minres;
use undine_linsolve::matrix::Nodes;
use undine_linsolve::precondition::BlockJacobi;
use undine_linsolve::{Csr, Matrix, Preconditioner, Report, SolveError};

/// Hard rows of all terms, one after another.
#[derive(Debug, Clone, Default)]
pub struct HardRows {
    /// Which of its term's rows each is.
    pub(super) places: Vec<usize>,
    /// C of each.
    pub(super) values: Vec<f64>,
    /// The multiplier of the iteration before.
    pub(super) guesses: Vec<f64>,
    /// Where each row's entries end.
    ends: Vec<usize>,
    nodes: Vec<u32>,
    gradients: Vec<DVec3>,
    /// The largest gradient of the row that is being made, before those on one node are added up.
    largest: f64,
}

/// A row whose gradients cancel to this share of themselves holds nothing, such as two places on one rigid body.
const CANCELLED: f64 = 1e-12;

impl HardRows {
    /// How many rows there are.
    pub(super) fn count(&self) -> usize {
        self.places.len()
    }

    /// Begins a row.
    pub(super) fn begin(&mut self, place: usize, value: f64, guess: f64) {
        self.places.push(place);
        self.values.push(value);
        self.guesses.push(guess);
    }

    /// Adds what the row has on a node.
    pub(super) fn push(&mut self, node: u32, gradient: DVec3) {
        self.largest = self.largest.max(gradient.length());
        let start = self.ends.last().copied().unwrap_or(0);
        match self.nodes[start..].iter().position(|&known| known == node) {
            Some(at) => self.gradients[start + at] += gradient,
            None => {
                self.nodes.push(node);
                self.gradients.push(gradient);
            }
        }
    }

    /// Ends a row. One that holds no unknown, or has no gradient here, is dropped: no multiplier can do anything for it.
    pub(super) fn end(&mut self) {
        let start = self.ends.last().copied().unwrap_or(0);
        let limit = CANCELLED * std::mem::take(&mut self.largest);
        if self.gradients[start..].iter().all(|gradient| gradient.length() <= limit) {
            self.nodes.truncate(start);
            self.gradients.truncate(start);
            self.places.pop();
            self.values.pop();
            self.guesses.pop();
        } else {
            self.ends.push(self.nodes.len());
        }
    }

    /// Adds rows behind these.
    pub(super) fn append(&mut self, other: &Self) {
        let first = self.nodes.len();
        self.places.extend(&other.places);
        self.values.extend(&other.values);
        self.guesses.extend(&other.guesses);
        self.ends.extend(other.ends.iter().map(|end| first + end));
        self.nodes.extend(&other.nodes);
        self.gradients.extend(&other.gradients);
    }

    /// The matrix B, the unknowns of a node beginning where `row_of` says.
    pub(super) fn matrix(
        &self,
        columns: usize,
        row_of: impl Fn(u32) -> usize + Sync,
    ) -> Result<Csr<f64>> {
        let b = Csr::from_rows(self.count(), columns, |row, out| {
            let start = if row == 0 { 0 } else { self.ends[row - 1] };
            for entry in start..self.ends[row] {
                let first = row_of(self.nodes[entry]);
                let gradient = self.gradients[entry].to_array();
                out.extend((0..3).map(|i| ((first + i) as u32, gradient[i])));
            }
        })?;
        Ok(b)
    }
}

/// A solved saddle system: δu, λ and how it went.
pub(super) struct SaddleSolution {
    pub du: Vec<f64>,
    pub lambda: Vec<f64>,
    pub report: Report,
}

/// Solves the saddle system of a symmetric positive definite A and hard rows.
pub(super) fn solve_saddle(
    a: &Csr<f64>,
    nodes: &Nodes,
    hard: &HardRows,
    row_of: impl Fn(u32) -> usize + Sync,
    force: &[f64],
    settings: &SystemSettings,
) -> Result<SaddleSolution> {
    let (n, m) = (a.rows(), hard.count());
    let b = hard.matrix(n, row_of)?;
    let scale = scales(a, &b)?;
    let matrix = saddle_matrix(a, &b, &scale)?;
    let values = hard.values.iter().map(|c| -c);
    let rhs: Vec<f64> = force
        .iter()
        .copied()
        .chain(values)
        .zip(&scale)
        .map(|(value, scale)| value * scale)
        .collect();
    let guesses = hard.guesses.iter().map(|lambda| -lambda);
    let guess = std::iter::repeat_n(0.0, n).chain(guesses);
    let mut x: Vec<f64> = guess.zip(&scale).map(|(value, scale)| value / scale).collect();

    let mut notes = Vec::new();
    let mut solved = None;
    if n + m <= settings.saddle_direct_rows {
        match factor_and_solve(a, &b, &matrix, &rhs, &mut x) {
            Ok(report) if report.converged() => solved = Some(report),
            Ok(report) => notes.push(format!("LDLᵀ: {report}")),
            Err(error) => notes.push(format!("LDLᵀ: {error}")),
        }
    }
    let mut report = match solved {
        Some(report) => report,
        None => {
            if !x.iter().all(|x| x.is_finite()) {
                x.fill(0.0);
            }
            let upper = Matrix::single(scaled(a, &scale)?)?;
            let blocks = BlockJacobi::new(&upper, nodes.starts())?;
            let whole = Matrix::single(matrix)?;
            minres(&whole, &mut Upper { blocks, rows: n }, &rhs, &mut x, &settings.stop)?
        }
    };
    report.notes.splice(0..0, notes);
    x.iter_mut().zip(&scale).for_each(|(x, scale)| *x *= scale);
    let lambda = x.split_off(n).into_iter().map(|x| -x).collect();
    Ok(SaddleSolution { du: x, lambda, report })
}

/// Factors as L·D·Lᵀ and substitutes.
fn factor_and_solve(
    a: &Csr<f64>,
    b: &Csr<f64>,
    matrix: &Csr<f64>,
    rhs: &[f64],
    x: &mut [f64],
) -> Result<Report, SolveError> {
    let ordering = Ordering::Given(multipliers_last(a, b)?);
    Direct::factor(matrix, Kind::Ldlt, &ordering)?.solve(rhs, x)
}

/// The order of A alone, each multiplier right behind the last unknown of its row. A's pattern has the products of hard rows
/// in it, because their elements have blocks there, so that its order suits the whole.
fn multipliers_last(a: &Csr<f64>, b: &Csr<f64>) -> Result<Vec<u32>, SolveError> {
    let (order, _) = Ordering::Automatic.order(a)?;
    let mut place = vec![0_u32; order.len()];
    order.iter().zip(0..).for_each(|(&row, at)| place[row as usize] = at);
    let unknowns = order.iter().zip(0_u32..).map(|(&row, at)| (at, 0, row));
    let multipliers = (0..b.rows()).map(|row| {
        let last = b.row(row).0.iter().map(|&column| place[column as usize]).max();
        (last.unwrap_or(0), 1, (a.rows() + row) as u32)
    });
    let mut all: Vec<(u32, u8, u32)> = unknowns.chain(multipliers).collect();
    all.sort_unstable();
    Ok(all.into_iter().map(|(_, _, row)| row).collect())
}

/// 1/√aᵢᵢ of unknowns, 1/√(Σ bᵢⱼ²/aⱼⱼ) of multipliers.
fn scales(a: &Csr<f64>, b: &Csr<f64>) -> Result<Vec<f64>, SolveError> {
    a.check_positive_diagonal("a saddle system")?;
    let diagonal = a.diagonal();
    let unknowns = diagonal.iter().map(|a| 1.0 / a.sqrt());
    let multipliers = (0..b.rows()).map(|row| {
        let (columns, values) = b.row(row);
        let terms = columns.iter().zip(values);
        let sum = terms.fold(0.0, |sum, (&column, b)| sum + b * b / diagonal[column as usize]);
        1.0 / sum.sqrt()
    });
    Ok(unknowns.chain(multipliers).collect())
}

/// The whole matrix, scaled. Multipliers have a zero on the diagonal, stored for those who look for one.
fn saddle_matrix(a: &Csr<f64>, b: &Csr<f64>, scale: &[f64]) -> Result<Csr<f64>, SolveError> {
    let (n, total) = (a.rows(), a.rows() + b.rows());
    let transposed = b.transpose();
    Csr::from_rows(total, total, |row, out| {
        let mut push = |first: usize, (columns, values): (&[u32], &[f64])| {
            for (&column, value) in columns.iter().zip(values) {
                let column = first + column as usize;
                out.push((column as u32, value * (scale[row] * scale[column])));
            }
        };
        if row < n {
            push(0, a.row(row));
            push(n, transposed.row(row));
        } else {
            push(0, b.row(row - n));
            out.push((row as u32, 0.0));
        }
    })
}

/// A, scaled.
fn scaled(a: &Csr<f64>, scale: &[f64]) -> Result<Csr<f64>, SolveError> {
    Csr::from_rows(a.rows(), a.rows(), |row, out| {
        let (columns, values) = a.row(row);
        out.extend(
            columns
                .iter()
                .zip(values)
                .map(|(&column, value)| (column, value * (scale[row] * scale[column as usize]))),
        );
    })
}

/// The inverse blocks of the diagonal of A; multipliers are scaled already.
struct Upper {
    blocks: BlockJacobi,
    rows: usize,
}

impl Preconditioner for Upper {
    fn name(&self) -> String {
        format!("{} and multipliers", self.blocks.name())
    }

    fn apply(&mut self, r: &[f64], z: &mut [f64]) -> Result<(), SolveError> {
        let (upper, lower) = z.split_at_mut(self.rows);
        lower.copy_from_slice(&r[self.rows..]);
        self.blocks.apply(&r[..self.rows], upper)
    }

    fn bytes(&self) -> u64 {
        self.blocks.bytes()
    }
}
