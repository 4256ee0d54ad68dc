//! What a ray or a segment meets, without gaps between triangles (Woop, Benthin & Wald, *Watertight ray/triangle
//! intersection*, 2013).
//!
//! The mesh is sheared until the ray is an axis, so that each vertex has one place in the plane across the ray,
//! whichever triangle asks. On which side of an edge the ray passes is then decided exactly, and two triangles that
//! share the edge always agree.

use super::build::MOST_LEVELS;
use super::node::{Child, Node, Under, WIDTH};
use super::{Bvh, is_place};
use multiversion::multiversion;
use rayon::prelude::*;
use std::ops::ControlFlow;
use undine_core::glam::DVec3;

/// The places `origin + t · direction` with t from `from` to `to`, both included.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ray {
    /// Where t is 0 [m].
    pub origin: DVec3,
    /// By how much the place changes while t grows by 1 [m]; of any length.
    pub direction: DVec3,
    /// The least t.
    pub from: f64,
    /// The greatest t.
    pub to: f64,
}

impl Ray {
    /// From `origin` [m] on without end.
    pub fn new(origin: DVec3, direction: DVec3) -> Self {
        Self { origin, direction, from: 0.0, to: f64::INFINITY }
    }

    /// From one place to another [m], t going from 0 to 1.
    pub fn segment(start: DVec3, end: DVec3) -> Self {
        Self { origin: start, direction: end - start, from: 0.0, to: 1.0 }
    }

    /// The place at t [m].
    pub fn at(&self, t: f64) -> DVec3 {
        self.origin + t * self.direction
    }

    /// A ray that has a place and a direction: finite, and the direction between 1e-60 and 1e60.
    fn is_good(&self) -> bool {
        let size = self.direction.abs().max_element();
        is_place(self.origin) && is_place(self.direction) && size >= 1e-60
    }
}

/// Where a ray meets a triangle.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RayHit {
    /// The triangle.
    pub triangle: u32,
    /// How far along the ray, in units of its direction.
    pub t: f64,
    /// The weights of the triangle's corners, which sum to 1.
    pub weights: [f64; 3],
    /// Whether the ray comes from the side that the triangle looks to.
    pub enters: bool,
}

impl Bvh {
    /// The first triangle that a ray meets; of several at the same t that of the lowest number.
    ///
    /// Edges and corners belong to all of their triangles, so that nothing slips through between them. A triangle
    /// that is seen exactly from its side is not met, but its neighbours are. A ray whose direction is zero, or that
    /// is not finite, meets nothing.
    pub fn first_hit(&self, ray: &Ray) -> Option<RayHit> {
        let mut first: Option<RayHit> = None;
        each_near(self, ray, |shear, triangle, to| {
            if let Some(hit) =
                shear.hit(self, triangle).filter(|hit| hit.t >= ray.from && hit.t <= *to)
                && first.is_none_or(|first| (hit.t, hit.triangle) < (first.t, first.triangle))
            {
                *to = hit.t;
                first = Some(hit);
            }
            ControlFlow::Continue(())
        });
        first
    }

    /// [`first_hit`](Self::first_hit) of each of `rays`, in parallel.
    pub fn first_hits(&self, rays: &[Ray]) -> Vec<Option<RayHit>> {
        rays.par_iter().map(|ray| self.first_hit(ray)).collect()
    }

    /// Whether a ray meets anything.
    pub fn any_hit(&self, ray: &Ray) -> bool {
        let mut any = false;
        each_near(self, ray, |shear, triangle, to| {
            any = shear.hit(self, triangle).is_some_and(|hit| hit.t >= ray.from && hit.t <= *to);
            if any { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        any
    }

    /// All triangles that a ray meets, along the ray; an edge or a corner is met once for each of its triangles.
    pub fn all_hits(&self, ray: &Ray) -> Vec<RayHit> {
        let mut hits = Vec::new();
        each_near(self, ray, |shear, triangle, to| {
            hits.extend(shear.hit(self, triangle).filter(|hit| hit.t >= ray.from && hit.t <= *to));
            ControlFlow::Continue(())
        });
        sort(&mut hits);
        hits
    }

    /// The places where a ray goes through the surface, along the ray.
    ///
    /// Unlike for [`all_hits`](Self::all_hits), an edge or a corner belongs to just one of its triangles, as if the
    /// ray passed a hair beside it: a ray that goes through a shared edge crosses once, and one that grazes it twice
    /// or never. Through a closed mesh a line thus enters as often as it leaves, always.
    pub fn crossings(&self, ray: &Ray) -> Vec<RayHit> {
        let mut hits = Vec::new();
        each_near(self, ray, |shear, triangle, to| {
            let hit = shear.crossing(self, triangle);
            hits.extend(hit.filter(|hit| hit.t >= ray.from && hit.t <= *to));
            ControlFlow::Continue(())
        });
        sort(&mut hits);
        hits
    }
}

fn sort(hits: &mut [RayHit]) {
    hits.sort_unstable_by(|a, b| a.t.total_cmp(&b.t).then(a.triangle.cmp(&b.triangle)));
}

/// The map under which the ray is the third axis.
struct Shear {
    origin: DVec3,
    /// Which axes become the first, second and third.
    axes: [usize; 3],
    shear: [f64; 3],
}

impl Shear {
    fn new(ray: &Ray) -> Self {
        let direction = ray.direction;
        let third =
            (1..3).fold(
                0,
                |best, axis| {
                    if direction[axis].abs() > direction[best].abs() { axis } else { best }
                },
            );
        let (mut first, mut second) = ((third + 1) % 3, (third + 2) % 3);
        // Keeps the turning sense of triangles.
        if direction[third] < 0.0 {
            std::mem::swap(&mut first, &mut second);
        }
        let shear = [
            direction[first] / direction[third],
            direction[second] / direction[third],
            1.0 / direction[third],
        ];
        Self { origin: ray.origin, axes: [first, second, third], shear }
    }

    /// A vertex in the plane across the ray, and its t.
    #[inline(always)]
    fn sheared(&self, vertex: DVec3) -> ([f64; 2], f64) {
        let from = vertex - self.origin;
        let along = from[self.axes[2]];
        let across = [
            from[self.axes[0]] - self.shear[0] * along,
            from[self.axes[1]] - self.shear[1] * along,
        ];
        (across, self.shear[2] * along)
    }

    /// Where the ray meets a triangle, its edges included.
    #[inline(always)]
    fn hit(&self, bvh: &Bvh, triangle: u32) -> Option<RayHit> {
        self.meet(bvh, triangle, |sides, _| {
            sides.iter().all(|&side| side >= 0.0) || sides.iter().all(|&side| side <= 0.0)
        })
    }

    /// Where the ray, moved to the side by less than anything, meets a triangle.
    #[inline(always)]
    fn crossing(&self, bvh: &Bvh, triangle: u32) -> Option<RayHit> {
        self.meet(bvh, triangle, |sides, [a, b, c]| {
            let edges = [(b, c), (c, a), (a, b)];
            let beside: [f64; 3] = std::array::from_fn(|edge| {
                let ([p, q], side) = (<[[f64; 2]; 2]>::from(edges[edge]), sides[edge]);
                // A move by (ε, ε²): what it does to a side of zero is the side's derivative.
                match side {
                    0.0 if q[1] != p[1] => q[1] - p[1],
                    0.0 => p[0] - q[0],
                    _ => side,
                }
            });
            beside.iter().all(|&side| side > 0.0) || beside.iter().all(|&side| side < 0.0)
        })
    }

    /// The sides of the ray on which the edges opposite to the corners pass, if they satisfy `inside`.
    #[inline(always)]
    fn meet(
        &self,
        bvh: &Bvh,
        triangle: u32,
        inside: impl Fn(&[f64; 3], [[f64; 2]; 3]) -> bool,
    ) -> Option<RayHit> {
        let [(a, ta), (b, tb), (c, tc)] =
            bvh.triangles.corners(triangle as usize).map(|vertex| self.sheared(vertex));
        let sides = [side(b, c), side(c, a), side(a, b)];
        if !inside(&sides, [a, b, c]) {
            return None;
        }
        let sum = sides[0] + sides[1] + sides[2];
        if sum == 0.0 {
            return None;
        }
        let weights = sides.map(|side| side / sum);
        // Adding zero leaves no −0, which would sort before 0.
        let t = weights[0] * ta + weights[1] * tb + weights[2] * tc + 0.0;
        Some(RayHit { triangle, t, weights, enters: sum > 0.0 })
    }
}

/// On which side of the origin the way from `p` to `q` passes: `q × p`, whose sign is exact.
#[inline(always)]
fn side(p: [f64; 2], q: [f64; 2]) -> f64 {
    let (one, two) = (q[0] * p[1], q[1] * p[0]);
    if one != two {
        // Rounding keeps order, so that the rounded products never differ the wrong way.
        return one - two;
    }
    // What was rounded off decides. Fused operations are exact here on every machine.
    q[0].mul_add(p[1], -one) - q[1].mul_add(p[0], -two)
}

/// Visits all triangles whose boxes the ray may touch up to a t that `visit` may lower, roughly along the ray.
#[multiversion(targets("x86_64+avx2"))]
fn each_near(
    bvh: &Bvh,
    ray: &Ray,
    mut visit: impl FnMut(&Shear, u32, &mut f64) -> ControlFlow<()>,
) {
    if bvh.nodes.is_empty() || !ray.is_good() {
        return;
    }
    let shear = Shear::new(ray);
    let slabs = Slabs::new(bvh, ray);
    let mut to = ray.to;
    let mut stack = Vec::with_capacity(MOST_LEVELS * (WIDTH - 1) + 1);
    stack.push((ray.from, Child::node(0)));
    while let Some((enters, child)) = stack.pop() {
        if enters > to {
            continue;
        }
        match child.under() {
            Under::Node(node) => slabs.push_children(&bvh.nodes[node], to, &mut stack),
            Under::Leaf(leaf) => {
                for &triangle in bvh.leaves[leaf].ids() {
                    if visit(&shear, triangle, &mut to).is_break() {
                        return;
                    }
                }
            }
            Under::Nothing => {}
        }
    }
}

/// The ray in the tree's coordinates, in which t is the same.
struct Slabs {
    origin: DVec3,
    /// One over the direction.
    inverse: DVec3,
    /// How much boxes must grow, that no rounding makes the ray miss one of them.
    margin: f64,
    from: f64,
}

impl Slabs {
    fn new(bvh: &Bvh, ray: &Ray) -> Self {
        let origin = bvh.frame.local(ray.origin);
        // Along an axis that the direction is across to, every t is far beyond the box or before it.
        let inverse = (ray.direction * bvh.frame.scale)
            .to_array()
            .map(|along| if along.abs() > 1e-200 { 1.0 / along } else { 1e200 });
        let margin = 2.0_f64.powi(-46) * (origin.abs().max_element() + 2.0);
        Self { origin, inverse: DVec3::from_array(inverse), margin, from: ray.from }
    }

    /// Puts the children that the ray enters up to `to` on the stack, the first last.
    #[inline(always)]
    fn push_children(&self, node: &Node, to: f64, stack: &mut Vec<(f64, Child)>) {
        let (mut enters, mut leaves) = ([self.from; WIDTH], [to; WIDTH]);
        for axis in 0..3 {
            let (origin, inverse) = (self.origin[axis], self.inverse[axis]);
            let (low, high) = (origin + self.margin, origin - self.margin);
            for lane in 0..WIDTH {
                let one = (f64::from(node.low[axis][lane]) - low) * inverse;
                let two = (f64::from(node.high[axis][lane]) - high) * inverse;
                let (near, far) = if one < two { (one, two) } else { (two, one) };
                enters[lane] = if near > enters[lane] { near } else { enters[lane] };
                leaves[lane] = if far < leaves[lane] { far } else { leaves[lane] };
            }
        }
        let start = stack.len();
        for lane in 0..WIDTH {
            if enters[lane] <= leaves[lane] && node.children[lane] != Child::NONE {
                let mut place = stack.len();
                stack.push((enters[lane], node.children[lane]));
                while place > start && stack[place - 1].0 < enters[lane] {
                    stack.swap(place - 1, place);
                    place -= 1;
                }
            }
        }
    }
}
