//! Pressure systems against matrices and direct knowledge.

use crate::systems::noise;
use undine_core::glam::DVec3;
use undine_core::volume::{MacHandle, MaskHandle, Resolution, VoxelShape};
use undine_core::{Bucket, BucketSet, ChannelSpec, DiscreteVolume, Frame, GridDomain, Handle};
use undine_linsolve::pressure::{
    InverseDensity, Open, PressureInput, PressureMatrix, PressureSystem, Surface, place, voxel,
};
use undine_linsolve::{Operator, Preconditioner, Stop};

/// A box of Buckets with everything that a pressure system can be made of.
struct Tank {
    domain: GridDomain,
    volume: DiscreteVolume,
    liquid: MaskHandle,
    distance: Handle<f32>,
    diagonal: Handle<f32>,
    open: MacHandle,
    inverse_density: MacHandle,
}

impl Tank {
    /// `buckets` along each axis from `low`; liquid where `distance` at a cell's centre, in cells, is negative.
    fn new(low: i32, buckets: i32, distance: impl Fn(DVec3) -> f64) -> Self {
        let mut domain = GridDomain::new("tank", Frame::new(DVec3::ZERO, 8.0).unwrap());
        let all = (0..buckets.pow(3)).map(|n| {
            let (x, y, z) = (n / buckets / buckets, n / buckets % buckets, n % buckets);
            Bucket::new(low + x, low + y, low + z)
        });
        domain.set_buckets(&BucketSet::from_buckets(all).unwrap()).unwrap();
        let mut volume = DiscreteVolume::new("tank", &domain);
        let liquid = volume.add_mask("liquid", Resolution::R8).unwrap();
        let cells = VoxelShape::CELLS;
        let phi = volume.add_channel(&ChannelSpec::new("distance", 1.0_f32), cells).unwrap();
        let diagonal = volume.add_channel(&ChannelSpec::new("diagonal", 0.0_f32), cells).unwrap();
        let open = volume.add_mac("open", "", Resolution::R8).unwrap();
        let inverse_density = volume.add_mac("inverse-density", "m3/kg", Resolution::R8).unwrap();
        let tank = Self { domain, volume, liquid, distance: phi, diagonal, open, inverse_density };
        tank.fill(|at, voxel, slot| {
            let value = distance(at);
            tank.volume.column_mut(phi).unwrap().chunk_mut(slot)[voxel] = value as f32;
            if value < 0.0 {
                let mut words = tank.volume.column_mut(liquid.words).unwrap();
                words.chunk_mut(slot)[voxel >> 6] |= 1 << (voxel & 63);
            }
        });
        tank
    }

    /// Calls `work` with each cell's centre, voxel and slot.
    fn fill(&self, work: impl Fn(DVec3, usize, u32)) {
        let topology = self.volume.topology();
        for slot in topology.level(0) {
            let corner = (topology.bucket(slot).coord * 8).as_dvec3();
            for voxel in 0..512 {
                let cell =
                    DVec3::new((voxel >> 6) as f64, (voxel >> 3 & 7) as f64, (voxel & 7) as f64);
                work(corner + cell + 0.5, voxel, slot);
            }
        }
    }

    /// Sets a MAC channel by axis and face centre.
    fn fill_mac(&self, mac: MacHandle, value: impl Fn(usize, DVec3) -> f64) {
        for axis in 0..3 {
            let to_face = -0.5 * DVec3::AXES[axis];
            self.fill(|at, voxel, slot| {
                let mut column = self.volume.column_mut(mac.faces[axis]).unwrap();
                column.chunk_mut(slot)[voxel] = value(axis, at + to_face) as f32;
            });
        }
    }

    fn plain(&self) -> PressureInput<'_> {
        PressureInput::from_mask(&self.volume, self.liquid)
    }

    /// Fractional faces, ghost fluid, a thousandfold jump of density, and some terms on the diagonal.
    fn cut(&self) -> PressureInput<'_> {
        self.fill_mac(self.open, |axis, at| {
            if at[axis] == 0.0 {
                return 0.0;
            }
            (0.5 + 0.3 * (at.x + 0.7 * at.y - 2.0 * at.z + 3.0)).clamp(0.0, 1.0)
        });
        self.fill_mac(self.inverse_density, |_, at| {
            if (at - DVec3::new(9.0, 8.0, 5.0)).length() < 4.0 { 1000.0 } else { 1.0 }
        });
        self.fill(|at, voxel, slot| {
            let value = if at.x > 12.0 { 0.25 } else { 0.0 };
            self.volume.column_mut(self.diagonal).unwrap().chunk_mut(slot)[voxel] = value;
        });
        PressureInput {
            open: Open::Channel(self.open),
            inverse_density: InverseDensity::Channel(self.inverse_density),
            surface: Surface::Distance { distance: self.distance, smallest: 0.01 },
            diagonal: Some(self.diagonal),
            scale: 0.125,
            ..self.plain()
        }
    }
}

/// A wavy surface at about half of `size`, and a drop above it.
fn waves(size: f64) -> impl Fn(DVec3) -> f64 {
    move |at| {
        let at = at / size;
        let height = 0.5 + 0.1 * (7.0 * at.x).sin() * (5.0 * at.y).cos();
        let drop = (at - DVec3::new(0.3, 0.4, 0.85)).length() - 0.1;
        size * (at.z - height).min(drop)
    }
}

/// A vector over the rows of a system that is zero where there are no equations.
fn some_vector(system: &PressureSystem, matrix: &PressureMatrix, seed: u64) -> Vec<f64> {
    let mut vector = vec![0.0; system.rows().local()];
    matrix.scatter(&noise(matrix.entries.len(), seed), &mut vector);
    vector
}

fn largest_difference(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
}

#[test]
fn system_and_matrix_give_the_same_product() {
    let tank = Tank::new(0, 3, waves(24.0));
    for input in [tank.plain(), tank.cut()] {
        let system = PressureSystem::new(&tank.domain, &input).unwrap();
        let matrix = system.to_csr().unwrap();
        let mut x = some_vector(&system, &matrix, 1);
        let mut y = vec![0.0; x.len()];
        let dot = system.apply_dot(&mut x, &mut y).unwrap();
        let mut gathered = matrix.gather(&x);
        let mut wanted = vec![0.0; gathered.len()];
        matrix.matrix.apply(&mut gathered, &mut wanted).unwrap();
        let largest = wanted.iter().fold(0.0_f64, |max, value| max.max(value.abs()));
        assert!(largest_difference(&matrix.gather(&y), &wanted) < 1e-12 * largest);
        let mut elsewhere = y.clone();
        matrix.scatter(&vec![0.0; wanted.len()], &mut elsewhere);
        assert!(elsewhere.iter().all(|&value| value == 0.0), "nothing where there is no equation");
        let sum: f64 = gathered.iter().zip(&wanted).map(|(x, y)| x * y).sum();
        assert!((dot - sum).abs() < 1e-10 * sum.abs());
    }
}

#[test]
fn the_plain_matrix_is_the_seven_point_laplacian_with_walls_and_air() {
    let tank = Tank::new(-1, 2, |at| at.z - 2.0);
    let system = PressureSystem::new(&tank.domain, &tank.plain()).unwrap();
    let matrix = system.to_csr().unwrap();
    assert_eq!(matrix.entries.len(), 16 * 16 * 10);
    for (row, &entry) in matrix.entries.iter().enumerate() {
        let bucket = system.topology().bucket(entry / 512).coord;
        let voxel = voxel(entry as usize % 512) as i32;
        let cell = [
            bucket.x * 8 + (voxel >> 6),
            bucket.y * 8 + (voxel >> 3 & 7),
            bucket.z * 8 + (voxel & 7),
        ];
        // All six faces count but those in the walls.
        let walls = cell.iter().filter(|&&at| at == -8 || at == 7).count();
        let columns: Vec<_> = {
            let (columns, values) = matrix.matrix.csr().row(row);
            columns.iter().copied().zip(values.iter().copied()).collect()
        };
        let diagonal = columns.iter().find(|&&(column, _)| column as usize == row).unwrap().1;
        assert_eq!(diagonal, 6.0 - walls as f64, "{cell:?}");
        let links = 6 - walls - usize::from(cell[2] == 1);
        assert_eq!(columns.len(), 1 + links);
        assert!(columns.iter().all(|&(column, c)| column as usize == row || c == -1.0));
    }
}

#[test]
fn the_solution_is_that_of_the_matrix() {
    let tank = Tank::new(0, 3, waves(24.0));
    for input in [tank.plain(), tank.cut()] {
        let system = PressureSystem::new(&tank.domain, &input).unwrap();
        let matrix = system.to_csr().unwrap();
        let mut wanted = some_vector(&system, &matrix, 2);
        let mut b = vec![0.0; wanted.len()];
        system.apply(&mut wanted, &mut b).unwrap();
        let mut x = vec![0.0; b.len()];
        let report = system.solve(&b, &mut x, &Stop::relative(1e-12)).unwrap();
        assert!(report.converged() && report.iterations < 20, "{report}");
        assert!(largest_difference(&x, &wanted) < 1e-7, "{}", largest_difference(&x, &wanted));
    }
}

#[test]
fn the_cycle_is_symmetric_and_positive() {
    let tank = Tank::new(-1, 3, waves(20.0));
    for input in [tank.plain(), tank.cut()] {
        let system = PressureSystem::new(&tank.domain, &input).unwrap();
        let matrix = system.to_csr().unwrap();
        let mut multigrid = system.multigrid();
        let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        for seed in 0..4 {
            let (u, v) =
                (some_vector(&system, &matrix, seed), some_vector(&system, &matrix, seed + 9));
            let (mut mu, mut mv) = (vec![0.0; u.len()], vec![0.0; u.len()]);
            multigrid.apply(&u, &mut mu).unwrap();
            multigrid.apply(&v, &mut mv).unwrap();
            let size = (dot(&u, &mu) * dot(&v, &mv)).sqrt();
            assert!(dot(&u, &mu) > 0.0);
            assert!((dot(&v, &mu) - dot(&u, &mv)).abs() < 1e-5 * size);
        }
    }
}

#[test]
fn iterations_hardly_grow_with_size_or_with_cut_cells() {
    let mut iterations = Vec::new();
    for (buckets, cut) in [(2, false), (6, false), (6, true)] {
        let tank = Tank::new(0, buckets, waves(8.0 * f64::from(buckets)));
        let input = if cut { tank.cut() } else { tank.plain() };
        let system = PressureSystem::new(&tank.domain, &input).unwrap();
        let b = some_vector(&system, &system.to_csr().unwrap(), 3);
        let report = system.solve(&b, &mut vec![0.0; b.len()], &Stop::relative(1e-6)).unwrap();
        assert!(report.converged(), "{report}");
        iterations.push(report.iterations);
    }
    assert!(iterations[0] <= 6 && iterations[1] <= 6 && iterations[2] <= 9, "{iterations:?}");
}

#[test]
fn any_number_of_threads_gives_the_same_bits() {
    let tank = Tank::new(0, 5, waves(40.0));
    let input = tank.cut();
    let solve = || {
        let system = PressureSystem::new(&tank.domain, &input).unwrap();
        let b = some_vector(&system, &system.to_csr().unwrap(), 4);
        let mut x = vec![0.0; b.len()];
        let report = system.solve(&b, &mut x, &Stop::default()).unwrap();
        assert!(report.converged());
        x
    };
    let pool = |threads| rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    let one = pool(1).install(solve);
    assert!([2, 3].into_iter().all(|threads| pool(threads).install(solve) == one));
}

#[test]
fn channels_go_in_and_out_by_voxel() {
    let mut tank = Tank::new(0, 2, waves(16.0));
    let spec = ChannelSpec::new("pressure", -1.0_f32);
    let pressure = tank.volume.add_channel(&spec, VoxelShape::CELLS).unwrap();
    let system = PressureSystem::new(&tank.domain, &tank.plain()).unwrap();
    let phi = system.read(&tank.volume, tank.distance).unwrap();
    system.write(&phi, &tank.volume, pressure).unwrap();
    let (wanted, found) =
        (tank.volume.column(tank.distance).unwrap(), tank.volume.column(pressure).unwrap());
    for slot in tank.volume.topology().level(0) {
        for (wanted, found) in wanted.chunk(slot).iter().zip(found.chunk(slot)) {
            assert_eq!(*found, if *wanted < 0.0 { *wanted } else { -1.0 });
        }
    }
    assert_eq!(place(voxel(77)), 77);
}

#[test]
fn a_tank_without_liquid_has_an_empty_system() {
    let tank = Tank::new(0, 2, |_| 1.0);
    let system = PressureSystem::new(&tank.domain, &tank.plain()).unwrap();
    let report = system.solve(&[], &mut [], &Stop::default()).unwrap();
    assert!(report.converged() && report.iterations == 0);
}

#[test]
fn bad_channels_are_refused_by_face_and_cell() {
    let tank = Tank::new(0, 2, waves(16.0));
    let input = tank.cut();
    let slot = tank.volume.topology().slot(Bucket::new(0, 0, 0)).unwrap();
    let set = |handle, value: f32| {
        tank.volume.column_mut(handle).unwrap().chunk_mut(slot)[64 * 3 + 8 * 2 + 1] = value;
    };
    let message = || PressureSystem::new(&tank.domain, &input).err().unwrap().to_string();
    set(tank.open.faces[1], 1.5);
    assert!(message().contains("open area at the y-face of cell [3, 2, 1]"), "{}", message());
    set(tank.open.faces[1], 1.0);
    set(tank.inverse_density.faces[0], -1.0);
    assert!(message().contains("inverse density at the x-face"), "{}", message());
    set(tank.inverse_density.faces[0], 1.0);
    set(tank.diagonal, f32::NAN);
    assert!(message().contains("diagonal term of cell [3, 2, 1]"), "{}", message());
}

#[test]
fn closed_regions_are_found_and_solved_without_their_constant() {
    // Three full boxes, two of them joined by a corridor, and a lake under air.
    let inside = |at: DVec3, low: [f64; 3], high: [f64; 3]| {
        at.cmpgt(DVec3::from_array(low)).all() && at.cmplt(DVec3::from_array(high)).all()
    };
    let room = move |at: DVec3| {
        let joined = inside(at, [1.0, 1.0, 1.0], [9.0, 7.0, 9.0])
            || inside(at, [9.0, 3.0, 3.0], [14.0, 5.0, 5.0])
            || inside(at, [14.0, 1.0, 1.0], [20.0, 9.0, 8.0]);
        let alone = inside(at, [1.0, 12.0, 1.0], [9.0, 18.0, 21.0]);
        let lake = inside(at, [12.0, 12.0, 1.0], [22.0, 22.0, 10.0]);
        (joined, alone, lake)
    };
    let tank = Tank::new(0, 3, |at| match room(at) {
        (false, false, false) => 1.0,
        _ => -1.0,
    });
    // Faces are open within a room, and above the lake.
    tank.fill_mac(tank.open, |axis, at| {
        let half = 0.5 * DVec3::AXES[axis];
        let (below, above) = (room(at - half), room(at + half));
        let same = (below.0 && above.0) || (below.1 && above.1) || (below.2 && above.2);
        f64::from(same || (axis == 2 && below.2))
    });
    let input = PressureInput { open: Open::Channel(tank.open), ..tank.plain() };
    let system = PressureSystem::new(&tank.domain, &input).unwrap();
    assert_eq!(system.closed_regions(), 2);
    assert!(system.is_singular());

    let matrix = system.to_csr().unwrap();
    let b = some_vector(&system, &matrix, 5);
    let mut x = vec![0.0; b.len()];
    let report = system.solve(&b, &mut x, &Stop::relative(1e-9)).unwrap();
    assert!(report.converged() && report.iterations < 20, "{report}");
    assert_eq!(report.notes.iter().filter(|note| note.contains("closed region")).count(), 2);

    // What is left of the right-hand side is one number for each region, and none in the lake.
    let mut ax = vec![0.0; b.len()];
    system.apply(&mut x, &mut ax).unwrap();
    let mut left: Vec<f64> = b.iter().zip(&ax).map(|(b, ax)| b - ax).collect();
    let taken = left.iter().fold(0.0_f64, |max, left| max.max(left.abs()));
    assert!(taken > 1e-4);
    system.project(&mut left).unwrap();
    assert!(left.iter().all(|left| left.abs() < 1e-6));
}
