//! The inside of a level set where it has no voxels, so that a closed surface reads inside everywhere.
//!
//! Along a column of cells (z), what lies between two that have voxels is all inside or all outside, and the voxels that face the
//! gap say which: what OpenVDB's signed flood fill does with the slots of its nodes. A column without any cell does not meet
//! the surface, and so lies outside of it.

use crate::error::{IoError, Result};
use bytemuck::{Pod, Zeroable};
use std::collections::BTreeMap;
use undine_core::process::Processes;
use undine_vdb::{FileOrder, Level, Tile};

/// So many tiles and more are no inside of anything that has a surface in memory.
const MOST_TILES: u64 = 1 << 26;

/// What a cell says of those below and above it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Pod, Zeroable)]
#[repr(C)]
pub(super) struct Ends {
    /// The cell, counted in cells.
    pub cell: [i32; 3],
    /// Bit 0: the voxels at the lower end are inside; bit 1: those at the upper end.
    pub inside: i32,
}

impl Ends {
    /// Of a cell, from its voxels: a cube of side `edge` at `corner` within the 8³ of a leaf.
    pub fn of(
        cell: [i32; 3],
        corner: [usize; 3],
        edge: usize,
        size: impl Fn(usize) -> f64,
    ) -> Self {
        // Where a gap follows all voxels are alike; of others, the farthest from the surface decides.
        let face = |z: usize| {
            let mut farthest = 0.0_f64;
            for x in 0..edge {
                for y in 0..edge {
                    let size = size((corner[0] + x) << 6 | (corner[1] + y) << 3 | (corner[2] + z));
                    if size.abs() > farthest.abs() {
                        farthest = size;
                    }
                }
            }
            i32::from(farthest < 0.0)
        };
        Self { cell, inside: face(0) | face(edge - 1) << 1 }
    }
}

/// Cells of a column from one z up to, and without, another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Gap {
    x: i32,
    y: i32,
    from: i32,
    to: i32,
}

/// The cells without voxels that lie inside.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Inside {
    /// By x, y and z; they do not touch.
    gaps: Vec<Gap>,
    /// Cells along a leaf.
    per_leaf: i32,
}

impl Inside {
    /// From the ends of all cells that have voxels here. Collective: every process gets the same.
    pub fn find(processes: &dyn Processes, ends: Vec<Ends>, per_leaf: i32) -> Result<Self> {
        let mut ends = match processes.count() {
            1 => ends,
            _ => processes.all_gather_values(&ends)?.concat(),
        };
        ends.sort_unstable();
        let gap = |pair: &[Ends]| {
            let [[x, y, z], above] = [pair[0].cell, pair[1].cell];
            let inside = pair[0].inside & 2 != 0 && pair[1].inside & 1 != 0;
            let found = [x, y] == above[..2] && inside && z + 1 < above[2];
            found.then_some(Gap { x, y, from: z + 1, to: above[2] })
        };
        Ok(Self { gaps: ends.windows(2).filter_map(gap).collect(), per_leaf })
    }

    /// Whether a cell without voxels lies inside.
    pub fn contains(&self, [x, y, z]: [i32; 3]) -> bool {
        let after = self.gaps.partition_point(|gap| (gap.x, gap.y, gap.from) <= (x, y, z));
        let holds = |gap: &Gap| (gap.x, gap.y) == (x, y) && z < gap.to;
        after.checked_sub(1).is_some_and(|before| holds(&self.gaps[before]))
    }

    /// The leaves that lie inside as tiles of `value`, as large as they can be, in the order of a file.
    pub fn tiles<T: Copy>(&self, grid: &str, value: T) -> Result<Vec<Tile<T>>> {
        let tile = |[x, y, z]: [i32; 3], level: Level| Tile {
            origin: [x, y, z].map(|c| c * level.side()),
            level,
            value,
            active: false,
        };
        let mut tiles = Vec::new();
        let mut lower: Vec<[i32; 3]> = Vec::new();
        for (node, columns) in self.by_lower_node(grid)? {
            // A node is 16³ leaves; a bit per leaf of each of its columns.
            if columns.iter().all(|&leaves| leaves == u16::MAX) {
                lower.push(node);
                continue;
            }
            for (column, &leaves) in columns.iter().enumerate() {
                let (x, y) = (column as i32 >> 4, column as i32 & 15);
                let inside = (0..16).filter(|z| leaves >> z & 1 == 1);
                tiles.extend(inside.map(|z| {
                    tile([node[0] * 16 + x, node[1] * 16 + y, node[2] * 16 + z], Level::Leaf)
                }));
            }
        }

        // Where all 32³ lower nodes of an upper one are inside, it is one tile of the root.
        let mut upper: BTreeMap<[i32; 3], Vec<[i32; 3]>> = BTreeMap::new();
        for node in lower {
            upper.entry(node.map(|c| c >> 5)).or_default().push(node);
        }
        for (node, lower) in upper {
            if lower.len() == 32 * 32 * 32 {
                tiles.push(tile(node, Level::Upper));
            } else {
                tiles.extend(lower.into_iter().map(|node| tile(node, Level::Lower)));
            }
        }
        tiles.sort_by_key(|tile| FileOrder::of(tile.origin));
        Ok(tiles)
    }

    /// For each lower node that has leaves inside: for each of its 16² columns, a bit per leaf.
    fn by_lower_node(&self, grid: &str) -> Result<BTreeMap<[i32; 3], Box<[u16; 256]>>> {
        let runs =
            self.gaps.iter().map(|gap| ((gap.to - gap.from) / (16 * self.per_leaf)) as u64 + 2);
        let runs: u64 = runs.sum();
        if runs > MOST_TILES {
            return Err(IoError::Unwritable {
                what: format!("the level set `{grid}`"),
                found: format!("its inside, without voxels, has about {runs} columns of 16 leaves"),
                wanted: format!(
                    "at most {MOST_TILES} are written; is the surface closed, and negative inside?"
                ),
            });
        }
        // Cells that a leaf has of those columns; with one cell to a leaf, each counts at once.
        let per_leaf = self.per_leaf;
        let whole = (per_leaf * per_leaf) as u8;
        let mut counts: BTreeMap<[i32; 3], u8> = BTreeMap::new();
        let mut nodes: BTreeMap<[i32; 3], Box<[u16; 256]>> = BTreeMap::new();
        for gap in &self.gaps {
            let leaf = [gap.x.div_euclid(per_leaf), gap.y.div_euclid(per_leaf)];
            // Leaves that the gap covers from end to end.
            let first = (gap.from + per_leaf - 1).div_euclid(per_leaf);
            let end = gap.to.div_euclid(per_leaf);
            let mut z = first;
            while z < end {
                let run_end = end.min((z >> 4 << 4) + 16);
                for leaf_z in z..run_end {
                    if whole > 1 {
                        let count = counts.entry([leaf[0], leaf[1], leaf_z]).or_default();
                        *count += 1;
                        if *count < whole {
                            continue;
                        }
                    }
                    let node = [leaf[0] >> 4, leaf[1] >> 4, leaf_z >> 4];
                    let columns = nodes.entry(node).or_insert_with(|| Box::new([0; 256]));
                    let column = ((leaf[0] & 15) << 4 | (leaf[1] & 15)) as usize;
                    columns[column] |= 1 << (leaf_z & 15);
                }
                z = run_end;
            }
        }
        Ok(nodes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use undine_core::Single;

    /// A shell: cells of a box's surface, its inside without cells.
    fn shell(low: i32, high: i32) -> Vec<Ends> {
        let mut ends = Vec::new();
        for x in low..=high {
            for y in low..=high {
                let wall = [x, y].iter().any(|&c| c == low || c == high);
                for z in low..=high {
                    if wall || z == low || z == high {
                        let inside = i32::from(z == high) | i32::from(z == low) << 1;
                        ends.push(Ends { cell: [x, y, z], inside: if wall { 0 } else { inside } });
                    }
                }
            }
        }
        ends
    }

    #[test]
    fn the_inside_of_a_shell_is_inside_and_nothing_else() {
        let inside = Inside::find(&Single, shell(-3, 4), 1).unwrap();
        for x in -5..6 {
            for y in -5..6 {
                for z in -5..6 {
                    let wanted = [x, y, z].iter().all(|&c| (-2..4).contains(&c));
                    assert_eq!(inside.contains([x, y, z]), wanted, "{x} {y} {z}");
                }
            }
        }
        let tiles = inside.tiles("surface", -1.0_f32).unwrap();
        assert_eq!(tiles.len(), 6 * 6 * 6);
        assert!(tiles.iter().all(|tile| tile.level == Level::Leaf && !tile.active));
        assert!(tiles.is_sorted_by_key(|tile| FileOrder::of(tile.origin)));
    }

    #[test]
    fn whole_nodes_become_one_tile_and_no_leaf_is_covered_twice() {
        let inside = Inside::find(&Single, shell(-1, 40), 1).unwrap();
        let tiles = inside.tiles("surface", -1.0_f32).unwrap();
        let lower = tiles.iter().filter(|tile| tile.level == Level::Lower).count();
        assert_eq!(lower, 8);
        let leaves: i64 = tiles.iter().map(|tile| i64::from(tile.level.side() / 8).pow(3)).sum();
        assert_eq!(leaves, 40 * 40 * 40);
    }

    #[test]
    fn cells_smaller_than_leaves_make_tiles_of_whole_leaves() {
        let inside = Inside::find(&Single, shell(-1, 8), 2).unwrap();
        let tiles = inside.tiles("surface", -1.0_f32).unwrap();
        assert_eq!(tiles.len(), 4 * 4 * 4);
        assert_eq!(tiles[0].origin, [0, 0, 0]);
    }

    #[test]
    fn an_absurd_inside_is_refused() {
        let ends: Vec<Ends> = (0..4096)
            .flat_map(|x| [-(1 << 18), 1 << 18].map(|z| Ends { cell: [x, 0, z], inside: 3 }))
            .collect();
        let inside = Inside::find(&Single, ends, 1).unwrap();
        let error = inside.tiles("surface", -1.0_f32).unwrap_err().to_string();
        assert!(error.contains("surface") && error.contains("closed"), "{error}");
    }
}
