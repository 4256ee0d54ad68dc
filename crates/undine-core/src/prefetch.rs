//! A hint to the CPU that memory will be needed soon, where the order of visits is not that of memory.

/// Asks the CPU to fetch the line of an address, wherever it points.
#[inline(always)]
pub(crate) fn prefetch<T>(address: *const T) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: a hint, without effect but on speed; every x86-64 CPU knows it.
    unsafe {
        use std::arch::x86_64::{_MM_HINT_T1, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T1>(address.cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = address;
}
