//! What solids leave open of MAC cells: totals, orders, borders and thin walls.

use crate::solids::{Ball, Slab, domain};
use std::f64::consts::PI;
use undine_core::glam::{DVec3, IVec3};
use undine_core::volume::{Resolution, VoxelShape};
use undine_core::{Bucket, BucketSet, ChannelSpec, DiscreteVolume, GridDomain};
use undine_geometry::Solid;
use undine_geometry::fractions::{Fractions, cut};

/// A volume of all Buckets in a cube of ± `half` [m], cut by a solid.
fn cut_by(solid: &dyn Solid, voxel: f64, half: f64) -> (GridDomain, DiscreteVolume, Fractions) {
    let mut domain = domain(voxel);
    let buckets = domain.buckets_in_box(DVec3::splat(-half), DVec3::splat(half), 0).unwrap();
    domain.set_buckets(&buckets).unwrap();
    let mut volume = DiscreteVolume::new("cells", &domain);
    let fractions = Fractions {
        area: volume.add_mac("open", "", Resolution::R8).unwrap(),
        volume: volume.add_channel(&ChannelSpec::new("space", 1.0_f32), VoxelShape::CELLS).unwrap(),
    };
    cut(&domain, &volume, solid, fractions).unwrap();
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
    let mut volume = DiscreteVolume::new("cells", &domain);
    let fractions = Fractions {
        area: volume.add_mac("open", "", Resolution::R8).unwrap(),
        volume: volume.add_channel(&ChannelSpec::new("space", 0.5_f32), VoxelShape::CELLS).unwrap(),
    };
    cut(&domain, &volume, &ball, fractions).unwrap();
    for (bucket, open) in buckets.into_iter().zip([0.0, 1.0]) {
        let slot = volume.topology().slot(bucket).unwrap();
        for handle in fractions.area.faces.into_iter().chain([fractions.volume]) {
            assert!(volume.column(handle).unwrap().chunk(slot).iter().all(|&found| found == open));
        }
    }
}
