//! Keeping the volume of a liquid, against blocks that are pressed together, tanks at rest, and what is known of them.

use crate::pool::{DENSITY, Pool, VOXEL};
use undine_core::glam::DVec3;
use undine_liquid::density::{Evened, even_out, volume};

fn even(pool: &Pool) -> Evened {
    pool.find_surface();
    let density = f64::from(DENSITY);
    even_out(pool.domain(), pool.particles(), pool.volume(), &pool.field, pool.shift, density)
        .unwrap()
}

#[test]
fn a_tank_at_rest_calms_down() {
    let tank = |at: DVec3| at.min(DVec3::splat(20.0) - at).min_element();
    let mut pool = Pool::new([0, 0, 0], [20, 20, 20], 1.0, 1, |at| at.z < 13.0 && tank(at) > 0.0);
    for step in 0..12 {
        pool.wall(tank);
        let evened = even(&pool);
        let (mean, most) = pool.shifts();
        let volume = volume(pool.domain(), pool.volume(), &pool.field).unwrap() / VOXEL.powi(3);
        println!(
            "{step}: uneven {:.4}, shift {mean:.4} {most:.4}, {} iterations {:.1e}, volume {:.2}",
            evened.uneven, evened.report.iterations, evened.report.residual, volume / 5200.0
        );
        pool = pool.moved();
    }
}

#[test]
fn a_compressed_block_expands() {
    let tank = |at: DVec3| at.min(DVec3::splat(24.0) - at).with_z(at.z).min_element();
    let full = |at: DVec3| at.z < 12.0 && tank(at) > 0.0;
    let loose = Pool::new([0, 0, 0], [24, 24, 14], 1.0, 1, full);
    let places: Vec<DVec3> =
        loose.places().iter().map(|at| *at * DVec3::new(1.0, 1.0, 0.8)).collect();
    let mut pool = Pool::of_places(&places);
    for step in 0..20 {
        pool.wall(tank);
        let evened = even(&pool);
        let (mean, most) = pool.shifts();
        let volume = volume(pool.domain(), pool.volume(), &pool.field).unwrap() / VOXEL.powi(3);
        println!(
            "{step}: uneven {:.4}, shift {mean:.4} {most:.4}, {} iterations {:.1e}, volume {:.4}",
            evened.uneven, evened.report.iterations, evened.report.residual, volume / (24.0 * 24.0 * 12.0)
        );
        pool = pool.moved();
    }
}
