//! From inputs to rigid bodies: the connected pieces of a surface, a shape, or a shape at every point of a cloud.

use super::boundary::{
    boundary_of_mesh, boundary_of_solid, boundary_of_vertices, sharp_points, usual_spacing,
};
use super::inertia::Inertia;
use crate::error::{Result, SolidError};
use std::sync::Arc;
use undine_core::glam::{DQuat, DVec3};
use undine_core::mesh::Surface;
use undine_geometry::sampling::Sampling;
use undine_geometry::{Detail, Form, MassProperties, Pose, Shape, Solid, Triangles, meshing};
use undine_sim::offers::PieceLooks;

/// A moment of inertia smaller than this share of the body's largest one is made that large: a needle's own moment, by which
/// the coupled system would have to divide.
const LEAST_MOMENT: f64 = 1e-9;

/// A piece of solid in the coordinates of its input.
#[derive(Debug, Clone, PartialEq)]
pub struct Piece {
    /// Volume, centre and inertia for unit density.
    pub solid: MassProperties,
    /// Boundary particles from the centre, along the axes of the input [m].
    pub boundary: Vec<DVec3>,
    /// Those behind the first ones were added to touch with, and nothing is held by them: for each, the corners of the triangle, or of the
    /// edge, that it is on.
    pub added: Vec<[u32; 3]>,
    /// What it looks like.
    pub looks: PieceLooks,
}

/// A body where it begins.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Start {
    /// Mass [kg].
    pub mass: f64,
    /// Principal moments of inertia [kg m²].
    pub moments: DVec3,
    /// The turn from the input's axes to the principal ones.
    pub principal: DQuat,
    /// The centre of mass in the world [m].
    pub centre: DVec3,
    /// From principal axes to the world.
    pub orientation: DQuat,
    /// Radius of a ball of the same volume [m].
    pub radius: f64,
}

impl Piece {
    /// The pieces of a surface: those that no edge connects one by one, or all of them as one body. With a spacing [m], boundary
    /// particles are samples so far apart; without one they are the vertices, and samples between those to touch with.
    pub fn of_surface(
        surface: &Surface,
        split: bool,
        spacing: Option<f64>,
        sampling: Sampling,
    ) -> Result<Vec<Self>> {
        let whole = Triangles::of_surface(surface)?;
        let meshes = if split { split_up(surface, &whole)? } else { vec![whole] };
        let mesh = |mesh: Triangles| -> Result<Self> {
            let solid = meshing::mass_properties(&mesh)?;
            // Around the centre, so that its points lie in the same way wherever it is.
            let near = mesh.clone().mapped(|at| at - solid.centre);
            let (boundary, added) = match spacing {
                Some(spacing) => {
                    let boundary = boundary_of_mesh(&near, DVec3::ZERO, spacing, sampling)?;
                    (boundary, Vec::new())
                }
                None => {
                    let extent = near.bounds().map_or(DVec3::ZERO, |bounds| bounds.size());
                    let double = |[a, b, c]: [DVec3; 3]| (b - a).cross(c - a).length();
                    let area = 0.5 * near.iter().map(double).sum::<f64>();
                    let spacing = usual_spacing(extent, area);
                    boundary_of_vertices(&near, DVec3::ZERO, spacing, sampling)?
                }
            };
            Ok(Self { solid, boundary, added, looks: PieceLooks::Mesh(Arc::new(mesh)) })
        };
        meshes.into_iter().filter(|mesh| !mesh.is_empty()).map(mesh).collect()
    }

    /// A shape by formulas. Without a spacing [m], boundary particles are a tenth of its largest extent apart.
    pub fn of_shape(shape: &Arc<Shape>, spacing: Option<f64>, sampling: Sampling) -> Result<Self> {
        let bounds = shape.bounds().filter(|bounds| bounds.size().is_finite());
        let (Some(bounds), Some(solid)) = (bounds, shape.mass_properties()) else {
            return Err(SolidError::NoVolume { volume: f64::INFINITY });
        };
        let spacing = spacing.unwrap_or(0.1 * bounds.size().max_element());
        // Around its middle, so that its points lie in the same way wherever it is.
        let near = Shape::clone(shape).moved(&Pose::at(-bounds.centre()))?;
        let mut sharp = Vec::new();
        for form in near.forms(&Detail::default())? {
            if let Form::Mesh(mesh) = form {
                sharp.extend(sharp_points(&mesh, spacing));
            }
        }
        let centre = solid.centre - bounds.centre();
        let boundary = boundary_of_solid(&near, centre, spacing, &sharp, sampling)?;
        let looks = PieceLooks::Shape(shape.clone());
        Ok(Self { solid, boundary, added: Vec::new(), looks })
    }

    /// How many boundary particles it is held by: the first ones.
    pub fn held_by(&self) -> usize {
        self.boundary.len() - self.added.len()
    }

    /// The body that it makes at a density [kg/m³], its input turned and moved like this.
    pub fn start(&self, density: f64, pose: &Pose) -> Result<Start> {
        let inertia = Inertia::of_solid(&self.solid, density)?;
        let moments = inertia.moments();
        Ok(Start {
            mass: inertia.mass(),
            moments: moments.max(DVec3::splat(LEAST_MOMENT * moments.max_element())),
            principal: inertia.axes(),
            centre: pose.to_world(inertia.centre()),
            orientation: (pose.rotation * inertia.axes()).normalize(),
            radius: (0.75 / std::f64::consts::PI * self.solid.volume).cbrt(),
        })
    }
}

/// The connected pieces of a surface, in the order of their lowest vertices, which keep their order in each.
fn split_up(surface: &Surface, whole: &Triangles) -> Result<Vec<Triangles>> {
    let components = surface.components();
    let piece = components.of_vertex();
    let mut positions = vec![Vec::new(); components.count()];
    let mut triangles = vec![Vec::new(); components.count()];
    let mut place = Vec::with_capacity(piece.len());
    for (&piece, &at) in piece.iter().zip(whole.positions()) {
        place.push(positions[piece as usize].len() as u32);
        positions[piece as usize].push(at);
    }
    for corners in whole.indices() {
        let piece = piece[corners[0] as usize] as usize;
        triangles[piece].push(corners.map(|corner| place[corner as usize]));
    }
    let pieces = positions.into_iter().zip(triangles);
    Ok(pieces.map(|(at, of)| Triangles::new(at, of)).collect::<Result<_, _>>()?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use undine_geometry::gallery;

    fn two_boxes() -> Surface {
        let one = gallery::cuboid(DVec3::new(0.5, 1.0, 1.5));
        let (mut positions, mut triangles) = one.clone().into_parts();
        let first = positions.len() as u32;
        positions.extend(one.positions().iter().map(|at| 2.0 * *at + DVec3::X * 5.0));
        triangles.extend(one.indices().iter().map(|corners| corners.map(|c| c + first)));
        Triangles::new(positions, triangles).unwrap().into_surface("boxes").unwrap()
    }

    #[test]
    fn every_connected_piece_is_a_body() {
        let pieces = Piece::of_surface(&two_boxes(), true, None, Sampling::default()).unwrap();
        let volumes: Vec<f64> = pieces.iter().map(|piece| piece.solid.volume).collect();
        assert!((volumes[0] - 6.0).abs() < 1e-12 && (volumes[1] - 48.0).abs() < 1e-11);
        assert!(pieces[1].solid.centre.abs_diff_eq(DVec3::X * 5.0, 1e-12));
        assert!(pieces.iter().all(|piece| piece.held_by() == 8));
        let whole = Piece::of_surface(&two_boxes(), false, None, Sampling::default()).unwrap();
        assert_eq!(whole.len(), 1);
        assert!((whole[0].solid.volume - 54.0).abs() < 1e-11);
    }

    #[test]
    fn boundary_particles_lie_in_the_same_way_wherever_a_body_is() {
        let tilt = Pose { rotation: DQuat::from_rotation_z(0.6), ..Pose::IDENTITY };
        let half = DVec3::new(0.1, 0.05, 0.075);
        let shapes = [
            Shape::cuboid(half).unwrap(),
            Shape::cuboid(half).unwrap().moved(&tilt).unwrap(),
            Shape::sphere(0.1).unwrap(),
        ];
        let mesh = gallery::cuboid(half).mapped(|at| tilt.to_world(at));
        let all = |by: DVec3| {
            let mut found: Vec<Vec<DVec3>> = Vec::new();
            for spacing in [None, Some(0.025), Some(0.011)] {
                for shape in &shapes {
                    let shape = Arc::new(shape.clone().moved(&Pose::at(by)).unwrap());
                    found.push(
                        Piece::of_shape(&shape, spacing, Sampling::default()).unwrap().boundary,
                    );
                }
                let mesh = mesh.clone().mapped(|at| at + by).into_surface("body").unwrap();
                found.push(
                    Piece::of_surface(&mesh, true, spacing, Sampling::default()).unwrap()[0]
                        .boundary
                        .clone(),
                );
            }
            found
        };
        let here = all(DVec3::ZERO);
        for by in [DVec3::new(0.013, 1.0, -2048.0), DVec3::new(10_000.0, 0.1, 3_333.3)] {
            for (n, (found, wanted)) in all(by).iter().zip(&here).enumerate() {
                assert_eq!(found.len(), wanted.len(), "{n} at {by}");
                let off = found.iter().zip(wanted).map(|(one, other)| one.distance(*other));
                let off = off.fold(0.0, f64::max);
                assert!(off < 1e-9, "{n} at {by}: {off}");
            }
        }
    }

    #[test]
    fn bodies_begin_where_their_input_is() {
        let piece =
            Piece::of_shape(&Arc::new(Shape::sphere(0.5).unwrap()), None, Sampling::default())
                .unwrap();
        let pose = Pose { rotation: DQuat::from_rotation_x(1.0), translation: DVec3::Y };
        let start = piece.start(1000.0, &pose).unwrap();
        assert!(start.centre.abs_diff_eq(DVec3::Y, 1e-12));
        assert!((start.radius - 0.5).abs() < 1e-12);
        let wanted = 0.4 * start.mass * 0.25;
        assert!(start.moments.abs_diff_eq(DVec3::splat(wanted), 1e-9 * wanted));
        assert!(
            Piece::of_shape(
                &Arc::new(Shape::half_space(DVec3::Y, 0.0).unwrap()),
                None,
                Sampling::default()
            )
            .is_err()
        );
    }

    #[test]
    fn needles_keep_a_moment_about_themselves() {
        let piece = Piece::of_shape(
            &Arc::new(Shape::cylinder(1e-6, 1.0).unwrap()),
            Some(0.1),
            Sampling::default(),
        );
        if let Ok(piece) = piece {
            let start = piece.start(1000.0, &Pose::IDENTITY).unwrap();
            assert!(start.moments.min_element() >= LEAST_MOMENT * start.moments.max_element());
        }
    }

    #[test]
    fn open_and_inverted_surfaces_are_refused() {
        let cube = gallery::cuboid(DVec3::ONE);
        let (positions, mut triangles) = cube.into_parts();
        let inverted = triangles.iter().map(|[a, b, c]| [*a, *c, *b]).collect();
        let inverted = Triangles::new(positions.clone(), inverted).unwrap();
        let inverted = Piece::of_surface(
            &inverted.into_surface("in").unwrap(),
            true,
            None,
            Sampling::default(),
        );
        let bad = inverted.unwrap()[0].start(1000.0, &Pose::IDENTITY).unwrap_err();
        assert!(bad.to_string().contains("inside out"), "{bad}");
        triangles.pop();
        let open = Triangles::new(positions, triangles).unwrap().into_surface("open").unwrap();
        assert!(Piece::of_surface(&open, true, None, Sampling::default()).is_err());
    }
}
