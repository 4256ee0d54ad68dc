//! What is opaque in a pass, as each line of sight sees it: Subjects, grounds, and the sky behind all.

use super::ground::Floor;
use super::sky::radiance;
use super::surface::{Lights, Surface};
use super::water::Surroundings;
use crate::raster::{NONE, Ray, Scenery, View};
use crate::shot::Light;
use undine_core::glam::{Vec3, Vec4, Vec4Swizzles};

/// What a line of sight ends at.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Seen {
    /// The light that comes from there; `w` is how much of it is of things.
    pub light: Vec4,
    /// How far away it is along the view's axis [m]; infinite for the sky.
    pub depth: f32,
    /// How fast it moves [m/s].
    pub velocity: Vec3,
}

impl Seen {
    /// The same with nothing that is no number: where sizes are beyond what 32 bits can multiply, nothing is seen.
    #[inline(always)]
    pub fn sound(self) -> Self {
        Self {
            light: if self.light.is_finite() { self.light } else { Vec4::ZERO },
            depth: if self.depth >= 0.0 { self.depth } else { f32::INFINITY },
            velocity: if self.velocity.is_finite() { self.velocity } else { Vec3::ZERO },
        }
    }
}

/// All that is opaque in a pass, with its light.
pub(crate) struct Opaque<'a> {
    /// The Subjects.
    pub scenery: &'a Scenery<'a>,
    /// What they stand on.
    pub floors: &'a [Floor],
    /// How the pass sees them.
    pub view: &'a View,
    /// What lights them.
    pub lights: &'a Lights<'a>,
}

impl Opaque<'_> {
    /// What a line of sight ends at, where this primitive was seen to be nearest. `turn` turns the filters of shadows.
    pub fn along(&self, ray: &Ray, (depth, primitive): (f32, u32), turn: f32) -> Seen {
        let depth = if primitive == NONE { f32::INFINITY } else { depth };
        match self.floor_along(ray).filter(|(below, _)| *below < depth) {
            Some((depth, floor)) => self.floor(ray, floor, depth, turn),
            None if primitive == NONE => {
                let light = radiance(ray.direction.normalize(), self.lights.light);
                Seen { light: light.extend(0.0), depth, velocity: Vec3::ZERO }
            }
            None => self.subject(ray, primitive, turn),
        }
    }

    /// The nearest ground along a line, and its depth.
    fn floor_along(&self, ray: &Ray) -> Option<(f32, &Floor)> {
        self.floors
            .iter()
            .filter_map(|floor| Some((floor.meet(self.view, ray)?, floor)))
            .min_by(|(a, _), (b, _)| a.total_cmp(b))
    }

    fn floor(&self, ray: &Ray, floor: &Floor, depth: f32, turn: f32) -> Seen {
        let footing = floor.footing(self.view, ray, depth);
        let light = self.lights.light;
        let direction = ray.direction.normalize();
        let horizon = direction - direction.dot(light.up) * light.up;
        let horizon = radiance(horizon.normalize_or(light.up), light);
        let lit = match footing.faded < 0.999 {
            true => {
                let surface = Surface {
                    colour: footing.colour,
                    place: ray.at(depth),
                    normal: footing.normal,
                    towards: -direction,
                    tangent: None,
                };
                self.lights.matte(&surface, turn)
            }
            false => horizon,
        };
        let light = lit.lerp(horizon, footing.faded).extend(1.0 - footing.faded);
        Seen { light, depth, velocity: Vec3::ZERO }
    }

    fn subject(&self, ray: &Ray, primitive: u32, turn: f32) -> Seen {
        let hit = self.scenery.hit(primitive, self.view, self.lights.pass.moment, ray);
        let light = match hit.is_lit {
            true => {
                let surface = Surface {
                    colour: hit.colour,
                    place: ray.at(hit.depth),
                    normal: hit.normal,
                    towards: -ray.direction.normalize(),
                    tangent: hit.tangent,
                };
                self.lights.glossy(&surface, turn)
            }
            false => hit.colour,
        };
        Seen { light: light.extend(1.0), depth: hit.depth, velocity: hit.velocity }
    }
}

impl Surroundings for Opaque<'_> {
    fn beyond(&self, place: Vec3, direction: Vec3) -> (Vec3, Option<Vec3>) {
        let ray = Ray { origin: place, direction };
        match self.floor_along(&ray) {
            None => (radiance(direction, self.lights.light), None),
            Some((away, floor)) => {
                let seen = self.floor(&ray, floor, away, self.lights.pass.turn);
                (seen.light.xyz(), Some(ray.at(away)))
            }
        }
    }

    fn sun_reaches(&self, place: Vec3, normal: Vec3) -> f32 {
        let Lights { sun, eye, pass, .. } = *self.lights;
        sun.reaches(place, eye, normal, pass.turn)
    }

    fn sun(&self) -> Vec3 {
        self.lights.pass.sun
    }

    fn light(&self) -> &Light {
        self.lights.light
    }
}
