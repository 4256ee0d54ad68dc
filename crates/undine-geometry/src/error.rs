//! What can be wrong with geometry, as typed errors that name the thing, the numbers and what would be right.

use undine_core::CoreError;
use undine_core::glam::DVec3;
use undine_core::memory::in_words;

/// The result of a fallible operation on geometry. An operation that fails changes nothing, but for those that go in steps,
/// which keep the steps that they have made and say so.
pub type Result<T, E = GeometryError> = std::result::Result<T, E>;

/// Every error of geometry.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum GeometryError {
    /// An error of stores, meshes or processes; a memory budget that would be passed among them.
    #[error(transparent)]
    Core(#[from] CoreError),
    /// A parameter outside of its range.
    #[error("{what} is {found}, but must be {wanted}")]
    BadParameter {
        /// Which parameter, for example `the radius of a sphere`.
        what: &'static str,
        /// The value found.
        found: f64,
        /// What it must be, for example `a positive length in metres`.
        wanted: &'static str,
    },
    /// A vertex at a position that is NaN or infinite.
    #[error("vertex {vertex} is at {position}, which is not finite")]
    VertexNotFinite {
        /// The vertex, from 0.
        vertex: usize,
        /// Its position [m].
        position: DVec3,
    },
    /// A triangle that refers to a vertex that does not exist.
    #[error("triangle {triangle} refers to vertex {vertex}, but there are only {vertices}")]
    DanglingIndex {
        /// The triangle, from 0.
        triangle: usize,
        /// The index found.
        vertex: u32,
        /// How many vertices there are.
        vertices: usize,
    },
    /// A list of another length than wanted.
    #[error("{what} has {found} entries, but {wanted} are wanted")]
    WrongLength {
        /// Which list.
        what: &'static str,
        /// Its length.
        found: usize,
        /// The length it should have.
        wanted: usize,
    },
    /// Nothing where something is needed.
    #[error("{what} is empty, but {wanted}")]
    Empty {
        /// What is empty.
        what: &'static str,
        /// What is needed of it, for example `a hull needs four points`.
        wanted: &'static str,
    },
    /// Something without an end where something with bounds is needed.
    #[error("{what} has no bounds; intersect it with a box")]
    Unbounded {
        /// What it is.
        what: String,
    },
    /// A primitive, or a pair of primitives, that refers to a vertex that does not exist.
    #[error("{what} {number} refers to vertex {vertex}, but there are only {vertices}")]
    DanglingVertex {
        /// What refers to it, for example `edge`.
        what: &'static str,
        /// Which one, from 0.
        number: usize,
        /// The index found.
        vertex: u32,
        /// How many vertices there are.
        vertices: usize,
    },
    /// A box that is not finite, or whose lowest corner is not the lowest.
    #[error("box {number} reaches from {min} to {max}, but must be finite and not inverted")]
    BadBox {
        /// The box, from 0.
        number: usize,
        /// Its lowest corner [m].
        min: DVec3,
        /// Its highest corner [m].
        max: DVec3,
    },
    /// Points in one plane where a volume is needed.
    #[error("{what} lie within {thickness} m of one plane over {extent} m, but must span a volume")]
    Flat {
        /// Which points.
        what: &'static str,
        /// How far they reach from that plane [m].
        thickness: f64,
        /// How far they reach along it [m].
        extent: f64,
    },
    /// A closed line that meets itself.
    #[error("{what} meets itself: its edges {first} and {second} touch, but only neighbours may")]
    MeetsItself {
        /// Which line.
        what: &'static str,
        /// An edge, by its first point, from 0.
        first: usize,
        /// The other edge.
        second: usize,
    },
    /// Something that cannot be done with this kind of thing.
    #[error("{what} is not possible: {why}")]
    NotPossible {
        /// What was asked for.
        what: &'static str,
        /// Why it cannot be had, and what can.
        why: &'static str,
    },
    /// More of something than can be worked with.
    #[error("{what}: there would be {found} or more, but at most {most} are possible")]
    TooMany {
        /// Of what, for example `the points of a sampling`.
        what: &'static str,
        /// How many there would be, or are.
        found: u64,
        /// How many there may be.
        most: u64,
    },
    /// A particle without a proper radius.
    #[error(
        "particle {particle} has the radius {radius} m, but must have a positive and finite one"
    )]
    BadRadius {
        /// The particle, from 0.
        particle: usize,
        /// Its radius [m].
        radius: f64,
    },
    /// Voxels that do not suit the particles.
    #[error(
        "voxels of {voxel} m do not suit particles with a radius up to {radius} m: take from {least} m to {most} m"
    )]
    BadVoxel {
        /// The width of a voxel [m].
        voxel: f64,
        /// The largest radius [m].
        radius: f64,
        /// The least width that would work [m].
        least: f64,
        /// The largest width that would work [m].
        most: f64,
    },
    /// Voxels so small that they do not fit into memory.
    #[error(
        "a surface on voxels of {voxel} m needs {} or more, but only {} are free: voxels of {enough:.2e} m would fit",
        in_words(*wanted), in_words(*free)
    )]
    VoxelsTooSmall {
        /// The width of a voxel [m].
        voxel: f64,
        /// Bytes that are needed at least.
        wanted: u64,
        /// Bytes that are free.
        free: u64,
        /// A width that would fit [m].
        enough: f64,
    },
    /// A sphere that cannot be swept.
    #[error(
        "a sphere of radius {radius} m from {from} to {to}: all of it must be finite, and the radius not negative"
    )]
    BadSweep {
        /// Where it begins [m].
        from: DVec3,
        /// Where it ends [m].
        to: DVec3,
        /// Its radius [m].
        radius: f64,
    },
}

/// Refuses a length that is not positive and finite.
pub(crate) fn positive(what: &'static str, found: f64) -> Result<f64> {
    if found > 0.0 && found.is_finite() {
        return Ok(found);
    }
    Err(GeometryError::BadParameter { what, found, wanted: "positive and finite" })
}
