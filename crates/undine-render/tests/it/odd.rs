//! What nobody would ask for on purpose: every input gives a picture or an error that says what would be right, never a panic.

use std::borrow::Cow;
use undine_core::glam::{DMat3, DVec3, IVec3, Vec3};
use undine_core::mesh::Strands;
use undine_geometry::gallery;
use undine_render::shot::{
    Appearance, Camera, Chunk, Colouring, Curves, Finish, Ground, Light, Lines, Mesh, Numbers,
    Places, PointChunk, Points, Radii, Shot, Subject, Vectors, Volume,
};
use undine_render::{
    Background, ColourMap, Difference, Image, Quality, Result, Size, exposed, render,
};

/// All that Subjects of every kind borrow: about a metre of each, around a middle.
struct Everything {
    places: Vec<DVec3>,
    corner: DVec3,
    offsets: Vec<Vec3>,
    triangles: Vec<[u32; 3]>,
    strands: Strands,
    radii: Vec<f32>,
    velocities: Vec<DVec3>,
    normals: Vec<Vec3>,
    values: Vec<f32>,
    density: Vec<f32>,
    hot: Vec<f32>,
    edge: f64,
    placed: (DMat3, DVec3),
    colour: Vec3,
    low: f32,
    high: f32,
    extinction: f32,
    level: f32,
    absorption: Vec3,
    width: f32,
}

const KINDS: usize = 13;

/// The places of water and of fire among them.
const WATER: usize = 5;
const FIRE: usize = 9;

impl Everything {
    /// Around a middle, so large [m].
    fn around(middle: DVec3, scale: f64) -> Self {
        let ball = gallery::sphere(0.5 * scale, 2);
        let own = ball.positions();
        let count = own.len();
        let distance = |n: i32| {
            let place = (IVec3::new(n >> 6, n >> 3 & 7, n & 7).as_vec3() + 0.5) / 8.0 - 0.5;
            (place.length() - 0.4) * scale as f32
        };
        Self {
            places: own.iter().map(|place| *place + middle).collect(),
            corner: middle,
            offsets: own.iter().map(|place| place.as_vec3()).collect(),
            triangles: ball.indices().to_vec(),
            strands: Strands::open(vec![0, 20, 21, 21, count as u32]).unwrap(),
            radii: vec![0.06 * scale as f32; count],
            velocities: vec![scale * DVec3::X; count],
            normals: own.iter().map(|place| place.normalize().as_vec3()).collect(),
            values: (0..count).map(|n| n as f32 / count as f32).collect(),
            // Distances scale with everything, and so does what smoke takes them for.
            density: (0..512).map(distance).collect(),
            hot: (0..512).map(|n| 4.0 * n as f32).collect(),
            edge: scale / 8.0,
            placed: (DMat3::IDENTITY, middle),
            colour: Vec3::new(0.6, 0.3, 0.1),
            low: 0.0,
            high: 1.0,
            extinction: 2.0 / (scale * scale) as f32,
            level: 0.0,
            absorption: Vec3::new(2.0, 0.7, 0.3) / scale as f32,
            width: 2.0,
        }
    }

    /// One Subject of each kind, of all that it can have.
    fn subjects(&self) -> [Subject<'_>; KINDS] {
        let mapped =
            Colouring::Mapped { map: ColourMap::default(), low: self.low, high: self.high };
        let plain = Colouring::Plain(self.colour);
        let values = Some(Numbers::F32(&self.values));
        let velocities = Some(Vectors::Double(&self.velocities));
        let radii = Radii::Each(Numbers::F32(&self.radii));
        let points = |positions, radii| {
            let chunk = PointChunk { positions, radii, velocities, values };
            Points { chunks: vec![chunk], colouring: mapped.clone() }
        };
        let places = Places::World(&self.places);
        let offsets = Places::Offsets { corner: self.corner, offsets: &self.offsets };
        let mesh = Mesh {
            positions: places,
            triangles: Cow::Borrowed(&self.triangles),
            placed: None,
            normals: Some(Vectors::Single(&self.normals)),
            smooth: true,
            velocities,
            turning: None,
            values,
            colouring: mapped.clone(),
            finish: Finish::Solid,
        };
        let placed = Mesh {
            positions: Places::Offsets { corner: DVec3::ZERO, offsets: &self.offsets },
            placed: Some(self.placed),
            normals: None,
            colouring: plain.clone(),
            ..mesh.clone()
        };
        let water = Mesh { finish: Finish::Water { absorption: self.absorption }, ..mesh.clone() };
        let curves = Curves {
            positions: places,
            strands: &self.strands,
            radii,
            velocities,
            values,
            colouring: mapped.clone(),
            hair: false,
        };
        let hair = Curves { hair: true, colouring: plain.clone(), ..curves.clone() };
        let chunk = Chunk {
            place: IVec3::ZERO,
            density: &self.density,
            temperature: Some(&self.hot),
            values: Some(Numbers::F32(&self.hot)),
        };
        let volume = |appearance| {
            let corner = self.corner - DVec3::splat(4.0 * self.edge);
            let volume = Volume::smoke(corner, self.edge, vec![chunk]);
            Subject::Volume(Volume {
                appearance,
                extinction: self.extinction,
                background: self.density[0],
                ..volume
            })
        };
        let ends = self.places.windows(2).map(|pair| [pair[0], pair[1]]).collect();
        let lines =
            Lines { ends, colours: vec![self.colour; self.places.len() - 1], width: self.width };
        [
            Subject::Points(points(places, radii)),
            Subject::Points(points(offsets, Radii::Same(self.radii[0]))),
            Subject::Splats(points(places, radii)),
            Subject::Mesh(mesh),
            Subject::Mesh(placed),
            Subject::Mesh(water),
            Subject::Curves(curves),
            Subject::Curves(hair),
            volume(Appearance::SMOKE),
            volume(Appearance::FIRE),
            volume(Appearance::Fog(mapped.clone())),
            volume(Appearance::Surface { level: self.level, colouring: mapped }),
            Subject::Lines(lines),
        ]
    }
}

fn shot(subjects: Vec<Subject<'_>>) -> Shot<'_> {
    Shot {
        subjects,
        camera: Camera::new(DVec3::new(0.5, 1.0, 2.5), DVec3::ZERO, DVec3::Y, 0.6).unwrap(),
        light: Light::default(),
        grounds: vec![Ground { point: DVec3::Y * -0.6, normal: Vec3::Y }],
        shutter: 0.02,
    }
}

fn picture(shot: &Shot<'_>) -> Result<Image> {
    render(shot, Size::new(32, 18).unwrap(), Quality { passes: 2 })
}

/// What is wrong with a picture that is not of numbers alone, or with an error without words.
fn fault(shot: &Shot<'_>) -> Option<String> {
    match picture(shot) {
        Ok(image) => fault_of(&image),
        Err(why) => (why.to_string().len() < 20).then(|| why.to_string()),
    }
}

fn fault_of(image: &Image) -> Option<String> {
    let light = image.light.iter().find(|light| !light.is_finite());
    let depth = image.depth.iter().find(|depth| depth.is_nan() || **depth < 0.0);
    let cover = image.light.iter().find(|light| !(-1e-4..=1.0 + 1e-4).contains(&light.w));
    let velocity = image.velocity.iter().find(|velocity| !velocity.is_finite());
    light
        .map(|light| format!("a light of {light}"))
        .or(depth.map(|depth| format!("a depth of {depth}")))
        .or(cover.map(|light| format!("a cover of {}", light.w)))
        .or(velocity.map(|velocity| format!("a velocity of {velocity}")))
}

fn check(what: &str, image: &Image) {
    assert_eq!(fault_of(image), None, "{what}");
}

#[test]
fn nothing_at_all_is_a_picture_of_the_sky() {
    let empty = Shot { grounds: Vec::new(), ..shot(Vec::new()) };
    let image = picture(&empty).unwrap();
    check("sky", &image);
    assert!(image.light.iter().all(|light| light.w == 0.0 && light.z > 0.1));
    assert!(image.depth.iter().all(|depth| *depth == f32::INFINITY));
    check("ground", &picture(&shot(Vec::new())).unwrap());
    // Kinds without anything in them.
    let strands = Strands::open(vec![0]).unwrap();
    let everything = Everything::around(DVec3::ZERO, 1.0);
    let hollow = everything.subjects().map(|mut subject| {
        match &mut subject {
            Subject::Points(points) | Subject::Splats(points) => points.chunks.clear(),
            Subject::Mesh(mesh) => {
                mesh.triangles = Cow::Borrowed(&[]);
                mesh.positions = Places::World(&[]);
                (mesh.normals, mesh.velocities, mesh.values) = (None, None, None);
            }
            Subject::Curves(curves) => {
                (curves.positions, curves.strands) = (Places::World(&[]), &strands);
                (curves.velocities, curves.values) = (None, None);
                curves.radii = Radii::Same(0.1);
            }
            Subject::Volume(volume) => volume.chunks.clear(),
            Subject::Lines(lines) => *lines = Lines::default(),
        }
        subject
    });
    assert_eq!(picture(&Shot { grounds: Vec::new(), ..shot(hollow.to_vec()) }).unwrap(), image);
}

#[test]
fn one_point_is_seen() {
    let places = [DVec3::ZERO];
    let chunk = |radii| PointChunk {
        positions: Places::World(&places),
        radii,
        velocities: None,
        values: None,
    };
    for radius in [0.0, 1e-30, 1e-3, 0.3, 1e6, f32::MAX] {
        let colouring = Colouring::Plain(Vec3::splat(0.5));
        let chunks = vec![chunk(Radii::Same(radius))];
        let shot = shot(vec![Subject::Points(Points { chunks, colouring })]);
        let image = picture(&shot).unwrap();
        check(&format!("{radius}"), &image);
        if radius == 0.3 {
            let middle = image.depth[9 * 32 + 16];
            let away = shot.camera.eye.length() as f32;
            assert!((middle - (away - 0.3)).abs() < 0.02, "{middle}");
        }
    }
}

type Spoil = fn(&mut Everything, f32);
type SpoilShot = fn(&mut Shot<'_>, f32);
type Shorten = fn(&mut Everything);

/// One of a channel, or all of it, is no number.
const SPOILT: [(&str, Spoil); 26] = [
    ("a place", |all, bad| all.places[1].y = bad.into()),
    ("all places", |all, bad| all.places.fill(DVec3::splat(bad.into()))),
    ("the corner", |all, bad| all.corner.x = bad.into()),
    ("an offset", |all, bad| all.offsets[1].z = bad),
    ("all offsets", |all, bad| all.offsets.fill(Vec3::splat(bad))),
    ("a radius", |all, bad| all.radii[1] = bad),
    ("all radii", |all, bad| all.radii.fill(bad)),
    ("a velocity", |all, bad| all.velocities[1].x = bad.into()),
    ("all velocities", |all, bad| all.velocities.fill(DVec3::splat(bad.into()))),
    ("a normal", |all, bad| all.normals[1].x = bad),
    ("all normals", |all, bad| all.normals.fill(Vec3::splat(bad))),
    ("a value", |all, bad| all.values[1] = bad),
    ("all values", |all, bad| all.values.fill(bad)),
    ("a density", |all, bad| all.density[77] = bad),
    ("all densities", |all, bad| all.density.fill(bad)),
    ("a temperature", |all, bad| all.hot[77] = bad),
    ("all temperatures", |all, bad| all.hot.fill(bad)),
    ("an edge", |all, bad| all.edge = bad.into()),
    ("a turn", |all, bad| all.placed.0.x_axis.x = bad.into()),
    ("a move", |all, bad| all.placed.1.x = bad.into()),
    ("a colour", |all, bad| all.colour.y = bad),
    ("a range's low end", |all, bad| all.low = bad),
    ("a range's high end", |all, bad| all.high = bad),
    ("an extinction and a level", |all, bad| (all.extinction, all.level) = (bad, bad)),
    ("an absorption", |all, bad| all.absorption.y = bad),
    ("a width", |all, bad| all.width = bad),
];

const BAD: [f32; 5] = [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, f32::MAX, -1.0];

/// Caustics take long however small a picture is, so that water is tried with the worst of these alone.
fn is_spared(kind: usize, bad: f32) -> bool {
    kind == WATER && !bad.is_nan()
}

#[test]
fn what_is_no_number_in_any_channel_of_any_kind_harms_nothing_else() {
    let mut faults = Vec::new();
    for (what, spoil) in SPOILT {
        for bad in BAD {
            let mut everything = Everything::around(DVec3::ZERO, 1.0);
            spoil(&mut everything, bad);
            for (kind, subject) in everything.subjects().into_iter().enumerate() {
                if is_spared(kind, bad) {
                    continue;
                }
                let found = fault(&shot(vec![subject]));
                faults.extend(found.map(|why| format!("{what} is {bad} in {kind}: {why}")));
            }
        }
    }
    assert!(faults.is_empty(), "{faults:#?}");
}

#[test]
fn one_bad_place_leaves_the_rest_as_it_is() {
    let whole = Everything::around(DVec3::ZERO, 1.0);
    let mut holed = Everything::around(DVec3::ZERO, 1.0);
    holed.places[1].y = f64::NAN;
    let [first, second] = [&whole, &holed]
        .map(|everything| picture(&shot(vec![everything.subjects()[0].clone()])).unwrap());
    let same = first.depth.iter().zip(&second.depth).filter(|(a, b)| a == b).count();
    assert!(same > first.depth.len() * 19 / 20, "{same} of {}", first.depth.len());
}

#[test]
fn light_ground_shutter_and_camera_that_are_no_numbers_are_a_picture_or_words() {
    let everything = Everything::around(DVec3::ZERO, 1.0);
    let spoilt: [(&str, SpoilShot); 14] = [
        ("sun", |shot, bad| shot.light.sun.y = bad),
        ("no sun", |shot, bad| shot.light.sun = Vec3::splat(bad)),
        ("sun radius", |shot, bad| shot.light.sun_radius = bad),
        ("sun colour", |shot, bad| shot.light.sun_colour.x = bad),
        ("sky", |shot, bad| shot.light.sky = bad),
        ("horizon", |shot, bad| shot.light.horizon.z = bad),
        ("zenith", |shot, bad| shot.light.zenith.z = bad),
        ("up", |shot, bad| shot.light.up = Vec3::splat(bad)),
        ("shutter", |shot, bad| shot.shutter = bad),
        ("ground's place", |shot, bad| shot.grounds[0].point.y = bad.into()),
        ("ground's normal", |shot, bad| shot.grounds[0].normal = Vec3::splat(bad)),
        ("eye", |shot, bad| shot.camera.eye.x = bad.into()),
        ("target", |shot, bad| shot.camera.target = DVec3::splat(bad.into())),
        ("field of view", |shot, bad| shot.camera.field_of_view = bad.into()),
    ];
    let mut faults = Vec::new();
    for (what, spoil) in spoilt {
        for bad in BAD {
            for (kind, subject) in everything.subjects().into_iter().enumerate() {
                if is_spared(kind, bad) {
                    continue;
                }
                let mut shot = shot(vec![subject]);
                spoil(&mut shot, bad);
                let found = fault(&shot);
                faults.extend(found.map(|why| format!("{what} is {bad} with {kind}: {why}")));
            }
        }
    }
    assert!(faults.is_empty(), "{faults:#?}");
}

#[test]
fn channels_of_another_length_are_a_picture_or_words() {
    let shorten: [(&str, Shorten); 6] = [
        ("radii", |all| all.radii.truncate(3)),
        ("velocities", |all| all.velocities.truncate(3)),
        ("normals", |all| all.normals.truncate(3)),
        ("values", |all| all.values.truncate(3)),
        ("hot", |all| all.hot.truncate(3)),
        ("triangles", |all| all.triangles[3][1] = u32::MAX),
    ];
    for (what, shorten) in shorten {
        let mut everything = Everything::around(DVec3::ZERO, 1.0);
        shorten(&mut everything);
        for (kind, subject) in everything.subjects().into_iter().enumerate() {
            assert_eq!(fault(&shot(vec![subject])), None, "{what} of {kind}");
        }
    }
}

#[test]
fn a_camera_inside_of_any_kind_sees_a_picture() {
    let everything = Everything::around(DVec3::ZERO, 1.0);
    let on_a_vertex = everything.places[7];
    for (kind, subject) in everything.subjects().into_iter().enumerate() {
        for eye in [DVec3::ZERO, DVec3::splat(0.1), on_a_vertex] {
            for target in [DVec3::X, DVec3::NEG_X, DVec3::new(0.0, -1.0, 0.2)] {
                let camera = Camera::new(eye, eye + target, DVec3::Y, 1.0).unwrap();
                let shot = Shot { camera, ..shot(vec![subject.clone()]) };
                check(&format!("{kind} from {eye} to {target}"), &picture(&shot).unwrap());
            }
        }
    }
}

#[test]
fn one_pixel_and_very_long_pictures_are_made() {
    let everything = Everything::around(DVec3::ZERO, 1.0);
    let shot = shot(everything.subjects().to_vec());
    for (width, height) in [(1, 1), (1, 7), (500, 1), (1, 500)] {
        let size = Size::new(width, height).unwrap();
        let image = render(&shot, size, Quality { passes: 1 }).unwrap();
        check(&format!("{width}x{height}"), &image);
        assert_eq!(image.light.len(), width * height);
    }
    let points = Shot { subjects: shot.subjects[..1].to_vec(), ..shot };
    let wide = render(&points, Size::new(20_000, 1).unwrap(), Quality { passes: 1 }).unwrap();
    check("20000x1", &wide);
}

#[test]
fn sizes_without_pixels_or_room_are_refused_with_what_would_be_right() {
    let words = |width, height| Size::new(width, height).unwrap_err().to_string();
    assert_eq!(
        words(0, 720),
        "a picture of 0 × 720 pixels cannot be made: it needs at least one pixel each way, such as 1280x720"
    );
    assert_eq!(
        words(1_000_000, 1_000_000),
        "a picture of 1000000 × 1000000 pixels cannot be made: it may have at most 67 million pixels, such as 8192x8192"
    );
    assert!(words(usize::MAX, usize::MAX).contains("at most 67 million"));
    // A size that was made without a check is refused when it is used.
    for (width, height) in [(0, 0), (0, 9), (usize::MAX, 2)] {
        let empty = Shot { grounds: Vec::new(), ..shot(Vec::new()) };
        let refused = render(&empty, Size { width, height }, Quality { passes: 1 });
        assert!(refused.unwrap_err().to_string().contains("cannot be made"));
    }
}

#[test]
fn no_passes_are_one() {
    let everything = Everything::around(DVec3::ZERO, 1.0);
    let shot = shot(everything.subjects().to_vec());
    let size = Size::new(32, 18).unwrap();
    let [none, one] = [0, 1].map(|passes| render(&shot, size, Quality { passes }).unwrap());
    assert_eq!(none, one);
}

/// A picture of one kind at a middle and of a scale.
fn placed(kind: usize, middle: DVec3, scale: f64) -> Image {
    let everything = Everything::around(middle, scale);
    let subject = everything.subjects()[kind].clone();
    let around = shot(vec![subject]);
    let at = |place: DVec3| middle + scale * place;
    let shot = Shot {
        camera: Camera {
            eye: at(around.camera.eye),
            target: at(around.camera.target),
            ..around.camera
        },
        grounds: Vec::new(),
        ..around
    };
    render(&shot, Size::new(96, 54).unwrap(), Quality { passes: 4 }).unwrap()
}

fn look_alike(what: &str, a: &Image, b: &Image) {
    check(what, b);
    let [a, b] = [a, b].map(|image| exposed(image, 0.0, Background::Light(Vec3::ZERO)));
    let difference = Difference::of(&a, &b).unwrap();
    assert!(difference.mean < 0.002 && difference.most < 0.01, "{what}: {difference}");
}

#[test]
fn ten_kilometres_from_the_origin_everything_looks_the_same() {
    for kind in 0..KINDS {
        let here = placed(kind, DVec3::ZERO, 1.0);
        let there = placed(kind, DVec3::new(1e4, 1e4, -1e4), 1.0);
        look_alike(&format!("{kind}"), &here, &there);
    }
}

/// What does not depend on a length looks the same a micrometre wide and a thousand kilometres wide; all is a picture.
#[test]
fn a_million_times_larger_or_smaller_everything_looks_the_same() {
    for kind in 0..KINDS {
        let here = placed(kind, DVec3::ZERO, 1.0);
        for scale in [1e-6, 1e-3, 1e3, 1e6] {
            let scaled = placed(kind, DVec3::ZERO, scale);
            // Fire of the same temperature glows by the metre.
            if kind == FIRE {
                check("fire", &scaled);
            } else {
                look_alike(&format!("{kind} times {scale}"), &here, &scaled);
            }
        }
    }
}

#[test]
fn something_a_million_times_smaller_beside_something_large_is_seen() {
    let (large, small) =
        (Everything::around(DVec3::X * -1e6, 1e6), Everything::around(DVec3::X * 2.0, 1.0));
    let mut subjects = large.subjects().to_vec();
    subjects.push(small.subjects()[0].clone());
    let eye = DVec3::new(2.0, 0.0, 3.0);
    let camera = Camera::new(eye, DVec3::X * 2.0, DVec3::Y, 0.6).unwrap();
    let image = picture(&Shot { camera, grounds: Vec::new(), ..shot(subjects) }).unwrap();
    check("both", &image);
    let middle = image.depth[9 * 32 + 16];
    assert!((2.3..3.1).contains(&middle), "{middle}");
}

#[test]
fn light_from_below_leaves_the_upper_side_to_the_sky() {
    let everything = Everything::around(DVec3::ZERO, 1.0);
    for (kind, subject) in everything.subjects().into_iter().enumerate() {
        let above = shot(vec![subject]);
        for sun in [Vec3::NEG_Y, Vec3::new(0.3, -0.5, 0.2), Vec3::X] {
            let below = Shot { light: Light { sun, ..above.light }, ..above.clone() };
            check(&format!("{kind} {sun}"), &picture(&below).unwrap());
        }
    }
    // A ground keeps a sun under it away from all that stands on it.
    let ball = || vec![everything.subjects()[3].clone()];
    let lit = |sun_colour| {
        let light = Light { sun: Vec3::new(0.3, -0.5, 0.2), sun_colour, ..Light::default() };
        let image = picture(&Shot { light, ..shot(ball()) }).unwrap();
        image.light.iter().map(|light| f64::from(light.y * light.w)).sum::<f64>()
    };
    let (dark, bright) = (lit(Vec3::ZERO), lit(Vec3::splat(3.0)));
    assert!((bright / dark - 1.0).abs() < 0.02, "{dark} {bright}");
}

#[test]
fn planes_seen_edge_on_are_a_picture() {
    let sheet = gallery::sheet([1.0, 1.0], [3, 3]);
    let mesh = |finish| Mesh {
        positions: Places::World(sheet.positions()),
        triangles: Cow::Borrowed(sheet.indices()),
        placed: None,
        normals: None,
        smooth: true,
        velocities: None,
        turning: None,
        values: None,
        colouring: Colouring::Plain(Vec3::splat(0.5)),
        finish,
    };
    let camera = Camera::new(DVec3::X * 3.0, DVec3::ZERO, DVec3::Y, 0.6).unwrap();
    let ground = |y: f64| Ground { point: DVec3::Y * y, normal: Vec3::Y };
    for finish in [Finish::Solid, Finish::Water { absorption: Vec3::ONE }] {
        // The sheet's own plane goes through the eye, and so does the ground.
        for grounds in [vec![], vec![ground(0.0)], vec![ground(0.0), ground(1e-9)]] {
            let shot = Shot { camera, grounds, ..shot(vec![Subject::Mesh(mesh(finish))]) };
            let image = picture(&shot).unwrap();
            check("edge on", &image);
        }
    }
    // Nothing of a sheet without a thickness is seen from its side.
    let bare = Shot { camera, grounds: vec![], ..shot(vec![Subject::Mesh(mesh(Finish::Solid))]) };
    let cover: f32 = picture(&bare).unwrap().light.iter().map(|light| light.w).sum();
    assert!(cover < 32.0, "{cover}");
}
