//! Velocities beyond the fluid: how far they go, and that they lead along walls.

use crate::basin::Basin;
use undine_core::glam::DVec3;
use undine_fluid::extend::{extend, extend_change};
use undine_fluid::second_order::Brought;

/// Stands for what no one has set [m/s].
const NOTHING: f64 = 777.0;

fn is_set(value: f64) -> bool {
    value != NOTHING
}

/// Every face of a basin: axis, cell and centre [m].
fn faces(low: i32, high: i32, voxel: f64) -> Vec<(usize, [i32; 3], DVec3)> {
    let mut all = Vec::new();
    for axis in 0..3 {
        let middle = DVec3::splat(0.5) - 0.5 * DVec3::AXES[axis];
        for x in low..high {
            for y in low..high {
                for z in low..high {
                    let cell = [x, y, z];
                    let at = voxel * (DVec3::from(cell.map(f64::from)) + middle);
                    all.push((axis, cell, at));
                }
            }
        }
    }
    all
}

/// The faces of liquid cells that walls leave open get a velocity, all others none.
fn solve(basin: &Basin, velocity: impl Fn(DVec3) -> DVec3) {
    basin.fill_mac(basin.field.velocity, |_, _| NOTHING);
    let wet = basin.wet();
    for axis in 0..3 {
        let handle = basin.field.velocity.faces[axis];
        let topology = basin.volume().topology();
        let mut column = basin.volume().column_mut(handle).unwrap();
        for at in &wet {
            for up in [0, 1] {
                let mut face = *at;
                face[axis] += up;
                if basin.face(basin.field.walls.area, axis, face) <= 0.0 {
                    continue;
                }
                let bucket = undine_core::Bucket::new(face[0] >> 3, face[1] >> 3, face[2] >> 3);
                let Some(slot) = topology.slot(bucket) else { continue };
                let place = DVec3::from(face.map(f64::from)) + 0.5 - 0.5 * DVec3::AXES[axis];
                let [x, y, z] = face.map(|c| (c & 7) as usize);
                column.chunk_mut(slot)[x << 6 | y << 3 | z] =
                    velocity(basin.voxel * place)[axis] as f32;
            }
        }
    }
}

fn go(basin: &Basin, voxels: u32) {
    extend(&basin.domain, basin.volume(), &basin.field, voxels).unwrap();
}

#[test]
fn a_constant_velocity_goes_on_as_it_is_as_far_as_asked() {
    let voxel = 0.1;
    let basin = Basin::new(voxel, [-2; 3], [2; 3]);
    let u = DVec3::new(1.0, -2.0, 0.5);
    let radius = 0.45;
    for voxels in [0, 3, 5] {
        basin.pour(|at| at.length() - radius);
        solve(&basin, |_| u);
        go(&basin, voxels);
        let mut reached = 0.0_f64;
        for (axis, cell, at) in faces(-16, 16, voxel) {
            let found = basin.face(basin.field.velocity, axis, cell);
            if is_set(found) {
                assert!((found - u[axis]).abs() < 1e-5, "{found} at {at}");
                reached = reached.max(at.length());
            } else {
                // Along the diagonal of a cell, a step takes it farther by 1/√3 of a voxel.
                let least = radius + (f64::from(voxels) / 3.0_f64.sqrt() - 1.0) * voxel;
                assert!(at.length() > least, "{at} is not reached with {voxels}");
            }
        }
        let most = radius + (f64::from(voxels) + 1.0) * voxel;
        assert!(reached <= most && reached > radius + (f64::from(voxels) - 0.5) * voxel);
    }
}

/// Each new value is a mean: none is beyond what was solved for.
#[test]
fn what_goes_on_stays_between_what_was_solved_for() {
    let voxel = 0.1;
    let basin = Basin::new(voxel, [-1; 3], [1; 3]);
    basin.pour(|at| (at - DVec3::new(0.1, 0.0, 0.05)).length() - 0.35);
    let u = |at: DVec3| DVec3::new(at.y, at.z - at.x, 2.0 * at.x);
    solve(&basin, u);
    let range = |axis: usize| {
        let all = faces(-8, 8, voxel).into_iter().filter(|face| face.0 == axis);
        let values: Vec<f64> = all
            .map(|(axis, cell, _)| basin.face(basin.field.velocity, axis, cell))
            .filter(|value| is_set(*value))
            .collect();
        (
            values.iter().copied().fold(f64::INFINITY, f64::min),
            values.iter().copied().fold(f64::NEG_INFINITY, f64::max),
            values.len(),
        )
    };
    let before = [0, 1, 2].map(range);
    go(&basin, 4);
    for (axis, (low, high, few)) in before.into_iter().enumerate() {
        let (lowest, highest, many) = range(axis);
        assert!(lowest >= low - 1e-6 && highest <= high + 1e-6 && many > 2 * few);
    }
}

/// Down a slope of 30°, water goes along it; so it does in the air above, and in the ground below.
#[test]
fn along_a_slope_velocities_go_on_along_it() {
    let voxel = 0.1;
    let basin = Basin::new(voxel, [-2; 3], [2; 3]);
    let (sin, cos) = (0.5, 0.75_f64.sqrt());
    let (normal, down) = (DVec3::new(sin, cos, 0.0), DVec3::new(cos, -sin, 0.0));
    basin.wall(|at| at.dot(normal) + 0.02, |_| DVec3::ZERO);
    basin.pour(|at| (at.dot(normal) - 0.4).max(at.length() - 1.2));
    solve(&basin, |_| 2.0 * down);
    go(&basin, 4);
    let mut in_ground = 0;
    for (axis, cell, at) in faces(-10, 10, voxel) {
        let found = basin.face(basin.field.velocity, axis, cell);
        if is_set(found) {
            assert!((found - 2.0 * down[axis]).abs() < 1e-4, "{found} at {at}");
            in_ground += usize::from(at.dot(normal) < -0.02);
        }
    }
    assert!(in_ground > 500);
}

/// What would lead into the ground does not: there the ground's own velocity counts across it.
#[test]
fn in_a_moving_wall_velocities_across_it_are_its_own() {
    let voxel = 0.1;
    let basin = Basin::new(voxel, [-1; 3], [1; 3]);
    let ground = DVec3::new(0.0, 0.7, 0.3);
    basin.wall(|at| at.y + 0.23, |_| ground);
    basin.pour(|at| at.y - 0.3);
    solve(&basin, |_| DVec3::new(1.0, -2.0, 0.5));
    go(&basin, 4);
    for (axis, cell, at) in faces(-7, 7, voxel) {
        let found = basin.face(basin.field.velocity, axis, cell);
        let expected = match axis {
            0 => 1.0,
            1 => ground.y,
            _ => 0.5,
        };
        if (-0.5..-0.28).contains(&at.y) {
            assert!((found - expected).abs() < 1e-5, "{axis}: {found} at {at}");
        }
    }
}

/// A wall of no thickness between cells that are all open.
#[test]
fn nothing_goes_on_through_a_thin_wall() {
    let voxel = 0.1;
    let basin = Basin::new(voxel, [-1; 3], [1; 3]);
    let in_wall = |axis: usize, at: DVec3| axis == 0 && at.x.abs() < 1e-9;
    basin.fill_mac(basin.field.walls.area, |axis, at| f64::from(!in_wall(axis, at)));
    basin.fill(basin.field.walls.volume, DVec3::splat(0.5), |_| 1.0);
    basin.fill(basin.field.walls.distance, DVec3::splat(0.5), |at| at.x.abs());
    basin.pour(|at| at.x + 0.1);
    solve(&basin, |_| DVec3::new(1.0, 2.0, 3.0));
    go(&basin, 5);
    for (axis, cell, at) in faces(-7, 7, voxel) {
        let found = basin.face(basin.field.velocity, axis, cell);
        if in_wall(axis, at) {
            assert_eq!(found, 0.0, "{at}");
        } else if at.x > 0.0 {
            assert!(!is_set(found), "{found} at {at}");
        } else {
            assert!((found - (axis + 1) as f64).abs() < 1e-5, "{found} at {at}");
        }
    }
}

/// Along the ground the flow is the slower the deeper it is. What particles brought into the ground goes on as it was there, and
/// sped up as the water is.
#[test]
fn in_the_ground_what_was_brought_goes_on_and_changes_as_the_fluid_does() {
    let voxel = 0.1;
    let basin = Basin::new(voxel, [-2; 3], [2; 3]);
    basin.wall(|at| at.y, |_| DVec3::ZERO);
    basin.pour(|at| (at.y - 0.4).max(at.length() - 1.2));
    let before = |at: DVec3| DVec3::new(3.0 + at.y, 0.0, 0.0);
    solve(&basin, |at| before(at) + DVec3::new(0.5, 0.0, 0.0));
    let known = basin.field.velocity_before;
    basin.fill_mac(known, |axis, at| before(at)[axis]);
    // What is positive will do as a mass.
    let brought = Brought { velocity: known, mass: known };
    extend_change(&basin.domain, basin.volume(), &basin.field, brought, 3, None).unwrap();
    let mut in_ground = 0;
    for (axis, cell, at) in faces(-10, 10, voxel) {
        let found = basin.face(basin.field.velocity, axis, cell);
        if axis == 0 && at.y < 0.0 && is_set(found) {
            assert!((found - before(at).x - 0.5).abs() < 1e-5, "{found} at {at}");
            in_ground += 1;
        }
    }
    assert!(in_ground > 500);
}

#[test]
fn any_number_of_threads_extends_to_the_same_bytes() {
    let results = [1, 3].map(|threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let basin = Basin::new(0.1, [-2; 3], [2; 3]);
            basin.wall(|at| at.y + 0.3 * at.x + 0.4, |at| DVec3::new(0.0, at.x, 0.1));
            basin.pour(|at| (at - 0.1).length() - 0.7);
            solve(&basin, |at| DVec3::new(at.y.sin(), at.z * at.x, (3.0 * at.x).cos()));
            go(&basin, 4);
            let all = faces(-16, 16, 0.1).into_iter();
            all.map(|(axis, cell, _)| basin.face(basin.field.velocity, axis, cell).to_bits())
                .collect::<Vec<_>>()
        })
    });
    assert!(results[0] == results[1]);
}

/// What is behind a wall is what is before it, one cell deep, so that nothing seems to flow out of the wall.
#[test]
fn numbers_go_on_into_walls_by_a_cell() {
    let mut basin = Basin::new(0.1, [0; 3], [2, 1, 1]);
    let volume = &mut basin.volumes[basin.field.volume];
    let spec = undine_core::ChannelSpec::new("smoke", 0.25_f32);
    let smoke = volume.add_channel(&spec, undine_core::volume::VoxelShape::CELLS).unwrap();
    basin.wall(|at| 0.5 - at.x, |_| DVec3::ZERO);
    basin.fill(smoke, DVec3::splat(0.5), |at| if at.x < 0.5 { 2.0 } else { 7.0 });
    undine_fluid::extend::extend_cells(
        &basin.domain,
        basin.volume(),
        basin.field.walls.volume,
        &[smoke],
    )
    .unwrap();
    let found: Vec<f32> = (3..8).map(|x| basin.value(smoke, [x, 4, 4])).collect();
    assert_eq!(found, [2.0, 2.0, 2.0, 0.25, 0.25]);
}
