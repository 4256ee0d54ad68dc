//! The choice of a method, what it says about itself, and the way out when it fails.

use crate::systems::noise;
use undine_linsolve::choose::{Method, Promise, System};
use undine_linsolve::gallery::{self, RodsSetup};
use undine_linsolve::manybodies::Blocks;
use undine_linsolve::{Csr, Matrix, SolveError, Stop};

fn matrix(csr: Csr<f64>) -> Matrix {
    Matrix::single(csr).unwrap()
}

fn chosen(system: &System<'_>) -> Method {
    let (method, why) = system.choose().unwrap();
    assert!(why.starts_with(&method.to_string()) && why.contains("because"), "{why}");
    method
}

#[test]
fn every_kind_of_system_gets_the_method_that_suits_it() {
    let field = matrix(gallery::laplacian([18, 18, 18]).unwrap());
    assert_eq!(chosen(&System::new(&field)), Method::SaAmg);

    let small = matrix(gallery::laplacian([6, 6, 6]).unwrap());
    assert_eq!(chosen(&System::new(&small)), Method::Direct);

    let wind = matrix(gallery::convection_diffusion([18; 3], 0.1, [1.0, 0.5, 0.2]).unwrap());
    assert_eq!(chosen(&System::new(&wind)), Method::BiCgStab);

    let saddle = matrix(gallery::saddle(40, 0.0).unwrap());
    assert_eq!(chosen(&System::new(&saddle)), Method::Minres);
    assert_eq!(
        chosen(&System { promise: Promise::Symmetric, ..System::new(&field) }),
        Method::Minres
    );

    let light = matrix(gallery::tridiagonal(5000, -1.0, 5.0, -1.0).unwrap());
    assert_eq!(chosen(&System::new(&light)), Method::Jacobi);

    let rods =
        gallery::rods(&RodsSetup { rods: 60, vertices: 20, ..RodsSetup::default() }).unwrap();
    let hair = matrix(rods.matrix);
    let objects = Blocks::ranges(&rods.blocks);
    assert_eq!(
        chosen(&System { objects: Some(&objects), ..System::new(&hair) }),
        Method::Manybodies
    );
}

#[test]
fn every_method_that_suits_solves_and_says_why_it_was_chosen() {
    let field = matrix(gallery::laplacian([16, 16, 16]).unwrap());
    let b = noise(4096, 1);
    for method in [
        Method::Auto,
        Method::Direct,
        Method::Manybodies,
        Method::SaAmg,
        Method::IncompleteCholesky,
        Method::Jacobi,
        Method::Minres,
        Method::BiCgStab,
    ] {
        let mut x = vec![0.0; b.len()];
        let report = System::new(&field).solve(method, &b, &mut x, &Stop::relative(1e-8)).unwrap();
        assert!(report.converged() && report.residual <= 1e-8, "{method}: {report}");
        let wanted = if method == Method::Auto { "because" } else { "as asked for" };
        assert!(report.notes[0].contains(wanted), "{report}");
    }
}

#[test]
fn names_of_methods_are_read_as_they_are_written_and_others_are_refused() {
    for method in [Method::Auto, Method::SaAmg, Method::IncompleteCholesky, Method::BiCgStab] {
        assert_eq!(method.to_string().parse::<Method>(), Ok(method));
    }
    let error = "multigird".parse::<Method>().unwrap_err();
    assert!(error.to_string().contains("`multigird`") || error.to_string().contains("multigird"));
    assert!(error.to_string().contains("sa-amg"), "{error}");
}

#[test]
fn what_does_not_converge_is_solved_directly_and_both_are_reported() {
    let field = matrix(gallery::laplacian([16, 16, 16]).unwrap());
    let b = noise(4096, 2);
    let mut x = vec![0.0; b.len()];
    let stop = Stop { iterations: 3, ..Stop::relative(1e-8) };
    let report = System::new(&field).solve(Method::Jacobi, &b, &mut x, &stop).unwrap();
    assert!(report.converged() && report.residual < 1e-10, "{report}");
    assert!(report.notes.iter().any(|note| note.contains("solved directly instead")), "{report}");

    // Unless there is no memory for it.
    x.fill(0.0);
    let poor = System { direct_bytes: 1000, ..System::new(&field) };
    let report = poor.solve(Method::Jacobi, &b, &mut x, &stop).unwrap();
    assert!(!report.converged());
    assert!(report.notes.iter().any(|note| note.contains("not solved directly")), "{report}");
}

#[test]
fn a_broken_promise_is_named_by_row() {
    let wind = matrix(gallery::convection_diffusion([4; 3], 0.1, [1.0, 0.5, 0.2]).unwrap());
    let system = System { promise: Promise::PositiveDefinite, ..System::new(&wind) };
    let error =
        system.solve(Method::Auto, &[1.0; 64], &mut [0.0; 64], &Stop::default()).unwrap_err();
    assert!(matches!(error, SolveError::NotSymmetric { .. }), "{error}");
}
