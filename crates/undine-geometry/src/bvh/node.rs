//! A node of the tree: eight boxes side by side, so that one instruction meets all of them.

/// How many children a node has, and how many triangles a leaf.
pub(super) const WIDTH: usize = 8;

/// One number for each child of a node or each triangle of a leaf.
pub(super) type Lanes = [f32; WIDTH];

/// A box in the tree's coordinates.
#[derive(Debug, Clone, Copy)]
pub(super) struct Cell {
    pub(super) low: [f32; 3],
    pub(super) high: [f32; 3],
}

impl Cell {
    /// Holds nothing.
    pub(super) const NONE: Self = Self { low: [f32::INFINITY; 3], high: [f32::NEG_INFINITY; 3] };

    /// The box around both.
    #[inline(always)]
    pub(super) fn union(mut self, other: &Self) -> Self {
        for axis in 0..3 {
            self.low[axis] = least(self.low[axis], other.low[axis]);
            self.high[axis] = most(self.high[axis], other.high[axis]);
        }
        self
    }

    /// Half of its surface.
    #[inline(always)]
    pub(super) fn half_area(&self) -> f32 {
        let [x, y, z]: [f32; 3] = std::array::from_fn(|axis| self.high[axis] - self.low[axis]);
        if x < 0.0 { 0.0 } else { x * y + y * z + z * x }
    }
}

/// What lies under a child's box.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Child(u32);

/// A [`Child`], told apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Under {
    Nothing,
    Node(usize),
    Leaf(usize),
}

impl Child {
    pub(super) const NONE: Self = Self(u32::MAX);
    const LEAF: u32 = 1 << 31;

    pub(super) fn node(index: usize) -> Self {
        Self(index as u32)
    }

    pub(super) fn leaf(index: usize) -> Self {
        Self(index as u32 | Self::LEAF)
    }

    #[inline(always)]
    pub(super) fn under(self) -> Under {
        match self {
            Self::NONE => Under::Nothing,
            Self(bits) if bits & Self::LEAF != 0 => Under::Leaf((bits & !Self::LEAF) as usize),
            Self(bits) => Under::Node(bits as usize),
        }
    }
}

/// Eight boxes and what lies under them. Children that are not there come last, with boxes that hold nothing.
#[derive(Debug, Clone)]
#[repr(align(64))]
pub(super) struct Node {
    pub(super) low: [Lanes; 3],
    pub(super) high: [Lanes; 3],
    pub(super) children: [Child; WIDTH],
}

impl Node {
    pub(super) const EMPTY: Self = Self {
        low: [[f32::INFINITY; WIDTH]; 3],
        high: [[f32::NEG_INFINITY; WIDTH]; 3],
        children: [Child::NONE; WIDTH],
    };

    pub(super) fn cell(&self, slot: usize) -> Cell {
        Cell {
            low: std::array::from_fn(|axis| self.low[axis][slot]),
            high: std::array::from_fn(|axis| self.high[axis][slot]),
        }
    }

    pub(super) fn set_cell(&mut self, slot: usize, cell: &Cell) {
        for axis in 0..3 {
            self.low[axis][slot] = cell.low[axis];
            self.high[axis][slot] = cell.high[axis];
        }
    }

    /// The box around all children.
    pub(super) fn around(&self) -> Cell {
        (0..WIDTH).fold(Cell::NONE, |cell, slot| cell.union(&self.cell(slot)))
    }
}

/// The lesser, as the processor's own minimum has it (`f32::min` takes three more instructions over NaN).
#[inline(always)]
pub(super) fn least(a: f32, b: f32) -> f32 {
    if a < b { a } else { b }
}

/// The greater, as the processor's own maximum has it.
#[inline(always)]
pub(super) fn most(a: f32, b: f32) -> f32 {
    if a > b { a } else { b }
}
