//! How shapes are made: every length is checked here, so that a query has nothing left to check.

use super::inset::Inset;
use super::{
    Exactness, Frustum, Hull, Kind, LONGEST, Profile, SHORTEST, Shape, primitives, quickhull,
};
use crate::error::{GeometryError, Result};
use crate::pose::Pose;
use crate::triangles::Triangles;
use undine_core::glam::{DVec2, DVec3};
use undine_core::mesh::Bounds;

/// The deepest tree: each level is a call within a call.
const DEEPEST: usize = 128;

const EXACT: Exactness = Exactness { outside: true, inside: true };

/// Primitives.
impl Shape {
    /// A box with these half lengths [m].
    pub fn cuboid(half: DVec3) -> Result<Self> {
        for side in half.to_array() {
            length("half a side of a box", side)?;
        }
        Ok(Self::convex(Kind::Cuboid { half }))
    }

    /// A sphere of a radius [m].
    pub fn sphere(radius: f64) -> Result<Self> {
        length("the radius of a sphere", radius)?;
        Ok(Self::convex(Kind::Sphere { radius }))
    }

    /// A cylinder about z of a radius and a height [m].
    pub fn cylinder(radius: f64, height: f64) -> Result<Self> {
        length("the radius of a cylinder", radius)?;
        length("the height of a cylinder", height)?;
        Ok(Self::convex(Kind::Frustum(Frustum::new(radius, radius, 0.5 * height))))
    }

    /// All within a radius [m] of a segment along z of a length [m], which may be 0.
    pub fn capsule(radius: f64, segment: f64) -> Result<Self> {
        length("the radius of a capsule", radius)?;
        length_or_zero("the segment of a capsule", segment)?;
        Ok(Self::convex(Kind::Capsule { radius, half: 0.5 * segment }))
    }

    /// A cone about z: a disk of a radius [m] at z = −height / 2 and its apex at height / 2 [m].
    pub fn cone(radius: f64, height: f64) -> Result<Self> {
        Self::truncated_cone(radius, 0.0, height)
    }

    /// A cone cut off at the top: its radii [m] at the bottom and the top, of which one may be 0, and its height [m].
    pub fn truncated_cone(bottom: f64, top: f64, height: f64) -> Result<Self> {
        length_or_zero("the bottom radius of a cone", bottom)?;
        length_or_zero("the top radius of a cone", top)?;
        length("the larger radius of a cone", bottom.max(top))?;
        length("the height of a cone", height)?;
        Ok(Self::convex(Kind::Frustum(Frustum::new(bottom, top, 0.5 * height))))
    }

    /// A torus about z: all within `minor` [m] of a circle of radius `major` [m], which is at least as large.
    pub fn torus(major: f64, minor: f64) -> Result<Self> {
        length("the major radius of a torus", major)?;
        length("the minor radius of a torus", minor)?;
        if minor > major {
            let wanted = "at most the major radius";
            let what = "the minor radius of a torus";
            return Err(GeometryError::BadParameter { what, found: minor, wanted });
        }
        Ok(Self::new(Kind::Torus { major, minor }, EXACT, false))
    }

    /// All below a plane: the places x with normal · x ≤ offset [m]. The normal may have any length but 0.
    pub fn half_space(normal: DVec3, offset: f64) -> Result<Self> {
        let unit = primitives::direction(normal, DVec3::ZERO);
        if unit == DVec3::ZERO {
            let (what, wanted) = ("the length of a plane's normal", "positive and finite");
            return Err(GeometryError::BadParameter { what, found: normal.length(), wanted });
        }
        if !(-LONGEST..=LONGEST).contains(&offset) {
            let (what, wanted) = ("the offset of a plane", "between -1e30 and 1e30 m");
            return Err(GeometryError::BadParameter { what, found: offset, wanted });
        }
        Ok(Self::convex(Kind::HalfSpace { normal: unit, offset }))
    }

    /// The convex hull of points [m], which must span a volume. Its corners are rounded to 4·10⁻¹³ of the extent, and
    /// points that add less than 1.5·10⁻¹¹ of it may be left out.
    pub fn hull(points: &[DVec3]) -> Result<Self> {
        Ok(Self::convex(Kind::Hull(Hull::new(points)?)))
    }

    /// A closed line of points (r, z) [m], r ≥ 0, turned about z. The last point is joined to the first; the line may turn either
    /// way, run along the axis, but not meet itself. At most 16 384 points.
    pub fn revolved(profile: &[DVec2]) -> Result<Self> {
        let profile = Profile::new(profile)?;
        let convex = profile.is_convex();
        Ok(Self::new(Kind::Revolved(profile), EXACT, convex))
    }
}

/// Shapes from shapes.
impl Shape {
    /// Grown by a length [m] on all sides, so that edges and corners become round.
    ///
    /// Exact outside where this shape is, and inside too if it is convex.
    pub fn grown(self, by: f64) -> Result<Self> {
        length("the growth of a shape", by)?;
        let kind = match self.kind {
            Kind::Sphere { radius } => Kind::Sphere { radius: radius + by },
            Kind::Capsule { radius, half } => Kind::Capsule { radius: radius + by, half },
            Kind::Torus { major, minor } if minor + by <= major => {
                Kind::Torus { major, minor: minor + by }
            }
            Kind::HalfSpace { normal, offset } => Kind::HalfSpace { normal, offset: offset + by },
            Kind::Moved { of, pose } => return of.grown(by)?.moved(&pose),
            Kind::Scaled { of, factor } => return of.grown(by / factor)?.scaled(factor),
            _ => return self.offset(by),
        };
        Ok(Self::new(kind, self.exact, self.convex))
    }

    /// With edges and corners rounded to a radius [m], at the same size: all that a ball of that radius reaches which
    /// stays inside.
    ///
    /// For boxes, cylinders, cones and hulls, turned, moved and scaled; what is round enough stays as it is.
    pub fn rounded(self, radius: f64) -> Result<Self> {
        const WHAT: &str = "the radius that rounds a shape";
        length(WHAT, radius)?;
        match self.inset(radius)? {
            Inset::Exact(core) => core.grown(radius),
            Inset::Nothing => Err(too_deep(WHAT, radius)),
            Inset::Unknown => Err(GeometryError::NotPossible {
                what: "rounding this shape at its size",
                why: "its inner offset has no closed form; grow it, or round its parts",
            }),
        }
    }

    /// A shell: what lies less than `thickness` [m] below the surface. The outside keeps its size.
    ///
    /// As exact as the shape, where the inner surface has a closed form (boxes, spheres, cylinders, cones, capsules, tori, hulls);
    /// otherwise a lower bound within the wall.
    pub fn hollow(self, thickness: f64) -> Result<Self> {
        const WHAT: &str = "the thickness of a hollow shape";
        length(WHAT, thickness)?;
        let inner = match self.inset(thickness)? {
            Inset::Exact(inner) => inner,
            Inset::Nothing => return Err(too_deep(WHAT, thickness)),
            Inset::Unknown => self.clone().offset(-thickness)?,
        };
        // The inner surface lies inside of the outer one, so that each place sees just one of them, or is between both.
        let exact = Exactness {
            outside: self.exact.outside && inner.exact.inside,
            inside: self.exact.inside && inner.exact.outside,
        };
        let parts = vec![self, inner.inverted()?];
        Self::deep(Kind::Intersection { parts, width: 0.0 }, exact, false)
    }

    /// All that is in any of the parts, blended over a width [m] where they meet; 0 blends nothing. Blends of more
    /// than two parts are made in turn.
    ///
    /// Without a blend it is exact outside, and inside too if the boxes of the parts are apart.
    pub fn union(parts: Vec<Self>, width: f64) -> Result<Self> {
        check_parts(&parts, width)?;
        let apart = are_apart(&parts);
        let exact = Exactness {
            outside: width == 0.0 && parts.iter().all(|part| part.exact.outside),
            inside: width == 0.0 && apart && parts.iter().all(|part| part.exact.inside),
        };
        Self::deep(Kind::Union { parts, width }, exact, false)
    }

    /// All that is in each of the parts, blended over a width [m] where they meet; 0 blends nothing.
    ///
    /// Without a blend it is exact inside.
    pub fn intersection(parts: Vec<Self>, width: f64) -> Result<Self> {
        check_parts(&parts, width)?;
        let sharp = width == 0.0;
        let inside = sharp && parts.iter().all(|part| part.exact.inside);
        let convex = sharp && parts.iter().all(|part| part.convex);
        let exact = Exactness { outside: false, inside };
        Self::deep(Kind::Intersection { parts, width }, exact, convex)
    }

    /// This shape with a hole cut out, blended over a width [m] where they meet; 0 blends nothing.
    ///
    /// Without a blend it is exact inside.
    pub fn minus(self, hole: Self, width: f64) -> Result<Self> {
        Self::intersection(vec![self, hole.inverted()?], width)
    }

    /// With inside and outside exchanged: a room from the solid that fills it.
    pub fn inverted(self) -> Result<Self> {
        match self.kind {
            Kind::Inverted(of) => Ok(*of),
            Kind::HalfSpace { normal, offset } => Self::half_space(-normal, -offset),
            _ => {
                let Exactness { outside, inside } = self.exact;
                let exact = Exactness { outside: inside, inside: outside };
                Self::deep(Kind::Inverted(Box::new(self)), exact, false)
            }
        }
    }

    /// Turned and moved. The rotation need not be of length 1, but not 0.
    pub fn moved(self, pose: &Pose) -> Result<Self> {
        let reach = pose.translation.abs().max_element();
        if !(reach <= LONGEST && pose.translation.is_finite()) {
            let (what, wanted) = ("the translation of a shape", "at most 1e30 m");
            return Err(GeometryError::BadParameter { what, found: reach, wanted });
        }
        let size = pose.rotation.length();
        if !(size > 1e-100 && size.is_finite()) {
            let (what, wanted) = ("the length of a rotation's quaternion", "positive and finite");
            return Err(GeometryError::BadParameter { what, found: size, wanted });
        }
        let mut pose = Pose { rotation: pose.rotation.normalize(), ..*pose };
        let (exact, convex) = (self.exact, self.convex);
        let of = match self.kind {
            Kind::Moved { of, pose: first } => {
                pose = Pose {
                    rotation: (pose.rotation * first.rotation).normalize(),
                    translation: pose.to_world(first.translation),
                };
                of
            }
            _ => Box::new(self),
        };
        Self::deep(Kind::Moved { of, pose }, exact, convex)
    }

    /// Larger by a factor about the origin, the same along all axes.
    pub fn scaled(self, factor: f64) -> Result<Self> {
        length("the factor that scales a shape", factor)?;
        let (exact, convex) = (self.exact, self.convex);
        let (of, factor) = match self.kind {
            Kind::Scaled { of, factor: first } => (of, factor * first),
            _ => (Box::new(self), factor),
        };
        length("the factor that scales a shape", factor)?;
        Self::deep(Kind::Scaled { of, factor }, exact, convex)
    }

    /// Its distance less a length [m], which may be negative.
    pub(super) fn offset(self, by: f64) -> Result<Self> {
        let outwards = by > 0.0;
        let exact = Exactness {
            outside: outwards && self.exact.outside,
            inside: self.exact.inside && (!outwards || (self.convex && self.exact.outside)),
        };
        let convex = self.convex && self.exact.outside;
        let kind = match self.kind {
            // Growth on growth of what is exact is one growth.
            Kind::Offset { of, by: first } if outwards && first > 0.0 => {
                Kind::Offset { of, by: first + by }
            }
            _ => Kind::Offset { of: Box::new(self), by },
        };
        Self::deep(kind, exact, convex)
    }

    fn convex(kind: Kind) -> Self {
        Self::new(kind, EXACT, true)
    }

    pub(super) fn new(kind: Kind, exact: Exactness, convex: bool) -> Self {
        let depth = 1 + children(&kind).map(|child| child.depth).max().unwrap_or(0);
        let mut shape = Self { kind, bounds: None, exact, convex, depth };
        shape.bounds = shape.bounds_within(0.0, &Pose::IDENTITY);
        shape
    }

    /// The same of a tree that may be too deep.
    fn deep(kind: Kind, exact: Exactness, convex: bool) -> Result<Self> {
        let found = 1 + children(&kind).map(|child| child.depth).max().unwrap_or(0);
        if found > DEEPEST {
            let what = "the tree of a shape, in levels,";
            return Err(GeometryError::TooMany { what, found: found as u64, most: DEEPEST as u64 });
        }
        Ok(Self::new(kind, exact, convex))
    }
}

/// The convex hull of points [m] as a mesh of only those points that are its corners, in their order.
pub fn hull_triangles(points: &[DVec3]) -> Result<Triangles> {
    let hull = quickhull::triangles(points)?;
    let mut triangles: Vec<[u32; 3]> = hull.iter().map(|triangle| triangle.points).collect();
    let mut corners: Vec<u32> = triangles.iter().flatten().copied().collect();
    corners.sort_unstable();
    corners.dedup();
    for corner in triangles.iter_mut().flatten() {
        *corner = corners.partition_point(|&other| other < *corner) as u32;
    }
    Triangles::new(corners.iter().map(|&corner| points[corner as usize]).collect(), triangles)
}

/// Whether the boxes of all parts are apart from each other.
pub(super) fn are_apart(parts: &[Shape]) -> bool {
    // All pairs: beyond this many, nobody wants to know at that price.
    const MOST: usize = 1024;
    let apart = |a: &Bounds, b: &Bounds| a.min.cmpgt(b.max).any() || b.min.cmpgt(a.max).any();
    parts.len() <= MOST
        && parts.iter().enumerate().all(|(i, part)| {
            parts[..i].iter().all(|other| match (&part.bounds, &other.bounds) {
                (Some(a), Some(b)) => apart(a, b),
                _ => false,
            })
        })
}

fn children(kind: &Kind) -> impl Iterator<Item = &Shape> {
    let (one, many): (Option<&Shape>, &[Shape]) = match kind {
        Kind::Offset { of, .. }
        | Kind::Inverted(of)
        | Kind::Moved { of, .. }
        | Kind::Scaled { of, .. } => (Some(of), &[]),
        Kind::Union { parts, .. } | Kind::Intersection { parts, .. } => (None, parts),
        _ => (None, &[]),
    };
    one.into_iter().chain(many)
}

fn check_parts(parts: &[Shape], width: f64) -> Result<()> {
    if parts.is_empty() {
        let wanted = "a boolean needs at least one shape";
        return Err(GeometryError::Empty { what: "the list of shapes", wanted });
    }
    length_or_zero("the width of a blend", width)
}

fn length(what: &'static str, found: f64) -> Result<()> {
    if (SHORTEST..=LONGEST).contains(&found) {
        return Ok(());
    }
    Err(GeometryError::BadParameter { what, found, wanted: "between 1e-30 and 1e30" })
}

fn length_or_zero(what: &'static str, found: f64) -> Result<()> {
    if found == 0.0 || (SHORTEST..=LONGEST).contains(&found) {
        return Ok(());
    }
    Err(GeometryError::BadParameter { what, found, wanted: "0 or between 1e-30 and 1e30" })
}

fn too_deep(what: &'static str, found: f64) -> GeometryError {
    GeometryError::BadParameter { what, found, wanted: "less than the shape is deep" }
}
