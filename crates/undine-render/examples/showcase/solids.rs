//! A sheet of every kind of Solid: shapes, what is made of them, meshes, and level sets with what their tools make of them.

use crate::studio::{Outcome, Studio, solid};
use undine_core::glam::{DQuat, DVec2, DVec3, Vec3};
use undine_core::{Frame, GridDomain};
use undine_geometry::form::{mesh_of, mesh_of_level_set};
use undine_geometry::levelset::{Extent, Filter, LevelSet};
use undine_geometry::{
    Detail, Form, Inside, MeshSolid, Pose, Result, Shape, Solid, Triangles, gallery, random,
};
use undine_render::shot::{Camera, Framing, Ground, Light, Shot, Subject};
use undine_render::{Display, Sheet, SheetFrame, Size};

const CLAY: Vec3 = Vec3::new(0.13, 0.36, 0.46);
const FINE: Detail = Detail { segments: 192, cells: 160, reach: 2.0 };

/// A name, and what it looks like.
type Named = (&'static str, Triangles);

pub fn picture(studio: &Studio) -> Outcome<Display> {
    let mut frames = Vec::new();
    for (name, mesh) in [shapes()?, made_of_shapes()?, meshes()?, level_sets()?].concat() {
        frames.push(SheetFrame { label: name.into(), display: tile(studio, &mesh)? });
    }
    let sheet = Sheet { columns: 7, most: frames.len(), width: 1680, ..Sheet::default() };
    Ok(sheet.of(&frames)?)
}

/// A solid on the ground; z is up.
fn tile(studio: &Studio, mesh: &Triangles) -> Outcome<Display> {
    let bounds = mesh.bounds().ok_or("a solid without a surface")?;
    let framing = Framing {
        from: DVec3::new(2.3, -2.9, 1.9),
        up: DVec3::Z,
        field_of_view: 0.5,
        aspect: 1.0,
        margin: 0.06,
    };
    let shot = Shot {
        subjects: vec![Subject::Mesh(solid(mesh, CLAY))],
        camera: Camera::framing(&bounds, &framing)?,
        light: Light::with_up(Vec3::Z),
        grounds: vec![Ground { point: bounds.min, normal: Vec3::Z }],
        shutter: 0.0,
    };
    studio.taken_in(&shot, Size::new(240, 240)?)
}

fn shapes() -> Result<Vec<Named>> {
    let tilted = Pose { rotation: DQuat::from_rotation_x(0.7), translation: DVec3::ZERO };
    let vase = [[0.0, -0.8], [0.5, -0.8], [0.65, -0.3], [0.3, 0.3], [0.45, 0.8], [0.0, 0.8]];
    formed([
        ("box", Shape::cuboid(DVec3::new(0.9, 0.6, 0.5))?),
        ("cylinder", Shape::cylinder(0.6, 1.3)?),
        ("capsule", Shape::capsule(0.4, 1.0)?.moved(&tilted)?),
        ("truncated cone", Shape::truncated_cone(0.8, 0.3, 1.2)?),
        ("torus", Shape::torus(0.8, 0.25)?.moved(&tilted)?),
        ("revolved profile", Shape::revolved(&vase.map(DVec2::from_array))?),
    ])
}

fn made_of_shapes() -> Result<Vec<Named>> {
    let cube = || Shape::cuboid(DVec3::splat(0.7));
    let ball = |x: f64, radius: f64| Shape::sphere(radius)?.moved(&Pose::at(x * DVec3::X));
    let stones: Vec<DVec3> = (0..40)
        .map(|n| DVec3::from_array([0, 1, 2].map(|k| 2.0 * random::unit(k, n) - 1.0)).normalize())
        .collect();
    let bowl = Shape::sphere(0.9)?.hollow(0.12)?;
    formed([
        ("hull", Shape::hull(&stones)?),
        ("rounded", cube()?.rounded(0.25)?),
        ("hollow and cut", bowl.minus(Shape::half_space(-DVec3::Z, -0.2)?, 0.0)?),
        ("difference", cube()?.minus(Shape::sphere(0.88)?, 0.0)?),
        ("blended union", Shape::union(vec![ball(-0.5, 0.6)?, ball(0.55, 0.4)?], 0.35)?),
        ("blended intersection", Shape::intersection(vec![cube()?, Shape::sphere(0.9)?], 0.15)?),
    ])
}

/// What shapes look like.
fn formed<const N: usize>(shapes: [(&'static str, Shape); N]) -> Result<Vec<Named>> {
    let mut named = Vec::new();
    for (name, shape) in shapes {
        for form in shape.forms(&FINE)? {
            if let Form::Mesh(mesh) = form {
                named.push((name, mesh));
            }
        }
    }
    Ok(named)
}

fn meshes() -> Result<Vec<Named>> {
    let wave = |at: DVec3| at + 0.15 * (4.0 * at.x).sin() * (3.0 * at.y).cos() * DVec3::Z;
    let sheet = gallery::sheet([2.0, 2.0], [60, 60]).mapped(wave);
    let thick = MeshSolid::new(sheet, Inside::Thickness(0.03))?;
    Ok(vec![("knot", knot()), ("bunny", bunny()), ("open sheet", mesh_of(&thick, &FINE)?)])
}

fn level_sets() -> Result<Vec<Named>> {
    let domain = GridDomain::new("space", Frame::new(DVec3::ZERO, 0.02)?);
    let bunny = MeshSolid::new(bunny(), Inside::Normals)?;
    let knot = MeshSolid::new(knot(), Inside::Normals)?;
    let of = |solid: &dyn Solid| LevelSet::of_solid("made", &domain, solid, Extent::NARROW);
    let mut smooth = of(&bunny)?;
    smooth.filter(Filter::MeanCurvature, 25, None)?;
    let mut thick = of(&knot)?;
    thick.dilate(0.06)?;
    let mut thin = of(&bunny)?;
    thin.open(0.09)?;
    let sets = [
        ("voxels of 2 cm", of(&bunny)?),
        ("smoothed", smooth),
        ("dilated", thick),
        ("united", of(&bunny)?.union(&of(&knot)?, 0.06)?),
        ("cut", of(&bunny)?.difference(&of(&knot)?, 0.0)?),
        ("opened", thin),
    ];
    sets.iter().map(|(name, set)| Ok((*name, mesh_of_level_set(set)?))).collect()
}

/// With its ears up.
fn bunny() -> Triangles {
    gallery::bunny(5).mapped(|at| DVec3::new(at.z, at.x, at.y))
}

fn knot() -> Triangles {
    gallery::knot(0.07, 600, 24)
}
