//! Tables of points that several processes have parts of, brought together on the first.

use crate::error::{IoError, Result};
use crate::table::{Points, Values};
use crate::vdb::agree;
use bytemuck::Pod;
use undine_core::glam::{DVec3, Vec3};
use undine_core::process::{Parcel, Processes};

/// In which order the points of several processes come: either way the one that a single process has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// Process after process. Processes own pieces of the space-filling curve one after another, so that points in spatial order
    /// (those of a Particle System) are then Bucket after Bucket along the curve. Where the curve that is cut is that of another
    /// lattice, [`by_numbers`] brings them into their order.
    Buckets,
    /// By the channel `id`: for points whose owner is not told by where they are.
    Ids,
}

/// All points, on the first process; `None` on others. Every process has the same channels. Collective.
pub fn gather(processes: &dyn Processes, points: &Points, order: Order) -> Result<Option<Points>> {
    let whole = match processes.count() {
        1 => Some(points.clone()),
        _ => bring(processes, points)?,
    };
    let sorted = match (whole, order) {
        (Some(whole), Order::Ids) => by_numbers(whole, "id").map(Some),
        (whole, _) => Ok(whole),
    };
    agree(processes, sorted)
}

/// The points of all processes, one after another, on the first.
fn bring(processes: &dyn Processes, points: &Points) -> Result<Option<Points>> {
    let is_first = processes.rank() == 0;
    let parcel = || Parcel { process: 0, bytes: to_bytes(points) };
    let outgoing = if is_first { Vec::new() } else { vec![parcel()] };
    let parcels = processes.exchange(outgoing)?;
    let joined = is_first.then(|| {
        let mut whole = points.clone();
        for parcel in parcels {
            let part = of_bytes(&parcel.bytes).ok_or_else(|| mismatch(parcel.process))?;
            append(&mut whole, part).map_err(|()| mismatch(parcel.process))?;
        }
        Ok(whole)
    });
    agree(processes, joined.transpose())
}

fn mismatch(process: usize) -> IoError {
    IoError::Unwritable {
        what: "points of several processes".into(),
        found: format!("process {process} has other channels than the first"),
        wanted: "the same names and types on all of them".into(),
    }
}

/// The same points by ascending numbers of a channel, those of the same number as they were; those without it stay as they are.
pub fn by_numbers(points: Points, channel: &str) -> Result<Points> {
    let Some(ids) = points.channels.get(channel) else { return Ok(points) };
    let Some(ids) = ids.ids() else {
        return Err(IoError::Unwritable {
            what: "points by their numbers".into(),
            found: format!("the channel `{channel}` holds something else"),
            wanted: "whole numbers from 0 on".into(),
        });
    };
    if ids.is_sorted() {
        return Ok(points);
    }
    let mut order: Vec<usize> = (0..ids.len()).collect();
    // Of two with the same id, the one of the lower rank comes first.
    order.sort_by_key(|&point| ids[point]);
    fn picked<T: Copy>(values: &[T], order: &[usize]) -> Vec<T> {
        order.iter().map(|&from| values[from]).collect()
    }
    let channels = points.channels.iter().map(|(name, values)| {
        let values = match values {
            Values::F32(values) => Values::F32(picked(values, &order)),
            Values::F64(values) => Values::F64(picked(values, &order)),
            Values::I32(values) => Values::I32(picked(values, &order)),
            Values::U32(values) => Values::U32(picked(values, &order)),
            Values::U64(values) => Values::U64(picked(values, &order)),
            Values::Vec3(values) => Values::Vec3(picked(values, &order)),
            Values::DVec3(values) => Values::DVec3(picked(values, &order)),
        };
        (name.clone(), values)
    });
    Ok(Points { positions: picked(&points.positions, &order), channels: channels.collect() })
}

/// Appends a part that has the same channels.
fn append(whole: &mut Points, part: Points) -> Result<(), ()> {
    if whole.channels.len() != part.channels.len() {
        return Err(());
    }
    whole.positions.extend(part.positions);
    for (name, part) in part.channels {
        match (whole.channels.get_mut(&name).ok_or(())?, part) {
            (Values::F32(to), Values::F32(from)) => to.extend(from),
            (Values::F64(to), Values::F64(from)) => to.extend(from),
            (Values::I32(to), Values::I32(from)) => to.extend(from),
            (Values::U32(to), Values::U32(from)) => to.extend(from),
            (Values::U64(to), Values::U64(from)) => to.extend(from),
            (Values::Vec3(to), Values::Vec3(from)) => to.extend(from),
            (Values::DVec3(to), Values::DVec3(from)) => to.extend(from),
            _ => return Err(()),
        }
    }
    Ok(())
}

/// A count, the positions, and for each channel the length of its name, its type, its name and its values.
fn to_bytes(points: &Points) -> Vec<u8> {
    let mut bytes = Vec::new();
    bytes.extend((points.positions.len() as u64).to_le_bytes());
    bytes.extend_from_slice(bytemuck::cast_slice(&points.positions));
    for (name, values) in &points.channels {
        let (kind, values): (u8, &[u8]) = match values {
            Values::F32(values) => (0, bytemuck::cast_slice(values)),
            Values::F64(values) => (1, bytemuck::cast_slice(values)),
            Values::I32(values) => (2, bytemuck::cast_slice(values)),
            Values::U32(values) => (3, bytemuck::cast_slice(values)),
            Values::U64(values) => (4, bytemuck::cast_slice(values)),
            Values::Vec3(values) => (5, bytemuck::cast_slice(values)),
            Values::DVec3(values) => (6, bytemuck::cast_slice(values)),
        };
        bytes.extend((name.len() as u64).to_le_bytes());
        bytes.push(kind);
        bytes.extend_from_slice(name.as_bytes());
        bytes.extend_from_slice(values);
    }
    bytes
}

/// What [`to_bytes`] made; `None` if it is anything else.
fn of_bytes(bytes: &[u8]) -> Option<Points> {
    let mut rest = bytes;
    let count = number(&mut rest)?;
    let positions = column::<DVec3>(&mut rest, count)?;
    let mut points = Points { positions, ..Points::default() };
    while !rest.is_empty() {
        let length = number(&mut rest)?;
        let (&kind, after) = rest.split_first()?;
        let (name, after) = after.split_at_checked(length)?;
        rest = after;
        let values = match kind {
            0 => Values::F32(column::<f32>(&mut rest, count)?),
            1 => Values::F64(column::<f64>(&mut rest, count)?),
            2 => Values::I32(column::<i32>(&mut rest, count)?),
            3 => Values::U32(column::<u32>(&mut rest, count)?),
            4 => Values::U64(column::<u64>(&mut rest, count)?),
            5 => Values::Vec3(column::<Vec3>(&mut rest, count)?),
            6 => Values::DVec3(column::<DVec3>(&mut rest, count)?),
            _ => return None,
        };
        points.channels.insert(std::str::from_utf8(name).ok()?.to_owned(), values);
    }
    Some(points)
}

fn number(rest: &mut &[u8]) -> Option<usize> {
    let (number, after) = rest.split_first_chunk()?;
    *rest = after;
    usize::try_from(u64::from_le_bytes(*number)).ok()
}

fn column<T: Pod>(rest: &mut &[u8], count: usize) -> Option<Vec<T>> {
    let (column, after) = rest.split_at_checked(count.checked_mul(size_of::<T>())?)?;
    *rest = after;
    Some(bytemuck::pod_collect_to_vec(column))
}

#[cfg(test)]
mod tests {
    use super::*;
    use undine_core::Single;

    fn points(ids: &[u64]) -> Points {
        let positions = ids.iter().map(|&id| DVec3::splat(id as f64)).collect();
        let mut points = Points { positions, ..Points::default() };
        let mut insert = |name: &str, values| points.channels.insert(name.into(), values);
        insert("id", Values::U64(ids.to_vec()));
        insert("v", Values::Vec3(ids.iter().map(|&id| Vec3::X * id as f32).collect()));
        insert("age", Values::F32(ids.iter().map(|&id| id as f32).collect()));
        insert("mass", Values::F64(ids.iter().map(|&id| id as f64).collect()));
        insert("body", Values::I32(ids.iter().map(|&id| id as i32).collect()));
        insert("kind", Values::U32(ids.iter().map(|&id| id as u32).collect()));
        insert("rest", Values::DVec3(ids.iter().map(|&id| DVec3::Y * id as f64).collect()));
        points
    }

    #[test]
    fn a_table_returns_from_bytes_and_a_part_of_them_is_none() {
        let points = points(&[3, 1, 2]);
        let bytes = to_bytes(&points);
        assert_eq!(of_bytes(&bytes), Some(points));
        assert!((0..bytes.len()).all(|end| of_bytes(&bytes[..end]) != of_bytes(&bytes)));
    }

    #[test]
    fn ids_put_all_columns_in_order() {
        let sorted = gather(&Single, &points(&[3, 1, 2]), Order::Ids).unwrap().unwrap();
        assert_eq!(sorted, points(&[1, 2, 3]));
        let kept = gather(&Single, &points(&[3, 1, 2]), Order::Buckets).unwrap().unwrap();
        assert_eq!(kept, points(&[3, 1, 2]));
    }
}
