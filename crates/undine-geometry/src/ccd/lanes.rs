//! A few numbers at once. Plain arrays: the compiler makes vector instructions of them, the widest that the caller was
//! compiled for.

use std::ops::{Add, Mul, Sub};

/// How many pairs go through the filter at once.
pub(super) const LANES: usize = 4;

/// As many numbers as there are lanes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Lanes(pub [f64; LANES]);

impl Lanes {
    /// The same in every lane.
    #[inline(always)]
    pub fn splat(value: f64) -> Self {
        Self([value; LANES])
    }

    #[inline(always)]
    fn zip(self, other: Self, f: impl Fn(f64, f64) -> f64) -> Self {
        let mut out = self;
        for lane in 0..LANES {
            out.0[lane] = f(self.0[lane], other.0[lane]);
        }
        out
    }

    /// The lesser; of NaN and a number, either. (`f64::min` promises more, and costs more.)
    #[inline(always)]
    pub fn min(self, other: Self) -> Self {
        self.zip(other, |a, b| if a < b { a } else { b })
    }

    /// The greater; of NaN and a number, either.
    #[inline(always)]
    pub fn max(self, other: Self) -> Self {
        self.zip(other, |a, b| if a > b { a } else { b })
    }

    /// The absolute value.
    #[inline(always)]
    pub fn abs(self) -> Self {
        let mut out = self;
        for lane in 0..LANES {
            out.0[lane] = self.0[lane].abs();
        }
        out
    }

    /// The quotient.
    #[inline(always)]
    pub fn over(self, other: Self) -> Self {
        self.zip(other, |a, b| a / b)
    }

    /// Where `self < limit`: `a`, and elsewhere `b`.
    #[inline(always)]
    pub fn select_less(self, limit: Self, a: Self, b: Self) -> Self {
        let mut out = b;
        for lane in 0..LANES {
            out.0[lane] = if self.0[lane] < limit.0[lane] { a.0[lane] } else { b.0[lane] };
        }
        out
    }
}

impl Add for Lanes {
    type Output = Self;
    #[inline(always)]
    fn add(self, other: Self) -> Self {
        self.zip(other, |a, b| a + b)
    }
}

impl Sub for Lanes {
    type Output = Self;
    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        self.zip(other, |a, b| a - b)
    }
}

impl Mul for Lanes {
    type Output = Self;
    #[inline(always)]
    fn mul(self, other: Self) -> Self {
        self.zip(other, |a, b| a * b)
    }
}

/// A vector per lane.
#[derive(Debug, Clone, Copy)]
pub(super) struct Vectors {
    pub x: Lanes,
    pub y: Lanes,
    pub z: Lanes,
}

impl Vectors {
    /// The scalar products.
    #[inline(always)]
    pub fn dot(self, other: Self) -> Lanes {
        self.x * other.x + self.y * other.y + self.z * other.z
    }

    /// Each vector times its own factor.
    #[inline(always)]
    pub fn times(self, factor: Lanes) -> Self {
        Self { x: self.x * factor, y: self.y * factor, z: self.z * factor }
    }

    /// Sums of absolute coordinates, which are not less than lengths.
    #[inline(always)]
    pub fn extent(self) -> Lanes {
        self.x.abs() + self.y.abs() + self.z.abs()
    }

    /// Where `test < limit`: `a`, and elsewhere `b`.
    #[inline(always)]
    pub fn select_less(test: Lanes, limit: Lanes, a: Self, b: Self) -> Self {
        let pick = |a: Lanes, b: Lanes| test.select_less(limit, a, b);
        Self { x: pick(a.x, b.x), y: pick(a.y, b.y), z: pick(a.z, b.z) }
    }
}

impl Add for Vectors {
    type Output = Self;
    #[inline(always)]
    fn add(self, other: Self) -> Self {
        Self { x: self.x + other.x, y: self.y + other.y, z: self.z + other.z }
    }
}

impl Sub for Vectors {
    type Output = Self;
    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        Self { x: self.x - other.x, y: self.y - other.y, z: self.z - other.z }
    }
}
