//! Eight numbers at once: two four-wide halves, or one register where the CPU has AVX2.
//!
//! Both do the same operations on the same lanes, so that results have the same bits.

use glam::{Vec4, Vec4Swizzles};
use std::ops::{Add, Mul, Sub};

/// Eight numbers, in two halves of four.
pub(super) trait Eight:
    Copy + Add<Output = Self> + Sub<Output = Self> + Mul<Output = Self>
{
    /// Two halves.
    fn pair(low: Vec4, high: Vec4) -> Self;
    /// The first half.
    fn low(self) -> Vec4;
    /// The second half.
    fn high(self) -> Vec4;
    /// The first lane of each half, all over its half; then the second, and the third.
    fn lanes(self) -> [Self; 3];
    /// The smaller number in each lane.
    fn min(self, other: Self) -> Self;
    /// Eight numbers in memory.
    fn load(from: &[f32; 8]) -> Self;
    /// To memory.
    fn store(self, to: &mut [f32; 8]);

    /// The same number everywhere.
    #[inline(always)]
    fn splat(value: f32) -> Self {
        Self::twice(Vec4::splat(value))
    }
    /// The same half twice.
    #[inline(always)]
    fn twice(half: Vec4) -> Self {
        Self::pair(half, half)
    }
    /// Each lane twice: x, x, y, y, z, z, w, w.
    #[inline(always)]
    fn doubled(half: Vec4) -> Self {
        Self::pair(half.xxyy(), half.zzww())
    }
}

/// Two halves, for any CPU.
#[derive(Clone, Copy)]
pub(super) struct Halves(Vec4, Vec4);

impl Eight for Halves {
    #[inline(always)]
    fn pair(low: Vec4, high: Vec4) -> Self {
        Self(low, high)
    }
    #[inline(always)]
    fn low(self) -> Vec4 {
        self.0
    }
    #[inline(always)]
    fn high(self) -> Vec4 {
        self.1
    }
    #[inline(always)]
    fn lanes(self) -> [Self; 3] {
        let Self(a, b) = self;
        [Self(a.xxxx(), b.xxxx()), Self(a.yyyy(), b.yyyy()), Self(a.zzzz(), b.zzzz())]
    }
    #[inline(always)]
    fn min(self, other: Self) -> Self {
        Self(self.0.min(other.0), self.1.min(other.1))
    }
    #[inline(always)]
    fn load(from: &[f32; 8]) -> Self {
        Self(Vec4::from_slice(&from[..4]), Vec4::from_slice(&from[4..]))
    }
    #[inline(always)]
    fn store(self, to: &mut [f32; 8]) {
        self.0.write_to_slice(&mut to[..4]);
        self.1.write_to_slice(&mut to[4..]);
    }
}

impl Add for Halves {
    type Output = Self;
    #[inline(always)]
    fn add(self, other: Self) -> Self {
        Self(self.0 + other.0, self.1 + other.1)
    }
}

impl Sub for Halves {
    type Output = Self;
    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        Self(self.0 - other.0, self.1 - other.1)
    }
}

impl Mul for Halves {
    type Output = Self;
    #[inline(always)]
    fn mul(self, other: Self) -> Self {
        Self(self.0 * other.0, self.1 * other.1)
    }
}

#[cfg(target_arch = "x86_64")]
pub(super) use avx::Avx;

#[cfg(target_arch = "x86_64")]
mod avx {
    use super::Eight;
    use glam::Vec4;
    use std::arch::x86_64::*;
    use std::ops::{Add, Mul, Sub};

    /// One register. May only be used in functions that are compiled for AVX2, and called where it is
    /// known that the CPU has it.
    #[derive(Clone, Copy)]
    pub struct Avx(__m256);

    // SAFETY of all below: by the rule above, the CPU has the instructions; addresses are those of
    // arrays of eight.
    impl Eight for Avx {
        #[inline(always)]
        fn pair(low: Vec4, high: Vec4) -> Self {
            // SAFETY: as above.
            Self(unsafe { _mm256_set_m128(high.into(), low.into()) })
        }
        #[inline(always)]
        fn low(self) -> Vec4 {
            // SAFETY: as above.
            unsafe { _mm256_castps256_ps128(self.0) }.into()
        }
        #[inline(always)]
        fn high(self) -> Vec4 {
            // SAFETY: as above.
            unsafe { _mm256_extractf128_ps::<1>(self.0) }.into()
        }
        #[inline(always)]
        fn lanes(self) -> [Self; 3] {
            // SAFETY: as above.
            unsafe {
                [
                    Self(_mm256_permute_ps::<0b00_00_00_00>(self.0)),
                    Self(_mm256_permute_ps::<0b01_01_01_01>(self.0)),
                    Self(_mm256_permute_ps::<0b10_10_10_10>(self.0)),
                ]
            }
        }
        #[inline(always)]
        fn min(self, other: Self) -> Self {
            // SAFETY: as above.
            Self(unsafe { _mm256_min_ps(self.0, other.0) })
        }
        #[inline(always)]
        fn load(from: &[f32; 8]) -> Self {
            // SAFETY: as above.
            Self(unsafe { _mm256_loadu_ps(from.as_ptr()) })
        }
        #[inline(always)]
        fn store(self, to: &mut [f32; 8]) {
            // SAFETY: as above.
            unsafe { _mm256_storeu_ps(to.as_mut_ptr(), self.0) }
        }
    }

    impl Add for Avx {
        type Output = Self;
        #[inline(always)]
        fn add(self, other: Self) -> Self {
            // SAFETY: as above.
            Self(unsafe { _mm256_add_ps(self.0, other.0) })
        }
    }

    impl Sub for Avx {
        type Output = Self;
        #[inline(always)]
        fn sub(self, other: Self) -> Self {
            // SAFETY: as above.
            Self(unsafe { _mm256_sub_ps(self.0, other.0) })
        }
    }

    impl Mul for Avx {
        type Output = Self;
        #[inline(always)]
        fn mul(self, other: Self) -> Self {
            // SAFETY: as above.
            Self(unsafe { _mm256_mul_ps(self.0, other.0) })
        }
    }
}
