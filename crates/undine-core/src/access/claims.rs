//! What a kernel declares: one access, or a tuple, array or option of them.

use super::halo::Refresh;
use crate::domain::{Slot, SlotMap, Topology};
use crate::error::{CoreError, Result};
use crate::process::Processes;

/// What a kernel sees at one Bucket of a channel that it declared.
pub trait Viewed {
    /// Slices, or a neighbourhood; for a tuple, array or option of declarations, one of each.
    type View<'v>;
}

/// One declared use of a channel, or a tuple, array or option of such.
///
/// # Safety
/// [`Access::view`] hands out writable views. An implementation must make sure that the writable part
/// of the views of two different slots never overlaps, and that no one else can reach it while the
/// claim is held.
pub unsafe trait Access: Viewed + Sync {
    /// The channels, claimed for as long as the kernel runs.
    type Claim<'c>: Sync
    where
        Self: 'c;

    /// Starts to refresh the copies of other processes' Buckets that the kernel will read.
    fn refresh<'r>(
        &'r self,
        processes: &dyn Processes,
        under_way: &mut Vec<Refresh<'r>>,
    ) -> Result<()>;

    /// Claims the channels in the name of `task`, which visits the Buckets of `over`.
    fn claim<'c>(&'c self, task: &'static str, over: &Topology) -> Result<Self::Claim<'c>>;

    /// What the kernel sees at a slot of the Topology that it runs over.
    ///
    /// # Safety
    /// No two live views of one claim may be of the same slot.
    unsafe fn view<'v, 'c: 'v>(claim: &'v Self::Claim<'c>, slot: Slot) -> Self::View<'v>
    where
        Self: 'c;
}

/// The map from the slots visited to the slots of a store.
///
/// A store that is written must have every Bucket that is visited; one that is read may lack some, but
/// those that it has must be on this process.
pub(super) fn slots_of(
    task: &'static str,
    over: &Topology,
    store: &Topology,
    label: &str,
    written: bool,
) -> Result<SlotMap> {
    if over.frame() != store.frame() {
        return Err(CoreError::BadAccess {
            task,
            why: format!(
                "{label} lies on another Grid Domain; sample and splat at points between Domains"
            ),
        });
    }
    let map = SlotMap::between(over, store);
    if let SlotMap::Table(table) = &map {
        let own = 0..store.local() as Slot;
        let lacking = (0..over.local()).filter(|&slot| !own.contains(&table[slot]));
        for bucket in lacking.map(|slot| over.bucket(slot as Slot)) {
            let why = if store.all().contains(bucket) {
                format!("{label} keeps {bucket:?} on another process; let it migrate first")
            } else if written {
                format!(
                    "it would write {label} in {bucket:?}, which {label} does not have; let it follow the Topology first"
                )
            } else {
                continue;
            };
            return Err(CoreError::BadAccess { task, why });
        }
    }
    Ok(map)
}

macro_rules! tuple_access {
    ($($name:ident)*) => {
        impl<$($name: Viewed),*> Viewed for ($($name,)*) {
            type View<'v> = ($($name::View<'v>,)*);
        }

        // SAFETY: each member keeps its own promise, and members claim their channels separately.
        unsafe impl<$($name: Access),*> Access for ($($name,)*) {
            type Claim<'c> = ($($name::Claim<'c>,)*) where Self: 'c;

            #[allow(non_snake_case, unused_variables)]
            fn refresh<'r>(
                &'r self, processes: &dyn Processes, under_way: &mut Vec<Refresh<'r>>,
            ) -> Result<()> {
                let ($($name,)*) = self;
                $($name.refresh(processes, under_way)?;)*
                Ok(())
            }

            #[allow(non_snake_case, unused_variables)]
            fn claim<'c>(&'c self, task: &'static str, over: &Topology) -> Result<Self::Claim<'c>> {
                let ($($name,)*) = self;
                Ok(($($name.claim(task, over)?,)*))
            }

            #[allow(non_snake_case, unused_variables, unused_unsafe, clippy::unused_unit)]
            unsafe fn view<'v, 'c: 'v>(claim: &'v Self::Claim<'c>, slot: Slot) -> Self::View<'v>
            where
                Self: 'c,
            {
                let ($($name,)*) = claim;
                // SAFETY: the caller's promise holds for every member.
                unsafe { ($($name::view($name, slot),)*) }
            }
        }
    };
}

tuple_access!();
tuple_access!(A);
tuple_access!(A B);
tuple_access!(A B C);
tuple_access!(A B C D);
tuple_access!(A B C D E);
tuple_access!(A B C D E F);
tuple_access!(A B C D E F G);
tuple_access!(A B C D E F G H);

impl<A: Viewed, const N: usize> Viewed for [A; N] {
    type View<'v> = [A::View<'v>; N];
}

// SAFETY: each member keeps its own promise, and members claim their channels separately.
unsafe impl<A: Access, const N: usize> Access for [A; N] {
    type Claim<'c>
        = [A::Claim<'c>; N]
    where
        Self: 'c;

    fn refresh<'r>(
        &'r self,
        processes: &dyn Processes,
        under_way: &mut Vec<Refresh<'r>>,
    ) -> Result<()> {
        self.iter().try_for_each(|access| access.refresh(processes, under_way))
    }

    fn claim<'c>(&'c self, task: &'static str, over: &Topology) -> Result<Self::Claim<'c>> {
        let claims: Result<Vec<_>> = self.iter().map(|access| access.claim(task, over)).collect();
        let mut claims = claims?.into_iter();
        Ok(std::array::from_fn(|_| claims.next().expect("one claim for each member")))
    }

    unsafe fn view<'v, 'c: 'v>(claim: &'v Self::Claim<'c>, slot: Slot) -> Self::View<'v>
    where
        Self: 'c,
    {
        // SAFETY: the caller's promise holds for every member.
        std::array::from_fn(|n| unsafe { A::view(&claim[n], slot) })
    }
}

impl<A: Viewed> Viewed for Option<A> {
    type View<'v> = Option<A::View<'v>>;
}

// SAFETY: the member, if any, keeps its own promise.
unsafe impl<A: Access> Access for Option<A> {
    type Claim<'c>
        = Option<A::Claim<'c>>
    where
        Self: 'c;

    fn refresh<'r>(
        &'r self,
        processes: &dyn Processes,
        under_way: &mut Vec<Refresh<'r>>,
    ) -> Result<()> {
        self.iter().try_for_each(|access| access.refresh(processes, under_way))
    }

    fn claim<'c>(&'c self, task: &'static str, over: &Topology) -> Result<Self::Claim<'c>> {
        self.as_ref().map(|access| access.claim(task, over)).transpose()
    }

    unsafe fn view<'v, 'c: 'v>(claim: &'v Self::Claim<'c>, slot: Slot) -> Self::View<'v>
    where
        Self: 'c,
    {
        // SAFETY: the caller's promise holds for the member.
        claim.as_ref().map(|claim| unsafe { A::view(claim, slot) })
    }
}
