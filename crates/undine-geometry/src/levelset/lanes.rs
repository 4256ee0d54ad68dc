//! Eight numbers at once: a row of voxels along z.
//!
//! Plain loops over eight, which the compiler turns into one instruction each, or two where registers are short. All
//! is inlined, so that it is compiled for whatever instructions its caller chose.

use std::ops::{Add, BitAnd, BitOr, Div, Mul, Not, Sub};

/// Eight numbers.
#[derive(Debug, Clone, Copy)]
#[repr(C, align(32))]
pub(crate) struct Lanes(pub [f32; 8]);

/// Eight answers: all bits of a lane, or none.
#[derive(Debug, Clone, Copy)]
#[repr(C, align(32))]
pub(crate) struct Which([u32; 8]);

impl Lanes {
    #[inline(always)]
    pub fn splat(value: f32) -> Self {
        Self([value; 8])
    }

    /// Eight numbers from a place on.
    #[inline(always)]
    pub fn load(values: &[f32], at: usize) -> Self {
        Self(*values[at..].first_chunk().expect("eight numbers"))
    }

    #[inline(always)]
    fn each(self, other: Self, f: impl Fn(f32, f32) -> f32) -> Self {
        let mut result = self.0;
        for (n, to) in result.iter_mut().enumerate() {
            *to = f(self.0[n], other.0[n]);
        }
        Self(result)
    }

    #[inline(always)]
    fn compare(self, other: Self, f: impl Fn(f32, f32) -> bool) -> Which {
        let mut result = [0; 8];
        for (n, to) in result.iter_mut().enumerate() {
            *to = if f(self.0[n], other.0[n]) { u32::MAX } else { 0 };
        }
        Which(result)
    }

    #[inline(always)]
    pub fn below(self, other: Self) -> Which {
        self.compare(other, |a, b| a < b)
    }

    #[inline(always)]
    pub fn at_most(self, other: Self) -> Which {
        self.compare(other, |a, b| a <= b)
    }

    /// The smaller ones; `other` where one is no number.
    #[inline(always)]
    pub fn min(self, other: Self) -> Self {
        self.each(other, |a, b| if a < b { a } else { b })
    }

    /// The larger ones; `other` where one is no number.
    #[inline(always)]
    pub fn max(self, other: Self) -> Self {
        self.each(other, |a, b| if a > b { a } else { b })
    }

    #[inline(always)]
    pub fn abs(self) -> Self {
        self.each(self, |a, _| a.abs())
    }

    #[inline(always)]
    pub fn sqrt(self) -> Self {
        self.each(self, |a, _| a.sqrt())
    }

    /// With the sign of `other`, where that is not zero, multiplied by its own.
    #[inline(always)]
    pub fn times_sign_of(self, other: Self) -> Self {
        self.each(other, |a, b| f32::from_bits(a.to_bits() ^ (b.to_bits() & 1 << 31)))
    }
}

impl Which {
    #[inline(always)]
    fn each(self, other: Self, f: impl Fn(u32, u32) -> u32) -> Self {
        let mut result = self.0;
        for (n, to) in result.iter_mut().enumerate() {
            *to = f(self.0[n], other.0[n]);
        }
        Self(result)
    }

    /// `yes` or `no`, lane by lane. By bits: an `if` would tempt the compiler to choose addresses, one by one.
    #[inline(always)]
    pub fn pick(self, yes: Lanes, no: Lanes) -> Lanes {
        let mut result = no.0;
        for (n, to) in result.iter_mut().enumerate() {
            let (yes, no) = (yes.0[n].to_bits(), no.0[n].to_bits());
            *to = f32::from_bits((yes & self.0[n]) | (no & !self.0[n]));
        }
        Lanes(result)
    }

    #[inline(always)]
    pub fn any(self) -> bool {
        self.0.iter().fold(0, |any, lane| any | lane) != 0
    }

    /// Those that differ.
    #[inline(always)]
    pub fn differs(self, other: Self) -> Self {
        self.each(other, |a, b| a ^ b)
    }
}

impl BitAnd for Which {
    type Output = Self;
    #[inline(always)]
    fn bitand(self, other: Self) -> Self {
        self.each(other, |a, b| a & b)
    }
}

impl BitOr for Which {
    type Output = Self;
    #[inline(always)]
    fn bitor(self, other: Self) -> Self {
        self.each(other, |a, b| a | b)
    }
}

impl Not for Which {
    type Output = Self;
    #[inline(always)]
    fn not(self) -> Self {
        self.each(self, |a, _| !a)
    }
}

impl Add for Lanes {
    type Output = Self;
    #[inline(always)]
    fn add(self, other: Self) -> Self {
        self.each(other, |a, b| a + b)
    }
}

impl Sub for Lanes {
    type Output = Self;
    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        self.each(other, |a, b| a - b)
    }
}

impl Mul for Lanes {
    type Output = Self;
    #[inline(always)]
    fn mul(self, other: Self) -> Self {
        self.each(other, |a, b| a * b)
    }
}

impl Div for Lanes {
    type Output = Self;
    #[inline(always)]
    fn div(self, other: Self) -> Self {
        self.each(other, |a, b| a / b)
    }
}

impl Mul<Lanes> for f32 {
    type Output = Lanes;
    #[inline(always)]
    fn mul(self, other: Lanes) -> Lanes {
        Lanes::splat(self) * other
    }
}
