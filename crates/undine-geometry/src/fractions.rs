//! What a solid leaves open of the cells of a MAC grid: areas of faces and volumes of cells (Batty, Bertails and
//! Bridson 2007), and faces that a thin wall closes.
//!
//! Distances are taken at the corners of voxels, whose places follow from the lattice alone, and each face is computed
//! once: so neighbours agree, across Buckets and processes. A face is cut into four triangles around its middle, a cell
//! into 24 tetrahedra around its own, with the mean of the corners there; in each of them the distance is linear, and
//! the part where it is positive has a closed form. Areas and volumes converge with second order.

use crate::error::{GeometryError, Result};
use crate::simplex::{positive_in_tetrahedron, positive_in_triangle};
use crate::solid::Solid;
use undine_core::domain::VOXELS_PER_BUCKET;
use undine_core::glam::{DVec3, IVec3};
use undine_core::volume::{MacHandle, Resolution};
use undine_core::{Accessor, Bucket, DiscreteVolume, Frame, GridDomain, Handle};

/// Voxels along a Bucket, and corners along it.
const EDGE: usize = VOXELS_PER_BUCKET;
const CORNERS: usize = EDGE + 1;

/// Where the fractions go: channels of a volume with 8³ voxels in a Bucket, on the finest level.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fractions {
    /// How much of each face is open, from 0 to 1.
    pub area: MacHandle,
    /// How much of each cell is open, from 0 to 1.
    pub volume: Handle<f32>,
}

/// Writes what `solid` leaves open of every face and cell of `volume`.
pub fn cut(
    domain: &GridDomain,
    volume: &DiscreteVolume,
    solid: &dyn Solid,
    fractions: Fractions,
) -> Result<()> {
    for handle in fractions.area.faces.into_iter().chain([fractions.volume]) {
        if volume.column(handle)?.shape().resolution != Resolution::R8 {
            return Err(GeometryError::NotPossible {
                what: "cutting cells of another size",
                why: "channels of fractions have 8³ voxels in a Bucket",
            });
        }
    }
    let frame = *volume.topology().frame();
    let [x, y, z] = fractions.area.faces.map(|face| volume.write(face));
    let accessor = Accessor::new("cut cells", domain).over(volume.topology()).level(0);
    accessor.run_with(
        (x, y, z, volume.write(fractions.volume)),
        || Cutter::new(frame),
        |cutter, here, (x, y, z, cells)| cutter.cut(solid, here.bucket, [x, y, z], cells),
    )?;
    Ok(())
}

/// Cuts one Bucket after the other, with memory of its own: each thread has one.
#[derive(Debug, Clone)]
pub struct Cutter {
    frame: Frame,
    corners: Vec<f64>,
}

impl Cutter {
    /// One that cuts Buckets on this frame.
    pub fn new(frame: Frame) -> Self {
        Self { frame, corners: vec![0.0; CORNERS.pow(3)] }
    }

    /// Writes what `solid` leaves open of the lower faces and the cells of a Bucket of the finest level: 8³ of each.
    pub fn cut(
        &mut self,
        solid: &dyn Solid,
        bucket: Bucket,
        area: [&mut [f32]; 3],
        volume: &mut [f32],
    ) {
        // A Bucket that the surface does not reach is open or closed as a whole, with one voxel to spare for the
        // ways between centres that lead out of it.
        let frame = self.frame;
        let radius = 3.0_f64.sqrt() * (0.5 * frame.bucket_size(0) + frame.voxel_size(0));
        let middle = solid.distance(frame.centre(bucket));
        if middle.abs() > radius {
            let open = if middle > 0.0 { 1.0 } else { 0.0 };
            area.into_iter().chain([volume]).for_each(|channel| channel.fill(open));
            return;
        }
        let cut = Cut { solid, lattice: Lattice { frame, bucket } };
        cut.measure_corners(&mut self.corners);
        cut.cut_cells(&self.corners, volume);
        for (axis, faces) in area.into_iter().enumerate() {
            cut.cut_faces(axis, &self.corners, faces);
        }
    }
}

/// Places in a Bucket, from numbers that are the same whichever Bucket asks.
struct Lattice {
    frame: Frame,
    bucket: Bucket,
}

impl Lattice {
    /// The place [m] at a number of voxels from the Bucket's corner.
    fn place(&self, voxels: DVec3) -> DVec3 {
        let first = (self.bucket.coord * EDGE as i32).as_dvec3();
        self.frame.origin() + (first + voxels) * self.frame.voxel_size(0)
    }
}

/// One Bucket that the surface may cut.
struct Cut<'a> {
    solid: &'a dyn Solid,
    lattice: Lattice,
}

impl Cut<'_> {
    fn measure_corners(&self, corners: &mut [f64]) {
        for (n, distance) in corners.iter_mut().enumerate() {
            let place = [n / (CORNERS * CORNERS), n / CORNERS % CORNERS, n % CORNERS];
            let place = DVec3::from_array(place.map(|n| n as f64));
            *distance = self.solid.distance(self.lattice.place(place));
        }
    }

    fn cut_cells(&self, corners: &[f64], cells: &mut [f32]) {
        for (place, cell) in cells.iter_mut().enumerate() {
            let [x, y, z] = Resolution::R8.coords(place);
            let at = |n: usize| corners[corner(x + (n >> 2), y + (n >> 1 & 1), z + (n & 1))];
            *cell = open_volume(std::array::from_fn(at)) as f32;
        }
    }

    /// The lower faces across an axis.
    fn cut_faces(&self, axis: usize, corners: &[f64], faces: &mut [f32]) {
        let [right, up] = [(axis + 1) % 3, (axis + 2) % 3];
        for (place, face) in faces.iter_mut().enumerate() {
            let cell = Resolution::R8.coords(place);
            let at = |r: usize, u: usize| {
                let mut at = cell;
                at[right] += r;
                at[up] += u;
                corners[corner(at[0], at[1], at[2])]
            };
            let around = [at(0, 0), at(1, 0), at(1, 1), at(0, 1)];
            let open = open_area(around);
            *face = if open > 0.0 && self.is_walled_off(axis, cell, around) {
                0.0
            } else {
                open as f32
            };
        }
    }

    /// Whether a wall lies between the centres of the cells on both sides of a face.
    fn is_walled_off(&self, axis: usize, cell: [usize; 3], around: [f64; 4]) -> bool {
        // The corners of a face are within √3/2 voxels of every point of the way between the centres.
        let reach = 0.5 * 3.0_f64.sqrt() * self.lattice.frame.voxel_size(0);
        if around.iter().any(|&distance| distance > reach) {
            return false;
        }
        let centre = DVec3::from_array(cell.map(|n| n as f64 + 0.5));
        let back = IVec3::AXES[axis].as_dvec3();
        if self.is_free(centre - back, centre) {
            return false;
        }
        let [from, to] = [centre - back, centre].map(|voxels| self.standpoint(voxels));
        from.zip(to).is_some_and(|(from, to)| self.solid.is_wall_between(from, to))
    }

    /// Whether the free balls around both ends of a way of one voxel and around its middle cover it all, and more than what
    /// counts as a touch: then nothing is between.
    fn is_free(&self, from: DVec3, to: DVec3) -> bool {
        let apart = 0.503 * self.lattice.frame.voxel_size(0);
        let [from, middle, to] = [from, 0.5 * (from + to), to]
            .map(|voxels| self.solid.distance(self.lattice.place(voxels)));
        from > 0.0 && to > 0.0 && from + middle > apart && middle + to > apart
    }

    /// Where one stands outside of the solid in a cell, by the voxels to its centre: the centre itself, or beside the thin wall
    /// that it happens to lie in. A centre deep inside is a matter of areas.
    fn standpoint(&self, centre: DVec3) -> Option<DVec3> {
        let at = self.lattice.place(centre);
        let voxel = self.lattice.frame.voxel_size(0);
        // Twice as far as what counts as a touch on the way.
        let clear = 2e-3 * voxel;
        let near = self.solid.nearest(at);
        let push = clear - near.distance;
        match push {
            _ if near.distance > clear => Some(at),
            _ if push < 0.51 * voxel => Some(at + push * near.normal),
            _ => None,
        }
    }
}

fn corner(x: usize, y: usize, z: usize) -> usize {
    (x * CORNERS + y) * CORNERS + z
}

/// A distance that can be worked with: what is infinite is very large, and what is none is closed.
fn sane(distance: f64) -> f64 {
    if distance.is_nan() { 0.0 } else { distance.clamp(-1e300, 1e300) }
}

/// The part of a square where the distance is positive, given at its corners in turn; closed where it is NaN.
pub fn open_area(corners: [f64; 4]) -> f64 {
    let corners = corners.map(sane);
    if corners.iter().all(|&distance| distance > 0.0) {
        return 1.0;
    }
    let middle = corners.iter().sum::<f64>() / 4.0;
    let triangle = |n: usize| positive_in_triangle([corners[n], corners[(n + 1) % 4], middle]);
    ((0..4).map(triangle).sum::<f64>() / 4.0).clamp(0.0, 1.0)
}

/// The part of a cube where the distance is positive, given at its corners, z fastest; closed where it is NaN.
pub fn open_volume(corners: [f64; 8]) -> f64 {
    let corners = corners.map(sane);
    if corners.iter().all(|&distance| distance > 0.0) {
        return 1.0;
    }
    if corners.iter().all(|&distance| distance <= 0.0) {
        return 0.0;
    }
    /// The corners of each face, in turn.
    const FACES: [[usize; 4]; 6] =
        [[0, 1, 3, 2], [4, 5, 7, 6], [0, 1, 5, 4], [2, 3, 7, 6], [0, 2, 6, 4], [1, 3, 7, 5]];
    let middle = corners.iter().sum::<f64>() / 8.0;
    let open: f64 = FACES
        .iter()
        .map(|face| {
            let face = face.map(|n| corners[n]);
            let centre = face.iter().sum::<f64>() / 4.0;
            let tetrahedron =
                |n: usize| positive_in_tetrahedron([face[n], face[(n + 1) % 4], centre, middle]);
            (0..4).map(tetrahedron).sum::<f64>()
        })
        .sum();
    (open / 24.0).clamp(0.0, 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::unit;

    #[test]
    fn open_and_closed_parts_make_the_whole_whatever_the_order_of_corners() {
        for case in 0..10_000 {
            let corners: [f64; 8] = std::array::from_fn(|n| unit(5, 8 * case + n as u64) - 0.5);
            let open = open_volume(corners);
            assert!((0.0..=1.0).contains(&open));
            assert!((open + open_volume(corners.map(|d| -d)) - 1.0).abs() < 1e-12);
            let mirrored = [1, 0, 3, 2, 5, 4, 7, 6].map(|n: usize| corners[n]);
            assert!((open - open_volume(mirrored)).abs() < 1e-12);
            let face = [corners[0], corners[1], corners[2], corners[3]];
            let open = open_area(face);
            assert!((open + open_area(face.map(|d| -d)) - 1.0).abs() < 1e-12);
            let turned = [face[1], face[2], face[3], face[0]];
            assert!((open - open_area(turned)).abs() < 1e-12);
        }
        assert_eq!(open_area([0.0; 4]), 0.0);
        assert_eq!(open_volume([0.0; 8]), 0.0);
        assert_eq!(open_area([1.0, 1.0, -1.0, -1.0]), 0.5);
    }
}
