//! What a grid holds, by its kind.

use std::io::{Read, Seek};

use crate::error::{Result, VdbError};
use crate::grid::Content;
use crate::points::{PointTree, read_points, skip_points};
use crate::read::cursor::Cursor;
use crate::read::head::{Layout, Place};
use crate::read::native_half::{NativeHalf, widened};
use crate::read::source::Source;
use crate::read::topology::{Topology, read_topology};
use crate::read::tree::{read_tree, skip_leaf, topology_of};
use crate::tree::{Bounds, Leaves, Tree};
use crate::value::{Kind, MaskBit, Value};

/// Reads the tree of a grid of this kind, or what of it meets a box; attributes of points that cannot be read come to
/// `unread`.
pub(crate) fn read_content<R: Read + Seek + Send>(
    source: &mut Source<R>,
    kind: Kind,
    layout: &Layout,
    place: &Place,
    within: Option<Bounds>,
    unread: &mut Vec<(String, VdbError)>,
) -> Result<Content> {
    Ok(match kind {
        Kind::Float if layout.native_half => {
            Content::Float(widened(read_tree(source, layout, place, within)?))
        }
        Kind::Float => Content::Float(read_tree(source, layout, place, within)?),
        Kind::Double => Content::Double(read_tree(source, layout, place, within)?),
        Kind::Int32 => Content::Int32(read_tree(source, layout, place, within)?),
        Kind::Int64 => Content::Int64(read_tree(source, layout, place, within)?),
        Kind::Bool => Content::Bool(read_tree(source, layout, place, within)?),
        Kind::Mask => Content::Mask(read_tree(source, layout, place, within)?),
        Kind::Vec3s => Content::Vec3s(read_tree(source, layout, place, within)?),
        Kind::Vec3d => Content::Vec3d(read_tree(source, layout, place, within)?),
        Kind::Vec3i => Content::Vec3i(read_tree(source, layout, place, within)?),
        Kind::Points => {
            let points = read_point_tree(source, layout, place, unread)?;
            Content::Points(match within {
                Some(within) => points.within(within),
                None => points,
            })
        }
    })
}

/// The box of a tree's active voxels, from its topology alone.
pub(crate) fn read_bounds<R: Read + Seek + Send>(
    source: &mut Source<R>,
    kind: Kind,
    layout: &Layout,
    place: &Place,
) -> Result<Option<Bounds>> {
    fn bounds<T: Value, R: Read + Seek + Send>(
        source: &mut Source<R>,
        layout: &Layout,
        place: &Place,
    ) -> Result<Option<Bounds>> {
        Ok(topology_of::<T, R>(source, layout, place)?.bounds())
    }
    match kind {
        Kind::Float if layout.native_half => bounds::<NativeHalf, R>(source, layout, place),
        Kind::Float => bounds::<f32, R>(source, layout, place),
        Kind::Double => bounds::<f64, R>(source, layout, place),
        Kind::Int32 => bounds::<i32, R>(source, layout, place),
        Kind::Int64 => bounds::<i64, R>(source, layout, place),
        Kind::Bool => bounds::<bool, R>(source, layout, place),
        Kind::Mask => bounds::<MaskBit, R>(source, layout, place),
        Kind::Vec3s => bounds::<[f32; 3], R>(source, layout, place),
        Kind::Vec3d => bounds::<[f64; 3], R>(source, layout, place),
        Kind::Vec3i => bounds::<[i32; 3], R>(source, layout, place),
        Kind::Points => bounds::<u32, R>(source, layout, place),
    }
}

/// Goes behind a tree, and says where in the file the blocks of its leaves begin.
pub(crate) fn skip_content(cursor: &mut Cursor<'_>, kind: Kind, layout: &Layout) -> Result<u64> {
    fn skip<T: Value>(cursor: &mut Cursor<'_>, layout: &Layout) -> Result<u64> {
        let topology = read_topology::<T>(cursor, layout)?;
        let blocks = cursor.offset();
        for (&origin, mask) in topology.origins.iter().zip(&topology.masks) {
            skip_leaf(cursor, origin, mask, topology.background, layout)?;
        }
        Ok(blocks)
    }
    match kind {
        Kind::Float if layout.native_half => skip::<NativeHalf>(cursor, layout),
        Kind::Float => skip::<f32>(cursor, layout),
        Kind::Double => skip::<f64>(cursor, layout),
        Kind::Int32 => skip::<i32>(cursor, layout),
        Kind::Int64 => skip::<i64>(cursor, layout),
        Kind::Bool => skip::<bool>(cursor, layout),
        Kind::Mask => skip::<MaskBit>(cursor, layout),
        Kind::Vec3s => skip::<[f32; 3]>(cursor, layout),
        Kind::Vec3d => skip::<[f64; 3]>(cursor, layout),
        Kind::Vec3i => skip::<[i32; 3]>(cursor, layout),
        Kind::Points => {
            let topology = read_topology::<u32>(cursor, layout)?;
            let blocks = cursor.offset();
            skip_points(cursor, &topology.masks)?;
            Ok(blocks)
        }
    }
}

fn read_point_tree<R: Read + Seek + Send>(
    source: &mut Source<R>,
    layout: &Layout,
    place: &Place,
    unread: &mut Vec<(String, VdbError)>,
) -> Result<PointTree> {
    let Topology { background, tiles, origins, masks } = topology_of(source, layout, place)?;
    let leaves = Leaves { origins, masks, values: vec![] };
    let bytes = source.read(place.blocks, place.end)?;
    let cursor = &mut Cursor::new(&bytes, place.blocks);
    let points = read_points(cursor, Tree { background, tiles, leaves }, unread);
    points.map_err(|error| source.in_file(place.end, error))
}
