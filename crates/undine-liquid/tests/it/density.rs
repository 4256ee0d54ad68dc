//! Keeping the volume of a liquid, against blocks that are pressed together and tanks at rest. Lengths are in voxels.

use crate::pool::{self, DENSITY, Pool, VOXEL};
use undine_core::glam::DVec3;
use undine_liquid::density::{self, Evened};

fn even_out(pool: &Pool) -> Evened {
    pool.find_surface();
    let density = f64::from(DENSITY);
    density::even_out(
        pool.domain(),
        pool.particles(),
        pool.volume(),
        &pool.field,
        pool.shift,
        density,
    )
    .unwrap()
}

/// The volume of a liquid [voxels].
fn volume(pool: &Pool) -> f64 {
    density::volume(pool.domain(), pool.volume(), &pool.field).unwrap() / VOXEL.powi(3)
}

/// The distance from the walls of a tank 16 wide.
fn tank(at: DVec3) -> f64 {
    pool::tank(at, 0.0, 16.0)
}

/// A tank with walls that lie anywhere in cells, and a floor that leans.
fn crooked(at: DVec3) -> f64 {
    let floor = DVec3::new(0.3, 0.0, 1.0).normalize().dot(at - DVec3::new(8.0, 8.0, 3.0));
    pool::tank(at + DVec3::Z * 99.0, 0.4, 15.7).min(floor)
}

#[test]
fn a_tank_at_rest_comes_to_rest_and_keeps_its_volume() {
    for walls in [tank, crooked] {
        let mut pool = Pool::new([0; 3], [16; 3], 1.0, 1, |at| at.z < 9.6 && walls(at) > 0.0);
        let mut shifts = Vec::new();
        for _ in 0..12 {
            pool.wall(walls);
            assert!(even_out(&pool).report.converged());
            shifts.push(pool.shifts().0);
            pool = pool.moved();
        }
        assert!(shifts[0] < 0.1 && shifts[11] < 0.002, "{shifts:?}");
        assert!(shifts.windows(2).all(|pair| pair[1] < 1.1 * pair[0]), "{shifts:?}");
        pool.wall(walls);
        pool.find_surface();
        let error = volume(&pool) / (pool.particles().len() as f64 / 8.0) - 1.0;
        assert!(error.abs() < 0.01, "{error} more than its particles have");
    }
}

#[test]
fn a_block_pressed_together_gets_its_volume_back() {
    let full = |at: DVec3| at.z < 12.0 && tank(at) > 0.0;
    let loose = Pool::new([0; 3], [16; 3], 1.0, 1, full);
    let pressed: Vec<DVec3> =
        loose.places().iter().map(|at| *at * DVec3::new(1.0, 1.0, 0.9)).collect();
    let mut pool = Pool::of_places(&pressed);
    let count = pool.particles().len();
    for _ in 0..12 {
        pool.wall(tank);
        even_out(&pool);
        assert!(pool.shifts().1 < 0.6, "no particle goes farther than a part of a voxel");
        pool = pool.moved();
    }
    pool.wall(tank);
    let evened = even_out(&pool);
    let volume = volume(&pool) / (16.0 * 16.0 * 12.0);
    assert!((volume - 1.0).abs() < 0.01, "{volume} of the volume");
    assert!(evened.uneven < 0.03, "{}", evened.uneven);
    // Displaced, and nothing else: all are still there, and in the tank.
    assert_eq!(pool.particles().len(), count);
    assert!(pool.places().iter().all(|at| tank(*at) > -0.05));
}

/// Grains on the floor of a tank, 5 deep, that take 0.4 of it, each of them shared out to the cells around: those of which only a neighbour has
/// grains get an eighth, and give as much.
fn grains(at: DVec3) -> f64 {
    let part = |c: f64, to: f64| match c {
        c if c < -1.0 || c > to + 1.0 => 0.0,
        c if c < 0.0 || c > to => 0.125,
        c if c < 1.0 || c > to - 1.0 => 0.875,
        _ => 1.0,
    };
    0.4 * part(at.x, 16.0) * part(at.y, 16.0) * part(at.z, 5.0)
}

/// Water that begins as if there were no grains has 8 · 0.4 · 5 particles too many in each column: its level rises by 2. Distances are good to a
/// tenth of a voxel, and numbers in a layer to what chance makes of 1200 particles, 0.03. Those in the lowest one lie nearer to each other in any
/// tank.
#[test]
fn what_is_inside_of_a_liquid_drives_out_as_much_of_it() {
    let mut pool = Pool::new([0; 3], [16; 3], 1.0, 1, |at| at.z < 8.0 && tank(at) > 0.0);
    let count = pool.particles().len();
    for _ in 0..24 {
        pool.wall(tank);
        pool.take(grains);
        even_out(&pool);
        pool = pool.moved();
    }
    pool.wall(tank);
    pool.take(grains);
    let evened = even_out(&pool);
    let heights = pool.heights();
    let columns = (0..16).flat_map(|x| (0..16).map(move |y| [x, y]));
    let levels: Vec<f64> = columns
        .map(|column| match heights[&column][..] {
            [level] => level,
            ref levels => panic!("the surface at {column:?}: {levels:?}"),
        })
        .collect();
    let level = levels.iter().sum::<f64>() / 256.0;
    let mut layers = [0.0_f64; 16];
    pool.places().iter().for_each(|at| layers[at.z.max(0.0) as usize] += 1.0 / 2048.0);
    println!("level {level}, layers {layers:.3?}, uneven {}", evened.uneven);
    assert!((level - 10.0).abs() < 0.1, "{level}");
    assert!(layers[1..4].iter().all(|held| (held - 0.6).abs() < 0.03), "{layers:?}");
    assert!(layers[6..9].iter().all(|held| (held - 1.0).abs() < 0.03), "{layers:?}");
    assert!(evened.uneven < 0.03, "{}", evened.uneven);
    assert!((volume(&pool) / 2048.0 - 1.0).abs() < 0.01, "{}", volume(&pool));
    assert_eq!(pool.particles().len(), count);
}

#[test]
fn stirring_neither_swells_nor_shrinks_a_liquid() {
    // A vortex, by steps so coarse that particles are flung outwards, towards the walls.
    let vortex = |at: DVec3| {
        let [x, y] = [at.x, at.y].map(|c| c * std::f64::consts::PI / 16.0);
        0.5 * DVec3::new(x.sin() * y.cos(), -x.cos() * y.sin(), 0.0)
    };
    let inside = |at: DVec3| at.clamp(DVec3::splat(0.01), DVec3::new(15.99, 15.99, 99.0));
    let mut pool = Pool::new([0; 3], [16; 3], 1.0, 4, |at| at.z < 8.3 && tank(at) > 0.0);
    let mut uneven = 0.0;
    for _ in 0..60 {
        pool.wall(tank);
        uneven = even_out(&pool).uneven;
        let shifts = pool.shifts_at_particles();
        let moved = pool.places().into_iter().zip(shifts);
        let moved: Vec<DVec3> = moved.map(|(at, shift)| inside(at + vortex(at) + shift)).collect();
        pool = Pool::of_places(&moved);
    }
    pool.wall(tank);
    pool.find_surface();
    let error = volume(&pool) / (pool.particles().len() as f64 / 8.0) - 1.0;
    assert!(error.abs() < 0.01 && uneven < 0.1, "{error} more volume, uneven by {uneven}");
}

#[test]
fn lone_drops_are_left_alone() {
    let drops: Vec<DVec3> = (0..20).map(|n| DVec3::new(6.3 * f64::from(n), 0.4, -0.7)).collect();
    let pool = Pool::of_places(&drops);
    even_out(&pool);
    assert!(pool.shifts().1 < 1e-6, "{:?}", pool.shifts());
}

#[test]
fn a_crowd_of_particles_is_driven_apart() {
    // One place holds twice as many; the liquid flows away from it.
    let mut places = Pool::new([0; 3], [16; 3], 1.0, 3, |_| true).places();
    let crowd = DVec3::new(8.2, 7.7, 8.1);
    let near: Vec<DVec3> =
        places.iter().filter(|at| at.distance(crowd) < 2.0).map(|at| *at + 0.1).collect();
    places.extend(near);
    let pool = Pool::of_places(&places);
    even_out(&pool);
    let outwards: f64 = pool
        .places()
        .iter()
        .zip(pool.shifts_at_particles())
        .filter(|(at, _)| at.distance(crowd) < 2.5)
        .map(|(at, shift)| shift.dot((*at - crowd).normalize()))
        .sum();
    assert!(outwards > 0.0, "{outwards}");
}

#[test]
fn the_volume_of_a_ball_is_that_of_a_ball() {
    let radius = 8.0;
    let pool = Pool::new([-9; 3], [9; 3], 1.0, 5, |at| at.length() < radius);
    pool.find_surface();
    let exact = 4.0 / 3.0 * std::f64::consts::PI * radius.powi(3);
    let error = volume(&pool) / exact - 1.0;
    assert!(error.abs() < 0.03, "{error}");
}

#[test]
fn any_number_of_threads_displaces_by_the_same_bytes() {
    let run = |threads: usize| {
        let threads = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        threads.install(|| {
            let mut pool = Pool::new([0; 3], [16; 3], 1.0, 1, |at| at.z < 9.3 && crooked(at) > 0.0);
            pool.wall(crooked);
            pool.take(grains);
            even_out(&pool);
            pool.bytes()
        })
    };
    assert!(run(1) == run(3));
}

#[test]
fn without_particles_nothing_is_displaced() {
    let pool = Pool::of_places(&[]);
    let evened = even_out(&pool);
    assert_eq!(evened.unknowns, 0);
    assert_eq!(volume(&pool), 0.0);
}
