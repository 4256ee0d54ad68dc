//! Viscosity against the flows that have formulas.

use std::f64::consts::PI;
use std::sync::Arc;
use undine_core::glam::DVec3;
use undine_core::volume::{MacHandle, VoxelShape};
use undine_core::{
    Accessor, ChannelSpec, DiscreteVolume, Frame, GridDomain, Handle, MemoryBudget, Partition,
    Processes, Single,
};
use undine_fluid::field::{Fluid, add_channels};
use undine_fluid::viscosity::{Settings, Solved, diffuse};
use undine_sim::offers::FluidField;
use undine_sim::{Id, World};

#[path = "../../../undine-linsolve/tests/it/threads.rs"]
mod threads;

pub const DENSITY: f64 = 1000.0;

/// A fluid whose channels are given by formulas.
pub struct Lab {
    pub world: World,
    pub domain: Id<GridDomain>,
    pub field: FluidField,
    pub voxel: f64,
    pub settings: Settings,
}

impl Lab {
    /// Between two corners [m].
    pub fn new(low: DVec3, high: DVec3, voxel: f64, has_surface: bool) -> Self {
        Self::shared(Arc::new(Single), low, high, voxel, has_surface)
    }

    /// The same, cut evenly among processes.
    fn shared(
        processes: Arc<dyn Processes>,
        low: DVec3,
        high: DVec3,
        voxel: f64,
        has_surface: bool,
    ) -> Self {
        let mut world = World::new(MemoryBudget::unlimited());
        let frame = Frame::new(DVec3::ZERO, voxel).unwrap();
        let even = Partition::even(frame, processes.count());
        let mut grid = GridDomain::distributed("fluid", frame, processes, Arc::new(even));
        grid.set_buckets(&grid.buckets_in_box(low, high, 0).unwrap()).unwrap();
        grid.repartition(Arc::new(grid.balance(|_| 1.0).unwrap())).unwrap();
        let id = world.volumes.add(DiscreteVolume::new("fluid", &grid));
        let domain = world.domains.add(grid);
        let fluid = Fluid { density: DENSITY as f32, has_surface, particles: None };
        let field = add_channels(&mut world.volumes[id], id, voxel, fluid).unwrap();
        let settings = Settings { viscosity: 1.0, by_cell: None, sticks: true, tolerance: 1e-9 };
        Self { world, domain, field, voxel, settings }
    }

    /// Visits all voxels of a channel with their middles, or those of their lower faces [m].
    fn set(&self, handle: Handle<f32>, axis: Option<usize>, value: impl Fn(DVec3) -> f64 + Sync) {
        let volume = &self.world.volumes[self.field.volume];
        let domain = &self.world.domains[self.domain];
        let middle = DVec3::splat(0.5) - axis.map_or(DVec3::ZERO, |axis| 0.5 * DVec3::AXES[axis]);
        Accessor::new("set", domain)
            .over(volume.topology())
            .run(volume.write(handle), |here, values| {
                let corner = domain.frame().corner(here.bucket);
                for (n, to) in values.iter_mut().enumerate() {
                    let cell = DVec3::new((n >> 6) as f64, (n >> 3 & 7) as f64, (n & 7) as f64);
                    *to = value(corner + (cell + middle) * self.voxel) as f32;
                }
            })
            .unwrap();
    }

    fn set_mac(&self, mac: MacHandle, value: impl Fn(DVec3) -> DVec3 + Sync) {
        for (axis, face) in mac.faces.into_iter().enumerate() {
            self.set(face, Some(axis), |at| value(at)[axis]);
        }
    }

    pub fn velocity(&self, value: impl Fn(DVec3) -> DVec3 + Sync) {
        self.set_mac(self.field.velocity, value);
    }

    pub fn surface(&self, distance: impl Fn(DVec3) -> f64 + Sync) {
        self.set(self.field.distance.unwrap(), None, distance);
    }

    /// Solids by their distance, negative inside, and how they move. Every other cell is fluid.
    pub fn walls(
        &self,
        distance: impl Fn(DVec3) -> f64 + Sync,
        velocity: impl Fn(DVec3) -> DVec3 + Sync,
    ) {
        self.set(self.field.walls.distance, None, &distance);
        self.set_mac(self.field.walls.velocity, velocity);
        let volume = &self.world.volumes[self.field.volume];
        let domain = &self.world.domains[self.domain];
        let kernel = (volume.own(self.field.walls.distance), volume.write(self.field.cells.words));
        Accessor::new("set", domain)
            .over(volume.topology())
            .run(kernel, |_, (distance, words)| {
                for (word, distance) in words.iter_mut().zip(distance.chunks(64)) {
                    let bits = distance.iter().zip(0..).map(|(d, n)| u64::from(*d > 0.0) << n);
                    *word = bits.fold(0, |word, bit| word | bit);
                }
            })
            .unwrap();
    }

    /// A step of viscosity [s].
    fn step(&self, step: f64) -> Option<Solved> {
        let volume = &self.world.volumes[self.field.volume];
        let domain = &self.world.domains[self.domain];
        let solved = diffuse(domain, volume, &self.field, &self.settings, step).unwrap();
        if let Some(solved) = &solved {
            assert!(solved.report.converged(), "{}", solved.report);
        }
        solved
    }

    /// All faces of an axis: middle [m] and velocity [m/s].
    pub fn faces(&self, axis: usize) -> Vec<(DVec3, f64)> {
        let volume = &self.world.volumes[self.field.volume];
        let column = volume.column(self.field.velocity.faces[axis]).unwrap();
        let middle = DVec3::splat(0.5) - 0.5 * DVec3::AXES[axis];
        let mut all = Vec::new();
        for slot in 0..volume.topology().local() as u32 {
            let corner =
                self.world.domains[self.domain].frame().corner(volume.topology().bucket(slot));
            for (n, value) in column.chunk(slot).iter().enumerate() {
                let cell = DVec3::new((n >> 6) as f64, (n >> 3 & 7) as f64, (n & 7) as f64);
                all.push((corner + (cell + middle) * self.voxel, f64::from(*value)));
            }
        }
        all
    }

    /// The largest difference to a velocity, over faces in some region [m/s].
    fn error(&self, exact: impl Fn(DVec3) -> DVec3, region: impl Fn(DVec3) -> bool) -> f64 {
        let mut largest = 0.0_f64;
        let mut count = 0;
        for axis in 0..3 {
            for (at, value) in self.faces(axis).into_iter().filter(|(at, _)| region(*at)) {
                largest = largest.max((value - exact(at)[axis]).abs());
                count += 1;
            }
        }
        assert!(count > 20, "the region has faces");
        largest
    }

    /// Sums over the faces of the liquid, of the mass in their cubes [kg] and the velocity along an axis [m/s].
    fn sum(
        &self,
        surface: impl Fn(DVec3) -> f64,
        term: impl Fn(DVec3, usize, f64, f64) -> f64,
    ) -> f64 {
        let mut sum = 0.0;
        for axis in 0..3 {
            for (at, value) in self.faces(axis) {
                let half = 0.5 * self.voxel * DVec3::AXES[axis];
                let distance = 0.5 * (surface(at - half) + surface(at + half));
                let part = (0.5 - distance / self.voxel).clamp(0.0, 1.0);
                if part > 1e-4 {
                    sum += term(at, axis, DENSITY * self.voxel.powi(3) * part, value);
                }
            }
        }
        sum
    }
}

/// The distance from inside of a box to its sides.
fn inside_box(at: DVec3, low: DVec3, high: DVec3) -> f64 {
    (at - low).min(high - at).min_element()
}

/// Flow between plates at `low` and `high` along y [m], driven along x [m/s²], that has settled; the error relative to the
/// fastest. The ends of the channel have the exact flow.
fn plates(cells: f64, exact: impl Fn(f64) -> f64 + Sync, drive: f64) -> f64 {
    let voxel = 1.0 / cells;
    // The plates lie between faces, as they come.
    let (low, high) = (DVec3::new(0.0, 0.13, 0.0), DVec3::new(0.5, 0.87, 0.5));
    let lab = Lab::new(DVec3::splat(-2.0 * voxel), DVec3::new(0.6, 1.0, 0.6), voxel, false);
    let flow = |at: DVec3| exact(at.y) * DVec3::X;
    lab.walls(|at| inside_box(at, low, high), flow);
    let long = 1e7;
    lab.velocity(|_| long * drive * DVec3::X);
    lab.step(long);
    let fastest = (0..100).map(|n| exact(low.y + 0.0074 * f64::from(n)).abs()).fold(0.0, f64::max);
    lab.error(flow, |at| inside_box(at, low, high) > 0.01 * voxel) / fastest
}

/// u = ρg/(2μ) (y − a)(b − y) (Poiseuille).
#[test]
fn flow_between_plates_is_a_parabola_to_second_order() {
    let drive = 1e-3;
    let exact = |y: f64| 0.5 * DENSITY * drive * (y - 0.13) * (0.87 - y);
    let errors = [8.0, 16.0, 32.0].map(|cells| plates(cells, exact, drive));
    assert!(errors[2] < 2e-3, "{errors:?}");
    assert!(errors[0] / errors[2] > 10.0, "{errors:?}");
}

/// A flow that grows linearly from one plate to the other has no error at all (Couette).
#[test]
fn flow_under_a_moving_plate_is_a_line() {
    let error = plates(16.0, |y| (y - 0.13) / 0.74, 0.0);
    assert!(error < 1e-6, "{error}");
}

/// A liquid ball, and its surface [m].
fn ball(voxel: f64) -> (Lab, impl Fn(DVec3) -> f64 + Sync + Copy) {
    shared_ball(Arc::new(Single), voxel)
}

fn shared_ball(
    processes: Arc<dyn Processes>,
    voxel: f64,
) -> (Lab, impl Fn(DVec3) -> f64 + Sync + Copy) {
    let surface = |at: DVec3| (at - DVec3::new(0.02, -0.01, 0.03)).length() - 0.4;
    let lab = Lab::shared(processes, DVec3::splat(-0.6), DVec3::splat(0.6), voxel, true);
    lab.surface(surface);
    (lab, surface)
}

#[test]
fn what_moves_as_a_whole_is_not_slowed() {
    let (mut lab, _) = ball(0.05);
    lab.settings.viscosity = 1e4;
    let turns = DVec3::new(1.0, -2.0, 0.5);
    for motion in [|_, _| DVec3::new(1.0, 2.0, 3.0), |turns: DVec3, at: DVec3| turns.cross(at)] {
        lab.velocity(|at| motion(turns, at));
        lab.step(0.1);
        let error = lab.error(|at| motion(turns, at), |_| true);
        assert!(error < 2e-6, "{error}");
    }
}

/// A velocity without any order [m/s].
fn noise(at: DVec3) -> DVec3 {
    let wave =
        |seed: f64| (12.9898 * at.x + 78.233 * at.y + 37.719 * at.z + seed).sin() * 43_758.545;
    DVec3::new(wave(1.0).fract(), wave(2.0).fract(), wave(3.0).fract())
}

#[test]
fn a_free_liquid_keeps_its_momentum_and_loses_energy() {
    let (mut lab, surface) = ball(0.05);
    for viscosity in [0.1, 10.0, 1000.0, 1e5] {
        lab.settings.viscosity = viscosity;
        lab.velocity(noise);
        let momentum = |lab: &Lab, n: usize| {
            lab.sum(surface, |_, axis, m, v| if axis == n { m * v } else { 0.0 })
        };
        // L = Σ m x × u: a face has one component of u.
        let turning = |lab: &Lab, n: usize| {
            lab.sum(surface, |at, axis, m, v| m * at.cross(v * DVec3::AXES[axis])[n])
        };
        let energy = |lab: &Lab| lab.sum(surface, |_, _, m, v| 0.5 * m * v * v);
        let mass = lab.sum(surface, |_, axis, m, _| if axis == 0 { m } else { 0.0 });
        let before: Vec<f64> = (0..3).flat_map(|n| [momentum(&lab, n), turning(&lab, n)]).collect();
        let mut last = energy(&lab);
        for _ in 0..3 {
            lab.step(0.01);
            let now = energy(&lab);
            assert!(now < last, "{viscosity} Pa s: from {last} to {now} J");
            last = now;
        }
        let after: Vec<f64> = (0..3).flat_map(|n| [momentum(&lab, n), turning(&lab, n)]).collect();
        for (before, after) in before.iter().zip(&after) {
            assert!((before - after).abs() < 1e-5 * mass, "{viscosity} Pa s: {before} to {after}");
        }
    }
}

/// Vortices u = sin kx cos ky, v = −cos kx sin ky die away by exp(−2νk²t) (Taylor & Green 1937).
#[test]
fn vortices_die_away_as_fast_as_their_formula() {
    let voxel = 1.0 / 24.0;
    let mut lab =
        Lab::new(DVec3::splat(-3.0 * voxel), DVec3::splat(1.0 + 3.0 * voxel), voxel, false);
    let (k, step, steps) = (2.0 * PI, 0.01, 10);
    lab.settings.viscosity = 10.0;
    let rate = 2.0 * lab.settings.viscosity / DENSITY * k * k;
    let flow = |time: f64| {
        move |at: DVec3| {
            let (x, y) = (k * at.x, k * at.y);
            (-rate * time).exp() * DVec3::new(x.sin() * y.cos(), -x.cos() * y.sin(), 0.0)
        }
    };
    lab.velocity(flow(0.0));
    for n in 1..=steps {
        lab.walls(|at| inside_box(at, DVec3::ZERO, DVec3::ONE), flow(step * f64::from(n)));
        lab.step(step);
    }
    let end = step * f64::from(steps);
    let lost = 1.0 - (-rate * end).exp();
    let error = lab.error(flow(end), |at| inside_box(at, DVec3::ZERO, DVec3::ONE) > 0.0);
    assert!(lost > 0.07, "{lost}");
    assert!(error < 0.02 * lost, "{error} of {lost}");
}

/// Two liquids between a plate at rest and one that moves: the stress is the same in both, and the slopes are as one over
/// their viscosities.
#[test]
fn two_layers_shear_by_their_viscosities() {
    let voxel = 1.0 / 16.0;
    let mut lab = Lab::new(DVec3::splat(-2.0 * voxel), DVec3::splat(1.2), voxel, false);
    let (thin, thick) = (1.0, 50.0);
    let cells = {
        let volume = &mut lab.world.volumes[lab.field.volume];
        volume.add_channel(&ChannelSpec::new("mu", -1.0_f32), VoxelShape::CELLS).unwrap()
    };
    lab.set(cells, None, |at| if at.y < 0.5 { thin } else { thick });
    lab.settings.by_cell = Some(cells);
    // τ = U / (h₁/μ₁ + h₂/μ₂)
    let stress = 1.0 / (0.5 / thin + 0.5 / thick);
    let exact = |y: f64| {
        if y < 0.5 { stress / thin * y } else { 1.0 - stress / thick * (1.0 - y) }
    };
    let flow = |at: DVec3| exact(at.y) * DVec3::X;
    lab.walls(|at| inside_box(at, DVec3::ZERO, DVec3::ONE), flow);
    lab.velocity(|_| DVec3::ZERO);
    lab.step(1e8);
    let error = lab.error(flow, |at| inside_box(at, DVec3::ZERO, DVec3::ONE) > 0.0);
    assert!(error < 1e-4, "{error}");
}

/// u = ρg/(4μ) (R² − r²) (Hagen & Poiseuille); the wall is curved, and cuts faces anywhere.
#[test]
fn flow_through_a_pipe_is_a_paraboloid() {
    let (radius, drive) = (0.41, 1e-3);
    let profile = |at: DVec3| {
        0.25 * DENSITY * drive * (radius * radius - (at.x - 0.5).powi(2) - (at.y - 0.5).powi(2))
    };
    let error = |cells: f64| {
        let voxel = 1.0 / cells;
        let lab = Lab::new(DVec3::splat(-2.0 * voxel), DVec3::new(1.0, 1.0, 0.6), voxel, false);
        let distance = |at: DVec3| {
            let across = radius - (at.x - 0.5).hypot(at.y - 0.5);
            across.min(at.z).min(0.5 - at.z)
        };
        lab.walls(distance, |at| profile(at) * DVec3::Z);
        lab.velocity(|_| 1e7 * drive * DVec3::Z);
        lab.step(1e7);
        let fastest = profile(DVec3::splat(0.5));
        lab.error(|at| profile(at) * DVec3::Z, |at| distance(at) > 0.02 * voxel) / fastest
    };
    let errors = [8.0, 16.0, 32.0].map(error);
    assert!(errors[2] < 0.01, "{errors:?}");
    assert!(errors[0] / errors[2] > 6.0, "{errors:?}");
}

#[test]
fn what_slips_along_walls_is_not_held_by_them() {
    let mut lab = Lab::new(DVec3::splat(-0.2), DVec3::splat(1.2), 0.1, false);
    let (low, high) = (DVec3::splat(0.03), DVec3::new(0.98, 0.91, 1.04));
    lab.settings.viscosity = 100.0;
    lab.walls(|at| inside_box(at, low, high), |_| DVec3::ZERO);
    lab.velocity(|_| DVec3::X);
    lab.settings.sticks = false;
    lab.step(0.1);
    let inside = |at: DVec3| inside_box(at, low, high) > 0.0;
    assert!(lab.error(|_| DVec3::X, inside) < 1e-6);
    lab.settings.sticks = true;
    lab.step(0.1);
    assert!(lab.error(|_| DVec3::X, inside) > 0.5, "walls hold it");
}

/// A wall that moves drags what sticks to it, and in the end all of it.
#[test]
fn a_moving_vessel_takes_its_liquid_along() {
    let mut lab = Lab::new(DVec3::splat(-0.2), DVec3::splat(1.2), 0.1, true);
    let (low, high) = (DVec3::splat(0.03), DVec3::new(0.98, 0.91, 1.04));
    lab.settings.viscosity = 1e5;
    // It is half full: beyond the surface there is air, and in the walls no liquid is known of.
    lab.surface(|at| (at.z - 0.52).max(-inside_box(at, low, high)));
    let turning = |at: DVec3| DVec3::new(0.2, -0.1, 0.4).cross(at) + DVec3::Y;
    lab.walls(|at| inside_box(at, low, high), turning);
    lab.velocity(|_| DVec3::ZERO);
    lab.step(10.0);
    let error = lab.error(turning, |at| inside_box(at, low, high) > 0.0 && at.z < 0.5);
    assert!(error < 1e-4, "{error}");
}

/// A sheet without thickness lies between two liquids: it drags both, and neither feels the other.
#[test]
fn a_thin_wall_keeps_liquids_apart() {
    let lower_half = |viscosity: f64, above: f64| {
        let (mut lab, _) = ball(0.05);
        lab.settings.viscosity = viscosity;
        lab.walls(|at| at.y.abs(), |_| 0.5 * DVec3::X);
        let faces = lab.field.walls.area.faces;
        lab.set(faces[1], Some(1), |at| f64::from(u8::from(at.y.abs() > 1e-9)));
        lab.velocity(|at| if at.y > 0.0 { above * DVec3::X } else { -DVec3::X });
        lab.step(0.1);
        let below = |(at, _): &(DVec3, f64)| at.y < 0.0 && at.length() < 0.35;
        lab.faces(0).into_iter().filter(below).map(|(_, v)| v).collect::<Vec<f64>>()
    };
    for viscosity in [10.0, 1000.0] {
        let [one, other] = [1.0, 50.0].map(|above| lower_half(viscosity, above));
        let apart = one.iter().zip(&other).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        assert!(apart < 1e-6, "{apart}");
        assert!(one.iter().any(|v| *v > -0.9), "the sheet drags it");
    }
    assert!(lower_half(1e6, 1.0).iter().all(|v| (v - 0.5).abs() < 0.01), "and takes it along");
}

#[test]
fn any_number_of_threads_makes_the_same_bytes() {
    let run = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let (mut lab, _) = ball(0.02);
            let mut all = Vec::new();
            for viscosity in [1.0, 5000.0] {
                lab.settings = Settings { viscosity, tolerance: 1e-5, ..lab.settings };
                lab.velocity(noise);
                lab.step(0.01);
                all.extend((0..3).flat_map(|axis| lab.faces(axis)).map(|(_, v)| v.to_bits()));
            }
            all
        })
    };
    assert!(run(1) == run(3));
}

/// Multigrid: what reaches a thousand times as far takes hardly longer.
#[test]
fn strong_viscosity_takes_few_iterations() {
    let (mut lab, _) = ball(0.02);
    lab.walls(|at| at.y + 0.21, |_| DVec3::ZERO);
    for viscosity in [1e3, 1e4, 1e5, 1e6, 1e9] {
        lab.settings = Settings { viscosity, tolerance: 1e-5, ..lab.settings };
        lab.velocity(noise);
        let report = lab.step(0.01).unwrap().report;
        assert!(report.iterations <= 25, "{viscosity} Pa s: {report}");
    }
}

/// A ball between walls that move, as several processes see it: within the tolerance of a solve.
#[test]
fn any_number_of_processes_makes_the_same_flow() {
    let run = |processes: Arc<dyn Processes>| {
        let (mut lab, _) = shared_ball(processes, 0.04);
        lab.walls(|at| at.y + 0.21, |at| DVec3::new(1.0, 0.0, at.x));
        let mut all = Vec::new();
        for viscosity in [20.0, 5000.0] {
            lab.settings = Settings { viscosity, tolerance: 1e-8, ..lab.settings };
            lab.velocity(noise);
            let solved = lab.step(0.01).unwrap();
            assert!(solved.unknowns > 5000);
            all.extend((0..3).flat_map(|axis| {
                let faces = lab.faces(axis).into_iter();
                faces.map(move |(at, v)| {
                    ((viscosity as i64, axis, at.to_array().map(f64::to_bits)), v)
                })
            }));
        }
        all
    };
    let sorted = |count: usize| {
        let mut all = threads::on_processes(count, run).concat();
        all.sort_by_key(|(face, _)| *face);
        all
    };
    let alone = sorted(1);
    for count in [2, 3] {
        let together = sorted(count);
        assert_eq!(alone.len(), together.len());
        for ((face, a), (other, b)) in alone.iter().zip(&together) {
            assert!(face == other && (a - b).abs() < 2e-6, "{face:?}: {a} and {b}");
        }
    }
}

#[test]
fn nothing_viscous_is_nothing_done() {
    let (mut lab, _) = ball(0.1);
    lab.settings.viscosity = 0.0;
    assert!(lab.step(0.1).is_none());
    lab.settings.viscosity = 1.0;
    lab.surface(|_| 1.0);
    assert!(lab.step(0.1).is_none(), "no liquid");
}

#[test]
fn what_cannot_be_solved_is_an_error_with_its_numbers() {
    let (mut lab, _) = ball(0.1);
    lab.velocity(noise);
    let try_it = |lab: &Lab| {
        let volume = &lab.world.volumes[lab.field.volume];
        let solved =
            diffuse(&lab.world.domains[lab.domain], volume, &lab.field, &lab.settings, 0.1);
        solved.unwrap_err().to_string()
    };
    for viscosity in [1e30, f64::NAN, f64::INFINITY, -1.0] {
        lab.settings.viscosity = viscosity;
        let said = try_it(&lab);
        assert!(said.contains(&format!("{viscosity} Pa s")), "{said}");
    }
    lab.settings.viscosity = 1.0;
    lab.velocity(|_| DVec3::NAN);
    assert!(try_it(&lab).contains("right-hand side"));
}
