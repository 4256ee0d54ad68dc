//! What a pressure system is made of: channels of a Discrete Volume, and how they become the equations of each Bucket.
//!
//! The equation of a liquid cell is Σ c·(p − p′) + a·p = b over its six faces, with c = scale · open area · inverse density. A face
//! to another liquid cell links the two. A face to air holds p′ = 0 at the free surface, which lies a fraction θ of the way to the
//! next cell's centre (ghost fluid: Gibou et al. 2002; Enright et al. 2003): it adds c/θ to the diagonal. A wall is a face
//! whose open area is zero (fractional cells: Batty et al. 2007).

use super::half::VOXELS;
use super::piece::{Faces, Piece, Planes, is_on, layer, shifted, voxel_at};
use super::tables::TOWARDS;
use crate::error::{Result, SolveError};
use undine_core::domain::{NONE, Slot};
use undine_core::volume::{DiscreteVolume, MacHandle, MaskHandle, Resolution, VoxelColumn};
use undine_core::{GridDomain, Handle};

/// Coefficients of open faces must lie in between: they, their inverses and sums over coarse cells are in single precision.
const LIMITS: std::ops::RangeInclusive<f64> = 1e-25..=1e25;

/// An open area below this is none: what is left of a face by rounding.
const CLOSED: f32 = 1e-9;

/// The largest term of a diagonal, and one over the smallest that counts, for the same reason.
const LARGEST_TERM: f32 = 1e30;

/// The channels of a pressure system. They lie on level 0, with 8³ voxels to a Bucket.
#[derive(Debug, Clone, Copy)]
pub struct PressureInput<'a> {
    /// Where the channels are.
    pub volume: &'a DiscreteVolume,
    /// The cells that have a pressure. All others are air.
    pub liquid: MaskHandle,
    /// How much of each face is open, from 0 to 1. Less than 1e-9 counts as nothing.
    pub open: Open,
    /// One over the density at each face [m³/kg], or in any unit that suits.
    pub inverse_density: InverseDensity,
    /// Where the free surface lies.
    pub surface: Surface,
    /// What cells add to their own diagonal, from 0 to 1e30.
    pub diagonal: Option<Handle<f32>>,
    /// The factor of all face coefficients, for example Δt/Δx².
    pub scale: f64,
}

/// How much of each face is open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Open {
    /// All of it, but the volume is a closed box: where it has no Bucket, there is a wall.
    Box,
    /// All of it, and beyond the volume's Buckets there is air.
    Everywhere,
    /// From 0 to 1 as a channel says, beyond the volume's Buckets its background.
    Channel(MacHandle),
}

/// One over the density at faces.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum InverseDensity {
    /// The same everywhere.
    Constant(f32),
    /// By face.
    Channel(MacHandle),
    /// One over the mean density of the liquid cells on both sides of a face, from a channel of densities [kg/m³].
    OfCells(Handle<f32>),
}

/// Where the free surface lies between a liquid cell and one of air.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Surface {
    /// At the centre of the cell of air.
    Cells,
    /// Where the signed distance at cell centres, negative inside, changes sign. θ is no smaller than `smallest`.
    Distance {
        /// The channel [m].
        distance: Handle<f32>,
        /// The smallest θ, from 1e-9 to 1.
        smallest: f32,
    },
}

impl<'a> PressureInput<'a> {
    /// The plain case: a liquid of density 1 in a closed box, with its surface at cell centres and unit spacing.
    pub fn from_mask(volume: &'a DiscreteVolume, liquid: MaskHandle) -> Self {
        Self {
            volume,
            liquid,
            open: Open::Box,
            inverse_density: InverseDensity::Constant(1.0),
            surface: Surface::Cells,
            diagonal: None,
            scale: 1.0,
        }
    }

    /// Brings copies of foreign Buckets up to date. Collective.
    pub(super) fn refresh(&self, domain: &GridDomain) -> Result<()> {
        self.volume.refresh(domain, self.liquid.words)?;
        let mut channels: Vec<Handle<f32>> = self.diagonal.into_iter().collect();
        if let Open::Channel(mac) = self.open {
            channels.extend(mac.faces);
        }
        match self.inverse_density {
            InverseDensity::Constant(_) => {}
            InverseDensity::Channel(mac) => channels.extend(mac.faces),
            InverseDensity::OfCells(density) => channels.push(density),
        }
        if let Surface::Distance { distance, .. } = self.surface {
            channels.push(distance);
        }
        Ok(channels.into_iter().try_for_each(|channel| self.volume.refresh(domain, channel))?)
    }

    pub(super) fn check(&self) -> Result<()> {
        let bad = |what: &str, found: String, wanted: &'static str| {
            Err(SolveError::BadValue { what: what.into(), found, wanted })
        };
        if !(self.scale.is_finite() && self.scale > 0.0) {
            return bad("the scale of a pressure system", self.scale.to_string(), "positive");
        }
        if let InverseDensity::Constant(value) = self.inverse_density {
            if !(value.is_finite() && value > 0.0) {
                return bad("an inverse density", value.to_string(), "positive");
            }
            let product = self.scale * f64::from(value);
            if !LIMITS.contains(&product) {
                let what = "the scale times the inverse density of a pressure system";
                return bad(what, product.to_string(), "from 1e-25 to 1e25");
            }
        }
        if let Surface::Distance { smallest, .. } = self.surface
            && !(1e-9..=1.0).contains(&smallest)
        {
            return bad("the smallest θ", smallest.to_string(), "from 1e-9 to 1");
        }
        if self.liquid.resolution != Resolution::R8 {
            let found = format!("{:?}", self.liquid.resolution);
            return bad("the resolution of the liquid mask", found, "8 voxels along a Bucket");
        }
        Ok(())
    }
}

/// θ: where the free surface lies on the way from the centre of a liquid cell to that of one of air, by the distances of both.
///
/// A cell that is liquid by the mask but not by its distance counts as lying on the surface.
#[inline]
pub fn fraction(inside: f32, outside: f32, smallest: f32) -> f32 {
    if inside >= 0.0 {
        smallest
    } else if outside <= inside {
        1.0
    } else {
        (inside / (inside - outside)).clamp(smallest, 1.0)
    }
}

/// One over the mean of the densities of the liquid cells on both sides of a face; infinite where there are none.
#[inline]
pub fn inverse_of_mean(densities: [Option<f32>; 2]) -> f32 {
    match densities {
        [Some(below), Some(above)] => 2.0 / (below + above),
        [Some(one), None] | [None, Some(one)] => 1.0 / one,
        [None, None] => f32::INFINITY,
    }
}

/// Whether an open area counts as one: what is left of a face by rounding does not.
#[inline]
pub fn is_open(area: f32) -> bool {
    area >= CLOSED
}

/// The columns of the input's channels, claimed for reading.
pub(super) struct Columns<'a> {
    liquid: &'a VoxelColumn<u64>,
    open: Option<[&'a VoxelColumn<f32>; 3]>,
    inverse_density: Option<[&'a VoxelColumn<f32>; 3]>,
    density: Option<&'a VoxelColumn<f32>>,
    distance: Option<&'a VoxelColumn<f32>>,
    diagonal: Option<&'a VoxelColumn<f32>>,
    input: &'a PressureInput<'a>,
}

/// Calls `work` with the columns of an input.
pub(super) fn with_columns<R>(
    input: &PressureInput<'_>,
    work: impl FnOnce(&Columns<'_>) -> Result<R>,
) -> Result<R> {
    let volume = input.volume;
    let liquid = volume.column(input.liquid.words)?;
    let mac = |mac: MacHandle| -> Result<_> {
        let [x, y, z] = mac.faces.map(|face| volume.column(face));
        Ok([x?, y?, z?])
    };
    let open = match input.open {
        Open::Channel(handle) => Some(mac(handle)?),
        _ => None,
    };
    let inverse_density = match input.inverse_density {
        InverseDensity::Channel(handle) => Some(mac(handle)?),
        InverseDensity::Constant(_) | InverseDensity::OfCells(_) => None,
    };
    let density = match input.inverse_density {
        InverseDensity::OfCells(handle) => Some(volume.column(handle)?),
        InverseDensity::Constant(_) | InverseDensity::Channel(_) => None,
    };
    let distance = match input.surface {
        Surface::Distance { distance, .. } => Some(volume.column(distance)?),
        Surface::Cells => None,
    };
    let diagonal = input.diagonal.map(|handle| volume.column(handle)).transpose()?;
    let columns = Columns {
        liquid: &liquid,
        open: open.as_ref().map(|faces| faces.each_ref().map(|face| &**face)),
        inverse_density: inverse_density.as_ref().map(|faces| faces.each_ref().map(|face| &**face)),
        density: density.as_deref(),
        distance: distance.as_deref(),
        diagonal: diagonal.as_deref(),
        input,
    };
    columns.check()?;
    work(&columns)
}

impl Columns<'_> {
    fn check(&self) -> Result<()> {
        let faces = self.open.iter().chain(&self.inverse_density).flatten();
        let all = faces.chain(&self.density).chain(&self.distance).chain(&self.diagonal);
        for column in all {
            if column.chunk_len() != VOXELS {
                return Err(SolveError::BadValue {
                    what: "the resolution of a channel of a pressure system".into(),
                    found: format!("{:?}", column.shape().resolution),
                    wanted: "8 voxels along a Bucket",
                });
            }
        }
        Ok(())
    }

    /// Whether a Bucket of the volume has a liquid cell.
    pub fn is_wet(&self, slot: Slot) -> bool {
        self.mask(slot) != [0; 8]
    }

    fn mask(&self, slot: Slot) -> [u64; 8] {
        let mut words = [0; 8];
        if slot != NONE {
            words.copy_from_slice(self.liquid.chunk(slot));
        }
        words
    }

    /// The equations of a Bucket of the volume.
    pub fn piece(&self, slot: Slot) -> Result<Piece> {
        let table = self.input.volume.topology().neighbours(slot);
        let around: [Slot; 6] = TOWARDS.map(|towards| table[towards]);
        let liquid = self.mask(slot);
        let mut beyond = [0; 6];
        for (side, &slot) in around.iter().enumerate() {
            beyond[side] = layer(&self.mask(slot), side / 2, side % 2 == 0);
        }
        let mut piece = match (self.input.inverse_density, self.open, self.distance) {
            (InverseDensity::Constant(inverse_density), None, None) => {
                self.plain(self.full(inverse_density), liquid, around, beyond)
            }
            // Far from surfaces and walls.
            (InverseDensity::Constant(inverse_density), Some(_), _)
                if liquid == [u64::MAX; 8]
                    && beyond == [u64::MAX; 6]
                    && self.is_wide_open(slot, &around) =>
            {
                self.plain(self.full(inverse_density), liquid, around, beyond)
            }
            _ => self.cut(slot, liquid, around, beyond)?,
        };
        self.add_diagonal(slot, &mut piece)?;
        // A cell without an open face or a term of its own has nothing that its pressure could do.
        if !matches!(piece.faces, Faces::Constant(_)) || piece.links != [u64::MAX; 6] {
            let sealed =
                |voxel: &usize| is_on(&piece.active, *voxel) && piece.diagonal(*voxel) == 0.0;
            let sealed: Vec<usize> = (0..VOXELS).filter(sealed).collect();
            sealed.into_iter().for_each(|voxel| piece.active[voxel >> 6] &= !(1 << (voxel & 63)));
        }
        Ok(piece)
    }

    /// The coefficient of a face that is open as a whole.
    fn full(&self, inverse_density: f32) -> f32 {
        (self.input.scale * f64::from(inverse_density)) as f32
    }

    /// Whether all faces of a Bucket's cells are open as a whole.
    fn is_wide_open(&self, slot: Slot, around: &[Slot; 6]) -> bool {
        let Some(open) = self.open else { return false };
        (0..3).all(|axis| {
            let (own, next) = (open[axis].chunk(slot), open[axis].chunk(around[2 * axis + 1]));
            own.iter().all(|&open| open == 1.0)
                && (0..64).all(|bit| next[voxel_at(axis, 0, bit)] == 1.0)
        })
    }

    /// All faces are open and have the same coefficient, and the surface is at cell centres.
    fn plain(&self, c: f32, liquid: [u64; 8], around: [Slot; 6], beyond: [u64; 6]) -> Piece {
        let wall = |slot: Slot| slot == NONE && self.input.open == Open::Box;
        let mut piece = Piece { active: liquid, faces: Faces::Constant(c), ..Piece::empty() };
        let mut surface: Option<Box<[f32; VOXELS]>> = None;
        for side in 0..6 {
            let (axis, above) = (side / 2, side % 2 == 1);
            piece.links[side] = layer(&liquid, axis, above) & beyond[side];
            let outside = if wall(around[side]) { u64::MAX } else { beyond[side] };
            let mut dry = shifted(&liquid, axis, above, outside);
            for (dry, liquid) in dry.iter_mut().zip(&liquid) {
                *dry = liquid & !*dry;
            }
            if dry != [0; 8] {
                let surface = surface.get_or_insert_with(|| Box::new([0.0; VOXELS]));
                let voxels = (0..VOXELS).filter(|&voxel| is_on(&dry, voxel));
                voxels.for_each(|voxel| surface[voxel] += c);
            }
        }
        piece.surface = surface;
        piece
    }

    /// The general case: each face has its own coefficient.
    fn cut(
        &self,
        slot: Slot,
        liquid: [u64; 8],
        around: [Slot; 6],
        beyond: [u64; 6],
    ) -> Result<Piece> {
        let mut piece = Piece { active: liquid, ..Piece::empty() };
        let mut planes = Planes::none();
        let mut surface: Option<Box<[f32; VOXELS]>> = None;
        for axis in 0..3 {
            // Most faces are open as a whole, in a liquid that is the same everywhere.
            let usual = match (self.input.inverse_density, self.open) {
                (InverseDensity::Constant(inverse_density), Some(open)) => {
                    let next = around[2 * axis + 1];
                    let chunks = [slot, next].map(|slot| open[axis].chunk(slot));
                    Some((self.full(inverse_density), chunks))
                }
                _ => None,
            };
            for (at, face) in planes.0[axis].iter_mut().enumerate() {
                let (plane, bit) = (at >> 6, at & 63);
                // The voxel above the face, and the one below: in this Bucket or in the next.
                let above = voxel_at(axis, plane & 7, bit);
                let below = voxel_at(axis, (plane + 7) & 7, bit);
                let (slot_above, slot_below) = match plane {
                    0 => (slot, around[2 * axis]),
                    8 => (around[2 * axis + 1], slot),
                    _ => (slot, slot),
                };
                let wet_above = match plane {
                    8 => beyond[2 * axis + 1] >> bit & 1 != 0,
                    _ => is_on(&liquid, above),
                };
                let wet_below = match plane {
                    0 => beyond[2 * axis] >> bit & 1 != 0,
                    _ => is_on(&liquid, below),
                };
                if !(wet_above || wet_below) {
                    continue;
                }
                let wet = [
                    wet_below.then_some((slot_below, below)),
                    wet_above.then_some((slot_above, above)),
                ];
                let c = match usual {
                    Some((full, open)) if open[plane >> 3][above] == 1.0 => full,
                    _ => self.coefficient(axis, (slot_above, above), slot_below == NONE, wet)?,
                };
                if c == 0.0 {
                    continue;
                }
                if wet_above && wet_below {
                    *face = c;
                    continue;
                }
                // Air on one side: the free surface holds the pressure of the other, if that is here.
                let (wet, dry) = match wet_above {
                    true => ((slot_above, above), (slot_below, below)),
                    false => ((slot_below, below), (slot_above, above)),
                };
                let here = if wet_above { plane < 8 } else { plane > 0 };
                if here {
                    let surface = surface.get_or_insert_with(|| Box::new([0.0; VOXELS]));
                    surface[wet.1] += c / self.fraction(wet, dry)?;
                }
            }
        }
        piece.surface = surface;
        piece.set_faces(planes, beyond);
        Ok(piece)
    }

    /// The coefficient of the face below a voxel. `outside`: whether there is no Bucket below it; `wet`: the liquid cells on its
    /// two sides.
    fn coefficient(
        &self,
        axis: usize,
        above: (Slot, usize),
        outside: bool,
        wet: [Option<(Slot, usize)>; 2],
    ) -> Result<f32> {
        let (slot, voxel) = above;
        let value = |column: &VoxelColumn<f32>| match slot {
            NONE => column.background(),
            slot => column.chunk(slot)[voxel],
        };
        let open = match self.open {
            Some(open) => value(open[axis]),
            None if self.input.open == Open::Box && (outside || slot == NONE) => 0.0,
            None => 1.0,
        };
        let inverse_density = match (self.input.inverse_density, self.inverse_density) {
            (_, Some(faces)) => value(faces[axis]),
            (InverseDensity::Constant(value), _) => value,
            (InverseDensity::OfCells(_), _) => {
                let density = |(slot, voxel): (Slot, usize)| {
                    self.density.map_or(0.0, |density| density.chunk(slot)[voxel])
                };
                inverse_of_mean(wet.map(|cell| cell.map(density)))
            }
            (InverseDensity::Channel(_), None) => 0.0,
        };
        if !(0.0..=1.0).contains(&open) {
            return Err(self.bad("the open area", axis, above, open, "from 0 to 1"));
        }
        if !is_open(open) {
            return Ok(0.0);
        }
        if !(inverse_density.is_finite() && inverse_density > 0.0) {
            return Err(self.bad("the inverse density", axis, above, inverse_density, "positive"));
        }
        if !LIMITS.contains(&(self.input.scale * f64::from(inverse_density))) {
            let wanted = "from 1e-25 to 1e25 when multiplied by the scale";
            return Err(self.bad("the inverse density", axis, above, inverse_density, wanted));
        }
        Ok((self.input.scale * f64::from(open) * f64::from(inverse_density)) as f32)
    }

    /// How far the free surface is from the centre of a wet cell, as a part of the way to a dry one.
    fn fraction(&self, wet: (Slot, usize), dry: (Slot, usize)) -> Result<f32> {
        let (Some(distance), Surface::Distance { smallest, .. }) =
            (self.distance, self.input.surface)
        else {
            return Ok(1.0);
        };
        let at = |(slot, voxel): (Slot, usize)| match slot {
            NONE => distance.background(),
            slot => distance.chunk(slot)[voxel],
        };
        let (inside, outside) = (at(wet), at(dry));
        if !(inside.is_finite() && outside.is_finite()) {
            let (cell, value) = if inside.is_finite() { (dry, outside) } else { (wet, inside) };
            return Err(self.bad("the distance to the surface", 3, cell, value, "finite"));
        }
        Ok(fraction(inside, outside, smallest))
    }

    fn add_diagonal(&self, slot: Slot, piece: &mut Piece) -> Result<()> {
        let Some(column) = self.diagonal else { return Ok(()) };
        let chunk = column.chunk(slot);
        let mut own = [0.0; VOXELS];
        for voxel in (0..VOXELS).filter(|&voxel| is_on(&piece.active, voxel)) {
            if !(0.0..=LARGEST_TERM).contains(&chunk[voxel]) {
                let cell = (slot, voxel);
                return Err(self.bad("the diagonal term", 3, cell, chunk[voxel], "from 0 to 1e30"));
            }
            own[voxel] = if chunk[voxel] < 1.0 / LARGEST_TERM { 0.0 } else { chunk[voxel] };
        }
        piece.own = own.iter().any(|&term| term > 0.0).then(|| Box::new(own));
        Ok(())
    }

    fn bad(
        &self,
        what: &str,
        axis: usize,
        (slot, voxel): (Slot, usize),
        found: f32,
        wanted: &'static str,
    ) -> SolveError {
        let cell = [voxel >> 6, voxel >> 3 & 7, voxel & 7];
        let place = match slot {
            NONE => "beyond the Buckets of the volume".to_owned(),
            slot => {
                let bucket = self.input.volume.topology().bucket(slot);
                format!("of cell {cell:?} of Bucket {}", bucket.coord)
            }
        };
        let face = ["at the x-face ", "at the y-face ", "at the z-face ", ""][axis];
        SolveError::BadValue {
            what: format!("{what} {face}{place} of {}", self.input.volume.label()),
            found: found.to_string(),
            wanted,
        }
    }
}
