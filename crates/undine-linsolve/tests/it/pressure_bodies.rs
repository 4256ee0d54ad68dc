//! Rigid bodies in pressure systems: against matrices, against the added mass of a sphere, and for bodies of any weight.

use crate::dense::smallest_scaled_pivot;
use crate::systems::{noise, same_on_any_threads};
use crate::tank::{Tank, waves};
use crate::threads::on_processes;
use std::f64::consts::PI;
use undine_core::Bucket;
use undine_core::glam::{DVec3, IVec3};
use undine_linsolve::krylov::cg;
use undine_linsolve::pressure::{
    Coupled, LIGHT, Motion, Open, PressureInput, PressureSystem, RigidTerm, place,
};
use undine_linsolve::{Operator, Preconditioner, Stop};

/// A ball in a tank whose cells and liquid's density measure 1.
#[derive(Debug, Clone, Copy)]
struct Ball {
    centre: DVec3,
    radius: f64,
    density: f64,
}

impl Ball {
    fn new(centre: [f64; 3], radius: f64, density: f64) -> Self {
        Self { centre: DVec3::from_array(centre), radius, density }
    }

    /// How much of a face is in the ball.
    fn cover(&self, face: DVec3) -> f64 {
        (0.5 + self.radius - (face - self.centre).length()).clamp(0.0, 1.0)
    }

    fn mass(&self) -> f64 {
        4.0 / 3.0 * PI * self.radius.powi(3) * self.density
    }

    fn inverse_mass(&self) -> [Motion; 6] {
        let inertia = 0.4 * self.mass() * self.radius * self.radius;
        let mut matrix = [[0.0; 3]; 3];
        (0..3).for_each(|axis| matrix[axis][axis] = inertia);
        RigidTerm::free(self.mass(), matrix).unwrap()
    }

    fn term(&self, system: &PressureSystem, faces: &[Face]) -> RigidTerm {
        RigidTerm {
            cells: cells(system, faces, self.centre, |_, at| self.cover(at)),
            inverse_mass: self.inverse_mass(),
            scale: 1.0,
        }
    }
}

/// An inner face of a tank: axis, centre, and the cells below and above.
type Face = (usize, DVec3, [IVec3; 2]);

/// The inner faces of a box of cells.
fn faces(size: i32) -> Vec<Face> {
    let mut faces = Vec::new();
    for n in 0..size.pow(3) {
        let above = IVec3::new(n / size / size, n / size % size, n % size);
        for axis in (0..3).filter(|&axis| above[axis] > 0) {
            let centre = above.as_dvec3() + 0.5 - 0.5 * DVec3::AXES[axis];
            faces.push((axis, centre, [above - IVec3::AXES[axis], above]));
        }
    }
    faces
}

/// The entry of a cell of this process that has an equation.
fn entry(system: &PressureSystem, cell: IVec3) -> Option<u32> {
    let bucket: IVec3 = cell >> 3_i32;
    let topology = system.topology();
    let slot = topology.slot(Bucket::new(bucket.x, bucket.y, bucket.z))?;
    if !topology.level(0).contains(&slot) {
        return None;
    }
    let at = cell & 7_i32;
    let voxel = at.x << 6 | at.y << 3 | at.z;
    let entry = slot as usize * 512 + place(voxel as usize);
    system.has_equation(entry).then_some(entry as u32)
}

/// J of a body: the cell below a covered face pushes along the axis, the one above against it.
fn cells(
    system: &PressureSystem,
    faces: &[Face],
    centre: DVec3,
    cover: impl Fn(usize, DVec3) -> f64,
) -> Vec<(u32, Motion)> {
    let mut cells = Vec::new();
    for &(axis, at, sides) in faces {
        let covered = cover(axis, at);
        if covered == 0.0 {
            continue;
        }
        for (cell, sign) in sides.into_iter().zip([1.0, -1.0]) {
            let Some(entry) = entry(system, cell) else { continue };
            let force = sign * covered * DVec3::AXES[axis];
            let torque = (at - centre).cross(force);
            cells.push((entry, [force.x, force.y, force.z, torque.x, torque.y, torque.z]));
        }
    }
    cells
}

/// A tank whose faces balls cover.
fn input<'a>(tank: &'a Tank, size: i32, balls: &[Ball]) -> PressureInput<'a> {
    tank.fill_mac(tank.open, |axis, at| {
        // Walls all around.
        if at[axis] <= 0.0 || at[axis] >= f64::from(size) {
            return 0.0;
        }
        balls.iter().fold(1.0, |open, ball| f64::min(open, 1.0 - ball.cover(at)))
    });
    PressureInput { open: Open::Channel(tank.open), ..tank.plain() }
}

fn some_vector(system: &PressureSystem, seed: u64) -> Vec<f64> {
    let rows = system.rows().local();
    let numbers = noise(rows, seed);
    (0..rows).map(|n| if system.has_equation(n) { numbers[n] } else { 0.0 }).collect()
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// ‖b − K·x‖ / ‖b‖.
fn residual(coupled: &Coupled<'_>, b: &[f64], x: &[f64]) -> f64 {
    let mut kx = vec![0.0; b.len()];
    coupled.apply(&mut x.to_vec(), &mut kx).unwrap();
    let square: f64 = b.iter().zip(&kx).map(|(b, kx)| (b - kx).powi(2)).sum();
    (square / dot(b, b)).sqrt()
}

#[test]
fn system_and_matrix_with_bodies_give_the_same_product() {
    let balls = [Ball::new([7.0, 8.3, 5.0], 3.2, 0.3), Ball::new([14.0, 9.0, 6.0], 3.0, 4.0)];
    let tank = Tank::new(0, 3, waves(24.0));
    let system = PressureSystem::new(&tank.domain, &input(&tank, 24, &balls)).unwrap();
    let faces = faces(24);
    let terms = balls.iter().map(|ball| ball.term(&system, &faces)).collect();
    let coupled = Coupled::new(&system, terms).unwrap();
    let matrix = coupled.to_csr().unwrap();
    matrix.matrix.csr().check_symmetric(1e-12).unwrap();

    let mut x = some_vector(&system, 1);
    let mut y = vec![0.0; x.len()];
    let product = coupled.apply_dot(&mut x, &mut y).unwrap();
    let mut gathered = matrix.gather(&x);
    let mut wanted = vec![0.0; gathered.len()];
    matrix.matrix.apply(&mut gathered, &mut wanted).unwrap();
    let far = matrix.gather(&y).iter().zip(&wanted).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    assert!(far < 1e-12, "{far}");
    assert!((product - dot(&gathered, &wanted)).abs() < 1e-10 * product);

    // The plain product lacks the bodies, which is more than rounding.
    let mut plain = vec![0.0; x.len()];
    system.apply(&mut x, &mut plain).unwrap();
    assert!(y.iter().zip(&plain).any(|(y, plain)| (y - plain).abs() > 1e-3));
}

#[test]
fn a_matrix_with_a_body_is_positive_definite() {
    let ball = Ball::new([4.1, 3.9, 3.0], 2.0, 0.01);
    let tank = Tank::new(0, 1, |at| at.z - 6.0);
    let system = PressureSystem::new(&tank.domain, &input(&tank, 8, &[ball])).unwrap();
    let coupled = Coupled::new(&system, vec![ball.term(&system, &faces(8))]).unwrap();
    let matrix = coupled.to_csr().unwrap();
    let smallest = smallest_scaled_pivot(matrix.matrix.csr());
    assert!(smallest > 1e-3, "{smallest}");
}

#[test]
fn iterations_do_not_depend_on_how_heavy_bodies_are() {
    let faces = faces(32);
    let tank = Tank::new(0, 4, waves(32.0));
    let at = |density: f64| {
        let balls = [
            Ball::new([8.0, 9.3, 6.0], 4.2, density),
            Ball::new([22.0, 9.0, 8.0], 5.0, density),
            Ball::new([16.0, 23.0, 10.0], 5.5, density),
        ];
        let system = PressureSystem::new(&tank.domain, &input(&tank, 32, &balls)).unwrap();
        let terms = balls.iter().map(|ball| ball.term(&system, &faces)).collect();
        let coupled = Coupled::new(&system, terms).unwrap();
        let b = some_vector(&system, 2);
        let stop = Stop::relative(1e-6);
        let mut x = vec![0.0; b.len()];
        let report = coupled.solve(&b, &mut x, &stop).unwrap();
        assert!(report.converged(), "{report}");
        assert!(residual(&coupled, &b, &x) < 1.01e-6);
        let iterations = |preconditioner: &mut dyn Preconditioner| {
            let report = cg(&coupled, preconditioner, &b, &mut vec![0.0; b.len()], &stop).unwrap();
            assert!(report.converged(), "{report}");
            report.iterations
        };
        let mut all = coupled.preconditioner(0.0).unwrap();
        let mut some = coupled.preconditioner(LIGHT).unwrap();
        let corrected = iterations(&mut all);
        let alone = iterations(&mut system.multigrid());
        let without = system.solve(&b, &mut vec![0.0; b.len()], &stop).unwrap().iterations;
        println!(
            "density {density:e}: {corrected} iterations with {} corrections, {} with {}, {alone} with none; \
             {without} without bodies",
            all.corrected(),
            iterations(&mut some),
            some.corrected(),
        );
        assert!(report.iterations + some.corrected() <= alone + 1, "corrections pay");
        (corrected, report.iterations, without)
    };
    for density in [1e-3, 1e-2, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 10.0, 1e3] {
        let (corrected, solved, without) = at(density);
        assert!(corrected <= without + 1, "{corrected} and {without} at {density}");
        assert!(solved <= 3 * without, "{solved} and {without} at {density}");
    }
    // Nearly nothing, as a bubble would be: single precision shows.
    let (corrected, ..) = at(1e-6);
    assert!(corrected <= 15, "{corrected}");
}

#[test]
fn the_preconditioner_is_symmetric_and_positive() {
    let faces = faces(24);
    let tank = Tank::new(0, 3, waves(24.0));
    for density in [1e-3, 0.5] {
        let ball = Ball::new([11.0, 12.3, 6.0], 4.2, density);
        let system = PressureSystem::new(&tank.domain, &input(&tank, 24, &[ball])).unwrap();
        let coupled = Coupled::new(&system, vec![ball.term(&system, &faces)]).unwrap();
        let mut preconditioner = coupled.preconditioner(0.0).unwrap();
        assert!(preconditioner.corrected() >= 3);
        for seed in 0..4 {
            let (u, v) = (some_vector(&system, seed), some_vector(&system, seed + 9));
            let (mut pu, mut pv) = (vec![0.0; u.len()], vec![0.0; u.len()]);
            preconditioner.apply(&u, &mut pu).unwrap();
            preconditioner.apply(&v, &mut pv).unwrap();
            let size = (dot(&u, &pu) * dot(&v, &pv)).sqrt();
            assert!(dot(&u, &pu) > 0.0);
            assert!((dot(&v, &pu) - dot(&u, &pv)).abs() < 1e-5 * size);
        }
    }
}

/// The velocities' divergence is what the pressure must undo: of the liquid where faces are open, of the body where it covers
/// them.
///
/// A ball that falls in a liquid at rest moves half of the liquid that it displaces with it (Lamb, *Hydrodynamics*, §92): its
/// acceleration is g·(ρ_s − ρ_f)/(ρ_s + ρ_f/2). Walls at a distance L raise the added mass by about (R/L)³, the grid blurs
/// the ball by a fraction of a cell: together within 8 %.
#[test]
fn a_ball_accelerates_as_its_added_mass_says() {
    let size = 40;
    let faces = faces(size);
    let tank = Tank::new(0, 5, |_| -1.0);
    for density in [1e-3, 0.3, 1.0, 8.0] {
        let ball = Ball::new([20.0, 20.0, 20.0], 6.0, density);
        let system = PressureSystem::new(&tank.domain, &input(&tank, size, &[ball])).unwrap();
        let term = ball.term(&system, &faces);
        let gravity = -1.0;
        let mut b = vec![0.0; system.rows().local()];
        for &(_, at, sides) in faces.iter().filter(|&&(axis, ..)| axis == 2) {
            for (cell, sign) in sides.into_iter().zip([1.0, -1.0]) {
                if let Some(entry) = entry(&system, cell) {
                    b[entry as usize] -= sign * (1.0 - ball.cover(at)) * gravity;
                }
            }
        }
        for &(entry, forces) in &term.cells {
            b[entry as usize] -= forces[2] * gravity;
        }
        let coupled = Coupled::new(&system, vec![term]).unwrap();
        assert_eq!((system.closed_regions(), coupled.null_vectors()), (1, 1));
        let mut p = vec![0.0; b.len()];
        let report = coupled.solve(&b, &mut p, &Stop::relative(1e-9)).unwrap();
        assert!(report.converged() && report.iterations < 20, "{report}");
        let acceleration = coupled.accelerations(&p).unwrap()[0];
        let found = gravity + acceleration[2];
        let wanted = gravity * (density - 1.0) / (density + 0.5);
        assert!(
            (found - wanted).abs() < 0.08 * wanted.abs() + 0.02,
            "{density}: {found} for {wanted}"
        );
        assert!(acceleration[..2].iter().chain(&acceleration[3..]).all(|a| a.abs() < 1e-6));
    }
}

/// Pistons: slabs across a closed box, with liquid below and, perhaps, above.
fn with_piston(above: bool, density: f64, check: impl Fn(&PressureSystem, &Coupled<'_>)) {
    let (low, high) = (7.0, 10.0);
    let tank = Tank::new(0, 2, |at| if at.z < low || (above && at.z > high) { -1.0 } else { 1.0 });
    let covered = |axis: usize, at: DVec3| f64::from(axis == 2 && (at.z == low || at.z == high));
    tank.fill_mac(tank.open, |axis, at| {
        let wall = at[axis] <= 0.0 || at[axis] >= 16.0 || (at.z > low && at.z < high);
        if wall { 0.0 } else { 1.0 - covered(axis, at) }
    });
    let input = PressureInput { open: Open::Channel(tank.open), ..tank.plain() };
    let system = PressureSystem::new(&tank.domain, &input).unwrap();
    // It can slide along z, and nothing else.
    let mut inverse_mass = [[0.0; 6]; 6];
    inverse_mass[2][2] = 1.0 / (density * 16.0 * 16.0 * (high - low));
    let centre = DVec3::new(8.0, 8.0, 8.5);
    let cells = cells(&system, &faces(16), centre, covered);
    let term = RigidTerm { cells, inverse_mass, scale: 1.0 };
    check(&system, &Coupled::new(&system, vec![term]).unwrap());
}

#[test]
fn a_piston_holds_the_pressure_of_the_region_that_it_closes() {
    for density in [1e-3, 1.0, 1e3] {
        with_piston(false, density, |system, coupled| {
            assert_eq!((system.closed_regions(), coupled.null_vectors()), (1, 0));
            // Any right-hand side can be reached: liquid that comes in moves the piston.
            let b = some_vector(system, 3);
            let mut p = vec![0.0; b.len()];
            let report = coupled.solve(&b, &mut p, &Stop::relative(1e-9)).unwrap();
            assert!(report.converged() && report.iterations < 20, "{density}: {report}");
            assert!(residual(coupled, &b, &p) < 1.1e-9);
            // What goes in per time must come out under the piston: v·A = Σ b.
            let velocity = coupled.accelerations(&p).unwrap()[0][2];
            let inflow: f64 = b.iter().sum();
            assert!((velocity * 256.0 - inflow).abs() < 1e-6 * inflow.abs(), "{velocity} {inflow}");
        });
    }
}

#[test]
fn two_regions_with_a_piston_between_keep_the_pressures_that_balance() {
    for density in [1e-3, 1.0, 1e3] {
        with_piston(true, density, |system, coupled| {
            assert_eq!((system.closed_regions(), coupled.null_vectors()), (2, 1));
            let b = some_vector(system, 4);
            let mut p = vec![0.0; b.len()];
            let report = coupled.solve(&b, &mut p, &Stop::relative(1e-9)).unwrap();
            assert!(report.converged() && report.iterations < 20, "{density}: {report}");
            assert!(report.notes.iter().any(|note| note.contains("1 null vectors")), "{report}");
            // What is left is the same number in all cells: the two regions can only trade volume.
            let mut kp = vec![0.0; b.len()];
            coupled.apply(&mut p, &mut kp).unwrap();
            let left: Vec<f64> =
                (0..b.len()).filter(|&n| system.has_equation(n)).map(|n| b[n] - kp[n]).collect();
            let mean = left.iter().sum::<f64>() / left.len() as f64;
            assert!(mean.abs() > 1e-6);
            assert!(left.iter().all(|left| (left - mean).abs() < 1e-6));
        });
    }
}

#[test]
fn any_number_of_threads_gives_the_same_bits_with_bodies() {
    let faces = faces(40);
    let balls = [Ball::new([12.0, 20.0, 10.0], 7.0, 0.1), Ball::new([28.0, 20.0, 9.0], 6.0, 0.2)];
    let tank = Tank::new(0, 5, waves(40.0));
    let input = input(&tank, 40, &balls);
    same_on_any_threads(|| {
        let system = PressureSystem::new(&tank.domain, &input).unwrap();
        let terms = balls.iter().map(|ball| ball.term(&system, &faces)).collect();
        let coupled = Coupled::new(&system, terms).unwrap();
        let b = some_vector(&system, 5);
        let mut p = vec![0.0; b.len()];
        assert!(coupled.solve(&b, &mut p, &Stop::default()).unwrap().converged());
        p
    });
}

#[test]
fn several_processes_find_the_same_pressure_with_bodies() {
    let faces = faces(24);
    let balls = [Ball::new([9.0, 12.0, 6.0], 4.0, 0.1), Ball::new([18.0, 12.0, 6.0], 3.0, 2.0)];
    let wall = |at: DVec3| 1.0 + (at.x * 0.7).sin() * (at.y * 0.9).cos() * (at.z * 0.4).sin();
    let mut found = Vec::new();
    for count in [1, 2, 3] {
        let results = on_processes(count, |processes| {
            let tank = Tank::shared(processes, 0, 3, waves(24.0));
            let system = PressureSystem::new(&tank.domain, &input(&tank, 24, &balls)).unwrap();
            let terms = balls.iter().map(|ball| ball.term(&system, &faces)).collect();
            let coupled = Coupled::new(&system, terms).unwrap();
            tank.fill(tank.diagonal, DVec3::splat(0.5), wall);
            let b = system.read(&tank.volume, tank.diagonal).unwrap();
            let mut p = vec![0.0; b.len()];
            let report = coupled.solve(&b, &mut p, &Stop::relative(1e-10)).unwrap();
            assert!(report.converged(), "{report}");
            let rows = coupled.to_csr().unwrap().matrix.rows().total();
            let square = system.rows().sum(dot(&p, &p)).unwrap();
            (report.iterations, rows, square, coupled.accelerations(&p).unwrap())
        });
        assert!(results.iter().all(|result| *result == results[0]), "all agree");
        found.push(results[0].clone());
    }
    let (iterations, rows, square, accelerations) = found[0].clone();
    for (others, other_rows, other_square, other_accelerations) in found {
        assert!(others <= iterations + 1 && other_rows == rows);
        assert!((other_square - square).abs() < 1e-8 * square);
        let pairs = accelerations.as_flattened().iter().zip(other_accelerations.as_flattened());
        assert!(pairs.into_iter().all(|(a, b)| (a - b).abs() < 1e-8));
    }
}

#[test]
fn bodies_that_cannot_be_are_refused() {
    let tank = Tank::new(0, 1, |at| at.z - 6.0);
    let system = PressureSystem::new(&tank.domain, &tank.plain()).unwrap();
    let entry = entry(&system, IVec3::new(1, 2, 3)).unwrap();
    let mut inverse_mass = [[0.0; 6]; 6];
    (0..6).for_each(|n| inverse_mass[n][n] = 1.0);
    let good = RigidTerm { cells: vec![(entry, [1.0; 6])], inverse_mass, scale: 1.0 };
    let message =
        |term: RigidTerm| Coupled::new(&system, vec![good.clone(), term]).unwrap_err().to_string();
    assert!(Coupled::new(&system, vec![good.clone()]).is_ok());
    let dry = place(7) as u32;
    let term = RigidTerm { cells: vec![(dry, [1.0; 6])], ..good.clone() };
    assert!(message(term).contains("a cell of body 1 is entry"));
    let term = RigidTerm { cells: vec![(4096, [1.0; 6])], ..good.clone() };
    assert!(message(term).contains("a cell of body 1 is entry 4096"));
    let term = RigidTerm { cells: vec![(entry, [f64::NAN; 6])], ..good.clone() };
    assert!(message(term).contains("the force of entry"));
    assert!(message(RigidTerm { scale: -1.0, ..good.clone() }).contains("scale of body 1 is -1"));
    let mut term = good.clone();
    term.inverse_mass[0][0] = -1.0;
    assert!(message(term).contains("inverse mass of body 1"));
    let mut term = good.clone();
    term.inverse_mass[0][1] = 0.5;
    assert!(message(term).contains("inverse mass of body 1"));
    assert!(RigidTerm::free(0.0, [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]).is_err());
    assert!(RigidTerm::free(1.0, [[1.0, 0.0, 0.0], [0.0, -1.0, 0.0], [0.0, 0.0, -1.0]]).is_err());
}
