//! Counts the memory that each thread holds, to show how much a reading takes.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

struct Counting;

#[global_allocator]
static COUNTING: Counting = Counting;

thread_local! {
    static HELD: Cell<usize> = const { Cell::new(0) };
    static PEAK: Cell<usize> = const { Cell::new(0) };
}

// SAFETY: every request goes to the system's allocator as it is, and the counts are cells of the thread that neither
// allocate nor are dropped.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        take(layout.size());
        // SAFETY: as the caller promises.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        take(layout.size());
        // SAFETY: as the caller promises.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        HELD.set(HELD.get().saturating_sub(layout.size()));
        // SAFETY: as the caller promises.
        unsafe { System.dealloc(pointer, layout) }
    }
}

fn take(size: usize) {
    let held = HELD.get().saturating_add(size);
    HELD.set(held);
    PEAK.set(PEAK.get().max(held));
}

/// The most memory that this thread held at a time while it did something, beyond what it held before [bytes].
pub fn peak_of<T>(work: impl FnOnce() -> T) -> (T, usize) {
    let before = HELD.get();
    PEAK.set(before);
    let result = work();
    (result, PEAK.get() - before)
}

#[test]
fn memory_is_counted_by_its_peak() {
    let (length, peak) = peak_of(|| {
        drop(vec![1u8; 5000]);
        vec![0u8; 3000].len()
    });
    assert_eq!(length, 3000);
    assert!((5000..6000).contains(&peak), "{peak}");
}
