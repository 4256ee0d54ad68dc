//! The check for NaN and infinity: one pass over all floating-point channels at the speed of memory, and the name and
//! place of the first culprit.

use super::column::{Column, FLAT_PIECE, Values};
use super::store::{Store, Stores};
use rayon::prelude::*;
use std::fmt::{self, Display};
use undine_core::channel::ChannelInfo;
use undine_core::domain::Slot;
use undine_core::element::ScalarType;
use undine_core::glam::{DVec3, IVec3};
use undine_core::mesh::{AnyMesh, Connectivity, ElementClass, Polygons, Strands, Tetrahedra};
use undine_core::volume::VoxelShape;
use undine_core::{Bucket, Frame, Result};

/// A value that is NaN or infinite.
#[derive(Debug, Clone, thiserror::Error)]
#[error("channel `{channel}` of {store} is {value}{} at {element}{}", part(*.component), place(*.position))]
pub struct NotFinite {
    /// The label of the store.
    pub store: String,
    /// The name of the channel.
    pub channel: String,
    /// Whose value it is.
    pub element: ElementName,
    /// Which component of the value, from 0; none if it has only one.
    pub component: Option<usize>,
    /// The component as found.
    pub value: f64,
    /// Where the element is in the world [m]; where only the Bucket is known, the middle of it. None where nothing is known.
    pub position: Option<DVec3>,
}

/// NaN equals NaN here, so that findings can be compared.
impl PartialEq for NotFinite {
    fn eq(&self, other: &Self) -> bool {
        let bits = |position: Option<DVec3>| position.map(|p| p.to_array().map(f64::to_bits));
        (&self.store, &self.channel, self.element, self.component)
            == (&other.store, &other.channel, other.element, other.component)
            && self.value.to_bits() == other.value.to_bits()
            && bits(self.position) == bits(other.position)
    }
}

/// One element of a store by the name that lasts longest: an id where there is one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ElementName {
    /// A particle, by id.
    Particle {
        /// Its id.
        id: u64,
    },
    /// A voxel, by its place on the lattice of its level and resolution.
    Voxel {
        /// The level of its Bucket.
        level: u8,
        /// Its coordinates, counted in voxels of the channel's own size.
        voxel: IVec3,
    },
    /// An element of a mesh.
    Mesh {
        /// Its class.
        class: ElementClass,
        /// Its number within the class.
        number: usize,
    },
    /// A place in an array.
    Index(usize),
}

impl Display for ElementName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Particle { id } => write!(f, "particle {id}"),
            Self::Voxel { level, voxel } => write!(f, "voxel {voxel} of level {level}"),
            Self::Mesh { class, number } => write!(f, "{class} {number}"),
            Self::Index(index) => write!(f, "element {index}"),
        }
    }
}

fn part(component: Option<usize>) -> String {
    component.map_or_else(String::new, |component| format!(" in component {component}"))
}

fn place(position: Option<DVec3>) -> String {
    position.map_or_else(String::new, |p| format!(", at ({}, {}, {}) m", p.x, p.y, p.z))
}

/// The first value that is NaN or infinite: store by store, channel by channel, in the order of elements. Fails if a channel
/// is being written.
pub fn find_not_finite(stores: &dyn Stores) -> Result<Option<NotFinite>> {
    let mut found = Ok(None);
    stores.each(&mut |store| {
        if let Ok(None) = found {
            found = store.find_not_finite(|_| true);
        }
    });
    found
}

impl Store<'_> {
    /// The first value that is NaN or infinite among the channels that `which` chooses, for example those that a Task has
    /// written.
    pub fn find_not_finite(
        &self,
        which: impl Fn(&ChannelInfo) -> bool,
    ) -> Result<Option<NotFinite>> {
        let mut found: Option<Culprit> = None;
        self.each_column("check for finite values", |column| {
            if found.is_none() && which(column.info) {
                found = column.first_not_finite();
            }
        })?;
        found.map(|culprit| self.name(culprit)).transpose()
    }

    /// Who and where it is.
    fn name(&self, culprit: Culprit) -> Result<NotFinite> {
        let Culprit { class, channel, piece, element, component, value, shape } = culprit;
        let (slot, index) = (piece as Slot, piece * FLAT_PIECE + element);
        let (element, position) = match self {
            Store::Particles(particles) => {
                let id = particles.column(particles.id())?.chunk(slot)[element];
                let offset = particles.column(particles.position())?.chunk(slot)[element];
                let (topology, bucket) = (particles.topology(), particles.topology().bucket(slot));
                let position = match offset.is_finite() {
                    true => topology.frame().world(bucket, offset),
                    false => topology.frame().centre(bucket),
                };
                (ElementName::Particle { id }, Some(position))
            }
            Store::Topological(particles) => {
                let id = particles.column(particles.id())?[index];
                let position = particles.column(particles.position())?[index];
                (ElementName::Particle { id }, Some(position))
            }
            Store::Volume(volume) => {
                let (frame, bucket) = (volume.topology().frame(), volume.topology().bucket(slot));
                let (voxel, position) =
                    voxel(frame, bucket, shape.unwrap_or(VoxelShape::CELLS), element);
                (ElementName::Voxel { level: bucket.level, voxel }, Some(position))
            }
            Store::Mesh(mesh) => {
                let class = class.unwrap_or(ElementClass::Vertex);
                (ElementName::Mesh { class, number: index }, middle(mesh, class, index)?)
            }
            Store::Domain(_) | Store::Flat(..) => (ElementName::Index(index), None),
        };
        let position = position.filter(|position| position.is_finite());
        Ok(NotFinite {
            store: self.label().to_owned(),
            channel,
            element,
            component,
            value,
            position,
        })
    }
}

/// What a column knows of the first value that is not finite.
struct Culprit {
    class: Option<ElementClass>,
    channel: String,
    piece: usize,
    /// Its number within the piece.
    element: usize,
    component: Option<usize>,
    value: f64,
    shape: Option<VoxelShape>,
}

impl Column<'_> {
    fn first_not_finite(&self) -> Option<Culprit> {
        // Where in a piece the first bad scalar is, and what it is.
        let scan: fn(&[u8]) -> Option<(usize, f64)> = match self.info.element.scalar() {
            ScalarType::F32 => |bytes| first_f32(bytemuck::cast_slice(bytes)),
            ScalarType::F64 => |bytes| first_f64(bytemuck::cast_slice(bytes)),
            ScalarType::I32 | ScalarType::U32 | ScalarType::U64 => return None,
        };
        let (piece, (scalar, value)) =
            self.par_pieces().find_map_first(|n| Some((n, scan(self.piece(n))?)))?;
        let scalar_bytes = if self.info.element.scalar() == ScalarType::F32 { 4 } else { 8 };
        let components = self.info.element.bytes() / scalar_bytes;
        Some(Culprit {
            class: self.class,
            channel: self.info.name.clone(),
            piece,
            element: scalar / components,
            component: (components > 1).then_some(scalar % components),
            value,
            shape: match self.values {
                Values::Voxels(column, _) => Some(column.voxel_shape()),
                _ => None,
            },
        })
    }
}

/// Scalars that are looked at together before asking whether one of them was bad.
const TOGETHER: usize = 1024;

/// A float is not finite if all bits of its exponent are set: one more in the exponent then carries into the sign. So the
/// pass over good values is an addition and two bit operations, without a branch.
fn first_f32(values: &[f32]) -> Option<(usize, f64)> {
    let carry = |value: &f32| (value.to_bits() & 0x7FFF_FFFF) + 0x0080_0000;
    let bad = |part: &[f32]| part.iter().fold(0, |sum, value| sum | carry(value)) >> 31 != 0;
    let part = values.chunks(TOGETHER).position(bad)?;
    let first = part * TOGETHER;
    let at = first + values[first..].iter().position(|value| !value.is_finite())?;
    Some((at, f64::from(values[at])))
}

/// The same for `f64`.
fn first_f64(values: &[f64]) -> Option<(usize, f64)> {
    let carry = |value: &f64| (value.to_bits() & (u64::MAX >> 1)) + 0x0010_0000_0000_0000;
    let bad = |part: &[f64]| part.iter().fold(0, |sum, value| sum | carry(value)) >> 63 != 0;
    let part = values.chunks(TOGETHER).position(bad)?;
    let first = part * TOGETHER;
    let at = first + values[first..].iter().position(|value| !value.is_finite())?;
    Some((at, values[at]))
}

/// The coordinates of a voxel on the lattice of its level, and where its value lies [m].
fn voxel(frame: &Frame, bucket: Bucket, shape: VoxelShape, place: usize) -> (IVec3, DVec3) {
    let edge = shape.resolution.edge();
    let inside = IVec3::from_array(shape.resolution.coords(place).map(|c| c as i32));
    let voxel = bucket.coord * edge as i32 + inside;
    let size = frame.bucket_size(bucket.level) / edge as f64;
    let offset = (inside.as_dvec3() + shape.centring.offset().as_dvec3()) * size;
    (voxel, frame.corner(bucket) + offset)
}

/// The middle of an element's vertices [m]; the whole mesh has none.
fn middle(mesh: &AnyMesh, class: ElementClass, number: usize) -> Result<Option<DVec3>> {
    let vertices = vertices(mesh.connectivity(), class, number);
    let positions = mesh.positions()?;
    let sum: DVec3 = vertices.iter().map(|&vertex| positions[vertex as usize]).sum();
    Ok((!vertices.is_empty()).then(|| sum / vertices.len() as f64))
}

/// The vertices of an element; none for the whole.
fn vertices(mesh: &dyn Connectivity, class: ElementClass, number: usize) -> Vec<u32> {
    let (polygons, body) =
        (mesh.as_any().downcast_ref::<Polygons>(), mesh.as_any().downcast_ref::<Tetrahedra>());
    match class {
        ElementClass::Vertex => vec![number as u32],
        ElementClass::Edge => mesh.edge_ends()[number].to_vec(),
        ElementClass::Corner => {
            polygons.map(|mesh| vec![mesh.corners()[number]]).unwrap_or_default()
        }
        ElementClass::Face => match (polygons, body) {
            (Some(polygons), _) => polygons.face(number).to_vec(),
            (_, Some(body)) => body.faces().corners()[number].to_vec(),
            _ => Vec::new(),
        },
        ElementClass::Cell => body.map(|body| body.cells()[number].to_vec()).unwrap_or_default(),
        ElementClass::Curve => {
            let strands = mesh.as_any().downcast_ref::<Strands>();
            let range = strands.map(|strands| strands.vertices(number)).unwrap_or_default();
            range.map(|vertex| vertex as u32).collect()
        }
        ElementClass::Whole => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exactly_nan_and_infinity_are_not_finite() {
        let good = [0.0, -0.0, 1.0, f32::MAX, f32::MIN, f32::MIN_POSITIVE, 1e-45, -1e-45];
        assert_eq!(first_f32(&good), None);
        assert_eq!(first_f64(&[0.0, -0.0, f64::MAX, f64::MIN, 5e-324, -5e-324]), None);
        for bad in
            [f32::NAN, -f32::NAN, f32::INFINITY, f32::NEG_INFINITY, f32::from_bits(0x7F80_0001)]
        {
            let mut values = vec![1.0; 3 * TOGETHER + 5];
            for at in [0, 1, TOGETHER - 1, TOGETHER, 3 * TOGETHER + 4] {
                values[at] = bad;
                assert_eq!(first_f32(&values).map(|found| found.0), Some(at));
                let wide: Vec<f64> = values.iter().map(|&value| f64::from(value)).collect();
                assert_eq!(first_f64(&wide).map(|found| found.0), Some(at));
                values[at] = 1.0;
            }
        }
    }
}
