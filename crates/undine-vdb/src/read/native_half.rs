//! Values of the type half float itself, which version 225 knows: read as such, and then made `f32`.

use half::f16;

use crate::tree::{Leaves, Tile, Tree};
use crate::value::{Kind, Value};

/// A half float as a value of its own.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct NativeHalf(f16);

impl Value for NativeHalf {
    const KIND: Kind = Kind::Float;
    const SIZE: usize = 2;

    fn negative(self) -> Self {
        Self(-self.0)
    }

    fn put(values: &[Self], bytes: &mut Vec<u8>) {
        bytes.extend(values.iter().flat_map(|value| value.0.to_le_bytes()));
    }

    fn get(bytes: &[u8], values: &mut [Self]) {
        for (value, part) in values.iter_mut().zip(bytes.as_chunks::<2>().0) {
            *value = Self(f16::from_le_bytes(*part));
        }
    }
}

/// The same tree of `f32`.
pub(crate) fn widened(tree: Tree<NativeHalf>) -> Tree<f32> {
    let tile = |tile: Tile<NativeHalf>| Tile {
        origin: tile.origin,
        level: tile.level,
        value: tile.value.0.to_f32(),
        active: tile.active,
    };
    Tree {
        background: tree.background.0.to_f32(),
        tiles: tree.tiles.into_iter().map(tile).collect(),
        leaves: Leaves {
            origins: tree.leaves.origins,
            masks: tree.leaves.masks,
            values: tree.leaves.values.into_iter().map(|value| value.0.to_f32()).collect(),
        },
    }
}
