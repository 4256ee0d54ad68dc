//! The patches of a mesh in an order that keeps near ones together, and a tree over them: eight of a level make one of
//! the next.
//!
//! The order is that of Morton, by the middles of the triangles. Each node knows a point of the surface and how far its
//! triangles reach from there, which bounds distances from below and above; and their area as a vector, which is what
//! they add to the winding number of a place far away.

use super::patch::{ALONE, Eight, LANES, Patch, Scaled, distance, is_handy};
use super::winding::is_closed;
use rayon::prelude::*;
use undine_core::glam::DVec3;

/// Patches do not grow wider than their widest triangle times this: where the order leaps, a patch ends.
const WIDEST: f64 = 3.0;
/// Triangles of which patches are made by one thread. Fixed, so that threads do not change the patches.
const AT_ONCE: usize = 4096;
/// Children of a node.
const CHILDREN: usize = 8;

/// Patches and the nodes above them.
pub(super) struct Tree<'m> {
    pub scaled: Scaled<'m>,
    /// The triangles, patch after patch.
    pub order: Vec<u32>,
    pub patches: Vec<Patch>,
    pub eights: Vec<Eight>,
    /// Nodes of all levels. Those of the lowest, a node per patch, come first; the root is last.
    pub nodes: Vec<Node>,
    /// Whether the mesh is closed.
    pub closed: bool,
}

/// Some patches that lie near each other.
#[derive(Debug, Clone, Copy)]
pub(super) struct Node {
    /// A point of the surface [voxels].
    pub point: DVec3,
    /// How far the triangles reach from it, at most [voxels].
    pub radius: f64,
    /// The first of its children, and how many there are; none for a patch.
    pub children: [u32; 2],
    /// The triangles' areas times their normals, summed [voxels²].
    pub area: DVec3,
    /// The middle of the area [voxels], and the area itself [voxels²].
    pub middle: DVec3,
    pub size: f64,
    /// How far the triangles reach from the middle, at most [voxels].
    pub reach: f64,
}

impl<'m> Tree<'m> {
    /// Orders the triangles and makes patches and nodes of them. There is at least one triangle.
    pub fn new(scaled: Scaled<'m>) -> Self {
        let order = in_order(&scaled);
        let made: Vec<Batch> = order
            .par_chunks(AT_ONCE)
            .enumerate()
            .map(|(n, some)| Batch::new(&scaled, some, (n * AT_ONCE) as u32))
            .collect();
        let count: usize = made.iter().map(|batch| batch.patches.len()).sum();
        let (mut patches, mut nodes) = (Vec::with_capacity(count), Vec::with_capacity(2 * count));
        let mut eights = Vec::with_capacity(made.iter().map(|batch| batch.eights.len()).sum());
        for batch in made {
            let before = eights.len() as u32;
            patches.extend(batch.patches.into_iter().map(|mut patch| {
                patch.eight = if patch.eight == ALONE { ALONE } else { patch.eight + before };
                patch
            }));
            eights.extend(batch.eights);
            nodes.extend(batch.nodes);
        }

        let mut level = 0..nodes.len();
        while level.len() > 1 {
            let next = (level.start..level.end).step_by(CHILDREN).collect::<Vec<_>>();
            let next: Vec<Node> = next
                .into_par_iter()
                .map(|first| Node::of_children(&nodes, first, (first + CHILDREN).min(level.end)))
                .collect();
            level = nodes.len()..nodes.len() + next.len();
            nodes.extend(next);
        }
        let closed = is_closed(scaled.mesh);
        Self { scaled, order, patches, eights, nodes, closed }
    }

    /// Bytes that the patches and nodes of so many triangles need at most.
    pub fn bytes(triangles: usize) -> u64 {
        let patch = size_of::<Patch>() + size_of::<Eight>() + 2 * size_of::<Node>();
        (triangles * (16 + 4 + patch / 4)) as u64
    }

    /// The node above all.
    pub fn root(&self) -> u32 {
        self.nodes.len() as u32 - 1
    }

    /// The patch that a node is, if it is one.
    #[inline]
    pub fn patch(&self, node: u32) -> Option<&Patch> {
        self.patches.get(node as usize)
    }

    /// The triangles of a patch.
    #[inline]
    pub fn triangles(&self, patch: &Patch) -> &[u32] {
        &self.order[patch.first as usize..][..patch.count as usize]
    }

    /// What the distance [voxels] from a place to the triangles of a node is at least and at most.
    pub fn bounds(&self, node: u32, at: DVec3) -> [f64; 2] {
        let Node { point, radius, .. } = self.nodes[node as usize];
        let to_point = at.distance(point);
        match self.patch(node) {
            Some(patch) if patch.eight == ALONE => {
                let exact = distance(self.scaled.corners(self.order[patch.first as usize]), at);
                [exact * (1.0 - 1e-9), exact * (1.0 + 1e-9)]
            }
            Some(patch) => [patch.at_least(at), to_point],
            None => [(to_point - radius).max(0.0), to_point],
        }
    }
}

impl Node {
    fn of_triangles(patch: &Patch, corners: impl Iterator<Item = [DVec3; 3]> + Clone) -> Self {
        let area = |[a, b, c]: [DVec3; 3]| 0.5 * (b - a).cross(c - a);
        let (mut sum, mut size, mut moment) = (DVec3::ZERO, 0.0, DVec3::ZERO);
        for [a, b, c] in corners.clone() {
            let area = area([a, b, c]);
            sum += area;
            size += area.length();
            moment += area.length() * ((a + b + c) / 3.0 - patch.point);
        }
        let middle = if size > 0.0 { patch.point + moment / size } else { patch.point };
        let reach = corners.flatten().map(|corner| corner.distance(middle)).fold(0.0, f64::max);
        let radius = patch.radius();
        Self { point: patch.point, radius, children: [0, 0], area: sum, middle, size, reach }
    }

    fn of_children(nodes: &[Self], first: usize, end: usize) -> Self {
        let children = &nodes[first..end];
        let size: f64 = children.iter().map(|node| node.size).sum();
        let base = children[0].middle;
        let moment: DVec3 = children.iter().map(|node| node.size * (node.middle - base)).sum();
        let middle = if size > 0.0 { base + moment / size } else { base };
        let around = |at: DVec3, of: fn(&Self) -> (DVec3, f64)| {
            children
                .iter()
                .map(|node| {
                    let (centre, radius) = of(node);
                    centre.distance(at) + radius
                })
                .fold(0.0, f64::max)
        };
        let points = children.iter().map(|node| node.point);
        let point = points
            .min_by(|a, b| a.distance_squared(middle).total_cmp(&b.distance_squared(middle)))
            .unwrap_or(middle);
        Self {
            point,
            radius: around(point, |node| (node.point, node.radius)) * (1.0 + 1e-9),
            children: [first as u32, (end - first) as u32],
            area: children.iter().map(|node| node.area).sum(),
            middle,
            size,
            reach: around(middle, |node| (node.middle, node.reach)),
        }
    }
}

/// The triangles by the places of their middles along the curve of Morton.
fn in_order(scaled: &Scaled) -> Vec<u32> {
    let middle = |triangle: usize| {
        let [a, b, c] = scaled.mesh.corners(triangle);
        a / 3.0 + b / 3.0 + c / 3.0
    };
    let count = scaled.mesh.len();
    let (low, high) = (0..count)
        .into_par_iter()
        .map(|triangle| (middle(triangle), middle(triangle)))
        .reduce_with(|(low, high), (a, b)| (low.min(a), high.max(b)))
        .unwrap_or_default();
    // Quarters of a voxel tell triangles apart that matter; a wide mesh has coarser places.
    let size = (high - low).max_element() / scaled.voxel;
    let bits = (size * 4.0).max(1.0).log2().ceil().clamp(1.0, 20.0);
    let per = bits.exp2() / ((high - low).max_element()).max(f64::MIN_POSITIVE);
    let last = bits.exp2() - 1.0;
    let key = |triangle: usize| {
        let cell = ((middle(triangle) - low) * per).min(DVec3::splat(last));
        spread(cell.x as u64) << 2 | spread(cell.y as u64) << 1 | spread(cell.z as u64)
    };
    if 3.0 * bits <= 32.0 {
        // A key and a number fit into one word.
        let mut keys: Vec<u64> =
            (0..count).into_par_iter().map(|n| key(n) << 32 | n as u64).collect();
        keys.par_sort_unstable();
        return keys.into_par_iter().map(|key| key as u32).collect();
    }
    let mut keys: Vec<(u64, u32)> =
        (0..count).into_par_iter().map(|n| (key(n), n as u32)).collect();
    keys.par_sort_unstable();
    keys.into_par_iter().map(|(_, triangle)| triangle).collect()
}

/// The 21 lowest bits, two zeros between each.
fn spread(n: u64) -> u64 {
    let mut n = n & 0x1f_ffff;
    n = (n | n << 32) & 0x001f_0000_0000_ffff;
    n = (n | n << 16) & 0x001f_0000_ff00_00ff;
    n = (n | n << 8) & 0x100f_00f0_0f00_f00f;
    n = (n | n << 4) & 0x10c3_0c30_c30c_30c3;
    (n | n << 2) & 0x1249_2492_4924_9249
}

/// Patches of some triangles, and the nodes that they are.
struct Batch {
    patches: Vec<Patch>,
    eights: Vec<Eight>,
    nodes: Vec<Node>,
}

impl Batch {
    /// Patches of triangles that follow each other, from the place `first` of the order.
    fn new(scaled: &Scaled, triangles: &[u32], first: u32) -> Self {
        let mut batch = Self { patches: Vec::new(), eights: Vec::new(), nodes: Vec::new() };
        let size = |[low, high]: [DVec3; 2]| (high - low).max_element();
        let own = |[a, b, c]: [DVec3; 3]| [a.min(b).min(c), a.max(b).max(c)];
        let mut held = [[DVec3::ZERO; 3]; LANES];
        let mut start = 0;
        while start < triangles.len() {
            held[0] = scaled.corners(triangles[start]);
            let handy = is_handy(held[0]);
            let mut bounds = own(held[0]);
            let mut widest = size(bounds);
            let mut count = 1;
            while handy && start + count < triangles.len() && count < LANES {
                let corners = scaled.corners(triangles[start + count]);
                let [low, high] = own(corners);
                widest = widest.max(size([low, high]));
                bounds = [bounds[0].min(low), bounds[1].max(high)];
                if !is_handy(corners) || size(bounds) > WIDEST * widest {
                    break;
                }
                held[count] = corners;
                count += 1;
            }
            batch.push(&held[..count], first + start as u32, handy);
            start += count;
        }
        batch
    }

    fn push(&mut self, corners: &[[DVec3; 3]], first: u32, handy: bool) {
        let eight = if handy { self.eights.len() as u32 } else { ALONE };
        let patch = Patch::new(corners, first, eight);
        if handy {
            self.eights.push(Eight::new(corners, patch.point));
        }
        self.nodes.push(Node::of_triangles(&patch, corners.iter().copied()));
        self.patches.push(patch);
    }
}
