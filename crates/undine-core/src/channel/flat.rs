//! The flat layout: one contiguous array per channel, in the order of the elements. Meshes keep their
//! channels so, and Particle Systems in topological order.

use super::set::{ErasedColumn, Layout};
use super::spec::ChannelSpec;
use crate::element::{Element, ElementType};
use crate::error::{CoreError, Result};
use std::any::Any;
use std::ops::{Deref, DerefMut};

/// The layout in which a channel is one array.
#[derive(Debug, Clone, Copy)]
pub struct Flat;

impl Layout for Flat {
    type Column<T: Element> = FlatColumn<T>;
    type Erased = dyn ErasedFlat;

    fn erase<T: Element>(column: FlatColumn<T>) -> Box<dyn ErasedFlat> {
        Box::new(column)
    }
}

/// A channel of `T` as one array; reads and writes like a slice.
///
/// Its allocation is exact at first, and holds never more than a tenth of slack.
#[derive(Debug, Clone, PartialEq)]
pub struct FlatColumn<T> {
    values: Vec<T>,
    default: T,
}

impl<T: Element> FlatColumn<T> {
    /// A column of `len` elements, all at the default of `spec`.
    pub fn new(spec: &ChannelSpec<T>, len: usize) -> Self {
        Self { values: vec![spec.default; len], default: spec.default }
    }

    /// A column with these values; elements that come later hold the default of `spec`.
    pub fn with_values(spec: &ChannelSpec<T>, mut values: Vec<T>) -> Self {
        trim(&mut values);
        Self { values, default: spec.default }
    }

    /// A column with these values and this default.
    pub(crate) fn from_parts(values: Vec<T>, default: T) -> Self {
        Self { values, default }
    }

    /// What new elements hold.
    pub fn default_value(&self) -> T {
        self.default
    }

    /// Adds elements at the end.
    pub fn extend_from_slice(&mut self, values: &[T]) {
        make_room(&mut self.values, values.len());
        self.values.extend_from_slice(values);
    }
}

impl<T> Deref for FlatColumn<T> {
    type Target = [T];
    #[inline]
    fn deref(&self) -> &[T] {
        &self.values
    }
}

impl<T> DerefMut for FlatColumn<T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut [T] {
        &mut self.values
    }
}

/// What can be done to a flat column without knowing its element type.
pub trait ErasedFlat: ErasedColumn {
    /// The type of its elements, and with it the bytes of one.
    fn element_type(&self) -> ElementType;

    /// The number of elements.
    fn len(&self) -> usize;

    /// Whether there is no element.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Cuts the column, or lengthens it by elements that hold the default.
    fn resize(&mut self, len: usize);

    /// Replaces the elements by those at `indices`: a new order, a selection, or both.
    ///
    /// # Panics
    /// If an index is not below [`len`](Self::len); the store, which knows whose index it is, has
    /// checked them once for all its columns.
    fn gather(&mut self, indices: &[u32]);

    /// Adds the elements of `other` at the end. Fails if it holds another type.
    fn append_from(&mut self, other: &dyn ErasedFlat) -> Result<()>;

    /// Replaces each element by one of its shares: of how many, and which.
    fn divide(&mut self, shares: &[(u32, u32)]);

    /// The elements as they lie in memory.
    fn bytes(&self) -> &[u8];

    /// The elements as they lie in memory, to be overwritten.
    fn bytes_mut(&mut self) -> &mut [u8];

    /// Overwrites whole elements from element `first` on. Fails, and changes nothing, if `bytes` is
    /// not a whole number of elements or reaches beyond the end.
    fn write_bytes(&mut self, first: usize, bytes: &[u8]) -> Result<()>;

    /// The first element with a NaN or an infinite component.
    fn first_not_finite(&self) -> Option<usize>;
}

impl<T: Element> ErasedFlat for FlatColumn<T> {
    fn element_type(&self) -> ElementType {
        T::TYPE
    }

    fn len(&self) -> usize {
        self.values.len()
    }

    fn resize(&mut self, len: usize) {
        let more = len.saturating_sub(self.values.len());
        make_room(&mut self.values, more);
        self.values.resize(len, self.default);
        trim(&mut self.values);
    }

    fn gather(&mut self, indices: &[u32]) {
        self.values = indices.iter().map(|&index| self.values[index as usize]).collect();
    }

    fn append_from(&mut self, other: &dyn ErasedFlat) -> Result<()> {
        match other.as_any().downcast_ref::<Self>() {
            Some(other) => self.extend_from_slice(&other.values),
            None => {
                return Err(CoreError::BadValue {
                    what: format!("a column to be appended to one of {}", T::TYPE),
                    found: format!("one of {}", other.element_type()),
                    wanted: "of the same element type",
                });
            }
        }
        Ok(())
    }

    fn divide(&mut self, shares: &[(u32, u32)]) {
        for (value, &(n, part)) in self.values.iter_mut().zip(shares) {
            *value = value.share(n, part);
        }
    }

    fn bytes(&self) -> &[u8] {
        bytemuck::cast_slice(&self.values)
    }

    fn bytes_mut(&mut self) -> &mut [u8] {
        bytemuck::cast_slice_mut(&mut self.values)
    }

    fn write_bytes(&mut self, first: usize, bytes: &[u8]) -> Result<()> {
        if !bytes.len().is_multiple_of(size_of::<T>()) {
            return Err(CoreError::BadValue {
                what: format!("the number of bytes for a column of {}", T::TYPE),
                found: bytes.len().to_string(),
                wanted: "a multiple of the size of an element",
            });
        }
        let count = bytes.len() / size_of::<T>();
        let end = first.checked_add(count).filter(|&end| end <= self.values.len());
        let Some(end) = end else {
            return Err(CoreError::BadIndex {
                what: format!("the end of {count} elements written from element {first} on"),
                index: (first as u64).saturating_add(count as u64),
                count: self.values.len() as u64,
            });
        };
        bytemuck::cast_slice_mut(&mut self.values[first..end]).copy_from_slice(bytes);
        Ok(())
    }

    fn first_not_finite(&self) -> Option<usize> {
        self.values.iter().position(|value| !value.is_finite())
    }
}

impl<T: Element> ErasedColumn for FlatColumn<T> {
    fn as_any(&self) -> &dyn Any {
        self
    }

    fn as_any_mut(&mut self) -> &mut dyn Any {
        self
    }

    fn used_bytes(&self) -> usize {
        size_of_val(self.values.as_slice())
    }

    fn allocated_bytes(&self) -> usize {
        self.values.capacity() * size_of::<T>()
    }

    fn default_bytes(&self) -> &[u8] {
        bytemuck::bytes_of(&self.default)
    }
}

/// Makes room for `more` elements. The first allocation is exact; later ones leave a sixteenth of
/// slack, so that many small additions still cost a constant each.
fn make_room<T>(values: &mut Vec<T>, more: usize) {
    let needed = values.len().saturating_add(more);
    if needed > values.capacity() {
        let slack = if values.is_empty() { 0 } else { needed / 16 };
        values.reserve_exact(more.saturating_add(slack));
    }
}

/// Gives memory back once more than a tenth of what is used would lie idle.
fn trim<T>(values: &mut Vec<T>) {
    if values.capacity() - values.len() > values.len() / 10 {
        values.shrink_to_fit();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::channel::ChannelSet;
    use glam::{DVec3, Vec3};

    fn spec() -> ChannelSpec<Vec3> {
        ChannelSpec::new("velocity", Vec3::ONE)
    }

    #[test]
    fn new_elements_hold_the_default() {
        let mut column = FlatColumn::with_values(&spec(), vec![Vec3::X]);
        column.resize(3);
        assert_eq!(*column, [Vec3::X, Vec3::ONE, Vec3::ONE]);
        column.resize(1);
        assert_eq!(*column, [Vec3::X]);
    }

    #[test]
    fn gather_selects_and_reorders() {
        let mut column = FlatColumn::with_values(&spec(), vec![Vec3::X, Vec3::Y, Vec3::Z]);
        column.gather(&[2, 0, 2]);
        assert_eq!(*column, [Vec3::Z, Vec3::X, Vec3::Z]);
    }

    #[test]
    fn bytes_go_out_and_come_back() {
        let source = FlatColumn::with_values(&spec(), vec![Vec3::X, Vec3::Y]);
        let mut column = FlatColumn::new(&spec(), 3);
        column.write_bytes(1, source.bytes()).unwrap();
        assert_eq!(*column, [Vec3::ONE, Vec3::X, Vec3::Y]);
        column.bytes_mut()[..24].copy_from_slice(source.bytes());
        assert_eq!(*column, [Vec3::X, Vec3::Y, Vec3::Y]);
        assert_eq!(column.default_bytes(), bytemuck::bytes_of(&Vec3::ONE));
    }

    #[test]
    fn bytes_that_do_not_fit_are_refused_and_change_nothing() {
        let mut column = FlatColumn::new(&spec(), 2);
        assert!(matches!(column.write_bytes(0, &[0; 13]), Err(CoreError::BadValue { .. })));
        for first in [1, usize::MAX] {
            let error = column.write_bytes(first, &[0; 24]).unwrap_err();
            assert!(matches!(error, CoreError::BadIndex { count: 2, .. }), "{error}");
        }
        assert_eq!(*column, [Vec3::ONE; 2]);
    }

    #[test]
    fn columns_append_only_their_own_type() {
        let mut column = FlatColumn::new(&spec(), 1);
        column.append_from(&FlatColumn::with_values(&spec(), vec![Vec3::X])).unwrap();
        assert_eq!(*column, [Vec3::ONE, Vec3::X]);
        let other = FlatColumn::new(&ChannelSpec::new("position", DVec3::ZERO), 1);
        let message = column.append_from(&other).unwrap_err().to_string();
        assert!(message.contains("vec3") && message.contains("dvec3"), "{message}");
    }

    #[test]
    fn the_first_value_that_is_not_finite_is_found() {
        let mut column = FlatColumn::new(&spec(), 4);
        assert_eq!(column.first_not_finite(), None);
        column[2].y = f32::NAN;
        column[3].x = f32::INFINITY;
        assert_eq!(column.first_not_finite(), Some(2));
    }

    #[test]
    fn at_most_a_tenth_of_a_column_lies_idle() {
        let mut column = FlatColumn::new(&spec(), 0);
        let check = |column: &FlatColumn<Vec3>| {
            let (used, allocated) = (column.used_bytes(), column.allocated_bytes());
            assert!(allocated - used <= used / 10, "{allocated} for {used}");
        };
        for _ in 0..1000 {
            column.extend_from_slice(&[Vec3::X]);
            check(&column);
        }
        for len in [990, 500, 2000, 1, 0] {
            column.resize(len);
            check(&column);
        }
        let mut loose = Vec::with_capacity(100);
        loose.push(Vec3::X);
        check(&FlatColumn::with_values(&spec(), loose));
    }

    #[test]
    fn a_set_of_flat_channels_is_read_through_handles() {
        let mut set = ChannelSet::<Flat>::new("the mesh");
        let velocity = set.add(&spec(), FlatColumn::new(&spec(), 2)).unwrap();
        set.get_mut(velocity).unwrap()[1] = Vec3::ZERO;
        assert_eq!(**set.read(velocity, "test").unwrap(), [Vec3::ONE, Vec3::ZERO]);
        for (_, column) in set.columns_mut() {
            column.gather(&[1]);
        }
        assert_eq!(**set.read(velocity, "test").unwrap(), [Vec3::ZERO]);
    }
}
