//! Inner offsets with a closed form: all that is deeper than a length, as a shape whose distance is exact.

use super::{Kind, Shape};
use crate::error::Result;
use crate::pose::Pose;
use undine_core::glam::DVec3;

/// What is deeper than a length.
pub(super) enum Inset {
    /// This.
    Exact(Shape),
    /// Nothing is.
    Nothing,
    /// There is no closed form.
    Unknown,
}

impl Shape {
    /// All of it that is deeper than `depth` [m].
    pub(super) fn inset(&self, depth: f64) -> Result<Inset> {
        let kind = match &self.kind {
            Kind::Cuboid { half } if half.min_element() > depth => {
                Kind::Cuboid { half: *half - depth }
            }
            Kind::Sphere { radius } if *radius > depth => Kind::Sphere { radius: radius - depth },
            Kind::Capsule { radius, half } if *radius > depth => {
                Kind::Capsule { radius: radius - depth, half: *half }
            }
            Kind::Torus { major, minor } if *minor > depth => {
                Kind::Torus { major: *major, minor: minor - depth }
            }
            Kind::HalfSpace { normal, offset } => {
                Kind::HalfSpace { normal: *normal, offset: offset - depth }
            }
            Kind::Frustum(frustum) => {
                let Some((inner, height)) = frustum.inset(depth) else { return Ok(Inset::Nothing) };
                let inner = Self::new(Kind::Frustum(inner), self.exact, true);
                return Ok(Inset::Exact(inner.moved(&Pose::at(DVec3::Z * height))?));
            }
            Kind::Hull(hull) => match hull.inset(depth) {
                Some(inner) => Kind::Hull(inner),
                None => return Ok(Inset::Nothing),
            },
            Kind::Moved { of, pose } => {
                return Ok(match of.inset(depth)? {
                    Inset::Exact(inner) => Inset::Exact(inner.moved(pose)?),
                    other => other,
                });
            }
            Kind::Scaled { of, factor } => {
                return Ok(match of.inset(depth / factor)? {
                    Inset::Exact(inner) => Inset::Exact(inner.scaled(*factor)?),
                    other => other,
                });
            }
            // Of a convex solid, shrinking takes back growth.
            Kind::Offset { of, by } if self.convex && *by > 0.0 => {
                return if *by > depth {
                    Ok(Inset::Exact(of.as_ref().clone().offset(by - depth)?))
                } else if *by == depth {
                    Ok(Inset::Exact(of.as_ref().clone()))
                } else {
                    of.inset(depth - by)
                };
            }
            Kind::Cuboid { .. }
            | Kind::Sphere { .. }
            | Kind::Capsule { .. }
            | Kind::Torus { .. } => {
                return Ok(Inset::Nothing);
            }
            _ => return Ok(Inset::Unknown),
        };
        Ok(Inset::Exact(Self::new(kind, self.exact, self.convex)))
    }
}
