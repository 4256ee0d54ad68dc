//! Many elastic rods that touch each other: the Newton system of a head of hair in backward Euler.
//!
//! A rod is a chain of vertices with four unknowns each: its position, and the twist θ of the edge that leaves it (the last
//! vertex has no such edge; its twist rests on its inertia alone). The matrix is M/Δt² + Σ S ∇C ∇Cᵀ, the Gauss–Newton
//! Hessian of discrete elastic rods (Bergou et al. 2008; gradients of curvature after Bergou et al. 2010, §3 and appendix):
//!
//! - stretching, C = |e|/l − 1, S = E A l;
//! - bending, C = κ₁, κ₂ of the curvature binormal κb = 2 tₑ×t_f / (1 + tₑ·t_f) in the material frame, S = E I / l;
//! - twisting, C = θ_f − θₑ + the frame's own twist, S = G J / l;
//! - contact between points on edges of two rods, C = n·(p − q), S a multiple of the bending stiffness E I / l³;
//! - attachment of each root: springs as stiff as stretching and twisting are.

use super::{mix, noise, rigid_motions};
use crate::error::{Result, SolveError};
use crate::matrix::Csr;
use rayon::prelude::*;
use std::f64::consts::{PI, TAU};
use std::ops::Range;

/// How many rods of which kind. The default is human hair of 20 cm, straight.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RodsSetup {
    /// How many rods.
    pub rods: usize,
    /// Vertices of each; 3 or more.
    pub vertices: usize,
    /// Distance of two vertices [m].
    pub segment: f64,
    /// Radius of the helix that a rod winds along [m]; 0 for straight ones.
    pub curl: f64,
    /// Radius of the cross-section [m].
    pub radius: f64,
    /// Young's modulus [Pa].
    pub youngs: f64,
    /// Density [kg/m³].
    pub density: f64,
    /// The time step Δt [s].
    pub time_step: f64,
    /// Stiffness of a contact over that of bending.
    pub contact: f64,
    /// Chooses directions and contacts.
    pub seed: u64,
}

impl Default for RodsSetup {
    fn default() -> Self {
        Self {
            rods: 500,
            vertices: 50,
            segment: 4e-3,
            curl: 0.0,
            radius: 40e-6,
            youngs: 4e9,
            density: 1300.0,
            time_step: 1.0 / 120.0,
            contact: 10.0,
            seed: 1,
        }
    }
}

impl RodsSetup {
    /// As many rods of the default kind as make about `count` unknowns.
    pub fn of_unknowns(count: usize) -> Self {
        let setup = Self::default();
        Self { rods: (count / (4 * setup.vertices)).max(2), ..setup }
    }
}

/// A head of hair.
#[derive(Debug, Clone)]
pub struct Rods {
    /// The system, row 4·vertex + component, rod after rod [N/m, N, N·m].
    pub matrix: Csr<f64>,
    /// Weight, and the push of contacts that are in each other.
    pub b: Vec<f64>,
    /// The rows of each rod.
    pub blocks: Vec<Range<usize>>,
    /// Where the vertices are [m].
    pub positions: Vec<[f64; 3]>,
}

impl Rods {
    /// The six rigid motions, an entry per row: translations, and rotations about the middle, which turn each edge's
    /// frame by ω·t. They strain no rod.
    pub fn modes(&self) -> Vec<Vec<f64>> {
        let rows = |vertex: usize| (0..3).map(move |d| (vertex, d));
        let vertices = self.positions.len();
        let components: Vec<(usize, usize)> = (0..vertices).flat_map(rows).collect();
        let moved =
            rigid_motions(components.iter().map(|&(vertex, d)| (self.positions[vertex], d)));
        let mut modes: Vec<Vec<f64>> = moved
            .iter()
            .map(|mode| mode.chunks_exact(3).flat_map(|m| [m[0], m[1], m[2], 0.0]).collect())
            .collect();
        for rod in &self.blocks {
            // The last vertex has no edge to turn.
            for vertex in rod.start / 4..rod.end / 4 - 1 {
                let t = unit(sub(self.positions[vertex + 1], self.positions[vertex]));
                (0..3).for_each(|axis| modes[3 + axis][4 * vertex + 3] = t[axis]);
            }
        }
        modes
    }
}

/// Poisson's ratio of hair, for its shear modulus.
const POISSONS_RATIO: f64 = 0.3;

/// Builds the system of rods with one contact per two vertices, each between neighbours in a square lattice of roots.
pub fn rods(setup: &RodsSetup) -> Result<Rods> {
    check(setup)?;
    let RodsSetup { rods, vertices, segment: l, radius: r, .. } = *setup;
    let area = PI * r * r;
    let (bend, polar) = (PI * r.powi(4) / 4.0, PI * r.powi(4) / 2.0);
    let shear_modulus = setup.youngs / (2.0 * (1.0 + POISSONS_RATIO));
    let stiffness = Stiffness {
        stretch: setup.youngs * area * l,
        bend: setup.youngs * bend / l,
        twist: shear_modulus * polar / l,
    };
    let contact = setup.contact * setup.youngs * bend / l.powi(3);

    // Each rod's shape and inner constraints, then the contacts.
    let each: Vec<(Vec<V3>, Vec<Constraint>)> = (0..rods)
        .into_par_iter()
        .map(|rod| {
            let shape = shape(setup, rod);
            let inner = inner_constraints(&shape, (rod * vertices) as u32, l, &stiffness);
            (shape, inner)
        })
        .collect();
    let positions: Vec<V3> = each.iter().flat_map(|(shape, _)| shape).copied().collect();
    let contacts: Vec<Constraint> = (0..rods * vertices / 2)
        .into_par_iter()
        .map(|n| contact_constraint(setup, &positions, n, contact))
        .collect();
    let inner: Vec<Constraint> = each.into_iter().flat_map(|(_, inner)| inner).collect();
    let constraint = |n: usize| inner.get(n).unwrap_or_else(|| &contacts[n - inner.len()]);
    let touching = by_vertex(rods * vertices, inner.len() + contacts.len(), constraint);

    // The rows gather what their vertex's constraints give.
    let mass = setup.density * area * l / setup.time_step.powi(2);
    let spin = setup.density * polar * l / setup.time_step.powi(2);
    let rows = 4 * rods * vertices;
    let matrix = Csr::from_rows(rows, rows, |row, entries| {
        let (vertex, component) = (row / 4, row % 4);
        let inertia = if component < 3 { mass } else { spin };
        let held = match (vertex % vertices, component) {
            (0 | 1, 0..3) => stiffness.stretch / (l * l),
            (0, 3) => stiffness.twist,
            _ => 0.0,
        };
        entries.push((row as u32, inertia + held));
        for &n in touching.of(vertex) {
            let c = constraint(n as usize);
            let own = c.vertices().position(|v| v as usize == vertex).unwrap_or(0);
            let own = c.gradient[own][component];
            if own == 0.0 {
                continue;
            }
            for (other, gradient) in c.vertices().zip(&c.gradient) {
                let terms = (0..4).filter(|&d| gradient[d] != 0.0);
                entries.extend(
                    terms.map(|d| (4 * other + d as u32, c.stiffness * (own * gradient[d]))),
                );
            }
        }
    })?;

    let mut b = vec![0.0; rows];
    for vertex in 0..rods * vertices {
        b[4 * vertex + 2] = -9.81 * setup.density * area * l;
    }
    for (n, c) in contacts.iter().enumerate() {
        // Up to a quarter of a radius deep.
        let depth = 0.125 * r * (1.0 + noise(setup.seed ^ 0xdee9, n as u64));
        for (vertex, gradient) in c.vertices().zip(&c.gradient) {
            for d in 0..3 {
                b[4 * vertex as usize + d] += c.stiffness * depth * gradient[d];
            }
        }
    }
    let blocks = (0..rods).map(|rod| 4 * rod * vertices..4 * (rod + 1) * vertices).collect();
    Ok(Rods { matrix, b, blocks, positions })
}

fn check(setup: &RodsSetup) -> Result<()> {
    let bad = |what: &str, found: String, wanted| {
        Err(SolveError::BadValue { what: what.into(), found, wanted })
    };
    if setup.rods < 2 || setup.vertices < 3 {
        let found = format!("{} of {} vertices", setup.rods, setup.vertices);
        return bad("the number of rods", found, "2 or more, of 3 or more vertices");
    }
    let lengths = [
        ("the segment of a rod", setup.segment),
        ("the radius of a rod", setup.radius),
        ("Young's modulus of a rod", setup.youngs),
        ("the density of a rod", setup.density),
        ("the time step of rods", setup.time_step),
    ];
    match lengths.iter().find(|(_, value)| !(value.is_finite() && *value > 0.0)) {
        Some((what, value)) => bad(what, value.to_string(), "finite and positive"),
        None if !(setup.contact.is_finite() && setup.contact >= 0.0) => {
            bad("the stiffness of contacts", setup.contact.to_string(), "finite and not negative")
        }
        None if !(setup.curl.is_finite() && setup.curl >= 0.0) => {
            bad("the radius of curls", setup.curl.to_string(), "finite and not negative")
        }
        None => Ok(()),
    }
}

type V3 = [f64; 3];

struct Stiffness {
    stretch: f64,
    bend: f64,
    twist: f64,
}

/// One C: its stiffness S, and ∇C for the four unknowns of up to four vertices.
struct Constraint {
    vertex: [u32; 4],
    count: usize,
    gradient: [[f64; 4]; 4],
    stiffness: f64,
}

impl Constraint {
    fn new<const N: usize>(vertex: [u32; N], gradient: [[f64; 4]; N], stiffness: f64) -> Self {
        let mut padded = Self { vertex: [0; 4], count: N, gradient: [[0.0; 4]; 4], stiffness };
        padded.vertex[..N].copy_from_slice(&vertex);
        padded.gradient[..N].copy_from_slice(&gradient);
        padded
    }

    fn vertices(&self) -> impl Iterator<Item = u32> {
        self.vertex[..self.count].iter().copied()
    }
}

/// The vertices of a rod: up its own slightly tilted axis, straight or along a helix.
fn shape(setup: &RodsSetup, rod: usize) -> Vec<V3> {
    let side = lattice_side(setup.rods);
    let random = |n: u64| noise(setup.seed, 8 * rod as u64 + n);
    let root = [(rod / side) as f64, (rod % side) as f64].map(|p| 10.0 * setup.radius * p);
    let tilt = [0.1 * random(0), 0.1 * random(1)];
    // Eight vertices to a turn; the pitch is what the segment leaves beside the way around.
    let (phase, turn) = (PI * random(2), TAU / 8.0);
    let around = 2.0 * setup.curl * (turn / 2.0).sin();
    let rise = (setup.segment.powi(2) - around * around).max(0.01 * setup.segment.powi(2)).sqrt();
    (0..setup.vertices)
        .map(|n| {
            let (height, angle) = (rise * n as f64, phase + turn * n as f64);
            let x = root[0] + tilt[0] * height + setup.curl * angle.cos();
            let y = root[1] + tilt[1] * height + setup.curl * angle.sin();
            [x, y, height]
        })
        .collect()
}

/// Stretching, bending and twisting of one rod whose first vertex has a given number.
fn inner_constraints(x: &[V3], first: u32, l: f64, stiffness: &Stiffness) -> Vec<Constraint> {
    let mut constraints = Vec::with_capacity(4 * x.len());
    let edges: Vec<V3> = x.windows(2).map(|pair| sub(pair[1], pair[0])).collect();
    for (n, &edge) in edges.iter().enumerate() {
        let g = scaled(edge, 1.0 / (norm(edge) * l));
        let ends = [first + n as u32, first + n as u32 + 1];
        let gradient = [with_twist(scaled(g, -1.0), 0.0), with_twist(g, 0.0)];
        constraints.push(Constraint::new(ends, gradient, stiffness.stretch));
    }
    let mut frame = first_frame(unit(edges[0]));
    for (n, pair) in edges.windows(2).enumerate() {
        let next = transported(frame, unit(pair[0]), unit(pair[1]));
        let stencil = std::array::from_fn(|k| first + (n + k) as u32);
        let gradients = curvature_gradients(pair[0], pair[1], frame, next);
        let each = [stiffness.bend, stiffness.bend, stiffness.twist];
        constraints
            .extend(gradients.into_iter().zip(each).map(|(g, s)| Constraint::new(stencil, g, s)));
        frame = next;
    }
    constraints
}

/// ∇κ₁, ∇κ₂ and ∇(twist) of two edges e, f with material frames, over the three vertices.
fn curvature_gradients(e: V3, f: V3, frame_e: [V3; 2], frame_f: [V3; 2]) -> [[[f64; 4]; 3]; 3] {
    let (te, tf) = (unit(e), unit(f));
    let chi = 1.0 + dot(te, tf);
    let kb = scaled(cross(te, tf), 2.0 / chi);
    let t = scaled(add(te, tf), 1.0 / chi);
    let m: [V3; 2] = std::array::from_fn(|k| scaled(add(frame_e[k], frame_f[k]), 1.0 / chi));
    let (le, lf) = (norm(e), norm(f));
    // From derivatives by the edges and both twists to the unknowns of vertices.
    let over_vertices = |de: V3, df: V3, theta_e: f64, theta_f: f64| {
        [
            with_twist(scaled(de, -1.0), theta_e),
            with_twist(sub(de, df), theta_f),
            with_twist(df, 0.0),
        ]
    };
    let k1 = 0.5 * dot(add(frame_e[1], frame_f[1]), kb);
    let k2 = -0.5 * dot(add(frame_e[0], frame_f[0]), kb);
    let bend = |k: f64, m: V3, sign: f64, own: usize| {
        let de = scaled(add(scaled(t, -k), scaled(cross(tf, m), sign)), 1.0 / le);
        let df = scaled(sub(scaled(t, -k), scaled(cross(te, m), sign)), 1.0 / lf);
        over_vertices(de, df, -0.5 * dot(kb, frame_e[own]), -0.5 * dot(kb, frame_f[own]))
    };
    [
        bend(k1, m[1], 1.0, 0),
        bend(k2, m[0], -1.0, 1),
        over_vertices(scaled(kb, 0.5 / le), scaled(kb, 0.5 / lf), -1.0, 1.0),
    ]
}

/// Contact `n`: an edge of a rod on an edge, about as high, of a neighbour in the lattice.
fn contact_constraint(setup: &RodsSetup, x: &[V3], n: usize, stiffness: f64) -> Constraint {
    let (rods, vertices) = (setup.rods, setup.vertices);
    let bits = mix(setup.seed ^ 0xc0_17ac, n as u64);
    let random = |k: u64| 0.5 + 0.5 * noise(setup.seed ^ 0xa1fa, 4 * n as u64 + k);
    let (rod, low) = (2 * n / vertices, (2 * n % vertices).min(vertices - 2));
    let step = if bits & 1 == 0 { 1 } else { lattice_side(rods) };
    let other = (rod + step) % rods;
    let other = if other == rod { (rod + 1) % rods } else { other };
    let other_low = (low + (bits >> 8) as usize % 3).saturating_sub(1).min(vertices - 2);
    let (p, q) = ((rod * vertices + low) as u32, (other * vertices + other_low) as u32);

    // A normal in the plane across the first rod, any way around.
    let tangent = unit(sub(x[p as usize + 1], x[p as usize]));
    let [m1, m2] = first_frame(tangent);
    let angle = TAU * random(0);
    let normal = add(scaled(m1, angle.cos()), scaled(m2, angle.sin()));
    let weighted = |weight: f64| with_twist(scaled(normal, weight), 0.0);
    let (a, b) = (random(1), random(2));
    let gradient = [weighted(1.0 - a), weighted(a), weighted(b - 1.0), weighted(-b)];
    Constraint::new([p, p + 1, q, q + 1], gradient, stiffness)
}

fn lattice_side(rods: usize) -> usize {
    (rods as f64).sqrt().ceil() as usize
}

/// Which constraints touch each vertex, ascending.
struct Touching {
    starts: Vec<u32>,
    constraints: Vec<u32>,
}

impl Touching {
    fn of(&self, vertex: usize) -> &[u32] {
        &self.constraints[self.starts[vertex] as usize..self.starts[vertex + 1] as usize]
    }
}

fn by_vertex<'a>(
    vertices: usize,
    count: usize,
    constraint: impl Fn(usize) -> &'a Constraint,
) -> Touching {
    let mut starts = vec![0; vertices + 1];
    for n in 0..count {
        constraint(n).vertices().for_each(|vertex| starts[vertex as usize + 1] += 1);
    }
    for vertex in 0..vertices {
        starts[vertex + 1] += starts[vertex];
    }
    let mut next = starts.clone();
    let mut constraints = vec![0; starts[vertices] as usize];
    for n in 0..count {
        for vertex in constraint(n).vertices() {
            constraints[next[vertex as usize] as usize] = n as u32;
            next[vertex as usize] += 1;
        }
    }
    Touching { starts, constraints }
}

/// Two directions across a tangent.
fn first_frame(tangent: V3) -> [V3; 2] {
    let least = (0..3).min_by(|&a, &b| tangent[a].abs().total_cmp(&tangent[b].abs())).unwrap_or(0);
    let mut axis = [0.0; 3];
    axis[least] = 1.0;
    let m1 = unit(cross(tangent, axis));
    [m1, cross(tangent, m1)]
}

/// A frame carried from one tangent to the next without twist.
fn transported(frame: [V3; 2], from: V3, to: V3) -> [V3; 2] {
    let axis = cross(from, to);
    let cos = dot(from, to);
    let m1 = frame[0];
    // Rodrigues' rotation about from × to, whose length is the sine.
    let m1 = add(add(scaled(m1, cos), cross(axis, m1)), scaled(axis, dot(axis, m1) / (1.0 + cos)));
    let m1 = unit(sub(m1, scaled(to, dot(m1, to))));
    [m1, cross(to, m1)]
}

fn with_twist([x, y, z]: V3, twist: f64) -> [f64; 4] {
    [x, y, z, twist]
}

fn add(a: V3, b: V3) -> V3 {
    std::array::from_fn(|d| a[d] + b[d])
}

fn sub(a: V3, b: V3) -> V3 {
    std::array::from_fn(|d| a[d] - b[d])
}

fn scaled(a: V3, by: f64) -> V3 {
    a.map(|a| a * by)
}

fn dot(a: V3, b: V3) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

fn cross(a: V3, b: V3) -> V3 {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

fn norm(a: V3) -> f64 {
    dot(a, a).sqrt()
}

fn unit(a: V3) -> V3 {
    scaled(a, 1.0 / norm(a))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Strains do not feel rigid motion: positions move by v + ω × x, and each edge's frame, carried along without
    /// twist, falls behind by ω·t.
    #[test]
    fn rigid_motion_of_a_curly_rod_changes_no_strain() {
        let setup = RodsSetup { curl: 3e-3, vertices: 12, ..RodsSetup::default() };
        let x = shape(&setup, 7);
        let stiffness = Stiffness { stretch: 1.0, bend: 1.0, twist: 1.0 };
        let (v, omega) = ([0.3, -0.2, 0.5], [1.0, -2.0, 0.7]);
        let moved: Vec<[f64; 4]> = (0..x.len())
            .map(|n| {
                let edge = sub(x[(n + 1).min(x.len() - 1)], x[n]);
                let twist = if n + 1 < x.len() { dot(omega, unit(edge)) } else { 0.0 };
                with_twist(add(v, cross(omega, x[n])), twist)
            })
            .collect();
        for constraint in inner_constraints(&x, 0, setup.segment, &stiffness) {
            let terms = constraint.vertices().zip(&constraint.gradient);
            let change: f64 =
                terms.map(|(n, g)| (0..4).map(|d| g[d] * moved[n as usize][d]).sum::<f64>()).sum();
            assert!(change.abs() < 1e-11, "{change}");
        }
    }
}
