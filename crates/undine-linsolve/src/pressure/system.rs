//! The one pressure system of every fluid: symmetric, matrix-free, on Buckets.

use super::csr::{self, PressureMatrix};
use super::exchange;
use super::half::{VOXELS, voxel};
use super::input::{PressureInput, with_columns};
use super::level::Level;
use super::multigrid::{Hierarchy, Multigrid};
use super::piece::Piece;
use super::product::product;
use super::regions::Regions;
use super::tables::{Tables, levels_above};
use crate::error::{Result, SolveError};
use crate::krylov::cg;
use crate::operator::Operator;
use crate::report::{Report, Stop};
use crate::rows::Rows;
use crate::vector;
use rayon::prelude::*;
use std::fmt;
use std::sync::{Arc, OnceLock};
use std::time::Instant;
use undine_core::domain::Slot;
use undine_core::{Accessor, BucketSet, DiscreteVolume, GridDomain, Handle, Topology};

/// What sums over a region may be wrong by, as a share of what they add.
const ROUNDING: f64 = 1e-12;

/// A pressure system: Σ c·(p − p′) + a·p = b for each liquid cell.
///
/// A vector over it has 512 entries for each Bucket with liquid, in the order of [`Self::topology`]'s slots of level 0, and
/// within a Bucket in the order of [`place`](super::place). Entries of cells without an equation are zero.
pub struct PressureSystem {
    rows: Arc<Rows>,
    topology: Arc<Topology>,
    hierarchy: Hierarchy,
    regions: Regions,
    /// By row, for those who ask.
    diagonal: OnceLock<Vec<f64>>,
    setup_seconds: f64,
}

impl PressureSystem {
    /// The system of some channels. Collective.
    pub fn new(domain: &GridDomain, input: &PressureInput<'_>) -> Result<Self> {
        let started = Instant::now();
        input.check()?;
        input.refresh(domain)?;
        let volume = input.volume.topology();
        with_columns(input, |columns| {
            let slots: Vec<Slot> = volume.level(0).collect();
            let wet: Vec<_> = slots
                .into_par_iter()
                .filter(|&slot| columns.is_wet(slot))
                .map(|slot| volume.bucket(slot).key())
                .collect();
            let mut wet = BucketSet::from_keys(wet);
            if domain.processes().count() > 1 {
                wet = domain.subset(&wet)?.all().clone();
            }
            let topology = domain.subset(&levels_above(wet)?)?;
            let tables = Tables::new(&topology);
            let empty = Tables::default();
            let finest = tables.first().unwrap_or(&empty);
            let rows = exchange::rows(domain.processes(), finest)?;

            let piece = |slot: Slot| match volume.slot(topology.bucket(slot)) {
                Some(slot) => columns.piece(slot),
                None => Ok(Piece::empty()),
            };
            let pieces = topology.level(0).into_par_iter().map(piece).collect();
            let pieces: Vec<Piece> = rows.all_agree(pieces)?;
            let regions = Regions::new(&pieces, &finest.sides, &rows)?;
            let hierarchy = Hierarchy::new(domain.processes(), &topology, tables, pieces)?;
            let setup_seconds = started.elapsed().as_secs_f64();
            let diagonal = OnceLock::new();
            Ok(Self { rows, topology, hierarchy, regions, diagonal, setup_seconds })
        })
    }

    /// The Buckets with liquid, and those of the coarser levels above them.
    pub fn topology(&self) -> &Arc<Topology> {
        &self.topology
    }

    /// Whether an entry of a vector belongs to a cell with an equation.
    pub fn has_equation(&self, entry: usize) -> bool {
        entry < self.rows.local()
            && self.hierarchy.finest().is_active(entry / VOXELS, voxel(entry % VOXELS))
    }

    /// The multigrid cycle that preconditions the system.
    pub fn multigrid(&self) -> Multigrid<'_> {
        Multigrid::new(&self.hierarchy)
    }

    /// How many closed regions there are: connected cells whose pressure nothing holds.
    pub fn closed_regions(&self) -> usize {
        self.regions.count()
    }

    /// Solves the system by CG with multigrid. `x` goes in as a first guess. Collective.
    ///
    /// In closed regions the right-hand side is first made to add up to nothing, as walls that do not move would have it; the
    /// report tells what was taken out. Their pressure has a mean of zero.
    pub fn solve(&self, b: &[f64], x: &mut [f64], stop: &Stop) -> Result<Report> {
        let started = Instant::now();
        let mut multigrid = self.multigrid();
        let setup_seconds = self.setup_seconds + started.elapsed().as_secs_f64();
        if self.regions.count() == 0 {
            let report = cg(self, &mut multigrid, b, x, stop)?;
            return Ok(Report { setup_seconds, ..report });
        }
        check_vectors(&self.rows, b, x)?;
        let mut reachable = b.to_vec();
        let removed = self.regions.project(&mut reachable, &self.rows)?;
        clear_rounding(&self.rows, b, &mut reachable)?;
        self.regions.project(x, &self.rows)?;
        let mut report = cg(self, &mut multigrid, &reachable, x, stop)?;
        self.regions.project(x, &self.rows)?;
        for (n, (removed, cells)) in removed.iter().zip(self.regions.cells()).enumerate() {
            report.notes.push(format!(
                "closed region {n} of {cells} cells: {removed:.3e} taken out of its right-hand side"
            ));
        }
        Ok(Report { setup_seconds, ..report })
    }

    /// The system as a sparse matrix of its cells. Collective.
    pub fn to_csr(&self) -> Result<PressureMatrix> {
        csr::matrix(self.hierarchy.finest(), &self.rows)
    }

    /// A vector with the values of a channel, zero where there is no equation.
    pub fn read(&self, volume: &DiscreteVolume, channel: Handle<f32>) -> Result<Vec<f64>> {
        let column = volume.column(channel)?;
        check_resolution(column.chunk_len())?;
        let mut vector = vec![0.0; self.rows.local()];
        vector.par_chunks_mut(VOXELS).enumerate().for_each(|(n, to)| {
            let bucket = self.topology.bucket(n as Slot);
            let Some(slot) = volume.topology().slot(bucket) else { return };
            let from = column.chunk(slot);
            self.each_active(n, |voxel, place| to[place] = f64::from(from[voxel]));
        });
        Ok(vector)
    }

    /// Writes a vector into a channel, where there are equations; other voxels stay as they are. Collective.
    pub fn write(
        &self,
        vector: &[f64],
        domain: &GridDomain,
        volume: &DiscreteVolume,
        channel: Handle<f32>,
    ) -> Result<()> {
        self.rows.check("the pressure", vector)?;
        check_resolution(volume.column(channel)?.chunk_len())?;
        let buckets = Accessor::new("write pressures", domain).over(volume.topology()).level(0);
        buckets.run(volume.write(channel), |here, to| {
            let Some(bucket) = self.topology.slot(here.bucket) else { return };
            let from = &vector[bucket as usize * VOXELS..][..VOXELS];
            self.each_active(bucket as usize, |voxel, place| to[voxel] = from[place] as f32);
        })?;
        Ok(())
    }

    pub(super) fn finest(&self) -> &Level {
        self.hierarchy.finest()
    }

    pub(super) fn regions(&self) -> &Regions {
        &self.regions
    }

    /// The diagonal by row, laid out when it is first asked for.
    pub(super) fn laid_out_diagonal(&self) -> &[f64] {
        self.diagonal.get_or_init(|| self.lay_out_diagonal())
    }

    /// Calls `visit` with each voxel of a Bucket that has an equation, and its place in the order by colours.
    fn each_active(&self, bucket: usize, mut visit: impl FnMut(usize, usize)) {
        match self.hierarchy.finest().diagonals_of(bucket) {
            None => (0..VOXELS).for_each(|place| visit(voxel(place), place)),
            Some(diagonals) => (0..VOXELS)
                .filter(|&place| diagonals[place] > 0.0)
                .for_each(|place| visit(voxel(place), place)),
        }
    }
}

impl fmt::Debug for PressureSystem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PressureSystem")
            .field("rows", &self.rows.local())
            .field("levels", &self.hierarchy.levels.len())
            .finish_non_exhaustive()
    }
}

impl Operator for PressureSystem {
    fn rows(&self) -> &Rows {
        &self.rows
    }

    fn apply(&self, x: &mut [f64], y: &mut [f64]) -> Result<()> {
        self.apply_dot(x, y).map(|_| ())
    }

    fn apply_dot(&self, x: &mut [f64], y: &mut [f64]) -> Result<f64> {
        self.rows.refresh(x)?;
        self.rows.sum(product(self.hierarchy.finest(), x, y))
    }

    fn is_singular(&self) -> bool {
        self.regions.count() > 0
    }

    fn project(&self, x: &mut [f64]) -> Result<()> {
        self.regions.project(x, &self.rows).map(|_| ())
    }

    fn bytes(&self) -> u64 {
        self.rows.bytes()
    }
}

/// Refuses a right-hand side or a first guess of a wrong length, or with entries that are not finite: what is projected first
/// would spread them, and nobody could tell which entry was to blame. Collective.
pub(super) fn check_vectors(rows: &Rows, b: &[f64], x: &[f64]) -> Result<()> {
    let vectors = [("the right-hand side", b), ("the first guess", x)];
    rows.all_agree(vectors.into_iter().try_for_each(|(what, values)| {
        rows.check(what, values)?;
        match values.iter().position(|value| !value.is_finite()) {
            Some(row) => Err(SolveError::VectorNotFinite { what, row, value: values[row] }),
            None => Ok(()),
        }
    }))
}

/// Nothing, if what a projection left of a right-hand side is no more than the rounding of what it took out. Collective.
pub(super) fn clear_rounding(rows: &Rows, b: &[f64], reachable: &mut [f64]) -> Result<()> {
    let (before, left) = (rows.max(vector::largest(b))?, rows.max(vector::largest(reachable))?);
    if left <= ROUNDING * before {
        reachable.fill(0.0);
    }
    Ok(())
}

fn check_resolution(chunk_len: usize) -> Result<()> {
    if chunk_len == VOXELS {
        return Ok(());
    }
    Err(SolveError::BadValue {
        what: "the resolution of a channel of a pressure system".into(),
        found: format!("{chunk_len} voxels in a Bucket"),
        wanted: "512 voxels in a Bucket",
    })
}
