//! Which particle a neighbour is.

use crate::access::ParticleNeighbourhood;
use crate::element::Element;

/// A particle in the Bucket being visited or in one around it: the direction of its Bucket, and its
/// place there, in four bytes.
#[repr(transparent)]
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, bytemuck::Pod, bytemuck::Zeroable,
)]
pub struct Neighbour(u32);

impl Neighbour {
    const PLACE_BITS: u32 = 27;

    /// How many particles a Bucket may have, to be told apart.
    pub const MAX_PLACES: usize = 1 << Self::PLACE_BITS;

    pub(super) fn new(direction: usize, place: u32) -> Self {
        Self((direction as u32) << Self::PLACE_BITS | place)
    }

    /// Where its Bucket lies, as in a table of 27 neighbours (see [`direction`](crate::domain::direction));
    /// 13 is the Bucket being visited.
    #[inline]
    pub fn direction(self) -> usize {
        (self.0 >> Self::PLACE_BITS) as usize
    }

    /// Its place in its Bucket.
    #[inline]
    pub fn place(self) -> usize {
        (self.0 & (Self::MAX_PLACES as u32 - 1)) as usize
    }
}

impl<T: Element> ParticleNeighbourhood<'_, T> {
    /// The value of a neighbour that a search found.
    #[inline]
    pub fn of(&self, neighbour: Neighbour) -> T {
        self.towards(neighbour.direction())[neighbour.place()]
    }
}
