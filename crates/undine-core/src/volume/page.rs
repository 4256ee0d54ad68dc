//! Memory for voxels: aligned to cache lines, and large pieces in huge pages of the system.
//!
//! A stencil reads seven chunks at once. With pages of 4 KiB each of them needs its own entry in the
//! CPU's table of pages, which is too small for that; with pages of 2 MiB it is not.

use crate::memory::{HUGE, ask_for_huge_pages};
use bytemuck::Pod;
use std::alloc::{Layout, alloc, dealloc, handle_alloc_error};
use std::ptr::NonNull;

/// A cache line [bytes].
const LINE: usize = 64;

/// Bytes that start as zero, aligned to a cache line, or to a huge page if there are as many.
pub(super) struct Page {
    start: NonNull<u8>,
    bytes: usize,
}

// SAFETY: a page owns its bytes, which are plain data.
unsafe impl Send for Page {}
// SAFETY: shared references only read.
unsafe impl Sync for Page {}

impl Page {
    /// A page of zeros.
    pub fn zeroed(bytes: usize) -> Self {
        if bytes == 0 {
            return Self { start: NonNull::dangling(), bytes };
        }
        let layout = Self::layout(bytes);
        // SAFETY: the layout is not empty.
        let Some(start) = NonNull::new(unsafe { alloc(layout) }) else {
            handle_alloc_error(layout)
        };
        ask_for_huge_pages(start.as_ptr(), bytes);
        // SAFETY: these bytes were just allocated.
        unsafe { start.write_bytes(0, bytes) };
        Self { start, bytes }
    }

    /// Cuts the page, or lengthens it by zeros.
    pub fn resize(&mut self, bytes: usize) {
        if bytes != self.bytes {
            let mut other = Self::zeroed(bytes);
            let kept = bytes.min(self.bytes);
            other.values_mut::<u8>()[..kept].copy_from_slice(&self.values::<u8>()[..kept]);
            *self = other;
        }
    }

    /// How many bytes there are.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// The address of the first value.
    pub fn as_mut_ptr<T: Pod>(&mut self) -> *mut T {
        self.start.as_ptr().cast()
    }

    /// The page as values.
    #[inline]
    pub fn values<T: Pod>(&self) -> &[T] {
        const { assert!(align_of::<T>() <= LINE && size_of::<T>() > 0) };
        let start = if self.bytes == 0 { NonNull::dangling() } else { self.start.cast::<T>() };
        // SAFETY: all bytes are initialised, any bytes are a `T`, and it is aligned to more than `T`.
        unsafe { NonNull::slice_from_raw_parts(start, self.bytes / size_of::<T>()).as_ref() }
    }

    /// The page as values.
    #[inline]
    pub fn values_mut<T: Pod>(&mut self) -> &mut [T] {
        const { assert!(align_of::<T>() <= LINE && size_of::<T>() > 0) };
        let start = if self.bytes == 0 { NonNull::dangling() } else { self.start.cast::<T>() };
        // SAFETY: as in `values`, and nobody else has the page.
        unsafe { NonNull::slice_from_raw_parts(start, self.bytes / size_of::<T>()).as_mut() }
    }

    fn layout(bytes: usize) -> Layout {
        let align = if bytes >= HUGE { HUGE } else { LINE };
        Layout::from_size_align(bytes, align).expect("less than half of all addresses")
    }
}

impl Drop for Page {
    fn drop(&mut self) {
        if self.bytes > 0 {
            // SAFETY: allocated by `zeroed` with this very layout.
            unsafe { dealloc(self.start.as_ptr(), Self::layout(self.bytes)) };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_keeps_its_bytes_when_it_grows_and_shrinks() {
        let mut page = Page::zeroed(0);
        assert!(page.values::<f32>().is_empty() && page.values_mut::<u64>().is_empty());
        for bytes in [64, 640, 64 * 100, HUGE - 64, HUGE, 2 * HUGE + 64, HUGE / 2, 64, 0, 128] {
            let kept = page.values::<u32>().len().min(bytes / 4);
            page.resize(bytes);
            assert_eq!(page.bytes(), bytes);
            assert!(page.values::<u32>()[..kept].iter().enumerate().all(|(n, &v)| v == n as u32));
            assert!(page.values::<u32>()[kept..].iter().all(|&value| value == 0));
            page.values_mut::<u32>().iter_mut().enumerate().for_each(|(n, v)| *v = n as u32);
        }
    }

    #[test]
    fn pages_are_aligned_to_lines_and_large_ones_to_huge_pages() {
        let address = |bytes| Page::zeroed(bytes).values::<u8>().as_ptr() as usize;
        assert!([64, 4096, HUGE - 64].iter().all(|&bytes| address(bytes).is_multiple_of(LINE)));
        assert!([HUGE, 3 * HUGE + 64].iter().all(|&bytes| address(bytes).is_multiple_of(HUGE)));
    }
}
