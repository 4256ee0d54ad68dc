//! The registry: one walk over every store of a simulation, on which whatever looks at all of its state stands.
//!
//! Whoever owns stores implements [`Stores`], in a few lines. On that walk stand the check for values that are not
//! finite ([`find_not_finite`]), the content hashes that compare runs and tell which channels a Task changed
//! ([`digests`]), the memory report ([`memory`]) and the [checkpoint](crate::checkpoint). None of them keeps a list of its
//! own, so that a channel that is added tomorrow is checked, compared, counted and saved without a line of code.
//!
//! ```
//! use undine_core::{Frame, GridDomain, ParticleSystem, glam::DVec3};
//! use undine_sim::registry::{Store, StoreMut, Stores, find_not_finite};
//!
//! struct Spray { domain: GridDomain, drops: ParticleSystem }
//!
//! impl Stores for Spray {
//!     fn each(&self, visit: &mut dyn FnMut(Store<'_>)) {
//!         visit(Store::Domain(&self.domain));
//!         visit(Store::Particles(&self.drops));
//!     }
//!     fn each_mut(&mut self, visit: &mut dyn FnMut(StoreMut<'_>)) {
//!         visit(StoreMut::Domain(&mut self.domain));
//!         visit(StoreMut::Particles(&mut self.drops, &self.domain));
//!     }
//! }
//!
//! # fn main() -> undine_core::Result<()> {
//! let domain = GridDomain::new("air", Frame::new(DVec3::ZERO, 0.1)?);
//! let drops = ParticleSystem::new("drops", &domain)?;
//! let spray = Spray { domain, drops };
//! assert_eq!(find_not_finite(&spray)?, None);
//! # Ok(()) }
//! ```

mod column;
mod digest;
mod finite;
mod memory;
mod store;
mod xxh64;

pub use column::Column;
pub use digest::{ChannelDigest, StoreDigest, digests};
pub use finite::{ElementName, NotFinite, find_not_finite};
pub use memory::{ChannelMemory, StoreMemory, memory};
pub use store::{Store, StoreKind, StoreMut, Stores};
pub use xxh64::xxh64;
