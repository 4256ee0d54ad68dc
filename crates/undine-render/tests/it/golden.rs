//! A picture of each kind of thing, compared with the one that is kept in `tests/golden`. `UNDINE_UPDATE=1` makes them anew: look at
//! what changed before keeping it.

mod kept;
mod things;

use kept::{check, check_with};
use things::{
    BLUE, CLAY, LEAF, PAPER, buckets, distances, hair, plume, pool, shot, solid, splash, water,
};
use undine_core::glam::{DVec3, Vec3};
use undine_geometry::gallery;
use undine_render::legend::moment;
use undine_render::overlay::{self, BucketColour};
use undine_render::shot::{
    Appearance, Colouring, Curves, Light, Mesh, Numbers, Places, PointChunk, Points, Radii, Shot,
    Subject, Vectors,
};
use undine_render::{ColourBar, ColourMap, Image, Legend};

fn mapped(name: &str, low: f32, high: f32) -> Colouring {
    Colouring::Mapped { map: ColourMap::named(name).unwrap(), low, high }
}

fn points<'a>(places: &'a [DVec3], values: &'a [f32], radius: f32) -> Subject<'a> {
    let chunk = PointChunk {
        positions: Places::World(places),
        radii: Radii::Same(radius),
        velocities: None,
        values: Some(Numbers::F32(values)),
    };
    Subject::Points(Points { chunks: vec![chunk], colouring: mapped("viridis", 0.0, 4.0) })
}

fn balls<'a>(places: &'a [DVec3], radius: f32, colour: Vec3) -> PointsOf<'a> {
    PointsOf { places, radius, colour, velocities: None }
}

/// Balls of one size and colour.
struct PointsOf<'a> {
    places: &'a [DVec3],
    radius: f32,
    colour: Vec3,
    velocities: Option<Vectors<'a>>,
}

impl<'a> From<PointsOf<'a>> for Subject<'a> {
    fn from(balls: PointsOf<'a>) -> Self {
        let chunk = PointChunk {
            positions: Places::World(balls.places),
            radii: Radii::Same(balls.radius),
            velocities: balls.velocities,
            values: None,
        };
        Self::Points(Points { chunks: vec![chunk], colouring: Colouring::Plain(balls.colour) })
    }
}

#[test]
fn points_coloured_by_a_map_stand_on_the_ground_with_a_legend() {
    let (places, speeds) = splash();
    let shot = shot(vec![points(&places, &speeds, 0.03)], [3.1, 1.6, 3.9], [0.85, 0.15, 0.3]);
    let colours = ColourBar {
        map: ColourMap::named("viridis").unwrap(),
        low: 0.0,
        high: 4.0,
        name: "speed".into(),
        unit: "m/s".into(),
    };
    let legend = Legend {
        title: None,
        moment: Some(moment(12, 0.5)),
        colours: Some(colours),
        metres_per_pixel: None,
    };
    check_with("points", &shot, &legend);
}

#[test]
fn boxes_and_bunnies_are_lit_and_cast_shadows() {
    let (block, plank) =
        (gallery::cuboid(DVec3::splat(0.3)), gallery::cuboid(DVec3::new(0.9, 0.04, 0.2)));
    let (fine, coarse) = (gallery::bunny(5), gallery::bunny(2));
    let subjects = vec![
        Subject::Mesh(solid(&block, BLUE, 0.5, [-0.75, 0.3, -0.35])),
        Subject::Mesh(solid(&plank, PAPER, 0.1, [0.1, 0.04, 0.6])),
        Subject::Mesh(solid(&fine, CLAY, 0.4, [0.05, 0.31, -0.1])),
        Subject::Mesh(Mesh { smooth: false, ..solid(&coarse, LEAF, -0.6, [1.05, 0.31, -0.3]) }),
    ];
    check("solids", &shot(subjects, [1.3, 1.5, 3.4], [0.15, 0.38, 0.0]));
}

#[test]
fn water_bends_and_tints_the_ball_in_it() {
    let pool = pool(DVec3::new(1.2, 0.22, 0.8));
    let places = [DVec3::new(-0.2, 0.36, 0.05)];
    let subjects = vec![Subject::Mesh(water(&pool)), balls(&places, 0.36, CLAY).into()];
    check("water", &shot(subjects, [1.1, 2.4, 3.0], [0.05, 0.24, 0.0]));
}

#[test]
fn hair_shines_along_its_strands() {
    let (places, strands) = hair(2500, 0.5);
    let head = [DVec3::ZERO];
    let curves = Curves {
        positions: Places::World(&places),
        strands: &strands,
        radii: Radii::Same(0.004),
        velocities: None,
        values: None,
        colouring: Colouring::Plain(Vec3::new(0.2, 0.09, 0.035)),
        hair: true,
    };
    let subjects =
        vec![Subject::Curves(curves), balls(&head, 0.5, Vec3::new(0.2, 0.1, 0.06)).into()];
    let mut shot = shot(subjects, [1.1, 1.0, 3.2], [0.0, 0.0, 0.0]);
    shot.grounds[0].point.y = -0.5;
    check("hair", &shot);
}

#[test]
fn smoke_hides_and_shades_the_ball_behind_it() {
    let plume = plume(1.5, 0.03);
    let places = [DVec3::new(0.2, 0.32, -0.6), DVec3::new(-0.35, 0.16, 0.4)];
    let subjects = vec![
        Subject::Volume(plume.volume(DVec3::ZERO, 9.0, Appearance::SMOKE)),
        balls(&places[..1], 0.3, CLAY).into(),
        balls(&places[1..], 0.16, BLUE).into(),
    ];
    check("smoke", &shot(subjects, [0.6, 1.0, 3.9], [0.1, 0.8, 0.0]));
}

/// At night, so that the fire is the brightest thing.
fn dusk() -> Light {
    let fair = Light::default();
    Light {
        sun_colour: Vec3::new(0.1, 0.12, 0.18),
        sky: 0.1,
        horizon: Vec3::new(0.05, 0.06, 0.09),
        zenith: Vec3::new(0.01, 0.015, 0.03),
        ..fair
    }
}

#[test]
fn fire_glows_where_it_is_hot() {
    let plume = plume(1.5, 0.03);
    let places = [DVec3::new(0.5, 0.15, 0.25)];
    let subjects = vec![
        Subject::Volume(plume.volume(DVec3::ZERO, 6.0, Appearance::FIRE)),
        balls(&places, 0.15, PAPER).into(),
    ];
    let shot = shot(subjects, [0.6, 1.0, 3.9], [0.1, 0.8, 0.0]);
    check("fire", &Shot { light: dusk(), ..shot });
}

#[test]
fn the_boxes_of_buckets_are_drawn_around_what_is_in_them() {
    let (places, speeds) = splash();
    let lines = overlay::buckets(&buckets(&places), BucketColour::Level, 1.2);
    let subjects = vec![points(&places, &speeds, 0.02), Subject::Lines(lines)];
    check("buckets", &shot(subjects, [2.9, 1.5, 3.6], [0.85, 0.36, 0.3]));
}

#[test]
fn a_level_set_is_the_surface_at_its_zero() {
    let cubes = distances(0.025);
    let surface = Appearance::Surface { level: 0.0, colouring: mapped("viridis", 0.0, 1.2) };
    let mut volume = cubes.volume(DVec3::ZERO, 1.0, surface);
    volume.background = 1.0;
    check("level-set", &shot(vec![Subject::Volume(volume)], [1.2, 1.2, 3.2], [0.0, 0.5, 0.0]));
}

/// How deep is what is seen where a place is in the middle of the picture's pixels.
fn seen_towards(image: &Image, shot: &Shot<'_>, place: DVec3) -> (f32, f64) {
    let [right, up, forward] = shot.camera.axes();
    let at = place - shot.camera.eye;
    let depth = at.dot(forward);
    let [width, height] = [image.size.width, image.size.height].map(|n| n as f64);
    let pixels = 0.5 * height / (0.5 * shot.camera.field_of_view).tan();
    let x = 0.5 * width + pixels * at.dot(right) / depth;
    let y = 0.5 * height - pixels * at.dot(up) / depth;
    (image.depth[y as usize * image.size.width + x as usize], depth)
}

#[test]
fn all_kinds_hide_each_other_as_they_stand() {
    let bunny = gallery::bunny(4);
    let pool = pool(DVec3::new(0.55, 0.12, 0.4));
    let places: Vec<_> =
        pool.positions().iter().map(|place| *place + DVec3::new(0.85, 0.0, 0.5)).collect();
    let pool = undine_geometry::triangles::Triangles::new(places, pool.indices().to_vec()).unwrap();
    let cubes = distances(0.05);
    let colouring = mapped("viridis", 0.0, 1.2);
    let surface = cubes.volume(
        DVec3::new(-1.3, 0.0, -0.9),
        1.0,
        Appearance::Surface { level: 0.0, colouring },
    );
    let surface = undine_render::shot::Volume { background: 1.0, ..surface };
    let plume = plume(1.1, 0.03);
    let smoke = plume.volume(DVec3::new(0.75, 0.0, -0.9), 8.0, Appearance::SMOKE);
    let heap = [
        DVec3::new(-0.5, 0.14, 0.75),
        DVec3::new(-0.24, 0.14, 0.85),
        DVec3::new(-0.37, 0.36, 0.8),
        DVec3::new(0.75, 0.2, 0.5),
    ];
    // A rope past the level set, through the bunny, and out over the water.
    let rope: Vec<_> = (0..40)
        .map(|n| {
            let t = f64::from(n) / 39.0;
            DVec3::new(-1.5 + 3.1 * t, 0.42 + 0.12 * (9.0 * t).sin(), -0.25 + 0.5 * t)
        })
        .collect();
    let strands = undine_core::mesh::Strands::open(vec![0, 40]).unwrap();
    let curves = Curves {
        positions: Places::World(&rope),
        strands: &strands,
        radii: Radii::Same(0.035),
        velocities: None,
        values: None,
        colouring: Colouring::Plain(PAPER),
        hair: false,
    };
    let subjects = vec![
        Subject::Volume(surface),
        Subject::Volume(smoke),
        Subject::Mesh(solid(&bunny, CLAY, 0.4, [0.0, 0.31, -0.05])),
        Subject::Mesh(water(&pool)),
        balls(&heap, 0.14, BLUE).into(),
        Subject::Curves(curves),
        Subject::Lines(overlay::buckets(&buckets(&heap), BucketColour::Level, 1.5)),
    ];
    let shot = shot(subjects, [0.7, 1.3, 4.6], [0.0, 0.42, 0.0]);
    let image = check("all", &shot);
    // The ball in front is seen by its front; so is the water before the rope's end, and not the bunny's back.
    let (seen, own) = seen_towards(&image, &shot, heap[2]);
    assert!((f64::from(seen) - (own - 0.14)).abs() < 0.02, "{seen} {own}");
    let (seen, own) = seen_towards(&image, &shot, DVec3::new(0.0, 0.36, -0.05));
    assert!(f64::from(seen) < own - 0.2, "{seen} {own}");
    // The level set hides what is behind it.
    let (seen, own) = seen_towards(&image, &shot, DVec3::new(-1.65, 0.42, -1.5));
    assert!(f64::from(seen) < own - 0.3, "{seen} {own}");
}

#[test]
fn what_moves_while_the_shutter_is_open_is_blurred_along_its_way() {
    let block = gallery::cuboid(DVec3::splat(0.28));
    // It turns by a radian in the time.
    let turning: Vec<_> =
        block.positions().iter().map(|place| 24.0 * DVec3::Y.cross(*place)).collect();
    let (still, fast) = ([DVec3::new(-0.95, 0.2, 0.1)], [DVec3::new(0.85, 0.55, 0.0)]);
    let velocity = [DVec3::new(9.0, 3.0, 0.0)];
    let subjects = vec![
        balls(&still, 0.2, CLAY).into(),
        PointsOf { velocities: Some(Vectors::Double(&velocity)), ..balls(&fast, 0.2, CLAY) }.into(),
        Subject::Mesh(Mesh {
            velocities: Some(Vectors::Double(&turning)),
            ..solid(&block, BLUE, 0.4, [-0.15, 0.28, -0.1])
        }),
    ];
    let shot = shot(subjects, [0.4, 1.1, 3.6], [0.0, 0.38, 0.0]);
    check("motion", &Shot { shutter: 1.0 / 24.0, ..shot });
}
