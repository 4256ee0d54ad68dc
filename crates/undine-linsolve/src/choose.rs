//! Choosing: one function that looks at a system, picks a method, solves, and says why it did so.
//!
//! | the system | the method |
//! |---|---|
//! | a few thousand rows | direct |
//! | not symmetric | BiCGStab with block Jacobi |
//! | symmetric, a diagonal entry not positive, or said to be indefinite | MINRES with block Jacobi |
//! | several Objects, loosely tied | manybodies |
//! | a diagonal that outweighs its row | CG with Jacobi |
//! | all others: fields | CG with SA-AMG |
//!
//! What does not converge is solved directly, as long as memory lasts. The fluids' pressure does not come here: it has
//! multigrid of its own ([`pressure`](crate::pressure)).

use crate::amg::{Amg, Grouping, NearNullSpace, Settings};
use crate::direct::{self, solve_direct};
use crate::error::{Result, SolveError};
use crate::krylov::{bicgstab, cg, minres};
use crate::manybodies::{Blocks, Manybodies};
use crate::matrix::{Matrix, Nodes};
use crate::operator::{Operator, Preconditioner};
use crate::precondition::{BlockJacobi, IncompleteCholesky, Jacobi};
use crate::report::{Report, Stop};
use rayon::prelude::*;
use std::fmt;
use std::str::FromStr;
use std::time::Instant;

/// Systems of at most this many rows are solved directly: a factorisation takes milliseconds.
const SMALL: u64 = 3000;

/// A row is dominated by its diagonal if the others' magnitudes come to at most this share of it.
const DOMINANT: f64 = 0.6;

/// Objects are loosely tied if at most this share of the entries lies between them.
const LOOSE: f64 = 0.5;

/// Mirrored entries may differ by this share of the larger.
const SYMMETRY: f64 = 1e-10;

/// Bytes of an entry of a factor, with its share of the structure.
const BYTES_PER_ENTRY: u64 = 12;

/// How to solve a system. [`FromStr`] and [`fmt::Display`] use the names of scene files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Method {
    /// The one that suits the system.
    #[default]
    Auto,
    /// Factoring it.
    Direct,
    /// CG, every Object's block factored.
    Manybodies,
    /// CG with smoothed-aggregation multigrid.
    SaAmg,
    /// CG with incomplete Cholesky.
    IncompleteCholesky,
    /// CG with the diagonal.
    Jacobi,
    /// MINRES with block Jacobi.
    Minres,
    /// BiCGStab with block Jacobi.
    BiCgStab,
}

/// All methods, by the name of scene files.
const METHODS: [(&str, Method); 8] = [
    ("auto", Method::Auto),
    ("direct", Method::Direct),
    ("manybodies", Method::Manybodies),
    ("sa-amg", Method::SaAmg),
    ("incomplete-cholesky", Method::IncompleteCholesky),
    ("jacobi", Method::Jacobi),
    ("minres", Method::Minres),
    ("bicgstab", Method::BiCgStab),
];

impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = METHODS.iter().find(|(_, method)| method == self).map_or("", |(name, _)| name);
        f.write_str(name)
    }
}

impl FromStr for Method {
    type Err = SolveError;

    fn from_str(name: &str) -> Result<Self> {
        let found = METHODS.iter().find(|(known, _)| *known == name);
        found.map(|&(_, method)| method).ok_or_else(|| SolveError::BadValue {
            what: "the method of a linear solve".into(),
            found: name.into(),
            wanted: "auto, direct, manybodies, sa-amg, incomplete-cholesky, jacobi, minres or bicgstab",
        })
    }
}

/// What is promised of a matrix. Promises are checked: a broken one is an error that names a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Promise {
    /// Nothing.
    #[default]
    Nothing,
    /// Symmetric, with eigenvalues of either sign.
    Symmetric,
    /// Symmetric, and no eigenvalue is negative.
    PositiveDefinite,
}

/// A system, and what is known of it beyond its entries.
#[derive(Debug, Clone)]
pub struct System<'a> {
    /// Its matrix.
    pub matrix: &'a Matrix,
    /// What is promised of it.
    pub promise: Promise,
    /// The local rows that belong together, such as the components of a vertex.
    pub nodes: Option<&'a Nodes>,
    /// Vectors that the matrix nearly sends to zero, such as rigid motions.
    pub near_null_space: Option<NearNullSpace>,
    /// The local rows of every Object.
    pub objects: Option<&'a Blocks>,
    /// Most bytes that a factorisation may take, as the fail-safe or otherwise.
    pub direct_bytes: u64,
}

impl<'a> System<'a> {
    /// A matrix of which nothing else is known. A factorisation may take 4 GiB.
    pub fn new(matrix: &'a Matrix) -> Self {
        Self {
            matrix,
            promise: Promise::Nothing,
            nodes: None,
            near_null_space: None,
            objects: None,
            direct_bytes: 4 << 30,
        }
    }

    /// Solves A·x = b by a method, or by the one that suits; `x` goes in as the first guess. Collective.
    ///
    /// The report's notes say why the method was chosen, and what was tried before.
    pub fn solve(&self, method: Method, b: &[f64], x: &mut [f64], stop: &Stop) -> Result<Report> {
        stop.check()?;
        let (method, why) = match method {
            Method::Auto => self.choose()?,
            method => {
                self.check_promise()?;
                (method, format!("{method}, as asked for"))
            }
        };
        let first_guess = x.to_vec();
        let mut report = self.solve_by(method, b, x, stop)?;
        report.notes.insert(0, why);
        if report.converged() || method == Method::Direct {
            return Ok(report);
        }
        match self.fail_safe(b, &first_guess)? {
            Ok((solution, mut direct)) if direct.residual < report.residual => {
                x.copy_from_slice(&solution);
                direct.notes.splice(0..0, report.notes.iter().cloned());
                direct.notes.push(format!(
                    "{} with {}: {} after {} iterations, residual {:.2e}; solved directly instead",
                    report.solver,
                    report.preconditioner,
                    report.outcome,
                    report.iterations,
                    report.residual
                ));
                direct.setup_seconds += report.setup_seconds + report.solve_seconds;
                Ok(direct)
            }
            Ok((_, direct)) => {
                report.notes.push(format!("a direct solve was no better: {direct}"));
                Ok(report)
            }
            Err(why) => {
                report.notes.push(format!("not solved directly: {why}"));
                Ok(report)
            }
        }
    }

    /// The method that suits the system, and why. Collective.
    pub fn choose(&self) -> Result<(Method, String)> {
        let rows = self.matrix.rows();
        let total = rows.total();
        let symmetric = self.check_promise()?;
        if total <= SMALL {
            return Ok((Method::Direct, format!("direct, because {total} rows are few")));
        }
        if !symmetric {
            return Ok((Method::BiCgStab, "bicgstab, because the matrix is not symmetric".into()));
        }
        let diagonal = self.matrix.csr().diagonal();
        let not_positive = diagonal.iter().filter(|&&value| value <= 0.0).count();
        let not_positive = rows.sum(not_positive as f64)?;
        if self.promise == Promise::Symmetric || not_positive > 0.0 {
            let why = match not_positive > 0.0 {
                true => format!("{not_positive} rows have no positive diagonal"),
                false => "the matrix is said to be indefinite".into(),
            };
            return Ok((Method::Minres, format!("minres, because {why}")));
        }
        if let Some(objects) = self.objects
            && let share = self.share_between(objects)?
            && share <= LOOSE
            && rows.sum(objects.len() as f64)? >= 2.0
        {
            let percent = 100.0 * share;
            let why = format!("{percent:.1} % of the entries tie Objects to each other");
            return Ok((Method::Manybodies, format!("manybodies, because only {why}")));
        }
        if self.is_dominated(&diagonal)? {
            let why = "every diagonal outweighs its row";
            return Ok((Method::Jacobi, format!("jacobi, because {why}")));
        }
        let why = format!("{total} rows are a field or something like it");
        Ok((Method::SaAmg, format!("sa-amg, because {why}")))
    }

    fn solve_by(&self, method: Method, b: &[f64], x: &mut [f64], stop: &Stop) -> Result<Report> {
        let started = Instant::now();
        let matrix = self.matrix;
        let mut preconditioner: Box<dyn Preconditioner> = match method {
            Method::Direct => return solve_direct(matrix, b, x),
            Method::Manybodies => {
                let all = Blocks::ranges(std::slice::from_ref(&(0..matrix.rows().local())));
                Box::new(Manybodies::new(matrix, self.objects.unwrap_or(&all))?)
            }
            Method::IncompleteCholesky => Box::new(IncompleteCholesky::plain(matrix)?),
            Method::Jacobi => Box::new(Jacobi::new(matrix)?),
            Method::Minres => Box::new(BlockJacobi::new(matrix, &self.starts())?),
            Method::BiCgStab => Box::new(BlockJacobi::general(matrix, &self.starts())?),
            Method::SaAmg | Method::Auto => Box::new(Amg::new(matrix, &self.amg_settings())?),
        };
        let setup_seconds = started.elapsed().as_secs_f64();
        let solve = match method {
            Method::Minres => minres,
            Method::BiCgStab => bicgstab,
            _ => cg,
        };
        let report = solve(matrix, &mut *preconditioner, b, x, stop)?;
        Ok(Report { setup_seconds, ..report })
    }

    /// The settings of SA-AMG for what is known of the system.
    fn amg_settings(&self) -> Settings {
        let mut settings = Settings::default();
        if let Some(nodes) = self.nodes {
            settings.nodes = Grouping::nodes(nodes);
        }
        if let Some(vectors) = &self.near_null_space {
            settings.near_null_space = vectors.clone();
        }
        settings
    }

    /// Where the local nodes begin, and one end more.
    fn starts(&self) -> Vec<u32> {
        match self.nodes {
            Some(nodes) => nodes.starts().to_vec(),
            None => (0..=self.matrix.rows().local() as u32).collect(),
        }
    }

    /// Solves directly if memory allows it, from a copy of the guess; or says why not. Collective.
    fn fail_safe(&self, b: &[f64], x: &[f64]) -> Result<Result<(Vec<f64>, Report), String>> {
        let most = self.direct_bytes / BYTES_PER_ENTRY;
        let entries = direct::fill_of_all(self.matrix, most)?;
        if entries.is_none_or(|entries| entries > most) {
            let limit = self.direct_bytes;
            return Ok(Err(format!("its factor would take more than the {limit} bytes allowed")));
        }
        let mut x = x.to_vec();
        match solve_direct(self.matrix, b, &mut x) {
            Ok(report) => Ok(Ok((x, report))),
            Err(error) => Ok(Err(error.to_string())),
        }
    }

    /// Whether the matrix is symmetric; an error if that was promised and is not so. Collective.
    fn check_promise(&self) -> Result<bool> {
        let checked = self.matrix.csr().check_symmetric(SYMMETRY);
        match (self.promise, &checked) {
            // What is no number breaks a promise that nobody need give.
            (Promise::Nothing, Ok(()) | Err(SolveError::NotSymmetric { .. })) => {
                Ok(self.matrix.rows().sum(f64::from(u8::from(checked.is_err())))? == 0.0)
            }
            _ => self.matrix.rows().all_agree(checked).map(|()| true),
        }
    }

    /// The share of the local entries that lie between different Objects, the largest of any process.
    fn share_between(&self, objects: &Blocks) -> Result<f64> {
        let csr = self.matrix.csr();
        let mut object = vec![u32::MAX; csr.columns()];
        for block in 0..objects.len() {
            for &row in objects.rows(block) {
                if let Some(object) = object.get_mut(row as usize) {
                    *object = block as u32;
                }
            }
        }
        let between = |row: usize| {
            let columns = csr.row(row).0.iter();
            columns.filter(|&&column| object[column as usize] != object[row]).count()
        };
        let between: usize = (0..csr.rows()).into_par_iter().map(between).sum();
        self.matrix.rows().max(between as f64 / csr.entries().max(1) as f64)
    }

    /// Whether every row's diagonal outweighs the rest of the row.
    fn is_dominated(&self, diagonal: &[f64]) -> Result<bool> {
        let csr = self.matrix.csr();
        let share = |row: usize| {
            let all: f64 = csr.row(row).1.iter().map(|value| value.abs()).sum();
            (all - diagonal[row]) / diagonal[row]
        };
        let largest = (0..csr.rows()).into_par_iter().map(share).reduce(|| 0.0, f64::max);
        Ok(self.matrix.rows().max(largest)? <= DOMINANT)
    }
}
