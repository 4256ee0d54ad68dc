//! The velocities that a file has beside a level set, on its voxels: a cached flow, for whatever follows one.

use super::Fault;
use undine_core::domain::VOXELS_PER_BUCKET;
use undine_core::glam::{DVec3, Vec3};
use undine_core::volume::VoxelShape;
use undine_core::{Accessor, Bucket, BucketSet, ChannelSpec};
use undine_geometry::levelset::LevelSet;
use undine_io::IoError;
use undine_io::vdb::{ReadOptions, VolumeSampler};
use undine_sim::input::VELOCITY;
use undine_vdb::{Class, Content, Grid, GridHead, Kind, Tree};

/// Whether a grid holds velocities.
pub(super) fn has_velocities(head: &GridHead, options: &ReadOptions) -> bool {
    let is_vector = matches!(head.kind, Kind::Vec3s | Kind::Vec3d);
    is_vector && matches!(options.names.volume_channel(&head.name), "velocity" | VELOCITY)
}

/// Gives a level set the velocities of a grid in a channel `v` [m/s], and the Buckets that the grid has values in: those deep
/// inside as well as those of the band. The grid may have voxels of its own.
pub(super) fn carry(set: &mut LevelSet, grid: &Grid, options: &ReadOptions) -> Result<(), Fault> {
    let reached = set.topology().all().union(&buckets(set, grid, options)?);
    set.cover(&reached)?;
    let spec = ChannelSpec::new(VELOCITY, Vec3::ZERO).unit("m/s");
    let velocity = set.volume_mut().add_channel(&spec, VoxelShape::CELLS)?;
    let at: Box<dyn Fn(DVec3) -> DVec3 + Sync> = match &grid.content {
        Content::Vec3s(tree) => {
            let sampler = VolumeSampler::new(tree, &grid.transform)?;
            let is_staggered = grid.class == Class::Staggered;
            Box::new(move |at| {
                let found = if is_staggered { sampler.staggered_at(at) } else { sampler.at(at) };
                Vec3::from(found).as_dvec3()
            })
        }
        Content::Vec3d(tree) => {
            let sampler = VolumeSampler::new(tree, &grid.transform)?;
            let is_staggered = grid.class == Class::Staggered;
            Box::new(move |at| {
                DVec3::from(if is_staggered { sampler.staggered_at(at) } else { sampler.at(at) })
            })
        }
        _ => return Ok(()),
    };
    let (frame, up) = (*set.domain().frame(), options.up);
    let width = frame.voxel_size(0) as f32;
    let accessor = Accessor::new("take velocities", set.domain()).over(set.topology());
    accessor.run(set.volume().write(velocity), |here, velocities: &mut [Vec3]| {
        let side = VOXELS_PER_BUCKET;
        for (voxel, velocity) in velocities.iter_mut().enumerate() {
            let cell = [voxel / (side * side), voxel / side % side, voxel % side];
            let offset = Vec3::from(cell.map(|c| c as f32 + 0.5)) * width;
            let place = up.to_file(frame.world(here.bucket, offset));
            *velocity = up.from_file(at(place)).as_vec3();
        }
    })?;
    Ok(())
}

/// The Buckets of a level set in which a grid has leaves or active tiles.
fn buckets(set: &LevelSet, grid: &Grid, options: &ReadOptions) -> Result<BucketSet, Fault> {
    let blocks = match &grid.content {
        Content::Vec3s(tree) => blocks(tree),
        Content::Vec3d(tree) => blocks(tree),
        _ => Vec::new(),
    };
    let spans: Vec<[DVec3; 2]> =
        blocks.into_iter().map(|block| span(set, grid, block, options)).collect();
    let number = |[low, high]: &[DVec3; 2]| (*high - *low + 1.0).element_product();
    let count: f64 = spans.iter().map(number).sum();
    // Also true of what is no number.
    if count.is_nan() || count > MOST_BUCKETS {
        return Err(Fault::Io(IoError::Unreadable {
            what: format!("the grid `{}` of velocities", grid.name),
            found: format!("it reaches into {count:.0} Buckets of the level set beside it"),
            wanted: format!(
                "at most {MOST_BUCKETS:.0} are allowed: both should have voxels of about one size"
            ),
        }));
    }
    let mut buckets = Vec::with_capacity(count as usize);
    for [low, high] in spans {
        let [low, high] = [low, high].map(|corner| corner.as_ivec3());
        for x in low.x..=high.x {
            for y in low.y..=high.y {
                buckets.extend((low.z..=high.z).map(|z| Bucket::new(x, y, z)));
            }
        }
    }
    Ok(BucketSet::from_buckets(buckets)?)
}

/// So many Buckets velocities may bring along, those that two of their leaves share counted twice.
const MOST_BUCKETS: f64 = 4e6;

/// The least corner and the side of every leaf and active tile, in voxels.
fn blocks<V>(tree: &Tree<V>) -> Vec<([i32; 3], i32)> {
    let leaves = tree.leaves.origins.iter().map(|&origin| (origin, 8));
    let tiles = tree.tiles.iter().filter(|tile| tile.active);
    leaves.chain(tiles.map(|tile| (tile.origin, tile.level.side()))).collect()
}

/// The first and the last Bucket of a level set that a block of a grid reaches into, by their whole coordinates.
fn span(
    set: &LevelSet,
    grid: &Grid,
    (corner, side): ([i32; 3], i32),
    options: &ReadOptions,
) -> [DVec3; 2] {
    let frame = set.domain().frame();
    // Blocks that end where Buckets do, but for rounding, do not reach into the next.
    let ends = [-0.5 + 1e-3, f64::from(side) - 0.5 - 1e-3];
    let mut low = DVec3::INFINITY;
    let mut high = DVec3::NEG_INFINITY;
    for n in 0..8 {
        let voxel = [0, 1, 2].map(|axis| f64::from(corner[axis]) + ends[n >> axis & 1]);
        let place = options.up.from_file(DVec3::from(grid.transform.world(voxel)));
        let bucket = ((place - frame.origin()) / frame.bucket_size(0)).floor();
        (low, high) = (low.min(bucket), high.max(bucket));
    }
    [low, high]
}
