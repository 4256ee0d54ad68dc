//! Which Buckets the surface may reach, and which patches each of them has to ask: down from the coarsest level, and
//! never into Buckets that are too far away.

use super::tree::Tree;
use crate::levelset::BYTES_PER_BUCKET;
use rayon::prelude::*;
use undine_core::domain::{MAX_LEVEL, VOXELS_PER_BUCKET};
use undine_core::error::Result;
use undine_core::mesh::Bounds;
use undine_core::{Bucket, GridDomain};

/// A Bucket, and the nodes of the tree that may hold the nearest point to some place in it.
pub(super) struct Reached {
    pub bucket: Bucket,
    pub near: Vec<u32>,
}

/// The Buckets in `bounds` [m] that may be within `reach` [voxels] of the surface, with the patches to ask. Where
/// `reach` is infinite, all Buckets in the box.
pub(super) fn buckets_within(
    domain: &GridDomain,
    tree: &Tree,
    bounds: Bounds,
    reach: f64,
) -> Result<Vec<Reached>> {
    let frame = domain.frame();
    let size = bounds.size().max_element();
    let top = (0..MAX_LEVEL).find(|&level| frame.bucket_size(level) >= size).unwrap_or(MAX_LEVEL);
    let first = domain.buckets_in_box(bounds.min, bounds.max, top)?;
    let all = vec![tree.root()];
    let mut reached: Vec<Reached> =
        first.buckets().map(|bucket| Reached { bucket, near: all.clone() }).collect();
    if reach.is_infinite() {
        // All Buckets of the box are wanted, so their number is known before any is made.
        let all = domain.buckets_in_box(bounds.min, bounds.max, 0)?.len() as u64;
        let wanted = all * BYTES_PER_BUCKET / domain.processes().count() as u64;
        domain.budget().check("the Buckets of a full level set", wanted)?;
    }
    let [low, high] =
        [bounds.min, bounds.max].map(|end| (end - frame.origin()) / tree.scaled.voxel);
    let in_box = |bucket: &Bucket| {
        let width = VOXELS_PER_BUCKET as f64 * f64::from(1 << bucket.level);
        let corner = bucket.coord.as_dvec3() * width;
        corner.cmplt(high).all() && (corner + width).cmpgt(low).all()
    };
    for level in (0..=top).rev() {
        reached = reached
            .into_par_iter()
            .filter_map(|Reached { bucket, near }| {
                let near = narrow(tree, bucket, &near, reach);
                (!near.is_empty()).then_some(Reached { bucket, near })
            })
            .collect();
        // A Bucket that the surface may reach has a child that it reaches, and a process its share of them. Of the finest,
        // more than half are kept in the end.
        let wanted = reached.len() as u64 * BYTES_PER_BUCKET / domain.processes().count() as u64;
        let wanted = if level == 0 { wanted / 2 } else { wanted };
        domain.budget().check("the Buckets around a mesh", wanted)?;
        if level == 0 {
            break;
        }
        reached = reached
            .into_par_iter()
            .flat_map_iter(|Reached { bucket, near }| {
                bucket
                    .children()
                    .filter(in_box)
                    .map(move |bucket| Reached { bucket, near: near.clone() })
            })
            .collect();
    }
    Ok(reached)
}

/// Those of `nodes`, or of what they are made of, that may hold the nearest point to a place in the Bucket.
fn narrow(tree: &Tree, bucket: Bucket, nodes: &[u32], reach: f64) -> Vec<u32> {
    let width = VOXELS_PER_BUCKET as f64 * f64::from(1 << bucket.level);
    let centre = (bucket.coord.as_dvec3() + 0.5) * width;
    // No place of the Bucket is farther from its centre.
    let radius = 0.5 * 3.0_f64.sqrt() * width;
    let bounds: Vec<[f64; 2]> = nodes.iter().map(|&node| tree.bounds(node, centre)).collect();
    let mut most = bounds.iter().map(|bounds| bounds[1]).fold(f64::INFINITY, f64::min);

    let mut near = Vec::with_capacity(nodes.len());
    let mut stack: Vec<(u32, f64)> = Vec::new();
    for (&node, &[least, _]) in nodes.iter().zip(&bounds) {
        stack.push((node, least));
        while let Some((node, least)) = stack.pop() {
            if least > (most + 2.0 * radius).min(reach + radius) {
                continue;
            }
            let [first, count] = tree.nodes[node as usize].children;
            let is_coarse = bucket.level == 0 || tree.nodes[node as usize].radius > 0.25 * width;
            if count == 0 || !is_coarse {
                near.push(node);
                continue;
            }
            for child in (first..first + count).rev() {
                let [least, at_most] = tree.bounds(child, centre);
                most = most.min(at_most);
                stack.push((child, least));
            }
        }
    }
    near
}
