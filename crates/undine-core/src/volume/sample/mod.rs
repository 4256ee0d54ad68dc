//! Reading a volume at points: values and gradients by interpolation.
//!
//! - [`Interpolation`]: trilinear, quadratic and cubic B-spline, monotone cubic;
//! - [`Sampler`]: one channel at any point, across Buckets and levels;
//! - [`MacSampler`]: a MAC velocity as one vector field;
//! - [`sample_points`] and [`sample_velocities`]: many points at once, on all threads.
//!
//! Kernels compute from the offset to a Bucket's corner alone, so that the same scene far from the world's
//! origin gives the same bits.

mod batch;
mod blend;
mod field;
mod kernel;
mod lattice;
mod locate;
mod mac;

pub use batch::{sample_points, sample_velocities};
pub use blend::{Blend, Real};
pub use kernel::{Interpolation, Kernel};
pub use mac::MacSampler;

pub(crate) use batch::check_finite;
pub(crate) use field::{chunk_index, coarser_nodes, finer_nodes, has_ancestor};
pub(crate) use kernel::{Taps, cubic, linear, quadratic};
pub(crate) use lattice::Lattice;
pub(crate) use locate::Locator;

use super::column::VoxelColumn;
use crate::domain::{Slot, Topology};
use field::Field;
use glam::{DVec3, Vec3};
use kernel::{between, contract, monotone};

/// Reads one channel at points between its voxels' values.
///
/// Where no Bucket contains the point, the value is the background and the gradient zero; where one does, nodes of the
/// kernel that lie in no Bucket count as background. Copies of other processes' Buckets are read like any other: refresh
/// them before. Of what lies behind those copies nothing is known here; points there belong to
/// [`foreign::sample`](super::foreign::sample).
///
/// ```
/// use glam::DVec3;
/// use undine_core::volume::{DiscreteVolume, Interpolation, Sampler, VoxelShape};
/// use undine_core::{ChannelSpec, Frame, GridDomain};
/// # fn main() -> undine_core::Result<()> {
/// let mut domain = GridDomain::new("water", Frame::new(DVec3::ZERO, 0.1)?);
/// domain.set_buckets(&domain.buckets_in_box(DVec3::ZERO, DVec3::ONE, 0)?)?;
/// let mut volume = DiscreteVolume::new("tank", &domain);
/// let pressure = volume.add_channel(&ChannelSpec::new("pressure", 3.0_f32), VoxelShape::CELLS)?;
/// let column = volume.column(pressure)?;
/// let sampler = Sampler::new(&column, volume.topology(), Interpolation::Linear);
/// assert_eq!(sampler.at_world(DVec3::splat(0.42)), 3.0);
/// # Ok(())
/// # }
/// ```
pub struct Sampler<'a, T: Blend> {
    field: Field<'a, T>,
    locator: Locator<'a>,
    interpolation: Interpolation,
    lattice: Lattice<T::Real>,
}

impl<'a, T: Blend> Sampler<'a, T> {
    /// A reader of a claimed column. `topology` is that of the column's volume; with another one, slots mean other
    /// Buckets, or none at all, which panics as any index out of bounds.
    pub fn new(
        column: &'a VoxelColumn<T>,
        topology: &'a Topology,
        interpolation: Interpolation,
    ) -> Self {
        Self {
            field: Field::new(column, topology),
            locator: Locator::new(topology),
            interpolation,
            lattice: Lattice::new(topology, column.shape()),
        }
    }

    /// The same, but reading the Buckets of one level only, as if there were no others.
    pub fn on_level(mut self, level: u8) -> Self {
        self.locator = self.locator.only(level);
        self.field.across = false;
        self
    }

    /// The finest Bucket that contains a world position [m], and the offset [m] from its corner.
    pub fn locate(&self, position: DVec3) -> Option<(Slot, Vec3)> {
        self.locator.world(position)
    }

    /// The value at an offset [m] from the corner of the Bucket in a slot of the volume's own Topology.
    ///
    /// Within the Bucket its own level is read. The offset may lie outside: then the Bucket of the same level there is
    /// read, or failing that a coarser or finer one.
    #[inline]
    pub fn at(&self, slot: Slot, offset: Vec3) -> T {
        match self.locator.local(slot, offset) {
            Some((slot, offset)) => self.evaluate::<false>(slot, offset).0,
            None => self.field.column.background(),
        }
    }

    /// The derivatives [1/m] along x, y and z of what [`Self::at`] gives.
    #[inline]
    pub fn gradient(&self, slot: Slot, offset: Vec3) -> [T; 3] {
        self.value_and_gradient(slot, offset).1
    }

    /// [`Self::at`] and [`Self::gradient`] for little more than the price of one.
    #[inline]
    pub fn value_and_gradient(&self, slot: Slot, offset: Vec3) -> (T, [T; 3]) {
        match self.locator.local(slot, offset) {
            Some((slot, offset)) => self.evaluate::<true>(slot, offset),
            None => self.outside(),
        }
    }

    /// The value at a world position [m], from the finest Bucket that contains it.
    pub fn at_world(&self, position: DVec3) -> T {
        match self.locate(position) {
            Some((slot, offset)) => self.evaluate::<false>(slot, offset).0,
            None => self.field.column.background(),
        }
    }

    /// The value and its derivatives [1/m] at a world position [m].
    pub fn value_and_gradient_at_world(&self, position: DVec3) -> (T, [T; 3]) {
        match self.locate(position) {
            Some((slot, offset)) => self.evaluate::<true>(slot, offset),
            None => self.outside(),
        }
    }

    fn outside(&self) -> (T, [T; 3]) {
        (self.field.column.background(), [T::zeroed(); 3])
    }

    #[inline]
    fn evaluate<const GRADIENT: bool>(&self, slot: Slot, offset: Vec3) -> (T, [T; 3]) {
        let level = self.field.topology.bucket(slot).level;
        let (nodes, per_metre) = self.lattice.nodes(level, offset);
        let (value, gradient) = match self.interpolation {
            Interpolation::Linear => blend::<T, 2, GRADIENT>(&self.field, slot, &nodes.map(linear)),
            Interpolation::Quadratic => {
                blend::<T, 3, GRADIENT>(&self.field, slot, &nodes.map(quadratic))
            }
            Interpolation::Cubic => blend::<T, 4, GRADIENT>(&self.field, slot, &nodes.map(cubic)),
            Interpolation::MonotoneCubic => {
                blend_monotone::<T, GRADIENT>(&self.field, slot, nodes.map(between))
            }
        };
        (value, gradient.map(|derivative| derivative.scaled(per_metre)))
    }
}

/// Interpolates with the weights in `taps`.
#[inline]
fn blend<T: Blend, const W: usize, const GRADIENT: bool>(
    field: &Field<'_, T>,
    slot: Slot,
    taps: &[Taps<T::Real, W>; 3],
) -> (T, [T; 3]) {
    let first = [taps[0].first, taps[1].first, taps[2].first];
    if field.inside::<W>(first) {
        let chunk = field.column.chunk(slot);
        contract::<T, W, GRADIENT>(taps, |x, y| field.row(chunk, first, x, y))
    } else {
        let block = field.block::<W>(slot, first);
        contract::<T, W, GRADIENT>(taps, |x, y| block[x][y])
    }
}

/// Interpolates with the monotone cubic.
fn blend_monotone<T: Blend, const GRADIENT: bool>(
    field: &Field<'_, T>,
    slot: Slot,
    place: [(i32, T::Real); 3],
) -> (T, [T; 3]) {
    let block = field.block::<4>(slot, place.map(|(first, _)| first));
    monotone::<T, GRADIENT>(&block, place.map(|(_, t)| t))
}
