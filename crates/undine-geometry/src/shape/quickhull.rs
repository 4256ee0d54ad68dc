//! The convex hull of points by Quickhull (Barber, Dobkin and Huhdanpaa 1996), with exact decisions.
//!
//! Points are rounded to a grid of 2⁻⁴¹ of their extent, and which side of a plane a point lies on is decided in 128-bit
//! integers. So coplanar, collinear and duplicate points need no special care: a point in a face's plane is
//! simply not above it, the new faces over a horizon never fold, and even a sliver one step wide has an exact normal. A point
//! that would add less than 32 steps (1.5·10⁻¹¹ of the extent) is left out, which keeps most slivers away from
//! points that are coplanar but for rounding.

use crate::error::{GeometryError, Result};
use undine_core::glam::DVec3;
use undine_core::mesh::Bounds;

/// Steps of the grid along the longest side.
const STEPS: f64 = (1_u64 << 41) as f64;
/// Heights [steps] that count as none.
const TOLERANCE: f64 = 32.0;

const NONE: u32 = u32::MAX;

/// A triangle of the hull while it grows.
#[derive(Debug, Clone)]
struct Face {
    corners: [u32; 3],
    /// The face beyond the edge from corner i to the next.
    beyond: [u32; 3],
    normal: [i128; 3],
    offset: i128,
    /// The length of the normal.
    length: f64,
    /// Points above this face, and the one highest above with its height [steps].
    above: Vec<u32>,
    highest: Option<(u32, f64)>,
    alive: bool,
}

/// A triangle of a hull.
#[derive(Debug, Clone, Copy)]
pub(super) struct Triangle {
    /// The numbers of the points at its corners, which turn left when seen from outside.
    pub(super) points: [u32; 3],
    /// Those points on the grid [m]: off by less than 4·10⁻¹³ of the extent, and convex with all others.
    pub(super) corners: [DVec3; 3],
    /// The outward normal of the corners on the grid.
    pub(super) normal: DVec3,
}

/// The triangles of the convex hull of points [m].
pub(super) fn triangles(points: &[DVec3]) -> Result<Vec<Triangle>> {
    const WHAT: &str = "the points of a hull";
    if let Some(vertex) = points.iter().position(|point| !point.is_finite()) {
        return Err(GeometryError::VertexNotFinite { vertex, position: points[vertex] });
    }
    if points.len() >= NONE as usize {
        let most = NONE as usize - 1;
        return Err(GeometryError::TooMany {
            what: WHAT,
            found: points.len() as u64,
            most: most as u64,
        });
    }
    let Some(bounds) = Bounds::around(points.iter().copied()) else {
        return Err(GeometryError::Empty { what: WHAT, wanted: "a hull needs four points" });
    };
    let extent = bounds.size().max_element();
    if extent > super::LONGEST {
        let wanted = "points at most 1e30 m apart";
        return Err(GeometryError::BadParameter {
            what: "the extent of a hull",
            found: extent,
            wanted,
        });
    }
    let flat = |steps: f64| {
        let thickness = steps / STEPS * extent;
        GeometryError::Flat { what: WHAT, thickness, extent }
    };
    if extent < super::SHORTEST {
        return Err(flat(0.0));
    }
    let centre = bounds.centre();
    let grid = points
        .iter()
        .map(|&point| ((point - centre) / extent * STEPS).round().to_array().map(|x| x as i64))
        .collect();
    let mut hull = Hull { grid, faces: Vec::new(), barely: Vec::new() };
    hull.start().map_err(flat)?;
    hull.grow();
    let placed = |point: u32| {
        let steps = DVec3::from_array(hull.grid[point as usize].map(|x| x as f64));
        centre + steps / STEPS * extent
    };
    let triangle = |face: &Face| Triangle {
        points: face.corners,
        corners: face.corners.map(placed),
        normal: DVec3::from_array(face.normal.map(|x| x as f64 / face.length)).normalize(),
    };
    Ok(hull.faces.iter().filter(|face| face.alive).map(triangle).collect())
}

struct Hull {
    grid: Vec<[i64; 3]>,
    faces: Vec<Face>,
    /// Points found above a face, but by no more than the tolerance.
    barely: Vec<u32>,
}

impl Hull {
    /// The first tetrahedron, of points far from each other; or how thick [steps] the points are, if they are flat.
    fn start(&mut self) -> Result<(), f64> {
        let points = self.grid.len() as u32;
        let place = |i: u32| DVec3::from_array(self.grid[i as usize].map(|x| x as f64));
        let farthest = |measure: &dyn Fn(u32) -> f64| {
            (0..points).fold((0, -1.0), |best: (u32, f64), i| {
                let found = measure(i);
                if found > best.1 { (i, found) } else { best }
            })
        };
        let (a, _) = farthest(&|i| -place(i).x + STEPS);
        let (b, _) = farthest(&|i| place(i).distance(place(a)));
        let line = (place(b) - place(a)).normalize_or_zero();
        let (c, width) = farthest(&|i| (place(i) - place(a)).cross(line).length());
        if width <= TOLERANCE {
            return Err(0.0);
        }
        let base = self.face([a, b, c]);
        let (d, thickness) = farthest(&|i| self.height(&base, i).1.abs());
        if thickness <= TOLERANCE {
            return Err(thickness);
        }
        // The fourth corner lies below the first face, so that all four look outwards.
        let (b, c) = if self.height(&base, d).0 > 0 { (c, b) } else { (b, c) };
        for (corners, beyond) in [
            ([a, b, c], [1, 2, 3]),
            ([b, a, d], [0, 3, 2]),
            ([c, b, d], [0, 1, 3]),
            ([a, c, d], [0, 2, 1]),
        ] {
            let face = Face { beyond, ..self.face(corners) };
            self.faces.push(face);
        }
        for point in (0..points).filter(|point| ![a, b, c, d].contains(point)) {
            self.assign(point, &[0, 1, 2, 3]);
        }
        Ok(())
    }

    /// Takes the highest point above each face into the hull, until there is none.
    fn grow(&mut self) {
        let mut next = 0;
        loop {
            while next < self.faces.len() {
                if self.faces[next].alive
                    && let Some((point, _)) = self.faces[next].highest
                {
                    self.raise(next as u32, point);
                }
                next += 1;
            }
            // What was barely above the faces that it was tried against may be higher above others.
            let alive: Vec<u32> =
                (0..self.faces.len() as u32).filter(|&f| self.faces[f as usize].alive).collect();
            for point in std::mem::take(&mut self.barely) {
                self.assign(point, &alive);
            }
            let waiting = alive.iter().find(|&&f| self.faces[f as usize].highest.is_some());
            let Some(&first) = waiting else { return };
            self.barely.clear();
            next = first as usize;
        }
    }

    /// Makes `apex`, which lies above a face, a corner of the hull: the faces that it sees make way for a cone over
    /// their horizon.
    fn raise(&mut self, seen: u32, apex: u32) {
        // The horizon, in turn: edges of seen faces with unseen ones beyond. A walk around each seen face enters the
        // next one over the edge that it comes from, so that the edges follow each other.
        let mut horizon: Vec<(u32, u32, u32)> = Vec::new();
        let mut orphans = Vec::new();
        let mut walk = vec![(seen, 0_usize, 3_usize)];
        self.bury(seen, &mut orphans);
        while let Some((face, edge, left)) = walk.pop() {
            if left == 0 {
                continue;
            }
            walk.push((face, (edge + 1) % 3, left - 1));
            let Face { corners, beyond, .. } = &self.faces[face as usize];
            let (from, to, other) = (corners[edge], corners[(edge + 1) % 3], beyond[edge]);
            if !self.faces[other as usize].alive {
                continue;
            }
            if self.height(&self.faces[other as usize], apex).0 > 0 {
                let back = self.edge_towards(other, face, from);
                self.bury(other, &mut orphans);
                walk.push((other, (back + 1) % 3, 2));
            } else {
                horizon.push((from, to, other));
            }
        }
        // The cone: one face over each edge of the horizon.
        let first = self.faces.len() as u32;
        let count = horizon.len() as u32;
        for (i, &(from, to, other)) in horizon.iter().enumerate() {
            let i = i as u32;
            let after = first + (i + 1) % count;
            let before = first + (i + count - 1) % count;
            let back = self.edge_from(other, to);
            self.faces[other as usize].beyond[back] = first + i;
            let face = Face { beyond: [other, after, before], ..self.face([from, to, apex]) };
            self.faces.push(face);
        }
        let cone: Vec<u32> = (first..first + count).collect();
        for point in orphans.into_iter().filter(|&point| point != apex) {
            self.assign(point, &cone);
        }
    }

    /// Takes a face out of the hull; the points above it look for new ones.
    fn bury(&mut self, face: u32, orphans: &mut Vec<u32>) {
        let face = &mut self.faces[face as usize];
        face.alive = false;
        orphans.append(&mut face.above);
        face.above = Vec::new();
    }

    /// The edge of `face` over which `other` lies and that ends at the corner `to`.
    fn edge_towards(&self, face: u32, other: u32, to: u32) -> usize {
        let Face { corners, beyond, .. } = &self.faces[face as usize];
        (0..3)
            .find(|&edge| beyond[edge] == other && corners[(edge + 1) % 3] == to)
            .expect("neighbours know each other")
    }

    /// The edge of `face` that begins at the corner `from`.
    fn edge_from(&self, face: u32, from: u32) -> usize {
        let corners = &self.faces[face as usize].corners;
        corners.iter().position(|&corner| corner == from).expect("the edge belongs to the face")
    }

    /// Puts a point above the face that it lies highest above, if by more than the tolerance.
    fn assign(&mut self, point: u32, faces: &[u32]) {
        let (mut best, mut most) = (NONE, 0.0);
        for &face in faces {
            let (exact, height) = self.height(&self.faces[face as usize], point);
            if exact > 0 && height > most {
                (best, most) = (face, height);
            }
        }
        if most > TOLERANCE {
            let face = &mut self.faces[best as usize];
            face.above.push(point);
            if face.highest.is_none_or(|(_, height)| most > height) {
                face.highest = Some((point, most));
            }
        } else if best != NONE {
            self.barely.push(point);
        }
    }

    /// How high above a face a point lies: exactly, times the length of the normal, and in steps.
    fn height(&self, face: &Face, point: u32) -> (i128, f64) {
        let [x, y, z] = self.grid[point as usize].map(i128::from);
        let [a, b, c] = face.normal;
        let exact = a * x + b * y + c * z - face.offset;
        (exact, exact as f64 / face.length)
    }

    fn face(&self, corners: [u32; 3]) -> Face {
        let [a, b, c] = corners.map(|corner| self.grid[corner as usize].map(i128::from));
        // Coordinates have 40 bits, differences 41, the normal 83 and the height 126, beside the sign.
        let (u, v) = ([0, 1, 2].map(|k| b[k] - a[k]), [0, 1, 2].map(|k| c[k] - a[k]));
        let normal =
            [u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]];
        let offset = normal[0] * a[0] + normal[1] * a[1] + normal[2] * a[2];
        let length = DVec3::from_array(normal.map(|x| x as f64)).length();
        Face {
            corners,
            beyond: [NONE; 3],
            normal,
            offset,
            length,
            above: Vec::new(),
            highest: None,
            alive: true,
        }
    }
}
