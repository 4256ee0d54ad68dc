//! Fields that are extended off a surface.

use crate::levelset_bits::on_threads;
use crate::solids::{Ball, domain};
use undine_core::glam::{DVec3, Vec3};
use undine_core::volume::{Axis, Blend, Resolution, VoxelShape};
use undine_core::{Accessor, ChannelSpec, Handle};
use undine_geometry::Solid;
use undine_geometry::levelset::{Extent, Extrapolation, Known, LevelSet, Order};

const VOXEL: f64 = 0.0625;
const BALL: Ball = Ball { centre: DVec3::new(0.02, -0.01, 0.03), radius: 1.0 };

fn ball() -> LevelSet {
    LevelSet::of_solid("ball", &domain(VOXEL), &BALL, Extent::Band(4.0)).unwrap()
}

/// The places of a channel's values.
fn place(set: &LevelSet, slot: u32, n: usize, shape: VoxelShape) -> DVec3 {
    let voxel = DVec3::new((n >> 6) as f64, (n >> 3 & 7) as f64, (n & 7) as f64);
    let offset = shape.centring.offset().as_dvec3();
    set.domain().frame().corner(set.topology().bucket(slot)) + VOXEL * (voxel + offset)
}

/// Writes a function where it is known, and nonsense elsewhere.
fn fill<T: Blend>(
    set: &LevelSet,
    channel: Handle<T>,
    side: Known,
    value: impl Fn(DVec3) -> T + Sync,
    nonsense: T,
) {
    let shape = set.volume().column(channel).unwrap().shape();
    let accessor = Accessor::new("fill", set.domain()).over(set.topology());
    accessor
        .run(set.volume().write(channel), |here, values| {
            for (n, to) in values.iter_mut().enumerate() {
                let at = place(set, here.slot, n, shape);
                // A margin, because a face's distance is a mean of two.
                let margin = if side == Known::Inside { 0.1 } else { -0.1 };
                let inside = BALL.distance(at) < margin * VOXEL;
                *to = if inside == (side == Known::Inside) { value(at) } else { nonsense };
            }
        })
        .unwrap();
}

/// The largest difference from a function up to so many voxels away on the unknown side.
fn worst(
    set: &LevelSet,
    channel: Handle<f32>,
    side: Known,
    voxels: f64,
    value: impl Fn(DVec3) -> f32,
) -> f32 {
    let column = set.volume().column(channel).unwrap();
    let mut worst = 0.0_f32;
    for slot in 0..set.topology().local() as u32 {
        for (n, found) in column.chunk(slot).iter().enumerate() {
            let at = place(set, slot, n, column.shape());
            let sign = if side == Known::Inside { 1.0 } else { -1.0 };
            let away = sign * BALL.distance(at) / VOXEL;
            if (0.5..voxels - 0.3).contains(&away) {
                worst = worst.max((found - value(at)).abs());
            }
        }
    }
    worst
}

#[test]
fn a_field_goes_on_along_normals() {
    for side in [Known::Inside, Known::Outside] {
        let mut set = ball();
        let spec = ChannelSpec::new("heat", 0.0_f32);
        let channel = set.volume_mut().add_channel(&spec, VoxelShape::CELLS).unwrap();
        let field = |at: DVec3| {
            let n = (at - BALL.centre).normalize();
            (n.x * n.y + 0.5 * n.z) as f32
        };
        fill(&set, channel, side, field, 1e6);
        let how = Extrapolation { distance: 3.0 * VOXEL, order: Order::Constant, known: side };
        set.extrapolate(channel, &how).unwrap();
        assert!(set.volume().handle::<f32>("extrapolated").is_err());
        let error = worst(&set, channel, side, 3.0, field);
        assert!(error < 0.06, "{side:?}: {error}");
        // What is farther away stays.
        let column = set.volume().column(channel).unwrap();
        let farthest = |slot| column.chunk(slot).iter().fold(0.0_f32, |a, b| a.max(*b));
        assert_eq!((0..set.topology().local() as u32).map(farthest).fold(0.0, f32::max), 1e6);
    }
}

#[test]
fn a_linear_field_goes_on_linearly_in_cells_and_on_faces() {
    let field = |at: DVec3| (2.0 + 3.0 * at.x - at.y + 0.5 * at.z) as f32;
    let mut set = ball();
    let spec = ChannelSpec::new("heat", 0.0_f32);
    let channel = set.volume_mut().add_channel(&spec, VoxelShape::CELLS).unwrap();
    let error = |set: &mut LevelSet, order| {
        fill(set, channel, Known::Inside, field, f32::NAN);
        let how = Extrapolation { distance: 3.0 * VOXEL, order, known: Known::Inside };
        set.extrapolate(channel, &how).unwrap();
        worst(set, channel, Known::Inside, 3.0, field)
    };
    let [constant, linear] = [Order::Constant, Order::Linear].map(|order| error(&mut set, order));
    // Three voxels of slope 3.2 are 0.6.
    assert!(constant > 0.4 && linear < 0.06, "{constant} {linear}");

    let velocity = set.volume_mut().add_mac("velocity", "m/s", Resolution::R8).unwrap();
    for face in velocity.faces {
        fill(&set, face, Known::Inside, field, 1e6);
    }
    let how = Extrapolation { distance: 3.0 * VOXEL, order: Order::Linear, known: Known::Inside };
    set.extrapolate_mac(velocity, &how).unwrap();
    for (axis, face) in Axis::ALL.into_iter().zip(velocity.faces) {
        let error = worst(&set, face, Known::Inside, 3.0, field);
        assert!(error < 0.08, "{axis:?}: {error}");
    }
}

#[test]
fn vectors_go_on_as_their_components_do_on_any_number_of_threads() {
    let mut set = ball();
    let component = |at: DVec3, k: usize| (at[k] * at[(k + 1) % 3]) as f32;
    let spec = ChannelSpec::new("velocity", Vec3::ZERO);
    let vector = set.volume_mut().add_channel(&spec, VoxelShape::CELLS).unwrap();
    let spec = ChannelSpec::new("y", 0.0_f32);
    let scalar = set.volume_mut().add_channel(&spec, VoxelShape::CELLS).unwrap();
    let all = |at: DVec3| Vec3::from_array([0, 1, 2].map(|k| component(at, k)));
    let how = Extrapolation { distance: 3.0 * VOXEL, order: Order::Linear, known: Known::Inside };
    fill(&set, scalar, Known::Inside, |at| component(at, 1), 0.0);
    set.extrapolate(scalar, &how).unwrap();
    let scalars = values(&set, scalar);
    let results = [1, 2, 7].map(|threads| {
        fill(&set, vector, Known::Inside, all, Vec3::ZERO);
        on_threads(threads, || set.extrapolate(vector, &how)).unwrap();
        values(&set, vector)
    });
    assert_eq!(results[0], results[1]);
    assert_eq!(results[0], results[2]);
    assert!(results[0].iter().zip(&scalars).all(|(vector, scalar)| vector.y == *scalar));
}

fn values<T: Blend>(set: &LevelSet, channel: Handle<T>) -> Vec<T> {
    let column = set.volume().column(channel).unwrap();
    (0..set.topology().local() as u32).flat_map(|slot| column.chunk(slot).to_vec()).collect()
}

#[test]
fn what_cannot_be_extended_is_refused_or_stays() {
    let mut set = ball();
    let spec = ChannelSpec::new("heat", 5.0_f32);
    let channel = set.volume_mut().add_channel(&spec, VoxelShape::CELLS).unwrap();
    let coarse = VoxelShape::CELLS.with_resolution(Resolution::R4);
    let spec = ChannelSpec::new("coarse", 5.0_f32);
    let coarse = set.volume_mut().add_channel(&spec, coarse).unwrap();
    let how = Extrapolation { distance: 1.0, order: Order::Linear, known: Known::Inside };
    assert!(set.extrapolate(coarse, &how).unwrap_err().to_string().contains("8 voxels"));
    for distance in [0.0, -1.0, f64::NAN] {
        assert!(set.extrapolate(channel, &Extrapolation { distance, ..how }).is_err());
    }
    // A field that is known nowhere stays what it was.
    fill(&set, channel, Known::Inside, |_| f32::NAN, 7.0);
    set.extrapolate(channel, &how).unwrap();
    let column = set.volume().column(channel).unwrap();
    let slots = 0..set.topology().local() as u32;
    assert!(slots.flat_map(|slot| column.chunk(slot)).all(|v| v.is_nan() || *v == 7.0));
}
