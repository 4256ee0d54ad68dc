//! What there is to see.

use undine_core::glam::{DQuat, DVec2, DVec3};
use undine_core::{Frame, GridDomain};
use undine_geometry::levelset::{Extent, Filter, LevelSet};
use undine_geometry::{Inside, MeshSolid, Pose, Result, Shape, Solid, Triangles, gallery, random};

/// Shows every solid, with its name.
pub fn each(show: &mut dyn FnMut(&str, &dyn Solid)) -> Result<()> {
    shapes(show)?;
    made_of_shapes(show)?;
    meshes(show)?;
    level_sets(show)
}

fn shapes(show: &mut dyn FnMut(&str, &dyn Solid)) -> Result<()> {
    let tilted = Pose { rotation: DQuat::from_rotation_x(0.7), translation: DVec3::ZERO };
    show("box", &Shape::cuboid(DVec3::new(0.9, 0.6, 0.5))?);
    show("cylinder", &Shape::cylinder(0.6, 1.3)?);
    show("capsule", &Shape::capsule(0.4, 1.0)?.moved(&tilted)?);
    show("truncated cone", &Shape::truncated_cone(0.8, 0.3, 1.2)?);
    show("torus", &Shape::torus(0.8, 0.25)?.moved(&tilted)?);
    let vase = [[0.0, -0.8], [0.5, -0.8], [0.65, -0.3], [0.3, 0.3], [0.45, 0.8], [0.0, 0.8]];
    show("revolved profile", &Shape::revolved(&vase.map(DVec2::from_array))?);
    Ok(())
}

fn made_of_shapes(show: &mut dyn FnMut(&str, &dyn Solid)) -> Result<()> {
    let cube = || Shape::cuboid(DVec3::splat(0.7));
    let ball = |x: f64, radius: f64| Shape::sphere(radius)?.moved(&Pose::at(x * DVec3::X));
    let stones: Vec<DVec3> = (0..40)
        .map(|n| DVec3::from_array([0, 1, 2].map(|k| 2.0 * random::unit(k, n) - 1.0)).normalize())
        .collect();
    show("hull", &Shape::hull(&stones)?);
    show("rounded", &cube()?.rounded(0.25)?);
    let bowl = Shape::sphere(0.9)?.hollow(0.12)?;
    show("hollow and cut", &bowl.minus(Shape::half_space(-DVec3::Z, -0.2)?, 0.0)?);
    show("difference", &cube()?.minus(Shape::sphere(0.88)?, 0.0)?);
    show("union, blended", &Shape::union(vec![ball(-0.5, 0.6)?, ball(0.55, 0.4)?], 0.35)?);
    show("intersection, blended", &Shape::intersection(vec![cube()?, Shape::sphere(0.9)?], 0.15)?);
    Ok(())
}

fn meshes(show: &mut dyn FnMut(&str, &dyn Solid)) -> Result<()> {
    show("knot", &knot()?);
    show("bunny", &bunny()?);
    let wave = |at: DVec3| at + 0.15 * (4.0 * at.x).sin() * (3.0 * at.y).cos() * DVec3::Z;
    let (positions, triangles) = gallery::sheet([2.0, 2.0], [60, 60]).into_parts();
    let wavy = positions.into_iter().map(wave).collect();
    let sheet = Triangles::new(wavy, triangles)?;
    show("open sheet", &MeshSolid::new(sheet, Inside::Thickness(0.03))?);
    Ok(())
}

fn level_sets(show: &mut dyn FnMut(&str, &dyn Solid)) -> Result<()> {
    let domain = GridDomain::new("space", Frame::new(DVec3::ZERO, 0.02)?);
    let (bunny, knot) = (bunny()?, knot()?);
    let of = |solid: &dyn Solid| LevelSet::of_solid("made", &domain, solid, Extent::NARROW);
    let mut look = |name: &str, set: &LevelSet| -> Result<()> {
        let column = set.column()?;
        show(name, &set.sampler(&column));
        Ok(())
    };
    look("bunny in voxels of 2 cm", &of(&bunny)?)?;
    let mut smooth = of(&bunny)?;
    smooth.filter(Filter::MeanCurvature, 25, None)?;
    look("the same, smoothed", &smooth)?;
    let mut thick = of(&knot)?;
    thick.dilate(0.06)?;
    look("a knot, dilated", &thick)?;
    look("a knot through a bunny", &of(&bunny)?.union(&of(&knot)?, 0.06)?)?;
    look("a bunny without a knot", &of(&bunny)?.difference(&of(&knot)?, 0.0)?)?;
    let mut thin = of(&bunny)?;
    thin.open(0.09)?;
    look("a bunny, opened", &thin)
}

/// With its ears up.
fn bunny() -> Result<MeshSolid> {
    let (positions, triangles) = gallery::bunny(5).into_parts();
    let turned = positions.into_iter().map(|at| DVec3::new(at.z, at.x, at.y)).collect();
    MeshSolid::new(Triangles::new(turned, triangles)?, Inside::Normals)
}

fn knot() -> Result<MeshSolid> {
    MeshSolid::new(gallery::knot(0.07, 600, 24), Inside::Normals)
}
