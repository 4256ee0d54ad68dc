//! A toy Constraint, added like the other toys without touching the library: balls are tied to the next one by a spring.

use crate::toy::{self, MEDDLER, PULL, balls, node};
use undine_core::glam::DVec3;
use undine_schema::setup::Group;
use undine_schema::{Declaration, Dimension, Kind, Parameter};
use undine_sim::action::constraint::{Bond, Chosen, End};
use undine_sim::constraint::{Constraint, Placed, Rows, Scaling};
use undine_sim::{Ingest, Result, Timeline, explain};

pub static TIE: Declaration = Declaration {
    name: "tie",
    kind: Kind::Constraint,
    doc: "Ties each ball to the next one",
    about: "",
    parameters: &[Parameter::number("stiffness", Dimension::SURFACE_TENSION, 100.0, "how stiff")],
    example: "",
};

/// C = |x₁ − x₂| − L, S = k, with an L of half the length that it begins with.
pub struct Tie {
    stiffness: f64,
}

impl Constraint<1, 2> for Tie {
    type Element = [f64; 1];

    fn evaluate(&self, [length]: &[f64; 1], at: &[Placed; 2]) -> Rows<1, 2> {
        let d = at[0].x - at[1].x;
        let n = d.normalize_or_zero();
        Rows { value: [d.length() - length], by_position: [[n, -n]], ..Rows::ZERO }
    }

    fn scaling(&self, _: &[f64; 1]) -> Scaling<1> {
        Scaling::Diagonal([self.stiffness])
    }
}

impl Bond<1, 2> for Tie {
    const REST: &'static [&'static str] = &["length"];

    fn create(ingest: &mut Ingest<'_>) -> Result<Self> {
        Ok(Self { stiffness: ingest.values().number("stiffness")? })
    }

    fn emit(&self, ends: &[End<'_>]) -> Result<Chosen<2>> {
        let of = |(n, end): (usize, &End<'_>)| {
            let pairs = 1..end.placed.len() as u32;
            pairs.map(|k| [(n, k - 1), (n, k)]).collect::<Vec<_>>()
        };
        Ok(ends.iter().enumerate().flat_map(of).collect::<Vec<_>>().into())
    }

    fn rest(&self, at: &[Placed; 2]) -> [f64; 1] {
        [0.5 * (at[0].x - at[1].x).length()]
    }
}

fn tied() -> Group {
    Group::default()
        .with(Group::new("g").with(balls("pair", "two")).with(node(&TIE, "tie")))
        .with(balls("free", "two"))
        .with(node(&MEDDLER, "look").disabled())
}

#[test]
fn a_toy_constraint_draws_balls_together_and_keeps_momentum() {
    let mut simulation = toy::simulation(&tied(), Timeline::default()).unwrap();
    simulation.audited(true);
    toy::run(&mut simulation, 3).unwrap();
    let [a, b] = toy::velocities(&simulation.world, "g/pair")[..] else { panic!("two balls") };
    assert!(a.length() > 0.1 && (a + b).length() < 1e-5 * a.length(), "{a} {b}");
    assert_eq!(toy::velocities(&simulation.world, "free"), [DVec3::ZERO; 2]);
}

#[test]
fn what_ties_objects_together_is_explained() {
    let setup = tied().with(node(&PULL, "pull"));
    let simulation = toy::simulation(&setup, Timeline::default()).unwrap();
    let text = explain::text(&simulation);
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("g/tie acts on g/pair free"), "{text}");
    assert!(words.contains("pull acts on g/pair, free SCHEDULE"), "{text}");
    assert!(words.contains("solve the coupled system the framework │ │ │ of g/pair │"), "{text}");
    assert!(explain::svg(&simulation).contains(">solve the coupled system</text>"));
}
