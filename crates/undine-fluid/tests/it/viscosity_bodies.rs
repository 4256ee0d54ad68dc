//! Rigid bodies in a viscous liquid: both find their velocities together.

use crate::viscosity::{DENSITY, Lab};
use std::f64::consts::PI;
use undine_core::glam::DVec3;
use undine_fluid::pressure::{Afloat, Coverage};
use undine_fluid::viscosity::{Solved, Touched, diffuse_around};
use undine_geometry::{Collider, Motion, Pose, Shape, Solid, Twist};
use undine_linsolve::pressure::RigidTerm;

/// A body of a shape at a place, with a mass [kg] and one moment of inertia about all axes [kg m²].
struct Body {
    collider: Collider,
    afloat: Afloat,
    mass: f64,
    moment: f64,
}

impl Body {
    fn new(shape: Shape, at: DVec3, mass: f64, moment: f64, twist: Twist) -> Self {
        let motion = Motion::still(Pose::at(at)).unwrap();
        let inertia = [[moment, 0.0, 0.0], [0.0, moment, 0.0], [0.0, 0.0, moment]];
        let inverse_mass = RigidTerm::free(mass, inertia).unwrap();
        let afloat = Afloat { centre: at, twist, inverse_mass, coverage: Coverage::default() };
        Self { collider: Collider::solid(shape).with_motion(motion), afloat, mass, moment }
    }

    fn ball(radius: f64, at: DVec3, density: f64, twist: Twist) -> Self {
        let mass = 4.0 / 3.0 * PI * radius.powi(3) * density;
        let shape = Shape::sphere(radius).unwrap();
        Self::new(shape, at, mass, 0.4 * mass * radius * radius, twist)
    }
}

/// A step of viscosity [s] with bodies in the liquid.
fn step(lab: &Lab, bodies: &mut [Body], step: f64) -> Solved {
    let volume = &lab.world.volumes[lab.field.volume];
    let domain = &lab.world.domains[lab.domain];
    let steps: Vec<_> =
        bodies.iter().map(|body| body.collider.during(0.0, step).unwrap()).collect();
    let touched = Touched::find(domain, volume, &steps);
    let mut afloat: Vec<Afloat> = bodies.iter().map(|body| body.afloat.clone()).collect();
    let around = (&touched, &mut afloat[..]);
    let solved = diffuse_around(domain, volume, &lab.field, &lab.settings, around, step);
    drop(steps);
    bodies.iter_mut().zip(afloat).for_each(|(body, afloat)| body.afloat = afloat);
    let solved = solved.unwrap().unwrap();
    assert!(solved.report.converged(), "{}", solved.report);
    solved
}

/// The momentum of liquid and bodies, and their angular momentum about the origin: of the liquid in the cubes around faces.
fn momenta(
    lab: &Lab,
    bodies: &[Body],
    surface: impl Fn(DVec3) -> f64,
    wall: impl Fn(DVec3) -> f64,
) -> [DVec3; 2] {
    let mut sums = [DVec3::ZERO; 2];
    for axis in 0..3 {
        for (at, value) in lab.faces(axis) {
            let half = 0.5 * lab.voxel * DVec3::AXES[axis];
            let mean =
                |of: &dyn Fn(DVec3) -> f64| 0.5 * (of(at - half) + of(at + half)) / lab.voxel;
            let (liquid, open) = (0.5 - mean(&surface), mean(&wall));
            if open > 0.01 && liquid > 1e-4 {
                // All liquid up to the surface of a body is that of the faces beside it.
                let peak = 0.5 + 0.125_f64.sqrt();
                let room =
                    if open < peak { 0.5 + open } else { (0.5 + 2.0 * peak - open).max(1.0) };
                let part = liquid.min(1.0) * room;
                let momentum = DENSITY * lab.voxel.powi(3) * part * value * DVec3::AXES[axis];
                sums[0] += momentum;
                sums[1] += at.cross(momentum);
            }
        }
    }
    for body in bodies {
        let Twist { linear, angular } = body.afloat.twist;
        sums[0] += body.mass * linear;
        sums[1] += body.afloat.centre.cross(body.mass * linear) + body.moment * angular;
    }
    sums
}

/// A velocity without any order [m/s].
fn noise(at: DVec3) -> DVec3 {
    let wave =
        |seed: f64| (12.9898 * at.x + 78.233 * at.y + 37.719 * at.z + seed).sin() * 43_758.545;
    DVec3::new(wave(1.0).fract(), wave(2.0).fract(), wave(3.0).fract())
}

/// Two bodies so near to each other that they share samples, and a third one, in a blob that nothing holds.
#[test]
fn momentum_is_only_exchanged_between_a_viscous_liquid_and_its_bodies() {
    let voxel = 0.05;
    let surface = |at: DVec3| (at - DVec3::new(0.02, -0.01, 0.03)).length() - 0.52;
    let mut lab = Lab::new(DVec3::splat(-0.7), DVec3::splat(0.7), voxel, true);
    lab.settings.tolerance = 1e-5;
    let cuboid = Shape::cuboid(DVec3::new(0.11, 0.06, 0.09)).unwrap();
    let twist = |n: f64| Twist {
        linear: DVec3::new(0.5, -0.2 * n, 0.1),
        angular: DVec3::new(n, 2.0, -1.0),
    };
    let mut bodies = [
        Body::new(cuboid.clone(), DVec3::new(0.15, 0.11, 0.02), 5.0, 0.02, twist(1.0)),
        Body::new(cuboid.clone(), DVec3::new(0.14, -0.04, 0.0), 12.0, 0.05, twist(-2.0)),
        Body::ball(0.1, DVec3::new(-0.2, 0.01, 0.03), 300.0, twist(3.0)),
    ];
    let shapes = [cuboid.clone(), cuboid, Shape::sphere(0.1).unwrap()];
    let centres = bodies.each_ref().map(|body| body.afloat.centre);
    let wall = |at: DVec3| {
        let each = shapes.iter().zip(centres).map(|(shape, centre)| shape.distance(at - centre));
        each.fold(f64::INFINITY, f64::min).min(0.4)
    };
    lab.surface(surface);
    lab.walls(wall, |_| DVec3::ZERO);
    for viscosity in [0.1, 10.0, 1000.0, 1e5] {
        lab.settings.viscosity = viscosity;
        lab.velocity(noise);
        for (n, body) in bodies.iter_mut().enumerate() {
            body.afloat.twist = twist(n as f64 - 1.0);
        }
        let before = momenta(&lab, &bodies, surface, wall);
        let energy = |bodies: &[Body]| -> f64 {
            bodies.iter().map(|body| body.mass * body.afloat.twist.linear.length_squared()).sum()
        };
        let moving = energy(&bodies);
        let solved = step(&lab, &mut bodies, 0.01);
        let after = momenta(&lab, &bodies, surface, wall);
        let off = [0, 1].map(|n: usize| (after[n] - before[n]).length() / before[n].length());
        println!("{viscosity} Pa s: {off:?}, {}", solved.report);
        assert!(off[0] < 1e-6 && off[1] < 1e-6, "{viscosity}: {off:?}");
        assert!(energy(&bodies) < moving);
    }
    // What is as stiff as this soon moves as one.
    for _ in 0..3 {
        step(&lab, &mut bodies, 0.01);
    }
    let rest = bodies[0].afloat.twist;
    for body in &bodies {
        let there = rest.at(body.afloat.centre - centres[0]);
        assert!((body.afloat.twist.linear - there).length() < 1e-2 * there.length());
        assert!((body.afloat.twist.angular - rest.angular).length() < 1e-2);
    }
}

#[test]
fn a_body_that_moves_with_all_of_its_liquid_is_not_slowed() {
    let voxel = 0.05;
    let mut lab = Lab::new(DVec3::splat(-0.6), DVec3::splat(0.6), voxel, true);
    lab.settings.viscosity = 1e4;
    lab.surface(|at| at.length() - 0.45);
    let centre = DVec3::new(0.03, 0.05, -0.02);
    lab.walls(|at| ((at - centre).length() - 0.17).min(0.4), |_| DVec3::ZERO);
    let all = Twist { linear: DVec3::new(1.0, 2.0, 3.0), angular: DVec3::new(1.0, -2.0, 0.5) };
    lab.velocity(|at| all.at(at));
    let own = Twist { linear: all.at(centre), angular: all.angular };
    let mut bodies = [Body::ball(0.17, centre, 2000.0, own)];
    step(&lab, &mut bodies, 0.1);
    let found = bodies[0].afloat.twist;
    assert!((found.linear - own.linear).length() < 2e-6, "{found:?}");
    assert!((found.angular - own.angular).length() < 2e-6, "{found:?}");
}

/// How fast a ball of radius 1 and of the liquid's density spins that stood in a round tank of radius 3 with liquid at rest, at multiples of a
/// time in units of a²/ν: ∂ω/∂t = ν(ω'' + 4ω'/r), and 8/15 πρa⁵ dω/dt = 8/3 πμa⁴ω' at r = a.
fn radial(step: f64, count: usize) -> Vec<f64> {
    const CELLS: usize = 800;
    const SMALLER: usize = 40;
    let h = 2.0 / CELLS as f64;
    let dt = step / SMALLER as f64;
    // Conservative in r⁴ω: the ball is the first cell; what it holds is a⁵/5.
    let radius = |n: f64| 1.0 + n * h;
    let held: Vec<f64> = (0..CELLS)
        .map(|n| (radius(n as f64 + 1.0).powi(5) - radius(n as f64).powi(5)) / 5.0)
        .collect();
    let mut inertia = vec![0.2];
    inertia.extend(held);
    let flux: Vec<f64> = (0..=CELLS)
        .map(|n| match n {
            0 => 2.0 / h,
            n if n == CELLS => 2.0 / h * 81.0,
            n => radius(n as f64).powi(4) / h,
        })
        .collect();
    let mut w = vec![0.0; CELLS + 1];
    w[0] = 1.0;
    let mut all = vec![1.0];
    for _ in 0..count {
        for _ in 0..SMALLER {
            // Thomas: (I + Δt L) w = I w.
            let (mut c, mut d) = (vec![0.0; CELLS + 1], vec![0.0; CELLS + 1]);
            for n in 0..=CELLS {
                let below = if n == 0 { 0.0 } else { dt * flux[n - 1] };
                let above = dt * flux[n];
                let (c0, d0) = if n == 0 { (0.0, 0.0) } else { (c[n - 1], d[n - 1]) };
                let pivot = inertia[n] + below + above - below * c0;
                c[n] = above / pivot;
                d[n] = (inertia[n] * w[n] + below * d0) / pivot;
            }
            let mut next = 0.0;
            for n in (0..=CELLS).rev() {
                next = d[n] + if n == CELLS { 0.0 } else { c[n] * next };
                w[n] = next;
            }
        }
        all.push(w[0]);
    }
    all
}

/// The spin of such a ball after steps of 0.0025 a²/ν, over that of the start; `cells` voxels make its radius.
fn spinning(cells: f64, count: usize) -> Vec<f64> {
    let (a, voxel) = (1.0, 1.0 / cells);
    let room = 3.0 + 2.0 * voxel;
    let mut lab = Lab::new(DVec3::splat(-room), DVec3::splat(room), voxel, false);
    lab.settings.viscosity = DENSITY;
    lab.settings.tolerance = 1e-5;
    let centre = voxel * DVec3::new(0.3, 0.1, -0.2);
    let wall = |at: DVec3| (3.0 - at.length()).min((at - centre).length() - a);
    lab.walls(wall, |_| DVec3::ZERO);
    lab.velocity(|_| DVec3::ZERO);
    let spin = Twist { linear: DVec3::ZERO, angular: DVec3::new(0.0, 1.0, 0.0) };
    let mut bodies = [Body::ball(a, centre, DENSITY, spin)];
    let mut all = vec![1.0];
    for _ in 0..count {
        step(&lab, &mut bodies, 0.0025);
        all.push(bodies[0].afloat.twist.angular.y);
    }
    all
}

/// The first steps of 0.0025 a²/ν have layers of a twentieth of a, which no voxel here resolves; what that costs falls with voxels, and
/// with time.
#[test]
fn a_spinning_ball_slows_as_the_radial_solution_does() {
    let count = 12;
    let exact = radial(0.0025, count);
    let errors = [3.0, 4.0, 6.0].map(|cells| {
        let found = spinning(cells, count);
        let errors: Vec<f64> = found.iter().zip(&exact).map(|(a, b)| a / b - 1.0).collect();
        println!("{cells} voxels: {errors:.4?}");
        errors
    });
    let ends = errors.map(|errors| errors[count].abs());
    assert!(ends[0] > ends[1] && ends[1] > ends[2], "{ends:?}");
    assert!(ends[2] < 0.1, "{ends:?}");
}
