//! The Newton loop on points, bodies, weighted and fixed particles.

use crate::springs::{Distance, Joint, Spring};
use crate::stand::{BOUNDARY, FIXED, Links, POINTS, Stand, WEIGHTED};
use std::f64::consts::TAU;
use undine_core::glam::DVec3;
use undine_sim::constraint::dahl::Dahl;
use undine_sim::constraint::{Constraint, Placed};
use undine_sim::newton::{
    Inertia, Iterate, Mode, NewtonError, NewtonOutcome, NewtonSettings, Problem, System,
    SystemSettings,
};

/// Converges as far as numbers go.
const FULL: NewtonSettings = NewtonSettings { iterations: 60, tolerance: 1e-11, line_search: true };

/// Numbers in −1 … 1 that look random, the same in every run.
fn noise(n: usize) -> f64 {
    let mut bits = (n as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    bits = (bits ^ (bits >> 31)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    ((bits ^ (bits >> 29)) >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
}

fn noise3(n: usize) -> DVec3 {
    DVec3::new(noise(3 * n), noise(3 * n + 1), noise(3 * n + 2))
}

/// A point on a spring to a fixed place, pulled out by `stretch` [m] beyond the rest length 1.
fn oscillator(dt: f64, mass: f64, stiffness: f64, stretch: f64) -> Stand {
    let mut stand = Stand::new(dt);
    stand.point(mass, DVec3::X * (1.0 + stretch), DVec3::ZERO);
    stand.fixed.push(Placed::at(DVec3::ZERO));
    let spring = Spring { length: 1.0, stiffness };
    stand.springs.push(Links::new([POINTS, FIXED], [([0, 0], spring)]));
    stand
}

/// Three points, two bodies, a weighted particle and fixed ones, all tied together and in motion.
fn mobile() -> Stand {
    let mut stand = Stand::new(0.02);
    for n in 0..3 {
        stand.point(0.3 + 0.1 * n as f64, noise3(n) + DVec3::Y, noise3(10 + n));
    }
    let places = [DVec3::new(0.2, 0.1, 0.0), DVec3::new(-0.2, 0.05, 0.1)];
    for n in 0..2 {
        stand.body(1.0 + n as f64, 2.0 * noise3(20 + n), noise3(30 + n), noise3(40 + n), &places);
    }
    let gradient = [DVec3::new(-1.0, -1.0, 0.2), DVec3::X, DVec3::Y];
    let weights = [(0, 0.5, gradient[0]), (1, 0.3, gradient[1]), (2, 0.2, gradient[2])];
    stand.weighted(&weights);
    stand.fixed.push(Placed::at(DVec3::new(0.0, 3.0, 0.0)));
    let spring = |length| Spring { length, stiffness: 400.0 };
    stand
        .springs
        .push(Links::new([POINTS, POINTS], [([0, 1], spring(0.3)), ([1, 2], spring(0.2))]));
    stand
        .springs
        .push(Links::new([BOUNDARY, POINTS], [([0, 0], spring(0.2)), ([3, 2], spring(0.4))]));
    stand.springs.push(Links::new([BOUNDARY, BOUNDARY], [([1, 2], spring(0.1))]));
    stand.springs.push(Links::new([WEIGHTED, BOUNDARY], [([0, 1], spring(0.2))]));
    stand
}

/// Backward Euler turns x'' = −ω²x into the factor 1/(1 − iωΔt) per step, so that after a period T the amplitude has lost
/// the share ½ω²TΔt to first order: the order is 1, and the constant of the error ½ω²T x(T).
#[test]
fn the_integrator_is_of_first_order_on_a_spring_with_the_constant_of_backward_euler() {
    let (mass, stiffness, stretch) = (0.5, 200.0, 0.1);
    let omega = f64::sqrt(stiffness / mass);
    let period = TAU / omega;
    let error = |steps: usize| {
        let mut stand = oscillator(period / steps as f64, mass, stiffness, stretch);
        for _ in 0..steps {
            stand.advance(&NewtonSettings::default()).unwrap();
        }
        // After a whole period the exact solution is where it began.
        1.0 + stretch - stand.points[0].x
    };
    let errors = [500, 1000, 2000].map(error);
    for (error, steps) in errors.iter().zip([500.0, 1000.0, 2000.0]) {
        let constant = 0.5 * omega * omega * period * stretch;
        let share = error / (constant * period / steps);
        // The next term of the amplitude is half the square of the first.
        let next = 0.5 * TAU * TAU / (2.0 * steps);
        assert!((share - 1.0).abs() < 1.2 * next + 1e-3, "{steps}: {share}");
    }
    let order = f64::log2((errors[1] - errors[2]) / (errors[0] - errors[1]));
    assert!((order + 1.0).abs() < 0.03, "{order}");
}

/// m x'' + kτ x' + k x = 0 dies away with the rate γ = kτ/2m; backward Euler adds ½ω²Δt of its own.
#[test]
fn rayleigh_damping_has_the_decay_rate_of_its_relaxation_time() {
    let (mass, stiffness, dt, tau) = (0.5, 50.0, 2e-4, 0.02);
    let square = stiffness / mass;
    let gamma = 0.5 * square * tau;
    let mut stand = oscillator(dt, mass, stiffness, 0.1);
    stand.springs[0].relaxation = tau;
    // This decays as exp(−2γt) at every moment, not only from peak to peak.
    let measure = |stand: &Stand| {
        let (x, v) = (stand.points[0].x - 1.0, stand.velocity[0].x);
        (v + gamma * x).powi(2) + (square - gamma * gamma) * x * x
    };
    let before = measure(&stand);
    let steps = 5000;
    for _ in 0..steps {
        stand.advance(&NewtonSettings::default()).unwrap();
    }
    let rate = -0.5 * (measure(&stand) / before).ln() / (f64::from(steps) * dt);
    let wanted = gamma + 0.5 * square * dt;
    assert!((rate / wanted - 1.0).abs() < 0.005, "{rate} 1/s, not {wanted}");
}

/// Without inertia to speak of a stretch dies away as exp(−t/τ), over a step of backward Euler as 1/(1 + Δt/τ).
#[test]
fn without_inertia_a_stretch_dies_away_over_the_relaxation_time() {
    let mut stand = oscillator(0.1, 1e-9, 50.0, 0.1);
    stand.springs[0].relaxation = 0.4;
    stand.advance(&NewtonSettings::default()).unwrap();
    let found = stand.points[0].x - 1.0;
    assert!((found - 0.1 / 1.25).abs() < 1e-9, "{found}");
}

#[test]
fn springs_among_points_and_bodies_keep_their_momentum() {
    let mut stand = mobile();
    let before = stand.momentum();
    for step in 0..20 {
        // Converged or not: one iteration keeps it as well as many.
        let settings = if step % 2 == 0 { NewtonSettings::default() } else { FULL };
        stand.advance(&settings).unwrap();
    }
    let after = stand.momentum();
    assert!((after - before).length() < 1e-12 * before.length(), "{before} {after}");
    assert!(stand.velocity.iter().any(|v| v.length() > 0.1));
}

/// The gradient that elements, shapes, inertia and damping make is that of the energy they state, also in the direction of the
/// step: everything at once, against differences.
#[test]
fn the_slope_along_a_step_is_the_derivative_of_the_energy() {
    let mut stand = mobile();
    stand.gravity = DVec3::new(0.0, -9.81, 0.0);
    stand.drag = 0.7;
    let placed = stand.placed();
    let weld = |a: Placed, b: Placed| {
        let mut joint = Joint::between(&[a, b], [300.0, 20.0]);
        joint.offset += DVec3::new(0.05, -0.1, 0.02);
        joint
    };
    let [points, boundary, weighted, fixed] = &placed;
    stand.welds.push(Links::new([BOUNDARY, BOUNDARY], [([0, 3], weld(boundary[0], boundary[3]))]));
    stand.welds.push(Links::new([WEIGHTED, BOUNDARY], [([0, 2], weld(weighted[0], boundary[2]))]));
    stand.welds.push(Links::new([FIXED, WEIGHTED], [([0, 0], weld(fixed[0], weighted[0]))]));
    stand.welds.push(Links::new([POINTS, BOUNDARY], [([1, 1], weld(points[1], boundary[1]))]));
    for links in &mut stand.springs {
        links.relaxation = 0.01;
        links.dahl = Some([Dahl { limit: 5.0, length: 0.02 }]);
        links.friction.fill([1.5]);
    }
    for links in &mut stand.welds {
        links.relaxation = 0.03;
        links.dahl = Some([Dahl { limit: 2.0, length: 0.1 }; 12]);
        links.friction.fill([-0.5; 12]);
    }
    stand.begin();
    let mut du = Vec::new();
    // Two steps in, so that C differs from that at the start and bodies from their targets.
    for _ in 0..2 {
        stand.linearise(&mut du).unwrap();
        stand.save();
        stand.step(&du, 0.4).unwrap();
    }
    let step = stand.linearise(&mut du).unwrap();
    stand.save();
    let h = 1e-4;
    let mut energy = |alpha: f64| {
        stand.step(&du, alpha).unwrap();
        stand.merit().unwrap().unwrap().energy
    };
    // Five points: the error is of fourth order.
    let slope =
        (8.0 * (energy(h) - energy(-h)) - (energy(2.0 * h) - energy(-2.0 * h))) / (12.0 * h);
    assert!((slope / step.slope - 1.0).abs() < 1e-8, "{slope} {}", step.slope);
}

/// Along the step, duᵀH du = −slope; where nothing is projected, that is the second derivative of the energy.
#[test]
fn the_matrix_is_the_second_derivative_where_springs_are_stretched() {
    let mut stand = mobile();
    for links in &mut stand.springs {
        links.elements.iter_mut().for_each(|spring| spring.length *= 0.3);
    }
    stand.begin();
    let mut du = Vec::new();
    let step = stand.linearise(&mut du).unwrap();
    stand.save();
    let h = 1e-3;
    let mut energy = |alpha: f64| {
        stand.step(&du, alpha).unwrap();
        stand.merit().unwrap().unwrap().energy
    };
    let (plus, at, minus) = (energy(h), energy(0.0), energy(-h));
    let second = (plus - 2.0 * at + minus) / (h * h);
    // What the turn's inertia leaves out is of the order of the turn squared over 6.
    assert!((second / -step.slope - 1.0).abs() < 1e-3, "{second} {}", -step.slope);
}

#[test]
fn newton_converges_quadratically_on_stretched_springs() {
    let mut stand = Stand::new(0.1);
    stand.point(0.01, DVec3::new(0.4, 0.9, -0.3), DVec3::ZERO);
    for place in [DVec3::X, -DVec3::X, DVec3::Z * 1.5] {
        stand.fixed.push(Placed::at(place));
    }
    let spring = Spring { length: 0.2, stiffness: 100.0 };
    stand.springs.push(Links::new([POINTS, FIXED], (0..3).map(|n| ([0, n], spring))));
    let report = stand.advance(&FULL).unwrap();
    assert_eq!(report.outcome, NewtonOutcome::Converged);
    let speeds: Vec<f64> = report.iterations.iter().map(|iteration| iteration.speed).collect();
    let scale = 10.0;
    let quadratic = speeds.windows(2).filter(|pair| pair[0] < 1.0 && pair[0] > 1e-6);
    assert!(quadratic.clone().count() >= 2, "{speeds:?}");
    for pair in quadratic {
        assert!(pair[1] < scale * pair[0] * pair[0], "{speeds:?}");
    }
}

/// A nearly massless point above the middle of two springs that are pressed to a third: pushed out, the full step leaps to
/// where the energy is a thousand times what it was.
#[test]
fn a_compressed_spring_needs_the_line_search_and_finds_the_valley_with_it() {
    let pressed = || {
        let mut stand = Stand::new(0.1);
        stand.point(1e-4, DVec3::Y * 0.01, DVec3::ZERO);
        stand.fixed.extend([-0.3, 0.3].map(|x| Placed::at(DVec3::X * x)));
        let spring = Spring { length: 1.0, stiffness: 100.0 };
        stand.springs.push(Links::new([POINTS, FIXED], (0..2).map(|n| ([0, n], spring))));
        stand
    };
    let report = pressed().advance(&NewtonSettings { line_search: false, ..FULL }).unwrap();
    assert!(report.iterations[0].alpha == 1.0 && report.iterations[0].energy.is_none());
    let mut leaping = pressed();
    leaping.advance(&NewtonSettings { iterations: 1, ..FULL }).unwrap();
    assert!(leaping.points[0].y > 10.0, "{}", leaping.points[0]);

    let mut stand = pressed();
    let report = stand.advance(&FULL).unwrap();
    assert_eq!(report.outcome, NewtonOutcome::Converged);
    assert!(report.iterations.iter().any(|iteration| iteration.alpha < 1.0));
    let energies = report.iterations.iter().filter_map(|iteration| iteration.energy);
    let energies: Vec<f64> = energies.collect();
    assert!(energies.windows(2).all(|pair| pair[1] <= pair[0] * (1.0 + 1e-12)), "{energies:?}");
    // At rest length but for the inertia of 0.01 N/m beside 100 N/m.
    let y = stand.points[0].y;
    assert!((y - f64::sqrt(1.0 - 0.09)).abs() < 1e-3, "{y}");
}

/// The step that minimises a quadratic energy passes the line search as it is.
#[test]
fn a_full_step_on_a_quadratic_is_taken_to_the_bit() {
    let run = |line_search: bool| {
        let mut stand = oscillator(0.01, 0.5, 200.0, 0.1);
        stand.gravity = DVec3::X * 3.0;
        let report = stand.advance(&NewtonSettings { line_search, ..FULL }).unwrap();
        assert!(report.iterations.iter().all(|iteration| iteration.alpha == 1.0));
        stand.points[0]
    };
    assert_eq!(run(true), run(false));
}

/// With W = S⁻¹ > 0 both modes look for the same state; the multipliers are the rows' forces −S·C.
#[test]
fn stiffness_and_compliance_mode_find_the_same_state() {
    let run = |mode: Mode| {
        let mut stand = mobile();
        for links in &mut stand.springs {
            links.mode = mode;
            links.relaxation = 0.005;
        }
        for _ in 0..3 {
            let report = stand.advance(&FULL).unwrap();
            assert_eq!(report.outcome, NewtonOutcome::Converged, "{mode:?}");
        }
        stand
    };
    let (stiff, compliant) = (run(Mode::Stiffness), run(Mode::Compliance));
    for (a, b) in stiff.points.iter().zip(&compliant.points) {
        assert!((*a - *b).length() < 1e-10, "{a} {b}");
    }
    for (a, b) in stiff.bodies.iter().zip(&compliant.bodies) {
        assert!((a.centre - b.centre).length() < 1e-10);
        assert!((a.rotation - b.rotation).to_cols_array().iter().all(|d| d.abs() < 1e-9));
    }
    let placed = compliant.placed();
    for links in &compliant.springs {
        for (n, spring) in links.elements.iter().enumerate() {
            let at: [Placed; 2] =
                std::array::from_fn(|e| placed[links.ends[e]][links.stencil[n][e] as usize]);
            let c = Distance.evaluate(spring, &at).value[0];
            let rate = (c - links.start[n][0]) / compliant.dt;
            let wanted = -spring.stiffness * (c + 0.005 * rate);
            let found = links.multipliers[n][0];
            assert!((found - wanted).abs() < 1e-6, "{found} {wanted}");
        }
    }
}

/// A chain of a body and two points on hard rods: the lengths hold, whichever way the saddle system is solved.
#[test]
fn hard_rows_hold_their_length_by_factor_and_by_minres() {
    let run = |settings: SystemSettings| {
        let mut stand = Stand::new(0.01);
        stand.gravity = DVec3::new(0.0, -9.81, 0.0);
        stand.settings = settings;
        stand.body(
            2.0,
            DVec3::X * 0.5,
            DVec3::ZERO,
            DVec3::Z * 2.0,
            &[DVec3::X * -0.2, DVec3::X * 0.2],
        );
        stand.point(0.1, DVec3::X * 1.2, DVec3::ZERO);
        stand.point(0.3, DVec3::X * 1.7, DVec3::Z);
        stand.fixed.push(Placed::at(DVec3::ZERO));
        let placed = stand.placed();
        let rod =
            |a: Placed, b: Placed| Spring { length: a.x.distance(b.x), stiffness: f64::INFINITY };
        let [points, boundary, _, fixed] = &placed;
        stand.springs = vec![
            Links::new([BOUNDARY, FIXED], [([0, 0], rod(boundary[0], fixed[0]))]),
            Links::new([BOUNDARY, POINTS], [([1, 0], rod(boundary[1], points[0]))]),
            Links::new([POINTS, POINTS], [([0, 1], rod(points[0], points[1]))]),
        ];
        stand.springs.iter_mut().for_each(|links| links.mode = Mode::Compliance);
        for _ in 0..30 {
            let report = stand.advance(&FULL).unwrap();
            assert_eq!(report.outcome, NewtonOutcome::Converged);
        }
        let placed = stand.placed();
        for links in &stand.springs {
            let at: [Placed; 2] =
                std::array::from_fn(|e| placed[links.ends[e]][links.stencil[0][e] as usize]);
            let rest = Spring { stiffness: 1.0, ..links.elements[0] };
            let off = Distance.evaluate(&rest, &at).value[0];
            assert!(off.abs() < 1e-11, "{off}");
        }
        assert!(stand.points[1].y < -0.1);
        stand.points.clone()
    };
    let stop = undine_linsolve::Stop::relative(1e-12);
    let factored = run(SystemSettings { stop, ..SystemSettings::default() });
    let iterated = run(SystemSettings { stop, saddle_direct_rows: 0, ..SystemSettings::default() });
    for (a, b) in factored.iter().zip(&iterated) {
        assert!((*a - *b).length() < 1e-7, "{a} {b}");
    }
}

/// The same rod twice makes the saddle system singular; what it asks for is the same, so that it still has a solution.
#[test]
fn rods_that_say_the_same_twice_are_held_all_the_same() {
    let mut stand = Stand::new(0.01);
    stand.gravity = DVec3::new(0.0, -9.81, 0.0);
    stand.point(1.0, DVec3::X, DVec3::ZERO);
    stand.fixed.push(Placed::at(DVec3::ZERO));
    let rod = Spring { length: 1.0, stiffness: f64::INFINITY };
    stand.springs.push(Links::new([POINTS, FIXED], [([0, 0], rod), ([0, 0], rod)]));
    stand.springs[0].mode = Mode::Compliance;
    for _ in 0..10 {
        stand.advance(&FULL).unwrap();
    }
    assert!((stand.points[0].length() - 1.0).abs() < 1e-9, "{}", stand.points[0]);
    assert!(stand.points[0].y < -0.01);
}

/// Points with gravity and implicit drag, once on their own and once tied by springs without stiffness.
#[test]
fn what_nothing_ties_is_solved_alone_and_to_the_same_result() {
    let cloud = |tied: bool| {
        let mut stand = Stand::new(0.02);
        stand.gravity = DVec3::new(0.0, -9.81, 0.0);
        stand.drag = 0.4;
        for n in 0..40 {
            stand.point(0.1 + 0.05 * noise(n).abs(), noise3(n), noise3(100 + n));
            stand.body(1.0, noise3(200 + n), noise3(300 + n), noise3(400 + n), &[DVec3::X * 0.1]);
        }
        if tied {
            let nothing = Spring { length: 0.1, stiffness: 0.0 };
            stand
                .springs
                .push(Links::new([POINTS, BOUNDARY], (0..40).map(|n| ([n, 39 - n], nothing))));
        }
        stand.advance(&NewtonSettings::default()).unwrap();
        assert_eq!(stand.coupled(), if tied { 80 } else { 0 });
        stand
    };
    let (alone, tied) = (cloud(false), cloud(true));
    for n in 0..40 {
        assert!((alone.points[n] - tied.points[n]).length() < 1e-14);
        assert!((alone.bodies[n].centre - tied.bodies[n].centre).length() < 1e-14);
        // Implicit drag has the closed form v' = (m v + m g Δt)/(m + c Δt).
        let (m, v) = (alone.point_mass[n], noise3(100 + n));
        let wanted = (v + alone.gravity * alone.dt) * (m / (m + alone.drag * alone.dt));
        assert!((alone.velocity[n] - wanted).length() < 1e-12);
    }
}

#[test]
fn one_thread_and_two_find_the_same_bits() {
    let run = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let mut stand = Stand::new(0.01);
            stand.drag = 0.01;
            // More rows than are solved directly.
            for n in 0..1500 {
                let place = DVec3::new((n % 12) as f64, (n / 12 % 12) as f64, (n / 144) as f64);
                stand.point(0.1, place + noise3(n) * 0.2, noise3(3000 + n));
            }
            let spring = |n: u32| Spring { length: 1.0 + 0.1 * noise(n as usize), stiffness: 80.0 };
            let links = (0..1499).map(|n| ([n, n + 1], spring(n)));
            let across = (0..1488).map(|n| ([n, n + 12], spring(n)));
            stand.springs.push(Links::new([POINTS, POINTS], links.chain(across)));
            let settings = NewtonSettings { iterations: 2, ..FULL };
            let report = stand.advance(&settings).unwrap();
            let energy = report.iterations[1].energy.unwrap();
            (stand.points, energy.to_bits())
        })
    };
    assert!(run(1) == run(2));
}

#[test]
fn errors_name_the_list_and_the_element() {
    let solve = |change: &dyn Fn(&mut Stand)| {
        let mut stand = oscillator(0.01, 0.5, 200.0, 0.1);
        change(&mut stand);
        stand.advance(&NewtonSettings::default()).unwrap_err()
    };
    let nan = solve(&|stand| stand.springs[0].elements[0].length = f64::NAN);
    assert!(
        matches!(&nan, NewtonError::NotFinite { what: "element", index: 0, of, .. } if of == "springs"),
        "{nan}"
    );
    let massless = solve(&|stand| stand.point_mass[0] = 0.0);
    assert!(massless.to_string().contains("the mass of element 0 of points is 0"), "{massless}");
    let timeless = solve(&|stand| stand.dt = 0.0);
    assert!(
        matches!(timeless, NewtonError::BadValue { .. } | NewtonError::NotFinite { .. }),
        "{timeless}"
    );

    // A hard row in stiffness mode, a stencil that points nowhere, a system that was connected with something else.
    let stand = oscillator(0.01, 0.5, f64::INFINITY, 0.1);
    let mut system = System::new(stand.unknowns()).unwrap();
    let hard = stand.with(|_, at| system.connect(at.terms, at.forces)).unwrap_err();
    assert!(hard.to_string().contains("compliance mode"), "{hard}");
    let mut stand = oscillator(0.01, 0.5, 200.0, 0.1);
    stand.springs[0].stencil[0] = [7, 0];
    let outside = stand.with(|_, at| system.connect(at.terms, at.forces)).unwrap_err();
    assert!(outside.to_string().contains("element 0 of springs points at 7, but there are 1"));
    let stand = oscillator(0.01, 0.5, 200.0, 0.1);
    let (displacement, mass) = ([DVec3::ZERO], [1.0]);
    let inertia = [
        Inertia::Points { mass: &mass, displacement: &displacement },
        Inertia::Bodies { mass: &[], displacement: &[], tensor: &[], turn: &[] },
    ];
    let strange = stand.with(|_, at| {
        let at = Iterate { inertia: &inertia, ..*at };
        system.solve(&at, &SystemSettings::default(), &mut Vec::new()).unwrap_err()
    });
    assert!(matches!(strange, NewtonError::NotConnected { .. }), "{strange}");
}

#[test]
fn a_linear_solve_without_enough_iterations_is_an_error() {
    let mut stand = mobile();
    stand.settings.method = undine_linsolve::choose::Method::Jacobi;
    stand.settings.stop.iterations = 1;
    stand.settings.stop.relative = 1e-15;
    // A direct solve helps out where memory allows; a saddle system by MINRES has no such help.
    stand.springs.iter_mut().for_each(|links| {
        links.mode = Mode::Compliance;
        links.elements.iter_mut().for_each(|spring| spring.stiffness = f64::INFINITY);
    });
    stand.settings.saddle_direct_rows = 0;
    let error = stand.advance(&NewtonSettings::default()).unwrap_err();
    assert!(matches!(error, NewtonError::NotConverged { iteration: 0, .. }), "{error}");
}

/// However stiff, a compliant rod carries the weight that hangs on it, and is longer by λ/k.
#[test]
fn a_compliant_rod_is_longer_by_its_load_over_its_stiffness() {
    for stiffness in [1e3, 1e7, 1e11] {
        let mut stand = oscillator(0.01, 2.0, stiffness, 0.0);
        stand.gravity = DVec3::X * 9.81;
        stand.springs[0].mode = Mode::Compliance;
        // Backward Euler takes a share of ½ ω²Δt² out of the swing per step.
        for _ in 0..1500 {
            stand.advance(&NewtonSettings::default()).unwrap();
        }
        let load = -stand.springs[0].multipliers[0][0];
        assert!((load / 19.62 - 1.0).abs() < 1e-9, "{stiffness:e}: {load}");
        let longer = stand.points[0].x - 1.0;
        assert!((longer - load / stiffness).abs() < 1e-9 / stiffness + 1e-15, "{longer:e}");
    }
}

/// A rod between two places of one body can do nothing, and must not stand in the way of the others.
#[test]
fn a_rod_within_one_body_is_left_out() {
    let mut stand = Stand::new(0.01);
    stand.gravity = DVec3::new(0.0, -9.81, 0.0);
    stand.body(1.0, DVec3::X, DVec3::ZERO, DVec3::Y, &[DVec3::X * -0.3, DVec3::new(0.1, 0.2, 0.3)]);
    stand.fixed.push(Placed::at(DVec3::ZERO));
    let placed = stand.placed();
    let rod = |length| Spring { length, stiffness: f64::INFINITY };
    let within = placed[BOUNDARY][0].x.distance(placed[BOUNDARY][1].x);
    let outside = placed[BOUNDARY][0].x.length();
    stand.springs = vec![
        Links::new([BOUNDARY, BOUNDARY], [([0, 1], rod(within))]),
        Links::new([BOUNDARY, FIXED], [([0, 0], rod(outside))]),
    ];
    stand.springs.iter_mut().for_each(|links| links.mode = Mode::Compliance);
    for _ in 0..10 {
        stand.advance(&FULL).unwrap();
    }
    let found = stand.placed()[BOUNDARY][0].x.length();
    assert!((found - outside).abs() < 1e-11, "{found} {outside}");
    assert!(stand.bodies[0].centre.y < -0.01);
}

/// Ten kilometres from the origin positions have fewer digits; the loop still converges and never goes up.
#[test]
fn far_from_the_origin_the_loop_converges_all_the_same() {
    let run = |shift: DVec3| {
        let mut stand = mobile();
        stand.points.iter_mut().for_each(|x| *x += shift);
        stand.bodies.iter_mut().for_each(|pose| pose.centre += shift);
        for _ in 0..5 {
            let settings = NewtonSettings { tolerance: 1e-7, ..FULL };
            let report = stand.advance(&settings).unwrap();
            assert_eq!(report.outcome, NewtonOutcome::Converged, "{shift}");
        }
        stand.points[0] - shift
    };
    let (near, far) = (run(DVec3::ZERO), run(DVec3::new(1e4, -1e4, 1e4)));
    assert!((near - far).length() < 1e-8, "{near} {far}");
}

/// ∂f/∂u is that of differences, on points, bodies and weighted particles, with nothing projected away; but for what turns that
/// are no coordinates make unsymmetric of torques out of balance.
#[test]
fn exact_derivatives_of_forces_are_those_of_differences() {
    let mut stand = mobile();
    let placed = stand.placed();
    let ends = [placed[BOUNDARY][0], placed[BOUNDARY][2]];
    let mut weld = Joint::between(&ends, [300.0, 20.0]);
    weld.offset += DVec3::new(0.1, -0.05, 0.2);
    stand.welds.push(Links::new([BOUNDARY, BOUNDARY], [([0, 2], weld)]));
    let system = System::new(stand.unknowns()).unwrap();
    let (row_of, rows) = (system.row_of(), stand.unknowns().rows());
    let mut exact = vec![0.0; rows * rows];
    stand.with(|_, at| {
        for (row, column, value) in at.terms.iter().flat_map(|term| term.by_unknowns(row_of)) {
            exact[row as usize * rows + column as usize] += value;
        }
    });
    let forces = |stand: &Stand| {
        let mut sum = vec![0.0; rows];
        stand.with(|_, at| at.terms.iter().for_each(|term| term.add_forces(row_of, &mut sum)));
        sum
    };
    let mut wanted = vec![0.0; rows * rows];
    let h = 1e-5;
    stand.save();
    for column in 0..rows {
        let mut du = vec![0.0; rows];
        du[column] = h;
        let mut at = |alpha: f64| {
            stand.step(&du, alpha).unwrap();
            forces(&stand)
        };
        let (before, after) = (at(-1.0), at(1.0));
        for row in 0..rows {
            wanted[row * rows + column] = (after[row] - before[row]) / (2.0 * h);
        }
    }
    let largest = wanted.iter().fold(0.0_f64, |most, value| most.max(value.abs()));
    let mut indefinite = false;
    for row in 0..rows {
        for column in 0..rows {
            let both = wanted[row * rows + column] + wanted[column * rows + row];
            let found = exact[row * rows + column];
            assert!((found - 0.5 * both).abs() < 1e-8 * largest, "{row} {column}: {found} {both}");
        }
        indefinite |= exact[row * rows + row] > 1e-3 * largest;
    }
    assert!(indefinite, "springs that are pushed together make it so");
}
