//! What solids leave open of MAC cells: totals, orders, borders and thin walls.

use crate::levelset_bits::on_threads;
use crate::solids::{Ball, Slab, cells, domain};
use std::f64::consts::PI;
use undine_core::glam::{DVec3, IVec3};
use undine_core::volume::{Resolution, VoxelShape};
use undine_core::{Bucket, BucketSet, ChannelSpec, DiscreteVolume, GridDomain};
use undine_geometry::collider::Collider;
use undine_geometry::fractions::{Fractions, cut, open_area, open_volume};
use undine_geometry::levelset::{Extent, LevelSet};
use undine_geometry::{Inside, MeshSolid, Solid, Triangles, gallery, random};

/// A volume of all Buckets in a cube of ± `half` [m], cut by a solid.
fn cut_by(solid: &dyn Solid, voxel: f64, half: f64) -> (GridDomain, DiscreteVolume, Fractions) {
    let mut domain = domain(voxel);
    let buckets = domain.buckets_in_box(DVec3::splat(-half), DVec3::splat(half), 0).unwrap();
    domain.set_buckets(&buckets).unwrap();
    let (volume, fractions) = cells(&domain, solid).unwrap();
    (domain, volume, fractions)
}

/// The closed volume [m³], and by Gauss its surface's projections onto the three planes, counted once a side [m²].
fn closed(volume: &DiscreteVolume, fractions: Fractions, voxel: f64) -> (f64, [f64; 3]) {
    let slots = 0..volume.topology().local() as u32;
    let total = |handle| {
        let column = volume.column(handle).unwrap();
        slots
            .clone()
            .flat_map(|slot| column.chunk(slot).to_vec())
            .map(|open| 1.0 - f64::from(open))
            .sum::<f64>()
    };
    // The closed areas of all faces across an axis, times the voxel between them, are the volume once more.
    let sections = fractions.area.faces.map(|face| total(face) * voxel.powi(3));
    (total(fractions.volume) * voxel.powi(3), sections)
}

#[test]
fn volume_and_sections_of_a_ball_converge_with_second_order() {
    let ball = Ball { centre: DVec3::new(0.03, -0.02, 0.05), radius: 0.7 };
    let exact = 4.0 / 3.0 * PI * ball.radius.powi(3);
    let errors = [0.1, 0.05, 0.025].map(|voxel| {
        let (_, volume, fractions) = cut_by(&ball, voxel, 1.0);
        let (space, sections) = closed(&volume, fractions, voxel);
        for section in sections {
            assert!((section / exact - 1.0).abs() < 0.02, "{section} instead of {exact}");
        }
        (space / exact - 1.0).abs()
    });
    assert!(errors[0] / errors[2] > 12.0 && errors[2] < 1e-3, "{errors:?}");
}

#[test]
fn a_plane_at_any_angle_is_cut_exactly() {
    // The distance to a plane is linear, so that fractions are exact: the mean over faces is the share of the box.
    for normal in [DVec3::X, DVec3::new(1.0, 2.0, 3.0), DVec3::new(-0.3, 1.0, 0.2)] {
        let slab = Slab { centre: DVec3::ZERO, normal: normal.normalize(), half: 100.0 };
        let slab = Slab { centre: -100.0 * slab.normal, ..slab };
        let (_, volume, fractions) = cut_by(&slab, 0.125, 1.0);
        // A plane through the middle of a symmetric box halves it.
        let (space, _) = closed(&volume, fractions, 0.125);
        assert!((space - 4.0).abs() < 1e-4, "{normal}: {space}");
    }
}

#[test]
fn neighbours_agree_and_an_object_moved_by_whole_voxels_is_cut_alike() {
    let voxel = 0.0625;
    let ball = Ball { centre: DVec3::new(0.03125, 0.125, -0.0625), radius: 0.4 };
    let (_, here, fractions) = cut_by(&ball, voxel, 1.0);
    let shift = IVec3::new(3, -2, 5);
    let moved = Ball { centre: ball.centre + shift.as_dvec3() * voxel, ..ball };
    let (_, there, _) = cut_by(&moved, voxel, 1.0);
    let read = |volume: &DiscreteVolume, handle, voxel: IVec3| {
        let (bucket, within): (IVec3, IVec3) = (voxel >> 3, voxel & 7);
        let slot = volume.topology().slot(Bucket::at(0, bucket)).unwrap();
        let [x, y, z] = within.to_array().map(|n| n as usize);
        volume.column(handle).unwrap().chunk(slot)[Resolution::R8.index(x, y, z)]
    };
    let mut cut = 0;
    for x in -9..9 {
        for y in -9..9 {
            for z in -9..9 {
                let at = IVec3::new(x, y, z);
                for handle in fractions.area.faces.into_iter().chain([fractions.volume]) {
                    let open = read(&here, handle, at);
                    assert_eq!(open, read(&there, there_handle(&there, &here, handle), at + shift));
                    cut += u32::from(open > 0.0 && open < 1.0);
                }
            }
        }
    }
    assert!(cut > 500);
}

/// The handle of the channel of another volume with the same name.
fn there_handle(
    there: &DiscreteVolume,
    here: &DiscreteVolume,
    handle: undine_core::Handle<f32>,
) -> undine_core::Handle<f32> {
    there.handle(&here.channels().info(handle).unwrap().name).unwrap()
}

#[test]
fn a_wall_thinner_than_a_voxel_closes_the_faces_that_it_crosses_and_no_others() {
    let voxel = 0.1;
    // Tilted, a fiftieth of a voxel thick, and between the corners of voxels.
    let wall = Slab {
        centre: DVec3::new(0.013, 0.0, 0.0),
        normal: DVec3::new(1.0, 0.31, 0.17).normalize(),
        half: 1e-3,
    };
    let (_, volume, fractions) = cut_by(&wall, voxel, 1.0);
    let topology = volume.topology();
    let mut closed = 0;
    for slot in 0..topology.local() as u32 {
        let first = topology.bucket(slot).coord * 8;
        for (axis, &handle) in fractions.area.faces.iter().enumerate() {
            let column = volume.column(handle).unwrap();
            for (place, &open) in column.chunk(slot).iter().enumerate() {
                let cell = Resolution::R8.coords(place).map(|n| n as f64 + 0.5);
                let upper = (first.as_dvec3() + DVec3::from_array(cell)) * voxel;
                let lower = upper - voxel * IVec3::AXES[axis].as_dvec3();
                let sides = [lower, upper].map(|at| (at - wall.centre).dot(wall.normal));
                let clear = sides.iter().all(|side| side.abs() > 1.1e-3 + 1e-3 * voxel);
                if clear && sides[0] * sides[1] < 0.0 {
                    assert_eq!(open, 0.0, "{lower} to {upper}");
                    closed += 1;
                } else if clear && sides.iter().all(|side| side.abs() > 0.09) {
                    assert_eq!(open, 1.0, "{lower} to {upper}");
                }
            }
        }
    }
    assert!(closed > 1000, "{closed}");
}

#[test]
fn a_bucket_far_away_is_open_or_closed_as_a_whole() {
    let ball = Ball { centre: DVec3::splat(0.4), radius: 30.0 };
    let mut domain = domain(0.1);
    let buckets = [Bucket::new(0, 0, 0), Bucket::new(100, 0, 0)];
    domain.set_buckets(&BucketSet::from_buckets(buckets).unwrap()).unwrap();
    let (volume, fractions) = cells(&domain, &ball).unwrap();
    for (bucket, open) in buckets.into_iter().zip([0.0, 1.0]) {
        let slot = volume.topology().slot(bucket).unwrap();
        for handle in fractions.area.faces.into_iter().chain([fractions.volume]) {
            assert!(volume.column(handle).unwrap().chunk(slot).iter().all(|&found| found == open));
        }
    }
}

/// The open part of the face below a cell, across an axis.
fn face(volume: &DiscreteVolume, fractions: Fractions, axis: usize, cell: IVec3) -> f32 {
    let (bucket, within): (IVec3, IVec3) = (cell >> 3, cell & 7);
    let slot = volume.topology().slot(Bucket::at(0, bucket)).unwrap();
    let [x, y, z] = within.to_array().map(|n| n as usize);
    volume.column(fractions.area.faces[axis]).unwrap().chunk(slot)[Resolution::R8.index(x, y, z)]
}

/// Sheets across x at these places [m], with a thickness [m].
fn sheets(places: &[f64], thickness: f64) -> MeshSolid {
    let (mut positions, mut triangles) = (Vec::new(), Vec::new());
    for &x in places {
        let (more, indices) = gallery::sheet([4.0, 4.0], [3, 3]).into_parts();
        let first = positions.len() as u32;
        positions.extend(more.iter().map(|at| DVec3::new(x, at.x, at.y)));
        triangles.extend(indices.iter().map(|t| t.map(|v| v + first)));
    }
    MeshSolid::new(Triangles::new(positions, triangles).unwrap(), Inside::Thickness(thickness))
        .unwrap()
}

/// Whether a row of cells along x is closed somewhere between two cells.
fn row_is_closed(
    volume: &DiscreteVolume,
    fractions: Fractions,
    from: i32,
    to: i32,
    y: i32,
) -> bool {
    (from..=to).any(|x| face(volume, fractions, 0, IVec3::new(x, y, 1)) == 0.0)
}

#[test]
fn no_row_of_cells_leads_through_a_sheet_wherever_it_lies_between_centres_and_corners() {
    let voxel = 0.1;
    for thickness in [1e-9, 1e-3, 0.02, 0.06, 0.099] {
        for part in [0.0, 0.1, 0.25, 0.4999, 0.5, 0.501, 0.75, 0.999] {
            let solid = sheets(&[part * voxel], thickness);
            let (_, volume, fractions) = cut_by(&solid, voxel, 0.3);
            for y in -3..3 {
                assert!(
                    row_is_closed(&volume, fractions, -3, 4, y),
                    "{thickness} {part}: leaks in row {y}"
                );
            }
            // Along the sheet, and away from it, all is open.
            assert_eq!(face(&volume, fractions, 0, IVec3::new(-3, 0, 0)), 1.0);
            assert_eq!(face(&volume, fractions, 1, IVec3::new(-3, 0, 0)), 1.0);
        }
    }
}

#[test]
fn walls_closer_than_a_cell_are_all_walls() {
    let voxel = 0.1;
    // The second is between the centres at 0.05 and 0.15; the first is just behind the lower one, and so nearer to it.
    for places in [[0.045, 0.14], [0.04, 0.148], [0.06, 0.155]] {
        let solid = sheets(&places, 1e-6);
        let (_, volume, fractions) = cut_by(&solid, voxel, 0.3);
        for x in 0..3 {
            let ends = [f64::from(x) - 0.5, f64::from(x) + 0.5].map(|at| at * voxel);
            let walls = places.iter().filter(|&&at| ends[0] < at && at < ends[1]).count();
            let open = face(&volume, fractions, 0, IVec3::new(x, 1, 1));
            assert_eq!(open == 0.0, walls > 0, "{places:?} {x}: {open}");
        }
    }
}

#[test]
fn a_wall_ends_where_its_sheet_ends() {
    let voxel = 0.1;
    let (positions, indices) = gallery::sheet([0.8, 0.8], [4, 4]).into_parts();
    let positions = positions.iter().map(|at| DVec3::new(0.013, at.x, at.y)).collect();
    let solid =
        MeshSolid::new(Triangles::new(positions, indices).unwrap(), Inside::Thickness(1e-4))
            .unwrap();
    let collider = Collider::mesh(solid.clone());
    let step = collider.during(0.0, 1.0).unwrap();
    for solid in [&solid as &dyn Solid, &step] {
        let (_, volume, fractions) = cut_by(solid, voxel, 0.8);
        for y in -7..7 {
            for z in -7..7 {
                let inside = |n: i32| (-4..4).contains(&n);
                let open = face(&volume, fractions, 0, IVec3::new(0, y, z));
                assert_eq!(open == 0.0, inside(y) && inside(z), "{y} {z}: {open}");
            }
        }
    }
}

#[test]
fn a_level_set_is_cut_as_the_shape_that_it_is_of() {
    let ball = Ball { centre: DVec3::new(0.03, -0.02, 0.05), radius: 0.7 };
    let exact = 4.0 / 3.0 * PI * ball.radius.powi(3);
    // Coarser and finer than the cells: the band is wider and narrower than a Bucket.
    for voxel in [0.2, 0.1, 0.04, 0.02] {
        let set = LevelSet::of_solid("ball", &domain(voxel), &ball, Extent::NARROW).unwrap();
        let collider = Collider::level_set(set, None).unwrap();
        let step = collider.during(0.0, 1.0).unwrap();
        let (_, volume, fractions) = cut_by(&step, 0.05, 1.0);
        let (space, sections) = closed(&volume, fractions, 0.05);
        for found in sections.into_iter().chain([space]) {
            assert!((found / exact - 1.0).abs() < 0.05, "{voxel}: {found} instead of {exact}");
        }
    }
}

#[test]
fn distances_that_are_none_give_fractions_all_the_same() {
    for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -f64::NAN, f64::MAX, f64::MIN] {
        for good in [1.0, -1.0, 0.0, bad] {
            for n in 0..256_u32 {
                let corners = std::array::from_fn(|k| if n >> k & 1 == 1 { bad } else { good });
                let open = open_volume(corners);
                assert!((0.0..=1.0).contains(&open), "{corners:?}: {open}");
                let open = open_area([corners[0], corners[1], corners[2], corners[3]]);
                assert!((0.0..=1.0).contains(&open), "{corners:?}: {open}");
            }
        }
    }
    for n in 0..200_000_u64 {
        let corner = |k: u64| {
            let size = 10.0_f64.powf(-20.0 * random::unit(3, 8 * n + k));
            size * (random::unit(4, 8 * n + k) - 0.5)
        };
        let corners: [f64; 8] = std::array::from_fn(|k| corner(k as u64));
        assert!((0.0..=1.0).contains(&open_volume(corners)), "{corners:?}");
        let area = open_area([corners[0], corners[1], corners[2], corners[3]]);
        assert!((0.0..=1.0).contains(&area), "{corners:?}");
    }
}

#[test]
fn channels_of_another_resolution_are_refused() {
    let mut domain = domain(0.1);
    let all = BucketSet::from_buckets([Bucket::new(0, 0, 0)]).unwrap();
    domain.set_buckets(&all).unwrap();
    for resolution in [Resolution::R4, Resolution::R16] {
        let mut volume = DiscreteVolume::new("cells", &domain);
        let fine = VoxelShape { resolution, ..VoxelShape::CELLS };
        let fractions = Fractions {
            area: volume.add_mac("open", "", Resolution::R8).unwrap(),
            volume: volume.add_channel(&ChannelSpec::new("space", 1.0_f32), fine).unwrap(),
        };
        let ball = Ball { centre: DVec3::splat(0.4), radius: 0.3 };
        let refused = cut(&domain, &volume, &ball, fractions).unwrap_err();
        assert!(refused.to_string().contains('8'), "{refused}");
    }
}

#[test]
fn bits_do_not_depend_on_threads() {
    let mesh = MeshSolid::new(gallery::bunny(3), Inside::Thickness(1e-3)).unwrap();
    let [one, two, seven] = [1, 2, 7].map(|threads| {
        on_threads(threads, || {
            let (_, volume, fractions) = cut_by(&mesh, 0.05, 0.8);
            let all = fractions.area.faces.into_iter().chain([fractions.volume]);
            let bits = |handle| {
                let column = volume.column(handle).unwrap();
                let slots = 0..volume.topology().local() as u32;
                slots.flat_map(|slot| column.chunk(slot).to_vec()).map(f32::to_bits).collect()
            };
            all.map(bits).collect::<Vec<Vec<u32>>>()
        })
    });
    assert!(one == two && one == seven);
}
