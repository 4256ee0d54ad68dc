//! What nodes take of memory while they work: it is asked for before anything is made, so that whoever asks for too much is told at once.
//!
//! These are the least that is taken, of what a node makes and of what it looks things up in, and less than twice as much. Voxels and files ask
//! for themselves.

use super::{Call, Fault};
use undine_core::CoreError;
use undine_geometry::GeometryError;
use undine_geometry::sampling::Sampling;
use undine_sim::input::{Data, Geometry};

/// What a node asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Takes {
    /// Of what, for messages: `20000000 points`.
    pub what: String,
    /// How much [bytes].
    pub bytes: u64,
}

/// A point and its id [bytes], twice while there are more and more of them.
const POINT: u64 = 64;
/// A point on a surface with its triangle, weights, normal and id [bytes].
const POINT_ON_SURFACE: u64 = 128;
/// A number and a vector of an element [bytes].
const NUMBER: u64 = 8;
const VECTOR: u64 = 24;
/// A vertex of a curve, with the edge behind it [bytes].
const VERTEX_OF_CURVE: u64 = 64;
/// A quadrangle of a sheet with its vertex, corners and edges [bytes].
const QUADRANGLE: u64 = 128;
/// A triangle of a shape's surface with its half of a vertex [bytes].
const TRIANGLE: u64 = 64;
/// A tetrahedron of a box with its edges [bytes].
const TETRAHEDRON: u64 = 128;
/// A point or triangle while others look for what is nearest [bytes].
const LOOKED_UP: u64 = 128;
/// The points of a sampling by a spacing: those of a grid, of disks in a volume, which are looked for in some twenty cells each, and of
/// disks on a surface [bytes].
const JITTERED: u64 = 128;
const DISK_IN_VOLUME: u64 = 2048;
const DISK_ON_SURFACE: u64 = 256;

impl Takes {
    fn of(count: u64, each: u64, noun: &str) -> Self {
        Self { what: format!("{count} {noun}"), bytes: count.saturating_mul(each) }
    }
}

/// So many of each kind, all in all.
fn product(counts: &[u32]) -> u64 {
    counts.iter().fold(1, |product: u64, &n| product.saturating_mul(u64::from(n)))
}

/// Nothing that is worth a question.
pub(super) fn nothing(_: &Call<'_>) -> Result<Option<Takes>, Fault> {
    Ok(None)
}

/// A filter that changes all elements: what it is given, once more.
pub(super) fn copy(call: &Call<'_>) -> Result<Option<Takes>, Fault> {
    let bytes = bytes(&call.data)?;
    let within = call.within.as_deref().map_or(Ok(0), self::bytes)?;
    Ok(Some(Takes { what: format!("a copy of {}", call.data.noun()), bytes: bytes + within }))
}

/// A shape as a surface.
pub(super) fn shape(call: &Call<'_>) -> Result<Option<Takes>, Fault> {
    if call.given.text("form")? == "solid" || call.given.declaration.parameter("detail").is_none() {
        return Ok(None);
    }
    let detail = call.given.count("detail")?;
    Ok(Some(Takes::of(64 << (2 * detail.min(20)), TRIANGLE, "triangles")))
}

/// A sheet.
pub(super) fn sheet(call: &Call<'_>) -> Result<Option<Takes>, Fault> {
    let sides = [call.given.count("columns")?, call.given.count("rows")?];
    Ok(Some(Takes::of(product(&sides), QUADRANGLE, "quadrangles")))
}

/// A grid of curves.
pub(super) fn curves(call: &Call<'_>) -> Result<Option<Takes>, Fault> {
    let given = &call.given;
    let segments = given.count("segments")?.saturating_add(1);
    let counts = [given.count("columns")?, given.count("rows")?, segments];
    Ok(Some(Takes::of(product(&counts), VERTEX_OF_CURVE, "vertices of curves")))
}

/// A box of tetrahedra.
pub(super) fn tet_box(call: &Call<'_>) -> Result<Option<Takes>, Fault> {
    let cells = call.given.vector("cells")?.as_uvec3();
    let count = product(&cells.to_array()).saturating_mul(6);
    Ok(Some(Takes::of(count, TETRAHEDRON, "tetrahedra")))
}

/// Strands on points.
pub(super) fn strands(call: &Call<'_>) -> Result<Option<Takes>, Fault> {
    let Geometry::Points(cloud) = &call.data.geometry else { return Ok(None) };
    let each = u64::from(call.given.count("segments")?) + 1;
    let count = (cloud.positions.len() as u64).saturating_mul(each);
    Ok(Some(Takes::of(count, VERTEX_OF_CURVE, "vertices of strands")))
}

/// A count of points; how many a spacing makes is known when they are there, and so [bounded](most_points).
pub(super) fn scatter(call: &Call<'_>) -> Result<Option<Takes>, Fault> {
    let Some(count) = call.given.optional_integer("count")? else { return Ok(None) };
    let each = match (call.given.text("on")?.as_str(), &call.data.geometry) {
        ("volume", _) => POINT,
        (_, Geometry::Surface(_)) => POINT_ON_SURFACE + carried(call)?,
        _ => POINT_ON_SURFACE,
    };
    Ok(Some(Takes::of(count.unsigned_abs(), each, "points")))
}

/// The tree in which the nearest point or triangle is looked up.
pub(super) fn rasterise(call: &Call<'_>) -> Result<Option<Takes>, Fault> {
    Ok(match &call.data.geometry {
        Geometry::Points(cloud) => {
            let count = cloud.positions.len() as u64;
            Some(Takes::of(count, LOOKED_UP, "points among which the nearest is looked up"))
        }
        _ => to_distance(call)?,
    })
}

/// The same for triangles.
pub(super) fn to_distance(call: &Call<'_>) -> Result<Option<Takes>, Fault> {
    let Geometry::Surface(surface) = &call.data.geometry else { return Ok(None) };
    let count = surface.connectivity().corners().len() as u64;
    Ok(Some(Takes::of(count, LOOKED_UP, "corners among which the nearest is looked up")))
}

/// What each point on a surface takes on of its channels [bytes].
fn carried(call: &Call<'_>) -> Result<u64, Fault> {
    let Geometry::Surface(surface) = &call.data.geometry else { return Ok(0) };
    let channels = surface.channels(undine_core::mesh::ElementClass::Vertex)?;
    Ok(channels.infos().map(|info| if info.element.bytes() > 8 { VECTOR } else { NUMBER }).sum())
}

/// What data hold [bytes]; solids by formulas and voxels, which are not copied, nothing.
fn bytes(data: &Data) -> Result<u64, Fault> {
    Ok(match &data.geometry {
        Geometry::Points(cloud) => {
            let (numbers, vectors) = (cloud.numbers.len() as u64, cloud.vectors.len() as u64);
            let each = VECTOR + numbers * NUMBER + vectors * VECTOR;
            cloud.positions.len() as u64 * each + size_of_val(&cloud.edges[..]) as u64
        }
        Geometry::Curves(mesh) => mesh.memory()?.total(),
        Geometry::Surface(mesh) => mesh.memory()?.total(),
        Geometry::Body(mesh) => mesh.memory()?.total(),
        Geometry::Empty | Geometry::LevelSet(_) | Geometry::Shape(_) => 0,
    })
}

/// How many points there is room for where a spacing says how many there are, and what each of them takes [bytes].
pub(super) fn most_points(call: &Call<'_>, method: &str, in_volume: bool) -> (usize, u64) {
    let each = match (method, in_volume) {
        ("jittered", _) => JITTERED,
        (_, true) => DISK_IN_VOLUME,
        (_, false) => DISK_ON_SURFACE,
    };
    let room = usize::try_from(call.context().budget.free() / each).unwrap_or(usize::MAX);
    (room.min(Sampling::default().most), each)
}

/// Too many points by a spacing, as what it is: more than there is room for, or more than anybody means.
pub(super) fn too_many(call: &Call<'_>, why: GeometryError, each: u64) -> Fault {
    // What cannot be counted is a mistake, whatever the memory.
    if let GeometryError::TooMany { found, .. } = &why
        && *found < u64::MAX
    {
        let what = format!("{found} points or more");
        let over = call.context().budget.check(&what, found.saturating_mul(each));
        if let Err(over @ CoreError::OverBudget { .. }) = over {
            return over.into();
        }
    }
    why.into()
}
