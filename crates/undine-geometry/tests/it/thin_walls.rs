//! Walls thinner than a voxel hold what is inside of them: also along creases, of shapes, sheets and colliders.

use crate::solids::{cells, domain};
use undine_core::Bucket;
use undine_core::glam::{DQuat, DVec3, IVec3};
use undine_core::volume::Resolution;
use undine_geometry::{
    Collider, Inside, MeshSolid, Motion, Pose, Several, Shape, Solid, Triangles, gallery,
};

const VOXEL: f64 = 0.1;

/// How many cells a flood from the origin reaches through faces that are open, of those in a cube of ± 2 m.
fn flood(solid: &dyn Solid) -> usize {
    let mut domain = domain(VOXEL);
    let buckets = domain.buckets_in_box(DVec3::splat(-2.0), DVec3::splat(2.0), 0).unwrap();
    domain.set_buckets(&buckets).unwrap();
    let (volume, fractions) = cells(&domain, solid).unwrap();
    let columns = fractions.area.faces.map(|face| volume.column(face).unwrap());
    let half = 20;
    let inside = |cell: IVec3| cell.abs().max_element() < half;
    let place = |cell: IVec3| ((cell.x + half) * 40 + cell.y + half) * 40 + cell.z + half;
    let open = |axis: usize, cell: IVec3| {
        let slot = volume.topology().slot(Bucket::at(0, cell >> 3)).unwrap();
        let [x, y, z] = (cell & 7).to_array().map(|n: i32| n as usize);
        columns[axis].chunk(slot)[Resolution::R8.index(x, y, z)] > 0.0
    };
    let mut seen = vec![false; 64_000];
    let mut next = vec![IVec3::ZERO];
    let mut count = 0;
    while let Some(cell) = next.pop() {
        if !inside(cell) || std::mem::replace(&mut seen[place(cell) as usize], true) {
            continue;
        }
        count += 1;
        for (axis, step) in IVec3::AXES.into_iter().enumerate() {
            if open(axis, cell) {
                next.push(cell - step);
            }
            if open(axis, cell + step) {
                next.push(cell + step);
            }
        }
    }
    count
}

/// About the cells inside of a box of ± 0.8 m, and many less than all.
fn is_held(count: usize) -> bool {
    (3000..6500).contains(&count)
}

fn turned(n: u32) -> Pose {
    let axis = DVec3::new(1.0, 0.3 * f64::from(n), 0.7).normalize();
    let rotation = DQuat::from_axis_angle(axis, 0.37 * f64::from(n));
    Pose { rotation, translation: DVec3::new(0.013, -0.021, 0.037) }
}

#[test]
fn a_hollow_box_holds_water_at_any_angle() {
    for n in 0..4 {
        let shell = Shape::cuboid(DVec3::splat(0.8)).unwrap().hollow(1e-3).unwrap();
        let shell = shell.moved(&turned(n)).unwrap();
        let count = flood(&shell);
        assert!(is_held(count), "turn {n}: {count}");
    }
}

#[test]
fn the_sheets_of_a_box_hold_water_as_a_mesh_and_as_a_collider() {
    let mesh = MeshSolid::new(gallery::cuboid(DVec3::splat(0.8)), Inside::Thickness(1e-6)).unwrap();
    for n in 0..4 {
        let motion = Motion::still(turned(n)).unwrap();
        let collider = Collider::mesh(mesh.clone()).with_motion(motion);
        let count = flood(&collider.during(0.0, 0.1).unwrap());
        assert!(is_held(count), "turn {n}: {count}");
    }
}

#[test]
fn six_plates_hold_water_together_and_five_do_not() {
    let plate = |axis: usize, side: f64| {
        let mut half = DVec3::splat(0.8);
        half[axis] = 1e-4;
        let mut at = DVec3::splat(0.013);
        at[axis] += 0.8 * side;
        Shape::cuboid(half).unwrap().moved(&Pose::at(at)).unwrap()
    };
    let plates: Vec<Shape> = (0..6).map(|n| plate(n / 2, [-1.0, 1.0][n % 2])).collect();
    let held = flood(&Several(plates.iter().collect()));
    assert!(is_held(held), "{held}");
    assert_eq!(flood(&Several(plates[..5].to_vec())), 39 * 39 * 39);
}

#[test]
fn an_open_sheet_ends_where_it_ends() {
    // Around its edge the water gets to the other side.
    let sheet: Triangles = gallery::sheet([1.0, 1.0], [4, 4]);
    let sheet = MeshSolid::new(sheet, Inside::Thickness(1e-6)).unwrap();
    assert_eq!(flood(&sheet), 39 * 39 * 39);
}
