//! Faces through which a given velocity flows: closed for the pressure, with the velocity of a wall that moves so.

use undine_core::domain::Slot;
use undine_core::glam::{DVec3, IVec3};
use undine_core::{Accessor, DiscreteVolume, GridDomain};
use undine_geometry::Solid;
use undine_sim::Result;
use undine_sim::offers::FluidField;

/// Faces that are closed, by local slot.
#[derive(Debug, Clone, Default)]
pub struct Closed {
    faces: Vec<Vec<Face>>,
}

/// A face that is closed.
#[derive(Debug, Clone, Copy)]
pub struct Face {
    axis: u8,
    /// Its place in the Bucket.
    place: u16,
    /// Its velocity [m/s].
    velocity: f32,
    /// What was open of it before.
    open: f32,
    /// The velocity of its wall before [m/s].
    wall: f32,
}

impl Face {
    /// A face across an axis, at its place in a Bucket, with a velocity [m/s] through it; what was open of it before, and the velocity
    /// of its wall [m/s].
    pub fn new(axis: usize, place: usize, velocity: f32, open: f32, wall: f32) -> Self {
        Self { axis: axis as u8, place: place as u16, velocity, open, wall }
    }
}

impl Closed {
    /// Faces that were closed, by local slot.
    pub fn of(faces: Vec<Vec<Face>>) -> Self {
        Self { faces }
    }

    /// Closes the faces of cells whose middle lies in a solid, and lets this velocity [m/s] flow through them; through those on
    /// which it would lead in from fluid outside, nothing flows. Faces that walls have closed stay theirs.
    pub fn close(
        domain: &GridDomain,
        volume: &DiscreteVolume,
        field: &FluidField,
        solid: &dyn Solid,
        velocity: &(dyn Fn(DVec3) -> DVec3 + Sync),
    ) -> Result<Self> {
        let voxel = domain.frame().voxel_size(0);
        // Of a fluid without a surface, all is fluid.
        let any = field.distance.unwrap_or(field.walls.distance);
        let kernel = (
            volume.around(any, 1),
            field.walls.area.faces.map(|face| volume.write(face)),
            field.walls.velocity.faces.map(|face| volume.write(face)),
        );
        let faces = Accessor::new("close a source", domain).over(volume.topology()).level(0).map(
            kernel,
            |here, (distance, open, wall)| -> Vec<Face> {
                let corner = domain.frame().corner(here.bucket);
                let reach = 0.5 * 3.0_f64.sqrt() * 10.0 * voxel;
                let to_middle = solid.distance(corner + 4.0 * voxel);
                if to_middle.is_nan() || to_middle >= reach {
                    return Vec::new();
                }
                let middle = |cell: IVec3| corner + (cell.as_dvec3() + 0.5) * voxel;
                let is_inside = inside(|cell| solid.distance(middle(cell)) < 0.0);
                let is_fluid = |cell: IVec3| {
                    field.distance.is_none() || distance.at(cell.x, cell.y, cell.z) < 0.0
                };
                let mut faces = Vec::new();
                for axis in 0..3 {
                    let back = IVec3::AXES[axis];
                    for place in 0..512 {
                        let cell = IVec3::new(place >> 6, place >> 3 & 7, place & 7);
                        let sides = [cell - back, cell];
                        let within = sides.map(|side| is_inside[padded(side)]);
                        let n = place as usize;
                        if within == [false; 2] || open[axis][n] <= 0.0 {
                            continue;
                        }
                        let at = middle(cell) - 0.5 * voxel * back.as_dvec3();
                        let mut through = velocity(at)[axis] as f32;
                        let leads_in = match within {
                            [true, false] => through < 0.0 && is_fluid(sides[1]),
                            [false, true] => through > 0.0 && is_fluid(sides[0]),
                            _ => false,
                        };
                        if leads_in {
                            through = 0.0;
                        }
                        let (before, of_wall) = (open[axis][n], wall[axis][n]);
                        faces.push(Face::new(axis, n, through, before, of_wall));
                        wall[axis][n] = before * through + (1.0 - before) * of_wall;
                        open[axis][n] = 0.0;
                    }
                }
                faces
            },
        )?;
        Ok(Self { faces })
    }

    /// Opens them again, with the velocity that flowed through them.
    pub fn open(
        self,
        domain: &GridDomain,
        volume: &DiscreteVolume,
        field: &FluidField,
    ) -> Result<()> {
        let faces = |slot: Slot| self.faces.get(slot as usize).map_or(&[][..], Vec::as_slice);
        Accessor::new("open a source", domain).over(volume.topology()).level(0).run(
            (
                field.velocity.faces.map(|face| volume.write(face)),
                field.walls.area.faces.map(|face| volume.write(face)),
                field.walls.velocity.faces.map(|face| volume.write(face)),
            ),
            |here, (velocity, open, wall)| {
                for face in faces(here.slot) {
                    let (axis, n) = (face.axis as usize, face.place as usize);
                    velocity[axis][n] = face.velocity;
                    open[axis][n] = face.open;
                    wall[axis][n] = face.wall;
                }
            },
        )?;
        Ok(())
    }
}

/// What holds in the cells of a Bucket, and of those before it along each axis.
fn inside(holds: impl Fn(IVec3) -> bool) -> [bool; 729] {
    std::array::from_fn(|n| {
        let n = n as i32;
        holds(IVec3::new(n / 81 - 1, n / 9 % 9 - 1, n % 9 - 1))
    })
}

fn padded(cell: IVec3) -> usize {
    (81 * (cell.x + 1) + 9 * (cell.y + 1) + cell.z + 1) as usize
}
