//! One level of a pressure system, laid out for solving: per Bucket of cells no more numbers than it needs.
//!
//! Most Buckets of a liquid are *uniform*: every cell and every cell around them is linked by the same coefficient, and one
//! number says it all. Along walls and the free surface of a plain discretisation, faces between cells still have one
//! coefficient, and only diagonals differ; where there is no cell, the pressure is kept at zero, so that no face needs
//! looking at. Only cut cells and jumps of density need a coefficient for each face.

use super::half::{HALF, Half, VOXELS, place};
use super::piece::{Faces, Piece, is_on};
use super::stencil::SIDES;
use rayon::prelude::*;

/// The equations of a level's local Buckets.
#[derive(Debug, Clone, Default)]
pub struct Level {
    /// By local Bucket: the places of its six neighbours.
    pub sides: Vec<[u32; SIDES]>,
    /// By local Bucket.
    pub kinds: Vec<Kind>,
    /// For Buckets that are not uniform.
    pub diagonals: Vec<Diagonal>,
    /// For Buckets whose faces vary: by colour and side.
    pub faces: Vec<[[Half<f32>; SIDES]; 2]>,
    /// How many Buckets there are with copies of foreign ones.
    pub stored: usize,
}

/// How much there is to say about a Bucket.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Kind {
    /// Nothing happens here: no cell has an equation.
    Empty,
    /// One coefficient.
    Uniform(f32),
    /// One coefficient, and a [`Diagonal`] by number.
    Constant(f32, u32),
    /// Coefficients and a [`Diagonal`] by numbers.
    Varied(u32, u32),
}

/// The diagonal of a Bucket's cells, by colour; zero where there is no equation.
#[derive(Debug, Clone)]
pub struct Diagonal {
    /// As the operator has it.
    pub exact: [Half<f64>; 2],
    /// As the smoother multiplies residuals by.
    pub rounded: [Half<f32>; 2],
    /// One over it, as the smoother needs it; zero where it is zero.
    pub inverse: [Half<f32>; 2],
}

impl Level {
    /// Lays out pieces, one for each local Bucket.
    pub fn new(pieces: &[Piece], sides: Vec<[u32; SIDES]>, stored: usize) -> Self {
        let (mut diagonals, mut faces) = (0, 0);
        let next = |counter: &mut u32| {
            *counter += 1;
            *counter - 1
        };
        let kinds: Vec<Kind> = pieces
            .iter()
            .map(|piece| match &piece.faces {
                _ if piece.active == [0; 8] => Kind::Empty,
                &Faces::Constant(c) if piece.is_uniform().is_some() => Kind::Uniform(c),
                &Faces::Constant(c) => Kind::Constant(c, next(&mut diagonals)),
                Faces::Varied(_) => Kind::Varied(next(&mut faces), next(&mut diagonals)),
            })
            .collect();
        let of_kind = |wanted: fn(&Kind) -> bool| -> Vec<&Piece> {
            kinds
                .iter()
                .zip(pieces)
                .filter(|(kind, _)| wanted(kind))
                .map(|(_, piece)| piece)
                .collect()
        };
        let diagonals = of_kind(|kind| matches!(kind, Kind::Constant(..) | Kind::Varied(..)))
            .into_par_iter()
            .map(Diagonal::new)
            .collect();
        let faces = of_kind(|kind| matches!(kind, Kind::Varied(..)))
            .into_par_iter()
            .map(faces_of)
            .collect();
        Self { sides, kinds, diagonals, faces, stored }
    }

    /// How many local Buckets there are.
    pub fn local(&self) -> usize {
        self.kinds.len()
    }

    /// The diagonal of a voxel of a Bucket, 0 if it has no equation.
    pub fn diagonal(&self, bucket: usize, voxel: usize) -> f64 {
        match (self.diagonals_of(bucket), self.kinds[bucket]) {
            (Some(diagonals), _) => diagonals[place(voxel)],
            (None, Kind::Uniform(c)) => 6.0 * f64::from(c),
            (None, _) => 0.0,
        }
    }

    /// The diagonals of a Bucket in the order by colours, if they are not all the same; 0 where there is no equation.
    pub fn diagonals_of(&self, bucket: usize) -> Option<&[f64]> {
        match self.kinds[bucket] {
            Kind::Uniform(_) => None,
            Kind::Empty => Some(&[0.0; VOXELS]),
            Kind::Constant(_, diagonal) | Kind::Varied(_, diagonal) => {
                let exact = &self.diagonals[diagonal as usize].exact;
                Some(exact.as_flattened().as_flattened().as_flattened())
            }
        }
    }

    /// Whether a voxel of a Bucket has an equation.
    pub fn is_active(&self, bucket: usize, voxel: usize) -> bool {
        self.diagonal(bucket, voxel) > 0.0
    }

    /// Bytes of the tables.
    pub fn bytes(&self) -> u64 {
        (size_of_val(&self.sides[..])
            + size_of_val(&self.kinds[..])
            + size_of_val(&self.diagonals[..])
            + size_of_val(&self.faces[..])) as u64
    }
}

impl Diagonal {
    fn new(piece: &Piece) -> Self {
        let mut flat = [0.0_f64; VOXELS];
        match piece.linked() {
            Some((c, linked)) => {
                // A sum of equal numbers, which is exact in this precision, and the terms of the diagonal itself.
                let term = |terms: &Option<Box<[f32; VOXELS]>>, voxel: usize| {
                    terms.as_ref().map_or(0.0, |terms| f64::from(terms[voxel]))
                };
                for (voxel, place) in (0..VOXELS).map(|voxel| (voxel, place(voxel))) {
                    let (word, bit) = (voxel >> 6, voxel & 63);
                    let links: u64 = linked.iter().map(|mask| mask[word] >> bit & 1).sum();
                    let own = term(&piece.surface, voxel) + term(&piece.own, voxel);
                    let active = (piece.active[word] >> bit & 1) as f64;
                    flat[place] = active * (links as f64 * f64::from(c) + own);
                }
            }
            None => {
                for voxel in (0..VOXELS).filter(|&voxel| is_on(&piece.active, voxel)) {
                    flat[place(voxel)] = piece.diagonal(voxel);
                }
            }
        }
        let rounded = flat.map(|d| d as f32);
        let inverse = flat.map(|d| if d > 0.0 { (1.0 / d) as f32 } else { 0.0 });
        Self {
            exact: bytemuck::cast(flat),
            rounded: bytemuck::cast(rounded),
            inverse: bytemuck::cast(inverse),
        }
    }
}

fn faces_of(piece: &Piece) -> [[Half<f32>; SIDES]; 2] {
    let mut flat = [[[0.0_f32; HALF]; SIDES]; 2];
    for voxel in (0..VOXELS).filter(|&voxel| is_on(&piece.active, voxel)) {
        let (colour, at) = (place(voxel) / HALF, place(voxel) % HALF);
        for (side, c) in piece.around(voxel).into_iter().enumerate() {
            flat[colour][side][at] = c;
        }
    }
    bytemuck::cast(flat)
}
