//! Shapes whose measures are known.

use glam::DVec3;
use std::collections::BTreeMap;
use std::f64::consts::TAU;
use undine_core::mesh::{Body, Polygons, Surface, Tetrahedra};

pub fn surface(positions: Vec<DVec3>, faces: Polygons) -> Surface {
    Surface::new("shape", positions, faces).unwrap()
}

/// The unit box, each side cut into n × n squares.
pub fn box_of_squares(n: u32) -> Surface {
    let mut positions = Vec::new();
    let mut number = BTreeMap::new();
    let mut vertex = |at: [u32; 3]| {
        *number.entry(at).or_insert_with(|| {
            positions.push(DVec3::from(at.map(f64::from)) / f64::from(n));
            positions.len() as u32 - 1
        })
    };
    let mut faces = Vec::new();
    for axis in 0..3 {
        for (side, i, j) in
            (0..2).flat_map(|s| (0..n).flat_map(move |i| (0..n).map(move |j| (s, i, j))))
        {
            let mut at = |i, j| {
                let mut at = [0; 3];
                at[axis] = side * n;
                at[(axis + 1) % 3] = i;
                at[(axis + 2) % 3] = j;
                vertex(at)
            };
            let square = [at(i, j), at(i + 1, j), at(i + 1, j + 1), at(i, j + 1)];
            let [a, b, c, d] = square;
            faces.push(if side == 1 { square } else { [d, c, b, a] });
        }
    }
    surface(positions, Polygons::from_faces(&faces).unwrap())
}

/// The unit sphere: an icosahedron, each triangle cut into four, `level` times.
pub fn icosphere(level: u32) -> Surface {
    let golden = (1.0 + 5.0_f64.sqrt()) / 2.0;
    let mut positions = Vec::new();
    for [a, b] in [[1.0, golden], [-1.0, golden], [1.0, -golden], [-1.0, -golden]] {
        positions.extend([DVec3::new(0.0, a, b), DVec3::new(a, b, 0.0), DVec3::new(b, 0.0, a)]);
    }
    for position in &mut positions {
        *position = position.normalize();
    }
    // The faces of the hull: triples whose corners are all at the distance of an edge.
    let edge = 1.0 / (golden * 5.0_f64.sqrt()).sqrt() * 2.0;
    let near = |a: u32, b: u32| {
        (positions[a as usize].distance(positions[b as usize]) - edge).abs() < 1e-9
    };
    let mut faces = Vec::new();
    for (a, b, c) in
        (0..12).flat_map(|a| (a + 1..12).flat_map(move |b| (b + 1..12).map(move |c| (a, b, c))))
    {
        if near(a, b) && near(b, c) && near(c, a) {
            let [p, q, r] = [a, b, c].map(|v| positions[v as usize]);
            let outward = (q - p).cross(r - p).dot(p) > 0.0;
            faces.push(if outward { [a, b, c] } else { [a, c, b] });
        }
    }
    assert_eq!(faces.len(), 20);
    for _ in 0..level {
        let mut middles = BTreeMap::new();
        let mut middle = |a: u32, b: u32| {
            *middles.entry((a.min(b), a.max(b))).or_insert_with(|| {
                positions.push((positions[a as usize] + positions[b as usize]).normalize());
                positions.len() as u32 - 1
            })
        };
        faces = faces
            .iter()
            .flat_map(|&[a, b, c]| {
                let (ab, bc, ca) = (middle(a, b), middle(b, c), middle(c, a));
                [[a, ab, ca], [ab, b, bc], [ca, bc, c], [ab, bc, ca]]
            })
            .collect();
    }
    surface(positions, Polygons::triangles(faces).unwrap())
}

/// A torus of radii 1 and `thickness`, of n × m quadrangles.
pub fn torus(thickness: f64, n: u32, m: u32) -> Surface {
    let mut positions = Vec::new();
    let mut faces = Vec::new();
    for (i, j) in (0..n).flat_map(|i| (0..m).map(move |j| (i, j))) {
        let (u, v) = (TAU * f64::from(i) / f64::from(n), TAU * f64::from(j) / f64::from(m));
        let radius = 1.0 + thickness * v.cos();
        positions.push(DVec3::new(radius * u.cos(), radius * u.sin(), thickness * v.sin()));
        let at = |i: u32, j: u32| (i % n) * m + j % m;
        faces.push([at(i, j), at(i + 1, j), at(i + 1, j + 1), at(i, j + 1)]);
    }
    surface(positions, Polygons::from_faces(&faces).unwrap())
}

/// The unit box, cut into n³ boxes of six tetrahedra each (Kuhn's cut), `place`d vertex by vertex.
pub fn box_of_tetrahedra(n: u32, place: impl Fn(usize, DVec3) -> DVec3) -> Body {
    let at = |[x, y, z]: [u32; 3]| (x * (n + 1) + y) * (n + 1) + z;
    let lattice =
        |m: u32| (0..m).flat_map(move |x| (0..m).flat_map(move |y| (0..m).map(move |z| [x, y, z])));
    let positions = lattice(n + 1)
        .enumerate()
        .map(|(i, at)| place(i, DVec3::from(at.map(f64::from)) / f64::from(n)))
        .collect();
    let mut cells = Vec::new();
    for corner in lattice(n) {
        for (path, even) in [
            ([0, 1, 2], true),
            ([1, 2, 0], true),
            ([2, 0, 1], true),
            ([0, 2, 1], false),
            ([2, 1, 0], false),
            ([1, 0, 2], false),
        ] {
            let mut here = corner;
            let mut cell = [at(here); 4];
            for (step, axis) in path.into_iter().enumerate() {
                here[axis] += 1;
                cell[step + 1] = at(here);
            }
            if !even {
                cell.swap(2, 3);
            }
            cells.push(cell);
        }
    }
    Body::new("box", positions, Tetrahedra::new(cells)).unwrap()
}
