//! Closed regions: connected cells whose pressure nothing holds, so that any constant may be added to it.
//!
//! Such a region is a null vector of the system: one in its cells, zero elsewhere. Its equations can be solved only if
//! their right-hand sides add up to nothing.

use super::half::{VOXELS, place};
use super::piece::{Faces, Piece, Planes, STRIDES, is_on, voxel_at};
use super::stencil::NONE;
use crate::error::Result;
use crate::rows::Rows;
use rayon::prelude::*;
use std::collections::BTreeMap;
use undine_core::Forest;

/// Voxels of a Bucket, a bit each.
type Mask = [u64; 8];

/// The closed regions of a system, in a fixed order that is the same on all processes.
#[derive(Debug, Default)]
pub struct Regions {
    /// How many there are on all processes.
    count: usize,
    /// Which cells of which local Bucket belong to which region, by region and Bucket.
    parts: Vec<Part>,
    /// By region: its cells on all processes.
    cells: Vec<f64>,
}

#[derive(Debug)]
struct Part {
    region: u32,
    bucket: u32,
    cells: Mask,
}

impl Regions {
    /// The closed regions of a level. `rows` are those of its vectors. Collective.
    pub fn new(pieces: &[Piece], sides: &[[u32; 6]], rows: &Rows) -> Result<Self> {
        let components: Vec<Vec<Mask>> = pieces.par_iter().map(components).collect();
        let mut firsts = vec![0_u32];
        for list in &components {
            firsts.push(firsts[firsts.len() - 1] + list.len() as u32);
        }
        let count = firsts[pieces.len()] as usize;
        let mut sets = Forest::new(count);
        let mut held: Vec<bool> = components
            .par_iter()
            .zip(pieces)
            .flat_map_iter(|(list, piece)| list.iter().map(|cells| piece.is_held(cells)))
            .collect();
        let component = |bucket: usize, voxel: usize| {
            let list = &components[bucket];
            let n = list.iter().position(|cells| is_on(cells, voxel))?;
            Some(firsts[bucket] + n as u32)
        };

        // Join what is linked across the faces between local Buckets.
        for (bucket, piece) in pieces.iter().enumerate() {
            for axis in 0..3 {
                let next = sides[bucket][2 * axis + 1] as usize;
                let mut linked = piece.links[2 * axis + 1];
                if next >= pieces.len() || linked == 0 {
                    continue;
                }
                if components[bucket].len() == 1 && components[next].len() == 1 {
                    sets.join(firsts[bucket], firsts[next]);
                    continue;
                }
                while linked != 0 {
                    let bit = linked.trailing_zeros() as usize;
                    linked &= linked - 1;
                    let (here, there) = (voxel_at(axis, 7, bit), voxel_at(axis, 0, bit));
                    if let (Some(a), Some(b)) = (component(bucket, here), component(next, there)) {
                        sets.join(a, b);
                    }
                }
            }
        }
        for n in 0..count {
            held[sets.root(n as u32) as usize] |= held[n];
        }

        let free: Vec<u32> =
            (0..count as u32).filter(|&n| sets.root(n) == n && !held[n as usize]).collect();
        let (regions, total) = if rows.is_single() {
            (free.iter().copied().zip(0..).collect(), free.len())
        } else {
            // Regions go on elsewhere.
            let roots: Vec<u32> = (0..count as u32).map(|n| sets.root(n)).collect();
            let root_of = |bucket, voxel| component(bucket, voxel).map(|n| roots[n as usize]);
            joined(pieces, sides, rows, &free, root_of)?
        };

        let mut parts = Vec::new();
        let mut cells = vec![0.0; total];
        for (bucket, list) in components.iter().enumerate() {
            for (n, &cells_here) in list.iter().enumerate() {
                let root = sets.root(firsts[bucket] + n as u32);
                if let Some(&region) = regions.get(&root) {
                    let number: u32 = cells_here.iter().map(|word| word.count_ones()).sum();
                    cells[region as usize] += f64::from(number);
                    parts.push(Part { region, bucket: bucket as u32, cells: cells_here });
                }
            }
        }
        rows.processes().all_sum_f64s(&mut cells)?;
        parts.sort_by_key(|part| (part.region, part.bucket));
        Ok(Self { count: total, parts, cells })
    }

    /// How many closed regions there are.
    pub fn count(&self) -> usize {
        self.count
    }

    /// Takes the mean of each region out of a vector, and returns what was taken: by region, the sum over its cells.
    /// Collective.
    pub fn project(&self, vector: &mut [f64], rows: &Rows) -> Result<Vec<f64>> {
        let mut sums = vec![0.0; self.count];
        for part in &self.parts {
            let values = &vector[part.bucket as usize * VOXELS..][..VOXELS];
            let cells = (0..VOXELS).filter(|&voxel| is_on(&part.cells, voxel));
            sums[part.region as usize] += cells.map(|voxel| values[place(voxel)]).sum::<f64>();
        }
        rows.processes().all_sum_f64s(&mut sums)?;
        let means: Vec<f64> =
            sums.iter().zip(&self.cells).map(|(sum, cells)| -sum / cells).collect();
        self.add(&means, vector);
        Ok(sums)
    }

    /// Adds to each cell of a closed region the number of the region.
    pub fn add(&self, numbers: &[f64], vector: &mut [f64]) {
        for part in &self.parts {
            let number = numbers[part.region as usize];
            let values = &mut vector[part.bucket as usize * VOXELS..][..VOXELS];
            for voxel in (0..VOXELS).filter(|&voxel| is_on(&part.cells, voxel)) {
                values[place(voxel)] += number;
            }
        }
    }

    /// The number of cells of each region, on all processes.
    pub fn cells(&self) -> &[f64] {
        &self.cells
    }
}

/// The closed regions by local root, numbered alike on all processes, and how many there are in all. `free` are the roots of the
/// local regions that nothing holds here. Collective.
fn joined(
    pieces: &[Piece],
    sides: &[[u32; 6]],
    rows: &Rows,
    free: &[u32],
    root_of: impl Fn(usize, usize) -> Option<u32>,
) -> Result<(BTreeMap<u32, u32>, usize)> {
    // Everyone learns the root on the other side of each face that it shares.
    let name = |root: u32| (rows.processes().rank() as u64) << 32 | u64::from(root);
    let mut names = vec![u64::MAX; rows.stored()];
    for (bucket, piece) in pieces.iter().enumerate() {
        for voxel in (0..VOXELS).filter(|&voxel| is_on(&piece.active, voxel)) {
            if let Some(root) = root_of(bucket, voxel) {
                names[bucket * VOXELS + place(voxel)] = name(root);
            }
        }
    }
    rows.refresh(&mut names)?;
    let mut pairs = Vec::new();
    for (bucket, piece) in pieces.iter().enumerate() {
        for (side, &next) in sides[bucket].iter().enumerate() {
            if next == NONE || (next as usize) < pieces.len() {
                continue;
            }
            let (axis, above) = (side / 2, side % 2 == 1);
            for bit in (0..64).filter(|bit| piece.links[side] >> bit & 1 != 0) {
                let here = voxel_at(axis, if above { 7 } else { 0 }, bit);
                let there = voxel_at(axis, if above { 0 } else { 7 }, bit);
                if let Some(root) = root_of(bucket, here)
                    && free.binary_search(&root).is_ok()
                {
                    pairs.push([name(root), names[next as usize * VOXELS + place(there)]]);
                }
            }
        }
    }
    pairs.sort_unstable();
    pairs.dedup();

    // Join the free ones of all processes; one that touches what is not free is held after all.
    let pairs = rows.processes().all_gather_values(&pairs)?.concat();
    let free_names: Vec<u64> = free.iter().map(|&root| name(root)).collect();
    let everyone = rows.processes().all_gather_values(&free_names)?.concat();
    let mut sets = Forest::new(everyone.len());
    let mut held = vec![false; everyone.len()];
    for [here, there] in pairs {
        let Ok(here) = everyone.binary_search(&here) else { continue };
        match everyone.binary_search(&there) {
            Ok(there) => sets.join(here as u32, there as u32),
            Err(_) => held[here] = true,
        }
    }
    let spread: Vec<u32> = (0..everyone.len() as u32).filter(|&n| held[n as usize]).collect();
    for n in spread {
        held[sets.root(n) as usize] = true;
    }
    let mut numbers = BTreeMap::new();
    let mut regions = BTreeMap::new();
    for (n, &whole) in everyone.iter().enumerate() {
        let root = sets.root(n as u32);
        if held[root as usize] {
            continue;
        }
        let next = numbers.len() as u32;
        let number = *numbers.entry(root).or_insert(next);
        if whole >> 32 == rows.processes().rank() as u64 {
            regions.insert(whole as u32, number);
        }
    }
    Ok((regions, numbers.len()))
}

/// The connected parts of a Bucket's cells.
fn components(piece: &Piece) -> Vec<Mask> {
    if piece.active == [u64::MAX; 8] && matches!(piece.faces, Faces::Constant(_)) {
        return vec![piece.active];
    }
    let links = links_below(piece);
    let mut rest = piece.active;
    let mut parts = Vec::new();
    while let Some(word) = rest.iter().position(|&word| word != 0) {
        let mut part = [0; 8];
        part[word] = rest[word] & rest[word].wrapping_neg();
        loop {
            let grown = grow(&part, &links);
            if grown == part {
                break;
            }
            part = grown;
        }
        rest.iter_mut().zip(&part).for_each(|(rest, part)| *rest &= !part);
        parts.push(part);
    }
    parts
}

/// By axis: the cells that are linked to the one below them in the same Bucket.
fn links_below(piece: &Piece) -> [Mask; 3] {
    let mut links = [[0; 8]; 3];
    for voxel in (0..VOXELS).filter(|&voxel| is_on(&piece.active, voxel)) {
        for (axis, links) in links.iter_mut().enumerate() {
            let at = Planes::below(axis, voxel);
            let linked = at >= 64
                && match &piece.faces {
                    Faces::Constant(_) => is_on(&piece.active, voxel - STRIDES[axis]),
                    Faces::Varied(planes) => planes.0[axis][at] != 0.0,
                };
            links[voxel >> 6] |= u64::from(linked) << (voxel & 63);
        }
    }
    links
}

/// A part and the cells that are linked to it.
fn grow(part: &Mask, [along_x, along_y, along_z]: &[Mask; 3]) -> Mask {
    let mut grown: Mask = std::array::from_fn(|x| {
        let here = part[x];
        here | (here << 8) & along_y[x]
            | (here & along_y[x]) >> 8
            | (here << 1) & along_z[x]
            | (here & along_z[x]) >> 1
    });
    for x in 1..8 {
        grown[x] |= grown[x - 1] & along_x[x];
    }
    for x in (1..8).rev() {
        grown[x - 1] |= grown[x] & along_x[x];
    }
    grown
}
