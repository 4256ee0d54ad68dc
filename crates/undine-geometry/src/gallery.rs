//! Meshes that are made, and a flow: what tests, benchmarks and validation ask about. All meshes are closed, look outwards and
//! have no boundary, unless their doc says otherwise.

use crate::error::Result;
use crate::random::unit;
use crate::shape::hull_triangles;
use crate::triangles::Triangles;
use std::collections::HashMap;
use std::f64::consts::{PI, TAU};
use undine_core::glam::DVec3;

/// A box around the origin with these half sides [m], of twelve triangles.
pub fn cuboid(half: DVec3) -> Triangles {
    let corner = |n: u32| {
        let side = |bit: u32| if n >> bit & 1 == 1 { 1.0 } else { -1.0 };
        half * DVec3::new(side(0), side(1), side(2))
    };
    let quads: [[u32; 4]; 6] =
        [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]];
    let triangles = quads.iter().flat_map(|&[a, b, c, d]| [[a, b, c], [a, c, d]]).collect();
    made((0..8).map(corner).collect(), triangles)
}

/// A sphere around the origin: an icosahedron whose triangles were divided into four `levels` times.
pub fn sphere(radius: f64, levels: u32) -> Triangles {
    blob(levels, |_| radius)
}

/// A bunny-like blob around the origin, about 1 m across: body, head and two ears, none of them symmetric.
pub fn bunny(levels: u32) -> Triangles {
    let bumps = [
        (DVec3::new(0.7, 0.9, 0.1), 0.30, 6.0),
        (DVec3::new(0.5, 1.0, 0.45), 0.42, 40.0),
        (DVec3::new(0.45, 1.0, -0.35), 0.46, 44.0),
        (DVec3::new(-1.0, -0.35, 0.1), 0.12, 20.0),
        (DVec3::new(0.8, -0.8, 0.5), 0.14, 24.0),
        (DVec3::new(0.75, -0.85, -0.5), 0.13, 24.0),
        (DVec3::new(1.0, 0.35, 0.0), -0.05, 60.0),
    ];
    blob(levels, |direction| {
        let bump = |&(towards, height, sharpness): &(DVec3, f64, f64)| {
            height * (sharpness * (direction.dot(towards.normalize()) - 1.0)).exp()
        };
        0.3 + bumps.iter().map(bump).sum::<f64>()
            + 0.006 * (9.0 * direction.x).sin() * (11.0 * direction.y + 7.0 * direction.z).sin()
    })
}

/// A star-shaped surface: a divided icosahedron, each vertex at the `radius` [m] of its direction.
pub fn blob(levels: u32, radius: impl Fn(DVec3) -> f64) -> Triangles {
    let phi = 0.5 * (1.0 + 5.0_f64.sqrt());
    let mut points: Vec<DVec3> =
        [[0.0, 1.0, phi], [0.0, -1.0, phi], [0.0, 1.0, -phi], [0.0, -1.0, -phi]]
            .iter()
            .flat_map(|&[a, b, c]| [DVec3::new(a, b, c), DVec3::new(b, c, a), DVec3::new(c, a, b)])
            .map(DVec3::normalize)
            .collect();
    // Its faces are the triples at the least distance from each other, turned outwards.
    let near = |a: usize, b: usize| points[a].distance(points[b]) < 1.1;
    let mut triangles = Vec::new();
    for a in 0..12 {
        for b in a + 1..12 {
            for c in b + 1..12 {
                if near(a, b) && near(b, c) && near(c, a) {
                    let outwards = points[a].cross(points[b]).dot(points[c]) > 0.0;
                    let [b, c] = if outwards { [b, c] } else { [c, b] };
                    triangles.push([a as u32, b as u32, c as u32]);
                }
            }
        }
    }
    for _ in 0..levels {
        let mut middles: HashMap<[u32; 2], u32> = HashMap::new();
        let mut middle = |a: u32, b: u32| {
            *middles.entry([a.min(b), a.max(b)]).or_insert_with(|| {
                points.push((points[a as usize] + points[b as usize]).normalize());
                points.len() as u32 - 1
            })
        };
        triangles = triangles
            .iter()
            .flat_map(|&[a, b, c]| {
                let [d, e, f] = [middle(a, b), middle(b, c), middle(c, a)];
                [[a, d, f], [d, b, e], [f, e, c], [d, e, f]]
            })
            .collect();
    }
    made(points.iter().map(|&direction| direction * radius(direction)).collect(), triangles)
}

/// A torus around the z axis: a tube of radius `tube` [m] whose middle is a circle of radius `ring` [m], with
/// so many quads, cut into triangles, along the ring and around the tube.
pub fn torus(ring: f64, tube: f64, along: u32, around: u32) -> Triangles {
    tube_around(along, around, tube, |t| {
        let (sin, cos) = (TAU * t).sin_cos();
        ring * DVec3::new(cos, sin, 0.0)
    })
}

/// A trefoil knot about 1 m across with a tube of radius `tube` [m]; up to 0.07 it does not meet itself.
pub fn knot(tube: f64, along: u32, around: u32) -> Triangles {
    tube_around(along, around, tube, |t| {
        let s = TAU * t;
        0.16 * DVec3::new(
            s.sin() + 2.0 * (2.0 * s).sin(),
            s.cos() - 2.0 * (2.0 * s).cos(),
            -(3.0 * s).sin(),
        )
    })
}

/// The convex hull of so many points, spread over a ball of radius 1 m: flat facets of all sizes.
pub fn hull(points: u64) -> Result<Triangles> {
    let point = |n: u64| {
        let place = DVec3::from_array([0, 1, 2].map(|axis| 2.0 * unit(axis, n) - 1.0));
        place / place.length().max(1.0)
    };
    hull_triangles(&(0..points).map(point).collect::<Vec<_>>())
}

/// An open rectangle in the xy plane around the origin, seen from +z, with these sides [m] and so many quads, cut
/// into triangles, along each.
pub fn sheet(sides: [f64; 2], quads: [u32; 2]) -> Triangles {
    let [columns, rows] = quads.map(|n| n + 1);
    let place = |n: u32, quads: u32, side: f64| (f64::from(n) / f64::from(quads) - 0.5) * side;
    let vertex = |n: u32| {
        DVec3::new(place(n / rows, quads[0], sides[0]), place(n % rows, quads[1], sides[1]), 0.0)
    };
    let triangles = (0..quads[0])
        .flat_map(|x| (0..quads[1]).map(move |y| x * rows + y))
        .flat_map(|a| [[a, a + rows, a + rows + 1], [a, a + rows + 1, a + 1]])
        .collect();
    made((0..columns * rows).map(vertex).collect(), triangles)
}

/// The velocity [m/s] at a place [m] and a time [s] that draws what is in the unit cube out to sheets, and back by 3 s
/// (LeVeque 1996).
pub fn deformation(at: DVec3, time: f64) -> DVec3 {
    let one = (PI * at).to_array().map(f64::sin);
    let two = (TAU * at).to_array().map(f64::sin);
    let flow = DVec3::new(
        2.0 * one[0] * one[0] * two[1] * two[2],
        -two[0] * one[1] * one[1] * two[2],
        -two[0] * two[1] * one[2] * one[2],
    );
    flow * (PI * time / 3.0).cos()
}

/// A closed tube around a closed curve, given for 0 .. 1, that is nowhere vertical for long.
fn tube_around(along: u32, around: u32, radius: f64, curve: impl Fn(f64) -> DVec3) -> Triangles {
    let middle = |i: u32| curve(f64::from(i % along) / f64::from(along));
    // A frame that is carried along the curve does not turn by more than it must; what is left over at the end
    // is spread over the whole way.
    let tangent = |i: u32| (middle(i + 1) - middle(i + along - 1)).normalize();
    let mut frames = vec![tangent(0).any_orthonormal_vector()];
    for i in 1..=along {
        let t = tangent(i);
        let carried = frames[i as usize - 1];
        frames.push((carried - carried.dot(t) * t).normalize());
    }
    let (first, last, t) = (frames[0], frames[along as usize], tangent(0));
    let twist = last.cross(first).dot(t).atan2(last.dot(first));
    let mut positions = Vec::with_capacity((along * around) as usize);
    for i in 0..along {
        let (t, u) = (tangent(i), frames[i as usize]);
        let v = t.cross(u);
        let start = twist * f64::from(i) / f64::from(along);
        for j in 0..around {
            let (sin, cos) = (start + TAU * f64::from(j) / f64::from(around)).sin_cos();
            positions.push(middle(i) + radius * (cos * u + sin * v));
        }
    }
    let at = |i: u32, j: u32| (i % along) * around + j % around;
    let triangles = (0..along)
        .flat_map(|i| (0..around).map(move |j| (i, j)))
        .flat_map(|(i, j)| {
            let [a, b, c, d] = [at(i, j), at(i + 1, j), at(i + 1, j + 1), at(i, j + 1)];
            [[a, c, b], [a, d, c]]
        })
        .collect();
    made(positions, triangles)
}

fn made(positions: Vec<DVec3>, triangles: Vec<[u32; 3]>) -> Triangles {
    Triangles::new(positions, triangles)
        .expect("made meshes have finite positions and good indices")
}
