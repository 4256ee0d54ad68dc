//! Input at the edge of what numbers can hold, and beyond: it is refused by name or reported, and never passes for solved.

use crate::systems::{laplacian, laplacian_matrix, noise};
use crate::tank::{Tank, in_rooms, waves};
use undine_core::glam::DVec3;
use undine_linsolve::amg::{Amg, NearNullSpace, Settings, Smoother};
use undine_linsolve::choose::{Method, System};
use undine_linsolve::krylov::{bicgstab, cg, flexible_cg, minres};
use undine_linsolve::lcp::{Bounds, Coloured, pgs, predictor_corrector};
use undine_linsolve::manybodies::{Blocks, Manybodies};
use undine_linsolve::precondition::{BlockJacobi, IncompleteCholesky, Jacobi};
use undine_linsolve::pressure::{InverseDensity, Open, PressureInput, PressureSystem, Surface};
use undine_linsolve::{
    Csr, Matrix, NullSpace, Operator, Outcome, Preconditioner, SolveError, Stop, operator::Identity,
};

/// The Laplacian of a 4³ box with one entry of its list of values replaced.
fn spoilt(entry: usize, value: f64) -> Matrix {
    let mut csr = laplacian(4);
    csr.values_mut()[entry] = value;
    Matrix::single(csr).unwrap()
}

#[test]
fn a_block_that_no_shift_mends_is_refused() {
    for value in [-1e-320, f64::NAN] {
        let mut csr = Csr::from_triplets(2, 2, [(0, 0, 1.0), (1, 1, 1.0)]).unwrap();
        csr.values_mut()[1] = value;
        let error = BlockJacobi::new(&Matrix::single(csr).unwrap(), &[0, 1, 2]).unwrap_err();
        assert!(matches!(error, SolveError::BadPivot { row: 1, .. }), "{error}");
    }
    let csr = Csr::from_triplets(2, 2, [(0, 1, 1.7e308), (1, 0, 1.7e308)]).unwrap();
    let mut helper = BlockJacobi::new(&Matrix::single(csr).unwrap(), &[0, 2]).unwrap();
    let mut z = [f64::NAN; 2];
    helper.apply(&[1.0, -1.0], &mut z).unwrap();
    assert!(z.iter().all(|z| z.is_finite()), "{z:?}");
}

#[test]
fn a_diagonal_that_is_no_number_is_named() {
    let matrix = spoilt(0, f64::NAN);
    let named = |error: SolveError| {
        let text = error.to_string();
        assert!(
            text.contains("NaN") && (text.contains("row 0") || text.contains("(0, 0)")),
            "{text}"
        );
    };
    named(Jacobi::new(&matrix).unwrap_err());
    named(IncompleteCholesky::plain(&matrix).unwrap_err());
    named(IncompleteCholesky::modified(&matrix).unwrap_err());
    named(Coloured::new(&matrix).unwrap_err());
    named(Amg::new(&matrix, &Settings::default()).unwrap_err());
    for method in [Method::Auto, Method::Direct, Method::SaAmg, Method::BiCgStab, Method::Minres] {
        let mut x = vec![0.0; 64];
        let solved = System::new(&matrix).solve(method, &[1.0; 64], &mut x, &Stop::default());
        named(solved.unwrap_err());
    }
}

#[test]
fn an_object_that_no_shift_mends_is_refused() {
    let mut csr = laplacian(3);
    csr.values_mut()[40] = f64::NAN;
    let matrix = Matrix::single(csr).unwrap();
    let error = Manybodies::new(&matrix, &Blocks::ranges(&[0..9, 9..18])).unwrap_err();
    assert!(matches!(error, SolveError::BadPivot { .. }), "{error}");
}

#[test]
fn symmetry_and_definiteness_are_judged_alike_at_any_scale() {
    for scale in [1e-200, 1.0, 1e200] {
        let with = |mirrored: f64| {
            let entries = [(0, 0, 2.0), (0, 1, 1.0), (1, 0, mirrored), (1, 1, 2.0)];
            Csr::from_triplets(2, 2, entries.map(|(i, j, a)| (i, j, scale * a))).unwrap()
        };
        assert!(with(1.0).check_spd_hints(1e-10, "it").is_ok(), "{scale:e}");
        let error = with(1.1).check_symmetric(1e-10).unwrap_err();
        assert!(matches!(error, SolveError::NotSymmetric { .. }), "{scale:e}");
        let entries = [(0, 0, 1.0), (0, 1, 3.0), (1, 0, 3.0), (1, 1, 1.0)];
        let entries = entries.map(|(i, j, a)| (i, j, scale * a));
        let error = Csr::from_triplets(2, 2, entries).unwrap().check_spd_hints(1e-10, "it");
        assert!(matches!(error, Err(SolveError::NotPositive { .. })), "{scale:e}");
    }
}

#[test]
fn more_columns_than_32_bits_count_are_refused() {
    let wide = (1_usize << 32) + 5;
    let error = Csr::from_triplets(1, wide, [(0, wide - 1, 1.0)]).unwrap_err();
    assert!(error.to_string().contains("columns"), "{error}");
}

#[test]
fn a_right_hand_side_too_large_to_measure_does_not_pass_for_solved() {
    let matrix = laplacian_matrix(4);
    let exact: Vec<f64> = noise(64, 1).iter().map(|x| 1e160 * x).collect();
    let mut b = vec![0.0; 64];
    matrix.csr().multiply(&exact, &mut b);
    // The residual of this guess is a number, though that of zero is not.
    let guess: Vec<f64> = exact.iter().map(|x| x * (1.0 + 1e-12)).collect();
    for solve in [cg, flexible_cg, minres, bicgstab] {
        let mut x = guess.clone();
        let stop = Stop::relative(1e-14);
        let report = solve(&matrix, &mut Identity, &b, &mut x, &stop).unwrap();
        assert!(!report.converged(), "{report}");
    }
}

#[test]
fn bounded_systems_too_small_or_large_to_measure_do_not_pass_for_solved() {
    let matrix = laplacian_matrix(4);
    let system = Coloured::new(&matrix).unwrap();
    let (lower, upper) = ([0.0; 64], [f64::INFINITY; 64]);
    let bounds = Bounds::new(matrix.rows(), &lower, &upper).unwrap();
    for b in [[1e-200; 64], [1e200; 64]] {
        let mut x = [0.0; 64];
        let slow = pgs(&system, &b, &bounds, &mut x, &Stop::default()).unwrap();
        let mut y = [0.0; 64];
        let fast =
            predictor_corrector(&system, &mut Identity, &b, &bounds, &mut y, &Stop::default());
        for report in [slow, fast.unwrap()] {
            assert!(!report.converged(), "{report}");
        }
    }
    // Nothing to do is solved.
    let mut x = [3.0; 64];
    assert!(pgs(&system, &[0.0; 64], &bounds, &mut x, &Stop::default()).unwrap().converged());
    assert_eq!(x, [0.0; 64]);
}

#[test]
fn a_null_space_that_is_none_does_not_hide_a_residual() {
    let matrix = laplacian_matrix(4).with_null_space(NullSpace::constant());
    let b = noise(64, 2);
    for solve in [cg, flexible_cg, minres, bicgstab] {
        let mut x = vec![0.0; 64];
        let report = solve(&matrix, &mut Identity, &b, &mut x, &Stop::default()).unwrap();
        assert!(!report.converged(), "{report}");
    }
    // A first guess that is off by a constant everywhere, which projection would hide.
    let (mut b, mut x) = (b, vec![0.0; 64]);
    matrix.project(&mut b).unwrap();
    let shifted: Vec<f64> = b.iter().map(|b| b + 1.0).collect();
    let stop = Stop::relative(1e-12);
    let regular = laplacian_matrix(4);
    assert!(cg(&regular, &mut Identity, &shifted, &mut x, &stop).unwrap().converged());
    for solve in [cg, flexible_cg, minres, bicgstab] {
        let mut x = x.clone();
        let report = solve(&matrix, &mut Identity, &b, &mut x, &Stop::default()).unwrap();
        let named = matches!(report.outcome, Outcome::Breakdown(why) if why.contains("null"));
        assert!(named, "{report}");
    }
}

#[test]
fn near_null_vectors_of_any_length_serve_alike() {
    let matrix = laplacian_matrix(12);
    let b = noise(1728, 3);
    let iterations = |vectors: Vec<Vec<f64>>| {
        let near_null_space = NearNullSpace::Vectors(vectors);
        let settings = Settings { near_null_space, coarse_rows: 20, ..Settings::default() };
        let mut helper = Amg::new(&matrix, &settings).unwrap();
        let mut x = vec![0.0; 1728];
        let report = cg(&matrix, &mut helper, &b, &mut x, &Stop::default()).unwrap();
        assert!(report.converged(), "{report}");
        report.iterations
    };
    let usual = iterations(vec![vec![1.0; 1728]]);
    for length in [1e-200, 1e-40, 1e40, 1e200] {
        assert_eq!(iterations(vec![vec![length; 1728]]), usual, "{length:e}");
    }
    // Vectors that say nothing, or nothing new, do no harm.
    iterations(vec![vec![0.0; 1728]]);
    iterations(vec![vec![1.0; 1728], vec![0.0; 1728], vec![-3e200; 1728]]);
}

#[test]
fn pressure_coefficients_that_single_precision_cannot_hold_are_refused() {
    let tank = Tank::new(0, 2, waves(16.0));
    let refused = |input: PressureInput<'_>| {
        let error = PressureSystem::new(&tank.domain, &input).unwrap_err();
        assert!(matches!(error, SolveError::BadValue { .. }), "{error}");
    };
    for scale in [1e-50, 1e50, 1e-300, 1e300] {
        refused(PressureInput { scale, ..tank.plain() });
        refused(PressureInput { scale, ..tank.cut() });
    }
    refused(PressureInput { inverse_density: InverseDensity::Constant(1e38), ..tank.plain() });
    let surface = Surface::Distance { distance: tank.distance, smallest: 1e-40 };
    refused(PressureInput { surface, ..tank.plain() });
    tank.fill(tank.diagonal, DVec3::ZERO, |_| 3e38);
    refused(PressureInput { diagonal: Some(tank.diagonal), ..tank.plain() });
}

#[test]
fn faces_and_terms_of_next_to_nothing_do_no_harm() {
    // Drops whose cells are held by an area, or by a term of their own, that is smaller than any normal number.
    let tank = Tank::new(-1, 2, |at| (at - DVec3::splat(0.5)).length() - 3.0);
    tank.fill_mac(tank.open, |axis, at| if at[axis] == 0.0 { 1.0 } else { 1e-39 });
    tank.fill(tank.diagonal, DVec3::ZERO, |at| if at.x > 1.0 { 1e-41 } else { 0.0 });
    let input = PressureInput {
        open: Open::Channel(tank.open),
        diagonal: Some(tank.diagonal),
        ..tank.plain()
    };
    let system = PressureSystem::new(&tank.domain, &input).unwrap();
    let mut b = noise(system.rows().local(), 5);
    (0..b.len()).for_each(|n| b[n] = if system.has_equation(n) { b[n] } else { 0.0 });
    let mut x = vec![0.0; b.len()];
    let report = system.solve(&b, &mut x, &Stop::default()).unwrap();
    assert!(report.converged(), "{report}");
}

#[test]
fn what_is_no_number_in_a_closed_region_is_named_by_its_entry() {
    let tank = Tank::new(0, 3, in_rooms);
    let system = PressureSystem::new(&tank.domain, &tank.close_rooms()).unwrap();
    assert!(system.closed_regions() > 0);
    let count = system.rows().local();
    let last = (0..count).rev().find(|&entry| system.has_equation(entry)).unwrap();
    for value in [f64::NAN, f64::INFINITY] {
        let mut b = vec![0.0; count];
        b[last] = value;
        let mut x = noise(count, 1);
        let before = x.clone();
        let error = system.solve(&b, &mut x, &Stop::default()).unwrap_err();
        assert!(matches!(error, SolveError::VectorNotFinite { row, .. } if row == last), "{error}");
        assert_eq!(x, before);
    }
}

#[test]
fn a_closed_region_with_nothing_but_a_mean_comes_to_rest_at_once() {
    let tank = Tank::new(-2, 2, |_| -1.0);
    let system = PressureSystem::new(&tank.domain, &tank.plain()).unwrap();
    assert_eq!(system.closed_regions(), 1);
    let b = vec![0.1; system.rows().local()];
    let mut x = vec![7.0; b.len()];
    let report = system.solve(&b, &mut x, &Stop::default()).unwrap();
    assert!(report.converged(), "{report}");
    assert!(x.iter().all(|x| x.abs() < 1e-10), "{report}");
}

#[test]
fn a_tank_without_liquid_and_one_with_a_single_cell_have_a_pressure() {
    for liquid in [0, 1] {
        let tank = Tank::new(-1, 2, |at| {
            let here = liquid == 1 && (at - DVec3::splat(-7.5)).length() < 0.1;
            if here { -1.0 } else { 1.0 }
        });
        for input in [tank.plain(), PressureInput { open: Open::Everywhere, ..tank.plain() }] {
            let system = PressureSystem::new(&tank.domain, &input).unwrap();
            let b: Vec<f64> =
                (0..system.rows().local()).map(|n| f64::from(system.has_equation(n))).collect();
            let mut x = vec![0.0; b.len()];
            let report = system.solve(&b, &mut x, &Stop::default()).unwrap();
            assert!(report.converged(), "{report}");
            assert_eq!(x.iter().sum::<f64>() > 0.0, liquid == 1);
            let _ = system.to_csr().unwrap();
        }
    }
}

#[test]
fn systems_without_rows_are_solved() {
    let matrix = Matrix::single(Csr::from_triplets(0, 0, []).unwrap()).unwrap();
    let solve = |helper: &mut dyn Preconditioner| {
        let report = cg(&matrix, helper, &[], &mut [], &Stop::default()).unwrap();
        assert!(report.converged(), "{report}");
    };
    solve(&mut Jacobi::new(&matrix).unwrap());
    solve(&mut IncompleteCholesky::plain(&matrix).unwrap());
    solve(&mut BlockJacobi::new(&matrix, &[0]).unwrap());
    solve(&mut Amg::new(&matrix, &Settings::default()).unwrap());
    solve(&mut Manybodies::new(&matrix, &Blocks::lists::<Vec<u32>>([])).unwrap());
    for method in [Method::Auto, Method::Direct, Method::Minres, Method::BiCgStab] {
        let report = System::new(&matrix).solve(method, &[], &mut [], &Stop::default()).unwrap();
        assert!(report.converged(), "{report}");
    }
}

/// Panics unless x·My = y·Mx and x·Mx > 0 for vectors of ones, of noise, and of noise of all magnitudes.
fn assert_definite(
    name: &str,
    helper: &mut dyn Preconditioner,
    fit: impl Fn(&mut [f64]),
    count: usize,
) {
    let mut vectors = vec![vec![1.0; count], noise(count, 1), noise(count, 2)];
    let magnitudes = noise(count, 3);
    vectors
        .push(noise(count, 4).iter().zip(magnitudes).map(|(x, m)| x * (9.0 * m).exp()).collect());
    vectors.iter_mut().for_each(|vector| fit(vector));
    let mut apply = |x: &[f64]| {
        let mut z = vec![0.0; count];
        helper.apply(x, &mut z).unwrap();
        z
    };
    let images: Vec<Vec<f64>> = vectors.iter().map(|x| apply(x)).collect();
    let dot = |x: &[f64], y: &[f64]| x.iter().zip(y).map(|(x, y)| x * y).sum::<f64>();
    for (x, mx) in vectors.iter().zip(&images) {
        assert!(dot(x, mx) > 0.0 || x.iter().all(|&x| x == 0.0), "{name}");
        for (y, my) in vectors.iter().zip(&images) {
            let scale = (dot(x, mx) * dot(y, my)).sqrt();
            let (a, b) = (dot(x, my), dot(y, mx));
            assert!((a - b).abs() <= 1e-4 * scale, "{name}: {a} and {b}, of {scale}");
        }
    }
}

#[test]
fn preconditioners_are_symmetric_and_positive_on_cut_cells_and_jumps() {
    let tank = Tank::new(0, 2, waves(16.0));
    let system = PressureSystem::new(&tank.domain, &tank.cut()).unwrap();
    let fit = |x: &mut [f64]| {
        (0..x.len()).for_each(|n| x[n] = if system.has_equation(n) { x[n] } else { 0.0 });
        system.project(x).unwrap();
    };
    assert_definite("multigrid", &mut system.multigrid(), fit, system.rows().local());
    let matrix = system.to_csr().unwrap().matrix;
    let count = matrix.rows().local();
    let nothing = |_: &mut [f64]| {};
    for smoother in [Smoother::Spai0, Smoother::GaussSeidel, Smoother::Chebyshev(3)] {
        let settings = Settings { smoother, coarse_rows: 20, ..Settings::default() };
        let name = format!("{smoother:?}");
        assert_definite(&name, &mut Amg::new(&matrix, &settings).unwrap(), nothing, count);
    }
    let mut plain = IncompleteCholesky::plain(&matrix).unwrap();
    assert_definite("IC(0)", &mut plain, nothing, count);
    let mut modified = IncompleteCholesky::modified(&matrix).unwrap();
    assert_definite("MIC(0)", &mut modified, nothing, count);
    let starts = BlockJacobi::uniform(count, 7);
    assert_definite("blocks", &mut BlockJacobi::new(&matrix, &starts).unwrap(), nothing, count);
}
