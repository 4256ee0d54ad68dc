//! Objects that nothing ties to each other, each with a narrow band, as strands of hair are where contacts are solved apart from them:
//! their elements are added up, factored and solved eight Objects at a time, while all of that is in the cache. There is no matrix of
//! the whole.

use super::band::{self, LANES, Lane, Shape};
use super::{NARROW, PADDING};
use crate::error::Result;
use crate::matrix::{Elements, Nodes};
use multiversion::multiversion;
use std::ops::Range;

/// Most nodes and unknowns of an element that is added to a band.
pub(crate) const MOST_NODES: usize = 8;
pub(crate) const MOST_UNKNOWNS: usize = 24;

/// Up to eight Objects with bands of the same width.
#[derive(Debug)]
pub struct Bands {
    shape: Shape,
    /// The rows of each Object.
    objects: Vec<Range<usize>>,
    /// The Object of each element, list by list.
    of: Vec<Vec<u32>>,
    /// Entries of L, with reciprocals on the diagonal.
    factor: Vec<Lane<f64>>,
    /// The force on the rows of each Object, and what those do.
    force: Vec<Vec<f64>>,
    x: Vec<Vec<f64>>,
}

/// Memory that Objects may use one after another.
#[derive(Debug, Default)]
pub struct BandMemory {
    band: Vec<f64>,
    matrix: Vec<Lane<f64>>,
    x: Vec<Lane<f64>>,
}

/// How a solve of some Objects went.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct BandReport {
    /// ‖b − A·x‖² of all rows.
    pub residual: f64,
    /// ‖b‖².
    pub force: f64,
    /// The largest |b − A·x| of any row.
    pub largest: f64,
    /// Whether every Object was positive definite, and all numbers are finite.
    pub is_sound: bool,
}

impl BandReport {
    /// Two as one.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self {
            residual: self.residual + other.residual,
            force: self.force + other.force,
            largest: self.largest.max(other.largest),
            is_sound: self.is_sound && other.is_sound,
        }
    }
}

impl Bands {
    /// Which Objects of given numbers of rows go together: lists of their numbers.
    pub fn batches(rows: &[usize]) -> Vec<Vec<u32>> {
        let mut order: Vec<u32> = (0..rows.len() as u32).collect();
        order.sort_by_key(|&object| rows[object as usize]);
        let mut batches: Vec<Vec<u32>> = Vec::new();
        for object in order {
            let fits = |batch: &Vec<u32>| {
                let least = rows[batch[0] as usize] as f64;
                batch.len() < LANES && rows[object as usize] as f64 <= (1.0 + PADDING) * least + 4.0
            };
            match batches.last_mut().filter(|batch| fits(batch)) {
                Some(batch) => batch.push(object),
                None => batches.push(vec![object]),
            }
        }
        batches
    }

    /// For up to eight Objects with these rows, and elements each of which is one Object's. None if one ties Objects to each other, or
    /// if bands are not narrow.
    pub fn new(nodes: &Nodes, objects: Vec<Range<usize>>, lists: &[Elements]) -> Option<Self> {
        let (mut of, mut width) = (Vec::with_capacity(lists.len()), 0);
        for elements in lists {
            let mut owners = Vec::with_capacity(elements.count());
            for element in 0..elements.count() {
                let touched = elements.nodes(element);
                let first = nodes.range(*touched.first()? as usize).start;
                let owner = objects.iter().position(|rows| rows.contains(&first))?;
                let (mut low, mut high, mut unknowns) = (usize::MAX, 0, 0);
                for rows in touched.iter().map(|&node| nodes.range(node as usize)) {
                    low = low.min(rows.start);
                    high = high.max(rows.end);
                    unknowns += rows.len();
                }
                let inside = objects[owner].start <= low && high <= objects[owner].end;
                if !inside || unknowns > MOST_UNKNOWNS || touched.len() > MOST_NODES {
                    return None;
                }
                width = width.max(high - 1 - low);
                owners.push(owner as u32);
            }
            of.push(owners);
        }
        if width > NARROW || objects.len() > LANES {
            return None;
        }
        let rows = objects.iter().map(Range::len).max()?;
        let vectors: Vec<Vec<f64>> = objects.iter().map(|rows| vec![0.0; rows.len()]).collect();
        let shape = Shape { rows, width };
        Some(Self { shape, objects, of, factor: Vec::new(), force: vectors.clone(), x: vectors })
    }

    /// Adds up elements, those that it was made for with their values of now, factors and solves. Refuses values that are not finite.
    pub fn solve(&mut self, lists: &[Elements], memory: &mut BandMemory) -> Result<BandReport> {
        lists.iter().try_for_each(Elements::check_finite)?;
        let Self { shape, objects, of, factor, force, x } = self;
        let Shape { rows, width } = *shape;
        let BandMemory { band, matrix, x: solved } = memory;
        matrix.clear();
        matrix.resize(shape.len(), [0.0; LANES]);
        for (lane, own) in objects.iter().enumerate() {
            band.clear();
            band.resize(own.len() * (width + 1), 0.0);
            force[lane].fill(0.0);
            for (elements, of) in lists.iter().zip(&*of) {
                let chosen = of.iter().enumerate().filter(|(_, of)| **of == lane as u32);
                for (element, _) in chosen {
                    elements.add_to_band(element, own.start, width, band, &mut force[lane]);
                }
            }
            for (entry, lanes) in band.iter().zip(&mut matrix[..]) {
                lanes[lane] = *entry;
            }
        }
        // What lanes have no rows for is the identity.
        let lengths = (0..LANES).map(|lane| (lane, objects.get(lane).map_or(0, Range::len)));
        for (lane, own) in lengths {
            (own..rows).for_each(|row| matrix[row * (width + 1) + width][lane] = 1.0);
        }
        factor.clone_from(matrix);
        if band::factor(*shape, factor).is_err() {
            return Ok(BandReport::default());
        }
        solved.clear();
        solved.resize(shape.vector_len(), [0.0; LANES]);
        for (lane, force) in force.iter().enumerate() {
            force.iter().zip(&mut solved[width..]).for_each(|(force, x)| x[lane] = *force);
        }
        band::solve_double(*shape, factor, solved);
        for (lane, x) in x.iter_mut().enumerate() {
            x.iter_mut().zip(&solved[width..]).for_each(|(x, solved)| *x = solved[lane]);
        }
        Ok(self.residual(matrix, solved))
    }

    /// How far the force is from what the matrix makes of the solution.
    fn residual(&self, matrix: &[Lane<f64>], x: &[Lane<f64>]) -> BandReport {
        let mut product = vec![[0.0; LANES]; self.shape.vector_len()];
        multiply(self.shape, matrix, x, &mut product);
        let mut report = BandReport { is_sound: true, ..BandReport::default() };
        for (lane, force) in self.force.iter().enumerate() {
            for (force, product) in force.iter().zip(&product[self.shape.width..]) {
                let off = (force - product[lane]).abs();
                report.residual += off * off;
                report.force += force * force;
                report.largest = report.largest.max(off);
            }
        }
        report.is_sound = report.residual.is_finite();
        report
    }

    /// The rows of each Object.
    pub fn objects(&self) -> &[Range<usize>] {
        &self.objects
    }

    /// The force on the rows of an Object.
    pub fn force(&self, object: usize) -> &[f64] {
        &self.force[object]
    }

    /// What the rows of an Object do.
    pub fn solution(&self, object: usize) -> &[f64] {
        &self.x[object]
    }

    /// How many entries left of the diagonal the factors have.
    pub fn width(&self) -> usize {
        self.shape.width
    }

    /// A row of an Object's factor L of the last solve, A = L·Lᵀ: its last entries left of the diagonal, as many as the width, and the
    /// reciprocal of that on it. Those left of the matrix are zero.
    pub fn factor_row(&self, object: usize, row: usize) -> impl Iterator<Item = f64> + '_ {
        let stride = self.shape.width + 1;
        self.factor[row * stride..][..stride].iter().map(move |lanes| lanes[object])
    }

    /// Bytes of what is kept from solve to solve.
    pub fn bytes(&self) -> u64 {
        let lists = self.of.iter().map(|of| size_of_val(&of[..])).sum::<usize>();
        let vectors = self.force.iter().chain(&self.x).map(|v| size_of_val(&v[..])).sum::<usize>();
        (size_of_val(&self.factor[..]) + lists + vectors) as u64
    }
}

/// The product of bands, of which the lower half is given, with vectors that have `width` rows of zeros in front.
#[multiversion(targets("x86_64+avx2"))]
fn multiply(shape: Shape, matrix: &[Lane<f64>], x: &[Lane<f64>], out: &mut [Lane<f64>]) {
    let Shape { rows, width } = shape;
    for row in 0..rows {
        let entries = &matrix[row * (width + 1)..][..width + 1];
        let own = x[row + width];
        let mut sum = [0.0; LANES];
        for k in 0..width {
            let (entry, x, out) = (&entries[k], &x[row + k], &mut out[row + k]);
            for lane in 0..LANES {
                sum[lane] += entry[lane] * x[lane];
                out[lane] += entry[lane] * own[lane];
            }
        }
        for lane in 0..LANES {
            out[row + width][lane] += sum[lane] + entries[width][lane] * own[lane];
        }
    }
}
