//! Rigid bodies in the pressure system: for each a term J·M⁻¹·Jᵀ (Batty, Bertails and Bridson, "A fast variational framework for
//! accurate solid-fluid coupling", 2007).
//!
//! Jᵀ·p is the force and torque of the pressure on a body, M⁻¹·Jᵀ·p its acceleration, and J times that is what the body's
//! surface then pushes into each cell. The terms add to A a matrix of rank six for each body, symmetric and positive
//! semi-definite. It is applied exactly: gather six sums, spread six numbers.

use super::constants::Constants;
use super::csr::PressureMatrix;
use super::deflate::{Deflated, LIGHT};
use super::half::{VOXELS, voxel};
use super::level::Level;
use super::small;
use super::system::{PressureSystem, check_vectors, clear_rounding};
use crate::error::{Result, SolveError};
use crate::krylov::cg;
use crate::matrix::{Csr, Matrix};
use crate::operator::Operator;
use crate::report::{Report, Stop};
use crate::rows::Rows;
use rayon::prelude::*;
use std::time::Instant;

/// What a body can do: three ways to move, and three to turn.
pub const MOTIONS: usize = 6;

/// A row of J: the force and torque of a unit of pressure in one cell.
pub type Motion = [f64; MOTIONS];

/// Cells that one task gathers from.
const CHUNK: usize = 2048;

/// A rigid body that touches liquid.
#[derive(Debug, Clone, PartialEq)]
pub struct RigidTerm {
    /// J: by entry of a vector over the pressure system, the force [N] and torque [N·m] of a unit of pressure [Pa] in that
    /// cell: the sums of −A·n and −(r × n)·A over the body's part of the cell's faces, A its area, n its normal out of the
    /// body and r the way from the body's centre. In any order; each process gives its own cells.
    pub cells: Vec<(u32, Motion)>,
    /// M⁻¹, the same on all processes: acceleration by force. Motions that the body is not free to make have rows and columns of zeros.
    pub inverse_mass: [Motion; MOTIONS],
    /// What J·M⁻¹·Jᵀ is multiplied by to fit the equations: with a `scale` of Δt/Δx² for faces, Δt/Δx³.
    pub scale: f64,
}

impl RigidTerm {
    /// M⁻¹ of a free body by its mass [kg] and its inertia about its centre of mass [kg·m²].
    pub fn free(mass: f64, inertia: [[f64; 3]; 3]) -> Result<[Motion; MOTIONS]> {
        let i = inertia;
        let minor = |a: usize, b: usize| {
            let (a1, a2, b1, b2) = ((a + 1) % 3, (a + 2) % 3, (b + 1) % 3, (b + 2) % 3);
            i[a1][b1] * i[a2][b2] - i[a1][b2] * i[a2][b1]
        };
        let determinant: f64 = (0..3).map(|n| i[0][n] * minor(0, n)).sum();
        let mut inverse = [[0.0; MOTIONS]; MOTIONS];
        for a in 0..3 {
            inverse[a][a] = 1.0 / mass;
            (0..3).for_each(|b| inverse[3 + a][3 + b] = minor(b, a) / determinant);
        }
        let sound = mass > 0.0 && determinant > 0.0 && root(&inverse).is_some();
        sound.then_some(inverse).ok_or_else(|| SolveError::BadValue {
            what: "the mass and inertia of a rigid body".into(),
            found: format!("{mass} and {inertia:?}"),
            wanted: "positive, and symmetric and positive definite",
        })
    }
}

/// L with M⁻¹ = L·Lᵀ.
fn root(inverse_mass: &[Motion; MOTIONS]) -> Option<[Motion; MOTIONS]> {
    let flat = inverse_mass.as_flattened();
    let symmetric = (0..MOTIONS).all(|i| {
        (0..i).all(|j| {
            let (a, b) = (inverse_mass[i][j], inverse_mass[j][i]);
            (a - b).abs() <= 1e-9 * (inverse_mass[i][i] * inverse_mass[j][j]).abs().sqrt()
        })
    });
    let l = symmetric.then(|| small::cholesky(flat, MOTIONS))??;
    Some(std::array::from_fn(|i| std::array::from_fn(|j| l[i * MOTIONS + j])))
}

/// A body as the operator needs it: U·Uᵀ = scale·J·M⁻¹·Jᵀ.
#[derive(Debug)]
pub(super) struct Body {
    /// Ascending.
    pub entries: Vec<u32>,
    /// U by cell.
    pub columns: Vec<Motion>,
    /// √scale·L.
    root: [Motion; MOTIONS],
    scale: f64,
}

impl Body {
    fn new(n: usize, term: RigidTerm, system: &PressureSystem) -> Result<Self> {
        let bad = |what: String, found: String, wanted: &'static str| {
            Err(SolveError::BadValue { what, found, wanted })
        };
        if !(term.scale.is_finite() && term.scale > 0.0) {
            return bad(format!("the scale of body {n}"), term.scale.to_string(), "positive");
        }
        let Some(mut root) = root(&term.inverse_mass) else {
            let found = format!("{:?}", term.inverse_mass);
            let wanted = "symmetric and positive semi-definite";
            return bad(format!("the inverse mass of body {n}"), found, wanted);
        };
        root.as_flattened_mut().iter_mut().for_each(|entry| *entry *= term.scale.sqrt());
        let mut cells = term.cells;
        cells.sort_by_key(|&(entry, _)| entry);
        let mut body = Self { entries: Vec::new(), columns: Vec::new(), root, scale: term.scale };
        for (entry, forces) in cells {
            if !system.has_equation(entry as usize) {
                let found = format!("entry {entry}");
                return bad(format!("a cell of body {n}"), found, "one with an equation");
            }
            if let Some(force) = forces.iter().find(|force| !force.is_finite()) {
                let what = format!("the force of entry {entry} on body {n}");
                return bad(what, force.to_string(), "finite");
            }
            let column: Motion =
                std::array::from_fn(|k| (0..MOTIONS).map(|i| forces[i] * root[i][k]).sum());
            if body.entries.last() != Some(&entry) {
                body.entries.push(entry);
                body.columns.push([0.0; MOTIONS]);
            }
            if let Some(last) = body.columns.last_mut() {
                last.iter_mut().zip(column).for_each(|(last, column)| *last += column);
            }
        }
        Ok(body)
    }

    /// Uᵀ·x of the local rows, always added in the same order.
    pub fn gather(&self, x: &[f64]) -> Motion {
        let chunk = |(entries, columns): (&[u32], &[Motion])| {
            let mut sums = [0.0; MOTIONS];
            for (&entry, column) in entries.iter().zip(columns) {
                let x = x[entry as usize];
                sums.iter_mut().zip(column).for_each(|(sum, u)| *sum += u * x);
            }
            sums
        };
        let chunks = self.entries.par_chunks(CHUNK).zip(self.columns.par_chunks(CHUNK));
        let sums: Vec<Motion> = chunks.map(chunk).collect();
        sums.into_iter().fold([0.0; MOTIONS], |a, b| std::array::from_fn(|k| a[k] + b[k]))
    }

    /// How many cells the body touches, and by motion Σ u²/d over them, d being the diagonal of the system.
    pub fn weigh(&self, level: &Level) -> [f64; MOTIONS + 1] {
        let mut sums = [0.0; MOTIONS + 1];
        for (&entry, column) in self.entries.iter().zip(&self.columns) {
            let (bucket, place) = (entry as usize / VOXELS, entry as usize % VOXELS);
            let inverse = 1.0 / level.diagonal(bucket, voxel(place));
            sums[MOTIONS] += 1.0;
            sums.iter_mut().zip(column).for_each(|(sum, u)| *sum += u * u * inverse);
        }
        sums
    }

    /// y ← y + U·s.
    pub fn spread(&self, s: &[f64], y: &mut [f64]) {
        for (&entry, column) in self.entries.iter().zip(&self.columns) {
            y[entry as usize] += column.iter().zip(s).map(|(u, s)| u * s).sum::<f64>();
        }
    }
}

/// A pressure system with rigid bodies in it.
pub struct Coupled<'a> {
    system: &'a PressureSystem,
    bodies: Vec<Body>,
    constants: Constants,
    setup_seconds: f64,
}

impl<'a> Coupled<'a> {
    /// Adds bodies to a system: as many on all processes, in the same order. Collective.
    ///
    /// Refuses cells without an equation, forces that are not finite, and masses that are not positive.
    pub fn new(system: &'a PressureSystem, bodies: Vec<RigidTerm>) -> Result<Self> {
        let started = Instant::now();
        let rows = system.rows();
        let number = |(n, term)| Body::new(n, term, system);
        let bodies: Result<Vec<Body>> = bodies.into_iter().enumerate().map(number).collect();
        let bodies = rows.all_agree(bodies)?;
        let constants = Constants::new(system, &bodies)?;
        let setup_seconds = started.elapsed().as_secs_f64();
        Ok(Self { system, bodies, constants, setup_seconds })
    }

    /// The system without its bodies.
    pub fn system(&self) -> &'a PressureSystem {
        self.system
    }

    /// How many independent pressures nothing holds: what [`PressureSystem::closed_regions`] counts, less those that bodies hold.
    pub fn null_vectors(&self) -> usize {
        self.system.closed_regions() - self.constants.held().len()
    }

    /// The multigrid cycle of the system, corrected for motions of bodies in which the liquid that goes along is estimated to weigh
    /// more than `light` times the body. Each costs a cycle. Collective.
    ///
    /// [`LIGHT`] is best if it is for a single solve; something near 0.5 if several share it.
    pub fn preconditioner(&self, light: f64) -> Result<Deflated<'_>> {
        Deflated::new(self, light)
    }

    /// Solves the system by CG with that preconditioner. `x` goes in as a first guess. Collective.
    ///
    /// What of the right-hand side lies along null vectors is taken out first, and the report says how much; the pressure has
    /// nothing along them.
    pub fn solve(&self, b: &[f64], x: &mut [f64], stop: &Stop) -> Result<Report> {
        let rows = self.rows();
        check_vectors(rows, b, x)?;
        let started = Instant::now();
        let mut preconditioner = self.preconditioner(LIGHT)?;
        let setup_seconds = self.setup_seconds + started.elapsed().as_secs_f64();
        let mut reachable = b.to_vec();
        self.project(&mut reachable)?;
        clear_rounding(rows, b, &mut reachable)?;
        self.project(x)?;
        let mut report = cg(self, &mut preconditioner, &reachable, x, stop)?;
        self.project(x)?;
        if self.is_singular() {
            let taken = b.iter().zip(&reachable).map(|(b, reachable)| (b - reachable).powi(2));
            let taken = rows.sum(taken.sum())?.sqrt();
            report.notes.push(format!(
                "{} null vectors: {taken:.3e} along them taken out of the right-hand side",
                self.null_vectors()
            ));
        }
        Ok(Report { setup_seconds, ..report })
    }

    /// By body: M⁻¹·Jᵀ·p, the acceleration that a pressure gives it, in its six motions. Collective.
    pub fn accelerations(&self, p: &[f64]) -> Result<Vec<Motion>> {
        let sums = self.gather(p)?;
        let body = |(body, sums): (&Body, &Motion)| {
            body.root.map(|row| row.iter().zip(sums).map(|(l, s)| l * s).sum::<f64>() / body.scale)
        };
        Ok(self.bodies.iter().zip(sums.as_chunks().0).map(body).collect())
    }

    /// The system with its bodies as a sparse matrix. All cells of a body are linked to each other, so that this is for small
    /// systems. Collective.
    pub fn to_csr(&self) -> Result<PressureMatrix> {
        let PressureMatrix { matrix, entries } = self.system.to_csr()?;
        let rows = matrix.shared_rows();
        let numbers = rows.numbers()?;
        let mut row_of = vec![0; self.rows().local()];
        for (row, &entry) in entries.iter().enumerate() {
            row_of[entry as usize] = row;
        }
        // By local row and number of the column among all.
        let mut links = Vec::new();
        for row in 0..entries.len() {
            let (columns, values) = matrix.csr().row(row);
            let link = |(&column, &value): (&u32, &f64)| (row, numbers[column as usize], value);
            links.extend(columns.iter().zip(values).map(link));
        }
        for body in &self.bodies {
            let own: Vec<usize> =
                body.entries.iter().map(|&entry| row_of[entry as usize]).collect();
            let numbers: Vec<u64> = own.iter().map(|&row| numbers[row]).collect();
            let numbers = rows.processes().all_gather_values(&numbers)?.concat();
            let columns = rows.processes().all_gather_values(&body.columns)?.concat();
            for (&row, here) in own.iter().zip(&body.columns) {
                for (&number, there) in numbers.iter().zip(&columns) {
                    let value: f64 = here.iter().zip(there).map(|(a, b)| a * b).sum();
                    links.push((row, number, value));
                }
            }
        }
        let own = rows.first()..rows.first() + entries.len() as u64;
        let mut foreign: Vec<u64> = links.iter().map(|&(_, number, _)| number).collect();
        foreign.retain(|number| !own.contains(number));
        foreign.sort_unstable();
        foreign.dedup();
        let column = |number: u64| match own.contains(&number) {
            true => (number - own.start) as usize,
            false => entries.len() + foreign.partition_point(|&other| other < number),
        };
        let triplets = links.iter().map(|&(row, number, value)| (row, column(number), value));
        let csr = Csr::from_triplets(entries.len(), entries.len() + foreign.len(), triplets)?;
        let rows = Rows::distributed(rows.processes().clone(), entries.len(), &foreign)?;
        Ok(PressureMatrix { matrix: Matrix::new(rows, csr)?, entries })
    }

    pub(super) fn bodies(&self) -> &[Body] {
        &self.bodies
    }

    pub(super) fn constants(&self) -> &Constants {
        &self.constants
    }

    /// Uᵀ·x of all bodies. Collective.
    pub(super) fn gather(&self, x: &[f64]) -> Result<Vec<f64>> {
        let mut sums: Vec<f64> = self.bodies.iter().flat_map(|body| body.gather(x)).collect();
        self.rows().processes().all_sum_f64s(&mut sums)?;
        Ok(sums)
    }
}

impl std::fmt::Debug for Coupled<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Coupled")
            .field("system", self.system)
            .field("bodies", &self.bodies.len())
            .finish_non_exhaustive()
    }
}

impl Operator for Coupled<'_> {
    fn rows(&self) -> &Rows {
        self.system.rows()
    }

    fn apply(&self, x: &mut [f64], y: &mut [f64]) -> Result<()> {
        self.apply_dot(x, y).map(|_| ())
    }

    fn apply_dot(&self, x: &mut [f64], y: &mut [f64]) -> Result<f64> {
        let dot = self.system.apply_dot(x, y)?;
        let sums = self.gather(x)?;
        for (body, sums) in self.bodies.iter().zip(sums.chunks(MOTIONS)) {
            body.spread(sums, y);
        }
        // x·U·Uᵀ·x
        Ok(dot + sums.iter().map(|sum| sum * sum).sum::<f64>())
    }

    fn is_singular(&self) -> bool {
        self.null_vectors() > 0
    }

    fn project(&self, x: &mut [f64]) -> Result<()> {
        if !self.is_singular() {
            return Ok(());
        }
        // Out with all constants, and back with those that bodies hold.
        let regions = self.system.regions();
        let sums = regions.project(x, self.rows())?;
        regions.add(&self.constants.combine(&sums, |_| 1.0), x);
        Ok(())
    }

    fn bytes(&self) -> u64 {
        let body = |body: &Body| size_of_val(&body.entries[..]) + size_of_val(&body.columns[..]);
        self.system.bytes() + self.bodies.iter().map(body).sum::<usize>() as u64
    }
}
