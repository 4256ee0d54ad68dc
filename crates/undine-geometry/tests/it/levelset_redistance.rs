//! Distances made anew: accuracy, a surface that stays, the same bits everywhere.

use crate::levelset_bits::{bits, distort, on_threads};
use crate::solids::{Ball, domain};
use undine_core::Accessor;
use undine_core::glam::{DVec3, IVec3};
use undine_geometry::Solid;
use undine_geometry::levelset::{Beyond, DistanceChannels, Extent, LevelSet, redistance};

/// Lengths in voxels of 1/8 m.
const VOXEL: f64 = 0.125;

/// A ball whose radius is so many voxels, with values that are no distances.
fn distorted_ball(radius: f64, shift: IVec3) -> (Ball, LevelSet) {
    let centre = (DVec3::new(0.3, -0.2, 0.1) + shift.as_dvec3()) * VOXEL;
    let ball = Ball { centre, radius: radius * VOXEL };
    let mut set = LevelSet::of_solid("ball", &domain(VOXEL), &ball, Extent::NARROW).unwrap();
    distort(&mut set, |at| {
        let at = (at - ball.centre) / VOXEL;
        ball.distance(at * VOXEL + ball.centre)
            * (1.5 + 0.5 * (0.2 * at.x).sin() + 0.3 * (0.15 * at.y).cos())
    });
    (ball, set)
}

/// The largest error next to the surface, that in the band, and the largest deviation of |∇φ| from 1; in voxels.
fn errors(set: &LevelSet, ball: &Ball) -> [f64; 3] {
    let frame = *set.domain().frame();
    let width = f64::from(set.width()) / VOXEL;
    let accessor = Accessor::new("compare", set.domain()).over(set.topology());
    let found = accessor.reduce(
        set.volume().around(set.distance(), 1),
        |here, around| {
            let mut worst = [0.0_f64; 3];
            for n in 0..512 {
                let [x, y, z] = [n >> 6, n >> 3 & 7, n & 7];
                let at = |x, y, z| f64::from(around.at(x, y, z)) / VOXEL;
                let place = DVec3::new(f64::from(x), f64::from(y), f64::from(z)) + 0.5;
                let wanted = ball.distance(frame.corner(here.bucket) + VOXEL * place) / VOXEL;
                let error = (at(x, y, z) - wanted.clamp(-width, width)).abs();
                worst[1] = worst[1].max(error);
                if wanted.abs() < 0.5 {
                    worst[0] = worst[0].max(error);
                }
                if wanted.abs() < width - 1.2 {
                    let slope = DVec3::new(
                        at(x + 1, y, z) - at(x - 1, y, z),
                        at(x, y + 1, z) - at(x, y - 1, z),
                        at(x, y, z + 1) - at(x, y, z - 1),
                    );
                    worst[2] = worst[2].max((0.5 * slope.length() - 1.0).abs());
                }
            }
            worst
        },
        |a, b| std::array::from_fn(|n| a[n].max(b[n])),
    );
    found.unwrap().unwrap()
}

#[test]
fn distances_to_a_ball_are_right_and_next_to_the_surface_of_second_order() {
    let found = [8.0, 16.0, 32.0].map(|radius| {
        let (ball, mut set) = distorted_ball(radius, IVec3::ZERO);
        set.redistance().unwrap();
        errors(&set, &ball)
    });
    for [near, band, slope] in found {
        assert!(near < 0.006 && band < 0.07 && slope < 0.05, "{found:?}");
    }
    assert!(found[1][1] < 0.05, "{found:?}");
    assert!(found[0][1] > 1.5 * found[1][1] && found[1][1] > 1.3 * found[2][1], "{found:?}");

    // Of what is a distance already, the error next to the surface falls with the square.
    let near = [8.0, 16.0, 32.0].map(|radius| {
        let ball = Ball { centre: DVec3::splat(0.04), radius: radius * VOXEL };
        let mut set = LevelSet::of_solid("ball", &domain(VOXEL), &ball, Extent::NARROW).unwrap();
        set.redistance().unwrap();
        errors(&set, &ball)[0]
    });
    assert!(near[0] > 3.2 * near[1] && near[1] > 3.2 * near[2] && near[2] < 3e-4, "{near:?}");
}

#[test]
fn the_surface_stays_where_it_is() {
    let (ball, mut set) = distorted_ball(16.0, IVec3::ZERO);
    set.redistance().unwrap();
    let crossings = |set: &LevelSet| {
        let frame = *set.domain().frame();
        let accessor = Accessor::new("cross", set.domain()).over(set.topology());
        let found = accessor.map(set.volume().around(set.distance(), 1), |here, around| {
            let mut found = Vec::new();
            for n in 0..512 {
                let [x, y, z] = [n >> 6, n >> 3 & 7, n & 7];
                let [a, b] = [around.at(x, y, z), around.at(x, y, z + 1)].map(f64::from);
                let near = a.abs().max(b.abs()) < 1.5 * VOXEL;
                if near && (a < 0.0) != (b < 0.0) {
                    let place = DVec3::new(f64::from(x), f64::from(y), f64::from(z) + a / (a - b));
                    found.push(frame.corner(here.bucket) + VOXEL * (place + 0.5));
                }
            }
            found
        });
        found.unwrap().concat()
    };
    let once = crossings(&set);
    // Linear interpolation between voxels is itself off by 1/(8 R) of a voxel.
    assert!(once.len() > 1000);
    for at in &once {
        assert!(ball.distance(*at).abs() < 0.012 * VOXEL, "{at}");
    }
    set.redistance().unwrap();
    let twice = crossings(&set);
    for (a, b) in once.iter().zip(&twice) {
        assert!(a.distance(*b) < 3e-3 * VOXEL, "{a} {b}");
    }
}

#[test]
fn any_field_becomes_a_distance_or_stays_far() {
    let nothing = |_: DVec3| 0.0;
    let fields: [&(dyn Fn(DVec3) -> f64 + Sync); 6] = [
        &nothing,
        &|_| f64::NAN,
        &|at| if at.x > 0.0 { f64::INFINITY } else { f64::NEG_INFINITY },
        &|at| 1e-30 * (at.length() - 1.0),
        &|at| if at.x.to_bits() % 3 == 0 { -1e30 } else { 1e-30 },
        &|at| if at.y > 0.0 { f64::NAN } else { at.x },
    ];
    for (n, field) in fields.into_iter().enumerate() {
        let (_, mut set) = distorted_ball(9.0, IVec3::ZERO);
        distort(&mut set, field);
        set.find_beyond().unwrap();
        set.redistance().unwrap();
        let width = set.width();
        let column = set.column().unwrap();
        for slot in 0..set.topology().local() as u32 {
            assert!(column.chunk(slot).iter().all(|v| v.abs() <= width), "field {n}");
        }
    }
    // Of the right sign and size, however small the values were.
    let (_, mut set) = distorted_ball(8.0, IVec3::ZERO);
    distort(&mut set, |at| 1e-30 * (at.length() - 1.0));
    set.redistance().unwrap();
    let [near, band, _] = errors(&set, &Ball { centre: DVec3::ZERO, radius: 1.0 });
    assert!(near < 0.05 && band < 0.15, "{near} {band}");
}

#[test]
fn bits_do_not_depend_on_threads_nor_on_where_buckets_begin() {
    let run = |shift: IVec3| {
        let (_, mut set) = distorted_ball(11.0, shift);
        set.rebuild().unwrap();
        bits(&set, shift)
    };
    let wanted = run(IVec3::ZERO);
    assert!(wanted.len() > 5000);
    for shift in [IVec3::new(8, -16, 24), IVec3::new(1, 0, 0), IVec3::new(-3, 5, 2)] {
        assert_eq!(run(shift), wanted, "{shift}");
    }
    for threads in [1, 2, 7] {
        assert_eq!(on_threads(threads, || run(IVec3::ZERO)), wanted, "{threads} threads");
    }
}

#[test]
fn a_channel_of_any_volume_can_be_made_a_distance() {
    let (ball, set) = distorted_ball(12.0, IVec3::ZERO);
    let domain = set.domain().clone();
    let mut liquid = undine_core::DiscreteVolume::new("liquid", &domain);
    let add = |volume: &mut undine_core::DiscreteVolume, name: &str| {
        let spec = undine_core::ChannelSpec::new(name, 0.0_f32);
        volume.add_channel(&spec, undine_core::volume::VoxelShape::CELLS).unwrap()
    };
    let [distance, next] = ["surface", "scratch"].map(|name| add(&mut liquid, name));
    let access = (set.volume().own(set.distance()), liquid.write(distance));
    let accessor = Accessor::new("copy", &domain);
    accessor.run(access, |_, (from, to)| to.copy_from_slice(from)).unwrap();
    let beyond = Beyond::find(&domain, &liquid, distance).unwrap();
    let channels = DistanceChannels { distance, next };
    redistance(&domain, &mut liquid, channels, 2.0 * VOXEL, &beyond).unwrap();
    let frame = *domain.frame();
    let column = liquid.column(distance).unwrap();
    for slot in 0..domain.topology().local() as u32 {
        for (n, found) in column.chunk(slot).iter().enumerate() {
            let place = DVec3::new((n >> 6) as f64, (n >> 3 & 7) as f64, (n & 7) as f64) + 0.5;
            let wanted =
                ball.distance(frame.corner(domain.topology().bucket(slot)) + VOXEL * place);
            let wanted = wanted.clamp(-2.0 * VOXEL, 2.0 * VOXEL);
            assert!((f64::from(*found) - wanted).abs() < 0.05 * VOXEL);
        }
    }
    drop(column);
    for width in [0.0, -1.0, f64::NAN, 1e30] {
        assert!(redistance(&domain, &mut liquid, channels, width, &beyond).is_err());
    }
}

#[test]
fn a_surface_that_reaches_the_end_of_its_buckets_gets_a_whole_band() {
    let (_, mut set) = distorted_ball(11.0, IVec3::ZERO);
    let grown = Ball { centre: DVec3::ZERO, radius: 14.0 * VOXEL };
    distort(&mut set, |at| grown.distance(at));
    set.find_beyond().unwrap();
    set.rebuild().unwrap();
    let wanted = LevelSet::of_solid("grown", &domain(VOXEL), &grown, Extent::NARROW).unwrap();
    // Where the larger ball was outside of all Buckets, nobody knew of it.
    let kept = set.topology().all().intersection(wanted.topology().all()).len();
    assert!(kept as f64 > 0.8 * wanted.topology().all().len() as f64);
    let mut empty = LevelSet::empty("nothing", &domain(VOXEL), 3.0 * VOXEL).unwrap();
    empty.rebuild().unwrap();
    assert_eq!(empty.topology().local(), 0);
}
