//! The element types that a channel may hold, and the little arithmetic that stores need on them:
//! sums for scatter, means for merging particles, a test for finite values.

use bytemuck::Pod;
use glam::{DMat3, DMat4, DQuat, DVec2, DVec3, DVec4, IVec3, Mat3, Mat4, Quat, Vec2, Vec3, Vec4};
use std::fmt::{self, Debug, Display};

/// A value that a channel can hold. The set of implementors is closed; [`ElementType`] lists it.
pub trait Element: sealed::Sealed + Pod + PartialEq + Debug + Send + Sync {
    /// The run-time name of this type.
    const TYPE: ElementType;

    /// Whether every component is finite; integers always are.
    fn is_finite(&self) -> bool;

    /// The component-wise sum.
    fn sum(self, other: Self) -> Self;

    /// The component-wise smaller one.
    fn min(self, other: Self) -> Self;

    /// The component-wise larger one.
    fn max(self, other: Self) -> Self;

    /// Share `part`, from 0, of `n`: equal, but for integers the first ones may be larger by one, so
    /// that all shares together are the whole. A rotation stays.
    fn share(self, n: u32, part: u32) -> Self;

    /// The mean of `items` with weights, summed in `f64` in the order given. Quaternions are brought
    /// into one half-space and normalised. All weights zero: the plain mean. No mean: the first value.
    fn weighted_mean(items: &[(f64, Self)]) -> Self;
}

/// Keeps the set of implementors closed.
mod sealed {
    pub trait Sealed {}
}

/// Work on an element type that is known only when the program runs: see [`ElementType::visit`].
pub trait ElementVisitor {
    /// What the work results in, whatever the type.
    type Output;

    /// The work, for one type.
    fn visit<T: Element>(self) -> Self::Output;
}

/// The run-time name of what an element's components are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ScalarType {
    /// `f32`
    F32,
    /// `f64`
    F64,
    /// `i32`
    I32,
    /// `u32`
    U32,
    /// `u64`
    U64,
}

/// The scalar that an element is made of.
trait Scalar: Pod + PartialOrd {
    const TYPE: ScalarType;
    fn share(self, n: u32, part: u32) -> Self;
    fn plus(self, other: Self) -> Self;
    fn finite(self) -> bool;
    fn to_f64(self) -> f64;
    fn from_f64(value: f64) -> Self;
}

impl Scalar for f32 {
    const TYPE: ScalarType = ScalarType::F32;
    fn share(self, n: u32, _: u32) -> Self {
        (f64::from(self) / f64::from(n)) as f32
    }
    #[inline]
    fn plus(self, other: Self) -> Self {
        self + other
    }
    fn finite(self) -> bool {
        self.is_finite()
    }
    fn to_f64(self) -> f64 {
        f64::from(self)
    }
    fn from_f64(value: f64) -> Self {
        value as f32
    }
}

impl Scalar for f64 {
    const TYPE: ScalarType = ScalarType::F64;
    fn share(self, n: u32, _: u32) -> Self {
        self / f64::from(n)
    }
    #[inline]
    fn plus(self, other: Self) -> Self {
        self + other
    }
    fn finite(self) -> bool {
        self.is_finite()
    }
    fn to_f64(self) -> f64 {
        self
    }
    fn from_f64(value: f64) -> Self {
        value
    }
}

/// Integers wrap on overflow, so that a sum does not depend on its order.
macro_rules! integer_scalar {
    ($($scalar:ty, $name:ident);*) => {$(
        impl Scalar for $scalar {
            const TYPE: ScalarType = ScalarType::$name;
            fn share(self, n: u32, part: u32) -> Self {
                // Wide enough for every value and every number of shares.
                let (whole, n) = (i128::from(self), i128::from(n));
                let share = whole.div_euclid(n) + i128::from(i128::from(part) < whole.rem_euclid(n));
                share as $scalar
            }
            #[inline]
            fn plus(self, other: Self) -> Self {
                self.wrapping_add(other)
            }
            fn finite(self) -> bool {
                true
            }
            fn to_f64(self) -> f64 {
                self as f64
            }
            fn from_f64(value: f64) -> Self {
                value.round() as $scalar
            }
        }
    )*};
}
integer_scalar!(i32, I32; u32, U32; u64, U64);

/// Applies `f` to each pair of components of `a` and `b`.
#[inline]
fn zip_lanes<T: Pod, S: Scalar, const N: usize>(a: T, b: T, f: impl Fn(S, S) -> S) -> T {
    let (a, b): ([S; N], [S; N]) = (bytemuck::cast(a), bytemuck::cast(b));
    bytemuck::cast(std::array::from_fn::<S, N, _>(|lane| f(a[lane], b[lane])))
}

fn mean_lanes<T: Pod, S: Scalar, const N: usize>(items: &[(f64, T)], rotation: bool) -> T {
    let unweighted = items.iter().all(|(weight, _)| *weight == 0.0);
    let lanes = |item: &T| -> [f64; N] {
        bytemuck::cast::<T, [S; N]>(*item).map(|component| component.to_f64())
    };
    let mut sum = [0.0; N];
    let mut total = 0.0;
    for (weight, item) in items {
        let weight = if unweighted { 1.0 } else { *weight };
        let item = lanes(item);
        // q and −q are the same rotation: flip each into the half-space of what is there already.
        let alignment: f64 = sum.iter().zip(&item).map(|(a, b)| a * b).sum();
        let sign = if rotation && alignment < 0.0 { -1.0 } else { 1.0 };
        for (sum, component) in sum.iter_mut().zip(item) {
            *sum += sign * weight * component;
        }
        total += weight;
    }
    let scale = if rotation { sum.iter().map(|c| c * c).sum::<f64>().sqrt() } else { total };
    // Without a mean (nothing to normalise, weights that cancel) the first value stands for all.
    if scale == 0.0 {
        return items.first().map_or_else(T::zeroed, |item| item.1);
    }
    bytemuck::cast(sum.map(|component| S::from_f64(component / scale)))
}

/// Declares the closed list of element types once: variant, Rust type, scalar, components, name.
macro_rules! elements {
    ($($variant:ident $type:ty, $scalar:ty, $lanes:literal, $name:literal, rotation: $rotation:literal;)*) => {
        /// The run-time name of an element type.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum ElementType {
            $(#[doc = concat!("`", $name, "`")] $variant,)*
        }

        impl ElementType {
            /// Every element type there is.
            pub const ALL: &[Self] = &[$(Self::$variant,)*];

            /// The name as written in files and messages, for example `vec3`.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }

            /// Bytes of one element.
            pub const fn bytes(self) -> usize {
                match self { $(Self::$variant => size_of::<$type>(),)* }
            }

            /// What its components are.
            pub const fn scalar(self) -> ScalarType {
                match self { $(Self::$variant => <$scalar as Scalar>::TYPE,)* }
            }

            /// The type of this name, if there is one.
            pub fn from_name(name: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|element| element.name() == name)
            }

            /// Calls the visitor with the type itself: the way from a type that a file names to code that is
            /// written for one.
            pub fn visit<V: ElementVisitor>(self, visitor: V) -> V::Output {
                match self { $(Self::$variant => visitor.visit::<$type>(),)* }
            }
        }

        $(impl sealed::Sealed for $type {}

        impl Element for $type {
            const TYPE: ElementType = ElementType::$variant;

            fn is_finite(&self) -> bool {
                bytemuck::cast_ref::<Self, [$scalar; $lanes]>(self).iter().all(|c| c.finite())
            }
            #[inline]
            fn sum(self, other: Self) -> Self {
                zip_lanes::<Self, $scalar, $lanes>(self, other, Scalar::plus)
            }
            #[inline]
            fn min(self, other: Self) -> Self {
                zip_lanes::<Self, $scalar, $lanes>(self, other, |a, b| if b < a { b } else { a })
            }
            #[inline]
            fn max(self, other: Self) -> Self {
                zip_lanes::<Self, $scalar, $lanes>(self, other, |a, b| if b > a { b } else { a })
            }
            fn share(self, n: u32, part: u32) -> Self {
                let share = |a: $scalar, _| Scalar::share(a, n, part);
                if $rotation { self } else { zip_lanes::<Self, $scalar, $lanes>(self, self, share) }
            }
            fn weighted_mean(items: &[(f64, Self)]) -> Self {
                mean_lanes::<Self, $scalar, $lanes>(items, $rotation)
            }
        })*
    };
}

elements! {
    F32 f32, f32, 1, "f32", rotation: false;
    F64 f64, f64, 1, "f64", rotation: false;
    I32 i32, i32, 1, "i32", rotation: false;
    U32 u32, u32, 1, "u32", rotation: false;
    U64 u64, u64, 1, "u64", rotation: false;
    Vec2 Vec2, f32, 2, "vec2", rotation: false;
    Vec3 Vec3, f32, 3, "vec3", rotation: false;
    Vec4 Vec4, f32, 4, "vec4", rotation: false;
    IVec3 IVec3, i32, 3, "ivec3", rotation: false;
    DVec2 DVec2, f64, 2, "dvec2", rotation: false;
    DVec3 DVec3, f64, 3, "dvec3", rotation: false;
    DVec4 DVec4, f64, 4, "dvec4", rotation: false;
    Mat3 Mat3, f32, 9, "mat3", rotation: false;
    Mat4 Mat4, f32, 16, "mat4", rotation: false;
    DMat3 DMat3, f64, 9, "dmat3", rotation: false;
    DMat4 DMat4, f64, 16, "dmat4", rotation: false;
    Quat Quat, f32, 4, "quat", rotation: true;
    DQuat DQuat, f64, 4, "dquat", rotation: true;
}

impl ElementType {
    /// Whether the components are integers, of which no mean can be taken.
    pub const fn is_integer(self) -> bool {
        matches!(self, Self::I32 | Self::U32 | Self::U64 | Self::IVec3)
    }
}

impl Display for ElementType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_weighted_mean_is_exact_for_simple_weights() {
        let mean = Vec3::weighted_mean(&[(1.0, Vec3::X), (3.0, Vec3::Y)]);
        assert_eq!(mean, Vec3::new(0.25, 0.75, 0.0));
        assert_eq!(f64::weighted_mean(&[(0.0, 1.0), (0.0, 3.0)]), 2.0);
    }

    #[test]
    fn the_mean_of_a_rotation_and_its_negative_is_that_rotation() {
        let q = Quat::from_rotation_x(0.7);
        let mean = Quat::weighted_mean(&[(1.0, q), (1.0, -q)]);
        assert!(mean.dot(q).abs() > 1.0 - 1e-6);
        assert!((mean.length() - 1.0).abs() < 1e-6);
    }

    #[test]
    fn shares_of_integers_make_the_whole_again() {
        for (whole, n) in [(5, 2), (-5, 3), (0, 7), (i32::MIN, 3), (2, 5)] {
            let shares: Vec<i32> = (0..n).map(|part| Element::share(whole, n, part)).collect();
            assert_eq!(shares.iter().sum::<i32>(), whole);
            assert!(shares[0] - shares[n as usize - 1] <= 1 && shares.is_sorted_by(|a, b| a >= b));
        }
        let whole = u64::MAX - 1;
        let shares = (0..3).map(|part| Element::share(whole, 3, part));
        assert_eq!(shares.sum::<u64>(), whole);
    }

    #[test]
    fn where_there_is_no_mean_the_first_value_stands() {
        assert_eq!(f32::weighted_mean(&[(1.0, 3.0), (-1.0, 5.0)]), 3.0);
        let zero = Quat::from_xyzw(0.0, 0.0, 0.0, 0.0);
        assert_eq!(Quat::weighted_mean(&[(1.0, zero), (1.0, zero)]), zero);
    }

    #[test]
    fn every_element_type_has_its_own_name() {
        let mut names: Vec<_> = ElementType::ALL.iter().map(|t| t.name()).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), ElementType::ALL.len());
    }

    #[test]
    fn a_type_is_found_by_name_and_visited_as_itself() {
        struct TypeOf;
        impl ElementVisitor for TypeOf {
            type Output = (ElementType, usize);
            fn visit<T: Element>(self) -> Self::Output {
                (T::TYPE, size_of::<T>())
            }
        }
        for &element in ElementType::ALL {
            assert_eq!(ElementType::from_name(element.name()), Some(element));
            assert_eq!(element.visit(TypeOf), (element, element.bytes()));
        }
        assert_eq!(ElementType::from_name("vec5"), None);
        assert_eq!(ElementType::Mat3.scalar(), ScalarType::F32);
        assert_eq!(ElementType::DQuat.scalar(), ScalarType::F64);
        assert_eq!(ElementType::IVec3.scalar(), ScalarType::I32);
    }

    #[test]
    fn not_finite_is_found_in_any_component() {
        assert!(
            !Mat3::from_cols(Vec3::ZERO, Vec3::ZERO, Vec3::new(0.0, f32::NAN, 0.0)).is_finite()
        );
        assert!(!DVec3::new(f64::INFINITY, 0.0, 0.0).is_finite());
        assert!(7_u64.is_finite());
    }
}
