//! Forces and matrices of what acts on frames of rods, against differences: by vertices and by turns of edges, where rods are bent and twisted.
//!
//! All is of the order of 1, as are third derivatives and beyond: differences of the fourth order over steps of 1e-3 are off by some 1e-12 · 30, and by
//! rounding of 1e-16 over 1e-3.

use std::array::from_fn;
use undine_actions::attachment::{Attachment, Joint};
use undine_core::glam::{DMat3, DQuat, DVec3};
use undine_geometry::random::unit;
use undine_sim::Bond;
use undine_sim::constraint::project::eigen;
use undine_sim::constraint::{Constraint, Placed};
use undine_sim::newton::rod::transported;
use undine_sim::newton::shape::Rods;
use undine_sim::newton::{
    ConstraintTerm, Damping, Embedded, Inertia, Iterate, Kind, Mode, Shape, System, SystemSettings,
    Term, Unknowns,
};
use undine_solid::curves::bending::{Bend, Bending};
use undine_solid::curves::twisting::{Twist, Twisting};

/// Two strands of four vertices each.
const STRAND: usize = 4;
const VERTICES: usize = 2 * STRAND;
/// Three unknowns of the place of each vertex, and the turn of the edge behind it.
const ROWS: usize = 4 * VERTICES;
/// What differences may be off by, of the largest number that is compared.
const CLOSE: f64 = 1e-8;

type Square = [[f64; ROWS]; ROWS];

/// The ends of the edge whose frame a vertex carries.
fn edge(vertex: usize) -> [usize; 2] {
    let start = if vertex % STRAND == STRAND - 1 { vertex - 1 } else { vertex };
    [start, start + 1]
}

/// Where two strands are that bend and twist: some 20 degrees from edge to edge.
fn strands(seed: u64) -> Vec<Placed> {
    let vector = |n: usize| {
        let at = |k: u64| 2.0 * unit(seed + n as u64, k) - 1.0;
        DVec3::new(at(0), at(1), at(2))
    };
    let straight = |n: usize| DVec3::new((n % STRAND) as f64, 2.0 * (n / STRAND) as f64, 0.0);
    let x: Vec<DVec3> = (0..VERTICES).map(|n| straight(n) + 0.2 * vector(n)).collect();
    let frame = |n: usize| {
        let [a, b] = edge(n);
        transported(DMat3::IDENTITY, (x[b] - x[a]).normalize(), vector(a + VERTICES).x)
    };
    (0..VERTICES).map(|n| Placed { x: x[n], frame: frame(n) }).collect()
}

/// The same after one unknown has changed.
fn moved(placed: &[Placed], row: usize, by: f64) -> Vec<Placed> {
    let mut moved = placed.to_vec();
    let (vertex, axis) = (row / 4, row % 4);
    if axis < 3 {
        moved[vertex].x[axis] += by;
    }
    for n in 0..VERTICES {
        let [a, b] = edge(n);
        let turn = if axis == 3 && vertex == a { by } else { 0.0 };
        let tangent = (moved[b].x - moved[a].x).normalize();
        moved[n].frame = transported(placed[n].frame, tangent, turn);
    }
    moved
}

/// Elements of a Constraint on the strands.
struct Case<'a, C: Constraint<M, 2>, const M: usize> {
    name: &'a str,
    constraint: &'a C,
    stencil: Vec<[u32; 2]>,
    elements: Vec<C::Element>,
}

impl<C: Constraint<M, 2>, const M: usize> Case<'_, C, M> {
    fn look<R>(&self, placed: &[Placed], look: impl FnOnce(&dyn Term, &mut System) -> R) -> R {
        let mut unknowns = Unknowns::new();
        unknowns.add("rods", Kind::Rods, VERTICES);
        let edges = (0..VERTICES).map(|n| edge(n).map(|end| end as u32)).collect();
        let shape = Shape::Rods(Rods { edge: edges, held: vec![0; VERTICES] });
        let embedded = Embedded::new(&unknowns, 0, &shape, &[], placed).unwrap();
        let term = ConstraintTerm {
            name: self.name,
            constraint: self.constraint,
            elements: &self.elements,
            stencil: &self.stencil,
            embedded: [embedded; 2],
            mode: Mode::Stiffness,
            damping: Damping::NONE,
            multipliers: &[],
        };
        look(&term, &mut System::new(unknowns.clone()).unwrap())
    }

    fn energy(&self, placed: &[Placed]) -> f64 {
        self.look(placed, |term, _| {
            term.merits(0..term.sums(), 1.0).iter().map(|merit| merit.energy).sum()
        })
    }

    fn forces(&self, placed: &[Placed]) -> [f64; ROWS] {
        let mut forces = [0.0; ROWS];
        self.look(placed, |term, system| term.add_forces(system.row_of(), &mut forces));
        forces
    }

    /// ∂f/∂u by differences, the column of each unknown in its own list.
    fn slopes(&self, placed: &[Placed]) -> Square {
        from_fn(|column| difference(|by| self.forces(&moved(placed, column, by))))
    }

    /// −∂f/∂u as the motion of a balance is found with.
    fn exact(&self, placed: &[Placed]) -> Square {
        let entries = self.look(placed, |term, system| term.by_unknowns(system.row_of()));
        let mut exact = [[0.0; ROWS]; ROWS];
        for (row, column, value) in entries {
            exact[row as usize][column as usize] -= value;
        }
        exact
    }

    /// (1 + A)⁻¹ with the matrix A of Newton's method, column by column: with a mass and a step of 1, that is how unknowns answer where inertia
    /// pulls at one of them.
    fn answers(&self, placed: &[Placed]) -> Square {
        let ones = [1.0; VERTICES];
        let solve = |pulled: Option<usize>| {
            let mut displacement = [DVec3::ZERO; VERTICES];
            let mut twist = [0.0; VERTICES];
            match pulled {
                Some(row) if row % 4 == 3 => twist[row / 4] = -1.0,
                Some(row) => displacement[row / 4][row % 4] = -1.0,
                None => {}
            }
            let inertia = [Inertia::Rods {
                mass: &ones,
                displacement: &displacement,
                moment: &ones,
                twist: &twist,
            }];
            self.look(placed, |term, system| {
                let terms = [term];
                let mut du = Vec::new();
                system.connect(&terms, &[]).unwrap();
                let at = Iterate { dt: 1.0, inertia: &inertia, terms: &terms, forces: &[] };
                system.solve(&at, &SystemSettings::default(), &mut du).unwrap();
                du
            })
        };
        let at_rest = solve(None);
        from_fn(|column| {
            let answer = solve(Some(column));
            from_fn(|row| answer[row] - at_rest[row])
        })
    }

    fn forces_are_those_of_the_energy(&self, placed: &[Placed]) {
        let forces = self.forces(placed);
        let most = largest(&forces);
        assert!(most > 1e-3, "{}: there is a force, {most}", self.name);
        for (row, force) in forces.iter().enumerate() {
            let [slope] = difference(|by| [self.energy(&moved(placed, row, by))]);
            let off = (force + slope).abs();
            assert!(off < CLOSE * most, "{}, unknown {row}: {force}, {slope}", self.name);
        }
    }

    /// Turns are no coordinates: one about the other way round ends turned about the edge by the area between, over the square of its length. So slopes
    /// are symmetric but for the torques about edges that are out of balance, and symmetric parts are compared.
    fn exact_slopes_are_those_of_forces(&self, placed: &[Placed]) {
        let (slopes, exact) = (self.slopes(placed), self.exact(placed));
        let most = largest(exact.as_flattened());
        let torque =
            self.forces(placed).iter().skip(3).step_by(4).fold(0.0, |t: f64, f| t.max(f.abs()));
        let length = |n: usize| placed[edge(n)[0]].x.distance(placed[edge(n)[1]].x);
        let shortest = (0..VERTICES).map(length).fold(f64::INFINITY, f64::min);
        // A vertex has two edges.
        let skew = 2.0 * torque / (shortest * shortest) + CLOSE * most;
        for a in 0..ROWS {
            for b in 0..ROWS {
                let (one, other) = (slopes[a][b], slopes[b][a]);
                assert!((one - other).abs() < skew, "{}: {one}, {other}", self.name);
                let found = 0.5 * (one + other);
                let off = (found + exact[a][b]).abs();
                assert!(off < CLOSE * most, "{} {a} {b}: {found}, {}", self.name, -exact[a][b]);
            }
        }
    }

    /// (1 + A)⁻¹ is between 0 and 1 exactly where A is positive semi-definite. What is exact is not, here: else nothing would be shown.
    fn matrix_is_positive(&self, placed: &[Placed]) {
        let (values, _) = eigen(&self.answers(placed), ROWS);
        let is_fair = |value: &f64| *value > 0.0 && *value < 1.0 + 1e-12;
        assert!(values.iter().all(is_fair), "{}: {values:?}", self.name);
        let (exact, _) = eigen(&self.exact(placed), ROWS);
        let least = exact.iter().fold(f64::INFINITY, |least, value| least.min(*value));
        println!("{}: the least eigenvalue is {least} without a projection", self.name);
        assert!(least < -1e-3, "{}: {least}", self.name);
    }

    /// Without a force, JᵀSJ is all there is: with A = −∂f/∂u by differences, 1 + A undoes what the system does.
    fn matrix_is_exact_at_rest(&self, placed: &[Placed]) {
        assert!(largest(&self.forces(placed)) < 1e-12, "{}: at rest", self.name);
        let (slopes, answers) = (self.slopes(placed), self.answers(placed));
        let most = largest(slopes.as_flattened());
        assert!(most > 0.1, "{}: there is a stiffness, {most}", self.name);
        for (column, answer) in answers.iter().enumerate() {
            for row in 0..ROWS {
                let stiff: f64 = (0..ROWS).map(|k| -slopes[k][row] * answer[k]).sum();
                let pulled = answer[row] + stiff - f64::from(u8::from(row == column));
                assert!(pulled.abs() < CLOSE * most, "{} {row} {column}: {pulled}", self.name);
            }
        }
    }
}

fn largest(values: &[f64]) -> f64 {
    values.iter().fold(0.0, |most, value| most.max(value.abs()))
}

/// The derivative at 0.
fn difference<const N: usize>(of: impl Fn(f64) -> [f64; N]) -> [f64; N] {
    let step = 1e-3;
    let mut sum = [0.0; N];
    for (times, share) in [(-2.0, 1.0), (-1.0, -8.0), (1.0, 8.0), (2.0, -1.0)] {
        let there = of(times * step);
        (0..N).for_each(|n| sum[n] += share / (12.0 * step) * there[n]);
    }
    sum
}

/// Elements that are at rest where these are.
fn bending(rest: &[Placed]) -> Case<'static, Bending, 2> {
    let element = |at: [Placed; 2]| Bend {
        scale: 1.0,
        stiffness: [1.0, 0.4],
        length: 0.8,
        ..Bending.rest(&at)
    };
    case("bending", &Bending, rest, joints(), element)
}

fn twisting(rest: &[Placed]) -> Case<'static, Twisting, 1> {
    let element =
        |at: [Placed; 2]| Twist { scale: 1.0, stiffness: 0.7, length: 0.8, ..Twisting.rest(&at) };
    case("twisting", &Twisting, rest, joints(), element)
}

/// An end of a strand, and a vertex within one, are held by vertices of the other.
fn attachment<'a>(constraint: &'a Attachment, rest: &[Placed]) -> Case<'a, Attachment, 12> {
    let element = |at: [Placed; 2]| Joint { normal: 0.9, tangent: 0.5, ..constraint.rest(&at) };
    case("attachment", constraint, rest, vec![[0, 5], [3, 6], [6, 1]], element)
}

fn joints() -> Vec<[u32; 2]> {
    (0..VERTICES as u32).filter(|n| *n as usize % STRAND < STRAND - 2).map(|n| [n, n + 1]).collect()
}

fn case<'a, C: Constraint<M, 2>, const M: usize>(
    name: &'a str,
    constraint: &'a C,
    rest: &[Placed],
    stencil: Vec<[u32; 2]>,
    element: impl Fn([Placed; 2]) -> C::Element,
) -> Case<'a, C, M> {
    let elements = stencil.iter().map(|at| element(at.map(|n| rest[n as usize]))).collect();
    Case { name, constraint, stencil, elements }
}

/// From nearly holding the place in the other's frame to nearly the distance alone, with and without turns.
fn attachments() -> [Attachment; 4] {
    let turns = DVec3::new(0.5, 0.3, 0.2);
    [(0.0, turns), (0.4, turns), (0.4, DVec3::ZERO), (1.0, turns)]
        .map(|(flexibility, turns)| Attachment::new(flexibility, turns))
}

#[test]
fn forces_on_rods_are_the_slopes_of_their_energy() {
    for seed in [0, 100, 200] {
        let (rest, here) = (strands(seed), strands(seed + 50));
        bending(&rest).forces_are_those_of_the_energy(&here);
        twisting(&rest).forces_are_those_of_the_energy(&here);
        for constraint in attachments() {
            attachment(&constraint, &rest).forces_are_those_of_the_energy(&here);
        }
    }
}

/// Strands that are curved, twisted and flat, turned by 2 rad at once: each frame is carried to where its edge is then, and turned about it by the
/// unknown that the edge has for that. What is left of energy is rounding, squared.
#[test]
fn a_rod_that_turns_as_a_whole_has_no_energy() {
    let turn = DQuat::from_axis_angle(DVec3::new(0.3, 0.8, -0.5).normalize(), 2.0);
    for seed in [0, 100, 200] {
        let (rest, bent) = (strands(seed), strands(seed + 50));
        let turned: Vec<Placed> = rest
            .iter()
            .map(|Placed { x, frame }| {
                let (tangent, across) = (turn * frame.x_axis, turn * frame.y_axis);
                let carried = transported(*frame, tangent, 0.0);
                let twist = carried.z_axis.dot(across).atan2(carried.y_axis.dot(across));
                assert!(twist.abs() > 1e-3, "carried alone, it would be twisted");
                Placed { x: turn * *x, frame: transported(*frame, tangent, twist) }
            })
            .collect();
        for [found, much] in [
            [bending(&rest).energy(&turned), bending(&rest).energy(&bent)],
            [twisting(&rest).energy(&turned), twisting(&rest).energy(&bent)],
        ] {
            assert!(found < 1e-20 * much, "{found} J, bent {much} J");
        }
    }
}

#[test]
fn matrices_of_rods_are_exact_where_nothing_pulls() {
    for seed in [0, 100, 200] {
        let here = strands(seed);
        bending(&here).matrix_is_exact_at_rest(&here);
        twisting(&here).matrix_is_exact_at_rest(&here);
        for constraint in attachments() {
            attachment(&constraint, &here).matrix_is_exact_at_rest(&here);
        }
    }
}

#[test]
fn slopes_of_a_balance_of_rods_are_exact_wherever_they_are() {
    for seed in [0, 100, 200] {
        let (rest, here) = (strands(seed), strands(seed + 50));
        bending(&rest).exact_slopes_are_those_of_forces(&here);
        twisting(&rest).exact_slopes_are_those_of_forces(&here);
        for constraint in attachments() {
            attachment(&constraint, &rest).exact_slopes_are_those_of_forces(&here);
        }
    }
}

#[test]
fn matrices_of_rods_are_positive_where_slopes_are_not() {
    for seed in [0, 100, 200] {
        let (rest, here) = (strands(seed), strands(seed + 50));
        bending(&rest).matrix_is_positive(&here);
        twisting(&rest).matrix_is_positive(&here);
        for constraint in attachments() {
            attachment(&constraint, &rest).matrix_is_positive(&here);
        }
    }
}
