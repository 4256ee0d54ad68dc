//! Pressures that may push but not pull: the system on Buckets against its matrix.

use crate::systems::{distance, noise};
use crate::tank::Tank;
use crate::threads::on_processes;
use std::sync::Arc;
use undine_core::glam::DVec3;
use undine_core::volume::VoxelShape;
use undine_core::{ChannelSpec, Processes, Single};
use undine_linsolve::amg::{Amg, Settings};
use undine_linsolve::gallery::{BoundedSystem, dam_break};
use undine_linsolve::lcp::{Bounds, Coloured, GaussSeidel, LcpReport, pgs, predictor_corrector};
use undine_linsolve::pressure::{PressureInput, PressureSystem, Surface};
use undine_linsolve::{Matrix, Operator, Preconditioner, Stop};

/// The dam break of the gallery as a tank: the same column of liquid, with its surface half a cell away.
struct Dam {
    tank: Tank,
    system: PressureSystem,
    b: Vec<f64>,
    lower: Vec<f64>,
    upper: Vec<f64>,
}

impl Dam {
    fn new(n: i32, bounded: &BoundedSystem) -> Self {
        Self::shared(Arc::new(Single), n, bounded)
    }

    fn shared(processes: Arc<dyn Processes>, n: i32, bounded: &BoundedSystem) -> Self {
        let size = f64::from(n);
        let (width, height) = (0.5 * size, 0.75 * size);
        let distance = move |at: DVec3| (at.x - width).max(at.y - height);
        let mut tank = Tank::shared(processes, 0, n / 8, distance);
        let spec = ChannelSpec::new("lower", f32::NEG_INFINITY);
        let lower = tank.volume.add_channel(&spec, VoxelShape::CELLS).unwrap();
        let row = |at: DVec3| {
            let cell = [at.x as usize, at.y as usize, at.z as usize];
            let inside = at.x < width && at.y < height;
            inside.then(|| (cell[0] * (3 * n as usize / 4) + cell[1]) * n as usize + cell[2])
        };
        let centre = DVec3::splat(0.5);
        tank.fill(lower, centre, |at| row(at).map_or(0.0, |row| bounded.lower[row]));
        tank.fill(tank.diagonal, centre, |at| row(at).map_or(0.0, |row| bounded.b[row]));
        let surface = Surface::Distance { distance: tank.distance, smallest: 0.01 };
        let input = PressureInput { surface, ..tank.plain() };
        let system = PressureSystem::new(&tank.domain, &input).unwrap();
        let b = system.read(&tank.volume, tank.diagonal).unwrap();
        let (lower, upper) = system.bounds(&tank.volume, Some(lower), None).unwrap();
        Self { tank, system, b, lower, upper }
    }

    fn solve(&self, stop: &Stop) -> (Vec<f64>, LcpReport) {
        let bounds = Bounds::new(self.system.rows(), &self.lower, &self.upper).unwrap();
        let mut x = vec![0.0; self.b.len()];
        let mut multigrid = self.system.multigrid();
        let system = &self.system;
        let report = predictor_corrector(system, &mut multigrid, &self.b, &bounds, &mut x, stop);
        (x, report.unwrap())
    }
}

#[test]
fn the_dam_break_on_buckets_is_that_of_its_matrix() {
    let n = 24;
    let bounded = dam_break(n as usize).unwrap();
    let dam = Dam::new(n, &bounded);
    let stop = Stop::relative(1e-9);
    let (x, report) = dam.solve(&stop);
    assert!(report.converged() && report.at_lower > 10, "{report}");

    let matrix = dam.system.to_csr().unwrap();
    let (b, lower, upper) =
        (matrix.gather(&dam.b), matrix.gather(&dam.lower), matrix.gather(&dam.upper));
    let system = Coloured::new(&matrix.matrix).unwrap();
    let bounds = Bounds::new(matrix.matrix.rows(), &lower, &upper).unwrap();
    let mut amg = Amg::new(&matrix.matrix, &Settings::default()).unwrap();
    let mut wanted = vec![0.0; b.len()];
    let other = predictor_corrector(&system, &mut amg, &b, &bounds, &mut wanted, &stop).unwrap();
    println!("multigrid: {report}\nSA-AMG: {other}");
    assert!(other.converged() && other.at_lower == report.at_lower, "{other}");
    let size = wanted.iter().fold(0.0_f64, |max, x| max.max(x.abs()));
    assert!(distance(&matrix.gather(&x), &wanted) < 1e-6 * size);
    assert!(report.krylov_iterations <= other.krylov_iterations, "{report}\n{other}");

    // And it is the gallery's, whose rows are in another order.
    let gallery = Matrix::single(bounded.matrix.clone()).unwrap();
    let coloured = Coloured::new(&gallery).unwrap();
    let bounds = Bounds::new(gallery.rows(), &bounded.lower, &bounded.upper).unwrap();
    let mut amg = Amg::new(&gallery, &Settings::default()).unwrap();
    let mut p = vec![0.0; bounded.b.len()];
    let third =
        predictor_corrector(&coloured, &mut amg, &bounded.b, &bounds, &mut p, &stop).unwrap();
    assert!(third.converged() && third.at_lower == report.at_lower, "{third}");
    let squares = |x: &[f64]| x.iter().map(|x| x * x).sum::<f64>();
    assert!((squares(&p) - squares(&x)).abs() < 1e-5 * squares(&p));
}

#[test]
fn sweeps_on_buckets_solve_each_row_within_its_bounds() {
    let bounded = dam_break(16).unwrap();
    let dam = Dam::new(16, &bounded);
    let bounds = Bounds::new(dam.system.rows(), &dam.lower, &dam.upper).unwrap();
    let mut x = vec![0.0; dam.b.len()];
    dam.system.sweep(&dam.b, &bounds, &mut x, 3).unwrap();
    // Black cells were solved last: each is on its bound or has no residual.
    let mut ax = vec![0.0; x.len()];
    dam.system.apply(&mut x.clone(), &mut ax).unwrap();
    let mut free = 0;
    for n in (0..x.len()).filter(|&n| dam.system.has_equation(n)) {
        assert!(x[n] >= dam.lower[n]);
        if n % 512 >= 256 && x[n] > dam.lower[n] {
            assert!((dam.b[n] - ax[n]).abs() < 1e-12, "{n}");
            free += 1;
        }
    }
    assert!(free > 100);
    assert!((0..x.len()).all(|n| dam.system.has_equation(n) || x[n] == 0.0));

    let matrix = dam.system.to_csr().unwrap();
    assert_eq!(matrix.gather(dam.system.diagonal()), matrix.matrix.csr().diagonal());
    assert!(dam.system.diagonal().iter().all(|&d| d > 0.0));

    // Sweeps alone get there in the end.
    let report = pgs(&dam.system, &dam.b, &bounds, &mut x, &Stop::relative(1e-6)).unwrap();
    assert!(report.converged(), "{report}");
    let (wanted, _) = dam.solve(&Stop::relative(1e-9));
    assert!(distance(&x, &wanted) < 1e-3);
}

#[test]
fn a_cycle_with_held_cells_leaves_them_at_zero_and_stays_symmetric() {
    let bounded = dam_break(24).unwrap();
    let dam = Dam::new(24, &bounded);
    let rows = dam.b.len();
    let free: Vec<bool> =
        dam.lower.iter().zip(noise(rows, 3)).map(|(l, n)| *l < 0.0 || n > 0.0).collect();
    let some = |seed: u64| -> Vec<f64> {
        let value = |(n, value): (usize, f64)| {
            if free[n] && dam.system.has_equation(n) { value } else { 0.0 }
        };
        noise(rows, seed).into_iter().enumerate().map(value).collect()
    };
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let (u, v) = (some(1), some(2));
    let [mut mu, mut mv, mut all] = [0; 3].map(|_| vec![0.0; rows]);
    let mut multigrid = dam.system.multigrid();
    multigrid.apply(&u, &mut all).unwrap();
    multigrid.restrict(Some(&free)).unwrap();
    multigrid.apply(&u, &mut mu).unwrap();
    multigrid.apply(&v, &mut mv).unwrap();
    assert!((0..rows).all(|n| free[n] || mu[n] == 0.0));
    let size = (dot(&u, &mu) * dot(&v, &mv)).sqrt();
    assert!(dot(&u, &mu) > 0.0 && (dot(&v, &mu) - dot(&u, &mv)).abs() < 1e-5 * size);

    // All are free again.
    multigrid.restrict(None).unwrap();
    multigrid.apply(&u, &mut mv).unwrap();
    assert!(mv == all && mv != mu);
    assert!(multigrid.restrict(Some(&free[1..])).is_err());
}

#[test]
fn any_number_of_threads_gives_the_same_bits_within_bounds() {
    let bounded = dam_break(40).unwrap();
    let dam = Dam::new(40, &bounded);
    let on = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let (x, report) = pool.install(|| dam.solve(&Stop::default()));
        assert!(report.converged(), "{report}");
        x
    };
    let one = on(1);
    assert!([2, 3, 7].into_iter().all(|threads| on(threads) == one));
}

#[test]
fn several_processes_find_the_same_bounded_pressure() {
    let bounded = dam_break(24).unwrap();
    let squares = |count: usize| {
        on_processes(count, |processes| {
            let dam = Dam::shared(processes, 24, &bounded);
            let (x, report) = dam.solve(&Stop::relative(1e-9));
            assert!(report.converged(), "{report}");
            let square = dam.system.rows().sum(x.iter().map(|x| x * x).sum()).unwrap();
            drop(dam.tank);
            (square, report.at_lower)
        })[0]
    };
    let (one, held) = squares(1);
    for count in [2, 3] {
        let (square, others) = squares(count);
        assert!((square - one).abs() < 1e-7 * one && others == held, "{square} {one}");
    }
}
