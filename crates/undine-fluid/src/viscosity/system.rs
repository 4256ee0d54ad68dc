//! The system over all faces that hold liquid, on Buckets: nothing is assembled beyond the samples themselves.

use super::grid::{Grid, NONE, load, tiles};
use super::grips::Pull;
use super::piece::{FACES, Piece, VOXELS};
use super::samples::Equations;
use rayon::prelude::*;
use std::sync::Arc;
use undine_core::domain::{GridDomain, Slot, Topology};
use undine_linsolve::{Operator, Preconditioner, Result, Rows};

/// Inertia and viscosity of a fluid, over the faces of the Buckets that have any unknown.
pub struct System {
    rows: Arc<Rows>,
    /// The local Buckets; places beyond them are copies of foreign ones.
    pub grid: Grid,
    /// By local place: the equations.
    pub pieces: Vec<Piece>,
    /// By local place: its slot in the volume.
    pub slots: Vec<Slot>,
    /// How many unknowns there are on this process.
    pub unknowns: usize,
}

impl System {
    /// Of the equations of all local Buckets of a Topology; also what walls add to them. Collective.
    pub fn new(
        domain: &GridDomain,
        topology: &Topology,
        equations: Vec<Equations>,
    ) -> Result<(Self, Vec<Pull>)> {
        let is_active = |equations: &Equations| !matches!(equations.0, Piece::Empty);
        let mut active: Vec<u8> = equations.iter().map(|it| u8::from(is_active(it))).collect();
        active.resize(topology.stored(), 0);
        let sends = topology.sends().to_vec();
        let receives: Vec<(usize, Vec<Slot>)> = topology
            .receives()
            .iter()
            .map(|(process, slots)| (*process, slots.clone().collect()))
            .collect();
        let processes = domain.processes();
        let (local, stored) = (topology.local(), topology.stored());
        let by_slot =
            Rows::with_exchange(processes.clone(), local, stored, sends.clone(), receives.clone())?;
        by_slot.refresh(&mut active)?;

        // Places: active Buckets of this process, then active ones of others.
        let all: Vec<Slot> =
            (0..stored as Slot).filter(|&slot| active[slot as usize] != 0).collect();
        let mut places = vec![NONE; stored];
        for (&slot, place) in all.iter().zip(0..) {
            places[slot as usize] = place;
        }
        let slots: Vec<Slot> =
            all.iter().copied().filter(|&slot| (slot as usize) < local).collect();
        let place = |slot: Slot| places.get(slot as usize).copied().unwrap_or(NONE);
        let around =
            slots.iter().map(|&slot| topology.neighbours(slot).map(place)).collect::<Vec<_>>();
        let coords = slots.iter().map(|&slot| topology.bucket(slot).coord).collect();
        let faces = |lists: Vec<(usize, Vec<Slot>)>| -> Vec<(usize, Vec<u32>)> {
            let entries = |slots: &[Slot]| {
                let places = slots.iter().map(|&slot| place(slot)).filter(|&place| place != NONE);
                places.flat_map(outer_faces).collect()
            };
            lists.iter().map(|(process, slots)| (*process, entries(slots))).collect()
        };
        let rows = Rows::with_exchange(
            processes.clone(),
            slots.len() * FACES,
            all.len() * FACES,
            faces(sends),
            faces(receives),
        )?;
        let (pieces, pulls): (Vec<Piece>, Vec<_>) = equations.into_iter().filter(is_active).unzip();
        let unknowns = pieces.par_iter().map(unknowns_of).sum();
        Ok((Self { rows, grid: Grid { coords, around }, pieces, slots, unknowns }, pulls))
    }

    /// The mean over all faces of what viscosity adds to the diagonal, over the mass: Δt μ / (ρ Δx²), where that is the same
    /// everywhere. Collective.
    pub fn strength(&self) -> Result<f64> {
        let sums = |piece: &Piece| {
            let mut sums = [0.0; 2];
            for (axis, voxel) in all_faces() {
                let [mass, cells, edges] = piece.diagonal(axis, voxel);
                sums[0] += mass;
                sums[1] += cells + edges;
            }
            sums
        };
        let parts: Vec<[f64; 2]> = self.pieces.par_iter().map(sums).collect();
        let sums = parts.iter().fold([0.0; 2], |sum, part| [sum[0] + part[0], sum[1] + part[1]]);
        let [mass, stiffness] = self.rows.sums(sums)?;
        Ok(if mass > 0.0 { stiffness / (8.0 * mass) } else { 0.0 })
    }

    /// y = A·x, and x·y by Bucket.
    fn product(&self, x: &[f64], y: &mut [f64]) -> Vec<f64> {
        let parts = y.par_chunks_exact_mut(FACES).zip(&self.pieces).zip(&self.grid.around);
        parts
            .enumerate()
            .map_init(tiles, |tiles, (place, ((y, piece), around))| {
                load(around, x, tiles, false);
                piece.apply(tiles, y);
                let x = &x[place * FACES..][..FACES];
                let mut sums = [0.0; 8];
                for (x, y) in x.chunks_exact(8).zip(y.chunks_exact(8)) {
                    (0..8).for_each(|lane| sums[lane] += x[lane] * y[lane]);
                }
                sums.iter().sum()
            })
            .collect()
    }
}

impl Operator for System {
    fn rows(&self) -> &Rows {
        &self.rows
    }

    fn apply(&self, x: &mut [f64], y: &mut [f64]) -> Result<()> {
        self.rows.refresh(x)?;
        self.product(x, y);
        Ok(())
    }

    fn apply_dot(&self, x: &mut [f64], y: &mut [f64]) -> Result<f64> {
        self.rows.refresh(x)?;
        let sums = self.product(x, y);
        self.rows.sum(sums.into_iter().sum())
    }

    fn bytes(&self) -> u64 {
        let pieces: u64 = self.pieces.iter().map(Piece::bytes).sum();
        pieces + (self.grid.len() * (size_of::<Piece>() + size_of::<[u32; 27]>())) as u64
    }
}

/// One over the diagonal: enough where viscosity reaches few cells in a step.
pub struct Diagonal {
    inverse: Vec<f64>,
}

impl Diagonal {
    /// Of a system.
    pub fn new(system: &System) -> Self {
        let mut inverse = vec![0.0; system.pieces.len() * FACES];
        let parts = inverse.par_chunks_exact_mut(FACES).zip(&system.pieces);
        parts.for_each(|(inverse, piece)| {
            for (inverse, (axis, voxel)) in inverse.iter_mut().zip(all_faces()) {
                let diagonal: f64 = piece.diagonal(axis, voxel).iter().sum();
                *inverse = if diagonal > 0.0 { diagonal.recip() } else { 0.0 };
            }
        });
        Self { inverse }
    }
}

impl Preconditioner for Diagonal {
    fn name(&self) -> String {
        "Jacobi".into()
    }

    fn apply(&mut self, r: &[f64], z: &mut [f64]) -> Result<()> {
        let inverse = &self.inverse;
        undine_linsolve::vector::for_chunks(z, |start, z| {
            for ((z, r), inverse) in z.iter_mut().zip(&r[start..]).zip(&inverse[start..]) {
                *z = r * inverse;
            }
        });
        Ok(())
    }

    fn bytes(&self) -> u64 {
        8 * self.inverse.len() as u64
    }
}

/// All faces of a Bucket in the order of a vector: axis and voxel.
pub fn all_faces() -> impl Iterator<Item = (usize, usize)> {
    (0..3).flat_map(|axis| (0..VOXELS).map(move |voxel| (axis, voxel)))
}

fn unknowns_of(piece: &Piece) -> usize {
    match piece {
        Piece::Empty => 0,
        Piece::Uniform { .. } => FACES,
        Piece::Varied(_) => all_faces().filter(|(axis, n)| piece.mass(*axis, *n) > 0.0).count(),
    }
}

/// The entries of a Bucket's outermost voxels: all that a stencil of one voxel sees of it from outside.
fn outer_faces(place: u32) -> impl Iterator<Item = u32> {
    let is_outer =
        |voxel: &usize| [voxel >> 6, voxel >> 3 & 7, voxel & 7].iter().any(|c| *c == 0 || *c == 7);
    let entry =
        move |axis: usize, voxel: usize| place * FACES as u32 + (axis * VOXELS + voxel) as u32;
    (0..3).flat_map(move |axis| (0..VOXELS).filter(is_outer).map(move |voxel| entry(axis, voxel)))
}
