//! What the kept pictures show.

use std::borrow::Cow;
use undine_core::glam::{DMat3, DVec3, IVec3, Vec3};
use undine_core::mesh::{Bounds, Strands};
use undine_geometry::gallery;
use undine_geometry::random::unit;
use undine_geometry::triangles::Triangles;
use undine_render::overlay::BucketBox;
use undine_render::shot::{
    Appearance, Camera, Chunk, Colouring, Finish, Ground, Light, Mesh, Numbers, Places, Shot,
    Subject, Volume,
};

pub const CLAY: Vec3 = Vec3::new(0.55, 0.19, 0.09);
pub const BLUE: Vec3 = Vec3::new(0.06, 0.2, 0.5);
pub const PAPER: Vec3 = Vec3::new(0.72, 0.68, 0.6);
pub const LEAF: Vec3 = Vec3::new(0.16, 0.34, 0.1);

/// A Shot on a ground at height 0 on a fair day.
pub fn shot<'a>(subjects: Vec<Subject<'a>>, eye: [f64; 3], target: [f64; 3]) -> Shot<'a> {
    let camera = Camera::new(eye.into(), target.into(), DVec3::Y, 0.5).unwrap();
    let ground = Ground { point: DVec3::ZERO, normal: Vec3::Y };
    Shot { subjects, camera, light: Light::default(), grounds: vec![ground], shutter: 0.0 }
}

/// A mesh of one colour, turned about the vertical [rad] and moved.
pub fn solid(made: &Triangles, colour: Vec3, turn: f64, place: [f64; 3]) -> Mesh<'_> {
    Mesh {
        positions: Places::World(made.positions()),
        triangles: Cow::Borrowed(made.indices()),
        placed: Some((DMat3::from_rotation_y(turn), place.into())),
        normals: None,
        smooth: true,
        velocities: None,
        turning: None,
        values: None,
        colouring: Colouring::Plain(colour),
        finish: Finish::Solid,
    }
}

/// A mesh of water that stays where it was made.
pub fn water(made: &Triangles) -> Mesh<'_> {
    let finish = Finish::Water { absorption: Vec3::new(1.6, 0.45, 0.22) };
    Mesh { finish, placed: None, ..solid(made, Vec3::ONE, 0.0, [0.0; 3]) }
}

/// A slab of water with round edges and waves on it, from height 0 up to about twice the middle of `half`.
pub fn pool(half: DVec3) -> Triangles {
    let slab = gallery::blob(6, |direction| {
        // A ball in the norm of a high power is nearly a box.
        let power = 14.0;
        let parts = (direction / half).abs().to_array().map(|part| part.powf(power));
        parts.iter().sum::<f64>().powf(-1.0 / power)
    });
    let waves = |at: &DVec3| {
        let high = (0.5 + 0.5 * at.y / half.y).clamp(0.0, 1.0);
        let wave = (5.0 * at.x + 1.3 * (3.0 * at.z).sin()).sin() + 0.6 * (7.0 * at.z + at.x).cos();
        DVec3::new(at.x, at.y + half.y + 0.02 * high * wave, at.z)
    };
    let places = slab.positions().iter().map(waves).collect();
    Triangles::new(places, slab.indices().to_vec()).unwrap()
}

/// Points of a box of water that has begun to fall: a lattice, each a little off, and how fast each is [m/s].
pub fn splash() -> (Vec<DVec3>, Vec<f32>) {
    let lattice = (0..24).flat_map(|x| (0..20).flat_map(move |y| (0..12).map(move |z| [x, y, z])));
    let points = lattice.enumerate().map(|(n, cell)| {
        let off = DVec3::from_array([0, 1, 2].map(|axis| unit(axis, n as u64) - 0.5));
        let at = (DVec3::from_array(cell.map(f64::from)) + 0.5 + 0.6 * off) * 0.05;
        // What is high and in front has run out along the ground.
        let out = (at.x / 1.2).powi(2) * at.y.sqrt();
        let place = DVec3::new(at.x + 0.7 * out, at.y * (1.0 - 0.75 * (at.x / 1.2).powi(2)), at.z);
        (place, (4.0 * out) as f32)
    });
    points.unzip()
}

/// Hair on the upper part of a ball: curves that stand up, fall over and curl.
pub fn hair(count: u64, radius: f64) -> (Vec<DVec3>, Strands) {
    const POINTS: u32 = 14;
    let strand = |n: u64| {
        // Even on a sphere, by the golden angle.
        let high = 1.0 - 1.25 * (n as f64 + 0.5) / count as f64;
        let (sin, cos) = (n as f64 * 2.399_963_229_728_653).sin_cos();
        let flat = (1.0 - high * high).sqrt();
        let outwards = DVec3::new(flat * cos, high, flat * sin);
        let curl = 6.0 * unit(1, n);
        (0..POINTS).map(move |point| {
            let t = f64::from(point) / f64::from(POINTS - 1);
            let (sin, cos) = (9.0 * t + curl).sin_cos();
            let side = 0.05 * t * DVec3::new(cos, 0.0, sin);
            let long = radius * (0.75 + 0.3 * unit(2, n));
            radius * outwards + long * (t * outwards - 0.75 * t * t * DVec3::Y) + radius * side
        })
    };
    let places = (0..count).flat_map(strand).collect();
    let offsets = (0..=count as u32).map(|n| n * POINTS).collect();
    (places, Strands::open(offsets).unwrap())
}

/// Cubes of 8³ voxels with density and temperature by place.
pub struct Cubes {
    voxel: f64,
    cubes: Vec<(IVec3, Vec<f32>, Vec<f32>)>,
}

impl Cubes {
    /// Of those cubes between two corners [m] that have anything.
    pub fn new(voxel: f64, low: DVec3, high: DVec3, of: impl Fn(DVec3) -> (f32, f32)) -> Self {
        let cube = 8.0 * voxel;
        let (low, high) = ((low / cube).floor().as_ivec3(), (high / cube).ceil().as_ivec3());
        let places = (low.x..high.x).flat_map(|x| {
            (low.y..high.y).flat_map(move |y| (low.z..high.z).map(move |z| IVec3::new(x, y, z)))
        });
        let filled = places.map(|place| {
            let value = |n: i32| {
                let own = 8 * place + IVec3::new(n >> 6, n >> 3 & 7, n & 7);
                of(voxel * (own.as_dvec3() + 0.5))
            };
            let (density, hot): (Vec<f32>, Vec<f32>) = (0..512).map(value).unzip();
            (place, density, hot)
        });
        Self {
            voxel,
            cubes: filled.filter(|(_, values, _)| values.iter().any(|v| *v != 0.0)).collect(),
        }
    }

    /// As a volume moved to a corner [m].
    pub fn volume(&self, corner: DVec3, extinction: f32, appearance: Appearance) -> Volume<'_> {
        let chunks = self
            .cubes
            .iter()
            .map(|(place, density, hot)| Chunk {
                place: *place,
                density,
                temperature: Some(hot),
                values: Some(Numbers::F32(hot)),
            })
            .collect();
        Volume { extinction, appearance, ..Volume::smoke(corner, self.voxel, chunks) }
    }
}

/// Noise without a direction, about −1 to 1: waves turned against each other, ever smaller.
pub fn noise(at: DVec3) -> f64 {
    let turn = DMat3::from_axis_angle(DVec3::new(0.5, 0.7, 0.5).normalize(), 1.9);
    let (mut place, mut height, mut sum) = (at, 0.6, 0.0);
    for _ in 0..4 {
        sum +=
            height * place.x.sin() * (place.y + 0.7 * place.z.sin()).sin() * (place.z + 1.0).cos();
        place = turn * place * 1.9 + 3.1;
        height *= 0.62;
    }
    1.6 * sum
}

/// A plume that rises from the origin: narrow below, wide and curled above, up to a height [m].
pub fn plume(height: f64, voxel: f64) -> Cubes {
    let wide = 0.42 * height;
    Cubes::new(voxel, DVec3::new(-wide, 0.0, -wide), DVec3::new(wide, 1.05 * height, wide), |at| {
        let up = (at.y / height).clamp(0.0, 1.0);
        let lean = DVec3::new(0.12 * height * up * up, 0.0, 0.0);
        let radius = height * (0.05 + 0.24 * up.powf(1.2));
        let away = DVec3::new(at.x - lean.x, 0.0, at.z).length() / radius;
        let ragged = noise(at * 7.0 / height * (1.0 + 0.6 * (1.0 - up)));
        let dense = 1.15 - away + 0.55 * ragged - (8.0 * (up - 0.88)).max(0.0);
        let density = (2.2 * dense).clamp(0.0, 1.0) as f32;
        // Hot inside and below.
        let hot = (2100.0 * (1.0 - 0.75 * up) * (1.1 - 0.6 * away + 0.3 * ragged)).max(0.0) as f32;
        (density, if density > 0.0 { hot } else { 0.0 })
    })
}

/// The distance from three balls that have grown together, and its height above the ground instead of a temperature.
pub fn distances(voxel: f64) -> Cubes {
    let balls = [
        (DVec3::new(-0.35, 0.42, 0.0), 0.4),
        (DVec3::new(0.3, 0.36, 0.12), 0.34),
        (DVec3::new(0.02, 0.86, 0.02), 0.26),
    ];
    Cubes::new(voxel, DVec3::new(-1.0, -0.1, -0.7), DVec3::new(0.9, 1.4, 0.7), |at| {
        let sharp = 14.0;
        let sum: f64 =
            balls.iter().map(|(middle, r)| (-sharp * (at.distance(*middle) - r)).exp()).sum();
        let ripple = 0.012 * (26.0 * at.y).sin();
        ((-sum.ln() / sharp + ripple) as f32, at.y as f32)
    })
}

/// The Buckets with points in them, those that are high a level finer.
pub fn buckets(points: &[DVec3]) -> Vec<BucketBox> {
    let side = |level: usize| 0.3 / (1 << level) as f64;
    let level_of = |point: &DVec3| usize::from(point.y > 0.6);
    let mut places: Vec<_> = points
        .iter()
        .map(|point| {
            let level = level_of(point);
            (level, (*point / side(level)).floor().as_ivec3().to_array())
        })
        .collect();
    places.sort_unstable();
    places.dedup();
    let bucket = |(level, place): (usize, [i32; 3])| {
        let min = IVec3::from_array(place).as_dvec3() * side(level);
        let process = usize::from(min.x >= 0.6);
        BucketBox { bounds: Bounds { min, max: min + side(level) }, level, process }
    };
    places.into_iter().map(bucket).collect()
}
