//! Objects that nothing ties to each other, each with a narrow band, as strands of hair are where contacts are solved apart from them:
//! their elements are added up, factored and solved eight Objects at a time, while all of that is in the cache. There is no matrix of
//! the whole.

use super::band::{self, LANES, Lane, Shape};
use super::lanes::{self, Plan};
use super::{NARROW, PADDING};
use crate::error::Result;
use crate::matrix::{Elements, Nodes};
use multiversion::multiversion;
use std::ops::Range;

/// Up to eight Objects with bands of the same width.
#[derive(Debug)]
pub struct Bands {
    shape: Shape,
    /// The rows of each Object.
    objects: Vec<Range<usize>>,
    /// How elements are added up.
    plan: Plan,
    /// Entries of L, with reciprocals on the diagonal.
    factor: Vec<Lane<f64>>,
    /// The force on the rows of all Objects, and what those do, behind `width` rows of zeros.
    force: Vec<Lane<f64>>,
    x: Vec<Lane<f64>>,
}

/// Memory that Objects may use one after another.
#[derive(Debug, Default)]
pub struct BandMemory {
    lanes: lanes::Memory,
    matrix: Vec<Lane<f64>>,
    product: Vec<Lane<f64>>,
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
        let plan = Plan::new(nodes, &objects, lists)?;
        if plan.width > NARROW || objects.len() > LANES {
            return None;
        }
        let rows = objects.iter().map(Range::len).max()?;
        let shape = Shape { rows, width: plan.width };
        let vector = vec![[0.0; LANES]; shape.vector_len()];
        Some(Self { shape, objects, plan, factor: Vec::new(), force: vector.clone(), x: vector })
    }

    /// Adds up elements, those that it was made for with their values of now, factors and solves. Refuses values that are not finite.
    pub fn solve(&mut self, lists: &[Elements], memory: &mut BandMemory) -> Result<BandReport> {
        let report = self.solve_finite(lists, memory);
        if !report.is_sound {
            lists.iter().try_for_each(Elements::check_finite)?;
        }
        Ok(report)
    }

    /// The same for values that are finite; nothing is sound where they are not.
    fn solve_finite(&mut self, lists: &[Elements], memory: &mut BandMemory) -> BandReport {
        let Self { shape, objects, plan, factor, force, x } = self;
        let Shape { rows, width } = *shape;
        let BandMemory { lanes, matrix, product } = memory;
        matrix.clear();
        matrix.resize(shape.len(), [0.0; LANES]);
        force.fill([0.0; LANES]);
        plan.add_up(lists, *shape, lanes, matrix, &mut force[width..]);
        // What lanes have no rows for is the identity.
        let lengths = (0..LANES).map(|lane| (lane, objects.get(lane).map_or(0, Range::len)));
        for (lane, own) in lengths {
            (own..rows).for_each(|row| matrix[row * (width + 1) + width][lane] = 1.0);
        }
        factor.clone_from(matrix);
        if band::factor(*shape, factor).is_err() {
            return BandReport::default();
        }
        x.clone_from(force);
        band::solve_double(*shape, factor, x);
        product.clear();
        product.resize(shape.vector_len(), [0.0; LANES]);
        multiply(*shape, matrix, x, product);
        self.report(product)
    }

    /// How far the force is from what the matrix makes of the solution.
    fn report(&self, product: &[Lane<f64>]) -> BandReport {
        let mut report = BandReport::default();
        for (lane, rows) in self.objects.iter().enumerate() {
            let both = self.force.iter().zip(product).skip(self.shape.width);
            for (force, product) in both.take(rows.len()) {
                let off = (force[lane] - product[lane]).abs();
                report.residual += off * off;
                report.force += force[lane] * force[lane];
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

    /// The force on each row of an Object, and what it does.
    pub fn solved(&self, object: usize) -> impl Iterator<Item = [f64; 2]> + '_ {
        let rows = self.force.iter().zip(&self.x).skip(self.shape.width);
        rows.take(self.objects[object].len()).map(move |(force, x)| [force[object], x[object]])
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
        let vectors = size_of_val(&self.force[..]) + size_of_val(&self.x[..]);
        (size_of_val(&self.factor[..]) + self.plan.bytes() + vectors) as u64
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
