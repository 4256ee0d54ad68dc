//! Channels of a Discrete Volume as grids.

use undine_core::glam::{DVec3, IVec3, Vec3};
use undine_core::volume::{Axis, Centring, DiscreteVolume, Resolution, VoxelShape};
use undine_core::{Bucket, BucketSet, ChannelSpec, Element, Frame, GridDomain, Handle};
use undine_io::vdb::{
    Active, ChannelGrid, GridValue, GridVisitor, Levels, Sampling, Velocity, VolumeGrid,
    VolumeOptions, VolumeSampler, each_grid, grids, masks,
};
use undine_io::{UpAxis, names};
use undine_vdb::{Class, Content, Entry, FileOrder, Grid, LeafSet, Tree, VOXELS};

/// A Domain with these Buckets.
pub fn domain(origin: DVec3, voxel: f64, buckets: impl IntoIterator<Item = Bucket>) -> GridDomain {
    let mut domain = GridDomain::new("box", Frame::new(origin, voxel).unwrap());
    domain.set_buckets(&BucketSet::from_buckets(buckets).unwrap()).unwrap();
    domain
}

/// A cube of Buckets, `from .. to` along each axis.
pub fn cube(level: u8, from: i32, to: i32) -> impl Iterator<Item = Bucket> {
    let axis = move || from..to;
    axis().flat_map(move |x| {
        axis().flat_map(move |y| axis().map(move |z| Bucket::at(level, IVec3::new(x, y, z))))
    })
}

/// Sets every voxel of a channel by the place of its value in the world [m].
pub fn fill<T: Element>(volume: &DiscreteVolume, handle: Handle<T>, value: impl Fn(DVec3) -> T) {
    let topology = volume.topology();
    let mut column = volume.column_mut(handle).unwrap();
    let shape = column.shape();
    for slot in 0..topology.local() as u32 {
        let bucket = topology.bucket(slot);
        let size = topology.frame().bucket_size(bucket.level) / shape.resolution.edge() as f64;
        let corner = topology.frame().corner(bucket);
        for (place, voxel) in column.chunk_mut(slot).iter_mut().enumerate() {
            let at = DVec3::from_array(shape.resolution.coords(place).map(|c| c as f64));
            *voxel = value(corner + (at + shape.centring.offset().as_dvec3()) * size);
        }
    }
}

pub fn floats(grid: &Grid) -> &Tree<f32> {
    let Content::Float(tree) = &grid.content else { panic!("{:?}", grid.content.kind()) };
    tree
}

pub fn vectors(grid: &Grid) -> &Tree<[f32; 3]> {
    let Content::Vec3s(tree) = &grid.content else { panic!("{:?}", grid.content.kind()) };
    tree
}

fn plain(channel: &str) -> ChannelGrid<'_> {
    ChannelGrid { channel, class: Class::Unknown, active: Active::All }
}

#[test]
fn a_chunk_is_the_leafs_buffer_itself() {
    let domain = domain(DVec3::ZERO, 0.1, cube(0, -2, 2));
    let mut volume = DiscreteVolume::new("smoke", &domain);
    let heat = volume.add_channel(&ChannelSpec::new("heat", 0.0_f32), VoxelShape::CELLS).unwrap();
    fill(&volume, heat, |at| at.x as f32 + 7.0);

    struct Addresses(Vec<*const u8>);
    impl GridVisitor for Addresses {
        fn visit<V: GridValue>(&mut self, grid: &VolumeGrid<'_, V>) -> undine_io::Result<()> {
            for leaf in 0..grid.leaves.len() {
                let mut scratch = [V::default(); VOXELS];
                self.0.push(grid.leaves.values(leaf, &mut scratch).as_ptr().cast());
            }
            Ok(())
        }
    }
    let mut found = Addresses(Vec::new());
    each_grid(&domain, &volume, &plain("heat"), &VolumeOptions::default(), &mut found).unwrap();
    let column = volume.column(heat).unwrap();
    let mut wanted: Vec<*const u8> =
        (0..64).map(|slot| column.chunk(slot).as_ptr().cast()).collect();
    found.0.sort();
    wanted.sort();
    assert_eq!(found.0, wanted);
}

#[test]
fn a_voxel_is_in_the_world_where_the_volume_has_it() {
    let far = DVec3::new(12_345.5, -1e6, 77.7);
    for (origin, centring) in [
        (DVec3::ZERO, Centring::Cell),
        (far, Centring::Cell),
        (far, Centring::Node),
        (far, Centring::Face(Axis::Y)),
    ] {
        for resolution in [Resolution::R2, Resolution::R4, Resolution::R8, Resolution::R16] {
            let domain = domain(origin, 0.25, cube(0, -1, 2));
            let mut volume = DiscreteVolume::new("smoke", &domain);
            let shape = VoxelShape { resolution, centring };
            let spec = ChannelSpec::new("x", DVec3::ZERO);
            let x = volume.add_channel(&spec, shape).unwrap();
            fill(&volume, x, |at| at);
            let grids = grids(&domain, &volume, &plain("x"), &VolumeOptions::default()).unwrap();
            let Content::Vec3d(tree) = &grids[0].content else { panic!() };
            let mut voxels = 0;
            for (leaf, origin) in tree.leaves.origins.iter().enumerate() {
                for voxel in 0..VOXELS {
                    let value = tree.leaves.values[leaf * VOXELS + voxel];
                    let [i, j, k] = Resolution::R8.coords(voxel).map(|c| c as i32);
                    let index = [origin[0] + i, origin[1] + j, origin[2] + k].map(f64::from);
                    // Where there is no Bucket for a part of a leaf, there is background.
                    if value != [0.0; 3] {
                        let world = DVec3::from_array(grids[0].transform.world(index));
                        assert!(world.distance(value.into()) < 1e-8, "{world} {value:?}");
                        voxels += 1;
                    }
                }
            }
            assert_eq!(voxels, 27 * resolution.voxels(), "{shape:?}");
            assert!(tree.leaves.origins.is_sorted_by_key(|&origin| FileOrder::of(origin)));
        }
    }
}

#[test]
fn fog_is_active_where_it_is_and_empty_leaves_are_left_out() {
    let domain = domain(DVec3::ZERO, 0.1, cube(0, 0, 3));
    let mut volume = DiscreteVolume::new("smoke", &domain);
    let density =
        volume.add_channel(&ChannelSpec::new("density", 0.0_f32), VoxelShape::CELLS).unwrap();
    fill(&volume, density, |at| (0.5 - at.distance(DVec3::splat(0.8))).max(0.0) as f32);
    let options = VolumeOptions::default();
    let fog = &grids(&domain, &volume, &ChannelGrid::customary("density"), &options).unwrap()[0];
    assert_eq!((fog.name.as_str(), fog.class), ("density", Class::FogVolume));
    assert_eq!(fog.metadata["unit"], Entry::String("kg/m3".into()));
    let tree = floats(fog);
    assert_eq!(tree.background, 0.0);
    // The ball reaches from 0.3 to 1.3: the Buckets at 1.6 have none of it.
    assert_eq!(tree.leaves.origins.len(), 8);
    for (values, mask) in tree.leaves.values.chunks(VOXELS).zip(&tree.leaves.masks) {
        assert!((0..VOXELS).all(|voxel| mask.is_on(voxel) == (values[voxel] > 0.0)));
    }

    // With a threshold, what is below is as if it were not there.
    let dense = ChannelGrid::customary("density").active(Active::Above(0.3));
    let dense = &grids(&domain, &volume, &dense, &options).unwrap()[0];
    let values = &floats(dense).leaves.values;
    assert!(values.iter().all(|&value| value == 0.0 || value > 0.3));
    assert!(floats(dense).active_voxels() < tree.active_voxels());

    // A velocity where there is smoke.
    volume
        .add_channel(&ChannelSpec::new("velocity", Vec3::X).unit("m/s"), VoxelShape::CELLS)
        .unwrap();
    let smoke = masks(&domain, &volume, &ChannelGrid::customary("density"), &options).unwrap();
    let velocity = ChannelGrid::customary("velocity").active(Active::Like(&smoke));
    let velocity = &grids(&domain, &volume, &velocity, &options).unwrap()[0];
    assert_eq!(velocity.name, "vel");
    assert_eq!(vectors(velocity).leaves.masks, tree.leaves.masks);
}

#[test]
fn a_nan_stays_to_be_seen() {
    let domain = domain(DVec3::ZERO, 0.1, cube(0, 0, 1));
    let mut volume = DiscreteVolume::new("smoke", &domain);
    for (channel, active) in [("density", Active::Above(0.1)), ("surface", Active::Band)] {
        let spec = ChannelSpec::new(channel, 0.0_f32);
        let handle = volume.add_channel(&spec, VoxelShape::CELLS).unwrap();
        volume.column_mut(handle).unwrap().chunk_mut(0)[77] = f32::NAN;
        let channel = ChannelGrid::customary(channel).active(active);
        let grids = grids(&domain, &volume, &channel, &VolumeOptions::default()).unwrap();
        assert!(floats(&grids[0]).leaves.masks[0].is_on(77));
        assert!(floats(&grids[0]).leaves.values[77].is_nan());
    }
}

/// A sphere in a band of Buckets around its surface.
pub fn sphere(
    origin: DVec3,
    radius: f64,
    resolution: Resolution,
    voxel: f64,
) -> (GridDomain, DiscreteVolume) {
    let frame = Frame::new(origin, voxel).unwrap();
    let reach = (radius / frame.bucket_size(0)) as i32 + 2;
    let half =
        frame.bucket_size(0) * 0.5 * 3_f64.sqrt() + 4.0 * voxel * 8.0 / resolution.edge() as f64;
    let near = cube(0, -reach, reach)
        .filter(|&bucket| ((frame.centre(bucket) - origin).length() - radius).abs() < half);
    let domain = domain(origin, voxel, near);
    let mut volume = DiscreteVolume::new("ball", &domain);
    let shape = VoxelShape::CELLS.with_resolution(resolution);
    let distance = volume.add_channel(&ChannelSpec::new("surface", 1.0_f32), shape).unwrap();
    fill(&volume, distance, |at| ((at - origin).length() - radius) as f32);
    (domain, volume)
}

#[test]
fn a_level_set_reads_inside_everywhere_inside() {
    for (resolution, origin) in [
        (Resolution::R8, DVec3::ZERO),
        (Resolution::R8, DVec3::new(1e5, -3e4, 0.25)),
        (Resolution::R16, DVec3::ZERO),
        (Resolution::R4, DVec3::ZERO),
        (Resolution::R2, DVec3::ZERO),
    ] {
        let voxel = 0.02 * resolution.edge() as f64 / 8.0;
        let (domain, volume) = sphere(origin, 2.5, resolution, voxel);
        let surface = ChannelGrid::customary("surface");
        let grid = &grids(&domain, &volume, &surface, &VolumeOptions::default()).unwrap()[0];
        assert_eq!((grid.name.as_str(), grid.class), ("surface", Class::LevelSet));
        let tree = floats(grid);
        let size = grid.transform.voxel_size()[0];
        let background = (3.0 * size) as f32;
        assert!((size - 0.02).abs() < 1e-12, "{resolution:?}");
        assert_eq!(tree.background, background);
        for (values, mask) in tree.leaves.values.chunks(VOXELS).zip(&tree.leaves.masks) {
            for (voxel, value) in values.iter().enumerate() {
                assert_eq!(mask.is_on(voxel), value.abs() < background);
                assert!(value.abs() <= background);
            }
            assert!(
                mask.count() > 0
                    || values.iter().any(|&v| v < 0.0) && values.iter().any(|&v| v > 0.0)
            );
        }
        assert!(!tree.tiles.is_empty());
        assert!(tree.tiles.iter().all(|tile| tile.value == -background && !tile.active));
        assert!(tree.tiles.is_sorted_by_key(|tile| FileOrder::of(tile.origin)));

        // Along rays from the middle to far outside, the sign is right and the distance within the band too.
        let sampler = VolumeSampler::new(tree, &grid.transform).unwrap();
        for ray in 0..200 {
            let z = (f64::from(ray) + 0.5) / 100.0 - 1.0;
            let (sine, cosine) = (f64::from(ray) * 2.4).sin_cos();
            let ray = DVec3::new((1.0 - z * z).sqrt() * cosine, (1.0 - z * z).sqrt() * sine, z);
            for step in 0..300 {
                let along = f64::from(step) * 0.013;
                let wanted = (along - 2.5).clamp(-f64::from(background), f64::from(background));
                let found = f64::from(sampler.at(origin + ray * along));
                assert!(
                    (found - wanted).abs() < 0.5 * size,
                    "{along}: {found} {wanted} {resolution:?}"
                );
            }
        }
    }
}

#[test]
fn a_staggered_velocity_is_on_its_faces() {
    // Linear in x, y, z: linear interpolation between faces gives it exactly.
    let flow = |at: DVec3| DVec3::new(2.0 * at.x - at.y, at.z + 0.5 * at.y, at.x - 3.0 * at.z);
    for resolution in [Resolution::R4, Resolution::R8, Resolution::R16] {
        let domain = domain(DVec3::new(100.0, 0.0, -50.0), 0.125, cube(0, -2, 2));
        let mut volume = DiscreteVolume::new("gas", &domain);
        let mac = volume.add_mac("velocity", "m/s", resolution).unwrap();
        for (axis, face) in mac.faces.into_iter().enumerate() {
            fill(&volume, face, |at| flow(at)[axis] as f32);
        }
        let velocity = ChannelGrid::customary("velocity");
        let mut options = VolumeOptions::default();
        let grid = &grids(&domain, &volume, &velocity, &options).unwrap()[0];
        assert_eq!((grid.name.as_str(), grid.class), ("vel", Class::Staggered));
        assert_eq!(grid.metadata["unit"], Entry::String("m/s".into()));
        let sampler = VolumeSampler::new(vectors(grid), &grid.transform).unwrap();
        let places = || {
            (0..50).map(|n| {
                DVec3::new(100.3, 0.1, -50.4)
                    + 0.02 * DVec3::new(1.0, -2.0, 1.5) * f64::from(n % 40)
            })
        };
        for at in places() {
            let found = Vec3::from(sampler.staggered_at(at)).as_dvec3();
            assert!(found.distance(flow(at)) < 1e-3, "{at}: {found} {}", flow(at));
        }

        options.velocity = Velocity::Centred;
        if resolution == Resolution::R4 {
            let error = grids(&domain, &volume, &velocity, &options).unwrap_err().to_string();
            assert!(error.contains("8 or 16 are needed to be centred"), "{error}");
            continue;
        }
        let grid = &grids(&domain, &volume, &velocity, &options).unwrap()[0];
        assert_eq!(grid.class, Class::Unknown);
        let sampler = VolumeSampler::new(vectors(grid), &grid.transform).unwrap();
        for at in places() {
            let found = Vec3::from(sampler.at(at)).as_dvec3();
            assert!(found.distance(flow(at)) < 1e-3, "{at}: {found} {}", flow(at));
        }
    }
}

#[test]
fn with_z_up_the_same_field_is_turned() {
    let flow = |at: DVec3| DVec3::new(2.0 * at.x - at.y, at.z + 0.5 * at.y, at.x - 3.0 * at.z);
    let domain = domain(DVec3::new(1.0, 2.0, 3.0), 0.125, cube(0, 0, 2));
    let mut volume = DiscreteVolume::new("gas", &domain);
    let mac = volume.add_mac("velocity", "m/s", Resolution::R8).unwrap();
    for (axis, face) in mac.faces.into_iter().enumerate() {
        fill(&volume, face, |at| flow(at)[axis] as f32);
    }
    let heat =
        volume.add_channel(&ChannelSpec::new("temperature", 0.0_f32), VoxelShape::CELLS).unwrap();
    fill(&volume, heat, |at| at.y as f32);
    let options = VolumeOptions { up: UpAxis::Z, ..VolumeOptions::default() };
    let grid = |channel| {
        grids(&domain, &volume, &ChannelGrid::customary(channel), &options).unwrap().remove(0)
    };
    let at = DVec3::new(1.7, 2.8, 4.1);
    let in_file = DVec3::new(1.7, -4.1, 2.8);

    let velocity = grid("velocity");
    let found = VolumeSampler::new(vectors(&velocity), &velocity.transform).unwrap().at(in_file);
    assert!(Vec3::from(found).as_dvec3().distance(UpAxis::Z.to_file(flow(at))) < 1e-3);
    assert_ne!(velocity.class, Class::Staggered);

    let heat = grid("temperature");
    assert_eq!(heat.metadata["unit"], Entry::String("K".into()));
    let found = VolumeSampler::new(floats(&heat), &heat.transform).unwrap().at(in_file);
    assert!((found - 2.8).abs() < 1e-5, "{found}");
}

/// Fine Buckets in the middle, coarse ones around them; `f` everywhere.
pub fn two_levels(origin: DVec3, f: impl Fn(DVec3) -> f64) -> (GridDomain, DiscreteVolume) {
    let fine = cube(1, -2, 2).filter(|bucket| bucket.coord.min_element() >= 0);
    let fine = fine.flat_map(|coarse| coarse.children().collect::<Vec<_>>());
    let coarse = cube(1, -2, 2).filter(|bucket| bucket.coord.min_element() < 0);
    let domain = domain(origin, 0.1, fine.chain(coarse));
    let mut volume = DiscreteVolume::new("sky", &domain);
    let spec = ChannelSpec::new("density", 0.0_f32);
    let density = volume.add_channel(&spec, VoxelShape::CELLS).unwrap();
    fill(&volume, density, |at| f(at) as f32);
    (domain, volume)
}

#[test]
fn each_level_is_a_grid_and_the_finest_has_the_plain_name() {
    let origin = DVec3::new(-4e4, 1e3, 7.0);
    let f = |at: DVec3| 10.0 + (at - origin).dot(DVec3::new(0.5, -0.25, 1.0));
    let (domain, volume) = two_levels(origin, f);
    let channel = ChannelGrid::customary("density");
    let grids = grids(&domain, &volume, &channel, &VolumeOptions::default()).unwrap();
    let names: Vec<&str> = grids.iter().map(|grid| grid.name.as_str()).collect();
    assert_eq!(names, ["density", "density_1"]);
    let counts: Vec<usize> = grids.iter().map(|grid| floats(grid).leaves.origins.len()).collect();
    assert_eq!(counts, [64, 56]);
    for (grid, size) in grids.iter().zip([0.1, 0.2]) {
        assert!((grid.transform.voxel_size()[0] - size).abs() < 1e-12);
        let tree = floats(grid);
        for (leaf, corner) in tree.leaves.origins.iter().enumerate() {
            let world = DVec3::from_array(grid.transform.world(corner.map(f64::from)));
            assert!((f64::from(tree.leaves.values[leaf * VOXELS]) - f(world)).abs() < 1e-4);
        }
    }
}

#[test]
fn several_levels_are_resampled_to_the_finest_or_refused() {
    let f = |at: DVec3| 10.0 + at.dot(DVec3::new(0.5, -0.25, 1.0));
    let (domain, volume) = two_levels(DVec3::ZERO, f);
    let channel = ChannelGrid::customary("density");
    let finest = |sampling, most_leaves| VolumeOptions {
        levels: Levels::Finest { sampling, most_leaves },
        ..VolumeOptions::default()
    };
    let all = (4_i32 * 2).pow(3) as usize;
    for (sampling, tolerance) in
        [(Sampling::Linear, 1e-4), (Sampling::Constant, 0.05 * 1.75 + 1e-4)]
    {
        let grids = grids(&domain, &volume, &channel, &finest(sampling, 1000)).unwrap();
        assert_eq!(grids.len(), 1);
        assert_eq!(grids[0].name, "density");
        let tree = floats(&grids[0]);
        assert_eq!(tree.leaves.origins.len(), all);
        let mut largest = 0.0_f64;
        for (leaf, corner) in tree.leaves.origins.iter().enumerate() {
            // Away from the faces, beyond which there is background.
            if corner.iter().any(|&c| !(-24..=16).contains(&c)) {
                continue;
            }
            for voxel in 0..VOXELS {
                let [i, j, k] = Resolution::R8.coords(voxel).map(|c| c as i32);
                let index = [corner[0] + i, corner[1] + j, corner[2] + k].map(f64::from);
                let wanted = f(DVec3::from_array(grids[0].transform.world(index)));
                let error = f64::from(tree.leaves.values[leaf * VOXELS + voxel]) - wanted;
                largest = largest.max(error.abs());
            }
        }
        assert!(largest < tolerance, "{sampling:?}: {largest}");
    }
    let error = grids(&domain, &volume, &channel, &finest(Sampling::Linear, 511)).unwrap_err();
    let error = error.to_string();
    assert!(error.contains("512 leaves") && error.contains("at most 511"), "{error}");
}

#[test]
fn masks_and_whole_numbers_are_grids_too() {
    let domain = domain(DVec3::ZERO, 0.1, cube(0, 0, 2));
    let mut volume = DiscreteVolume::new("box", &domain);
    let mask = volume.add_mask("solid", Resolution::R8).unwrap();
    volume.column_mut(mask.words).unwrap().chunk_mut(3)[2] = 0b101;
    volume.add_channel(&ChannelSpec::new("body", 7_u32), VoxelShape::CELLS).unwrap();
    let options = VolumeOptions::default();
    let solid = ChannelGrid { active: Active::NotBackground, ..plain("solid") };
    let solid = &grids(&domain, &volume, &solid, &options).unwrap()[0];
    let Content::Bool(tree) = &solid.content else { panic!() };
    assert_eq!(tree.leaves.origins.len(), 1);
    assert_eq!(tree.leaves.masks[0].iter().collect::<Vec<_>>(), [128, 130]);
    let body = &grids(&domain, &volume, &plain("body"), &options).unwrap()[0];
    let Content::Int64(tree) = &body.content else { panic!() };
    assert!(tree.leaves.values.iter().all(|&value| value == 7));
}

#[test]
fn what_is_no_grid_is_refused_by_name() {
    let domain = domain(DVec3::ZERO, 0.1, cube(0, 0, 1));
    let mut volume = DiscreteVolume::new("box", &domain);
    volume
        .add_channel(
            &ChannelSpec::new("turn", undine_core::glam::Quat::IDENTITY),
            VoxelShape::CELLS,
        )
        .unwrap();
    volume.add_channel(&ChannelSpec::new("body", 7_u32), VoxelShape::CELLS).unwrap();
    let options = VolumeOptions::default();
    let refused = |channel: ChannelGrid<'_>| {
        grids(&domain, &volume, &channel, &options).unwrap_err().to_string()
    };
    let error = refused(plain("turn"));
    assert!(error.contains("`turn` of box") && error.contains("quat"), "{error}");
    let error = refused(plain("smoke"));
    assert!(error.contains("smoke") && error.contains("turn"), "{error}");
    let error = refused(ChannelGrid { active: Active::Band, ..plain("body") });
    assert!(error.contains("no level set"), "{error}");
    assert!(names::volume("smoke").is_none());
}
