//! Memory: a budget that is checked before anything grows, and reports of what channels cost.

use crate::error::{CoreError, Result};
use bytemuck::Pod;
use std::ops::AddAssign;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// A number of bytes as people read it, in the unit that fits: `512 bytes`, `1.5 MB`, `21 TB`.
pub fn in_words(bytes: u64) -> String {
    const UNITS: [&str; 6] = ["kB", "MB", "GB", "TB", "PB", "EB"];
    let mut of_unit = bytes as f64 / 1e3;
    let mut unit = 0;
    // What would be rounded to 1000 has the next unit already.
    while of_unit >= 999.95 {
        of_unit /= 1e3;
        unit += 1;
    }
    match bytes {
        0..1000 => format!("{bytes} bytes"),
        _ => format!("{of_unit:.1} {}", UNITS[unit]),
    }
}

/// A limit on the bytes that all stores sharing it may hold. Clones share one account.
#[derive(Debug, Clone)]
pub struct MemoryBudget {
    limit: u64,
    used: Arc<AtomicU64>,
}

impl MemoryBudget {
    /// A budget of `limit` bytes.
    pub fn new(limit: u64) -> Self {
        Self { limit, used: Arc::default() }
    }

    /// No limit.
    pub fn unlimited() -> Self {
        Self::new(u64::MAX)
    }

    /// Bytes that are reserved now.
    pub fn used(&self) -> u64 {
        self.used.load(Ordering::Relaxed)
    }

    /// Bytes that are left now.
    pub fn free(&self) -> u64 {
        self.limit.saturating_sub(self.used())
    }

    /// Refuses if `wanted` more bytes would pass the limit, in the name of `what`.
    pub fn check(&self, what: &str, wanted: u64) -> Result<()> {
        let free = self.free();
        if wanted <= free { Ok(()) } else { Err(self.over(what, wanted, free)) }
    }

    /// Checks and takes at once, so that two threads cannot both take the last bytes.
    fn take(&self, what: &str, wanted: u64) -> Result<()> {
        let take = |used: u64| used.checked_add(wanted).filter(|&sum| sum <= self.limit);
        self.used
            .try_update(Ordering::Relaxed, Ordering::Relaxed, take)
            .map(|_| ())
            .map_err(|used| self.over(what, wanted, self.limit.saturating_sub(used)))
    }

    fn over(&self, what: &str, wanted: u64, free: u64) -> CoreError {
        CoreError::OverBudget { what: what.to_owned(), wanted, free, budget: self.limit }
    }

    /// An empty reservation on this budget.
    pub fn reserve_nothing(&self) -> Reservation {
        Reservation { budget: self.clone(), bytes: 0 }
    }
}

/// Bytes that one store holds of a budget; given back when dropped.
#[derive(Debug)]
pub struct Reservation {
    budget: MemoryBudget,
    bytes: u64,
}

impl Reservation {
    /// Grows or shrinks the reservation to `bytes`; if it does not fit, nothing changes.
    pub fn resize(&mut self, what: &str, bytes: u64) -> Result<()> {
        if bytes > self.bytes {
            self.budget.take(what, bytes - self.bytes)?;
        } else {
            self.budget.used.fetch_sub(self.bytes - bytes, Ordering::Relaxed);
        }
        self.bytes = bytes;
        Ok(())
    }

    /// Notes that `bytes` are allocated now, even beyond the limit: what is there is there, and whoever
    /// comes next is refused. For stores that checked before they changed, and know only now what the
    /// allocator rounded up.
    pub fn settle(&mut self, bytes: u64) {
        if bytes > self.bytes {
            self.budget.used.fetch_add(bytes - self.bytes, Ordering::Relaxed);
        } else {
            self.budget.used.fetch_sub(self.bytes - bytes, Ordering::Relaxed);
        }
        self.bytes = bytes;
    }

    /// Refuses if `more` bytes would not fit, in the name of `what`.
    pub fn check(&self, what: &str, more: u64) -> Result<()> {
        self.budget.check(what, more)
    }

    /// Bytes that are reserved.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        self.budget.used.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

/// What a store holds: the bytes of its channels' elements, and what it spends beyond them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct MemoryReport {
    /// Bytes of the elements themselves.
    pub raw: u64,
    /// Bytes beyond: slack in allocations, tables, keys.
    pub overhead: u64,
}

impl MemoryReport {
    /// All bytes.
    pub fn total(&self) -> u64 {
        self.raw + self.overhead
    }

    /// Bytes beyond the raw ones, as a fraction of the raw ones.
    pub fn overhead_ratio(&self) -> f64 {
        self.overhead as f64 / (self.raw as f64).max(1.0)
    }
}

impl AddAssign for MemoryReport {
    fn add_assign(&mut self, other: Self) {
        self.raw += other.raw;
        self.overhead += other.overhead;
    }
}

/// A huge page [bytes].
pub(crate) const HUGE: usize = 2 << 20;

/// A vector of zeros for long passes over memory: a large one lies in huge pages where the system has them, and is first touched
/// by whoever writes to it, on all threads.
pub fn zeros<T: Pod>(count: usize) -> Vec<T> {
    let values = bytemuck::zeroed_vec::<T>(count);
    ask_for_huge_pages(values.as_ptr().cast_mut().cast(), size_of_val(&values[..]));
    values
}

/// Asks the system for huge pages in a range of memory, best before it is first touched.
pub(crate) fn ask_for_huge_pages(start: *mut u8, bytes: usize) {
    #[cfg(target_os = "linux")]
    if bytes >= HUGE {
        const SMALL: usize = 4096;
        let skipped = start.align_offset(SMALL);
        // SAFETY: the range lies within an allocation of the caller's. It is a hint and changes no byte: a system without
        // huge pages says no, and nothing is lost.
        unsafe {
            libc::madvise(start.add(skipped).cast(), bytes - skipped, libc::MADV_HUGEPAGE);
        }
    }
    #[cfg(not(target_os = "linux"))]
    let _ = (start, bytes);
}

/// Tells the C library's allocator to keep what is freed for what is asked for next, instead of giving it back to the system: a step asks for
/// scratch of the same sizes again and again, and new pages, which the system has to clear, take time of their own. For programs to
/// call when they begin; single allocations beyond 32 MiB are given back all the same. Returns whether it took effect.
pub fn keep_freed() -> bool {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    {
        const LARGE: libc::c_int = 32 << 20;
        // SAFETY: it sets two numbers in the allocator, under the allocator's own lock; every pointer stays what it was.
        let set = |what, value| unsafe { libc::mallopt(what, value) == 1 };
        set(libc::M_MMAP_THRESHOLD, LARGE) && set(libc::M_TRIM_THRESHOLD, libc::c_int::MAX)
    }
    #[cfg(not(all(target_os = "linux", target_env = "gnu")))]
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What was there before stays, and what is asked for later is as it should be.
    #[test]
    fn freed_memory_may_be_kept() {
        let before: Vec<u64> = (0..100_000).collect();
        assert_eq!(keep_freed(), cfg!(all(target_os = "linux", target_env = "gnu")));
        for count in [10, 300_000, 9 << 20] {
            drop(vec![u32::MAX; count]);
            assert!(zeros::<u32>(count).iter().all(|&value| value == 0), "{count}");
        }
        assert!(before.iter().copied().eq(0..100_000));
    }

    #[test]
    fn a_vector_of_zeros_is_one_of_any_length() {
        for count in [0, 1, 1000, HUGE / 8, 3 * HUGE / 8 + 5] {
            let mut values = zeros::<f64>(count);
            assert_eq!(values.len(), count);
            assert!(values.iter().all(|&value| value == 0.0));
            values.fill(1.0);
        }
    }

    #[test]
    fn a_reservation_beyond_the_budget_changes_nothing() {
        let budget = MemoryBudget::new(100);
        let mut a = budget.reserve_nothing();
        let mut b = budget.reserve_nothing();
        a.resize("a", 60).unwrap();
        let error = b.resize("volume `smoke`", 41).unwrap_err();
        assert!(
            error.to_string().contains("volume `smoke` needs 41 bytes, but only 40"),
            "{error}"
        );
        assert_eq!(budget.used(), 60);
        drop(a);
        b.resize("b", 100).unwrap();
        assert_eq!(budget.used(), 100);
    }

    #[test]
    fn bytes_are_told_in_the_unit_that_fits() {
        for (count, text) in [
            (0, "0 bytes"),
            (999, "999 bytes"),
            (1000, "1.0 kB"),
            (999_960, "1.0 MB"),
            (1_500_000, "1.5 MB"),
            (20_750_000_000, "20.8 GB"),
            (u64::MAX, "18.4 EB"),
        ] {
            assert_eq!(in_words(count), text);
        }
    }
}
