//! Points on the surface of a rigid body, by which others see it: they move and turn with it.
//!
//! Each is an offset [m] from the body's centre in the body's own frame: the place of a mesh's vertex, or of a sample. Samples
//! are no nearer to each other than the spacing, and leave no room for one more. Corners and sharp edges come first, because that is
//! what a body touches others with.
//!
//! Edges of two bodies that cross between points go into each other until points of one reach the faces of the other: by half a spacing at most
//! where edges are at right angles.

use crate::error::{Result, SolidError};
use std::collections::BTreeMap;
use undine_core::glam::{DVec3, I64Vec3};
use undine_core::mesh::Bounds;
use undine_geometry::sampling::{Sampling, sample_surface_poisson, sample_volume_jittered};
use undine_geometry::solid::onto_surface;
use undine_geometry::{GeometryError, Nearest, Solid, Triangles};

/// At each vertex of the mesh, in their order; and behind them between vertices, along sharp edges and on triangles, where there is room for
/// a spacing [m]. Of those, also the corners of the edge or triangle that each is on.
pub fn boundary_of_vertices(
    mesh: &Triangles,
    centre: DVec3,
    spacing: f64,
    sampling: Sampling,
) -> Result<(Vec<DVec3>, Vec<[u32; 3]>)> {
    // What has no extent is nothing to touch; what is wrong with it is for others to say.
    if spacing == 0.0 {
        return Ok((mesh.positions().iter().map(|at| *at - centre).collect(), Vec::new()));
    }
    let mut kept = Spaced::new(spacing);
    mesh.positions().iter().for_each(|at| kept.keep(*at));
    let mut added = Vec::new();
    let mut offer = |at: DVec3, corners: [u32; 3]| {
        if kept.offer(at) {
            added.push(corners);
        }
    };
    for [a, b] in sharp_edges(mesh) {
        let ends = [a, b].map(|vertex| mesh.positions()[vertex as usize]);
        points_along(ends, spacing).for_each(|at| offer(at, [a, b, b]));
    }
    for sample in &sample_surface_poisson(mesh, spacing, sampling)? {
        offer(sample.point, mesh.indices()[sample.triangle as usize]);
    }
    Ok((kept.points.into_iter().map(|at| at - centre).collect(), added))
}

/// The spacing [m] of a body of such an extent [m] and surface [m²] that says none: a tenth of its largest extent, and no more than its
/// smallest, so that bars which cross have points where they do; but not so little that there are more than a thousand points or so.
pub fn usual_spacing(extent: DVec3, area: f64) -> f64 {
    const PARTS: f64 = 10.0;
    const MOST: f64 = 1000.0;
    let wanted = (extent.max_element() / PARTS).min(extent.min_element());
    // Samples fill about 0.7 of the plane with disks of half the spacing.
    let least = (0.7 * area / (0.25 * std::f64::consts::PI * MOST)).sqrt();
    wanted.max(least)
}

/// On the triangles of a mesh, `spacing` [m] apart, beginning with its corners and sharp edges.
pub fn boundary_of_mesh(
    mesh: &Triangles,
    centre: DVec3,
    spacing: f64,
    sampling: Sampling,
) -> Result<Vec<DVec3>> {
    let samples = sample_surface_poisson(mesh, spacing, sampling)?;
    let mut kept = Spaced::new(spacing);
    for at in sharp_points(mesh, spacing) {
        kept.offer(at);
    }
    for sample in &samples {
        kept.offer(sample.point);
    }
    Ok(kept.points.into_iter().map(|at| at - centre).collect())
}

/// On the surface of a solid, `spacing` [m] apart, a quarter of a million at most, beginning with those of the `sharp` points that are on
/// it. Details much smaller than the spacing may be missed.
pub fn boundary_of_solid(
    solid: &dyn Solid,
    centre: DVec3,
    spacing: f64,
    sharp: &[DVec3],
    sampling: Sampling,
) -> Result<Vec<DVec3>> {
    if !(spacing > 0.0 && spacing.is_finite()) {
        let (what, wanted) = ("the spacing of boundary particles [m]", "positive and finite");
        return Err(SolidError::BadNumber { what, found: spacing, wanted });
    }
    let most = sampling.most.min(MOST);
    let near = candidates(solid, spacing / CELLS_PER_SPACING, Sampling { most, ..sampling })?;
    let mut kept = Spaced::new(spacing);
    for at in sharp.iter().filter(|at| solid.distance(**at).abs() <= 1e-6 * spacing) {
        kept.offer(*at);
    }
    for at in near {
        if let Some(on) = onto_surface(solid, at, 1e-6 * spacing) {
            kept.offer(on);
            if kept.points.len() > most {
                return Err(too_many(kept.points.len(), most));
            }
        }
    }
    Ok(kept.points.into_iter().map(|at| at - centre).collect())
}

/// Corners of a mesh, and points along its sharp edges about `spacing` [m] apart, corners first.
pub fn sharp_points(mesh: &Triangles, spacing: f64) -> Vec<DVec3> {
    let at = mesh.positions();
    let sharp = sharp_edges(mesh);
    // An edge that goes straight on at a vertex has no corner there.
    let mut along: BTreeMap<u32, Vec<DVec3>> = BTreeMap::new();
    for &[a, b] in &sharp {
        let way = (at[b as usize] - at[a as usize]).normalize_or_zero();
        along.entry(a).or_default().push(way);
        along.entry(b).or_default().push(-way);
    }
    let goes_on = |ways: &[DVec3]| ways.len() == 2 && ways[0].dot(ways[1]) < -BENT;
    let corners = along.iter().filter(|(_, ways)| !goes_on(ways)).map(|(n, _)| at[*n as usize]);
    let mut points: Vec<DVec3> = corners.collect();
    for edge in sharp {
        points.extend(points_along(edge.map(|vertex| at[vertex as usize]), spacing));
    }
    points
}

/// What is bent by less than 37° is a round thing in facets: the cosine of that.
const BENT: f64 = 0.8;

/// Edges of a mesh whose two sides look different ways.
fn sharp_edges(mesh: &Triangles) -> Vec<[u32; 2]> {
    // Normals on both sides of each edge.
    let at = mesh.positions();
    let mut sides: BTreeMap<[u32; 2], Vec<DVec3>> = BTreeMap::new();
    for &[a, b, c] in mesh.indices() {
        let corner = |n: u32| at[n as usize];
        let normal = (corner(b) - corner(a)).cross(corner(c) - corner(a)).normalize_or_zero();
        for [from, to] in [[a, b], [b, c], [c, a]] {
            sides.entry([from.min(to), from.max(to)]).or_default().push(normal);
        }
    }
    let is_sharp = |normals: &[DVec3]| normals.len() == 2 && normals[0].dot(normals[1]) < BENT;
    sides.iter().filter(|(_, normals)| is_sharp(normals)).map(|(edge, _)| *edge).collect()
}

/// Points from one end to the other, no nearer to each other than a spacing [m], whatever rounding does.
fn points_along([from, to]: [DVec3; 2], spacing: f64) -> impl Iterator<Item = DVec3> {
    let parts = ((1.0 - 1e-6) * from.distance(to) / spacing).floor().clamp(1.0, 4096.0) as u32;
    (0..=parts).map(move |n| from.lerp(to, f64::from(n) / f64::from(parts)))
}

/// Boundary particles at most of one solid, whatever is allowed: finding them takes some kilobytes for each.
const MOST: usize = 1 << 18;
/// What finding a boundary particle of a solid takes [bytes].
pub const BYTES_ON_SOLID: u64 = 16_384;
/// What finding one of a mesh takes [bytes].
pub const BYTES_ON_MESH: u64 = 512;
const CELLS_PER_SPACING: f64 = 3.0;
/// A sample keeps others out of about 1.2 spacing² of surface, in which 9 cells per spacing² lie in one or two layers.
const CANDIDATES_PER_SAMPLE: usize = 32;

/// Points in all cells near the surface, several in each ball of the spacing.
///
/// A fine grid over a large solid would be found too large only when memory is full of it. So coarse grids come first: each
/// finer one has more points, up to eight times as many, and the first one that has too many is the last.
fn candidates(solid: &dyn Solid, cell: f64, sampling: Sampling) -> Result<Vec<DVec3>> {
    const COARSEST: f64 = 1.0 / 16.0;
    let what =
        || GeometryError::Unbounded { what: "a solid to cover with boundary particles".into() };
    let longest = solid.bounds().ok_or_else(what)?.size().max_element();
    let most = sampling.most.saturating_mul(CANDIDATES_PER_SAMPLE);
    let allowed = Sampling { most: most.saturating_mul(8).max(1 << 16), ..sampling };
    let halvings = (COARSEST * longest / cell).log2().ceil().clamp(0.0, 60.0) as i32;
    for halving in (0..=halvings).rev() {
        let side = cell * 2_f64.powi(halving);
        let shell = Shell { solid, half: 0.75 * side };
        let near = sample_volume_jittered(&shell, side, allowed)?;
        if halving == 0 {
            return Ok(near);
        }
        if near.len() > most {
            return Err(too_many(near.len() / CANDIDATES_PER_SAMPLE, sampling.most));
        }
    }
    Ok(Vec::new())
}

fn too_many(found: usize, most: usize) -> SolidError {
    let what = "the boundary particles of a body";
    GeometryError::TooMany { what, found: found as u64, most: most as u64 }.into()
}

/// All that is near to the surface of a solid, inside or outside.
#[derive(Debug)]
struct Shell<'a> {
    solid: &'a dyn Solid,
    /// How near [m].
    half: f64,
}

impl Solid for Shell<'_> {
    fn distance(&self, at: DVec3) -> f64 {
        self.solid.distance(at).abs() - self.half
    }

    fn nearest(&self, at: DVec3) -> Nearest {
        let Nearest { point, normal, distance } = self.solid.nearest(at);
        let outwards = if distance < 0.0 { -normal } else { normal };
        let distance = distance.abs() - self.half;
        Nearest { point: point + outwards * self.half, normal: outwards, distance }
    }

    fn bounds(&self) -> Option<Bounds> {
        let Bounds { min, max } = self.solid.bounds()?;
        Some(Bounds { min: min - self.half, max: max + self.half })
    }
}

/// Points that keep a distance from each other, in the order in which they came.
struct Spaced {
    spacing: f64,
    points: Vec<DVec3>,
    /// The points in each cube of the spacing.
    cells: BTreeMap<[i64; 3], Vec<usize>>,
}

impl Spaced {
    fn new(spacing: f64) -> Self {
        Self { spacing, points: Vec::new(), cells: BTreeMap::new() }
    }

    /// Keeps a point, whatever is near.
    fn keep(&mut self, at: DVec3) {
        let cell = (at / self.spacing).floor().as_i64vec3();
        self.cells.entry(cell.to_array()).or_default().push(self.points.len());
        self.points.push(at);
    }

    /// Keeps a point if no other is nearer than the spacing; says whether it does.
    fn offer(&mut self, at: DVec3) -> bool {
        let cell = (at / self.spacing).floor().as_i64vec3();
        let around = (0..27).map(|n| cell + I64Vec3::new(n / 9 - 1, n / 3 % 3 - 1, n % 3 - 1));
        let near = around.flat_map(|cell| self.cells.get(&cell.to_array()).into_iter().flatten());
        let room = self.spacing * self.spacing;
        if near.into_iter().any(|&other| self.points[other].distance_squared(at) < room) {
            return false;
        }
        self.keep(at);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use undine_geometry::triangle::closest_point;
    use undine_geometry::{Shape, gallery};

    fn check(points: &[DVec3], solid: &dyn Solid, spacing: f64, area: f64) {
        for (n, at) in points.iter().enumerate() {
            assert!(solid.distance(*at).abs() < 1e-5 * spacing, "{at} is not on the surface");
            assert!(
                points[..n].iter().all(|other| other.distance(*at) >= spacing),
                "{at} is too near"
            );
        }
        // Disks of half the spacing fill between 0.55 and 0.91 of a plane when there is no room for one more.
        let filled = points.len() as f64 * std::f64::consts::PI * spacing * spacing / 4.0 / area;
        assert!((0.5..0.95).contains(&filled), "{} points fill {filled}", points.len());
    }

    #[test]
    fn points_cover_a_sphere_and_a_box_evenly() {
        let sphere = Shape::sphere(0.5).unwrap();
        let points =
            boundary_of_solid(&sphere, DVec3::ZERO, 0.1, &[], Sampling::default()).unwrap();
        check(&points, &sphere, 0.1, std::f64::consts::PI);
        let cuboid = Shape::cuboid(DVec3::new(0.5, 0.25, 1.0)).unwrap();
        let points =
            boundary_of_solid(&cuboid, DVec3::ZERO, 0.08, &[], Sampling::default()).unwrap();
        check(&points, &cuboid, 0.08, 2.0 * (0.5 + 1.0 + 2.0));
        let mesh = gallery::cuboid(DVec3::new(0.5, 0.25, 1.0));
        let points = boundary_of_mesh(&mesh, DVec3::ZERO, 0.08, Sampling::default()).unwrap();
        check(&points, &cuboid, 0.08, 2.0 * (0.5 + 1.0 + 2.0));
    }

    #[test]
    fn no_place_of_the_surface_is_far_from_a_point() {
        let cut = Shape::sphere(0.3).unwrap();
        let shape = Shape::cuboid(DVec3::splat(0.25)).unwrap().minus(cut, 0.05).unwrap();
        let points =
            boundary_of_solid(&shape, DVec3::ZERO, 0.05, &[], Sampling::default()).unwrap();
        let dense =
            boundary_of_solid(&shape, DVec3::ZERO, 0.012, &[], Sampling::default()).unwrap();
        for at in dense {
            let nearest = points.iter().map(|p| p.distance(at)).fold(f64::INFINITY, f64::min);
            assert!(nearest < 0.05 * 1.25, "{nearest} m from {at}");
        }
    }

    #[test]
    fn corners_and_edges_of_a_box_have_points() {
        let half = DVec3::new(0.5, 0.25, 1.0);
        let cuboid = Shape::cuboid(half).unwrap();
        let sharp = sharp_points(&gallery::cuboid(half), 0.1);
        let points = boundary_of_solid(&cuboid, DVec3::ZERO, 0.1, &sharp, Sampling::default());
        let points = points.unwrap();
        check(&points, &cuboid, 0.1, 2.0 * (0.5 + 1.0 + 2.0));
        let extreme = |at: &DVec3| (at.abs() - half).abs().cmple(DVec3::splat(1e-9));
        let of = |wanted: u32| {
            let many = |at: &&DVec3| extreme(at).bitmask().count_ones() == wanted;
            points.iter().filter(many).count()
        };
        assert_eq!(of(3), 8, "all corners");
        // Four edges each of nine, four and nineteen parts.
        assert_eq!(of(2), 4 * (8 + 3 + 18), "all edges");
        assert!(sharp_points(&gallery::sphere(0.5, 4), 0.1).is_empty(), "a ball has none");
    }

    /// Of a cube, nine parts of each edge, which are longer than the tenth that is asked for; of a bar, points no farther apart than it is thick; of
    /// a plate, a thousand at most, and half of that where it is so thin that points on its two sides keep apart from each other; and of a ball in
    /// many facets nothing but its vertices.
    #[test]
    fn bodies_without_a_spacing_have_points_between_their_vertices() {
        let points = |mesh: &Triangles| {
            let extent = mesh.bounds().unwrap().size();
            let area: f64 = mesh.iter().map(|[a, b, c]| 0.5 * (b - a).cross(c - a).length()).sum();
            let spacing = usual_spacing(extent, area);
            let found = boundary_of_vertices(mesh, DVec3::ZERO, spacing, Sampling::default());
            let (found, added) = found.unwrap();
            assert_eq!(found.len(), mesh.positions().len() + added.len());
            for (at, corners) in found[mesh.positions().len()..].iter().zip(&added) {
                let corners = corners.map(|corner| mesh.positions()[corner as usize]);
                assert!(closest_point(corners, *at).point.distance(*at) < 1e-12, "{at}");
            }
            assert_eq!(found[..mesh.positions().len()], *mesh.positions(), "vertices come first");
            (found, spacing)
        };
        let (cube, spacing) = points(&gallery::cuboid(DVec3::splat(0.5)));
        assert!((spacing - 0.1).abs() < 1e-12);
        let on =
            |at: &DVec3| (at.abs() - 0.5).abs().cmple(DVec3::splat(1e-9)).bitmask().count_ones();
        let count = |wanted: u32| cube.iter().filter(|at| on(at) == wanted).count();
        assert_eq!((count(3), count(2)), (8, 12 * 8));
        assert!((250..550).contains(&count(1)), "{} on faces", count(1));
        let (_, spacing) = points(&gallery::cuboid(DVec3::new(1.0, 0.02, 0.02)));
        assert!((spacing - 0.04).abs() < 1e-12, "{spacing} m");
        let (plate, _) = points(&gallery::cuboid(DVec3::new(1.0, 0.001, 1.0)));
        assert!((300..1000).contains(&plate.len()), "{} points", plate.len());
        let ball = gallery::sphere(0.5, 4);
        assert_eq!(points(&ball).0.len(), ball.positions().len());
    }

    #[test]
    fn offsets_are_from_the_centre() {
        let mesh = gallery::cuboid(DVec3::ONE);
        let centre = DVec3::new(1.0, 2.0, 3.0);
        let found = boundary_of_vertices(&mesh, centre, 3.5, Sampling::default()).unwrap();
        let offsets = &found.0[..8];
        assert!(offsets.iter().zip(mesh.positions()).all(|(offset, at)| *offset + centre == *at));
    }

    #[test]
    fn what_cannot_be_sampled_is_refused() {
        let sphere = Shape::sphere(1.0).unwrap();
        for spacing in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            let bad = boundary_of_solid(&sphere, DVec3::ZERO, spacing, &[], Sampling::default());
            assert!(bad.unwrap_err().to_string().contains("spacing"));
        }
        // Also where the grid of all candidates could not be held in any memory.
        let few = Sampling { most: 1000, seed: 0 };
        for spacing in [0.04, 1e-4, 1e-9] {
            let bad = boundary_of_solid(&sphere, DVec3::ZERO, spacing, &[], few).unwrap_err();
            assert!(bad.to_string().contains("or more"), "{bad}");
        }
        assert!(boundary_of_solid(&sphere, DVec3::ZERO, 1e-300, &[], few).is_err());
        let endless = Shape::half_space(DVec3::Y, 0.0).unwrap();
        assert!(boundary_of_solid(&endless, DVec3::ZERO, 0.1, &[], Sampling::default()).is_err());
        assert!(boundary_of_mesh(&gallery::cuboid(DVec3::ONE), DVec3::ZERO, 0.0, few).is_err());
    }
}
