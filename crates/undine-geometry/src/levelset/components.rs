//! Connected components: insides that hang together across the faces of voxels.
//!
//! Every Bucket numbers the pieces of its own inside; every inside gap without voxels is a piece of its own. Pieces that
//! touch across Buckets are joined (union–find, the lowest number wins), first on each process, then over all. So
//! components are numbered by their lowest voxel along the curve, whoever owns it.

use super::surface::box_of;
use super::{LevelSet, VOXELS};
use crate::error::{GeometryError, Result};
use undine_core::Forest;
use undine_core::domain::{NONE, direction};
use undine_core::glam::IVec3;
use undine_core::volume::{Resolution, VoxelShape};
use undine_core::{Accessor, Bucket, ChannelSpec, DiscreteVolume, Handle};

/// The connected insides of a level set.
#[derive(Debug)]
pub struct Components {
    /// The component of each voxel, from 0; [`OUTSIDE`] for others.
    labels: DiscreteVolume,
    label: Handle<u32>,
    /// By component [m³].
    volumes: Vec<f64>,
}

/// What voxels outside hold in place of the number of a component.
pub const OUTSIDE: u32 = u32::MAX;

/// The six neighbours across faces, by axis.
const FACES: [IVec3; 6] = [IVec3::NEG_X, IVec3::X, IVec3::NEG_Y, IVec3::Y, IVec3::NEG_Z, IVec3::Z];

impl Components {
    /// How many there are.
    pub fn count(&self) -> usize {
        self.volumes.len()
    }

    /// The volume of each [m³]: voxels count by how much of them lies below the surface. Of a ball of radius r in voxels
    /// of h, it is too large by a part of (h/2r)².
    pub fn volumes(&self) -> &[f64] {
        &self.volumes
    }

    /// The channel with the number of each voxel's component, or [`OUTSIDE`], and the volume that it is in. It has the
    /// Buckets that the level set had.
    pub fn labels(&self) -> (&DiscreteVolume, Handle<u32>) {
        (&self.labels, self.label)
    }
}

impl LevelSet {
    /// Finds the connected insides. Collective.
    pub fn components(&self) -> Result<Components> {
        let topology = self.topology();
        let mut labels = DiscreteVolume::on("components", &self.domain, topology.clone());
        let spec = ChannelSpec::new("component", OUTSIDE);
        let label = labels.add_channel(&spec, VoxelShape::CELLS)?;

        // Number the pieces of each Bucket, then all of them along the curve.
        let accessor = Accessor::new("find pieces", &self.domain).over(topology);
        let access = (self.volume.own(self.distance), labels.write(label));
        let counts = accessor.map(access, |_, (distance, to)| pieces(distance, to))?;
        let (starts, all) = self.numbers_along_the_curve(&counts)?;
        let gaps = self.beyond.gaps();
        let accessor = Accessor::new("number pieces", &self.domain).over(topology);
        accessor.run(labels.write(label), |here, pieces| {
            let start = starts[here.slot as usize];
            for piece in pieces.iter_mut().filter(|piece| **piece != OUTSIDE) {
                *piece += start;
            }
        })?;

        // Join what touches. Gaps come behind all pieces.
        let accessor = Accessor::new("join pieces", &self.domain).over(topology);
        let touching = accessor.map(labels.around(label, 1), |here, around| {
            let mut pairs = Vec::new();
            across_faces(&around, |a, b| pairs.push([a, b]));
            self.beside_gaps(here.slot, here.bucket, around.chunk(), all, &mut pairs);
            pairs.sort_unstable();
            pairs.dedup();
            pairs
        })?;
        let mut joined = Forest::new(all as usize + gaps.len());
        touching.iter().flatten().for_each(|&[a, b]| joined.join(a, b));
        let gathered = self.domain.processes().all_gather_values(&links(&mut joined))?;
        gathered.iter().flatten().for_each(|&[a, b]| joined.join(a, b));
        self.touching_gaps(|a, b| joined.join(all + a, all + b));
        let numbers = numbers(&mut joined);

        let accessor = Accessor::new("number components", &self.domain).over(topology);
        accessor.run(labels.write(label), |_, labels| {
            for label in labels.iter_mut().filter(|label| **label != OUTSIDE) {
                *label = numbers[*label as usize];
            }
        })?;
        let mut found = Components { labels, label, volumes: Vec::new() };
        found.volumes = self.volumes_of(&found, &numbers[all as usize..], &numbers)?;
        Ok(found)
    }

    /// The number of the first piece of each local Bucket, and how many pieces there are, if they are numbered along the
    /// curve over all processes. Those may own any Buckets, if the Partition was made for another lattice.
    fn numbers_along_the_curve(&self, counts: &[u32]) -> Result<(Vec<u32>, u32)> {
        let keys = self.local_keys();
        let mine: Vec<[u64; 2]> =
            keys.iter().zip(counts).map(|(&key, &count)| [key, u64::from(count)]).collect();
        let mut all = self.domain.processes().all_gather_values(&mine)?.concat();
        all.sort_unstable();
        let mut next = 0;
        for [_, count] in &mut all {
            next += std::mem::replace(count, next);
        }
        if next + self.beyond.gaps().len() as u64 >= u64::from(OUTSIDE) {
            return Err(GeometryError::BadParameter {
                what: "the number of pieces of a level set",
                found: next as f64,
                wanted: "less than 2³²",
            });
        }
        let start = |key: &u64| all[all.partition_point(|[other, _]| other < key)][1] as u32;
        Ok((keys.iter().map(start).collect(), next as u32))
    }

    /// The keys of the local Buckets, by slot.
    fn local_keys(&self) -> Vec<u64> {
        let local = &self.topology().buckets()[..self.topology().local()];
        local.iter().map(|bucket| bytemuck::cast(bucket.key())).collect()
    }

    /// Pairs of a Bucket's pieces and the inside gaps beside it.
    fn beside_gaps(
        &self,
        slot: u32,
        bucket: Bucket,
        pieces: &[u32],
        first_gap: u32,
        pairs: &mut Vec<[u32; 2]>,
    ) {
        let inside = self.beyond.inside_around(slot);
        for face in FACES {
            if inside >> direction(face.x, face.y, face.z) & 1 == 0 {
                continue;
            }
            let Some(gap) = self.beyond.gap_of(bucket.offset(face)) else { continue };
            for place in facing(face) {
                if pieces[place] != OUTSIDE {
                    pairs.push([pieces[place], first_gap + gap as u32]);
                }
            }
        }
    }

    /// Pairs of inside gaps that touch, in neighbouring columns.
    fn touching_gaps(&self, mut touch: impl FnMut(u32, u32)) {
        for (number, gap) in self.beyond.gaps().iter().enumerate() {
            for [dx, dy] in [[1, 0], [0, 1]] {
                for other in self.beyond.gaps_beside(gap, dx, dy) {
                    touch(number as u32, other as u32);
                }
            }
        }
    }

    /// The volume of each component, added up along the curve whatever the number of processes.
    fn volumes_of(
        &self,
        components: &Components,
        of_gaps: &[u32],
        numbers: &[u32],
    ) -> Result<Vec<f64>> {
        let count = numbers.iter().max().map_or(0, |&most| most as usize + 1);
        let per_voxel = 1.0 / self.voxel_size() as f32;
        let accessor = Accessor::new("measure components", &self.domain).over(self.topology());
        let access =
            (self.volume.own(self.distance), components.labels.around(components.label, 1));
        // A voxel just outside belongs to a component that it touches.
        let found = accessor.map(access, |_, (distance, labels)| {
            let mut parts: Vec<(u32, f64)> = Vec::new();
            for (place, distance) in distance.iter().enumerate() {
                let filled = (0.5 - distance * per_voxel).clamp(0.0, 1.0);
                let mut label = labels.chunk()[place];
                if label == OUTSIDE && filled > 0.0 {
                    label = beside(&labels, place);
                }
                if label == OUTSIDE {
                    continue;
                }
                match parts.iter_mut().find(|part| part.0 == label) {
                    Some(part) => part.1 += f64::from(filled),
                    None => parts.push((label, f64::from(filled))),
                }
            }
            parts
        })?;
        let parts = self.local_keys().into_iter().zip(found);
        let mine: Vec<[u64; 3]> = parts
            .flat_map(|(key, parts)| {
                parts.into_iter().map(move |(label, filled)| [key, label.into(), filled.to_bits()])
            })
            .collect();
        let mut all = self.domain.processes().all_gather_values(&mine)?.concat();
        all.sort_unstable();
        let mut volumes = vec![0.0; count];
        for [_, label, filled] in all {
            volumes[label as usize] += f64::from_bits(filled);
        }
        for (gap, &label) in self.beyond.gaps().iter().zip(of_gaps) {
            volumes[label as usize] += gap.buckets() as f64 * VOXELS as f64;
        }
        let voxel = self.voxel_size().powi(3);
        Ok(volumes.into_iter().map(|voxels| voxels * voxel).collect())
    }
}

type Labels<'v> = undine_core::access::VoxelNeighbourhood<'v, u32>;

/// Numbers the connected pieces of a Bucket's inside by their first voxel, and returns how many there are.
fn pieces(distance: &[f32], to: &mut [u32]) -> u32 {
    to.fill(OUTSIDE);
    let mut count = 0;
    let mut waiting: Vec<usize> = Vec::with_capacity(VOXELS);
    for first in 0..VOXELS {
        if distance[first] >= 0.0 || to[first] != OUTSIDE {
            continue;
        }
        to[first] = count;
        waiting.push(first);
        while let Some(place) = waiting.pop() {
            let voxel = voxel_at(place);
            for face in FACES {
                let next = voxel + face;
                if next.min_element() < 0 || next.max_element() > 7 {
                    continue;
                }
                let next = (next.x << 6 | next.y << 3 | next.z) as usize;
                if distance[next] < 0.0 && to[next] == OUTSIDE {
                    to[next] = count;
                    waiting.push(next);
                }
            }
        }
        count += 1;
    }
    count
}

/// The places of the voxels that face a neighbouring Bucket.
fn facing(face: IVec3) -> impl Iterator<Item = usize> {
    let axis = face.abs().to_array().iter().position(|&step| step == 1).unwrap_or(0);
    let end = if face.element_sum() > 0 { 7 } else { 0 };
    let steps = [64, 8, 1];
    let (first, second) = (steps[(axis + 1) % 3], steps[(axis + 2) % 3]);
    (0..64).map(move |n| end * steps[axis] + (n >> 3) * first + (n & 7) * second)
}

/// Pairs of pieces that touch across the upper faces of a Bucket. Its lower faces are the upper ones of others.
fn across_faces(around: &Labels<'_>, mut touch: impl FnMut(u32, u32)) {
    for face in [IVec3::X, IVec3::Y, IVec3::Z] {
        if !around.exists(face.x, face.y, face.z) {
            continue;
        }
        let (own, other) = (around.chunk(), around.neighbour(face.x, face.y, face.z));
        for (a, b) in facing(face).zip(facing(-face)) {
            if own[a] != OUTSIDE && other[b] != OUTSIDE {
                touch(own[a], other[b]);
            }
        }
    }
}

/// The lowest component among the 26 voxels around one.
fn beside(labels: &Labels<'_>, place: usize) -> u32 {
    let around = box_of(IVec3::splat(-1), IVec3::ONE).map(|step| voxel_at(place) + step);
    around.map(|voxel| labels.at(voxel.x, voxel.y, voxel.z)).min().unwrap_or(OUTSIDE)
}

/// The voxel at a place in a chunk.
pub(super) fn voxel_at(place: usize) -> IVec3 {
    IVec3::from_array(Resolution::R8.coords(place).map(|n| n as i32))
}

/// Pairs that say all that is joined.
fn links(joined: &mut Forest) -> Vec<[u32; 2]> {
    (0..joined.len() as u32)
        .map(|piece| [piece, joined.root(piece)])
        .filter(|[piece, lowest]| piece != lowest)
        .collect()
}

/// The number of each piece's component, counted in the order of their lowest pieces.
fn numbers(joined: &mut Forest) -> Vec<u32> {
    let mut numbers = vec![NONE; joined.len()];
    let mut count = 0;
    for piece in 0..joined.len() as u32 {
        let lowest = joined.root(piece);
        if lowest == piece {
            numbers[piece as usize] = count;
            count += 1;
        } else {
            numbers[piece as usize] = numbers[lowest as usize];
        }
    }
    numbers
}
