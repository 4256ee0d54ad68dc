//! Small geometry that several tests write.

use undine_core::glam::{DVec3, Vec3};
use undine_core::mesh::{Polygons, Strands};
use undine_io::{Channels, Curves, Faces, Geometry, Points, Values};

/// A cube of side 2 around (0, 1, 0), of quads, with velocities, normals, colours and ids.
pub fn cube() -> Geometry {
    let corner = |n: u32| DVec3::new(f64::from(n & 1), f64::from(n >> 1 & 1), f64::from(n >> 2));
    let positions: Vec<DVec3> =
        (0..8).map(|n| 2.0 * corner(n) - DVec3::new(1.0, 0.0, 1.0)).collect();
    let outward = |place: &DVec3| (*place - DVec3::Y).normalize().as_vec3();
    let channels = Channels::from([
        ("v".to_owned(), Values::Vec3(positions.iter().map(|p| (2.0 * p).as_vec3()).collect())),
        ("N".to_owned(), Values::Vec3(positions.iter().map(outward).collect())),
        (
            "Cd".to_owned(),
            Values::Vec3((0..8).map(|n| Vec3::new(n as f32 / 255.0, 1.0, 0.0)).collect()),
        ),
        ("id".to_owned(), Values::U64((0..8).map(|n| n << 40).collect())),
    ]);
    let faces =
        [[0, 4, 6, 2], [1, 3, 7, 5], [0, 1, 5, 4], [2, 6, 7, 3], [0, 2, 3, 1], [4, 5, 7, 6]];
    let polygons = Polygons::from_faces(&faces).unwrap();
    let faces = Faces { polygons, channels: Channels::new() };
    Geometry { points: Points { positions, channels }, faces: Some(faces), curves: None }
}

/// An open curve of three points and a closed one of four.
pub fn curves() -> Geometry {
    let positions: Vec<DVec3> =
        (0..7).map(|n| DVec3::new(f64::from(n), f64::from(n % 2), 0.25)).collect();
    let strands = Strands::new(vec![0, 3, 7], vec![false, true]).unwrap();
    let channels = Channels::from([("width".to_owned(), Values::F32(vec![0.125; 7]))]);
    let curves = Curves { strands, channels: Channels::new() };
    Geometry { points: Points { positions, channels }, faces: None, curves: Some(curves) }
}

/// Points alone, as a spray has them.
pub fn spray(count: u32) -> Geometry {
    let place = |n: u32| DVec3::new(f64::from(n % 10), f64::from(n / 10), f64::from(n) * 0.5);
    let positions: Vec<DVec3> = (0..count).map(place).collect();
    let channels = Channels::from([
        (
            "v".to_owned(),
            Values::Vec3((0..count).map(|n| Vec3::new(n as f32, -1.0, 0.5)).collect()),
        ),
        ("pscale".to_owned(), Values::F32((0..count).map(|n| 0.01 * n as f32).collect())),
        ("id".to_owned(), Values::U64((0..u64::from(count)).collect())),
    ]);
    Geometry { points: Points { positions, channels }, faces: None, curves: None }
}

/// The faces of a mesh.
pub fn corners(geometry: &Geometry) -> Vec<Vec<u32>> {
    geometry.faces.iter().flat_map(|faces| faces.polygons.faces()).map(<[u32]>::to_vec).collect()
}
