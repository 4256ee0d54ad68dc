//! Constraints, their damping and their projection.

use crate::springs::{Distance, Joint, Spring, Weld};
use proptest::prelude::*;
use undine_core::glam::{DMat3, DVec3};
use undine_sim::constraint::dahl::Dahl;
use undine_sim::constraint::harness::{Checks, check_constraint, check_constraint_with};
use undine_sim::constraint::project::{eigen, project};
use undine_sim::constraint::{Constraint, Placed, Rows, Scaling};
use undine_sim::newton::rotation::exp;
use undine_sim::newton::{ConstraintTerm, Damping, Embedded, Mode, Values};

fn crooked() -> [Placed; 2] {
    let placed = |x, turn| Placed { x, frame: exp(turn) };
    [
        placed(DVec3::new(0.3, -0.2, 0.9), DVec3::new(0.2, 0.5, -0.1)),
        placed(DVec3::new(-0.4, 0.1, 0.2), DVec3::new(-0.7, 0.1, 0.4)),
    ]
}

#[test]
fn a_spring_passes_all_checks_of_constraints() {
    let spring = Spring { length: 0.7, stiffness: 30.0 };
    check_constraint(&Distance, &spring, &crooked()).unwrap();
}

#[test]
fn a_weld_of_frames_passes_all_checks_of_constraints() {
    let at = crooked();
    let mut joint = Joint::between(&at, [100.0, 3.0]);
    joint.offset += DVec3::new(0.1, 0.0, 0.2);
    check_constraint(&Weld, &joint, &at).unwrap();
}

/// A spring with one mistake, by name.
struct Wrong(&'static str);

impl Constraint<1, 2> for Wrong {
    type Element = Spring;
    const PARAMETERS: usize = 1;

    fn evaluate(&self, element: &Spring, at: &[Placed; 2]) -> Rows<1, 2> {
        let mut rows = Distance.evaluate(element, at);
        match self.0 {
            "∂C/∂x" => rows.by_position[0][0] *= 1.0 + 1e-5,
            "∂C/∂F" => rows.value[0] += at[0].frame.x_axis.y,
            "C after a rigid motion" => {
                rows.value[0] += at[0].x.z;
                rows.by_position[0][0].z += 1.0;
            }
            _ => {}
        }
        rows
    }

    fn scaling(&self, element: &Spring) -> Scaling<1> {
        let sign = if self.0 == "an eigenvalue of S" { -1.0 } else { 1.0 };
        Scaling::Diagonal([sign * element.stiffness])
    }

    fn curvature(&self, e: &Spring, at: &[Placed; 2], w: &[f64; 1]) -> Option<[[DMat3; 2]; 2]> {
        let mut k = Distance.curvature(e, at, w)?;
        if self.0 == "∂²C/∂x∂x" {
            k[0][1] = -k[0][1];
        }
        Some(k)
    }

    fn parameter<'a>(&self, element: &'a mut Spring, _: usize) -> Option<&'a mut f64> {
        Some(&mut element.length)
    }

    fn by_parameter(
        &self,
        _: &Spring,
        _: &[Placed; 2],
        _: usize,
    ) -> Option<undine_sim::constraint::ByParameter<1>> {
        let value = if self.0 == "∂C/∂p" { [1.0] } else { [-1.0] };
        Some(undine_sim::constraint::ByParameter { value, scaling: None })
    }
}

#[test]
fn the_harness_finds_each_mistake_and_names_it() {
    let spring = Spring { length: 0.7, stiffness: 30.0 };
    check_constraint(&Wrong("nothing"), &spring, &crooked()).unwrap();
    for mistake in
        ["∂C/∂x", "∂C/∂F", "∂²C/∂x∂x", "C after a rigid motion", "an eigenvalue of S", "∂C/∂p"]
    {
        let fault = check_constraint(&Wrong(mistake), &spring, &crooked()).unwrap_err();
        assert_eq!(fault.check, mistake, "{fault}");
    }
    // What has a direction of its own may say so.
    let checks = Checks { invariant: false, ..Checks::default() };
    let leaning = Wrong("C after a rigid motion");
    check_constraint_with(&leaning, &spring, &crooked(), &checks).unwrap();
}

#[test]
fn friction_is_the_derivative_of_its_potential_and_stiffness_that_of_friction() {
    let dahl = Dahl { limit: 3.0, length: 0.2 };
    let h = 1e-6;
    for before in [-3.0, -1.0, 0.0, 2.5] {
        for change in [-0.7, -0.1, -0.001, 0.002, 0.3] {
            let [minus, at, plus] = [-h, 0.0, h].map(|h| dahl.after(before, change + h));
            let force = (plus.potential - minus.potential) / (2.0 * h);
            let stiffness = (plus.force - minus.force) / (2.0 * h);
            assert!((force - at.force).abs() < 1e-8, "{before} {change}");
            assert!((stiffness - at.stiffness).abs() < 1e-7, "{before} {change}");
            assert!(at.stiffness >= 0.0 && at.force.abs() <= dahl.limit);
        }
        assert_eq!(dahl.after(before, 0.0).force, before);
    }
    let none = Dahl { limit: 0.0, length: 0.0 }.after(1.0, 0.5);
    assert_eq!((none.force, none.stiffness, none.potential), (0.0, 0.0, 0.0));
}

/// A spring that is driven between ±a settles on a loop between the forces ±F₀, F₀ = F_c tanh(a/ℓ), which takes the energy
/// 4 a F_c − 4 ℓ F₀ per turn, however fast and in however many steps it is driven.
#[test]
fn driven_to_and_fro_friction_makes_the_loop_of_dahl_at_any_rate() {
    let (limit, length, a) = (2.0, 0.05, 0.08);
    let dahl = [Dahl { limit, length }];
    let top = limit * (a / length).tanh();
    let wanted = 4.0 * a * limit - 4.0 * length * top;
    for steps in [1, 7, 500] {
        let spring = [Spring { length: 1.0, stiffness: 10.0 }];
        let (mut friction, mut start) = (vec![[0.0]], vec![[0.0]]);
        let mut c = 0.0;
        let mut work = 0.0;
        let mut turns = Vec::new();
        for leg in 0..13 {
            let goal = if leg % 2 == 0 { a } else { -a };
            let from = c;
            for step in 1..=steps {
                let before = friction[0][0];
                c = from + (goal - from) * f64::from(step) / f64::from(steps);
                let placed = [0.0, 1.0 + c].map(|x| Placed::at(DVec3::X * x));
                let term = ConstraintTerm {
                    name: "spring",
                    constraint: &Distance,
                    elements: &spring,
                    stencil: &[[0, 1]],
                    embedded: [Embedded::fixed(&placed); 2],
                    mode: Mode::Stiffness,
                    damping: Damping {
                        relaxation: Values::All(0.0),
                        dahl: Some(Values::All(dahl)),
                        start: &start,
                        friction: &friction,
                    },
                    multipliers: &[],
                };
                let (mut next, mut value) = (Vec::new(), Vec::new());
                term.friction(&mut next).unwrap();
                term.values(&mut value).unwrap();
                if leg >= 11 {
                    work += dahl[0].after(before, value[0][0] - start[0][0]).potential;
                }
                (friction, start) = (next, value);
            }
            turns.push(friction[0][0]);
        }
        let (up, down) = (turns[12], turns[11]);
        assert!((up - top).abs() < 1e-9 && (down + top).abs() < 1e-9, "{up} {down} {top}");
        assert!((work - wanted).abs() < 1e-9, "{steps} steps: {work}, not {wanted}");
    }
}

/// A random symmetric matrix of 12 rows.
fn symmetric() -> impl Strategy<Value = [[f64; 12]; 12]> {
    let scale = prop_oneof![Just(1e-8), Just(1.0), Just(1e9)];
    (proptest::collection::vec(-1.0..1.0_f64, 144), scale).prop_map(|(entries, scale)| {
        let at = |i: usize, j: usize| scale * entries[12 * i.min(j) + i.max(j)];
        std::array::from_fn(|i| std::array::from_fn(|j| at(i, j)))
    })
}

fn norm(a: &[[f64; 12]; 12]) -> f64 {
    a.iter().flatten().map(|a| a * a).sum::<f64>().sqrt()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn eigenvectors_put_the_matrix_together_again(a in symmetric()) {
        let (values, vectors) = eigen(&a, 12);
        for i in 0..12 {
            for j in 0..12 {
                let sum: f64 = (0..12).map(|k| values[k] * vectors[i][k] * vectors[j][k]).sum();
                let one: f64 = (0..12).map(|k| vectors[k][i] * vectors[k][j]).sum();
                prop_assert!((sum - a[i][j]).abs() < 1e-13 * norm(&a));
                prop_assert!((one - f64::from(u8::from(i == j))).abs() < 1e-13);
            }
        }
    }

    /// The nearest positive semi-definite matrix is as far away as the negative eigenvalues are long.
    #[test]
    fn projection_takes_the_negative_eigenvalues_and_nothing_else(a in symmetric()) {
        let mut p = a;
        let changed = project(&mut p, 12);
        let (before, _) = eigen(&a, 12);
        let (after, _) = eigen(&p, 12);
        let scale = norm(&a);
        prop_assert_eq!(changed, before.iter().any(|value| *value < -1e-12 * scale));
        prop_assert!(after.iter().all(|value| *value > -1e-13 * scale));
        let gone: f64 = before.iter().filter(|value| **value < 0.0).map(|value| value * value).sum();
        let mut difference = p;
        for i in 0..12 {
            for j in 0..12 {
                difference[i][j] -= a[i][j];
                prop_assert_eq!(p[i][j], p[j][i]);
            }
        }
        prop_assert!((norm(&difference) - gone.sqrt()).abs() < 1e-12 * scale);
        let mut again = p;
        prop_assert!(!project(&mut again, 12));
        prop_assert_eq!(again, p);
    }

    #[test]
    fn a_gram_matrix_keeps_its_bits(a in symmetric(), rank in 1..12_usize) {
        let gram = |i: usize, j: usize| (0..rank).map(|k| a[k][i] * a[k][j]).sum::<f64>();
        let full: [[f64; 12]; 12] = std::array::from_fn(|i| std::array::from_fn(|j| gram(i, j)));
        let mut kept = full;
        prop_assert!(!project(&mut kept, 12));
        prop_assert_eq!(kept, full);
    }
}

#[test]
fn a_matrix_that_is_not_finite_is_left_alone() {
    for bad in [f64::NAN, f64::INFINITY] {
        let mut a = [[1.0, bad], [bad, -1.0]];
        assert!(!project(&mut a, 2));
        assert_eq!(a[1][1], -1.0);
    }
}
