//! Rods: vertices with the material frames of their edges, whose only unknown beside the vertices is a turn of each edge about
//! itself (Bergou et al. 2010, *Discrete viscous threads*, §4: time-parallel transport).
//!
//! The frame (t, m₁, m₂) of an edge e = x_b − x_a follows its edge without turning about it, and is turned by θ besides. So a
//! small motion turns it by δφ = t × (δx_b − δx_a)/|e| + t δθ, exactly to first order at whatever iterate it is carried along
//! to ([`transported`]). Elements on rods are written by rows: J on nodes, then JᵀS′J, which is positive semi-definite as it
//! is. The curvature of rows is left out (Gauss-Newton); beside JᵀS′J it is of the order of the angle between two edges.

use super::coordinates::combine;
use super::shape::Hang;
use crate::constraint::Placed;
use undine_core::glam::{DMat3, DVec3};

/// How vertices of rods carry frames, and which of them are held.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Rods {
    /// For each vertex the ends of the edge whose frame it carries. The frame's turn is the unknown of the first. Where both are one, there is no
    /// edge: the frame is the vertex's own, and as the scene says.
    pub edge: Vec<[u32; 2]>,
    /// What the scene holds of each vertex: [`Rods::PLACE`].
    pub held: Vec<u32>,
}

impl Rods {
    /// The vertex is where the scene says.
    pub const PLACE: u32 = 1;

    /// What a vertex hangs on, given where vertices are.
    #[inline(always)]
    pub(super) fn hang(
        &self,
        vertex: usize,
        first_node: usize,
        place: impl Fn(usize) -> DVec3,
    ) -> RodHang {
        let ends = self.edge[vertex].map(|end| end as usize);
        let e = place(ends[1]) - place(ends[0]);
        let length = e.length();
        let per_length = if length > 0.0 { length.recip() } else { 0.0 };
        let mut hang = RodHang {
            nodes: [0; 3],
            parts: [Part::Start; 3],
            count: 0,
            at_end: vertex == ends[1] && vertex != ends[0],
            tangent: e * per_length,
            per_length,
        };
        if self.held[ends[0]] & Self::PLACE == 0 {
            hang.push(first_node + 2 * ends[0], Part::Start);
        }
        if ends[0] == ends[1] {
            return hang;
        }
        hang.push(first_node + 2 * ends[0] + 1, Part::Turn);
        if self.held[ends[1]] & Self::PLACE == 0 {
            hang.push(first_node + 2 * ends[1], Part::End);
        }
        hang
    }
}

/// The frame of an edge after it has moved to the tangent `to` and turned by `twist` [rad] about it; `to` is of length 1.
pub fn transported(frame: DMat3, to: DVec3, twist: f64) -> DMat3 {
    let from = frame.x_axis;
    // The least rotation from tangent to tangent: m + b × m + b × (b × m)/(1 + c), with b = from × to, c = from · to.
    let (b, c) = (from.cross(to), from.dot(to));
    let carried = match 1.0 + c > 1e-12 {
        true => {
            let once = b.cross(frame.y_axis);
            frame.y_axis + once + b.cross(once) / (1.0 + c)
        }
        // Turned over: no rotation is the least, and the one about the second axis is taken.
        false => frame.y_axis,
    };
    let across = (carried - to * to.dot(carried)).normalize_or(to.any_orthonormal_vector());
    let beside = to.cross(across);
    let (sin, cos) = if twist == 0.0 { (0.0, 1.0) } else { twist.sin_cos() };
    DMat3::from_cols(to, across * cos + beside * sin, beside * cos - across * sin)
}

/// Which unknown of an edge a node is.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Part {
    Start,
    Turn,
    End,
}

/// What a vertex and the frame that it carries hang on.
#[derive(Debug, Clone, Copy)]
pub(super) struct RodHang {
    nodes: [u32; 3],
    parts: [Part; 3],
    count: usize,
    /// Whether the vertex is the end of its edge, and not the start.
    at_end: bool,
    tangent: DVec3,
    per_length: f64,
}

impl RodHang {
    fn push(&mut self, node: usize, part: Part) {
        self.nodes[self.count] = node as u32;
        self.parts[self.count] = part;
        self.count += 1;
    }

    #[inline]
    pub fn count(&self) -> usize {
        self.count
    }

    #[inline]
    pub fn node(&self, n: usize) -> u32 {
        self.nodes[n]
    }

    /// Adds the gradient on the nodes of what has the gradient q = (by δx, by δφ), each node's at its place.
    #[inline]
    fn add(&self, by_x: DVec3, by_turn: DVec3, places: &[u32], out: &mut [f64]) {
        // δφ · g = (t × δe)·g/|e| = δe · (g × t)/|e|.
        let across = by_turn.cross(self.tangent) * self.per_length;
        for (part, &at) in self.parts[..self.count].iter().zip(places) {
            let own = |is: bool| if is { by_x } else { DVec3::ZERO };
            let at = at as usize;
            match part {
                Part::Turn => out[at] += by_turn.dot(self.tangent),
                Part::Start => add(&mut out[at..at + 3], own(!self.at_end) - across),
                Part::End => add(&mut out[at..at + 3], own(self.at_end) + across),
            }
        }
    }

    /// Whether a node is the turn of the edge.
    pub fn is_turn(&self, n: usize) -> bool {
        self.parts[n] == Part::Turn
    }

    /// The length of the edge [m]; 0 if it has none.
    pub fn length(&self) -> f64 {
        if self.per_length > 0.0 { self.per_length.recip() } else { 0.0 }
    }

    /// The vertex with its frame, and what they hang on, after the nodes have moved by `du`, each node's where `columns` has it.
    pub fn after(&self, at: &Placed, columns: &Columns, du: &[f64]) -> (Placed, Self) {
        let (mut x, mut e, mut turn) = (at.x, self.tangent * self.length(), 0.0);
        for (part, &node) in self.parts[..self.count].iter().zip(&self.nodes) {
            let first = columns.of(node);
            if *part == Part::Turn {
                turn = du[first];
                continue;
            }
            let moved = DVec3::from_slice(&du[first..first + 3]);
            let is_end = *part == Part::End;
            e += if is_end { moved } else { -moved };
            if is_end == self.at_end {
                x += moved;
            }
        }
        let length = e.length();
        let per_length = if length > 0.0 { length.recip() } else { 0.0 };
        let tangent = e.normalize_or(self.tangent);
        let frame = match length > 0.0 {
            true => transported(at.frame, tangent, turn),
            false => at.frame,
        };
        (Placed { x, frame }, Self { tangent, per_length, ..*self })
    }

    /// How far (δx, δφ) moves with the unknowns.
    pub fn moved(&self, du: &[f64], row_of: &[u32]) -> [DVec3; 2] {
        let (mut x, mut turn) = (DVec3::ZERO, DVec3::ZERO);
        for (part, &node) in self.parts[..self.count].iter().zip(&self.nodes) {
            let row = row_of[node as usize] as usize;
            match part {
                Part::Turn => turn += self.tangent * du[row],
                Part::Start | Part::End => {
                    let du = DVec3::from_slice(&du[row..row + 3]);
                    let is_end = *part == Part::End;
                    if is_end == self.at_end {
                        x += du;
                    }
                    let sign = if is_end { self.per_length } else { -self.per_length };
                    turn += self.tangent.cross(du) * sign;
                }
            }
        }
        [x, turn]
    }
}

#[inline]
fn add(out: &mut [f64], vector: DVec3) {
    out.iter_mut().zip(vector.to_array()).for_each(|(sum, more)| *sum += more);
}

/// The nodes of an element, each once, and where the unknowns of each begin among those of all.
#[derive(Debug, Default)]
pub(super) struct Columns {
    nodes: Vec<u32>,
    starts: Vec<u32>,
    /// The same for the nodes of all hangs, one after another, whether they came before or not.
    places: Vec<u32>,
    width: usize,
}

impl Columns {
    /// Of hangs, in the order in which they name their nodes.
    pub fn set<const N: usize>(&mut self, hangs: &[Hang<'_>; N]) {
        self.nodes.clear();
        self.starts.clear();
        self.places.clear();
        self.width = 0;
        for hang in hangs {
            for n in 0..hang.count() {
                let node = hang.node(n);
                match self.nodes.iter().position(|&known| known == node) {
                    Some(known) => self.places.push(self.starts[known]),
                    None => {
                        self.nodes.push(node);
                        self.starts.push(self.width as u32);
                        self.places.push(self.width as u32);
                        let is_turn = matches!(hang, Hang::Rod(rod) if rod.is_turn(n));
                        self.width += if is_turn { 1 } else { 3 };
                    }
                }
            }
        }
    }

    /// The nodes.
    pub fn nodes(&self) -> &[u32] {
        &self.nodes
    }

    /// How many unknowns they have.
    pub fn width(&self) -> usize {
        self.width
    }

    /// Visits all unknowns: the place of each here, and its row in the system.
    pub fn each_row(&self, row_of: &[u32], mut visit: impl FnMut(usize, usize)) {
        for (n, (&node, &start)) in self.nodes.iter().zip(&self.starts).enumerate() {
            let end = self.starts.get(n + 1).map_or(self.width, |&end| end as usize);
            let row = row_of[node as usize] as usize;
            (start as usize..end).for_each(|at| visit(at, row + at - start as usize));
        }
    }

    /// Where the unknowns of one of the nodes begin.
    #[inline]
    pub fn of(&self, node: u32) -> usize {
        let at = self.nodes.iter().position(|&known| known == node).unwrap_or(0);
        self.starts[at] as usize
    }

    /// Writes one row of J: the gradient of something with these gradients by positions and frames.
    #[inline]
    pub fn write_row<const N: usize>(
        &self,
        hangs: &[Hang<'_>; N],
        at: &[Placed; N],
        by_position: &[DVec3; N],
        by_frame: &[DMat3; N],
        out: &mut [f64],
    ) {
        out.fill(0.0);
        let mut places = &self.places[..];
        for n in 0..N {
            let by_frame = Some(&by_frame[n]);
            let (own, others) = places.split_at(hangs[n].count());
            places = others;
            match &hangs[n] {
                Hang::Rod(rod) => {
                    let [by_x, by_turn] = hangs[n].pull::<2>(&at[n], by_position[n], by_frame);
                    rod.add(by_x, by_turn, own, out);
                }
                hang => {
                    let q = hang.pull::<4>(&at[n], by_position[n], by_frame);
                    for (node, &first) in own.iter().enumerate() {
                        let by_node = combine(&hang.coefficients::<4>(node), &q);
                        add(&mut out[first as usize..][..3], by_node);
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use undine_core::glam::DQuat;

    /// Carried along in small steps or at once along a great circle, a frame comes out the same, and stays one.
    #[test]
    fn frames_are_carried_without_turning_about_the_tangent() {
        let start = DMat3::from_quat(DQuat::from_scaled_axis(DVec3::new(0.3, -1.0, 0.6)));
        let axis = start.x_axis.cross(DVec3::new(0.2, 0.5, 0.9)).normalize();
        let tangent = |angle: f64| DQuat::from_axis_angle(axis, angle) * start.x_axis;
        let at_once = transported(start, tangent(1.2), 0.0);
        let mut in_steps = start;
        for n in 1..=12 {
            in_steps = transported(in_steps, tangent(0.1 * f64::from(n)), 0.0);
        }
        assert!(at_once.abs_diff_eq(in_steps, 1e-14), "{at_once} {in_steps}");
        let wanted = DMat3::from_quat(DQuat::from_axis_angle(axis, 1.2)) * start;
        assert!(at_once.abs_diff_eq(wanted, 1e-14), "{at_once} {wanted}");
        assert!((at_once.transpose() * at_once).abs_diff_eq(DMat3::IDENTITY, 1e-14));
        let turned = transported(start, start.x_axis, 0.5);
        assert!((turned.y_axis.dot(start.z_axis) - 0.5_f64.sin()).abs() < 1e-14);
        // Turned over there is no least rotation; what comes out is a frame all the same.
        let over = transported(start, -start.x_axis, 0.0);
        assert!((over.transpose() * over).abs_diff_eq(DMat3::IDENTITY, 1e-14));
    }

    /// δφ as stated is what moving vertices and turning does to a frame.
    #[test]
    fn a_frame_turns_as_its_hang_says() {
        let x = [DVec3::new(0.1, 0.2, -0.3), DVec3::new(0.9, -0.4, 0.5)];
        let tangent = (x[1] - x[0]).normalize();
        let frame = transported(DMat3::IDENTITY, tangent, 0.4);
        let rods = Rods { edge: vec![[0, 1]; 2], held: vec![0; 2] };
        let hang = rods.hang(0, 0, |vertex| x[vertex]);
        let du = [0.3, -0.2, 0.5, 0.7, -0.6, 0.1, 0.4, 0.0];
        let row_of = [0, 3, 4, 7];
        let [moved, turn] = hang.moved(&du, &row_of);
        let h = 1e-6;
        let after = |h: f64| {
            let a = x[0] + h * DVec3::new(du[0], du[1], du[2]);
            let b = x[1] + h * DVec3::new(du[4], du[5], du[6]);
            transported(frame, (b - a).normalize(), h * du[3])
        };
        let change = (after(h) - after(-h)) * (0.5 / h);
        for k in 0..3 {
            assert!(change.col(k).abs_diff_eq(turn.cross(frame.col(k)), 1e-9), "{k}");
        }
        assert_eq!(moved, DVec3::new(0.3, -0.2, 0.5));
        // And the way back is its transpose.
        let (by_x, by_turn) = (DVec3::new(1.0, 2.0, -1.0), DVec3::new(0.5, -0.7, 0.2));
        let mut columns = Columns::default();
        columns.set(&[Hang::Rod(hang)]);
        assert_eq!((columns.nodes(), columns.width()), (&[0, 1, 2][..], 7));
        let mut row = [0.0; 7];
        hang.add(by_x, by_turn, &columns.places, &mut row);
        let along: f64 = row.iter().zip(&du).map(|(row, du)| row * du).sum();
        assert!((along - by_x.dot(moved) - by_turn.dot(turn)).abs() < 1e-14);
    }
}
