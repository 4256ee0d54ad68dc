//! The equations of one Bucket's cells before they are laid out for solving, and how eight Buckets of a level become one of the
//! next.
//!
//! Coarse cells are aggregates of 2×2×2 cells. A coarse face has half the sum of the coefficients of its four faces: the
//! sum is what Galerkin gives for piecewise constant transfer, and half of it is the discretisation anew, at twice the
//! distance (after Shao, Huang and Michels, "A fast unsmoothed aggregation algebraic multigrid framework for the large-scale
//! simulation of incompressible flow", 2022). A coefficient that jumps stays where it is, which interpolated transfer would not
//! see. The free surface is nearer to a cell than the next cell's centre is to it: its terms shrink by less than half.

use super::half::VOXELS;
use crate::error::Result;
use bytemuck::Pod;
use undine_core::CoreError;

/// What is left of a free-surface term on the first coarse level and on those after it.
///
/// Found by trial, on a half-full box of 128³ cells with a V(2,2) cycle: with 0.5, CG needs 10 iterations where it needs 6 so.
pub const SURFACE_SHRINKS: [f32; 2] = [0.8, 0.6];

/// The strides of a voxel's place in its chunk, by axis.
pub const STRIDES: [usize; 3] = [64, 8, 1];

/// The equations of one Bucket's cells.
#[derive(Debug, Clone, PartialEq)]
pub struct Piece {
    /// Which cells have an equation, a bit each in the order of a chunk.
    pub active: [u64; 8],
    /// Which cells of the six outer layers are linked to a cell of the next Bucket: below and above along x (bit 8·y + z), y
    /// (8·x + z) and z (8·x + y).
    pub links: [u64; 6],
    /// The coefficients of faces between two active cells.
    pub faces: Faces,
    /// What the free surface adds to the diagonal, by voxel.
    pub surface: Option<Box<[f32; VOXELS]>>,
    /// What cells add to their own diagonal, by voxel.
    pub own: Option<Box<[f32; VOXELS]>>,
}

/// Coefficients of the faces between active cells of a Bucket, and of those to cells of other Buckets.
#[derive(Debug, Clone, PartialEq)]
pub enum Faces {
    /// All have the same.
    Constant(f32),
    /// Each has its own; 0 where there is no link.
    Varied(Box<Planes>),
}

/// A coefficient for each face, by axis: nine planes of 8×8 faces along it, the first and the last shared with the next Bucket.
#[derive(Debug, Clone, PartialEq)]
pub struct Planes(pub [[f32; 9 * 64]; 3]);

impl Planes {
    /// No links at all.
    pub fn none() -> Box<Self> {
        Box::new(Self([[0.0; 9 * 64]; 3]))
    }

    /// The place of the face below a voxel. The face above it is 64 further.
    #[inline]
    pub const fn below(axis: usize, voxel: usize) -> usize {
        let (x, y, z) = (voxel >> 6, voxel >> 3 & 7, voxel & 7);
        match axis {
            0 => voxel,
            1 => y << 6 | x << 3 | z,
            _ => z << 6 | x << 3 | y,
        }
    }
}

/// The voxel in a plane across an axis, by its bit in a layer.
pub const fn voxel_at(axis: usize, plane: usize, bit: usize) -> usize {
    let (a, b) = (bit >> 3, bit & 7);
    match axis {
        0 => plane << 6 | bit,
        1 => a << 6 | plane << 3 | b,
        _ => a << 6 | b << 3 | plane,
    }
}

/// The layer of a mask at one end of an axis.
pub fn layer(mask: &[u64; 8], axis: usize, above: bool) -> u64 {
    let at = if above { 7 } else { 0 };
    let mut bits = 0;
    match axis {
        0 => bits = mask[at],
        1 => (0..8).for_each(|x| bits |= (mask[x] >> (8 * at) & 0xff) << (8 * x)),
        _ => {
            for (x, word) in mask.iter().enumerate() {
                (0..8).for_each(|y| bits |= (word >> (8 * y + at) & 1) << (8 * x + y));
            }
        }
    }
    bits
}

/// Whether a bit of a mask of voxels is on.
#[inline]
pub fn is_on(mask: &[u64; 8], voxel: usize) -> bool {
    mask[voxel >> 6] >> (voxel & 63) & 1 != 0
}

impl Piece {
    /// A piece without equations.
    pub fn empty() -> Self {
        Self {
            active: [0; 8],
            links: [0; 6],
            faces: Faces::Constant(0.0),
            surface: None,
            own: None,
        }
    }

    /// Whether all cells and all cells around are linked by faces with the same coefficient, and nothing else happens.
    pub fn is_uniform(&self) -> Option<f32> {
        match self.faces {
            Faces::Constant(c)
                if self.active == [u64::MAX; 8]
                    && self.links == [u64::MAX; 6]
                    && self.surface.is_none()
                    && self.own.is_none() =>
            {
                Some(c)
            }
            _ => None,
        }
    }

    /// The coefficients of the six faces of an active voxel, below and above along x, y and z.
    #[inline]
    pub fn around(&self, voxel: usize) -> [f32; 6] {
        let mut faces = [0.0; 6];
        for axis in 0..3 {
            let at = Planes::below(axis, voxel);
            match &self.faces {
                Faces::Varied(planes) => {
                    faces[2 * axis] = planes.0[axis][at];
                    faces[2 * axis + 1] = planes.0[axis][at + 64];
                }
                Faces::Constant(c) => {
                    let stride = STRIDES[axis];
                    let below = match at >> 6 {
                        0 => self.links[2 * axis] >> (at & 63) & 1 != 0,
                        _ => is_on(&self.active, voxel - stride),
                    };
                    let above = match at >> 6 {
                        7 => self.links[2 * axis + 1] >> (at & 63) & 1 != 0,
                        _ => is_on(&self.active, voxel + stride),
                    };
                    faces[2 * axis] = if below { *c } else { 0.0 };
                    faces[2 * axis + 1] = if above { *c } else { 0.0 };
                }
            }
        }
        faces
    }

    /// By side: the active voxels that are linked to the next one there, if all faces have the same coefficient.
    pub fn linked(&self) -> Option<(f32, [[u64; 8]; 6])> {
        let Faces::Constant(c) = self.faces else { return None };
        Some((
            c,
            std::array::from_fn(|side| {
                let next = shifted(&self.active, side / 2, side % 2 == 1, self.links[side]);
                std::array::from_fn(|x| self.active[x] & next[x])
            }),
        ))
    }

    /// The diagonal of an active voxel: its faces, the free surface and its own term.
    pub fn diagonal(&self, voxel: usize) -> f64 {
        let c = self.around(voxel).map(f64::from);
        let surface = self.surface.as_ref().map_or(0.0, |surface| f64::from(surface[voxel]));
        let own = self.own.as_ref().map_or(0.0, |own| f64::from(own[voxel]));
        ((c[0] + c[1]) + (c[2] + c[3])) + (c[4] + c[5]) + (surface + own)
    }

    /// Whether a term other than faces is on some diagonal of these voxels.
    pub fn is_held(&self, voxels: &[u64; 8]) -> bool {
        let held = |terms: &Option<Box<[f32; VOXELS]>>| {
            let Some(terms) = terms else { return false };
            (0..VOXELS).any(|voxel| terms[voxel] > 0.0 && is_on(voxels, voxel))
        };
        held(&self.surface) || held(&self.own)
    }

    /// The piece of the next coarser level that these eight, z fastest, become. `level` is theirs; `exists` says on which of
    /// the six sides the coarse Bucket has a neighbour.
    pub fn coarser(children: [Option<&Piece>; 8], level: usize, exists: [bool; 6]) -> Piece {
        if let Some(piece) = uniform(&children) {
            return piece;
        }
        let shrink = SURFACE_SHRINKS[level.min(1)];
        let mut coarse = Piece::empty();
        let mut planes = Planes::none();
        let (mut surface, mut own) = ([0.0_f32; VOXELS], [0.0_f32; VOXELS]);
        for (octant, child) in children.iter().enumerate() {
            let Some(child) = child else { continue };
            let corner = [octant >> 2 & 1, octant >> 1 & 1, octant & 1].map(|half| 4 * half);
            for cell in 0..64 {
                let (x, y, z) = (cell >> 4, cell >> 2 & 3, cell & 3);
                let to = (corner[0] + x) << 6 | (corner[1] + y) << 3 | (corner[2] + z);
                let from = (2 * x) << 6 | (2 * y) << 3 | (2 * z);
                // Two bits side by side along z, in two rows along y, of two words along x.
                let word = |x: usize| child.active[2 * (from >> 7) + x] >> (from & 63) & 0x303;
                if word(0) | word(1) == 0 {
                    continue;
                }
                coarse.active[to >> 6] |= 1 << (to & 63);
                let sum = |terms: &[f32; VOXELS]| {
                    let pair = |at: usize| terms[from + at] + terms[from + at + 1];
                    (pair(0) + pair(8)) + (pair(64) + pair(72))
                };
                surface[to] = child.surface.as_ref().map_or(0.0, |terms| shrink * sum(terms));
                own[to] = child.own.as_ref().map_or(0.0, |terms| sum(terms));
            }
            child.coarser_faces(corner, &mut planes);
        }
        coarse.surface = surface.iter().any(|&term| term != 0.0).then(|| Box::new(surface));
        coarse.own = own.iter().any(|&term| term != 0.0).then(|| Box::new(own));
        // Which cells beyond are active is not known: all of them may be.
        coarse.set_faces(planes, exists.map(|exists| if exists { u64::MAX } else { 0 }));
        coarse
    }

    /// Takes over the coefficients of faces, in as few numbers as will do. `beyond` are the cells of the next Buckets that
    /// may be active.
    pub fn set_faces(&mut self, planes: Box<Planes>, beyond: [u64; 6]) {
        for axis in 0..3 {
            for (side, plane) in [(2 * axis, 0), (2 * axis + 1, 8)] {
                let linked = |bit: usize| u64::from(planes.0[axis][plane << 6 | bit] != 0.0) << bit;
                self.links[side] = (0..64).map(linked).sum();
            }
        }
        self.faces = match self.constant(&planes, beyond) {
            Some(c) => Faces::Constant(c),
            None => Faces::Varied(planes),
        };
    }

    /// Adds half of each face's coefficient to the coarse face that it is a part of. `corner` is where this Bucket's cells begin
    /// in the coarse one.
    ///
    /// The faces between two children are written by both, with the same value.
    fn coarser_faces(&self, corner: [usize; 3], planes: &mut Planes) {
        for axis in 0..3 {
            let others = [[1, 2], [0, 2], [0, 1]][axis].map(|axis| corner[axis]);
            for plane in (0..=8).step_by(2) {
                let to_plane = (corner[axis] + plane / 2) << 6;
                for (a, b) in (0..16).map(|n| (n >> 2, n & 3)) {
                    let from = plane << 6 | (2 * a) << 3 | (2 * b);
                    let face = |at: usize| self.face(axis, from + at);
                    let sum = (face(0) + face(1)) + (face(8) + face(9));
                    if sum != 0.0 {
                        planes.0[axis][to_plane | (others[0] + a) << 3 | (others[1] + b)] =
                            0.5 * sum;
                    }
                }
            }
        }
    }

    /// The coefficient of a face, by its place in [`Planes`].
    #[inline]
    fn face(&self, axis: usize, at: usize) -> f32 {
        let c = match &self.faces {
            Faces::Varied(planes) => return planes.0[axis][at],
            Faces::Constant(c) => *c,
        };
        let (plane, bit) = (at >> 6, at & 63);
        let linked = match plane {
            0 => self.links[2 * axis] >> bit & 1 != 0,
            8 => self.links[2 * axis + 1] >> bit & 1 != 0,
            _ => {
                is_on(&self.active, voxel_at(axis, plane - 1, bit))
                    && is_on(&self.active, voxel_at(axis, plane, bit))
            }
        };
        if linked { c } else { 0.0 }
    }

    /// Appends the piece to a message.
    pub fn pack(&self, bytes: &mut Vec<u8>) {
        let (constant, planes) = match &self.faces {
            Faces::Constant(c) => (*c, None),
            Faces::Varied(planes) => (0.0, Some(planes)),
        };
        let flags = [planes.is_some(), self.surface.is_some(), self.own.is_some()].map(u8::from);
        bytes.extend_from_slice(bytemuck::bytes_of(&self.active));
        bytes.extend_from_slice(bytemuck::bytes_of(&self.links));
        bytes.extend_from_slice(bytemuck::bytes_of(&constant));
        bytes.extend_from_slice(&flags);
        if let Some(planes) = planes {
            bytes.extend_from_slice(bytemuck::cast_slice(planes.0.as_flattened()));
        }
        for terms in [&self.surface, &self.own].into_iter().flatten() {
            bytes.extend_from_slice(bytemuck::cast_slice(&terms[..]));
        }
    }

    /// Takes a piece from the front of a message.
    pub fn unpack(bytes: &mut &[u8]) -> Result<Self> {
        let active = take(bytes)?;
        let links = take(bytes)?;
        let constant = take(bytes)?;
        let [varied, surface, own]: [u8; 3] = take(bytes)?;
        let mut faces = Faces::Constant(constant);
        if varied != 0 {
            let mut planes = Planes::none();
            fill(bytes, planes.0.as_flattened_mut())?;
            faces = Faces::Varied(planes);
        }
        let mut terms = |there: u8| -> Result<Option<Box<[f32; VOXELS]>>> {
            let mut terms = (there != 0).then(|| Box::new([0.0; VOXELS]));
            terms.as_mut().map_or(Ok(()), |terms| fill(bytes, &mut terms[..]))?;
            Ok(terms)
        };
        let (surface, own) = (terms(surface)?, terms(own)?);
        Ok(Self { active, links, faces, surface, own })
    }

    /// The one coefficient of all faces, if there is one, and if no active cell lies beside another without a link. `beyond`
    /// are the cells of the next Buckets that may be active.
    fn constant(&self, planes: &Planes, beyond: [u64; 6]) -> Option<f32> {
        let mut one = None;
        for axis in 0..3 {
            for &c in planes.0[axis].iter().filter(|&&c| c != 0.0) {
                if *one.get_or_insert(c) != c {
                    return None;
                }
            }
            for above in [false, true] {
                let side = 2 * axis + usize::from(above);
                let outer = layer(&self.active, axis, above);
                if outer & beyond[side] & !self.links[side] != 0 {
                    return None;
                }
            }
        }
        let linked = (0..VOXELS).filter(|&voxel| is_on(&self.active, voxel)).all(|voxel| {
            (0..3).all(|axis| {
                let at = Planes::below(axis, voxel);
                at < 64 || !is_on(&self.active, voxel - STRIDES[axis]) || planes.0[axis][at] != 0.0
            })
        });
        linked.then_some(one.unwrap_or(0.0))
    }
}

/// The piece of eight uniform children with the same coefficient.
fn uniform(children: &[Option<&Piece>; 8]) -> Option<Piece> {
    let c = children[0]?.is_uniform()?;
    if children.iter().all(|child| child.and_then(|child| child.is_uniform()) == Some(c)) {
        // Half of four.
        return Some(Piece {
            active: [u64::MAX; 8],
            links: [u64::MAX; 6],
            faces: Faces::Constant(2.0 * c),
            surface: None,
            own: None,
        });
    }
    None
}

/// For each voxel, the bit of its neighbour below or above along an axis; `outside` is the layer of the next Bucket.
pub fn shifted(mask: &[u64; 8], axis: usize, above: bool, outside: u64) -> [u64; 8] {
    let row = |x: usize| outside >> (8 * x) & 0xff;
    std::array::from_fn(|x| match (axis, above) {
        (0, false) => {
            if x > 0 {
                mask[x - 1]
            } else {
                outside
            }
        }
        (0, true) => {
            if x < 7 {
                mask[x + 1]
            } else {
                outside
            }
        }
        (1, false) => mask[x] << 8 | row(x),
        (1, true) => mask[x] >> 8 | row(x) << 56,
        (_, false) => (mask[x] & 0x7f7f_7f7f_7f7f_7f7f) << 1 | spread(row(x)),
        (_, true) => (mask[x] >> 1 & 0x7f7f_7f7f_7f7f_7f7f) | spread(row(x)) << 7,
    })
}

/// Eight bits, one at the beginning of each byte.
fn spread(bits: u64) -> u64 {
    (0..8).map(|y| (bits >> y & 1) << (8 * y)).sum()
}

/// Takes a value from the front of a message.
fn take<T: Pod>(bytes: &mut &[u8]) -> Result<T> {
    let mut value = T::zeroed();
    fill(bytes, std::slice::from_mut(&mut value))?;
    Ok(value)
}

/// Fills values from the front of a message.
fn fill<T: Pod>(bytes: &mut &[u8], values: &mut [T]) -> Result<()> {
    let len = size_of_val(values);
    let Some((front, rest)) = bytes.split_at_checked(len) else {
        let why = format!("it ends after {} of {len} bytes", bytes.len());
        return Err(CoreError::Communication { what: "the equations of a Bucket", why }.into());
    };
    bytemuck::cast_slice_mut(values).copy_from_slice(front);
    *bytes = rest;
    Ok(())
}
