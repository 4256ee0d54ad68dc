//! What a body of a shape touches with: its corners, edges and rims, and what is round as a point, a line or a circle with a thickness.
//!
//! Wherever a convex solid touches another one, one of the two touches with such a feature, or both do (Ericson 2004, *Real-time collision
//! detection*, §5.3). What is sharp is told from a little inside of the solid: there it is clear over which face of another solid it is, where
//! from the corner itself two of them may be as near.

use super::{Kind, Profile, Shape};
use std::collections::BTreeMap;
use undine_core::glam::{DVec2, DVec3};

/// How far inside sharp features are told from, as a part of the least extent of the solid.
const INSIDE: f64 = 1e-4;

/// Edges between faces whose normals differ by less, 1 − cos φ, are flat.
const FLAT: f64 = 1e-9;

/// A place to touch with.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Probe {
    /// Where it is told from [m].
    pub core: DVec3,
    /// From there to the place itself [m].
    pub tip: DVec3,
}

impl Probe {
    /// The place between two of them, at a part of the way.
    pub fn lerp(&self, other: &Self, part: f64) -> Self {
        let Self { core, tip } = self;
        Self { core: core.lerp(other.core, part), tip: tip.lerp(other.tip, part) }
    }
}

/// A circle of places.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rim {
    centre: DVec3,
    axes: [DVec3; 2],
    radius: f64,
    /// From the core outwards, and along the axis [m].
    out: f64,
    along: DVec3,
}

impl Rim {
    fn new(height: f64, radius: f64, out: f64, along: f64) -> Self {
        let centre = DVec3::Z * height;
        Self { centre, axes: [DVec3::X, DVec3::Y], radius, out, along: DVec3::Z * along }
    }

    /// The place at an angle [rad].
    pub fn at(&self, angle: f64) -> Probe {
        let outwards = self.axes[0] * angle.cos() + self.axes[1] * angle.sin();
        Probe { core: self.centre + outwards * self.radius, tip: outwards * self.out + self.along }
    }
}

/// What is touched with.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Core {
    /// A corner, or the middle of a ball.
    Point(Probe),
    /// An edge, or the middle line of what is round about it. Its ends are points of their own.
    Line([Probe; 2]),
    /// A rim, or the middle line of a ring.
    Rim(Rim),
    /// The lines between two rims, each from an angle of the one to the same angle of the other.
    Side([Rim; 2]),
}

/// What is touched with, and how thick it is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Feature {
    /// Where it is.
    pub core: Core,
    /// How far the surface is from there [m]; 0 of what is sharp.
    pub thickness: f64,
}

impl Feature {
    /// Whether other places of the solid come to touch as it rolls.
    pub fn rolls(&self) -> bool {
        self.thickness > 0.0 || matches!(self.core, Core::Rim(_) | Core::Side(_))
    }
}

/// All that a solid touches with.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Features {
    /// In an order that does not change.
    pub list: Vec<Feature>,
    /// Whether it has faces besides, which what is smaller may touch.
    pub has_faces: bool,
}

impl Features {
    /// Whether other places of the solid come to touch as it rolls.
    pub fn roll(&self) -> bool {
        self.list.iter().any(Feature::rolls)
    }
}

impl Shape {
    /// What it touches with; `None` of what is not made of solids that have features, such as what is cut out of others.
    pub fn features(&self) -> Option<Features> {
        let inside = INSIDE * self.bounds?.size().min_element();
        let of = |list: Vec<Feature>, has_faces| Some(Features { list, has_faces });
        match &self.kind {
            Kind::Sphere { radius } => of(vec![point(DVec3::ZERO, *radius)], false),
            Kind::Capsule { radius, half } => {
                let ends = [-DVec3::Z, DVec3::Z].map(|end| end * *half);
                let line = Core::Line(ends.map(|core| Probe { core, tip: DVec3::ZERO }));
                let line = Feature { core: line, thickness: *radius };
                of(ends.map(|end| point(end, *radius)).into_iter().chain([line]).collect(), false)
            }
            Kind::Torus { major, minor } => {
                let rim = Core::Rim(Rim::new(0.0, *major, 0.0, 0.0));
                of(vec![Feature { core: rim, thickness: *minor }], false)
            }
            Kind::Cuboid { half } => of(cuboid(*half, inside), true),
            Kind::Frustum(frustum) => {
                let ends = [(frustum.bottom, -frustum.half), (frustum.top, frustum.half)];
                of(turned(&ends.map(|(r, z)| DVec2::new(r, z)), inside), true)
            }
            Kind::Revolved(profile) if self.convex => {
                let points = Profile::points(profile);
                // From the axis to the axis, upwards or downwards.
                let at = |n: usize| points[n % points.len()];
                let leaves = |&n: &usize| at(n).x == 0.0 && at(n + 1).x > 0.0;
                let begins = (0..points.len()).find(leaves)?;
                let order = (0..points.len()).map(|n| at(begins + n));
                let order: Vec<DVec2> = order.collect();
                of(turned(&order, inside), true)
            }
            Kind::Hull(hull) => of(polyhedron(hull.triangles(), inside), true),
            Kind::Offset { of, by } if of.convex && *by > 0.0 => {
                let mut features = of.features()?;
                features.list.iter_mut().for_each(|feature| feature.grow(*by));
                Some(features)
            }
            Kind::Union { parts, width: 0.0 } => {
                let mut all = Features::default();
                for part in parts {
                    let features = part.features()?;
                    all.list.extend(features.list);
                    all.has_faces |= features.has_faces;
                }
                Some(all)
            }
            Kind::Moved { of, pose } => {
                let mut features = of.features()?;
                for feature in &mut features.list {
                    feature.map(&|at| pose.to_world(at), &|arm| pose.rotation * arm, 1.0);
                }
                Some(features)
            }
            Kind::Scaled { of, factor } => {
                let mut features = of.features()?;
                for feature in &mut features.list {
                    feature.map(&|at| at * *factor, &|arm| arm, *factor);
                    feature.thickness *= *factor;
                }
                Some(features)
            }
            _ => None,
        }
    }
}

impl Feature {
    /// The same of the solid grown by a length [m]: what was sharp is round, and told from where it was sharp.
    fn grow(&mut self, by: f64) {
        self.thickness += by;
        let sharp = |probe: &mut Probe| {
            *probe = Probe { core: probe.core + probe.tip, tip: DVec3::ZERO };
        };
        let flat = |rim: &mut Rim| {
            rim.centre += rim.along;
            (rim.radius, rim.out, rim.along) = (rim.radius + rim.out, 0.0, DVec3::ZERO);
        };
        match &mut self.core {
            Core::Point(probe) => sharp(probe),
            Core::Line(ends) => ends.iter_mut().for_each(sharp),
            Core::Rim(rim) => flat(rim),
            Core::Side(rims) => rims.iter_mut().for_each(flat),
        }
    }

    /// Moved: places, directions, and lengths by a factor.
    fn map(&mut self, at: &dyn Fn(DVec3) -> DVec3, turn: &dyn Fn(DVec3) -> DVec3, factor: f64) {
        let place = |probe: &mut Probe| {
            *probe = Probe { core: at(probe.core), tip: turn(probe.tip) * factor };
        };
        let circle = |rim: &mut Rim| {
            rim.centre = at(rim.centre);
            rim.axes = rim.axes.map(turn);
            rim.along = turn(rim.along) * factor;
            (rim.radius, rim.out) = (rim.radius * factor, rim.out * factor);
        };
        match &mut self.core {
            Core::Point(probe) => place(probe),
            Core::Line(ends) => ends.iter_mut().for_each(place),
            Core::Rim(rim) => circle(rim),
            Core::Side(rims) => rims.iter_mut().for_each(circle),
        }
    }
}

fn point(core: DVec3, thickness: f64) -> Feature {
    Feature { core: Core::Point(Probe { core, tip: DVec3::ZERO }), thickness }
}

fn sharp(core: Core) -> Feature {
    Feature { core, thickness: 0.0 }
}

/// Eight corners, then twelve edges.
fn cuboid(half: DVec3, inside: f64) -> Vec<Feature> {
    let corner = |n: usize| {
        let side = |axis: usize| if n >> axis & 1 == 1 { 1.0 } else { -1.0 };
        let sides = DVec3::new(side(0), side(1), side(2));
        Probe { core: sides * (half - inside), tip: sides * inside }
    };
    let corners = (0..8).map(|n| sharp(Core::Point(corner(n))));
    let edges = (0..8_usize).flat_map(|n| {
        let others = (0..3).map(move |axis| n | 1 << axis).filter(move |&other| other != n);
        others.map(move |other| sharp(Core::Line([corner(n), corner(other)])))
    });
    corners.chain(edges).collect()
}

/// Of a convex line of points (r, z) that is turned about z: rims, and the sides between them.
fn turned(line: &[DVec2], inside: f64) -> Vec<Feature> {
    let middle = line.iter().map(|point| point.y).sum::<f64>() / line.len() as f64;
    let rim = |point: &DVec2| {
        let along = inside.copysign(point.y - middle);
        Rim::new(point.y - along, (point.x - inside).max(0.0), inside.min(point.x), along)
    };
    let corner = |point: &DVec2| match point.x > 0.0 {
        true => sharp(Core::Rim(rim(point))),
        false => sharp(Core::Point(rim(point).at(0.0))),
    };
    // What ends on the axis in a plane across it is a face, and no corner.
    let is_flat = |n: usize| {
        let beside = [n.checked_sub(1), Some(n + 1)].into_iter().flatten();
        line[n].x == 0.0 && beside.filter_map(|n| line.get(n)).any(|next| next.y == line[n].y)
    };
    let corners = (0..line.len()).filter(|&n| !is_flat(n)).map(|n| corner(&line[n]));
    let sides = line.windows(2).filter(|pair| pair[0].y != pair[1].y);
    corners.chain(sides.map(|pair| sharp(Core::Side([rim(&pair[0]), rim(&pair[1])])))).collect()
}

/// Corners and edges of a convex polyhedron, from its triangles.
fn polyhedron(triangles: impl Iterator<Item = [DVec3; 3]>, inside: f64) -> Vec<Feature> {
    let key = |at: DVec3| at.to_array().map(|x| (x + 0.0).to_bits());
    let mut places: BTreeMap<[u64; 3], usize> = BTreeMap::new();
    let mut corners: Vec<(DVec3, DVec3)> = Vec::new();
    let mut edges: BTreeMap<[usize; 2], Vec<DVec3>> = BTreeMap::new();
    for triangle in triangles {
        let [a, b, c] = triangle;
        let normal = (b - a).cross(c - a).normalize_or_zero();
        let numbers = triangle.map(|at| {
            *places.entry(key(at)).or_insert_with(|| {
                corners.push((at, DVec3::ZERO));
                corners.len() - 1
            })
        });
        for k in 0..3 {
            let [i, j, l] = [0, 1, 2].map(|n| numbers[(k + n) % 3]);
            // By the angle there, so that faces in several triangles count once.
            let (to, from) = (corners[j].0 - corners[i].0, corners[l].0 - corners[i].0);
            corners[i].1 += normal * to.angle_between(from);
            edges.entry([i.min(j), i.max(j)]).or_default().push(normal);
        }
    }
    let probe = |at: DVec3, out: DVec3| {
        let tip = out.normalize_or_zero() * inside;
        Probe { core: at - tip, tip }
    };
    let points = corners.iter().map(|&(at, out)| sharp(Core::Point(probe(at, out))));
    let lines = edges.iter().filter_map(|(ends, normals)| {
        let [one, other] = normals[..] else { return None };
        let out = one + other;
        (one.dot(other) < 1.0 - FLAT)
            .then(|| sharp(Core::Line(ends.map(|end| probe(corners[end].0, out)))))
    });
    points.chain(lines).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pose::Pose;
    use crate::solid::Solid;
    use undine_core::glam::DQuat;

    /// How far a shape reaches in a direction, by its features [m].
    fn reach(features: &Features, n: DVec3) -> f64 {
        let probe = |probe: &Probe, thickness: f64| n.dot(probe.core + probe.tip) + thickness;
        let around = |rim: &Rim, thickness: f64| {
            let angles = (0..7200).map(|k| f64::from(k) * std::f64::consts::TAU / 7200.0);
            angles.map(|a| probe(&rim.at(a), thickness)).fold(f64::NEG_INFINITY, f64::max)
        };
        let one = |feature: &Feature| match &feature.core {
            Core::Point(at) => probe(at, feature.thickness),
            Core::Line(ends) => {
                ends.iter().map(|e| probe(e, feature.thickness)).fold(f64::NEG_INFINITY, f64::max)
            }
            Core::Rim(rim) => around(rim, feature.thickness),
            Core::Side(rims) => rims
                .iter()
                .map(|rim| around(rim, feature.thickness))
                .fold(f64::NEG_INFINITY, f64::max),
        };
        features.list.iter().map(one).fold(f64::NEG_INFINITY, f64::max)
    }

    /// In each direction features reach as far as the shape does: its surface has a place there, and a millionth farther there is none.
    #[test]
    fn features_reach_as_far_as_the_shape() {
        let pose = Pose { rotation: DQuat::from_rotation_x(0.7), translation: DVec3::ONE };
        let octagon = [(0.0, -0.3), (0.4, -0.3), (0.6, 0.0), (0.3, 0.4), (0.0, 0.4)];
        let octagon = octagon.map(|(r, z)| DVec2::new(r, z));
        let corners = [DVec3::X, DVec3::Y, DVec3::Z, -DVec3::ONE, DVec3::new(0.3, -1.0, 0.5)];
        let cuboid = || Shape::cuboid(DVec3::new(0.3, 0.2, 0.5));
        let shapes = [
            Shape::sphere(0.4),
            Shape::capsule(0.2, 0.7),
            Shape::torus(0.5, 0.2),
            cuboid(),
            Shape::cylinder(0.3, 0.8),
            Shape::cone(0.4, 0.9),
            Shape::truncated_cone(0.4, 0.2, 0.9),
            Shape::revolved(&octagon),
            Shape::hull(&corners),
            cuboid().and_then(|shape| shape.grown(0.1)),
            cuboid().and_then(|shape| shape.scaled(2.0)).and_then(|shape| shape.moved(&pose)),
        ];
        for shape in shapes {
            let shape = shape.unwrap();
            let features = shape.features().unwrap_or_else(|| panic!("{shape:?}"));
            let exact = |n: DVec3| {
                // Seen from far away, the nearest point is the farthest one in that direction.
                let far = 1e6;
                far - shape.distance(n * far)
            };
            for k in 0..60 {
                let (z, turn) = (f64::from(k) / 29.5 - 1.0, 2.4 * f64::from(k));
                let flat = (1.0 - z * z).max(0.0).sqrt();
                let n = DVec3::new(flat * turn.cos(), flat * turn.sin(), z).normalize();
                let (found, wanted) = (reach(&features, n), exact(n));
                assert!((found - wanted).abs() < 2e-5, "{found} of {wanted} along {n}: {shape:?}");
            }
        }
    }

    #[test]
    fn what_is_cut_out_has_no_features() {
        let ball = Shape::sphere(0.3).unwrap();
        let cut = Shape::cuboid(DVec3::splat(0.25)).unwrap().minus(ball, 0.0).unwrap();
        assert!(cut.features().is_none());
        assert!(Shape::half_space(DVec3::Y, 0.0).unwrap().features().is_none());
    }
}
