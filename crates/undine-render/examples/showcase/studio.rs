//! What all pictures share: their size and quality, the ground, and how meshes become Subjects.

use std::borrow::Cow;
use std::error::Error;
use undine_core::glam::{DMat3, DVec3, Vec3};
use undine_geometry::Triangles;
use undine_render::shot::{
    Camera, Colouring, Finish, Ground, Light, Mesh, Places, Points, Radii, Shot, Subject,
};
use undine_render::shot::{Numbers, PointChunk};
use undine_render::{Background, Display, Quality, Size, exposed, render};

/// What a picture may fail with.
pub type Outcome<T> = Result<T, Box<dyn Error>>;

/// Where pictures are taken.
pub struct Studio {
    size: Size,
    quality: Quality,
}

impl Studio {
    /// One whose pictures are 1280 × 720 pixels, of 64 passes or of as many as `SHOWCASE_PASSES` says.
    pub fn new() -> Outcome<Self> {
        let passes = match std::env::var("SHOWCASE_PASSES") {
            Ok(passes) => passes.parse()?,
            Err(_) => 64,
        };
        Ok(Self { size: Size::new(1280, 720)?, quality: Quality { passes } })
    }

    /// The picture of a Shot.
    pub fn taken(&self, shot: &Shot<'_>) -> Outcome<Display> {
        self.taken_in(shot, self.size)
    }

    /// The picture of a Shot without its lowest part: what water bends there comes from below the picture, and is not known.
    pub fn taken_above(&self, shot: &Shot<'_>, hidden: usize) -> Outcome<Display> {
        let Size { width, height } = self.size;
        let mut whole = self.taken_in(shot, Size::new(width, height + hidden)?)?;
        whole.pixels.truncate(width * height);
        Ok(Display { size: self.size, ..whole })
    }

    /// The picture of a Shot, of another size.
    pub fn taken_in(&self, shot: &Shot<'_>, size: Size) -> Outcome<Display> {
        let image = render(shot, size, self.quality)?;
        Ok(exposed(&image, 0.0, Background::Light(Vec3::ZERO)))
    }
}

/// A Shot of things on the ground, on a fair day.
pub fn outdoors(subjects: Vec<Subject<'_>>, camera: Camera) -> Shot<'_> {
    Shot {
        subjects,
        camera,
        light: Light::default(),
        grounds: vec![Ground { point: DVec3::ZERO, normal: Vec3::Y }],
        shutter: 0.0,
    }
}

/// A camera by places [m] and an angle [°], with y up.
pub fn camera(eye: [f64; 3], target: [f64; 3], degrees: f64) -> Outcome<Camera> {
    let [eye, target] = [eye, target].map(DVec3::from_array);
    Ok(Camera::new(eye, target, DVec3::Y, degrees.to_radians())?)
}

/// A mesh of one colour, linear.
pub fn solid(triangles: &Triangles, colour: Vec3) -> Mesh<'_> {
    Mesh {
        positions: Places::World(triangles.positions()),
        triangles: Cow::Borrowed(triangles.indices()),
        placed: None,
        normals: None,
        smooth: true,
        velocities: None,
        turning: None,
        values: None,
        colouring: Colouring::Plain(colour),
        finish: Finish::Solid,
    }
}

/// A mesh of water that takes away so much of red, green and blue light in each metre [1/m].
pub fn water(triangles: &Triangles, absorption: Vec3) -> Mesh<'_> {
    Mesh { finish: Finish::Water { absorption }, ..solid(triangles, Vec3::ONE) }
}

/// A mesh, scaled and then moved [m].
pub fn placed(mesh: Mesh<'_>, scale: f64, place: DVec3) -> Subject<'_> {
    Subject::Mesh(Mesh { placed: Some((DMat3::from_diagonal(DVec3::splat(scale)), place)), ..mesh })
}

/// Spheres of one colour, linear.
pub fn spheres<'a>(places: &'a [DVec3], radii: Radii<'a>, colour: Vec3) -> Subject<'a> {
    let positions = Places::World(places);
    let chunk = PointChunk { positions, radii, velocities: None, values: None::<Numbers<'a>> };
    Subject::Points(Points { chunks: vec![chunk], colouring: Colouring::Plain(colour) })
}
