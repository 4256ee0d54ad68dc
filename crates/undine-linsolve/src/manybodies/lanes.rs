//! Elements of up to eight Objects, added up side by side: strands of the same make have the same elements at the same places, so that one
//! *step* adds one element of each, entry by entry, eight numbers at a time.
//!
//! Where Objects differ, a step has fewer of them, and the others get zeros. Elements of an Object come in their order, whoever is beside it.

use super::band::{LANES, Lane, Shape};
use crate::matrix::{Elements, Nodes};
use multiversion::multiversion;
use std::ops::Range;

/// Most nodes and unknowns of an element that is added to a band.
const MOST_NODES: usize = 8;
const MOST_UNKNOWNS: usize = 24;

/// No element.
const NONE: u32 = u32::MAX;

/// In which order elements are added up.
#[derive(Debug, Default)]
pub(super) struct Plan {
    steps: Vec<Step>,
    /// The rows of the unknowns of all steps, from the first of their Object.
    rows: Vec<u32>,
    /// Entries left of the diagonal that all elements need.
    pub width: usize,
}

/// An element of each Object.
#[derive(Debug)]
struct Step {
    list: u32,
    /// Rows of ∇C; 0 for elements with a dense matrix.
    pulls: u32,
    elements: [u32; LANES],
    /// Where its unknowns stand in the plan's rows.
    unknowns: Range<usize>,
}

/// What steps need while they are added up.
#[derive(Debug, Default)]
pub(super) struct Memory {
    values: Vec<Lane<f64>>,
}

impl Plan {
    /// For elements each of which is one Object's. None if one ties Objects to each other, or has too many unknowns.
    pub fn new(nodes: &Nodes, objects: &[Range<usize>], lists: &[Elements]) -> Option<Self> {
        let mut plan = Self::default();
        for (list, elements) in lists.iter().enumerate() {
            // The elements of each Object, with the rows of their unknowns.
            let mut of: Vec<Vec<(u32, Vec<u32>)>> = vec![Vec::new(); objects.len()];
            for element in 0..elements.count() {
                let (owner, rows) = owned(nodes, objects, elements.nodes(element))?;
                let (low, high) = (rows.iter().min()?, rows.iter().max()?);
                plan.width = plan.width.max((high - low) as usize);
                of[owner].push((element as u32, rows));
            }
            let slots = of.iter().map(Vec::len).max().unwrap_or(0);
            for slot in 0..slots {
                plan.add_steps(list, elements, of.iter().map(|own| own.get(slot)));
            }
        }
        Some(plan)
    }

    /// Steps for one element of each Object, together where they are alike.
    fn add_steps<'a>(
        &mut self,
        list: usize,
        elements: &Elements,
        of: impl Iterator<Item = Option<&'a (u32, Vec<u32>)>>,
    ) {
        let begin = self.steps.len();
        for (lane, own) in of.enumerate() {
            let Some((element, rows)) = own else { continue };
            let pulls = elements.rows(*element as usize) as u32;
            let alike = |step: &&mut Step| {
                step.pulls == pulls && self.rows[step.unknowns.clone()] == rows[..]
            };
            match self.steps[begin..].iter_mut().find(alike) {
                Some(step) => step.elements[lane] = *element,
                None => {
                    let unknowns = self.rows.len()..self.rows.len() + rows.len();
                    self.rows.extend(rows);
                    let mut elements = [NONE; LANES];
                    elements[lane] = *element;
                    self.steps.push(Step { list: list as u32, pulls, elements, unknowns });
                }
            }
        }
    }

    /// Adds all elements to the lower half of the matrices and to the forces, which are zero.
    pub fn add_up(
        &self,
        lists: &[Elements],
        shape: Shape,
        memory: &mut Memory,
        matrix: &mut [Lane<f64>],
        force: &mut [Lane<f64>],
    ) {
        for step in &self.steps {
            let elements = &lists[step.list as usize];
            let rows = &self.rows[step.unknowns.clone()];
            let (k, pulls) = (rows.len(), step.pulls as usize);
            let length = if pulls > 0 { pulls * (1 + pulls + k) } else { k * (k + 1) };
            memory.values.resize(length, [0.0; LANES]);
            for (lane, &element) in step.elements.iter().enumerate() {
                match element {
                    NONE => memory.values.iter_mut().for_each(|lanes| lanes[lane] = 0.0),
                    element => {
                        let own = elements.values(element as usize);
                        memory.values.iter_mut().zip(own).for_each(|(to, own)| to[lane] = *own);
                    }
                }
            }
            match pulls {
                0 => add_dense(shape, rows, &memory.values, matrix, force),
                _ => add_rows(shape, (rows, pulls), &memory.values, matrix, force),
            }
        }
    }

    /// Bytes of what is kept.
    pub fn bytes(&self) -> usize {
        size_of_val(&self.steps[..]) + size_of_val(&self.rows[..])
    }
}

/// The Object that an element's nodes are of, and the rows of their unknowns from its first one.
fn owned(nodes: &Nodes, objects: &[Range<usize>], touched: &[u32]) -> Option<(usize, Vec<u32>)> {
    let first = nodes.range(*touched.first()? as usize).start;
    let owner = objects.iter().position(|rows| rows.contains(&first))?;
    let own = &objects[owner];
    let rows: Vec<usize> = touched.iter().flat_map(|&node| nodes.range(node as usize)).collect();
    let fits = rows.len() <= MOST_UNKNOWNS && touched.len() <= MOST_NODES;
    let inside = rows.iter().all(|row| own.contains(row));
    (fits && inside).then(|| (owner, rows.iter().map(|row| (row - own.start) as u32).collect()))
}

/// Adds force and matrix of elements.
#[multiversion(targets("x86_64+avx2"))]
fn add_dense(
    shape: Shape,
    rows: &[u32],
    values: &[Lane<f64>],
    matrix: &mut [Lane<f64>],
    force: &mut [Lane<f64>],
) {
    let (own_force, dense) = values.split_at(rows.len());
    for ((&row, own), dense) in rows.iter().zip(own_force).zip(dense.chunks_exact(rows.len())) {
        let row = row as usize;
        let force = &mut force[row];
        for lane in 0..LANES {
            force[lane] += own[lane];
        }
        let band = &mut matrix[row * (shape.width + 1)..][..shape.width + 1];
        for (&column, entry) in rows.iter().zip(dense) {
            let column = column as usize;
            if column <= row {
                let sum = &mut band[shape.width + column - row];
                for lane in 0..LANES {
                    sum[lane] += entry[lane];
                }
            }
        }
    }
}

/// Adds −∇Cᵀ σ and ∇Cᵀ S ∇C of elements with so many rows C. Only the upper triangle of S is read.
#[multiversion(targets("x86_64+avx2"))]
fn add_rows(
    shape: Shape,
    (rows, pulls): (&[u32], usize),
    values: &[Lane<f64>],
    matrix: &mut [Lane<f64>],
    force: &mut [Lane<f64>],
) {
    let k = rows.len();
    let (pull, values) = values.split_at(pulls);
    let (stiffness, gradient) = values.split_at(pulls * pulls);
    let mut scaled = [[0.0; LANES]; MOST_UNKNOWNS];
    let scaled = &mut scaled[..k];
    for p in 0..pulls {
        // A row of S ∇C.
        scaled.fill([0.0; LANES]);
        for q in 0..pulls {
            let s = &stiffness[p.min(q) * pulls + p.max(q)];
            if *s == [0.0; LANES] {
                continue;
            }
            for (sum, g) in scaled.iter_mut().zip(&gradient[q * k..][..k]) {
                for lane in 0..LANES {
                    sum[lane] += s[lane] * g[lane];
                }
            }
        }
        for (&row, own) in rows.iter().zip(&gradient[p * k..][..k]) {
            let row = row as usize;
            let force = &mut force[row];
            for lane in 0..LANES {
                force[lane] -= own[lane] * pull[p][lane];
            }
            let band = &mut matrix[row * (shape.width + 1)..][..shape.width + 1];
            for (&column, scaled) in rows.iter().zip(&*scaled) {
                let column = column as usize;
                if column <= row {
                    let sum = &mut band[shape.width + column - row];
                    for lane in 0..LANES {
                        sum[lane] += own[lane] * scaled[lane];
                    }
                }
            }
        }
    }
}
