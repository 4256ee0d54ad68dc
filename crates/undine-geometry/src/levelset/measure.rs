//! The area of a level set's surface and the volume inside.
//!
//! Each cube between eight voxel centres is cut into six tetrahedra along its main diagonal (Kuhn 1960), in which φ is
//! linear: the surface is a triangle or a quadrilateral there, the inside a polyhedron, and both are measured exactly.
//! The sum over all cubes is of second order in the voxel. It is taken in `f64`, in a fixed order.

use super::LevelSet;
use crate::error::Result;
use crate::simplex::positive_in_tetrahedron;
use undine_core::Accessor;
use undine_core::access::{Pad, Tile};
use undine_core::glam::DVec3;
use undine_core::volume::{Resolution, VoxelShape};

/// How large a surface is, and what it encloses.
#[derive(Debug, Clone, Copy, Default, PartialEq, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
pub struct Size {
    /// The area of the surface [m²].
    pub area: f64,
    /// The volume inside [m³].
    pub volume: f64,
}

impl LevelSet {
    /// The area of the surface and the volume inside, that of Buckets without voxels included. Collective.
    ///
    /// On another number of processes the sums may round differently.
    pub fn size(&self) -> Result<Size> {
        let accessor = Accessor::new("measure the surface", &self.domain).over(self.topology());
        let pad = Pad { low: 0, high: 1 };
        let found = accessor.reduce(
            self.volume.around(self.distance, 1),
            |here, around| {
                let mut tile = Tile::new(VoxelShape::CELLS.resolution, pad, self.width);
                around.load(&mut tile);
                self.beyond.fill(here, &mut tile, -self.width);
                size_of_bucket(&tile)
            },
            |a, b| Size { area: a.area + b.area, volume: a.volume + b.volume },
        )?;
        let found = found.unwrap_or_default();
        let voxel = self.voxel_size();
        let whole = self.beyond.inside_count() as f64 * super::VOXELS as f64;
        Ok(Size {
            area: found.area * voxel.powi(2),
            volume: (found.volume + whole) * voxel.powi(3),
        })
    }
}

/// Area and volume in the cubes whose lowest corner is a voxel of the Bucket; lengths in voxels.
fn size_of_bucket(tile: &Tile<f32>) -> Size {
    let mut total = Size::default();
    for place in 0..super::VOXELS {
        let [x, y, z] = Resolution::R8.coords(place).map(|n| n as i32);
        let corners: [f32; 8] = std::array::from_fn(|n| {
            let [dx, dy, dz] = [n >> 2, n >> 1 & 1, n & 1].map(|n| n as i32);
            tile.values()[tile.index(x + dx, y + dy, z + dz)]
        });
        match corners.iter().filter(|corner| **corner < 0.0).count() {
            0 => {}
            8 => total.volume += 1.0,
            _ => {
                let size = size_of_cube(&corners.map(f64::from));
                total.area += size.area;
                total.volume += size.volume;
            }
        }
    }
    total
}

/// The corners of the six tetrahedra of a cube, by bits x y z: each goes from 000 to 111 along three edges.
const TETRAHEDRA: [[usize; 4]; 6] =
    [[0, 4, 6, 7], [0, 4, 5, 7], [0, 2, 6, 7], [0, 2, 3, 7], [0, 1, 5, 7], [0, 1, 3, 7]];

/// Area and volume in a cube of edge 1.
fn size_of_cube(corners: &[f64; 8]) -> Size {
    let mut total = Size::default();
    for tetrahedron in TETRAHEDRA {
        let mut inside = [(0, 0.0); 4];
        let (mut low, mut high) = (0, 4);
        for corner in tetrahedron {
            // Those inside come first.
            let at = if corners[corner] < 0.0 {
                low += 1;
                low - 1
            } else {
                high -= 1;
                high
            };
            inside[at] = (corner, corners[corner]);
        }
        let size = size_of_tetrahedron(inside, low);
        total.area += size.area;
        total.volume += size.volume / 6.0;
    }
    total
}

/// The area in a tetrahedron, and the part of its volume that is inside. Of its corners, with their φ, the first
/// `count` are inside.
fn size_of_tetrahedron(corners: [(usize, f64); 4], count: usize) -> Size {
    // The share of the way from a corner inside to one outside at which the surface is.
    let share = |a: usize, b: usize| corners[a].1 / (corners[a].1 - corners[b].1);
    let point = |a: usize, b: usize| {
        let [from, to] = [a, b].map(|n| place(corners[n].0));
        from + share(a, b) * (to - from)
    };
    let area = match count {
        1 => triangle(point(0, 1), point(0, 2), point(0, 3)),
        2 => {
            let [a, b, c, d] = [point(0, 2), point(0, 3), point(1, 3), point(1, 2)];
            triangle(a, b, c) + triangle(a, c, d)
        }
        3 => triangle(point(0, 3), point(1, 3), point(2, 3)),
        _ => 0.0,
    };
    Size { area, volume: positive_in_tetrahedron(corners.map(|(_, distance)| -distance)) }
}

fn place(corner: usize) -> DVec3 {
    DVec3::from_array([corner >> 2, corner >> 1 & 1, corner & 1].map(|n| n as f64))
}

fn triangle(a: DVec3, b: DVec3, c: DVec3) -> f64 {
    0.5 * (b - a).cross(c - a).length()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plane_cuts_a_cube_as_it_should() {
        // x + y + z = c: a corner of volume c³/6 and area √3 c²/2, until it meets the next corners.
        let cut = |c: f64| {
            let corners = std::array::from_fn(|n| place(n).element_sum() - c);
            size_of_cube(&corners)
        };
        for c in [0.1, 0.5, 0.9] {
            let size = cut(c);
            assert!((size.volume - c.powi(3) / 6.0).abs() < 1e-15);
            assert!((size.area - 3.0_f64.sqrt() * c * c / 2.0).abs() < 1e-15);
            assert!((cut(3.0 - c).volume - (1.0 - size.volume)).abs() < 1e-15);
        }
        assert!((cut(1.5).volume - 0.5).abs() < 1e-15);
    }

    #[test]
    fn any_plane_gives_the_volume_below_it() {
        for normal in [DVec3::new(0.3, -0.2, 0.9), DVec3::new(-1.0, 2.0, 0.5), DVec3::Y] {
            let level = |at: DVec3| (at - 0.45).dot(normal);
            let size = size_of_cube(&std::array::from_fn(|n| level(place(n))));
            let steps = 64_i32;
            let inside = (0..steps * steps * steps).filter(|n| {
                let cell = DVec3::new(
                    f64::from(n / (steps * steps)),
                    f64::from(n / steps % steps),
                    f64::from(n % steps),
                );
                level((cell + 0.5) / f64::from(steps)) < 0.0
            });
            let counted = inside.count() as f64 / f64::from(steps.pow(3));
            assert!((size.volume - counted).abs() < 0.01, "{normal}: {size:?} {counted}");
        }
    }
}
