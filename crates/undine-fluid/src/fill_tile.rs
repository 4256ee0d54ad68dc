//! A cube of cells full of Poisson disks that goes on at its far side where it began: tile after tile fills any space.
//!
//! Darts are thrown at the tile, and kept unless one that was kept is near; near is less each time that many have missed, until
//! there are as many as are wanted (McCool and Fiume, *Hierarchical Poisson disk sampling distributions*, 1992).

use undine_core::glam::{IVec3, Vec3};
use undine_geometry::random;

/// Cells along the edge of a tile.
pub const EDGE: i32 = 8;

/// Points of a tile, by cell.
#[derive(Debug, Clone)]
pub struct Tile {
    /// Where in its cell each point is, from 0 to 1.
    within: Vec<Vec3>,
    /// Where the points of each cell begin.
    starts: Vec<u32>,
}

/// Disks begin this far apart, in mean spacings, and draw nearer by this factor.
const WIDEST: f32 = 0.9;
const NEARER: f32 = 0.97;
/// Darts for each point wanted before they draw nearer.
const DARTS: u64 = 8;

impl Tile {
    /// So many points along the edge of a cell, cubed, on the mean of all cells.
    pub fn new(per_axis: u32, seed: u64) -> Self {
        let wanted = EDGE.pow(3) as usize * per_axis.pow(3) as usize;
        let mut radius = WIDEST / per_axis as f32;
        // Boxes no narrower than the widest disk: what is near lies in the next one at most.
        let boxes = (EDGE as f32 / radius).floor() as i32;
        let mut in_box: Vec<Vec<Vec3>> = vec![Vec::new(); boxes.pow(3) as usize];
        let (mut kept, mut darts) = (Vec::with_capacity(wanted), 0_u64);
        while kept.len() < wanted {
            for _ in 0..DARTS * wanted as u64 {
                let draw = |axis: u64| random::unit(seed, 3 * darts + axis) as f32;
                let at = EDGE as f32 * Vec3::new(draw(0), draw(1), draw(2));
                let at = at.min(Vec3::splat((EDGE as f32).next_down()));
                darts += 1;
                let home =
                    (at * (boxes as f32 / EDGE as f32)).as_ivec3().min(IVec3::splat(boxes - 1));
                let near = around().flat_map(|by| &in_box[number(home + by, boxes)]);
                if near.into_iter().all(|other| way(at, *other) >= radius * radius) {
                    in_box[number(home, boxes)].push(at);
                    kept.push(at);
                    if kept.len() == wanted {
                        break;
                    }
                }
            }
            radius *= NEARER;
        }
        Self::sorted(&kept)
    }

    fn sorted(points: &[Vec3]) -> Self {
        let cell = |at: Vec3| number(at.as_ivec3(), EDGE);
        let mut order: Vec<Vec3> = points.to_vec();
        order.sort_by_key(|at| cell(*at));
        let mut starts = vec![0_u32; EDGE.pow(3) as usize + 1];
        order.iter().for_each(|at| starts[cell(*at) + 1] += 1);
        for n in 1..starts.len() {
            starts[n] += starts[n - 1];
        }
        Self { within: order.iter().map(|at| at.fract()).collect(), starts }
    }

    /// The points of a cell of endless tiles: where in it they are, from 0 to 1.
    pub fn of_cell(&self, cell: IVec3) -> &[Vec3] {
        let n = number(cell, EDGE);
        &self.within[self.starts[n] as usize..self.starts[n + 1] as usize]
    }
}

/// The number of a box of so many along each edge, behind which the first follows on the last.
fn number(at: IVec3, edge: i32) -> usize {
    let at = at.rem_euclid(IVec3::splat(edge));
    ((at.x * edge + at.y) * edge + at.z) as usize
}

fn around() -> impl Iterator<Item = IVec3> {
    (-1..2).flat_map(|x| (-1..2).flat_map(move |y| (-1..2).map(move |z| IVec3::new(x, y, z))))
}

/// The square of the shortest way, which may lead over the edge.
fn way(a: Vec3, b: Vec3) -> f32 {
    let direct = (a - b).abs();
    direct.min(EDGE as f32 - direct).length_squared()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn disks_keep_apart_across_the_edges_of_tiles() {
        for per_axis in [1, 2, 3] {
            let tile = Tile::new(per_axis, 7);
            let mut points = Vec::new();
            for x in 0..EDGE {
                for y in 0..EDGE {
                    for z in 0..EDGE {
                        let cell = IVec3::new(x, y, z);
                        let place = |within: &Vec3| cell.as_vec3() + *within;
                        points.extend(tile.of_cell(cell).iter().map(place));
                        assert_eq!(tile.of_cell(cell), tile.of_cell(cell - 16));
                    }
                }
            }
            assert_eq!(points.len(), (512 * per_axis.pow(3)) as usize);
            for n in (0..points.len()).step_by(37) {
                let others = points.iter().enumerate().filter(|(other, _)| *other != n);
                let nearest = others.map(|(_, at)| way(*at, points[n])).fold(99.0, f32::min);
                assert!(nearest.sqrt() * per_axis as f32 > 0.75, "{}", nearest.sqrt());
            }
        }
    }
}
