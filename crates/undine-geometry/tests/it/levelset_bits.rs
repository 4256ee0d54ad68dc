//! Level sets bit by bit, and how to disturb them.

use std::collections::BTreeMap;
use undine_core::Accessor;
use undine_core::glam::{DVec3, IVec3};
use undine_geometry::levelset::LevelSet;

/// Writes the values of a function of the place [m].
pub fn distort(set: &mut LevelSet, value: impl Fn(DVec3) -> f64 + Sync) {
    let frame = *set.domain().frame();
    let accessor = Accessor::new("distort", set.domain()).over(set.topology());
    accessor
        .run(set.volume().write(set.distance()), |here, distance| {
            for (n, distance) in distance.iter_mut().enumerate() {
                let place = DVec3::new((n >> 6) as f64, (n >> 3 & 7) as f64, (n & 7) as f64) + 0.5;
                let at = frame.corner(here.bucket) + frame.voxel_size(0) * place;
                *distance = value(at) as f32;
            }
        })
        .unwrap();
}

/// The bits of all distances within the band, by voxel, moved back by so many voxels.
pub fn bits(set: &LevelSet, shift: IVec3) -> BTreeMap<[i32; 3], u32> {
    let column = set.column().unwrap();
    let mut bits = BTreeMap::new();
    for slot in 0..set.topology().local() as u32 {
        let corner = set.topology().bucket(slot).coord * 8 - shift;
        for (n, value) in column.chunk(slot).iter().enumerate() {
            let n = n as i32;
            let voxel = corner + IVec3::new(n >> 6, n >> 3 & 7, n & 7);
            if value.abs() < set.width() {
                bits.insert(voxel.to_array(), value.to_bits());
            }
        }
    }
    bits
}

/// Runs on so many threads.
pub fn on_threads<R: Send>(threads: usize, run: impl FnOnce() -> R + Send) -> R {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(run)
}
